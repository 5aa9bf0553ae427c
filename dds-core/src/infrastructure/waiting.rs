//! [`Waiting`]: a future that can also block.
//!
//! Both forms share one path. One visit of the entity's cell looks at the awaited event and registers the waker. The
//! caller parks outside of the cell. (CONCURRENCY rule: register and look in one visit.)

use crate::actor::{Effects, Poke, Ticket, in_listener};
use crate::driver::{Driver, Parker, Timer, role};
use crate::infrastructure::{Missing, Patience, Subject, WaitError, WaitErrorKind, poll_within_turn};
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// A longer wait logs once which event it waits for, and why it may not occur.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// A shorter timeout does not say why no peer matches. A loop with short timeouts would spend its time on it.
const EXPLAINED: Duration = Duration::from_millis(100);

/// Events that a caller can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// At least this many matched peers.
    Matched(usize),
    /// A sample that was not read yet. It stays in the reader.
    Readable,
    /// A sample, which the wait takes from the reader.
    Sample,
    /// As `Sample`, but waits for the reader to be enabled first.
    SampleOnceEnabled,
    /// All samples that certain writers had written before.
    History,
    /// Acknowledgment of all samples up to this sequence number.
    Acknowledged(SequenceNumber),
    /// A condition of a wait set.
    Condition,
    /// An event of a stream.
    Event,
    /// A topic that any participant uses.
    Topic,
    /// The description of a topic's type.
    #[cfg(feature = "dynamic")]
    TopicType,
    /// A replier that matches both ways.
    Replier,
    /// A request.
    Request,
    /// A reply to a request.
    Reply,
    /// The entity is closed, and none of its listeners runs.
    Closed,
    /// The participant has sent its disposal, and its threads have ended.
    Shutdown,
}

impl Awaited {
    /// Returns a text for errors that follows the word "no".
    fn name(self) -> &'static str {
        match self {
            Self::Matched(1) => "match",
            Self::Matched(_) => "matches",
            Self::Readable | Self::Sample | Self::SampleOnceEnabled => "sample",
            Self::History => "complete history",
            Self::Acknowledged(_) => "acknowledgment",
            Self::Condition => "triggered condition",
            Self::Event => "event",
            Self::Topic => "topic of this type",
            #[cfg(feature = "dynamic")]
            Self::TopicType => "description of the type",
            Self::Replier => "replier",
            Self::Request => "request",
            Self::Reply => "reply",
            Self::Closed | Self::Shutdown => "end",
        }
    }
}

/// Source of an awaited event. The entities' handles implement it.
pub(crate) trait WaitSource<T>: Sync {
    /// Looks for the event. If it has not occurred, registers `waker` with `ticket` in the same visit.
    fn poll_wait(&self, awaited: Awaited, ticket: &mut Option<Ticket>, waker: &Waker)
    -> Poll<Result<T, WaitErrorKind>>;

    /// Removes the waker of a wait that gives up. A wake that it has received passes to the next waiter.
    fn abandon(&self, awaited: Awaited, ticket: Ticket);

    /// Returns the clock and the parking of threads.
    fn driver(&self) -> &dyn Driver;

    /// Returns the entity that the caller waits for.
    fn subject(&self) -> &Arc<Subject>;

    /// Logs why the wait may take long.
    fn complain(&self, awaited: Awaited);

    /// Returns whether a long wait is worth a [warning](Self::complain). It is not where long waits are normal.
    fn warns_of(&self, awaited: Awaited) -> bool {
        let _ = awaited;
        true
    }

    /// Returns what there is instead of the event, at little cost. A wait that times out calls it outside of all cells.
    fn missing_at_a_glance(&self, awaited: Awaited) -> Missing {
        let _ = awaited;
        Missing::Event
    }

    /// Returns the reason why the wait goes on. The reason of a missing match takes a while to find.
    fn missing(&self, awaited: Awaited) -> Missing {
        self.missing_at_a_glance(awaited)
    }
}

/// The source of a [`Waiting`].
enum OwnedOrBorrowed<'a, T> {
    Entity(&'a dyn WaitSource<T>),
    Own(Box<dyn WaitSource<T> + Send + 'a>),
}

impl<T> OwnedOrBorrowed<'_, T> {
    fn get(&self) -> &dyn WaitSource<T> {
        match self {
            Self::Entity(source) => *source,
            Self::Own(source) => &**source,
        }
    }
}

