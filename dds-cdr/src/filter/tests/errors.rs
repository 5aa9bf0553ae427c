//! Errors of expressions: kind, position and message.

use super::super::compile::FIELDS_MAX;
use super::super::grammar::DEPTH_MAX;
use super::sample::fixed;
use super::{ExpressionErrorKind, filter};

fn error(expression: &str, parameters: &[&str]) -> (usize, ExpressionErrorKind) {
    let Err(error) = filter::<fixed::Sample>(expression, parameters) else { panic!("{expression} was accepted") };
    assert!(!error.next_step().is_empty());
    (error.position(), error.kind().clone())
}

fn message(expression: &str, parameters: &[&str]) -> String {
    filter::<fixed::Sample>(expression, parameters).unwrap_err().to_string()
}

#[test]
fn unknown_name_suggests_a_similar_one() {
    let unknown = |field: &str, of: &str, similar: Option<&str>| ExpressionErrorKind::UnknownField {
        field: field.to_owned(),
        of: of.to_owned(),
        similar: similar.map(str::to_owned),
    };
    assert_eq!(error("tial = 1", &[]), (0, unknown("tial", "Sample", Some("tail"))));
    assert_eq!(error("id = 1 AND inner.dep.s = 'x'", &[]), (11, unknown("dep", "Inner", Some("deep"))));
    assert_eq!(error("nowhere = 1", &[]), (0, unknown("nowhere", "Sample", None)));
    assert_eq!(error("id.x = 1", &[]), (0, unknown("x", "id", None)));
    assert_eq!(error("choice.Nothing = 1", &[]), (0, unknown("Nothing", "Choice", Some("Nothing"))));
    let literal = |literal: &str, similar: &str| ExpressionErrorKind::UnknownEnumerator {
        literal: literal.to_owned(),
        of: "Color".to_owned(),
        similar: Some(similar.to_owned()),
    };
    assert_eq!(error("color = 'Gren'", &[]), (8, literal("Gren", "Green")));
    assert_eq!(error("color = %0", &["BLUE"]), (8, literal("BLUE", "Blue")));
}

#[test]
fn operands_of_different_kinds_are_rejected() {
    let literal = |literal: &str, expected| ExpressionErrorKind::Literal { literal: literal.to_owned(), expected };
    assert_eq!(error("id = 'x'", &[]), (5, literal("x", "an integer")));
    assert_eq!(error("name = 5", &[]), (7, literal("5", "a string")));
    assert_eq!(error("flag = 2", &[]), (7, literal("2", "a bool")));
    assert_eq!(error("letter = 'xy'", &[]), (9, literal("xy", "a character")));
    assert_eq!(error("id = TRUE", &[]), (5, literal("true", "an integer")));
    assert_eq!(error("id BETWEEN 1 AND %0", &["b"]), (17, literal("b", "an integer")));
    let incomparable = |left, right| ExpressionErrorKind::Incomparable { left, right };
    assert_eq!(error("id = name", &[]), (0, incomparable("an integer", "a string")));
    assert_eq!(error("id BETWEEN name AND 2", &[]), (11, incomparable("an integer", "a string")));
    let whole = |field: &str, kind| ExpressionErrorKind::NotComparable { field: field.to_owned(), kind };
    assert_eq!(error("inner = 1", &[]), (0, whole("inner", "a struct")));
    assert_eq!(error("grid[1] = 1", &[]), (0, whole("grid[1]", "an array")));
    assert_eq!(error("map = 1", &[]), (0, whole("map", "a map")));
    assert_eq!(error("grid[2][0] = 1", &[]), (0, ExpressionErrorKind::IndexBeyondEnd { index: 2, len: 2 }));
    assert_eq!(error("id[0] = 1", &[]), (0, ExpressionErrorKind::NotIndexed { field: "id".to_owned() }));
    assert_eq!(error("id LIKE '1'", &[]), (0, ExpressionErrorKind::NotAPattern));
    assert_eq!(error("1 = 1", &[]), (0, ExpressionErrorKind::NoField));
    assert_eq!(error("'a' LIKE 'a'", &[]), (0, ExpressionErrorKind::NoField));
}

