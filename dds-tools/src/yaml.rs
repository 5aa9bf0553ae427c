//! Values between JSON and YAML.

use saphyr::Scalar;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most levels of a document. Deeper ones could overflow the stack.
const DEPTH_MAX: usize = 64;

/// Longest name before a colon (YAML 1.2, 7.4.2), with some reserve for the escapes of other readers.
const SIMPLE_KEY_LEN_MAX: usize = 1000;

/// Reads one document.
///
/// # Errors
/// The reason as text.
pub fn from_yaml(text: &str) -> Result<Value, String> {
    let mut builder = DocumentBuilder::default();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        builder.add(event)?;
    }
    builder.document.ok_or_else(|| "expected one document, found none".to_owned())
}

/// Builds a document from the events of the parser. So the limits hold before a value exists.
#[derive(Default)]
struct DocumentBuilder {
    /// Collections that have not ended, the outermost one first.
    open: Vec<OpenCollection>,
    document: Option<Value>,
}

enum OpenCollection {
    Sequence(Vec<Value>),
    /// `key`: the name of the next value.
    Mapping {
        members: Map<String, Value>,
        key: Option<String>,
    },
}

impl DocumentBuilder {
    fn add(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            // Aliases of large values would multiply the memory of a document.
            Event::Alias(_) => Err("anchors and aliases are not supported: repeat the value".to_owned()),
            Event::Scalar(_, _, anchor, _) | Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                Err("anchors and aliases are not supported: repeat the value".to_owned())
            }
            Event::Scalar(text, style, _, tag) => self.put(value_of_scalar(&text, style, tag.as_ref())?),
            Event::SequenceStart(_, tag) => self.open(OpenCollection::Sequence(Vec::new()), tag.as_deref()),
            Event::MappingStart(_, tag) => {
                self.open(OpenCollection::Mapping { members: Map::new(), key: None }, tag.as_deref())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(OpenCollection::Sequence(items)) => self.put(Value::Array(items)),
                Some(OpenCollection::Mapping { members, .. }) => self.put(Value::Object(members)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn open(&mut self, collection: OpenCollection, tag: Option<&Tag>) -> Result<(), String> {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            return Err(format!("the tag {tag} is not supported"));
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(format!("the document has more than {DEPTH_MAX} levels"));
        }
        self.open.push(collection);
        Ok(())
    }

    /// Adds a complete value to the innermost collection.
    fn put(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut() {
            None if self.document.is_some() => return Err("expected one document, found several".to_owned()),
            None => self.document = Some(value),
            Some(OpenCollection::Sequence(items)) => items.push(value),
            Some(OpenCollection::Mapping { members, key }) => match key.take() {
                None => *key = Some(name_of_member(value)?),
                Some(name) if members.contains_key(&name) => return Err(format!("the name {name:?} appears twice")),
                Some(name) => drop(members.insert(name, value)),
            },
        }
        Ok(())
    }
}

fn name_of_member(key: Value) -> Result<String, String> {
    match key {
        Value::String(name) => Ok(name),
        key @ (Value::Number(_) | Value::Bool(_)) => Ok(key.to_string()),
        _ => Err("expected text as the name of a member".to_owned()),
    }
}

fn value_of_scalar(text: &str, style: ScalarStyle, tag: Option<&Cow<'_, Tag>>) -> Result<Value, String> {
    // The scalar would round numbers above `i64::MAX`.
    if let (ScalarStyle::Plain, None, Some(number)) = (style, tag, large_number(text)) {
        return Ok(number.into());
    }
    let scalar = Scalar::parse_from_cow_and_metadata(Cow::Borrowed(text), style, tag);
    Ok(match scalar.ok_or_else(|| format!("{text:?} does not fit its tag"))? {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => value.into(),
        Scalar::Integer(value) => value.into(),
        // JSON has no form for these numbers.
        Scalar::FloatingPoint(value) if value.is_nan() => "NaN".into(),
        // Only the word is infinite. Digits that are too large are a mistake.
        Scalar::FloatingPoint(value) if value.is_infinite() && text.contains(|char: char| char.is_ascii_digit()) => {
            return Err(format!("the number {text} is out of range"));
        }
        Scalar::FloatingPoint(value) if value.is_infinite() => {
            if value.is_sign_positive() {
                "Infinity".into()
            } else {
                "-Infinity".into()
            }
        }
        Scalar::FloatingPoint(value) => value.into_inner().into(),
        Scalar::String(text) => text.as_ref().into(),
    })
}

/// Returns a whole number above `i64::MAX`.
fn large_number(text: &str) -> Option<u64> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 8),
        (None, None) => (text.strip_prefix('+').unwrap_or(text), 10),
    };
    // The conversion accepts a second sign.
    let is_number = digits.starts_with(|first: char| first.is_ascii_hexdigit());
    let number = is_number.then(|| u64::from_str_radix(digits, radix).ok())?;
    number.filter(|number| i64::try_from(*number).is_err())
}

/// Writes a document in block style. Text is quoted as in JSON, which YAML 1.2 contains.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    write_block(value, 0, &mut text);
    text
}

/// Writes a value that begins on a line of its own.
fn write_block(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                text.extend(std::iter::repeat_n(' ', indent));
                let key = key_text(name);
                if key.len() > SIMPLE_KEY_LEN_MAX {
                    text.push_str("? ");
                    text.push_str(&key);
                    text.push('\n');
                    text.extend(std::iter::repeat_n(' ', indent));
                } else {
                    text.push_str(&key);
                }
                text.push(':');
                write_inner(value, indent, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                text.extend(std::iter::repeat_n(' ', indent));
                text.push('-');
                write_inner(item, indent, text);
            }
        }
        scalar => {
            text.extend(std::iter::repeat_n(' ', indent));
            text.push_str(&scalar.to_string());
            text.push('\n');
        }
    }
}

