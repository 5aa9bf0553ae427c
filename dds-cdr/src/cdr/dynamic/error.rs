//! What can be wrong with a type that is made at run time, and with the way to a part of a value.

use std::fmt;

/// Why a type cannot be made. Each names the type it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// A type or member without a name, with one over 255 bytes, or with characters that no name has.
    InvalidName {
        /// The name.
        name: String,
    },
    /// Two members, literals, flags, fields or cases of a type have the same name.
    DuplicateName {
        /// The type.
        ty: String,
        /// The name.
        name: String,
    },
    /// Two members have the same id, or it has more than 28 bits, or it is 0 in a mutable union, where that is the
    /// discriminator's.
    InvalidId {
        /// The type.
        ty: String,
        /// The member.
        member: String,
        /// The id.
        id: u32,
    },
    /// A value of an enum does not fit, or comes twice; a flag or field lies beyond the bits or on another one; the number of
    /// bits is none that there is.
    InvalidBits {
        /// The type.
        ty: String,
        /// The literal, flag or field; empty if it is the type as a whole.
        name: String,
    },
    /// A type without what it needs: an enum without literals, a bitset without fields, a union without cases.
    Empty {
        /// The type.
        ty: String,
    },
    /// A label that the discriminator cannot have, or that two cases have; two default cases; or a case without a label.
    InvalidLabel {
        /// The union.
        ty: String,
        /// The case.
        case: String,
    },
    /// A type cannot be where it is: this is what needs to be there.
    WrongKind {
        /// The type that is made of it.
        ty: String,
        /// What it has to be.
        needed: &'static str,
    },
    /// A key member that is optional.
    OptionalKey {
        /// The struct.
        ty: String,
        /// The member.
        member: String,
    },
    /// `try_construct` says `Trim` of something that has no bound.
    NothingToTrim {
        /// The type.
        ty: String,
        /// The member; empty for elements.
        member: String,
    },
    /// The bound is 0.
    ZeroBound {
        /// The type.
        ty: String,
    },
    /// A default that is no value of its member.
    InvalidDefault {
        /// The struct.
        ty: String,
        /// The member.
        member: String,
        /// What is wrong with it.
        error: Box<DataError>,
    },
    /// Something was said of a member before there was one.
    NoMember {
        /// The type.
        ty: String,
    },
    /// A type is named that is not being made here ([`DynamicType::named`](super::DynamicType::named)).
    UnknownType {
        /// The name.
        name: String,
    },
    /// A value of the type would contain itself, and so have no end. What contains itself must do so by a sequence, a map, an
    /// optional member, or a case of a union that is not the one it has at first.
    ContainsItself {
        /// The type.
        ty: String,
    },
    /// More types, members, levels or bytes than a type may have.
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        max: u64,
    },
    /// A type object, or what goes with it, is none of a type as we know it.
    Malformed {
        /// What is wrong.
        what: &'static str,
    },
    /// A part of the type is not there: its type object was not received.
    Missing {
        /// Which one.
        what: String,
    },
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidName { name } => write!(f, "{name:?} is no name of a type or member"),
            Self::DuplicateName { ty, name } => write!(f, "`{ty}` has `{name}` twice"),
            Self::InvalidId { ty, member, id } => write!(f, "`{ty}.{member}` cannot have the id {id:#x}"),
            Self::InvalidBits { ty, name } if name.is_empty() => write!(f, "`{ty}` cannot have so many bits"),
            Self::InvalidBits { ty, name } => write!(f, "`{ty}.{name}` does not fit, or lies where another one is"),
            Self::Empty { ty } => write!(f, "`{ty}` has nothing in it"),
            Self::InvalidLabel { ty, case } => {
                write!(f, "`{ty}.{case}` has no label, one of another case, or one that the discriminator cannot have")
            }
            Self::WrongKind { ty, needed } => write!(f, "`{ty}` needs {needed}"),
            Self::OptionalKey { ty, member } => {
                write!(f, "`{ty}.{member}` is part of the key and cannot be optional")
            }
            Self::NothingToTrim { ty, member } if member.is_empty() => {
                write!(f, "the elements of `{ty}` have no bound to be trimmed to")
            }
            Self::NothingToTrim { ty, member } => write!(f, "`{ty}.{member}` has no bound to be trimmed to"),
            Self::ZeroBound { ty } => write!(f, "`{ty}` has a bound of 0"),
            Self::InvalidDefault { ty, member, error } => write!(f, "the default of `{ty}.{member}`: {error}"),
            Self::NoMember { ty } => write!(f, "something was said of a member of `{ty}` before there was one"),
            Self::UnknownType { name } => {
                write!(f, "no type called `{name}` is being made here: name one that this one is part of")
            }
            Self::ContainsItself { ty } => {
                write!(f, "a `{ty}` would contain itself without end: use a sequence or an optional member")
            }
            Self::TooLarge { what, max } => write!(f, "the type has more {what} than {max}"),
            Self::Malformed { what } => write!(f, "the type object is malformed: {what}"),
            Self::Missing { what } => write!(f, "a part of the type was not received: {what}"),
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

