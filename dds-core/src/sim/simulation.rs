//! The user's end of a simulation.

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

/// The variable from which [`Simulation::seed_or`] takes a seed.
const SEED_VARIABLE: &str = "DDS_SIM_SEED";

/// A world in memory; see the [module](super) for what it is and what is in it.
///
/// A handle: cloning it is cheap, and its participants live on without it. Hosts are made when they are first named, in a
/// network that is as fast and safe as [`Conditions::ethernet`].
#[derive(Clone)]
pub struct Simulation {
    world: Arc<World>,
}

impl Simulation {
    /// A world in which everything that is left to chance is drawn from `seed`, and threads seem to meet as in a busy
    /// program: [`Interference::default`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { world: World::new(seed, Interference::default()) }
    }

    /// A world with another [`Interference`], such as [`Interference::NONE`].
    #[must_use]
    pub fn with_interference(seed: u64, interference: Interference) -> Self {
        Self { world: World::new(seed, interference) }
    }

    /// The seed in the environment variable `DDS_SIM_SEED`, or else `seed`: for a test that goes through many seeds, so that
    /// one of them can be run again alone.
    #[must_use]
    pub fn seed_or(seed: u64) -> u64 {
        std::env::var(SEED_VARIABLE).ok().and_then(|seed| seed.trim().parse().ok()).unwrap_or(seed)
    }

    /// A participant on a host. The environment variables do not count here.
    ///
    /// # Errors
    /// As [`DomainParticipant::new`].
    pub fn participant(&self, host: &str, domain_id: u32) -> Result<DomainParticipant, CreateError> {
        self.build(host, DomainParticipant::builder(domain_id))
    }

    /// A participant on a host, with other settings than the default.
    ///
    /// A host has one interface, with IPv4, in one network without routers, so some settings mean nothing here and change
    /// nothing: `interfaces`, `ip_families`, `multicast_ttl`, `send_buffer`, and names and cores of threads. Names of peers
    /// are not looked up; their addresses are [`Host::address`](super::Host::address).
    ///
    /// # Errors
    /// As [`DomainParticipant::new`]; [`CreateErrorKind::Transport`] if the host is switched off;
    /// [`CreateErrorKind::NotSimulated`] if its datagrams were to be written into a file (`tap`): look at them by
    /// [`Simulation::intercept`].
    pub fn build(&self, host: &str, builder: DomainParticipantBuilder) -> Result<DomainParticipant, CreateError> {
        let refuse = |message: &str| {
            let kind = CreateErrorKind::Transport { message: message.to_owned() };
            CreateError::new(&Subject::new("participant", "", Guid::UNKNOWN), kind)
        };
        let id = self.world.state().add_host(host).ok_or_else(|| refuse("a simulation has 65 000 hosts at most"))?;
        if !self.world.state().host(id).is_some_and(|host| host.is_up) {
            return Err(refuse("the simulated host has crashed; restart it first"));
        }
        builder.ignore_environment().build_on(SimDriver::new(Arc::clone(&self.world), id))
    }

    /// A host.
    #[must_use]
    pub fn host(&self, name: &str) -> Host {
        Host { world: Arc::clone(&self.world), id: self.id_of(name) }
    }

    /// What is between two hosts, in both directions.
    #[must_use]
    pub fn link(&self, one: &str, other: &str) -> Link {
        let (from, to) = (self.id_of(one), self.id_of(other));
        Link { world: Arc::clone(&self.world), from, to, one_way: false }
    }

    /// What all links between different hosts do that were not set one by one. Default: [`Conditions::ethernet`].
    pub fn set_network(&self, conditions: Conditions) {
        self.world.state().network.set_default_conditions(conditions);
    }

    /// Shows every datagram, once for each destination, before the link has its say: `intercept` may change its bytes, and
    /// stops it by answering `false`. Takes the place of an earlier one. For losses that mean one kind of message, for
    /// damage in one place, and to see what is sent.
    ///
    /// It is called while the world stands: it must not use the simulation or its participants.
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
        // Not while the world is held: it is the application's.
        drop(before);
    }

    /// How often the world behaves as if others were at work, from now on.
    pub fn set_interference(&self, interference: Interference) {
        self.world.state().interference = interference;
    }

    /// How often it has done so.
    #[must_use]
    pub fn interference_counters(&self) -> InterferenceCounters {
        self.world.state().interfered
    }

    /// After how long a wait without a limit gives up with [`Timeout`](crate::WaitErrorKind::Timeout), for in a world in
    /// which only you act, what does not happen now never will. Default: one hour of its time.
    pub fn set_wait_limit(&self, limit: impl Into<Duration>) {
        self.world.state().wait_limit = limit.into();
    }

    /// Lets time pass, and everything happen that does in it. In a listener of the event thread, only that thread waits;
    /// in an inline one, which must not wait, this does nothing.
    pub fn run_for(&self, duration: impl Into<Duration>) {
        let until = later(self.world.state().now(), duration.into());
        self.run(until, || false);
    }

    /// Lets time pass until `condition` holds, which is looked at after everything that happens, at most for `limit`.
    /// Whether it holds.
    pub fn run_until(&self, limit: impl Into<Duration>, condition: impl FnMut() -> bool) -> bool {
        let until = later(self.world.state().now(), limit.into());
        self.run(until, condition)
    }

    /// Runs a future to its end, at most for `limit`; `None` if that was not enough.
    pub fn block_on<F: Future>(&self, limit: impl Into<Duration>, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        Parker::with_current(|parker| {
            let mut context = Context::from_waker(parker.waker());
            let woken = parker.woken();
            let until = later(self.world.state().now(), limit.into());
            loop {
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

    /// What a clock shows that is right.
    #[must_use]
    pub fn now(&self) -> Time {
        self.world.state().true_time()
    }

    /// A number for everything that has happened: equal for two runs of the same program under the same seed.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.world.state().trace_hash()
    }

    /// What has become of all datagrams.
    #[must_use]
    pub fn network_counters(&self) -> NetworkCounters {
        self.world.state().network.counters()
    }

    fn run(&self, until: dds_rtps::types::Instant, mut done: impl FnMut() -> bool) -> bool {
        match SimThread::current() {
            Some(thread) => {
                // Its time and that of the world differ by what its host has slept.
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

    /// The world ends at 65 000 hosts; who asks for more gets the last one.
    fn id_of(&self, name: &str) -> HostId {
        let mut state = self.world.state();
        match state.add_host(name) {
            Some(id) => id,
            None => state.hosts.last().map_or_else(HostId::default, |host| host.id),
        }
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now()).finish_non_exhaustive()
    }
}
