//! Threads and tasks share one writer and one reader under back-pressure. No sample is lost, and each goes to one
//! receiver.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::DataWriter;
use dds_core::error::WriteErrorKind;
use dds_core::qos::{Preset, Reliability, ResourceLimits};
use std::sync::mpsc;

const WRITERS: u32 = 4;
const EACH: u32 = 50;

#[test]
fn threads_and_tasks_share_small_endpoints() {
    let participant = World::new().participant();
    let room = ResourceLimits::NONE.max_samples(8);
    let patient = Reliability::Reliable { max_blocking_time: PATIENCE };
    let reader = participant.reader_builder::<Pose>("pose").qos(Preset::Event.reader().resource_limits(room));
    let reader = reader.build().unwrap();
    let writer = Preset::Event.writer().resource_limits(room).reliability(patient);
    let writer = participant.writer_builder::<Pose>("pose").qos(writer).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();

    let (tell, told) = mpsc::channel();
    let mut taken: Vec<u32> = std::thread::scope(|scope| {
        for _ in 0..2 {
            let (reader, tell) = (reader.clone(), tell.clone());
            // Each thread ends when the reader closes.
            scope.spawn(move || reader.iter().for_each(|pose| tell.send(pose.robot).unwrap()));
        }
        for number in 0..WRITERS {
            let writer = writer.clone();
            scope.spawn(move || write(&writer, number));
        }
        let patience = PATIENCE.to_std().unwrap();
        let taken = (0..WRITERS * EACH).map(|_| told.recv_timeout(patience).unwrap()).collect();
        reader.close();
        taken
    });
    taken.sort_unstable();
    assert_eq!(taken, (0..WRITERS * EACH).collect::<Vec<_>>(), "each once");
}

/// Half of the writers are threads, half are tasks.
fn write(writer: &DataWriter<Pose>, number: u32) {
    let poses = (0..EACH).map(|count| pose(number * EACH + count, 0.0));
    if number % 2 == 0 {
        poses.for_each(|pose| writer.write(&pose).unwrap());
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for pose in poses {
            writer.write_async(&pose).await.unwrap();
        }
    });
}

#[test]
fn try_write_reports_full_writer() {
    let participant = World::new().participant();
    let room = ResourceLimits::NONE.max_samples(1);
    let _reader = participant.reader_builder::<Pose>("pose").qos(Preset::Event.reader().resource_limits(room)).build();
    let writer = Preset::Event.writer().resource_limits(room);
    let writer = participant.writer_builder::<Pose>("pose").qos(writer).build().unwrap();
    let refused = (0..10).find_map(|robot| writer.try_write(&pose(robot, 0.0)).err()).unwrap();
    assert!(matches!(refused.kind(), WriteErrorKind::Full { .. }), "{refused}");
}
