//! Position in the stream that all readers receive.

use super::batch::SendBatch;
use crate::types::{Duration, SequenceNumber};
use crate::writer::congestion::StreamPosition;

/// Next change to send to all readers, and the changes that may follow.
#[derive(Debug)]
pub(crate) struct SendCursor {
    /// Last assigned sequence number.
    last: SequenceNumber,
    /// Next change to send to all readers, and its next fragment, from 1.
    next: SequenceNumber,
    next_fragment: u32,
    pub(crate) batch: SendBatch,
    /// Single readers are served before new changes, once.
    is_queue_first: bool,
}

impl SendCursor {
    pub(crate) fn new(batch_window: Duration) -> Self {
        Self {
            last: SequenceNumber::ZERO,
            next: SequenceNumber::FIRST,
            next_fragment: 1,
            batch: SendBatch::new(batch_window),
            is_queue_first: false,
        }
    }

    /// Returns the last assigned sequence number.
    #[inline]
    pub(crate) fn last(&self) -> SequenceNumber {
        self.last
    }

    /// Assigns a sequence number.
    #[inline]
    pub(crate) fn set_last(&mut self, number: SequenceNumber) {
        debug_assert_eq!(number, self.last.next(), "sequence numbers have no holes");
        self.last = number;
    }

    /// Returns the next change to send to all readers.
    #[inline]
    pub(crate) fn next(&self) -> SequenceNumber {
        self.next
    }

    /// Returns the next fragment of the next change, from 1.
    #[inline]
    pub(crate) fn next_fragment(&self) -> u32 {
        self.next_fragment
    }

    /// Returns the last change that was sent to all readers in full.
    #[inline]
    pub(crate) fn sent(&self) -> SequenceNumber {
        self.next.previous()
    }

    /// Returns the position after all data that was sent to all readers.
    pub(crate) fn position(&self) -> StreamPosition {
        StreamPosition { last: self.sent(), fragments: self.next_fragment - 1 }
    }

    /// Returns whether a released change is unsent.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.next <= self.batch.released()
    }

    /// Returns whether a change waits in the batch or for its transmission, while batches are on.
    pub(crate) fn waits_in_batch(&self) -> bool {
        self.batch.is_on() && self.next <= self.last
    }

    /// Releases all written changes.
    #[inline]
    pub(crate) fn flush(&mut self) {
        self.batch.release(self.last);
    }

    /// Advances to a change that comes next.
    #[inline]
    pub(crate) fn advance_to(&mut self, number: SequenceNumber) {
        self.next = number;
        self.next_fragment = 1;
    }

    /// Advances to a fragment of the present change.
    pub(crate) fn advance_to_fragment(&mut self, fragment: u32) {
        debug_assert!(fragment > self.next_fragment, "fragments go out in order");
        self.next_fragment = fragment;
    }

    /// Skips all unsent changes.
    #[inline]
    pub(crate) fn skip_all(&mut self) {
        self.advance_to(self.last.next());
        self.flush();
    }

    /// Lets single readers precede the next new changes.
    pub(crate) fn serve_queue_next(&mut self) {
        self.is_queue_first = true;
    }

    /// Returns whether single readers come first now. They do so once.
    pub(crate) fn take_queue_turn(&mut self) -> bool {
        std::mem::take(&mut self.is_queue_first)
    }

    /// Assigns all numbers up to `last` to no change.
    pub(crate) fn skip_numbers(&mut self, last: SequenceNumber) {
        debug_assert!(last > self.last, "sequence numbers grow");
        self.last = last;
        self.flush();
    }

    /// Continues after `last`, as a writer that has written that many changes.
    #[cfg(test)]
    pub(crate) fn start_after(&mut self, last: SequenceNumber) {
        self.last = last;
        self.skip_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_fragments_of_unfinished_change() {
        let mut cursor = SendCursor::new(Duration::ZERO);
        cursor.set_last(SequenceNumber(1));
        assert_eq!(cursor.position(), StreamPosition::START);
        cursor.advance_to_fragment(4);
        assert_eq!(cursor.position(), StreamPosition { last: SequenceNumber::ZERO, fragments: 3 });
        cursor.advance_to(SequenceNumber(2));
        assert_eq!(cursor.position(), StreamPosition::after(SequenceNumber(1)));
    }

    #[test]
    fn only_released_changes_are_sent() {
        let mut cursor = SendCursor::new(Duration::from_millis(5));
        cursor.set_last(SequenceNumber(1));
        assert!(!cursor.has_more() && cursor.waits_in_batch());
        cursor.flush();
        assert!(cursor.has_more());
        cursor.skip_all();
        assert!(!cursor.has_more() && !cursor.waits_in_batch());
    }
}
