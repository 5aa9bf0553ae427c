//! Listeners: closures of the application that report events. No lock is held during a call.
//!
//! An actor marks a [`Listener`], and the call comes later. For `Inline`, the effects loop of the marking frame calls
//! it. Otherwise the participant's event thread does. Calls of one listener never overlap. A thread that finds it
//! running leaves a mark, and the running call repeats. A panic in it detaches the closure and has no other effect.

use crate::actor::{Deferred, Effects, panic_message};
use crate::infrastructure::{Ending, Stake};
use crate::sync::{Arc, AtomicBool, AtomicU32, Lock, Mutation, Ordering, full_fence, mutated};
use dds_rtps::types::{Duration, Now};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Repeats of one [`Listener::run`]. The event thread continues afterward.
const REPEATS_MAX: usize = 32;

/// A longer inline call delays the delivering thread: a receive thread, or a thread that writes.
const LONG_INLINE_CALL: Duration = Duration::from_millis(1);

/// After this many short calls in a row, only some calls are timed.
///
/// Reading the clock takes a tenth of the time that a sample takes from `write` to a listener.
const SHORT_CALLS: u32 = 64;

/// One call in this many is timed then.
const TIMED: u32 = 16;

/// The thread that calls a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Delivery {
    /// On the participant's event thread, which starts with its first listener.
    ///
    /// The listener may block, also to wait for another listener. Other listeners of the participant wait until it
    /// returns. After 100 ms, another thread calls them. At most 8 threads of a participant call listeners.
    ///
    /// So take one batch in a call: a loop until the reader is empty never ends beside a faster writer. A call costs
    /// one thread switch.
    #[default]
    EventThread,
    /// On the thread that delivers the event, without a thread switch.
    ///
    /// Data of other processes arrives on the receive thread. With
    /// [`Receiving::Caller`](crate::config::Receiving::Caller) it arrives on a thread that waits. Data of this process
    /// arrives on the writing thread. The listener must not block. Do not hold a lock during `write` that a listener of
    /// this process takes.
    ///
    /// A blocking wait inside fails with [`InListener`](crate::error::WaitErrorKind::InListener). A `write` that would
    /// block fails with [`Full`](crate::error::WriteErrorKind::Full).
    ///
    /// Calls are timed. After 64 short calls in a row, only every 16th call is timed. A call of more than 1 ms is
    /// counted, and the first one of a listener logs a warning. See
    /// [`ListenerCounters`](crate::stats::ListenerCounters).
    ///
    /// If a listener writes, inline listeners are notified after it has returned. A thread makes at most 32 such calls
    /// of one listener in a row, for at most 32 listeners in turn. The event thread makes the rest, one call of each
    /// listener in turn.
    Inline,
}

/// Counters of the listeners of a participant.
///
/// [`DomainParticipant::listener_counters`](crate::DomainParticipant::listener_counters) returns them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ListenerCounters {
    /// Timed calls of [`Inline`](Delivery::Inline) listeners that took more than 1 ms and delayed the delivering
    /// thread.
    pub long_inline_calls: u64,
    /// Calls on the event thread that took more than 100 ms. Other listeners wait that long for another thread.
    pub long_event_calls: u64,
    /// Listeners that panicked and were removed.
    pub panics: u64,
}

/// Events as bits. Repeated events of one kind before the call are reported once.
pub(crate) mod mark {
    pub(crate) const DATA: u32 = 1;
    pub(crate) const MATCHED: u32 = 2;
    pub(crate) const INCOMPATIBLE_QOS: u32 = 4;
    pub(crate) const SAMPLE_LOST: u32 = 8;
    pub(crate) const SAMPLE_REJECTED: u32 = 16;
    /// A reader of a subscriber has data.
    pub(crate) const DATA_ON_READERS: u32 = 32;
    pub(crate) const INCONSISTENT_TOPIC: u32 = 64;
    /// Vendor status: a writer no longer waits for a slow reader, or waits for it again.
    pub(crate) const SLOW_READER: u32 = 1 << 24;
    pub(crate) const LIVELINESS_LOST: u32 = 512;
    pub(crate) const LIVELINESS_CHANGED: u32 = 1024;
    pub(crate) const DEADLINE_MISSED: u32 = 2048;
    /// Not a status, but an event: a listener has panicked.
    pub(crate) const LISTENER_PANICKED: u32 = 1 << 28;
    /// A member of the group that this listener serves has a mark.
    pub(crate) const MEMBER: u32 = 1 << 29;
    /// Samples were read or taken. Not a status, but the states of samples have changed.
    pub(crate) const SELECTED: u32 = 1 << 30;
    /// Not a status. Every observer must look again, for example because the entity is closed.
    pub(crate) const LOOK_AGAIN: u32 = 1 << 31;
}

