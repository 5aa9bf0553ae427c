//! Values between JSON and YAML.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Value};

/// Most levels of a document. Deeper ones could overflow the stack.
const DEPTH_MAX: usize = 64;
/// Most values of a document. Aliases could otherwise multiply them.
const VALUES_MAX: usize = 1 << 20;

/// Reads one document.
///
/// # Errors
/// The reason as text.
pub fn from_yaml(text: &str) -> Result<Value, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
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
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => (*value).into(),
        Yaml::Value(Scalar::Integer(value)) => (*value).into(),
        // JSON has no form for these numbers.
        Yaml::Value(Scalar::FloatingPoint(value)) if !value.is_finite() => value.to_string().to_lowercase().into(),
        Yaml::Value(Scalar::FloatingPoint(value)) => value.into_inner().into(),
        Yaml::Value(Scalar::String(text)) => text.as_ref().into(),
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
                text.push_str(&key_text(name));
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
    use super::{from_yaml, to_yaml};
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
        let expected = json!({ "robot": 7, "x": "nan", "tags": ["a", "b"], "big": u64::MAX.to_string() });
        assert_eq!(from_yaml("{robot: 7, x: .nan, tags: [a, b], big: \"18446744073709551615\"}"), Ok(expected));
    }

    #[test]
    fn deep_and_wrong_documents_are_errors() {
        assert!(from_yaml(&"[".repeat(100_000)).is_err());
        assert!(from_yaml(&format!("{}{}", "[".repeat(70), "]".repeat(70))).is_err());
        assert!(from_yaml("a: 1\n---\nb: 2\n").is_err());
        assert!(from_yaml("{a: ").is_err());
    }
}
