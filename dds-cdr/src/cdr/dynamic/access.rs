//! Follows a path to a part of a value, step by step.

use super::DataError;
use super::convert::{check_bound, value_of};
use super::graph::{MemberNode, NodeKind, PrimitiveKind, TypeView, UnionNode, low_bits};
use super::input::{Input, InputValue};
use super::path::{PathStep, bracket_text};
use super::value::{DEFAULT, Value};
use crate::cdr::shape::Shape;

/// The type of the target of a step.
pub(super) enum TargetType<'t> {
    /// A value of this type.
    Value(TypeView<'t>),
    /// Bits of the number that the step started at.
    Bits { position: u8, bit_count: u8, is_flag: bool, is_signed: bool },
}

/// The target of a step in a value.
pub(super) enum Target<'t, 'v> {
    /// A stored value, or its default.
    Value(TypeView<'t>, &'v Value),
    /// An element of an array of primitives.
    Number(TypeView<'t>, u128),
    /// Bits of a number.
    Bits { bits: u64, bit_count: u8, is_flag: bool, is_signed: bool },
    /// No value is present. It would have this type.
    Missing(TypeView<'t>, DataError),
}

pub(super) fn member_of<'t>(ty: TypeView<'t>, step: PathStep<'_>) -> Result<(u32, &'t MemberNode), DataError> {
    let NodeKind::Struct(node) = ty.kind() else { return Err(no_member(ty, step)) };
    let found = match step {
        PathStep::Name(name) => node.member_of_name(name),
        PathStep::Id(id) => node.member_of_id(id),
        PathStep::Bracket { .. } => None,
    };
    match found {
        Some(found) => Ok(found),
        None => Err(no_member(ty, step)),
    }
}

fn no_member(ty: TypeView<'_>, step: PathStep<'_>) -> DataError {
    let member = match step {
        PathStep::Name(name) => name.to_owned(),
        PathStep::Id(id) => format!("member {id}"),
        PathStep::Bracket { text, .. } => format!("[{text}]"),
    };
    DataError::NoMember { ty: ty.node().name.to_string(), member }
}

/// The case of a union that a step selects.
pub(super) fn case_of<'t>(
    ty: TypeView<'t>,
    node: &'t UnionNode,
    step: PathStep<'_>,
) -> Result<(usize, TypeView<'t>), DataError> {
    for (index, case) in node.cases.iter().enumerate() {
        let is_case = match step {
            PathStep::Name(name) => *case.name == *name,
            // A case without a member has no id.
            PathStep::Id(id) => case.id == id && case.ty.is_some(),
            PathStep::Bracket { .. } => false,
        };
        if is_case {
            let Some(member) = case.ty else { break };
            return Ok((index, ty.at(member)));
        }
    }
    Err(no_member(ty, step))
}

/// The discriminator and the member value of a union.
pub(super) fn selection<'v>(ty: TypeView<'_>, value: &'v Value) -> (i64, &'v Value) {
    match (value, ty.kind()) {
        (Value::Union(selection), _) => (selection.discriminator, &selection.value),
        (_, NodeKind::Union(node)) => (default_discriminator(ty, node), &DEFAULT),
        _ => (0, &DEFAULT),
    }
}

/// The discriminator of a new union: the default of its type if that selects a case, or the first label.
fn default_discriminator(ty: TypeView<'_>, node: &UnionNode) -> i64 {
    let default = ty.at(node.discriminator).default_bits() as i64;
    if node.selected_by(default).is_some() {
        return default;
    }
    // The default of the discriminator selects nothing, so the first case is the default of the union.
    match node.cases.first() {
        Some(case) => case.labels.first().copied().unwrap_or(default),
        None => default,
    }
}

/// A discriminator that selects this case. `present`, the current one, is preferred.
pub(super) fn discriminator_of(ty: TypeView<'_>, node: &UnionNode, case: usize, present: i64) -> Option<i64> {
    let selects = |discriminator: i64| {
        let selected = node.selected_by(discriminator)?;
        std::ptr::eq(selected, node.cases.get(case)?).then_some(discriminator)
    };
    // The present discriminator stays if it can, because it may carry a meaning of its own.
    if let Some(present) = selects(present) {
        return Some(present);
    }
    for label in &node.cases.get(case)?.labels {
        if let Some(label) = selects(*label) {
            return Some(label);
        }
    }
    // The default case: use a discriminator without a label, for numbers the smallest. Of one number more than there
    // are labels, at least one is free.
    let mut count = 0;
    for case in &node.cases {
        count += case.labels.len() as i64;
    }
    let discriminator = ty.at(node.discriminator);
    match discriminator.kind() {
        NodeKind::Enum(node) => node.literals.iter().map(|literal| i64::from(literal.value)).find_map(selects),
        NodeKind::Primitive(kind) => {
            let most = match kind {
                PrimitiveKind::Bool => 1,
                kind => match kind.range() {
                    Some((_, most)) => i64::try_from(most).unwrap_or(i64::MAX),
                    // A char: 256 values are more than any union has labels of that kind.
                    None => 0xff,
                },
            };
            (0..=count.min(most)).find_map(selects)
        }
        NodeKind::Bitmask(node) => (0..=count).filter(|number| node.has_room_for(*number)).find_map(selects),
        _ => None,
    }
}

