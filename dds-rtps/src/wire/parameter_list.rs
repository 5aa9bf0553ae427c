//! Parameter lists of discovery data and inline QoS (RTPS 2.5, 9.4.2.11).
//!
//! ```text
//! 0        2        4
//! +--------+--------+------------------------+
//! | id     | length | value, length bytes    |   repeated; every entry begins at a multiple of 4
//! +--------+--------+------------------------+
//! | 0x0001 | any    |                            sentinel: the list ends
//! +--------+--------+
//! ```
//!
//! Ids and lengths have the byte order of the list. A value is plain CDR with at most 4-byte alignment, counted from
//! the first byte of the value.

use crate::types::{Duration, EntityId, Guid, GuidPrefix, Locator, LocatorKind};
use std::fmt;

/// Ends a list.
const SENTINEL: u16 = 0x0001;
/// Padding.
const PAD: u16 = 0x0000;
/// A receiver that does not know an id with this bit rejects the whole list.
const MUST_UNDERSTAND: u16 = 0x4000;
/// Ids with this bit belong to the sender's vendor.
const VENDOR_SPECIFIC: u16 = 0x8000;
/// Longest value: the length field has 16 bits, and lengths are multiples of 4.
const VALUE_MAX: usize = 65_532;

/// Error of reading a list or a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterError {
    /// The bytes end before the sentinel, or within an entry.
    Truncated {
        /// Start of the entry, in bytes from the start of the list.
        offset: usize,
    },
    /// A length is not a multiple of 4, so the start of the next entry is unknown.
    Length {
        /// Start of the entry, in bytes from the start of the list.
        offset: usize,
    },
    /// A value is shorter than its type, or not allowed for it.
    Value {
        /// The parameter.
        id: u16,
        /// Position of the error, in bytes from the start of the value.
        offset: usize,
    },
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { offset } => write!(f, "parameter list ends within the entry at byte {offset}"),
            Self::Length { offset } => write!(f, "the entry at byte {offset} has a length that is not a multiple of 4"),
            Self::Value { id, offset } => write!(f, "parameter 0x{id:04x} has an invalid value at byte {offset}"),
        }
    }
}

impl std::error::Error for ParameterError {}

/// Iterates over the parameters of a list. It ends at the sentinel, or after one error.
///
/// Padding entries are skipped.
#[derive(Debug, Clone)]
pub struct ParameterListReader<'a> {
    bytes: &'a [u8],
    position: usize,
    little_endian: bool,
    done: bool,
}

/// One entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// The id with its flag bits.
    pub id: u16,
    /// The value's bytes.
    pub value: &'a [u8],
    /// The byte order of the value.
    pub little_endian: bool,
}

impl<'a> ParameterListReader<'a> {
    /// Creates an iterator over `bytes`, which begin with the first entry.
    #[must_use]
    pub fn new(bytes: &'a [u8], little_endian: bool) -> Self {
        Self { bytes, position: 0, little_endian, done: false }
    }

    /// Returns the number of bytes read: after the end, the length of the list with its sentinel; after an error, the
    /// position of the faulty entry.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    fn u16_at(&self, position: usize) -> Option<u16> {
        let bytes = self.bytes.get(position..position.checked_add(2)?)?.try_into().ok()?;
        Some(if self.little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn entry(&mut self) -> Result<Parameter<'a>, ParameterError> {
        let offset = self.position;
        let truncated = ParameterError::Truncated { offset };
        let id = self.u16_at(offset).ok_or(truncated)?;
        let length = usize::from(self.u16_at(offset + 2).ok_or(truncated)?);
        let start = offset + 4;
        // The length of a sentinel has no meaning.
        if id == SENTINEL {
            self.position = start;
            return Ok(Parameter { id, value: &[], little_endian: self.little_endian });
        }
        if length % 4 != 0 {
            return Err(ParameterError::Length { offset });
        }
        let value = self.bytes.get(start..start + length).ok_or(truncated)?;
        self.position = start + length;
        Ok(Parameter { id, value, little_endian: self.little_endian })
    }
}

impl<'a> Iterator for ParameterListReader<'a> {
    type Item = Result<Parameter<'a>, ParameterError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            match self.entry() {
                // Without the length of this entry, the start of the next one is unknown.
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
                Ok(parameter) if parameter.id == SENTINEL => self.done = true,
                // Padding has no value for any receiver.
                Ok(parameter) if parameter.id == PAD => {}
                Ok(parameter) => return Some(Ok(parameter)),
            }
        }
        None
    }
}

impl<'a> Parameter<'a> {
    /// Whether a receiver that does not know the id must reject the whole list.
    #[must_use]
    pub const fn must_understand(&self) -> bool {
        self.id & MUST_UNDERSTAND != 0
    }

