//! Parameter files of ROS 2 (`rcl/rcl_yaml_param_parser`).
//!
//! `saphyr-parser` reads the YAML. Values are scalars, and sequences of scalars of one type. As in `rcl`, aliases are
//! errors, so that a small file cannot repeat a large value many times. Each error names its line and column.

use super::value::ParameterValue;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

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

/// A problem of a file, with its line and column from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct YamlProblem {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) reason: String,
}

type Parsed<T> = Result<T, YamlProblem>;

fn problem<T>(at: Marker, reason: impl Into<String>) -> Parsed<T> {
    Err(YamlProblem { line: at.line(), column: at.col() + 1, reason: reason.into() })
}

impl YamlProblem {
    fn of_parser(error: &ScanError, text: &str) -> Self {
        let reason = error.info().to_owned();
        let (line, column) = (error.marker().line(), error.marker().col() + 1);
        match text.lines().enumerate().last() {
            // The parser notices a missing bracket after the last line.
            Some((index, last)) if line > index + 1 => {
                Self { line: index + 1, column: last.chars().count() + 1, reason }
            }
            _ => Self { line, column, reason },
        }
    }
}

/// Returns the values of a file, in their order.
pub(crate) fn parse_file(text: &str) -> Parsed<Vec<Override>> {
    let mut file = FileBuilder::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| YamlProblem::of_parser(&error, text))?;
        let at = span.start;
        if let Event::DocumentStart(_) = event {
            documents += 1;
            if documents > 1 {
                return problem(at, "expected one document");
            }
        }
        file.add(event, at)?;
    }
    Ok(file.found)
}

/// Returns the value of an argument: a scalar, or a sequence of scalars such as `[1, 2]`.
///
/// # Errors
/// The reason.
pub(crate) fn value_of(text: &str) -> Parsed<ParameterValue> {
    let (mut reader, mut value) = (ValueReader::default(), None);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| YamlProblem::of_parser(&error, text))?;
        if let Some(read) = reader.read(&event, span.start)? {
            if value.replace(read).is_some() {
                return problem(span.start, "expected one value");
            }
        }
    }
    value.map_or_else(|| problem(Marker::new(0, 1, 0), NO_VALUE), Ok)
}

const NO_VALUE: &str = "expected a scalar, or a sequence of scalars";

/// Reads scalars and sequences of scalars.
#[derive(Default)]
struct ValueReader {
    /// The start of the open sequence, and its items.
    open: Option<(Marker, Vec<ParameterValue>)>,
}

impl ValueReader {
    /// Returns the value that ends with this event.
    fn read(&mut self, event: &Event<'_>, at: Marker) -> Parsed<Option<ParameterValue>> {
        refuse_alias(event, at)?;
        match event {
            Event::Scalar(text, style, _, tag) => {
                let scalar = scalar_of(text, *style, tag.as_deref(), at)?;
                let Some((_, items)) = &mut self.open else { return Ok(Some(scalar)) };
                items.push(scalar);
            }
            Event::SequenceStart(..) if self.open.is_none() => self.open = Some((at, Vec::new())),
            Event::SequenceStart(..) | Event::MappingStart(..) => return problem(at, NO_VALUE),
            Event::SequenceEnd => return self.open.take().map(|(start, items)| list_of(&items, start)).transpose(),
            _ => {}
        }
        Ok(None)
    }
}

/// Refuses aliases. An anchor without an alias has no effect.
fn refuse_alias(event: &Event<'_>, at: Marker) -> Parsed<()> {
    match event {
        Event::Alias(_) => problem(at, "aliases are not supported: repeat the value"),
        _ => Ok(()),
    }
}

/// Collects the values of a file from the events of the parser.
#[derive(Default)]
struct FileBuilder {
    /// The keys of the open mappings. The innermost one is `None` until its next key.
    keys: Vec<Option<String>>,
    value: ValueReader,
    found: Vec<Override>,
}