/// A wait that has not begun: `.await` it, or call [`block`](Waiting::block).
///
/// Dropping it before it is ready has no effect: no sample is lost and no waker stays registered. It works in any async
/// runtime. Blocking works inside any runtime as well.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Duration, Scope};
/// use dds_core::error::WaitErrorKind;
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader::<Pose>("robot/pose")?;
/// let writer = participant.writer::<Pose>("robot/pose")?;
/// writer.wait_for_readers(1).block()?;
///
/// // With a timeout. The error names the reader and its topic.
/// let error = reader.next_sample().block_for(Duration::from_millis(1)).unwrap_err();
/// assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }));
///
/// // The same wait as a future, here in a runtime of one thread.
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
/// let sample = runtime.block_on(async { reader.next_sample().await })?;
/// assert_eq!(sample.data, Some(Pose { robot: 7, x: 1.0 }));
/// # Ok(())
/// # }
/// ```
#[must_use = "a wait does nothing until it is awaited or blocked on"]
pub struct Waiting<'a, T> {
    source: OwnedOrBorrowed<'a, T>,
    awaited: Awaited,
    limit: Option<Duration>,
    deadline: Option<Instant>,
    ticket: Option<Ticket>,
    timer: Option<WakeTimer>,
    patience: Patience,
}

impl<'a, T> Waiting<'a, T> {
    pub(crate) fn new(source: &'a dyn WaitSource<T>, awaited: Awaited) -> Self {
        Self {
            source: OwnedOrBorrowed::Entity(source),
            awaited,
            limit: None,
            deadline: None,
            ticket: None,
            timer: None,
            patience: Patience::default(),
        }
    }

    /// Creates a wait that owns its source.
    pub(crate) fn of_own(source: Box<dyn WaitSource<T> + Send + 'a>, awaited: Awaited) -> Self {
        let source = OwnedOrBorrowed::Own(source);
        let patience = Patience::default();
        Self { source, awaited, limit: None, deadline: None, ticket: None, timer: None, patience }
    }

    /// Ends the wait with [`WaitErrorKind::Timeout`] after `limit`.
    pub fn within(mut self, limit: impl Into<Duration>) -> Self {
        let limit = limit.into();
        // A wait without an end needs neither a deadline nor a timer.
        self.limit = if limit.is_infinite() { None } else { Some(limit) };
        self
    }

    /// Blocks the calling thread until the event occurs. Has no timeout by default.
    ///
    /// # Errors
    /// [`WaitErrorKind::Closed`] if the entity is closed, [`WaitErrorKind::InListener`] in an inline listener, and
    /// [`WaitErrorKind::Timeout`] after [`within`](Waiting::within).
    pub fn block(mut self) -> Result<T, WaitError> {
        // A wait on the delivering thread would keep the awaited event from arriving.
        if in_listener() {
            return Err(self.error(WaitErrorKind::InListener));
        }
        if !role().may_wait() {
            return Err(self.error(WaitErrorKind::WouldDeadlock));
        }
        Parker::with_current(|parker| self.block_on(parker))
    }

    fn block_on(&mut self, parker: &Parker) -> Result<T, WaitError> {
        // All times are of this clock, which stands still or runs fast in a simulation.
        let driver = self.source.get().driver();
        let started = driver.now().instant;
        let limit = self.limit.or(driver.wait_limit());
        let deadline = match limit {
            Some(limit) => started.after(limit),
            None => None,
        };
        let mut patience = started.after(PATIENCE);
        loop {
            if let Poll::Ready(result) = self.source.get().poll_wait(self.awaited, &mut self.ticket, parker.waker()) {
                return self.outcome(result);
            }
            // In a forked child no thread of the library runs, so the event can never occur.
            if driver.is_forked() {
                return Err(self.error(WaitErrorKind::Forked));
            }
            let now = driver.now().instant;
            if let Some(deadline) = deadline {
                if now >= deadline {
                    debug_assert!(limit.is_some(), "a deadline follows from a limit");
                    return Err(self.timeout(limit.unwrap_or(now.since(started))));
                }
            }
            if let Some(at) = patience {
                if now >= at {
                    // Once: a wait of hours would fill the log.
                    patience = None;
                    self.source.get().complain(self.awaited);
                }
            }
            // The earlier of both. The patience also limits a wait without an end, so that its warning appears.
            driver.park(parker, [deadline, patience].into_iter().flatten().min());
        }
    }

