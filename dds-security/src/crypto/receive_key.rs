//! The key of a receiver: the sessions of one sender.

use super::cipher::Session;
use super::footer::Footer;
use super::{CryptoHeader, KeyMaterial, OpenError, ReplayWindow};
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
    /// The newest first.
    sessions: [Option<Session>; SESSIONS],
    replay: Option<ReplayWindow>,
}

impl ReceiveKey {
    /// Creates a key from the material of a sender.
    #[must_use]
    pub fn new(material: KeyMaterial) -> Self {
        Self { material, sessions: [const { None }; SESSIONS], replay: None }
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
        if !self.is_named_by(header) {
            return Err(OpenError::UnknownKey);
        }
        let known = self.sessions.iter().position(|session| is_of(session, header));
        let derived = match known {
            Some(_) => None,
            None => Some(Session::derive(&self.material, header.session_id).ok_or(OpenError::UnknownKey)?),
        };
        let session = known.and_then(|at| self.sessions[at].as_ref()).or(derived.as_ref());
        let session = session.ok_or(OpenError::UnknownKey)?;
        if session.is_receiver_specific() {
            let mac = self.material.receiver.as_ref().and_then(|receiver| footer.mac_for(receiver.id));
            session.check_receiver(header, footer.common, mac.ok_or(OpenError::NotForThisReceiver)?)?;
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
