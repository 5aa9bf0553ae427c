//! The keys of this participant and its peers, as the path of a message looks them up.
//!
//! Bounds: an entry for each local endpoint, and at most 8 208 for the endpoints of an authenticated participant. Each
//! has the latest key and the one before it.

use super::key_history::KeyHistory;
use dds_rtps::types::{EntityId, GuidPrefix, VendorId};
use dds_security::crypto::message::{self, HeaderBinding};
use dds_security::crypto::{CryptoHeader, KeyMaterial, OpenError, ReceiveKey, SendKey, TransformationKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Most endpoints of one participant whose keys are kept: twice its bound in discovery, and the builtin ones.
const ENDPOINT_KEYS_MAX: usize = 2 * 4_096 + 16;

/// The keys of a local endpoint. Bytes without a key leave as they are.
#[derive(Clone, Default)]
pub(super) struct OwnKeys {
    pub(super) submessages: Option<Arc<SendKey>>,
    /// A writer's key for the payloads inside of its submessages.
    pub(super) payloads: Option<Arc<SendKey>>,
    /// A reader's key that protects nothing. Writers of Fast DDS wait for one where payloads alone are protected.
    pub(super) unused: Option<Arc<SendKey>>,
}

/// What of a remote endpoint comes protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExpectedProtection {
    /// Its submessages. Plain ones are refused.
    pub(super) submessages: bool,
    /// The payloads inside of its submessages. Submessages with plain ones are refused.
    pub(super) payloads: bool,
}

/// The keys of this participant.
#[derive(Default)]
pub(super) struct OwnTable {
    /// Key for whole messages, if messages are protected.
    pub(super) messages: Option<Arc<SendKey>>,
    pub(super) endpoints: BTreeMap<EntityId, OwnKeys>,
}

impl OwnTable {
    /// Bytes that the protection of a whole message needs in front of it. New keys need as many.
    pub(super) fn front_len(&self) -> usize {
        self.messages.as_ref().map_or(0, |key| message::front_len(key.kind(), HeaderBinding::InfoSource))
    }
}

/// All keys.
pub(super) struct KeyTables {
    own: RwLock<OwnTable>,
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
    messages: KeyHistory,
    endpoints: BTreeMap<EntityId, KeyedEndpoint>,
    /// Endpoints by the ids of their keys.
    by_key_id: BTreeMap<[u8; 4], EntityId>,
    /// The participant numbers all protected bytes, so replays are known.
    refuses_replays: bool,
    /// Some keys have been replaced, and still count.
    has_retired: bool,
}

/// An endpoint of a participant.
#[derive(Default)]
struct KeyedEndpoint {
    /// `None` before a match has asked about it.
    expected: Option<ExpectedProtection>,
    key: KeyHistory,
    /// The key for payloads, if it is not `key`.
    payload_key: KeyHistory,
}

impl KeyedEndpoint {
    fn payload_key(&mut self) -> &mut KeyHistory {
        if self.payload_key.current().is_some() { &mut self.payload_key } else { &mut self.key }
    }
}

impl OwnKeys {
    /// Returns other keys of the same kinds, without receivers. `None` without random numbers.
    fn renewed(&self) -> Option<Self> {
        let [submessages, payloads, unused] = [&self.submessages, &self.payloads, &self.unused].map(renewed);
        Some(Self { submessages: submessages?, payloads: payloads?, unused: unused? })
    }

    /// Whether these are the same keys, and not only equal ones.
    fn are_same(&self, other: &Self) -> bool {
        let all =
            |keys: &Self| [&keys.submessages, &keys.payloads, &keys.unused].map(|key| key.as_ref().map(Arc::as_ptr));
        all(self) == all(other)
    }
}

/// Other keys of this participant: for whole messages, and for each endpoint.
struct KeyRenewal {
    messages: Option<Arc<SendKey>>,
    endpoints: Vec<EndpointRenewal>,
}

/// Other keys of a local endpoint.
struct EndpointRenewal {
    id: EntityId,
    former: OwnKeys,
    new: OwnKeys,
}

