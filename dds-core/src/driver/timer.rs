//! One timer per cell, in a heap that any driver can serve.
//!
//! Life cycle: an entity creates its [`Timer`] once, sets it after every visit to its cell, and drops it with itself.
//! Nearly every sample sets it to a later instant, which costs one store. The heap's entry stays in place, and moves
//! when it expires. Bound: one entry per timer. The memory of removed entries is reused.

use crate::actor::{Effects, Poke, Signals};
use crate::sync::{Arc, AtomicU64, Lock, Mutation, Ordering, Process, Weak, mutated};
use dds_rtps::types::Instant;
use std::fmt;

/// Means "not set", and "has no entry in the heap".
const NEVER: u64 = u64::MAX;

/// Number of timers that fire before the driver does other work.
const BATCH: usize = 32;

/// All timers of a driver.
pub struct Timers {
    queue: Lock<TimerQueue>,
    kick: Box<dyn Fn() + Send + Sync>,
    process: Process,
}

/// Signals [`Signals::TIMER`] to one cell at its deadline or some time later. May also signal without a cause.
#[derive(Debug)]
pub struct Timer {
    timers: Arc<Timers>,
    deadline: Arc<TimerDeadline>,
    slot: usize,
}

/// State that a timer shares with its entry.
#[derive(Debug)]
struct TimerDeadline {
    /// The deadline. Written by the owner of the timer.
    due: AtomicU64,
    /// Instant of the timer's entry in the heap. Written under the lock of the heap.
    entry: AtomicU64,
}

impl Timers {
    /// Creates an empty set of timers. `kick` notifies the serving thread when the earliest deadline became earlier.
    ///
    /// A cell may call `kick` while it is held.
    #[must_use]
    pub fn new(kick: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { queue: Lock::default(), kick: Box::new(kick), process: Process::current() })
    }

    /// The next instant at which [`Timers::fire`] has work.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.queue.lock().first().map(Instant::from_nanos)
    }

    /// Fires expired timers, at most one batch. Returns true if there may be more.
    pub fn fire(&self, now: Instant) -> bool {
        self.fire_each(now, |_| ())
    }

    /// Like [`Timers::fire`], and reports the deadline of each fired timer.
    pub(crate) fn fire_each(&self, now: Instant, mut fires: impl FnMut(Instant)) -> bool {
        for _ in 0..BATCH {
            let mut queue = self.queue.lock();
            let Some((cell, due)) = queue.pop_due(now.as_nanos()) else { return false };
            // Outside of the lock, because the poked cell may set its timer again.
            drop(queue);
            // Timers refer to cells weakly, so that a timer keeps no entity alive.
            if let Some(cell) = cell.upgrade() {
                fires(Instant::from_nanos(due));
                cell.signal(Signals::TIMER);
                Effects::scope(|effects| cell.poke(effects));
            }
        }
        true
    }

    /// Fires a timer that may not be set, as if it expired twice or was stopped too late.
    ///
    /// Returns `None` if there is no timer, else whether it is set. A set timer fires again at its deadline.
    #[cfg(feature = "sim")]
    pub(crate) fn fire_stray(&self, which: u64) -> Option<bool> {
        let queue = self.queue.lock();
        let index = which % (queue.slots.len().max(1) as u64);
        let slot = queue.slots.get(index as usize)?.as_ref()?;
        let (cell, is_set) = (slot.cell.upgrade()?, slot.deadline.due.load(Ordering::SeqCst) != NEVER);
        drop(queue);
        cell.signal(Signals::TIMER);
        Effects::scope(|effects| cell.poke(effects));
        Some(is_set)
    }

    /// Adds or moves a timer whose deadline is before its entry.
    #[cold]
    fn advance(&self, slot: usize) {
        let mut queue = self.queue.lock();
        let before = queue.first();
        queue.settle(slot);
        let closer = queue.first().unwrap_or(NEVER) < before.unwrap_or(NEVER);
        drop(queue);
        // Outside of the lock: `kick` wakes a thread that takes the lock at once.
        if closer {
            (self.kick)();
        }
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("next", &self.next()).finish_non_exhaustive()
    }
}

impl Timer {
    /// Creates a timer for `cell` that is not set.
    #[must_use]
    pub fn new(timers: &Arc<Timers>, cell: Weak<dyn Poke>) -> Self {
        let deadline = Arc::new(TimerDeadline { due: AtomicU64::new(NEVER), entry: AtomicU64::new(NEVER) });
        let slot = timers.queue.lock().insert(Arc::clone(&deadline), cell);
        Self { timers: Arc::clone(timers), deadline, slot }
    }

