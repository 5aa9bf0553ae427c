//! TIME_BASED_FILTER: at most one sample of an instance in each minimum separation (DDS 1.4, 2.2.3.12).
//!
//! A sample that comes too early is kept back, in place of an earlier one that was, and let in when the separation is over:
//! of a burst the application sees the first sample and the last one, so that a filter never hides how things are. What is
//! never let in is counted as filtered. The end of an instance is not filtered, and lets in first what was kept back.
//!
//! By the monotonic clock of the reader, at the moment of reception: what the filter is for is the application's load, and
//! source timestamps are by as many clocks as there are writers. A sample that is kept back has been received in every
//! other sense: a reliable reader acknowledges it, and it meets the deadline.
//!
//! Bound: one sample kept back for each instance.

use super::reader::{Admission, ReaderHistory, ReceivedChange, RejectedChange};
use super::removals::Removal;
use super::source_order::SourceOrder;
use crate::types::{Duration, Guid, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No sample is kept back.
const NOTHING: u32 = u32::MAX;

/// When a sample that finds no room is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The samples that are kept back, and when the last ones were let in.
#[derive(Debug)]
pub(super) struct TimeFilter {
    separation: Duration,
    gates: Vec<Gate>,
    held: Vec<Option<ReceivedChange>>,
    free: Vec<u32>,
    /// When what is kept back is to be let in, and where; of what is due together, first what was kept back first. An entry
    /// whose sample has been let in before stays until then, or until most of them are such.
    due: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    /// Numbers the entries of `due`.
    count: u64,
}

/// Where the samples of one instance pass.
#[derive(Debug, Clone, Copy)]
struct Gate {
    /// Closed until then.
    closed_until: Instant,
    /// What is kept back.
    held: u32,
}

impl Gate {
    const OPEN: Self = Self { closed_until: Instant::ZERO, held: NOTHING };

    /// Whether what is kept back is to be let in at `due`.
    fn awaits(&self, due: Instant) -> bool {
        self.held != NOTHING && self.closed_until == due
    }
}

impl TimeFilter {
    pub(super) const fn new(separation: Duration) -> Self {
        Self { separation, gates: Vec::new(), held: Vec::new(), free: Vec::new(), due: BinaryHeap::new(), count: 0 }
    }

    /// Whether a sample comes too early.
    fn is_closed(&self, at: u32, now: Instant) -> bool {
        self.gates.get(at as usize).is_some_and(|gate| gate.closed_until > now)
    }

    fn holds(&self, at: u32) -> Option<&ReceivedChange> {
        let gate = self.gates.get(at as usize)?;
        self.held.get(gate.held as usize)?.as_ref()
    }

    /// A sample of the instance has been let in.
    fn close(&mut self, at: u32, now: Instant) {
        if self.separation > Duration::ZERO {
            self.gate(at).closed_until = now.after(self.separation).unwrap_or(Instant::from_nanos(u64::MAX));
        }
    }

    /// Keeps a sample back; gives the one back that was.
    fn hold(&mut self, at: u32, received: ReceivedChange) -> Option<ReceivedChange> {
        let gate = *self.gate(at);
        if let Some(held) = self.held.get_mut(gate.held as usize) {
            return held.replace(received);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.held.push(None);
            (self.held.len() - 1) as u32
        });
        self.held[slot as usize] = Some(received);
        self.gate(at).held = slot;
        self.schedule(at, gate.closed_until);
        None
    }

    fn schedule(&mut self, at: u32, due: Instant) {
        let held = self.held.len() - self.free.len();
        if self.due.len() > 2 * held + 64 {
            let gates = &self.gates;
            self.due.retain(|&Reverse((due, _, at))| gates.get(at as usize).is_some_and(|gate| gate.awaits(due)));
        }
        self.count += 1;
        self.due.push(Reverse((due, self.count, at)));
    }

    /// Takes what is kept back of an instance. The gate stays as it is: whether something is let in is not known yet.
    pub(super) fn take(&mut self, at: u32) -> Option<ReceivedChange> {
        let slot = std::mem::replace(&mut self.gates.get_mut(at as usize)?.held, NOTHING);
        let received = self.held.get_mut(slot as usize)?.take();
        self.free.push(slot);
        received
    }

    /// Forgets an instance; gives what was kept back of it.
    pub(super) fn forget(&mut self, at: u32) -> Option<ReceivedChange> {
        let received = self.take(at);
        if let Some(gate) = self.gates.get_mut(at as usize) {
            *gate = Gate::OPEN;
        }
        received
    }

    /// How much is kept back of a writer.
    pub(super) fn held_of(&self, writer: Guid) -> usize {
        self.held.iter().flatten().filter(|held| held.change.writer == writer).count()
    }

    /// An instance of which something is kept back.
    pub(super) fn first_held(&self) -> Option<u32> {
        self.gates.iter().position(|gate| gate.held != NOTHING).map(|at| at as u32)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.due.peek().map(|&Reverse((due, ..))| due)
    }

    /// The next instance whose sample is to be let in now.
    fn pop_due(&mut self, now: Instant) -> Option<u32> {
        while let Some(&Reverse((due, _, at))) = self.due.peek().filter(|Reverse((due, ..))| *due <= now) {
            self.due.pop();
            if self.gates.get(at as usize).is_some_and(|gate| gate.awaits(due)) {
                return Some(at);
            }
        }
        None
    }

    /// How many moments are noted at which something is to be let in.
    #[cfg(test)]
    pub(super) fn scheduled(&self) -> usize {
        self.due.len()
    }

    fn gate(&mut self, at: u32) -> &mut Gate {
        let at = at as usize;
        if at >= self.gates.len() {
            self.gates.resize(at + 1, Gate::OPEN);
        }
        &mut self.gates[at]
    }
}

