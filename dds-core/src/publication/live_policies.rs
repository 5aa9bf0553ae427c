//! Policies that may change while a writer lives, and statuses that follow from policies: missed deadlines and
//! incompatible readers.

use crate::actor::Effects;
use crate::delivery::LocalTerms;
use crate::infrastructure::{DeadlineCounter, DeadlineMissedStatus, IncompatibleQosStatus, WriteError, mark};
use crate::publication::WriterHandle;
use crate::publication::writer_actor::WriterActor;
use crate::qos::DataWriterQos;
use dds_rtps::history::MissedDeadlines;
use dds_rtps::types::TrafficClass;

impl WriterActor {
    /// Applies the policies that may change.
    pub(crate) fn set_qos(&mut self, qos: &DataWriterQos, effects: &mut Effects) {
        let now = self.now(effects);
        self.apply_terms(qos);
        self.rtps_mut().set_lifespan(qos.lifespan);
        self.rtps_mut().set_deadline(now, qos.deadline);
        self.follow_up_and_come_back(now, effects);
    }

    /// Applies the policies outside of the protocol: the terms for local readers, and the traffic class of datagrams.
    pub(super) fn apply_terms(&mut self, qos: &DataWriterQos) {
        self.terms = qos.into();
        self.outgoing.set_traffic_class(TrafficClass::of_priority(qos.transport_priority));
    }

    pub(crate) fn terms(&self) -> LocalTerms {
        self.terms
    }

    pub(super) fn note_missed(&mut self, missed: MissedDeadlines, effects: &mut Effects) {
        self.deadlines.note(missed);
        self.mark(mark::DEADLINE_MISSED, effects);
    }

    pub(crate) fn deadlines(&mut self) -> &mut DeadlineCounter {
        &mut self.deadlines
    }
}

impl WriterHandle {
    pub(crate) fn offered_incompatible_qos(&self) -> Result<IncompatibleQosStatus, WriteError> {
        let read = |actor: &mut WriterActor, _: &mut Effects| {
            actor.observers().status_read(mark::INCOMPATIBLE_QOS);
            actor.incompatible().read()
        };
        self.visit(read).map_err(|kind| self.write_error(kind))
    }

    pub(crate) fn offered_deadline_missed(&self) -> Result<DeadlineMissedStatus, WriteError> {
        let read = |actor: &mut WriterActor, _: &mut Effects| {
            actor.observers().status_read(mark::DEADLINE_MISSED);
            actor.deadlines().read()
        };
        self.visit(read).map_err(|kind| self.write_error(kind))
    }
}
