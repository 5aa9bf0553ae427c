//! Protects and opens the submessages of a message, and whole messages.
//!
//! A submessage that needs protection and has none is dropped, on its way out and on its way in. The rest of its
//! message passes. The parser behind this file sees plain submessages only.
//!
//! | endpoints | submessages | whole messages |
//! |---|---|---|
//! | SPDP, ParticipantStatelessMessage | plain | never protected |
//! | ParticipantVolatileMessageSecure | protected with the key of the handshake | never protected |
//! | protected SEDP and liveliness | by governance | by governance |
//! | plain SEDP, liveliness and types | plain | by governance |
//! | those of the application | by the governance of their topic | by governance |
//!
//! `payload_filter` protects and opens the payloads of the application inside of their submessages.

use super::keys::{KeyTables, KeysOfPeer, OwnTable, ReceivedKeys};
use super::payload_filter::{open_payload, pass_payload, passes_unchanged, seal_payload};
use super::raw_submessages::{Endpoints, RawSubmessage, RawSubmessages};
use dds_rtps::types::{EntityId, GuidPrefix};
use dds_rtps::wire::submessage::id;
use dds_rtps::wire::{Header, OpenedMessage};
use dds_security::crypto::message::{self, HeaderBinding};
use dds_security::crypto::{Audience, OpenError, RECEIVERS_MAX, submessage};
use std::sync::{Mutex, PoisonError};

/// Bytes that a message grows by: its own protection, and that of three submessages. Writers limit the others.
pub(super) const OVERHEAD: u16 = 256;

/// Bytes of the MACs for receivers that one footer has.
pub(super) const RECEIVERS_LEN: u16 = 20 * RECEIVERS_MAX as u16;

/// Buffers that are kept for reuse: more threads than that rarely send or receive at once.
const BUFFERS_MAX: usize = 8;

/// What the governance says about messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageRules {
    /// Whole messages are protected.
    pub(super) messages: bool,
    /// The submessages of protected SEDP are protected.
    pub(super) discovery: bool,
    /// The submessages of protected liveliness are protected.
    pub(super) liveliness: bool,
}

/// Groups of endpoints, as in the table above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtectionGroup {
    Bootstrap,
    Keys,
    SecureDiscovery,
    SecureLiveliness,
    PlainBuiltin,
    User,
}

impl ProtectionGroup {
    fn of(id: EntityId) -> Self {
        match id {
            EntityId::SPDP_WRITER
            | EntityId::SPDP_READER
            | EntityId::STATELESS_MESSAGE_WRITER
            | EntityId::STATELESS_MESSAGE_READER => Self::Bootstrap,
            EntityId::VOLATILE_MESSAGE_WRITER | EntityId::VOLATILE_MESSAGE_READER => Self::Keys,
            EntityId::SECURE_PARTICIPANTS_WRITER
            | EntityId::SECURE_PARTICIPANTS_READER
            | EntityId::SECURE_PUBLICATIONS_WRITER
            | EntityId::SECURE_PUBLICATIONS_READER
            | EntityId::SECURE_SUBSCRIPTIONS_WRITER
            | EntityId::SECURE_SUBSCRIPTIONS_READER => Self::SecureDiscovery,
            EntityId::SECURE_MESSAGE_WRITER | EntityId::SECURE_MESSAGE_READER => Self::SecureLiveliness,
            id if id.is_builtin() => Self::PlainBuiltin,
            _ => Self::User,
        }
    }

    /// Whether whole messages with its submessages are protected, if messages are.
    fn is_in_protected_messages(self) -> bool {
        !matches!(self, Self::Bootstrap | Self::Keys)
    }
}

/// A message must not be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unsealable;

/// Reused buffers.
#[derive(Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn put_back(&self, mut buffer: Vec<u8>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < BUFFERS_MAX {
            buffer.clear();
            kept.push(buffer);
        }
    }
}

/// Protects and opens messages with the keys of the tables.
pub(super) struct MessageFilter {
    pub(super) rules: MessageRules,
    pub(super) keys: KeyTables,
    pub(super) buffers: Buffers,
}

impl MessageFilter {
    /// Bytes that [`seal`](Self::seal) needs in front of a message.
    pub(super) fn front_len(&self) -> usize {
        self.keys.all_own().front_len()
    }

    /// Protects a message in place. It begins at byte [`front_len`](Self::front_len).
    pub(super) fn seal(&self, message: &mut Vec<u8>) -> Result<(), Unsealable> {
        // No key changes before the message is sealed.
        let own = self.keys.all_own();
        let front = own.front_len();
        let plan = SealPlan::of(&own, message.get(front..).unwrap_or_default())?;
        if plan.seals_submessages {
            let mut sealed = self.buffers.take();
            let result = self.seal_submessages(&own, message, front, &mut sealed);
            std::mem::swap(message, &mut sealed);
            self.buffers.put_back(sealed);
            result?;
        }
        match &own.messages {
            Some(key) if plan.protects_message => {
                let sealed = message::seal_behind(key, HeaderBinding::InfoSource, message, plan.audience);
                sealed.map_err(|_| Unsealable)
            }
            _ => {
                message.drain(..front);
                Ok(())
            }
        }
    }

