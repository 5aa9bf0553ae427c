//! Listeners: a user's closure that is called when something happened, with nothing held.
//!
//! A [`Listener`] is marked by an actor and run later, by the effects loop of the frame that marked it (`Inline`) or by
//! the participant's event thread. Calls of one listener never overlap: who finds it running leaves a mark, and the
//! running call repeats. A panic in it detaches the closure and nothing else.

use crate::actor::{Deferred, Effects};
use crate::sync::{Arc, AtomicBool, AtomicU32, Lock, Mutation, Ordering, full_fence, mutated};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How often one call of [`Listener::run`] repeats before it leaves the rest to the event thread.
const REPEATS_MAX: usize = 32;

/// On which thread a listener is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// On the participant's event thread, which starts with its first listener. It may block there; other listeners of
    /// the participant wait meanwhile. Costs one thread hop.
    #[default]
    EventThread,
    /// On the thread that delivers: the receive thread for data from other processes, the writing thread for data of
    /// this process. No hop, but: do not block, and do not hold a lock around `write` that a listener of this process
    /// takes. A blocking wait inside answers [`WouldDeadlock`](crate::WaitErrorKind::WouldDeadlock).
    Inline,
}

/// What happened, as bits: so that what happens several times before the listener runs is told once.
pub(crate) mod mark {
    pub(crate) const DATA: u32 = 1;
    pub(crate) const MATCHED: u32 = 2;
    pub(crate) const INCOMPATIBLE_QOS: u32 = 4;
    pub(crate) const SAMPLE_LOST: u32 = 8;
    pub(crate) const SAMPLE_REJECTED: u32 = 16;
    /// Samples were read or taken: no status, but their states have changed.
    pub(crate) const SELECTED: u32 = 1 << 30;
    /// No status, but something that every observer should look at, such as the end of the entity.
    pub(crate) const LOOK_AGAIN: u32 = 1 << 31;
}

/// The user's closure with all it needs bound into it; called with the marks.
pub(crate) type Callback = Box<dyn FnMut(u32) + Send>;

/// Where listeners are sent that are not called inline.
pub(crate) trait EventQueue: Send + Sync {
    /// Runs `listener` on the event thread, soon.
    fn enqueue(&self, listener: Arc<Listener>);
}

/// A listener of one entity.
pub(crate) struct Listener {
    marks: AtomicU32,
    /// Set while the listener waits in the event thread's queue, so that it stands there once.
    queued: AtomicBool,
    /// Held during a call; `None` once the closure has panicked or the entity is closed.
    callback: Lock<Option<Callback>>,
    closed: AtomicBool,
    delivery: Delivery,
    /// Where it is sent, if not inline; an inline one that repeats too often goes there as well.
    queue: Arc<dyn EventQueue>,
    name: &'static str,
}

impl Listener {
    pub(crate) fn new(
        name: &'static str,
        callback: Callback,
        delivery: Delivery,
        queue: Arc<dyn EventQueue>,
    ) -> Arc<Self> {
        Arc::new(Self {
            marks: AtomicU32::new(0),
            queued: AtomicBool::new(false),
            callback: Lock::new(Some(callback)),
            closed: AtomicBool::new(false),
            delivery,
            queue,
            name,
        })
    }

    /// Notes that `mark` happened. To be called in a cell; the effects run it afterwards.
    pub(crate) fn mark(self: &Arc<Self>, mark: u32, effects: &mut Effects) {
        self.marks.fetch_or(mark, Ordering::AcqRel);
        effects.defer(Arc::clone(self) as Arc<dyn Deferred>);
    }

    /// No call starts after this returns; one that is running ends, then the closure is dropped.
    pub(crate) fn close(&self) {
        self.closed.swap(true, Ordering::AcqRel);
        self.let_others_see();
        // If a call is running, it sees `closed` when it ends and drops the closure itself.
        if let Some(mut callback) = self.callback.try_lock() {
            let closure = callback.take();
            drop(callback);
            drop(closure);
        }
    }

    /// Between a change and a `try_lock`, and between an unlock and a look: either whoever leaves sees the change, or
    /// whoever made it finds the lock free. As in a cell.
    fn let_others_see(&self) {
        if !mutated(Mutation::NoFence) {
            full_fence();
        }
    }

    /// Calls the closure until there is no mark left, unless another thread does so already.
    pub(crate) fn call(self: &Arc<Self>) {
        for _ in 0..REPEATS_MAX {
            self.let_others_see();
            let closed = self.closed.load(Ordering::Acquire);
            if self.marks.load(Ordering::Acquire) == 0 && !closed {
                return;
            }
            // The thread that runs it looks once more when it has let go.
            let Some(mut callback) = self.callback.try_lock() else { return };
            let marks = self.marks.swap(0, Ordering::AcqRel);
            let detached = if marks == 0 && !closed { None } else { self.call_once(&mut callback, marks) };
            drop(callback);
            drop(detached);
            if closed {
                return;
            }
        }
        self.enqueue();
    }

