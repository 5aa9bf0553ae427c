//! What a reader has to tell: events that wait to be polled, and counters.

use crate::history::{MissedDeadlines, RejectReason};
use crate::reader::coherent::group::GroupItems;
use crate::reader::coherent::group_gate::GroupItem;
use crate::types::{Guid, InstanceHandle};
use std::collections::VecDeque;

/// How many events wait at most. Losses and rejections of one writer and cause are merged into one event, so that this many
/// are only reached with as many writers in trouble at once; what comes then is merged into the counters alone.
const EVENTS_MAX: usize = 64;

/// Why a sample was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossCause {
    /// Best effort: a later one came, this one did not. Reliable: the writer no longer has it, or is gone; changes that
    /// had come and waited for a missing one are counted, too.
    NeverArrived,
    /// Not all of its fragments came in time, or others needed the room.
    Fragments,
    /// Its payload does not fit the type, or it is larger than accepted.
    NotDecodable,
    /// They came, but not all of the coherent set that they belong to (PRESENTATION).
    Incoherent,
}

/// Something that a reader's owner should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReaderEvent {
    /// There is something new in the history.
    DataAvailable,
    /// Samples will never be seen.
    SampleLost {
        /// Whose.
        writer: Guid,
        /// How many since the last event of this writer and cause.
        count: u64,
        /// Why.
        cause: LossCause,
    },
    /// Samples did not fit. A reliable KEEP_ALL reader gets them later, any other has lost them.
    SampleRejected {
        /// Whose.
        writer: Guid,
        /// The instance of the last one.
        instance: InstanceHandle,
        /// Which limit was reached.
        reason: RejectReason,
        /// How many since the last event of this writer and reason.
        count: u64,
    },
    /// Instances have gone without a new sample for longer than DEADLINE says.
    DeadlineMissed(MissedDeadlines),
    /// There is room again for a writer of the same process whose change was refused: it should look at its
    /// [`LocalLink`](crate::concurrent::LocalLink).
    LocalSpace {
        /// The writer.
        writer: Guid,
    },
    /// Writers have become alive, have lost their liveliness, have come or have gone:
    /// [`StatefulReader::liveliness`](crate::reader::StatefulReader::liveliness) says how many there are of each.
    LivelinessChanged,
}

/// What a reader has seen so far. Plain numbers that only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReaderCounters {
    /// Changes accepted, from wherever.
    pub accepted: u64,
    /// Changes and fragments that were there already, or are older than what has been delivered.
    pub duplicate: u64,
    /// Changes and fragments too far ahead to be kept; they are asked for again.
    pub out_of_window: u64,
    /// Fragments that contradict themselves, each other or the limits.
    pub malformed: u64,
    /// Changes whose instance could not be found in their payload, and such with a parameter that must be understood and
    /// is not known.
    pub not_decodable: u64,
    /// Submessages of writers that are not matched.
    pub unmatched: u64,
    /// Writers that were not matched, because there were [`WRITERS_MAX`](crate::reader::WRITERS_MAX) already.
    pub writers_refused: u64,
    /// Numbers that will never be delivered.
    pub lost: u64,
    /// Fragmented samples given up.
    pub assemblies_dropped: u64,
    /// ACKNACKs laid out.
    pub ack_nacks: u64,
    /// NACK_FRAGs laid out.
    pub nack_frags: u64,
    /// HEARTBEATs and HEARTBEAT_FRAGs that were there already.
    pub duplicate_heartbeats: u64,
    /// Payloads that did not fit into the history, retries not counted.
    pub rejected: u64,
    /// Numbers and announcements so far from where their writer stood that they were not believed before the writer had said
    /// the same again: it was restarted, or somebody else speaks in its name.
    pub doubtful: u64,
    /// How often a writer denied what it, or somebody in its name, had said before: that it no longer has numbers which it
    /// had not even written. The reader has gone back to where it was.
    pub retracted: u64,
    /// Buffers for payloads that were made because none of those made before was free. It stands still once as much has been kept
    /// as ever will be; samples and batches that the application keeps hold theirs, and a reader that never finds a free one makes
    /// one for each sample. Samples of a writer of the same process lie in that writer's buffers, and those of one datagram may
    /// share its receive buffer.
    pub slots_made: u64,
}

/// The events that wait.
#[derive(Debug, Default)]
pub(crate) struct Events {
    data_available: bool,
    liveliness_changed: bool,
    queue: VecDeque<ReaderEvent>,
    /// What goes to the gate of the subscriber.
    group: GroupItems,
}

impl Events {
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

    pub(crate) fn push(&mut self, event: ReaderEvent) {
        if self.queue.iter_mut().any(|waiting| merge(waiting, &event)) || self.queue.len() >= EVENTS_MAX {
            return;
        }
        self.queue.push_back(event);
    }

    /// Whether nothing waits but, perhaps, news of data.
    #[inline]
    pub(crate) fn is_only_data(&self) -> bool {
        !self.liveliness_changed && self.queue.is_empty()
    }

    /// Whether there is news of data; takes it.
    #[inline]
    pub(crate) fn take_data(&mut self) -> bool {
        std::mem::take(&mut self.data_available)
    }

    /// Losses and rejections come before the data that came after them.
    pub(crate) fn pop(&mut self) -> Option<ReaderEvent> {
        if std::mem::take(&mut self.liveliness_changed) {
            return Some(ReaderEvent::LivelinessChanged);
        }
        self.queue
            .pop_front()
            .or_else(|| std::mem::take(&mut self.data_available).then_some(ReaderEvent::DataAvailable))
    }
}

/// Adds `event` to one that waits, if they say the same of the same writer.
fn merge(waiting: &mut ReaderEvent, event: &ReaderEvent) -> bool {
    use ReaderEvent::{LocalSpace, SampleLost, SampleRejected};
    match (waiting, *event) {
        (SampleLost { writer, count, cause }, SampleLost { writer: other, count: more, cause: why }) => {
            let same = *writer == other && *cause == why;
            *count = count.saturating_add(if same { more } else { 0 });
            same
        }
        (
            SampleRejected { writer, instance, reason, count },
            SampleRejected { writer: other, instance: last, reason: why, count: more },
        ) => {
            let same = *writer == other && *reason == why;
            if same {
                *count = count.saturating_add(more);
                *instance = last;
            }
            same
        }
        (LocalSpace { writer }, LocalSpace { writer: other }) => *writer == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, GuidPrefix};

    fn lost(writer: u8, count: u64) -> ReaderEvent {
        let writer = Guid::new(GuidPrefix([writer; 12]), EntityId([0, 0, 1, 2]));
        ReaderEvent::SampleLost { writer, count, cause: LossCause::NeverArrived }
    }

    #[test]
    fn losses_of_one_writer_and_cause_are_one_event() {
        let mut events = Events::default();
        events.push(lost(1, 2));
        events.data_available();
        events.push(lost(2, 1));
        events.push(lost(1, 3));
        assert_eq!(events.pop(), Some(lost(1, 5)));
        assert_eq!(events.pop(), Some(lost(2, 1)));
        assert_eq!(events.pop(), Some(ReaderEvent::DataAvailable));
        assert_eq!(events.pop(), None);
    }

    #[test]
    fn a_thousand_writers_in_trouble_do_not_fill_the_memory() {
        let mut events = Events::default();
        for writer in 0..=255 {
            events.push(lost(writer, 1));
        }
        assert_eq!(events.queue.len(), EVENTS_MAX);
    }
}
