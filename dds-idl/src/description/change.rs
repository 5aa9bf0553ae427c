//! Changes between two versions of types.

use crate::model::{
    Annotations, BitmaskDefinition, BitsetDefinition, ConstantValue, DataType, Definition, DefinitionId,
    DefinitionKind, ElementType, EnumDefinition, Extensibility, MemberDefinition, Specification, TryConstruct,
    UnionDefinition,
};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A change of a type, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeChange {
    /// Scoped name of the type.
    pub ty: String,
    /// Member, branch, enumerator, flag or field; `None` for the type as a whole.
    pub part: Option<String>,
    /// The change.
    pub kind: TypeChangeKind,
}

/// Kind of a [`TypeChange`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeChangeKind {
    /// Only the new version has it.
    Added,
    /// Only the old version has it.
    Removed,
    /// The id or value is the same, and the name was another one.
    Renamed {
        /// The name in the old version.
        old: String,
    },
    /// The place in the order of the members.
    Moved,
    /// A property has another value.
    Changed {
        /// The property.
        what: &'static str,
        /// The value in the old version.
        old: String,
        /// The value in the new version.
        new: String,
    },
}

/// Returns the changes of all data types, in the order of the old version; new types are last.
///
/// Typedefs are compared by name, and struct members as well. Comments and annotations without a meaning for DDS do not
/// count.
#[must_use]
pub fn changes(old: &Specification, new: &Specification) -> Vec<TypeChange> {
    let mut found = Comparer { old, new, changes: Vec::new() };
    for (_, definition) in old.definitions() {
        if !definition.is_data_type() {
            continue;
        }
        match new.find(&definition.scoped_name).map(|id| new.definition(id)) {
            Some(other) if other.is_data_type() => found.definitions(definition, other),
            _ => found.report(definition, None, TypeChangeKind::Removed),
        }
    }
    for (_, definition) in new.definitions() {
        let known = old.find(&definition.scoped_name).is_some_and(|id| old.definition(id).is_data_type());
        if definition.is_data_type() && !known {
            found.report(definition, None, TypeChangeKind::Added);
        }
    }
    found.changes
}

struct Comparer<'a> {
    old: &'a Specification,
    new: &'a Specification,
    changes: Vec<TypeChange>,
}

/// A part of a type: its name, its number, and its properties as text.
struct TypePart<'a> {
    name: &'a str,
    /// Id, value or position.
    number: i64,
    properties: Vec<(&'static str, String)>,
}

