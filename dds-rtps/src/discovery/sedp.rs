//! The reliable builtin topics (RTPS 2.5, 8.5.4 and 8.4.13): a writer and a reader for each.
//!
//! In: our announcements, the known peers, their submessages. Out: samples of peers, datagrams. Owned: the endpoints,
//! whose histories hold one change per announced entity.

use super::builtin::BuiltinEndpoints;
use super::data::ParticipantData;
use super::route::Route;
use crate::concurrent::{Payload, PayloadSource};
use crate::history::{ChangeKind, HistorySample, Operation, Selection};
use crate::output::Datagram;
use crate::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use crate::reader::{KeySource, ReaderConfig, Source, StatefulReader, StatefulReaderEvent, WriterProxyConfig};
use crate::types::{
    Duration, EntityId, Guid, GuidPrefix, HashSeed, InstanceHandle, Instant, Locator, Now, SequenceNumber, earliest,
};
use crate::wire::{Headroom, Receiver, Submessage};
use crate::writer::{Asker, NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};
use std::collections::VecDeque;

/// Largest accepted announcement: the parameter list of an endpoint with all data at their bounds is smaller.
const SAMPLE_SIZE_MAX: usize = 256 << 10;
/// Bytes of announcements that a new peer is sent unasked: this much may go to a peer that does not exist.
const UNASKED_MAX: usize = 4 << 10;
/// Longest pause between pre-emptive ACKNACKs to a peer that does not answer, and may not exist. A peer that exists
/// announces itself, and this repeats the ACKNACK at once.
const UNHEARD_PERIOD_MAX: Duration = Duration::from_secs(100);
/// Withdrawn announcements that are kept while a lost peer may return with its old matches.
const WITHDRAWN_MAX: usize = 4_096;
/// Withdrawn entities whose disposals can be repeated; the latest ones.
const DISPOSED_AGAIN_MAX: usize = 1_024;
/// Lost peers that may return; the latest ones.
const LOST_PEERS_MAX: usize = 256;
/// How long a lost peer may take to return. Leases end within seconds, so a peer that was cut off for longer has lost
/// us, too.
const RETURN_WITHIN: Duration = Duration::from_secs(600);
/// Type requests or replies kept for peers that have not acknowledged them. A peer repeats a request if one is lost.
const MESSAGES_MAX: u32 = 64;
/// Messages with keys kept for a peer that has not acknowledged them: one for each match of endpoints.
const KEYS_MAX: u32 = 8_192;
/// Memory kept for future announcements. They are few and of any length, so reused slots would each grow to the
/// longest.
const SPARE_BYTES: usize = 64 << 10;
/// Bytes of announcements of one peer that wait for earlier ones or for fragments.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// A builtin topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltinPairTopic {
    /// Writers.
    Publications,
    /// Readers.
    Subscriptions,
    /// Liveliness of writers.
    Messages,
    /// Type requests (XTYPES 1.3, 7.6.3.3).
    TypeRequests,
    /// Type replies.
    TypeReplies,
}

impl BuiltinPairTopic {
    /// All topics.
    pub const ALL: [Self; 5] =
        [Self::Publications, Self::Subscriptions, Self::Messages, Self::TypeRequests, Self::TypeReplies];

    /// Returns the ids of its writer and its reader, which are the same in each participant.
    #[must_use]
    pub const fn ids(self) -> (EntityId, EntityId) {
        match self {
            Self::Publications => (EntityId::SEDP_PUBLICATIONS_WRITER, EntityId::SEDP_PUBLICATIONS_READER),
            Self::Subscriptions => (EntityId::SEDP_SUBSCRIPTIONS_WRITER, EntityId::SEDP_SUBSCRIPTIONS_READER),
            Self::Messages => (EntityId::PARTICIPANT_MESSAGE_WRITER, EntityId::PARTICIPANT_MESSAGE_READER),
            Self::TypeRequests => (EntityId::TYPE_REQUEST_WRITER, EntityId::TYPE_REQUEST_READER),
            Self::TypeReplies => (EntityId::TYPE_REPLY_WRITER, EntityId::TYPE_REPLY_READER),
        }
    }

