//! Single fields of an encoded sample, by the description of its type.
//!
//! In: the paths of the fields that are wanted, once; then payloads. Out: the value of each field, borrowed from the payload.
//! The paths make a tree in the shape of the type, and one walk along it visits each byte once at most: what is not wanted
//! is passed over, and the walk ends with the last wanted field. No user code runs and nothing is allocated.
//!
//! Bound: every step takes bytes of the payload or a node of the tree, whose depth is that of the longest path
//! ([`PATH_STEPS_MAX`]); what is passed over is bounded as in `walk`.

use super::key::is_part;
use super::union::DISCRIMINATOR_ID;
use super::walk::{bits_of, mutable_discriminator, pass_numbers, pass_value};
use super::{
    BitfieldValue, ByteOrder, Decode, DecodeError, Decoder, Extensibility, MemberDescription, Primitive,
    StructDescription, TypeDescription, TypeKind, UnionDescription,
};

/// A step from a value into a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldStep {
    /// The discriminator of a union.
    Discriminator,
    /// The member of a struct with this index, or the case of a union.
    Member(u32),
    /// The element of an array or sequence, from 0. Of an array of several dimensions, counted through all of them.
    Element(u32),
    /// Bits of a bitset.
    Bits {
        /// The lowest of them.
        position: u8,
        /// How many there are.
        bit_count: u8,
        /// Whether the highest of them is a sign.
        is_signed: bool,
    },
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldValue<'de> {
    /// An optional member that was not sent, an element behind the end of a sequence, or a member that the discriminator of
    /// its union does not select.
    Absent,
    /// A signed integer, or the number of an enumerator.
    Signed(i64),
    /// An unsigned integer, the bits of a bitmask, the code of a character, or 0 and 1 of a bool.
    Unsigned(u64),
    /// A floating-point number; one of 32 bits has the same value with 64.
    Float(f64),
    /// The bytes of a string, without its NUL. Whether they are UTF-8 was not looked at.
    Text(&'de [u8]),
    /// The units of a wide string, two bytes each.
    WideText(&'de [u8], ByteOrder),
}

/// The fields that are wanted of the samples of one type.
#[derive(Debug, Clone)]
pub struct FieldPlan {
    root: Node,
    len: usize,
}

/// A value on the way to the wanted fields, or one of them.
#[derive(Debug, Clone)]
struct Node {
    ty: &'static TypeDescription,
    /// Which of the wanted fields this is.
    slot: Option<usize>,
    /// What is wanted of its parts, in ascending order of the steps.
    parts: Vec<(FieldStep, Node)>,
}

/// No path has more steps.
pub const PATH_STEPS_MAX: usize = 32;

impl FieldPlan {
    /// The fields at the end of `paths`, in this order. `None` if a path leads to nothing, to no number or string, or has
    /// more than [`PATH_STEPS_MAX`] steps.
    #[must_use]
    pub fn new(ty: &'static TypeDescription, paths: &[Vec<FieldStep>]) -> Option<Self> {
        let mut root = Node { ty, slot: None, parts: Vec::new() };
        for (slot, path) in paths.iter().enumerate() {
            if path.len() > PATH_STEPS_MAX {
                return None;
            }
            let mut node = &mut root;
            for step in path {
                node = node.part(*step)?;
            }
            if !node.is_scalar() {
                return None;
            }
            node.slot = Some(slot);
        }
        Some(Self { root, len: paths.len() })
    }

    /// How many fields are wanted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no field is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts the values of the fields of a payload into `values`, which has room for [`FieldPlan::len`] of them. `is_key`
    /// tells that the payload is a serialized key, not a whole sample; fields that are no part of it are absent.
    ///
    /// A member that the sender's type did not have yet counts as 0 or empty, as where it is decoded.
    ///
    /// # Errors
    /// The payload is not a value of this type, as far as the walk had to go.
    pub fn read<'de>(
        &self,
        payload: &'de [u8],
        is_key: bool,
        values: &mut [FieldValue<'de>],
    ) -> Result<(), DecodeError> {
        values.fill(FieldValue::Absent);
        let mut d = Decoder::of_payload_for(payload, Some(self.root.ty.extensibility()))?;
        if self.is_empty() {
            return Ok(());
        }
        Reading { values, is_key }.value(&self.root, &mut d, true)
    }
}

impl Node {
    fn part(&mut self, step: FieldStep) -> Option<&mut Self> {
        let place = match self.parts.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(place) => place,
            Err(place) => {
                let ty = type_of_part(self.ty, step)?;
                // Most have one part; room for four, as usual, would be most of the memory of long paths.
                self.parts.reserve_exact(1);
                self.parts.insert(place, (step, Self { ty, slot: None, parts: Vec::new() }));
                place
            }
        };
        self.parts.get_mut(place).map(|(_, node)| node)
    }

    fn is_scalar(&self) -> bool {
        let is_text = matches!(self.ty.kind(), TypeKind::String { .. } | TypeKind::WString { .. });
        let is_number = self.ty.number_size().is_some() && !matches!(self.ty.kind(), TypeKind::Float128);
        is_text || is_number
    }

    fn member(&self, index: usize) -> Option<&Self> {
        let step = FieldStep::Member(u32::try_from(index).ok()?);
        let place = self.parts.binary_search_by_key(&step, |(step, _)| *step).ok()?;
        self.parts.get(place).map(|(_, node)| node)
    }

    /// The index of the last member that is wanted.
    fn last_member(&self) -> Option<usize> {
        match self.parts.last()?.0 {
            FieldStep::Member(index) => Some(index as usize),
            _ => None,
        }
    }

    fn discriminator(&self) -> Option<&Self> {
        self.parts.first().filter(|(step, _)| *step == FieldStep::Discriminator).map(|(_, node)| node)
    }
}

