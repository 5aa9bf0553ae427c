//! Encodes a value by its type. The bytes equal those of a derived type of the same structure (XTYPES 1.3, 7.4.3).

use super::access::selection;
use super::graph::{CaseNode, MemberNode, NodeKind, PrimitiveKind, StructNode, TypeView, UnionNode};
use super::value::{DEFAULT, Primitives, Value};
use crate::cdr::primitive::Number;
use crate::cdr::shape::Shape;
use crate::cdr::{Encode, EncodeError, Encoder, Extensibility, LengthCode};

/// The encoded members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberSet {
    /// All members.
    All,
    /// The key members, or all members if the type marks none.
    Key,
}

/// Encodes a value.
pub(super) fn encode(ty: TypeView<'_>, value: &Value, set: MemberSet, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match ty.kind() {
        NodeKind::Primitive(kind) => encode_primitive(*kind, value, e),
        NodeKind::String { bound } => {
            if let Some(bound) = bound {
                e.check_bound(value.text().len(), *bound)?;
            }
            value.text().encode(e)
        }
        NodeKind::WString { bound } => {
            if let Some(bound) = bound {
                e.check_bound(value.text().encode_utf16().count(), *bound)?;
            }
            e.wide_text(value.text())
        }
        NodeKind::Enum(node) => encode_bits(node.size(), value.bits(ty.default_bits()), e),
        NodeKind::Bitmask(node) => e.bits(value.bits(0), node.bit_bound),
        NodeKind::Bitset(node) => e.bits(value.bits(0), node.bit_bound()),
        NodeKind::Sequence { bound, element } => {
            let (element, len) = (ty.at(element.ty), super::access::len(ty, value));
            if let Some(bound) = bound {
                e.check_bound(len, *bound)?;
            }
            e.collection(element.primitive_size().is_some(), |e| {
                e.length(len)?;
                encode_elements(element, value, len, set, e)
            })
        }
        NodeKind::Array { .. } => {
            let (_, innermost) = ty.dimensions();
            e.collection(innermost.primitive_size().is_some(), |e| encode_dimensions(ty, value, set, e))
        }
        NodeKind::Map { bound, key, element } => {
            let (key, element) = (ty.at(key.ty), ty.at(element.ty));
            let entries = value.entries();
            if let Some(bound) = bound {
                e.check_bound(entries.len(), *bound)?;
            }
            let is_of_primitives = key.primitive_size().is_some() && element.primitive_size().is_some();
            e.collection(is_of_primitives, |e| {
                e.length(entries.len())?;
                for (one, other) in entries {
                    // A map in a key counts as a whole.
                    encode(key, one, MemberSet::All, e)?;
                    encode(element, other, MemberSet::All, e)?;
                }
                Ok(())
            })
        }
        NodeKind::Struct(node) => framed(node.extensibility, e, |e| encode_struct(ty, node, value, set, e)),
        NodeKind::Union(node) => framed(node.extensibility, e, |e| encode_union(ty, node, value, set, e)),
        NodeKind::Alias { .. } => {
            debug_assert!(false, "`kind` resolves aliases");
            Ok(())
        }
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
    set: MemberSet,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    match (value, element.primitive_size()) {
        (Value::Primitives(run), _) => encode_run(run, e),
        // A default array of numbers has no stored elements.
        (_, Some(size)) => {
            if len > 0 {
                e.align(size);
            }
            let mut left = len.saturating_mul(size);
            while left > 0 {
                // In parts, because the length of the array comes from a type that a peer described.
                let zeros = [0; 256];
                let taken = left.min(zeros.len());
                e.bytes(zeros.get(..taken).unwrap_or_default());
                left -= taken;
            }
            Ok(())
        }
        (Value::List(list), None) => {
            // The last elements may be defaults, which are not stored.
            for index in 0..len {
                encode(element, list.items.get(index).unwrap_or(&DEFAULT), set, e)?;
            }
            Ok(())
        }
        (_, None) => {
            for _ in 0..len {
                encode(element, &DEFAULT, set, e)?;
            }
            Ok(())
        }
    }
}

fn encode_run(run: &Primitives, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match run {
        Primitives::Of1(run) => e.numbers(run),
        Primitives::Of2(run) => e.numbers(run),
        Primitives::Of4(run) => e.numbers(run),
        Primitives::Of8(run) => e.numbers(run),
        Primitives::Of16(run) => {
            let order = e.order();
            for bits in run {
                e.number(bits.to_bytes(order));
            }
        }
    }
    Ok(())
}

