//! The state that a writer keeps for one remote reader (RTPS 2.5, 8.4.7.5).
//!
//! Life cycle: created when the reader matches, dropped when it unmatches. Bounds: those of [`RequestedChanges`] and
//! [`RequestedFragments`], and one change whose fragments are being sent.

use super::content_filter::ReaderFilter;
use super::handshake::{AnswerRequest, Handshake, OwedHeartbeat};
use super::repair_budget::RepairBudget;
use super::requested_changes::RequestedChanges;
use super::requested_fragments::{FragmentRequest, RequestedFragments};
use crate::types::{Duration, Instant, Locator, SequenceNumber, VendorId};
use crate::wire::Window;
use crate::writer::ack::slow_readers::{Standing, samples_between};
use crate::writer::config::ReaderProxyConfig;
use crate::writer::congestion::StreamPosition;
use crate::writer::congestion::rtt::RttEstimator;
use crate::writer::congestion::window::CongestionWindow;
use crate::writer::heartbeat::LIGHT_LOAD_MAX;
use crate::writer::send::DATAGRAM_COST;

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
/// Readers of this implementation keep as many bytes as [`AHEAD_BYTES_MAX`], twice, and
/// [`REORDER_MAX`](crate::reader::REORDER_MAX) changes. That leaves room for samples that are not noted as sent yet.
/// Cyclone DDS keeps 128 (`PrimaryReorderMaxSamples`), Fast DDS any number.
const AHEAD_MAX: i64 = 48 << 10;
const AHEAD_MAX_OF_OTHERS: i64 = 96;

/// The same in bytes, for readers of this implementation, if that is more than [`AHEAD_MIN`] changes.
const AHEAD_BYTES_MAX: usize = 8 << 20;
const AHEAD_MIN: i64 = 768;

/// How long new samples wait for a reader that makes no progress.
///
/// If the reader still misses the same change then, waiting does not help.
const CATCH_UP_MAX: Duration = Duration::from_millis(500);

/// On a long path, new samples wait for this many RTTs. With a loss of one third, one repair in a thousand needs six
/// attempts.
const CATCH_UP_ATTEMPTS: u32 = 8;

/// The writer's view of one reader.
#[derive(Debug)]
pub(crate) struct ReaderProxy {
    pub(crate) config: ReaderProxyConfig,
    /// Content filter of the reader, if the writer evaluates it.
    pub(crate) filter: Option<Box<ReaderFilter>>,
    /// Locator for answers to the last request, if it differs from the locators of `config`.
    pub(crate) reply: Option<Locator>,
    /// The writer repairs samples that the reader misses.
    pub(crate) reliable: bool,
    pub(crate) relevant: RelevantRange,
    /// The reader has all changes up to this one.
    pub(crate) acknowledged: SequenceNumber,
    /// Whether the writer waits for the reader, if it is reliable.
    pub(crate) standing: Standing,
    pub(crate) handshake: Handshake,
    pub(crate) owed: OwedHeartbeat,
    pub(crate) asked: AnswerRequest,
    pub(crate) repairs: RepairState,
    pub(crate) congestion: CongestionWindow,
    pub(crate) rtt: RttEstimator,
    /// Losses up to this position are known. Losses beyond are new.
    losses_known: StreamPosition,
    counts: RequestCounts,
    /// The proxy is in the writer's queue of readers with data to send.
    pub(crate) queued: bool,
}

/// Changes that are relevant to one reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RelevantRange {
    /// First relevant sequence number of the reader.
    pub(crate) first: SequenceNumber,
    /// Last relevant sequence number of the reader.
    pub(crate) last: SequenceNumber,
    /// Lowest `first` among the readers of its participant at the match. No HEARTBEAT needs to start below it.
    pub(crate) stream_from: SequenceNumber,
}

