//! XML types of a specification (XTYPES 1.3, 7.3.2).

use super::value::shared_enumerators;
use super::xml_loss;
use crate::model::{
    AutoIdKind, BasicType, BitsetDefinition, ConstantValue, DataType, Definition, DefinitionId, DefinitionKind,
    Diagnostic, Diagnostics, ElementType, EnumDefinition, Extensibility, MemberDefinition, Span, Specification,
    TryConstruct, UnionDefinition, member_id_hash,
};
use std::collections::HashSet;
use std::fmt::Write;

/// XML types, and a warning for each part of the specification that XML has no place for.
#[derive(Debug, Clone, Default)]
pub struct XmlText {
    /// The document.
    pub text: String,
    /// Interfaces, exceptions and annotations that the document lacks.
    pub warnings: Diagnostics,
}

/// Returns all data types and constants as XML, which `xml::parse_xml` reads as the same types.
///
/// It leaves out comments without a warning.
///
/// # Errors
/// XML has no such type: a collection inside of a collection without a typedef, annotations of elements, and values of
/// `wchar`, `wstring` and lists.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::{Options, parse_text};
/// use dds_idl::print::to_xml;
///
/// let specification = parse_text("pose.idl", "@final struct Pose { @key long id; };", &Options::default())?;
/// let xml = to_xml(&specification).expect("XML has all of it");
/// assert!(xml.text.contains(r#"<struct name="Pose" extensibility="final">"#));
/// assert!(xml.text.contains(r#"<member name="id" type="int32" key="true" id="0"/>"#));
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn to_xml(specification: &Specification) -> Result<XmlText, Diagnostics> {
    let mut writer = XmlWriter {
        specification,
        shared_enumerators: shared_enumerators(specification),
        text: String::new(),
        level: 1,
        errors: Diagnostics::default(),
        losses: Diagnostics::default(),
    };
    writer.text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<types>\n");
    writer.forward_declarations();
    for id in specification.roots() {
        writer.definition(*id);
    }
    writer.text.push_str("</types>\n");
    if writer.errors.has_errors() {
        return Err(writer.errors);
    }
    Ok(XmlText { text: writer.text, warnings: writer.losses })
}

