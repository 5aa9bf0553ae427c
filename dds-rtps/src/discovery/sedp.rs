//! The builtin topics that are exchanged reliably (RTPS 2.5, 8.5.4 and 8.4.13): a writer and a reader for each.
//!
//! In: what this participant has to tell, which peers there are, their submessages. Out: samples of peers, datagrams.
//! Owned: the endpoints, whose histories hold one change per announced thing.

use super::builtin::BuiltinEndpoints;
use super::reach::Reach;
use crate::concurrent::{Payload, PayloadSource};
use crate::history::{ChangeKind, HistorySample, Operation, Selection};
use crate::output::Datagram;
use crate::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use crate::reader::{KeySource, ReaderConfig, ReaderEvent, Source, StatefulReader, WriterProxyConfig};
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, earliest};
use crate::wire::{Receiver, Submessage};
use crate::writer::{Asker, NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};
use std::collections::VecDeque;

/// The largest announcement accepted: the parameter list of an endpoint with all its data at their bounds takes less.
const SAMPLE_SIZE_MAX: usize = 256 << 10;
/// Bytes of announcements that a new peer is sent unasked: so many may go to whoever does not exist.
const UNASKED_MAX: usize = 4 << 10;
/// The longest pause before a peer is asked again that has never said anything, and may not exist. One that does announces
/// itself, and is asked at once then.
const UNHEARD_PERIOD_MAX: Duration = Duration::from_secs(100);
/// How many withdrawn announcements are remembered while a peer is lost that may come back without having noticed.
const WITHDRAWN_MAX: usize = 4_096;
/// How many lost peers are waited for, the latest ones.
const ABSENT_MAX: usize = 256;
/// How long a lost peer is waited for. Leases end within seconds; who was cut off for longer has lost us, too.
const ABSENCE_MAX: Duration = Duration::from_secs(600);
/// Questions, or answers, that are kept for those who have not acknowledged them. They ask again if one is lost.
const MESSAGES_MAX: u32 = 64;
/// Memory kept for announcements to come: they are few, and of any length, so that slots which are used again would each grow to
/// that of the longest.
const SPARE_BYTES: usize = 64 << 10;
/// Bytes of announcements of one peer that wait for earlier ones, or are being put together.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// One of the topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltinTopic {
    /// Writers.
    Publications,
    /// Readers.
    Subscriptions,
    /// Who is alive.
    Messages,
    /// Questions for types (XTYPES 1.3, 7.6.3.3).
    TypeRequests,
    /// Descriptions of types.
    TypeReplies,
}

impl BuiltinTopic {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Publications, Self::Subscriptions, Self::Messages, Self::TypeRequests, Self::TypeReplies];

    /// The ids of its writer and its reader, the same in each participant.
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

    /// The bits of its writer and its reader.
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

    /// Whether it tells how things are, also to those who come later. The others ask and answer, once.
    const fn is_state(self) -> bool {
        !matches!(self, Self::TypeRequests | Self::TypeReplies)
    }

    /// The topic with this writer.
    #[must_use]
    pub fn of_writer(writer_id: EntityId) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.ids().0 == writer_id)
    }
}

/// The two endpoints of one topic.
#[derive(Debug)]
pub struct BuiltinPair {
    topic: BuiltinTopic,
    writer: StatefulWriter,
    reader: StatefulReader,
    /// Peers whose lease has ended, and when. If they heard us all the time, they still know what we withdraw meanwhile, and
    /// must be told of it when they come back: otherwise they would match our endpoints for ever.
    absent: VecDeque<(GuidPrefix, Instant)>,
}

