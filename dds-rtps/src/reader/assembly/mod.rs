//! Assembly of fragmented samples.
//!
//! Life cycle: the first fragment of a sample takes a slot from the pool. Each further one is copied to its place, or
//! is received there ([`in_place`]). The last one turns the slot into a payload. The reader gives up a sample when the
//! writer no longer has it, or when other samples need the memory. Under best effort it also does when no fragment
//! arrives.
//!
//! Bound: number and bytes of the samples per writer, size and fragment count of each, all checked before memory is
//! reserved. Memory grows with the received bytes, not with what a fragment claims. A fragment too far ahead is
//! dropped, and requested again.

mod bitmap;
pub(crate) mod in_place;
mod sample;

use super::change_facts::ChangeFacts;
use super::config::Source;
use crate::concurrent::{Payload, SlotPool};
use crate::history::PresentationInfo;
use crate::types::{Duration, Instant, SequenceNumber, earliest};
use crate::wire::{DataFrag, FragmentNumberSet};
use in_place::{InPlaceFragment, InPlaceOutcome, SlotReturn};
use sample::{Assembly, FragmentRange};
use smallvec::SmallVec;
use std::sync::Arc;

/// Most fragments of a sample: 64 MiB in the smallest fragments seen in the field, 256 bytes. Their bits take 32 KiB.
const FRAGMENTS_MAX: u32 = 1 << 18;

/// Most evicted samples that are remembered. Further ones count as never arrived.
const EVICTED_MAX: usize = 64;

/// After this many contradicting fragments in a row the assembly is dropped.
///
/// A writer may fragment a sample differently when it retransmits it, and would otherwise never get it through.
const CONTRADICTIONS_MAX: u8 = 16;

/// After this many fragments in a row that found the slot lent, the next one drops the assembly.
///
/// A receive thread keeps its loan while it waits. If the fragments now arrive by another way, such as shared memory,
/// the loan may never end. A fragment that only overtakes the borrower comes alone or with a few others.
const BLOCKED_BY_LOAN_MAX: u8 = 4;

/// Most NACK_FRAGs in one datagram: 16 times at most 68 bytes fit into the smallest MTU in the field.
const NACK_FRAGS_MAX: usize = 16;

/// Missing fragments by sample, one entry for each NACK_FRAG.
pub(crate) type FragmentRequests = SmallVec<[(SequenceNumber, FragmentNumberSet); 2]>;

/// Result of a received fragment.
#[derive(Debug)]
pub(crate) enum FragmentOutcome {
    /// The fragment lies in its place, and others are missing.
    Added,
    /// The fragment arrived before.
    Duplicate,
    /// The fragment contradicts itself, or an earlier one.
    Malformed,
    /// The sample is larger than accepted, or has more fragments.
    TooLarge,
    /// There is no memory for the fragment now.
    NoRoom,
    /// The sample is complete.
    Complete(Assembled),
}

/// A complete sample.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) payload: Payload,
    pub(crate) is_key: bool,
    pub(crate) facts: ChangeFacts,
    pub(crate) presented: Option<Box<PresentationInfo>>,
}

/// Limits for the samples of one writer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AssemblyLimits {
    pub(crate) sample_size_max: usize,
    pub(crate) assemblies_max: usize,
    pub(crate) bytes_max: usize,
}

/// Memory of a finished assembly, for reuse.
#[derive(Debug, Default)]
struct SpareAssembly {
    words: Vec<u64>,
    slot_return: Arc<SlotReturn>,
}

/// Stale samples that were given up.
#[derive(Debug)]
pub(crate) struct StaleSamples {
    pub(crate) count: u64,
    pub(crate) lowest: SequenceNumber,
    pub(crate) highest: SequenceNumber,
}

/// The samples of one writer that are being assembled.
#[derive(Debug, Default)]
pub(crate) struct Assemblies {
    list: Vec<Assembly>,
    spare: Vec<SpareAssembly>,
    /// Sum of the sample sizes in `list`.
    bytes: usize,
    /// Samples that were evicted for others and do not count as lost yet. Bound: [`EVICTED_MAX`].
    evicted: Vec<SequenceNumber>,
}

