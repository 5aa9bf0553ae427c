//! A node as libraries build it: entities of any type, a cache that a listener fills, and any order of drops.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::condition::WaitSet;
use dds_core::error::{ReadErrorKind, WriteErrorKind};
use dds_core::qos::Preset;
use dds_core::status::{Events, ReaderEvent};
use dds_core::{DataReader, DataWriter, DomainParticipant, Entity, Publisher, Result, Samples, Subscriber, Topic};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};

struct Node {
    entities: Vec<Box<dyn Entity>>,
    poses: Arc<Mutex<BTreeMap<u32, f64>>>,
}

impl Node {
    fn new(participant: &DomainParticipant, changed: mpsc::Sender<usize>) -> Result<Self> {
        let poses = Arc::new(Mutex::new(BTreeMap::new()));
        let cache = Arc::clone(&poses);
        let reader = participant.reader_builder::<Pose>("pose").qos(Preset::State).on_sample(move |sample| {
            let mut cache = cache.lock().unwrap();
            if let Some(pose) = sample.data {
                cache.insert(pose.robot, pose.x);
            }
            let _ = changed.send(cache.len());
        });
        let writer = participant.writer::<Pose>("echo")?;
        Ok(Self { entities: vec![Box::new(reader.build()?), Box::new(writer)], poses })
    }
}

#[test]
fn node_with_untyped_entities_keeps_cache() {
    let participant = World::new().participant();
    let (tell, changed) = mpsc::channel();
    let node = Node::new(&participant, tell).unwrap();
    let writer = participant.writer_builder::<Pose>("pose").qos(Preset::State).build().unwrap();
    for (robot, x) in [(1, 1.0), (2, 2.0), (1, 3.0)] {
        writer.write(&pose(robot, x)).unwrap();
    }
    while changed.recv_timeout(PATIENCE.to_std().unwrap()).unwrap() < 2 {}
    assert!(node.poses.lock().unwrap().contains_key(&2));
    assert!(node.entities.iter().all(|entity| participant.contains_entity(entity.instance_handle())));
    // The participant closes first, and its entities report it.
    participant.close();
    drop(participant);
    assert!(node.entities.iter().all(|entity| entity.is_closed()));
}

#[test]
fn drop_order_is_free_and_closed_is_reported() {
    let world = World::new();
    let (writer, reader) = {
        let participant = world.participant();
        (participant.writer::<Pose>("pose").unwrap(), participant.reader::<Pose>("pose").unwrap())
    };
    writer.write(&pose(1, 1.0)).unwrap();
    assert_eq!(reader.take_next().unwrap().unwrap().data, Some(pose(1, 1.0)));
    let (again, batch) = (reader.clone(), reader.read().unwrap());
    reader.close();
    assert_eq!(again.take().unwrap_err().kind(), &ReadErrorKind::Closed);
    writer.close();
    assert_eq!(writer.write(&pose(1, 1.0)).unwrap_err().kind(), &WriteErrorKind::Closed);
    drop((writer, reader, again));
    drop(batch);
}

#[test]
fn handles_are_send_and_sync() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    fn sent<T: Send>() {}
    shared::<DomainParticipant>();
    shared::<DataReader<*const u8>>();
    shared::<DataWriter<*const u8>>();
    shared::<Topic<*const u8>>();
    shared::<Publisher>();
    shared::<Subscriber>();
    sent::<WaitSet>();
    sent::<Samples<*const u8>>();
    sent::<Events<ReaderEvent>>();
    sent::<dds_core::Waiting<'static, Pose>>();
    sent::<dds_core::Error>();
}
