//! Accepted texts, and the message of each refusal.

use super::{Options, parse_text};
use crate::model::{
    AutoIdKind, BasicType, ConstantValue, DataType, DefinitionKind, Extensibility, FixedPoint, IncorrectSource,
    Specification, StructDefinition, UnionDefinition,
};

fn accept(text: &str) -> Specification {
    match parse_text("test.idl", text, &Options::default()) {
        Ok(specification) => specification,
        Err(error) => panic!("{error}"),
    }
}

/// Accepts a text without a warning.
fn accept_silently(text: &str) -> Specification {
    let specification = accept(text);
    let warnings = specification.diagnostics.render(&specification.sources, false);
    assert!(warnings.is_empty(), "{warnings}");
    specification
}

fn refusal(text: &str) -> IncorrectSource {
    parse_text("test.idl", text, &Options::default()).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

/// Refuses a text with exactly one error: `line:column: message`.
fn refuse(text: &str, expected: &str) {
    let error = refusal(text);
    let errors: Vec<String> = error
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.one_line(&error.sources))
        .filter(|line| line.contains(": error: "))
        .map(|line| line.replacen("test.idl:", "", 1).replacen("error: ", "", 1))
        .collect();
    assert_eq!(errors, [expected], "\n{error}");
}

/// Accepts a text with exactly one warning: `line:column: message`.
fn warn(text: &str, expected: &str) -> Specification {
    let specification = accept(text);
    let warnings: Vec<String> = specification
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.one_line(&specification.sources))
        .map(|line| line.replacen("test.idl:", "", 1).replacen("warning: ", "", 1))
        .collect();
    assert_eq!(warnings, [expected]);
    specification
}

fn structure<'s>(specification: &'s Specification, name: &str) -> &'s StructDefinition {
    let id = specification.find(name).unwrap_or_else(|| panic!("no `{name}`"));
    match &specification.definition(id).kind {
        DefinitionKind::Struct(found) => found,
        other => panic!("`{name}` is {}", other.description()),
    }
}

fn union<'s>(specification: &'s Specification, name: &str) -> &'s UnionDefinition {
    let id = specification.find(name).unwrap_or_else(|| panic!("no `{name}`"));
    match &specification.definition(id).kind {
        DefinitionKind::Union(found) => found,
        other => panic!("`{name}` is {}", other.description()),
    }
}

fn constant(text: &str) -> ConstantValue {
    let specification = accept(text);
    let found = specification.definitions().filter_map(|(_, definition)| match &definition.kind {
        DefinitionKind::Constant(constant) => Some(constant.value.clone()),
        _ => None,
    });
    found.last().unwrap_or_else(|| panic!("no constant"))
}

/// The types of the members of a struct as IDL.
fn member_types(specification: &Specification, name: &str) -> Vec<String> {
    structure(specification, name).members.iter().map(|member| specification.type_name(&member.ty)).collect()
}

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
fn names_are_searched_from_inside_to_outside() {
    let found = accept_silently(
        "struct T { long a; };
        module a { struct T { short a; }; module b { struct S { T inner; ::T outer; a::T same; }; }; };
        module a { module b { struct Later { S s; }; }; };",
    );
    assert_eq!(member_types(&found, "a::b::S"), ["a::T", "T", "a::T"]);
    assert_eq!(member_types(&found, "a::b::Later"), ["a::b::S"]);
    let module = found.find("a").unwrap();
    assert_eq!(found.children(module).len(), 2);
}

#[test]
fn unknown_name_gets_a_suggestion() {
    refuse("struct Pose { double x; };\nstruct Arm { Poze pose; };", "2:14: cannot find type `Poze`");
    assert!(refusal("struct Pose {double x;}; struct A { Poze p; };").to_string().contains("did you mean `Pose`?"));
    assert!(refusal("struct A { int x; };").to_string().contains("write `int32`"));
    refuse("module m {}; struct A { m::X x; };", "1:28: cannot find type `X`");
    refuse("struct A { double x; }; struct B { A::x y; };", "1:36: `x` is a member, not a type");
    refuse("module m { }; struct A { m x; };", "1:26: `m` is a module, not a type");
    refuse("const long N = 1; struct A { N x; };", "1:30: `N` is a constant, not a type");
    refuse("typedef long L; struct A { L::x y; };", "1:28: `L` contains no names");
}

#[test]
fn name_twice_is_refused() {
    refuse("struct A { long x; };\nstruct A { long x; };", "2:8: `A` is defined twice");
    refuse("struct A { long x; short x; };", "1:26: `x` is defined twice");
    refuse("struct A { long x; short X; };", "1:26: `X` differs from `x` only in case");
    refuse("struct Pose { long x; }; struct B { pose p; };", "1:37: `pose` is spelled `Pose` in its definition");
    refuse("enum A { X, Y, X };", "1:16: `X` is defined twice");
    refuse("struct X { long y; }; enum B { X };", "1:32: `X` is defined twice");
    let options = Options { case_sensitive: true, ..Options::default() };
    assert!(parse_text("a.idl", "struct A { long x; short X; };", &options).is_ok());
}

#[test]
fn escaped_name_has_no_underscore() {
    let found = accept_silently("struct _module { long _struct; _module2 x; }; ".replace("_module2", "long").as_str());
    assert_eq!(&*structure(&found, "module").members[0].name, "struct");
    let found = accept_silently("struct _union { long a; }; struct B { _union u; };");
    assert_eq!(member_types(&found, "B"), ["union"]);
}

#[test]
fn keyword_as_a_name_is_accepted_with_a_warning() {
    let expected = "1:17: the keyword `map` as a name is not standard IDL";
    warn("struct A { long map; };", expected);
    let expected = "1:17: the name `Port`, which differs from the keyword `port` only in case, is not standard IDL";
    warn("struct A { long Port; };", expected);
}

