//! The thread on which listeners are called that are not inline. It starts with the participant's first listener.
//!
//! Bound: a listener stands in the queue at most once, so the queue is no longer than there are listeners.

use crate::driver::{Driver, Parker, Role};
use crate::infrastructure::{EventQueue, Listener};
use dds_rtps::types::Duration;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// A listener that runs longer than this holds up the others of its participant; it is told once in the log.
const LONG_CALL: Duration = Duration::from_millis(100);

/// The queue of marked listeners and the thread behind it.
pub(crate) struct EventThread {
    driver: Arc<dyn Driver>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Listener>>,
    /// How to wake the thread; there once it has parked for the first time.
    waker: Option<Waker>,
    started: bool,
    stopping: bool,
}

impl EventThread {
    pub(crate) fn new(driver: Arc<dyn Driver>) -> Arc<Self> {
        Arc::new(Self { driver, state: Mutex::default() })
    }

    /// Starts the thread, if it does not run yet.
    pub(crate) fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let mut state = self.lock();
        if state.started {
            return Ok(());
        }
        let thread = Arc::clone(self);
        self.driver.spawn("dds-event", Role::Event, Box::new(move || thread.run()))?;
        state.started = true;
        Ok(())
    }

    /// Lets the thread end after the call that is running; what is queued is not called any more.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        let queue = std::mem::take(&mut state.queue);
        let waker = state.waker.clone();
        drop(state);
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
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
                let started = self.driver.now().instant;
                listener.dequeued();
                listener.call();
                let lasted = self.driver.now().instant.since(started);
                if lasted > LONG_CALL && !warned {
                    warned = true;
                    tracing::warn!(?lasted, ?listener, "a listener holds up the others of its participant");
                }
            }
        });
    }
}

impl EventQueue for EventThread {
    fn enqueue(&self, listener: Arc<Listener>) {
        let mut state = self.lock();
        if state.stopping {
            return;
        }
        state.queue.push_back(listener);
        let waker = state.waker.clone();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl fmt::Debug for EventThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventThread").finish_non_exhaustive()
    }
}
