//! Conversions from dynamic data to Rust values.

use super::graph::NodeKind;
use super::input::InputValue;
use super::{DataError, DynamicData, DynamicRef};
use crate::cdr::dynamic::PrimitiveKind;
use crate::cdr::{Char16, F128};

/// A Rust type that a part of a [`DynamicData`] can be converted to.
///
/// Any integer type can hold an integer in its range. A floating-point type must hold all values of the source type.
/// An enum converts to its value or the name of its literal, a bitmask to its bits. An `Option` is `None` for a
/// missing part: an absent or unselected member, an element beyond the end, or a missing key of a map.
pub trait FromDynamic<'a>: Sized {
    /// Converts a value.
    ///
    /// # Errors
    /// The value cannot be converted.
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError>;

    /// Converts the result of a lookup.
    ///
    /// # Errors
    /// The part was not found, or cannot be converted.
    fn from_found(found: Result<DynamicRef<'a>, DataError>) -> Result<Self, DataError> {
        Self::from_dynamic(found?)
    }
}

/// A Rust number with a corresponding DDS type, for [`DynamicRef::as_slice`].
pub trait PrimitiveKindOf {
    /// Whether numbers of this kind have this Rust type.
    #[doc(hidden)]
    fn is_of(kind: PrimitiveKind) -> bool;
}

macro_rules! kinds {
    ($($number:ty: $($kind:ident)|*;)*) => {$(
        impl PrimitiveKindOf for $number {
            fn is_of(kind: PrimitiveKind) -> bool {
                matches!(kind, $(PrimitiveKind::$kind)|*)
            }
        }
    )*};
}

kinds! {
    u8: UInt8 | Octet;
    i8: Int8;
    u16: UInt16;
    i16: Int16;
    u32: UInt32;
    i32: Int32;
    u64: UInt64;
    i64: Int64;
    f32: Float32;
    f64: Float64;
    bool: Bool;
}

/// The number of an integer, enum, bitmask or bitset.
fn integer(value: DynamicRef<'_>) -> Result<i128, DataError> {
    match (value.view().kind(), value.scalar()) {
        (_, Some(InputValue::Int(number))) => Ok(number),
        // The bits are extended with the sign, so the cast gives the number of the literal.
        (NodeKind::Enum(_), _) => Ok((value.bits() as u64 as i64).into()),
        (NodeKind::Bitmask(_) | NodeKind::Bitset(_), _) => Ok((value.bits() as u64).into()),
        _ => Err(value.wrong_type("an integer")),
    }
}

macro_rules! integers {
    ($($number:ty),*) => {$(
        impl<'a> FromDynamic<'a> for $number {
            fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
                let number = integer(value)?;
                Self::try_from(number).map_err(|_| DataError::OutOfRange {
                    ty: stringify!($number).to_owned(),
                    value: number.to_string(),
                })
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, usize);

impl<'a> FromDynamic<'a> for f64 {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match value.scalar() {
            Some(InputValue::Float(number)) => Ok(number),
            // Only if no digit is lost: 2^53 + 1 is not an `f64`.
            Some(InputValue::Int(number)) if (number as Self) as i128 == number => Ok(number as Self),
            _ => Err(value.wrong_type("an `f64`")),
        }
    }
}

impl<'a> FromDynamic<'a> for f32 {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match (value.view().kind(), value.scalar()) {
            (NodeKind::Primitive(PrimitiveKind::Float32), Some(InputValue::Float(number))) => Ok(number as Self),
            (_, Some(InputValue::Int(number))) if (number as Self) as i128 == number => Ok(number as Self),
            _ => Err(value.wrong_type("an `f32`")),
        }
    }
}

impl<'a> FromDynamic<'a> for F128 {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match value.scalar() {
            Some(InputValue::Float128(number)) => Ok(number),
            Some(InputValue::Float(number)) => Ok(number.into()),
            _ => Err(value.wrong_type("an `F128`")),
        }
    }
}

impl<'a> FromDynamic<'a> for bool {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match value.scalar() {
            Some(InputValue::Bool(value)) => Ok(value),
            _ => Err(value.wrong_type("a `bool`")),
        }
    }
}

impl<'a> FromDynamic<'a> for char {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match value.scalar() {
            Some(InputValue::Char(letter)) => Ok(letter),
            _ => Err(value.wrong_type("a `char`")),
        }
    }
}

impl<'a> FromDynamic<'a> for Char16 {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match value.view().kind() {
            // By its bits, because half of a surrogate pair is no `char`.
            NodeKind::Primitive(PrimitiveKind::Char16) => Ok(Self(value.bits() as u16)),
            _ => Err(value.wrong_type("a `Char16`")),
        }
    }
}

impl<'a> FromDynamic<'a> for &'a str {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match (value.as_str(), value.literal()) {
            (Some(text), _) | (None, Some(text)) => Ok(text),
            (None, None) => Err(value.wrong_type("text")),
        }
    }
}

impl<'a> FromDynamic<'a> for String {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        <&str>::from_dynamic(value).map(str::to_owned)
    }
}

impl<'a> FromDynamic<'a> for DynamicRef<'a> {
    fn from_dynamic(value: Self) -> Result<Self, DataError> {
        Ok(value)
    }
}

impl<'a> FromDynamic<'a> for DynamicData {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        Ok(value.to_data())
    }
}

impl<'a, T: FromDynamic<'a>> FromDynamic<'a> for Vec<T> {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        match value.view().kind() {
            NodeKind::Sequence { .. } | NodeKind::Array { .. } => value.elements().map(T::from_dynamic).collect(),
            _ => Err(value.wrong_type("several values")),
        }
    }
}

impl<'a, T: FromDynamic<'a>> FromDynamic<'a> for Option<T> {
    fn from_dynamic(value: DynamicRef<'a>) -> Result<Self, DataError> {
        T::from_dynamic(value).map(Some)
    }

    fn from_found(found: Result<DynamicRef<'a>, DataError>) -> Result<Self, DataError> {
        match found {
            Ok(value) => Self::from_dynamic(value),
            Err(
                // Each of these means that the path is right and no value is there.
                DataError::Absent { .. }
                | DataError::NotSelected { .. }
                | DataError::NoElement { .. }
                | DataError::NoKey { .. },
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
