//! Inputs: Rust values that can be stored in dynamic data.

use super::value::Primitives;
use super::{DynamicData, DynamicRef, PrimitiveKind};
use crate::cdr::{Char16, F128, WString};

/// An input of [`DynamicData`]: a Rust value to store.
///
/// Inputs are numbers, bools, chars, text, vectors of these, other dynamic data, and `Option`s for optional members. A
/// vector of pairs is a map.
/// Any integer type fits if the value is in range. Floating-point numbers are rounded for a `float`. An integer fits
/// into a floating-point number that represents it exactly. Text also names a literal, or flags separated by `|`.
#[derive(Debug, Clone)]
pub struct Input(pub(super) InputValue);

#[derive(Debug, Clone)]
pub(super) enum InputValue {
    Bool(bool),
    Int(i128),
    Float(f64),
    Float128(F128),
    Char(char),
    Text(String),
    Primitives(PrimitiveKind, Primitives),
    List(Vec<Input>),
    Entries(Vec<(Input, Input)>),
    Data(Box<DynamicData>),
    Absent,
}

impl InputValue {
    /// The kind of input, for errors.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an integer",
            Self::Float(_) | Self::Float128(_) => "a floating-point number",
            Self::Char(_) => "a char",
            Self::Text(_) => "text",
            Self::Primitives(..) | Self::List(_) => "several values",
            Self::Entries(_) => "a map",
            Self::Data(_) => "dynamic data",
            Self::Absent => "no value",
        }
    }
}

macro_rules! given {
    ($($ty:ty, $value:ident => $given:expr;)*) => {$(
        impl From<$ty> for Input {
            fn from($value: $ty) -> Self {
                Self($given)
            }
        }
    )*};
}

given! {
    bool, value => InputValue::Bool(value);
    i8, value => InputValue::Int(value.into());
    i16, value => InputValue::Int(value.into());
    i32, value => InputValue::Int(value.into());
    i64, value => InputValue::Int(value.into());
    u8, value => InputValue::Int(value.into());
    u16, value => InputValue::Int(value.into());
    u32, value => InputValue::Int(value.into());
    u64, value => InputValue::Int(value.into());
    usize, value => InputValue::Int(value as i128);
    f32, value => InputValue::Float(value.into());
    f64, value => InputValue::Float(value);
    F128, value => InputValue::Float128(value);
    char, value => InputValue::Char(value);
    Char16, value => InputValue::Int(value.0.into());
    &str, value => InputValue::Text(value.to_owned());
    String, value => InputValue::Text(value);
    WString, value => InputValue::Text(value.into_string());
    DynamicData, value => InputValue::Data(Box::new(value));
    &DynamicData, value => InputValue::Data(Box::new(value.clone()));
    DynamicRef<'_>, value => InputValue::Data(Box::new(value.to_data()));
    Vec<bool>, value => InputValue::Primitives(PrimitiveKind::Bool, Primitives::Of1(value.into_iter().map(u8::from).collect()));
    Vec<u8>, value => InputValue::Primitives(PrimitiveKind::UInt8, Primitives::Of1(value));
    Vec<i8>, value => InputValue::Primitives(PrimitiveKind::Int8, Primitives::Of1(value.into_iter().map(|number| number as u8).collect()));
    Vec<u16>, value => InputValue::Primitives(PrimitiveKind::UInt16, Primitives::Of2(value));
    Vec<i16>, value => InputValue::Primitives(PrimitiveKind::Int16, Primitives::Of2(value.into_iter().map(|number| number as u16).collect()));
    Vec<u32>, value => InputValue::Primitives(PrimitiveKind::UInt32, Primitives::Of4(value));
    Vec<i32>, value => InputValue::Primitives(PrimitiveKind::Int32, Primitives::Of4(value.into_iter().map(|number| number as u32).collect()));
    Vec<u64>, value => InputValue::Primitives(PrimitiveKind::UInt64, Primitives::Of8(value));
    Vec<i64>, value => InputValue::Primitives(PrimitiveKind::Int64, Primitives::Of8(value.into_iter().map(|number| number as u64).collect()));
    Vec<f32>, value => InputValue::Primitives(PrimitiveKind::Float32, Primitives::Of4(value.into_iter().map(f32::to_bits).collect()));
    Vec<f64>, value => InputValue::Primitives(PrimitiveKind::Float64, Primitives::Of8(value.into_iter().map(f64::to_bits).collect()));
    Vec<String>, value => InputValue::List(value.into_iter().map(Input::from).collect());
    Vec<&str>, value => InputValue::List(value.into_iter().map(Input::from).collect());
    Vec<DynamicData>, value => InputValue::List(value.into_iter().map(Input::from).collect());
    Vec<Input>, value => InputValue::List(value);
    Vec<(Input, Input)>, value => InputValue::Entries(value);
}

impl<T: Clone> From<&[T]> for Input
where
    Vec<T>: Into<Self>,
{
    fn from(values: &[T]) -> Self {
        // A copy: the input outlives the slice.
        values.to_vec().into()
    }
}

impl<T, const N: usize> From<[T; N]> for Input
where
    Vec<T>: Into<Self>,
{
    fn from(values: [T; N]) -> Self {
        // Through `Vec`, so that numbers keep their compact form.
        Vec::from(values).into()
    }
}

impl<T: Into<Self>> From<Option<T>> for Input {
    fn from(value: Option<T>) -> Self {
        // `None` is an input of its own, because only an optional member accepts it.
        value.map_or(Self(InputValue::Absent), Into::into)
    }
}
