//! Samples from JSON or YAML, in the form in which `dds echo --json` and `dds echo --yaml` print them.
//!
//! | type | JSON |
//! |---|---|
//! | number | number |
//! | floating-point number | number, `"NaN"`, `"Infinity"` or `"-Infinity"` |
//! | `long double` | as above, or all bits as text: `"0x…"` with 32 digits |
//! | `char`, `string` | text; half of a surrogate pair as number |
//! | enum | name of the literal, or number |
//! | bitmask | number, or list of flags |
//! | sequence, array | list |
//! | map, struct, bitset | object; absent members have their defaults, `null` removes an optional member |
//! | union | object with the selected member; `$discriminator` if the member has several, or is absent |
//!
//! The end of an instance is an object with `$instance_state` (`disposed` or `no writers`) and `key`.

use crate::error::ToolError;
use crate::json_names::{DISCRIMINATOR, INSTANCE_STATE, KEY, ended_state};
use crate::yaml;
use dds_core::InstanceState;
use dds_core::cdr::F128;
use dds_core::dynamic::{DataError, DynamicData, DynamicKind, DynamicType, Input, MemberId, PrimitiveKind};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// Hexadecimal digits of a `long double`.
const FLOAT128_DIGITS: usize = 32;

/// A change of a topic that the user publishes.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedChange {
    /// A sample.
    Sample(DynamicData),
    /// The end of the instance with this key: disposed, or without this writer.
    End(InstanceState, DynamicData),
}

/// Reads a sample or the end of an instance from JSON or YAML.
///
/// # Errors
/// As [`sample_from_text`].
pub fn change_from_text(ty: &DynamicType, text: &str) -> Result<PublishedChange, ToolError> {
    let value = value_from_text(text)?;
    let Some((state, key)) = instance_end(&value) else {
        return sample_from_value(ty, &value).map(PublishedChange::Sample);
    };
    let Some(ended) = ended_state(state) else {
        let reason = format!("expected disposed or no writers, found {state:?}");
        return Err(ToolError::Value { path: INSTANCE_STATE.to_owned(), reason });
    };
    let mut reader = JsonReader { path: String::new() };
    let key = reader.at(KEY, |reader| reader.sample(ty, key))?;
    Ok(PublishedChange::End(ended, key))
}

/// Returns the state and the key if a value is the end of an instance, and no sample.
fn instance_end(value: &Value) -> Option<(&str, &Value)> {
    let members = value.as_object().filter(|members| members.len() == 2)?;
    Some((members.get(INSTANCE_STATE)?.as_str()?, members.get(KEY)?))
}

/// Reads a sample of a type from JSON or YAML.
///
/// # Errors
/// [`ToolError::Value`] with the path of the first part that does not fit.
pub fn sample_from_text(ty: &DynamicType, text: &str) -> Result<DynamicData, ToolError> {
    sample_from_value(ty, &value_from_text(text)?)
}

/// Reads a sample of a type from JSON. Unlike YAML, it is safe for text of untrusted senders.
///
/// # Errors
/// As [`sample_from_text`].
pub fn sample_from_json(ty: &DynamicType, text: &str) -> Result<DynamicData, ToolError> {
    let value = serde_json::from_str(text);
    sample_from_value(ty, &value.map_err(|error| ToolError::value(format!("the sample is not JSON: {error}")))?)
}

fn sample_from_value(ty: &DynamicType, value: &Value) -> Result<DynamicData, ToolError> {
    JsonReader { path: String::new() }.sample(ty, value)
}

