//! `dispose_all`, and the wire format of an unregister (DDS 1.4, 2.2.3.21; RTPS 2.5, 9.6.4.9).

use super::{Pair, Pose, SOON, values};
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits, WriterDataLifecycle};
use dds_core::sim::Simulation;
use dds_core::{DataReader, DdsType, Duration, InstanceState};
use std::sync::{Arc, Mutex};

const MANY: u32 = 1_000;

fn request() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

/// Robots in this state, from taken samples without data.
fn ended(reader: &DataReader<Pose>, state: InstanceState) -> Vec<u32> {
    let samples = reader.take().unwrap();
    let ended = samples.iter().filter(|sample| !sample.info().valid_data && sample.info().instance_state == state);
    ended.map(|sample| reader.key_value(sample.info().instance_handle).unwrap()).collect()
}

#[test]
fn dispose_all_disposes_every_alive_instance() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(DataWriterQos::default().keep_all()), pair.reader(request()));
        pair.settle();
        assert_eq!(writer.dispose_all().unwrap(), 0);
        (0..MANY).for_each(|robot| writer.write(&Pose { robot, x: 0 }).unwrap());
        writer.dispose(&0).unwrap();
        writer.unregister_instance(&1).unwrap();
        writer.register_instance(&MANY).unwrap();
        pair.simulation.run_for(SOON);
        assert_eq!(values(&reader).len(), MANY as usize);
        let before = pair.from.traffic().sent;
        assert_eq!(writer.dispose_all().unwrap(), MANY as usize - 2);
        let sent = pair.from.traffic().sent - before;
        pair.simulation.run_for(SOON);
        assert_eq!(ended(&reader, InstanceState::NotAliveDisposed), (2..MANY).collect::<Vec<_>>());
        assert!(sent < u64::from(MANY) / 5, "{sent} datagrams");
        assert_eq!(writer.dispose_all().unwrap(), 0, "they are not alive any more");
        assert!(writer.lookup_instance(&5).is_some(), "they stay registered");
        pair.write(&writer, 5, 7);
        assert_eq!(values(&reader), [7]);
        assert_eq!(writer.dispose_all().unwrap(), 1);
    });
}

/// An instance that is written again after its dispose is alive again.
///
/// A new instance may take the room of a former one.
#[test]
fn dispose_all_disposes_reborn_instances() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(DataWriterQos::default()), pair.reader(request()));
        pair.settle();
        for round in 0..3 {
            (0..100).for_each(|robot| writer.write(&Pose { robot: round + robot, x: robot }).unwrap());
            (0..50).for_each(|robot| writer.unregister_instance(&(round + 2 * robot)).unwrap());
            assert_eq!(writer.dispose_all().unwrap(), 50);
            pair.simulation.run_for(SOON);
            let states = reader.take().unwrap();
            assert!(states.iter().all(|sample| sample.info().instance_state == InstanceState::NotAliveDisposed));
        }
    });
}

/// A call blocks for room in a full history like any other write, or fails with a timeout.
///
/// Instances that were disposed of before stay disposed.
#[test]
fn dispose_all_waits_for_full_history() {
    let simulation = Simulation::new(5);
    let from = simulation.participant("robot", 0).unwrap();
    let to = simulation.participant("station", 0).unwrap();
    let limits = ResourceLimits::NONE.max_samples(60);
    let qos = DataWriterQos::default().keep_all().resource_limits(limits);
    let writer = from.writer_builder::<Pose>("pose").qos(qos).build().unwrap();
    let reader = to.reader_builder::<Pose>("pose").qos(request()).build().unwrap();
    writer.wait_for_readers(1).block_for(Duration::from_secs(5)).unwrap();
    simulation.run_for(SOON);
    simulation.link("robot", "station").cut();
    (0..50).for_each(|robot| writer.write(&Pose { robot, x: robot }).unwrap());
    let error = writer.dispose_all().unwrap_err();
    assert!(matches!(error.kind(), WriteErrorKind::Timeout { .. }), "{error}");
    simulation.link("robot", "station").mend();
    let rest = 50 - 10;
    assert_eq!(writer.dispose_all().unwrap(), rest);
    simulation.run_for(Duration::from_secs(5));
    let samples = reader.take().unwrap();
    assert!(samples.iter().all(|sample| sample.info().instance_state == InstanceState::NotAliveDisposed));
    assert_eq!(samples.into_data().count(), 50);
}

#[derive(DdsType)]
struct Image {
    #[dds(key)]
    camera: u32,
    pixels: Vec<u8>,
}

/// The keys of a writer take at most 64 MiB. Beyond that an instance is disposed of by its handle alone.
#[test]
fn dispose_all_covers_instances_without_key() {
    let simulation = Simulation::new(7);
    let participant = simulation.participant("robot", 0).unwrap();
    let writer = participant.writer_builder("image").qos(DataWriterQos::default()).build().unwrap();
    let reader: DataReader<Image> = participant.reader_builder("image").qos(request()).build().unwrap();
    for camera in 0..20 {
        writer.write(&Image { camera, pixels: vec![0; 4 << 20] }).unwrap();
        drop(reader.take().unwrap());
    }
    let handle = writer.lookup_instance(&19).unwrap();
    assert_eq!(writer.key_value(handle), None, "as was to be tried");
    assert_eq!(writer.dispose_all().unwrap(), 20);
    let samples = reader.take().unwrap();
    assert_eq!(samples.len(), 20);
    assert!(samples.iter().all(|sample| sample.info().instance_state == InstanceState::NotAliveDisposed));
}

/// The last byte of STATUS_INFO in sent changes: 1 disposed, 2 unregistered, 3 both.
#[test]
fn autodispose_unregister_sends_status_3() {
    for (autodispose, expected) in [(true, 3), (false, 2)] {
        let simulation = Simulation::new(3);
        let from = simulation.participant("robot", 0).unwrap();
        let to = simulation.participant("station", 0).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        simulation.intercept(move |passing| {
            let parameter = passing.bytes.windows(8).find(|bytes| bytes[..4] == [0x71, 0, 4, 0]);
            noted.lock().unwrap().extend(parameter.map(|bytes| bytes[4..].to_vec()));
            true
        });
        let lifecycle = if autodispose { WriterDataLifecycle::DISPOSE } else { WriterDataLifecycle::KEEP };
        let qos = DataWriterQos::default().writer_data_lifecycle(lifecycle);
        let writer = from.writer_builder::<Pose>("pose").qos(qos).build().unwrap();
        let _reader = to.reader_builder::<Pose>("pose").qos(request()).build().unwrap();
        simulation.run_for(Duration::from_secs(2));
        let status_of = |end: &dyn Fn()| {
            writer.write(&Pose { robot: 1, x: 1 }).unwrap();
            simulation.run_for(SOON);
            seen.lock().unwrap().clear();
            end();
            simulation.run_for(SOON);
            std::mem::take(&mut *seen.lock().unwrap())
        };
        assert_eq!(status_of(&|| writer.unregister_instance(&1).unwrap()), [[0, 0, 0, expected]]);
        assert_eq!(status_of(&|| writer.dispose(&1).unwrap()), [[0, 0, 0, 1]]);
        assert_eq!(status_of(&|| assert_eq!(writer.dispose_all().unwrap(), 1)), [[0, 0, 0, 1]]);
    }
}
