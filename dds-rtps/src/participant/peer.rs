//! Other participants: how they come, change, fall silent and leave (RTPS 2.5, 8.5.3).

use super::Participant;
use crate::discovery::data::{
    DataError, Decoded, EndpointData, ParticipantData, PublicationData, SubscriptionData, guid_of_key,
};
use crate::discovery::{Announced, Discovered, ParticipantEvent, ParticipantLoss, Reach, ReplyTo, is_same_host};
use crate::reader::WRITERS_MAX;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, Locator, Now, SequenceNumber};
use crate::wire::{Data, Receiver, SerializedPayload};
use std::sync::Arc;

/// What is known of another participant.
#[derive(Debug)]
pub(super) struct Peer {
    /// What it announces.
    pub(super) data: Arc<ParticipantData>,
    /// How its discovery is reached.
    pub(super) reach: Reach,
    /// Writers and readers that are known of it.
    pub(super) endpoints: usize,
    /// It has answered, so somebody is there where it says to be.
    pub(super) has_answered: bool,
}

impl Participant {
    /// An announcement or a farewell.
    pub(super) fn handle_spdp(&mut self, now: Now, receiver: &Receiver, data: &Data<'_>) {
        let prefix = receiver.source_prefix;
        let number = data.writer_sn;
        let status = data.inline_qos.map_or(0, |qos| qos.status_info());
        let payload = match data.payload {
            SerializedPayload::Data(payload) if status & STATUS_GONE == 0 => payload,
            // A change without payload and without status is legal, and says nothing.
            SerializedPayload::None if status & STATUS_GONE == 0 => return,
            payload => {
                let key = payload.bytes().and_then(guid_of_key);
                let key = key.or_else(|| data.inline_qos?.key_hash().map(Guid::from_bytes));
                return self.handle_farewell(now, prefix, number, key);
            }
        };
        match ParticipantData::decode(payload, prefix) {
            Ok(Decoded { data, skipped }) => {
                self.counters.skipped_parameters += u64::from(skipped);
                self.handle_announcement(now, number, data);
            }
            Err(DataError::Guid) => self.counters.foreign += 1,
            Err(_) => self.counters.malformed_participants += 1,
        }
    }

    fn handle_farewell(&mut self, now: Now, prefix: GuidPrefix, number: SequenceNumber, key: Option<Guid>) {
        match key {
            Some(guid) if guid != Guid::new(prefix, EntityId::PARTICIPANT) => self.counters.foreign += 1,
            _ => {
                let forgets = self.departed.insert(now.instant, prefix, number);
                self.counters.farewells_forgotten += u64::from(forgets);
                self.lose(now, prefix, ParticipantLoss::Left);
            }
        }
    }

    fn handle_announcement(&mut self, now: Now, number: SequenceNumber, data: ParticipantData) {
        let other_domain = data.domain_id.is_some_and(|domain_id| domain_id != self.config.domain_id);
        if other_domain || data.domain_tag != self.config.domain_tag {
            self.counters.other_domain += 1;
            return;
        }
        let prefix = data.prefix;
        if self.ignored.contains_participant(prefix) {
            return;
        }
        match self.peers.get(&prefix).map(|peer| *peer.data == data) {
            Some(true) => self.pairs.iter_mut().for_each(|pair| pair.ask_again(now, prefix)),
            Some(false) => self.change_peer(now, data),
            None if self.departed.is_late(now.instant, prefix, number) => self.counters.late_announcements += 1,
            None if self.has_room(now) => self.add_peer(now, data),
            None => self.counters.participants_refused += 1,
        }
    }

    /// Whether one more participant can be known. A lease may be as long as its participant likes, even infinite; that is
    /// honoured as long as nobody else needs the place.
    fn has_room(&mut self, now: Now) -> bool {
        if self.peers.len() < self.config.limits.participants_max.min(WRITERS_MAX) {
            return true;
        }
        let Some(silent) = self.leases.most_silent(now.instant, SILENT_FOR) else { return false };
        self.counters.participants_displaced += 1;
        self.lose(now, silent, ParticipantLoss::Displaced);
        true
    }

    /// Where to answer a message that may say so itself.
    pub(super) fn reply_to(&mut self, receiver: &Receiver<'_>) -> Option<Locator> {
        let reply = receiver.reply.as_ref()?;
        let announced = self.peers.get(&receiver.source_prefix).map(|peer| peer.data.unicast_locators());
        let reply = ReplyTo::choose(reply, announced.as_deref());
        self.counters.replies_refused += u64::from(reply == ReplyTo::Refused);
        reply.locator()
    }

    fn add_peer(&mut self, now: Now, data: ParticipantData) {
        let reach = self.reach_of_discovery(&data);
        // It knows of us as soon as we know of it, rather than a period later.
        let locators = if reach.unicast.is_empty() { &reach.multicast } else { &reach.unicast };
        self.announcer.answer(locators);
        self.admit(now, data, reach, 0);
    }

    /// It says something else than before: other locators, most likely.
    fn change_peer(&mut self, now: Now, data: ParticipantData) {
        let prefix = data.prefix;
        let endpoints = self.peers.get(&prefix).map_or(0, |peer| peer.endpoints);
        let reach = self.reach_of_discovery(&data);
        self.admit(now, data, reach, endpoints);
        self.reach_anew::<PublicationData>(prefix);
        self.reach_anew::<SubscriptionData>(prefix);
    }

