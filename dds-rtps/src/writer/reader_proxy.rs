//! The state that a writer keeps for one remote reader (RTPS 2.5, 8.4.7.5).
//!
//! Life cycle: created when the reader matches, dropped when it unmatches. Bounds: one window of 256 requested sequence
//! numbers, [`FRAGMENT_REQUESTS_MAX`] requests for fragments, and one change whose fragments are being sent.

use super::config::ReaderProxyConfig;
use super::filtered::Filtered;
use super::flow::Flow;
use super::heartbeat::{BACKOFF_MAX, PATIENCE};
use super::round_trip::RoundTrip;
use super::slow_reader::Standing;
use super::way::Way;
use crate::types::{Duration, Instant, Locator, SequenceNumber, VendorId};
use crate::wire::{Recent, SET_BITS_MAX, Window};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Open requests for fragments of one reader. The reader repeats a dropped request.
///
/// Each covers up to 256 fragments. Together they cover 2048 fragments, or 2.7 MB with the fragment size of the
/// network.
const FRAGMENT_REQUESTS_MAX: usize = 8;

/// Answered requests for fragments that the writer remembers while the fragments are in flight. A long path has many.
const FRAGMENTS_SERVED_MAX: usize = 64;

/// Shortest time before the writer retransmits a change. A thread that pauses for a moment is no loss.
const SUPPRESSION_MIN: Duration = Duration::from_millis(1);

/// Longest time before the writer retransmits, however slow the answers seem.
const SUPPRESSION_MAX: Duration = Duration::from_millis(500);

/// How far a count may be behind the last one and still be an old message.
///
/// A count further behind shows that the reader counts from the beginning again, or that the last count was forged.
/// Without this bound, the writer would ignore the reader forever.
const COUNTS_LATE_MAX: i32 = 1024;

/// How far the writer sends ahead of a sequence number that the reader misses, in changes.
///
/// Readers of this implementation keep [`REORDER_MAX`](crate::reader::REORDER_MAX) of them, which leaves room for
/// samples that are not noted as sent yet. Cyclone DDS keeps 128 (`PrimaryReorderMaxSamples`), Fast DDS any number.
const AHEAD_MAX: i64 = 768;
const AHEAD_MAX_OF_OTHERS: i64 = 96;

/// How long new samples wait for a reader that makes no progress.
///
/// If the reader still misses the same change then, waiting does not help.
const CATCH_UP_MAX: Duration = Duration::from_millis(500);

/// On a long path, new samples wait for this many RTTs. With a loss of one third, one repair in a thousand needs six
/// attempts.
const CATCH_UP_ATTEMPTS: u32 = 8;

