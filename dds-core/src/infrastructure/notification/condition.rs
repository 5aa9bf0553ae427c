//! Conditions that a [`WaitSet`](crate::condition::WaitSet) can wait for (DDS 1.4, 2.2.2.1.7 to 2.2.2.1.9).

use crate::actor::{Effects, Poke};
use crate::infrastructure::{
    Observed, Observer, Observers, StatusMask, mark, notify_observers, observe, stop_observing,
};
use crate::sync::AtomicU32;
use dds_rtps::types::Guid;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A condition that a [`WaitSet`](crate::condition::WaitSet) can wait for.
///
/// The trait is sealed and object safe. [`ReadCondition`](crate::condition::ReadCondition), [`StatusCondition`] and
/// [`GuardCondition`] implement it.
#[expect(private_bounds, reason = "sealed: only this crate has conditions")]
pub trait Condition: HasTrigger {
    /// Returns whether the condition is triggered now.
    #[doc(alias = "get_trigger_value")]
    fn is_triggered(&self) -> bool;
}

/// Identity of a condition. Never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConditionId(u64);

impl ConditionId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Access to the state that all clones of a condition share.
pub(crate) trait HasTrigger: Send + Sync {
    fn trigger(&self) -> Arc<dyn Trigger>;
}

/// Trigger value of a condition (DDS 1.4, 2.2.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TriggerValue {
    Triggered,
    Idle,
    /// The entity is closed. The condition will never be triggered again.
    Closed,
}

impl From<bool> for TriggerValue {
    fn from(triggered: bool) -> Self {
        if triggered { Self::Triggered } else { Self::Idle }
    }
}

/// State that all clones of a condition share, as a wait set uses it.
pub(crate) trait Trigger: Send + Sync {
    fn id(&self) -> ConditionId;

    /// Reads the trigger value, in the cell of the entity if it has one. The caller must be outside of all cells.
    fn trigger_value(&self, effects: &mut Effects) -> TriggerValue;

    /// Registers `target`. Each event that may trigger the condition raises the observer's version and pokes `target`.
    fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer>;

    fn detach(&self, observer: &Arc<Observer>);
}

/// A condition that the application triggers itself (DDS 1.4, 2.2.2.1.8), to end a wait from another thread.
///
/// A handle: clones are the same condition. The condition stays triggered until `set_triggered(false)`.
///
/// ```
/// use dds_core::condition::WaitSet;
/// use dds_core::{DomainParticipant, Scope};
/// use dds_core::condition::{Condition, GuardCondition};
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let stop = GuardCondition::new();
/// let wait_set = WaitSet::new(&participant);
/// wait_set.attach(&stop);
/// let elsewhere = stop.clone();
/// std::thread::spawn(move || elsewhere.set_triggered(true));
/// assert!(wait_set.wait().block()?.contains(&stop));
/// assert!(stop.is_triggered());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GuardCondition {
    core: Arc<GuardCore>,
}

struct GuardCore {
    id: ConditionId,
    triggered: AtomicBool,
    observers: Mutex<Observers>,
}

impl GuardCondition {
    /// Creates a condition that is not triggered.
    #[must_use]
    pub fn new() -> Self {
        let core = GuardCore { id: ConditionId::new(), triggered: AtomicBool::new(false), observers: Mutex::default() };
        Self { core: Arc::new(core) }
    }

    /// Sets the trigger value. `true` wakes all waits for the condition.
    ///
    /// Any thread may call it, also inside a listener.
    #[doc(alias = "set_trigger_value")]
    pub fn set_triggered(&self, triggered: bool) {
        // Before the notification: a wait set that it wakes reads the value.
        self.core.triggered.store(triggered, Ordering::Release);
        // Only a rising trigger value can end a wait.
        if triggered {
            Effects::scope(|effects| self.core.observers().notify(mark::LOOK_AGAIN, effects));
        }
    }
}

impl GuardCore {
    fn observers(&self) -> MutexGuard<'_, Observers> {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for GuardCondition {
    fn default() -> Self {
        Self::new()
    }
}

impl Condition for GuardCondition {
    fn is_triggered(&self) -> bool {
        self.core.triggered.load(Ordering::Acquire)
    }
}

impl HasTrigger for GuardCondition {
    fn trigger(&self) -> Arc<dyn Trigger> {
        Arc::clone(&self.core) as Arc<dyn Trigger>
    }
}

impl Trigger for GuardCore {
    fn id(&self) -> ConditionId {
        self.id
    }

    fn trigger_value(&self, _effects: &mut Effects) -> TriggerValue {
        self.triggered.load(Ordering::Acquire).into()
    }

    fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
        // Its interest is empty: a guard condition only says `LOOK_AGAIN`, which every observer gets.
        let observer = Observer::new(Arc::default(), target);
        self.observers().add(Arc::clone(&observer));
        observer
    }

    fn detach(&self, observer: &Arc<Observer>) {
        self.observers().remove(observer);
    }
}

