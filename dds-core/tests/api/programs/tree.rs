//! The full tree of entities, with one listener for all of it that recovers the type of a reader.

use super::{Log, Pose, log, pose};
use crate::support::{PATIENCE, World};
use dds_core::DataReader;
use dds_core::listener::{AnyEndpoint, PublisherListener, SubscriberListener, TopicListener};
use dds_core::qos::{Preset, PublisherQos, SubscriberQos, TopicQos};
use dds_core::status::{PeerStatus, StatusMask};
use std::sync::mpsc;

struct Monitor(mpsc::Sender<String>);

impl PublisherListener for Monitor {
    fn on_publication_matched(&mut self, writer: &dyn AnyEndpoint, status: PeerStatus) {
        let _ = self.0.send(format!("{} has {}", writer.topic_name(), status.current_count));
    }
}

impl SubscriberListener for Monitor {
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        let Some(reader) = reader.downcast_ref::<DataReader<Pose>>() else {
            let _ = self.0.send(format!("data of {}", reader.type_name()));
            return;
        };
        for pose in reader.take().unwrap().into_data() {
            let _ = self.0.send(format!("robot {}", pose.robot));
        }
    }
}

impl TopicListener for Monitor {}

#[test]
fn one_listener_serves_full_entity_tree() {
    let world = World::new();
    let participant = world.participant();
    let (tell, told) = mpsc::channel();
    participant.set_listener(StatusMask::MATCHED, Monitor(tell.clone())).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default().group_data([1])).unwrap();
    subscriber.set_listener(StatusMask::DATA_AVAILABLE, Monitor(tell)).unwrap();
    let publisher = participant.publisher(PublisherQos::default().group_data([2])).unwrap();
    let topic = participant.topic::<Pose>("pose", TopicQos::default().reliable().keep_last(5)).unwrap();
    let qos = Preset::Default.reader().copy_from_topic(&topic.qos());
    let _poses = subscriber.reader_builder(&topic).qos(qos).build().unwrap();
    let _logs = subscriber.reader::<Log>("log").unwrap();
    let writer = publisher.writer(&topic).unwrap();
    let logs = publisher.writer::<Log>("log").unwrap();
    let suspended = publisher.suspend_publications().unwrap();
    writer.write(&pose(7, 0.0)).unwrap();
    logs.write(&log("x")).unwrap();
    drop(suspended);
    publisher.acknowledged().block_for(PATIENCE).unwrap();

    let mut expected = vec!["pose has 1", "log has 1", "robot 7", "data of Log"];
    while !expected.is_empty() {
        let heard = told.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
        expected.retain(|expected| *expected != heard);
    }

    let other = world.participant();
    let found = other.find_topic::<Pose>("pose").block_for(PATIENCE).unwrap();
    assert_eq!(found.type_name(), "Pose");
    let later = world.builder().enabled(false).build().unwrap();
    let hidden = later.subscriber(SubscriberQos::default()).unwrap().reader::<Pose>("pose").unwrap();
    assert!(!hidden.is_enabled());
    later.enable().unwrap();
    hidden.wait_for_writers(1).block_for(PATIENCE).unwrap();
    assert_eq!(publisher.lookup_datawriter::<Pose>("pose").unwrap().guid(), writer.guid());
    participant.close_contained();
    assert!(publisher.is_closed() && subscriber.is_closed() && writer.is_closed() && !participant.is_closed());
}
