//! Types that Fast DDS describes as others: `byte` as `uint8`, and `wstring` as `string`.
//!
//! Input: a description, and the hashes that its endpoints announce. Output: the description that has one of them.

use super::hash;
use super::objects::SHAPE_SIZE;
use dds_ros2_msgs::type_description_interfaces::msg::{FieldType, TypeDescription};

/// Most members that may be of another type. With each, the number of hashes doubles.
const UNCERTAIN_MAX: usize = 10;

/// The type ids (`type_description_interfaces/msg/FieldType`) that stand for others, and these. The same in each shape.
const STANDS_FOR: [(u8, u8); 3] = [(3, 16), (17, 18), (21, 22)];

/// Returns the description with one of the hashes, if other types of its members give it. A hash proves the types.
pub(super) fn with_hash<'h>(
    found: &TypeDescription,
    hashes: impl Iterator<Item = &'h str> + Clone,
) -> Option<TypeDescription> {
    let count = fields(&mut found.clone()).filter(|field| other_of(field).is_some()).count();
    let all = 1_u32.checked_shl(u32::try_from(count).ok()?).unwrap_or(0).wrapping_sub(1);
    // With many such members, all of them alone: a type mostly uses one kind.
    let masks = if count <= UNCERTAIN_MAX { 1..=all } else { u32::MAX..=u32::MAX };
    masks.map(|mask| variant(found, mask)).find(|variant| hashes.clone().any(|hash| hash == hash::of(variant)))
}

/// Returns the description with the other type of each uncertain member whose bit is set.
///
/// Members after the 32nd have its bit.
fn variant(found: &TypeDescription, mask: u32) -> TypeDescription {
    let mut variant = found.clone();
    let uncertain = fields(&mut variant).filter_map(|field| Some((other_of(field)?, field)));
    for (index, (other, field)) in (0_u32..).zip(uncertain) {
        if mask >> index.min(u32::BITS - 1) & 1 == 1 {
            field.type_id = other;
        }
    }
    variant
}

fn fields(description: &mut TypeDescription) -> impl Iterator<Item = &mut FieldType> {
    let TypeDescription { type_description, referenced_type_descriptions } = description;
    let all = std::iter::once(type_description).chain(referenced_type_descriptions);
    all.flat_map(|ty| &mut ty.fields).map(|field| &mut field.r#type)
}

/// The type id that a member may have instead.
fn other_of(field: &FieldType) -> Option<u8> {
    let base = field.type_id % SHAPE_SIZE;
    let (_, other) = STANDS_FOR.iter().find(|(described, _)| *described == base)?;
    Some(field.type_id - base + other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_ros2_msgs::type_description_interfaces::msg::{Field, IndividualTypeDescription};

    fn described(type_ids: &[u8]) -> TypeDescription {
        let field = |(index, type_id): (usize, &u8)| {
            let r#type = FieldType { type_id: *type_id, ..FieldType::default() };
            Field { name: format!("m{index}"), r#type, ..Field::default() }
        };
        let fields = type_ids.iter().enumerate().map(field).collect();
        let type_description = IndividualTypeDescription { type_name: "lab_msgs/msg/Light".into(), fields };
        TypeDescription { type_description, ..TypeDescription::default() }
    }

    #[test]
    fn hash_decides_which_members_are_of_another_type() {
        // `uint8`, a sequence of `string`, `string`, `int32`.
        let found = described(&[3, 17 + 144, 17, 6]);
        for expected in [[16, 17 + 144, 17, 6], [3, 18 + 144, 17, 6], [16, 18 + 144, 18, 6]] {
            let expected = described(&expected);
            let hash = hash::of(&expected);
            assert_eq!(with_hash(&found, ["RIHS01_00", &hash].into_iter()), Some(expected));
        }
        let other = hash::of(&described(&[3, 17 + 144, 17, 7]));
        assert_eq!(with_hash(&found, [other.as_str()].into_iter()), None);
    }

    #[test]
    fn many_members_are_all_of_the_other_type() {
        for count in [40, 10_000] {
            let (found, expected) = (described(&vec![17; count]), described(&vec![18; count]));
            assert_eq!(with_hash(&found, [hash::of(&expected).as_str()].into_iter()), Some(expected));
        }
        assert_eq!(with_hash(&described(&[6]), ["RIHS01_00"].into_iter()), None);
    }
}
