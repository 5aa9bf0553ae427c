//! The generated code: equal to the committed files, compiled, and used.
//!
//! `DDS_IDL=write cargo test -p dds-idl --test library rust::` writes the files again.

use crate::generated::{all_types, robot};
use dds_cdr::cdr::{DecodeOwned, Encode, Encoding, TypeInfo, Union, decode_payload, encode_payload};
use dds_idl::idl::{Options, parse_file, parse_text};
use dds_idl::rust::{RustOptions, generate};
use dds_idl::service::add_service_types;
use dds_idl::{BuildError, Builder};
use std::fs;
use std::path::{Path, PathBuf};

#[allow(unreachable_pub, reason = "a test exports nothing")]
mod service {
    include!("../data/rust/service.rs");
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn options() -> RustOptions {
    RustOptions {
        crate_path: "::dds_cdr".to_owned(),
        derive_path: Some("::dds_macros::DdsType".to_owned()),
        serde: true,
        ..RustOptions::default()
    }
}

/// Encodes and decodes the value in XCDR1 and XCDR2.
fn round_trip<T: Encode + DecodeOwned + TypeInfo + PartialEq + std::fmt::Debug>(value: &T) {
    for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
        let mut payload = Vec::new();
        encode_payload(value, encoding, &mut payload).unwrap();
        let again: T = decode_payload(&payload).unwrap();
        assert_eq!(again, *value, "{encoding:?}");
    }
}

#[test]
fn committed_code_equals_that_of_the_files() {
    let is_writing = std::env::var("DDS_IDL").is_ok_and(|value| value == "write");
    let mut different = Vec::new();
    for name in ["robot", "all_types", "service"] {
        let mut specification = parse_file(folder().join(format!("idl/{name}.idl")), &Options::default()).unwrap();
        add_service_types(&mut specification).unwrap();
        let code = generate(&specification, &options())
            .unwrap_or_else(|errors| panic!("{}", errors.render(&specification.sources, false)));
        let path = folder().join(format!("rust/{name}.rs"));
        if fs::read_to_string(&path).is_ok_and(|committed| committed == code) {
            continue;
        }
        if is_writing {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, code).unwrap();
        } else {
            different.push(path);
        }
    }
    assert!(different.is_empty(), "{different:?} differ; `DDS_IDL=write` writes them");
}

#[test]
fn builder_writes_the_code_of_all_files() {
    let out_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("builder");
    fs::create_dir_all(&out_dir).unwrap();
    let builder = Builder::new().rust_options(options()).out_dir(&out_dir);
    builder.compile(&[folder().join("idl/robot.idl")]).unwrap();
    assert_eq!(fs::read_to_string(out_dir.join("robot.rs")).unwrap(), include_str!("../data/rust/robot.rs"));
    let written = fs::metadata(out_dir.join("robot.rs")).unwrap().modified().unwrap();
    builder.compile(&[folder().join("idl/robot.idl")]).unwrap();
    assert_eq!(fs::metadata(out_dir.join("robot.rs")).unwrap().modified().unwrap(), written);
    let error = builder.compile(&[folder().join("idl/missing.idl")]).unwrap_err();
    assert!(format!("{error:?}").contains("missing.idl"), "{error:?}");
    assert!(matches!(builder.compile::<&str>(&[]), Err(BuildError::NoFile)));
}

