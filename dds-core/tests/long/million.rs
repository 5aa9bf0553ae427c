//! Many instances through the public API: memory per instance, lookup, read, end and eviction of each.
//!
//! The test uses a few thousand instances, or `DDS_INSTANCES`. `.ci/run instances` runs a million. The tables double,
//! so 1 000 000 / 128 instances fill them to the same degree as a million.

use crate::ALLOCATOR;
use crate::support::{PATIENCE, World, alone};
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::{DataReader, DataWriter, DdsType, InstanceHandle, InstanceState};

const FEW: u64 = 1_000_000 >> 7;

/// 12 bytes, 8 of them the key.
#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u64,
    x: u32,
}

/// Memory growth per instance since a starting point.
struct Meter {
    count: u64,
    before: usize,
    resident_before: u64,
}

impl Meter {
    fn start(count: u64) -> Self {
        Self { count, before: ALLOCATOR.allocated(), resident_before: resident() }
    }

    /// Prints the memory of each instance, and fails above `max` bytes.
    ///
    /// Resident memory is more: it includes the allocator's overhead and unused table space after doubling. With few
    /// instances it is not printed, because the allocator still has pages from before.
    fn check(&self, what: &str, max: usize) {
        let each = ALLOCATOR.allocated().saturating_sub(self.before) / self.count as usize;
        let resident = resident().saturating_sub(self.resident_before) / self.count;
        println!("{what}: {each} bytes for each of {}, {resident} resident", self.count);
        assert!(each <= max, "{what}: {each} bytes for each, {max} at most");
        assert!(self.count < 100_000 || resident <= 2 * max as u64, "{what}: {resident} bytes resident for each");
    }
}

/// Resident memory in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).map_or(0, |pages| pages.parse::<u64>().unwrap() * 4096)
}

/// Some of `count` instances, in an order that matches no table.
fn some(count: u64) -> impl Iterator<Item = u64> {
    // 7919 is prime, so the order differs from the order of creation.
    (0..1000).map(move |at| at * 7919 % count)
}

/// Reads an instance without taking it, and returns its last data and its state.
fn read(reader: &DataReader<Pose>, instance: InstanceHandle) -> (Option<Pose>, InstanceState) {
    let samples = reader.select().instance(instance).read().unwrap();
    assert!(samples.iter().all(|sample| sample.info().instance_handle == instance));
    let data = samples.iter().filter_map(|sample| sample.decode()).last();
    (data.transpose().unwrap(), samples.iter().last().unwrap().info().instance_state)
}

/// Writes one sample of each instance.
fn write_all(writer: &DataWriter<Pose>, keys: std::ops::Range<u64>, x: u32) {
    keys.for_each(|robot| writer.write(&Pose { robot, x }).unwrap());
}

/// Visits every instance with `next_instance`, and asserts the order of their handles.
fn walk(reader: &DataReader<Pose>) -> u64 {
    let (mut at, mut met) = (InstanceHandle::NIL, 0);
    loop {
        let samples = reader.select().next_instance(at).read().unwrap();
        let Some(sample) = samples.iter().next() else { return met };
        assert!(sample.info().instance_handle > at && samples.len() == 1);
        (at, met) = (sample.info().instance_handle, met + 1);
    }
}

#[test]
fn many_instances_fit_memory_budget() {
    if !alone("million::many_instances_fit_memory_budget") {
        return;
    }
    let count = std::env::var("DDS_INSTANCES").map_or(FEW, |count| count.parse().unwrap());
    let participant = World::new().participant();
    // Twice the room, because new instances join before all others are gone.
    let limits = ResourceLimits::NONE.max_instances(2 * count as u32);
    let qos = DataWriterQos::default().reliable().transient_local().resource_limits(limits);
    let writer = participant.writer_builder::<Pose>("pose").qos(qos).build().unwrap();

    let registered = Meter::start(count);
    (0..count).for_each(|robot| assert!(!writer.register_instance(&robot).unwrap().is_nil()));
    registered.check("registered at a writer", 215);

    write_all(&writer, 0..count, 1);
    registered.check("written, transient-local", 475);

    // The reader gets the last sample of each instance, in the writer's slots.
    let received = Meter::start(count);
    let qos = DataReaderQos::default().reliable().transient_local().resource_limits(limits);
    let reader = participant.reader_builder::<Pose>("pose").qos(qos).build().unwrap();
    reader.historical_data().block_for(PATIENCE).unwrap();
    assert_eq!(walk(&reader), count);
    received.check("at a reader, with its sample", 610);

    for robot in some(count) {
        let instance = writer.lookup_instance(&robot).unwrap();
        assert_eq!((reader.lookup_instance(&robot), reader.key_value(instance)), (Some(instance), Some(robot)));
        writer.write(&Pose { robot, x: 2 }).unwrap();
        let expected = Some(Pose { robot, x: 2 });
        assert_eq!(read(&reader, instance), (expected, InstanceState::Alive));
        writer.dispose(&robot).unwrap();
        assert_eq!(read(&reader, instance).1, InstanceState::NotAliveDisposed);
        writer.write(&Pose { robot, x: 1 }).unwrap();
        assert_eq!(read(&reader, instance).1, InstanceState::Alive);
    }
    // An instance that never existed is unknown on both sides.
    assert_eq!((writer.lookup_instance(&count), reader.lookup_instance(&count)), (None, None));

    // No endpoint needs these instances any more, so new ones can take their room.
    (0..count).for_each(|robot| writer.unregister_instance(&robot).unwrap());
    reader.take().unwrap();
    // A taken sample keeps its key until the next read or take.
    assert!(reader.take().unwrap().is_empty());
    for robot in some(count) {
        assert_eq!((writer.lookup_instance(&robot), reader.lookup_instance(&robot)), (None, None));
    }
    let others = Meter::start(count);
    write_all(&writer, count..2 * count, 1);
    others.check("at both, in the places of others that have gone", 225);
    assert_eq!(walk(&reader), count);
}
