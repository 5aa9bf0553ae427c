//! Constant expressions (IDL 4.2, 7.4.1.4.3), and the conversion of their values to a type.

use super::literal;
use super::parser::{Parser, Reported};
use super::scope::NamedEntity;
use super::symbol::keyword;
use super::token::TokenKind;
use crate::model::{BasicType, ConstantValue, DataType, DefinitionId, DefinitionKind, Diagnostic, FixedPoint, Span};
use std::sync::Arc;

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct SpannedValue {
    pub(super) value: ConstantValue,
    pub(super) span: Span,
}

type Evaluated = Result<SpannedValue, Reported>;

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpressionPlace {
    /// `>` ends the expression, as in `sequence<long, 2>`.
    Template,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BinaryOperator {
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOperator {
    /// Larger values bind stronger.
    fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::Xor => 2,
            Self::And => 3,
            Self::ShiftLeft | Self::ShiftRight => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Remainder => 6,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Or => "|",
            Self::Xor => "^",
            Self::And => "&",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

/// The effect of the expected type on an expression.
#[derive(Debug, Clone, Copy)]
struct ExpectedType {
    /// Names of its enumerators need no scope.
    enumeration: Option<DefinitionId>,
    /// A shift to the left drops the bits beyond 64.
    is_uint64: bool,
}

/// Reads an expression. Names of enumerators of `expected` need no scope.
pub(super) fn evaluate(parser: &mut Parser<'_>, expected: Option<&DataType>, place: ExpressionPlace) -> Evaluated {
    let enumeration = expected.and_then(|ty| parser.named_values_of(ty));
    let resolved = expected.map(|ty| parser.specification.resolve(ty));
    let is_uint64 = matches!(resolved, Some(DataType::Basic(BasicType::UInt64)));
    binary(parser, ExpectedType { enumeration, is_uint64 }, place, 0)
}

/// Reads an expression and converts its value to a type.
pub(super) fn evaluate_as(parser: &mut Parser<'_>, ty: &DataType, place: ExpressionPlace) -> Evaluated {
    let found = evaluate(parser, Some(ty), place)?;
    let value = convert(parser, found.value, found.span, ty)?;
    Ok(SpannedValue { value, ..found })
}

/// Reads an integer from `min` to `max`.
pub(super) fn evaluate_integer(
    parser: &mut Parser<'_>,
    place: ExpressionPlace,
    range: (i128, i128),
    name: &str,
) -> Result<(i128, Span), Reported> {
    let found = evaluate(parser, None, place)?;
    let value = integer_of(parser, &found.value, found.span)?;
    if value < range.0 || value > range.1 {
        let message = format!("{name} {value} is not in the range {} to {}", range.0, range.1);
        return Err(parser.report(Diagnostic::error(message, found.span)));
    }
    Ok((value, found.span))
}

/// The value of an integer or an enumerator.
fn integer_of(parser: &mut Parser<'_>, value: &ConstantValue, span: Span) -> Result<i128, Reported> {
    match value {
        ConstantValue::Integer(value) => Ok(*value),
        ConstantValue::Enumerator(id, index) => Ok(parser.enumerator_value(*id, *index).into()),
        other => {
            let message = format!("expected an integer, found {}", description(other));
            Err(parser.report(Diagnostic::error(message, span)))
        }
    }
}

fn binary(parser: &mut Parser<'_>, expected: ExpectedType, place: ExpressionPlace, min: u8) -> Evaluated {
    let mut left = unary(parser, expected)?;
    while let Some((operator, length)) = next_operator(parser, place) {
        if operator.precedence() <= min {
            break;
        }
        for _ in 0..length {
            parser.bump();
        }
        let right = binary(parser, expected, place, operator.precedence())?;
        let span = left.span.to(right.span);
        let value = apply(parser, operator, (&left, &right), expected.is_uint64)?;
        left = SpannedValue { value, span };
    }
    Ok(left)
}

/// The operator at the cursor, and its number of tokens.
fn next_operator(parser: &Parser<'_>, place: ExpressionPlace) -> Option<(BinaryOperator, usize)> {
    let operator = match parser.kind() {
        TokenKind::Pipe => BinaryOperator::Or,
        TokenKind::Caret => BinaryOperator::Xor,
        TokenKind::Ampersand => BinaryOperator::And,
        TokenKind::ShiftLeft => BinaryOperator::ShiftLeft,
        TokenKind::Greater if place == ExpressionPlace::Other => {
            let next = parser.token_after(1);
            let is_shift = next.kind == TokenKind::Greater && next.is_joined;
            return if is_shift { Some((BinaryOperator::ShiftRight, 2)) } else { None };
        }
        TokenKind::Plus => BinaryOperator::Add,
        TokenKind::Minus => BinaryOperator::Subtract,
        TokenKind::Star => BinaryOperator::Multiply,
        TokenKind::Slash => BinaryOperator::Divide,
        TokenKind::Percent => BinaryOperator::Remainder,
        _ => return None,
    };
    Some((operator, 1))
}

fn unary(parser: &mut Parser<'_>, expected: ExpectedType) -> Evaluated {
    let kind = parser.kind();
    if !matches!(kind, TokenKind::Minus | TokenKind::Plus | TokenKind::Tilde) {
        return primary(parser, expected);
    }
    let start = parser.bump().span;
    parser.enter(start)?;
    let operand = unary(parser, expected);
    parser.leave();
    let operand = operand?;
    let span = start.to(operand.span);
    let value = match (kind, operand.value) {
        (TokenKind::Minus, ConstantValue::Integer(value)) => match value.checked_neg() {
            Some(value) => ConstantValue::Integer(value),
            None => {
                return Err(
                    parser.report(Diagnostic::error("the result does not fit in 64 bits (IDL 4.2, 7.4.1.4.3)", span))
                );
            }
        },
        (TokenKind::Minus, ConstantValue::Float(value)) => ConstantValue::Float(-value),
        (TokenKind::Minus, ConstantValue::Fixed(value)) => {
            ConstantValue::Fixed(FixedPoint { digits: -value.digits, ..value })
        }
        (TokenKind::Plus, value @ (ConstantValue::Integer(_) | ConstantValue::Float(_) | ConstantValue::Fixed(_))) => {
            value
        }
        (TokenKind::Tilde, ConstantValue::Integer(value)) => ConstantValue::Integer(!value),
        (_, value) => {
            let message = format!("`{}` needs a number, not {}", kind.text(), description(&value));
            return Err(parser.report(Diagnostic::error(message, span)));
        }
    };
    Ok(SpannedValue { value, span })
}

fn primary(parser: &mut Parser<'_>, expected: ExpectedType) -> Evaluated {
    let token = parser.token();
    let span = token.span;
    match token.kind {
        TokenKind::Number => {
            parser.bump();
            let value = number(parser, parser.text(token.symbol).to_owned().as_str(), span)?;
            Ok(SpannedValue { value, span })
        }
        TokenKind::String => string(parser),
        TokenKind::Char => {
            parser.bump();
            let value = character(parser, parser.text(token.symbol).to_owned().as_str(), span)?;
            Ok(SpannedValue { value, span })
        }
        TokenKind::OpenParenthesis => {
            parser.bump();
            parser.enter(span)?;
            let inner = binary(parser, expected, ExpressionPlace::Other, 0);
            parser.leave();
            let value = inner?.value;
            let end = parser.expect(TokenKind::CloseParenthesis, "after the expression")?.span;
            Ok(SpannedValue { value, span: span.to(end) })
        }
        TokenKind::Identifier if token.symbol == keyword::TRUE || token.symbol == keyword::FALSE => {
            parser.bump();
            Ok(SpannedValue { value: ConstantValue::Bool(token.symbol == keyword::TRUE), span })
        }
        TokenKind::Identifier | TokenKind::Scope => name(parser, expected.enumeration),
        _ => Err(parser.unexpected("a constant expression")),
    }
}

/// A literal of digits. `suffix` of C is accepted with a warning.
fn number(parser: &mut Parser<'_>, text: &str, span: Span) -> Result<ConstantValue, Reported> {
    if text.len() > literal::NUMBER_LEN_MAX {
        let message = format!("a number has at most {} characters", literal::NUMBER_LEN_MAX);
        return Err(parser.report(Diagnostic::error(message, span)));
    }
    if let Some(value) = literal::integer(text) {
        return Ok(ConstantValue::Integer(value));
    }
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if let (Some(value), false) = (literal::fixed(text), is_hexadecimal) {
        return Ok(ConstantValue::Fixed(value));
    }
    let is_decimal_float = text.contains(['.', 'e', 'E']);
    if let (Some(value), true) = (literal::float(text), is_decimal_float) {
        if value.is_infinite() {
            return Err(parser.report(Diagnostic::error(format!("`{text}` is too large for a number"), span)));
        }
        return Ok(ConstantValue::Float(value));
    }
    let without_suffix = text.trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F']);
    let without_suffix = if is_hexadecimal { text.trim_end_matches(['u', 'U', 'l', 'L']) } else { without_suffix };
    let value = literal::integer(without_suffix).map(ConstantValue::Integer);
    let value = value.or_else(|| literal::float(without_suffix).map(ConstantValue::Float));
    if let (Some(value), true) = (&value, without_suffix.len() < text.len()) {
        parser.vendor_warning(
            &format!("suffix of the number `{text}`"),
            "Fast DDS and RTI Connext",
            span,
            &format!("write `{without_suffix}`"),
        );
        return Ok(value.clone());
    }
    // 64 bits have at least 17 characters as an integer of any radix.
    let is_large = text.len() >= 17 && text.bytes().all(|byte| byte.is_ascii_digit() || is_hexadecimal);
    let problem = if is_large { "does not fit in 64 bits" } else { "is not a number" };
    Err(parser.report(Diagnostic::error(format!("`{text}` {problem}"), span)))
}

/// One or more adjacent string literals.
fn string(parser: &mut Parser<'_>) -> Evaluated {
    let mut text = String::new();
    let first = parser.token();
    let is_wide = parser.text(first.symbol).starts_with('L');
    let mut span = first.span;
    while parser.kind() == TokenKind::String {
        let token = parser.bump();
        span = span.to(token.span);
        parser.count_string(parser.text(token.symbol).len(), token.span)?;
        match literal::lenient_text(parser.text(token.symbol)) {
            Ok((part, unknown)) => {
                text.push_str(&part);
                if let Some(character) = unknown {
                    // The standard does not define it (IDL 4.2, 7.2.6.2.1), and C gives the character.
                    let help = format!("write `{character}` without the `\\`");
                    parser.vendor_warning(&format!("`\\{character}` in a string"), "Autoware", token.span, &help);
                }
            }
            Err(message) => return Err(parser.report(Diagnostic::error(message, token.span))),
        }
    }
    if text.contains('\0') {
        let message = "a string cannot contain the character NUL (IDL 4.2, 7.2.6.3)";
        let diagnostic = Diagnostic::error(message, span).note("a string of DDS ends at its first NUL");
        return Err(parser.report(diagnostic.help("remove `\\0`, or write an array of `octet`")));
    }
    let text: Arc<str> = text.into();
    let value = if is_wide { ConstantValue::WString(text) } else { ConstantValue::String(text) };
    Ok(SpannedValue { value, span })
}

fn character(parser: &mut Parser<'_>, literal: &str, span: Span) -> Result<ConstantValue, Reported> {
    let text = match literal::text(literal) {
        Ok(text) => text,
        Err(message) => return Err(parser.report(Diagnostic::error(message, span))),
    };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(value), None) if literal.starts_with('L') => Ok(ConstantValue::WChar(value)),
        (Some(value), None) => Ok(ConstantValue::Char(value)),
        _ => Err(parser
            .report(Diagnostic::error("expected one character in quotes", span).help("write a string as `\"…\"`"))),
    }
}

/// A constant, an enumerator, or `true` and `false` of vendors.
fn name(parser: &mut Parser<'_>, expected: Option<DefinitionId>) -> Evaluated {
    let token = parser.token();
    let is_single = token.kind == TokenKind::Identifier && parser.token_after(1).kind != TokenKind::Scope;
    if is_single
        && let Some(id) = expected
        && let Some(value) = parser.named_value(id, token.symbol)
    {
        parser.bump();
        return Ok(SpannedValue { value, span: token.span });
    }
    if is_single && parser.is_unknown(token.symbol) {
        let text = parser.text(token.symbol);
        if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            let is_true = text.eq_ignore_ascii_case("true");
            let help = if is_true { "write `TRUE`" } else { "write `FALSE`" };
            parser.bump();
            parser.vendor_warning(
                &format!("`{}`", parser.text(token.symbol).to_owned()),
                "Fast DDS and RTI Connext",
                token.span,
                help,
            );
            return Ok(SpannedValue { value: ConstantValue::Bool(is_true), span: token.span });
        }
    }
    let (entry, span) = parser.scoped_name("constant")?;
    match entry.entity {
        NamedEntity::Enumerator(id, index) => Ok(SpannedValue { value: ConstantValue::Enumerator(id, index), span }),
        NamedEntity::Flag(position) => {
            let value = ConstantValue::Integer(1_i128 << position.min(63));
            Ok(SpannedValue { value, span })
        }
        NamedEntity::Definition(id) => {
            let definition = parser.specification.definition(id);
            if let DefinitionKind::Constant(constant) = &definition.kind {
                return Ok(SpannedValue { value: constant.value.clone(), span });
            }
            let message = format!("`{}` is {}, not a constant", definition.name, definition.kind.description());
            Err(parser.report(Diagnostic::error(message, span).label(entry.span, "defined here")))
        }
        NamedEntity::Local(what) => {
            let message = format!("`{}` is {what}, not a constant", parser.text(entry.symbol));
            Err(parser.report(Diagnostic::error(message, span).label(entry.span, "defined here")))
        }
    }
}

