//! Waits for events of this crate: futures that also block.

use crate::{Error, Result};
use dds_core::condition::GuardCondition;
use dds_core::condition::WaitSet;
use dds_core::error::{WaitError, WaitErrorKind};
use dds_core::{DomainParticipant, Duration, Sample, Waiting};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Wakes the waits for a kind of event.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    /// The guards of the waits, with their numbers.
    waiters: Mutex<Waiters>,
    /// Changed by each `notify`.
    count: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiters {
    next: u64,
    guards: Vec<(u64, GuardCondition)>,
}

impl Signal {
    fn waiters(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many times `notify` was called.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Lets every wait look again.
    pub(crate) fn notify(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
        // Triggering wakes tasks, which is code of the application, so the lock is released first.
        let guards: Vec<GuardCondition> = self.waiters().guards.iter().map(|(_, guard)| guard.clone()).collect();
        for guard in guards {
            guard.set_triggered(true);
        }
    }

    fn register(&self, guard: &GuardCondition) -> u64 {
        let mut waiters = self.waiters();
        waiters.next += 1;
        let number = waiters.next;
        waiters.guards.push((number, guard.clone()));
        number
    }

    fn leave(&self, number: u64) {
        self.waiters().guards.retain(|(own, _)| *own != number);
    }
}

/// What waits need of their context.
#[derive(Clone)]
pub(crate) struct Waits {
    pub(crate) participant: DomainParticipant,
    /// Notified after the participant has closed. A guard alone does not learn it.
    pub(crate) closing: Arc<Signal>,
}

/// A wait for an event, with its place among the waiters of a signal.
struct Plan<'a, T> {
    waits: Waits,
    /// The number of the wait at the signal for closing.
    closing: u64,
    /// The signal that triggers the guard, and the number of the wait there.
    signal: Option<(Arc<Signal>, u64)>,
    guard: GuardCondition,
    set: WaitSet,
    limit: Option<Duration>,
    /// The longest time until the next look.
    rest: Option<Box<dyn Fn() -> Duration + Send + 'a>>,
    poll: Box<dyn FnMut() -> Result<Option<T>> + Send + 'a>,
    missing: Box<dyn Fn() -> String + Send + 'a>,
}

impl<T> Plan<'_, T> {
    /// Looks for the event. The guard is reset before, so that an event after the look wakes the wait.
    fn look(&mut self) -> Result<Option<T>> {
        self.guard.set_triggered(false);
        let found = (self.poll)()?;
        if found.is_none() && self.waits.participant.is_closed() {
            return Err(Error::Closed);
        }
        Ok(found)
    }

    fn end(&self) -> Option<Instant> {
        self.limit.and_then(end_of)
    }

    /// Returns the time until `end` or the next look, and whether it is the time until `end`.
    fn rest_until(&self, end: Option<Instant>) -> (Duration, bool) {
        let rest: Duration = end.map_or(Duration::INFINITE, |end| end.saturating_duration_since(Instant::now()).into());
        match self.rest.as_ref().map(|look| look()) {
            Some(look) if look < rest => (look, false),
            _ => (rest, true),
        }
    }

    /// Ends the wait with the error. The end of a pause between looks is no error.
    fn check(&self, error: Option<WaitError>, is_last: bool) -> Result<()> {
        match error {
            Some(error) if !is_last && matches!(error.kind(), WaitErrorKind::Timeout { .. }) => Ok(()),
            Some(error) => Err(failed(error, &self.missing)),
            None => Ok(()),
        }
    }
}

impl<T> Drop for Plan<'_, T> {
    fn drop(&mut self) {
        self.waits.closing.leave(self.closing);
        if let Some((signal, number)) = &self.signal {
            signal.leave(*number);
        }
    }
}

/// The messages of a topic. A wait for one allocates nothing, because each message has its own.
pub(crate) trait MessageSource<T>: Sync {
    /// Waits for the next sample, which may lack data.
    fn next(&self) -> Waiting<'_, Sample<T>>;

