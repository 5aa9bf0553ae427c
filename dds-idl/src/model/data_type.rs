//! Types of members, elements, constants and parameters.

use super::{Annotations, DefinitionId, TryConstruct};
use std::sync::Arc;

/// A type in its place of use.
#[derive(Debug, Clone, PartialEq)]
pub enum DataType {
    /// A primitive type.
    Basic(BasicType),
    /// `string`.
    String {
        /// Maximum number of bytes without the NUL.
        bound: Option<u32>,
    },
    /// `wstring`.
    WString {
        /// Maximum number of UTF-16 units.
        bound: Option<u32>,
    },
    /// `sequence`.
    Sequence {
        /// The elements.
        element: Box<ElementType>,
        /// Maximum number of elements.
        bound: Option<u32>,
    },
    /// An array.
    Array {
        /// The elements.
        element: Box<ElementType>,
        /// Lengths as written: `a[2][3]` has the dimensions 2 and 3.
        dimensions: Vec<u32>,
    },
    /// `map`.
    Map {
        /// The keys.
        key: Box<ElementType>,
        /// The values.
        element: Box<ElementType>,
        /// Maximum number of entries.
        bound: Option<u32>,
    },
    /// A struct, union, enum, bitmask, bitset, typedef, or a definition that is not data.
    Named(DefinitionId),
    /// `fixed`: not data of a DDS topic.
    Fixed {
        /// Number of digits.
        digits: u8,
        /// Number of digits behind the point.
        scale: u8,
    },
    /// `any`, `Object`, `ValueBase`, and types that are built into compilers of CORBA, such as `CORBA::TypeCode`: not
    /// data of a DDS topic.
    Opaque(Arc<str>),
}

/// The element of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementType {
    /// The type.
    pub ty: DataType,
    /// Annotations of the element, as in `sequence<@external T>`.
    pub annotations: Annotations,
}

/// A primitive type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BasicType {
    /// `boolean`.
    Bool,
    /// `octet`: eight bits without a meaning. Encoded like `uint8`, but a different type for type checks.
    Octet,
    /// `char`: one byte, Latin-1.
    Char,
    /// `wchar`: one UTF-16 unit.
    WChar,
    /// `int8`.
    Int8,
    /// `uint8`.
    UInt8,
    /// `int16`, `short`.
    Int16,
    /// `uint16`, `unsigned short`.
    UInt16,
    /// `int32`, `long`.
    Int32,
    /// `uint32`, `unsigned long`.
    UInt32,
    /// `int64`, `long long`.
    Int64,
    /// `uint64`, `unsigned long long`.
    UInt64,
    /// `float`.
    Float32,
    /// `double`.
    Float64,
    /// `long double`.
    Float128,
}

impl ElementType {
    /// Creates an element without annotations.
    #[must_use]
    pub fn new(ty: DataType) -> Self {
        Self { ty, annotations: Annotations::default() }
    }

    /// Returns `@external`.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.annotations.is_external()
    }

    /// Returns `@try_construct`.
    #[must_use]
    pub fn try_construct(&self) -> TryConstruct {
        self.annotations.try_construct()
    }
}

impl DataType {
    /// Creates a sequence.
    #[must_use]
    pub fn sequence(element: DataType, bound: Option<u32>) -> Self {
        Self::Sequence { element: Box::new(ElementType::new(element)), bound }
    }

    /// Creates an array of one or more dimensions.
    #[must_use]
    pub fn array(element: DataType, dimensions: Vec<u32>) -> Self {
        Self::Array { element: Box::new(ElementType::new(element)), dimensions }
    }
}

impl BasicType {
    /// Smallest and largest value of an integer type. `octet` is an integer here.
    #[must_use]
    pub fn range(self) -> Option<(i128, i128)> {
        match self {
            Self::Octet | Self::UInt8 => Some((0, u8::MAX.into())),
            Self::Int8 => Some((i8::MIN.into(), i8::MAX.into())),
            Self::Int16 => Some((i16::MIN.into(), i16::MAX.into())),
            Self::UInt16 => Some((0, u16::MAX.into())),
            Self::Int32 => Some((i32::MIN.into(), i32::MAX.into())),
            Self::UInt32 => Some((0, u32::MAX.into())),
            Self::Int64 => Some((i64::MIN.into(), i64::MAX.into())),
            Self::UInt64 => Some((0, u64::MAX.into())),
            Self::Bool | Self::Char | Self::WChar | Self::Float32 | Self::Float64 | Self::Float128 => None,
        }
    }

    /// Returns whether this is a signed or unsigned integer type. `octet` is not.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.range().is_some() && self != Self::Octet
    }

    /// Name in IDL 4.2.
    #[must_use]
    pub fn idl_name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Octet => "octet",
            Self::Char => "char",
            Self::WChar => "wchar",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float32 => "float",
            Self::Float64 => "double",
            Self::Float128 => "long double",
        }
    }
}