    /// Copies a message, and protects its submessages on the way.
    fn seal_submessages(
        &self,
        own: &OwnTable,
        message: &[u8],
        front: usize,
        sealed: &mut Vec<u8>,
    ) -> Result<(), Unsealable> {
        let (head, rest) = message.split_at_checked(front + Header::WIRE_LEN).ok_or(Unsealable)?;
        sealed.extend_from_slice(head);
        let mut destination = GuidPrefix::UNKNOWN;
        for submessage in RawSubmessages(rest) {
            if submessage.id == id::INFO_DST {
                destination = submessage.prefix().ok_or(Unsealable)?;
            }
            if !submessage.is_of_endpoint() {
                sealed.extend_from_slice(submessage.bytes);
                continue;
            }
            let sender = submessage.endpoints().ok_or(Unsealable)?.sender;
            let peer;
            let (of_submessage, of_payload) = match ProtectionGroup::of(sender) {
                ProtectionGroup::Bootstrap | ProtectionGroup::PlainBuiltin => (None, None),
                ProtectionGroup::Keys => {
                    peer = self.keys.peer(destination).ok_or(Unsealable)?;
                    (Some(&peer.exchange), None)
                }
                ProtectionGroup::SecureDiscovery | ProtectionGroup::SecureLiveliness | ProtectionGroup::User => {
                    let keys = own.endpoints.get(&sender).ok_or(Unsealable)?;
                    (keys.submessages.as_ref(), keys.payloads.as_ref())
                }
            };
            let start = sealed.len();
            sealed.resize(start + of_submessage.map_or(0, |key| submessage::front_len(key.kind())), 0);
            match of_payload {
                Some(key) => seal_payload(key, submessage.bytes, sealed)?,
                None => sealed.extend_from_slice(submessage.bytes),
            }
            if let Some(key) = of_submessage {
                submessage::seal_behind(key, sealed, start, audience_of(destination)).map_err(|_| Unsealable)?;
            }
        }
        Ok(())
    }

    /// Returns where the plain message of a datagram is. It may be in `scratch`, which is empty.
    ///
    /// # Errors
    /// The reason, if nothing of the datagram passes.
    pub(super) fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, OpenError> {
        let header = datagram.first_chunk::<{ Header::WIRE_LEN }>().ok_or(OpenError::Malformed)?;
        if !header.starts_with(b"RTPS") {
            return Err(OpenError::Malformed);
        }
        let sender = GuidPrefix(*header.last_chunk().ok_or(OpenError::Malformed)?);
        let peer = self.keys.peer(sender);
        let mut received = peer.as_ref().map(|peer| peer.received());
        let was_protected = datagram.get(Header::WIRE_LEN) == Some(&id::SRTPS_PREFIX);
        let opener = MessageOpener { filter: self, sender, peer: peer.as_deref(), was_protected };
        if !was_protected {
            if opener.passes_whole(datagram, received.as_deref_mut()) {
                return Ok(OpenedMessage::Datagram);
            }
            opener.open(datagram, received.as_deref_mut(), scratch)?;
            return Ok(OpenedMessage::Scratch { start: 0 });
        }
        let start = self.open_message(datagram, received.as_deref_mut(), scratch)?;
        let plain = scratch.get(start..).unwrap_or_default();
        if opener.passes_whole(plain, received.as_deref_mut()) {
            return Ok(OpenedMessage::Scratch { start });
        }
        let mut out = self.buffers.take();
        let result = opener.open(plain, received.as_deref_mut(), &mut out);
        std::mem::swap(scratch, &mut out);
        self.buffers.put_back(out);
        result.map(|()| OpenedMessage::Scratch { start: 0 })
    }

    fn open_message(
        &self,
        datagram: &[u8],
        received: Option<&mut ReceivedKeys>,
        plain: &mut Vec<u8>,
    ) -> Result<usize, OpenError> {
        let parsed = message::parse(datagram)?;
        if parsed.binding != HeaderBinding::InfoSource {
            return Err(OpenError::UnknownKey);
        }
        let key = received.and_then(|received| received.messages(&parsed.crypto)).ok_or(OpenError::UnknownKey)?;
        parsed.open_behind(key, plain)
    }
}

/// What a message needs before it is sent.
struct SealPlan {
    /// The whole message is protected, if messages are.
    protects_message: bool,
    /// A submessage is protected, or the payload of one.
    seals_submessages: bool,
    /// The participants that the message is for.
    audience: Audience,
}

