//! LIFESPAN (DDS 1.4, 2.2.3.16): when changes expire, and which may still be sent.

use crate::history::{CacheChange, StoredChange, WriterHistory};
use crate::types::{Duration, Instant, Now, SequenceNumber};

/// Expiry of the changes of one writer.
#[derive(Debug)]
pub(crate) struct WriterLifespan {
    /// Lifespan of new changes.
    lifespan: Duration,
    /// The writer has, or has had, changes with a lifespan.
    is_used: bool,
    /// No change before this one has a lifespan.
    search_from: SequenceNumber,
}

impl WriterLifespan {
    pub(crate) fn new(lifespan: Duration) -> Self {
        Self { lifespan, is_used: !lifespan.is_infinite(), search_from: SequenceNumber::FIRST }
    }

    /// Sets the lifespan of changes that are written from now on.
    pub(crate) fn set(&mut self, lifespan: Duration) {
        self.lifespan = lifespan;
        // Older changes may still have a lifespan after it became infinite.
        self.is_used |= !lifespan.is_infinite();
    }

    /// Returns whether new changes never expire.
    pub(crate) fn is_infinite(&self) -> bool {
        self.lifespan.is_infinite()
    }

    /// Returns whether some change may expire.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Returns when a change that is written now expires.
    #[inline]
    pub(crate) fn expiry(&mut self, now: Now, change: &CacheChange) -> Option<Instant> {
        // A change of a durability service keeps the LIFESPAN of its original writer.
        let lifespan = change.origin.as_ref().map_or(self.lifespan, |origin| origin.lifespan);
        if lifespan.is_infinite() {
            return None;
        }
        self.is_used = true;
        // The lifespan starts at the source timestamp, which the application may set.
        let age = now.time - change.source_timestamp;
        now.instant.after(Duration::from_nanos(lifespan.as_nanos() - age.as_nanos()))
    }

    /// Returns when the oldest change with a lifespan expires.
    #[inline]
    pub(crate) fn deadline(&self, history: &WriterHistory) -> Option<Instant> {
        if self.is_used { self.oldest(history)?.expires } else { None }
    }

    /// Returns when the last of the kept changes from `first` on expires.
    ///
    /// `None` if some of them never expire, or if there are none.
    pub(crate) fn last_expiry(&self, history: &WriterHistory, first: SequenceNumber) -> Option<Instant> {
        let mut last = None;
        if self.is_used {
            for stored in history.iter_from(first) {
                // One change that never expires keeps the history for good.
                last = last.max(Some(stored.expires?));
            }
        }
        last
    }

    /// Removes the oldest expired change from the history. Returns `false` if no change has expired.
    ///
    /// A change that expires before an older one waits for that one. It is not sent any more, and its memory becomes
    /// free a little later. `next` is the next change to write.
    pub(crate) fn remove_expired(&mut self, now: Now, history: &mut WriterHistory, next: SequenceNumber) -> bool {
        let Some(oldest) = self.oldest(history) else {
            // No change up to `next` expires.
            self.search_from = next;
            return false;
        };
        let (number, is_over) = (oldest.change.sequence_number, has_expired(oldest, now));
        // Earlier changes never expire, so later searches skip them.
        self.search_from = number;
        if is_over {
            history.remove(number);
        }
        is_over
    }

    /// Returns the oldest change with a lifespan.
    fn oldest<'h>(&self, history: &'h WriterHistory) -> Option<&'h StoredChange> {
        history.iter_from(self.search_from).find(|stored| stored.expires.is_some())
    }
}

/// Returns a change if it may still be sent.
#[inline]
pub(crate) fn sendable(history: &WriterHistory, now: Now, number: SequenceNumber) -> Option<&StoredChange> {
    let stored = history.get(number)?;
    if has_expired(stored, now) { None } else { Some(stored) }
}

/// Returns the lowest sequence number from `number` on whose change may still be sent.
pub(crate) fn next_sendable(history: &WriterHistory, now: Now, number: SequenceNumber) -> Option<SequenceNumber> {
    for stored in history.iter_from(number) {
        if !has_expired(stored, now) {
            return Some(stored.change.sequence_number);
        }
    }
    None
}

/// Returns whether a change must not be sent any more.
#[inline]
fn has_expired(stored: &StoredChange, now: Now) -> bool {
    stored.expires.is_some_and(|expires| expires <= now.instant)
}
