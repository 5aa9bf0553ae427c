//! Bounds how often this participant announces its endpoints again, because a peer ignores the earlier announcements.
//!
//! In: topics whose announcements a peer ignores since its challenge. Out: the topics to announce again now.
//!
//! Anyone can announce another address again and again, and answer the challenges to it. Each time, all peers would get
//! all announcements. The first repetitions go at once. Beyond the budget, one repetition serves all peers that wait.

use super::validation::Topics;
use crate::discovery::BuiltinPairTopic;
use crate::types::Instant;

/// Repetitions at once. Several hosts may change their networks at the same time.
const AT_ONCE: u64 = 8;

/// Pause between the others, in nanoseconds.
const PAUSE: u64 = 1_000_000_000;

/// The budget, and the topics that wait for it.
#[derive(Debug, Default)]
pub(super) struct Republications {
    waiting: Topics,
    /// When the budget is whole again, in nanoseconds.
    full_at: u64,
}

impl Republications {
    /// Notes that a peer ignores the earlier announcements of a topic.
    pub(super) fn request(&mut self, topic: BuiltinPairTopic) {
        self.waiting.insert(topic);
    }

    /// Returns when topics that wait may be announced.
    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.waiting == Topics::default() {
            return None;
        }
        Some(Instant::from_nanos(self.full_at.saturating_sub(PAUSE * (AT_ONCE - 1))))
    }

    /// Takes the topics to announce now.
    pub(super) fn take(&mut self, now: Instant) -> Topics {
        if self.deadline().is_none_or(|deadline| deadline > now) {
            return Topics::default();
        }
        self.full_at = self.full_at.max(now.as_nanos()).saturating_add(PAUSE);
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_budget_wait_for_each_other() {
        let mut republications = Republications::default();
        let mut taken = Vec::new();
        for ms in 0..4_500 {
            let now = Instant::from_nanos(1_000_000_000 + ms * 1_000_000);
            if ms < 3_000 {
                republications.request(BuiltinPairTopic::Publications);
            }
            if republications.take(now).contains(BuiltinPairTopic::Publications) {
                taken.push(ms);
            }
        }
        assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6, 7, 1_000, 2_000, 3_000]);
        assert_eq!(republications.deadline(), None);
    }
}
