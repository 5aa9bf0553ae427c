//! The key of a sender: sessions, and initialization vectors that never repeat.

use super::cipher::{MAC_LEN, Session};
use super::receivers::ReceiverTable;
use super::{Audience, CryptoHeader, KeyMaterial, ReceiverName, TransformationKind, random_bytes};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Messages of one session.
///
/// With 64 KiB each they are 2^32 blocks. An attacker then tells them from random bytes with a chance of 2^-65.
const MESSAGES_PER_SESSION: u64 = 1 << 20;

/// The key with which one sender protects its bytes. Several threads may use it.
///
/// Each use takes the next number of a counter with a random start. The number is the suffix of the initialization
/// vector. Every 2^20 uses, the session id grows by one and a new session key is derived.
pub struct SendKey {
    material: KeyMaterial,
    first_session: u32,
    first_suffix: u64,
    uses: AtomicU64,
    session: Mutex<Arc<Session>>,
    /// `None`: it adds no MACs for receivers.
    receivers: Option<Mutex<ReceiverTable>>,
}

impl SendKey {
    /// Creates a key with a random first session.
    ///
    /// Returns `None` if the material has the kind [`None`](TransformationKind::None).
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn new(material: KeyMaterial) -> Result<Option<Self>, getrandom::Error> {
        Ok(Self::starting_at(material, random_bytes()?))
    }

    /// Creates a key whose first initialization vector is `start`. It must never have been used with this material.
    #[must_use]
    pub fn starting_at(material: KeyMaterial, start: [u8; 12]) -> Option<Self> {
        let [s0, s1, s2, s3, suffix @ ..] = start;
        let session = Mutex::new(Arc::new(Session::derive(&material, [s0, s1, s2, s3])?));
        Some(Self {
            material,
            first_session: u32::from_be_bytes([s0, s1, s2, s3]),
            first_suffix: u64::from_be_bytes(suffix),
            uses: AtomicU64::new(0),
            session,
            receivers: None,
        })
    }

    /// Adds a MAC for each receiver from now on. There are none yet.
    #[must_use]
    pub fn authenticating_origin(self) -> Self {
        Self { receivers: Some(Mutex::default()), ..self }
    }

    /// Whether it adds a MAC for each receiver.
    #[must_use]
    pub fn authenticates_origin(&self) -> bool {
        self.receivers.is_some()
    }

