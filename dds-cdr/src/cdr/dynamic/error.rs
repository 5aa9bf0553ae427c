//! Errors of dynamic types, and of access to parts of values.

use std::fmt;

/// Why a type is invalid. Most errors name the invalid type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// The name of a type or member is empty, longer than 255 bytes, or contains invalid characters.
    InvalidName {
        /// The name.
        name: String,
    },
    /// Two parts of a type have the same name: members, literals, flags, fields or cases.
    DuplicateName {
        /// The type.
        ty: String,
        /// The name.
        name: String,
    },
    /// Two members have the same id, or the id is invalid.
    ///
    /// An id has at most 28 bits. In a mutable union, 0 is the id of the discriminator.
    InvalidId {
        /// The type.
        ty: String,
        /// The member.
        member: String,
        /// The id.
        id: u32,
    },
    /// Bits of an enum, bitmask or bitset are invalid.
    ///
    /// One of these: an enum value does not fit or is repeated; a flag or field is out of range or overlaps another
    /// one; the number of bits is out of range.
    InvalidBits {
        /// The type.
        ty: String,
        /// The literal, flag or field; empty: the whole type.
        name: String,
    },
    /// The type has no parts: an enum without literals, a bitset without fields, or a union without cases.
    Empty {
        /// The type.
        ty: String,
    },
    /// The labels of a case are invalid.
    ///
    /// The discriminator cannot have the label, two cases have it, two cases are the default, or a case has no label.
    InvalidLabel {
        /// The union.
        ty: String,
        /// The case.
        case: String,
    },
    /// A part of a type has the wrong kind.
    WrongKind {
        /// The type that contains the part.
        ty: String,
        /// The required part.
        needed: &'static str,
    },
    /// A key member is optional.
    OptionalKey {
        /// The struct.
        ty: String,
        /// The member.
        member: String,
    },
    /// `try_construct` is `Trim` for a type without a bound.
    NothingToTrim {
        /// The type.
        ty: String,
        /// The member; empty for elements.
        member: String,
    },
    /// The bound of a string or collection is 0.
    ZeroBound {
        /// The type.
        ty: String,
    },
    /// The default is not a value of its member.
    InvalidDefault {
        /// The struct.
        ty: String,
        /// The member.
        member: String,
        /// The reason.
        error: Box<DataError>,
    },
    /// A method of a builder changes the last member before any member was added.
    NoMember {
        /// The type.
        ty: String,
    },
    /// [`DynamicType::named`](super::DynamicType::named) refers to a type that is not an enclosing one.
    UnknownType {
        /// The name.
        name: String,
    },
    /// Every value of the type would contain itself without end.
    ///
    /// A type may contain itself through a sequence, a map, an optional member, or a union case that is not the initial
    /// one.
    ContainsItself {
        /// The type.
        ty: String,
    },
    /// A type exceeds a limit of types, members, levels or bytes.
    TooLarge {
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        max: u64,
    },
    /// A TypeObject is malformed or unsupported.
    Malformed {
        /// The malformed element.
        what: &'static str,
    },
    /// The TypeObject of a part was not received.
    Missing {
        /// The identifier of the part.
        what: String,
    },
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidName { name } => write!(f, "{name:?} is not a valid name of a type or member"),
            Self::DuplicateName { ty, name } => write!(f, "`{ty}` has two parts called `{name}`"),
            Self::InvalidId { ty, member, id } => write!(f, "`{ty}.{member}` cannot have the id {id:#x}"),
            // Without a part, the bit bound of the type itself is wrong.
            Self::InvalidBits { ty, name } if name.is_empty() => {
                write!(f, "the number of bits of `{ty}` is out of range")
            }
            Self::InvalidBits { ty, name } => write!(f, "`{ty}.{name}` is out of range or overlaps another part"),
            Self::Empty { ty } => write!(f, "`{ty}` has no parts"),
            Self::InvalidLabel { ty, case } => {
                write!(f, "the labels of `{ty}.{case}` are missing, repeated, or no values of the discriminator")
            }
            Self::WrongKind { ty, needed } => write!(f, "`{ty}` needs {needed}"),
            Self::OptionalKey { ty, member } => {
                write!(f, "`{ty}.{member}` is a key and cannot be optional")
            }
            // Elements of a collection have no name.
            Self::NothingToTrim { ty, member } if member.is_empty() => {
                write!(f, "the elements of `{ty}` have no bound to trim to")
            }
            Self::NothingToTrim { ty, member } => write!(f, "`{ty}.{member}` has no bound to trim to"),
            Self::ZeroBound { ty } => write!(f, "`{ty}` has a bound of 0"),
            Self::InvalidDefault { ty, member, .. } => {
                write!(f, "the default of `{ty}.{member}` is not a value of its type")
            }
            Self::NoMember { ty } => write!(f, "the builder of `{ty}` changes a member before it adds one"),
            Self::UnknownType { name } => {
                write!(f, "no enclosing type or literal is called `{name}`")
            }
            Self::ContainsItself { ty } => {
                write!(f, "each `{ty}` would contain another one without end: use a sequence or an optional member")
            }
            Self::TooLarge { what, max } => write!(f, "the type has more than {max} {what}"),
            Self::Malformed { what } => write!(f, "the description of the type is malformed: {what}"),
            Self::Missing { what } => write!(f, "the description of a part was not received: {what}"),
        }
    }
}

