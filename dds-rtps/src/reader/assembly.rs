//! Putting fragmented samples together.
//!
//! Life cycle: the first fragment of a sample takes a slot from the pool; each further one is copied to its place in it, or
//! is received there ([`landing`](crate::reader::in_place)); the last one turns it into a payload. A sample is given up when the writer no longer has it, when nothing more comes
//! (best effort), or when others need the room.
//!
//! Bound: the number of samples and their bytes per writer, the size and the number of fragments of each, all checked
//! before there is memory for them. Memory grows with what has arrived, not with what a fragment claims: a sample never
//! has more than [`AHEAD_FACTOR`] times the bytes received and [`AHEAD_BYTES`]. A fragment further ahead is dropped, and
//! asked for again.

use crate::cdr::{append, copy};
use crate::concurrent::{Payload, SlotMut, SlotPool};
use crate::history::PresentationInfo;
use crate::reader::change_facts::ChangeFacts;
use crate::reader::in_place::{Home, Landed, Landing};
use crate::types::{Duration, Instant, SequenceNumber};
use crate::wire::{DataFrag, FragmentNumberSet};
use std::sync::Arc;

/// The most fragments of a sample: 64 MiB in the smallest fragments seen in the field, 256 bytes. Their bits take 32 KiB.
const FRAGMENTS_MAX: u32 = 1 << 18;

/// How much memory may lie ahead of the bytes received.
const AHEAD_FACTOR: usize = 4;

/// How much memory a sample may have before anything else of it is there: a burst that lost its beginning.
const AHEAD_BYTES: usize = 1 << 20;

/// The most NACK_FRAGs for one sample at a time: 2048 fragments. More are asked for when these have come.
const NACK_FRAGS_MAX: usize = 8;

/// Samples that were given up for others and are remembered: of further ones it is not known that some of it had come.
const EVICTED_MAX: usize = 64;

/// After so many fragments in a row the next one is expected.
const IN_A_ROW_MIN: u32 = 2;

/// After so many fragments in a row that contradict what is here, it is the one to be wrong: a writer may cut a sample anew
/// when it sends it again, and would else never get it through.
const CONTRADICTIONS_MAX: u8 = 16;

/// What became of a fragment.
#[derive(Debug)]
pub(crate) enum FragmentOutcome {
    /// It is in its place; others are missing.
    Added,
    /// It was there already.
    Duplicate,
    /// It contradicts itself, or what came before.
    Malformed,
    /// The sample is larger, or in more pieces, than is accepted.
    TooLarge,
    /// There is no room for it now.
    NoRoom,
    /// The sample is whole.
    Complete(Assembled),
}

/// A whole sample.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) payload: Payload,
    pub(crate) is_key: bool,
    pub(crate) facts: ChangeFacts,
    pub(crate) presented: Option<Box<PresentationInfo>>,
}

/// The limits of one writer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssemblyLimits {
    pub(crate) sample_size_max: usize,
    pub(crate) assemblies_max: usize,
    pub(crate) bytes_max: usize,
}

/// A sample of which some fragments are here.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) sequence_number: SequenceNumber,
    sample_size: usize,
    fragment_size: usize,
    fragment_count: u32,
    /// Bit `i % 64` of word `i / 64`: fragment number `i + 1` is here.
    here: Vec<u64>,
    here_count: u32,
    bytes_here: usize,
    /// Every fragment below this number is here.
    first_missing: u32,
    /// The highest number that is here.
    highest: u32,
    /// The highest number that a HEARTBEAT_FRAG has announced.
    announced: u32,
    is_key: bool,
    facts: ChangeFacts,
    presented: Option<Box<PresentationInfo>>,
    /// `None`: it is lent, or at home again.
    slot: Option<SlotMut>,
    home: Arc<Home>,
    /// How many fragments have come one after the other.
    in_a_row: u32,
    /// When the last fragment came.
    progress: Instant,
    /// How many fragments in a row have contradicted it.
    contradicted: u8,
    /// Up to which number was asked last, and when.
    asked: Option<(u32, Instant)>,
}

/// Where the fragments of a submessage belong.
#[derive(Debug, Clone, Copy)]
struct Extent {
    fragment_count: u32,
    first: u32,
    last: u32,
    start: usize,
    end: usize,
}

