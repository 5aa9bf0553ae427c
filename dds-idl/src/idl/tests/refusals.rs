//! Texts that are not IDL: the place of each error, and the limits of hostile input.

use super::{Options, parse_text, refusal, refuse, warn};

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
fn semicolon_without_a_member_is_accepted_with_a_warning() {
    let message = "a `;` without a member is not standard IDL";
    warn("struct A { long x;; };", &format!("1:19: {message}"));
    warn("union U switch (long) { case 1: long x;; };", &format!("1:40: {message}"));
}

#[test]
fn each_wrong_member_gets_its_error() {
    let error = refusal("struct A {\n  Foo a;\n  long b;\n  long b;\n  string<0> c;\n};\nstruct B { A a; };");
    let lines: Vec<u32> = error.diagnostics.iter().map(|found| error.sources.position(found.span()).line).collect();
    assert_eq!(lines, [2, 4, 5]);
}

/// Messages that no test of a subject has.
#[test]
fn each_refusal_has_its_message() {
    let parameters = (0..300).map(|n| format!("long p{n};")).collect::<String>();
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(300), close.repeat(300));
    let texts = [
        ("struct S { @id(1 2) long a; };", "expected `,` or `)` after the argument"),
        ("@5 struct S { long a; };", "expected the name of an annotation"),
        ("@note(a = ) struct S { long a; };", "expected the value of an argument"),
        ("struct S { long a; //@ID x\n};", "expected a member id from 0 to 268435455"),
        ("struct S { //@Extensibility NONE\n long a; }; //@Extensibility NONE\n", "expected FINAL, APPENDABLE"),
        ("@data_representation(1.5) struct S { long a; };", "expected XCDR1, XML or XCDR2, joined by `|`"),
        ("struct S { long a[\"x\"]; };", "expected an integer, found a string"),
        ("const double A = 1e999;", "`1e999` is too large for a number"),
        ("const string A = \"a\\0\";", "a string cannot contain the character NUL"),
        ("const long A = 0x7fffffffffffffff * 4;", "the result does not fit in 64 bits"),
        ("const wchar A = L'\\ud800';", "is not a character"),
        ("struct S { long a @note; };", "expected `[` after the annotation"),
        ("const long A[2] = 1;", "a constant cannot be an array"),
        ("valuetype V { public long a;", "expected `}` of a valuetype"),
        ("enum E { @value(\"x\") A };", "expected an integer as the value, found a string"),
        ("bitset B { long a; };", "expected `bitfield`"),
        ("local struct A { long a; };", "expected `interface`"),
        ("interface I { readonly long a; };", "expected `attribute`"),
        ("#pragma keylist\n", "expected the name of a type after `#pragma keylist`"),
        ("struct S { long a; };\n#pragma keylist S a[0]\n", "`a[0]` is not an element of an array"),
        ("enum E { A }; struct S : A { long b; };", "`A` is not a struct"),
        ("union U switch (long) { long a; };", "expected `case` or `default`"),
        ("union U switch (uint64) { case 18446744073709551615: long a; };", "is larger than 2^63 - 1"),
        ("#if 1 1\n#endif", "expected an operator"),
        ("#if 1 ? 2\n#endif", "expected `:`"),
        ("#undef 1\n", "expected the name of a macro"),
        ("#ifdef 1\n#endif", "expected the name of a macro"),
        ("#define 1\n", "expected the name of a macro"),
        ("#define defined\n", "`defined` cannot be a macro"),
        ("#define F(1) x\n", "expected parameters of a macro: `(A, B)`"),
        ("#include 5\n", "expected the name of a file"),
        ("#define P(a, b) a##b\nconst long A = P(+, 1);", "`##` creates `+1`, which is not one token"),
        ("/* struct S { long a; };", "this comment does not end"),
    ];
    let long = [
        (format!("{} struct S {{ long a; }};", "@note ".repeat(300)), "a definition has at most 256 annotations"),
        (format!("@note({}0) struct S {{ long a; }};", "0, ".repeat(300)), "an annotation has at most 256 arguments"),
        (format!("@annotation a {{ {parameters} }};"), "an annotation has at most 256 parameters"),
        (format!("interface I {{ void f({}in long p); }};", "in long, ".repeat(300)), "too many parameters"),
        (format!("const double A = {}.5;", "1".repeat(10_000)), "a number has at most"),
        (nested("module a {", "};"), "more than 200 levels of nesting"),
        (
            "typedef long A0;".to_owned()
                + &(1..300).map(|n| format!("typedef sequence<A{}> A{n};", n - 1)).collect::<String>(),
            "more than 200 levels of nesting: typedefs count",
        ),
        (format!("#if {}1\n#endif", "!".repeat(300)), "too many levels of operators"),
        (
            format!("#define F(x) x\nconst long A = {};", nested("F(", ")")),
            "macro calls are nested more than 100 times",
        ),
        (
            "#define A0 1 1\n".to_owned()
                + &(1..60).map(|n| format!("#define A{n} A{} A{}\n", n - 1, n - 1)).collect::<String>()
                + "A59",
            "macros produce more than 2000000 tokens",
        ),
        (
            format!(
                "#define S(x) #x\n#define T(x) S(x)\nconst string A = {}\"\\\"\"{};",
                "T(".repeat(40),
                ")".repeat(40)
            ),
            "macros create more than 16777216 bytes of text",
        ),
        (
            format!(
                "struct S {{ {} long {}; }};",
                "@note(0) ".repeat(200),
                (0..100_000).map(|n| format!("m{n}")).collect::<Vec<_>>().join(", ")
            ),
            "more than 2000000 annotations and parts of types",
        ),
    ];
    for (text, message) in texts.map(|(text, message)| (text.to_owned(), message)).into_iter().chain(long) {
        let error = refusal(&text).to_string();
        assert!(error.contains(message), "{}\n{}", &text[..text.len().min(80)], &error[..error.len().min(400)]);
    }
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
