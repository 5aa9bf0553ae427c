//! Structs, unions, enums and bit sets: their members, ids, values and bounds.

use super::{Options, accept, accept_silently, member_types, parse_text, refusal, refuse, structure, union, warn};
use crate::model::{AutoIdKind, DefinitionKind, Extensibility, member_id_hash};

#[test]
fn all_types_are_read() {
    let found = accept_silently(
        "module m { enum E { A }; };
        typedef long Row[3], Grid[2][4];
        const long N = 2;
        struct S {
            boolean a; octet b; char c; wchar d; short e; unsigned short f; long g; unsigned long h; long long i;
            unsigned long long j; int8 k; uint8 l; int16 m1; uint16 n; int32 o; uint32 p; int64 q; uint64 r;
            float s1; double t; long double u; string v; string<N * 4> w; wstring<7> x; sequence<m::E> y;
            sequence<sequence<string<3>>, 5> z; map<string, double, 9> aa; Row bb; ::m::E cc[2][N], dd;
        };",
    );
    let expected = [
        "boolean",
        "octet",
        "char",
        "wchar",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float",
        "double",
        "long double",
        "string",
        "string<8>",
        "wstring<7>",
        "sequence<m::E>",
        "sequence<sequence<string<3>>, 5>",
        "map<string, double, 9>",
        "Row",
        "m::E[2][2]",
        "m::E",
    ];
    assert_eq!(member_types(&found, "S"), expected);
    assert_eq!(structure(&found, "S").extensibility, Extensibility::Appendable);
}

#[test]
fn recursion_needs_an_indirection() {
    let found = accept_silently(
        "struct Node; typedef sequence<Node> Nodes;
        struct Node { long value; Nodes children; @external Node next; @optional Node other; };
        union Tree switch (long) { case 1: long leaf; case 2: sequence<Tree> trees; };",
    );
    assert_eq!(member_types(&found, "Node"), ["int32", "Nodes", "Node", "Node"]);
    refuse("struct A { A a; };", "1:12: `A` contains itself, and would have an infinite size");
    refuse("struct A; struct B { A a; }; struct A { long x; };", "1:22: `A` is used before its definition");
    refuse("struct A; struct B { sequence<A> a; };", "1:8: `A` is declared, but not defined");
    warn("struct A;", "1:8: `A` is declared, but not defined");
}

#[test]
fn struct_inheritance_resolves_typedefs() {
    let found = accept_silently("struct A { long a; }; typedef A T; struct B : T { long b; };");
    assert_eq!(structure(&found, "B").base, found.find("A"));
    let found =
        accept_silently("@mutable struct A { long a; }; struct B : A { long b; }; @final struct C { long c; };");
    assert_eq!(structure(&found, "B").extensibility, Extensibility::Mutable);
    refuse("enum E { X }; struct B : E { long b; };", "1:26: the base `E` is an enum, not a struct");
    let text = "struct A { long a; }; struct B : A { long b; }; struct C : B { long c, a; };";
    refuse(text, "1:72: the base has a member `a` already");
    refuse("struct B : Missing { long b; };", "1:12: cannot find struct `Missing`");
}

#[test]
fn inline_type_is_accepted_with_a_warning() {
    let found =
        warn("struct A { enum Kind { X, Y } sort; };", "1:12: a type inside of another definition is not standard IDL");
    assert_eq!(member_types(&found, "A"), ["A::Kind"]);
}