    /// Returns the bits of its writer and its reader.
    #[must_use]
    pub const fn bits(self) -> (BuiltinEndpoints, BuiltinEndpoints) {
        match self {
            Self::Publications => (BuiltinEndpoints::PUBLICATIONS_WRITER, BuiltinEndpoints::PUBLICATIONS_READER),
            Self::Subscriptions => (BuiltinEndpoints::SUBSCRIPTIONS_WRITER, BuiltinEndpoints::SUBSCRIPTIONS_READER),
            Self::Messages => (BuiltinEndpoints::MESSAGE_WRITER, BuiltinEndpoints::MESSAGE_READER),
            Self::TypeRequests => (BuiltinEndpoints::TYPE_REQUEST_WRITER, BuiltinEndpoints::TYPE_REQUEST_READER),
            Self::TypeReplies => (BuiltinEndpoints::TYPE_REPLY_WRITER, BuiltinEndpoints::TYPE_REPLY_READER),
        }
    }

    /// Whether it carries state that late joiners need. The others carry requests and replies.
    pub(crate) const fn is_state(self) -> bool {
        !matches!(self, Self::TypeRequests | Self::TypeReplies)
    }

    /// Returns the topic of a builtin writer.
    #[must_use]
    pub fn of_writer(writer_id: EntityId) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.ids().0 == writer_id)
    }
}

/// A builtin topic that DDS Security protects (DDS Security 1.1, 7.4.7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecurePairTopic {
    /// Participants.
    Participants,
    /// Writers.
    Publications,
    /// Readers.
    Subscriptions,
    /// Liveliness of writers.
    Messages,
}

impl SecurePairTopic {
    /// All topics.
    pub const ALL: [Self; 4] = [Self::Participants, Self::Publications, Self::Subscriptions, Self::Messages];

    /// Returns the ids of its writer and its reader, which are the same in each participant.
    #[must_use]
    pub const fn ids(self) -> (EntityId, EntityId) {
        match self {
            Self::Participants => (EntityId::SECURE_PARTICIPANTS_WRITER, EntityId::SECURE_PARTICIPANTS_READER),
            Self::Publications => (EntityId::SECURE_PUBLICATIONS_WRITER, EntityId::SECURE_PUBLICATIONS_READER),
            Self::Subscriptions => (EntityId::SECURE_SUBSCRIPTIONS_WRITER, EntityId::SECURE_SUBSCRIPTIONS_READER),
            Self::Messages => (EntityId::SECURE_MESSAGE_WRITER, EntityId::SECURE_MESSAGE_READER),
        }
    }

    /// Returns the bits of its writer and its reader.
    #[must_use]
    pub const fn bits(self) -> (BuiltinEndpoints, BuiltinEndpoints) {
        use BuiltinEndpoints as Bits;
        match self {
            Self::Participants => (Bits::SECURE_PARTICIPANTS_WRITER, Bits::SECURE_PARTICIPANTS_READER),
            Self::Publications => (Bits::SECURE_PUBLICATIONS_WRITER, Bits::SECURE_PUBLICATIONS_READER),
            Self::Subscriptions => (Bits::SECURE_SUBSCRIPTIONS_WRITER, Bits::SECURE_SUBSCRIPTIONS_READER),
            Self::Messages => (Bits::SECURE_MESSAGE_WRITER, Bits::SECURE_MESSAGE_READER),
        }
    }

    /// Returns the topic of a builtin writer.
    #[must_use]
    pub fn of_writer(writer_id: EntityId) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.ids().0 == writer_id)
    }
}

/// How the writer and the reader of a builtin topic work.
#[derive(Debug, Clone)]
pub struct PairProfile {
    /// Ids of the writer and the reader.
    ids: (EntityId, EntityId),
    /// Bits of the writer and the reader.
    bits: (BuiltinEndpoints, BuiltinEndpoints),
    /// Whether it carries state that late joiners need. The others carry messages.
    is_state: bool,
    /// Messages that are kept, without state.
    messages_max: u32,
    key: KeySource,
    /// Whether a repeated announcement does no harm.
    is_idempotent: bool,
    /// Whether each message names its participant: the pair matches the endpoints of one participant only.
    names_participant: bool,
}

impl From<BuiltinPairTopic> for PairProfile {
    fn from(topic: BuiltinPairTopic) -> Self {
        Self {
            ids: topic.ids(),
            bits: topic.bits(),
            is_state: topic.is_state(),
            messages_max: MESSAGES_MAX,
            key: match topic {
                BuiltinPairTopic::Publications | BuiltinPairTopic::Subscriptions => KeySource::KeyHashOrGuidParameter,
                BuiltinPairTopic::Messages => KeySource::LeadingBytes,
                BuiltinPairTopic::TypeRequests | BuiltinPairTopic::TypeReplies => KeySource::None,
            },
            is_idempotent: matches!(topic, BuiltinPairTopic::Publications | BuiltinPairTopic::Subscriptions),
            names_participant: false,
        }
    }
}

