//! Single fields of an encoded sample, read by its type.
//!
//! In: the paths of the wanted fields, once; then payloads. Out: the value of each field, borrowed from the payload.
//! The paths form a tree in the shape of the type. One walk along the tree reads each byte at most once. It skips
//! unwanted values and stops after the last wanted field. It runs no user code and allocates no memory.
//!
//! Bound: each step consumes payload bytes or visits a node of the tree. The depth of the tree is the length of the
//! longest path, at most [`PATH_STEPS_MAX`]. Skipping is bounded in `walk`.

use super::key::is_part;
use super::shape::{MemberShape, NumberKind, Shape, StructShape, Structure, UnionShape};
use super::union::DISCRIMINATOR_ID;
use super::walk::{bits_of, mutable_discriminator, skip_numbers, skip_value};
use super::{
    BitfieldValue, ByteOrder, Decode, DecodeError, Decoder, Extensibility, MemberDescription, Primitive,
    TypeDescription, TypeKind,
};

/// Step from a value to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldStep {
    /// The discriminator of a union.
    Discriminator,
    /// The struct member or union case with this index.
    Member(u32),
    /// The array or sequence element with this index, from 0. An index counts through all dimensions of an array.
    Element(u32),
    /// Bits of a bitset.
    Bits {
        /// The lowest bit.
        position: u8,
        /// Number of bits.
        bit_count: u8,
        /// Whether the highest bit is the sign.
        is_signed: bool,
    },
}

/// Value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldValue<'de> {
    /// A value that the sample does not have.
    ///
    /// An optional member that was not sent, an element behind the end of a sequence, or a member that the
    /// discriminator does not select.
    Absent,
    /// A signed integer, or the value of an enum literal.
    Signed(i64),
    /// An unsigned integer, bitmask, character or bool.
    ///
    /// The bits of a bitmask, the code of a character, and 0 or 1 for a bool.
    Unsigned(u64),
    /// A floating-point number. 32-bit numbers are widened without loss.
    Float(f64),
    /// The bytes of a string without its NUL. They are not checked to be UTF-8.
    Text(&'de [u8]),
    /// The UTF-16 units of a wide string, two bytes each.
    WideText(&'de [u8], ByteOrder),
}

/// The wanted fields of the samples of one type: a `&'static TypeDescription`, or a type of the run time.
#[derive(Debug, Clone)]
pub(crate) struct FieldPlan<T = &'static TypeDescription> {
    root: FieldNode<T>,
    len: usize,
}

/// A type that a plan keeps.
pub(crate) trait PlannedType: Clone {
    /// The view for walks along samples.
    type View<'t>: Shape
    where
        Self: 't;

    /// Returns the view.
    fn shape(&self) -> Self::View<'_>;
    /// Returns the extensibility, which determines the framing of payloads.
    fn framing(&self) -> Extensibility;
    /// Returns the type of the part at `step`, if the type has such a part.
    fn part(&self, step: FieldStep) -> Option<Self>;
}

/// A wanted field, or a value on the path to one.
#[derive(Debug, Clone)]
struct FieldNode<T> {
    ty: T,
    /// Index of the wanted field; `None` for a value on the path.
    slot: Option<usize>,
    /// The wanted parts, in ascending order of the steps.
    parts: Vec<(FieldStep, Self)>,
}

/// Largest number of steps in a path.
pub const PATH_STEPS_MAX: usize = 32;