impl FileBuilder {
    fn add(&mut self, event: Event<'_>, at: Marker) -> Parsed<()> {
        refuse_alias(&event, at)?;
        let awaits_value = self.value.open.is_none() && !matches!(self.keys.last(), Some(None));
        match (event, self.keys.last_mut()) {
            (Event::MappingStart(..), _) if awaits_value => return self.open_mapping(at),
            (Event::MappingEnd, _) => {
                self.keys.pop();
                self.end_value();
            }
            (Event::Scalar(text, ..), Some(key @ None)) => *key = Some(text.into_owned()),
            (Event::SequenceStart(..), Some(None)) => return problem(at, NO_VALUE),
            // A document without content is an empty scalar.
            (Event::Scalar(text, ..), None) if text.is_empty() => {}
            (Event::Scalar(..) | Event::SequenceStart(..), None) => {
                return problem(at, "expected a mapping from the names of nodes");
            }
            (event, _) => {
                if let Some(value) = self.value.read(&event, at)? {
                    return self.put(value, at);
                }
            }
        }
        Ok(())
    }

    fn open_mapping(&mut self, at: Marker) -> Parsed<()> {
        if self.keys.len() >= DEPTH_MAX {
            return problem(at, format!("the file has more than {DEPTH_MAX} levels"));
        }
        self.keys.push(None);
        Ok(())
    }

    /// Adds the value for the keys that are open.
    fn put(&mut self, value: ParameterValue, at: Marker) -> Parsed<()> {
        if self.found.len() >= ENTRIES_MAX {
            return problem(at, format!("the file has more than {ENTRIES_MAX} values"));
        }
        let keys: Vec<&str> = self.keys.iter().flatten().map(String::as_str).collect();
        let Some(before) = keys.iter().position(|key| *key == PARAMETERS_KEY) else {
            return problem(at, "expected `ros__parameters` between the name of the node and its parameters");
        };
        let (node, name) = (keys[..before].join("/"), keys[before + 1..].join("."));
        if node.is_empty() || name.is_empty() {
            return problem(at, "expected the name of a node before `ros__parameters`, and parameters below it");
        }
        self.found.push(Override { node, name, value });
        self.end_value();
        Ok(())
    }

    /// The innermost mapping awaits its next key.
    fn end_value(&mut self) {
        if let Some(key) = self.keys.last_mut() {
            *key = None;
        }
    }
}

/// Returns an array of scalars of one type. An empty one is a `StringArray`, and fits each array parameter.
fn list_of(scalars: &[ParameterValue], at: Marker) -> Parsed<ParameterValue> {
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
    array.map_or_else(|| problem(at, "the items of an array must have one type"), Ok)
}

fn scalar_of(text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Marker) -> Parsed<ParameterValue> {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(text.into()),
        Some(tag) => problem(at, format!("the tag {tag} is not supported, only !!str")),
        None if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) => Ok(text.into()),
        None if text.is_empty() => problem(at, "expected a value after the key"),
        None => Ok(plain(text)),
    }
}

/// Returns the value of a scalar without quotes, by the rules of `rcl_yaml_param_parser`.
fn plain(text: &str) -> ParameterValue {
    match text {
        "Y" | "y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true.into(),
        "N" | "n" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => false.into(),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY.into(),
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY.into(),
        ".nan" | ".NaN" | ".NAN" => f64::NAN.into(),
        _ => match (integer(text), double(text)) {
            (Some(value), _) => value.into(),
            (None, Some(value)) => value.into(),
            (None, None) => text.into(),
        },
    }
}

/// Reads a number as `strtoll` does: octal after `0`, and hexadecimal after `0x`.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (if digits.starts_with('0') { 8 } else { 10 }, digits),
    };
    // `from_str_radix` would read a second sign.
    let are_digits = digits.chars().all(|digit| digit.is_digit(radix));
    are_digits.then(|| i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()).flatten()
}

