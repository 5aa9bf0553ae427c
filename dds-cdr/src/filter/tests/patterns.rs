//! `LIKE` and `MATCH`.

use super::super::pattern::{ALTERNATIVES_MAX, Budget, CHARACTERS_MAX, Pattern};
use super::super::syntax::Language;
use super::FilterErrorKind;
use crate::cdr::FieldValue;

fn new(language: Language, pattern: &str) -> Result<Pattern, FilterErrorKind> {
    Pattern::new(pattern, language, &mut Budget::new())
}

fn fits(language: Language, pattern: &str, text: &str) -> bool {
    new(language, pattern).unwrap().fits(FieldValue::Text(text.as_bytes()))
}

#[test]
fn like_has_two_signs() {
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
        assert_eq!(fits(Language::Sql, pattern, text), expected, "{pattern:?} {text:?}");
    }
}

/// POSIX, 2.13, without a special slash.
#[test]
fn match_has_those_of_the_shell() {
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
        assert_eq!(fits(Language::Shell, pattern, text), expected, "{pattern:?} {text:?}");
    }
    assert_eq!(new(Language::Shell, "[a").unwrap_err(), FilterErrorKind::OpenSet);
}

#[test]
fn patterns_have_a_bound_and_use_all_of_it() {
    let longest = "a".repeat(CHARACTERS_MAX);
    assert!(fits(Language::Sql, &format!("%{longest}%"), &"a".repeat(CHARACTERS_MAX + 5)));
    assert!(!fits(Language::Sql, &longest, &"a".repeat(CHARACTERS_MAX - 1)));
    let beyond = new(Language::Sql, &format!("{longest}_")).unwrap_err();
    assert_eq!(beyond, FilterErrorKind::PatternTooLong { max: CHARACTERS_MAX });
    let list = "a,".repeat(ALTERNATIVES_MAX);
    let beyond = new(Language::Shell, &list).unwrap_err();
    assert_eq!(beyond, FilterErrorKind::PatternTooLong { max: ALTERNATIVES_MAX });
}
