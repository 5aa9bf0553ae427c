//! Expressions for names of topics and partitions, as of the function `fnmatch` of POSIX.

use std::fmt;

/// An expression with `*`, `?` and sets of characters such as `[a-c]`, `[!x]`.
///
/// A backslash takes the next character literally. `/` and a period at the start are ordinary characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
}

impl NamePattern {
    /// Creates a pattern. A set without an end is an ordinary `[`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// Whether the pattern matches a whole name. The time is at most the product of both lengths.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.text.chars().collect();
        let name: Vec<char> = name.chars().collect();
        let (mut p, mut n) = (0, 0);
        // The place behind the last `*`, and the name from where it takes one more character.
        let mut retry = None;
        while n < name.len() {
            if pattern.get(p) == Some(&'*') {
                p += 1;
                retry = Some((p, n));
                continue;
            }
            if let Some(next) = step(&pattern, p, name[n]) {
                (p, n) = (next, n + 1);
                continue;
            }
            // One `*` is enough to go back to, because an earlier one cannot help where the last one does not.
            let Some((after, from)) = retry else { return false };
            (p, n) = (after, from + 1);
            retry = Some((after, n));
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

/// Matches one character. Returns the place behind its part of the pattern.
fn step(pattern: &[char], p: usize, c: char) -> Option<usize> {
    match *pattern.get(p)? {
        '?' => Some(p + 1),
        '[' => match set(pattern, p, c) {
            Some((true, next)) => Some(next),
            Some((false, _)) => None,
            None => (c == '[').then_some(p + 1),
        },
        '\\' => match pattern.get(p + 1) {
            Some(literal) => (*literal == c).then_some(p + 2),
            None => (c == '\\').then_some(p + 1),
        },
        literal => (literal == c).then_some(p + 1),
    }
}

/// Reads a set. Returns whether it has the character, and the place behind it. `None` if it has no end.
fn set(pattern: &[char], start: usize, c: char) -> Option<(bool, usize)> {
    let mut at = start + 1;
    let is_inverted = matches!(pattern.get(at), Some('!' | '^'));
    at += usize::from(is_inverted);
    let first = at;
    let mut found = false;
    loop {
        match *pattern.get(at)? {
            ']' if at > first => return Some((found != is_inverted, at + 1)),
            from => {
                let is_range = pattern.get(at + 1) == Some(&'-') && pattern.get(at + 2).is_some_and(|to| *to != ']');
                let to = if is_range { *pattern.get(at + 2)? } else { from };
                found |= (from..=to).contains(&c);
                at += if is_range { 3 } else { 1 };
            }
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pattern_matches_whole_names() {
        for (pattern, yes, no) in [
            ("scan", "scan", "scans"),
            ("*", "", "never"),
            ("rt/*", "rt/a/b", "rq/a"),
            ("*/state", "robot/state", "robot/states"),
            ("a?c", "abc", "ac"),
            ("[a-c]x", "bx", "dx"),
            ("[!a-c]x", "dx", "bx"),
            ("[]]x", "]x", "[x"),
            ("[a", "[a", "a"),
            (r"\*", "*", "x"),
            ("a*b*c", "a1b2c", "a1c2b"),
            ("", "", "x"),
        ] {
            assert!(NamePattern::new(pattern).matches(yes), "{pattern} and {yes}");
            assert!(pattern == "*" || !NamePattern::new(pattern).matches(no), "{pattern} and {no}");
        }
    }

    #[test]
    fn many_stars_need_no_exponential_time() {
        let pattern = NamePattern::new("a*".repeat(200) + "b");
        assert!(!pattern.matches(&"a".repeat(2000)));
    }

    proptest! {
        #[test]
        fn any_pattern_and_name_terminate(pattern in "[*?a\\[\\]!^\\-\\\\]{0,12}", name in "[a\\[\\]\\-]{0,12}") {
            let _ = NamePattern::new(pattern).matches(&name);
            prop_assert!(NamePattern::new("*").matches(&name));
        }
    }
}
