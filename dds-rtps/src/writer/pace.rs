//! Pacer: the rate of large samples to readers that never answer.
//!
//! A best-effort reader sends no answers, so [`Flow`](super::flow) cannot serve it. A burst that fits into its receive
//! buffer goes out at once. The rest follows at a rate by the clock. For a reader on this host, the system may report
//! its free receive buffer. Then the rest follows as fast as there is room.

use super::stateful::StatefulWriter;
use crate::types::{Duration, Instant, Locator, Now};

/// Divisor of the free receive buffer. Other writers may need room as well.
const SHARE: usize = 4;

/// Smallest useful grant in bytes, about a datagram. Less room does not justify a visit of the writer.
const GRANT_MIN: usize = 64 << 10;

/// Time until the next check of a full buffer. A reader makes room in about this time, and timers are hardly finer.
const LOOK_AGAIN: Duration = Duration::from_micros(500);

/// How long a buffer may stay full. After that its owner is unlikely to read soon, and other readers must not wait.
const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes that may be sent: one burst, refilled at a rate or from reports of the free receive buffer.
#[derive(Debug)]
pub(super) struct Pace {
    burst: u64,
    /// Bytes that may be sent now. Negative after a large piece.
    room: i64,
    /// Time of the last refill of `room`.
    at: Option<Instant>,
    told: Told,
}

/// Last report of the free receive buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// There are no reports, so the clock refills.
    Nothing,
    /// The report set the present room.
    Room,
    /// The buffer has been full since `since`. The next check is due at `again`.
    Full { since: Instant, again: Instant },
}

impl Pace {
    pub(super) fn new(burst: usize) -> Self {
        let burst = burst.min(i64::MAX as usize) as u64;
        Self { burst, room: burst as i64, at: None, told: Told::Nothing }
    }

    /// Sets another burst, maybe for other readers. Used room stays used.
    pub(super) fn set_burst(&mut self, burst: usize) {
        let used = self.burst as i64 - self.room;
        *self = Self { at: self.at, ..Self::new(burst) };
        self.room -= used;
    }

    /// Returns whether the writer may send more now, at `rate` bytes per second.
    pub(super) fn is_open(&mut self, now: Instant, rate: u64) -> bool {
        let since = self.at.replace(now).map_or(Duration::INFINITE, |at| now.since(at));
        if self.told != Told::Nothing {
            return self.room > 0;
        }
        // Longer pauses refill no more than a burst in any case.
        let nanos = since.as_nanos().clamp(0, 1_000_000_000) as u128;
        let refill = (nanos * u128::from(rate) / 1_000_000_000).min(i64::MAX as u128) as i64;
        self.room = self.room.saturating_add(refill).min(self.burst as i64);
        self.room > 0
    }

    /// Counts `len` sent bytes.
    pub(super) fn note_sent(&mut self, len: usize) {
        self.room -= len as i64;
    }

    /// Returns when there is room for a quarter of a burst, which justifies a timer.
    pub(super) fn opens_at(&self, rate: u64) -> Option<Instant> {
        match self.told {
            Told::Nothing => {}
            // The caller requests a new report before it waits.
            Told::Room => return None,
            Told::Full { again, .. } => return Some(again),
        }
        let wanted = (self.burst / 4) as i64 - self.room;
        let nanos = u128::from(wanted.max(0).unsigned_abs()) * 1_000_000_000 / u128::from(rate.max(1));
        self.at?.after(Duration::from_nanos(nanos.min(1_000_000_000) as i64))
    }

    /// Returns whether the writer should request a report now.
    fn wants_room(&self, now: Instant) -> bool {
        self.room <= 0 && !matches!(self.told, Told::Full { again, .. } if now < again)
    }