    /// Everybody may be reached in another way than before, because this host's addresses are other ones.
    pub(super) fn reach_all_anew(&mut self, now: Now) {
        let known: Vec<Arc<ParticipantData>> = self.peers.values().map(|peer| Arc::clone(&peer.data)).collect();
        for data in known {
            let prefix = data.prefix;
            let reach = self.reach_of_discovery(&data);
            if let Some(peer) = self.peers.get_mut(&prefix).filter(|peer| peer.reach != reach) {
                peer.reach = reach.clone();
                let has_answered = peer.has_answered;
                for pair in self.pairs.iter_mut().filter(|pair| has_answered || pair.is_for_strangers()) {
                    pair.match_peer(now, prefix, data.builtin_endpoints, &reach);
                }
            }
            self.reach_anew::<PublicationData>(prefix);
            self.reach_anew::<SubscriptionData>(prefix);
        }
    }

    /// The endpoints of a participant may be reached in another way than before.
    fn reach_anew<T: Announced>(&mut self, prefix: GuidPrefix) {
        let Some(data) = self.peers.get(&prefix).map(|peer| Arc::clone(&peer.data)) else { return };
        for endpoint in self.matching.of::<T>(prefix) {
            let reach = self.reach_of_endpoint(&data, endpoint.data.endpoint());
            self.matching.put(Arc::new(Discovered { reach, ..Arc::unwrap_or_clone(endpoint) }));
        }
    }

    fn admit(&mut self, now: Now, data: ParticipantData, reach: Reach, endpoints: usize) {
        let prefix = data.prefix;
        // At another address it may be somebody else who answers, or nobody.
        let has_answered = self.peers.get(&prefix).is_some_and(|peer| peer.has_answered && peer.reach == reach);
        let lease = if has_answered { data.lease_duration } else { data.lease_duration.min(UNPROVEN_LEASE_MAX) };
        self.leases.set(now.instant, prefix, lease);
        for pair in self.pairs.iter_mut().filter(|pair| has_answered || pair.is_for_strangers()) {
            pair.match_peer(now, prefix, data.builtin_endpoints, &reach);
        }
        let data = Arc::new(data);
        self.matching.push_event(ParticipantEvent::ParticipantDiscovered { participant: Arc::clone(&data) });
        self.peers.insert(prefix, Peer { data, reach, endpoints, has_answered });
    }

    /// A peer asks for something that we have told it of: it is where it says to be. From now on its lease is as long as it
    /// announces.
    pub(super) fn note_answer(&mut self, now: Now, prefix: GuidPrefix) {
        let Some(peer) = self.peers.get_mut(&prefix).filter(|peer| !peer.has_answered) else { return };
        peer.has_answered = true;
        self.leases.set(now.instant, prefix, peer.data.lease_duration);
        for pair in self.pairs.iter_mut().filter(|pair| !pair.is_for_strangers()) {
            pair.match_peer(now, prefix, peer.data.builtin_endpoints, &peer.reach);
        }
        self.ask_for_types(now);
    }

    /// The process of a participant has ended without a farewell, as the system of this host knows.
    pub fn handle_crash(&mut self, now: Now, prefix: GuidPrefix) {
        self.lose(now, prefix, ParticipantLoss::Crashed);
    }

    /// Forgets a participant and all that it has.
    pub(super) fn lose(&mut self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss) {
        if self.peers.remove(&prefix).is_none() {
            return;
        }
        self.leases.remove(prefix);
        self.questions.forget(prefix);
        for pair in &mut self.pairs {
            pair.unmatch_peer(now, prefix, cause.comes_back());
        }
        self.matching.remove_participant(prefix, cause);
        self.matching.push_event(ParticipantEvent::ParticipantLost { prefix, cause });
    }

    /// How the discovery of a participant is reached.
    fn reach_of_discovery(&self, data: &ParticipantData) -> Reach {
        let same_host = self.is_same_host(data);
        Reach::choose(&self.config.host_addresses, &data.metatraffic_unicast, &data.metatraffic_multicast, same_host)
    }

    /// How an endpoint is reached: at its own locators, or at those of its participant.
    pub(super) fn reach_of_endpoint(&self, participant: &ParticipantData, endpoint: &EndpointData) -> Reach {
        let or_default = |own: &[Locator], default: &[Locator]| -> Vec<Locator> {
            if endpoint.unicast_locators.is_empty() && endpoint.multicast_locators.is_empty() {
                default.to_vec()
            } else {
                own.to_vec()
            }
        };
        let unicast = or_default(&endpoint.unicast_locators, &participant.default_unicast);
        let multicast = or_default(&endpoint.multicast_locators, &participant.default_multicast);
        let same_host = self.is_same_host(participant);
        let mut reach = Reach::choose(&self.config.host_addresses, &unicast, &multicast, same_host);
        if !self.config.multicast_samples && !reach.unicast.is_empty() {
            reach.multicast.clear();
        }
        reach
    }

    fn is_same_host(&self, data: &ParticipantData) -> bool {
        is_same_host(&self.config.host_addresses, data.metatraffic_unicast.iter().chain(&data.default_unicast))
    }
}

/// A participant that is silent for so long may have to make room, however long its lease: the lease of one that announces
/// none (RTPS 2.5, 9.6.3.2).
const SILENT_FOR: Duration = Duration::from_secs(100);

/// The lease of a participant that has never answered anything. A datagram proves nothing of its sender: whoever is announced
/// in another's name is sent no more than what goes out in this time. It is the lease of one that announces none, so nobody
/// who is there announces itself less often.
const UNPROVEN_LEASE_MAX: Duration = SILENT_FOR;

/// The bits of STATUS_INFO that say that something is gone: disposed, unregistered.
const STATUS_GONE: u32 = 3;
