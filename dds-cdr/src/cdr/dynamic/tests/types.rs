//! Valid and invalid types.

use crate::cdr::dynamic::{DynamicData, DynamicKind, DynamicType, PrimitiveKind, TypeError};
use crate::cdr::{Extensibility, TryConstruct};

fn long() -> DynamicType {
    DynamicType::int32()
}

#[test]
fn struct_builder_adds_members() {
    let base = DynamicType::structure("Base").member("id", long()).key().build().unwrap();
    let ty = DynamicType::structure("Derived")
        .base(&base)
        .member("x", DynamicType::float64())
        .default(1.5)
        .member("far", DynamicType::string())
        .id(7)
        .optional()
        .member("next", DynamicType::bounded_string(8))
        .try_construct(TryConstruct::Trim)
        .must_understand()
        .build()
        .unwrap();
    let ids: Vec<_> = ty.members().map(|member| (member.name().to_owned(), member.id())).collect();
    assert_eq!(ids, [("id", 0), ("x", 1), ("far", 7), ("next", 8)].map(|(name, id)| (name.to_owned(), id)));
    assert!(ty.has_key() && ty.base() == Some(base) && ty.kind() == DynamicKind::Struct);
    assert!(ty.member("far").unwrap().is_optional() && ty.member("next").unwrap().is_must_understand());
    assert_eq!(DynamicData::new(&ty).get::<f64>("x"), Ok(1.5));
    let idl = "@appendable\nstruct Base {\n    @key int32 id;\n};\n\n@appendable\nstruct Derived : Base {\n    \
               @default(1.5) double x;\n    @id(7) @optional string far;\n    \
               @must_understand @try_construct(TRIM) string<8> next;\n};";
    assert_eq!(ty.to_string(), idl);
}

#[test]
fn every_kind_is_printed_as_idl() {
    let color = DynamicType::enumeration("m::Color").literal("RED").literal_of("BLUE", 5).bit_bound(8);
    let ty = DynamicType::union("m::All", color)
        .extensibility(Extensibility::Mutable)
        .key()
        .case("many", &[0], DynamicType::sequence(DynamicType::array(DynamicType::array(long(), 2), 3)).bound(4))
        .case("map", &[5], DynamicType::map(DynamicType::char8(), DynamicType::alias("Short", DynamicType::int16())))
        .default_case("bits", DynamicType::bitset("Bits").field("low", 3).padding(2).signed_field("high", 4))
        .id(9)
        .build()
        .unwrap();
    let idl = "module m { \n@appendable @bit_bound(8)\nenum Color {\n    @value(0) RED,\n    @value(5) BLUE\n};\n};\n\n\
               typedef int16 _Short;\n\nbitset Bits {\n    bitfield<3> low;\n    bitfield<2>;\n    bitfield<4, int8> high;\n};\n\n\
               module m { \n@mutable\nunion All switch (@key m::Color) {\n    case RED:\n        \
               sequence<int32[3][2], 4> many;\n    case BLUE:\n        map<char, _Short> _map;\n    default:\n        \
               @id(9) Bits bits;\n};\n};";
    assert_eq!(ty.to_string(), idl);
    let flags = DynamicType::bitmask("Flags").flag("A").flag_at("C", 2).bit_bound(3).build().unwrap();
    assert_eq!(
        flags.to_string(),
        "@appendable @bit_bound(3)\nbitmask Flags {\n    @position(0) A,\n    @position(2) C\n};"
    );
}

#[test]
fn type_contains_itself_by_name() {
    let node = DynamicType::structure("Node")
        .member("value", long())
        .member("left", DynamicType::named("Node"))
        .optional()
        .member("rest", DynamicType::sequence(DynamicType::named("Node")))
        .build()
        .unwrap();
    assert_eq!(node.member("left").unwrap().ty(), node);
    assert!(node.to_string().starts_with("struct Node;\n\n@appendable\nstruct Node {"), "{node}");
    let mut data = DynamicData::new(&node);
    data.set("left.left.value", 3).unwrap();
    data.resize("rest", 1).unwrap();
    data.set("rest[0].left.value", 4).unwrap();
    assert_eq!(data.to_string().matches("value").count(), 5);
    // As a part of another type it stays equal.
    let outer = DynamicType::structure("Outer").member("node", &node).member("same", &node).build().unwrap();
    assert_eq!(outer.member("same").unwrap().ty(), node);
    let no_end = DynamicType::structure("A").member("a", DynamicType::array(DynamicType::named("A"), 1)).build();
    assert_eq!(no_end, Err(TypeError::ContainsItself { ty: "A".into() }));
    let unknown = DynamicType::structure("A").member("b", DynamicType::named("B")).build();
    assert_eq!(unknown, Err(TypeError::UnknownType { name: "B".into() }));
}

