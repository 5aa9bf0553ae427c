//! Instances on both sides: registration, lookup, end, limits, and the parameters of a write.

use crate::support::{PATIENCE, World};
use dds_core::error::{ReturnCode, WriteError, WriteErrorKind};
use dds_core::qos::{DataReaderQos, DataWriterQos, Preset, ResourceLimits};
use dds_core::reader::States;
use dds_core::writer::{SampleIdentity, SequenceNumber, WriteOptions};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, InstanceHandle, InstanceState, Time};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

/// The key is longer than 16 bytes, so its hash is an MD5.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(extensibility = "appendable")]
struct Part {
    weight: f32,
    #[dds(key)]
    plant: String,
    #[dds(key)]
    number: u64,
    image: Vec<u8>,
}

fn pose(robot: u32, x: f64) -> Pose {
    Pose { robot, x }
}

fn on_every_way(body: impl Fn(&str, &DomainParticipant, &DomainParticipant)) {
    let one = World::new().participant();
    body("in one participant", &one, &one);
    let world = World::new();
    body("by UDP", &world.udp_participant(), &world.udp_participant());
}

fn pair(from: &DomainParticipant, to: &DomainParticipant, qos: DataWriterQos) -> (DataWriter<Pose>, DataReader<Pose>) {
    let reader = to.reader_builder("pose").qos(Preset::Event).build().unwrap();
    let writer = from.writer_builder("pose").qos(qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

fn event() -> DataWriterQos {
    Preset::Event.writer()
}

#[test]
fn instance_is_known_until_unregistered() {
    for qos in [event(), Preset::SensorData.writer(), Preset::State.writer()] {
        on_every_way(|way, from, to| {
            let reader_qos = DataReaderQos::default().best_effort().keep_all();
            let reader = to.reader_builder::<Pose>("pose").qos(reader_qos).build().unwrap();
            let writer = from.writer_builder::<Pose>("pose").qos(qos.clone()).build().unwrap();
            writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
            reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
            assert_eq!(writer.lookup_instance(&7), None, "{way}");
            let seven = writer.register_instance(&7).unwrap();
            assert_eq!(writer.register_instance(&7), Ok(seven), "{way}");
            assert_eq!((writer.lookup_instance(&7), writer.key_value(seven)), (Some(seven), Some(7)), "{way}");
            assert_eq!(reader.lookup_instance(&7), None, "{way}: registering sends nothing");
            writer.write(&pose(8, 0.0)).unwrap();
            let eight = writer.lookup_instance(&8).unwrap();
            assert_eq!(writer.key_value(eight), Some(8), "{way}");
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!(sample.info.instance_handle, eight, "{way}");
            assert_eq!((reader.lookup_instance(&8), reader.key_value(eight)), (Some(eight), Some(8)), "{way}");
            writer.dispose(&8).unwrap();
            assert_eq!(writer.lookup_instance(&8), Some(eight), "{way}: a disposed instance stays registered");
            for key in [7, 8] {
                writer.unregister_instance(&key).unwrap();
                assert_eq!(writer.lookup_instance(&key), None, "{way}");
                let error = writer.unregister_instance(&key).unwrap_err();
                assert_eq!(error.kind(), &WriteErrorKind::UnknownInstance, "{way}");
            }
            assert_eq!((writer.key_value(seven), writer.key_value(eight)), (None, None), "{way}");
            writer.close();
            assert_eq!(writer.register_instance(&7).unwrap_err().kind(), &WriteErrorKind::Closed);
            assert_eq!((writer.lookup_instance(&7), writer.key_value(seven)), (None, None));
        });
    }
}

#[test]
fn long_keys_survive_all_lookups() {
    on_every_way(|way, from, to| {
        let reader = to.reader_builder::<Part>("part").qos(Preset::Event).build().unwrap();
        let writer = from.writer_builder::<Part>("part").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let key = |number| ("an unusually long name of a plant".to_owned(), number);
        let (plant, number) = key(1);
        writer.write(&Part { weight: 1.5, plant, number, image: vec![1; 5000] }).unwrap();
        let registered = writer.register_instance(&key(2)).unwrap();
        writer.dispose(&key(3)).unwrap();
        for number in 1..=3 {
            let instance = writer.lookup_instance(&key(number)).unwrap();
            assert_eq!(writer.key_value(instance), Some(key(number)), "{way}");
        }
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        let instance = sample.info.instance_handle;
        assert_eq!(reader.lookup_instance(&key(1)), Some(instance), "{way}");
        assert_eq!(reader.key_value(instance), Some(key(1)), "{way}");
        assert_eq!((reader.lookup_instance(&key(2)), reader.key_value(registered)), (None, None), "{way}");
    });
}

#[test]
fn handle_must_match_key_and_be_registered() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant, event());
    let [one, two] = [1, 2].map(|robot| writer.register_instance(&robot).unwrap());
    let by = |instance| WriteOptions::new().instance(instance);
    let kind = |result: Result<(), WriteError>| {
        let error = result.unwrap_err();
        assert_eq!(error.return_code(), ReturnCode::PreconditionNotMet);
        error.kind().clone()
    };
    writer.write_with(&pose(1, 0.5), by(one)).unwrap();
    writer.write_with(&pose(1, 1.0), by(InstanceHandle::NIL)).unwrap();
    assert_eq!(kind(writer.write_with(&pose(1, 1.5), by(two))), WriteErrorKind::OtherInstance { given: two });
    assert_eq!(kind(writer.dispose_with(&1, by(two))), WriteErrorKind::OtherInstance { given: two });
    writer.unregister_with(&1, by(one)).unwrap();
    assert_eq!(kind(writer.write_with(&pose(1, 2.0), by(one))), WriteErrorKind::UnknownInstance);
    assert_eq!(kind(writer.dispose_with(&1, by(one))), WriteErrorKind::UnknownInstance);
    assert_eq!(kind(writer.unregister_with(&1, by(one))), WriteErrorKind::UnknownInstance);
    writer.write(&pose(1, 2.5)).unwrap();
    let seen: Vec<_> = reader.take().unwrap().into_iter().map(|sample| sample.data.map(|pose| pose.x)).collect();
    assert_eq!(seen, [Some(0.5), Some(1.0), Some(2.5)]);
}

