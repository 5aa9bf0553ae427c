//! The exchange of keys with participants that have proved their identity (DDS Security 1.1, 8.8).
//!
//! Each message has one key, and goes by the topic ParticipantVolatileMessageSecure.

use super::handshakes::{ExchangeContext, Handshakes, PeerState};
use super::keys::material_for;
use super::policy::{DomainPolicy, authenticates_origin};
use dds_rtps::discovery::{SecurePairTopic, SecurityAction, SecurityChannel, SecurityReportKind};
use dds_rtps::types::{EntityId, Guid, GuidPrefix, Now, VendorId};
use dds_security::access::ProtectionKind;
use dds_security::authentication::{DataHolder, GenericMessage, TokenByteOrder};
use dds_security::crypto::{KeyMaterial, TransformationKind};

/// Class of tokens with keys, and the name of their value (DDS Security 1.1, 9.5.2.2).
const KEYS_CLASS: &str = "DDS:Crypto:AES_GCM_GMAC";
const KEY_MATERIAL: &str = "dds.cryp.keymat";

/// Why a participant gets no keys of an endpoint.
pub(super) const TOO_MANY_RECEIVERS: &str = "origin authentication takes at most 32 participants for an endpoint";

impl Handshakes {
    /// Sends the keys for messages and for the builtin endpoints.
    pub(super) fn send_first_keys(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) {
        let key = cx.filter.keys.messages();
        if let Some(material) = key.and_then(|key| material_for(&key, prefix)) {
            let class = GenericMessage::PARTICIPANT_KEYS;
            self.send_keys(prefix, class, (EntityId::UNKNOWN, EntityId::UNKNOWN), &[&material]);
        }
        self.send_builtin_keys(cx, prefix);
    }

    /// Sends the keys for the builtin endpoints that a participant has, each once.
    pub(super) fn send_builtin_keys(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) {
        let Some(has) = self.peers.get(&prefix).map(|peer| peer.builtin_endpoints) else { return };
        for topic in SecurePairTopic::ALL {
            let ((writer, reader), (writer_bit, reader_bit)) = (topic.ids(), topic.bits());
            let pairs = [(has.contains(reader_bit), writer, reader), (has.contains(writer_bit), reader, writer)];
            for (_, local, remote) in pairs.into_iter().filter(|(has_remote, ..)| *has_remote) {
                if !self.send_endpoint_keys(cx, prefix, local, remote) {
                    self.report(prefix, TOO_MANY_RECEIVERS);
                }
            }
        }
    }

    /// Sends the keys of a local endpoint to a remote one, once. Does nothing for an endpoint without a key. Returns
    /// false if the endpoint has too many receivers with MACs of their own.
    pub(super) fn send_endpoint_keys(
        &mut self,
        cx: &ExchangeContext<'_>,
        prefix: GuidPrefix,
        local: EntityId,
        remote: EntityId,
    ) -> bool {
        let Some(keys) = cx.filter.keys.own(local) else { return true };
        let Some(peer) = self.peers.get_mut(&prefix) else { return true };
        let waits_for_unused = peer.vendor == VendorId::EPROSIMA;
        let Some(proved) = peer.proved.as_mut() else { return true };
        if proved.sent.contains(local, remote) {
            return true;
        }
        let for_submessages = match &keys.submessages {
            Some(key) => match material_for(key, prefix) {
                Some(material) => Some(material),
                None => {
                    self.full.insert(local);
                    return false;
                }
            },
            None => None,
        };
        // The key for submessages precedes the one for payloads.
        let for_payloads = keys.payloads.as_ref().map(|key| key.material());
        let unused = if waits_for_unused { keys.unused.as_ref().map(|key| key.material()) } else { None };
        let materials: Vec<_> = for_submessages.iter().chain(for_payloads).chain(unused).collect();
        if !materials.is_empty() {
            proved.sent.insert(local, remote);
            let class = if local.is_writer() { GenericMessage::WRITER_KEYS } else { GenericMessage::READER_KEYS };
            self.send_keys(prefix, class, (local, remote), &materials);
        }
        true
    }

