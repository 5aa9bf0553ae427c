//! Other participants: discovery, changes, silence and disposal (RTPS 2.5, 8.5.3).

use super::Participant;
use super::claims::{self, Claim, Claims};
use super::disposals::Disposals;
use super::paths::{self, PeerPath};
use super::restarts::{self, Restarts};
use super::security;
use super::validation::{Answer, ChallengeReason, Validated, Validations, challenged_endpoints, topic_of_challenge};
use crate::discovery::data::{
    Decoded, DiscoveryDataError, EndpointData, ParticipantData, PublicationData, SubscriptionData, guid_of_key,
};
use crate::discovery::{
    AddressState, BuiltinEndpoints, BuiltinPairTopic, Discovered, EndpointAnnouncement, Leases, ParticipantEvent,
    ParticipantLoss, ReplyTo, Route, is_same_host,
};
use crate::reader::WRITERS_MAX;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, HashSeed, Instant, Locator, Now, SequenceNumber};
use crate::wire::{AckNack, Data, Receiver, SerializedPayload};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// A discovered participant.
#[derive(Debug)]
pub(super) struct Peer {
    /// Its announcement.
    pub(super) data: Arc<ParticipantData>,
    /// Route to its discovery: of several announced locators, the one that has answered.
    pub(super) route: Route,
    /// The locator that has answered a challenge.
    pub(super) answered_at: Option<Locator>,
    /// Signs of the path to that locator.
    pub(super) path: PeerPath,
    /// Number of its known writers and readers.
    pub(super) endpoints: usize,
    /// It takes part. With DDS Security, it has proved its identity or needs none.
    pub(super) is_admitted: bool,
    /// It has announced itself by the protected builtin topic. Plain announcements, which anyone can forge, change
    /// nothing since.
    pub(super) is_vouched: bool,
    /// Plain announcements with another address of a vouched participant, which may have restarted there. `None` before
    /// the first one.
    pub(super) restarts: Option<Box<Restarts>>,
    /// Announcement with another address, which counts once that address is valid.
    pub(super) moves_to: Option<Box<PendingMove>>,
    /// All its matched builtin endpoints have sent something.
    pub(super) has_answered: bool,
    /// When a repeated announcement last drew one in return.
    pub(super) repeated_at: Option<Instant>,
    /// The builtin reader that has answered challenges. Another one may be best effort.
    pub(super) answers_on: Option<BuiltinEndpoints>,
    /// Addresses from which it has answered challenges.
    pub(super) answered_from: SmallVec<[IpAddr; 1]>,
}

/// A move of a participant to an address that has not answered yet.
#[derive(Debug)]
pub(super) struct PendingMove {
    pub(super) data: ParticipantData,
    pub(super) since: Instant,
}

/// All discovered participants.
#[derive(Debug)]
pub(super) struct PeerTable {
    pub(super) known: BTreeMap<GuidPrefix, Peer>,
    pub(super) leases: Leases,
    pub(super) disposals: Disposals,
    pub(super) claims: Claims,
    /// The peers whose address is not valid yet.
    pub(super) validations: Validations,
}

impl Peer {
    /// Notes which locator and which builtin reader have answered.
    pub(super) fn note_answered(&mut self, now: Now, validated: &Validated) {
        self.answers_on = Some(validated.topic.bits().1);
        self.answered_at = Some(validated.locator);
        self.path.note_sign(now.instant);
    }

    /// Restricts a route to the locator that has answered, if the route has it.
    pub(super) fn narrow(&self, route: Route) -> Route {
        self.answered_at.and_then(|answered_at| narrowed(route.clone(), answered_at)).unwrap_or(route)
    }

    /// Returns the locators on the hosts that are valid.
    ///
    /// A peer that answers at its own address may announce that of a victim beside it.
    fn on_valid_hosts(&self, locators: &[Locator]) -> Vec<Locator> {
        if !self.route.unicast.is_empty() {
            return on_hosts_of(locators, &self.route);
        }
        // A peer that is reached by multicast alone has shown only the hosts from which its answers came.
        let is_valid = |locator: &&Locator| {
            locator.to_socket_addr().is_some_and(|address| self.answered_from.contains(&address.ip()))
        };
        locators.iter().filter(is_valid).copied().collect()
    }
}

impl PeerTable {
    pub(super) fn new(hash_seed: HashSeed) -> Self {
        Self {
            known: BTreeMap::new(),
            leases: Leases::new(hash_seed),
            disposals: Disposals::default(),
            claims: Claims::default(),
            validations: Validations::new(hash_seed),
        }
    }

