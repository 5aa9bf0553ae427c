//! Values of parameters, and the types of Rust that stand for them.

use dds_ros2_msgs::rcl_interfaces::msg::ParameterValue as Message;
use std::fmt;

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum ParameterValue {
    /// No value: the parameter does not exist.
    #[default]
    NotSet,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Double(f64),
    /// A text.
    String(String),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Truth values.
    BoolArray(Vec<bool>),
    /// Integers.
    IntegerArray(Vec<i64>),
    /// Floating-point numbers.
    DoubleArray(Vec<f64>),
    /// Texts.
    StringArray(Vec<String>),
}

impl ParameterValue {
    /// The number of types. Theirs are below it.
    pub(crate) const KINDS: u8 = 10;

    /// Returns the number of the type, a constant of `rcl_interfaces/msg/ParameterType`.
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            Self::NotSet => 0,
            Self::Bool(_) => 1,
            Self::Integer(_) => 2,
            Self::Double(_) => 3,
            Self::String(_) => 4,
            Self::ByteArray(_) => 5,
            Self::BoolArray(_) => 6,
            Self::IntegerArray(_) => 7,
            Self::DoubleArray(_) => 8,
            Self::StringArray(_) => 9,
        }
    }

    /// Returns the name of the type in ROS 2, such as `integer`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        const NAMES: [&str; ParameterValue::KINDS as usize] = [
            "not set",
            "bool",
            "integer",
            "double",
            "string",
            "byte_array",
            "bool_array",
            "integer_array",
            "double_array",
            "string_array",
        ];
        NAMES[usize::from(self.kind())]
    }

    /// Whether two values are the same. Compares the bits of doubles, so that NaN is the same as itself.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_same = |(own, other): (&f64, &f64)| own.to_bits() == other.to_bits();
        match (self, other) {
            (Self::Double(own), Self::Double(other)) => is_same((own, other)),
            (Self::DoubleArray(own), Self::DoubleArray(other)) => {
                own.len() == other.len() && own.iter().zip(other).all(is_same)
            }
            _ => self == other,
        }
    }

    /// Returns the value for a parameter with this default. An empty array fits each type of array.
    pub(crate) fn for_declaration(&self, default: &Self) -> Self {
        match (self, default) {
            (Self::StringArray(values), _) if !values.is_empty() => self.clone(),
            (Self::StringArray(_), Self::ByteArray(_)) => Self::ByteArray(Vec::new()),
            (Self::StringArray(_), Self::BoolArray(_)) => Self::BoolArray(Vec::new()),
            (Self::StringArray(_), Self::IntegerArray(_)) => Self::IntegerArray(Vec::new()),
            (Self::StringArray(_), Self::DoubleArray(_)) => Self::DoubleArray(Vec::new()),
            _ => self.clone(),
        }
    }

    /// Whether a text contains NUL, which CDR cannot encode.
    pub(crate) fn has_nul(&self) -> bool {
        match self {
            Self::String(value) => value.contains('\0'),
            Self::StringArray(values) => values.iter().any(|value| value.contains('\0')),
            _ => false,
        }
    }

    /// Returns about how many bytes the value takes in a message.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::NotSet | Self::Bool(_) | Self::Integer(_) | Self::Double(_) => 8,
            Self::String(value) => value.len(),
            Self::ByteArray(values) => values.len(),
            Self::BoolArray(values) => values.len(),
            Self::IntegerArray(values) => 8 * values.len(),
            Self::DoubleArray(values) => 8 * values.len(),
            Self::StringArray(values) => values.iter().map(|value| value.len() + 8).sum(),
        }
    }

    pub(crate) fn to_message(&self) -> Message {
        let mut message = Message { r#type: self.kind(), ..Message::default() };
        match self.clone() {
            Self::NotSet => {}
            Self::Bool(value) => message.bool_value = value,
            Self::Integer(value) => message.integer_value = value,
            Self::Double(value) => message.double_value = value,
            Self::String(value) => message.string_value = value,
            Self::ByteArray(value) => message.byte_array_value = value,
            Self::BoolArray(value) => message.bool_array_value = value,
            Self::IntegerArray(value) => message.integer_array_value = value,
            Self::DoubleArray(value) => message.double_array_value = value,
            Self::StringArray(value) => message.string_array_value = value,
        }
        message
    }

    /// Returns the value of a message. An unknown type counts as no value.
    pub(crate) fn of_message(message: Message) -> Self {
        match message.r#type {
            1 => Self::Bool(message.bool_value),
            2 => Self::Integer(message.integer_value),
            3 => Self::Double(message.double_value),
            4 => Self::String(message.string_value),
            5 => Self::ByteArray(message.byte_array_value),
            6 => Self::BoolArray(message.bool_array_value),
            7 => Self::IntegerArray(message.integer_array_value),
            8 => Self::DoubleArray(message.double_array_value),
            9 => Self::StringArray(message.string_array_value),
            _ => Self::NotSet,
        }
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet => f.write_str("not set"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Double(value) => fmt::Debug::fmt(value, f),
            Self::String(value) => value.fmt(f),
            Self::ByteArray(value) => fmt::Debug::fmt(value, f),
            Self::BoolArray(value) => fmt::Debug::fmt(value, f),
            Self::IntegerArray(value) => fmt::Debug::fmt(value, f),
            Self::DoubleArray(value) => fmt::Debug::fmt(value, f),
            Self::StringArray(value) => fmt::Debug::fmt(value, f),
        }
    }
}

