//! Participants with DDS Security: admission of others, and protected builtin endpoints.
//!
//! The plugins decide ([`PeerSecurity`]), and this file does what follows. A participant that must prove its identity
//! is known, but has no matched builtin endpoint and causes no event before it is admitted.

use super::Participant;
use super::config::ParticipantConfig;
use super::paths;
use super::peer::narrowed;
use super::restarts;
use super::stateless_messages::StatelessMessages;
use super::validation::challenged_endpoints;
use super::volatile_pairs::VolatilePairs;
use crate::concurrent::PayloadSource;
use crate::discovery::data::{ParticipantData, PublicationData, SubscriptionData, participant_key};
use crate::discovery::{
    AddressState, BuiltinEndpoints, BuiltinPair, BuiltinPairTopic, ParticipantEvent, ParticipantLoss, PeerAdmission,
    PeerSecurity, Route, SecurePairTopic, SecurityAction, SecurityChannel,
};
use crate::history::{ChangeKind, HistorySample};
use crate::output::Datagram;
use crate::types::{EntityId, Guid, GuidPrefix, HashSeed, InstanceHandle, Instant, Locator, Now};
use crate::wire::{Receiver, SerializedPayload, Submessage};
use std::sync::Arc;

/// The endpoints of a participant with DDS Security.
#[derive(Debug)]
pub(super) struct SecureEndpoints {
    security: Arc<dyn PeerSecurity>,
    /// In the order of [`SecurePairTopic::ALL`].
    pairs: [BuiltinPair; 4],
    /// Those of participants that have proved their identities.
    keys: VolatilePairs,
    stateless: StatelessMessages,
    hash_seed: HashSeed,
}

impl SecureEndpoints {
    pub(super) fn new(config: &ParticipantConfig, hash_seed: HashSeed) -> Option<Box<Self>> {
        let security = Arc::clone(config.security.as_ref()?);
        let ParticipantConfig { prefix, headroom, .. } = *config;
        let instances_max = config.limits.endpoints_max;
        let pairs =
            SecurePairTopic::ALL.map(|topic| BuiltinPair::new(topic, prefix, instances_max, headroom, hash_seed));
        Some(Box::new(Self {
            security,
            pairs,
            keys: VolatilePairs::new(headroom),
            stateless: StatelessMessages::default(),
            hash_seed,
        }))
    }