/// The writer's view of one reader.
#[derive(Debug)]
pub(super) struct ReaderProxy {
    pub(super) config: ReaderProxyConfig,
    /// Content filter of the reader, if the writer evaluates it.
    pub(super) filtered: Option<Box<Filtered>>,
    /// Locator for answers to the last request, if it differs from the locators of `config`.
    pub(super) reply: Option<Locator>,
    /// The writer repairs samples that the reader misses.
    pub(super) reliable: bool,
    /// First relevant sequence number of the reader.
    pub(super) first_relevant: SequenceNumber,
    /// Last relevant sequence number of the reader.
    pub(super) last_relevant: SequenceNumber,
    /// The reader has all changes up to this one.
    pub(super) acknowledged: SequenceNumber,
    /// Whether the writer waits for the reader, if it is reliable.
    pub(super) standing: Standing,
    /// The reader has sent an ACKNACK, so it knows the writer.
    pub(super) heard: bool,
    /// The initial handshake is complete: the reader answered a HEARTBEAT. Also set if the reader requests the history
    /// by itself.
    pub(super) knows_start: bool,
    /// Lowest `first_relevant` among the readers of its participant at the match. No HEARTBEAT needs to start below it.
    pub(super) stream_from: SequenceNumber,
    /// Time and last sequence number of the latest HEARTBEAT, and the HEARTBEATs since the last answer.
    asked_at: Option<Instant>,
    asked_through: SequenceNumber,
    asked: u32,
    /// The next datagram for this reader carries a HEARTBEAT for it alone.
    pub(super) heartbeat_owed: bool,
    /// The owed HEARTBEAT is part of the initial handshake and requires no answer.
    pub(super) is_greeting: bool,
    /// The change whose fragments the writer retransmits, or sends to this reader for the first time.
    pub(super) resend: Option<Resend>,
    /// History that the writer sends to the reader without a request.
    pub(super) backlog: Option<Backlog>,
    /// Congestion window of the reader.
    pub(super) flow: Flow,
    /// RTT estimate of the reader.
    pub(super) round_trip: RoundTrip,
    /// Upper bound of the RTT of the reader.
    pub(super) way: Way,
    /// The proxy is in the writer's queue of readers with data to send.
    pub(super) queued: bool,
    /// When the writer may answer the reader's requests.
    pub(super) respond_at: Option<Instant>,
    /// Requested sequence numbers that the writer has not sent yet.
    requested: Window,
    /// Bytes of whole changes that the writer may still send in answer to the last request.
    answer_room: u64,
    /// Requested changes that the reader has not acknowledged.
    hole: Option<Hole>,
    /// Sequence numbers sent a moment ago, which are not retransmitted at once.
    served: Recent,
    fragments: SmallVec<[FragmentRequest; 1]>,
    /// Completely answered requests and the time of the answer. Kept until their outcome is known.
    fragments_served: VecDeque<(FragmentRequest, Instant)>,
    /// A retransmitted fragment and its time. An answer that still requests the fragment is older than it.
    watched: Option<(SequenceNumber, i64, Instant)>,
    /// Losses up to this sequence number, and these fragments of the next change, are known. Losses beyond are new.
    losses_known: (SequenceNumber, u32),
    acknack_count: Option<i32>,
    nack_frag_count: Option<i32>,
}

/// A hole of a reader.
///
/// An ACKNACK without requests does not prove that the reader misses no data, because its last request may be recent.
#[derive(Debug, Clone, Copy)]
struct Hole {
    /// Highest sequence number that the reader requested.
    through: SequenceNumber,
    /// Time since which the reader makes no progress.
    since: Instant,
}

/// A change that the writer sends to one reader in fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resend {
    pub(super) sequence_number: SequenceNumber,
    /// Counts from 1.
    pub(super) next_fragment: u32,
}

/// History that the writer still sends to a reader without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Backlog {
    pub(super) next: SequenceNumber,
    pub(super) last: SequenceNumber,
    /// Bytes that may still be sent; `None` for no limit.
    pub(super) budget: Option<usize>,
}

/// Request for fragments of one change.
#[derive(Debug, Clone, Copy)]
pub(super) struct FragmentRequest {
    pub(super) sequence_number: SequenceNumber,
    /// Numbers of the fragments, from 1, that are still to be sent.
    pub(super) missing: Window,
    /// All fragments of the request.
    asked: Window,
    /// Earliest time of the answer; `None` for at once.
    not_before: Option<Instant>,
}

impl FragmentRequest {
    fn is_ripe(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|not_before| not_before <= now)
    }
}

impl ReaderProxy {
    /// Creates the proxy of a reader.
    ///
    /// All changes from `first_relevant` on are relevant to it, and it must acknowledge them.
    pub(super) fn new(
        config: ReaderProxyConfig,
        reliable: bool,
        first_relevant: SequenceNumber,
        window: usize,
    ) -> Self {
        // A best-effort reader, and one that requests the history itself, need no initial handshake.
        let knows_start = !reliable || (config.wants_history && config.asks_for_history);
        let flow = Flow::new(window, config.same_host, config.guid.prefix.is_of(VendorId::OURS));
        Self {
            config,
            filtered: None,
            reply: None,
            reliable,
            first_relevant,
            last_relevant: SequenceNumber::MAX,
            acknowledged: first_relevant.previous(),
            standing: Standing::default(),
            heard: false,
            knows_start,
            stream_from: first_relevant,
            asked_at: None,
            asked_through: SequenceNumber::ZERO,
            asked: 0,
            heartbeat_owed: reliable,
            is_greeting: false,
            resend: None,
            backlog: None,
            flow,
            round_trip: RoundTrip::default(),
            way: Way::default(),
            queued: false,
            respond_at: None,
            requested: Window::default(),
            answer_room: 0,
            hole: None,
            served: Recent::default(),
            fragments: SmallVec::new(),
            fragments_served: VecDeque::new(),
            watched: None,
            losses_known: (first_relevant.previous(), 0),
            acknack_count: None,
            nack_frag_count: None,
        }
    }