fn value_from_text(text: &str) -> Result<Value, ToolError> {
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // YAML contains JSON, so a number out of range would otherwise get a second meaning.
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return Err(ToolError::value(format!("the sample has a value that is no JSON: {error}")));
    }
    yaml::from_yaml(text)
        .map_err(|yaml| ToolError::value(format!("the sample is not JSON: {error}; it is not YAML either: {yaml}")))
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

    fn sample(&mut self, ty: &DynamicType, value: &Value) -> Result<DynamicData, ToolError> {
        let ty = ty.resolved();
        match value {
            Value::Object(members) if ty.kind() == DynamicKind::Struct => self.structure(&ty, members),
            value if ty.kind() == DynamicKind::Union => self.union(&ty, value),
            value => Err(self.mismatch("an object with the members of the type", value)),
        }
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
            (DynamicKind::Map, Value::Object(entries)) => self.map(&ty, entries),
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
                self.character(text).map(Input::from)
            }
            (PrimitiveKind::Float128, Value::String(text)) if text.starts_with("0x") => self.float128(text),
            (PrimitiveKind::Float128, value) => self.float(value).map(|number| F128::from(number).into()),
            (PrimitiveKind::Float32, value) => self.float32(value).map(Input::from),
            (PrimitiveKind::Float64, value) => self.float(value).map(Input::from),
            (_, value) => self.integer(value),
        }
    }

    fn character(&self, text: &str) -> Result<char, ToolError> {
        single_char(text).ok_or_else(|| self.error(format!("expected one character, found {text:?}")))
    }

    fn float(&self, value: &Value) -> Result<f64, ToolError> {
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => match text.parse::<f64>() {
                // Only the word is infinite. Digits that are too large are a mistake.
                Ok(number) if number.is_infinite() && text.contains(|char: char| char.is_ascii_digit()) => None,
                Ok(number) => Some(number),
                Err(_) => return Err(self.mismatch("a number, \"NaN\", \"Infinity\" or \"-Infinity\"", value)),
            },
            value => return Err(self.mismatch("a number", value)),
        };
        number.ok_or_else(|| self.error(format!("the number {value} is out of range")))
    }

    fn float32(&self, value: &Value) -> Result<f32, ToolError> {
        let number = self.float(value)?;
        // A conversion of the `f64` would round a second time. Its shortest text has the digits of the user.
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let single = text.parse().unwrap_or(number as f32);
        if number.is_finite() && single.is_infinite() {
            return Err(self.error(format!("the number {number:e} is too large for a float")));
        }
        Ok(single)
    }

    /// Reads all bits of a `long double`, for which JSON has no number.
    fn float128(&self, text: &str) -> Result<Input, ToolError> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_complete = digits.len() == FLOAT128_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        match u128::from_str_radix(digits, 16) {
            Ok(bits) if is_complete => Ok(F128::from_bits(bits).into()),
            _ => Err(self.error(format!("expected 0x and {FLOAT128_DIGITS} hexadecimal digits, found {text:?}"))),
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
                // A peer decides about the names of its type, so they may look like paths.
                let member_id = MemberId(member.id());
                if value.is_null() && member.is_optional() {
                    return data.remove(member_id).map_err(|error| reader.data_error(&error));
                }
                let input = reader.value(&member.ty(), value)?;
                data.set(member_id, input).map_err(|error| reader.data_error(&error))
            })?;
        }
        Ok(data)
    }

    fn map(&mut self, ty: &DynamicType, entries: &Map<String, Value>) -> Result<Input, ToolError> {
        let (Some(key_type), Some(value_type)) = (ty.key_element(), ty.element()) else {
            return Err(self.error("the map has no types for its keys and values".to_owned()));
        };
        let key_type = key_type.resolved();
        let mut inputs = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let input = self.at(&map_step(&key_type, key), |reader| {
                Ok((reader.map_key(&key_type, key)?, reader.value(&value_type, value)?))
            })?;
            inputs.push(input);
        }
        Ok(inputs.into())
    }

    /// Reads the key of a map: text, the name of a literal, a character, or a number.
    fn map_key(&self, ty: &DynamicType, key: &str) -> Result<Input, ToolError> {
        let number = || key.parse::<i64>().map(Input::from).or_else(|_| key.parse::<u64>().map(Input::from)).ok();
        let input = match ty.kind() {
            DynamicKind::String | DynamicKind::WString | DynamicKind::Enum => Some(key.into()),
            DynamicKind::Primitive(PrimitiveKind::Bool) => key.parse::<bool>().ok().map(Input::from),
            DynamicKind::Primitive(PrimitiveKind::Char8 | PrimitiveKind::Char16) => {
                // Half of a surrogate pair is no character, and has its number instead.
                single_char(key).map(Input::from).or_else(number)
            }
            _ => number(),
        };
        input.ok_or_else(|| self.error(format!("expected a key of the type {}", ty.name())))
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
        let Value::Object(entries) = value else {
            return Err(self.mismatch("an object with the selected member", value));
        };
        let mut data = DynamicData::new(ty);
        let discriminator = entries.get(DISCRIMINATOR);
        if let Some(value) = discriminator {
            self.at(DISCRIMINATOR, |reader| {
                let number = reader.discriminator(ty, value)?;
                data.select("", number).map_err(|error| reader.data_error(&error))
            })?;
        }
        let mut members = entries.iter().filter(|(name, _)| *name != DISCRIMINATOR);
        match (members.next(), members.next()) {
            (None, _) if discriminator.is_none() => Err(self.mismatch("an object with the selected member", value)),
            (None, _) => Ok(data),
            (Some((name, value)), None) => {
                self.at(name, |reader| reader.selected(ty, &mut data, discriminator.is_some(), (name, value)))?;
                Ok(data)
            }
            (Some(_), Some(_)) => Err(self.mismatch("an object with the selected member alone", value)),
        }
    }

    /// Sets the selected member of a union. `is_chosen`: the union has its discriminator already.
    fn selected(
        &mut self,
        ty: &DynamicType,
        data: &mut DynamicData,
        is_chosen: bool,
        (name, value): (&str, &Value),
    ) -> Result<(), ToolError> {
        let Some(case) = ty.cases().find(|case| case.name() == name) else {
            let known: Vec<_> = ty.cases().map(|case| case.name().to_owned()).collect();
            return Err(self.error(format!("no such member; {} has {}", ty.name(), known.join(", "))));
        };
        let Some(case_type) = case.ty() else {
            return Err(self.error(format!("this case has no member: give its {DISCRIMINATOR}")));
        };
        if is_chosen && data.as_ref().selected().is_none_or(|(selected, _)| selected != name) {
            return Err(self.error(format!("the {DISCRIMINATOR} does not select this member")));
        }
        let input = self.value(&case_type, value)?;
        data.set(MemberId(case.id()), input).map_err(|error| self.data_error(&error))
    }

    /// Reads the discriminator of a union as a number: that of a literal, a character or a bool.
    fn discriminator(&self, ty: &DynamicType, value: &Value) -> Result<i64, ToolError> {
        let ty = ty.discriminator().map(|ty| ty.resolved());
        match (ty.as_ref().map(DynamicType::kind), value) {
            (Some(DynamicKind::Primitive(PrimitiveKind::Bool)), Value::Bool(value)) => Ok((*value).into()),
            (Some(DynamicKind::Primitive(PrimitiveKind::Char8 | PrimitiveKind::Char16)), Value::String(text)) => {
                self.character(text).map(|char| u32::from(char).into())
            }
            (Some(DynamicKind::Enum), Value::String(name)) => {
                let mut literals = ty.iter().flat_map(DynamicType::literals);
                match literals.find(|(literal, _)| literal == name) {
                    Some((_, value)) => Ok(value.into()),
                    None => Err(self.error(format!("the enum has no literal {name:?}"))),
                }
            }
            // A `uint64` is reinterpreted as signed, as in dynamic data.
            (_, Value::Number(number)) => match number.as_i64().or_else(|| Some(number.as_u64()? as i64)) {
                Some(number) => Ok(number),
                None => Err(self.error(format!("expected a whole number of at most 64 bits, found {number}"))),
            },
            (_, value) => Err(self.mismatch("a value of the discriminator", value)),
        }
    }
}

