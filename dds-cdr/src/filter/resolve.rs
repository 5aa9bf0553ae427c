//! Resolves the fields of an expression in the type: a constant description, or a type of the run time.

use super::error::ExpressionErrorKind;
use super::syntax::PathPart;
use crate::cdr::{FieldStep, TypeDescription, TypeKind};
use crate::similar::nearest;

/// A field that can be compared.
pub(super) struct ResolvedField {
    pub(super) path: Vec<FieldStep>,
    pub(super) kind: Kind,
    /// Whether the whole field belongs to the key.
    pub(super) is_key: bool,
}

/// The kind of a comparable field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Bool,
    Integer,
    Float32,
    Float64,
    Character,
    Text,
    /// The index of the enum in the [`EnumTable`].
    Enum(usize),
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "a bool",
            Self::Integer => "an integer",
            Self::Float32 | Self::Float64 => "a number",
            Self::Character => "a character",
            Self::Text => "a string",
            Self::Enum(..) => "an enumerator",
        }
    }

    /// Whether values of both kinds can be compared and ordered.
    pub(super) fn is_comparable_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bool, Self::Bool) | (Self::Character, Self::Character) | (Self::Text, Self::Text) => true,
            // Equal numbers of different enums have different meanings.
            (Self::Enum(one), Self::Enum(other)) => one == other,
            (Self::Enum(..), Self::Integer) | (Self::Integer, Self::Enum(..)) => true,
            (one, other) => one.is_number() && other.is_number(),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float32 | Self::Float64)
    }
}

/// A type whose fields an expression names.
pub(super) trait FieldType: Clone {
    /// Returns the name of the type.
    fn type_name(&self) -> &str;
    /// Returns whether samples of the type have a key.
    fn is_keyed(&self) -> bool;
    /// Returns the structure of the type.
    fn parts(&self) -> TypeParts<'_, Self>;
}

