//! In what two types differ, in words for people.

use crate::cdr::Extensibility;
use std::fmt;

/// Why a writer's type cannot be assigned to a reader's: the first difference that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDifference {
    /// In which member, with those that it is in (`position.x`); empty: in the type as a whole.
    pub path: String,
    /// What it is.
    pub kind: TypeDifferenceKind,
}

/// What two types differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeDifferenceKind {
    /// They must be equal (DISALLOW_TYPE_COERCION), and are not.
    NotEqual,
    /// They are of different kinds.
    Kind {
        /// That of the writer.
        writer: String,
        /// That of the reader.
        reader: String,
    },
    /// One has `octet`, the other `uint8`, in the same bytes.
    OctetOrUInt8 {
        /// Whether it is the writer that has `octet`.
        writer_has_octet: bool,
    },
    /// One has `char`, the other `int8`: the bytes are the same, the types are not. Cyclone DDS before 11 describes an `int8` as a `char`.
    CharOrInt8 {
        /// Whether the writer has `char`.
        writer_has_char: bool,
    },
    /// The ids of a union's members are all one higher in one of them.
    UnionIds {
        /// The first one of the writer.
        writer: u32,
        /// The first one of the reader.
        reader: u32,
    },
    /// They grow in different ways.
    Extensibility {
        /// That of the writer.
        writer: Extensibility,
        /// That of the reader.
        reader: Extensibility,
    },
    /// The writer's values may be longer than those of the reader.
    Bound {
        /// That of the writer; 0: none.
        writer: u32,
        /// That of the reader.
        reader: u32,
    },
    /// Arrays of other dimensions, or bitmasks of other sizes.
    Size {
        /// That of the writer.
        writer: Vec<u32>,
        /// That of the reader.
        reader: Vec<u32>,
    },
    /// The writer does not have a member that the reader needs.
    OnlyInReader,
    /// The reader does not have a member that it must understand, that is a key, or that a final type cannot lack; or
    /// `prevent_type_widening` is on.
    OnlyInWriter,
    /// Members with the same id have different names, or the other way round.
    NameOrId,
    /// It is a key to one of them only.
    Key,
    /// It is optional to one of them only, where that changes the encoding.
    Optional,
    /// Another member stands in this place.
    Order,
    /// They have no member, literal or label in common.
    NothingInCommon,
    /// A literal has another value, or a value another literal.
    Literals,
    /// Values of the writer's type do not say where they end, which they must do here.
    NotDelimited,
    /// Types are nested too deeply to be compared.
    TooDeep,
}

impl fmt::Display for TypeDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for TypeDifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEqual => f.write_str("the types are not equal, and the reader allows no coercion"),
            Self::Kind { writer, reader } => write!(f, "the writer has {writer}, the reader {reader}"),
            Self::OctetOrUInt8 { writer_has_octet } => {
                let (writer, reader) = if *writer_has_octet { ("octet", "uint8") } else { ("uint8", "octet") };
                write!(
                    f,
                    "the writer has {writer}, the reader {reader}: `u8` is described as uint8, or as octet if its member \
                     says `#[dds(octet)]`; do as the other side does, which describes both as octet if it is Cyclone DDS before 11"
                )
            }
            Self::CharOrInt8 { writer_has_char } => {
                let (writer, reader) = if *writer_has_char { ("char", "int8") } else { ("int8", "char") };
                write!(
                    f,
                    "the writer has {writer}, the reader {reader}: Cyclone DDS before 11 describes int8 as char; if it is that, \
                     let names of types decide"
                )
            }
            Self::UnionIds { writer, reader } => write!(
                f,
                "the union's member ids begin with {writer} to the writer, with {reader} to the reader: ours count from 1, \
                 those of Cyclone DDS up to 11.0 from 0, as ours do if the first case says `#[dds(id = 0)]`"
            ),
            Self::Extensibility { writer, reader } => {
                write!(f, "{} to the writer, {} to the reader", word(*writer), word(*reader))
            }
            Self::Bound { writer: 0, reader } => write!(f, "unbounded to the writer, at most {reader} to the reader"),
            Self::Bound { writer, reader } => write!(f, "at most {writer} to the writer, {reader} to the reader"),
            Self::Size { writer, reader } => write!(f, "of size {writer:?} to the writer, {reader:?} to the reader"),
            Self::OnlyInReader => f.write_str("the writer's type does not have it, and the reader's needs it"),
            Self::OnlyInWriter => f.write_str("the reader's type does not have it, and must"),
            Self::NameOrId => f.write_str("its name and its id belong to different members of the other type"),
            Self::Key => f.write_str("a key to one of them only"),
            Self::Optional => f.write_str("optional to one of them only"),
            Self::Order => f.write_str("another member stands in this place of the other type"),
            Self::NothingInCommon => f.write_str("the types have nothing in common"),
            Self::Literals => f.write_str("the literals do not have the same values"),
            Self::NotDelimited => {
                // What has a header may differ within it; of what has none, even a `typedef` must be alike (7.2.4.2).
                f.write_str(
                    "its values do not say where they end, and its type is not described alike on both sides (a `typedef` \
                     is enough); make it appendable or mutable",
                )
            }
            Self::TooDeep => f.write_str("the types are nested too deeply to be compared"),
        }
    }
}

fn word(extensibility: Extensibility) -> &'static str {
    match extensibility {
        Extensibility::Final => "final",
        Extensibility::Appendable => "appendable",
        Extensibility::Mutable => "mutable",
    }
}
