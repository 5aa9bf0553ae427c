//! The thread of a context that answers requests of background services and runs timers.
//!
//! A flood of requests from a peer then keeps neither the receive thread nor the event thread busy. Tasks take turns,
//! and each turn is bounded.

use crate::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

/// Work of a task that remains after one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing, until it is woken again.
    Done,
    /// More of the same: the other tasks have their turn first.
    More,
}

/// The thread, which starts with the first task and ends with the context.
#[derive(Default)]
pub(crate) struct Background {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_running: bool,
    is_closed: bool,
    next: u64,
    /// Tasks that wait for their turn, each at most once.
    ready: VecDeque<Weak<Task>>,
    /// At most one deadline for each task.
    deadlines: BTreeMap<(Instant, u64), Weak<Task>>,
}

/// Work of the background thread. It ends when its last handle is dropped.
pub(crate) struct Task {
    number: u64,
    shared: Arc<Shared>,
    is_ready: AtomicBool,
    deadline: Mutex<Option<Instant>>,
    run: Box<dyn Fn() -> Turn + Send + Sync>,
}

impl Background {
    /// Creates a task. `run` must hold no handle that keeps the context alive.
    pub(crate) fn task(&self, run: impl Fn() -> Turn + Send + Sync + 'static) -> Result<Arc<Task>> {
        let mut state = self.shared.state();
        if !state.is_running {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("ros2-background".into());
            thread.spawn(move || shared.run()).map_err(|error| Error::Setting {
                setting: "background thread",
                reason: format!("it did not start: {error}"),
            })?;
            state.is_running = true;
        }
        state.next += 1;
        Ok(Arc::new(Task {
            number: state.next,
            shared: Arc::clone(&self.shared),
            is_ready: AtomicBool::new(false),
            deadline: Mutex::new(None),
            run: Box::new(run),
        }))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // The thread is not joined: a task may hold the last handle of the context.
        self.shared.state().is_closed = true;
        self.shared.changed.notify_one();
    }
}

/// A thread of a node for tasks whose callbacks may block. It starts once there are callbacks.
///
/// On the thread of the context, a callback that waits for another node of the program would wait for itself.
#[derive(Default)]
pub(crate) struct CallbackThread {
    is_needed: AtomicBool,
    thread: Background,
}

impl CallbackThread {
    /// From now on, each next turn of the tasks is on this thread.
    pub(crate) fn require(&self) {
        self.is_needed.store(true, Ordering::Release);
    }

    /// Creates a task that has its turns on `context`, and from [`require`](Self::require) on here.
    pub(crate) fn task(
        self: &Arc<Self>,
        context: &Background,
        run: impl Fn() -> Turn + Send + Sync + 'static,
    ) -> Result<Arc<Task>> {
        let (own, run) = (Arc::clone(self), Arc::new(run));
        let moved = OnceLock::<Option<Arc<Task>>>::new();
        context.task(move || {
            if !own.is_needed.load(Ordering::Acquire) {
                return run();
            }
            match moved.get_or_init(|| own.moved(Arc::clone(&run))) {
                Some(task) => {
                    task.wake();
                    Turn::Done
                }
                None => run(),
            }
        })
    }

    fn moved(&self, run: Arc<impl Fn() -> Turn + Send + Sync + 'static>) -> Option<Arc<Task>> {
        let task = self.thread.task(move || run());
        task.inspect_err(|error| tracing::warn!("callbacks share the thread of the context: {error}")).ok()
    }
}

impl Task {
    /// Gives the task a turn. Never blocks for long.
    pub(crate) fn wake(self: &Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::AcqRel) {
            self.shared.state().ready.push_back(Arc::downgrade(self));
            self.shared.changed.notify_one();
        }
    }

    /// Gives the task a turn at this time. It replaces an earlier deadline.
    pub(crate) fn wake_at(self: &Arc<Self>, deadline: Option<Instant>) {
        let mut own = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.shared.state();
        if let Some(old) = own.take() {
            state.deadlines.remove(&(old, self.number));
        }
        if let Some(deadline) = deadline {
            state.deadlines.insert((deadline, self.number), Arc::downgrade(self));
            self.shared.changed.notify_one();
        }
        *own = deadline;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let own = self.deadline.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(deadline) = own.take() {
            self.shared.state().deadlines.remove(&(deadline, self.number));
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of the thread.
    fn run(&self) {
        while let Some(task) = self.next() {
            let Some(task) = task.upgrade() else { continue };
            // Before the turn, so that an event during it gives the task another one.
            task.is_ready.store(false, Ordering::Release);
            if (task.run)() == Turn::More {
                task.wake();
            }
        }
    }

    /// Waits for the next task. Returns `None` once the context is closed.
    fn next(&self) -> Option<Weak<Task>> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            let now = Instant::now();
            let due = state.deadlines.first_key_value().map(|(key, _)| *key).filter(|(deadline, _)| *deadline <= now);
            if let Some(task) = due.and_then(|key| state.deadlines.remove(&key)) {
                return Some(task);
            }
            if let Some(task) = state.ready.pop_front() {
                return Some(task);
            }
            let first = state.deadlines.keys().next().map(|(deadline, _)| deadline.saturating_duration_since(now));
            state = match first {
                Some(rest) => self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Background")
    }
}

impl fmt::Debug for CallbackThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackThread")
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(30);

    fn reporting(background: &Background, name: &'static str, turns: usize, to: &Sender<&'static str>) -> Arc<Task> {
        let (left, to) = (Mutex::new(turns), to.clone());
        let run = move || {
            to.send(name).unwrap();
            let mut left = left.lock().unwrap();
            *left = left.saturating_sub(1);
            if *left > 0 { Turn::More } else { Turn::Done }
        };
        background.task(run).unwrap()
    }

    #[test]
    fn busy_task_leaves_turns_to_the_others() {
        let background = Background::default();
        let (sender, events) = channel();
        // The first turn of the busy task waits until the other one is ready.
        let (both_ready, start) = channel::<()>();
        let (left, to, start) = (Mutex::new(1000), sender.clone(), Mutex::new(start));
        let run = move || {
            // An error means that the test let all turns run.
            let _ = start.lock().unwrap().recv();
            to.send("busy").unwrap();
            let mut left = left.lock().unwrap();
            *left -= 1;
            if *left > 0 { Turn::More } else { Turn::Done }
        };
        let busy = background.task(run).unwrap();
        let other = reporting(&background, "other", 1, &sender);
        busy.wake();
        other.wake();
        drop(both_ready);
        let before_other = events.iter().take_while(|name| *name == "busy").count();
        assert!(before_other <= 1, "{before_other}");
    }

    #[test]
    fn deadline_is_replaced_and_ends_with_its_task() {
        let background = Background::default();
        let (sender, events) = channel();
        let task = reporting(&background, "due", 1, &sender);
        let now = Instant::now();
        task.wake_at(now.checked_add(LIMIT));
        task.wake_at(now.checked_add(Duration::from_millis(1)));
        assert_eq!(events.recv_timeout(LIMIT), Ok("due"));
        task.wake_at(now.checked_add(LIMIT));
        assert_eq!(background.shared.state().deadlines.len(), 1);
        // The thread holds a handle until its turn ends.
        while Arc::strong_count(&task) > 1 {
            std::thread::yield_now();
        }
        drop(task);
        assert_eq!(background.shared.state().deadlines.len(), 0);
    }
}
