//! One matched writer as the reader sees it (RTPS 2.5, 8.4.10.5).
//!
//! Life cycle: made at the match, dropped at the unmatch with all that waited for a missing number.

pub(crate) mod acknack;
pub(crate) mod plausibility;
pub(crate) mod reliable;
pub(crate) mod window;

use crate::concurrent::{LocalLink, SlotPool};
use crate::history::ReceivedChange;
use crate::output::Datagram;
use crate::reader::assembly::{Assemblies, AssemblyLimits};
use crate::reader::config::{ReaderConfig, WriterProxyConfig};
use crate::reader::delivery::Sink;
use crate::reader::event::{LossCause, ReaderCounters};
use crate::reader::ledger::tally::Tally;
use crate::reader::ledger::{Extent, distance};
use crate::reader::liveliness::WriterLease;
use crate::reader::proxy::acknack::Asking;
use crate::reader::proxy::plausibility::JUMP_MAX;
use crate::reader::proxy::reliable::{Fit, Reliable};
use crate::types::{Duration, Guid, Instant, Locator, Now, SequenceNumber};
use crate::wire::{AckNack, FragmentNumberSet, MessageBuilder, NackFrag, SequenceNumberSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// How a writer's numbers are followed.
#[derive(Debug)]
pub(crate) enum Following {
    /// What is late is dropped, what is missing is lost.
    BestEffort {
        /// The number after the last one delivered; `None` before the first one.
        next: Option<SequenceNumber>,
        /// The first number that counts in the ledger.
        first: SequenceNumber,
        /// The last one was so far away that it was not believed.
        doubted: Option<SequenceNumber>,
    },
    /// What is missing is asked for.
    Reliable(Box<Reliable>),
    /// The writer lives in this process.
    Local(LocalWriter),
}

/// A writer of the same process.
#[derive(Debug)]
pub(crate) struct LocalWriter {
    /// `None`: best effort.
    pub(crate) link: Option<Arc<LocalLink>>,
    /// The first number that counts in the ledger.
    pub(crate) first: SequenceNumber,
    /// The number after the last one delivered.
    pub(crate) next: SequenceNumber,
    /// The history had no room for a change, and the writer has been asked for it.
    pub(crate) refused: bool,
}

/// A matched writer.
#[derive(Debug)]
pub(crate) struct WriterProxy {
    pub(crate) config: WriterProxyConfig,
    /// Where the last HEARTBEAT wants to be answered, if not at the locators of `config`.
    pub(crate) reply: Option<Locator>,
    pub(crate) following: Following,
    pub(crate) assemblies: Assemblies,
    pub(crate) lease: WriterLease,
    /// How often somebody has asked whether there is something to say.
    #[cfg(test)]
    pub(crate) looks: u64,
}

impl WriterProxy {
    pub(crate) fn remote(now: Instant, writer: WriterProxyConfig, config: &ReaderConfig) -> Self {
        let following = if config.reliable && writer.reliable {
            Following::Reliable(Box::new(Reliable::new(now, &writer, config)))
        } else {
            Following::BestEffort { next: None, first: SequenceNumber::FIRST, doubted: None }
        };
        let lease = WriterLease::new(now, writer.liveliness, writer.assertion_clock.clone());
        Self::new(writer, following, lease)
    }

    pub(crate) fn local(writer: WriterProxyConfig, first: SequenceNumber, link: Option<Arc<LocalLink>>) -> Self {
        let following = Following::Local(LocalWriter { link, first, next: first, refused: false });
        Self::new(writer, following, WriterLease::unlimited())
    }

    fn new(config: WriterProxyConfig, following: Following, lease: WriterLease) -> Self {
        Self {
            config,
            reply: None,
            following,
            assemblies: Assemblies::default(),
            lease,
            #[cfg(test)]
            looks: 0,
        }
    }

    pub(crate) fn guid(&self) -> Guid {
        self.config.guid
    }

    /// When the writer is to be spoken to.
    pub(crate) fn due(&self) -> Option<Instant> {
        match &self.following {
            Following::Reliable(reliable) => reliable.asking.due(),
            _ => None,
        }
    }

    /// Whether a change `number` with a payload of `len` bytes can be taken in.
    pub(crate) fn fit(&mut self, number: SequenceNumber, len: usize, config: &ReaderConfig) -> Fit {
        // The last number has no successor.
        if !number.is_valid() || number == SequenceNumber::MAX {
            return Fit::TooFar;
        }
        match &mut self.following {
            Following::BestEffort { next: Some(next), doubted, .. } => fit_best_effort(*next, number, doubted),
            Following::BestEffort { .. } => Fit::Fits,
            Following::Reliable(reliable) => reliable.fit(number, len, config),
            // What a writer of this process sends by the network has come by the short way.
            Following::Local(_) => Fit::Duplicate,
        }
    }

    /// Whether the writer has yet to say where the reader begins.
    pub(crate) fn awaits_beginning(&self) -> bool {
        matches!(&self.following, Following::Reliable(reliable) if reliable.awaits_beginning())
    }

    /// Takes in a number that fits; `None`: there is nothing to deliver for it.
    pub(crate) fn accept(
        &mut self,
        now: Now,
        number: SequenceNumber,
        change: Option<ReceivedChange>,
        sink: &mut Sink<'_>,
        context: &ProxyContext<'_>,
    ) {
        match &mut self.following {
            Following::BestEffort { next, first, doubted } => {
                let begins = next.is_none_or(|next| number < next);
                if begins {
                    // The first one, or the writer has begun again: the ledger begins with it.
                    sink.tally.begin_again(next.map_or(0, |next| distance(*first, next)));
                    (*next, *first, *doubted) = (None, number, None);
                }
                let lost = next.map_or(0, |next| leave_out(next, number, first, sink.tally));
                *next = Some(number.next());
                let unfinished = self.drop_assemblies_below(number.next(), context.large, sink.counters);
                let unfinished = unfinished.min(lost);
                sink.lost(self.guid(), unfinished, LossCause::Fragments);
                sink.lost(self.guid(), lost - unfinished, LossCause::NeverArrived);
                if let Some(change) = change {
                    // A best-effort reader holds nothing back.
                    let _ = sink.deliver(now, change, false);
                }
            }
            Following::Reliable(reliable) => {
                reliable.accept(now, number, change, sink, context.config);
                let next = reliable.next();
                self.drop_assemblies_below(next, context.large, sink.counters);
            }
            Following::Local(_) => {}
        }
    }

    /// Gives up the fragmented samples below `next`, and says how many, with those that were given up for others before.
    pub(crate) fn drop_assemblies_below(
        &mut self,
        next: SequenceNumber,
        pool: &SlotPool,
        counters: &mut ReaderCounters,
    ) -> u64 {
        if self.assemblies.is_empty() {
            return 0;
        }
        let dropped = self.assemblies.remove_if(pool, |assembly| assembly.sequence_number < next);
        counters.assemblies_dropped += dropped;
        dropped + self.assemblies.take_evicted(next)
    }

    /// Gives up the best-effort samples of which nothing has come for a while. They are lost, and so is what is missing
    /// before them; a fragment that comes after all is too late.
    pub(crate) fn drop_stale(&mut self, now: Instant, timeout: Duration, pool: &SlotPool, sink: &mut Sink<'_>) {
        let Following::BestEffort { next, first: begin, .. } = &mut self.following else { return };
        let (mut first, mut last) = (SequenceNumber::MAX, SequenceNumber::ZERO);
        let dropped = self.assemblies.remove_if(pool, |assembly| {
            let is_stale = assembly.is_stale(now, timeout);
            if is_stale {
                first = first.min(assembly.sequence_number);
                last = last.max(assembly.sequence_number);
            }
            is_stale
        });
        sink.counters.assemblies_dropped += dropped;
        if dropped == 0 || self.assemblies.iter_mut().any(|assembly| assembly.sequence_number < last) {
            // What is lost comes to light when one of the others is whole, or given up as well.
            return;
        }
        let lost = give_up_through(last, first, next, begin, sink.tally);
        let unfinished = (dropped + self.assemblies.take_evicted(last.next())).min(lost);
        sink.lost(self.config.guid, unfinished, LossCause::Fragments);
        sink.lost(self.config.guid, lost - unfinished, LossCause::NeverArrived);
        if lost > 0 {
            sink.break_open_set(self.config.guid);
        }
    }

    /// The writer is gone: counts what is known of it and will never be delivered, and gives up what was begun.
    pub(crate) fn abandon(&mut self, pool: &SlotPool, sink: &mut Sink<'_>) {
        let numbers = || self.assemblies.iter().map(|assembly| assembly.sequence_number);
        let begun = numbers().min().zip(numbers().max());
        let unfinished = self.drop_assemblies_below(SequenceNumber::MAX, pool, sink.counters);
        let guid = self.guid();
        match &mut self.following {
            // The row of the ledger counts them when it is closed.
            Following::Reliable(reliable) => sink.announce_lost(guid, reliable.outstanding(), LossCause::NeverArrived),
            Following::BestEffort { next, first, .. } => {
                let Some((lowest, highest)) = begun else { return };
                let lost = give_up_through(highest, lowest, next, first, sink.tally);
                sink.lost(guid, unfinished.min(lost), LossCause::Fragments);
                sink.lost(guid, lost - unfinished.min(lost), LossCause::NeverArrived);
            }
            Following::Local(_) => {}
        }
    }

    /// Whether a number that is missing is a loss, rather than history that the reader has not begun with.
    pub(crate) fn has_begun(&self) -> bool {
        match &self.following {
            Following::Reliable(reliable) => reliable.has_begun(),
            _ => true,
        }
    }

    /// Whether what is missing comes again.
    pub(crate) fn repairs(&self) -> bool {
        match &self.following {
            Following::BestEffort { .. } => false,
            Following::Reliable(_) => true,
            Following::Local(local) => local.link.is_some(),
        }
    }

    /// How far the reader has come with the writer.
    pub(crate) fn extent(&self) -> Extent {
        let until = |first: SequenceNumber, next: SequenceNumber| Extent {
            first,
            next,
            last: next.previous(),
            received_ahead: 0,
            irrelevant_ahead: 0,
            waiting: 0,
        };
        match &self.following {
            Following::BestEffort { next: Some(next), first, .. } => until(*first, *next),
            Following::BestEffort { first, .. } => until(*first, *first),
            Following::Reliable(reliable) => reliable.extent(),
            Following::Local(local) => until(local.first, local.next),
        }
    }

    /// Makes room for the fragments of one more sample: best effort gives up the oldest, reliable the newest, which will be
    /// asked for again.
    pub(crate) fn evict(&mut self, number: SequenceNumber, pool: &SlotPool, counters: &mut ReaderCounters) -> bool {
        let evicted = match &self.following {
            Following::BestEffort { .. } => self.assemblies.evict_below(number, pool),
            _ => self.assemblies.evict_above(number, pool),
        };
        counters.assemblies_dropped += u64::from(evicted.is_some());
        evicted.is_some()
    }

    /// After fragments have come: if all that was asked for is here and more is missing, that is asked for at once.
    pub(crate) fn ask_on(&mut self, now: Instant, number: SequenceNumber, config: &ReaderConfig) {
        let Following::Reliable(reliable) = &mut self.following else { return };
        reliable.asking.progress(config);
        if self.assemblies.find(number).is_some_and(crate::reader::assembly::Assembly::wants_more) {
            reliable.asking.schedule(Some(now));
        } else {
            reliable.asking.schedule_retry(now);
        }
    }

    /// Whether it is a reliable one that has never been heard.
    pub(crate) fn is_unheard(&self) -> bool {
        matches!(&self.following, Following::Reliable(reliable) if reliable.asking.is_preemptive())
    }

    /// Lays out what there is to say to the writer now. `false`: nothing.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        config: &ReaderConfig,
        counters: &mut ReaderCounters,
        datagram: &mut Datagram,
    ) -> bool {
        #[cfg(test)]
        {
            self.looks += 1;
        }
        let Following::Reliable(reliable) = &mut self.following else { return false };
        if !reliable.asking.is_due(now) {
            return false;
        }
        let speaker = Speaker { reader: config.guid, writer: &self.config, reply: self.reply };
        if reliable.asking.take_doubt(now) && !reliable.asking.is_preemptive() {
            // As in the beginning: the answer is a HEARTBEAT.
            speaker.begin(datagram);
            speaker.ack_nack(
                datagram,
                SequenceNumberSet::empty(SequenceNumber::FIRST),
                reliable.asking.next_ack_nack(),
                false,
            );
            counters.ack_nacks += 1;
            return true;
        }
        if reliable.asking.is_preemptive() {
            // Base 1 and nothing asked for: Cyclone DDS takes base 0 for malformed from most vendors. The answer is a
            // HEARTBEAT.
            let set = SequenceNumberSet::empty(SequenceNumber::FIRST);
            speaker.begin(datagram);
            speaker.ack_nack(datagram, set, reliable.asking.next_ack_nack(), false);
            reliable.asking.preempted(now, config);
            counters.ack_nacks += 1;
            return true;
        }
        let set = reliable.reader_state(now, &self.assemblies, config);
        let (fragments, recheck) = ask_fragments(now, reliable, &mut self.assemblies, config);
        let speaks = reliable.asking.owes_answer() || !set.is_empty() || !fragments.is_empty();
        let missing = reliable.is_something_missing() || !self.assemblies.is_empty();
        reliable.asking.settled(now, missing && !reliable.is_refused(), speaks, config);
        if recheck {
            reliable.asking.schedule(now.after(config.nack_suppression));
        }
        if !speaks {
            return false;
        }
        speaker.begin(datagram);
        speaker.ack_nack(datagram, set, reliable.asking.next_ack_nack(), true);
        counters.ack_nacks += 1;
        for (number, set) in fragments {
            speaker.nack_frag(datagram, number, set, reliable.asking.next_nack_frag());
            counters.nack_frags += 1;
        }
        true
    }
}

