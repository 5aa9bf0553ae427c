//! Events that wait for the owner of a reader, and counters.

use crate::history::{MissedDeadlines, RejectReason};
use crate::reader::coherent::group_gate::GroupItem;
use crate::types::{Guid, InstanceHandle};
use std::collections::VecDeque;

/// Most events that wait. Losses and rejections of one writer and cause share one event, so only as many writers in
/// trouble at once reach this bound. Events beyond it appear in the counters only.
const EVENTS_MAX: usize = 64;

/// Why a sample was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossCause {
    /// Best effort: a later sample arrived and this one did not. Reliable: the writer no longer has the sample, or is
    /// gone. Received changes that waited for a missing one count as well.
    NeverArrived,
    /// The reliable writer replaced the sample before the reader received it (HISTORY KEEP_LAST).
    ///
    /// It keeps the newest samples, and the reader has them or gets them. So this is no loss by the network.
    Replaced,
    /// Some fragments did not arrive in time, or other samples needed the memory.
    Fragments,
    /// The payload does not match the type, or is larger than accepted.
    NotDecodable,
    /// The sample arrived, but a part of its coherent set is missing (PRESENTATION).
    Incoherent,
}

/// Event for the owner of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatefulReaderEvent {
    /// The history has something new.
    DataAvailable,
    /// Samples are lost.
    SampleLost {
        /// Writer of the samples.
        writer: Guid,
        /// Samples since the last event of this writer and cause.
        count: u64,
        /// Why they are lost.
        cause: LossCause,
    },
    /// Samples did not fit into the history. A reliable KEEP_ALL reader receives them later, any other loses them.
    SampleRejected {
        /// Writer of the samples.
        writer: Guid,
        /// Instance of the last rejected sample.
        instance: InstanceHandle,
        /// The limit that was reached.
        reason: RejectReason,
        /// Samples since the last event of this writer and reason.
        count: u64,
    },
    /// Instances received no sample within their DEADLINE period.
    DeadlineMissed(MissedDeadlines),
    /// The history has space for a local writer whose change the reader refused. The writer should look at its
    /// [`LocalLink`](crate::concurrent::LocalLink).
    LocalSpace {
        /// The writer.
        writer: Guid,
    },
    /// Another matched writer knows the reader. [`StatefulReader::is_known_to`](super::StatefulReader::is_known_to)
    /// says which ones do. Only with [`ReaderConfig::awaits_writers`](super::ReaderConfig::awaits_writers).
    KnownToWriter,
    /// Matched writers became alive, lost their liveliness, came or went.
    /// [`StatefulReader::liveliness`](super::StatefulReader::liveliness) returns the counts.
    LivelinessChanged,
}

/// Counters of a reader. They only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReaderCounters {
    /// Changes that entered the history, from local and remote writers.
    pub accepted: u64,
    /// Changes and fragments that arrived before, or that are older than a delivered change.
    pub duplicate: u64,
    /// Changes and fragments too far ahead to be kept. The reader requests them again.
    pub out_of_window: u64,
    /// Fragments that contradict themselves, each other or the limits.
    pub malformed: u64,
    /// Changes without a decodable instance, or with an unknown parameter that must be understood.
    pub not_decodable: u64,
    /// Submessages of writers that are not matched.
    pub unmatched: u64,
    /// Writers that were not matched because there were [`WRITERS_MAX`](super::WRITERS_MAX) already.
    pub writers_refused: u64,
    /// Sequence numbers that will never be delivered.
    pub lost: u64,
    /// Sequence numbers that a KEEP_LAST writer replaced before they arrived. They do not count as lost.
    pub replaced: u64,
    /// Fragmented samples that were given up.
    pub assemblies_dropped: u64,
    /// ACKNACKs sent.
    pub ack_nacks: u64,
    /// NACK_FRAGs sent.
    pub nack_frags: u64,
    /// HEARTBEATs and HEARTBEAT_FRAGs that arrived twice.
    pub duplicate_heartbeats: u64,
    /// Changes that did not fit into the history. Retries do not count.
    pub rejected: u64,
    /// Sequence numbers and announcements that failed the plausibility check.
    ///
    /// They are too far away from the last known position of their writer. The reader accepts them when the writer
    /// repeats them: it was restarted. Otherwise another host sends in its name.
    pub doubtful: u64,
    /// Times that a writer denied an earlier announcement, and the reader returned to its earlier position.
    ///
    /// A forged announcement claims that the writer no longer has numbers which it has not even written.
    pub retracted: u64,
    /// Buffers for payloads that were created because no earlier one was free.
    ///
    /// The counter stands still when the reader holds as much as it ever will. Samples and batches that the application
    /// keeps hold their buffers: a reader that never finds a free one creates one for each sample. Samples of a local
    /// writer lie in buffers of that writer, and samples of one datagram may share its receive buffer.
    pub slots_made: u64,
}

