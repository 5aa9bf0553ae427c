//! Messages of the TypeLookup service (XTYPES 1.3, 7.6.3.3.4).
//!
//! ```text
//! request  writer GUID 16, number 8, name of the service,
//!          (length, operation, mutable: type identifiers [, continuation])
//! reply    writer GUID 16, number 8 of the request, exception,
//!          (length, operation, (length, 0, mutable: identifiers and TypeObjects, pairs of identifiers))
//! ```
//!
//! Payloads are XCDR2 of final structs. The ids of operations and members are hashes of their names.

use crate::cdr::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encapsulation, Encode, EncodeError, Encoder, Encoding,
    Extensibility, LengthCode,
};
use crate::types::{EntityId, Guid, GuidPrefix, SequenceNumber};
use crate::wire::SampleIdentity;
use crate::xtypes::{TypeIdentifier, TypeObject, TypeWithSize};

/// A type request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupRequest {
    /// Identity of the request.
    pub id: SampleIdentity,
    /// Name of the requested service: `dds.builtin.TOS.`, and the GUID of a participant in hexadecimal.
    pub instance_name: String,
    /// The operation.
    pub call: LookupCall,
}

/// Operation of a type request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupCall {
    /// Requests the descriptions of these types.
    Types(Vec<TypeIdentifier>),
    /// Requests the identifiers of the types that these types consist of.
    Dependencies {
        /// The types.
        types: Vec<TypeIdentifier>,
        /// Continuation point of the reply before; empty for the beginning.
        continuation: Vec<u8>,
    },
    /// An unknown operation.
    Unknown,
}

/// A type reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupReply {
    /// Identity of the request.
    pub request: SampleIdentity,
    /// 0 if the request was executed.
    pub exception: i32,
    /// The result.
    pub result: LookupReturn,
}

/// Result in a type reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupReturn {
    /// Descriptions of types.
    Types {
        /// Identifiers and descriptions.
        types: Vec<(TypeIdentifier, TypeObject)>,
        /// Complete and minimal identifiers of the same types.
        complete_to_minimal: Vec<(TypeIdentifier, TypeIdentifier)>,
    },
    /// Identifiers of the types that other types consist of.
    Dependencies {
        /// The types, with their sizes.
        types: Vec<TypeWithSize>,
        /// Continuation point; empty if the list is complete.
        continuation: Vec<u8>,
    },
    /// An unknown result.
    Unknown,
}

impl LookupRequest {
    /// Returns the name of a participant's service.
    #[must_use]
    pub fn instance_of(prefix: GuidPrefix) -> String {
        let guid = Guid::new(prefix, EntityId::PARTICIPANT).to_bytes();
        let mut name = String::from(SERVICE);
        for byte in guid {
            name.extend(char::from_digit((byte >> 4).into(), 16));
            name.extend(char::from_digit((byte & 15).into(), 16));
        }
        debug_assert_eq!(name.len(), SERVICE.len() + 32, "each byte has two digits");
        name
    }

    /// Whether the request is for another participant than `prefix`. A request without a name is for all
    /// participants.
    #[must_use]
    pub fn is_for_another(&self, prefix: GuidPrefix) -> bool {
        let Some(guid) = self.instance_name.strip_prefix(SERVICE) else { return false };
        // Some peers send zeros instead of a name.
        let has_name = guid.len() == 32 && guid.bytes().any(|digit| digit != b'0');
        has_name && !self.instance_name.eq_ignore_ascii_case(&Self::instance_of(prefix))
    }

    /// Writes the payload into `buffer`, which is cleared first.
    ///
    /// # Errors
    /// A length does not fit into 32 bits.
    pub fn encode_payload(&self, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
        encode_payload(self, buffer)
    }

    /// Decodes a payload.
    ///
    /// # Errors
    /// The payload is not a request.
    pub fn decode_payload(payload: &[u8]) -> Result<Self, DecodeError> {
        decode_payload(payload)
    }
}

impl LookupReply {
    /// Writes the payload into `buffer`, which is cleared first.
    ///
    /// # Errors
    /// A length does not fit into 32 bits.
    pub fn encode_payload(&self, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
        encode_payload(self, buffer)
    }

    /// Decodes a payload.
    ///
    /// # Errors
    /// The payload is not a reply.
    pub fn decode_payload(payload: &[u8]) -> Result<Self, DecodeError> {
        decode_payload(payload)
    }
}

fn encode_payload(value: &impl Encode, buffer: &mut Vec<u8>) -> Result<(), EncodeError> {
    buffer.clear();
    let header = Encapsulation::new(Encoding::Xcdr2, Extensibility::Final, ByteOrder::Little);
    buffer.extend_from_slice(&header.to_bytes());
    value.encode(&mut Encoder::new(buffer, Encoding::Xcdr2, ByteOrder::Little))
}