/// Gives up what a best-effort writer has not sent through `last`, of which nothing below `lowest` is known if nothing was
/// delivered yet. How many numbers that are.
fn give_up_through(
    last: SequenceNumber,
    lowest: SequenceNumber,
    next: &mut Option<SequenceNumber>,
    first: &mut SequenceNumber,
    tally: &mut Tally,
) -> u64 {
    if next.is_none() {
        *first = lowest;
    }
    let expected = next.replace(last.next()).unwrap_or(lowest);
    if last < expected {
        return 0;
    }
    let before = leave_out(expected, lowest, first, tally);
    before + leave_out(expected.max(lowest), last, first, tally) + 1
}

/// A best-effort writer's numbers go on at `number` instead of `expected`: how many were left out. Of more than [`JUMP_MAX`]
/// only that many count, and the row of the ledger begins anew: nobody can tell what lies between from numbers that never
/// were.
fn leave_out(expected: SequenceNumber, number: SequenceNumber, first: &mut SequenceNumber, tally: &mut Tally) -> u64 {
    let left_out = distance(expected, number);
    if left_out > JUMP_MAX {
        tally.begin_again(distance(*first, expected) + JUMP_MAX);
        *first = number;
    }
    left_out.min(JUMP_MAX)
}

/// Whether a number of a best-effort writer is of use. One that is further from the last one than a writer gets between two
/// samples that arrive is believed when the following one agrees: it was somebody else's, or the writer has begun again.
fn fit_best_effort(next: SequenceNumber, number: SequenceNumber, doubted: &mut Option<SequenceNumber>) -> Fit {
    if distance(next, number) <= JUMP_MAX && distance(number, next) <= JUMP_MAX {
        *doubted = None;
        return if number < next { Fit::Duplicate } else { Fit::Fits };
    }
    let agrees = doubted.is_some_and(|before| before <= number && distance(before, number) <= JUMP_MAX);
    *doubted = Some(number);
    if agrees { Fit::Fits } else { Fit::Doubtful }
}

