//! What a writer knows of one reader in another process (RTPS 2.5, 8.4.7.5).
//!
//! Life cycle: made when the reader is matched, gone when it is unmatched. Bounds: one window of 256 numbers that the
//! reader has asked for, [`FRAGMENT_REQUESTS_MAX`] requests for fragments, and one change whose fragments are being sent.

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

/// Requests for fragments that stand open for one reader: each speaks of up to 256 fragments, so these are 2048, 2.7 MB
/// in fragments for the network. What is dropped is asked for again.
const FRAGMENT_REQUESTS_MAX: usize = 8;

/// Answers to requests for fragments that are remembered while they are on their way: on a long one there are many.
const FRAGMENTS_SERVED_MAX: usize = 64;

/// The shortest time for which a change that was sent is not sent again: a thread that is not run for a moment is no loss.
const SUPPRESSION_MIN: Duration = Duration::from_millis(1);

/// The longest time for which what was sent is not sent again, however long answers seem to take.
const SUPPRESSION_MAX: Duration = Duration::from_millis(500);

/// How far behind the last count one may lie to be a late one. Further behind, somebody has begun to count again, or the
/// last one was a stranger's: to stay with that would be to be deaf to the reader for ever.
const COUNTS_LATE_MAX: i32 = 1024;

/// So many numbers ahead of the one that a reader misses are sent to it: our own keep
/// [`REORDER_MAX`](crate::reader::REORDER_MAX) of them, and what waits to be noted as sent comes on top. Cyclone DDS keeps 128
/// (`PrimaryReorderMaxSamples`), Fast DDS any number.
const AHEAD_MAX: i64 = 768;
const AHEAD_MAX_OF_OTHERS: i64 = 96;

/// So long new samples wait for a reader that gets no further. If it still misses the same one then, waiting does not help.
const CATCH_UP_MAX: Duration = Duration::from_millis(500);

/// On a long way that is as long as so many answers take: where a third is lost, one in a thousand repairs needs six attempts.
const CATCH_UP_ATTEMPTS: u32 = 8;

/// The writer's view of one reader.
#[derive(Debug)]
pub(super) struct ReaderProxy {
    pub(super) config: ReaderProxyConfig,
    /// Its content filter, if that is asked here.
    pub(super) filtered: Option<Box<Filtered>>,
    /// Where it wants to be sent what it has asked for last, if not at the locators of `config`.
    pub(super) reply: Option<Locator>,
    /// Lost samples are repaired.
    pub(super) reliable: bool,
    /// What lies before this is none of the reader's business.
    pub(super) first_relevant: SequenceNumber,
    /// What lies behind this is none of its business either.
    pub(super) last_relevant: SequenceNumber,
    /// The reader has everything up to this.
    pub(super) acknowledged: SequenceNumber,
    /// Whether the writer waits for it, if it is reliable.
    pub(super) standing: Standing,
    /// It has sent an ACKNACK: it knows the writer.
    pub(super) heard: bool,
    /// It has answered a HEARTBEAT, so it knows where what it is to get begins; or it asks for the history by itself.
    pub(super) knows_start: bool,
    /// The lowest `first_relevant` of the readers of its participant when it came: below it no HEARTBEAT needs to begin.
    pub(super) stream_from: SequenceNumber,
    /// When, and up to where, it was last asked what it has, and how often since it last said so.
    asked_at: Option<Instant>,
    asked_through: SequenceNumber,
    asked: u32,
    /// A HEARTBEAT for this reader alone goes out with the next datagram for it.
    pub(super) heartbeat_owed: bool,
    /// It only says hello, and need not be answered.
    pub(super) is_greeting: bool,
    /// The change whose fragments are being sent again, or for the first time to this reader.
    pub(super) resend: Option<Resend>,
    /// The history that it is sent unasked.
    pub(super) backlog: Option<Backlog>,
    /// How much of large samples is under way to it.
    pub(super) flow: Flow,
    /// How long its answers take.
    pub(super) round_trip: RoundTrip,
    /// … and at most.
    pub(super) way: Way,
    /// It stands in the writer's queue of readers with something to send.
    pub(super) queued: bool,
    /// When what it asked for may be sent.
    pub(super) respond_at: Option<Instant>,
    /// The numbers that it has asked for and not been sent.
    requested: Window,
    /// Bytes of whole changes that it may still be sent in answer to its last request.
    answer_room: u64,
    /// What it has asked for and not acknowledged.
    hole: Option<Hole>,
    /// The numbers that it was sent a moment ago, so that they are not sent again at once.
    served: Recent,
    fragments: SmallVec<[FragmentRequest; 1]>,
    /// The last requests that were answered to their ends, and when. Until it is known what has become of that.
    fragments_served: VecDeque<(FragmentRequest, Instant)>,
    /// A fragment that was sent again, and when: an answer that does not ask for it is none to what was sent before.
    watched: Option<(SequenceNumber, i64, Instant)>,
    /// What it has spoken of as missing, up to a number and so many fragments of the next one: beyond that, losses are news.
    losses_known: (SequenceNumber, u32),
    acknack_count: Option<i32>,
    nack_frag_count: Option<i32>,
}

