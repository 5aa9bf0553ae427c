//! A request or a response with its optional header.
//!
//! The header of `rmw_cyclonedds`, in the byte order of the payload (`rmw_cyclonedds_cpp/src/serdata.cpp`):
//!
//! ```text
//! 0    4                    12                   20
//! | CDR header | u64 client | i64 number of request | request or response …
//! ```
//!
//! Its 16 bytes are a multiple of the largest alignment, so the rest is encoded as without it.

use dds_cdr::cdr::{
    Decode, DecodeError, DecodeOwned, Decoder, Encode, EncodeError, Encoder, Extensibility, TypeDescription, TypeInfo,
    decode_payload,
};
use dds_core::DdsType;

/// The identity of a request of `rmw_cyclonedds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RequestHeader {
    /// A number of the client.
    pub client: u64,
    /// The number of the request.
    pub number: i64,
}

/// A request or a response as it is written.
#[derive(Debug)]
pub(crate) struct Message<T> {
    pub(crate) header: Option<RequestHeader>,
    pub(crate) value: T,
}

impl<T: TypeInfo> TypeInfo for Message<T> {
    const TYPE_NAME: &'static str = T::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = T::DESCRIPTION;
}

impl<T: Encode> Encode for Message<T> {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        if let Some(header) = self.header {
            header.client.encode(e)?;
            header.number.encode(e)?;
        }
        self.value.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.value.encode_key(e)
    }
}

impl<T: TypeInfo + Encode> DdsType for Message<T> {}

/// A received message with a header.
struct WithHeader<T> {
    header: RequestHeader,
    value: T,
}

impl<'de, T: Decode<'de>> Decode<'de> for WithHeader<T> {
    const EXTENSIBILITY: Option<Extensibility> = T::EXTENSIBILITY;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self { header: RequestHeader::decode(d)?, value: T::decode(d)? })
    }
}

impl<'de> Decode<'de> for RequestHeader {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self { client: u64::decode(d)?, number: i64::decode(d)? })
    }
}

/// Returns the header of a payload, whose rest need not decode.
pub(crate) fn header_of(payload: &[u8]) -> Option<RequestHeader> {
    decode_payload(payload).ok()
}

/// Decodes the payload of a request or a response.
pub(crate) fn decode<T: DecodeOwned>(payload: &[u8], has_header: bool) -> Result<Message<T>, DecodeError> {
    if has_header {
        let WithHeader { header, value } = decode_payload::<WithHeader<T>>(payload)?;
        Ok(Message { header: Some(header), value })
    } else {
        Ok(Message { header: None, value: decode_payload(payload)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_cdr::cdr::{Encoding, encode_payload};
    use dds_ros2_msgs::std_srvs::srv::{SetBoolRequest, SetBoolResponse};

    fn bytes<T: TypeInfo + Encode>(header: Option<RequestHeader>, value: T) -> Vec<u8> {
        let mut payload = Vec::new();
        encode_payload(&Message { header, value }, Encoding::Xcdr1, &mut payload).unwrap();
        payload
    }

    #[test]
    fn both_forms_have_the_bytes_of_ros() {
        let plain = bytes(None, SetBoolResponse { success: true, message: "ok".into() });
        assert_eq!(plain[4..15], [1, 0, 0, 0, 3, 0, 0, 0, b'o', b'k', 0]);
        let header = RequestHeader { client: 0xe6a8_32d3_386f_ef97, number: 1 };
        let headed = bytes(Some(header), SetBoolRequest { data: true });
        let expected = [0x97, 0xef, 0x6f, 0x38, 0xd3, 0x32, 0xa8, 0xe6, 1, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(headed[4..21], expected);
        let decoded = decode::<SetBoolRequest>(&headed, true).unwrap();
        assert_eq!((decoded.header, decoded.value.data), (Some(header), true));
    }

    #[test]
    fn header_in_big_endian_is_read() {
        let payload = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9, 1];
        let decoded = decode::<SetBoolRequest>(&payload, true).unwrap();
        assert_eq!(decoded.header, Some(RequestHeader { client: 7, number: 9 }));
        assert!(decoded.value.data);
    }

    #[test]
    fn truncated_header_is_refused() {
        let payload = bytes(Some(RequestHeader { client: 1, number: 2 }), SetBoolRequest { data: true });
        for len in 0..20 {
            assert!(decode::<SetBoolRequest>(&payload[..len], true).is_err(), "{len}");
        }
    }
}
