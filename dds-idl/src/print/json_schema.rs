//! JSON Schema 2020-12 of the JSON form of samples, which `dds echo --json` prints and `dds pub` reads.

use crate::model::{
    BasicType, BitmaskDefinition, BitsetField, ConstantValue, DataType, Definition, DefinitionId, DefinitionKind,
    EnumDefinition, MemberDefinition, Specification, StructDefinition, UnionDefinition,
};

/// Returns a JSON Schema of all data types: `$defs` has one entry for each scoped name.
///
/// The document itself describes samples of the topic types of the given files. Each member has its default, its
/// bounds, its comment and its unit. A schema is text of YAML as well.
///
/// JSON has no form for `fixed` and `any`: no value is valid there.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::{Options, parse_text};
/// use dds_idl::print::to_json_schema;
///
/// let text = "module robot { struct Lamp { @key uint8 id; @optional string<20> place; }; };";
/// let specification = parse_text("lamp.idl", text, &Options::default())?;
/// let schema = to_json_schema(&specification);
/// assert!(schema.contains(r##""$ref": "#/$defs/robot::Lamp""##));
/// assert!(schema.contains(r#""id": {"type": "integer", "minimum": 0, "maximum": 255}"#));
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
#[must_use]
pub fn to_json_schema(specification: &Specification) -> String {
    let printer = SchemaPrinter { specification };
    let (mut types, mut topics) = (Vec::new(), Vec::new());
    for (id, definition) in specification.definitions() {
        if let Some(schema) = printer.definition(definition) {
            types.push((definition.scoped_name.to_string(), schema));
        }
        if definition.is_topic_type() && specification.sources.is_root(definition.span) {
            topics.push(printer.reference(id));
        }
    }
    let mut document = Schema::from([("$schema", quoted("https://json-schema.org/draft/2020-12/schema"))]);
    match (topics.pop(), topics.is_empty()) {
        (Some(topic), true) => document.0.extend(topic.0),
        (Some(topic), false) => {
            topics.push(topic);
            document.set("anyOf", list(topics));
        }
        (None, _) => {}
    }
    document.set("$defs", Json::Object(types));
    let mut text = String::new();
    Json::from(document).write(&mut text, 0);
    text.push('\n');
    text
}

/// A value of JSON. An object keeps the order of its members.
#[derive(Debug, Clone)]
enum Json {
    /// A number, a text in quotes, `true`, `false` or `null`.
    Plain(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// A schema that is an object.
#[derive(Debug, Clone, Default)]
struct Schema(Vec<(String, Json)>);

struct SchemaPrinter<'a> {
    specification: &'a Specification,
}

impl SchemaPrinter<'_> {
    /// The schema of a definition; `None` if it is not data.
    fn definition(&self, definition: &Definition) -> Option<Json> {
        let mut schema = match &definition.kind {
            DefinitionKind::Struct(found) => self.structure(found),
            DefinitionKind::Union(found) => self.union(found),
            DefinitionKind::Enum(found) => enumeration(found),
            DefinitionKind::Bitmask(found) => bitmask(found),
            DefinitionKind::Bitset(found) => {
                let mut fields = Vec::new();
                for field in self.specification.bitset_fields(found) {
                    // Padding has no value.
                    if let Some(name) = &field.name {
                        fields.push((name.to_string(), self.bitfield(field).into()));
                    }
                }
                object(fields)
            }
            DefinitionKind::Typedef(found) => match self.ty(&found.ty) {
                Some(schema) => schema,
                None => return Some(nothing()),
            },
            DefinitionKind::Module(_)
            | DefinitionKind::Constant(_)
            | DefinitionKind::Exception(_)
            | DefinitionKind::Interface(_)
            | DefinitionKind::Annotation(_)
            | DefinitionKind::NotData(_) => return None,
        };
        schema.describe(definition.doc.as_deref(), None);
        Some(schema.into())
    }

    fn reference(&self, id: DefinitionId) -> Schema {
        Schema::from([("$ref", quoted(&format!("#/$defs/{}", self.specification.definition(id).scoped_name)))])
    }

