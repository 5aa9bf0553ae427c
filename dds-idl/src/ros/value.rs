//! Values of constants and defaults, with the rules of `rosidl_adapter`.

use super::{RosBaseType, RosDimension, RosType, RosValue};

/// Parses the default value of a field.
pub(super) fn parse_value(ty: &RosType, text: &str) -> Result<RosValue, String> {
    if let RosBaseType::Structure(name) = &ty.base {
        return Err(format!("a field of type `{}/{}` cannot have a default value", name.package(), name.name()));
    }
    if ty.dimension == RosDimension::One {
        return parse_one(&ty.base, text);
    }
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inside = inside.ok_or_else(|| format!("expected a list of values in brackets, as in `{}`", example(ty)))?;
    let elements: Vec<String> = match ty.base {
        RosBaseType::String { .. } | RosBaseType::WString { .. } => split_texts(inside)?,
        _ if inside.is_empty() => Vec::new(),
        _ => inside.split(',').map(str::to_owned).collect(),
    };
    let count = elements.len();
    match ty.dimension {
        RosDimension::Array(size) if count != size as usize => {
            return Err(format!("expected {size} values for `{ty}`, found {count}"));
        }
        RosDimension::BoundedSequence(bound) if count > bound as usize => {
            return Err(format!("expected at most {bound} values for `{ty}`, found {count}"));
        }
        _ => {}
    }
    let mut values = Vec::with_capacity(count);
    for (index, element) in elements.iter().enumerate() {
        let value = parse_one(&ty.base, element.trim());
        values.push(value.map_err(|message| format!("value {}: {message}", index + 1))?);
    }
    Ok(RosValue::List(values))
}

/// Parses the value of a constant, or one element.
pub(super) fn parse_one(ty: &RosBaseType, text: &str) -> Result<RosValue, String> {
    if let Some((smallest, largest)) = ty.integer_range() {
        let value = parse_integer(text).filter(|value| (smallest..=largest).contains(value));
        let message = || format!("expected an integer from {smallest} to {largest} for `{ty}`");
        return value.map(RosValue::Integer).ok_or_else(message);
    }
    match ty {
        RosBaseType::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(RosValue::Bool(true)),
            "false" | "0" => Ok(RosValue::Bool(false)),
            _ => Err("expected `true`, `false`, `1` or `0` for `bool`".to_owned()),
        },
        RosBaseType::Float32 | RosBaseType::Float64 => {
            let value = without_separators(text, 10).and_then(|text| text.parse().ok());
            value.map(RosValue::Float).ok_or_else(|| format!("expected a number for `{ty}`, as in `-1.5e3`"))
        }
        RosBaseType::String { bound } | RosBaseType::WString { bound } => {
            let text = unquote(text)?;
            let length = text.chars().count();
            match bound {
                Some(bound) if length > *bound as usize => {
                    Err(format!("expected at most {bound} characters for `{ty}`, found {length}"))
                }
                _ => Ok(RosValue::Text(text)),
            }
        }
        _ => Err(format!("a value of type `{ty}` cannot be written in an interface file")),
    }
}

/// A decimal number, or one with the prefix `0x`, `0o` or `0b`.
fn parse_integer(text: &str) -> Option<i128> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0o") => (&lower[2..], 8),
        Some("0b") => (&lower[2..], 2),
        _ => (lower.as_str(), 10),
    };
    // A separator may stand behind the prefix: `0x_ff`.
    let digits = if radix == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    let digits = without_separators(digits, radix)?;
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(&digits, radix).ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

/// Removes single underscores between digits: `1_000`.
fn without_separators(text: &str, radix: u32) -> Option<String> {
    let parts: Vec<&str> = text.split('_').collect();
    let is_digit = |character: char| character.is_digit(radix);
    for pair in parts.windows(2) {
        if !pair[0].ends_with(is_digit) || !pair[1].starts_with(is_digit) {
            return None;
        }
    }
    Some(parts.concat())
}

/// Removes the quotes around a text and the backslashes before quotes in it. A text without quotes is itself.
fn unquote(text: &str) -> Result<String, String> {
    for quote in ['"', '\''] {
        if !text.starts_with(quote) || !text.ends_with(quote) {
            continue;
        }
        // A single quote is an empty text for rosidl.
        let inside = if text.len() == 1 { "" } else { &text[1..text.len() - 1] };
        let mut before = None;
        for character in inside.chars() {
            if character == quote && before != Some('\\') {
                return Err(format!("expected `\\{quote}` for a quote inside of the text"));
            }
            before = Some(character);
        }
        return Ok(inside.replace(&format!("\\{quote}"), &quote.to_string()));
    }
    Ok(text.to_owned())
}

/// Splits a list of texts at the commas outside of quotes. As in rosidl, `["a",]` has one text.
fn split_texts(inside: &str) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    let mut rest = inside;
    while !rest.is_empty() {
        rest = rest.trim_start_matches(' ');
        let behind = match rest.chars().next() {
            None => return Err("expected a value before `]`".to_owned()),
            Some(',') => return Err("expected a value before `,`".to_owned()),
            Some(quote @ ('"' | '\'')) => {
                let (text, behind) = split_quoted(&rest[1..], quote)?;
                texts.push(text);
                behind.trim_start_matches(' ')
            }
            Some(_) => {
                let end = rest.find(',').unwrap_or(rest.len());
                texts.push(rest[..end].to_owned());
                &rest[end..]
            }
        };
        rest = match behind.strip_prefix(',') {
            Some(rest) => rest,
            None if behind.is_empty() => behind,
            None => return Err("expected `,` between values".to_owned()),
        };
    }
    Ok(texts)
}

