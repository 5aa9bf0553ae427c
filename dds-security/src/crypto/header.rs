//! The CryptoHeader, and the kinds of transformation (DDS Security 1.1, 9.5.2.1.1 and 9.5.2.3).

/// An algorithm that protects bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TransformationKind {
    /// No protection.
    #[default]
    None,
    /// Authentication with a key of 128 bits.
    Aes128Gmac,
    /// Encryption and authentication with a key of 128 bits.
    Aes128Gcm,
    /// Authentication with a key of 256 bits.
    Aes256Gmac,
    /// Encryption and authentication with a key of 256 bits.
    Aes256Gcm,
}

impl TransformationKind {
    /// Returns the kind with a number on the wire.
    #[must_use]
    pub const fn from_wire(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::None,
            1 => Self::Aes128Gmac,
            2 => Self::Aes128Gcm,
            3 => Self::Aes256Gmac,
            4 => Self::Aes256Gcm,
            _ => return None,
        })
    }

    /// The number on the wire.
    #[must_use]
    pub const fn to_wire(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Aes128Gmac => 1,
            Self::Aes128Gcm => 2,
            Self::Aes256Gmac => 3,
            Self::Aes256Gcm => 4,
        }
    }

    /// Bytes of a key: 0, 16 or 32.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Aes128Gmac | Self::Aes128Gcm => 16,
            Self::Aes256Gmac | Self::Aes256Gcm => 32,
        }
    }

    /// Whether the bytes are encrypted, and not only authenticated.
    #[must_use]
    pub const fn encrypts(self) -> bool {
        matches!(self, Self::Aes128Gcm | Self::Aes256Gcm)
    }
}

/// The header of protected bytes: it names the key and the initialization vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CryptoHeader {
    /// Algorithm.
    pub kind: TransformationKind,
    /// Revision of the key (DDS Security 1.2). Zero without revisions.
    pub revision: [u8; 3],
    /// Id of the sender's key.
    pub key_id: [u8; 4],
    /// Session, from which the session key is derived.
    pub session_id: [u8; 4],
    /// Last bytes of the initialization vector. They never repeat within a session.
    pub iv_suffix: [u8; 8],
}

impl CryptoHeader {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 20;

    /// Reads a header. Returns `None` for an unknown kind.
    #[must_use]
    pub fn parse(bytes: &[u8; Self::WIRE_LEN]) -> Option<Self> {
        let [r0, r1, r2, kind, k0, k1, k2, k3, s0, s1, s2, s3, suffix @ ..] = *bytes;
        Some(Self {
            kind: TransformationKind::from_wire(kind)?,
            revision: [r0, r1, r2],
            key_id: [k0, k1, k2, k3],
            session_id: [s0, s1, s2, s3],
            iv_suffix: suffix,
        })
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::WIRE_LEN] {
        let mut bytes = [0; Self::WIRE_LEN];
        bytes[..3].copy_from_slice(&self.revision);
        bytes[3] = self.kind.to_wire();
        bytes[4..8].copy_from_slice(&self.key_id);
        bytes[8..12].copy_from_slice(&self.session_id);
        bytes[12..].copy_from_slice(&self.iv_suffix);
        bytes
    }

    /// The initialization vector.
    pub(crate) fn iv(&self) -> [u8; 12] {
        let mut iv = [0; 12];
        iv[..4].copy_from_slice(&self.session_id);
        iv[4..].copy_from_slice(&self.iv_suffix);
        iv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_has_the_layout_of_the_specification() {
        let header = CryptoHeader {
            kind: TransformationKind::Aes256Gcm,
            revision: [0, 0, 7],
            key_id: [1, 2, 3, 4],
            session_id: [5, 6, 7, 8],
            iv_suffix: [9, 10, 11, 12, 13, 14, 15, 16],
        };
        let bytes = [0, 0, 7, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(CryptoHeader::parse(&bytes), Some(header));
        assert_eq!(header.iv(), bytes[8..]);
    }

    #[test]
    fn unknown_kind_is_refused() {
        for number in 0..=u8::MAX {
            let kind = TransformationKind::from_wire(number);
            assert_eq!(kind.is_some(), number <= 4);
            assert!(kind.is_none_or(|kind| kind.to_wire() == number));
        }
        assert_eq!(CryptoHeader::parse(&[9; 20]), None);
    }
}
