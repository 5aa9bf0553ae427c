//! From the written expression to the program: names are looked up, literals become values of their fields' kinds.

use super::LEN_MAX;
use super::compare::Constant;
use super::error::{FilterError, FilterErrorKind};
use super::pattern::{Budget, Pattern};
use super::program::{Program, Side, Step, Test};
use super::resolve::{Field, Kind, resolve};
use super::syntax::{Condition, Operand, Predicate, Term};
use crate::cdr::{EnumDescription, FieldStep, TypeDescription};
use crate::similar::nearest;

/// Different fields of one expression. Their values lie on the stack of whoever asks.
pub(super) const FIELDS_MAX: usize = 64;

/// Comparisons of one expression, and what joins them: 256 comparisons with `AND` and `OR` between them. Of the shortest that
/// there are, 16 KiB would hold ten times as many. Each takes 80 bytes, and some nanoseconds of each sample's time.
pub(super) const STEPS_MAX: usize = 512;

/// What comes of an expression.
pub(super) struct Compiler<'a> {
    ty: &'static TypeDescription,
    parameters: &'a [String],
    pub(super) program: Program,
    pub(super) paths: Vec<Vec<FieldStep>>,
    pub(super) uses_only_key: bool,
    /// Up to which number parameters are named.
    pub(super) parameters_used: usize,
    /// Bytes of all parameters that were named so far, each as often as it was.
    parameters_len: usize,
    patterns: Budget,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(ty: &'static TypeDescription, parameters: &'a [String]) -> Self {
        let (program, patterns) = (Program::default(), Budget::new());
        let paths = Vec::new();
        Self { ty, parameters, program, paths, uses_only_key: true, parameters_used: 0, parameters_len: 0, patterns }
    }

    pub(super) fn condition(&mut self, condition: &Condition) -> Result<(), FilterError> {
        match condition {
            Condition::Predicate(predicate) => {
                let test = self.predicate(predicate)?;
                self.step(Step::Test(test))?;
            }
            Condition::Not(condition) => {
                self.condition(condition)?;
                self.step(Step::Turn)?;
            }
            Condition::All(conditions) => self.join(conditions, false)?,
            Condition::Any(conditions) => self.join(conditions, true)?,
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), FilterError> {
        if self.program.steps.len() == STEPS_MAX {
            return Err(FilterError::new(0, FilterErrorKind::TooManySteps { max: STEPS_MAX }));
        }
        self.program.steps.push(step);
        Ok(())
    }

    /// One condition after the other, until one decides.
    fn join(&mut self, conditions: &[Condition], decides: bool) -> Result<(), FilterError> {
        let mut jumps = Vec::new();
        for (index, condition) in conditions.iter().enumerate() {
            if index > 0 {
                jumps.push(self.program.steps.len());
                self.step(Step::Jump { if_flag_is: decides, to: 0 })?;
            }
            self.condition(condition)?;
        }
        let end = self.program.steps.len();
        for at in jumps {
            if let Some(Step::Jump { to, .. }) = self.program.steps.get_mut(at) {
                *to = end;
            }
        }
        Ok(())
    }

    fn predicate(&mut self, predicate: &Predicate) -> Result<Test, FilterError> {
        match predicate {
            Predicate::Compare { left, relation, right } => {
                let (left_field, right_field) = (self.field(left)?, self.field(right)?);
                let kind = match (&left_field, &right_field) {
                    (Some((_, one)), Some((_, other))) if !one.is_comparable_with(*other) => {
                        let kind = FilterErrorKind::Incomparable { left: one.name(), right: other.name() };
                        return Err(FilterError::new(left.position, kind));
                    }
                    (Some((_, kind)), _) | (_, Some((_, kind))) => *kind,
                    (None, None) => return Err(FilterError::new(left.position, FilterErrorKind::NoField)),
                };
                let (left, right) = (self.side(left, left_field, kind)?, self.side(right, right_field, kind)?);
                Ok(Test::Compare { left, relation: *relation, right })
            }
            Predicate::Between { field, is_negated, low, high } => {
                let Some((slot, kind)) = self.field(field)? else {
                    return Err(FilterError::new(field.position, FilterErrorKind::NoField));
                };
                let mut side = |operand: &Operand| {
                    let other = self.field(operand)?;
                    match other {
                        Some((_, other)) if !kind.is_comparable_with(other) => {
                            let kind = FilterErrorKind::Incomparable { left: kind.name(), right: other.name() };
                            Err(FilterError::new(operand.position, kind))
                        }
                        other => self.side(operand, other, kind),
                    }
                };
                let (low, high) = (side(low)?, side(high)?);
                Ok(Test::Between { field: slot, is_negated: *is_negated, low, high })
            }
            Predicate::Fits { field, language, pattern } => {
                let Some((slot, kind)) = self.field(field)? else {
                    return Err(FilterError::new(field.position, FilterErrorKind::NoField));
                };
                let at = |kind| FilterError::new(pattern.position, kind);
                let text = self.text_of(pattern)?;
                match (kind, text) {
                    (Kind::Text, Some(text)) => {
                        let pattern = Pattern::new(text, *language, &mut self.patterns).map_err(at)?;
                        Ok(Test::Fits { field: slot, pattern })
                    }
                    _ => Err(FilterError::new(field.position, FilterErrorKind::NotAPattern)),
                }
            }
        }
    }

    /// The field that an operand names: which one of all, and its kind.
    fn field(&mut self, operand: &Operand) -> Result<Option<(usize, Kind)>, FilterError> {
        let Term::Field(names) = &operand.term else { return Ok(None) };
        let field = resolve(self.ty, names).map_err(|kind| FilterError::new(operand.position, kind))?;
        let Field { path, kind, is_key } = field;
        self.uses_only_key &= is_key;
        let slot = match self.paths.iter().position(|other| *other == path) {
            Some(slot) => slot,
            None if self.paths.len() == FIELDS_MAX => {
                return Err(FilterError::new(operand.position, FilterErrorKind::TooManyFields { max: FIELDS_MAX }));
            }
            None => {
                self.paths.push(path);
                self.paths.len() - 1
            }
        };
        Ok(Some((slot, kind)))
    }

    fn side(&mut self, operand: &Operand, field: Option<(usize, Kind)>, kind: Kind) -> Result<Side, FilterError> {
        if let Some((slot, _)) = field {
            return Ok(Side::Field(slot));
        }
        let constant = match &operand.term {
            Term::Integer(number) => of_integer(*number, kind),
            Term::Float(number) => of_float(*number, kind),
            Term::Bool(value) => matches!(kind, Kind::Bool).then_some(Constant::Integer((*value).into())),
            Term::Field(_) => None,
            Term::Text(text) => return self.constant_of_text(operand, text, kind).map(Side::Constant),
            Term::Parameter(number) => {
                let text = unquoted(self.parameter(operand, *number)?);
                return self.constant_of_text(operand, text, kind).map(Side::Constant);
            }
        };
        match constant {
            Some(constant) => Ok(Side::Constant(constant)),
            None => {
                let literal = match &operand.term {
                    Term::Integer(number) => number.to_string(),
                    Term::Float(number) => number.to_string(),
                    Term::Bool(value) => value.to_string(),
                    _ => String::new(),
                };
                Err(FilterError::new(operand.position, FilterErrorKind::Literal { literal, expected: kind.name() }))
            }
        }
    }

    fn text_of<'t>(&mut self, operand: &'t Operand) -> Result<Option<&'t str>, FilterError>
    where
        'a: 't,
    {
        Ok(match &operand.term {
            Term::Text(text) => Some(text),
            Term::Parameter(number) => Some(unquoted(self.parameter(operand, *number)?)),
            _ => None,
        })
    }

    fn parameter(&mut self, operand: &Operand, number: u8) -> Result<&'a str, FilterError> {
        self.parameters_used = self.parameters_used.max(usize::from(number) + 1);
        let Some(parameter) = self.parameters.get(usize::from(number)) else {
            let kind = FilterErrorKind::MissingParameter { number, given: self.parameters.len() };
            return Err(FilterError::new(operand.position, kind));
        };
        // Each mention makes a value of its own. Two bytes for one of thousands would make megabytes of an expression.
        self.parameters_len = self.parameters_len.saturating_add(parameter.len());
        if self.parameters_len > LEN_MAX {
            let kind = FilterErrorKind::TooLong { len: self.parameters_len, max: LEN_MAX };
            return Err(FilterError::new(operand.position, kind));
        }
        Ok(parameter)
    }

    /// What a text without its quotes means where a value of `kind` is wanted.
    fn constant_of_text(&self, operand: &Operand, bare: &str, kind: Kind) -> Result<Constant, FilterError> {
        let constant = match kind {
            Kind::Text => Some(Constant::Text(bare.as_bytes().into())),
            Kind::Character => one_character(bare).map(|character| Constant::Integer(u32::from(character).into())),
            Kind::Bool => truth(bare).map(|value| Constant::Integer(value.into())),
            Kind::Enum(name, description) => match enumerator(description, bare) {
                Some(number) => Some(Constant::Integer(number)),
                None => {
                    let names = description.literals().iter().map(|literal| literal.name());
                    let kind = FilterErrorKind::UnknownEnumerator {
                        literal: bare.to_owned(),
                        of: name.to_owned(),
                        similar: nearest(bare, names).map(str::to_owned),
                    };
                    return Err(FilterError::new(operand.position, kind));
                }
            },
            Kind::Integer | Kind::Float32 | Kind::Float64 => {
                let number = integer(bare).and_then(|number| of_integer(number, kind));
                number.or_else(|| bare.trim().parse().ok().and_then(|number| of_float(number, kind)))
            }
        };
        constant.ok_or_else(|| {
            let kind = FilterErrorKind::Literal { literal: bare.to_owned(), expected: kind.name() };
            FilterError::new(operand.position, kind)
        })
    }
}

