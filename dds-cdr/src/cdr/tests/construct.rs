//! Members whose received values do not fit their type (XTYPES 1.3, 7.2.2.7).

use super::kinds::{FinalUnion, Plain, Twelve};
use super::types::Gear;
use super::*;
use crate::cdr::{
    DecodeErrorKind, Encapsulation, TryConstruct, TypeInfo, TypeKind, WString, decode_payload, decode_payload_into,
};
use dds_macros::DdsType;
use std::collections::BTreeMap;
use std::sync::Arc;

macro_rules! sender_and_receiver {
    ($extensibility:ident, $sender:ident, $receiver:ident) => {
        /// The sender's type: no bounds, and numbers instead of enums.
        #[derive(DdsType, Debug)]
        #[dds(crate = "crate", $extensibility)]
        struct $sender {
            first: u8,
            text: String,
            gear: i32,
            union: FinalUnion,
            mask: u16,
            list: Vec<u64>,
            maybe: Option<String>,
            trimmed: String,
            wide: WString,
            numbers: Vec<u16>,
            map: BTreeMap<u8, u8>,
            maybe_trimmed: Option<Vec<u8>>,
            last: u64,
        }

        #[derive(DdsType, Debug, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        struct $receiver {
            first: u8,
            #[dds(bound = 3, try_construct = "use_default", default = "none".into())]
            text: String,
            #[dds(try_construct = "use_default")]
            gear: Gear,
            #[dds(try_construct = "use_default")]
            union: Plain,
            #[dds(try_construct = "use_default", default = Twelve(1))]
            mask: Twelve,
            #[dds(bound = 1, try_construct = "use_default")]
            list: Vec<u64>,
            #[dds(bound = 1, try_construct = "use_default")]
            maybe: Option<String>,
            #[dds(bound = 4, try_construct = "trim")]
            trimmed: String,
            #[dds(bound = 4, try_construct = "trim")]
            wide: WString,
            #[dds(bound = 2, try_construct = "trim")]
            numbers: Vec<u16>,
            #[dds(bound = 1, try_construct = "trim")]
            map: BTreeMap<u8, u8>,
            #[dds(bound = 1, try_construct = "trim")]
            maybe_trimmed: Option<Vec<u8>>,
            last: u64,
        }

        impl $receiver {
            fn unfit_values_are_replaced() {
                let sent = $sender {
                    first: 1,
                    text: "long".into(),
                    gear: 99,
                    union: FinalUnion::Nothing,
                    mask: 0xffff,
                    list: vec![1, 2, 3],
                    maybe: Some("long".into()),
                    // Characters of two, two and one bytes.
                    trimmed: "äöu".into(),
                    wide: "abc\u{1d11e}".into(),
                    numbers: vec![1, 2, 3],
                    map: BTreeMap::from([(1, 2), (3, 4)]),
                    maybe_trimmed: Some(vec![1, 2]),
                    last: 2,
                };
                let expected = Self {
                    first: 1,
                    text: "none".into(),
                    gear: Gear::Reverse,
                    union: Plain::Flag(false),
                    mask: Twelve(1),
                    list: vec![],
                    maybe: None,
                    trimmed: "äö".into(),
                    wide: "abc".into(),
                    numbers: vec![1, 2],
                    map: BTreeMap::from([(1, 2)]),
                    maybe_trimmed: Some(vec![1]),
                    last: 2,
                };
                for encoding in ENCODINGS {
                    for order in ORDERS {
                        let header = Encapsulation::new(encoding, $receiver::DESCRIPTION.extensibility(), order);
                        let mut payload = header.to_bytes().to_vec();
                        payload.extend(body(&sent, encoding, order));
                        assert_eq!(decode_payload::<Self>(&payload).unwrap(), expected);
                        let mut reused = Self { text: "old".into(), last: 9, ..decode_payload(&payload).unwrap() };
                        decode_payload_into(&payload, &mut reused).unwrap();
                        assert_eq!(reused, expected);
                        // Malformed input is still an error.
                        let short = payload.len() - 1;
                        assert!(decode_payload::<Self>(&payload[..short]).is_err());
                    }
                }
            }
        }
    };
}

sender_and_receiver!(final, SentFinal, Final);
sender_and_receiver!(appendable, SentAppendable, Appendable);
sender_and_receiver!(mutable, SentMutable, Mutable);

#[derive(DdsType)]
#[dds(crate = "crate", appendable, discriminator = i16)]
enum SentWord {
    #[dds(case = 4)]
    Word(String),
}

type Word = String;

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "crate", appendable, discriminator = i16)]
enum ExternalWord {
    #[dds(external, bound = 2, try_construct = "trim", case = 4)]
    Word(Box<Word>),
}

#[test]
fn external_member_is_trimmed() {
    let mut payload = Encapsulation::new(Encoding::Xcdr2, SentWord::DESCRIPTION.extensibility(), ByteOrder::Little)
        .to_bytes()
        .to_vec();
    payload.extend(body(&SentWord::Word("long".into()), Encoding::Xcdr2, ByteOrder::Little));
    assert_eq!(decode_payload::<ExternalWord>(&payload).unwrap(), ExternalWord::Word("lo".to_owned().into()));
}

#[test]
fn member_try_construct_handles_unfit_values() {
    Final::unfit_values_are_replaced();
    Appendable::unfit_values_are_replaced();
    Mutable::unfit_values_are_replaced();
}

#[test]
fn unfit_value_is_an_error_by_default() {
    #[derive(DdsType, Debug)]
    #[dds(crate = "crate")]
    struct Strict {
        #[dds(bound = 2, try_construct = "discard")]
        text: String,
    }
    let error = decode_payload::<Strict>(&hex("0006 0000 00000004 61626300")).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 2, length: 3 });
}

#[test]
fn description_has_try_construct_of_members() {
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", appendable)]
    struct Described {
        #[dds(external)]
        boxed: Box<u32>,
        #[dds(external)]
        shared: Arc<String>,
        #[dds(bound = 2, try_construct = "trim")]
        text: String,
    }
    let TypeKind::Struct(description) = Described::DESCRIPTION.kind() else { panic!() };
    let said: Vec<_> = description.members().iter().map(|m| (m.is_external(), m.on_construct_failure())).collect();
    let discard = TryConstruct::Discard;
    assert_eq!(said, [(true, discard), (true, discard), (false, TryConstruct::Trim)]);
    let sample = Described { boxed: Box::new(1), shared: Arc::new("s".into()), text: "t".into() };
    let bytes = body(&sample, Encoding::Xcdr2, ByteOrder::Big);
    assert_eq!(bytes, hex("00000012 00000001 00000002 7300 0000 00000002 7400"));
    let mut read: Described = value(&bytes, Encoding::Xcdr2, ByteOrder::Big);
    assert_eq!(read, sample);
    // A shared value is replaced, and an unshared one is reused.
    let other = Arc::clone(&read.shared);
    read.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap();
    assert!(!Arc::ptr_eq(&read.shared, &other));
    let place = Arc::as_ptr(&read.shared);
    read.decode_into(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap();
    assert_eq!(Arc::as_ptr(&read.shared), place);
}
