//! Parameter files of ROS 2 (`rcl/rcl_yaml_param_parser`).
//!
//! A strict subset of YAML: block mappings, block and flow sequences of scalars, comments, plain and quoted scalars.
//! Scalars may go on in further lines, which `launch_ros` writes for long texts. Anchors, tags, block scalars, several
//! documents, and flow mappings other than `{}` are errors that name their line.

use super::value::ParameterValue;

/// Nodes and parameters of a file. Larger files are refused.
const ENTRIES_MAX: usize = 100_000;

/// Nesting of mappings.
const DEPTH_MAX: usize = 64;

/// The key between the name of a node and its parameters.
const PARAMETERS_KEY: &str = "ros__parameters";

/// A value for a parameter of the nodes that match.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Override {
    /// `/lab/camera`, with `*` for one part and `**` for any number of parts.
    pub(crate) node: String,
    pub(crate) name: String,
    pub(crate) value: ParameterValue,
}

impl Override {
    /// Whether the value is for the node with this full name.
    pub(crate) fn applies_to(&self, node: &str) -> bool {
        let pattern: Vec<&str> = self.node.split('/').filter(|part| !part.is_empty()).collect();
        let name: Vec<&str> = node.split('/').filter(|part| !part.is_empty()).collect();
        matches(&pattern, &name)
    }
}

/// Compares part by part. The work is bounded by the product of both lengths.
fn matches(pattern: &[&str], name: &[&str]) -> bool {
    // `reached[i]`: the pattern up to here matches the first `i` parts.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; name.len() + 1];
        for index in 0..=name.len() {
            next[index] = match *part {
                "**" => reached[index] || (index > 0 && next[index - 1]),
                _ if index == 0 => false,
                "*" => reached[index - 1],
                part => reached[index - 1] && name[index - 1] == part,
            };
        }
        reached = next;
    }
    reached[name.len()]
}

/// A problem of a file, with its line from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct YamlProblem {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

type Parsed<T> = Result<T, YamlProblem>;

fn problem<T>(line: usize, reason: impl Into<String>) -> Parsed<T> {
    Err(YamlProblem { line, reason: reason.into() })
}

/// A line without its comment, with the further lines of its scalar.
struct Line {
    number: usize,
    indent: usize,
    text: String,
}

/// An open mapping.
struct Level {
    indent: usize,
    key: String,
}

/// Returns the values of a file, in their order.
pub(crate) fn parse_file(text: &str) -> Parsed<Vec<Override>> {
    let lines = lines_of(text)?;
    let mut found = Vec::new();
    let mut open: Vec<Level> = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        index += 1;
        while open.last().is_some_and(|level| level.indent >= line.indent) {
            open.pop();
        }
        let (key, rest) = split_key(&line.text, line.number)?;
        let is_deeper = lines.get(index).is_some_and(|next| next.indent > line.indent);
        let is_list = lines.get(index).is_some_and(|next| is_item(&next.text) && next.indent >= line.indent);
        open.push(Level { indent: line.indent, key });
        if open.len() > DEPTH_MAX || found.len() >= ENTRIES_MAX {
            return problem(line.number, "the file is nested too deeply or too large");
        }
        if !rest.is_empty() {
            if is_deeper {
                let next = lines.get(index).map_or(line.number, |next| next.number);
                return problem(next, "a value in one line needs no further lines; check the indentation");
            }
            // An empty mapping has no parameters.
            if rest != "{}" {
                found.push(entry(&open, value_of(rest, line.number)?, line.number)?);
            }
        } else if is_list {
            let mut items = Vec::new();
            while let Some(item) = lines.get(index).filter(|item| is_item(&item.text) && item.indent >= line.indent) {
                items.push((item.text[1..].trim(), item.number));
                index += 1;
            }
            found.push(entry(&open, list_of(&items, line.number)?, line.number)?);
        } else if !is_deeper {
            return problem(line.number, "expected a value or an indented mapping after `:`");
        }
    }
    Ok(found)
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Returns the value for the keys that are open.
fn entry(open: &[Level], value: ParameterValue, line: usize) -> Parsed<Override> {
    let Some(at) = open.iter().position(|level| level.key == PARAMETERS_KEY) else {
        return problem(line, "expected `ros__parameters` between the name of the node and its parameters");
    };
    let join = |levels: &[Level], by: &str| levels.iter().map(|level| level.key.as_str()).collect::<Vec<_>>().join(by);
    let (node, name) = (join(&open[..at], "/"), join(&open[at + 1..], "."));
    if node.is_empty() || name.is_empty() {
        return problem(line, "expected the name of a node before `ros__parameters`, and parameters below it");
    }
    Ok(Override { node, name, value })
}