    /// Returns the locators for a datagram that is for this reader alone.
    pub(super) fn reachable_by(&self) -> &[Locator] {
        match &self.reply {
            Some(reply) => std::slice::from_ref(reply),
            None => self.config.reachable_by(),
        }
    }

    /// Updates whether the initial handshake is complete. `asks_anew`: the reader behaves as if it did not know the
    /// writer.
    pub(super) fn note_knowledge(&mut self, asks_anew: bool) {
        self.knows_start = !asks_anew || (self.config.wants_history && self.config.asks_for_history);
    }

    /// Returns whether the reader belongs to this implementation.
    ///
    /// Such a reader accepts a message that names it only for itself.
    pub(super) fn is_ours(&self) -> bool {
        self.config.guid.prefix.is_of(VendorId::OURS)
    }

    /// Returns whether the initial handshake with the reader is incomplete.
    pub(super) fn is_stranger(&self) -> bool {
        self.reliable && !self.knows_start
    }

    /// Returns whether the writer waits for the reader and has never received an answer from it.
    pub(super) fn is_unheard(&self) -> bool {
        self.reliable && !self.heard && !self.standing.is_demoted()
    }

    /// Schedules the history up to `last` for the reader, without a request.
    pub(super) fn send_backlog(&mut self, last: SequenceNumber, unasked_max: usize) {
        if self.first_relevant <= last {
            let budget = self.reliable.then_some(unasked_max);
            self.backlog = Some(Backlog { next: self.first_relevant, last, budget });
        }
    }

    /// Schedules the kept changes of `first ..= last` for the reader, after the present backlog.
    pub(super) fn extend_backlog(&mut self, first: SequenceNumber, last: SequenceNumber, unasked_max: usize) {
        let (first, last) = (first.max(self.first_relevant), last.min(self.last_relevant));
        if first > last {
            return;
        }
        // A best-effort reader cannot request the rest, so it has no budget.
        let budget = self.reliable.then_some(unasked_max);
        self.backlog.get_or_insert(Backlog { next: first, last, budget }).last = last;
    }

    /// Returns whether an ACKNACK with this count is newer than the last one. Counts wrap around.
    pub(super) fn is_new_acknack(&self, count: i32) -> bool {
        self.acknack_count.is_none_or(|last| is_newer(count, last))
    }

    /// Applies an ACKNACK: the reader has all changes up to `acknowledged` and misses `requested`.
    ///
    /// Returns whether the reader acknowledges more than before.
    pub(super) fn apply_acknack(
        &mut self,
        now: Instant,
        count: i32,
        acknowledged: SequenceNumber,
        requested: Window,
    ) -> bool {
        self.acknack_count = Some(count);
        self.heard = true;
        let through = requested.last().map(SequenceNumber).max(self.hole.map(|hole| hole.through));
        // Progress restarts the time of the hole.
        let since = self.hole.filter(|_| acknowledged <= self.acknowledged).map_or(now, |hole| hole.since);
        self.hole = through.filter(|&through| acknowledged < through).map(|through| Hole { through, since });
        self.requested = requested;
        self.answer_room = self.flow.window();
        // Do not restart a change whose fragments are being sent. Do not finish a change that has arrived.
        if let Some(resend) = self.resend {
            if resend.sequence_number <= acknowledged {
                self.resend = None;
            } else {
                self.requested.remove(resend.sequence_number.0);
            }
        }
        self.fragments.retain(|request| request.sequence_number > acknowledged);
        self.fragments_served.retain(|(served, _)| {
            let has_come = served.sequence_number <= acknowledged;
            if has_come {
                // The acknowledgement proves that these retransmitted fragments arrived.
                self.flow.note_sent_again(served.asked.len(), 0);
            }
            !has_come
        });
        if let Some(backlog) = self.backlog.as_mut().filter(|backlog| backlog.next <= acknowledged) {
            backlog.next = acknowledged.next();
        }
        let progress = acknowledged > self.acknowledged;
        self.acknowledged = self.acknowledged.max(acknowledged);
        progress
    }