    /// Returns the event that did not occur.
    fn missing(&self) -> String;
}

struct MessageWait<'a, T> {
    source: &'a dyn MessageSource<T>,
    limit: Option<Duration>,
    /// The end of the wait, once it has started.
    end: Option<Instant>,
    waiting: Option<Waiting<'a, Sample<T>>>,
}

impl<'a, T> MessageWait<'a, T> {
    /// Returns a wait for the next sample until the end of this wait.
    fn restart(&mut self) -> Waiting<'a, Sample<T>> {
        let waiting = self.source.next();
        let Some(limit) = self.limit else { return waiting };
        match self.end {
            Some(end) => waiting.within(end.saturating_duration_since(Instant::now())),
            None => {
                self.end = end_of(limit);
                waiting.within(limit)
            }
        }
    }

    /// Returns the message of a sample. A sample without data tells that a publisher left.
    fn message(&self, result: Result<Sample<T>, WaitError>) -> Result<Option<T>> {
        match result {
            Ok(sample) => Ok(sample.data),
            Err(error) => Err(failed(error, || self.source.missing())),
        }
    }

    fn block(mut self) -> Result<T> {
        loop {
            let result = self.restart().block();
            if let Some(message) = self.message(result)? {
                return Ok(message);
            }
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<T>> {
        loop {
            let mut waiting = self.waiting.take().unwrap_or_else(|| self.restart());
            let Poll::Ready(result) = Pin::new(&mut waiting).poll(context) else {
                self.waiting = Some(waiting);
                return Poll::Pending;
            };
            if let Some(result) = self.message(result).transpose() {
                return Poll::Ready(result);
            }
        }
    }
}

/// The end of a wait that starts now, or `None` without a limit. A change of the system clock does not move it.
fn end_of(limit: Duration) -> Option<Instant> {
    if limit.is_infinite() {
        return None;
    }
    let limit = u64::try_from(limit.as_nanos().max(0)).unwrap_or(u64::MAX);
    Instant::now().checked_add(std::time::Duration::from_nanos(limit))
}

/// Returns the error of a wait of `dds-core` as that of a wait for an event.
fn failed(error: WaitError, missing: impl Fn() -> String) -> Error {
    match error.kind() {
        WaitErrorKind::Timeout { .. } => Error::Timeout { missing: missing() },
        WaitErrorKind::Closed => Error::Closed,
        _ => Error::Wait(error),
    }
}

/// A wait for an event: a future, which also blocks.
///
/// As a wait of `dds-core`: `.await`, `.within(limit).await`, `.block()` or `.block_for(limit)`. Dropping it ends the
/// wait. It works in every async runtime and without one.
#[must_use = "a wait does nothing until it is awaited or blocked on"]
pub struct Wait<'a, T> {
    state: State<'a, T>,
}

