//! View of a type for walks along encoded samples.
//!
//! Each walk is written once and compiled for both sources of types: constant descriptions of the derive
//! ([`TypeDescription`]), and types that are built at run time.

use super::{
    EnumLiteralDescription, Extensibility, MemberDescription, StructDescription, TypeDescription, TypeInfo, TypeKind,
    UnionCase, UnionDescription,
};

/// A type. Cheap to copy: a reference, or an index into a graph.
pub(crate) trait Shape: Copy {
    /// A struct, with its members.
    type Struct: StructShape<Type = Self>;
    /// A union, with its cases.
    type Union: UnionShape<Type = Self>;

    /// Returns the structure of the type.
    fn structure(self) -> Structure<Self>;
    /// Returns the size in bytes, if the type is primitive.
    fn primitive_size(self) -> Option<usize>;
    /// Returns the size in bytes, if a value is one number: a primitive, an enum, a bitmask or a bitset.
    fn number_size(self) -> Option<usize>;
    /// Returns the kind of a type with a [`number_size`](Self::number_size).
    fn number_kind(self) -> NumberKind;
    /// Returns the number of elements in all dimensions of an array, and their type.
    fn dimensions(self) -> (usize, Self);
}

/// How the bits of a number are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NumberKind {
    /// A bool.
    Bool,
    /// A signed integer.
    Signed,
    /// An unsigned integer, a character, a bitmask or a bitset.
    Unsigned,
    /// A floating-point number of 32 bits.
    Float32,
    /// A floating-point number of 64 bits.
    Float64,
    /// A floating-point number of 128 bits.
    Float128,
    /// An enum.
    Enum {
        /// Its default, as in decoding.
        initial: i32,
    },
}

/// Structure of a type.
pub(crate) enum Structure<S: Shape> {
    /// One number.
    Number,
    /// A string, with its bound.
    String(Option<u32>),
    /// A wide string, with its bound.
    WString(Option<u32>),
    /// A sequence, with its bound and its element type.
    Sequence(Option<u32>, S),
    /// An array; [`Shape::dimensions`] returns its elements.
    Array,
    /// A map, with the types of keys and values.
    Map(S, S),
    /// A struct.
    Struct(S::Struct),
    /// A union.
    Union(S::Union),
}

/// A struct.
pub(crate) trait StructShape: Copy {
    /// The representation of types.
    type Type: Shape;
    /// The representation of members.
    type Member: MemberShape<Type = Self::Type>;

    /// Returns the extensibility.
    fn extensibility(self) -> Extensibility;
    /// Returns whether any member is marked as part of the key.
    fn has_key(self) -> bool;
    /// Returns whether the member ids ascend in the order of definition.
    fn ids_ascend(self) -> bool;
    /// Returns the members in the order of definition, those of a base first.
    fn members(self) -> impl DoubleEndedIterator<Item = Self::Member> + ExactSizeIterator + Clone;
}

/// A member of a struct.
pub(crate) trait MemberShape: Copy {
    /// The representation of types.
    type Type: Shape;

    /// Returns the member id.
    fn id(self) -> u32;
    /// Returns whether the member is marked as part of the key.
    fn is_key(self) -> bool;
    /// Returns whether the member may be absent.
    fn is_optional(self) -> bool;
    /// Returns the type of the member.
    fn ty(self) -> Self::Type;
}

/// A union.
pub(crate) trait UnionShape: Copy {
    /// The representation of types.
    type Type: Shape;

    /// Returns the extensibility.
    fn extensibility(self) -> Extensibility;
    /// Returns whether the discriminator is the key.
    fn has_key(self) -> bool;
    /// Returns the type of the discriminator.
    fn discriminator(self) -> Self::Type;
    /// Returns the case that a discriminator of `size` bytes selects.
    fn selected_by(self, bits: u64, size: usize) -> Option<Selected<Self::Type>>;
    /// Returns the index of the case with this member id.
    fn index_of(self, id: u32) -> Option<usize>;
    /// Returns the types of the members.
    fn member_types(self) -> impl Iterator<Item = Self::Type>;
}

/// The case that a discriminator selects.
#[derive(Clone, Copy)]
pub(crate) struct Selected<S> {
    /// The id of the member.
    pub(crate) id: u32,
    /// The type of the member; `None` for a case without a member.
    pub(crate) ty: Option<S>,
}