    fn enqueue(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.queue.enqueue(Arc::clone(self));
        }
    }

    /// One call. Returns the closure if it must go: it is dropped by the caller with nothing held.
    fn call_once(&self, callback: &mut Option<Callback>, marks: u32) -> Option<Callback> {
        if self.closed.load(Ordering::Acquire) {
            return callback.take();
        }
        let closure = callback.as_mut()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| closure(marks)));
        if let Err(panic) = outcome {
            let message = panic_message(panic.as_ref());
            tracing::error!(listener = self.name, message, "a listener panicked and was detached");
            return callback.take();
        }
        if self.closed.load(Ordering::Acquire) { callback.take() } else { None }
    }

    /// To be called by the event thread before [`Listener::call`].
    pub(crate) fn dequeued(&self) {
        self.queued.store(false, Ordering::Release);
    }
}

impl Deferred for Listener {
    fn run(self: Arc<Self>, _effects: &mut Effects) {
        match self.delivery {
            Delivery::Inline => self.call(),
            Delivery::EventThread => self.enqueue(),
        }
    }

    fn hand_over(self: Arc<Self>) {
        self.enqueue();
    }
}

/// The text of a panic, where it has one.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    /// A queue that remembers how many were sent to it.
    #[derive(Default)]
    struct Queue(AtomicU32);

    impl EventQueue for Queue {
        fn enqueue(&self, _listener: Arc<Listener>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn inline(callback: Callback) -> Arc<Listener> {
        Listener::new("test", callback, Delivery::Inline, Arc::new(Queue::default()))
    }

    fn counting(calls: &Arc<AtomicU32>) -> Callback {
        let calls = Arc::clone(calls);
        Box::new(move |marks| {
            calls.fetch_add(marks, Ordering::Relaxed);
        })
    }

    #[test]
    fn marks_made_before_the_call_are_told_once() {
        let calls = Arc::new(AtomicU32::new(0));
        let listener = inline(counting(&calls));
        listener.marks.fetch_or(mark::DATA | mark::MATCHED, Ordering::AcqRel);
        listener.call();
        listener.call();
        assert_eq!(calls.load(Ordering::Relaxed), mark::DATA | mark::MATCHED);
    }

    #[test]
    fn a_panic_detaches_the_closure_and_nothing_else() {
        let listener = inline(Box::new(|_| panic!("on purpose")));
        listener.marks.store(mark::DATA, Ordering::Release);
        listener.call();
        assert!(listener.callback.lock().is_none());
        listener.marks.store(mark::DATA, Ordering::Release);
        listener.call();
    }

    #[test]
    fn nothing_is_called_after_close() {
        let calls = Arc::new(AtomicU32::new(0));
        let listener = inline(counting(&calls));
        listener.close();
        listener.marks.store(mark::DATA, Ordering::Release);
        listener.call();
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::sync::mutate;
    use loom::thread;

    struct NoQueue;
    impl EventQueue for NoQueue {
        fn enqueue(&self, _listener: Arc<Listener>) {}
    }

    fn listener() -> Arc<Listener> {
        Listener::new("model", Box::new(|_| ()), Delivery::Inline, Arc::new(NoQueue))
    }

    fn mark(listener: &Arc<Listener>, mark: u32) {
        listener.marks.fetch_or(mark, Ordering::AcqRel);
        listener.call();
    }

    /// Two threads deliver at once: when both are done, each mark has been told.
    fn marks_of_two_threads() {
        let listener = listener();
        let other = Arc::clone(&listener);
        let other = thread::spawn(move || mark(&other, mark::DATA));
        mark(&listener, mark::MATCHED);
        other.join().unwrap();
        assert_eq!(listener.marks.load(Ordering::Acquire), 0, "untold");
    }

    /// The closure goes with the later of a close and a call.
    fn a_close_beside_a_call() {
        let listener = listener();
        let other = Arc::clone(&listener);
        let other = thread::spawn(move || mark(&other, mark::DATA));
        listener.close();
        other.join().unwrap();
        assert!(listener.callback.lock().is_none(), "kept");
    }

    #[test]
    fn no_mark_is_lost() {
        loom::model(marks_of_two_threads);
    }

    #[test]
    fn a_closed_listener_keeps_no_closure() {
        loom::model(a_close_beside_a_call);
    }

    #[test]
    #[should_panic(expected = "untold")]
    fn without_fences_a_mark_is_lost() {
        mutate(Mutation::NoFence);
        loom::model(marks_of_two_threads);
    }

    #[test]
    #[should_panic(expected = "kept")]
    fn without_fences_a_closure_is_kept() {
        mutate(Mutation::NoFence);
        loom::model(a_close_beside_a_call);
    }
}
