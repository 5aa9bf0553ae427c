//! Checksum of a message in a HEADER_EXTENSION (RTPS 2.5, 8.3.7).
//!
//! It covers the whole message, with zeros in its own field. Its octets are in the message highest first. CRC-64 is
//! CRC-64/XZ (OMG issue DDSIRTP25-34).

use super::cursor::Cursor;
use super::{WireError, submessage::FLAGS_CHECKSUM};
use crc::{CRC_32_ISCSI, CRC_64_XZ, Crc};

/// Kind of checksum. No kind protects against an attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ChecksumKind {
    /// CRC-32C (Castagnoli), 4 octets.
    Crc32c,
    /// CRC-64/XZ, 8 octets.
    Crc64,
    /// MD5, 16 octets.
    Md5,
}

/// A checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Checksum {
    /// CRC-32C.
    Crc32c(u32),
    /// CRC-64/XZ.
    Crc64(u64),
    /// MD5.
    Md5([u8; 16]),
}

impl ChecksumKind {
    /// Returns the octets in the message.
    #[must_use]
    pub const fn wire_len(self) -> usize {
        match self {
            Self::Crc32c => 4,
            Self::Crc64 => 8,
            Self::Md5 => 16,
        }
    }

    /// Returns the kind that the flags of a HEADER_EXTENSION name.
    pub(super) const fn from_flags(flags: u8) -> Option<Self> {
        match flags & FLAGS_CHECKSUM {
            0x20 => Some(Self::Crc32c),
            0x40 => Some(Self::Crc64),
            0x60 => Some(Self::Md5),
            // No bit: the message has no checksum.
            _ => None,
        }
    }

    /// Returns the flags of this kind.
    pub(super) const fn flags(self) -> u8 {
        match self {
            Self::Crc32c => 0x20,
            Self::Crc64 => 0x40,
            Self::Md5 => 0x60,
        }
    }

    /// Returns the checksum of zeros.
    pub(super) const fn zero(self) -> Checksum {
        match self {
            Self::Crc32c => Checksum::Crc32c(0),
            Self::Crc64 => Checksum::Crc64(0),
            Self::Md5 => Checksum::Md5([0; 16]),
        }
    }

    pub(super) fn parse(self, cursor: &mut Cursor<'_>) -> Result<Checksum, WireError> {
        Ok(match self {
            Self::Crc32c => Checksum::Crc32c(u32::from_be_bytes(cursor.bytes()?)),
            Self::Crc64 => Checksum::Crc64(u64::from_be_bytes(cursor.bytes()?)),
            Self::Md5 => Checksum::Md5(cursor.bytes()?),
        })
    }

    /// Computes the checksum of a message whose checksum field begins at `offset`.
    pub(super) fn of(self, message: &[u8], offset: usize) -> Checksum {
        // The field counts as zeros, because the sender computes the checksum before it knows it.
        let (before, rest) = message.split_at_checked(offset).unwrap_or((message, &[]));
        let after = rest.get(self.wire_len()..).unwrap_or_default();
        let zeros = [0; 16];
        let parts = [before, zeros.get(..self.wire_len()).unwrap_or_default(), after];
        match self {
            Self::Crc32c => {
                let mut digest = CRC_32C.digest();
                for part in parts {
                    digest.update(part);
                }
                Checksum::Crc32c(digest.finalize())
            }
            Self::Crc64 => {
                let mut digest = CRC_64.digest();
                for part in parts {
                    digest.update(part);
                }
                Checksum::Crc64(digest.finalize())
            }
            Self::Md5 => {
                let mut digest = md5::Context::new();
                for part in parts {
                    digest.consume(part);
                }
                Checksum::Md5(digest.finalize().0)
            }
        }
    }
}

impl Checksum {
    /// Returns its kind.
    #[must_use]
    pub const fn kind(self) -> ChecksumKind {
        match self {
            Self::Crc32c(_) => ChecksumKind::Crc32c,
            Self::Crc64(_) => ChecksumKind::Crc64,
            Self::Md5(_) => ChecksumKind::Md5,
        }
    }

    /// Whether a received checksum equals `computed`.
    ///
    /// A CRC may also be stored lowest octet first: the field is an array of octets, but some peers write a number in
    /// the byte order of the submessage.
    pub(super) fn matches_computed(self, computed: Self) -> bool {
        self == computed
            || match (self, computed) {
                (Self::Crc32c(found), Self::Crc32c(computed)) => found.swap_bytes() == computed,
                (Self::Crc64(found), Self::Crc64(computed)) => found.swap_bytes() == computed,
                _ => false,
            }
    }

    /// Returns the octets for the message; the first [`ChecksumKind::wire_len`] count.
    pub(super) fn to_octets(self) -> [u8; 16] {
        let mut octets = [0; 16];
        match self {
            Self::Crc32c(value) => octets[..4].copy_from_slice(&value.to_be_bytes()),
            Self::Crc64(value) => octets[..8].copy_from_slice(&value.to_be_bytes()),
            Self::Md5(value) => octets = value,
        }
        octets
    }
}

static CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
static CRC_64: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_field_counts_as_zeros() {
        for kind in [ChecksumKind::Crc32c, ChecksumKind::Crc64, ChecksumKind::Md5] {
            let mut message = [7; 40];
            let with_sevens = kind.of(&message, 20);
            message[20..20 + kind.wire_len()].fill(0);
            assert_eq!(kind.of(&message, 20), with_sevens);
            assert_eq!(kind.of(&message, 1000), kind.of(&[&message[..], &[0; 16][..kind.wire_len()]].concat(), 40));
            message[39] = 8;
            assert_ne!(kind.of(&message, 20), with_sevens);
        }
    }

    #[test]
    fn known_checksums_of_123456789() {
        // Check values of the catalogs. Four, eight or sixteen zeros follow in place of the field.
        assert_eq!(CRC_32C.checksum(b"123456789"), 0xe306_9283);
        assert_eq!(CRC_64.checksum(b"123456789"), 0x995d_c9bb_df19_39fa);
        assert_eq!(
            ChecksumKind::Crc32c.of(b"123456789\0\0\0\0", 9),
            Checksum::Crc32c(CRC_32C.checksum(b"123456789\0\0\0\0"))
        );
    }

    #[test]
    fn crc_is_accepted_in_either_octet_order() {
        assert!(Checksum::Crc32c(0x0102_0304).matches_computed(Checksum::Crc32c(0x0403_0201)));
        assert!(Checksum::Crc64(1).matches_computed(Checksum::Crc64(1 << 56)));
        assert!(!Checksum::Crc64(1).matches_computed(Checksum::Crc64(1 << 48)));
        assert!(!Checksum::Crc32c(0).matches_computed(Checksum::Crc64(0)));
        let mut md5 = [0; 16];
        md5[0] = 1;
        let found = Checksum::Md5(md5);
        md5.reverse();
        assert!(!found.matches_computed(Checksum::Md5(md5)));
    }
}
