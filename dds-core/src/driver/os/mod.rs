//! The operating system as a [`Driver`]: std threads, and one tokio runtime on its own thread.
//!
//! The runtime waits for timers and for the discovery sockets, and runs cells that are in the run queue. The runtime is
//! created and dropped on its own thread. Tokio refuses to drop a runtime inside another runtime, and the application
//! may drop its participant there.

#[cfg(feature = "udp")]
mod addressing;
mod alarm;
#[cfg(all(feature = "udp", target_os = "linux", not(dds_loom)))]
mod attendance;
#[cfg(all(feature = "udp", not(all(target_os = "linux", not(dds_loom)))))]
#[path = "unattended.rs"]
mod attendance;
mod clock;
#[cfg(feature = "udp")]
mod intake;
#[cfg(feature = "udp")]
mod landings;
mod late;
#[cfg(feature = "udp")]
mod naming;
#[cfg(feature = "udp")]
mod network;
#[cfg(feature = "udp")]
mod presence;
#[cfg(all(feature = "shm", target_os = "linux", not(dds_loom)))]
mod sharing;
#[cfg(all(feature = "udp", not(all(feature = "shm", target_os = "linux", not(dds_loom)))))]
#[path = "unshared.rs"]
mod sharing;
#[cfg(feature = "udp")]
mod tap;

use super::thread::{is_thread_of, take_owner};
use super::{
    Driver, Network, NetworkConfig, NetworkError, Parker, Role, ThreadHandle, ThreadOptions, Timers, role, take_role,
};
use crate::actor::RunQueue;
#[cfg(feature = "udp")]
use crate::sync::OnceLock;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Lock, Ordering, Weak};
use alarm::Alarm;
use clock::Clock;
use dds_rtps::types::{Duration, Instant, Now};
use late::Late;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::task::Waker;
use tokio::runtime;
use tokio::sync::Notify;

/// How long [`Driver::shutdown`] waits for threads.
const SHUTDOWN_MAX: Duration = Duration::from_secs(1);

/// How long the driver's own thread waits for the other threads. Shorter than [`SHUTDOWN_MAX`], so that a stuck thread
/// does not count twice.
const OTHERS_MAX: Duration = Duration::from_millis(900);

/// Number of cells that run before timers and sockets are checked again. Takes 300 us if each cell has steps to run.
const TURNS: usize = 4;

/// Threads, clocks and sockets of one participant.
#[derive(Debug)]
pub struct OsDriver {
    shared: Arc<DriverShared>,
    /// Runs the tasks of the sockets.
    #[cfg(feature = "udp")]
    runtime: runtime::Handle,
}

/// State that the driver's threads hold. They do not hold the driver itself, because dropping its last handle ends
/// them.
#[derive(Debug)]
struct DriverShared {
    id: u64,
    clock: Clock,
    timers: Arc<Timers>,
    run_queue: Arc<RunQueue>,
    wake: Arc<Wake>,
    closing: AtomicBool,
    threads: Lock<Vec<ThreadHandle>>,
    options: ThreadOptions,
    /// Number of running threads, without the driver's own.
    others: Arc<AtomicUsize>,
    /// Wakers to wake when the driver's own thread has ended. `None` after that.
    stopped: Lock<Option<Vec<Waker>>>,
    networks: Lock<Vec<Weak<dyn Network>>>,
    /// Set if waiting threads of the application receive user data.
    #[cfg(feature = "udp")]
    attendance: OnceLock<Arc<attendance::Attendance>>,
}

impl OsDriver {
    /// Starts the driver with default thread settings. See [`OsDriver::with_threads`].
    ///
    /// # Errors
    /// Fails like [`OsDriver::with_threads`].
    pub fn new() -> io::Result<Arc<Self>> {
        Self::with_threads(ThreadOptions::default())
    }

