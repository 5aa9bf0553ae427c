//! Compiles a parsed expression: resolves fields, and converts literals to the kinds of their fields.

use super::LEN_MAX;
use super::compare::Constant;
use super::error::{ExpressionError, ExpressionErrorKind};
use super::pattern::{Pattern, PatternBudget};
use super::program::{CompiledOperand, CompiledPredicate, Instruction, Program};
use super::resolve::{EnumTable, FieldType, Kind, ResolvedField, resolve};
use super::syntax::{FilterCondition, Operand, Predicate, Relation, Term};
use crate::cdr::FieldStep;
use crate::similar::nearest;

/// Most different fields of one expression. Evaluation keeps their values on the stack.
pub(super) const FIELDS_MAX: usize = 64;

/// Most comparisons and logical operators of one expression: 256 comparisons joined by `AND` or `OR`.
///
/// Without this limit, 16 KiB of text could hold ten times as many. Each takes 80 bytes, and some nanoseconds a sample.
pub(super) const STEPS_MAX: usize = 512;

/// The state of a compilation, and its results.
pub(super) struct Compiler<'a, T> {
    ty: T,
    enums: EnumTable,
    parameters: &'a [String],
    pub(super) program: Program,
    pub(super) paths: Vec<Vec<FieldStep>>,
    pub(super) uses_only_key: bool,
    /// The highest number of a parameter in use, plus one.
    pub(super) parameters_used: usize,
    /// Bytes of all parameters in use so far. Each use counts.
    parameters_len: usize,
    patterns: PatternBudget,
}

impl<'a, T: FieldType> Compiler<'a, T> {
    pub(super) fn new(ty: T, parameters: &'a [String]) -> Self {
        let (program, patterns) = (Program::default(), PatternBudget::new());
        let paths = Vec::new();
        let enums = EnumTable::default();
        Self {
            ty,
            enums,
            parameters,
            program,
            paths,
            uses_only_key: true,
            parameters_used: 0,
            parameters_len: 0,
            patterns,
        }
    }

    pub(super) fn condition(&mut self, condition: &FilterCondition) -> Result<(), ExpressionError> {
        match condition {
            FilterCondition::Predicate(predicate) => {
                let test = self.predicate(predicate)?;
                self.push(Instruction::Test(test))?;
            }
            FilterCondition::Not(condition) => {
                self.condition(condition)?;
                self.push(Instruction::Invert)?;
            }
            FilterCondition::All(conditions) => self.join(conditions, false)?,
            FilterCondition::Any(conditions) => self.join(conditions, true)?,
        }
        Ok(())
    }

    fn push(&mut self, instruction: Instruction) -> Result<(), ExpressionError> {
        // Each sample may execute all of them, and a peer sends the expression.
        if self.program.instructions.len() == STEPS_MAX {
            return Err(ExpressionError::new(0, ExpressionErrorKind::TooManySteps { max: STEPS_MAX }));
        }
        self.program.instructions.push(instruction);
        Ok(())
    }

    /// Compiles conditions in sequence. Once one of them yields `decides`, evaluation skips the others.
    fn join(&mut self, conditions: &[FilterCondition], decides: bool) -> Result<(), ExpressionError> {
        let mut jumps = Vec::new();
        for (index, condition) in conditions.iter().enumerate() {
            if index > 0 {
                // The target is known when all conditions are compiled.
                jumps.push(self.program.instructions.len());
                // AND is decided by the first false, OR by the first true. The rest is not evaluated.
                self.push(Instruction::Jump { if_flag_is: decides, to: 0 })?;
            }
            self.condition(condition)?;
        }
        let end = self.program.instructions.len();
        for index in jumps {
            match self.program.instructions.get_mut(index) {
                Some(Instruction::Jump { to, .. }) => *to = end,
                _ => debug_assert!(false, "the index was taken from a jump"),
            }
        }
        Ok(())
    }

    fn predicate(&mut self, predicate: &Predicate) -> Result<CompiledPredicate, ExpressionError> {
        match predicate {
            Predicate::Compare { left, relation, right } => self.compare(left, *relation, right),
            Predicate::Between { field, is_negated, low, high } => {
                let (slot, kind) = self.required_field(field)?;
                let low = self.bound(low, kind)?;
                let high = self.bound(high, kind)?;
                Ok(CompiledPredicate::Between { field: slot, is_negated: *is_negated, low, high })
            }
            Predicate::Matches { field, language, pattern } => {
                let (slot, kind) = self.required_field(field)?;
                let (Kind::Text, Some(text)) = (kind, self.pattern_text(pattern)?) else {
                    return Err(ExpressionError::new(field.position, ExpressionErrorKind::NotAPattern));
                };
                let compiled = Pattern::new(text, *language, &mut self.patterns);
                let pattern = compiled.map_err(|kind| ExpressionError::new(pattern.position, kind))?;
                Ok(CompiledPredicate::Matches { field: slot, pattern })
            }
        }
    }