/// Events that wait to be polled.
#[derive(Debug, Default)]
pub(crate) struct PendingEvents {
    data_available: bool,
    liveliness_changed: bool,
    queue: VecDeque<StatefulReaderEvent>,
    /// Items for the gate of the subscriber (PRESENTATION scope GROUP).
    group: VecDeque<(Guid, GroupItem)>,
}

impl PendingEvents {
    pub(crate) fn push_group(&mut self, writer: Guid, item: GroupItem) {
        self.group.push_back((writer, item));
    }

    pub(crate) fn pop_group(&mut self) -> Option<(Guid, GroupItem)> {
        self.group.pop_front()
    }

    pub(crate) fn data_available(&mut self) {
        self.data_available = true;
    }

    pub(crate) fn liveliness_changed(&mut self) {
        self.liveliness_changed = true;
    }

    #[cfg(test)]
    pub(crate) fn forget_liveliness(&mut self) {
        self.liveliness_changed = false;
    }

    pub(crate) fn push(&mut self, event: StatefulReaderEvent) {
        for waiting in &mut self.queue {
            if merge(waiting, &event) {
                return;
            }
        }
        // The counters still count an event that does not fit.
        if self.queue.len() < EVENTS_MAX {
            self.queue.push_back(event);
        }
    }

    /// Whether no event waits but, perhaps, [`StatefulReaderEvent::DataAvailable`].
    #[inline]
    pub(crate) fn has_only_data(&self) -> bool {
        !self.liveliness_changed && self.queue.is_empty()
    }

    /// Takes [`StatefulReaderEvent::DataAvailable`]; `false`: it does not wait.
    #[inline]
    pub(crate) fn take_data_available(&mut self) -> bool {
        std::mem::take(&mut self.data_available)
    }

    pub(crate) fn pop(&mut self) -> Option<StatefulReaderEvent> {
        if std::mem::take(&mut self.liveliness_changed) {
            return Some(StatefulReaderEvent::LivelinessChanged);
        }
        // Losses and rejections precede the data that came after them.
        if let Some(event) = self.queue.pop_front() {
            return Some(event);
        }
        if self.take_data_available() {
            return Some(StatefulReaderEvent::DataAvailable);
        }
        None
    }
}

/// Adds `event` to `waiting` if both concern the same writer and the same cause.
fn merge(waiting: &mut StatefulReaderEvent, event: &StatefulReaderEvent) -> bool {
    use StatefulReaderEvent::{KnownToWriter, LocalSpace, SampleLost, SampleRejected};
    match (waiting, *event) {
        (SampleLost { writer, count, cause }, SampleLost { writer: other, count: more, cause: why })
            if *writer == other && *cause == why =>
        {
            *count = count.saturating_add(more);
            true
        }
        (
            SampleRejected { writer, instance, reason, count },
            SampleRejected { writer: other, instance: last, reason: why, count: more },
        ) if *writer == other && *reason == why => {
            *count = count.saturating_add(more);
            // The status shows the instance of the last rejection (DDS 1.4, 2.2.4.1).
            *instance = last;
            true
        }
        (LocalSpace { writer }, LocalSpace { writer: other }) => *writer == other,
        (KnownToWriter, KnownToWriter) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, GuidPrefix};

    fn lost(writer: u8, count: u64) -> StatefulReaderEvent {
        let writer = Guid::new(GuidPrefix([writer; 12]), EntityId([0, 0, 1, 2]));
        StatefulReaderEvent::SampleLost { writer, count, cause: LossCause::NeverArrived }
    }

    #[test]
    fn losses_of_one_writer_and_cause_share_one_event() {
        let mut events = PendingEvents::default();
        events.push(lost(1, 2));
        events.data_available();
        events.push(lost(2, 1));
        events.push(lost(1, 3));
        assert_eq!(events.pop(), Some(lost(1, 5)));
        assert_eq!(events.pop(), Some(lost(2, 1)));
        assert_eq!(events.pop(), Some(StatefulReaderEvent::DataAvailable));
        assert_eq!(events.pop(), None);
    }

    #[test]
    fn pending_events_are_bounded() {
        let mut events = PendingEvents::default();
        for writer in 0..=255 {
            events.push(lost(writer, 1));
        }
        assert_eq!(events.queue.len(), EVENTS_MAX);
    }
}
