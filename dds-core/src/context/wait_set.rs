//! Waiting for several conditions at once (DDS 1.4, 2.2.2.1.6).

use crate::actor::Ticket;
use crate::context::{ParticipantContext, ParticipantRef};
use crate::driver::Driver;
use crate::infrastructure::{
    Active, Awaited, Condition, ConditionList, Missing, Subject, WaitErrorKind, WaitSource, Waiting,
};
use dds_rtps::types::Guid;
use std::fmt;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// Waits until at least one of its conditions is triggered (DDS 1.4, 2.2.2.1.6).
///
/// A handle: clones refer to the same set. Conditions may belong to any participant.
///
/// The trigger value is a level, not an edge. A condition that is already triggered ends a wait at once. It does so
/// again until its cause is gone: the samples are taken, the status is read, or the guard is reset. Several threads may
/// wait for one set, and each of them gets all triggered conditions.
///
/// ```
/// use dds_core::condition::WaitSet;
/// use dds_core::reader::States;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::condition::Condition;
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
/// assert_eq!(writer.publication_matched().current_count, 1); // resets it
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
    /// Used for its clock. A wait set keeps its participant alive, as endpoints do.
    participant: ParticipantRef<dyn ParticipantContext>,
    subject: Arc<Subject>,
    list: Arc<ConditionList>,
}

impl WaitSet {
    /// Creates an empty set.
    pub(crate) fn of(participant: ParticipantRef<dyn ParticipantContext>) -> Self {
        // A wait set is no entity, and has no GUID.
        let subject = Subject::new("wait set", "", Guid::UNKNOWN);
        Self { state: Arc::new(WaitSetState { participant, subject, list: ConditionList::new() }) }
    }

    /// Adds a condition, also for threads that wait already. Does nothing if the set contains it.
    #[doc(alias = "attach_condition")]
    pub fn attach(&self, condition: &dyn Condition) {
        // The set holds the shared state, so a dropped handle of the condition changes nothing.
        self.state.list.attach(condition.trigger());
    }

    /// Removes a condition. Returns false if it was not in the set.
    #[doc(alias = "detach_condition")]
    pub fn detach(&self, condition: &dyn Condition) -> bool {
        self.state.list.detach(condition.trigger().id())
    }

    /// Whether the set contains the condition.
    #[must_use]
    #[doc(alias = "get_conditions")]
    pub fn contains(&self, condition: &dyn Condition) -> bool {
        self.state.list.contains(condition.trigger().id())
    }

    /// Number of conditions in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.list.len()
    }

    /// Whether the set contains no condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until at least one condition is triggered. Returns the triggered ones.
    ///
    /// Allocates nothing in steady state, if at most 64 conditions are triggered at once.
    ///
    /// Fails with [`WaitErrorKind::Closed`] when the entities of all conditions are closed, because nothing could
    /// trigger them. An empty set waits until a condition is attached and triggered.
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

    fn missing_at_a_glance(&self, _awaited: Awaited) -> Missing {
        Missing::Trigger { conditions: self.list.len() }
    }

    /// An event may come after any time.
    fn warns_of(&self, _awaited: Awaited) -> bool {
        false
    }

    /// Logs nothing, because a long wait for an event is normal.
    fn complain(&self, _awaited: Awaited) {}
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet").field("conditions", &self.state.list.len()).finish_non_exhaustive()
    }
}