fn apply(
    parser: &mut Parser<'_>,
    operator: BinaryOperator,
    (left, right): (&SpannedValue, &SpannedValue),
    is_uint64: bool,
) -> Result<ConstantValue, Reported> {
    let span = left.span.to(right.span);
    let result = match (&left.value, &right.value) {
        (ConstantValue::Float(one), ConstantValue::Float(other)) => float_result(operator, *one, *other),
        (ConstantValue::Float(one), ConstantValue::Integer(other)) => float_result(operator, *one, *other as f64),
        (ConstantValue::Integer(one), ConstantValue::Float(other)) => float_result(operator, *one as f64, *other),
        (ConstantValue::Fixed(one), ConstantValue::Fixed(other)) => fixed_result(operator, *one, *other),
        (ConstantValue::Fixed(one), ConstantValue::Integer(other)) => {
            fixed_result(operator, *one, FixedPoint { digits: *other, scale: 0 })
        }
        (ConstantValue::Integer(one), ConstantValue::Fixed(other)) => {
            fixed_result(operator, FixedPoint { digits: *one, scale: 0 }, *other)
        }
        (
            ConstantValue::String(_) | ConstantValue::WString(_),
            ConstantValue::String(_) | ConstantValue::WString(_),
        ) => {
            let message = format!("`{}` does not apply to strings", operator.symbol());
            let diagnostic = Diagnostic::error(message, span);
            return Err(parser.report(diagnostic.help("write adjacent literals without an operator: `\"a\" \"b\"`")));
        }
        (one, other) => {
            let one = integer_of(parser, one, left.span)?;
            let other = integer_of(parser, other, right.span)?;
            integer_result(operator, one, other, is_uint64)
        }
    };
    result.map_err(|message| {
        let place = if message.starts_with("division") { right.span } else { span };
        parser.report(Diagnostic::error(message, place))
    })
}

