//! What the walks through encoded samples have to know of a type, whoever knows it: constant data made by the derive
//! ([`TypeDescription`]), or a type that is made at run time. Each walk is written once and compiled for both.

use super::{
    Extensibility, MemberDescription, StructDescription, TypeDescription, TypeKind, UnionCase, UnionDescription,
};

/// A type. Cheap to copy: a reference, or a place in a graph.
pub(super) trait Shape: Copy {
    /// A struct, with its members.
    type Struct: StructShape<Type = Self>;
    /// A union, with its cases.
    type Union: UnionShape<Type = Self>;

    /// What the walk has to do.
    fn form(self) -> Form<Self>;
    /// Bytes of a value, if it is a primitive.
    fn primitive_size(self) -> Option<usize>;
    /// Bytes of a value, if it travels as one number: a primitive, an enum, a bitmask or a bitset.
    fn number_size(self) -> Option<usize>;
    /// Of an array, the number of elements in all dimensions, and what they are.
    fn dimensions(self) -> (usize, Self);
}

/// What a type is made of.
pub(super) enum Form<S: Shape> {
    /// One number.
    Number,
    /// A string, with its bound.
    String(Option<u32>),
    /// A wide string, with its bound.
    WString(Option<u32>),
    /// A sequence, with its bound and what its elements are.
    Sequence(Option<u32>, S),
    /// An array; [`Shape::dimensions`] says of what.
    Array,
    /// A map, of keys and values.
    Map(S, S),
    /// A struct.
    Struct(S::Struct),
    /// A union.
    Union(S::Union),
}

/// A struct.
pub(super) trait StructShape: Copy {
    /// What types are.
    type Type: Shape;
    /// What members are.
    type Member: MemberShape<Type = Self::Type>;

    /// How it may grow.
    fn extensibility(self) -> Extensibility;
    /// Whether any member is marked as part of the key.
    fn has_key(self) -> bool;
    /// Whether the ids of the members grow in the order of definition.
    fn ids_ascend(self) -> bool;
    /// The members in the order of definition, those of a base first.
    fn members(self) -> impl DoubleEndedIterator<Item = Self::Member> + ExactSizeIterator + Clone;
}

/// A member of a struct.
pub(super) trait MemberShape: Copy {
    /// What types are.
    type Type: Shape;

    /// The id.
    fn id(self) -> u32;
    /// Whether it is marked as part of the key.
    fn is_key(self) -> bool;
    /// Whether it may be absent.
    fn is_optional(self) -> bool;
    /// The type.
    fn ty(self) -> Self::Type;
}

/// A union.
pub(super) trait UnionShape: Copy {
    /// What types are.
    type Type: Shape;

    /// How it may grow.
    fn extensibility(self) -> Extensibility;
    /// Whether the discriminator is the key.
    fn has_key(self) -> bool;
    /// The type of the discriminator.
    fn discriminator(self) -> Self::Type;
    /// The case that a discriminator of `size` bytes selects: its member's id and type.
    fn selected_by(self, bits: u64, size: usize) -> Option<Selected<Self::Type>>;
    /// The types of the members.
    fn member_types(self) -> impl Iterator<Item = Self::Type>;
}

/// A case of a union.
#[derive(Clone, Copy)]
pub(super) struct Selected<S> {
    /// The id of the member.
    pub(super) id: u32,
    /// Its type, if there is a member.
    pub(super) ty: Option<S>,
}

impl<'t> Shape for &'t TypeDescription {
    type Struct = &'t StructDescription;
    type Union = &'t UnionDescription;

    #[inline]
    fn form(self) -> Form<Self> {
        match self.kind() {
            TypeKind::String { bound } => Form::String(*bound),
            TypeKind::WString { bound } => Form::WString(*bound),
            TypeKind::Sequence { bound, element } => Form::Sequence(*bound, element()),
            TypeKind::Array { .. } => Form::Array,
            TypeKind::Map { key, element, .. } => Form::Map(key(), element()),
            TypeKind::Struct(description) => Form::Struct(description),
            TypeKind::Union(description) => Form::Union(description),
            _ => Form::Number,
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

    fn member_types(self) -> impl Iterator<Item = &'t TypeDescription> {
        self.cases().iter().filter_map(UnionCase::ty).map(|ty| ty as &TypeDescription)
    }
}