impl<T: PlannedType> FieldPlan<T> {
    /// Creates the plan for the fields at the end of `paths`, in this order.
    ///
    /// Returns `None` if a path does not exist, does not end at a number or string, or has more than [`PATH_STEPS_MAX`]
    /// steps.
    #[must_use]
    pub(crate) fn new(ty: T, paths: &[Vec<FieldStep>]) -> Option<Self> {
        let mut root = FieldNode { ty, slot: None, parts: Vec::new() };
        for (slot, path) in paths.iter().enumerate() {
            // The depth of the tree is the depth of the recursion in `FieldReader`.
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

    /// Returns the number of wanted fields.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns whether no field is wanted.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads the wanted fields of a payload into `values`, which has [`FieldPlan::len`] elements.
    ///
    /// `is_key`: the payload is a serialized key instead of a whole sample. Fields outside of the key are then absent.
    /// A member that the sender's type does not have is 0 or empty, as in decoding.
    ///
    /// # Errors
    /// The payload is not a value of this type. Bytes after the last wanted field are not checked.
    pub(crate) fn read<'de>(
        &self,
        payload: &'de [u8],
        is_key: bool,
        values: &mut [FieldValue<'de>],
    ) -> Result<(), DecodeError> {
        values.fill(FieldValue::Absent);
        // Before the shortcut for no fields: a payload with the wrong framing is an error either way.
        let mut d = Decoder::of_payload_for(payload, Some(self.root.ty.framing()))?;
        if self.is_empty() {
            return Ok(());
        }
        FieldReader { values, is_key }.value(&self.root, &mut d, true)
    }
}

impl<T: PlannedType> FieldNode<T> {
    /// Returns the part at `step`, and creates it if needed. `None` if the type has no such part.
    fn part(&mut self, step: FieldStep) -> Option<&mut Self> {
        // Two paths share the nodes of their common start, so that one walk reads both.
        let place = match self.parts.binary_search_by_key(&step, |(step, _)| *step) {
            Ok(place) => place,
            Err(place) => {
                let ty = self.ty.part(step)?;
                // Most nodes have one part. The usual growth to four would be most of the memory of a long path.
                // Sorted by step: then one walk in the order of the payload finds each part by moving on.
                self.parts.reserve_exact(1);
                self.parts.insert(place, (step, Self { ty, slot: None, parts: Vec::new() }));
                place
            }
        };
        let (_, node) = self.parts.get_mut(place)?;
        Some(node)
    }

    fn is_scalar(&self) -> bool {
        let ty = self.ty.shape();
        match ty.structure() {
            Structure::String(_) | Structure::WString(_) => true,
            Structure::Number => ty.number_size().is_some() && !matches!(ty.number_kind(), NumberKind::Float128),
            _ => false,
        }
    }

    /// Returns the wanted member with this index.
    fn member(&self, index: usize) -> Option<&Self> {
        let step = FieldStep::Member(u32::try_from(index).ok()?);
        let place = self.parts.binary_search_by_key(&step, |(step, _)| *step).ok()?;
        let (_, node) = self.parts.get(place)?;
        Some(node)
    }

    /// Returns the index of the last wanted member.
    fn last_member(&self) -> Option<usize> {
        // The parts are sorted, so the last one has the highest index.
        match self.parts.last()?.0 {
            FieldStep::Member(index) => Some(index as usize),
            _ => None,
        }
    }

    /// Returns the discriminator if it is wanted. It is the first part, because steps are sorted.
    fn discriminator(&self) -> Option<&Self> {
        // `Discriminator` is the first step in the order of the enum.
        match self.parts.first() {
            Some((FieldStep::Discriminator, node)) => Some(node),
            _ => None,
        }
    }
}

impl PlannedType for &'static TypeDescription {
    type View<'t> = Self;

    #[inline]
    fn shape(&self) -> Self {
        self
    }

    fn framing(&self) -> Extensibility {
        self.extensibility()
    }

    fn part(&self, step: FieldStep) -> Option<Self> {
        match (self.kind(), step) {
            (TypeKind::Struct(description), FieldStep::Member(index)) => {
                description.members().get(index as usize).map(MemberDescription::ty)
            }
            (TypeKind::Union(description), FieldStep::Member(index)) => description.cases().get(index as usize)?.ty(),
            (TypeKind::Union(description), FieldStep::Discriminator) => Some(description.discriminator()),
            // Any index may exist, even above the bound: the sender's bound may be larger.
            (TypeKind::Sequence { element, .. }, FieldStep::Element(_)) => Some(element()),
            (TypeKind::Array { .. }, FieldStep::Element(index)) => {
                let (mut count, mut innermost) = (1_usize, *self);
                while let TypeKind::Array { length, element } = innermost.kind() {
                    count = count.saturating_mul(*length as usize);
                    innermost = element();
                }
                // A path to an element that never exists is a mistake, and the filter reports it.
                if (index as usize) < count { Some(innermost) } else { None }
            }
            // The node of the bits has the type of the bitset: both read the same number.
            (TypeKind::Bitset(_), FieldStep::Bits { position: 0..64, bit_count: 1..=64, .. }) => Some(self),
            _ => None,
        }
    }
}

/// A walk along one payload.
struct FieldReader<'v, 'de> {
    values: &'v mut [FieldValue<'de>],
    is_key: bool,
}

