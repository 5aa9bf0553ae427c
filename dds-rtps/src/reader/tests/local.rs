//! Local writers.

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
        origin: None,
        presented: None,
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
fn local_change_is_shared_and_acknowledged() {
    let (mut script, link) = local(transient_local(config(KeySource::None)), 4);
    let now = script.now();
    let written = change(4);
    assert_eq!(script.reader.handle_local(now, &mut written.clone(), sn(0)), LocalOutcome::Accepted);
    assert_eq!(link.acknowledged(), sn(4));
    let samples = script.take();
    assert_eq!(
        samples[0].payload.as_ref().unwrap().bytes().as_ptr(),
        written.payload.as_ref().unwrap().bytes().as_ptr()
    );
    assert!(script.sent().is_empty());
}

#[test]
fn local_change_is_accepted_once() {
    let (mut script, _) = local(transient_local(keep_all(config(KeySource::None))), 1);
    let now = script.now();
    script.reader.handle_local(now, &mut change(1), sn(0));
    assert_eq!(script.reader.handle_local(now, &mut change(1), sn(0)), LocalOutcome::Accepted);
    assert_eq!(script.sample(1), Handled::Duplicate);
    assert_eq!(script.taken(), [1]);
}

#[test]
fn refused_local_change_is_requested_when_space_is_free() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    let (mut script, link) = local(transient_local(limited(config(KeySource::None), limits)), 1);
    let now = script.now();
    assert_eq!(script.reader.handle_local(now, &mut change(1), sn(0)), LocalOutcome::Accepted);
    assert_eq!(script.reader.handle_local(now, &mut change(2), sn(1)), LocalOutcome::Refused);
    assert_eq!(script.reader.handle_local(now, &mut change(3), sn(2)), LocalOutcome::Refused);
    assert_eq!(link.acknowledged(), sn(1));
    assert_eq!(link.take_request(), None);
    script.events();
    assert_eq!(script.taken(), [1]);
    assert_eq!(script.events(), [StatefulReaderEvent::LocalSpace { writer: WRITER }]);
    assert_eq!(link.take_request(), Some(sn(2)));
    assert_eq!(
        script.reader.handle_local(now, &mut change(4), sn(3)),
        LocalOutcome::Refused,
        "the change must not overtake"
    );
    assert_eq!(script.reader.handle_local(now, &mut change(2), sn(1)), LocalOutcome::Accepted);
    assert_eq!(script.taken(), [2]);
    assert_eq!(script.reader.handle_local(now, &mut change(3), sn(2)), LocalOutcome::Accepted);
    assert_eq!(script.taken(), [3]);
    assert_eq!(link.acknowledged(), sn(3));
}

#[test]
fn numbers_skipped_by_local_best_effort_writer_are_lost() {
    let mut script = Script::new(keep_all(config(KeySource::None)));
    let now = script.now();
    script.reader.match_local_writer(now, WriterProxyConfig::new(WRITER), sn(1), None);
    script.reader.handle_local(now, &mut change(1), sn(0));
    script.reader.handle_local(now, &mut change(4), sn(3));
    assert_eq!(script.lost(), 2);
    assert_eq!(script.taken(), [1, 4]);
}

#[test]
fn unknown_local_writer_is_unmatched() {
    let mut script = Script::new(config(KeySource::None));
    let now = script.now();
    assert_eq!(script.reader.handle_local(now, &mut change(1), sn(0)), LocalOutcome::Unmatched);
}

#[test]
fn expired_sample_makes_space_for_waiting_change() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    for look in ["take", "read", "ask", "timer"] {
        let mut script = Script::new(transient_local(limited(config(KeySource::None), limits)));
        let link = Arc::new(LocalLink::new());
        let writer = WriterProxyConfig { lifespan: Duration::from_secs(1), ..WriterProxyConfig::new(WRITER) };
        script.reader.match_local_writer(script.now(), writer, sn(1), Some(Arc::clone(&link)));
        let dated = |number| CacheChange { source_timestamp: at(0).time, ..change(number) };
        assert_eq!(script.reader.handle_local(script.now(), &mut dated(1), sn(0)), LocalOutcome::Accepted);
        assert_eq!(script.reader.handle_local(script.now(), &mut dated(2), sn(1)), LocalOutcome::Refused);
        script.events();
        script.millis = 2000;
        let now = script.now();
        match look {
            "take" => assert!(script.take().is_empty()),
            "read" => assert_eq!(script.reader.select(now, &Selection::default(), Operation::Read, &mut Vec::new()), 0),
            "ask" => assert!(!script.reader.has_matching(now, &Selection::default())),
            _ => script.reader.handle_timeout(now),
        }
        assert_eq!(script.events(), [StatefulReaderEvent::LocalSpace { writer: WRITER }], "{look}");
        assert_eq!(link.take_request(), Some(sn(2)), "{look}");
    }
}

/// The application has taken the dispose, and its writer has not unregistered the instance.
#[test]
fn disposed_instance_makes_space_for_new_one() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    for is_local in [true, false] {
        let mut script = Script::new(transient_local(limited(config(KeySource::LeadingBytes), limits)));
        script.match_remote(OTHER, true);
        let heard = heartbeat(1, 0, 1);
        script.reader.handle_heartbeat(script.now(), &source(OTHER), &heard);
        assert_eq!(script.write(OTHER, 1, 1, 0), Handled::Accepted);
        assert_eq!(script.end(OTHER, 2, 1, 1), Handled::Accepted);
        assert_eq!(script.taken(), [1]);
        if is_local {
            let (now, link) = (script.now(), Arc::new(LocalLink::new()));
            script.reader.match_local_writer(now, WriterProxyConfig::new(WRITER), sn(1), Some(link));
            let mut other =
                CacheChange { instance: handle(2), payload: Some(Payload::copy_of(&keyed(2, 0))), ..change(1) };
            assert_eq!(script.reader.handle_local(now, &mut other, sn(0)), LocalOutcome::Accepted);
        } else {
            script.match_remote(WRITER, true);
            script.heartbeat(1, 0);
            assert_eq!(script.write(WRITER, 1, 2, 0), Handled::Accepted);
        }
        assert_eq!(script.taken(), [1]);
        assert_eq!(script.reader.counters().rejected, 0);
        // The writer of the reclaimed instance leaves it, which nothing shows any more.
        assert_eq!(script.end(OTHER, 3, 1, 2), Handled::Accepted);
        assert!(script.taken().is_empty());
    }
}

#[test]
fn local_given_up_change_is_lost_replaced_one_is_not() {
    let (mut script, link) = local(transient_local(keep_all(config(KeySource::None))), 1);
    let now = script.now();
    link.give_up_before(sn(3));
    assert_eq!(script.reader.handle_local(now, &mut change(5), sn(0)), LocalOutcome::Accepted);
    assert_eq!(script.lost(), 2);
    let row = script.reader.losses().writers[0];
    assert_eq!((row.known, row.received, row.lost(), row.not_received.irrelevant), (5, 1, 2, 2));
}
