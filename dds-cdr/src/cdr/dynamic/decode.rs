//! Decodes a value by its type, with the limits of derived types.
//!
//! Bound: a value takes at most some hundred bytes of memory for each byte of input. Each stored part takes at least
//! one byte of input. Parts that take no bytes are not stored; [`Value::Default`] represents them. Nesting is limited
//! to [`DEPTH_MAX`] levels, and nesting of sequences and maps to [`NESTING_MAX`](crate::cdr::NESTING_MAX).

use super::access::is_same_key;
use super::encode::MemberSet;
use super::graph::{Element, EnumNode, MemberNode, NodeKind, PrimitiveKind, StructNode, TypeView, UnionNode, extended};
use super::value::{DEPTH_MAX, List, Primitives, UnionValue, Value};
use crate::cdr::construct::{bytes_of_units, whole_characters};
use crate::cdr::shape::Shape;
use crate::cdr::union::DISCRIMINATOR_ID;
use crate::cdr::walk::skip_value;
use crate::cdr::{Decode, DecodeError, DecodeErrorKind, Decoder, Extensibility, TryConstruct, WString};

/// Decodes a value, or the key members of a serialized key.
pub(super) fn decode(ty: TypeView<'_>, set: MemberSet, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
    ValueDecoder { set, level: 0 }.value(ty, false, d)
}

struct ValueDecoder {
    set: MemberSet,
    level: usize,
}

impl ValueDecoder {
    /// Decodes a value. With `is_trimmed`, a value that is too long is truncated.
    fn value(&mut self, ty: TypeView<'_>, is_trimmed: bool, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        self.level += 1;
        // The input controls the depth of recursive types, and the stack is finite.
        if self.level > DEPTH_MAX {
            return Err(d.error(DecodeErrorKind::NestingTooDeep));
        }
        let value = self.value_of_kind(ty, is_trimmed, d)?;
        self.level -= 1;
        Ok(value)
    }

