//! The four bytes in front of every payload.
//!
//! ```text
//! 0       1       2       3       4
//! +-------+-------+-------+-------+---
//! | identifier,   | options       | body
//! | big-endian    |     .. .. ..PP|
//! +-------+-------+-------+-------+---
//! 0000 CDR_BE     0001 CDR_LE       XCDR1, final and appendable types
//! 0002 PL_CDR_BE  0003 PL_CDR_LE    XCDR1, mutable types and discovery data
//! 0006 CDR2_BE    0007 CDR2_LE      XCDR2, final types
//! 0008 D_CDR2_BE  0009 D_CDR2_LE    XCDR2, appendable types
//! 000a PL_CDR2_BE 000b PL_CDR2_LE   XCDR2, mutable types
//! PP: how many bytes were added at the end to make the payload a multiple of 4
//! ```

use super::{DecodeError, DecodeErrorKind};

/// Which version of the encoding rules a payload follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// Classic CDR: 8-byte values are aligned to 8. `DataRepresentationId` 0, what every peer speaks.
    #[default]
    Xcdr1,
    /// Alignment is at most 4, appendable types carry their length. `DataRepresentationId` 2.
    Xcdr2,
}

impl Encoding {
    /// The largest alignment there is.
    #[must_use]
    pub const fn alignment_max(self) -> usize {
        match self {
            Self::Xcdr1 => 8,
            Self::Xcdr2 => 4,
        }
    }

    /// The number under which the DATA_REPRESENTATION policy knows this encoding.
    #[must_use]
    pub const fn representation_id(self) -> i16 {
        match self {
            Self::Xcdr1 => 0,
            Self::Xcdr2 => 2,
        }
    }
}

/// How a type may grow without breaking the readers of its older form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extensibility {
    /// Not at all: the smallest encoding.
    Final,
    /// By members added at its end. XCDR2 sends its length in front.
    Appendable,
    /// By members added and removed anywhere. Each member carries its id.
    Mutable,
}

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant one.
    Little,
    /// The most significant one.
    Big,
}

impl ByteOrder {
    /// The order of this machine: what samples are written in, so that runs of numbers are copied as they lie.
    pub const HOST: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    /// Whether numbers lie in the payload as they do in memory.
    #[must_use]
    pub const fn is_host(self) -> bool {
        matches!((self, Self::HOST), (Self::Little, Self::Little) | (Self::Big, Self::Big))
    }
}

/// How the outermost value of a payload is framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Members one after the other.
    Plain,
    /// A length, then members one after the other (XCDR2).
    Delimited,
    /// Each member with its id and length.
    ParameterList,
}

/// The encapsulation header of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encapsulation {
    /// The encoding rules.
    pub encoding: Encoding,
    /// The framing of the outermost value.
    pub format: Format,
    /// The byte order.
    pub order: ByteOrder,
    /// How many bytes at the end of the payload are padding, 0 to 3.
    pub padding: u8,
}

impl Encapsulation {
    /// Bytes of the header.
    pub const LEN: usize = 4;

    /// The header of a value of a type with `extensibility`, without padding.
    #[must_use]
    pub const fn new(encoding: Encoding, extensibility: Extensibility, order: ByteOrder) -> Self {
        Self { encoding, format: format_of(encoding, extensibility), order, padding: 0 }
    }

    /// Reads the header at the beginning of `payload`.
    ///
    /// The bits of the options that are not the padding count are ignored; vendors differ in them.
    ///
    /// # Errors
    /// `payload` is shorter than the header, or names a representation that is not one of CDR.
    pub fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let Some(&[high, low, _, options]) = payload.first_chunk::<{ Self::LEN }>() else {
            return Err(DecodeError::new(payload.len(), DecodeErrorKind::Truncated));
        };
        let identifier = u16::from_be_bytes([high, low]);
        let (encoding, format) = match identifier >> 1 {
            0 => (Encoding::Xcdr1, Format::Plain),
            1 => (Encoding::Xcdr1, Format::ParameterList),
            3 => (Encoding::Xcdr2, Format::Plain),
            4 => (Encoding::Xcdr2, Format::Delimited),
            5 => (Encoding::Xcdr2, Format::ParameterList),
            _ => return Err(DecodeError::new(0, DecodeErrorKind::Representation { identifier })),
        };
        let order = if identifier & 1 == 0 { ByteOrder::Big } else { ByteOrder::Little };
        Ok(Self { encoding, format, order, padding: options & PADDING_MASK })
    }

    /// The header as it stands on the wire.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let [high, low] = self.identifier().to_be_bytes();
        [high, low, 0, self.padding & PADDING_MASK]
    }

    /// The representation identifier.
    #[must_use]
    pub const fn identifier(self) -> u16 {
        let big = match (self.encoding, self.format) {
            // XCDR1 has no delimited form: there appendable types are sent as final ones.
            (Encoding::Xcdr1, Format::Plain | Format::Delimited) => 0x0000,
            (Encoding::Xcdr1, Format::ParameterList) => 0x0002,
            (Encoding::Xcdr2, Format::Plain) => 0x0006,
            (Encoding::Xcdr2, Format::Delimited) => 0x0008,
            (Encoding::Xcdr2, Format::ParameterList) => 0x000a,
        };
        match self.order {
            ByteOrder::Big => big,
            ByteOrder::Little => big | 1,
        }
    }

    /// Whether a value of a type with `extensibility` can stand behind this header.
    #[must_use]
    pub fn fits(self, extensibility: Extensibility) -> bool {
        self.format == format_of(self.encoding, extensibility)
    }

    /// As [`fits`](Self::fits), with an error that says what the header announces instead.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Framing`].
    pub fn expect_fit(self, extensibility: Extensibility) -> Result<(), DecodeError> {
        match self.fits(extensibility) {
            true => Ok(()),
            false => Err(DecodeError::new(0, DecodeErrorKind::Framing { identifier: self.identifier() })),
        }
    }
}

const fn format_of(encoding: Encoding, extensibility: Extensibility) -> Format {
    match (encoding, extensibility) {
        (_, Extensibility::Mutable) => Format::ParameterList,
        (Encoding::Xcdr2, Extensibility::Appendable) => Format::Delimited,
        _ => Format::Plain,
    }
}

const PADDING_MASK: u8 = 0b11;
