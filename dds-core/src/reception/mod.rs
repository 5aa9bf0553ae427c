//! From a datagram to the cells of readers, writers and discovery.
//!
//! In: datagrams, on the thread that received them. Out: submessages, offered to cells; counters. Owned: the table of
//! cells by entity ID, the readers matched with each remote writer, and the time at which each participant was last
//! heard.

mod landing;
mod liveliness;
mod receive;
mod routes;
mod traffic;

pub(crate) use receive::{DiscoveryInput, DiscoveryOffer, DiscoveryRun, ReceivedDatagram, Reception};
pub(crate) use routes::{Heard, Routes};
pub(crate) use traffic::ReceiveCounters;
pub use traffic::TrafficCounters;
