//! Writing a value along its type: the bytes are those that a derived type of the same structure has (XTYPES 1.3, 7.4.3).

use super::access::selection;
use super::graph::{Kind, Member, PrimitiveKind, StructNode, TypeView, UnionNode};
use super::value::{DEFAULT, Run, Value};
use crate::cdr::primitive::Number;
use crate::cdr::shape::Shape;
use crate::cdr::{Encode, EncodeError, Encoder, Extensibility, LengthCode};

/// What of a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// All of it.
    All,
    /// The members that make the key; all of them, if none is marked.
    Key,
}

/// Writes a value.
pub(super) fn encode(ty: TypeView<'_>, value: &Value, what: What, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match ty.kind() {
        Kind::Primitive(kind) => encode_primitive(*kind, value, e),
        Kind::String { bound } => {
            bound.map_or(Ok(()), |bound| e.check_bound(value.text().len(), bound))?;
            value.text().encode(e)
        }
        Kind::WString { bound } => {
            bound.map_or(Ok(()), |bound| e.check_bound(value.text().encode_utf16().count(), bound))?;
            e.wide_text(value.text())
        }
        Kind::Enum(node) => encode_bits(node.size(), value.bits(ty.default_bits()), e),
        Kind::Bitmask(node) => e.bits(value.bits(0), node.bit_bound),
        Kind::Bitset(node) => e.bits(value.bits(0), node.bit_bound()),
        Kind::Sequence { bound, element } => {
            bound.map_or(Ok(()), |bound| e.check_bound(super::access::len(ty, value), bound))?;
            let element = ty.at(element.ty);
            e.collection(element.primitive_size().is_some(), |e| {
                let len = super::access::len(ty, value);
                e.length(len)?;
                encode_elements(element, value, len, what, e)
            })
        }
        Kind::Array { .. } => {
            let (_, innermost) = ty.dimensions();
            e.collection(innermost.primitive_size().is_some(), |e| encode_dimensions(ty, value, what, e))
        }
        Kind::Map { bound, key, element } => {
            let (key, element) = (ty.at(key.ty), ty.at(element.ty));
            let entries = value.entries();
            bound.map_or(Ok(()), |bound| e.check_bound(entries.len(), bound))?;
            let is_of_primitives = key.primitive_size().is_some() && element.primitive_size().is_some();
            e.collection(is_of_primitives, |e| {
                e.length(entries.len())?;
                entries.iter().try_for_each(|(one, other)| {
                    encode(key, one, What::All, e)?;
                    encode(element, other, What::All, e)
                })
            })
        }
        Kind::Struct(node) => framed(node.extensibility, e, |e| encode_struct(ty, node, value, what, e)),
        Kind::Union(node) => framed(node.extensibility, e, |e| encode_union(ty, node, value, what, e)),
        // Its kind is that of what it is an alias of.
        Kind::Alias { .. } => Ok(()),
    }
}

fn framed(
    extensibility: Extensibility,
    e: &mut Encoder<'_>,
    members: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    match extensibility {
        Extensibility::Final => members(e),
        Extensibility::Appendable => e.appendable(members),
        Extensibility::Mutable => e.mutable(members),
    }
}

fn encode_primitive(kind: PrimitiveKind, value: &Value, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match kind.size() {
        16 => {
            let order = e.order();
            e.number(value.wide().to_bytes(order));
            Ok(())
        }
        size => encode_bits(size, value.bits(0), e),
    }
}

fn encode_bits(size: usize, bits: u64, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match size {
        1 => (bits as u8).encode(e),
        2 => (bits as u16).encode(e),
        4 => (bits as u32).encode(e),
        _ => bits.encode(e),
    }
}

fn encode_elements(
    element: TypeView<'_>,
    value: &Value,
    len: usize,
    what: What,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    match (value, element.primitive_size()) {
        (Value::Run(run), _) => encode_run(run, e),
        // An array of numbers that nothing was put into.
        (_, Some(size)) => {
            if len > 0 {
                e.align(size);
            }
            let mut left = len.saturating_mul(size);
            while left > 0 {
                let zeros = [0; 256];
                let taken = left.min(zeros.len());
                e.bytes(zeros.get(..taken).unwrap_or_default());
                left -= taken;
            }
            Ok(())
        }
        (Value::List(list), None) => {
            let items = list.items.iter().take(len);
            let rest = len.saturating_sub(items.len());
            items.chain(std::iter::repeat_n(&DEFAULT, rest)).try_for_each(|value| encode(element, value, what, e))
        }
        (_, None) => (0..len).try_for_each(|_| encode(element, &DEFAULT, what, e)),
    }
}