fn type_of_part(ty: &'static TypeDescription, step: FieldStep) -> Option<&'static TypeDescription> {
    match (ty.kind(), step) {
        (TypeKind::Struct(description), FieldStep::Member(index)) => {
            description.members().get(index as usize).map(MemberDescription::ty)
        }
        (TypeKind::Union(description), FieldStep::Member(index)) => description.cases().get(index as usize)?.ty(),
        (TypeKind::Union(description), FieldStep::Discriminator) => Some(description.discriminator()),
        (TypeKind::Sequence { element, .. }, FieldStep::Element(_)) => Some(element()),
        (TypeKind::Array { .. }, FieldStep::Element(index)) => {
            let (count, element) = innermost(ty);
            ((index as usize) < count).then_some(element)
        }
        // The bits are taken of the number that a bitset is.
        (TypeKind::Bitset(_), FieldStep::Bits { position, bit_count, .. }) => {
            (position < 64 && (1..=64).contains(&bit_count)).then_some(ty)
        }
        _ => None,
    }
}

/// How many elements an array has in all its dimensions, and what they are.
fn innermost(ty: &'static TypeDescription) -> (usize, &'static TypeDescription) {
    let (mut count, mut innermost) = (1_usize, ty);
    while let TypeKind::Array { length, element } = innermost.kind() {
        count = count.saturating_mul(*length as usize);
        innermost = element();
    }
    (count, innermost)
}

/// A walk through one payload.
struct Reading<'v, 'de> {
    values: &'v mut [FieldValue<'de>],
    is_key: bool,
}