/// Data that the writer still sends to one reader alone.
#[derive(Debug)]
pub(crate) struct RepairState {
    pub(crate) changes: RequestedChanges,
    pub(crate) fragments: RequestedFragments,
    /// The change whose fragments the writer retransmits, or sends to this reader for the first time.
    pub(crate) resend: Option<FragmentedResend>,
    /// History that the writer sends to the reader without a request.
    pub(crate) backlog: Option<Backlog>,
    /// When the writer may answer the reader's requests.
    pub(crate) respond_at: Option<Instant>,
    pub(crate) budget: RepairBudget,
    /// Requested changes that the reader has not acknowledged.
    hole: Option<ReaderHole>,
}

/// Counts of the reader's last requests.
#[derive(Debug, Default)]
struct RequestCounts {
    ack_nack: Option<i32>,
    nack_frag: Option<i32>,
}

/// A hole of a reader.
///
/// An ACKNACK without requests does not prove that the reader misses no data, because its last request may be recent.
#[derive(Debug, Clone, Copy)]
struct ReaderHole {
    /// Highest sequence number that the reader requested.
    through: SequenceNumber,
    /// Time since which the reader makes no progress.
    since: Instant,
}

/// A change that the writer sends to one reader in fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FragmentedResend {
    pub(crate) sequence_number: SequenceNumber,
    /// Counts from 1.
    pub(crate) next_fragment: u32,
    /// The reader was sent the change before.
    pub(crate) is_repeated: bool,
}

/// History that the writer still sends to a reader without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) next: SequenceNumber,
    pub(crate) last: SequenceNumber,
    /// Bytes that may still be sent; `None` for no limit.
    pub(crate) budget: Option<usize>,
}

impl RepairState {
    fn new(same_host: bool) -> Self {
        Self {
            changes: RequestedChanges::default(),
            fragments: RequestedFragments::default(),
            resend: None,
            backlog: None,
            respond_at: None,
            budget: RepairBudget::new(same_host),
            hole: None,
        }
    }

    /// Returns whether the writer may answer the reader's requests now.
    #[inline]
    pub(crate) fn may_respond(&self, now: Instant) -> bool {
        match self.respond_at {
            Some(respond_at) => respond_at <= now,
            None => true,
        }
    }

    /// Schedules the answer to an ACKNACK with requests, after `delay`.
    pub(crate) fn schedule_answer(&mut self, now: Instant, delay: Duration) {
        // The reader requests the history window by window. Sending it without a request would send it twice.
        self.backlog = None;
        // Further requests within the delay join the same answer.
        if delay > Duration::ZERO && self.may_respond(now) {
            self.respond_at = now.after(delay);
        }
    }

    /// Updates the hole after an ACKNACK. `has_progress`: the reader acknowledges more than before.
    fn note_hole(
        &mut self,
        now: Instant,
        requested: Option<SequenceNumber>,
        acknowledged: SequenceNumber,
        has_progress: bool,
    ) {
        let (mut through, mut since) = (requested, now);
        if let Some(hole) = self.hole {
            through = through.max(Some(hole.through));
            // Progress restarts the time of the hole.
            if !has_progress {
                since = hole.since;
            }
        }
        self.hole = match through {
            Some(through) if acknowledged < through => Some(ReaderHole { through, since }),
            _ => None,
        };
    }
}

impl ReaderProxy {
    /// Creates the proxy of a reader.
    ///
    /// All changes from `first_relevant` on are relevant to it, and it must acknowledge them.
    pub(crate) fn new(
        config: ReaderProxyConfig,
        reliable: bool,
        first_relevant: SequenceNumber,
        window: usize,
    ) -> Self {
        // A best-effort reader, and one that requests the history itself, need no initial handshake.
        let needs_handshake = reliable && !config.requests_history();
        // Readers of this implementation answer each HEARTBEAT at once.
        let congestion = CongestionWindow::new(window, config.same_host, config.vendor == VendorId::OURS);
        let repairs = RepairState::new(config.same_host);
        Self {
            config,
            filter: None,
            reply: None,
            reliable,
            relevant: RelevantRange { first: first_relevant, last: SequenceNumber::MAX, stream_from: first_relevant },
            acknowledged: first_relevant.previous(),
            standing: Standing::default(),
            handshake: Handshake::new(needs_handshake),
            owed: if reliable { OwedHeartbeat::Required } else { OwedHeartbeat::None },
            asked: AnswerRequest::new(),
            repairs,
            congestion,
            rtt: RttEstimator::default(),
            losses_known: StreamPosition::after(first_relevant.previous()),
            counts: RequestCounts::default(),
            queued: false,
        }
    }

