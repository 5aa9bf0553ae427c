//! Operations that only the writers of the durability service need.

use crate::infrastructure::WriteError;
use crate::publication::WriterHandle;
use dds_rtps::types::SequenceNumber;

impl WriterHandle {
    /// Removes changes from the history that need not be kept any more.
    pub(crate) fn withdraw(&self, numbers: &[SequenceNumber]) -> Result<(), WriteError> {
        self.visit(|actor, effects| actor.withdraw(numbers, effects)).map_err(|kind| self.write_error(kind))
    }
}

impl super::writer_actor::WriterActor {
    fn withdraw(&mut self, numbers: &[SequenceNumber], effects: &mut crate::actor::Effects) {
        let now = self.now(effects);
        for &number in numbers {
            self.rtps_mut().withdraw(now, number);
        }
        self.follow_up_and_come_back(now, effects);
    }
}