/// The key of a map that a step selects.
pub(super) fn key_of(key: TypeView<'_>, step: PathStep<'_>) -> Option<Value> {
    let PathStep::Bracket { text, is_quoted } = step else { return None };
    let text = &*bracket_text(text, is_quoted);
    let given = match (key.kind(), is_quoted) {
        (NodeKind::String { .. } | NodeKind::WString { .. } | NodeKind::Enum(_), _) => {
            InputValue::Text(text.to_owned())
        }
        (NodeKind::Primitive(PrimitiveKind::Bool), false) => InputValue::Bool(text.parse().ok()?),
        (NodeKind::Primitive(PrimitiveKind::Char8 | PrimitiveKind::Char16), _) => {
            let mut letters = text.chars();
            match (letters.next()?, letters.next()) {
                (letter, None) => InputValue::Char(letter),
                // Half of a surrogate pair is no character, and has its number instead.
                _ if !is_quoted => InputValue::Int(text.parse().ok()?),
                _ => return None,
            }
        }
        // A quoted number is text, and no key of a number.
        (_, false) => InputValue::Int(text.parse().ok()?),
        _ => return None,
    };
    value_of(key, Input(given)).ok()
}

/// Whether two keys of a map are equal.
pub(super) fn is_same_key(key: TypeView<'_>, one: &Value, other: &Value) -> bool {
    match key.kind() {
        NodeKind::String { .. } | NodeKind::WString { .. } => one.text() == other.text(),
        _ => one.bits(key.default_bits()) == other.bits(key.default_bits()),
    }
}

pub(super) fn index_of(ty: TypeView<'_>, step: PathStep<'_>) -> Result<usize, DataError> {
    match step {
        PathStep::Bracket { text, is_quoted: false } => match text.parse() {
            Ok(index) => Ok(index),
            Err(_) => Err(no_member(ty, step)),
        },
        _ => Err(no_member(ty, step)),
    }
}

/// The number of elements of a collection.
pub(super) fn len(ty: TypeView<'_>, value: &Value) -> usize {
    match (value, ty.kind()) {
        (_, NodeKind::Array { length, .. }) => *length as usize,
        (Value::Primitives(run), _) => run.len(),
        (Value::List(list), _) => list.len as usize,
        (Value::Map(entries), _) => entries.len(),
        _ => 0,
    }
}

/// Follows one step.
pub(super) fn step<'t, 'v>(ty: TypeView<'t>, value: &'v Value, step: PathStep<'_>) -> Result<Target<'t, 'v>, DataError>
where
    't: 'v,
{
    match ty.kind() {
        NodeKind::Struct(_) => {
            let (index, member) = member_of(ty, step)?;
            let at = ty.at(member.ty);
            Ok(match value.member(index) {
                Some(value) => Target::Value(at, value),
                // Only an optional member can be absent. Any other has its default.
                None if member.is_optional && member.default.is_none() => {
                    Target::Missing(at, DataError::Absent { member: member.name.to_string() })
                }
                None => Target::Value(at, member.default.as_ref().unwrap_or(&DEFAULT)),
            })
        }
        NodeKind::Union(node) => {
            let (case, at) = case_of(ty, node, step)?;
            let (discriminator, value) = selection(ty, value);
            let is_selected = discriminator_of(ty, node, case, discriminator) == Some(discriminator);
            if is_selected {
                return Ok(Target::Value(at, value));
            }
            let Some(case) = node.cases.get(case) else { return Err(no_member(ty, step)) };
            Ok(Target::Missing(at, DataError::NotSelected { member: case.name.to_string(), discriminator }))
        }
        NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. } => {
            let (index, len) = (index_of(ty, step)?, len(ty, value));
            if index >= len {
                return Err(DataError::NoElement { index, len });
            }
            Ok(element_at(ty.at(element.ty), value, index))
        }
        NodeKind::Map { key, element, .. } => {
            let key = ty.at(key.ty);
            let Some(wanted) = key_of(key, step) else { return Err(no_member(ty, step)) };
            let found = value.entries().iter().find(|(other, _)| is_same_key(key, other, &wanted));
            let at = ty.at(element.ty);
            Ok(match found {
                Some((_, value)) => Target::Value(at, value),
                None => {
                    let PathStep::Bracket { text, is_quoted } = step else { return Err(no_member(ty, step)) };
                    Target::Missing(at, DataError::NoKey { key: bracket_text(text, is_quoted).into_owned() })
                }
            })
        }
        NodeKind::Bitmask(_) | NodeKind::Bitset(_) => match part_of_bits(ty, step)? {
            TargetType::Bits { position, bit_count, is_flag, is_signed } => {
                let bits = value.bits(0) >> position & low_bits(bit_count);
                Ok(Target::Bits { bits, bit_count, is_flag, is_signed })
            }
            TargetType::Value(_) => Err(no_member(ty, step)),
        },
        _ => Err(no_member(ty, step)),
    }
}

