//! Event thread: calls the listeners that are not inline.
//!
//! It starts with the participant's first such listener. It also starts when an inline listener has too many calls for
//! a delivering thread. Bound: a listener is in the queue at most once. The queue is never longer than the number of
//! listeners.

use crate::driver::{Driver, Parker, Role};
use crate::infrastructure::{EventQueue, Listener, ListenerCounters};
use dds_rtps::types::{Duration, Now};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Waker;

/// A longer call delays the other listeners of the participant. The thread logs it once.
const LONG_CALL: Duration = Duration::from_millis(100);

/// The queue of marked listeners and its thread.
pub(crate) struct EventThread {
    driver: Arc<dyn Driver>,
    state: Mutex<EventThreadState>,
    /// Itself.
    weak: Weak<Self>,
    long_inline_calls: AtomicU64,
    long_event_calls: AtomicU64,
    panics: AtomicU64,
}

#[derive(Default)]
struct EventThreadState {
    queue: VecDeque<Arc<Listener>>,
    /// Wakes the thread. `None` before the thread parks for the first time.
    waker: Option<Waker>,
    started: bool,
    stopping: bool,
}

impl EventThread {
    pub(crate) fn new(driver: Arc<dyn Driver>) -> Arc<Self> {
        Arc::new_cyclic(|weak| Self {
            driver,
            state: Mutex::default(),
            weak: Weak::clone(weak),
            long_inline_calls: AtomicU64::new(0),
            long_event_calls: AtomicU64::new(0),
            panics: AtomicU64::new(0),
        })
    }

    pub(crate) fn counters(&self) -> ListenerCounters {
        ListenerCounters {
            long_inline_calls: self.long_inline_calls.load(Ordering::Relaxed),
            long_event_calls: self.long_event_calls.load(Ordering::Relaxed),
            panics: self.panics.load(Ordering::Relaxed),
        }
    }

    /// Starts the thread if it does not run yet.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        // The lock is held until the thread has started, so that two callers start one thread.
        let mut state = self.lock();
        if state.started || state.stopping {
            return Ok(());
        }
        let Some(thread) = self.weak.upgrade() else {
            debug_assert!(false, "the caller holds the event thread");
            return Ok(());
        };
        self.driver.spawn("dds-event", Role::Event, Box::new(move || thread.run()))?;
        state.started = true;
        Ok(())
    }

    /// Ends the thread after the running call. Queued listeners are not called.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        // Listeners hold their entities, which would live as long as the participant.
        let queue = std::mem::take(&mut state.queue);
        let waker = state.waker.clone();
        // Dropping listeners runs code of the application: release the lock first.
        drop(state);
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, EventThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        Parker::with_current(|parker| {
            let mut warned = false;
            loop {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                let Some(listener) = state.queue.pop_front() else {
                    state.waker.get_or_insert_with(|| parker.waker().clone());
                    drop(state);
                    self.driver.park(parker, None);
                    continue;
                };
                drop(state);
                // A lock would stop other threads from queuing listeners during the call.
                let started = self.driver.now().instant;
                listener.call_in_turn();
                let lasted = self.driver.now().instant.since(started);
                if lasted > LONG_CALL {
                    self.long_event_calls.fetch_add(1, Ordering::Relaxed);
                    if !std::mem::replace(&mut warned, true) {
                        tracing::warn!(?lasted, ?listener, "a listener delays the others of its participant");
                    }
                }
            }
        });
    }
}

impl EventQueue for EventThread {
    fn enqueue(&self, listener: Arc<Listener>) {
        let mut state = self.lock();
        // After the stop no thread empties the queue, which would keep listeners and their entities alive.
        if state.stopping {
            return;
        }
        state.queue.push_back(listener);
        // No waker yet means that the thread runs its first round, which looks at the queue.
        let (started, waker) = (state.started, state.waker.clone());
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        // Start lazily: most participants have no listener that needs this thread.
        if !started {
            if let Err(error) = self.start() {
                tracing::error!(%error, "no thread for listeners: they are not called");
            }
        }
    }

    fn now(&self) -> Now {
        self.driver.now()
    }

    fn note_long_call(&self) {
        self.long_inline_calls.fetch_add(1, Ordering::Relaxed);
    }

    fn note_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for EventThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventThread").finish_non_exhaustive()
    }
}