    fn pair(&mut self, topic: SecurePairTopic) -> &mut BuiltinPair {
        let [participants, publications, subscriptions, messages] = &mut self.pairs;
        match topic {
            SecurePairTopic::Participants => participants,
            SecurePairTopic::Publications => publications,
            SecurePairTopic::Subscriptions => subscriptions,
            SecurePairTopic::Messages => messages,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let pairs = self.pairs.iter().filter_map(BuiltinPair::deadline);
        pairs.chain(self.keys.deadline()).chain(self.security.deadline()).min()
    }

    /// Builds the next datagram of a handshake or with keys; returns false without one to send.
    ///
    /// They share no datagram with others, because their protection differs.
    pub(super) fn poll_handshakes(&mut self, now: Now, config: &ParticipantConfig, datagram: &mut Datagram) -> bool {
        self.stateless.poll_transmit(now, config, datagram) || self.keys.poll_transmit(now, config, datagram)
    }

    /// Returns the protected pairs, which share datagrams with the plain ones.
    pub(super) fn pairs(&mut self) -> &mut [BuiltinPair] {
        &mut self.pairs
    }

    /// Sends a copy of a handshake message with another number.
    pub(super) fn send_copy(&mut self, to: GuidPrefix, locator: Locator, payload: &[u8], number: i64) {
        if let Some(copy) = self.security.with_number(payload, number) {
            self.stateless.send(to, &[locator], copy);
        }
    }

    /// Sends a message of a handshake once more, to an address that is known now.
    pub(super) fn send_again(&mut self, to: GuidPrefix, route: &Route, payload: Vec<u8>) {
        self.stateless.send(to, locators_of(route), payload);
    }

    /// Builds a datagram with the disposal of this participant; returns false without one to send.
    pub(super) fn poll_disposal(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        self.pair(SecurePairTopic::Participants).poll_transmit(now, datagram)
    }
}

pub(super) fn security(participant: &Participant) -> Option<&Arc<dyn PeerSecurity>> {
    Some(&participant.secure.as_ref()?.security)
}

fn common_pair(participant: &mut Participant, topic: SecurePairTopic) -> Option<&mut BuiltinPair> {
    Some(participant.secure.as_mut()?.pair(topic))
}

/// Whether plain messages of participants that have proved their identities are refused.
pub(super) fn protects_messages(participant: &Participant) -> bool {
    security(participant).is_some_and(|security| security.protects_messages())
}

/// Whether a participant has proved its identity.
pub(super) fn is_authenticated(participant: &Participant, prefix: GuidPrefix) -> bool {
    participant.secure.as_ref().is_some_and(|secure| secure.keys.contains(prefix))
}

/// Whether plain messages in the name of a participant are refused. Then a plain challenge has no answer.
pub(super) fn refuses_plain(participant: &Participant, prefix: GuidPrefix) -> bool {
    is_authenticated(participant, prefix) && protects_messages(participant)
}

/// Whether a participant may take part because of its announcement alone.
pub(super) fn is_admitted_by_announcement(participant: &Participant, now: Now, data: &ParticipantData) -> bool {
    match security(participant) {
        Some(security) => security.peer_announced(now, data) == PeerAdmission::Unproved,
        None => true,
    }
}

/// Repeats the question whether a known participant may take part, because it has announced itself again.
pub(super) fn repeat_admission(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    let Some(peer) = participant.peers.known.get(&prefix) else { return };
    let (data, was_admitted) = (Arc::clone(&peer.data), peer.is_admitted);
    let Some(secure) = &mut participant.secure else { return };
    // Its identity is proved already, so only messages with keys may be missing.
    if let Some(pair) = secure.keys.get_mut(prefix) {
        pair.repeat_initial_handshake(now, prefix);
    } else if is_admitted_by_announcement(participant, now, &data) && !was_admitted {
        admit_peer(participant, now, prefix);
    }
    carry_out_actions(participant, now);
}

/// Handles a submessage of a builtin endpoint that only participants with DDS Security have.
pub(super) fn handle_secure(
    participant: &mut Participant,
    now: Now,
    receiver: &Receiver<'_>,
    (writer_id, submessage): (EntityId, &Submessage<'_>),
    packet: &dyn PayloadSource,
) {
    let sender = receiver.source_prefix;
    if writer_id == EntityId::STATELESS_MESSAGE_WRITER {
        return handle_stateless(participant, now, sender, submessage);
    }
    let reply = participant.reply_to(receiver);
    let Some(secure) = &mut participant.secure else { return };
    if writer_id == EntityId::VOLATILE_MESSAGE_WRITER {
        // Only a finished handshake creates this pair.
        let Some(pair) = secure.keys.get_mut(sender) else { return };
        let had_delivered = pair.has_delivered();
        pair.handle(now, receiver, reply, submessage, packet);
        let has_delivered = !had_delivered && pair.has_delivered();
        // Only the peer has the key of this submessage, so it has finished the handshake as well. Cyclone DDS
        // refuses endpoints for good that it learns of earlier.
        if participant.peers.known.get(&sender).is_some_and(|peer| !peer.is_admitted) {
            admit_peer(participant, now, sender);
        }
        let has_taken = take_keys(participant, now, sender);
        if has_delivered || has_taken {
            ask_silent_endpoints(participant, now, sender);
        }
        return;
    }
    let Some(topic) = SecurePairTopic::of_writer(writer_id) else { return };
    secure.pair(topic).handle(now, receiver, reply, submessage, packet);
    take_secure_samples(participant, now, topic);
    participant.request_types(now);
    carry_out_actions(participant, now);
}

/// A message of a handshake. Its sender may be anyone.
fn handle_stateless(participant: &mut Participant, now: Now, sender: GuidPrefix, submessage: &Submessage<'_>) {
    // The plugins learn of a participant from its announcement only.
    if !participant.peers.known.contains_key(&sender) {
        return;
    }
    let Some(secure) = &mut participant.secure else { return };
    let assembled;
    let payload = match submessage {
        Submessage::Data(data) => match data.payload {
            SerializedPayload::Data(payload) => payload,
            _ => return,
        },
        Submessage::DataFrag(fragment) => match secure.stateless.add(sender, fragment) {
            Some(message) => {
                assembled = message;
                &assembled[..]
            }
            None => return,
        },
        _ => return,
    };
    secure.security.handle_message(now, sender, SecurityChannel::Stateless, payload);
    carry_out_actions(participant, now);
}

/// Asks the builtin readers of a participant that have acknowledged nothing, after keys have arrived.
///
/// Before that, the participant could not read a HEARTBEAT, or this participant could not read the answer. The next
/// announcement, 100 ms later, would otherwise be the first to repeat them.
fn ask_silent_endpoints(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    if let Some(secure) = &mut participant.secure {
        secure.pairs.iter_mut().for_each(|pair| pair.ask_if_silent(now, prefix));
    }
    if protects_messages(participant) {
        participant.pairs.iter_mut().for_each(|pair| pair.ask_if_silent(now, prefix));
    }
}

/// Handles the keys that have arrived from a participant. Returns whether there are any.
fn take_keys(participant: &mut Participant, now: Now, sender: GuidPrefix) -> bool {
    let mut samples = std::mem::take(&mut participant.samples);
    let mut has_keys = false;
    if let Some(secure) = &mut participant.secure {
        if let Some(pair) = secure.keys.get_mut(sender) {
            pair.take(now, &mut samples);
        }
        for sample in samples.drain(..) {
            if let Some(payload) = &sample.payload {
                has_keys = true;
                secure.security.handle_message(now, sender, SecurityChannel::Volatile, payload.bytes());
            }
        }
    }
    participant.samples = samples;
    carry_out_actions(participant, now);
    has_keys
}

/// Handles the samples that have arrived on a protected builtin topic.
fn take_secure_samples(participant: &mut Participant, now: Now, topic: SecurePairTopic) {
    let mut samples: Vec<HistorySample> = std::mem::take(&mut participant.samples);
    if let Some(pair) = common_pair(participant, topic) {
        pair.take(now, &mut samples);
    }
    for sample in samples.drain(..) {
        // The sample may have waited behind a hole until the participant was lost.
        let Some(sender) = super::endpoint::sender(&sample) else { continue };
        if !participant.peers.known.contains_key(&sender) {
            continue;
        }
        match topic {
            SecurePairTopic::Participants => handle_protected_participant(participant, now, sender, &sample),
            SecurePairTopic::Publications => participant.handle_endpoint::<PublicationData>(sender, &sample, true),
            SecurePairTopic::Subscriptions => participant.handle_endpoint::<SubscriptionData>(sender, &sample, true),
            SecurePairTopic::Messages => participant.handle_message(sender, &sample, true),
        }
    }
    participant.samples = samples;
}

/// Takes what a participant says of itself by the protected builtin topic. From then on, plain announcements and
/// disposals in its name change nothing.
fn handle_protected_participant(participant: &mut Participant, now: Now, sender: GuidPrefix, sample: &HistorySample) {
    let payload = match (&sample.payload, sample.kind) {
        (Some(payload), ChangeKind::Alive) => payload,
        (_, ChangeKind::Alive) => return,
        _ => return participant.lose(now, sender, ParticipantLoss::Left),
    };
    // Without protection, a forged announcement could come by this topic too, and silence the true ones.
    if !security(participant).is_some_and(|security| security.protects_announcements()) {
        return;
    }
    let Ok(decoded) = ParticipantData::decode(payload.bytes(), sender) else {
        participant.counters.malformed_participants += 1;
        return;
    };
    let mut data = decoded.data;
    if !participant.is_of_domain(&data) {
        participant.counters.other_domain += 1;
        return;
    }
    let Some(peer) = participant.peers.known.get_mut(&sender) else { return };
    complete_protected(&mut data, &peer.data);
    let was_vouched = std::mem::replace(&mut peer.is_vouched, true);
    // A plain announcement of another address may be forged, and counts no longer.
    let is_moving = peer.moves_to.take().is_some();
    let has_changed = *peer.data != data;
    if is_moving {
        participant.peers.validations.end(sender);
    }
    paths::note_changed(participant, &data);
    // Each address that it announces counts now, also one that has not answered.
    let route = participant.route_of_discovery(&data);
    if has_changed {
        participant.replace_data(now, data, route);
    } else if !was_vouched {
        participant.use_route(now, &data, route);
    }
}

/// Prepares a plain announcement: adds what its participant says by the protected builtin topic only.
pub(super) fn complete_announcement(participant: &Participant, data: &mut ParticipantData) {
    if participant.secure.is_none() {
        return;
    }
    // DDS Security 1.1 has no protected topic for types, so their names decide.
    data.builtin_endpoints = data.builtin_endpoints.without(BuiltinEndpoints::TYPES);
    let Some(peer) = participant.peers.known.get(&data.prefix) else { return };
    // It hides its details, so those of the protected announcement stay.
    if data.user_data.is_empty() && data.entity_name.is_empty() && data.properties.is_empty() {
        data.user_data.clone_from(&peer.data.user_data);
        data.entity_name.clone_from(&peer.data.entity_name);
        data.properties.clone_from(&peer.data.properties);
    }
}

/// Publishes the whole announcement of this participant to those that have proved their identity.
pub(super) fn announce_protected(participant: &mut Participant, now: Now) {
    let Some(secure) = &mut participant.secure else { return };
    let pair = secure.pair(SecurePairTopic::Participants);
    let data = participant.config.whole_announcement();
    let mut payload = Vec::new();
    data.encode(&mut payload);
    let instance = InstanceHandle::from(Guid::new(participant.config.prefix, EntityId::PARTICIPANT));
    participant.counters.unpublished += u64::from(!pair.publish(now, instance, &payload));
}

/// Tells the participants that have proved their identity that this one leaves. They believe no plain disposal.
pub(super) fn dispose_protected(participant: &mut Participant, now: Now) {
    let Some(secure) = &mut participant.secure else { return };
    let pair = secure.pair(SecurePairTopic::Participants);
    let mut key = Vec::new();
    participant_key(participant.config.prefix, &mut key);
    let instance = InstanceHandle::from(Guid::new(participant.config.prefix, EntityId::PARTICIPANT));
    pair.withdraw(now, instance, &key);
}

/// Whether the announcement of an endpoint came by the builtin topic that its protection requires.
pub(super) fn came_as_required(participant: &Participant, topic_name: &str, was_protected: bool) -> bool {
    // More protection than required does no harm.
    was_protected || !protects_discovery_of(participant, topic_name)
}

/// Whether the endpoints of a topic are announced by the protected builtin topics only.
pub(super) fn protects_discovery_of(participant: &Participant, topic_name: &str) -> bool {
    match security(participant) {
        Some(security) => security.protects_discovery_of(topic_name),
        None => false,
    }
}

/// Whether a participant asserts liveliness by the protected builtin topic only. Those without an identity cannot.
pub(super) fn requires_protected_liveliness(participant: &Participant, prefix: GuidPrefix) -> bool {
    match security(participant) {
        Some(security) => security.protects_liveliness() && is_authenticated(participant, prefix),
        None => false,
    }
}

/// Returns the pair that announces an endpoint.
pub(super) fn announcing_pair<'a>(
    participant: &'a mut Participant,
    topic: BuiltinPairTopic,
    topic_name: &str,
) -> &'a mut BuiltinPair {
    let protected = match topic {
        BuiltinPairTopic::Publications => Some(SecurePairTopic::Publications),
        BuiltinPairTopic::Subscriptions => Some(SecurePairTopic::Subscriptions),
        _ => None,
    };
    if let (Some(secure), Some(protected)) = (&mut participant.secure, protected) {
        if secure.security.protects_discovery_of(topic_name) {
            return secure.pair(protected);
        }
    }
    participant.pairs.get_mut(topic)
}