    /// Replaces all keys of this participant, and sends the new ones to the participants with the earlier ones.
    ///
    /// The new keys count at once. A message that comes before them is lost, as on a lossy network.
    pub(super) fn renew_keys(&mut self, cx: &ExchangeContext<'_>) {
        let keeps_keys = |peer: &PeerState| peer.proved.as_ref().is_some_and(|proved| !proved.takes_new_keys);
        if self.peers.values().any(keeps_keys) {
            if self.renewals.postpone() {
                let text = "the keys of this participant stay, although a participant that was cut off knows them: \
                            a participant of another vendor takes no new ones; the keys change when it has left";
                let (kind, text) = (SecurityReportKind::Failed, text.into());
                self.actions.push_back(SecurityAction::Report { kind, text });
            }
            return;
        }
        if !cx.filter.keys.renew() {
            self.renewals.retry();
            let text = "the keys of this participant stay, although a participant that was expelled knows them: \
                        the system has no random numbers";
            let (kind, text) = (SecurityReportKind::Failed, text.into());
            return self.actions.push_back(SecurityAction::Report { kind, text });
        }
        self.renewals.note_changed();
        let text = "the keys of this participant have changed, because a participant that was cut off knows them";
        self.actions.push_back(SecurityAction::Report { kind: SecurityReportKind::KeysChanged, text: text.into() });
        let proved: Vec<GuidPrefix> =
            self.peers.iter().filter(|(_, peer)| peer.proved.is_some()).map(|(prefix, _)| *prefix).collect();
        for prefix in proved {
            let sent = match self.peers.get_mut(&prefix).and_then(|peer| peer.proved.as_mut()) {
                Some(proved) => std::mem::take(&mut proved.sent),
                None => continue,
            };
            self.send_first_keys(cx, prefix);
            for (local, remote) in sent.pairs() {
                if !self.send_endpoint_keys(cx, prefix, local, remote) {
                    self.report(prefix, TOO_MANY_RECEIVERS);
                }
            }
        }
    }

    fn send_keys(
        &mut self,
        to: GuidPrefix,
        class: &str,
        (local, remote): (EntityId, EntityId),
        materials: &[&KeyMaterial],
    ) {
        let token = |material: &&KeyMaterial| {
            let mut token = DataHolder::new(KEYS_CLASS);
            token.binary_properties.push((KEY_MATERIAL.to_owned(), material.to_token()));
            token
        };
        let own = GuidPrefix(*self.local.guid.first_chunk().unwrap_or(&[0; 12]));
        let guid_of = |prefix, id| if id == EntityId::UNKNOWN { [0; 16] } else { Guid::new(prefix, id).to_bytes() };
        let message = GenericMessage {
            identity: (self.local.guid, self.next_message()),
            destination_participant: Guid::new(to, EntityId::PARTICIPANT).to_bytes(),
            destination_endpoint: guid_of(to, remote),
            source_endpoint: guid_of(own, local),
            class_id: class.to_owned(),
            tokens: materials.iter().map(token).collect(),
            ..GenericMessage::default()
        };
        let payload = message.to_payload(TokenByteOrder::Little);
        self.actions.push_back(SecurityAction::Send { to, channel: SecurityChannel::Volatile, payload });
    }

    /// Handles keys. The transform has checked that they come from the participant of the handshake.
    pub(super) fn handle_keys(&mut self, cx: &ExchangeContext<'_>, sender: GuidPrefix, payload: &[u8], now: Now) {
        let Ok(message) = GenericMessage::parse(payload) else { return };
        if message.destination_participant != self.local.guid || message.identity.0[..12] != sender.0 {
            return;
        }
        let Some(peer) = cx.filter.keys.peer(sender) else { return };
        let mut materials = materials_of(&message);
        let Some(material) = materials.next() else { return };
        let source = Guid::from_bytes(message.source_endpoint);
        let is_writer = message.class_id == GenericMessage::WRITER_KEYS;
        let is_reader = message.class_id == GenericMessage::READER_KEYS;
        let is_of_participant = message.class_id == GenericMessage::PARTICIPANT_KEYS;
        let required = if is_of_participant {
            cx.policy.rule.rtps_protection_kind
        } else {
            protection_of_builtin(cx.policy, source.entity_id)
        };
        if let Err(fault) = check_strength((material.kind, material.receiver.is_some()), required) {
            return self.report(sender, &format!("{fault} (of {source})"));
        }
        if is_of_participant {
            peer.received().set_messages(material);
            return self.renewals.note_received(peer.received().has_retired(), sender, now.instant);
        }
        let fits = is_writer && source.entity_id.is_writer() || is_reader && source.entity_id.is_reader();
        let for_payloads = if is_writer { materials.next() } else { None };
        let local = Guid::from_bytes(message.destination_endpoint).entity_id;
        // Each local endpoint has at most one key for MACs.
        if material.receiver.is_some() && cx.filter.keys.own(local).is_none() {
            return;
        }
        let is_stored = source.prefix == sender
            && fits
            && peer.received().set_endpoint(source.entity_id, local, material, for_payloads);
        self.renewals.note_received(peer.received().has_retired(), sender, now.instant);
        if is_stored {
            self.actions.push_back(SecurityAction::CompareAgain(source));
        }
    }

    /// Forgets that keys were sent to or for an endpoint.
    pub(super) fn endpoint_removed(&mut self, cx: &ExchangeContext<'_>, guid: Guid, is_own: bool) {
        if is_own {
            self.full.remove(&guid.entity_id);
            let all_proved = self.peers.values_mut().filter_map(|peer| peer.proved.as_mut());
            return all_proved.for_each(|proved| proved.sent.remove_local(guid.entity_id));
        }
        if let Some(proved) = self.peers.get_mut(&guid.prefix).and_then(|peer| peer.proved.as_mut()) {
            // The other endpoints of the participant share the key for its MACs.
            let without_match = proved.sent.remove_remote(guid.entity_id);
            without_match.iter().for_each(|local| cx.filter.keys.remove_receiver_of(*local, guid.prefix));
            self.offer_places(cx, |local| without_match.contains(&local));
        }
        if let Some(peer) = cx.filter.keys.peer(guid.prefix) {
            peer.received().remove_endpoint(guid.entity_id);
        }
    }

