//! Seals and opens the messages of one participant.

use super::known_senders::{KnownSender, KnownSenders, SenderId};
use super::refusals::Refusals;
use super::{PreSharedKey, PskRefusal, RefusalCounts, derive, domain_bytes};
use crate::crypto::message::{self, HeaderBinding, ProtectedMessage};
use crate::crypto::{Audience, OpenError, ReceiveKey, SendKey, TooLong, TransformationKind, insert_front};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How messages of this protection bind their header.
const BINDING: HeaderBinding = HeaderBinding::Authenticated { pre_shared: true };

/// Most GUID prefixes under which one protection seals: the participant's own one, and those of a relay.
///
/// A key that made room would restart its numbers when it comes back. Its receivers would refuse them as replays.
const OWN_MAX: usize = 16;

/// Where a pre-shared key applies. Keys of different domains or tags differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PskDomain {
    /// Domain id.
    pub id: u32,
    /// Domain tag; empty without one.
    pub tag: String,
    /// Vendor whose participants number their messages, so that replays are known. Default: none.
    ///
    /// The standard only requires that the numbers of a sender do not repeat.
    pub numbering_vendor: Option<[u8; 2]>,
}

/// Seals and opens messages with a pre-shared key. All threads of a participant share one.
///
/// ```
/// use dds_security::psk::{Passphrase, PreSharedKey, PskDomain, PskProtection};
///
/// let key = || PreSharedKey::new(Passphrase::new(1, "a text that both sides share").unwrap());
/// let robot = PskProtection::new(key(), PskDomain::default());
/// let station = PskProtection::new(key(), PskDomain::default());
///
/// let plain = *b"RTPS\x02\x05\x01\xddabcdefghijkl\x01\x01\x00\x00";
/// let mut message = plain.to_vec();
/// robot.seal(&mut message)?;
/// let mut opened = Vec::new();
/// station.open(&message, &mut opened).unwrap();
/// assert_eq!(opened, plain);
/// assert!(station.open(&plain, &mut opened).is_err());
/// # Ok::<(), dds_security::psk::SealError>(())
/// ```
pub struct PskProtection {
    key: PreSharedKey,
    domain: [u8; 3],
    numbering_vendor: Option<[u8; 2]>,
    /// Keys for sending, by version, vendor and GUID prefix of the message header.
    own: Mutex<Vec<([u8; 16], Arc<SendKey>)>>,
    senders: KnownSenders,
    refusals: Refusals,
}

/// A message was not sealed, and must not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealError {
    /// It has no message header, or more bytes than a protected message can have.
    Length,
    /// The system has no random numbers.
    NoRandomNumbers,
    /// Its GUID prefix would be the 17th, and a protection has keys for 16.
    TooManySenders,
}

impl PskProtection {
    /// Most bytes by which a message grows.
    pub const OVERHEAD: usize = message::OVERHEAD;

