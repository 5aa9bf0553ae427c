//! What generated code keeps of the IDL. The derive macro refuses attributes without effect.

use super::data_type::{bound_of, can_fail};
use crate::model::{BitsetDefinition, BitsetField, DataType, Specification, TryConstruct, UnionDefinition};

/// The handling of a value that a member or an element cannot hold.
pub(crate) fn of_value(
    specification: &Specification,
    ty: &DataType,
    given: TryConstruct,
    is_key: bool,
) -> TryConstruct {
    match given {
        TryConstruct::Trim if bound_of(specification.resolve(ty)).is_some() && !is_key => given,
        TryConstruct::UseDefault if can_fail(specification, ty) && !is_key => given,
        _ => TryConstruct::Discard,
    }
}

/// The handling of a discriminator that selects no branch.
pub(crate) fn of_discriminator(specification: &Specification, union: &UnionDefinition) -> TryConstruct {
    let discriminator = &union.discriminator;
    let is_integer =
        matches!(specification.resolve(&discriminator.ty), DataType::Basic(basic) if basic.range().is_some());
    // A default branch accepts each other integer.
    let accepts_all = is_integer && union.branches.iter().any(|branch| branch.is_default);
    match discriminator.annotations.try_construct() {
        TryConstruct::UseDefault if !discriminator.annotations.is_key() && !accepts_all => TryConstruct::UseDefault,
        _ => TryConstruct::Discard,
    }
}

/// The fields of a bitset with their names, those of its bases first.
///
/// Padding is a gap before the next field. Padding at the end stays a field if the integer is smaller without it.
pub(crate) fn bitset_fields<'a>(
    specification: &'a Specification,
    definition: &'a BitsetDefinition,
) -> Vec<(&'a BitsetField, String)> {
    let mut kept = Vec::new();
    let mut end = 0;
    let mut last = None;
    for field in specification.bitset_fields(definition) {
        last = Some(field);
        if let Some(name) = &field.name {
            kept.push((field, name.to_string()));
            end = field.position + field.bit_count;
        }
    }
    if let Some(padding) = last
        && padding.name.is_none()
        && (end == 0 || width_of(padding.position + padding.bit_count) != width_of(end))
    {
        let mut name = "padding".to_owned();
        while kept.iter().any(|(_, other)| *other == name) {
            name.push('_');
        }
        kept.push((padding, name));
    }
    kept
}

/// The width of the smallest integer with this number of bits.
pub(crate) fn width_of(bits: u8) -> u8 {
    match bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    }
}
