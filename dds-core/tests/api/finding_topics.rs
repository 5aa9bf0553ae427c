//! Waiting until a participant announces a topic.

use crate::support::{PATIENCE, Woken, World};
use dds_core::actor::EnterError;
use dds_core::error::WaitErrorKind;
use dds_core::qos::{Durability, Preset, TopicQos};
use dds_core::{DdsType, Duration};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    x: f64,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Twist {
    x: f64,
}

#[test]
fn own_topic_is_found_with_its_qos() {
    let participant = World::new().participant();
    let made = participant.topic::<Pose>("t", TopicQos::default().transient_local().topic_data([7])).unwrap();
    let found = participant.find_topic::<Pose>("t").block_for(PATIENCE).unwrap();
    assert_eq!((found.name(), found.qos()), ("t", made.qos()));
    let error = participant.find_topic::<Twist>("t").block_for(PATIENCE).unwrap_err();
    assert_eq!(error.kind(), &WaitErrorKind::OtherType { existing: "Pose".to_owned() });
    assert!(error.to_string().starts_with("topic of topic \"t\"") || error.to_string().contains("`Pose`"), "{error}");
}

#[test]
fn search_ends_when_topic_is_announced() {
    let world = World::new();
    let (robot, station) = (world.participant(), world.participant());
    let error = station.find_topic::<Pose>("t").block_for(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
    // A topic with another type does not end the search.
    let _other = robot.writer::<Twist>("t").unwrap();
    std::thread::scope(|scope| {
        let search = scope.spawn(|| station.find_topic::<Pose>("t").block_for(PATIENCE));
        let other = world.participant();
        let _writer = other.writer_builder::<Pose>("t").qos(Preset::State).build().unwrap();
        let found = search.join().unwrap().unwrap();
        assert_eq!((found.type_name(), found.qos().durability), ("Pose", Durability::TransientLocal));
    });
}

#[test]
fn search_finds_own_topics_and_ends_at_close() {
    let participant = World::new().participant();
    std::thread::scope(|scope| {
        let searches = [(); 3].map(|()| scope.spawn(|| participant.find_topic::<Pose>("t").block_for(PATIENCE)));
        let endless = scope.spawn(|| participant.find_topic::<Pose>("never").block_for(PATIENCE));
        let _reader = participant.reader::<Pose>("t").unwrap();
        for search in searches {
            assert_eq!(search.join().unwrap().unwrap().name(), "t");
        }
        participant.close();
        assert_eq!(endless.join().unwrap().unwrap_err().kind(), &WaitErrorKind::Closed);
    });
}

#[test]
fn dropped_search_leaves_nothing_behind() {
    let participant = World::new().participant();
    let mut search = Box::pin(participant.find_topic::<Pose>("t"));
    let mut context = Context::from_waker(Waker::noop());
    assert!(search.as_mut().poll(&mut context).is_pending());
    drop(search);
    let _reader = participant.reader::<Pose>("t").unwrap();
    assert_eq!(participant.find_topic::<Pose>("t").block_for(PATIENCE).unwrap().name(), "t");
}

#[test]
fn panic_in_participant_ends_search() {
    let participant = World::new().participant();
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let mut search = pin!(participant.find_topic::<Pose>("t"));
    assert!(search.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // A discovery event may wake the search at any time.
    let before = woken.count();
    assert_eq!(participant.inside(|| panic!("on purpose")), Err(EnterError::Failed));
    assert!(woken.count() > before);
    let Poll::Ready(Err(error)) = search.as_mut().poll(&mut Context::from_waker(&waker)) else { panic!("it waits") };
    assert_eq!(error.kind(), &WaitErrorKind::Closed);
}
