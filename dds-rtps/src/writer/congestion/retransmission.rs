//! Retransmission loss: the share of retransmitted fragments that the reader requests again.
//!
//! A receive buffer may have room for less than the minimum window. Waiting does not help then, because each round
//! loses what the round before lost. The retransmission loss distinguishes this case from a network with random losses.
//! If it exceeds one half, the minimum window shrinks, down to one datagram.

/// Lower bound of the minimum window. It allows one datagram, because the last one may exceed the window.
pub(crate) const WINDOW_FLOOR: u64 = 1 << 10;

/// Fewest retransmitted fragments that allow a judgment, for a small and a large window.
///
/// Of fewer fragments, chance alone sometimes loses one half. With only a few bytes in flight, more fragments would
/// take too long.
const JUDGED_FRAGMENTS_MIN: u64 = 8;
const JUDGED_FRAGMENTS_MAX: u64 = 32;

/// Outcome of retransmitted fragments, and the limit of the minimum window that follows from it.
#[derive(Debug)]
pub(crate) struct RetransmissionLoss {
    /// Retransmitted fragments since the last judgment, and those of them that the reader requested again.
    sent: u64,
    lost: u64,
    /// Limit of the minimum window after high retransmission loss; [`u64::MAX`] without such loss.
    limit: u64,
}

impl RetransmissionLoss {
    pub(crate) const fn new() -> Self {
        Self { sent: 0, lost: 0, limit: u64::MAX }
    }

    /// Returns the limit of the minimum window; [`u64::MAX`] for none.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns whether retransmission loss has reduced the minimum window.
    pub(crate) fn is_high(&self) -> bool {
        self.limit < u64::MAX
    }

    /// Notes the outcome of `sent` retransmitted fragments: the reader requests `lost` of them again.
    ///
    /// `usual_min` is the minimum window without retransmission loss. Returns the new window if it shrinks.
    pub(crate) fn note(&mut self, sent: u32, lost: u32, window: u64, usual_min: u64) -> Option<u64> {
        self.sent += u64::from(sent);
        self.lost += u64::from(lost);
        let enough = (self.limit / WINDOW_FLOOR).clamp(JUDGED_FRAGMENTS_MIN, JUDGED_FRAGMENTS_MAX);
        if self.sent < enough {
            return None;
        }
        let (sent, lost) = (self.sent, self.lost.min(self.sent));
        (self.sent, self.lost) = (0, 0);
        let min = usual_min.min(self.limit);
        if 2 * lost > sent {
            // The share of received fragments shows how much the receive buffer can hold.
            let window = window.min(min);
            let reduced = (window * (sent - lost) / sent).max(window / 4).max(WINDOW_FLOOR);
            self.limit = reduced;
            return Some(reduced);
        }
        if self.is_high() {
            // Recover fast with at most an eighth of loss, more slowly otherwise.
            let grown = min + (min / if 8 * lost <= sent { 2 } else { 4 }).max(1);
            self.limit = if grown < usual_min { grown } else { u64::MAX };
        }
        None
    }
}