impl std::error::Error for TypeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::InvalidDefault { error, .. } => Some(&**error),
            _ => None,
        }
    }
}

/// Why a part of a value cannot be read or changed. The value stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataError {
    /// The text is not a valid path.
    Path {
        /// The path.
        path: String,
    },
    /// The type has no such member, flag or field.
    NoMember {
        /// The type.
        ty: String,
        /// The name or id.
        member: String,
    },
    /// The index is beyond the end.
    NoElement {
        /// The index.
        index: usize,
        /// The number of elements.
        len: usize,
    },
    /// The map has no such key.
    NoKey {
        /// The key, as written in the path.
        key: String,
    },
    /// Two given entries of a map have the same key.
    DuplicateKey {
        /// Index of the second entry, from 0.
        index: usize,
    },
    /// The optional member is absent.
    Absent {
        /// The member.
        member: String,
    },
    /// Another member of the union is selected.
    NotSelected {
        /// The requested member.
        member: String,
        /// The current discriminator.
        discriminator: i64,
    },
    /// No case of the union has this discriminator.
    NoCase {
        /// The discriminator.
        discriminator: i64,
    },
    /// The requested or given type does not fit the type of the part.
    WrongType {
        /// The type of the part.
        ty: String,
        /// The requested or given type.
        other: &'static str,
    },
    /// The type of the part, or the requested type, cannot represent the value.
    OutOfRange {
        /// The type.
        ty: String,
        /// The value.
        value: String,
    },
    /// The enum has no such literal, or the bitmask no such flag.
    NoLiteral {
        /// The type.
        ty: String,
        /// The name or number.
        literal: String,
    },
    /// The value has more elements or bytes than the type allows.
    BoundExceeded {
        /// The bound of the type.
        bound: u32,
        /// The length of the value.
        len: usize,
    },
    /// The value does not have the length of the array.
    Length {
        /// The length of the array.
        expected: usize,
        /// The length of the value.
        len: usize,
    },
    /// The value has another type.
    OtherType {
        /// The type of the part.
        expected: String,
        /// The type of the value.
        given: String,
    },
    /// Values are nested too deeply.
    TooDeep {
        /// The limit of the depth.
        max: usize,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path } => write!(f, "{path:?} is not a valid path: expected a path like `a.b[3].c`"),
            Self::NoMember { ty, member } => write!(f, "`{ty}` has no `{member}`"),
            Self::NoElement { index, len } => write!(f, "index {index} is beyond the end; the length is {len}"),
            Self::NoKey { key } => write!(f, "the map has no key {key}"),
            Self::DuplicateKey { index } => write!(f, "the entry {index} of the map has the key of an earlier one"),
            Self::Absent { member } => write!(f, "the optional member `{member}` is absent"),
            Self::NotSelected { member, discriminator } => {
                write!(f, "the discriminator {discriminator} of the union does not select `{member}`")
            }
            Self::NoCase { discriminator } => write!(f, "no case of the union has the discriminator {discriminator}"),
            Self::WrongType { ty, other } => write!(f, "`{ty}` does not fit {other}"),
            Self::OutOfRange { ty, value } => write!(f, "{value} is not a value of `{ty}`"),
            Self::NoLiteral { ty, literal } => write!(f, "`{ty}` has no literal or flag `{literal}`"),
            Self::BoundExceeded { bound, len } => write!(f, "the length {len} exceeds the bound {bound}"),
            Self::Length { expected, len } => write!(f, "expected {expected} elements, found {len}"),
            Self::OtherType { expected, given } => write!(f, "expected a value of type `{expected}`, found `{given}`"),
            Self::TooDeep { max } => write!(f, "values are nested deeper than {max} levels"),
        }
    }
}

impl std::error::Error for DataError {}
