//! The keys of this participant and its peers, as the path of a message looks them up.
//!
//! Bounds: an entry for each local endpoint, and at most 8 208 for the endpoints of an authenticated participant.

use dds_rtps::types::{EntityId, GuidPrefix};
use dds_security::crypto::{CryptoHeader, KeyMaterial, OpenError, ReceiveKey, SendKey, TransformationKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Most endpoints of one participant whose keys are kept: twice its bound in discovery, and the builtin ones.
const ENDPOINT_KEYS_MAX: usize = 2 * 4_096 + 16;

/// The keys of a local endpoint. Bytes without a key leave as they are.
#[derive(Clone, Default)]
pub(super) struct OwnKeys {
    pub(super) submessages: Option<Arc<SendKey>>,
    /// A writer's key for the payloads inside of its submessages.
    pub(super) payloads: Option<Arc<SendKey>>,
}

/// What of a remote endpoint comes protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExpectedProtection {
    /// Its submessages. Plain ones are refused.
    pub(super) submessages: bool,
    /// The payloads inside of its submessages. Submessages with plain ones are refused.
    pub(super) payloads: bool,
}

/// All keys.
pub(super) struct KeyTables {
    /// Key for whole messages, if messages are protected.
    pub(super) messages: Option<Arc<SendKey>>,
    own: RwLock<BTreeMap<EntityId, OwnKeys>>,
    peers: RwLock<BTreeMap<GuidPrefix, Arc<KeysOfPeer>>>,
}

/// The keys of an authenticated participant.
pub(super) struct KeysOfPeer {
    /// For keys that are sent to it.
    pub(super) exchange: Arc<SendKey>,
    /// Whether it sends plain announcements outside of protected messages.
    pub(super) announces_outside: bool,
    received: Mutex<ReceivedKeys>,
}

/// Keys that a participant has sent, and what follows from its announcements.
pub(super) struct ReceivedKeys {
    exchange: ReceiveKey,
    messages: Option<ReceiveKey>,
    endpoints: BTreeMap<EntityId, KeyedEndpoint>,
    /// Endpoints by the id of their key.
    by_key_id: BTreeMap<[u8; 4], EntityId>,
}

/// An endpoint of a participant.
#[derive(Default)]
struct KeyedEndpoint {
    /// `None` before a match has asked about it.
    expected: Option<ExpectedProtection>,
    key: Option<ReceiveKey>,
    /// The key for payloads, if it is not `key`.
    payload_key: Option<ReceiveKey>,
}

impl KeyedEndpoint {
    fn payload_key(&mut self) -> Option<&mut ReceiveKey> {
        self.payload_key.as_mut().or(self.key.as_mut())
    }
}

impl KeyTables {
    pub(super) fn new(messages: Option<SendKey>) -> Self {
        Self { messages: messages.map(Arc::new), own: RwLock::default(), peers: RwLock::default() }
    }

    pub(super) fn own(&self, id: EntityId) -> Option<OwnKeys> {
        self.own.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    pub(super) fn set_own(&self, id: EntityId, keys: OwnKeys) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).insert(id, keys);
    }

    pub(super) fn remove_own(&self, id: EntityId) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    pub(super) fn peer(&self, prefix: GuidPrefix) -> Option<Arc<KeysOfPeer>> {
        self.peers.read().unwrap_or_else(PoisonError::into_inner).get(&prefix).cloned()
    }

    pub(super) fn set_peer(&self, prefix: GuidPrefix, keys: KeysOfPeer) {
        self.peers.write().unwrap_or_else(PoisonError::into_inner).insert(prefix, Arc::new(keys));
    }

    pub(super) fn remove_peer(&self, prefix: GuidPrefix) {
        self.peers.write().unwrap_or_else(PoisonError::into_inner).remove(&prefix);
    }
}

impl KeysOfPeer {
    /// Begins with the key that follows from the handshake.
    pub(super) fn new(exchange: SendKey, announces_outside: bool) -> Self {
        let received = ReceivedKeys {
            exchange: ReceiveKey::new(exchange.material().clone()),
            messages: None,
            endpoints: BTreeMap::new(),
            by_key_id: BTreeMap::new(),
        };
        Self { exchange: Arc::new(exchange), announces_outside, received: Mutex::new(received) }
    }

    pub(super) fn received(&self) -> MutexGuard<'_, ReceivedKeys> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReceivedKeys {
    pub(super) fn set_messages(&mut self, material: KeyMaterial) {
        self.messages = Some(ReceiveKey::new(material));
    }

    /// The key for whole messages.
    pub(super) fn messages(&mut self) -> Option<&mut ReceiveKey> {
        self.messages.as_mut()
    }

    /// Stores the keys of an endpoint: one for its submessages and payloads, or one for each. Returns false if the
    /// participant has too many.
    pub(super) fn set_endpoint(
        &mut self,
        id: EntityId,
        material: KeyMaterial,
        for_payloads: Option<KeyMaterial>,
    ) -> bool {
        if !self.endpoints.contains_key(&id) && self.endpoints.len() >= ENDPOINT_KEYS_MAX {
            return false;
        }
        let endpoint = self.endpoints.entry(id).or_default();
        if let Some(before) = endpoint.key.take() {
            self.by_key_id.remove(&before.material().sender_key_id);
        }
        self.by_key_id.insert(material.sender_key_id, id);
        endpoint.key = Some(ReceiveKey::new(material));
        endpoint.payload_key = for_payloads.map(ReceiveKey::new);
        true
    }

