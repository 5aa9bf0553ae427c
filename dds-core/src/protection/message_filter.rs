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

use super::keys::{KeyTables, KeysOfPeer, ReceivedKeys};
use super::payload_filter::{open_payload, seal_payload};
use super::raw_submessages::{Endpoints, RawSubmessage, RawSubmessages};
use dds_rtps::types::{EntityId, GuidPrefix};
use dds_rtps::wire::Header;
use dds_rtps::wire::submessage::id;
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
    /// Protects a message in place.
    pub(super) fn seal(&self, message: &mut Vec<u8>) -> Result<(), Unsealable> {
        let mut sealed = self.buffers.take();
        let result = self.seal_into(message, &mut sealed);
        if result.is_ok() {
            std::mem::swap(message, &mut sealed);
        }
        self.buffers.put_back(sealed);
        result
    }

    fn seal_into(&self, message: &[u8], sealed: &mut Vec<u8>) -> Result<(), Unsealable> {
        let (header, rest) = message.split_at_checked(Header::WIRE_LEN).ok_or(Unsealable)?;
        sealed.extend_from_slice(header);
        let mut destination = GuidPrefix::UNKNOWN;
        let own = self.keys.all_own();
        let mut receivers = None;
        // Whether endpoints of protected messages, and others, have sent something.
        let (mut protects, mut bootstraps) = (false, false);
        for submessage in RawSubmessages(rest) {
            if submessage.id == id::INFO_DST {
                destination = submessage.prefix().ok_or(Unsealable)?;
            }
            let start = sealed.len();
            sealed.extend_from_slice(submessage.bytes);
            if !submessage.is_of_endpoint() {
                continue;
            }
            let sender = submessage.endpoints().ok_or(Unsealable)?.sender;
            let group = ProtectionGroup::of(sender);
            *(if group.is_in_protected_messages() { &mut protects } else { &mut bootstraps }) = true;
            let audience = audience_of(destination);
            receivers = Some(receivers.filter(|known| *known != audience).map_or(audience, |_| Audience::All));
            let peer;
            let key = match group {
                ProtectionGroup::Bootstrap | ProtectionGroup::PlainBuiltin => continue,
                ProtectionGroup::Keys => {
                    peer = self.keys.peer(destination).ok_or(Unsealable)?;
                    &peer.exchange
                }
                ProtectionGroup::SecureDiscovery | ProtectionGroup::SecureLiveliness | ProtectionGroup::User => {
                    // An endpoint that is not in the table is removed, or not known yet.
                    let keys = own.endpoints.get(&sender).ok_or(Unsealable)?;
                    if let Some(key) = &keys.payloads {
                        seal_payload(key, sealed, start)?;
                    }
                    let Some(key) = &keys.submessages else { continue };
                    key
                }
            };
            submessage::seal(key, sealed, start, audience).map_err(|_| Unsealable)?;
        }
        match &own.messages {
            Some(key) if protects => {
                debug_assert!(!bootstraps, "messages that are never protected share no datagram with others");
                if bootstraps {
                    return Err(Unsealable);
                }
                let audience = receivers.unwrap_or(Audience::All);
                message::seal(key, HeaderBinding::InfoSource, sealed, audience).map_err(|_| Unsealable)
            }
            _ => Ok(()),
        }
    }

    /// Appends the plain message of a datagram to `out`, which is empty.
    ///
    /// # Errors
    /// The reason, if nothing of the datagram passes.
    pub(super) fn open(&self, datagram: &[u8], out: &mut Vec<u8>) -> Result<(), OpenError> {
        let header = datagram.first_chunk::<{ Header::WIRE_LEN }>().ok_or(OpenError::Malformed)?;
        if !header.starts_with(b"RTPS") {
            return Err(OpenError::Malformed);
        }
        let sender = GuidPrefix(*header.last_chunk().ok_or(OpenError::Malformed)?);
        let peer = self.keys.peer(sender);
        let mut received = peer.as_ref().map(|peer| peer.received());
        if datagram.get(Header::WIRE_LEN) != Some(&id::SRTPS_PREFIX) {
            let mut opener = MessageOpener { filter: self, sender, peer: peer.as_deref(), was_protected: false, out };
            return opener.open(datagram, received.as_deref_mut());
        }
        let mut plain = self.buffers.take();
        let opened = self.open_message(datagram, received.as_deref_mut(), &mut plain);
        let result = opened.and_then(|()| {
            let mut opener = MessageOpener { filter: self, sender, peer: peer.as_deref(), was_protected: true, out };
            opener.open(&plain, received.as_deref_mut())
        });
        self.buffers.put_back(plain);
        result
    }

    fn open_message(
        &self,
        datagram: &[u8],
        received: Option<&mut ReceivedKeys>,
        plain: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        let parsed = message::parse(datagram)?;
        if parsed.binding != HeaderBinding::InfoSource {
            return Err(OpenError::UnknownKey);
        }
        let key = received.and_then(|received| received.messages(&parsed.crypto)).ok_or(OpenError::UnknownKey)?;
        parsed.open(key, plain)
    }
}

