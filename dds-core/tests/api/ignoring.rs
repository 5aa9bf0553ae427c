//! Ignored participants and endpoints lose their matches and never match again.

use crate::support::{PATIENCE, World};
use dds_core::status::ReaderEvent;
use dds_core::{DdsType, InstanceHandle};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u64,
}

#[test]
fn ignored_publication_is_unmatched() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let reader = to.reader::<Count>("topic").unwrap();
    let ignored = from.writer::<Count>("topic").unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    assert!(to.ignore_publication(ignored.instance_handle()));
    assert!(reader.matched_publications().is_empty());
    let heard = from.writer::<Count>("topic").unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    assert_eq!(reader.matched_publications().iter().map(|writer| writer.guid).collect::<Vec<_>>(), [heard.guid()]);
}

#[test]
fn ignored_subscription_gets_nothing() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let writer = from.writer::<Count>("topic").unwrap();
    let ignored = to.reader::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    assert!(from.ignore_subscription(ignored.instance_handle()));
    assert!(writer.matched_subscriptions().is_empty());
    let heard = to.reader::<Count>("topic").unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    assert_eq!(writer.matched_subscriptions().iter().map(|reader| reader.guid).collect::<Vec<_>>(), [heard.guid()]);
}

#[test]
fn ignored_participant_is_removed_with_endpoints() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let reader = to.reader::<Count>("topic").unwrap();
    let events = reader.events();
    let _writer = from.writer::<Count>("topic").unwrap();
    let ReaderEvent::Matched(status) = events.next_event().block_for(PATIENCE).unwrap() else { panic!("no match") };
    assert_eq!(status.current_count, 1);
    assert!(to.ignore_participant(from.instance_handle()));
    let ReaderEvent::Matched(status) = events.next_event().block_for(PATIENCE).unwrap() else { panic!("no match") };
    assert_eq!(status.current_count, 0);
    assert!(to.discovered_participants().is_empty());
}

#[test]
fn own_entities_cannot_be_ignored() {
    let participant = World::new().participant();
    let writer = participant.writer::<Count>("topic").unwrap();
    assert!(!participant.ignore_participant(participant.instance_handle()));
    assert!(!participant.ignore_publication(writer.instance_handle()));
    assert!(!participant.ignore_subscription(writer.instance_handle()));
    assert!(!participant.ignore_participant(InstanceHandle::NIL));
}
