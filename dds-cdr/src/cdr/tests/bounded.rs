//! Bounds of elements.

use super::round_trip::{keys_agree, round_trips};
use super::*;
use crate::cdr::{Bounded, DecodeErrorKind, EncodeError, TypeInfo, TypeKind, WString, key_hash_of};
use dds_macros::DdsType;
use std::collections::BTreeMap;

type Name = Bounded<String, 3>;

macro_rules! holder {
    ($name:ident, $extensibility:ident) => {
        /// `sequence<string<3>, 2>`, `map<string<3>, sequence<octet, 2>>`, `string<3>[2]`
        #[derive(DdsType, Debug, Clone, PartialEq, Default)]
        #[dds(crate = "crate", $extensibility)]
        struct $name {
            #[dds(bound = 2)]
            names: Vec<Name>,
            map: BTreeMap<Name, Bounded<Vec<u8>, 2>>,
            #[dds(key)]
            pair: [Name; 2],
            #[dds(key)]
            wide: Bounded<WString, 1>,
        }
    };
}

holder!(Final, final);
holder!(Appendable, appendable);
holder!(Mutable, mutable);

fn name(text: &str) -> Name {
    text.to_owned().into()
}

macro_rules! sample {
    ($ty:ident) => {
        $ty {
            names: vec![name("a"), name("abc")],
            map: BTreeMap::from([(name("k"), vec![1, 2].into())]),
            pair: [name("x"), name("")],
            wide: Bounded(WString::from("w")),
        }
    };
}

#[test]
fn bounded_elements_round_trip() {
    round_trips(&sample!(Final), &Final::default());
    round_trips(&sample!(Appendable), &Appendable::default());
    round_trips(&sample!(Mutable), &Mutable::default());
    keys_agree(&sample!(Final));
    keys_agree(&sample!(Appendable));
    keys_agree(&sample!(Mutable));
}

#[test]
fn element_over_bound_is_refused_both_ways() {
    let long = Final { names: vec![name("abcd")], ..Final::default() };
    let mut bytes = Vec::new();
    let error = long.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error, EncodeError::BoundExceeded { bound: 3, length: 4 });
    let bytes = body(&vec!["abcd".to_owned()], Encoding::Xcdr2, ByteOrder::Big);
    let error = Vec::<Name>::decode(&mut Decoder::new(&bytes, Encoding::Xcdr2, ByteOrder::Big)).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::BoundExceeded { bound: 3, length: 4 });
    let key = Final { pair: [name("abcd"), name("")], ..Final::default() };
    assert!(key_hash_of(&key, Encoding::Xcdr1, &mut Vec::new()).is_err());
}

#[test]
fn element_bounds_are_part_of_the_type() {
    let TypeKind::Struct(description) = Final::DESCRIPTION.kind() else { panic!() };
    let TypeKind::Sequence { bound: Some(2), element } = description.members()[0].ty().kind() else { panic!() };
    assert!(matches!(element().kind(), TypeKind::String { bound: Some(3) }));
    assert!(!Vec::<Name>::DESCRIPTION.is_encoded_like(Vec::<String>::DESCRIPTION));
}
