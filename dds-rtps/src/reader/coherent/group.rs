//! A reader of a subscriber with scope GROUP: what comes of its writers goes to the gate of the subscriber instead of the history,
//! and what that releases into the history (DDS 1.4, 2.2.3.6; RTPS 2.5, 8.7.6).
//!
//! Bound: what is on its way counts as held back in the history (`history/unseen.rs`), until it is there. A reliable reader
//! that has no room for more takes nothing in, and its writer waits.

use crate::concurrent::Payload;
use crate::history::{ReceivedChange, RejectReason};
use crate::reader::coherent::group_gate::{GroupItem, Release};
use crate::reader::coherent::set::{BYTES_MAX, SetGate, is_empty};
use crate::reader::delivery::Sink;
use crate::reader::event::{LossCause, ReaderEvent};
use crate::reader::proxy::Following;
use crate::reader::stateful::StatefulReader;
use crate::types::{Guid, Now, SequenceNumber};
use crate::wire::Heartbeat;
use std::collections::VecDeque;

/// What one writer contributes to its group.
#[derive(Debug)]
pub(crate) struct WriterPart {
    /// Whether sets count, or only the order.
    coherent: bool,
    /// A HEARTBEAT has said: with this number the writer has written all that it has up to that number of its group.
    announced: Option<(SequenceNumber, SequenceNumber)>,
    /// How far the writer is known to have come in the numbers of its group.
    reached: Option<SequenceNumber>,
}

impl WriterPart {
    pub(crate) fn new(coherent: bool) -> Self {
        Self { coherent, announced: None, reached: None }
    }
}

impl Sink<'_> {
    /// As [`Sink::deliver`], towards the gate.
    pub(crate) fn pass_to_group(
        &mut self,
        gate: &mut SetGate,
        change: ReceivedChange,
        tried: bool,
    ) -> Result<(), ReceivedChange> {
        let (writer, number) = (change.change.writer, change.change.sequence_number);
        let presented = change.change.presented.as_deref().copied().unwrap_or_default();
        let coherent = gate.group.as_ref().is_some_and(|part| part.coherent);
        let group_number = presented.group.map(|group| group.number);
        let named = presented.group.and_then(|group| group.set).filter(|_| coherent);
        let set = named.filter(|_| !presented.is_end);
        let follows_on = gate.follows_on(number);
        // Who has come after the beginning of a set has missed something of it.
        let is_known = number == SequenceNumber::FIRST
            || gate
                .group
                .as_ref()
                .is_some_and(|part| part.reached.is_some_and(|reached| named.is_some_and(|set| reached < set)));
        let begins_well = follows_on || (gate.next.is_none() && is_known);
        let goes_on = gate.open.as_ref().is_some_and(|open| Some(open.name) == set);
        let bytes = change.change.payload.as_ref().map_or(0, Payload::len);
        let is_plain = set.is_none() && !presented.is_end && !is_empty(&change, presented);
        if is_plain && !self.history.withhold(1, bytes, BYTES_MAX) {
            return self.refuse_unseen(change, tried);
        }
        if !goes_on {
            let is_ended = named.is_some() && gate.open.as_ref().is_some_and(|open| Some(open.name) == named);
            self.close_part(gate, writer, follows_on, group_number);
            if let Some(set) = named.filter(|_| presented.is_end && !is_ended) {
                // The writer has nothing in the set.
                let end = group_number.unwrap_or(set);
                let part = GroupItem::Part { set, end, changes: Vec::new(), is_whole: begins_well };
                self.events.push_group(writer, part);
            }
        }
        match set {
            Some(set) => {
                if !goes_on {
                    self.events.push_group(writer, GroupItem::Begun { set });
                }
                let first = presented.set.filter(|&first| first <= number && !goes_on);
                let is_first = first.is_some_and(|first| gate.is_excused(first, number));
                let is_whole = if goes_on { follows_on } else { is_first || begins_well };
                self.add_to_set(gate, set, is_whole, change);
            }
            None if presented.is_end => self.tally.pass(1),
            None if is_plain => self.events.push_group(writer, GroupItem::Change { number: group_number, change }),
            None => {}
        }
        if let Some(reached) = group_number.filter(|_| !is_plain && set.is_none()) {
            self.events.push_group(writer, GroupItem::Reached(reached));
        }
        gate.pass(number);
        Ok(())
    }

    /// There is no room on the way to the gate.
    fn refuse_unseen(&mut self, change: ReceivedChange, tried: bool) -> Result<(), ReceivedChange> {
        let (writer, instance) = (change.change.writer, change.change.instance);
        if !tried {
            self.counters.rejected += 1;
            let reason = RejectReason::Samples;
            self.events.push(ReaderEvent::SampleRejected { writer, instance, reason, count: 1 });
        }
        if self.holds_back {
            return Err(change);
        }
        self.tally.undelivered.reject(RejectReason::Samples);
        Ok(())
    }

    /// The open set of the writer has ended, with what has this group sequence number.
    fn close_part(&mut self, gate: &mut SetGate, writer: Guid, follows_on: bool, end: Option<SequenceNumber>) {
        let Some(mut open) = gate.open.take() else { return };
        if !follows_on && !open.broken {
            self.break_set(writer, &mut open);
        }
        let part = GroupItem::Part {
            set: open.name,
            end: end.unwrap_or(open.name),
            changes: open.changes,
            is_whole: !open.broken,
        };
        self.events.push_group(writer, part);
    }
}

