//! Whether two values are the same: what was written down and what is only a default are, if they say the same.

use super::DynamicRef;
use super::graph::Kind;

/// Compares two values of types of the same shape; of others, they differ.
pub(super) fn are_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    match (one.view().kind(), other.view().kind()) {
        (Kind::Primitive(a), Kind::Primitive(b)) => a == b && are_numbers_equal(one, other),
        (Kind::Enum(_), Kind::Enum(_)) | (Kind::Bitmask(_), Kind::Bitmask(_)) | (Kind::Bitset(_), Kind::Bitset(_)) => {
            one.bits() == other.bits()
        }
        (Kind::String { .. }, Kind::String { .. }) | (Kind::WString { .. }, Kind::WString { .. }) => {
            one.as_str() == other.as_str()
        }
        (Kind::Sequence { .. }, Kind::Sequence { .. }) | (Kind::Array { .. }, Kind::Array { .. }) => {
            one.len() == other.len() && one.elements().zip(other.elements()).all(|(a, b)| are_equal(a, b))
        }
        // Of a map the order does not matter.
        (Kind::Map { .. }, Kind::Map { .. }) => {
            let has = |entries: DynamicRef<'_>, (key, value): (DynamicRef<'_>, DynamicRef<'_>)| {
                entries.entries().any(|(other, found)| are_equal(key, other) && are_equal(value, found))
            };
            let in_order = || {
                let pairs = one.entries().zip(other.entries());
                pairs.clone().all(|((a, b), (c, d))| are_equal(a, c) && are_equal(b, d))
            };
            one.len() == other.len() && (in_order() || one.entries().all(|entry| has(other, entry)))
        }
        (Kind::Struct(_), Kind::Struct(_)) => {
            let (members, others) = (one.members(), other.members());
            members.len() == others.len()
                && members.zip(others).all(|((name, value), (other_name, other))| {
                    let is_same = match (value, other) {
                        (Some(value), Some(other)) => are_equal(value, other),
                        (value, other) => value.is_none() && other.is_none(),
                    };
                    name == other_name && is_same
                })
        }
        (Kind::Union(_), Kind::Union(_)) => {
            one.discriminator() == other.discriminator()
                && match (one.selected(), other.selected()) {
                    (Some((name, one)), Some((other_name, other))) => name == other_name && are_equal(one, other),
                    (one, other) => one.is_none() && other.is_none(),
                }
        }
        _ => false,
    }
}

/// Two floats are equal as Rust has it: no NaN is, and zeros are, whatever their sign.
fn are_numbers_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    use super::PrimitiveKind::{Float32, Float64};
    let (a, b) = (one.bits(), other.bits());
    match one.view().kind() {
        Kind::Primitive(Float32) => f32::from_bits(a as u32) == f32::from_bits(b as u32),
        Kind::Primitive(Float64) => f64::from_bits(a as u64) == f64::from_bits(b as u64),
        Kind::Primitive(kind) => low(a, kind.size()) == low(b, kind.size()),
        _ => a == b,
    }
}

/// In a run a number is without copies of its sign, elsewhere it has them.
fn low(bits: u128, size: usize) -> u128 {
    if size >= 16 { bits } else { bits & ((1 << (8 * size)) - 1) }
}
