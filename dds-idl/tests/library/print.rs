//! IDL text of a specification: it reads back as the same types.

use dds_idl::idl::{Options, parse_file, parse_text};
use dds_idl::model::{Definition, DefinitionKind, Extensibility, Specification};
use dds_idl::packages::RosPackages;
use dds_idl::print::to_idl;
use dds_idl::ros::{InterfaceName, RosNaming};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Each definition by its name, without places in the text.
fn contents(specification: &Specification) -> BTreeMap<String, String> {
    let names: Vec<&str> = specification.definitions().map(|(_, definition)| &*definition.scoped_name).collect();
    let mut found = BTreeMap::new();
    for (_, definition) in specification.definitions() {
        let mut definition: Definition = definition.clone();
        if let DefinitionKind::Module(module) = &mut definition.kind {
            module.definitions.clear();
        }
        let text = format!("{definition:?}");
        found.insert(definition.scoped_name.to_string(), with_names(&without_places(&text), &names));
    }
    found
}

/// Removes spans, and the extensibility that each printed type has as an annotation.
fn without_places(text: &str) -> String {
    let mut rest = text;
    let mut found = String::new();
    while let Some((before, after)) = rest.split_once("Span { file: ") {
        found.push_str(before);
        rest = after.split_once(" }").unwrap().1;
    }
    found.push_str(rest);
    for kind in ["Final", "Appendable", "Mutable"] {
        let annotation = format!("Annotation {{ span: , kind: Extensibility({kind}) }}");
        found = found.replace(&format!("{annotation}, "), "").replace(&annotation, "");
    }
    found.replace(", ])", "])")
}

/// Replaces ids, which depend on the order, by names.
fn with_names(text: &str, names: &[&str]) -> String {
    let mut rest = text;
    let mut found = String::new();
    while let Some((before, after)) = rest.split_once("DefinitionId(") {
        found.push_str(before);
        let (number, behind) = after.split_once(')').unwrap();
        found.push_str(names[number.parse::<usize>().unwrap()]);
        rest = behind;
    }
    found + rest
}