/// The closure of the application, with its arguments bound.
pub(crate) trait Callback: Send {
    /// Reports the events in `marks` to the application.
    fn call(&mut self, marks: u32);

    /// Handles a panic of a call. No further call follows. The caller must hold no lock.
    fn panicked(&mut self, message: &str);
}

/// Queue of listeners that are not called inline, and the counters of all listeners.
pub(crate) trait EventQueue: Send + Sync {
    /// Calls `listener` on the event thread, soon.
    fn enqueue(&self, listener: Arc<Listener>);

    fn now(&self) -> Now;

    /// Counts an inline call that took too long.
    fn note_long_call(&self);

    fn note_panic(&self);
}

/// A callback and its stake in the end of the entity.
struct Attached {
    callback: Box<dyn Callback>,
    /// Declared after the callback, so it is dropped after it.
    _stake: Stake,
}

/// A closure that was removed from its listener, and why.
enum Detached {
    Closed(Attached),
    Panicked(Attached, String),
}

/// A listener of one entity.
pub(crate) struct Listener {
    marks: AtomicU32,
    /// Set while the listener is in the event thread's queue, so that it is there once.
    queued: AtomicBool,
    /// Locked during a call. `None` after the closure has panicked or the entity was closed.
    attached: Lock<Option<Attached>>,
    closed: AtomicBool,
    /// A warning was logged about a call that took too long.
    warned: AtomicBool,
    /// Inline calls since the last long one.
    ///
    /// Two threads that count at the same time may count one call. The value only decides how often to read the clock.
    short_calls: AtomicU32,
    ending: Arc<Ending>,
    delivery: Delivery,
    /// Queue for calls that are not inline. Inline listeners that repeat too often use it as well.
    queue: Arc<dyn EventQueue>,
    name: &'static str,
}

impl Listener {
    pub(crate) fn new(
        name: &'static str,
        callback: Box<dyn Callback>,
        delivery: Delivery,
        queue: Arc<dyn EventQueue>,
        ending: &Arc<Ending>,
    ) -> Arc<Self> {
        Arc::new(Self {
            marks: AtomicU32::new(0),
            queued: AtomicBool::new(false),
            attached: Lock::new(Some(Attached { callback, _stake: ending.stake() })),
            closed: AtomicBool::new(false),
            warned: AtomicBool::new(false),
            short_calls: AtomicU32::new(0),
            ending: Arc::clone(ending),
            delivery,
            queue,
            name,
        })
    }

    /// Records `mark`. Called in a cell. The effects carry the mark and run the listener after the cell is released.
    #[inline]
    pub(crate) fn mark(self: &Arc<Self>, mark: u32, effects: &mut Effects) {
        effects.defer_marked(self, mark);
    }

    /// Leaves marks for the next call.
    pub(super) fn leave(&self, marks: u32) {
        if marks != 0 {
            self.marks.fetch_or(marks, Ordering::AcqRel);
        }
    }

    /// Removes and returns the marks that other threads have left.
    fn take_left(&self) -> u32 {
        // The load is cheaper than a swap, and other threads rarely leave a mark.
        if self.marks.load(Ordering::Acquire) == 0 { 0 } else { self.marks.swap(0, Ordering::AcqRel) }
    }

    /// Starts no call after it returns. A running call ends, then the closure is dropped.
    pub(crate) fn close(&self) {
        // A swap, not a store: the fence must follow a read-modify-write.
        self.closed.swap(true, Ordering::AcqRel);
        self.let_others_see();
        // If a call is running, it sees `closed` when it ends and drops the closure itself.
        if let Some(mut attached) = self.attached.try_lock() {
            let detached = attached.take().map(Detached::Closed);
            drop(attached);
            self.free(detached);
        }
    }

