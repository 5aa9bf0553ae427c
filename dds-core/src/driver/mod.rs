//! Everything outside: clocks, random numbers, threads, timers, parking, sockets.
//!
//! In: deadlines, cells that want a turn, datagrams to send. Out: the time, [`Signals`](crate::actor::Signals) and pokes for
//! cells, received packets. Owned: the threads and sockets of one participant. Nothing else in this crate reads a clock,
//! sleeps, spawns or opens a socket, so a simulated world is a second implementation of [`Driver`] and no other change.
//!
//! | thread | made by | does |
//! |---|---|---|
//! | `dds-io` | the driver | timers, turns for cells, discovery and multicast sockets |
//! | `dds-receive` | [`Network::start`] | blocking receive on the user-data socket, unless callers do that ([`NetworkConfig::by_caller`]) |
//! | `dds-late` | the driver, once `dds-io` has ended | timers of waits that outlive their participant, as long as there are any |
//! | others, such as `dds-event` | [`Driver::spawn`] | what they are given |

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
pub use network::{
    EXPECTED_HEADER_MAX, Expected, Headers, Locators, Network, NetworkConfig, NetworkError, Packet, Presence, Reach,
    Receive, Resolve, Socket,
};
pub use os::OsDriver;
pub(crate) use outgoing::{Flushed, Outgoing};
#[cfg(any(feature = "udp", feature = "sim"))]
pub(crate) use thread::as_role;
pub use thread::{Role, ThreadGuard, ThreadHandle, role, take_role};
pub use thread_options::{ThreadOptions, ThreadRefused, ThreadSettings};
pub use timer::{Timer, Timers};

use crate::actor::RunQueue;
use crate::sync::Arc;
use dds_rtps::types::{Duration, Instant, Now};
use std::io;
use std::task::Waker;

/// The world that a participant lives in: the operating system, or a simulation of it.
pub trait Driver: Send + Sync + 'static {
    /// Both clocks.
    fn now(&self) -> Now;

    /// A random number; not fit for cryptography, different in every process.
    fn random(&self) -> u64;

    /// The timers of this driver; see [`Timer`].
    fn timers(&self) -> &Arc<Timers>;

    /// Where cells ask for turns.
    fn run_queue(&self) -> &Arc<RunQueue>;

    /// Sleeps until `parker` is woken or `until` has passed (`None`: never). May return early. See [`block_on()`].
    fn park(&self, parker: &Parker, until: Option<Instant>);

    /// Somebody wants to be told of what comes without blocking for it: a future, a stream, a listener. Without meaning where a
    /// thread receives; see [`NetworkConfig::by_caller`].
    fn attend(&self) {}

    /// After how long a wait without a limit gives up. `None`: never. A simulated world has one, for there nobody else comes
    /// to end the wait.
    fn wait_limit(&self) -> Option<Duration> {
        None
    }

    /// Starts a thread.
    ///
    /// # Errors
    /// The system refuses another thread.
    fn spawn(&self, name: &str, role: Role, body: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle>;

    /// Opens the sockets of a participant. Nothing is received before [`Network::start`].
    ///
    /// # Errors
    /// No address can be bound, or this build has no UDP.
    fn open_network(&self, config: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError>;

    /// Whether this is a forked child of the process that made the driver: its threads do not exist here, a lock may be held
    /// for ever, and the sockets are the parent's. Drops then free memory and announce nothing. Costs
    /// a system call only where the system does not count forks.
    fn is_forked(&self) -> bool {
        false
    }

    /// Whether this has been found out to be a forked child: by [`Driver::is_forked`], or by a reading of the clock, which
    /// looks about once in a millisecond. Costs nothing.
    fn was_forked(&self) -> bool {
        false
    }

    /// Whether the calling thread is one of the driver's own.
    fn is_own_thread(&self) -> bool {
        false
    }

    /// Lets all threads of the driver end, if it has any. Does not wait; later calls do nothing.
    fn stop(&self) {}

    /// Calls `waker` once all threads have ended after [`Driver::stop`], or have been given up a second after it.
    fn when_stopped(&self, waker: Waker) {
        waker.wake();
    }

    /// Ends all threads of the driver. Waits for them at most a second, and not at all on one of them; what has not ended
    /// by then is detached. Later calls do nothing.
    fn shutdown(&self);
}
