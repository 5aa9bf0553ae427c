//! Values between JSON and YAML.

use saphyr::{Scalar, ScalarStyle, Yaml, YamlLoader};
use saphyr_parser::Parser;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most levels of a document. Deeper ones could overflow the stack.
const DEPTH_MAX: usize = 64;
/// Most values of a document. Aliases could otherwise multiply them.
const VALUES_MAX: usize = 1 << 20;

/// Longest name before a colon (YAML 1.2, 7.4.2), with some reserve for the escapes of other readers.
const SIMPLE_KEY_LEN_MAX: usize = 1000;

/// Reads one document.
///
/// # Errors
/// The reason as text.
pub fn from_yaml(text: &str) -> Result<Value, String> {
    let mut loader = YamlLoader::default();
    // The loader would round numbers above `i64::MAX`.
    loader.early_parse(false);
    Parser::new_from_str(text).load(&mut loader, true).map_err(|error| error.to_string())?;
    if let Some(error) = loader.error() {
        return Err(error.to_string());
    }
    let documents: Vec<Yaml<'_>> = loader.into_documents();
    match documents.as_slice() {
        [document] => value_of(document, 0, &mut 0),
        documents => Err(format!("expected one document, found {}", documents.len())),
    }
}

fn value_of(yaml: &Yaml<'_>, depth: usize, count: &mut usize) -> Result<Value, String> {
    *count += 1;
    if depth > DEPTH_MAX || *count > VALUES_MAX {
        return Err(format!("the document has more than {DEPTH_MAX} levels or {VALUES_MAX} values"));
    }
    Ok(match yaml {
        Yaml::Representation(text, ScalarStyle::Plain, None) if large_number(text).is_some() => {
            large_number(text).into()
        }
        Yaml::Representation(text, style, tag) => {
            let scalar = Scalar::parse_from_cow_and_metadata(Cow::Borrowed(text), *style, tag.as_ref());
            value_of_scalar(&scalar.ok_or_else(|| format!("{text:?} does not fit its tag"))?)
        }
        Yaml::Value(scalar) => value_of_scalar(scalar),
        Yaml::Sequence(items) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                list.push(value_of(item, depth + 1, count)?);
            }
            Value::Array(list)
        }
        Yaml::Mapping(pairs) => {
            let mut object = Map::new();
            for (key, value) in pairs {
                let key = match value_of(key, depth + 1, count)? {
                    Value::String(key) => key,
                    key @ (Value::Number(_) | Value::Bool(_)) => key.to_string(),
                    _ => return Err("expected text as the name of a member".to_owned()),
                };
                object.insert(key, value_of(value, depth + 1, count)?);
            }
            Value::Object(object)
        }
        _ => return Err("tags, aliases and invalid values are not supported".to_owned()),
    })
}

/// Returns a whole number above `i64::MAX`.
fn large_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x");
    let (digits, radix) = digits.map_or((text.strip_prefix('+').unwrap_or(text), 10), |digits| (digits, 16));
    // The conversion accepts a second sign.
    let is_number = digits.starts_with(|first: char| first.is_ascii_hexdigit());
    let number = is_number.then(|| u64::from_str_radix(digits, radix).ok())?;
    number.filter(|number| i64::try_from(*number).is_err())
}

fn value_of_scalar(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => (*value).into(),
        Scalar::Integer(value) => (*value).into(),
        // JSON has no form for these numbers.
        Scalar::FloatingPoint(value) if value.is_nan() => "NaN".into(),
        Scalar::FloatingPoint(value) if value.is_infinite() => {
            if value.is_sign_positive() {
                "Infinity".into()
            } else {
                "-Infinity".into()
            }
        }
        Scalar::FloatingPoint(value) => value.into_inner().into(),
        Scalar::String(text) => text.as_ref().into(),
    }
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
            "big": u64::MAX, "large": 1_u64 << 63, "hex": u64::MAX, "least": i64::MIN, "more": 1.8446744073709552e19 });
        let text = "{robot: 7, x: .nan, y: -.inf, tags: [a, b], text: \"18446744073709551615\",
            big: 18446744073709551615, large: +9223372036854775808, hex: 0xffffffffffffffff,
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
        assert!(from_yaml(&"[".repeat(100_000)).is_err());
        assert!(from_yaml(&format!("{}{}", "[".repeat(70), "]".repeat(70))).is_err());
        assert!(from_yaml("a: 1\n---\nb: 2\n").is_err());
        assert!(from_yaml("{a: ").is_err());
    }
}