#[test]
fn registered_instances_count_against_limit() {
    let participant = World::new().participant();
    let limits = ResourceLimits::NONE.max_instances(2);
    let (writer, _reader) = pair(&participant, &participant, event().resource_limits(limits));
    let full = WriteErrorKind::OutOfResources { limit: "max_instances", value: 2 };
    writer.register_instance(&1).unwrap();
    writer.write(&pose(2, 0.0)).unwrap();
    assert_eq!(writer.register_instance(&3).unwrap_err().kind(), &full);
    assert_eq!(writer.write(&pose(3, 0.0)).unwrap_err().kind(), &full);
    writer.register_instance(&2).unwrap();
    writer.unregister_instance(&1).unwrap();
    writer.acknowledged().block_for(PATIENCE).unwrap();
    writer.register_instance(&3).unwrap();
    assert_eq!(writer.register_instance(&1).unwrap_err().kind(), &full);
}

#[test]
fn unregister_disposes_if_qos_says_so() {
    for (autodispose, expected) in [(true, InstanceState::NotAliveDisposed), (false, InstanceState::NotAliveNoWriters)]
    {
        on_every_way(|way, from, to| {
            let mut qos = event();
            qos.writer_data_lifecycle.autodispose_unregistered_instances = autodispose;
            let (writer, reader) = pair(from, to, qos);
            writer.write(&pose(1, 0.0)).unwrap();
            writer.write(&pose(2, 0.0)).unwrap();
            reader.iter().take(2).for_each(drop);
            writer.unregister_instance(&1).unwrap();
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!((sample.data, sample.info.instance_state), (None, expected), "{way}");
            assert_eq!(reader.key_value(sample.info.instance_handle), Some(1), "{way}");
            assert_eq!(reader.select().states(States::ALIVE).take().unwrap().len(), 0, "{way}");
        });
    }
}

