//! Readers that match after samples were written.

use super::script::{Script, best_effort, instance, late_joiner, reader_guid, reliable};
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::{DataWriterQos, Durability};
use dds_rtps::types::SequenceNumber;
use dds_rtps::writer::{ReaderProxyConfig, StatefulWriterEvent};

fn transient_local() -> DataWriterQos {
    DataWriterQos::default().keep_all().durability(Durability::TransientLocal)
}

#[test]
fn volatile_late_joiner_gets_no_history() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_all());
    script.match_reader(reliable(2));
    script.sent();
    script.write_times(5);
    script.sent();
    script.match_reader(late_joiner(3));
    assert_eq!(script.sent(), ["7003: DST3 HB3(6..5)"]);
    script.acknack_with(3, 1, 1, &[], false);
    assert_eq!(script.sent(), ["7003: DST3 HB3(6..5 final)"]);
    script.acknack_with(3, 2, 1, &[1, 2, 3, 4, 5], true);
    assert_eq!(script.sent(), ["7003: DST3 GAP3(1..5) HB3(6..5 final)"]);
    assert!(!script.writer.is_acknowledged(dds_rtps::types::SequenceNumber(1)), "reader 2 still misses it");
    script.write();
    assert_eq!(script.sent(), ["7002,7003: TS D*(6) DST2 HB2(1..0 final) DST0 HB*(1..6)"]);
}

#[test]
fn transient_local_late_joiner_gets_history() {
    let mut script = Script::new(false, &transient_local());
    script.write_times(4);
    assert_eq!(script.writer.history_len(), 4);
    script.match_reader(late_joiner(2));
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) D2(2) D2(3) D2(4) HB2(1..4)"]);
    script.acknack(2, 2, &[2, 3]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(2) D2(3) HB2(1..4)"]);
    script.acknack(2, 5, &[]);
    assert_eq!(script.writer.history_len(), 4);
    assert!(script.sent().is_empty());
}

#[test]
fn volatile_reader_of_durable_writer_gets_no_old() {
    let mut script = Script::new(false, &transient_local());
    script.write_times(4);
    script.match_reader(reliable(2));
    assert_eq!(script.sent(), ["7002: DST2 HB2(5..4)"]);
}

#[test]
fn best_effort_late_joiner_gets_whole_history() {
    let mut script = Script::new(false, &transient_local());
    script.write_large_times(300, 1300);
    script.match_reader(ReaderProxyConfig { wants_history: true, ..best_effort(2) });
    let lines = script.sent();
    assert_eq!(lines.len(), 300);
    assert_eq!(lines[299], "7002: DST2 TS D2(300)");
}

#[test]
fn long_history_is_sent_on_request() {
    let mut script = Script::new(false, &transient_local());
    script.write_large_times(1000, 1300);
    script.match_reader(late_joiner(2));
    let unasked = script.sent();
    assert_eq!(unasked.len(), 128 * 1024 / 1300);
    assert!(unasked.last().unwrap().ends_with("HB2(1..1000)"));
    let mut next = unasked.len() as i64 + 1;
    while next <= 1000 {
        let missing: Vec<i64> = (next..(next + 256).min(1001)).collect();
        script.acknack(2, next, &missing);
        let lines = script.sent();
        // Each request releases at most one window.
        assert!((50..=101).contains(&lines.len()) || lines.len() == missing.len(), "{}", lines.len());
        assert!(lines[0].contains(&format!("D2({next})")));
        assert!(lines.last().unwrap().ends_with("HB2(1..1000)"));
        next += lines.len() as i64;
    }
}

#[test]
fn late_joiner_gets_history_and_new_changes_once() {
    let mut script = Script::new(false, &transient_local());
    script.match_reader(reliable(2));
    script.write_times(2);
    script.sent();
    // One sample is unsent when the late joiner matches, so it goes to both readers.
    script.write();
    script.match_reader(late_joiner(3));
    script.write();
    let lines = script.sent();
    assert_eq!(
        lines,
        ["7002,7003: TS D*(3) D*(4) DST2 HB2(1..0 final) DST0 HB*(1..4)", "7003: DST3 TS D3(1) D3(2) HB3(1..4)"]
    );
}

#[test]
fn hole_in_history_is_gap_for_late_joiner() {
    let qos = DataWriterQos::default().keep_last(1).durability(Durability::TransientLocal);
    let mut script = Script::new(true, &qos);
    for key in [1, 2, 3, 2, 2] {
        script.write_key(key).unwrap();
    }
    script.match_reader(late_joiner(2));
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1 k1) D2(3 k3) D2(5 k2) GAP2(2..2+4) HB2(1..5)"]);
}

#[test]
fn unregistered_instance_is_not_history() {
    let mut script = Script::new(true, &transient_local());
    script.write_key(1).unwrap();
    script.write_key(2).unwrap();
    script.write_change(ChangeKind::NotAliveDisposedUnregistered, instance(1), &[0, 1, 0, 1]).unwrap();
    script.write_key(3).unwrap();
    script.match_reader(late_joiner(2));
    assert_eq!(script.sent(), ["7002: DST2 TS D2(2 k2) D2(4 k3) GAP2(3..3) HB2(2..4)"]);
}

#[test]
fn late_joiner_request_replaces_unasked_history() {
    let mut script = Script::new(false, &transient_local());
    script.write_large_times(50, 1300);
    script.match_reader(late_joiner(2));
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    script.acknack(2, 2, &[2, 3]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(2)", "7002: DST2 TS D2(3) HB2(1..50)"]);
}

#[test]
fn large_history_sample_comes_in_fragments() {
    let mut script = Script::new(false, &transient_local());
    script.write_large(3000);
    script.write();
    script.match_reader(late_joiner(2));
    assert_eq!(
        script.sent(),
        [
            "7002: DST2 TS F2(1 1-1/3)",
            "7002: DST2 TS F2(1 2-2/3)",
            "7002: DST2 TS F2(1 3-3/3)",
            "7002: DST2 TS D2(2) HB2(1..2)",
        ]
    );
}

#[test]
fn departed_late_joiner_is_forgotten() {
    let mut script = Script::new(false, &transient_local());
    script.write_large_times(5, 1300);
    script.match_reader(late_joiner(2));
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    script.writer.unmatch_reader(script.now(), reader_guid(2));
    assert!(script.sent().is_empty());
    assert_eq!(script.writer.deadline(), None);
}

#[test]
fn late_joiner_acknowledgment_is_reported() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(2).transient_local());
    script.write_times(2);
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 3, &[]);
    let events = |script: &mut Script| std::iter::from_fn(|| script.writer.poll_event()).collect::<Vec<_>>();
    assert_eq!(events(&mut script), [StatefulWriterEvent::Acknowledged(SequenceNumber(2))]);
    script.match_reader(late_joiner(3));
    assert_eq!(events(&mut script), []);
    script.sent();
    script.acknack(3, 3, &[]);
    assert_eq!(events(&mut script), [StatefulWriterEvent::Acknowledged(SequenceNumber(2))]);
}
