//! Latencies that readers and writers measure, on links with a known delay.

use crate::robot_and_station::RobotAndStation;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::sim::Conditions;
use dds_core::stats::LatencyHistogram;
use dds_core::{DataReader, DataWriter, DdsType, Duration};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Reading {
    number: u32,
}

const DELAY: Duration = Duration::from_millis(3);

fn world() -> RobotAndStation {
    let world = RobotAndStation::new(3);
    world.simulation.set_network(Conditions::immediate().delayed(DELAY, Duration::ZERO));
    world
}

fn writer(world: &RobotAndStation, qos: DataWriterQos) -> DataWriter<Reading> {
    world.robot.writer_builder("readings").qos(qos).build().unwrap()
}

fn reader(world: &RobotAndStation, qos: DataReaderQos) -> DataReader<Reading> {
    let reader = world.station.reader_builder("readings").qos(qos).build().unwrap();
    reader.wait_for_writers(1).block().unwrap();
    world.run(500);
    reader
}

/// The count, and minimum, 99th percentile and maximum, rounded to milliseconds: transmission takes some microseconds.
fn summary(histogram: &LatencyHistogram) -> (u64, [i64; 3]) {
    let [min, p99, max] = [histogram.min(), histogram.percentile(99.0), histogram.max()]
        .map(|time| time.map_or(-1, |time| (time.as_nanos() + 500_000) / 1_000_000));
    (histogram.count(), [min, p99, max])
}

#[test]
fn reader_measures_transfer_and_wait_of_its_samples() {
    let world = world();
    let writer = writer(&world, DataWriterQos::default().reliable());
    let reader = reader(&world, DataReaderQos::default().reliable().keep_all());
    assert_eq!(reader.latencies(), Default::default());
    for number in 0..80 {
        writer.write(&Reading { number }).unwrap();
        world.run(10);
        assert_eq!(reader.take().unwrap().len(), 1);
        // A take without samples does not count.
        assert_eq!(reader.take().unwrap().len(), 0);
    }
    let latencies = reader.latencies();
    assert_eq!(summary(&latencies.write_to_reception), (80, [3, 3, 3]));
    // Each eighth take is measured: 10 ms after the write.
    assert_eq!(summary(&latencies.reception_to_take), (10, [7, 7, 7]));
    assert_eq!(latencies.from_future, 0);
    reader.close();
    assert_eq!(reader.latencies(), Default::default());
}

#[test]
fn reader_measures_first_access_of_each_sample_alone() {
    let world = world();
    let writer = writer(&world, DataWriterQos::default().reliable());
    let reader = reader(&world, DataReaderQos::default().reliable().keep_all());
    writer.write(&Reading { number: 1 }).unwrap();
    world.run(5);
    for _ in 0..20 {
        assert_eq!(reader.read().unwrap().len(), 1);
        world.run(1);
    }
    assert_eq!(summary(&reader.latencies().reception_to_take), (1, [2, 2, 2]));
}

#[test]
fn writer_measures_acknowledgment_of_the_last_reader() {
    let world = world();
    let writer = writer(&world, DataWriterQos::default().reliable());
    let far = world.simulation.participant("far", 0).unwrap();
    let _reader = reader(&world, DataReaderQos::default().reliable());
    let _far_reader =
        far.reader_builder::<Reading>("readings").qos(DataReaderQos::default().reliable()).build().unwrap();
    writer.wait_for_readers(2).block().unwrap();
    world.run(500);
    assert!(writer.acknowledgment_latency().is_empty());
    for number in 0..50 {
        writer.write(&Reading { number }).unwrap();
        writer.acknowledged().block().unwrap();
    }
    assert_eq!(summary(&writer.acknowledgment_latency()), (50, [6, 6, 6]));
}

#[test]
fn samples_from_before_a_reader_are_not_measured() {
    let world = world();
    let writer = writer(&world, DataWriterQos::default().reliable().transient_local().keep_all());
    for number in 0..10 {
        writer.write(&Reading { number }).unwrap();
    }
    world.run(5000);
    let reader = reader(&world, DataReaderQos::default().reliable().transient_local().keep_all());
    assert_eq!(reader.take().unwrap().len(), 10);
    assert!(reader.latencies().write_to_reception.is_empty());
    assert_eq!(reader.latencies().reception_to_take.count(), 10);
    assert!(writer.acknowledgment_latency().is_empty());
    writer.write(&Reading { number: 10 }).unwrap();
    world.run(500);
    assert_eq!(summary(&reader.latencies().write_to_reception).0, 1);
    assert_eq!(summary(&writer.acknowledgment_latency()).0, 1);
}
