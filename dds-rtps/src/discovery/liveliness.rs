//! Participant messages: they assert the liveliness of writers (RTPS 2.5, 8.4.13.5; bytes as Cyclone DDS and Fast DDS
//! send them).
//!
//! ```text
//! 0   encapsulation: CDR
//! 4   guidPrefix            12 bytes
//! 16  kind                  4 octets, the same in either byte order: 00 00 00 01 automatic, 00 00 00 02 manual
//! 20  data                  sequence of octets, without meaning
//! ```

use crate::concurrent::AssertionClock;
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant};
use std::sync::Arc;

/// Asserts that a participant's writers of one kind are alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParticipantMessage {
    /// The participant.
    pub prefix: GuidPrefix,
    /// Automatic, or manual by participant.
    pub kind: LivelinessKind,
}

const CDR_LE: [u8; 4] = [0, 1, 0, 0];
const AUTOMATIC: [u8; 4] = [0, 0, 0, 1];
const MANUAL_BY_PARTICIPANT: [u8; 4] = [0, 0, 0, 2];

impl ParticipantMessage {
    /// Decodes a payload; `None` if it is too short or of an unknown kind.
    #[must_use]
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let (_encapsulation, rest) = payload.split_first_chunk::<4>()?;
        let (prefix, rest) = rest.split_first_chunk::<12>()?;
        let kind = match *rest.first_chunk::<4>()? {
            AUTOMATIC => LivelinessKind::Automatic,
            MANUAL_BY_PARTICIPANT => LivelinessKind::ManualByParticipant,
            _ => return None,
        };
        Some(Self { prefix: GuidPrefix(*prefix), kind })
    }

    /// Encodes the payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        // One octet of data and its padding, as Cyclone DDS sends it.
        [&CDR_LE[..], &self.prefix.0, &self.kind_octets(), &[1, 0, 0, 0], &[0, 0, 0, 0]].concat()
    }

    /// Returns the instance: prefix and kind.
    #[must_use]
    pub fn instance(&self) -> InstanceHandle {
        InstanceHandle::from(Guid::new(self.prefix, EntityId(self.kind_octets())))
    }

    const fn kind_octets(&self) -> [u8; 4] {
        match self.kind {
            LivelinessKind::Automatic => AUTOMATIC,
            // A writer that is manual by topic asserts itself by a HEARTBEAT, so it has no message.
            _ => MANUAL_BY_PARTICIPANT,
        }
    }
}

/// Schedule of the assertions of this participant's automatic writers.
///
/// The period is half of the shortest lease: one message may be lost, and its repair arrives long before the lease
/// ends.
#[derive(Debug, Default)]
pub struct AssertionSchedule {
    period: Option<Duration>,
    next: Option<Instant>,
    /// When the last assertion was made.
    last: Option<Instant>,
}

impl AssertionSchedule {
    /// Sets the local writers. If the period becomes shorter, the next assertion is due at once.
    pub fn set_writers<'a>(&mut self, now: Instant, writers: impl Iterator<Item = &'a Liveliness>) {
        let period = period_of(LivelinessKind::Automatic, 2, writers);
        match (self.period, period) {
            (_, None) => (self.next, self.last) = (None, None),
            (Some(before), Some(period)) if before <= period => {}
            // A new commitment cannot have been broken before.
            _ => (self.next, self.last) = (Some(now), None),
        }
        self.period = period;
    }

    /// Returns when the next assertion is due.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// If an assertion is due, schedules the next one, and returns the time since the last one.
    pub fn take_due(&mut self, now: Instant) -> Option<Duration> {
        if self.next? > now {
            return None;
        }
        // From now on, not from the planned time: late assertions do not come in bursts.
        self.next = now.after(self.period?);
        // Without an earlier assertion there is no silence to report.
        let last = self.last.replace(now).unwrap_or(now);
        Some(now.since(last))
    }

    /// Whether an assertion after this much silence renews every lease in time.
    #[must_use]
    pub fn is_in_time(&self, silence: Duration) -> bool {
        match self.period {
            // The period is half of the shortest lease.
            Some(period) => silence < period.scale(2, 1),
            None => true,
        }
    }
}