/// Attributes of an element, with their order.
type AttributeList = Vec<(&'static str, String)>;

struct XmlWriter<'a> {
    specification: &'a Specification,
    /// Scopes, and the enumerators that several enums of the scope have.
    shared_enumerators: HashSet<(Option<DefinitionId>, &'a str)>,
    text: String,
    level: usize,
    errors: Diagnostics,
    losses: Diagnostics,
}

impl XmlWriter<'_> {
    fn refuse(&mut self, what: &str, span: Span) {
        self.errors.push(Diagnostic::error(format!("XML types have no {what}"), span));
    }

    fn element(&mut self, name: &str, attributes: &AttributeList, end: &str) {
        let indent = "    ".repeat(self.level);
        let mut text = format!("{indent}<{name}");
        for (key, value) in attributes {
            // Writing to a string cannot fail.
            let _ = write!(text, " {key}=\"{}\"", escaped(value));
        }
        self.text.push_str(&text);
        self.text.push_str(end);
        self.text.push('\n');
    }

    fn open(&mut self, name: &str, attributes: &AttributeList) {
        self.element(name, attributes, ">");
        self.level += 1;
    }

    fn close(&mut self, name: &str) {
        self.level -= 1;
        let indent = "    ".repeat(self.level);
        self.text.push_str(&format!("{indent}</{name}>\n"));
    }

    /// Declares the structs and unions that a type uses before their definition.
    fn forward_declarations(&mut self) {
        let mut order = Vec::new();
        let mut open: Vec<DefinitionId> = self.specification.roots().iter().rev().copied().collect();
        while let Some(id) = open.pop() {
            order.push(id);
            open.extend(self.specification.children(id).into_iter().rev());
        }
        let (mut seen, mut declared) = (HashSet::new(), HashSet::new());
        for id in order {
            seen.insert(id);
            let mut early = Vec::new();
            for_each_type(self.specification.definition(id), &mut |ty| {
                Specification::for_each_named(ty, &mut |other| {
                    if !seen.contains(&other) {
                        early.push(other);
                    }
                });
            });
            for other in early {
                if declared.insert(other) {
                    self.forward_declaration(other);
                }
            }
        }
    }

    fn forward_declaration(&mut self, id: DefinitionId) {
        let definition = self.specification.definition(id);
        let kind = match definition.kind {
            DefinitionKind::Struct(_) => "struct",
            DefinitionKind::Union(_) => "union",
            // Only these can be declared before their definition.
            _ => return,
        };
        let mut modules = Vec::new();
        let mut parent = definition.parent;
        while let Some(id) = parent {
            let module = self.specification.definition(id);
            modules.push(module.name.to_string());
            parent = module.parent;
        }
        for module in modules.iter().rev() {
            self.open("module", &vec![("name", module.clone())]);
        }
        let attributes = vec![("name", definition.name.to_string()), ("kind", kind.to_owned())];
        self.element("forward_dcl", &attributes, "/>");
        for _ in modules {
            self.close("module");
        }
    }

    fn definition(&mut self, id: DefinitionId) {
        let definition = self.specification.definition(id);
        xml_loss::report_definition(definition, &mut self.losses);
        let mut attributes = vec![("name", definition.name.to_string())];
        let is_module = matches!(definition.kind, DefinitionKind::Module(_));
        if !is_module && !self.specification.children(id).is_empty() {
            self.refuse(&format!("types inside of {}", definition.kind.description()), definition.span);
        }
        match &definition.kind {
            DefinitionKind::Module(module) => {
                self.open("module", &attributes);
                for child in &module.definitions {
                    self.definition(*child);
                }
                self.close("module");
            }
            DefinitionKind::Constant(found) => {
                attributes.extend(self.type_attributes(&found.ty, definition.span));
                if let Some(value) = self.value(&found.value, definition.span) {
                    attributes.push(("value", value));
                }
                self.element("const", &attributes, "/>");
            }
            DefinitionKind::Struct(found) => {
                if let Some(base) = found.base {
                    attributes.push(("baseType", self.specification.definition(base).scoped_name.to_string()));
                }
                attributes.extend(marks(found.extensibility, found.is_nested, found.auto_id));
                self.open("struct", &attributes);
                for member in &found.members {
                    self.member(member, found.auto_id);
                }
                self.close("struct");
            }
            DefinitionKind::Union(found) => self.union(attributes, found),
            DefinitionKind::Enum(found) => self.enumeration(attributes, found),
            DefinitionKind::Bitmask(found) => {
                attributes.extend(marks(found.extensibility, false, AutoIdKind::Sequential));
                attributes.push(("bitBound", found.bit_bound.to_string()));
                self.open("bitmask", &attributes);
                for flag in &found.flags {
                    xml_loss::report_value(&flag.annotations, flag.span, &mut self.losses);
                    let attributes = vec![("name", flag.name.to_string()), ("position", flag.position.to_string())];
                    self.element("flag", &attributes, "/>");
                }
                self.close("bitmask");
            }
            DefinitionKind::Bitset(found) => self.bitset(attributes, found),
            DefinitionKind::Typedef(found) => {
                attributes.extend(self.type_attributes(&found.ty, definition.span));
                self.element("typedef", &attributes, "/>");
            }
            DefinitionKind::Interface(_)
            | DefinitionKind::Exception(_)
            | DefinitionKind::Annotation(_)
            | DefinitionKind::NotData(_) => {}
        }
    }

    fn union(&mut self, mut attributes: AttributeList, definition: &UnionDefinition) {
        attributes.extend(marks(definition.extensibility, definition.is_nested, definition.auto_id));
        self.open("union", &attributes);
        let discriminator = &definition.discriminator;
        let mut attributes = self.type_attributes(&discriminator.ty, discriminator.span);
        if discriminator.annotations.is_key() {
            attributes.push(("key", "true".to_owned()));
        }
        attributes.extend(try_construct(discriminator.annotations.try_construct()));
        xml_loss::report_discriminator(&discriminator.annotations, discriminator.span, &mut self.losses);
        self.element("discriminator", &attributes, "/>");
        for branch in &definition.branches {
            self.open("case", &Vec::new());
            for label in &branch.labels {
                if let Some(value) = self.label(&discriminator.ty, *label, branch.member.span) {
                    self.element("caseDiscriminator", &vec![("value", value)], "/>");
                }
            }
            if branch.is_default {
                self.element("caseDiscriminator", &vec![("value", "default".to_owned())], "/>");
            }
            self.member(&branch.member, definition.auto_id);
            self.close("case");
        }
        self.close("union");
    }

    fn enumeration(&mut self, mut attributes: AttributeList, definition: &EnumDefinition) {
        attributes.extend(marks(definition.extensibility, false, AutoIdKind::Sequential));
        attributes.push(("bitBound", definition.bit_bound.to_string()));
        self.open("enum", &attributes);
        for literal in &definition.enumerators {
            xml_loss::report_value(&literal.annotations, literal.span, &mut self.losses);
            let mut attributes = vec![("name", literal.name.to_string()), ("value", literal.value.to_string())];
            if literal.annotations.is_default_literal() {
                attributes.push(("defaultLiteral", "true".to_owned()));
            }
            self.element("enumerator", &attributes, "/>");
        }
        self.close("enum");
    }

    fn bitset(&mut self, mut attributes: AttributeList, definition: &BitsetDefinition) {
        if let Some(base) = definition.base {
            attributes.push(("baseType", self.specification.definition(base).scoped_name.to_string()));
        }
        self.open("bitset", &attributes);
        for field in &definition.fields {
            xml_loss::report_value(&field.annotations, field.span, &mut self.losses);
            let name = field.name.as_deref().unwrap_or_default().to_owned();
            let mut attributes = vec![("name", name), ("bit_bound", field.bit_count.to_string())];
            if let Some(ty) = &field.ty {
                attributes.extend(self.type_attributes(ty, field.span));
            }
            self.element("bitfield", &attributes, "/>");
        }
        self.close("bitset");
    }

    fn member(&mut self, member: &MemberDefinition, auto_id: AutoIdKind) {
        let annotations = &member.annotations;
        xml_loss::report_member(annotations, member.span, &mut self.losses);
        let mut attributes = vec![("name", member.name.to_string())];
        attributes.extend(self.type_attributes(&member.ty, member.span));
        for (is_set, name) in [
            (member.is_key(), "key"),
            (member.is_optional(), "optional"),
            (member.must_understand(), "mustUnderstand"),
            (member.is_external(), "external"),
            (annotations.is_non_serialized(), "nonSerialized"),
        ] {
            if is_set {
                attributes.push((name, "true".to_owned()));
            }
        }
        match annotations.hash_id() {
            Some(hashed) => attributes.push(("hashid", hashed.unwrap_or_default().to_owned())),
            None if annotations.is_non_serialized() => {}
            None if auto_id == AutoIdKind::Hash && member.id == member_id_hash(&member.name) => {}
            None => attributes.push(("id", member.id.to_string())),
        }
        attributes.extend(try_construct(member.try_construct()));
        for (name, value) in
            [("default", annotations.default_value()), ("min", annotations.min()), ("max", annotations.max())]
        {
            if let Some(value) = value.and_then(|value| self.value(value, member.span)) {
                attributes.push((name, value));
            }
        }
        if let Some(unit) = annotations.unit() {
            attributes.push(("unit", unit.to_owned()));
        }
        self.element("member", &attributes, "/>");
    }

    /// The attributes of a type: at most one sequence inside of one map inside of one array.
    fn type_attributes(&mut self, ty: &DataType, span: Span) -> AttributeList {
        let (mut ty, mut collections) = (ty, AttributeList::new());
        if let DataType::Array { element, dimensions } = ty {
            let lengths: Vec<String> = dimensions.iter().map(u32::to_string).collect();
            collections.push(("arrayDimensions", lengths.join(",")));
            ty = self.element_type(element, span);
        }
        if let DataType::Map { key, element, bound } = ty {
            collections.push(("mapMaxLength", bound_text(*bound)));
            match self.element_type(key, span) {
                DataType::Basic(basic) => collections.push(("mapKeyType", xml_name(*basic).to_owned())),
                DataType::String { bound: None } => collections.push(("mapKeyType", "string".to_owned())),
                DataType::Named(id) => {
                    collections.push(("mapKeyType", "nonBasic".to_owned()));
                    let name = self.specification.definition(*id).scoped_name.to_string();
                    collections.push(("mapKeyNonBasicTypeName", name));
                }
                _ => self.refuse("such key of a map without a typedef", span),
            }
            ty = self.element_type(element, span);
        }
        if let DataType::Sequence { element, bound } = ty {
            collections.push(("sequenceMaxLength", bound_text(*bound)));
            ty = self.element_type(element, span);
        }
        let mut attributes = match ty {
            DataType::Basic(basic) => vec![("type", xml_name(*basic).to_owned())],
            DataType::String { bound } => string_attributes("string", *bound),
            DataType::WString { bound } => string_attributes("wstring", *bound),
            DataType::Named(id) => {
                let name = self.specification.definition(*id).scoped_name.to_string();
                vec![("type", "nonBasic".to_owned()), ("nonBasicTypeName", name)]
            }
            _ => {
                let name = self.specification.type_name(ty);
                self.refuse(&format!("`{name}` inside of another collection: it needs a typedef"), span);
                Vec::new()
            }
        };
        attributes.extend(collections);
        attributes
    }

    fn element_type<'e>(&mut self, element: &'e ElementType, span: Span) -> &'e DataType {
        if element.is_external() || element.try_construct() != TryConstruct::Discard {
            self.refuse("annotations of elements", span);
        }
        &element.ty
    }

    fn value(&mut self, value: &ConstantValue, span: Span) -> Option<String> {
        match value {
            ConstantValue::Bool(value) => Some(value.to_string()),
            ConstantValue::Integer(value) => Some(value.to_string()),
            ConstantValue::Float(value) => Some(format!("{value:?}")),
            ConstantValue::Char(letter) if letter.is_ascii_graphic() || *letter == ' ' => Some(letter.to_string()),
            // A reader removes one pair of quotes.
            ConstantValue::String(text) if is_quoted(text) => Some(format!("\"{text}\"")),
            ConstantValue::String(text) if !text.chars().any(char::is_control) => Some(text.to_string()),
            ConstantValue::Enumerator(id, index) => match &self.specification.definition(*id).kind {
                DefinitionKind::Enum(found) => Some(self.literal(*id, &found.enumerators.get(*index)?.name)),
                _ => None,
            },
            _ => {
                self.refuse("such value", span);
                None
            }
        }
    }

    /// The scoped name of an enumerator. It stands beside its enum, or inside if several enums have it.
    fn literal(&self, id: DefinitionId, name: &str) -> String {
        let definition = self.specification.definition(id);
        if self.shared_enumerators.contains(&(definition.parent, name)) {
            return format!("{}::{name}", definition.scoped_name);
        }
        match definition.parent {
            Some(parent) => format!("{}::{name}", self.specification.definition(parent).scoped_name),
            None => name.to_owned(),
        }
    }

    fn label(&mut self, ty: &DataType, label: i64, span: Span) -> Option<String> {
        match self.specification.resolve(ty) {
            DataType::Basic(BasicType::Bool) => Some((label != 0).to_string()),
            DataType::Basic(BasicType::Char) => {
                let letter = u32::try_from(label).ok().and_then(char::from_u32)?;
                self.value(&ConstantValue::Char(letter), span)
            }
            DataType::Basic(BasicType::WChar) => {
                self.refuse("such label", span);
                None
            }
            DataType::Named(id) => match &self.specification.definition(*id).kind {
                DefinitionKind::Enum(found) => {
                    let literal = found.enumerators.iter().find(|literal| i64::from(literal.value) == label)?;
                    Some(self.literal(*id, &literal.name))
                }
                _ => Some(label.to_string()),
            },
            _ => Some(label.to_string()),
        }
    }
}