    /// Takes a new configuration of the same reader.
    pub(crate) fn reconfigure(&mut self, config: ReaderProxyConfig, reliable: bool) {
        self.config = config;
        self.reply = None;
        self.reliable = reliable;
        if !reliable {
            self.owed = OwedHeartbeat::None;
        }
        if self.config.requests_history() {
            self.handshake.complete();
        }
    }

    /// Returns the locators for a datagram that is for this reader alone.
    pub(crate) fn reachable_by(&self) -> &[Locator] {
        match &self.reply {
            Some(reply) => std::slice::from_ref(reply),
            None => self.config.reachable_by(),
        }
    }

    /// Returns whether the reader belongs to this implementation.
    ///
    /// Such a reader accepts a message that names it only for itself.
    pub(crate) fn is_ours(&self) -> bool {
        self.config.vendor == VendorId::OURS
    }

    /// Returns whether the initial handshake with the reader is incomplete.
    #[inline]
    pub(crate) fn needs_handshake(&self) -> bool {
        self.reliable && !self.handshake.is_complete()
    }

    /// Returns whether the writer waits for the reader and has never received an answer from it.
    pub(crate) fn is_unheard(&self) -> bool {
        self.reliable && !self.handshake.is_heard() && !self.standing.is_demoted()
    }

    /// Returns whether the reader must acknowledge changes up to `last`, or has never answered.
    pub(crate) fn owes_answer(&self, last: SequenceNumber) -> bool {
        self.reliable && (!self.handshake.is_heard() || self.acknowledged < last)
    }

    /// Returns whether the writer must delay the handshake, because irrelevant changes wait to be sent.
    pub(crate) fn is_handshake_early(&self, next: SequenceNumber) -> bool {
        self.needs_handshake() && self.is_ours() && !self.config.wants_history && next < self.relevant.first
    }

    /// Schedules the history up to `last` for the reader, without a request.
    pub(crate) fn send_backlog(&mut self, last: SequenceNumber, unasked_max: usize) {
        if self.relevant.first <= last {
            let budget = if self.reliable { Some(unasked_max) } else { None };
            self.repairs.backlog = Some(Backlog { next: self.relevant.first, last, budget });
        }
    }

    /// Schedules the kept changes of `first ..= last` for the reader, after the present backlog.
    pub(crate) fn extend_backlog(&mut self, first: SequenceNumber, last: SequenceNumber, unasked_max: usize) {
        let (first, last) = (first.max(self.relevant.first), last.min(self.relevant.last));
        if first > last {
            return;
        }
        // A best-effort reader cannot request the rest, so it has no budget.
        let budget = if self.reliable { Some(unasked_max) } else { None };
        // Changes between two ranges are irrelevant to the reader, and become GAPs.
        self.repairs.backlog.get_or_insert(Backlog { next: first, last, budget }).last = last;
    }

    /// Returns whether an ACKNACK with this count is newer than the last one. Counts wrap around.
    pub(crate) fn is_new_ack_nack(&self, count: i32) -> bool {
        match self.counts.ack_nack {
            Some(last) => is_newer(count, last),
            None => true,
        }
    }

    /// Returns whether a NACK_FRAG with this count is newer than the last one, and then remembers it.
    pub(crate) fn accept_nack_frag_count(&mut self, count: i32) -> bool {
        let is_new = match self.counts.nack_frag {
            Some(last) => is_newer(count, last),
            None => true,
        };
        if is_new {
            self.counts.nack_frag = Some(count);
        }
        is_new
    }