impl Comparer<'_> {
    fn report(&mut self, definition: &Definition, part: Option<&str>, kind: TypeChangeKind) {
        self.changes.push(TypeChange { ty: definition.scoped_name.to_string(), part: part.map(str::to_owned), kind });
    }

    /// Reports a property of the type as a whole.
    fn compare(&mut self, of: &Definition, what: &'static str, old: String, new: String) {
        if old != new {
            self.report(of, None, TypeChangeKind::Changed { what, old, new });
        }
    }

    fn definitions(&mut self, old: &Definition, new: &Definition) {
        match (&old.kind, &new.kind) {
            (DefinitionKind::Struct(a), DefinitionKind::Struct(b)) => {
                self.compare(old, "extensibility", text_of(a.extensibility), text_of(b.extensibility));
                self.compare(old, "base", base_name(self.old, a.base), base_name(self.new, b.base));
                self.type_marks(old, new);
                self.parts(old, &members(self.old, &a.members), &members(self.new, &b.members), true);
            }
            (DefinitionKind::Union(a), DefinitionKind::Union(b)) => {
                self.compare(old, "extensibility", text_of(a.extensibility), text_of(b.extensibility));
                let (was, is) = (self.old.type_name(&a.discriminator.ty), self.new.type_name(&b.discriminator.ty));
                self.compare(old, "discriminator", was, is);
                let (was, is) = (a.discriminator.annotations.is_key(), b.discriminator.annotations.is_key());
                self.compare(old, "key", yes_or_no(was), yes_or_no(is));
                let (was, is) =
                    (a.discriminator.annotations.try_construct(), b.discriminator.annotations.try_construct());
                self.compare(old, "try_construct", format!("{was:?}"), format!("{is:?}"));
                self.type_marks(old, new);
                self.parts(old, &branches(self.old, a), &branches(self.new, b), false);
            }
            (DefinitionKind::Enum(a), DefinitionKind::Enum(b)) => {
                self.compare(old, "extensibility", text_of(a.extensibility), text_of(b.extensibility));
                self.compare(old, "bit_bound", a.bit_bound.to_string(), b.bit_bound.to_string());
                self.type_marks(old, new);
                self.parts(old, &enumerators(a), &enumerators(b), false);
            }
            (DefinitionKind::Bitmask(a), DefinitionKind::Bitmask(b)) => {
                self.compare(old, "extensibility", text_of(a.extensibility), text_of(b.extensibility));
                self.compare(old, "bit_bound", a.bit_bound.to_string(), b.bit_bound.to_string());
                self.parts(old, &flags(a), &flags(b), false);
            }
            (DefinitionKind::Bitset(a), DefinitionKind::Bitset(b)) => {
                self.compare(old, "base", base_name(self.old, a.base), base_name(self.new, b.base));
                let (was, is) = (fields(self.old, a), fields(self.new, b));
                self.parts(old, &was, &is, false);
            }
            (DefinitionKind::Typedef(a), DefinitionKind::Typedef(b)) => {
                self.compare(old, "type", self.old.type_name(&a.ty), self.new.type_name(&b.ty));
                let (was, is) = (elements(self.old, &a.ty), elements(self.new, &b.ty));
                self.compare(old, "elements", was, is);
                let (was, is) = (limits(self.old, &old.annotations), limits(self.new, &new.annotations));
                for ((what, was), (_, is)) in was.into_iter().zip(is) {
                    self.compare(old, what, was, is);
                }
            }
            (a, b) => self.compare(old, "kind", a.description().to_owned(), b.description().to_owned()),
        }
    }

    /// Compares what a type says of itself beside its extensibility.
    fn type_marks(&mut self, old: &Definition, new: &Definition) {
        self.compare(old, "nested", yes_or_no(!old.is_topic_type()), yes_or_no(!new.is_topic_type()));
        let (was, is) = (old.annotations.ignores_literal_names(), new.annotations.ignores_literal_names());
        self.compare(old, "ignore_literal_names", yes_or_no(was), yes_or_no(is));
        let text = |definition: &Definition| match definition.annotations.data_representation() {
            Some(set) => format!("{set:?}"),
            None => "none".to_owned(),
        };
        self.compare(old, "data_representation", text(old), text(new));
    }

    /// Compares parts with the same name, or else with the same number.
    fn parts(&mut self, of: &Definition, old: &[TypePart<'_>], new: &[TypePart<'_>], has_order: bool) {
        let (mut is_known, mut last) = (vec![false; new.len()], None);
        let old_names: HashSet<&str> = old.iter().map(|part| part.name).collect();
        let (mut by_name, mut by_number) = (HashMap::new(), HashMap::new());
        for (index, part) in new.iter().enumerate() {
            by_name.insert(part.name, (index, part));
            if !old_names.contains(part.name) {
                by_number.insert(part.number, (index, part));
            }
        }
        for part in old {
            let Some(&(index, other)) = by_name.get(part.name).or_else(|| by_number.get(&part.number)) else {
                self.report(of, Some(part.name), TypeChangeKind::Removed);
                continue;
            };
            if let Some(is_known) = is_known.get_mut(index) {
                *is_known = true;
            }
            if other.name != part.name {
                self.report(of, Some(other.name), TypeChangeKind::Renamed { old: part.name.to_owned() });
            }
            if has_order && last.is_some_and(|last| index < last) {
                self.report(of, Some(other.name), TypeChangeKind::Moved);
            }
            last = Some(index);
            for ((what, old), (_, new)) in part.properties.iter().zip(&other.properties) {
                if old != new {
                    let kind = TypeChangeKind::Changed { what, old: old.clone(), new: new.clone() };
                    self.report(of, Some(other.name), kind);
                }
            }
        }
        for (part, is_known) in new.iter().zip(is_known) {
            if !is_known {
                self.report(of, Some(part.name), TypeChangeKind::Added);
            }
        }
    }
}

fn base_name(specification: &Specification, base: Option<DefinitionId>) -> String {
    match base {
        Some(base) => specification.definition(base).scoped_name.to_string(),
        None => "none".to_owned(),
    }
}

fn text_of(extensibility: Extensibility) -> String {
    match extensibility {
        Extensibility::Final => "final",
        Extensibility::Appendable => "appendable",
        Extensibility::Mutable => "mutable",
    }
    .to_owned()
}

fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

fn member<'a>(specification: &Specification, member: &'a MemberDefinition) -> TypePart<'a> {
    let mut properties = limits(specification, &member.annotations);
    properties.push(("elements", elements(specification, &member.ty)));
    TypePart {
        name: &member.name,
        number: member.id.into(),
        properties: [
            properties,
            vec![
                ("id", member.id.to_string()),
                ("type", specification.type_name(&member.ty)),
                ("key", yes_or_no(member.is_key())),
                ("optional", yes_or_no(member.is_optional())),
                ("must_understand", yes_or_no(member.must_understand())),
                ("external", yes_or_no(member.is_external())),
                ("try_construct", format!("{:?}", member.try_construct())),
                (
                    "default",
                    member.default_value().map_or_else(|| "none".to_owned(), |value| value_text(specification, value)),
                ),
            ],
        ]
        .concat(),
    }
}

