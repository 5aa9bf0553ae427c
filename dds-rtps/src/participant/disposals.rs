//! Remembers disposed participants, so that a late announcement does not bring one back.

use crate::types::{Duration, GuidPrefix, Instant, SequenceNumber};
use std::collections::VecDeque;
use std::net::IpAddr;

/// How long a disposal is remembered. An announcement may arrive after it, by another path or socket, but not a whole
/// period late. A participant that reuses a prefix is discovered again after this time. The standard forbids reuse,
/// but containers cause it.
const REMEMBERED_FOR: Duration = Duration::from_secs(3);

/// Most remembered disposals; the oldest is forgotten first. This is the number of participants known at a time.
const REMEMBERED_MAX: usize = 1_024;

/// Disposed participants, with the sequence number of the disposal.
#[derive(Debug, Default)]
pub(super) struct Disposals {
    /// In the order of their arrival.
    last: VecDeque<Disposal>,
}

#[derive(Debug)]
struct Disposal {
    prefix: GuidPrefix,
    sequence_number: SequenceNumber,
    at: Instant,
    /// Sender of a disposal that nothing confirms. Only late announcements from there are ignored.
    doubted: Option<IpAddr>,
}

impl Disposals {
    /// Adds a disposal. `doubted`: the sender, if the participant is unknown. Returns true if another one was forgotten
    /// early to make room.
    pub(super) fn insert(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        sequence_number: SequenceNumber,
        doubted: Option<IpAddr>,
    ) -> bool {
        self.last.retain(|disposal| !disposal.is_old(now));
        // A copy of a confirmed disposal arrives once the participant is unknown.
        let is_confirmed = |disposal: &Disposal| disposal.prefix == prefix && disposal.doubted.is_none();
        if doubted.is_some() && self.last.iter().any(is_confirmed) {
            return false;
        }
        self.last.retain(|disposal| disposal.prefix != prefix);
        let is_full = self.last.len() == REMEMBERED_MAX;
        if is_full {
            self.last.pop_front();
        }
        debug_assert!(self.last.len() < REMEMBERED_MAX, "the memory of disposals is bounded");
        self.last.push_back(Disposal { prefix, sequence_number, at: now, doubted });
        is_full
    }

    /// Whether an announcement with this sequence number was sent before the participant's disposal.
    pub(super) fn is_late(
        &self,
        now: Instant,
        prefix: GuidPrefix,
        sequence_number: SequenceNumber,
        sender: Option<IpAddr>,
    ) -> bool {
        for disposal in &self.last {
            if disposal.prefix == prefix && !disposal.is_old(now) {
                // An unknown peer must not keep out a participant that is not known yet.
                let concerns_sender = disposal.doubted.is_none() || disposal.doubted == sender;
                return concerns_sender && sequence_number <= disposal.sequence_number;
            }
        }
        false
    }
}

impl Disposal {
    fn is_old(&self, now: Instant) -> bool {
        now.since(self.at) > REMEMBERED_FOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn announcement_before_disposal_is_late() {
        let (prefix, mut disposals) = (GuidPrefix([1; 12]), Disposals::default());
        disposals.insert(at(1), prefix, SequenceNumber(5), None);
        assert!(disposals.is_late(at(2), prefix, SequenceNumber(5), None));
        assert!(!disposals.is_late(at(2), prefix, SequenceNumber(6), None), "it has come back");
        assert!(!disposals.is_late(at(2), GuidPrefix([2; 12]), SequenceNumber(5), None));
        assert!(!disposals.is_late(at(5), prefix, SequenceNumber(5), None));
    }

    #[test]
    fn doubted_disposal_concerns_only_its_sender() {
        let (prefix, mut disposals) = (GuidPrefix([1; 12]), Disposals::default());
        let [stranger, own] = [Some([10, 0, 0, 9].into()), Some([10, 0, 0, 1].into())];
        disposals.insert(at(1), prefix, SequenceNumber(5), stranger);
        assert!(disposals.is_late(at(2), prefix, SequenceNumber(5), stranger));
        assert!(!disposals.is_late(at(2), prefix, SequenceNumber(5), own));
    }

    #[test]
    fn confirmed_disposal_is_not_replaced_by_a_doubted_one() {
        let (prefix, mut disposals) = (GuidPrefix([1; 12]), Disposals::default());
        disposals.insert(at(1), prefix, SequenceNumber(5), None);
        disposals.insert(at(1), prefix, SequenceNumber(1), Some([10, 0, 0, 9].into()));
        assert!(disposals.is_late(at(2), prefix, SequenceNumber(5), None));
    }

    #[test]
    fn memory_is_bounded_and_old_entries_go() {
        let mut disposals = Disposals::default();
        for number in 0..2_000_u32 {
            let mut prefix = [0; 12];
            prefix[..4].copy_from_slice(&number.to_le_bytes());
            let forgets = disposals.insert(at(1), GuidPrefix(prefix), SequenceNumber(1), None);
            assert_eq!(forgets, number as usize >= REMEMBERED_MAX);
        }
        assert_eq!(disposals.last.len(), REMEMBERED_MAX);
        disposals.insert(at(9), GuidPrefix([1; 12]), SequenceNumber(1), None);
        assert_eq!(disposals.last.len(), 1);
    }
}