/// The structure of a type, as far as expressions reach into it.
pub(super) enum TypeParts<'t, T> {
    /// Names of the members, whether each belongs to the key, and their types.
    Struct {
        members: Vec<(&'t str, bool, T)>,
        has_key: bool,
    },
    /// Names of the cases, and the types of their members.
    Union {
        cases: Vec<(&'t str, Option<T>)>,
        discriminator: T,
        has_key: bool,
    },
    /// Names of the fields, and the steps to them.
    Bitset(Vec<(&'t str, FieldStep)>),
    Sequence {
        bound: Option<u32>,
        element: T,
    },
    Array {
        length: u32,
        element: T,
    },
    /// A value that can be compared.
    Comparable(Kind),
    /// Names and values of the literals.
    Enum(Vec<(&'t str, i64)>),
    /// A value that cannot be compared. The text names its kind.
    Other(&'static str),
}

impl<T> TypeParts<'_, T> {
    fn kind_name(&self) -> &'static str {
        match self {
            Self::Struct { .. } => "a struct",
            Self::Union { .. } => "a union",
            Self::Bitset(_) => "a bitset",
            Self::Sequence { .. } => "a sequence",
            Self::Array { .. } => "an array",
            Self::Comparable(_) | Self::Enum(_) => "a value of another kind",
            Self::Other(name) => name,
        }
    }
}

impl FieldType for &'static TypeDescription {
    fn type_name(&self) -> &str {
        self.name()
    }

    fn is_keyed(&self) -> bool {
        self.has_key()
    }

    fn parts(&self) -> TypeParts<'_, Self> {
        match self.kind() {
            TypeKind::Struct(description) => {
                let members = description.members().iter();
                let members = members.map(|member| (member.name(), member.is_key(), member.ty())).collect();
                TypeParts::Struct { members, has_key: description.has_key() }
            }
            TypeKind::Union(description) => TypeParts::Union {
                cases: description.cases().iter().map(|case| (case.name(), case.ty())).collect(),
                discriminator: description.discriminator(),
                has_key: description.has_key(),
            },
            TypeKind::Bitset(description) => {
                let mut fields = Vec::new();
                for field in description.fields() {
                    let (position, bit_count, is_signed) = (field.position(), field.bit_count(), field.is_signed());
                    fields.push((field.name(), FieldStep::Bits { position, bit_count, is_signed }));
                }
                TypeParts::Bitset(fields)
            }
            TypeKind::Sequence { bound, element } => TypeParts::Sequence { bound: *bound, element: element() },
            TypeKind::Array { length, element } => TypeParts::Array { length: *length, element: element() },
            TypeKind::Enum(description) => {
                let literals = description.literals().iter();
                TypeParts::Enum(literals.map(|literal| (literal.name(), literal.value().into())).collect())
            }
            TypeKind::Bool => TypeParts::Comparable(Kind::Bool),
            TypeKind::Float32 => TypeParts::Comparable(Kind::Float32),
            TypeKind::Float64 => TypeParts::Comparable(Kind::Float64),
            TypeKind::Char8 | TypeKind::Char16 => TypeParts::Comparable(Kind::Character),
            TypeKind::String { .. } | TypeKind::WString { .. } => TypeParts::Comparable(Kind::Text),
            TypeKind::Octet | TypeKind::Int8 | TypeKind::UInt8 | TypeKind::Int16 | TypeKind::UInt16 => {
                TypeParts::Comparable(Kind::Integer)
            }
            TypeKind::Int32 | TypeKind::UInt32 | TypeKind::Int64 | TypeKind::UInt64 | TypeKind::Bitmask(_) => {
                TypeParts::Comparable(Kind::Integer)
            }
            TypeKind::Map { .. } => TypeParts::Other("a map"),
            TypeKind::Float128 => TypeParts::Other("a number of 128 bits"),
            _ => TypeParts::Other("a value of another kind"),
        }
    }
}

/// The enums of an expression. A [`Kind`] refers to one of them by its index.
#[derive(Debug, Default)]
pub(super) struct EnumTable {
    enums: Vec<ComparedEnum>,
}

/// An enum whose literals an expression may name.
#[derive(Debug)]
pub(super) struct ComparedEnum {
    pub(super) name: String,
    pub(super) literals: Vec<(String, i64)>,
}

impl EnumTable {
    /// Returns the kind of an enum. Enums with one name are one enum.
    fn kind_of(&mut self, name: &str, literals: &[(&str, i64)]) -> Kind {
        if let Some(index) = self.enums.iter().position(|known| known.name == name) {
            return Kind::Enum(index);
        }
        let literals = literals.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        self.enums.push(ComparedEnum { name: name.to_owned(), literals });
        Kind::Enum(self.enums.len() - 1)
    }

    pub(super) fn get(&self, index: usize) -> Option<&ComparedEnum> {
        self.enums.get(index)
    }
}

/// The resolved part of a path from a value to one of its fields.
struct Lookup<T> {
    ty: T,
    path: Vec<FieldStep>,
    is_key: bool,
    /// Within an array of several dimensions, the index of the chosen part among all parts of its size.
    offset: u32,
    is_within_array: bool,
}

/// Resolves the field with the path `names` in a value of type `ty`.
pub(super) fn resolve<T: FieldType>(
    ty: &T,
    names: &[PathPart],
    enums: &mut EnumTable,
) -> Result<ResolvedField, ExpressionErrorKind> {
    let is_key = ty.is_keyed();
    let mut lookup = Lookup { ty: ty.clone(), path: Vec::new(), is_key, offset: 0, is_within_array: false };
    for (at, name) in names.iter().enumerate() {
        let before = names.get(..at).unwrap_or_default();
        match name {
            PathPart::Element(index) => lookup.element(*index, before)?,
            PathPart::Member(name) => lookup.member(name, before)?,
        }
    }
    let Lookup { ty, path, is_key, .. } = lookup;
    // The type of a bit field is its bitset, which as a whole cannot be compared.
    let is_bits = matches!(path.last(), Some(FieldStep::Bits { .. }));
    let kind = match ty.parts() {
        _ if is_bits => Kind::Integer,
        TypeParts::Comparable(kind) => kind,
        TypeParts::Enum(literals) => enums.kind_of(ty.type_name(), &literals),
        other => {
            return Err(ExpressionErrorKind::NotComparable { field: written(names), kind: other.kind_name() });
        }
    };
    Ok(ResolvedField { path, kind, is_key })
}

impl<T: FieldType> Lookup<T> {
    fn member(&mut self, name: &str, before: &[PathPart]) -> Result<(), ExpressionErrorKind> {
        // A clone is cheap, and the parts borrow from it.
        let ty = self.ty.clone();
        match ty.parts() {
            TypeParts::Struct { members, has_key } => {
                let Some((index, (_, is_key, part))) = (0..).zip(&members).find(|(_, (known, ..))| *known == name)
                else {
                    return Err(self.unknown(name, members.iter().map(|(name, ..)| *name)));
                };
                // All members of a key member belong to the key, unless its type marks key members of its own.
                self.is_key &= *is_key || !has_key;
                self.enter(FieldStep::Member(index), part.clone());
            }
            TypeParts::Union { cases, discriminator, has_key } => {
                let found = (0..).zip(&cases).find(|(_, (known, _))| *known == name);
                if let Some((index, (_, Some(part)))) = found {
                    // Only the discriminator of a union can be its key.
                    self.is_key &= !has_key;
                    self.enter(FieldStep::Member(index), part.clone());
                // After the cases: a member may be called `_d` as well.
                } else if name == DISCRIMINATOR {
                    self.enter(FieldStep::Discriminator, discriminator);
                } else {
                    let names = cases.iter().map(|(name, _)| *name).chain([DISCRIMINATOR]);
                    return Err(self.unknown(name, names));
                }
            }
            TypeParts::Bitset(fields) => {
                let Some((_, step)) = fields.iter().find(|(known, _)| *known == name) else {
                    return Err(self.unknown(name, fields.iter().map(|(name, _)| *name)));
                };
                self.enter(*step, ty.clone());
            }
            _ => {
                let of = if before.is_empty() { ty.type_name().to_owned() } else { written(before) };
                return Err(ExpressionErrorKind::UnknownField { field: name.to_owned(), of, similar: None });
            }
        }
        Ok(())
    }

    fn enter(&mut self, step: FieldStep, ty: T) {
        self.path.push(step);
        self.ty = ty;
        self.is_within_array = false;
        self.offset = 0;
    }

    fn element(&mut self, index: u32, before: &[PathPart]) -> Result<(), ExpressionErrorKind> {
        let beyond = |len: u32| ExpressionErrorKind::IndexBeyondEnd { index: index.into(), len: len.into() };
        let ty = self.ty.clone();
        match ty.parts() {
            // Such an element never exists, so the expression has a mistake.
            TypeParts::Sequence { bound: Some(bound), .. } if index >= bound => return Err(beyond(bound)),
            TypeParts::Sequence { element, .. } => self.enter(FieldStep::Element(index), element),
            TypeParts::Array { length, .. } if index >= length => return Err(beyond(length)),
            TypeParts::Array { length, element } => {
                // Arrays of arrays are encoded as one array, so the indices are combined into one.
                let offset = self.offset.saturating_mul(length).saturating_add(index);
                if self.is_within_array {
                    self.path.pop();
                }
                self.enter(FieldStep::Element(offset), element);
                self.offset = offset;
                self.is_within_array = true;
            }
            _ => return Err(ExpressionErrorKind::NotIndexed { field: written(before) }),
        }
        Ok(())
    }

    fn unknown<'n>(&self, name: &str, names: impl Iterator<Item = &'n str>) -> ExpressionErrorKind {
        ExpressionErrorKind::UnknownField {
            field: name.to_owned(),
            of: self.ty.type_name().to_owned(),
            similar: nearest(name, names).map(str::to_owned),
        }
    }
}

/// The path as text.
fn written(names: &[PathPart]) -> String {
    let mut written = String::new();
    for name in names {
        match name {
            PathPart::Member(name) if written.is_empty() => written.push_str(name),
            PathPart::Member(name) => written.extend([".", name]),
            PathPart::Element(index) => written.push_str(&format!("[{index}]")),
        }
    }
    written
}

/// The name of the discriminator of a union, unless a member has this name.
const DISCRIMINATOR: &str = "_d";
