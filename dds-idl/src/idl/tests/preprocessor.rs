//! Macros, conditionals and included files.

use super::{
    Options, accept, accept_silently, constant, member_types, parse_file, parse_text, refusal, refuse, structure, warn,
};
use crate::idl::parse_files;
use crate::idl::preprocessor::MESSAGES_MAX;
use crate::model::{BasicType, ConstantValue, DataType};

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
    let parse = |name: &str| parse_file(folder.join(name), &options);
    let main = parse("main.idl").unwrap();
    assert_eq!(main.sources.files().count(), 4);
    assert_eq!(member_types(&main, "Main"), ["X"]);
    assert!(main.sources.is_root(main.definition(main.find("Main").unwrap()).span));
    assert!(!main.sources.is_root(main.definition(main.find("X").unwrap()).span));
    // The caller names a file, and a file before it includes this one.
    let both = parse_files(&[folder.join("main.idl"), folder.join("lib/sub/x.idl")], &options).unwrap();
    let is_root = |name: &str| both.sources.is_root(both.definition(both.find(name).unwrap()).span);
    assert_eq!(["Main", "X", "Y"].map(is_root), [true, true, false]);
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

/// `Shape.idl` of `autoware_auto_perception_msgs` uses `Vector3` and includes `Polygon.idl` alone.
#[test]
fn message_of_ros_needs_no_include_in_a_file_of_a_package() {
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-messages", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let shape = "/// The contour.\nmodule a_msgs { module msg { struct Shape {\n\
        geometry_msgs::msg::Polygon footprint; geometry_msgs::msg::Vector3 size; b_msgs::msg::Part part; }; }; };";
    write("a_msgs/msg/Shape.idl", &format!("#include \"geometry_msgs/msg/Polygon.idl\"\n{shape}"));
    write("b_msgs/msg/Part.idl", "module b_msgs { module msg { struct Part { c_msgs::msg::Own own; }; }; };");
    write("a_msgs/msg/Wrong.idl", "module a_msgs { module msg { struct Wrong { b_msgs::msg::Prt part; }; }; };");
    write("shapes/shape.idl", shape);
    // Each file of a server may stand below `/srv`.
    write("srv/shapes/shape.idl", shape);
    write(
        "msg/shapes/own.idl",
        "module a_msgs {\nmodule own {\nstruct Own { geometry_msgs::msg::Vector3 size; }; }; };",
    );
    let options = Options { include_dirs: vec![folder.clone()], ..Options::default() };
    let own = "module c_msgs { module msg { module Own_Constants { typedef long Kind; };\nstruct Own { \
        c_msgs::msg::Own_Constants::Kind b; }; }; };";
    write("c_msgs/msg/Own.idl", own);
    let found = parse_file(folder.join("a_msgs/msg/Shape.idl"), &options).unwrap();
    let types = ["geometry_msgs::msg::Polygon", "geometry_msgs::msg::Vector3", "b_msgs::msg::Part"];
    assert_eq!(member_types(&found, "a_msgs::msg::Shape"), types);
    let module = found.definition(found.find("a_msgs").unwrap());
    assert_eq!(module.doc.as_deref(), Some("The contour."));
    let warnings: Vec<_> = found.diagnostics.iter().map(|warning| warning.one_line(&found.sources)).collect();
    let places = ["Shape.idl:4:40: ", "Shape.idl:4:74: ", "Part.idl:1:44: "];
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    for place in places {
        let expected = format!("{place}warning: a type without an `#include` is not standard IDL");
        assert!(warnings.iter().any(|warning| warning.ends_with(&expected)), "{expected}: {warnings:?}");
    }
    for (file, place) in [
        ("a_msgs/msg/Wrong.idl", "1:45: "),
        ("shapes/shape.idl", "3:1: "),
        ("srv/shapes/shape.idl", "3:1: "),
        ("msg/shapes/own.idl", "3:14: "),
    ] {
        let error = parse_file(folder.join(file), &options).unwrap_err();
        let first = error.diagnostics.iter().next().unwrap().one_line(&error.sources);
        assert!(first.contains(&format!("{place}error: cannot find type")), "{first}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// An `#if` may keep an old form, and a macro may name a message. The comment and the pragma keep their places.
#[test]
fn message_of_ros_counts_after_conditionals_and_macros() {
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-parts", std::process::id()));
    let messages = folder.join("a_msgs/msg");
    std::fs::create_dir_all(&messages).unwrap();
    let text = "#define SIZE geometry_msgs::msg::Vector3\n\
        #ifdef OLD\nmodule a_msgs { module msg { struct Old { geometry_msgs::msg::Polygon a; }; }; };\n#endif\n\
        /// The box.\nmodule a_msgs { module msg {\nstruct Part { long a; };\n\
        struct Box { long id; SIZE size; a_msgs::msg::Part part;\n\
        #if 0\ngeometry_msgs::msg::Point point;\n#endif\n};\n#pragma keylist Box id\n}; };";
    std::fs::write(messages.join("Box.idl"), text).unwrap();
    // The file defines the message itself.
    std::fs::write(messages.join("Part.idl"), "module a_msgs { module msg { struct Part { long b; }; }; };").unwrap();
    let options = Options { include_dirs: vec![folder.clone()], ..Options::default() };
    let found = parse_file(messages.join("Box.idl"), &options).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let types = ["int32", "geometry_msgs::msg::Vector3", "a_msgs::msg::Part"];
    assert_eq!(member_types(&found, "a_msgs::msg::Box"), types);
    let warnings: Vec<_> = found.diagnostics.iter().map(|warning| warning.one_line(&found.sources)).collect();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.ends_with("Box.idl:8:23: warning: a type without an `#include` is not standard IDL"), "{warning}");
    assert!(found.find("geometry_msgs::msg::Polygon").or(found.find("geometry_msgs::msg::Point")).is_none());
    assert!(structure(&found, "a_msgs::msg::Box").members[0].is_key());
    let module = found.definition(found.find("a_msgs").unwrap());
    assert_eq!(module.doc.as_deref(), Some("The box."));
}

/// Two packages have the message `Point`, and a third one has it outside of its module `msg`.
#[test]
fn message_of_ros_is_told_apart_by_its_package() {
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-points", std::process::id()));
    let messages = folder.join("a_msgs/msg");
    std::fs::create_dir_all(&messages).unwrap();
    std::fs::write(messages.join("Point.idl"), "module a_msgs { module msg { struct Point { long a; }; }; };").unwrap();
    let other = "module geometry_msgs { module other { struct Point { long a; }; }; };";
    std::fs::write(messages.join("Other.idl"), other).unwrap();
    let text = "#include \"a_msgs/msg/Point.idl\"\n#include \"a_msgs/msg/Other.idl\"\n\
        module a_msgs { module msg { struct Line { a_msgs::msg::Point a; geometry_msgs::msg::Point b; }; }; };";
    std::fs::write(messages.join("Line.idl"), text).unwrap();
    let options = Options { include_dirs: vec![folder.clone()], ..Options::default() };
    let found = parse_file(messages.join("Line.idl"), &options).unwrap();
    assert_eq!(member_types(&found, "a_msgs::msg::Line"), ["a_msgs::msg::Point", "geometry_msgs::msg::Point"]);
    let warnings: Vec<_> = found.diagnostics.iter().map(|warning| warning.one_line(&found.sources)).collect();
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(warning.ends_with("Line.idl:3:66: warning: a type without an `#include` is not standard IDL"), "{warning}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Without the sets of names, each use reads all tokens of the large file. The limit counts searches, not uses.
#[test]
fn message_of_ros_is_searched_once() {
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-searches", std::process::id()));
    let messages = folder.join("a_msgs/msg");
    std::fs::create_dir_all(&messages).unwrap();
    std::fs::write(messages.join("Large.idl"), "const long A = 1".to_owned() + &" + 1".repeat(100_000) + ";").unwrap();
    let options = Options { include_dirs: vec![folder.clone()], ..Options::default() };
    let message_limit = format!("more than {MESSAGES_MAX} messages of ROS have no `#include`");
    let is_limited = |name: fn(usize) -> usize, count: usize| {
        let uses: String = (0..count).map(|at| format!("b_msgs::msg::A{} a{at};\n", name(at))).collect();
        let text =
            format!("#include \"a_msgs/msg/Large.idl\"\nmodule a_msgs {{ module msg {{ struct S {{ {uses} }}; }}; }};");
        std::fs::write(messages.join("Uses.idl"), text).unwrap();
        let error = parse_file(messages.join("Uses.idl"), &options).unwrap_err();
        error.diagnostics.iter().any(|diagnostic| diagnostic.message == message_limit)
    };
    assert!(!is_limited(|_| 0, 2 * MESSAGES_MAX));
    assert!(!is_limited(|at| at, MESSAGES_MAX));
    assert!(is_limited(|at| at, MESSAGES_MAX + 1));
    std::fs::remove_dir_all(&folder).unwrap();
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
fn file_of_tao_is_built_in() {
    let found = accept_silently("#include <tao/ULongSeq.pidl>\nstruct A { CORBA::ULongSeq a; };");
    assert_eq!(member_types(&found, "A"), ["CORBA::ULongSeq"]);
    accept_silently("#include \"tao/orb.idl\"\n#include \"tao/LongSeq.pidl\"\nstruct A { CORBA::StringSeq a; };");
    accept_silently("#include <orb.idl>\nstruct A { CORBA::ULongSeq a; };");
    accept_silently("#include <dds/OpenDDSConfig.h>\n#include <tao/Version.h>\nconst long V = TAO_MAJOR_VERSION;");
    accept("#include <orb.idl>\nlocal interface A : CORBA::Policy { CORBA::TypeCode type(); };");
    refuse("#include <tao/Any.pidl>", "1:10: cannot find the file `tao/Any.pidl`");
}

#[test]
fn comment_of_a_script_is_accepted_with_a_warning() {
    let message = "1:1: a comment that begins with `#` is not standard IDL";
    warn("# (C) 2020 A company\nstruct A { long a; };", message);
    warn("# All files of this project\nstruct A { long a; };", message);
    refuse("#inclde \"a.idl\"", "1:1: unknown directive `#inclde`");
    refuse("# inclde \"a.idl\"", "1:1: unknown directive `#inclde`");
}

#[test]
fn latin_1_comment_is_accepted_with_a_warning() {
    let bytes = b"// caf\xe9\nstruct A { long a; };";
    let folder = std::env::temp_dir().join(format!("dds-idl-{}-latin", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.idl"), bytes).unwrap();
    let found = parse_file(folder.join("a.idl"), &Options::default()).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.diagnostics.iter().next().unwrap().message, "the file is not UTF-8");
    assert_eq!(structure(&found, "A").members[0].ty, DataType::Basic(BasicType::Int32));
}

#[test]
fn code_for_other_compilers_than_idlc_is_left_out() {
    accept_silently("#if defined(__IDLC__)\nstruct A { long a; };\n#else\n#include <string.h>\nint main();\n#endif");
}

#[test]
fn times_of_corba_are_built_in() {
    let found = accept_silently("#include <orbsvcs/TimeBase.idl>\nstruct A { TimeBase::TimeT at; };");
    assert!(found.find("TimeBase::UtcT").is_some());
    accept_silently("#include \"OpenDDSConfigWrapper.h\"\nstruct A { long a; };");
}

#[test]
fn file_name_without_quotes_is_accepted_with_a_warning() {
    let error = refusal("#include none.idl\nstruct A { long a; };").to_string();
    assert!(error.contains("the name of a file without quotes is not standard IDL"), "{error}");
    assert!(error.contains("cannot find the file `none.idl`"), "{error}");
}
