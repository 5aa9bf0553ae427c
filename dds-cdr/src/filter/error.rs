//! Errors of filter expressions.

use std::fmt;

/// An error in a filter expression or its parameters, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// Boxed, so that `Result`s stay small.
    inner: Box<(usize, ExpressionErrorKind)>,
}

/// The kind of an error in a filter expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpressionErrorKind {
    /// The text is not an expression of DDS 1.4, Annex B.
    Syntax {
        /// The expected element.
        expected: &'static str,
        /// The text found instead; empty at the end of the expression.
        found: String,
    },
    /// The type has no such field.
    UnknownField {
        /// The unknown name.
        field: String,
        /// The type that lacks the field.
        of: String,
        /// A similar name of the type.
        similar: Option<String>,
    },
    /// The enum has no such literal.
    UnknownEnumerator {
        /// The unknown name.
        literal: String,
        /// The enum.
        of: String,
        /// A similar literal of the enum.
        similar: Option<String>,
    },
    /// The field is not a number, string, bool, character or enumerator.
    NotComparable {
        /// The field.
        field: String,
        /// The kind of its type.
        kind: &'static str,
    },
    /// Values of these two kinds cannot be compared.
    Incomparable {
        /// The kind of one operand.
        left: &'static str,
        /// The kind of the other operand.
        right: &'static str,
    },
    /// The literal, or the value of the parameter, does not have the kind of the field.
    Literal {
        /// The literal.
        literal: String,
        /// The kind of the field.
        expected: &'static str,
    },
    /// The index is beyond the end of an array or the bound of a sequence.
    IndexBeyondEnd {
        /// The index, from 0.
        index: u64,
        /// The largest number of elements.
        len: u64,
    },
    /// The field has an index, but is neither an array nor a sequence.
    NotIndexed {
        /// The field.
        field: String,
    },
    /// A comparison contains no field.
    NoField,
    /// The expression uses a parameter without a value.
    MissingParameter {
        /// The number of the parameter, from 0.
        number: u8,
        /// The number of given parameters.
        given: usize,
    },
    /// More parameters are given than the expression uses.
    TooManyParameters {
        /// The number of given parameters.
        given: usize,
        /// The highest number of a parameter in use, plus one.
        used: usize,
    },
    /// `LIKE` or `MATCH` is used with a field that is not a string.
    NotAPattern,
    /// A character set (`[`) in a pattern of `MATCH` has no end.
    OpenSet,
    /// A pattern has too many characters, or a list too many patterns.
    PatternTooLong {
        /// The limit.
        max: usize,
    },
    /// All patterns of the expression together exceed a limit. Each use of a parameter counts.
    PatternsTooLarge {
        /// The limited quantity.
        of: &'static str,
        /// The limit.
        max: usize,
    },
    /// The expression has too many comparisons, `AND`, `OR` and `NOT` together.
    TooManySteps {
        /// The limit.
        max: usize,
    },
    /// The expression and its parameters have too many bytes, or the parameters alone when each use counts.
    TooLong {
        /// The number of bytes.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Parentheses, `NOT` or nested fields are too deep.
    TooDeep {
        /// The limit of the depth.
        max: usize,
    },
    /// The expression uses too many different fields.
    TooManyFields {
        /// The limit.
        max: usize,
    },
    /// `ORDER BY` of the standard's queries is not supported.
    OrderBy,
    /// The type has no description that locates fields: a raw topic, or a serde type.
    NoDescription,
}

impl ExpressionError {
    pub(super) fn new(position: usize, kind: ExpressionErrorKind) -> Self {
        Self { inner: Box::new((position, kind)) }
    }