impl From<SecurePairTopic> for PairProfile {
    fn from(topic: SecurePairTopic) -> Self {
        let plain = match topic {
            SecurePairTopic::Participants | SecurePairTopic::Publications => BuiltinPairTopic::Publications,
            SecurePairTopic::Subscriptions => BuiltinPairTopic::Subscriptions,
            SecurePairTopic::Messages => BuiltinPairTopic::Messages,
        };
        Self { ids: topic.ids(), bits: topic.bits(), ..plain.into() }
    }
}

impl PairProfile {
    /// The pair for keys, ParticipantVolatileMessageSecure (DDS Security 1.1, 7.4.4).
    #[must_use]
    pub fn of_keys() -> Self {
        Self {
            ids: (EntityId::VOLATILE_MESSAGE_WRITER, EntityId::VOLATILE_MESSAGE_READER),
            bits: (BuiltinEndpoints::VOLATILE_MESSAGE_WRITER, BuiltinEndpoints::VOLATILE_MESSAGE_READER),
            messages_max: KEYS_MAX,
            names_participant: true,
            // Messages without instances, as those about types.
            ..BuiltinPairTopic::TypeRequests.into()
        }
    }
}

/// The writer and the reader of one builtin topic.
#[derive(Debug)]
pub struct BuiltinPair {
    profile: PairProfile,
    writer: StatefulWriter,
    reader: StatefulReader,
    /// Peers whose lease has ended, and when. If our messages still reached them, they still match the endpoints that
    /// we withdraw now. They must receive the disposals when they return, or they would match our endpoints forever.
    lost_peers: VecDeque<(GuidPrefix, Instant)>,
    /// Entities that were withdrawn lately. A peer whose reader already expects higher numbers has missed their
    /// disposals.
    withdrawn: VecDeque<(InstanceHandle, Instant)>,
    /// The next change has a higher number.
    reserved: SequenceNumber,
}

/// Whether a peer receives at its announced address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressState {
    /// It does: it has answered a challenge.
    Valid,
    /// The announcement may be forged. The writer names the address in no datagram; the caller may add it.
    Unverified,
    /// As `Unverified`, and this topic carries the challenge. The writer waits for the answer.
    Challenged,
}

impl BuiltinPair {
    /// Creates endpoints without peers. `instances_max` is the number of entities that all peers together may
    /// announce. `headroom` is as [`WriterConfig::headroom`].
    #[must_use]
    pub fn new(
        topic: impl Into<PairProfile>,
        prefix: GuidPrefix,
        instances_max: u32,
        headroom: Headroom,
        hash_seed: HashSeed,
    ) -> Self {
        let profile = topic.into();
        let PairProfile { ids: (writer_id, reader_id), is_state, messages_max, .. } = profile;
        let qos = DataWriterQos::default().reliable();
        // The history is unlimited, so it never rejects an announcement.
        let qos = if is_state { qos.transient_local().keep_last(1) } else { qos.keep_last(messages_max) };
        let writer = WriterConfig::new(Guid::new(prefix, writer_id), is_state, &qos);
        let writer = WriterConfig {
            hash_seed,
            headroom,
            unasked_max: UNASKED_MAX,
            unheard_period_max: UNHEARD_PERIOD_MAX,
            names_participant: profile.names_participant,
            ..writer
        };
        let limits = ResourceLimits { max_instances: Some(instances_max), ..ResourceLimits::default() };
        let qos = DataReaderQos::default().reliable();
        // The limit bounds the memory that peers can claim. Requests and replies have no instances.
        let qos = if is_state {
            qos.transient_local().keep_last(1).resource_limits(limits)
        } else {
            qos.keep_last(messages_max)
        };
        let reader = ReaderConfig {
            sample_size_max: SAMPLE_SIZE_MAX,
            assembly_bytes_max: WAITING_BYTES_MAX,
            reorder_bytes_max: WAITING_BYTES_MAX,
            spare_bytes: SPARE_BYTES,
            // A peer sends a request once. One that arrives by multicast before its writer is matched, or before its
            // first HEARTBEAT, must not count as history. Its writer keeps it until we acknowledge it.
            wants_history: true,
            preemptive_period_max: UNHEARD_PERIOD_MAX,
            // A forged announcement must not hide the next one of the participant.
            is_idempotent: profile.is_idempotent,
            hash_seed,
            ..ReaderConfig::new(Guid::new(prefix, reader_id), profile.key.clone(), &qos)
        };
        Self {
            profile,
            writer: StatefulWriter::new(writer),
            reader: StatefulReader::new(reader),
            lost_peers: VecDeque::new(),
            withdrawn: VecDeque::new(),
            reserved: SequenceNumber::ZERO,
        }
    }

