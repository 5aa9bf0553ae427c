//! Descriptions, encodings and keys that the derive generates.
#![deny(missing_docs, unsafe_code)]

mod ui;

use dds_macros::DdsType;
use dds_rtps::cdr::{
    Decode, DecodeOwned, Encoding, Extensibility, Keyed, TypeDescription, TypeInfo, TypeKind, ViewOf, decode_payload,
    encode_payload,
};

/// A type with most attributes of types and members.
#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "dds_rtps", name = "geometry::Everything", extensibility = "appendable")]
pub struct Everything {
    /// A key.
    #[dds(key, id = 10)]
    pub id: u32,
    /// The id continues the preceding one.
    #[dds(name = "type")]
    pub r#type: u8,
    #[dds(bound = 16, octet, must_understand)]
    bytes: Vec<u8>,
    #[dds(octet)]
    hash: [u8; 4],
    #[dds(optional, bound = 3)]
    alias: Maybe<String>,
    #[dds(default = 5)]
    level: i16,
    kind: r#Kind,
}

type Maybe<T> = Option<T>;

/// A kind.
#[derive(DdsType, Debug, PartialEq, Clone, Copy)]
#[dds(crate = "dds_rtps", name = "Sort", appendable)]
#[repr(u8)]
pub enum Kind {
    /// Without a discriminant: 0.
    #[dds(name = "FIRST")]
    First,
    /// With a discriminant.
    Second = 200,
}

fn members(ty: &TypeDescription) -> &'static [dds_rtps::cdr::MemberDescription] {
    match ty.kind() {
        TypeKind::Struct(description) => description.members(),
        kind => panic!("expected a struct, found {kind:?}"),
    }
}

#[test]
fn struct_description_has_names_ids_and_flags() {
    let ty = Everything::DESCRIPTION;
    assert_eq!((ty.name(), Everything::TYPE_NAME), ("geometry::Everything", "geometry::Everything"));
    assert_eq!(ty.extensibility(), Extensibility::Appendable);
    const { assert!(Everything::HAS_KEY) };
    let found: Vec<_> = members(ty).iter().map(|m| (m.name(), m.id(), m.is_key(), m.is_optional())).collect();
    assert_eq!(
        found,
        [
            ("id", 10, true, false),
            ("type", 11, false, false),
            ("bytes", 12, false, false),
            ("hash", 13, false, false),
            ("alias", 14, false, true),
            ("level", 15, false, false),
            ("kind", 16, false, false),
        ]
    );
    let [id, _, bytes, hash, alias, ..] = members(ty) else { panic!() };
    assert!(id.is_must_understand() && bytes.is_must_understand() && !hash.is_must_understand());
    let TypeKind::Sequence { bound: Some(16), element } = bytes.ty().kind() else { panic!() };
    assert!(matches!(element().kind(), TypeKind::Octet));
    let TypeKind::Array { length: 4, element } = hash.ty().kind() else { panic!() };
    assert!(matches!(element().kind(), TypeKind::Octet));
    assert!(matches!(alias.ty().kind(), TypeKind::String { bound: Some(3) }));
}

#[test]
fn enum_description_has_literals_and_numbers() {
    let ty = Kind::DESCRIPTION;
    assert_eq!((ty.name(), ty.extensibility()), ("Sort", Extensibility::Appendable));
    let TypeKind::Enum(description) = ty.kind() else { panic!() };
    let literals: Vec<_> = description.literals().iter().map(|literal| (literal.name(), literal.value())).collect();
    assert_eq!(literals, [("FIRST", 0), ("Second", 200)]);
}

#[test]
fn struct_round_trip_keeps_the_value() {
    let sample = Everything {
        id: 1,
        r#type: 2,
        bytes: vec![3],
        hash: [4; 4],
        alias: Some("abc".into()),
        level: 6,
        kind: Kind::Second,
    };
    assert_eq!(sample.key(), 1);
    let mut bytes = Vec::new();
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        encode_payload(&sample, encoding, &mut bytes).unwrap();
        assert_eq!(decode_payload::<Everything>(&bytes).unwrap(), sample);
    }
    let too_long = Everything { alias: Some("abcd".into()), ..sample };
    assert!(encode_payload(&too_long, Encoding::Xcdr1, &mut bytes).is_err());
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "dds_rtps")]
struct Log {
    #[dds(key)]
    source: String,
    data: Vec<u8>,
    values: Vec<f64>,
}

#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "dds_rtps", view_of = Log)]
struct LogView<'a, 'b> {
    #[dds(key)]
    source: &'a str,
    data: &'b [u8],
    values: dds_rtps::cdr::Run<'a, f64>,
}

#[test]
fn view_has_name_and_encoding_of_its_type() {
    fn view<'a, T: DecodeOwned, V: ViewOf<T> + Decode<'a>>(payload: &'a [u8]) -> (T, V) {
        (decode_payload(payload).unwrap(), decode_payload(payload).unwrap())
    }
    assert_eq!(LogView::TYPE_NAME, "Log");
    let log = Log { source: "s".into(), data: vec![1], values: vec![2.0, 3.0] };
    let mut bytes = Vec::new();
    encode_payload(&log, Encoding::Xcdr1, &mut bytes).unwrap();
    let (owned, borrowed) = view::<Log, LogView<'_, '_>>(&bytes);
    assert_eq!(owned, log);
    assert_eq!((borrowed.source, borrowed.data, borrowed.values.to_vec()), ("s", &[1][..], vec![2.0, 3.0]));
    let mut again = Vec::new();
    encode_payload(&borrowed, Encoding::Xcdr1, &mut again).unwrap();
    assert_eq!(again, bytes);
    // A type is a view of itself, under another lifetime.
    view::<Log, Log>(&bytes);
}

