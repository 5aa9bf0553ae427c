//! Structs that extend others: the members of both, put together while the program is compiled.

use super::description::is_same_text;
use super::{MemberDescription, TypeDescription, TypeKind};

const fn members_of(ty: &TypeDescription) -> &'static [MemberDescription] {
    match ty.kind() {
        TypeKind::Struct(description) => description.members(),
        _ => panic!("a base must be a struct"),
    }
}

/// How many members a struct has, those of its base too.
#[doc(hidden)]
#[must_use]
pub const fn member_count(ty: &TypeDescription) -> usize {
    members_of(ty).len()
}

/// The id of a member behind those of a struct.
#[doc(hidden)]
#[must_use]
pub const fn next_member_id(ty: &TypeDescription) -> u32 {
    let members = members_of(ty);
    if members.is_empty() { 0 } else { members[members.len() - 1].id() + 1 }
}

/// The members of a base, and those of the struct that extends it. `is_key` says whether that takes the key of the base on.
///
/// # Panics
/// They cannot be together in a struct; in a constant, that is a compile error.
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
    // Each place is filled below.
    let place = MemberDescription::new("", 0, || panic!("the members were put together wrongly"));
    let (mut members, mut index) = ([place; N], 0);
    while index < N {
        let is_own = index >= inherited.len();
        members[index] = if is_own { own[index - inherited.len()] } else { inherited[index] };
        let mut other = 0;
        while other < index {
            let (one, two) = (&members[other], &members[index]);
            assert!(one.id() != two.id(), "a member has the id of one of the base");
            assert!(!is_same_text(one.name(), two.name()), "a member has the name of one of the base");
            let is_in_order = !is_own || !one.is_key() || !two.is_key() || one.id() < two.id();
            assert!(is_in_order, "the ids of key members behind a base must grow");
            other += 1;
        }
        index += 1;
    }
    members
}