fn integer_result(operator: BinaryOperator, left: i128, right: i128, is_uint64: bool) -> Result<ConstantValue, String> {
    let shift = || u32::try_from(right).ok().filter(|bits| *bits < 64);
    let result = match operator {
        BinaryOperator::Or => Some(left | right),
        BinaryOperator::Xor => Some(left ^ right),
        BinaryOperator::And => Some(left & right),
        BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
            let bits = shift().ok_or_else(|| format!("a shift by {right} is not in the range 0 to 63"))?;
            match operator {
                // The bits that leave a `uint64` are gone, as in C. Other types refuse a result beyond their range.
                BinaryOperator::ShiftLeft if is_uint64 && left >= 0 => Some((left << bits) & i128::from(u64::MAX)),
                BinaryOperator::ShiftLeft => left.checked_mul(1_i128 << bits),
                _ => Some(left >> bits),
            }
        }
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Subtract => left.checked_sub(right),
        BinaryOperator::Multiply => left.checked_mul(right),
        BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => return Err("division by zero".to_owned()),
        BinaryOperator::Divide => left.checked_div(right),
        BinaryOperator::Remainder => left.checked_rem(right),
    };
    // Intermediate results of IDL have 64 bits, signed or unsigned.
    match result {
        Some(value) if value >= i64::MIN.into() && value <= u64::MAX.into() => Ok(ConstantValue::Integer(value)),
        _ => Err("the result does not fit in 64 bits (IDL 4.2, 7.4.1.4.3)".to_owned()),
    }
}