/// Returns another key of the same kind, without receivers. `None` without random numbers.
fn renewed(key: &Option<Arc<SendKey>>) -> Option<Option<Arc<SendKey>>> {
    let Some(key) = key else { return Some(None) };
    // The kind stays, because the governance that demands it stays.
    let new = SendKey::new(KeyMaterial::generate(key.kind()).ok()?).ok()??;
    Some(Some(Arc::new(if key.authenticates_origin() { new.authenticating_origin() } else { new })))
}

impl KeyTables {
    pub(super) fn new(messages: Option<SendKey>) -> Self {
        let own = OwnTable { messages: messages.map(Arc::new), endpoints: BTreeMap::new() };
        Self { own: RwLock::new(own), peers: RwLock::default() }
    }

    /// The key for whole messages, if messages are protected.
    pub(super) fn messages(&self) -> Option<Arc<SendKey>> {
        self.all_own().messages.clone()
    }

    pub(super) fn own(&self, id: EntityId) -> Option<OwnKeys> {
        self.all_own().endpoints.get(&id).cloned()
    }

    /// All keys of this participant. No key appears, changes or ends while the caller holds them.
    pub(super) fn all_own(&self) -> RwLockReadGuard<'_, OwnTable> {
        self.own.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_own_mut(&self) -> RwLockWriteGuard<'_, OwnTable> {
        self.own.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the submessages of a local endpoint are protected.
    pub(super) fn protects_submessages_of(&self, id: EntityId) -> bool {
        self.all_own().endpoints.get(&id).is_some_and(|keys| keys.submessages.is_some())
    }

    pub(super) fn set_own(&self, id: EntityId, keys: OwnKeys) {
        self.all_own_mut().endpoints.insert(id, keys);
    }

    /// Replaces all keys of this participant. They have no receivers yet. Returns false without random numbers; then
    /// the keys stay.
    pub(super) fn renew(&self) -> bool {
        let renewal = self.renewal();
        renewal.map(|renewal| self.replace(renewal)).is_some()
    }

    /// Creates other keys. That takes time, and each sample looks up its key, so the lock is free until all exist.
    fn renewal(&self) -> Option<KeyRenewal> {
        // Copied, so that no lock is held while the system generates random numbers.
        let before = {
            let own = self.all_own();
            OwnTable { messages: own.messages.clone(), endpoints: own.endpoints.clone() }
        };
        let renew_endpoint = |(id, former): (EntityId, OwnKeys)| {
            let new = former.renewed()?;
            Some(EndpointRenewal { id, former, new })
        };
        let endpoints: Option<Vec<_>> = before.endpoints.into_iter().map(renew_endpoint).collect();
        Some(KeyRenewal { messages: renewed(&before.messages)?, endpoints: endpoints? })
    }

    /// Uses other keys. An endpoint that was removed since [`Self::renewal`] stays so. No peer knows the keys of a new
    /// one.
    fn replace(&self, mut renewal: KeyRenewal) {
        // The former keys end behind the lock, because they are overwritten.
        let mut own = self.all_own_mut();
        std::mem::swap(&mut own.messages, &mut renewal.messages);
        for EndpointRenewal { id, former, new } in &mut renewal.endpoints {
            // Another thread may have replaced the endpoint since, and then its keys are new already.
            if let Some(keys) = own.endpoints.get_mut(id).filter(|keys| keys.are_same(former)) {
                std::mem::swap(keys, new);
            }
        }
    }

    pub(super) fn remove_own(&self, id: EntityId) {
        // This lock ends with the line, so no two tables are locked at once.
        self.all_own_mut().endpoints.remove(&id);
        for peer in self.peers.read().unwrap_or_else(PoisonError::into_inner).values() {
            peer.received().remove_receiver(id);
        }
    }

    pub(super) fn peer(&self, prefix: GuidPrefix) -> Option<Arc<KeysOfPeer>> {
        self.peers.read().unwrap_or_else(PoisonError::into_inner).get(&prefix).cloned()
    }

