//! Mutable structs: members with ids.
//!
//! ```text
//! XCDR2 (XTYPES 1.3, 7.4.3): DHEADER, then each member
//! 31   30..28  27..0
//! +----+-------+--------------------+ NEXTINT, depending on the code
//! | MU | code  | id                 | u32               value
//! +----+-------+--------------------+-------------------
//! code 0..3  the value has 1, 2, 4, 8 bytes
//! code 4     NEXTINT is the length of the value in bytes
//! code 5..7  NEXTINT is the first number of the value, and counts the 1, 4 or 8 bytes that follow it
//!
//! XCDR1: each member has a parameter header, then the end marker
//! 15  14   13..0            15..0
//! +---+----+----------------+----------+
//! | x | MU | id             | length   | value          alignment restarts behind the header
//! +---+----+----------------+----------+
//! 0x3f01, 8: u32 flags (bit 30 MU) and id, u32 length follow
//! 0x3f02, 0: end marker            0x3f03: ignored
//! x: vendor-specific id, unknown here
//! ```
//!
//! MU: a reader that does not know the member rejects the sample. Key members do not set MU by themselves, although
//! XTYPES 1.3 requires it. Cyclone DDS does not set it either, because RTI Connext cannot read it there.

use super::decoder::PID_MASK;
use super::encoder::{PID_EXTENDED, PID_LONG_MUST_UNDERSTAND, PID_MUST_UNDERSTAND};
use super::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Encoding};

/// Encodes how a member header of XCDR2 gives the length of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum LengthCode {
    /// The value has one byte.
    Bytes1,
    /// The value has two bytes.
    Bytes2,
    /// The value has four bytes.
    Bytes4,
    /// The value has eight bytes.
    Bytes8,
    /// The header contains the length.
    NextInt,
    /// The value starts with its length in bytes.
    Shared1,
    /// The value starts with its length in units of four bytes.
    Shared4,
    /// The value starts with its length in units of eight bytes.
    Shared8,
}

impl LengthCode {
    /// Returns the code of sequences of elements with this code.
    pub(super) const fn of_sequence(self, of_primitives: bool) -> Self {
        match self {
            // Other sequences start with their length in bytes.
            _ if !of_primitives => Self::Shared1,
            Self::Bytes1 => Self::Shared1,
            Self::Bytes4 => Self::Shared4,
            Self::Bytes8 => Self::Shared8,
            _ => Self::NextInt,
        }
    }

    /// Returns the code of arrays.
    pub(super) const fn of_array(of_primitives: bool) -> Self {
        if of_primitives { Self::NextInt } else { Self::Shared1 }
    }

    /// Returns the code of numbers with this size in bytes.
    pub(super) const fn of_number(size: usize) -> Self {
        match size {
            1 => Self::Bytes1,
            2 => Self::Bytes2,
            4 => Self::Bytes4,
            8 => Self::Bytes8,
            _ => Self::NextInt,
        }
    }
}

impl Encoder<'_> {
    /// Encodes a mutable struct. `members` writes each member with [`Encoder::member`].
    ///
    /// # Errors
    /// Errors of `members`, or the length exceeds 32 bits.
    pub fn mutable(&mut self, members: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        if self.take_base() || self.counts_as_final() {
            return members(self);
        }
        match self.encoding() {
            Encoding::Xcdr2 => self.appendable(members),
            Encoding::Xcdr1 => {
                members(self)?;
                // The end marker is a parameter header, which is aligned to 4.
                self.align(4);
                self.numbers(&[PID_LIST_END, 0]);
                Ok(())
            }
        }
    }

    /// Encodes a member of a mutable struct: its id, its length, and its value by `value`.
    ///
    /// # Errors
    /// Errors of `value`, or the length exceeds 32 bits.
    pub fn member(
        &mut self,
        id: u32,
        must_understand: bool,
        code: LengthCode,
        value: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        // The input of a key hash has no headers.
        if self.counts_as_final() {
            return value(self);
        }
        if self.encoding() == Encoding::Xcdr1 {
            let frame = self.enter_parameter(id, must_understand);
            value(self)?;
            return self.leave_parameter(frame);
        }
        let flag = if must_understand { MUST_UNDERSTAND } else { 0 };
        (flag | (code as u32) << CODE_SHIFT | id & ID_MASK).encode(self)?;
        match code {
            // NEXTINT is the length of the value, like the DHEADER of an appendable struct.
            LengthCode::NextInt => self.appendable(value),
            _ => value(self),
        }
    }

    /// Encodes an optional member of a mutable struct. An absent member is omitted.
    ///
    /// # Errors
    /// Errors of the value, or the length exceeds 32 bits.
    pub fn member_if_present<T: Encode>(
        &mut self,
        id: u32,
        must_understand: bool,
        value: Option<&T>,
    ) -> Result<(), EncodeError> {
        match value {
            _ if self.counts_as_final() => self.optional(id, value),
            Some(value) => self.member(id, must_understand, T::LENGTH_CODE, |e| value.encode(e)),
            None => Ok(()),
        }
    }
}

/// Header of a member.
struct MemberHeader {
    /// The id; larger than [`ID_MASK`] if the member is certainly unknown.
    id: u32,
    must_understand: bool,
    length: usize,
}