    /// Creates the protection of one participant.
    #[must_use]
    pub fn new(key: PreSharedKey, domain: PskDomain) -> Self {
        Self {
            key,
            domain: domain_bytes(domain.id, &domain.tag),
            numbering_vendor: domain.numbering_vendor,
            own: Mutex::default(),
            senders: KnownSenders::default(),
            refusals: Refusals::default(),
        }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PreSharedKey {
        &self.key
    }

    /// Protects a message in place. A relay seals under up to 16 GUID prefixes, and needs another protection for more.
    ///
    /// # Errors
    /// [`SealError`] if that is not possible. The message must not be sent then.
    pub fn seal(&self, message: &mut Vec<u8>) -> Result<(), SealError> {
        insert_front(message, 0, self.front_len());
        let sealed = self.seal_behind(message);
        if sealed.is_err() {
            message.drain(..self.front_len());
        }
        sealed
    }

    /// Bytes in front of a message that [`seal_behind`](Self::seal_behind) needs.
    #[must_use]
    pub fn front_len(&self) -> usize {
        message::front_len(self.key.kind(), BINDING)
    }

    /// As [`seal`](Self::seal), for a message that begins at byte [`front_len`](Self::front_len). The bytes in front
    /// have no meaning. Only the header moves, to the begin of `message`.
    ///
    /// # Errors
    /// As [`seal`](Self::seal).
    pub fn seal_behind(&self, message: &mut Vec<u8>) -> Result<(), SealError> {
        let plain = message.get(self.front_len()..).unwrap_or_default();
        let header = plain.first_chunk::<{ message::MESSAGE_HEADER_LEN }>().ok_or(SealError::Length)?;
        let sender = *header.last_chunk().ok_or(SealError::Length)?;
        let key = self.own_key(sender)?;
        message::seal_behind(&key, BINDING, message, Audience::All).map_err(|TooLong| SealError::Length)
    }

    /// Appends the plain message of a datagram to `out`, which is empty. An error leaves it empty.
    ///
    /// # Errors
    /// [`PskRefusal`] if no participant with a known passphrase sent the datagram, or it is a replay.
    pub fn open(&self, datagram: &[u8], out: &mut Vec<u8>) -> Result<(), PskRefusal> {
        self.open_parsed(datagram, out).map_err(|reason| self.refusals.note(reason, datagram))
    }

    /// Datagrams that were refused.
    #[must_use]
    pub fn refused(&self) -> RefusalCounts {
        self.refusals.counts()
    }

    /// Returns a text on the refused datagrams other than replays. Empty if there are none.
    #[must_use]
    pub fn explain(&self) -> String {
        self.refusals.explain()
    }

    /// Senders whose keys are kept.
    #[must_use]
    pub fn known_senders(&self) -> usize {
        self.senders.len()
    }

    fn open_parsed(&self, datagram: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        let message = message::parse(datagram)?;
        // Other bindings belong to the keys of handshakes, and the kind NONE protects nothing.
        if message.binding != BINDING || message.crypto.kind == TransformationKind::None {
            return Err(OpenError::UnknownKey);
        }
        let passphrase = self.passphrase_of(&message).ok_or(OpenError::UnknownKey)?;
        let id = SenderId { sender: message.sender, kind: message.crypto.kind, passphrase };
        if let Some(peer) = self.senders.known(&id) {
            return message.open(&mut peer.key(), out);
        }
        self.open_unknown(&message, id, out)
    }

    /// Opens the first message of a sender. The sender is kept only if the message is authentic.
    #[cold]
    fn open_unknown(&self, message: &ProtectedMessage<'_>, id: SenderId, out: &mut Vec<u8>) -> Result<(), OpenError> {
        let passphrase = self.key.all().nth(id.passphrase).ok_or(OpenError::UnknownKey)?;
        let material = derive(self.domain, passphrase, id.kind, &id.sender);
        let [_, _, vendor @ .., _, _, _, _, _, _, _, _, _, _, _, _] = id.sender;
        let mut key = if self.numbering_vendor == Some(vendor) {
            ReceiveKey::refusing_replays(material)
        } else {
            ReceiveKey::new(material)
        };
        message.open(&mut key, out)?;
        // The message has opened. A forged GUID would displace a sender otherwise.
        match self.senders.keep(id, KnownSender::new(key)) {
            Ok(()) => Ok(()),
            // Its replay window does not know this message yet.
            Err(faster) => message.open(&mut faster.key(), out),
        }
    }

    /// Returns the position of the passphrase that a message names.
    fn passphrase_of(&self, message: &ProtectedMessage<'_>) -> Option<usize> {
        let id = message.crypto.key_id.strip_prefix(&self.domain[..])?;
        self.key.all().position(|known| *id == [known.key_id()] && message.crypto.revision == known.revision())
    }

    fn own_key(&self, sender: [u8; 16]) -> Result<Arc<SendKey>, SealError> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = own.iter().find(|(known, _)| *known == sender) {
            return Ok(Arc::clone(key));
        }
        if own.len() >= OWN_MAX {
            return Err(SealError::TooManySenders);
        }
        let material = derive(self.domain, self.key.passphrase(), self.key.kind(), &sender);
        let key = SendKey::new(material).map_err(|_| SealError::NoRandomNumbers)?;
        // The kind of a pre-shared key is never NONE.
        let key = Arc::new(key.ok_or(SealError::Length)?);
        own.push((sender, Arc::clone(&key)));
        debug_assert!(own.len() <= OWN_MAX, "the number was checked before");
        Ok(key)
    }
}

impl fmt::Debug for PskProtection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PskProtection")
            .field("key", &self.key)
            .field("refusals", &self.refusals)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the message has no header, or is too long to be protected",
            Self::NoRandomNumbers => "the system has no random numbers",
            Self::TooManySenders => "the messages of one protection have more than 16 GUID prefixes",
        })
    }
}

impl std::error::Error for SealError {}