#[test]
fn names_that_differ_only_in_case_get_distinct_names_in_rust() {
    let out_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("case");
    fs::create_dir_all(&out_dir).unwrap();
    let idl = out_dir.join("case.idl");
    let text = "module M { struct Pose { long x; short X; }; struct pose { Pose a; long b; }; \
                const long N = 1; const long n = 2; }; module m { enum Color { Red, RED }; };";
    fs::write(&idl, text).unwrap();
    let builder = Builder::new().rust_options(options()).out_dir(&out_dir);
    let error = format!("{:?}", builder.compile(&[&idl]).unwrap_err());
    assert!(error.contains("`X` differs from `x` only in case"), "{error}");
    builder.case_sensitive(true).compile(&[&idl]).unwrap();
    let code = fs::read_to_string(out_dir.join("case.rs")).unwrap();
    for part in [
        "mod m {",
        "mod m2 {",
        "struct Pose {",
        "struct Pose2 {",
        "x2: i16",
        "const N: i32 = 1",
        "const N2: i32 = 2",
        "Red2",
    ] {
        assert!(code.contains(part), "no `{part}` in\n{code}");
    }
}

#[test]
fn struct_of_all_types_comes_back() {
    use all_types::{LowerFlags, Packed, Primitives, Rights, Small, Whole};
    let primitives =
        Primitives { c: 'é', d: dds_cdr::cdr::Char16(0x20ac), o: 0.5.into(), p: "p".into(), ..Default::default() };
    round_trip(&primitives);
    let whole = Whole {
        id: -1,
        bytes: [1, 2, 3, 4],
        values: [[1, 2, 3], [4, 5, i64::MIN]],
        small: Small::Minus,
        rights: Rights::READ | Rights::ADMIN,
        lower: LowerFlags::second_flag,
        packed: Packed { a: 7, on: true, level: -3, rest_of_it: 0x1_ffff },
        letters: vec!['a', 'b'],
        text: "five".into(),
        words: vec![String::new(), "w".into()],
        ..Default::default()
    };
    round_trip(&whole);
    let json = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Whole>(&json).unwrap(), whole);
}

#[test]
fn request_and_reply_of_a_service_survive() {
    use service::robot_service::{
        RobotControlCall, RobotControlReply, RobotControlRequest, RobotControlReturn, RobotControlSetSpeedIn,
        RobotControlSetSpeedResult, TooFast,
    };
    let call = RobotControlCall::SetSpeed(RobotControlSetSpeedIn { speed: 1.5 });
    let request = RobotControlRequest { data: call, ..Default::default() };
    let mut payload = Vec::new();
    encode_payload(&request, Encoding::Xcdr1, &mut payload).unwrap();
    // A header of 24 bytes and an empty name, then the hash of the operation as the discriminator.
    let discriminator = service::robot_service::ROBOT_CONTROL_SET_SPEED_HASH.to_le_bytes();
    assert_eq!(payload.get(4 + 24 + 8..4 + 24 + 12), Some(&discriminator[..]));
    round_trip(&request);
    let data = RobotControlReturn::SetSpeed(RobotControlSetSpeedResult::ToofastEx(TooFast::default()));
    round_trip(&RobotControlReply { data, ..Default::default() });
    round_trip(&RobotControlReply::default());
}

#[test]
fn deep_struct_in_a_key_gives_code() {
    const LEVELS: usize = 10_000;
    let mut text = "struct S0 { long x; };\n".to_owned();
    for level in 1..LEVELS {
        text.push_str(&format!("struct S{level} {{ S{} inner; }};\n", level - 1));
    }
    text.push_str(&format!("struct Keyed {{ @key S{} id; }};", LEVELS - 1));
    let specification = parse_text("deep.idl", &text, &Options::default()).unwrap();
    assert!(generate(&specification, &options()).unwrap().contains("pub struct Keyed {"));
}

#[test]
fn type_with_a_finite_key_may_contain_itself() {
    let text = "struct A; @mutable struct C { sequence<A> more; @optional long b; }; \
                struct A { @key long id; C c; @non_serialized sequence<A> hidden; }; \
                struct D { long d; @non_serialized @optional A hidden; }; struct B { @key A a; @key D d; };";
    let specification = parse_text("t.idl", text, &Options::default()).unwrap();
    generate(&specification, &options()).unwrap();
}

