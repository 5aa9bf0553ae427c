//! Whole large changes in one message, where the transport carries messages that are longer than a UDP datagram.
//!
//! In: the longest message to the present destinations, from the caller. Out: a DATA that ends its message, and the
//! HEARTBEAT behind it. Owned: both.
//!
//! A DATA of more than 65 535 bytes has a length of zero: it lasts to the end of the message (RTPS 2.5, 9.4.5.1.3). So
//! its HEARTBEAT needs a message of its own. Only the first transmission is whole: a repair consists of fragments,
//! which every transport carries.

use super::transmit::HeartbeatPurpose;
use crate::concurrent::Payload;
use crate::history::StoredChange;
use crate::types::SequenceNumber;
use crate::writer::readers::destinations::Destinations;
use crate::writer::send::layout::Layout;
use crate::writer::send::payload_len;

/// Returns whether the transport has lent the memory of a change. It then carries it in one message of any length.
pub(super) fn is_lent(stored: &StoredChange) -> bool {
    stored.change.payload.as_ref().is_some_and(Payload::is_borrowed)
}

/// Long messages of one writer.
#[derive(Debug, Default)]
pub(super) struct LongMessages {
    /// Most bytes of a message to all readers. Zero: large changes go out in fragments.
    len_max: usize,
    /// The last change that was longer than a fragment when it was written.
    last_large: SequenceNumber,
    /// The HEARTBEAT that belongs behind the last long message.
    heartbeat: Option<HeartbeatPurpose>,
}

impl LongMessages {
    /// Returns whether a change that was never sent goes out in one long message.
    pub(super) fn takes(&self, stored: &StoredChange, destinations: &Destinations, layout: &Layout<'_>) -> bool {
        self.len_max > 0
            && stored.fragment_size == 0
            && payload_len(&stored.change) > usize::from(destinations.fragment_size)
            && destinations.may_be_long()
            && (layout.is_within(&stored.change, self.len_max)
                || is_lent(stored) && layout.has_short_headers(&stored.change))
    }

    /// Bytes that a change needs at its readers at once, because it goes out as a whole. Otherwise zero.
    pub(super) fn len_of_lent(&self, stored: Option<&StoredChange>) -> usize {
        match stored {
            Some(stored) if self.len_max > 0 && is_lent(stored) => payload_len(&stored.change),
            _ => 0,
        }
    }

    /// Notes the newest change, which is longer than a fragment.
    #[inline]
    pub(super) fn note_large(&mut self, number: SequenceNumber) {
        self.last_large = number;
    }

    /// Returns whether `next` or a later change may be longer than a fragment.
    #[inline]
    pub(super) fn has_large_from(&self, next: SequenceNumber) -> bool {
        self.last_large >= next
    }

    pub(super) fn set_len_max(&mut self, len: usize) {
        self.len_max = len;
    }

    pub(super) fn take_heartbeat(&mut self) -> Option<HeartbeatPurpose> {
        self.heartbeat.take()
    }

    pub(super) fn owe_heartbeat(&mut self, purpose: HeartbeatPurpose) {
        self.heartbeat = Some(purpose);
    }
}
