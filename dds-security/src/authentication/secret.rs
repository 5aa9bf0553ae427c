//! The shared secret, and the key that follows from it (DDS Security 1.1, 9.5.2.1.2).

use crate::crypto::{KeyMaterial, TransformationKind, hmac};
use crate::pki::Certificate;
use sha2::{Digest, Sha256};
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The result of a handshake: two participants know it, and no other one does.
///
/// It is overwritten when it is dropped, and `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SharedSecret {
    pub(super) secret: [u8; 32],
    pub(super) challenge1: [u8; 32],
    pub(super) challenge2: [u8; 32],
}

/// A participant that has proved its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticatedPeer {
    /// Its certificate, which the identity authority has issued.
    pub certificate: Certificate,
    /// Its permissions as a signed document. The caller verifies them: the handshake does not.
    pub permissions: Vec<u8>,
    /// Its discovery data in PL_CDR, big endian. They count, and not those of an announcement.
    pub participant_data: Vec<u8>,
    /// The secret.
    pub secret: SharedSecret,
}

impl SharedSecret {
    /// Derives the key of the topic ParticipantVolatileMessageSecure, on which both exchange all other keys.
    #[must_use]
    pub fn key_exchange_material(&self) -> KeyMaterial {
        let key_of = |first: &[u8; 32], label: &[u8; 16], second: &[u8; 32]| {
            let mut hash = Sha256::new();
            hash.update(first);
            hash.update(label);
            hash.update(second);
            hmac(&hash.finalize(), &[&self.secret])
        };
        // Both labels have 16 bytes. The missing space in the first one is no typing error.
        let salt = key_of(&self.challenge1, b"keyexchange salt", &self.challenge2);
        let key = key_of(&self.challenge2, b"key exchange key", &self.challenge1);
        KeyMaterial {
            kind: TransformationKind::Aes256Gcm,
            revision: [0; 3],
            sender_key_id: [0; 4],
            master_salt: *salt,
            master_sender_key: *key,
            receiver: None,
        }
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSecret").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values were calculated with the modules `hmac` and `hashlib` of Python.
    #[test]
    fn key_follows_from_secret_and_challenges() {
        let secret = SharedSecret { secret: [1; 32], challenge1: [2; 32], challenge2: [3; 32] };
        let material = secret.key_exchange_material();
        let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!(hex(&material.master_salt), "96d50d8f81cebfb57a82b1ade6378c04c8e0564880aa6644cc9d663f2c3643ba");
        assert_eq!(
            hex(&material.master_sender_key),
            "53c6b73f6e675b42386e1511ffc2176e83a844d9b15badcdd860e0620ea1c449"
        );
        assert_eq!((material.kind, material.sender_key_id), (TransformationKind::Aes256Gcm, [0; 4]));
        assert_eq!(format!("{secret:?}"), "SharedSecret { .. }");
    }
}