    /// Measures RTT and congestion from an ACKNACK that acknowledges all changes up to `acknowledged`.
    ///
    /// The reader knows of all changes up to `heard_of`. `has_all`: it has all data ever sent.
    pub(crate) fn note_answer_time(
        &mut self,
        now: Instant,
        acknowledged: SequenceNumber,
        heard_of: SequenceNumber,
        has_all: bool,
    ) {
        self.rtt.note_arrived(now, acknowledged, None);
        self.rtt.note_ack_nack(now, heard_of);
        self.congestion.set_rtt_bound(self.rtt.upper_bound());
        self.congestion.note_answer(now, self.rtt.estimate());
        self.congestion.note_acknowledged(acknowledged);
        if has_all {
            self.congestion.note_all_received();
        }
    }

    /// Applies an ACKNACK: the reader has all changes up to `acknowledged` and misses `requested`.
    ///
    /// Without `requested` the open requests stay. `is_preemptive`: the reader seems not to know the writer.
    pub(crate) fn apply_ack_nack(
        &mut self,
        now: Instant,
        count: i32,
        acknowledged: SequenceNumber,
        requested: Option<Window>,
        is_preemptive: bool,
    ) {
        self.handshake.note_answer(!is_preemptive || self.config.requests_history());
        if is_preemptive {
            // A reader that restarted counts its NACK_FRAGs from the beginning too.
            self.counts.nack_frag = None;
        } else {
            self.asked.note_answer();
        }
        self.counts.ack_nack = Some(count);
        let repairs = &mut self.repairs;
        let has_progress = acknowledged > self.acknowledged;
        let last_requested = requested.as_ref().and_then(Window::last);
        repairs.note_hole(now, last_requested.map(SequenceNumber), acknowledged, has_progress);
        match requested {
            Some(requested) => repairs.changes.replace(requested, self.congestion.size()),
            None => repairs.changes.remove_up_to(acknowledged),
        }
        if has_progress {
            repairs.changes.acknowledge(acknowledged);
        }
        // Do not restart a change whose fragments are being sent. Do not finish a change that has arrived.
        if let Some(resend) = repairs.resend {
            if resend.sequence_number <= acknowledged {
                repairs.resend = None;
            } else {
                repairs.changes.remove(resend.sequence_number);
            }
        }
        repairs.fragments.acknowledge(acknowledged, &mut self.congestion);
        if let Some(backlog) = &mut repairs.backlog {
            backlog.next = backlog.next.max(acknowledged.next());
        }
        self.acknowledged = self.acknowledged.max(acknowledged);
    }

    /// Applies a NACK_FRAG: the reader misses these fragments. Returns `false` if there is no room for the request.
    pub(crate) fn apply_nack_frag(
        &mut self,
        now: Instant,
        sequence_number: SequenceNumber,
        missing: Window,
        suppression: Duration,
    ) -> bool {
        let suppression = self.fragment_suppression(suppression);
        let RepairState { fragments, resend, .. } = &mut self.repairs;
        fragments.judge(now, sequence_number, &missing, suppression, &mut self.congestion);
        // All fragments of the change are being sent.
        match resend {
            Some(resend) if resend.sequence_number == sequence_number => return true,
            _ => {}
        }
        fragments.add(now, sequence_number, missing, suppression, self.congestion.is_long_path())
    }

    /// Returns the lowest requested sequence number that the writer may send now.
    pub(crate) fn next_requested(&self, now: Instant, suppression: Duration) -> Option<SequenceNumber> {
        self.repairs.changes.next(now, self.change_suppression(suppression))
    }

    /// Notes that the requested changes up to `last` are sent now, or never will be.
    pub(crate) fn serve_up_to(&mut self, now: Instant, last: SequenceNumber, suppression: Duration) {
        let suppression = self.change_suppression(suppression);
        self.repairs.changes.serve_up_to(now, last, suppression);
    }

    /// Remembers a retransmitted fragment to measure the RTT, if retransmissions get lost.
    pub(crate) fn watch(&mut self, now: Instant, number: SequenceNumber, fragment: u32) {
        if self.congestion.is_below_minimum() {
            self.rtt.watch(now, number, fragment);
        }
    }

