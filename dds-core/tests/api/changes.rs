//! Changes of instances, streams with `next`, views that report errors, and methods of entities without a trait.

use crate::support::{PATIENCE, World};
use dds_core::cdr::{Encoded, Encoding, Raw};
use dds_core::qos::Preset;
use dds_core::status::ReaderEvent;
use dds_core::{Change, DataReader, DataWriter, DdsType, DomainParticipant};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

/// The key has two members.
#[derive(DdsType, Debug, Clone, PartialEq)]
struct Part {
    #[dds(key)]
    plant: String,
    #[dds(key)]
    number: u64,
    weight: f32,
}

/// A type without a key: the reader keeps its samples without decoding any part of them.
#[derive(DdsType)]
struct Log {
    text: String,
}

#[derive(DdsType, Debug)]
#[dds(view_of = Log)]
struct LogView<'a> {
    text: &'a str,
}

fn pair<T: DdsType + 'static>(from: &DomainParticipant, to: &DomainParticipant) -> (DataWriter<T>, DataReader<T>) {
    let reader = to.reader_builder("changes").qos(Preset::Event).build().unwrap();
    let writer = from.writer_builder("changes").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (writer, reader)
}

fn pose(robot: u32, x: f64) -> Pose {
    Pose { robot, x }
}

fn part(number: u64) -> Part {
    Part { plant: "an unusually long name of a plant".to_owned(), number, weight: 1.5 }
}

#[test]
fn end_follows_last_value_of_instance() {
    let participant = World::new().participant();
    let (writer, reader) = pair::<Pose>(&participant, &participant);
    for change in [pose(1, 0.5), pose(2, 1.0), pose(1, 1.5)] {
        writer.write(&change).unwrap();
    }
    writer.dispose(&1).unwrap();
    let changes: Vec<_> = reader.take().unwrap().into_changes().collect();
    let data = Change::Data;
    // A batch has one instance after the other (DDS 1.4, 2.2.3.6).
    assert_eq!(changes, [data(pose(1, 0.5)), data(pose(1, 1.5)), Change::Disposed(1), data(pose(2, 1.0))]);
    // No value is unread, so the end arrives alone.
    writer.close();
    let ends: Vec<_> = reader.take().unwrap().into_changes().collect();
    assert_eq!(ends, [Change::NoWriters(2)]);
    assert_eq!(ends.into_iter().map(Change::into_key).collect::<Vec<_>>(), [2]);
}

#[test]
fn end_has_long_key_of_several_members() {
    let world = World::new();
    let (writer, reader) = pair::<Part>(&world.udp_participant(), &world.udp_participant());
    writer.write(&part(1)).unwrap();
    reader.readable().block_for(PATIENCE).unwrap();
    let first = reader.take().unwrap();
    let key = (part(1).plant, 1);
    assert_eq!(first.iter().next().unwrap().key(), Some(key.clone()));
    assert_eq!(first.into_changes().collect::<Vec<_>>(), [Change::Data(part(1))]);
    writer.dispose(&key).unwrap();
    reader.readable().block_for(PATIENCE).unwrap();
    let end = reader.take().unwrap();
    assert_eq!(end.iter().next().unwrap().key(), Some(key.clone()));
    assert_eq!(end.into_changes().collect::<Vec<_>>(), [Change::Disposed(key)]);
}

#[test]
fn stream_of_changes_loses_nothing_and_ends() {
    let participant = World::new().participant();
    let (writer, reader) = pair::<Pose>(&participant, &participant);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut changes = reader.change_stream();
        // A dropped wait loses nothing.
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(changes.next()).poll(&mut context), Poll::Pending);
        writer.write(&pose(1, 0.5)).unwrap();
        writer.dispose(&1).unwrap();
        assert_eq!(changes.next().await, Some(Change::Data(pose(1, 0.5))));
        writer.write(&pose(2, 1.0)).unwrap();
        assert_eq!(changes.next().await, Some(Change::Disposed(1)));
        assert_eq!(changes.next().await.and_then(Change::into_data), Some(pose(2, 1.0)));
        reader.close();
        assert_eq!(changes.next().await, None);
    });
}

#[test]
fn streams_have_next_without_another_crate() {
    let participant = World::new().participant();
    let (writer, reader) = pair::<Pose>(&participant, &participant);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut values, mut events) = (reader.stream(), reader.events());
        writer.write(&pose(1, 0.5)).unwrap();
        assert_eq!(values.next().await, Some(pose(1, 0.5)));
        assert!(matches!(events.next().await, Some(ReaderEvent::Matched(status)) if status.current_count == 1));
        let mut samples = reader.sample_stream();
        writer.write(&pose(1, 1.5)).unwrap();
        assert_eq!(samples.next().await.and_then(|sample| sample.data), Some(pose(1, 1.5)));
        reader.close();
        reader.closed().await.unwrap();
        assert!(values.next().await.is_none() && samples.next().await.is_none() && events.next().await.is_none());
    });
}

#[test]
fn views_report_samples_that_do_not_decode() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let reader = to.reader_builder::<Log>("changes").qos(Preset::Event).build().unwrap();
    let topic = from.raw_topic("changes", "Log", Default::default()).unwrap();
    let writer = from.writer_builder::<Raw>(&topic).qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    // The first text claims 100 bytes.
    for len in [100, 3] {
        let bytes = vec![0, 1, 0, 0, len, 0, 0, 0, b'a', b'b', 0, 0];
        writer.write_encoded(Raw { encoding: Encoding::Xcdr1, bytes }.as_encoded()).unwrap();
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    let samples = reader.take().unwrap();
    let views: Vec<_> = samples.views::<LogView<'_>>().map(|view| view.map(|log| log.text)).collect();
    assert!(matches!(&views[..], [Err(_), Ok("ab")]), "{views:?}");
}

/// A type whose second member may not decode, after its key.
#[derive(DdsType, Debug, PartialEq)]
struct Named {
    #[dds(key)]
    robot: u32,
    name: String,
}

#[test]
fn end_of_instance_survives_undecodable_value() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Named>("changes").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Named>("changes").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    // The name claims 100 bytes.
    let bytes = [0, 1, 0, 0, 7, 0, 0, 0, 100, 0, 0, 0, b'a', 0, 0, 0];
    writer.write_encoded(Encoded { encoding: Encoding::Xcdr1, bytes: &bytes }).unwrap();
    writer.dispose(&7).unwrap();
    let changes: Vec<_> = reader.take().unwrap().into_changes().collect();
    assert_eq!(changes, [Change::Disposed(7)]);
    assert_eq!(reader.not_decodable(), 1);
}
