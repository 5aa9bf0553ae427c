//! The assembly of one fragmented sample.

use super::bitmap::ReceivedFragments;
use super::in_place::{InPlaceFragment, SlotReturn};
use super::{BLOCKED_BY_LOAN_MAX, FragmentOutcome, FragmentRequests, SpareAssembly};
use crate::cdr::{append, copy};
use crate::concurrent::{SlotMut, SlotPool};
use crate::history::PresentationInfo;
use crate::reader::change_facts::ChangeFacts;
use crate::types::{Duration, Instant, SequenceNumber};
use crate::wire::{DataFrag, FragmentNumberSet};
use std::sync::Arc;

/// Memory of a sample may exceed its received bytes by this factor.
const AHEAD_FACTOR: usize = 4;

/// Bytes of memory that a sample may have before more of it arrives: a burst that lost its beginning.
const AHEAD_BYTES: usize = 1 << 20;

/// Most NACK_FRAGs for one sample at a time: 2048 fragments. The reader requests more after these arrived.
const SETS_MAX: usize = 8;

/// After this many fragments in order the reader expects the next one.
const IN_A_ROW_MIN: u32 = 2;

/// Position of the fragments of one DATA_FRAG in their sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct FragmentRange {
    pub(super) fragment_count: u32,
    /// First and last fragment number, from 1.
    first: u32,
    last: u32,
    /// First byte, and the byte after the last one.
    start: usize,
    end: usize,
}

impl FragmentRange {
    /// `None`: the numbers contradict each other. `parse` has checked most of it; this module does not rely on that.
    pub(super) fn of(fragment: &DataFrag<'_>) -> Option<Self> {
        let sample_size = fragment.sample_size as usize;
        let fragment_size = usize::from(fragment.fragment_size);
        if fragment_size == 0 || sample_size == 0 || fragment.fragments_in_submessage == 0 {
            return None;
        }
        let fragment_count = u32::try_from(sample_size.div_ceil(fragment_size)).ok()?;
        let first = fragment.fragment_starting_num;
        let last = first.checked_add(u32::from(fragment.fragments_in_submessage) - 1)?;
        if first == 0 || last > fragment_count {
            return None;
        }
        // On 32-bit hosts the product may overflow: sample sizes are 32 bits wide.
        let start = (first as usize - 1).checked_mul(fragment_size)?;
        let end = (last as usize).checked_mul(fragment_size)?.min(sample_size);
        if fragment.payload.len() < end - start {
            return None;
        }
        Some(Self { fragment_count, first, last, start, end })
    }
}

/// A sample of which some fragments were received.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) sequence_number: SequenceNumber,
    pub(super) sample_size: usize,
    fragment_size: usize,
    pub(super) fragments: ReceivedFragments,
    /// Highest fragment number that a HEARTBEAT_FRAG announced.
    announced: u32,
    pub(super) is_key: bool,
    pub(super) facts: ChangeFacts,
    pub(super) presented: Option<Box<PresentationInfo>>,
    /// `None`: the slot is lent to a receive thread, or lies in `slot_return`.
    slot: Option<SlotMut>,
    pub(super) slot_return: Arc<SlotReturn>,
    /// How many fragments arrived in order.
    in_a_row: u32,
    /// When the last fragment arrived.
    progress: Instant,
    /// How many fragments in a row contradicted this assembly.
    pub(super) contradictions: u8,
    /// How many fragments in a row found the slot lent.
    blocked_by_loan: u8,
    /// Highest fragment number of the last request, and its time.
    requested: Option<(u32, Instant)>,
}

impl Assembly {
    pub(super) fn new(
        now: Instant,
        fragment: &DataFrag<'_>,
        range: FragmentRange,
        spare: SpareAssembly,
        pool: &SlotPool,
    ) -> Self {
        let sample_size = fragment.sample_size as usize;
        let mut slot = pool.acquire();
        // Old bytes stay in the slot until fragments overwrite them: nothing is zeroed.
        slot.buffer().truncate(sample_size);
        Self {
            sequence_number: fragment.writer_sn,
            sample_size,
            fragment_size: fragment.fragment_size.into(),
            fragments: ReceivedFragments::none_of(range.fragment_count, spare.words),
            announced: 0,
            is_key: fragment.is_key,
            facts: ChangeFacts::default(),
            presented: None,
            slot: Some(slot),
            slot_return: spare.slot_return,
            in_a_row: 0,
            progress: now,
            contradictions: 0,
            blocked_by_loan: 0,
            requested: None,
        }
    }

