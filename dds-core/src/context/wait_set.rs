//! Waiting for several conditions at once (DDS 1.4, 2.2.2.1.6).

use crate::actor::Ticket;
use crate::context::{ParticipantContext, ParticipantRef};
use crate::driver::Driver;
use crate::infrastructure::{Active, Awaited, Condition, ConditionList, Subject, WaitErrorKind, WaitSource, Waiting};
use dds_rtps::types::Guid;
use std::fmt;
use std::sync::Arc;
use std::task::{Poll, Waker};

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
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
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
    state: Arc<WaitSetState>,
}

struct WaitSetState {
    /// For its clock. A set keeps its participant alive, as its endpoints do.
    participant: ParticipantRef<dyn ParticipantContext>,
    subject: Arc<Subject>,
    list: Arc<ConditionList>,
}

impl WaitSet {
    /// A set without conditions.
    pub(crate) fn of(participant: ParticipantRef<dyn ParticipantContext>) -> Self {
        let subject = Subject::new("wait set", "", Guid::UNKNOWN);
        Self { state: Arc::new(WaitSetState { participant, subject, list: ConditionList::new() }) }
    }

    /// Adds a condition; does nothing if it is in the set already. Who waits already waits for it as well.
    #[doc(alias = "attach_condition")]
    pub fn attach(&self, condition: &dyn Condition) {
        self.state.list.attach(condition.trigger());
    }

    /// Removes a condition; false if it was not in the set.
    #[doc(alias = "detach_condition")]
    pub fn detach(&self, condition: &dyn Condition) -> bool {
        self.state.list.detach(condition.trigger().id())
    }

    /// Whether the condition is in the set.
    #[must_use]
    #[doc(alias = "get_conditions")]
    pub fn contains(&self, condition: &dyn Condition) -> bool {
        self.state.list.contains(condition.trigger().id())
    }

    /// How many conditions are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.list.len()
    }

    /// Whether no condition is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until at least one condition is triggered, and tells which are. Allocates nothing in steady state, if not more
    /// than 64 are triggered at once.
    ///
    /// Ends with [`WaitErrorKind::Closed`] when the entities of all conditions have been closed, since nothing could
    /// trigger them any more. An empty set waits until a condition is attached and triggered.
    pub fn wait(&self) -> Waiting<'_, Active> {
        Waiting::new(&*self.state, Awaited::Condition)
    }
}

impl WaitSource<Active> for WaitSetState {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Active, WaitErrorKind>> {
        self.list.poll(ticket, waker)
    }

    fn abandon(&self, _awaited: Awaited, ticket: Ticket) {
        self.list.abandon(ticket);
    }

    fn driver(&self) -> &dyn Driver {
        &**self.participant.core().driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// A server may well wait for hours: that is nothing to complain about.
    fn complain(&self, _awaited: Awaited) {}
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet").field("conditions", &self.state.list.len()).finish_non_exhaustive()
    }
}