    /// Adds a receiver, if it is new. Returns the master keys for it, with a key that no other receiver gets.
    ///
    /// `None` if this key adds no MACs for receivers, or has [`RECEIVERS_MAX`](super::RECEIVERS_MAX) of them.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn add_receiver(&self, name: ReceiverName) -> Result<Option<KeyMaterial>, getrandom::Error> {
        let Some(receivers) = &self.receivers else { return Ok(None) };
        let key = receivers.lock().unwrap_or_else(PoisonError::into_inner).add(name, &self.material)?;
        Ok(key.map(|key| {
            let mut material = self.material.clone();
            material.receiver = Some(key);
            material
        }))
    }

    /// Removes a receiver. It has another key if it returns.
    pub fn remove_receiver(&self, name: ReceiverName) {
        if let Some(receivers) = &self.receivers {
            receivers.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        }
    }

    /// Appends the MACs for the receivers of the audience. Returns their number.
    pub(crate) fn push_receiver_macs(
        &self,
        header: &CryptoHeader,
        common: &[u8; MAC_LEN],
        audience: Audience,
        out: &mut Vec<u8>,
    ) -> u32 {
        let Some(receivers) = &self.receivers else { return 0 };
        let mut receivers = receivers.lock().unwrap_or_else(PoisonError::into_inner);
        receivers.push_macs(&self.material, header, common, audience, out)
    }

    /// The master keys.
    #[must_use]
    pub fn material(&self) -> &KeyMaterial {
        &self.material
    }

    /// Algorithm of the key.
    #[must_use]
    pub fn kind(&self) -> TransformationKind {
        self.material.kind
    }

    /// Whether this sender has used the initialization vector of a header.
    ///
    /// Two participants that share a key then know their own bytes, which a third one has sent back.
    #[must_use]
    pub fn has_used(&self, header: &CryptoHeader) -> bool {
        let number = u64::from_be_bytes(header.iv_suffix).wrapping_sub(self.first_suffix);
        let renewals = number / MESSAGES_PER_SESSION;
        let session_id = self.first_session.wrapping_add(renewals as u32).to_be_bytes();
        header.key_id == self.material.sender_key_id
            && header.session_id == session_id
            && number < self.uses.load(Ordering::Relaxed)
    }

    /// Takes an unused initialization vector, and its session key.
    pub(crate) fn next(&self) -> (CryptoHeader, Arc<Session>) {
        // Only uniqueness matters, so the counter orders no other memory.
        let number = self.uses.fetch_add(1, Ordering::Relaxed);
        let renewals = number / MESSAGES_PER_SESSION;
        // The session ids wrap after 2^52 uses; the suffix still differs then.
        let session_id = self.first_session.wrapping_add(renewals as u32).to_be_bytes();
        let header = CryptoHeader {
            kind: self.material.kind,
            revision: self.material.revision,
            key_id: self.material.sender_key_id,
            session_id,
            iv_suffix: self.first_suffix.wrapping_add(number).to_be_bytes(),
        };
        (header, self.session(session_id))
    }

    fn session(&self, id: [u8; 4]) -> Arc<Session> {
        let mut current = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if current.id != id {
            // `starting_at` has derived a session of the same material, so this one exists as well.
            if let Some(next) = Session::derive(&self.material, id) {
                *current = Arc::new(next);
            }
        }
        debug_assert_eq!(current.id, id, "the material of a sender has a session for each id");
        Arc::clone(&current)
    }
}

impl fmt::Debug for SendKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendKey").field("material", &self.material).field("uses", &self.uses).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn key(start: [u8; 12]) -> SendKey {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap();
        SendKey::starting_at(material, start).unwrap()
    }

    #[test]
    fn no_initialization_vector_repeats_across_sessions() {
        let key = key([0xff; 12]);
        let mut seen = BTreeSet::new();
        for first in [0, MESSAGES_PER_SESSION - 50, 3 * MESSAGES_PER_SESSION - 50] {
            key.uses.store(first, Ordering::Relaxed);
            for _ in 0..100 {
                let (header, session) = key.next();
                assert_eq!(session.id, header.session_id);
                assert!(seen.insert(header.iv()));
            }
        }
        let sessions: BTreeSet<_> = seen.iter().map(|iv| iv[..4].to_vec()).collect();
        assert_eq!(sessions.len(), 4);
    }

    #[test]
    fn threads_share_the_counter() {
        let key = key([1; 12]);
        let taken = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| (0..500).map(|_| key.next().0.iv()).collect::<Vec<_>>()));
            threads.map(|thread| thread.join().unwrap()).concat()
        });
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 2000);
    }

    #[test]
    fn sender_knows_its_own_headers() {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap();
        let [one, other] = [[9; 12], [10; 12]].map(|start| SendKey::starting_at(material.clone(), start).unwrap());
        for uses in [0, MESSAGES_PER_SESSION - 1, 5 * MESSAGES_PER_SESSION] {
            one.uses.store(uses, Ordering::Relaxed);
            let (header, _) = one.next();
            assert!(one.has_used(&header) && !other.has_used(&header));
            one.uses.store(uses, Ordering::Relaxed);
            assert!(!one.has_used(&header), "a later number is that of the other side");
        }
    }

    #[test]
    fn material_without_algorithm_gives_no_key() {
        assert!(SendKey::new(KeyMaterial::generate(TransformationKind::None).unwrap()).unwrap().is_none());
    }
}