fn float_result(operator: BinaryOperator, left: f64, right: f64) -> Result<ConstantValue, String> {
    let value = match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Divide if right == 0.0 => return Err("division by zero".to_owned()),
        BinaryOperator::Divide => left / right,
        other => return Err(format!("`{}` needs integers", other.symbol())),
    };
    Ok(ConstantValue::Float(value))
}

fn fixed_result(operator: BinaryOperator, left: FixedPoint, right: FixedPoint) -> Result<ConstantValue, String> {
    let too_large = || "the result has more than 31 digits".to_owned();
    let scaled = |value: FixedPoint, scale: u8| {
        let factor = 10_i128.checked_pow(u32::from(scale - value.scale))?;
        value.digits.checked_mul(factor)
    };
    let scale = left.scale.max(right.scale);
    let (one, other) = (scaled(left, scale).ok_or_else(too_large)?, scaled(right, scale).ok_or_else(too_large)?);
    let (digits, scale) = match operator {
        BinaryOperator::Add => (one.checked_add(other), scale),
        BinaryOperator::Subtract => (one.checked_sub(other), scale),
        BinaryOperator::Multiply => (left.digits.checked_mul(right.digits), left.scale.saturating_add(right.scale)),
        BinaryOperator::Divide if other == 0 => return Err("division by zero".to_owned()),
        BinaryOperator::Divide => (one.checked_mul(1_000_000).map(|one| one / other), 6),
        other => return Err(format!("`{}` needs integers", other.symbol())),
    };
    let digits = digits.filter(|digits| digits.unsigned_abs() < 10_u128.pow(31)).ok_or_else(too_large)?;
    if scale > 31 {
        return Err("the result has more than 31 digits behind the point".to_owned());
    }
    Ok(ConstantValue::Fixed(FixedPoint { digits, scale }))
}

