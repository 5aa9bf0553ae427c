//! TIME_BASED_FILTER: at most one sample of an instance per minimum separation (DDS 1.4, 2.2.3.12).
//!
//! An early sample becomes pending and replaces an earlier pending one. It is delivered when the separation is over, so
//! the application sees the first and the last sample of a burst. A replaced sample counts as filtered. The end of an
//! instance is not filtered; the pending sample is delivered before it.
//!
//! The filter uses the reader's monotonic clock at reception. It protects the application from load, and source
//! timestamps come from as many clocks as there are writers. In every other sense a pending sample has been received: a
//! reliable reader acknowledges it, and it meets the deadline.
//!
//! Bound: one pending sample per instance.

use super::ReceivedChange;
use super::instances::InstanceIndex;
use crate::types::{Duration, Guid, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No pending sample.
const NOT_PENDING: u32 = u32::MAX;

/// How long a pending sample waits for another attempt if the history is full.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The pending samples, and the time of the last delivery per instance.
#[derive(Debug)]
pub(super) struct TimeFilter {
    separation: Duration,
    instances: Vec<InstanceFilter>,
    pending: Vec<Option<ReceivedChange>>,
    free: Vec<u32>,
    /// When pending samples are due, oldest first among equals. An entry whose sample was delivered earlier stays until
    /// it is due, or until most entries are stale.
    due: BinaryHeap<Reverse<(Instant, u64, InstanceIndex)>>,
    /// Numbers the entries of `due`.
    count: u64,
}

/// The filter state of one instance.
#[derive(Debug, Clone, Copy)]
struct InstanceFilter {
    /// Samples that arrive before this are early.
    closed_until: Instant,
    /// Index of the pending sample.
    pending: u32,
}

impl InstanceFilter {
    const OPEN: Self = Self { closed_until: Instant::ZERO, pending: NOT_PENDING };

    /// Whether a sample is pending and due at `due`.
    fn is_due_at(&self, due: Instant) -> bool {
        self.pending != NOT_PENDING && self.closed_until == due
    }
}

impl TimeFilter {
    pub(super) const fn new(separation: Duration) -> Self {
        Self {
            separation,
            instances: Vec::new(),
            pending: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            count: 0,
        }
    }

    /// Whether a sample of the instance is early.
    pub(super) fn is_closed(&self, at: InstanceIndex, now: Instant) -> bool {
        match self.instances.get(at as usize) {
            Some(filter) => filter.closed_until > now,
            None => false,
        }
    }

    /// The pending sample of an instance.
    pub(super) fn pending(&self, at: InstanceIndex) -> Option<&ReceivedChange> {
        let filter = self.instances.get(at as usize)?;
        self.pending.get(filter.pending as usize)?.as_ref()
    }

    /// Starts the separation of an instance after a delivery.
    pub(super) fn close(&mut self, at: InstanceIndex, now: Instant) {
        if self.separation > Duration::ZERO {
            self.entry(at).closed_until = now.after(self.separation).unwrap_or(Instant::from_nanos(u64::MAX));
        }
    }

    /// Makes a sample pending. Returns the one that it replaces.
    pub(super) fn hold(&mut self, at: InstanceIndex, received: ReceivedChange) -> Option<ReceivedChange> {
        // The newest early sample replaces a pending one, and its schedule stays.
        let filter = *self.entry(at);
        if let Some(pending) = self.pending.get_mut(filter.pending as usize) {
            return pending.replace(received);
        }
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.pending.push(None);
                (self.pending.len() - 1) as u32
            }
        };
        debug_assert!(self.pending[index as usize].is_none(), "a free entry is empty");
        self.pending[index as usize] = Some(received);
        self.entry(at).pending = index;
        self.schedule(at, filter.closed_until);
        None
    }

    /// Makes a sample pending again that found no space in the history.
    pub(super) fn hold_for_retry(&mut self, at: InstanceIndex, now: Instant, received: ReceivedChange) {
        let retry = now.after(RETRY_INTERVAL).unwrap_or(now);
        let filter = self.entry(at);
        filter.closed_until = filter.closed_until.max(retry);
        self.hold(at, received);
    }

    fn schedule(&mut self, at: InstanceIndex, due: Instant) {
        let pending = self.pending.len() - self.free.len();
        // Drop stale entries once they are the majority.
        if self.due.len() > 2 * pending + 64 {
            let instances = &self.instances;
            self.due.retain(|&Reverse((due, _, at))| instances[at as usize].is_due_at(due));
        }
        // The count keeps the order of arrival among equal times.
        self.count += 1;
        self.due.push(Reverse((due, self.count, at)));
    }

    /// Removes and returns the pending sample. The separation goes on: the caller does not know yet whether it is
    /// delivered.
    pub(super) fn take(&mut self, at: InstanceIndex) -> Option<ReceivedChange> {
        let filter = self.instances.get_mut(at as usize)?;
        let index = std::mem::replace(&mut filter.pending, NOT_PENDING);
        let received = self.pending.get_mut(index as usize)?.take();
        self.free.push(index);
        received
    }

    /// Forgets an instance. Returns its pending sample.
    pub(super) fn forget(&mut self, at: InstanceIndex) -> Option<ReceivedChange> {
        let received = self.take(at);
        if let Some(filter) = self.instances.get_mut(at as usize) {
            *filter = InstanceFilter::OPEN;
        }
        received
    }

    /// How many samples of a writer are pending.
    pub(super) fn pending_of(&self, writer: Guid) -> usize {
        let mut count = 0;
        for pending in self.pending.iter().flatten() {
            count += usize::from(pending.change.writer == writer);
        }
        count
    }

    /// An instance with a pending sample.
    pub(super) fn first_pending(&self) -> Option<InstanceIndex> {
        let at = self.instances.iter().position(|filter| filter.pending != NOT_PENDING)?;
        Some(at as InstanceIndex)
    }

    /// When the next pending sample is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let &Reverse((due, ..)) = self.due.peek()?;
        Some(due)
    }

    /// The next instance whose pending sample is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<InstanceIndex> {
        while let Some(&Reverse((due, _, at))) = self.due.peek() {
            if due > now {
                return None;
            }
            self.due.pop();
            // Otherwise the sample was delivered earlier, or became due later.
            if self.instances[at as usize].is_due_at(due) {
                return Some(at);
            }
        }
        None
    }

    /// How many entries the schedule has.
    #[cfg(test)]
    pub(super) fn scheduled(&self) -> usize {
        self.due.len()
    }

    fn entry(&mut self, at: InstanceIndex) -> &mut InstanceFilter {
        let at = at as usize;
        if at >= self.instances.len() {
            self.instances.resize(at + 1, InstanceFilter::OPEN);
        }
        &mut self.instances[at]
    }
}
