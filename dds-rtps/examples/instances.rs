//! Cost of an operation in a history with many instances.
//!
//! ```text
//! instances <operation> <instances> <times>
//! ```
//!
//! Run it twice under `valgrind --tool=callgrind`, with 0 and with 10 000 times. The difference of the two counts,
//! divided by 10 000, is the cost of one operation. The table in `docs/instances.md` contains these costs.
//!
//! `take_all` and `walk` visit all instances each time: run them with 0 and 1 times, and divide by the number of
//! instances.

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

/// The handle of an instance. It is random, like the hash of a real key.
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
        let limits = ResourceLimits::NONE.max_instances(u32::MAX);
        let limits = HistoryLimits::new(History::KeepLast { depth: 1 }, limits);
        let history = ReaderHistory::new(ReaderHistoryConfig::new(limits));
        let mut reader = Self { history, pool: SlotPool::new(64), number: 0, batch: Vec::new() };
        for instance in 0..instances {
            reader.receive(instance);
        }
        reader
    }

    fn receive(&mut self, instance: u64) {
        self.receive_kind(instance, ChangeKind::Alive);
    }

    /// Receives a sample, or the end of an instance with its key.
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
        assert!(matches!(admitted, Ok(Admission::Visible)), "the limits admit each sample, and none is a duplicate");
    }

    fn select(&mut self, selection: &Selection, operation: Operation) -> usize {
        self.batch.clear();
        self.history.select(now(self.number), selection, operation, &mut self.batch)
    }

    /// Reads the instance after `at` and returns its handle.
    fn step(&mut self, at: InstanceHandle) -> Option<InstanceHandle> {
        let selection = Selection { instance: InstanceSelection::Next(at), ..Selection::default() };
        self.select(&selection, Operation::Read);
        self.batch.first().map(|first| first.info.instance_handle)
    }
}

fn writer(instances: u64) -> (StatefulWriter, SlotPool) {
    let qos = DataWriterQos::default().transient_local();
    let mut writer = (StatefulWriter::new(WriterConfig::new(GUID, true, &qos)), SlotPool::new(64));
    for instance in 0..instances {
        write(&mut writer, instance);
    }
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
    assert!(written.is_ok(), "the limits admit each sample");
}

/// The kind of end in the name of an operation.
fn end(operation: &str) -> ChangeKind {
    if operation.ends_with("dispose") { ChangeKind::NotAliveDisposed } else { ChangeKind::NotAliveUnregistered }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let operation = arguments.next().unwrap_or_default();
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    let (instances, times) = (number().max(1), number());
    if !run_on_writer(&operation, instances, times) && !run_on_reader(&operation, instances, times) {
        eprintln!(
            "usage: instances write|register|dispose|unregister|lookup|receive|receive_dispose|receive_unregister|lose|take|read|\
             take_all|take_instance|next_instance|walk <instances> <times>"
        );
    }
}

/// Runs an operation of a writer. Returns `false` for any other operation.
fn run_on_writer(operation: &str, instances: u64, times: u64) -> bool {
    let mut dice = SplitMix64::new(7);
    let mut any = || dice.draw() % instances;
    match operation {
        "write" => {
            let mut writer = writer(instances);
            for _ in 0..times {
                write(&mut writer, any());
            }
        }
        // Ends an instance and writes it again.
        "dispose" | "unregister" => {
            let mut writer = writer(instances);
            for _ in 0..times {
                let instance = any();
                write_kind(&mut writer, instance, end(operation));
                write(&mut writer, instance);
            }
        }
        "register" => {
            let (mut writer, _) = writer(instances);
            let key = Payload::copy_of(&[0; 12]);
            // The first registration stores the key in place of the sample. It must not count as the measured cost.
            for instance in 0..instances {
                assert!(writer.register_instance(handle(instance), &key).is_ok());
            }
            for _ in 0..times {
                assert!(writer.register_instance(handle(any()), &key).is_ok());
            }
        }
        _ => return false,
    }
    true
}

/// Runs an operation of a reader. Returns `false` for any other operation.
fn run_on_reader(operation: &str, instances: u64, times: u64) -> bool {
    let mut dice = SplitMix64::new(7);
    let mut any = || dice.draw() % instances;
    match operation {
        "lookup" => {
            let reader = Reader::new(instances);
            for _ in 0..times {
                assert!(reader.history.contains_instance(handle(any())));
            }
        }
        "receive" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                reader.receive(any());
            }
        }
        // Receives the end of an instance, then a sample of it.
        "receive_dispose" | "receive_unregister" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                let instance = any();
                reader.receive_kind(instance, end(operation));
                reader.receive(instance);
            }
        }
        // The only writer of all instances is lost, then writes them again.
        "lose" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                reader.history.writer_lost(now(reader.number), GUID);
                for instance in 0..instances {
                    reader.receive(instance);
                }
            }
        }
        // Takes all samples and receives them again.
        "take_all" => {
            let mut reader = Reader::new(instances);
            reader.batch = Vec::with_capacity(instances as usize);
            for time in 0..times {
                if time > 0 {
                    for instance in 0..instances {
                        reader.receive(instance);
                    }
                }
                assert_eq!(reader.select(&Selection::default(), Operation::Take) as u64, instances);
            }
        }
        // Reads from instance to instance until the last one.
        "walk" => {
            let mut reader = Reader::new(instances);
            for _ in 0..times {
                let (mut at, mut visited) = (InstanceHandle::NIL, 0);
                while let Some(next) = reader.step(at) {
                    (at, visited) = (next, visited + 1);
                }
                assert_eq!(visited, instances);
            }
        }
        // Receives one sample and takes it. The read samples of all other instances stay in the history.
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
                at = reader.step(at).unwrap_or(InstanceHandle::NIL);
            }
        }
        _ => return false,
    }
    true
}
