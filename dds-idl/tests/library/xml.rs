//! XML types: the same types as the IDL that says the same.

use dds_idl::description::{DescriptionForm, type_graph};
use dds_idl::idl::{Options, parse_text};
use dds_idl::model::{DefinitionKind, Specification};
use dds_idl::print::to_xml;
use dds_idl::xml::parse_xml;

/// The TypeObjects of all data types.
fn objects(specification: &Specification) -> Vec<String> {
    let mut found = Vec::new();
    for (id, definition) in specification.definitions() {
        if definition.is_data_type() {
            let graph = type_graph(specification, id, DescriptionForm::Standard).unwrap();
            found.push(format!("{} {:?}", definition.scoped_name, graph.types()[0].complete));
        }
    }
    found
}

fn compare(xml: &str, idl: &str) {
    let from_xml = parse_xml("types.xml", xml, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let from_idl = parse_text("types.idl", idl, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(objects(&from_xml), objects(&from_idl));
}

#[test]
fn document_of_rti_connext_has_the_types_of_its_idl() {
    compare(
        include_str!("../data/xml/connext.xml"),
        "const long LENGTH = 4;
        module shapes {
            @final enum Color { @value(1) RED, @default_literal BLUE };
            typedef string<128> Name;
            @mutable @nested struct Base { @key @id(7) Name name; };
            @mutable struct Shape : Base {
                @min(-1) @max(100) @unit(\"m\") long x;
                @optional sequence<double, LENGTH> path;
                uint8 grid[2][LENGTH];
                @must_understand @default(BLUE) Color color;
                string _struct;
            };
            @final union Choice switch (long) { case 1: case 2: boolean a; default: wstring b; };
        };",
    );
}

#[test]
fn label_of_a_wide_character_is_a_character() {
    compare(
        r#"<types><union name="U"><discriminator type="wchar"/>
            <case><caseDiscriminator value="a"/><member name="a" type="long"/></case>
            <case><caseDiscriminator value="'0'"/><member name="b" type="long"/></case></union></types>"#,
        "union U switch (wchar) { case L'a': long a; case L'0': long b; };",
    );
}

#[test]
fn profile_of_fast_dds_has_the_types_of_its_idl() {
    compare(
        include_str!("../data/xml/fast_dds.xml"),
        "@bit_bound(8) bitmask Mask { @position(0) a, @position(4) b };
        bitset Bits { bitfield<3> low; bitfield<2>; bitfield<10, int16> rest; };
        struct Sample {
            map<long, float> table; sequence<octet> list; char letter; wchar wide; Mask mask; Bits bits;
            long double long_one;
        };",
    );
}

/// Files of RTI Connext, OpenDDS, and of vendors that follow XTypes 1.0.
#[test]
fn forms_of_vendors_have_their_types() {
    compare(
        include_str!("../data/xml/vendors.xml"),
        "const char NEWLINE = '\\n';
        @bit_bound(16) bitmask Flags { @position(0) LOW, @position(9) HIGH };
        enum Level { CALM, ALARM };
        @appendable struct Lookup {
            @id(30) map<Level, uint32, 3> by_level;
            map<string, int16> by_name;
            @default('\\x41') char letter;
        };",
    );
    let error = parse_xml("t.xml", "<!DOCTYPE dds>\n<types>\n<a/></types>", &Options::default()).unwrap_err();
    assert!(error.to_string().contains("--> t.xml:3:1"), "{error}");
}

#[test]
fn list_of_all_documents_may_contain_itself() {
    let documents = [
        ("all.xml", r#"<types><include file="./all.xml"/><include file="a.xml"/></types>"#),
        ("a.xml", r#"<types><struct name="A"><member name="x" type="int32"/></struct></types>"#),
    ];
    let folder = folder_with("all", &documents);
    let specification = dds_idl::xml::parse_file(folder.join("all.xml"), &Options::default()).unwrap();
    assert!(specification.find("A").is_some());
}

#[test]
fn errors_name_the_line_of_the_document() {
    let wrap = |inner: &str| format!("<types>\n<struct name=\"A\">\n{inner}\n</struct>\n</types>");
    for (text, expected) in [
        (wrap("<member name=\"x\" type=\"Other\"/>"), "t.xml:3:1: error: cannot find type `Other`"),
        (wrap("<member name=\"x\"/>"), "t.xml:3:1: error: `<member>` has no attribute `type`"),
        (wrap("<member name=\"a b\" type=\"int32\"/>"), "t.xml:3:1: error: `<member>` has no valid name: `a b`"),
        (
            wrap("<member name=\"x\" type=\"int32\" id=\"1); } struct B {\"/>"),
            "t.xml:3:1: error: `1); } struct B {` is not a constant expression",
        ),
        (wrap("<annotation name=\"x\"/>"), "t.xml:3:1: error: expected `<member>`, not `<annotation>`"),
        ("<types>\n<include file=\"b.xml\"/></types>".to_owned(), "t.xml:2:1: error: cannot find `b.xml`"),
        ("<types>\n<include/></types>".to_owned(), "t.xml:2:1: error: an `<include>` has an attribute `file`"),
        (
            "<types>\n<valuetype name=\"V\" typeModifier=\"custom\"/></types>".to_owned(),
            "t.xml:2:1: error: a valuetype with the modifier `custom` is not data of a topic",
        ),
        (
            wrap(
                "<member name=\"x\" type=\"int32\"><annotate name=\"A\"><member name=\"b\" value=\"1) @key\"/></annotate></member>",
            ),
            "t.xml:3:50: error: `1) @key` is not a constant expression",
        ),
        ("<a/>".to_owned(), "t.xml:1:1: error: expected an element `types`"),
        ("<types>\n<struct</types>".to_owned(), "t.xml:2:8: error: not XML: "),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><types/>".to_owned(), "t.xml:1:1: error: not XML: "),
    ] {
        let error = parse_xml("t.xml", &text, &Options::default()).unwrap_err();
        let line = error.diagnostics.iter().next().unwrap().one_line(&error.sources);
        assert!(line.starts_with(expected), "{line}\nexpected: {expected}");
    }
}

/// Writes documents, and returns their folder.
fn folder_with(name: &str, documents: &[(&str, &str)]) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("xml_include").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    for (path, text) in documents {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn included_documents_define_types_in_their_place() {
    let folder = folder_with(
        "order",
        &[
            (
                "main.xml",
                r#"<dds><types>
                <struct name="First"><member name="a" type="int32"/></struct>
                <include file="parts/shapes.xml"/>
                <include file="parts/base.xml"/>
                <module name="m"><include file="other.xml"/><struct name="Last">
                    <member name="s" type="nonBasic" nonBasicTypeName="Shape"/>
                    <member name="o" type="nonBasic" nonBasicTypeName="Other"/>
                </struct></module></types></dds>"#,
            ),
            (
                "parts/shapes.xml",
                "<types><include file=\"base.xml\"/><struct name=\"Shape\" baseType=\"Base\">
                <member name=\"f\" type=\"nonBasic\" nonBasicTypeName=\"First\"/></struct></types>",
            ),
            ("parts/base.xml", "<types><struct name=\"Base\"><member name=\"b\" type=\"int8\"/></struct></types>"),
            ("elsewhere/other.xml", "<types><enum name=\"Other\"><enumerator name=\"A\"/></enum></types>"),
        ],
    );
    let options = Options { include_dirs: vec![folder.join("elsewhere")], ..Options::default() };
    let from_xml =
        dds_idl::xml::parse_file(folder.join("main.xml"), &options).unwrap_or_else(|error| panic!("{error}"));
    let idl = "struct First { long a; }; struct Base { int8 b; }; struct Shape : Base { First f; };
        module m { enum Other { A }; struct Last { Shape s; Other o; }; };";
    assert_eq!(objects(&from_xml), objects(&parse_text("t.idl", idl, &Options::default()).unwrap()));
    let files: Vec<_> = from_xml.sources.files().map(|(_, file)| file.included_at().is_some()).collect();
    assert_eq!(files, [false, true, true, true]);
}

#[test]
fn faults_of_included_documents_name_their_file_and_line() {
    let one = "<types>\n<include file=\"two.xml\"/></types>";
    for (name, second, expected) in [
        ("cycle", "<types>\n\n <include file=\"one.xml\"/></types>", "two.xml:3:2: error: `one.xml` includes itself"),
        ("own", "<types>\n<include file=\"two.xml\"/></types>", "two.xml:2:1: error: `two.xml` includes itself"),
        (
            "type",
            "<types>\n<typedef name=\"A\" type=\"Missing\"/></types>",
            "two.xml:2:9: error: cannot find type `Missing`",
        ),
        ("syntax", "<types>\n<a", "two.xml:1:1: error: not XML: "),
        ("empty", "<a/>", "two.xml:1:1: error: expected an element `types`"),
    ] {
        let folder = folder_with(name, &[("one.xml", one), ("two.xml", second)]);
        let error = dds_idl::xml::parse_file(folder.join("one.xml"), &Options::default()).unwrap_err();
        let line = error.diagnostics.iter().next().unwrap().one_line(&error.sources);
        let expected = folder.join(expected).display().to_string();
        assert!(line.starts_with(&expected), "{line}\nexpected: {expected}");
    }
}

#[test]
fn include_bombs_are_refused() {
    let mut documents: Vec<(String, String)> = Vec::new();
    for index in 0..150 {
        let text = format!("<types><include file=\"d{}.xml\"/></types>", index + 1);
        documents.push((format!("d{index}.xml"), text));
    }
    // Each of them would include the last one ten thousand times.
    documents.push(("wide.xml".to_owned(), format!("<types>{}</types>", "<include file=\"a.xml\"/>".repeat(10_000))));
    documents.push(("a.xml".to_owned(), "<types/>".to_owned()));
    let documents: Vec<(&str, &str)> = documents.iter().map(|(path, text)| (&**path, &**text)).collect();
    let folder = folder_with("bomb", &documents);
    for (file, expected) in [
        ("d0.xml", "includes are nested more than 100 times"),
        ("wide.xml", "the document has too many `<include>` elements"),
    ] {
        let error = dds_idl::xml::parse_file(folder.join(file), &Options::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn annotations_and_valuetypes_are_those_of_idl() {
    compare(
        include_str!("../data/xml/annotations.xml"),
        "@annotation Author { string name default \"none\"; long year; };
        struct Base { @key long id; };
        @Author(name = \"me\", year = 2) struct Value : Base { @optional @unit(\"m\") double x; };",
    );
}

#[test]
fn deep_documents_are_refused() {
    let text = format!("<types>{}{}</types>", "<module name=\"m\">".repeat(5_000), "</module>".repeat(5_000));
    assert!(parse_xml("t.xml", &text, &Options::default()).is_err());
}

/// Prints as XML, reads it, and compares the TypeObjects of all types.
fn comes_back(specification: &Specification) {
    let text =
        to_xml(specification).unwrap_or_else(|errors| panic!("{}", errors.render(&specification.sources, false))).text;
    let again = parse_xml("printed.xml", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (mut expected, mut found) = (objects(specification), objects(&again));
    expected.sort();
    found.sort();
    assert_eq!(found, expected, "{text}");
    assert_eq!(to_xml(&again).unwrap().text, text);
}

#[test]
fn printed_types_read_back_equal() {
    for text in [include_str!("../data/xml/connext.xml"), include_str!("../data/xml/fast_dds.xml")] {
        comes_back(&parse_xml("types.xml", text, &Options::default()).unwrap());
    }
    let text = "module m {
            struct Later; union Either;
            struct First { sequence<Later> later; sequence<Either, 3> all; sequence<First> own; };
            @autoid(HASH) @mutable struct Later { sequence<First> first; @id(4) long a; @hashid(\"x\") long b; @hashid long c; };
            union Either switch (@key char) { case 'a': First one; case '<': @external Later two; default: boolean c; };
            @bit_bound(8) enum E { A, @default_literal @value(5) B };
            union OfEnum switch (E) { case A: long a; case B: @try_construct(TRIM) string<3> b; };
            union OfBool switch (boolean) { case TRUE: octet a[2][3]; };
        };
        const string TEXT = \"a < b & 'c'\"; const char LETTER = '\"'; const boolean YES = TRUE; const double D = 1.5e300;
        const m::E LITERAL = m::B;
        struct Maps {
            map<string, sequence<wstring<4>, 2>, 7> a; map<m::E, long double> b[2]; @default(m::B) m::E e;
            @min(-1) @max(2.5) @unit(\"m/s\") @default(0.5) double d; @optional @must_understand wchar w;
        };
        bitset Base { bitfield<3> a; }; bitset Own : Base { bitfield<2>; bitfield<10, short> b; };";
    comes_back(&parse_text("types.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}")));
    // Two enums have the same enumerator.
    let text = "module m { enum A { X }; enum B { X, Z }; union U switch (B) { case X: long x; case Z: long z; };
        const B N = B::X; struct S { @default(X) A a; }; };";
    comes_back(&parse_text("types.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn texts_keep_their_spaces_and_quotes() {
    let text =
        "const string A = \" a \"; const string B = \"\\\"\"; const string C = \"\\\"b\\\"\"; const string D = \"\";
        const char E = ' '; const char F = '\\''; const char G = '\\\\';
        union U switch (char) { case ' ': long a; case '\"': long b; };
        struct S { @unit(\" m \") long a; @default(\" b\") string b; @hashid(\" c\") long c; };";
    let specification = parse_text("types.idl", text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    comes_back(&specification);
    let again = parse_xml("t.xml", &to_xml(&specification).unwrap().text, &Options::default()).unwrap();
    for name in ["A", "B", "C", "D", "E", "F", "G"] {
        let value = |specification: &Specification| {
            let definition = specification.definition(specification.find(name).unwrap());
            let DefinitionKind::Constant(found) = &definition.kind else { panic!("{name}") };
            found.value.clone()
        };
        assert_eq!(value(&again), value(&specification), "{name}");
    }
}

#[test]
fn member_that_is_not_sent_and_default_of_a_discriminator_come_back() {
    let text = "struct A { long a; @non_serialized long b; long c; };
        union U switch (@try_construct(USE_DEFAULT) long) { case 1: long a; };";
    let specification = parse_text("types.idl", text, &Options::default()).unwrap();
    comes_back(&specification);
    let xml = to_xml(&specification).unwrap();
    assert!(xml.text.contains("nonSerialized=\"true\"") && xml.warnings.warning_count() == 0, "{}", xml.text);
}

#[test]
fn parts_that_xml_lacks_are_reported_with_their_place() {
    let text = "interface I { void f(); };\nexception E { long a; };\n@verbatim(text = \"x\") struct S {
        @Mine long a; };\n@unit(\"m\") typedef long L;";
    let specification = parse_text("t.idl", text, &Options::default()).unwrap();
    let xml = to_xml(&specification).unwrap();
    let lines: Vec<String> = xml.warnings.iter().map(|found| found.one_line(&specification.sources)).collect();
    let expected = [
        "t.idl:1:11: warning: XML types have no place for `I`, an interface",
        "t.idl:2:11: warning: XML types have no place for `E`, an exception",
        "t.idl:3:1: warning: XML types have no place for `@verbatim`",
        "t.idl:4:9: warning: XML types have no place for `@Mine`",
        "t.idl:5:1: warning: XML types have no place for `@unit`",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn types_that_xml_lacks_are_refused_with_their_place() {
    for (text, expected) in [
        (
            "struct A { sequence<sequence<long>> x; };",
            "1:37: error: XML types have no `sequence<int32>` inside of another collection: it needs a typedef",
        ),
        ("struct A { sequence<@external long> x; };", "1:37: error: XML types have no annotations of elements"),
        ("interface I { typedef long L; };", "1:11: error: XML types have no types inside of an interface"),
        ("const wchar C = L'x';", "1:13: error: XML types have no such value"),
    ] {
        let specification = parse_text("t.idl", text, &Options::default()).unwrap();
        let errors = to_xml(&specification).unwrap_err();
        let lines: Vec<String> = errors.iter().map(|error| error.one_line(&specification.sources)).collect();
        assert_eq!(lines, [format!("t.idl:{expected}")]);
    }
}

#[test]
fn builder_writes_the_code_of_an_xml_file() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/xml");
    let out_dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("xml");
    std::fs::create_dir_all(&out_dir).unwrap();
    dds_idl::Builder::new().out_dir(&out_dir).compile(&[folder.join("connext.xml")]).unwrap();
    let code = std::fs::read_to_string(out_dir.join("connext.rs")).unwrap();
    assert!(code.contains("pub struct Shape {"), "{code}");
}
