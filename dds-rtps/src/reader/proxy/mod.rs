//! Writer proxy: the state of a reader for one matched writer (RTPS 2.5, 8.4.10.5).
//!
//! - In: sequence numbers and changes of the writer, HEARTBEATs, GAPs, fragments.
//! - Out: changes in order ([`ChangeDelivery`]), counts for the ledger, datagrams with ACKNACK and NACK_FRAG.
//!
//! [`ProxyState`] has one type for each kind of writer: `best_effort` (with the `denied_jump` check), `reliable` (with
//! the reorder `window`, the `plausibility` check and the `acknack` scheduler), and local writers.
//!
//! Life cycle: created at the match, dropped at the unmatch with all changes that wait for a missing one.

pub(crate) mod acknack;
mod answer;
pub(crate) mod best_effort;
mod denied_jump;
pub(crate) mod plausibility;
pub(crate) mod reliable;
pub(crate) mod window;

use super::Handled;
use super::assembly::{Assemblies, FragmentOutcome};
use super::coherent::writer_sets::WriterSets;
use super::config::{ReaderConfig, Source, WriterProxyConfig};
use super::delivery::ChangeDelivery;
use super::event::{LossCause, ReaderCounters};
use super::ledger::distance;
use super::ledger::tally::WriterPosition;
use super::liveliness::WriterLease;
use crate::concurrent::{LocalLink, SlotPool};
use crate::history::ReceivedChange;
use crate::output::Datagram;
use crate::types::{Duration, Guid, Instant, Locator, Now, SequenceNumber, VendorId};
use crate::wire::{DataFrag, Gap, HeartbeatFrag, SequenceNumberSet};
use acknack::AckNackScheduler;
use answer::AnswerLayout;
use best_effort::BestEffortState;
use reliable::{NumberCheck, ReliableState};
use std::sync::Arc;

/// How the reader follows the sequence numbers of a writer.
#[derive(Debug)]
pub(crate) enum ProxyState {
    /// Late changes are dropped, missing ones are lost.
    BestEffort(BestEffortState),
    /// Missing changes are requested.
    Reliable(Box<ReliableState>),
    /// The writer lives in this process.
    Local(LocalWriterState),
}

/// State for one local writer.
#[derive(Debug)]
pub(crate) struct LocalWriterState {
    /// `None`: best effort.
    link: Option<Arc<LocalLink>>,
    /// First number that counts in the ledger.
    first: SequenceNumber,
    /// Number after the last delivered one.
    next: SequenceNumber,
    /// Whether the reader refused a change, and the writer waits for space.
    is_refused: bool,
}

impl LocalWriterState {
    pub(crate) fn is_reliable(&self) -> bool {
        self.link.is_some()
    }

    /// Number after the last delivered one.
    pub(crate) fn next(&self) -> SequenceNumber {
        self.next
    }

    /// The history had no space for the next change.
    pub(crate) fn note_refused(&mut self) {
        debug_assert!(self.is_reliable(), "a best-effort reader refuses nothing");
        self.is_refused = true;
    }

    /// The history has space: requests the refused change again. `false`: none was refused.
    pub(crate) fn request_refused(&mut self) -> bool {
        if !self.is_refused {
            return false;
        }
        self.is_refused = false;
        if let Some(link) = &self.link {
            link.request_from(self.next);
        }
        true
    }

    /// Acknowledges a change, and counts the numbers that the writer skipped before it.
    pub(crate) fn acknowledge(&mut self, writer: Guid, number: SequenceNumber, delivery: &mut ChangeDelivery<'_>) {
        debug_assert!(number >= self.next, "an earlier number is a duplicate");
        let expected = std::mem::replace(&mut self.next, number.next());
        let skipped = distance(expected, number);
        let Some(link) = &self.link else {
            delivery.lost(writer, skipped, LossCause::NeverArrived);
            return;
        };
        // The writer may free the change from here on.
        link.acknowledge(number);
        if number > expected {
            // Changes that the writer replaced do not exist any more. Changes that it gave up are lost.
            let given_up = distance(expected, link.given_up_before().min(number));
            delivery.lost(writer, given_up, LossCause::NeverArrived);
            delivery.tally.count_irrelevant(skipped - given_up);
        }
    }
}

