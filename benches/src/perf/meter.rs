//! Counts and latencies that the receiving thread records while another thread reads them.
//!
//! - In: a latency for each sample.
//! - Out: [`Snapshot`]s. Their differences are the intervals.
//! - Owned: the buckets of a histogram with three digits, in the layout of `hdrhistogram`.
//!
//! The buckets are atomics that one thread writes by plain loads and stores. Recording takes no lock, allocates nothing
//! and costs a few nanoseconds. Reading does not disturb it.

use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest recorded latency, in nanoseconds: 18 minutes. Longer ones count as this one.
const LATENCY_MAX: u64 = (1 << 40) - 1;
/// Each power of two has `1 << SUB_BITS` buckets: three decimal digits.
const SUB_BITS: u32 = 10;
const BUCKETS: usize = ((40 - SUB_BITS) as usize + 1) << SUB_BITS;
/// Decimal digits of the histograms.
const DIGITS: u8 = 3;

/// Counters that one thread at a time writes and any thread reads.
#[derive(Debug)]
pub struct Meter {
    latencies: Box<[AtomicU64]>,
    samples: AtomicU64,
    bytes: AtomicU64,
    late: AtomicU64,
    repeated: AtomicU64,
    before_sent: AtomicU64,
    first_at: AtomicU64,
    last_at: AtomicU64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            latencies: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            samples: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            late: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            before_sent: AtomicU64::new(0),
            first_at: AtomicU64::new(u64::MAX),
            last_at: AtomicU64::new(0),
        }
    }
}

impl Meter {
    /// Records a sample of `bytes` that arrived at `at`, `latency` nanoseconds after it was due.
    ///
    /// A negative latency is a sign of clocks that are not synchronized. It counts as zero, and in `before_sent`.
    pub fn record(&self, at: u64, latency: i64, bytes: usize) {
        let latency = u64::try_from(latency).unwrap_or_else(|_| {
            add(&self.before_sent, 1);
            0
        });
        // Each latency up to the maximum has a bucket.
        if let Some(bucket) = self.latencies.get(bucket(latency.min(LATENCY_MAX))) {
            add(bucket, 1);
        }
        add(&self.bytes, bytes as u64);
        add(&self.samples, 1);
        if at < self.first_at.load(Ordering::Relaxed) {
            self.first_at.store(at, Ordering::Relaxed);
        }
        self.last_at.store(at, Ordering::Relaxed);
    }

    /// Records a sample that arrived out of order.
    pub fn note_late(&self) {
        add(&self.late, 1);
    }

    /// Records a repeated sample.
    pub fn note_repeated(&self) {
        add(&self.repeated, 1);
    }

    /// Number of samples so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Resets the time of the first sample. Call it while no thread records.
    pub fn restart(&self) {
        self.first_at.store(u64::MAX, Ordering::Relaxed);
    }

    /// The current values. During recording the latencies of the last samples may be absent.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            latencies: self.latencies.iter().map(load).collect(),
            samples: load(&self.samples),
            bytes: load(&self.bytes),
            late: load(&self.late),
            repeated: load(&self.repeated),
            before_sent: load(&self.before_sent),
            first_at: load(&self.first_at),
            last_at: load(&self.last_at),
        }
    }
}

/// Adds to a counter. With one writing thread a load and a store suffice and cost less than an atomic addition.
fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

fn bucket(value: u64) -> usize {
    let shift = shift_of(value);
    ((u64::from(shift) << SUB_BITS) + (value >> shift)) as usize
}

fn shift_of(value: u64) -> u32 {
    (u64::BITS - value.leading_zeros()).saturating_sub(SUB_BITS + 1)
}

/// The middle of a bucket.
fn value_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket >> SUB_BITS).saturating_sub(1);
    let sub = bucket - (shift << SUB_BITS);
    (sub << shift) + ((1 << shift) >> 1)
}

