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
    /// The newest first.
    sessions: [Option<Session>; SESSIONS],
    replay: Option<ReplayWindow>,
}

impl ReceiveKey {
    /// Creates a key from the material of a sender.
    #[must_use]
    pub fn new(material: KeyMaterial) -> Self {
        Self { material, receivers: BTreeMap::new(), sessions: [const { None }; SESSIONS], replay: None }
    }

    /// Sets the key for MACs of a part of this receiver, such as one of its endpoints.
    ///
    /// From then on, bytes need a MAC of any of its keys.
    pub fn set_receiver(&mut self, part: [u8; 4], key: ReceiverKey) {
        self.receivers.insert(part, key);
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
        Self { replay: Some(ReplayWindow::default()), ..Self::new(material) }
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
        self.open_if(header, associated, bytes, footer, true)
    }

    /// As [`open`](Self::open), for bytes without MACs for receivers.
    pub(crate) fn open_for_any(
        &mut self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        footer: &Footer<'_>,
    ) -> Result<(), OpenError> {
        self.open_if(header, associated, bytes, footer, false)
    }

    fn open_if(
        &mut self,
        header: &CryptoHeader,
        associated: &[u8],
        bytes: &mut [u8],
        footer: &Footer<'_>,
        checks_receiver: bool,
    ) -> Result<(), OpenError> {
        if !self.is_named_by(header) {
            return Err(OpenError::UnknownKey);
        }
        let known = self.sessions.iter().position(|session| is_of(session, header));
        let derived = match known {
            Some(_) => None,
            None => {
                let receivers = self.material.receiver.iter().chain(self.receivers.values());
                let session = Session::derive(&self.material, receivers, header.session_id);
                Some(session.ok_or(OpenError::UnknownKey)?)
            }
        };
        let session = known.and_then(|at| self.sessions[at].as_ref()).or(derived.as_ref());
        let session = session.ok_or(OpenError::UnknownKey)?;
        if checks_receiver {
            session.check_receiver(header, footer)?;
        }
        session.open(header, associated, bytes, footer.common)?;
        if derived.is_some() {
            self.keep(derived);
        }
        let number = u64::from_be_bytes(header.iv_suffix);
        let is_new = self.replay.as_mut().is_none_or(|window| window.accept(number));
        if is_new { Ok(()) } else { Err(OpenError::Replayed) }
    }

    /// Keeps a new session in place of the oldest one.
    #[cold]
    fn keep(&mut self, session: Option<Session>) {
        self.sessions.rotate_right(1);
        self.sessions[0] = session;
    }
}

fn is_of(session: &Option<Session>, header: &CryptoHeader) -> bool {
    session.as_ref().is_some_and(|session| session.id == header.session_id)
}

impl fmt::Debug for ReceiveKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiveKey").field("material", &self.material).finish_non_exhaustive()
    }
}
