//! Participant messages: how a participant shows that its writers are alive (RTPS 2.5, 8.4.13.5; bytes as Cyclone DDS and
//! Fast DDS send them).
//!
//! ```text
//! 0   encapsulation: CDR
//! 4   guidPrefix            12 bytes
//! 16  kind                  4 octets, the same in either byte order: 00 00 00 01 automatic, 00 00 00 02 manual
//! 20  data                  sequence of octets, without meaning
//! ```

use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant};

/// Says that a participant's writers of one kind are alive.
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
    /// Reads a payload. `None`: it is too short, or of a kind that we do not know.
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

    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        // One octet of data, as Cyclone DDS sends it, and its padding.
        [&CDR_LE[..], &self.prefix.0, &self.kind_octets(), &[1, 0, 0, 0], &[0, 0, 0, 0]].concat()
    }

    /// The key: prefix and kind.
    #[must_use]
    pub fn instance(&self) -> InstanceHandle {
        InstanceHandle::from_guid(Guid::new(self.prefix, EntityId(self.kind_octets())))
    }

    const fn kind_octets(&self) -> [u8; 4] {
        match self.kind {
            LivelinessKind::Automatic => AUTOMATIC,
            _ => MANUAL_BY_PARTICIPANT,
        }
    }
}

/// When to show that this participant's automatic writers are alive.
///
/// Half of the shortest lease: one message may be lost, and its repair comes long before the lease ends.
#[derive(Debug, Default)]
pub struct AssertionSchedule {
    period: Option<Duration>,
    next: Option<Instant>,
}

impl AssertionSchedule {
    /// The local writers are now these. The next assertion is due at once if the period has become shorter.
    pub fn set_writers<'a>(&mut self, now: Instant, writers: impl Iterator<Item = &'a Liveliness>) {
        let leases = writers
            .filter(|liveliness| liveliness.kind == LivelinessKind::Automatic)
            .map(|liveliness| liveliness.lease_duration)
            .filter(|lease| !lease.is_infinite());
        let period = leases.min().map(|lease| lease.scale(1, 2).max(Duration::from_millis(1)));
        match (self.period, period) {
            (_, None) => self.next = None,
            (Some(before), Some(period)) if before <= period => {}
            _ => self.next = Some(now),
        }
        self.period = period;
    }

    /// When the next assertion is due.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Whether an assertion is due; the next one is scheduled then.
    pub fn is_due(&mut self, now: Instant) -> bool {
        if self.next.is_none_or(|next| next > now) {
            return false;
        }
        self.next = self.period.and_then(|period| now.after(period));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_bytes_that_cyclone_sends() {
        let prefix = GuidPrefix([1, 0x10, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let message = ParticipantMessage { prefix, kind: LivelinessKind::Automatic };
        let bytes = message.encode();
        assert_eq!(bytes[..4], [0, 1, 0, 0]);
        assert_eq!(bytes[4..16], prefix.0);
        assert_eq!(bytes[16..25], [0, 0, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!(ParticipantMessage::decode(&bytes), Some(message));
    }

    #[test]
    fn unknown_kinds_and_stumps_mean_nothing() {
        let message = ParticipantMessage { prefix: GuidPrefix([1; 12]), kind: LivelinessKind::ManualByParticipant };
        let mut bytes = message.encode();
        assert_eq!(ParticipantMessage::decode(&bytes[..19]), None);
        bytes[19] = 9;
        assert_eq!(ParticipantMessage::decode(&bytes), None);
    }

    #[test]
    fn assertions_come_at_half_the_shortest_automatic_lease() {
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
        assert!(schedule.is_due(at(0)));
        assert_eq!(schedule.deadline(), Some(at(200)));
        schedule.set_writers(at(50), writers[1..].iter());
        assert!(!schedule.is_due(at(199)));
        assert!(schedule.is_due(at(200)));
        assert_eq!(schedule.deadline(), Some(at(700)));
        schedule.set_writers(at(300), writers[2..].iter());
        assert_eq!(schedule.deadline(), None);
    }
}
