//! The key of a receiver: the sessions of one sender.

use super::cipher::Session;
use super::footer::Footer;
use super::{CryptoHeader, KeyMaterial, OpenError, ReceiverKey, ReplayWindow};
use std::collections::BTreeMap;
use std::fmt;

/// Session keys that are kept for one sender.
///
/// Some senders change the session every 32 messages. Late messages then still find their key.
const SESSIONS: usize = 4;

/// The key with which a receiver opens the bytes of one sender.
///
/// It keeps the keys of the last sessions. A session whose bytes do not open is not kept, so an unknown peer cannot
/// displace the others.
pub struct ReceiveKey {
    material: KeyMaterial,
    /// Keys for MACs of this receiver, by the name of a part of it. The material may have one more.
    receivers: BTreeMap<[u8; 4], ReceiverKey>,
    /// The newest first. Boxed, because a session is large, and many keys open little.
    sessions: [Option<Box<Session>>; SESSIONS],
    refuses_replays: bool,
    /// `None` before the first bytes. It is large, and many keys never open anything.
    window: Option<Box<ReplayWindow>>,
}

/// Whether bytes need a MAC for this receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReceiverMacs {
    /// They do, beside the common one.
    Required,
    /// Their footer has the common one only.
    Absent,
}

impl ReceiveKey {
    /// Creates a key from the material of a sender.
    #[must_use]
    pub fn new(material: KeyMaterial) -> Self {
        let sessions = [const { None }; SESSIONS];
        Self { material, receivers: BTreeMap::new(), sessions, refuses_replays: false, window: None }
    }

    /// Sets the key for MACs of a part of this receiver, such as one of its endpoints.
    ///
    /// From then on, bytes need a MAC of any of its keys.
    pub fn set_receiver(&mut self, part: [u8; 4], key: ReceiverKey) {
        self.receivers.insert(part, key);
        // The kept sessions have no cipher for the new key.
        self.sessions = [const { None }; SESSIONS];
    }

    /// Removes the key of a part of this receiver.
    pub fn remove_receiver(&mut self, part: [u8; 4]) {
        // The last key stays: without any, bytes would need no MAC.
        if self.receivers.len() > 1 && self.receivers.remove(&part).is_some() {
            self.sessions = [const { None }; SESSIONS];
        }
    }

    /// Whether bytes need a MAC for this receiver.
    #[must_use]
    pub fn authenticates_origin(&self) -> bool {
        self.material.receiver.is_some() || !self.receivers.is_empty()
    }

    /// Creates a key that also refuses replays.
    ///
    /// The sender must number its messages in the suffix of the initialization vector, as
    /// [`SendKey`](super::SendKey) does. The standard only requires that the suffix does not repeat.
    #[must_use]
    pub fn refusing_replays(material: KeyMaterial) -> Self {
        Self { refuses_replays: true, ..Self::new(material) }
    }

    /// The master keys.
    #[must_use]
    pub fn material(&self) -> &KeyMaterial {
        &self.material
    }

    /// Whether a header names this key.
    #[must_use]
    pub fn is_named_by(&self, header: &CryptoHeader) -> bool {
        self.material.sender_key_id == header.key_id
            && self.material.kind == header.kind
            && self.material.revision == header.revision
    }

    /// Verifies and decrypts `bytes` in place. The MAC also covers `associated`.
    ///
    /// Bytes that did not open are no plain text, and must not be used.
    pub(crate) fn open(
        &mut self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        footer: &Footer<'_>,
    ) -> Result<(), OpenError> {
        let macs = if self.authenticates_origin() { ReceiverMacs::Required } else { ReceiverMacs::Absent };
        self.open_with(header, associated, bytes, footer, macs)
    }

    /// As [`open`](Self::open), for bytes without MACs for receivers.
    pub(crate) fn open_for_any(
        &mut self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        footer: &Footer<'_>,
    ) -> Result<(), OpenError> {
        self.open_with(header, associated, bytes, footer, ReceiverMacs::Absent)
    }

