//! What is left to do once no cell is held.
//!
//! Handlers fill it; [`Effects::scope`], in the outermost function, carries it out: first every poke, then the wakers, then
//! deferred user code one by one, each followed by the pokes that it caused. A loop, never recursion, so a chain of any
//! length needs no stack. Lists keep their first entries in place (32 pokes, that many local readers of one write) and go to
//! the heap beyond that: steady state allocates nothing.

use super::Poke;
use crate::sync::{Arc, InCell, InListener, Mutation, mutated};
use dds_rtps::types::Now;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// How many deferred jobs one frame runs before it hands the rest over: a writer whose inline listeners write back and
/// forth must return to its caller some time.
const JOBS_MAX: usize = 32;

/// User code that must wait until no cell is held: mostly a listener that has been marked.
///
/// Calls of one job may come from several threads at once; what may not overlap has to see to that itself.
///
/// `marks` are what was said with it by [`Effects::defer_marked`], 0 if nothing was.
pub trait Deferred: Send + Sync {
    /// Does the work. Panics are caught and logged.
    fn run(self: Arc<Self>, marks: u32, effects: &mut Effects);

    /// Hands the work to another thread, for this one has done enough of it.
    fn hand_over(self: Arc<Self>, marks: u32);
}

/// A deferred job, and what it is told.
struct Job {
    work: Arc<dyn Deferred>,
    marks: u32,
}

/// Whether the calling thread runs an inline listener, in which a blocking wait must be refused.
#[must_use]
pub fn in_listener() -> bool {
    InListener::is_set()
}

thread_local! {
    /// Deferred work of a call that was made by deferred work: the frame below runs it, after the caller has returned.
    /// Touched only then, and emptied by that frame.
    static HANDED_DOWN: RefCell<Vec<Job>> = const { RefCell::new(Vec::new()) };
}

/// What becomes of a waker that a handler gave up. Either way it is the application's code that runs.
enum WakerEnd {
    Wake(Waker),
    Drop(Waker),
}

/// What a visit to a cell leaves to be done outside of it. Lives on the stack of the outermost function.
pub struct Effects {
    /// What the clocks said when this frame last read them.
    now: Option<Now>,
    pokes: Queue<Arc<dyn Poke>, 32>,
    wakers: Queue<WakerEnd, 8>,
    jobs: Queue<Job, 16>,
}

impl Effects {
    /// Calls `f` and then carries out the effects that it has collected, even if it panics.
    #[inline]
    pub fn scope<R>(f: impl FnOnce(&mut Self) -> R) -> R {
        // Made in place: moving it, which is what returning it from a constructor comes to, costs as much as a visit.
        let mut frame = Frame(Self {
            now: None,
            pokes: Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 },
            wakers: Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 },
            jobs: Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 },
        });
        let result = f(&mut frame.0);
        if !frame.0.is_empty() {
            frame.0.run();
        }
        // Dropping lists that hold nothing costs seventy instructions.
        if frame.0.holds_nothing() {
            std::mem::forget(frame);
        }
        result
    }

    /// The time, as this frame has read it before, or read now. For what only has to be about right, such as the time of
    /// reception within the process; whoever gives out timestamps in an order reads anew, by [`Effects::read_clock`].
    #[inline]
    pub fn now(&mut self, read: impl FnOnce() -> Now) -> Now {
        *self.now.get_or_insert_with(read)
    }

    /// The time, read now; the rest of the frame uses it as well.
    #[inline]
    pub fn read_clock(&mut self, read: impl FnOnce() -> Now) -> Now {
        *self.now.insert(read())
    }

    /// Pokes `cell` after release.
    #[inline]
    pub fn poke(&mut self, cell: Arc<dyn Poke>) {
        // Several samples to one reader come one after the other.
        if !self.pokes.last().is_some_and(|last| Arc::ptr_eq(last, &cell)) {
            self.pokes.push(cell);
        }
    }

    /// Calls `waker` after all pokes.
    #[inline]
    pub fn wake(&mut self, waker: Waker) {
        self.wakers.push(WakerEnd::Wake(waker));
    }

    /// Drops `waker` where user code may run.
    #[inline]
    pub fn discard(&mut self, waker: Waker) {
        self.wakers.push(WakerEnd::Drop(waker));
    }

    /// Runs `job` after all pokes and wakers.
    #[inline]
    pub fn defer(&mut self, work: Arc<dyn Deferred>) {
        self.jobs.push(Job { work, marks: 0 });
    }

    /// Runs `work` after all pokes and wakers, and tells it of `marks`: once for all that follow each other here.
    #[inline]
    pub fn defer_marked<D: Deferred + 'static>(&mut self, work: &Arc<D>, marks: u32) {
        match self.jobs.last_mut() {
            Some(last) if std::ptr::addr_eq(Arc::as_ptr(&last.work), Arc::as_ptr(work)) => last.marks |= marks,
            _ => self.jobs.push(Job { work: Arc::clone(work) as Arc<dyn Deferred>, marks }),
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.pokes.is_empty() && self.wakers.is_empty() && self.jobs.is_empty()
    }

    /// Whether there is nothing to be dropped, neither items nor memory.
    #[inline]
    fn holds_nothing(&self) -> bool {
        self.pokes.is_untouched() && self.wakers.is_untouched() && self.jobs.is_untouched()
    }

    fn run(&mut self) {
        debug_assert!(!InCell::is_set(), "effects are carried out outside of all cells");
        let mut jobs_done = 0;
        loop {
            if mutated(Mutation::JobsFirst) {
                while let Some(job) = self.jobs.pop() {
                    self.run_job(job);
                }
            }
            while let Some(cell) = self.pokes.pop() {
                cell.poke(self);
            }
            // One by one, so that a waker that panics takes no other with it.
            while let Some(waker) = self.wakers.pop() {
                match waker {
                    WakerEnd::Wake(waker) => shield("waker", || waker.wake()),
                    WakerEnd::Drop(waker) => shield("waker", || drop(waker)),
                }
            }
            let Some(job) = self.jobs.pop() else { break };
            if jobs_done == JOBS_MAX {
                shield("listener", || job.work.hand_over(job.marks));
            } else if self.run_job(job) {
                jobs_done += 1;
            }
            if self.is_empty() {
                // Mostly a listener has caused nothing.
                break;
            }
        }
    }

    /// False if it was left to the frame below.
    fn run_job(&mut self, job: Job) -> bool {
        let Some(inside) = InListener::enter() else {
            hand_down(job);
            return false;
        };
        shield("listener", || job.work.run(job.marks, self));
        // It may have taken its time.
        self.now = None;
        drop(inside);
        let _ = HANDED_DOWN.try_with(|jobs| {
            // Mostly it has called nothing; looking costs less than draining what is empty.
            if !jobs.borrow().is_empty() {
                jobs.borrow_mut().drain(..).for_each(|job| self.jobs.push(job));
            }
        });
        true
    }
}

