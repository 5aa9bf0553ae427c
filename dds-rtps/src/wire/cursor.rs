//! Reads received bytes. Each access checks its bounds, and no access indexes.

use super::{WireError, WireErrorKind};
use crate::types::{EntityId, GuidPrefix, SequenceNumber};

/// Reads fields one after the other, in the byte order of a submessage.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    offset: usize,
    little_endian: bool,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over `bytes`, which begin `offset` bytes into the message.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], offset: usize, little_endian: bool) -> Self {
        Self { rest: bytes, offset, little_endian }
    }

    /// Returns the bytes from the start of the message to the next field.
    #[inline]
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    #[inline]
    pub(super) fn little_endian(&self) -> bool {
        self.little_endian
    }

    /// Returns the unread bytes.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns an error at the next field.
    #[inline]
    pub(super) fn error(&self, kind: WireErrorKind) -> WireError {
        WireError { kind, offset: self.offset }
    }

    #[inline]
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let Some((field, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.error(WireErrorKind::Truncated));
        };
        self.rest = rest;
        self.offset += N;
        Ok(*field)
    }

    /// Reads `len` bytes.
    #[inline]
    pub(super) fn slice(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let Some((field, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.error(WireErrorKind::Truncated));
        };
        self.rest = rest;
        self.offset += len;
        Ok(field)
    }

    /// Returns a separate cursor over the next `len` bytes.
    #[inline]
    pub(super) fn split(&mut self, len: usize) -> Result<Self, WireError> {
        // The offset counts from the start of the message, so errors of both cursors name the same bytes.
        let offset = self.offset;
        Ok(Self::new(self.slice(len)?, offset, self.little_endian))
    }

    #[inline]
    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        let bytes = self.bytes()?;
        Ok(if self.little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        let bytes = self.bytes()?;
        Ok(if self.little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    #[inline]
    pub(super) fn i32(&mut self) -> Result<i32, WireError> {
        let bytes = self.bytes()?;
        Ok(if self.little_endian { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) })
    }

    #[inline]
    pub(super) fn entity_id(&mut self) -> Result<EntityId, WireError> {
        self.bytes().map(EntityId)
    }

    #[inline]
    pub(super) fn guid_prefix(&mut self) -> Result<GuidPrefix, WireError> {
        self.bytes().map(GuidPrefix)
    }

    /// Reads a sequence number, valid or not.
    #[inline]
    pub(super) fn sequence_number(&mut self) -> Result<SequenceNumber, WireError> {
        let high = self.i32()?;
        Ok(SequenceNumber::from_words(high, self.u32()?))
    }

    /// Reads a sequence number that is valid for a change.
    #[inline]
    pub(super) fn valid_sequence_number(&mut self) -> Result<SequenceNumber, WireError> {
        // Before the field is read, so that the error names its offset.
        let error = self.error(WireErrorKind::SequenceNumber);
        let number = self.sequence_number()?;
        if number.is_valid() { Ok(number) } else { Err(error) }
    }

    /// Reads a fragment number, from 1.
    #[inline]
    pub(super) fn fragment_number(&mut self) -> Result<u32, WireError> {
        // Before the field is read, so that the error names its offset.
        let error = self.error(WireErrorKind::FragmentNumber);
        match self.u32()? {
            0 => Err(error),
            number => Ok(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_the_byte_order() {
        let bytes = [1, 2, 3, 4, 5, 6];
        let mut little = Cursor::new(&bytes, 20, true);
        assert_eq!((little.u16().unwrap(), little.u32().unwrap(), little.offset()), (0x0201, 0x0605_0403, 26));
        let mut big = Cursor::new(&bytes, 20, false);
        assert_eq!((big.u16().unwrap(), big.i32().unwrap()), (0x0102, 0x0304_0506));
    }

    #[test]
    fn field_past_the_end_reads_nothing() {
        let mut cursor = Cursor::new(&[1, 2], 8, true);
        assert_eq!(cursor.u32(), Err(WireError { kind: WireErrorKind::Truncated, offset: 8 }));
        assert!(cursor.split(3).is_err());
        assert_eq!(cursor.u16(), Ok(0x0201));
    }
}
