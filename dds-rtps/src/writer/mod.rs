//! RTPS writers.
//!
//! In: changes of the application, matched readers, and their answers (ACKNACK, NACK_FRAG). Out: datagrams, one at a
//! time ([`StatefulWriter::poll_transmit`]), events, and the next deadline. Owned: the history, and a proxy for each
//! matched reader.
//!
//! - New changes go out once, to the fewest locators that reach all matched remote readers.
//! - All other data goes to one reader at a time: repairs, GAPs, history for late joiners, answers. It takes turns with
//!   new changes.
//! - Local readers take changes straight from the history ([`StatefulWriter::changes_from`]). A
//!   [`LocalLink`](crate::concurrent::LocalLink) carries their acknowledgments.
//!
//! | module | owns |
//! |---|---|
//! | `stateful` | the writer: writing, matches, answers of readers, datagrams, time, events |
//! | `readers` | matched readers, and the queue of those with data to send |
//! | `send` | position in the stream, batches, layout of datagrams, repairs |
//! | `ack` | acknowledgments, slow readers, writes that wait for room |
//! | `congestion` | RTT estimator, congestion window for readers that answer, pacer for others |
//! | `heartbeat` | heartbeat schedule |
//! | `liveliness` | liveliness that the writer offers |
//! | `lifespan` | expiry of changes |
//! | `presentation` | coherent sets, and the order among the writers of a publisher |
//! | `stateless` | a writer without reliability, for SPDP |

mod ack;
mod config;
mod congestion;
mod heartbeat;
mod lifespan;
mod liveliness;
mod presentation;
mod readers;
mod send;
mod stateful;
mod stateless;

pub use crate::concurrent::{EndedSet, PresentationClock};
pub use ack::merged::{merge_ack_nack, merge_nack_frag};
pub use config::{
    Asker, CongestionConfig, FragmentSize, NewChange, ReaderLag, ReaderProxyConfig, SlowReader, StatefulWriterEvent,
    WriteRefused, WriterConfig, WriterCounters,
};
pub use readers::READERS_MAX;
pub use stateful::StatefulWriter;
pub use stateless::StatelessWriter;