#[test]
fn write_carries_time_and_related_sample() {
    on_every_way(|way, from, to| {
        let (writer, reader) = pair(from, to, event());
        let request = SampleIdentity { writer: reader.guid(), sequence_number: SequenceNumber(0x2_0000_0007) };
        let at = Time::from_unix_nanos(1_700_000_000_000_000_000);
        let options = WriteOptions::new().source_timestamp(at).related_sample(request);
        let written = writer.write_identified(&pose(1, 0.0), options).unwrap();
        writer.write(&pose(1, 1.0)).unwrap();
        let next = || reader.next_sample().block_for(PATIENCE).unwrap().info;
        let (reply, plain) = (next(), next());
        assert_eq!(reply.sample_identity(), written, "{way}");
        assert_eq!(written, SampleIdentity { writer: writer.guid(), sequence_number: SequenceNumber(1) }, "{way}");
        writer.dispose_with(&1, options).unwrap();
        let dispose = next();
        writer.write(&pose(1, 2.0)).unwrap();
        assert!(next().valid_data, "{way}");
        writer.unregister_with(&1, WriteOptions::new().source_timestamp(at)).unwrap();
        let unregister = next();
        assert_eq!((unregister.valid_data, writer.lookup_instance(&1)), (false, None), "{way}");
        // The wire counts fractions of 2^-32 s.
        let delta = |info: &dds_core::SampleInfo| (info.source_timestamp.as_unix_nanos() - at.as_unix_nanos()).abs();
        assert_eq!(reply.related_sample, Some(request), "{way}");
        assert!(delta(&reply) <= 1 && delta(&dispose) <= 1 && delta(&unregister) <= 1 && delta(&plain) > 1, "{way}");
        assert_eq!(plain.related_sample, None, "{way}");
        assert_eq!((dispose.related_sample, dispose.valid_data), (Some(request), false), "{way}");
    });
}

#[test]
fn next_instance_visits_every_instance_once() {
    let participant = World::new().participant();
    let (writer, reader) = pair(&participant, &participant, event());
    for count in 0..20 {
        writer.write(&pose(count % 5, f64::from(count))).unwrap();
    }
    let (mut at, mut met) = (InstanceHandle::NIL, Vec::new());
    loop {
        let samples = reader.select().next_instance(at).take().unwrap();
        let Some(first) = samples.iter().next() else { break };
        at = first.info().instance_handle;
        met.push((reader.key_value(at).unwrap(), samples.len()));
    }
    met.sort_unstable();
    assert_eq!(met, [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]);
}

#[derive(DdsType)]
struct Map {
    #[dds(key)]
    robot: u32,
    cells: Vec<u8>,
}

/// In a fragmented sample, the related request stands in each fragment or in the first one alone.
#[test]
fn reply_of_any_length_names_its_request() {
    on_every_way(|way, from, to| {
        let writer = from.writer_builder::<Map>("map").qos(event()).build().unwrap();
        let reader = to.reader_builder::<Map>("map").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let request = SampleIdentity { writer: reader.guid(), sequence_number: SequenceNumber(9) };
        for len in [0, 1_000, 10_000, 1_000_000] {
            let options = WriteOptions::new().related_sample(request);
            writer.write_with(&Map { robot: 1, cells: vec![1; len] }, options).unwrap();
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!(sample.data.map(|map| map.cells.len()), Some(len), "{way}");
            assert_eq!(sample.info.related_sample, Some(request), "{way} {len}");
        }
    });
}