#[test]
fn type_in_several_parts_has_one_node() {
    let point = || DynamicType::structure("Point").member("x", long()).member("y", long()).build().unwrap();
    let part = |name: &str| DynamicType::structure(name).member("at", point()).member("to", point()).build().unwrap();
    let ty = DynamicType::structure("Whole").member("one", part("One")).member("other", part("Other")).build().unwrap();
    // `Whole`, `One`, `Other`, `Point` and `int32`.
    assert_eq!(ty.graph.nodes.len(), 5);
    // Types that differ only in a default of a nested member are not equal.
    let lamp = |on: bool| DynamicType::structure("Lamp").member("on", DynamicType::boolean()).default(on);
    let ty = DynamicType::structure("Lamps").member("a", lamp(false)).member("b", lamp(true)).build().unwrap();
    assert_eq!(ty.graph.nodes.len(), 4);
    assert_eq!(DynamicData::new(&ty).to_string(), "{a: {on: false}, b: {on: true}}");
    // A list and a copy of it refer to themselves.
    let list = || DynamicType::structure("List").member("rest", DynamicType::sequence(DynamicType::named("List")));
    let ty = DynamicType::structure("Two").member("a", list()).member("b", list()).build().unwrap();
    assert_eq!(ty.graph.nodes.len(), 3);
}

#[test]
fn invalid_types_are_rejected() {
    let color = || DynamicType::enumeration("E").literal("A").literal("B");
    let structure = || DynamicType::structure("S");
    let bits = |name: &str| TypeError::InvalidBits { ty: "E".into(), name: name.into() };
    let ty = |name: &str| name.to_owned();
    let label = |case: &str| TypeError::InvalidLabel { ty: "U".into(), case: case.into() };
    let id = |ty: &str, member: &str, id| TypeError::InvalidId { ty: ty.into(), member: member.into(), id };
    let cases = [
        (structure().member("", long()).build(), TypeError::InvalidName { name: ty("") }),
        (structure().member("a.b", long()).build(), TypeError::InvalidName { name: ty("a.b") }),
        (
            structure().member("a", long()).member("a", long()).build(),
            TypeError::DuplicateName { ty: ty("S"), name: ty("a") },
        ),
        (structure().member("a", long()).member("b", long()).id(0).build(), id("S", "b", 0)),
        (structure().member("a", long()).id(1 << 28).build(), id("S", "a", 1 << 28)),
        (structure().key().build(), TypeError::NoMember { ty: ty("S") }),
        (
            structure().member("a", long()).key().optional().build(),
            TypeError::OptionalKey { ty: ty("S"), member: ty("a") },
        ),
        (
            structure().member("a", DynamicType::string()).try_construct(TryConstruct::Trim).build(),
            TypeError::NothingToTrim { ty: ty("S"), member: ty("a") },
        ),
        (structure().base(long()).build(), TypeError::WrongKind { ty: ty("S"), needed: "a base that is a struct" }),
        (color().literal_of("C", 0).build(), bits("C")),
        (color().literal_of("C", 256).bit_bound(8).build(), bits("C")),
        (color().bit_bound(33).build(), bits("")),
        (DynamicType::enumeration("E").build(), TypeError::Empty { ty: ty("E") }),
        (DynamicType::bitmask("E").flag_at("A", 8).bit_bound(8).build(), bits("A")),
        (DynamicType::bitset("E").field("a", 60).field("b", 5).build(), bits("b")),
        (DynamicType::sequence(long()).bound(0).build(), TypeError::ZeroBound { ty: ty("sequence") }),
        (
            DynamicType::map(DynamicType::float32(), long()).build(),
            TypeError::WrongKind { ty: ty("map"), needed: "keys that are integers, bools, chars, strings or enums" },
        ),
        (DynamicType::union("U", color()).case("a", &[2], long()).build(), label("a")),
        (DynamicType::union("U", long()).case("a", &[], long()).build(), label("a")),
        (DynamicType::union("U", long()).case("a", &[1], long()).case("b", &[1], long()).build(), label("b")),
        (
            DynamicType::union("U", DynamicType::string()).case("a", &[1], long()).build(),
            TypeError::WrongKind {
                ty: ty("U"),
                needed: "a discriminator that is an integer, bool, char, enum or bitmask",
            },
        ),
        (
            DynamicType::union("U", long()).extensibility(Extensibility::Mutable).case("a", &[1], long()).id(0).build(),
            id("U", "a", 0),
        ),
    ];
    for (made, error) in cases {
        assert_eq!(made, Err(error));
    }
}

#[test]
fn types_with_equal_parts_are_equal() {
    let make = |name: &str, member: &str| DynamicType::structure(name).member(member, long()).build().unwrap();
    assert_eq!(make("A", "x"), make("A", "x"));
    assert_ne!(make("A", "x"), make("B", "x"));
    assert!(make("A", "x").is_encoded_like(&make("B", "x")));
    assert!(!make("A", "x").is_encoded_like(&make("A", "y")));
    let alias = DynamicType::alias("Meters", DynamicType::float64()).build().unwrap();
    assert_eq!(alias.resolved().kind(), DynamicKind::Primitive(PrimitiveKind::Float64));
    assert!(alias.is_encoded_like(&DynamicType::float64()) && alias != DynamicType::float64());
}

#[test]
fn type_of_two_members_is_declared_once() {
    let point = || DynamicType::structure("geo::Point").member("x", DynamicType::float64()).build().unwrap();
    let line = DynamicType::structure("Line")
        .member("from", point())
        .member("to", point())
        .member("between", DynamicType::sequence(point()))
        .build()
        .unwrap();
    let idl = line.to_string();
    assert_eq!(idl.matches("struct Point").count(), 1, "{idl}");
    assert_eq!(idl.matches("geo::Point").count(), 3, "{idl}");
}
