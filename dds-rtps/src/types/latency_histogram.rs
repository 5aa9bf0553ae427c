//! A histogram of times: fixed memory, and a constant number of instructions per time.
//!
//! It is of its own, because `hdrhistogram` would add three crates to each application.

use super::Duration;
use std::fmt;

/// Each power of two has this many buckets, as a power of two. So a bucket is at most 1/16 wider than its lower end.
const BUCKET_BITS: u32 = 4;
/// Times of at least 2^40 ns (18 minutes) share the last bucket.
const OCTAVES: u32 = 40;
const BUCKETS: usize = ((OCTAVES - BUCKET_BITS + 1) << BUCKET_BITS) as usize;

/// How often which time was measured.
///
/// Percentiles are at most 1/16 (6.25 %) above the true value, from 1 ns to 18 minutes. Count, minimum, maximum and
/// mean are exact. The histogram takes 5 KB, from its first time on.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// `None` before the first time: most endpoints of a large system never have one.
    buckets: Option<Box<[u64; BUCKETS]>>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl LatencyHistogram {
    /// Adds a time. Negative times do not exist: [`Duration`] has none.
    #[inline]
    pub(crate) fn record(&mut self, time: Duration) {
        let nanos = time.as_nanos().unsigned_abs();
        let buckets = self.buckets.get_or_insert_with(|| Box::new([0; BUCKETS]));
        if let Some(bucket) = buckets.get_mut(index_of(nanos)) {
            *bucket += 1;
        }
        self.min = if self.count == 0 { nanos } else { self.min.min(nanos) };
        self.max = self.max.max(nanos);
        self.sum += u128::from(nanos);
        self.count += 1;
    }

    /// Returns how many times were measured.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether no time was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the shortest time; `None` without a time.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        self.of_any(self.min)
    }

    /// Returns the longest time; `None` without a time.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        self.of_any(self.max)
    }

    /// Returns the mean time; `None` without a time.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum.checked_div(self.count.into())?;
        Some(duration(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// Returns the time that this share of the times does not exceed; `None` without a time.
    ///
    /// `percent` is from 0 to 100, and other values count as the nearest of these. The result is at most 1/16 too long.
    ///
    /// ```
    /// # mod dds_core { pub mod stats { pub use dds_rtps::types::LatencyHistogram; } }
    /// use dds_core::stats::LatencyHistogram;
    /// assert_eq!(LatencyHistogram::default().percentile(99.0), None);
    /// ```
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        // The conversion saturates, and NaN becomes 0.
        let rank = ((percent / 100.0 * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (upper_end, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return Some(upper_end.min(duration(self.max)).max(duration(self.min)));
            }
        }
        None
    }

    /// Returns the buckets that have a time: their longest time and their count, shorter times first.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let counts = self.buckets.as_deref().map_or(&[][..], |buckets| &buckets[..]);
        counts
            .iter()
            .enumerate()
            .filter_map(|(index, &count)| if count == 0 { None } else { Some((duration(upper_end_of(index)), count)) })
    }

    fn of_any(&self, nanos: u64) -> Option<Duration> {
        if self.count == 0 { None } else { Some(duration(nanos)) }
    }
}

/// Returns the bucket of a time. The first 32 buckets are one nanosecond wide.
#[inline]
fn index_of(nanos: u64) -> usize {
    let nanos = nanos.min((1 << OCTAVES) - 1);
    let octave = (nanos | (1 << BUCKET_BITS)).ilog2() - BUCKET_BITS;
    // The leading one of the shifted time counts as the bucket's octave.
    (u64::from(octave << BUCKET_BITS) + (nanos >> octave)) as usize
}

/// Returns the longest time of a bucket, in nanoseconds.
fn upper_end_of(index: usize) -> u64 {
    let octave = ((index >> BUCKET_BITS) as u32).saturating_sub(1);
    let leading = index as u64 - u64::from(octave << BUCKET_BITS);
    ((leading + 1) << octave) - 1
}

fn duration(nanos: u64) -> Duration {
    Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

impl fmt::Debug for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyHistogram")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("p50", &self.percentile(50.0))
            .field("p99", &self.percentile(99.0))
            .field("max", &self.max())
            .finish()
    }
}

/// Writes the count, and the most important percentiles: `1000 times: p50 12µs, p99 31µs, max 85µs`.
impl fmt::Display for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(median), Some(p99), Some(max)) = (self.percentile(50.0), self.percentile(99.0), self.max()) else {
            return f.write_str("no times");
        };
        write!(f, "{} times: p50 {median:?}, p99 {p99:?}, max {max:?}", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SplitMix64;

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        let mut next = 0;
        for index in 0..BUCKETS {
            let upper = upper_end_of(index);
            assert_eq!((index_of(next), index_of(upper)), (index, index), "bucket {index} from {next} to {upper}");
            assert!(upper - next <= next / 16, "bucket {index} from {next} to {upper}");
            next = upper + 1;
        }
        assert_eq!(next, 1 << OCTAVES);
        assert_eq!(index_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_close_to_those_of_the_sorted_times() {
        let mut random = SplitMix64::new(7);
        for round in 1..200 {
            let mut histogram = LatencyHistogram::default();
            let mut times: Vec<u64> = (0..round).map(|_| random.draw() >> (24 + random.draw() % 40)).collect();
            times.iter().for_each(|&time| histogram.record(duration(time)));
            times.sort_unstable();
            for percent in [0.0, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
                let rank = ((percent / 100.0 * f64::from(round)).ceil() as usize).max(1);
                let (exact, found) = (times[rank - 1], histogram.percentile(percent).unwrap().as_nanos() as u64);
                assert!(found >= exact && found - exact <= exact / 16, "p{percent} of {times:?}: {found}");
            }
            assert_eq!(histogram.min(), Some(duration(times[0])));
            assert_eq!(histogram.max(), times.last().map(|&last| duration(last)));
            assert_eq!(histogram.mean().unwrap().as_nanos() as u64, times.iter().sum::<u64>() / times.len() as u64);
            assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), round as u64);
        }
    }

    #[test]
    fn extreme_values_and_emptiness_have_answers() {
        let mut histogram = LatencyHistogram::default();
        assert_eq!((histogram.percentile(50.0), histogram.min(), histogram.mean()), (None, None, None));
        assert_eq!(histogram.to_string(), "no times");
        histogram.record(Duration::INFINITE);
        histogram.record(Duration::ZERO);
        assert_eq!((histogram.min(), histogram.max()), (Some(Duration::ZERO), Some(Duration::INFINITE)));
        for percent in [f64::NAN, -5.0, f64::NEG_INFINITY] {
            assert_eq!(histogram.percentile(percent), Some(Duration::ZERO), "{percent}");
        }
        assert!(histogram.percentile(f64::INFINITY).unwrap() >= Duration::from_secs(1000));
    }
}
