//! Whether two lists of partitions meet (DDS 1.4, 2.2.3.13; POSIX `fnmatch`).

/// Whether a writer and a reader with these partitions see each other.
///
/// They do if they have a name in common, or a pattern of one side fits a name of the other. A pattern never meets a
/// pattern, not even an equal one (Cyclone DDS does the same). No partition is the one partition with the empty name,
/// which `*` fits.
#[must_use]
pub fn partitions_match(a: &[String], b: &[String]) -> bool {
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

/// Whether a partition's name stands for any that fit it.
#[must_use]
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// A name that a pattern fits, with `filler` wherever any bytes do: with one, an endpoint meets whoever has the pattern, which an
/// equal pattern would not. `None`: no such name was found that is not a pattern itself. A name is its own example.
#[must_use]
pub fn example_of(pattern: &str, filler: &str) -> Option<String> {
    let (bytes, mut name, mut at) = (pattern.as_bytes(), Vec::new(), 0);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.first() == Some(&b'*') {
            name.extend_from_slice(filler.as_bytes());
            at += 1;
            continue;
        }
        // What stands for itself, or for what follows it; else any letter that is in the set.
        let own = rest.iter().take(2).copied();
        let mut plain = own.chain(b'0'..=b'~').filter(|byte| !b"*?[".contains(byte));
        let fit = plain.find_map(|byte| Some((byte, fits_one(rest, byte)?)));
        let (byte, len) = fit?;
        name.push(byte);
        at += len;
    }
    let name = String::from_utf8(name).ok()?;
    partition_matches(pattern, &name).then_some(name)
}

/// Whether `pattern` fits the whole of `name`. `*` fits any run of bytes, `?` one, `[…]` one of a set, `\` takes the next
/// byte as it is. Only the last `*` is ever gone back to, so the time is at most the product of the lengths.
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
            _ => None,
        };
        match (next, star) {
            (Some(len), _) => {
                p += len;
                n += 1;
            }
            (None, Some((after, from))) if from < name.len() => {
                star = Some((after, from + 1));
                p = after;
                n = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// Whether the first element of `pattern` fits `byte`; how many bytes of the pattern it takes if it does.
fn fits_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => match bracket(rest, byte) {
            Some((len, inside)) => inside.then_some(len + 1),
            None => (byte == b'[').then_some(1),
        },
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    }
}

/// What follows a `[`: how many bytes there are up to and with the `]`, and whether `byte` is in the set. `None`: the
/// bracket is never closed, and so stands for itself.
fn bracket(set: &[u8], byte: u8) -> Option<(usize, bool)> {
    let negated = matches!(set.first(), Some(b'!' | b'^'));
    let start = usize::from(negated);
    let mut at = start;
    let mut inside = false;
    loop {
        let first = match set.get(at)? {
            // A `]` in the first place is a member.
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
    fn a_pattern_never_meets_a_pattern() {
        assert!(!matched(&["a*"], &["a*"]));
        assert!(!matched(&["*"], &["?"]));
        assert!(matched(&["a*", "x"], &["a*", "x"]));
    }

    #[test]
    fn wildcards_fit_as_in_fnmatch() {
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
    fn an_example_meets_its_pattern() {
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
    fn an_unclosed_bracket_is_a_plain_character() {
        assert!(fits(b"[ab", b"[ab"));
        assert!(!fits(b"[ab", b"a"));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = "*a".repeat(500) + "b";
        assert!(!fits(pattern.as_bytes(), "a".repeat(5_000).as_bytes()));
    }
}
