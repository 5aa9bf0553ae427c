//! Expressions of `#if` and `#elif`.

use super::Preprocessor;
use super::expansion::{expand_list, token_text};
use crate::idl::literal;
use crate::idl::token::{Token, TokenKind};
use crate::model::{Diagnostic, Span};

/// Deepest nesting of operators. Each level needs stack space.
const DEPTH_MAX: usize = 100;

struct ConditionParser<'t> {
    tokens: &'t [Token],
    /// Texts of the tokens.
    texts: Vec<&'t str>,
    at: usize,
    depth: usize,
    /// Whether the result does not depend on the current operand, as behind `0 &&`. Its values are not computed.
    is_skipped: bool,
}

/// Evaluates the condition behind `#if`. An error is reported, and counts as false.
pub(super) fn evaluate(this: &mut Preprocessor<'_>, span: Span, line: &[Token]) -> bool {
    let known = replace_defined(this, line);
    let tokens = expand_list(this, &known);
    let texts = tokens.iter().map(|token| token_text(this.symbols, token)).collect();
    let mut parser = ConditionParser { tokens: &tokens, texts, at: 0, depth: 0, is_skipped: false };
    let result = parser
        .ternary()
        .and_then(|value| if parser.at == tokens.len() { Ok(value) } else { Err("expected an operator") });
    match result {
        Ok(value) => value != 0,
        Err(message) => {
            let place =
                line.first().map_or(span, |first| line.last().map_or(first.span, |last| first.span.to(last.span)));
            this.diagnostics.push(Diagnostic::error(format!("invalid condition: {message}"), place));
            false
        }
    }
}

/// Replaces `defined X` and `defined(X)` by 1 or 0, before macros are replaced.
fn replace_defined(this: &mut Preprocessor<'_>, line: &[Token]) -> Vec<Token> {
    let (defined, one, zero) = (this.symbols.intern("defined"), this.symbols.intern("1"), this.symbols.intern("0"));
    let mut result = Vec::new();
    let mut at = 0;
    while let Some(token) = line.get(at) {
        at += 1;
        if token.symbol != defined {
            result.push(*token);
            continue;
        }
        let has_parenthesis = line.get(at).is_some_and(|next| next.kind == TokenKind::OpenParenthesis);
        at += usize::from(has_parenthesis);
        let is_defined = line.get(at).is_some_and(|name| this.macros.contains_key(&name.symbol));
        at += 1 + usize::from(has_parenthesis);
        result.push(Token { kind: TokenKind::Number, symbol: if is_defined { one } else { zero }, ..*token });
    }
    result
}

type ConditionValue = Result<i64, &'static str>;

/// Binary operators from the weakest to the strongest: C, 6.5.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'t> ConditionParser<'t> {
    fn text(&self, at: usize) -> &'t str {
        self.texts.get(at).copied().unwrap_or("")
    }

    /// Takes an operator that consists of one or two joined tokens.
    fn take(&mut self, operator: &str) -> bool {
        if self.text(self.at) == operator {
            // `|` is not the first half of `||`.
            let next = self.text(self.at + 1);
            let is_half = self.tokens.get(self.at + 1).is_some_and(|next| next.is_joined)
                && (matches!(operator, "|" | "&") && next == operator
                    || matches!(operator, "<" | ">" | "!" | "=") && next == "="
                    || operator == ">" && next == ">");
            self.at += usize::from(!is_half);
            return !is_half;
        }
        let joined = self.tokens.get(self.at + 1).is_some_and(|next| next.is_joined);
        let halves = operator.split_at_checked(1);
        if joined && halves == Some((self.text(self.at), self.text(self.at + 1))) {
            self.at += 2;
            return true;
        }
        false
    }

    fn ternary(&mut self) -> ConditionValue {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("too many levels of operators");
        }
        let condition = self.binary(0)?;
        let value = if self.take("?") {
            let then = self.operand(condition == 0, Self::ternary)?;
            if !self.take(":") {
                return Err("expected `:`");
            }
            let otherwise = self.operand(condition != 0, Self::ternary)?;
            if condition != 0 { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Reads an operand. A skipped one must be an expression, and has no value.
    fn operand(&mut self, is_skipped: bool, read: impl FnOnce(&mut Self) -> ConditionValue) -> ConditionValue {
        let outer = self.is_skipped;
        self.is_skipped |= is_skipped;
        let value = read(self);
        self.is_skipped = outer;
        value
    }

    fn binary(&mut self, level: usize) -> ConditionValue {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        'operators: loop {
            for operator in *operators {
                if self.take(operator) {
                    let is_decided = *operator == "&&" && left == 0 || *operator == "||" && left != 0;
                    let right = self.operand(is_decided, |this| this.binary(level + 1))?;
                    left = if self.is_skipped { 0 } else { apply(operator, left, right)? };
                    continue 'operators;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self) -> ConditionValue {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("too many levels of operators");
        }
        let value = if self.take("!") {
            Ok(i64::from(self.unary()? == 0))
        } else if self.take("-") {
            Ok(self.unary()?.wrapping_neg())
        } else if self.take("+") {
            self.unary()
        } else if self.take("~") {
            Ok(!self.unary()?)
        } else {
            self.primary()
        };
        self.depth -= 1;
        value
    }

    fn primary(&mut self) -> ConditionValue {
        if self.take("(") {
            let value = self.ternary()?;
            return if self.take(")") { Ok(value) } else { Err("expected `)`") };
        }
        let Some(token) = self.tokens.get(self.at) else { return Err("expected a value") };
        let text = self.text(self.at);
        self.at += 1;
        match token.kind {
            TokenKind::Number => {
                let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
                literal::integer(digits).and_then(|value| i64::try_from(value).ok()).ok_or("expected an integer")
            }
            // In C, a name that is not a macro is 0.
            TokenKind::Identifier if text == "TRUE" || text == "true" => Ok(1),
            TokenKind::Identifier => {
                self.skip_call();
                Ok(0)
            }
            TokenKind::Char => literal::text(text)
                .ok()
                .and_then(|text| text.chars().next())
                .map(|c| i64::from(u32::from(c)))
                .ok_or("expected a character"),
            _ => Err("expected a value"),
        }
    }

    /// Skips the arguments of an unknown function, such as `__has_include(<x>)`.
    fn skip_call(&mut self) {
        if !self.take("(") {
            return;
        }
        let mut depth = 1;
        while depth > 0 && self.at < self.tokens.len() {
            match self.tokens.get(self.at).map(|token| token.kind) {
                Some(TokenKind::OpenParenthesis) => depth += 1,
                Some(TokenKind::CloseParenthesis) => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }
}

fn apply(operator: &str, left: i64, right: i64) -> ConditionValue {
    Ok(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.wrapping_shl(u32::try_from(right & 63).unwrap_or(0)),
        ">>" => left.wrapping_shr(u32::try_from(right & 63).unwrap_or(0)),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" | "%" if right == 0 => return Err("division by zero"),
        "/" => left.wrapping_div(right),
        _ => left.wrapping_rem(right),
    })
}
