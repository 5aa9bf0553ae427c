//! Measures how long cells are held: by which kind of actor, for how long, and from which line.
//!
//! Works only in builds with debug assertions, and only if the driver has set a clock ([`RunQueue::measured_by`]). A
//! simulated driver sets none, because no time passes inside a cell there. Other builds read no clock and use no
//! memory.
//!
//! The result of [`hold_times`] is for people. Durations depend on the machine, so tests assert on steps
//! ([`Holds`](super::Holds)) or on a clock of their own.
//!
//! Bound: one record for each type of actor, for the lifetime of the process.

#[cfg(all(debug_assertions, not(dds_loom)))]
pub(crate) use measured::Caller;
#[cfg(all(debug_assertions, not(dds_loom)))]
pub(super) use measured::Watch;
#[cfg(not(all(debug_assertions, not(dds_loom))))]
pub(crate) use unmeasured::Caller;
#[cfg(not(all(debug_assertions, not(dds_loom))))]
pub(super) use unmeasured::Watch;

use std::fmt;
use std::panic::Location;

/// Powers of two of nanoseconds: 0, 1, 2 to 3, 4 to 7, … and everything from 4.6 minutes on.
const BUCKETS: usize = 40;

/// All holds so far in this process of cells with one kind of actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldTimes {
    kind: &'static str,
    buckets: [u64; BUCKETS],
    longest: Option<LongestHold>,
}

/// The longest hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestHold {
    /// Duration in nanoseconds.
    pub nanos: u64,
    /// Cost of the mail that the visitor served first, most of it for other senders.
    pub mail: usize,
    /// The line that entered the cell, or that called the operation of the entity.
    ///
    /// For mail that a poke served it is a line of `cell.rs`.
    pub at: &'static Location<'static>,
}

/// Returns the holds of each kind of actor, in order of first use. Empty without debug assertions.
#[must_use]
pub fn hold_times() -> Vec<HoldTimes> {
    Watch::all()
}

impl HoldTimes {
    /// The actor's type.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Number of holds.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Number of holds of at least `nanos`, rounded down to a power of two.
    #[must_use]
    pub fn count_from(&self, nanos: u64) -> u64 {
        self.buckets[bucket_of(nanos)..].iter().sum()
    }

    /// The longest hold. `None` if there was none.
    #[must_use]
    pub fn longest(&self) -> Option<LongestHold> {
        self.longest
    }
}

impl fmt::Display for HoldTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ns ", self.kind)?;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            let from = if bucket == 0 { 0 } else { 1_u64 << (bucket - 1) };
            if count > 0 {
                write!(f, " {from}+: {count} ")?;
            }
        }
        match self.longest {
            Some(LongestHold { nanos, mail, at }) => write!(f, " longest: {nanos} at {at}, {mail} of mail"),
            None => Ok(()),
        }
    }
}

fn bucket_of(nanos: u64) -> usize {
    ((u64::BITS - nanos.leading_zeros()) as usize).min(BUCKETS - 1)
}

#[cfg(all(debug_assertions, not(dds_loom)))]
mod measured {
    use super::{BUCKETS, HoldTimes, LongestHold, bucket_of};
    use crate::actor::RunQueue;
    use crate::sync::{AtomicU64, Lock, OnceLock, Ordering};
    use std::panic::Location;

    /// Measures the holds of cells of one kind.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::actor) struct Watch(&'static Kind);

    /// The line of code that enters a cell.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Caller(&'static Location<'static>);

    /// A hold that has begun. `None` without a clock.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::actor) struct Begun(Option<(u64, &'static Location<'static>)>);

    /// A list that only grows. A lock could be held by another thread when the process forks.
    static FIRST: OnceLock<Box<Kind>> = OnceLock::new();

    #[derive(Debug)]
    struct Kind {
        name: &'static str,
        buckets: [AtomicU64; BUCKETS],
        longest: Lock<Option<LongestHold>>,
        next: OnceLock<Box<Kind>>,
    }

