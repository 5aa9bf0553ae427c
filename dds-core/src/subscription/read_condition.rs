//! The condition that a reader holds samples in certain states (DDS 1.4, 2.2.2.5.8).

use crate::actor::{Effects, Poke};
use crate::infrastructure::{Condition, ConditionId, HasTrigger, Look, Observer, Trigger, mark};
use crate::subscription::{ReaderCell, ReaderHandle};
use crate::sync::AtomicU32;
use dds_rtps::history::States;
use std::fmt;
use std::sync::{Arc, Weak};

/// Triggered as long as the reader holds at least one sample in the states; from
/// [`DataReader::read_condition`](crate::DataReader::read_condition).
///
/// A handle: clones are the same condition. It does not keep its reader alive, and is not triggered once the reader has
/// been closed.
///
/// ```
/// use dds_core::{Condition, DdsType, DomainParticipant, Scope, States, WaitSet};
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
/// let gone = reader.read_condition(States::NOT_ALIVE_DISPOSED);
/// let wait_set = WaitSet::new(&participant);
/// wait_set.attach(&gone);
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert!(!gone.is_triggered(), "the robot is alive");
/// writer.dispose(&7)?;
/// assert!(wait_set.wait().block()?.contains(&gone));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ReadCondition {
    core: Arc<ReadCore>,
}

struct ReadCore {
    id: ConditionId,
    cell: Arc<ReaderCell>,
    states: States,
}

impl ReadCondition {
    pub(crate) fn new(cell: Arc<ReaderCell>, states: States) -> Self {
        Self { core: Arc::new(ReadCore { id: ConditionId::new(), cell, states }) }
    }

    /// Which samples it looks for.
    #[must_use]
    #[doc(alias = "get_sample_state_mask")]
    #[doc(alias = "get_view_state_mask")]
    #[doc(alias = "get_instance_state_mask")]
    pub fn states(&self) -> States {
        self.core.states
    }

    pub(crate) fn is_of(&self, reader: &ReaderHandle) -> bool {
        Arc::ptr_eq(&self.core.cell, reader.cell())
    }
}

impl Condition for ReadCondition {
    fn is_triggered(&self) -> bool {
        Effects::scope(|effects| self.core.look(effects)) == Look::Triggered
    }
}

impl HasTrigger for ReadCondition {
    fn trigger(&self) -> Arc<dyn Trigger> {
        Arc::clone(&self.core) as Arc<dyn Trigger>
    }
}

impl Trigger for ReadCore {
    fn id(&self) -> ConditionId {
        self.id
    }

    fn look(&self, effects: &mut Effects) -> Look {
        let found = self.cell.with(effects, |actor, effects| actor.has_matching(self.states, effects));
        found.map_or(Look::Closed, Look::from)
    }

    fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
        let observer = Observer::new(Arc::new(AtomicU32::new(mark::DATA | mark::SELECTED)), target);
        // A closed reader has nothing to tell any more; the first look finds that out.
        let _ =
            Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.observers().add(Arc::clone(&observer))));
        observer
    }

    fn detach(&self, observer: &Arc<Observer>) {
        // A closed reader has forgotten all its observers.
        let _ = Effects::scope(|effects| self.cell.with(effects, |actor, _| actor.observers().remove(observer)));
    }
}

impl fmt::Debug for ReadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadCondition").field("states", &self.core.states).finish_non_exhaustive()
    }
}