fn lines_of(text: &str) -> Parsed<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let mut raw = text.lines().zip(1..);
    let mut blanks = 0;
    // The last line has a plain scalar that may go on.
    let mut is_open = false;
    while let Some((full, number)) = raw.next() {
        let content = full.trim_end();
        let indent = content.len() - content.trim_start_matches(' ').len();
        let content = &content[indent..];
        if content.is_empty() {
            blanks += 1;
            continue;
        }
        let gap = std::mem::take(&mut blanks);
        if content.starts_with('#') {
            is_open = false;
            continue;
        }
        if let Some(last) = lines.last_mut().filter(|last| is_open && indent > last.indent) {
            let more = without_plain_comment(content);
            if more.contains(": ") || more.ends_with(':') {
                return problem(number, "a value in one line needs no further lines; check the indentation");
            }
            push_break(&mut last.text, gap);
            last.text.push_str(more);
            is_open = more == content;
            continue;
        }
        is_open = false;
        if content.starts_with('\t') {
            return problem(number, "YAML is indented by spaces, not by tabs");
        }
        if content == "---" && lines.is_empty() {
            continue;
        }
        if content == "---" || content == "..." {
            return problem(number, "expected one document");
        }
        let start = value_start(content, number);
        let value = start.map_or("", |start| &content[start..]);
        let text = match (start, value.chars().next()) {
            (Some(start), Some(quote @ ('\'' | '"'))) => {
                let mut text = content[..=start].to_owned();
                quoted_lines(&mut text, quote, &full[indent + start + 1..], number, &mut raw)?;
                text
            }
            (Some(start), Some(first)) if !"[{".contains(first) => {
                let plain = without_plain_comment(value);
                is_open = plain == value;
                content[..start].to_owned() + plain
            }
            _ => without_comment(content).trim_end().to_owned(),
        };
        lines.push(Line { number, indent, text });
    }
    Ok(lines)
}

/// Returns where the value of a line starts, after its key or `-`.
fn value_start(content: &str, number: usize) -> Option<usize> {
    let rest = if is_item(content) { &content[1..] } else { split_key(content, number).ok()?.1 };
    let rest = rest.trim_start();
    (!rest.is_empty() && !rest.starts_with('#')).then(|| content.len() - rest.len())
}

/// Adds a quoted scalar after its first quote, and the rest of its last line.
fn quoted_lines<'a>(
    text: &mut String,
    quote: char,
    first: &'a str,
    number: usize,
    raw: &mut impl Iterator<Item = (&'a str, usize)>,
) -> Parsed<()> {
    let mut part = first;
    loop {
        if let Some(end) = closing_quote(part, quote) {
            text.push_str(&part[..end]);
            text.push_str(without_plain_comment(&part[end..]));
            return Ok(());
        }
        let trimmed = part.trim_end();
        let is_escaped = quote == '"' && (trimmed.len() - trimmed.trim_end_matches('\\').len()) % 2 == 1;
        let is_joined = is_escaped && trimmed.len() == part.len();
        text.push_str(if is_joined { &trimmed[..trimmed.len() - 1] } else { trimmed });
        if is_escaped && !is_joined {
            // An escaped space at the end of the line.
            text.push(' ');
        }
        let mut blanks = 0;
        part = loop {
            match raw.next() {
                Some((line, _)) if line.trim().is_empty() => blanks += 1,
                Some((line, _)) => break line.trim_start(),
                None => return problem(number, "the closing quote is missing"),
            }
        };
        if !is_joined || blanks > 0 {
            push_break(text, blanks);
        }
    }
}

/// Returns where a quoted scalar ends in a line.
fn closing_quote(part: &str, quote: char) -> Option<usize> {
    let mut characters = part.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' && quote == '"' {
            characters.next();
        } else if character == quote {
            let is_doubled = quote == '\'' && characters.next_if(|(_, next)| *next == quote).is_some();
            if !is_doubled {
                return Some(at);
            }
        }
    }
    None
}

