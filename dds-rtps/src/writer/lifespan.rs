//! Effects of time on changes and instances: LIFESPAN (DDS 1.4, 2.2.3.16) and DEADLINE (2.2.3.7).

use super::stateful::StatefulWriter;
use crate::history::{CacheChange, StoredChange};
use crate::types::{Duration, Instant, Now, SequenceNumber};

impl StatefulWriter {
    /// Sets LIFESPAN for changes that are written from now on.
    pub fn set_lifespan(&mut self, lifespan: Duration) {
        self.config.lifespan = lifespan;
        self.mortal |= !lifespan.is_infinite();
    }

    /// Sets DEADLINE. If there was none before, the time starts now.
    pub fn set_deadline(&mut self, now: Now, deadline: Duration) {
        if deadline != std::mem::replace(&mut self.config.deadline, deadline) {
            self.history.set_deadline(now.instant, deadline);
            self.settle(now);
        }
    }

    /// Returns a change if it may still be sent.
    pub(super) fn sendable(&self, now: Now, sequence_number: SequenceNumber) -> Option<&StoredChange> {
        let stored = self.history.get(sequence_number)?;
        (!has_expired(stored, now)).then_some(stored)
    }

    /// Returns the lowest sequence number from `sequence_number` on whose change may still be sent.
    pub(super) fn next_sendable(&self, now: Now, sequence_number: SequenceNumber) -> Option<SequenceNumber> {
        let mut stored = self.history.iter_from(sequence_number);
        stored.find(|stored| !has_expired(stored, now)).map(|stored| stored.change.sequence_number)
    }

    /// Returns when a change that is written now expires.
    pub(super) fn expiry(&mut self, now: Now, change: &CacheChange) -> Option<Instant> {
        // The lifespan starts at the source timestamp, which the application may set.
        let age = now.time - change.source_timestamp;
        let lifespan = change.origin.as_ref().map_or(self.config.lifespan, |origin| origin.lifespan);
        if lifespan.is_infinite() {
            return None;
        }
        self.mortal = true;
        now.instant.after(Duration::from_nanos(lifespan.as_nanos() - age.as_nanos()))
    }

    /// Returns when the last of the kept changes from `first` on expires.
    ///
    /// `None` if some of them never expire, or if there are none.
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

    /// Returns the oldest change with a lifespan.
    pub(super) fn next_expiring(&self) -> Option<&StoredChange> {
        self.history.iter_from(self.mortal_from).find(|stored| stored.expires.is_some())
    }

    /// Drops expired changes, the oldest first.
    ///
    /// A change that expires before an older one waits for that one. It is not sent any more, and its memory becomes
    /// free a little later.
    pub(super) fn drop_expired(&mut self, now: Now) {
        if !self.mortal {
            return;
        }
        while let Some(first) = self.next_expiring() {
            let (sequence_number, is_over) = (first.change.sequence_number, has_expired(first, now));
            // Earlier changes never expire, so later searches skip them.
            self.mortal_from = sequence_number;
            if !is_over {
                return;
            }
            self.history.remove(sequence_number);
            self.counters.expired += 1;
            self.acknowledged_event = true;
            // A blocked write may succeed now.
            if self.refused {
                self.free_space();
            }
        }
        self.mortal_from = self.last.next();
    }
}

/// Returns whether a change must not be sent any more.
pub(super) fn has_expired(stored: &StoredChange, now: Now) -> bool {
    stored.expires.is_some_and(|expires| expires <= now.instant)
}
