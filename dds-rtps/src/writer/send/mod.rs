//! Sending: which change goes out next, and how its datagram is laid out.
//!
//! In: the history, the matched readers, the time. Out: datagrams with their destinations. Owned: the position in the
//! stream, the open batch, and the limits of new changes.
//!
//! | file | owns |
//! |---|---|
//! | `cursor` | position in the stream that all readers receive |
//! | `batch` | small changes that wait to share a datagram |
//! | `gate` | whether readers have room for new changes |
//! | `repair` | data for one reader: repairs, history, irrelevant changes |
//! | `layout`, `gap_run` | layout of one message |

pub(crate) mod batch;
pub(crate) mod cursor;
mod gap_run;
pub(crate) mod gate;
pub(crate) mod layout;
pub(crate) mod repair;

use crate::history::{CacheChange, StoredChange};

/// Cost of a datagram in a receive buffer beside its bytes.
///
/// The kernel charges 1 KiB for its own record, and grants twice the requested buffer size.
pub(crate) const DATAGRAM_COST: usize = 512;

/// Returns the number of fragments of a change.
pub(crate) fn fragment_count(stored: &StoredChange) -> u32 {
    // The length fits into 32 bits, so the number of fragments does too.
    payload_len(&stored.change).div_ceil(usize::from(stored.fragment_size.max(1))) as u32
}

/// Returns the bytes of payload of a change.
#[inline]
pub(crate) fn payload_len(change: &CacheChange) -> usize {
    match &change.payload {
        Some(payload) => payload.len(),
        None => 0,
    }
}

/// Decides whether a change goes out in fragments, before its first transmission.
///
/// Its fragment size stays fixed from then on, because readers refer to its fragments by number.
#[inline]
pub(crate) fn choose_fragment_size(stored: &mut StoredChange, fragment_size: u16) {
    if stored.fragment_size == 0 && payload_len(&stored.change) > usize::from(fragment_size) {
        stored.fragment_size = fragment_size;
    }
}
