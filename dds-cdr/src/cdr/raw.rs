//! Encoded samples.

use super::copy::append;
use super::{Decode, DecodeError, DecodeErrorKind, Decoder, Encapsulation, Encoding};
use bytes::Bytes;

/// A sample in its encoded form, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoded<'a> {
    /// The encoding in the header.
    pub encoding: Encoding,
    /// The payload, starting with the encapsulation header.
    pub bytes: &'a [u8],
}

impl<'a> Encoded<'a> {
    /// Creates a sample from a payload. Its header determines the encoding.
    ///
    /// # Errors
    /// The header is incomplete, or its representation is not a CDR representation.
    pub fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Encapsulation::parse(bytes).map(|header| Self { encoding: header.encoding, bytes })
    }

    /// Returns an owned copy.
    #[must_use]
    pub fn to_raw(self) -> Raw {
        Raw { encoding: self.encoding, bytes: self.bytes.to_vec() }
    }
}

impl From<Encoded<'_>> for Bytes {
    fn from(sample: Encoded<'_>) -> Self {
        Self::copy_from_slice(sample.bytes)
    }
}

/// A sample in its encoded form, owned. This is the type of a raw topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Raw {
    /// The encoding in the header.
    pub encoding: Encoding,
    /// The payload, starting with the encapsulation header.
    pub bytes: Vec<u8>,
}

impl Raw {
    /// Returns the same sample, borrowed.
    #[must_use]
    pub fn as_encoded(&self) -> Encoded<'_> {
        Encoded { encoding: self.encoding, bytes: &self.bytes }
    }
}

/// Moves the memory of the payload, without a copy.
impl From<Raw> for Bytes {
    fn from(sample: Raw) -> Self {
        Self::from(sample.bytes)
    }
}

/// Decodes the whole payload, header included. Only the outermost value of a payload can be encoded.
impl<'de> Decode<'de> for Encoded<'de> {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        // Behind the header means: at the outermost value.
        if d.position() != Encapsulation::LEN {
            return Err(d.error(DecodeErrorKind::NotAPayload));
        }
        let sample = Self { encoding: d.encoding(), bytes: d.input() };
        // The frames around this value then see no rest.
        d.finish();
        Ok(sample)
    }
}

/// Decodes the whole payload, header included. Only the outermost value of a payload can be encoded.
impl<'de> Decode<'de> for Raw {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        Encoded::decode(d).map(Encoded::to_raw)
    }

    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        let sample = Encoded::decode(d)?;
        self.encoding = sample.encoding;
        // The allocation of the previous sample serves again.
        self.bytes.clear();
        append(&mut self.bytes, sample.bytes);
        Ok(())
    }
}

impl super::DecodeOwned for Raw {}
