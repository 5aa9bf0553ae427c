//! What time does to the changes and instances of a writer: when changes are too old to be sent (LIFESPAN; DDS 1.4, 2.2.3.16),
//! and instances have gone without a new one for too long (DEADLINE; 2.2.3.7).

use super::stateful::StatefulWriter;
use crate::history::{CacheChange, StoredChange};
use crate::types::{Duration, Instant, Now, SequenceNumber};

impl StatefulWriter {
    /// Changes LIFESPAN, for changes that are written from now on.
    pub fn set_lifespan(&mut self, lifespan: Duration) {
        self.config.lifespan = lifespan;
        self.mortal |= !lifespan.is_infinite();
    }

    /// Changes DEADLINE. One that there was not before counts from now.
    pub fn set_deadline(&mut self, now: Now, deadline: Duration) {
        if deadline != std::mem::replace(&mut self.config.deadline, deadline) {
            self.history.set_deadline(now.instant, deadline);
            self.settle(now);
        }
    }

    /// A change that may still be sent.
    pub(super) fn sendable(&self, now: Now, sequence_number: SequenceNumber) -> Option<&StoredChange> {
        let stored = self.history.get(sequence_number)?;
        (!has_expired(stored, now)).then_some(stored)
    }

    /// The lowest number from `sequence_number` on whose change may still be sent.
    pub(super) fn next_sendable(&self, now: Now, sequence_number: SequenceNumber) -> Option<SequenceNumber> {
        let mut stored = self.history.iter_from(sequence_number);
        stored.find(|stored| !has_expired(stored, now)).map(|stored| stored.change.sequence_number)
    }

    /// When the lifespan of a change ends that is written now.
    pub(super) fn expiry(&mut self, now: Now, change: &CacheChange) -> Option<Instant> {
        let age = now.time - change.source_timestamp;
        let lifespan = change.origin.as_ref().map_or(self.config.lifespan, |origin| origin.lifespan);
        if lifespan.is_infinite() {
            return None;
        }
        self.mortal = true;
        now.instant.after(Duration::from_nanos(lifespan.as_nanos() - age.as_nanos()))
    }

    /// When the last of the changes from `first` on expires that are in the history now; `None`: some of them never do, or there
    /// are none.
    #[must_use]
    pub fn history_expires(&self, first: SequenceNumber) -> Option<Instant> {
        let mut last = None;
        if self.mortal {
            for stored in self.history.iter_from(first) {
                last = last.max(Some(stored.expires?));
            }
        }
        last
    }

    /// The oldest change with a lifespan.
    pub(super) fn next_expiring(&self) -> Option<&StoredChange> {
        self.history.iter_from(self.mortal_from).find(|stored| stored.expires.is_some())
    }

    /// Drops the oldest changes as far as their lifespan has passed. One that expires before an older one waits for that:
    /// it is not sent any more, and its memory comes free a little later.
    pub(super) fn drop_expired(&mut self, now: Now) {
        if !self.mortal {
            return;
        }
        while let Some(first) = self.next_expiring() {
            let (sequence_number, is_over) = (first.change.sequence_number, has_expired(first, now));
            // What lies before it never expires: it is not looked at again.
            self.mortal_from = sequence_number;
            if !is_over {
                return;
            }
            self.history.remove(sequence_number);
            self.counters.expired += 1;
            self.acknowledged_event = true;
            if self.refused {
                self.free_space();
            }
        }
        self.mortal_from = self.last.next();
    }
}

/// Whether a change must not be sent any more.
pub(super) fn has_expired(stored: &StoredChange, now: Now) -> bool {
    stored.expires.is_some_and(|expires| expires <= now.instant)
}