    /// Returns the unicast locators of all peers with a valid address.
    pub(super) fn unicast_locators(&self) -> Vec<Locator> {
        let mut locators = Vec::new();
        for (&prefix, peer) in &self.known {
            if self.validations.is_valid(prefix) {
                locators.extend_from_slice(&peer.route.unicast);
            }
        }
        locators
    }
}

impl Participant {
    /// Handles an announcement or a disposal.
    pub(super) fn handle_spdp(&mut self, now: Now, receiver: &Receiver, data: &Data<'_>) {
        let prefix = receiver.source_prefix;
        let number = data.writer_sn;
        let status = match data.inline_qos {
            Some(qos) => qos.status_info(),
            None => 0,
        };
        let payload = match data.payload {
            SerializedPayload::Data(payload) if status & STATUS_GONE == 0 => payload,
            // A change without payload and without status is legal and means nothing.
            SerializedPayload::None if status & STATUS_GONE == 0 => return,
            _ => return self.handle_disposal(now, receiver, number, disposed_guid(data)),
        };
        match ParticipantData::decode(payload, prefix) {
            Ok(Decoded { mut data, skipped }) => {
                self.counters.skipped_parameters += u64::from(skipped);
                security::complete_announcement(self, &mut data);
                self.handle_announcement(now, (number, receiver.sender), data, payload.len() + MESSAGE_OVERHEAD);
            }
            Err(DiscoveryDataError::Guid) => self.counters.foreign += 1,
            Err(_) => self.counters.malformed_participants += 1,
        }
    }

    fn handle_disposal(&mut self, now: Now, receiver: &Receiver, number: SequenceNumber, key: Option<Guid>) {
        let prefix = receiver.source_prefix;
        // Without a key the disposal is that of its sender. A key of another participant is forged or relayed.
        match key {
            Some(guid) if guid != Guid::new(prefix, EntityId::PARTICIPANT) => {
                self.counters.foreign += 1;
                return;
            }
            _ => {}
        }
        let Some(peer) = self.peers.known.get(&prefix) else {
            return self.note_disposal(now, prefix, number, receiver.sender);
        };
        if peer.is_vouched {
            self.counters.unprotected += 1;
        } else if claims::is_believed(self, prefix, receiver.sender) {
            self.note_disposal(now, prefix, number, None);
            self.lose(now, prefix, ParticipantLoss::Left);
        } else if self.peers.validations.is_valid(prefix) {
            claims::keep(self, now, prefix, Claim::Left(number));
        } else {
            // Its own challenge decides.
            self.counters.claims_ignored += 1;
        }
    }

    /// Remembers a disposal. `doubted`: its sender, if nothing confirms it.
    pub(super) fn note_disposal(
        &mut self,
        now: Now,
        prefix: GuidPrefix,
        number: SequenceNumber,
        doubted: Option<IpAddr>,
    ) {
        let has_evicted = self.peers.disposals.insert(now.instant, prefix, number, doubted);
        self.counters.disposals_evicted += u64::from(has_evicted);
    }

    /// Handles an announcement that took `len` bytes. `origin`: its number and its sender.
    fn handle_announcement(
        &mut self,
        now: Now,
        origin: (SequenceNumber, Option<IpAddr>),
        data: ParticipantData,
        len: usize,
    ) {
        let (number, sender) = origin;
        if !self.is_of_domain(&data) {
            self.counters.other_domain += 1;
            return;
        }
        let prefix = data.prefix;
        if self.ignored.contains_participant(prefix) {
            return;
        }
        if let Some(peer) = self.peers.known.get(&prefix) {
            self.peers.validations.note_received(prefix, len);
            if !peer.is_vouched && *peer.data != data {
                return self.handle_changed(now, sender, data, len);
            }
            if peer.is_vouched {
                restarts::note(self, now, &data, len);
            }
            self.handle_repeated(now, prefix);
            paths::check(self, now, prefix, (sender, len));
        } else if self.peers.disposals.is_late(now.instant, prefix, number, sender) {
            self.counters.late_announcements += 1;
        } else if self.has_room(now) {
            self.add_peer(now, data, len);
        } else {
            self.counters.participants_refused += 1;
        }
    }

    /// Whether a participant announces the domain of this one.
    pub(super) fn is_of_domain(&self, data: &ParticipantData) -> bool {
        // A peer without a domain id was found on the ports of our domain.
        data.domain_id.is_none_or(|domain_id| domain_id == self.config.domain_id)
            && data.domain_tag == self.config.domain_tag
    }

