//! How long changes take until they are acknowledged.

use crate::history::WriterHistory;
use crate::types::{LatencyHistogram, SequenceNumber, Time};

/// Measures how long changes take from their source timestamp to the acknowledgment of the last remote reader.
#[derive(Debug)]
pub(crate) struct AckLatency {
    is_measured: bool,
    /// Changes up to this one are not measured any more. A late joiner acknowledges old changes once more.
    measured: SequenceNumber,
    histogram: LatencyHistogram,
}

impl AckLatency {
    pub(crate) fn new(is_measured: bool) -> Self {
        Self { is_measured, measured: SequenceNumber::ZERO, histogram: LatencyHistogram::default() }
    }

    pub(crate) fn histogram(&self) -> &LatencyHistogram {
        &self.histogram
    }

    /// Leaves out changes up to this one: a reader matches that could not acknowledge them earlier.
    pub(crate) fn skip(&mut self, up_to: SequenceNumber) {
        self.measured = self.measured.max(up_to);
    }

    /// Measures the changes up to this one, which all readers have acknowledged now. Visits each change once.
    #[inline]
    pub(crate) fn note_acknowledged(&mut self, now: Time, up_to: SequenceNumber, history: &WriterHistory) {
        if !self.is_measured || up_to <= self.measured {
            return;
        }
        for stored in history.iter_from(self.measured.next()) {
            if stored.change.sequence_number > up_to {
                break;
            }
            if stored.change.source_timestamp.is_valid() {
                self.histogram.record(now - stored.change.source_timestamp);
            }
        }
        self.measured = up_to;
    }
}
