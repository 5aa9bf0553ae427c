//! Any description of a type, announcement of it, question for it and answer: what decodes comes back out of our own encoding, and
//! whatever types are described, comparing them ends, and so does making a type of them at run time.
//!
//! The bytes are read once as each of these, and once as a row of descriptions, each behind its length in 16 bits.

#![no_main]

use dds_rtps::cdr::dynamic::DynamicData;
use dds_rtps::discovery::{LookupReply, LookupRequest};
use dds_rtps::qos::TypeConsistency;
use dds_rtps::xtypes::{
    Complete, Minimal, SourceId, TypeIdentifier, TypeInformation, TypeObject, TypeStore,
    check_assignable, dynamic_type_of,
};
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;

const STRANGER: SourceId = SourceId(*b"abcdefghijkl");
/// Pairs of so many types are compared.
const TYPES_MAX: usize = 6;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(information) = TypeInformation::from_bytes(bytes) {
        let again = information.to_bytes().expect("what was read is not too long");
        assert_eq!(TypeInformation::from_bytes(&again).as_ref(), Ok(&information));
    }
    if let Ok(request) = LookupRequest::decode_payload(bytes) {
        let mut again = Vec::new();
        // What is not known is not asked.
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

/// A description, which comes back the same.
fn object(bytes: &[u8]) -> Option<TypeObject> {
    let object = TypeObject::from_bytes(bytes).ok()?;
    let again = object.to_bytes().expect("what was read is not too long");
    assert_eq!(TypeObject::from_bytes(&again).as_ref(), Ok(&object));
    Some(object)
}

fn compare(mut bytes: &[u8]) {
    let (mut store, mut ids) = (TypeStore::default(), Vec::new());
    while let Some((length, rest)) = bytes.split_first_chunk().filter(|_| ids.len() < TYPES_MAX) {
        let (described, rest) = rest.split_at(rest.len().min(u16::from_le_bytes(*length).into()));
        bytes = rest;
        let Some(object) = object(described) else { continue };
        let id = object.identifier().expect("what was read is not too long");
        if store.add(STRANGER, &id, object, described.len()).is_ok() {
            ids.push(id);
        }
    }
    for id in &ids {
        make(&store, id, bytes);
    }
    for (reader, writer) in ids.iter().flat_map(|reader| ids.iter().map(move |writer| (reader, writer))) {
        for policy in policies() {
            let minimal = check_assignable::<Minimal>(&store, reader, writer, &policy);
            let complete = check_assignable::<Complete>(&store, reader, writer, &policy);
            assert!(reader != writer || minimal.is_ok() && complete.is_ok(), "a type is assignable from itself");
            black_box((format!("{minimal:?}"), complete.is_ok()));
        }
    }
}

/// Makes the type, and a value of it of any bytes.
fn make(store: &TypeStore, id: &TypeIdentifier, payload: &[u8]) {
    let lookup = |id: &TypeIdentifier| match store.get(id)?.as_ref() {
        TypeObject::Complete(definition) => Some(definition),
        TypeObject::Minimal(_) => None,
    };
    black_box(store.graph_of(id));
    if let Ok(ty) = dynamic_type_of(id, &lookup) {
        black_box((DynamicData::new(&ty), DynamicData::from_payload(&ty, payload).is_ok()));
    }
}

/// All that refuses less, all that refuses more.
fn policies() -> [TypeConsistency; 2] {
    let lenient = TypeConsistency { ignore_member_names: true, ..TypeConsistency::default() };
    let strict = TypeConsistency {
        ignore_sequence_bounds: false,
        ignore_string_bounds: false,
        prevent_type_widening: true,
        ..TypeConsistency::default()
    };
    [lenient, strict]
}