/// Publishes a liveliness assertion by the protected pair. Returns whether it must also go by the plain one.
pub(super) fn publish_protected(
    participant: &mut Participant,
    now: Now,
    instance: InstanceHandle,
    payload: &[u8],
) -> bool {
    let Some(secure) = &mut participant.secure else { return true };
    if !secure.security.protects_liveliness() {
        return true;
    }
    // Participants without an identity have only the plain pair.
    let also_plain = secure.security.allows_unauthenticated();
    let is_published = secure.pair(SecurePairTopic::Messages).publish(now, instance, payload);
    participant.counters.unpublished += u64::from(!is_published);
    also_plain
}

/// Does what the plugins ask for.
pub(super) fn carry_out_actions(participant: &mut Participant, now: Now) {
    // An action may cause further ones, so the plugins are asked again after each.
    while let Some(action) = next_action(participant) {
        match action {
            SecurityAction::Send { to, channel, payload } => send_security(participant, now, to, channel, payload),
            SecurityAction::BeginKeyExchange { prefix, answers } => {
                begin_key_exchange(participant, now, prefix, answers);
            }
            SecurityAction::Expel(prefix) => participant.forget(now, prefix, ParticipantLoss::Refused),
            SecurityAction::CompareAgain(endpoint) => participant.matching.compare_keys_of(endpoint),
            SecurityAction::Report { kind, text } => {
                participant.matching.push_event(ParticipantEvent::SecurityReport { kind, text });
            }
        }
    }
}