    /// Replaces the deadline. `None` stops the timer.
    ///
    /// Allowed inside a cell. The cell also keeps two visitors from setting it in the wrong order.
    #[inline]
    pub fn set(&self, deadline: Option<Instant>) {
        let due = match deadline {
            // `NEVER` means that no deadline is set. The instant before it is centuries away as well.
            Some(deadline) => deadline.as_nanos().min(NEVER - 1),
            None => NEVER,
        };
        // Store first, then load; both are sequentially consistent. `TimerQueue::pop_due` removes the entry first and
        // then loads the deadline. So either this thread sees that the entry is gone, or that thread sees the new
        // deadline.
        let entry = if mutated(Mutation::LookThenStore) {
            let entry = self.deadline.entry.load(Ordering::SeqCst);
            self.deadline.due.store(due, Ordering::SeqCst);
            entry
        } else {
            self.deadline.due.store(due, Ordering::SeqCst);
            self.deadline.entry.load(Ordering::SeqCst)
        };
        if due < entry {
            self.timers.advance(self.slot);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let queue = match self.timers.queue.try_lock() {
            Some(queue) => Some(queue),
            // In a forked child the holder of the lock does not exist, and no timer fires anyway.
            None if self.timers.process.is_left() => None,
            None => Some(self.timers.queue.lock()),
        };
        let Some(mut queue) = queue else { return };
        let cell = queue.remove(self.slot);
        // Drop the reference to the cell outside of the lock: it may be the last one.
        drop(queue);
        drop(cell);
    }
}

/// A binary heap of slot indexes. Each slot knows its position in the heap.
#[derive(Default)]
struct TimerQueue {
    heap: Vec<usize>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
}

struct Slot {
    deadline: Arc<TimerDeadline>,
    cell: Weak<dyn Poke>,
    /// Index in the heap, if it is there.
    place: Option<usize>,
}

impl TimerQueue {
    fn insert(&mut self, deadline: Arc<TimerDeadline>, cell: Weak<dyn Poke>) -> usize {
        let slot = Some(Slot { deadline, cell, place: None });
        match self.free.pop() {
            Some(number) => {
                debug_assert!(self.slots[number].is_none(), "a free slot has no timer");
                self.slots[number] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                self.slots.len() - 1
            }
        }
    }

    fn remove(&mut self, slot: usize) -> Option<Slot> {
        self.take_out(slot);
        let removed = self.slots[slot].take();
        debug_assert!(removed.is_some(), "a timer removes its slot once");
        // Reuse the slot, so that memory is bounded by the number of timers at one time.
        self.free.push(slot);
        removed
    }

    fn first(&self) -> Option<u64> {
        let &slot = self.heap.first()?;
        Some(self.entry_of(slot))
    }

    /// Removes an expired timer. Returns its cell and its deadline.
    fn pop_due(&mut self, now: u64) -> Option<(Weak<dyn Poke>, u64)> {
        while let Some(&slot) = self.heap.first() {
            if self.entry_of(slot) > now {
                return None;
            }
            self.take_out(slot);
            let timer = self.slots[slot].as_ref()?;
            let due = timer.deadline.due.load(Ordering::SeqCst);
            if due <= now {
                return Some((Weak::clone(&timer.cell), due));
            }
            // The timer was moved to a later instant, so its entry follows.
            self.settle(slot);
        }
        None
    }

    /// Moves the entry of a timer to its deadline, unless the entry is earlier.
    fn settle(&mut self, slot: usize) {
        let Some(timer) = &self.slots[slot] else { return };
        let due = timer.deadline.due.load(Ordering::SeqCst);
        if due >= timer.deadline.entry.load(Ordering::SeqCst) {
            return;
        }
        timer.deadline.entry.store(due, Ordering::SeqCst);
        let place = match timer.place {
            Some(place) => place,
            None => {
                self.heap.push(slot);
                self.heap.len() - 1
            }
        };
        self.note_place(place);
        self.sift_up(place);
    }

    fn take_out(&mut self, slot: usize) {
        let Some(timer) = &mut self.slots[slot] else { return };
        let Some(place) = timer.place.take() else { return };
        timer.deadline.entry.store(NEVER, Ordering::SeqCst);
        self.heap.swap_remove(place);
        // The last timer of the heap now fills the gap. It may belong above or below it.
        if place < self.heap.len() {
            self.note_place(place);
            self.sift_up(place);
            self.sift_down(place);
        }
    }

