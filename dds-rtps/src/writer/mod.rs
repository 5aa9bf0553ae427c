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
//!   [`LocalLink`](crate::concurrent::LocalLink) carries their acknowledgements.
//!
//! | file | owns |
//! |---|---|
//! | `stateful` | the writer: writing, matching, acknowledgements, deadlines |
//! | `batch` | small changes that wait to share a datagram |
//! | `requests` | requests of the readers |
//! | `merged` | merging of two queued requests of a reader |
//! | `progress` | acknowledgements of the readers, and changes to drop |
//! | `transmit` | new changes and HEARTBEATs for all readers |
//! | `repair` | data for one reader |
//! | `filtered` | content filters of readers, and the omitted changes |
//! | `one_by_one` | changes that are not for all readers |
//! | `opening` | initial handshake with a reader |
//! | `slow_reader` | slow readers, and when the writer waits for them again |
//! | `round_trip`, `way` | RTT estimate, and upper bound of the RTT |
//! | `flow`, `pace` | congestion window for readers that answer, pacing for others |
//! | `lifespan` | expiry of changes, and deadlines of instances |
//! | `instances` | registered instances, and the walk over those that are alive |
//! | `through` | changes that need no history |
//! | `absent` | unresponsive readers that may come back |
//! | `presentation` | coherent sets, and the order among the writers of a publisher |
//! | `liveliness` | the liveliness that the writer offers |
//! | `stateless` | a writer without reliability, for SPDP |

mod absent;
mod batch;
mod config;
mod destinations;
mod filtered;
mod flow;
mod gap_run;
mod heartbeat;
mod instances;
mod layout;
mod lifespan;
mod liveliness;
mod local_reader;
mod merged;
mod one_by_one;
mod opening;
mod pace;
mod presentation;
mod progress;
mod reader_proxy;
mod repair;
mod requests;
mod round_trip;
mod slow_reader;
mod stateful;
mod stateless;
mod through;
mod transmit;
mod way;

pub use crate::concurrent::{EndedSet, PresentationClock};
pub use config::{
    Asker, FlowConfig, FragmentSize, NewChange, ReaderLag, ReaderProxyConfig, SlowReader, WriteRefused, WriterConfig,
    WriterCounters, WriterEvent,
};
pub use merged::{merge_ack_nack, merge_nack_frag};
pub use stateful::{READERS_MAX, StatefulWriter};
pub use stateless::StatelessWriter;
