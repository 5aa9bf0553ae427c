//! Samples from write to take: in process, and by UDP within and between participants.

use crate::support::{PATIENCE, World};
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos, Durability, Preset};
use dds_core::reader::States;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, InstanceState};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    count: u64,
    name: String,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Image {
    count: u64,
    pixels: Vec<u8>,
}

fn pose(robot: u32, count: u64) -> Pose {
    Pose { robot, count, name: format!("robot {robot}") }
}

/// Runs `body` once for each path that a sample can take.
fn on_every_way(body: impl Fn(&str, &DomainParticipant, &DomainParticipant)) {
    let world = World::new();
    let one = world.participant();
    body("within the process", &one, &one);
    let world = World::new();
    let one = world.udp_participant();
    body("by UDP within the participant", &one, &one);
    let world = World::new();
    body("by UDP between participants", &world.udp_participant(), &world.udp_participant());
}

fn pair<T: DdsType + 'static>(
    from: &DomainParticipant,
    to: &DomainParticipant,
    writer_qos: DataWriterQos,
    reader_qos: DataReaderQos,
) -> (DataWriter<T>, DataReader<T>) {
    let reader = to.reader_builder::<T>("topic").qos(reader_qos).build().unwrap();
    let writer = from.writer_builder::<T>("topic").qos(writer_qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

fn event() -> (DataWriterQos, DataReaderQos) {
    (Preset::Event.writer(), Preset::Event.reader())
}

#[test]
fn reliable_samples_arrive_complete_and_in_order() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let (writer, reader) = pair::<Pose>(from, to, writer_qos, reader_qos);
        for count in 0..500 {
            writer.write(&pose(count as u32 % 3, count)).unwrap();
        }
        for count in 0..500 {
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!(sample.data, Some(pose(count as u32 % 3, count)), "{way}");
            assert_eq!(sample.info.sequence_number.0, count as i64 + 1, "{way}");
        }
        writer.acknowledged().block_for(PATIENCE).unwrap();
    });
}

#[test]
fn samples_larger_than_datagram_arrive_complete() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let (writer, reader) = pair::<Image>(from, to, writer_qos, reader_qos);
        for (count, len) in [1, 1_300, 1_500, 64_990, 65_010, 100_000, 1_000_000].into_iter().enumerate() {
            let image = Image { count: count as u64, pixels: (0..len).map(|at| (at * 7 % 251) as u8).collect() };
            writer.write(&image).unwrap();
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert!(sample.data == Some(image), "{way}: {len} bytes");
        }
    });
}

#[test]
fn take_after_write_returns_sample() {
    let world = World::new();
    let participant = world.participant();
    let (writer, reader) =
        pair::<Pose>(&participant, &participant, Preset::SensorData.writer(), Preset::SensorData.reader());
    for count in 0..100 {
        writer.write(&pose(1, count)).unwrap();
        assert_eq!(reader.read_next().unwrap().and_then(|sample| sample.data), Some(pose(1, count)));
        assert!(reader.read_next().unwrap().is_none(), "a read sample is not the next one");
        assert!(!reader.select().states(States::READ).read().unwrap().is_empty(), "but stays");
        writer.write(&pose(1, count)).unwrap();
        assert_eq!(reader.take_next().unwrap().and_then(|sample| sample.data), Some(pose(1, count)));
    }
}

/// The two encodings align the key differently and so produce different key hashes.
#[derive(DdsType, Debug, Clone, PartialEq)]
struct Track {
    #[dds(key)]
    kind: u8,
    #[dds(key)]
    number: u64,
}

#[test]
fn instance_is_shared_across_encodings() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let in_xcdr1 = writer_qos.clone().representation([DataRepresentation::Xcdr1]);
        let in_xcdr2 = writer_qos.representation([DataRepresentation::Xcdr2]);
        let (one, reader) = pair::<Track>(from, to, in_xcdr1, reader_qos);
        let other = from.writer_builder::<Track>("topic").qos(in_xcdr2).build().unwrap();
        other.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(2).block_for(PATIENCE).unwrap();
        let track = Track { kind: 1, number: 2 };
        let next = || {
            let info = reader.next_sample().block_for(PATIENCE).unwrap().info;
            (info.instance_handle, info.instance_state)
        };
        let mut seen = Vec::new();
        for writer in [&one, &other] {
            writer.write(&track).unwrap();
            seen.push(next());
            writer.dispose(&(track.kind, track.number)).unwrap();
            seen.push(next());
        }
        let (alive, disposed) = ((seen[0].0, InstanceState::Alive), (seen[0].0, InstanceState::NotAliveDisposed));
        assert_eq!(seen, [alive, disposed, alive, disposed], "{way}");
    });
}

#[test]
fn keep_last_keeps_newest_of_each_instance() {
    on_every_way(|way, from, to| {
        let qos = DataReaderQos::default().reliable().keep_last(2);
        let (writer, reader) = pair::<Pose>(from, to, Preset::Event.writer(), qos);
        for count in 0..10 {
            writer.write(&pose(1, count)).unwrap();
            writer.write(&pose(2, count)).unwrap();
        }
        writer.acknowledged().block_for(PATIENCE).unwrap();
        let mut kept: Vec<_> = reader.take().unwrap().into_data().map(|pose| (pose.robot, pose.count)).collect();
        kept.sort_unstable();
        assert_eq!(kept, [(1, 8), (1, 9), (2, 8), (2, 9)], "{way}");
    });
}

