//! A network that exists only in memory, for tests of the protocol and of programs that use it.
//!
//! In: datagrams with the moment at which they are sent. Out: datagrams with the moment at which somebody receives them.
//! Owned: hosts, their ports, what is under way between them. No clock, no thread: whoever asks says what time it is. The same
//! sends under the same seed arrive alike, so a run can be repeated.
//!
//! | file | is |
//! |---|---|
//! | [`Conditions`] | what a link does to what passes it, with ready ones from a perfect cable to a bad Wi-Fi |
//! | `path` | one direction of one link: its queue, its bursts, what it has done so far |
//! | [`Network`] | hosts and ports, and what is under way |
//! | [`Dice`] | the only source of chance |

mod conditions;
mod dice;
mod network;
mod path;

pub use conditions::{Burst, Conditions};
pub use dice::Dice;
pub use network::{Arrival, HostId, Network, NetworkCounters, PortInUse, SocketId};
