//! Changing a value: what is given was checked, the way to its place was found, and now nothing can fail any more.

use super::access::{
    Part, case_of, discriminator_of, element_type, index_of, is_same_key, key_of, member_of, part_of_bits, selection,
};
use super::give::raw_bits;
use super::graph::{Kind, TypeView, low_bits};
use super::path::Step;
use super::value::{List, Run, Selection, Value};
use crate::cdr::shape::Shape;

/// What is to happen where a path ends.
pub(super) enum Edit {
    Put(Value),
    Push(Value),
    Resize(u32),
    Select(i64),
    /// The optional member, or the key of the map, or the element of the sequence that the last step names goes.
    Remove,
}

/// Changes what a path leads to, of which `place_of` has found that it can be done.
pub(super) fn edit(ty: TypeView<'_>, value: &mut Value, steps: &[Step<'_>], edit: Edit) {
    let Some((first, rest)) = steps.split_first() else { return apply(ty, value, edit) };
    let is_removed = rest.is_empty() && matches!(edit, Edit::Remove);
    match ty.kind() {
        Kind::Struct(_) => {
            let Ok((index, member)) = member_of(ty, *first) else { return };
            let members = struct_members(value);
            match members.binary_search_by_key(&index, |(index, _)| *index) {
                Ok(found) if is_removed => drop(members.remove(found)),
                Ok(found) => {
                    if let Some((_, value)) = members.get_mut(found) {
                        self::edit(ty.at(member.ty), value, rest, edit);
                    }
                }
                Err(_) if is_removed => {}
                Err(place) => {
                    let mut value = member.default.clone().unwrap_or_default();
                    self::edit(ty.at(member.ty), &mut value, rest, edit);
                    members.insert(place, (index, value));
                }
            }
        }
        Kind::Union(node) => {
            let Ok((case, at)) = case_of(ty, node, *first) else { return };
            let (present, _) = selection(ty, value);
            let Some(discriminator) = discriminator_of(ty, node, case, present) else { return };
            apply(ty, value, Edit::Select(discriminator));
            if let (Value::Union(selection), false) = (value, is_removed) {
                self::edit(at, &mut selection.value, rest, edit);
            }
        }
        Kind::Sequence { element, .. } | Kind::Array { element, .. } => {
            let Ok(index) = index_of(ty, *first) else { return };
            edit_element(ty, ty.at(element.ty), value, index, rest, edit);
        }
        Kind::Map { key, element, .. } => {
            let key = ty.at(key.ty);
            let Some(wanted) = key_of(key, *first) else { return };
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
                    entries.push((wanted, value));
                }
            }
        }
        Kind::Bitmask(_) | Kind::Bitset(_) => {
            let Ok(Part::Bits { position, bit_count, .. }) = part_of_bits(ty, *first) else { return };
            let mask = low_bits(bit_count) << position;
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
    rest: &[Step<'_>],
    edit: Edit,
) {
    let is_array = matches!(ty.kind(), Kind::Array { .. });
    make_elements(ty, element, value);
    match (value, edit) {
        (Value::Run(run), Edit::Remove) if !is_array && index < run.len() => run.remove(index),
        (Value::Run(run), Edit::Put(new)) => run.set(index, raw_bits(&new)),
        // Of an array no element goes.
        (Value::Run(run), Edit::Remove) => run.set(index, 0),
        (Value::List(list), Edit::Remove) if rest.is_empty() && !is_array => {
            if index < list.items.len() {
                list.items.remove(index);
            }
            list.len = list.len.saturating_sub(1);
        }
        (Value::List(list), edit) => {
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

/// Makes a sequence or array one whose elements can be changed.
fn make_elements(ty: TypeView<'_>, element: TypeView<'_>, value: &mut Value) {
    if !matches!(value, Value::Default) {
        return;
    }
    let length = if let Kind::Array { length, .. } = ty.kind() { *length } else { 0 };
    *value = match element.primitive_size() {
        Some(size) => {
            let mut run = Run::new(size);
            run.resize(length as usize);
            Value::Run(run)
        }
        None => Value::List(List { len: length, items: Vec::new() }),
    };
}

fn struct_members(value: &mut Value) -> &mut Vec<(u32, Value)> {
    if !matches!(value, Value::Struct(_)) {
        *value = Value::Struct(Vec::new());
    }
    match value {
        Value::Struct(members) => members,
        _ => unreachable!("it was made one above"),
    }
}

fn map_entries(value: &mut Value) -> &mut Vec<(Value, Value)> {
    if !matches!(value, Value::Map(_)) {
        *value = Value::Map(Vec::new());
    }
    match value {
        Value::Map(entries) => entries,
        _ => unreachable!("it was made one above"),
    }
}

/// Changes a value as a whole.
fn apply(ty: TypeView<'_>, value: &mut Value, edit: Edit) {
    match edit {
        Edit::Put(new) => *value = new,
        Edit::Remove => *value = Value::Default,
        Edit::Select(discriminator) => {
            let Kind::Union(node) = ty.kind() else { return };
            let (present, _) = selection(ty, value);
            let is_same = match (node.selected_by(present), node.selected_by(discriminator)) {
                (Some(one), Some(other)) => std::ptr::eq(one, other),
                _ => false,
            };
            match value {
                Value::Union(selection) if is_same => selection.discriminator = discriminator,
                value => *value = Value::Union(Box::new(Selection { discriminator, value: Value::Default })),
            }
        }
        Edit::Push(new) => {
            let Some(element) = element_type(ty) else { return };
            make_elements(ty, element, value);
            match value {
                Value::Run(run) => {
                    let end = run.len();
                    run.resize(end + 1);
                    run.set(end, raw_bits(&new));
                }
                Value::List(list) => {
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
                Value::Run(run) => run.resize(len as usize),
                Value::List(list) => {
                    list.items.truncate(len as usize);
                    list.len = len;
                }
                _ => {}
            }
        }
    }
}