    /// Whether the id belongs to the sender's vendor.
    #[must_use]
    pub const fn is_vendor_specific(&self) -> bool {
        self.id & VENDOR_SPECIFIC != 0
    }

    /// Returns a reader of the value.
    #[must_use]
    pub const fn fields(&self) -> ParameterFields<'a> {
        ParameterFields { id: self.id, bytes: self.value, position: 0, little_endian: self.little_endian }
    }
}

/// Reads a value, field by field. Each method fails with [`ParameterError::Value`] if the field is missing or
/// invalid.
#[derive(Debug, Clone)]
pub struct ParameterFields<'a> {
    id: u16,
    bytes: &'a [u8],
    position: usize,
    little_endian: bool,
}

#[allow(clippy::missing_errors_doc, reason = "the docs of the type say it once")]
impl<'a> ParameterFields<'a> {
    /// Returns the error for an invalid value at the present position.
    #[must_use]
    pub const fn illegal(&self) -> ParameterError {
        ParameterError::Value { id: self.id, offset: self.position }
    }

    /// Whether the whole value was read.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.position >= self.bytes.len()
    }

    /// Reads `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], ParameterError> {
        let end = self.position.checked_add(count).ok_or(self.illegal())?;
        let bytes = self.bytes.get(self.position..end).ok_or(self.illegal())?;
        self.position = end;
        Ok(bytes)
    }

    /// Reads `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], ParameterError> {
        let illegal = self.illegal();
        self.bytes(N)?.try_into().map_err(|_| illegal)
    }

    fn align(&mut self, alignment: usize) {
        // A value starts at a multiple of 4, so positions within it decide about alignment.
        self.position = self.position.next_multiple_of(alignment);
    }

    /// Reads an octet that must be 0 or 1.
    pub fn bool(&mut self) -> Result<bool, ParameterError> {
        let illegal = self.illegal();
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            // CDR has no other booleans, so the value is damaged or of another type.
            _ => Err(illegal),
        }
    }

    /// Two bytes, aligned to 2.
    pub fn u16(&mut self) -> Result<u16, ParameterError> {
        self.align(2);
        let bytes = self.array()?;
        Ok(if self.little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    /// Two bytes, aligned to 2.
    pub fn i16(&mut self) -> Result<i16, ParameterError> {
        Ok(self.u16()? as i16)
    }

    /// Four bytes, aligned to 4.
    pub fn u32(&mut self) -> Result<u32, ParameterError> {
        self.align(4);
        let bytes = self.array()?;
        Ok(if self.little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// Four bytes, aligned to 4.
    pub fn i32(&mut self) -> Result<i32, ParameterError> {
        Ok(self.u32()? as i32)
    }

    /// Reads the number of elements of a sequence; each element has at least `element_len` bytes. The number never
    /// exceeds the rest of the value.
    pub fn sequence_len(&mut self, element_len: usize) -> Result<usize, ParameterError> {
        let count = usize::try_from(self.u32()?).map_err(|_| self.illegal())?;
        let rest = self.bytes.len().saturating_sub(self.position);
        // The caller may allocate this many elements, so a forged number must not be large.
        if count > rest / element_len.max(1) {
            return Err(self.illegal());
        }
        Ok(count)
    }

    /// Reads a sequence of octets.
    pub fn octets(&mut self) -> Result<&'a [u8], ParameterError> {
        let count = self.sequence_len(1)?;
        self.bytes(count)
    }

    /// Reads a string: a length that includes the terminator, the bytes, a zero. A length of zero is the empty
    /// string, as some peers write it.
    pub fn string(&mut self) -> Result<&'a str, ParameterError> {
        let illegal = self.illegal();
        match self.octets()? {
            [] => Ok(""),
            // Embedded zeros are kept: a comparison of names must see them.
            [text @ .., 0] => std::str::from_utf8(text).map_err(|_| illegal),
            // Without a terminator, the length is wrong or the string is cut.
            _ => Err(illegal),
        }
    }

    /// Reads seconds and fraction.
    pub fn duration(&mut self) -> Result<Duration, ParameterError> {
        let seconds = self.i32()?;
        Ok(Duration::from_wire(seconds, self.u32()?))
    }

    /// Reads sixteen bytes: prefix and entity id.
    pub fn guid(&mut self) -> Result<Guid, ParameterError> {
        let prefix = GuidPrefix(self.array()?);
        Ok(Guid::new(prefix, EntityId(self.array()?)))
    }

    /// Reads kind, port and address. Unknown kinds are kept.
    pub fn locator(&mut self) -> Result<Locator, ParameterError> {
        let kind = LocatorKind::from_wire(self.i32()?);
        Ok(Locator { kind, port: self.u32()?, address: self.array()? })
    }
}

/// Appends a list to a buffer, little endian.
///
/// A value longer than the length field allows (65 532 bytes) is left out. Callers check lengths before, where they
/// can report the cause.
#[derive(Debug)]
pub struct ParameterListWriter<'b> {
    buffer: &'b mut Vec<u8>,
}