    fn compare(
        &mut self,
        left: &Operand,
        relation: Relation,
        right: &Operand,
    ) -> Result<CompiledPredicate, ExpressionError> {
        let (left_field, right_field) = (self.field(left)?, self.field(right)?);
        let kind = match (left_field, right_field) {
            (Some((_, one)), Some((_, other))) => {
                // Mistakes in types are found once, here, and not for each sample.
                check_comparable(one, other, left)?;
                one
            }
            (Some((_, kind)), None) | (None, Some((_, kind))) => kind,
            (None, None) => return Err(ExpressionError::new(left.position, ExpressionErrorKind::NoField)),
        };
        let left = self.operand(left, left_field, kind)?;
        let right = self.operand(right, right_field, kind)?;
        Ok(CompiledPredicate::Compare { left, relation, right })
    }

    /// Compiles a bound of `BETWEEN` for a field of `kind`.
    fn bound(&mut self, operand: &Operand, kind: Kind) -> Result<CompiledOperand, ExpressionError> {
        let field = self.field(operand)?;
        if let Some((_, other)) = field {
            check_comparable(kind, other, operand)?;
        }
        self.operand(operand, field, kind)
    }

    fn required_field(&mut self, operand: &Operand) -> Result<(usize, Kind), ExpressionError> {
        match self.field(operand)? {
            Some(field) => Ok(field),
            None => Err(ExpressionError::new(operand.position, ExpressionErrorKind::NoField)),
        }
    }

    /// The slot and the kind of the field, if the operand is a field.
    fn field(&mut self, operand: &Operand) -> Result<Option<(usize, Kind)>, ExpressionError> {
        let Term::Field(names) = &operand.term else { return Ok(None) };
        let field =
            resolve(&self.ty, names, &mut self.enums).map_err(|kind| ExpressionError::new(operand.position, kind))?;
        let ResolvedField { path, kind, is_key } = field;
        // Such a filter can also decide on a dispose, whose payload is the key.
        self.uses_only_key &= is_key;
        // A field that occurs twice is read once.
        let slot = match self.paths.iter().position(|other| *other == path) {
            Some(slot) => slot,
            // The values stand on the stack during the evaluation.
            None if self.paths.len() == FIELDS_MAX => {
                return Err(ExpressionError::new(
                    operand.position,
                    ExpressionErrorKind::TooManyFields { max: FIELDS_MAX },
                ));
            }
            None => {
                self.paths.push(path);
                self.paths.len() - 1
            }
        };
        Ok(Some((slot, kind)))
    }

    fn operand(
        &mut self,
        operand: &Operand,
        field: Option<(usize, Kind)>,
        kind: Kind,
    ) -> Result<CompiledOperand, ExpressionError> {
        if let Some((slot, _)) = field {
            return Ok(CompiledOperand::Field(slot));
        }
        // The constant takes the kind of the field, so that no sample pays for a conversion.
        let (constant, literal) = match &operand.term {
            Term::Integer(number) => (of_integer(*number, kind), number.to_string()),
            Term::Float(number) => (of_float(*number, kind), number.to_string()),
            Term::Bool(value) if matches!(kind, Kind::Bool) => {
                (Some(Constant::Integer((*value).into())), value.to_string())
            }
            Term::Bool(value) => (None, value.to_string()),
            Term::Text(text) => return self.constant_of_text(operand, text, kind).map(CompiledOperand::Constant),
            Term::Parameter(number) => {
                // Peers send text parameters with and without quotes.
                let text = unquoted(self.parameter(operand, *number)?);
                return self.constant_of_text(operand, text, kind).map(CompiledOperand::Constant);
            }
            Term::Field(_) => {
                debug_assert!(false, "a named field has a slot");
                (None, String::new())
            }
        };
        let Some(constant) = constant else {
            let kind = ExpressionErrorKind::Literal { literal, expected: kind.name() };
            return Err(ExpressionError::new(operand.position, kind));
        };
        Ok(CompiledOperand::Constant(constant))
    }

