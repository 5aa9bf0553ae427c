//! Writers that the application has dropped before all their samples were acknowledged.
//!
//! Life cycle: a dropped writer enters this list. It leaves when all samples are acknowledged, when its readers are
//! gone (their leases expire), or when the linger time of the participant is over. Bound: the writers of the
//! application.
//!
//! Best-effort readers acknowledge nothing. Samples and disposals of writers arrive on different sockets, which
//! different threads read. A reader that learns of the disposal first drops the samples before it. So the disposal
//! follows the last sample after a delay (`publication::reachable::SETTLE`).

use crate::actor::Ticket;
use crate::driver::{Driver, block_on};
use crate::endpoint::EndpointActor;
use crate::infrastructure::{Awaited, WakeTimer};
use crate::participant::ParticipantHandle;
use crate::participant::shutdown::LINGER_MAX;
use crate::publication::WriterCell;
use dds_rtps::types::EntityId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Wake, Waker};

/// The dropped writers of a participant.
#[derive(Default)]
pub(crate) struct Draining {
    state: Mutex<DrainingState>,
}

#[derive(Default)]
struct DrainingState {
    writers: Vec<DrainingWriter>,
    /// Number of writers that threads are checking now.
    taken: usize,
    /// Wakers of threads that wait until the taken writers are back.
    waiting: Vec<Waker>,
    /// Waker of the thread that drops the last handle, while it waits for all writers.
    ///
    /// Other threads that check writers register it instead of their own, because the check replaces the registration.
    last_drop: Option<Waker>,
}

struct DrainingWriter {
    id: EntityId,
    cell: Arc<WriterCell>,
    ticket: Option<Ticket>,
    /// Fires when the last sample has settled.
    settling: Option<WakeTimer>,
}

impl DrainingWriter {
    /// Returns whether all samples are acknowledged and have settled. Otherwise registers `waker`.
    fn is_drained(&mut self, driver: &dyn Driver, waker: &Waker) -> bool {
        let ticket = &mut self.ticket;
        let visit = self.cell.visit(|actor, effects| {
            let written = Awaited::Acknowledged(actor.last_sequence_number());
            (actor.wait(written, ticket, waker.clone(), effects), actor.settles_at())
        });
        match visit {
            // Best-effort readers may still have the last samples before them.
            Ok((true, Some(until))) if until > driver.now().instant => {
                self.settling = Some(WakeTimer::new(driver, until, waker));
                false
            }
            Ok((is_acknowledged, _)) => is_acknowledged,
            // A writer that a panic has closed sends nothing more.
            Err(_) => true,
        }
    }
}

impl Draining {
    fn lock(&self) -> MutexGuard<'_, DrainingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a writer that the application has dropped.
    pub(super) fn add(&self, id: EntityId, cell: Arc<WriterCell>) {
        self.lock().writers.push(DrainingWriter { id, cell, ticket: None, settling: None });
    }

    /// Takes the writers, and the waker to register instead of the caller's.
    fn take(&self) -> (Vec<DrainingWriter>, Option<Waker>) {
        let mut state = self.lock();
        let writers = std::mem::take(&mut state.writers);
        state.taken += writers.len();
        (writers, state.last_drop.clone())
    }

    /// Puts back the rest of `taken` writers. Returns whether the list is empty.
    ///
    /// If other threads still hold writers, it registers `waker` for their return.
    fn put_back(&self, taken: usize, left: Vec<DrainingWriter>, waker: Option<&Waker>) -> bool {
        let mut state = self.lock();
        debug_assert!(state.taken >= taken, "a thread puts back only writers that it took");
        state.taken -= taken;
        state.writers.extend(left);
        if state.taken > 0 {
            // The thread with the other writers wakes it when it returns them.
            state.waiting.extend(waker.cloned());
            return false;
        }
        let (done, mut waiting) = (state.writers.is_empty(), std::mem::take(&mut state.waiting));
        if done {
            waiting.extend(state.last_drop.clone());
        }
        // A waker runs foreign code, which may take the lock again.
        drop(state);
        for waker in waiting {
            waker.wake();
        }
        done
    }

    fn set_last_drop(&self, waker: &Waker) {
        let old = self.lock().last_drop.replace(waker.clone());
        drop(old);
    }

    fn has_last_drop(&self) -> bool {
        self.lock().last_drop.is_some()
    }
}

/// Checks the dropped writers again when one of them is acknowledged.
struct DrainBell {
    participant: Weak<ParticipantHandle>,
}

impl Wake for DrainBell {
    fn wake(self: Arc<Self>) {
        if let Some(participant) = self.participant.upgrade() {
            let done = participant.finish_drained(&Waker::from(Arc::clone(&self)));
            // The last drop finishes by itself. When it returns, the process may end, so no other thread may still run.
            if done && participant.core.is_closed() && !participant.draining().has_last_drop() {
                participant.part();
            }
        }
    }
}

