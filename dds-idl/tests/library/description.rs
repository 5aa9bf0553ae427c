//! TypeObjects and dynamic types: equal to those of the generated code, and to those of Cyclone DDS.

use crate::generated::{all_types, robot};
use dds_cdr::cdr::dynamic::{DynamicData, DynamicType};
use dds_cdr::cdr::{Encoding, TryConstruct, TypeInfo};
use dds_cdr::xtypes::{Complete, Form, TypeConsistency, TypeDefinition, TypeGraph, TypeObject};
use dds_idl::description::{DescriptionForm, TypeVersion, changes, compatibility, dynamic_type, type_graph};
use dds_idl::idl::{Options, parse_file, parse_text};
use dds_idl::model::{Extensibility, Specification};
use dds_idl::rust::{RustOptions, generate};
use std::collections::BTreeSet;
use std::path::Path;

fn corpus(name: &str) -> Specification {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/idl/{name}.idl"));
    parse_file(path, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn parsed(text: &str) -> Specification {
    parse_text("test.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn graph(specification: &Specification, name: &str, form: DescriptionForm) -> TypeGraph {
    let id = specification.find(name).unwrap_or_else(|| panic!("no {name}"));
    type_graph(specification, id, form)
        .unwrap_or_else(|errors| panic!("{}", errors.render(&specification.sources, false)))
}

/// Compares the TypeObjects of the IDL, of the generated type, and of the dynamic type.
fn compare<T: TypeInfo>(specification: &Specification) {
    let generated = TypeGraph::of(T::DESCRIPTION).unwrap();
    let described = graph(specification, T::TYPE_NAME, DescriptionForm::Rust);
    for (one, other) in generated.types().iter().zip(described.types()) {
        assert_eq!(one.complete, other.complete, "in {}", T::TYPE_NAME);
    }
    assert_eq!(generated, described, "{}", T::TYPE_NAME);
    let dynamic = DynamicType::of::<T>().unwrap();
    let of_dynamic = TypeGraph::of_dynamic(&dynamic).unwrap();
    for (one, other) in of_dynamic.types().iter().zip(generated.types()) {
        assert_eq!(one.complete, other.complete, "dynamic, in {}", T::TYPE_NAME);
    }
    assert_eq!(of_dynamic, generated, "dynamic {}", T::TYPE_NAME);
    // A dynamic type has what the standard form says apart from annotations of members.
    let id = specification.find(T::TYPE_NAME).unwrap();
    let read = dynamic_type(specification, id).unwrap();
    assert!(read.is_encoded_like(&dynamic), "{read}\n{dynamic}");
}

#[test]
fn generated_types_have_the_objects_of_the_idl() {
    let specification = corpus("robot");
    compare::<robot::robot::JointState>(&specification);
    compare::<robot::robot::RobotArm>(&specification);
    compare::<robot::robot::Command>(&specification);
    let specification = corpus("all_types");
    compare::<all_types::Primitives>(&specification);
    compare::<all_types::Collections>(&specification);
    compare::<all_types::Node>(&specification);
    compare::<all_types::OfLong>(&specification);
    compare::<all_types::OfChar>(&specification);
    compare::<all_types::OfBool>(&specification);
    compare::<all_types::OfOctet>(&specification);
    compare::<all_types::OfWide>(&specification);
    compare::<all_types::OfRights>(&specification);
    compare::<all_types::OfFlags>(&specification);
    compare::<all_types::Whole>(&specification);
}

#[test]
fn default_of_a_discriminator_without_effect_is_left_out_of_the_code() {
    let text = "union U switch (@try_construct(USE_DEFAULT) long) { case 1: long a; default: short b; };
        union V switch (@try_construct(USE_DEFAULT) long) { case 1: long a; };";
    let specification = parsed(text);
    let default_of = |name: &str, form: DescriptionForm| {
        let graph = graph(&specification, name, form);
        let TypeObject::Complete(TypeDefinition::Union(ty)) = &graph.types()[0].complete else { panic!("a union") };
        ty.discriminator_flags.try_construct() == TryConstruct::UseDefault
    };
    assert!(default_of("U", DescriptionForm::Standard));
    // A default branch accepts each other integer, so the derive refuses the attribute.
    assert!(!default_of("U", DescriptionForm::Rust));
    assert!(default_of("V", DescriptionForm::Rust));
}

#[test]
fn padding_of_a_bitset_is_a_gap_between_fields() {
    let specification = parsed("bitset B { bitfield<3> a; bitfield<2>; bitfield<4> b; bitfield<20>; };");
    let code = generate(&specification, &RustOptions::default()).unwrap();
    assert!(code.contains("#[dds(position = 5, bits = 4)]"), "{code}");
    // Without its last field, the integer would have 16 bits.
    assert!(code.contains("pub padding: u32"), "{code}");
    let specification = parsed("bitset B { bitfield<3> a; bitfield<5>; };");
    let code = generate(&specification, &RustOptions::default()).unwrap();
    assert!(!code.contains("padding"), "{code}");
}

#[test]
fn default_of_a_collection_by_rosidl_has_no_effect() {
    let text = "typedef boolean boolean__3[3];
        struct A { @default (value=\"(False, True, False)\") boolean__3 all; @default (value=5) long one; };";
    let specification = parsed(text);
    let ty = dynamic_type(&specification, specification.find("A").unwrap()).unwrap();
    assert_eq!(DynamicData::new(&ty).to_string(), "{all: [false, false, false], one: 5}");
}

/// The dynamic type of each definition describes itself as the IDL does.
#[test]
fn dynamic_types_have_the_objects_of_the_idl() {
    for name in ["robot", "all_types"] {
        let specification = corpus(name);
        for (id, definition) in specification.definitions() {
            if !definition.is_topic_type() {
                continue;
            }
            let dynamic = TypeGraph::of_dynamic(&dynamic_type(&specification, id).unwrap()).unwrap();
            let described = type_graph(&specification, id, DescriptionForm::Standard).unwrap();
            for (one, other) in dynamic.types().iter().zip(described.types()) {
                // Dynamic types have no units and ranges, and minimal objects have neither.
                assert_eq!(one.minimal, other.minimal, "in {}", definition.scoped_name);
            }
            assert_eq!(dynamic.information().minimal.ty, described.information().minimal.ty);
        }
    }
}

/// The typedef stands between two types that contain each other, as in a test library of OpenSplice.
#[test]
fn type_that_contains_itself_through_a_typedef_is_dynamic() {
    let specification = parsed(
        "struct Data; typedef sequence<Data> DataSeq;
        union Value switch (long) { case 1: DataSeq parts; case 2: long number; };
        struct Data { string name; Value value; };
        struct Call { DataSeq with; };",
    );
    let ty = dynamic_type(&specification, specification.find("Call").unwrap()).unwrap();
    let mut data = DynamicData::new(&ty);
    data.resize("with", 1).unwrap();
    data.select("with[0].value", 1).unwrap();
    data.resize("with[0].value.parts", 1).unwrap();
    data.set("with[0].value.parts[0].name", "inner").unwrap();
    let payload = data.to_payload(Encoding::Xcdr2).unwrap();
    assert_eq!(DynamicData::from_payload(&ty, &payload).unwrap(), data);
}

#[test]
fn dynamic_type_has_the_defaults_of_members() {
    let specification = corpus("robot");
    let ty = dynamic_type(&specification, specification.find("robot::RobotArm").unwrap()).unwrap();
    let data = DynamicData::new(&ty);
    assert_eq!(data.get::<String>("state").unwrap(), "idle");
    assert_eq!(data.get::<f32>("speed").unwrap(), 0.5);
    assert!(data.get::<bool>("enabled").unwrap());
    assert_eq!(data.get::<String>("other").unwrap(), "JOINT_KIND_FIXED");
    assert_eq!(data.get::<String>("kind").unwrap(), "JOINT_KIND_PRISMATIC");
}

#[test]
fn typedef_is_a_type_object_of_its_own() {
    let specification = parsed("typedef long Meters; @final struct Way { Meters length; };");
    let standard = graph(&specification, "Way", DescriptionForm::Standard);
    let names: Vec<Option<&str>> =
        standard.types().iter().map(|ty| Complete::definition(&ty.complete).unwrap().name()).collect();
    assert_eq!(names, [Some("Way"), Some("Meters")]);
    assert_eq!(graph(&specification, "Way", DescriptionForm::Rust).types().len(), 1);
}

#[test]
fn units_and_ranges_are_part_of_the_complete_object() {
    let specification =
        parsed("struct A { @unit(\"m\") @range(min = -1, max = 7) short x; @hashid(\"y\") @max(0.5) float z; };");
    let graph = graph(&specification, "A", DescriptionForm::Standard);
    let TypeObject::Complete(TypeDefinition::Struct(ty)) = &graph.types()[0].complete else { panic!("a struct") };
    let first = ty.members[0].detail.builtin_annotations.as_ref().unwrap();
    assert_eq!(
        format!("{first:?}"),
        "MemberAnnotations { unit: Some(\"m\"), min: Some(Int16(-1)), max: Some(Int16(7)), hash_id: None }"
    );
    let second = ty.members[1].detail.builtin_annotations.as_ref().unwrap();
    assert_eq!(second.hash_id.as_deref(), Some("y"));
}

#[test]
fn type_that_is_not_data_is_refused_with_its_place() {
    let specification = parsed("typedef fixed<3, 1> Price;\ninterface I {};");
    for (name, expected) in [
        ("Price", "test.idl:1:21: error: `fixed<3, 1>` is not data of a DDS topic"),
        ("I", "test.idl:2:11: error: `I` is an interface, not data of a DDS topic"),
    ] {
        let id = specification.find(name).unwrap();
        let errors = type_graph(&specification, id, DescriptionForm::Standard).unwrap_err();
        let lines: Vec<String> = errors.iter().map(|error| error.one_line(&specification.sources)).collect();
        assert_eq!(lines, [expected]);
        assert!(dynamic_type(&specification, id).is_err());
    }
}

/// Each typedef doubles the type that it stands for.
#[test]
fn typedefs_of_exponential_size_are_refused() {
    let mut text = "typedef long T0;".to_owned();
    for level in 1..100 {
        text.push_str(&format!("typedef map<T{0}, T{0}> T{level};", level - 1));
    }
    text.push_str("struct A { T99 x; };");
    let Ok(specification) = parse_text("test.idl", &text, &Options::default()) else { return };
    let id = specification.find("A").unwrap();
    let errors = type_graph(&specification, id, DescriptionForm::Rust).unwrap_err();
    assert!(errors.render(&specification.sources, false).contains("more than 1048576 parts"));
    assert!(type_graph(&specification, id, DescriptionForm::Standard).is_ok());
}

/// The golden file has a line for each TypeObject of `idlc`: its hash and its bytes.
#[test]
fn type_objects_are_those_of_cyclone_dds() {
    let specification = corpus("cyclone");
    let mut ours = BTreeSet::new();
    for (id, definition) in specification.definitions() {
        if definition.is_topic_type() {
            for ty in type_graph(&specification, id, DescriptionForm::Standard).unwrap().types() {
                ours.insert(format!("{} {}", ty.minimal_id, hex(&ty.minimal.to_bytes().unwrap())));
                ours.insert(format!("{} {}", ty.complete_id, hex(&ty.complete.to_bytes().unwrap())));
            }
        }
    }
    let theirs: BTreeSet<String> =
        include_str!("../data/cyclone_type_objects.txt").lines().map(str::to_owned).collect();
    let difference: Vec<&String> = ours.symmetric_difference(&theirs).collect();
    assert!(difference.is_empty(), "{difference:#?}");
    assert!(theirs.len() == 18);
}

/// The hashes of `idlc` of Cyclone DDS after 11.0.1. Older ones refuse the type.
#[test]
fn union_of_a_bitmask_has_the_hashes_of_cyclone_dds() {
    let specification = parsed(
        "module m {
        @bit_bound(8) @final bitmask Flags { A, B, @position(5) C };
        @final union U switch (Flags) { case A: @id(0) long a; case B: case C: string b; default: double d; };
        @final struct S { U u; };
        };",
    );
    let graph = graph(&specification, "m::S", DescriptionForm::Standard);
    let ids: Vec<String> = graph.types().iter().map(|ty| format!("{} {}", ty.complete_id, ty.minimal_id)).collect();
    for expected in [
        "636ee287daa31ebeb47b92a4798a 1117d1935201d423eeaf944d1377",
        "dc35edb162cd3dd0b439c5615eab d9c1f84e1ba773c06216c43eaf11",
        "2cf80547313d3d58f6135bece3f6 d4680fc2cebb8ecb03625cb921cb",
    ] {
        assert!(ids.iter().any(|id| id == expected), "no {expected} in {ids:?}");
    }
}

/// The hashes of `idlc` of Cyclone DDS with `-x final`, `-x appendable` and `-x mutable`.
#[test]
fn default_extensibility_of_enums_and_bitmasks_is_that_of_cyclone_dds() {
    let text =
        "module m { bitmask Flags { A, B }; enum Mode { X, Y }; @final struct S { Flags flags; Mode state; }; };";
    for (default_extensibility, expected) in [
        (
            Extensibility::Final,
            ["be0d689b7ad16774405d2f4a6e86", "750ea787f48adcbeb34099ee2e5b", "0daec9a20c337d28a19d9eae2a75"],
        ),
        (
            Extensibility::Appendable,
            ["be0d689b7ad16774405d2f4a6e86", "afc6bc765143d2867f53fe113baf", "6c622cc8994662c773189e767391"],
        ),
        (
            Extensibility::Mutable,
            ["be0d689b7ad16774405d2f4a6e86", "750ea787f48adcbeb34099ee2e5b", "0daec9a20c337d28a19d9eae2a75"],
        ),
    ] {
        let specification =
            parse_text("test.idl", text, &Options { default_extensibility, ..Options::default() }).unwrap();
        let graph = graph(&specification, "m::S", DescriptionForm::Standard);
        let ids: Vec<String> = graph.types().iter().map(|ty| format!("{} {}", ty.complete_id, ty.minimal_id)).collect();
        for id in expected {
            assert!(ids.iter().any(|found| found.contains(id)), "no {id} in {ids:?}");
        }
    }
}

/// `idlc` after 11.0.1 hashes the list of types without its DHEADER (XTypes 1.3, 7.3.4.9.3 and 7.4.3.5.3).
/// OpenDDS includes the DHEADER, as this crate does.
#[test]
fn hash_of_a_recursive_type_differs_from_cyclone_dds_by_a_dheader() {
    let specification =
        parsed("struct Node; typedef sequence<Node> Nodes; @final struct Node { long value; Nodes children; };");
    let graph = graph(&specification, "Node", DescriptionForm::Standard);
    let mut types: Vec<(String, Vec<u8>)> =
        graph.types().iter().map(|ty| (ty.minimal_id.to_string(), ty.minimal.to_bytes().unwrap())).collect();
    types.sort();
    let (id, _) = types[0].0.split_once('/').unwrap();
    // The hash covers the objects in the order of their numbers, with zeros instead of the hash itself.
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (_, object) in &types {
        let zeroed = hex(object).replace(id, &"0".repeat(28));
        list.resize(list.len().next_multiple_of(4), 0);
        list.extend((0..zeroed.len()).step_by(2).map(|at| u8::from_str_radix(&zeroed[at..at + 2], 16).unwrap()));
    }
    let hash_of = |bytes: &[u8]| hex(&md5::compute(bytes).0[..14]);
    assert_eq!(hash_of(&list), "3a896e7459053d64c8dfda8a3729");
    let with_dheader = [&u32::try_from(list.len()).unwrap().to_le_bytes()[..], &list].concat();
    assert_eq!(hash_of(&with_dheader), id);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the text of a dynamic type, and returns the type that it declares.
fn read_again(ty: &DynamicType) -> DynamicType {
    let text = ty.to_string();
    let specification =
        parse_text("dynamic.idl", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let id = specification.find(ty.name()).unwrap_or_else(|| panic!("no {}\n{text}", ty.name()));
    dynamic_type(&specification, id).unwrap_or_else(|errors| panic!("{}", errors.render(&specification.sources, false)))
}

#[test]
fn text_of_a_dynamic_type_reads_back_as_the_same_type() {
    for name in ["robot", "all_types"] {
        let specification = corpus(name);
        for (id, definition) in specification.definitions() {
            if definition.is_topic_type() {
                let ty = dynamic_type(&specification, id).unwrap();
                assert_eq!(read_again(&ty), ty, "{ty}");
            }
        }
    }
}

#[test]
fn text_of_a_dynamic_type_escapes_keywords_and_literals() {
    let kind = DynamicType::enumeration("m::Kind").literal("Struct").literal("union");
    let ty = DynamicType::structure("interface::Sequence")
        .member("module", DynamicType::string())
        .default("a\"\\\u{7}\u{e9}")
        .member("flag", DynamicType::boolean())
        .default(true)
        .member("letter", DynamicType::char8())
        .default('\u{7f}')
        .member("quote", DynamicType::char8())
        .default('\'')
        .member("wide", DynamicType::wstring())
        .default("\u{e9}\n")
        .member("kind", kind)
        .default("union")
        .build()
        .unwrap();
    assert_eq!(read_again(&ty), ty, "{ty}");
}

#[test]
fn text_of_a_union_leaves_out_cases_without_a_member() {
    let ty = DynamicType::union("U", DynamicType::char8())
        .case("some", &[i64::from(b'\''), 200], DynamicType::int32())
        .empty_case("none", &[3])
        .build()
        .unwrap();
    let read = read_again(&ty);
    let names: Vec<&str> = read.cases().map(|case| case.name()).collect();
    assert_eq!(names, ["some"], "{ty}");
    assert_eq!(read.cases().next().unwrap().labels(), [i64::from(b'\''), 200]);
}

#[test]
fn changes_name_every_property_of_a_type() {
    let old = "@final struct A { sequence<string<3>> words; @unit(\"m\") @max(3) long x; };
        @final bitmask M { X }; bitset P { bitfield<3> p; }; bitset B { bitfield<3> a; };
        enum E { R, S }; @unit(\"m\") typedef long L;
        union U switch (long) { case 1: long a; };";
    let new = "@final @nested @data_representation(XCDR1) struct A {
            sequence<@try_construct(TRIM) string<3>> words; @unit(\"mm\") @max(4) long x; };
        @appendable bitmask M { X }; bitset P { bitfield<3> p; }; bitset B : P { bitfield<3, octet> a; };
        @ignore_literal_names enum E { R, S }; @unit(\"mm\") typedef long L;
        union U switch (@try_construct(USE_DEFAULT) long) { case 1: long a; };";
    let (old, new) = (parsed(old), parsed(new));
    assert_eq!(changes(&old, &old), []);
    let found: Vec<String> = changes(&old, &new).iter().map(ToString::to_string).collect();
    for expected in [
        "A: nested changed from no to yes",
        "A: data_representation changed",
        "A.words: elements changed from none to string<3> Trim",
        "A.x: unit changed from m to mm",
        "A.x: max changed from 3 to 4",
        "M: extensibility changed from final to appendable",
        "B: base changed from none to P",
        "B.a: type changed from none to octet",
        "E: ignore_literal_names changed from no to yes",
        "L: unit changed from m to mm",
        "U: try_construct changed from Discard to UseDefault",
    ] {
        assert!(found.iter().any(|line| line.starts_with(expected)), "no {expected:?} in {found:#?}");
    }
}

#[test]
fn version_without_a_type_object_names_itself_and_the_reason() {
    let old = parsed("typedef long A;");
    let new = parsed("typedef fixed<3, 1> A;");
    let version = |specification| TypeVersion::find(specification, "A").unwrap();
    let policy = TypeConsistency::default();
    let error = compatibility(version(&old), version(&new), DescriptionForm::Standard, &policy).unwrap_err();
    assert!(!error.is_old);
    let expected = "the new version of the type has no TypeObject: `fixed<3, 1>` is not data of a DDS topic";
    assert_eq!(error.to_string(), expected);
}
