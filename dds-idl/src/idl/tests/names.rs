//! Names and the scopes in which they are searched.

use super::{Options, accept, accept_silently, member_types, parse_text, refusal, refuse, structure, warn};

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
}

/// Both places, the clause and the next step.
#[test]
fn names_that_differ_only_in_case_collide() {
    let collisions = [
        ("struct A { long x; short X; };", "1:26: `X` differs from `x` only in case"),
        ("struct A { long x; };\nstruct a { long x; };", "2:8: `a` differs from `A` only in case"),
        ("const long N = 1;\nenum E { n };", "2:10: `n` differs from `N` only in case"),
        ("union U switch (long) { case 1: long a; case 2: long A; };", "1:54: `A` differs from `a` only in case"),
        ("interface I { void f(in long a, in long A); };", "1:41: `A` differs from `a` only in case"),
    ];
    let options = Options { case_sensitive: true, ..Options::default() };
    for (text, expected) in collisions {
        refuse(text, expected);
        let error = refusal(text).to_string();
        for part in [
            "first definition",
            "(IDL 4.2, 7.2.3)",
            "`--case-sensitive`, `Builder::case_sensitive`, or `case_sensitive` in `idl!`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        parse_text("a.idl", text, &options).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn case_sensitive_text_has_its_exact_names() {
    let options = Options { case_sensitive: true, ..Options::default() };
    let parse = |text: &str| parse_text("a.idl", text, &options);
    let text = "struct A { long x; }; typedef A B; struct a { B b; A B; };";
    assert_eq!(member_types(&parse(text).unwrap(), "a"), ["B", "A"]);
    let error = parse("struct Pose { long x; }; struct B { pose p; };").unwrap_err().to_string();
    assert!(error.contains("cannot find type `pose`") && error.contains("did you mean `Pose`?"), "{error}");
}

#[test]
fn typedef_of_the_same_type_twice_is_accepted_with_a_warning() {
    let text = "typedef double T[3];\ntypedef double T[3];";
    warn(text, "2:16: the typedef `T` a second time is not standard IDL");
    refuse("typedef double T[3];\ntypedef double T[4];", "2:16: `T` is defined twice");
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
fn modules_that_differ_in_case_are_two_modules() {
    let text = "module DDS { typedef long Id; struct A { Id id; }; }; module dds { struct B { DDS::Id id; }; }; \
                module dds { struct C { B b; dds::B c; ::dds::B d; }; }; module DDS { struct D { A a; ::dds::C c; }; };";
    let found = warn(text, "1:62: the module `dds`, which differs from `DDS` only in case, is not standard IDL");
    assert_eq!(member_types(&found, "dds::C"), ["dds::B", "dds::B", "dds::B"]);
    assert_eq!(member_types(&found, "DDS::D"), ["DDS::A", "dds::C"]);
    refuse("module a { struct M { long x; }; module m { }; };", "1:41: `m` differs from `M` only in case");
}

#[test]
fn last_error_is_a_module_with_the_name_of_a_struct() {
    let text = "struct S { long a; };\n".to_owned()
        + &"const long A = ;\n".repeat(99)
        + "module S { struct T { long a; }; };\n"
        + &"const long A = ;\n".repeat(5);
    assert_eq!(refusal(&text).diagnostics.error_count(), 100);
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

/// RTI Connext keeps both, and each use has the spelling of one of them.
#[test]
fn enumerator_and_type_may_differ_only_in_case() {
    let text = "struct Sample { long x; }; enum E { SAMPLE }; struct U { Sample s; @default(SAMPLE) E e; };";
    let found = warn(
        text,
        "1:37: the enumerator `SAMPLE`, which differs from the type `Sample` only in case, is not standard IDL",
    );
    assert_eq!(member_types(&found, "U"), ["Sample", "E"]);
    let text = "enum E { SAMPLE }; struct Sample { long x; }; const E A = SAMPLE; struct U { Sample s; };";
    let found = warn(
        text,
        "1:27: the enumerator `SAMPLE`, which differs from the type `Sample` only in case, is not standard IDL",
    );
    assert_eq!(member_types(&found, "U"), ["Sample"]);
    refuse(
        "struct Sample { long x; }; enum E { SAMPLE }; struct Sample { long x; };",
        "1:54: `Sample` is defined twice",
    );
}

#[test]
fn name_of_the_scope_is_not_defined_again() {
    let text = "module M { struct M { long a; }; };";
    warn(text, "1:19: the name `M` of the definition around it is not standard IDL");
    let text = "struct S { long S; };";
    warn(text, "1:17: the name `S` of the definition around it is not standard IDL");
    accept_silently("module M { module N { struct M { long m; }; }; };");
}

#[test]
fn macro_of_another_compiler_is_named() {
    let error = refusal("const long A = __TAO_IDL;");
    assert!(error.to_string().contains("`-D __TAO_IDL=VALUE`"), "{error}");
}