/// Converts a value to a type, within its range.
pub(super) fn convert(
    parser: &mut Parser<'_>,
    value: ConstantValue,
    span: Span,
    ty: &DataType,
) -> Result<ConstantValue, Reported> {
    let resolved = parser.specification.resolve(ty).clone();
    let value = match (&resolved, value) {
        (DataType::Basic(basic), ConstantValue::Enumerator(id, index)) if basic.range().is_some() => {
            let help = "write the number, or use the enum as the type";
            parser.vendor_warning("an enumerator as an integer", "RTI Connext", span, help);
            ConstantValue::Integer(parser.enumerator_value(id, index).into())
        }
        (_, value) => value,
    };
    let converted = match &resolved {
        DataType::Basic(basic) => convert_basic(parser, &value, *basic, span)?,
        DataType::String { bound } => text_value(parser, &value, *bound, false, span)?,
        DataType::WString { bound } => text_value(parser, &value, *bound, true, span)?,
        DataType::Fixed { .. } => match &value {
            ConstantValue::Fixed(_) => Some(value.clone()),
            ConstantValue::Integer(digits) => Some(ConstantValue::Fixed(FixedPoint { digits: *digits, scale: 0 })),
            ConstantValue::Float(number) => Some(fixed_of_float(parser, *number, span)?),
            _ => None,
        },
        DataType::Named(id) => match (&parser.specification.definition(*id).kind, &value) {
            (DefinitionKind::Enum(_), ConstantValue::Enumerator(other, _)) if other == id => Some(value.clone()),
            (DefinitionKind::Bitmask(_) | DefinitionKind::Bitset(_), ConstantValue::Integer(_)) => Some(value.clone()),
            _ => None,
        },
        // ROS writes the default of an array as a string: "(1, 2, 3)".
        DataType::Sequence { .. } | DataType::Array { .. } => match &value {
            ConstantValue::String(_) => Some(value.clone()),
            _ => None,
        },
        DataType::Map { .. } | DataType::Opaque(_) => None,
    };
    converted.ok_or_else(|| {
        let expected = parser.specification.type_name(ty);
        let found = parser.describe(&value);
        parser.report(Diagnostic::error(format!("expected a value of type `{expected}`, found {found}"), span))
    })
}

