//! Struct inheritance: the members of a base and of the derived struct, combined at compile time.

use super::description::is_same_text;
use super::{MemberDescription, TypeDescription, TypeKind};

const fn members_of(ty: &TypeDescription) -> &'static [MemberDescription] {
    match ty.kind() {
        TypeKind::Struct(description) => description.members(),
        _ => panic!("a base must be a struct"),
    }
}

/// Returns the number of members of a struct, including those of its base.
#[doc(hidden)]
#[must_use]
pub const fn member_count(ty: &TypeDescription) -> usize {
    members_of(ty).len()
}

/// Returns the first id behind the members of a struct.
#[doc(hidden)]
#[must_use]
pub const fn next_member_id(ty: &TypeDescription) -> u32 {
    let members = members_of(ty);
    // The last id, not the largest: `@autoid(SEQUENTIAL)` continues the member before.
    if members.is_empty() { 0 } else { members[members.len() - 1].id() + 1 }
}

/// Returns the members of a base, followed by those of the derived struct. `is_key`: the derived struct adopts the key
/// of the base.
///
/// # Panics
/// The members conflict. In a constant, this is a compile error.
#[doc(hidden)]
#[must_use]
pub const fn derived_members<const N: usize>(
    base: &TypeDescription,
    is_key: bool,
    own: &[MemberDescription],
) -> [MemberDescription; N] {
    assert!(is_key || !base.has_key(), "the base has a key: mark it `#[dds(base, key)]`");
    assert!(!is_key || base.has_key(), "the base has no key: mark it `#[dds(base)]`");
    let inherited = members_of(base);
    // The loop below replaces each placeholder.
    let place = MemberDescription::new("", 0, || panic!("every member is assigned"));
    let (mut members, mut index) = ([place; N], 0);
    while index < N {
        let is_own = index >= inherited.len();
        members[index] = if is_own { own[index - inherited.len()] } else { inherited[index] };
        let mut other = 0;
        while other < index {
            let (one, two) = (&members[other], &members[index]);
            assert!(one.id() != two.id(), "a member has the same id as a member of the base");
            assert!(!is_same_text(one.name(), two.name()), "a member has the same name as a member of the base");
            // The base is encoded as a whole before the own members, and a key hash has the order of ids.
            let is_in_order = !is_own || !one.is_key() || !two.is_key() || one.id() < two.id();
            assert!(is_in_order, "the ids of key members must be larger than those of the base");
            other += 1;
        }
        index += 1;
    }
    members
}
