//! Whole payloads: header, body, and padding.

use super::{
    ByteOrder, Decode, DecodeError, Decoder, Encapsulation, Encode, EncodeError, Encoder, Encoding, Extensibility,
    Keyed, LongRuns, TypeInfo,
};

/// Encodes a sample as a payload: encapsulation header, body, and padding to a multiple of 4.
///
/// The header contains the size of the padding, as in the standard and Cyclone DDS (Fast DDS pads and writes 0).
/// Numbers have the byte order of this machine. `buffer` is cleared first; its capacity is reused.
///
/// # Errors
/// The value does not fit its type. `buffer` then holds no payload.
#[inline]
pub fn encode_payload<T: Encode + TypeInfo>(
    sample: &T,
    encoding: Encoding,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    // Dynamic data has the extensibility of its type, which no constant knows.
    let extensibility = sample.framing().unwrap_or(T::DESCRIPTION.extensibility());
    payload_of(extensibility, encoding, buffer, None, |e| sample.encode(e))
}

/// As [`encode_payload`], but long runs of bytes and numbers go to `long`, behind the bytes before them.
///
/// The payload is the content of `long`, and `buffer` behind it. Without a long run, `buffer` is the whole payload.
///
/// # Errors
/// The value does not fit its type. Both then hold no payload.
pub fn encode_payload_beside<'b, T: Encode + TypeInfo>(
    sample: &T,
    encoding: Encoding,
    buffer: &'b mut Vec<u8>,
    long: &'b mut dyn LongRuns,
) -> Result<(), EncodeError> {
    let extensibility = sample.framing().unwrap_or(T::DESCRIPTION.extensibility());
    payload_of(extensibility, encoding, buffer, Some(long), |e| sample.encode(e))
}

/// Encodes a key as a payload, for dispose and unregister.
///
/// The framing is that of the data: the key of an appendable type carries its length in XCDR2 (as in Cyclone DDS).
/// `buffer` is cleared first; its capacity is reused.
///
/// # Errors
/// The key does not fit its type. `buffer` then holds no payload.
pub fn encode_key_payload<T: Keyed + TypeInfo>(
    key: &T::Key,
    encoding: Encoding,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let extensibility = T::framing_of_key(key).unwrap_or(T::DESCRIPTION.extensibility());
    payload_of(extensibility, encoding, buffer, None, |e| T::encode_key_value(key, e))
}

/// Decodes a sample from a payload. The sample may borrow from the payload.
///
/// # Errors
/// The payload is not a value of this type. The error has the offset.
#[inline]
pub fn decode_payload<'de, T: Decode<'de>>(payload: &'de [u8]) -> Result<T, DecodeError> {
    T::decode(&mut Decoder::of_payload_for(payload, T::EXTENSIBILITY)?)
}

/// Decodes a sample from a payload into an existing value, and reuses its allocations.
///
/// # Errors
/// The payload is not a value of this type. The error has the offset, and `value` is partly overwritten.
#[inline]
pub fn decode_payload_into<'de, T: Decode<'de>>(payload: &'de [u8], value: &mut T) -> Result<(), DecodeError> {
    value.decode_into(&mut Decoder::of_payload_for(payload, T::EXTENSIBILITY)?)
}

/// Decodes a key from a payload that is a serialized key.
///
/// # Errors
/// The payload is not a key of this type. The error has the offset.
pub fn decode_key_payload<T: Keyed>(payload: &[u8]) -> Result<T::Key, DecodeError> {
    T::decode_key_value(&mut Decoder::of_payload_for(payload, T::EXTENSIBILITY)?)
}

/// Writes header, body and padding. `long`: memory for long runs.
#[inline]
fn payload_of<'b>(
    extensibility: Extensibility,
    encoding: Encoding,
    buffer: &'b mut Vec<u8>,
    long: Option<&'b mut dyn LongRuns>,
    body: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    // The writer chooses the byte order, and a reader on a host of the same kind can copy.
    let mut header = Encapsulation::new(encoding, extensibility, ByteOrder::HOST);
    // The buffer of the writer serves each sample, so this rarely allocates.
    buffer.clear();
    buffer.extend_from_slice(&header.to_bytes());
    let mut encoder = Encoder::with_long_runs(buffer, encoding, ByteOrder::HOST, long);
    body(&mut encoder)?;
    // RTPS 2.5, 10.5: a payload ends at a multiple of 4, and the options say how many bytes were added.
    let padding = encoder.position().wrapping_neg() % 4;
    // The header precedes the body, so the padding count is filled in last.
    if padding != 0 {
        encoder.bytes(&[0; 3][..padding]);
        header.padding = padding as u8;
        encoder.overwrite_at(0, header.to_bytes());
    }
    Ok(())
}
