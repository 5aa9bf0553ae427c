//! Subscription: subscribers, readers, batches of samples, conditions and listeners (DDS 1.4, 2.2.2.5).
//!
//! In: datagrams, mail, and changes of local writers. Out: samples for the application, and acknowledgments.
//!
//! - `data_reader`, `subscriber`, `builder`, `select`, `samples`, `change`, `stream`: the public handles and results.
//!   `reader_handle` is the state that the handles share.
//! - `reader_actor`: the state in the reader's cell, with the protocol's reader. `reader_mail` is its mail. `run` walks
//!   the submessages of a datagram.
//! - `access`, `group_access`: coherent and ordered access across readers.
//! - `losses`, `spilled`: the ledger of losses.
//! - `listener`, `events`, `statuses`, `read_condition`, `query_condition`: notification of the application.

mod access;
mod any_reader;
mod builder;
mod change;
mod data_reader;
mod events;
mod group_access;
mod history_wait;
mod listener;
mod losses;
mod on_readers;
mod query_condition;
mod read_condition;
mod reader_actor;
mod reader_handle;
mod reader_mail;
mod run;
mod samples;
mod select;
mod spilled;
mod statuses;
mod stream;
mod subscriber;

pub use access::Access;
pub use builder::DataReaderBuilder;
pub use change::Change;
pub use data_reader::DataReader;
pub(crate) use data_reader::decode_key;
pub use events::ReaderEvent;
pub(crate) use group_access::GroupAccess;
pub(crate) use history_wait::HistoryWait;
pub(crate) use listener::dispatch_reader_to_group;
pub use listener::{DataReaderListener, SubscriberListener};
pub use losses::{LikelyCause, ReaderLosses};
pub(crate) use on_readers::DataOnReaders;
pub use query_condition::QueryCondition;
pub use read_condition::ReadCondition;
pub(crate) use reader_actor::{ReaderActor, ReaderCell, WRITER_LIVELINESS, WRITER_STARVES};
pub(crate) use reader_handle::{ReaderHandle, wait_error};
pub(crate) use reader_mail::ReaderMail;
pub(crate) use run::{ParsedRun, SubmessageRun, SubmessageRunEnd};
pub use samples::{IntoSamples, Sample, SampleRef, Samples, SamplesIter};
pub use select::Select;
pub(crate) use stream::Iter;
pub use stream::SampleStream;
pub use subscriber::Subscriber;
pub(crate) use subscriber::{SubscriberGroup, SubscriptionContext};
