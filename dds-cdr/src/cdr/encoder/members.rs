//! Mutable structs.

use super::Encoder;
use crate::cdr::member::{CODE_SHIFT, ID_MASK, LengthCode, MUST_UNDERSTAND, PID_LIST_END};
use crate::cdr::{Encode, EncodeError, Encoding};

impl Encoder<'_> {
    /// Encodes a mutable struct. `members` writes each member with [`Encoder::member`].
    ///
    /// # Errors
    /// Errors of `members`, or the length exceeds 32 bits.
    pub fn mutable(&mut self, members: impl FnOnce(&mut Self) -> Result<(), EncodeError>) -> Result<(), EncodeError> {
        // The members of a base are in the list of the derived struct, without a list of their own.
        if self.take_base() || self.counts_as_final() {
            return members(self);
        }
        match self.encoding() {
            Encoding::Xcdr2 => self.appendable(members),
            Encoding::Xcdr1 => {
                members(self)?;
                // The end marker is a parameter header, which is aligned to 4.
                self.align(4);
                // 0x3f02 ends the list of a sample. The parameter lists of RTPS itself end with 1.
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
            // A parameter of XCDR1 has its length in the header, so the value is encoded between the two calls.
            let frame = self.enter_parameter(id, must_understand);
            value(self)?;
            return self.leave_parameter(frame);
        }
        let flag = if must_understand { MUST_UNDERSTAND } else { 0 };
        // EMHEADER: one bit must-understand, three bits length code, 28 bits id (XTYPES 1.3, 7.4.3.5.3).
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
            // The key of a mutable struct is hashed like that of a final one, where a flag marks optional members.
            _ if self.counts_as_final() => self.optional(id, value),
            Some(value) => self.member(id, must_understand, T::LENGTH_CODE, |e| value.encode(e)),
            // An absent member is simply not in the list.
            None => Ok(()),
        }
    }
}