impl ReaderHistory {
    /// Adds a sample under the policies of time.
    pub(super) fn add_in_time(&mut self, now: Instant, received: ReceivedChange) -> Result<Admission, RejectedChange> {
        let instance = received.change.instance;
        let known = self.instances.find_again(instance);
        let writer = received.change.writer;
        let mut visible = false;
        if let Some(at) = known {
            if self.timing.as_ref().is_some_and(|timing| !timing.filter.is_closed(at, now)) {
                visible = self
                    .let_held_in(at, now)
                    .map_err(|refused| RejectedChange { received: received.clone(), ..refused })?;
            }
            if self.timing.as_ref().is_some_and(|timing| timing.filter.is_closed(at, now)) {
                let admission = self.hold(at, now, received);
                return Ok(if visible { self.seen_by_another(writer, admission) } else { admission });
            }
        }
        let admission = self.add_sample(received)?;
        if admission == Admission::Visible {
            if let (Some(at), Some(timing)) = (self.instances.find_again(instance), &mut self.timing) {
                timing.filter.close(at, now);
                timing.note_sample(at, now);
            }
        }
        Ok(admission)
    }

    fn hold(&mut self, at: u32, now: Instant, received: ReceivedChange) -> Admission {
        let writer = received.change.writer;
        if !self.is_admitted(at, writer) {
            return Admission::NotOwner;
        }
        self.claim(at, writer);
        let is_by_source = self.is_all_by_source();
        let Some(timing) = &mut self.timing else { return Admission::Held };
        timing.note_sample(at, now);
        let is_late = |held: &ReceivedChange| is_by_source && SourceOrder::of(&received) < SourceOrder::of(held);
        let late = timing.filter.holds(at).is_some_and(is_late);
        let dropped = if late { Some(received) } else { timing.filter.hold(at, received) };
        if let Some(dropped) = dropped {
            self.note_filtered(dropped.change.writer);
        }
        Admission::Held
    }