#[test]
fn mutable_struct_of_collections_comes_back() {
    use all_types::{Collections, Primitives, Small};
    let mut value = Collections {
        title: "tür".into(),
        rows: vec![vec!["abc".to_owned().into()], Vec::new()],
        table: [(Small::B, vec![1, 2])].into(),
        boxed: [(7, Box::new(Primitives::default()))].into(),
        ..Default::default()
    };
    value.long_array[39] = 1.5;
    assert_eq!((value.lowest, value.ratio, value.quote, value.letter), (i32::MIN, 3.0, '\'', Small::B));
    round_trip(&value);
}

#[test]
fn type_that_contains_itself_comes_back() {
    use all_types::Node;
    let leaf = Node { value: 2, ..Default::default() };
    let next = Node { parent: Some(Box::new(leaf.clone())), ..Default::default() };
    round_trip(&Node { value: 1, children: vec![leaf], parent: None, next: Some(Box::new(next)) });
}

#[test]
fn unions_of_every_discriminator_come_back() {
    use all_types::{LowerFlags, OfBool, OfChar, OfFlags, OfLong, OfOctet, OfRights, OfWide, Rights, Small};
    round_trip(&OfLong::A(3));
    round_trip(&OfLong::B { discriminator: 2, value: "two".into() });
    round_trip(&OfLong::C { discriminator: 99, value: vec![9] });
    assert_eq!(OfLong::default(), OfLong::C { discriminator: 0, value: Vec::new() });
    round_trip(&OfChar::B(Small::Minus));
    round_trip(&OfChar::default());
    round_trip(&OfBool::Yes(0.5));
    round_trip(&OfBool::No(Box::new([1; 40])));
    round_trip(&OfBool::default());
    round_trip(&OfOctet::B(OfLong::A(1)));
    round_trip(&OfWide::A(1));
    round_trip(&OfRights::A(1));
    round_trip(&OfRights::B { discriminator: Rights::READ | Rights::WRITE, value: "four".into() });
    round_trip(&OfRights::C { discriminator: Rights::ADMIN, value: 7 });
    assert_eq!(OfRights::default(), OfRights::B { discriminator: Rights(0), value: String::new() });
    round_trip(&OfFlags::A(-1));
    round_trip(&OfFlags::B(0.5));
    assert_eq!(OfFlags::B(0.5).discriminator(), LowerFlags(3));
}

#[test]
fn names_of_the_prelude_have_their_own_meaning() {
    use all_types::string::{Box as OwnBox, Default as OwnDefault, OptionType, String as OwnString, Vec as OwnVec};
    let text = OwnString { text: "text".into() };
    round_trip(&OwnBox { vec: OwnVec { items: vec![text] }.into() });
    round_trip(&OwnDefault::Option(OptionType::default()));
    assert_eq!(OptionType::TYPE_NAME, "String::Option");
}

#[test]
fn derived_struct_comes_back_with_its_base() {
    use robot::robot::{Command, JointState, RobotArm, Vector3, arm::JointKind};
    let base = JointState {
        robot_name: "r".to_owned(),
        raw: [[1, 2, 3], [4, 5, 6]],
        blobs: [("a".to_owned().into(), vec![1])].into(),
        target: Some(Vector3 { x: 1.0, ..Default::default() }),
        ..Default::default()
    };
    assert_eq!((base.state.as_str(), base.other, base.kind), ("idle", JointKind::Fixed, JointKind::Prismatic));
    round_trip(&base);
    round_trip(&RobotArm {
        base,
        load: 4,
        window: vec![1, 2, 3],
        tags: vec!["tag".to_owned().into()],
        ..Default::default()
    });
    round_trip(&Command::Position { discriminator: JointKind::Fixed, value: Vector3::default() });
}