impl<'b> ParameterListWriter<'b> {
    /// Begins a list at the end of `buffer`.
    #[must_use]
    pub fn new(buffer: &'b mut Vec<u8>) -> Self {
        Self { buffer }
    }

    /// Adds an entry; `write` writes its value.
    pub fn parameter(&mut self, id: u16, write: impl FnOnce(&mut ParameterValueWriter<'_>)) -> &mut Self {
        let entry = self.buffer.len();
        self.buffer.extend_from_slice(&id.to_le_bytes());
        self.buffer.extend_from_slice(&[0; 2]);
        let start = self.buffer.len();
        // The length is set when the value is known.
        let mut value = ParameterValueWriter { buffer: self.buffer, start };
        write(&mut value);
        // Each entry begins at a multiple of 4.
        value.align(4);
        let len = self.buffer.len() - start;
        match (u16::try_from(len), self.buffer.get_mut(entry + 2..start)) {
            (Ok(len), Some(field)) if usize::from(len) <= VALUE_MAX => field.copy_from_slice(&len.to_le_bytes()),
            // Too long for the length field.
            _ => self.buffer.truncate(entry),
        }
        self
    }

    /// Adds an entry with these bytes.
    pub fn bytes(&mut self, id: u16, bytes: &[u8]) -> &mut Self {
        self.parameter(id, |value| {
            value.bytes(bytes);
        })
    }

    /// Adds an entry with a number of four bytes.
    pub fn u32(&mut self, id: u16, number: u32) -> &mut Self {
        self.bytes(id, &number.to_le_bytes())
    }

    /// Adds an entry with a GUID.
    pub fn guid(&mut self, id: u16, guid: Guid) -> &mut Self {
        self.bytes(id, &guid.to_bytes())
    }

    /// Adds an entry with a string.
    pub fn string(&mut self, id: u16, text: &str) -> &mut Self {
        self.parameter(id, |value| {
            value.string(text);
        })
    }

    /// Ends the list.
    pub fn finish(self) {
        self.buffer.extend_from_slice(&SENTINEL.to_le_bytes());
        self.buffer.extend_from_slice(&[0; 2]);
    }
}

/// Appends the fields of one value, with their alignment.
#[derive(Debug)]
pub struct ParameterValueWriter<'b> {
    buffer: &'b mut Vec<u8>,
    start: usize,
}

