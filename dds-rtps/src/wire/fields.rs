//! Collects the fields of a submessage on the stack, so that the buffer grows once for all of them.

use crate::types::SequenceNumber;

/// At most `N` bytes of little-endian fields.
///
/// One function contains both `N` and the fields, so its first test detects an overflow.
pub(super) struct Fields<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Fields<N> {
    #[inline]
    pub(super) fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    /// Begins with a submessage header; `body_len` bytes follow it.
    #[inline]
    pub(super) fn submessage(id: u8, flags: u8, body_len: u16) -> Self {
        let mut fields = Self::new();
        fields.bytes([id, flags | super::submessage::FLAG_LITTLE_ENDIAN]).u16(body_len);
        fields
    }

    #[inline]
    pub(super) fn bytes<const M: usize>(&mut self, field: [u8; M]) -> &mut Self {
        let end = self.len + M;
        self.bytes[self.len..end].copy_from_slice(&field);
        self.len = end;
        self
    }

    #[inline]
    pub(super) fn u16(&mut self, field: u16) -> &mut Self {
        self.bytes(field.to_le_bytes())
    }

    #[inline]
    pub(super) fn u32(&mut self, field: u32) -> &mut Self {
        self.bytes(field.to_le_bytes())
    }

    #[inline]
    pub(super) fn i32(&mut self, field: i32) -> &mut Self {
        self.bytes(field.to_le_bytes())
    }

    /// High word, then low word.
    #[inline]
    pub(super) fn sequence_number(&mut self, number: SequenceNumber) -> &mut Self {
        let (high, low) = number.to_words();
        self.i32(high).u32(low)
    }

    /// Appends the fields to `buffer`.
    #[inline]
    pub(super) fn append_to(&self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.bytes[..self.len]);
    }
}