/// A struct without members has no bytes.
#[derive(DdsType, Debug, PartialEq, Default)]
#[dds(crate = "dds_rtps")]
pub struct Nothing;

/// A struct with braces and without members has no bytes either.
#[derive(DdsType, Debug, PartialEq)]
#[dds(crate = "dds_rtps", appendable)]
pub struct Empty {}

#[test]
fn struct_without_members_encodes_to_no_bytes() {
    let mut bytes = Vec::new();
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        encode_payload(&Nothing, encoding, &mut bytes).unwrap();
        assert_eq!(bytes.len(), 4);
        assert_eq!(decode_payload::<Nothing>(&bytes).unwrap(), Nothing);
        encode_payload(&Empty {}, encoding, &mut bytes).unwrap();
        assert_eq!(decode_payload::<Empty>(&bytes).unwrap(), Empty {});
    }
}

macro_rules! point_of {
    ($name:ident, $number:ty, $maybe:ty) => {
        #[derive(DdsType, Debug, PartialEq)]
        #[dds(crate = "dds_rtps", appendable)]
        struct $name {
            #[dds(key)]
            x: $number,
            #[dds(bound = 3)]
            y: Vec<$number>,
            #[dds(optional)]
            z: $maybe,
        }
    };
}

point_of!(PointFromMacro, i16, Option<u8>);

#[test]
fn type_from_macro_round_trips() {
    let sample = PointFromMacro { x: 1, y: vec![2], z: Some(3) };
    let mut bytes = Vec::new();
    encode_payload(&sample, Encoding::Xcdr2, &mut bytes).unwrap();
    assert_eq!(decode_payload::<PointFromMacro>(&bytes).unwrap(), sample);
}

mod hidden_names {
    //! Types that hide names of the prelude from the generated code.
    #![allow(dead_code, reason = "these items only hide names of the prelude")]
    use dds_macros::DdsType;

    struct Option;
    struct Result;
    struct Vec;
    struct String;
    fn drop() {}
    #[allow(non_snake_case, reason = "it hides the variant of the prelude")]
    fn Ok() {}
    #[allow(non_snake_case, reason = "it hides the variant of the prelude")]
    fn Some() {}

    #[derive(DdsType)]
    #[dds(crate = "dds_rtps", appendable)]
    pub(super) struct Hygienic {
        #[dds(key, bound = 4)]
        pub(super) text: std::string::String,
        #[dds(key)]
        pub(super) e: u8,
        pub(super) d: std::option::Option<u8>,
        #[dds(bound = 2)]
        pub(super) value: std::option::Option<std::vec::Vec<u8>>,
        #[dds(default)]
        pub(super) number: u32,
        pub(super) kind: Sort,
    }

    #[derive(DdsType)]
    #[dds(crate = "dds_rtps")]
    pub(super) enum Sort {
        Only,
    }
}

#[test]
fn generated_code_ignores_names_in_scope() {
    let sample = hidden_names::Hygienic {
        text: "abc".into(),
        e: 1,
        d: Some(2),
        value: None,
        number: 3,
        kind: hidden_names::Sort::Only,
    };
    let mut bytes = Vec::new();
    encode_payload(&sample, Encoding::Xcdr2, &mut bytes).unwrap();
    let read = decode_payload::<hidden_names::Hygienic>(&bytes).unwrap();
    assert_eq!((read.key(), read.d, read.value, read.number), (sample.key(), sample.d, sample.value, sample.number));
}

macro_rules! with_hidden_field {
    ($name:ident, $extensibility:ident) => {
        #[derive(DdsType, Debug, PartialEq, Clone)]
        #[dds(crate = "dds_rtps", $extensibility)]
        struct $name {
            before: u8,
            #[dds(non_serialized)]
            hidden: Option<std::time::Duration>,
            after: u8,
        }

        impl $name {
            fn check_hidden_field() {
                let hidden = Some(std::time::Duration::from_secs(1));
                let sample = Self { before: 1, hidden, after: 2 };
                let mut bytes = Vec::new();
                for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
                    encode_payload(&sample, encoding, &mut bytes).unwrap();
                    assert_eq!(decode_payload::<Self>(&bytes).unwrap(), Self { hidden: None, ..sample.clone() });
                    // Decoding into a value keeps its hidden field.
                    let mut reused = Self { before: 3, hidden, after: 4 };
                    dds_rtps::cdr::decode_payload_into(&bytes, &mut reused).unwrap();
                    assert_eq!(reused, sample);
                }
                let found: Vec<_> = members(Self::DESCRIPTION).iter().map(|m| (m.name(), m.id())).collect();
                assert_eq!(found, [("before", 0), ("after", 1)]);
            }
        }
    };
}

with_hidden_field!(HiddenInFinal, final);
with_hidden_field!(HiddenInAppendable, appendable);
with_hidden_field!(HiddenInMutable, mutable);

#[test]
fn non_serialized_field_is_not_a_member() {
    HiddenInFinal::check_hidden_field();
    HiddenInAppendable::check_hidden_field();
    HiddenInMutable::check_hidden_field();
}

/// The name is that of the union below with `Key`.
#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
struct ToolKey {
    #[dds(key)]
    id: i32,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested, member_keys)]
enum Tool {
    #[dds(case = 1)]
    Keyed(ToolKey),
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Bench {
    #[dds(key)]
    tool: Tool,
}

#[test]
fn key_of_a_union_hides_no_type_of_its_members() {
    let key = Bench { tool: Tool::Keyed(ToolKey { id: 7 }) }.key();
    assert_eq!(format!("{key:?}"), "Keyed { value: 7 }");
}