    /// Records what of an endpoint comes protected.
    pub(super) fn set_expected(&mut self, id: EntityId, expected: ExpectedProtection) {
        if self.endpoints.contains_key(&id) || self.endpoints.len() < ENDPOINT_KEYS_MAX {
            self.endpoints.entry(id).or_default().expected = Some(expected);
        }
    }

    /// The kind of an endpoint's key. `None` before it has arrived.
    pub(super) fn kind_of(&self, id: EntityId) -> Option<TransformationKind> {
        Some(self.endpoints.get(&id)?.key.as_ref()?.material().kind)
    }

    /// The kind of an endpoint's key for payloads. `None` before it has arrived.
    pub(super) fn payload_kind_of(&mut self, id: EntityId) -> Option<TransformationKind> {
        Some(self.endpoints.get_mut(&id)?.payload_key()?.material().kind)
    }

    /// Whether plain submessages of an endpoint are refused. An endpoint that no match has asked about is unknown here.
    ///
    /// The governance decides. A participant may send keys that it does not use, such as those of a reader of a topic
    /// whose payloads alone are protected.
    pub(super) fn is_protected(&self, id: EntityId) -> bool {
        match self.endpoints.get(&id).and_then(|endpoint| endpoint.expected) {
            None => true,
            Some(expected) => expected.submessages,
        }
    }

    /// The key for the payloads of an endpoint. `Ok(None)`: they come plain.
    ///
    /// # Errors
    /// The key is missing, or no match has asked about the endpoint.
    pub(super) fn payload_key(&mut self, id: EntityId) -> Result<Option<&mut ReceiveKey>, OpenError> {
        let endpoint = self.endpoints.get_mut(&id).ok_or(OpenError::UnknownKey)?;
        match endpoint.expected {
            Some(ExpectedProtection { payloads: false, .. }) => Ok(None),
            Some(_) => endpoint.payload_key().map(Some).ok_or(OpenError::UnknownKey),
            None => Err(OpenError::UnknownKey),
        }
    }

    pub(super) fn remove_endpoint(&mut self, id: EntityId) {
        if let Some(key) = self.endpoints.remove(&id).and_then(|endpoint| endpoint.key) {
            self.by_key_id.remove(&key.material().sender_key_id);
        }
    }

    /// The key that a protected submessage names, with the endpoint that has it. `None` for the endpoint: the key of
    /// the exchange of keys.
    pub(super) fn named_by(&mut self, header: &CryptoHeader) -> Option<(Option<EntityId>, &mut ReceiveKey)> {
        if self.exchange.is_named_by(header) {
            return Some((None, &mut self.exchange));
        }
        let id = *self.by_key_id.get(&header.key_id)?;
        Some((Some(id), self.endpoints.get_mut(&id)?.key.as_mut()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ExpectedProtection = ExpectedProtection { submessages: false, payloads: false };
    const PROTECTED: ExpectedProtection = ExpectedProtection { submessages: true, payloads: false };

    #[test]
    fn keys_of_a_participant_are_bounded() {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap();
        let exchange = SendKey::new(material.clone()).unwrap().unwrap();
        let peer = KeysOfPeer::new(exchange, false);
        let mut received = peer.received();
        let id = |number: usize| EntityId([(number >> 16) as u8, (number >> 8) as u8, number as u8, 2]);
        let stored =
            (0..ENDPOINT_KEYS_MAX + 10).filter(|number| received.set_endpoint(id(*number), material.clone(), None));
        assert_eq!(stored.count(), ENDPOINT_KEYS_MAX);
        received.set_expected(id(ENDPOINT_KEYS_MAX), PROTECTED);
        assert_eq!(received.endpoints.len(), ENDPOINT_KEYS_MAX);
        // A known endpoint may get another key, and one that is gone makes room.
        assert!(received.set_endpoint(id(7), material.clone(), None));
        received.remove_endpoint(id(7));
        assert!(received.set_endpoint(id(ENDPOINT_KEYS_MAX), material, None));
    }

    #[test]
    fn unknown_endpoint_counts_as_protected() {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap();
        let peer = KeysOfPeer::new(SendKey::new(material.clone()).unwrap().unwrap(), false);
        let (mut received, id) = (peer.received(), EntityId([0, 0, 1, 2]));
        assert!(received.is_protected(id));
        received.set_expected(id, PLAIN);
        assert!(!received.is_protected(id));
        received.set_endpoint(id, material, None);
        assert!(!received.is_protected(id), "the governance decides, and not the key");
        received.set_expected(id, PROTECTED);
        assert!(received.is_protected(id));
    }

    #[test]
    fn payloads_have_a_key_of_their_own_or_share_the_one_of_submessages() {
        let [one, other] = [(); 2].map(|()| KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap());
        let peer = KeysOfPeer::new(SendKey::new(one.clone()).unwrap().unwrap(), false);
        let (mut received, id) = (peer.received(), EntityId([0, 0, 1, 2]));
        assert!(received.payload_key(id).is_err(), "no match has asked about it");
        received.set_expected(id, PLAIN);
        assert!(matches!(received.payload_key(id), Ok(None)));
        received.set_expected(id, ExpectedProtection { submessages: false, payloads: true });
        assert!(received.payload_key(id).is_err(), "its key has not arrived");
        for (for_payloads, expected) in [(None, &one), (Some(other.clone()), &other), (None, &one)] {
            assert!(received.set_endpoint(id, one.clone(), for_payloads));
            let key = received.payload_key(id).unwrap().unwrap();
            assert_eq!(key.material().sender_key_id, expected.sender_key_id);
            // Its key is for payloads, so its submessages may come plain.
            assert!(!received.is_protected(id));
        }
    }
}
