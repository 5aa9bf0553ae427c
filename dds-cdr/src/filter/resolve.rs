//! The fields that an expression names, looked up in the description of the type.

use super::error::FilterErrorKind;
use super::syntax::Name;
use crate::cdr::{EnumDescription, FieldStep, MemberDescription, TypeDescription, TypeKind, UnionCase};
use crate::similar::nearest;

/// A field that can be compared.
pub(super) struct Field {
    pub(super) path: Vec<FieldStep>,
    pub(super) kind: Kind,
    /// Whether it belongs to the key as a whole.
    pub(super) is_key: bool,
}

/// What a field can be compared with.
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
            Self::Text => "a text",
            Self::Enum(..) => "an enumerator",
        }
    }

    /// Whether values of both can be told apart and put in order.
    pub(super) fn is_comparable_with(self, other: Self) -> bool {
        let is_number = |kind: Self| matches!(kind, Self::Integer | Self::Float32 | Self::Float64);
        match (self, other) {
            (Self::Bool, Self::Bool) | (Self::Character, Self::Character) | (Self::Text, Self::Text) => true,
            // Numbers of different enums mean different things, though they may be equal.
            (Self::Enum(one, _), Self::Enum(other, _)) => one == other,
            (Self::Enum(..), Self::Integer) | (Self::Integer, Self::Enum(..)) => true,
            (one, other) => is_number(one) && is_number(other),
        }
    }
}

/// The way from a value to one of its fields, as far as it was gone.
struct Way {
    ty: &'static TypeDescription,
    path: Vec<FieldStep>,
    is_key: bool,
    /// Of an array: the elements before the part that the indexes so far have chosen, and how many dimensions are left.
    offset: u32,
    is_within_array: bool,
}

/// What `names` name in a value of type `ty`.
pub(super) fn resolve(ty: &'static TypeDescription, names: &[Name]) -> Result<Field, FilterErrorKind> {
    let mut way = Way { ty, path: Vec::new(), is_key: ty.has_key(), offset: 0, is_within_array: false };
    for (at, name) in names.iter().enumerate() {
        let written = || written(names.get(..at).unwrap_or_default());
        match name {
            Name::Element(index) => way.element(*index, &written)?,
            Name::Member(name) => way.member(name, &written)?,
        }
    }
    let kind = comparable(way.ty).filter(|_| !way.is_within_array || !is_array(way.ty));
    match kind.or_else(|| way.is_bits().then_some(Kind::Integer)) {
        Some(kind) => Ok(Field { path: way.path, kind, is_key: way.is_key }),
        None => Err(FilterErrorKind::NotComparable { field: written(names), kind: what(way.ty) }),
    }
}

impl Way {
    fn member(&mut self, name: &str, before: &dyn Fn() -> String) -> Result<(), FilterErrorKind> {
        match self.ty.kind() {
            TypeKind::Struct(description) => {
                let members = description.members();
                let found = members.iter().position(|member| member.name() == name);
                let Some((index, member)) = found.and_then(|at| Some((at, members.get(at)?))) else {
                    return Err(self.unknown(name, members.iter().map(MemberDescription::name)));
                };
                // Whatever is in a key belongs to it, unless it marks members of its own.
                self.is_key &= member.is_key() || !description.has_key();
                self.enter(FieldStep::Member(index as u32), member.ty());
            }
            TypeKind::Union(description) => {
                let cases = description.cases();
                let found = cases.iter().position(|case| case.name() == name);
                let found = found.and_then(|at| Some((at, cases.get(at)?.ty()?)));
                if let Some((index, ty)) = found {
                    self.is_key &= !description.has_key();
                    self.enter(FieldStep::Member(index as u32), ty);
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
                let of = if before().is_empty() { self.ty.name().to_owned() } else { before() };
                return Err(FilterErrorKind::UnknownField { field: name.to_owned(), of, similar: None });
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

    fn element(&mut self, index: u32, before: &dyn Fn() -> String) -> Result<(), FilterErrorKind> {
        let beyond = |len: u32| FilterErrorKind::IndexBeyondEnd { index: index.into(), len: len.into() };
        match self.ty.kind() {
            TypeKind::Sequence { bound, element } => {
                match bound {
                    Some(bound) if index >= *bound => return Err(beyond(*bound)),
                    _ => {}
                }
                self.enter(FieldStep::Element(index), element());
            }
            TypeKind::Array { length, element } => {
                if index >= *length {
                    return Err(beyond(*length));
                }
                // An array of arrays is one array of several dimensions: the elements of all of them are counted.
                let offset = self.offset.saturating_mul(*length).saturating_add(index);
                if self.is_within_array {
                    self.path.pop();
                }
                self.enter(FieldStep::Element(offset), element());
                self.offset = offset;
                self.is_within_array = true;
            }
            _ => return Err(FilterErrorKind::NotIndexed { field: before() }),
        }
        Ok(())
    }

    fn unknown(&self, name: &str, names: impl Iterator<Item = &'static str>) -> FilterErrorKind {
        FilterErrorKind::UnknownField {
            field: name.to_owned(),
            of: self.ty.name().to_owned(),
            similar: nearest(name, names).map(str::to_owned),
        }
    }

    fn is_bits(&self) -> bool {
        matches!(self.path.last(), Some(FieldStep::Bits { .. }))
    }
}

fn is_array(ty: &TypeDescription) -> bool {
    matches!(ty.kind(), TypeKind::Array { .. })
}

/// What a value of this type can be compared with, if with anything.
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

fn what(ty: &TypeDescription) -> &'static str {
    match ty.kind() {
        TypeKind::Struct(_) => "a struct",
        TypeKind::Union(_) => "a union",
        TypeKind::Sequence { .. } => "a sequence",
        TypeKind::Array { .. } => "an array",
        TypeKind::Map { .. } => "a map",
        TypeKind::Bitset(_) => "a bitset",
        TypeKind::Float128 => "a number of 128 bits",
        _ => "something",
    }
}

fn written(names: &[Name]) -> String {
    let mut written = String::new();
    for name in names {
        match name {
            Name::Member(name) if written.is_empty() => written.push_str(name),
            Name::Member(name) => written.extend([".", name]),
            Name::Element(index) => written.push_str(&format!("[{index}]")),
        }
    }
    written
}

/// How the discriminator of a union is called, unless a member is called so.
const DISCRIMINATOR: &str = "_d";
