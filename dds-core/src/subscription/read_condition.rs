//! Condition on the states of a reader's samples (DDS 1.4, 2.2.2.5.8).

use crate::actor::{Effects, Poke};
use crate::infrastructure::{
    About, Condition, ConditionId, CreateError, HasTrigger, Observed, Observer, Subject, Trigger, TriggerValue, mark,
    notify_observers, observe, stop_observing,
};
use crate::subscription::{QueryCondition, ReaderCell, ReaderHandle};
use crate::sync::AtomicU32;
use crate::topic::{FilterExpression, compile, described};
use dds_rtps::cdr::AnyType;
use dds_rtps::filter::Filter;
use dds_rtps::history::{Selection, States};
use dds_rtps::types::Guid;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Condition that is true while the reader has samples in given states.
///
/// Created by [`DataReader::read_condition`](crate::DataReader::read_condition). Clones are the same condition. It does
/// not keep its reader alive, and is false once the reader is closed.
///
/// ```
/// use dds_core::condition::WaitSet;
/// use dds_core::reader::States;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::condition::Condition;
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
#[doc(alias = "delete_readcondition")]
pub struct ReadCondition {
    core: Arc<ReadCore>,
}

struct ReadCore {
    id: ConditionId,
    reader: Guid,
    cell: Arc<ReaderCell>,
    states: States,
    /// Content filter of a [`QueryCondition`](crate::condition::QueryCondition).
    query: Option<Arc<Query>>,
}

/// Content filter with parameters that can change.
pub(super) struct Query {
    ty: AnyType,
    filter: Mutex<Arc<Filter>>,
    subject: Arc<Subject>,
}

impl Query {
    fn new(
        ty: Option<&AnyType>,
        expression: &FilterExpression,
        subject: &Arc<Subject>,
    ) -> Result<Arc<Self>, CreateError> {
        let ty = described(ty).about(subject)?;
        let filter = compile(ty, expression.text(), expression.values()).about(subject)?;
        Ok(Arc::new(Self { ty: ty.clone(), filter: Mutex::new(Arc::new(filter)), subject: Arc::clone(subject) }))
    }

    pub(super) fn filter(&self) -> Arc<Filter> {
        Arc::clone(&self.filter.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_parameters(&self, parameters: &[String]) -> Result<(), CreateError> {
        let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = compile(&self.ty, filter.expression(), parameters).about(&self.subject)?;
        // Selections in progress keep the filter with which they began.
        *filter = Arc::new(compiled);
        Ok(())
    }
}

impl ReadCondition {
    pub(crate) fn new(reader: &ReaderHandle, states: States) -> Self {
        Self { core: Arc::new(ReadCore::new(reader, states, None)) }
    }

    /// Creates a condition on states and contents.
    pub(super) fn query(
        reader: &ReaderHandle,
        states: States,
        expression: &FilterExpression,
    ) -> Result<QueryCondition, CreateError> {
        let query = Query::new(reader.filterable(), expression, reader.subject())?;
        let core = ReadCore::new(reader, states, Some(Arc::clone(&query)));
        Ok(QueryCondition::new(Self { core: Arc::new(core) }, query))
    }

    /// Returns the content filter, if the condition has one.
    pub(super) fn filter(&self) -> Option<Arc<Filter>> {
        self.core.filter()
    }

    /// Makes the waits for this condition check it again.
    pub(super) fn recheck(&self) {
        notify_observers(Arc::clone(&self.core.cell) as Arc<dyn Observed>, mark::SELECTED);
    }

    /// Returns the states that the condition checks.
    #[must_use]
    #[doc(alias = "get_sample_state_mask")]
    #[doc(alias = "get_view_state_mask")]
    #[doc(alias = "get_instance_state_mask")]
    pub fn states(&self) -> States {
        self.core.states
    }

    /// Returns the GUID of the reader, which may be closed.
    #[must_use]
    #[doc(alias = "get_datareader")]
    pub fn reader(&self) -> Guid {
        self.core.reader
    }

    pub(crate) fn is_of(&self, reader: &ReaderHandle) -> bool {
        Arc::ptr_eq(&self.core.cell, reader.cell())
    }
}

impl Condition for ReadCondition {
    fn is_triggered(&self) -> bool {
        Effects::scope(|effects| self.core.trigger_value(effects)) == TriggerValue::Triggered
    }
}

impl HasTrigger for ReadCondition {
    fn trigger(&self) -> Arc<dyn Trigger> {
        Arc::clone(&self.core) as Arc<dyn Trigger>
    }
}

impl ReadCore {
    fn new(reader: &ReaderHandle, states: States, query: Option<Arc<Query>>) -> Self {
        // The cell, not the reader: a condition must not keep its reader alive.
        Self { id: ConditionId::new(), reader: reader.guid(), cell: Arc::clone(reader.cell()), states, query }
    }

    fn filter(&self) -> Option<Arc<Filter>> {
        let query = self.query.as_ref()?;
        Some(query.filter())
    }
}

impl Trigger for ReadCore {
    fn id(&self) -> ConditionId {
        self.id
    }

    fn trigger_value(&self, effects: &mut Effects) -> TriggerValue {
        let filter = self.filter();
        let selection = Selection { states: self.states, filter: filter.as_deref(), ..Selection::default() };
        match self.cell.with(effects, |actor, effects| actor.has_matching(&selection, effects)) {
            Ok(found) => TriggerValue::from(found),
            Err(_) => TriggerValue::Closed,
        }
    }

    fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
        // A selection changes sample states, which may trigger a condition on read samples.
        let observer = Observer::new(Arc::new(AtomicU32::new(mark::DATA | mark::SELECTED)), target);
        observe(Arc::clone(&self.cell) as Arc<dyn Observed>, &observer);
        observer
    }

    fn detach(&self, observer: &Arc<Observer>) {
        stop_observing(Arc::clone(&self.cell) as Arc<dyn Observed>, observer);
    }
}

impl fmt::Debug for ReadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadCondition").field("states", &self.core.states).finish_non_exhaustive()
    }
}
