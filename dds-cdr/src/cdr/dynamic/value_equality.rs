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
        (NodeKind::Map { .. }, NodeKind::Map { .. }) => are_maps_equal(one, other),
        (NodeKind::Struct(_), NodeKind::Struct(_)) => are_structs_equal(one, other),
        (NodeKind::Union(_), NodeKind::Union(_)) => are_unions_equal(one, other),
        _ => false,
    }
}

/// Compares maps. The order of entries does not matter.
fn are_maps_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    if one.len() != other.len() {
        return false;
    }
    for ((key, value), (other_key, other_value)) in one.entries().zip(other.entries()) {
        // Equal orders are the common case: try the entry at the same position first.
        if are_equal(key, other_key) && are_equal(value, other_value) {
            continue;
        }
        // A map has no order, and its keys are unique.
        let mut entries = other.entries();
        if !entries.any(|(other_key, found)| are_equal(key, other_key) && are_equal(value, found)) {
            return false;
        }
    }
    true
}

fn are_structs_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    let (members, others) = (one.members(), other.members());
    if members.len() != others.len() {
        return false;
    }
    for ((name, value), (other_name, other)) in members.zip(others) {
        let are_values_equal = match (value, other) {
            (Some(value), Some(other)) => are_equal(value, other),
            (value, other) => value.is_none() && other.is_none(),
        };
        // Two types may define the members in another order, and values of such types differ.
        if !are_values_equal || name != other_name {
            return false;
        }
    }
    true
}

fn are_unions_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    if one.discriminator() != other.discriminator() {
        return false;
    }
    match (one.selected(), other.selected()) {
        (Some((name, one)), Some((other_name, other))) => name == other_name && are_equal(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Compares numbers. Floats follow Rust: NaN equals nothing, and zeros are equal despite different signs.
fn are_numbers_equal(one: DynamicRef<'_>, other: DynamicRef<'_>) -> bool {
    use super::PrimitiveKind::{Float32, Float64};
    let (a, b) = (one.bits(), other.bits());
    match one.view().kind() {
        // As numbers: -0.0 equals 0.0, and NaN equals nothing.
        NodeKind::Primitive(Float32) => f32::from_bits(a as u32) == f32::from_bits(b as u32),
        NodeKind::Primitive(Float64) => f64::from_bits(a as u64) == f64::from_bits(b as u64),
        // Elements of a sequence are not extended with their sign, single values are.
        NodeKind::Primitive(kind) => low(a, kind.size()) == low(b, kind.size()),
        _ => a == b,
    }
}

/// Removes the sign extension: elements of arrays are stored without it, other numbers with it.
fn low(bits: u128, size: usize) -> u128 {
    if size >= 16 { bits } else { bits & ((1 << (8 * size)) - 1) }
}
