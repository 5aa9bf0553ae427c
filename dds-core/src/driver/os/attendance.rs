//! The user-data sockets of a participant that has no receive thread: who waits reads them.
//!
//! In: threads that wait, the driver's thread. Out: packets for the participant, from one thread at a time. Owned: the
//! intakes, and the set of sockets that the driver's thread is woken by.
//!
//! ```text
//!             a thread waits                        it leaves
//!   driver ──────────────────> caller ──────────────────────────────> nobody ──> caller, if one waits again
//!     ^                           │ somebody else waits, or prompt       │
//!     └───────────────────────────┴──────────────────────────────────────┘
//!                          at once, if prompt                 after 10 ms
//! ```
//!
//! Whoever has taken the intakes out of the state receives; who finds none there sleeps as usual, and is woken by what the other
//! one receives. While a caller receives, the driver's thread is not woken by a datagram: that is the whole gain. So the
//! sockets are in a set of their own, which the runtime waits for, and are taken out of it and put back by system calls. Who
//! waits again at once, as in a round trip, shall not pay for these: after a caller has left, the driver takes over when it next
//! looks, 10 ms later at most: no other thread that waits is left alone for longer. It does so at once if there ever was
//! somebody who is told without blocking (a future, a stream, a listener), for whom 10 ms each time would be late.
//!
//! A thread that waits for hours, such as one for commands, would receive for all others, each of which then costs a hop. So it
//! gives up, and sleeps on as usual, when it has received nothing for itself and another thread has come to wait for the
//! second time.
//!
//! All of it changes under one lock, held for some lines and at most one short system call for each socket.

use super::Leading;
use super::intake::{ERROR_PAUSE, Intake, Step};
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

/// How long the sockets may be unattended.
const PERIOD: Duration = Duration::from_millis(10);

/// How many datagrams the driver's thread handles in a row, about 100 us: a flood must not keep timers from firing.
const BURST: usize = 16;

/// A caller that was refused so often waits again and again: who receives, but nothing for itself, makes way.
const REFUSALS_MAX: usize = 2;

/// How many a caller handles before it looks whether its time is over.
const CALLERS_BURST: usize = 64;

/// Who receives from the user-data sockets.
pub(super) struct Attendance {
    state: Lock<AttendanceState>,
    /// The sockets, while the driver's thread attends to them.
    set: Epoll,
    /// Wakes the caller that receives. One at a time does, so one is enough, and a forked child never rings its parent's.
    bell: Arc<Bell>,
    left: Notify,
    /// How many callers have found another one receiving, since that began to.
    refusals: AtomicUsize,
    prompt: AtomicBool,
    stopped: Arc<AtomicBool>,
    leading: Leading,
    process: Process,
}

struct AttendanceState {
    /// `None`: somebody receives, or nobody does any more.
    intakes: Option<Vec<Intake>>,
    /// The driver's thread attends: the sockets are in the set.
    by_driver: bool,
    /// The driver's thread will look in some milliseconds.
    looks: bool,
    /// A caller has left since it looked last.
    has_left: bool,
    stopped: bool,
}

/// What the driver's thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Look again.
    Again,
    /// Sleep until a caller leaves.
    Rest,
    /// Receive now: the system refuses to tell when there is something.
    Drain,
}

/// Who has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Caller,
    /// It fails if a socket is in trouble.
    Driver {
        is_failing: bool,
    },
}

impl Attendance {
    pub(super) fn new(intakes: Vec<Intake>, stopped: &Arc<AtomicBool>, leading: Leading) -> io::Result<Arc<Self>> {
        intakes.iter().try_for_each(|intake| intake.socket().set_nonblocking(true))?;
        let state =
            AttendanceState { intakes: Some(intakes), by_driver: false, looks: false, has_left: false, stopped: false };
        Ok(Arc::new(Self {
            state: Lock::new(state),
            set: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            bell: Arc::new(Bell::new()?),
            left: Notify::new(),
            refusals: AtomicUsize::new(0),
            prompt: AtomicBool::new(false),
            stopped: Arc::clone(stopped),
            leading,
            process: Process::current(),
        }))
    }

    /// Lets the driver's thread attend, until somebody waits.
    pub(super) fn begin(&self) {
        self.give_to_driver(&mut self.state.lock());
    }