    fn value_of_kind(&mut self, ty: TypeView<'_>, is_trimmed: bool, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        match ty.kind() {
            NodeKind::Primitive(kind) => primitive(*kind, d),
            NodeKind::String { bound } => {
                let mut text = <&str>::decode(d)?;
                match *bound {
                    Some(bound) if is_trimmed => text = text.get(..whole_characters(text, bound)).unwrap_or_default(),
                    Some(bound) => d.check_bound(text.len(), bound)?,
                    None => {}
                }
                Ok(Value::Text(text.to_owned()))
            }
            NodeKind::WString { bound } => {
                let mut text = WString::decode(d)?.into_string();
                match *bound {
                    Some(bound) if is_trimmed => text.truncate(bytes_of_units(&text, bound)),
                    Some(bound) => d.check_bound(text.encode_utf16().count(), bound)?,
                    None => {}
                }
                Ok(Value::Text(text))
            }
            NodeKind::Enum(node) => literal(ty, node, d),
            NodeKind::Bitmask(node) => d.bits(node.bit_bound).map(Value::Bits),
            NodeKind::Bitset(node) => d.bits(node.bit_bound()).map(Value::Bits),
            NodeKind::Sequence { bound, element } => self.sequence(ty, *bound, *element, is_trimmed, d),
            NodeKind::Array { .. } => {
                let (_, innermost) = ty.dimensions();
                // Several dimensions have one DHEADER, as in `encode_dimensions`.
                d.collection(innermost.primitive_size().is_some(), |d| self.dimensions(ty, d))
            }
            NodeKind::Map { bound, key, element } => {
                let mut entries = self.entries(ty, *key, *element, d)?;
                match *bound {
                    Some(bound) if is_trimmed => {
                        trim_entries(ty.at(key.ty), &mut entries, bound);
                    }
                    Some(bound) => d.check_bound(entries.len(), bound)?,
                    None => {}
                }
                Ok(Value::Map(entries))
            }
            NodeKind::Struct(node) => self.structure(ty, node, d),
            NodeKind::Union(node) => self.union(ty, node, d),
            NodeKind::Alias { .. } => {
                debug_assert!(false, "`kind` resolves aliases");
                Ok(Value::Default)
            }
        }
    }

    /// Decodes a value with its `try_construct` behavior. `None`: the value takes its default.
    fn value_or_default(
        &mut self,
        ty: TypeView<'_>,
        try_construct: TryConstruct,
        d: &mut Decoder<'_>,
    ) -> Result<Option<Value>, DecodeError> {
        if try_construct != TryConstruct::UseDefault {
            let value = self.value(ty, try_construct == TryConstruct::Trim, d)?;
            return Ok(Some(value));
        }
        // A value that cannot be held is skipped as a whole, from its start.
        let (start, level) = (d.clone(), self.level);
        match self.value(ty, false, d) {
            Err(error) if error.kind().is_of_value() => {
                // The failed attempt left some levels open.
                self.level = level;
                d.go_back_to(start);
                skip_value(ty, false, d)?;
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    fn sequence(
        &mut self,
        ty: TypeView<'_>,
        bound: Option<u32>,
        element: Element,
        is_trimmed: bool,
        d: &mut Decoder<'_>,
    ) -> Result<Value, DecodeError> {
        let mut value = match ty.at(element.ty).kind() {
            NodeKind::Primitive(kind) => {
                // Checked against the input before anything is allocated.
                let count = d.length(kind.size())?;
                Value::Primitives(run(*kind, count, d)?)
            }
            _ => d.nested(0, |d| {
                d.collection(false, |d| {
                    // An element may have no bytes. `list` stops at the first that takes none.
                    let len = d.length(0)?;
                    self.list(ty.at(element.ty), element.try_construct, len, d)
                })
            })?,
        };
        let len = super::access::len(ty, &value);
        match bound {
            Some(bound) if is_trimmed && len > bound as usize => match &mut value {
                Value::Primitives(run) => run.resize(bound as usize),
                Value::List(list) => {
                    list.items.truncate(bound as usize);
                    list.len = bound;
                }
                _ => {}
            },
            Some(bound) if !is_trimmed => d.check_bound(len, bound)?,
            _ => {}
        }
        Ok(value)
    }

    /// Decodes `len` elements. Once an element takes no bytes, the rest take none either, and none of them is stored.
    fn list(
        &mut self,
        element: TypeView<'_>,
        try_construct: TryConstruct,
        len: usize,
        d: &mut Decoder<'_>,
    ) -> Result<Value, DecodeError> {
        let mut items = Vec::new();
        for index in 0..len {
            let before = d.position();
            let item = self.value_or_default(element, try_construct, d)?.unwrap_or_default();
            if d.position() == before {
                // All further elements take no bytes either. They are counted, not stored.
                d.nothing(len - index)?;
                break;
            }
            items.push(item);
        }
        Ok(Value::List(List { len: len as u32, items }))
    }

    fn dimensions(&mut self, ty: TypeView<'_>, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        let NodeKind::Array { length, element } = ty.kind() else {
            debug_assert!(false, "only arrays have dimensions");
            return self.value(ty, false, d);
        };
        let (length, element_ty) = (*length as usize, ty.at(element.ty));
        match element_ty.kind() {
            NodeKind::Primitive(kind) => {
                // Before the allocation: the length comes from the type, not from the input.
                if length.saturating_mul(kind.size()) > d.remaining() {
                    return Err(d.error(DecodeErrorKind::Truncated));
                }
                run(*kind, length, d).map(Value::Primitives)
            }
            NodeKind::Array { .. } => {
                let mut items = Vec::new();
                for index in 0..length {
                    let before = d.position();
                    let item = self.dimensions(element_ty, d)?;
                    if d.position() == before {
                        d.nothing(length - index)?;
                        break;
                    }
                    items.push(item);
                }
                Ok(Value::List(List { len: length as u32, items }))
            }
            _ => self.list(element_ty, element.try_construct, length, d),
        }
    }

    fn entries(
        &mut self,
        ty: TypeView<'_>,
        key: Element,
        element: Element,
        d: &mut Decoder<'_>,
    ) -> Result<Vec<(Value, Value)>, DecodeError> {
        let (key_ty, element_ty) = (ty.at(key.ty), ty.at(element.ty));
        let is_of_primitives = key_ty.primitive_size().is_some() && element_ty.primitive_size().is_some();
        d.nested(0, |d| {
            d.collection(is_of_primitives, |d| {
                let count = d.length(1)?;
                let mut entries = Vec::new();
                let mut keys = SeenKeys::default();
                for _ in 0..count {
                    let start = d.position();
                    let one = self.value_or_default(key_ty, key.try_construct, d)?.unwrap_or_default();
                    // XTYPES has no rule for it. The derive refuses it as well.
                    if !keys.is_new(key_ty, &one) {
                        return Err(DecodeError::new(start, DecodeErrorKind::DuplicateKey));
                    }
                    let other = self.value_or_default(element_ty, element.try_construct, d)?.unwrap_or_default();
                    entries.push((one, other));
                }
                Ok(entries)
            })
        })
    }

    fn structure(&mut self, ty: TypeView<'_>, node: &StructNode, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        match node.extensibility {
            Extensibility::Final => self.in_order(ty, node, d),
            Extensibility::Appendable => d.appendable(|d| self.in_order(ty, node, d)),
            Extensibility::Mutable => self.by_id(ty, node, d),
        }
    }

    fn is_wanted(&self, node: &StructNode, member: &MemberNode) -> bool {
        self.set == MemberSet::All || node.is_part(member)
    }

    /// Decodes members in the order of definition.
    fn in_order(&mut self, ty: TypeView<'_>, node: &StructNode, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        // Each stored member takes at least one byte, so the remaining input limits the allocation.
        let mut members = Vec::with_capacity(node.members.len().min(d.remaining()));
        for (member, index) in node.members.iter().zip(0_u32..) {
            if !self.is_wanted(node, member) {
                continue;
            }
            // The sender's older type ends here. The other members have their defaults.
            if node.extensibility == Extensibility::Appendable && d.is_at_end_of_delimited() {
                break;
            }
            let before = d.position();
            let value = self.member(ty, member, d)?;
            if let Some(value) = value {
                // A value without bytes is the default, which is not stored.
                if d.position() != before {
                    members.push((index, value));
                }
            }
        }
        // Samples may be stored for long. Large unused capacity is released.
        if members.capacity() > 2 * members.len() {
            members.shrink_to_fit();
        }
        Ok(Value::Struct(members))
    }

    /// Decodes a member with its header, if any. `None` if it is absent or has its default.
    fn member(
        &mut self,
        of: TypeView<'_>,
        member: &MemberNode,
        d: &mut Decoder<'_>,
    ) -> Result<Option<Value>, DecodeError> {
        let ty = of.at(member.ty);
        if !member.is_optional {
            return self.value_or_default(ty, member.try_construct, d);
        }
        let found = d.if_present(|d| self.value_or_default(ty, member.try_construct, d))?;
        Ok(found.flatten())
    }

    /// Decodes members in any order. Of repeated members the last one counts.
    fn by_id(&mut self, ty: TypeView<'_>, node: &StructNode, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        let mut members: Vec<(u32, Option<Value>)> = Vec::new();
        d.members(|d, id| {
            let Some((index, member)) = node.member_of_id(id) else { return Ok(false) };
            if !self.is_wanted(node, member) {
                // A key has no other members, so a must-understand one is an error there.
                return Ok(self.set == MemberSet::All);
            }
            members.push((index, self.value_or_default(ty.at(member.ty), member.try_construct, d)?));
            Ok(true)
        })?;
        // The sort is stable, so of repeated members the last one is kept.
        members.sort_by_key(|(index, _)| *index);
        members.reverse();
        members.dedup_by_key(|(index, _)| *index);
        members.reverse();
        for (member, index) in node.members.iter().zip(0_u32..) {
            // Without its key a sample belongs to no instance.
            let is_required = member.is_key || (self.set == MemberSet::Key && self.is_wanted(node, member));
            if !is_required || member.is_optional {
                continue;
            }
            if members.binary_search_by_key(&index, |(index, _)| *index).is_err() {
                return Err(d.error(DecodeErrorKind::MissingMember));
            }
        }
        // A member that could not be constructed was received, but is not stored: it has its default.
        let mut kept: Vec<(u32, Value)> = Vec::with_capacity(members.len());
        for (index, value) in members {
            if let Some(value) = value {
                kept.push((index, value));
            }
        }
        kept.shrink_to_fit();
        Ok(Value::Struct(kept))
    }

    fn union(&mut self, ty: TypeView<'_>, node: &UnionNode, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        match node.extensibility {
            Extensibility::Final => self.selected(ty, node, d),
            Extensibility::Appendable => d.appendable(|d| self.selected(ty, node, d)),
            Extensibility::Mutable => self.selected_by_id(ty, node, d),
        }
    }

    /// Decodes a discriminator. `None`: the union takes its default.
    fn discriminator(
        &mut self,
        ty: TypeView<'_>,
        node: &UnionNode,
        d: &mut Decoder<'_>,
    ) -> Result<Option<i64>, DecodeError> {
        let of = ty.at(node.discriminator);
        let Some(value) = self.value_or_default(of, node.try_construct, d)? else { return Ok(None) };
        let discriminator = value.bits(of.default_bits()) as i64;
        match node.selected_by(discriminator) {
            Some(_) => Ok(Some(discriminator)),
            // An unknown discriminator counts as a value that cannot be constructed.
            None if node.try_construct == TryConstruct::UseDefault => Ok(None),
            None => Err(d.unknown_discriminator(discriminator)),
        }
    }

    fn selected(&mut self, ty: TypeView<'_>, node: &UnionNode, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        let Some(discriminator) = self.discriminator(ty, node, d)? else { return Ok(Value::Default) };
        let mut value = Value::Default;
        let case = node.selected_by(discriminator);
        let is_key = self.set == MemberSet::Key && node.has_key;
        let has_ended = node.extensibility == Extensibility::Appendable && d.is_at_end_of_delimited();
        if let (Some(case), false, false) = (case, is_key, has_ended) {
            if let Some(index) = case.ty {
                value = self.value_or_default(ty.at(index), case.try_construct, d)?.unwrap_or_default();
            }
        }
        Ok(Value::Union(Box::new(UnionValue { discriminator, value })))
    }

    fn selected_by_id(
        &mut self,
        ty: TypeView<'_>,
        node: &UnionNode,
        d: &mut Decoder<'_>,
    ) -> Result<Value, DecodeError> {
        // The discriminator may follow the member that it selects. Find it in a first pass.
        let (mut found, mut members) = (None, d.clone());
        members.members(|d, id| {
            if id == DISCRIMINATOR_ID && found.is_none() {
                found = Some(d.clone());
            }
            Ok(true)
        })?;
        let Some(mut found) = found else { return Err(members.error(DecodeErrorKind::MissingMember)) };
        let Some(discriminator) = self.discriminator(ty, node, &mut found)? else {
            d.pass_members()?;
            return Ok(Value::Default);
        };
        let case = node.selected_by(discriminator).and_then(|case| Some((case.id, case.ty?, case.try_construct)));
        let mut value = Value::Default;
        match case {
            Some((id, index, try_construct)) if self.set == MemberSet::All || !node.has_key => {
                let found = d.selected_member(id, |d| self.value_or_default(ty.at(index), try_construct, d))?;
                value = found.flatten().unwrap_or_default();
            }
            _ => d.no_selected_member()?,
        }
        Ok(Value::Union(Box::new(UnionValue { discriminator, value })))
    }
}

