//! Matches two lists of partitions (DDS 1.4, 2.2.3.13; POSIX `fnmatch`).

/// Whether a writer and a reader with these partitions match.
///
/// They match if they have a common name, or a pattern of one side matches a name of the other. A pattern never
/// matches a pattern, not even an equal one (Cyclone DDS does the same). No partition means the partition with the
/// empty name, which `*` matches.
#[must_use]
pub fn partitions_match(a: &[String], b: &[String]) -> bool {
    // An empty list means the default partition, which has the empty name (DDS 1.4, 2.2.3.13).
    let none = [String::new()];
    let a = if a.is_empty() { &none } else { a };
    let b = if b.is_empty() { &none } else { b };
    a.iter().any(|a| b.iter().any(|b| partition_matches(a, b)))
}

fn partition_matches(a: &str, b: &str) -> bool {
    match (is_pattern(a), is_pattern(b)) {
        (false, false) => a == b,
        (true, false) => fits(a.as_bytes(), b.as_bytes()),
        (false, true) => fits(b.as_bytes(), a.as_bytes()),
        (true, true) => false,
    }
}

/// Whether the name of a partition is a pattern.
#[must_use]
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Returns a name that the pattern matches, with `filler` in place of each `*`; `None` if every such name found is
/// itself a pattern.
///
/// An endpoint with this name matches endpoints with the pattern, which an equal pattern would not. A plain name is
/// its own example.
#[must_use]
pub fn example_of(pattern: &str, filler: &str) -> Option<String> {
    let (bytes, mut name, mut at) = (pattern.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let rest = bytes.get(at..)?;
        // `*` matches any bytes, so the filler always fits.
        if rest.first() == Some(&b'*') {
            name.extend_from_slice(filler.as_bytes());
            at += 1;
            continue;
        }
        // Try the byte itself, then an escaped byte, then any letter of a set.
        let own = rest.iter().take(2).copied();
        let mut plain = own.chain(b'0'..=b'~').filter(|byte| !b"*?[".contains(byte));
        let fit = plain.find_map(|byte| Some((byte, fits_one(rest, byte)?)));
        let (byte, len) = fit?;
        name.push(byte);
        at += len;
    }
    let name = String::from_utf8(name).ok()?;
    if partition_matches(pattern, &name) { Some(name) } else { None }
}

/// Whether `pattern` matches the whole `name`.
///
/// `*` matches any bytes, `?` one byte, `[…]` one byte of a set, and `\` the next byte literally. Only the last `*`
/// is ever extended, so the time is at most the product of the lengths.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, n));
            continue;
        }
        let next = match (pattern.get(p), name.get(n)) {
            (None, None) => return true,
            (Some(_), Some(&byte)) => fits_one(pattern.get(p..).unwrap_or_default(), byte),
            // One of them ends too early. Only a longer part for the last `*` can help.
            _ => None,
        };
        match (next, star) {
            (Some(len), _) => {
                p += len;
                n += 1;
            }
            // Extend the last `*` by one byte, and try again behind it.
            (None, Some((after, from))) if from < name.len() => {
                star = Some((after, from + 1));
                p = after;
                n = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// Returns the length of the first element of `pattern` in bytes, if the element matches `byte`.
fn fits_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => match bracket(rest, byte) {
            Some((len, true)) => Some(len + 1),
            Some((_, false)) => None,
            None if byte == b'[' => Some(1),
            None => None,
        },
        [b'\\', escaped, ..] if *escaped == byte => Some(2),
        [b'\\', _, ..] => None,
        [literal, ..] if *literal == byte => Some(1),
        _ => None,
    }
}

/// Returns the length of a set behind its `[`, including the `]`, and whether `byte` is in it. `None` if the bracket
/// is never closed, and so is a literal.
fn bracket(set: &[u8], byte: u8) -> Option<(usize, bool)> {
    let negated = matches!(set.first(), Some(b'!' | b'^'));
    let start = usize::from(negated);
    let mut at = start;
    let mut inside = false;
    loop {
        let first = match set.get(at)? {
            // A `]` at the first position is a member.
            b']' if at > start => return Some((at + 1, inside != negated)),
            b'\\' => {
                at += 1;
                *set.get(at)?
            }
            &first => first,
        };
        at += 1;
        match (set.get(at), set.get(at + 1)) {
            (Some(b'-'), Some(&last)) if last != b']' => {
                inside |= (first..=last).contains(&byte);
                at += 2;
            }
            _ => inside |= first == byte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(a: &[&str], b: &[&str]) -> bool {
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let (a, b) = (own(a), own(b));
        assert_eq!(partitions_match(&a, &b), partitions_match(&b, &a), "matching has no direction");
        partitions_match(&a, &b)
    }

    #[test]
    fn no_partition_is_the_empty_name() {
        assert!(matched(&[], &[]));
        assert!(matched(&[], &[""]));
        assert!(matched(&[], &["*"]));
        assert!(!matched(&[], &["a"]));
        assert!(!matched(&[], &["?"]));
    }

    #[test]
    fn one_common_name_is_enough() {
        assert!(matched(&["a", "b"], &["c", "b"]));
        assert!(!matched(&["a", "b"], &["c", "d"]));
    }

    #[test]
    fn pattern_never_matches_a_pattern() {
        assert!(!matched(&["a*"], &["a*"]));
        assert!(!matched(&["*"], &["?"]));
        assert!(matched(&["a*", "x"], &["a*", "x"]));
    }

    #[test]
    fn wildcards_match_as_in_fnmatch() {
        for (pattern, name) in [
            ("*", "anything"),
            ("p*", "p"),
            ("p*t?on", "partition"),
            ("*a*b*c", "xxaxxbxxbc"),
            ("[a-c]1", "b1"),
            ("[!a-c]1", "d1"),
            ("[^a-c]1", "d1"),
            ("[]x]*", "]"),
            ("[a-]*", "-"),
            ("[*]", "*"),
            ("[a\\]b]c", "]c"),
            ("[a\\]b]c", "bc"),
            ("a\\*b?", "a*bc"),
        ] {
            assert!(fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in
            [("p*", "q"), ("?", ""), ("?", "ab"), ("[a-c]1", "d1"), ("[!a-c]", "a"), ("*a*b*c", "abcd"), ("a\\?", "ab")]
        {
            assert!(!fits(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }

    #[test]
    fn example_matches_its_pattern() {
        for (pattern, example) in [
            ("", ""),
            ("plain", "plain"),
            ("robot*", "robot-any-"),
            ("*", "-any-"),
            ("a?c", "acc"),
            ("[b-d]x", "bx"),
            ("[!0-9]x", "!x"),
            ("[!!-9]x", ":x"),
            ("Zürich*[ab]", "Zürich-any-a"),
        ] {
            assert_eq!(example_of(pattern, "-any-").as_deref(), Some(example), "{pattern}");
            assert!(matched(&[pattern], &[example]));
        }
        for impossible in ["a\\*b*", "[a*"] {
            assert_eq!(example_of(impossible, "-"), None, "{impossible}");
        }
    }

    #[test]
    fn unclosed_bracket_is_a_literal() {
        assert!(fits(b"[ab", b"[ab"));
        assert!(!fits(b"[ab", b"a"));
    }

    #[test]
    fn many_stars_take_polynomial_time() {
        let pattern = "*a".repeat(500) + "b";
        assert!(!fits(pattern.as_bytes(), "a".repeat(5_000).as_bytes()));
    }
}