/// CORBA 2 has the definition of an enum as a type of a discriminator. JacORB names its enumerators by the union.
#[test]
fn enum_inside_of_a_switch_is_in_the_scope_of_its_union() {
    let text = "module m {
            union A switch (enum Color { BLACK, WHITE }) { case ::m::A::WHITE: long x; case BLACK: A::Color y; };
            union B switch (enum Color { WHITE, BLACK }) { case B::WHITE: long x; };
        };";
    let found = accept(text);
    assert_eq!(found.diagnostics.iter().count(), 2, "a warning for each enum");
    assert_eq!(found.type_name(&union(&found, "m::A").branches[1].member.ty), "m::A::Color");
    assert_eq!(union(&found, "m::A").branches[0].labels, [1]);
    assert_eq!(union(&found, "m::B").branches[0].labels, [0]);
    let text = "module m { enum Color { WHITE }; union A switch (Color) { case A::WHITE: long x; }; };";
    refuse(text, "1:67: cannot find constant `WHITE`");
    // A name is no suggestion for itself.
    assert!(!refusal(text).to_string().contains("did you mean `WHITE`"));
}

#[test]
fn wrong_bound_is_refused() {
    refuse("struct A { string<0> a; };", "1:19: the bound 0 is not in the range 1 to 4294967295");
    refuse("struct A { sequence<long, -1> a; };", "1:27: the bound -1 is not in the range 1 to 4294967295");
    refuse("struct A { long a[0]; };", "1:19: the length 0 is not in the range 1 to 4294967295");
    refuse("struct A { long a[]; };", "1:18: an array needs a length");
    refuse("struct A { long a[65536][65536]; };", "1:26: the array has more than 2^32 - 1 elements");
    refuse("struct A { map<float, long> a; };", "1:16: `float` cannot be the key of a map");
    // The code and dynamic types have no such keys either.
    refuse("bitmask B { X }; struct A { map<B, long> a; };", "1:33: `B` cannot be the key of a map");
    refuse("struct A { long *a; };", "1:17: IDL has no pointers");
    refuse("struct A { void a; };", "1:12: `void` is only the result of an operation");
    refuse("struct A { unsigned float a; };", "1:21: expected `short` or `long` after `unsigned`, found `float`");
}

#[test]
fn member_ids_follow_their_annotations() {
    let found = accept_silently(
        "struct A { long a; @id(7) long b; long c; @hashid long d; @hashid(\"color\") long e; };
        struct B : A { long f; };
        @autoid(HASH) struct C { long color; };
        @autoid struct D { long color; };
        union U switch (long) { case 1: long a; case 2: long b; };",
    );
    let ids = |name: &str| structure(&found, name).members.iter().map(|member| member.id).collect::<Vec<_>>();
    let hash = member_id_hash;
    assert_eq!(ids("A"), [0, 7, 8, hash("d"), hash("color")]);
    assert_eq!(ids("B"), [hash("color") + 1]);
    assert_eq!((ids("C"), ids("D")), (vec![hash("color")], vec![hash("color")]));
    assert_eq!(structure(&found, "C").auto_id, AutoIdKind::Hash);
    let branches: Vec<u32> = union(&found, "U").branches.iter().map(|branch| branch.member.id).collect();
    assert_eq!(branches, [1, 2]);
    refuse("struct A { @id(1) long a; @id(1) long b; };", "1:39: the members `a` and `b` have the id 1");
    refuse("struct A { @id(0x10000000) long a; };", "1:16: `@id` 268435456 is not in the range 0 to 268435455");
    refuse("struct A { @id long a; };", "1:12: `@id` needs the argument `value`");
}

#[test]
fn member_of_a_derived_struct_has_a_new_id() {
    let bases = "struct A { @id(7) long a; long b; }; struct B : A { }; ";
    let found = accept(&format!("{bases}struct C : B {{ long c; }};"));
    assert_eq!(structure(&found, "C").members[0].id, 9);
    refuse(&format!("{bases}struct C : B {{ @id(7) long c; }};"), "1:83: the members `a` and `c` have the id 7");
}

#[test]
fn ids_of_many_derived_structs_take_linear_time() {
    let members: String = (0..10_000).map(|n| format!("long m{n}; ")).collect();
    let derived: String = (0..10_000).map(|n| format!("struct D{n} : Base {{ long own; }};\n")).collect();
    let found = accept(&format!("struct Base {{ {members} }};\n{derived}"));
    assert_eq!(structure(&found, "D9999").members[0].id, 10_000);
}

