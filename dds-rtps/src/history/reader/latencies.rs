//! How long samples take to this reader, and how long they wait in it.

use crate::types::{LatencyHistogram, Time};
use std::fmt;

/// Every eighth selection with samples reads the clock. That takes longer than the rest of the measurement.
const MEASURED_SELECTIONS: u32 = 8;

/// How long the samples of a reader took, since the reader exists.
///
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderLatencies {
    /// From the source timestamp to the reception timestamp, of each sample.
    ///
    /// The time includes the difference between the clocks of two hosts, and the time for repairs of lost samples.
    /// Samples that were written before the reader existed, by the clock of their writer, are not measured.
    pub write_to_reception: LatencyHistogram,
    /// From the reception timestamp to the first read or take of a sample: how long the sample waited for the program.
    ///
    /// Only the samples of each eighth read or take are measured.
    pub reception_to_take: LatencyHistogram,
    /// Received samples whose source timestamp is later than their reception: the writer's clock is ahead.
    ///
    /// They are not part of `write_to_reception`.
    pub from_future: u64,
}

impl fmt::Display for ReaderLatencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write to reception: {}", self.write_to_reception)?;
        if self.from_future > 0 {
            write!(f, " ({} more from a clock that is ahead)", self.from_future)?;
        }
        write!(f, "\nreception to take: {}", self.reception_to_take)
    }
}

/// Measures latencies. The histograms are allocated with their first sample.
#[derive(Debug)]
pub(super) struct LatencyRecorder {
    /// `None`: measures nothing.
    since: Option<Time>,
    latencies: ReaderLatencies,
    /// Selections with samples.
    selections: u32,
}

impl LatencyRecorder {
    pub(super) fn new(since: Option<Time>) -> Self {
        Self { since, latencies: ReaderLatencies::default(), selections: 0 }
    }

    pub(super) fn get(&self) -> &ReaderLatencies {
        &self.latencies
    }

    /// Notes a sample that the reader stores.
    #[inline]
    pub(super) fn note_received(&mut self, source_timestamp: Time, reception_timestamp: Time) {
        if !source_timestamp.is_valid() || self.since.is_none_or(|since| source_timestamp < since) {
            return;
        }
        if source_timestamp > reception_timestamp {
            self.latencies.from_future += 1;
        } else {
            self.latencies.write_to_reception.record(reception_timestamp - source_timestamp);
        }
    }

    /// Whether the next selection with samples is measured, and needs the present time.
    #[inline]
    pub(super) fn measures_selection(&self) -> bool {
        self.since.is_some() && self.selections % MEASURED_SELECTIONS == 0
    }

    /// Notes the end of a selection with samples.
    #[inline]
    pub(super) fn note_selection(&mut self) {
        self.selections = self.selections.wrapping_add(1);
    }

    /// Notes a sample that is read or taken for the first time, in a measured selection.
    pub(super) fn note_selected(&mut self, now: Time, reception_timestamp: Time) {
        self.latencies.reception_to_take.record(now - reception_timestamp);
    }
}