/// Folds a line break: alone it is a space, and each blank line is a line break.
fn push_break(text: &mut String, blanks: usize) {
    if blanks == 0 {
        text.push(' ');
    }
    text.extend(std::iter::repeat_n('\n', blanks));
}

/// Cuts off `# comment` after a plain scalar, in which quotes are characters.
fn without_plain_comment(text: &str) -> &str {
    let comment = text.match_indices('#').find(|(at, _)| text[..*at].ends_with(char::is_whitespace));
    comment.map_or(text, |(at, _)| &text[..at]).trim_end()
}

/// Cuts off `# comment`, which starts a line or follows a space, outside of quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    let mut is_escaped = false;
    for (at, character) in line.char_indices() {
        match quote {
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if character == '\\' => is_escaped = true,
            Some(own) if own == character => quote = None,
            Some(_) => {}
            None if character == '#' && before.is_whitespace() => return &line[..at],
            // A quote inside of a plain scalar is a character.
            None if "'\"".contains(character) && " [,:-".contains(before) => quote = Some(character),
            None => {}
        }
        before = character;
    }
    line
}

/// Splits `key: rest`.
fn split_key(text: &str, line: usize) -> Parsed<(String, &str)> {
    let (key, rest) = match text.chars().next() {
        Some('\'' | '"') => quoted(text, line)?,
        _ => {
            let colon = text.find(": ").or_else(|| text.strip_suffix(':').map(str::len));
            let Some(colon) = colon else { return problem(line, "expected `key: value`") };
            (text[..colon].trim_end().to_owned(), &text[colon..])
        }
    };
    if key.is_empty() || key.starts_with(['&', '!', '[', '{', '|', '>', '?', '-', '%', '@', '`']) {
        return problem(line, format!("{key:?} is no key of a parameter file"));
    }
    match rest.trim_start().strip_prefix(':') {
        Some(rest) => Ok((key, rest.trim())),
        None => problem(line, "expected `:` after the key"),
    }
}

/// Returns a value in one line: a scalar, or a flow sequence of scalars.
///
/// # Errors
/// The reason, for line `line`.
pub(crate) fn value_of(text: &str, line: usize) -> Parsed<ParameterValue> {
    let Some(inner) = text.strip_prefix('[') else { return scalar_of(text, line) };
    let Some(inner) = inner.strip_suffix(']') else {
        return problem(line, "expected `]` at the end of the line");
    };
    let mut items = Vec::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let end = match rest.chars().next() {
            Some('\'' | '"') => rest.len() - quoted(rest, line)?.1.len(),
            _ => rest.find(',').unwrap_or(rest.len()),
        };
        let (item, after) = rest.split_at(end);
        items.push((item.trim(), line));
        rest = match after.trim_start().strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.trim().is_empty() => "",
            None => return problem(line, "expected `,` between items"),
        };
    }
    list_of(&items, line)
}

/// Returns an array of scalars of one type. An empty one is a `StringArray`, and fits each array parameter.
fn list_of(items: &[(&str, usize)], line: usize) -> Parsed<ParameterValue> {
    let scalars: Vec<ParameterValue> =
        items.iter().map(|(text, number)| scalar_of(text, *number)).collect::<Result<_, _>>()?;
    macro_rules! array {
        ($scalar:ident, $array:ident) => {{
            let values = scalars.iter().map(|scalar| match scalar {
                ParameterValue::$scalar(value) => Some(value.clone()),
                _ => None,
            });
            values.collect::<Option<Vec<_>>>().map(ParameterValue::$array)
        }};
    }
    let array = array!(String, StringArray)
        .or_else(|| array!(Bool, BoolArray))
        .or_else(|| array!(Integer, IntegerArray))
        .or_else(|| array!(Double, DoubleArray));
    array.map_or_else(|| problem(line, "the items of an array must have one type"), Ok)
}

fn scalar_of(text: &str, line: usize) -> Parsed<ParameterValue> {
    if text.starts_with(['\'', '"']) {
        let (value, rest) = quoted(text, line)?;
        if !rest.trim().is_empty() {
            return problem(line, "text after the closing quote");
        }
        return Ok(ParameterValue::String(value));
    }
    if text.starts_with(['[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', ',']) || text.contains(": ") {
        return problem(line, format!("{text:?} is no scalar; quote it if it is a text"));
    }
    Ok(plain(text))
}