    /// Begins with the keys of a participant. It gets other keys for its MACs than before.
    pub(super) fn set_peer(&self, prefix: GuidPrefix, keys: KeysOfPeer) {
        // The peer may have restarted, and receiver keys of its earlier session must not stay.
        self.remove_receiver(prefix);
        self.peers.write().unwrap_or_else(PoisonError::into_inner).insert(prefix, Arc::new(keys));
    }

    pub(super) fn remove_peer(&self, prefix: GuidPrefix) {
        self.peers.write().unwrap_or_else(PoisonError::into_inner).remove(&prefix);
        self.remove_receiver(prefix);
    }

    /// Forgets the keys for MACs of a participant that has no more matches with a local endpoint.
    pub(super) fn remove_receiver_of(&self, local: EntityId, prefix: GuidPrefix) {
        if let Some(OwnKeys { submessages: Some(key), .. }) = self.all_own().endpoints.get(&local) {
            key.remove_receiver(prefix.0);
        }
    }

    fn remove_receiver(&self, prefix: GuidPrefix) {
        let own = self.all_own();
        let keys = own.endpoints.values().filter_map(|keys| keys.submessages.as_ref()).chain(&own.messages);
        keys.for_each(|key| key.remove_receiver(prefix.0));
    }
}

/// Returns a key as a participant gets it. `None` with too many receivers, or without random numbers.
pub(super) fn material_for(key: &SendKey, prefix: GuidPrefix) -> Option<KeyMaterial> {
    if key.authenticates_origin() { key.add_receiver(prefix.0).ok()? } else { Some(key.material().clone()) }
}

impl KeysOfPeer {
    /// Begins with the key that follows from the handshake. The vendor is `None` if the participant tells none.
    pub(super) fn new(exchange: SendKey, vendor: Option<VendorId>) -> Self {
        let received = ReceivedKeys {
            exchange: ReceiveKey::new(exchange.material().clone()),
            messages: KeyHistory::default(),
            endpoints: BTreeMap::new(),
            by_key_id: BTreeMap::new(),
            // The standard only requires that the numbers of other vendors differ.
            refuses_replays: vendor == Some(VendorId::OURS),
            has_retired: false,
        };
        let announces_outside = vendor == Some(VendorId::CYCLONE);
        Self { exchange: Arc::new(exchange), announces_outside, received: Mutex::new(received) }
    }

    pub(super) fn received(&self) -> MutexGuard<'_, ReceivedKeys> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReceivedKeys {
    pub(super) fn set_messages(&mut self, material: KeyMaterial) {
        self.messages.set(material, self.refuses_replays);
        self.has_retired |= self.messages.has_retired();
    }

    /// The key for whole messages that a message names.
    pub(super) fn messages(&mut self, header: &CryptoHeader) -> Option<&mut ReceiveKey> {
        self.messages.named_by(header)
    }

    /// Stores the keys of an endpoint: one for its submessages and payloads, or one for each. Returns false if the
    /// participant has too many.
    ///
    /// The endpoint sends them to each of its matches, `local` among them. They differ in the keys for MACs of it.
    pub(super) fn set_endpoint(
        &mut self,
        id: EntityId,
        local: EntityId,
        mut material: KeyMaterial,
        for_payloads: Option<KeyMaterial>,
    ) -> bool {
        // An authenticated peer could otherwise fill the memory with keys for invented ids.
        if !self.endpoints.contains_key(&id) && self.endpoints.len() >= ENDPOINT_KEYS_MAX {
            return false;
        }
        let endpoint = self.endpoints.entry(id).or_default();
        let (receiver, key_id) = (material.receiver.take(), material.sender_key_id);
        if let Some(forgotten) = endpoint.key.set(material, self.refuses_replays) {
            self.by_key_id.remove(&forgotten);
        }
        self.by_key_id.insert(key_id, id);
        if let (Some(receiver), Some(key)) = (receiver, endpoint.key.current_mut()) {
            key.set_receiver(local.0, receiver);
        }
        match for_payloads {
            Some(material) => _ = endpoint.payload_key.set(material, self.refuses_replays),
            // Then the key of submessages serves for payloads, and a former payload key must not.
            None => endpoint.payload_key = KeyHistory::default(),
        }
        self.has_retired |= endpoint.key.has_retired() || endpoint.payload_key.has_retired();
        debug_assert!(self.endpoints.len() <= ENDPOINT_KEYS_MAX, "both functions that add endpoints check the limit");
        true
    }

