//! Elements, keys and values of collections, and members of unions, whose received values do not fit their type (XTYPES
//! 1.3, 7.2.2.7).

use super::types::Gear;
use super::*;
use crate::cdr::{
    Bounded, DecodeErrorKind, Encapsulation, EncodeError, OrDefault, Trimmed, TryConstruct, TypeInfo, TypeKind,
    WString, decode_payload_into,
};
use dds_macros::DdsType;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

type Short = Trimmed<String, 3>;

/// Checks that values that do not fit are replaced, and that the following values are correct.
fn is_received<S: Encode, R>(sent: &S, expected: &R)
where
    R: for<'de> Decode<'de> + Encode + TypeInfo + PartialEq + Debug + Default,
{
    for encoding in ENCODINGS {
        for order in ORDERS {
            let mut payload = Encapsulation::new(encoding, R::DESCRIPTION.extensibility(), order).to_bytes().to_vec();
            payload.extend(body(sent, encoding, order));
            assert_eq!(&decode_payload::<R>(&payload).unwrap(), expected, "{encoding:?} {order:?}");
            let mut reused = R::default();
            // First into an empty value, then into the decoded one.
            for _ in 0..2 {
                decode_payload_into(&payload, &mut reused).unwrap();
                assert_eq!(&reused, expected, "{encoding:?} {order:?}");
            }
            let short = payload.len() - 1;
            assert!(decode_payload::<R>(&payload[..short]).is_err());
        }
    }
}

/// The sender's enum, with more literals than [`Gear`].
#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[dds(crate = "crate", nested)]
enum AnyGear {
    Reverse = -1,
    Neutral,
    First = 7,
    Unknown = 99,
    Least = i32::MIN as isize,
}

macro_rules! sender_and_receiver {
    ($extensibility:ident, $sender:ident, $receiver:ident) => {
        #[derive(DdsType, Debug)]
        #[dds(crate = "crate", $extensibility)]
        struct $sender {
            gears: Vec<AnyGear>,
            pair: [[AnyGear; 2]; 2],
            names: Vec<String>,
            wide: Option<Vec<WString>>,
            lists: Vec<Vec<u16>>,
            rows: [Vec<u64>; 2],
            by_name: BTreeMap<String, String>,
            by_gear: BTreeMap<AnyGear, u16>,
            hashed: HashMap<String, AnyGear>,
            deep: Vec<Vec<BTreeMap<u8, String>>>,
            boxed: Vec<Box<String>>,
            last: u64,
        }

        #[derive(DdsType, Debug, PartialEq, Default)]
        #[dds(crate = "crate", $extensibility)]
        struct $receiver {
            gears: Vec<OrDefault<Gear>>,
            pair: [[OrDefault<Gear>; 2]; 2],
            #[dds(bound = 2, try_construct = "trim")]
            names: Vec<Short>,
            wide: Option<Vec<Trimmed<WString, 1>>>,
            lists: Vec<OrDefault<Bounded<Vec<u16>, 1>>>,
            rows: [Trimmed<Vec<u64>, 1>; 2],
            by_name: BTreeMap<Short, OrDefault<Bounded<String, 1>>>,
            by_gear: BTreeMap<OrDefault<Gear>, u16>,
            hashed: HashMap<Short, OrDefault<Gear>>,
            deep: Vec<Vec<BTreeMap<u8, Short>>>,
            boxed: Vec<OrDefault<Box<Bounded<String, 2>>>>,
            last: u64,
        }

        impl $receiver {
            fn sent() -> $sender {
                $sender {
                    gears: vec![AnyGear::First, AnyGear::Unknown, AnyGear::Reverse, AnyGear::Neutral],
                    pair: [[AnyGear::Unknown, AnyGear::First], [AnyGear::Neutral, AnyGear::Least]],
                    names: vec!["long".into(), "äö".into(), "third".into()],
                    wide: Some(vec!["ab".into(), "\u{1d11e}".into()]),
                    lists: vec![vec![1], vec![1, 2], vec![]],
                    rows: [vec![1, 2, 3], vec![4]],
                    by_name: BTreeMap::from([("abcd".into(), "long".into()), ("b".into(), "x".into())]),
                    by_gear: BTreeMap::from([(AnyGear::First, 2), (AnyGear::Unknown, 1)]),
                    hashed: HashMap::from([("abcd".into(), AnyGear::First), ("b".into(), AnyGear::Unknown)]),
                    deep: vec![vec![BTreeMap::from([(1, "long".into())])], vec![]],
                    boxed: vec![Box::new("ab".into()), Box::new("abc".into())],
                    last: 2,
                }
            }

            fn unfit_values_are_replaced() {
                let short = |text: &str| Trimmed(text.to_owned());
                let expected = Self {
                    gears: [Gear::First, Gear::Reverse, Gear::Reverse, Gear::Neutral].map(OrDefault).into(),
                    pair: [[Gear::Reverse, Gear::First], [Gear::Neutral, Gear::Reverse]].map(|row| row.map(OrDefault)),
                    // A character of two bytes is kept as a whole or dropped.
                    names: vec![short("lon"), short("ä")],
                    wide: Some(vec![Trimmed("a".into()), Trimmed("".into())]),
                    lists: [vec![1], vec![], vec![]].map(|list| OrDefault(Bounded(list))).into(),
                    rows: [Trimmed(vec![1]), Trimmed(vec![4])],
                    by_name: BTreeMap::from([
                        (short("abc"), OrDefault(Bounded("".into()))),
                        (short("b"), OrDefault(Bounded("x".into()))),
                    ]),
                    by_gear: BTreeMap::from([(OrDefault(Gear::Reverse), 1), (OrDefault(Gear::First), 2)]),
                    hashed: HashMap::from([
                        (short("abc"), OrDefault(Gear::First)),
                        (short("b"), OrDefault(Gear::Reverse)),
                    ]),
                    deep: vec![vec![BTreeMap::from([(1, short("lon"))])], vec![]],
                    boxed: ["ab", ""].map(|text| OrDefault(Box::new(Bounded(text.into())))).into(),
                    last: 2,
                };
                is_received(&Self::sent(), &expected);
            }
        }
    };
}