fn next_action(participant: &Participant) -> Option<SecurityAction> {
    security(participant)?.poll_action()
}

/// A handshake concerns one peer, so it goes by multicast only to a peer without another address.
pub(super) fn locators_of(route: &Route) -> &[Locator] {
    if route.unicast.is_empty() { &route.multicast } else { &route.unicast }
}

fn send_security(participant: &mut Participant, now: Now, to: GuidPrefix, channel: SecurityChannel, payload: Vec<u8>) {
    let (Some(secure), Some(peer)) = (&mut participant.secure, participant.peers.known.get_mut(&to)) else { return };
    match channel {
        SecurityChannel::Stateless => {
            let validations = &participant.peers.validations;
            let number_of = |locator| restarts::number_of(validations, now, to, locator);
            restarts::send_copy(secure, peer, now, (to, &payload), number_of);
            let locators = locators_of(&peer.route);
            if validations.is_valid(to) || locators.len() < 2 {
                secure.stateless.send(to, locators, payload);
            } else if let Some(locator) = secure.stateless.next_of(to, locators) {
                // Each address may be forged. Each of them gets its turn, because handshakes repeat messages, and a
                // number that tells which one has answered.
                secure.send_copy(to, locator, &payload, number_of(locator));
            }
        }
        SecurityChannel::Volatile => {
            let is_sent = match secure.keys.get_mut(to) {
                Some(pair) => pair.publish(now, InstanceHandle::NIL, &payload),
                None => false,
            };
            participant.counters.unpublished += u64::from(!is_sent);
        }
    }
}