/// Returns the value of a scalar without quotes, by the rules of `rcl_yaml_param_parser`.
fn plain(text: &str) -> ParameterValue {
    match text {
        "Y" | "y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true.into(),
        "N" | "n" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => false.into(),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY.into(),
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY.into(),
        ".nan" | ".NaN" | ".NAN" => f64::NAN.into(),
        _ => integer(text).map(ParameterValue::Integer).unwrap_or_else(|| match text.parse::<f64>() {
            // Rust also reads words such as `infinity`, which are texts in YAML.
            Ok(value) if text.contains(|c: char| c.is_ascii_digit()) => ParameterValue::Double(value),
            _ => ParameterValue::String(text.to_owned()),
        }),
    }
}

/// Reads decimal and hexadecimal numbers.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16).ok(),
        None => format!("{sign}{digits}").parse().ok(),
    }
}

/// Returns the character of an escape, and the number of its digits. `text` starts with `kind`.
fn escape(kind: char, text: &str) -> Option<(char, usize)> {
    let character = match kind {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        ' ' | '"' | '/' | '\\' => kind,
        'x' | 'u' | 'U' => {
            let count = match kind {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let digits = text.get(1..=count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            return Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, count));
        }
        _ => return None,
    };
    Some((character, 0))
}

/// Reads a quoted scalar at the start. Returns it and the rest.
fn quoted(text: &str, line: usize) -> Parsed<(String, &str)> {
    let mut characters = text.char_indices().peekable();
    let quote = characters.next().map(|(_, quote)| quote);
    let mut value = String::new();
    while let Some((at, character)) = characters.next() {
        if Some(character) == quote {
            if character == '\'' && characters.next_if(|(_, next)| *next == '\'').is_some() {
                value.push('\'');
                continue;
            }
            return Ok((value, &text[at + 1..]));
        }
        if character == '\\' && quote == Some('"') {
            let Some(escaped) = characters.next().and_then(|(at, kind)| escape(kind, &text[at..])) else {
                return problem(line, "expected an escape of YAML such as \\\" \\\\ \\n \\t \\x41 \\u0041");
            };
            let (character, digits) = escaped;
            value.push(character);
            for _ in 0..digits {
                characters.next();
            }
            continue;
        }
        value.push(character);
    }
    problem(line, "the closing quote is missing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Vec<(String, String, ParameterValue)> {
        let parsed = parse_file(text).unwrap();
        parsed.into_iter().map(|found| (found.node, found.name, found.value)).collect()
    }

    #[test]
    fn file_of_ros_has_its_values() {
        let text =
            "# demo\n/**:\n  ros__parameters:\n    use_sim_time: true\nlab:\n  camera:\n    ros__parameters:\n      \
                    lens: {}\n"
                .replace("{}", "'5 mm' # fixed")
                + "      gains: [1.0, 2.5e1,\t.inf]\n      names:\n      - a\n      - \"b: #c\"\n      deep:\n        on: 0x1F\n";
        let camera = |name: &str, value| ("lab/camera".to_owned(), name.to_owned(), value);
        let expected = vec![
            ("/**".to_owned(), "use_sim_time".to_owned(), true.into()),
            camera("lens", "5 mm".into()),
            camera("gains", vec![1.0, 25.0, f64::INFINITY].into()),
            camera("names", vec!["a".to_owned(), "b: #c".to_owned()].into()),
            camera("deep.on", 31_i64.into()),
        ];
        assert_eq!(values(&text), expected);
    }

    #[test]
    fn scalars_have_the_types_of_rcl() {
        for (text, expected) in [
            ("7", 7_i64.into()),
            ("-7", (-7_i64).into()),
            ("7.0", 7.0.into()),
            ("1e3", 1000.0.into()),
            ("off", false.into()),
            ("'7'", "7".into()),
            ("it's", "it's".into()),
            ("'it''s'", "it's".into()),
            ("infinity", "infinity".into()),
            ("1.2.3", "1.2.3".into()),
            ("[]", Vec::<String>::new().into()),
            ("[1, 2]", vec![1_i64, 2].into()),
            ("['a, b', c]", vec!["a, b".to_owned(), "c".to_owned()].into()),
        ] {
            assert_eq!(value_of(text, 1), Ok(expected), "{text}");
        }
    }

    #[test]
    fn unsupported_or_wrong_lines_are_named() {
        let head = "n:\n  ros__parameters:\n    ";
        for (text, line, expected) in [
            ("a: 1", 1, "ros__parameters"),
            ("n:\n\tros__parameters:", 2, "tabs"),
            (&format!("{head}a: [1, x]"), 3, "one type"),
            (&format!("{head}a: [1, 2"), 3, "expected `]`"),
            (&format!("{head}a: *anchor"), 3, "no scalar"),
            (&format!("{head}a: {{b: 1}}"), 3, "no scalar"),
            (&format!("{head}a: |"), 3, "no scalar"),
            (&format!("{head}a: 'x"), 3, "closing quote"),
            (&format!("{head}a:"), 3, "expected a value"),
            (&format!("{head}a: 1\n      b: 2"), 4, "indentation"),
            (&format!("{head}a: 1\n---\n"), 4, "one document"),
            ("just text", 1, "key: value"),
        ] {
            let error = parse_file(text).unwrap_err();
            assert!(error.line == line && error.reason.contains(expected), "{text:?}: {error:?}");
        }
    }

    /// The output of `yaml.dump(values, default_flow_style=False)`, which `launch_ros` writes.
    const DUMPED: &str = include_str!("dumped.yaml");

    #[test]
    fn file_of_launch_ros_has_its_values() {
        let urdf = "<?xml version=\"1.0\"?>\n<robot name=\"arm\">\n  <!-- it's: a #1 -->\n  <link name=\"base\"/>\n\n\
                    </robot>\n";
        let plain = "<robot name=\"arm\"><link name=\"base\"/><link name= \"tool\"/><joint name=\"turn\" type=\"fixed\"/>\
                     </robot> and more words of it";
        let escaped = "tab\t and bell\u{7} \u{85} and \u{1f600} with a backslash \\ and a quote \" and spaces   \n at the \
                       end of a long line";
        let entry = |name: &str, value| ("/**".to_owned(), name.to_owned(), value);
        let expected = vec![
            entry("escaped", escaped.into()),
            entry(
                "list",
                vec![
                    "a long item with many words, so that PyYAML folds it in the file, twice: no".into(),
                    plain.to_owned(),
                ]
                .into(),
            ),
            entry("plain", plain.into()),
            entry("robot_description", urdf.into()),
            entry("text", "7".into()),
        ];
        assert_eq!(values(DUMPED), expected);
        assert_eq!(values("/**:\n  ros__parameters: {}\n"), vec![]);
    }

    #[test]
    fn scalars_of_several_lines_are_folded() {
        let head = "n:\n  ros__parameters:\n    a: ";
        for (text, expected) in [
            ("one\n      two # comment", "one two"),
            ("one\n\n\n      two", "one\n\ntwo"),
            ("'one  \n\n     two''s' # comment", "one\ntwo's"),
            ("\"one\\\n     \\ two\\x41\"", "one twoA"),
            ("\"one \n two\"", "one two"),
        ] {
            assert_eq!(values(&format!("{head}{text}\n    b: 1\n"))[0].2, expected.into(), "{text}");
        }
        for text in ["one # comment\n      two", "'one\n\n", "\"\\x4\"", "\"\\ud800\""] {
            assert!(parse_file(&format!("{head}{text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_select_nodes() {
        let applies = |pattern: &str, node: &str| {
            let value = Override { node: pattern.into(), name: "a".into(), value: 1_i64.into() };
            value.applies_to(node)
        };
        for pattern in ["/**", "/lab/camera", "lab/camera", "/*/camera", "/**/camera", "/lab/*", "/lab/**"] {
            assert!(applies(pattern, "/lab/camera"), "{pattern}");
        }
        for pattern in ["/*", "camera", "/lab", "/*/*/*", "/**/lab", "/lab/camera/**/x"] {
            assert!(!applies(pattern, "/lab/camera"), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn no_text_panics(text in "([a-z'\"\\[\\],:# \\-\\n\\\\]|ros__parameters){0,80}") {
            let _ = parse_file(&text);
        }
    }
}
