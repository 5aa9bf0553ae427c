//! Why an expression is none.

use std::fmt;

/// What is wrong with a filter expression, or with its parameters, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// One that is never looked at costs a pointer.
    inner: Box<(usize, FilterErrorKind)>,
}

/// What can be wrong with a filter expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterErrorKind {
    /// The text is no expression of DDS 1.4, Annex B.
    Syntax {
        /// What could have stood there.
        expected: &'static str,
        /// What stands there; empty at the end of the expression.
        found: String,
    },
    /// The type has no such field.
    UnknownField {
        /// The name.
        field: String,
        /// The type that does not have it.
        of: String,
        /// A name that it has and that may have been meant.
        similar: Option<String>,
    },
    /// The enum has no such literal.
    UnknownEnumerator {
        /// The name.
        literal: String,
        /// The enum.
        of: String,
        /// A name that it has and that may have been meant.
        similar: Option<String>,
    },
    /// The field is no number, text, bool, character or enumerator.
    NotComparable {
        /// The field.
        field: String,
        /// What it is.
        kind: &'static str,
    },
    /// Values of these two kinds are never compared.
    Incomparable {
        /// The kind of one.
        left: &'static str,
        /// The kind of the other.
        right: &'static str,
    },
    /// The literal, or the value of the parameter, is none of the kind of the field.
    Literal {
        /// It.
        literal: String,
        /// The kind of the field.
        expected: &'static str,
    },
    /// An element behind the end of an array, or beyond the bound of a sequence.
    IndexBeyondEnd {
        /// The index, from 0.
        index: u64,
        /// How many elements there can be.
        len: u64,
    },
    /// A field that is neither an array nor a sequence has an index.
    NotIndexed {
        /// The field.
        field: String,
    },
    /// A predicate that compares no field.
    NoField,
    /// The expression names a parameter that was not given.
    MissingParameter {
        /// Its number, from 0.
        number: u8,
        /// How many were given.
        given: usize,
    },
    /// More parameters were given than the expression names.
    TooManyParameters {
        /// How many were given.
        given: usize,
        /// How many it names, counted up to the highest.
        used: usize,
    },
    /// `LIKE` and `MATCH` compare texts with patterns, and nothing else.
    NotAPattern,
    /// A set of characters (`[`) in a pattern of `MATCH` does not end.
    OpenSet,
    /// A pattern has more characters, or a list more patterns, than are allowed.
    PatternTooLong {
        /// How many are allowed.
        max: usize,
    },
    /// All patterns of the expression together have more of something than is allowed. A parameter counts at each mention.
    PatternsTooLarge {
        /// Of what.
        of: &'static str,
        /// How many are allowed.
        max: usize,
    },
    /// The expression has more comparisons, `AND`, `OR` and `NOT` together than are allowed.
    TooManySteps {
        /// How many are allowed.
        max: usize,
    },
    /// The expression, or the expression and its parameters, have more bytes than are allowed; or the parameters alone have, if
    /// each is counted as often as it is named.
    TooLong {
        /// How many they have.
        len: usize,
        /// How many are allowed.
        max: usize,
    },
    /// Parentheses, `NOT` or nested fields go deeper than is allowed.
    TooDeep {
        /// How deep they may go.
        max: usize,
    },
    /// The expression names more different fields than are allowed.
    TooManyFields {
        /// How many are allowed.
        max: usize,
    },
    /// `ORDER BY`, which belongs to queries of the standard and is not supported.
    OrderBy,
    /// The type has no description, so that fields cannot be found in its samples: it is raw, or known to serde only.
    NoDescription,
}

impl FilterError {
    pub(super) fn new(position: usize, kind: FilterErrorKind) -> Self {
        Self { inner: Box::new((position, kind)) }
    }

