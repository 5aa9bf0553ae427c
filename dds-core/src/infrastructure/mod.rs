//! What all entities share: errors, statuses, waiting, listeners (DDS 1.4, 2.2.2.1).

mod entity;
mod error;
mod listener;
mod return_code;
mod status;
mod waiting;

pub use entity::Entity;
pub(crate) use entity::Sealed;
pub use error::{
    CreateError, CreateErrorKind, Error, ReadError, ReadErrorKind, Result, Subject, WaitError, WaitErrorKind,
    WriteError, WriteErrorKind,
};
pub use listener::Delivery;
pub(crate) use listener::{Callback, EventQueue, Listener, mark};
pub use return_code::ReturnCode;
pub(crate) use status::MatchCounter;
pub use status::{IncompatibleQosStatus, PublicationMatchedStatus, SampleLostStatus, SubscriptionMatchedStatus};
pub use waiting::Waiting;
pub(crate) use waiting::{Awaited, WaitSource};
