//! Access to the environment: clocks, random numbers, threads, timers, parking, sockets.
//!
//! In: deadlines, cells for the run queue, datagrams to send. Out: the time, [`Signals`](crate::actor::Signals) and
//! pokes for cells, received packets. Owned: the threads and sockets of one participant.
//!
//! The module is public only for `dds-durability` and for tests of this workspace. It may change in every version.
//!
//! Nothing else in this crate reads a clock, sleeps, spawns a thread or opens a socket. So a simulation only needs a
//! second implementation of [`Driver`].
//!
//! | thread | created by | does |
//! |---|---|---|
//! | `dds-io` | the driver | timers, the run queue, discovery and multicast sockets |
//! | `dds-receive` | [`Network::start`] | blocks on the user-data socket, unless [`NetworkConfig::by_caller`] |
//! | `dds-late` | the driver, after `dds-io` has ended | timers of waits that outlive their participant |
//! | others, such as `dds-event` | [`Driver::spawn`] | the given body |

mod block_on;
#[cfg(any(feature = "udp", feature = "sim"))]
mod faulty;
mod network;
mod os;
mod outgoing;
mod thread;
mod thread_options;
mod timer;

pub use crate::sync::Parker;
pub use block_on::block_on;
#[cfg(any(feature = "udp", feature = "sim"))]
pub(crate) use faulty::{FaultyReceive, FaultyTransport};
pub(crate) use network::SHARED_MEMORY;
#[cfg(any(feature = "udp", feature = "sim"))]
pub(crate) use network::UNREAD_SENDER;
pub use network::{
    Carrier, EXPECTED_HEADER_MAX, Expected, ExpectedPlace, Headers, Locators, Network, NetworkConfig, NetworkError,
    Packet, Presence, Reach, Receive, Resolve, Socket, VERSION_PROPERTY,
};
pub use os::OsDriver;
pub(crate) use outgoing::{Flushed, Outgoing};
#[cfg(any(all(feature = "udp", target_os = "linux", not(dds_loom)), feature = "sim"))]
pub(crate) use thread::as_role;
pub use thread::{Role, ThreadGuard, ThreadHandle, role, take_role};
pub use thread_options::{ThreadOptions, ThreadRefused, ThreadSettings};
pub use timer::{Timer, Timers};

use crate::actor::RunQueue;
use crate::sync::Arc;
use dds_rtps::types::{Duration, HashSeed, Instant, Now};
use std::io;
use std::task::Waker;

/// The environment of a participant: the operating system, or a simulation of it.
pub trait Driver: Send + Sync + 'static {
    /// Reads both clocks.
    fn now(&self) -> Now;

    /// Returns a random number. Different in every process.
    ///
    /// Not fit for cryptography. Except in a simulation, peers cannot derive it from other results.
    fn random(&self) -> u64;

    /// Returns the seed of a hash table whose keys a peer can choose. Only a simulation returns a known one.
    fn hash_seed(&self, of_table: u64) -> HashSeed {
        HashSeed::secret(of_table, || self.random())
    }

    /// Timers of this driver. See [`Timer`].
    fn timers(&self) -> &Arc<Timers>;

    /// Queue of the cells that ask the driver to run them.
    fn run_queue(&self) -> &Arc<RunQueue>;

    /// Sleeps until `parker` is woken or `until` has passed. `None` means no limit.
    ///
    /// May return early. See [`block_on()`].
    fn park(&self, parker: &Parker, until: Option<Instant>);

    /// Requires prompt reception, because a future, a stream or a listener is in use.
    ///
    /// These do not block and so do not receive. Has no effect where a thread receives; see
    /// [`NetworkConfig::by_caller`].
    fn attend(&self) {}

    /// Limit of a wait that has no limit of its own. `None` means forever.
    ///
    /// A simulation has one, because no other thread can end the wait there.
    fn wait_limit(&self) -> Option<Duration> {
        None
    }

    /// Starts a thread.
    ///
    /// # Errors
    /// Fails if the system refuses another thread.
    fn spawn(&self, name: &str, role: Role, body: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle>;

    /// Opens the sockets of a participant. They receive nothing before [`Network::start`].
    ///
    /// # Errors
    /// Fails if no address can be bound, or if this build has no UDP.
    fn open_network(&self, config: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError>;

    /// Whether this process is a forked child of the process that created the driver.
    ///
    /// Then the driver's threads do not exist, a lock may be held forever, and the sockets belong to the parent. Drops
    /// only free memory and announce nothing. Costs a system call only where the system does not count forks.
    fn is_forked(&self) -> bool {
        false
    }

    /// Whether this process is already known to be a forked child. Costs two loads.
    ///
    /// [`Driver::is_forked`] detects this, and so does a reading of the clock, which checks about once per millisecond.
    fn was_forked(&self) -> bool {
        false
    }

    /// Whether the calling thread belongs to the driver.
    fn is_own_thread(&self) -> bool {
        false
    }

    /// Makes all threads of the driver end. Does not wait. Later calls do nothing.
    fn stop(&self) {}

    /// Wakes `waker` when all threads have ended after [`Driver::stop`], or one second later at the latest.
    fn when_stopped(&self, waker: Waker) {
        waker.wake();
    }

    /// Ends all threads of the driver and waits for them, for one second at most.
    ///
    /// On one of these threads it does not wait. Threads that have not ended by then are detached. Later calls do
    /// nothing.
    fn shutdown(&self);
}