    /// Fence between a change and a `try_lock`, and between an unlock and a look.
    ///
    /// Either the thread that unlocks sees the change, or the changing thread finds the lock free. As in a cell.
    fn let_others_see(&self) {
        if !mutated(Mutation::NoFence) {
            full_fence();
        }
    }

    /// Calls the closure with `brought`, until no mark is left, unless another thread is calling it.
    fn call(self: &Arc<Self>, brought: u32) {
        self.call_at_most(REPEATS_MAX, brought);
    }

    /// Calls the closure once with the marks that are left. Must be called by the event thread.
    ///
    /// Marks of the meantime wait in the queue, behind the other listeners.
    pub(crate) fn call_in_turn(self: &Arc<Self>) {
        // Leave the queue before the call, so that a mark during the call queues the listener again.
        self.dequeued();
        self.call_at_most(1, 0);
    }

    fn call_at_most(self: &Arc<Self>, calls_max: usize, mut brought: u32) {
        for calls in 0.. {
            let closed = self.closed.load(Ordering::Acquire);
            if brought == 0 && self.marks.load(Ordering::Acquire) == 0 && !closed {
                return;
            }
            // A closed listener is not called again, and its closure is dropped now.
            if calls >= calls_max && !closed {
                break;
            }
            match self.attached.try_lock() {
                Some(mut attached) => {
                    // Take the marks under the lock, so that one mark is reported by one call.
                    let marks = std::mem::take(&mut brought) | self.take_left();
                    let detached = if marks == 0 && !closed { None } else { self.call_once(&mut attached, marks) };
                    // Code of the application may run in `free`, so release the lock first.
                    drop(attached);
                    self.free(detached);
                    if closed {
                        return;
                    }
                }
                // The running thread looks again after it has released the lock.
                None if brought == 0 => return,
                // The running thread may have looked just before. Leave the marks and try once more.
                None => self.leave(std::mem::take(&mut brought)),
            }
            self.let_others_see();
        }
        // The listener is marked without end. Let the thread go on with its other work.
        self.enqueue();
    }

    fn enqueue(self: &Arc<Self>) {
        // Once in the queue is enough: the call takes all marks.
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.queue.enqueue(Arc::clone(self));
        }
    }

    /// Makes one call. Returns the closure if it must be dropped. The caller drops it without any lock.
    fn call_once(&self, attached: &mut Option<Attached>, marks: u32) -> Option<Detached> {
        if self.closed.load(Ordering::Acquire) {
            return attached.take().map(Detached::Closed);
        }
        // Without a closure, the listener has panicked before.
        let callback = &mut attached.as_mut()?.callback;
        let call = self.ending.enter_call();
        let outcome = catch_unwind(AssertUnwindSafe(|| callback.call(marks)));
        drop(call);
        if let Err(panic) = outcome {
            let message = panic_message(panic.as_ref()).to_owned();
            return Some(Detached::Panicked(attached.take()?, message));
        }
        if self.closed.load(Ordering::Acquire) { attached.take().map(Detached::Closed) } else { None }
    }

    /// Drops the closure, whose drop code belongs to the application as well.
    #[inline]
    fn free(&self, detached: Option<Detached>) {
        if let Some(detached) = detached {
            self.free_outside(detached);
        }
    }

    #[cold]
    fn free_outside(&self, detached: Detached) {
        // The drop of the closure counts as a call, so that it cannot wait for its own end.
        let call = self.ending.enter_call();
        let freed = catch_unwind(AssertUnwindSafe(|| match detached {
            Detached::Closed(attached) => drop(attached),
            Detached::Panicked(mut attached, message) => {
                tracing::error!(listener = self.name, message, "a listener panicked and was detached");
                self.closed.store(true, Ordering::Release);
                self.queue.note_panic();
                attached.callback.panicked(&message);
            }
        }));
        drop(call);
        if let Err(panic) = freed {
            let message = panic_message(panic.as_ref());
            tracing::error!(listener = self.name, message, "dropping a listener panicked");
        }
    }

    /// Makes a call on the delivering thread and measures its time.
    fn call_inline(self: &Arc<Self>, marks: u32, effects: &mut Effects) {
        let calls = self.short_calls.load(Ordering::Relaxed);
        self.short_calls.store(calls.wrapping_add(1), Ordering::Relaxed);
        if calls > SHORT_CALLS && calls % TIMED != 0 {
            return self.call(marks);
        }
        // The clock reading of the frame is precise enough. It is usually recent.
        let started = effects.now(|| self.queue.now()).instant;
        self.call(marks);
        let lasted = effects.read_clock(|| self.queue.now()).instant.since(started);
        if lasted > LONG_INLINE_CALL {
            self.note_long_call(lasted);
        }
    }

    #[cold]
    fn note_long_call(&self, lasted: Duration) {
        // After a long call, time every call again: the next ones may be long as well.
        self.short_calls.store(0, Ordering::Relaxed);
        self.queue.note_long_call();
        if !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                listener = self.name,
                ?lasted,
                "an inline listener delays the delivering thread: use Delivery::EventThread for it"
            );
        }
    }

    /// Returns whether no further call begins, because the listener was closed or has panicked.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Records that the event thread has removed the listener from its queue.
    fn dequeued(&self) {
        if mutated(Mutation::NoFence) {
            return self.queued.store(false, Ordering::Release);
        }
        // A swap, not a store. A thread that found the listener queued has left a mark before, and the call must see
        // it.
        self.queued.swap(false, Ordering::AcqRel);
    }
}

