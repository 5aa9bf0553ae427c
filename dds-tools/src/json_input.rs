//! Samples from JSON or YAML, in the form in which `dds echo --json` and `dds echo --yaml` print them.
//!
//! | type | JSON |
//! |---|---|
//! | number | number; text such as `"nan"` or `"inf"` for floating-point numbers |
//! | `char`, `string` | text |
//! | enum | name of the literal, or number |
//! | bitmask | number, or list of flags |
//! | sequence, array | list |
//! | map, struct, bitset | object; absent members have their defaults, `null` removes an optional member |
//! | union | object with the selected member, or the discriminator of a case without a member |

use crate::error::ToolError;
use crate::yaml;
use dds_core::dynamic::{DataError, DynamicData, DynamicKind, DynamicType, Input, PrimitiveKind};
use serde_json::{Map, Value};

/// Reads a sample of a type from JSON or YAML.
///
/// # Errors
/// [`ToolError::Value`] with the path of the first part that does not fit.
pub fn sample_from_text(ty: &DynamicType, text: &str) -> Result<DynamicData, ToolError> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => yaml::from_yaml(text).map_err(|yaml| {
            ToolError::value(format!("the sample is not JSON: {error}; it is not YAML either: {yaml}"))
        })?,
    };
    let mut reader = JsonReader { path: String::new() };
    let ty = ty.resolved();
    match value {
        Value::Object(members) if ty.kind() == DynamicKind::Struct => reader.structure(&ty, &members),
        value if ty.kind() == DynamicKind::Union => reader.union(&ty, &value),
        value => Err(reader.mismatch("an object with the members of the type", &value)),
    }
}

/// Reads values and remembers the path of the present one for errors.
struct JsonReader {
    path: String,
}

impl JsonReader {
    fn error(&self, reason: String) -> ToolError {
        ToolError::Value { path: self.path.clone(), reason }
    }

    fn mismatch(&self, expected: &str, value: &Value) -> ToolError {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "a bool",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.error(format!("expected {expected}, found {found}"))
    }

