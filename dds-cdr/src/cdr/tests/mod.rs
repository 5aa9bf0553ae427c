//! Tests of encoding and decoding, with derived types.

mod bits;
mod bounded;
mod construct;
mod conversions;
mod cyclone;
mod descriptions;
mod differences;
mod discriminators;
#[cfg(feature = "dynamic")]
pub(in crate::cdr) mod dynamic;
mod elements;
mod enums;
mod evolution;
mod foreign;
mod hostile;
mod inheritance;
mod keys;
mod kinds;
mod kinds_round_trip;
mod maps;
mod mutable;
mod plain;
mod ros_wide;
mod round_trip;
mod runs;
mod types;
mod unions;
mod vectors;
mod wide;

use super::{ByteOrder, Decode, DecodeError, Decoder, Encode, Encoder, Encoding, TypeInfo};

const ENCODINGS: [Encoding; 2] = [Encoding::Xcdr1, Encoding::Xcdr2];
const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// Encodes a value without a header.
fn body<T: Encode>(value: &T, encoding: Encoding, order: ByteOrder) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut Encoder::new(&mut bytes, encoding, order)).unwrap();
    bytes
}

/// Decodes a value that fills the whole body.
fn value<'de, T: Decode<'de>>(body: &'de [u8], encoding: Encoding, order: ByteOrder) -> T {
    let mut d = Decoder::new(body, encoding, order);
    let value = T::decode(&mut d).unwrap();
    assert_eq!(d.remaining(), 0);
    value
}

/// Parses hexadecimal digits. A `/* */` comment explains them.
fn hex(text: &str) -> Vec<u8> {
    let outside = text.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, digits)| digits));
    let digits: Vec<u8> =
        outside.flat_map(str::chars).filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// [`decode_payload`](super::decode_payload), which also checks that dynamic data agrees.
fn decode_payload<'de, T: Decode<'de> + Encode + TypeInfo>(payload: &'de [u8]) -> Result<T, DecodeError> {
    #[cfg(feature = "dynamic")]
    dynamic::agrees_on::<T>(payload)?;
    super::decode_payload(payload)
}
