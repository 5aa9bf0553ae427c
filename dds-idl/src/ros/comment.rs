//! Comments and units, as `rosidl_adapter` takes them from the lines of a file.

/// Comment lines and the unit in them.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct RosComment {
    pub(super) lines: Vec<String>,
    pub(super) unit: Option<String>,
}

impl RosComment {
    /// Takes the unit out of `lines`, and removes common indentation and superfluous empty lines.
    pub(super) fn new(mut lines: Vec<String>) -> Self {
        let unit = take_unit(&mut lines);
        let start = lines.iter().take_while(|line| line.is_empty()).count();
        lines.drain(..start);
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
        remove_indentation(&mut lines);
        Self { lines, unit }
    }
}

/// Removes the text `[unit]` and the spaces before it. Two of them are no unit, and neither is a range like `[0, 1]`.
fn take_unit(lines: &mut [String]) -> Option<String> {
    let text = lines.join("\n");
    let mut rest = 0;
    let (found, unit) = next_unit(&text, &mut rest)?;
    if next_unit(&text, &mut rest).is_some() {
        return None;
    }
    for line in lines {
        *line = line.replace(found, "");
    }
    Some(unit.to_owned())
}

/// Finds the next unit from the byte `rest`: (spaces, brackets and unit; unit). Moves `rest` behind it.
fn next_unit<'t>(text: &'t str, rest: &mut usize) -> Option<(&'t str, &'t str)> {
    loop {
        let open = *rest + text.get(*rest..)?.find('[')?;
        let inside = open + 1;
        let close = inside + text[inside..].find([',', ']'])?;
        let is_unit = close > inside && text[close..].starts_with(']');
        let before = &text[*rest..open];
        let start = *rest + before.trim_end().len();
        // A bracket inside of a range cannot start a unit: the same comma ends it. Behind `[]`, the search goes on.
        *rest = close + usize::from(is_unit);
        if is_unit {
            return Some((&text[start..*rest], &text[inside..close]));
        }
    }
}

/// Removes the longest prefix of spaces that all lines with text have. Lines of spaces become empty.
fn remove_indentation(lines: &mut [String]) {
    let indentation = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let common = lines.iter().filter(|line| !line.trim_matches(' ').is_empty()).map(indentation).min().unwrap_or(0);
    for line in lines {
        if line.trim_matches(' ').is_empty() {
            line.clear();
        } else {
            line.drain(..common);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(text: &str) -> (String, Option<String>) {
        let comment = RosComment::new(text.split('\n').map(str::to_owned).collect());
        (comment.lines.join("\n"), comment.unit)
    }

    #[test]
    fn unit_in_brackets_leaves_the_comment() {
        assert_eq!(comment(" Speed [m/s]"), ("Speed".into(), Some("m/s".into())));
        assert_eq!(comment(" [m/s] of it"), ("of it".into(), Some("m/s".into())));
        assert_eq!(comment(" a\n   b [rad]\n c"), ("a\n  b\nc".into(), Some("rad".into())));
        assert_eq!(comment(" a [b [c]"), ("a".into(), Some("b [c".into())));
    }

    #[test]
    fn brackets_that_are_no_unit_stay() {
        for text in ["Range [0, 1]", "Units [m] or [s]", "Empty []", "Open [m", "Index [[[[[", ""] {
            assert_eq!(comment(text), (text.to_owned(), None));
        }
        assert_eq!(comment("Range [0, 1] [m]"), ("Range [0, 1]".into(), Some("m".into())));
        assert_eq!(comment("Index a[] [m]"), ("Index a[]".into(), Some("m".into())));
    }

    #[test]
    fn empty_lines_collapse_and_ends_are_cut() {
        assert_eq!(comment("\n\n  a\n\n\n\n    b\n\n"), ("a\n\n  b".into(), None));
        assert_eq!(comment("  \n  a"), ("\na".into(), None));
    }
}
