//! Texts of interface files: accepted, accepted with a warning, refused with place and help.

use super::*;
use crate::model::{Diagnostics, Severity, SourceMap};
use proptest::prelude::*;

/// The interface, and the diagnostics with their help.
fn parse(name: &str, text: &str) -> (Option<RosInterface>, Vec<String>) {
    let (mut sources, mut diagnostics) = (SourceMap::default(), Diagnostics::default());
    let file = sources.add("f", text, None);
    let interface = parse_interface(&name.parse().unwrap(), file, &sources, &mut diagnostics);
    assert_eq!(interface.is_none(), diagnostics.has_errors());
    let show = |diagnostic: &crate::model::Diagnostic| match &diagnostic.help {
        Some(help) => format!("{}; {help}", diagnostic.one_line(&sources)),
        None => diagnostic.one_line(&sources),
    };
    (interface, diagnostics.iter().map(show).collect())
}

fn message(text: &str) -> RosStructure {
    match parse("pkg/msg/Foo", text) {
        (Some(RosInterface::Message(message)), _) => message,
        (_, errors) => panic!("{errors:?}"),
    }
}

fn refused(text: &str) -> Vec<String> {
    let (interface, errors) = parse("pkg/msg/Foo", text);
    assert_eq!(interface, None, "{text}");
    errors
}

fn field_types(message: &RosStructure) -> Vec<String> {
    message.fields.iter().map(|field| format!("{} {}", field.ty, field.name)).collect()
}

#[test]
fn field_of_every_type_is_parsed() {
    let primitives: Vec<&str> = RosBaseType::PRIMITIVES.iter().map(|(keyword, _)| *keyword).collect();
    let structures = ["string<=5", "wstring<=7", "other_pkg/Pose"];
    for base in primitives.into_iter().chain(structures) {
        for suffix in ["", "[]", "[3]", "[<=4]"] {
            let text = format!("{base}{suffix} value\n");
            assert_eq!(field_types(&message(&text)), [text.trim()]);
        }
    }
    assert_eq!(field_types(&message("Pose pose\t\r\nstring\ttype")), ["pkg/Pose pose", "string type"]);
}

#[test]
fn empty_structure_has_the_dummy_member() {
    let empty = message("# Nothing\n\nuint8 A=1\n");
    assert!(empty.fields.is_empty());
    assert_eq!(empty.members()[0].name, "structure_needs_at_least_one_member");
    assert_eq!(empty.members()[0].ty.base, RosBaseType::UInt8);
    assert_eq!(message("bool a").members().len(), 1);
}

#[test]
fn constant_and_default_keep_their_values() {
    let message =
        message("int32 X=-1\nstring Y= a \"b\" # c\nint8[3] list [1, 0x2, -3]\nstring text 'a b'\nfloat64 f 1e-3");
    assert_eq!(message.constants[0].value, RosValue::Integer(-1));
    assert_eq!(message.constants[1].value, RosValue::Text("a \"b\"".into()));
    assert_eq!(message.constants[1].comment, ["c"]);
    assert_eq!(super::tests::message("string X='a\tb'").constants[0].value, RosValue::Text("a b".into()));
    let list = [1, 2, -3].map(RosValue::Integer);
    assert_eq!(message.fields[0].default, Some(RosValue::List(list.to_vec())));
    assert_eq!(message.fields[1].default, Some(RosValue::Text("a b".into())));
    assert_eq!(message.fields[2].default, Some(RosValue::Float(0.001)));
}

#[test]
fn comment_belongs_to_the_definition_of_its_place() {
    let message =
        message("# Of the message [m]\n\n# Of a\nint8 a # too\n    # and this\n# Of B [s]\n\nint8 B=1\n# unused\n");
    assert_eq!(message.comment, ["Of the message"]);
    assert_eq!(message.fields[0].comment, ["Of a", "too", "and this"]);
    assert_eq!(
        (&message.constants[0].comment[..], message.constants[0].unit.as_deref()),
        (&["Of B".to_owned()][..], Some("s"))
    );
}

