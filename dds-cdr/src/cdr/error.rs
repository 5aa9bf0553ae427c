//! Why a value could not be encoded, or bytes not be decoded.

use std::fmt;

/// Bytes that are not a value of the type, and where that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError {
    offset: u32,
    kind: DecodeErrorKind,
}

impl DecodeError {
    /// An error seen `offset` bytes from the beginning of the payload (header included).
    #[must_use]
    #[cold]
    pub fn new(offset: usize, kind: DecodeErrorKind) -> Self {
        Self { offset: u32::try_from(offset).unwrap_or(u32::MAX), kind }
    }

    /// The number that was just read is no literal of the enum.
    #[must_use]
    #[cold]
    #[doc(hidden)]
    pub fn unknown_literal(d: &super::Decoder<'_>, size: usize, value: i32) -> Self {
        Self::new(d.position().saturating_sub(size), DecodeErrorKind::UnknownLiteral { value })
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Where, in bytes from the beginning of the payload, encapsulation header included.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset as usize
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.kind)
    }
}

impl std::error::Error for DecodeError {}

/// What can be wrong with received bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The input ends inside a value.
    Truncated,
    /// A length is larger than what is left of the input could hold. Nothing was allocated for it.
    LengthBeyondInput {
        /// The length, in elements or bytes as the type counts.
        length: u32,
    },
    /// The representation identifier of the header is not one of CDR.
    Representation {
        /// What the header says.
        identifier: u16,
    },
    /// The header announces another framing than a type of this extensibility has.
    Framing {
        /// What the header says.
        identifier: u16,
    },
    /// A string or sequence is longer than its type allows.
    BoundExceeded {
        /// The bound of the type.
        bound: u32,
        /// The length that was sent.
        length: u32,
    },
    /// A bool that is neither 0 nor 1.
    InvalidBool {
        /// What was sent.
        value: u8,
    },
    /// A number that no literal of the enum has.
    UnknownLiteral {
        /// What was sent.
        value: i32,
    },
    /// A discriminator that no case of the union has, and the union has no default case.
    UnknownDiscriminator {
        /// What was sent.
        value: i64,
    },
    /// A bitmask or bitset has bits that its type does not have.
    UnknownBits {
        /// Those bits.
        bits: u64,
    },
    /// A key of a map came twice.
    DuplicateKey,
    /// A string that is not UTF-8.
    InvalidUtf8,
    /// A wide string that is not UTF-16, or has half a character at its end.
    InvalidUtf16,
    /// A string whose last byte is not NUL.
    MissingNul,
    /// A string with a NUL before its end.
    InteriorNul,
    /// Values are nested deeper than [`NESTING_MAX`](super::NESTING_MAX).
    NestingTooDeep,
    /// More values that take no bytes than [`NOTHINGS_MAX`](super::NOTHINGS_MAX) allows.
    TooManyNothings,
    /// A mutable struct has a member that is not known here, and whose sender wants it to be.
    MustUnderstand {
        /// The id of the member.
        id: u32,
    },
    /// A member was not sent, and its type has no default, or it is part of the key.
    MissingMember,
    /// The type cannot be read from this encoding: it has no such thing, or does not say enough.
    Unrepresentable {
        /// Which thing.
        what: &'static str,
    },
    /// The value cannot be taken from this input: a [`Raw`](super::Raw) that does not begin at the header.
    NotAPayload,
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the input ends inside a value"),
            Self::LengthBeyondInput { length } => write!(f, "length {length} is more than the input can hold"),
            Self::Representation { identifier } => write!(f, "unknown representation {identifier:#06x}"),
            Self::Framing { identifier } => {
                write!(f, "representation {identifier:#06x} does not fit the extensibility of the type")
            }
            Self::BoundExceeded { bound, length } => write!(f, "length {length} is over the bound {bound}"),
            Self::InvalidBool { value } => write!(f, "{value} is not a bool"),
            Self::UnknownLiteral { value } => write!(f, "{value} is no literal of the enum"),
            Self::UnknownDiscriminator { value } => write!(f, "{value} is no case of the union"),
            Self::UnknownBits { bits } => write!(f, "the type does not have the bits {bits:#x}"),
            Self::DuplicateKey => f.write_str("the map has a key twice"),
            Self::InvalidUtf8 => f.write_str("the string is not UTF-8"),
            Self::InvalidUtf16 => f.write_str("the wide string is not UTF-16"),
            Self::MissingNul => f.write_str("the string does not end with NUL"),
            Self::InteriorNul => f.write_str("the string has a NUL before its end"),
            Self::NestingTooDeep => write!(f, "values are nested deeper than {}", super::NESTING_MAX),
            Self::TooManyNothings => {
                write!(f, "values that take no bytes cost more than {}", super::NOTHINGS_MAX)
            }
            Self::MustUnderstand { id } => write!(f, "member {id} is not known, but the sender wants it to be"),
            Self::MissingMember => f.write_str("a member was not sent and has no default"),
            Self::Unrepresentable { what } => write!(f, "this encoding cannot be read as {what}"),
            Self::NotAPayload => f.write_str("not at the beginning of a payload"),
        }
    }
}

/// A value that its type's encoding cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string or sequence is longer than its type allows.
    BoundExceeded {
        /// The bound of the type.
        bound: u32,
        /// The length of the value.
        length: usize,
    },
    /// A string contains a NUL, which ends a string on the wire.
    InteriorNul {
        /// Its position, in bytes from the beginning of the string.
        position: usize,
    },
    /// A length does not fit into the 32 bits it has on the wire.
    TooLong {
        /// The length.
        length: usize,
    },
    /// A character outside of Latin-1, the range of a CDR `char`.
    NotAChar8 {
        /// The character.
        character: char,
    },
    /// A character that needs two units of UTF-16, where there is room for one.
    NotAChar16 {
        /// The character.
        character: char,
    },
    /// A case of a union holds a discriminator that selects another case.
    OtherCase {
        /// The discriminator.
        value: i64,
    },
    /// The encoding has no such thing.
    Unrepresentable {
        /// Which thing.
        what: &'static str,
    },
    /// The value is of another type than the topic.
    OtherType,
    /// A bitmask or bitset has bits, or a value, that its type has no room for.
    TooManyBits {
        /// How many bits there are.
        bit_bound: u8,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoundExceeded { bound, length } => write!(f, "length {length} is over the bound {bound}"),
            Self::InteriorNul { position } => write!(f, "the string has a NUL at byte {position}"),
            Self::TooLong { length } => write!(f, "length {length} does not fit into 32 bits"),
            Self::NotAChar8 { character } => write!(f, "{character:?} does not fit into a char of one byte"),
            Self::NotAChar16 { character } => write!(f, "{character:?} does not fit into one unit of UTF-16"),
            Self::OtherCase { value } => write!(f, "the discriminator {value} selects another case of the union"),
            Self::Unrepresentable { what } => write!(f, "this encoding has no form for {what}"),
            Self::OtherType => f.write_str("the value is of another type than the topic"),
            Self::TooManyBits { bit_bound } => write!(f, "a value does not fit into {bit_bound} bits"),
        }
    }
}

impl std::error::Error for EncodeError {}
