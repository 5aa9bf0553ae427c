//! Derived types and dynamic types have the same bytes, keys and errors.

use super::*;
use crate::cdr::dynamic::{DynamicData, DynamicType};
use crate::cdr::{
    AnyType, DecodeError, DecodeErrorKind, KeyHasher, Keyed, TypeInfo, decode_payload, encode_key_payload,
    encode_payload, instance_of_payload, key_hash_of, key_hashes_agree,
};
use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    /// Types by description. Each type is built once, because each test uses it for many payloads.
    static TYPES: RefCell<HashMap<usize, DynamicType>> = RefCell::default();
}

/// Returns the dynamic type of a derived type.
pub(in crate::cdr) fn type_of<T: TypeInfo>() -> DynamicType {
    let address = std::ptr::from_ref(T::DESCRIPTION).addr();
    let make = || DynamicType::of::<T>().unwrap();
    TYPES.with(|types| types.borrow_mut().entry(address).or_insert_with(make).clone())
}

/// Decodes a body as dynamic data.
fn dynamic(ty: &DynamicType, body: &[u8], encoding: Encoding, order: ByteOrder) -> DynamicData {
    let mut data = DynamicData::new(ty);
    let mut d = Decoder::new(body, encoding, order);
    data.decode_into(&mut d).unwrap();
    assert_eq!(d.remaining(), 0);
    data
}

/// Checks that a derived sample equals its dynamic data, in both encodings and byte orders.
pub(in crate::cdr) fn agrees<T: Encode + TypeInfo>(sample: &T) {
    let ty = type_of::<T>();
    let data = ENCODINGS.map(|encoding| {
        let [one, other] = ORDERS.map(|order| {
            let bytes = body(sample, encoding, order);
            let data = dynamic(&ty, &bytes, encoding, order);
            assert_eq!(body(&data, encoding, order), bytes, "{encoding:?} {order:?} {data}");
            assert_eq!(data.as_ref().to_data(), data);
            data
        });
        assert_eq!(one, other);
        let (mut derived, mut made) = (Vec::new(), Vec::new());
        encode_payload(sample, encoding, &mut derived).unwrap();
        encode_payload(&one, encoding, &mut made).unwrap();
        assert_eq!(derived, made);
        let mut scratch = Vec::new();
        if T::HAS_KEY {
            let key = |encode: &dyn Fn(&mut Encoder<'_>)| {
                let mut bytes = Vec::new();
                encode(&mut Encoder::for_key_hash(&mut bytes, encoding));
                bytes
            };
            assert_eq!(key(&|e| sample.encode_key(e).unwrap()), key(&|e| one.encode_key(e).unwrap()));
            let hash = key_hash_of(sample, encoding, &mut scratch).unwrap();
            let any = AnyType::from(ty.clone());
            assert_eq!(any.key_hash_of_payload(&derived, false, &mut scratch), Ok(hash));
            assert_eq!(any.key_hashes_agree(), key_hashes_agree(T::DESCRIPTION));
            let hasher = KeyHasher::new(ty.clone(), true);
            let instance = instance_of_payload(T::DESCRIPTION, &derived, false, &mut scratch);
            assert_eq!(hasher.of_payload(&derived, false, &mut scratch), instance);
            assert_eq!(hasher.of_sample(&one, &mut scratch).ok(), instance.ok());
        }
        one
    });
    let [in_xcdr1, in_xcdr2] = data;
    assert_eq!(in_xcdr1, in_xcdr2);
}

/// Checks that the serialized key of a sample equals that of its dynamic data.
pub(in crate::cdr) fn key_agrees<T: Encode + Keyed + TypeInfo>(sample: &T) {
    let ty = type_of::<T>();
    let (mut payload, mut derived, mut made, mut scratch) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for encoding in ENCODINGS {
        encode_payload(sample, encoding, &mut payload).unwrap();
        let data = DynamicData::from_payload(&ty, &payload).unwrap();
        encode_key_payload::<T>(&sample.key(), encoding, &mut derived).unwrap();
        encode_key_payload::<DynamicData>(&data.key(), encoding, &mut made).unwrap();
        assert_eq!(derived, made, "{encoding:?} {data}");
        let key = DynamicData::from_key_payload(&ty, &derived).unwrap();
        assert_eq!(key, data.key());
        let hasher = KeyHasher::new(ty.clone(), true);
        let instance = instance_of_payload(T::DESCRIPTION, &derived, true, &mut scratch);
        assert_eq!(hasher.of_payload(&derived, true, &mut scratch), instance);
        assert_eq!(hasher.of_key::<DynamicData>(&key, &mut scratch).ok(), instance.ok());
    }
}

/// Checks that a payload decodes to the same value or error with both types.
pub(in crate::cdr) fn agrees_on<'de, T: Decode<'de> + Encode + TypeInfo>(payload: &'de [u8]) -> Result<T, DecodeError> {
    let ty = type_of::<T>();
    let derived = decode_payload::<T>(payload);
    let dynamic = DynamicData::from_payload(&ty, payload);
    match (&derived, &dynamic) {
        (Ok(sample), Ok(data)) => {
            for encoding in ENCODINGS {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                encode_payload(sample, encoding, &mut one).unwrap();
                // A derived union need not keep the received discriminator, so both payloads go through the derived
                // type. The payload is leaked because the derived type may borrow from it.
                let made: &'static [u8] = data.to_payload(encoding).unwrap().leak();
                encode_payload(&decode_payload::<T>(made).unwrap(), encoding, &mut other).unwrap();
                let [one, other] = [one, other].map(|bytes| letters(&DynamicData::from_payload(&ty, &bytes).unwrap()));
                assert_eq!(one, other, "of {payload:02x?}");
            }
        }
        // The depths differ: boxes count for a derived type.
        (Err(error), _) if error.kind() == DecodeErrorKind::NestingTooDeep => {}
        // A payload with several errors may report a length sooner or later.
        (Err(_), Err(_)) => {}
        (derived, dynamic) => {
            let derived = derived.as_ref().map(|_| ());
            panic!("derived {derived:?}, dynamic {dynamic:?}, of {payload:02x?}, {ty}")
        }
    }
    derived
}

/// Returns the sorted letters of the value's text, which do not depend on the order of maps.
fn letters(data: &DynamicData) -> Vec<char> {
    let mut letters: Vec<char> = data.to_string().chars().collect();
    letters.sort_unstable();
    letters
}