/// State of a reader for one matched writer.
#[derive(Debug)]
pub(crate) struct WriterProxy {
    pub(crate) config: WriterProxyConfig,
    /// Destination of answers to the last HEARTBEAT, if it differs from the locators of `config`.
    pub(crate) reply: Option<Locator>,
    pub(crate) state: ProxyState,
    pub(crate) assemblies: Assemblies,
    pub(crate) lease: WriterLease,
    /// How often the reader looked for something to send.
    #[cfg(test)]
    pub(crate) transmit_polls: u64,
}

/// Parts of the reader that a proxy needs.
pub(crate) struct ProxyContext<'a> {
    pub(crate) config: &'a ReaderConfig,
    /// Pool of slots for fragmented samples.
    pub(crate) slots: &'a SlotPool,
}

impl WriterProxy {
    /// Proxy of a writer of another participant.
    pub(crate) fn remote(now: Instant, writer: WriterProxyConfig, config: &ReaderConfig) -> Self {
        let state = if config.reliable && writer.reliable {
            ProxyState::Reliable(Box::new(ReliableState::new(now, &writer, config)))
        } else {
            ProxyState::BestEffort(BestEffortState::new())
        };
        let lease = WriterLease::new(now, writer.liveliness, writer.assertion_clock.clone());
        Self::new(writer, state, lease)
    }

    /// Proxy of a local writer.
    pub(crate) fn local(writer: WriterProxyConfig, first: SequenceNumber, link: Option<Arc<LocalLink>>) -> Self {
        let state = ProxyState::Local(LocalWriterState { link, first, next: first, is_refused: false });
        Self::new(writer, state, WriterLease::unlimited())
    }

    fn new(config: WriterProxyConfig, state: ProxyState, lease: WriterLease) -> Self {
        Self {
            config,
            reply: None,
            state,
            assemblies: Assemblies::default(),
            lease,
            #[cfg(test)]
            transmit_polls: 0,
        }
    }

    pub(crate) fn guid(&self) -> Guid {
        self.config.guid
    }

    /// State for a remote reliable writer.
    pub(crate) fn reliable(&self) -> Option<&ReliableState> {
        match &self.state {
            ProxyState::Reliable(reliable) => Some(reliable),
            ProxyState::BestEffort(_) | ProxyState::Local(_) => None,
        }
    }

    /// As [`Self::reliable`], to change it.
    pub(crate) fn reliable_mut(&mut self) -> Option<&mut ReliableState> {
        match &mut self.state {
            ProxyState::Reliable(reliable) => Some(reliable),
            ProxyState::BestEffort(_) | ProxyState::Local(_) => None,
        }
    }

    pub(crate) fn is_best_effort(&self) -> bool {
        matches!(self.state, ProxyState::BestEffort(_))
    }

