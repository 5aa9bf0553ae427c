//! Changes a value. `access` has checked the path and the new value, so an edit cannot fail.

use super::access::{
    TargetType, case_of, discriminator_of, element_type, index_of, is_same_key, key_of, member_of, part_of_bits,
    selection,
};
use super::convert::raw_bits;
use super::graph::{NodeKind, TypeView, low_bits};
use super::path::PathStep;
use super::value::{List, Primitives, UnionValue, Value};
use crate::cdr::shape::Shape;

/// The change at the end of a path.
pub(super) enum Edit {
    Put(Value),
    Push(Value),
    Resize(u32),
    Select(i64),
    /// Removes the optional member, map entry or sequence element of the last step.
    Remove,
}

/// Changes the part at a path. `type_at` must have accepted the path.
pub(super) fn edit(ty: TypeView<'_>, value: &mut Value, steps: &[PathStep<'_>], edit: Edit) {
    let Some((first, rest)) = steps.split_first() else { return apply(ty, value, edit) };
    let is_removed = rest.is_empty() && matches!(edit, Edit::Remove);
    match ty.kind() {
        NodeKind::Struct(_) => {
            let Ok((index, member)) = member_of(ty, *first) else {
                debug_assert!(false, "the path was accepted before the edit");
                return;
            };
            let members = struct_members(value);
            match members.binary_search_by_key(&index, |(index, _)| *index) {
                // A member that is not stored has its default, or is absent if it is optional.
                Ok(found) if is_removed => drop(members.remove(found)),
                Ok(found) => {
                    if let Some((_, value)) = members.get_mut(found) {
                        self::edit(ty.at(member.ty), value, rest, edit);
                    }
                }
                Err(_) if is_removed => {}
                Err(place) => {
                    // Members are stored in ascending order of their index.
                    // The edit may concern a part of the member, and the other parts keep their defaults.
                    let mut value = member.default.clone().unwrap_or_default();
                    self::edit(ty.at(member.ty), &mut value, rest, edit);
                    members.insert(place, (index, value));
                }
            }
        }
        NodeKind::Union(node) => {
            let Ok((case, at)) = case_of(ty, node, *first) else {
                debug_assert!(false, "the path was accepted before the edit");
                return;
            };
            let (present, _) = selection(ty, value);
            let Some(discriminator) = discriminator_of(ty, node, case, present) else {
                debug_assert!(false, "the path was accepted before the edit");
                return;
            };
            // An edit of a member selects it.
            apply(ty, value, Edit::Select(discriminator));
            if let (Value::Union(selection), false) = (value, is_removed) {
                self::edit(at, &mut selection.value, rest, edit);
            }
        }
        NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. } => {
            let Ok(index) = index_of(ty, *first) else {
                debug_assert!(false, "the path was accepted before the edit");
                return;
            };
            edit_element(ty, ty.at(element.ty), value, index, rest, edit);
        }
        NodeKind::Map { key, element, .. } => {
            let key = ty.at(key.ty);
            let Some(wanted) = key_of(key, *first) else {
                debug_assert!(false, "the path was accepted before the edit");
                return;
            };
            let entries = map_entries(value);
            let found = entries.iter().position(|(other, _)| is_same_key(key, other, &wanted));
            match found {
                Some(found) if is_removed => drop(entries.remove(found)),
                None if is_removed => {}
                Some(found) => {
                    if let Some((_, value)) = entries.get_mut(found) {
                        self::edit(ty.at(element.ty), value, rest, edit);
                    }
                }
                None => {
                    let mut value = Value::Default;
                    self::edit(ty.at(element.ty), &mut value, rest, edit);
                    // Entries keep the order of insertion, so a new one goes to the end.
                    entries.push((wanted, value));
                }
            }
        }
        // Parts of a number are bits, so the number as a whole changes.
        NodeKind::Bitmask(_) | NodeKind::Bitset(_) => {
            let Ok(TargetType::Bits { position, bit_count, .. }) = part_of_bits(ty, *first) else { return };
            let mask = low_bits(bit_count) << position;
            // A removed flag or field is zero. `mask` cuts the sign extension of a negative field.
            let new = if let Edit::Put(new) = edit { new.bits(0) << position & mask } else { 0 };
            *value = Value::Bits(value.bits(0) & !mask | new);
        }
        _ => {}
    }
}