    impl Caller {
        /// The caller of the calling function, if that function is `track_caller`.
        #[track_caller]
        pub(crate) fn here() -> Self {
            Self(Location::caller())
        }
    }

    impl Watch {
        /// Returns the measurement for cells around an `A`.
        pub(in crate::actor) fn of<A>() -> Self {
            let name = std::any::type_name::<A>();
            // A linear search: a process has a few kinds of actors, and each cell searches once.
            let mut link = &FIRST;
            loop {
                let kind = link.get_or_init(|| Box::new(Kind::new(name)));
                if kind.name == name {
                    return Self(kind);
                }
                link = &kind.next;
            }
        }

        /// Begins a hold.
        pub(in crate::actor) fn begin(self, Caller(at): Caller, run_queue: &RunQueue) -> Begun {
            Begun(match run_queue.nanos() {
                Some(since) => Some((since, at)),
                None => None,
            })
        }

        /// Ends a hold that served mail at cost `mail`.
        pub(in crate::actor) fn end(self, begun: Begun, run_queue: &RunQueue, mail: usize) {
            let (Begun(Some((since, at))), Some(now)) = (begun, run_queue.nanos()) else { return };
            let nanos = now.saturating_sub(since);
            self.0.buckets[bucket_of(nanos)].fetch_add(1, Ordering::Relaxed);
            // If the lock is occupied, skip the record: the histogram has the hold. In a forked child the lock may
            // never be released.
            let Some(mut longest) = self.0.longest.try_lock() else { return };
            match *longest {
                Some(known) if known.nanos >= nanos => {}
                _ => *longest = Some(LongestHold { nanos, mail, at }),
            }
        }

        pub(super) fn all() -> Vec<HoldTimes> {
            let mut all = Vec::new();
            let mut next = FIRST.get();
            while let Some(kind) = next {
                all.push(kind.times());
                next = kind.next.get();
            }
            all
        }
    }

    impl Kind {
        fn new(name: &'static str) -> Self {
            Self {
                name,
                buckets: [const { AtomicU64::new(0) }; BUCKETS],
                longest: Lock::new(None),
                next: OnceLock::new(),
            }
        }

        fn times(&self) -> HoldTimes {
            HoldTimes {
                kind: self.name,
                buckets: self.buckets.each_ref().map(|count| count.load(Ordering::Relaxed)),
                longest: *self.longest.lock(),
            }
        }
    }
}

#[cfg(not(all(debug_assertions, not(dds_loom))))]
mod unmeasured {
    use super::HoldTimes;
    use crate::actor::RunQueue;

    /// Measures nothing.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::actor) struct Watch;

    /// Holds nothing, because nothing is measured.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Caller;

    impl Caller {
        #[inline(always)]
        pub(crate) fn here() -> Self {
            Self
        }
    }

    impl Watch {
        #[inline(always)]
        pub(in crate::actor) fn of<A>() -> Self {
            Self
        }

        #[inline(always)]
        pub(in crate::actor) fn begin(self, _: Caller, _: &RunQueue) {}

        #[inline(always)]
        pub(in crate::actor) fn end(self, (): (), _: &RunQueue, _: usize) {}

        pub(super) fn all() -> Vec<HoldTimes> {
            Vec::new()
        }
    }
}