#[test]
fn union_labels_are_values() {
    let found = accept_silently(
        "enum Color { RED, @value(5) GREEN, BLUE };
        union A switch (Color) { case RED: case Color::BLUE: long a; default: string b; };
        union B switch (char) { case 'a': long a; case '\\n': short b; };
        union C switch (@key boolean) { case TRUE: long a; case FALSE: short b; };
        typedef octet Byte;
        union D switch (Byte) { case 1 + 1: long a; case 0xff: short b; };",
    );
    let labels = |name: &str| {
        union(&found, name).branches.iter().map(|branch| (branch.labels.clone(), branch.is_default)).collect::<Vec<_>>()
    };
    assert_eq!(labels("A"), [(vec![0, 6], false), (vec![], true)]);
    assert_eq!(labels("B"), [(vec![97], false), (vec![10], false)]);
    assert_eq!(labels("C"), [(vec![1], false), (vec![0], false)]);
    assert_eq!(labels("D"), [(vec![2], false), (vec![255], false)]);
    assert!(union(&found, "C").discriminator.annotations.is_key());
}

#[test]
fn wrong_union_is_refused() {
    refuse("union U switch (float) { case 1: long a; };", "1:17: `float` cannot be a discriminator");
    refuse("union U switch (long) { case 1: long a; case 1: long b; };", "1:46: the label 1 appears twice");
    refuse(
        "union U switch (boolean) { case 2: long a; };",
        "1:33: expected a value of type `boolean`, found an integer",
    );
    let all = "union U switch (boolean) { case TRUE: long a; case FALSE: long b; default: long c; };";
    warn(all, "1:67: `default` never applies: the labels cover all values");
    refuse("union U switch (long) { default: long a; default: long b; };", "1:42: a union has one `default`");
    refuse("union U switch (long) { };", "1:7: a union needs at least one branch");
    refuse("union U { case 1: long a; };", "1:9: expected `switch` after the name of the union, found `{`");
    refuse("union U switch (octet) { case 256: long a; };", "1:31: 256 is not in the range of `octet`: 0 to 255");
    refuse("union U switch (long) { case 1: @key long a; };", "1:33: `@key` does not apply to a member of a union");
}

/// OpenDDS accepts it, because it reads the members in their order and not by their ids.
#[test]
fn member_0_of_a_mutable_union_is_refused() {
    let text = "@mutable union U switch (long) { case 1: @id(0) long a; case 2: long b; };";
    refuse(text, "1:54: the member `a` has the id 0, which is that of the discriminator");
    let error = refusal(text).to_string();
    assert!(error.contains("a mutable union sends its discriminator as member 0 (XTypes 1.3, 7.4.3.5.3)"), "{error}");
    assert!(error.contains("give the member another `@id`, or make the union `@appendable`"), "{error}");
    // Other unions send no ids, and Cyclone DDS counts from 0.
    let counted = |extensibility: &str, options: &Options| {
        let text = format!("{extensibility} union U switch (long) {{ case 1: long a; case 2: long b; }};");
        let found = parse_text("a.idl", &text, options).ok()?;
        Some(union(&found, "U").branches.iter().map(|branch| branch.member.id).collect::<Vec<_>>())
    };
    let from_0 = Options { first_union_id: 0, ..Options::default() };
    assert_eq!(counted("@appendable", &from_0), Some(vec![0, 1]));
    assert_eq!(counted("@mutable", &Options::default()), Some(vec![1, 2]));
    assert_eq!(counted("@mutable", &from_0), None);
    accept_silently("@appendable union U switch (long) { case 1: @id(0) long a; };");
}