fn decode_payload<T: for<'de> Decode<'de>>(payload: &[u8]) -> Result<T, DecodeError> {
    let (mut decoder, header) = Decoder::of_payload(payload)?;
    header.expect_fit(Extensibility::Final)?;
    match header.encoding {
        Encoding::Xcdr2 => T::decode(&mut decoder),
        Encoding::Xcdr1 => {
            Err(decoder.error(DecodeErrorKind::Unrepresentable { what: "a message of the TypeLookup service" }))
        }
    }
}

impl Encode for LookupRequest {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.id.encode(e)?;
        self.instance_name.encode(e)?;
        self.call.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for LookupRequest {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self { id: Decode::decode(d)?, instance_name: Decode::decode(d)?, call: Decode::decode(d)? })
    }
}

impl Encode for LookupReply {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.request.encode(e)?;
        self.exception.encode(e)?;
        self.result.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for LookupReply {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self { request: Decode::decode(d)?, exception: Decode::decode(d)?, result: Decode::decode(d)? })
    }
}

impl Encode for SampleIdentity {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.bytes(&self.writer.to_bytes());
        // RTPS splits the number: the upper half is signed, the lower one is not (RTPS 2.5, 9.3.2).
        let number = self.sequence_number.0;
        i32::try_from(number >> 32).unwrap_or(-1).encode(e)?;
        (number as u32).encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for SampleIdentity {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let writer = Guid::from_bytes(<[u8; 16]>::decode(d)?);
        let (high, low) = (i32::decode(d)?, u32::decode(d)?);
        Ok(Self { writer, sequence_number: SequenceNumber(i64::from(high) << 32 | i64::from(low)) })
    }
}

