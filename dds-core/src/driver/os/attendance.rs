//! The user-data sockets of a participant without a receive thread: waiting threads of the application read them.
//!
//! In: threads that wait, the driver's thread. Out: packets for the participant, from one thread at a time. Owned: the
//! intakes, and the epoll set of sockets that wakes the driver's thread.
//!
//! ```text
//!             a thread waits                        it leaves
//!   driver ──────────────────> caller ──────────────────────────────> none ────> caller, if one waits again
//!     ^                           │ another thread waits, or prompt      │
//!     └───────────────────────────┴──────────────────────────────────────┘
//!                          at once, if prompt                 after 10 ms
//! ```
//!
//! The thread that takes the intakes out of the state receives. Another waiting thread finds none there and sleeps as
//! usual. Packets that the first thread receives wake it.
//!
//! While a caller receives, datagrams do not wake the driver's thread. That saves a thread switch for each datagram.
//! For this the sockets are in an epoll set of their own, which the runtime waits for. System calls remove the sockets
//! from the set and add them again.
//!
//! A caller that waits again at once, as in a round trip, must not pay for these calls. So after a caller has left, the
//! driver's thread takes over at its next check, 10 ms later at most. No other waiting thread is left without reception
//! for longer.
//!
//! The driver's thread takes over at once if the application ever used a future, a stream or a listener. These are
//! notified without a blocked thread, and 10 ms each time would be late.
//!
//! A thread that waits for hours, such as one for commands, would receive for all others, each of which then costs a
//! thread switch. So that thread makes way for others and sleeps as usual. It does so when it has received nothing for
//! itself and another thread has started to wait for the second time.
//!
//! One lock protects all of this state. It is held for a few lines and at most one short system call per socket.

use super::Leading;
use super::intake::{ERROR_PAUSE, Inlet, IntakeStep};
use crate::driver::{Parker, Role, as_role};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Bell, Lock, Ordering, Polling, Process};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::time::TimeSpec;
use smallvec::SmallVec;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

/// How long the sockets may stay unattended.
const PERIOD: Duration = Duration::from_millis(10);

/// Number of datagrams that the driver's thread handles in a row, about 100 us. A flood must not delay timers.
const BURST: usize = 16;

/// Number of refused callers after which the receiving thread stops, if it receives nothing for itself.
const REFUSALS_MAX: usize = 2;

/// Number of datagrams that a caller handles before it checks its deadline.
const CALLERS_BURST: usize = 64;

/// Messages of a polled memory before a caller looks at the sockets. It then takes as many datagrams at most.
const POLLED_MAX: usize = 16;

/// Decides which thread receives from the user-data sockets.
pub(super) struct Attendance {
    state: Lock<AttendanceState>,
    /// Contains the sockets while the driver's thread attends to them.
    set: Epoll,
    /// Wakes the caller that receives.
    ///
    /// Only one caller receives at a time, so one bell is enough. A forked child never rings the bell of its parent.
    bell: Arc<Bell>,
    left: Notify,
    /// Number of callers that found another caller receiving, since that one began.
    refusals: AtomicUsize,
    /// Messages that callers have found in shared memory while they polled it.
    polled: AtomicUsize,
    prompt: AtomicBool,
    stopped: Arc<AtomicBool>,
    leading: Leading,
    process: Process,
}

struct AttendanceState {
    /// `None` while a thread receives, or after the end.
    intakes: Option<Vec<Inlet>>,
    /// The driver's thread attends: the sockets are in the set.
    by_driver: bool,
    /// The driver's thread will check within some milliseconds.
    looks: bool,
    /// A caller has left since the last check.
    has_left: bool,
    stopped: bool,
}

/// Next step of the driver's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Check again.
    Again,
    /// Sleep until a caller leaves.
    Rest,
    /// Receive now, because the system refuses to report readable sockets.
    Drain,
}

/// The thread that has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Caller,
    /// `is_failing` if a socket returns errors.
    Driver {
        is_failing: bool,
    },
}

impl Attendance {
    pub(super) fn new(intakes: Vec<Inlet>, stopped: &Arc<AtomicBool>, leading: Leading) -> io::Result<Arc<Self>> {
        // Several threads check the sockets, so no read may block.
        intakes.iter().try_for_each(Inlet::never_block)?;
        let state =
            AttendanceState { intakes: Some(intakes), by_driver: false, looks: false, has_left: false, stopped: false };
        Ok(Arc::new(Self {
            state: Lock::new(state),
            set: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            bell: Arc::new(Bell::new()?),
            left: Notify::new(),
            refusals: AtomicUsize::new(0),
            polled: AtomicUsize::new(0),
            prompt: AtomicBool::new(false),
            stopped: Arc::clone(stopped),
            leading,
            process: Process::current(),
        }))
    }