    /// Blocks the calling thread for at most `limit`.
    ///
    /// # Errors
    /// As [`block`](Waiting::block), and [`WaitErrorKind::Timeout`] after `limit`.
    pub fn block_for(self, limit: impl Into<Duration>) -> Result<T, WaitError> {
        self.within(limit).block()
    }

    fn timeout(&self, limit: Duration) -> WaitError {
        // Outside of all cells: the source visits them to find the reason.
        let source = self.source.get();
        let missing =
            if limit < EXPLAINED { source.missing_at_a_glance(self.awaited) } else { source.missing(self.awaited) };
        self.error(WaitErrorKind::Timeout { awaited: self.awaited.name(), limit, missing })
    }

    fn outcome(&self, result: Result<T, WaitErrorKind>) -> Result<T, WaitError> {
        result.map_err(|kind| match kind {
            // In a forked child, a cell that another thread of the parent held can never be visited. To its source, it
            // looks like a closed one.
            WaitErrorKind::Closed if self.source.get().driver().is_forked() => self.error(WaitErrorKind::Forked),
            kind => self.error(kind),
        })
    }

    fn error(&self, kind: WaitErrorKind) -> WaitError {
        WaitError::new(self.source.get().subject(), kind)
    }
}

impl<T> Future for Waiting<'_, T> {
    type Output = Result<T, WaitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let (source, ticket) = (this.source.get(), &mut this.ticket);
        let polled = poll_within_turn(context, |context| source.poll_wait(this.awaited, ticket, context.waker()));
        if let Poll::Ready(result) = polled {
            return Poll::Ready(this.outcome(result));
        }
        let driver = this.source.get().driver();
        // With `Receiving::Caller` no thread receives unless a waiting caller does.
        driver.attend();
        if driver.is_forked() {
            return Poll::Ready(Err(this.error(WaitErrorKind::Forked)));
        }
        this.patience.poll(this.source.get(), this.awaited, context);
        let Some(limit) = this.limit else { return Poll::Pending };
        let now = driver.now().instant;
        // The time starts with the first poll, not with the creation of the future.
        let deadline = *this.deadline.get_or_insert_with(|| now.after(limit).unwrap_or(now));
        if now >= deadline {
            return Poll::Ready(Err(this.timeout(limit)));
        }
        match &this.timer {
            Some(timer) => timer.set_waker(context.waker()),
            None => this.timer = Some(WakeTimer::new(driver, deadline, context.waker())),
        }
        // Check again after the waker is set. A timer that fired earlier found no waker or an old one.
        if driver.now().instant >= deadline {
            return Poll::Ready(Err(this.timeout(limit)));
        }
        Poll::Pending
    }
}

/// Wakes a future at its deadline.
pub(crate) struct WakeTimer {
    target: Arc<TimedWaker>,
    _timer: Timer,
}

/// Target of the timer.
struct TimedWaker {
    waker: Mutex<Option<Waker>>,
}

impl WakeTimer {
    /// Sets the waker before the timer, because the timer may fire at once.
    pub(crate) fn new(driver: &dyn Driver, at: Instant, waker: &Waker) -> Self {
        let target = Arc::new(TimedWaker { waker: Mutex::new(Some(waker.clone())) });
        let weak: Weak<dyn Poke> = Arc::downgrade(&target) as Weak<dyn Poke>;
        let timer = Timer::new(driver.timers(), weak);
        timer.set(Some(at));
        Self { target, _timer: timer }
    }

    pub(crate) fn set_waker(&self, waker: &Waker) {
        // The old waker is code of the application: drop it outside of the lock.
        // Cloning a waker runs code of the application as well, but it must not take this lock.
        let old = self.target.waker.lock().unwrap_or_else(PoisonError::into_inner).replace(waker.clone());
        drop(old);
    }
}

impl Poke for TimedWaker {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        // A spurious fire finds no waker, because the first one took it.
        if let Some(waker) = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            effects.wake(waker);
        }
    }
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.source.get().abandon(self.awaited, ticket);
        }
    }
}

impl<T> fmt::Debug for Waiting<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("for", &self.awaited).field("limit", &self.limit).finish_non_exhaustive()
    }
}