/// Opens the submessages of one message.
struct MessageOpener<'a, 'o> {
    filter: &'a MessageFilter,
    sender: GuidPrefix,
    peer: Option<&'a KeysOfPeer>,
    /// The whole message was protected.
    was_protected: bool,
    out: &'o mut Vec<u8>,
}

impl MessageOpener<'_, '_> {
    /// Opens a message, and keeps the submessages that may pass.
    fn open(&mut self, message: &[u8], mut received: Option<&mut ReceivedKeys>) -> Result<(), OpenError> {
        let (header, mut rest) = message.split_at_checked(Header::WIRE_LEN).ok_or(OpenError::Malformed)?;
        self.out.extend_from_slice(header);
        let (mut passed, mut refused) = (false, None);
        while let Some(submessage) = RawSubmessages(rest).next() {
            if submessage.id == id::SEC_PREFIX {
                match self.open_submessage(rest, received.as_deref_mut()) {
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
                // A longer one would carry bytes of the protected submessage behind it.
                id::INFO_SRC if submessage.bytes.len() != 24 => {}
                id::INFO_DST if submessage.bytes.len() != 16 => {}
                id::INFO_TS if ![4, 12].contains(&submessage.bytes.len()) => {}
                id::INFO_SRC | id::INFO_DST | id::INFO_TS | id::INFO_REPLY | id::INFO_REPLY_IP4 => {
                    self.out.extend_from_slice(submessage.bytes);
                }
                _ if submessage.is_of_endpoint() => match self.pass_plain(&submessage, received.as_deref_mut()) {
                    Ok(()) => passed = true,
                    Err(error) => refused = Some(error),
                },
                // A header extension has the checksum of another message now. The others have no meaning.
                _ => {}
            }
        }
        match refused {
            Some(error) if !passed => {
                self.out.clear();
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Opens a protected submessage. Returns how many bytes it has.
    fn open_submessage(&mut self, bytes: &[u8], received: Option<&mut ReceivedKeys>) -> Result<usize, OpenError> {
        let received = received.ok_or(OpenError::UnknownKey)?;
        let header = submessage::header(bytes)?;
        let (owner, key) = received.named_by(&header).ok_or(OpenError::UnknownKey)?;
        // Both sides share the key of the handshake, so an unknown peer could send the own submessages back.
        if owner.is_none() && self.peer.is_some_and(|peer| peer.exchange.has_used(&header)) {
            return Err(OpenError::Forged);
        }
        let start = self.out.len();
        let len = submessage::open(key, bytes, self.out)?;
        let plain = &self.out[start..];
        // A second submessage would be one of any endpoint, because the key counts for the first one.
        let opened = RawSubmessages(plain).next().filter(|opened| plain.len() == opened.bytes.len());
        let sender = opened.and_then(|opened| opened.endpoints()).map(|endpoints| endpoints.sender);
        let is_allowed = match (owner, sender) {
            // The key of the handshake is for keys only, and each other key for its endpoint.
            (None, Some(sender)) => ProtectionGroup::of(sender) == ProtectionGroup::Keys,
            (Some(owner), Some(sender)) => owner == sender && self.may_be_outside(ProtectionGroup::of(sender)),
            (_, None) => false,
        };
        if !is_allowed {
            self.out.truncate(start);
            return Err(OpenError::Forged);
        }
        if let Some(sender) = owner {
            self.open_payload(sender, Some(received), start)?;
        }
        Ok(len)
    }

    /// Passes a submessage without protection of its own, if it may come so.
    fn pass_plain(
        &mut self,
        submessage: &RawSubmessage<'_>,
        mut received: Option<&mut ReceivedKeys>,
    ) -> Result<(), OpenError> {
        let sender = self.check_plain(submessage, received.as_deref_mut())?;
        let start = self.out.len();
        self.out.extend_from_slice(submessage.bytes);
        self.open_payload(sender, received, start)
    }

    /// Opens the payload of the last submessage, which begins at `start`. Removes the submessage if that fails.
    fn open_payload(
        &mut self,
        sender: EntityId,
        received: Option<&mut ReceivedKeys>,
        start: usize,
    ) -> Result<(), OpenError> {
        // A participant without an identity matches no endpoint with protected payloads.
        let Some(received) = received.filter(|_| ProtectionGroup::of(sender) == ProtectionGroup::User) else {
            return Ok(());
        };
        let opened = open_payload(received, sender, self.out, start);
        if opened.is_err() {
            self.out.truncate(start);
        }
        opened
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

    fn opened(receiver: &MessageFilter, datagram: &[u8]) -> Result<Vec<u8>, OpenError> {
        let mut out = Vec::new();
        receiver.open(datagram, &mut out).map(|()| out)
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
                sender.seal(&mut datagram).unwrap();
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
                datagrams.iter_mut().for_each(|datagram| sender.seal(datagram).unwrap());
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
                sender.seal(&mut datagram).unwrap();
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
        sender.seal(&mut datagram).unwrap();
        assert_eq!(opened(&receiver, &datagram), Err(OpenError::Forged));
        // The key of the handshake does not protect samples.
        let mut datagram = message(&[WRITER]);
        let exchange = own_keys(Arc::clone(&sender.keys.peer(PEER).unwrap().exchange));
        sender.keys.set_own(WRITER, exchange);
        sender.seal(&mut datagram).unwrap();
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
        sender.seal(&mut datagram).unwrap();
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
                sender.seal(&mut datagram).unwrap();
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
                impostor.seal(&mut datagram).unwrap();
                let message_key = copy(whole, knows_whole).map_or_else(|| Arc::clone(whole), Arc::new);
                message::seal(&message_key, HeaderBinding::InfoSource, &mut datagram, Audience::All).unwrap();
                assert_eq!(opened(&receivers[1], &datagram), Err(OpenError::NotForThisReceiver), "{kind:?}");
            }
            // A participant that is gone gets nothing more.
            sender.keys.remove_peer(PEERS[1]);
            let mut datagram = to_all.clone();
            sender.seal(&mut datagram).unwrap();
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
    fn unknown_endpoint_sends_nothing() {
        let (sender, _) = pair(None);
        sender.keys.remove_own(WRITER);
        assert_eq!(sender.seal(&mut message(&[WRITER])), Err(Unsealable));
        sender.keys.remove_peer(PEER);
        assert_eq!(sender.seal(&mut message(&[EntityId::VOLATILE_MESSAGE_WRITER])), Err(Unsealable));
    }

    #[test]
    fn changed_or_cut_datagram_passes_nothing_protected() {
        let [sign, encrypt] = materials();
        for (messages, of_writer) in [(None, &sign), (None, &encrypt), (Some(&sign), &sign), (Some(&encrypt), &encrypt)]
        {
            let (sender, receiver) = pair_with(messages, of_writer.clone());
            let mut datagram = message(&[WRITER]);
            sender.seal(&mut datagram).unwrap();
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