impl Extent {
    /// `None`: the numbers contradict each other. `parse` has checked most of it; this room does not rely on that.
    fn of(fragment: &DataFrag<'_>) -> Option<Self> {
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
        let start = (first as usize - 1).checked_mul(fragment_size)?;
        let end = (last as usize).checked_mul(fragment_size)?.min(sample_size);
        (fragment.payload.len() >= end - start).then_some(Self { fragment_count, first, last, start, end })
    }
}

impl Assembly {
    fn begin(now: Instant, fragment: &DataFrag<'_>, extent: Extent, spare: Spare, pool: &SlotPool) -> Self {
        let Spare { mut here, home } = spare;
        here.clear();
        here.resize((extent.fragment_count as usize).div_ceil(64), 0);
        let sample_size = fragment.sample_size as usize;
        let mut slot = pool.acquire();
        // What the slot held before stays in it until it is written over: nothing is zeroed.
        slot.buffer().truncate(sample_size);
        Self {
            sequence_number: fragment.writer_sn,
            sample_size,
            fragment_size: fragment.fragment_size.into(),
            fragment_count: extent.fragment_count,
            here,
            here_count: 0,
            bytes_here: 0,
            first_missing: 1,
            highest: 0,
            announced: 0,
            is_key: fragment.is_key,
            facts: ChangeFacts::default(),
            presented: None,
            slot: Some(slot),
            home,
            in_a_row: 0,
            progress: now,
            contradicted: 0,
            asked: None,
        }
    }

    fn agrees_with(&self, fragment: &DataFrag<'_>) -> bool {
        self.sample_size == fragment.sample_size as usize
            && self.fragment_size == usize::from(fragment.fragment_size)
            && self.is_key == fragment.is_key
    }

    fn is_here(&self, number: u32) -> bool {
        let index = number - 1;
        self.here.get((index / 64) as usize).is_some_and(|word| word & (1 << (index % 64)) != 0)
    }

