//! Initial handshake with one reader, and the HEARTBEATs that it owes an answer to.
//!
//! A volatile reader takes its first HEARTBEAT as the line between earlier changes and the changes that it must
//! receive. RTPS 2.5 does not define which number of the HEARTBEAT draws that line. Cyclone DDS takes the last one:
//! with a writer of another vendor it skips all changes up to there. Samples that were lost before that HEARTBEAT are
//! then acknowledged and never delivered. The same holds for samples that arrived before the reader was ready.
//!
//! So until a reader has answered, each HEARTBEAT to it follows another one that announces no change. That one has
//! first = the first relevant sequence number, and last = first - 1. Both numbers then draw the same line, whichever
//! datagram arrives first. It is addressed to that reader, but Cyclone DDS applies it to all readers of the
//! participant. So these readers share the lowest first relevant sequence number.
//!
//! A reader of this implementation delivers no sample before a HEARTBEAT names it
//! ([`WriterProxyConfig::names_first_relevant`](crate::reader::WriterProxyConfig::names_first_relevant)). It starts
//! with the first number of that HEARTBEAT. Each such reader has its own line, and a HEARTBEAT to it alone needs no
//! other one in front. The writer delays this HEARTBEAT while irrelevant changes wait to be sent. The reader would
//! accept those it receives at a shared locator, and the writer would not repair the others.

use crate::types::{Duration, Instant, SequenceNumber};
use crate::writer::heartbeat::{BACKOFF_MAX, PATIENCE};

/// Most handshakes in a datagram with samples. Each takes 48 bytes of the space left for headers.
pub(crate) const HANDSHAKES_BESIDE_SAMPLES_MAX: usize = 4;

/// Most handshakes in a datagram without samples: 48 000 bytes. More readers than that would have to match within one
/// RTT.
pub(crate) const HANDSHAKES_MAX: usize = 1000;

/// Datagrams with samples that carry a HEARTBEAT for silent readers, counted from the latest match.
const HELPS_MAX: u32 = 200;

/// Progress of the initial handshake with a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// The reader has never answered, and needs the handshake.
    Unheard,
    /// The reader has never answered. It is best effort or requests the history by itself, so it needs no handshake.
    NotNeeded,
    /// The reader knows the writer, and does not know its first relevant sequence number.
    Heard,
    /// The reader has answered a HEARTBEAT, or requests the history by itself.
    Synced,
}

impl Handshake {
    /// Returns the state of a reader that has just matched.
    pub(crate) fn new(is_needed: bool) -> Self {
        if is_needed { Self::Unheard } else { Self::NotNeeded }
    }

    /// Returns whether the reader has sent an ACKNACK.
    #[inline]
    pub(crate) fn is_heard(self) -> bool {
        matches!(self, Self::Heard | Self::Synced)
    }

    /// Returns whether the reader knows its first relevant sequence number, or needs not know it.
    #[inline]
    pub(crate) fn is_complete(self) -> bool {
        matches!(self, Self::NotNeeded | Self::Synced)
    }

    /// Notes an ACKNACK. `is_synced`: it completes the handshake. Otherwise the reader may have lost its state.
    pub(crate) fn note_answer(&mut self, is_synced: bool) {
        *self = if is_synced { Self::Synced } else { Self::Heard };
    }

    /// Completes the handshake without an answer.
    pub(crate) fn complete(&mut self) {
        *self = match *self {
            Self::Unheard | Self::NotNeeded => Self::NotNeeded,
            Self::Heard | Self::Synced => Self::Synced,
        }
    }
}

/// HEARTBEAT that the next datagram for one reader carries for it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwedHeartbeat {
    None,
    /// It answers a pre-emptive ACKNACK, and requires no answer.
    Final,
    /// The reader must answer unless it has all changes.
    Required,
    /// The reader must answer.
    Question,
}

impl OwedHeartbeat {
    /// Returns whether a HEARTBEAT is owed.
    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self != Self::None
    }

    /// Owes a HEARTBEAT.
    pub(crate) fn owe(&mut self) {
        if *self == Self::None {
            *self = Self::Required;
        }
    }
}

/// HEARTBEATs to one reader since its last answer.
#[derive(Debug)]
pub(crate) struct AnswerRequest {
    /// Time and last sequence number of the latest HEARTBEAT.
    at: Option<Instant>,
    through: SequenceNumber,
    /// HEARTBEATs since the last answer.
    unanswered: u32,
}

impl AnswerRequest {
    pub(crate) const fn new() -> Self {
        Self { at: None, through: SequenceNumber::ZERO, unanswered: 0 }
    }