/// XTypes 1.3, 7.2.2.4.4.3 does not list bitmasks. `idlc` of Cyclone DDS accepts them after 11.0.1. Older ones and
/// Fast DDS do not.
#[test]
fn bitmask_discriminator_is_accepted_with_a_warning() {
    let text = "bitmask M { A, @position(4) B }; union U switch (M) { case A: long a; case M::B: long b; };";
    let found = warn(text, "1:50: a bitmask as a discriminator is not standard IDL");
    let labels: Vec<i64> = union(&found, "U").branches.iter().flat_map(|branch| branch.labels.clone()).collect();
    assert_eq!(labels, [1, 16]);
}

#[test]
fn enum_values_count_on() {
    let found = accept_silently("@bit_bound(8) enum E { A, @value(10) B, @default_literal C }; const E X = B;");
    let DefinitionKind::Enum(e) = &found.definition(found.find("E").unwrap()).kind else { panic!("no enum") };
    let values: Vec<i32> = e.enumerators.iter().map(|enumerator| enumerator.value).collect();
    assert_eq!((values, e.bit_bound, e.default_index()), (vec![0, 10, 11], 8, 2));
    warn("enum E { A = 3, B };", "1:12: `=` in an enum is not standard IDL");
    let found = accept("enum E { A = 0xFFFFFFFF, B = 1 };");
    let DefinitionKind::Enum(e) = &found.definition(found.find("E").unwrap()).kind else { panic!("no enum") };
    assert_eq!(e.enumerators[0].value, -1);
    let warning = found.diagnostics.iter().next().unwrap().one_line(&found.sources);
    assert!(warning.contains("1:14: warning: the value 4294967295 of an enumerator is not standard IDL"), "{warning}");
    let error = refusal("enum E { A = 0x100000000 };").to_string();
    assert!(error.contains("the value 4294967296 is not in the range -2147483648 to 4294967295"), "{error}");
    refuse("enum E { A, @value(0) B };", "1:23: the value 0 appears twice");
    refuse("@bit_bound(8) enum E { @value(128) A };", "1:36: the value 128 does not fit in 8 bits");
    refuse("@bit_bound(33) enum E { A };", "1:21: the bit bound 33 is larger than 32");
    refuse("enum E { };", "1:6: an enum needs at least one enumerator");
    refuse("enum E { @key A };", "1:10: `@key` does not apply to an enumerator");
    let text = "enum E { @default_literal A, B, @default_literal C };";
    refuse(text, "1:50: the enum has the default `A` already");
}

#[test]
fn enum_or_bitmask_is_final_or_appendable() {
    warn("@mutable enum E { A };", "1:1: an enum cannot be mutable");
    warn("@extensibility(MUTABLE) bitmask M { A };", "1:1: a bitmask cannot be mutable");
    let found = accept("@mutable enum E { A };");
    let DefinitionKind::Enum(e) = &found.definition(found.find("E").unwrap()).kind else { panic!("no enum") };
    assert_eq!(e.extensibility, Extensibility::Appendable);
    let warning = found.diagnostics.render(&found.sources, false);
    assert!(warning.contains("is final or appendable (XTypes 1.3, 7.2.3)"), "{warning}");
    accept_silently("@final enum E { A }; @appendable bitmask M { B };");
}

#[test]
fn bitmask_and_bitset_have_positions() {
    let found = accept_silently(
        "@bit_bound(16) bitmask M { a, @position(4) b, c };
        bitset Base { bitfield<3> a; bitfield<1> ; };
        bitset B : Base { bitfield<10, short> b; bitfield<2> c d; };",
    );
    let DefinitionKind::Bitmask(m) = &found.definition(found.find("M").unwrap()).kind else { panic!("no bitmask") };
    assert_eq!(m.flags.iter().map(|flag| flag.position).collect::<Vec<_>>(), [0, 4, 5]);
    let DefinitionKind::Bitset(b) = &found.definition(found.find("B").unwrap()).kind else { panic!("no bitset") };
    let fields: Vec<(u8, u8)> = b.fields.iter().map(|field| (field.position, field.bit_count)).collect();
    assert_eq!(fields, [(4, 10), (14, 2), (16, 2)]);
    refuse("@bit_bound(2) bitmask M { a, b, c };", "1:33: the position 2 is not in a bitmask of 2 bits");
    refuse("bitmask M { @position(1) a, @position(1) b };", "1:42: the position 1 appears twice");
    refuse("bitmask M { };", "1:9: a bitmask needs at least one flag");
    refuse("bitset B { bitfield<40> a; bitfield<25> b; };", "1:37: a bitset has at most 64 bits");
    refuse("bitset B { bitfield<9, octet> a; };", "1:24: 9 bits do not fit in `octet`");
    refuse("bitset B { bitfield<9, float> a; };", "1:24: `float` cannot be the type of a bitfield");
    refuse("struct S { long a; }; bitset B : S { bitfield<1> a; };", "1:34: the base `S` is not a bitset");
}