/// A type of Rust that parameters can have.
///
/// The types of [`ParameterValue`] implement it. Other crates cannot, because each value must keep its type.
pub trait ParameterType: sealed::Sealed + Clone + Send + Sync + 'static {
    /// Returns the value as a parameter.
    fn into_value(self) -> ParameterValue;

    /// Returns the value of a parameter, or `None` if it has another type.
    fn from_value(value: ParameterValue) -> Option<Self>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! parameter_types {
    ($($ty:ty => $variant:ident,)*) => {
        $(
            impl sealed::Sealed for $ty {}

            impl ParameterType for $ty {
                fn into_value(self) -> ParameterValue {
                    ParameterValue::$variant(self)
                }

                fn from_value(value: ParameterValue) -> Option<Self> {
                    match value {
                        ParameterValue::$variant(value) => Some(value),
                        _ => None,
                    }
                }
            }

            impl From<$ty> for ParameterValue {
                fn from(value: $ty) -> Self {
                    Self::$variant(value)
                }
            }
        )*
    };
}

parameter_types! {
    bool => Bool,
    i64 => Integer,
    f64 => Double,
    String => String,
    Vec<u8> => ByteArray,
    Vec<bool> => BoolArray,
    Vec<i64> => IntegerArray,
    Vec<f64> => DoubleArray,
    Vec<String> => StringArray,
}

impl From<&str> for ParameterValue {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_survives_its_message() {
        let values = [
            ParameterValue::NotSet,
            true.into(),
            7_i64.into(),
            1.5.into(),
            "text".into(),
            vec![1_u8].into(),
            vec![true].into(),
            vec![-1_i64].into(),
            vec![0.5].into(),
            vec!["a".to_owned()].into(),
        ];
        for (kind, value) in (0..).zip(values) {
            assert_eq!(value.kind(), kind);
            assert_eq!(ParameterValue::of_message(value.to_message()), value);
        }
        assert_eq!(ParameterValue::of_message(Message { r#type: 77, ..Message::default() }), ParameterValue::NotSet);
    }

    #[test]
    fn nan_is_the_same_as_itself() {
        for value in [ParameterValue::from(f64::NAN), vec![1.0, f64::NAN].into()] {
            assert!(value.is_same(&value.clone()) && !value.is_same(&1.0.into()));
        }
        assert!(!ParameterValue::from(vec![1.0]).is_same(&vec![1.0, 2.0].into()));
        assert!(ParameterValue::from("a").is_same(&"a".into()));
    }
}