    pub(super) fn agrees_with(&self, fragment: &DataFrag<'_>) -> bool {
        self.sample_size == fragment.sample_size as usize
            && self.fragment_size == usize::from(fragment.fragment_size)
            && self.is_key == fragment.is_key
    }

    /// Copies fragments to their place in the sample.
    pub(super) fn add(&mut self, now: Instant, fragment: &DataFrag<'_>, range: FragmentRange) -> FragmentOutcome {
        if self.fragments.contains_all(range.first, range.last) {
            return FragmentOutcome::Duplicate;
        }
        let memory_max = self.memory_max();
        let sample_size = self.sample_size;
        // While the slot is lent, its bytes must not move. The fragment is requested again.
        let Some(slot) = self.slot() else {
            self.blocked_by_loan += 1;
            return FragmentOutcome::NoRoom;
        };
        let buffer = slot.buffer();
        // A forged fragment far ahead must not reserve memory for the hole before it.
        if range.start > memory_max.max(buffer.len()) {
            return FragmentOutcome::NoRoom;
        }
        // The parser cuts the payload to its range. A caller may pass a submessage that it built itself.
        let Some(bytes) = fragment.payload.get(..range.end - range.start) else { return FragmentOutcome::Malformed };
        match buffer.get_mut(range.start..range.end) {
            Some(place) => copy(place, bytes),
            None => {
                reserve(buffer, range.end, memory_max, sample_size);
                if buffer.len() < range.start {
                    // Zeroes only a hole, which is as large as the lost fragments.
                    buffer.resize(range.start, 0);
                }
                // The range may begin in bytes that exist and end behind them.
                buffer.truncate(range.start);
                append(buffer, bytes);
            }
        }
        self.note_received(now, range.first, range.last);
        FragmentOutcome::Added
    }

    /// Most bytes of memory that the sample may have now. Limits the memory that a forged fragment can cause.
    fn memory_max(&self) -> usize {
        let received = (self.fragments.len() as usize).saturating_mul(self.fragment_size).min(self.sample_size);
        received.saturating_mul(AHEAD_FACTOR).saturating_add(AHEAD_BYTES)
    }

    /// Whether the slot is lent, and several fragments in a row found no memory for that reason.
    pub(super) fn is_blocked_by_loan(&mut self) -> bool {
        self.blocked_by_loan >= BLOCKED_BY_LOAN_MAX && self.slot().is_none()
    }

    /// The slot, unless it is lent.
    fn slot(&mut self) -> Option<&mut SlotMut> {
        if self.slot.is_none() {
            self.slot = self.slot_return.take();
        }
        self.slot.as_mut()
    }

    /// Takes the slot, unless it is lent.
    pub(super) fn take_slot(&mut self) -> Option<SlotMut> {
        if let Some(slot) = self.slot.take() {
            return Some(slot);
        }
        // A receive thread that borrowed the slot leaves it there.
        self.slot_return.take()
    }

    /// Notes that fragments lie in their places.
    pub(super) fn note_received(&mut self, now: Instant, first: u32, last: u32) {
        // Counts how well the order predicts the next fragment.
        self.in_a_row = if first == self.fragments.first_missing() { self.in_a_row + 1 } else { 0 };
        self.fragments.insert(first, last);
        self.progress = now;
        self.blocked_by_loan = 0;
    }

    /// Whether a fragment is likely to arrive next. The last fragment differs in length, as does the data around it.
    fn is_next(&self, number: u32) -> bool {
        number == self.fragments.first_missing()
            && self.fragments.highest() < number
            && number < self.fragments.fragment_count()
            && self.in_a_row >= IN_A_ROW_MIN
    }

    /// Lends the memory of a fragment, if it is likely to arrive next.
    pub(super) fn lend(&mut self, number: u32) -> Option<InPlaceFragment> {
        let end = (number as usize).checked_mul(self.fragment_size)?;
        if !self.is_next(number) {
            return None;
        }
        let (memory_max, sample_size) = (self.memory_max(), self.sample_size);
        // The receive thread writes without a check, so the memory must exist now.
        prepare(self.slot()?.buffer(), end, memory_max, sample_size);
        let slot = self.slot.take()?;
        // Both sizes come from a DATA_FRAG and fit.
        let sizes =
            (self.sample_size.try_into().unwrap_or(u32::MAX), self.fragment_size.try_into().unwrap_or(u16::MAX));
        Some(InPlaceFragment::new(slot, Arc::clone(&self.slot_return), self.sequence_number, number, sizes))
    }

