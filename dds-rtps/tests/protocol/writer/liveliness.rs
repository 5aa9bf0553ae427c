//! Liveliness assertions of a writer, and the detection of a missed lease.

use super::script::{Script, best_effort, reliable};
use dds_rtps::concurrent::AssertionClock;
use dds_rtps::qos::{DataWriterQos, Liveliness, LivelinessKind};
use dds_rtps::types::Duration;
use dds_rtps::writer::StatefulWriterEvent;
use std::sync::Arc;

fn qos(kind: LivelinessKind, lease_ms: u64) -> DataWriterQos {
    DataWriterQos::default().keep_all().liveliness(Liveliness::new(kind, Duration::from_millis(lease_ms)))
}

/// Counts the losses of liveliness that were reported since the last call.
fn lost(script: &mut Script) -> usize {
    std::iter::from_fn(|| script.writer.poll_event())
        .filter(|event| *event == StatefulWriterEvent::LivelinessLost)
        .count()
}

#[test]
fn liveliness_is_asserted_to_all_readers() {
    let mut script = Script::new(false, &qos(LivelinessKind::ManualByTopic, 1_000));
    script.writer.assert_liveliness(script.now());
    assert!(script.sent().is_empty());
    script.match_reader(reliable(2));
    script.match_reader(best_effort(3));
    script.sent();
    script.acknack(2, 1, &[]);
    script.writer.assert_liveliness(script.now());
    assert_eq!(script.sent(), ["7002,7003: HB*(1..0 final alive)"]);
}

#[test]
fn best_effort_writer_asserts_by_heartbeat() {
    let mut script = Script::new(false, &qos(LivelinessKind::ManualByTopic, 1_000).best_effort());
    script.match_reader(best_effort(3));
    script.write();
    script.sent();
    script.writer.assert_liveliness(script.now());
    assert_eq!(script.sent(), ["7003: DST3 HB3(2..1 final alive)"]);
}

#[test]
fn other_liveliness_kinds_send_nothing() {
    for kind in [LivelinessKind::Automatic, LivelinessKind::ManualByParticipant] {
        let mut script = Script::new(false, &qos(kind, 1_000));
        script.match_reader(best_effort(3));
        script.writer.assert_liveliness(script.now());
        assert!(script.sent().is_empty(), "{kind:?}");
    }
}

#[test]
fn silent_writer_loses_liveliness_once() {
    let mut script = Script::new(false, &qos(LivelinessKind::ManualByTopic, 100));
    assert_eq!(script.writer.deadline(), None, "the lease begins with the first assertion");
    script.writer.assert_liveliness(script.now());
    script.wait(60);
    script.write();
    script.wait(99);
    assert_eq!(lost(&mut script), 0);
    script.wait(1);
    assert_eq!(lost(&mut script), 1);
    assert!(!script.writer.is_alive());
    script.wait(10_000);
    assert_eq!(lost(&mut script), 0, "it simply remains not alive");
    script.write();
    assert!(script.writer.is_alive());
    script.wait(100);
    assert_eq!(lost(&mut script), 1);
}

#[test]
fn late_timer_hides_no_liveliness_loss() {
    let mut script = Script::new(false, &qos(LivelinessKind::ManualByTopic, 100));
    script.writer.assert_liveliness(script.now());
    script.ms += 150;
    script.write();
    assert_eq!(lost(&mut script), 1);
    assert!(script.writer.is_alive());
}

#[test]
fn manual_by_participant_is_met_by_any_write() {
    let assertion_clock = Arc::new(AssertionClock::new());
    let with_pulse = || {
        Script::with(false, &qos(LivelinessKind::ManualByParticipant, 100), |config| {
            config.assertion_clock = Some(Arc::clone(&assertion_clock));
        })
    };
    let (mut one, mut other) = (with_pulse(), with_pulse());
    one.writer.assert_liveliness(one.now());
    other.writer.assert_liveliness(other.now());
    one.wait(60);
    one.write();
    other.wait(150);
    assert_eq!(lost(&mut other), 0);
    other.wait(10);
    assert_eq!(lost(&mut other), 1);
    assert!(!one.writer.take_call());
    one.ms = 200;
    one.write();
    assert!(one.writer.take_call(), "the other one waits");
    other.ms = 200;
    other.writer.look_at_liveliness(other.now());
    assert!(other.writer.is_alive() && !assertion_clock.has_waiting_leases());
    one.wait(100);
    assert!(assertion_clock.has_waiting_leases());
    drop(one);
    assert!(!assertion_clock.has_waiting_leases());
}

#[test]
fn automatic_and_infinite_leases_never_expire() {
    for qos in [
        qos(LivelinessKind::Automatic, 10),
        DataWriterQos::default().liveliness(Liveliness::manual_by_topic(Duration::INFINITE)),
    ] {
        let mut script = Script::new(false, &qos);
        script.writer.assert_liveliness(script.now());
        assert_eq!(script.writer.deadline(), None);
        script.wait(100_000);
        assert_eq!(lost(&mut script), 0);
    }
}