    /// The schema of a type; `None` if JSON has no form for it.
    fn ty(&self, ty: &DataType) -> Option<Schema> {
        Some(match ty {
            DataType::Basic(basic) => primitive(*basic),
            DataType::String { bound } | DataType::WString { bound } => {
                let mut schema = of_type("string");
                // Bounds count bytes or UTF-16 units, and JSON Schema counts characters, which are never more.
                schema.set_bound("maxLength", *bound);
                schema
            }
            DataType::Sequence { element, bound } => {
                let mut schema = self.list_of(&element.ty);
                schema.set_bound("maxItems", *bound);
                schema
            }
            DataType::Array { element, dimensions } => {
                let Some((length, inner)) = dimensions.split_first() else {
                    debug_assert!(false, "an array has a dimension");
                    return None;
                };
                let mut schema = if inner.is_empty() {
                    self.list_of(&element.ty)
                } else {
                    // As in C, the last dimension is the innermost list.
                    self.list_of(&DataType::Array { element: element.clone(), dimensions: inner.to_vec() })
                };
                schema.set_bound("minItems", Some(*length));
                schema.set_bound("maxItems", Some(*length));
                schema
            }
            DataType::Map { key, element, bound } => {
                let mut schema = of_type("object");
                if let Some(names) = self.key_names(&key.ty) {
                    schema.set("propertyNames", names.into());
                }
                schema.set("additionalProperties", self.value_type(&element.ty));
                schema.set_bound("maxProperties", *bound);
                schema
            }
            DataType::Named(id) if self.specification.definition(*id).is_data_type() => self.reference(*id),
            DataType::Named(_) | DataType::Fixed { .. } | DataType::Opaque(_) => return None,
        })
    }

    fn value_type(&self, ty: &DataType) -> Json {
        self.ty(ty).map_or_else(nothing, Json::from)
    }

    fn list_of(&self, element: &DataType) -> Schema {
        let mut schema = of_type("array");
        schema.set("items", self.value_type(element));
        schema
    }

