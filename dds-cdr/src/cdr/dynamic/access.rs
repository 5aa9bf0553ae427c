//! The way to a part of a value, step by step.

use super::DataError;
use super::give::{check_bound, value_of};
use super::graph::{Kind, Member, PrimitiveKind, TypeView, UnionNode, low_bits};
use super::input::{Given, Input};
use super::path::Step;
use super::value::{DEFAULT, Value};
use crate::cdr::shape::Shape;

/// What a step leads to.
pub(super) enum Part<'t> {
    /// A value of this type.
    Value(TypeView<'t>),
    /// Some bits of the number that the step began at, with or without a sign.
    Bits { position: u8, bit_count: u8, is_flag: bool, is_signed: bool },
}

/// Where a step of a value leads to: whether or not it is there.
pub(super) enum Found<'t, 'v> {
    /// A value that is kept, or what stands for one.
    Value(TypeView<'t>, &'v Value),
    /// A primitive in a run.
    Number(TypeView<'t>, u128),
    /// Some bits of a number.
    Bits { bits: u64, bit_count: u8, is_flag: bool, is_signed: bool },
    /// Nothing is there; it would be of this type, if it were.
    Nothing(TypeView<'t>, DataError),
}

pub(super) fn member_of<'t>(ty: TypeView<'t>, step: Step<'_>) -> Result<(u32, &'t Member), DataError> {
    let Kind::Struct(node) = ty.kind() else { return Err(no_member(ty, step)) };
    let found = match step {
        Step::Name(name) => node.member_of_name(name),
        Step::Id(id) => node.member_of_id(id),
        Step::Bracket { .. } => None,
    };
    found.ok_or_else(|| no_member(ty, step))
}

fn no_member(ty: TypeView<'_>, step: Step<'_>) -> DataError {
    let member = match step {
        Step::Name(name) => name.to_owned(),
        Step::Id(id) => format!("member {id}"),
        Step::Bracket { text, .. } => format!("[{text}]"),
    };
    DataError::NoMember { ty: ty.node().name.to_string(), member }
}

/// The case of a union that a step names.
pub(super) fn case_of<'t>(
    ty: TypeView<'t>,
    node: &'t UnionNode,
    step: Step<'_>,
) -> Result<(usize, TypeView<'t>), DataError> {
    let is_case = |case: &super::graph::Case| match step {
        Step::Name(name) => *case.name == *name,
        Step::Id(id) => case.id == id && case.ty.is_some(),
        Step::Bracket { .. } => false,
    };
    let found = node.cases.iter().position(is_case).ok_or_else(|| no_member(ty, step))?;
    let case = node.cases.get(found).and_then(|case| case.ty);
    case.map(|index| (found, ty.at(index))).ok_or_else(|| no_member(ty, step))
}

/// The discriminator that a union has, and its value.
pub(super) fn selection<'v>(ty: TypeView<'_>, value: &'v Value) -> (i64, &'v Value) {
    match (value, ty.kind()) {
        (Value::Union(selection), _) => (selection.discriminator, &selection.value),
        (_, Kind::Union(node)) => (default_discriminator(ty, node), &DEFAULT),
        _ => (0, &DEFAULT),
    }
}

/// The discriminator that a union has at first: the default of its type, or else the first label there is.
fn default_discriminator(ty: TypeView<'_>, node: &UnionNode) -> i64 {
    let first = ty.at(node.discriminator).default_bits() as i64;
    let first_label = || node.cases.first().and_then(|case| case.labels.first().copied());
    if node.selected_by(first).is_some() { first } else { first_label().unwrap_or(first) }
}

/// Some discriminator that selects this case, of which `present` is the union's.
pub(super) fn discriminator_of(ty: TypeView<'_>, node: &UnionNode, case: usize, present: i64) -> Option<i64> {
    let selects = |discriminator: i64| {
        let selected = node.selected_by(discriminator)?;
        std::ptr::eq(selected, node.cases.get(case)?).then_some(discriminator)
    };
    let labels = node.cases.get(case)?.labels.iter().copied();
    let first = selects(present).or_else(|| labels.clone().find_map(selects));
    if first.is_some() {
        return first;
    }
    // One that no case has: of numbers, the smallest.
    let count = node.cases.iter().map(|case| case.labels.len()).sum::<usize>() as i64;
    let discriminator = ty.at(node.discriminator);
    match discriminator.kind() {
        Kind::Enum(node) => node.literals.iter().map(|literal| i64::from(literal.value)).find_map(selects),
        Kind::Primitive(kind) => {
            let most = match kind {
                PrimitiveKind::Bool => 1,
                kind => kind.range().map_or(0xff, |(_, most)| i64::try_from(most).unwrap_or(i64::MAX)),
            };
            (0..=count.min(most)).find_map(selects)
        }
        _ => None,
    }
}