    /// Handles an announcement that changes nothing.
    fn handle_repeated(&mut self, now: Now, prefix: GuidPrefix) {
        let Some(peer) = self.peers.known.get_mut(&prefix) else {
            debug_assert!(false, "the caller has found the participant");
            return;
        };
        // The participant is where it was, so an announcement of another address was forged, or it has moved back.
        if peer.moves_to.take().is_some() {
            self.peers.validations.end(prefix);
            // Answers went to the other address as well.
            if peer.is_admitted {
                let (data, route) = (Arc::clone(&peer.data), peer.route.clone());
                self.match_pairs(now, &data, &route);
            }
        }
        let Some(peer) = self.peers.known.get_mut(&prefix) else { return };
        if self.peers.validations.is_valid(prefix) {
            // The peer exists: repeat the initial handshake with its endpoints that are silent.
            // At rest, each participant receives the announcements of all others.
            if !peer.has_answered {
                peer.has_answered = true;
                for pair in self.pairs.iter_mut() {
                    peer.has_answered &= pair.repeat_initial_handshake(now, prefix);
                }
            }
            return security::repeat_admission(self, now, prefix);
        }
        self.peers.validations.challenge_again(now.instant, prefix);
        // The announcement in return may be lost. Where the network drops multicast, a peer gets no periodic one. Many
        // participants that start together need longer until all addresses are valid, and hear the periodic ones.
        let periods = if peer.data.metatraffic_multicast.is_empty() { 1 } else { PERIODS_WITH_MULTICAST };
        let period = self.config.announcement_period.scale(periods, 1);
        let is_early = peer.repeated_at.is_some_and(|repeated| now.instant.since(repeated) < period);
        if !is_early {
            peer.repeated_at = Some(now.instant);
            self.announce_in_return(prefix, REPEATED_TO);
        }
        // A handshake of DDS Security without a proof has ended, and begins again.
        security::repeat_admission(self, now, prefix);
    }

    /// Sends our announcement to a peer whose address is not valid yet, to at most `count_max` locators.
    fn announce_in_return(&mut self, prefix: GuidPrefix, count_max: usize) {
        let len = self.announcer.announcement_len();
        let locators = self.peers.validations.pay_for_announcement(prefix, len, count_max);
        self.announcer.announce_to(&locators);
    }

    /// Sends our announcement to all peers whose address is not valid yet.
    ///
    /// One of them may have answered at a locator that this participant has left.
    pub(super) fn announce_to_unverified(&mut self) {
        let is_unverified = |prefix: &GuidPrefix| !self.peers.validations.is_valid(*prefix);
        let unverified: Vec<GuidPrefix> = self.peers.known.keys().copied().filter(is_unverified).collect();
        for prefix in unverified {
            self.announce_in_return(prefix, REPEATED_TO);
            // Its credit may be used up, or the announcement be lost. Then its next announcement is answered.
            if let Some(peer) = self.peers.known.get_mut(&prefix) {
                peer.repeated_at = None;
            }
        }
    }

    /// Whether there is room for one more participant. A lease may be of any length, even infinite, but a silent
    /// participant loses its place when another one needs it. So does one whose address is not valid.
    fn has_room(&mut self, now: Now) -> bool {
        if self.peers.known.len() < self.config.limits.participants_max.min(WRITERS_MAX) {
            return true;
        }
        // Forged announcements, of any lease and however often, must not block the table.
        let silent = self.peers.leases.most_silent(now.instant, SILENT_FOR);
        // A forger cannot foresee the choice, so it keeps no other participant out.
        let Some(displaced) = silent.or_else(|| self.peers.validations.draw_unverified()) else { return false };
        self.counters.participants_displaced += 1;
        self.lose(now, displaced, ParticipantLoss::Displaced);
        true
    }

    /// Returns the locators of a peer that INFO_REPLY may name: those on hosts that are valid.
    fn reply_locators(&self, prefix: GuidPrefix) -> Vec<Locator> {
        match self.peers.known.get(&prefix) {
            Some(peer) if self.peers.validations.is_valid(prefix) => peer.on_valid_hosts(&peer.data.unicast_locators()),
            _ => Vec::new(),
        }
    }