    /// The topic's type has no description ([`FilterErrorKind::NoDescription`]).
    #[must_use]
    pub fn no_description() -> Self {
        Self::new(0, FilterErrorKind::NoDescription)
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &FilterErrorKind {
        &self.inner.1
    }

    /// Where, in bytes from the beginning of the expression.
    #[must_use]
    pub fn position(&self) -> usize {
        self.inner.0
    }

    /// What to do about it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self.kind() {
            FilterErrorKind::Syntax { .. } => {
                "write `field = 'text'`, `field BETWEEN 1 AND %0`, … joined by AND, OR, NOT and parentheses"
            }
            FilterErrorKind::UnknownField { .. } => "name a field of the topic's type; nested ones by dots (`pose.x`)",
            FilterErrorKind::UnknownEnumerator { .. } => "name a literal of the enum in quotes, or give its number",
            FilterErrorKind::NotComparable { .. } => {
                "compare a number, text, bool, character or enumerator inside of it"
            }
            FilterErrorKind::Incomparable { .. } => "compare numbers with numbers and texts with texts",
            FilterErrorKind::Literal { .. } => {
                "give a value of the field's kind; texts and enumerators stand in quotes"
            }
            FilterErrorKind::IndexBeyondEnd { .. } => "count elements from 0",
            FilterErrorKind::NotIndexed { .. } => "leave the index out",
            FilterErrorKind::NoField => "name a field on one side",
            FilterErrorKind::MissingParameter { .. } => "give a value for each of %0 to the highest that is named",
            FilterErrorKind::TooManyParameters { .. } => "leave out what the expression does not name",
            FilterErrorKind::NotAPattern => "compare a text field with a quoted pattern, or a parameter that is one",
            FilterErrorKind::OpenSet => "close it with `]`, or write `\\[` for the character",
            FilterErrorKind::PatternTooLong { .. } | FilterErrorKind::TooLong { .. } => "make it shorter",
            FilterErrorKind::PatternsTooLarge { .. } => "use fewer or shorter patterns, or name them fewer times",
            FilterErrorKind::TooManySteps { .. } => "use BETWEEN or patterns instead of many comparisons",
            FilterErrorKind::TooDeep { .. } => "leave out parentheses that are not needed",
            FilterErrorKind::TooManyFields { .. } => "compare fewer fields",
            FilterErrorKind::OrderBy => "leave ORDER BY out, and sort what was read",
            FilterErrorKind::NoDescription => "use a type with #[derive(DdsType)]",
        }
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "filter, at byte {}: {}; {}", self.position(), self.kind(), self.next_step())
    }
}

impl std::error::Error for FilterError {}

impl fmt::Display for FilterErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meant = |f: &mut fmt::Formatter<'_>, similar: &Option<String>| match similar {
            Some(similar) => write!(f, "; did you mean `{similar}`?"),
            None => Ok(()),
        };
        match self {
            Self::Syntax { expected, found } if found.is_empty() => {
                write!(f, "expected {expected}, and it ends here")
            }
            Self::Syntax { expected, found } => write!(f, "expected {expected}, found `{found}`"),
            Self::UnknownField { field, of, similar } => {
                write!(f, "`{of}` has no field `{field}`")?;
                meant(f, similar)
            }
            Self::UnknownEnumerator { literal, of, similar } => {
                write!(f, "`{of}` has no literal `{literal}`")?;
                meant(f, similar)
            }
            Self::NotComparable { field, kind } => write!(f, "`{field}` is {kind}, which cannot be compared"),
            Self::Incomparable { left, right } => write!(f, "{left} and {right} are never compared"),
            Self::Literal { literal, expected } => write!(f, "`{literal}` is not {expected}"),
            Self::IndexBeyondEnd { index, len } => write!(f, "element {index} of {len}"),
            Self::NotIndexed { field } => write!(f, "`{field}` is neither an array nor a sequence"),
            Self::NoField => f.write_str("nothing here is a field"),
            Self::MissingParameter { number, given } => write!(f, "parameter %{number} is missing, of {given} given"),
            Self::TooManyParameters { given, used } => write!(f, "{given} parameters given, {used} named"),
            Self::NotAPattern => f.write_str("only texts have patterns"),
            Self::OpenSet => f.write_str("a set of characters does not end"),
            Self::PatternTooLong { max } => write!(f, "a pattern is longer than {max}"),
            Self::TooLong { len, max } => write!(f, "{len} bytes with parameters, {max} are allowed"),
            Self::PatternsTooLarge { of, max } => write!(f, "more than {max} {of} in all patterns together"),
            Self::TooManySteps { max } => write!(f, "more than {max} comparisons, AND, OR and NOT together"),
            Self::TooDeep { max } => write!(f, "deeper than {max}"),
            Self::TooManyFields { max } => write!(f, "more than {max} different fields"),
            Self::OrderBy => f.write_str("ORDER BY is not supported"),
            Self::NoDescription => f.write_str("the topic's type has no description to find fields by"),
        }
    }
}
