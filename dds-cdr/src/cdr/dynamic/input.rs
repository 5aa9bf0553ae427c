//! What can be put into a value.

use super::value::Run;
use super::{DynamicData, DynamicRef, PrimitiveKind};
use crate::cdr::{Char16, F128, WString};

/// A value on its way into a [`DynamicData`]: numbers, bools, chars, text, vectors of these, other dynamic data, and `Option`s
/// for optional members.
///
/// Integers fit where their value does, whatever their type is here. Floating-point numbers are rounded where a `float` is
/// set, and integers fit into one if it has exactly that value. Text is also the name of a literal, or of flags with `|`
/// between them.
#[derive(Debug, Clone)]
pub struct Input(pub(super) Given);

#[derive(Debug, Clone)]
pub(super) enum Given {
    Bool(bool),
    Int(i128),
    Float(f64),
    Float128(F128),
    Char(char),
    Text(String),
    Run(PrimitiveKind, Run),
    List(Vec<Input>),
    Data(Box<DynamicData>),
    Absent,
}

impl Given {
    /// What it is, for errors.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an integer",
            Self::Float(_) | Self::Float128(_) => "a floating-point number",
            Self::Char(_) => "a char",
            Self::Text(_) => "text",
            Self::Run(..) | Self::List(_) => "several values",
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
    bool, value => Given::Bool(value);
    i8, value => Given::Int(value.into());
    i16, value => Given::Int(value.into());
    i32, value => Given::Int(value.into());
    i64, value => Given::Int(value.into());
    u8, value => Given::Int(value.into());
    u16, value => Given::Int(value.into());
    u32, value => Given::Int(value.into());
    u64, value => Given::Int(value.into());
    usize, value => Given::Int(value as i128);
    f32, value => Given::Float(value.into());
    f64, value => Given::Float(value);
    F128, value => Given::Float128(value);
    char, value => Given::Char(value);
    Char16, value => Given::Int(value.0.into());
    &str, value => Given::Text(value.to_owned());
    String, value => Given::Text(value);
    WString, value => Given::Text(value.into_string());
    DynamicData, value => Given::Data(Box::new(value));
    &DynamicData, value => Given::Data(Box::new(value.clone()));
    DynamicRef<'_>, value => Given::Data(Box::new(value.to_data()));
    Vec<bool>, value => Given::Run(PrimitiveKind::Bool, Run::Of1(value.into_iter().map(u8::from).collect()));
    Vec<u8>, value => Given::Run(PrimitiveKind::UInt8, Run::Of1(value));
    Vec<i8>, value => Given::Run(PrimitiveKind::Int8, Run::Of1(value.into_iter().map(|number| number as u8).collect()));
    Vec<u16>, value => Given::Run(PrimitiveKind::UInt16, Run::Of2(value));
    Vec<i16>, value => Given::Run(PrimitiveKind::Int16, Run::Of2(value.into_iter().map(|number| number as u16).collect()));
    Vec<u32>, value => Given::Run(PrimitiveKind::UInt32, Run::Of4(value));
    Vec<i32>, value => Given::Run(PrimitiveKind::Int32, Run::Of4(value.into_iter().map(|number| number as u32).collect()));
    Vec<u64>, value => Given::Run(PrimitiveKind::UInt64, Run::Of8(value));
    Vec<i64>, value => Given::Run(PrimitiveKind::Int64, Run::Of8(value.into_iter().map(|number| number as u64).collect()));
    Vec<f32>, value => Given::Run(PrimitiveKind::Float32, Run::Of4(value.into_iter().map(f32::to_bits).collect()));
    Vec<f64>, value => Given::Run(PrimitiveKind::Float64, Run::Of8(value.into_iter().map(f64::to_bits).collect()));
    Vec<String>, value => Given::List(value.into_iter().map(Input::from).collect());
    Vec<&str>, value => Given::List(value.into_iter().map(Input::from).collect());
    Vec<DynamicData>, value => Given::List(value.into_iter().map(Input::from).collect());
    Vec<Input>, value => Given::List(value);
}

impl<T: Clone> From<&[T]> for Input
where
    Vec<T>: Into<Self>,
{
    fn from(values: &[T]) -> Self {
        values.to_vec().into()
    }
}

impl<T, const N: usize> From<[T; N]> for Input
where
    Vec<T>: Into<Self>,
{
    fn from(values: [T; N]) -> Self {
        Vec::from(values).into()
    }
}

impl<T: Into<Self>> From<Option<T>> for Input {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(Given::Absent), Into::into)
    }
}