    /// Whether the participant has replaced keys, and the earlier ones still count.
    pub(super) fn has_retired(&self) -> bool {
        self.has_retired
    }

    /// Forgets the keys that the participant has replaced.
    pub(super) fn forget_retired(&mut self) {
        self.has_retired = false;
        self.messages.forget_retired();
        for (id, endpoint) in &mut self.endpoints {
            endpoint.payload_key.forget_retired();
            let Some(forgotten) = endpoint.key.forget_retired() else { continue };
            self.by_key_id.remove(&forgotten);
            // A participant may use an id twice.
            let current = endpoint.key.current().map(|key| key.material().sender_key_id);
            self.by_key_id.extend(current.map(|key_id| (key_id, *id)));
        }
    }

    /// Whether an endpoint adds MACs for this participant to its submessages. `None` before its key has arrived.
    pub(super) fn authenticates_origin(&self, id: EntityId) -> Option<bool> {
        Some(self.endpoints.get(&id)?.key.current()?.authenticates_origin())
    }

    /// Forgets the keys for MACs of a local endpoint.
    fn remove_receiver(&mut self, local: EntityId) {
        let keys = self.endpoints.values_mut().flat_map(|endpoint| endpoint.key.all_mut());
        keys.for_each(|key| key.remove_receiver(local.0));
    }

    /// Records what of an endpoint comes protected.
    pub(super) fn set_expected(&mut self, id: EntityId, expected: ExpectedProtection) {
        // Beyond the limit nothing is expected, and the bytes of the endpoint stay refused.
        if self.endpoints.contains_key(&id) || self.endpoints.len() < ENDPOINT_KEYS_MAX {
            self.endpoints.entry(id).or_default().expected = Some(expected);
        }
    }

    /// The kind of an endpoint's key. `None` before it has arrived.
    pub(super) fn kind_of(&self, id: EntityId) -> Option<TransformationKind> {
        Some(self.endpoints.get(&id)?.key.current()?.material().kind)
    }

    /// The kind of an endpoint's key for payloads. `None` before it has arrived.
    pub(super) fn payload_kind_of(&mut self, id: EntityId) -> Option<TransformationKind> {
        Some(self.endpoints.get_mut(&id)?.payload_key().current()?.material().kind)
    }

    /// Whether plain submessages of an endpoint are refused. An endpoint that no match has asked about is unknown here.
    ///
    /// The governance decides. A participant may send keys that it does not use, such as those of a reader of a topic
    /// whose payloads alone are protected.
    pub(super) fn is_protected(&self, id: EntityId) -> bool {
        match self.endpoints.get(&id).and_then(|endpoint| endpoint.expected) {
            // Before the match the protection is unknown, so plain bytes do not count.
            None => true,
            Some(expected) => expected.submessages,
        }
    }

    /// The keys for the payloads of an endpoint. `Ok(None)`: they come plain.
    ///
    /// # Errors
    /// No match has asked about the endpoint.
    pub(super) fn payload_key(&mut self, id: EntityId) -> Result<Option<&mut KeyHistory>, OpenError> {
        let endpoint = self.endpoints.get_mut(&id).ok_or(OpenError::UnknownKey)?;
        match endpoint.expected {
            Some(ExpectedProtection { payloads: false, .. }) => Ok(None),
            Some(_) => Ok(Some(endpoint.payload_key())),
            None => Err(OpenError::UnknownKey),
        }
    }

