//! A parsed interface file.

use super::{InterfaceKind, InterfaceName};
use crate::model::Span;
use std::borrow::Cow;
use std::fmt;

/// The content of a `.msg`, `.srv` or `.action` file.
#[derive(Debug, Clone, PartialEq)]
pub enum RosInterface {
    /// A message.
    Message(RosStructure),
    /// A service.
    Service {
        /// The name of the service.
        name: InterfaceName,
        /// `Name_Request`.
        request: RosStructure,
        /// `Name_Response`.
        response: RosStructure,
    },
    /// An action.
    Action {
        /// The name of the action.
        name: InterfaceName,
        /// `Name_Goal`.
        goal: RosStructure,
        /// `Name_Result`.
        result: RosStructure,
        /// `Name_Feedback`.
        feedback: RosStructure,
    },
}

impl RosInterface {
    /// Returns the name that the file's path gives: `std_srvs/srv/SetBool`.
    #[must_use]
    pub const fn name(&self) -> &InterfaceName {
        match self {
            Self::Message(structure) => &structure.name,
            Self::Service { name, .. } | Self::Action { name, .. } => name,
        }
    }

    /// Returns the structures that the file spells out, in the order of the file.
    #[must_use]
    pub fn sections(&self) -> Vec<&RosStructure> {
        match self {
            Self::Message(structure) => vec![structure],
            Self::Service { request, response, .. } => vec![request, response],
            Self::Action { goal, result, feedback, .. } => vec![goal, result, feedback],
        }
    }

    pub(crate) fn sections_mut(&mut self) -> Vec<&mut RosStructure> {
        match self {
            Self::Message(structure) => vec![structure],
            Self::Service { request, response, .. } => vec![request, response],
            Self::Action { goal, result, feedback, .. } => vec![goal, result, feedback],
        }
    }
}

/// A structure: a message, or a part of a service or an action.
#[derive(Debug, Clone, PartialEq)]
pub struct RosStructure {
    /// The full name.
    pub name: InterfaceName,
    /// The lines of the comment, without `#` and common indentation.
    pub comment: Vec<String>,
    /// The constants, in the order of the file.
    pub constants: Vec<RosConstant>,
    /// The fields, in the order of the file. See [`RosStructure::members`] for empty structures.
    pub fields: Vec<RosField>,
}

impl RosStructure {
    /// The only member of a structure without fields.
    pub const DUMMY_MEMBER: &'static str = "structure_needs_at_least_one_member";

    /// Returns the members on the wire: the fields, or the dummy member of an empty structure.
    #[must_use]
    pub fn members(&self) -> Cow<'_, [RosField]> {
        if !self.fields.is_empty() {
            return Cow::Borrowed(&self.fields);
        }
        Cow::Owned(vec![RosField::new(RosBaseType::UInt8, Self::DUMMY_MEMBER)])
    }
}

/// A constant of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct RosConstant {
    /// The type, a primitive or a string without bound.
    pub ty: RosBaseType,
    /// The name, in upper case.
    pub name: String,
    /// The value.
    pub value: RosValue,
    /// The lines of the comment.
    pub comment: Vec<String>,
    /// The unit: `m/s` for the comment `# Speed [m/s]`.
    pub unit: Option<String>,
    /// The definition in the file.
    pub span: Span,
}

/// A field of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct RosField {
    /// The type.
    pub ty: RosType,
    /// The name, in lower case.
    pub name: String,
    /// Whether the field is part of the key of a topic. Only `.idl` files have keys.
    pub is_key: bool,
    /// The default value. Without one, a field is zero or empty.
    pub default: Option<RosValue>,
    /// The lines of the comment.
    pub comment: Vec<String>,
    /// The unit: `m/s` for the comment `# Speed [m/s]`.
    pub unit: Option<String>,
    /// The type in the file. Empty for derived fields.
    pub type_span: Span,
    /// The name in the file. Empty for derived fields.
    pub name_span: Span,
}

impl RosField {
    /// A field without default and comment.
    pub(super) fn new(base: RosBaseType, name: &str) -> Self {
        Self::with_type(RosType { base, dimension: RosDimension::One }, name)
    }

    /// A field without default and comment.
    pub(super) fn with_type(ty: RosType, name: &str) -> Self {
        Self {
            ty,
            name: name.to_owned(),
            is_key: false,
            default: None,
            comment: Vec::new(),
            unit: None,
            type_span: Span::default(),
            name_span: Span::default(),
        }
    }
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RosType {
    /// The type of each element.
    pub base: RosBaseType,
    /// The number of elements.
    pub dimension: RosDimension,
}

/// The number of elements of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RosDimension {
    /// `T`.
    One,
    /// `T[N]`.
    Array(u32),
    /// `T[<=N]`.
    BoundedSequence(u32),
    /// `T[]`.
    Sequence,
}

