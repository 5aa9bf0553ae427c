//! Writers that the application has dropped while samples of theirs were not acknowledged yet.
//!
//! Life cycle: a dropped writer comes here and goes when everything is acknowledged, or when nobody is left to do that (its
//! readers' leases end as well), or when the participant has waited for it for as long as it lingers. Bound: the
//! application's own writers.
//!
//! Best-effort readers acknowledge nothing. Samples and farewells come to different sockets, which other threads read: a reader that
//! hears first that the writer is gone drops what came before. So a farewell stays behind the last sample for a moment
//! ([`SETTLE`]).

use crate::actor::{Effects, Ticket};
use crate::domain::ParticipantHandle;
use crate::domain::leaving::LINGER_MAX;
use crate::driver::{Driver, block_on};
use crate::infrastructure::{Alarm, Awaited};
use crate::publication::WriterCell;
use dds_rtps::types::{Duration, EntityId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Wake, Waker};

/// How long a farewell stays behind the last sample to a best-effort reader of another process.
pub(crate) const SETTLE: Duration = Duration::from_millis(20);

/// The dropped writers of a participant.
#[derive(Default)]
pub(crate) struct Draining {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writers: Vec<DrainingWriter>,
    /// Writers that somebody is looking after at the moment.
    taken: usize,
    /// Who waits until the taken ones are back.
    waiting: Vec<Waker>,
}

struct DrainingWriter {
    id: EntityId,
    cell: Arc<WriterCell>,
    ticket: Option<Ticket>,
    /// Rings when the last sample has settled.
    settling: Option<Alarm>,
}

impl DrainingWriter {
    /// Whether everything is acknowledged and has settled; if not, `waker` is called when it may be.
    fn is_drained(&mut self, driver: &dyn Driver, waker: &Waker) -> bool {
        let ticket = &mut self.ticket;
        let visit = Effects::scope(|effects| {
            self.cell.with(effects, |actor, effects| {
                let written = Awaited::Acknowledged(actor.last_sequence_number());
                (actor.wait(written, ticket, waker.clone(), effects), actor.settles_at())
            })
        });
        // A writer that was closed by a panic has nothing more to say.
        let Ok((is_acknowledged, settles_at)) = visit else { return true };
        let Some(until) = settles_at.filter(|until| is_acknowledged && *until > driver.now().instant) else {
            return is_acknowledged;
        };
        self.settling = Some(Alarm::new(driver, until, waker));
        false
    }
}

impl Draining {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, writer: DrainingWriter) {
        self.lock().writers.push(writer);
    }

    fn take(&self) -> Vec<DrainingWriter> {
        let mut state = self.lock();
        let writers = std::mem::take(&mut state.writers);
        state.taken += writers.len();
        writers
    }

    /// Puts back those that are left of `taken` writers. True if there is none left at all; else `waker` is called when
    /// what others have taken is back.
    fn put_back(&self, taken: usize, left: Vec<DrainingWriter>, waker: &Waker) -> bool {
        let mut state = self.lock();
        state.taken -= taken;
        state.writers.extend(left);
        if state.taken > 0 {
            state.waiting.push(waker.clone());
            return false;
        }
        let (done, waiting) = (state.writers.is_empty(), std::mem::take(&mut state.waiting));
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        done
    }
}

/// Looks after the dropped writers when one of them was acknowledged.
struct Bell {
    participant: Weak<ParticipantHandle>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        if let Some(participant) = self.participant.upgrade() {
            let done = participant.finish_drained(&Waker::from(Arc::clone(&self)));
            if done && participant.is_closed() {
                participant.part();
            }
        }
    }
}

impl ParticipantHandle {
    /// Takes over a writer that the application has dropped.
    pub(crate) fn drain(self: &Arc<Self>, id: EntityId, cell: Arc<WriterCell>) {
        self.draining().add(DrainingWriter { id, cell, ticket: None, settling: None });
        self.finish_drained(&self.drain_bell());
    }

    /// What looks after the dropped writers again.
    pub(super) fn drain_bell(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::new(Bell { participant: Arc::downgrade(self) }))
    }

    /// Deletes the writers that have nothing left to say. True if there is none left.
    pub(super) fn finish_drained(&self, waker: &Waker) -> bool {
        let mut writers = self.draining().take();
        let taken = writers.len();
        let mut drained = Vec::new();
        let mut left = Vec::new();
        for mut writer in writers.drain(..) {
            if writer.is_drained(&**self.driver(), waker) { drained.push(writer) } else { left.push(writer) }
        }
        for writer in drained {
            self.delete_writer(writer.id, &writer.cell);
        }
        self.draining().put_back(taken, left, waker)
    }

    /// Waits until the dropped writers have nothing left to say, at most `linger`.
    pub(super) fn wait_for_drained(&self) {
        let driver = self.driver();
        let until = driver.now().instant.after(self.config().linger.min(LINGER_MAX));
        // The time may be over: then the rest is given up.
        let _ = block_on(&**driver, until, |context| match self.finish_drained(context.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        });
    }

    /// Deletes the dropped writers, whatever they have left to say.
    pub(super) fn give_up_drained(&self) {
        for writer in self.draining().take() {
            self.delete_writer(writer.id, &writer.cell);
        }
    }
}