    /// Offers the places that are free to the receivers that found none. `is_free` names the local endpoints.
    pub(super) fn offer_places(&mut self, cx: &ExchangeContext<'_>, is_free: impl Fn(EntityId) -> bool) {
        let own = Guid::from_bytes(self.local.guid).prefix;
        let free: Vec<EntityId> = self.full.iter().copied().filter(|local| is_free(*local)).collect();
        // Those that find no place again enter it again.
        self.full.retain(|local| !is_free(*local));
        let applications = free.iter().filter(|local| !local.is_builtin());
        self.actions.extend(applications.map(|local| SecurityAction::CompareAgain(Guid::new(own, *local))));
        if free.iter().any(|local| local.is_builtin()) {
            // Those that have their keys get none again, because `sent` names them. So at most the one that gets the
            // free place costs a message.
            let prefixes: Vec<GuidPrefix> = self.peers.keys().copied().collect();
            prefixes.into_iter().for_each(|prefix| self.send_builtin_keys(cx, prefix));
        }
    }
}

/// Returns the keys of a message. A writer with two keys protects its submessages with the first one, and the payloads
/// inside of them with the second one.
fn materials_of(message: &GenericMessage) -> impl Iterator<Item = KeyMaterial> + '_ {
    let values = message.tokens.iter().filter_map(|token| token.binary(KEY_MATERIAL));
    let materials = values.filter_map(|value| KeyMaterial::from_token(value).ok());
    // Id 0 names the key of the handshake.
    materials.filter(|material| material.kind != TransformationKind::None && material.sender_key_id != [0; 4])
}

/// The protection of a builtin endpoint's submessages. Topics of the application are judged when endpoints match.
fn protection_of_builtin(policy: &DomainPolicy, id: EntityId) -> ProtectionKind {
    match SecurePairTopic::ALL.into_iter().find(|topic| topic.ids().0 == id || topic.ids().1 == id) {
        Some(SecurePairTopic::Messages) => policy.rule.liveliness_protection_kind,
        Some(_) => policy.rule.discovery_protection_kind,
        None => ProtectionKind::None,
    }
}

/// Checks that a key protects as much as the governance requires. The key has its kind, and MACs for this participant
/// or none.
///
/// The kind of the key decides how a message is opened. One that only signs would let plain text pass.
pub(super) fn check_strength(
    (kind, has_receiver): (TransformationKind, bool),
    required: ProtectionKind,
) -> Result<(), &'static str> {
    let encrypts = matches!(kind, TransformationKind::Aes128Gcm | TransformationKind::Aes256Gcm);
    match required {
        ProtectionKind::Encrypt | ProtectionKind::EncryptWithOriginAuthentication if !encrypts => {
            Err("its key only signs, and the governance encrypts")
        }
        _ if authenticates_origin(required) && !has_receiver => {
            Err("its key has no part for this participant, and the governance authenticates the origin")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_that_only_signs_protects_no_encrypted_topic() {
        let signs = [TransformationKind::Aes128Gmac, TransformationKind::Aes256Gmac];
        let encrypts = [TransformationKind::Aes128Gcm, TransformationKind::Aes256Gcm];
        for kind in signs.into_iter().chain(encrypts) {
            let check = |has_receiver, required| check_strength((kind, has_receiver), required).is_ok();
            assert!(check(false, ProtectionKind::None) && check(false, ProtectionKind::Sign));
            let is_enough = encrypts.contains(&kind);
            assert_eq!(check(false, ProtectionKind::Encrypt), is_enough);
            for has_receiver in [false, true] {
                assert_eq!(check(has_receiver, ProtectionKind::SignWithOriginAuthentication), has_receiver);
                let expected = is_enough && has_receiver;
                assert_eq!(check(has_receiver, ProtectionKind::EncryptWithOriginAuthentication), expected);
            }
        }
    }

    #[test]
    fn message_without_a_usable_key_brings_none() {
        let token = |material: &KeyMaterial| {
            let mut token = DataHolder::new(KEYS_CLASS);
            token.binary_properties.push((KEY_MATERIAL.to_owned(), material.to_token()));
            token
        };
        let sound = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap();
        let mut of_handshake = sound.clone();
        of_handshake.sender_key_id = [0; 4];
        let none = KeyMaterial::generate(TransformationKind::None).unwrap();
        let message = |tokens| GenericMessage { tokens, ..GenericMessage::default() };
        let all = message(vec![DataHolder::new("other"), token(&of_handshake), token(&none), token(&sound)]);
        let ids: Vec<_> = materials_of(&all).map(|material| material.sender_key_id).collect();
        assert_eq!(ids, [sound.sender_key_id]);
        assert!(materials_of(&message(vec![token(&of_handshake), token(&none)])).next().is_none());
    }
}
