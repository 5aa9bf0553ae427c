//! Subscribers without a Rust type.
//!
//! One requests the type from a peer, prints the samples and answers. A raw subscriber decodes its samples once a peer
//! describes the type.

use super::{Log, Pose, log, pose};
use crate::support::{PATIENCE, World};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::qos::{Preset, TopicQos};

#[test]
fn topic_is_printed_and_answered_without_type() {
    let participant = World::new().participant();
    let writer = participant.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build().unwrap();
    let typed = participant.reader_builder::<Pose>("robot/pose").qos(Preset::Event).build().unwrap();

    let ty = participant.discover_type("robot/pose").block_for(PATIENCE).unwrap();
    assert_eq!(ty.to_string(), "@final\nstruct Pose {\n    @key uint32 robot;\n    double x;\n};");
    let topic = participant.dynamic_topic("robot/pose", &ty, TopicQos::default()).unwrap();
    let reader = participant.reader_builder(&topic).qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    writer.write(&pose(7, 1.5)).unwrap();
    let seen = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
    assert_eq!(seen.to_string(), "{robot: 7, x: 1.5}");
    let names: Vec<&str> = seen.as_ref().members().map(|(name, _)| name).collect();
    assert_eq!(names, ["robot", "x"]);

    let mut answer = seen;
    answer.set("x", answer.get::<f64>("x").unwrap() + 1.0).unwrap();
    let answering = participant.writer_builder(&topic).qos(Preset::Event).build().unwrap();
    answering.wait_for_readers(2).block_for(PATIENCE).unwrap();
    answering.write(&answer).unwrap();
    let received: Vec<Pose> = typed.take().unwrap().into_data().collect();
    assert_eq!(received, [pose(7, 1.5), pose(7, 2.5)]);
}

#[test]
fn type_is_learned_from_other_participant() {
    let world = World::new();
    let (robot, station) = (world.participant(), world.participant());
    let found = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| station.discover_type("log").block_for(PATIENCE).unwrap());
        let writer = robot.writer_builder::<Log>("log").qos(Preset::Event).build().unwrap();
        let ty = waiting.join().unwrap();
        let topic = station.dynamic_topic("log", &ty, TopicQos::default()).unwrap();
        let reader = station.reader_builder(&topic).qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        writer.write(&log("hello")).unwrap();
        reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap()
    });
    assert_eq!(found.get::<&str>("text"), Ok("hello"));
    assert_eq!(found.at("octets").unwrap().as_slice::<u8>(), Some(&b"hello"[..]));
}

#[test]
fn raw_samples_decode_once_type_is_known() {
    let participant = World::new().participant();
    let topic = participant.raw_topic("log", "Log", TopicQos::default()).unwrap();
    let reader = participant.reader_builder(&topic).qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Log>("log").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&log("hello")).unwrap();
    let raw = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
    let data = DynamicData::from_payload(&DynamicType::of::<Log>().unwrap(), &raw.bytes).unwrap();
    assert_eq!(data.get::<&str>("text"), Ok("hello"));
    assert_eq!(data.at("octets").unwrap().as_slice::<u8>(), Some(&b"hello"[..]));
}
