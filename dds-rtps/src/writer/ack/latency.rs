//! How long changes take until they are acknowledged.

use crate::history::WriterHistory;
use crate::types::{LatencyHistogram, SequenceNumber, Time};

/// Measures how long changes take from their source timestamp to the acknowledgment of the last remote reader.
#[derive(Debug)]
pub(crate) struct AckLatency {
    is_enabled: bool,
    /// Changes up to this one do not count any more. A late joiner acknowledges old changes once more.
    finished: SequenceNumber,
    histogram: LatencyHistogram,
}

impl AckLatency {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, finished: SequenceNumber::ZERO, histogram: LatencyHistogram::default() }
    }

    pub(crate) fn histogram(&self) -> &LatencyHistogram {
        &self.histogram
    }

    /// Leaves out the changes up to this one, because the next acknowledgment says nothing of their time.
    pub(crate) fn skip(&mut self, up_to: SequenceNumber) {
        self.finished = self.finished.max(up_to);
    }

    /// Measures the changes up to this one, which all readers have acknowledged now. Visits each change once.
    #[inline]
    pub(crate) fn note_acknowledged(&mut self, now: Time, up_to: SequenceNumber, history: &WriterHistory) {
        if !self.is_enabled || up_to <= self.finished {
            return;
        }
        for stored in history.iter_from(self.finished.next()) {
            if stored.change.sequence_number > up_to {
                break;
            }
            if stored.change.source_timestamp.is_valid() {
                self.histogram.record(now - stored.change.source_timestamp);
            }
        }
        self.finished = up_to;
    }
}
