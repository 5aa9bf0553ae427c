//! RTPS writers.
//!
//! In: changes of the application, which readers are matched, and what these readers answer (ACKNACK, NACK_FRAG). Out:
//! datagrams one by one ([`StatefulWriter::poll_transmit`]), events, and the next deadline. Owned: the history, and a
//! proxy for each matched reader.
//!
//! - New changes go out once, to the fewest locators that reach all matched readers of other processes.
//! - Everything else (repairs, GAPs, history for late joiners, answers) goes to one reader, in turns with new changes.
//! - Readers of this process take changes straight from the history ([`StatefulWriter::changes_from`]); their
//!   acknowledgements are read from a [`LocalLink`](crate::concurrent::LocalLink).
//!
//! | file | owns |
//! |---|---|
//! | `stateful` | the writer: writing, matching, acknowledgements, deadlines |
//! | `batch` | which small changes wait for others, to share a datagram |
//! | `requests` | what readers ask for |
//! | `merged` | what a reader has said twice before it was heard |
//! | `progress` | how far they are, and what need not be kept for them |
//! | `transmit` | new changes and HEARTBEATs for all readers |
//! | `repair` | what goes to one reader |
//! | `filtered` | content filters of readers, and what they do not let pass |
//! | `one_by_one` | what is not for all readers |
//! | `opening` | where the samples begin that a reader is to get |
//! | `slow_reader` | which reliable readers are not waited for any more, and when they are again |
//! | `round_trip`, `way` | how long answers take, exactly and at most |
//! | `flow`, `pace` | how much of large samples may be under way, to readers that answer and to those that do not |
//! | `lifespan` | when changes are too old to be sent |
//! | `instances` | which are registered, and the walk over those that are alive |
//! | `through` | the short way of changes that nobody will ask for again |
//! | `absent` | readers that fell silent and may come back |
//! | `presentation` | which coherent set a change belongs to, and its place among those of its publisher |
//! | `liveliness` | what the writer has promised to show of itself |
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
