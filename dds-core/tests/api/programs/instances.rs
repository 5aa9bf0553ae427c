//! Instances: registered, written by handle and with a timestamp, disposed by key, and visited; a key of two members.

use super::{Pose, pose};
use crate::support::World;
use dds_core::qos::Preset;
use dds_core::writer::WriteOptions;
use dds_core::{DdsType, InstanceHandle, InstanceState, Time};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Joint {
    #[dds(key)]
    arm: String,
    #[dds(key)]
    number: u8,
    angle: f32,
}

#[test]
fn instances_end_by_key_after_write_by_handle() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();
    let handle = writer.register_instance(&7).unwrap();
    let moment = Time::from_unix_nanos(1_700_000_000_000_000_000);
    let options = WriteOptions::new().instance(handle).source_timestamp(moment);
    writer.write_with(&pose(7, 1.0), options).unwrap();
    let sample = reader.take_next().unwrap().unwrap();
    assert_eq!((sample.info.source_timestamp, sample.info.instance_handle), (moment, handle));
    assert_eq!((writer.lookup_instance(&7), writer.key_value(handle)), (Some(handle), Some(7)));
    assert_eq!((reader.lookup_instance(&7), reader.key_value(handle)), (Some(handle), Some(7)));
    assert_eq!(writer.lookup_instance(&8), None);
    writer.dispose(&7).unwrap();
    let sample = reader.take_next().unwrap().unwrap();
    assert_eq!((sample.data, sample.info.instance_state), (None, InstanceState::NotAliveDisposed));
}

#[test]
fn instances_of_two_member_key_are_all_visited() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Joint>("joint").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Joint>("joint").qos(Preset::Event).build().unwrap();
    for (arm, number) in [("left", 1), ("left", 2), ("right", 1)] {
        for angle in [0.5, 1.5] {
            writer.write(&Joint { arm: arm.to_owned(), number, angle }).unwrap();
        }
    }
    writer.dispose(&("left".to_owned(), 2)).unwrap();
    let (mut walked, mut last) = (Vec::new(), InstanceHandle::NIL);
    loop {
        let batch = reader.select().next_instance(last).take().unwrap();
        let Some(first) = batch.iter().next() else { break };
        last = first.info().instance_handle;
        assert!(batch.iter().all(|sample| sample.info().instance_handle == last));
        let disposed = first.info().instance_state == InstanceState::NotAliveDisposed;
        walked.push((reader.key_value(last).unwrap(), batch.into_data().count(), disposed));
    }
    walked.sort();
    let key = |arm: &str, number| (arm.to_owned(), number);
    assert_eq!(walked, [(key("left", 1), 2, false), (key("left", 2), 2, true), (key("right", 1), 2, false)]);
}
