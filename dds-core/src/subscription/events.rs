//! Events of a reader other than data.

use crate::actor::Effects;
use crate::infrastructure::{
    DeadlineMissedStatus, Feed, IncompatibleQosStatus, LivelinessChangedStatus, LivelinessRead, MatchRead,
    SampleLostStatus, SampleRejectedStatus, SubscriptionMatchedStatus, mark,
};
use crate::subscription::ReaderCell;
use crate::subscription::reader_actor::ReaderActor;
use std::sync::{Arc, Mutex, PoisonError};

/// Event of a reader other than data, for event listeners and event streams.
///
/// Changes of one kind between two calls are combined into one event with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReaderEvent {
    /// A writer matched or ceased to match.
    Matched(SubscriptionMatchedStatus),
    /// A writer of the topic has an incompatible QoS.
    IncompatibleQos(IncompatibleQosStatus),
    /// Samples were lost.
    SampleLost(SampleLostStatus),
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

/// Event source of one stream.
pub(crate) struct ReaderFeed {
    cell: Arc<ReaderCell>,
    reported: Mutex<ReportedToReaderEvents>,
}

/// Counts that the stream has reported already.
#[derive(Default)]
struct ReportedToReaderEvents {
    matched: MatchRead,
    incompatible: u32,
    panics: u64,
    lost: u64,
    rejected: u64,
    liveliness: LivelinessRead,
    deadline_missed: u64,
}

impl ReaderFeed {
    pub(crate) fn new(cell: Arc<ReaderCell>) -> Self {
        Self { cell, reported: Mutex::default() }
    }
}

impl Feed<ReaderEvent> for ReaderFeed {
    fn event(&self, mark: u32, effects: &mut Effects) -> Option<ReaderEvent> {
        // Handlers never take this lock, so this thread may hold it while it enters the cell.
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        self.cell.with(effects, |actor, _| reported.next(mark, actor)).ok().flatten()
    }
}

impl ReportedToReaderEvents {
    // Streams count on their own, because a status getter resets the change only for its caller.
    fn next(&mut self, mark: u32, actor: &mut ReaderActor) -> Option<ReaderEvent> {
        match mark {
            mark::MATCHED => {
                let status = actor.matched().subscription_since(&mut self.matched);
                let changed = status.total_count_change > 0 || status.current_count_change != 0;
                changed.then_some(ReaderEvent::Matched(status))
            }
            mark::INCOMPATIBLE_QOS => {
                let status = actor.incompatible().since(&mut self.incompatible);
                (status.total_count_change > 0).then_some(ReaderEvent::IncompatibleQos(status))
            }
            mark::SAMPLE_LOST => {
                let status = actor.lost().since(&mut self.lost);
                (status.total_count_change > 0).then_some(ReaderEvent::SampleLost(status))
            }
            mark::SAMPLE_REJECTED => {
                let status = actor.rejected().since(&mut self.rejected);
                (status.total_count_change > 0).then_some(ReaderEvent::SampleRejected(status))
            }
            mark::LIVELINESS_CHANGED => {
                let (status, news) = self.liveliness.read(actor.rtps().liveliness());
                news.then_some(ReaderEvent::LivelinessChanged(status))
            }
            mark::DEADLINE_MISSED => {
                let status = actor.deadlines().since(&mut self.deadline_missed);
                (status.total_count_change > 0).then_some(ReaderEvent::DeadlineMissed(status))
            }
            mark::LISTENER_PANICKED => {
                let message = actor.listener_panics().since(&mut self.panics)?;
                Some(ReaderEvent::ListenerPanicked { message })
            }
            _ => None,
        }
    }
}