impl Deferred for Listener {
    fn run(self: Arc<Self>, marks: u32, effects: &mut Effects) {
        match self.delivery {
            Delivery::Inline => self.call_inline(marks, effects),
            Delivery::EventThread => self.hand_over(marks),
        }
    }

    fn hand_over(self: Arc<Self>, marks: u32) {
        // Marks first: the event thread may take the listener from the queue at once.
        self.leave(marks);
        self.enqueue();
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{OnceLock, Weak};
    use dds_rtps::types::{Instant, Time};

    /// A queue that counts its listeners.
    #[derive(Default)]
    struct Queue(AtomicU32);

    impl EventQueue for Queue {
        fn enqueue(&self, _listener: Arc<Listener>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn now(&self) -> Now {
            Now { instant: Instant::ZERO, time: Time::INVALID }
        }
        fn note_long_call(&self) {}
        fn note_panic(&self) {}
    }

    /// A queue whose clock counts its readings.
    #[derive(Default)]
    struct Clock(AtomicU32);

    impl EventQueue for Clock {
        fn enqueue(&self, _listener: Arc<Listener>) {}
        fn now(&self) -> Now {
            let looks = self.0.fetch_add(1, Ordering::Relaxed);
            Now { instant: Instant::from_nanos(looks.into()), time: Time::INVALID }
        }
        fn note_long_call(&self) {}
        fn note_panic(&self) {}
    }

    #[test]
    fn short_calls_are_rarely_timed() {
        let clock = Arc::new(Clock::default());
        let callback = Box::new(Call(|_| ()));
        let queue = Arc::clone(&clock) as Arc<dyn EventQueue>;
        let listener = Listener::new("test", callback, Delivery::Inline, queue, &Ending::new());
        let looks = |calls: u32| {
            let before = clock.0.load(Ordering::Relaxed);
            (0..calls).for_each(|_| Effects::scope(|effects| listener.mark(1, effects)));
            clock.0.load(Ordering::Relaxed) - before
        };
        assert_eq!(looks(SHORT_CALLS), 2 * SHORT_CALLS);
        looks(TIMED);
        assert_eq!(looks(10 * TIMED), 2 * 10);
        listener.note_long_call(LONG_INLINE_CALL);
        assert_eq!(looks(SHORT_CALLS), 2 * SHORT_CALLS);
    }

    struct Call<F>(F);

    impl<F: FnMut(u32) + Send> Callback for Call<F> {
        fn call(&mut self, marks: u32) {
            (self.0)(marks);
        }
        fn panicked(&mut self, message: &str) {
            assert_eq!(message, "on purpose");
        }
    }

    fn inline(callback: impl FnMut(u32) + Send + 'static) -> Arc<Listener> {
        listening(callback, &Arc::default())
    }

    fn listening(callback: impl FnMut(u32) + Send + 'static, queue: &Arc<Queue>) -> Arc<Listener> {
        let queue = Arc::clone(queue) as Arc<dyn EventQueue>;
        Listener::new("test", Box::new(Call(callback)), Delivery::Inline, queue, &Ending::new())
    }

    fn counting(calls: &Arc<AtomicU32>) -> impl FnMut(u32) + Send + 'static {
        let calls = Arc::clone(calls);
        move |marks| {
            calls.fetch_add(marks, Ordering::Relaxed);
        }
    }

    fn has_ended(listener: &Listener) -> bool {
        listener.ending.poll(&mut None, std::task::Waker::noop()).is_ready()
    }

    #[test]
    fn marks_before_a_call_are_reported_once() {
        let calls = Arc::new(AtomicU32::new(0));
        let listener = inline(counting(&calls));
        listener.marks.fetch_or(mark::DATA | mark::MATCHED, Ordering::AcqRel);
        listener.call(0);
        listener.call(0);
        assert_eq!(calls.load(Ordering::Relaxed), mark::DATA | mark::MATCHED);
    }

    #[test]
    fn panic_detaches_only_the_closure() {
        let listener = inline(|_| panic!("on purpose"));
        listener.marks.store(mark::DATA, Ordering::Release);
        listener.call(0);
        assert!(listener.attached.lock().is_none());
        listener.marks.store(mark::DATA, Ordering::Release);
        listener.call(0);
    }

    /// No other thread may call it either.
    #[test]
    fn closed_listener_is_not_called() {
        let (calls, queue) = (Arc::new(AtomicU32::new(0)), Arc::new(Queue::default()));
        let listener = listening(counting(&calls), &queue);
        listener.close();
        listener.marks.store(mark::DATA, Ordering::Release);
        listener.call(0);
        listener.call(mark::MATCHED);
        assert_eq!((calls.load(Ordering::Relaxed), queue.0.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn closed_listener_drops_its_closure() {
        let calls = Arc::new(AtomicU32::new(0));
        let listener = inline(counting(&calls));
        assert_eq!(Arc::strong_count(&calls), 2);
        listener.close();
        assert_eq!(Arc::strong_count(&calls), 1);
        assert!(listener.is_closed());
    }

    /// Creates a listener that calls itself in each call, with the marks that `again` returns.
    fn calling_itself(queue: &Arc<Queue>, mut again: impl FnMut(u32) -> u32 + Send + 'static) -> Arc<Listener> {
        let own = Arc::new(OnceLock::<Weak<Listener>>::new());
        let itself = Arc::clone(&own);
        let callback = move |marks| {
            let marks = again(marks);
            itself.get().and_then(Weak::upgrade).into_iter().for_each(|listener| listener.call(marks));
        };
        let listener = listening(callback, queue);
        let _ = own.set(Arc::downgrade(&listener));
        listener
    }

    /// Calls of one listener never overlap, not even on one thread.
    #[test]
    fn mark_during_a_call_is_reported_by_the_next() {
        let (queue, told) = (Arc::new(Queue::default()), Arc::new(AtomicU32::new(0)));
        let calls = Arc::clone(&told);
        let listener = calling_itself(&queue, move |marks| {
            calls.fetch_add(marks, Ordering::Relaxed);
            marks << 1 & 0b1111
        });
        listener.call(1);
        assert_eq!((told.load(Ordering::Relaxed), queue.0.load(Ordering::Relaxed)), (0b1111, 0));
    }

    #[test]
    fn endless_marks_continue_on_the_event_thread() {
        let (queue, calls) = (Arc::new(Queue::default()), Arc::new(AtomicU32::new(0)));
        let count = Arc::clone(&calls);
        let listener = calling_itself(&queue, move |marks| {
            count.fetch_add(1, Ordering::Relaxed);
            marks
        });
        let made = || (calls.load(Ordering::Relaxed) as usize, queue.0.load(Ordering::Relaxed));
        listener.call(mark::DATA);
        assert_eq!(made(), (REPEATS_MAX, 1));
        listener.call(mark::DATA);
        assert_eq!(made(), (2 * REPEATS_MAX, 1), "it stands in the queue once");
        listener.call_in_turn();
        assert_eq!(made(), (2 * REPEATS_MAX + 1, 2), "the other listeners come next");
    }

    #[test]
    fn entity_ends_after_running_call_and_closure() {
        struct Late(Arc<Ending>);
        impl Drop for Late {
            fn drop(&mut self) {
                // The drop counts as a call of the entity's own listener.
                assert!(matches!(self.0.poll(&mut None, std::task::Waker::noop()), std::task::Poll::Ready(Err(_))));
            }
        }
        let (entered, in_call) = std::sync::mpsc::channel();
        let (leave, may_leave) = std::sync::mpsc::channel::<()>();
        let ending = Ending::new();
        let late = Late(Arc::clone(&ending));
        let callback = move |_| {
            let _ = &late;
            entered.send(()).unwrap();
            may_leave.recv().unwrap();
        };
        let queue = Arc::new(Queue::default());
        let listener = Listener::new("test", Box::new(Call(callback)), Delivery::Inline, queue, &ending);
        listener.marks.store(mark::DATA, Ordering::Release);
        std::thread::scope(|scope| {
            scope.spawn(|| listener.call(0));
            in_call.recv().unwrap();
            listener.close();
            ending.close();
            assert!(!has_ended(&listener));
            leave.send(()).unwrap();
        });
        assert!(has_ended(&listener));
    }

    #[test]
    fn closure_that_panics_in_drop_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let bomb = Bomb;
        let listener = inline(move |_| {
            let _ = &bomb;
        });
        listener.close();
        listener.ending.close();
        assert!(has_ended(&listener));
    }
}

#[cfg(test)]
#[cfg(dds_loom)]
mod models {
    use super::*;
    use crate::sync::mutate;
    use dds_rtps::types::{Instant, Time};
    use loom::thread;

    struct NoQueue;
    impl EventQueue for NoQueue {
        fn enqueue(&self, _listener: Arc<Listener>) {}
        fn now(&self) -> Now {
            Now { instant: Instant::ZERO, time: Time::INVALID }
        }
        fn note_long_call(&self) {}
        fn note_panic(&self) {}
    }

    struct Nothing;
    impl Callback for Nothing {
        fn call(&mut self, _marks: u32) {}
        fn panicked(&mut self, _message: &str) {}
    }

    fn listener() -> Arc<Listener> {
        Listener::new("model", Box::new(Nothing), Delivery::Inline, Arc::new(NoQueue), &Ending::new())
    }

    fn mark(listener: &Arc<Listener>, mark: u32) {
        listener.call(mark);
    }

    /// Two threads deliver at the same time. After both, each mark was reported.
    fn marks_of_two_threads() {
        let listener = listener();
        let other = Arc::clone(&listener);
        let other = thread::spawn(move || mark(&other, mark::DATA));
        mark(&listener, mark::MATCHED);
        other.join().unwrap();
        assert_eq!(listener.marks.load(Ordering::Acquire), 0, "untold");
    }

    /// A thread leaves a mark while the event thread removes the listener from its queue.
    ///
    /// Either the event thread sees the mark, or the listener is in the queue again.
    fn a_mark_beside_the_event_thread() {
        let listener = listener();
        listener.queued.store(true, Ordering::Release);
        let other = Arc::clone(&listener);
        let other = thread::spawn(move || other.hand_over(mark::DATA));
        listener.call_in_turn();
        other.join().unwrap();
        let (marks, queued) = (listener.marks.load(Ordering::Acquire), listener.queued.load(Ordering::Acquire));
        assert!(marks == 0 || queued, "stranded");
    }

    /// The later one of a close and a call drops the closure.
    fn a_close_beside_a_call() {
        let listener = listener();
        let other = Arc::clone(&listener);
        let other = thread::spawn(move || mark(&other, mark::DATA));
        listener.close();
        other.join().unwrap();
        assert!(listener.attached.lock().is_none(), "kept");
    }

    #[test]
    fn no_mark_is_lost() {
        loom::model(marks_of_two_threads);
    }

    #[test]
    fn mark_beside_the_event_thread_is_not_stranded() {
        loom::model(a_mark_beside_the_event_thread);
    }

    #[test]
    fn close_beside_a_call_drops_the_closure() {
        loom::model(a_close_beside_a_call);
    }

    #[test]
    #[should_panic(expected = "untold")]
    fn mutant_without_fences_loses_a_mark() {
        mutate(Mutation::NoFence);
        loom::model(marks_of_two_threads);
    }

    #[test]
    #[should_panic(expected = "stranded")]
    fn mutant_unseen_dequeue_strands_a_mark() {
        mutate(Mutation::NoFence);
        loom::model(a_mark_beside_the_event_thread);
    }

    #[test]
    #[should_panic(expected = "kept")]
    fn mutant_without_fences_keeps_a_closure() {
        mutate(Mutation::NoFence);
        loom::model(a_close_beside_a_call);
    }
}