    /// Returns the destination that the INFO_REPLY of a message names.
    pub(super) fn reply_to(&mut self, receiver: &Receiver<'_>) -> Option<Locator> {
        let reply = receiver.reply.as_ref()?;
        let reply = ReplyTo::choose(reply, &self.reply_locators(receiver.source_prefix));
        self.counters.replies_refused += u64::from(reply == ReplyTo::Refused);
        reply.locator()
    }

    fn add_peer(&mut self, now: Now, data: ParticipantData, len: usize) {
        let prefix = data.prefix;
        let route = self.route_of_discovery(&data);
        let is_admitted = security::is_admitted_by_announcement(self, now, &data);
        let has = if is_admitted { challenged_endpoints(&data) } else { NOTHING_TO_CHALLENGE };
        self.peers.validations.begin(now.instant, (&data, ChallengeReason::Address), has, route.clone(), len);
        // At once, so that the peer does not discover us a period later.
        self.announce_in_return(prefix, usize::MAX);
        self.peers.leases.set(now.instant, prefix, data.lease_duration.min(UNVERIFIED_LEASE_MAX));
        // A peer that announces multicast usually gets the next periodic announcement.
        let repeated_at = if data.metatraffic_multicast.is_empty() { None } else { Some(now.instant) };
        let peer = Peer {
            data: Arc::new(data),
            route,
            answered_at: None,
            path: PeerPath::new(now.instant),
            endpoints: 0,
            is_admitted,
            is_vouched: false,
            restarts: None,
            moves_to: None,
            has_answered: false,
            repeated_at,
            answers_on: None,
            answered_from: SmallVec::new(),
        };
        self.peers.known.insert(prefix, peer);
        self.use_announcement(now, prefix);
        security::carry_out_actions(self, now);
    }

    /// Handles a changed announcement of a participant without a protected one.
    fn handle_changed(&mut self, now: Now, sender: Option<IpAddr>, data: ParticipantData, len: usize) {
        let prefix = data.prefix;
        // Without a valid address, nothing is known to compare the sender with.
        if !self.peers.validations.is_valid(prefix) || claims::is_believed(self, prefix, sender) {
            self.peers.claims.renew(&data, len);
            return self.change_peer(now, data, len);
        }
        claims::keep(self, now, prefix, Claim::Changed(Box::new(data), len));
    }

    /// Uses a changed announcement; usually the locators have changed.
    pub(super) fn change_peer(&mut self, now: Now, data: ParticipantData, len: usize) {
        let prefix = data.prefix;
        paths::note_changed(self, &data);
        let route = self.route_of_discovery(&data);
        let is_protected = security::refuses_plain(self, prefix);
        let Some(peer) = self.peers.known.get_mut(&prefix) else {
            debug_assert!(false, "the caller has found the participant");
            return;
        };
        let route = peer.narrow(route);
        if peer.route == route {
            // Another address than this one was announced before.
            if peer.moves_to.take().is_some() {
                self.peers.validations.end(prefix);
            }
            return self.replace_data(now, data, route);
        }
        let has = if peer.is_admitted { challenged_endpoints(&data) } else { NOTHING_TO_CHALLENGE };
        if !self.peers.validations.is_valid(prefix) {
            self.peers.validations.begin(now.instant, (&data, ChallengeReason::Address), has, route.clone(), len);
            self.announce_in_return(prefix, usize::MAX);
            return self.replace_data(now, data, route);
        }
        // The plain pairs of both sides may be protected, so a plain challenge has no answer.
        if is_protected {
            return self.replace_data(now, data, route);
        }
        let has = peer.answers_on.unwrap_or(has);
        self.begin_move(now, data, route, has, len);
    }

    /// Challenges a new address of a peer, and announces this participant there. `len`: bytes that came for it.
    ///
    /// At a new address another participant may answer, or none. Until the address is valid, the old one stays.
    fn begin_move(&mut self, now: Now, data: ParticipantData, route: Route, has: BuiltinEndpoints, len: usize) {
        let prefix = data.prefix;
        let Some(peer) = self.peers.known.get_mut(&prefix) else {
            debug_assert!(false, "the caller has found the participant");
            return;
        };
        if peer.moves_to.as_ref().is_some_and(|pending| pending.data == data) {
            return self.repeat_move(now, prefix);
        }
        // The challenge to the new address replaces that of a claim.
        self.peers.claims.remove(prefix);
        // This participant may have moved as well. Then the peer waits for an answer, which must reach its new address.
        for pair in self.pairs.iter_mut() {
            pair.answer_also_at(prefix, &route.unicast);
        }
        self.peers.validations.begin(now.instant, (&data, ChallengeReason::Move), has, route, len);
        peer.moves_to = Some(Box::new(PendingMove { data, since: now.instant }));
        // The peer knows us, so the challenge has to be beyond all that it has received.
        self.raise_challenge(now, prefix, has);
        self.announce_in_return(prefix, usize::MAX);
    }