    /// When the reader must look for something to send.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.reliable()?.acknacks.due()
    }

    /// Whether the writer is reliable and has not sent a HEARTBEAT yet.
    pub(crate) fn awaits_heartbeat(&self) -> bool {
        match self.reliable() {
            Some(reliable) => reliable.acknacks.awaits_heartbeat(),
            None => false,
        }
    }

    /// Whether the writer knows the reader, as far as its messages tell. True unless the writer is remote and reliable.
    pub(crate) fn knows_reader(&self) -> bool {
        let Some(reliable) = self.reliable() else { return true };
        // A HEARTBEAT is the answer to a pre-emptive ACKNACK. A writer ignores that of a reader that it does not know.
        !reliable.acknacks.awaits_heartbeat() || (!self.config.answers_by_name && reliable.acknacks.is_unanswered())
    }

    /// Whether the writer still has to name the first relevant sequence number.
    pub(crate) fn awaits_start(&self) -> bool {
        self.reliable().is_some_and(ReliableState::awaits_start)
    }

    /// Whether the history had no space for the next change of a remote reliable writer.
    pub(crate) fn is_refused(&self) -> bool {
        self.reliable().is_some_and(ReliableState::is_refused)
    }

    /// Whether all changes of the first HEARTBEAT were delivered. True unless the writer is remote and reliable.
    pub(crate) fn has_history(&self) -> bool {
        self.reliable().is_none_or(ReliableState::has_history)
    }

    /// Whether a missing number is a loss, and not history.
    pub(crate) fn is_entitled(&self) -> bool {
        self.reliable().is_none_or(ReliableState::is_entitled)
    }

    /// Whether the writer repairs losses.
    pub(crate) fn repairs(&self) -> bool {
        match &self.state {
            ProxyState::BestEffort(_) => false,
            ProxyState::Reliable(_) => true,
            ProxyState::Local(local) => local.link.is_some(),
        }
    }

    /// Whether a change ahead of a missing one has to wait.
    pub(crate) fn is_ahead(&self, number: SequenceNumber) -> bool {
        match self.reliable() {
            Some(reliable) => number > reliable.next(),
            None => false,
        }
    }

    pub(crate) fn position(&self) -> WriterPosition {
        match &self.state {
            ProxyState::BestEffort(best_effort) => best_effort.position(),
            ProxyState::Reliable(reliable) => reliable.position(),
            ProxyState::Local(local) => WriterPosition::in_order(local.first, local.next),
        }
    }

    /// Whether change `number` with a payload of `len` bytes can be accepted.
    pub(crate) fn check_number(
        &mut self,
        now: Instant,
        number: SequenceNumber,
        len: usize,
        config: &ReaderConfig,
    ) -> NumberCheck {
        // The last number has no successor.
        if !number.is_valid() || number == SequenceNumber::MAX {
            return NumberCheck::TooFar;
        }
        match &mut self.state {
            ProxyState::BestEffort(best_effort) => best_effort.check_number(now, number),
            ProxyState::Reliable(reliable) => reliable.check_number(number, len, config),
            // The reader received the sample of a local writer in process already.
            ProxyState::Local(_) => NumberCheck::Duplicate,
        }
    }

    /// Accepts a new number. Without a `change` there is nothing to deliver for it.
    pub(crate) fn accept(
        &mut self,
        now: Now,
        number: SequenceNumber,
        change: Option<ReceivedChange>,
        delivery: &mut ChangeDelivery<'_>,
        context: &ProxyContext<'_>,
    ) {
        match &mut self.state {
            ProxyState::BestEffort(best_effort) => {
                let lost = best_effort.accept(now.instant, number, delivery.tally);
                // A best-effort reader never goes back: earlier incomplete samples are lost.
                let incomplete = self.drop_assemblies_below(number.next(), context.slots, delivery.counters);
                self.count_lost(lost, incomplete, delivery);
                if let Some(change) = change {
                    // A best-effort reader holds nothing back, so no change is returned.
                    let _ = delivery.deliver(now, change, false);
                }
            }
            ProxyState::Reliable(reliable) => {
                reliable.accept(now, number, change, delivery, context.config);
                let next = reliable.next();
                self.drop_assemblies_below(next, context.slots, delivery.counters);
            }
            ProxyState::Local(_) => debug_assert!(false, "a number of a local writer is a duplicate"),
        }
    }

    /// Counts lost numbers of a best-effort writer. Of these, `incomplete` ones arrived in part.
    fn count_lost(&self, lost: u64, incomplete: u64, delivery: &mut ChangeDelivery<'_>) {
        let incomplete = incomplete.min(lost);
        delivery.lost(self.guid(), incomplete, LossCause::Fragments);
        delivery.lost(self.guid(), lost - incomplete, LossCause::NeverArrived);
    }

    /// Adds the fragments of a DATA_FRAG. If there is no memory, other samples are evicted for them.
    pub(crate) fn add_fragment(
        &mut self,
        now: Instant,
        source: &Source,
        fragment: &DataFrag<'_>,
        context: &ProxyContext<'_>,
        counters: &mut ReaderCounters,
    ) -> FragmentOutcome {
        let limits = context.config.assembly_limits();
        loop {
            let outcome = self.assemblies.add(now, source, fragment, limits, context.slots);
            // Fragments of a sample that is being assembled evict no other sample.
            let can_evict = matches!(outcome, FragmentOutcome::NoRoom) && !self.assemblies.contains(fragment.writer_sn);
            if !can_evict || !self.evict(fragment.writer_sn, context.slots) {
                return outcome;
            }
            counters.assemblies_dropped += 1;
        }
    }

    /// Evicts one fragmented sample: best effort the oldest, reliable the newest, which is requested again later.
    fn evict(&mut self, number: SequenceNumber, slots: &SlotPool) -> bool {
        // Best effort has no repair: the oldest sample is the least likely to complete.
        if self.is_best_effort() {
            self.assemblies.evict_below(number, slots)
        } else {
            self.assemblies.evict_above(number, slots)
        }
    }

    /// Fragments of sample `number` arrived. Requests more at once if all requested ones arrived.
    pub(crate) fn note_fragments(&mut self, now: Instant, number: SequenceNumber, config: &ReaderConfig) {
        // A best-effort reader cannot request fragments.
        let ProxyState::Reliable(reliable) = &mut self.state else { return };
        reliable.acknacks.reset_retry(config);
        if self.assemblies.wants_more(number) {
            reliable.acknacks.check_at(Some(now));
        } else {
            reliable.acknacks.schedule_retry(now);
        }
    }

    /// Gives up the fragmented samples below `next`. Returns their count, with those evicted before.
    pub(crate) fn drop_assemblies_below(
        &mut self,
        next: SequenceNumber,
        slots: &SlotPool,
        counters: &mut ReaderCounters,
    ) -> u64 {
        if self.assemblies.is_empty() {
            return 0;
        }
        let dropped = self.assemblies.drop_below(next, slots);
        counters.assemblies_dropped += dropped;
        dropped + self.assemblies.take_evicted(next)
    }

    /// Gives up the best-effort samples of which no fragment arrived for a while.
    ///
    /// They are lost, with all missing numbers before them. Fragments that arrive later are too late.
    pub(crate) fn drop_stale(
        &mut self,
        now: Instant,
        timeout: Duration,
        slots: &SlotPool,
        delivery: &mut ChangeDelivery<'_>,
    ) {
        // A reliable writer repairs an old sample as long as a HEARTBEAT announces it.
        let ProxyState::BestEffort(best_effort) = &mut self.state else { return };
        let stale = self.assemblies.drop_stale(now, timeout, slots);
        delivery.counters.assemblies_dropped += stale.count;
        if stale.count == 0 || self.assemblies.has_below(stale.highest) {
            // An earlier sample is still incomplete. The losses count when it completes, or is given up as well.
            return;
        }
        let lost = best_effort.drop_incomplete(now, stale.lowest, stale.highest, delivery.tally);
        let incomplete = stale.count + self.assemblies.take_evicted(stale.highest.next());
        self.count_lost(lost, incomplete, delivery);
        if lost > 0 {
            delivery.break_open_set(self.guid());
        }
    }

    /// The writer is unmatched: counts the known numbers that will never be delivered, and drops all assemblies.
    pub(crate) fn close(&mut self, now: Instant, slots: &SlotPool, delivery: &mut ChangeDelivery<'_>) {
        // The span is gone once the assemblies are dropped.
        let span = self.assemblies.span();
        let incomplete = self.drop_assemblies_below(SequenceNumber::MAX, slots, delivery.counters);
        let guid = self.guid();
        match &mut self.state {
            // The ledger counts them when it closes the row.
            ProxyState::Reliable(reliable) => {
                delivery.report_lost(guid, reliable.undelivered(), LossCause::NeverArrived);
            }
            ProxyState::BestEffort(best_effort) => {
                let Some((lowest, highest)) = span else { return };
                let lost = best_effort.drop_incomplete(now, lowest, highest, delivery.tally);
                self.count_lost(lost, incomplete, delivery);
            }
            ProxyState::Local(_) => {}
        }
    }

    /// Handles a GAP with valid numbers.
    pub(crate) fn handle_gap(
        &mut self,
        now: Now,
        gap: &Gap,
        delivery: &mut ChangeDelivery<'_>,
        context: &ProxyContext<'_>,
    ) -> Handled {
        // Filtered numbers are counted as irrelevant first, and moved when the GAP is done.
        let filtered = filtered_by_writer(gap);
        let irrelevant_before = delivery.tally.not_received.irrelevant;
        let vendor = self.config.vendor;
        let next = match &mut self.state {
            ProxyState::Reliable(reliable) => {
                if !reliable.is_plausible(now.instant, gap.gap_list.base().previous()) {
                    return Handled::Doubtful;
                }
                mark_in_sets(gap, filtered, vendor, delivery);
                reliable.handle_gap(now, gap, delivery, context.config);
                reliable.next()
            }
            ProxyState::BestEffort(best_effort) => {
                // Before the first sample there is no position that a GAP could move.
                let Some(next) = best_effort.next() else { return Handled::NotForUs };
                if !best_effort.is_plausible(gap) {
                    return Handled::Doubtful;
                }
                if gap.gap_start <= next {
                    mark_in_sets(gap, filtered, vendor, delivery);
                    best_effort.skip_gap(now.instant, gap, delivery.tally);
                }
                best_effort.next().unwrap_or(next)
            }
            ProxyState::Local(_) => return Handled::NotForUs,
        };
        delivery.tally.reclassify_filtered(irrelevant_before, filtered);
        self.drop_assemblies_below(next, context.slots, delivery.counters);
        Handled::Accepted
    }

    /// Handles a HEARTBEAT_FRAG. A best-effort reader has no use for it.
    pub(crate) fn handle_heartbeat_frag(
        &mut self,
        now: Instant,
        heartbeat: &HeartbeatFrag,
        reply: Option<Locator>,
        config: &ReaderConfig,
    ) -> Handled {
        let ProxyState::Reliable(reliable) = &mut self.state else { return Handled::NotForUs };
        if !reliable.is_new_heartbeat_frag(heartbeat) {
            return Handled::Duplicate;
        }
        self.reply = reply;
        if self.assemblies.announce(heartbeat.writer_sn, heartbeat.last_fragment_num) {
            reliable.acknacks.check_at(now.after(config.heartbeat_response_delay));
        } else if heartbeat.writer_sn >= reliable.next() {
            // No fragment of the sample arrived: a HEARTBEAT announces it, or the retry requests it.
            reliable.acknacks.schedule_retry(now);
        }
        Handled::Accepted
    }

    /// Writes an answer to the writer into `datagram`. `false`: there is nothing to send now.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        config: &ReaderConfig,
        counters: &mut ReaderCounters,
        datagram: &mut Datagram,
    ) -> bool {
        #[cfg(test)]
        {
            self.transmit_polls += 1;
        }
        let ProxyState::Reliable(reliable) = &mut self.state else { return false };
        if !reliable.acknacks.is_due(now) {
            return false;
        }
        let layout = AnswerLayout { reader: config.guid, writer: &self.config, reply: self.reply };
        let wants_heartbeat = reliable.acknacks.take_heartbeat_request(now);
        if wants_heartbeat || reliable.acknacks.awaits_heartbeat() {
            request_heartbeat(&mut reliable.acknacks, &layout, now, config, datagram);
            counters.ack_nacks += 1;
            return true;
        }
        let must_answer = reliable.acknacks.answer_required();
        let set = reliable.reader_sn_state(now, must_answer, &self.assemblies, config);
        let (fragments, recheck) =
            self.assemblies.request_missing(now, reliable.last_announced(), config.nack_suppression);
        let has_answer = must_answer || !set.is_empty() || !fragments.is_empty();
        // While the history is full, requests would only repeat changes that the reader must drop.
        let is_missing = reliable.is_missing_numbers() || !self.assemblies.is_empty();
        reliable.acknacks.note_checked(now, is_missing && !reliable.is_refused(), has_answer, config);
        if recheck {
            // Some fragments may still be on their way.
            reliable.acknacks.check_at(now.after(config.nack_suppression));
        }
        if !has_answer {
            return false;
        }
        layout.begin(datagram);
        layout.ack_nack(datagram, set, reliable.acknacks.next_ack_nack(), true);
        counters.ack_nacks += 1;
        for (number, set) in fragments {
            layout.nack_frag(datagram, number, set, reliable.acknacks.next_nack_frag());
            counters.nack_frags += 1;
        }
        true
    }
}

