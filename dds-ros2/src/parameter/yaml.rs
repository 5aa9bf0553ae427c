//! Parameter files of ROS 2 (`rcl/rcl_yaml_param_parser`).
//!
//! A strict subset of YAML: block mappings, block and flow sequences of scalars, comments, plain and quoted scalars.
//! Anchors, tags, flow mappings, block scalars and several documents are errors that name their line.

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

/// A line without its comment.
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
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
        let (key, rest) = split_key(line)?;
        let is_deeper = lines.get(index).is_some_and(|next| next.indent > line.indent);
        let is_list = lines.get(index).is_some_and(|next| is_item(next.text) && next.indent >= line.indent);
        open.push(Level { indent: line.indent, key });
        if open.len() > DEPTH_MAX || found.len() >= ENTRIES_MAX {
            return problem(line.number, "the file is nested too deeply or too large");
        }
        if !rest.is_empty() {
            if is_deeper {
                let next = lines.get(index).map_or(line.number, |next| next.number);
                return problem(next, "a value in one line needs no further lines; check the indentation");
            }
            found.push(entry(&open, value_of(rest, line.number)?, line.number)?);
        } else if is_list {
            let mut items = Vec::new();
            while let Some(item) = lines.get(index).filter(|item| is_item(item.text) && item.indent >= line.indent) {
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

fn lines_of(text: &str) -> Parsed<Vec<Line<'_>>> {
    let mut lines = Vec::new();
    for (index, full) in text.lines().enumerate() {
        let number = index + 1;
        let text = without_comment(full).trim_end();
        let indent = text.len() - text.trim_start_matches(' ').len();
        let text = &text[indent..];
        if text.starts_with('\t') {
            return problem(number, "YAML is indented by spaces, not by tabs");
        }
        if text == "---" && lines.is_empty() {
            continue;
        }
        if text == "---" || text == "..." {
            return problem(number, "expected one document");
        }
        if !text.is_empty() {
            lines.push(Line { number, indent, text });
        }
    }
    Ok(lines)
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
fn split_key<'a>(line: &Line<'a>) -> Parsed<(String, &'a str)> {
    let (key, rest) = match line.text.chars().next() {
        Some('\'' | '"') => quoted(line.text, line.number)?,
        _ => {
            let colon = line.text.find(": ").or_else(|| line.text.strip_suffix(':').map(str::len));
            let Some(colon) = colon else { return problem(line.number, "expected `key: value`") };
            (line.text[..colon].trim_end().to_owned(), &line.text[colon..])
        }
    };
    if key.is_empty() || key.starts_with(['&', '!', '[', '{', '|', '>', '?', '-', '%', '@', '`']) {
        return problem(line.number, format!("{key:?} is no key of a parameter file"));
    }
    match rest.trim_start().strip_prefix(':') {
        Some(rest) => Ok((key, rest.trim())),
        None => problem(line.number, "expected `:` after the key"),
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
            match characters.next().map(|(_, escaped)| escaped) {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(escaped @ ('"' | '\\' | '/')) => value.push(escaped),
                _ => return problem(line, "expected one of the escapes \\\" \\\\ \\/ \\n \\t"),
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