/// What a reader misses. An ACKNACK that asks for nothing does not say that nothing is missing: it may have asked just now.
#[derive(Debug, Clone, Copy)]
struct Hole {
    /// The last number that it has asked for.
    through: SequenceNumber,
    /// Since when it has got no further.
    since: Instant,
}

/// A change that is being sent in fragments to one reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resend {
    pub(super) sequence_number: SequenceNumber,
    /// From 1.
    pub(super) next_fragment: u32,
}

/// What of the history a reader is still to be sent unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Backlog {
    pub(super) next: SequenceNumber,
    pub(super) last: SequenceNumber,
    /// Bytes that may still be sent; `None`: no limit.
    pub(super) budget: Option<usize>,
}

/// Fragments of one change that a reader misses.
#[derive(Debug, Clone, Copy)]
pub(super) struct FragmentRequest {
    pub(super) sequence_number: SequenceNumber,
    /// The fragments' numbers, from 1, that are still to be sent.
    pub(super) missing: Window,
    /// All that were asked for.
    asked: Window,
    /// Not to be answered before; `None`: at once.
    not_before: Option<Instant>,
}

impl FragmentRequest {
    fn is_ripe(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|not_before| not_before <= now)
    }
}

impl ReaderProxy {
    /// A reader to which everything from `first_relevant` on is of interest, and has to be acknowledged.
    pub(super) fn new(
        config: ReaderProxyConfig,
        reliable: bool,
        first_relevant: SequenceNumber,
        window: usize,
    ) -> Self {
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

    /// Where a datagram goes that is for this reader alone.
    pub(super) fn reachable_by(&self) -> &[Locator] {
        match &self.reply {
            Some(reply) => std::slice::from_ref(reply),
            None => self.config.reachable_by(),
        }
    }

    /// Takes in whether it speaks like one that knows nothing of the writer yet.
    pub(super) fn note_knowledge(&mut self, asks_anew: bool) {
        self.knows_start = !asks_anew || (self.config.wants_history && self.config.asks_for_history);
    }

    /// Whether it is one of this implementation, which takes for itself what is addressed to it, and nothing else.
    pub(super) fn is_ours(&self) -> bool {
        self.config.guid.prefix.is_of(VendorId::OURS)
    }

    /// Whether it is still to be told where what it is to get begins.
    pub(super) fn is_stranger(&self) -> bool {
        self.reliable && !self.knows_start
    }

    /// Whether it is waited for, and has never said anything.
    pub(super) fn is_unheard(&self) -> bool {
        self.reliable && !self.heard && !self.standing.is_demoted()
    }

    /// Lets the reader be sent the history up to `last`, unasked.
    pub(super) fn send_backlog(&mut self, last: SequenceNumber, unasked_max: usize) {
        if self.first_relevant <= last {
            let budget = self.reliable.then_some(unasked_max);
            self.backlog = Some(Backlog { next: self.first_relevant, last, budget });
        }
    }

    /// Lets the reader be sent what there is of `first ..= last`, unasked, behind what it is being sent.
    pub(super) fn extend_backlog(&mut self, first: SequenceNumber, last: SequenceNumber, unasked_max: usize) {
        let (first, last) = (first.max(self.first_relevant), last.min(self.last_relevant));
        if first > last {
            return;
        }
        let budget = self.reliable.then_some(unasked_max);
        self.backlog.get_or_insert(Backlog { next: first, last, budget }).last = last;
    }

    /// Whether an ACKNACK with this count is newer than the last one. Counts wrap around.
    pub(super) fn is_new_acknack(&self, count: i32) -> bool {
        self.acknack_count.is_none_or(|last| is_newer(count, last))
    }

    /// Takes in what an ACKNACK says: everything up to `acknowledged` is there, `requested` is missing. Returns whether
    /// more is acknowledged than before.
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
        let since = self.hole.filter(|_| acknowledged <= self.acknowledged).map_or(now, |hole| hole.since);
        self.hole = through.filter(|&through| acknowledged < through).map(|through| Hole { through, since });
        self.requested = requested;
        self.answer_room = self.flow.window();
        // A change whose fragments are on their way is not begun again; one that has arrived is not finished.
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

    /// The lowest number that the reader waits for and may be sent now.
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

    /// The numbers up to `last` are being sent, or will never come.
    pub(super) fn serve_up_to(&mut self, now: Instant, last: SequenceNumber, suppression: Duration) {
        let suppression = self.suppression_of_changes(suppression);
        let mut from = self.requested.base();
        while let Some(number) = self.requested.first_from(from).filter(|&number| number <= last.0) {
            self.served.note(now, number, suppression);
            self.requested.remove(number);
            from = number + 1;
        }
    }

    /// A change of so many bytes was sent that the reader had asked for. No more go out for one request than fit into the window:
    /// of the rest a HEARTBEAT speaks, and the reader asks again.
    pub(super) fn note_answered(&mut self, len: usize) {
        self.answer_room = self.answer_room.saturating_sub(len as u64);
        if self.answer_room == 0 {
            self.requested = Window::default();
        }
    }

    /// Notes which fragments of a change are missing. Returns `false` if there is no room for the request.
    pub(super) fn apply_nack_frag(
        &mut self,
        now: Instant,
        sequence_number: SequenceNumber,
        missing: Window,
        suppression: Duration,
    ) -> bool {
        self.judge_fragments(now, sequence_number, &missing, suppression);
        // All its fragments are on their way.
        if self.resend.is_some_and(|resend| resend.sequence_number == sequence_number) {
            return true;
        }
        let suppression = self.suppression(suppression);
        // What stands in another request, or was sent for it, is on its way already: the reader goes on asking meanwhile.
        let mut missing = missing;
        for standing in self.fragments.iter().filter(|standing| standing.sequence_number == sequence_number) {
            missing.remove_all(&standing.asked);
        }
        if missing.is_empty() {
            return true;
        }
        let (missing, not_before) = self.without_served(now, sequence_number, missing, suppression);
        if not_before.is_some() && self.flow.is_long() {
            // By the time that it might be answered it would be an old one: the reader goes on asking.
            return true;
        }
        if self.fragments.len() >= FRAGMENT_REQUESTS_MAX {
            return false;
        }
        self.fragments.push(FragmentRequest { sequence_number, missing, asked: missing, not_before });
        true
    }

    /// What of these fragments has not been sent just now; if all have, all of them, and until when they wait. The answer to
    /// an earlier request is on its way for a while, and the reader goes on asking.
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

    /// A NACK_FRAG shows what has become of the fragments of a change that were sent again: what it asks for once more was lost.
    /// Of what was sent a moment ago it knows nothing yet.
    fn judge_fragments(&mut self, now: Instant, number: SequenceNumber, missing: &Window, suppression: Duration) {
        let suppression = self.suppression(suppression);
        let Self { fragments_served, flow, .. } = self;
        fragments_served.retain_mut(|(served, at)| {
            if served.sequence_number != number || at.after(suppression).is_none_or(|until| now < until) {
                return true;
            }
            // What lies beyond what one set can speak of, the next one speaks of.
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

    /// A fragment is sent again. While many are lost, numbers stand still, and HEARTBEATs that nobody can answer with new ones tell
    /// nothing of the way: one that was long once would be taken for long, and little be sent for each answer, for as long.
    pub(super) fn watch(&mut self, now: Instant, number: SequenceNumber, fragment: u32) {
        let is_free = self.watched.is_none_or(|(.., at)| now.since(at) >= SUPPRESSION_MAX);
        if is_free && self.flow.is_squeezed() {
            self.watched = Some((number, fragment.into(), now));
        }
    }

    /// The reader has everything up to a number, and of the next one it misses these fragments, or has not spoken of any.
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

    /// How long a change that was sent is not sent again: until the reader can have said that it has it, if it is known how
    /// long that takes, else `usual`.
    fn suppression_of_changes(&self, usual: Duration) -> Duration {
        if self.flow.is_long() {
            // Three times would be three times as long until a repair that was lost is made up for.
            return self.way.shortest().scale(5, 4).min(SUPPRESSION_MAX);
        }
        match self.round_trip.shortest() {
            Duration::ZERO => usual,
            shortest => shortest.scale(3, 1).clamp(SUPPRESSION_MIN.min(usual), SUPPRESSION_MAX),
        }
    }

    /// How long fragments that were sent are not sent again: `least`, or longer where answers take longer.
    fn suppression(&self, least: Duration) -> Duration {
        let way = if self.flow.is_long() { self.way.shortest() } else { Duration::ZERO };
        let answer = self.flow.round_trip().max(way);
        least.max(answer.scale(3, 2)).min(SUPPRESSION_MAX)
    }

    /// It misses so many bytes of a change, or of one of its fragments, from 1; 0 for all of it. If that is news, the window has lost
    /// them.
    pub(super) fn note_missing(&mut self, number: SequenceNumber, fragment: u32, len: usize) {
        let place = (number.previous(), fragment.max(1));
        if place > self.losses_known {
            self.flow.note_lost(place, len as u64);
        }
    }

    /// All losses up to a number, and so many fragments of the next one, are known.
    pub(super) fn know_losses(&mut self, number: SequenceNumber, fragments: u32) {
        self.losses_known = self.losses_known.max((number, fragments));
    }

    /// Whether a NACK_FRAG with this count is newer than the last one, which it then replaces.
    pub(super) fn accept_nack_frag_count(&mut self, count: i32) -> bool {
        let is_new = self.nack_frag_count.is_none_or(|last| is_newer(count, last));
        if is_new {
            self.nack_frag_count = Some(count);
        }
        is_new
    }

    /// Its NACK_FRAGs may count from the beginning again.
    pub(super) fn forget_nack_frag_count(&mut self) {
        self.nack_frag_count = None;
    }

    /// The request for fragments that is to be answered next: the lowest number is what the reader waits for.
    pub(super) fn next_fragments(&mut self, now: Instant) -> Option<&mut FragmentRequest> {
        let ripe = self.fragments.iter_mut().filter(|request| request.is_ripe(now));
        ripe.min_by_key(|request| request.sequence_number)
    }

    /// Forgets what was asked for of a change that is gone, and requests that have been answered.
    pub(super) fn drop_fragments(&mut self, now: Instant, gone: Option<SequenceNumber>) {
        let served = &mut self.fragments_served;
        // What was sent within a quarter of a round trip counts as sent together.
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

    /// Whether there is something to send now.
    pub(super) fn has_work(&self, now: Instant, suppression: Duration) -> bool {
        self.heartbeat_owed || self.has_changes_to_send(now, suppression)
    }

    /// Whether there are changes or GAPs to send now.
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

    /// Whether fragments and repairs may be sent to this reader alone. One that never answers gets its history all the same:
    /// it is sent once.
    pub(super) fn has_window(&self) -> bool {
        !self.reliable || self.flow.is_open()
    }

    /// Until when nothing newer than `next` should go out for its sake: it misses something, and can keep only so much behind
    /// that. What comes further ahead it drops, and it would have to be sent again.
    pub(super) fn catches_up_until(&self, now: Instant, next: SequenceNumber) -> Option<Instant> {
        let attempts = self.way.shortest().min(SUPPRESSION_MAX).scale(CATCH_UP_ATTEMPTS, 1);
        let until = self.hole?.since.after(CATCH_UP_MAX.max(attempts))?;
        let is_ahead = next.0.saturating_sub(self.acknowledged.0) > self.ahead_max();
        (is_ahead && now < until).then_some(until)
    }

    fn ahead_max(&self) -> i64 {
        if self.is_ours() { AHEAD_MAX } else { AHEAD_MAX_OF_OTHERS }
    }

    /// A HEARTBEAT that it is to answer is laid out, which ends with `last`, behind so many fragments of the next change.
    pub(super) fn note_heartbeat(&mut self, now: Instant, last: SequenceNumber, fragments: u32) {
        self.flow.note_heartbeat(now, (last, fragments));
        self.round_trip.note_heartbeat(now, last);
        self.way.note_heartbeat(now, last, fragments);
        self.asked_at = Some(now);
        self.asked_through = last;
        self.asked = self.asked.saturating_add(1);
    }

    /// It has said what it has.
    pub(super) fn note_answer(&mut self) {
        self.asked = 0;
    }

    /// Whether it is asked by the timer, which looks every `period`, if it owes an answer up to `last`. Many readers make one
    /// timer fire often, and a machine that is slow to answer gets slower by each question: so what it was asked before it is
    /// asked again in its own time.
    pub(super) fn may_be_asked(&self, now: Instant, last: SequenceNumber, period: Duration) -> bool {
        let doubled = self.asked.saturating_sub(PATIENCE).min(BACKOFF_MAX);
        let has_had_time = |at| now.since(at) >= period.scale(1 << doubled, 2);
        self.asked_through < last || self.asked_at.is_none_or(has_had_time)
    }

    /// Whether it was asked a moment ago, and is about to answer.
    pub(super) fn was_just_asked(&self, now: Instant, period: Duration) -> bool {
        self.asked > 0 && self.asked_at.is_some_and(|at| now.since(at) < period.scale(1, 8))
    }

    /// Lets the reader be asked how far it has come, if that is what everything waits for.
    pub(super) fn ask_if_stuck(&mut self, now: Instant) {
        self.heartbeat_owed |= self.reliable && (self.flow.is_stuck() || self.flow.is_overdue(now));
    }

    /// Whether what the reader has asked for may be sent.
    pub(super) fn may_respond(&self, now: Instant) -> bool {
        self.respond_at.is_none_or(|respond_at| respond_at <= now)
    }

    /// When there is something to send, though not now.
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

/// Whether a count follows the last one. Counts wrap around.
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