/// Values of one or more [`Meter`]s at a time, or their difference between two times.
#[derive(Debug, Clone)]
pub struct Snapshot {
    latencies: Vec<u64>,
    /// Samples without repetitions.
    pub samples: u64,
    /// Their payload.
    pub bytes: u64,
    /// Samples among them that arrived out of order.
    pub late: u64,
    /// Repeated samples, not among them.
    pub repeated: u64,
    /// Samples among them with a negative latency.
    pub before_sent: u64,
    first_at: u64,
    last_at: u64,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            latencies: vec![0; BUCKETS],
            samples: 0,
            bytes: 0,
            late: 0,
            repeated: 0,
            before_sent: 0,
            first_at: u64::MAX,
            last_at: 0,
        }
    }
}

impl Snapshot {
    /// The sum of all meters.
    pub fn of<'m>(meters: impl IntoIterator<Item = &'m Meter>) -> Self {
        let mut all = Self::default();
        for meter in meters {
            let of_meter = meter.snapshot();
            all.combine(&of_meter, u64::wrapping_add);
            all.first_at = all.first_at.min(of_meter.first_at);
            all.last_at = all.last_at.max(of_meter.last_at);
        }
        all
    }

    /// The difference to an earlier snapshot.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut between = self.clone();
        between.combine(earlier, u64::saturating_sub);
        between
    }

    fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        for (count, other) in self.latencies.iter_mut().zip(&other.latencies) {
            *count = with(*count, *other);
        }
        self.samples = with(self.samples, other.samples);
        self.bytes = with(self.bytes, other.bytes);
        self.late = with(self.late, other.late);
        self.repeated = with(self.repeated, other.repeated);
        self.before_sent = with(self.before_sent, other.before_sent);
    }

    /// Nanoseconds from the first sample to the last one.
    #[must_use]
    pub fn nanoseconds(&self) -> u64 {
        self.last_at.saturating_sub(self.first_at)
    }

    /// The latencies in nanoseconds.
    #[must_use]
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = empty_histogram();
        for (bucket, count) in self.latencies.iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(value_of(bucket), *count);
        }
        histogram
    }
}

/// An empty histogram of nanoseconds with the bounds of all results.
///
/// # Panics
///
/// Never: its bounds are constants that `hdrhistogram` accepts.
#[must_use]
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_MAX, DIGITS).expect("the bounds are legal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_error_is_at_most_a_thousandth() {
        let mut last = 0;
        for value in (0..40).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1, 3 << bit]) {
            let value = value.min(LATENCY_MAX);
            let bucket = bucket(value);
            assert!(bucket < BUCKETS, "{value}");
            assert!(value_of(bucket).abs_diff(value) * 1000 <= value, "{value} became {}", value_of(bucket));
            last = last.max(bucket);
        }
        assert_eq!(last, BUCKETS - 1);
    }

    #[test]
    fn interval_has_only_its_own_samples() {
        let meter = Meter::default();
        meter.record(100, 1000, 64);
        let earlier = Snapshot::of([&meter]);
        meter.record(200, 3000, 64);
        meter.record(350, 5000, 64);
        meter.note_repeated();
        let between = Snapshot::of([&meter]).since(&earlier);
        assert_eq!((between.samples, between.bytes, between.repeated), (2, 128, 1));
        assert_eq!(between.nanoseconds(), 250);
        let histogram = between.histogram();
        assert_eq!(histogram.len(), 2);
        assert!(histogram.equivalent(histogram.min(), 3000) && histogram.equivalent(histogram.max(), 5000));
    }

    #[test]
    fn snapshot_of_several_meters_is_their_sum() {
        let meters = [Meter::default(), Meter::default()];
        meters[0].record(5, 10, 1);
        meters[1].record(7, 20, 2);
        let all = Snapshot::of(&meters);
        assert_eq!((all.samples, all.bytes, all.nanoseconds()), (2, 3, 2));
        assert_eq!(all.histogram().len(), 2);
    }

    #[test]
    fn negative_latency_is_counted_as_zero() {
        let meter = Meter::default();
        meter.record(0, -5, 1);
        let all = Snapshot::of([&meter]);
        assert_eq!((all.samples, all.before_sent), (1, 1));
    }
}