impl Encode for LookupCall {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.appendable(|e| match self {
            Self::Types(types) => {
                GET_TYPES.encode(e)?;
                e.mutable(|e| e.member(TYPE_IDS, false, LengthCode::NextInt, |e| types.encode(e)))
            }
            Self::Dependencies { types, continuation } => {
                GET_DEPENDENCIES.encode(e)?;
                e.mutable(|e| {
                    e.member(TYPE_IDS, false, LengthCode::NextInt, |e| types.encode(e))?;
                    e.member(CONTINUATION, false, LengthCode::NextInt, |e| continuation.encode(e))
                })
            }
            // No operation has this id.
            Self::Unknown => 0_i32.encode(e),
        })
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for LookupCall {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.appendable(|d| {
            let operation = i32::decode(d)?;
            let (mut types, mut continuation) = (Vec::new(), Vec::new());
            // The members of an unknown operation have unknown types, so they are not read.
            if operation == GET_TYPES || operation == GET_DEPENDENCIES {
                d.members(|d, id| {
                    match id {
                        TYPE_IDS => types = Decode::decode(d)?,
                        CONTINUATION => continuation = decode_continuation(d)?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?;
            }
            Ok(match operation {
                GET_TYPES => Self::Types(types),
                GET_DEPENDENCIES => Self::Dependencies { types, continuation },
                _ => Self::Unknown,
            })
        })
    }
}

impl Encode for LookupReturn {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.appendable(|e| {
            let operation = match self {
                Self::Types { .. } => GET_TYPES,
                Self::Dependencies { .. } => GET_DEPENDENCIES,
                Self::Unknown => return 0_i32.encode(e),
            };
            operation.encode(e)?;
            e.appendable(|e| {
                RETCODE_OK.encode(e)?;
                e.mutable(|e| self.encode_result(e))
            })
        })
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl LookupReturn {
    fn encode_result(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Self::Types { types, complete_to_minimal } => {
                e.member(TYPES, false, LengthCode::NextInt, |e| encode_pairs(types, e))?;
                e.member(COMPLETE_TO_MINIMAL, false, LengthCode::NextInt, |e| encode_pairs(complete_to_minimal, e))
            }
            Self::Dependencies { types, continuation } => {
                e.member(DEPENDENT_TYPE_IDS, false, LengthCode::NextInt, |e| types.encode(e))?;
                e.member(CONTINUATION, false, LengthCode::NextInt, |e| continuation.encode(e))
            }
            Self::Unknown => Ok(()),
        }
    }

    fn decode_result(operation: i32, d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let (mut types, mut pairs, mut dependencies, mut continuation) = Default::default();
        // The members of both results have different ids, so one loop reads either.
        d.members(|d, id| {
            match id {
                TYPES => types = decode_pairs(d)?,
                COMPLETE_TO_MINIMAL => pairs = decode_pairs(d)?,
                DEPENDENT_TYPE_IDS => dependencies = Decode::decode(d)?,
                CONTINUATION => continuation = decode_continuation(d)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(match operation {
            GET_TYPES => Self::Types { types, complete_to_minimal: pairs },
            _ => Self::Dependencies { types: dependencies, continuation },
        })
    }
}

impl<'de> Decode<'de> for LookupReturn {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.appendable(|d| {
            // The result of an unknown operation has an unknown type, so it is not read.
            let operation = i32::decode(d)?;
            if operation != GET_TYPES && operation != GET_DEPENDENCIES {
                return Ok(Self::Unknown);
            }
            d.appendable(|d| match i32::decode(d)? {
                RETCODE_OK => Self::decode_result(operation, d),
                // A failed operation has no result behind its code.
                _ => Ok(Self::Unknown),
            })
        })
    }
}

/// Encodes a sequence of final structs of two members.
fn encode_pairs<A: Encode, B: Encode>(pairs: &[(A, B)], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
    e.collection(false, |e| {
        e.length(pairs.len())?;
        for (a, b) in pairs {
            a.encode(e)?;
            b.encode(e)?;
        }
        Ok(())
    })
}

fn decode_pairs<'de, A: Decode<'de>, B: Decode<'de>>(d: &mut Decoder<'de>) -> Result<Vec<(A, B)>, DecodeError> {
    d.collection(false, |d| {
        let count = d.length(2)?;
        // An element is larger in memory than on the wire, so memory is not allocated in advance.
        let mut pairs = Vec::new();
        for _ in 0..count {
            pairs.push((A::decode(d)?, B::decode(d)?));
        }
        Ok(pairs)
    })
}

fn decode_continuation(d: &mut Decoder<'_>) -> Result<Vec<u8>, DecodeError> {
    let continuation = Vec::<u8>::decode(d)?;
    d.check_bound(continuation.len(), CONTINUATION_MAX)?;
    Ok(continuation)
}

const SERVICE: &str = "dds.builtin.TOS.";
const RETCODE_OK: i32 = 0;
/// Most octets of a continuation point.
const CONTINUATION_MAX: u32 = 32;
// The ids are MD5s of the names, as of any member with `@hashid`; the operations are those of Cyclone DDS and OpenDDS.
const GET_TYPES: i32 = 0x0182_52d3;
const GET_DEPENDENCIES: i32 = 0x05aa_fb31;
const TYPE_IDS: u32 = HASHED[0].1;
const CONTINUATION: u32 = HASHED[1].1;
const TYPES: u32 = HASHED[2].1;
const COMPLETE_TO_MINIMAL: u32 = HASHED[3].1;
const DEPENDENT_TYPE_IDS: u32 = HASHED[4].1;
/// Names and ids of members.
const HASHED: [(&str, u32); 5] = [
    ("type_ids", 0x0c53_6065),
    ("continuation_point", 0x0508_e3d2),
    ("types", 0x0280_4ad1),
    ("complete_to_minimal", 0x0b8e_6577),
    ("dependent_typeids", 0x0ba4_dfc9),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_names() {
        for (name, id) in HASHED {
            let [a, b, c, d, ..] = md5::compute(name).0;
            assert_eq!(u32::from_le_bytes([a, b, c, d]) & 0x0fff_ffff, id, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = LookupRequest::decode_payload(&bytes);
            let _ = LookupReply::decode_payload(&bytes);
        }
    }

    #[test]
    fn messages_survive_a_round_trip() {
        let id = SampleIdentity { writer: Guid::from_bytes([7; 16]), sequence_number: SequenceNumber((3 << 32) + 5) };
        let types = vec![TypeIdentifier::Minimal(crate::xtypes::EquivalenceHash([1; 14]))];
        let instance_name = LookupRequest::instance_of(GuidPrefix([0xab; 12]));
        assert_eq!(instance_name, "dds.builtin.TOS.abababababababababababab000001c1");
        let calls = [LookupCall::Types(types.clone()), LookupCall::Dependencies { types, continuation: vec![1, 2] }];
        let mut payload = Vec::new();
        for call in calls {
            let request = LookupRequest { id, instance_name: instance_name.clone(), call };
            request.encode_payload(&mut payload).unwrap();
            assert_eq!(LookupRequest::decode_payload(&payload), Ok(request));
        }
        let reply = LookupReply {
            request: id,
            exception: 0,
            result: LookupReturn::Dependencies { types: Vec::new(), continuation: vec![9] },
        };
        reply.encode_payload(&mut payload).unwrap();
        assert_eq!(LookupReply::decode_payload(&payload), Ok(reply));
    }
}