    /// Makes the driver's thread attend until a caller waits.
    pub(super) fn begin(&self) {
        self.give_to_driver(&mut self.state.lock());
    }

    /// Requires reception without delay from now on: some notifications have no blocked thread.
    pub(super) fn be_prompt(&self) {
        // Sockets that are unattended now stay so for 10 ms at most.
        if !self.prompt.load(Ordering::Relaxed) {
            self.prompt.store(true, Ordering::Relaxed);
        }
    }

    /// Receives until `parker` is woken, its time is over or the budget is used; sleeps if another thread receives.
    ///
    /// `timeout` returns the remaining time.
    pub(super) fn park(&self, parker: &Parker, timeout: impl Fn() -> Option<Duration>) {
        // Already woken: return without a system call.
        if parker.take_wake() {
            return;
        }
        let makes_way = match self.lead() {
            Some(mut lead) => lead.run(&parker.poll_with(&self.bell), &timeout),
            None => true,
        };
        if makes_way {
            parker.park(timeout());
        } else {
            parker.take_wake();
        }
    }

    /// Takes the intakes. Returns `None` if another thread receives, or after the end.
    fn lead(&self) -> Option<Lead<'_>> {
        let mut state = self.state.lock();
        let Some(intakes) = state.intakes.take() else {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.refusals.store(0, Ordering::Relaxed);
        // Otherwise each datagram would wake the driver's thread as well.
        self.take_from_driver(&mut state, &intakes);
        self.leading.begin();
        Some(Lead { attendance: self, intakes, ready: 0 })
    }

    /// Returns the intakes to the state, unless the network is stopped.
    fn put_back(&self, intakes: Vec<Inlet>, by: By) {
        let mut state = self.state.lock();
        let dropped = if state.stopped {
            Some(intakes)
        } else {
            match by {
                By::Caller => self.leave(&mut state, intakes),
                By::Driver { is_failing: false } => state.intakes = Some(intakes),
                By::Driver { is_failing: true } => {
                    // The pause after errors: no thread receives until the driver checks.
                    self.take_from_driver(&mut state, &intakes);
                    state.intakes = Some(intakes);
                    self.plan_look(&mut state);
                }
            }
            None
        };
        let stopped = state.stopped;
        drop(state);
        // Outside of the lock, because a receiver behind the intakes may be dropped with them.
        drop(dropped);
        if by == By::Caller {
            self.leading.end(stopped);
        }
    }

    fn leave(&self, state: &mut AttendanceState, intakes: Vec<Inlet>) {
        state.intakes = Some(intakes);
        if self.prompt.load(Ordering::Relaxed) && self.give_to_driver(state) {
            return;
        }
        state.has_left = true;
        self.plan_look(state);
    }

    fn plan_look(&self, state: &mut AttendanceState) {
        // One pending check is enough. Callers that leave before it need no further notification.
        if !state.looks {
            state.looks = true;
            self.left.notify_one();
        }
    }

    /// Adds the sockets to the set. Returns false if the system refuses.
    fn give_to_driver(&self, state: &mut AttendanceState) -> bool {
        // A forked child shares the epoll set and would change it for its parent.
        if self.process.is_left() {
            return true;
        }
        let intakes = state.intakes.as_deref().unwrap_or_default();
        let mut result = Ok(());
        for intake in intakes {
            // Each socket is new in the set, so that epoll also reports datagrams that wait already.
            result = result.and_then(|()| self.set.add(intake, EpollEvent::new(EpollFlags::EPOLLIN, 0)));
            // The set reports descriptors only.
            intake.rouse();
        }
        if let Err(error) = result {
            tracing::debug!(%error, "the user-data sockets are looked at every 10 ms");
            self.empty_set(intakes);
        }
        state.by_driver = result.is_ok();
        state.by_driver
    }

    fn take_from_driver(&self, state: &mut AttendanceState, intakes: &[Inlet]) {
        if std::mem::take(&mut state.by_driver) {
            self.empty_set(intakes);
        }
    }

    fn empty_set(&self, intakes: &[Inlet]) {
        for intake in intakes {
            // Fails only if the socket is not in the set, which is the wanted state.
            let _ = self.set.delete(intake);
        }
    }