/// The value of a fixed-point number without its suffix.
fn fixed_of_float(parser: &mut Parser<'_>, number: f64, span: Span) -> Result<ConstantValue, Reported> {
    let text = parser.specification.sources.text(span).to_owned();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text).trim_start();
    // The text of a macro or of an operator is not the number itself.
    let is_literal = literal::float(unsigned) == Some(number.abs());
    let from_text = if is_literal { literal::fixed(&format!("{unsigned}d")) } else { None };
    let help =
        if from_text.is_some() { format!("write `{text}d`") } else { "write `d` behind each literal".to_owned() };
    let Some(mut value) = from_text.or_else(|| exact_fixed(number.abs())) else {
        let message = "a fixed-point number without its suffix has too many digits here";
        return Err(parser.report(Diagnostic::error(message, span).help(help)));
    };
    if number < 0.0 {
        value.digits = -value.digits;
    }
    parser.vendor_warning("a fixed-point number without its suffix", "TAOX11", span, &help);
    Ok(ConstantValue::Fixed(value))
}

/// The digits of a floating-point number, unless it has too many to be certain.
fn exact_fixed(number: f64) -> Option<FixedPoint> {
    /// Each decimal number of at most 15 digits has a `double` of its own.
    const EXACT_DIGITS_MAX: usize = 15;
    let text = number.to_string();
    let digits = text.replace('.', "");
    let significant = digits.trim_matches('0').len();
    if significant <= EXACT_DIGITS_MAX { literal::fixed(&format!("{text}d")) } else { None }
}