impl<'de> Reading<'_, 'de> {
    /// Takes a value. `is_last` tells that nothing behind it is of interest, so that its end need not be found.
    fn value(&mut self, node: &Node, d: &mut Decoder<'de>, is_last: bool) -> Result<(), DecodeError> {
        if let Some(size) = node.ty.number_size() {
            let value = number(node.ty, size, d)?;
            self.number(node, value);
            return Ok(());
        }
        match node.ty.kind() {
            TypeKind::String { .. } => {
                let text = d.text()?;
                self.put(node, FieldValue::Text(text));
                Ok(())
            }
            TypeKind::WString { .. } => {
                let order = d.order();
                let text = d.wide_text()?;
                self.put(node, FieldValue::WideText(text, order));
                Ok(())
            }
            TypeKind::Struct(description) => self.members(node, description, d, is_last),
            TypeKind::Union(description) => self.union(node, description, d, is_last),
            TypeKind::Sequence { element, .. } => self.elements(node, None, element(), d, is_last),
            TypeKind::Array { .. } => {
                let (count, element) = node.ty.dimensions();
                self.elements(node, Some(count), element, d, is_last)
            }
            _ => pass_value(node.ty, false, d),
        }
    }

    fn put(&mut self, node: &Node, value: FieldValue<'de>) {
        if let Some(place) = node.slot.and_then(|slot| self.values.get_mut(slot)) {
            *place = value;
        }
    }

    fn number(&mut self, node: &Node, value: FieldValue<'de>) {
        self.put(node, value);
        for (step, part) in &node.parts {
            if let (FieldStep::Bits { position, bit_count, is_signed }, FieldValue::Unsigned(bits)) = (step, value) {
                let bits = bits.checked_shr(u32::from(*position)).unwrap_or_default();
                let value = match is_signed {
                    true => FieldValue::Signed(i64::from_bits(bits, *bit_count)),
                    false => FieldValue::Unsigned(u64::from_bits(bits, *bit_count)),
                };
                self.put(part, value);
            }
        }
    }

    fn members(
        &mut self,
        node: &Node,
        description: &StructDescription,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        if description.extensibility() == Extensibility::Mutable {
            return self.mutable_members(node, description, d);
        }
        let is_appendable = description.extensibility() == Extensibility::Appendable;
        let frame = if is_appendable { d.enter_delimited()? } else { None };
        let last = node.last_member();
        // Behind the last wanted member nothing is of interest, unless other values follow on this one.
        let may_stop = frame.is_some() || is_last;
        for (index, member) in description.members().iter().enumerate() {
            if may_stop && Some(index) > last {
                break;
            }
            // A serialized key has no other members.
            if self.is_key && !is_part(description, member) {
                continue;
            }
            let wanted = node.member(index);
            if is_appendable && d.is_at_end_of_delimited() {
                wanted.map_or(Ok(()), |part| self.missing(member, part, d))?;
                continue;
            }
            match wanted {
                Some(part) => self.member(member, part, d, may_stop && Some(index) == last)?,
                None => pass_value(member.ty(), member.is_optional(), d)?,
            }
        }
        d.leave(frame);
        Ok(())
    }

    fn member(
        &mut self,
        member: &MemberDescription,
        part: &Node,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        if !member.is_optional() {
            return self.value(part, d, is_last);
        }
        let (is_present, frame) = d.enter_optional()?;
        if is_present {
            self.value(part, d, is_last)?;
        }
        d.leave(frame);
        Ok(())
    }

    /// Looks for members wherever the sender has put them. One that comes twice counts as it came last, as it does when the
    /// value is decoded.
    fn mutable_members(
        &mut self,
        node: &Node,
        description: &StructDescription,
        d: &mut Decoder<'de>,
    ) -> Result<(), DecodeError> {
        for (step, part) in &node.parts {
            let FieldStep::Member(index) = step else { continue };
            if let Some(member) = description.members().get(*index as usize) {
                if !self.is_key || is_part(description, member) {
                    self.missing_unless_key(member, part, d)?;
                }
            }
        }
        d.members(|d, id| {
            let mut members = description.members().iter().enumerate();
            let Some((index, _)) = members.find(|(_, member)| member.id() == id) else { return Ok(false) };
            if let Some(part) = node.member(index) {
                self.absent(part);
                self.value(part, d, true)?;
            }
            Ok(true)
        })
    }

    /// A member of a mutable struct counts as missing until it is found.
    fn missing_unless_key(
        &mut self,
        member: &MemberDescription,
        part: &Node,
        d: &Decoder<'de>,
    ) -> Result<(), DecodeError> {
        if member.is_key() { Ok(()) } else { self.missing(member, part, d) }
    }

    /// A member that the sender's type does not have, or that was left out.
    fn missing(&mut self, member: &MemberDescription, part: &Node, d: &Decoder<'de>) -> Result<(), DecodeError> {
        if member.is_optional() {
            self.absent(part);
            return Ok(());
        }
        self.default(part, d)
    }

    /// What a value counts as that was not sent, as for who decodes it.
    fn default(&mut self, node: &Node, d: &Decoder<'de>) -> Result<(), DecodeError> {
        match node.ty.kind() {
            TypeKind::String { .. } => self.put(node, FieldValue::Text(&[])),
            TypeKind::WString { .. } => self.put(node, FieldValue::WideText(&[], d.order())),
            TypeKind::Struct(description) => {
                for (step, part) in &node.parts {
                    let FieldStep::Member(index) = step else { continue };
                    if let Some(member) = description.members().get(*index as usize) {
                        self.missing(member, part, d)?;
                    }
                }
            }
            TypeKind::Array { .. } => node.parts.iter().try_for_each(|(_, part)| self.default(part, d))?,
            TypeKind::Enum(description) => {
                let first = description.literals().first().map_or(0, |literal| literal.value());
                self.put(node, FieldValue::Signed(first.into()));
            }
            TypeKind::Float32 | TypeKind::Float64 => self.put(node, FieldValue::Float(0.0)),
            TypeKind::Int8 | TypeKind::Int16 | TypeKind::Int32 | TypeKind::Int64 => {
                self.put(node, FieldValue::Signed(0));
            }
            _ if node.ty.number_size().is_some() => self.number(node, FieldValue::Unsigned(0)),
            // A sequence is empty, and of a union nothing is known.
            _ => self.absent(node),
        }
        Ok(())
    }

    fn absent(&mut self, node: &Node) {
        self.put(node, FieldValue::Absent);
        node.parts.iter().for_each(|(_, part)| self.absent(part));
    }

    fn union(
        &mut self,
        node: &Node,
        description: &UnionDescription,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        let size = description.discriminator().number_size().unwrap_or(1);
        if description.extensibility() == Extensibility::Mutable {
            let mut discriminator = mutable_discriminator(d)?;
            let wanted = self.discriminator(node, description, size, &mut discriminator)?;
            return d.members(|d, id| {
                let part = wanted.filter(|(selected, _)| *selected == id).and_then(|(_, part)| part);
                if let Some(part) = part {
                    self.absent(part);
                    self.value(part, d, true)?;
                }
                Ok(id == DISCRIMINATOR_ID || wanted.is_some_and(|(selected, _)| selected == id))
            });
        }
        let is_appendable = description.extensibility() == Extensibility::Appendable;
        let frame = if is_appendable { d.enter_delimited()? } else { None };
        let bits = bits_of(size, &mut d.clone())?;
        let wanted = self.discriminator(node, description, size, d)?;
        let ty = description.selected_by(bits, size).and_then(|case| case.ty());
        let may_stop = frame.is_some() || is_last;
        match (wanted.and_then(|(_, part)| part), ty) {
            // A serialized key has no other members.
            _ if description.has_key() && self.is_key => {}
            (Some(part), _) => self.value(part, d, may_stop)?,
            (None, Some(ty)) if !may_stop => pass_value(ty, false, d)?,
            _ => {}
        }
        d.leave(frame);
        Ok(())
    }

    /// Takes a discriminator. Says which member it selects, by id, and what is wanted of that.
    fn discriminator<'n>(
        &mut self,
        node: &'n Node,
        description: &UnionDescription,
        size: usize,
        d: &mut Decoder<'de>,
    ) -> Result<Option<(u32, Option<&'n Node>)>, DecodeError> {
        let bits = bits_of(size, &mut d.clone())?;
        let value = number(description.discriminator(), size, d)?;
        if let Some(part) = node.discriminator() {
            self.put(part, value);
        }
        let Some(case) = description.selected_by(bits, size) else {
            return Err(d.unknown_discriminator(bits as i64));
        };
        let index = description.cases().iter().position(|other| std::ptr::eq(other, case));
        let part = index.and_then(|index| node.member(index));
        Ok(case.ty().map(|_| (case.id(), part)))
    }

    fn elements(
        &mut self,
        node: &Node,
        count: Option<usize>,
        element: &TypeDescription,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        let size = element.primitive_size();
        let frame = if size.is_none() { d.enter_delimited()? } else { None };
        let count = match count {
            Some(count) => count,
            None => d.length(size.unwrap_or(1))?,
        };
        let mut done = 0_usize;
        for (step, part) in &node.parts {
            let FieldStep::Element(index) = step else { continue };
            let index = *index as usize;
            if index >= count {
                break;
            }
            pass_elements(element, size, index - done, d)?;
            self.value(part, d, false)?;
            done = index + 1;
        }
        if frame.is_none() && !is_last {
            pass_elements(element, size, count - done, d)?;
        }
        d.leave(frame);
        Ok(())
    }
}

