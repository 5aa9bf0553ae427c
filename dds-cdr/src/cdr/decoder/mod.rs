//! The decoding cursor.

mod members;
mod values;

use crate::cdr::encoder::PID_EXTENDED;
use crate::cdr::primitive::Number;
use crate::cdr::{ByteOrder, Decode, DecodeError, DecodeErrorKind, Encapsulation, Encoding, Extensibility, Primitive};

/// Maximum nesting of values of recursive types. Boxes and sequences of non-primitive elements count.
///
/// Real types need far less. Together with [`Decoder::nested`], the limit fits the stack of a small thread.
pub const NESTING_MAX: u8 = 64;

/// Budget of a payload for values without bytes. Each such value costs its size in memory, at least 1.
///
/// A length costs its sender only 4 bytes, so without a budget it would decide how long decoding takes. One million
/// takes some milliseconds and a megabyte.
pub const EMPTY_VALUES_MAX: u32 = 1 << 20;

/// Reads values from bytes by the rules of an encoding.
///
/// Every read is checked against the end of the input or of the enclosing delimited value.
#[derive(Debug, Clone)]
pub struct Decoder<'de> {
    /// The input up to the end of the enclosing delimited value.
    bytes: &'de [u8],
    /// The whole input, for samples that stay encoded.
    input: &'de [u8],
    position: usize,
    /// The index from which alignment is computed.
    origin: usize,
    encoding: Encoding,
    order: ByteOrder,
    depth: u8,
    /// The remaining budget of [`EMPTY_VALUES_MAX`].
    empty_values_left: u32,
    /// The next value is the base of a struct. The members of both share one frame.
    is_base: bool,
}

/// State of the enclosing value, restored when a limited part of the input ends.
#[derive(Debug)]
pub(in crate::cdr) struct DecoderFrame<'de> {
    outer: &'de [u8],
    origin: usize,
}

impl<'de> Decoder<'de> {
    /// Creates a decoder of bytes without a header. Alignment counts from their start.
    #[must_use]
    pub fn new(bytes: &'de [u8], encoding: Encoding, order: ByteOrder) -> Self {
        Self {
            bytes,
            input: bytes,
            position: 0,
            origin: 0,
            encoding,
            order,
            depth: 0,
            empty_values_left: EMPTY_VALUES_MAX,
            is_base: false,
        }
    }

    /// Creates a decoder of the body of a payload, up to its padding.
    ///
    /// The padding count is untrusted: it can only shorten the body, and at most to nothing.
    ///
    /// # Errors
    /// The header is incomplete, or its representation is not a CDR representation.
    pub fn of_payload(payload: &'de [u8]) -> Result<(Self, Encapsulation), DecodeError> {
        let header = Encapsulation::parse(payload)?;
        // The count of padding bytes is a claim of the sender. It may shorten the body, and nothing else.
        let end = payload.len().saturating_sub(usize::from(header.padding)).max(Encapsulation::LEN);
        debug_assert!(end <= payload.len(), "a parsed payload has at least a header");
        let body = payload.get(..end).unwrap_or(payload);
        // Alignment starts behind the header (RTPS 2.5, 10.5).
        let decoder = Self {
            input: payload,
            position: Encapsulation::LEN,
            origin: Encapsulation::LEN,
            ..Self::new(body, header.encoding, header.order)
        };
        Ok((decoder, header))
    }

    /// Creates a decoder like [`Decoder::of_payload`], and checks that the header matches `extensibility`.
    pub(in crate::cdr) fn of_payload_for(
        payload: &'de [u8],
        extensibility: Option<Extensibility>,
    ) -> Result<Self, DecodeError> {
        let (decoder, header) = Self::of_payload(payload)?;
        if let Some(extensibility) = extensibility {
            header.expect_fit(extensibility)?;
        }
        Ok(decoder)
    }