impl BuiltinPair {
    /// Endpoints that know nobody. `instances_max`: how many things peers may announce in all.
    #[must_use]
    pub fn new(topic: BuiltinTopic, prefix: GuidPrefix, instances_max: u32, seed: u64) -> Self {
        let (writer_id, reader_id) = topic.ids();
        let qos = DataWriterQos::default().reliable();
        let qos = if topic.is_state() { qos.transient_local().keep_last(1) } else { qos.keep_last(MESSAGES_MAX) };
        let writer = WriterConfig::new(Guid::new(prefix, writer_id), topic.is_state(), &qos);
        let writer = WriterConfig { seed, unasked_max: UNASKED_MAX, unheard_period_max: UNHEARD_PERIOD_MAX, ..writer };
        let limits = ResourceLimits { max_instances: Some(instances_max), ..ResourceLimits::default() };
        let qos = DataReaderQos::default().reliable();
        let qos = match topic.is_state() {
            true => qos.transient_local().keep_last(1).resource_limits(limits),
            false => qos.keep_last(MESSAGES_MAX),
        };
        let key = match topic {
            BuiltinTopic::Publications | BuiltinTopic::Subscriptions => KeySource::KeyHashOrGuidParameter,
            BuiltinTopic::Messages => KeySource::LeadingBytes,
            BuiltinTopic::TypeRequests | BuiltinTopic::TypeReplies => KeySource::None,
        };
        let reader = ReaderConfig {
            sample_size_max: SAMPLE_SIZE_MAX,
            assembly_bytes_max: WAITING_BYTES_MAX,
            reorder_bytes_max: WAITING_BYTES_MAX,
            spare_bytes: SPARE_BYTES,
            // A question that came by multicast, before its writer was matched or behind its first HEARTBEAT, is no history: a
            // peer asks once. Its writer has it until we have acknowledged it.
            wants_history: true,
            preemptive_period_max: UNHEARD_PERIOD_MAX,
            seed,
            ..ReaderConfig::new(Guid::new(prefix, reader_id), key, &qos)
        };
        Self {
            topic,
            writer: StatefulWriter::new(writer),
            reader: StatefulReader::new(reader),
            absent: VecDeque::new(),
        }
    }

    /// The writer.
    #[must_use]
    pub fn writer(&self) -> &StatefulWriter {
        &self.writer
    }

    /// The reader.
    #[must_use]
    pub fn reader(&self) -> &StatefulReader {
        &self.reader
    }

    /// Whether peers are matched that have only been announced, perhaps in another's name: each endpoint costs datagrams. Types
    /// are asked of those, and told to those, that have shown to be there.
    #[must_use]
    pub fn is_for_strangers(&self) -> bool {
        self.topic.is_state()
    }

    /// Matches those endpoints that a peer has, or takes over that it is reached in another way now.
    pub fn match_peer(&mut self, now: Now, prefix: GuidPrefix, has: BuiltinEndpoints, reach: &Reach) {
        let (writer_id, reader_id) = self.topic.ids();
        let (writer_bit, reader_bit) = self.topic.bits();
        // Groups are only for peers that have nothing else: discovery has to work where multicast does not.
        let groups = if reach.unicast.is_empty() { reach.multicast.clone() } else { Default::default() };
        let (their_writer, their_reader) = (Guid::new(prefix, writer_id), Guid::new(prefix, reader_id));
        if has.contains(reader_bit) && reach.is_usable() {
            let proxy = ReaderProxyConfig {
                reliable: true,
                wants_history: self.topic.is_state(),
                multicast: groups.to_vec(),
                same_host: reach.same_host,
                ..ReaderProxyConfig::new(their_reader, reach.unicast.to_vec())
            };
            self.writer.match_reader(now, proxy);
            self.absent.retain(|(absent, _)| *absent != prefix);
            self.forget_absent(now);
        } else {
            self.writer.unmatch_reader(now, their_reader);
        }
        if has.contains(writer_bit) && reach.is_usable() {
            let proxy = WriterProxyConfig {
                unicast: reach.unicast.to_vec(),
                multicast: groups.to_vec(),
                ..WriterProxyConfig::new(their_writer)
            };
            self.reader.match_writer(now, proxy);
        } else {
            self.reader.unmatch_writer(now, their_writer);
        }
    }

    /// A peer has announced itself again: those of its endpoints that have never said anything are asked to.
    pub fn ask_again(&mut self, now: Now, prefix: GuidPrefix) {
        let (writer_id, reader_id) = self.topic.ids();
        self.writer.ask_again(now, Guid::new(prefix, reader_id));
        self.reader.ask_again(now, Guid::new(prefix, writer_id));
    }

    /// Forgets a peer's endpoints. `comes_back`: nobody said that it is gone for good.
    pub fn unmatch_peer(&mut self, now: Now, prefix: GuidPrefix, comes_back: bool) {
        if comes_back {
            self.absent.push_back((prefix, now.instant));
            if self.absent.len() > ABSENT_MAX {
                self.absent.pop_front();
            }
            self.writer.keep_departures(WITHDRAWN_MAX);
        }
        let (writer_id, reader_id) = self.topic.ids();
        self.writer.unmatch_reader(now, Guid::new(prefix, reader_id));
        self.reader.unmatch_writer(now, Guid::new(prefix, writer_id));
    }

