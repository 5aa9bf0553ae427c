//! A compiled expression.
//!
//! Each predicate sets one flag. `AND` and `OR` jump over predicates that cannot change it any more, and `NOT` inverts
//! it. Evaluation needs no stack, and evaluates each predicate at most once.

use super::compare::{Comparable, Constant};
use super::pattern::Pattern;
use super::syntax::Relation;
use crate::cdr::FieldValue;

/// The instructions of an expression.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
}

#[derive(Debug, Clone)]
pub(super) enum Instruction {
    Test(CompiledPredicate),
    /// Jumps to the instruction with index `to` if the flag has this value.
    Jump {
        if_flag_is: bool,
        to: usize,
    },
    Invert,
}

#[derive(Debug, Clone)]
pub(super) enum CompiledPredicate {
    Compare { left: CompiledOperand, relation: Relation, right: CompiledOperand },
    Between { field: usize, is_negated: bool, low: CompiledOperand, high: CompiledOperand },
    Matches { field: usize, pattern: Pattern },
}

#[derive(Debug, Clone)]
pub(super) enum CompiledOperand {
    /// The field with this index.
    Field(usize),
    Constant(Constant),
}

impl Program {
    /// Whether values of fields pass. A program without instructions passes every sample.
    pub(super) fn run(&self, values: &[FieldValue<'_>]) -> bool {
        let (mut flag, mut next) = (true, 0);
        // Jumps only go forward, so the loop ends.
        while let Some(instruction) = self.instructions.get(next) {
            next += 1;
            match instruction {
                Instruction::Test(test) => flag = test.passes(values),
                Instruction::Jump { if_flag_is, to } if flag == *if_flag_is => {
                    debug_assert!(*to >= next, "jumps go forward");
                    next = next.max(*to);
                }
                Instruction::Jump { .. } => {}
                Instruction::Invert => flag = !flag,
            }
        }
        flag
    }
}

#[cfg(test)]
impl Program {
    /// Allocated bytes.
    pub(super) fn memory(&self) -> usize {
        let of_operand = |operand: &CompiledOperand| match operand {
            CompiledOperand::Constant(Constant::Text(text)) => text.len(),
            _ => 0,
        };
        let of_instruction = |instruction: &Instruction| match instruction {
            Instruction::Test(CompiledPredicate::Compare { left, right, .. }) => of_operand(left) + of_operand(right),
            Instruction::Test(CompiledPredicate::Between { low, high, .. }) => of_operand(low) + of_operand(high),
            Instruction::Test(CompiledPredicate::Matches { pattern, .. }) => pattern.memory(),
            Instruction::Jump { .. } | Instruction::Invert => 0,
        };
        self.instructions.capacity() * size_of::<Instruction>()
            + self.instructions.iter().map(of_instruction).sum::<usize>()
    }
}

impl CompiledPredicate {
    /// Whether the predicate is true. A predicate with an absent value is false.
    fn passes(&self, values: &[FieldValue<'_>]) -> bool {
        match self {
            Self::Compare { left, relation, right } => {
                // An absent field fulfills no comparison, as NULL does in SQL.
                let (Some(left), Some(right)) = (left.value(values), right.value(values)) else { return false };
                match left.order(right) {
                    Some(order) => relation.holds(order),
                    // IEEE 754: NaN is unequal to every value.
                    None => *relation == Relation::NotEqual,
                }
            }
            Self::Between { field, is_negated, low, high } => {
                let field = CompiledOperand::Field(*field);
                let sides = (field.value(values), low.value(values), high.value(values));
                let (Some(value), Some(low), Some(high)) = sides else { return false };
                let is_above = value.order(low).is_some_and(|order| order.is_ge());
                let is_below = value.order(high).is_some_and(|order| order.is_le());
                (is_above && is_below) != *is_negated
            }
            Self::Matches { field, pattern } => match values.get(*field) {
                Some(value) => pattern.matches(*value),
                None => false,
            },
        }
    }
}

impl CompiledOperand {
    fn value<'a>(&'a self, values: &[FieldValue<'a>]) -> Option<Comparable<'a>> {
        match self {
            Self::Field(field) => Comparable::of_value(*values.get(*field)?),
            Self::Constant(constant) => Some(Comparable::of_constant(constant)),
        }
    }
}