    /// The keys of an object are always text: a number in it has its digits.
    fn key_names(&self, key: &DataType) -> Option<Schema> {
        match self.specification.resolve(key) {
            DataType::String { bound: Some(bound) } | DataType::WString { bound: Some(bound) } => {
                Some(Schema::from([("maxLength", Json::Plain(bound.to_string()))]))
            }
            DataType::Basic(BasicType::Bool) => Some(one_of(vec![quoted("true"), quoted("false")])),
            DataType::Basic(basic) if basic.range().is_some() => {
                Some(Schema::from([("pattern", quoted("^-?[0-9]+$"))]))
            }
            DataType::Named(id) => match &self.specification.definition(*id).kind {
                DefinitionKind::Enum(found) => {
                    Some(one_of(found.enumerators.iter().map(|literal| quoted(&literal.name)).collect()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// All members are optional in JSON: one that is absent has its default.
    fn structure(&self, definition: &StructDefinition) -> Schema {
        let (mut chain, mut current) = (vec![definition], definition);
        while let Some(base) = current.base {
            let DefinitionKind::Struct(base) = &self.specification.definition(base).kind else { break };
            chain.push(base);
            current = base;
        }
        let mut members = Vec::new();
        for part in chain.into_iter().rev() {
            for member in &part.members {
                // A member that is not sent is no part of a sample.
                if !member.annotations.is_non_serialized() {
                    members.push((member.name.to_string(), self.member(member)));
                }
            }
        }
        object(members)
    }

    fn member(&self, member: &MemberDefinition) -> Json {
        let Some(mut schema) = self.ty(&member.ty) else { return nothing() };
        let annotations = &member.annotations;
        if let DataType::Basic(_) = self.specification.resolve(&member.ty) {
            // These are narrower than the range of the type, and replace it.
            for (word, limit) in [("minimum", annotations.min()), ("maximum", annotations.max())] {
                if let Some(limit) = limit.and_then(|limit| self.value(limit)) {
                    schema.set(word, limit);
                }
            }
        }
        if member.is_optional() {
            schema = any_of(vec![schema, of_type("null")]);
        }
        schema.describe(member.doc.as_deref(), annotations.unit());
        if let Some(default) = member.default_value().and_then(|value| self.value(value)) {
            schema.set("default", default);
        }
        schema.into()
    }

    /// An object with the discriminator and the selected member. The member selects a discriminator by itself.
    fn union(&self, definition: &UnionDefinition) -> Schema {
        let chosen = ("$discriminator".to_owned(), self.value_type(&definition.discriminator.ty));
        let mut forms = Vec::new();
        for branch in &definition.branches {
            let name = branch.member.name.to_string();
            let mut form = object(vec![chosen.clone(), (name.clone(), self.member(&branch.member))]);
            form.set("required", Json::List(vec![quoted(&name)]));
            forms.push(form);
        }
        let discriminator = self.specification.resolve(&definition.discriminator.ty);
        let value_count = match discriminator {
            DataType::Basic(BasicType::Bool) => Some(2),
            DataType::Named(id) => match &self.specification.definition(*id).kind {
                DefinitionKind::Enum(found) => Some(found.enumerators.len()),
                _ => None,
            },
            _ => None,
        };
        let label_count = definition.branches.iter().map(|branch| branch.labels.len()).sum();
        let has_default = definition.branches.iter().any(|branch| branch.is_default);
        if !has_default && value_count != Some(label_count) {
            let mut form = object(vec![chosen]);
            form.set("required", Json::List(vec![quoted("$discriminator")]));
            forms.push(form);
        }
        any_of(forms)
    }

    fn bitfield(&self, field: &BitsetField) -> Schema {
        let ty = field.ty.as_ref().map(|ty| self.specification.resolve(ty));
        let is_signed = matches!(ty, Some(DataType::Basic(basic)) if basic.range().is_some_and(|(least, _)| least < 0));
        let count = 1_i128 << field.bit_count;
        let mut schema = if is_signed { integer(-count / 2, count / 2 - 1) } else { integer(0, count - 1) };
        if field.bit_count == 1 {
            schema.set("type", Json::List(vec![quoted("boolean"), quoted("integer")]));
        }
        schema.describe(field.doc.as_deref(), field.annotations.unit());
        schema
    }

    /// A constant; `None` if JSON has no form for it.
    fn value(&self, value: &ConstantValue) -> Option<Json> {
        Some(match value {
            ConstantValue::Bool(value) => Json::Plain(value.to_string()),
            ConstantValue::Integer(number) => Json::Plain(number.to_string()),
            ConstantValue::Float(number) if number.is_finite() => Json::Plain(format!("{number:?}")),
            ConstantValue::Float(number) => quoted(special_number(*number)),
            ConstantValue::Fixed(_) => return None,
            ConstantValue::Char(letter) | ConstantValue::WChar(letter) => quoted(&letter.to_string()),
            ConstantValue::String(text) | ConstantValue::WString(text) => quoted(text),
            ConstantValue::Enumerator(id, index) => {
                let DefinitionKind::Enum(found) = &self.specification.definition(*id).kind else { return None };
                quoted(&found.enumerators.get(*index)?.name)
            }
            ConstantValue::List(values) => {
                let mut found = Vec::with_capacity(values.len());
                for value in values {
                    found.push(self.value(value)?);
                }
                Json::List(found)
            }
        })
    }
}

fn primitive(basic: BasicType) -> Schema {
    if let Some((least, most)) = basic.range() {
        return integer(least, most);
    }
    match basic {
        BasicType::Bool => of_type("boolean"),
        BasicType::Char => Schema::from([
            ("type", quoted("string")),
            ("minLength", Json::Plain("1".to_owned())),
            ("maxLength", Json::Plain("1".to_owned())),
        ]),
        // Half of a surrogate pair is no character, and appears as its number.
        BasicType::WChar => any_of(vec![primitive(BasicType::Char), integer(0xd800, 0xdfff)]),
        BasicType::Float32 | BasicType::Float64 => any_of(vec![of_type("number"), special_numbers()]),
        // The bits as text, because no number of JSON has that precision.
        _ => {
            debug_assert_eq!(basic, BasicType::Float128, "each other type is above");
            let bits = Schema::from([("type", quoted("string")), ("pattern", quoted("^0x[0-9a-f]{32}$"))]);
            any_of(vec![bits, of_type("number"), special_numbers()])
        }
    }
}

/// The text of a number that JSON lacks.
fn special_number(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

fn special_numbers() -> Schema {
    one_of([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|number| quoted(special_number(number))).to_vec())
}

fn integer(least: i128, most: i128) -> Schema {
    let mut schema = of_type("integer");
    schema.set("minimum", Json::Plain(least.to_string()));
    schema.set("maximum", Json::Plain(most.to_string()));
    schema
}

/// The name of a literal, or its number.
fn enumeration(definition: &EnumDefinition) -> Schema {
    let mut values: Vec<Json> = definition.enumerators.iter().map(|literal| quoted(&literal.name)).collect();
    for literal in &definition.enumerators {
        values.push(Json::Plain(literal.value.to_string()));
    }
    one_of(values)
}

/// The bits as a number, or the names of the flags.
fn bitmask(definition: &BitmaskDefinition) -> Schema {
    let mut flags = of_type("array");
    flags.set("items", one_of(definition.flags.iter().map(|flag| quoted(&flag.name)).collect()).into());
    any_of(vec![integer(0, (1 << definition.bit_bound) - 1), flags])
}

fn object(members: Vec<(String, Json)>) -> Schema {
    let mut schema = of_type("object");
    schema.set("properties", Json::Object(members));
    schema.set("additionalProperties", nothing());
    schema
}

fn of_type(name: &str) -> Schema {
    Schema::from([("type", quoted(name))])
}

fn any_of(forms: Vec<Schema>) -> Schema {
    Schema::from([("anyOf", list(forms))])
}

fn one_of(values: Vec<Json>) -> Schema {
    Schema::from([("enum", Json::List(values))])
}

/// The schema that no value fits.
fn nothing() -> Json {
    Json::Plain("false".to_owned())
}

fn list(schemas: Vec<Schema>) -> Json {
    Json::List(schemas.into_iter().map(Json::from).collect())
}

fn quoted(text: &str) -> Json {
    let mut quoted = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\0'..' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    Json::Plain(quoted)
}

impl Schema {
    /// Sets a keyword in its place, or behind the others.
    fn set(&mut self, word: &str, value: Json) {
        match self.0.iter_mut().find(|(other, _)| other == word) {
            Some((_, old)) => *old = value,
            None => self.0.push((word.to_owned(), value)),
        }
    }

    fn set_bound(&mut self, word: &str, bound: Option<u32>) {
        if let Some(bound) = bound {
            self.set(word, Json::Plain(bound.to_string()));
        }
    }

    fn describe(&mut self, doc: Option<&str>, unit: Option<&str>) {
        let mut parts: Vec<String> = doc.map(str::to_owned).into_iter().collect();
        parts.extend(unit.map(|unit| format!("Unit: {unit}.")));
        if !parts.is_empty() {
            self.set("description", quoted(&parts.join("\n")));
        }
    }
}

impl<const N: usize> From<[(&str, Json); N]> for Schema {
    fn from(words: [(&str, Json); N]) -> Self {
        Self(words.map(|(word, value)| (word.to_owned(), value)).into())
    }
}

impl From<Schema> for Json {
    fn from(schema: Schema) -> Self {
        Self::Object(schema.0)
    }
}

/// Columns of a list or object in one line.
const WIDTH: usize = 100;

impl Json {
    /// Appends the value: in one line if that is short, else with a line for each part.
    fn write(&self, text: &mut String, depth: usize) {
        let (open, close, parts) = match self {
            Self::Plain(value) => return text.push_str(value),
            Self::List(values) => ('[', ']', values.iter().map(|value| (None, value)).collect::<Vec<_>>()),
            Self::Object(members) => {
                ('{', '}', members.iter().map(|(name, value)| (Some(name), value)).collect::<Vec<_>>())
            }
        };
        let is_short = self.len() <= WIDTH;
        text.push(open);
        for (index, (name, value)) in parts.iter().enumerate() {
            match (index, is_short) {
                (0, true) => {}
                (_, true) => text.push_str(", "),
                (0, false) => new_line(text, depth + 1),
                (_, false) => {
                    text.push(',');
                    new_line(text, depth + 1);
                }
            }
            if let Some(name) = name {
                quoted(name).write(text, 0);
                text.push_str(": ");
            }
            value.write(text, depth + 1);
        }
        if !is_short {
            new_line(text, depth);
        }
        text.push(close);
    }

    /// The length in one line, or more than [`WIDTH`].
    fn len(&self) -> usize {
        let mut len = 2;
        match self {
            Self::Plain(value) => return value.len(),
            Self::List(values) => {
                for value in values {
                    len += value.len() + 2;
                    // A long value need not be measured to its end.
                    if len > WIDTH {
                        break;
                    }
                }
            }
            Self::Object(members) => {
                for (name, value) in members {
                    len += name.len() + value.len() + 6;
                    if len > WIDTH {
                        break;
                    }
                }
            }
        }
        len
    }
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
}
