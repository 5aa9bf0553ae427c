//! Compares descriptions: whether two types have the same encoding.

use super::{BitfieldDescription, StructDescription, TypeDescription, TypeKind, UnionDescription};
use std::ptr;

/// Pairs of structs and unions whose comparison is done or in progress.
#[derive(Default)]
pub(super) struct Seen<'a> {
    structs: Vec<(&'a StructDescription, &'a StructDescription)>,
    unions: Vec<(&'a UnionDescription, &'a UnionDescription)>,
}

/// Returns whether both types have the same encoding.
///
/// A pair that occurs again, even inside of itself, counts as equal. Its first comparison finds any difference, and one
/// difference decides the result.
pub(super) fn is_encoded_like<'a>(one: &'a TypeDescription, other: &'a TypeDescription, seen: &mut Seen<'a>) -> bool {
    match (one.kind(), other.kind()) {
        (TypeKind::String { bound: a }, TypeKind::String { bound: b })
        | (TypeKind::WString { bound: a }, TypeKind::WString { bound: b })
        | (TypeKind::RosWString { bound: a }, TypeKind::RosWString { bound: b }) => a == b,
        (TypeKind::Sequence { bound: a, element: one }, TypeKind::Sequence { bound: b, element: other }) => {
            a == b && is_encoded_like(one(), other(), seen)
        }
        (TypeKind::Array { length: a, element: one }, TypeKind::Array { length: b, element: other }) => {
            a == b && is_encoded_like(one(), other(), seen)
        }
        (
            TypeKind::Map { bound: a, key: one_key, element: one },
            TypeKind::Map { bound: b, key: other_key, element: other },
        ) => a == b && is_encoded_like(one_key(), other_key(), seen) && is_encoded_like(one(), other(), seen),
        (TypeKind::Enum(one), TypeKind::Enum(other)) => {
            // The bound itself may differ as long as the size on the wire is the same.
            one.size() == other.size() && one.literals() == other.literals()
        }
        (TypeKind::Bitmask(one), TypeKind::Bitmask(other)) => {
            one.bit_bound() == other.bit_bound() && one.flags() == other.flags()
        }
        (TypeKind::Bitset(one), TypeKind::Bitset(other)) => {
            // The integer type of a field does not matter, because the bits are the same.
            let meaning =
                |field: &BitfieldDescription| (field.name(), field.position(), field.bit_count(), field.is_signed());
            one.fields().iter().map(meaning).eq(other.fields().iter().map(meaning))
        }
        (TypeKind::Union(one), TypeKind::Union(other)) => are_unions_alike(one, other, seen),
        (TypeKind::Struct(one), TypeKind::Struct(other)) => are_structs_alike(one, other, seen),
        (one_kind, other_kind) => {
            // `octet` and `uint8` are different kinds with the same bytes, and stay different.
            one.primitive_size().is_some() && std::mem::discriminant(one_kind) == std::mem::discriminant(other_kind)
        }
    }
}

fn are_structs_alike<'a>(one: &'a StructDescription, other: &'a StructDescription, seen: &mut Seen<'a>) -> bool {
    if seen.structs.iter().any(|(a, b)| ptr::eq(*a, one) && ptr::eq(*b, other)) {
        return true;
    }
    // The pair is noted before its members are compared, so recursive types end here.
    seen.structs.push((one, other));
    if one.extensibility() != other.extensibility() || one.members().len() != other.members().len() {
        return false;
    }
    for (a, b) in one.members().iter().zip(other.members()) {
        if !a.agrees_with(b) || !is_encoded_like(a.ty(), b.ty(), seen) {
            return false;
        }
    }
    true
}

fn are_unions_alike<'a>(one: &'a UnionDescription, other: &'a UnionDescription, seen: &mut Seen<'a>) -> bool {
    if seen.unions.iter().any(|(a, b)| ptr::eq(*a, one) && ptr::eq(*b, other)) {
        return true;
    }
    // As for structs: noted before the members.
    seen.unions.push((one, other));
    if !one.agrees_with(other) || !is_encoded_like(one.discriminator(), other.discriminator(), seen) {
        return false;
    }
    for (a, b) in one.cases().iter().zip(other.cases()) {
        let is_alike = match (a.ty(), b.ty()) {
            (Some(one), Some(other)) => is_encoded_like(one, other, seen),
            (one, other) => one.is_none() && other.is_none(),
        };
        if !is_alike {
            return false;
        }
    }
    true
}