sender_and_receiver!(final, SentFinal, Final);
sender_and_receiver!(appendable, SentAppendable, Appendable);
sender_and_receiver!(mutable, SentMutable, Mutable);

impl PartialOrd for Gear {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Gear {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (*self as i32).cmp(&(*other as i32))
    }
}

#[test]
fn element_wrappers_handle_unfit_values() {
    Final::unfit_values_are_replaced();
    Appendable::unfit_values_are_replaced();
    Mutable::unfit_values_are_replaced();
}

proptest! {
    /// A changed payload decodes to the same value or error, as a new value and in place.
    #[test]
    fn changed_bytes_decode_equally_in_place(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        encoding in prop::sample::select(&ENCODINGS[..]),
    ) {
        fn compare<S: Encode, R>(sent: &S, encoding: Encoding, changes: &[(prop::sample::Index, u8)])
        where
            R: for<'de> Decode<'de> + Encode + TypeInfo + PartialEq + Debug + Default,
        {
            let order = ByteOrder::HOST;
            let mut payload = Encapsulation::new(encoding, R::DESCRIPTION.extensibility(), order).to_bytes().to_vec();
            payload.extend(body(sent, encoding, order));
            let mut reused: R = decode_payload(&payload).unwrap();
            for (index, byte) in changes {
                let index = index.index(payload.len());
                payload[index] = *byte;
            }
            let fresh = decode_payload::<R>(&payload);
            let in_place = decode_payload_into(&payload, &mut reused);
            assert_eq!(fresh.is_ok(), in_place.is_ok(), "{fresh:?} {in_place:?}");
            if let Ok(fresh) = fresh {
                assert_eq!(fresh, reused);
            }
        }
        compare::<_, Final>(&Final::sent(), encoding, &changes);
        compare::<_, Appendable>(&Appendable::sent(), encoding, &changes);
        compare::<_, Mutable>(&Mutable::sent(), encoding, &changes);
    }
}