    /// Repeats the challenge to the new address of a peer.
    pub(super) fn repeat_move(&mut self, now: Now, prefix: GuidPrefix) {
        self.peers.validations.challenge_again(now.instant, prefix);
        // Without multicast, the peer has received no announcement since its move, and may have lost this participant.
        self.announce_in_return(prefix, REPEATED_TO);
    }

    /// Replaces the data of a known peer.
    pub(super) fn replace_data(&mut self, now: Now, data: ParticipantData, route: Route) {
        let prefix = data.prefix;
        let lease = if self.peers.validations.is_valid(prefix) {
            data.lease_duration
        } else {
            data.lease_duration.min(UNVERIFIED_LEASE_MAX)
        };
        self.peers.leases.set(now.instant, prefix, lease);
        let may_take_part = security::is_admitted_by_announcement(self, now, &data);
        let Some(peer) = self.peers.known.get_mut(&prefix) else {
            debug_assert!(false, "the caller has found the participant");
            return;
        };
        (peer.data, peer.route) = (Arc::new(data), route);
        // A participant that takes part already stays, so that its loss is complete later.
        let is_new = may_take_part && !peer.is_admitted;
        peer.is_admitted |= may_take_part;
        if is_new {
            self.peers.validations.challenge(now.instant, prefix, challenged_endpoints(&peer.data));
        }
        self.use_announcement(now, prefix);
        security::match_keys_pair(self, now, prefix);
        self.update_endpoint_routes::<PublicationData>(prefix);
        self.update_endpoint_routes::<SubscriptionData>(prefix);
        security::carry_out_actions(self, now);
    }

    /// Matches the builtin endpoints of a peer that takes part, and tells the owner of its announcement.
    pub(super) fn use_announcement(&mut self, now: Now, prefix: GuidPrefix) {
        let Some(peer) = self.peers.known.get(&prefix) else {
            debug_assert!(false, "the caller has found or added the participant");
            return;
        };
        if !peer.is_admitted {
            return;
        }
        let (data, route) = (Arc::clone(&peer.data), peer.route.clone());
        self.match_pairs(now, &data, &route);
        self.matching.push_event(ParticipantEvent::ParticipantDiscovered { participant: data });
        self.push_reply_locators(prefix);
    }

    /// Tells the owner where answers to a peer may go. Before its address is valid, they go nowhere.
    fn push_reply_locators(&mut self, prefix: GuidPrefix) {
        let takes_part = self.peers.known.get(&prefix).is_some_and(|peer| peer.is_admitted);
        if takes_part && self.peers.validations.is_valid(prefix) {
            let locators = self.reply_locators(prefix);
            self.matching.push_event(ParticipantEvent::ReplyLocatorsChanged { prefix, locators });
        }
    }

    /// Uses another route to a peer that takes part, or will do so.
    pub(super) fn use_route(&mut self, now: Now, data: &ParticipantData, route: Route) {
        let Some(peer) = self.peers.known.get_mut(&data.prefix) else {
            debug_assert!(false, "the caller has found the participant");
            return;
        };
        if peer.route != route {
            peer.route = route.clone();
            if peer.is_admitted {
                self.match_pairs(now, data, &route);
            } else {
                security::match_keys_pair(self, now, data.prefix);
            }
        }
        self.update_valid_hosts(data.prefix);
    }

    /// Updates what depends on the valid hosts of a peer.
    pub(super) fn update_valid_hosts(&mut self, prefix: GuidPrefix) {
        self.push_reply_locators(prefix);
        self.update_endpoint_routes::<PublicationData>(prefix);
        self.update_endpoint_routes::<SubscriptionData>(prefix);
    }

    /// Updates all routes after a change of this host's addresses.
    pub(super) fn update_all_routes(&mut self, now: Now) {
        // A copy, because each new route changes `self`.
        let mut known = Vec::new();
        for peer in self.peers.known.values() {
            known.push(Arc::clone(&peer.data));
        }
        for data in known {
            self.update_route(now, &data);
            self.update_valid_hosts(data.prefix);
        }
    }

