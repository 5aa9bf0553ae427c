//! The policies of a reader that act by the passage of time: DEADLINE, TIME_BASED_FILTER, READER_DATA_LIFECYCLE.
//!
//! | policy | starts with | at the end |
//! |---|---|---|
//! | DEADLINE (DDS 1.4, 2.2.3.7) | the last change that was received and counts | counts a missed period and starts the next; the owner loses the instance |
//! | TIME_BASED_FILTER (2.2.3.12) | the last sample that was delivered | delivers the newest sample since; see `time_filter.rs` |
//! | READER_DATA_LIFECYCLE (2.2.3.22) | the end of the instance | removes its samples, and the instance if it has no writers |
//!
//! A deadline is watched from the first sample of an instance on, while the instance is alive. An instance that was
//! disposed of, or has no writers, has no deadline (as in Cyclone DDS and RTI Connext).
//!
//! All times are those of the reader's monotonic clock. A reader without these policies has no such state.

use super::instances::InstanceIndex;
use super::time_filter::TimeFilter;
use super::{InstanceState, ReceivedChange};
use crate::history::MissedDeadlines;
use crate::history::age_list::AgeList;
use crate::qos::DataReaderQos;
use crate::types::{Duration, Instant, earliest};

/// The time-based policies of a reader. All of them may change at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderTiming {
    /// DEADLINE: the longest time between two samples of an instance. Default: infinite.
    pub deadline: Duration,
    /// TIME_BASED_FILTER: the shortest time between two samples of an instance. Default: zero.
    pub time_based_filter: Duration,
    /// READER_DATA_LIFECYCLE: how long samples stay after their instance lost all writers. Default: infinite.
    pub autopurge_nowriter_samples_delay: Duration,
    /// READER_DATA_LIFECYCLE: how long samples stay after their instance was disposed of. Default: infinite.
    pub autopurge_disposed_samples_delay: Duration,
}

impl ReaderTiming {
    /// The defaults: nothing happens by time.
    pub const NONE: Self = Self {
        deadline: Duration::INFINITE,
        time_based_filter: Duration::ZERO,
        autopurge_nowriter_samples_delay: Duration::INFINITE,
        autopurge_disposed_samples_delay: Duration::INFINITE,
    };

    fn is_used(&self) -> bool {
        self.time_based_filter > Duration::ZERO
            || !self.deadline.is_infinite()
            || !self.autopurge_nowriter_samples_delay.is_infinite()
            || !self.autopurge_disposed_samples_delay.is_infinite()
    }
}

impl From<&DataReaderQos> for ReaderTiming {
    fn from(qos: &DataReaderQos) -> Self {
        let lifecycle = qos.reader_data_lifecycle;
        Self {
            deadline: qos.deadline,
            time_based_filter: qos.time_based_filter,
            autopurge_nowriter_samples_delay: lifecycle.autopurge_nowriter_samples_delay,
            autopurge_disposed_samples_delay: lifecycle.autopurge_disposed_samples_delay,
        }
    }
}

/// The state of the time-based policies of one reader.
#[derive(Debug)]
pub(super) struct TimePolicies {
    deadlines: AgeList,
    without_writers: AgeList,
    disposed: AgeList,
    pub(super) filter: TimeFilter,
    missed: MissedDeadlines,
}

impl TimePolicies {
    /// The state for `timing`; `None` if no policy is used.
    pub(super) fn new(timing: ReaderTiming) -> Option<Box<Self>> {
        if !timing.is_used() {
            return None;
        }
        Some(Box::new(Self {
            deadlines: AgeList::of_deadline(timing.deadline),
            without_writers: AgeList::new(timing.autopurge_nowriter_samples_delay),
            disposed: AgeList::new(timing.autopurge_disposed_samples_delay),
            filter: TimeFilter::new(timing.time_based_filter),
            missed: MissedDeadlines::default(),
        }))
    }

    /// Continues the deadlines and delays of the former policies. Their filter must be empty.
    pub(super) fn continue_from(&mut self, old: Self) {
        debug_assert!(old.filter.first_pending().is_none(), "the caller has delivered the pending samples");
        self.deadlines.continue_from(old.deadlines);
        self.without_writers.continue_from(old.without_writers);
        self.disposed.continue_from(old.disposed);
        self.missed = old.missed;
    }

    /// Starts to watch an instance, unless it is watched already.
    pub(super) fn watch(&mut self, at: InstanceIndex, state: InstanceState, now: Instant) {
        let list = match state {
            InstanceState::Alive => &mut self.deadlines,
            InstanceState::NotAliveDisposed => &mut self.disposed,
            InstanceState::NotAliveNoWriters => &mut self.without_writers,
        };
        list.note_if_absent(at, now);
    }

    /// Notes a sample that was delivered or became pending.
    pub(super) fn note_sample(&mut self, at: InstanceIndex, now: Instant) {
        // A sample revives its instance, which is then not purged.
        self.deadlines.note(at, now);
        self.without_writers.forget(at);
        self.disposed.forget(at);
    }

    /// Notes that a change may have ended the instance.
    pub(super) fn note_end(&mut self, at: InstanceIndex, state: InstanceState, now: Instant) {
        let (ended, other) = match state {
            InstanceState::Alive => return,
            InstanceState::NotAliveDisposed => (&mut self.disposed, &mut self.without_writers),
            InstanceState::NotAliveNoWriters => (&mut self.without_writers, &mut self.disposed),
        };
        // A writer owes no samples of an ended instance, so the instance cannot miss a deadline.
        self.deadlines.forget(at);
        other.forget(at);
        // Another change of an ended instance does not prolong the delay.
        ended.note_if_absent(at, now);
    }

    /// Forgets an instance. Returns its pending sample.
    pub(super) fn forget(&mut self, at: InstanceIndex) -> Option<ReceivedChange> {
        self.deadlines.forget(at);
        self.without_writers.forget(at);
        self.disposed.forget(at);
        self.filter.forget(at)
    }

    /// When something is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let mut due = self.filter.deadline();
        for list in [&self.deadlines, &self.without_writers, &self.disposed] {
            due = earliest(due, list.deadline());
        }
        due
    }

    /// Whether a missed deadline has to be counted now.
    pub(super) fn has_missed_deadlines(&self, now: Instant) -> bool {
        self.deadlines.is_due(now)
    }

    /// Restarts the deadline of the next instance that missed it. Returns the instance and the number of missed
    /// periods.
    pub(super) fn next_missed(&mut self, now: Instant) -> Option<(InstanceIndex, u64)> {
        self.deadlines.next_missed(now)
    }

    pub(super) fn missed_mut(&mut self) -> &mut MissedDeadlines {
        &mut self.missed
    }

    /// Ends a timer run for missed deadlines.
    pub(super) fn end_deadline_run(&mut self, now: Instant) {
        self.deadlines.end_run(now);
    }

    /// The next instance that ended long enough ago. It is not watched any more.
    pub(super) fn next_to_purge(&mut self, now: Instant) -> Option<InstanceIndex> {
        let (at, _) = match self.without_writers.first_due(now) {
            Some(due) => due,
            None => self.disposed.first_due(now)?,
        };
        // It is in one of both lists, and the other one ignores the call.
        self.without_writers.forget(at);
        self.disposed.forget(at);
        Some(at)
    }

    /// Ends a timer run for instances to purge.
    pub(super) fn end_purge_run(&mut self, now: Instant) {
        let is_complete = self.without_writers.first_due(now).is_none() && self.disposed.first_due(now).is_none();
        self.without_writers.set_floor(now, is_complete);
        self.disposed.set_floor(now, is_complete);
    }
}
