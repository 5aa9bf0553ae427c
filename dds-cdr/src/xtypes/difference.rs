//! The first difference between two types, as a readable message.

use crate::cdr::Extensibility;
use std::fmt;

/// Why a writer's type is not assignable to a reader's: the first difference found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeDifference {
    /// Path of the member that differs (`position.x`); empty: the type as a whole.
    pub path: String,
    /// The kind of difference.
    pub kind: TypeDifferenceKind,
}

/// How two types differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeDifferenceKind {
    /// The types differ although DISALLOW_TYPE_COERCION requires equal types.
    NotEqual,
    /// The types are of different kinds.
    Kind {
        /// The kind in the writer's type.
        writer: String,
        /// The kind in the reader's type.
        reader: String,
    },
    /// One type has `octet`, the other `uint8`; the encodings are equal.
    OctetOrUInt8 {
        /// Whether the writer has `octet`.
        writer_has_octet: bool,
    },
    /// One type has `char`, the other `int8`; the encodings are equal.
    ///
    /// Cyclone DDS before 11 describes an `int8` as a `char`.
    CharOrInt8 {
        /// Whether the writer has `char`.
        writer_has_char: bool,
    },
    /// All member ids of a union are one higher in one of the types.
    UnionIds {
        /// The lowest id in the writer's type.
        writer: u32,
        /// The lowest id in the reader's type.
        reader: u32,
    },
    /// The types have different extensibility kinds.
    Extensibility {
        /// The extensibility of the writer's type.
        writer: Extensibility,
        /// The extensibility of the reader's type.
        reader: Extensibility,
    },
    /// The writer's values may be longer than the reader's bound.
    Bound {
        /// The bound of the writer's type; 0: unbounded.
        writer: u32,
        /// The bound of the reader's type.
        reader: u32,
    },
    /// Arrays have different dimensions, or enums or bitmasks different bit bounds.
    Size {
        /// The size in the writer's type.
        writer: Vec<u32>,
        /// The size in the reader's type.
        reader: Vec<u32>,
    },
    /// The writer's type lacks a member that the reader's type requires.
    OnlyInReader,
    /// The reader's type lacks a member that it must have.
    ///
    /// The member must be understood, is a key, belongs to a final type, or `prevent_type_widening` is on.
    OnlyInWriter,
    /// Members with the same id have different names.
    Name {
        /// The name in the writer's type.
        writer: String,
        /// The name in the reader's type.
        reader: String,
    },
    /// Members with the same name have different ids.
    Id {
        /// The id in the writer's type.
        writer: u32,
        /// The id in the reader's type.
        reader: u32,
    },
    /// The member is a key in only one of the types.
    Key,
    /// The member is optional in only one of the types, and that changes the encoding.
    Optional,
    /// The other type has a different member at this position.
    Order,
    /// The types have no member, literal or label in common.
    NothingInCommon,
    /// Literals have different values, or values different literals.
    Literals,
    /// Values of the writer's type are not delimited, which is required here.
    NotDelimited,
    /// The types are nested too deeply to compare.
    TooDeep,
}

impl fmt::Display for TypeDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without a path, the difference is in the type of the topic itself.
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for TypeDifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEqual => f.write_str("the types differ, and the reader's policy does not allow type coercion"),
            Self::Kind { writer, reader } => write!(f, "the writer has {writer}, the reader {reader}"),
            Self::OctetOrUInt8 { writer_has_octet } => {
                let (writer, reader) = if *writer_has_octet { ("octet", "uint8") } else { ("uint8", "octet") };
                write!(
                    f,
                    "the writer has {writer}, the reader {reader}. A `u8` member is described as uint8, and with \
                     `#[dds(octet)]` as octet; declare it like the peer. Cyclone DDS before 11 describes both as octet"
                )
            }
            Self::CharOrInt8 { writer_has_char } => {
                let (writer, reader) = if *writer_has_char { ("char", "int8") } else { ("int8", "char") };
                write!(
                    f,
                    "the writer has {writer}, the reader {reader}. Cyclone DDS before 11 describes int8 as char; for such a \
                     peer, let type names decide"
                )
            }
            Self::UnionIds { writer, reader } => write!(
                f,
                "the union's member ids start at {writer} in the writer's type, at {reader} in the reader's. By default \
                 they start at 1, in Cyclone DDS up to 11.0 at 0; `#[dds(id = 0)]` on the first case makes them start at 0"
            ),
            Self::Extensibility { writer, reader } => {
                write!(f, "{} in the writer's type, {} in the reader's", name_of(*writer), name_of(*reader))
            }
            Self::Bound { writer: 0, reader } => {
                write!(f, "unbounded in the writer's type, at most {reader} in the reader's")
            }
            Self::Bound { writer, reader } => {
                write!(f, "at most {writer} in the writer's type, at most {reader} in the reader's")
            }
            Self::Size { writer, reader } => {
                write!(f, "size {writer:?} in the writer's type, {reader:?} in the reader's")
            }
            Self::OnlyInReader => f.write_str("the writer's type lacks this member, and the reader's type requires it"),
            Self::OnlyInWriter => f.write_str("the reader's type lacks this member, and must have it"),
            Self::Name { writer, reader } => {
                write!(f, "this member is called `{writer}` in the writer's type, `{reader}` in the reader's")
            }
            Self::Id { writer, reader } => {
                write!(f, "this member has the id {writer} in the writer's type, {reader} in the reader's")
            }
            Self::Key => f.write_str("a key in only one of the types"),
            Self::Optional => f.write_str("optional in only one of the types"),
            Self::Order => f.write_str("the other type has a different member at this position"),
            Self::NothingInCommon => f.write_str("the types have no member in common"),
            Self::Literals => f.write_str("the literals have different values"),
            Self::NotDelimited => {
                // Only values with a header may differ inside. Without one, even a `typedef` must be equal (7.2.4.2).
                f.write_str(
                    "values of this type are not delimited, so both sides must describe it identically (a `typedef` is \
                     a difference); make it appendable or mutable",
                )
            }
            Self::TooDeep => f.write_str("the types are nested too deeply to compare"),
        }
    }
}

fn name_of(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "final",
        Extensibility::Appendable => "appendable",
        Extensibility::Mutable => "mutable",
    }
}
