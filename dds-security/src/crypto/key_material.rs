//! The key material that a sender gives to its receivers (DDS Security 1.1, 9.5.2.1.1).

use super::TransformationKind;
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Master keys of one sender, from which all session keys are derived.
///
/// The secrets are overwritten when the value is dropped, and `Debug` does not show them.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct KeyMaterial {
    /// Algorithm. It determines how many bytes of the keys count.
    #[zeroize(skip)]
    pub kind: TransformationKind,
    /// Revision of the key (DDS Security 1.2). Zero without revisions.
    pub revision: [u8; 3],
    /// Id by which messages name this key.
    pub sender_key_id: [u8; 4],
    /// Salt. Only the first [`TransformationKind::key_len`] bytes count.
    pub master_salt: [u8; 32],
    /// Key. Only the first [`TransformationKind::key_len`] bytes count.
    pub master_sender_key: [u8; 32],
    /// Key for the MACs of one receiver, if the sender adds such MACs.
    pub receiver: Option<ReceiverKey>,
}

/// Key for the MACs of one receiver.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct ReceiverKey {
    /// Id by which footers name this key.
    pub id: [u8; 4],
    /// Key. Only the first bytes count, as for the sender's key.
    pub key: [u8; 32],
}

impl KeyMaterial {
    /// Creates random key material without a key for a receiver.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn generate(kind: TransformationKind) -> Result<Self, getrandom::Error> {
        let mut material = Self {
            kind,
            revision: [0; 3],
            sender_key_id: [0; 4],
            master_salt: [0; 32],
            master_sender_key: [0; 32],
            receiver: None,
        };
        // Bytes behind the length stay zero, so that equal keys compare as equal.
        let len = kind.key_len();
        if len > 0 {
            getrandom::fill(&mut material.sender_key_id)?;
            getrandom::fill(&mut material.master_salt[..len])?;
            getrandom::fill(&mut material.master_sender_key[..len])?;
        }
        Ok(material)
    }

    pub(crate) fn salt(&self) -> &[u8] {
        &self.master_salt[..self.kind.key_len()]
    }

    pub(crate) fn sender_key(&self) -> &[u8] {
        &self.master_sender_key[..self.kind.key_len()]
    }
}

impl ReceiverKey {
    /// Creates a random key for one receiver.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn generate(kind: TransformationKind) -> Result<Self, getrandom::Error> {
        let mut key = Self { id: [0; 4], key: [0; 32] };
        // Id 0 means that there is no key.
        while key.id == [0; 4] {
            getrandom::fill(&mut key.id)?;
        }
        getrandom::fill(&mut key.key[..kind.key_len()])?;
        Ok(key)
    }
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyMaterial")
            .field("kind", &self.kind)
            .field("revision", &self.revision)
            .field("sender_key_id", &self.sender_key_id)
            .field("receiver", &self.receiver)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ReceiverKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverKey").field("id", &self.id).finish_non_exhaustive()
    }
}
