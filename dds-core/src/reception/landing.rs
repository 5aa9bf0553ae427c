//! In-place reception: which fragment to expect next, and the processing of a received one.

use super::receive::IncomingDatagram;
use super::traffic::count;
use crate::actor::{Effects, OfferError, Offered, PushError};
use crate::driver::{EXPECTED_HEADER_MAX, Expected, ExpectedPlace, Headers};
use crate::reception::{Heard, ReceivedDatagram, Reception};
use crate::subscription::{ParsedRun, ReaderActor, ReaderMail, SubmessageRun};
use dds_rtps::wire::{Submessage, id as submessage_id};
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Shorter fragments are cheaper to copy than to receive in parts, and they arrive in runs.
const LANDING_LEN_MIN: usize = 16 << 10;

/// Offset of the first submessage, behind the header of the message.
const SUBMESSAGES_AT: usize = 20;

/// Offset of the first fragment number in a DATA_FRAG.
const FRAGMENT_NUMBER_AT: usize = 24;

impl IncomingDatagram<'_> {
    /// Sets the datagram to expect next, if this one consists of one fragment and its headers.
    ///
    /// Called inside the reader's cell, after the reader has accepted the fragment.
    #[inline]
    pub(super) fn expect_next(&self, run: &SubmessageRun, parsed: &ParsedRun<'_, '_>, reader: &mut ReaderActor) {
        if let (Some(next), Submessage::DataFrag(_)) = (self.next, parsed.first) {
            next.set(self.next_after(run, parsed, reader));
        }
    }

    /// Expects no datagram in particular.
    pub(super) fn expect_none(&self) {
        if let Some(next) = self.next {
            next.set(None);
        }
    }

    fn next_after(
        &self,
        run: &SubmessageRun,
        parsed: &ParsedRun<'_, '_>,
        reader: &mut ReaderActor,
    ) -> Option<Expected> {
        let Submessage::DataFrag(fragment) = parsed.first else { return None };
        let bytes = self.packet.payload.bytes();
        let len = usize::from(fragment.fragment_size);
        let header = bytes.get(..bytes.len().checked_sub(len)?)?;
        let is_plain = len >= LANDING_LEN_MIN
            && fragment.fragments_in_submessage == 1
            && fragment.payload.len() == len
            && parsed.behind.offset() >= bytes.len()
            && header.len() <= EXPECTED_HEADER_MAX
            // A checksum differs in each message, so the headers would not match.
            && bytes.get(SUBMESSAGES_AT) != Some(&submessage_id::HEADER_EXTENSION);
        if !is_plain {
            return None;
        }
        // Bit 0 of the submessage flags is the byte order.
        let little_endian = bytes.get(run.offset + 1)? & 1 != 0;
        let number_at = (run.offset + FRAGMENT_NUMBER_AT, little_endian);
        let headers = Headers::like(header, number_at, reader.rtps().guid().entity_id, run.source)?;
        Some(headers.in_front_of(reader.next_fragment_place(run, fragment)?))
    }
}

impl Reception {
    /// Processes a fragment that was received in place, with headers like those of the fragment before it.
    pub(crate) fn land(&self, landed: Expected, next: &ExpectedPlace, effects: &mut Effects) -> ReceivedDatagram {
        let counters = &self.counters;
        count(&counters.received);
        counters.landed_bytes.fetch_add(landed.landing.len() as u64, Ordering::Relaxed);
        let now = effects.read_clock(|| self.core.driver().now());
        let prefix = landed.headers().source.writer.prefix;
        // `false`: a message with a checksum is never expected.
        let heard = self.routes().heard_of(prefix, false, now.instant);
        if heard == Heard::Incredible {
            count(&counters.damaged);
            return ReceivedDatagram::default();
        }
        next.set(self.land_at_reader(landed, effects));
        let revived = if heard == Heard::Awaited { Some(prefix) } else { None };
        ReceivedDatagram { for_discovery: false, revived }
    }

    fn land_at_reader(&self, landed: Expected, effects: &mut Effects) -> Option<Expected> {
        // The reader may have closed since the guess.
        let Some(reader) = self.routes().reader(landed.headers().reader) else {
            self.note_no_such_endpoint();
            return None;
        };
        let source = landed.headers().source;
        // Either closure takes the fragment: the visit or the mail.
        let landed = Cell::new(Some(landed));
        let offered = reader.offer(
            effects,
            |actor, effects| {
                let (landing, headers) = landed.take()?.into_parts();
                Some(headers.in_front_of(actor.receive_in_place(&source, landing, effects)?))
            },
            || ReaderMail::InPlace { fragment: landed.take().map(|landed| landed.into_parts().0), source },
        );
        match offered {
            Ok(Offered::Served(next)) => next,
            Err(OfferError::Push(PushError::Full(_))) => {
                // The fragment is lost, and its place in the assembly stays empty until a repair.
                count(&self.counters.inbox_full);
                None
            }
            _ => None,
        }
    }
}