    /// Receives on the driver's thread whenever that thread attends.
    pub(super) async fn receive(self: Arc<Self>) {
        #[allow(
            deprecated,
            reason = "what replaces it is unsafe, and not in tokio 1.47; a `Set` keeps its one descriptor open as long as it lives"
        )]
        let set = match AsyncFd::with_interest(Set(Arc::clone(&self)), Interest::READABLE) {
            Ok(set) => set,
            Err(error) => {
                tracing::error!(%error, "the system refuses a descriptor, so the participant receives only while a thread waits");
                return;
            }
        };
        // An error means that the runtime is ending.
        while let Ok(mut ready) = set.readable().await {
            // Clear readiness only when the sockets are empty, otherwise the rest would stay unread.
            if !self.drain(false) {
                ready.clear_ready();
            }
            drop(ready);
            // Let timers run between two bursts.
            tokio::task::yield_now().await;
        }
    }

    /// Checks on the driver's thread whether no thread receives, while callers come and go.
    pub(super) async fn look_after(self: Arc<Self>) {
        loop {
            self.left.notified().await;
            loop {
                tokio::time::sleep(PERIOD).await;
                match self.look() {
                    Look::Again => {}
                    Look::Rest => break,
                    Look::Drain => while self.drain(true) {},
                }
            }
        }
    }

    fn look(&self) -> Look {
        let mut state = self.state.lock();
        let had_left = std::mem::take(&mut state.has_left);
        let is_free = state.intakes.is_some() && !state.by_driver;
        if is_free && !self.give_to_driver(&mut state) {
            return Look::Drain;
        }
        // A caller came and went within the period. It probably waits again soon, so give it another period.
        if had_left && !is_free {
            return Look::Again;
        }
        state.looks = false;
        Look::Rest
    }

    /// Handles waiting datagrams on the driver's thread. Returns true if there may be more.
    ///
    /// Does nothing if the driver's thread does not attend, unless `is_urgent`.
    fn drain(&self, is_urgent: bool) -> bool {
        let mut state = self.state.lock();
        if !state.by_driver && !is_urgent {
            return false;
        }
        let Some(intakes) = state.intakes.take() else { return false };
        // Receive outside of the lock, so that callers can see that the intakes are taken.
        drop(state);
        let mut drain = Drain { attendance: self, intakes, is_failing: false };
        let mut more = false;
        for intake in &mut drain.intakes {
            let mut last = IntakeStep::Taken;
            for turn in 0..BURST {
                last = intake.step(turn == 0, &self.stopped);
                if last != IntakeStep::Taken {
                    break;
                }
            }
            more |= last == IntakeStep::Taken;
            drain.is_failing |= last == IntakeStep::Failing;
        }
        more && !drain.is_failing
    }

    /// Ends reception. Wakes the caller that receives.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let intakes = state.intakes.take();
        drop(state);
        // Dropped outside of the lock, like in `put_back`.
        drop(intakes);
        self.bell.ring();
    }
}

impl fmt::Debug for Attendance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attendance").field("stopped", &self.stopped).finish_non_exhaustive()
    }
}

/// A thread of the application that receives.
struct Lead<'a> {
    attendance: &'a Attendance,
    intakes: Vec<Inlet>,
    /// The intakes whose descriptors are readable, one bit each.
    ready: u32,
}

