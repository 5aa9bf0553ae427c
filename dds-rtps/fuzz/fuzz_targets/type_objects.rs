//! Any bytes as a type object, as type information, and as a type lookup request or reply.
//!
//! A decoded value returns from a round trip unchanged. The comparison of any two types ends, and so does the
//! creation of a dynamic type.
//!
//! The bytes are also read as a sequence of type objects, each behind its length in 16 bits.

#![no_main]

use dds_rtps::cdr::dynamic::DynamicData;
use dds_rtps::discovery::{LookupReply, LookupRequest};
use dds_rtps::qos::TypeConsistency;
use dds_rtps::xtypes::{
    Complete, Minimal, SourceId, TypeIdentifier, TypeInformation, TypeObject, TypeStore, check_assignable,
    dynamic_type_of,
};
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;

const SOURCE: SourceId = SourceId(*b"abcdefghijkl");
/// Most types that are compared in pairs.
const TYPES_MAX: usize = 6;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(information) = TypeInformation::from_bytes(bytes) {
        let again = information.to_bytes().expect("a decoded value is not too long");
        assert_eq!(TypeInformation::from_bytes(&again).as_ref(), Ok(&information));
    }
    if let Ok(request) = LookupRequest::decode_payload(bytes) {
        let mut again = Vec::new();
        // An unknown kind of request decodes, but cannot be encoded.
        if request.encode_payload(&mut again).is_ok() {
            assert_eq!(LookupRequest::decode_payload(&again).as_ref(), Ok(&request));
        }
    }
    if let Ok(reply) = LookupReply::decode_payload(bytes) {
        let mut again = Vec::new();
        if reply.encode_payload(&mut again).is_ok() {
            assert_eq!(LookupReply::decode_payload(&again).as_ref(), Ok(&reply));
        }
    }
    let _ = black_box(object(bytes));
    compare(bytes);
});

/// Decodes a type object and checks its round trip.
fn object(bytes: &[u8]) -> Option<TypeObject> {
    let object = TypeObject::from_bytes(bytes).ok()?;
    let again = object.to_bytes().expect("a decoded value is not too long");
    assert_eq!(TypeObject::from_bytes(&again).as_ref(), Ok(&object));
    Some(object)
}

fn compare(mut bytes: &[u8]) {
    let (mut store, mut ids) = (TypeStore::default(), Vec::new());
    while ids.len() < TYPES_MAX {
        let Some((length, rest)) = bytes.split_first_chunk() else { break };
        let (described, rest) = rest.split_at(rest.len().min(u16::from_le_bytes(*length).into()));
        bytes = rest;
        let Some(object) = object(described) else { continue };
        let id = object.identifier().expect("a decoded value is not too long");
        if store.add(SOURCE, &id, object, described.len()).is_ok() {
            ids.push(id);
        }
    }
    for id in &ids {
        create_dynamic(&store, id, bytes);
    }
    for reader in &ids {
        for writer in &ids {
            for policy in policies() {
                let minimal = check_assignable::<Minimal>(&store, reader, writer, &policy);
                let complete = check_assignable::<Complete>(&store, reader, writer, &policy);
                assert!(reader != writer || minimal.is_ok() && complete.is_ok(), "a type is assignable from itself");
                black_box((format!("{minimal:?}"), complete.is_ok()));
            }
        }
    }
}

/// Creates the dynamic type and decodes any bytes as its value.
fn create_dynamic(store: &TypeStore, id: &TypeIdentifier, payload: &[u8]) {
    let lookup = |id: &TypeIdentifier| match store.get(id)?.as_ref() {
        TypeObject::Complete(definition) => Some(definition),
        TypeObject::Minimal(_) => None,
    };
    black_box(store.graph_of(id));
    if let Ok(ty) = dynamic_type_of(id, &lookup) {
        black_box((DynamicData::new(&ty), DynamicData::from_payload(&ty, payload).is_ok()));
    }
}

/// The most lenient policy and the strictest one.
fn policies() -> [TypeConsistency; 2] {
    let lenient = TypeConsistency::default().ignore_member_names(true);
    let strict = TypeConsistency::default().ignore_sequence_bounds(false).ignore_string_bounds(false).prevent_type_widening(true);
    [lenient, strict]
}