    /// Runs `read` with a longer path.
    fn at<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> Result<T, ToolError>) -> Result<T, ToolError> {
        let len = self.path.len();
        if !step.starts_with('[') && !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(step);
        let result = read(self);
        self.path.truncate(len);
        result
    }

    fn data_error(&self, error: &DataError) -> ToolError {
        self.error(error.to_string())
    }

    fn value(&mut self, ty: &DynamicType, value: &Value) -> Result<Input, ToolError> {
        let ty = ty.resolved();
        match (ty.kind(), value) {
            (DynamicKind::Primitive(kind), value) => self.primitive(kind, value),
            (DynamicKind::String | DynamicKind::WString, Value::String(text)) => Ok(text.as_str().into()),
            (DynamicKind::String | DynamicKind::WString, value) => Err(self.mismatch("text", value)),
            (DynamicKind::Enum, Value::String(literal)) => Ok(literal.as_str().into()),
            (DynamicKind::Bitmask, Value::Array(flags)) => self.flags(flags),
            (DynamicKind::Enum | DynamicKind::Bitmask, Value::Number(_)) => self.integer(value),
            (DynamicKind::Enum, value) => Err(self.mismatch("the name of a literal", value)),
            (DynamicKind::Bitmask, value) => Err(self.mismatch("a number or a list of flags", value)),
            (DynamicKind::Sequence | DynamicKind::Array, Value::Array(elements)) => self.list(&ty, elements),
            (DynamicKind::Sequence | DynamicKind::Array, value) => Err(self.mismatch("a list", value)),
            (DynamicKind::Struct, Value::Object(members)) => Ok(self.structure(&ty, members)?.into()),
            (DynamicKind::Map, Value::Object(entries)) => Ok(self.map(&ty, entries)?.into()),
            (DynamicKind::Bitset, Value::Object(fields)) => Ok(self.bitset(&ty, fields)?.into()),
            (DynamicKind::Union, value) => Ok(self.union(&ty, value)?.into()),
            (_, value) => Err(self.mismatch("an object", value)),
        }
    }

    fn primitive(&self, kind: PrimitiveKind, value: &Value) -> Result<Input, ToolError> {
        match (kind, value) {
            (PrimitiveKind::Bool, Value::Bool(value)) => Ok((*value).into()),
            (PrimitiveKind::Bool, value) => Err(self.mismatch("true or false", value)),
            (PrimitiveKind::Char8 | PrimitiveKind::Char16, Value::String(text)) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(char), None) => Ok(char.into()),
                    _ => Err(self.error(format!("expected one character, found {text:?}"))),
                }
            }
            (PrimitiveKind::Float32 | PrimitiveKind::Float64, Value::String(text)) => match text.parse::<f64>() {
                Ok(number) => Ok(number.into()),
                Err(_) => Err(self.mismatch("a number", value)),
            },
            (PrimitiveKind::Float32 | PrimitiveKind::Float64, Value::Number(number)) => match number.as_f64() {
                Some(number) => Ok(number.into()),
                None => Err(self.error(format!("the number {number} is out of range"))),
            },
            (PrimitiveKind::Float128, _) => Err(self.error("JSON has no form for a long double".to_owned())),
            (_, value) => self.integer(value),
        }
    }

    fn integer(&self, value: &Value) -> Result<Input, ToolError> {
        let Value::Number(number) = value else { return Err(self.mismatch("a whole number", value)) };
        match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Ok(number.into()),
            (None, Some(number)) => Ok(number.into()),
            (None, None) => Err(self.error(format!("expected a whole number of at most 64 bits, found {number}"))),
        }
    }

    fn flags(&self, flags: &[Value]) -> Result<Input, ToolError> {
        let mut names = Vec::with_capacity(flags.len());
        for flag in flags {
            let Value::String(name) = flag else { return Err(self.mismatch("the name of a flag", flag)) };
            names.push(name.as_str());
        }
        match names.as_slice() {
            [] => Ok(0.into()),
            names => Ok(names.join("|").into()),
        }
    }

    fn list(&mut self, ty: &DynamicType, elements: &[Value]) -> Result<Input, ToolError> {
        let Some(element_type) = ty.element() else { return Err(self.error("the type has no elements".to_owned())) };
        let mut list = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            list.push(self.at(&format!("[{index}]"), |reader| reader.value(&element_type, element))?);
        }
        Ok(list.into())
    }

    fn structure(&mut self, ty: &DynamicType, members: &Map<String, Value>) -> Result<DynamicData, ToolError> {
        let mut data = DynamicData::new(ty);
        for (name, value) in members {
            self.at(name, |reader| {
                let Some(member) = ty.member(name) else {
                    let known: Vec<_> = ty.members().map(|member| member.name().to_owned()).collect();
                    return Err(reader.error(format!("no such member; {} has {}", ty.name(), known.join(", "))));
                };
                if value.is_null() {
                    return data.remove(name).map_err(|error| reader.data_error(&error));
                }
                let input = reader.value(&member.ty(), value)?;
                data.set(name, input).map_err(|error| reader.data_error(&error))
            })?;
        }
        Ok(data)
    }

    fn map(&mut self, ty: &DynamicType, entries: &Map<String, Value>) -> Result<DynamicData, ToolError> {
        let mut data = DynamicData::new(ty);
        let (Some(key_type), Some(value_type)) = (ty.key_element(), ty.element()) else {
            return Err(self.error("the map has no types for its keys and values".to_owned()));
        };
        let is_text = key_type.resolved().kind() == DynamicKind::String;
        for (key, value) in entries {
            let step = if is_text { format!("[{key:?}]") } else { format!("[{key}]") };
            self.at(&step, |reader| {
                let input = reader.value(&value_type, value)?;
                data.set(step.as_str(), input).map_err(|error| reader.data_error(&error))
            })?;
        }
        Ok(data)
    }

    fn bitset(&mut self, ty: &DynamicType, fields: &Map<String, Value>) -> Result<DynamicData, ToolError> {
        let mut data = DynamicData::new(ty);
        for (name, value) in fields {
            self.at(name, |reader| {
                let input = match value {
                    Value::Bool(value) => Input::from(*value),
                    value => reader.integer(value)?,
                };
                data.set(name, input).map_err(|error| reader.data_error(&error))
            })?;
        }
        Ok(data)
    }

    fn union(&mut self, ty: &DynamicType, value: &Value) -> Result<DynamicData, ToolError> {
        let mut data = DynamicData::new(ty);
        if let Value::Number(_) = value {
            let discriminator =
                value.as_i64().ok_or_else(|| self.mismatch("the whole number of a discriminator", value))?;
            data.select("", discriminator).map_err(|error| self.data_error(&error))?;
            return Ok(data);
        }
        let members = match value {
            Value::Object(members) if members.len() == 1 => members,
            value => return Err(self.mismatch("an object with the selected member alone", value)),
        };
        for (name, value) in members {
            self.at(name, |reader| {
                let Some(case) = ty.cases().find(|case| case.name() == name) else {
                    let known: Vec<_> = ty.cases().map(|case| case.name().to_owned()).collect();
                    return Err(reader.error(format!("no such member; {} has {}", ty.name(), known.join(", "))));
                };
                let Some(case_type) = case.ty() else {
                    return Err(reader.error("this case has no member: give its discriminator".to_owned()));
                };
                let discriminator = match case.labels().first() {
                    Some(label) => *label,
                    None => free_discriminator(ty),
                };
                data.select("", discriminator).map_err(|error| reader.data_error(&error))?;
                let input = reader.value(&case_type, value)?;
                data.set(name, input).map_err(|error| reader.data_error(&error))
            })?;
        }
        Ok(data)
    }
}

