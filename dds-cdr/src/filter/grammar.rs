//! The grammar of filter expressions (DDS 1.4, Annex B).
//!
//! ```text
//! condition   all { OR all }
//! all         not { AND not }
//! not         [NOT] ( '(' condition ')' | predicate )
//! predicate   operand relation operand | operand [NOT] BETWEEN operand AND operand | operand LIKE|MATCH operand
//! relation    = <> != < <= > >=
//! operand     field | %n | '%n' | 'text' | 12 | 0x1f | 1.5e3 | TRUE | FALSE
//! field       name { . name | [index] }
//! ```
//!
//! Keywords ignore case. `!=` and `MATCH` are additions of RTI Connext. `MATCH` and `ORDER BY` are keywords only where
//! no name is allowed; elsewhere they are names. After a dot every word is a name. A quote inside of a text is doubled
//! (`'it''s'`). Each comparison needs a field; the compiler checks that.

use super::error::{ExpressionError, ExpressionErrorKind};
use super::syntax::{FilterCondition, Language, Operand, PathPart, Predicate, Relation, Term};
use winnow::ascii::{Caseless, digit1, hex_digit1, multispace0};
use winnow::combinator::{alt, cut_err, delimited, empty, eof, not, opt, peek, preceded, repeat, terminated};
use winnow::error::{AddContext, ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location, Stateful, Stream};
use winnow::token::{one_of, take_while};

/// The text, and the number of open parentheses and `NOT`.
type FilterInput<'i> = Stateful<LocatingSlice<&'i str>, usize>;
type Parsed<T> = Result<T, ErrMode<ExpressionError>>;

/// Most nested parentheses and `NOT`. Each level takes a few stack frames.
pub(super) const DEPTH_MAX: usize = 32;

/// Parses an expression. Returns `None` if it is blank.
pub(super) fn parse(expression: &str) -> Result<Option<FilterCondition>, ExpressionError> {
    if expression.trim().is_empty() {
        return Ok(None);
    }
    // The state is the depth of parentheses and NOT.
    let mut input = Stateful { input: LocatingSlice::new(expression), state: 0 };
    match whole(&mut input) {
        Ok(condition) => Ok(Some(condition)),
        Err(error) => {
            // The parser never waits for more input, so the error is always complete.
            let error = error.into_inner().unwrap_or_else(|_| syntax_error(&input));
            Err(with_found_text(expression, error))
        }
    }
}

fn whole(input: &mut FilterInput<'_>) -> Parsed<FilterCondition> {
    // A query may consist of ORDER BY only. No condition starts with two names.
    no_order(input)?;
    let condition = condition(input)?;
    no_order(input)?;
    eof.void().context("AND, OR or the end").parse_next(input)?;
    Ok(condition)
}

/// Fails at `ORDER BY`.
fn no_order(input: &mut FilterInput<'_>) -> Parsed<()> {
    multispace0.void().parse_next(input)?;
    let position = input.current_token_start();
    match opt(peek((keyword("ORDER"), keyword("BY")))).parse_next(input)? {
        Some(_) => Err(ErrMode::Cut(ExpressionError::new(position, ExpressionErrorKind::OrderBy))),
        None => Ok(()),
    }
}

fn condition(input: &mut FilterInput<'_>) -> Parsed<FilterCondition> {
    let first = all(input)?;
    // After OR nothing else can follow, so an error there is final and has the best position.
    let others: Vec<_> = repeat(0.., preceded(keyword("OR"), cut_err(all))).parse_next(input)?;
    Ok(joined(first, others, FilterCondition::Any))
}

fn all(input: &mut FilterInput<'_>) -> Parsed<FilterCondition> {
    let first = negation(input)?;
    let others: Vec<_> = repeat(0.., preceded(keyword("AND"), cut_err(negation))).parse_next(input)?;
    Ok(joined(first, others, FilterCondition::All))
}

fn joined(
    first: FilterCondition,
    others: Vec<FilterCondition>,
    join: fn(Vec<FilterCondition>) -> FilterCondition,
) -> FilterCondition {
    if others.is_empty() { first } else { join(std::iter::once(first).chain(others).collect()) }
}

fn negation(input: &mut FilterInput<'_>) -> Parsed<FilterCondition> {
    multispace0.void().parse_next(input)?;
    let position = input.current_token_start();
    input.state += 1;
    // The parser is recursive, and a peer may send any number of parentheses.
    if input.state > DEPTH_MAX {
        return Err(ErrMode::Cut(ExpressionError::new(position, ExpressionErrorKind::TooDeep { max: DEPTH_MAX })));
    }
    let negated =
        preceded(keyword("NOT"), cut_err(negation)).map(|condition| FilterCondition::Not(Box::new(condition)));
    let close = (multispace0, ')').void().context("AND, OR or `)`");
    let enclosed = delimited('(', cut_err(condition), cut_err(close));
    let result = alt((negated, enclosed, predicate.map(FilterCondition::Predicate))).parse_next(input);
    input.state -= 1;
    result
}

