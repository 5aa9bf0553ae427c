//! Liveliness of a writer (LIVELINESS; DDS 1.4, 2.2.3.11).

use crate::actor::{Effects, Poke};
use crate::context::WRITER_IS_ALIVE;
use crate::infrastructure::{LivelinessLostStatus, mark};
use crate::publication::writer_actor::WriterActor;
use crate::subscription::WRITER_LIVELINESS;
use std::sync::{Arc, Weak};

impl WriterActor {
    /// Asserts liveliness for the application.
    pub(crate) fn assert_liveliness(&mut self, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.assert_liveliness(now);
        self.follow_liveliness(effects);
        self.follow_up_and_come_back(now, effects);
    }

    /// Checks the liveliness again after the participant has asserted its own.
    pub(crate) fn recheck_liveliness(&mut self, effects: &mut Effects) {
        let now = self.now(effects);
        self.rtps.look_at_liveliness(now);
        self.follow_liveliness(effects);
        self.follow_up_and_come_back(now, effects);
    }

    /// Counts a lease that expired without an assertion.
    pub(crate) fn note_liveliness_lost(&mut self, effects: &mut Effects) {
        self.liveliness_lost.note();
        self.mark(mark::LIVELINESS_LOST, effects);
    }

    /// Notifies local readers and the participant if the liveliness has changed.
    #[inline]
    pub(super) fn follow_liveliness(&mut self, effects: &mut Effects) {
        if self.rtps.is_alive() != self.alive {
            self.notify_liveliness(effects);
        }
        if self.rtps.take_call() {
            self.signal_participant(effects);
        }
    }

    #[cold]
    fn notify_liveliness(&mut self, effects: &mut Effects) {
        self.alive = self.rtps.is_alive();
        for reader in &self.local_readers {
            reader.path.set_alive(self.alive);
            reader.cell.signal(WRITER_LIVELINESS);
            effects.poke(Arc::clone(&reader.cell) as Arc<dyn Poke>);
        }
    }

    #[cold]
    fn signal_participant(&mut self, effects: &mut Effects) {
        if let Some(participant) = self.participant.as_ref().and_then(Weak::upgrade) {
            participant.signal(WRITER_IS_ALIVE);
            effects.poke(participant);
        }
    }

    /// Returns the status and resets its changes.
    pub(crate) fn read_liveliness_lost(&mut self) -> LivelinessLostStatus {
        self.liveliness_lost.since(&mut self.liveliness_lost_read)
    }

    pub(crate) fn liveliness_lost(&self) -> LivelinessLostStatus {
        self.liveliness_lost
    }
}
