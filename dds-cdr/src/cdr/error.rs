//! Errors of encoding and decoding.

use std::fmt;

/// Error of decoding: the kind and the byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeError {
    offset: u32,
    kind: DecodeErrorKind,
}

impl DecodeError {
    /// Creates an error at `offset`, in bytes from the start of the payload, encapsulation header included.
    #[must_use]
    #[cold]
    pub fn new(offset: usize, kind: DecodeErrorKind) -> Self {
        // An offset above 4 GB saturates. The error stays small, and the offset is only informative.
        Self { offset: u32::try_from(offset).unwrap_or(u32::MAX), kind }
    }

    /// Creates the error for a number without a literal. The decoder is behind its `size` bytes.
    #[must_use]
    #[cold]
    #[doc(hidden)]
    pub fn unknown_literal(d: &super::Decoder<'_>, size: usize, value: i32) -> Self {
        // The decoder is already behind the number.
        Self::new(d.position().saturating_sub(size), DecodeErrorKind::UnknownLiteral { value })
    }

    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Returns the offset, in bytes from the start of the payload, encapsulation header included.
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

/// Kind of a [`DecodeError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The input ends inside a value.
    Truncated,
    /// The remaining input is too short for a length. Nothing was allocated for it.
    LengthBeyondInput {
        /// The length, in elements or bytes, depending on the type.
        length: u32,
    },
    /// The representation identifier of the header is not a CDR representation.
    Representation {
        /// The identifier in the header.
        identifier: u16,
    },
    /// The header announces a framing that contradicts the extensibility of the type.
    Framing {
        /// The identifier in the header.
        identifier: u16,
    },
    /// A string or sequence is longer than its type allows.
    BoundExceeded {
        /// The bound of the type.
        bound: u32,
        /// The received length.
        length: u32,
    },
    /// The value of a bool is neither 0 nor 1.
    InvalidBool {
        /// The received value.
        value: u8,
    },
    /// No literal of the enum has this number.
    UnknownLiteral {
        /// The received number.
        value: i32,
    },
    /// No case of the union has this discriminator, and the union has no default case.
    UnknownDiscriminator {
        /// The received discriminator.
        value: i64,
    },
    /// A bitmask or bitset has bits that its type does not define.
    UnknownBits {
        /// The undefined bits.
        bits: u64,
    },
    /// The wire value is well formed, but the program's type has no such value.
    InvalidValue,
    /// A map contains a key twice.
    DuplicateKey,
    /// A string is not UTF-8.
    InvalidUtf8,
    /// A wide string is not UTF-16, or ends inside a character.
    InvalidUtf16,
    /// The last byte of a string is not NUL.
    MissingNul,
    /// A string has a NUL before its end.
    InteriorNul,
    /// Values are nested deeper than [`NESTING_MAX`](super::NESTING_MAX).
    NestingTooDeep,
    /// The payload has more values without bytes than [`EMPTY_VALUES_MAX`](super::EMPTY_VALUES_MAX) allows.
    TooManyEmptyValues,
    /// A mutable struct has an unknown member that the sender marked as must-understand.
    MustUnderstand {
        /// The id of the member.
        id: u32,
    },
    /// A required member was not sent: its type has no default, or it is part of the key.
    MissingMember,
    /// The encoding cannot represent the type, or lacks information that decoding needs.
    Unrepresentable {
        /// The type or feature.
        what: &'static str,
    },
    /// A [`Raw`](super::Raw) cannot be taken here, because the decoder is not at the header of a payload.
    NotAPayload,
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the input ends inside a value"),
            Self::LengthBeyondInput { length } => write!(f, "length {length} exceeds the remaining input"),
            Self::Representation { identifier } => write!(f, "unknown representation {identifier:#06x}"),
            Self::Framing { identifier } => {
                write!(f, "representation {identifier:#06x} does not match the extensibility of the type")
            }
            Self::BoundExceeded { bound, length } => write!(f, "length {length} exceeds the bound {bound}"),
            Self::InvalidBool { value } => write!(f, "invalid bool {value}: expected 0 or 1"),
            Self::UnknownLiteral { value } => write!(f, "the enum has no literal with the value {value}"),
            Self::UnknownDiscriminator { value } => write!(f, "the union has no case for the discriminator {value}"),
            Self::UnknownBits { bits } => write!(f, "the type does not define the bits {bits:#x}"),
            Self::InvalidValue => f.write_str("the type has no such value"),
            Self::DuplicateKey => f.write_str("the map contains a key twice"),
            Self::InvalidUtf8 => f.write_str("the string is not UTF-8"),
            Self::InvalidUtf16 => f.write_str("the wide string is not UTF-16"),
            Self::MissingNul => f.write_str("the string does not end with NUL"),
            Self::InteriorNul => f.write_str("the string has a NUL before its end"),
            Self::NestingTooDeep => write!(f, "values are nested deeper than {}", super::NESTING_MAX),
            Self::TooManyEmptyValues => {
                write!(f, "values without bytes cost more than {}", super::EMPTY_VALUES_MAX)
            }
            Self::MustUnderstand { id } => write!(f, "unknown member {id} is marked as must-understand"),
            Self::MissingMember => f.write_str("a required member was not sent"),
            Self::Unrepresentable { what } => write!(f, "this encoding cannot be decoded as {what}"),
            Self::NotAPayload => f.write_str("the decoder is not at the start of a payload"),
        }
    }
}

/// Error of encoding: the value does not fit its type or its encoding.
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
    /// A string contains a NUL, which would end the string on the wire.
    InteriorNul {
        /// Its position, in bytes from the beginning of the string.
        position: usize,
    },
    /// A length exceeds 32 bits, its size on the wire.
    TooLong {
        /// The length.
        length: usize,
    },
    /// A character is outside of Latin-1, the range of a CDR `char`.
    NotAChar8 {
        /// The character.
        character: char,
    },
    /// A `wchar` needs two UTF-16 units, and only one is allowed.
    NotAChar16 {
        /// The character.
        character: char,
    },
    /// A union case holds a discriminator that selects another case.
    OtherCase {
        /// The discriminator.
        value: i64,
    },
    /// A time or duration has more seconds than 32 bits hold.
    SecondsBeyond32Bits,
    /// The type of the value differs from the type of the topic.
    OtherType,
    /// A bitmask or bitset has too many bits, or a value that is too large.
    TooManyBits {
        /// Number of bits of the type.
        bit_bound: u8,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoundExceeded { bound, length } => write!(f, "length {length} exceeds the bound {bound}"),
            Self::InteriorNul { position } => write!(f, "the string has a NUL at byte {position}"),
            Self::TooLong { length } => write!(f, "length {length} exceeds 32 bits"),
            Self::NotAChar8 { character } => write!(f, "{character:?} does not fit into a char of one byte"),
            Self::NotAChar16 { character } => write!(f, "{character:?} does not fit into one UTF-16 unit"),
            Self::OtherCase { value } => write!(f, "the discriminator {value} selects another case of the union"),
            Self::SecondsBeyond32Bits => f.write_str("the seconds of the time exceed 32 bits"),
            Self::OtherType => f.write_str("the type of the value differs from the type of the topic"),
            Self::TooManyBits { bit_bound } => write!(f, "a value does not fit into {bit_bound} bits"),
        }
    }
}

impl std::error::Error for EncodeError {}