/// The element at an index below the length.
pub(super) fn element_at<'t, 'v>(element: TypeView<'t>, value: &'v Value, index: usize) -> Target<'t, 'v> {
    match value {
        Value::Primitives(run) => Target::Number(element, run.get(index).unwrap_or(0)),
        Value::List(list) => Target::Value(element, list.items.get(index).unwrap_or(&DEFAULT)),
        // A default array stores no elements.
        _ if element.primitive_size().is_some() => Target::Number(element, 0),
        _ => Target::Value(element, &DEFAULT),
    }
}

pub(super) fn part_of_bits<'t>(ty: TypeView<'t>, step: PathStep<'_>) -> Result<TargetType<'t>, DataError> {
    let PathStep::Name(name) = step else { return Err(no_member(ty, step)) };
    match ty.kind() {
        NodeKind::Bitmask(node) => {
            for flag in &node.flags {
                if *flag.name == *name {
                    let position = flag.position;
                    return Ok(TargetType::Bits { position, bit_count: 1, is_flag: true, is_signed: false });
                }
            }
        }
        NodeKind::Bitset(node) => {
            for field in &node.fields {
                if *field.name == *name {
                    let (position, bit_count, is_signed) = (field.position, field.bit_count, field.is_signed);
                    return Ok(TargetType::Bits { position, bit_count, is_flag: false, is_signed });
                }
            }
        }
        _ => {}
    }
    Err(no_member(ty, step))
}

/// The type of the part at a path, whether the part exists in `value` or can be created.
pub(super) fn type_at<'t>(
    ty: TypeView<'t>,
    value: &Value,
    steps: &[PathStep<'_>],
) -> Result<TargetType<'t>, DataError> {
    let (mut ty, mut value) = (ty, value);
    for (index, next) in steps.iter().enumerate() {
        let is_last = index + 1 == steps.len();
        match step(ty, value, *next)? {
            Target::Value(at, found) => (ty, value) = (at, found),
            // An edit would create the part. Check that the collection has room and that the case can be selected.
            Target::Missing(at, _) => {
                if let NodeKind::Map { bound, .. } = ty.kind() {
                    check_bound(*bound, value.entries().len() + 1)?;
                }
                if let NodeKind::Union(node) = ty.kind() {
                    let (case, _) = case_of(ty, node, *next)?;
                    let present = selection(ty, value).0;
                    discriminator_of(ty, node, case, present).ok_or(DataError::NoCase { discriminator: present })?;
                }
                (ty, value) = (at, &DEFAULT);
            }
            Target::Number(at, _) if is_last => return Ok(TargetType::Value(at)),
            Target::Bits { .. } if is_last => return part_of_bits(ty, *next),
            Target::Number(at, _) => return Err(no_member(at, *next)),
            Target::Bits { .. } => return Err(no_member(ty, *next)),
        }
    }
    Ok(TargetType::Value(ty))
}

/// Whether a path ends at an optional member.
pub(super) fn is_optional(ty: TypeView<'_>, steps: &[PathStep<'_>]) -> bool {
    let Some((last, parents)) = steps.split_last() else { return false };
    let mut parent = ty;
    for step in parents {
        // A path that leads nowhere is reported by the operation itself.
        parent = match parent.kind() {
            NodeKind::Struct(_) => {
                let Ok((_, member)) = member_of(parent, *step) else { return false };
                parent.at(member.ty)
            }
            NodeKind::Union(node) => {
                let Ok((_, member)) = case_of(parent, node, *step) else { return false };
                member
            }
            _ => {
                let Some(element) = element_type(parent) else { return false };
                element
            }
        };
    }
    match member_of(parent, *last) {
        Ok((_, member)) => member.is_optional,
        Err(_) => false,
    }
}

/// The type of the elements of a collection.
pub(super) fn element_type(ty: TypeView<'_>) -> Option<TypeView<'_>> {
    match ty.kind() {
        NodeKind::Sequence { element, .. } | NodeKind::Array { element, .. } | NodeKind::Map { element, .. } => {
            Some(ty.at(element.ty))
        }
        _ => None,
    }
}
