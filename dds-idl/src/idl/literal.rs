//! Values of literals.

use crate::model::FixedPoint;

/// Longest number, in bytes. A macro can repeat a long one many times, and each use takes time in its length.
pub(super) const NUMBER_LEN_MAX: usize = 1024;

/// The value of a decimal, octal or hexadecimal integer.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', _, ..] => (text.get(1..)?, 8),
        _ => (text, 10),
    };
    let is_digit = |c: char| c.is_digit(radix);
    if text.len() > NUMBER_LEN_MAX || digits.is_empty() || !digits.chars().all(is_digit) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(i128::from)
}

/// The value of a floating-point number.
pub(super) fn float(text: &str) -> Option<f64> {
    let is_number = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    if is_number { text.parse().ok() } else { None }
}

/// The value of a fixed-point number with its suffix `d`.
pub(super) fn fixed(text: &str) -> Option<FixedPoint> {
    /// IDL 4.2, 7.2.6.4.
    const DIGITS_MAX: usize = 31;
    let digits = text.strip_suffix(['d', 'D'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || all.len() > DIGITS_MAX || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(FixedPoint { digits: all.parse().ok()?, scale: u8::try_from(fraction.len()).ok()? })
}

/// The text of a string or character literal with its quotes and its prefix `L`.
///
/// # Errors
/// The message names an invalid escape sequence.
pub(super) fn text(literal: &str) -> Result<String, String> {
    match lenient_text(literal)? {
        (text, None) => Ok(text),
        (_, Some(unknown)) => Err(unknown_escape(unknown)),
    }
}

/// The message about a character behind `\\` that has no meaning there.
pub(super) fn unknown_escape(character: char) -> String {
    format!("unknown escape sequence `\\{character}`")
}

/// As [`text`]. An unknown escape sequence gives its character, and the first one is returned beside the text.
pub(super) fn lenient_text(literal: &str) -> Result<(String, Option<char>), String> {
    let literal = literal.strip_prefix('L').unwrap_or(literal);
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("");
    if !inner.contains('\\') {
        return Ok((inner.to_owned(), None));
    }
    let mut result = String::with_capacity(inner.len());
    let (mut rest, mut unknown) = (inner, None);
    while let Some((before, escaped)) = rest.split_once('\\') {
        result.push_str(before);
        rest = unescape(escaped, &mut result, &mut unknown)?;
    }
    result.push_str(rest);
    Ok((result, unknown))
}

/// Adds the character of an escape sequence behind its backslash, and returns the rest of the text.
fn unescape<'t>(escaped: &'t str, result: &mut String, unknown: &mut Option<char>) -> Result<&'t str, String> {
    let mut chars = escaped.chars();
    let first = chars.next().ok_or("expected an escape sequence behind `\\`")?;
    let simple = match first {
        'n' => '\n',
        't' => '\t',
        'v' => '\u{b}',
        'b' => '\u{8}',
        'r' => '\r',
        'f' => '\u{c}',
        'a' => '\u{7}',
        '\\' | '?' | '\'' | '"' => first,
        'x' => return numeric(chars.as_str(), 16, 2, result),
        'u' => return numeric(chars.as_str(), 16, 4, result),
        '0'..='7' => return numeric(escaped, 8, 3, result),
        // A continued line.
        '\n' => return Ok(chars.as_str()),
        '\r' => return Ok(chars.as_str().strip_prefix('\n').unwrap_or(chars.as_str())),
        _ => {
            unknown.get_or_insert(first);
            first
        }
    };
    result.push(simple);
    Ok(chars.as_str())
}

fn numeric<'t>(text: &'t str, radix: u32, digits_max: usize, result: &mut String) -> Result<&'t str, String> {
    let length = text.chars().take(digits_max).take_while(|c| c.is_digit(radix)).count();
    let (digits, rest) = text.split_at(length);
    let code = u32::from_str_radix(digits, radix).map_err(|_| "expected digits of an escape sequence".to_owned())?;
    let character = char::from_u32(code).ok_or_else(|| format!("`\\u{digits}` is not a character"))?;
    result.push(character);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_three_radixes() {
        assert_eq!(integer("10"), Some(10));
        assert_eq!(integer("010"), Some(8));
        assert_eq!(integer("0x1fF"), Some(511));
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("08"), None);
        assert_eq!(integer("0x"), None);
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX.into()));
        assert_eq!(integer("18446744073709551616"), None);
        assert_eq!(integer(&"9".repeat(60)), None);
        assert_eq!(integer(&"0".repeat(60)), Some(0));
    }

    #[test]
    fn fixed_point_keeps_its_digits() {
        assert_eq!(fixed("1.50d"), Some(FixedPoint { digits: 150, scale: 2 }));
        assert_eq!(fixed("1.50"), None);
        assert_eq!(fixed(".d"), None);
    }

    #[test]
    fn escape_sequences_are_characters() {
        assert_eq!(text(r#""a\tb\x41\101\u20ac\\""#).as_deref(), Ok("a\tbAA\u{20ac}\\"));
        assert_eq!(text(r"L'\''").as_deref(), Ok("'"));
        assert_eq!(text("\"one \\\n two\"").as_deref(), Ok("one  two"));
        assert!(text(r#""\q""#).is_err());
        assert_eq!(lenient_text(r#""a\(b\[""#), Ok(("a(b[".to_owned(), Some('('))));
        assert!(text(r#""\ud800""#).is_err());
    }
}
