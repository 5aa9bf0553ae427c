//! Short path of a change that no reader will request again.

use super::config::NewChange;
use super::stateful::StatefulWriter;
use crate::history::CacheChange;
use crate::qos::Durability;
use crate::types::Now;

impl StatefulWriter {
    /// Assigns a sequence number to a change without storing it, and returns it for the local readers.
    ///
    /// That is possible if no local reader is reliable, there are no remote readers, and late joiners get no history.
    /// Otherwise returns `None`, and the caller uses [`Self::try_write`].
    pub fn write_through(&mut self, now: Now, change: &mut NewChange) -> Option<CacheChange> {
        if !self.writes_through || change.payload.as_ref().is_some_and(|payload| payload.len() > u32::MAX as usize) {
            return None;
        }
        if self.lacks_registration(change) {
            return None;
        }
        // A change that an earlier `write` stored has no reader left that could request it.
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
