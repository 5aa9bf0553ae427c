//! Acknowledgements of the readers, and the changes that the history can drop.

use super::local_reader::LocalReader;
use super::stateful::StatefulWriter;
use crate::qos::Durability;
use crate::types::{Guid, Now, SequenceNumber};

impl StatefulWriter {
    /// Returns whether every matched reliable reader has all changes up to `sequence_number`.
    #[must_use]
    pub fn is_acknowledged(&self, sequence_number: SequenceNumber) -> bool {
        sequence_number <= self.acknowledged()
    }

    /// Returns whether a remote best-effort reader matches.
    #[must_use]
    pub fn has_best_effort_readers(&self) -> bool {
        self.proxies.iter().any(|proxy| !proxy.reliable)
    }

    /// Returns up to which change a remote reliable reader has acknowledged.
    ///
    /// Zero if it has never answered, `None` if it does not match.
    #[must_use]
    pub fn acknowledged_by_reader(&self, reader: Guid) -> Option<SequenceNumber> {
        let proxy = self.proxies.get(self.reliable_proxy(reader)?)?;
        Some(if proxy.heard { proxy.acknowledged } else { SequenceNumber::ZERO })
    }

    /// Returns up to which change every awaited reliable reader has acknowledged. Without such readers, the newest
    /// change.
    ///
    /// Demoted readers do not count ([`SlowReader::Demote`](super::SlowReader::Demote)).
    #[must_use]
    pub fn acknowledged(&self) -> SequenceNumber {
        let awaited = self.locals.iter().filter(|local| local.reliable && !local.standing.is_demoted());
        let local = awaited.map(|local| self.acknowledged_by(local)).min().unwrap_or(SequenceNumber::MAX);
        self.remote_acknowledged.min(local).min(self.last)
    }

    /// Returns up to which change a local reader has all existing changes.
    ///
    /// It cannot acknowledge a change that it never received: one not handed over, refused, expired or forgotten.
    fn acknowledged_by(&self, local: &LocalReader) -> SequenceNumber {
        let acknowledged = local.acknowledged();
        let is_whole = self.counters.expired == 0 && !self.history.has_forgotten();
        // Only an expired or forgotten change explains a missing acknowledgement here.
        if is_whole || acknowledged >= self.last {
            return acknowledged;
        }
        let waiting = self.history.iter_from(acknowledged.next()).next();
        waiting.map_or(self.last, |stored| stored.change.sequence_number.previous())
    }

    /// Returns up to which change every matched reliable reader has acknowledged, demoted ones included.
    ///
    /// `acknowledged` is the result of [`Self::acknowledged`].
    pub(super) fn received(&self, acknowledged: SequenceNumber) -> SequenceNumber {
        if !self.slow_readers.any() {
            return acknowledged;
        }
        let reliable = self.locals.iter().filter(|local| local.reliable);
        let local = reliable.map(|local| self.acknowledged_by(local)).min().unwrap_or(SequenceNumber::MAX);
        self.remote_received.min(local).min(acknowledged)
    }

    /// Returns the first change that was sent and can still be repaired.
    pub(super) fn first_available(&self) -> SequenceNumber {
        let kept = self.history.first().unwrap_or(self.last.next());
        // The newest change may stay although no reader needs it.
        let needed = match self.config.durability {
            Durability::Volatile => self.finished_up_to(self.received(self.acknowledged())).next(),
            _ => SequenceNumber::FIRST,
        };
        kept.max(needed).min(self.next)
    }

    /// Returns whether a remote reliable reader owes an acknowledgement, or has never answered.
    pub(super) fn expects_answer(&self) -> bool {
        self.unheard > 0 || self.remote_received < self.next.previous()
    }

    /// Updates the writer after an answer of a reader.
    pub(super) fn answered(&mut self, now: Now, index: usize) {
        self.note_progress_of(index);
        self.heartbeat.note_answer(now.instant, self.expects_answer());
        self.settle(now);
    }

    /// Drops changes that no reader needs. The newest one stays, because its author may still read it.
    pub(super) fn retire(&mut self) {
        let finished = self.finished_up_to(self.received(self.acknowledged()));
        // The pinned change, kept during its transmission, is not needed any more.
        self.history.unpin_up_to(finished);
        self.history.retire(finished.min(self.last.previous()));
    }

    /// Drops changes that no reader needs, including the newest one.
    ///
    /// A reader that matches now does not learn of instances that have ended.
    pub(super) fn forget_finished(&mut self) {
        let finished = self.finished_up_to(self.received(self.acknowledged()));
        self.history.retire(finished);
    }

    /// Returns whether the history is full and its oldest change awaits an acknowledgement.
    pub(super) fn history_is_stuck(&self) -> bool {
        self.history.first().is_some_and(|first| first > self.acknowledged())
            && self.history.len() >= self.config.limits.capacity(self.config.keyed)
    }

    /// Returns up to which change all are sent and acknowledged.
    pub(super) fn finished_up_to(&self, acknowledged: SequenceNumber) -> SequenceNumber {
        acknowledged.min(self.next.previous())
    }

    /// Updates the acknowledgement of one remote reader.
    ///
    /// All readers answer a HEARTBEAT, so an answer must not cost a visit of all readers.
    pub(super) fn note_progress_of(&mut self, index: usize) {
        if self.slow_readers.any() {
            // Writers with demoted readers are rare.
            return self.note_progress_of_all();
        }
        let proxy = self.proxies.get(index).filter(|proxy| proxy.reliable);
        self.progress.set(index as u32, proxy.map(|proxy| proxy.acknowledged));
        // Without demoted readers, both values are the same.
        self.remote_received = self.progress.first().unwrap_or(SequenceNumber::MAX);
        self.remote_acknowledged = self.remote_received;
    }

