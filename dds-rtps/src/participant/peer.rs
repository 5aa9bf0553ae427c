//! Other participants: discovery, changes, silence and disposal (RTPS 2.5, 8.5.3).

use super::Participant;
use super::disposals::Disposals;
use super::security;
use crate::discovery::data::{
    Decoded, DiscoveryDataError, EndpointData, ParticipantData, PublicationData, SubscriptionData, guid_of_key,
};
use crate::discovery::{
    BuiltinEndpoints, Discovered, EndpointAnnouncement, Leases, ParticipantEvent, ParticipantLoss, ReplyTo, Route,
    is_same_host,
};
use crate::reader::WRITERS_MAX;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, HashSeed, Instant, Locator, Now, SequenceNumber};
use crate::wire::{Data, Receiver, SerializedPayload};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A discovered participant.
#[derive(Debug)]
pub(super) struct Peer {
    /// Its announcement.
    pub(super) data: Arc<ParticipantData>,
    /// Route to its discovery.
    pub(super) route: Route,
    /// Number of its known writers and readers.
    pub(super) endpoints: usize,
    /// It has answered, so its announced address is real.
    pub(super) has_answered: bool,
    /// It takes part. With DDS Security, it has proved its identity or needs none.
    pub(super) is_admitted: bool,
    /// When a repeated announcement was last answered.
    pub(super) repeated_at: Option<Instant>,
}

/// All discovered participants.
#[derive(Debug)]
pub(super) struct PeerTable {
    pub(super) known: BTreeMap<GuidPrefix, Peer>,
    pub(super) leases: Leases,
    pub(super) disposals: Disposals,
}

impl PeerTable {
    pub(super) fn new(hash_seed: HashSeed) -> Self {
        Self { known: BTreeMap::new(), leases: Leases::new(hash_seed), disposals: Disposals::default() }
    }

    /// Returns the unicast locators of all peers.
    pub(super) fn unicast_locators(&self) -> Vec<Locator> {
        let mut locators = Vec::new();
        for peer in self.known.values() {
            locators.extend_from_slice(&peer.route.unicast);
        }
        locators
    }
}

impl Participant {
    /// Handles an announcement or a disposal.
    pub(super) fn handle_spdp(&mut self, now: Now, receiver: &Receiver, data: &Data<'_>) {
        let prefix = receiver.source_prefix;
        let number = data.writer_sn;
        let status = data.inline_qos.map_or(0, |qos| qos.status_info());
        let payload = match data.payload {
            SerializedPayload::Data(payload) if status & STATUS_GONE == 0 => payload,
            // A change without payload and without status is legal and means nothing.
            SerializedPayload::None if status & STATUS_GONE == 0 => return,
            payload => {
                // A disposal names its participant in the payload or in PID_KEY_HASH (RTPS 2.5, 9.6.4.8).
                let key = payload.bytes().and_then(guid_of_key);
                let key = key.or_else(|| data.inline_qos?.key_hash().map(Guid::from_bytes));
                return self.handle_disposal(now, prefix, number, key);
            }
        };
        match ParticipantData::decode(payload, prefix) {
            Ok(Decoded { mut data, skipped }) => {
                self.counters.skipped_parameters += u64::from(skipped);
                security::complete_announcement(self, &mut data);
                self.handle_announcement(now, number, data);
            }
            Err(DiscoveryDataError::Guid) => self.counters.foreign += 1,
            Err(_) => self.counters.malformed_participants += 1,
        }
    }

    fn handle_disposal(&mut self, now: Now, prefix: GuidPrefix, number: SequenceNumber, key: Option<Guid>) {
        // Without a key the disposal is that of its sender. A key of another participant is forged or relayed.
        if key.is_some_and(|guid| guid != Guid::new(prefix, EntityId::PARTICIPANT)) {
            self.counters.foreign += 1;
            return;
        }
        let has_evicted = self.peers.disposals.insert(now.instant, prefix, number);
        self.counters.disposals_evicted += u64::from(has_evicted);
        self.lose(now, prefix, ParticipantLoss::Left);
    }

