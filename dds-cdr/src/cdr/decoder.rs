//! The cursor that reads.

use super::encoder::PID_EXTENDED;
use super::primitive::Number;
use super::{ByteOrder, Decode, DecodeError, DecodeErrorKind, Encapsulation, Encoding, Extensibility, Primitive};

/// How deep values of recursive types may be nested: boxes, and sequences of what is not primitive, count. Far more than
/// real types use, and with [`Decoder::nested`] shallow enough for the stack of a small thread.
pub const NESTING_MAX: u8 = 64;

/// How much decoding of values that take no bytes a payload may cost: each counts with its size in memory, at least 1. A length
/// costs its sender 4 bytes, so of such elements it alone would decide how long decoding takes; a million counts are some
/// milliseconds and a megabyte.
pub const NOTHINGS_MAX: u32 = 1 << 20;

/// Takes values from bytes by the rules of an encoding.
///
/// Every read is checked against the end of the input, or of the delimited value it is in.
#[derive(Debug, Clone)]
pub struct Decoder<'de> {
    /// The input up to the end of the delimited value we are in.
    bytes: &'de [u8],
    /// All of the input, for samples that stay raw.
    input: &'de [u8],
    position: usize,
    /// The index from which alignment counts.
    origin: usize,
    encoding: Encoding,
    order: ByteOrder,
    depth: u8,
    /// How much of [`NOTHINGS_MAX`] is left.
    empty_values_left: u32,
    /// What comes next is the base of a struct, whose members are framed together with those of the struct.
    is_base: bool,
}

/// What was limited when a part of the input was entered.
#[derive(Debug)]
pub(super) struct Frame<'de> {
    outer: &'de [u8],
    origin: usize,
}