    /// Notes a HEARTBEAT up to `through`.
    pub(crate) fn note_heartbeat(&mut self, now: Instant, through: SequenceNumber) {
        self.at = Some(now);
        self.through = through;
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// Notes an answer.
    pub(crate) fn note_answer(&mut self) {
        self.unanswered = 0;
    }

    /// Returns whether the timer may send a HEARTBEAT to a reader that owes an answer up to `last`.
    ///
    /// The timer fires every `period`, and more often if there are many readers. Each HEARTBEAT slows a busy machine
    /// down further. So a repeated HEARTBEAT waits until the reader had time to answer.
    pub(crate) fn may_repeat(&self, now: Instant, last: SequenceNumber, period: Duration) -> bool {
        // The reader has not been asked for the newest changes yet, so this is no repetition.
        if self.through < last {
            return true;
        }
        let Some(at) = self.at else { return true };
        // The pause doubles only after the first few unanswered HEARTBEATs.
        let doubled = self.unanswered.saturating_sub(PATIENCE).min(BACKOFF_MAX);
        now.since(at) >= period.scale(1 << doubled, 2)
    }

    /// Returns whether the reader has answered one of the last few HEARTBEATs.
    pub(crate) fn is_answered(&self) -> bool {
        self.unanswered <= PATIENCE
    }

    /// Returns whether the reader received a HEARTBEAT a moment ago and is about to answer.
    pub(crate) fn is_recent(&self, now: Instant, period: Duration) -> bool {
        match self.at {
            Some(at) => self.unanswered > 0 && now.since(at) < period.scale(1, 8),
            None => false,
        }
    }
}

/// Counts of the readers with an open handshake, cached for each datagram of samples.
#[derive(Debug, Default)]
pub(crate) struct HandshakeCounts {
    /// Number of awaited reliable readers that never answered.
    pub(crate) unheard: usize,
    /// Number of reliable readers whose handshake is incomplete.
    pub(crate) incomplete: usize,
    /// Number of datagrams with samples that may still carry a HEARTBEAT for readers that never answered.
    helps_left: u32,
}

impl HandshakeCounts {
    /// Replaces the counts.
    pub(crate) fn set(&mut self, unheard: usize, incomplete: usize) {
        // Another reader waits for its first HEARTBEAT, so help starts again.
        if unheard + incomplete > self.unheard + self.incomplete {
            self.helps_left = HELPS_MAX;
        }
        (self.unheard, self.incomplete) = (unheard, incomplete);
    }

    /// Adds a reader that has just matched.
    pub(crate) fn add(&mut self, is_unheard: bool, is_incomplete: bool) {
        self.unheard += usize::from(is_unheard);
        self.incomplete += usize::from(is_incomplete);
        // A new reader waits for its first HEARTBEAT, so help starts again.
        self.helps_left = HELPS_MAX;
    }

    /// Returns whether this datagram with samples should carry a HEARTBEAT.
    ///
    /// It reaches readers without an answer or a handshake soonest. The number is limited: all other readers must
    /// answer too, and some readers never answer.
    pub(crate) fn take_help(&mut self) -> bool {
        let is_useful = (1..=HANDSHAKES_BESIDE_SAMPLES_MAX).contains(&self.incomplete) || self.unheard > 0;
        if !is_useful || self.helps_left == 0 {
            return false;
        }
        self.helps_left -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    #[test]
    fn handshake_is_complete_after_answer_to_heartbeat() {
        let mut handshake = Handshake::new(true);
        assert!(!handshake.is_heard() && !handshake.is_complete());
        handshake.note_answer(false);
        assert!(handshake.is_heard() && !handshake.is_complete(), "a pre-emptive ACKNACK knows no HEARTBEAT");
        handshake.note_answer(true);
        assert_eq!(handshake, Handshake::Synced);
        // A reader that lost its state starts again.
        handshake.note_answer(false);
        assert_eq!(handshake, Handshake::Heard);
        handshake.complete();
        assert_eq!(handshake, Handshake::Synced);
    }

    #[test]
    fn handshake_of_history_reader_is_not_needed() {
        let mut handshake = Handshake::new(false);
        assert!(!handshake.is_heard() && handshake.is_complete());
        handshake.complete();
        assert_eq!(handshake, Handshake::NotNeeded);
    }

    #[test]
    fn final_heartbeat_stays_final_when_owed_again() {
        let mut owed = OwedHeartbeat::Final;
        owed.owe();
        assert_eq!(owed, OwedHeartbeat::Final);
        owed = OwedHeartbeat::None;
        owed.owe();
        assert_eq!(owed, OwedHeartbeat::Required);
    }

    #[test]
    fn repeated_heartbeat_waits_longer_after_each_silence() {
        let mut request = AnswerRequest::new();
        let period = Duration::from_millis(100);
        assert!(request.may_repeat(at(0), SequenceNumber::ZERO, period), "no HEARTBEAT was sent yet");
        let mut pauses = Vec::new();
        for _ in 0..8 {
            request.note_heartbeat(at(0), SequenceNumber(5));
            assert!(request.may_repeat(at(0), SequenceNumber(6), period), "a new change is announced at once");
            let pause = (0..1000).find(|&ms| request.may_repeat(at(ms), SequenceNumber(5), period));
            pauses.push(pause.unwrap());
        }
        assert_eq!(pauses, [50, 50, 50, 100, 200, 400, 400, 400]);
        assert!(request.is_recent(at(12), period) && !request.is_recent(at(13), period));
        request.note_answer();
        assert!(!request.is_recent(at(0), period));
    }

    #[test]
    fn heartbeats_for_silent_readers_are_bounded_until_next_match() {
        let mut counts = HandshakeCounts::default();
        assert!(!counts.take_help());
        counts.add(true, true);
        let helps = (0..1000).filter(|_| counts.take_help()).count();
        assert_eq!(helps, HELPS_MAX as usize);
        counts.add(true, true);
        assert!(counts.take_help());
        counts.set(0, 0);
        assert!(!counts.take_help());
    }
}
