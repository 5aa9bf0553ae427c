//! Pacer: the rate of large samples to readers that never answer.
//!
//! A best-effort reader sends no answers, so a congestion window cannot serve it. A burst that fits into its receive
//! buffer goes out at once. The rest follows at a rate by the clock. For a reader on this host, the system may report
//! its free receive buffer. Then the rest follows as fast as the reader empties the buffer.

use crate::types::{Duration, Instant};

/// Divisor of the free receive buffer. Other writers may need room as well.
const SHARE: usize = 4;

/// Smallest useful grant in bytes, about a datagram. A smaller one does not justify a visit of the writer.
const GRANT_MIN: usize = 64 << 10;

/// Time until the next check of a full buffer. A reader makes room in about this time, and timers are hardly finer.
const CHECK_INTERVAL: Duration = Duration::from_micros(500);

/// How long a buffer may stay full. After that its owner is unlikely to read soon, and other readers must not wait.
const FULL_TIME_MAX: Duration = Duration::from_millis(100);

/// Bytes that may be sent: one burst, refilled at a rate or from reports of the free receive buffer.
#[derive(Debug)]
pub(crate) struct Pacer {
    burst: u64,
    /// Bytes that may be sent now. Negative after a large piece.
    budget: i64,
    /// Time of the last refill of `budget`.
    at: Option<Instant>,
    report: BufferReport,
}

/// Last report of the free receive buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BufferReport {
    /// There are no reports, so the clock refills.
    None,
    /// The report set the present budget.
    Free,
    /// The buffer has been full since `since`. The next check is due at `check_at`.
    Full { since: Instant, check_at: Instant },
}

impl Pacer {
    pub(crate) fn new(burst: usize) -> Self {
        let burst = burst.min(i64::MAX as usize) as u64;
        Self { burst, budget: burst as i64, at: None, report: BufferReport::None }
    }

    /// Sets another burst, maybe for other readers. A used budget stays used.
    pub(crate) fn set_burst(&mut self, burst: usize) {
        let used = self.burst as i64 - self.budget;
        *self = Self { at: self.at, ..Self::new(burst) };
        // Otherwise each match would grant another burst to receive buffers that are still full.
        self.budget -= used;
    }

    /// Returns whether the writer may send more now, at `rate` bytes per second.
    pub(crate) fn is_open(&mut self, now: Instant, rate: u64) -> bool {
        let since = match self.at.replace(now) {
            Some(at) => now.since(at),
            // The first call finds the whole burst.
            None => Duration::INFINITE,
        };
        if self.report != BufferReport::None {
            return self.budget > 0;
        }
        // Longer pauses refill no more than a burst in any case.
        let nanos = since.as_nanos().clamp(0, 1_000_000_000) as u128;
        let refill = (nanos * u128::from(rate) / 1_000_000_000).min(i64::MAX as u128) as i64;
        self.budget = self.budget.saturating_add(refill).min(self.burst as i64);
        self.budget > 0
    }

    /// Counts `len` sent bytes.
    pub(crate) fn note_sent(&mut self, len: usize) {
        self.budget -= len as i64;
    }

    /// Returns when there is room for a quarter of a burst, which justifies a timer.
    pub(crate) fn opens_at(&self, rate: u64) -> Option<Instant> {
        match self.report {
            BufferReport::None => {}
            // The caller requests a new report before it waits.
            BufferReport::Free => return None,
            BufferReport::Full { check_at, .. } => return Some(check_at),
        }
        // A quarter of a burst, so that the timer does not fire for each datagram.
        let wanted = (self.burst / 4) as i64 - self.budget;
        let nanos = u128::from(wanted.max(0).unsigned_abs()) * 1_000_000_000 / u128::from(rate.max(1));
        self.at?.after(Duration::from_nanos(nanos.min(1_000_000_000) as i64))
    }

    /// Returns whether the writer should request a report now.
    pub(crate) fn wants_report(&self, now: Instant) -> bool {
        self.budget <= 0 && !matches!(self.report, BufferReport::Full { check_at, .. } if now < check_at)
    }

    /// Notes a report of the free receive buffer; `None` if the system reports nothing. Returns whether more may be
    /// sent now.
    pub(crate) fn note_report(&mut self, now: Instant, free: Option<usize>) -> bool {
        // Other writers see the same free space and send into it at the same time.
        let grant = free.map(|free| ((free / SHARE) as u64).min(self.burst));
        self.report = match (grant, self.report) {
            (None, _) => BufferReport::None,
            (Some(grant), _) if grant >= GRANT_MIN as u64 => {
                self.budget = grant as i64;
                BufferReport::Free
            }
            // The reader does not empty its buffer, so fall back to the clock.
            (Some(_), BufferReport::Full { since, .. }) if now.since(since) >= FULL_TIME_MAX => BufferReport::None,
            (Some(_), report) => {
                let since = if let BufferReport::Full { since, .. } = report { since } else { now };
                BufferReport::Full { since, check_at: now.after(CHECK_INTERVAL).unwrap_or(now) }
            }
        };
        self.at = Some(now);
        self.report == BufferReport::Free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + micros * 1_000)
    }

    const RATE: u64 = 500_000_000;
    const MIB: usize = 1 << 20;

    #[test]
    fn pacer_follows_buffer_report_instead_of_clock() {
        let mut pacer = Pacer::new(MIB);
        assert!(pacer.is_open(at(0), RATE) && !pacer.wants_report(at(0)));
        pacer.note_sent(MIB);
        assert!(!pacer.is_open(at(0), RATE) && pacer.wants_report(at(0)));
        assert!(pacer.note_report(at(0), Some(2 * MIB)));
        pacer.note_sent(MIB / 2 - 1);
        assert!(pacer.is_open(at(1), RATE));
        pacer.note_sent(1);
        // The clock alone would have refilled half a MiB.
        assert!(!pacer.is_open(at(1_000), RATE) && pacer.wants_report(at(1_000)));
        // A grant is at most one burst.
        assert!(pacer.note_report(at(1_000), Some(100 * MIB)));
        assert_eq!(pacer.budget, MIB as i64);
    }

    #[test]
    fn pacer_polls_full_buffer_and_gives_up() {
        let mut pacer = Pacer::new(MIB);
        assert!(pacer.is_open(at(0), RATE));
        pacer.note_sent(MIB);
        let (mut asked, mut micros) = (0, 0);
        while !pacer.is_open(at(micros), RATE) {
            if pacer.wants_report(at(micros)) {
                assert!(!pacer.note_report(at(micros), Some(SHARE * GRANT_MIN - 1)));
                asked += 1;
            }
            micros += 100;
        }
        assert!((200..=202).contains(&asked), "{asked} times");
        assert!((100_000..104_000).contains(&micros), "{micros} us");
    }

    #[test]
    fn pacer_refills_by_clock_without_report() {
        let mut pacer = Pacer::new(MIB);
        assert!(pacer.is_open(at(0), RATE));
        pacer.note_sent(MIB);
        assert!(!pacer.note_report(at(0), None));
        assert!(!pacer.is_open(at(0), RATE));
        assert!(pacer.opens_at(RATE) > Some(at(400)));
        assert!(pacer.is_open(at(600), RATE));
    }
}