    /// Lends the fragment that follows a received one, if it is likely to arrive next.
    pub(super) fn lend_following(&self, mut received: InPlaceFragment) -> Option<InPlaceFragment> {
        let number = received.fragment_number().checked_add(1)?;
        let end = (number as usize).checked_mul(self.fragment_size)?;
        if !self.is_next(number) {
            return None;
        }
        // The slot stays lent: only the range moves on, without a detour through the assembly.
        prepare(received.slot()?.buffer(), end, self.memory_max(), self.sample_size);
        received.move_to(number);
        Some(received)
    }

    /// A HEARTBEAT_FRAG announced fragments up to `last`. `true`: some of them are missing.
    pub(super) fn announce(&mut self, last: u32) -> bool {
        self.announced = self.announced.max(last.min(self.fragments.fragment_count()));
        self.fragments.first_missing() <= self.announced
    }

    /// Whether all requested fragments arrived, and others are missing.
    pub(super) fn wants_more(&self) -> bool {
        match self.requested {
            Some((through, _)) => self.fragments.first_missing() > through,
            None => false,
        }
    }

    pub(super) fn is_stale(&self, now: Instant, timeout: Duration) -> bool {
        now.since(self.progress) >= timeout
    }

    /// When the sample is stale unless another fragment arrives.
    pub(super) fn stale_at(&self, timeout: Duration) -> Option<Instant> {
        self.progress.after(timeout)
    }

    /// Adds the missing fragments to `requests`, in sets of at most 256.
    ///
    /// `is_announced`: a HEARTBEAT announced the sample, so the writer has sent all of its fragments. While fragments
    /// still arrive, the rest may be on its way, and only holes are requested. Then returns `true`: look again soon.
    pub(super) fn request_missing(
        &mut self,
        now: Instant,
        is_announced: bool,
        suppression: Duration,
        requests: &mut FragmentRequests,
    ) -> bool {
        let is_quiet = now.since(self.progress) >= suppression;
        // Without a HEARTBEAT the writer may still be sending the rest: only known fragments count.
        let through = if is_announced && is_quiet {
            self.fragments.fragment_count()
        } else {
            self.fragments.highest().max(self.announced)
        };
        let from = match self.requested {
            // Recent requests are still being answered: continue behind them.
            Some((through, at)) if now.since(at) < suppression => through + 1,
            _ => self.fragments.first_missing(),
        };
        let mut set: Option<FragmentNumberSet> = None;
        let mut sets = 0;
        let mut number = from.max(1);
        while let Some(missing) = self.fragments.next_missing(number) {
            if missing > through {
                break;
            }
            let fits = match &mut set {
                Some(set) => set.insert(missing),
                None => false,
            };
            if !fits {
                if let Some(full) = set.take() {
                    requests.push((self.sequence_number, full));
                }
                if sets == SETS_MAX {
                    break;
                }
                sets += 1;
                let mut fresh = FragmentNumberSet::empty(missing);
                fresh.insert(missing);
                set = Some(fresh);
            }
            self.requested = Some((missing, now));
            number = missing + 1;
        }
        if let Some(last) = set {
            requests.push((self.sequence_number, last));
        }
        is_announced && !is_quiet
    }
}

/// Reserves memory up to `end`, at most `memory_max` unless `end` is beyond that.
fn reserve(buffer: &mut Vec<u8>, end: usize, memory_max: usize, sample_size: usize) {
    if buffer.capacity() < end {
        let wanted = memory_max.max(buffer.len()).clamp(end, sample_size.max(end));
        buffer.reserve_exact(wanted - buffer.len());
    }
}

/// As [`reserve`], and makes the bytes writable. A reused slot has them from an earlier sample.
fn prepare(buffer: &mut Vec<u8>, end: usize, memory_max: usize, sample_size: usize) {
    if buffer.len() < end {
        reserve(buffer, end, memory_max, sample_size);
        buffer.resize(end, 0);
    }
}