impl Assemblies {
    /// Whether no sample is being assembled or remembered as evicted.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.evicted.is_empty()
    }

    pub(crate) fn contains(&self, number: SequenceNumber) -> bool {
        self.position(number).is_some()
    }

    fn position(&self, number: SequenceNumber) -> Option<usize> {
        self.list.iter().position(|assembly| assembly.sequence_number == number)
    }

    fn find_mut(&mut self, number: SequenceNumber) -> Option<&mut Assembly> {
        self.list.iter_mut().find(|assembly| assembly.sequence_number == number)
    }

    /// Lowest and highest sequence number of the samples that are being assembled.
    pub(crate) fn span(&self) -> Option<(SequenceNumber, SequenceNumber)> {
        Some((self.lowest()?, self.highest()?))
    }

    fn lowest(&self) -> Option<SequenceNumber> {
        self.list.iter().map(|assembly| assembly.sequence_number).min()
    }

    fn highest(&self) -> Option<SequenceNumber> {
        self.list.iter().map(|assembly| assembly.sequence_number).max()
    }

    /// Stores what a sample is presented together with. The first fragment decides.
    pub(crate) fn set_presented(&mut self, number: SequenceNumber, presented: Box<PresentationInfo>) {
        if let Some(assembly) = self.find_mut(number) {
            assembly.presented.get_or_insert(presented);
        }
    }

    /// Adds the fragments of one submessage.
    pub(crate) fn add(
        &mut self,
        now: Instant,
        source: &Source,
        fragment: &DataFrag<'_>,
        limits: AssemblyLimits,
        pool: &SlotPool,
    ) -> FragmentOutcome {
        let Some(range) = FragmentRange::of(fragment) else { return FragmentOutcome::Malformed };
        // Checked before any memory is reserved for the sample.
        if fragment.sample_size as usize > limits.sample_size_max || range.fragment_count > FRAGMENTS_MAX {
            return FragmentOutcome::TooLarge;
        }
        self.drop_blocked(fragment.writer_sn, pool);
        let at = match self.position(fragment.writer_sn) {
            Some(at) => at,
            None if !self.has_room(fragment.sample_size as usize, limits) => return FragmentOutcome::NoRoom,
            None => {
                let spare = self.spare.pop().unwrap_or_default();
                self.bytes += fragment.sample_size as usize;
                // The sample starts again: if it is lost after all, that counts then.
                self.evicted.retain(|&number| number != fragment.writer_sn);
                self.list.push(Assembly::new(now, fragment, range, spare, pool));
                self.list.len() - 1
            }
        };
        let Some(assembly) = self.list.get_mut(at) else {
            debug_assert!(false, "the assembly was found or added just above");
            return FragmentOutcome::NoRoom;
        };
        if !assembly.agrees_with(fragment) {
            // The first fragments decide about the sizes. A writer that insists on others wins later.
            assembly.contradictions += 1;
            if assembly.contradictions == CONTRADICTIONS_MAX {
                self.remove(at, pool);
            }
            return FragmentOutcome::Malformed;
        }
        assembly.contradictions = 0;
        let outcome = assembly.add(now, fragment, range);
        if matches!(outcome, FragmentOutcome::Added) {
            // The inline QoS may stand on the first fragment only.
            assembly.facts.merge(ChangeFacts::new(fragment.inline_qos.as_ref(), source));
            if assembly.fragments.is_complete() {
                return FragmentOutcome::Complete(self.finish(at, pool));
            }
        } else if assembly.fragments.len() == 0 {
            // A new assembly that could not accept its first fragment is not worth its slot.
            self.remove(at, pool);
        }
        outcome
    }

    /// Drops a sample whose lent slot does not return. It starts again in another slot.
    fn drop_blocked(&mut self, number: SequenceNumber, pool: &SlotPool) {
        let Some(at) = self.position(number) else { return };
        if self.list.get_mut(at).is_some_and(Assembly::is_blocked_by_loan) {
            self.remove(at, pool);
        }
    }

    fn has_room(&self, sample_size: usize, limits: AssemblyLimits) -> bool {
        // A single sample always has room, because its size was checked before.
        self.list.is_empty()
            || (self.list.len() < limits.assemblies_max && self.bytes.saturating_add(sample_size) <= limits.bytes_max)
    }

    /// Lends the memory of a fragment, if it is likely to arrive next.
    pub(crate) fn lend(&mut self, sequence_number: SequenceNumber, number: u32) -> Option<InPlaceFragment> {
        self.find_mut(sequence_number)?.lend(number)
    }

    /// Accepts a fragment that was received in place.
    pub(crate) fn add_in_place(&mut self, now: Instant, received: InPlaceFragment, pool: &SlotPool) -> InPlaceOutcome {
        // The sequence number does not identify the lender: the assembly may have been dropped and created again since.
        let is_lender = |assembly: &Assembly| Arc::ptr_eq(&assembly.slot_return, &received.slot_return);
        let Some(at) = self.list.iter().position(is_lender) else { return InPlaceOutcome::Gone };
        let Some(assembly) = self.list.get_mut(at) else {
            debug_assert!(false, "the search returned this index");
            return InPlaceOutcome::Gone;
        };
        let number = received.fragment_number();
        // The same fragment may have arrived through another socket while its memory was lent.
        if assembly.fragments.contains(number) {
            return InPlaceOutcome::Duplicate;
        }
        assembly.note_received(now, number, number);
        if !assembly.fragments.is_complete() {
            return InPlaceOutcome::Added(assembly.lend_following(received));
        }
        // Returns the slot to the assembly.
        drop(received);
        InPlaceOutcome::Complete(self.finish(at, pool))
    }

    fn finish(&mut self, at: usize, pool: &SlotPool) -> Assembled {
        let mut assembly = self.list.swap_remove(at);
        let slot = assembly.take_slot();
        debug_assert!(slot.is_some(), "a fragment was just written to the slot, so it is not lent");
        let mut slot = match slot {
            Some(slot) => slot,
            None => pool.acquire(),
        };
        let Assembly { sample_size, fragments, slot_return, is_key, facts, presented, .. } = assembly;
        debug_assert!(fragments.is_complete(), "a finished sample has all fragments");
        self.bytes -= sample_size;
        self.keep_spare(fragments.into_words(), slot_return);
        // A reused slot may be longer than the sample.
        slot.buffer().truncate(sample_size);
        Assembled { payload: pool.freeze(slot), is_key, facts, presented }
    }

    fn remove(&mut self, at: usize, pool: &SlotPool) {
        let mut assembly = self.list.swap_remove(at);
        if let Some(slot) = assembly.take_slot() {
            pool.give_back(slot);
        }
        self.bytes -= assembly.sample_size;
        self.keep_spare(assembly.fragments.into_words(), assembly.slot_return);
    }

    fn keep_spare(&mut self, words: Vec<u64>, slot_return: Arc<SlotReturn>) {
        // Two assemblies at a time are the rule: the one that completes, and the next one.
        if self.spare.len() < 2 {
            // A slot that is still lent must not come back to another sample.
            let slot_return = if Arc::strong_count(&slot_return) == 1 { slot_return } else { Arc::default() };
            self.spare.push(SpareAssembly { words, slot_return });
        }
    }

    /// Gives up the samples below `next`. Returns their count, without earlier evictions.
    pub(crate) fn drop_below(&mut self, next: SequenceNumber, pool: &SlotPool) -> u64 {
        let mut dropped = 0;
        let mut at = 0;
        while let Some(assembly) = self.list.get(at) {
            if assembly.sequence_number < next {
                self.remove(at, pool);
                dropped += 1;
            } else {
                at += 1;
            }
        }
        dropped
    }

    /// Gives up the samples of which no fragment arrived for `timeout`.
    pub(crate) fn drop_stale(&mut self, now: Instant, timeout: Duration, pool: &SlotPool) -> StaleSamples {
        let mut stale = StaleSamples { count: 0, lowest: SequenceNumber::MAX, highest: SequenceNumber::ZERO };
        let mut at = 0;
        while let Some(assembly) = self.list.get(at) {
            if assembly.is_stale(now, timeout) {
                stale.count += 1;
                stale.lowest = stale.lowest.min(assembly.sequence_number);
                stale.highest = stale.highest.max(assembly.sequence_number);
                self.remove(at, pool);
            } else {
                at += 1;
            }
        }
        stale
    }

    /// Forgets the evicted samples below `next`, and returns their count.
    pub(crate) fn take_evicted(&mut self, next: SequenceNumber) -> u64 {
        let before = self.evicted.len();
        self.evicted.retain(|&number| number >= next);
        (before - self.evicted.len()) as u64
    }

    /// Whether a sample below `number` is being assembled.
    pub(crate) fn has_below(&self, number: SequenceNumber) -> bool {
        match self.lowest() {
            Some(lowest) => lowest < number,
            None => false,
        }
    }

    /// Gives up the sample with the lowest number. `false`: no sample lies below `number`.
    pub(crate) fn evict_below(&mut self, number: SequenceNumber, pool: &SlotPool) -> bool {
        let Some(lowest) = self.lowest() else { return false };
        if lowest >= number {
            return false;
        }
        if let Some(at) = self.position(lowest) {
            self.remove(at, pool);
        }
        // The ledger counts these as incomplete, and not as never arrived.
        if self.evicted.len() < EVICTED_MAX && !self.evicted.contains(&lowest) {
            self.evicted.push(lowest);
        }
        true
    }

    /// Gives up the sample with the highest number. `false`: no sample lies above `number`.
    pub(crate) fn evict_above(&mut self, number: SequenceNumber, pool: &SlotPool) -> bool {
        let Some(highest) = self.highest() else { return false };
        if highest <= number {
            return false;
        }
        if let Some(at) = self.position(highest) {
            self.remove(at, pool);
        }
        true
    }

    /// A HEARTBEAT_FRAG announced the fragments of a sample up to `last`. `true`: some of them are missing.
    pub(crate) fn announce(&mut self, number: SequenceNumber, last: u32) -> bool {
        match self.find_mut(number) {
            Some(assembly) => assembly.announce(last),
            None => false,
        }
    }

    /// Whether all requested fragments of a sample arrived, and others are missing.
    pub(crate) fn wants_more(&self, number: SequenceNumber) -> bool {
        match self.position(number) {
            Some(at) => self.list[at].wants_more(),
            None => false,
        }
    }

    /// Lists the missing fragments to request now. `true`: some may still be on their way, look again soon.
    ///
    /// HEARTBEATs have announced all samples up to `announced`.
    pub(crate) fn request_missing(
        &mut self,
        now: Instant,
        announced: SequenceNumber,
        suppression: Duration,
    ) -> (FragmentRequests, bool) {
        let mut requests = FragmentRequests::new();
        let mut recheck = false;
        // The writer answers requests in their order. The reader waits for the lowest number.
        self.list.sort_unstable_by_key(|assembly| assembly.sequence_number);
        for assembly in &mut self.list {
            if requests.len() >= NACK_FRAGS_MAX {
                recheck = true;
                break;
            }
            // A HEARTBEAT announces only samples whose fragments were all sent.
            let is_announced = assembly.sequence_number <= announced;
            recheck |= assembly.request_missing(now, is_announced, suppression, &mut requests);
        }
        (requests, recheck)
    }

    /// When the first sample is stale.
    pub(crate) fn stale_at(&self, timeout: Duration) -> Option<Instant> {
        let mut stale_at = None;
        for assembly in &self.list {
            stale_at = earliest(stale_at, assembly.stale_at(timeout));
        }
        stale_at
    }
}