impl StatefulReader {
    /// What has come of a writer, for the gate of the subscriber; `None`: nothing more.
    pub fn poll_group_item(&mut self) -> Option<(Guid, GroupItem)> {
        self.events.pop_group()
    }

    /// The gate releases something: it goes to the history, or waits for room there, before all that follows it. Returns
    /// whether it went there.
    pub fn take_released(&mut self, now: Now, release: Release) {
        match release {
            Release::Admit { change, .. } => {
                self.released.push_back(change);
                self.admit_released(now);
            }
            Release::Drop(changes) => {
                for change in changes {
                    self.release_room(&change);
                    self.with_sink(change.change.writer, |sink| {
                        sink.lost(change.change.writer, 1, LossCause::Incoherent);
                    });
                }
            }
        }
    }

    /// Lets what was released into the history, as far as there is room.
    pub fn admit_released(&mut self, now: Now) {
        while let Some(change) = self.released.pop_front() {
            let (samples, bytes) = (1, change.change.payload.as_ref().map_or(0, Payload::len));
            let admitted = self.with_sink(change.change.writer, |sink| sink.admit(now, change, true));
            match admitted {
                Ok(()) => self.history.release_withheld(samples, bytes),
                Err(change) => {
                    self.released.push_front(change);
                    break;
                }
            }
        }
        self.resume_if_room(now);
    }

    /// A writer is asked how far its group is.
    pub fn ask_progress(&mut self, now: Now, writer: Guid) {
        let Some(at) = self.find(writer) else { return };
        if let Following::Reliable(reliable) = &mut self.proxies[at].following {
            reliable.asking.doubt(Some(now.instant));
            self.note_due(at);
        }
    }

    /// A local writer was matched when its group was here; what it had written before is none of this reader's business.
    pub fn note_reached(&mut self, writer: Guid, reached: SequenceNumber) {
        let Some(at) = self.find(writer) else { return };
        if let Some(part) = self.tallies[at].sets.as_mut().and_then(|sets| sets.group.as_mut()) {
            part.reached = Some(reached);
        }
    }

    /// What a HEARTBEAT says of the group.
    pub(crate) fn note_group_info(&mut self, at: usize, heartbeat: &Heartbeat) {
        let Some(info) = heartbeat.group_info else { return };
        let writer = self.proxies[at].guid();
        if let Some(part) = self.tallies[at].sets.as_mut().and_then(|sets| sets.group.as_mut()) {
            if info.current_gsn >= SequenceNumber::ZERO && info.current_gsn < SequenceNumber::MAX {
                part.announced = Some((heartbeat.last_sn, info.current_gsn));
                self.events.push_group(writer, GroupItem::Tells);
            }
        }
    }

    /// Looks whether all has come that a HEARTBEAT spoke of.
    pub(crate) fn look_at_group(&mut self, at: usize) {
        let Following::Reliable(reliable) = &self.proxies[at].following else { return };
        if reliable.awaits_beginning() {
            return;
        }
        let (writer, next) = (self.proxies[at].guid(), reliable.next());
        let Some(part) = self.tallies[at].sets.as_mut().and_then(|sets| sets.group.as_mut()) else { return };
        if let Some((_, reached)) = part.announced.take_if(|(last, _)| next > *last) {
            part.reached = part.reached.max(Some(reached));
            self.events.push_group(writer, GroupItem::Reached(reached));
        }
    }

    fn release_room(&mut self, change: &ReceivedChange) {
        self.history.release_withheld(1, change.change.payload.as_ref().map_or(0, Payload::len));
    }

    /// The way into the history for changes of a writer, which may have gone.
    fn with_sink<R>(&mut self, writer: Guid, action: impl FnOnce(&mut Sink<'_>) -> R) -> R {
        let at = self.find(writer);
        let Self { config, history, tallies, events, counters, .. } = self;
        let mut gone = crate::reader::ledger::tally::Tally::default();
        let tally = at.and_then(|at| tallies.get_mut(at)).unwrap_or(&mut gone);
        action(&mut Sink { history, events, counters, tally, holds_back: config.limits.depth.is_none() })
    }
}

/// What waits to be handed to the gate.
pub(crate) type GroupItems = VecDeque<(Guid, GroupItem)>;
