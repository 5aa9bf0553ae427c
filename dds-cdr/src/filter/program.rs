//! A compiled expression.
//!
//! Each predicate is a test that sets one flag. `AND` and `OR` jump over what cannot change it any more, `NOT` turns it: no
//! stack is needed, and each test is done once at most.

use super::compare::{Comparable, Constant};
use super::pattern::Pattern;
use super::syntax::Relation;
use crate::cdr::FieldValue;

/// What an expression does, step by step.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Test(Test),
    /// To the step with this index, if the flag is as said.
    Jump {
        if_flag_is: bool,
        to: usize,
    },
    Turn,
}

#[derive(Debug, Clone)]
pub(super) enum Test {
    Compare { left: Side, relation: Relation, right: Side },
    Between { field: usize, is_negated: bool, low: Side, high: Side },
    Fits { field: usize, pattern: Pattern },
}

#[derive(Debug, Clone)]
pub(super) enum Side {
    /// The field with this index.
    Field(usize),
    Constant(Constant),
}

impl Program {
    /// Whether values of fields pass. A program without steps passes everything.
    pub(super) fn run(&self, values: &[FieldValue<'_>]) -> bool {
        let (mut flag, mut at) = (true, 0);
        // Jumps go forward only, so that this ends.
        while let Some(step) = self.steps.get(at) {
            at += 1;
            match step {
                Step::Test(test) => flag = test.passes(values),
                Step::Jump { if_flag_is, to } if flag == *if_flag_is => at = at.max(*to),
                Step::Jump { .. } => {}
                Step::Turn => flag = !flag,
            }
        }
        flag
    }
}

#[cfg(test)]
impl Program {
    /// Bytes that it has allocated.
    pub(super) fn memory(&self) -> usize {
        let of_side = |side: &Side| match side {
            Side::Constant(Constant::Text(text)) => text.len(),
            _ => 0,
        };
        let of_step = |step: &Step| match step {
            Step::Test(Test::Compare { left, right, .. }) => of_side(left) + of_side(right),
            Step::Test(Test::Between { low, high, .. }) => of_side(low) + of_side(high),
            Step::Test(Test::Fits { pattern, .. }) => pattern.memory(),
            Step::Jump { .. } | Step::Turn => 0,
        };
        self.steps.capacity() * size_of::<Step>() + self.steps.iter().map(of_step).sum::<usize>()
    }
}

impl Test {
    /// A test of what was not sent is not passed, whatever it asks.
    fn passes(&self, values: &[FieldValue<'_>]) -> bool {
        match self {
            Self::Compare { left, relation, right } => {
                let (Some(left), Some(right)) = (left.value(values), right.value(values)) else { return false };
                match left.order(right) {
                    Some(order) => relation.holds(order),
                    // As IEEE 754 says: NaN is unequal to everything.
                    None => *relation == Relation::NotEqual,
                }
            }
            Self::Between { field, is_negated, low, high } => {
                let field = Side::Field(*field);
                let sides = (field.value(values), low.value(values), high.value(values));
                let (Some(value), Some(low), Some(high)) = sides else { return false };
                let is_above = value.order(low).is_some_and(|order| order.is_ge());
                let is_below = value.order(high).is_some_and(|order| order.is_le());
                (is_above && is_below) != *is_negated
            }
            Self::Fits { field, pattern } => values.get(*field).is_some_and(|value| pattern.fits(*value)),
        }
    }
}

impl Side {
    fn value<'a>(&'a self, values: &[FieldValue<'a>]) -> Option<Comparable<'a>> {
        match self {
            Self::Field(field) => values.get(*field).and_then(|value| Comparable::of_value(*value)),
            Self::Constant(constant) => Some(Comparable::of_constant(constant)),
        }
    }
}
