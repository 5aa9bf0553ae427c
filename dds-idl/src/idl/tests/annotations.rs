//! Annotations, comments and pragmas.

use super::{accept, accept_silently, member_types, refusal, refuse, structure, warn};
use crate::model::{ConstantValue, DataType, DefinitionKind, Extensibility, Specification, TryConstruct};

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
    assert_eq!(a.members[2].try_construct(), TryConstruct::Trim);
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
    for (text, clause) in [
        ("struct A { @try_construct(CUT) long a; };", "XTypes 1.3, 7.2.2.7"),
        ("@extensibility(FINALE) struct A { long a; };", "XTypes 1.3, 7.2.3"),
        ("struct A { map<float, long> a; };", "XTypes 1.3, 7.2.2.4.3"),
        ("union U switch (float) { case 1: long a; };", "XTypes 1.3, 7.2.2.4.4.3"),
    ] {
        assert!(refusal(text).to_string().contains(clause), "{text}");
    }
    refuse("struct A { @default(\"x\") long a; };", "1:21: expected a value of type `int32`, found a string");
    refuse("struct A { @range(min=5, max=1) long a; };", "1:12: the range is empty: `min` is larger than `max`");
    refuse("struct A { @min(5) @max(1) long a; };", "1:20: the range is empty: `min` is larger than `max`");
    let outside = "the default is outside of the range of the member";
    refuse("struct A { @range(min=0, max=9) @default(10) long a; };", &format!("1:33: {outside}"));
    refuse("struct A { @default(0.5) @min(1.5) double a; };", &format!("1:12: {outside}"));
    accept_silently(
        "struct A { @range(min=0, max=9) @default(9) long a; @max(1) long b; @min(2) @default(2) long c; };",
    );
    refuse("@final @mutable struct A { long a; };", "1:8: the type has two different extensibilities");
    accept_silently("@final @extensibility(FINAL) struct A { long a; };");
    refuse("struct A { @id(valeu=5) long a; };", "1:16: `@id` has no parameter `valeu`");
    refuse("struct A { @id(5, 6) long a; };", "1:19: `@id` has 1 parameters");
    refuse("struct A { @unit(5) long a; };", "1:18: expected a string, found an integer");
    refuse("struct A { @optional @key long a; };", "1:32: the key member `a` cannot be optional");
    refuse("struct A { @id(5 long a; };", "1:24: expected `)` after the arguments of the annotation, found `;`");
    refuse("struct A {\n@unit(\"m) long a;\nlong b; };", "2:7: this text has no closing quote in its line");
    warn("struct A { @optinal long a; };", "1:12: unknown annotation `@optinal`");
    warn("@nested module m { struct A { long a; }; };", "1:1: `@nested` does not apply to a module");
    warn("struct A { @Key long a; };", "1:12: the annotation `@Key` is not standard IDL");
}

#[test]
fn misplaced_annotation_of_a_vendor_has_no_effect() {
    warn("struct A { @value(default=False) boolean a; };", "1:12: `@value` does not apply to a member");
    warn("@id(100) interface A { };", "1:1: `@id` does not apply to an interface");
    warn("interface A { @id(1) void f(); };", "1:15: `@id` does not apply to an operation");
    refuse("@id(1) struct A { long a; };", "1:1: `@id` does not apply to a struct");
    refuse(
        "union U switch (long) { case 1: @value(5) long a; };",
        "1:33: `@value` does not apply to a member of a union",
    );
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
fn element_of_an_array_has_annotations() {
    let found = accept_silently("struct A { string<5> a @try_construct(TRIM) [3]; };");
    let DataType::Array { element, .. } = &structure(&found, "A").members[0].ty else { panic!("no array") };
    assert_eq!(element.try_construct(), TryConstruct::Trim);
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

/// Cyclone DDS and RTI Connext ignore the pragma if there is an annotation.
#[test]
fn keylist_with_an_unknown_member_is_a_warning_beside_annotations() {
    let found =
        warn("struct A { @key long a; long b; };\n#pragma keylist A a kind\n", "2:21: `kind` names no member of `A`");
    assert!(structure(&found, "A").members[0].is_key());
    warn(
        "struct A { @key long a; }; struct B : A { long b; };\n#pragma keylist B c\n",
        "2:19: `c` names no member of `B`",
    );
}

#[test]
fn keylist_of_a_struct_with_annotated_keys_has_no_effect() {
    let keys = |found: &Specification, name: &str| -> Vec<bool> {
        structure(found, name).members.iter().map(|member| member.is_key()).collect()
    };
    let found = accept("struct A { @key long a; long b; };\n#pragma keylist A b kind\n");
    assert_eq!(keys(&found, "A"), [true, false]);
    let warnings: Vec<String> =
        found.diagnostics.iter().map(|diagnostic| diagnostic.one_line(&found.sources)).collect();
    let expected = [
        "test.idl:2:19: warning: `b` is not a key: `#pragma keylist` has no effect on a struct with `@key`",
        "test.idl:2:21: warning: `kind` names no member of `A`",
    ];
    assert_eq!(warnings, expected);
    let found = warn(
        "struct A { @key long a; }; struct B : A { long b[2]; };\n#pragma DCPS_DATA_KEY \"B b[0]\"\n",
        "2:26: `b[0]` is not a key: `#pragma DCPS_DATA_KEY` has no effect on a struct with `@key`",
    );
    assert_eq!(keys(&found, "B"), [false]);
    let found = warn(
        "struct Part { @key long a; long b; }; struct Whole { Part i; long c; };\n#pragma keylist Whole i.b c\n",
        "2:23: `i.b` is not a key: `#pragma keylist` has no effect on a struct with `@key`",
    );
    assert_eq!((keys(&found, "Whole"), keys(&found, "Part")), (vec![true, true], vec![true, false]));
    accept_silently("struct A { @key long a; long b; };\n#pragma keylist A a\n");
}

/// A member that an earlier pragma marks is not an annotation of the text.
#[test]
fn keylist_after_the_keylist_of_a_base_is_complete() {
    let text = "struct A { long a; }; struct B : A { long b; };\n";
    let (base, wrong) = ("#pragma keylist A a\n", "#pragma keylist B tpyo\n");
    refuse(&format!("{text}{base}{wrong}"), "3:19: `tpyo` names no member of `B`");
    refuse(&format!("{text}{wrong}{base}"), "2:19: `tpyo` names no member of `B`");
    let found = accept_silently(&format!("{text}{base}#pragma keylist B b\n#pragma keylist A a\n"));
    assert!(structure(&found, "A").members[0].is_key() && structure(&found, "B").members[0].is_key());
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
