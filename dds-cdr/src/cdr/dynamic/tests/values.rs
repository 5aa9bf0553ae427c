//! Access to parts of values by name.

use crate::cdr::dynamic::{DataError, DynamicData, DynamicType, Input, MemberId};
use crate::cdr::{ByteOrder, Char16, Decode, Decoder, Encode, Encoder, Encoding, Extensibility, F128, TryConstruct};

fn everything() -> DynamicType {
    let color = DynamicType::enumeration("Color").literal("RED").literal("GREEN").literal_of("BLUE", 7);
    let shape = DynamicType::union("Shape", color.clone())
        .case("round", &[0], DynamicType::float32())
        .case("square", &[1], DynamicType::structure("Square").member("side", DynamicType::uint8()))
        .default_case("text", DynamicType::string());
    DynamicType::structure("Everything")
        .member("flag", DynamicType::boolean())
        .member("small", DynamicType::int8())
        .member("large", DynamicType::uint64())
        .member("half", DynamicType::float32())
        .member("huge", DynamicType::float128())
        .member("letter", DynamicType::char8())
        .member("wide", DynamicType::char16())
        .member("name", DynamicType::bounded_string(4))
        .member("text", DynamicType::wstring())
        .member("color", color)
        .default("GREEN")
        .member("rights", DynamicType::bitmask("Rights").flag("READ").flag("WRITE").bit_bound(8))
        .member("packed", DynamicType::bitset("Packed").field("low", 3).signed_field("high", 4))
        .member("bytes", DynamicType::sequence(DynamicType::octet()).bound(4))
        .member("matrix", DynamicType::array(DynamicType::array(DynamicType::int16(), 2), 2))
        .member("shapes", DynamicType::sequence(shape))
        .member("map", DynamicType::map(DynamicType::string(), DynamicType::float64()).bound(2))
        .member("maybe", DynamicType::float64())
        .optional()
        .build()
        .unwrap()
}

