//! Small changes that wait for a shared datagram (LATENCY_BUDGET), and the limit of bytes in flight.

use super::script::{Script, best_effort, reliable};
use dds_rtps::concurrent::Payload;
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::DataWriterQos;
use dds_rtps::types::{Duration, InstanceHandle};
use dds_rtps::writer::{NewChange, StatefulWriterEvent};

const BUDGET_MS: u64 = 10;

fn qos() -> DataWriterQos {
    DataWriterQos::default().keep_all().latency_budget(Duration::from_millis(BUDGET_MS))
}

/// Creates a batching writer with a reliable reader that has everything.
fn batching(qos: &DataWriterQos) -> Script {
    let mut script = Script::new(false, qos);
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    script
}

#[test]
fn small_changes_leave_together_after_budget() {
    let mut script = batching(&qos());
    script.write();
    script.wait(BUDGET_MS / 2);
    script.write();
    assert!(script.sent().is_empty());
    script.wait(BUDGET_MS / 2 - 1);
    assert!(script.sent().is_empty());
    script.wait(1);
    assert_eq!(script.sent(), ["7002: TS D2(1) TS D2(2) HB2(1..2)"]);
    script.write();
    assert!(script.sent().is_empty());
}

#[test]
fn full_batch_leaves_and_remainder_waits() {
    let mut script = batching(&qos());
    script.write_large_times(3, 400);
    assert!(script.sent().is_empty());
    script.write_large(400);
    assert_eq!(script.sent(), ["7002: TS D2(1) D2(2) D2(3) HB2(1..3)"]);
    script.wait(BUDGET_MS);
    assert_eq!(script.sent(), ["7002: TS D2(4)"]);
}

#[test]
fn flush_sends_all_waiting_changes() {
    let mut script = batching(&qos().latency_budget(Duration::INFINITE));
    script.write_times(2);
    script.wait(60_000);
    assert!(script.sent().is_empty());
    script.writer.flush();
    assert_eq!(script.sent().len(), 1);
    script.writer.flush();
    assert!(script.sent().is_empty());
}

#[test]
fn wait_for_acknowledgments_flushes_batch() {
    let mut script = batching(&qos().latency_budget(Duration::INFINITE));
    script.write_times(2);
    script.writer.request_acknowledgments(script.now());
    assert_eq!(script.sent(), ["7002: TS D2(1) D2(2) HB2(1..2)"]);
}

#[test]
fn full_history_flushes_batch() {
    let mut qos = qos().latency_budget(Duration::INFINITE);
    qos.resource_limits.max_samples = Some(2);
    let mut script = batching(&qos);
    script.write_times(2);
    let refused = script.write_change(ChangeKind::Alive, InstanceHandle::NIL, &[0, 1, 0, 0]);
    assert!(refused.is_err());
    assert_eq!(script.sent(), ["7002: TS D2(1) D2(2) HB2(1..2)"]);
    script.acknack(2, 3, &[]);
    let events: Vec<_> = std::iter::from_fn(|| script.writer.poll_event()).collect();
    assert!(events.contains(&StatefulWriterEvent::SpaceFreed));
}

#[test]
fn fragmented_change_flushes_earlier_changes() {
    let mut script = batching(&qos());
    script.write();
    script.write_large(2000);
    let sent = script.sent();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[0].starts_with("7002: TS D2(1)"), "{sent:?}");
}

#[test]
fn keep_last_reports_drop_of_waiting_change() {
    let mut script = batching(&qos().keep_last(1));
    let change = || NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0]));
    assert!(!script.writer.would_drop_waiting(&change()));
    script.write();
    assert!(script.writer.would_drop_waiting(&change()));
    script.writer.flush();
    script.sent();
    assert!(!script.writer.would_drop_waiting(&change()));
}

#[test]
fn without_remote_readers_nothing_waits() {
    let mut script = Script::new(false, &qos());
    script.write();
    assert_eq!(script.writer.deadline(), None);
    assert!(!script.writer.has_more_to_send());
    script.match_reader(best_effort(2));
    script.write();
    assert!(script.sent().is_empty());
    script.writer.unmatch_reader(script.now(), super::script::reader_guid(2));
    assert_eq!(script.writer.deadline(), None);
}

#[test]
fn changed_budget_flushes_batch() {
    let mut script = batching(&qos());
    script.write();
    script.writer.set_batch_window(Duration::ZERO);
    assert_eq!(script.sent().len(), 1);
    script.write();
    assert_eq!(script.sent().len(), 1);
}

#[test]
fn bytes_in_flight_fit_receive_buffer() {
    for qos in [qos(), qos().latency_budget(Duration::ZERO)] {
        let mut script = batching(&qos);
        let mut sent = 0;
        for _ in 0..1000 {
            script.write_large(1000);
            sent += script.sent().len();
        }
        assert!((64..=128).contains(&sent), "{sent} datagrams of 1 kB into 128 KiB");
        // The reader has had time to answer and has all sent changes.
        script.wait(1);
        script.acknack(2, sent as i64 + 1, &[]);
        assert!(script.sent().len() > 32);
    }
}

#[test]
fn unresponsive_reader_delays_others_briefly() {
    let mut script = batching(&qos().latency_budget(Duration::ZERO));
    script.match_reader(best_effort(3));
    script.write_large_times(1000, 1000);
    let mut sent = script.sent().iter().filter(|line| line.contains(" D*(")).count();
    for _ in 0..200 {
        script.wait(100);
        sent += script.sent().iter().filter(|line| line.contains(" D*(")).count();
    }
    assert_eq!(sent, 1000);
}