/// The unit and the range that annotations give.
fn limits(specification: &Specification, annotations: &Annotations) -> Vec<(&'static str, String)> {
    let text = |value: Option<&ConstantValue>| {
        value.map_or_else(|| "none".to_owned(), |value| value_text(specification, value))
    };
    vec![
        ("unit", annotations.unit().unwrap_or("none").to_owned()),
        ("min", text(annotations.min())),
        ("max", text(annotations.max())),
    ]
}

/// What the annotations of elements say, from the outermost collection to the innermost.
fn elements(specification: &Specification, ty: &DataType) -> String {
    let mut texts = Vec::new();
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        let parts: &[&ElementType] = match ty {
            DataType::Sequence { element, .. } | DataType::Array { element, .. } => &[element],
            DataType::Map { key, element, .. } => &[key, element],
            _ => continue,
        };
        for part in parts {
            if part.is_external() || part.try_construct() != TryConstruct::Discard {
                let external = if part.is_external() { "external, " } else { "" };
                texts.push(format!("{} {external}{:?}", specification.type_name(&part.ty), part.try_construct()));
            }
            open.push(&part.ty);
        }
    }
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

fn value_text(specification: &Specification, value: &ConstantValue) -> String {
    match value {
        ConstantValue::Bool(value) => value.to_string(),
        ConstantValue::Integer(value) => value.to_string(),
        ConstantValue::Float(value) => format!("{value:?}"),
        ConstantValue::Fixed(value) => format!("{} / 10^{}", value.digits, value.scale),
        ConstantValue::Char(value) | ConstantValue::WChar(value) => format!("{value:?}"),
        ConstantValue::String(value) | ConstantValue::WString(value) => format!("{value:?}"),
        ConstantValue::Enumerator(id, index) => match &specification.definition(*id).kind {
            DefinitionKind::Enum(found) => {
                found.enumerators.get(*index).map_or_else(String::new, |literal| literal.name.to_string())
            }
            _ => String::new(),
        },
        ConstantValue::List(values) => {
            let texts: Vec<String> = values.iter().map(|value| value_text(specification, value)).collect();
            format!("[{}]", texts.join(", "))
        }
    }
}

fn members<'a>(specification: &Specification, all: &'a [MemberDefinition]) -> Vec<TypePart<'a>> {
    let mut parts = Vec::with_capacity(all.len());
    for own in all {
        if !own.annotations.is_non_serialized() {
            parts.push(member(specification, own));
        }
    }
    parts
}

fn branches<'a>(specification: &Specification, definition: &'a UnionDefinition) -> Vec<TypePart<'a>> {
    let mut parts = Vec::with_capacity(definition.branches.len());
    for branch in &definition.branches {
        let mut part = member(specification, &branch.member);
        let default = if branch.is_default { ", default" } else { "" };
        part.properties.push(("labels", format!("{:?}{default}", branch.labels)));
        parts.push(part);
    }
    parts
}

fn enumerators(definition: &EnumDefinition) -> Vec<TypePart<'_>> {
    let default = definition.default_index();
    let mut parts = Vec::with_capacity(definition.enumerators.len());
    for (index, literal) in definition.enumerators.iter().enumerate() {
        let properties = vec![("value", literal.value.to_string()), ("default literal", yes_or_no(index == default))];
        parts.push(TypePart { name: &literal.name, number: literal.value.into(), properties });
    }
    parts
}

fn flags(definition: &BitmaskDefinition) -> Vec<TypePart<'_>> {
    let mut parts = Vec::with_capacity(definition.flags.len());
    for flag in &definition.flags {
        let properties = vec![("position", flag.position.to_string())];
        parts.push(TypePart { name: &flag.name, number: flag.position.into(), properties });
    }
    parts
}

fn fields<'a>(specification: &'a Specification, definition: &'a BitsetDefinition) -> Vec<TypePart<'a>> {
    let mut parts = Vec::with_capacity(definition.fields.len());
    for field in &definition.fields {
        let Some(name) = &field.name else { continue };
        let ty = field.ty.as_ref().map_or_else(|| "none".to_owned(), |ty| specification.type_name(ty));
        let properties =
            vec![("position", field.position.to_string()), ("bits", field.bit_count.to_string()), ("type", ty)];
        parts.push(TypePart { name, number: field.position.into(), properties });
    }
    parts
}

impl fmt::Display for TypeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            Some(part) => write!(f, "{}.{part}: {}", self.ty, self.kind),
            None => write!(f, "{}: {}", self.ty, self.kind),
        }
    }
}

impl fmt::Display for TypeChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added => f.write_str("added"),
            Self::Removed => f.write_str("removed"),
            Self::Renamed { old } => write!(f, "renamed from {old}"),
            Self::Moved => f.write_str("moved before another member"),
            Self::Changed { what, old, new } => write!(f, "{what} changed from {old} to {new}"),
        }
    }
}