/// The key of a map that a step names.
pub(super) fn key_of(key: TypeView<'_>, step: Step<'_>) -> Option<Value> {
    let Step::Bracket { text, is_quoted } = step else { return None };
    let given = match (key.kind(), is_quoted) {
        (Kind::String { .. } | Kind::WString { .. } | Kind::Enum(_), _) => Given::Text(text.to_owned()),
        (Kind::Primitive(PrimitiveKind::Bool), false) => Given::Bool(text.parse().ok()?),
        (Kind::Primitive(PrimitiveKind::Char8 | PrimitiveKind::Char16), _) => {
            let mut letters = text.chars();
            let letter = letters.next()?;
            letters.next().is_none().then_some(Given::Char(letter))?
        }
        (_, false) => Given::Int(text.parse().ok()?),
        _ => return None,
    };
    value_of(key, Input(given)).ok()
}

/// Whether two keys of a map are the same.
pub(super) fn is_same_key(key: TypeView<'_>, one: &Value, other: &Value) -> bool {
    match key.kind() {
        Kind::String { .. } | Kind::WString { .. } => one.text() == other.text(),
        _ => one.bits(key.default_bits()) == other.bits(key.default_bits()),
    }
}

pub(super) fn index_of(ty: TypeView<'_>, step: Step<'_>) -> Result<usize, DataError> {
    match step {
        Step::Bracket { text, is_quoted: false } => text.parse().map_err(|_| no_member(ty, step)),
        _ => Err(no_member(ty, step)),
    }
}

/// How many elements a sequence or array has.
pub(super) fn len(ty: TypeView<'_>, value: &Value) -> usize {
    match (value, ty.kind()) {
        (_, Kind::Array { length, .. }) => *length as usize,
        (Value::Run(run), _) => run.len(),
        (Value::List(list), _) => list.len as usize,
        (Value::Map(entries), _) => entries.len(),
        _ => 0,
    }
}