/// Forgets all endpoints of a participant whose keys no longer count. It announces them again, with new keys.
///
/// `answers`: the number of the handshake message that its proof answers.
fn forget_endpoints(participant: &mut Participant, now: Now, prefix: GuidPrefix, answers: i64) {
    let (Some(secure), Some(peer)) = (&mut participant.secure, participant.peers.known.get_mut(&prefix)) else {
        return;
    };
    // All of them go at once below, so they are not counted down one by one.
    peer.endpoints = 0;
    // After a restart, it may have another address. The handshake went to all of them.
    let validations = &participant.peers.validations;
    restarts::use_proof(secure, peer, |locator| restarts::is_answered(validations, now, (prefix, locator), answers));
    if std::mem::take(&mut peer.is_admitted) {
        unmatch_secure_pairs(participant, now, prefix);
        participant.unmatch_participant(now, prefix, ParticipantLoss::Renewed);
    }
}

/// Restricts the route to a participant to the address that its first proof answers from. Another one of the
/// announcement may be that of a victim.
///
/// A proof whose permissions count only later answers no known number. Then all addresses of the participant stay.
fn use_first_proof(participant: &mut Participant, now: Now, prefix: GuidPrefix, answers: i64) {
    let validations = &participant.peers.validations;
    if validations.is_valid(prefix) {
        return;
    }
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    let has_answered = |locator: &&Locator| restarts::is_answered(validations, now, (prefix, **locator), answers);
    if let Some(locator) = locators_of(&peer.route).iter().find(has_answered).copied() {
        let route = std::mem::take(&mut peer.route);
        (peer.answered_at, peer.route) = (Some(locator), narrowed(route, locator).unwrap_or_default());
    }
}

