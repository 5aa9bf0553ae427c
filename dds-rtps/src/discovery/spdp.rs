//! Announces a participant (RTPS 2.5, 8.5.3).
//!
//! In: this participant's data, the locators of peers to answer, the clock. Out: datagrams, and the time of the next
//! one. Owned: the stateless SPDP writer and its schedule.

use super::data::{ParticipantData, participant_key};
use crate::concurrent::Payload;
use crate::history::ChangeKind;
use crate::output::Datagram;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SplitMix64, earliest};
use crate::writer::{NewChange, StatelessWriter};
use std::collections::VecDeque;

/// Delay of the second announcement: a datagram that is lost during startup does not cost a whole period.
const SECOND_AFTER: Duration = Duration::from_millis(100);
/// Most locators that one datagram answers: bounds the work of one transmission.
const ANSWERS_PER_DATAGRAM: usize = 32;
/// Most locators that wait for an answer. Further peers receive the next periodic announcement.
const ANSWERS_MAX: usize = 4_096;
/// Most destinations that an announcement goes to at once. A peer without a port has 32 of them.
const AT_ONCE_MAX: usize = 256;
/// Further destinations of an announcement that get it together.
const PART_LEN: usize = 128;
/// Pause between these parts: 25 600 datagrams a second at most.
const PART_PAUSE: Duration = Duration::from_millis(5);

/// Most bytes of a message around the payload of its only DATA: headers, timestamp and inline QoS.
const MESSAGE_OVERHEAD: usize = 84;

/// Announces a participant: at once, after 100 ms, and then once per period, plus or minus a tenth.
#[derive(Debug)]
pub struct Announcer {
    prefix: GuidPrefix,
    writer: StatelessWriter,
    period: Duration,
    jitter: Jitter,
    announced: u32,
    next: Option<Instant>,
    answers: VecDeque<Locator>,
    /// Destinations beyond [`AT_ONCE_MAX`]. They get each announcement in parts.
    later: Vec<Locator>,
    /// Bytes of an announcement.
    len: usize,
    /// Index of the next of them.
    later_next: usize,
    /// Number of them that have not got the present announcement.
    later_left: usize,
    next_part: Option<Instant>,
}

impl Announcer {
    /// Creates an announcer that is silent until it is started. `destinations` are groups, and peers known from the
    /// start.
    #[must_use]
    pub fn new(prefix: GuidPrefix, mut destinations: Vec<Locator>, period: Duration, seed: u64) -> Self {
        let guid = Guid::new(prefix, EntityId::SPDP_WRITER);
        let later = destinations.split_off(destinations.len().min(AT_ONCE_MAX));
        Self {
            prefix,
            writer: StatelessWriter::new(guid, EntityId::SPDP_READER, true, destinations),
            period,
            jitter: Jitter(SplitMix64::new(seed)),
            announced: 0,
            next: None,
            answers: VecDeque::new(),
            later,
            len: 0,
            later_next: 0,
            later_left: 0,
            next_part: None,
        }
    }

    /// Announces `data` now and in every later announcement.
    pub fn announce(&mut self, now: Now, data: &ParticipantData) {
        let mut payload = Vec::new();
        data.encode(&mut payload);
        self.len = payload.len() + MESSAGE_OVERHEAD;
        let instance = InstanceHandle::from(Guid::new(self.prefix, EntityId::PARTICIPANT));
        self.writer.write(now, NewChange::alive(instance, Payload::copy_of(&payload)));
        self.begin_later(now);
        self.schedule_next(now);
    }

    /// Returns the number of bytes that an announcement takes.
    #[must_use]
    pub fn announcement_len(&self) -> usize {
        self.len
    }

    /// Replaces the destinations. They get two announcements soon, as after the start.
    pub fn set_destinations(&mut self, mut destinations: Vec<Locator>) {
        self.later = destinations.split_off(destinations.len().min(AT_ONCE_MAX));
        (self.later_next, self.later_left) = (0, 0);
        self.writer.set_locators(destinations);
        // The count restarts the short pause of the second announcement.
        self.announced = 0;
    }

    /// Announces in return to a new peer, at once, without waiting for the period.
    pub fn announce_to(&mut self, locators: &[Locator]) {
        let room = ANSWERS_MAX.saturating_sub(self.answers.len());
        // Further peers receive the next periodic announcement.
        self.answers.extend(locators.iter().take(room));
    }

    /// Sends the disposal to the first 256 usual destinations and to `peers`, and is silent afterward.
    pub fn dispose(&mut self, now: Now, peers: impl Iterator<Item = Locator>) {
        let mut payload = Vec::new();
        participant_key(self.prefix, &mut payload);
        let instance = InstanceHandle::from(Guid::new(self.prefix, EntityId::PARTICIPANT));
        let kind = ChangeKind::NotAliveDisposedUnregistered;
        let change = NewChange::not_alive(kind, instance, Payload::copy_of(&payload));
        self.writer.write(now, change);
        // Peers that are not reached by the usual destinations get the disposal as an answer.
        self.answers = peers.take(ANSWERS_MAX).collect();
        // A later announcement would revive the participant at its peers.
        self.next = None;
        self.next_part = None;
    }

