//! The end of a participant: its entities, unacknowledged samples, its disposal, its sockets, its threads.
//!
//! ```text
//! close      closes every entity. If all samples are acknowledged, it ends the rest at once, otherwise after the last
//!            acknowledgment or the linger time. Never blocks.
//! shutdown   close, and a wait until the threads have ended
//! last drop  close, the rest, and a blocking wait for the threads. It does not wait on a thread that must not block,
//!            or on one of the participant's own threads.
//! ```

use crate::actor::{Effects, Poke, Ticket, Wakers, close_cell, in_listener};
use crate::driver::{Driver, Timer, role};
use crate::infrastructure::{Awaited, Subject, WaitErrorKind, WaitSource};
use crate::participant::{DomainParticipant, ParticipantHandle};
use dds_rtps::types::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Wake, Waker};

/// Upper bound of the linger time.
pub(super) const LINGER_MAX: Duration = Duration::from_secs(24 * 3600);

/// State of the end of a participant.
#[derive(Default)]
pub(crate) struct ShutdownState {
    /// It has sent its disposal.
    parted: AtomicBool,
    state: Mutex<ShutdownWaiters>,
}

#[derive(Default)]
struct ShutdownWaiters {
    /// The driver's threads have ended, or the wait for them has timed out.
    stopped: bool,
    waiters: Wakers,
    linger: Option<Linger>,
}

/// Timer that ends the linger time.
struct Linger {
    _bell: Arc<LingerBell>,
    _timer: Timer,
}

struct LingerBell {
    participant: Weak<ParticipantHandle>,
}

impl ShutdownState {
    fn state(&self) -> MutexGuard<'_, ShutdownWaiters> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ParticipantHandle {
    /// Closes the participant without blocking.
    pub(crate) fn close(self: &Arc<Self>) {
        if !self.close_entities() {
            return;
        }
        if self.finish_drained(&self.drain_bell()) || self.core.config().linger <= Duration::ZERO {
            self.part();
        } else if let Some(until) = self.core.driver().now().instant.after(self.core.config().linger.min(LINGER_MAX)) {
            let bell = Arc::new(LingerBell { participant: Arc::downgrade(self) });
            let timer = Timer::new(self.core.driver().timers(), Arc::downgrade(&bell) as Weak<dyn Poke>);
            timer.set(Some(until));
            self.shutdown_state().state().linger = Some(Linger { _bell: bell, _timer: timer });
            // The last acknowledgment may have arrived before the timer was in the state.
            if self.shutdown_state().parted.load(Ordering::Acquire) {
                self.end_linger();
            }
        }
    }

    /// Drops the linger timer.
    fn end_linger(&self) {
        let linger = self.shutdown_state().state().linger.take();
        // Outside of the lock: the timer of the linger takes other locks when it is dropped.
        drop(linger);
    }

    /// Closes all entities. Returns `false` if the participant is already closed.
    fn close_entities(&self) -> bool {
        // A forked child announces nothing, because the parent continues.
        if !self.core.set_closed() || self.core.is_forked() {
            return false;
        }
        #[cfg(feature = "derive")]
        self.latency_topic().close();
        #[cfg(feature = "security-pki")]
        self.security_log().close();
        self.contained().close();
        true
    }

    /// Ends the participant: sends its disposal, closes its sockets, stops its threads.
    ///
    /// The caller has waited for acknowledgments, or the linger time is over.
    pub(crate) fn part(&self) {
        if self.shutdown_state().parted.swap(true, Ordering::AcqRel) {
            return;
        }
        self.end_linger();
        self.give_up_drained();
        // If a panic has closed discovery, there is no disposal. Peers then remove the participant when its lease
        // expires.
        let _ = self.discovery().cell().visit(|actor, _| actor.shutdown());
        close_cell(self.discovery().cell());
        // Endpoints that another thread has created since are closed too.
        let (readers, writers) = self.reception().routes().take_endpoints();
        readers.iter().for_each(close_cell);
        writers.iter().for_each(close_cell);
        // The threads first, then the listeners: no packet may reach a listener that is closed.
        self.core.network().stop();
        self.core.top_listener().close();
        self.core.event_thread().stop();
        // Before `stop`, so that the driver cannot end without the waker.
        let stopped = Arc::new(StoppedBell { participant: self.weak().clone() });
        self.core.driver().when_stopped(Waker::from(stopped));
        self.core.driver().stop();
        self.watched().close();
        self.ending().close();
        tracing::info!(parent: self.core.span(), "participant closed");
    }

    /// Ends the participant after the drop of its last handle. May wait for acknowledgments and threads.
    pub(super) fn leave_at_last_drop(&self) {
        if self.core.is_forked() {
            return;
        }
        self.close_entities();
        if !self.shutdown_state().parted.load(Ordering::Acquire) {
            if role().may_wait() && !in_listener() {
                self.wait_for_drained();
            }
            self.part();
        }
        self.core.driver().shutdown();
    }
}

impl Poke for LingerBell {
    fn poke(self: Arc<Self>, _effects: &mut Effects) {
        if let Some(participant) = self.participant.upgrade() {
            participant.part();
        }
    }
}

/// Waker that the driver wakes when its threads have ended.
struct StoppedBell {
    participant: Weak<ParticipantHandle>,
}

impl Wake for StoppedBell {
    fn wake(self: Arc<Self>) {
        let Some(participant) = self.participant.upgrade() else { return };
        Effects::scope(|effects| {
            let mut state = participant.shutdown_state().state();
            state.stopped = true;
            state.waiters.wake_all(effects);
        });
    }
}

/// The wait for `closed` or for `shutdown`.
impl WaitSource<()> for DomainParticipant {
    fn poll_wait(
        &self,
        awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitErrorKind>> {
        if awaited == Awaited::Closed {
            return self.handle().ending().poll(ticket, waker);
        }
        if self.handle().core.is_forked() {
            return Poll::Ready(Err(WaitErrorKind::Forked));
        }
        // The driver ends its threads, and this one would wait for itself.
        if self.handle().core.driver().is_own_thread() {
            return Poll::Ready(Err(WaitErrorKind::WouldDeadlock));
        }
        // Repeated polls find it closed, and only wait.
        self.handle().close();
        let waker = waker.clone();
        Effects::scope(|effects| {
            let mut state = self.handle().shutdown_state().state();
            if state.stopped {
                state.waiters.finish(ticket, effects);
                effects.discard(waker);
                return Poll::Ready(Ok(()));
            }
            state.waiters.register(ticket, waker, effects);
            Poll::Pending
        })
    }

    fn abandon(&self, awaited: Awaited, ticket: Ticket) {
        if awaited == Awaited::Closed {
            return self.handle().ending().abandon(ticket);
        }
        Effects::scope(|effects| self.handle().shutdown_state().state().waiters.abandon(&mut Some(ticket), effects));
    }

    fn driver(&self) -> &dyn Driver {
        &**self.handle().core.driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        self.handle().core.subject()
    }

    fn complain(&self, awaited: Awaited) {
        tracing::warn!(parent: self.handle().core.span(), ?awaited, "the participant has not ended yet");
    }
}