impl<'de> FieldReader<'_, 'de> {
    /// Reads a value. `is_last`: no wanted value follows, so the end of this one need not be found.
    fn value<T: PlannedType>(
        &mut self,
        node: &FieldNode<T>,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        let ty = node.ty.shape();
        if let Some(size) = ty.number_size() {
            let value = number(ty, size, d)?;
            self.number(node, value);
            return Ok(());
        }
        match ty.structure() {
            Structure::String(_) => {
                let text = d.text()?;
                self.put(node, FieldValue::Text(text));
                Ok(())
            }
            Structure::WString(_) => {
                let order = d.order();
                let text = d.wide_text()?;
                self.put(node, FieldValue::WideText(text, order));
                Ok(())
            }
            Structure::Struct(description) => self.members(node, description, d, is_last),
            Structure::Union(description) => self.union(node, description, d, is_last),
            Structure::Sequence(_, element) => self.elements(node, None, element, d, is_last),
            Structure::Array => {
                let (count, element) = ty.dimensions();
                self.elements(node, Some(count), element, d, is_last)
            }
            // No path leads into a map.
            Structure::Map(..) | Structure::Number => skip_value(ty, false, d),
        }
    }

    /// Stores the value of a wanted field.
    fn put<T>(&mut self, node: &FieldNode<T>, value: FieldValue<'de>) {
        let Some(slot) = node.slot else { return };
        debug_assert!(slot < self.values.len(), "the caller provides one value for each path");
        if let Some(place) = self.values.get_mut(slot) {
            *place = value;
        }
    }

    /// Stores a number, and the wanted bits of a bitset.
    fn number<T>(&mut self, node: &FieldNode<T>, value: FieldValue<'de>) {
        self.put(node, value);
        // The bits of a bitset are parts of the number that was read, so they cost no decoding.
        for (step, part) in &node.parts {
            if let (FieldStep::Bits { position, bit_count, is_signed }, FieldValue::Unsigned(bits)) = (step, value) {
                let bits = bits.checked_shr(u32::from(*position)).unwrap_or_default();
                let value = if *is_signed {
                    FieldValue::Signed(i64::from_bits(bits, *bit_count))
                } else {
                    FieldValue::Unsigned(u64::from_bits(bits, *bit_count))
                };
                self.put(part, value);
            }
        }
    }

    fn members<T: PlannedType>(
        &mut self,
        node: &FieldNode<T>,
        description: impl StructShape,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        if description.extensibility() == Extensibility::Mutable {
            return self.mutable_members(node, description, d);
        }
        let is_appendable = description.extensibility() == Extensibility::Appendable;
        // The frame ends at the sender's last member, which may not be this type's last one.
        let frame = if is_appendable { d.enter_delimited()? } else { None };
        let last = node.last_member();
        // Bytes after the last wanted member matter only if other values follow this one and its length is unknown.
        let may_stop = frame.is_some() || is_last;
        for (index, member) in description.members().enumerate() {
            // `None` is less than each index: without wanted members the loop ends at once.
            if may_stop && Some(index) > last {
                break;
            }
            // A serialized key contains only key members.
            if self.is_key && !is_part(description, member) {
                continue;
            }
            let wanted = node.member(index);
            if is_appendable && d.is_at_end_of_delimited() {
                // The sender's type is older and ends before this member.
                if let Some(part) = wanted {
                    self.missing(member, part, d)?;
                }
                continue;
            }
            match wanted {
                Some(part) => self.member(member, part, d, may_stop && Some(index) == last)?,
                None => skip_value(member.ty(), member.is_optional(), d)?,
            }
        }
        d.leave(frame);
        Ok(())
    }

    fn member<T: PlannedType>(
        &mut self,
        member: impl MemberShape,
        part: &FieldNode<T>,
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

    /// Reads the wanted members of a mutable struct, which arrive in any order. The last of several values of one
    /// member counts, as in decoding.
    fn mutable_members<T: PlannedType>(
        &mut self,
        node: &FieldNode<T>,
        description: impl StructShape,
        d: &mut Decoder<'de>,
    ) -> Result<(), DecodeError> {
        for (step, part) in &node.parts {
            let FieldStep::Member(index) = step else { continue };
            if let Some(member) = description.members().nth(*index as usize) {
                if !self.is_key || is_part(description, member) {
                    self.missing_unless_key(member, part, d)?;
                }
            }
        }
        d.members(|d, id| {
            let mut members = description.members().enumerate();
            // Linear, because mutable structs have few members and the plan stores no index of ids.
            let Some((index, _)) = members.find(|(_, member)| member.id() == id) else { return Ok(false) };
            if let Some(part) = node.member(index) {
                // An earlier value of this member may have set other parts.
                self.absent(part);
                self.value(part, d, true)?;
            }
            Ok(true)
        })
    }

    /// Stores the default of a member of a mutable struct, until the member is found.
    fn missing_unless_key<T: PlannedType>(
        &mut self,
        member: impl MemberShape,
        part: &FieldNode<T>,
        d: &Decoder<'de>,
    ) -> Result<(), DecodeError> {
        // A key member has no default. It stays absent.
        if member.is_key() { Ok(()) } else { self.missing(member, part, d) }
    }

    /// Stores the default of a member that the sender did not send or does not have.
    fn missing<T: PlannedType>(
        &mut self,
        member: impl MemberShape,
        part: &FieldNode<T>,
        d: &Decoder<'de>,
    ) -> Result<(), DecodeError> {
        if member.is_optional() {
            self.absent(part);
            return Ok(());
        }
        self.default(part, d)
    }

    /// Stores the default of a value that was not sent, as in decoding.
    fn default<T: PlannedType>(&mut self, node: &FieldNode<T>, d: &Decoder<'de>) -> Result<(), DecodeError> {
        let ty = node.ty.shape();
        match ty.structure() {
            Structure::String(_) => self.put(node, FieldValue::Text(&[])),
            Structure::WString(_) => self.put(node, FieldValue::WideText(&[], d.order())),
            Structure::Struct(description) => {
                for (step, part) in &node.parts {
                    let FieldStep::Member(index) = step else { continue };
                    if let Some(member) = description.members().nth(*index as usize) {
                        self.missing(member, part, d)?;
                    }
                }
            }
            Structure::Array => {
                for (_, part) in &node.parts {
                    self.default(part, d)?;
                }
            }
            Structure::Number if ty.number_size().is_some() => match ty.number_kind() {
                NumberKind::Enum { initial } => self.put(node, FieldValue::Signed(initial.into())),
                NumberKind::Float32 | NumberKind::Float64 => self.put(node, FieldValue::Float(0.0)),
                NumberKind::Signed => self.put(node, FieldValue::Signed(0)),
                NumberKind::Bool | NumberKind::Unsigned | NumberKind::Float128 => {
                    self.number(node, FieldValue::Unsigned(0));
                }
            },
            // A default sequence has no elements, and the default case of a union is not tracked.
            _ => self.absent(node),
        }
        Ok(())
    }

    /// Marks all wanted fields of a node as absent.
    fn absent<T>(&mut self, node: &FieldNode<T>) {
        self.put(node, FieldValue::Absent);
        for (_, part) in &node.parts {
            self.absent(part);
        }
    }

    fn union<T: PlannedType>(
        &mut self,
        node: &FieldNode<T>,
        description: impl UnionShape,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        let size = description.discriminator().number_size().unwrap_or(1);
        if description.extensibility() == Extensibility::Mutable {
            let mut discriminator = mutable_discriminator(d)?;
            let wanted = self.discriminator(node, description, size, &mut discriminator)?;
            return d.members(|d, id| {
                // Of a case without a member nothing else may follow, and an unknown member must be reported.
                let Some((selected, part)) = wanted else { return Ok(id == DISCRIMINATOR_ID) };
                if let (Some(part), true) = (part, id == selected) {
                    // An earlier value of this member may have set other parts.
                    self.absent(part);
                    self.value(part, d, true)?;
                }
                Ok(id == DISCRIMINATOR_ID || id == selected)
            });
        }
        let is_appendable = description.extensibility() == Extensibility::Appendable;
        let frame = if is_appendable { d.enter_delimited()? } else { None };
        // A clone, because the discriminator is read again below with its type.
        let bits = bits_of(size, &mut d.clone())?;
        let wanted = self.discriminator(node, description, size, d)?;
        let ty = description.selected_by(bits, size).and_then(|case| case.ty);
        let may_stop = frame.is_some() || is_last;
        // The key of a union with a key is its discriminator, so a serialized key has no member.
        let has_member = !(description.has_key() && self.is_key);
        match (wanted, ty) {
            (Some((_, Some(part))), _) if has_member => self.value(part, d, may_stop)?,
            (_, Some(ty)) if has_member && !may_stop => skip_value(ty, false, d)?,
            _ => {}
        }
        d.leave(frame);
        Ok(())
    }

    /// Reads a discriminator. Returns the id of the member that it selects, and the wanted parts of this member.
    fn discriminator<'n, T: PlannedType>(
        &mut self,
        node: &'n FieldNode<T>,
        description: impl UnionShape,
        size: usize,
        d: &mut Decoder<'de>,
    ) -> Result<Option<SelectedMember<'n, T>>, DecodeError> {
        let bits = bits_of(size, &mut d.clone())?;
        let value = number(description.discriminator(), size, d)?;
        if let Some(part) = node.discriminator() {
            self.put(part, value);
        }
        let Some(case) = description.selected_by(bits, size) else {
            return Err(d.unknown_discriminator(bits as i64));
        };
        if case.ty.is_none() {
            return Ok(None);
        }
        let part = description.index_of(case.id).and_then(|index| node.member(index));
        Ok(Some((case.id, part)))
    }

    /// Reads the wanted elements of an array of `count` elements, or of a sequence.
    fn elements<T: PlannedType>(
        &mut self,
        node: &FieldNode<T>,
        count: Option<usize>,
        element: impl Shape,
        d: &mut Decoder<'de>,
        is_last: bool,
    ) -> Result<(), DecodeError> {
        let size = element.primitive_size();
        // Only collections of primitives have no DHEADER (XTYPES 1.3, 7.4.3.5.3).
        let frame = if size.is_none() { d.enter_delimited()? } else { None };
        let count = match count {
            Some(count) => count,
            None => d.length(size.unwrap_or(1))?,
        };
        // The parts are sorted, so one pass reads all of them.
        let mut done = 0_usize;
        for (step, part) in &node.parts {
            let FieldStep::Element(index) = step else { continue };
            let index = *index as usize;
            // A sequence may be shorter than an index. The field stays absent then.
            if index >= count {
                break;
            }
            debug_assert!(index >= done, "the parts are sorted by index, each once");
            skip_elements(element, size, index - done, d)?;
            self.value(part, d, false)?;
            done = index + 1;
        }
        if frame.is_none() && !is_last {
            skip_elements(element, size, count - done, d)?;
        }
        d.leave(frame);
        Ok(())
    }
}