/// Takes the text up to the closing quote: (text, rest behind the quote).
fn split_quoted(text: &str, quote: char) -> Result<(String, &str), String> {
    let mut taken = String::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == quote {
            return Ok((taken, &text[at + 1..]));
        }
        if character == '\\' && characters.peek().is_some_and(|(_, next)| *next == quote) {
            taken.push(quote);
            characters.next();
            continue;
        }
        taken.push(character);
    }
    Err(format!("expected `{quote}` at the end of the text"))
}

fn example(ty: &RosType) -> &'static str {
    match ty.base {
        RosBaseType::Bool => "[true, false]",
        RosBaseType::Float32 | RosBaseType::Float64 => "[0.5, 1.0]",
        RosBaseType::String { .. } | RosBaseType::WString { .. } => "[\"a\", \"b\"]",
        _ => "[1, 2]",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(base: RosBaseType, text: &str) -> Result<RosValue, String> {
        parse_one(&base, text)
    }

    fn texts(inside: &str) -> Result<RosValue, String> {
        let ty = RosType { base: RosBaseType::String { bound: None }, dimension: RosDimension::Sequence };
        parse_value(&ty, inside)
    }

    fn list(values: &[&str]) -> Result<RosValue, String> {
        Ok(RosValue::List(values.iter().map(|text| RosValue::Text((*text).to_owned())).collect()))
    }

    #[test]
    fn integer_in_every_notation_is_accepted() {
        for (text, value) in [
            ("0", 0),
            ("-128", -128),
            ("+127", 127),
            ("0x7f", 127),
            ("0X7F", 127),
            ("0b101", 5),
            ("0o17", 15),
            ("007", 7),
            ("1_0", 10),
            ("0x_f", 15),
            ("-0x80", -128),
        ] {
            assert_eq!(one(RosBaseType::Int8, text), Ok(RosValue::Integer(value)), "{text}");
        }
    }

    #[test]
    fn integer_out_of_range_names_the_range() {
        let error = Err("expected an integer from -128 to 127 for `int8`".to_owned());
        for text in [
            "128",
            "-129",
            "",
            "-",
            "1.0",
            "0x",
            "1__0",
            "_1",
            "1_",
            "--1",
            "0x+1",
            "a",
            "9999999999999999999999999999999999999999999",
        ] {
            assert_eq!(one(RosBaseType::Int8, text), error, "{text}");
        }
        let error = Err("expected an integer from 0 to 255 for `char`".to_owned());
        assert_eq!(one(RosBaseType::Char, "-1"), error);
        assert_eq!(one(RosBaseType::UInt64, "18446744073709551615"), Ok(RosValue::Integer(u64::MAX.into())));
    }

    #[test]
    fn float_accepts_the_forms_of_python() {
        for (text, value) in
            [("1", 1.0), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("-inf", f64::NEG_INFINITY), ("1_0.0", 10.0)]
        {
            assert_eq!(one(RosBaseType::Float64, text), Ok(RosValue::Float(value)), "{text}");
        }
        assert!(matches!(one(RosBaseType::Float32, "NaN"), Ok(RosValue::Float(value)) if value.is_nan()));
        assert_eq!(one(RosBaseType::Float32, "1,5"), Err("expected a number for `float32`, as in `-1.5e3`".to_owned()));
    }

    #[test]
    fn text_loses_its_quotes_and_escapes() {
        let text = |text: &str| one(RosBaseType::String { bound: None }, text);
        for (written, read) in [
            ("bare words", "bare words"),
            ("\"a\"", "a"),
            ("'it\\'s'", "it's"),
            ("\"it's\"", "it's"),
            ("\"a", "\"a"),
            ("\"", ""),
        ] {
            assert_eq!(text(written), Ok(RosValue::Text(read.to_owned())), "{written}");
        }
        assert_eq!(text("\"a\"b\""), Err("expected `\\\"` for a quote inside of the text".to_owned()));
        let bounded = one(RosBaseType::String { bound: Some(2) }, "'äöü'");
        assert_eq!(bounded, Err("expected at most 2 characters for `string<=2`, found 3".to_owned()));
    }

    #[test]
    fn list_of_texts_splits_outside_of_quotes() {
        assert_eq!(texts("[]"), list(&[]));
        assert_eq!(texts("[a, 'b,c', \"d\\\"e\" ]"), list(&["a", "b,c", "d\"e"]));
        assert_eq!(texts("[a,]"), list(&["a"]));
        assert_eq!(texts("[a, ]"), Err("expected a value before `]`".to_owned()));
        assert_eq!(texts("[,a]"), Err("expected a value before `,`".to_owned()));
        assert_eq!(texts("['a]"), Err("expected `'` at the end of the text".to_owned()));
        assert_eq!(texts("['a' 'b']"), Err("expected `,` between values".to_owned()));
        assert_eq!(texts("a"), Err("expected a list of values in brackets, as in `[\"a\", \"b\"]`".to_owned()));
    }

    #[test]
    fn list_of_wrong_length_is_refused() {
        let ty = |dimension| RosType { base: RosBaseType::UInt8, dimension };
        let value = |dimension, text| parse_value(&ty(dimension), text);
        assert_eq!(value(RosDimension::Array(2), "[1]"), Err("expected 2 values for `uint8[2]`, found 1".to_owned()));
        let error = Err("expected at most 1 values for `uint8[<=1]`, found 2".to_owned());
        assert_eq!(value(RosDimension::BoundedSequence(1), "[1, 2]"), error);
        let error = Err("value 2: expected an integer from 0 to 255 for `uint8`".to_owned());
        assert_eq!(value(RosDimension::Sequence, "[1, ]"), error);
    }
}
