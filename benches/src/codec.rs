//! Encoding and decoding alone: a run of bytes in both ways, and one sample in the three forms of a reader.

use crate::LARGE_PAYLOAD_LEN;
use dds_core::cdr::{DecodeError, EncodeError, decode_payload, decode_payload_into, encode_payload};
use dds_core::{DdsType, Encoded, Encoding};

/// 32 000 bytes as the run that they are.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Bytes {
    /// One copy each way.
    pub value: Vec<u8>,
}

/// The same bytes on the wire, one by one: what the run would cost without its fast path.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Elements {
    /// One call for each.
    pub value: Vec<Element>,
}

/// A byte that does not know it is one.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
#[dds(nested)]
pub struct Element {
    /// The byte.
    pub value: u8,
}

/// A sample with texts and bytes, owned.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Log {
    /// The instance.
    #[dds(key)]
    pub source: u32,
    /// A word.
    pub level: String,
    /// A sentence.
    pub message: String,
    /// Something larger.
    pub data: Vec<u8>,
}

/// [`Log`], borrowing from the received sample.
#[derive(Debug, DdsType)]
#[dds(view_of = Log)]
pub struct LogView<'a> {
    /// The instance.
    #[dds(key)]
    pub source: u32,
    /// A word.
    pub level: &'a str,
    /// A sentence.
    pub message: &'a str,
    /// Something larger.
    pub data: &'a [u8],
}

/// A value, its encoding, and memory that is reused.
#[derive(Debug)]
pub struct Codec<T> {
    value: T,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    reused: T,
}

impl Codec<Bytes> {
    /// 32 000 bytes as a run.
    ///
    /// # Errors
    ///
    /// None that a value of this size can have.
    pub fn bytes() -> Result<Self, EncodeError> {
        Self::new(Bytes { value: vec![7; LARGE_PAYLOAD_LEN] })
    }
}

impl Codec<Elements> {
    /// 32 000 bytes one by one.
    ///
    /// # Errors
    ///
    /// None that a value of this size can have.
    pub fn elements() -> Result<Self, EncodeError> {
        Self::new(Elements { value: vec![Element { value: 7 }; LARGE_PAYLOAD_LEN] })
    }
}

impl Codec<Log> {
    /// A sentence and 1000 bytes.
    ///
    /// # Errors
    ///
    /// None that a value of this size can have.
    pub fn log() -> Result<Self, EncodeError> {
        let message = "the left wheel turns faster than it was told to".into();
        Self::new(Log { source: 3, level: "warning".into(), message, data: vec![7; 1000] })
    }

    /// Borrows from the payload.
    ///
    /// # Errors
    ///
    /// If the payload is no such value.
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
    /// If the value does not fit its type.
    pub fn encode(&mut self) -> Result<&[u8], EncodeError> {
        encode_payload(&self.value, Encoding::Xcdr1, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    /// Makes a new value.
    ///
    /// # Errors
    ///
    /// If the payload is no such value.
    pub fn decode_owned(&self) -> Result<T, DecodeError> {
        decode_payload(&self.payload)
    }

    /// Decodes into a value that is there, keeping its allocations.
    ///
    /// # Errors
    ///
    /// If the payload is no such value.
    pub fn decode_into(&mut self) -> Result<&T, DecodeError> {
        decode_payload_into(&self.payload, &mut self.reused)?;
        Ok(&self.reused)
    }

    /// Leaves it encoded: only the header is looked at.
    ///
    /// # Errors
    ///
    /// If there is no header.
    pub fn decode_raw(&self) -> Result<Encoded<'_>, DecodeError> {
        Encoded::new(&self.payload)
    }
}