/// Returns `None` if the value has another kind.
fn convert_basic(
    parser: &mut Parser<'_>,
    value: &ConstantValue,
    basic: BasicType,
    span: Span,
) -> Result<Option<ConstantValue>, Reported> {
    let out_of_range = |parser: &mut Parser<'_>, text: String| {
        let message = match basic.range() {
            Some((min, max)) => format!("{text} is not in the range of `{}`: {min} to {max}", basic.idl_name()),
            None => format!("{text} is not in the range of `{}`", basic.idl_name()),
        };
        Err(parser.report(Diagnostic::error(message, span)))
    };
    if let Some((min, max)) = basic.range() {
        let value = match *value {
            ConstantValue::Integer(value) => value,
            ConstantValue::Char(c) if basic != BasicType::Octet => {
                let help = format!("write `{}`", u32::from(c));
                parser.vendor_warning(&format!("a character as `{}`", basic.idl_name()), "Qeo", span, &help);
                u32::from(c).into()
            }
            _ => return Ok(None),
        };
        if value >= min && value <= max {
            return Ok(Some(ConstantValue::Integer(value)));
        }
        // `~0` is -1: all bits of an unsigned type.
        let bits = 128 - max.leading_zeros();
        if min == 0 && (-max - 1..0).contains(&value) && parser.is_complement(span) {
            return Ok(Some(ConstantValue::Integer(value & ((1_i128 << bits) - 1))));
        }
        return out_of_range(parser, value.to_string());
    }
    Ok(match (basic, value) {
        (BasicType::Bool, ConstantValue::Bool(_)) => Some(value.clone()),
        (BasicType::Bool, ConstantValue::Integer(number @ (0 | 1))) => {
            let help = if *number == 1 { "write `TRUE`" } else { "write `FALSE`" };
            parser.vendor_warning("a number as `boolean`", "Fast DDS and RTI Connext", span, help);
            Some(ConstantValue::Bool(*number == 1))
        }
        (BasicType::Char, ConstantValue::Char(c)) if u32::from(*c) > 255 => {
            return out_of_range(parser, format!("the character `{c}`"));
        }
        (BasicType::Char, ConstantValue::Char(_)) => Some(value.clone()),
        (BasicType::Char, ConstantValue::Integer(code @ 0..=255)) => {
            parser.vendor_warning(
                "a number as `char`",
                "Fast DDS and RTI Connext",
                span,
                "write a character, such as `'a'`",
            );
            u8::try_from(*code).ok().map(|code| ConstantValue::Char(char::from(code)))
        }
        (BasicType::WChar, ConstantValue::Integer(code @ 0..=0xffff)) => {
            let character = u32::try_from(*code).ok().and_then(char::from_u32);
            if character.is_some() {
                let help = "write a character, such as `L'a'`";
                parser.vendor_warning("a number as `wchar`", "RPC for DDS of eProsima", span, help);
            }
            character.map(ConstantValue::WChar)
        }
        (BasicType::WChar, ConstantValue::Char(c) | ConstantValue::WChar(c)) => {
            if u32::from(*c) > 0xffff {
                return out_of_range(parser, format!("the character `{c}`"));
            }
            Some(ConstantValue::WChar(*c))
        }
        (BasicType::Float32, ConstantValue::Float(_) | ConstantValue::Integer(_) | ConstantValue::Fixed(_)) => {
            let number = float_of(value);
            let single = number as f32;
            if single.is_infinite() && number.is_finite() {
                return out_of_range(parser, number.to_string());
            }
            Some(ConstantValue::Float(f64::from(single)))
        }
        (
            BasicType::Float64 | BasicType::Float128,
            ConstantValue::Float(_) | ConstantValue::Integer(_) | ConstantValue::Fixed(_),
        ) => Some(ConstantValue::Float(float_of(value))),
        _ => None,
    })
}

fn float_of(value: &ConstantValue) -> f64 {
    match value {
        ConstantValue::Float(value) => *value,
        ConstantValue::Integer(value) => *value as f64,
        ConstantValue::Fixed(value) => value.digits as f64 / 10_f64.powi(i32::from(value.scale)),
        _ => 0.0,
    }
}

fn text_value(
    parser: &mut Parser<'_>,
    value: &ConstantValue,
    bound: Option<u32>,
    is_wide: bool,
    span: Span,
) -> Result<Option<ConstantValue>, Reported> {
    let text = match value {
        ConstantValue::String(text) => text,
        ConstantValue::WString(text) if is_wide => text,
        _ => return Ok(None),
    };
    let length = if is_wide { text.encode_utf16().count() } else { text.len() };
    if let Some(bound) = bound
        && length > bound as usize
    {
        let message = format!("the string has the length {length}, and its type has the bound {bound}");
        return Err(parser.report(Diagnostic::error(message, span)));
    }
    let text = Arc::clone(text);
    Ok(Some(if is_wide { ConstantValue::WString(text) } else { ConstantValue::String(text) }))
}

/// The kind of a value with its article.
pub(super) fn description(value: &ConstantValue) -> &'static str {
    match value {
        ConstantValue::Bool(_) => "a boolean",
        ConstantValue::Integer(_) => "an integer",
        ConstantValue::Float(_) => "a floating-point number",
        ConstantValue::Fixed(_) => "a fixed-point number",
        ConstantValue::Char(_) => "a character",
        ConstantValue::WChar(_) => "a wide character",
        ConstantValue::String(_) => "a string",
        ConstantValue::WString(_) => "a wide string",
        ConstantValue::Enumerator(..) => "an enumerator",
        ConstantValue::List(_) => "a list",
    }
}
