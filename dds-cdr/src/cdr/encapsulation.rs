//! Encapsulation header: the first four bytes of every payload.
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
//! PP: number of padding bytes at the end, which make the payload a multiple of 4
//! ```

use super::{DecodeError, DecodeErrorKind};

/// Version of the encoding rules of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// Classic CDR: 8-byte values are aligned to 8. `DataRepresentationId` 0, which every peer supports.
    #[default]
    Xcdr1,
    /// Alignment is at most 4, and appendable types carry their length. `DataRepresentationId` 2.
    Xcdr2,
}

impl Encoding {
    /// Returns the largest alignment in bytes.
    #[must_use]
    pub const fn alignment_max(self) -> usize {
        match self {
            Self::Xcdr1 => 8,
            Self::Xcdr2 => 4,
        }
    }

    /// Returns the id of this encoding in the DATA_REPRESENTATION policy.
    #[must_use]
    pub const fn representation_id(self) -> i16 {
        match self {
            Self::Xcdr1 => 0,
            Self::Xcdr2 => 2,
        }
    }
}

/// How a type may evolve without breaking readers of its older form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extensibility {
    /// No evolution: the smallest encoding.
    Final,
    /// Members may be added at the end. XCDR2 prefixes the length.
    Appendable,
    /// Members may be added and removed anywhere. Each member carries its id.
    Mutable,
}

/// Byte order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl ByteOrder {
    /// The byte order of this machine. Samples are encoded in it, so runs of numbers are plain copies.
    pub const HOST: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    /// Returns whether numbers have the same bytes in the payload and in memory.
    #[must_use]
    pub const fn is_host(self) -> bool {
        matches!((self, Self::HOST), (Self::Little, Self::Little) | (Self::Big, Self::Big))
    }
}

/// Framing of the outermost value of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Members in sequence.
    Plain,
    /// A length, then members in sequence (XCDR2).
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
    /// Number of padding bytes at the end of the payload, 0 to 3.
    pub padding: u8,
}

impl Encapsulation {
    /// Length of the header in bytes.
    pub const LEN: usize = 4;

    /// Creates the header for a type with this extensibility, without padding.
    #[must_use]
    pub const fn new(encoding: Encoding, extensibility: Extensibility, order: ByteOrder) -> Self {
        Self { encoding, format: format_of(encoding, extensibility), order, padding: 0 }
    }

    /// Parses the header at the start of `payload`.
    ///
    /// Only the padding count of the options is used; vendors differ in the other bits.
    ///
    /// # Errors
    /// `payload` is shorter than the header, or its representation is not a CDR representation.
    pub fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let Some(&[high, low, _, options]) = payload.first_chunk::<{ Self::LEN }>() else {
            return Err(DecodeError::new(payload.len(), DecodeErrorKind::Truncated));
        };
        let identifier = u16::from_be_bytes([high, low]);
        // The lowest bit is the byte order. 2 is XML, which carries no binary sample.
        let (encoding, format) = match identifier >> 1 {
            0 => (Encoding::Xcdr1, Format::Plain),
            1 => (Encoding::Xcdr1, Format::ParameterList),
            3 => (Encoding::Xcdr2, Format::Plain),
            4 => (Encoding::Xcdr2, Format::Delimited),
            5 => (Encoding::Xcdr2, Format::ParameterList),
            _ => return Err(DecodeError::new(0, DecodeErrorKind::Representation { identifier })),
        };
        let order = if identifier & 1 == 0 { ByteOrder::Big } else { ByteOrder::Little };
        // The other option bits are reserved, and are ignored.
        Ok(Self { encoding, format, order, padding: options & PADDING_MASK })
    }

    /// Returns the bytes of the header on the wire.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let [high, low] = self.identifier().to_be_bytes();
        [high, low, 0, self.padding & PADDING_MASK]
    }

    /// Returns the representation identifier.
    #[must_use]
    pub const fn identifier(self) -> u16 {
        // The numbers of RTPS 2.5, 10.5. The lowest bit is the byte order.
        let big = match (self.encoding, self.format) {
            // XCDR1 has no delimited form: appendable types are sent like final ones.
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

    /// Returns whether this header matches a type with this extensibility.
    #[must_use]
    pub fn fits(self, extensibility: Extensibility) -> bool {
        self.format == format_of(self.encoding, extensibility)
    }

    /// Checks that this header matches a type with this extensibility.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Framing`].
    pub fn expect_fit(self, extensibility: Extensibility) -> Result<(), DecodeError> {
        if !self.fits(extensibility) {
            return Err(DecodeError::new(0, DecodeErrorKind::Framing { identifier: self.identifier() }));
        }
        Ok(())
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