/// The type object of the generated code describes what the IDL says.
#[test]
fn description_has_the_names_and_ids_of_the_idl() {
    use dds_cdr::cdr::TypeKind;
    let TypeKind::Struct(description) = robot::robot::RobotArm::DESCRIPTION.kind() else { panic!("not a struct") };
    let members: Vec<(&str, u32)> = description.members().iter().map(|member| (member.name(), member.id())).collect();
    let hash = dds_idl::model::member_id_hash;
    assert_eq!(robot::robot::RobotArm::TYPE_NAME, "robot::RobotArm");
    assert_eq!(members[0], ("robotName", 0));
    assert_eq!(members[9], ("type", 40));
    assert_eq!(members[12], ("load", hash("load")));
    assert_eq!(members[13], ("paint", hash("color")));
    assert_eq!(members[14], ("label", hash("color") + 1));
}

#[test]
fn type_that_the_derive_cannot_express_is_refused() {
    for (text, expected) in [
        (
            "struct S { map<uint8, octet> both; };",
            "t.idl:1:30: error: `both` contains `octet` and `uint8`: the derive macro has one of them",
        ),
        (
            "struct A { @key long a; }; union C switch (long) { case 1: A a; case 2: map<long, A> b; }; \
             struct B { @key sequence<C> many; };",
            "t.idl:1:120: error: the derive macro has no key for `many`: it contains a map",
        ),
        (
            "struct A { @key long a; }; struct C { @try_construct(TRIM) string<4> name; A a; }; struct D : C { long d; }; \
             struct B { @key D key; };",
            "t.idl:1:128: error: the derive macro has no key for `key`: `name` may change when it is received \
             (`@try_construct`)",
        ),
        (
            "struct B { @key map<long, long> table; };",
            "t.idl:1:33: error: the derive macro has no key for `table`: it contains a map",
        ),
        (
            "struct A { @key long a; }; union C switch (@try_construct(USE_DEFAULT) boolean) { case TRUE: A a; }; \
             struct B { @key C key; };",
            "t.idl:1:120: error: the derive macro has no key for `key`: the discriminator of `C` may change when it is \
             received (`@try_construct`)",
        ),
        (
            "struct A { @key long a; }; union C; \
             union C switch (long) { case 1: A a; case 2: sequence<C> more; }; struct B { @key C key; };",
            "t.idl:1:121: error: the derive macro has no key for `key`: it contains a type that contains itself",
        ),
        (
            "struct A; struct A { sequence<A> more; }; struct C { A a; }; struct B { @key sequence<C> key; };",
            "t.idl:1:90: error: the derive macro has no key for `key`: it contains a type that contains itself",
        ),
        (
            "struct A { @optional long a; }; struct B { @key A key; };",
            "t.idl:1:51: error: the derive macro has no key for `key`: `a` is optional",
        ),
        (
            "@final struct A { long a; }; @mutable struct B : A { long b; };",
            "t.idl:1:46: error: `B` is mutable, and its base `A` is final",
        ),
        ("bitmask M { type };", "t.idl:1:13: error: the flag `type` cannot be a constant in Rust"),
    ] {
        let specification = parse_text("t.idl", text, &Options::default()).unwrap();
        let errors = generate(&specification, &RustOptions::default()).unwrap_err();
        let lines: Vec<String> = errors.iter().map(|error| error.one_line(&specification.sources)).collect();
        assert_eq!(lines, [expected]);
    }
}

#[test]
fn refused_keys_name_the_clause() {
    for (text, clause) in [
        ("struct B { @key map<long, long> table; };", "XTypes 1.3, 7.6.8"),
        ("struct B { @key sequence<@try_construct(TRIM) string<4>> names; };", "XTypes 1.3, 7.2.2.7"),
        ("struct A { @optional long a; }; struct B { @key A key; };", "XTypes 1.3, 7.2.2.4.4.4.8"),
    ] {
        let specification = parse_text("t.idl", text, &Options::default()).unwrap();
        let errors = generate(&specification, &RustOptions::default()).unwrap_err();
        let rendered = errors.render(&specification.sources, false);
        assert!(rendered.contains(clause), "{rendered}");
    }
}