/// The id of the member that a discriminator selects, and its node if it is wanted.
type SelectedMember<'n, T> = (u32, Option<&'n FieldNode<T>>);

fn skip_elements(
    element: impl Shape,
    size: Option<usize>,
    count: usize,
    d: &mut Decoder<'_>,
) -> Result<(), DecodeError> {
    match size {
        Some(size) => skip_numbers(size, count, d),
        None => {
            for _ in 0..count {
                skip_value(element, false, d)?;
            }
            Ok(())
        }
    }
}

/// Reads a number of `size` bytes.
fn number<'de>(ty: impl Shape, size: usize, d: &mut Decoder<'de>) -> Result<FieldValue<'de>, DecodeError> {
    Ok(match ty.number_kind() {
        NumberKind::Bool => FieldValue::Unsigned(bool::decode(d)?.into()),
        NumberKind::Float32 => FieldValue::Float(f32::decode(d)?.into()),
        NumberKind::Float64 => FieldValue::Float(f64::decode(d)?),
        NumberKind::Float128 => {
            // No path leads to a long double.
            skip_numbers(size, 1, d)?;
            FieldValue::Absent
        }
        NumberKind::Signed | NumberKind::Enum { .. } => FieldValue::Signed(signed(size, d)?),
        NumberKind::Unsigned => FieldValue::Unsigned(bits_of(size, d)?),
    })
}