    /// Returns the lowest requested sequence number that the writer may send now.
    pub(super) fn next_requested(&self, now: Instant, suppression: Duration) -> Option<SequenceNumber> {
        let suppression = self.suppression_of_changes(suppression);
        let mut from = self.requested.base();
        while let Some(number) = self.requested.first_from(from) {
            if !self.served.contains(now, number, suppression) {
                return Some(SequenceNumber(number));
            }
            from = number + 1;
        }
        None
    }

    /// Notes that the changes up to `last` are sent now, or never will be.
    pub(super) fn serve_up_to(&mut self, now: Instant, last: SequenceNumber, suppression: Duration) {
        let suppression = self.suppression_of_changes(suppression);
        let mut from = self.requested.base();
        while let Some(number) = self.requested.first_from(from).filter(|&number| number <= last.0) {
            self.served.note(now, number, suppression);
            self.requested.remove(number);
            from = number + 1;
        }
    }

    /// Notes that a requested change of `len` bytes was sent.
    ///
    /// The answer to one request is at most one window. A HEARTBEAT announces the rest, and the reader requests it
    /// again.
    pub(super) fn note_answered(&mut self, len: usize) {
        self.answer_room = self.answer_room.saturating_sub(len as u64);
        if self.answer_room == 0 {
            self.requested = Window::default();
        }
    }

    /// Notes a request for fragments of a change. Returns `false` if there is no room for it.
    pub(super) fn apply_nack_frag(
        &mut self,
        now: Instant,
        sequence_number: SequenceNumber,
        missing: Window,
        suppression: Duration,
    ) -> bool {
        self.judge_fragments(now, sequence_number, &missing, suppression);
        // All fragments of the change are being sent.
        if self.resend.is_some_and(|resend| resend.sequence_number == sequence_number) {
            return true;
        }
        let suppression = self.suppression(suppression);
        // Fragments of another request are being sent already. The reader repeats its requests until they arrive.
        let mut missing = missing;
        for standing in self.fragments.iter().filter(|standing| standing.sequence_number == sequence_number) {
            missing.remove_all(&standing.asked);
        }
        if missing.is_empty() {
            return true;
        }
        let (missing, not_before) = self.without_served(now, sequence_number, missing, suppression);
        if not_before.is_some() && self.flow.is_long() {
            // A delayed answer would be out of date. The reader repeats its request.
            return true;
        }
        if self.fragments.len() >= FRAGMENT_REQUESTS_MAX {
            return false;
        }
        self.fragments.push(FragmentRequest { sequence_number, missing, asked: missing, not_before });
        true
    }

    /// Returns the requested fragments that were not sent just now.
    ///
    /// If all were, returns all of them and the time until which they wait. The reader repeats its requests while an
    /// earlier answer is in flight.
    fn without_served(
        &mut self,
        now: Instant,
        sequence_number: SequenceNumber,
        missing: Window,
        suppression: Duration,
    ) -> (Window, Option<Instant>) {
        let mut rest = missing;
        let mut until = None;
        let is_recent = |at: &Instant| at.after(suppression).is_some_and(|until| now < until);
        let alike =
            |(served, at): &&(FragmentRequest, Instant)| served.sequence_number == sequence_number && is_recent(at);
        for (served, at) in self.fragments_served.iter().filter(alike) {
            if served.asked.meets(&rest) {
                rest.remove_all(&served.asked);
                until = at.after(suppression);
            }
        }
        if rest.is_empty() { (missing, until) } else { (rest, None) }
    }

