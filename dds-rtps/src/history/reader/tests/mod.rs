//! Tests of the reader history.

mod adding;
mod book;
mod fitting;
mod model;
mod ownership;
mod removals;
mod selecting;
mod source_order;
mod timing;
mod twins;

use super::*;
use crate::concurrent::Payload;
use crate::history::OriginalWriterInfo;
use crate::qos::{DestinationOrder, History, ResourceLimits};
use crate::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Now, SequenceNumber, Time};

/// A writer with this number.
fn writer(number: u8) -> Guid {
    Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, 1, 2]))
}

fn handle(key: u8) -> InstanceHandle {
    InstanceHandle::from_key_hash([key; 16])
}

fn at(millis: u64) -> Now {
    Now { instant: Instant::from_nanos(millis * 1_000_000), time: Time::from_unix_nanos(millis as i64 * 1_000_000) }
}

/// A history and a clock. Each change gets the next sequence number.
struct Cache {
    history: ReaderHistory,
    number: i64,
    /// Milliseconds.
    now: u64,
}

impl Cache {
    fn new(history: History, limits: ResourceLimits) -> Self {
        Self::ordered(history, limits, DestinationOrder::ByReceptionTimestamp)
    }

    fn ordered(history: History, limits: ResourceLimits, destination_order: DestinationOrder) -> Self {
        let limits = HistoryLimits::new(history, limits);
        Self::configured(ReaderHistoryConfig { destination_order, ..ReaderHistoryConfig::new(limits) })
    }

    fn configured(config: ReaderHistoryConfig) -> Self {
        Self { history: ReaderHistory::new(config), number: 0, now: 0 }
    }

    fn keep_last(depth: u32) -> Self {
        Self::new(History::KeepLast { depth }, ResourceLimits::default())
    }

    fn keep_all() -> Self {
        Self::new(History::KeepAll, ResourceLimits::default())
    }

    fn received(&mut self, kind: ChangeKind, from: u8, key: u8) -> ReceivedChange {
        self.number += 1;
        let change = CacheChange {
            kind,
            writer: writer(from),
            sequence_number: SequenceNumber(self.number),
            instance: handle(key),
            source_timestamp: Time::from_unix_nanos(self.number),
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(Payload::copy_of(&[0, 1, 0, 0, key, self.number as u8])),
        };
        let has_data = kind == ChangeKind::Alive;
        ReceivedChange { change, has_data, expires: None, reception_timestamp: at(self.now).time }
    }

    fn add(&mut self, kind: ChangeKind, from: u8, key: u8) -> Result<Admission, RejectReason> {
        let received = self.received(kind, from, key);
        self.history.add(at(self.now), received).map_err(|refused| refused.reason)
    }

    fn write(&mut self, from: u8, key: u8) -> Result<Admission, RejectReason> {
        self.add(ChangeKind::Alive, from, key)
    }

    fn dispose(&mut self, from: u8, key: u8) -> Result<Admission, RejectReason> {
        self.add(ChangeKind::NotAliveDisposed, from, key)
    }

    fn unregister(&mut self, from: u8, key: u8) -> Result<Admission, RejectReason> {
        self.add(ChangeKind::NotAliveUnregistered, from, key)
    }

    fn select(&mut self, selection: Selection, operation: Operation) -> Vec<HistorySample> {
        let mut samples = Vec::new();
        let count = self.history.select(at(self.now), &selection, operation, &mut samples);
        assert_eq!(count, samples.len());
        samples
    }

    fn take(&mut self) -> Vec<HistorySample> {
        self.select(Selection::default(), Operation::Take)
    }

    fn read(&mut self) -> Vec<HistorySample> {
        self.select(Selection::default(), Operation::Read)
    }
}

fn numbers(samples: &[HistorySample]) -> Vec<i64> {
    samples.iter().map(|sample| sample.info.sequence_number.0).collect()
}
