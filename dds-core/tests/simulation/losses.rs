//! The ledger of losses through the public API, in virtual time: it states number, place and cause, and adds up.

use crate::robot_and_station::RobotAndStation;
use dds_core::qos::{DataReaderQos, DataWriterQos, DestinationOrder, ResourceLimits};
use dds_core::sim::Conditions;
use dds_core::stats::{LikelyCause, ReaderLosses, WriterLosses};
use dds_core::status::RejectReason;
use dds_core::{DataReader, DataWriter, DdsType, Duration};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Reading {
    #[dds(key)]
    sensor: u32,
    number: u32,
}

fn pair(
    world: &RobotAndStation,
    writer: DataWriterQos,
    reader: DataReaderQos,
) -> (DataWriter<Reading>, DataReader<Reading>) {
    let writer = world.robot.writer_builder("readings").qos(writer).build().unwrap();
    let reader = world.station.reader_builder("readings").qos(reader).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    reader.wait_for_writers(1).block().unwrap();
    // Let discovery traffic end, so that it does not disturb the counters.
    world.run(500);
    (writer, reader)
}

/// Writes these numbers of one sensor, a millisecond apart.
fn write(world: &RobotAndStation, writer: &DataWriter<Reading>, sensor: u32, numbers: std::ops::Range<u32>) {
    for number in numbers {
        writer.write(&Reading { sensor, number }).unwrap();
        world.run(1);
    }
    world.run(300);
}

fn numbers(reader: &DataReader<Reading>) -> Vec<u32> {
    reader.take().unwrap().into_data().map(|reading: Reading| reading.number).collect()
}

fn assert_adds_up(losses: &ReaderLosses) {
    for row in losses.writers.iter().chain(&losses.departed).chain([&losses.total()]) {
        // Every number of a writer is received, lost, or still expected.
        assert_eq!(row.known, row.received + row.not_received.total() + row.awaited, "{row:?}");
        // Every received sample is delivered, waiting, or dropped for a known reason.
        assert_eq!(row.received, row.delivered() + row.waiting + row.undelivered.total(), "{row:?}");
    }
}

fn only(losses: &ReaderLosses) -> WriterLosses {
    assert_adds_up(losses);
    assert_eq!(losses.writers.len(), 1);
    losses.writers[0]
}

#[test]
fn network_losses_match_sample_lost_status() {
    let world = RobotAndStation::new(3);
    let (writer, reader) = pair(&world, DataWriterQos::default().best_effort(), DataReaderQos::default().keep_all());
    world.simulation.set_network(Conditions { loss: 0.2, ..Conditions::perfect() });
    write(&world, &writer, 1, 0..500);
    world.simulation.set_network(Conditions::perfect());
    // A last sample reveals the losses at the end.
    write(&world, &writer, 1, 500..501);
    let losses = reader.losses();
    let row = only(&losses);
    let got = numbers(&reader).len() as u64;
    assert!(row.lost() > 50, "{losses}");
    assert_eq!((row.writer, row.received, row.delivered()), (Some(writer.guid()), got, got));
    assert_eq!(row.known, row.received + row.lost());
    assert_eq!(reader.sample_lost().total_count, row.lost());
    assert_eq!(losses.likely_cause(), Some(LikelyCause::Elsewhere));
    assert_eq!(losses.since(&losses).total(), WriterLosses::default());
}

#[test]
fn full_socket_is_named_as_cause_of_loss() {
    let world = RobotAndStation::new(3);
    let (writer, reader) = pair(&world, DataWriterQos::default().best_effort(), DataReaderQos::default().keep_all());
    let before = reader.losses();
    let station = world.simulation.host("station");
    // Room for a few datagrams, and 5 ms for each of them.
    station.set_receive_buffer(1000);
    station.set_handling(Duration::from_millis(5));
    (0..200).for_each(|number| writer.write(&Reading { sensor: 1, number }).unwrap());
    world.run(2000);
    station.set_receive_buffer(1 << 20);
    write(&world, &writer, 1, 200..201);
    let losses = reader.losses().since(&before);
    let row = only(&losses);
    let Some(LikelyCause::SocketOverflow { dropped, .. }) = losses.likely_cause() else { panic!("{losses}") };
    assert!(row.lost() > 100);
    assert_eq!(dropped, row.lost());
    assert!(losses.to_string().contains("raise the participant's receive_buffer"), "{losses}");
    assert_eq!(world.station.traffic().socket_full, dropped);
}