impl Lead<'_> {
    /// Receives. Returns true if the thread makes way for others and sleeps without receiving.
    fn run(&mut self, polling: &Polling<'_>, timeout: impl Fn() -> Option<Duration>) -> bool {
        let mut budget = CALLERS_BURST;
        while budget > 0 && self.wait(polling, &timeout) {
            // Code that checks the role of this thread gets the same result as on a receive thread.
            let goes_on = as_role(Role::Receive, || self.receive(polling, &mut budget));
            if !goes_on {
                return false;
            }
            if self.attendance.refusals.load(Ordering::Relaxed) >= REFUSALS_MAX {
                return true;
            }
        }
        false
    }

    /// Waits for a datagram. Returns false if the thread was woken or its time is over.
    fn wait(&mut self, polling: &Polling<'_>, timeout: &impl Fn() -> Option<Duration>) -> bool {
        if self.has_left_data(polling, timeout) {
            // The sockets have their turn too, even if a peer floods shared memory.
            if self.intakes.iter().any(Inlet::is_polled) {
                self.ready = 0;
                self.look_at_sockets();
            } else {
                self.ready = u32::MAX;
            }
            return !polling.is_woken();
        }
        let bell = &*self.attendance.bell;
        let mut ready = 0;
        let mut rings = false;
        let woken = polling.sleep(|| {
            let mut awaited: SmallVec<[PollFd<'_>; 4]> = SmallVec::new();
            awaited.push(PollFd::new(bell.as_fd(), PollFlags::POLLIN));
            for intake in &self.intakes {
                awaited.push(PollFd::new(intake.as_fd(), PollFlags::POLLIN));
            }
            // If a signal interrupts the call, the loop checks again as well.
            ready = ppoll(&mut awaited, timeout().map(TimeSpec::from_duration), None).unwrap_or(0);
            rings = is_ready(&awaited[0]);
            self.ready = 0;
            for (at, polled) in awaited[1..].iter().enumerate() {
                self.ready |= u32::from(is_ready(polled)) << at;
            }
        });
        // Clear the bell, or the next wait would return at once.
        if rings {
            bell.silence();
        }
        !woken && ready > 0
    }

    /// Handles data that the last wait left in shared memory, without a system call. Returns whether there was some.
    ///
    /// A participant that polls does so here, until this thread is woken or its time is over.
    fn has_left_data(&mut self, polling: &Polling<'_>, timeout: &impl Fn() -> Option<Duration>) -> bool {
        let Attendance { stopped, process, .. } = self.attendance;
        let is_over = || {
            let is_late = timeout().is_some_and(|rest| rest.is_zero());
            is_late || polling.is_woken() || stopped.load(Ordering::Relaxed) || process.is_left()
        };
        let mut had_some = false;
        for intake in &mut self.intakes {
            if intake.is_unfinished() {
                let step = as_role(Role::Receive, || intake.poll(is_over));
                had_some |= step == IntakeStep::Taken;
            }
        }
        had_some
    }

    /// Handles some datagrams of the sockets after each 16 messages of a polled memory.
    ///
    /// The messages count over all waits, because each of them may end with its first one.
    fn look_at_sockets(&mut self) {
        let polled = self.attendance.polled.fetch_add(1, Ordering::Relaxed);
        if polled % POLLED_MAX != 0 {
            return;
        }
        for intake in self.intakes.iter_mut().filter(|intake| !intake.is_polled()) {
            for _ in 0..POLLED_MAX {
                if as_role(Role::Receive, || intake.step(true, &self.attendance.stopped)) != IntakeStep::Taken {
                    break;
                }
            }
        }
    }

    /// Handles waiting datagrams. Returns false if the thread should stop receiving.
    fn receive(&mut self, polling: &Polling<'_>, budget: &mut usize) -> bool {
        let Self { attendance, intakes, ready } = self;
        for (at, intake) in intakes.iter_mut().enumerate() {
            let mut is_ready = *ready & (1 << at) != 0;
            if !is_ready {
                continue;
            }
            while *budget > 0 {
                let step = intake.step(std::mem::take(&mut is_ready), &attendance.stopped);
                let is_over = attendance.stopped.load(Ordering::Acquire) || attendance.process.is_left();
                // Also stop in a forked child, whose sockets belong to the parent.
                if is_over || polling.is_woken() {
                    return false;
                }
                match step {
                    IntakeStep::Taken => *budget -= 1,
                    IntakeStep::Nothing => break,
                    IntakeStep::Failing => {
                        pause(&attendance.bell, polling);
                        return false;
                    }
                }
            }
        }
        true
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.attendance.put_back(std::mem::take(&mut self.intakes), By::Caller);
    }
}

fn is_ready(polled: &PollFd<'_>) -> bool {
    polled.any().unwrap_or(false)
}

/// Waits for the bell or the end of the pause.
fn pause(bell: &Bell, polling: &Polling<'_>) {
    polling.sleep(|| {
        let mut awaited = [PollFd::new(bell.as_fd(), PollFlags::POLLIN)];
        // In either case the caller continues, so the result does not matter.
        let _ = ppoll(&mut awaited, Some(TimeSpec::from_duration(ERROR_PAUSE)), None);
    });
}

/// The driver's thread while it receives.
struct Drain<'a> {
    attendance: &'a Attendance,
    intakes: Vec<Inlet>,
    is_failing: bool,
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        let by = By::Driver { is_failing: self.is_failing };
        self.attendance.put_back(std::mem::take(&mut self.intakes), by);
    }
}

/// Descriptor of the set, for the runtime.
struct Set(Arc<Attendance>);

impl AsRawFd for Set {
    fn as_raw_fd(&self) -> RawFd {
        self.0.set.0.as_raw_fd()
    }
}