    /// Updates the route to a participant after a change of this host's addresses.
    fn update_route(&mut self, now: Now, data: &ParticipantData) {
        let prefix = data.prefix;
        let whole = self.route_of_discovery(data);
        let Some(peer) = self.peers.known.get(&prefix) else { return };
        let challenged = match &peer.moves_to {
            Some(pending) => Some(self.route_of_discovery(&pending.data)),
            None if self.peers.validations.reason(prefix) == Some(ChallengeReason::Path) => {
                Some(self.all_locators(data))
            }
            None => None,
        };
        // The locator that has answered may be out of reach now. Its peer may have lost its path to us as well, so no
        // answer to a challenge would arrive here. The other locators count at once.
        let route = peer.narrow(whole);
        self.peers.validations.set_route(prefix, challenged.as_ref().unwrap_or(&route));
        match self.peers.known.get_mut(&prefix) {
            Some(peer) if peer.route != route => {
                peer.route = route.clone();
                // Without admission it has no matched endpoint yet, and its route waits for that.
                if peer.is_admitted {
                    self.match_pairs(now, data, &route);
                }
            }
            _ => {}
        }
    }

    /// Updates the routes to the endpoints of a participant.
    fn update_endpoint_routes<T: EndpointAnnouncement>(&mut self, prefix: GuidPrefix) {
        for endpoint in self.matching.of::<T>(prefix) {
            let route = self.route_of_endpoint(prefix, endpoint.data.endpoint());
            self.matching.put(Arc::new(Discovered { route, ..Arc::unwrap_or_clone(endpoint) }));
        }
    }

    pub(super) fn match_pairs(&mut self, now: Now, peer: &ParticipantData, route: &Route) {
        let prefix = peer.prefix;
        let is_valid = self.peers.validations.is_valid(prefix);
        if let Some(peer) = self.peers.known.get_mut(&prefix) {
            // The match may bring endpoints that are new.
            peer.has_answered = false;
        }
        for (topic, pair) in self.pairs.with_topics() {
            let address = if is_valid {
                AddressState::Valid
            } else if self.peers.validations.topic_of(prefix) == Some(topic) {
                AddressState::Challenged
            } else {
                AddressState::Unverified
            };
            pair.match_peer(now, peer, route, address);
        }
        security::match_secure_pairs(self, now, prefix);
    }

    /// Handles an ACKNACK, which may answer a challenge.
    pub(super) fn handle_answer(&mut self, now: Now, receiver: &Receiver, topic: BuiltinPairTopic, ack_nack: &AckNack) {
        let prefix = receiver.source_prefix;
        if !claims::may_answer(self, prefix, receiver.sender) {
            return;
        }
        paths::note_answer(self, now, receiver, topic, ack_nack);
        let next = self.pairs.get(topic).last_number().next();
        match self.peers.validations.handle_answer(now.instant, prefix, topic, ack_nack, next) {
            Answer::Unrelated => {}
            Answer::IsAhead => self.raise_challenge_of(now, prefix, topic),
            Answer::Valid(validated) => {
                self.handle_valid(now, prefix, validated, receiver.sender);
            }
        }
    }

    pub(super) fn raise_challenge(&mut self, now: Now, prefix: GuidPrefix, has: BuiltinEndpoints) {
        if let Some(topic) = topic_of_challenge(has) {
            self.raise_challenge_of(now, prefix, topic);
        }
    }

    fn raise_challenge_of(&mut self, now: Now, prefix: GuidPrefix, topic: BuiltinPairTopic) {
        let pair = self.pairs.get_mut(topic);
        let last = self.peers.validations.raise(now.instant, prefix, pair.last_number());
        // The peer may still receive at its old address, where a GAP would lead it beyond the challenge.
        pair.reserve_numbers(last);
    }

    /// Uses a locator of a peer that has answered all challenges.
    fn handle_valid(&mut self, now: Now, prefix: GuidPrefix, validated: Validated, sender: Option<IpAddr>) {
        match validated.reason {
            ChallengeReason::Address => self.use_address(now, prefix, &validated, sender),
            ChallengeReason::Move => self.end_move(now, prefix, &validated, sender),
            ChallengeReason::Claim => claims::refute(self, now, prefix, sender),
            ChallengeReason::Path => paths::use_answer(self, now, prefix, &validated, sender),
        }
        self.publish_passed(now, validated);
    }

