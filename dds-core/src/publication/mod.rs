//! Publication: publishers, writers, their instances, loans and listeners (DDS 1.4, 2.2.2.4).
//!
//! In: samples of the application, and acknowledgments of readers as mail. Out: datagrams, and changes for local
//! readers.
//!
//! - `data_writer`, `publisher`, `builder`: the public handles. `writer_handle` is the state that they share.
//! - `encoder`: samples as bytes. `loan`: memory that a writer lends.
//! - `writer_actor`: the state in the writer's cell, with the protocol's writer. `writer_mail` is its mail.
//! - `local_reader`: delivery within the process.
//! - `listener`, `events`: notification of the application.

mod any_writer;
mod audience;
mod builder;
mod coherent;
mod data_writer;
mod demoted_readers;
mod encoder;
mod events;
mod every_writer;
mod listener;
mod loan;
mod local_reader;
mod publisher;
mod reachable;
mod suspended;
mod write_async;
mod write_options;
mod writer_actor;
mod writer_handle;
mod writer_mail;

pub use audience::WriterPeers;
pub use builder::DataWriterBuilder;
pub use coherent::CoherentChanges;
pub use data_writer::DataWriter;
pub use events::WriterEvent;
pub(crate) use listener::dispatch_writer_to_group;
pub use listener::{DataWriterListener, PublisherListener};
pub use loan::{LoanedBytes, LoanedSample};
pub use publisher::Publisher;
pub(crate) use publisher::{PublicationContext, PublisherGroup};
pub use suspended::Suspended;
pub use write_options::WriteOptions;
pub(crate) use writer_actor::{WriterActor, WriterCell};
pub(crate) use writer_handle::{WriteAttempt, WriterHandle};
pub(crate) use writer_mail::WriterMail;