#[test]
fn service_and_action_have_their_sections() {
    let (service, _) = parse("pkg/srv/Brake", "# Request\nbool on\n---\n# Response\n\nbool done\n");
    let names: Vec<String> = service.unwrap().sections().iter().map(|part| part.name.to_string()).collect();
    assert_eq!(names, ["pkg/srv/Brake_Request", "pkg/srv/Brake_Response"]);
    let (action, _) = parse("pkg/action/Go", "int8 a\n---\n---\nint8 c");
    let action = action.unwrap();
    let counts: Vec<usize> = action.sections().iter().map(|part| part.fields.len()).collect();
    assert_eq!((action.name().to_string().as_str(), &counts[..]), ("pkg/action/Go", &[1, 0, 1][..]));
}

#[test]
fn missing_separator_names_the_line_that_looks_like_one() {
    let (service, errors) = parse("pkg/srv/Brake", "bool on\n--- \nbool done\n");
    assert_eq!(service, None);
    assert_eq!(errors[0], "f:4:1: error: expected 1 line `---` between request and response, found 0");
    let (_, errors) = parse("pkg/srv/Brake", "---\n---\n");
    assert_eq!(errors, ["f:2:1: error: expected 1 line `---` between request and response, found 2"]);
    let (_, errors) = parse("pkg/action/Go", "---\n");
    assert_eq!(errors, ["f:2:1: error: expected 2 lines `---` between goal, result and feedback, found 1"]);
}

#[test]
fn old_form_is_accepted_with_a_warning() {
    let (interface, warnings) = parse("pkg/msg/Foo", "time a\nduration[] b\nstd_msgs/msg/Header c\n  int8 d\n");
    let Some(RosInterface::Message(message)) = interface else { panic!("{warnings:?}") };
    let expected = ["builtin_interfaces/Time a", "builtin_interfaces/Duration[] b", "std_msgs/Header c", "int8 d"];
    assert_eq!(field_types(&message), expected);
    assert_eq!(
        warnings,
        [
            "f:1:1: warning: `time` is a type of ROS 1, read as `builtin_interfaces/Time`; write `builtin_interfaces/Time`",
            "f:2:1: warning: `duration` is a type of ROS 1, read as `builtin_interfaces/Duration`; write `builtin_interfaces/Duration`",
            "f:3:1: warning: `rosidl` refuses `msg` in a type name; write `std_msgs/Header`",
            "f:4:1: warning: `rosidl` refuses an indented line; remove the spaces before the type",
        ]
    );
}

#[test]
fn number_sign_in_quotes_warns_and_cuts_the_text() {
    let (interface, warnings) = parse("pkg/msg/Foo", "string a \"x # y\"");
    let Some(RosInterface::Message(message)) = interface else { panic!("{warnings:?}") };
    assert_eq!(message.fields[0].default, Some(RosValue::Text("\"x".into())));
    assert_eq!(warnings, ["f:1:10: warning: the quotes are part of the default value"]);
}