    fn handle_announcement(&mut self, now: Now, number: SequenceNumber, data: ParticipantData) {
        // A peer without a domain id was found on the ports of our domain.
        let other_domain = data.domain_id.is_some_and(|domain_id| domain_id != self.config.domain_id);
        if other_domain || data.domain_tag != self.config.domain_tag {
            self.counters.other_domain += 1;
            return;
        }
        let prefix = data.prefix;
        if self.ignored.contains_participant(prefix) {
            return;
        }
        if let Some(peer) = self.peers.known.get_mut(&prefix) {
            if *peer.data != data {
                return self.change_peer(now, data);
            }
            // The answer to its first announcement may be lost. A peer without multicast gets no periodic announcement.
            let period = self.config.announcement_period;
            let is_early = peer.repeated_at.is_some_and(|repeated| now.instant.since(repeated) < period);
            if !peer.has_answered && data.metatraffic_multicast.is_empty() && !is_early {
                peer.repeated_at = Some(now.instant);
                // The announcement may be forged, and must not cause more traffic than it takes itself.
                let locators = peer.route.unicast.get(..REPEATED_TO).unwrap_or(&peer.route.unicast);
                self.announcer.answer(locators);
            }
            // The peer exists: repeat the handshake with its endpoints that have not answered.
            for pair in self.pairs.iter_mut() {
                pair.repeat_handshake(now, prefix);
            }
            security::repeat_admission(self, now, prefix);
        } else if self.peers.disposals.is_late(now.instant, prefix, number) {
            self.counters.late_announcements += 1;
        } else if self.has_room(now) {
            self.add_peer(now, data);
        } else {
            self.counters.participants_refused += 1;
        }
    }

    /// Whether there is room for one more participant. A lease may be of any length, even infinite, but a silent
    /// participant loses its place when another one needs it.
    fn has_room(&mut self, now: Now) -> bool {
        if self.peers.known.len() < self.config.limits.participants_max.min(WRITERS_MAX) {
            return true;
        }
        // Forged announcements with infinite leases must not block the table forever.
        let Some(silent) = self.peers.leases.most_silent(now.instant, SILENT_FOR) else { return false };
        self.counters.participants_displaced += 1;
        self.lose(now, silent, ParticipantLoss::Displaced);
        true
    }

    /// Returns the destination of the answers to a message with INFO_REPLY.
    pub(super) fn reply_to(&mut self, receiver: &Receiver<'_>) -> Option<Locator> {
        let reply = receiver.reply.as_ref()?;
        let announced = self.peers.known.get(&receiver.source_prefix).map(|peer| peer.data.unicast_locators());
        let reply = ReplyTo::choose(reply, announced.as_deref());
        self.counters.replies_refused += u64::from(reply == ReplyTo::Refused);
        reply.locator()
    }

    fn add_peer(&mut self, now: Now, data: ParticipantData) {
        let route = self.route_of_discovery(&data);
        // Answer at once, so that the peer does not discover us a period later.
        let locators = if route.unicast.is_empty() { &route.multicast } else { &route.unicast };
        self.announcer.answer(locators);
        self.admit(now, data, route, 0);
    }

    /// Handles a changed announcement; usually the locators have changed.
    fn change_peer(&mut self, now: Now, data: ParticipantData) {
        let prefix = data.prefix;
        // Its endpoints stay known; only their routes change.
        let endpoints = self.peers.known.get(&prefix).map_or(0, |peer| peer.endpoints);
        let route = self.route_of_discovery(&data);
        self.admit(now, data, route, endpoints);
        self.update_endpoint_routes::<PublicationData>(prefix);
        self.update_endpoint_routes::<SubscriptionData>(prefix);
    }

    /// Updates all routes after a change of this host's addresses.
    pub(super) fn update_all_routes(&mut self, now: Now) {
        let known: Vec<Arc<ParticipantData>> = self.peers.known.values().map(|peer| Arc::clone(&peer.data)).collect();
        for data in known {
            let prefix = data.prefix;
            let route = self.route_of_discovery(&data);
            match self.peers.known.get_mut(&prefix) {
                Some(peer) if peer.route != route => {
                    peer.route = route.clone();
                    let has_answered = peer.has_answered;
                    if !peer.is_admitted {
                        continue;
                    }
                    self.match_pairs(now, prefix, has_answered, data.builtin_endpoints, &route);
                }
                _ => {}
            }
            self.update_endpoint_routes::<PublicationData>(prefix);
            self.update_endpoint_routes::<SubscriptionData>(prefix);
        }
    }

    /// Updates the routes to the endpoints of a participant.
    fn update_endpoint_routes<T: EndpointAnnouncement>(&mut self, prefix: GuidPrefix) {
        let Some(data) = self.peers.known.get(&prefix).map(|peer| Arc::clone(&peer.data)) else {
            debug_assert!(false, "the caller has just found or added the participant");
            return;
        };
        for endpoint in self.matching.of::<T>(prefix) {
            let route = self.route_of_endpoint(&data, endpoint.data.endpoint());
            self.matching.put(Arc::new(Discovered { route, ..Arc::unwrap_or_clone(endpoint) }));
        }
    }

