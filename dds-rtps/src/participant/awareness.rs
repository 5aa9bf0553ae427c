//! Tracks which remote best-effort readers do not know our writers yet.
//!
//! A participant discovers a remote reader before the reader's participant has discovered our writer. A best-effort
//! reader loses the samples that are sent in between, and no repair follows. Its participant knows our writer once it
//! has acknowledged the writer's announcement; `wait_for_readers` waits for that.
//!
//! Bound: at most as many entries as there are matches.

use crate::discovery::{BuiltinPair, BuiltinPairTopic, ParticipantEvent};
use crate::types::{EntityId, Guid, GuidPrefix, SequenceNumber};

/// Matches whose reader does not know the writer yet.
#[derive(Debug, Default)]
pub(super) struct Awareness {
    unaware: Vec<UnawareMatch>,
}

#[derive(Debug)]
struct UnawareMatch {
    writer: EntityId,
    reader: Guid,
    /// Sequence number that announces the writer, or a later one.
    announced: SequenceNumber,
}

impl Awareness {
    /// Handles an event that the participant returns. Returns the participant to check with
    /// [`take_aware`](Self::take_aware), if it may know the writer already.
    pub(super) fn handle_event(&mut self, event: &ParticipantEvent, publications: &BuiltinPair) -> Option<GuidPrefix> {
        match event {
            ParticipantEvent::ReaderMatched { writer, reader } => {
                // A reliable reader gets the samples repaired; a local one knows the writer.
                if reader.is_local || reader.data.qos.reliability.is_reliable() {
                    return None;
                }
                let (writer, reader) = (*writer, reader.data.endpoint.guid);
                // The match follows the announcement, so its number is not higher than this one.
                let announced = publications.writer().last_sequence_number();
                self.remove(writer, reader);
                self.unaware.push(UnawareMatch { writer, reader, announced });
                Some(reader.prefix)
            }
            ParticipantEvent::ReaderUnmatched { writer, reader, .. } => {
                self.remove(*writer, *reader);
                None
            }
            _ => None,
        }
    }

    /// Whether a matched reader does not know the writer yet.
    pub(super) fn contains(&self, writer: EntityId, reader: Guid) -> bool {
        self.unaware.iter().any(|known| (known.writer, known.reader) == (writer, reader))
    }

    fn remove(&mut self, writer: EntityId, reader: Guid) {
        self.unaware.retain(|known| (known.writer, known.reader) != (writer, reader));
    }

    /// Removes and returns the matches of a participant that has acknowledged the announcement of their writers.
    pub(super) fn take_aware(&mut self, prefix: GuidPrefix, publications: &BuiltinPair) -> Vec<(EntityId, Guid)> {
        let mut aware = Vec::new();
        if self.unaware.iter().all(|known| known.reader.prefix != prefix) {
            return aware;
        }
        let (_, their_reader) = BuiltinPairTopic::Publications.ids();
        let acknowledged = publications.writer().acknowledged_by_reader(Guid::new(prefix, their_reader));
        // A participant without a reader of announcements discovers the writer by other means, so nothing can be
        // awaited.
        let acknowledged = acknowledged.unwrap_or(SequenceNumber::MAX);
        self.unaware.retain(|known| {
            let is_aware = known.reader.prefix == prefix && known.announced <= acknowledged;
            if is_aware {
                aware.push((known.writer, known.reader));
            }
            !is_aware
        });
        aware
    }
}
