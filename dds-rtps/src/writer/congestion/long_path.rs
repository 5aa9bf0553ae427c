//! Window control on a long path.
//!
//! On a long path an answer takes milliseconds at any load, and the window is the amount of data on the path. A few
//! random losses would keep it small forever. So the window follows the share of lost bytes. Losses at the minimum
//! window come from the network. While the share does not grow with the window, the window grows.
//!
//! The writer sends HEARTBEATs without waiting for answers. It assigns an answer to the last HEARTBEAT that is at least
//! seven eighths of the RTT old.

use super::StreamPosition;
use crate::types::{Duration, Instant};
use std::collections::VecDeque;

/// From this RTT on, a path is a long path. On a shorter path the answer time depends on the load.
pub(crate) const LONG_PATH_RTT: Duration = Duration::from_millis(20);

/// The largest plausible RTT of a long path: to the other side of the earth and back.
pub(crate) const LONG_PATH_RTT_MAX: Duration = Duration::from_millis(300);

/// HEARTBEATs per window on a long path.
pub(crate) const HEARTBEATS_PER_WINDOW: u64 = 8;

/// HEARTBEATs that the writer remembers on a long path.
const HEARTBEATS_MAX: usize = 32;

/// Fewest bytes in one judgment of the losses. Fewer datagrams may lose twice the usual share by mere chance.
///
/// The writer judges at least one window of bytes.
const JUDGED_BYTES_MIN: u64 = 128 << 10;

/// Bounds of the growth on a long path. The window doubles, but grows by at most one receive buffer at a time.
///
/// After the window was once too large, it grows by a sixteenth.
const GROWTH_MAX: u64 = 192 << 10;
const SLOW_GROWTH_DIVISOR: u64 = 16;

/// Margin of the tolerated losses, in thousandths.
///
/// A share of losses is too large if it exceeds 1.5 times the network's own share by more than this.
const LOSS_MARGIN: u64 = 60;

/// State of a long path. Bound: [`HEARTBEATS_MAX`] HEARTBEATs.
#[derive(Debug)]
pub(crate) struct LongPath {
    /// HEARTBEATs in flight.
    heartbeats: VecDeque<SentHeartbeat>,
    /// Bytes before this position, and data up to `window_start`, were sent with another window.
    window_from: u64,
    window_start: StreamPosition,
    /// Position of the last HEARTBEAT.
    last_heartbeat: StreamPosition,
    /// Start of the bytes that the writer judges now; `None` if bytes of another window are still in flight.
    judged_from: Option<u64>,
    /// Lost bytes since `judged_from`.
    lost: u64,
    /// Share of losses that the network itself causes, in thousandths.
    network_loss: u64,
    /// The window has been too large: its losses did not come from the network.
    was_too_large: bool,
    /// Share of losses that caused the last reduction, if the last judgment reduced the window.
    reduced_at: Option<u64>,
}

/// A HEARTBEAT in flight on a long path, and the bytes sent before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentHeartbeat {
    pub(crate) at: Instant,
    pub(crate) position: u64,
}

impl LongPath {
    pub(crate) const fn new() -> Self {
        Self {
            heartbeats: VecDeque::new(),
            window_from: 0,
            window_start: StreamPosition::START,
            last_heartbeat: StreamPosition::START,
            judged_from: None,
            lost: 0,
            network_loss: 0,
            was_too_large: false,
            reduced_at: None,
        }
    }

    /// Notes the position of a HEARTBEAT. The path may be short.
    pub(crate) fn note_position(&mut self, place: StreamPosition) {
        self.last_heartbeat = place;
    }

    /// Notes a HEARTBEAT on a long path, sent after `position` bytes.
    pub(crate) fn note_heartbeat(&mut self, at: Instant, position: u64) {
        // More HEARTBEATs in flight would only make the assignment of answers finer.
        if self.heartbeats.len() < HEARTBEATS_MAX {
            self.heartbeats.push_back(SentHeartbeat { at, position });
        }
    }

