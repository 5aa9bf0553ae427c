//! The exchange of keys with participants that have proved their identity (DDS Security 1.1, 8.8).
//!
//! Each message has one key, and goes by the topic ParticipantVolatileMessageSecure.

use super::handshakes::{ExchangeContext, Handshakes};
use super::policy::DomainPolicy;
use dds_rtps::discovery::{SecurePairTopic, SecurityAction, SecurityChannel};
use dds_rtps::types::{EntityId, Guid, GuidPrefix};
use dds_security::access::ProtectionKind;
use dds_security::authentication::{DataHolder, GenericMessage, TokenByteOrder};
use dds_security::crypto::{KeyMaterial, TransformationKind};

/// Class of tokens with keys, and the name of their value (DDS Security 1.1, 9.5.2.2).
const KEYS_CLASS: &str = "DDS:Crypto:AES_GCM_GMAC";
const KEY_MATERIAL: &str = "dds.cryp.keymat";

impl Handshakes {
    /// Sends the keys for messages and for the builtin endpoints.
    pub(super) fn send_first_keys(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) {
        if let Some(key) = &cx.filter.keys.messages {
            let class = GenericMessage::PARTICIPANT_KEYS;
            self.send_keys(prefix, class, (EntityId::UNKNOWN, EntityId::UNKNOWN), &[key.material()]);
        }
        self.send_builtin_keys(cx, prefix);
    }

    /// Sends the keys for the builtin endpoints that a participant has, each once.
    pub(super) fn send_builtin_keys(&mut self, cx: &ExchangeContext<'_>, prefix: GuidPrefix) {
        let Some(has) = self.peers.get(&prefix).map(|peer| peer.builtin_endpoints) else { return };
        for topic in SecurePairTopic::ALL {
            let ((writer, reader), (writer_bit, reader_bit)) = (topic.ids(), topic.bits());
            if has.contains(reader_bit) {
                self.send_endpoint_keys(cx, prefix, writer, reader);
            }
            if has.contains(writer_bit) {
                self.send_endpoint_keys(cx, prefix, reader, writer);
            }
        }
    }

    /// Sends the keys of a local endpoint to a remote one, once. Does nothing for an endpoint without a key.
    pub(super) fn send_endpoint_keys(
        &mut self,
        cx: &ExchangeContext<'_>,
        prefix: GuidPrefix,
        local: EntityId,
        remote: EntityId,
    ) {
        let Some(keys) = cx.filter.keys.own(local) else { return };
        // The key for submessages precedes the one for payloads.
        let materials: Vec<_> = keys.submessages.iter().chain(&keys.payloads).map(|key| key.material()).collect();
        if materials.is_empty() {
            return;
        }
        let Some(proved) = self.peers.get_mut(&prefix).and_then(|peer| peer.proved.as_mut()) else { return };
        if proved.sent.insert((local, remote)) {
            let class = if local.is_writer() { GenericMessage::WRITER_KEYS } else { GenericMessage::READER_KEYS };
            self.send_keys(prefix, class, (local, remote), &materials);
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
    pub(super) fn handle_keys(&mut self, cx: &ExchangeContext<'_>, sender: GuidPrefix, payload: &[u8]) {
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
        if !is_strong_enough(material.kind, required) {
            let reason = format!("its key for {source} only signs, and the governance encrypts");
            return self.report(sender, &reason);
        }
        if is_of_participant {
            return peer.received().set_messages(material);
        }
        let fits = is_writer && source.entity_id.is_writer() || is_reader && source.entity_id.is_reader();
        let for_payloads = if is_writer { materials.next() } else { None };
        if source.prefix == sender && fits && peer.received().set_endpoint(source.entity_id, material, for_payloads) {
            self.actions.push_back(SecurityAction::CompareAgain(source));
        }
    }

    /// Forgets that keys were sent to or for an endpoint.
    pub(super) fn endpoint_removed(&mut self, cx: &ExchangeContext<'_>, guid: Guid, is_own: bool) {
        for (prefix, peer) in &mut self.peers {
            let Some(proved) = &mut peer.proved else { continue };
            if is_own {
                proved.sent.retain(|(local, _)| *local != guid.entity_id);
            } else if *prefix == guid.prefix {
                proved.sent.retain(|(_, remote)| *remote != guid.entity_id);
            }
        }
        if is_own {
            return;
        }
        if let Some(peer) = cx.filter.keys.peer(guid.prefix) {
            peer.received().remove_endpoint(guid.entity_id);
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

/// Whether keys of a kind protect as much as the governance requires.
///
/// The kind of the key decides how a message is opened. One that only signs would let plain text pass.
pub(super) fn is_strong_enough(kind: TransformationKind, required: ProtectionKind) -> bool {
    match required {
        ProtectionKind::Encrypt | ProtectionKind::EncryptWithOriginAuthentication => {
            matches!(kind, TransformationKind::Aes128Gcm | TransformationKind::Aes256Gcm)
        }
        _ => true,
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
            assert!(is_strong_enough(kind, ProtectionKind::None) && is_strong_enough(kind, ProtectionKind::Sign));
            let is_enough = encrypts.contains(&kind);
            assert_eq!(is_strong_enough(kind, ProtectionKind::Encrypt), is_enough);
            assert_eq!(is_strong_enough(kind, ProtectionKind::EncryptWithOriginAuthentication), is_enough);
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