/// Returns the character of a text that has no other.
fn single_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (only, None) => only,
        _ => None,
    }
}

/// Returns the step of a path to the entry of a map.
fn map_step(key_type: &DynamicType, key: &str) -> String {
    let is_bare = match key_type.kind() {
        // More than one character is the number of half of a surrogate pair.
        DynamicKind::Primitive(PrimitiveKind::Char8 | PrimitiveKind::Char16) => key.chars().count() > 1,
        DynamicKind::Primitive(_) => true,
        _ => false,
    };
    // A bracket in a number must not end the step.
    if is_bare && !key.contains(']') {
        return format!("[{key}]");
    }
    format!("[\"{}\"]", key.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::{PublishedChange, change_from_text, sample_from_json, sample_from_text};
    use dds_core::InstanceState;
    use dds_core::cdr::F128;
    use dds_core::dynamic::{DynamicData, DynamicType, TypeError};

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
            .empty_case("nothing", &[4])
            .default_case("flag", DynamicType::boolean())
            .build()?;
        let kind =
            DynamicType::union("Kind", color.clone()).empty_case("red", &[0]).case("green", &[1], DynamicType::int8());
        let side = DynamicType::union("Side", DynamicType::boolean())
            .case("yes", &[1], DynamicType::int8())
            .empty_case("no", &[0]);
        let byte = DynamicType::union("Byte", DynamicType::uint64())
            .case("low", &[0], DynamicType::int8())
            .empty_case("high", &[-1]);
        let letter = DynamicType::union("Letter", DynamicType::char8())
            .case("two", &[97, 98], DynamicType::int8())
            .empty_case("accent", &[0xe9]);
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
            .member("kinds", DynamicType::sequence(kind))
            .member("sides", DynamicType::sequence(side))
            .member("bytes", DynamicType::sequence(byte))
            .member("letters", DynamicType::sequence(letter))
            .member("units", DynamicType::map(DynamicType::char16(), DynamicType::uint8()))
            .member("long", DynamicType::float128())
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
            r#"{"choice":{"$discriminator":2,"number":7}}"#,
            r#"{"choice":{"$discriminator":-5,"flag":true}}"#,
            r#"{"choice":{"$discriminator":4}}"#,
            r#"{"limits":{"a\"]b":"NaN","\\":"-Infinity","":0.0,"\n.x[0]":"Infinity"}}"#,
            r#"{"long":"0x3fff000000000000000000000000000f"}"#,
            r#"{"units":{"]":1,"\"":2,"55296":3,"é":4}}"#,
            r#"{"kinds":[{"$discriminator":"RED"},{"green":1}]}"#,
            r#"{"sides":[{"yes":1},{"$discriminator":false}]}"#,
            r#"{"bytes":[{"$discriminator":18446744073709551615},{"low":1}]}"#,
            r#"{"letters":[{"$discriminator":"b","two":1},{"$discriminator":"é"}]}"#,
        ] {
            let sample = sample_from_text(&ty, text).unwrap();
            let printed = serde_json::to_value(&sample).unwrap();
            let given: serde_json::Value = serde_json::from_str(text).unwrap();
            for (name, value) in given.as_object().unwrap() {
                assert_eq!(&printed[name], value, "{name}");
            }
            for text in [printed.to_string(), crate::yaml::to_yaml(&printed)] {
                let again = sample_from_text(&ty, &text).unwrap();
                // NaN differs from itself.
                assert_eq!(serde_json::to_value(&again).unwrap(), printed, "{text}");
            }
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
    fn every_bit_of_numbers_reads_back() {
        let ty = DynamicType::structure("Numbers")
            .member("id", DynamicType::uint64())
            .member("x", DynamicType::float64())
            .member("y", DynamicType::float32())
            .member("long", DynamicType::float128())
            .build()
            .unwrap();
        let mut sample = DynamicData::new(&ty);
        for bits in
            [1_u64, 0x8000_0000_0000_0000, 0x3fb9_9999_9999_999a, 0x44b5_2d02_c7e1_4af6, u64::MAX >> 12, 0x7fef << 48]
        {
            sample.set("id", bits | 1 << 63).unwrap();
            sample.set("x", f64::from_bits(bits)).unwrap();
            sample.set("y", f32::from_bits(bits as u32 & 0x7f7f_ffff)).unwrap();
            sample.set("long", F128::from_bits(u128::from(bits) << 64 | 1)).unwrap();
            let printed = serde_json::to_value(&sample).unwrap();
            for text in [serde_json::to_string(&sample).unwrap(), crate::yaml::to_yaml(&printed)] {
                assert_eq!(sample_from_text(&ty, &text).unwrap(), sample, "{text}");
            }
        }
        for (text, number) in [("1.5", 1.5), ("\"Infinity\"", f64::INFINITY)] {
            let sample = sample_from_text(&ty, &format!("{{\"long\":{text}}}")).unwrap();
            assert_eq!(sample.get::<F128>("long").unwrap(), F128::from(number));
        }
    }

    #[test]
    fn text_of_a_float_is_rounded_once() {
        let ty = DynamicType::structure("Number").member("y", DynamicType::float32()).build().unwrap();
        // The nearest `f64` of this text lies in the middle between two floats.
        for text in ["7.038531e-26", "\"7.038531e-26\""] {
            let sample = sample_from_text(&ty, &format!("{{\"y\":{text}}}")).unwrap();
            assert_eq!(sample.get::<f32>("y").unwrap().to_bits(), 0x15ae_43fd, "{text}");
        }
    }

    #[test]
    fn large_map_is_read_in_one_pass() {
        let ty = DynamicType::structure("Limits")
            .member("limits", DynamicType::map(DynamicType::string(), DynamicType::float64()))
            .build()
            .unwrap();
        let entries: Vec<String> = (0..200_000).map(|key| format!("\"joint {key}\":0.5")).collect();
        let sample = sample_from_text(&ty, &format!("{{\"limits\":{{{}}}}}", entries.join(","))).unwrap();
        assert_eq!(sample.get::<f64>("limits[\"joint 199999\"]").unwrap(), 0.5);
    }

    #[test]
    fn untrusted_text_is_never_yaml() {
        let ty = DynamicType::structure("Pose").member("x", DynamicType::float64()).build().unwrap();
        assert!(sample_from_json(&ty, "{\"x\":1.5}").is_ok());
        for text in ["x: 1.5", "{\"x\":1e999}", &"- ".repeat(100_000), &"[".repeat(100_000)] {
            let error = sample_from_json(&ty, text).unwrap_err().to_string();
            assert!(error.starts_with("the sample is not JSON"), "{error}");
        }
    }

    #[test]
    fn member_may_have_the_name_of_a_state() {
        let ty = DynamicType::structure("Robot")
            .member("instance_state", DynamicType::string())
            .member("key", DynamicType::int32())
            .build()
            .unwrap();
        let change = change_from_text(&ty, r#"{"instance_state":"disposed","key":7}"#).unwrap();
        assert!(matches!(change, PublishedChange::Sample(sample) if sample.get::<i32>("key") == Ok(7)));
    }

    #[test]
    fn ends_of_instances_have_a_state_and_a_key() {
        let ty = DynamicType::structure("Pose").member("robot", DynamicType::uint32()).key().build().unwrap();
        let mut key = DynamicData::new(&ty);
        key.set("robot", 7).unwrap();
        for (text, state) in [
            (r#"{"$instance_state":"disposed","key":{"robot":7}}"#, InstanceState::NotAliveDisposed),
            ("$instance_state: no writers\nkey:\n  robot: 7\n", InstanceState::NotAliveNoWriters),
        ] {
            assert_eq!(change_from_text(&ty, text).unwrap(), PublishedChange::End(state, key.clone()));
        }
        assert_eq!(change_from_text(&ty, "robot: 7").unwrap(), PublishedChange::Sample(key));
        for (text, expected) in [
            (
                r#"{"$instance_state":"gone","key":{}}"#,
                "$instance_state: expected disposed or no writers, found \"gone\"",
            ),
            (r#"{"$instance_state":"disposed","key":null}"#, "key: expected an object with the members of the type"),
            (r#"{"$instance_state":"disposed","key":{"x":1}}"#, "key.x: no such member"),
        ] {
            let error = change_from_text(&ty, text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
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
            (r#"{"choice":{}}"#, "choice: expected an object with the selected member"),
            (r#"{"choice":4}"#, "choice: expected an object with the selected member, found a number"),
            (r#"{"choice":{"nothing":1}}"#, "choice.nothing: this case has no member: give its $discriminator"),
            (r#"{"choice":{"$discriminator":3,"number":1}}"#, "choice.number: the $discriminator does not select"),
            (r#"{"choice":{"$discriminator":"3"}}"#, "choice.$discriminator: expected a value of the discriminator"),
            (r#"{"kinds":[{"$discriminator":"BLUE"}]}"#, "kinds[0].$discriminator: the enum has no literal \"BLUE\""),
            (r#"{"codes":{"x":"y"}}"#, "codes[x]: "),
            (r#"{"codes":{"7].x":"y"}}"#, "codes[\"7].x\"]: "),
            (r#"{"id":null}"#, "id: expected a whole number, found null"),
            (r#"{"points":[{"x":null}]}"#, "points[0].x: expected a number, found null"),
            (r#"{"points":[{"x":"many"}]}"#, "points[0].x: expected a number, \"NaN\""),
            (r#"{"points":[{"x":"1e999"}]}"#, "points[0].x: the number \"1e999\" is out of range"),
            (r#"{"points":[{"y":1e39}]}"#, "points[0].y: the number 1e39 is too large for a float"),
            (r#"{"points":[{"x":1e999}]}"#, "the sample has a value that is no JSON: number out of range"),
            ("points: [{x: 1e999}]", "the sample is not JSON"),
            (r#"{"codes":{"1":"a","+1":"b"}}"#, "codes: the entry 1 of the map has the key of an earlier one"),
            (r#"{"codes":{"3000000000":"a"}}"#, "codes: 3000000000 is not a value of"),
            (r#"{"long":"0x3fff"}"#, "long: expected 0x and 32 hexadecimal digits"),
            (r#"{"long":"0x0x3fff000000000000000000000000000f"}"#, "long: expected 0x and 32 hexadecimal digits"),
            (r#"{"name":null}"#, "name: expected text, found null"),
            ("[]", "expected an object with the members of the type, found a list"),
            ("{", "the sample is not JSON"),
        ] {
            let error = sample_from_text(&ty, text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