fn predicate(input: &mut FilterInput<'_>) -> Parsed<Predicate> {
    let left = operand(input)?;
    let language = alt((keyword("LIKE").value(Language::Sql), keyword("MATCH").value(Language::Shell)));
    if let Some(language) = opt(language).parse_next(input)? {
        let pattern = cut_err(pattern).parse_next(input)?;
        return Ok(Predicate::Matches { field: left, language, pattern });
    }
    let between = terminated(opt(keyword("NOT")), keyword("BETWEEN"));
    if let Some(negation) = opt(between).parse_next(input)? {
        let low = cut_err(operand).parse_next(input)?;
        cut_err(keyword("AND")).context("AND").parse_next(input)?;
        let high = cut_err(operand).parse_next(input)?;
        return Ok(Predicate::Between { field: left, is_negated: negation.is_some(), low, high });
    }
    let relation = cut_err(relation).parse_next(input)?;
    let right = cut_err(operand).parse_next(input)?;
    Ok(Predicate::Compare { left, relation, right })
}

fn relation(input: &mut FilterInput<'_>) -> Parsed<Relation> {
    let relation = alt((
        "<=".value(Relation::LessOrEqual),
        ">=".value(Relation::GreaterOrEqual),
        "<>".value(Relation::NotEqual),
        "!=".value(Relation::NotEqual),
        "<".value(Relation::Less),
        ">".value(Relation::Greater),
        "=".value(Relation::Equal),
    ));
    preceded(multispace0, relation.context("a comparison (=, <>, <, <=, >, >=, BETWEEN, LIKE, MATCH)"))
        .parse_next(input)
}

fn operand(input: &mut FilterInput<'_>) -> Parsed<Operand> {
    multispace0.void().parse_next(input)?;
    let position = input.current_token_start();
    // Before text: otherwise `'%0'` would be the text of two characters.
    let quoted_parameter = delimited(('\'', '%'), parameter_number, '\'').map(Term::Parameter);
    let term = alt((quoted_parameter, text.map(Term::Text), parameter, number, truth, field));
    let term = term.context("a field, a literal or a parameter").parse_next(input)?;
    Ok(Operand { position, term })
}

/// Parses the pattern after `LIKE` or `MATCH`. In quotes, `%0` is a pattern and not a parameter.
fn pattern(input: &mut FilterInput<'_>) -> Parsed<Operand> {
    multispace0.void().parse_next(input)?;
    let position = input.current_token_start();
    let term =
        alt((text.map(Term::Text), parameter)).context("a pattern in quotes, or a parameter").parse_next(input)?;
    Ok(Operand { position, term })
}

fn parameter(input: &mut FilterInput<'_>) -> Parsed<Term> {
    let number = cut_err(parameter_number).context("a number from 0 to 99");
    preceded('%', number).map(Term::Parameter).parse_next(input)
}

fn parameter_number(input: &mut FilterInput<'_>) -> Parsed<u8> {
    digit1.parse_to().verify(|number: &u8| *number < 100).parse_next(input)
}

fn text(input: &mut FilterInput<'_>) -> Parsed<String> {
    '\''.parse_next(input)?;
    let mut text = String::new();
    loop {
        // Two quotes stand for one, as in SQL.
        text.push_str(up_to_quote(input)?);
        if opt('\'').parse_next(input)?.is_none() {
            return Ok(text);
        }
        text.push('\'');
    }
}

fn up_to_quote<'i>(input: &mut FilterInput<'i>) -> Parsed<&'i str> {
    let quote = cut_err('\'').context("a quote at the end of the text");
    terminated(take_while(0.., |c| c != '\''), quote).parse_next(input)
}

fn number(input: &mut FilterInput<'_>) -> Parsed<Term> {
    let sign = opt(one_of(['+', '-'])).parse_next(input)?;
    let hex = preceded((alt(("0x", "0X")), empty), hex_digit1).map(|digits| i128::from_str_radix(digits, 16));
    let fraction = alt(((digit1, '.', take_while(0.., '0'..='9')).void(), ('.', digit1).void()));
    let float = alt(((fraction, opt(exponent)).take(), (digit1, exponent).take())).map(str::parse::<f64>);
    let integer = digit1.map(str::parse::<i128>);
    // `None` after an overflow: the digits must not be parsed as another kind of number then.
    let magnitude = alt((
        hex.map(|number| number.ok().map(Term::Integer)),
        float.map(|number| number.ok().map(Term::Float)),
        integer.map(|number| number.ok().map(Term::Integer)),
    ));
    let magnitude = magnitude.verify_map(|magnitude| magnitude);
    // `1x` is a mistake, not the number 1 and a name.
    let magnitude = terminated(magnitude, not(one_of(is_part_of_name))).parse_next(input)?;
    Ok(match (sign, magnitude) {
        // Cannot overflow: the magnitude is at most `i128::MAX`.
        (Some('-'), Term::Integer(number)) => Term::Integer(-number),
        (Some('-'), Term::Float(number)) => Term::Float(-number),
        (_, magnitude) => magnitude,
    })
}

