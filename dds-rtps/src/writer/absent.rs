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
