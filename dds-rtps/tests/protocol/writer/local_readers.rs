//! Readers of the same process: they take changes from the history and acknowledge through a link.

use super::script::{Script, instance, reader_guid, reliable};
use dds_rtps::concurrent::LocalLink;
use dds_rtps::qos::{DataWriterQos, Durability, ResourceLimits};
use dds_rtps::types::{Duration, SequenceNumber};
use dds_rtps::writer::{StatefulWriterEvent, WriteRefused};
use dds_rtps::{history::ChangeKind, types::InstanceHandle};
use std::sync::Arc;

fn match_local(script: &mut Script, number: u8, wants_history: bool) -> (Arc<LocalLink>, i64) {
    let link = Arc::new(LocalLink::new());
    let first = script.writer.match_local(script.now(), Arc::clone(&link), reader_guid(number), true, wants_history);
    (link, first.0)
}

fn kept(script: &Script, from: i64) -> Vec<i64> {
    script.writer.changes_from(SequenceNumber(from)).map(|change| change.sequence_number.0).collect()
}

#[test]
fn local_reader_holds_samples_until_acknowledged() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_all());
    let (link, first) = match_local(&mut script, 2, false);
    assert_eq!(first, 1);
    script.write_times(4);
    assert!(script.sent().is_empty());
    assert_eq!(kept(&script, 1), [1, 2, 3, 4]);
    assert!(!script.writer.is_acknowledged(SequenceNumber(1)));
    link.acknowledge(SequenceNumber(3));
    assert!(script.writer.is_acknowledged(SequenceNumber(3)));
    script.write();
    assert_eq!(kept(&script, 1), [4, 5]);
}

#[test]
fn remote_and_local_reader_must_acknowledge() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_all());
    let (link, _) = match_local(&mut script, 2, false);
    script.match_reader(reliable(3));
    script.write_times(4);
    script.sent();
    link.acknowledge(SequenceNumber(4));
    script.writer.handle_local_progress(script.now());
    assert_eq!(kept(&script, 1), [1, 2, 3, 4]);
    script.acknack(3, 3, &[]);
    assert_eq!(kept(&script, 1), [3, 4]);
}

#[test]
fn local_reader_progress_frees_space() {
    let limits = ResourceLimits::NONE.max_samples(1);
    let mut script = Script::new(false, &DataWriterQos::default().keep_all().resource_limits(limits));
    let (link, _) = match_local(&mut script, 2, false);
    script.write();
    let again = |script: &mut Script| script.write_change(ChangeKind::Alive, InstanceHandle::NIL, &[0, 1, 0, 0]);
    assert_eq!(again(&mut script), Err(WriteRefused::Full));
    while script.writer.poll_event().is_some() {}
    link.acknowledge(SequenceNumber(1));
    script.writer.handle_local_progress(script.now());
    assert_eq!(script.writer.poll_event(), Some(StatefulWriterEvent::SpaceFreed));
    assert_eq!(script.writer.poll_event(), Some(StatefulWriterEvent::Acknowledged(SequenceNumber(1))));
    assert_eq!(again(&mut script), Ok(2));
}

#[test]
fn late_local_reader_starts_by_durability() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(2).durability(Durability::TransientLocal));
    script.write_times(5);
    let (_link, first) = match_local(&mut script, 2, true);
    assert_eq!(first, 4);
    assert_eq!(kept(&script, first), [4, 5]);
    assert_eq!(match_local(&mut script, 3, false).1, 6);
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(2));
    script.write();
    assert_eq!(match_local(&mut script, 2, true).1, 2);
}

#[test]
fn departed_local_reader_releases_samples() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_all());
    let _link = match_local(&mut script, 2, false);
    script.write_times(4);
    assert!(script.writer.unmatch_reader(script.now(), reader_guid(2)));
    assert!(script.writer.is_acknowledged(SequenceNumber(4)));
    assert_eq!(kept(&script, 1), [4]);
}

#[test]
fn keep_last_replaces_pending_local_sample() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    let _link = match_local(&mut script, 2, false);
    script.write_times(3);
    assert_eq!(kept(&script, 1), [3]);
}

#[test]
fn refused_local_sample_is_done_once_expired() {
    let qos = DataWriterQos::default().keep_all().lifespan(Duration::from_millis(100));
    let mut script = Script::new(false, &qos);
    let (link, _) = match_local(&mut script, 2, false);
    script.write_times(4);
    link.acknowledge(SequenceNumber(2));
    script.writer.handle_local_progress(script.now());
    while script.writer.poll_event().is_some() {}
    script.wait(99);
    script.writer.handle_timeout(script.now());
    assert!(!script.writer.is_acknowledged(SequenceNumber(3)));
    script.wait(1);
    script.writer.handle_timeout(script.now());
    assert!(kept(&script, 1).is_empty());
    assert!(script.writer.is_acknowledged(SequenceNumber(4)));
    assert_eq!(script.writer.poll_event(), Some(StatefulWriterEvent::Acknowledged(SequenceNumber(4))));
}

#[test]
fn late_local_reader_needs_only_kept_changes() {
    let qos = DataWriterQos::default().keep_all().durability(Durability::TransientLocal);
    let mut script = Script::new(true, &qos);
    let (early, _) = match_local(&mut script, 2, true);
    script.write_key(1).unwrap();
    script.write_key(2).unwrap();
    script.write_change(ChangeKind::NotAliveUnregistered, instance(2), &[0, 1, 0, 2]).unwrap();
    early.acknowledge(SequenceNumber(3));
    let (late, first) = match_local(&mut script, 3, true);
    assert_eq!((first, kept(&script, 1)), (1, vec![1]));
    assert!(!script.writer.is_acknowledged(SequenceNumber(3)));
    late.acknowledge(SequenceNumber(1));
    assert!(script.writer.is_acknowledged(SequenceNumber(3)));
}

#[test]
fn dispose_outlives_neighboring_samples() {
    let qos = DataWriterQos::default().keep_all().lifespan(Duration::from_millis(100));
    let mut script = Script::new(true, &qos);
    let _link = match_local(&mut script, 2, false);
    script.write_key(1).unwrap();
    script.write_change(ChangeKind::NotAliveDisposed, instance(1), &[0, 1, 0, 0]).unwrap();
    script.wait(50);
    script.write_key(2).unwrap();
    script.wait(60);
    assert_eq!(kept(&script, 1), [2, 3]);
    script.wait(60);
    assert_eq!(kept(&script, 1), [2]);
    assert_eq!(script.writer.deadline(), None);
    assert!(!script.writer.is_acknowledged(SequenceNumber(2)));
}
