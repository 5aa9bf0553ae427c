//! How long changes take until they are acknowledged.

use crate::types::{LatencyHistogram, SequenceNumber, Time};

/// Most unacknowledged changes whose times are kept. The history has all times, but a search of it takes twice as many
/// instructions for each acknowledgment.
const IN_FLIGHT_MAX: usize = 64;

/// Measures how long changes take from their source timestamp to the acknowledgment of the last remote reader.
///
/// A change does not count if [`IN_FLIGHT_MAX`] earlier ones wait for their acknowledgment.
#[derive(Debug)]
pub(crate) struct AckLatency {
    is_enabled: bool,
    /// `None` before the first change for a reliable remote reader. Most writers of a large system never have one.
    in_flight: Option<Box<InFlight>>,
    histogram: LatencyHistogram,
}

#[derive(Debug, Clone, Copy)]
struct WrittenChange {
    number: SequenceNumber,
    source_timestamp: Time,
}

/// Unacknowledged changes, the oldest one first.
#[derive(Debug)]
struct InFlight {
    changes: [WrittenChange; IN_FLIGHT_MAX],
    first: usize,
    len: usize,
}

impl InFlight {
    fn new() -> Box<Self> {
        let none = WrittenChange { number: SequenceNumber::ZERO, source_timestamp: Time::from_unix_nanos(0) };
        Box::new(Self { changes: [none; IN_FLIGHT_MAX], first: 0, len: 0 })
    }

    #[inline]
    fn push(&mut self, change: WrittenChange) {
        if self.len < IN_FLIGHT_MAX {
            self.changes[(self.first + self.len) % IN_FLIGHT_MAX] = change;
            self.len += 1;
        }
    }

    /// Removes the oldest change, if its number is at most `up_to`.
    #[inline]
    fn pop(&mut self, up_to: SequenceNumber) -> Option<Time> {
        let oldest = self.changes[self.first % IN_FLIGHT_MAX];
        if self.len == 0 || oldest.number > up_to {
            return None;
        }
        self.first = (self.first + 1) % IN_FLIGHT_MAX;
        self.len -= 1;
        Some(oldest.source_timestamp)
    }
}

impl AckLatency {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, in_flight: None, histogram: LatencyHistogram::default() }
    }

    pub(crate) fn histogram(&self) -> &LatencyHistogram {
        &self.histogram
    }

    /// Notes a change that a reliable remote reader will acknowledge.
    #[inline]
    pub(crate) fn note_written(&mut self, number: SequenceNumber, source_timestamp: Time) {
        if self.is_enabled && source_timestamp.is_valid() {
            self.in_flight.get_or_insert_with(InFlight::new).push(WrittenChange { number, source_timestamp });
        }
    }

    /// Leaves out the changes up to this one, because the next acknowledgment says nothing of their time.
    pub(crate) fn skip(&mut self, up_to: SequenceNumber) {
        if let Some(in_flight) = &mut self.in_flight {
            while in_flight.pop(up_to).is_some() {}
        }
    }

    /// Measures the changes up to this one, which all readers have acknowledged now.
    #[inline]
    pub(crate) fn note_acknowledged(&mut self, now: Time, up_to: SequenceNumber) {
        let Some(in_flight) = &mut self.in_flight else { return };
        while let Some(source_timestamp) = in_flight.pop(up_to) {
            self.histogram.record(now - source_timestamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AckLatency, IN_FLIGHT_MAX};
    use crate::types::{Duration, SequenceNumber, Time};

    #[test]
    fn each_change_counts_once_also_around_the_end_of_the_ring() {
        let time = |millis: i64| Time::from_unix_nanos(millis * 1_000_000);
        let mut latency = AckLatency::new(true);
        // Three changes in flight, many times around.
        for number in 1..=1000 {
            latency.note_written(SequenceNumber(number), time(number));
            latency.note_acknowledged(time(number), SequenceNumber(number - 3));
        }
        assert_eq!(latency.histogram().count(), 997);
        assert_eq!(latency.histogram().max(), Some(Duration::from_millis(3)));
        assert_eq!(latency.histogram().min(), Some(Duration::from_millis(3)));
        latency.note_acknowledged(time(1004), SequenceNumber(1000));
        latency.note_acknowledged(time(2000), SequenceNumber(1000));
        assert_eq!(latency.histogram().count(), 1000);
        assert_eq!(latency.histogram().max(), Some(Duration::from_millis(6)));
    }

    #[test]
    fn changes_beyond_the_ring_and_skipped_ones_do_not_count() {
        let mut latency = AckLatency::new(true);
        let now = Time::from_unix_nanos(1);
        let write = |latency: &mut AckLatency, numbers: std::ops::RangeInclusive<i64>| {
            numbers.for_each(|number| latency.note_written(SequenceNumber(number), now));
        };
        write(&mut latency, 1..=IN_FLIGHT_MAX as i64 + 10);
        latency.note_acknowledged(now, SequenceNumber(1 << 40));
        assert_eq!(latency.histogram().count(), IN_FLIGHT_MAX as u64);
        write(&mut latency, 200..=203);
        latency.skip(SequenceNumber(202));
        latency.note_acknowledged(now, SequenceNumber(203));
        assert_eq!(latency.histogram().count(), IN_FLIGHT_MAX as u64 + 1);
        let mut disabled = AckLatency::new(false);
        write(&mut disabled, 1..=3);
        disabled.note_acknowledged(now, SequenceNumber(3));
        assert!(disabled.histogram().is_empty() && disabled.in_flight.is_none());
    }
}
