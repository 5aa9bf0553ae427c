//! Events of a reader other than data.

use crate::endpoint::EndpointState;
use crate::infrastructure::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus, LivelinessRead, MatchRead,
    PeerStatus, SampleRejectedStatus, mark,
};
use crate::subscription::statuses::ReaderStatuses;
use dds_rtps::reader::LivelinessCounts;

/// Event of a reader other than data, for event listeners and event streams.
///
/// Changes of one kind between two calls are combined into one event with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReaderEvent {
    /// A writer matched or ceased to match.
    Matched(PeerStatus),
    /// A writer of the topic has an incompatible QoS.
    IncompatibleQos(IncompatibleQosStatus),
    /// Samples were lost.
    SampleLost(CountStatus),
    /// Samples were rejected because of resource limits.
    SampleRejected(SampleRejectedStatus),
    /// A writer became alive or ceased to be alive.
    LivelinessChanged(LivelinessChangedStatus),
    /// Instances missed their deadline.
    DeadlineMissed(DeadlineMissedStatus),
    /// A listener panicked in a call about this entity and was removed. Only streams receive this event.
    ListenerPanicked {
        /// Message of the panic.
        message: String,
    },
}

/// Counts that one event stream has reported already.
#[derive(Default)]
pub(crate) struct ReportedToReaderEvents {
    matched: MatchRead,
    incompatible: u32,
    panics: u64,
    lost: u64,
    rejected: u64,
    liveliness: LivelinessRead,
    deadline_missed: u64,
}

impl ReportedToReaderEvents {
    /// Returns the change of a status that every endpoint has.
    pub(super) fn common(&mut self, mark: u32, endpoint: &mut EndpointState) -> Option<ReaderEvent> {
        match mark {
            mark::MATCHED => {
                let status = endpoint.matched().since(&mut self.matched);
                let has_changed = status.total_count_change > 0 || status.current_count_change != 0;
                if has_changed { Some(ReaderEvent::Matched(status)) } else { None }
            }
            mark::INCOMPATIBLE_QOS => {
                let status = endpoint.incompatible().since(&mut self.incompatible);
                if status.total_count_change > 0 { Some(ReaderEvent::IncompatibleQos(status)) } else { None }
            }
            mark::DEADLINE_MISSED => {
                let status = endpoint.deadlines().since(&mut self.deadline_missed);
                if status.total_count_change > 0 { Some(ReaderEvent::DeadlineMissed(status)) } else { None }
            }
            mark::LISTENER_PANICKED => {
                let message = endpoint.notifier.listener_panics().since(&mut self.panics)?;
                Some(ReaderEvent::ListenerPanicked { message })
            }
            _ => None,
        }
    }

    pub(super) fn lost(&mut self, statuses: &ReaderStatuses) -> Option<ReaderEvent> {
        let status = statuses.lost().since(&mut self.lost);
        if status.total_count_change > 0 { Some(ReaderEvent::SampleLost(status)) } else { None }
    }

    pub(super) fn rejected(&mut self, statuses: &ReaderStatuses) -> Option<ReaderEvent> {
        let status = statuses.rejected().since(&mut self.rejected);
        if status.total_count_change > 0 { Some(ReaderEvent::SampleRejected(status)) } else { None }
    }

    pub(super) fn liveliness(&mut self, counts: LivelinessCounts) -> Option<ReaderEvent> {
        let (status, has_changed) = self.liveliness.read(counts);
        if has_changed { Some(ReaderEvent::LivelinessChanged(status)) } else { None }
    }
}