/// Bytes by hand. The wrappers do not change the encoding, and the sender's length is skipped.
#[test]
fn element_wrappers_do_not_change_the_bytes() {
    // XTYPES 1.3, 7.4.3.5.3, rule 12: sequences of enums have a DHEADER in XCDR2, because enums are not primitive.
    let gears = vec![OrDefault(Gear::First), OrDefault(Gear::Neutral)];
    let of_xcdr1 = hex("00000002 /* count */ 00000007 00000000");
    let of_xcdr2 = hex("0000000c /* DHEADER */ 00000002 /* count */ 00000007 00000000");
    assert_eq!(body(&gears, Encoding::Xcdr1, ByteOrder::Big), of_xcdr1);
    assert_eq!(body(&gears, Encoding::Xcdr2, ByteOrder::Big), of_xcdr2);
    // An unknown literal in both encodings, and the values behind it.
    for (encoding, bytes) in [
        (Encoding::Xcdr1, hex("00000002 00000063 00000007 01")),
        (Encoding::Xcdr2, hex("0000000c 00000002 00000063 00000007 01")),
    ] {
        let mut d = Decoder::new(&bytes, encoding, ByteOrder::Big);
        let gears = Vec::<OrDefault<Gear>>::decode(&mut d).unwrap();
        assert_eq!((gears, u8::decode(&mut d)), (vec![OrDefault(Gear::Reverse), OrDefault(Gear::First)], Ok(1)));
    }
    // A map of strings: count, key "abcd" with NUL, padding, value "xy" with NUL. XCDR2 adds a DHEADER.
    let entries = "00000001 00000005 6162636400 000000 00000003 787900";
    for (encoding, bytes) in [(Encoding::Xcdr1, hex(entries)), (Encoding::Xcdr2, hex(&format!("00000017 {entries}")))] {
        type Map = BTreeMap<Trimmed<String, 2>, OrDefault<Bounded<String, 1>>>;
        let mut d = Decoder::new(&bytes, encoding, ByteOrder::Big);
        let map = Map::decode(&mut d).unwrap();
        assert_eq!(map, Map::from([(Trimmed("ab".into()), OrDefault(Bounded(String::new())))]));
        assert_eq!(d.remaining(), 0);
    }
}

#[test]
fn trimmed_value_over_bound_is_not_sent() {
    let mut bytes = Vec::new();
    let error =
        vec![Short::from("long".to_owned())].encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little));
    assert_eq!(error, Err(EncodeError::BoundExceeded { bound: 3, length: 4 }));
}

#[test]
fn keys_that_become_equal_are_an_error() {
    let sent = BTreeMap::from([("abcd".to_owned(), 1_u8), ("abce".to_owned(), 2)]);
    let bytes = body(&sent, Encoding::Xcdr2, ByteOrder::Little);
    let decoder = || Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Little);
    let error = BTreeMap::<Short, u8>::decode(&mut decoder()).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    let error = HashMap::<Short, u8>::decode(&mut decoder()).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::DuplicateKey);
    // Entries of the reused map do not hide the duplicate.
    let mut map = HashMap::from([(Short::from("abc".to_owned()), 1_u8), (Short::from("x".to_owned()), 2)]);
    assert_eq!(map.decode_into(&mut decoder()).unwrap_err().kind(), DecodeErrorKind::DuplicateKey);
    let mut map: BTreeMap<_, _> =
        [("abc", 1_u8), ("x", 2)].map(|(key, value)| (Short::from(key.to_owned()), value)).into();
    assert_eq!(map.decode_into(&mut decoder()).unwrap_err().kind(), DecodeErrorKind::DuplicateKey);
}

#[test]
fn malformed_element_is_an_error() {
    // The second string has no NUL.
    let bytes = hex("00000002 00000002 6100 0000 00000003 626263");
    let error = Vec::<Short>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MissingNul);
    let bytes = hex("00000001 00000003 616263");
    type Bytes = Vec<OrDefault<Bounded<String, 1>>>;
    let error = Bytes::decode(&mut Decoder::new(&bytes, Encoding::Xcdr1, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MissingNul);
}

#[test]
fn struct_element_gets_its_default_as_a_whole() {
    // A member that does not fit replaces its whole struct. Other elements are not affected.
    #[derive(DdsType, Debug, PartialEq, Clone)]
    #[dds(crate = "crate", nested, appendable)]
    struct Part {
        gear: Gear,
        text: String,
    }
    #[derive(DdsType, Debug)]
    #[dds(crate = "crate", nested, appendable)]
    struct Sent {
        gear: i32,
        text: String,
    }
    let sent: Vec<_> = [1, 7, 2].map(|gear| Sent { gear, text: "t".into() }).into();
    for encoding in ENCODINGS {
        let bytes = body(&sent, encoding, ByteOrder::Big);
        let parts: Vec<OrDefault<Part>> = value(&bytes, encoding, ByteOrder::Big);
        let [one, two, three] = &parts[..] else { panic!("{parts:?}") };
        let default = Part { gear: Gear::Reverse, text: String::new() };
        assert_eq!((&one.0, &three.0), (&default, &default));
        assert_eq!(two.0, Part { gear: Gear::First, text: "t".into() });
    }
}