#[test]
fn set_values_can_be_read_back() {
    let mut data = DynamicData::new(&everything());
    data.set("flag", true).unwrap();
    data.set("small", -3).unwrap();
    data.set("large", u64::MAX).unwrap();
    data.set("half", 0.5).unwrap();
    data.set("huge", F128::from(2.0)).unwrap();
    data.set("letter", 'é').unwrap();
    data.set("wide", Char16(0xd800)).unwrap();
    data.set("name", "abcd").unwrap();
    data.set("text", "tür").unwrap();
    data.set("rights.WRITE", true).unwrap();
    data.set("packed.high", -8).unwrap();
    data.set("packed.low", 5).unwrap();
    data.set("bytes", vec![1_u8, 2]).unwrap();
    data.push("bytes", 3).unwrap();
    data.set("matrix[1][0]", -7).unwrap();
    data.resize("shapes", 2).unwrap();
    data.set("shapes[0].text", "free").unwrap();
    data.set("shapes[1].square.side", 9).unwrap();
    data.set(r#"map["left"]"#, 1.5).unwrap();
    data.set("maybe", Some(2.5)).unwrap();
    let shown = "{flag: true, small: -3, large: 18446744073709551615, half: 0.5, \
                 huge: 0x40000000000000000000000000000000, letter: 'é', wide: 55296, name: \"abcd\", text: \"tür\", \
                 color: GREEN, rights: WRITE, packed: {low: 5, high: -8}, bytes: [1, 2, 3], matrix: [[0, 0], [-7, 0]], \
                 shapes: [text(\"free\"), square({side: 9})], map: {\"left\": 1.5}, maybe: 2.5}";
    assert_eq!(data.to_string(), shown);
    assert_eq!(data.get::<i64>("small"), Ok(-3));
    assert_eq!(data.get::<u64>("large"), Ok(u64::MAX));
    assert_eq!(data.get::<f64>("half"), Ok(0.5));
    assert_eq!(data.get::<bool>("rights.WRITE"), Ok(true));
    assert_eq!(data.get::<i8>("packed.high"), Ok(-8));
    assert_eq!(data.get::<Vec<u8>>("bytes"), Ok(vec![1, 2, 3]));
    assert_eq!(data.at("bytes").unwrap().as_slice::<u8>(), Some(&[1, 2, 3][..]));
    assert_eq!(data.get::<Vec<Vec<i32>>>("matrix"), Ok(vec![vec![0, 0], vec![-7, 0]]));
    assert_eq!(data.get::<&str>("color"), Ok("GREEN"));
    assert_eq!(data.get::<i32>("color"), Ok(1));
    assert_eq!(data.get::<f64>(r#"map["left"]"#), Ok(1.5));
    assert_eq!(data.get::<Option<f64>>(r#"map["right"]"#), Ok(None));
    assert_eq!(data.get::<u8>(MemberId(1)), Err(DataError::OutOfRange { ty: "u8".into(), value: "-3".into() }));
    // The discriminator of the default case is one that no other case has.
    assert_eq!(data.at("shapes[0]").unwrap().discriminator(), Some(7));
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        let payload = data.to_payload(encoding).unwrap();
        assert_eq!(DynamicData::from_payload(data.ty(), &payload).unwrap(), data);
    }
    data.remove("bytes[0]").unwrap();
    data.remove("maybe").unwrap();
    data.remove(r#"map["left"]"#).unwrap();
    data.remove("shapes[0]").unwrap();
    assert_eq!(data.get::<Vec<u8>>("bytes"), Ok(vec![2, 3]));
    assert_eq!(data.get::<Option<f64>>("maybe"), Ok(None));
    assert_eq!(data.at("map").unwrap().len(), 0);
    assert_eq!(data.at("shapes").unwrap().to_string(), "[square({side: 9})]");
}

#[test]
fn invalid_input_changes_nothing() {
    let mut data = DynamicData::new(&everything());
    let ty = |name: &str| name.to_owned();
    let range = |name: &str, value: &str| DataError::OutOfRange { ty: ty(name), value: ty(value) };
    let wrong = |name: &str, other| DataError::WrongType { ty: ty(name), other };
    let before = data.clone();
    let results = [
        (data.set("small", 128), range("int8", "128")),
        (data.set("large", -1), range("uint64", "-1")),
        (data.set("half", i64::MAX), range("float", &i64::MAX.to_string())),
        (data.set("letter", '€'), range("char", "'€'")),
        (data.set("flag", 1), wrong("boolean", "an integer")),
        (data.set("flag", None::<bool>), wrong("boolean", "no value")),
        (data.set("name", "abcde"), DataError::BoundExceeded { bound: 4, len: 5 }),
        (data.set("name", "a\0"), range("string", r#""a\0""#)),
        (data.set("color", "PINK"), DataError::NoLiteral { ty: ty("Color"), literal: ty("PINK") }),
        (data.set("color", 2), DataError::NoLiteral { ty: ty("Color"), literal: ty("2") }),
        (data.set("rights", "READ|RUN"), DataError::NoLiteral { ty: ty("Rights"), literal: ty("RUN") }),
        (data.set("rights", 256), range("Rights", "0x100")),
        (data.set("packed.high", 8), range("4 bits", "8")),
        (data.set("bytes", vec![0_u8; 5]), DataError::BoundExceeded { bound: 4, len: 5 }),
        (data.set("bytes[0]", 1), DataError::NoElement { index: 0, len: 0 }),
        (data.set("matrix[2]", vec![0_i16; 2]), DataError::NoElement { index: 2, len: 2 }),
        (data.set("matrix[1]", vec![0_i16; 3]), DataError::Length { expected: 2, len: 3 }),
        (data.set("nothing", 1), DataError::NoMember { ty: ty("Everything"), member: ty("nothing") }),
        (data.set("small.x", 1), DataError::NoMember { ty: ty("int8"), member: ty("x") }),
        (data.set("maybe", data.clone()), DataError::OtherType { expected: ty("double"), given: ty("Everything") }),
        (data.push("matrix", 1), wrong("array", "more elements")),
        (data.select("color", 1), wrong("Color", "a discriminator")),
        (data.resize("bytes", 5), DataError::BoundExceeded { bound: 4, len: 5 }),
    ];
    for (result, error) in results {
        assert_eq!(result, Err(error));
    }
    assert_eq!(data, before);
    assert_eq!(data.get::<f64>("maybe"), Err(DataError::Absent { member: ty("maybe") }));
    data.set(r#"map["a"]"#, 1).unwrap();
    data.set(r#"map["b"]"#, 1).unwrap();
    assert_eq!(data.set(r#"map["c"]"#, 1), Err(DataError::BoundExceeded { bound: 2, len: 3 }));
    data.resize("shapes", 1).unwrap();
    let other = DataError::NotSelected { member: ty("square"), discriminator: 0 };
    assert_eq!(data.get::<u8>("shapes[0].square.side"), Err(other));
    data.select("shapes[0]", 1).unwrap();
    assert_eq!(data.get::<u8>("shapes[0].square.side"), Ok(0));
    // A value within its bounds can be encoded.
    assert!(data.to_payload(Encoding::Xcdr2).is_ok());
}

#[test]
fn defaults_are_not_stored() {
    let inner = DynamicType::structure("Inner").member("x", DynamicType::int32()).default(5).build().unwrap();
    let ty = DynamicType::structure("Outer").member("list", DynamicType::array(&inner, 3)).build().unwrap();
    let mut data = DynamicData::new(&ty);
    assert_eq!(data.get::<i32>("list[2].x"), Ok(5));
    let unwritten = data.clone();
    data.set("list[2].x", 5).unwrap();
    assert_eq!(data, unwritten);
    let payload = unwritten.to_payload(Encoding::Xcdr1).unwrap();
    assert_eq!(payload.get(4..), Some(&[5, 0, 0, 0].repeat(3)[..]));
    // The sender's older type lacks the member.
    let body = [0, 0, 0, 0];
    let mut received = DynamicData::new(&inner);
    received.decode_into(&mut Decoder::new(&body, Encoding::Xcdr2, ByteOrder::Little)).unwrap();
    assert_eq!(received.get::<i32>("x"), Ok(5));
}

#[test]
fn try_construct_uses_default_or_trims() {
    let color = DynamicType::enumeration("Color").extensibility(Extensibility::Final).literal("RED").literal("GREEN");
    let ty = DynamicType::structure("T")
        .extensibility(Extensibility::Final)
        .member("color", color)
        .try_construct(TryConstruct::UseDefault)
        .default("GREEN")
        .member("name", DynamicType::bounded_string(2))
        .try_construct(TryConstruct::Trim)
        .build()
        .unwrap();
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        let mut body = Vec::new();
        let mut e = Encoder::new(&mut body, encoding, ByteOrder::Big);
        9_u32.encode(&mut e).unwrap();
        "abc".encode(&mut e).unwrap();
        let mut data = DynamicData::new(&ty);
        data.decode_into(&mut Decoder::new(&body, encoding, ByteOrder::Big)).unwrap();
        assert_eq!(data.to_string(), "{color: GREEN, name: \"ab\"}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn value_is_serialized_as_json() {
    let mut data = DynamicData::new(&everything());
    data.set("small", -1).unwrap();
    data.set("bytes", vec![1_u8, 2]).unwrap();
    data.resize("shapes", 1).unwrap();
    data.set("rights.WRITE", true).unwrap();
    data.set(r#"map["left"]"#, 1.5).unwrap();
    let expected = r#"{"flag":false,"small":-1,"large":0,"half":0.0,"huge":"0x00000000000000000000000000000000","letter":"\u0000","wide":"\u0000","name":"","text":"","color":"GREEN","rights":2,"packed":{"low":0,"high":0},"bytes":[1,2],"matrix":[[0,0],[0,0]],"shapes":[{"round":0.0}],"map":{"left":1.5}}"#;
    assert_eq!(serde_json::to_string(&data).unwrap(), expected);
}

#[cfg(feature = "serde")]
#[test]
fn discriminator_is_serialized_unless_the_member_tells_it() {
    let choice = DynamicType::union("Choice", DynamicType::int32())
        .case("number", &[1, 2], DynamicType::int64())
        .case("text", &[3], DynamicType::string())
        .empty_case("nothing", &[4])
        .default_case("flag", DynamicType::boolean())
        .build()
        .unwrap();
    let mut data = DynamicData::new(&choice);
    for (discriminator, expected) in [
        (2, r#"{"$discriminator":2,"number":0}"#),
        (3, r#"{"text":""}"#),
        (4, r#"{"$discriminator":4}"#),
        (-9, r#"{"$discriminator":-9,"flag":false}"#),
    ] {
        data.select("", discriminator).unwrap();
        assert_eq!(serde_json::to_string(&data).unwrap(), expected);
    }
}

#[cfg(feature = "serde")]
#[test]
fn numbers_that_json_lacks_are_text() {
    let ty = DynamicType::structure("Numbers")
        .member("one", DynamicType::float32())
        .member("all", DynamicType::sequence(DynamicType::float64()))
        .build()
        .unwrap();
    let mut data = DynamicData::new(&ty);
    data.set("one", f32::NEG_INFINITY).unwrap();
    data.set("all", vec![f64::NAN, f64::INFINITY, 1.5]).unwrap();
    let expected = r#"{"one":"-Infinity","all":["NaN","Infinity",1.5]}"#;
    assert_eq!(serde_json::to_string(&data).unwrap(), expected);
}

#[test]
fn keys_of_maps_may_have_quotes_and_brackets() {
    let ty = DynamicType::structure("Maps")
        .member("texts", DynamicType::map(DynamicType::string(), DynamicType::int32()))
        .member("units", DynamicType::map(DynamicType::char16(), DynamicType::int32()))
        .build()
        .unwrap();
    let mut data = DynamicData::new(&ty);
    data.set(r#"texts["a\"]\\"]"#, 1).unwrap();
    data.set("units[7]", 2).unwrap();
    data.set("units[55296]", 3).unwrap();
    data.set(r#"units["]"]"#, 4).unwrap();
    assert_eq!(data.get::<i32>(r#"texts["a\"]\\"]"#).unwrap(), 1);
    assert_eq!(data.to_string(), r#"{texts: {"a\"]\\": 1}, units: {'7': 2, 55296: 3, ']': 4}}"#);
    let missing = data.get::<i32>(r#"texts["\""]"#).unwrap_err();
    assert_eq!(missing, DataError::NoKey { key: "\"".to_owned() });
}

#[test]
fn map_takes_all_entries_at_once() {
    let texts = DynamicType::structure("Texts")
        .member("texts", DynamicType::map(DynamicType::string(), DynamicType::int32()))
        .member("few", DynamicType::map(DynamicType::int16(), DynamicType::uint8()).bound(2))
        .build()
        .unwrap();
    let mut data = DynamicData::new(&texts);
    // Searches for each key would take minutes.
    let many: Vec<(Input, Input)> = (0..200_000).map(|key| (format!("key {key}").into(), key.into())).collect();
    data.set("texts", many).unwrap();
    assert_eq!(data.get::<i32>("texts[\"key 199999\"]").unwrap(), 199_999);
    let entries = |keys: &[i32]| keys.iter().map(|key| (Input::from(*key), 1.into())).collect::<Vec<(Input, Input)>>();
    data.set("few", entries(&[-1, 2])).unwrap();
    assert_eq!(data.get::<u8>("few[-1]").unwrap(), 1);
    assert_eq!(data.set("few", entries(&[3, 3])), Err(DataError::DuplicateKey { index: 1 }));
    assert_eq!(data.set("few", entries(&[1, 2, 3])), Err(DataError::BoundExceeded { bound: 2, len: 3 }));
    assert!(matches!(data.set("few", entries(&[70_000])), Err(DataError::OutOfRange { .. })));
    assert_eq!(data.get::<u8>("few[2]").unwrap(), 1, "an error leaves the value unchanged");
}
