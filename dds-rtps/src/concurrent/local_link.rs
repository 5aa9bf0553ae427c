//! What a writer and a reader of the same process tell each other about reliability.
//!
//! Samples go from the writer's history straight into the reader's; what comes back is two numbers. They are atomics,
//! not mail: only the newest value counts, so nothing can queue up, and neither side enters the other.

use super::sync::{AtomicI64, Ordering, then_look};
use crate::types::SequenceNumber;

/// Nobody has asked for anything. Sequence numbers begin at 1.
const NO_REQUEST: i64 = 0;

/// Shared by one writer and one reader of the same process.
///
/// Life cycle: made when the two match, dropped when both have unmatched.
#[derive(Debug)]
pub struct LocalLink {
    acknowledged: AtomicI64,
    requested_from: AtomicI64,
    given_up_before: AtomicI64,
}

impl LocalLink {
    /// A link on which nothing has been acknowledged or asked for.
    #[must_use]
    pub fn new() -> Self {
        Self {
            acknowledged: AtomicI64::new(0),
            requested_from: AtomicI64::new(NO_REQUEST),
            given_up_before: AtomicI64::new(0),
        }
    }

    /// The reader has accepted everything up to `sequence_number`. Never goes back.
    pub fn acknowledge(&self, sequence_number: SequenceNumber) {
        // Sequentially consistent, so that a writer that begins to wait and looks here, and a reader that acknowledges and
        // then looks whether the writer waits, cannot both miss the other.
        self.acknowledged.fetch_max(sequence_number.0, Ordering::SeqCst);
        then_look();
    }

    /// Up to where the reader has accepted everything.
    #[must_use]
    pub fn acknowledged(&self) -> SequenceNumber {
        SequenceNumber(self.acknowledged.load(Ordering::SeqCst))
    }

    /// The reader had no room, and has some now: it wants everything from `sequence_number` on. The lowest request stands.
    pub fn request_from(&self, sequence_number: SequenceNumber) {
        let lower = |standing| (standing == NO_REQUEST || sequence_number.0 < standing).then_some(sequence_number.0);
        // An error says that a lower request stands already: nothing to do.
        let _ = self.requested_from.fetch_update(Ordering::AcqRel, Ordering::Acquire, lower);
    }

    /// The writer could not keep for the reader what it has not handed over of what lies before `sequence_number`: that is
    /// lost. Never goes back.
    pub fn give_up_before(&self, sequence_number: SequenceNumber) {
        self.given_up_before.fetch_max(sequence_number.0, Ordering::AcqRel);
    }

    /// Up to before which number the reader has lost what it was not handed.
    #[must_use]
    pub fn given_up_before(&self) -> SequenceNumber {
        SequenceNumber(self.given_up_before.load(Ordering::Acquire))
    }

    /// Takes the standing request, if there is one.
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
    fn acknowledgement_never_goes_back() {
        let link = LocalLink::new();
        assert_eq!(link.acknowledged(), SequenceNumber::ZERO);
        link.acknowledge(SequenceNumber(7));
        link.acknowledge(SequenceNumber(3));
        assert_eq!(link.acknowledged(), SequenceNumber(7));
    }

    #[test]
    fn the_lowest_request_stands_and_is_taken_once() {
        let link = LocalLink::new();
        assert_eq!(link.take_request(), None);
        link.request_from(SequenceNumber(9));
        link.request_from(SequenceNumber(4));
        link.request_from(SequenceNumber(6));
        assert_eq!(link.take_request(), Some(SequenceNumber(4)));
        assert_eq!(link.take_request(), None);
    }
}