    /// Notes a report of the free receive buffer; `None` if the system reports nothing. Returns whether more may be
    /// sent now.
    fn note_room(&mut self, now: Instant, room: Option<usize>) -> bool {
        let grant = room.map(|room| (room / SHARE) as u64).map(|grant| grant.min(self.burst));
        self.told = match (grant, self.told) {
            (None, _) => Told::Nothing,
            (Some(grant), _) if grant >= GRANT_MIN as u64 => {
                self.room = grant as i64;
                Told::Room
            }
            // The reader does not empty its buffer, so fall back to the clock.
            (Some(_), Told::Full { since, .. }) if now.since(since) >= PATIENCE => Told::Nothing,
            (Some(_), told) => {
                let since = if let Told::Full { since, .. } = told { since } else { now };
                Told::Full { since, again: now.after(LOOK_AGAIN).unwrap_or(now) }
            }
        };
        self.at = Some(now);
        self.told == Told::Room
    }
}

impl StatefulWriter {
    /// Returns the local locators whose free receive buffer the writer needs to know; `None` if it needs none now.
    ///
    /// Best-effort readers of this host listen there, and data waits for them. A caller that can read the free space
    /// reports it by [`StatefulWriter::note_room`].
    #[must_use]
    pub fn waits_for_room(&self, now: Now) -> Option<&[Locator]> {
        let destinations = &self.destinations;
        let is_held = destinations.reliable_count == 0 && self.has_more_to_send() && self.pace.wants_room(now.instant);
        (is_held && destinations.same_host).then(|| destinations.locators(&self.proxies))
    }

    /// Notes the largest free receive buffer, in bytes, among the locators of [`StatefulWriter::waits_for_room`].
    ///
    /// `None` if the system reports nothing: then the clock sets the rate. Returns whether the writer sends more now.
    pub fn note_room(&mut self, now: Now, room: Option<usize>) -> bool {
        let goes_on = self.pace.note_room(now.instant, room);
        if !goes_on {
            self.pace.opens_at(self.destinations.rate).into_iter().for_each(|until| self.wait_until(until));
        }
        goes_on
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
    fn what_is_told_of_the_buffer_takes_the_place_of_the_clock() {
        let mut pace = Pace::new(MIB);
        assert!(pace.is_open(at(0), RATE) && !pace.wants_room(at(0)));
        pace.note_sent(MIB);
        assert!(!pace.is_open(at(0), RATE) && pace.wants_room(at(0)));
        assert!(pace.note_room(at(0), Some(2 * MIB)));
        pace.note_sent(MIB / 2 - 1);
        assert!(pace.is_open(at(1), RATE));
        pace.note_sent(1);
        // The clock alone would have refilled half a MiB.
        assert!(!pace.is_open(at(1_000), RATE) && pace.wants_room(at(1_000)));
        // A grant is at most one burst.
        assert!(pace.note_room(at(1_000), Some(100 * MIB)));
        assert_eq!(pace.room, MIB as i64);
    }

    #[test]
    fn a_full_buffer_is_asked_for_again_now_and_then_and_given_up_in_the_end() {
        let mut pace = Pace::new(MIB);
        assert!(pace.is_open(at(0), RATE));
        pace.note_sent(MIB);
        let (mut asked, mut micros) = (0, 0);
        while !pace.is_open(at(micros), RATE) {
            if pace.wants_room(at(micros)) {
                assert!(!pace.note_room(at(micros), Some(SHARE * GRANT_MIN - 1)));
                asked += 1;
            }
            micros += 100;
        }
        assert!((200..=202).contains(&asked), "{asked} times");
        assert!((100_000..104_000).contains(&micros), "{micros} us");
    }

    #[test]
    fn where_nobody_tells_the_clock_refills() {
        let mut pace = Pace::new(MIB);
        assert!(pace.is_open(at(0), RATE));
        pace.note_sent(MIB);
        assert!(!pace.note_room(at(0), None));
        assert!(!pace.is_open(at(0), RATE));
        assert!(pace.opens_at(RATE) > Some(at(400)));
        assert!(pace.is_open(at(600), RATE));
    }
}
