//! Parts that all entities share (DDS 1.4, 2.2.2.1).
//!
//! In: changes of statuses, and waits of the application. Out: errors, statuses, listener calls. Owned: waiters,
//! listeners, the event thread.
//!
//! - `entity`, `live_qos`, `default_qos`: the common interface and the QoS of entities.
//! - `error`, `create_error`, `entry_error`, `return_code`: errors, each with its entity, cause and next step.
//! - `status`, `status_mask`: communication statuses.
//! - `notification`: listeners, event streams, conditions and wait sets.
//! - `waiting`, `turn`, `patience`, `missing`: futures that can block, their warnings, and the missing parts.
//! - `weak`: handles that do not keep their entity alive.

mod create_error;
mod default_qos;
mod entity;
mod entry_error;
mod error;
mod live_qos;
mod missing;
mod notification;
mod patience;
#[cfg(feature = "serde")]
mod profile_problem;
mod return_code;
mod status;
mod status_mask;
mod turn;
mod waiting;
mod weak;

pub use create_error::CreateErrorKind;
pub(crate) use create_error::is_out_of_files;
pub(crate) use default_qos::DefaultQos;
pub use entity::Entity;
pub(crate) use entity::{Sealed, entity_methods};
pub(crate) use error::{About, Subject};
pub use error::{
    CreateError, Error, QosError, ReadError, ReadErrorKind, Result, WaitError, WaitErrorKind, WriteError,
    WriteErrorKind,
};
pub(crate) use live_qos::LiveQos;
pub use missing::Missing;
pub use notification::{Active, Condition, Delivery, Events, GuardCondition, ListenerCounters, StatusCondition};
pub(crate) use notification::{
    Callback, ConditionId, ConditionList, Ending, EventQueue, EventSource, EventThread, HasTrigger, ListenedEntity,
    Listener, ListenerRef, ListenerSet, MemberLink, MemberQueue, Notifier, Observed, Observer, Observers, Stake,
    Trigger, TriggerValue, Watched, mark, notify_observers, observe, stop_observing,
};
pub(crate) use patience::Patience;
#[cfg(feature = "serde")]
pub use profile_problem::ProfileProblem;
pub use return_code::ReturnCode;
pub use status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus, PeerStatus, SampleRejectedStatus,
};
pub(crate) use status::{Counter, DeadlineCounter, ListenerPanics, LivelinessRead, MatchCounter, MatchRead};
pub use status_mask::StatusMask;
pub(crate) use turn::{Turn, poll_within_turn};
pub use waiting::Waiting;
pub(crate) use waiting::{Awaited, PATIENCE, WaitSource, WakeTimer};
pub(crate) use weak::Upgrade;
pub use weak::Weak;