#[test]
fn description_has_try_construct_of_elements() {
    let TypeKind::Map { key, element, .. } = BTreeMap::<Short, OrDefault<Gear>>::DESCRIPTION.kind() else { panic!() };
    assert!(matches!(key().kind(), TypeKind::String { bound: Some(3) }));
    assert_eq!(key().on_construct_failure(), TryConstruct::Trim);
    assert_eq!(element().on_construct_failure(), TryConstruct::UseDefault);
    assert_eq!(Gear::DESCRIPTION.on_construct_failure(), TryConstruct::Discard);
    // The action is not part of the encoding.
    assert!(Vec::<OrDefault<Gear>>::DESCRIPTION.is_encoded_like(Vec::<Gear>::DESCRIPTION));
    // For a member, the attribute or the type selects the action.
    #[derive(DdsType)]
    #[dds(crate = "crate")]
    #[allow(dead_code, reason = "only described")]
    struct Members {
        plain: Gear,
        by_type: OrDefault<Gear>,
        #[dds(try_construct)]
        by_word: Gear,
    }
    let TypeKind::Struct(description) = Members::DESCRIPTION.kind() else { panic!() };
    let said: Vec<_> = description.members().iter().map(|member| member.on_construct_failure()).collect();
    assert_eq!(said, [TryConstruct::Discard, TryConstruct::UseDefault, TryConstruct::UseDefault]);
}

/// The sender's union, `union switch (long) { case 1: string; case 2: Gear; case 3: sequence<octet>; }`, and the
/// receiver's.
macro_rules! unions {
    ($extensibility:ident, $sender:ident, $receiver:ident) => {
        #[derive(DdsType, Debug)]
        #[dds(crate = "crate", nested, $extensibility)]
        enum $sender {
            #[dds(case = 1)]
            Text(String),
            #[dds(case = 2)]
            Gear(i32),
            #[dds(case = 3)]
            List(Vec<u8>),
            #[dds(case = 4)]
            Other(String),
        }

        #[derive(DdsType, Debug, PartialEq)]
        #[dds(crate = "crate", nested, $extensibility)]
        enum $receiver {
            #[dds(case = 1, bound = 2, try_construct = "trim")]
            Text(String),
            #[dds(case = 2, try_construct)]
            Gear(Gear),
            #[dds(case = 3, bound = 1, try_construct = "use_default")]
            List(Vec<u8>),
            #[dds(case = 4)]
            Other(Trimmed<String, 1>),
        }

        impl $receiver {
            fn unfit_values_are_replaced() {
                let pairs = [
                    ($sender::Text("abc".into()), $receiver::Text("ab".into())),
                    ($sender::Gear(5), $receiver::Gear(Gear::Reverse)),
                    ($sender::Gear(7), $receiver::Gear(Gear::First)),
                    ($sender::List(vec![1, 2, 3]), $receiver::List(vec![])),
                    ($sender::Other("abc".into()), $receiver::Other(Trimmed("a".into()))),
                ];
                for (sent, expected) in &pairs {
                    for encoding in ENCODINGS {
                        for order in ORDERS {
                            let bytes = body(sent, encoding, order);
                            assert_eq!(&value::<Self>(&bytes, encoding, order), expected);
                            for mut reused in [Self::Gear(Gear::First), Self::Text("old".into()), Self::List(vec![9])] {
                                let mut d = Decoder::new(&bytes, encoding, order);
                                reused.decode_into(&mut d).unwrap();
                                assert_eq!((&reused, d.remaining()), (expected, 0));
                            }
                        }
                    }
                }
            }
        }
    };
}

unions!(final, SentFinalUnion, FinalUnion);
unions!(appendable, SentAppendableUnion, AppendableUnion);
unions!(mutable, SentMutableUnion, MutableUnion);

#[test]
fn union_member_wrappers_handle_unfit_values() {
    FinalUnion::unfit_values_are_replaced();
    AppendableUnion::unfit_values_are_replaced();
    MutableUnion::unfit_values_are_replaced();
    let TypeKind::Union(description) = FinalUnion::DESCRIPTION.kind() else { panic!() };
    let said: Vec<_> = description.cases().iter().map(|case| case.on_construct_failure()).collect();
    assert_eq!(said, [TryConstruct::Trim, TryConstruct::UseDefault, TryConstruct::UseDefault, TryConstruct::Trim]);
}

