//! What happens to a reader's instances by the mere passing of time: DEADLINE, TIME_BASED_FILTER, READER_DATA_LIFECYCLE.
//!
//! | | counts from | when it is over |
//! |---|---|---|
//! | DEADLINE (DDS 1.4, 2.2.3.7) | the last change of the instance that was received and counts | one more period was missed, and the next begins; the owner of the instance loses it |
//! | TIME_BASED_FILTER (2.2.3.12) | the last sample of the instance that was let in | the newest of those that came since is let in; see `time_filter.rs` |
//! | READER_DATA_LIFECYCLE (2.2.3.22) | the end of the instance | its samples are removed, and the instance with them if nobody writes it |
//!
//! A deadline is watched from the first sample of an instance on and as long as it is alive: nobody has promised to update
//! what was disposed of, or what nobody writes (as Cyclone DDS and RTI Connext have it).
//!
//! All of it is by the reader's monotonic clock. A reader that uses none of these policies has none of this.

use super::InstanceState;
use super::MissedDeadlines;
use super::age_list::AgeList;
use super::reader::{ReaderHistory, ReceivedChange};
use super::removals::Removal;
use super::sample_list::{NOWHERE, Stored};
use super::time_filter::TimeFilter;
use crate::qos::DataReaderQos;
use crate::types::{Duration, Instant, Now};

/// How many instances one look at the clock handles at most, of each policy. What is due beyond that follows with the next
/// look, at once: a million instances that are late together must not keep everybody else out.
pub(super) const LOOKS_MAX: usize = 256;

/// The policies of a reader that act by the passing of time, all of which may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderTiming {
    /// DEADLINE: how long an instance may go without a new sample. Default: for ever.
    pub deadline: Duration,
    /// TIME_BASED_FILTER: between two samples of an instance lies at least this. Default: nothing.
    pub time_based_filter: Duration,
    /// READER_DATA_LIFECYCLE: how long the samples stay of an instance that nobody writes any more. Default: for ever.
    pub autopurge_nowriter_samples_delay: Duration,
    /// READER_DATA_LIFECYCLE: how long the samples stay of an instance that was disposed of. Default: for ever.
    pub autopurge_disposed_samples_delay: Duration,
}

impl ReaderTiming {
    /// Nothing happens by itself.
    pub const NONE: Self = Self {
        deadline: Duration::INFINITE,
        time_based_filter: Duration::ZERO,
        autopurge_nowriter_samples_delay: Duration::INFINITE,
        autopurge_disposed_samples_delay: Duration::INFINITE,
    };
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

/// What a reader's history knows of time.
#[derive(Debug)]
pub(super) struct Timing {
    deadlines: AgeList,
    without_writers: AgeList,
    disposed: AgeList,
    pub(super) filter: TimeFilter,
    missed: MissedDeadlines,
}

impl Timing {
    fn new(timing: ReaderTiming) -> Self {
        Self {
            deadlines: AgeList::of_deadline(timing.deadline),
            without_writers: AgeList::new(timing.autopurge_nowriter_samples_delay),
            disposed: AgeList::new(timing.autopurge_disposed_samples_delay),
            filter: TimeFilter::new(timing.time_based_filter),
            missed: MissedDeadlines::default(),
        }
    }

    /// A sample of the instance has come in, or is kept back until it may.
    pub(super) fn note_sample(&mut self, at: u32, now: Instant) {
        self.deadlines.note(at, now);
        self.without_writers.forget(at);
        self.disposed.forget(at);
    }

    /// The instance has ended, one way or the other.
    fn note_end(&mut self, at: u32, state: InstanceState, now: Instant) {
        let (ended, other) = match state {
            InstanceState::Alive => return,
            InstanceState::NotAliveDisposed => (&mut self.disposed, &mut self.without_writers),
            InstanceState::NotAliveNoWriters => (&mut self.without_writers, &mut self.disposed),
        };
        self.deadlines.forget(at);
        other.forget(at);
        ended.note_if_absent(at, now);
    }

    /// The instance is gone from its place; gives the sample that was kept back of it.
    pub(super) fn forget(&mut self, at: u32) -> Option<ReceivedChange> {
        self.deadlines.forget(at);
        self.without_writers.forget(at);
        self.disposed.forget(at);
        self.filter.forget(at)
    }