    /// Marks a fragment; `false` if it was marked.
    fn mark(&mut self, number: u32) -> bool {
        let index = number - 1;
        let Some(word) = self.here.get_mut((index / 64) as usize) else { return false };
        let bit = 1 << (index % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// The first missing number from `from` on.
    fn next_missing(&self, from: u32) -> Option<u32> {
        let mut index = from - 1;
        while index < self.fragment_count {
            let word = self.here.get((index / 64) as usize)?;
            let open = !word >> (index % 64);
            if open != 0 {
                let found = index + open.trailing_zeros();
                return (found < self.fragment_count).then_some(found + 1);
            }
            index = (index / 64 + 1) * 64;
        }
        None
    }

    fn add(&mut self, now: Instant, fragment: &DataFrag<'_>, extent: Extent) -> FragmentOutcome {
        if (extent.first..=extent.last).all(|number| self.is_here(number)) {
            return FragmentOutcome::Duplicate;
        }
        let allowed = self.allowed();
        let sample_size = self.sample_size;
        let Some(slot) = self.slot() else { return FragmentOutcome::NoRoom };
        let buffer = slot.buffer();
        if extent.start > allowed.max(buffer.len()) {
            return FragmentOutcome::NoRoom;
        }
        let Some(bytes) = fragment.payload.get(..extent.end - extent.start) else { return FragmentOutcome::Malformed };
        match buffer.get_mut(extent.start..extent.end) {
            Some(place) => copy(place, bytes),
            None => {
                reserve(buffer, extent.end, allowed, sample_size);
                if buffer.len() < extent.start {
                    // Only a hole is filled up; it is as large as what has been lost.
                    buffer.resize(extent.start, 0);
                }
                buffer.truncate(extent.start);
                append(buffer, bytes);
            }
        }
        self.note(now, extent.first, extent.last);
        FragmentOutcome::Added
    }

    /// Up to where there may be memory.
    fn allowed(&self) -> usize {
        self.bytes_here.saturating_mul(AHEAD_FACTOR).saturating_add(AHEAD_BYTES)
    }

    /// The memory, unless it is lent.
    fn slot(&mut self) -> Option<&mut SlotMut> {
        if self.slot.is_none() {
            self.slot = self.home.take();
        }
        self.slot.as_mut()
    }

    /// Fragments are in their places.
    fn note(&mut self, now: Instant, first: u32, last: u32) {
        self.in_a_row = if first == self.first_missing { self.in_a_row + 1 } else { 0 };
        for number in first..=last {
            self.here_count += u32::from(self.mark(number));
        }
        self.bytes_here = (self.here_count as usize).saturating_mul(self.fragment_size).min(self.sample_size);
        self.first_missing = self.next_missing(self.first_missing).unwrap_or(self.fragment_count + 1);
        self.highest = self.highest.max(last);
        self.progress = now;
    }

    /// The sizes of the sample and of a fragment.
    pub(crate) fn sizes(&self) -> (u32, u16) {
        // As they came in.
        (self.sample_size.try_into().unwrap_or(u32::MAX), self.fragment_size.try_into().unwrap_or(u16::MAX))
    }

    /// Whether a fragment is likely to be the next one to come. The last one is of another length, and so is what comes with it.
    fn is_next(&self, number: u32) -> bool {
        number == self.first_missing
            && self.highest < number
            && number < self.fragment_count
            && self.in_a_row >= IN_A_ROW_MIN
    }

    /// Lends the place of the next fragment.
    fn lend(&mut self, number: u32) -> Option<Landing> {
        let end = (number as usize).checked_mul(self.fragment_size).filter(|_| self.is_next(number))?;
        let (allowed, sample_size) = (self.allowed(), self.sample_size);
        let buffer = self.slot()?.buffer();
        make_place(buffer, end, allowed, sample_size);
        let slot = self.slot.take()?;
        Some(Landing::new(slot, Arc::clone(&self.home), self, number))
    }

    /// The same landing for the fragment after the one that it was for.
    fn lend_on(&self, mut landing: Landing) -> Option<Landing> {
        let number = landing.number.checked_add(1).filter(|number| self.is_next(*number))?;
        let end = (number as usize).checked_mul(self.fragment_size)?;
        make_place(landing.slot()?.buffer(), end, self.allowed(), self.sample_size);
        landing.number = number;
        Some(landing)
    }

    /// Whether all that was asked for has come, and more is missing.
    pub(crate) fn wants_more(&self) -> bool {
        self.asked.is_some_and(|(through, _)| self.first_missing > through)
    }

    /// Whether nothing has come for `timeout`.
    pub(crate) fn is_stale(&self, now: Instant, timeout: Duration) -> bool {
        now.since(self.progress) >= timeout
    }

    /// Hands the missing fragments to `ask`, in sets of at most 256.
    ///
    /// `whole`: a HEARTBEAT has announced the sample, so that all of its fragments have been sent. While fragments still
    /// come, the rest may be on its way, and only holes are asked for. Returns whether the rest is to be looked at again.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        whole: bool,
        suppression: Duration,
        mut ask: impl FnMut(FragmentNumberSet),
    ) -> bool {
        let quiet = now.since(self.progress) >= suppression;
        let through = if whole && quiet { self.fragment_count } else { self.highest.max(self.announced) };
        let from = match self.asked {
            Some((through, at)) if now.since(at) < suppression => through + 1,
            _ => self.first_missing,
        };
        let mut set: Option<FragmentNumberSet> = None;
        let mut sets = 0;
        let mut number = from.max(1);
        while let Some(missing) = self.next_missing(number).filter(|&missing| missing <= through) {
            if !set.as_mut().is_some_and(|set| set.insert(missing)) {
                set.take().into_iter().for_each(&mut ask);
                if sets == NACK_FRAGS_MAX {
                    break;
                }
                sets += 1;
                let mut fresh = FragmentNumberSet::empty(missing);
                fresh.insert(missing);
                set = Some(fresh);
            }
            self.asked = Some((missing, now));
            number = missing + 1;
        }
        set.into_iter().for_each(ask);
        whole && !quiet
    }
}

/// Makes room for what ends at `end`, without more than is allowed ahead of what has come.
fn reserve(buffer: &mut Vec<u8>, end: usize, allowed: usize, sample_size: usize) {
    if buffer.capacity() < end {
        let wanted = allowed.max(buffer.len()).clamp(end, sample_size.max(end));
        buffer.reserve_exact(wanted - buffer.len());
    }
}

/// As [`reserve`], with bytes that can be written over. A slot that is used again has had them before.
fn make_place(buffer: &mut Vec<u8>, end: usize, allowed: usize, sample_size: usize) {
    if buffer.len() < end {
        reserve(buffer, end, allowed, sample_size);
        buffer.resize(end, 0);
    }
}

/// What is left of a finished sample, kept for its memory.
#[derive(Debug, Default)]
struct Spare {
    here: Vec<u64>,
    home: Arc<Home>,
}

/// The samples of one writer that are being put together.
#[derive(Debug, Default)]
pub(crate) struct Assemblies {
    list: Vec<Assembly>,
    /// Of finished ones.
    spare: Vec<Spare>,
    /// What the samples in the list will have when they are whole.
    bytes: usize,
    /// Samples that others have needed the room of, until they count as lost. Bound: [`EVICTED_MAX`].
    evicted: Vec<SequenceNumber>,
}

impl Assemblies {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.evicted.is_empty()
    }