/// Goes one step.
pub(super) fn step<'t, 'v>(ty: TypeView<'t>, value: &'v Value, step: Step<'_>) -> Result<Found<'t, 'v>, DataError>
where
    't: 'v,
{
    match ty.kind() {
        Kind::Struct(_) => {
            let (index, member) = member_of(ty, step)?;
            let at = ty.at(member.ty);
            Ok(match value.member(index) {
                Some(value) => Found::Value(at, value),
                None if member.is_optional && member.default.is_none() => {
                    Found::Nothing(at, DataError::Absent { member: member.name.to_string() })
                }
                None => Found::Value(at, member.default.as_ref().unwrap_or(&DEFAULT)),
            })
        }
        Kind::Union(node) => {
            let (case, at) = case_of(ty, node, step)?;
            let (discriminator, value) = selection(ty, value);
            let is_selected = discriminator_of(ty, node, case, discriminator) == Some(discriminator);
            Ok(match is_selected {
                true => Found::Value(at, value),
                false => {
                    let member = node.cases.get(case).map(|case| case.name.to_string()).unwrap_or_default();
                    Found::Nothing(at, DataError::NotSelected { member, discriminator })
                }
            })
        }
        Kind::Sequence { element, .. } | Kind::Array { element, .. } => {
            let (index, len) = (index_of(ty, step)?, len(ty, value));
            if index >= len {
                return Err(DataError::NoElement { index, len });
            }
            Ok(element_at(ty.at(element.ty), value, index))
        }
        Kind::Map { key, element, .. } => {
            let key = ty.at(key.ty);
            let wanted = key_of(key, step).ok_or_else(|| no_member(ty, step))?;
            let found = value.entries().iter().find(|(other, _)| is_same_key(key, other, &wanted));
            let at = ty.at(element.ty);
            Ok(match found {
                Some((_, value)) => Found::Value(at, value),
                None => {
                    let Step::Bracket { text, .. } = step else { return Err(no_member(ty, step)) };
                    Found::Nothing(at, DataError::NoKey { key: text.to_owned() })
                }
            })
        }
        Kind::Bitmask(_) | Kind::Bitset(_) => match part_of_bits(ty, step)? {
            Part::Bits { position, bit_count, is_flag, is_signed } => {
                let bits = value.bits(0) >> position & low_bits(bit_count);
                Ok(Found::Bits { bits, bit_count, is_flag, is_signed })
            }
            Part::Value(_) => Err(no_member(ty, step)),
        },
        _ => Err(no_member(ty, step)),
    }
}

/// An element that is there.
pub(super) fn element_at<'t, 'v>(element: TypeView<'t>, value: &'v Value, index: usize) -> Found<'t, 'v> {
    match value {
        Value::Run(run) => Found::Number(element, run.get(index).unwrap_or(0)),
        Value::List(list) => Found::Value(element, list.items.get(index).unwrap_or(&DEFAULT)),
        _ if element.primitive_size().is_some() => Found::Number(element, 0),
        _ => Found::Value(element, &DEFAULT),
    }
}

pub(super) fn part_of_bits<'t>(ty: TypeView<'t>, step: Step<'_>) -> Result<Part<'t>, DataError> {
    let Step::Name(name) = step else { return Err(no_member(ty, step)) };
    let part = match ty.kind() {
        Kind::Bitmask(node) => {
            let flag = node.flags.iter().find(|flag| *flag.name == *name);
            flag.map(|flag| Part::Bits { position: flag.position, bit_count: 1, is_flag: true, is_signed: false })
        }
        Kind::Bitset(node) => {
            let field = node.fields.iter().find(|field| *field.name == *name);
            field.map(|field| Part::Bits {
                position: field.position,
                bit_count: field.bit_count,
                is_flag: false,
                is_signed: field.is_signed,
            })
        }
        _ => None,
    };
    part.ok_or_else(|| no_member(ty, step))
}

/// The type of what a path leads to, whether it is there or may be made. `value` is what is there.
pub(super) fn place_of<'t>(ty: TypeView<'t>, value: &Value, steps: &[Step<'_>]) -> Result<Part<'t>, DataError> {
    let (mut ty, mut value) = (ty, value);
    for (index, next) in steps.iter().enumerate() {
        let is_last = index + 1 == steps.len();
        match step(ty, value, *next)? {
            Found::Value(at, found) => (ty, value) = (at, found),
            // A bound is kept when a key is added.
            Found::Nothing(at, _) => {
                if let Kind::Map { bound, .. } = ty.kind() {
                    check_bound(*bound, value.entries().len() + 1)?;
                }
                if let Kind::Union(node) = ty.kind() {
                    let (case, _) = case_of(ty, node, *next)?;
                    let present = selection(ty, value).0;
                    discriminator_of(ty, node, case, present).ok_or(DataError::NoCase { discriminator: present })?;
                }
                (ty, value) = (at, &DEFAULT);
            }
            Found::Number(at, _) if is_last => return Ok(Part::Value(at)),
            Found::Bits { .. } if is_last => return part_of_bits(ty, *next),
            Found::Number(at, _) => return Err(no_member(at, *next)),
            Found::Bits { .. } => return Err(no_member(ty, *next)),
        }
    }
    Ok(Part::Value(ty))
}

/// Whether a path ends at an optional member, of which `place_of` has found that it is one.
pub(super) fn is_optional(ty: TypeView<'_>, steps: &[Step<'_>]) -> bool {
    let Some((last, way)) = steps.split_last() else { return false };
    let parent = way.iter().try_fold(ty, |ty, next| match ty.kind() {
        Kind::Struct(_) => member_of(ty, *next).ok().map(|(_, member)| ty.at(member.ty)),
        Kind::Union(node) => case_of(ty, node, *next).ok().map(|(_, at)| at),
        _ => element_type(ty),
    });
    parent.and_then(|parent| member_of(parent, *last).ok()).is_some_and(|(_, member)| member.is_optional)
}

/// What the elements of a collection are.
pub(super) fn element_type(ty: TypeView<'_>) -> Option<TypeView<'_>> {
    match ty.kind() {
        Kind::Sequence { element, .. } | Kind::Array { element, .. } | Kind::Map { element, .. } => {
            Some(ty.at(element.ty))
        }
        _ => None,
    }
}
