//! Mutable structs: members that carry their ids.
//!
//! ```text
//! XCDR2 (XTYPES 1.3, 7.4.3): DHEADER, then of each member
//! 31   30..28  27..0
//! +----+-------+--------------------+ NEXTINT, if the length code asks for it
//! | MU | code  | id                 | u32               value
//! +----+-------+--------------------+-------------------
//! code 0..3  the value has 1, 2, 4, 8 bytes
//! code 4     NEXTINT is the length of the value in bytes
//! code 5..7  NEXTINT is the first number of the value itself, which says how many 1, 4, 8 bytes follow it
//!
//! XCDR1: of each member a parameter header, and at the end one that says so
//! 15  14   13..0            15..0
//! +---+----+----------------+----------+
//! | x | MU | id             | length   | value          alignment counts anew behind the header
//! +---+----+----------------+----------+
//! 0x3f01, 8: u32 flags (bit 30 MU) and id, u32 length follow
//! 0x3f02, 0: no more members       0x3f03: to be ignored
//! x: the id is one of a vendor, unknown here
//! ```
//!
//! MU means that a reader must know the member or refuse the sample. Key members do not set it by themselves, though
//! XTYPES 1.3 wants it: Cyclone DDS does not either, because RTI Connext cannot read it there.

use super::decoder::PID_MASK;
use super::encoder::{PID_EXTENDED, PID_LONG_MUST_UNDERSTAND, PID_MUST_UNDERSTAND};
use super::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Encoding};

/// How a member header of XCDR2 tells the length of values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum LengthCode {
    /// They have one byte.
    Bytes1,
    /// They have two bytes.
    Bytes2,
    /// They have four bytes.
    Bytes4,
    /// They have eight bytes.
    Bytes8,
    /// It carries the length.
    NextInt,
    /// The value begins with the number of bytes that follow.
    Shared1,
    /// The value begins with how often four bytes follow.
    Shared4,
    /// The value begins with how often eight bytes follow.
    Shared8,
}

impl LengthCode {
    /// That of sequences of elements with this code.
    pub(super) const fn of_sequence(self, of_primitives: bool) -> Self {
        match self {
            // The length in bytes that other sequences begin with.
            _ if !of_primitives => Self::Shared1,
            Self::Bytes1 => Self::Shared1,
            Self::Bytes4 => Self::Shared4,
            Self::Bytes8 => Self::Shared8,
            _ => Self::NextInt,
        }
    }

    /// That of arrays.
    pub(super) const fn of_array(of_primitives: bool) -> Self {
        if of_primitives { Self::NextInt } else { Self::Shared1 }
    }

    /// That of numbers of so many bytes.
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
    /// Writes a mutable struct, whose members are written by [`Encoder::member`].
    ///
    /// # Errors
    /// Those of `members`, or more bytes than the length can say.
    pub fn mutable(&mut self, members: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        if self.take_base() || self.counts_as_final() {
            return members(self);
        }
        match self.encoding() {
            Encoding::Xcdr2 => self.appendable(members),
            Encoding::Xcdr1 => {
                members(self)?;
                self.align(4);
                self.numbers(&[PID_LIST_END, 0]);
                Ok(())
            }
        }
    }

    /// Writes a member of a mutable struct: what tells its id and length, and what `value` writes.
    ///
    /// # Errors
    /// Those of `value`, or more bytes than the length can say.
    pub fn member(
        &mut self,
        id: u32,
        must_understand: bool,
        code: LengthCode,
        value: impl FnOnce(&mut Self) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
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
            LengthCode::NextInt => self.appendable(value),
            _ => value(self),
        }
    }

    /// Writes an optional member of a mutable struct: nothing, if it is absent.
    ///
    /// # Errors
    /// Those of the value, or more bytes than the length can say.
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

/// What stands in front of a member.
struct MemberHeader {
    /// Of a member that cannot be one of ours, more than [`ID_MASK`].
    id: u32,
    must_understand: bool,
    length: usize,
}

impl<'de> Decoder<'de> {
    /// Takes a mutable struct. `member` is called with the id of each member, in the order of the sender, takes the value
    /// and says `true`; or it takes nothing and says `false`, if it does not know the id. What it leaves of a value is
    /// passed over.
    ///
    /// # Errors
    /// Those of `member`, or of what is around the values; [`DecodeErrorKind::MustUnderstand`], if a member is not known
    /// that the sender wants to be.
    pub fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, u32) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        if self.take_base() {
            // Whether the others are known is asked when the members of the struct itself are taken.
            return self.clone().each_member(&mut member, false);
        }
        self.each_member(&mut member, true)
    }

    /// Takes a mutable struct; `is_strict` says whether members that are not known may be an error.
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

    /// Passes over a mutable struct or union.
    ///
    /// # Errors
    /// What is around its members is broken.
    pub fn pass_members(&mut self) -> Result<(), DecodeError> {
        match self.enter_delimited()? {
            None => self.members(|_, _| Ok(true)),
            frame => {
                self.leave(frame);
                Ok(())
            }
        }
    }

    /// Takes the value of an optional member that is there, keeping the allocations of a value that was there before.
    ///
    /// # Errors
    /// Those of the value.
    pub fn present_into<T: Decode<'de>>(&mut self, value: &mut Option<T>) -> Result<(), DecodeError> {
        match value {
            Some(value) => value.decode_into(self),
            None => {
                *value = Some(T::decode(self)?);
                Ok(())
            }
        }
    }

    /// The next member; `None` if there are no more.
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

    fn length_coded_header(&mut self) -> Result<MemberHeader, DecodeError> {
        let header = u32::decode(self)?;
        let length = match header >> CODE_SHIFT & 0b111 {
            code @ 0..=3 => 1 << code,
            4 => u32::decode(self)? as usize,
            code => {
                // The number is part of the value: another cursor reads it.
                let count = u32::decode(&mut self.clone())? as usize;
                let size = [1_usize, 4, 8].get(code as usize - 5).copied().unwrap_or(1);
                count.saturating_mul(size).saturating_add(size_of::<u32>())
            }
        };
        Ok(MemberHeader { id: header & ID_MASK, must_understand: header & MUST_UNDERSTAND != 0, length })
    }

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

/// The low bits of a member header of XCDR2.
const ID_MASK: u32 = 0x0fff_ffff;
const CODE_SHIFT: u32 = 28;
const MUST_UNDERSTAND: u32 = 1 << 31;
/// The flag of ids that a vendor has given.
const PID_OF_VENDOR: u16 = 0x8000;
/// What ends the members of a mutable struct. Cyclone DDS sends it as 0x7f02, Fast-CDR as 0x3f02.
const PID_LIST_END: u16 = 0x3f02;
const PID_IGNORE: u16 = 0x3f03;