/// Schedule of the assertions of writers that are manual by participant.
///
/// The application may assert with each of a million samples. The participant announces an assertion at once if it
/// announced none for a quarter of the shortest lease, and otherwise when that quarter ends. So its messages are never
/// further apart than the application's assertions or that quarter, whichever is longer. A peer detects the silence of
/// the application at most a quarter of the lease late.
#[derive(Debug)]
pub struct ManualSchedule {
    assertion_clock: Arc<AssertionClock>,
    period: Option<Duration>,
    /// Last announced assertion.
    announced: Instant,
    /// Peers need no further message before this time.
    until: Option<Instant>,
}

impl ManualSchedule {
    /// Creates a schedule without writers. The application's assertions are noted in `assertion_clock`.
    #[must_use]
    pub fn new(assertion_clock: Arc<AssertionClock>) -> Self {
        Self { assertion_clock, period: None, announced: Instant::ZERO, until: None }
    }

    /// Sets the local writers.
    pub fn set_writers<'a>(&mut self, writers: impl Iterator<Item = &'a Liveliness>) {
        let period = period_of(LivelinessKind::ManualByParticipant, 4, writers);
        if period != self.period {
            self.period = period;
            self.until = None;
            // Without such writers, no assertion concerns this schedule.
            let from = if period.is_some() { Some(Instant::ZERO) } else { None };
            self.assertion_clock.notify_from(from);
        }
    }

    /// Returns when to call [`ManualSchedule::is_due`], unless the assertion_clock calls before.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.until
    }

    /// Whether a message to the peers is due now.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let Some(period) = self.period else { return false };
        // A deadline may be early. Until then the last message is enough for every peer.
        if self.until.is_some_and(|until| until > now) {
            return false;
        }
        if self.assertion_clock.last() <= self.announced {
            self.until = None;
            self.assertion_clock.notify_from(Some(Instant::ZERO));
            // An assertion may have arrived just before the schedule requested the next call of the assertion clock.
            if self.assertion_clock.last() <= self.announced {
                return false;
            }
        }
        self.announced = self.assertion_clock.last();
        self.until = now.after(period);
        self.assertion_clock.notify_from(self.until);
        true
    }
}

/// The schedules of one participant, for both kinds of writers.
#[derive(Debug)]
pub struct LivelinessSchedules {
    /// For automatic writers.
    pub automatic: AssertionSchedule,
    /// For writers that are manual by participant.
    pub manual: ManualSchedule,
}

impl LivelinessSchedules {
    /// Creates schedules without writers. The application's assertions are noted in `assertion_clock`.
    #[must_use]
    pub fn new(assertion_clock: Arc<AssertionClock>) -> Self {
        Self { automatic: AssertionSchedule::default(), manual: ManualSchedule::new(assertion_clock) }
    }
}