    /// Derives the outcome of retransmitted fragments from a NACK_FRAG: it requests the lost ones again.
    ///
    /// Fragments sent a moment ago are left out, because the reader did not know of them yet.
    fn judge_fragments(&mut self, now: Instant, number: SequenceNumber, missing: &Window, suppression: Duration) {
        let suppression = self.suppression(suppression);
        let Self { fragments_served, flow, .. } = self;
        fragments_served.retain_mut(|(served, at)| {
            if served.sequence_number != number || at.after(suppression).is_none_or(|until| now < until) {
                return true;
            }
            // The next NACK_FRAG covers the fragments that do not fit into one set.
            let mut beyond = served.asked;
            beyond.remove_up_to(missing.base() + i64::from(SET_BITS_MAX) - 1);
            let before = served.asked.len() - beyond.len();
            served.asked.remove_all(&beyond);
            served.asked.remove_all(missing);
            flow.note_sent_again(before, before - served.asked.len());
            served.asked = beyond;
            !beyond.is_empty()
        });
    }

    /// Remembers a retransmitted fragment to measure the RTT.
    ///
    /// With many losses, acknowledged numbers do not advance, and HEARTBEATs without news yield no RTT sample. A path
    /// that was long once would then stay a long path, and the writer would send little per answer.
    pub(super) fn watch(&mut self, now: Instant, number: SequenceNumber, fragment: u32) {
        let is_free = self.watched.is_none_or(|(.., at)| now.since(at) >= SUPPRESSION_MAX);
        if is_free && self.flow.is_squeezed() {
            self.watched = Some((number, fragment.into(), now));
        }
    }

    /// Derives an RTT sample from the watched fragment.
    ///
    /// The reader has all changes up to `number`. Of the next change it misses `missing`; `None` if it named no
    /// fragments.
    pub(super) fn look_at_watched(&mut self, now: Instant, number: SequenceNumber, missing: Option<&Window>) {
        let Some((watched, fragment, at)) = self.watched else { return };
        let is_here =
            |missing: &Window| fragment < missing.base() || (missing.reaches(fragment) && !missing.contains(fragment));
        if watched <= number || (watched == number.next() && missing.is_some_and(is_here)) {
            self.watched = None;
            self.way.note_shown(now.since(at));
            self.round_trip.note_shown(now.since(at));
        }
    }

    /// Returns how long a sent change is not retransmitted.
    ///
    /// The reader needs this time to acknowledge it. Without an RTT estimate the time is `usual`.
    fn suppression_of_changes(&self, usual: Duration) -> Duration {
        if self.flow.is_long() {
            // Three RTTs would triple the time until a lost repair is repeated.
            return self.way.shortest().scale(5, 4).min(SUPPRESSION_MAX);
        }
        match self.round_trip.shortest() {
            Duration::ZERO => usual,
            // Three RTTs leave time for the ACKNACK that the next HEARTBEAT causes.
            shortest => shortest.scale(3, 1).clamp(SUPPRESSION_MIN.min(usual), SUPPRESSION_MAX),
        }
    }

    /// Returns how long sent fragments are not retransmitted: `least`, or longer if the RTT is longer.
    fn suppression(&self, least: Duration) -> Duration {
        let way = if self.flow.is_long() { self.way.shortest() } else { Duration::ZERO };
        let answer = self.flow.round_trip().max(way);
        least.max(answer.scale(3, 2)).min(SUPPRESSION_MAX)
    }

    /// Notes that the reader misses `len` bytes of a change or of one fragment. If that is new, they count as lost in
    /// the window.
    ///
    /// Fragments count from 1; 0 stands for the whole change.
    pub(super) fn note_missing(&mut self, number: SequenceNumber, fragment: u32, len: usize) {
        let place = (number.previous(), fragment.max(1));
        if place > self.losses_known {
            self.flow.note_lost(place, len as u64);
        }
    }