    pub(super) fn remove_endpoint(&mut self, id: EntityId) {
        let Some(mut endpoint) = self.endpoints.remove(&id) else { return };
        for key in endpoint.key.all_mut() {
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
        Some((Some(id), self.endpoints.get_mut(&id)?.key.named_by(header)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_security::crypto::{Audience, submessage};

    const LOCAL: EntityId = EntityId([0, 0, 1, 7]);
    const PLAIN: ExpectedProtection = ExpectedProtection { submessages: false, payloads: false };
    const PROTECTED: ExpectedProtection = ExpectedProtection { submessages: true, payloads: false };

    #[test]
    fn keys_of_a_participant_are_bounded() {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap();
        let exchange = SendKey::new(material.clone()).unwrap().unwrap();
        let peer = KeysOfPeer::new(exchange, None);
        let mut received = peer.received();
        let id = |number: usize| EntityId([(number >> 16) as u8, (number >> 8) as u8, number as u8, 2]);
        let stored = (0..ENDPOINT_KEYS_MAX + 10)
            .filter(|number| received.set_endpoint(id(*number), LOCAL, material.clone(), None));
        assert_eq!(stored.count(), ENDPOINT_KEYS_MAX);
        received.set_expected(id(ENDPOINT_KEYS_MAX), PROTECTED);
        assert_eq!(received.endpoints.len(), ENDPOINT_KEYS_MAX);
        // A known endpoint may get another key, and one that is gone makes room.
        assert!(received.set_endpoint(id(7), LOCAL, material.clone(), None));
        received.remove_endpoint(id(7));
        assert!(received.set_endpoint(id(ENDPOINT_KEYS_MAX), LOCAL, material, None));
    }

    #[test]
    fn keys_change_without_a_lock_while_endpoints_come_and_go() {
        let key = || SendKey::new(KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap()).unwrap().map(Arc::new);
        let own = || OwnKeys { submessages: key(), ..OwnKeys::default() };
        let tables =
            KeyTables::new(SendKey::new(KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap()).unwrap());
        let [kept, removed, replaced, new] = [1, 2, 3, 4].map(|number| EntityId([0, 0, number, 2]));
        for id in [kept, removed, replaced] {
            tables.set_own(id, own());
        }
        let id_of = |id| tables.own(id).map(|keys| keys.submessages.unwrap().material().sender_key_id);
        let messages = || tables.messages().unwrap().material().sender_key_id;
        let before = (id_of(kept), messages());
        // A sample holds the keys while the others are created.
        let held = tables.all_own();
        let renewal = tables.renewal().unwrap();
        drop(held);
        tables.remove_own(removed);
        for id in [replaced, new] {
            tables.set_own(id, own());
        }
        let of_new = [replaced, new].map(id_of);
        tables.replace(renewal);
        assert!(id_of(kept) != before.0 && messages() != before.1);
        assert_eq!((id_of(removed), [replaced, new].map(id_of)), (None, of_new));
        assert!(tables.renew());
        assert!([replaced, new].map(id_of).iter().zip(of_new).all(|(id, former)| *id != former));
    }

    #[test]
    fn key_with_origin_authentication_has_few_receivers() {
        let key = || SendKey::new(KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap()).unwrap().unwrap();
        let tables = KeyTables::new(Some(key().authenticating_origin()));
        let messages = &tables.messages().unwrap();
        let known: Vec<_> = (0..32).map(|number| material_for(messages, GuidPrefix([number; 12])).unwrap()).collect();
        assert!(known.iter().all(|material| material.receiver.is_some()));
        assert!(known.windows(2).all(|pair| pair[0].receiver != pair[1].receiver));
        assert_eq!(material_for(messages, GuidPrefix([32; 12])), None);
        // One that leaves makes room, and has another key when it returns.
        tables.remove_peer(GuidPrefix([7; 12]));
        assert!(material_for(messages, GuidPrefix([32; 12])).is_some());
        tables.remove_peer(GuidPrefix([32; 12]));
        assert_ne!(material_for(messages, GuidPrefix([7; 12])).as_ref(), Some(&known[7]));
        let plain = key();
        assert!((0..100).all(|number| material_for(&plain, GuidPrefix([number; 12])).unwrap().receiver.is_none()));
    }

    #[test]
    fn second_local_endpoint_keeps_the_key_of_the_first() {
        let [material, exchange] = [(); 2].map(|()| KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap());
        let peer = KeysOfPeer::new(SendKey::new(exchange).unwrap().unwrap(), None);
        let (mut received, id, other) = (peer.received(), EntityId([0, 0, 1, 2]), EntityId([0, 0, 2, 7]));
        assert_eq!(received.authenticates_origin(id), None);
        assert!(received.set_endpoint(id, LOCAL, material.clone(), None));
        assert_eq!(received.authenticates_origin(id), Some(false));
        let mut open_as = Vec::new();
        for local in [LOCAL, other] {
            let sender = SendKey::new(material.clone()).unwrap().unwrap().authenticating_origin();
            let for_local = sender.add_receiver([1; 12]).unwrap().unwrap();
            assert!(received.set_endpoint(id, local, for_local, None));
            open_as.push((local, sender));
        }
        assert_eq!(received.authenticates_origin(id), Some(true));
        let opens = |received: &mut ReceivedKeys, sender: &SendKey| {
            let mut bytes = vec![7, 1, 4, 0, 1, 2, 3, 4];
            submessage::seal(sender, &mut bytes, 0, Audience::All).unwrap();
            let header = submessage::header(&bytes).unwrap();
            let (_, key) = received.named_by(&header).unwrap();
            submessage::open(key, &bytes, &mut Vec::new()).is_ok()
        };
        assert!(open_as.iter().all(|(_, sender)| opens(&mut received, sender)));
        received.remove_receiver(LOCAL);
        assert_eq!(open_as.iter().map(|(_, sender)| opens(&mut received, sender)).collect::<Vec<_>>(), [false, true]);
        // Without any key for MACs, submessages would need none.
        received.remove_receiver(other);
        assert_eq!(received.authenticates_origin(id), Some(true));
    }

    #[test]
    fn unknown_endpoint_counts_as_protected() {
        let material = KeyMaterial::generate(TransformationKind::Aes256Gmac).unwrap();
        let peer = KeysOfPeer::new(SendKey::new(material.clone()).unwrap().unwrap(), None);
        let (mut received, id) = (peer.received(), EntityId([0, 0, 1, 2]));
        assert!(received.is_protected(id));
        received.set_expected(id, PLAIN);
        assert!(!received.is_protected(id));
        received.set_endpoint(id, LOCAL, material, None);
        assert!(!received.is_protected(id), "the governance decides, and not the key");
        received.set_expected(id, PROTECTED);
        assert!(received.is_protected(id));
    }

    #[test]
    fn payloads_have_a_key_of_their_own_or_share_the_one_of_submessages() {
        let [one, other] = [(); 2].map(|()| KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap());
        let peer = KeysOfPeer::new(SendKey::new(one.clone()).unwrap().unwrap(), None);
        let (mut received, id) = (peer.received(), EntityId([0, 0, 1, 2]));
        assert!(received.payload_key(id).is_err(), "no match has asked about it");
        received.set_expected(id, PLAIN);
        assert!(matches!(received.payload_key(id), Ok(None)));
        received.set_expected(id, ExpectedProtection { submessages: false, payloads: true });
        assert!(received.payload_kind_of(id).is_none(), "its key has not arrived");
        for (for_payloads, expected) in [(None, &one), (Some(other.clone()), &other), (None, &one)] {
            assert!(received.set_endpoint(id, LOCAL, one.clone(), for_payloads));
            let key = received.payload_key(id).unwrap().unwrap().current().unwrap();
            assert_eq!(key.material().sender_key_id, expected.sender_key_id);
            // Its key is for payloads, so its submessages may come plain.
            assert!(!received.is_protected(id));
        }
    }
}