fn encode_run(run: &Run, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match run {
        Run::Of1(run) => e.numbers(run),
        Run::Of2(run) => e.numbers(run),
        Run::Of4(run) => e.numbers(run),
        Run::Of8(run) => e.numbers(run),
        Run::Of16(run) => {
            let order = e.order();
            run.iter().for_each(|bits| e.number(bits.to_bytes(order)));
        }
    }
    Ok(())
}

/// An array of arrays is one array of several dimensions.
fn encode_dimensions(ty: TypeView<'_>, value: &Value, what: What, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let Kind::Array { length, element } = ty.kind() else { return encode(ty, value, what, e) };
    let element = ty.at(element.ty);
    if !matches!(element.kind(), Kind::Array { .. }) {
        return encode_elements(element, value, *length as usize, what, e);
    }
    let items: &[Value] = if let Value::List(list) = value { &list.items } else { &[] };
    (0..*length as usize)
        .try_for_each(|index| encode_dimensions(element, items.get(index).unwrap_or(&DEFAULT), what, e))
}

fn encode_struct(
    ty: TypeView<'_>,
    node: &StructNode,
    value: &Value,
    what: What,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    let is_wanted = |member: &Member| what == What::All || node.is_part(member);
    let is_mutable = node.extensibility == Extensibility::Mutable;
    if what == What::Key && e.keys_by_id() && !node.ids_ascend {
        let members = node.by_id.iter().filter_map(|(_, index)| Some((*index, node.members.get(*index as usize)?)));
        let mut members = members.filter(|(_, member)| is_wanted(member));
        return members.try_for_each(|(index, member)| {
            let kept = value.member(index).or(member.default.as_ref());
            encode_member((ty.at(member.ty), member), kept, is_mutable, what, e)
        });
    }
    let mut members = node.members.iter().zip(0..).filter(|(member, _)| is_wanted(member));
    members.try_for_each(|(member, index)| {
        let kept = value.member(index).or(member.default.as_ref());
        encode_member((ty.at(member.ty), member), kept, is_mutable, what, e)
    })
}

/// Writes a member, of which `kept` is the value if it is not that which its type has at first.
fn encode_member(
    (ty, member): (TypeView<'_>, &Member),
    kept: Option<&Value>,
    is_mutable: bool,
    what: What,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    // A key has no optional members that are marked; what is not marked is a part as it is.
    let what = if member.is_optional { What::All } else { what };
    if member.is_optional && (!is_mutable || e.counts_as_final()) {
        let frame = e.enter_optional(member.id, kept.is_some())?;
        if let Some(value) = kept {
            encode(ty, value, what, e)?;
        }
        return e.leave_optional(frame);
    }
    let Some(value) = kept.or((!member.is_optional).then_some(&DEFAULT)) else { return Ok(()) };
    match is_mutable {
        true => e.member(member.id, member.must_understand, length_code(ty), |e| encode(ty, value, what, e)),
        false => encode(ty, value, what, e),
    }
}

fn encode_union(
    ty: TypeView<'_>,
    node: &UnionNode,
    value: &Value,
    what: What,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    let is_mutable = node.extensibility == Extensibility::Mutable;
    let (discriminator, value) = selection(ty, value);
    let of = ty.at(node.discriminator);
    let size = of.number_size().unwrap_or(1);
    match is_mutable {
        true => e.member(0, false, length_code(of), |e| encode_bits(size, discriminator as u64, e))?,
        false => encode_bits(size, discriminator as u64, e)?,
    }
    let case = node.selected_by(discriminator).and_then(|case| Some((case.id, ty.at(case.ty?))));
    match case {
        // The discriminator alone is the key.
        _ if what == What::Key && node.has_key => Ok(()),
        None => Ok(()),
        Some((id, member)) if is_mutable => {
            e.member(id, false, length_code(member), |e| encode(member, value, what, e))
        }
        Some((_, member)) => encode(member, value, what, e),
    }
}

/// How a member header of XCDR2 tells the length of values of a type, as derived types do it.
fn length_code(ty: TypeView<'_>) -> LengthCode {
    if let Some(size) = ty.number_size() {
        return LengthCode::of_number(size);
    }
    match ty.kind() {
        Kind::String { .. } | Kind::WString { .. } => LengthCode::Shared1,
        Kind::Sequence { element, .. } => {
            let element = ty.at(element.ty);
            length_code(element).of_sequence(element.primitive_size().is_some())
        }
        Kind::Array { .. } => LengthCode::of_array(ty.dimensions().1.primitive_size().is_some()),
        Kind::Map { key, element, .. } => {
            let is_of_primitives =
                ty.at(key.ty).primitive_size().is_some() && ty.at(element.ty).primitive_size().is_some();
            LengthCode::of_array(is_of_primitives)
        }
        _ => LengthCode::NextInt,
    }
}