    /// Notes that all losses up to `number`, and up to `fragments` of the next change, are known.
    pub(super) fn know_losses(&mut self, number: SequenceNumber, fragments: u32) {
        self.losses_known = self.losses_known.max((number, fragments));
    }

    /// Returns whether a NACK_FRAG with this count is newer than the last one, and then remembers it.
    pub(super) fn accept_nack_frag_count(&mut self, count: i32) -> bool {
        let is_new = self.nack_frag_count.is_none_or(|last| is_newer(count, last));
        if is_new {
            self.nack_frag_count = Some(count);
        }
        is_new
    }

    /// Lets the counts of NACK_FRAGs start from the beginning again.
    pub(super) fn forget_nack_frag_count(&mut self) {
        self.nack_frag_count = None;
    }

    /// Returns the request for fragments to answer next: the lowest sequence number, for which the reader waits.
    pub(super) fn next_fragments(&mut self, now: Instant) -> Option<&mut FragmentRequest> {
        let ripe = self.fragments.iter_mut().filter(|request| request.is_ripe(now));
        ripe.min_by_key(|request| request.sequence_number)
    }

    /// Drops answered requests, and requests for the removed change `gone`.
    pub(super) fn drop_fragments(&mut self, now: Instant, gone: Option<SequenceNumber>) {
        let served = &mut self.fragments_served;
        // Fragments that were sent within a quarter of an RTT count as sent together.
        let together = if self.flow.is_long() { self.way.shortest().scale(1, 4) } else { Duration::ZERO };
        self.fragments.retain(|request| {
            if request.missing.is_empty() {
                let mut alike = served.iter_mut().filter(|(last, _)| last.sequence_number == request.sequence_number);
                let alike =
                    alike.find(|(last, at)| now.since(*at) < together && last.asked.reaches_all(&request.asked));
                if let Some((last, _)) = alike {
                    last.asked.insert_all(&request.asked);
                } else {
                    if served.len() == FRAGMENTS_SERVED_MAX {
                        served.pop_front();
                    }
                    served.push_back((*request, now));
                }
            }
            !request.missing.is_empty() && Some(request.sequence_number) != gone
        });
    }

    /// Returns whether the writer has data or a HEARTBEAT to send now.
    pub(super) fn has_work(&self, now: Instant, suppression: Duration) -> bool {
        self.heartbeat_owed || self.has_changes_to_send(now, suppression)
    }

    /// Returns whether the writer has changes or GAPs to send now.
    pub(super) fn has_changes_to_send(&self, now: Instant, suppression: Duration) -> bool {
        if self.resend.is_some() {
            return self.has_window();
        }
        let is_asked = || {
            let fragments = self.has_window() && self.fragments.iter().any(|request| request.is_ripe(now));
            fragments || self.next_requested(now, suppression).is_some()
        };
        self.backlog.is_some() || (self.may_respond(now) && is_asked())
    }

    /// Returns whether the writer may send fragments and repairs to this reader alone.
    ///
    /// A best-effort reader never answers, so it receives its history at once. The history is sent only once.
    pub(super) fn has_window(&self) -> bool {
        !self.reliable || self.flow.is_open()
    }

    /// Returns until when the writer should not send `next` or newer changes, for the sake of this reader.
    ///
    /// The reader has a hole and keeps only a limited number of later changes. It drops newer ones, and the writer
    /// would have to retransmit them.
    pub(super) fn catches_up_until(&self, now: Instant, next: SequenceNumber) -> Option<Instant> {
        let attempts = self.way.shortest().min(SUPPRESSION_MAX).scale(CATCH_UP_ATTEMPTS, 1);
        let until = self.hole?.since.after(CATCH_UP_MAX.max(attempts))?;
        let is_ahead = next.0.saturating_sub(self.acknowledged.0) > self.ahead_max();
        (is_ahead && now < until).then_some(until)
    }

    fn ahead_max(&self) -> i64 {
        if self.is_ours() { AHEAD_MAX } else { AHEAD_MAX_OF_OTHERS }
    }