/// Encodes nested arrays as one array of several dimensions.
fn encode_dimensions(ty: TypeView<'_>, value: &Value, set: MemberSet, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let NodeKind::Array { length, element } = ty.kind() else { return encode(ty, value, set, e) };
    let element = ty.at(element.ty);
    // Arrays of arrays are one array on the wire, so only the outermost one has a DHEADER.
    if !matches!(element.kind(), NodeKind::Array { .. }) {
        return encode_elements(element, value, *length as usize, set, e);
    }
    let items: &[Value] = if let Value::List(list) = value { &list.items } else { &[] };
    for index in 0..*length as usize {
        encode_dimensions(element, items.get(index).unwrap_or(&DEFAULT), set, e)?;
    }
    Ok(())
}

fn encode_struct(
    ty: TypeView<'_>,
    node: &StructNode,
    value: &Value,
    set: MemberSet,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    let is_mutable = node.extensibility == Extensibility::Mutable;
    // A key is encoded in the order of member ids where the encoding requires that.
    if set == MemberSet::Key && e.keys_by_id() && !node.ids_ascend {
        for (_, index) in &node.by_id {
            let Some(member) = node.members.get(*index as usize) else {
                debug_assert!(false, "each id belongs to a member");
                continue;
            };
            if node.is_part(member) {
                let kept = value.member(*index).or(member.default.as_ref());
                encode_member((ty.at(member.ty), member), kept, is_mutable, set, e)?;
            }
        }
        return Ok(());
    }
    for (member, index) in node.members.iter().zip(0..) {
        if set == MemberSet::All || node.is_part(member) {
            let kept = value.member(index).or(member.default.as_ref());
            encode_member((ty.at(member.ty), member), kept, is_mutable, set, e)?;
        }
    }
    Ok(())
}

/// Encodes a member. `kept` is its stored value, if any.
fn encode_member(
    (ty, member): (TypeView<'_>, &MemberNode),
    kept: Option<&Value>,
    is_mutable: bool,
    set: MemberSet,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    // An optional member cannot be marked as a key. If it belongs to a key, all of it does.
    let set = if member.is_optional { MemberSet::All } else { set };
    if member.is_optional && (!is_mutable || e.counts_as_final()) {
        // A flag in XCDR2, a parameter header in XCDR1. A mutable struct has a header of its own.
        let frame = e.enter_optional(member.id, kept.is_some())?;
        if let Some(value) = kept {
            encode(ty, value, set, e)?;
        }
        return e.leave_optional(frame, kept.is_some());
    }
    let value = match kept {
        Some(value) => value,
        // An absent member of a mutable struct is not in the list.
        None if member.is_optional => return Ok(()),
        None => &DEFAULT,
    };
    if is_mutable {
        return e.member(member.id, member.must_understand, length_code(ty), |e| encode(ty, value, set, e));
    }
    encode(ty, value, set, e)
}

fn encode_union(
    ty: TypeView<'_>,
    node: &UnionNode,
    value: &Value,
    set: MemberSet,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    let is_mutable = node.extensibility == Extensibility::Mutable;
    let (discriminator, value) = selection(ty, value);
    let of = ty.at(node.discriminator);
    let size = of.number_size().unwrap_or(1);
    if is_mutable {
        // The discriminator of a mutable union is member 0.
        e.member(0, false, length_code(of), |e| encode_bits(size, discriminator as u64, e))?;
    } else {
        encode_bits(size, discriminator as u64, e)?;
    }
    // The discriminator alone is the key.
    if set == MemberSet::Key && node.has_key {
        return Ok(());
    }
    let Some(CaseNode { id, ty: Some(member), .. }) = node.selected_by(discriminator) else { return Ok(()) };
    let member = ty.at(*member);
    if is_mutable {
        return e.member(*id, false, length_code(member), |e| encode(member, value, set, e));
    }
    encode(member, value, set, e)
}

/// The length code of a type in a member header of XCDR2, equal to that of derived types.
fn length_code(ty: TypeView<'_>) -> LengthCode {
    if let Some(size) = ty.number_size() {
        return LengthCode::of_number(size);
    }
    match ty.kind() {
        NodeKind::String { .. } | NodeKind::WString { .. } => LengthCode::Shared1,
        NodeKind::Sequence { element, .. } => {
            let element = ty.at(element.ty);
            length_code(element).of_sequence(element.primitive_size().is_some())
        }
        NodeKind::Array { .. } => LengthCode::of_array(ty.dimensions().1.primitive_size().is_some()),
        NodeKind::Map { key, element, .. } => {
            let is_of_primitives =
                ty.at(key.ty).primitive_size().is_some() && ty.at(element.ty).primitive_size().is_some();
            LengthCode::of_array(is_of_primitives)
        }
        _ => LengthCode::NextInt,
    }
}