    /// Returns the writer.
    #[must_use]
    pub fn writer(&self) -> &StatefulWriter {
        &self.writer
    }

    /// Returns the reader.
    #[must_use]
    pub fn reader(&self) -> &StatefulReader {
        &self.reader
    }

    /// Matches the endpoints that a peer has, or updates their route.
    pub fn match_peer(&mut self, now: Now, peer: &ParticipantData, route: &Route, address: AddressState) {
        let (prefix, vendor, has) = (peer.prefix, peer.vendor, peer.builtin_endpoints);
        let (writer_id, reader_id) = self.profile.ids;
        let (writer_bit, reader_bit) = self.profile.bits;
        // Multicast only for peers without unicast: discovery has to work where multicast does not.
        let groups = if route.unicast.is_empty() { route.multicast.clone() } else { Default::default() };
        let (their_writer, their_reader) = (Guid::new(prefix, writer_id), Guid::new(prefix, reader_id));
        if has.contains(reader_bit) && route.is_usable() {
            // A reader without locators is left out of datagrams for all readers.
            let (unicast, multicast) = match address {
                AddressState::Valid => (route.unicast.to_vec(), groups.to_vec()),
                AddressState::Unverified | AddressState::Challenged => (Vec::new(), Vec::new()),
            };
            let proxy = ReaderProxyConfig {
                reliable: true,
                wants_history: self.profile.is_state,
                multicast,
                same_host: route.same_host,
                vendor,
                ..ReaderProxyConfig::new(their_reader, unicast)
            };
            if address != AddressState::Challenged {
                self.writer.match_reader(now, proxy);
            }
            // The proxy delivers the disposals that the peer missed, so the entry has done its work.
            self.lost_peers.retain(|(lost, _)| *lost != prefix);
            self.forget_lost_peers(now);
        } else {
            // A peer may withdraw an endpoint, or all its locators.
            self.writer.unmatch_reader(now, their_reader);
        }
        if has.contains(writer_bit) && route.is_usable() {
            let proxy = WriterProxyConfig {
                unicast: route.unicast.to_vec(),
                multicast: groups.to_vec(),
                ..WriterProxyConfig::of_vendor(their_writer, vendor)
            };
            self.reader.match_writer(now, proxy);
        } else {
            self.reader.unmatch_writer(now, their_writer);
        }
    }

    /// Sends announcements that a peer lacks, whose address has become valid. `again`: also those sent before.
    pub fn catch_up(&mut self, now: Now, prefix: GuidPrefix, again: bool) {
        let (writer_id, reader_id) = self.profile.ids;
        self.writer.catch_up(now, Guid::new(prefix, reader_id), again);
        if again {
            self.reader.repeat_preemptive(now, Guid::new(prefix, writer_id));
        }
    }

    /// Notes that a peer has answered a challenge in the name of the writer. Without changes, no HEARTBEAT follows.
    pub fn note_answered(&mut self, now: Now, prefix: GuidPrefix) {
        self.writer.note_answered(now, Guid::new(prefix, self.profile.ids.1));
    }

    /// Returns the count of a HEARTBEAT of the writer that the caller sends in its name.
    pub fn next_heartbeat_count(&mut self) -> i32 {
        self.writer.next_heartbeat_count()
    }

    /// Sets how many participants owe answers to the writers of similar pairs.
    pub fn set_owing_to_others(&mut self, owing: usize) {
        self.writer.set_owing_to_others(owing);
    }

    /// Keeps sequence numbers up to `last` free of changes. The caller uses them for HEARTBEATs in the writer's name.
    pub fn skip_numbers(&mut self, last: SequenceNumber) {
        self.writer.skip_numbers(last);
    }

    /// As [`BuiltinPair::skip_numbers`]. Other readers learn of it with the next change.
    pub fn reserve_numbers(&mut self, last: SequenceNumber) {
        self.reserved = self.reserved.max(last);
    }

    /// Returns the last number of a change, or the last reserved one.
    #[must_use]
    pub fn last_number(&self) -> SequenceNumber {
        self.writer.last_sequence_number().max(self.reserved)
    }

