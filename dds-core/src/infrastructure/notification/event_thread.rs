//! Event threads: call the listeners that are not inline.
//!
//! The first thread starts with the participant's first such listener. It also starts when an inline listener has too
//! many calls for a delivering thread. Bound: a listener is in the queue at most once. The queue is never longer than
//! the number of listeners.
//!
//! One thread is enough while listeners return. If one blocks and others wait, another thread calls them. So a listener
//! may wait for another one. A thread ends when it would be the second one without work.

use crate::actor::{Effects, Poke};
use crate::driver::{Driver, Parker, Role, Timer};
use crate::infrastructure::{EventQueue, Listener, ListenerCounters};
use dds_rtps::types::{Duration, Instant, Now};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::task::Waker;

/// A longer call delays the other listeners of the participant, until another thread calls them. It is logged once.
const LONG_CALL: Duration = Duration::from_millis(100);

/// The most threads. If listeners block all of them, the others wait.
const THREADS_MAX: usize = 8;

/// The queue of marked listeners and its threads.
pub(crate) struct EventThread {
    driver: Arc<dyn Driver>,
    state: Mutex<EventThreadState>,
    /// Itself.
    weak: Weak<Self>,
    /// Expires when listeners have waited for long. Most participants never need it.
    timer: OnceLock<Timer>,
    has_warned: AtomicBool,
    long_inline_calls: AtomicU64,
    long_event_calls: AtomicU64,
    panics: AtomicU64,
}

#[derive(Default)]
struct EventThreadState {
    queue: VecDeque<Arc<Listener>>,
    /// Wakes the thread that has no work. `None` if each thread has some, or looks at the queue soon.
    idle: Option<Waker>,
    threads: usize,
    /// Number of listeners that were taken from the queue.
    taken: u64,
    /// Until then, a thread should take a listener from the queue.
    watch: Option<Watch>,
    stopping: bool,
}

/// A look at the queue later, while all threads call listeners.
#[derive(Clone, Copy)]
struct Watch {
    due: Instant,
    /// [`EventThreadState::taken`] when the watch began.
    taken: u64,
}

impl EventThread {
    pub(crate) fn new(driver: Arc<dyn Driver>) -> Arc<Self> {
        Arc::new_cyclic(|weak| Self {
            driver,
            state: Mutex::default(),
            weak: Weak::clone(weak),
            timer: OnceLock::new(),
            has_warned: AtomicBool::new(false),
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

    /// Starts the first thread if none runs yet.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        // The lock is held until the thread has started, so that two callers start one thread.
        let mut state = self.lock();
        if state.threads == 0 { self.start_another(&mut state) } else { Ok(()) }
    }

    fn start_another(&self, state: &mut EventThreadState) -> std::io::Result<()> {
        debug_assert!(state.threads < THREADS_MAX, "the callers bound the number of threads");
        if state.stopping {
            return Ok(());
        }
        let Some(thread) = self.weak.upgrade() else {
            debug_assert!(false, "the caller holds the event thread");
            return Ok(());
        };
        self.driver.spawn("dds-event", Role::Event, Box::new(move || thread.run()))?;
        state.threads += 1;
        Ok(())
    }

    /// Ends the threads after the running calls. Queued listeners are not called.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        // Listeners hold their entities, which would live as long as the participant.
        let queue = std::mem::take(&mut state.queue);
        let idle = state.idle.take();
        // Dropping listeners runs code of the application: release the lock first.
        drop(state);
        drop(queue);
        if let Some(idle) = idle {
            idle.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, EventThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        Parker::with_current(|parker| {
            loop {
                let mut state = self.lock();
                if state.stopping {
                    return;
                }
                let is_idle = match &state.idle {
                    Some(idle) => idle.will_wake(parker.waker()),
                    None => false,
                };
                let Some(listener) = state.queue.pop_front() else {
                    if state.idle.is_none() {
                        state.idle = Some(parker.waker().clone());
                    } else if !is_idle {
                        // Another thread waits for work already.
                        state.threads -= 1;
                        return;
                    }
                    drop(state);
                    self.driver.park(parker, None);
                    continue;
                };
                if is_idle {
                    // A thread that wakes without a cause may find a listener.
                    state.idle = None;
                }
                state.taken += 1;
                drop(state);
                self.call(&listener);
            }
        });
    }

    /// Calls a listener. A lock would stop other threads from queuing listeners during the call.
    fn call(&self, listener: &Arc<Listener>) {
        let started = self.driver.now().instant;
        listener.call_in_turn();
        let lasted = self.driver.now().instant.since(started);
        if lasted > LONG_CALL {
            self.long_event_calls.fetch_add(1, Ordering::Relaxed);
            if !self.has_warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(?lasted, ?listener, "a listener delays the others of its participant");
            }
        }
    }

    /// Begins to watch the queue, because all threads call listeners.
    fn watch(&self, state: &mut EventThreadState) {
        // Only an infinite duration has no end.
        if let Some(due) = self.driver.now().instant.after(LONG_CALL) {
            state.watch = Some(Watch { due, taken: state.taken });
            self.set_timer(due);
        }
    }

    fn set_timer(&self, due: Instant) {
        let create = || Timer::new(self.driver.timers(), Weak::clone(&self.weak) as Weak<dyn Poke>);
        self.timer.get_or_init(create).set(Some(due));
    }

    /// Starts another thread if no listener was taken from the queue since the watch began.
    fn look_at_queue(&self) {
        let mut state = self.lock();
        let Some(watch) = state.watch else { return };
        // A timer may expire without a cause.
        if self.driver.now().instant < watch.due {
            self.set_timer(watch.due);
            return;
        }
        state.watch = None;
        if state.queue.is_empty() || state.idle.is_some() || state.threads == THREADS_MAX {
            return;
        }
        if state.taken == watch.taken {
            if let Err(error) = self.start_another(&mut state) {
                tracing::error!(%error, "no thread for listeners beside one that blocks: they wait");
            }
        }
        // The next listener may block as well.
        self.watch(&mut state);
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
        let (idle, is_started) = (state.idle.take(), state.threads > 0);
        // Each thread looks at the queue after its call, unless the call blocks.
        if idle.is_none() && is_started && state.watch.is_none() {
            self.watch(&mut state);
        }
        drop(state);
        if let Some(idle) = idle {
            idle.wake();
        }
        // Start lazily: most participants have no listener that needs this thread.
        if !is_started {
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

impl Poke for EventThread {
    fn poke(self: Arc<Self>, _effects: &mut Effects) {
        self.look_at_queue();
    }
}

impl fmt::Debug for EventThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventThread").finish_non_exhaustive()
    }
}
