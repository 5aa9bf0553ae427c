//! Writers of the same process.

use super::*;
use crate::history::{CacheChange, ChangeKind};
use std::sync::Arc;

fn change(number: i64) -> CacheChange {
    CacheChange {
        kind: ChangeKind::Alive,
        writer: WRITER,
        sequence_number: sn(number),
        instance: InstanceHandle::NIL,
        source_timestamp: Time::INVALID,
        related_sample: None,
        payload: Some(Payload::copy_of(&body(number as u8))),
    }
}

fn local(config: ReaderConfig, first: i64) -> (Script, Arc<LocalLink>) {
    let mut script = Script::new(config);
    let link = Arc::new(LocalLink::new());
    let reliable = script.reader.match_local_writer(
        script.now(),
        WriterProxyConfig::new(WRITER),
        sn(first),
        Some(Arc::clone(&link)),
    );
    assert!(reliable);
    (script, link)
}

#[test]
fn a_local_change_is_shared_and_acknowledged() {
    let (mut script, link) = local(transient_local(config(KeySource::None)), 4);
    let now = script.now();
    let written = change(4);
    assert_eq!(script.reader.handle_local(now, written.clone(), sn(0)), LocalOutcome::Accepted);
    assert_eq!(link.acknowledged(), sn(4));
    let samples = script.take();
    assert_eq!(
        samples[0].payload.as_ref().unwrap().bytes().as_ptr(),
        written.payload.as_ref().unwrap().bytes().as_ptr()
    );
    assert!(script.said().is_empty());
}

#[test]
fn a_local_change_is_taken_once_however_it_comes() {
    let (mut script, _) = local(transient_local(keep_all(config(KeySource::None))), 1);
    let now = script.now();
    script.reader.handle_local(now, change(1), sn(0));
    assert_eq!(script.reader.handle_local(now, change(1), sn(0)), LocalOutcome::Accepted);
    assert_eq!(script.sample(1), Handled::Duplicate);
    assert_eq!(script.taken(), [1]);
}

#[test]
fn a_refused_local_change_is_asked_for_again_when_there_is_room() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    let (mut script, link) = local(transient_local(limited(config(KeySource::None), limits)), 1);
    let now = script.now();
    assert_eq!(script.reader.handle_local(now, change(1), sn(0)), LocalOutcome::Accepted);
    assert_eq!(script.reader.handle_local(now, change(2), sn(1)), LocalOutcome::Refused);
    assert_eq!(script.reader.handle_local(now, change(3), sn(2)), LocalOutcome::Refused);
    assert_eq!(link.acknowledged(), sn(1));
    assert_eq!(link.take_request(), None);
    script.events();
    assert_eq!(script.taken(), [1]);
    assert_eq!(script.events(), [ReaderEvent::LocalSpace { writer: WRITER }]);
    assert_eq!(link.take_request(), Some(sn(2)));
    assert_eq!(script.reader.handle_local(now, change(4), sn(3)), LocalOutcome::Refused, "it must not overtake");
    assert_eq!(script.reader.handle_local(now, change(2), sn(1)), LocalOutcome::Accepted);
    assert_eq!(script.taken(), [2]);
    assert_eq!(script.reader.handle_local(now, change(3), sn(2)), LocalOutcome::Accepted);
    assert_eq!(script.taken(), [3]);
    assert_eq!(link.acknowledged(), sn(3));
}

#[test]
fn what_a_local_best_effort_writer_skips_is_lost() {
    let mut script = Script::new(keep_all(config(KeySource::None)));
    let now = script.now();
    script.reader.match_local_writer(now, WriterProxyConfig::new(WRITER), sn(1), None);
    script.reader.handle_local(now, change(1), sn(0));
    script.reader.handle_local(now, change(4), sn(3));
    assert_eq!(script.lost(), 2);
    assert_eq!(script.taken(), [1, 4]);
}

#[test]
fn an_unknown_local_writer_is_unmatched() {
    let mut script = Script::new(config(KeySource::None));
    let now = script.now();
    assert_eq!(script.reader.handle_local(now, change(1), sn(0)), LocalOutcome::Unmatched);
}