/// What a proxy needs of its reader.
pub(crate) struct ProxyContext<'a> {
    pub(crate) config: &'a ReaderConfig,
    pub(crate) large: &'a SlotPool,
}

impl ReaderConfig {
    pub(crate) fn assembly_limits(&self) -> AssemblyLimits {
        AssemblyLimits {
            sample_size_max: self.sample_size_max,
            assemblies_max: self.assemblies_max,
            bytes_max: self.assembly_bytes_max,
        }
    }
}

/// The most NACK_FRAGs in one datagram: 16 times at most 68 bytes fit into the smallest MTU in the field.
const NACK_FRAGS_MAX: usize = 16;

type FragmentRequests = SmallVec<[(SequenceNumber, FragmentNumberSet); 2]>;

/// The fragments to ask for, and whether to look again soon because some may still be on their way.
fn ask_fragments(
    now: Instant,
    reliable: &Reliable,
    assemblies: &mut Assemblies,
    config: &ReaderConfig,
) -> (FragmentRequests, bool) {
    let mut requests = FragmentRequests::new();
    let mut recheck = false;
    // The lowest number is what the reader waits for; what it asks for first is sent first.
    assemblies.sort();
    for assembly in assemblies.iter_mut() {
        if requests.len() >= NACK_FRAGS_MAX {
            recheck = true;
            break;
        }
        let number = assembly.sequence_number;
        let whole = reliable.is_announced(number);
        recheck |= assembly.ask(now, whole, config.nack_suppression, |set| requests.push((number, set)));
    }
    (requests, recheck)
}