#[test]
fn late_joiner_gets_transient_local_history_only() {
    on_every_way(|way, from, to| {
        let keep_all = DataWriterQos::default().keep_all();
        let latched = from
            .writer_builder::<Pose>("latched")
            .qos(keep_all.clone().durability(Durability::TransientLocal))
            .build()
            .unwrap();
        let fleeting = from.writer_builder::<Pose>("fleeting").qos(keep_all).build().unwrap();
        for count in 0..3 {
            latched.write(&pose(1, count)).unwrap();
            fleeting.write(&pose(1, count)).unwrap();
        }
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = to
            .reader_builder::<Pose>("latched")
            .qos(qos.clone().durability(Durability::TransientLocal))
            .build()
            .unwrap();
        let volatile = to.reader_builder::<Pose>("fleeting").qos(qos).build().unwrap();
        fleeting.wait_for_readers(1).block_for(PATIENCE).unwrap();
        volatile.wait_for_writers(1).block_for(PATIENCE).unwrap();
        latched.write(&pose(1, 3)).unwrap();
        fleeting.write(&pose(1, 3)).unwrap();
        for count in 0..4 {
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!(sample.data, Some(pose(1, count)), "{way}");
        }
        let sample = volatile.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data, Some(pose(1, 3)), "{way}");
    });
}

#[test]
fn dispose_and_unregister_change_instance_state() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let mut qos = writer_qos;
        qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
        let (writer, reader) = pair::<Pose>(from, to, qos, reader_qos);
        writer.write(&pose(1, 0)).unwrap();
        writer.write(&pose(2, 0)).unwrap();
        writer.dispose(&1).unwrap();
        writer.unregister_instance(&2).unwrap();
        writer.acknowledged().block_for(PATIENCE).unwrap();
        let mut states = Vec::new();
        for sample in &reader.select().states(States::NOT_ALIVE).take().unwrap() {
            // An unread value shows the new instance state, so no extra sample without data is needed.
            assert!(sample.has_data(), "{way}");
            let key = reader.key_value(sample.info().instance_handle);
            states.push((key, sample.info().instance_state));
        }
        states.sort_unstable_by_key(|(key, _)| *key);
        let expected = [(Some(1), InstanceState::NotAliveDisposed), (Some(2), InstanceState::NotAliveNoWriters)];
        assert_eq!(states, expected, "{way}");
    });
}

#[test]
fn lost_writer_leaves_instances_without_writers() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let (writer, reader) = pair::<Pose>(from, to, writer_qos, reader_qos);
        writer.write(&pose(1, 0)).unwrap();
        let first = reader.next_sample().block_for(PATIENCE).unwrap();
        assert!(first.info.valid_data, "{way}");
        drop(writer);
        let last = reader.next_sample().block_for(PATIENCE).unwrap();
        assert!(!last.info.valid_data, "{way}");
        assert_eq!(last.info.instance_state, InstanceState::NotAliveNoWriters, "{way}");
    });
}

#[test]
fn samples_of_dropped_writer_still_arrive() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let (writer, reader) = pair::<Image>(from, to, writer_qos, reader_qos);
        for count in 0..20 {
            writer.write(&Image { count, pixels: vec![1; 100_000] }).unwrap();
        }
        drop(writer);
        for count in 0..20 {
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert_eq!(sample.data.map(|image| image.count), Some(count), "{way}");
        }
    });
}

#[test]
fn each_reader_gets_each_sample() {
    on_every_way(|way, from, to| {
        let (writer_qos, reader_qos) = event();
        let (writer, first) = pair::<Pose>(from, to, writer_qos, reader_qos.clone());
        let second = to.reader_builder::<Pose>("topic").qos(reader_qos).build().unwrap();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        second.wait_for_writers(1).block_for(PATIENCE).unwrap();
        writer.write(&pose(1, 7)).unwrap();
        for reader in [&first, &second] {
            assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(pose(1, 7)), "{way}");
        }
    });
}

#[test]
fn concurrent_writes_have_one_order() {
    let world = World::new();
    let participant = world.participant();
    let (writer_qos, reader_qos) = event();
    let (writer, first) = pair::<Pose>(&participant, &participant, writer_qos, reader_qos.clone());
    let second = participant.reader_builder::<Pose>("topic").qos(reader_qos).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || (0..1000).for_each(|count| writer.write(&pose(thread, count)).unwrap()));
        }
    });
    let orders = [&first, &second].map(|reader| {
        let samples: Vec<_> = (0..4000).map(|_| reader.next_sample().block_for(PATIENCE).unwrap()).collect();
        assert!(samples.windows(2).all(|two| two[0].info.sequence_number < two[1].info.sequence_number));
        assert!(samples.windows(2).all(|two| two[0].info.source_timestamp <= two[1].info.source_timestamp));
        samples.into_iter().map(|sample| sample.data).collect::<Vec<_>>()
    });
    assert!(orders[0] == orders[1]);
}