    /// Starts the driver's thread.
    ///
    /// # Errors
    /// Fails if the system refuses a thread, a thread setting ([`ThreadRefused`](super::ThreadRefused)) or the
    /// descriptors of an event loop.
    pub fn with_threads(options: ThreadOptions) -> io::Result<Arc<Self>> {
        static NEXT_ID: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        // Both queues share one waker: timers and run queue are served by the same thread.
        let wake = Arc::new(Wake::new(id));
        let (timer_wake, turn_wake) = (Arc::clone(&wake), Arc::clone(&wake));
        let shared = Arc::new(DriverShared {
            id,
            clock: Clock::new(),
            timers: Timers::new(move || timer_wake.for_timers()),
            run_queue: Arc::new(RunQueue::new(move || turn_wake.for_turns()).measured_by(clock::nanos)),
            wake: Arc::clone(&wake),
            closing: AtomicBool::new(false),
            threads: Lock::default(),
            options,
            others: Arc::default(),
            stopped: Lock::new(Some(Vec::new())),
            networks: Lock::default(),
            #[cfg(feature = "udp")]
            attendance: OnceLock::new(),
        });
        let (sender, receiver) = mpsc::sync_channel(1);
        let body = {
            let shared = Arc::clone(&shared);
            move || run_io(&shared, &sender)
        };
        shared.spawn("dds-io", Role::Driver, Box::new(body))?;
        // Wait for the runtime's handle: `OsDriver` cannot open sockets without it.
        let runtime = receiver.recv().map_err(|_| io::Error::other("the driver's thread has ended"))??;
        #[cfg(not(feature = "udp"))]
        drop(runtime);
        Ok(Arc::new(Self {
            shared,
            #[cfg(feature = "udp")]
            runtime,
        }))
    }
}

/// Makes the driver's thread check timers and the run queue again.
#[derive(Debug)]
struct Wake {
    notify: Notify,
    driver: u64,
    /// The driver's thread is checking now. It checks again before it sleeps, so a request from this thread needs no
    /// system call to wake it.
    is_looking: AtomicBool,
    again: AtomicBool,
    /// Fires timers after the driver's thread has ended.
    late: Late,
}

impl Wake {
    fn new(driver: u64) -> Self {
        Self {
            notify: Notify::new(),
            driver,
            is_looking: AtomicBool::new(false),
            again: AtomicBool::new(false),
            late: Late::default(),
        }
    }

    /// Called when the earliest timer became earlier.
    fn for_timers(&self) {
        // The driver's thread reads the next deadline after it has checked, so it needs no wake.
        if !self.is_looking() {
            self.notify.notify_one();
            self.late.kick();
        }
    }

    /// Called when a cell entered the run queue.
    fn for_turns(&self) {
        if self.is_looking() {
            self.again.store(true, Ordering::Relaxed);
        } else {
            self.notify.notify_one();
        }
    }

    /// Whether the caller is the driver's thread and is checking now. Only that thread reads or writes the two flags.
    fn is_looking(&self) -> bool {
        role() == Role::Driver && is_thread_of(self.driver) && self.is_looking.load(Ordering::Relaxed)
    }

    /// Runs `look` on the driver's thread.
    ///
    /// Returns true if `look` did, or if a cell entered the run queue during it.
    fn looking(&self, look: impl FnOnce() -> bool) -> bool {
        // Relaxed is enough, because only this thread uses the flags.
        self.is_looking.store(true, Ordering::Relaxed);
        let more = look();
        self.is_looking.store(false, Ordering::Relaxed);
        self.again.swap(false, Ordering::Relaxed) || more
    }
}

/// Body of the driver's thread. Sends a handle of its runtime, or the error that prevented one.
fn run_io(shared: &Arc<DriverShared>, started: &mpsc::SyncSender<io::Result<runtime::Handle>>) {
    let runtime = match runtime::Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            // If the receiver is gone, the thread just ends.
            let _ = started.send(Err(error));
            return;
        }
    };
    let _ = started.send(Ok(runtime.handle().clone()));
    // Returns after shutdown.
    runtime.block_on(shared.serve());
    // Dropping the runtime drops its tasks, which hold the sockets.
    drop(runtime);
    // Wake outside of the lock, because a waker is code of the application.
    let stopped = shared.stopped.lock().take();
    for waker in stopped.into_iter().flatten() {
        waker.wake();
    }
    // Last, because the woken threads may still set timers. After that they need no driver thread.
    shared.wake.late.begin(shared);
}

impl DriverShared {
    /// Works until the driver closes, and then until its other threads have ended.
    ///
    /// A listener in its last call may still need a timer. Other tasks of the runtime serve the sockets.
    async fn serve(&self) {
        let mut alarm = Alarm::new();
        self.serve_while(&mut alarm, None, || !self.closing.load(Ordering::Acquire)).await;
        // A thread that does not end, such as a listener stuck in user code, must not keep this one alive.
        let until = self.clock.now().instant.after(OTHERS_MAX);
        let others_run = || self.others.load(Ordering::Acquire) > 0 && Some(self.clock.now().instant) < until;
        self.serve_while(&mut alarm, until, others_run).await;
    }

