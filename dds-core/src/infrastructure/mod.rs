//! What all entities share: errors, statuses, waiting, listeners (DDS 1.4, 2.2.2.1).

mod condition;
mod entity;
mod error;
mod events;
mod listener;
mod observer;
mod return_code;
mod status;
mod status_mask;
mod wait_set;
mod waiting;

pub use condition::{Condition, GuardCondition, StatusCondition};
pub(crate) use condition::{ConditionId, HasTrigger, Look, Trigger};
pub use entity::Entity;
pub(crate) use entity::Sealed;
pub use error::{
    CreateError, CreateErrorKind, Error, QosError, ReadError, ReadErrorKind, Result, Subject, WaitError, WaitErrorKind,
    WriteError, WriteErrorKind,
};
pub use events::Events;
pub(crate) use events::Feed;
pub use listener::Delivery;
pub(crate) use listener::{Callback, EventQueue, Listener, mark};
pub(crate) use observer::{Observed, Observer, Observers};
pub use return_code::ReturnCode;
pub use status::{
    IncompatibleQosStatus, PublicationMatchedStatus, SampleLostStatus, SampleRejectedStatus, SubscriptionMatchedStatus,
};
pub(crate) use status::{MatchCounter, MatchRead};
pub use status_mask::StatusMask;
pub use wait_set::{Active, WaitSet};
pub use waiting::Waiting;
pub(crate) use waiting::{Awaited, WaitSource};
