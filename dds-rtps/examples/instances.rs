//! What it costs to have many instances: does one thing so many times in a history that knows so many instances.
//!
//! ```text
//! instances <operation> <instances> <times>
//! ```
//!
//! Run it twice under `valgrind --tool=callgrind`, with 0 times and with 10 000, and divide what it counts more; the table in
//! `docs/instances.md` was made so. `take_all` and `walk` go over all instances each time: run them with 0 and 1, and divide by
//! the number of instances.

use dds_rtps::concurrent::{Payload, SlotPool};
use dds_rtps::history::{
    Admission, CacheChange, ChangeKind, HistoryLimits, InstanceSelection, Operation, ReaderHistory,
    ReaderHistoryConfig, ReceivedChange, Selection, States,
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
        self.receive_kind(instance, ChangeKind::Alive);
    }

    /// A sample, or the end of an instance with its key.
    fn receive_kind(&mut self, instance: u64, kind: ChangeKind) {
        self.number += 1;
        let mut slot = self.pool.acquire();
        slot.buffer().resize(64, 0);
        let change = CacheChange {
            kind,
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
        let received =
            ReceivedChange { change, has_data: kind == ChangeKind::Alive, expires: None, reception_timestamp };
        let admitted = self.history.add(now(self.number), received);
        assert!(matches!(admitted, Ok(Admission::Visible)), "there is room for all, and each is news");
    }

    fn select(&mut self, selection: &Selection, operation: Operation) -> usize {
        self.batch.clear();
        self.history.select(now(self.number), selection, operation, &mut self.batch)
    }

    /// Reads the instance after this one, if there is one, and says which it is.
    fn step(&mut self, at: InstanceHandle) -> Option<InstanceHandle> {
        let selection = Selection { instance: InstanceSelection::Next(at), ..Selection::default() };
        self.select(&selection, Operation::Read);
        self.batch.first().map(|first| first.info.instance_handle)
    }
}

fn writer(instances: u64) -> (StatefulWriter, SlotPool) {
    let qos = DataWriterQos::default().transient_local();
    let mut writer = (StatefulWriter::new(WriterConfig::new(GUID, true, &qos)), SlotPool::new(64));
    (0..instances).for_each(|instance| write(&mut writer, instance));
    writer
}

fn write(writer: &mut (StatefulWriter, SlotPool), instance: u64) {
    write_kind(writer, instance, ChangeKind::Alive);
}

fn write_kind((writer, pool): &mut (StatefulWriter, SlotPool), instance: u64, kind: ChangeKind) {
    let mut slot = pool.acquire();
    slot.buffer().resize(64, 0);
    let payload = pool.freeze(slot);
    let mut change = match kind {
        ChangeKind::Alive => NewChange::alive(handle(instance), payload),
        _ => NewChange::not_alive(kind, handle(instance), payload),
    };
    let written = writer.try_write(now(1), &mut change);
    assert!(written.is_ok(), "there is room for all");
}

/// The end of an instance that an operation is named after.
fn end(operation: &str) -> ChangeKind {
    if operation.ends_with("dispose") { ChangeKind::NotAliveDisposed } else { ChangeKind::NotAliveUnregistered }
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
        // Ends an instance and writes it again.
        "dispose" | "unregister" => {
            let mut writer = writer(instances);
            for _ in 0..times {
                let instance = any();
                write_kind(&mut writer, instance, end(&operation));
                write(&mut writer, instance);
            }
        }
        "register" => {
            let (mut writer, _) = writer(instances);
            let key = Payload::copy_of(&[0; 12]);
            // The first time each instance keeps the key in place of the sample: with many of them all would be first times.
            (0..instances).for_each(|instance| assert!(writer.register_instance(handle(instance), &key).is_ok()));
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
        // Receives the end of an instance, and a sample of it.
        "receive_dispose" | "receive_unregister" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                let instance = any();
                reader.receive_kind(instance, end(&operation));
                reader.receive(instance);
            }
        }
        // The sole writer of all instances is lost, and writes them again.
        "lose" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                reader.history.writer_lost(now(reader.number), GUID);
                (0..instances).for_each(|instance| reader.receive(instance));
            }
        }
        // All samples, which are there anew each time.
        "take_all" => {
            let mut reader = Reader::new(instances);
            reader.batch = Vec::with_capacity(instances as usize);
            for time in 0..times {
                if time > 0 {
                    (0..instances).for_each(|instance| reader.receive(instance));
                }
                assert_eq!(reader.select(&Selection::default(), Operation::Take) as u64, instances);
            }
        }
        // From instance to instance, until there is none.
        "walk" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                let (mut at, mut met) = (InstanceHandle::NIL, 0);
                while let Some(next) = reader.step(at) {
                    (at, met) = (next, met + 1);
                }
                assert_eq!(met, instances);
            }
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
            (0..times).for_each(|_| at = reader.step(at).unwrap_or(InstanceHandle::NIL));
        }
        _ => eprintln!(
            "usage: instances write|register|dispose|unregister|lookup|receive|receive_dispose|receive_unregister|lose|take|read|\
             take_all|take_instance|next_instance|walk <instances> <times>"
        ),
    }
}
