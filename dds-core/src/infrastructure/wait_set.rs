//! Waiting for several conditions at once (DDS 1.4, 2.2.2.1.6).
//!
//! A wait registers its waker first and looks at the conditions then: what happens in between wakes it. Each attached
//! condition has an observer with its entity, which counts whatever may have triggered it; a condition that was found idle
//! is looked at again only when that count has grown, so a wait costs one visit for each condition that may be triggered,
//! not for each that is attached. No lock of the set is held while a cell is visited.

use crate::actor::{Effects, Poke, Signals, Ticket, Wakers};
use crate::domain::{DomainParticipant, ParticipantHandle};
use crate::driver::Driver;
use crate::infrastructure::{
    Awaited, Condition, ConditionId, Look, Observer, Subject, Trigger, WaitErrorKind, WaitSource, Waiting,
};
use dds_rtps::types::Guid;
use smallvec::SmallVec;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

/// How many triggered conditions one wait can tell of without an allocation.
const ACTIVE_IN_PLACE: usize = 64;

/// Waits until at least one of its conditions is triggered (DDS 1.4, 2.2.2.1.6).
///
/// A handle: clones are the same set. Conditions may come from any participant. Level, not edge: what is triggered when the
/// wait begins ends it at once, and does so again until the cause is gone (the samples taken, the status read, the guard
/// reset). Several threads may wait for one set: each of them is told of everything that is triggered.
///
/// ```
/// use dds_core::{Condition, DdsType, DomainParticipant, Scope, States, WaitSet};
///
/// #[derive(DdsType)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0).scope(Scope::Host).build()?;
/// let reader = participant.reader::<Pose>("awaited/pose")?;
/// let writer = participant.writer::<Pose>("awaited/pose")?;
/// let fresh = reader.read_condition(States::NOT_READ);
/// let matched = writer.status_condition();
/// let wait_set = WaitSet::new(&participant);
/// wait_set.attach(&fresh);
/// wait_set.attach(&matched);
/// assert!(wait_set.wait().block()?.contains(&matched));
/// assert_eq!(writer.publication_matched()?.current_count, 1); // resets it
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// let active = wait_set.wait().block()?;
/// assert!(active.contains(&fresh) && !active.contains(&matched));
/// assert_eq!(reader.select().condition(&fresh).take()?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WaitSet {
    shared: Arc<Shared>,
}

struct Shared {
    /// For its clock. A set keeps its participant alive, as its endpoints do.
    participant: Arc<ParticipantHandle>,
    subject: Arc<Subject>,
    state: Mutex<State>,
}

struct State {
    /// Replaced as a whole, so that a wait can look at it without the lock.
    attached: Arc<[Arc<Attachment>]>,
    waiters: Wakers,
}

/// A condition in a set.
struct Attachment {
    id: ConditionId,
    trigger: Arc<dyn Trigger>,
    observer: Arc<Observer>,
    /// The observer's version when the condition was last found idle; 0: never.
    idle_at: AtomicU64,
    closed: AtomicBool,
}

impl WaitSet {
    /// A set without conditions, whose time limits run by the participant's clock.
    #[must_use]
    pub fn new(participant: &DomainParticipant) -> Self {
        let state = State { attached: Arc::default(), waiters: Wakers::new() };
        let subject = Subject::new("wait set", "", Guid::UNKNOWN);
        let participant = Arc::clone(participant.handle());
        Self { shared: Arc::new(Shared { participant, subject, state: Mutex::new(state) }) }
    }

    /// Adds a condition; does nothing if it is in the set already. Who waits already waits for it as well.
    #[doc(alias = "attach_condition")]
    pub fn attach(&self, condition: &dyn Condition) {
        let trigger = condition.trigger();
        let id = trigger.id();
        if self.shared.state().attached.iter().any(|attached| attached.id == id) {
            return;
        }
        let observer = trigger.attach(Arc::downgrade(&self.shared) as Weak<dyn Poke>);
        let attachment =
            Arc::new(Attachment { id, trigger, observer, idle_at: AtomicU64::new(0), closed: AtomicBool::new(false) });
        let is_new = self.shared.change(|attached| {
            let is_new = attached.iter().all(|attached| attached.id != id);
            if is_new {
                attached.push(Arc::clone(&attachment));
            }
            is_new
        });
        if !is_new {
            // Another thread has attached it in the meantime.
            attachment.trigger.detach(&attachment.observer);
        }
    }