fn pass_elements(
    element: &TypeDescription,
    size: Option<usize>,
    count: usize,
    d: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    match size {
        Some(size) => pass_numbers(size, count, d),
        None => (0..count).try_for_each(|_| pass_value(element, false, d)),
    }
}

/// Takes a number of `size` bytes.
fn number<'de>(ty: &TypeDescription, size: usize, d: &mut Decoder<'de>) -> Result<FieldValue<'de>, DecodeError> {
    Ok(match ty.kind() {
        TypeKind::Bool => FieldValue::Unsigned(bool::decode(d)?.into()),
        TypeKind::Float32 => FieldValue::Float(f32::decode(d)?.into()),
        TypeKind::Float64 => FieldValue::Float(f64::decode(d)?),
        TypeKind::Float128 => {
            pass_numbers(size, 1, d)?;
            FieldValue::Absent
        }
        TypeKind::Int8 | TypeKind::Int16 | TypeKind::Int32 | TypeKind::Int64 | TypeKind::Enum(_) => {
            FieldValue::Signed(signed(size, d)?)
        }
        _ => FieldValue::Unsigned(bits_of(size, d)?),
    })
}

fn signed(size: usize, d: &mut Decoder<'_>) -> Result<i64, DecodeError> {
    Ok(match size {
        1 => i8::decode(d)?.into(),
        2 => i16::decode(d)?.into(),
        4 => i32::decode(d)?.into(),
        _ => i64::decode(d)?,
    })
}

impl FieldValue<'_> {
    /// The characters of a text; none of a number. What is no character counts as U+FFFD.
    pub fn characters(&self) -> impl Iterator<Item = char> {
        let (narrow, wide) = match *self {
            FieldValue::Text(bytes) => (bytes, (&[][..], ByteOrder::HOST)),
            FieldValue::WideText(bytes, order) => (&[][..], (bytes, order)),
            _ => (&[][..], (&[][..], ByteOrder::HOST)),
        };
        let (bytes, order) = wide;
        let units = bytes.chunks_exact(2).map(move |unit| u16::read(unit, order));
        let wide = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
        let narrow = narrow.utf8_chunks().flat_map(|chunk| {
            let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
            chunk.valid().chars().chain(broken)
        });
        narrow.chain(wide)
    }
}
