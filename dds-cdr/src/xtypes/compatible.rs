//! Comparison of structs, unions and enums, member by member (XTYPES 1.3, 7.2.4.4.6 to 7.2.4.4.8).

use super::assignable::{Checked, Comparison, Keys, Mismatch};
use super::difference::TypeDifferenceKind as Kind;
use super::flags::{MemberFlags, TypeFlags};
use super::form::{Form, NameHash};
use super::object::{EnumType, StructMember, StructType, UnionMember, UnionType};
use crate::cdr::Extensibility;
use std::collections::BTreeMap;

/// Most structs in a chain of bases. A peer controls the length of its chains.
const BASES_MAX: usize = 64;

fn same_extensibility<F: Form>(c: &Comparison<'_, F>, reader: TypeFlags, writer: TypeFlags) -> Checked {
    let (reader, writer) = (reader.extensibility(), writer.extensibility());
    if reader == writer { Ok(()) } else { c.differ(Kind::Extensibility { writer, reader }) }
}

/// All members of a struct, inherited members first.
fn members_of<'a: 'b, 'b, F: Form>(
    c: &Comparison<'a, F>,
    ty: &'b StructType<F>,
) -> Result<Vec<&'b StructMember<F>>, Mismatch> {
    let (mut chain, mut next) = (vec![ty], c.base_of(&ty.base)?);
    while let Some(base) = next {
        if chain.len() == BASES_MAX {
            c.differ(Kind::TooDeep)?;
        }
        chain.push(base);
        next = c.base_of(&base.base)?;
    }
    // The members of a base precede those of the struct that derives from it.
    let mut members = Vec::new();
    for ty in chain.into_iter().rev() {
        members.extend(&ty.members);
    }
    Ok(members)
}

/// Compares structs by the rules of table 19 of 7.2.4.4.8, in its order.
pub(super) fn of_structs<'a: 'b, 'b, F: Form>(
    c: &mut Comparison<'a, F>,
    reader: &'b StructType<F>,
    writer: &'b StructType<F>,
    keys: Keys,
) -> Checked {
    same_extensibility(c, reader.flags, writer.flags)?;
    let (rs, ws) = (members_of(c, reader)?, members_of(c, writer)?);
    let (by_reader, by_writer) = (by_id(&rs), by_id(&ws));
    same_names(c, rs.iter().map(|m| (m.id, &m.detail)), ws.iter().map(|m| (m.id, &m.detail)))?;
    let is_final = reader.flags.extensibility() == Extensibility::Final;
    for (members, others, is_reader) in [(&rs, &by_writer, true), (&ws, &by_reader, false)] {
        for member in members {
            if others.contains_key(&member.id) {
                continue;
            }
            // A final struct needs all members, a key its key members. Must-understand members and
            // `prevent_type_widening` bind as well.
            let is_required = is_final
                || keys == Keys::Matter && member.flags.contains(MemberFlags::KEY)
                || member.flags.contains(MemberFlags::MUST_UNDERSTAND) && !member.flags.contains(MemberFlags::OPTIONAL)
                || !is_reader && c.policy.prevent_type_widening;
            if is_required {
                let kind = if is_reader { Kind::OnlyInReader } else { Kind::OnlyInWriter };
                return c.differ_at(c.name_of(&member.detail, member.id), kind);
            }
        }
    }
    // Two empty structs are assignable without a common member.
    let mut has_common = rs.is_empty() && ws.is_empty();
    for r in &rs {
        if let Some(w) = by_writer.get(&r.id) {
            has_common = true;
            c.within(c.name_of(&r.detail, r.id), |c| of_members(c, r, w, keys))?;
        }
    }
    if !has_common {
        return c.differ(Kind::NothingInCommon);
    }
    // Only the member headers of a mutable struct make the order irrelevant.
    if reader.flags.extensibility() == Extensibility::Mutable { Ok(()) } else { same_positions(c, &rs, &ws) }
}

/// Compares two members with the same id.
fn by_id<'a, F: Form>(members: &[&'a StructMember<F>]) -> BTreeMap<u32, &'a StructMember<F>> {
    members.iter().map(|member| (member.id, *member)).collect()
}