    /// From now on nothing may stay unread for a while: somebody is to be told who does not block.
    pub(super) fn be_prompt(&self) {
        // What is unattended now stays so for 10 ms at most.
        if !self.prompt.load(Ordering::Relaxed) {
            self.prompt.store(true, Ordering::Relaxed);
        }
    }

    /// Receives until `parker` is woken, or until the time is over, or for a while; or sleeps, if somebody else receives.
    /// `timeout` says how long it may last from then on.
    pub(super) fn park(&self, parker: &Parker, timeout: impl Fn() -> Option<Duration>) {
        if parker.take_wake() {
            return;
        }
        let makes_way = self.lead().is_none_or(|mut lead| lead.run(&parker.poll_with(&self.bell), &timeout));
        if makes_way {
            parker.park(timeout());
        } else {
            parker.take_wake();
        }
    }

    /// `None` if somebody else receives, or nobody is to.
    fn lead(&self) -> Option<Lead<'_>> {
        let mut state = self.state.lock();
        let Some(intakes) = state.intakes.take() else {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.refusals.store(0, Ordering::Relaxed);
        self.take_from_driver(&mut state, &intakes);
        self.leading.begin();
        Some(Lead { attendance: self, intakes })
    }

    /// Puts the intakes back, if there is to be anybody who receives.
    fn put_back(&self, intakes: Vec<Intake>, by: By) {
        let mut state = self.state.lock();
        let dropped = if state.stopped {
            Some(intakes)
        } else {
            match by {
                By::Caller => self.leave(&mut state, intakes),
                By::Driver { is_failing: false } => state.intakes = Some(intakes),
                By::Driver { is_failing: true } => {
                    // The pause: nobody receives until the driver looks.
                    self.take_from_driver(&mut state, &intakes);
                    state.intakes = Some(intakes);
                    self.plan_look(&mut state);
                }
            }
            None
        };
        let stopped = state.stopped;
        drop(state);
        // With what may be behind it, outside of the lock.
        drop(dropped);
        if by == By::Caller {
            self.leading.end(stopped);
        }
    }

    fn leave(&self, state: &mut AttendanceState, intakes: Vec<Intake>) {
        state.intakes = Some(intakes);
        if self.prompt.load(Ordering::Relaxed) && self.give_to_driver(state) {
            return;
        }
        state.has_left = true;
        self.plan_look(state);
    }

    fn plan_look(&self, state: &mut AttendanceState) {
        if !state.looks {
            state.looks = true;
            self.left.notify_one();
        }
    }

    /// False if the system refuses.
    fn give_to_driver(&self, state: &mut AttendanceState) -> bool {
        // A child of a fork has the same set, and would change it for its parent.
        if self.process.is_left() {
            return true;
        }
        let intakes = state.intakes.as_deref().unwrap_or_default();
        let event = || EpollEvent::new(EpollFlags::EPOLLIN, 0);
        // Each is new in the set, so that what waits in it already is told as well.
        let result = intakes.iter().try_for_each(|intake| self.set.add(intake.socket(), event()));
        if let Err(error) = result {
            tracing::debug!(%error, "the user-data sockets are looked at every 10 ms");
            self.empty_set(intakes);
        }
        state.by_driver = result.is_ok();
        state.by_driver
    }

    fn take_from_driver(&self, state: &mut AttendanceState, intakes: &[Intake]) {
        if std::mem::take(&mut state.by_driver) {
            self.empty_set(intakes);
        }
    }

    fn empty_set(&self, intakes: &[Intake]) {
        for intake in intakes {
            // Refused only if it is not there, which is what is wanted.
            let _ = self.set.delete(intake.socket());
        }
    }

