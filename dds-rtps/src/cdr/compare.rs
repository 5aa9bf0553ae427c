//! Whether two descriptions mean the same bytes.

use super::{StructDescription, TypeDescription, TypeKind};
use std::ptr;

/// The pairs of structs that have been compared, or still are.
type Seen<'a> = Vec<(&'a StructDescription, &'a StructDescription)>;

/// A pair that comes up again, be it within itself, is taken to be equal: what differs in it was or will be found where it
/// came up first, and one difference decides everything.
pub(super) fn is_encoded_like<'a>(one: &'a TypeDescription, other: &'a TypeDescription, seen: &mut Seen<'a>) -> bool {
    match (one.kind(), other.kind()) {
        (TypeKind::String { bound: a }, TypeKind::String { bound: b }) => a == b,
        (TypeKind::Sequence { bound: a, element: one }, TypeKind::Sequence { bound: b, element: other }) => {
            a == b && is_encoded_like(one(), other(), seen)
        }
        (TypeKind::Array { length: a, element: one }, TypeKind::Array { length: b, element: other }) => {
            a == b && is_encoded_like(one(), other(), seen)
        }
        (TypeKind::Enum(one), TypeKind::Enum(other)) => {
            one.size() == other.size() && one.literals() == other.literals()
        }
        (TypeKind::Struct(one), TypeKind::Struct(other)) => are_structs_alike(one, other, seen),
        (one_kind, other_kind) => {
            one.primitive_size().is_some() && std::mem::discriminant(one_kind) == std::mem::discriminant(other_kind)
        }
    }
}

fn are_structs_alike<'a>(one: &'a StructDescription, other: &'a StructDescription, seen: &mut Seen<'a>) -> bool {
    let is_pair = |(a, b): &(&StructDescription, &StructDescription)| ptr::eq(*a, one) && ptr::eq(*b, other);
    if seen.iter().any(is_pair) {
        return true;
    }
    seen.push((one, other));
    one.extensibility() == other.extensibility()
        && one.members().len() == other.members().len()
        && one
            .members()
            .iter()
            .zip(other.members())
            .all(|(a, b)| a.agrees_with(b) && is_encoded_like(a.ty(), b.ty(), seen))
}