enum State<'a, T> {
    Message(MessageWait<'a, T>),
    Planned(Plan<'a, T>),
    Running(Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>),
    Done,
}

impl<'a, T: Send + 'a> Wait<'a, T> {
    /// Creates a wait for the next message.
    pub(crate) fn for_message(source: &'a dyn MessageSource<T>) -> Self {
        Self { state: State::Message(MessageWait { source, limit: None, end: None, waiting: None }) }
    }

    /// Creates a wait that ends once `poll` returns a value. `signal` tells it to look again.
    pub(crate) fn new(
        waits: &Waits,
        signal: &Arc<Signal>,
        poll: impl FnMut() -> Result<Option<T>> + Send + 'a,
        missing: impl Fn() -> String + Send + 'a,
    ) -> Self {
        let guard = GuardCondition::new();
        let number = signal.register(&guard);
        Self::of_guard(waits, guard, Some((Arc::clone(signal), number)), Box::new(poll), Box::new(missing))
    }

    /// Creates a wait for the end of a future, such as one that awaits several other waits.
    pub(crate) fn of_future(
        waits: &Waits,
        future: impl Future<Output = Result<T>> + Send + 'a,
        missing: impl Fn() -> String + Send + 'a,
    ) -> Self {
        let guard = GuardCondition::new();
        let waker = Waker::from(Arc::new(GuardWaker(guard.clone())));
        let mut future = Box::pin(future);
        let poll = move || match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => result.map(Some),
            Poll::Pending => Ok(None),
        };
        Self::of_guard(waits, guard, None, Box::new(poll), Box::new(missing))
    }

    fn of_guard(
        waits: &Waits,
        guard: GuardCondition,
        signal: Option<(Arc<Signal>, u64)>,
        poll: Box<dyn FnMut() -> Result<Option<T>> + Send + 'a>,
        missing: Box<dyn Fn() -> String + Send + 'a>,
    ) -> Self {
        let set = WaitSet::new(&waits.participant);
        set.attach(&guard);
        let closing = waits.closing.register(&guard);
        let waits = waits.clone();
        Self {
            state: State::Planned(Plan { waits, closing, signal, guard, set, limit: None, rest: None, poll, missing }),
        }
    }

    /// Looks again at the latest after the duration that `rest` returns.
    pub(crate) fn look_after(mut self, rest: impl Fn() -> Duration + Send + 'a) -> Self {
        if let State::Planned(plan) = &mut self.state {
            plan.rest = Some(Box::new(rest));
        }
        self
    }

    /// Limits the wait. It then ends with [`Error::Timeout`].
    pub fn within(mut self, limit: impl Into<Duration>) -> Self {
        match &mut self.state {
            State::Message(message) => message.limit = Some(limit.into()),
            State::Planned(plan) => plan.limit = Some(limit.into()),
            State::Running(_) | State::Done => {}
        }
        self
    }

    /// Blocks the thread until the event.
    ///
    /// # Errors
    /// [`Error::Closed`] if the context closes, and the errors that the method names that returned the wait.
    pub fn block(self) -> Result<T> {
        let mut plan = match self.state {
            State::Message(message) => return message.block(),
            State::Planned(plan) => plan,
            State::Running(_) | State::Done => return Err(Error::Closed),
        };
        let end = plan.end();
        loop {
            if let Some(value) = plan.look()? {
                return Ok(value);
            }
            let (rest, is_last) = plan.rest_until(end);
            let woken = plan.set.wait().block_for(rest);
            plan.check(woken.err(), is_last)?;
        }
    }

    /// Blocks the thread until the event, for at most `limit`.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`block`](Self::block).
    pub fn block_for(self, limit: impl Into<Duration>) -> Result<T> {
        self.within(limit).block()
    }
}

/// Returns the result of a wait of `dds-core` without a limit.
pub(crate) async fn of_dds<T>(waiting: Waiting<'_, T>) -> Result<T> {
    waiting.await.map_err(|error| failed(error, String::new))
}

/// Lets a wait poll its future again.
struct GuardWaker(GuardCondition);

impl std::task::Wake for GuardWaker {
    fn wake(self: Arc<Self>) {
        self.0.set_triggered(true);
    }
}

async fn run<T>(mut plan: Plan<'_, T>) -> Result<T> {
    let end = plan.end();
    loop {
        if let Some(value) = plan.look()? {
            return Ok(value);
        }
        let (rest, is_last) = plan.rest_until(end);
        let woken = plan.set.wait().within(rest).await;
        plan.check(woken.err(), is_last)?;
    }
}

impl<'a, T: Send + 'a> Future for Wait<'a, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Planned(_) = self.state {
            if let State::Planned(plan) = std::mem::replace(&mut self.state, State::Done) {
                self.state = State::Running(Box::pin(run(plan)));
            }
        }
        let result = match &mut self.state {
            State::Message(message) => message.poll(context),
            State::Running(future) => future.as_mut().poll(context),
            State::Planned(_) | State::Done => return Poll::Ready(Err(Error::Closed)),
        };
        if result.is_ready() {
            self.state = State::Done;
        }
        result
    }
}

impl<T> fmt::Debug for Wait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wait")
    }
}