    /// Receives on the driver's thread whenever that attends.
    pub(super) async fn receive(self: Arc<Self>) {
        #[allow(
            deprecated,
            reason = "what replaces it is unsafe, and not in tokio 1.47; a `Set` keeps its one descriptor open as long as it lives"
        )]
        let set = match AsyncFd::with_interest(Set(Arc::clone(&self)), Interest::READABLE) {
            Ok(set) => set,
            Err(error) => {
                tracing::error!(%error, "only who waits receives");
                return;
            }
        };
        // An error says that the runtime is ending.
        while let Ok(mut ready) = set.readable().await {
            if !self.drain(false) {
                ready.clear_ready();
            }
            drop(ready);
            tokio::task::yield_now().await;
        }
    }

    /// Looks, on the driver's thread, whether nobody receives, while callers come and go.
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
        if had_left && !is_free {
            return Look::Again;
        }
        state.looks = false;
        Look::Rest
    }

    /// Handles what has come, on the driver's thread, and if it does not attend to it only if that `is_urgent`. True: there may be
    /// more.
    fn drain(&self, is_urgent: bool) -> bool {
        let mut state = self.state.lock();
        if !state.by_driver && !is_urgent {
            return false;
        }
        let Some(intakes) = state.intakes.take() else { return false };
        drop(state);
        let mut drain = Drain { attendance: self, intakes, is_failing: false };
        let mut more = false;
        for intake in &mut drain.intakes {
            let last = (0..BURST).map(|_| intake.step(&self.stopped)).find(|step| *step != Step::Taken);
            more |= last.is_none();
            drain.is_failing |= last == Some(Step::Failing);
        }
        more && !drain.is_failing
    }

    /// Nobody receives from now on; who does is told to leave.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let intakes = state.intakes.take();
        drop(state);
        drop(intakes);
        self.bell.ring();
    }
}

impl fmt::Debug for Attendance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attendance").field("stopped", &self.stopped).finish_non_exhaustive()
    }
}

/// A thread of the application receives.
struct Lead<'a> {
    attendance: &'a Attendance,
    intakes: Vec<Intake>,
}

impl Lead<'_> {
    /// True: it makes way for others, and its thread sleeps without receiving.
    fn run(&mut self, polling: &Polling<'_>, timeout: impl Fn() -> Option<Duration>) -> bool {
        let mut budget = CALLERS_BURST;
        while budget > 0 && self.wait(polling, timeout()) {
            // Whoever asks what this thread may do gets the same answer as on a receive thread.
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

    /// False if it is not to receive: it was woken, or its time is over.
    fn wait(&self, polling: &Polling<'_>, timeout: Option<Duration>) -> bool {
        let bell = &*self.attendance.bell;
        let mut ready = 0;
        let mut rings = false;
        let woken = polling.sleep(|| {
            let sockets = self.intakes.iter().map(|intake| intake.socket().as_fd());
            let mut awaited: SmallVec<[PollFd<'_>; 3]> =
                std::iter::once(bell.as_fd()).chain(sockets).map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
            // Interrupted by a signal, it looks again as well.
            ready = ppoll(&mut awaited, timeout.map(TimeSpec::from_duration), None).unwrap_or(0);
            rings = awaited.first().and_then(PollFd::any).unwrap_or(false);
        });
        if rings {
            bell.silence();
        }
        !woken && ready > 0
    }

    /// Handles what has come. False if that is to be all.
    fn receive(&mut self, polling: &Polling<'_>, budget: &mut usize) -> bool {
        let Self { attendance, intakes } = self;
        for intake in intakes {
            while *budget > 0 {
                let step = intake.step(&attendance.stopped);
                let is_over = attendance.stopped.load(Ordering::Acquire) || attendance.process.is_left();
                if is_over || polling.is_woken() {
                    return false;
                }
                match step {
                    Step::Taken => *budget -= 1,
                    Step::Nothing => break,
                    Step::Failing => {
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

fn pause(bell: &Bell, polling: &Polling<'_>) {
    polling.sleep(|| {
        let mut awaited = [PollFd::new(bell.as_fd(), PollFlags::POLLIN)];
        // However it ends, it is looked at what comes next.
        let _ = ppoll(&mut awaited, Some(TimeSpec::from_duration(ERROR_PAUSE)), None);
    });
}

/// The driver's thread receives.
struct Drain<'a> {
    attendance: &'a Attendance,
    intakes: Vec<Intake>,
    is_failing: bool,
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        let by = By::Driver { is_failing: self.is_failing };
        self.attendance.put_back(std::mem::take(&mut self.intakes), by);
    }
}

/// The descriptor of the set, for the runtime.
struct Set(Arc<Attendance>);

impl AsRawFd for Set {
    fn as_raw_fd(&self) -> RawFd {
        self.0.set.0.as_raw_fd()
    }
}
