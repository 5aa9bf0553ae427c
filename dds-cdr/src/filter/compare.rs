//! Compares the values of two fields, or of a field and a constant.

use crate::cdr::FieldValue;
use std::cmp::Ordering;

/// A constant operand of a comparison.
#[derive(Debug, Clone)]
pub(super) enum Constant {
    Integer(i128),
    Float(f64),
    Text(Box<[u8]>),
}

/// An operand of a comparison: the value of a field, or a constant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Comparable<'a> {
    Integer(i128),
    Float(f64),
    Text(FieldValue<'a>),
}

impl<'a> Comparable<'a> {
    pub(super) fn of_constant(constant: &'a Constant) -> Self {
        match constant {
            Constant::Integer(number) => Self::Integer(*number),
            Constant::Float(number) => Self::Float(*number),
            Constant::Text(text) => Self::Text(FieldValue::Text(text)),
        }
    }

    /// Returns `None` for an absent value.
    pub(super) fn of_value(value: FieldValue<'a>) -> Option<Self> {
        Some(match value {
            FieldValue::Absent => return None,
            FieldValue::Signed(number) => Self::Integer(number.into()),
            FieldValue::Unsigned(number) => Self::Integer(number.into()),
            FieldValue::Float(number) => Self::Float(number),
            FieldValue::Text(_) | FieldValue::WideText(..) => Self::Text(value),
        })
    }

    /// The order of two values; `None` if they have no order, such as NaN.
    ///
    /// Numbers are compared by value, without a conversion to the other type: 2^53 + 1 is not equal to the float 2^53.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(&other)),
            (Self::Float(one), Self::Float(other)) => one.partial_cmp(&other),
            // Exact: a conversion to `f64` would round integers above 2^53.
            (Self::Integer(one), Self::Float(other)) => order_of_integer_and_float(one, other),
            (Self::Float(one), Self::Integer(other)) => order_of_integer_and_float(other, one).map(Ordering::reverse),
            // Bytes of UTF-8 have the order of their characters.
            (Self::Text(FieldValue::Text(one)), Self::Text(FieldValue::Text(other))) => Some(one.cmp(other)),
            (Self::Text(one), Self::Text(other)) => Some(one.characters().cmp(other.characters())),
            // The compiler pairs comparable kinds only.
            (Self::Text(_), _) | (_, Self::Text(_)) => {
                debug_assert!(false, "a string is compared with a number");
                None
            }
        }
    }
}

fn order_of_integer_and_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // The cast saturates far beyond the range of any integer field.
    let whole = float.trunc();
    Some(integer.cmp(&(whole as i128)).then_with(|| whole.total_cmp(&float)).then(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_and_float_are_compared_by_value() {
        let order = order_of_integer_and_float;
        assert_eq!(order(1, 1.0), Some(Ordering::Equal));
        assert_eq!(order(0, -0.0), Some(Ordering::Equal));
        assert_eq!(order((1 << 53) + 1, (1_i64 << 53) as f64), Some(Ordering::Greater));
        assert_eq!(order(1, 1.5), Some(Ordering::Less));
        assert_eq!(order(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(order(-1, -0.5), Some(Ordering::Less));
        assert_eq!(order(i128::from(u64::MAX), f64::INFINITY), Some(Ordering::Less));
        assert_eq!(order(0, f64::NAN), None);
    }
}