    /// Repeats the initial handshake with the endpoints of a peer that never sent anything: the peer announced itself.
    ///
    /// Returns false if one of them has not sent anything yet.
    pub fn repeat_initial_handshake(&mut self, now: Now, prefix: GuidPrefix) -> bool {
        let (writer_id, reader_id) = self.profile.ids;
        let has_answered = self.writer.ask_again(now, Guid::new(prefix, reader_id));
        self.reader.repeat_preemptive(now, Guid::new(prefix, writer_id)) && has_answered
    }

    /// Returns whether a peer has all messages.
    #[must_use]
    pub fn has_delivered(&self) -> bool {
        self.writer.is_acknowledged(self.writer.last_sequence_number())
    }

    /// Asks the reader of a peer for an answer, unless it has acknowledged something.
    pub fn ask_if_silent(&mut self, now: Now, prefix: GuidPrefix) {
        let reader = Guid::new(prefix, self.profile.ids.1);
        if self.writer.acknowledged_by_reader(reader) == Some(SequenceNumber::ZERO) {
            self.writer.ask(now, reader);
        }
    }

    /// Asks the reader of a peer for an answer.
    pub fn ask(&mut self, now: Now, prefix: GuidPrefix) {
        self.writer.ask(now, Guid::new(prefix, self.profile.ids.1));
    }

    /// Sends the answers to a peer also to these locators, until its endpoints match again.
    pub fn answer_also_at(&mut self, prefix: GuidPrefix, locators: &[Locator]) {
        self.reader.add_locators(Guid::new(prefix, self.profile.ids.0), locators);
    }

    /// Removes a peer's endpoints. `may_return`: the peer may return with its old matches.
    pub fn unmatch_peer(&mut self, now: Now, prefix: GuidPrefix, may_return: bool) {
        if may_return {
            // If our messages still reached the peer, it does not know that we removed it.
            self.lost_peers.push_back((prefix, now.instant));
            // The oldest entry is the one whose peer is least likely to return.
            if self.lost_peers.len() > LOST_PEERS_MAX {
                self.lost_peers.pop_front();
            }
            self.writer.keep_departures(WITHDRAWN_MAX);
        }
        let (writer_id, reader_id) = self.profile.ids;
        self.writer.unmatch_reader(now, Guid::new(prefix, reader_id));
        self.reader.unmatch_writer(now, Guid::new(prefix, writer_id));
    }

    /// Forgets peers that were lost too long ago. Without lost peers, withdrawn announcements are forgotten as soon
    /// as all peers have acknowledged them.
    fn forget_lost_peers(&mut self, now: Now) {
        while self.lost_peers.front().is_some_and(|(_, since)| now.instant.since(*since) > RETURN_WITHIN) {
            self.lost_peers.pop_front();
        }
        if self.lost_peers.is_empty() {
            self.writer.keep_departures(0);
        }
    }

    /// Announces an entity, in place of its earlier announcement. Returns false if the history refuses it, which an
    /// unlimited KEEP_LAST history never does for a payload of normal size.
    pub fn publish(&mut self, now: Now, instance: InstanceHandle, payload: &[u8]) -> bool {
        self.writer.skip_numbers(self.reserved);
        self.withdrawn.retain(|(known, _)| *known != instance);
        self.writer.write(now, NewChange::alive(instance, Payload::copy_of(payload))).is_ok()
    }

    /// Withdraws an announcement; `key` is the serialized key. Returns false if the history refuses it.
    pub fn withdraw(&mut self, now: Now, instance: InstanceHandle, key: &[u8]) -> bool {
        self.forget_withdrawn(now);
        if self.withdrawn.len() >= DISPOSED_AGAIN_MAX {
            self.withdrawn.pop_front();
        }
        self.withdrawn.push_back((instance, now.instant));
        // First, so that the writer does not keep the disposal for a peer that is lost for good.
        self.forget_lost_peers(now);
        self.dispose(now, instance, key)
    }

    /// Forgets old withdrawals. A peer that was lost for longer has lost this participant, too.
    fn forget_withdrawn(&mut self, now: Now) {
        while self.withdrawn.front().is_some_and(|(_, at)| now.instant.since(*at) > RETURN_WITHIN) {
            self.withdrawn.pop_front();
        }
    }

    /// Returns the entities that were withdrawn in the last ten minutes.
    pub fn withdrawn(&mut self, now: Now) -> Vec<InstanceHandle> {
        self.forget_withdrawn(now);
        self.withdrawn.iter().map(|(instance, _)| *instance).collect()
    }