#[test]
fn replaced_samples_count_as_undelivered() {
    for in_one in [true, false] {
        let mut world = RobotAndStation::new(3);
        if in_one {
            world.station = world.robot.clone();
        }
        let (writer, reader) = pair(&world, DataWriterQos::default(), DataReaderQos::default().reliable().keep_last(3));
        write(&world, &writer, 1, 0..5);
        // Read samples that are replaced later count separately from unread ones.
        assert_eq!(reader.read().unwrap().len(), 3);
        write(&world, &writer, 1, 5..7);
        let row = only(&reader.losses());
        assert_eq!((row.known, row.received, row.delivered()), (7, 7, 3));
        assert_eq!((row.undelivered.overwritten_unread, row.undelivered.overwritten_read), (2, 2));
        assert_eq!(reader.sample_lost().total_count, 0);
    }
}

#[test]
fn samples_replaced_in_writer_are_named() {
    let world = RobotAndStation::new(3);
    let writer = DataWriterQos::default().keep_last(1);
    let (writer, reader) = pair(&world, writer, DataReaderQos::default().reliable().keep_all());
    write(&world, &writer, 1, 0..1);
    // Without the network, newer samples replace the older ones in the writer.
    world.simulation.link("robot", "station").cut();
    write(&world, &writer, 1, 1..50);
    world.simulation.link("robot", "station").mend();
    world.run(3000);
    assert_eq!(numbers(&reader), [0, 49]);
    let row = only(&reader.losses());
    assert_eq!((row.known, row.received, row.awaited), (50, 2, 0));
    assert_eq!((row.not_received.replaced, row.not_received.total()), (48, 48));
    assert_eq!((reader.sample_lost().total_count, reader.counters().replaced), (0, 48));
    let text = reader.losses().to_string();
    assert!(text.contains("48 were replaced by their KEEP_LAST writer") && !text.contains("likely cause"), "{text}");
}

#[test]
fn loss_rows_of_deleted_writers_stay() {
    let world = RobotAndStation::new(3);
    let (writer, reader) = pair(&world, DataWriterQos::default(), DataReaderQos::default().reliable().keep_all());
    write(&world, &writer, 1, 0..4);
    let guid = writer.guid();
    drop(writer);
    world.run(1000);
    let losses = reader.losses();
    assert!(losses.writers.is_empty());
    assert_eq!((losses.departed.len(), losses.departed[0].writer), (1, Some(guid)));
    assert_eq!(losses.total().delivered(), 4 + u64::from(losses.departed[0].known > 4));
}

#[test]
fn lifespan_is_bounded_despite_clock_offset() {
    for (ahead_secs, expired_at_once) in [(0, false), (100_000, false), (-100_000, true)] {
        let world = RobotAndStation::new(3);
        let writer = DataWriterQos::default().lifespan(Duration::from_secs(2)).keep_all();
        let (writer, reader) = pair(&world, writer, DataReaderQos::default().reliable().keep_all());
        world.simulation.host("robot").step_clock(ahead_secs * 1_000_000_000);
        // The clocks of the two hosts now differ.
        world.run(100);
        write(&world, &writer, 1, 0..3);
        let row = only(&reader.losses());
        assert_eq!(row.undelivered.expired, if expired_at_once { 3 } else { 0 }, "{ahead_secs}");
        assert_eq!(reader.read().unwrap().len(), if expired_at_once { 0 } else { 3 });
        // A later read finds nothing, whether a timer has fired or not.
        world.run(2100);
        assert!(reader.take().unwrap().is_empty(), "{ahead_secs}");
        let row = only(&reader.losses());
        assert_eq!((row.undelivered.expired, row.delivered()), (3, 0), "{ahead_secs}");
    }
}