/// Prints, reads, and compares all definitions. Returns the text.
fn prints(specification: &Specification) -> String {
    let text = to_idl(specification);
    let options = Options { case_sensitive: true, ..Options::default() };
    let again = parse_text("printed.idl", &text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (expected, found) = (contents(specification), contents(&again));
    for (name, content) in &expected {
        assert_eq!(found.get(name), Some(content), "{name} in\n{text}");
    }
    assert_eq!(expected.len(), found.len(), "{text}");
    assert_eq!(to_idl(&again), text);
    text
}

fn parsed(text: &str) -> Specification {
    parse_text("test.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn files_of_the_corpus_read_back_equal() {
    for name in ["idl/robot.idl", "idl/all_types.idl", "share/test_msgs/msg/ComplexNestedKey.idl"] {
        let options = Options { include_dirs: vec![folder().join("share")], ..Options::default() };
        prints(&parse_file(folder().join(name), &options).unwrap_or_else(|error| panic!("{error}")));
    }
}

#[test]
fn interfaces_of_ros_read_back_equal() {
    let packages = RosPackages::default();
    let mut names: Vec<InterfaceName> =
        packages.package_names().iter().flat_map(|package| packages.interfaces_of(package)).collect();
    names.retain(|name| packages.load(std::slice::from_ref(name)).diagnostics.error_count() == 0);
    let mut specification = packages.load(&names).into_specification(RosNaming::Dds).unwrap();
    // Some comments are frames of `#`, which the front end for IDL leaves out.
    let ids: Vec<_> = specification.definitions().map(|(id, _)| id).collect();
    for id in ids {
        let definition = specification.definition_mut(id);
        definition.doc = None;
        if let DefinitionKind::Struct(found) = &mut definition.kind {
            found.members.iter_mut().for_each(|member| member.doc = None);
        }
    }
    prints(&specification);
    assert!(names.len() > 150, "{} interfaces", names.len());
}

#[test]
fn every_annotation_reads_back_equal() {
    prints(&parsed(
        "@annotation Limit { enum Level { LOW, HIGH }; Level level default HIGH; long value default 5; string text; };
        @default_nested module m {
            @topic(name = \"t\", platform = \"DDS\") @data_representation(XCDR1|XCDR2) struct A {
                @key @id(3) long a; @hashid long b; @hashid(\"color\") long c; @optional string d;
                @must_understand(FALSE) @external A2 e; @default(5) @range(min = -1, max = 7) short f;
                @min(1.5) @unit(\"m\") double g; @max('z') char h; @try_construct(TRIM) string<4> i;
                sequence<@external @try_construct(USE_DEFAULT) string<3>> j; @non_serialized long k;
                @Limit(text = \"tab\\t and \\\"quote\\\" \\\\ \") long l;
            };
            @autoid(HASH) @nested(FALSE) struct B { long a; };
            @bit_bound(16) @ignore_literal_names enum E { A1, @value(5) @default_literal B1, C1 };
            @verbatim(language = \"c++\", placement = BEFORE_DECLARATION, text = \"// x\") struct V { long a; };
        };"
        .replace("A2 e", "sequence<A> e")
        .as_str(),
    ));
}

#[test]
fn constants_of_all_types_read_back_equal() {
    prints(&parsed(
        "enum E { X, Y }; @bit_bound(8) bitmask M { R, W };
        const octet A = 0xff; const int64 B = -9223372036854775808; const float C = 0.1; const double D = 1e300;
        const fixed F = -0.05d; const char G = '\\''; const wchar H = L'\\u20ac'; const string I = \"a\\n\\x01\\\"\";
        const wstring J = L\"\\u20ac\"; const boolean K = TRUE; const E L = Y; const double N = 3;",
    ));
}

#[test]
fn enumerators_that_two_enums_have_read_back_equal() {
    let text = prints(&parsed(
        "module m {
            enum A { X }; enum B { X, Z };
            union U switch (B) { case X: long x; case Z: long z; };
            const B N = B::X;
            struct S { @default(X) A a; };
        };
        enum A { X }; enum B { X, Z };
        union U switch (B) { case X: long x; case Z: long z; };
        struct S { @default(X) A a; @default(m::A::X) m::A b; };",
    ));
    assert!(text.contains("case ::m::B::X:") || text.contains("case m::B::X:"), "{text}");
    assert!(text.contains("case m::Z:"), "{text}");
}

#[test]
fn interfaces_and_other_definitions_read_back_equal() {
    prints(&parsed(
        "exception Wrong { string why; };
        interface Base { typedef long Number; const Number N = 1; };
        @service(platform = \"*\") interface Robot : Base {
            readonly attribute Number count raises (Wrong); attribute string name getraises (Wrong) setraises (Wrong);
            /* moves */ Number move(in double x, inout double y, out boolean done) raises (Wrong);
            oneway void stop(); @oneway void halt();
        };
        interface Later; typedef sequence<Later> Laters; native Handle; valuetype V { public long x; }; ",
    ));
    prints(&parsed("struct S { enum Inner { P, Q } kind[2]; Inner other; };"));
    prints(&parsed("union U switch (enum Inner { P, Q }) { case P: long a; case U::Q: Inner b; };"));
}

/// Compilers of CORBA have these types built in, so no text defines them.
#[test]
fn built_in_types_of_corba_read_back_equal() {
    let text = prints(&parsed(
        "interface I { readonly attribute CORBA::TypeCode type; any f(in CORBA::NVList a, in Object b); };
        typedef sequence<CORBA::TypeCode> TypeCodes;",
    ));
    assert!(text.contains("CORBA::TypeCode type;") && text.contains("in CORBA::NVList a"), "{text}");
    // omniORB knows this type also by its short name.
    let text = prints(&parsed("module CORBA { typedef string Id; interface I { TypeCode type(in Id id); }; };"));
    assert!(text.contains("CORBA::TypeCode type("), "{text}");
}

#[test]
fn reopened_modules_are_printed_in_an_order_that_reads_back() {
    let text = prints(&parsed(
        "module a { struct One { long x; }; };
        module b { struct Two { a::One one; }; };
        module a { struct Three { b::Two two; }; };
        struct Node; typedef sequence<Node> Nodes; struct Node { Nodes nodes; };
        module c { struct Node { ::Node outer; @optional Node own; }; };",
    ));
    assert!(text.starts_with("module a {\n    @appendable\n    struct One {"), "{text}");
}

#[test]
fn keywords_and_hidden_names_read_back_equal() {
    prints(&parsed(
        "module _module { struct T { long _struct, __x; }; };
        struct T { _module::T t1; };
        module m { struct T { long a; }; struct U { ::T outer; T inner; sequence<_module::T> list; }; };
        union U switch (boolean) { case TRUE: T _default; case FALSE: m::U u2; };",
    ));
}

/// A specification without annotations, as another front end creates it.
#[test]
fn facts_without_annotations_are_printed() {
    let mut specification = parsed("struct A { long a; long b; }; enum E { X, Y }; bitmask M { R, W };");
    let ids: Vec<_> = ["A", "E", "M"].iter().map(|name| specification.find(name).unwrap()).collect();
    if let DefinitionKind::Struct(found) = &mut specification.definition_mut(ids[0]).kind {
        (found.is_nested, found.extensibility) = (true, Extensibility::Final);
        found.members[1].id = 9;
    }
    if let DefinitionKind::Enum(found) = &mut specification.definition_mut(ids[1]).kind {
        found.bit_bound = 8;
        found.enumerators[1].value = -4;
    }
    if let DefinitionKind::Bitmask(found) = &mut specification.definition_mut(ids[2]).kind {
        found.flags[0].position = 3;
        found.flags[1].position = 1;
    }
    let expected = "\
@final
@nested
struct A {
    int32 a;
    @id(9) int32 b;
};

@appendable
@bit_bound(8)
enum E {
    X,
    @value(-4) Y
};

@final
bitmask M {
    @position(3) R,
    @position(1) W
};
";
    assert_eq!(to_idl(&specification), expected);
}

#[test]
fn annotation_before_an_absolute_name_keeps_its_meaning() {
    let text = "@annotation Limit { string text default \"x\"; };
        module Ta { struct Tb { long x; }; };
        module m { struct Ta { long y; }; @final struct S { @Limit() ::Ta::Tb a; @hashid() ::Ta::Tb b; @optional(TRUE) ::Ta::Tb c; }; };";
    let specification = parse_text("t.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let printed = to_idl(&specification);
    assert!(printed.contains("@Limit() ::Ta::Tb a;") && printed.contains("@optional(TRUE) ::Ta::Tb c;"), "{printed}");
    let again = parse_text("t.idl", &printed, &Options::default()).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(to_idl(&again), printed);
}