    fn entry_of(&self, slot: usize) -> u64 {
        match &self.slots[slot] {
            Some(slot) => slot.deadline.entry.load(Ordering::Relaxed),
            None => NEVER,
        }
    }

    fn at(&self, place: usize) -> u64 {
        self.entry_of(self.heap[place])
    }

    fn note_place(&mut self, place: usize) {
        if let Some(slot) = &mut self.slots[self.heap[place]] {
            slot.place = Some(place);
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        self.note_place(one);
        self.note_place(other);
    }

    fn sift_up(&mut self, mut place: usize) {
        while place > 0 && self.at(place) < self.at((place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.at(child)) else { return };
            if self.at(place) <= self.at(least) {
                return;
            }
            self.swap(place, least);
            place = least;
        }
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Fired(AtomicUsize);
    impl Poke for Fired {
        fn poke(self: Arc<Self>, _: &mut Effects) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn resume(self: Arc<Self>, effects: &mut Effects) {
            self.poke(effects);
        }
        fn signal(&self, signals: Signals) {
            assert_eq!(signals, Signals::TIMER);
        }
    }

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn timer(timers: &Arc<Timers>) -> (Arc<Fired>, Timer) {
        let fired = Arc::new(Fired::default());
        let weak: Weak<Fired> = Arc::downgrade(&fired);
        (fired, Timer::new(timers, weak))
    }

    fn count(fired: &Fired) -> usize {
        fired.0.load(Ordering::Relaxed)
    }

    #[test]
    fn a_timer_fires_once_and_not_early() {
        let timers = Timers::new(|| ());
        let (fired, timer) = timer(&timers);
        timer.set(Some(at(100)));
        assert!(!timers.fire(at(99)));
        assert_eq!(count(&fired), 0);
        assert!(!timers.fire(at(100)));
        assert!(!timers.fire(at(1000)));
        assert_eq!(count(&fired), 1);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn timer_moved_later_moves_when_entry_is_due() {
        let kicks = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&kicks);
        let timers = Timers::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let (fired, timer) = timer(&timers);
        (100..200).for_each(|nanos| timer.set(Some(at(nanos))));
        assert_eq!(kicks.load(Ordering::Relaxed), 1);
        assert_eq!(timers.next(), Some(at(100)));
        timers.fire(at(150));
        assert_eq!((count(&fired), timers.next()), (0, Some(at(199))));
        timers.fire(at(199));
        assert_eq!(count(&fired), 1);
    }

    #[test]
    fn a_timer_that_is_moved_earlier_has_one_entry() {
        let timers = Timers::new(|| ());
        let (fired, timer) = timer(&timers);
        [300, 200, 100].iter().for_each(|&nanos| timer.set(Some(at(nanos))));
        assert_eq!(timers.queue.lock().heap.len(), 1);
        timers.fire(at(100));
        timers.fire(at(300));
        assert_eq!(count(&fired), 1);
    }

    #[test]
    fn a_stopped_or_dropped_timer_does_not_fire() {
        let timers = Timers::new(|| ());
        let (fired, stopped) = timer(&timers);
        let (other, dropped) = timer(&timers);
        stopped.set(Some(at(5)));
        dropped.set(Some(at(5)));
        stopped.set(None);
        drop(dropped);
        timers.fire(at(10));
        assert_eq!((count(&fired), count(&other)), (0, 0));
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn many_timers_fire_in_order_despite_moves() {
        let timers = Timers::new(|| ());
        let all: Vec<_> = (0..200).map(|_| timer(&timers)).collect();
        // A full cycle of 211, a prime, so that every timer has its own deadline. Every third one moves up.
        for (index, (_, timer)) in all.iter().enumerate() {
            timer.set(Some(at((index as u64 * 97 % 211 + 1) * 1000)));
        }
        for (index, (_, timer)) in all.iter().enumerate().step_by(3) {
            timer.set(Some(at(index as u64 * 97 % 211 + 1)));
        }
        let mut last = 0;
        while let Some(next) = timers.next() {
            assert!(next.as_nanos() > last);
            last = next.as_nanos();
            timers.fire(next);
        }
        assert!(all.iter().all(|(fired, _)| count(fired) == 1));
    }
}