    /// Returns how long a sent change is not retransmitted.
    ///
    /// The reader needs this time to acknowledge it. Without an RTT estimate the time is `usual`.
    fn change_suppression(&self, usual: Duration) -> Duration {
        if self.congestion.is_long_path() {
            // Three RTTs would triple the time until a lost repair is repeated.
            return self.rtt.upper_bound().scale(5, 4).min(SUPPRESSION_MAX);
        }
        match self.rtt.estimate() {
            Duration::ZERO => usual,
            // Three RTTs leave time for the ACKNACK that the next HEARTBEAT causes.
            rtt => {
                // A slow reader handles earlier data first, which the smoothed time includes. Without a queue, that
                // time shows lost HEARTBEATs instead.
                let hole = match self.repairs.hole {
                    Some(hole) => samples_between(self.acknowledged, hole.through),
                    None => 0,
                };
                let is_queued = hole > LIGHT_LOAD_MAX;
                let queued = if is_queued { self.congestion.smoothed_rtt().scale(3, 2) } else { Duration::ZERO };
                rtt.scale(3, 1).max(queued).clamp(SUPPRESSION_MIN.min(usual), SUPPRESSION_MAX)
            }
        }
    }

    /// Returns how long sent fragments are not retransmitted: `min`, or longer if the RTT is longer.
    fn fragment_suppression(&self, min: Duration) -> Duration {
        let rtt = self.congestion.smoothed_rtt().max(self.long_path_rtt());
        min.max(rtt.scale(3, 2)).min(SUPPRESSION_MAX)
    }

    /// Returns the upper bound of the RTT on a long path, and zero on a short one.
    fn long_path_rtt(&self) -> Duration {
        if self.congestion.is_long_path() { self.rtt.upper_bound() } else { Duration::ZERO }
    }

    /// Notes that the reader misses `len` bytes of a change or of one fragment. If that is new, they count as lost in
    /// the window.
    ///
    /// Fragments count from 1; 0 stands for the whole change.
    pub(crate) fn note_missing(&mut self, number: SequenceNumber, fragment: u32, len: usize) {
        let place = StreamPosition { last: number.previous(), fragments: fragment.max(1) };
        if place > self.losses_known {
            self.congestion.note_lost(place, len as u64);
        }
    }

    /// Notes that all losses up to this position are known.
    pub(crate) fn know_losses(&mut self, place: StreamPosition) {
        self.losses_known = self.losses_known.max(place);
    }

    /// Returns the request for fragments to answer next.
    pub(crate) fn next_fragments(&mut self, now: Instant) -> Option<&mut FragmentRequest> {
        self.repairs.fragments.next(now)
    }

    /// Drops answered requests for fragments.
    pub(crate) fn drop_answered_fragments(&mut self, now: Instant) {
        let together = self.sent_together();
        self.repairs.fragments.drop_answered(now, together);
    }

    /// Drops answered requests for fragments, and those for a change that is gone.
    pub(crate) fn forget_fragments(&mut self, now: Instant, gone: SequenceNumber) {
        let together = self.sent_together();
        self.repairs.fragments.forget(now, gone, together);
    }

    /// Fragments that were sent within a quarter of a long RTT count as sent together.
    fn sent_together(&self) -> Duration {
        self.long_path_rtt().scale(1, 4)
    }

    /// Returns whether the writer has data or a HEARTBEAT to send now.
    pub(crate) fn has_work(&self, now: Instant, suppression: Duration) -> bool {
        self.owed.is_some() || self.has_changes_to_send(now, suppression)
    }

    /// Returns whether the writer has changes or GAPs to send now.
    pub(crate) fn has_changes_to_send(&self, now: Instant, suppression: Duration) -> bool {
        let repairs = &self.repairs;
        // A change in fragments comes first, and it needs the window.
        if repairs.resend.is_some() {
            return self.has_window();
        }
        if repairs.backlog.is_some() {
            return true;
        }
        repairs.may_respond(now)
            && ((self.has_window() && repairs.fragments.is_ripe(now))
                || self.next_requested(now, suppression).is_some())
    }

    /// Returns whether the writer may send fragments and repairs to this reader alone.
    ///
    /// A best-effort reader never answers, so it receives its history at once. The history is sent only once.
    pub(crate) fn has_window(&self) -> bool {
        !self.reliable || self.congestion.is_open()
    }