fn hand_down(job: Job) {
    let mut job = Some(job);
    let _ = HANDED_DOWN.try_with(|jobs| jobs.borrow_mut().extend(job.take()));
    // The thread is ending and has no list any more.
    if let Some(job) = job {
        shield("listener", || job.work.hand_over(job.marks));
    }
}

/// Keeps a panic of foreign code from unwinding into a call that has nothing to do with it.
fn shield(what: &'static str, f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        let message = panic_message(panic.as_ref());
        tracing::error!(what, message, "panic in the application's code; it goes no further");
    }
}

pub(super) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

struct Frame(Effects);

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_empty() {
            self.0.run();
        }
    }
}

/// First in, first out, with the first entries in place. Its memory is bounded by what is in it, not by what went through.
struct Queue<T, const N: usize> {
    /// The oldest item, if it is the only one; most frames never have a second one.
    only: Option<T>,
    /// There has been a second one. As long as there has not, nobody looks at `items`.
    is_spread: bool,
    items: SmallVec<[Option<T>; N]>,
    /// Index of the first item that has not been popped.
    next: usize,
}

impl<T, const N: usize> Queue<T, N> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.only.is_none() && !self.has_second()
    }

    /// Whether there is nothing to be dropped, neither items nor memory.
    #[inline]
    fn is_untouched(&self) -> bool {
        self.only.is_none() && !self.is_spread
    }

    #[inline]
    fn last(&self) -> Option<&T> {
        if self.has_second() { self.items.last().and_then(Option::as_ref) } else { self.only.as_ref() }
    }

    #[inline]
    fn last_mut(&mut self) -> Option<&mut T> {
        if self.has_second() { self.items.last_mut().and_then(Option::as_mut) } else { self.only.as_mut() }
    }

    /// Whether there is something in `items`.
    #[inline]
    fn has_second(&self) -> bool {
        self.is_spread && !self.items.is_empty()
    }

    #[inline]
    fn push(&mut self, item: T) {
        if self.is_empty() {
            self.only = Some(item);
        } else {
            self.push_behind(item);
        }
    }

    #[cold]
    fn push_behind(&mut self, item: T) {
        self.is_spread = true;
        if self.items.len() == self.items.capacity() && self.next >= self.items.len() / 2 {
            self.items.drain(..self.next);
            self.next = 0;
        }
        self.items.push(Some(item));
    }

    #[inline]
    fn pop(&mut self) -> Option<T> {
        if let Some(only) = self.only.take() {
            return Some(only);
        }
        if self.has_second() { self.pop_behind() } else { None }
    }

    fn pop_behind(&mut self) -> Option<T> {
        let item = self.items.get_mut(self.next).and_then(Option::take);
        self.next += 1;
        if self.next >= self.items.len() {
            self.items.clear();
            self.next = 0;
        }
        item
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use crate::actor::Signals;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Log(Mutex<Vec<&'static str>>);

    impl Log {
        fn note(&self, what: &'static str) {
            self.0.lock().unwrap().push(what);
        }
        fn taken(&self) -> Vec<&'static str> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    struct Note<F>(Arc<Log>, F);

    impl<F: Fn(&Log, &mut Effects) + Send + Sync + 'static> Deferred for Note<F> {
        fn run(self: Arc<Self>, _: u32, effects: &mut Effects) {
            (self.1)(&self.0, effects);
        }
        fn hand_over(self: Arc<Self>, _: u32) {
            self.0.note("handed over");
        }
    }

    impl<F: Fn(&Log, &mut Effects) + Send + Sync + 'static> Poke for Note<F> {
        fn poke(self: Arc<Self>, effects: &mut Effects) {
            (self.1)(&self.0, effects);
        }
        fn resume(self: Arc<Self>, effects: &mut Effects) {
            self.poke(effects);
        }
        fn signal(&self, _: Signals) {}
    }

    impl<F: Fn(&Log, &mut Effects) + Send + Sync + 'static> std::task::Wake for Note<F> {
        fn wake(self: Arc<Self>) {
            Effects::scope(|effects| (self.1)(&self.0, effects));
        }
    }

    #[test]
    fn user_code_waits_for_all_pokes() {
        let log = Arc::new(Log::default());
        Effects::scope(|effects| {
            effects.defer(Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("listener"))));
            effects.wake(Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("waker"))).into());
            let late = Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("second poke")));
            let first = move |log: &Log, effects: &mut Effects| {
                log.note("first poke");
                effects.poke(late.clone());
            };
            effects.poke(Arc::new(Note(Arc::clone(&log), first)));
        });
        assert_eq!(log.taken(), ["first poke", "second poke", "waker", "listener"]);
    }

    #[test]
    fn a_listener_that_writes_finishes_before_the_listeners_of_its_write() {
        let log = Arc::new(Log::default());
        let inner = Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("inner")));
        let outer = move |log: &Log, _: &mut Effects| {
            assert!(in_listener());
            log.note("outer begins");
            Effects::scope(|effects| effects.defer(inner.clone()));
            log.note("outer ends");
        };
        Effects::scope(|effects| effects.defer(Arc::new(Note(Arc::clone(&log), outer))));
        assert_eq!(log.taken(), ["outer begins", "outer ends", "inner"]);
        assert!(!in_listener());
    }

    #[test]
    fn a_frame_runs_a_bounded_number_of_listeners() {
        struct Forever(AtomicUsize, AtomicUsize);
        impl Deferred for Forever {
            fn run(self: Arc<Self>, _: u32, _: &mut Effects) {
                self.0.fetch_add(1, Ordering::Relaxed);
                Effects::scope(|effects| effects.defer(self));
            }
            fn hand_over(self: Arc<Self>, _: u32) {
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
        let forever = Arc::new(Forever(AtomicUsize::new(0), AtomicUsize::new(0)));
        Effects::scope(|effects| effects.defer(Arc::clone(&forever) as Arc<dyn Deferred>));
        assert_eq!(forever.0.load(Ordering::Relaxed), JOBS_MAX);
        assert_eq!(forever.1.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn panicking_user_code_takes_nobody_else_with_it() {
        let log = Arc::new(Log::default());
        Effects::scope(|effects| {
            effects.defer(Arc::new(Note(Arc::clone(&log), |_: &Log, _: &mut Effects| panic!("on purpose"))));
            effects.defer(Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("next"))));
            effects.wake(Arc::new(Note(Arc::clone(&log), |_: &Log, _: &mut Effects| panic!("on purpose"))).into());
            effects.wake(Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("waker"))).into());
        });
        assert_eq!(log.taken(), ["waker", "next"]);
        assert!(!in_listener());
    }

    #[test]
    fn effects_are_carried_out_though_the_frame_panics() {
        let log = Arc::new(Log::default());
        let poke = Arc::new(Note(Arc::clone(&log), |log: &Log, _: &mut Effects| log.note("poked")));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            Effects::scope(|effects| {
                effects.poke(poke);
                panic!("on purpose");
            });
        }));
        assert!(outcome.is_err());
        assert_eq!(log.taken(), ["poked"]);
    }

    #[test]
    fn marks_of_one_job_add_up_and_others_keep_their_place() {
        #[derive(Default)]
        struct Told(Mutex<Vec<u32>>);
        impl Deferred for Told {
            fn run(self: Arc<Self>, marks: u32, _: &mut Effects) {
                self.0.lock().unwrap().push(marks);
            }
            fn hand_over(self: Arc<Self>, _: u32) {}
        }
        let (first, second) = (Arc::new(Told::default()), Arc::new(Told::default()));
        Effects::scope(|effects| {
            effects.defer_marked(&first, 1);
            effects.defer_marked(&first, 4);
            effects.defer_marked(&second, 2);
            effects.defer_marked(&second, 2);
            effects.defer_marked(&first, 8);
        });
        assert_eq!(*first.0.lock().unwrap(), [5, 8]);
        assert_eq!(*second.0.lock().unwrap(), [2]);
    }

    #[test]
    fn a_queue_keeps_no_more_memory_than_its_content_needs() {
        let mut queue: Queue<u32, 4> = Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 };
        (0..3).for_each(|item| queue.push(item));
        for item in 0..10_000 {
            assert_eq!(queue.pop(), Some(item));
            queue.push(item + 3);
        }
        assert!(queue.items.capacity() <= 16, "{}", queue.items.capacity());
    }
}