/// Writes an ACKNACK without requests that is not final. The writer answers it with a HEARTBEAT.
fn request_heartbeat(
    acknacks: &mut AckNackScheduler,
    layout: &AnswerLayout<'_>,
    now: Instant,
    config: &ReaderConfig,
    datagram: &mut Datagram,
) {
    let is_preemptive = acknacks.awaits_heartbeat();
    // Fast DDS answers base 0 at once, and base 1 only after its heartbeat period of 3 s, which it starts again
    // (`StatefulWriter::process_acknack`). Cyclone DDS takes base 0 for malformed from most vendors.
    let is_fast_dds = layout.writer.vendor == VendorId::EPROSIMA;
    let base = if is_preemptive && is_fast_dds { SequenceNumber::ZERO } else { SequenceNumber::FIRST };
    layout.begin(datagram);
    layout.ack_nack(datagram, SequenceNumberSet::empty(base), acknacks.next_ack_nack(), false);
    if is_preemptive {
        acknacks.note_preemptive_sent(now, config);
    }
}

/// How many numbers of a GAP the writer's filter rejected (RTPS 2.5, 8.3.8.4): all of them or none.
///
/// A GAP that a filter causes only in part does not name the filtered numbers.
fn filtered_by_writer(gap: &Gap) -> u64 {
    let Some(filtered) = gap.filtered_count else { return 0 };
    let count = distance(gap.gap_start, gap.gap_list.base()) + gap.gap_list.iter().count() as u64;
    match u64::try_from(filtered) {
        Ok(filtered) if filtered >= count => count,
        // The GAP does not tell which of its numbers were filtered.
        _ => 0,
    }
}

/// Filtered numbers are no holes in a coherent set. A single irrelevant one of Zenzen DDS may have ended a set.
fn mark_in_sets(gap: &Gap, filtered: u64, vendor: VendorId, delivery: &mut ChangeDelivery<'_>) {
    let Some(sets) = &mut delivery.sets else { return };
    if filtered > 0 {
        sets.mark_filtered(gap.gap_start, gap.gap_list.base());
        for number in gap.gap_list.iter() {
            sets.mark_filtered(number, number.next());
        }
        return;
    }
    // Only its writers end a set by the GAP of a single number.
    if vendor != VendorId::ZENZEN {
        return;
    }
    // A list that begins with its base continues the range before it.
    let mut range = (gap.gap_start, gap.gap_list.base());
    for number in gap.gap_list.iter() {
        if number == range.1 {
            range.1 = number.next();
            continue;
        }
        mark_single(sets, range);
        range = (number, number.next());
    }
    mark_single(sets, range);
}

fn mark_single(sets: &mut WriterSets, (start, end): (SequenceNumber, SequenceNumber)) {
    if start.next() == end {
        sets.mark_single_gap(start);
    }
}
