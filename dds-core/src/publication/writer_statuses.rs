//! Statuses of a writer. Reading one resets its changes (DDS 1.4, 2.2.4.1).

use crate::actor::Effects;
use crate::infrastructure::{LivelinessLostStatus, PublicationMatchedStatus, SlowReaderStatus, WriteError, mark};
use crate::publication::WriterHandle;
use crate::publication::writer_actor::WriterActor;
use dds_rtps::writer::WriterCounters;

impl WriterHandle {
    pub(crate) fn publication_matched(&self) -> Result<PublicationMatchedStatus, WriteError> {
        let read = |actor: &mut WriterActor, _: &mut Effects| {
            actor.observers().status_read(mark::MATCHED);
            actor.matched().read_publication()
        };
        self.visit(read).map_err(|kind| self.write_error(kind))
    }

    pub(crate) fn slow_readers(&self) -> Result<SlowReaderStatus, WriteError> {
        let read = |actor: &mut WriterActor, _: &mut Effects| {
            actor.observers().status_read(mark::SLOW_READER);
            actor.slow_readers().read_slow_reader()
        };
        self.visit(read).map_err(|kind| self.write_error(kind))
    }

    pub(crate) fn counters(&self) -> Result<WriterCounters, WriteError> {
        self.visit(|actor, _| actor.rtps().counters()).map_err(|kind| self.write_error(kind))
    }

    pub(crate) fn liveliness_lost(&self) -> Result<LivelinessLostStatus, WriteError> {
        let read = |actor: &mut WriterActor, _: &mut Effects| {
            actor.observers().status_read(mark::LIVELINESS_LOST);
            actor.read_liveliness_lost()
        };
        self.visit(read).map_err(|kind| self.write_error(kind))
    }
}