fn edit_element(
    ty: TypeView<'_>,
    element: TypeView<'_>,
    value: &mut Value,
    index: usize,
    rest: &[PathStep<'_>],
    edit: Edit,
) {
    let is_array = matches!(ty.kind(), NodeKind::Array { .. });
    make_elements(ty, element, value);
    match (value, edit) {
        (Value::Primitives(run), Edit::Remove) if !is_array && index < run.len() => run.remove(index),
        (Value::Primitives(run), Edit::Put(new)) => run.set(index, raw_bits(&new)),
        // The length of an array is fixed, so its element takes the default.
        (Value::Primitives(run), Edit::Remove) => run.set(index, 0),
        (Value::List(list), Edit::Remove) if rest.is_empty() && !is_array => {
            if index < list.items.len() {
                // Only stored elements move. The others are equal defaults, so the length alone changes.
                list.items.remove(index);
            }
            list.len = list.len.saturating_sub(1);
        }
        (Value::List(list), edit) => {
            // Elements before the index must be stored as well.
            if index >= list.items.len() {
                list.items.resize(index + 1, Value::Default);
            }
            if let Some(value) = list.items.get_mut(index) {
                self::edit(element, value, rest, edit);
            }
        }
        _ => {}
    }
}

/// Creates the elements of a default sequence or array, so that they can be changed.
fn make_elements(ty: TypeView<'_>, element: TypeView<'_>, value: &mut Value) {
    if !matches!(value, Value::Default) {
        return;
    }
    // A new sequence is empty, and a new array has all its elements.
    let length = if let NodeKind::Array { length, .. } = ty.kind() { *length } else { 0 };
    *value = match element.primitive_size() {
        // Numbers are stored without a `Value` for each, so that arrays can be copied as a whole.
        Some(size) => {
            let mut run = Primitives::new(size);
            run.resize(length as usize);
            Value::Primitives(run)
        }
        // The elements are defaults, which take no memory until an edit changes one.
        None => Value::List(List { len: length, items: Vec::new() }),
    };
}

fn struct_members(value: &mut Value) -> &mut Vec<(u32, Value)> {
    if !matches!(value, Value::Struct(_)) {
        *value = Value::Struct(Vec::new());
    }
    match value {
        Value::Struct(members) => members,
        _ => unreachable!("the value was replaced above"),
    }
}

fn map_entries(value: &mut Value) -> &mut Vec<(Value, Value)> {
    if !matches!(value, Value::Map(_)) {
        *value = Value::Map(Vec::new());
    }
    match value {
        Value::Map(entries) => entries,
        _ => unreachable!("the value was replaced above"),
    }
}

/// Changes a whole value.
fn apply(ty: TypeView<'_>, value: &mut Value, edit: Edit) {
    match edit {
        Edit::Put(new) => *value = new,
        Edit::Remove => *value = Value::Default,
        Edit::Select(discriminator) => {
            let NodeKind::Union(node) = ty.kind() else { return };
            // A discriminator of the same case keeps the value of the member.
            let (present, _) = selection(ty, value);
            // Several labels may select one case.
            let is_same = match (node.selected_by(present), node.selected_by(discriminator)) {
                (Some(one), Some(other)) => std::ptr::eq(one, other),
                _ => false,
            };
            match value {
                Value::Union(selection) if is_same => selection.discriminator = discriminator,
                value => *value = Value::Union(Box::new(UnionValue { discriminator, value: Value::Default })),
            }
        }
        Edit::Push(new) => {
            let Some(element) = element_type(ty) else { return };
            make_elements(ty, element, value);
            match value {
                Value::Primitives(run) => {
                    let end = run.len();
                    run.resize(end + 1);
                    run.set(end, raw_bits(&new));
                }
                Value::List(list) => {
                    // Only the first elements are stored. Store the rest before the new one.
                    list.items.resize(list.len as usize, Value::Default);
                    list.items.push(new);
                    list.len = list.len.saturating_add(1);
                }
                _ => {}
            }
        }
        Edit::Resize(len) => {
            let Some(element) = element_type(ty) else { return };
            make_elements(ty, element, value);
            match value {
                Value::Primitives(run) => run.resize(len as usize),
                Value::List(list) => {
                    // A longer list needs no stored elements: the new ones are defaults.
                    list.items.truncate(len as usize);
                    list.len = len;
                }
                _ => {}
            }
        }
    }
}