    /// Waits no longer for those that stay away for too long. When nobody is waited for, what was withdrawn is forgotten as
    /// soon as everybody knows.
    fn forget_absent(&mut self, now: Now) {
        while self.absent.front().is_some_and(|(_, since)| now.instant.since(*since) > ABSENCE_MAX) {
            self.absent.pop_front();
        }
        if self.absent.is_empty() {
            self.writer.keep_departures(0);
        }
    }

    /// Announces something, in place of what was announced of it before. `false`: the history refused it, which its
    /// unlimited KEEP_LAST never does to a payload of sane size.
    pub fn publish(&mut self, now: Now, instance: InstanceHandle, payload: &[u8]) -> bool {
        self.writer.write(now, NewChange::alive(instance, Payload::copy_of(payload))).is_ok()
    }

    /// Withdraws what was announced. `key`: the serialized key.
    pub fn withdraw(&mut self, now: Now, instance: InstanceHandle, key: &[u8]) -> bool {
        let kind = ChangeKind::NotAliveDisposedUnregistered;
        let change = NewChange::not_alive(kind, instance, Payload::copy_of(key));
        self.forget_absent(now);
        self.writer.write(now, change).is_ok()
    }

    /// A submessage of a peer that concerns this topic. `reply`: where it is to be answered, if not where it has announced.
    pub fn handle(
        &mut self,
        now: Now,
        receiver: &Receiver<'_>,
        reply: Option<Locator>,
        submessage: &Submessage<'_>,
        packet: &dyn PayloadSource,
    ) {
        let source = Source {
            writer: receiver.source(self.topic.ids().0),
            timestamp: receiver.source_timestamp,
            vendor: receiver.source_vendor,
            reply,
        };
        let asker = |reader_id| Asker { reader: receiver.source(reader_id), reply };
        // What becomes of it is counted by the endpoints.
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

    /// Takes what peers have announced since the last time.
    pub fn take(&mut self, now: Now, into: &mut Vec<HistorySample>) {
        let mut data_available = false;
        while let Some(event) = self.reader.poll_event() {
            data_available |= event == ReaderEvent::DataAvailable;
        }
        if data_available {
            self.reader.select(now, &Selection::default(), Operation::Take, into);
        }
    }

    /// When [`BuiltinPair::handle_timeout`] and [`BuiltinPair::poll_transmit`] are to be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        earliest(self.writer.deadline(), self.reader.deadline())
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Now) {
        self.writer.handle_timeout(now);
        self.reader.handle_timeout(now);
        // Nobody waits for acknowledgements of announcements.
        while self.writer.poll_event().is_some() {}
    }

    /// Lays out the next datagram; `false`: there is none now.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        self.reader.poll_transmit(now, datagram) || self.writer.poll_transmit(now, datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Time;

    #[test]
    fn lost_peers_and_what_was_withdrawn_meanwhile_are_bounded() {
        let now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };
        let prefix = |number: usize| {
            let mut prefix = [2; 12];
            prefix[..8].copy_from_slice(&number.to_le_bytes());
            GuidPrefix(prefix)
        };
        let mut pair = BuiltinPair::new(BuiltinTopic::Publications, prefix(0), 100, 1);
        (1..=ABSENT_MAX + 10).for_each(|number| pair.unmatch_peer(now, prefix(number), true));
        assert_eq!((pair.absent.len(), pair.absent.front().unwrap().0), (ABSENT_MAX, prefix(11)));
        for number in 0..WITHDRAWN_MAX + 10 {
            let instance = InstanceHandle::from(Guid::new(prefix(number), EntityId([0, 0, 1, 2])));
            assert!(pair.publish(now, instance, &[0, 3, 0, 0]) && pair.withdraw(now, instance, &[0, 3, 0, 0]));
        }
        // The newest change stays as well, until the next write.
        let kept = pair.writer.history_len();
        assert!((WITHDRAWN_MAX..=WITHDRAWN_MAX + 1).contains(&kept), "{kept}");
    }
}