    /// Runs queued cells and fires timers while `goes_on` returns true. Checks `goes_on` at `until` at the latest.
    async fn serve_while(&self, alarm: &mut Alarm, until: Option<Instant>, goes_on: impl Fn() -> bool) {
        while goes_on() {
            let more = self.wake.looking(|| {
                let more_turns = (0..TURNS).all(|_| self.run_queue.run_one());
                let more_timers = self.timers.fire(self.clock.now().instant);
                more_turns || more_timers
            });
            if more {
                // Let the socket tasks run before the next round.
                tokio::task::yield_now().await;
                continue;
            }
            // Create the future before the deadline is read, so that a wake in between is kept.
            let woken = self.wake.notify.notified();
            match self.timers.next().into_iter().chain(until).min() {
                None => woken.await,
                // Woken or due: both mean that the loop checks again.
                Some(next) => alarm.wait(&self.clock, next, woken).await,
            }
        }
    }

    /// Counts application threads that receive while they wait. They must end before the driver's own thread.
    #[cfg(feature = "udp")]
    fn leading(&self) -> Leading {
        Leading { others: Arc::clone(&self.others), wake: Arc::clone(&self.wake) }
    }

    /// Returns false if the driver has an attendance already.
    #[cfg(feature = "udp")]
    fn attend_by_callers(&self, attendance: &Arc<attendance::Attendance>) -> bool {
        self.attendance.set(Arc::clone(attendance)).is_ok()
    }

    /// Returns the attendance if the calling thread may receive.
    #[cfg(feature = "udp")]
    fn attendance(&self) -> Option<&Arc<attendance::Attendance>> {
        // The event thread must not receive, because other listeners wait for it. In a forked child the sockets belong
        // to the parent.
        if role() == Role::Application && !self.is_forked() { self.attendance.get() } else { None }
    }

    fn is_forked(&self) -> bool {
        self.clock.is_forked()
    }

    fn spawn(&self, name: &str, role: Role, body: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle> {
        if self.closing.load(Ordering::Acquire) {
            return Err(io::Error::other("the driver has been shut down"));
        }
        let (handle, guard) = ThreadHandle::new();
        let settings = self.options.of(role);
        let name = settings.name_or(name);
        // Settings apply to the running thread only, so the new thread reports back whether the system accepted them.
        let (tell, told) = mpsc::sync_channel(1);
        let asked = if settings.asks() { Some((settings.clone(), tell)) } else { None };
        let waits = asked.is_some();
        let id = self.id;
        // The driver's own thread waits for the others, so it does not count itself.
        let other = if role == Role::Driver { None } else { Some(RunningThread::new(self)) };
        let run = move || {
            let _guard = (other, guard);
            take_role(role);
            take_owner(id);
            if let Some((settings, tell)) = asked {
                let applied = settings.apply(role);
                let refused = applied.is_err();
                // The thread that called `spawn` waits for this result.
                let _ = tell.send(applied);
                if refused {
                    return;
                }
            }
            if catch_unwind(AssertUnwindSafe(body)).is_err() {
                tracing::error!(?role, "panic in a thread of the runtime; please report this bug");
            }
        };
        #[allow(clippy::disallowed_methods, reason = "this is the driver")]
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        if waits {
            told.recv().map_err(|_| io::Error::other("the thread has ended"))??;
        }
        // Drop handles of ended threads, so that the list stays as short as the number of running threads.
        let mut threads = self.threads.lock();
        threads.retain(|thread| !thread.has_ended());
        threads.push(handle.clone());
        Ok(handle)
    }
}

impl Driver for OsDriver {
    #[inline]
    fn now(&self) -> Now {
        self.shared.clock.now()
    }

    fn random(&self) -> u64 {
        clock::random(self.now())
    }

    fn timers(&self) -> &Arc<Timers> {
        &self.shared.timers
    }

    fn run_queue(&self) -> &Arc<RunQueue> {
        &self.shared.run_queue
    }

    fn park(&self, parker: &Parker, until: Option<Instant>) {
        debug_assert!(role().may_wait(), "a wait on a thread that others wait for");
        let timeout = || {
            let until = until?.as_nanos();
            Some(std::time::Duration::from_nanos(until.saturating_sub(self.now().instant.as_nanos())))
        };
        #[cfg(feature = "udp")]
        if let Some(attendance) = self.shared.attendance() {
            return attendance.park(parker, timeout);
        }
        parker.park(timeout());
    }

    #[cfg(feature = "udp")]
    fn attend(&self) {
        if let Some(attendance) = self.shared.attendance.get() {
            attendance.be_prompt();
        }
    }