    /// Forgets the samples below `next` that were given up for others, and says how many.
    pub(crate) fn take_evicted(&mut self, next: SequenceNumber) -> u64 {
        let before = self.evicted.len();
        self.evicted.retain(|&number| number >= next);
        (before - self.evicted.len()) as u64
    }

    pub(crate) fn contains(&self, number: SequenceNumber) -> bool {
        self.list.iter().any(|assembly| assembly.sequence_number == number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Assembly> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Assembly> {
        self.list.iter_mut()
    }

    /// Puts them in the order of their numbers.
    pub(crate) fn sort(&mut self) {
        self.list.sort_unstable_by_key(|assembly| assembly.sequence_number);
    }

    pub(crate) fn find(&self, number: SequenceNumber) -> Option<&Assembly> {
        self.list.iter().find(|assembly| assembly.sequence_number == number)
    }

    /// Notes what a sample is presented together with.
    pub(crate) fn note_presented(&mut self, number: SequenceNumber, presented: Box<PresentationInfo>) {
        if let Some(assembly) = self.iter_mut().find(|assembly| assembly.sequence_number == number) {
            assembly.presented.get_or_insert(presented);
        }
    }

    /// Adds the fragments of one submessage. `facts` is only called if they are of use.
    pub(crate) fn add(
        &mut self,
        now: Instant,
        fragment: &DataFrag<'_>,
        limits: AssemblyLimits,
        pool: &SlotPool,
        facts: impl FnOnce() -> ChangeFacts,
    ) -> FragmentOutcome {
        let Some(extent) = Extent::of(fragment) else { return FragmentOutcome::Malformed };
        if fragment.sample_size as usize > limits.sample_size_max || extent.fragment_count > FRAGMENTS_MAX {
            return FragmentOutcome::TooLarge;
        }
        let at = match self.list.iter().position(|known| known.sequence_number == fragment.writer_sn) {
            Some(at) => at,
            None if !self.has_room(fragment.sample_size as usize, limits) => return FragmentOutcome::NoRoom,
            None => {
                let spare = self.spare.pop().unwrap_or_default();
                self.bytes += fragment.sample_size as usize;
                self.evicted.retain(|&number| number != fragment.writer_sn);
                self.list.push(Assembly::begin(now, fragment, extent, spare, pool));
                self.list.len() - 1
            }
        };
        let Some(assembly) = self.list.get_mut(at) else { return FragmentOutcome::NoRoom };
        if !assembly.agrees_with(fragment) {
            assembly.contradicted += 1;
            if assembly.contradicted == CONTRADICTIONS_MAX {
                self.remove(at, pool);
            }
            return FragmentOutcome::Malformed;
        }
        assembly.contradicted = 0;
        let outcome = assembly.add(now, fragment, extent);
        if matches!(outcome, FragmentOutcome::Added) {
            // The inline QoS may stand on the first fragment only.
            assembly.facts.merge(facts());
            if assembly.here_count == assembly.fragment_count {
                return FragmentOutcome::Complete(self.finish(at, pool));
            }
        } else if assembly.here_count == 0 {
            self.remove(at, pool);
        }
        outcome
    }

    fn has_room(&self, sample_size: usize, limits: AssemblyLimits) -> bool {
        self.list.is_empty()
            || (self.list.len() < limits.assemblies_max && self.bytes.saturating_add(sample_size) <= limits.bytes_max)
    }

    /// Lends the place of a fragment, if it is likely to be the next one to come.
    pub(crate) fn lend(&mut self, sequence_number: SequenceNumber, number: u32) -> Option<Landing> {
        self.list.iter_mut().find(|known| known.sequence_number == sequence_number)?.lend(number)
    }

    /// A fragment lies in its place.
    pub(crate) fn land(&mut self, now: Instant, landing: Landing, pool: &SlotPool) -> Landed {
        let is_lender = |known: &Assembly| Arc::ptr_eq(&known.home, &landing.home);
        let Some(at) = self.list.iter().position(is_lender) else { return Landed::Gone };
        let Some(assembly) = self.list.get_mut(at) else { return Landed::Gone };
        if assembly.is_here(landing.number) {
            return Landed::Duplicate;
        }
        assembly.note(now, landing.number, landing.number);
        if assembly.here_count < assembly.fragment_count {
            return Landed::Added(assembly.lend_on(landing));
        }
        drop(landing);
        Landed::Complete(self.finish(at, pool))
    }

    fn finish(&mut self, at: usize, pool: &SlotPool) -> Assembled {
        let mut assembly = self.list.swap_remove(at);
        assembly.slot();
        // It is here: a fragment has just been put into it.
        let mut slot = assembly.slot.take().unwrap_or_else(|| pool.acquire());
        let Assembly { sample_size, here, home, is_key, facts, presented, .. } = assembly;
        self.bytes -= sample_size;
        self.keep(here, home);
        slot.buffer().truncate(sample_size);
        Assembled { payload: pool.freeze(slot), is_key, facts, presented }
    }

    fn remove(&mut self, at: usize, pool: &SlotPool) {
        let mut assembly = self.list.swap_remove(at);
        assembly.slot();
        assembly.slot.take().into_iter().for_each(|slot| pool.give_back(slot));
        self.bytes -= assembly.sample_size;
        self.keep(assembly.here, assembly.home);
    }

    fn keep(&mut self, here: Vec<u64>, home: Arc<Home>) {
        // Two at a time are the rule: the one that is completed and the next one. Where a slot is still to come home, it must
        // not find another sample there.
        if self.spare.len() < 2 {
            let home = if Arc::strong_count(&home) == 1 { home } else { Arc::default() };
            self.spare.push(Spare { here, home });
        }
    }

    /// Gives up the samples for which `is_over`, and says how many those were.
    pub(crate) fn remove_if(&mut self, pool: &SlotPool, mut is_over: impl FnMut(&Assembly) -> bool) -> u64 {
        let mut removed = 0;
        let mut at = 0;
        while let Some(assembly) = self.list.get(at) {
            if is_over(assembly) {
                self.remove(at, pool);
                removed += 1;
            } else {
                at += 1;
            }
        }
        removed
    }

    /// Gives up the sample of the lowest number, if there is one below `number`.
    pub(crate) fn evict_below(&mut self, number: SequenceNumber, pool: &SlotPool) -> Option<SequenceNumber> {
        let lowest = self.list.iter().map(|assembly| assembly.sequence_number).min().filter(|&low| low < number)?;
        self.remove_if(pool, |assembly| assembly.sequence_number == lowest);
        if self.evicted.len() < EVICTED_MAX && !self.evicted.contains(&lowest) {
            self.evicted.push(lowest);
        }
        Some(lowest)
    }

    /// Gives up the sample of the highest number, if there is one above `number`.
    pub(crate) fn evict_above(&mut self, number: SequenceNumber, pool: &SlotPool) -> Option<SequenceNumber> {
        let highest = self.list.iter().map(|assembly| assembly.sequence_number).max().filter(|&high| high > number)?;
        self.remove_if(pool, |assembly| assembly.sequence_number == highest);
        Some(highest)
    }

    /// Notes that the writer has sent the fragments of a sample up to this one.
    pub(crate) fn announce(&mut self, number: SequenceNumber, last: u32) -> bool {
        let Some(assembly) = self.list.iter_mut().find(|known| known.sequence_number == number) else { return false };
        assembly.announced = assembly.announced.max(last.min(assembly.fragment_count));
        assembly.first_missing <= assembly.announced
    }

    /// When the first of them is stale.
    pub(crate) fn deadline(&self, timeout: Duration) -> Option<Instant> {
        self.list.iter().filter_map(|assembly| assembly.progress.after(timeout)).min()
    }
}
