//! The driver of a participant that lives on a simulated host.

use super::network::SimNetwork;
use super::thread::SimThread;
use super::world::{World, WorldMember, later};
use crate::actor::{Capacity, Disturb, RunQueue};
use crate::driver::{
    Driver, Network, NetworkConfig, NetworkError, Parker, Role, ThreadHandle, Timers, role, take_role,
};
use dds_rtps::sim::HostId;
use dds_rtps::types::{Duration, HashSeed, Instant, Now};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Wake, Waker};
use std::{fmt, io};

/// Longest time that [`Driver::shutdown`] waits for threads.
const SHUTDOWN_MAX: Duration = Duration::from_secs(1);

/// One participant's clocks, timers, threads and sockets in the world.
pub(super) struct SimDriver {
    id: u64,
    host: HostId,
    world: Arc<World>,
    timers: Arc<Timers>,
    run_queue: Arc<RunQueue>,
    /// The world holds only a weak reference.
    _member: Arc<WorldMember>,
    closing: AtomicBool,
    threads: Mutex<Vec<ThreadHandle>>,
    networks: Mutex<Vec<Weak<SimNetwork>>>,
}

impl SimDriver {
    pub(super) fn new(world: Arc<World>, host: HostId) -> Arc<Self> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        // Nothing to notify: the world looks at all timers before each step.
        let timers = Timers::new(|| ());
        let disturb = Box::new(Disturbance { world: Arc::clone(&world) });
        let run_queue = Arc::new(RunQueue::disturbed(|| (), disturb));
        let member = WorldMember::new(host, Arc::clone(&timers), Arc::clone(&run_queue));
        world.state().add_member(&member);
        Arc::new(Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            host,
            world,
            timers,
            run_queue,
            _member: member,
            closing: AtomicBool::new(false),
            threads: Mutex::default(),
            networks: Mutex::default(),
        })
    }

    /// Converts a time of this host into the time of the world.
    fn world_time(&self, instant: Instant) -> Instant {
        let state = self.world.state();
        let own = state.clocks(self.host).instant;
        later(state.now(), instant.since(own))
    }
}

impl Driver for SimDriver {
    fn now(&self) -> Now {
        self.world.look(self.host)
    }

    fn random(&self) -> u64 {
        self.world.state().random.draw()
    }

    fn hash_seed(&self, of_table: u64) -> HashSeed {
        HashSeed::fixed(of_table)
    }

    fn timers(&self) -> &Arc<Timers> {
        &self.timers
    }

    fn run_queue(&self) -> &Arc<RunQueue> {
        &self.run_queue
    }

    fn park(&self, parker: &Parker, until: Option<Instant>) {
        let woken = parker.woken();
        // A simulated thread returns the baton to the world. An application thread runs the world itself.
        match SimThread::current() {
            Some(thread) => thread.park(woken, until),
            None => {
                let until = until.map(|until| self.world_time(until));
                self.world.run(until, || woken.is_set());
            }
        }
        // The wake that ended the wait is used up, as after a real park.
        parker.take_wake();
    }

    fn wait_limit(&self) -> Option<Duration> {
        Some(self.world.state().wait_limit)
    }

    fn spawn(&self, name: &str, role: Role, body: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle> {
        if self.closing.load(Ordering::Acquire) {
            return Err(io::Error::other("the driver has been shut down"));
        }
        let (handle, guard) = ThreadHandle::new();
        let thread = SimThread::new(self.id, self.host);
        // The guard ends with the body, so the handle reports the end of the thread even after a panic.
        let living = Arc::clone(&thread);
        let body = move || {
            let _guard = guard;
            take_role(role);
            if catch_unwind(AssertUnwindSafe(body)).is_err() {
                tracing::error!(?role, "panic in a thread of the runtime; please report this bug");
            }
        };
        #[allow(clippy::disallowed_methods, reason = "this is a driver")]
        std::thread::Builder::new().name(name.to_owned()).spawn(move || living.live(body))?;
        self.world.state().add_thread(thread);
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle.clone());
        Ok(handle)
    }

    fn open_network(&self, config: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError> {
        let network = SimNetwork::open(config, Arc::clone(&self.world), self.host, &self.timers)?;
        self.networks.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&network));
        Ok(network)
    }

    fn is_own_thread(&self) -> bool {
        match SimThread::current() {
            Some(thread) => thread.driver == self.id,
            None => false,
        }
    }

    fn stop(&self) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        // Taken out of the lock first, because stopping a network locks the world.
        let networks = std::mem::take(&mut *self.networks.lock().unwrap_or_else(PoisonError::into_inner));
        for network in networks.iter().filter_map(Weak::upgrade) {
            network.stop();
        }
    }

    fn when_stopped(&self, waker: Waker) {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // All threads share the waker. It is called when the last of them drops it.
        let last = Waker::from(Arc::new(Last(Some(waker))));
        for thread in threads {
            thread.when_ended(&last);
        }
    }

    fn shutdown(&self) {
        self.stop();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // A thread cannot wait for its own end, and some roles must not wait at all.
        if self.is_own_thread() || !role().may_wait() {
            return;
        }
        let until = self.now().instant.after(SHUTDOWN_MAX);
        for thread in threads {
            // A stuck thread is left behind, as the driver of the operating system does.
            let _ = thread.wait(self, until);
        }
    }
}

/// Calls a waker when the last reference to it is dropped.
struct Last(Option<Waker>);

impl Wake for Last {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }
}

impl Drop for SimDriver {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl fmt::Debug for SimDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimDriver").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Draws from the seed how other threads interfere with a cell.
#[derive(Debug)]
struct Disturbance {
    world: Arc<World>,
}

enum DisturbanceKind {
    Occupied,
    Hasty,
    SmallInbox,
}

impl Disturbance {
    /// Draws with the probability that `share` selects. Counts a hit in the counter that `count` selects.
    /// Draws whether an interference of `kind` happens now, and counts it.
    fn falls(&self, kind: DisturbanceKind) -> bool {
        let state = &mut *self.world.state();
        let (shares, counters) = (&state.interference, &mut state.interfered);
        let (share, counter) = match kind {
            DisturbanceKind::Occupied => (shares.occupied, &mut counters.occupied),
            DisturbanceKind::Hasty => (shares.hasty, &mut counters.hasty),
            DisturbanceKind::SmallInbox => (shares.small_inbox, &mut counters.small_inboxes),
        };
        let falls = state.random.happens(share);
        *counter += u64::from(falls);
        falls
    }
}

impl Disturb for Disturbance {
    fn is_occupied(&self) -> bool {
        self.falls(DisturbanceKind::Occupied)
    }

    fn budget(&self, usual: usize) -> usize {
        if self.falls(DisturbanceKind::Hasty) { 1 } else { usual }
    }

    fn capacity(&self, usual: Capacity) -> Capacity {
        if self.falls(DisturbanceKind::SmallInbox) { Capacity { entries: 2, ..usual } } else { usual }
    }
}