    /// Updates the acknowledgements of all remote reliable readers.
    pub(super) fn note_progress_of_all(&mut self) {
        self.progress.clear();
        self.remote_acknowledged = SequenceNumber::MAX;
        for (index, proxy) in self.proxies.iter().enumerate().filter(|(_, proxy)| proxy.reliable) {
            self.progress.note(index as u32, proxy.acknowledged);
            if !proxy.standing.is_demoted() {
                self.remote_acknowledged = self.remote_acknowledged.min(proxy.acknowledged);
            }
        }
        self.remote_received = self.progress.first().unwrap_or(SequenceNumber::MAX);
    }
}

#[cfg(test)]
mod tests {
    use crate::concurrent::Payload;
    use crate::output::Datagram;
    use crate::qos::DataWriterQos;
    use crate::types::{
        Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Locator, Now, SequenceNumber, Time,
    };
    use crate::wire::{AckNack, SequenceNumberSet};
    use crate::writer::{NewChange, ReaderProxyConfig, StatefulWriter, WriterConfig};

    const READERS: u32 = 1000;
    const NOW: Now = Now { instant: Instant::from_nanos(1 << 40), time: Time::from_unix_nanos(1 << 60) };

    fn reader(number: u32) -> Guid {
        let mut prefix = [2; 12];
        prefix[..4].copy_from_slice(&number.to_be_bytes());
        Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 4]))
    }

    /// Creates a reliable writer with [`READERS`] matched readers.
    fn crowd() -> StatefulWriter {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 3]));
        let mut writer = StatefulWriter::new(WriterConfig::new(guid, false, &DataWriterQos::default().keep_all()));
        for number in 0..READERS {
            let locator = Locator::udp_v4([10, 0, 0, 2].into(), 7411);
            let reader = ReaderProxyConfig { reliable: true, ..ReaderProxyConfig::new(reader(number), vec![locator]) };
            writer.match_reader(NOW, reader);
        }
        writer
    }

    fn write(writer: &mut StatefulWriter) {
        writer.write(NOW, NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0]))).unwrap();
        let mut datagram = Datagram::new();
        while writer.poll_transmit(NOW, &mut datagram) {}
    }

    fn answer(writer: &mut StatefulWriter, number: u32, next: i64, count: i32) {
        answer_at(NOW, writer, number, next, count);
    }

    fn answer_at(now: Now, writer: &mut StatefulWriter, number: u32, next: i64, count: i32) {
        let ack_nack = AckNack {
            reader_id: reader(number).entity_id,
            writer_id: writer.guid().entity_id,
            reader_sn_state: SequenceNumberSet::empty(SequenceNumber(next)),
            count,
            is_final: true,
        };
        writer.handle_acknack(now, reader(number), &ack_nack);
    }

    #[test]
    fn an_answer_is_taken_in_without_a_look_at_other_readers() {
        let mut writer = crowd();
        write(&mut writer);
        (0..READERS).for_each(|number| answer(&mut writer, number, 2, 1));
        for round in 2..5_i32 {
            write(&mut writer);
            for number in 0..READERS {
                let before = writer.progress.steps;
                assert_eq!(writer.acknowledged(), SequenceNumber(round.into()).previous(), "{number} has to answer");
                answer(&mut writer, number, i64::from(round) + 1, round);
                let steps = writer.progress.steps - before;
                assert!(steps <= 30, "{steps} comparisons, of {READERS} readers");
            }
            assert_eq!(writer.acknowledged(), SequenceNumber(round.into()));
        }
    }

    /// While the application occupies the writer's cell, the inbox holds 256 answers and drops the others.
    #[test]
    fn answers_that_had_no_room_are_asked_for_again_a_period_later() {
        const INBOX: u32 = 256;
        let (mut writer, mut now) = (crowd(), NOW);
        write(&mut writer);
        let mut datagram = Datagram::new();
        for first in (0..READERS).step_by(INBOX as usize) {
            assert_eq!(writer.acknowledged(), SequenceNumber::ZERO);
            (first..READERS.min(first + INBOX)).for_each(|number| answer_at(now, &mut writer, number, 2, 1));
            if first + INBOX >= READERS {
                break;
            }
            let due = writer.deadline().unwrap();
            let pause = due.since(now.instant);
            assert!(pause <= Duration::from_millis(200), "{pause:?}");
            now.instant = due;
            writer.handle_timeout(now);
            let heartbeats = writer.counters().heartbeats;
            while writer.poll_transmit(now, &mut datagram) {}
            assert!(writer.counters().heartbeats > heartbeats, "the rest is asked");
        }
        assert_eq!(writer.acknowledged(), SequenceNumber::FIRST);
    }

    /// When a reader leaves, the last proxy takes its index.
    #[test]
    fn who_has_left_is_not_waited_for_and_the_others_are() {
        let mut writer = crowd();
        write(&mut writer);
        (0..READERS - 1).filter(|&number| number != 7).for_each(|number| answer(&mut writer, number, 2, 1));
        assert_eq!(writer.acknowledged(), SequenceNumber::ZERO);
        writer.unmatch_reader(NOW, reader(7));
        assert_eq!(
            writer.acknowledged(),
            SequenceNumber::ZERO,
            "the last one, which stands in its place, is waited for"
        );
        answer(&mut writer, READERS - 1, 2, 1);
        assert_eq!(writer.acknowledged(), SequenceNumber::FIRST);
    }
}