    /// Creates [`ExpressionErrorKind::NoDescription`]: the topic's type has no description.
    #[must_use]
    pub fn no_description() -> Self {
        Self::new(0, ExpressionErrorKind::NoDescription)
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ExpressionErrorKind {
        &self.inner.1
    }

    /// The position in the expression, in bytes from its beginning.
    #[must_use]
    pub fn position(&self) -> usize {
        self.inner.0
    }

    /// How to correct the expression.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self.kind() {
            ExpressionErrorKind::Syntax { .. } => {
                "write `field = 'text'`, `field BETWEEN 1 AND %0`, … joined by AND, OR, NOT and parentheses"
            }
            ExpressionErrorKind::UnknownField { .. } => {
                "name a field of the topic's type, nested fields with dots (`pose.x`)"
            }
            ExpressionErrorKind::UnknownEnumerator { .. } => "write a literal of the enum in quotes, or its number",
            ExpressionErrorKind::NotComparable { .. } => {
                "compare a number, string, bool, character or enumerator inside of it"
            }
            ExpressionErrorKind::Incomparable { .. } => "compare numbers with numbers and strings with strings",
            ExpressionErrorKind::Literal { .. } => {
                "write a value of the field's kind, with quotes around strings and enumerators"
            }
            ExpressionErrorKind::IndexBeyondEnd { .. } => "use an index from 0 to the length minus 1",
            ExpressionErrorKind::NotIndexed { .. } => "remove the index",
            ExpressionErrorKind::NoField => "write a field on one side",
            ExpressionErrorKind::MissingParameter { .. } => {
                "pass a value for each parameter, from %0 to the highest in use"
            }
            ExpressionErrorKind::TooManyParameters { .. } => "remove the parameters that the expression does not use",
            ExpressionErrorKind::NotAPattern => "compare a string field with a quoted pattern or a parameter",
            ExpressionErrorKind::OpenSet => "close the set with `]`, or write `\\[` for the character",
            ExpressionErrorKind::PatternTooLong { .. } => "use a shorter pattern",
            ExpressionErrorKind::TooLong { .. } => "use a shorter expression or shorter parameters",
            ExpressionErrorKind::PatternsTooLarge { .. } => "use fewer or shorter patterns",
            ExpressionErrorKind::TooManySteps { .. } => "use BETWEEN or patterns instead of many comparisons",
            ExpressionErrorKind::TooDeep { .. } => "remove unnecessary parentheses",
            ExpressionErrorKind::TooManyFields { .. } => "compare fewer fields",
            ExpressionErrorKind::OrderBy => "remove ORDER BY, and sort the samples in your program",
            ExpressionErrorKind::NoDescription => "use a type with #[derive(DdsType)]",
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "filter, at byte {}: {}; {}", self.position(), self.kind(), self.next_step())
    }
}

impl std::error::Error for ExpressionError {}

impl fmt::Display for ExpressionErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { expected, found } if found.is_empty() => {
                write!(f, "expected {expected}, found the end of the expression")
            }
            Self::Syntax { expected, found } => write!(f, "expected {expected}, found `{found}`"),
            Self::UnknownField { field, of, similar } => {
                write!(f, "`{of}` has no field `{field}`")?;
                suggest(f, similar.as_deref())
            }
            Self::UnknownEnumerator { literal, of, similar } => {
                write!(f, "`{of}` has no literal `{literal}`")?;
                suggest(f, similar.as_deref())
            }
            Self::NotComparable { field, kind } => write!(f, "`{field}` is {kind}, which cannot be compared"),
            Self::Incomparable { left, right } => write!(f, "{left} cannot be compared with {right}"),
            Self::Literal { literal, expected } => write!(f, "`{literal}` is not {expected}"),
            Self::IndexBeyondEnd { index, len } => write!(f, "index {index} is beyond the end; the length is {len}"),
            Self::NotIndexed { field } => write!(f, "`{field}` is neither an array nor a sequence"),
            Self::NoField => f.write_str("the comparison contains no field"),
            Self::MissingParameter { number, given } => {
                write!(f, "parameter %{number} has no value; {given} parameters are given")
            }
            Self::TooManyParameters { given, used } => {
                write!(f, "{given} parameters are given, but the expression uses {used}")
            }
            Self::NotAPattern => f.write_str("only strings can be compared with a pattern"),
            Self::OpenSet => f.write_str("a character set has no end"),
            Self::PatternTooLong { max } => write!(f, "a pattern has more than {max} characters or alternatives"),
            Self::TooLong { len, max } => {
                write!(f, "the expression and its parameters have {len} bytes, at most {max} are allowed")
            }
            Self::PatternsTooLarge { of, max } => write!(f, "all patterns together have more than {max} {of}"),
            Self::TooManySteps { max } => write!(f, "more than {max} comparisons, AND, OR and NOT together"),
            Self::TooDeep { max } => write!(f, "nested deeper than {max} levels"),
            Self::TooManyFields { max } => write!(f, "more than {max} different fields"),
            Self::OrderBy => f.write_str("ORDER BY is not supported"),
            Self::NoDescription => f.write_str("the topic's type has no description that locates its fields"),
        }
    }
}

fn suggest(f: &mut fmt::Formatter<'_>, similar: Option<&str>) -> fmt::Result {
    match similar {
        Some(similar) => write!(f, "; did you mean `{similar}`?"),
        None => Ok(()),
    }
}