impl SealPlan {
    fn of(own: &OwnTable, message: &[u8]) -> Result<Self, Unsealable> {
        let rest = message.get(Header::WIRE_LEN..).ok_or(Unsealable)?;
        let mut destination = GuidPrefix::UNKNOWN;
        let mut audience = None;
        let (mut protects_message, mut bootstraps, mut seals_submessages) = (false, false, false);
        for submessage in RawSubmessages(rest) {
            if submessage.id == id::INFO_DST {
                destination = submessage.prefix().ok_or(Unsealable)?;
            }
            if !submessage.is_of_endpoint() {
                continue;
            }
            let sender = submessage.endpoints().ok_or(Unsealable)?.sender;
            let group = ProtectionGroup::of(sender);
            *(if group.is_in_protected_messages() { &mut protects_message } else { &mut bootstraps }) = true;
            let addressed = audience_of(destination);
            audience = Some(audience.filter(|known| *known != addressed).map_or(addressed, |_| Audience::All));
            seals_submessages |= match group {
                ProtectionGroup::Bootstrap | ProtectionGroup::PlainBuiltin => false,
                ProtectionGroup::Keys => true,
                ProtectionGroup::SecureDiscovery | ProtectionGroup::SecureLiveliness | ProtectionGroup::User => {
                    // An endpoint that is not in the table is removed, or not known yet.
                    let keys = own.endpoints.get(&sender).ok_or(Unsealable)?;
                    keys.submessages.is_some() || keys.payloads.is_some()
                }
            };
        }
        if own.messages.is_some() && protects_message && bootstraps {
            debug_assert!(false, "messages that are never protected share no datagram with others");
            return Err(Unsealable);
        }
        Ok(Self { protects_message, seals_submessages, audience: audience.unwrap_or(Audience::All) })
    }
}

/// Opens the submessages of one message.
struct MessageOpener<'a> {
    filter: &'a MessageFilter,
    sender: GuidPrefix,
    peer: Option<&'a KeysOfPeer>,
    /// The whole message was protected.
    was_protected: bool,
}

