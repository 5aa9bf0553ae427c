//! What it costs to have many instances: does one thing so many times in a history that knows so many instances.
//!
//! ```text
//! instances <operation> <instances> <times>
//! ```
//!
//! Run it twice under `valgrind --tool=callgrind`, with 0 times and with 10 000, and divide what it counts more; the table in
//! `docs/instances.md` was made so.

use dds_rtps::history::{
    CacheChange, ChangeKind, HistoryLimits, InstanceSelection, Operation, Payload, ReaderHistory, ReaderHistoryConfig,
    ReceivedChange, Selection, SlotPool, States,
};
use dds_rtps::qos::{DataWriterQos, History, ResourceLimits};
use dds_rtps::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Now, SequenceNumber, SplitMix64, Time};
use dds_rtps::writer::{NewChange, StatefulWriter, WriterConfig};

const GUID: Guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 2]));

fn now(ticks: u64) -> Now {
    let nanos = 1_000_000_000 + ticks * 1_000;
    Now { instant: Instant::from_nanos(nanos), time: Time::from_unix_nanos(nanos as i64) }
}

/// The instance of a number. Handles of real keys are as random as these.
fn handle(number: u64) -> InstanceHandle {
    let mut dice = SplitMix64::new(number);
    let (high, low) = (dice.draw(), dice.draw());
    InstanceHandle::from_key_hash((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
}

struct Reader {
    history: ReaderHistory,
    pool: SlotPool,
    number: u64,
    batch: Vec<dds_rtps::history::HistorySample>,
}

impl Reader {
    fn new(instances: u64) -> Self {
        let limits = ResourceLimits { max_instances: Some(u32::MAX), ..ResourceLimits::default() };
        let limits = HistoryLimits::new(History::KeepLast { depth: 1 }, limits);
        let history = ReaderHistory::new(ReaderHistoryConfig::new(limits));
        let mut reader = Self { history, pool: SlotPool::new(64), number: 0, batch: Vec::new() };
        (0..instances).for_each(|instance| reader.receive(instance));
        reader
    }

    fn receive(&mut self, instance: u64) {
        self.number += 1;
        let mut slot = self.pool.acquire();
        slot.buffer().resize(64, 0);
        let change = CacheChange {
            kind: ChangeKind::Alive,
            writer: GUID,
            sequence_number: SequenceNumber(self.number as i64),
            instance: handle(instance),
            source_timestamp: now(self.number).time,
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(self.pool.freeze(slot)),
        };
        let reception_timestamp = now(self.number).time;
        let received = ReceivedChange { change, has_data: true, expires: None, reception_timestamp };
        let admitted = self.history.add(now(self.number), received);
        assert!(admitted.is_ok(), "there is room for all");
    }

    fn select(&mut self, selection: &Selection, operation: Operation) -> usize {
        self.batch.clear();
        self.history.select(now(self.number), selection, operation, &mut self.batch)
    }
}

fn writer(instances: u64) -> (StatefulWriter, SlotPool) {
    let qos = DataWriterQos::default().transient_local();
    let mut writer = (StatefulWriter::new(WriterConfig::new(GUID, true, &qos)), SlotPool::new(64));
    (0..instances).for_each(|instance| write(&mut writer, instance));
    writer
}

fn write((writer, pool): &mut (StatefulWriter, SlotPool), instance: u64) {
    let mut slot = pool.acquire();
    slot.buffer().resize(64, 0);
    let mut change = NewChange::alive(handle(instance), pool.freeze(slot));
    let written = writer.try_write(now(1), &mut change);
    assert!(written.is_ok(), "there is room for all");
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let operation = arguments.next().unwrap_or_default();
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    let (instances, times) = (number().max(1), number());
    let mut dice = SplitMix64::new(7);
    let mut any = || dice.draw() % instances;
    match operation.as_str() {
        "write" => {
            let mut writer = writer(instances);
            (0..times).for_each(|_| write(&mut writer, any()));
        }
        "register" => {
            let (mut writer, _) = writer(instances);
            let key = Payload::copy_of(&[0; 12]);
            (0..times).for_each(|_| assert!(writer.register_instance(handle(any()), &key).is_ok()));
        }
        "lookup" => {
            let reader = Reader::new(instances);
            (0..times).for_each(|_| assert!(reader.history.knows_instance(handle(any()))));
        }
        "receive" => {
            let mut reader = Reader::new(instances);
            (0..times).for_each(|_| reader.receive(any()));
        }
        // Receives one sample and takes it, while the others' last samples lie there, read.
        "take" | "read" => {
            let mut reader = Reader::new(instances);
            reader.select(&Selection::default(), Operation::Read);
            reader.batch = Vec::with_capacity(64);
            let unread = Selection { states: States::NOT_READ, ..Selection::default() };
            let operation = if operation == "take" { Operation::Take } else { Operation::Read };
            for _ in 0..times {
                reader.receive(any());
                assert_eq!(reader.select(&unread, operation), 1);
            }
        }
        "take_instance" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                let instance = any();
                reader.receive(instance);
                let selection =
                    Selection { instance: InstanceSelection::This(handle(instance)), ..Selection::default() };
                assert_eq!(reader.select(&selection, Operation::Take), 1);
            }
        }
        "next_instance" => {
            let mut reader = Reader::new(instances);
            let mut at = InstanceHandle::NIL;
            for _ in 0..times {
                let selection = Selection { instance: InstanceSelection::Next(at), ..Selection::default() };
                let found = reader.select(&selection, Operation::Read);
                at = reader
                    .batch
                    .first()
                    .filter(|_| found > 0)
                    .map_or(InstanceHandle::NIL, |first| first.info.instance_handle);
            }
        }
        _ => eprintln!(
            "usage: instances write|register|lookup|receive|take|read|take_instance|next_instance <instances> <times>"
        ),
    }
}
