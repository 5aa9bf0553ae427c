//! Fragments that are received in their place.
//!
//! The fragments of a large sample come one after the other, so that the next one is known before it is there. Whoever
//! receives may borrow its place in the sample ([`Landing`]), let the system put it there, and hand it back by
//! [`StatefulReader::handle_landed`]: nothing is copied but by the system.
//!
//! Life cycle: a landing has the sample's slot, and nobody else does; the sample itself only knows that it is lent. When the
//! landing is dropped, for whatever reason, the slot comes home, where the sample finds it when it next needs it. If the
//! sample is gone by then, so is the slot. What is written into the place counts for nothing until it has been handed back:
//! a guess that was wrong leaves other bytes where bytes are missing anyway.
//!
//! Bound: one for each who receives, with the memory of one sample. A fragment that comes by another way while its sample is
//! lent finds no room, and is asked for again.

use crate::concurrent::SlotMut;
use crate::reader::assembly::{Assembled, Assembly};
use crate::reader::config::Source;
use crate::reader::stateful::StatefulReader;
use crate::types::{Guid, Now, SequenceNumber};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the slot of a sample is left when it comes back.
#[derive(Debug, Default)]
pub(crate) struct Home(Mutex<Option<SlotMut>>);

impl Home {
    pub(crate) fn take(&self) -> Option<SlotMut> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn leave(&self, slot: SlotMut) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
    }
}

/// The place of the fragment that is expected next, with the sample's memory.
#[derive(Debug)]
pub struct Landing {
    /// There until it is dropped.
    slot: Option<SlotMut>,
    pub(crate) home: Arc<Home>,
    pub(crate) sequence_number: SequenceNumber,
    sample_size: u32,
    pub(crate) number: u32,
    fragment_size: u16,
}

impl Landing {
    /// The slot has memory for all of the fragment.
    pub(crate) fn new(slot: SlotMut, home: Arc<Home>, assembly: &Assembly, number: u32) -> Self {
        let (sample_size, fragment_size) = assembly.sizes();
        let sequence_number = assembly.sequence_number;
        Self { slot: Some(slot), home, sequence_number, sample_size, number, fragment_size }
    }

    /// The fragment's number, from 1.
    #[must_use]
    pub fn fragment_number(&self) -> u32 {
        self.number
    }

    /// How many bytes the fragment has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fragment_size.into()
    }

    /// Never: a fragment has bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fragment_size == 0
    }

    /// Where it belongs; [`Landing::len`] bytes. They may be written in any way before the landing is dropped or handed back.
    pub fn place(&mut self) -> &mut [u8] {
        let len = self.len();
        let start = (self.number.saturating_sub(1) as usize).saturating_mul(len);
        let place = self.slot.as_mut().and_then(|slot| slot.buffer().get_mut(start..start.saturating_add(len)));
        place.unwrap_or_default()
    }

    pub(crate) fn slot(&mut self) -> Option<&mut SlotMut> {
        self.slot.as_mut()
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.home.leave(slot);
        }
    }
}

/// What became of a fragment that lies in its place.
#[derive(Debug)]
pub(crate) enum Landed {
    /// It counts; others are missing, of which this is the next place.
    Added(Option<Landing>),
    /// It was there already.
    Duplicate,
    /// Its sample is not put together any more.
    Gone,
    /// The sample is whole.
    Complete(Assembled),
}

impl StatefulReader {
    /// The place of the fragment that follows this one, which has just come, if that one is likely to come next.
    pub fn place_after(&mut self, writer: Guid, number: SequenceNumber, fragment: u32) -> Option<Landing> {
        let at = self.find(writer)?;
        self.proxies.get_mut(at)?.assemblies.lend(number, fragment.checked_add(1)?)
    }

    /// A fragment has been received in its place. What came with it was equal to what came with the one before it, but for the
    /// number, so that nothing else is new. Returns the place of the next one.
    pub fn handle_landed(&mut self, now: Now, source: &Source, landing: Landing) -> Option<Landing> {
        let Some(at) = self.find(source.writer) else {
            self.counters.unmatched += 1;
            return None;
        };
        self.note_sign_of_life(now, at);
        let number = landing.sequence_number;
        if self.refuse(now, at, number, landing.sample_size as usize).is_some() {
            return None;
        }
        let Self { proxies, intake, counters, .. } = self;
        match proxies.get_mut(at)?.assemblies.land(now.instant, landing, &intake.large) {
            Landed::Added(next) => {
                self.fragment_added(now, at, number);
                next
            }
            Landed::Duplicate => {
                counters.duplicate += 1;
                None
            }
            Landed::Gone => None,
            Landed::Complete(whole) => {
                self.take_in_assembled(now, at, number, whole);
                None
            }
        }
    }
}