/// Returns a fraction of the shortest lease of the writers of a kind; `None` if none of them has a lease.
fn period_of<'a>(kind: LivelinessKind, part: u32, writers: impl Iterator<Item = &'a Liveliness>) -> Option<Duration> {
    let mut shortest: Option<Duration> = None;
    for liveliness in writers {
        let lease = liveliness.lease_duration;
        if liveliness.kind == kind && !lease.is_infinite() {
            shortest = match shortest {
                Some(shortest) => Some(shortest.min(lease)),
                None => Some(lease),
            };
        }
    }
    // A lease of a few nanoseconds must not occupy the participant with assertions.
    Some(shortest?.scale(1, part).max(Duration::from_millis(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participant_message_has_the_bytes_of_cyclone() {
        let prefix = GuidPrefix([1, 0x10, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let message = ParticipantMessage { prefix, kind: LivelinessKind::Automatic };
        let bytes = message.encode();
        assert_eq!(bytes[..4], [0, 1, 0, 0]);
        assert_eq!(bytes[4..16], prefix.0);
        assert_eq!(bytes[16..25], [0, 0, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(ParticipantMessage::decode(&bytes), Some(message));
        let manual = ParticipantMessage { kind: LivelinessKind::ManualByParticipant, ..message };
        assert_eq!(manual.encode()[16..20], [0, 0, 0, 2]);
        assert_eq!(ParticipantMessage::decode(&manual.encode()), Some(manual));
    }

    #[test]
    fn unknown_and_truncated_messages_are_ignored() {
        let message = ParticipantMessage { prefix: GuidPrefix([1; 12]), kind: LivelinessKind::ManualByParticipant };
        let mut bytes = message.encode();
        assert_eq!(ParticipantMessage::decode(&bytes[..19]), None);
        bytes[19] = 9;
        assert_eq!(ParticipantMessage::decode(&bytes), None);
    }

    #[test]
    fn assertions_are_due_at_half_the_shortest_lease() {
        let lease = |kind, millis| Liveliness { kind, lease_duration: Duration::from_millis(millis) };
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let writers = [
            lease(LivelinessKind::Automatic, 400),
            lease(LivelinessKind::Automatic, 1_000),
            lease(LivelinessKind::ManualByTopic, 10),
            Liveliness::default(),
        ];
        let mut schedule = AssertionSchedule::default();
        schedule.set_writers(at(0), writers.iter());
        assert_eq!(schedule.take_due(at(0)), Some(Duration::ZERO));
        assert_eq!(schedule.deadline(), Some(at(200)));
        schedule.set_writers(at(40), writers.iter());
        assert_eq!(schedule.deadline(), Some(at(200)), "the same lease as before");
        assert!(schedule.is_in_time(Duration::from_millis(399)) && !schedule.is_in_time(Duration::from_millis(400)));
        schedule.set_writers(at(50), writers[1..].iter());
        assert_eq!(schedule.take_due(at(199)), None);
        assert_eq!(schedule.take_due(at(200)), Some(Duration::from_millis(200)));
        assert_eq!(schedule.deadline(), Some(at(700)));
        schedule.set_writers(at(690), writers.iter());
        assert_eq!(schedule.take_due(at(690)), Some(Duration::ZERO), "a shorter lease begins with its writer");
        schedule.set_writers(at(300), writers[2..].iter());
        assert_eq!(schedule.deadline(), None);
        assert!(schedule.is_in_time(Duration::from_secs(1_000)), "no writer has a lease");
    }

    #[test]
    fn manual_assertions_are_sent_at_most_four_times_a_lease() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let manual =
            Liveliness { kind: LivelinessKind::ManualByParticipant, lease_duration: Duration::from_millis(400) };
        let assertion_clock = Arc::new(AssertionClock::new());
        let mut schedule = ManualSchedule::new(Arc::clone(&assertion_clock));
        assert!(!assertion_clock.assert(at(1)) && !schedule.is_due(at(1)));
        schedule.set_writers([manual].iter());
        assert!(assertion_clock.assert(at(10)) && schedule.is_due(at(10)));
        assert!(!assertion_clock.assert(at(11)) && !schedule.is_due(at(11)));
        assert_eq!(schedule.deadline(), Some(at(110)));
        assert!(schedule.is_due(at(110)), "the assertion at 11");
        assert!(!schedule.is_due(at(210)), "no assertion since");
        assert_eq!(schedule.deadline(), None);
        assert!(assertion_clock.assert(at(600)) && schedule.is_due(at(600)));
        schedule.set_writers([].iter());
        assert!(!assertion_clock.assert(at(2_000)) && !schedule.is_due(at(2_000)));
    }
}
