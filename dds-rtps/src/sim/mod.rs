//! A network that exists only in memory, for tests of the protocol and of programs that use it.
//!
//! In: datagrams with the time at which they are sent. Out: datagrams with the time at which a socket receives them.
//! Owned: hosts, their sockets, and the datagrams in flight between them. No clock and no thread: the caller passes
//! the time. The same sends under the same seed arrive alike, so a run can be repeated.
//!
//! [`link`](crate::link) decides what happens to a datagram between two hosts.

mod network;

pub use crate::link::{Burst, Conditions, NetworkCounters};
pub use network::{HostId, PortInUse, SimDatagram, SocketId, VirtualNetwork};