impl<'de> Decoder<'de> {
    /// Decodes a mutable struct. Calls `member` with the id of each member, in the order of the sender.
    ///
    /// `member` decodes the value and returns `true`. For an unknown id, it reads nothing and returns `false`. The rest
    /// of a value is skipped.
    ///
    /// # Errors
    /// Errors of `member` or of the framing. [`DecodeErrorKind::MustUnderstand`] if an unknown member is marked
    /// must-understand.
    pub fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, u32) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        if self.take_base() {
            // The members of the derived struct are not unknown. Its own pass checks for unknown members.
            return self.clone().each_member(&mut member, false);
        }
        self.each_member(&mut member, true)
    }

    /// Decodes a mutable struct. `is_strict`: an unknown must-understand member is an error.
    fn each_member(
        &mut self,
        member: &mut impl FnMut(&mut Self, u32) -> Result<bool, DecodeError>,
        is_strict: bool,
    ) -> Result<(), DecodeError> {
        let frame = self.enter_delimited()?;
        while let Some(header) = self.member_header()? {
            let value = self.enter_member(header.length)?;
            if !member(self, header.id)? && header.must_understand && is_strict {
                return Err(self.error(DecodeErrorKind::MustUnderstand { id: header.id & ID_MASK }));
            }
            self.leave(Some(value));
        }
        self.leave(frame);
        Ok(())
    }

    /// Skips a mutable struct or union.
    ///
    /// # Errors
    /// The framing of the members is malformed.
    pub fn pass_members(&mut self) -> Result<(), DecodeError> {
        match self.enter_delimited()? {
            None => self.members(|_, _| Ok(true)),
            frame => {
                self.leave(frame);
                Ok(())
            }
        }
    }

    /// Decodes a present optional member into `value`, and keeps its allocations.
    ///
    /// # Errors
    /// Errors of the value.
    pub fn present_into<T: Decode<'de>>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        match value {
            Some(value) => value.decode_into(self),
            None => {
                *value = Some(T::decode(self)?);
                Ok(())
            }
        }
    }

    /// Reads the header of the next member; `None` at the end.
    fn member_header(&mut self) -> Result<Option<MemberHeader>, DecodeError> {
        let header = match self.encoding() {
            Encoding::Xcdr2 if self.remaining() == 0 => return Ok(None),
            Encoding::Xcdr2 => Some(self.length_coded_header()?),
            Encoding::Xcdr1 => self.parameter_header()?,
        };
        if let Some(MemberHeader { length, .. }) = &header {
            if *length > self.remaining() {
                let length = u32::try_from(*length).unwrap_or(u32::MAX);
                return Err(self.error(DecodeErrorKind::LengthBeyondInput { length }));
            }
        }
        Ok(header)
    }

    /// Reads a member header of XCDR2.
    fn length_coded_header(&mut self) -> Result<MemberHeader, DecodeError> {
        let header = u32::decode(self)?;
        let length = match header >> CODE_SHIFT & 0b111 {
            code @ 0..=3 => 1 << code,
            4 => u32::decode(self)? as usize,
            code => {
                // The number is part of the value, so a clone reads it.
                let count = u32::decode(&mut self.clone())? as usize;
                let size = [1_usize, 4, 8].get(code as usize - 5).copied().unwrap_or(1);
                count.saturating_mul(size).saturating_add(size_of::<u32>())
            }
        };
        Ok(MemberHeader { id: header & ID_MASK, must_understand: header & MUST_UNDERSTAND != 0, length })
    }

    /// Reads a parameter header of XCDR1; `None` for the end marker.
    fn parameter_header(&mut self) -> Result<Option<MemberHeader>, DecodeError> {
        self.align(4)?;
        let field = u16::decode(self)?;
        let length = u16::decode(self)?;
        let mut header = MemberHeader {
            id: u32::from(field & PID_MASK),
            must_understand: field & PID_MUST_UNDERSTAND != 0,
            length: usize::from(length),
        };
        match field & PID_MASK {
            PID_LIST_END => return Ok(None),
            PID_EXTENDED => {
                let field = u32::decode(self)?;
                header.id = field & !PID_LONG_MUST_UNDERSTAND;
                header.must_understand = field & PID_LONG_MUST_UNDERSTAND != 0;
                header.length = u32::decode(self)? as usize;
            }
            // No member has an id above `ID_MASK`, so the caller ignores these.
            PID_IGNORE => {
                header.id = u32::MAX;
                header.must_understand = false;
            }
            _ if field & PID_OF_VENDOR != 0 => header.id |= !ID_MASK,
            _ => {}
        }
        Ok(Some(header))
    }
}

/// Mask of the id in a member header of XCDR2.
const ID_MASK: u32 = 0x0fff_ffff;
const CODE_SHIFT: u32 = 28;
const MUST_UNDERSTAND: u32 = 1 << 31;
/// Flag of vendor-specific ids.
const PID_OF_VENDOR: u16 = 0x8000;
/// Id of the end marker of a mutable struct. Cyclone DDS sends it as 0x7f02, Fast-CDR as 0x3f02.
const PID_LIST_END: u16 = 0x3f02;
const PID_IGNORE: u16 = 0x3f03;