#[cfg(all(debug_assertions, not(dds_loom)))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Actor, Capacity, Cell, Effects, RunQueue};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Clock of these tests. It advances only when an actor works.
    #[derive(Default)]
    struct Work(AtomicU64);

    impl Work {
        fn take(&self, nanos: u64) {
            self.0.fetch_add(nanos, Ordering::Relaxed);
        }
    }

    /// Works for the number of nanoseconds in its mail. Each test uses its own type, because records are per process.
    struct Worker<const TEST: usize>(Arc<Work>);

    impl<const TEST: usize> Actor for Worker<TEST> {
        type Mail = u64;
        fn handle(&mut self, nanos: u64, _: &mut Effects) {
            self.0.take(nanos);
        }
    }

    fn worker<const TEST: usize>() -> (Arc<Work>, Arc<Cell<Worker<TEST>>>) {
        let work = Arc::new(Work::default());
        let clock = Arc::clone(&work);
        let run_queue = RunQueue::new(|| ()).measured_by(move || clock.0.load(Ordering::Relaxed));
        let cell = Cell::new(Worker(Arc::clone(&work)), Capacity::default(), Arc::new(run_queue));
        (work, cell)
    }

    fn times<const TEST: usize>() -> HoldTimes {
        let kind = std::any::type_name::<Worker<TEST>>();
        hold_times().into_iter().find(|times| times.kind() == kind).unwrap()
    }

    #[test]
    fn a_planted_long_hold_shows_up_with_its_line() {
        let (work, cell) = worker::<1>();
        let visit = |nanos| Effects::scope(|effects| cell.with(effects, |_, _| work.take(nanos))).unwrap();
        (0..100).for_each(|_| visit(700));
        assert_eq!((times::<1>().count(), times::<1>().count_from(1024)), (100, 0));
        let planted = line!() + 1;
        Effects::scope(|effects| cell.with(effects, |_, _| work.take(3_000_000))).unwrap();
        visit(700);
        let longest = times::<1>().longest().unwrap();
        assert_eq!((longest.nanos, longest.mail, longest.at.file()), (3_000_000, 0, file!()));
        assert_eq!(longest.at.line(), planted);
        assert_eq!((times::<1>().count(), times::<1>().count_from(1024)), (102, 1));
        let text = times::<1>().to_string();
        assert!(text.contains(" 512+: 101 ") && text.contains(" 2097152+: 1 "), "{text}");
        assert!(text.contains(&format!("longest: 3000000 at {}:{planted}:", file!())), "{text}");
    }

    #[test]
    fn hold_times_separate_visitor_from_served_mail() {
        let (work, cell) = worker::<2>();
        (0..3).for_each(|_| cell.push(1_000).unwrap());
        // Mail that arrives during the visit is served in a separate hold.
        let visit = |_: &mut Worker<2>, _: &mut Effects| {
            work.take(10);
            cell.push(5_000).unwrap();
        };
        Effects::scope(|effects| cell.with(effects, visit)).unwrap();
        assert_eq!((times::<2>().count(), times::<2>().longest().unwrap().nanos), (2, 5_000));
        let offered = Effects::scope(|effects| cell.offer(effects, |_, _| work.take(9_000), || unreachable!()));
        assert!(offered.is_ok());
        let longest = times::<2>().longest().unwrap();
        assert_eq!((longest.nanos, longest.mail, longest.at.line()), (9_000, 0, line!() - 3));
    }

    #[test]
    fn a_handover_counts_for_both_cells() {
        let (work, outer) = worker::<3>();
        let clock = Arc::clone(&work);
        let run_queue = Arc::new(RunQueue::new(|| ()).measured_by(move || clock.0.load(Ordering::Relaxed)));
        let inner = Cell::new(Worker::<4>(Arc::clone(&work)), Capacity::default(), run_queue);
        Effects::scope(|effects| {
            outer.with(effects, |_, effects| {
                work.take(100);
                inner.hand_over(effects, 1_000, |worker, nanos, _| worker.0.take(nanos), |nanos| nanos).unwrap();
            })
        })
        .unwrap();
        assert_eq!(times::<3>().longest().unwrap().nanos, 1_100);
        assert_eq!(times::<4>().longest().unwrap().nanos, 1_000);
    }

    #[test]
    fn without_a_clock_nothing_is_measured() {
        let work = Arc::new(Work::default());
        let cell = Cell::new(Worker::<5>(Arc::clone(&work)), Capacity::default(), Arc::new(RunQueue::new(|| ())));
        Effects::scope(|effects| cell.with(effects, |_, _| work.take(1_000))).unwrap();
        assert_eq!((times::<5>().count(), times::<5>().longest()), (0, None));
    }
}
