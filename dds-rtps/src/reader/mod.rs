//! The reader side of the protocol: from submessages of matched writers to samples in the history.
//!
//! In: DATA, DATA_FRAG, GAP, HEARTBEAT and HEARTBEAT_FRAG of matched writers, changes of writers of the same process,
//! reads and takes, the clock. Out: the history's samples, [`ReaderEvent`]s, datagrams with ACKNACK and NACK_FRAG, the
//! next deadline. Owned by [`StatefulReader`]: the history, a proxy per matched writer, the slots of received payloads.
//!
//! A change goes this way: is its number of use (`reliable`), which instance is it of and where is its payload kept
//! (`intake`, after `assembly` if it came in fragments, which `landing` receives in their place), its turn (`window`), the end of its coherent set (`set_gate`), under scope GROUP that of all writers of its publisher (`group_gate`, `group`), the history. What is to be said to the
//! writer is decided when it is due (`asking`), from the state at that moment. What does not arrive, or is not delivered,
//! is counted by writer and cause (`tally`, `losses`). Who waits for room: `room`. Whose word is taken for numbers far
//! away: `jumps`. Which writers are alive: `liveliness`.

mod asking;
mod assembly;
mod change_facts;
mod config;
mod event;
mod group;
mod group_gate;
mod incoming;
mod intake;
mod jumps;
mod landing;
mod liveliness;
mod losses;
mod reliable;
mod room;
mod set_gate;
mod sink;
mod stateful;
mod tally;
mod window;
mod writer_proxy;

pub use config::{KeySource, REORDER_MAX, ReaderConfig, Source, WriterProxyConfig};
pub use event::{LossCause, ReaderCounters, ReaderEvent};
pub use group_gate::{GroupGate, GroupItem, GroupKey, ITEMS_MAX, Release};
pub use incoming::Handled;
pub use landing::Landing;
pub use liveliness::LivelinessCounts;
pub use losses::{DEPARTED_MAX, Losses, NotReceived, Undelivered, WriterLosses};
pub use stateful::{LocalOutcome, StatefulReader, WRITERS_MAX};

#[cfg(test)]
mod tests;
