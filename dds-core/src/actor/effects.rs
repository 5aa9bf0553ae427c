//! Work that remains once no cell is held.
//!
//! Handlers collect it, and [`Effects::scope`] in the outermost function runs it. All pokes come first, then the
//! wakers. Deferred user code follows, one job at a time, and the pokes it caused run after each job.
//!
//! This is a loop, not recursion, so a chain of any length needs no stack. Lists keep their first entries in place (32
//! pokes: that many local readers of one write) and use the heap beyond that. So the steady state allocates nothing.

use super::Poke;
use crate::sync::{Arc, InCell, InListener, Mutation, mutated};
use dds_rtps::types::Now;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Number of deferred jobs that one frame runs before it hands over the rest.
///
/// Inline listeners may write to each other without end, and the call of the first writer must return.
const JOBS_MAX: usize = 32;

/// User code that must wait until no cell is held: usually a listener with a changed status.
///
/// Several threads may call `run` of one job at the same time. A job that must not overlap has to ensure that itself.
///
/// `marks` are the bits given to [`Effects::defer_marked`], or 0.
pub trait Deferred: Send + Sync {
    /// Does the work. The caller catches and logs panics.
    fn run(self: Arc<Self>, marks: u32, effects: &mut Effects);

    /// Hands the work to another thread, because this one has done its share.
    ///
    /// By default it runs here, in a frame of its own. For work that ends by itself.
    fn hand_over(self: Arc<Self>, marks: u32) {
        Effects::scope(|effects| self.run(marks, effects));
    }
}

/// A deferred job and its argument.
struct Job {
    work: Arc<dyn Deferred>,
    marks: u32,
}

/// Whether the calling thread runs an inline listener. Blocking waits must be refused there.
#[must_use]
pub fn in_listener() -> bool {
    InListener::is_set()
}

thread_local! {
    /// Deferred work of a call that deferred work made.
    ///
    /// The frame below runs it after the caller has returned. Only that frame reads and empties the list.
    static HANDED_DOWN: RefCell<Vec<Job>> = const { RefCell::new(Vec::new()) };
}

/// Fate of a waker that a handler removed. In both cases code of the application runs.
enum WakerEnd {
    Wake(Waker),
    Drop(Waker),
}

/// Work that a visit leaves for after the cell is released. Lives on the stack of the outermost function.
pub struct Effects {
    /// Time at which this frame last read the clocks.
    now: Option<Now>,
    pokes: Queue<Arc<dyn Poke>, 32>,
    wakers: Queue<WakerEnd, 8>,
    jobs: Queue<Job, 16>,
}