    fn open_with(
        &mut self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        footer: &Footer<'_>,
        macs: ReceiverMacs,
    ) -> Result<(), OpenError> {
        if !self.is_named_by(header) {
            return Err(OpenError::UnknownKey);
        }
        // Bytes for other receivers cost no cryptography.
        if macs == ReceiverMacs::Required && !self.receiver_keys().any(|key| footer.mac_for(key.id).is_some()) {
            return Err(OpenError::NotForThisReceiver);
        }
        let known = self.sessions.iter().position(|session| is_of(session, header));
        let mut derived = match known {
            Some(_) => None,
            None => Some(Session::derive(&self.material, header.session_id).ok_or(OpenError::UnknownKey)?),
        };
        let session = known.and_then(|at| self.sessions[at].as_deref()).or(derived.as_ref());
        session.ok_or(OpenError::UnknownKey)?.open(header, associated, bytes, footer.common)?;
        // The keys of receivers may be many. Only a sender with the common key makes this participant derive them.
        if let Some(derived) = &mut derived {
            derived.derive_receivers(&self.material, self.receiver_keys());
        }
        let session = known.and_then(|at| self.sessions[at].as_deref()).or(derived.as_ref());
        if let (Some(session), ReceiverMacs::Required) = (session, macs) {
            session.check_receiver(header, footer)?;
        }
        if let Some(derived) = derived {
            self.keep(derived);
        }
        // Only authentic numbers enter the window: forged ones would shut out true messages.
        self.check_replay(u64::from_be_bytes(header.iv_suffix))
    }

    fn check_replay(&mut self, number: u64) -> Result<(), OpenError> {
        let is_new = !self.refuses_replays || self.window.get_or_insert_default().accept(number);
        if is_new { Ok(()) } else { Err(OpenError::Replayed) }
    }

    /// The keys for MACs of this receiver.
    fn receiver_keys(&self) -> impl Iterator<Item = &ReceiverKey> {
        self.material.receiver.iter().chain(self.receivers.values())
    }

    /// Keeps a new session in place of the oldest one.
    #[cold]
    fn keep(&mut self, session: Session) {
        debug_assert!(
            self.sessions.iter().flatten().all(|kept| kept.id != session.id),
            "the caller has looked for the session"
        );
        self.sessions.rotate_right(1);
        match &mut self.sessions[0] {
            // Some senders change the session often, so the memory is reused.
            Some(oldest) => **oldest = session,
            none => *none = Some(Box::new(session)),
        }
    }
}

fn is_of(session: &Option<Box<Session>>, header: &CryptoHeader) -> bool {
    session.as_ref().is_some_and(|session| session.id == header.session_id)
}

impl fmt::Debug for ReceiveKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiveKey").field("material", &self.material).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cipher::tests::DERIVED;
    use super::*;
    use crate::crypto::{Audience, SendKey, TransformationKind, submessage};

    const RECEIVER: [u8; 12] = [1; 12];

    /// A key of a sender with MACs for receivers. The receiver has this many endpoints.
    fn keys(endpoints: u8) -> (SendKey, ReceiveKey) {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap();
        let sender = SendKey::new(material.clone()).unwrap().unwrap().authenticating_origin();
        let of_receiver = sender.add_receiver(RECEIVER).unwrap().unwrap().receiver.clone().unwrap();
        let mut receiver = ReceiveKey::new(material);
        (0..endpoints).for_each(|part| receiver.set_receiver([part; 4], of_receiver.clone()));
        (sender, receiver)
    }

    fn sealed(sender: &SendKey, audience: Audience) -> Vec<u8> {
        let mut bytes = vec![7, 1, 4, 0, 1, 2, 3, 4];
        submessage::seal(sender, &mut bytes, 0, audience).unwrap();
        bytes
    }

    /// Returns the result, and the session keys that it has cost.
    fn opened(receiver: &mut ReceiveKey, bytes: &[u8]) -> (Result<usize, OpenError>, usize) {
        let before = DERIVED.get();
        let result = submessage::open(receiver, bytes, &mut Vec::new());
        (result, DERIVED.get() - before)
    }

    #[test]
    fn forged_bytes_cost_no_keys_of_receivers() {
        let (sender, mut receiver) = keys(30);
        let whole = sealed(&sender, Audience::All);
        // Ids of keys are in clear, so an unknown peer copies them into bytes of another session.
        let mut forged = whole.clone();
        forged[12] ^= 1;
        assert_eq!(opened(&mut receiver, &forged), (Err(OpenError::Forged), 1));
        assert_eq!(opened(&mut receiver, &whole), (Ok(whole.len()), 31));
        assert_eq!(opened(&mut receiver, &whole), (Ok(whole.len()), 0));
    }

    #[test]
    fn bytes_for_other_receivers_cost_no_key() {
        let (sender, mut receiver) = keys(2);
        let other = [2; 12];
        sender.add_receiver(other).unwrap().unwrap();
        let bytes = sealed(&sender, Audience::One(other));
        assert_eq!(opened(&mut receiver, &bytes), (Err(OpenError::NotForThisReceiver), 0));
        // A receiver that knows the common key adds a MAC with this id.
        let mut forged = sealed(&sender, Audience::One(RECEIVER));
        *forged.last_mut().unwrap() ^= 1;
        assert_eq!(opened(&mut receiver, &forged).0, Err(OpenError::Forged));
        assert!(opened(&mut receiver, &sealed(&sender, Audience::One(RECEIVER))).0.is_ok());
    }
}
