//! Events of a writer.

use crate::endpoint::EndpointState;
use crate::infrastructure::{
    CountStatus, Counter, DeadlineMissedStatus, IncompatibleQosStatus, MatchCounter, MatchRead, PeerStatus, mark,
};

/// Event of a writer, for event listeners and event streams.
///
/// Changes of one kind between two calls are combined into one event with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriterEvent {
    /// A reader matched or ceased to match.
    Matched(PeerStatus),
    /// A reader of the topic has an incompatible QoS.
    IncompatibleQos(IncompatibleQosStatus),
    /// A slow reader held up a write for 50 ms, was demoted, or counts as responsive again.
    SlowReader(PeerStatus),
    /// The writer failed to assert its liveliness within its lease.
    LivelinessLost(CountStatus),
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
pub(crate) struct ReportedToWriterEvents {
    matched: MatchRead,
    incompatible: u32,
    slow: MatchRead,
    liveliness_lost: u64,
    deadline_missed: u64,
    panics: u64,
}

impl ReportedToWriterEvents {
    /// Returns the change of a status that every endpoint has.
    pub(super) fn common(&mut self, mark: u32, endpoint: &mut EndpointState) -> Option<WriterEvent> {
        match mark {
            mark::MATCHED => {
                let status = endpoint.matched().since(&mut self.matched);
                let has_changed = status.total_count_change > 0 || status.current_count_change != 0;
                if has_changed { Some(WriterEvent::Matched(status)) } else { None }
            }
            mark::INCOMPATIBLE_QOS => {
                let status = endpoint.incompatible().since(&mut self.incompatible);
                if status.total_count_change > 0 { Some(WriterEvent::IncompatibleQos(status)) } else { None }
            }
            mark::DEADLINE_MISSED => {
                let status = endpoint.deadlines().since(&mut self.deadline_missed);
                if status.total_count_change > 0 { Some(WriterEvent::DeadlineMissed(status)) } else { None }
            }
            mark::LISTENER_PANICKED => {
                let message = endpoint.notifier.listener_panics().since(&mut self.panics)?;
                Some(WriterEvent::ListenerPanicked { message })
            }
            _ => None,
        }
    }

    pub(super) fn slow_readers(&mut self, counter: &MatchCounter) -> Option<WriterEvent> {
        let status = counter.since(&mut self.slow);
        let has_changed = status.total_count_change > 0 || status.current_count_change != 0;
        if has_changed { Some(WriterEvent::SlowReader(status)) } else { None }
    }

    pub(super) fn liveliness_lost(&mut self, counter: &Counter) -> Option<WriterEvent> {
        let status = counter.since(&mut self.liveliness_lost);
        if status.total_count_change > 0 { Some(WriterEvent::LivelinessLost(status)) } else { None }
    }
}