fn of_members<'a, F: Form>(
    c: &mut Comparison<'_, F>,
    r: &'a StructMember<F>,
    w: &'a StructMember<F>,
    keys: Keys,
) -> Checked {
    let is_key = keys == Keys::Matter && r.flags.contains(MemberFlags::KEY);
    if keys == Keys::Matter {
        c.must_agree(r.flags, w.flags, MemberFlags::KEY, Kind::Key)?;
    }
    // Inside of a member that is no key, key annotations have no effect.
    c.assignable(&r.ty, &w.ty, if is_key { Keys::Matter } else { Keys::AreErased })?;
    if is_key { c.key_member(&r.ty, &w.ty) } else { Ok(()) }
}

/// Compares members by position: types that are not mutable encode no member ids.
fn same_positions<'a, F: Form>(
    c: &mut Comparison<'_, F>,
    rs: &[&'a StructMember<F>],
    ws: &[&'a StructMember<F>],
) -> Checked {
    for (r, w) in rs.iter().zip(ws) {
        c.within(c.name_of(&r.detail, r.id), |c| {
            if r.id != w.id {
                return c.differ(Kind::Order);
            }
            c.must_agree(r.flags, w.flags, MemberFlags::OPTIONAL, Kind::Optional)?;
            c.strongly_assignable(&r.ty, &w.ty, Keys::AreErased)
        })?;
    }
    Ok(())
}

/// Checks that equal names mean equal ids and vice versa, unless the policy ignores names.
fn same_names<'a, F: Form>(
    c: &mut Comparison<'_, F>,
    rs: impl Iterator<Item = (u32, &'a F::Member)>,
    ws: impl Iterator<Item = (u32, &'a F::Member)>,
) -> Checked {
    if c.policy.ignore_member_names {
        return Ok(());
    }
    let (mut by_id, mut by_name) = (BTreeMap::new(), BTreeMap::new());
    for (id, detail) in ws {
        let name = F::name_hash(detail);
        by_id.insert(id, (name, detail));
        by_name.insert(name, id);
    }
    for (id, detail) in rs {
        let name = F::name_hash(detail);
        // A member that only one side has is no contradiction. Other rules decide whether it may be missing.
        let other_id = by_name.get(&name).copied().filter(|&known| known != id);
        let other_name = by_id.get(&id).filter(|(known, _)| *known != name);
        if let Some(writer) = other_id {
            return c.differ_at(c.name_of(detail, id), Kind::Id { writer, reader: id });
        }
        if let Some((_, other)) = other_name {
            let (writer, reader) = (c.name_of(other, id), c.name_of(detail, id));
            return c.differ_at(reader.clone(), Kind::Name { writer, reader });
        }
    }
    Ok(())
}

/// Reports union member ids that start at 0 on one side and at 1 on the other.
///
/// The standard starts at 1 (7.3.1.2.1.1). Without this check the difference would only be that a name has another id.
fn same_first_ids<F: Form>(c: &Comparison<'_, F>, reader: &UnionType<F>, writer: &UnionType<F>) -> Checked {
    if c.policy.ignore_member_names {
        return Ok(());
    }
    let by_name: BTreeMap<_, u32> = writer.members.iter().map(|w| (F::name_hash(&w.detail), w.id)).collect();
    let (mut lowest, mut all_higher_in_reader, mut all_higher_in_writer) = (None, true, true);
    for r in &reader.members {
        let Some(&w) = by_name.get(&F::name_hash(&r.detail)) else { continue };
        all_higher_in_reader &= w.checked_add(1) == Some(r.id);
        all_higher_in_writer &= r.id.checked_add(1) == Some(w);
        lowest = match lowest {
            Some(lowest) if lowest <= (w, r.id) => Some(lowest),
            _ => Some((w, r.id)),
        };
    }
    match lowest {
        // All ids differ by one: then Cyclone DDS counted from 0, which has a remedy of its own.
        Some((writer, reader)) if all_higher_in_reader || all_higher_in_writer => {
            c.differ(Kind::UnionIds { writer, reader })
        }
        _ => Ok(()),
    }
}

/// Compares unions by the rules of table 18 of 7.2.4.4.7.
pub(super) fn of_unions<'a, F: Form>(
    c: &mut Comparison<'_, F>,
    reader: &'a UnionType<F>,
    writer: &'a UnionType<F>,
    keys: Keys,
) -> Checked {
    same_extensibility(c, reader.flags, writer.flags)?;
    c.within("discriminator".to_owned(), |c| {
        if keys == Keys::Matter {
            c.must_agree(reader.discriminator_flags, writer.discriminator_flags, MemberFlags::KEY, Kind::Key)?;
        }
        c.strongly_assignable(&reader.discriminator, &writer.discriminator, keys)
    })?;
    same_first_ids(c, reader, writer)?;
    let (rs, ws) = (&reader.members, &writer.members);
    same_names(c, rs.iter().map(|m| (m.id, &m.detail)), ws.iter().map(|m| (m.id, &m.detail)))?;

    let must_have_all = reader.flags.extensibility() == Extensibility::Final;
    let (rs, ws) = (by_label(reader), by_label(writer));
    let (r_default, w_default) = (default_of(reader), default_of(writer));
    for (label, w) in &ws {
        // A label without a case at the reader selects the reader's default.
        if let Some(r) = rs.get(label).copied().or(r_default) {
            of_cases(c, r, w, keys)?;
        }
        if !rs.contains_key(label) && (must_have_all || r_default.is_none() && c.policy.prevent_type_widening) {
            return c.differ_at(c.name_of(&w.detail, w.id), Kind::OnlyInWriter);
        }
    }
    for (label, r) in &rs {
        if ws.contains_key(label) {
            continue;
        }
        if must_have_all {
            return c.differ_at(c.name_of(&r.detail, r.id), Kind::OnlyInReader);
        }
        if let Some(w) = w_default {
            of_cases(c, r, w, keys)?;
        }
    }
    match (r_default, w_default) {
        (Some(r), Some(w)) => of_cases(c, r, w, keys)?,
        (None, Some(w)) if must_have_all => {
            return c.differ_at(c.name_of(&w.detail, w.id), Kind::OnlyInWriter);
        }
        _ => {}
    }
    // Two unions without labels have only their default cases, which were compared above.
    if ws.is_empty() && rs.is_empty() {
        return Ok(());
    }
    for label in ws.keys() {
        if rs.contains_key(label) {
            return Ok(());
        }
    }
    c.differ(Kind::NothingInCommon)
}

fn of_cases<'a, F: Form>(
    c: &mut Comparison<'_, F>,
    r: &'a UnionMember<F>,
    w: &'a UnionMember<F>,
    keys: Keys,
) -> Checked {
    c.within(c.name_of(&r.detail, r.id), |c| c.assignable(&r.ty, &w.ty, keys))
}

