//! Resolves the fields of an expression in the description of the type.

use super::error::ExpressionErrorKind;
use super::syntax::PathPart;
use crate::cdr::{EnumDescription, FieldStep, MemberDescription, TypeDescription, TypeKind, UnionCase};
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
    Enum(&'static str, EnumDescription),
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
            (Self::Enum(one, _), Self::Enum(other, _)) => one == other,
            (Self::Enum(..), Self::Integer) | (Self::Integer, Self::Enum(..)) => true,
            (one, other) => one.is_number() && other.is_number(),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float32 | Self::Float64)
    }
}

/// The resolved part of a path from a value to one of its fields.
struct Lookup {
    ty: &'static TypeDescription,
    path: Vec<FieldStep>,
    is_key: bool,
    /// Within an array of several dimensions, the index of the chosen part among all parts of its size.
    offset: u32,
    is_within_array: bool,
}

/// Resolves the field with the path `names` in a value of type `ty`.
pub(super) fn resolve(ty: &'static TypeDescription, names: &[PathPart]) -> Result<ResolvedField, ExpressionErrorKind> {
    let mut lookup = Lookup { ty, path: Vec::new(), is_key: ty.has_key(), offset: 0, is_within_array: false };
    for (at, name) in names.iter().enumerate() {
        let before = names.get(..at).unwrap_or_default();
        match name {
            PathPart::Element(index) => lookup.element(*index, before)?,
            PathPart::Member(name) => lookup.member(name, before)?,
        }
    }
    // The type of a bit field is its bitset, which as a whole cannot be compared.
    let kind = if lookup.is_bits() { Some(Kind::Integer) } else { comparable(lookup.ty) };
    let Some(kind) = kind else {
        return Err(ExpressionErrorKind::NotComparable { field: written(names), kind: kind_name(lookup.ty) });
    };
    Ok(ResolvedField { path: lookup.path, kind, is_key: lookup.is_key })
}

impl Lookup {
    fn member(&mut self, name: &str, before: &[PathPart]) -> Result<(), ExpressionErrorKind> {
        match self.ty.kind() {
            TypeKind::Struct(description) => {
                let members = description.members();
                let Some((index, member)) = (0..).zip(members).find(|(_, member)| member.name() == name) else {
                    return Err(self.unknown(name, members.iter().map(MemberDescription::name)));
                };
                // All members of a key member belong to the key, unless its type marks key members of its own.
                self.is_key &= member.is_key() || !description.has_key();
                self.enter(FieldStep::Member(index), member.ty());
            }
            TypeKind::Union(description) => {
                let cases = description.cases();
                let mut found = None;
                for (index, case) in cases.iter().enumerate() {
                    if case.name() == name {
                        found = case.ty().map(|ty| (index, ty));
                        break;
                    }
                }
                if let Some((index, ty)) = found {
                    // Only the discriminator of a union can be its key.
                    self.is_key &= !description.has_key();
                    self.enter(FieldStep::Member(index as u32), ty);
                // After the cases: a member may be called `_d` as well.
                } else if name == DISCRIMINATOR {
                    self.enter(FieldStep::Discriminator, description.discriminator());
                } else {
                    let names = cases.iter().map(UnionCase::name).chain([DISCRIMINATOR]);
                    return Err(self.unknown(name, names));
                }
            }
            TypeKind::Bitset(description) => {
                let field = description.fields().iter().find(|field| field.name() == name);
                let Some(field) = field else {
                    return Err(self.unknown(name, description.fields().iter().map(|field| field.name())));
                };
                let (position, bit_count, is_signed) = (field.position(), field.bit_count(), field.is_signed());
                let step = FieldStep::Bits { position, bit_count, is_signed };
                self.enter(step, self.ty);
            }
            _ => {
                let of = if before.is_empty() { self.ty.name().to_owned() } else { written(before) };
                return Err(ExpressionErrorKind::UnknownField { field: name.to_owned(), of, similar: None });
            }
        }
        Ok(())
    }

    fn enter(&mut self, step: FieldStep, ty: &'static TypeDescription) {
        self.path.push(step);
        self.ty = ty;
        self.is_within_array = false;
        self.offset = 0;
    }

    fn element(&mut self, index: u32, before: &[PathPart]) -> Result<(), ExpressionErrorKind> {
        let beyond = |len: u32| ExpressionErrorKind::IndexBeyondEnd { index: index.into(), len: len.into() };
        match self.ty.kind() {
            TypeKind::Sequence { bound, element } => {
                if let Some(bound) = bound {
                    // Such an element never exists, so the expression has a mistake.
                    if index >= *bound {
                        return Err(beyond(*bound));
                    }
                }
                self.enter(FieldStep::Element(index), element());
            }
            TypeKind::Array { length, element } => {
                if index >= *length {
                    return Err(beyond(*length));
                }
                // Arrays of arrays are encoded as one array, so the indices are combined into one.
                let offset = self.offset.saturating_mul(*length).saturating_add(index);
                if self.is_within_array {
                    self.path.pop();
                }
                self.enter(FieldStep::Element(offset), element());
                self.offset = offset;
                self.is_within_array = true;
            }
            _ => return Err(ExpressionErrorKind::NotIndexed { field: written(before) }),
        }
        Ok(())
    }

    fn unknown(&self, name: &str, names: impl Iterator<Item = &'static str>) -> ExpressionErrorKind {
        ExpressionErrorKind::UnknownField {
            field: name.to_owned(),
            of: self.ty.name().to_owned(),
            similar: nearest(name, names).map(str::to_owned),
        }
    }

    fn is_bits(&self) -> bool {
        matches!(self.path.last(), Some(FieldStep::Bits { .. }))
    }
}

/// The kind of a comparable type.
fn comparable(ty: &TypeDescription) -> Option<Kind> {
    Some(match ty.kind() {
        TypeKind::Bool => Kind::Bool,
        TypeKind::Float32 => Kind::Float32,
        TypeKind::Float64 => Kind::Float64,
        TypeKind::Char8 | TypeKind::Char16 => Kind::Character,
        TypeKind::String { .. } | TypeKind::WString { .. } => Kind::Text,
        TypeKind::Enum(description) => Kind::Enum(ty.name(), *description),
        TypeKind::Octet | TypeKind::Int8 | TypeKind::UInt8 | TypeKind::Int16 | TypeKind::UInt16 => Kind::Integer,
        TypeKind::Int32 | TypeKind::UInt32 | TypeKind::Int64 | TypeKind::UInt64 => Kind::Integer,
        TypeKind::Bitmask(_) => Kind::Integer,
        _ => return None,
    })
}

fn kind_name(ty: &TypeDescription) -> &'static str {
    match ty.kind() {
        TypeKind::Struct(_) => "a struct",
        TypeKind::Union(_) => "a union",
        TypeKind::Sequence { .. } => "a sequence",
        TypeKind::Array { .. } => "an array",
        TypeKind::Map { .. } => "a map",
        TypeKind::Bitset(_) => "a bitset",
        TypeKind::Float128 => "a number of 128 bits",
        _ => "a value of another kind",
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