impl Effects {
    /// Calls `f` and then runs the effects that it has collected, even if `f` panics.
    #[inline]
    pub fn scope<R>(f: impl FnOnce(&mut Self) -> R) -> R {
        // Built in place. Returning it from a constructor would move it, which costs as much as a visit.
        let mut frame = ScopeGuard(Self {
            now: None,
            pokes: Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 },
            wakers: Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 },
            jobs: Queue { only: None, is_spread: false, items: SmallVec::new(), next: 0 },
        });
        let result = f(&mut frame.0);
        if !frame.0.is_empty() {
            frame.0.run();
        }
        // Dropping empty lists costs seventy instructions.
        if frame.0.holds_nothing() {
            std::mem::forget(frame);
        }
        result
    }

    /// The time that this frame has read before, or reads now.
    ///
    /// Use it for approximate times, such as the time of reception within the process. Code that assigns ordered
    /// timestamps uses [`Effects::read_clock`].
    #[inline]
    pub fn now(&mut self, read: impl FnOnce() -> Now) -> Now {
        *self.now.get_or_insert_with(read)
    }

    /// Reads the clocks. The rest of the frame uses the result as well.
    #[inline]
    pub fn read_clock(&mut self, read: impl FnOnce() -> Now) -> Now {
        *self.now.insert(read())
    }

    /// Pokes `cell` after release.
    #[inline]
    pub fn poke(&mut self, cell: Arc<dyn Poke>) {
        // Several samples for one reader usually follow each other.
        match self.pokes.last() {
            Some(last) if Arc::ptr_eq(last, &cell) => {}
            _ => self.pokes.push(cell),
        }
    }

    /// Calls `waker` after all pokes.
    #[inline]
    pub fn wake(&mut self, waker: Waker) {
        self.wakers.push(WakerEnd::Wake(waker));
    }

    /// Drops `waker` outside of all cells, because its drop may run user code.
    #[inline]
    pub fn discard(&mut self, waker: Waker) {
        self.wakers.push(WakerEnd::Drop(waker));
    }

    /// Runs `work` after all pokes and wakers.
    #[inline]
    pub fn defer(&mut self, work: Arc<dyn Deferred>) {
        self.jobs.push(Job { work, marks: 0 });
    }

    /// Runs `work` with `marks` after all pokes and wakers.
    ///
    /// Consecutive calls for the same work become one run with the union of their marks.
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

    /// Whether there are no items and no memory to drop.
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
            // Pokes first: a listener may look at a reader, and must find the samples that its writer handed over.
            while let Some(cell) = self.pokes.pop() {
                cell.poke(self);
            }
            // One at a time, so that a panicking waker affects no other one.
            while let Some(waker) = self.wakers.pop() {
                match waker {
                    WakerEnd::Wake(waker) => shield("waker", || waker.wake()),
                    WakerEnd::Drop(waker) => shield("waker", || drop(waker)),
                }
            }
            let Some(job) = self.jobs.pop() else { break };
            // Beyond the limit another thread runs the job.
            if jobs_done == JOBS_MAX {
                shield("listener", || job.work.hand_over(job.marks));
            } else if self.run_job(job) {
                jobs_done += 1;
            }
            if self.is_empty() {
                // Usually a listener caused no further effects.
                break;
            }
        }
    }

    /// Runs a job. Returns false if the frame below has to run it.
    fn run_job(&mut self, job: Job) -> bool {
        let Some(inside) = InListener::enter() else {
            // A listener that writes must not run the next listener on its own stack.
            hand_down(job);
            return false;
        };
        shield("listener", || job.work.run(job.marks, self));
        // The job may have taken long, so the next `now` reads the clock again.
        self.now = None;
        drop(inside);
        let _ = HANDED_DOWN.try_with(|jobs| {
            // Usually the job called nothing. The check costs less than draining an empty list.
            if !jobs.borrow().is_empty() {
                for job in jobs.borrow_mut().drain(..) {
                    self.jobs.push(job);
                }
            }
        });
        true
    }
}

fn hand_down(job: Job) {
    let mut job = Some(job);
    let _ = HANDED_DOWN.try_with(|jobs| jobs.borrow_mut().extend(job.take()));
    // The thread is ending and its list no longer exists.
    if let Some(job) = job {
        shield("listener", || job.work.hand_over(job.marks));
    }
}

/// Stops a panic of user code, so that it does not unwind into an unrelated call.
fn shield(what: &'static str, f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        let message = panic_message(panic.as_ref());
        tracing::error!(what, message, "panic in the application's code; it goes no further");
    }
}

/// Returns the text of a panic, if it has one.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return text;
    }
    match panic.downcast_ref::<String>() {
        Some(text) => text,
        None => "a panic without a message",
    }
}

struct ScopeGuard(Effects);

impl Drop for ScopeGuard {
    #[inline]
    fn drop(&mut self) {
        // Not empty only if the visitor panicked. Its pokes and wakers belong to other entities, which must not stall.
        if !self.0.is_empty() {
            self.0.run();
        }
    }
}

/// FIFO queue with its first entries in place. Memory is bounded by the present content, not by the throughput.
struct Queue<T, const N: usize> {
    /// The oldest item, if it is the only one. Most frames never have a second one.
    only: Option<T>,
    /// Set once there was a second item. Until then `items` is not read.
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

    /// Whether there are no items and no memory to drop.
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

    /// Whether `items` contains something.
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
        // Reuse the popped half before the list grows.
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
        // Take the item and keep its slot: moving the rest up would cost a copy for each pop.
        let item = self.items.get_mut(self.next).and_then(Option::take);
        self.next += 1;
        if self.next >= self.items.len() {
            self.items.clear();
            self.next = 0;
        }
        item
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
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
    fn panicking_job_does_not_stop_other_jobs() {
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