/// Begins to exchange keys with a participant that has proved its identity. After another proof, both sides
/// exchange them again. The first message of the other side admits it.
fn begin_key_exchange(participant: &mut Participant, now: Now, prefix: GuidPrefix, answers: i64) {
    let has_old_keys = match &participant.secure {
        Some(secure) => secure.keys.contains(prefix),
        None => false,
    };
    if has_old_keys {
        forget_endpoints(participant, now, prefix, answers);
    } else {
        use_first_proof(participant, now, prefix, answers);
    }
    let (Some(secure), Some(peer)) = (&mut participant.secure, participant.peers.known.get_mut(&prefix)) else {
        return;
    };
    let (own, headroom) = (participant.config.prefix, participant.config.headroom);
    let pair = secure.keys.create(own, prefix, headroom, secure.hash_seed);
    pair.match_peer(now, &peer.data, &peer.route, AddressState::Valid);
    // A handshake answers to random numbers, so the address is valid. No claim waits for another answer.
    peer.moves_to = None;
    participant.peers.claims.remove(prefix);
    participant.peers.validations.end(prefix);
    // Otherwise the first message with keys admits it, and matches them then.
    if peer.is_admitted {
        match_secure_pairs(participant, now, prefix);
    }
}

/// From now on a participant takes part: its builtin endpoints match, and the application learns of it.
fn admit_peer(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    let Some(peer) = participant.peers.known.get_mut(&prefix) else { return };
    peer.is_admitted = true;
    if participant.peers.validations.is_valid(prefix) {
        participant.peers.leases.set(now.instant, prefix, peer.data.lease_duration);
    } else {
        participant.peers.validations.challenge(now.instant, prefix, challenged_endpoints(&peer.data));
    }
    participant.use_announcement(now, prefix);
}

/// Matches the protected builtin endpoints of a participant that has proved its identity, or updates its route.
pub(super) fn match_secure_pairs(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    let (Some(secure), Some(peer)) = (&mut participant.secure, participant.peers.known.get(&prefix)) else { return };
    let SecureEndpoints { pairs, keys, .. } = &mut **secure;
    // Only a handshake makes this entry.
    let Some(of_peer) = keys.get_mut(prefix) else { return };
    for pair in pairs.iter_mut().chain([of_peer]) {
        pair.match_peer(now, &peer.data, &peer.route, AddressState::Valid);
    }
}

/// Updates the route of the endpoints for keys of a participant that does not take part yet.
pub(super) fn match_keys_pair(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    let (Some(secure), Some(peer)) = (&mut participant.secure, participant.peers.known.get(&prefix)) else { return };
    if let Some(pair) = secure.keys.get_mut(prefix) {
        pair.match_peer(now, &peer.data, &peer.route, AddressState::Valid);
    }
}

/// Forgets a participant.
pub(super) fn forget_secure(participant: &mut Participant, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
    let Some(secure) = &mut participant.secure else { return };
    secure.security.peer_lost(now, prefix, cause);
    secure.stateless.forget(prefix);
    secure.keys.remove(prefix);
    unmatch_secure_pairs(participant, now, prefix);
}

fn unmatch_secure_pairs(participant: &mut Participant, now: Now, prefix: GuidPrefix) {
    let Some(secure) = &mut participant.secure else { return };
    for pair in &mut secure.pairs {
        // A participant that returns proves its identity again.
        pair.unmatch_peer(now, prefix, false);
    }
}

pub(super) fn handle_secure_timeout(participant: &mut Participant, now: Now) {
    let Some(secure) = &mut participant.secure else { return };
    secure.security.handle_timeout(now);
    for pair in &mut secure.pairs {
        pair.handle_timeout(now);
    }
    secure.keys.handle_timeout(now);
    for topic in SecurePairTopic::ALL {
        take_secure_samples(participant, now, topic);
    }
    participant.request_types(now);
    carry_out_actions(participant, now);
}

/// Adds the parts of a plain announcement to a protected one that omits them.
fn complete_protected(data: &mut ParticipantData, plain: &ParticipantData) {
    data.builtin_endpoints = data.builtin_endpoints.without(BuiltinEndpoints::TYPES);
    if data.builtin_endpoints == BuiltinEndpoints::NONE {
        data.builtin_endpoints = plain.builtin_endpoints;
    }
    if data.security.is_none() {
        data.security.clone_from(&plain.security);
    }
    if data.metatraffic_unicast.is_empty() && data.metatraffic_multicast.is_empty() {
        data.metatraffic_unicast.clone_from(&plain.metatraffic_unicast);
        data.metatraffic_multicast.clone_from(&plain.metatraffic_multicast);
    }
    if data.default_unicast.is_empty() && data.default_multicast.is_empty() {
        data.default_unicast.clone_from(&plain.default_unicast);
        data.default_multicast.clone_from(&plain.default_multicast);
    }
}
