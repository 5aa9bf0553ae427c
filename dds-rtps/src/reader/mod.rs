//! The reader side of the protocol: from submessages of matched writers to samples in the history.
//!
//! - In: DATA, DATA_FRAG, GAP, HEARTBEAT and HEARTBEAT_FRAG of matched writers, changes of local writers, reads and
//!   takes, the clock.
//! - Out: samples in the history, [`StatefulReaderEvent`]s, datagrams with ACKNACK and NACK_FRAG, the next deadline.
//! - Owned by [`StatefulReader`]: the history, a writer proxy for each matched writer, the slots of received payloads.
//!
//! A received change passes `stateful::incoming`, `proxy` (is its number new?), `change_builder` (instance, filter and
//! memory; after `assembly` if it came in fragments), the reorder window of its proxy, `coherent` (sets of
//! PRESENTATION), and `delivery` into the history. `proxy::acknack` decides when the writer gets an answer. `ledger`
//! counts lost and dropped changes by writer, `space` tracks whether changes wait for the history, `liveliness` the
//! writers' leases.

mod assembly;
mod change_builder;
mod change_facts;
mod coherent;
mod config;
mod delivery;
mod event;
mod ledger;
mod liveliness;
mod proxy;
mod space;
mod stateful;
mod writers;

pub use assembly::in_place::InPlaceFragment;
pub use coherent::group_gate::{GroupGate, GroupItem, ITEMS_MAX, PublisherKey, Release};
pub use config::{KeySource, REORDER_MAX, ReaderConfig, Source, WriterProxyConfig};
pub use event::{LossCause, ReaderCounters, StatefulReaderEvent};
pub use ledger::{DEPARTED_MAX, Losses, NotReceived, Undelivered, WriterLosses};
pub use liveliness::LivelinessCounts;
pub use stateful::StatefulReader;
pub use stateful::incoming::{Handled, LocalOutcome};
pub use writers::WRITERS_MAX;

#[cfg(test)]
mod tests;