    /// Removes the HEARTBEATs that the reader may have answered now, and returns the last of them.
    pub(crate) fn take_answered(&mut self, now: Instant, rtt_bound: Duration) -> Option<SentHeartbeat> {
        // Seven eighths tolerate jitter.
        let soonest = rtt_bound.min(LONG_PATH_RTT_MAX).scale(7, 8);
        let mut answered = None;
        while let Some(&heartbeat) = self.heartbeats.front() {
            if now.since(heartbeat.at) < soonest {
                break;
            }
            self.heartbeats.pop_front();
            answered = Some(heartbeat);
        }
        answered
    }

    /// Forgets the HEARTBEATs in flight.
    pub(crate) fn forget_heartbeats(&mut self) {
        self.heartbeats.clear();
    }

    /// Notes that `len` bytes of a first transmission at `place` are lost.
    pub(crate) fn note_lost(&mut self, place: StreamPosition, len: u64) {
        // Losses of bytes that were sent with another window say nothing about this one, even if reported late.
        if place > self.window_start {
            self.lost += len;
        }
    }

    /// Returns the share of losses in thousandths, once enough bytes of the present window are settled.
    pub(crate) fn loss_share(&mut self, settled: u64, window: u64) -> Option<u64> {
        if settled < self.window_from {
            return None;
        }
        let Some(judged_from) = self.judged_from else {
            // Bytes of an earlier window have just left the path. The judgment starts here.
            (self.judged_from, self.lost) = (Some(settled), 0);
            return None;
        };
        let judged = settled - judged_from;
        if judged < window.max(JUDGED_BYTES_MIN) {
            return None;
        }
        Some((self.lost * 1000 / judged).min(1000))
    }

    /// Starts the next judgment after a change of the window. `sent` bytes belong to the window before.
    pub(crate) fn restart(&mut self, sent: u64) {
        (self.window_from, self.window_start, self.judged_from) = (sent, self.last_heartbeat, None);
    }

    /// Returns the window that follows from the share of lost bytes, in thousandths.
    ///
    /// `is_limiting`: the window limited the writer.
    pub(crate) fn adapt(&mut self, share: u64, window: u64, window_min: u64, is_limiting: bool) -> u64 {
        let usual = self.network_loss;
        let is_usual = share <= usual + usual / 2 + LOSS_MARGIN;
        let reduced_at = self.reduced_at.take();
        if is_usual {
            // A moving average over eight judgments.
            self.network_loss = (7 * usual + share) / 8;
            if !is_limiting {
                return window;
            }
            let growth = if self.was_too_large { window / SLOW_GROWTH_DIVISOR } else { window };
            return window + growth.min(GROWTH_MAX);
        }
        // A loss at the minimum window is not caused by the window. The same holds if the halved window loses as large
        // a share as the whole one. A share above one half proves nothing, because half of such a window may still be
        // too large.
        let is_smallest = window <= window_min + window_min / 4;
        if is_smallest || reduced_at.is_some_and(|before| before <= 500 && share * 10 >= before * 7) {
            self.network_loss = share;
            self.was_too_large = false;
            return window;
        }
        self.was_too_large = true;
        self.reduced_at = Some(share);
        (window / 2).max(window_min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::SequenceNumber;

    #[test]
    fn long_path_remembers_bounded_number_of_heartbeats() {
        let mut path = LongPath::new();
        for ms in 0..100 {
            path.note_heartbeat(Instant::from_nanos(ms * 1_000_000), 0);
        }
        assert_eq!(path.heartbeats.len(), HEARTBEATS_MAX);
    }

    #[test]
    fn long_path_ignores_losses_of_an_earlier_window() {
        let mut path = LongPath::new();
        path.window_start = StreamPosition { last: SequenceNumber(7), fragments: 3 };
        path.note_lost(StreamPosition { last: SequenceNumber(7), fragments: 3 }, 1_000);
        path.note_lost(StreamPosition { last: SequenceNumber(7), fragments: 4 }, 10);
        path.note_lost(StreamPosition { last: SequenceNumber(8), fragments: 1 }, 1);
        assert_eq!(path.lost, 11);
    }
}