/// Lays out what a reader says to a writer.
struct Speaker<'a> {
    reader: Guid,
    writer: &'a WriterProxyConfig,
    reply: Option<Locator>,
}

impl Speaker<'_> {
    fn begin(&self, datagram: &mut Datagram) {
        datagram.clear();
        let mut message = MessageBuilder::new(datagram.buffer());
        message.header(self.reader.prefix);
        message.info_dst(self.writer.guid.prefix);
        let WriterProxyConfig { unicast, multicast, .. } = self.writer;
        let locators = match &self.reply {
            Some(reply) => std::slice::from_ref(reply),
            None if unicast.is_empty() => multicast,
            None => unicast,
        };
        locators.iter().for_each(|&locator| datagram.add_destination(locator));
    }

    fn ack_nack(&self, datagram: &mut Datagram, reader_sn_state: SequenceNumberSet, count: i32, is_final: bool) {
        let ack_nack = AckNack {
            reader_id: self.reader.entity_id,
            writer_id: self.writer.guid.entity_id,
            reader_sn_state,
            count,
            is_final,
        };
        MessageBuilder::new(datagram.buffer()).ack_nack(&ack_nack);
    }

    fn nack_frag(&self, datagram: &mut Datagram, writer_sn: SequenceNumber, set: FragmentNumberSet, count: i32) {
        let nack_frag = NackFrag {
            reader_id: self.reader.entity_id,
            writer_id: self.writer.guid.entity_id,
            writer_sn,
            fragment_number_state: set,
            count,
        };
        MessageBuilder::new(datagram.buffer()).nack_frag(&nack_frag);
    }
}

impl Asking {
    /// Schedules an answer to what a writer has said of its fragments.
    pub(crate) fn fragments_announced(&mut self, now: Instant, config: &ReaderConfig) {
        self.schedule(now.after(config.heartbeat_response_delay));
    }
}