impl ParameterValueWriter<'_> {
    fn align(&mut self, alignment: usize) {
        let len = (self.buffer.len() - self.start).next_multiple_of(alignment);
        self.buffer.resize(self.start + len, 0);
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.buffer.extend_from_slice(bytes);
        self
    }

    /// Adds an octet.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.bytes(&[value.into()])
    }

    /// Two bytes, aligned to 2.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.align(2);
        self.bytes(&value.to_le_bytes())
    }

    /// Two bytes, aligned to 2.
    pub fn i16(&mut self, value: i16) -> &mut Self {
        self.u16(value as u16)
    }

    /// Four bytes, aligned to 4.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.align(4);
        self.bytes(&value.to_le_bytes())
    }

    /// Four bytes, aligned to 4.
    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.u32(value as u32)
    }

    /// Adds the number of elements of a sequence. More than 32 bits cannot fit into a value.
    pub fn sequence_len(&mut self, count: usize) -> &mut Self {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Adds a sequence of octets.
    pub fn octets(&mut self, octets: &[u8]) -> &mut Self {
        self.sequence_len(octets.len()).bytes(octets)
    }

    /// Adds a string with its terminator.
    pub fn string(&mut self, text: &str) -> &mut Self {
        // The length includes the terminator.
        self.sequence_len(text.len() + 1).bytes(text.as_bytes()).bytes(&[0])
    }

    /// Adds seconds and fraction.
    pub fn duration(&mut self, duration: Duration) -> &mut Self {
        let (seconds, fraction) = duration.to_wire();
        self.i32(seconds).u32(fraction)
    }

    /// Adds prefix and entity id.
    pub fn guid(&mut self, guid: Guid) -> &mut Self {
        self.bytes(&guid.to_bytes())
    }

    /// Adds kind, port and address.
    pub fn locator(&mut self, locator: &Locator) -> &mut Self {
        self.i32(locator.kind.to_wire()).u32(locator.port).bytes(&locator.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn only(bytes: &[u8], little_endian: bool) -> Parameter<'_> {
        let mut list = ParameterListReader::new(bytes, little_endian);
        let parameter = list.next().unwrap().unwrap();
        assert!(list.next().is_none());
        parameter
    }

    #[test]
    fn both_byte_orders_are_read() {
        let little = only(&[0x06, 0, 4, 0, 7, 0, 0, 0, 1, 0, 0, 0], true);
        let big = only(&[0, 0x06, 0, 4, 0, 0, 0, 7, 0, 1, 0, 0], false);
        assert_eq!((little.id, big.id), (6, 6));
        assert_eq!(little.fields().i32(), Ok(7));
        assert_eq!(big.fields().i32(), Ok(7));
    }

    #[test]
    fn list_ends_at_the_sentinel() {
        let mut list = ParameterListReader::new(&[0, 0, 0, 0, 1, 0, 9, 9, 5, 5], true);
        assert!(list.next().is_none());
        assert_eq!(list.position(), 8);
    }

    #[test]
    fn error_position_is_the_faulty_entry() {
        for (entry, error) in [
            (&[0x71, 0, 8, 0, 1, 2, 3, 4][..], ParameterError::Truncated { offset: 8 }),
            (&[0x71, 0, 3, 0, 1, 2, 3, 4], ParameterError::Length { offset: 8 }),
            (&[0x71, 0, 4], ParameterError::Truncated { offset: 8 }),
        ] {
            let bytes = [&[0x70, 0, 4, 0, 9, 9, 9, 9], entry].concat();
            let mut list = ParameterListReader::new(&bytes, true);
            assert!(list.next().unwrap().is_ok());
            assert_eq!((list.next().unwrap().unwrap_err(), list.position()), (error, 8));
            assert!(list.next().is_none());
        }
    }

    #[test]
    fn list_without_sentinel_is_truncated() {
        let mut list = ParameterListReader::new(&[6, 0, 4, 0, 7, 0, 0, 0], true);
        assert!(list.next().unwrap().is_ok());
        assert_eq!(list.next(), Some(Err(ParameterError::Truncated { offset: 8 })));
        assert_eq!(list.next(), None);
    }

    #[test]
    fn value_past_the_end_is_truncated() {
        let mut list = ParameterListReader::new(&[6, 0, 8, 0, 7, 0, 0, 0], true);
        assert_eq!(list.next(), Some(Err(ParameterError::Truncated { offset: 0 })));
    }

    #[test]
    fn length_not_a_multiple_of_4_ends_the_list() {
        let mut list = ParameterListReader::new(&[6, 0, 3, 0, 7, 0, 0, 0, 1, 0, 0, 0], true);
        assert_eq!(list.next(), Some(Err(ParameterError::Length { offset: 0 })));
        assert_eq!(list.next(), None);
    }

    #[test]
    fn sequence_len_is_bounded_by_the_value() {
        let parameter = Parameter { id: 0x2c, value: &[0xff, 0xff, 0xff, 0xff, 1], little_endian: true };
        assert_eq!(parameter.fields().octets(), Err(ParameterError::Value { id: 0x2c, offset: 4 }));
        let parameter = Parameter { id: 5, value: &[3, 0, 0, 0, b'a', b'b', b'c'], little_endian: true };
        assert!(parameter.fields().string().is_err(), "the terminator is missing");
    }

    #[test]
    fn written_list_is_read_back() {
        let guid = Guid::from_bytes([9; 16]);
        let locator = Locator::udp_v4([1, 2, 3, 4].into(), 7400);
        let mut bytes = Vec::new();
        let mut list = ParameterListWriter::new(&mut bytes);
        list.parameter(5, |value| {
            value.string("Square").bool(true).i16(-2).duration(Duration::INFINITE);
        });
        list.parameter(0x5a, |value| {
            value.guid(guid).locator(&locator);
        });
        list.finish();
        let parameters: Vec<_> = ParameterListReader::new(&bytes, true).map(Result::unwrap).collect();
        let mut fields = parameters[0].fields();
        assert_eq!(fields.string(), Ok("Square"));
        assert_eq!(fields.bool(), Ok(true));
        assert_eq!(fields.i16(), Ok(-2));
        assert_eq!(fields.duration(), Ok(Duration::INFINITE));
        assert!(fields.is_at_end());
        let mut fields = parameters[1].fields();
        assert_eq!(fields.guid(), Ok(guid));
        assert_eq!(fields.locator(), Ok(locator));
    }

    #[test]
    fn value_too_long_for_its_length_is_left_out() {
        let mut bytes = Vec::new();
        let mut list = ParameterListWriter::new(&mut bytes);
        list.parameter(0x2c, |value| {
            value.octets(&[0; 65_536]);
        });
        list.finish();
        assert_eq!(bytes, [1, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>, little_endian: bool) {
            for parameter in ParameterListReader::new(&bytes, little_endian).flatten() {
                let mut fields = parameter.fields();
                let _ = (fields.string(), fields.locator(), fields.octets(), fields.bool());
            }
        }
    }
}