impl fmt::Debug for GuardCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardCondition").field("triggered", &self.is_triggered()).finish()
    }
}

/// Triggered while an enabled status of an entity has changed since it was last read (DDS 1.4, 2.2.2.1.9).
///
/// [`DataReader::status_condition`](crate::DataReader::status_condition) and
/// [`DataWriter::status_condition`](crate::DataWriter::status_condition) return it.
///
/// An entity has one status condition. All handles share it and its enabled statuses. By default, all statuses are
/// enabled. The condition does not keep its entity alive. It is not triggered after the entity is closed.
///
/// ```
/// use dds_core::condition::WaitSet;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::condition::Condition;
/// use dds_core::status::StatusMask;
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
/// let writer = participant.writer::<Pose>("robot/pose")?;
/// let condition = writer.status_condition();
/// condition.set_enabled_statuses(StatusMask::MATCHED);
/// let wait_set = WaitSet::new(&participant);
/// wait_set.attach(&condition);
/// let reader = participant.reader::<Pose>("robot/pose")?;
/// assert!(wait_set.wait().block()?.contains(&condition));
/// assert_eq!(writer.publication_matched().current_count, 1); // read, and so no longer a change
/// assert!(!condition.is_triggered());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StatusCondition {
    core: Arc<StatusCore>,
}

struct StatusCore {
    id: ConditionId,
    guid: Guid,
    enabled: Arc<AtomicU32>,
    entity: Arc<dyn Observed>,
}

impl StatusCondition {
    pub(crate) fn new(guid: Guid, entity: Arc<dyn Observed>) -> Self {
        let enabled = Arc::new(AtomicU32::new(StatusMask::ALL.bits()));
        Self { core: Arc::new(StatusCore { id: ConditionId::new(), guid, enabled, entity }) }
    }

    /// Returns the GUID of the entity, which may be closed.
    #[must_use]
    #[doc(alias = "get_entity")]
    pub fn entity(&self) -> Guid {
        self.core.guid
    }

    /// Returns the statuses that trigger the condition.
    #[must_use]
    #[doc(alias = "get_enabled_statuses")]
    pub fn enabled_statuses(&self) -> StatusMask {
        StatusMask::from_bits(self.core.enabled.load(Ordering::Acquire))
    }

    /// Sets the statuses that trigger the condition. Default: [`StatusMask::ALL`].
    pub fn set_enabled_statuses(&self, statuses: StatusMask) {
        self.core.enabled.store(statuses.bits(), Ordering::Release);
        // The new mask may trigger the condition at once, so wait sets must look again.
        notify_observers(Arc::clone(&self.core.entity), mark::LOOK_AGAIN);
    }

    /// Returns the statuses that have changed since they were last read, enabled or not.
    ///
    /// Returns no status after the entity is closed.
    pub(crate) fn changes(&self) -> StatusMask {
        StatusMask::from_bits(Effects::scope(|effects| self.core.changed(effects)).unwrap_or(0))
    }
}

impl StatusCore {
    fn changed(&self, effects: &mut Effects) -> Option<u32> {
        // In the cell of the entity, so that a status that changes now is seen either here or by the observer.
        let mut changed = 0;
        let open = Arc::clone(&self.entity).with_observers(effects, &mut |observers, _| changed = observers.changed());
        if open { Some(changed) } else { None }
    }
}

impl Condition for StatusCondition {
    fn is_triggered(&self) -> bool {
        Effects::scope(|effects| self.core.trigger_value(effects)) == TriggerValue::Triggered
    }
}

impl HasTrigger for StatusCondition {
    fn trigger(&self) -> Arc<dyn Trigger> {
        Arc::clone(&self.core) as Arc<dyn Trigger>
    }
}

impl Trigger for StatusCore {
    fn id(&self) -> ConditionId {
        self.id
    }

    fn trigger_value(&self, effects: &mut Effects) -> TriggerValue {
        let enabled = self.enabled.load(Ordering::Acquire);
        match self.changed(effects) {
            Some(changed) => TriggerValue::from(changed & enabled != 0),
            None => TriggerValue::Closed,
        }
    }

    fn attach(&self, target: Weak<dyn Poke>) -> Arc<Observer> {
        // The mask is shared, so that a change of the enabled statuses reaches the observers.
        let observer = Observer::new(Arc::clone(&self.enabled), target);
        observe(Arc::clone(&self.entity), &observer);
        observer
    }

    fn detach(&self, observer: &Arc<Observer>) {
        stop_observing(Arc::clone(&self.entity), observer);
    }
}

impl fmt::Debug for StatusCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusCondition").field("enabled_statuses", &self.enabled_statuses()).finish_non_exhaustive()
    }
}
