//! Whether readers have room for new changes.
//!
//! Some reliable reader must have room in its congestion window. A slow reader does not delay a faster one. Without
//! reliable readers, the pacer decides.

use super::DATAGRAM_COST;
use crate::types::{Instant, SequenceNumber, earliest};
use crate::writer::congestion::pacer::Pacer;
use crate::writer::readers::ReaderTable;

/// Fewest bytes of whole samples that are added to the windows at a time. Each addition visits all readers.
const NOTED_MIN: usize = 8 << 10;

/// Limits of new changes for all readers.
#[derive(Debug)]
pub(crate) struct SendGate {
    /// Pacing of large samples to best-effort readers.
    pub(crate) pacer: Pacer,
    /// Bytes of whole changes in flight that the proxies' windows do not include yet.
    not_noted: usize,
    /// The windows may be full: check them before the next change.
    may_be_full: bool,
    /// No reader needs a stored change, so writes need no permission. Updated when readers come and go.
    pub(crate) writes_through: bool,
}

/// Whether new changes may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendPermission {
    Open,
    /// Check again at this time; `None` for the next answer or report.
    Closed(Option<Instant>),
}

impl SendGate {
    pub(crate) fn new(burst: usize) -> Self {
        Self { pacer: Pacer::new(burst), not_noted: 0, may_be_full: false, writes_through: false }
    }

    /// Returns whether to check the windows before a whole change. The check visits all readers.
    #[inline]
    pub(crate) fn needs_check(&self) -> bool {
        self.may_be_full
    }

    /// Checks whether the writer may send `next`, a change of `len` bytes, and more to all readers.
    pub(crate) fn check(
        &mut self,
        now: Instant,
        next: SequenceNumber,
        len: usize,
        readers: &ReaderTable,
    ) -> SendPermission {
        let destinations = &readers.destinations;
        let (mut is_open, mut until) = (false, None);
        if destinations.reliable_count == 0 {
            is_open = self.pacer.is_open(now, destinations.rate);
            if !is_open {
                until = self.pacer.opens_at(destinations.rate);
            }
        } else {
            // Best-effort readers do not wait for repairs of other readers.
            let waits_for_repairs = destinations.reliable_count == readers.proxies.len();
            for proxy in readers.reliable() {
                let catches_up = if waits_for_repairs { proxy.catches_up_until(now, next, len) } else { None };
                // One reader with room suffices. The others get the data they miss as repairs.
                if catches_up.is_none() && proxy.congestion.is_open() {
                    is_open = true;
                    break;
                }
                until = earliest(until, earliest(proxy.congestion.deadline(), catches_up));
            }
        }
        self.may_be_full &= !is_open;
        if is_open { SendPermission::Open } else { SendPermission::Closed(until) }
    }

    /// Counts fragments of `number`. Returns whether a HEARTBEAT must probe a reader.
    pub(crate) fn note_fragments(&mut self, number: SequenceNumber, len: usize, readers: &mut ReaderTable) -> bool {
        if readers.destinations.reliable_count == 0 {
            self.pacer.note_sent(len);
            return false;
        }
        readers.note_sent(number, len)
    }

    /// Counts whole changes in a datagram of `len` bytes, sent before `next`. Returns whether a HEARTBEAT must probe a
    /// reader.
    #[inline]
    pub(crate) fn note_samples(&mut self, next: SequenceNumber, len: usize, readers: &mut ReaderTable) -> bool {
        // A visit of all readers for each small sample would cost more than the sample.
        self.not_noted += len + DATAGRAM_COST;
        if self.not_noted < NOTED_MIN {
            return false;
        }
        let len = std::mem::take(&mut self.not_noted);
        let wants_probe = self.note_fragments(next, len, readers);
        readers.mark_sent(next.previous());
        // The added bytes may have filled a window.
        self.may_be_full = true;
        wants_probe
    }
}
