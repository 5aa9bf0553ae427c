//! Readers whose participant has fallen silent, and that may never have noticed.
//!
//! A link that is cut in one direction costs the writer its reader, while the reader still hears the writer and keeps all its
//! instances. What is unregistered meanwhile would leave the history at once, for all present readers know of it, and the
//! reader would take those instances for alive for ever. So a writer that keeps its history for late joiners remembers the
//! latest departures until the reader is back, or has stayed away for so long that it has lost the writer as well.
//!
//! Bound: [`ABSENT_MAX`] readers, [`DEPARTURES_MAX`] departures, which yield to whatever the limits leave no room for.

use super::stateful::StatefulWriter;
use crate::qos::Durability;
use crate::types::{Duration, Guid, Instant, Now};
use std::collections::VecDeque;

/// How many readers are waited for, the latest ones.
const ABSENT_MAX: usize = 256;
/// How many departures are remembered for them.
const DEPARTURES_MAX: usize = 4_096;
/// How long a reader is waited for. Leases end within seconds; who was cut off for longer has lost us, too.
const ABSENCE_MAX: Duration = Duration::from_secs(600);

/// The readers that are waited for, and since when.
#[derive(Debug, Default)]
pub(super) struct Absent(VecDeque<(Guid, Instant)>);

impl Absent {
    /// One of them is back. Returns whether nobody is waited for any more who was.
    fn back(&mut self, now: Instant, reader: Guid) -> bool {
        let before = self.0.len();
        self.0.retain(|(absent, since)| *absent != reader && now.since(*since) <= ABSENCE_MAX);
        before > 0 && self.0.is_empty()
    }
}

impl StatefulWriter {
    /// As [`StatefulWriter::unmatch_reader`], for a reader that nobody has said to be gone for good: it may come back, and not
    /// know that it was away.
    pub fn lose_reader(&mut self, now: Now, reader: Guid) -> bool {
        if self.config.durability > Durability::Volatile && self.reliable_proxy(reader).is_some() {
            self.absent.0.push_back((reader, now.instant));
            if self.absent.0.len() > ABSENT_MAX {
                self.absent.0.pop_front();
            }
            self.history.keep_departures(DEPARTURES_MAX);
        }
        self.unmatch_reader(now, reader)
    }

    /// A reader is matched: departures stay until it has acknowledged them, and no longer.
    pub(super) fn welcome_back(&mut self, now: Now, reader: Guid) {
        if self.absent.back(now.instant, reader) {
            self.history.keep_departures(0);
        }
    }

    /// Waits for nobody any more, for there is no room. Returns whether that may have made some.
    pub(super) fn forget_absent(&mut self) -> bool {
        if self.absent.0.is_empty() {
            return false;
        }
        self.absent.0.clear();
        self.history.keep_departures(0);
        self.history.retire(self.finished_up_to(self.received(self.acknowledged())))
    }
}
