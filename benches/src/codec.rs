//! Encoding and decoding alone: bytes as a run or as elements, and one sample in three forms.

use crate::LARGE_PAYLOAD_LEN;
use dds_core::__private::cdr::{decode_payload, decode_payload_into, encode_payload};
use dds_core::DdsType;
use dds_core::cdr::{Encoded, Encoding};
use dds_core::error::{DecodeError, EncodeError};

/// 32 000 bytes as one run.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Bytes {
    /// Copied as a whole.
    pub value: Vec<u8>,
}

/// The same bytes on the wire, encoded one by one, as without the fast path for runs.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Elements {
    /// Encoded with one call for each element.
    pub value: Vec<Element>,
}

/// A struct with one byte. The codec has no fast path for it.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
#[dds(nested)]
pub struct Element {
    /// The byte.
    pub value: u8,
}

/// An owned sample with strings and bytes.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Log {
    /// The instance.
    #[dds(key)]
    pub source: u32,
    /// A short string.
    pub level: String,
    /// A longer string.
    pub message: String,
    /// 1000 bytes.
    pub data: Vec<u8>,
}

/// [`Log`], borrowing from the received sample.
#[derive(Debug, DdsType)]
#[dds(view_of = Log)]
pub struct LogView<'a> {
    /// The instance.
    #[dds(key)]
    pub source: u32,
    /// A short string.
    pub level: &'a str,
    /// A longer string.
    pub message: &'a str,
    /// 1000 bytes.
    pub data: &'a [u8],
}

/// A value, its encoding, and reused memory.
#[derive(Debug)]
pub struct Codec<T> {
    value: T,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    reused: T,
}

impl Codec<Bytes> {
    /// A codec for 32 000 bytes as one run.
    ///
    /// # Errors
    ///
    /// A value of this size always encodes.
    pub fn bytes() -> Result<Self, EncodeError> {
        Self::new(Bytes { value: vec![7; LARGE_PAYLOAD_LEN] })
    }
}

impl Codec<Elements> {
    /// A codec for 32 000 bytes as elements.
    ///
    /// # Errors
    ///
    /// A value of this size always encodes.
    pub fn elements() -> Result<Self, EncodeError> {
        Self::new(Elements { value: vec![Element { value: 7 }; LARGE_PAYLOAD_LEN] })
    }
}

impl Codec<Log> {
    /// A codec for a sample with strings and bytes.
    ///
    /// # Errors
    ///
    /// A value of this size always encodes.
    pub fn log() -> Result<Self, EncodeError> {
        let message = "the left wheel turns faster than the order says".into();
        Self::new(Log { source: 3, level: "warning".into(), message, data: vec![7; 1000] })
    }

    /// Decodes a view that borrows from the payload.
    ///
    /// # Errors
    ///
    /// Returns an error if the payload is not a value of the type.
    pub fn decode_borrowed(&self) -> Result<LogView<'_>, DecodeError> {
        decode_payload(&self.payload)
    }
}

impl<T: DdsType + dds_core::cdr::DecodeOwned + Clone> Codec<T> {
    fn new(value: T) -> Result<Self, EncodeError> {
        let mut payload = Vec::new();
        encode_payload(&value, Encoding::Xcdr1, &mut payload)?;
        let reused = value.clone();
        Ok(Self { value, payload, buffer: Vec::new(), reused })
    }

    /// Encodes into the reused buffer.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not fit its type.
    pub fn encode(&mut self) -> Result<&[u8], EncodeError> {
        encode_payload(&self.value, Encoding::Xcdr1, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// Decodes a new value.
    ///
    /// # Errors
    ///
    /// Returns an error if the payload is not a value of the type.
    pub fn decode_owned(&self) -> Result<T, DecodeError> {
        decode_payload(&self.payload)
    }

    /// Decodes into an existing value and reuses its allocations.
    ///
    /// # Errors
    ///
    /// Returns an error if the payload is not a value of the type.
    pub fn decode_into(&mut self) -> Result<&T, DecodeError> {
        decode_payload_into(&self.payload, &mut self.reused)?;
        Ok(&self.reused)
    }

    /// Reads only the encapsulation header.
    ///
    /// # Errors
    ///
    /// Returns an error if the header is absent.
    pub fn decode_raw(&self) -> Result<Encoded<'_>, DecodeError> {
        Encoded::new(&self.payload)
    }
}