/// Reads a number as `strtod` does, but no hexadecimal one. Numbers too large or too small for a double remain texts.
fn double(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next()?;
    let is_zero_or_word = !mantissa.contains(|digit| matches!(digit, '1'..='9'));
    (value.is_normal() || is_zero_or_word).then_some(value)
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
            ("010", 8_i64.into()),
            ("-010", (-8_i64).into()),
            ("08", 8.0.into()),
            ("-0X1f", (-31_i64).into()),
            ("0x-5", "0x-5".into()),
            ("0o10", "0o10".into()),
            ("9223372036854775808", 9_223_372_036_854_775_808.0.into()),
            ("0.0", 0.0.into()),
            ("1e999", "1e999".into()),
            ("1e-999", "1e-999".into()),
            ("Infinity", f64::INFINITY.into()),
            ("-inf", f64::NEG_INFINITY.into()),
            ("|-\n  7", 7_i64.into()),
            ("|\n  7", "7\n".into()),
            ("&a 7", 7_i64.into()),
            ("[&a 1, 010]", vec![1_i64, 8].into()),
            ("~", "~".into()),
            ("1.2.3", "1.2.3".into()),
            ("[]", Vec::<String>::new().into()),
            ("[1, 2]", vec![1_i64, 2].into()),
            ("['a, b', c]", vec!["a, b".to_owned(), "c".to_owned()].into()),
        ] {
            assert_eq!(value_of(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn every_form_of_yaml_has_its_values() {
        let head = "n:\n  ros__parameters:\n    ";
        for (text, expected) in [
            ("a: {b: 1, c: [x, z]}", vec![("a.b", 1_i64.into()), ("a.c", vec!["x".to_owned(), "z".to_owned()].into())]),
            ("a: |\n      two\n      lines\n", vec![("a", "two\nlines\n".into())]),
            ("a: >-\n      one\n      line\n", vec![("a", "one line".into())]),
            ("a: !!str 7", vec![("a", "7".into())]),
            ("a: [1,\n      2]", vec![("a", vec![1_i64, 2].into())]),
            ("'a': {}\n    b: off # not on", vec![("b", false.into())]),
            ("a: {}\n...\n", vec![]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(name, value)| ("n".to_owned(), name.to_owned(), value)).collect();
            assert_eq!(values(&format!("---\n{head}{text}")), expected, "{text}");
        }
        assert_eq!(values("{n: {ros__parameters: {a: 1}}}"), [("n".to_owned(), "a".to_owned(), 1_i64.into())]);
        assert_eq!(values("# nothing\n"), []);
    }

    #[test]
    fn unsupported_or_wrong_places_are_named() {
        let head = "n:\n  ros__parameters:\n    ";
        for (text, place, expected) in [
            ("a: 1", (1, 4), "ros__parameters"),
            ("n:\n\tros__parameters:", (2, 2), "tab"),
            (&format!("{head}a: [1, x]"), (3, 8), "one type"),
            (&format!("{head}a:\n    - 1\n    - x\n    b: 2"), (4, 7), "one type"),
            (&format!("{head}a: [1, [2]]"), (3, 12), "a scalar, or a sequence"),
            (&format!("{head}a: [{{b: 1}}]"), (3, 9), "a scalar, or a sequence"),
            (&format!("{head}a: [1, 2"), (3, 13), ""),
            (&format!("{head}a: &anchor 1\n    b: *anchor"), (4, 8), "repeat the value"),
            (&format!("{head}a: !color red"), (3, 8), "!color"),
            (&format!("{head}a: 'x"), (3, 8), ""),
            (&format!("{head}a:"), (3, 6), "expected a value"),
            (&format!("{head}? [a]\n    : 1"), (3, 7), "a scalar, or a sequence"),
            (&format!("{head}a: 1\n      b: 2"), (4, 8), ""),
            (&format!("{head}a: 1\n---\n"), (4, 1), "one document"),
            ("just text", (1, 1), "expected a mapping"),
            ("- 1", (1, 1), "expected a mapping"),
        ] {
            let error = parse_file(text).unwrap_err();
            assert!((error.line, error.column) == place && error.reason.contains(expected), "{text:?}: {error:?}");
        }
        for text in ["", "{a: 1}", "[[1]]", "[1, x]", "'x", "*a", "1\n---\n2"] {
            assert!(value_of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_that_would_grow_are_refused() {
        let deep = "a: {".repeat(100_000) + &"}".repeat(100_000);
        assert!(parse_file(&deep).unwrap_err().reason.contains("levels"));
        assert!(parse_file(&("a: ".to_owned() + &"[".repeat(100_000))).is_err());
        let laughs = "n:\n  ros__parameters:\n    a: &a [x, x]\n    b: &b {c: *a, d: *a}\n    e: {f: *b, g: *b}\n";
        assert!(parse_file(laughs).unwrap_err().reason.contains("repeat the value"));
        let long = "n:\n  ros__parameters:\n".to_owned() + &"    a: 1\n".repeat(ENTRIES_MAX + 1);
        let error = parse_file(&long).unwrap_err();
        assert!(error.line == ENTRIES_MAX + 3 && error.reason.contains("values"), "{error:?}");
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
            ("\"one \n      two\"", "one two"),
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