#[test]
fn wrong_line_is_refused_with_its_place() {
    for (text, error) in [
        ("bool", "f:1:1: error: expected a type and a name, found only `bool`"),
        ("flaot32 a", "f:1:1: error: unknown type `flaot32`; did you mean `float32`?"),
        ("double a", "f:1:1: error: unknown type `double`; did you mean `float64`?"),
        ("uint a", "f:1:1: error: unknown type `uint`; did you mean `uint32`?"),
        ("my_type a", "f:1:1: error: unknown type `my_type`"),
        ("a/b/C d", "f:1:1: error: invalid type `a/b/C`: expected `package/Name`"),
        ("bool] a", "f:1:1: error: expected `[` before `]` in `bool]`"),
        (
            "bool[2][3] a",
            "f:1:1: error: an array has one dimension; put the inner array into a message, or multiply the sizes",
        ),
        ("int8[0] a", "f:1:6: error: expected a number from 1 to 4294967295, found `0`"),
        ("int8[<=x] a", "f:1:8: error: expected a number from 1 to 4294967295, found `x`"),
        ("string<= a", "f:1:9: error: expected a number from 1 to 4294967295, found ``"),
        ("int8[4294967296] a", "f:1:6: error: expected a number from 1 to 4294967295, found `4294967296`"),
        ("\n# c\nint8 maxSpeed", "f:3:6: error: invalid field name `maxSpeed`; did you mean `max_speed`?"),
        ("int8 K", "f:1:6: error: invalid field name `K`; did you mean `k`?"),
        ("int8 a__b", "f:1:6: error: invalid field name `a__b`"),
        ("int8 max = 1", "f:1:6: error: invalid constant name `max`; did you mean `MAX`?"),
        ("string x \"a=b\"", "f:1:8: error: invalid constant name `x \"a`"),
        ("int8 X=200", "f:1:8: error: expected an integer from -128 to 127 for `int8`"),
        (
            "int8[2] X=1",
            "f:1:1: error: a constant cannot have the type `int8[2]`; a constant is a number, a `bool`, a `string` or a `wstring`",
        ),
        ("Pose p 1", "f:1:8: error: a field of type `pkg/Pose` cannot have a default value"),
        ("int8[2] é [1]", "f:1:9: error: invalid field name `é`"),
        ("int8 a [1]", "f:1:8: error: expected an integer from -128 to 127 for `int8`"),
        ("@optional\nint8 a", "f:1:1: error: annotations need an `.idl` file"),
        ("int8 a\nint8 b\nint16 a", "f:3:7: error: the name `a` occurs twice"),
        ("int8 a \0", "f:1:8: error: expected text, found a NUL byte"),
    ] {
        assert_eq!(refused(text)[0], error, "{text}");
    }
}

#[test]
fn all_errors_of_a_file_are_reported() {
    let errors = refused("bool\nint8 a\nfoo b\nint8 C=x\n");
    let lines: Vec<&str> = errors.iter().map(|error| &error[..4]).collect();
    assert_eq!(lines, ["f:1:", "f:3:", "f:4:"]);
}

#[test]
fn file_over_the_limit_is_refused() {
    let text = "#".repeat(ROS_FILE_LEN_MAX + 1);
    assert_eq!(refused(&text), ["f:1:1: error: an interface file has at most 16777216 bytes, found 16777217"]);
    // The time must be linear in the size.
    for piece in ["[", "# [[\n", "int8 a\n", "string a '", "\r", "a/", "int8[", "_"] {
        parse("pkg/msg/Foo", &piece.repeat(30_000));
        parse("pkg/srv/Foo", &format!("# {}\n---\nstring[] a [{}", piece.repeat(30_000), piece.repeat(30_000)));
    }
}

/// Pieces that reach every branch of the parser, and any other text.
fn interface_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "bool",
        "int8",
        "string<=3",
        "wstring",
        "p/Name",
        "Name",
        "time",
        " ",
        "\t",
        "\n",
        "\r\n",
        "#",
        "=",
        "[",
        "]",
        "[<=2]",
        "[3]",
        "---\n",
        "'",
        "\"",
        "\\",
        ",",
        "[m]",
        "a",
        "X",
        "1",
        "0x",
        "-",
        "é",
        "\u{feff}",
        "\u{2028}",
        "_",
        "@",
    ]);
    let pieces = prop::collection::vec(prop_oneof![9 => piece.prop_map(str::to_owned), 1 => any::<String>()], 0..40);
    pieces.prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_gives_an_interface_or_errors(text in interface_text()) {
        for name in ["pkg/msg/Foo", "pkg/srv/Foo", "pkg/action/Foo"] {
            let (mut sources, mut diagnostics) = (SourceMap::default(), Diagnostics::default());
            let file = sources.add("f", text.as_str(), None);
            let interface = parse_interface(&name.parse().unwrap(), file, &sources, &mut diagnostics);
            prop_assert_eq!(interface.is_none(), diagnostics.has_errors());
            for diagnostic in &diagnostics {
                prop_assert!(diagnostic.severity >= Severity::Warning);
                prop_assert!(!diagnostic.render(&sources, false).is_empty());
            }
        }
    }
}