#[test]
fn missing_semicolon_is_shown_at_the_end_of_its_line() {
    refuse("struct A {\n  long x\n  long y;\n};", "2:8: expected `;` after the member, found `long`");
    refuse("struct A { long x; }", "1:20: expected `;` after the struct, found the end of the file");
    refuse("module m { struct A { long x; };", "1:33: the module has no `}`");
    refuse("struct A { long x; }; };", "1:23: this `}` has no `{`");
    refuse("long x;", "1:1: expected a definition, found `long`");
    assert!(refusal("struc A { long x; };").to_string().contains("did you mean `struct`?"));
}

#[test]
fn each_wrong_member_gets_its_error() {
    let error = refusal("struct A {\n  Foo a;\n  long b;\n  long b;\n  string<0> c;\n};\nstruct B { A a; };");
    let lines: Vec<u32> = error.diagnostics.iter().map(|found| error.sources.position(found.span()).line).collect();
    assert_eq!(lines, [2, 4, 5]);
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
fn member_ids_follow_their_annotations() {
    let found = accept_silently(
        "struct A { long a; @id(7) long b; long c; @hashid long d; @hashid(\"color\") long e; };
        struct B : A { long f; };
        @autoid(HASH) struct C { long color; };
        @autoid struct D { long color; };
        union U switch (long) { case 1: long a; case 2: long b; };",
    );
    let ids = |name: &str| structure(&found, name).members.iter().map(|member| member.id).collect::<Vec<_>>();
    let hash = crate::model::member_id_hash;
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
fn struct_inheritance_resolves_typedefs() {
    let found = accept_silently("struct A { long a; }; typedef A T; struct B : T { long b; };");
    assert_eq!(structure(&found, "B").base, found.find("A"));
    let found =
        accept_silently("@mutable struct A { long a; }; struct B : A { long b; }; @final struct C { long c; };");
    assert_eq!(structure(&found, "B").extensibility, Extensibility::Mutable);
    refuse("enum E { X }; struct B : E { long b; };", "1:26: the base `E` is an enum, not a struct");
    refuse("struct B : Missing { long b; };", "1:12: cannot find struct `Missing`");
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

#[test]
fn enum_values_count_on() {
    let found = accept_silently("@bit_bound(8) enum E { A, @value(10) B, @default_literal C }; const E X = B;");
    let DefinitionKind::Enum(e) = &found.definition(found.find("E").unwrap()).kind else { panic!("no enum") };
    let values: Vec<i32> = e.enumerators.iter().map(|enumerator| enumerator.value).collect();
    assert_eq!((values, e.bit_bound, e.default_index()), (vec![0, 10, 11], 8, 2));
    warn("enum E { A = 3, B };", "1:12: `=` in an enum is not standard IDL");
    refuse("enum E { A, @value(0) B };", "1:23: the value 0 appears twice");
    refuse("@bit_bound(8) enum E { @value(128) A };", "1:36: the value 128 does not fit in 8 bits");
    refuse("@bit_bound(33) enum E { A };", "1:21: the bit bound 33 is larger than 32");
    refuse("enum E { };", "1:6: an enum needs at least one enumerator");
    refuse("enum E { @key A };", "1:10: `@key` does not apply to an enumerator");
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

#[test]
fn constants_are_evaluated() {
    let integer = |text: &str| constant(text).as_integer();
    assert_eq!(integer("const long A = 1 + 2 * 3 - 8 / 2 % 3;"), Some(6));
    assert_eq!(integer("const long A = (1 | 6) & ~2 ^ 1 << 3;"), Some(13));
    assert_eq!(integer("const long A = -(-3) + +2;"), Some(5));
    assert_eq!(integer("const unsigned long A = ~0;"), Some(0xffff_ffff));
    assert_eq!(integer("const uint64 A = 0xFFFFFFFFFFFFFFFF;"), Some(0xffff_ffff_ffff_ffff));
    assert_eq!(integer("const int64 A = -9223372036854775808;"), Some(i64::MIN.into()));
    assert_eq!(integer("const long A = 0x10 >> 2; const long B = A * 010;"), Some(32));
    assert_eq!(constant("const float A = 1.5e3;"), ConstantValue::Float(1500.0));
    assert_eq!(constant("const double A = 1 / 4.0;"), ConstantValue::Float(0.25));
    assert_eq!(constant("const boolean A = TRUE;"), ConstantValue::Bool(true));
    assert_eq!(constant("const char A = '\\x41';"), ConstantValue::Char('A'));
    assert_eq!(constant("const wchar A = L'\\u20ac';"), ConstantValue::WChar('€'));
    assert_eq!(constant("const string A = \"a\" \"b\";"), ConstantValue::String("ab".into()));
    assert_eq!(constant("const wstring A = L\"a\";"), ConstantValue::WString("a".into()));
    assert_eq!(constant("enum E { X, Y }; const E A = E::Y;").as_integer(), None);
    assert!(matches!(constant("const fixed A = 1.25d;"), ConstantValue::Fixed(_)));
}

#[test]
fn fixed_point_constant_without_its_suffix_keeps_its_digits() {
    for (text, digits, scale) in [
        ("const fixed A = -1.25;", -125, 2),
        ("const fixed A = -1.50;", -150, 2),
        ("const fixed A = 12345678901234567890.25;", 1_234_567_890_123_456_789_025, 2),
        ("const fixed A = 0.5 + 1.0;", 15, 1),
        ("const fixed A = 1.5e3;", 1500, 0),
    ] {
        let found = warn(text, "1:17: a fixed-point number without its suffix is not standard IDL");
        let id = found.find("A").unwrap();
        let DefinitionKind::Constant(constant) = &found.definition(id).kind else { panic!("no constant") };
        assert_eq!(constant.value, ConstantValue::Fixed(FixedPoint { digits, scale }), "{text}");
    }
    let message = "a fixed-point number without its suffix has too many digits here";
    refuse("const fixed A = 0.1 + 0.2;", &format!("1:17: {message}"));
    refuse("const fixed A = 12345678901234567890123456789012.5;", &format!("1:17: {message}"));
}

#[test]
fn wrong_constant_is_refused() {
    refuse("const octet A = 256;", "1:17: 256 is not in the range of `octet`: 0 to 255");
    refuse("const short A = -32769;", "1:17: -32769 is not in the range of `int16`: -32768 to 32767");
    refuse("const unsigned long A = -1;", "1:25: -1 is not in the range of `uint32`: 0 to 4294967295");
    refuse("const long A = 1 / 0;", "1:20: division by zero");
    refuse("const long A = 1 << 64;", "1:16: a shift by 64 is not in the range 0 to 63");
    refuse("const uint64 A = 0xFFFFFFFFFFFFFFFF * 2;", "1:18: the result does not fit in 64 bits");
    refuse("const long A = 1.5;", "1:16: expected a value of type `int32`, found a floating-point number");
    refuse("const long A = \"1\";", "1:16: expected a value of type `int32`, found a string");
    refuse("const long A = B;", "1:16: cannot find constant `B`");
    refuse("const float A = 1e39;", "1:17: 1000000000000000000000000000000000000000 is not in the range of `float`");
    refuse("const string<2> A = \"abc\";", "1:21: the string has the length 3, and its type has the bound 2");
    refuse("const char A = 'ab';", "1:16: expected one character in quotes");
    refuse("const char A = '\\q';", "1:16: unknown escape sequence `\\q`");
    refuse("const string A = \"a\\0\";", "1:18: a string cannot contain the character NUL");
    refuse("const long A = 09;", "1:16: `09` is not a number");
    refuse("struct S { long a; }; const S A = 1;", "1:29: `S` cannot be the type of a constant");
    refuse("const long A = ;", "1:16: expected a constant expression, found `;`");
    refuse(
        "enum E { X }; enum F { Y }; const E A = Y;",
        "1:41: expected a value of type `E`, found an enumerator of `F`",
    );
    refuse("const long A = 1.5 | 2;", "1:16: `|` needs integers");
    refuse("const long A = -TRUE;", "1:16: `-` needs a number, not a boolean");
}

#[test]
fn wrong_bound_is_refused() {
    refuse("struct A { string<0> a; };", "1:19: the bound 0 is not in the range 1 to 4294967295");
    refuse("struct A { sequence<long, -1> a; };", "1:27: the bound -1 is not in the range 1 to 4294967295");
    refuse("struct A { long a[0]; };", "1:19: the length 0 is not in the range 1 to 4294967295");
    refuse("struct A { long a[]; };", "1:18: an array needs a length");
    refuse("struct A { long a[65536][65536]; };", "1:26: the array has more than 2^32 - 1 elements");
    refuse("struct A { map<float, long> a; };", "1:16: `float` cannot be the key of a map");
    refuse("struct A { long *a; };", "1:17: IDL has no pointers");
    refuse("struct A { void a; };", "1:12: `void` is only the result of an operation");
    refuse("struct A { unsigned float a; };", "1:21: expected `short` or `long` after `unsigned`, found `float`");
}

#[test]
fn types_that_are_not_data_are_refused_in_members() {
    refuse("struct A { any a; };", "1:12: `any` is not data of a DDS topic");
    refuse("struct A { fixed<5, 2> a; };", "1:12: `fixed` is not data of a DDS topic");
    refuse("interface I { void f(); }; struct A { I i; };", "1:39: `I` is an interface, which is not data");
    let text = "valuetype V { public long x; }; struct A { sequence<V> i; };";
    refuse(text, "1:44: `V` is a valuetype, which is not data");
    let expected = "1:11: `V` is a valuetype, which is not data";
    warn("valuetype V { public long x; factory f(in long a); };", expected);
    warn("component C { provides I i; };", "1:11: `C` is a component, which is not data");
}

#[test]
fn interface_has_operations_and_attributes() {
    let found = accept_silently(
        "exception Wrong { string why; };
        interface Base { typedef long Number; void reset(); };
        @service interface Robot : Base {
            readonly attribute Number count, total;
            attribute string name setraises (Wrong);
            /* moves */ Number move(in double x, inout double y, out boolean done) raises (Wrong);
            oneway void stop();
        };",
    );
    let robot = found.definition(found.find("Robot").unwrap());
    let DefinitionKind::Interface(interface) = &robot.kind else { panic!("no interface") };
    assert!(robot.annotations.is_service());
    let names: Vec<&str> = interface.operations.iter().map(|operation| &*operation.name).collect();
    assert_eq!(names, ["move", "stop"]);
    assert_eq!(interface.operations[0].parameters.len(), 3);
    assert_eq!(interface.operations[0].raises, [found.find("Wrong").unwrap()]);
    assert_eq!(interface.operations[0].doc.as_deref(), Some("moves"));
    assert!(interface.operations[1].is_one_way);
    assert_eq!(interface.attributes.len(), 3);
    warn("interface I { void f(long a); };", "1:22: a parameter without a direction is not standard IDL");
    refuse("interface I { void f(5); };", "1:22: expected `in`, `out` or `inout`, found `5`");
    let text = "interface I { oneway long f(); };";
    refuse(text, "1:27: a oneway operation has no result, and no `out` parameters");
    refuse("interface I { void f(in long a, in long A); };", "1:41: the parameter `A` is defined twice");
    refuse("struct S { long a; }; interface I : S { };", "1:37: `S` is not an interface");
    refuse("module M<typename T> { struct S { T a; }; };", "1:8: `M` is a template module, which has no types");
}

#[test]
fn annotations_are_typed() {
    let found = accept_silently(
        "@mutable @nested(FALSE) @topic(name=\"T\", platform=\"DDS\") @data_representation(XCDR1|XCDR2)
        @verbatim(language=\"c\", placement=BEFORE_DECLARATION, text=\"x\")
        struct A {
            @key @must_understand @id(3) long a;
            @optional @default(5) @range(min=0, max=10) @unit(\"m\") long b;
            @external @try_construct(TRIM) string<5> c;
            sequence<@external @try_construct(USE_DEFAULT) string> d;
            @min(-1.5) @max(1.5) double e;
            @non_serialized long f;
        };
        @extensibility(FINAL) struct B { long a; };
        @appendable @nested struct C { long a; };
        @default_nested module m { struct D { long a; }; @topic struct E { long a; }; };",
    );
    let a = structure(&found, "A");
    assert_eq!((a.extensibility, a.is_nested), (Extensibility::Mutable, false));
    assert!(a.members[0].is_key() && a.members[0].must_understand() && a.members[0].id == 3);
    assert!(a.members[1].is_optional());
    assert_eq!(a.members[1].default_value(), Some(&ConstantValue::Integer(5)));
    assert_eq!(a.members[1].annotations.max(), Some(&ConstantValue::Integer(10)));
    assert_eq!(a.members[1].annotations.unit(), Some("m"));
    assert_eq!(a.members[2].try_construct(), crate::model::TryConstruct::Trim);
    let DataType::Sequence { element, .. } = &a.members[3].ty else { panic!("no sequence") };
    assert!(element.is_external());
    assert_eq!(a.members[4].annotations.min(), Some(&ConstantValue::Float(-1.5)));
    assert_eq!(structure(&found, "B").extensibility, Extensibility::Final);
    let nested = |name: &str| structure(&found, name).is_nested;
    assert_eq!((nested("B"), nested("C"), nested("m::D"), nested("m::E")), (false, true, true, false));
}

#[test]
fn wrong_annotation_is_refused() {
    refuse("@key struct A { long a; };", "1:1: `@key` does not apply to a struct");
    refuse("@extensibility(FINALE) struct A { long a; };", "1:16: expected one of FINAL, APPENDABLE, MUTABLE");
    refuse("struct A { @try_construct(CUT) long a; };", "1:27: expected one of DISCARD, USE_DEFAULT, TRIM");
    refuse("struct A { @default(\"x\") long a; };", "1:21: expected a value of type `int32`, found a string");
    refuse("struct A { @range(min=5, max=1) long a; };", "1:12: the range is empty: `min` is larger than `max`");
    refuse("struct A { @id(valeu=5) long a; };", "1:16: `@id` has no parameter `valeu`");
    refuse("struct A { @id(5, 6) long a; };", "1:19: `@id` has 1 parameters");
    refuse("struct A { @unit(5) long a; };", "1:18: expected a string, found an integer");
    refuse("struct A { @optional @key long a; };", "1:32: the key member `a` cannot be optional");
    refuse("struct A { @id(5 long a; };", "1:24: expected `)` after the arguments of the annotation, found `;`");
    warn("struct A { @optinal long a; };", "1:12: unknown annotation `@optinal`");
    warn("@nested module m { struct A { long a; }; };", "1:1: `@nested` does not apply to a module");
    warn("struct A { @Key long a; };", "1:12: the annotation `@Key` is not standard IDL");
}

#[test]
fn user_annotation_gets_its_defaults() {
    let found = accept_silently(
        "@annotation Unit { enum Kind { SI, OTHER }; Kind value default SI; long factor default 1 + 1; string name; };
        struct A { @Unit(factor=7, name=\"m\") long a; @foo(bar=1, baz) @vendor::x long b; };",
    );
    let members = &structure(&found, "A").members;
    let (name, arguments) = members[0].annotations.custom().next().unwrap();
    let texts: Vec<&str> = arguments.iter().map(|argument| &*argument.name).collect();
    assert_eq!((name, texts), ("Unit", vec!["factor", "name", "value"]));
    let names: Vec<&str> = members[1].annotations.custom().map(|(name, _)| name).collect();
    assert_eq!(names, ["foo", "vendor::x"]);
    let declaration = "@annotation Unit { string name; }; ";
    let text = format!("{declaration}struct A {{ @Unit long a; }};");
    warn(&text, "1:47: `@Unit` without the argument `name` is not standard IDL");
    refuse(&format!("{declaration}struct A {{ @Unit(nam=1) long a; }};"), "1:53: `@Unit` has no parameter `nam`");
}

#[test]
fn comments_become_documentation() {
    let found = accept_silently(
        "// License\n\n/** A pose. */\nstruct Pose { // not this\n  // X axis.\n  // Meters.\n  double x;\n  double y; ///< Y axis.\n};
        enum E { A, // first\n B // second\n };",
    );
    let pose = found.definition(found.find("Pose").unwrap());
    assert_eq!(pose.doc.as_deref(), Some("A pose."));
    let members = &structure(&found, "Pose").members;
    assert_eq!(members[0].doc.as_deref(), Some("X axis.\nMeters."));
    assert_eq!(members[1].doc.as_deref(), Some("Y axis."));
    let DefinitionKind::Enum(e) = &found.definition(found.find("E").unwrap()).kind else { panic!("no enum") };
    let docs: Vec<Option<&str>> = e.enumerators.iter().map(|enumerator| enumerator.doc.as_deref()).collect();
    assert_eq!(docs, [Some("first"), Some("second")]);
}

#[test]
fn annotation_in_a_comment_is_applied() {
    let text = "struct A {\n  long a; //@key\n  long b; //@ID 9\n}; //@Extensibility MUTABLE_EXTENSIBILITY\n//@top-level false\n";
    let found = accept(text);
    let a = structure(&found, "A");
    assert!(a.members[0].is_key());
    assert_eq!((a.members[1].id, a.extensibility, a.is_nested), (9, Extensibility::Mutable, true));
    assert_eq!(found.diagnostics.warning_count(), 4);
}

#[test]
fn keylist_marks_keys_in_nested_types() {
    let found = accept_silently(
        "module m { struct Part { long a; long b; }; struct Whole { Part i; long c; };\n#pragma keylist Whole i.a c\n};",
    );
    let keys = |name: &str| structure(&found, name).members.iter().map(|member| member.is_key()).collect::<Vec<_>>();
    assert_eq!((keys("m::Whole"), keys("m::Part")), (vec![true, true], vec![true, false]));
    refuse("struct A { long a; };\n#pragma keylist A b\n", "2:19: `b` names no member of `A`");
    refuse("struct A { long a; };\n#pragma keylist B a\n", "2:17: cannot find type `B`");
    accept_silently(
        "module m { struct A { long a; }; };\n#pragma DCPS_DATA_TYPE \"m::A\"\n#pragma DCPS_DATA_KEY \"m::A a\"\n",
    );
    warn("#pragma kelist A b\nstruct A { long b; };", "1:9: unknown pragma `kelist` is ignored");
}

#[test]
fn macros_are_replaced() {
    let integer = |text: &str| constant(text).as_integer();
    assert_eq!(integer("#define N 3\n#define M (N + 1)\nconst long A = M * N;"), Some(12));
    assert_eq!(integer("#define ADD(a, b) ((a) + \\\n (b))\nconst long A = ADD(ADD(1, 2), 3);"), Some(6));
    assert_eq!(integer("#define CAT(a, b) a##b\nconst long CAT(A, 1) = CAT(1, 2);"), Some(12));
    let text = "#define TEXT(a) #a\nconst string A = TEXT(x  + \"y\");";
    assert_eq!(constant(text), ConstantValue::String("x + \"y\"".into()));
    assert_eq!(integer("#define F(x) x\n#define G F\nconst long A = G (7);"), Some(7));
    assert_eq!(
        integer("#define V(a, ...) S2(a, __VA_ARGS__)\n#define S2(a, b, c) a+b+c\nconst long A = V(1, 2, 3);"),
        Some(6)
    );
    assert_eq!(integer("#define A1 B1\n#define B1 A1\nconst long A1 = 5;"), Some(5));
    assert_eq!(integer("#define N 3\n#undef N\nconst long N = 5;"), Some(5));
    refuse("#define F(a) a\nconst long A = F(1, 2);", "2:16: macro `F` has 1 parameters, not 2");
    let error = refusal("#define F(a) a\nconst long A = F(1;");
    assert!(error.to_string().contains("the call of macro `F` has no `)`"), "{error}");
    warn("#define N 1\n#define N 2\nconst long A = N;", "2:9: macro `N` has another definition already");
}

#[test]
fn conditionals_choose_lines() {
    let integer = |text: &str| constant(text).as_integer();
    let text = "#if defined(X) && X > 1 || 0\nconst long A = 1;\n#elif !defined X\nconst long A = 2;\n#else\nconst long A = 3;\n#endif\n";
    assert_eq!(integer(text), Some(2));
    assert_eq!(integer(&format!("#define X 2\n{text}")), Some(1));
    assert_eq!(integer(&format!("#define X 1\n{text}")), Some(3));
    assert_eq!(integer("#ifndef G\n#define G\n#if 0\ndon't \"read\n#error no\n#if 1\n#endif\n#else\nconst long A = (1 ? 4 : 5);\n#endif\n#endif".replace("(1 ? 4 : 5)", "4").as_str()), Some(4));
    assert_eq!(
        integer("#if (1 ? 2 : 0) == 2 && (1 << 2 | 1) == 5 && ~0 == -1 && 'a' == 97\nconst long A = 1;\n#endif"),
        Some(1)
    );
    for condition in [
        "!defined(N) || 10 / N",
        "(defined(N) && 10 / N > 2) == 0",
        "1 ? 1 : 1 / 0",
        "0 ? 1 / 0 : 1",
        "1 || 0 && 1 / 0",
    ] {
        assert_eq!(integer(&format!("#if {condition}\nconst long A = 1;\n#endif")), Some(1), "{condition}");
    }
    refuse("#if 0 && 1 +\n#endif", "1:5: invalid condition: expected a value");
    refuse("#if (0 && 1 / 0) || 1 / 0\n#endif", "1:5: invalid condition: division by zero");
    refuse("#if 1\nconst long A = 1;", "1:1: this conditional has no `#endif`");
    refuse("#endif", "1:1: `#endif` without `#if`");
    refuse("#if 1\n#else\n#else\n#endif", "3:1: `#else` after `#else`");
    refuse("#if 1 +\n#endif", "1:5: invalid condition: expected a value");
    refuse("#if 1 / 0\n#endif", "1:5: invalid condition: division by zero");
    refuse("#error wrong file", "1:1: wrong file");
    refuse("#inclde \"a.idl\"", "1:1: unknown directive `#inclde`");
}

#[test]
fn limits_end_hostile_input() {
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let doubled = |token: &str, end: &str| {
        let macros: String = (1..14).map(|n| format!("#define A{n} A{} A{}\n", n - 1, n - 1)).collect();
        format!("#define A0 {token}\n{macros}{end}")
    };
    let typedefs = |pattern: &str, count: u32| {
        let mut text = "typedef long A0;\n".to_owned();
        for n in 1..count {
            let (inner, name) = pattern.rsplit_once("{}").unwrap_or_default();
            let inner = inner.replace("{}", &(n - 1).to_string());
            text += &format!("typedef {inner}{n}{name};\n");
        }
        text + &format!("struct S {{ A{} a; }};", count - 1)
    };
    let names = |count: u32| (0..count).map(|n| format!("m{n}")).collect::<Vec<_>>().join(", ");
    let hostile = [
        nested("module a {", "};"),
        format!("struct A {{ {} a; }};", nested("sequence<", ">")),
        format!("const long A = {};", nested("(", ")")),
        format!("const long A = {}1;", "-".repeat(10_000)),
        format!("#if {}\n#endif", nested("(", ")")),
        format!("#if {}1\n#endif", "!".repeat(10_000)),
        "#define A0 1 1\n".to_owned()
            + &(1..60).map(|n| format!("#define A{n} A{} A{}\n", n - 1, n - 1)).collect::<String>()
            + "A59",
        format!("#define F(x) x\nconst long A = {};", nested("F(", ")")),
        "struct A { struct A { ".repeat(2_000),
        "@a(".repeat(10_000),
        "\0".repeat(10_000),
        "{".repeat(100_000),
        "enum E { A, @value(2147483647) B, C };".to_owned(),
        "union U switch (long) { case".to_owned() + &" 1:".repeat(10_000),
        // One token that doubles each time: the escapes of a string, the halves of a name, and a repeated literal.
        format!("#define S(x) #x\n#define T(x) S(x)\nconst string A = {}\"\\\"\"{};", "T(".repeat(40), ")".repeat(40)),
        format!("#define P(a, b) a##b\n#define D(x) P(x, x)\nconst long A = {}a{};", "D(".repeat(40), ")".repeat(40)),
        "const string A0 = \"ab\";\n".to_owned()
            + &(1..60).map(|n| format!("const string A{n} = A{} + A{};\n", n - 1, n - 1)).collect::<String>(),
        "const long long A = -~170141183460469231731687303715884105727;".to_owned(),
        "enum E { @value(170141183460469231731687303715884105727) A, B };".to_owned(),
        (0..5_000).map(|n| format!("struct A{n} {{ long a; }};\n")).collect::<String>()
            + &"#pragma keylist A5000 a\n".repeat(50_000),
        "#include \"none.idl\"\n".repeat(50_000),
        // Each name of a line has all annotations, and each use of an annotation has all of its defaults.
        format!("struct S {{ {} long a; }};", "@note ".repeat(10_000)),
        format!("@note({}0) struct S {{ long a; }};", "0, ".repeat(10_000)),
        format!("struct S {{ {} long {}; }};", "@note(0) ".repeat(200), names(100_000)),
        format!("typedef {}long{} {};", "sequence<".repeat(150), ">".repeat(150), names(100_000)),
        format!("@annotation a {{ {} }};", "long x default 0; ".repeat(10_000)),
        format!("@annotation a {{ {} }};", (0..200).map(|n| format!("long x{n} default 0; ")).collect::<String>())
            + &(0..100_000).map(|n| format!("@a module m{n} {{}};\n")).collect::<String>(),
        typedefs("A{} A{}", 30_000),
        typedefs("sequence<A{}> A{}", 30_000),
        typedefs("map<A{}, A{}> A{}", 60),
        doubled(&format!("\"{}\"", "a".repeat(1 << 20)), "const string A = A13;"),
        doubled(&format!("0{}", "0".repeat(1 << 20)), "#if A13\n#endif"),
        doubled(&format!("{}.5 +", "1".repeat(1 << 20)), "const double A = A13 1;"),
        doubled(&"a".repeat(1 << 20), "@note(A13) struct A { long a; };"),
        doubled(&"a".repeat(1 << 20), "#include A13"),
    ];
    for text in hostile {
        assert!(parse_text("a.idl", &text, &Options::default()).is_err(), "{}", &text[..40]);
    }
}

/// Parts of texts, from which a test builds random ones.
const PARTS: &str = "module·m·{·}·;·struct·S·:·T·union·U·switch·(·long·)·case·1·default·enum·E·A·,·B·bitmask·M·bitset·bitfield\
    ·<·3·>·sequence·map·string·x·a·[·2·]·const·=·+·-·*·/·%·~·<<·>>·|·^·&·1.5·'c'·L'c'·\"t\"·L\"t\"·1d·0x1F\
    ·TRUE·typedef·@·key·@id·@optional·@default·@bit_bound·@value·@position·@annotation·@verbatim·@external\
    ·interface·I·void·f·in·out·raises·exception·attribute·valuetype·native·::·:·_struct·#define·\n·#if·#elif\
    ·#else·#endif·#include·defined·##·#·(·)·F·F(·#pragma·keylist·/*·*/·//·//@key·//@ID·\u{e9}·\0·\\·\"·'\
    ·<y.idl>·__VA_ARGS__·...·!·?·import·struct·long";

#[test]
fn random_text_gives_types_or_errors() {
    let parts: Vec<&str> = PARTS.split('·').collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let base = "@mutable struct S { @key long a; sequence<E, 2> b[3]; }; enum E { A, @value(5) B }; \
        union U switch ( E ) { case A : long x ; default : string<5> y ; }; #define F(x) x##1\n const long C = F(1) + 2;";
    for round in 0..2_000 {
        let mut words: Vec<&str> = if round % 2 == 0 { base.split(' ').collect() } else { Vec::new() };
        for _ in 0..1 + random(30) {
            words.insert(random(words.len() + 1), parts[random(parts.len())]);
        }
        if let Err(error) = parse_text("/nonexistent/a.idl", &words.join(" "), &Options::default()) {
            assert!(error.diagnostics.has_errors());
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn large_constant_is_read_in_linear_time() {
    let text = format!("const string A = \"{}\";\nconst long B = 0{};", "x".repeat(1 << 20), " + 1".repeat(100_000));
    assert_eq!(constant(&text), ConstantValue::Integer(100_000));
}

#[test]
fn integer_beyond_64_bits_is_refused() {
    assert_eq!(constant("const unsigned long long A = 18446744073709551615;").as_integer(), Some(u64::MAX.into()));
    refuse("const long long A = 18446744073709551616;", "1:21: `18446744073709551616` does not fit in 64 bits");
    refuse(
        "enum E { @value(18446744073709551615) A };",
        "1:39: the value 18446744073709551615 does not fit in 32 bits",
    );
}

#[test]
fn fixed_point_result_with_too_many_digits_is_refused() {
    let small = format!("0.{}1d", "0".repeat(19));
    refuse(&format!("const fixed A = {small} * {small};"), "1:17: the result has more than 31 digits behind the point");
}

#[test]
fn annotations_and_comments_of_a_line_are_those_of_each_name() {
    let text = "struct S {\n  // Lengths.\n  @range(min=0, max=9) long a, b, c; // In meters. //@key\n};";
    let found = accept(text);
    for member in &structure(&found, "S").members {
        assert_eq!(member.doc.as_deref(), Some("Lengths.\n\nIn meters. //@key"));
        assert_eq!(member.annotations.iter().count(), 1);
    }
    let found = warn(
        "struct S { @unit(\"m\") long a, b[2]; //@key\n};",
        "1:37: an annotation in a comment is not standard IDL",
    );
    assert!(
        structure(&found, "S").members.iter().all(|member| member.is_key() && member.annotations.unit() == Some("m"))
    );
    refuse("struct S { @range(min=2, max=1) long a, b, c; };", "1:12: the range is empty: `min` is larger than `max`");
}

#[test]
fn ids_of_many_derived_structs_take_linear_time() {
    let members: String = (0..10_000).map(|n| format!("long m{n}; ")).collect();
    let derived: String = (0..10_000).map(|n| format!("struct D{n} : Base {{ long own; }};\n")).collect();
    let found = accept(&format!("struct Base {{ {members} }};\n{derived}"));
    assert_eq!(structure(&found, "D9999").members[0].id, 10_000);
}

#[test]
fn member_of_a_derived_struct_has_a_new_id() {
    let bases = "struct A { @id(7) long a; long b; }; struct B : A { }; ";
    let found = accept(&format!("{bases}struct C : B {{ long c; }};"));
    assert_eq!(structure(&found, "C").members[0].id, 9);
    refuse(&format!("{bases}struct C : B {{ @id(7) long c; }};"), "1:83: the members `a` and `c` have the id 7");
}

#[test]
fn operator_between_strings_is_refused() {
    assert_eq!(constant("const string A = \"a\" \"b\";"), ConstantValue::String("ab".into()));
    refuse("const string A = \"a\" + \"b\";", "1:18: `+` does not apply to strings");
}

#[test]
fn inline_type_is_accepted_with_a_warning() {
    let found =
        warn("struct A { enum Kind { X, Y } sort; };", "1:12: a type inside of another definition is not standard IDL");
    assert_eq!(member_types(&found, "A"), ["A::Kind"]);
}

#[test]
fn element_of_an_array_has_annotations() {
    let found = accept_silently("struct A { string<5> a @try_construct(TRIM) [3]; };");
    let DataType::Array { element, .. } = &structure(&found, "A").members[0].ty else { panic!("no array") };
    assert_eq!(element.try_construct(), crate::model::TryConstruct::Trim);
}

#[test]
fn typedef_of_the_same_type_twice_is_accepted_with_a_warning() {
    let text = "typedef double T[3];\ntypedef double T[3];";
    warn(text, "2:16: the typedef `T` a second time is not standard IDL");
    refuse("typedef double T[3];\ntypedef double T[4];", "2:16: `T` is defined twice");
}

#[test]
fn bitmask_discriminator_is_accepted_with_a_warning() {
    let text = "bitmask M { A, @position(4) B }; union U switch (M) { case A: long a; case M::B: long b; };";
    let found = warn(text, "1:50: a bitmask as a discriminator is not standard IDL");
    let labels: Vec<i64> = union(&found, "U").branches.iter().flat_map(|branch| branch.labels.clone()).collect();
    assert_eq!(labels, [1, 16]);
}

#[test]
fn file_of_ros_is_built_in() {
    let text = "#include \"std_msgs/msg/Header.idl\"\nstruct A { std_msgs::msg::Header header; };";
    let found = accept_silently(text);
    assert_eq!(member_types(&found, "std_msgs::msg::Header"), ["builtin_interfaces::msg::Time", "string"]);
    accept_silently("#include \"std_srvs/srv/SetBool.idl\"\nstruct A { std_srvs::srv::SetBool_Request request; };");
    accept_silently("#include \"std_msgs\\msg\\Header.idl\"\nstruct A { std_msgs::msg::Header header; };");
    refuse("#include \"std_msgs/msg/Heder.idl\"", "1:10: cannot find the file `std_msgs/msg/Heder.idl`");
    refuse("#include \"std_msgs/Header.idl\"", "1:10: cannot find the file `std_msgs/Header.idl`");
}

#[test]
fn built_in_file_is_read_once_and_counts_as_an_inclusion() {
    let include = "#include \"std_msgs/msg/Header.idl\"\n";
    let found = accept_silently(&include.repeat(30_000));
    assert_eq!(found.sources.files().count(), 3);
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-built-in", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("empty.idl"), "\n").unwrap();
    let options = Options { include_dirs: vec![folder.clone()], ..Options::default() };
    let text = "#include \"empty.idl\"\n".repeat(20_000) + include;
    let error = parse_text("test.idl", &text, &options).unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(error.contains("more than 20000 files are included"), "{error}");
}

#[test]
fn member_of_a_union_is_not_optional() {
    let text = "union U switch (long) {\ncase 1: @optional long a; };";
    assert!(refusal(text).to_string().contains("`@optional` does not apply to"));
}

#[test]
fn annotation_ends_before_a_global_name() {
    let found =
        accept_silently("module m { typedef long Id; }; struct A { @key ::m::Id id; @optional ::m::Id other; };");
    assert_eq!(member_types(&found, "A"), ["m::Id", "m::Id"]);
    assert!(structure(&found, "A").members[0].is_key());
    assert!(structure(&found, "A").members[1].is_optional());
}

#[test]
fn modules_that_differ_in_case_are_two_modules() {
    let text = "module DDS { typedef long Id; struct A { Id id; }; }; module dds { struct B { DDS::Id id; }; }; \
                module dds { struct C { B b; dds::B c; ::dds::B d; }; }; module DDS { struct D { A a; ::dds::C c; }; };";
    let found = warn(text, "1:62: the module `dds`, which differs from `DDS` only in case, is not standard IDL");
    assert_eq!(member_types(&found, "dds::C"), ["dds::B", "dds::B", "dds::B"]);
    assert_eq!(member_types(&found, "DDS::D"), ["DDS::A", "dds::C"]);
    refuse("module a { struct M { long x; }; module m { }; };", "1:41: `m` differs from `M` only in case");
}

/// RTI Connext and Fast DDS have the enumerators of an enum in the scope of the enum only.
#[test]
fn two_enums_may_have_an_enumerator_of_the_same_name() {
    let warning = "1:24: the enumerator `X` in a second enum of the scope is not standard IDL";
    warn("enum A { X }; enum B { X, Y }; union U switch (B) { case X: long x; case Y: long y; };", warning);
    warn("enum A { X }; enum B { X }; struct S { @default(X) A a; @default(X) B b; };", warning);
    warn("enum A { X }; enum B { X }; const B N = B::X;", warning);
    refuse(
        "enum A { X }; enum B { X }; const long N = X;",
        "1:44: `X` is an enumerator of several enums, not a constant",
    );
    assert_eq!(accept("enum A { X }; enum B { X }; enum C { X };").diagnostics.iter().count(), 2);
    refuse("enum A { Red }; enum B { RED };", "1:26: `RED` differs from `Red` only in case");
}

#[test]
fn last_error_is_a_module_with_the_name_of_a_struct() {
    let text = "struct S { long a; };\n".to_owned()
        + &"const long A = ;\n".repeat(99)
        + "module S { struct T { long a; }; };\n"
        + &"const long A = ;\n".repeat(5);
    assert_eq!(refusal(&text).diagnostics.error_count(), 100);
}

#[test]
fn base_of_an_interface_may_be_an_alias() {
    accept("interface A { void f(); }; typedef A Alias; interface B : Alias { };");
    refuse("struct A { long x; }; typedef A Alias; interface B : Alias { };", "1:54: `Alias` is not an interface");
    refuse("interface A; interface B { void f() raises (A); };", "1:45: `A` is not an exception");
    accept("native E; interface I { void f() raises (E); };");
}

#[test]
fn file_of_tao_is_built_in() {
    let found = accept_silently("#include <tao/ULongSeq.pidl>\nstruct A { CORBA::ULongSeq a; };");
    assert_eq!(member_types(&found, "A"), ["CORBA::ULongSeq"]);
    accept_silently("#include \"tao/orb.idl\"\n#include \"tao/LongSeq.pidl\"\nstruct A { CORBA::StringSeq a; };");
    accept_silently("#include <orb.idl>\nstruct A { CORBA::ULongSeq a; };");
    accept_silently("#include <dds/OpenDDSConfig.h>\n#include <tao/Version.h>\nconst long V = TAO_MAJOR_VERSION;");
    refuse("#include <tao/Any.pidl>", "1:10: cannot find the file `tao/Any.pidl`");
}

#[test]
fn number_of_c_is_accepted_with_a_warning() {
    let found = warn("const long A = 10L;", "1:16: suffix of the number `10L` is not standard IDL");
    assert_eq!(found.diagnostics.warning_count(), 1);
    warn("const float A = 1.5f;", "1:17: suffix of the number `1.5f` is not standard IDL");
    warn("const boolean A = true;", "1:19: `true` is not standard IDL");
}

#[test]
fn latin_1_comment_is_accepted_with_a_warning() {
    let bytes = b"// caf\xe9\nstruct A { long a; };";
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-latin", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.idl"), bytes).unwrap();
    let found = super::parse_file(folder.join("a.idl"), &Options::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.diagnostics.iter().next().unwrap().message, "the file is not UTF-8");
    assert_eq!(structure(&found, "A").members[0].ty, DataType::Basic(BasicType::Int32));
}

#[test]
fn includes_are_searched_and_read_once() {
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-include", std::process::id()));
    std::fs::create_dir_all(folder.join("lib/sub")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("lib/base.idl", "struct Base { long a; };");
    write("lib/sub/x.idl", "#include \"../base.idl\"\n#include <sub/y.idl>\nstruct X { Base b; Y y; };");
    write("lib/sub/y.idl", "struct Y { long y; };");
    write("main.idl", "#include \"base.idl\"\n#include \"sub/x.idl\"\nstruct Main { X x; };");
    write("cycle.idl", "#include \"cycle2.idl\"\nstruct C { long c; };");
    write("cycle2.idl", "\n#include \"cycle.idl\"\n");
    write("typo.idl", "#include \"mian.idl\"");
    write("guarded.idl", "#ifndef G\n#define G\n#include \"guarded.idl\"\nstruct G1 { long a; };\n#endif");
    let options = Options { include_dirs: vec![folder.join("lib")], ..Options::default() };
    let parse = |name: &str| super::parse_file(folder.join(name), &options);
    let main = parse("main.idl").unwrap();
    assert_eq!(main.sources.files().count(), 4);
    assert_eq!(member_types(&main, "Main"), ["X"]);
    assert!(main.sources.is_root(main.definition(main.find("Main").unwrap()).span));
    assert!(!main.sources.is_root(main.definition(main.find("X").unwrap()).span));
    assert!(parse("guarded.idl").is_ok());
    let cycle = parse("cycle.idl").unwrap_err();
    assert!(cycle.to_string().contains("includes itself"), "{cycle}");
    assert!(cycle.diagnostics.iter().next().unwrap().one_line(&cycle.sources).contains("cycle2.idl:2:10"), "{cycle}");
    let typo = parse("typo.idl").unwrap_err().to_string();
    assert!(typo.contains("cannot find the file `mian.idl`") && typo.contains("did you mean `main.idl`?"), "{typo}");
    let missing = parse("missing.idl").unwrap_err().to_string();
    assert!(missing.contains("cannot read"), "{missing}");
    std::fs::remove_dir_all(&folder).unwrap();
}