#[test]
fn source_timestamps_order_samples() {
    let world = RobotAndStation::new(3);
    let by_source = DestinationOrder::BySourceTimestamp;
    let writer_qos = || DataWriterQos::default().destination_order(by_source).keep_all();
    let reader_qos = || DataReaderQos::default().destination_order(by_source).reliable();
    let (ahead, all) = pair(&world, writer_qos(), reader_qos().keep_all());
    let last = world.station.reader_builder::<Reading>("readings").qos(reader_qos().keep_last(1)).build().unwrap();
    let camera = world.simulation.participant("camera", 0).unwrap();
    let behind = camera.writer_builder::<Reading>("readings").qos(writer_qos()).build().unwrap();
    behind.wait_for_readers(2).block().unwrap();
    ahead.wait_for_readers(2).block().unwrap();
    world.run(1000);
    // This writer's clock is ahead, so its samples count as newer.
    world.simulation.host("robot").step_clock(10_000_000_000);
    write(&world, &ahead, 1, 100..103);
    write(&world, &behind, 1, 0..3);
    // Both end with the same value, and the KEEP_ALL reader has the other values before it.
    assert_eq!(numbers(&last), [102]);
    assert_eq!(numbers(&all), [0, 1, 2, 100, 101, 102]);
    // An older timestamp than those taken before: the sample comes too late for its order.
    write(&world, &behind, 1, 3..4);
    assert!(numbers(&all).is_empty());
    assert_eq!(all.losses().total().undelivered.superseded, 1);
    assert_eq!(last.losses().total().undelivered.superseded, 4);
    // A clock that is years ahead must not win forever.
    world.simulation.host("robot").step_clock(300_000_000_000_000_000);
    write(&world, &ahead, 2, 200..201);
    write(&world, &behind, 2, 10..11);
    assert_eq!(numbers(&last), [10]);
}

fn three_instances() -> ResourceLimits {
    ResourceLimits::NONE.max_instances(3)
}

/// A reliable KEEP_LAST reader without room for another instance.
///
/// It rejects, reports and acknowledges such samples, and its writer goes on.
#[test]
fn full_keep_last_reader_does_not_block_writer() {
    for in_one in [true, false] {
        let mut world = RobotAndStation::new(3);
        if in_one {
            world.station = world.robot.clone();
        }
        let reader = DataReaderQos::default().reliable().keep_last(1).resource_limits(three_instances());
        let writer = DataWriterQos::default().keep_all().resource_limits(ResourceLimits::NONE.max_samples(4));
        let (writer, reader) = pair(&world, writer, reader);
        for round in 0..20 {
            for sensor in 0..6 {
                writer.write(&Reading { sensor, number: round }).unwrap();
            }
        }
        writer.acknowledged().block_for(Duration::from_secs(5)).unwrap();
        let rejected = reader.sample_rejected();
        assert_eq!((rejected.total_count, rejected.last_reason), (60, Some(RejectReason::Instances)));
        let row = only(&reader.losses());
        assert_eq!((row.known, row.received, row.delivered()), (120, 120, 3));
        assert_eq!((row.undelivered.rejected_instances, row.undelivered.overwritten_unread), (60, 57));
    }
}

/// A reliable KEEP_ALL reader at its limit.
///
/// Samples beyond the limit are neither acknowledged nor lost, and arrive when there is room. A writer with room of its
/// own does not block. One without room fails with a timeout, and does not block forever.
#[test]
fn full_keep_all_reader_gets_rest_after_take() {
    for in_one in [true, false] {
        let mut world = RobotAndStation::new(3);
        if in_one {
            world.station = world.robot.clone();
        }
        let limits = |max_samples| ResourceLimits::NONE.max_samples(max_samples);
        let reader = DataReaderQos::default().reliable().keep_all().resource_limits(limits(5));
        let writer = DataWriterQos::default().keep_all().resource_limits(limits(20));
        let (writer, reader) = pair(&world, writer, reader);
        let mut written = 0;
        while writer.try_write(&Reading { sensor: 1, number: written }).is_ok() {
            written += 1;
            world.run(5);
        }
        world.run(300);
        // The reader holds five samples, and the writer twenty.
        assert!((20..=25).contains(&written), "{written}");
        assert!(writer.acknowledged().block_for(Duration::from_secs(3)).is_err());
        let row = only(&reader.losses());
        assert_eq!((row.delivered(), row.undelivered.total(), row.lost()), (5, 0, 0));
        assert!(reader.sample_rejected().total_count > 0);
        // A reader that never takes blocks this writer for as long as it exists, and no longer.
        let mut got = numbers(&reader);
        for _ in 0..20 {
            world.run(200);
            got.extend(numbers(&reader));
        }
        assert_eq!(got, (0..written).collect::<Vec<_>>());
        writer.acknowledged().block_for(Duration::from_secs(3)).unwrap();
        let row = only(&reader.losses());
        assert_eq!((row.known, row.delivered(), row.lost()), (u64::from(written), u64::from(written), 0));
        // Fill the writer again, then delete the reader that blocks it.
        (0..100).for_each(|number| drop(writer.try_write(&Reading { sensor: 1, number })));
        drop(reader);
        world.run(1000);
        writer.write(&Reading { sensor: 1, number: 0 }).unwrap();
    }
}