    fn admit(&mut self, now: Now, data: ParticipantData, route: Route, endpoints: usize) {
        let prefix = data.prefix;
        let before = self.peers.known.get(&prefix);
        let repeated_at = before.and_then(|peer| peer.repeated_at);
        // At a new address another participant may answer, or none.
        let has_answered = before.is_some_and(|peer| peer.has_answered && peer.route == route);
        let lease = if has_answered { data.lease_duration } else { data.lease_duration.min(UNPROVEN_LEASE_MAX) };
        self.peers.leases.set(now.instant, prefix, lease);
        // A participant that takes part already stays, so that its loss is complete later.
        let was_admitted = self.peers.known.get(&prefix).is_some_and(|peer| peer.is_admitted);
        let is_admitted = security::is_admitted_by_security(self, now, &data) || was_admitted;
        let builtin_endpoints = data.builtin_endpoints;
        let data = Arc::new(data);
        let peer =
            Peer { data: Arc::clone(&data), route: route.clone(), endpoints, has_answered, is_admitted, repeated_at };
        self.peers.known.insert(prefix, peer);
        if is_admitted {
            self.match_pairs(now, prefix, has_answered, builtin_endpoints, &route);
            self.matching.push_event(ParticipantEvent::ParticipantDiscovered { participant: data });
        }
        security::carry_out_actions(self, now);
    }

    pub(super) fn match_pairs(
        &mut self,
        now: Now,
        prefix: GuidPrefix,
        has_answered: bool,
        endpoints: BuiltinEndpoints,
        route: &Route,
    ) {
        for pair in self.pairs.iter_mut() {
            if has_answered || pair.matches_unverified_peers() {
                pair.match_peer(now, prefix, endpoints, route);
            }
        }
        security::match_secure_pairs(self, now, prefix);
    }

    /// Notes that a peer has answered, so its address is real. From now on its announced lease counts in full.
    pub(super) fn note_answer(&mut self, now: Now, prefix: GuidPrefix) {
        let peer = match self.peers.known.get_mut(&prefix) {
            Some(peer) if !peer.has_answered && peer.is_admitted => peer,
            _ => return,
        };
        peer.has_answered = true;
        self.peers.leases.set(now.instant, prefix, peer.data.lease_duration);
        for pair in self.pairs.iter_mut() {
            if !pair.matches_unverified_peers() {
                pair.match_peer(now, prefix, peer.data.builtin_endpoints, &peer.route);
            }
        }
        self.request_types(now);
    }

    /// Handles the crash of a participant's process, as the system of this host reports it.
    pub fn handle_crash(&mut self, now: Now, prefix: GuidPrefix) {
        self.lose(now, prefix, ParticipantLoss::Crashed);
    }

    /// Removes a participant with all its endpoints.
    pub(super) fn lose(&mut self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
        // The lease of an unknown peer may end, and an ignored one may be unknown.
        let Some(peer) = self.peers.known.remove(&prefix) else { return };
        self.peers.leases.remove(prefix);
        security::forget_secure(self, now, prefix);
        if !peer.is_admitted {
            return;
        }
        self.type_lookup.forget(prefix);
        for pair in self.pairs.iter_mut() {
            pair.unmatch_peer(now, prefix, cause.may_return());
        }
        // The owner unmatches the endpoints before it reads that their participant is lost.
        self.matching.remove_participant(prefix, cause);
        self.matching.push_event(ParticipantEvent::ParticipantLost { prefix, cause });
    }

    /// Returns the route to a participant's discovery.
    fn route_of_discovery(&self, data: &ParticipantData) -> Route {
        let same_host = self.is_same_host(data);
        Route::choose(&self.config.host_addresses, &data.metatraffic_unicast, &data.metatraffic_multicast, same_host)
    }

    /// Returns the route to an endpoint: to its own locators, or to those of its participant.
    pub(super) fn route_of_endpoint(&self, participant: &ParticipantData, endpoint: &EndpointData) -> Route {
        let has_locators = !endpoint.unicast_locators.is_empty() || !endpoint.multicast_locators.is_empty();
        let (unicast, multicast) = if has_locators {
            (&endpoint.unicast_locators, &endpoint.multicast_locators)
        } else {
            (&participant.default_unicast, &participant.default_multicast)
        };
        let same_host = self.is_same_host(participant);
        let mut route = Route::choose(&self.config.host_addresses, unicast, multicast, same_host);
        // Without unicast, multicast is the only way.
        if !self.config.multicast_samples && !route.unicast.is_empty() {
            route.multicast.clear();
        }
        route
    }

    fn is_same_host(&self, data: &ParticipantData) -> bool {
        is_same_host(&self.config.host_addresses, data.metatraffic_unicast.iter().chain(&data.default_unicast))
    }
}

/// Silence after which a participant may have to make room, however long its lease: the default lease (RTPS 2.5,
/// 9.6.3.2).
const SILENT_FOR: Duration = Duration::from_secs(100);

/// Longest lease of a participant that has never answered. A datagram does not prove its sender, so a forged address
/// gets no more traffic than in this time. It is the default lease, so real participants announce themselves more
/// often.
const UNPROVEN_LEASE_MAX: Duration = SILENT_FOR;

/// Locators of a peer that a repeated answer goes to. The first answer goes to all of them.
const REPEATED_TO: usize = 2;

/// Bits of STATUS_INFO for disposed and unregistered.
const STATUS_GONE: u32 = 3;
