//! The minimal description of a completely described type (XTYPES 1.3, 7.3.4.1): without names and annotations.

use super::form::{Complete, Minimal, NameHash, Nothing};
use super::object::{
    AliasType, ArrayType, Bitfield, Bitflag, BitmaskType, BitsetType, CollectionElement, EnumLiteral, EnumType,
    MapType, SequenceType, StructMember, StructType, TypeDefinition, UnionMember, UnionType,
};

impl TypeDefinition<Complete> {
    /// Returns the minimal description. Identifiers of other types stay those of complete descriptions.
    #[must_use]
    pub(super) fn minimal(&self) -> TypeDefinition<Minimal> {
        match self {
            Self::Alias(ty) => TypeDefinition::Alias(AliasType {
                flags: ty.flags,
                detail: Nothing,
                related_flags: ty.related_flags,
                // The graph replaces the hash when the minimal one of the target is known.
                related_type: ty.related_type.clone(),
                related_detail: Nothing,
            }),
            Self::Enum(ty) => TypeDefinition::Enum(of_enum(ty)),
            Self::Bitmask(ty) => TypeDefinition::Bitmask(of_bitmask(ty)),
            Self::Struct(ty) => TypeDefinition::Struct(of_struct(ty)),
            Self::Union(ty) => TypeDefinition::Union(of_union(ty)),
            Self::Bitset(ty) => TypeDefinition::Bitset(of_bitset(ty)),
            Self::Sequence(ty) => TypeDefinition::Sequence(Box::new(SequenceType {
                flags: ty.flags,
                bound: ty.bound,
                detail: Nothing,
                element: of_element(&ty.element),
            })),
            Self::Array(ty) => TypeDefinition::Array(Box::new(ArrayType {
                flags: ty.flags,
                bounds: ty.bounds.clone(),
                detail: Nothing,
                element: of_element(&ty.element),
            })),
            Self::Map(ty) => TypeDefinition::Map(Box::new(MapType {
                flags: ty.flags,
                bound: ty.bound,
                detail: Nothing,
                key: of_element(&ty.key),
                element: of_element(&ty.element),
            })),
        }
    }
}

fn of_element(element: &CollectionElement<Complete>) -> CollectionElement<Minimal> {
    // Flags stay: they tell readers how to handle values that do not fit.
    CollectionElement { flags: element.flags, ty: element.ty.clone(), detail: Nothing }
}

fn of_struct(ty: &StructType<Complete>) -> StructType<Minimal> {
    // The order stays, because the hash covers it.
    let mut members = Vec::with_capacity(ty.members.len());
    for member in &ty.members {
        members.push(StructMember {
            id: member.id,
            flags: member.flags,
            ty: member.ty.clone(),
            detail: NameHash::of(&member.detail.name),
        });
    }
    StructType { flags: ty.flags, base: ty.base.clone(), detail: Nothing, members }
}

fn of_union(ty: &UnionType<Complete>) -> UnionType<Minimal> {
    let mut members = Vec::with_capacity(ty.members.len());
    for member in &ty.members {
        members.push(UnionMember {
            id: member.id,
            flags: member.flags,
            ty: member.ty.clone(),
            labels: member.labels.clone(),
            detail: NameHash::of(&member.detail.name),
        });
    }
    UnionType {
        flags: ty.flags,
        detail: Nothing,
        discriminator_flags: ty.discriminator_flags,
        discriminator: ty.discriminator.clone(),
        discriminator_detail: Nothing,
        members,
    }
}

fn of_enum(ty: &EnumType<Complete>) -> EnumType<Minimal> {
    let mut literals = Vec::with_capacity(ty.literals.len());
    for literal in &ty.literals {
        // Assignability compares names of literals, so their hashes stay.
        literals.push(EnumLiteral { common: literal.common, detail: NameHash::of(&literal.detail.name) });
    }
    EnumType { flags: ty.flags, bit_bound: ty.bit_bound, detail: Nothing, literals }
}

fn of_bitmask(ty: &BitmaskType<Complete>) -> BitmaskType<Minimal> {
    let mut bitflags = Vec::with_capacity(ty.bitflags.len());
    for flag in &ty.bitflags {
        let detail = NameHash::of(&flag.detail.name);
        bitflags.push(Bitflag { position: flag.position, flags: flag.flags, detail });
    }
    BitmaskType { flags: ty.flags, bit_bound: ty.bit_bound, detail: Nothing, bitflags }
}

fn of_bitset(ty: &BitsetType<Complete>) -> BitsetType<Minimal> {
    let mut fields = Vec::with_capacity(ty.fields.len());
    for field in &ty.fields {
        fields.push(Bitfield {
            position: field.position,
            flags: field.flags,
            bit_count: field.bit_count,
            holder: field.holder,
            detail: NameHash::of(&field.detail.name),
        });
    }
    BitsetType { flags: ty.flags, detail: Nothing, fields }
}