    /// Returns when [`Announcer::handle_timeout`] must be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        earliest(self.next, self.next_part)
    }

    /// Announces again if it is due.
    pub fn handle_timeout(&mut self, now: Now) {
        if self.next.is_some_and(|next| next <= now.instant) {
            self.writer.resend();
            self.begin_later(now);
            self.schedule_next(now);
        }
        if self.next_part.is_some_and(|next| next <= now.instant) {
            self.announce_part(now);
        }
    }

    /// Begins to announce to the destinations beyond the first ones. If that is under way, it goes round once more from
    /// the next of them, so that each gets the present data.
    fn begin_later(&mut self, now: Now) {
        self.later_left = self.later.len();
        if self.next_part.is_none() && self.later_left > 0 {
            self.next_part = now.instant.after(PART_PAUSE);
        }
    }

    fn announce_part(&mut self, now: Now) {
        // While the socket takes nothing, the answers keep their bound and their room for new peers.
        if self.answers.len() < PART_LEN {
            let rest = self.later.get(self.later_next..).unwrap_or_default();
            let len = PART_LEN.min(self.later_left).min(rest.len());
            self.answers.extend(rest.iter().take(len));
            self.later_left -= len;
            // Behind the last of them, the round goes on with the first.
            self.later_next = if len < rest.len() { self.later_next + len } else { 0 };
        }
        self.next_part = if self.later_left > 0 { now.instant.after(PART_PAUSE) } else { None };
    }

    /// Builds the next datagram; returns false without one to send.
    pub fn poll_transmit(&mut self, datagram: &mut Datagram) -> bool {
        let count = self.answers.len().min(ANSWERS_PER_DATAGRAM);
        let answers: Vec<Locator> = self.answers.drain(..count).collect();
        self.writer.resend_to(&answers);
        // A participant without groups and peers is silent until a peer finds it.
        self.writer.poll_transmit(datagram) && !datagram.destinations().is_empty()
    }

    fn schedule_next(&mut self, now: Now) {
        self.announced = self.announced.saturating_add(1);
        // The second announcement follows soon, in case that the first one is lost.
        let pause = if self.announced == 1 { SECOND_AFTER } else { self.jitter.around(self.period) };
        self.next = now.instant.after(pause);
    }
}

/// Spreads the announcements of participants that started together.
#[derive(Debug)]
struct Jitter(SplitMix64);

