//! Interfaces, and other definitions that are not data.

use super::{accept, accept_silently, member_types, refusal, refuse, warn};
use crate::model::{DefinitionKind, NotData};

#[test]
fn types_that_are_not_data_are_refused_in_members() {
    refuse("struct A { any a; };", "1:12: `any` is not data of a DDS topic");
    refuse("struct A { fixed<5, 2> a; };", "1:12: `fixed` is not data of a DDS topic");
    refuse("interface I { void f(); }; struct A { @key I i; };", "1:44: `I` is an interface, which is not data");
    for (text, help) in [
        ("struct A { any a; };", "write a union with a member for each type, or `sequence<octet>`"),
        ("typedef any T; struct A { T a; };", "the type system of DDS has no such type (XTypes 1.3, 7.2.2)"),
        ("struct A { fixed<5, 2> a; };", "write an integer and its scale, or a `string`"),
        ("struct A { Object a; };", "remove the member, or write a `string` with the name of the object"),
        ("interface I { void f(); }; @topic struct A { I i; };", "an interface with `@service` has request and reply"),
        ("valuetype V { public long x; }; @topic struct A { V i; };", "help: write a struct"),
    ] {
        let error = refusal(text).to_string();
        assert!(error.contains(help), "{error}");
    }
    let text = "valuetype V { public long x; }; @topic struct A { sequence<V> i; };";
    refuse(text, "1:51: `V` is a valuetype, which is not data");
    let expected = "1:11: `V` is a valuetype, which is not data";
    warn("valuetype V { public long x; factory f(in long a); };", expected);
    warn("component C { provides I i; };", "1:11: `C` is a component, which is not data");
}

#[test]
fn struct_of_corba_is_skipped_with_its_users() {
    let text = "interface I { void f(in any a); }; \
                struct A { any a; }; typedef sequence<A> As; struct B { As all; long b; }; \
                union U switch (long) { case 1: I i; case 2: long j; }; exception E { any why; }; struct C { long c; };";
    let found = accept(text);
    for name in ["A", "B", "U", "E"] {
        let kind = &found.definition(found.find(name).unwrap()).kind;
        assert!(matches!(kind, DefinitionKind::NotData(NotData::Struct)), "{name}: {kind:?}");
    }
    assert!(found.definition(found.find("C").unwrap()).is_topic_type());
    let code = crate::rust::generate(&found, &crate::rust::RustOptions::default()).unwrap();
    assert!(code.contains("struct C") && !code.contains("As"), "{code}");
    warn(
        "interface I; struct A { I a; }; interface I { };",
        "1:25: `A` is skipped: `I` is an interface, which is not data",
    );
    warn("interface I { }; struct A { any a; };", "1:29: `A` is skipped: `any` is not data of a DDS topic");
    let text = "interface I { }; struct A { any a; }; struct B { @key long id; A a; };";
    refuse(text, "1:46: `B` is for topics, but a part of it is not data");
    let printed = crate::print::to_idl(&found);
    crate::idl::parse_text("again.idl", &printed, &crate::idl::Options::default()).unwrap();
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
    refuse("interface I { void f(in long a, in long a); };", "1:41: the parameter `a` is defined twice");
    refuse("struct S { long a; }; interface I : S { };", "1:37: `S` is not an interface");
    warn("interface I { void f(inout long); };", "1:28: a parameter without a name is not standard IDL");
}

#[test]
fn template_modules_are_skipped() {
    let text = "module M<typename T> { struct S { T a; }; }; struct P { long a; };";
    let found = warn(text, "1:8: `M` is a template module, which has no types");
    assert!(found.find("P").is_some());
    let used = accept("module M<typename T> { }; module M<long> N; struct P { long a; };");
    assert!(used.find("N").is_some());
    refuse(
        "module M<typename T> { struct S { T a; };",
        "1:42: expected `}` of the template module, found the end of the file",
    );
}

/// `sequence/test.idl` of TAOX11.
#[test]
fn type_of_a_template_module_is_not_data() {
    let module = "module M<typename T> { typedef T U; }; module t { module M<long> N; };";
    accept(&format!("{module} interface I {{ t::N::U f(in t::N::U a) raises (t::N::E); attribute t::N::U b; }};"));
    let text = format!("{module} struct S {{ t::N::U a; }}; struct P {{ long a; }};");
    let found = accept(&text);
    assert!(matches!(found.definition(found.find("S").unwrap()).kind, DefinitionKind::NotData(NotData::Struct)));
    assert!(found.definition(found.find("P").unwrap()).is_topic_type());
    let message = "`S` is skipped: `N` is a template module, which is not data";
    assert!(found.diagnostics.iter().any(|diagnostic| diagnostic.message == message));
    let error = refusal(&format!("{module} const long A = t::N::B;")).to_string();
    assert!(error.contains("`N` is a template module, not a constant"), "{error}");
}

/// Compilers of CORBA have its module built in.
#[test]
fn types_of_corba_need_no_include() {
    warn(
        "interface I : CORBA::Object { }; struct S { CORBA::TypeCode type; };",
        "1:45: `S` is skipped: `CORBA::TypeCode` is not data of a DDS topic",
    );
    refuse("struct S { CORBA::TypeCode type; };", "1:12: `CORBA::TypeCode` is not data of a DDS topic");
    // omniORB knows this type also by its short name: `corbaidl.idl` of omniORB.
    let found = warn(
        "module CORBA { interface I { TypeCode type(); }; struct S { long a; }; };",
        "1:30: the type `TypeCode` is not standard IDL",
    );
    assert_eq!(member_types(&found, "CORBA::S"), ["int32"]);
    // `orb.idl` of omniORB: its module lacks the types that are built into the compiler.
    let text = "module CORBA { typedef string Id; }; interface I { CORBA::TypeCode f(in CORBA::InterfaceDef a); }; \
                struct S { CORBA::TypeCode type; }; struct P { CORBA::Id id; };";
    assert_eq!(
        member_types(&warn(text, "1:111: `S` is skipped: `CORBA::TypeCode` is not data of a DDS topic"), "P"),
        ["CORBA::Id"]
    );
    refuse("module CORBA { typedef string Id; }; struct S { CORBA::Idd id; };", "1:56: cannot find type `Idd`");
    // Elsewhere, another file may have to define it.
    refuse("struct S { TypeCode type; };", "1:12: cannot find type `TypeCode`");
    refuse("module M { module CORBA { struct S { TypeCode type; }; }; };", "1:38: cannot find type `TypeCode`");
}

#[test]
fn base_of_an_interface_may_be_an_alias() {
    accept("interface A { void f(); }; typedef A Alias; interface B : Alias { };");
    refuse("struct A { long x; }; typedef A Alias; interface B : Alias { };", "1:54: `Alias` is not an interface");
    refuse("interface A; interface B { void f() raises (A); };", "1:45: `A` is not an exception");
    accept("native E; interface I { void f() raises (E); };");
}
