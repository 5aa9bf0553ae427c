//! An expression as it was written: names are not looked up, parameters not put in.

/// A condition of DDS 1.4, Annex B.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// A comparison.
    Predicate(Predicate),
    /// True if all of these are.
    All(Vec<Condition>),
    /// True if one of these is.
    Any(Vec<Condition>),
    /// True if this is not.
    Not(Box<Condition>),
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Predicate {
    Compare { left: Operand, relation: Relation, right: Operand },
    Between { field: Operand, is_negated: bool, low: Operand, high: Operand },
    Fits { field: Operand, language: Language, pattern: Operand },
}

/// How two values stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What a pattern is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// `LIKE`: `%` for any characters, `_` for one.
    Sql,
    /// `MATCH`: a list of patterns of POSIX `fnmatch`, with commas between them.
    Shell,
}

/// One side of a comparison, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) position: usize,
    pub(super) term: Term,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    Field(Vec<Name>),
    Integer(i128),
    Float(f64),
    Bool(bool),
    /// What stood in quotes.
    Text(String),
    Parameter(u8),
}

/// A part of a field's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
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