/// A parameter without the quotes that RTI Connext wants around texts and others do not. Those of a literal are gone when it
/// comes here: what quotes it still has are its characters.
fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    within('\'').or_else(|| within('"')).unwrap_or(text)
}

fn of_integer(number: i128, kind: Kind) -> Option<Constant> {
    match kind {
        Kind::Integer | Kind::Enum(..) | Kind::Float32 | Kind::Float64 => Some(Constant::Integer(number)),
        Kind::Bool => (0..=1).contains(&number).then_some(Constant::Integer(number)),
        Kind::Character | Kind::Text => None,
    }
}

fn of_float(number: f64, kind: Kind) -> Option<Constant> {
    match kind {
        Kind::Integer | Kind::Float64 => Some(Constant::Float(number)),
        // Otherwise no field of 32 bits would ever be 0.1.
        Kind::Float32 => Some(Constant::Float(f64::from(number as f32))),
        _ => None,
    }
}

fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    // The standard library would take a second sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = i128::from_str_radix(digits, radix).ok()?;
    if is_negative { number.checked_neg() } else { Some(number) }
}

fn truth(text: &str) -> Option<bool> {
    match text.trim() {
        "1" => Some(true),
        "0" => Some(false),
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn one_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// The number of an enumerator: by its name, or a number as it is.
fn enumerator(description: EnumDescription, text: &str) -> Option<i128> {
    let literal = description.literals().iter().find(|literal| literal.name() == text);
    literal.map(|literal| literal.value().into()).or_else(|| integer(text))
}
