//! The short way of a change that nobody will ever ask for again.

use super::config::NewChange;
use super::stateful::StatefulWriter;
use crate::history::CacheChange;
use crate::qos::Durability;
use crate::types::Now;

impl StatefulWriter {
    /// Numbers a change that nobody will ever ask for again, and gives it back to be handed to the readers of this process:
    /// none of them is reliable, there are none elsewhere, and late ones get nothing old. The history does not store it.
    /// `None`: it has to be written, by [`Self::try_write`].
    pub fn write_through(&mut self, now: Now, change: &mut NewChange) -> Option<CacheChange> {
        if !self.writes_through || change.payload.as_ref().is_some_and(|payload| payload.len() > u32::MAX as usize) {
            return None;
        }
        if self.lacks_registration(change) {
            return None;
        }
        if !self.history.is_empty() {
            self.history.retire(self.last);
        }
        if !change.instance.is_nil() {
            self.history.note_unstored(change.instance, change.kind, change.payload.as_ref());
        }
        self.last = self.last.next();
        self.counters.written += 1;
        self.promise.assert(now.instant);
        self.skip_if_nobody_listens();
        Some(CacheChange {
            kind: change.kind,
            writer: self.config.guid,
            sequence_number: self.last,
            instance: change.instance,
            source_timestamp: change.source_timestamp.unwrap_or(now.time),
            related_sample: change.related_sample,
            origin: change.origin.take(),
            presented: None,
            payload: change.payload.take(),
        })
    }

    pub(super) fn can_write_through(&self) -> bool {
        self.proxies.is_empty()
            && self.presentation.is_none()
            && self.config.durability == Durability::Volatile
            && self.config.limits.is_boundless()
            && !self.locals.iter().any(|local| local.reliable)
            && !self.history.watches_deadline()
    }
}