/// A second sign is an error, and the negation of the lowest number does not overflow.
#[test]
fn number_with_two_signs_is_rejected() {
    let least = i128::MIN.to_string();
    let least_in_hex = format!("-0x-8{}", "0".repeat(31));
    let doubled = format!("-{least}");
    for parameter in [&doubled[..], &least_in_hex, "--5", "-+5", "++5", "+-5", "0x-5", "-0x+5", "0x+5", "-", "0x"] {
        let literal = ExpressionErrorKind::Literal { literal: parameter.to_owned(), expected: "an integer" };
        assert_eq!(error("id = %0", &[parameter]), (5, literal), "{parameter}");
        assert!(
            matches!(error("color = %0", &[parameter]).1, ExpressionErrorKind::UnknownEnumerator { .. }),
            "{parameter}"
        );
    }
    for parameter in ["-5", "+5", " -0x5 ", "0X5"] {
        assert!(filter::<fixed::Sample>("id = %0", &[parameter]).is_ok(), "{parameter}");
    }
}

#[test]
fn number_of_parameters_must_match() {
    assert_eq!(error("id = %1", &["1"]), (5, ExpressionErrorKind::MissingParameter { number: 1, given: 1 }));
    assert_eq!(error("id = %0", &["1", "2"]), (0, ExpressionErrorKind::TooManyParameters { given: 2, used: 1 }));
    assert_eq!(error("", &["1"]), (0, ExpressionErrorKind::TooManyParameters { given: 1, used: 0 }));
}

#[test]
fn syntax_error_names_position_and_expected_token() {
    for (expression, expected) in [
        (
            "id",
            "filter, at byte 2: expected a comparison (=, <>, <, <=, >, >=, BETWEEN, LIKE, MATCH), found the end of the \
             expression",
        ),
        ("id = ", "filter, at byte 5: expected a field, a literal or a parameter, found the end of the expression"),
        ("id == 1", "filter, at byte 4: expected a field, a literal or a parameter, found `=`"),
        ("id = 1 id = 2", "filter, at byte 7: expected AND, OR or the end, found `id`"),
        ("(id = 1", "filter, at byte 7: expected AND, OR or `)`, found the end of the expression"),
        ("name = 'x", "filter, at byte 9: expected a quote at the end of the text, found the end of the expression"),
        ("id BETWEEN 1 OR 2", "filter, at byte 13: expected AND, found `OR`"),
        ("list[x] = 1", "filter, at byte 5: expected an index and `]`, found `x]`"),
        ("name LIKE id", "filter, at byte 10: expected a pattern in quotes, or a parameter, found `id`"),
        ("id = %100", "filter, at byte 6: expected a number from 0 to 99, found `100`"),
        (
            "id = 99999999999999999999999999999999999999999",
            "filter, at byte 5: expected a field, a literal or a parameter",
        ),
        ("id = 1 ORDER BY id", "filter, at byte 7: ORDER BY is not supported"),
    ] {
        let message = message(expression, &[]);
        assert!(message.starts_with(expected), "{expression}: {message}");
    }
}

#[test]
fn length_depth_and_fields_are_bounded() {
    let too_long = format!("name = '{}'", "x".repeat(super::super::LEN_MAX));
    assert!(matches!(error(&too_long, &[]).1, ExpressionErrorKind::TooLong { max: super::super::LEN_MAX, .. }));
    let nested = |depth: usize| format!("{}id = 1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(filter::<fixed::Sample>(&nested(DEPTH_MAX - 1), &[]).is_ok());
    assert_eq!(error(&nested(DEPTH_MAX), &[]).1, ExpressionErrorKind::TooDeep { max: DEPTH_MAX });
    assert_eq!(error(&"NOT ".repeat(1000), &[]).1, ExpressionErrorKind::TooDeep { max: DEPTH_MAX });
    assert_eq!(error(&format!("a{} = 1", ".a".repeat(1000)), &[]).1, ExpressionErrorKind::TooDeep { max: DEPTH_MAX });
    let fields = |count: usize| (0..count).map(|at| format!("list[{at}] = 1")).collect::<Vec<_>>().join(" OR ");
    assert!(filter::<fixed::Sample>(&fields(FIELDS_MAX), &[]).is_ok());
    assert_eq!(error(&fields(FIELDS_MAX + 1), &[]).1, ExpressionErrorKind::TooManyFields { max: FIELDS_MAX });
}