    /// The text of a pattern, if the operand can be one.
    fn pattern_text<'t>(&mut self, operand: &'t Operand) -> Result<Option<&'t str>, ExpressionError>
    where
        'a: 't,
    {
        Ok(match &operand.term {
            Term::Text(text) => Some(text),
            Term::Parameter(number) => Some(unquoted(self.parameter(operand, *number)?)),
            _ => None,
        })
    }

    fn parameter(&mut self, operand: &Operand, number: u8) -> Result<&'a str, ExpressionError> {
        self.parameters_used = self.parameters_used.max(usize::from(number) + 1);
        let Some(parameter) = self.parameters.get(usize::from(number)) else {
            let kind = ExpressionErrorKind::MissingParameter { number, given: self.parameters.len() };
            return Err(ExpressionError::new(operand.position, kind));
        };
        // Each use is compiled to a value of its own. Otherwise uses of two bytes each could expand to megabytes.
        self.parameters_len = self.parameters_len.saturating_add(parameter.len());
        if self.parameters_len > LEN_MAX {
            let kind = ExpressionErrorKind::TooLong { len: self.parameters_len, max: LEN_MAX };
            return Err(ExpressionError::new(operand.position, kind));
        }
        Ok(parameter)
    }

    /// Converts a text without quotes to a constant of `kind`.
    fn constant_of_text(&self, operand: &Operand, bare: &str, kind: Kind) -> Result<Constant, ExpressionError> {
        let constant = match kind {
            Kind::Text => Some(Constant::Text(bare.as_bytes().into())),
            Kind::Character => one_character(bare).map(u32::from).map(i128::from).map(Constant::Integer),
            Kind::Bool => truth(bare).map(i128::from).map(Constant::Integer),
            Kind::Enum(index) => {
                let Some(found) = self.enums.get(index) else {
                    debug_assert!(false, "the table made the index");
                    return Err(ExpressionError::new(operand.position, ExpressionErrorKind::NoField));
                };
                let Some(number) = enumerator(&found.literals, bare) else {
                    let names = found.literals.iter().map(|(name, _)| name.as_str());
                    let kind = ExpressionErrorKind::UnknownEnumerator {
                        literal: bare.to_owned(),
                        of: found.name.clone(),
                        similar: nearest(bare, names).map(str::to_owned),
                    };
                    return Err(ExpressionError::new(operand.position, kind));
                };
                Some(Constant::Integer(number))
            }
            Kind::Integer | Kind::Float32 | Kind::Float64 => match (integer(bare), bare.trim().parse()) {
                // An integer stays exact, as a float would not above 2^53.
                (Some(number), _) => of_integer(number, kind),
                (None, Ok(number)) => of_float(number, kind),
                (None, Err(_)) => None,
            },
        };
        let Some(constant) = constant else {
            let kind = ExpressionErrorKind::Literal { literal: bare.to_owned(), expected: kind.name() };
            return Err(ExpressionError::new(operand.position, kind));
        };
        Ok(constant)
    }
}

fn check_comparable(one: Kind, other: Kind, operand: &Operand) -> Result<(), ExpressionError> {
    if one.is_comparable_with(other) {
        return Ok(());
    }
    let kind = ExpressionErrorKind::Incomparable { left: one.name(), right: other.name() };
    Err(ExpressionError::new(operand.position, kind))
}

/// Removes the quotes that RTI Connext requires around strings in parameters.
///
/// Not for literals: the parser has removed their quotes, and any remaining quotes are characters.
fn unquoted(text: &str) -> &str {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

fn of_integer(number: i128, kind: Kind) -> Option<Constant> {
    match kind {
        Kind::Integer | Kind::Enum(..) | Kind::Float32 | Kind::Float64 => Some(Constant::Integer(number)),
        Kind::Bool if (0..=1).contains(&number) => Some(Constant::Integer(number)),
        Kind::Bool | Kind::Character | Kind::Text => None,
    }
}

fn of_float(number: f64, kind: Kind) -> Option<Constant> {
    match kind {
        Kind::Integer | Kind::Float64 => Some(Constant::Float(number)),
        // Rounded to 32 bits, otherwise no 32-bit field would ever equal 0.1.
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
    // The standard library would accept a second sign.
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
    match (characters.next(), characters.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// The value of an enumerator, given by its name or as a number.
fn enumerator(literals: &[(String, i64)], text: &str) -> Option<i128> {
    for (name, value) in literals {
        if name == text {
            return Some((*value).into());
        }
    }
    integer(text)
}
