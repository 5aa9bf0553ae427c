//! How long cells are held, by the clock: which kind of actor keeps others out, for how long, and from where.
//!
//! In builds with debug assertions only, and only where the driver has said by which clock ([`RunQueue::measured_by`]); a
//! simulated one has not, for there no time passes inside a cell. In other builds nothing of it is there, neither a reading of
//! a clock nor memory. It is for people to read, by [`hold_times`]: how long something takes is the machine's affair, so
//! tests assert on steps ([`Holds`](super::Holds)), or on a clock of their own.
//!
//! Bound: one record for each type of actor, as long as the process lives.

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

/// The holds of all cells of one kind of actor in this process so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldTimes {
    kind: &'static str,
    buckets: [u64; BUCKETS],
    longest: Option<LongestHold>,
}

/// The hold that has lasted longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongestHold {
    /// How long, in nanoseconds.
    pub nanos: u64,
    /// What the mail that was served first has cost, most of it for others.
    pub mail: usize,
    /// Who was inside: the line that has entered the cell, or called the entity's operation that did. For mail that a
    /// poke has served it is one of `cell.rs`.
    pub at: &'static Location<'static>,
}

/// The holds of each kind of actor, in the order in which they came up; nothing in builds without debug assertions.
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

    /// How many holds there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// How many holds there were of `nanos` and more, counted from the power of two that is not above it.
    #[must_use]
    pub fn count_from(&self, nanos: u64) -> u64 {
        self.buckets[bucket_of(nanos)..].iter().sum()
    }

    /// The longest; `None` if there was none.
    #[must_use]
    pub fn longest(&self) -> Option<LongestHold> {
        self.longest
    }
}

impl fmt::Display for HoldTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ns ", self.kind)?;
        for (bucket, count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            let from = if bucket == 0 { 0 } else { 1_u64 << (bucket - 1) };
            write!(f, " {from}+: {count} ")?;
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

    /// Measures the holds of the cells of one kind.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::actor) struct Watch(&'static Kind);

    /// Who enters a cell: a line of the code.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Caller(&'static Location<'static>);

    /// A hold that has begun; `None` where nobody measures.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::actor) struct Begun(Option<(u64, &'static Location<'static>)>);

    /// A list that only grows, so that a forked child finds no lock in it that somebody else had.
    static FIRST: OnceLock<Box<Kind>> = OnceLock::new();

    #[derive(Debug)]
    struct Kind {
        name: &'static str,
        buckets: [AtomicU64; BUCKETS],
        longest: Lock<Option<LongestHold>>,
        next: OnceLock<Box<Kind>>,
    }

    impl Caller {
        /// Who has called the function that asks, if that is `track_caller`.
        #[track_caller]
        pub(crate) fn here() -> Self {
            Self(Location::caller())
        }
    }

    impl Watch {
        /// Of the cells around an `A`.
        pub(in crate::actor) fn of<A>() -> Self {
            let name = std::any::type_name::<A>();
            let mut link = &FIRST;
            loop {
                let kind = link.get_or_init(|| Box::new(Kind::new(name)));
                if kind.name == name {
                    return Self(kind);
                }
                link = &kind.next;
            }
        }

        /// A hold begins.
        pub(in crate::actor) fn begin(self, Caller(at): Caller, run_queue: &RunQueue) -> Begun {
            Begun(run_queue.nanos().map(|since| (since, at)))
        }

        /// It ends, and has served mail at that cost.
        pub(in crate::actor) fn end(self, begun: Begun, run_queue: &RunQueue, mail: usize) {
            let (Begun(Some((since, at))), Some(now)) = (begun, run_queue.nanos()) else { return };
            let nanos = now.saturating_sub(since);
            self.0.buckets[bucket_of(nanos)].fetch_add(1, Ordering::Relaxed);
            // Whoever finds it occupied passes: the histogram has his hold, and in a forked child nobody may ever leave.
            let Some(mut longest) = self.0.longest.try_lock() else { return };
            if longest.is_none_or(|longest| longest.nanos < nanos) {
                *longest = Some(LongestHold { nanos, mail, at });
            }
        }

        pub(super) fn all() -> Vec<HoldTimes> {
            let kinds = std::iter::successors(FIRST.get(), |kind| kind.next.get());
            kinds.map(|kind| kind.times()).collect()
        }
    }

    impl Kind {
        fn new(name: &'static str) -> Self {
            let buckets = std::array::from_fn(|_| AtomicU64::new(0));
            Self { name, buckets, longest: Lock::new(None), next: OnceLock::new() }
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

    /// Nobody asks who enters.
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

#[cfg(test)]
#[cfg(all(debug_assertions, not(dds_loom)))]
mod tests {
    use super::*;
    use crate::actor::{Actor, Capacity, Cell, Effects, RunQueue};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// What the clock of these tests says: it stands still unless somebody works.
    #[derive(Default)]
    struct Work(AtomicU64);

    impl Work {
        fn take(&self, nanos: u64) {
            self.0.fetch_add(nanos, Ordering::Relaxed);
        }
    }

    /// Works on its mail for so many nanoseconds. Each test has one of its own, as the records are the process's.
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
    fn a_visitor_is_told_apart_from_the_mail_that_he_has_served() {
        let (work, cell) = worker::<2>();
        (0..3).for_each(|_| cell.push(1_000).unwrap());
        // What comes while he is inside is served in a hold of its own.
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
