//! Unresponsive readers: their participant fell silent, and they may not have noticed it.
//!
//! If a link fails in one direction, the writer loses its reader. The reader still hears the writer and keeps all its
//! instances. Unregistered instances would leave the history at once, because all present readers know of them. The
//! lost reader would take these instances for alive forever. So a writer with history for late joiners keeps the latest
//! departures, until the reader is back. It drops them after a time in which the reader must have lost the writer too.
//!
//! Bound: [`UNRESPONSIVE_MAX`] readers and [`DEPARTURES_MAX`] departures, which yield to any other need for room.

use crate::types::{Duration, Guid, Instant};
use std::collections::VecDeque;

/// Most readers that the writer remembers. The latest ones stay.
pub(crate) const UNRESPONSIVE_MAX: usize = 256;
/// Most departures that the writer keeps for them.
pub(crate) const DEPARTURES_MAX: usize = 4_096;
/// How long the writer remembers a reader.
///
/// Leases end within seconds. A reader that was cut off for longer has lost the writer too.
const ABSENCE_MAX: Duration = Duration::from_secs(600);

/// The unresponsive readers, and the time of their loss.
#[derive(Debug, Default)]
pub(crate) struct UnresponsiveReaders(VecDeque<(Guid, Instant)>);

impl UnresponsiveReaders {
    /// Returns whether no reader is remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a reader that was lost now.
    pub(crate) fn add(&mut self, now: Instant, reader: Guid) {
        self.0.push_back((reader, now));
        // The reader that was lost first is the most likely to have lost the writer, too.
        if self.0.len() > UNRESPONSIVE_MAX {
            self.0.pop_front();
        }
    }

    /// Removes a reader that came back. Returns whether it was the last one.
    pub(crate) fn remove_returned(&mut self, now: Instant, reader: Guid) -> bool {
        // Readers that were away for too long leave at the same time.
        let before = self.0.len();
        self.0.retain(|(lost, since)| *lost != reader && now.since(*since) <= ABSENCE_MAX);
        before > 0 && self.0.is_empty()
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, GuidPrefix};

    fn guid(number: usize) -> Guid {
        let mut prefix = [2; 12];
        prefix[..8].copy_from_slice(&number.to_le_bytes());
        Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 7]))
    }

    #[test]
    fn unresponsive_readers_are_bounded() {
        let mut readers = UnresponsiveReaders::default();
        for number in 1..=UNRESPONSIVE_MAX + 10 {
            readers.add(Instant::ZERO, guid(number));
        }
        assert_eq!((readers.0.len(), readers.0.front().unwrap().0), (UNRESPONSIVE_MAX, guid(11)));
    }

    #[test]
    fn unresponsive_reader_is_forgotten_after_absence() {
        let mut readers = UnresponsiveReaders::default();
        readers.add(Instant::ZERO, guid(1));
        readers.add(Instant::ZERO, guid(2));
        let later = Instant::ZERO.after(ABSENCE_MAX).unwrap();
        assert!(!readers.remove_returned(later, guid(1)), "the other one may still return");
        let too_late = later.after(Duration::from_nanos(1)).unwrap();
        assert!(readers.remove_returned(too_late, guid(3)));
        assert!(readers.is_empty());
    }
}