impl<'t> Shape for &'t TypeDescription {
    type Struct = &'t StructDescription;
    type Union = &'t UnionDescription;

    #[inline]
    fn structure(self) -> Structure<Self> {
        match self.kind() {
            TypeKind::String { bound } => Structure::String(*bound),
            TypeKind::WString { bound } => Structure::WString(*bound),
            // On the wire it is a sequence of numbers, without the rules of a wide string.
            TypeKind::RosWString { bound } => Structure::Sequence(*bound, u32::DESCRIPTION),
            TypeKind::Sequence { bound, element } => Structure::Sequence(*bound, element()),
            TypeKind::Array { .. } => Structure::Array,
            TypeKind::Map { key, element, .. } => Structure::Map(key(), element()),
            TypeKind::Struct(description) => Structure::Struct(description),
            TypeKind::Union(description) => Structure::Union(description),
            // Primitives, enums, bitmasks and bitsets: one number each.
            _ => Structure::Number,
        }
    }

    #[inline]
    fn primitive_size(self) -> Option<usize> {
        TypeDescription::primitive_size(self)
    }

    #[inline]
    fn number_size(self) -> Option<usize> {
        TypeDescription::number_size(self)
    }

    #[inline]
    fn number_kind(self) -> NumberKind {
        match self.kind() {
            TypeKind::Bool => NumberKind::Bool,
            TypeKind::Float32 => NumberKind::Float32,
            TypeKind::Float64 => NumberKind::Float64,
            TypeKind::Float128 => NumberKind::Float128,
            TypeKind::Int8 | TypeKind::Int16 | TypeKind::Int32 | TypeKind::Int64 => NumberKind::Signed,
            TypeKind::Enum(description) => {
                NumberKind::Enum { initial: description.default_literal().map_or(0, EnumLiteralDescription::value) }
            }
            // Octets, chars, bitmasks and bitsets: their bits have no common sign.
            _ => NumberKind::Unsigned,
        }
    }

    #[inline]
    fn dimensions(self) -> (usize, Self) {
        TypeDescription::dimensions(self)
    }
}

impl<'t> StructShape for &'t StructDescription {
    type Type = &'t TypeDescription;
    type Member = &'t MemberDescription;

    #[inline]
    fn extensibility(self) -> Extensibility {
        StructDescription::extensibility(self)
    }

    #[inline]
    fn has_key(self) -> bool {
        StructDescription::has_key(self)
    }

    #[inline]
    fn ids_ascend(self) -> bool {
        StructDescription::ids_ascend(self)
    }

    #[inline]
    fn members(self) -> impl DoubleEndedIterator<Item = Self::Member> + ExactSizeIterator + Clone {
        StructDescription::members(self).iter()
    }
}

impl<'t> MemberShape for &'t MemberDescription {
    type Type = &'t TypeDescription;

    #[inline]
    fn id(self) -> u32 {
        MemberDescription::id(self)
    }

    #[inline]
    fn is_key(self) -> bool {
        MemberDescription::is_key(self)
    }

    #[inline]
    fn is_optional(self) -> bool {
        MemberDescription::is_optional(self)
    }

    #[inline]
    fn ty(self) -> &'t TypeDescription {
        MemberDescription::ty(self)
    }
}

impl<'t> UnionShape for &'t UnionDescription {
    type Type = &'t TypeDescription;

    #[inline]
    fn extensibility(self) -> Extensibility {
        UnionDescription::extensibility(self)
    }

    #[inline]
    fn has_key(self) -> bool {
        UnionDescription::has_key(self)
    }

    #[inline]
    fn discriminator(self) -> &'t TypeDescription {
        UnionDescription::discriminator(self)
    }

    #[inline]
    fn selected_by(self, bits: u64, size: usize) -> Option<Selected<&'t TypeDescription>> {
        let case = UnionDescription::selected_by(self, bits, size)?;
        Some(Selected { id: case.id(), ty: case.ty().map(|ty| ty as &TypeDescription) })
    }

    fn index_of(self, id: u32) -> Option<usize> {
        self.cases().iter().position(|case| case.id() == id)
    }

    fn member_types(self) -> impl Iterator<Item = &'t TypeDescription> {
        self.cases().iter().filter_map(UnionCase::ty).map(|ty| ty as &TypeDescription)
    }
}