    /// Uses the first valid address of a peer. From now on its announced lease counts in full.
    fn use_address(&mut self, now: Now, prefix: GuidPrefix, validated: &Validated, sender: Option<IpAddr>) {
        claims::note_answered_from(self, prefix, sender);
        let Some(peer) = self.peers.known.get_mut(&prefix) else {
            debug_assert!(false, "only known peers are validated");
            return;
        };
        peer.note_answered(now, validated);
        let route = std::mem::take(&mut peer.route);
        peer.route = peer.narrow(route);
        let (data, route) = (Arc::clone(&peer.data), peer.route.clone());
        self.peers.leases.set(now.instant, prefix, data.lease_duration);
        self.match_pairs(now, &data, &route);
        for (topic, pair) in self.pairs.with_topics() {
            if topic == validated.topic && !validated.was_matched {
                pair.note_answered(now, prefix);
            } else {
                let again = validated.withheld.contains(topic);
                pair.catch_up(now, prefix, again);
            }
        }
        self.update_valid_hosts(prefix);
        self.request_types(now);
    }

    /// Uses the new address of a peer.
    fn end_move(&mut self, now: Now, prefix: GuidPrefix, validated: &Validated, sender: Option<IpAddr>) {
        let Some(peer) = self.peers.known.get_mut(&prefix) else {
            debug_assert!(false, "only known peers are validated");
            return;
        };
        peer.note_answered(now, validated);
        peer.answered_from.clear();
        let pending = peer.moves_to.take();
        claims::note_answered_from(self, prefix, sender);
        let Some(PendingMove { data, .. }) = pending.map(|pending| *pending) else {
            debug_assert!(false, "the challenge of a move ends with it");
            return;
        };
        // `update_route` keeps the challenge on the locators of the route.
        match narrowed(self.route_of_discovery(&data), validated.locator) {
            Some(route) => self.replace_data(now, data, route),
            None => debug_assert!(false, "the challenge went to a locator of the route"),
        }
    }

    /// Announces the endpoints again that a peer ignores since its challenge, as soon as the budget allows it.
    fn publish_passed(&mut self, now: Now, validated: Validated) {
        // Assertions of liveliness need no repetition.
        if validated.has_passed && validated.topic != BuiltinPairTopic::Messages {
            self.republications.request(validated.topic);
            self.publish_waiting(now);
        }
    }

    /// Announces the endpoints again whose announcements wait for the budget.
    pub(super) fn publish_waiting(&mut self, now: Now) {
        let topics = self.republications.take(now.instant);
        if topics.contains(BuiltinPairTopic::Publications) {
            self.publish_again::<PublicationData>(now);
        }
        if topics.contains(BuiltinPairTopic::Subscriptions) {
            self.publish_again::<SubscriptionData>(now);
        }
    }

    /// Handles the crash of a participant's process, as the system of this host reports it.
    pub fn handle_crash(&mut self, now: Now, prefix: GuidPrefix) {
        self.lose(now, prefix, ParticipantLoss::Crashed);
    }

    /// Removes a participant with all its endpoints, and does what the plugins of DDS Security then ask for.
    pub(super) fn lose(&mut self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
        self.forget(now, prefix, cause);
        security::carry_out_actions(self, now);
    }

    /// Removes a participant with all its endpoints.
    pub(super) fn forget(&mut self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
        // The lease of an unknown peer may end, and an ignored one may be unknown.
        let Some(peer) = self.peers.known.remove(&prefix) else { return };
        self.peers.leases.remove(prefix);
        self.peers.validations.end(prefix);
        self.peers.claims.remove(prefix);
        security::forget_secure(self, now, prefix, cause);
        if !peer.is_admitted {
            return;
        }
        self.unmatch_participant(now, prefix, cause);
    }

    /// Unmatches all endpoints of a participant that took part, and reports its loss.
    pub(super) fn unmatch_participant(&mut self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
        self.type_lookup.forget(prefix);
        for pair in self.pairs.iter_mut() {
            pair.unmatch_peer(now, prefix, cause.may_return());
        }
        // The owner unmatches the endpoints before it reads that their participant is lost.
        self.matching.remove_participant(prefix, cause);
        self.matching.push_event(ParticipantEvent::ParticipantLost { prefix, cause });
    }

    /// Returns the route to a participant's discovery.
    pub(super) fn route_of_discovery(&self, data: &ParticipantData) -> Route {
        let ParticipantData { metatraffic_unicast: unicast, metatraffic_multicast: multicast, .. } = data;
        let (host, same_host) = (&self.config.host_addresses, self.is_same_host(data));
        let silent = self.peers.known.get(&data.prefix).and_then(|peer| peer.path.silent());
        if silent.is_some() {
            let others: Vec<Locator> = unicast.iter().copied().filter(|locator| Some(*locator) != silent).collect();
            let route = Route::choose(host, &others, multicast, same_host);
            if !route.unicast.is_empty() {
                return route;
            }
        }
        Route::choose(host, unicast, multicast, same_host)
    }