    /// Returns until when the writer should not send `next` or newer changes, for the sake of this reader.
    ///
    /// The reader has a hole and keeps only a limited number of later changes. It drops newer ones, and the writer
    /// would have to retransmit them.
    ///
    /// `len`: bytes of `next`, which stand for those of the changes before it.
    pub(crate) fn catches_up_until(&self, now: Instant, next: SequenceNumber, len: usize) -> Option<Instant> {
        let hole = self.repairs.hole?;
        let attempts = self.rtt.upper_bound().min(SUPPRESSION_MAX).scale(CATCH_UP_ATTEMPTS, 1);
        let until = hole.since.after(CATCH_UP_MAX.max(attempts))?;
        let ahead_max = if self.is_ours() { ahead_max(len) } else { AHEAD_MAX_OF_OTHERS };
        // Acknowledged changes are out of the reader's reorder buffer.
        let is_ahead = next.0.saturating_sub(self.acknowledged.0) > ahead_max;
        if is_ahead && now < until { Some(until) } else { None }
    }

    /// Notes a HEARTBEAT at this position, which the reader must answer.
    pub(crate) fn note_heartbeat(&mut self, now: Instant, place: StreamPosition) {
        self.congestion.note_heartbeat(now, place);
        self.rtt.note_heartbeat(now, place);
        self.asked.note_heartbeat(now, place.last);
    }

    /// Schedules a HEARTBEAT if the window waits for an answer.
    pub(crate) fn ask_if_stuck(&mut self, now: Instant) {
        if self.reliable && (self.congestion.is_stuck() || self.congestion.is_overdue(now)) {
            self.owed.owe();
        }
    }

    /// Returns the next time at which there is data to send, if not now.
    pub(crate) fn work_later(&self, now: Instant, suppression: Duration) -> Option<Instant> {
        let repairs = &self.repairs;
        if let Some(respond_at) = repairs.respond_at {
            let has_requests = !repairs.changes.is_empty() || !repairs.fragments.is_empty();
            if has_requests && now < respond_at {
                return Some(respond_at);
            }
        }
        // Each of these may be the next: the caller needs only the first.
        let fragments = repairs.fragments.deferred_until(now);
        let changes = repairs.changes.deferred_until(now, self.change_suppression(suppression));
        let answer = if self.reliable { self.congestion.deadline() } else { None };
        [fragments, changes, answer].into_iter().flatten().min()
    }
}

/// Returns how many changes of `len` bytes the writer sends ahead of a hole.
fn ahead_max(len: usize) -> i64 {
    let count = AHEAD_BYTES_MAX / (len + DATAGRAM_COST / 8);
    i64::try_from(count).unwrap_or(AHEAD_MAX).clamp(AHEAD_MIN, AHEAD_MAX)
}

/// Returns whether `count` follows `last`. Counts wrap around.
pub(crate) fn is_newer(count: i32, last: i32) -> bool {
    let ahead = count.wrapping_sub(last);
    !(-COUNTS_LATE_MAX..=0).contains(&ahead)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hole_time_restarts_with_progress() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut repairs = RepairState::new(false);
        repairs.note_hole(at(1), Some(SequenceNumber(9)), SequenceNumber(3), true);
        // An ACKNACK without requests keeps the hole, because the last request may be recent.
        repairs.note_hole(at(2), None, SequenceNumber(3), false);
        assert_eq!(repairs.hole.map(|hole| (hole.through, hole.since)), Some((SequenceNumber(9), at(1))));
        repairs.note_hole(at(3), None, SequenceNumber(5), true);
        assert_eq!(repairs.hole.map(|hole| hole.since), Some(at(3)));
        repairs.note_hole(at(4), None, SequenceNumber(9), true);
        assert!(repairs.hole.is_none());
    }

    #[test]
    fn counts_are_newer_across_wrap_around() {
        assert!(is_newer(i32::MIN, i32::MAX));
        assert!(!is_newer(5, 5) && !is_newer(5 - COUNTS_LATE_MAX, 5));
        assert!(is_newer(4 - COUNTS_LATE_MAX, 5), "the reader counts from the beginning again");
    }
}