impl MessageOpener<'_> {
    /// Whether [`open`](Self::open) would keep the message as it is. Most messages need no copy then.
    fn passes_whole(&self, message: &[u8], mut received: Option<&mut ReceivedKeys>) -> bool {
        let mut submessages = RawSubmessages(message.get(Header::WIRE_LEN..).unwrap_or_default());
        for submessage in &mut submessages {
            let passes = if submessage.is_of_endpoint() {
                match (self.check_plain(&submessage, received.as_deref_mut()), received.as_deref_mut()) {
                    (Ok(sender), Some(received)) if ProtectionGroup::of(sender) == ProtectionGroup::User => {
                        passes_unchanged(received, sender, submessage.bytes)
                    }
                    (checked, _) => checked.is_ok(),
                }
            } else {
                self.is_kept(&submessage)
            };
            if !passes {
                return false;
            }
        }
        // Bytes behind the last submessage would pass too.
        submessages.0.is_empty()
    }

    /// Whether a submessage that no endpoint sends passes.
    fn is_kept(&self, submessage: &RawSubmessage<'_>) -> bool {
        // A longer one would carry bytes of the protected submessage behind it.
        let len = submessage.bytes.len();
        match submessage.id {
            id::INFO_SRC => submessage.prefix() == Some(self.sender) && len == 24,
            id::INFO_DST => len == 16,
            id::INFO_TS => [4, 12].contains(&len),
            id::INFO_REPLY | id::INFO_REPLY_IP4 => true,
            // A header extension has the checksum of another message now. The others have no meaning.
            _ => false,
        }
    }

    /// Opens a message, and appends its header and the submessages that may pass to `out`, which is empty.
    fn open(
        &self,
        message: &[u8],
        mut received: Option<&mut ReceivedKeys>,
        out: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        let (header, mut rest) = message.split_at_checked(Header::WIRE_LEN).ok_or(OpenError::Malformed)?;
        out.extend_from_slice(header);
        let (mut passed, mut refused) = (false, None);
        while let Some(submessage) = RawSubmessages(rest).next() {
            if submessage.id == id::SEC_PREFIX {
                match self.open_submessage(rest, received.as_deref_mut(), out) {
                    Ok(len) => {
                        passed = true;
                        rest = rest.get(len..).unwrap_or_default();
                    }
                    Err(error) => {
                        refused = Some(error);
                        rest = behind_protected(rest);
                    }
                }
                continue;
            }
            rest = rest.get(submessage.bytes.len()..).unwrap_or_default();
            match submessage.id {
                // Nothing else of a participant comes in the name of another one.
                id::INFO_SRC if submessage.prefix() != Some(self.sender) => break,
                _ if submessage.is_of_endpoint() => match self.pass_plain(&submessage, received.as_deref_mut(), out) {
                    Ok(()) => passed = true,
                    Err(error) => refused = Some(error),
                },
                _ if self.is_kept(&submessage) => out.extend_from_slice(submessage.bytes),
                _ => {}
            }
        }
        match refused {
            Some(error) if !passed => {
                out.clear();
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Opens a protected submessage. Returns how many bytes it has.
    fn open_submessage(
        &self,
        bytes: &[u8],
        received: Option<&mut ReceivedKeys>,
        out: &mut Vec<u8>,
    ) -> Result<usize, OpenError> {
        let received = received.ok_or(OpenError::UnknownKey)?;
        let header = submessage::header(bytes)?;
        let (owner, key) = received.named_by(&header).ok_or(OpenError::UnknownKey)?;
        // Both sides share the key of the handshake, so an unknown peer could send the own submessages back.
        if owner.is_none() && self.peer.is_some_and(|peer| peer.exchange.has_used(&header)) {
            return Err(OpenError::Forged);
        }
        let start = out.len();
        let len = submessage::open(key, bytes, out)?;
        let plain = &out[start..];
        // A second submessage would be one of any endpoint, because the key counts for the first one.
        let opened = RawSubmessages(plain).next().filter(|opened| plain.len() == opened.bytes.len());
        let sender = opened.and_then(|opened| opened.endpoints()).map(|endpoints| endpoints.sender);
        let is_allowed = match (owner, sender) {
            // The key of the handshake is for keys only, and each other key for its endpoint.
            (None, Some(sender)) => ProtectionGroup::of(sender) == ProtectionGroup::Keys,
            (Some(owner), Some(sender)) => owner == sender && self.may_be_outside(ProtectionGroup::of(sender)),
            (_, None) => false,
        };
        let opened = match owner {
            Some(owner) if is_allowed && ProtectionGroup::of(owner) == ProtectionGroup::User => {
                open_payload(received, owner, out, start)
            }
            _ if is_allowed => Ok(()),
            _ => Err(OpenError::Forged),
        };
        if opened.is_err() {
            out.truncate(start);
        }
        opened.map(|()| len)
    }

    /// Passes a submessage without protection of its own, if it may come so.
    fn pass_plain(
        &self,
        submessage: &RawSubmessage<'_>,
        mut received: Option<&mut ReceivedKeys>,
        out: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        let sender = self.check_plain(submessage, received.as_deref_mut())?;
        match received {
            Some(received) if ProtectionGroup::of(sender) == ProtectionGroup::User => {
                pass_payload(received, sender, submessage.bytes, out)
            }
            // A participant without an identity matches no endpoint with protected payloads.
            _ => {
                out.extend_from_slice(submessage.bytes);
                Ok(())
            }
        }
    }

    /// Whether submessages of a group may come in a message with this protection.
    fn may_be_outside(&self, group: ProtectionGroup) -> bool {
        if self.was_protected || !self.filter.rules.messages || !group.is_in_protected_messages() {
            return true;
        }
        // Cyclone DDS protects no message with plain announcements.
        group == ProtectionGroup::PlainBuiltin && self.peer.is_some_and(|peer| peer.announces_outside)
    }

    /// Checks that a submessage may come without protection of its own, and returns its sender.
    fn check_plain(
        &self,
        submessage: &RawSubmessage<'_>,
        received: Option<&mut ReceivedKeys>,
    ) -> Result<EntityId, OpenError> {
        let Endpoints { sender, receiver } = submessage.endpoints().ok_or(OpenError::Malformed)?;
        let of_sender = ProtectionGroup::of(sender);
        // A plain endpoint may be the forged sender of an answer to a protected one.
        let group = match of_sender {
            ProtectionGroup::Bootstrap if receiver != EntityId::UNKNOWN => ProtectionGroup::of(receiver),
            group => group,
        };
        let rules = self.filter.rules;
        let is_protected = match group {
            ProtectionGroup::Bootstrap | ProtectionGroup::PlainBuiltin => false,
            ProtectionGroup::Keys => true,
            ProtectionGroup::SecureDiscovery => rules.discovery,
            ProtectionGroup::SecureLiveliness => rules.liveliness,
            ProtectionGroup::User => {
                let is_addressed_protected =
                    receiver != EntityId::UNKNOWN && self.filter.keys.protects_submessages_of(receiver);
                is_addressed_protected || received.is_some_and(|received| received.is_protected(sender))
            }
        };
        if is_protected || !self.may_be_outside(group) { Err(OpenError::NotProtected) } else { Ok(sender) }
    }
}

/// Returns the participants that a submessage behind an INFO_DST is for.
fn audience_of(destination: GuidPrefix) -> Audience {
    if destination == GuidPrefix::UNKNOWN { Audience::All } else { Audience::One(destination.0) }
}

/// Returns the bytes behind a protected submessage that does not open.
fn behind_protected(bytes: &[u8]) -> &[u8] {
    let mut submessages = RawSubmessages(bytes);
    // Prefix, body or plain submessage, postfix.
    for _ in 0..3 {
        match submessages.next() {
            Some(submessage) if submessage.id == id::SEC_POSTFIX => break,
            Some(_) => {}
            None => return &[],
        }
    }
    submessages.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::keys::{ExpectedProtection, OwnKeys};
    use dds_rtps::types::VendorId;
    use dds_security::crypto::{KeyMaterial, SendKey, TransformationKind};
    use std::sync::Arc;

    const OWN: GuidPrefix = GuidPrefix([1; 12]);
    const PEER: GuidPrefix = GuidPrefix([2; 12]);
    const WRITER: EntityId = EntityId([0, 0, 1, 2]);
    const READER: EntityId = EntityId([0, 0, 1, 7]);
    const OTHER_WRITER: EntityId = EntityId([0, 0, 2, 2]);

    fn material() -> KeyMaterial {
        KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap()
    }

    /// Keys that sign and keys that encrypt.
    fn materials() -> [KeyMaterial; 2] {
        [TransformationKind::Aes256Gmac, TransformationKind::Aes256Gcm].map(|kind| KeyMaterial::generate(kind).unwrap())
    }

    fn send_key(material: &KeyMaterial) -> SendKey {
        SendKey::new(material.clone()).unwrap().unwrap()
    }

    fn own_keys(submessages: Arc<SendKey>) -> OwnKeys {
        OwnKeys { submessages: Some(submessages), ..OwnKeys::default() }
    }

    fn filter(messages: Option<&KeyMaterial>) -> MessageFilter {
        let rules = MessageRules { messages: messages.is_some(), discovery: true, liveliness: true };
        MessageFilter { rules, keys: KeyTables::new(messages.map(send_key)), buffers: Buffers::default() }
    }

    /// A message with a HEARTBEAT of each writer.
    fn message(writers: &[EntityId]) -> Vec<u8> {
        let mut bytes = [b"RTPS\x02\x05\x01\xdd", &OWN.0[..]].concat();
        bytes.extend([id::INFO_DST, 1, 12, 0]);
        bytes.extend(PEER.0);
        for writer in writers {
            bytes.extend([id::HEARTBEAT, 1, 28, 0, 0, 0, 0, 0]);
            bytes.extend(writer.0);
            bytes.extend([7; 20]);
        }
        bytes
    }

    /// The filters of a sender and a receiver that knows its keys.
    fn pair(messages: Option<&KeyMaterial>) -> (MessageFilter, MessageFilter) {
        pair_with(messages, material())
    }

    fn pair_with(messages: Option<&KeyMaterial>, of_writer: KeyMaterial) -> (MessageFilter, MessageFilter) {
        pair_of(None, messages, of_writer)
    }

    fn pair_of(
        vendor: Option<VendorId>,
        messages: Option<&KeyMaterial>,
        of_writer: KeyMaterial,
    ) -> (MessageFilter, MessageFilter) {
        let (sender, receiver) = (filter(messages), filter(messages));
        let exchange = material();
        sender.keys.set_peer(PEER, KeysOfPeer::new(send_key(&exchange), None));
        sender.keys.set_own(WRITER, own_keys(Arc::new(send_key(&of_writer))));
        sender.keys.set_own(OTHER_WRITER, OwnKeys::default());
        receiver.keys.set_peer(OWN, KeysOfPeer::new(send_key(&exchange), vendor));
        let peer = receiver.keys.peer(OWN).unwrap();
        let mut received = peer.received();
        if let Some(material) = messages {
            received.set_messages(material.clone());
        }
        received.set_expected(WRITER, ExpectedProtection { submessages: true, payloads: false });
        received.set_expected(OTHER_WRITER, ExpectedProtection { submessages: false, payloads: false });
        received.set_endpoint(WRITER, READER, of_writer, None);
        drop(received);
        (sender, receiver)
    }

    /// Protects a message, with other bytes in front of it.
    fn seal(sender: &MessageFilter, message: &mut Vec<u8>) -> Result<(), Unsealable> {
        message.splice(..0, std::iter::repeat_n(0xaa, sender.front_len()));
        sender.seal(message)
    }

    fn opened(receiver: &MessageFilter, datagram: &[u8]) -> Result<Vec<u8>, OpenError> {
        let mut scratch = Vec::new();
        Ok(match receiver.open(datagram, &mut scratch)? {
            OpenedMessage::Datagram => datagram.to_vec(),
            OpenedMessage::Scratch { start } => scratch[start..].to_vec(),
        })
    }

    #[test]
    fn each_kind_of_protection_opens() {
        let [sign, encrypt] = materials();
        for (messages, of_writer) in [
            (None, &sign),
            (None, &encrypt),
            (Some(&sign), &sign),
            (Some(&sign), &encrypt),
            (Some(&encrypt), &sign),
            (Some(&encrypt), &encrypt),
        ] {
            let (sender, receiver) = pair_with(messages, of_writer.clone());
            for writers in [
                &[EntityId::SPDP_WRITER][..],
                &[EntityId::VOLATILE_MESSAGE_WRITER],
                &[EntityId::SEDP_PUBLICATIONS_WRITER, WRITER, OTHER_WRITER, WRITER],
            ] {
                let plain = message(writers);
                let mut datagram = plain.clone();
                seal(&sender, &mut datagram).unwrap();
                assert_eq!(datagram == plain, writers == [EntityId::SPDP_WRITER]);
                assert_eq!(opened(&receiver, &datagram), Ok(plain));
            }
        }
    }

    #[test]
    fn second_copy_of_a_numbered_message_is_a_replay() {
        let [sign, encrypt] = materials();
        for (messages, of_writer) in [(None, &sign), (None, &encrypt), (Some(&sign), &sign), (Some(&encrypt), &encrypt)]
        {
            for (vendor, is_numbered) in [(Some(VendorId::OURS), true), (Some(VendorId::CYCLONE), false)] {
                let (sender, receiver) = pair_of(vendor, messages, of_writer.clone());
                let mut datagrams = [(); 3].map(|()| message(&[WRITER]));
                datagrams.iter_mut().for_each(|datagram| seal(&sender, datagram).unwrap());
                // A network changes the order.
                for at in [0, 2, 1] {
                    assert_eq!(opened(&receiver, &datagrams[at]), Ok(message(&[WRITER])));
                }
                for datagram in &datagrams {
                    let expected = if is_numbered { Err(OpenError::Replayed) } else { Ok(message(&[WRITER])) };
                    assert_eq!(opened(&receiver, datagram), expected, "{messages:?} {of_writer:?} {vendor:?}");
                }
            }
        }
    }

    /// Copies a sender's present keys to a receiver, as the exchange of keys does.
    fn exchange_keys(sender: &MessageFilter, receiver: &MessageFilter) {
        let peer = receiver.keys.peer(OWN).unwrap();
        let mut received = peer.received();
        sender.keys.messages().iter().for_each(|key| received.set_messages(key.material().clone()));
        let of_writer = sender.keys.own(WRITER).unwrap().submessages.unwrap();
        received.set_endpoint(WRITER, READER, of_writer.material().clone(), None);
    }

    #[test]
    fn expelled_receiver_reads_nothing_after_a_change_and_the_others_read_all() {
        let [sign, encrypt] = materials();
        for (messages, of_writer) in [(None, &sign), (None, &encrypt), (Some(&sign), &sign), (Some(&encrypt), &encrypt)]
        {
            let (sender, expelled) = pair_with(messages, of_writer.clone());
            let other = pair_with(messages, of_writer.clone()).1;
            let sealed = || {
                let mut datagram = message(&[WRITER]);
                seal(&sender, &mut datagram).unwrap();
                datagram
            };
            let [late, too_late] = [sealed(), sealed()];
            assert!(sender.keys.renew());
            let next = sealed();
            assert_eq!(opened(&expelled, &next), Err(OpenError::UnknownKey));
            assert_eq!(opened(&other, &next), Err(OpenError::UnknownKey), "its key has not arrived");
            exchange_keys(&sender, &other);
            for datagram in [&next, &late] {
                assert_eq!(opened(&other, datagram), Ok(message(&[WRITER])));
            }
            let peer = other.keys.peer(OWN).unwrap();
            assert!(peer.received().has_retired());
            peer.received().forget_retired();
            assert!(!peer.received().has_retired());
            assert_eq!(opened(&other, &too_late), Err(OpenError::UnknownKey));
            assert_eq!(opened(&other, &next), Ok(message(&[WRITER])));
        }
    }

    #[test]
    fn plain_submessages_of_protected_endpoints_are_dropped() {
        let (_, receiver) = pair(None);
        for writer in [WRITER, EntityId::VOLATILE_MESSAGE_WRITER, EntityId::SECURE_PUBLICATIONS_WRITER] {
            assert_eq!(opened(&receiver, &message(&[writer])), Err(OpenError::NotProtected), "{writer}");
        }
        // The rest of the message passes.
        assert_eq!(opened(&receiver, &message(&[WRITER, OTHER_WRITER])), Ok(message(&[OTHER_WRITER])));
        let (_, receiver) = pair(Some(&material()));
        for writer in [OTHER_WRITER, EntityId::SEDP_PUBLICATIONS_WRITER] {
            assert_eq!(opened(&receiver, &message(&[writer])), Err(OpenError::NotProtected), "{writer}");
        }
        assert_eq!(opened(&receiver, &message(&[EntityId::SPDP_WRITER])), Ok(message(&[EntityId::SPDP_WRITER])));
    }

    #[test]
    fn key_of_an_endpoint_counts_for_no_other_one() {
        let (sender, receiver) = pair(None);
        let key = sender.keys.own(WRITER).unwrap().submessages.unwrap();
        sender.keys.set_own(OTHER_WRITER, own_keys(key));
        let mut datagram = message(&[OTHER_WRITER]);
        seal(&sender, &mut datagram).unwrap();
        assert_eq!(opened(&receiver, &datagram), Err(OpenError::Forged));
        // The key of the handshake does not protect samples.
        let mut datagram = message(&[WRITER]);
        let exchange = own_keys(Arc::clone(&sender.keys.peer(PEER).unwrap().exchange));
        sender.keys.set_own(WRITER, exchange);
        seal(&sender, &mut datagram).unwrap();
        assert_eq!(opened(&receiver, &datagram), Err(OpenError::Forged));
    }

    /// A reader has the key of its writer. It must not count for other endpoints.
    #[test]
    fn protected_body_has_one_submessage() {
        let (sender, receiver) = pair(None);
        let key = sender.keys.own(WRITER).unwrap().submessages.unwrap();
        let second = message(&[OTHER_WRITER])[36..].to_vec();
        let source = [&[id::INFO_SRC, 1, 20, 0, 0, 0, 0, 0, 2, 5, 1, 0xdd][..], &PEER.0].concat();
        for inner in [second.clone(), source.clone(), [source, second].concat()] {
            let mut datagram = message(&[WRITER]);
            datagram.extend(inner);
            submessage::seal(&key, &mut datagram, 36, Audience::All).unwrap();
            assert_eq!(opened(&receiver, &datagram), Err(OpenError::Forged));
        }
    }

    /// The key of the handshake is the same for both sides.
    #[test]
    fn own_keys_that_come_back_are_forged() {
        let (sender, receiver) = pair(None);
        let mut datagram = message(&[EntityId::VOLATILE_MESSAGE_WRITER]);
        seal(&sender, &mut datagram).unwrap();
        assert!(opened(&receiver, &datagram).is_ok());
        // An unknown peer changes the plain GUID prefixes of header and INFO_DST.
        datagram[8..20].copy_from_slice(&PEER.0);
        datagram[24..36].copy_from_slice(&OWN.0);
        assert_eq!(opened(&sender, &datagram), Err(OpenError::Forged));
    }

    /// A writer with a reader in each of two participants, and the filters of these. Messages are protected as well.
    fn origin_pair(kind: TransformationKind) -> (MessageFilter, [MessageFilter; 2]) {
        let create = || send_key(&KeyMaterial::generate(kind).unwrap()).authenticating_origin();
        let (messages, of_writer) = (create(), create());
        let receivers = PEERS.map(|peer| {
            let receiver = filter(Some(&material()));
            receiver.keys.set_peer(OWN, KeysOfPeer::new(send_key(&material()), None));
            let of_peer = receiver.keys.peer(OWN).unwrap();
            let mut received = of_peer.received();
            received.set_expected(WRITER, ExpectedProtection { submessages: true, payloads: false });
            received.set_messages(messages.add_receiver(peer.0).unwrap().unwrap());
            let for_peer = of_writer.add_receiver(peer.0).unwrap().unwrap();
            assert!(received.set_endpoint(WRITER, READER, for_peer, None));
            drop(received);
            receiver
        });
        let rules = MessageRules { messages: true, discovery: true, liveliness: true };
        let sender = MessageFilter { rules, keys: KeyTables::new(Some(messages)), buffers: Buffers::default() };
        sender.keys.set_own(WRITER, own_keys(Arc::new(of_writer)));
        (sender, receivers)
    }

    const PEERS: [GuidPrefix; 2] = [PEER, GuidPrefix([3; 12])];

    #[test]
    fn receiver_speaks_to_no_other_one_in_the_name_of_the_writer() {
        for kind in [TransformationKind::Aes256Gmac, TransformationKind::Aes256Gcm] {
            let (sender, receivers) = origin_pair(kind);
            // INFO_DST names the first one.
            let addressed = message(&[WRITER]);
            let to_all = [&addressed[..20], &addressed[36..]].concat();
            for (plain, expected) in [(&to_all, [true, true]), (&addressed, [true, false])] {
                let mut datagram = plain.clone();
                seal(&sender, &mut datagram).unwrap();
                for (receiver, is_addressed) in receivers.iter().zip(expected) {
                    let result = if is_addressed { Ok(plain.clone()) } else { Err(OpenError::NotForThisReceiver) };
                    assert_eq!(opened(receiver, &datagram), result, "{kind:?}");
                }
            }
            // A receiver knows the common keys. So it can make the MACs of the others only with their keys.
            let material_of = |key: &SendKey| key.add_receiver(PEERS[0].0).unwrap().unwrap();
            let own = sender.keys.own(WRITER).unwrap().submessages.unwrap();
            let whole = &sender.keys.messages().unwrap();
            for (knows_whole, knows_writer) in [(false, true), (true, false), (false, false)] {
                let copy = |key: &SendKey, is_known: bool| {
                    let copy = send_key(&material_of(key)).authenticating_origin();
                    if is_known {
                        // As the true sender: with the MACs of all receivers.
                        return None;
                    }
                    copy.add_receiver(PEERS[1].0).unwrap().unwrap();
                    Some(copy)
                };
                let impostor = filter(None);
                let of_writer = copy(&own, knows_writer).map_or_else(|| Arc::clone(&own), Arc::new);
                impostor.keys.set_own(WRITER, own_keys(of_writer));
                let mut datagram = to_all.clone();
                seal(&impostor, &mut datagram).unwrap();
                let message_key = copy(whole, knows_whole).map_or_else(|| Arc::clone(whole), Arc::new);
                message::seal(&message_key, HeaderBinding::InfoSource, &mut datagram, Audience::All).unwrap();
                assert_eq!(opened(&receivers[1], &datagram), Err(OpenError::NotForThisReceiver), "{kind:?}");
            }
            // A participant that is gone gets nothing more.
            sender.keys.remove_peer(PEERS[1]);
            let mut datagram = to_all.clone();
            seal(&sender, &mut datagram).unwrap();
            assert_eq!(opened(&receivers[1], &datagram), Err(OpenError::NotForThisReceiver));
            assert_eq!(opened(&receivers[0], &datagram), Ok(to_all));
        }
    }

    #[test]
    fn plain_answer_of_a_bootstrap_endpoint_reaches_no_protected_one() {
        let (_, receiver) = pair(None);
        let mut datagram = message(&[EntityId::SPDP_WRITER]);
        // The addressed reader of the HEARTBEAT.
        datagram[40..44].copy_from_slice(&EntityId::VOLATILE_MESSAGE_READER.0);
        assert_eq!(opened(&receiver, &datagram), Err(OpenError::NotProtected));
    }

    #[test]
    fn only_a_message_that_changes_is_copied() {
        let [sign, encrypt] = materials();
        let whole = &[EntityId::SEDP_PUBLICATIONS_WRITER, OTHER_WRITER][..];
        for (messages, writers, expected) in [
            (None, whole, OpenedMessage::Datagram),
            (None, &[WRITER], OpenedMessage::Scratch { start: 0 }),
            // The header lies behind the INFO_SRC then.
            (Some(&sign), whole, OpenedMessage::Scratch { start: 24 }),
            (Some(&encrypt), whole, OpenedMessage::Scratch { start: 24 }),
            (Some(&encrypt), &[WRITER], OpenedMessage::Scratch { start: 0 }),
        ] {
            let (sender, receiver) = pair(messages);
            let mut datagram = message(writers);
            seal(&sender, &mut datagram).unwrap();
            assert_eq!(receiver.open(&datagram, &mut Vec::new()), Ok(expected), "{writers:?}");
            assert_eq!(opened(&receiver, &datagram), Ok(message(writers)));
        }
    }

    /// Any other message would bring bytes to the parser that no rule has seen.
    #[test]
    fn message_that_passes_whole_equals_its_copy() {
        let (_, receiver) = pair(None);
        let peer = receiver.keys.peer(OWN).unwrap();
        let opener = MessageOpener { filter: &receiver, sender: OWN, peer: Some(&peer), was_protected: false };
        let mut plain = message(&[EntityId::SPDP_WRITER, OTHER_WRITER]);
        plain.extend([id::INFO_TS, 1, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        plain.extend([&[id::INFO_SRC, 1, 20, 0, 0, 0, 0, 0, 2, 5, 1, 0xdd], &OWN.0[..]].concat());
        plain.extend([id::INFO_REPLY, 1, 4, 0, 0, 0, 0, 0]);
        assert!(opener.passes_whole(&plain, Some(&mut peer.received())));
        let mut passed = 0;
        for bit in Header::WIRE_LEN * 8..plain.len() * 8 {
            let mut changed = plain.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            if opener.passes_whole(&changed, Some(&mut peer.received())) {
                passed += 1;
                let mut copy = Vec::new();
                assert_eq!(opener.open(&changed, Some(&mut peer.received()), &mut copy), Ok(()), "bit {bit}");
                assert_eq!(copy, changed, "bit {bit}");
            }
        }
        assert!(passed > 0, "some bits have no meaning for the filter");
        for len in Header::WIRE_LEN + 1..plain.len() {
            let mut copy = Vec::new();
            let cut = &plain[..len];
            if opener.passes_whole(cut, Some(&mut peer.received())) {
                assert_eq!(opener.open(cut, Some(&mut peer.received()), &mut copy), Ok(()), "{len}");
                assert_eq!(copy, cut, "{len}");
            }
        }
    }

    #[test]
    fn unknown_endpoint_sends_nothing() {
        let (sender, _) = pair(None);
        sender.keys.remove_own(WRITER);
        assert_eq!(seal(&sender, &mut message(&[WRITER])), Err(Unsealable));
        sender.keys.remove_peer(PEER);
        assert_eq!(seal(&sender, &mut message(&[EntityId::VOLATILE_MESSAGE_WRITER])), Err(Unsealable));
    }

    #[test]
    fn changed_or_cut_datagram_passes_nothing_protected() {
        let [sign, encrypt] = materials();
        for (messages, of_writer) in [(None, &sign), (None, &encrypt), (Some(&sign), &sign), (Some(&encrypt), &encrypt)]
        {
            let (sender, receiver) = pair_with(messages, of_writer.clone());
            let mut datagram = message(&[WRITER]);
            seal(&sender, &mut datagram).unwrap();
            for bit in Header::WIRE_LEN * 8..datagram.len() * 8 {
                let mut changed = datagram.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                // Unused flags and the plain INFO_DST may differ, but nothing that is protected.
                if let Ok(plain) = opened(&receiver, &changed) {
                    let is_whole = plain.ends_with(&message(&[WRITER])[36..]);
                    assert!(plain.len() <= 36 || is_whole, "bit {bit}: {plain:?}");
                }
            }
            for len in 0..datagram.len() {
                if let Ok(plain) = opened(&receiver, &datagram[..len]) {
                    assert!(plain.len() <= 36, "{len}: {plain:?}");
                }
            }
        }
    }
}