/// `Sequence.idl` of OpenSplice's tests for Python.
#[test]
fn capital_of_a_sequence_is_accepted_with_a_warning() {
    let found = warn("struct A { Sequence<long, 3> a; };", "1:12: the keyword `Sequence` is not standard IDL");
    assert_eq!(member_types(&found, "A"), ["sequence<int32, 3>"]);
    refuse("struct A { Sequence a; };", "1:12: cannot find type `Sequence`");
}

/// `EntityPayload.idl` of the OMG's TACSIT data exchange.
#[test]
fn capital_of_a_string_is_accepted_with_a_warning() {
    warn("struct A { String a; };", "1:12: the keyword `String` is not standard IDL");
    let found = accept("struct A { String a; String<3> b; sequence<String> c; };");
    assert_eq!(member_types(&found, "A"), ["string", "string<3>", "sequence<string>"]);
    // A definition of the text comes first, as the messages of ROS have it.
    let found = accept("module m { struct String { long a; }; struct A { String a; m::String b; }; };");
    assert_eq!(member_types(&found, "m::A"), ["m::String", "m::String"]);
    refuse("struct A { String::B a; };", "1:12: cannot find type `String`");
    refuse("struct A { Boolean a; };", "1:12: cannot find type `Boolean`");
}

#[test]
fn types_of_vendors_are_accepted() {
    let found = accept("struct S { uint32_t a; int64_t b; u8 c; };");
    assert_eq!(member_types(&found, "S"), ["uint32", "int64", "uint8"]);
    warn("struct S { uint32_t a; };", "1:12: the type `uint32_t` is not standard IDL");
    warn("union U switch (u8) { case 1: long a; };", "1:17: the type `u8` is not standard IDL");
    // A definition of the text comes first.
    let found = accept_silently("typedef octet u8; struct S { u8 a; };");
    assert_eq!(member_types(&found, "S"), ["u8"]);
}

#[test]
fn value_of_a_flag_is_refused_with_its_position() {
    let text = "bitmask B { A = 4 };";
    refuse(text, "1:15: a flag of a bitmask has a position, and no value (IDL 4.2, 7.4.13.4.3.3)");
    assert!(refusal(text).to_string().contains("write `@position(2) A` for the value 4"));
    let text = "bitmask B { @value(4) A };";
    refuse(text, "1:13: `@value` does not apply to a flag of a bitmask");
    assert!(refusal(text).to_string().contains("write `@position` with the number of the bit"));
}

#[test]
fn declaration_and_definition_have_one_kind() {
    refuse("union I; interface I { };", "1:20: `I` is a union, and here an interface");
    refuse("struct A; enum A { B };", "1:16: `A` is a struct, and here an enum");
    refuse("struct A { long x; }; union A;", "1:29: `A` is a struct, and here a union");
    accept_silently("struct A; struct A; struct A { long x; }; struct A;");
}

#[test]
fn constant_in_a_struct_is_accepted_with_a_warning() {
    let text = "struct A { long x; const string unit = \"km\"; };";
    let found = warn(text, "1:20: a constant in a struct is not standard IDL");
    assert_eq!(member_types(&found, "A"), ["int32"]);
}
