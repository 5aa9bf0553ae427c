//! Parts that all entities share: errors, statuses, waits, listeners (DDS 1.4, 2.2.2.1).

mod active;
mod audience;
mod condition;
mod condition_list;
mod create_error;
mod default_qos;
mod ending;
mod entity;
mod error;
mod event_thread;
mod events;
mod given_back;
mod listener;
mod live_qos;
mod member_ear;
mod observer;
#[cfg(feature = "serde")]
mod profile_problem;
mod return_code;
mod status;
mod status_mask;
mod turn;
mod waiting;

pub use active::Active;
pub(crate) use audience::{Audience, Ear};
pub use condition::{Condition, GuardCondition, StatusCondition};
pub(crate) use condition::{ConditionId, HasTrigger, Look, Trigger};
pub(crate) use condition_list::ConditionList;
pub use create_error::CreateErrorKind;
pub(crate) use default_qos::DefaultQos;
pub(crate) use ending::{Ending, Stake};
pub use entity::Entity;
pub(crate) use entity::Sealed;
pub use error::{
    CreateError, Error, FilterError, FilterErrorKind, QosError, ReadError, ReadErrorKind, Result, Subject, WaitError,
    WaitErrorKind, WriteError, WriteErrorKind,
};
pub(crate) use event_thread::EventThread;
pub use events::Events;
pub(crate) use events::Feed;
pub use given_back::GivenBack;
pub(crate) use listener::{Callback, EventQueue, Listener, mark};
pub use listener::{Delivery, ListenerCounters};
pub(crate) use live_qos::LiveQos;
pub(crate) use member_ear::{ListenedEntity, MemberEar, Post};
pub(crate) use observer::{Observed, Observer, Observers, Watched};
#[cfg(feature = "serde")]
pub use profile_problem::ProfileProblem;
pub use return_code::ReturnCode;
pub(crate) use status::{DeadlineCounter, ListenerPanics, LivelinessRead, MatchCounter, MatchRead};
pub use status::{
    DeadlineMissedStatus, IncompatibleQosStatus, InconsistentTopicStatus, LivelinessChangedStatus,
    LivelinessLostStatus, PublicationMatchedStatus, SampleLostStatus, SampleRejectedStatus, SlowReaderStatus,
    SubscriptionMatchedStatus,
};
pub use status_mask::StatusMask;
pub(crate) use turn::{Turn, poll_within_turn};
pub use waiting::Waiting;
pub(crate) use waiting::{Alarm, Awaited, WaitSource};