macro_rules! by_gear {
    ($extensibility:ident, $sender:ident, $receiver:ident) => {
        /// The first two cases are those of the receiver. Its enum has no literal for the third, and no case for the
        /// last.
        #[derive(DdsType, Debug)]
        #[dds(crate = "crate", nested, $extensibility, discriminator = i32)]
        enum $sender {
            #[dds(case = 7)]
            Text(String),
            #[dds(case = -1)]
            Number(u16),
            #[dds(case = 99)]
            Unknown(u64),
            #[dds(case = 0)]
            Unused(String),
            #[dds(case = 98)]
            Nothing,
        }

        #[derive(DdsType, Debug, PartialEq)]
        #[dds(crate = "crate", nested, $extensibility, discriminator = Gear, try_construct = "use_default")]
        enum $receiver {
            #[dds(case = Gear::First)]
            Text(String),
            #[dds(case = Gear::Reverse)]
            Number(u16),
        }

        impl $receiver {
            fn is(sent: &$sender, expected: &Self, encodings: &[Encoding]) {
                for encoding in encodings {
                    // The value behind the union is correct.
                    let mut bytes = Vec::new();
                    let mut e = Encoder::new(&mut bytes, *encoding, ByteOrder::Big);
                    sent.encode(&mut e).unwrap();
                    7_u32.encode(&mut e).unwrap();
                    let mut d = Decoder::new(&bytes, *encoding, ByteOrder::Big);
                    assert_eq!(&Self::decode(&mut d).unwrap(), expected);
                    assert_eq!(u32::decode(&mut d), Ok(7));
                    let mut reused = Self::Text("old".into());
                    let mut d = Decoder::new(&bytes, *encoding, ByteOrder::Big);
                    reused.decode_into(&mut d).unwrap();
                    assert_eq!((&reused, u32::decode(&mut d)), (expected, Ok(7)));
                }
            }
        }
    };
}

by_gear!(final, SentFinalByGear, FinalByGear);
by_gear!(appendable, SentAppendableByGear, AppendableByGear);
by_gear!(mutable, SentMutableByGear, MutableByGear);

#[test]
fn unknown_discriminator_can_give_the_default() {
    // The default is the case of the first literal.
    AppendableByGear::is(&SentAppendableByGear::Text("t".into()), &AppendableByGear::Text("t".into()), &ENCODINGS);
    AppendableByGear::is(&SentAppendableByGear::Unknown(1), &AppendableByGear::Number(0), &[Encoding::Xcdr2]);
    AppendableByGear::is(&SentAppendableByGear::Unused("u".into()), &AppendableByGear::Number(0), &[Encoding::Xcdr2]);
    AppendableByGear::is(&SentAppendableByGear::Nothing, &AppendableByGear::Number(0), &ENCODINGS);
    for sent in [SentMutableByGear::Unknown(1), SentMutableByGear::Unused("u".into()), SentMutableByGear::Nothing] {
        MutableByGear::is(&sent, &MutableByGear::Number(0), &ENCODINGS);
    }
    MutableByGear::is(&SentMutableByGear::Number(5), &MutableByGear::Number(5), &ENCODINGS);
    // Without a length, no value may follow an unknown discriminator, because the type of its member is unknown.
    FinalByGear::is(&SentFinalByGear::Nothing, &FinalByGear::Number(0), &ENCODINGS);
    FinalByGear::is(&SentFinalByGear::Number(5), &FinalByGear::Number(5), &ENCODINGS);
    // By hand, XCDR2: DHEADER, the unknown literal 99, and a member of 8 bytes aligned to 4.
    let bytes = hex("0000000c 00000063 0000000000000001");
    let read: AppendableByGear = value(&bytes, Encoding::Xcdr2, ByteOrder::Big);
    assert_eq!(read, AppendableByGear::Number(0));
    let TypeKind::Union(description) = FinalByGear::DESCRIPTION.kind() else { panic!() };
    assert_eq!(description.on_construct_failure(), TryConstruct::UseDefault);
}

#[test]
fn unknown_literal_gives_default_of_the_union() {
    #[derive(DdsType, Debug, PartialEq)]
    #[dds(crate = "crate", nested, discriminator = Gear, try_construct)]
    enum WithDefault {
        #[dds(case = Gear::First)]
        Text(String),
        #[dds(default)]
        Rest(#[dds(discriminator)] Gear, u8),
    }
    for encoding in ENCODINGS {
        let read: WithDefault = value(&hex("00000000 05"), encoding, ByteOrder::Big);
        assert_eq!(read, WithDefault::Rest(Gear::Neutral, 5));
        let read: WithDefault = value(&hex("00000063"), encoding, ByteOrder::Big);
        assert_eq!(read, WithDefault::Rest(Gear::Reverse, 0));
    }
}