    /// Returns the route to all usable locators of a participant's discovery.
    pub(super) fn all_locators(&self, data: &ParticipantData) -> Route {
        let same_host = self.is_same_host(data);
        let multicast = &data.metatraffic_multicast;
        Route::choose_all(&self.config.host_addresses, &data.metatraffic_unicast, multicast, same_host)
    }

    /// Returns the route to an endpoint: to its own locators, or to those of its participant.
    ///
    /// It names only hosts that a challenge goes to, and is unverified until that is answered.
    pub(super) fn route_of_endpoint(&self, prefix: GuidPrefix, endpoint: &EndpointData) -> Route {
        let Some(peer) = self.peers.known.get(&prefix) else {
            debug_assert!(false, "the caller has just found or added the participant");
            return Route::default();
        };
        let participant = &peer.data;
        let has_locators = !endpoint.unicast_locators.is_empty() || !endpoint.multicast_locators.is_empty();
        let (unicast, multicast) = if has_locators {
            (&endpoint.unicast_locators, &endpoint.multicast_locators)
        } else {
            (&participant.default_unicast, &participant.default_multicast)
        };
        // Its own locators too: otherwise a participant of this host could name a reader of another one.
        let same_host = self.is_same_host(participant) && is_same_host(&self.config.host_addresses, unicast);
        // By the protected builtin topic, a participant says itself where its endpoints are.
        let is_believed = same_host || peer.is_vouched;
        let unicast = if is_believed { unicast.clone() } else { peer.on_valid_hosts(unicast) };
        let mut route = Route::choose(&self.config.host_addresses, &unicast, multicast, same_host);
        // Without unicast, multicast is the only way.
        if !self.config.multicast_samples && !route.unicast.is_empty() {
            route.multicast.clear();
        }
        route.is_unverified = !self.peers.validations.is_valid(prefix);
        route
    }

    fn is_same_host(&self, data: &ParticipantData) -> bool {
        is_same_host(&self.config.host_addresses, data.metatraffic_unicast.iter().chain(&data.default_unicast))
    }
}

/// Returns the GUID that a disposal names, in the payload or in PID_KEY_HASH (RTPS 2.5, 9.6.4.8).
fn disposed_guid(data: &Data<'_>) -> Option<Guid> {
    if let Some(payload) = data.payload.bytes() {
        if let Some(guid) = guid_of_key(payload) {
            return Some(guid);
        }
    }
    data.inline_qos?.key_hash().map(Guid::from_bytes)
}

/// Silence after which a participant may have to make room, however long its lease: the default lease (RTPS 2.5,
/// 9.6.3.2).
const SILENT_FOR: Duration = Duration::from_secs(100);

/// Longest lease of a participant whose address is not valid. It is the default lease, so real participants announce
/// themselves more often.
const UNVERIFIED_LEASE_MAX: Duration = SILENT_FOR;

/// A peer that does not take part yet answers no challenge. With DDS Security, its handshake proves its address.
const NOTHING_TO_CHALLENGE: BuiltinEndpoints = BuiltinEndpoints(0);

/// Announcement periods between two announcements in return to a peer that announces multicast.
const PERIODS_WITH_MULTICAST: u32 = 3;

/// Locators of a peer that a repeated announcement in return goes to. The first one goes to all of them.
const REPEATED_TO: usize = 2;

/// Bytes of a message around the payload of its only DATA.
const MESSAGE_OVERHEAD: usize = 44;

/// Bits of STATUS_INFO for disposed and unregistered.
const STATUS_GONE: u32 = 3;

/// Restricts a route to one of its locators. `None` if it has another address.
pub(super) fn narrowed(mut route: Route, locator: Locator) -> Option<Route> {
    let of_route = if route.unicast.is_empty() { &mut route.multicast } else { &mut route.unicast };
    if !of_route.contains(&locator) {
        return None;
    }
    *of_route = std::iter::once(locator).collect();
    Some(route)
}

/// Returns the locators on the hosts of a route's unicast locators.
pub(super) fn on_hosts_of(locators: &[Locator], route: &Route) -> Vec<Locator> {
    let is_on_host = |locator: &&Locator| route.unicast.iter().any(|known| known.address == locator.address);
    locators.iter().filter(is_on_host).copied().collect()
}
