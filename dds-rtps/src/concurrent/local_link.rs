//! Reliability between a writer and a reader of the same participant.
//!
//! Samples go from the writer directly into the reader history. The reader answers with an acknowledgment and a
//! request, both sequence numbers. They are atomics and not mail: only the newest value counts, so nothing can pile up,
//! and neither side enters the state of the other.

use super::sync::{AtomicI64, Ordering, fence_before_read};
use crate::types::SequenceNumber;

/// No request. Sequence numbers start at 1.
const NO_REQUEST: i64 = 0;

/// The state that a writer and a reader of the same participant share.
///
/// Life cycle: created when the two match, dropped when both have unmatched.
#[derive(Debug)]
pub struct LocalLink {
    acknowledged: AtomicI64,
    requested_from: AtomicI64,
    given_up_before: AtomicI64,
}

impl LocalLink {
    /// A link without acknowledgment and request.
    #[must_use]
    pub fn new() -> Self {
        Self {
            acknowledged: AtomicI64::new(0),
            requested_from: AtomicI64::new(NO_REQUEST),
            given_up_before: AtomicI64::new(0),
        }
    }

    /// The reader acknowledges all samples up to `sequence_number`. Never goes back.
    pub fn acknowledge(&self, sequence_number: SequenceNumber) {
        // Sequentially consistent: a writer starts to wait and then reads this. A reader writes this and then checks
        // whether the writer waits. At least one of them sees the other.
        self.acknowledged.fetch_max(sequence_number.0, Ordering::SeqCst);
        fence_before_read();
    }

    /// The sequence number up to which the reader has acknowledged.
    #[must_use]
    pub fn acknowledged(&self) -> SequenceNumber {
        SequenceNumber(self.acknowledged.load(Ordering::SeqCst))
    }

    /// The reader, which was full, requests all samples from `sequence_number` on. The lowest request wins.
    pub fn request_from(&self, sequence_number: SequenceNumber) {
        let lower = |requested| {
            if requested == NO_REQUEST || sequence_number.0 < requested { Some(sequence_number.0) } else { None }
        };
        // An error means that a lower request is pending.
        let _ = self.requested_from.fetch_update(Ordering::AcqRel, Ordering::Acquire, lower);
    }

    /// The writer removed samples before `sequence_number` that it had not handed over. They are lost. Never goes back.
    pub fn give_up_before(&self, sequence_number: SequenceNumber) {
        self.given_up_before.fetch_max(sequence_number.0, Ordering::AcqRel);
    }

    /// Samples before this sequence number that the reader has not received are lost.
    #[must_use]
    pub fn given_up_before(&self) -> SequenceNumber {
        SequenceNumber(self.given_up_before.load(Ordering::Acquire))
    }

    /// Takes the pending request, if there is one.
    pub fn take_request(&self) -> Option<SequenceNumber> {
        match self.requested_from.swap(NO_REQUEST, Ordering::AcqRel) {
            NO_REQUEST => None,
            number => Some(SequenceNumber(number)),
        }
    }
}

impl Default for LocalLink {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    #[test]
    fn acknowledgment_never_goes_back() {
        let link = LocalLink::new();
        assert_eq!(link.acknowledged(), SequenceNumber::ZERO);
        link.acknowledge(SequenceNumber(7));
        link.acknowledge(SequenceNumber(3));
        assert_eq!(link.acknowledged(), SequenceNumber(7));
    }

    #[test]
    fn lowest_request_wins_and_is_taken_once() {
        let link = LocalLink::new();
        assert_eq!(link.take_request(), None);
        link.request_from(SequenceNumber(9));
        link.request_from(SequenceNumber(4));
        link.request_from(SequenceNumber(6));
        assert_eq!(link.take_request(), Some(SequenceNumber(4)));
        assert_eq!(link.take_request(), None);
    }
}
