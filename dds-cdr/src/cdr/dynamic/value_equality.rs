//! Equality of two values. A stored value equals a default with the same content.

use super::DynamicRef;
use super::graph::NodeKind;

/// Compares two values. Values of types with different structures differ.
pub(super) fn are_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    match (one.view().kind(), other.view().kind()) {
        (NodeKind::Primitive(a), NodeKind::Primitive(b)) => a == b && are_numbers_equal(one, other),
        (NodeKind::Enum(_), NodeKind::Enum(_))
        | (NodeKind::Bitmask(_), NodeKind::Bitmask(_))
        | (NodeKind::Bitset(_), NodeKind::Bitset(_)) => one.bits() == other.bits(),
        (NodeKind::String { .. }, NodeKind::String { .. }) | (NodeKind::WString { .. }, NodeKind::WString { .. }) => {
            one.as_str() == other.as_str()
        }
        (NodeKind::Sequence { .. }, NodeKind::Sequence { .. }) | (NodeKind::Array { .. }, NodeKind::Array { .. }) => {
            one.len() == other.len() && one.elements().zip(other.elements()).all(|(a, b)| are_equal(a, b))
        }
        // The order of entries does not matter. Equal orders are the common case and are compared first.
        (NodeKind::Map { .. }, NodeKind::Map { .. }) => {
            let has = |entries: DynamicRef<'_>, (key, value): (DynamicRef<'_>, DynamicRef<'_>)| {
                entries.entries().any(|(other, found)| are_equal(key, other) && are_equal(value, found))
            };
            let in_order = || {
                let pairs = one.entries().zip(other.entries());
                pairs.clone().all(|((a, b), (c, d))| are_equal(a, c) && are_equal(b, d))
            };
            one.len() == other.len() && (in_order() || one.entries().all(|entry| has(other, entry)))
        }
        (NodeKind::Struct(_), NodeKind::Struct(_)) => {
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
        (NodeKind::Union(_), NodeKind::Union(_)) => {
            one.discriminator() == other.discriminator()
                && match (one.selected(), other.selected()) {
                    (Some((name, one)), Some((other_name, other))) => name == other_name && are_equal(one, other),
                    (one, other) => one.is_none() && other.is_none(),
                }
        }
        _ => false,
    }
}

/// Compares numbers. Floats follow Rust: NaN equals nothing, and zeros are equal despite different signs.
fn are_numbers_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    use super::PrimitiveKind::{Float32, Float64};
    let (a, b) = (one.bits(), other.bits());
    match one.view().kind() {
        NodeKind::Primitive(Float32) => f32::from_bits(a as u32) == f32::from_bits(b as u32),
        NodeKind::Primitive(Float64) => f64::from_bits(a as u64) == f64::from_bits(b as u64),
        NodeKind::Primitive(kind) => low(a, kind.size()) == low(b, kind.size()),
        _ => a == b,
    }
}

/// Removes the sign extension: elements of arrays are stored without it, other numbers with it.
fn low(bits: u128, size: usize) -> u128 {
    if size >= 16 { bits } else { bits & ((1 << (8 * size)) - 1) }
}
