//! Publication: publishers, writers, their instances, loans and listeners (DDS 1.4, 2.2.2.4).
//!
//! In: samples of the application, and acknowledgements of readers as mail. Out: datagrams, and changes for local
//! readers.
//!
//! - `data_writer`, `publisher`, `builder`: the public handles. `writer_handle` is the state that they share.
//! - `writer_actor`: the state in the writer's cell, with the protocol's writer. `writer_mail` is its mail.
//! - `local_reader`: delivery within the process.
//! - `listener`, `events`, `writer_statuses`: notification of the application.

mod any_writer;
mod builder;
mod coherent;
mod data_writer;
mod demoted_readers;
mod dispose_all;
mod durability_warning;
mod enabling;
mod encoded;
mod events;
mod every_writer;
mod instances;
mod listener;
mod live_policies;
mod liveliness;
mod loan;
mod local_reader;
mod publisher;
mod reachable;
mod suspended;
mod weak;
#[cfg(feature = "durability")]
mod withdrawal;
mod write_async;
mod write_options;
mod writer_actor;
mod writer_handle;
mod writer_mail;
mod writer_statuses;

pub use any_writer::AnyWriter;
pub use builder::DataWriterBuilder;
pub use coherent::CoherentChanges;
pub use data_writer::DataWriter;
pub use events::WriterEvent;
pub(crate) use events::WriterFeed;
pub use listener::{DataWriterListener, PublisherListener};
pub use loan::{LoanedBytes, LoanedSample};
pub use publisher::Publisher;
pub(crate) use publisher::{PublicationContext, PublisherGroup};
pub use suspended::Suspended;
pub use weak::{WeakDataWriter, WeakPublisher};
pub use write_options::WriteOptions;
pub(crate) use writer_actor::WriterCell;
pub(crate) use writer_handle::WriterHandle;
pub(crate) use writer_mail::WriterMail;