fn by_label<F: Form>(ty: &UnionType<F>) -> BTreeMap<i32, &UnionMember<F>> {
    let mut by_label = BTreeMap::new();
    for member in &ty.members {
        for label in &member.labels {
            by_label.insert(*label, member);
        }
    }
    by_label
}

fn default_of<F: Form>(ty: &UnionType<F>) -> Option<&UnionMember<F>> {
    ty.members.iter().find(|member| member.flags.contains(MemberFlags::DEFAULT))
}

/// Compares enums by the rules of table 17 of 7.2.4.4.6.
pub(super) fn of_enums<F: Form>(c: &Comparison<'_, F>, reader: &EnumType<F>, writer: &EnumType<F>) -> Checked {
    same_extensibility(c, reader.flags, writer.flags)?;
    // The number on the wire has this size.
    if size_of_bits(reader.bit_bound) != size_of_bits(writer.bit_bound) {
        let (writer, reader) = (vec![writer.bit_bound.into()], vec![reader.bit_bound.into()]);
        return c.differ(Kind::Size { writer, reader });
    }
    let (rs, ws) = (names_of(reader), names_of(writer));
    let mut values = BTreeMap::new();
    for (value, name) in &ws {
        values.insert(*name, *value);
    }
    for (value, name) in &rs {
        // A literal that only one side has is no contradiction: a reader may know more of them than a writer.
        let known_name = ws.get(value).unwrap_or(name);
        let known_value = values.get(name).unwrap_or(value);
        if (known_name, known_value) != (name, value) {
            return c.differ(Kind::Literals);
        }
    }
    if reader.flags.extensibility() == Extensibility::Final && rs.keys().ne(ws.keys()) {
        return c.differ(Kind::Literals);
    }
    Ok(())
}

/// The names of the literals by their values.
fn names_of<F: Form>(ty: &EnumType<F>) -> BTreeMap<i32, NameHash> {
    ty.literals.iter().map(|literal| (literal.common.value, F::name_hash(&literal.detail))).collect()
}

/// Bytes of an encoded enum. Enums of different sizes cannot be decoded as each other.
fn size_of_bits(bit_bound: u16) -> u8 {
    match bit_bound {
        0..=8 => 1,
        9..=16 => 2,
        _ => 4,
    }
}