    /// Notes a HEARTBEAT that the reader must answer. It ends with `last` and follows `fragments` of the next change.
    pub(super) fn note_heartbeat(&mut self, now: Instant, last: SequenceNumber, fragments: u32) {
        self.flow.note_heartbeat(now, (last, fragments));
        self.round_trip.note_heartbeat(now, last);
        self.way.note_heartbeat(now, last, fragments);
        self.asked_at = Some(now);
        self.asked_through = last;
        self.asked = self.asked.saturating_add(1);
    }

    /// Notes that the reader answered.
    pub(super) fn note_answer(&mut self) {
        self.asked = 0;
    }

    /// Returns whether the timer may send a HEARTBEAT to a reader that owes an answer up to `last`.
    ///
    /// The timer fires every `period`, and more often if there are many readers. Each HEARTBEAT slows a busy machine
    /// down further. So a repeated HEARTBEAT waits until the reader had time to answer.
    pub(super) fn may_be_asked(&self, now: Instant, last: SequenceNumber, period: Duration) -> bool {
        // The pause doubles only after the first few unanswered HEARTBEATs.
        let doubled = self.asked.saturating_sub(PATIENCE).min(BACKOFF_MAX);
        let has_had_time = |at| now.since(at) >= period.scale(1 << doubled, 2);
        self.asked_through < last || self.asked_at.is_none_or(has_had_time)
    }

    /// Returns whether the reader received a HEARTBEAT a moment ago and is about to answer.
    pub(super) fn was_just_asked(&self, now: Instant, period: Duration) -> bool {
        self.asked > 0 && self.asked_at.is_some_and(|at| now.since(at) < period.scale(1, 8))
    }

    /// Schedules a HEARTBEAT if the window waits for an answer.
    pub(super) fn ask_if_stuck(&mut self, now: Instant) {
        self.heartbeat_owed |= self.reliable && (self.flow.is_stuck() || self.flow.is_overdue(now));
    }

    /// Returns whether the writer may answer the reader's requests now.
    pub(super) fn may_respond(&self, now: Instant) -> bool {
        self.respond_at.is_none_or(|respond_at| respond_at <= now)
    }

    /// Returns the next time at which there is data to send, if not now.
    pub(super) fn work_later(&self, now: Instant, suppression: Duration) -> Option<Instant> {
        let asked = !self.requested.is_empty() || !self.fragments.is_empty();
        if let Some(respond_at) = self.respond_at.filter(|&respond_at| asked && now < respond_at) {
            return Some(respond_at);
        }
        let fragments = self.fragments.iter().filter_map(|request| request.not_before).filter(|&at| now < at).min();
        let numbers =
            self.served.until(now, self.suppression_of_changes(suppression)).filter(|_| !self.requested.is_empty());
        let flow = self.flow.deadline().filter(|_| self.reliable);
        [fragments, numbers, flow].into_iter().flatten().min()
    }
}

/// Returns whether `count` follows `last`. Counts wrap around.
pub(super) fn is_newer(count: i32, last: i32) -> bool {
    let ahead = count.wrapping_sub(last);
    !(-COUNTS_LATE_MAX..=0).contains(&ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, Guid, GuidPrefix};

    #[test]
    fn only_so_many_answers_with_fragments_are_remembered() {
        let guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 4]));
        let config = ReaderProxyConfig::new(guid, Vec::new());
        let mut proxy = ReaderProxy::new(config, true, SequenceNumber::FIRST, 1 << 20);
        for number in 1..=FRAGMENTS_SERVED_MAX as i64 + 10 {
            let (missing, asked) = (Window::new(1), Window::new(1));
            let sequence_number = SequenceNumber(number);
            proxy.fragments.push(FragmentRequest { sequence_number, missing, asked, not_before: None });
            proxy.drop_fragments(Instant::ZERO, None);
        }
        let oldest = proxy.fragments_served.front().unwrap().0.sequence_number;
        assert_eq!((proxy.fragments_served.len(), oldest), (FRAGMENTS_SERVED_MAX, SequenceNumber(11)));
    }
}