/// The type of one element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RosBaseType {
    /// `bool`.
    Bool,
    /// `byte`: an octet without meaning.
    Byte,
    /// `char`: an unsigned integer of 8 bits, despite its name.
    Char,
    /// `float32`.
    Float32,
    /// `float64`.
    Float64,
    /// `int8`.
    Int8,
    /// `uint8`.
    UInt8,
    /// `int16`.
    Int16,
    /// `uint16`.
    UInt16,
    /// `int32`.
    Int32,
    /// `uint32`.
    UInt32,
    /// `int64`.
    Int64,
    /// `uint64`.
    UInt64,
    /// `string`, `string<=N`.
    String {
        /// Most bytes on the wire, without the NUL.
        bound: Option<u32>,
    },
    /// `wstring`, `wstring<=N`: four bytes on the wire for each UTF-16 unit.
    WString {
        /// Most UTF-16 units.
        bound: Option<u32>,
    },
    /// `char` of an `.idl` file: a character of one byte. `char` of the other files is [`Char`](Self::Char).
    IdlChar,
    /// `wchar` of an `.idl` file: a unit of UTF-16, two bytes on the wire.
    IdlWChar,
    /// A structure.
    Structure(InterfaceName),
}

impl RosBaseType {
    /// The types with a name of one word.
    pub(super) const PRIMITIVES: [(&'static str, Self); 15] = [
        ("bool", Self::Bool),
        ("byte", Self::Byte),
        ("char", Self::Char),
        ("float32", Self::Float32),
        ("float64", Self::Float64),
        ("int8", Self::Int8),
        ("uint8", Self::UInt8),
        ("int16", Self::Int16),
        ("uint16", Self::UInt16),
        ("int32", Self::Int32),
        ("uint32", Self::UInt32),
        ("int64", Self::Int64),
        ("uint64", Self::UInt64),
        ("string", Self::String { bound: None }),
        ("wstring", Self::WString { bound: None }),
    ];

    /// Returns the primitive type or the string with this name.
    #[must_use]
    pub fn from_keyword(keyword: &str) -> Option<Self> {
        for (name, ty) in Self::PRIMITIVES {
            if name == keyword {
                return Some(ty);
            }
        }
        None
    }

    /// Returns the smallest and the largest integer of the type. `None` for other types.
    pub(super) const fn integer_range(&self) -> Option<(i128, i128)> {
        let range = match self {
            Self::Byte | Self::Char | Self::UInt8 => (0, u8::MAX as i128),
            Self::Int8 => (i8::MIN as i128, i8::MAX as i128),
            Self::Int16 => (i16::MIN as i128, i16::MAX as i128),
            Self::UInt16 => (0, u16::MAX as i128),
            Self::Int32 => (i32::MIN as i128, i32::MAX as i128),
            Self::UInt32 => (0, u32::MAX as i128),
            Self::Int64 => (i64::MIN as i128, i64::MAX as i128),
            Self::UInt64 => (0, u64::MAX as i128),
            _ => return None,
        };
        Some(range)
    }

    /// Returns the name of the structure.
    #[must_use]
    pub const fn structure(&self) -> Option<&InterfaceName> {
        match self {
            Self::Structure(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for RosBaseType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String { bound: Some(bound) } => write!(f, "string<={bound}"),
            Self::WString { bound: Some(bound) } => write!(f, "wstring<={bound}"),
            // A field names only messages, without their kind.
            Self::Structure(name) if name.kind() == InterfaceKind::Message => {
                write!(f, "{}/{}", name.package(), name.name())
            }
            Self::Structure(name) => write!(f, "{name}"),
            // Only IDL has these types, so no keyword names them.
            Self::IdlChar => f.write_str("char of IDL"),
            Self::IdlWChar => f.write_str("wchar of IDL"),
            _ => {
                for (keyword, ty) in Self::PRIMITIVES {
                    if ty == *self {
                        return f.write_str(keyword);
                    }
                }
                debug_assert!(false, "every type without parameters has a keyword");
                Ok(())
            }
        }
    }
}

impl fmt::Display for RosType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base)?;
        match self.dimension {
            RosDimension::One => Ok(()),
            RosDimension::Array(size) => write!(f, "[{size}]"),
            RosDimension::BoundedSequence(bound) => write!(f, "[<={bound}]"),
            RosDimension::Sequence => f.write_str("[]"),
        }
    }
}

/// A constant's value, or a field's default.
#[derive(Debug, Clone, PartialEq)]
pub enum RosValue {
    /// A boolean.
    Bool(bool),
    /// An integer in the range of its type.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A character, in an `.idl` file alone.
    Character(char),
    /// A string.
    Text(String),
    /// The elements of an array or a sequence.
    List(Vec<RosValue>),
}
