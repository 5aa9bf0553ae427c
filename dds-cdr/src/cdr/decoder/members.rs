//! Mutable structs, unions, and values that may not fit their type.

use super::{Decoder, PID_MASK};
use crate::cdr::encoder::{PID_EXTENDED, PID_LONG_MUST_UNDERSTAND, PID_MUST_UNDERSTAND};
use crate::cdr::member::{CODE_SHIFT, ID_MASK, MUST_UNDERSTAND, PID_LIST_END};
use crate::cdr::union::DISCRIMINATOR_ID;
use crate::cdr::walk::skip_value;
use crate::cdr::{Decode, DecodeError, DecodeErrorKind, Encoding, TypeDescription};

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
        // XCDR1 has no DHEADER: there the end marker ends the list.
        let frame = self.enter_delimited()?;
        while let Some(header) = self.member_header()? {
            let value = self.enter_member(header.length)?;
            if !member(self, header.id)? && header.must_understand && is_strict {
                return Err(self.error(DecodeErrorKind::MustUnderstand { id: header.id & ID_MASK }));
            }
            // Also skips unknown members, and bytes that the visitor did not read.
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
            // Before a frame is entered, so that `enter` never sees a length beyond the input.
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
            // Length codes 0 to 3: 1, 2, 4 or 8 bytes (XTYPES 1.3, 7.4.3.5.3).
            code @ 0..=3 => 1 << code,
            4 => u32::decode(self)? as usize,
            code => {
                // The number is part of the value, so a clone reads it.
                let count = u32::decode(&mut self.clone())? as usize;
                let size = [1_usize, 4, 8].get(code as usize - 5).copied().unwrap_or(1);
                // Codes 5 to 7: the first number of the value counts elements of 1, 4 or 8 bytes behind it.
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
            // An id of a vendor has another meaning than the same id of the type.
            _ if field & PID_OF_VENDOR != 0 => header.id |= !ID_MASK,
            _ => {}
        }
        Ok(Some(header))
    }

    /// Creates the error for a discriminator without a case. The cursor is behind the discriminator.
    #[must_use]
    #[cold]
    #[doc(hidden)]
    pub fn unknown_discriminator(&self, value: i64) -> DecodeError {
        self.error(DecodeErrorKind::UnknownDiscriminator { value })
    }

    /// Decodes the discriminator of a mutable union, at any position. Does not move the cursor.
    ///
    /// # Errors
    /// The discriminator is missing, or not a value of its type.
    pub fn discriminator<T: Decode<'de>>(&self) -> Result<T, DecodeError> {
        let mut discriminator = None;
        let mut members = self.clone();
        members.members(|d, id| {
            // The first one counts: a second would change the meaning of members that were read.
            if id == DISCRIMINATOR_ID && discriminator.is_none() {
                discriminator = Some(T::decode(d)?);
            }
            Ok(true)
        })?;
        match discriminator {
            Some(discriminator) => Ok(discriminator),
            None => Err(members.error(DecodeErrorKind::MissingMember)),
        }
    }

    /// Decodes like [`Decoder::discriminator`]. Returns `None` if the value is well formed but does not fit its type.
    ///
    /// # Errors
    /// The discriminator is missing or malformed.
    pub fn try_discriminator<T: Decode<'de>>(&self) -> Result<Option<T>, DecodeError> {
        match self.discriminator() {
            Ok(discriminator) => Ok(Some(discriminator)),
            // The frame of the value is known, so the decoder can go on behind it.
            Err(error) if error.kind().is_of_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Decodes a mutable union whose discriminator is known. `value` decodes the member with this id, if present.
    ///
    /// The last of several values counts.
    ///
    /// # Errors
    /// Errors of the value, and those of [`Decoder::members`].
    pub fn selected_member<R>(
        &mut self,
        id: u32,
        mut value: impl FnMut(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<Option<R>, DecodeError> {
        let mut selected = None;
        self.members(|d, other| {
            if other == id {
                selected = Some(value(d)?);
            }
            Ok(other == id || other == DISCRIMINATOR_ID)
        })?;
        Ok(selected)
    }

    /// Decodes a mutable union without a selected member.
    ///
    /// # Errors
    /// Errors of [`Decoder::members`].
    pub fn no_selected_member(&mut self) -> Result<(), DecodeError> {
        self.members(|_, id| Ok(id == DISCRIMINATOR_ID))
    }

    /// Decodes a value of the type `ty` with `value`. `is_optional`: a presence flag or header precedes it.
    ///
    /// Returns `None` if the value is well formed but does not fit its type. The value is then skipped.
    ///
    /// # Errors
    /// Errors of `value` for malformed input.
    pub fn try_construct<R>(
        &mut self,
        ty: &TypeDescription,
        is_optional: bool,
        value: impl FnOnce(&mut Self) -> Result<R, DecodeError>,
    ) -> Result<Option<R>, DecodeError> {
        // A decoder is a few words, and cloning it copies no input.
        let start = self.clone();
        match value(self) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind().is_of_value() => {
                // The failed attempt may have stopped anywhere inside of the value.
                self.go_back_to(start);
                skip_value(ty, is_optional, self)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Flag of vendor-specific ids.
const PID_OF_VENDOR: u16 = 0x8000;
/// Id of a parameter that the receiver skips.
const PID_IGNORE: u16 = 0x3f03;