impl Jitter {
    /// Returns a duration between nine and eleven tenths of `period`.
    fn around(&mut self, period: Duration) -> Duration {
        period.scale(900 + (self.0.draw() % 201) as u32, 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Time;
    use crate::wire::{Message, Submessage};

    const PREFIX: GuidPrefix = GuidPrefix([1; 12]);

    fn at(millis: u64) -> Now {
        Now { instant: Instant::from_nanos(millis * 1_000_000), time: Time::from_unix_nanos(1) }
    }

    fn group() -> Locator {
        Locator::udp_v4([239, 255, 0, 1].into(), 7400)
    }

    fn announcer(seed: u64) -> Announcer {
        let mut announcer = Announcer::new(PREFIX, vec![group()], Duration::from_secs(3), seed);
        announcer.announce(at(0), &ParticipantData::new(PREFIX));
        announcer
    }

    fn destinations(announcer: &mut Announcer) -> Option<Vec<Locator>> {
        let mut datagram = Datagram::new();
        announcer.poll_transmit(&mut datagram).then(|| datagram.destinations().to_vec())
    }

    #[test]
    fn announcements_are_sent_at_0_100_ms_and_every_3_s() {
        let mut announcer = announcer(7);
        assert_eq!(destinations(&mut announcer), Some(vec![group()]));
        assert_eq!(destinations(&mut announcer), None);
        assert_eq!(announcer.deadline(), Some(at(100).instant));
        let mut last = at(100);
        announcer.handle_timeout(last);
        for _ in 0..20 {
            assert!(destinations(&mut announcer).is_some());
            let next = announcer.deadline().unwrap();
            let pause = next.since(last.instant);
            assert!((Duration::from_millis(2_700)..=Duration::from_millis(3_300)).contains(&pause), "{pause}");
            last = Now { instant: next, ..last };
            announcer.handle_timeout(last);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule() {
        let schedule = |seed| {
            let mut announcer = announcer(seed);
            announcer.handle_timeout(at(100));
            announcer.deadline()
        };
        assert_eq!(schedule(1), schedule(1));
        assert_ne!(schedule(1), schedule(2));
    }

    #[test]
    fn many_answers_need_several_datagrams() {
        let mut announcer = announcer(7);
        destinations(&mut announcer);
        let peers: Vec<Locator> = (1..=70).map(|port| Locator::udp_v4([10, 0, 0, 1].into(), port)).collect();
        announcer.announce_to(&peers);
        let mut answered = Vec::new();
        while let Some(destinations) = destinations(&mut announcer) {
            assert!(destinations.len() <= ANSWERS_PER_DATAGRAM);
            answered.extend(destinations);
        }
        assert_eq!(answered, peers);
    }

    #[test]
    fn disposal_has_key_status_and_key_hash_and_is_last() {
        let mut announcer = announcer(7);
        destinations(&mut announcer);
        let peer = Locator::udp_v4([10, 0, 0, 1].into(), 7412);
        announcer.dispose(at(50), [peer].into_iter());
        let mut datagram = Datagram::new();
        assert!(announcer.poll_transmit(&mut datagram));
        assert_eq!(datagram.destinations(), [group(), peer]);
        let mut bytes = Vec::new();
        datagram.copy_to(&mut bytes);
        let message = Message::parse(&bytes).unwrap();
        let data = message.submessages().find_map(|submessage| match submessage {
            Ok(Submessage::Data(data)) => Some(data),
            _ => None,
        });
        let data = data.unwrap();
        let guid = Guid::new(PREFIX, EntityId::PARTICIPANT);
        assert_eq!(super::super::data::guid_of_key(data.payload.bytes().unwrap()), Some(guid));
        let qos = data.inline_qos.unwrap();
        assert_eq!((qos.status_info(), qos.key_hash()), (3, Some(guid.to_bytes())));
        assert_eq!(announcer.deadline(), None);
        assert_eq!(destinations(&mut announcer), None);
    }

    #[test]
    fn announcement_to_many_peers_is_paced() {
        let peer = |number: u16| Locator::udp_v4([10, 0, (number >> 8) as u8, number as u8].into(), 7410);
        let peers: Vec<Locator> = (0..2_000).map(peer).collect();
        let mut announcer = Announcer::new(PREFIX, peers.clone(), Duration::from_secs(3), 7);
        announcer.announce(at(0), &ParticipantData::new(PREFIX));
        let mut reached = destinations(&mut announcer).unwrap();
        assert_eq!(reached.len(), AT_ONCE_MAX);
        assert_eq!(destinations(&mut announcer), None);
        let mut now = at(0);
        while reached.len() < peers.len() {
            now = Now { instant: announcer.deadline().unwrap(), ..now };
            assert!(now.instant < at(100).instant, "only {} peers are reached", reached.len());
            announcer.handle_timeout(now);
            let before = reached.len();
            while let Some(more) = destinations(&mut announcer) {
                reached.extend(more);
            }
            assert!(reached.len() - before <= PART_LEN);
        }
        assert_eq!(reached, peers);
    }

    #[test]
    fn changed_data_during_a_round_reaches_every_peer() {
        let peer = |number: u16| Locator::udp_v4([10, 0, (number >> 8) as u8, number as u8].into(), 7410);
        let peers: Vec<Locator> = (0..1_000).map(peer).collect();
        let mut announcer = Announcer::new(PREFIX, peers.clone(), Duration::from_secs(3), 7);
        announcer.announce(at(0), &ParticipantData::new(PREFIX));
        announcer.handle_timeout(at(6));
        while destinations(&mut announcer).is_some() {}
        announcer.announce(at(7), &ParticipantData::new(PREFIX));
        let mut reached = Vec::new();
        for millis in 7..80 {
            announcer.handle_timeout(at(millis));
            while let Some(more) = destinations(&mut announcer) {
                reached.extend(more);
            }
        }
        reached.sort_unstable();
        assert_eq!(reached, peers);
    }

    #[test]
    fn parts_wait_while_the_socket_takes_nothing() {
        let peers = (0..1_000).map(|port| Locator::udp_v4([10, 0, 0, 1].into(), port)).collect();
        let mut announcer = Announcer::new(PREFIX, peers, Duration::from_secs(3), 7);
        announcer.announce(at(0), &ParticipantData::new(PREFIX));
        for millis in 0..20_000 {
            announcer.handle_timeout(at(millis));
        }
        assert_eq!(announcer.answers.len(), PART_LEN);
    }

    #[test]
    fn waiting_answers_are_bounded() {
        let mut announcer = announcer(7);
        destinations(&mut announcer);
        let peer = |number: usize| Locator::udp_v4([10, 0, (number >> 8) as u8, number as u8].into(), 7410);
        let peers: Vec<Locator> = (0..ANSWERS_MAX + 10).map(peer).collect();
        announcer.announce_to(&peers[..10]);
        announcer.announce_to(&peers[10..]);
        assert_eq!(announcer.answers, &peers[..ANSWERS_MAX]);
        announcer.dispose(at(50), peers.into_iter());
        assert_eq!(announcer.answers.len(), ANSWERS_MAX);
    }
}