impl ParticipantHandle {
    /// Returns a waker that checks the dropped writers again.
    pub(super) fn drain_bell(&self) -> Waker {
        Waker::from(Arc::new(DrainBell { participant: Weak::clone(self.weak()) }))
    }

    /// Deletes writers without unacknowledged samples. Returns whether no writer is left.
    pub(super) fn finish_drained(&self, waker: &Waker) -> bool {
        // Taken out of the list, so that no lock is held in the cells. Other threads see how many are taken.
        let (mut writers, last_drop) = self.draining().take();
        // The thread of the last drop waits for all writers, so it replaces the bell.
        let waker = last_drop.as_ref().unwrap_or(waker);
        let taken = writers.len();
        let mut drained = Vec::new();
        let mut left = Vec::new();
        for mut writer in writers.drain(..) {
            if writer.is_drained(&**self.core.driver(), waker) { drained.push(writer) } else { left.push(writer) }
        }
        for writer in drained {
            self.delete_writer(writer.id, &writer.cell);
        }
        self.draining().put_back(taken, left, Some(waker))
    }

    /// Waits until no dropped writer is left, at most for the linger time.
    pub(super) fn wait_for_drained(&self) {
        let driver = self.core.driver();
        let until = driver.now().instant.after(self.core.config().linger.min(LINGER_MAX));
        // After the time limit, the caller drops the remaining samples.
        let _ = block_on(&**driver, until, |context| {
            if self.poll_drained(context.waker()) { Poll::Ready(()) } else { Poll::Pending }
        });
    }

    /// Checks the writers for the thread that drops the last handle.
    fn poll_drained(&self, waker: &Waker) -> bool {
        self.draining().set_last_drop(waker);
        self.finish_drained(waker)
    }

    /// Deletes the dropped writers with all unacknowledged samples.
    pub(super) fn give_up_drained(&self) {
        let (writers, _) = self.draining().take();
        for writer in &writers {
            self.delete_writer(writer.id, &writer.cell);
        }
        // The count of taken writers returns to zero, or a waiting thread would never wake.
        self.draining().put_back(writers.len(), Vec::new(), None);
    }
}

#[cfg(all(feature = "derive", feature = "udp", not(dds_loom)))]
#[cfg(test)]
mod tests {
    use crate::participant::DomainParticipant;
    use crate::participant::lonely::{Count, lonely};
    use crate::qos::{DataReaderQos, Preset};
    use crate::subscription::DataReader;
    use std::sync::{Arc, mpsc};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    /// The thread that drops the last handle.
    struct Parked(mpsc::Sender<()>);

    impl Wake for Parked {
        fn wake(self: Arc<Self>) {
            // The test may be over.
            let _ = self.0.send(());
        }
    }

    fn parked() -> (Waker, mpsc::Receiver<()>) {
        let (sender, woken) = mpsc::channel();
        (Waker::from(Arc::new(Parked(sender))), woken)
    }

    /// Creates a participant with a dropped writer, whose reader has no space for the last samples.
    fn draining(name: &str) -> (DomainParticipant, DataReader<Count>) {
        let participant = lonely(&format!("draining-{name}"));
        let mut limits = DataReaderQos::default().reliable().keep_all();
        limits.resource_limits.max_samples = Some(1);
        let reader = participant.reader_builder::<Count>("t").qos(limits).build().unwrap();
        let writer = participant.writer_builder::<Count>("t").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        (0..3).for_each(|count| writer.write(&Count { count }).unwrap());
        (participant, reader)
    }

    /// It parks after its first look. A bell of before, which was on its way already, must not take its place.
    #[test]
    fn late_bell_does_not_delay_last_drop() {
        let (participant, reader) = draining("bell");
        let handle = participant.handle();
        let (waker, woken) = parked();
        assert!(!handle.poll_drained(&waker));
        handle.drain_bell().wake();
        assert!(woken.try_recv().is_err());
        (0..3).for_each(|_| _ = reader.next_sample().block().unwrap());
        woken.recv_timeout(Duration::from_secs(30)).unwrap();
        while !handle.poll_drained(&waker) {
            woken.recv_timeout(Duration::from_secs(30)).unwrap();
        }
    }

    /// The participant had been closed before, and has lingered since.
    #[test]
    fn giving_up_writers_ends_last_drop() {
        let (participant, _reader) = draining("part");
        let handle = participant.handle();
        let (waker, woken) = parked();
        assert!(!handle.poll_drained(&waker));
        handle.part();
        woken.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(handle.poll_drained(&waker));
    }
}