/// Returns the smallest discriminator from 0 on that no label uses. It selects the default case.
fn free_discriminator(ty: &DynamicType) -> i64 {
    let is_used = |value| ty.cases().any(|case| case.labels().contains(&value));
    if let Some(discriminator) = ty.discriminator().map(|found| found.resolved())
        && discriminator.kind() == DynamicKind::Enum
    {
        let mut literals = discriminator.literals().map(|(_, value)| i64::from(value));
        return literals.find(|value| !is_used(*value)).unwrap_or_default();
    }
    (0..).find(|value| !is_used(*value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::sample_from_text;
    use dds_core::dynamic::{DynamicType, TypeError};

    fn every_kind() -> Result<DynamicType, TypeError> {
        let color = DynamicType::enumeration("Color").literal("RED").literal("GREEN").build()?;
        let flags = DynamicType::bitmask("Flags").flag("LEFT").flag("RIGHT").build()?;
        let bits = DynamicType::bitset("Bits").field("low", 3).signed_field("high", 5).build()?;
        let point = DynamicType::structure("Point")
            .member("x", DynamicType::float64())
            .member("y", DynamicType::float32())
            .build()?;
        let choice = DynamicType::union("Choice", DynamicType::int32())
            .case("number", &[1, 2], DynamicType::int64())
            .case("text", &[3], DynamicType::string())
            .default_case("flag", DynamicType::boolean())
            .build()?;
        DynamicType::structure("All")
            .member("id", DynamicType::uint64())
            .member("small", DynamicType::int8())
            .member("letter", DynamicType::char8())
            .member("name", DynamicType::string())
            .member("color", color)
            .member("flags", flags)
            .member("bits", bits)
            .member("points", DynamicType::sequence(point.clone()))
            .member("pair", DynamicType::array(DynamicType::int32(), 2))
            .member("limits", DynamicType::map(DynamicType::string(), DynamicType::float64()))
            .member("codes", DynamicType::map(DynamicType::int32(), DynamicType::string()))
            .member("choice", choice)
            .member("maybe", point)
            .optional()
            .build()
    }

    #[test]
    fn every_kind_reads_back() {
        let ty = every_kind().unwrap();
        for text in [
            r#"{"id":18446744073709551615,"small":-128,"letter":"x","name":"a\"b","color":"GREEN","flags":3,
                "bits":{"low":5,"high":-3},"points":[{"x":1.5,"y":2.0}],"pair":[1,-2],
                "limits":{"left":0.5,"right side":-1.0},"codes":{"-7":"seven"},"choice":{"text":"hello"},
                "maybe":{"x":0.0,"y":0.0}}"#,
            r#"{"choice":{"number":7}}"#,
            r#"{"choice":{"flag":true}}"#,
        ] {
            let sample = sample_from_text(&ty, text).unwrap();
            let printed = serde_json::to_value(&sample).unwrap();
            let given: serde_json::Value = serde_json::from_str(text).unwrap();
            for (name, value) in given.as_object().unwrap() {
                assert_eq!(&printed[name], value, "{name}");
            }
            assert_eq!(sample_from_text(&ty, &printed.to_string()).unwrap(), sample);
        }
    }

    #[test]
    fn flags_have_names_and_null_removes() {
        let ty = every_kind().unwrap();
        let sample = sample_from_text(&ty, r#"{"flags":["LEFT","RIGHT"],"maybe":null}"#).unwrap();
        let printed = serde_json::to_value(&sample).unwrap();
        assert_eq!(printed["flags"], 3);
        assert!(printed.get("maybe").is_none());
    }

    #[test]
    fn mistakes_name_their_place() {
        let ty = every_kind().unwrap();
        for (text, expected) in [
            (r#"{"points":[{"x":1},{"z":1}]}"#, "points[1].z: no such member; Point has x, y"),
            (r#"{"small":128}"#, "small: "),
            (r#"{"small":1.5}"#, "small: expected a whole number of at most 64 bits, found 1.5"),
            (r#"{"color":"BLUE"}"#, "color: "),
            (r#"{"letter":"ab"}"#, "letter: expected one character, found \"ab\""),
            (r#"{"pair":[1,2,3]}"#, "pair: "),
            (r#"{"choice":{"text":1}}"#, "choice.text: expected text, found a number"),
            (r#"{"choice":{"text":"a","number":1}}"#, "choice: expected an object with the selected member alone"),
            (r#"{"codes":{"x":"y"}}"#, "codes[x]: "),
            ("[]", "expected an object with the members of the type, found a list"),
            ("{", "the sample is not JSON"),
        ] {
            let error = sample_from_text(&ty, text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