    /// Lets in what is kept back of an instance, whatever the time, for something else is to follow it. `true`: there was
    /// something, and it is to be seen.
    ///
    /// # Errors
    /// There is no room for it: nothing may follow it yet. The change in the error is not the one that is kept back.
    pub(super) fn let_held_in(&mut self, at: u32, now: Instant) -> Result<bool, RejectedChange> {
        let Some(held) = self.timing.as_mut().and_then(|timing| timing.filter.take(at)) else { return Ok(false) };
        if self.has_outlived(&held, now) {
            return Ok(false);
        }
        let writer = held.change.writer;
        match self.add_sample(held) {
            Ok(admission) => {
                self.close_behind(at, now, admission);
                Ok(self.is_let_in(writer, admission))
            }
            Err(refused) => {
                self.hold_again(at, now, refused.received.clone());
                Err(refused)
            }
        }
    }

    /// As [`ReaderHistory::let_held_in`], where nothing can wait: without room it is lost, and counted as rejected.
    pub(super) fn let_last_in(&mut self, at: u32, held: Option<ReceivedChange>, now: Instant) -> bool {
        let Some(held) = held else { return false };
        if self.has_outlived(&held, now) {
            return false;
        }
        let writer = held.change.writer;
        match self.add_sample(held) {
            Ok(admission) => {
                self.close_behind(at, now, admission);
                self.is_let_in(writer, admission)
            }
            Err(_) => {
                self.removals.note(writer, Removal::Rejected);
                false
            }
        }
    }

    /// Only what is let in closes the gate: behind what had expired, or is another owner's, nobody has to wait.
    fn close_behind(&mut self, at: u32, now: Instant, admission: Admission) {
        if let (Admission::Visible, Some(timing)) = (admission, &mut self.timing) {
            timing.filter.close(at, now);
        }
    }

    /// Whether the lifespan of a sample has passed while it was kept back. Then that is why it is not seen.
    fn has_outlived(&mut self, held: &ReceivedChange, now: Instant) -> bool {
        let is_over = held.expires.is_some_and(|expires| expires <= now);
        if is_over {
            self.counters.expired += 1;
            self.removals.note(held.change.writer, Removal::Expired);
        }
        is_over
    }

    /// Whether what was kept back can be seen now; what cannot goes into the ledger: it counted as taken in.
    fn is_let_in(&mut self, writer: Guid, admission: Admission) -> bool {
        match admission {
            Admission::NotOwner => self.removals.note(writer, Removal::NotOwner),
            Admission::Superseded => self.removals.note(writer, Removal::Superseded),
            _ => {}
        }
        admission == Admission::Visible
    }

    /// What is told of a change before which another one was let in: that there is something to see. What has become of
    /// itself goes into the ledger here, for only one of the two can be told.
    pub(super) fn seen_by_another(&mut self, writer: Guid, admission: Admission) -> Admission {
        self.is_let_in(writer, admission);
        Admission::Visible
    }

    /// A sample that was kept back will never be seen.
    pub(super) fn note_filtered(&mut self, writer: Guid) {
        self.counters.time_filtered += 1;
        self.removals.note(writer, Removal::TooSoon);
    }

    /// Lets in what was kept back as long as it had to, of at most `looks_max` instances. `true`: there is something new to
    /// see.
    pub(super) fn let_due_in(&mut self, now: Instant, looks_max: usize) -> bool {
        let mut visible = false;
        for _ in 0..looks_max {
            let Some(at) = self.timing.as_mut().and_then(|timing| timing.filter.pop_due(now)) else { break };
            // Without room it is tried again.
            visible |= self.let_held_in(at, now).unwrap_or(false);
        }
        visible
    }

    fn hold_again(&mut self, at: u32, now: Instant, received: ReceivedChange) {
        let Some(timing) = &mut self.timing else { return };
        let retry = now.after(RETRY_INTERVAL).unwrap_or(now);
        let gate = timing.filter.gate(at);
        gate.closed_until = gate.closed_until.max(retry);
        timing.filter.hold(at, received);
    }
}
