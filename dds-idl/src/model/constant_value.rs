//! Values of constants, defaults and annotation parameters.

use super::DefinitionId;
use std::sync::Arc;

/// A value. The type of its constant, member or parameter says how to read it.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantValue {
    /// `boolean`.
    Bool(bool),
    /// Any integer type, `octet`, a bitmask, or a bitset.
    Integer(i128),
    /// `float`, `double` or `long double`. A `float` has the precision of `f32` already.
    Float(f64),
    /// `fixed`.
    Fixed(FixedPoint),
    /// `char`. Its code is at most 255.
    Char(char),
    /// `wchar`.
    WChar(char),
    /// `string`. `\xHH` is the character with this code.
    String(Arc<str>),
    /// `wstring`.
    WString(Arc<str>),
    /// An enumerator: the enum, and the index of the enumerator in it.
    Enumerator(DefinitionId, usize),
    /// A sequence or an array: the default of a member.
    List(Vec<Self>),
}

/// A decimal number: `digits` / 10^`scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedPoint {
    /// All digits, with the sign.
    pub digits: i128,
    /// Number of digits behind the point.
    pub scale: u8,
}

impl ConstantValue {
    /// Returns the value of an integer.
    #[must_use]
    pub fn as_integer(&self) -> Option<i128> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    /// Returns the value of a `boolean`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns the text of a `string` or `wstring`.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) | Self::WString(text) => Some(text),
            _ => None,
        }
    }
}