fn exponent(input: &mut FilterInput<'_>) -> Parsed<()> {
    (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1).void().parse_next(input)
}

fn truth(input: &mut FilterInput<'_>) -> Parsed<Term> {
    alt((keyword("TRUE").value(Term::Bool(true)), keyword("FALSE").value(Term::Bool(false)))).parse_next(input)
}

fn field(input: &mut FilterInput<'_>) -> Parsed<Term> {
    // MATCH is not among them: SQL does not reserve it, and fields may have that name.
    let is_free = |name: &str| !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name));
    let mut names = vec![PathPart::Member(word.verify(is_free).parse_next(input)?.to_owned())];
    loop {
        let member = preceded((multispace0, '.', multispace0), cut_err(word).context("a name after the dot"));
        let member = member.map(|name: &str| PathPart::Member(name.to_owned()));
        let index = alt((preceded(alt(("0x", "0X")), hex_digit1).try_map(hexadecimal), digit1.parse_to::<u32>()));
        let index = delimited(multispace0, index, (multispace0, ']'));
        let element = preceded((multispace0, '['), cut_err(index).context("an index and `]`")).map(PathPart::Element);
        match opt(alt((member, element))).parse_next(input)? {
            // A longer path than any type can have.
            Some(_) if names.len() >= DEPTH_MAX => {
                let kind = ExpressionErrorKind::TooDeep { max: DEPTH_MAX };
                return Err(ErrMode::Cut(ExpressionError::new(input.current_token_start(), kind)));
            }
            Some(part) => names.push(part),
            None => return Ok(Term::Field(names)),
        }
    }
}

fn hexadecimal(digits: &str) -> Result<u32, std::num::ParseIntError> {
    u32::from_str_radix(digits, 16)
}

fn word<'i>(input: &mut FilterInput<'i>) -> Parsed<&'i str> {
    let is_first = |c: char| c == '_' || c.is_alphabetic();
    (one_of(is_first), take_while(0.., is_part_of_name)).take().parse_next(input)
}

fn is_part_of_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Parses a keyword with the white space before it.
fn keyword<'i>(word: &'static str) -> impl Parser<FilterInput<'i>, (), ErrMode<ExpressionError>> {
    (multispace0, Caseless(word), not(one_of(is_part_of_name))).void()
}

impl<'i> ParserError<FilterInput<'i>> for ExpressionError {
    type Inner = Self;

    fn from_input(input: &FilterInput<'i>) -> Self {
        syntax_error(input)
    }

    /// Of two failed alternatives, keeps the error with the later position.
    fn or(self, other: Self) -> Self {
        // Of two alternatives, the one that went further explains the mistake better.
        if other.position() > self.position() { other } else { self }
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }
}

impl<'i> AddContext<FilterInput<'i>> for ExpressionError {
    fn add_context(
        self,
        _: &FilterInput<'i>,
        _: &<FilterInput<'i> as Stream>::Checkpoint,
        context: &'static str,
    ) -> Self {
        match self.kind() {
            ExpressionErrorKind::Syntax { expected: "", .. } => {
                let kind = ExpressionErrorKind::Syntax { expected: context, found: String::new() };
                Self::new(self.position(), kind)
            }
            _ => self,
        }
    }
}

impl<'i, E> winnow::error::FromExternalError<FilterInput<'i>, E> for ExpressionError {
    fn from_external_error(input: &FilterInput<'i>, _: E) -> Self {
        syntax_error(input)
    }
}

fn syntax_error(input: &FilterInput<'_>) -> ExpressionError {
    let kind = ExpressionErrorKind::Syntax { expected: "", found: String::new() };
    ExpressionError::new(input.current_token_start(), kind)
}

/// Adds the text at the position of the error.
fn with_found_text(expression: &str, error: ExpressionError) -> ExpressionError {
    let ExpressionErrorKind::Syntax { expected, .. } = *error.kind() else { return error };
    let rest = expression.get(error.position()..).unwrap_or_default();
    // One word tells the place, and an expression may be long.
    let word = rest.split_whitespace().next().unwrap_or_default();
    let found = word.chars().take(FOUND_MAX).collect();
    let expected = if expected.is_empty() { "something else" } else { expected };
    ExpressionError::new(error.position(), ExpressionErrorKind::Syntax { expected, found })
}

/// Words that cannot be the first name of a field. Most are keywords of the standard; `TRUE` and `FALSE` are literals.
const RESERVED: [&str; 7] = ["AND", "OR", "NOT", "BETWEEN", "LIKE", "TRUE", "FALSE"];

/// Most characters of the found text in an error.
const FOUND_MAX: usize = 24;
