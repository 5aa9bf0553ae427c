//! The handle of a simulation.

use super::driver::SimDriver;
use super::thread::SimThread;
use super::world::{World, later};
use super::{Conditions, Host, Interference, InterferenceCounters, Link, NetworkCounters, Passing};
use crate::driver::{Parker, role};
use crate::infrastructure::{CreateError, CreateErrorKind, Subject};
use crate::{DomainParticipant, DomainParticipantBuilder};
use dds_rtps::sim::HostId;
use dds_rtps::types::{Duration, Guid, Time};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The environment variable from which [`Simulation::seed_or`] takes a seed.
const SEED_VARIABLE: &str = "DDS_SIM_SEED";

/// A simulated world in memory. The [module](super) describes its scope.
///
/// Clones are cheap and refer to the same world. Participants outlive this handle. A host is created when it is first
/// named. The default network is as fast and reliable as [`Conditions::ethernet`].
#[derive(Clone)]
pub struct Simulation {
    world: Arc<World>,
}

impl Simulation {
    /// Creates a world that draws all its random choices from `seed`.
    ///
    /// Threads interfere as in a busy program: [`Interference::default`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { world: World::new(seed, Interference::default()) }
    }

    /// Creates a world with another [`Interference`], such as [`Interference::NONE`].
    #[must_use]
    pub fn with_interference(seed: u64, interference: Interference) -> Self {
        Self { world: World::new(seed, interference) }
    }

    /// Returns the seed in the environment variable `DDS_SIM_SEED`, or else `seed`.
    ///
    /// A test that tries many seeds can run a single one again this way.
    #[must_use]
    pub fn seed_or(seed: u64) -> u64 {
        std::env::var(SEED_VARIABLE).ok().and_then(|seed| seed.trim().parse().ok()).unwrap_or(seed)
    }

    /// Creates a participant on a host. Ignores the environment variables of this library.
    ///
    /// # Errors
    /// As [`DomainParticipant::new`].
    pub fn participant(&self, host: &str, domain_id: u32) -> Result<DomainParticipant, CreateError> {
        self.build(host, DomainParticipant::builder(domain_id))
    }

    /// Creates a participant on a host with the settings of `builder`.
    ///
    /// A host has one IPv4 interface, and its network has no routers. Some settings therefore have no effect:
    /// `interfaces`, `ip_families`, `multicast_ttl`, `send_buffer`, and names and cores of threads. Names of peers are
    /// not resolved. Use their addresses instead: [`Host::address`](super::Host::address).
    ///
    /// # Errors
    /// - As [`DomainParticipant::new`].
    /// - [`CreateErrorKind::Transport`] if the host has crashed.
    /// - [`CreateErrorKind::NotSimulated`] if `builder` has a capture file (`tap`). Use [`Simulation::intercept`]
    ///   instead.
    pub fn build(&self, host: &str, builder: DomainParticipantBuilder) -> Result<DomainParticipant, CreateError> {
        let added = self.world.state().add_host(host);
        let Some(id) = added else { return Err(refused("a simulation has 65 000 hosts at most")) };
        if !self.world.state().is_up(id) {
            return Err(refused("the simulated host has crashed; restart it first"));
        }
        // The environment differs between machines, and a run must be repeatable.
        builder.ignore_environment().build_on(SimDriver::new(Arc::clone(&self.world), id))
    }

    /// Returns the host called `name`.
    #[must_use]
    pub fn host(&self, name: &str) -> Host {
        Host { world: Arc::clone(&self.world), id: self.id_of(name) }
    }

    /// Returns the link between two hosts, in both directions.
    #[must_use]
    pub fn link(&self, one: &str, other: &str) -> Link {
        let (from, to) = (self.id_of(one), self.id_of(other));
        Link { world: Arc::clone(&self.world), from, to, one_way: false }
    }

    /// Sets the conditions of all links between different hosts that have no conditions of their own.
    ///
    /// Default: [`Conditions::ethernet`].
    pub fn set_network(&self, conditions: Conditions) {
        self.world.state().network.set_default_conditions(conditions);
    }

    /// Calls `intercept` with every datagram, once for each destination, before the link acts on it.
    ///
    /// `intercept` may change the bytes. It drops the datagram by returning `false`. It replaces an earlier
    /// interceptor. Use it to lose one kind of message, to damage certain bytes, or to inspect the traffic.
    ///
    /// `intercept` must not use the simulation or its participants, because the world is locked during the call.
    ///
    /// ```
    /// use dds_core::sim::Simulation;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let simulation = Simulation::new(1);
    /// let bytes = Arc::new(AtomicUsize::new(0));
    /// let sum = Arc::clone(&bytes);
    /// simulation.intercept(move |passing| {
    ///     sum.fetch_add(passing.bytes.len(), Ordering::Relaxed);
    ///     true
    /// });
    /// simulation.host("stranger").send(([10, 77, 0, 2], 7411), b"knock");
    /// assert_eq!(bytes.load(Ordering::Relaxed), 5);
    /// ```
    pub fn intercept(&self, intercept: impl FnMut(&mut Passing) -> bool + Send + 'static) {
        let before = self.world.state().intercept.replace(Box::new(intercept));
        // The interceptor belongs to the application. Its destructor must not run while the world is locked.
        drop(before);
    }

    /// Sets how often the world behaves as if other threads ran at the same time.
    pub fn set_interference(&self, interference: Interference) {
        self.world.state().interference = interference;
    }

    /// Returns how often each kind of interference occurred.
    #[must_use]
    pub fn interference_counters(&self) -> InterferenceCounters {
        self.world.state().interfered
    }

    /// Sets the limit of waits that have no limit of their own. Default: one simulated hour.
    ///
    /// Such a wait fails with [`Timeout`](crate::error::WaitErrorKind::Timeout) at the limit. Only your program acts in
    /// the world. An event that does not occur by then never occurs.
    pub fn set_wait_limit(&self, limit: impl Into<Duration>) {
        self.world.state().wait_limit = limit.into();
    }

    /// Advances time by `duration` and performs all events in it.
    ///
    /// In a listener on the event thread, only that thread waits. In an inline listener, which must not wait, it does
    /// nothing.
    pub fn run_for(&self, duration: impl Into<Duration>) {
        let until = later(self.world.state().now(), duration.into());
        self.run(until, || false);
    }

    /// Advances time until `condition` holds, for at most `limit`. Returns whether the condition holds.
    ///
    /// The condition is checked after each event.
    pub fn run_until(&self, limit: impl Into<Duration>, condition: impl FnMut() -> bool) -> bool {
        let until = later(self.world.state().now(), limit.into());
        self.run(until, condition)
    }

    /// Runs a future to completion, for at most `limit`. Returns `None` if the limit is reached.
    pub fn block_on<F: Future>(&self, limit: impl Into<Duration>, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        Parker::with_current(|parker| {
            let mut context = Context::from_waker(parker.waker());
            let woken = parker.woken();
            let until = later(self.world.state().now(), limit.into());
            loop {
                // Taken before the poll, so a wake-up during the poll is not lost.
                parker.take_wake();
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return Some(output);
                }
                if !self.run(until, || woken.is_set()) {
                    return None;
                }
            }
        })
    }

    /// Returns the time of a correct clock.
    #[must_use]
    pub fn now(&self) -> Time {
        self.world.state().true_time()
    }

    /// Returns a hash of all events so far. Runs of the same program with the same seed have the same hash.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.world.state().trace_hash()
    }

    /// Returns the outcome of all datagrams.
    #[must_use]
    pub fn network_counters(&self) -> NetworkCounters {
        self.world.state().network.counters()
    }

    fn run(&self, until: dds_rtps::types::Instant, mut done: impl FnMut() -> bool) -> bool {
        match SimThread::current() {
            Some(thread) => {
                // The time of its host and the time of the world differ by the sleep of the host.
                let state = self.world.state();
                let own = later(state.clocks(thread.host).instant, until.since(state.now()));
                drop(state);
                Parker::with_current(|parker| {
                    parker.take_wake();
                    thread.park(parker.woken(), Some(own));
                });
                done()
            }
            None if role().may_wait() => self.world.run(Some(until), done),
            None => done(),
        }
    }

    /// Returns the host called `name`. At the limit of 65 000 hosts, returns the last host instead.
    fn id_of(&self, name: &str) -> HostId {
        let mut state = self.world.state();
        match state.add_host(name) {
            Some(id) => id,
            None => state.hosts.last().map_or_else(HostId::default, |host| host.id),
        }
    }
}

fn refused(message: &str) -> CreateError {
    let kind = CreateErrorKind::Transport { message: message.to_owned() };
    CreateError::new(&Subject::new("participant", "", Guid::UNKNOWN), kind)
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now()).finish_non_exhaustive()
    }
}
