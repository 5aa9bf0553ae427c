//! How fast large samples go to readers that never answer.
//!
//! A best-effort reader says nothing, so the clock has to do what [`Flow`](super::flow) does by its answers: a burst that
//! its receive buffer surely takes goes out at once, the rest at a rate.

use crate::types::{Duration, Instant};

/// Room for a burst, refilled at a rate.
#[derive(Debug)]
pub(super) struct Pace {
    burst: u64,
    /// Bytes that may be sent now; what is sent in one piece may make it less than nothing.
    room: i64,
    /// Up to when `room` was refilled.
    at: Option<Instant>,
}

impl Pace {
    pub(super) fn new(burst: usize) -> Self {
        let burst = burst.min(i64::MAX as usize) as u64;
        Self { burst, room: burst as i64, at: None }
    }

    /// Another burst from now on; what has been used up stays so.
    pub(super) fn set_burst(&mut self, burst: usize) {
        let used = self.burst as i64 - self.room;
        *self = Self { at: self.at, ..Self::new(burst) };
        self.room -= used;
    }

    /// Whether more may be sent now, at `rate` bytes per second.
    pub(super) fn is_open(&mut self, now: Instant, rate: u64) -> bool {
        let since = self.at.replace(now).map_or(Duration::INFINITE, |at| now.since(at));
        // Nobody waits longer than that for a burst.
        let nanos = since.as_nanos().clamp(0, 1_000_000_000) as u128;
        let refill = (nanos * u128::from(rate) / 1_000_000_000).min(i64::MAX as u128) as i64;
        self.room = self.room.saturating_add(refill).min(self.burst as i64);
        self.room > 0
    }

    /// So many bytes are on their way.
    pub(super) fn note_sent(&mut self, len: usize) {
        self.room -= len as i64;
    }

    /// When there is room for a quarter of a burst, which is worth a timer.
    pub(super) fn opens_at(&self, rate: u64) -> Option<Instant> {
        let wanted = (self.burst / 4) as i64 - self.room;
        let nanos = u128::from(wanted.max(0).unsigned_abs()) * 1_000_000_000 / u128::from(rate.max(1));
        self.at?.after(Duration::from_nanos(nanos.min(1_000_000_000) as i64))
    }
}
