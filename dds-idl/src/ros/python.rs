//! Values as Python prints them: `rosidl` puts them into descriptions and `.idl` files.

use super::RosValue;

/// `str(value)`.
pub(super) fn python_str(value: &RosValue) -> String {
    match value {
        RosValue::Text(text) => text.clone(),
        RosValue::Character(character) => character.to_string(),
        _ => python_repr(value),
    }
}

/// `repr(value)`. A list is a tuple.
pub(super) fn python_repr(value: &RosValue) -> String {
    match value {
        RosValue::Bool(true) => "True".to_owned(),
        RosValue::Bool(false) => "False".to_owned(),
        RosValue::Integer(value) => value.to_string(),
        RosValue::Float(value) => float_repr(*value),
        RosValue::Text(text) => text_repr(text),
        RosValue::Character(character) => text_repr(&character.to_string()),
        RosValue::List(values) => {
            let elements: Vec<String> = values.iter().map(python_repr).collect();
            // A tuple of one element needs a comma.
            let comma = if elements.len() == 1 { "," } else { "" };
            format!("({}{comma})", elements.join(", "))
        }
    }
}

/// The shortest digits that read back as the same number, with an exponent below 1e-4 and from 1e16.
fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let scientific = format!("{value:e}");
        let Some((digits, exponent)) = scientific.split_once('e') else {
            debug_assert!(false, "the format has an exponent");
            return scientific;
        };
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let plain = value.to_string();
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

/// In single quotes, or in double quotes if the text has single quotes only.
fn text_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut repr = String::from(quote);
    for character in text.chars() {
        if character == quote || character == '\\' {
            repr.push('\\');
        }
        repr.push(character);
    }
    repr.push(quote);
    repr
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_is_printed_as_python_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (3.25, "3.25"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (1e-4, "0.0001"),
            (-1e100, "-1e+100"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(python_repr(&RosValue::Float(value)), text);
        }
    }

    #[test]
    fn list_is_printed_as_a_tuple() {
        let text = |text: &str| RosValue::Text(text.to_owned());
        let list = RosValue::List(vec![text("it's"), text("a\"b"), text("c\\'\""), RosValue::Bool(true)]);
        assert_eq!(python_repr(&list), "(\"it's\", 'a\"b', 'c\\\\\\'\"', True)");
        assert_eq!(python_repr(&RosValue::List(vec![RosValue::Integer(1)])), "(1,)");
        assert_eq!(python_repr(&RosValue::List(Vec::new())), "()");
        assert_eq!(python_str(&text("it's")), "it's");
    }
}