    fn deadline(&self) -> Option<Instant> {
        let lists = [&self.deadlines, &self.without_writers, &self.disposed];
        lists.into_iter().filter_map(AgeList::deadline).chain(self.filter.deadline()).min()
    }
}

impl ReaderTiming {
    fn is_used(&self) -> bool {
        let Self { deadline, time_based_filter, autopurge_nowriter_samples_delay, autopurge_disposed_samples_delay } =
            self;
        let delays = [deadline, autopurge_nowriter_samples_delay, autopurge_disposed_samples_delay];
        *time_based_filter > Duration::ZERO || delays.iter().any(|delay| !delay.is_infinite())
    }

    pub(super) fn start(self) -> Option<Box<Timing>> {
        self.is_used().then(|| Box::new(Timing::new(self)))
    }
}

impl ReaderHistory {
    /// Changes the policies of time. Deadlines and delays that begin to be watched count from now. `true`: there is
    /// something new to see.
    pub fn set_timing(&mut self, now: Now, timing: ReaderTiming) -> bool {
        let mut old = self.timing.take();
        let mut visible = false;
        if let Some(old) = &mut old {
            // The new filter knows nothing of the old one's time: what that has kept back goes first.
            while let Some(at) = old.filter.first_held() {
                visible |= self.let_last_in(at, old.filter.take(at), now.instant);
            }
        }
        self.timing = timing.start();
        let Some(new) = &mut self.timing else { return visible };
        if let Some(old) = old {
            let Timing { deadlines, without_writers, disposed, missed, .. } = *old;
            let kept = [
                (deadlines, &mut new.deadlines),
                (without_writers, &mut new.without_writers),
                (disposed, &mut new.disposed),
            ];
            for (mut old, new) in kept {
                // One that was infinite has noted nothing.
                if old.is_on() {
                    old.set_delay(new.delay());
                    *new = old;
                }
            }
            new.missed = missed;
        }
        for at in self.instances.places() {
            let instance = self.instances.get(at);
            match instance.state {
                InstanceState::Alive => new.deadlines.note_if_absent(at, now.instant),
                InstanceState::NotAliveDisposed => new.disposed.note_if_absent(at, now.instant),
                InstanceState::NotAliveNoWriters => new.without_writers.note_if_absent(at, now.instant),
            }
        }
        visible
    }

    /// Deadlines that were missed since this was last asked; `None`: none.
    #[inline]
    pub fn take_missed(&mut self) -> Option<MissedDeadlines> {
        self.timing.as_mut()?.missed.take()
    }

    /// Whether anything happens by time alone, but LIFESPAN.
    #[must_use]
    #[inline]
    pub const fn has_timing(&self) -> bool {
        self.timing.is_some()
    }

    /// When something is due by the policies of time.
    pub(super) fn timing_deadline(&self) -> Option<Instant> {
        self.timing.as_ref()?.deadline()
    }

    /// Does what is due by the policies of time. `true`: there is something new to see.
    pub(super) fn pass_time(&mut self, now: Instant) -> bool {
        if self.timing.is_none() {
            return false;
        }
        self.miss_deadlines(now);
        let visible = self.let_due_in(now, LOOKS_MAX);
        self.purge(now);
        visible
    }

    /// The state of an instance may have changed by a change that is no sample.
    pub(super) fn note_end(&mut self, at: u32, now: Instant) {
        if let Some(timing) = &mut self.timing {
            timing.note_end(at, self.instances.get(at).state, now);
        }
    }

    fn miss_deadlines(&mut self, now: Instant) {
        let Some(timing) = self.timing.as_mut().filter(|timing| timing.deadlines.is_due(now)) else { return };
        let all = timing.deadlines.miss(now, LOOKS_MAX, |at, periods| {
            let instance = self.instances.get(at);
            timing.missed.note(instance.handle, periods);
            if let Some(ownership) = &mut self.ownership {
                ownership.lapse(at, instance);
            }
        });
        timing.deadlines.looked(now, all);
    }

    /// Removes the samples of instances that have ended long enough ago.
    fn purge(&mut self, now: Instant) {
        for looks in 0.. {
            let Some(timing) = &mut self.timing else { return };
            let due = [&timing.without_writers, &timing.disposed].into_iter().find_map(|list| list.first_due(now));
            let Some((at, _)) = due.filter(|_| looks < LOOKS_MAX) else {
                timing.without_writers.looked(now, due.is_none());
                timing.disposed.looked(now, due.is_none());
                return;
            };
            timing.without_writers.forget(at);
            timing.disposed.forget(at);
            loop {
                let sample = self.instances.get(at).samples.first;
                if sample == NOWHERE {
                    break;
                }
                let Stored { valid, writer, .. } = *self.samples.get(sample);
                if valid {
                    self.counters.purged += 1;
                    self.removals.note(writer, Removal::Purged);
                }
                drop(self.remove(sample));
            }
            self.release(at);
        }
    }
}