impl<'de> Decoder<'de> {
    /// Reads bytes that have no header; alignment counts from their beginning.
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
            empty_values_left: NOTHINGS_MAX,
            is_base: false,
        }
    }

    /// Reads the body of a payload by what its header says, up to the padding.
    ///
    /// The padding count comes from a peer: it is used only to shorten, and only by as much as there is.
    ///
    /// # Errors
    /// The header is incomplete or names no representation of CDR.
    pub fn of_payload(payload: &'de [u8]) -> Result<(Self, Encapsulation), DecodeError> {
        let header = Encapsulation::parse(payload)?;
        let end = payload.len().saturating_sub(usize::from(header.padding)).max(Encapsulation::LEN);
        let decoder = Self {
            bytes: payload.get(..end).unwrap_or(payload),
            input: payload,
            position: Encapsulation::LEN,
            origin: Encapsulation::LEN,
            encoding: header.encoding,
            order: header.order,
            depth: 0,
            empty_values_left: NOTHINGS_MAX,
            is_base: false,
        };
        Ok((decoder, header))
    }

    /// Like [`Decoder::of_payload`], for a value of a type with `extensibility`.
    pub(super) fn of_payload_for(
        payload: &'de [u8],
        extensibility: Option<Extensibility>,
    ) -> Result<Self, DecodeError> {
        let (decoder, header) = Self::of_payload(payload)?;
        extensibility.map_or(Ok(()), |extensibility| header.expect_fit(extensibility))?;
        Ok(decoder)
    }

    /// The rules in force.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The byte order in force.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes from the beginning of the input to the next one to read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes from here to the end of the input, or of the delimited value we are in.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// All of the input, what was read already and the padding too.
    pub(super) fn input(&self) -> &'de [u8] {
        self.input
    }

    /// What is not yet taken.
    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Goes to the end.
    pub(super) fn finish(&mut self) {
        self.position = self.bytes.len();
    }

    /// An error at the present position.
    #[must_use]
    #[cold]
    pub fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        DecodeError::new(self.position, kind)
    }

    /// Passes over the padding in front of a value with this alignment, a power of two that the encoding limits.
    ///
    /// # Errors
    /// The input ends before.
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), DecodeError> {
        let mask = alignment.min(self.encoding.alignment_max()) - 1;
        let padding = (self.position - self.origin).wrapping_neg() & mask;
        if padding > self.remaining() {
            return Err(self.error(DecodeErrorKind::Truncated));
        }
        self.position += padding;
        Ok(())
    }

    /// Whether the next number of `first` bytes stands where one of `largest` bytes may.
    #[inline]
    pub(super) fn will_be_aligned(&self, first: usize, largest: usize) -> bool {
        let limit = self.encoding.alignment_max();
        (self.position - self.origin).next_multiple_of(first.clamp(1, limit)) % largest.clamp(1, limit) == 0
    }

    /// Takes `count` bytes as they are.
    ///
    /// # Errors
    /// The input has fewer.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'de [u8], DecodeError> {
        let taken = self.bytes.get(self.position..).and_then(|rest| rest.get(..count));
        let Some(taken) = taken else { return Err(self.error(DecodeErrorKind::Truncated)) };
        self.position += count;
        Ok(taken)
    }

    /// Takes a number of `N` bytes, aligned to its size.
    #[inline]
    pub(super) fn number<T: Number<N>, const N: usize>(&mut self) -> Result<T, DecodeError> {
        if N > 1 {
            self.align(N)?;
        }
        let bytes = self.bytes.get(self.position..).and_then(|rest| rest.first_chunk::<N>());
        let Some(bytes) = bytes else { return Err(self.error(DecodeErrorKind::Truncated)) };
        self.position += N;
        Ok(T::from_bytes(*bytes, self.order))
    }

    /// Takes the bytes of `count` numbers, without a length in front.
    #[inline]
    pub(super) fn numbers<T: Primitive>(&mut self, count: usize) -> Result<&'de [u8], DecodeError> {
        if count == 0 {
            return Ok(&[]);
        }
        self.align(T::SIZE)?;
        match count.checked_mul(T::SIZE) {
            Some(size) => self.bytes(size),
            None => Err(self.error(DecodeErrorKind::Truncated)),
        }
    }

    /// Takes a length, of values that occupy at least `size` bytes each. It is compared with what the input can hold, so
    /// that memory for that many values may be asked for; but not of values that may occupy none at all (0), of which each
    /// has to be [counted](Decoder::nothing) as it is taken.
    ///
    /// # Errors
    /// The input ends, or cannot hold that much.
    #[inline]
    pub fn length(&mut self, size: usize) -> Result<usize, DecodeError> {
        let length = u32::decode(self)?;
        let count = length as usize;
        if count.checked_mul(size).is_none_or(|needed| needed > self.remaining()) {
            return Err(self.error(DecodeErrorKind::LengthBeyondInput { length }));
        }
        Ok(count)
    }

    /// A value was taken that has no bytes here, and `size` in memory: a struct without members, an array without elements.
    ///
    /// # Errors
    /// There were too many of them in this payload: [`NOTHINGS_MAX`].
    #[inline]
    pub fn nothing(&mut self, size: usize) -> Result<(), DecodeError> {
        match u32::try_from(size.max(1)).ok().and_then(|size| self.empty_values_left.checked_sub(size)) {
            Some(left) => {
                self.empty_values_left = left;
                Ok(())
            }
            None => Err(self.error(DecodeErrorKind::TooManyNothings)),
        }
    }

    /// [`Decoder::nothing`] for a struct, unless a length in bytes stands before it.
    ///
    /// # Errors
    /// As of that.
    #[inline]
    pub fn empty_struct(&mut self, size: usize, is_final: bool) -> Result<(), DecodeError> {
        let has_length = self.encoding == Encoding::Xcdr2 && !is_final && !self.is_base;
        if has_length { Ok(()) } else { self.nothing(size) }
    }

    /// Goes back to where `start` stood. What values without bytes have cost was spent.
    #[inline]
    pub(super) fn go_back_to(&mut self, start: Self) {
        *self = Self { empty_values_left: self.empty_values_left, ..start };
    }

    /// What values without bytes may still cost, for who counts in the decoder's stead.
    pub(super) fn empty_values_left_mut(&mut self) -> &mut u32 {
        &mut self.empty_values_left
    }

    /// Takes an appendable struct. XCDR2: members that this type does not have are passed over, and those that the sender
    /// did not have are left to [`Decoder::member`].
    ///
    /// # Errors
    /// Those of `members`, or a length beyond the input.
    #[inline]
    pub fn appendable<R>(
        &mut self,
        members: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        if self.take_base() { members(self) } else { self.delimited(members) }
    }

    /// Takes the base of a struct that is not final: the members that come first, which are framed together with those that
    /// follow. Of a mutable one, they are looked for among the members of the struct, and none is taken.
    ///
    /// # Errors
    /// Those of `base`.
    #[inline]
    pub fn base<R>(&mut self, base: impl FnOnce(&mut Self) -> Result<R, DecodeError>) -> Result<R, DecodeError> {
        let outer = std::mem::replace(&mut self.is_base, true);
        let result = base(self);
        self.is_base = outer;
        result
    }

    /// Whether the struct that begins here is a base. What is in it is none.
    #[inline]
    pub(super) fn take_base(&mut self) -> bool {
        std::mem::take(&mut self.is_base)
    }

    /// Takes the elements of an array or sequence.
    ///
    /// # Errors
    /// Those of `elements`, or a length beyond the input.
    #[inline]
    pub fn collection<R>(
        &mut self,
        of_primitives: bool,
        elements: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        if of_primitives { elements(self) } else { self.delimited(elements) }
    }

    /// Takes a value behind its length in bytes (DHEADER), if the encoding is XCDR2.
    #[inline]
    fn delimited<R>(&mut self, body: impl FnOnce(&mut Self) -> Result<R, DecodeError>) -> Result<R, DecodeError> {
        let frame = self.enter_delimited()?;
        let result = body(self)?;
        self.leave(frame);
        Ok(result)
    }

    /// Takes a length in bytes (DHEADER) and limits the input to it, if the encoding is XCDR2.
    #[inline]
    pub(super) fn enter_delimited(&mut self) -> Result<Option<Frame<'de>>, DecodeError> {
        if self.encoding == Encoding::Xcdr1 {
            return Ok(None);
        }
        let length = self.length(1)?;
        self.enter(length).map(Some)
    }

    /// Limits the input to the next `length` bytes.
    #[inline]
    fn enter(&mut self, length: usize) -> Result<Frame<'de>, DecodeError> {
        let end = self.position + length;
        let Some(inner) = self.bytes.get(..end) else { return Err(self.error(DecodeErrorKind::Truncated)) };
        let outer = std::mem::replace(&mut self.bytes, inner);
        Ok(Frame { outer, origin: self.origin })
    }

    /// Goes to the end of what was entered, and behind it.
    #[inline]
    pub(super) fn leave(&mut self, frame: Option<Frame<'de>>) {
        if let Some(frame) = frame {
            self.position = self.bytes.len();
            self.bytes = frame.outer;
            self.origin = frame.origin;
        }
    }

    /// Takes a value, or several of them, that lie deeper than the present one and have `size` bytes in memory each.
    ///
    /// A peer decides how deep a value of a recursive type goes, so it must not decide how much stack is used: large values
    /// count for several levels, one for each kilobyte up to 16. (More would refuse large values that are nested only a
    /// little, in types that do not even contain themselves.)
    ///
    /// # Errors
    /// Those of `body`, or it would be deeper than [`NESTING_MAX`].
    #[inline]
    pub fn nested<R>(
        &mut self,
        size: usize,
        body: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<R, DecodeError> {
        let depth = self.depth;
        let deeper = depth + (size >> 10).clamp(1, 16) as u8;
        if deeper > NESTING_MAX {
            return Err(self.error(DecodeErrorKind::NestingTooDeep));
        }
        self.depth = deeper;
        let result = body(self)?;
        self.depth = depth;
        Ok(result)
    }

    /// Takes a member of an appendable struct, or its default if the sender's type ended before it (XCDR2).
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn member<T: Decode<'de>>(&mut self) -> Result<T, DecodeError> {
        if self.is_at_end_of_delimited() { T::missing(self) } else { T::decode(self) }
    }

    /// [`Decoder::member`], keeping the allocations of `value`.
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn member_into<T: Decode<'de>>(&mut self, value: &mut T) -> Result<(), DecodeError> {
        if self.is_at_end_of_delimited() {
            *value = T::missing(self)?;
            return Ok(());
        }
        value.decode_into(self)
    }

    /// Takes an optional member.
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn optional<T: Decode<'de>>(&mut self) -> Result<Option<T>, DecodeError> {
        self.if_present(T::decode)
    }

    /// An optional member of an appendable struct: absent, if the sender's type ended before it (XCDR2).
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn optional_member<T: Decode<'de>>(&mut self) -> Result<Option<T>, DecodeError> {
        if self.is_at_end_of_delimited() { Ok(None) } else { self.optional() }
    }

    /// [`Decoder::optional_member`], keeping the allocations of a value that was there before.
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn optional_member_into<T: Decode<'de>>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        if self.is_at_end_of_delimited() {
            *value = None;
            return Ok(());
        }
        self.optional_into(value)
    }

    /// [`Decoder::optional`], keeping the allocations of a value that was there before.
    ///
    /// # Errors
    /// Those of the value.
    #[inline]
    pub fn optional_into<T: Decode<'de>>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        let before = value.take();
        *value = self.if_present(|d| match before {
            Some(mut kept) => kept.decode_into(d).map(|()| kept),
            None => T::decode(d),
        })?;
        Ok(())
    }

    /// Takes an optional member by `value`, if it is there.
    ///
    /// # Errors
    /// Those of `value`.
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

    /// Takes what introduces an optional member. If it is there, its value comes next, and the frame is to be left.
    #[inline]
    pub(super) fn enter_optional(&mut self) -> Result<(bool, Option<Frame<'de>>), DecodeError> {
        match self.encoding {
            Encoding::Xcdr2 => Ok((bool::decode(self)?, None)),
            Encoding::Xcdr1 => {
                let frame = self.enter_parameter()?;
                Ok((frame.is_some(), frame))
            }
        }
    }

    /// Takes a parameter header of XCDR1; `None` if it says that there is no value. Alignment counts anew behind it.
    ///
    /// The id is not compared: the place decides, and ids differ between vendors where they are made by hashing.
    fn enter_parameter(&mut self) -> Result<Option<Frame<'de>>, DecodeError> {
        self.align(4)?;
        let id = u16::decode(self)? & PID_MASK;
        let mut length = u32::from(u16::decode(self)?);
        if id == PID_EXTENDED {
            let _id = u32::decode(self)?;
            length = u32::decode(self)?;
        }
        if length as usize > self.remaining() {
            return Err(self.error(DecodeErrorKind::LengthBeyondInput { length }));
        }
        if length == 0 {
            return Ok(None);
        }
        self.enter_member(length as usize).map(Some)
    }

    /// Limits the input to a member of `length` bytes, behind its header. In XCDR1 alignment counts anew from here.
    pub(super) fn enter_member(&mut self, length: usize) -> Result<Frame<'de>, DecodeError> {
        let frame = self.enter(length)?;
        if self.encoding == Encoding::Xcdr1 {
            self.origin = self.position;
        }
        Ok(frame)
    }

    /// Whether a delimited value has no more members. What has no delimiter must have all of them.
    #[inline]
    pub fn is_at_end_of_delimited(&self) -> bool {
        self.encoding == Encoding::Xcdr2 && self.remaining() == 0
    }

    /// Checks a length against the bound of its type.
    ///
    /// # Errors
    /// The length is over the bound.
    #[inline]
    pub fn check_bound(&self, length: usize, bound: u32) -> Result<(), DecodeError> {
        if length <= bound as usize {
            return Ok(());
        }
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        Err(self.error(DecodeErrorKind::BoundExceeded { bound, length }))
    }
}

/// The id in a parameter header, without the flags.
pub(super) const PID_MASK: u16 = 0x3fff;