/// Calls `visit` with each type that a definition uses.
fn for_each_type(definition: &Definition, visit: &mut dyn FnMut(&DataType)) {
    match &definition.kind {
        DefinitionKind::Struct(found) => found.members.iter().for_each(|member| visit(&member.ty)),
        DefinitionKind::Union(found) => found.branches.iter().for_each(|branch| visit(&branch.member.ty)),
        DefinitionKind::Typedef(found) => visit(&found.ty),
        _ => {}
    }
}

fn marks(extensibility: Extensibility, is_nested: bool, auto_id: AutoIdKind) -> AttributeList {
    let extensibility = match extensibility {
        Extensibility::Final => "final",
        Extensibility::Appendable => "appendable",
        Extensibility::Mutable => "mutable",
    };
    let mut attributes = vec![("extensibility", extensibility.to_owned())];
    if is_nested {
        attributes.push(("nested", "true".to_owned()));
    }
    if auto_id == AutoIdKind::Hash {
        attributes.push(("autoid", "hash".to_owned()));
    }
    attributes
}

/// A text that would lose its own quotes.
fn is_quoted(text: &str) -> bool {
    text.len() >= 2 && text.starts_with('"') && text.ends_with('"') && !text.chars().any(char::is_control)
}

fn try_construct(handling: TryConstruct) -> Option<(&'static str, String)> {
    match handling {
        TryConstruct::Discard => None,
        TryConstruct::UseDefault => Some(("tryConstruct", "USE_DEFAULT".to_owned())),
        TryConstruct::Trim => Some(("tryConstruct", "TRIM".to_owned())),
    }
}

fn bound_text(bound: Option<u32>) -> String {
    bound.map_or_else(|| "-1".to_owned(), |bound| bound.to_string())
}

fn string_attributes(name: &str, bound: Option<u32>) -> AttributeList {
    let mut attributes = vec![("type", name.to_owned())];
    if let Some(bound) = bound {
        attributes.push(("stringMaxLength", bound.to_string()));
    }
    attributes
}

/// The names of XTYPES 1.3; Fast DDS and RTI Connext read them as well.
fn xml_name(basic: BasicType) -> &'static str {
    match basic {
        BasicType::Bool => "boolean",
        BasicType::Octet => "byte",
        BasicType::Char => "char8",
        BasicType::WChar => "char16",
        BasicType::Int8 => "int8",
        BasicType::UInt8 => "uint8",
        BasicType::Int16 => "int16",
        BasicType::UInt16 => "uint16",
        BasicType::Int32 => "int32",
        BasicType::UInt32 => "uint32",
        BasicType::Int64 => "int64",
        BasicType::UInt64 => "uint64",
        BasicType::Float32 => "float32",
        BasicType::Float64 => "float64",
        BasicType::Float128 => "float128",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