/// Writes the value of a member or an element: numbers in one line, structures below.
fn write_inner(value: &Value, indent: usize, text: &mut String) {
    let is_structure = match value {
        Value::Object(members) => !members.is_empty(),
        // Arrays of numbers are long. A line for each one would hide the rest.
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array() || item.is_string()),
        _ => false,
    };
    if is_structure {
        text.push('\n');
        write_block(value, indent + 2, text);
    } else {
        text.push(' ');
        text.push_str(&value.to_string());
        text.push('\n');
    }
}

/// Returns a name, with quotes unless it is a plain word.
fn key_text(name: &str) -> String {
    let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    // YAML 1.1 reads these words as other values.
    let is_reserved = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|reserved| name.eq_ignore_ascii_case(reserved));
    if is_word && !is_reserved { name.to_owned() } else { Value::from(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::{SIMPLE_KEY_LEN_MAX, from_yaml, to_yaml};
    use serde_json::json;

    #[test]
    fn values_read_back() {
        let value = json!({
            "robot": 7, "x": 1.5, "y": true, "name": "no", "tags": ["a: b", "- c"], "data": [1, 2], "empty": {},
            "list": [], "pose": { "position": { "z": -1 } }, "points": [{ "x": 1 }, { "x": 2, "w": null }], "a b": "\n"
        });
        let text = to_yaml(&value);
        assert!(text.starts_with("robot: 7\nx: 1.5\n\"y\": true\nname: \"no\"\ntags:\n  - \"a: b\"\n"), "{text}");
        assert!(text.contains("data: [1,2]\n") && text.contains("points:\n  -\n    x: 1\n"), "{text}");
        assert_eq!(from_yaml(&text), Ok(value));
    }

    #[test]
    fn flow_style_and_special_numbers_are_read() {
        let expected = json!({ "robot": 7, "x": "NaN", "y": "-Infinity", "tags": ["a", "b"], "text": "18446744073709551615",
            "big": u64::MAX, "large": 1_u64 << 63, "hex": u64::MAX, "octal": u64::MAX, "least": i64::MIN, "more": 1.8446744073709552e19 });
        let text = "{robot: 7, x: .nan, y: -.inf, tags: [a, b], text: \"18446744073709551615\",
            big: 18446744073709551615, large: +9223372036854775808, hex: 0xffffffffffffffff, octal: 0o1777777777777777777777,
            least: -9223372036854775808, more: 18446744073709551616}";
        assert_eq!(from_yaml(text), Ok(expected));
    }

    #[test]
    fn every_character_reads_back() {
        for char in ('\0'..='\u{2fff}')
            .chain('\u{d000}'..='\u{10ffff}')
            .step_by(7)
            .chain("\u{85}\u{2028}\u{2029}\u{feff}\u{7f}\u{fffe}".chars())
        {
            let value = json!({ format!("{char}a"): [format!("{char}"), format!("b {char}\n{char} b")] });
            assert_eq!(from_yaml(&to_yaml(&value)), Ok(value), "{char:?}");
        }
        for len in [SIMPLE_KEY_LEN_MAX - 2, SIMPLE_KEY_LEN_MAX, 5000] {
            let value =
                json!({ "outer": { "k ".repeat(len / 2): 1, "other": { "k ".repeat(len / 2): [{ "x": 1 }] } } });
            assert_eq!(from_yaml(&to_yaml(&value)), Ok(value), "{len}");
        }
    }

    #[test]
    fn deep_and_wrong_documents_are_errors() {
        for opening in ["[", "- ", "? ", "{a: "] {
            // A recursive parser would overflow the stack.
            let error = from_yaml(&opening.repeat(100_000)).unwrap_err();
            assert!(!error.is_empty(), "{opening}");
        }
        assert_eq!(from_yaml(&"- ".repeat(100_000)).unwrap_err(), "the document has more than 64 levels");
        assert!(from_yaml(&format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
        assert!(from_yaml(&format!("{}{}", "[".repeat(65), "]".repeat(65))).is_err());
        assert_eq!(from_yaml("a: 1\n---\nb: 2\n").unwrap_err(), "expected one document, found several");
        assert_eq!(from_yaml("").unwrap_err(), "expected one document, found none");
        assert_eq!(from_yaml("{a: 1, b: 2, a: 3}").unwrap_err(), "the name \"a\" appears twice");
        assert_eq!(from_yaml("{[]: 1}").unwrap_err(), "expected text as the name of a member");
        assert_eq!(from_yaml("!point {x: 1}").unwrap_err(), "the tag !point is not supported");
        assert!(from_yaml("{a: ").is_err());
    }

    #[test]
    fn anchors_and_aliases_are_errors() {
        // Each alias would copy a megabyte.
        let text = format!("a: &large \"{}\"\nb: [{}]\n", "x".repeat(1 << 20), "*large, ".repeat(10_000));
        for text in [text.as_str(), "&one [1]", "{a: &two {b: 1}}", "[&three 1]"] {
            assert_eq!(from_yaml(text).unwrap_err(), "anchors and aliases are not supported: repeat the value");
        }
        assert!(from_yaml("[*unknown]").is_err());
    }

    #[test]
    fn only_words_are_infinite() {
        assert_eq!(from_yaml("[.inf, -.Inf, +.INF]"), Ok(json!(["Infinity", "-Infinity", "Infinity"])));
        for text in ["1e999", "-1e999", "!!float 1e999"] {
            assert!(from_yaml(text).unwrap_err().ends_with("1e999 is out of range"), "{text}");
        }
    }
}
