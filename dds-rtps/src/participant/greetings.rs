//! Which writers of ours the participants of their readers know of.
//!
//! A reader is found before its own side has heard of our writer. What a best-effort reader is sent in between finds no one,
//! and nobody repairs it. Its participant knows once it has acknowledged what we have announced, and who waits for readers
//! waits for that.
//!
//! Bound: matches that are not known there yet, at most as many as there are.

use super::Participant;
use crate::discovery::{BuiltinTopic, DiscoveredReader, ParticipantEvent};
use crate::types::{EntityId, Guid, GuidPrefix, SequenceNumber};

/// The matches of which a reader's participant does not know yet.
#[derive(Debug, Default)]
pub(super) struct Greetings {
    waiting: Vec<Greeting>,
}

#[derive(Debug)]
struct Greeting {
    writer: EntityId,
    reader: Guid,
    /// The writer was announced by this number at the latest.
    announced: SequenceNumber,
}

impl Participant {
    /// An event is being handed out.
    pub(super) fn note_event(&mut self, event: &ParticipantEvent) {
        match event {
            ParticipantEvent::ReaderMatched { writer, reader } if !reader.is_local => self.greet(*writer, reader),
            ParticipantEvent::ReaderUnmatched { writer, reader, .. } => {
                self.greetings.waiting.retain(|known| (known.writer, known.reader) != (*writer, *reader));
            }
            _ => {}
        }
    }

    fn greet(&mut self, writer: EntityId, reader: &DiscoveredReader) {
        if reader.data.qos.reliability.is_reliable() {
            return;
        }
        let reader = reader.data.endpoint.guid;
        let announced = self.builtin(BuiltinTopic::Publications).writer().last_sequence_number();
        self.greetings.waiting.retain(|known| (known.writer, known.reader) != (writer, reader));
        self.greetings.waiting.push(Greeting { writer, reader, announced });
        self.note_greeted(reader.prefix);
    }

    /// A participant may have acknowledged more announcements of writers than before.
    pub(super) fn note_greeted(&mut self, prefix: GuidPrefix) {
        if self.greetings.waiting.iter().all(|known| known.reader.prefix != prefix) {
            return;
        }
        let (_, their_reader) = BuiltinTopic::Publications.ids();
        let writer = self.builtin(BuiltinTopic::Publications).writer();
        // Who does not listen to announcements has another way to know.
        let acknowledged =
            writer.acknowledged_by_reader(Guid::new(prefix, their_reader)).unwrap_or(SequenceNumber::MAX);
        let Self { greetings, matching, .. } = self;
        greetings.waiting.retain(|known| {
            let is_known = known.reader.prefix == prefix && known.announced <= acknowledged;
            if is_known {
                matching.push_event(ParticipantEvent::WriterKnown { writer: known.writer, reader: known.reader });
            }
            !is_known
        });
    }
}
