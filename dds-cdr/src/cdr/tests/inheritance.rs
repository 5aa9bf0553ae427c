//! Structs that extend others.

use super::round_trip::{keys_agree, round_trips};
use super::types::Label;
use super::*;
use crate::cdr::{DecodeErrorKind, Keyed, TypeInfo, TypeKind, decode_payload};
use dds_macros::DdsType;
use proptest::prelude::*;

macro_rules! family {
    ($extensibility:ident, $grand:ident, $base:ident, $derived:ident, $flat:ident, $view:ident) => {
        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        struct $grand {
            #[dds(key)]
            id: u16,
            label: Label,
        }

        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        struct $base {
            #[dds(base, key)]
            grand: $grand,
            #[dds(id = 10, default = 7)]
            level: u8,
            note: Option<String>,
        }

        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        struct $derived {
            #[dds(base, key)]
            base: $base,
            #[dds(key)]
            name: String,
            value: f64,
        }

        /// The same members in one struct.
        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility)]
        struct $flat {
            #[dds(key)]
            id: u16,
            label: Label,
            #[dds(id = 10, default = 7)]
            level: u8,
            note: Option<String>,
            #[dds(key)]
            name: String,
            value: f64,
        }

        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", $extensibility, view_of = $flat)]
        struct $view<'a> {
            #[dds(base, key)]
            base: $base,
            #[dds(key)]
            name: &'a str,
            value: f64,
        }

        impl $derived {
            fn new(id: u16, text: String, level: u8, note: Option<String>, value: f64) -> Self {
                let grand = $grand { id, label: Label { text: text.clone(), level } };
                Self { base: $base { grand, level, note }, name: text, value }
            }

            fn flat(&self) -> $flat {
                let $base { grand: $grand { id, label }, level, note } = self.base.clone();
                $flat { id, label, level, note, name: self.name.clone(), value: self.value }
            }

            /// Checks that bytes, key and description equal those of the flat struct.
            fn equals_flat(&self) {
                round_trips(self, &Self::new(1, "other".into(), 9, None, 0.5));
                keys_agree(self);
                let flat = self.flat();
                for encoding in ENCODINGS {
                    let bytes = body(self, encoding, ByteOrder::Big);
                    assert_eq!(bytes, body(&flat, encoding, ByteOrder::Big));
                    let view: $view<'_> = value(&bytes, encoding, ByteOrder::Big);
                    assert_eq!((&view.base, view.name), (&self.base, self.name.as_str()));
                    let keys = [super::keys::key_hash(self, encoding), super::keys::key_hash(&flat, encoding)];
                    assert_eq!(keys[0], keys[1]);
                }
                assert_eq!(self.key(), (flat.id, self.name.clone()));
                assert!(Self::DESCRIPTION.has_members_of($flat::DESCRIPTION));
                assert!(Self::DESCRIPTION.is_encoded_like($flat::DESCRIPTION));
            }
        }
    };
}

family!(final, GrandFinal, BaseFinal, DerivedFinal, FlatFinal, ViewFinal);
family!(appendable, GrandAppendable, BaseAppendable, DerivedAppendable, FlatAppendable, ViewAppendable);
family!(mutable, GrandMutable, BaseMutable, DerivedMutable, FlatMutable, ViewMutable);

proptest! {
    #[test]
    fn derived_struct_equals_flat_struct(
        id in any::<u16>(),
        text in "[a-z]{0,5}",
        level in any::<u8>(),
        note in prop::option::of("[a-z]{0,5}"),
        value in -1e9_f64..1e9,
    ) {
        DerivedFinal::new(id, text.clone(), level, note.clone(), value).equals_flat();
        DerivedAppendable::new(id, text.clone(), level, note.clone(), value).equals_flat();
        DerivedMutable::new(id, text, level, note, value).equals_flat();
    }
}

#[test]
fn derived_member_ids_follow_the_base() {
    let TypeKind::Struct(derived) = DerivedMutable::DESCRIPTION.kind() else { panic!() };
    let ids: Vec<_> = derived.members().iter().map(|member| (member.name(), member.id())).collect();
    assert_eq!(ids, [("id", 0), ("label", 1), ("level", 10), ("note", 11), ("name", 12), ("value", 13)]);
    assert_eq!(derived.base().unwrap().name(), "BaseMutable");
    let own: Vec<_> = derived.own_members().iter().map(|member| member.name()).collect();
    assert_eq!(own, ["name", "value"]);
}

#[test]
fn mutable_base_members_have_any_position() {
    // The members value, id and name. The member level is missing.
    let members = "3000000d 3ff8000000000000 10000000 0005 0000 5000000c 00000002 6e00";
    let bytes = hex(&format!("000a 0000 0000001e {members}"));
    let read: DerivedMutable = decode_payload(&bytes).unwrap();
    assert_eq!((read.base.grand.id, read.base.level, read.name.as_str(), read.value), (5, 7, "n", 1.5));
    let must = hex(&format!("000a 0000 00000025 {members} 0000 80000063 01"));
    let error = decode_payload::<DerivedMutable>(&must).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MustUnderstand { id: 0x63 });
    // Members of the base are known, even if the sender marks them as must-understand.
    let known = hex(&format!("000a 0000 00000025 {members} 0000 8000000a 01"));
    assert_eq!(decode_payload::<DerivedMutable>(&known).unwrap().base.level, 1);
}
