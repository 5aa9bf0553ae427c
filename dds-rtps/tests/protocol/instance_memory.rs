//! Memory of an instance in bytes, at a reader and at a writer: the numbers of `docs/instances.md`.

use allocation_counter::measure;
use dds_rtps::concurrent::Payload;
use dds_rtps::history::{
    CacheChange, ChangeKind, HistoryLimits, Operation, ReaderHistory, ReaderHistoryConfig, ReceivedChange, Selection,
};
use dds_rtps::qos::{DataWriterQos, History, ResourceLimits};
use dds_rtps::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Now, SequenceNumber, SplitMix64, Time};
use dds_rtps::writer::{NewChange, StatefulWriter, WriterConfig};

const GUID: Guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 1, 2]));

/// The tables double their size, so this many instances fill them as far as a million do.
const FEW: u64 = 1_000_000 >> 7;
/// `DDS_INSTANCES=1000000` measures the full million, which takes longer.
const VARIABLE: &str = "DDS_INSTANCES";

fn now() -> Now {
    Now { instant: Instant::from_nanos(1), time: Time::from_unix_nanos(1) }
}

fn handle(number: u64) -> InstanceHandle {
    let mut dice = SplitMix64::new(number);
    let (high, low) = (dice.draw(), dice.draw());
    InstanceHandle::from_key_hash((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
}

/// Returns the bytes that `make` leaves allocated for each instance. Other threads and memory are not counted.
fn each<T>(count: u64, make: impl FnOnce() -> T) -> (i64, T) {
    let mut made = None;
    let bytes = measure(|| made = Some(make())).bytes_current;
    (bytes / count as i64, made.unwrap())
}

fn sample() -> Payload {
    Payload::copy_of(&[7; 12])
}

fn reader(count: u64) -> ReaderHistory {
    let limits = ResourceLimits::NONE.max_instances(u32::MAX);
    let limits = HistoryLimits::new(History::KeepLast { depth: 1 }, limits);
    let mut history = ReaderHistory::new(ReaderHistoryConfig::new(limits));
    for number in 0..count {
        let change = CacheChange {
            kind: ChangeKind::Alive,
            writer: GUID,
            sequence_number: SequenceNumber(number as i64 + 1),
            instance: handle(number),
            source_timestamp: now().time,
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(sample()),
        };
        let received = ReceivedChange { change, has_data: true, expires: None, reception_timestamp: now().time };
        history.add(now(), received).unwrap();
    }
    history
}

fn writer(count: u64, qos: &DataWriterQos, registered_only: bool) -> StatefulWriter {
    let mut writer = StatefulWriter::new(WriterConfig::new(GUID, true, qos));
    for number in 0..count {
        if registered_only {
            writer.register_instance(handle(number), &sample()).unwrap();
        } else {
            writer.try_write(now(), &mut NewChange::alive(handle(number), sample())).unwrap();
        }
    }
    writer
}

#[test]
fn instance_memory_stays_within_bounds() {
    let count = std::env::var(VARIABLE).map_or(FEW, |count| count.parse().unwrap());

    let (registered, made) = each(count, || writer(count, &DataWriterQos::default(), true));
    drop(made);
    let (kept, made) = each(count, || writer(count, &DataWriterQos::default().transient_local(), false));
    drop(made);
    println!("writer: {registered} bytes registered, {kept} with a sample of 12 bytes");

    let (full, mut history) = each(count, || reader(count));
    let (change, ()) = each(count, || {
        let mut batch = Vec::new();
        assert_eq!(history.select(now(), &Selection::default(), Operation::Take, &mut batch) as u64, count);
    });
    let taken = full + change;
    assert_eq!(history.instance_count() as u64, count);
    println!("reader: {full} bytes with a sample of 12 bytes, {taken} when it has been taken");
    // No reader needs the instances any more. The keys are freed, and empty entries remain for later instances.
    assert!(!history.writer_lost(now(), GUID) || history.len() as u64 == count);
    history.select(now(), &Selection::default(), Operation::Take, &mut Vec::new());
    history.select(now(), &Selection::default(), Operation::Take, &mut Vec::new());
    assert_eq!((history.instance_count(), history.len()), (0, 0));
    let (more, history) = each(count, || {
        let mut history = history;
        for number in 0..count {
            let change = CacheChange {
                kind: ChangeKind::Alive,
                writer: GUID,
                sequence_number: SequenceNumber((count + number) as i64 + 1),
                instance: handle(count + number),
                source_timestamp: now().time,
                related_sample: None,
                origin: None,
                presented: None,
                payload: None,
            };
            let received = ReceivedChange { change, has_data: true, expires: None, reception_timestamp: now().time };
            history.add(now(), received).unwrap();
        }
        history
    });
    println!("reader: {more} bytes for one in the place of one that has gone");
    drop(history);

    assert!(registered <= 190 && kept <= 430, "writer: {registered}, {kept}");
    assert!(full <= 630 && taken <= 580 && more <= 60, "reader: {full}, {taken}, {more}");
}
