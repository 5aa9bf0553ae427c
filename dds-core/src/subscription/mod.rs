//! Receiving: readers, batches of samples, and the ways to wait for them (DDS 1.4, 2.2.2.5).

mod any_reader;
mod builder;
mod data_reader;
mod enabling;
mod events;
mod history_wait;
mod instances;
mod listener;
mod on_readers;
mod read_condition;
mod reader_actor;
mod reader_handle;
mod samples;
mod select;
mod stream;
mod subscriber;
mod weak;

pub use any_reader::AnyReader;
pub use builder::DataReaderBuilder;
pub use data_reader::DataReader;
pub use events::ReaderEvent;
pub(crate) use events::ReaderFeed;
pub(crate) use history_wait::HistoryWait;
pub(crate) use instances::decode_key;
pub use listener::{DataReaderListener, SubscriberListener};
pub(crate) use on_readers::OnReaders;
pub use read_condition::ReadCondition;
pub(crate) use reader_actor::{ReaderCell, ReaderMail, WRITER_STARVES};
pub(crate) use reader_handle::ReaderHandle;
pub use samples::{IntoSamples, Sample, SampleRef, Samples, SamplesIter};
pub use select::Select;
pub use stream::{DataStream, Iter, SampleStream};
pub use subscriber::Subscriber;
pub(crate) use subscriber::SubscriberGroup;
pub use weak::{WeakDataReader, WeakSubscriber};