fn primitive(kind: PrimitiveKind, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
    let is_signed = kind.is_signed();
    let bits = match kind {
        PrimitiveKind::Bool => bool::decode(d)?.into(),
        PrimitiveKind::Float128 => return Ok(Value::Wide(Box::new(d.number::<u128, 16>()?))),
        kind => number(kind.size(), d)?,
    };
    Ok(Value::Bits(extended(bits, kind.size(), is_signed)))
}

fn number(size: usize, d: &mut Decoder<'_>) -> Result<u64, DecodeError> {
    Ok(match size {
        1 => u8::decode(d)?.into(),
        2 => u16::decode(d)?.into(),
        4 => u32::decode(d)?.into(),
        _ => u64::decode(d)?,
    })
}

fn literal(ty: TypeView<'_>, node: &EnumNode, d: &mut Decoder<'_>) -> Result<Value, DecodeError> {
    // Extended to the type of a literal, so that negative values compare equal.
    let bits = extended(number(node.size(), d)?, node.size(), ty.is_signed());
    match node.literal_of_value(bits as i64) {
        Some(_) => Ok(Value::Bits(bits)),
        None => Err(DecodeError::unknown_literal(d, node.size(), bits as i32)),
    }
}

/// Decodes `count` numbers. The caller has checked that the input contains them.
fn run(kind: PrimitiveKind, count: usize, d: &mut Decoder<'_>) -> Result<Primitives, DecodeError> {
    let mut taken = Primitives::new(kind.size());
    match &mut taken {
        Primitives::Of1(run) if kind == PrimitiveKind::Bool => {
            let mut bools = Vec::new();
            // Only 0 and 1 are bools, so the bytes cannot be taken as they are.
            bool::decode_elements(&mut bools, count, d)?;
            run.extend(bools.into_iter().map(u8::from));
        }
        Primitives::Of1(run) => u8::decode_elements(run, count, d)?,
        Primitives::Of2(run) => u16::decode_elements(run, count, d)?,
        Primitives::Of4(run) => u32::decode_elements(run, count, d)?,
        Primitives::Of8(run) => u64::decode_elements(run, count, d)?,
        Primitives::Of16(run) => {
            for _ in 0..count {
                run.push(d.number::<u128, 16>()?);
            }
        }
    }
    Ok(taken)
}

