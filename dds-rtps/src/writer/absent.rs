//! Unresponsive readers: their participant fell silent, and they may not have noticed it.
//!
//! If a link fails in one direction, the writer loses its reader. The reader still hears the writer and keeps all its
//! instances. Unregistered instances would leave the history at once, because all present readers know of them. The
//! lost reader would take these instances for alive forever. So a writer with history for late joiners keeps the latest
//! departures, until the reader is back. It drops them after a time in which the reader must have lost the writer too.
//!
//! Bound: [`ABSENT_MAX`] readers and [`DEPARTURES_MAX`] departures, which yield to any other need for room.

use super::stateful::StatefulWriter;
use crate::qos::Durability;
use crate::types::{Duration, Guid, Instant, Now};
use std::collections::VecDeque;

/// Most readers that the writer remembers. The latest ones stay.
const ABSENT_MAX: usize = 256;
/// Most departures that the writer keeps for them.
const DEPARTURES_MAX: usize = 4_096;
/// How long the writer remembers a reader.
///
/// Leases end within seconds. A reader that was cut off for longer has lost the writer too.
const ABSENCE_MAX: Duration = Duration::from_secs(600);

/// The unresponsive readers, and the time of their loss.
#[derive(Debug, Default)]
pub(super) struct Absent(VecDeque<(Guid, Instant)>);

impl Absent {
    /// Removes a reader that came back. Returns whether it was the last one.
    fn back(&mut self, now: Instant, reader: Guid) -> bool {
        let before = self.0.len();
        self.0.retain(|(absent, since)| *absent != reader && now.since(*since) <= ABSENCE_MAX);
        before > 0 && self.0.is_empty()
    }
}

impl StatefulWriter {
    /// As [`StatefulWriter::unmatch_reader`], for a reader whose participant fell silent.
    ///
    /// The reader may come back without having noticed the interruption.
    pub fn lose_reader(&mut self, now: Now, reader: Guid) -> bool {
        // A volatile writer sends no history, so a returning reader could not learn of the departures.
        if self.config.durability > Durability::Volatile && self.reliable_proxy(reader).is_some() {
            self.absent.0.push_back((reader, now.instant));
            if self.absent.0.len() > ABSENT_MAX {
                self.absent.0.pop_front();
            }
            self.history.keep_departures(DEPARTURES_MAX);
        }
        self.unmatch_reader(now, reader)
    }

    /// Handles the match of a reader. Departures stay until it has acknowledged them.
    pub(super) fn welcome_back(&mut self, now: Now, reader: Guid) {
        if self.absent.back(now.instant, reader) {
            self.history.keep_departures(0);
        }
    }

    /// Forgets all unresponsive readers to gain room. Returns whether that may have made some.
    pub(super) fn forget_absent(&mut self) -> bool {
        if self.absent.0.is_empty() {
            return false;
        }
        self.absent.0.clear();
        self.history.keep_departures(0);
        self.history.retire(self.finished_up_to(self.received(self.acknowledged())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::Payload;
    use crate::history::ChangeKind;
    use crate::qos::DataWriterQos;
    use crate::types::{EntityId, GuidPrefix, InstanceHandle, Locator, Time};
    use crate::writer::{NewChange, ReaderProxyConfig, WriterConfig};

    #[test]
    fn absent_readers_and_what_they_have_to_be_told_are_bounded() {
        let now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };
        let guid = |number: usize| {
            let mut prefix = [2; 12];
            prefix[..8].copy_from_slice(&number.to_le_bytes());
            Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 7]))
        };
        let qos = DataWriterQos::default().transient_local();
        let mut writer = StatefulWriter::new(WriterConfig::new(guid(0), true, &qos));
        for number in 1..=ABSENT_MAX + 10 {
            let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
            let reader = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(guid(number), vec![locator]) };
            assert!(writer.match_reader(now, reader) && writer.lose_reader(now, guid(number)));
        }
        assert_eq!((writer.absent.0.len(), writer.absent.0.front().unwrap().0), (ABSENT_MAX, guid(11)));
        for number in 0..DEPARTURES_MAX as u64 + 10 {
            let instance = InstanceHandle::from_key_hash([number.to_be_bytes(); 2].concat().try_into().unwrap());
            let change = |kind| NewChange::not_alive(kind, instance, Payload::copy_of(&[0, 1, 0, 0]));
            writer.write(now, NewChange::alive(instance, Payload::copy_of(&[0, 1, 0, 0]))).unwrap();
            writer.write(now, change(ChangeKind::NotAliveDisposedUnregistered)).unwrap();
        }
        // The newest change stays as well, until the next write.
        assert!((DEPARTURES_MAX..=DEPARTURES_MAX + 1).contains(&writer.history_len()), "{}", writer.history_len());
    }
}