    fn spawn(&self, name: &str, role: Role, body: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle> {
        self.shared.spawn(name, role, body)
    }

    #[cfg(feature = "udp")]
    fn open_network(&self, config: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError> {
        let network: Arc<dyn Network> =
            network::OsNetwork::open(config, Arc::clone(&self.shared), self.runtime.clone())?;
        let mut networks = self.shared.networks.lock();
        networks.retain(|network| network.strong_count() > 0);
        networks.push(Arc::downgrade(&network));
        drop(networks);
        // `stop` may have run before the network entered the list.
        if self.shared.closing.load(Ordering::Acquire) {
            network.stop();
        }
        Ok(network)
    }

    #[cfg(not(feature = "udp"))]
    fn open_network(&self, _config: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError> {
        Err(NetworkError::Unsupported)
    }

    fn is_forked(&self) -> bool {
        self.shared.is_forked()
    }

    #[inline]
    fn was_forked(&self) -> bool {
        self.shared.clock.was_forked()
    }

    fn is_own_thread(&self) -> bool {
        is_thread_of(self.shared.id)
    }

    fn stop(&self) {
        // In a forked child the threads and sockets belong to the parent.
        if self.is_forked() || self.shared.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        self.shared.wake.notify.notify_one();
        let networks = std::mem::take(&mut *self.shared.networks.lock());
        for network in networks.iter().filter_map(Weak::upgrade) {
            network.stop();
        }
    }

    fn when_stopped(&self, waker: Waker) {
        if let Some(waiting) = &mut *self.shared.stopped.lock() {
            return waiting.push(waker);
        }
        waker.wake();
    }

    fn shutdown(&self) {
        if self.is_forked() {
            return;
        }
        self.stop();
        let threads = std::mem::take(&mut *self.shared.threads.lock());
        // These threads cannot wait for themselves, nor for threads that may wait for them.
        if self.is_own_thread() || !role().may_wait() {
            return;
        }
        let until = self.now().instant.after(SHUTDOWN_MAX);
        let mut stuck = 0;
        for thread in &threads {
            // All of them share one limit, so a stuck thread leaves the later ones a look without a wait.
            if !thread.wait(self, until) {
                stuck += 1;
            }
        }
        if stuck > 0 {
            tracing::warn!(stuck, "threads of a participant did not end within a second and were left behind");
        }
    }
}

/// Counts application threads that receive, and wakes the driver's thread when one ends after the network.
#[cfg(feature = "udp")]
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux lets callers receive"))]
struct Leading {
    others: Arc<AtomicUsize>,
    wake: Arc<Wake>,
}

#[cfg(feature = "udp")]
#[cfg_attr(any(dds_loom, not(target_os = "linux")), allow(dead_code, reason = "only Linux lets callers receive"))]
impl Leading {
    fn begin(&self) {
        self.others.fetch_add(1, Ordering::AcqRel);
    }

    fn end(&self, is_stopped: bool) {
        self.others.fetch_sub(1, Ordering::AcqRel);
        if is_stopped {
            self.wake.notify.notify_one();
        }
    }
}

/// Counts a thread, and wakes the driver's own thread when the counted thread ends.
struct RunningThread {
    others: Arc<AtomicUsize>,
    wake: Arc<Wake>,
}

impl RunningThread {
    fn new(shared: &DriverShared) -> Self {
        shared.others.fetch_add(1, Ordering::AcqRel);
        Self { others: Arc::clone(&shared.others), wake: Arc::clone(&shared.wake) }
    }
}

impl Drop for RunningThread {
    fn drop(&mut self) {
        self.others.fetch_sub(1, Ordering::AcqRel);
        self.wake.notify.notify_one();
    }
}

impl Drop for OsDriver {
    fn drop(&mut self) {
        self.shutdown();
        // In a forked child the lock may be held by a thread that exists only in the parent.
        if !self.is_forked() {
            self.shared.wake.late.look();
        }
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Actor, Capacity, Cell, Effects, Signals, Ticket, Wakers};
    use crate::driver::{Timer, block_on};
    use std::task::Poll;

    /// Records its signals and wakes the threads that wait for them.
    #[derive(Default)]
    struct Bell {
        rung: Signals,
        mail: usize,
        waiters: Wakers,
    }

    impl Actor for Bell {
        type Mail = ();
        fn handle(&mut self, (): (), effects: &mut Effects) {
            self.mail += 1;
            self.waiters.wake_all(effects);
        }
        fn handle_signals(&mut self, signals: Signals, effects: &mut Effects) {
            self.rung = self.rung.and(signals);
            self.waiters.wake_all(effects);
        }
    }

    fn bell(driver: &OsDriver) -> Arc<Cell<Bell>> {
        Cell::new(Bell::default(), Capacity::default(), Arc::clone(driver.run_queue()))
    }

    /// Waits without a limit: a test that hangs has failed.
    fn wait_until(driver: &OsDriver, cell: &Arc<Cell<Bell>>, ready: impl Fn(&Bell) -> bool) {
        let mut ticket: Option<Ticket> = None;
        let done = block_on(driver, None, |context| {
            let waker = context.waker().clone();
            let visit = |effects: &mut Effects| {
                cell.with(effects, |bell, effects| {
                    if ready(bell) {
                        bell.waiters.finish(&mut ticket, effects);
                        return Poll::Ready(());
                    }
                    bell.waiters.register(&mut ticket, waker, effects);
                    Poll::Pending
                })
            };
            Effects::scope(visit).unwrap()
        });
        assert_eq!(done, Some(()));
    }

    #[test]
    fn a_timer_signals_its_cell() {
        let driver = OsDriver::new().unwrap();
        let cell = bell(&driver);
        let weak = Arc::downgrade(&cell);
        let timer = Timer::new(driver.timers(), weak);
        timer.set(driver.now().instant.after(Duration::from_millis(2)));
        wait_until(&driver, &cell, |bell| bell.rung.has(Signals::TIMER));
        timer.set(Some(Instant::ZERO));
        wait_until(&driver, &cell, |bell| bell.rung.has(Signals::TIMER));
    }

    #[test]
    fn a_cell_that_asks_for_a_turn_gets_one() {
        let driver = OsDriver::new().unwrap();
        let cell = bell(&driver);
        let flood = 200;
        let visit = |effects: &mut Effects| cell.with(effects, |_, _| (0..flood).for_each(|_| cell.push(()).unwrap()));
        Effects::scope(visit).unwrap();
        wait_until(&driver, &cell, |bell| bell.mail == flood);
    }

    #[test]
    fn a_wait_ends_in_time() {
        let driver = OsDriver::new().unwrap();
        let until = driver.now().instant.after(Duration::from_millis(1));
        assert_eq!(block_on::<()>(&*driver, until, |_| Poll::Pending), None);
        assert!(Some(driver.now().instant) >= until);
        assert_eq!(block_on(&*driver, Some(Instant::ZERO), |_| Poll::Ready(5)), Some(5));
    }

    #[test]
    fn shutdown_ends_the_threads() {
        let driver = OsDriver::new().unwrap();
        let threads = driver.shared.threads.lock().clone();
        assert_eq!(threads.len(), 1);
        drop(driver);
        assert!(threads.iter().all(ThreadHandle::has_ended));
    }

    #[test]
    fn a_driver_may_be_dropped_on_its_own_threads_and_inside_of_a_runtime() {
        let driver = OsDriver::new().unwrap();
        let own = Arc::clone(&driver);
        let role_seen = Arc::new(Lock::new(None));
        let seen = Arc::clone(&role_seen);
        let body = move || {
            *seen.lock() = Some(role());
            drop(own);
        };
        let thread = driver.spawn("dds-event", Role::Event, Box::new(body)).unwrap();
        assert!(thread.wait(&*driver, None));
        assert_eq!(*role_seen.lock(), Some(Role::Event));
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async move { drop(driver) });
    }

    #[test]
    fn the_last_handle_may_go_on_a_thread_of_the_driver() {
        let driver = OsDriver::new().unwrap();
        let observer = OsDriver::new().unwrap();
        let (go, wait) = mpsc::channel();
        let spawner = Arc::clone(&driver);
        let body = move || {
            wait.recv().unwrap();
            drop(driver);
        };
        let thread = spawner.spawn("dds-event", Role::Event, Box::new(body)).unwrap();
        drop(spawner);
        go.send(()).unwrap();
        assert!(thread.wait(&*observer, None));
    }

    #[test]
    fn a_panic_ends_its_thread_only() {
        let driver = OsDriver::new().unwrap();
        let thread = driver.spawn("dds-event", Role::Event, Box::new(|| panic!("on purpose"))).unwrap();
        assert!(thread.wait(&*driver, None));
    }
}

#[cfg(all(test, feature = "udp", not(dds_loom)))]
#[path = "../../../../dds-rtps/src/transport/skip.rs"]
mod skip;