/// The keys of a map so far. They are sorted, so that a peer cannot choose keys that are slow to find.
#[derive(Default)]
pub(super) struct SeenKeys {
    numbers: std::collections::BTreeSet<u64>,
    texts: std::collections::BTreeSet<String>,
}

impl SeenKeys {
    pub(super) fn is_new(&mut self, key: TypeView<'_>, value: &Value) -> bool {
        match key.kind() {
            NodeKind::String { .. } | NodeKind::WString { .. } => self.texts.insert(value.text().to_owned()),
            _ => self.numbers.insert(value.bits(key.default_bits())),
        }
    }
}

/// Keeps the entries with the smallest keys, like derived types.
fn trim_entries(key: TypeView<'_>, entries: &mut Vec<(Value, Value)>, bound: u32) {
    if entries.len() <= bound as usize {
        return;
    }
    let default = key.default_bits();
    match key.kind() {
        NodeKind::String { .. } | NodeKind::WString { .. } => {
            entries.sort_by(|(one, _), (other, _)| one.text().cmp(other.text()));
        }
        _ if key.is_signed() => entries.sort_by_key(|(key, _)| key.bits(default) as i64),
        _ => entries.sort_by_key(|(key, _)| key.bits(default)),
    }
    entries.truncate(bound as usize);
    debug_assert!(
        entries.windows(2).all(|pair| matches!(pair, [(one, _), (other, _)] if !is_same_key(key, one, other))),
        "keys are unique"
    );
}