/// Why a part of a value could not be read or changed. Then nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataError {
    /// What was written as a path is none.
    Path {
        /// The path.
        path: String,
    },
    /// There is no such member, flag or field.
    NoMember {
        /// The type that was looked at.
        ty: String,
        /// The name or id.
        member: String,
    },
    /// There is no such element: it lies behind the end.
    NoElement {
        /// The index.
        index: usize,
        /// How many elements there are.
        len: usize,
    },
    /// A map has no such key.
    NoKey {
        /// The key, as the path has it.
        key: String,
    },
    /// The member is optional and not there.
    Absent {
        /// The member.
        member: String,
    },
    /// The union has another member now.
    NotSelected {
        /// The member that was asked for.
        member: String,
        /// The discriminator that the union has.
        discriminator: i64,
    },
    /// No case of the union has this discriminator.
    NoCase {
        /// The discriminator.
        discriminator: i64,
    },
    /// What was asked for, or given, is nothing that the value can be.
    WrongType {
        /// What the value is, or is to be.
        ty: String,
        /// What was asked for, or given.
        other: &'static str,
    },
    /// A number that the type cannot hold, a character that it does not have, or a number that is not the same in the type
    /// that was asked for.
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
    /// More elements or bytes than the type allows.
    BoundExceeded {
        /// The bound of the type.
        bound: u32,
        /// The length of the value.
        len: usize,
    },
    /// The length of an array is another one.
    Length {
        /// The length of the array.
        expected: usize,
        /// The length of the value.
        len: usize,
    },
    /// A value of another type.
    OtherType {
        /// The type that was needed.
        expected: String,
        /// The type of the value.
        given: String,
    },
    /// Values would lie deeper within each other than they may.
    TooDeep {
        /// How deep they may lie.
        max: usize,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path } => write!(f, "{path:?} is no path: write one like `a.b[3].c`"),
            Self::NoMember { ty, member } => write!(f, "`{ty}` has no `{member}`"),
            Self::NoElement { index, len } => write!(f, "there is no element {index}: there are {len}"),
            Self::NoKey { key } => write!(f, "the map has no key {key}"),
            Self::Absent { member } => write!(f, "`{member}` is optional, and not there"),
            Self::NotSelected { member, discriminator } => {
                write!(f, "the union does not have `{member}` now: its discriminator is {discriminator}")
            }
            Self::NoCase { discriminator } => write!(f, "no case of the union has the discriminator {discriminator}"),
            Self::WrongType { ty, other } => write!(f, "`{ty}` and {other} do not go together"),
            Self::OutOfRange { ty, value } => write!(f, "{value} is no value of `{ty}`"),
            Self::NoLiteral { ty, literal } => write!(f, "`{ty}` has no literal or flag `{literal}`"),
            Self::BoundExceeded { bound, len } => write!(f, "length {len} is over the bound {bound}"),
            Self::Length { expected, len } => write!(f, "an array of {expected} elements was given {len}"),
            Self::OtherType { expected, given } => write!(f, "a `{given}` was given where a `{expected}` is needed"),
            Self::TooDeep { max } => write!(f, "values would lie deeper within each other than {max}"),
        }
    }
}

impl std::error::Error for DataError {}
