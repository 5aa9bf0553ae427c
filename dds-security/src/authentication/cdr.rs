//! Reading with bounds in both byte orders, and writing: XCDR1, aligned from the first byte.

use std::fmt;

/// Order of the bytes of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenByteOrder {
    /// The low byte first.
    Little,
    /// The high byte first.
    Big,
}

/// Bytes from another participant break their layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CdrError {
    /// Offset of the fault.
    pub at: usize,
}

impl fmt::Display for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed token at byte {}", self.at)
    }
}

impl std::error::Error for CdrError {}

/// Reads values from bytes.
pub(super) struct CdrReader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: TokenByteOrder,
}

impl<'a> CdrReader<'a> {
    pub(super) fn new(bytes: &'a [u8], order: TokenByteOrder) -> Self {
        Self { bytes, at: 0, order }
    }

    pub(super) fn error(&self) -> CdrError {
        CdrError { at: self.at }
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], CdrError> {
        // A peer writes the length, so the sum may overflow on targets with 32 bits.
        let end = self.at.checked_add(len).ok_or(CdrError { at: self.at })?;
        let bytes = self.bytes.get(self.at..end).ok_or(CdrError { at: self.at })?;
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], CdrError> {
        let at = self.at;
        self.bytes(N)?.try_into().map_err(|_| CdrError { at })
    }

    pub(super) fn u32(&mut self) -> Result<u32, CdrError> {
        self.align(4)?;
        let bytes = self.array()?;
        Ok(if self.order == TokenByteOrder::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    pub(super) fn i64(&mut self) -> Result<i64, CdrError> {
        self.align(8)?;
        let bytes = self.array()?;
        Ok(if self.order == TokenByteOrder::Big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) })
    }

    /// Reads the length of a sequence whose elements have at least `element_len` bytes each.
    pub(super) fn count(&mut self, element_len: usize) -> Result<usize, CdrError> {
        debug_assert!(element_len > 0, "each element of a token has bytes");
        let count = self.u32()? as usize;
        debug_assert!(self.at <= self.bytes.len(), "`bytes` checks the end before it moves on");
        let rest = self.bytes.len() - self.at;
        // Without this limit, a short token could announce billions of elements.
        if count > rest / element_len { Err(self.error()) } else { Ok(count) }
    }

    pub(super) fn octets(&mut self) -> Result<&'a [u8], CdrError> {
        let len = self.count(1)?;
        self.bytes(len)
    }

    /// Reads a string, with or without its zero at the end.
    pub(super) fn string(&mut self) -> Result<&'a str, CdrError> {
        let octets = self.octets()?;
        let text = octets.strip_suffix(&[0]).unwrap_or(octets);
        std::str::from_utf8(text).map_err(|_| self.error())
    }

    fn align(&mut self, to: usize) -> Result<(), CdrError> {
        debug_assert!(to.is_power_of_two(), "CDR aligns to powers of two");
        // Padding has no defined value, so any bytes are accepted.
        let padding = self.at.next_multiple_of(to) - self.at;
        self.bytes(padding).map(|_| ())
    }
}

/// Writes values.
pub(super) struct CdrWriter {
    bytes: Vec<u8>,
    /// Bytes before the first one from which alignment counts.
    origin: usize,
    order: TokenByteOrder,
}

impl CdrWriter {
    pub(super) fn new(order: TokenByteOrder) -> Self {
        Self { bytes: Vec::new(), origin: 0, order }
    }

    /// Begins with an encapsulation header, which alignment leaves out.
    pub(super) fn with_encapsulation(order: TokenByteOrder) -> Self {
        Self { bytes: vec![0, u8::from(order == TokenByteOrder::Little), 0, 0], origin: 4, order }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.align(4);
        self.bytes(&if self.order == TokenByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() });
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.align(8);
        self.bytes(&if self.order == TokenByteOrder::Big { value.to_be_bytes() } else { value.to_le_bytes() });
    }

    /// Writes the length of a sequence.
    pub(super) fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).expect("a token is shorter than 4 GiB"));
    }

    pub(super) fn octets(&mut self, octets: &[u8]) {
        self.count(octets.len());
        self.bytes(octets);
    }

    pub(super) fn string(&mut self, text: &str) {
        self.count(text.len() + 1);
        self.bytes(text.as_bytes());
        self.bytes(&[0]);
    }

    fn align(&mut self, to: usize) {
        debug_assert!(self.bytes.len() >= self.origin, "the encapsulation header is the first write");
        let len = self.bytes.len() - self.origin;
        self.bytes.resize(self.origin + len.next_multiple_of(to), 0);
    }
}
