//! Which best-effort readers of other processes are reached: nobody repairs what they miss before they know the writer, or
//! after they have heard that it is gone.

use crate::actor::Effects;
use crate::publication::writer_actor::WriterActor;
use dds_rtps::types::{Duration, Guid, Instant, SequenceNumber};
use dds_rtps::writer::StatefulWriter;

/// Delay between the last sample to a best-effort reader of another process and the disposal of its writer.
const SETTLE: Duration = Duration::from_millis(20);

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Those whose participant has not shown yet that it knows the writer.
    unaware: Vec<Guid>,
    settles_at: Option<Instant>,
}

impl Reached {
    /// A reader matches, perhaps again.
    pub(super) fn add(&mut self, reader: Guid, is_unaware: bool) {
        self.remove(reader);
        self.unaware.extend(is_unaware.then_some(reader));
    }

    /// A reader knows the writer, or is gone.
    pub(super) fn remove(&mut self, reader: Guid) {
        self.unaware.retain(|known| *known != reader);
    }

    /// Whether a reader that matches can be reached.
    pub(super) fn contains(&self, reader: Guid) -> bool {
        !self.unaware.contains(&reader)
    }

    /// How many of so many readers that match can be reached.
    pub(super) fn count_of(&self, matched: usize) -> usize {
        matched.saturating_sub(self.unaware.len())
    }

    /// The writer is closed; something happened to it before, at the latest a write.
    pub(super) fn close(&mut self, rtps: &StatefulWriter, before: Instant, now: Instant) {
        let has_just_written = rtps.last_sequence_number() > SequenceNumber::ZERO && now.since(before) < SETTLE;
        self.settles_at = now.after(SETTLE).filter(|_| has_just_written && rtps.has_best_effort_readers());
    }
}

impl WriterActor {
    /// The reader's side has heard of the writer.
    pub(crate) fn note_known_to(&mut self, reader: Guid, effects: &mut Effects) {
        self.reached.remove(reader);
        self.waiting_for_match.wake_all(effects);
    }

    /// When its last samples have reached best-effort readers, if that is worth a wait.
    pub(crate) fn settles_at(&self) -> Option<Instant> {
        self.reached.settles_at
    }
}