    /// Removes a condition; false if it was not in the set.
    #[doc(alias = "detach_condition")]
    pub fn detach(&self, condition: &dyn Condition) -> bool {
        let id = condition.trigger().id();
        let removed = self.shared.change(|attached| {
            let at = attached.iter().position(|attached| attached.id == id)?;
            Some(attached.remove(at))
        });
        if let Some(attachment) = &removed {
            attachment.trigger.detach(&attachment.observer);
        }
        removed.is_some()
    }

    /// Waits until at least one condition is triggered, and tells which are. Allocates nothing in steady state, if not more
    /// than 64 are triggered at once.
    ///
    /// Ends with [`WaitErrorKind::Closed`] when the entities of all conditions have been closed, since nothing could
    /// trigger them any more. An empty set waits until a condition is attached and triggered.
    pub fn wait(&self) -> Waiting<'_, Active> {
        Waiting::new(&*self.shared, Awaited::Condition)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is attached, and lets who waits look again.
    fn change<R>(&self, change: impl FnOnce(&mut Vec<Arc<Attachment>>) -> R) -> R {
        Effects::scope(|effects| {
            let mut state = self.state();
            let mut attached = state.attached.to_vec();
            let result = change(&mut attached);
            let old = std::mem::replace(&mut state.attached, attached.into());
            state.waiters.wake_all(effects);
            drop(state);
            drop(old);
            result
        })
    }
}

impl Attachment {
    fn look(&self, effects: &mut Effects) -> Look {
        let version = self.observer.version();
        if self.idle_at.load(Ordering::Acquire) == version {
            return if self.closed.load(Ordering::Acquire) { Look::Closed } else { Look::Idle };
        }
        let look = self.trigger.look(effects);
        if look == Look::Closed {
            self.closed.store(true, Ordering::Release);
        }
        if look != Look::Triggered {
            // What has happened since has raised the version: then this is out of date at once.
            self.idle_at.store(version, Ordering::Release);
        }
        look
    }
}

impl WaitSource<Active> for Shared {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Active, WaitErrorKind>> {
        let waker = waker.clone();
        Effects::scope(|effects| {
            let mut state = self.state();
            state.waiters.register(ticket, waker, effects);
            let attached = Arc::clone(&state.attached);
            drop(state);
            let mut active = Active { conditions: SmallVec::new() };
            let mut closed = 0;
            for attachment in attached.iter() {
                match attachment.look(effects) {
                    Look::Triggered => active.conditions.push(attachment.id),
                    Look::Idle => {}
                    Look::Closed => closed += 1,
                }
            }
            if !active.conditions.is_empty() {
                self.state().waiters.finish(ticket, effects);
                return Poll::Ready(Ok(active));
            }
            if closed == attached.len() && closed > 0 {
                self.state().waiters.finish(ticket, effects);
                return Poll::Ready(Err(WaitErrorKind::Closed));
            }
            Poll::Pending
        })
    }

    fn abandon(&self, _awaited: Awaited, ticket: Ticket) {
        Effects::scope(|effects| self.state().waiters.abandon(&mut Some(ticket), effects));
    }

    fn driver(&self) -> &dyn Driver {
        &**self.participant.driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// A server may well wait for hours: that is nothing to complain about.
    fn complain(&self, _awaited: Awaited) {}
}

impl Poke for Shared {
    fn poke(self: Arc<Self>, effects: &mut Effects) {
        self.state().waiters.wake_all(effects);
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        self.poke(effects);
    }

    fn signal(&self, _signals: Signals) {}
}

impl Drop for Shared {
    fn drop(&mut self) {
        for attachment in self.state().attached.iter() {
            attachment.trigger.detach(&attachment.observer);
        }
    }
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet").field("conditions", &self.shared.state().attached.len()).finish_non_exhaustive()
    }
}

/// The conditions that were triggered when a wait ended; at least one.
#[derive(Debug, Clone)]
pub struct Active {
    conditions: SmallVec<[ConditionId; ACTIVE_IN_PLACE]>,
}

#[expect(clippy::len_without_is_empty, reason = "it is never empty")]
impl Active {
    /// Whether this condition is among them.
    #[must_use]
    pub fn contains(&self, condition: &dyn Condition) -> bool {
        self.conditions.contains(&condition.trigger().id())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.conditions.len()
    }
}
