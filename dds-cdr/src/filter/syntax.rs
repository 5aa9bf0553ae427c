//! A parsed expression, before fields are resolved and parameters replaced.

/// A condition of DDS 1.4, Annex B.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FilterCondition {
    /// A comparison.
    Predicate(Predicate),
    /// True if all conditions are true.
    All(Vec<FilterCondition>),
    /// True if at least one condition is true.
    Any(Vec<FilterCondition>),
    /// True if the condition is false.
    Not(Box<FilterCondition>),
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Predicate {
    Compare { left: Operand, relation: Relation, right: Operand },
    Between { field: Operand, is_negated: bool, low: Operand, high: Operand },
    Matches { field: Operand, language: Language, pattern: Operand },
}

/// A relation between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// `LIKE`: `%` for any characters, `_` for one.
    Sql,
    /// `MATCH`: a list of POSIX `fnmatch` patterns, separated by commas.
    Shell,
}

/// One side of a comparison, with its position in the expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) position: usize,
    pub(super) term: Term,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    Field(Vec<PathPart>),
    Integer(i128),
    Float(f64),
    Bool(bool),
    /// A text in quotes.
    Text(String),
    Parameter(u8),
}

/// A part of the path of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathPart {
    Member(String),
    Element(u32),
}

impl Relation {
    pub(super) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