fn signed(size: usize, d: &mut Decoder<'_>) -> Result<i64, DecodeError> {
    debug_assert!(matches!(size, 1 | 2 | 4 | 8), "a number of at most 64 bits");
    Ok(match size {
        1 => i8::decode(d)?.into(),
        2 => i16::decode(d)?.into(),
        4 => i32::decode(d)?.into(),
        _ => i64::decode(d)?,
    })
}

impl FieldValue<'_> {
    /// Returns the characters of a text, and no characters of a number. U+FFFD replaces invalid ones.
    pub fn characters(&self) -> impl Iterator<Item = char> {
        let (narrow, wide) = match *self {
            FieldValue::Text(bytes) => (bytes, (&[][..], ByteOrder::HOST)),
            FieldValue::WideText(bytes, order) => (&[][..], (bytes, order)),
            _ => (&[][..], (&[][..], ByteOrder::HOST)),
        };
        let (bytes, order) = wide;
        // Characters instead of bytes, so that a filter compares narrow and wide text alike.
        let units = bytes.chunks_exact(2).map(move |unit| u16::read(unit, order));
        let wide = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
        let narrow = narrow.utf8_chunks().flat_map(|chunk| {
            let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
            chunk.valid().chars().chain(broken)
        });
        narrow.chain(wide)
    }
}