    /// Returns the encoding.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the byte order.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the number of bytes before the next one to read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the number of bytes up to the end of the input or of the enclosing delimited value.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        debug_assert!(self.position <= self.bytes.len(), "no read passes the end of the input");
        self.bytes.len() - self.position
    }

    /// Returns the whole input, including the padding and the bytes that were already read.
    pub(in crate::cdr) fn input(&self) -> &'de [u8] {
        self.input
    }

    /// Returns the bytes that are not read yet.
    #[inline]
    pub(in crate::cdr) fn rest(&self) -> &'de [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Moves to the end.
    pub(in crate::cdr) fn finish(&mut self) {
        self.position = self.bytes.len();
    }

    /// Creates an error at the present position.
    #[must_use]
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(self.position, kind)
    }

    /// Skips the padding before a value with this alignment, a power of two. The encoding limits the alignment.
    ///
    /// # Errors
    /// The input ends inside of the padding.
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), DecodeError> {
        debug_assert!(self.position >= self.origin, "alignment starts before the next value");
        let mask = alignment.min(self.encoding.alignment_max()) - 1;
        let padding = (self.position - self.origin).wrapping_neg() & mask;
        if padding > self.remaining() {
            return Err(self.error(DecodeErrorKind::Truncated));
        }
        // The content of the padding is not checked: some senders leave old bytes there.
        self.position += padding;
        Ok(())
    }

    /// Returns whether the next number of `first` bytes will be aligned for a number of `largest` bytes.
    #[inline]
    pub(in crate::cdr) fn will_be_aligned(&self, first: usize, largest: usize) -> bool {
        let limit = self.encoding.alignment_max();
        (self.position - self.origin).next_multiple_of(first.clamp(1, limit)) % largest.clamp(1, limit) == 0
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    /// The input has fewer bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'de [u8], DecodeError> {
        // Two steps instead of `position + count`, which could overflow.
        let taken = self.bytes.get(self.position..).and_then(|rest| rest.get(..count));
        let Some(taken) = taken else { return Err(self.error(DecodeErrorKind::Truncated)) };
        self.position += count;
        Ok(taken)
    }

    /// Reads a number of `N` bytes, aligned to its size.
    #[inline]
    pub(in crate::cdr) fn number<T: Number<N>, const N: usize>(&mut self) -> Result<T, DecodeError> {
        if N > 1 {
            self.align(N)?;
        }
        let bytes = self.bytes.get(self.position..).and_then(|rest| rest.first_chunk::<N>());
        let Some(bytes) = bytes else { return Err(self.error(DecodeErrorKind::Truncated)) };
        self.position += N;
        Ok(T::from_bytes(*bytes, self.order))
    }

    /// Reads the bytes of `count` numbers, without a length.
    #[inline]
    pub(in crate::cdr) fn numbers<T: Primitive>(&mut self, count: usize) -> Result<&'de [u8], DecodeError> {
        // An empty run has no padding.
        if count == 0 {
            return Ok(&[]);
        }
        self.align(T::SIZE)?;
        match count.checked_mul(T::SIZE) {
            Some(size) => self.bytes(size),
            None => Err(self.error(DecodeErrorKind::Truncated)),
        }
    }

    /// Reads a length of values with at least `size` bytes each.
    ///
    /// The length is checked against the remaining input, so memory for that many values may be allocated. For `size` 0
    /// there is no bound: the caller must [count](Decoder::nothing) each value as it is read.
    ///
    /// # Errors
    /// The input ends, or is too short for the length.
    #[inline]
    pub fn length(&mut self, size: usize) -> Result<usize, DecodeError> {
        let length = u32::decode(self)?;
        let count = length as usize;
        // A product that overflows exceeds any input.
        if count.checked_mul(size).is_none_or(|needed| needed > self.remaining()) {
            return Err(self.error(DecodeErrorKind::LengthBeyondInput { length }));
        }
        Ok(count)
    }

    /// Counts a value without bytes and with `size` bytes of memory: an empty struct or array.
    ///
    /// # Errors
    /// The payload has too many of them: [`EMPTY_VALUES_MAX`].
    #[inline]
    pub fn nothing(&mut self, size: usize) -> Result<(), DecodeError> {
        // Values without bytes cost memory. The budget limits it, because the input does not.
        let cost = u32::try_from(size.max(1)).unwrap_or(u32::MAX);
        let Some(left) = self.empty_values_left.checked_sub(cost) else {
            return Err(self.error(DecodeErrorKind::TooManyEmptyValues));
        };
        self.empty_values_left = left;
        Ok(())
    }

    /// Counts an empty struct with [`Decoder::nothing`], unless a length in bytes precedes it.
    ///
    /// # Errors
    /// The payload has too many of them: [`EMPTY_VALUES_MAX`].
    #[inline]
    pub fn empty_struct(&mut self, size: usize, is_final: bool) -> Result<(), DecodeError> {
        // A DHEADER takes four bytes, so the input limits the number of such structs.
        let has_length = self.encoding == Encoding::Xcdr2 && !is_final && !self.is_base;
        if has_length { Ok(()) } else { self.nothing(size) }
    }

    /// Moves back to `start`. The budget for values without bytes stays spent.
    #[inline]
    pub(in crate::cdr) fn go_back_to(&mut self, start: Self) {
        // The budget is not given back: otherwise a hostile payload could spend it again and again.
        *self = Self { empty_values_left: self.empty_values_left, ..start };
    }

    /// Returns the remaining budget for values without bytes, for walks that count on their own.
    pub(in crate::cdr) fn empty_values_left_mut(&mut self) -> &mut u32 {
        &mut self.empty_values_left
    }

    /// Decodes an appendable struct.
    ///
    /// In XCDR2, it skips members that this type does not have. [`Decoder::member`] handles members that the sender
    /// does not have.
    ///
    /// # Errors
    /// Errors of `members`, or the length exceeds the input.
    #[inline]
    pub fn appendable<R>(
        &mut self,
        members: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        if self.take_base() { members(self) } else { self.delimited(members) }
    }

    /// Decodes the base of a struct that is not final. The members of both share one frame.
    ///
    /// For a mutable base, `base` searches its members among those of the whole struct, and consumes none.
    ///
    /// # Errors
    /// Errors of `base`.
    #[inline]
    pub fn base<R>(&mut self, base: impl FnOnce(&mut Self) -> Result<R, DecodeError>) -> Result<R, DecodeError> {
        // The first frame inside takes the mark. Bases of bases set it again.
        let outer = std::mem::replace(&mut self.is_base, true);
        let result = base(self);
        self.is_base = outer;
        result
    }

    /// Returns whether the struct that starts here is a base, and resets the flag for its members.
    #[inline]
    pub(in crate::cdr) fn take_base(&mut self) -> bool {
        std::mem::take(&mut self.is_base)
    }

    /// Decodes the elements of an array or sequence.
    ///
    /// # Errors
    /// Errors of `elements`, or the length exceeds the input.
    #[inline]
    pub fn collection<R>(
        &mut self,
        of_primitives: bool,
        elements: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        if of_primitives { elements(self) } else { self.delimited(elements) }
    }

    /// Decodes a value after its length in bytes (DHEADER, only in XCDR2).
    #[inline]
    fn delimited<R>(&mut self, body: impl FnOnce(&mut Self) -> Result<R, DecodeError>) -> Result<R, DecodeError> {
        let frame = self.enter_delimited()?;
        let result = body(self)?;
        self.leave(frame);
        Ok(result)
    }

    /// Reads a length in bytes (DHEADER, only in XCDR2), and limits the input to it.
    #[inline]
    pub(in crate::cdr) fn enter_delimited(&mut self) -> Result<Option<DecoderFrame<'de>>, DecodeError> {
        if self.encoding == Encoding::Xcdr1 {
            return Ok(None);
        }
        // Checked against the rest of the input, so `enter` cannot fail for an honest length.
        let length = self.length(1)?;
        self.enter(length).map(Some)
    }

    /// Limits the input to the next `length` bytes.
    #[inline]
    fn enter(&mut self, length: usize) -> Result<DecoderFrame<'de>, DecodeError> {
        let end = self.position + length;
        // The frame becomes the end of the input, so nothing inside can read beyond it.
        let Some(inner) = self.bytes.get(..end) else { return Err(self.error(DecodeErrorKind::Truncated)) };
        let outer = std::mem::replace(&mut self.bytes, inner);
        Ok(DecoderFrame { outer, origin: self.origin })
    }

    /// Moves behind the limited part of the input, and lifts the limit.
    #[inline]
    pub(in crate::cdr) fn leave(&mut self, frame: Option<DecoderFrame<'de>>) {
        if let Some(frame) = frame {
            debug_assert!(self.bytes.len() <= frame.outer.len(), "a limit only shortens the input");
            // Unread bytes are members that this type does not have.
            self.position = self.bytes.len();
            self.bytes = frame.outer;
            self.origin = frame.origin;
        }
    }

    /// Decodes one or more values at the next nesting level, with `size` bytes of memory each.
    ///
    /// A peer chooses the nesting of a recursive type, and must not control the stack usage. So large values count for
    /// several levels: one per KiB, up to 16. A higher maximum would reject types that are nested only a little and do
    /// not contain themselves.
    ///
    /// # Errors
    /// Errors of `body`, or the nesting exceeds [`NESTING_MAX`].
    #[inline]
    pub fn nested<R>(
        &mut self,
        size: usize,
        body: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        debug_assert!(self.depth <= NESTING_MAX, "no value is entered beyond the limit");
        let depth = self.depth;
        // Large values use more stack for each level, so they may nest less deeply.
        let deeper = depth + (size >> 10).clamp(1, 16) as u8;
        if deeper > NESTING_MAX {
            return Err(self.error(DecodeErrorKind::NestingTooDeep));
        }
        self.depth = deeper;
        // After an error, the caller stops or goes back to an earlier decoder, so the depth need not be restored.
        let result = body(self)?;
        self.depth = depth;
        Ok(result)
    }

    /// Decodes a member of an appendable struct. It gets its default if the sender's type ends before it (XCDR2).
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn member<T: Decode<'de>>(&mut self) -> Result<T, DecodeError> {
        // The sender's type may be older and end before this member.
        if self.is_at_end_of_delimited() { T::missing(self) } else { T::decode(self) }
    }

    /// Decodes a member like [`Decoder::member`] into `value`, and keeps its allocations.
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn member_into<T: Decode<'de>>(&mut self, value: &mut T) -> Result<(), DecodeError> {
        if self.is_at_end_of_delimited() {
            *value = T::missing(self)?;
            return Ok(());
        }
        value.decode_into(self)
    }

    /// Decodes an optional member.
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn optional<T: Decode<'de>>(&mut self) -> Result<Option<T>, DecodeError> {
        self.if_present(T::decode)
    }

    /// Decodes an optional member of an appendable struct. It is absent if the sender's type ends before it (XCDR2).
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn optional_member<T: Decode<'de>>(&mut self) -> Result<Option<T>, DecodeError> {
        if self.is_at_end_of_delimited() { Ok(None) } else { self.optional() }
    }

    /// Decodes a member like [`Decoder::optional_member`] into `value`, and keeps its allocations.
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn optional_member_into<T: Decode<'de>>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        if self.is_at_end_of_delimited() {
            *value = None;
            return Ok(());
        }
        self.optional_into(value)
    }

    /// Decodes a member like [`Decoder::optional`] into `value`, and keeps its allocations.
    ///
    /// # Errors
    /// Errors of the value.
    #[inline]
    pub fn optional_into<T: Decode<'de>>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        // The value is taken out, because it becomes `None` if the member is absent.
        let before = value.take();
        *value = self.if_present(|d| match before {
            Some(mut kept) => kept.decode_into(d).map(|()| kept),
            None => T::decode(d),
        })?;
        Ok(())
    }

    /// Decodes an optional member with `value` if it is present.
    ///
    /// # Errors
    /// Errors of `value`.
    #[inline]
    pub fn if_present<R>(
        &mut self,
        value: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<Option<R>, DecodeError> {
        let (is_present, frame) = self.enter_optional()?;
        if !is_present {
            return Ok(None);
        }
        let result = value(self)?;
        self.leave(frame);
        Ok(Some(result))
    }

    /// Reads the flag or header of an optional member. If it is present, its value and [`Decoder::leave`] follow.
    #[inline]
    pub(in crate::cdr) fn enter_optional(&mut self) -> Result<(bool, Option<DecoderFrame<'de>>), DecodeError> {
        match self.encoding {
            Encoding::Xcdr2 => Ok((bool::decode(self)?, None)),
            Encoding::Xcdr1 => {
                let frame = self.enter_parameter()?;
                Ok((frame.is_some(), frame))
            }
        }
    }

    /// Reads a parameter header of XCDR1; `None` without a value. Alignment restarts behind the header.
    ///
    /// The id is not checked. The position identifies the member, and vendors hash names to different ids.
    fn enter_parameter(&mut self) -> Result<Option<DecoderFrame<'de>>, DecodeError> {
        self.align(4)?;
        // The flags of the parameter do not matter: the member is known by its position.
        let id = u16::decode(self)? & PID_MASK;
        let mut length = u32::from(u16::decode(self)?);
        if id == PID_EXTENDED {
            // As above: the position names the member.
            let _id = u32::decode(self)?;
            length = u32::decode(self)?;
        }
        if length as usize > self.remaining() {
            return Err(self.error(DecodeErrorKind::LengthBeyondInput { length }));
        }
        // XCDR1 marks an absent member by length 0.
        if length == 0 {
            return Ok(None);
        }
        self.enter_member(length as usize).map(Some)
    }

    /// Limits the input to the `length` bytes of a member. In XCDR1, alignment restarts here.
    pub(in crate::cdr) fn enter_member(&mut self, length: usize) -> Result<DecoderFrame<'de>, DecodeError> {
        let frame = self.enter(length)?;
        // Each parameter value of XCDR1 restarts the alignment. XCDR2 counts on.
        if self.encoding == Encoding::Xcdr1 {
            self.origin = self.position;
        }
        Ok(frame)
    }

    /// Returns whether a delimited value has no more members. A value without a delimiter has all its members.
    #[inline]
    pub fn is_at_end_of_delimited(&self) -> bool {
        self.encoding == Encoding::Xcdr2 && self.remaining() == 0
    }

    /// Checks a length against the bound of its type.
    ///
    /// # Errors
    /// The length exceeds the bound.
    #[inline]
    pub fn check_bound(&self, length: usize, bound: u32) -> Result<(), DecodeError> {
        if length <= bound as usize {
            return Ok(());
        }
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Err(self.error(DecodeErrorKind::BoundExceeded { bound, length }))
    }
}

/// Mask of the id in a parameter header, without the flags.
pub(in crate::cdr) const PID_MASK: u16 = 0x3fff;
