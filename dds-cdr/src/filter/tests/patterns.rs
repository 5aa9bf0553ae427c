//! `LIKE` and `MATCH`.

use super::super::pattern::{ALTERNATIVES_MAX, CHARACTERS_MAX, Pattern, PatternBudget};
use super::super::syntax::Language;
use super::ExpressionErrorKind;
use crate::cdr::FieldValue;

fn new(language: Language, pattern: &str) -> Result<Pattern, ExpressionErrorKind> {
    Pattern::new(pattern, language, &mut PatternBudget::new())
}

fn matches(language: Language, pattern: &str, text: &str) -> bool {
    new(language, pattern).unwrap().matches(FieldValue::Text(text.as_bytes()))
}

#[test]
fn like_has_two_wildcards() {
    for (pattern, text, expected) in [
        ("", "", true),
        ("", "a", false),
        ("%", "", true),
        ("%", "abc", true),
        ("a%", "a", true),
        ("a%", "ba", false),
        ("%a", "ba", true),
        ("_", "\u{1f600}", true),
        ("_", "", false),
        ("a_c", "abc", true),
        ("a%b%c", "aXbYbc", true),
        ("a%b%c", "acb", false),
        ("%%", "x", true),
        ("%_%", "", false),
        ("A", "a", false),
        ("a*", "a*", true),
    ] {
        assert_eq!(matches(Language::Sql, pattern, text), expected, "{pattern:?} {text:?}");
    }
}

/// POSIX, 2.13, but `/` is an ordinary character.
#[test]
fn match_has_shell_wildcards() {
    for (pattern, text, expected) in [
        ("a*", "abc", true),
        ("?", "a", true),
        ("[a-c]x", "bx", true),
        ("[a-c]x", "dx", false),
        ("[!a-c]", "d", true),
        ("[^a-c]", "a", false),
        ("[]]", "]", true),
        ("[a-]", "-", true),
        ("\\*", "*", true),
        ("\\*", "a", false),
        ("a,b,c*", "cc", true),
        ("a,b", "c", false),
        ("a\\,b", "a,b", true),
        ("a/*", "a/b/c", true),
        ("[\\]x]", "]", true),
        ("%", "a", false),
        ("", "", true),
        ("[\u{e0}-\u{ef}]", "\u{e4}", true),
    ] {
        assert_eq!(matches(Language::Shell, pattern, text), expected, "{pattern:?} {text:?}");
    }
    assert_eq!(new(Language::Shell, "[a").unwrap_err(), ExpressionErrorKind::OpenSet);
}

#[test]
fn length_of_pattern_is_bounded() {
    let longest = "a".repeat(CHARACTERS_MAX);
    assert!(matches(Language::Sql, &format!("%{longest}%"), &"a".repeat(CHARACTERS_MAX + 5)));
    assert!(!matches(Language::Sql, &longest, &"a".repeat(CHARACTERS_MAX - 1)));
    let beyond = new(Language::Sql, &format!("{longest}_")).unwrap_err();
    assert_eq!(beyond, ExpressionErrorKind::PatternTooLong { max: CHARACTERS_MAX });
    let list = "a,".repeat(ALTERNATIVES_MAX);
    let beyond = new(Language::Shell, &list).unwrap_err();
    assert_eq!(beyond, ExpressionErrorKind::PatternTooLong { max: ALTERNATIVES_MAX });
}
