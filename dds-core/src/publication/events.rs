//! Events of a writer.

use crate::actor::Effects;
use crate::infrastructure::{
    DeadlineMissedStatus, Feed, IncompatibleQosStatus, LivelinessLostStatus, MatchRead, Observed, Observers,
    PublicationMatchedStatus, SlowReaderStatus, mark,
};
use crate::publication::WriterCell;
use crate::publication::writer_actor::WriterActor;
use std::sync::{Arc, Mutex, PoisonError};

/// Event of a writer, for event listeners and event streams.
///
/// Changes of one kind between two calls are combined into one event with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriterEvent {
    /// A reader matched or ceased to match.
    Matched(PublicationMatchedStatus),
    /// A reader of the topic has an incompatible QoS.
    IncompatibleQos(IncompatibleQosStatus),
    /// A slow reader was demoted, or counts as responsive again.
    SlowReader(SlowReaderStatus),
    /// The writer failed to assert its liveliness within its lease.
    LivelinessLost(LivelinessLostStatus),
    /// Instances missed their deadline.
    DeadlineMissed(DeadlineMissedStatus),
    /// A listener panicked in a call about this entity and was removed. Only streams receive this event.
    ListenerPanicked {
        /// Message of the panic.
        message: String,
    },
}

/// Event source of one stream.
pub(crate) struct WriterFeed {
    cell: Arc<WriterCell>,
    reported: Mutex<ReportedToWriterEvents>,
}

/// Counts that the stream has reported already.
#[derive(Default)]
struct ReportedToWriterEvents {
    matched: MatchRead,
    incompatible: u32,
    slow: MatchRead,
    liveliness_lost: u32,
    deadline_missed: u64,
    panics: u64,
}

impl WriterFeed {
    pub(crate) fn new(cell: Arc<WriterCell>) -> Self {
        Self { cell, reported: Mutex::default() }
    }
}

impl Feed<WriterEvent> for WriterFeed {
    fn event(&self, mark: u32, effects: &mut Effects) -> Option<WriterEvent> {
        // Handlers never take this lock, so this thread may hold it while it enters the cell.
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        self.cell.with(effects, |actor, _| reported.next(mark, actor)).ok().flatten()
    }
}

impl Observed for WriterCell {
    fn with_observers(
        self: Arc<Self>,
        effects: &mut Effects,
        visit: &mut dyn FnMut(&mut Observers, &mut Effects),
    ) -> bool {
        let visited = self.with(effects, |actor, effects| {
            // The cell of a closed writer lives on until its samples are acknowledged.
            let open = !actor.is_closed();
            if open {
                visit(actor.observers(), effects);
            }
            open
        });
        visited.unwrap_or(false)
    }
}

impl ReportedToWriterEvents {
    // Streams count on their own, because a status getter resets the change only for its caller.
    fn next(&mut self, mark: u32, actor: &mut WriterActor) -> Option<WriterEvent> {
        match mark {
            mark::MATCHED => {
                let status = actor.matched().publication_since(&mut self.matched);
                let changed = status.total_count_change > 0 || status.current_count_change != 0;
                changed.then_some(WriterEvent::Matched(status))
            }
            mark::INCOMPATIBLE_QOS => {
                let status = actor.incompatible().since(&mut self.incompatible);
                (status.total_count_change > 0).then_some(WriterEvent::IncompatibleQos(status))
            }
            mark::SLOW_READER => {
                let status = actor.slow_readers().slow_reader_since(&mut self.slow);
                let changed = status.total_count_change > 0 || status.current_count_change != 0;
                changed.then_some(WriterEvent::SlowReader(status))
            }
            mark::LIVELINESS_LOST => {
                let status = actor.liveliness_lost().since(&mut self.liveliness_lost);
                (status.total_count_change > 0).then_some(WriterEvent::LivelinessLost(status))
            }
            mark::DEADLINE_MISSED => {
                let status = actor.deadlines().since(&mut self.deadline_missed);
                (status.total_count_change > 0).then_some(WriterEvent::DeadlineMissed(status))
            }
            mark::LISTENER_PANICKED => {
                let message = actor.listener_panics().since(&mut self.panics)?;
                Some(WriterEvent::ListenerPanicked { message })
            }
            _ => None,
        }
    }
}