    /// Repeats the disposal of a withdrawn entity, with a higher sequence number. Returns false if the history refuses
    /// it.
    pub fn dispose(&mut self, now: Now, instance: InstanceHandle, key: &[u8]) -> bool {
        let kind = ChangeKind::NotAliveDisposedUnregistered;
        self.writer.skip_numbers(self.reserved);
        self.writer.write(now, NewChange::not_alive(kind, instance, Payload::copy_of(key))).is_ok()
    }

    /// Handles a submessage of a peer for this topic. `reply` is the destination of the answer, if not the discovered
    /// one.
    pub fn handle(
        &mut self,
        now: Now,
        receiver: &Receiver<'_>,
        reply: Option<Locator>,
        submessage: &Submessage<'_>,
        packet: &dyn PayloadSource,
    ) {
        let source = Source {
            writer: receiver.source(self.profile.ids.0),
            timestamp: receiver.source_timestamp,
            vendor: receiver.source_vendor,
            reply,
        };
        let asker = |reader_id| Asker { reader: receiver.source(reader_id), reply };
        // The endpoints count the outcome.
        match submessage {
            Submessage::Data(data) => drop(self.reader.handle_data(now, &source, data, packet)),
            Submessage::DataFrag(fragment) => drop(self.reader.handle_data_frag(now, &source, fragment)),
            Submessage::Gap(gap) => drop(self.reader.handle_gap(now, &source, gap)),
            Submessage::Heartbeat(heartbeat) => drop(self.reader.handle_heartbeat(now, &source, heartbeat)),
            Submessage::HeartbeatFrag(heartbeat) => drop(self.reader.handle_heartbeat_frag(now, &source, heartbeat)),
            Submessage::AckNack(m) => self.writer.handle_acknack(now, asker(m.reader_id), m),
            Submessage::NackFrag(m) => self.writer.handle_nack_frag(now, asker(m.reader_id), m),
            _ => {}
        }
    }

    /// Takes the samples that have arrived since the last call.
    pub fn take(&mut self, now: Now, into: &mut Vec<HistorySample>) {
        let mut data_available = false;
        while let Some(event) = self.reader.poll_event() {
            // Other events of the reader do not concern discovery.
            data_available |= event == StatefulReaderEvent::DataAvailable;
        }
        if data_available {
            self.reader.select(now, &Selection::default(), Operation::Take, into);
        }
    }

    /// Returns when [`BuiltinPair::handle_timeout`] and [`BuiltinPair::poll_transmit`] must be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        earliest(self.writer.deadline(), self.reader.deadline())
    }

    /// Handles the passing of time.
    pub fn handle_timeout(&mut self, now: Now) {
        self.writer.handle_timeout(now);
        self.reader.handle_timeout(now);
        // No caller waits for acknowledgments of announcements.
        while self.writer.poll_event().is_some() {}
    }

    /// Builds the next datagram; returns false without one to send.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        self.reader.poll_transmit(now, datagram) || self.writer.poll_transmit(now, datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Time;

    #[test]
    fn lost_peers_and_withdrawn_announcements_are_bounded() {
        let now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };
        let prefix = |number: usize| {
            let mut prefix = [2; 12];
            prefix[..8].copy_from_slice(&number.to_le_bytes());
            GuidPrefix(prefix)
        };
        let mut pair =
            BuiltinPair::new(BuiltinPairTopic::Publications, prefix(0), 100, Headroom::default(), HashSeed::fixed(1));
        for number in 1..=LOST_PEERS_MAX + 10 {
            pair.unmatch_peer(now, prefix(number), true);
        }
        assert_eq!((pair.lost_peers.len(), pair.lost_peers.front().unwrap().0), (LOST_PEERS_MAX, prefix(11)));
        for number in 0..WITHDRAWN_MAX + 10 {
            let instance = InstanceHandle::from(Guid::new(prefix(number), EntityId([0, 0, 1, 2])));
            assert!(pair.publish(now, instance, &[0, 3, 0, 0]) && pair.withdraw(now, instance, &[0, 3, 0, 0]));
        }
        // The newest change stays as well, until the next write.
        let kept = pair.writer.history_len();
        assert!((WITHDRAWN_MAX..=WITHDRAWN_MAX + 1).contains(&kept), "{kept}");
        assert_eq!(pair.withdrawn(now).len(), DISPOSED_AGAIN_MAX);
        let later = Now { instant: now.instant.after(RETURN_WITHIN + Duration::from_secs(1)).unwrap(), ..now };
        assert_eq!(pair.withdrawn(later), []);
    }
}
