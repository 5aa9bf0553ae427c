//! Types that evolved: the older type read as the newer one, and the reverse.

use super::*;
use crate::cdr::{DecodeErrorKind, decode_payload, decode_payload_into, encode_payload};
use dds_macros::DdsType;

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, name = "T")]
struct Old {
    a: u8,
    inner: OldInner,
    z: u8,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, nested)]
struct OldInner {
    a: u16,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, name = "T")]
struct New {
    a: u8,
    inner: NewInner,
    z: u8,
    text: String,
    list: Vec<u32>,
    maybe: Option<u64>,
    nested: NewInner,
    #[dds(default = 42)]
    answer: u32,
    #[dds(default)]
    duration: u64,
    kind: Kind,
    array: [String; 2],
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, nested)]
struct NewInner {
    a: u16,
    #[dds(default = "unknown".to_owned())]
    b: String,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate")]
enum Kind {
    First = 3,
    Second = 1,
}

fn new() -> New {
    New {
        a: 1,
        inner: NewInner { a: 2, b: "b".into() },
        z: 3,
        text: "text".into(),
        list: vec![1, 2, 3],
        maybe: Some(1),
        nested: NewInner { a: 4, b: "c".into() },
        answer: 5,
        duration: 6,
        kind: Kind::Second,
        array: ["x".into(), "y".into()],
    }
}

fn grown() -> New {
    New {
        a: 1,
        inner: NewInner { a: 2, b: "unknown".into() },
        z: 3,
        text: String::new(),
        list: Vec::new(),
        maybe: None,
        nested: NewInner { a: 0, b: "unknown".into() },
        answer: 42,
        duration: 0,
        kind: Kind::First,
        array: [String::new(), String::new()],
    }
}

#[test]
fn members_missing_in_older_type_get_defaults() {
    let mut bytes = Vec::new();
    encode_payload(&Old { a: 1, inner: OldInner { a: 2 }, z: 3 }, Encoding::Xcdr2, &mut bytes).unwrap();
    assert_eq!(decode_payload::<New>(&bytes).unwrap(), grown());
    let mut value = new();
    decode_payload_into(&bytes, &mut value).unwrap();
    assert_eq!(value, grown());
}

#[test]
fn members_of_newer_type_are_skipped() {
    let mut bytes = Vec::new();
    encode_payload(&new(), Encoding::Xcdr2, &mut bytes).unwrap();
    assert_eq!(decode_payload::<Old>(&bytes).unwrap(), Old { a: 1, inner: OldInner { a: 2 }, z: 3 });
}

#[test]
fn without_delimiter_all_members_are_required() {
    let mut bytes = Vec::new();
    encode_payload(&Old { a: 1, inner: OldInner { a: 2 }, z: 3 }, Encoding::Xcdr1, &mut bytes).unwrap();
    assert_eq!(decode_payload::<New>(&bytes).unwrap_err().kind(), DecodeErrorKind::Truncated);
}

#[test]
fn payload_of_another_extensibility_is_refused() {
    #[derive(DdsType)]
    #[dds(crate = "crate", name = "T")]
    struct Final {
        a: u8,
    }
    let mut bytes = Vec::new();
    encode_payload(&Final { a: 1 }, Encoding::Xcdr2, &mut bytes).unwrap();
    let error = decode_payload::<Old>(&bytes).unwrap_err();
    assert_eq!(
        error.kind(),
        DecodeErrorKind::Framing { identifier: if cfg!(target_endian = "little") { 7 } else { 6 } }
    );
}
