//! HEARTBEATs, acknowledgments and repairs.

use super::script::{Script, best_effort, instance, late_joiner, reader_guid, reliable};
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::DataWriterQos;
use dds_rtps::types::{Duration, SequenceNumber};
use dds_rtps::wire::{AckNack, SequenceNumberSet};
use dds_rtps::writer::StatefulWriterEvent;

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().keep_all()
}

/// Creates a writer whose only reader has answered the first HEARTBEAT.
fn with_reader() -> Script {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    assert_eq!(script.sent(), ["7002: DST2 HB2(1..0)"]);
    script.acknack(2, 1, &[]);
    assert!(script.sent().is_empty());
    script
}

/// Sends the first sample, which carries a HEARTBEAT because none was sent recently.
fn write_first(script: &mut Script) {
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(1) HB2(1..1)"]);
}

#[test]
fn samples_carry_heartbeat_until_first_answer() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.sent();
    for number in 1..=3 {
        script.write();
        assert_eq!(script.sent(), [format!("7002: TS D2({number}) HB2(1..0 final) HB2(1..{number})")]);
    }
    script.acknack(2, 4, &[]);
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(4)"]);
}

#[test]
fn stream_carries_few_heartbeats_without_timer() {
    let mut script = with_reader();
    let mut heartbeats = 0;
    for number in 1..=400 {
        script.wait(1);
        script.write();
        for line in script.sent() {
            assert!(line.contains("D2("), "a heartbeat went alone: {line}");
            if line.contains("HB") {
                heartbeats += 1;
                script.acknack(2, number + 1, &[]);
            }
        }
    }
    assert!((6..=12).contains(&heartbeats), "{heartbeats}");
}

#[test]
fn heartbeat_timer_backs_off_until_acknowledged() {
    let mut script = with_reader();
    write_first(&mut script);
    let mut times = Vec::new();
    for _ in 0..200 {
        script.wait(10);
        let lines = script.sent();
        if !lines.is_empty() {
            assert_eq!(lines, ["7002: DST2 HB2(1..1)"]);
            times.push(script.ms);
        }
    }
    assert_eq!(times, [100, 200, 300, 400, 600, 1000, 1800]);
    script.acknack(2, 2, &[]);
    assert_eq!(script.writer.deadline(), None);
    script.wait(10_000);
    assert!(script.sent().is_empty());
}

#[test]
fn early_or_repeated_timer_is_harmless() {
    let mut script = with_reader();
    write_first(&mut script);
    script.writer.handle_timeout(script.now());
    assert!(script.sent().is_empty());
    script.ms += 100;
    script.writer.handle_timeout(script.now());
    script.writer.handle_timeout(script.now());
    assert_eq!(script.sent().len(), 1);
}

#[test]
fn one_heartbeat_asks_only_lagging_readers() {
    let mut script = Script::new(false, &keep_all());
    for number in 2..=4 {
        script.match_reader(reliable(number));
    }
    script.match_reader(best_effort(5));
    assert_eq!(script.sent().len(), 3);
    for number in 2..=4 {
        script.acknack(number, 1, &[]);
    }
    script.write();
    assert_eq!(script.sent(), ["7002,7003,7004,7005: TS D*(1) HB*(1..1)"]);
    script.acknack(3, 2, &[]);
    script.wait(100);
    assert_eq!(script.sent(), ["7002,7004: HB*(1..1)"]);
    script.acknack(2, 2, &[]);
    script.wait(100);
    assert_eq!(script.sent(), ["7004: DST4 HB4(1..1)"]);
}

#[test]
fn repair_goes_only_to_requesting_reader() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.match_reader(reliable(3));
    script.sent();
    script.write_times(5);
    script.sent();
    script.acknack(3, 2, &[2, 4]);
    assert_eq!(script.sent(), ["7003: DST3 TS D3(2) D3(4) HB3(1..5)"]);
    assert_eq!(script.writer.counters().repairs, 2);
}

#[test]
fn repeated_request_is_deferred_not_lost() {
    let mut script = with_reader();
    write_first(&mut script);
    script.acknack(2, 1, &[1]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) HB2(1..1)"]);
    script.wait(1);
    script.acknack(2, 1, &[1]);
    assert!(script.sent().is_empty());
    script.wait(4);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) HB2(1..1)"]);
    // The change arrived before the deferral ended, so nothing is sent.
    script.acknack(2, 1, &[1]);
    script.wait(1);
    script.acknack(2, 2, &[]);
    script.wait(20);
    assert!(script.sent().is_empty());
}

#[test]
fn repairs_wait_for_response_delay() {
    let mut script = Script::with(false, &keep_all(), |config| config.nack_response_delay = Duration::from_millis(20));
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    script.write_times(3);
    script.sent();
    script.acknack(2, 1, &[1]);
    script.wait(15);
    script.acknack(2, 1, &[1, 3]);
    assert!(script.sent().is_empty());
    script.wait(5);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) D2(3) HB2(1..3)"]);
}

#[test]
fn removed_changes_share_one_gap() {
    let mut script = Script::new(true, &DataWriterQos::default().keep_last(1));
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    for key in [1, 2, 1, 1, 3, 1] {
        script.write_key(key).unwrap();
        script.sent();
    }
    // Changes 2, 5 and 6 remain.
    script.acknack(2, 1, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(2 k2) D2(5 k3) D2(6 k1) GAP2(1..1+3+4) HB2(2..6)"]);
}

#[test]
fn change_replaced_before_sending_is_gap() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    script.match_reader(reliable(2));
    script.match_reader(best_effort(3));
    script.sent();
    script.acknack(2, 1, &[]);
    script.write_times(3);
    assert_eq!(script.sent(), ["7002,7003: TS D*(3) GAP*(1..2) HB*(3..3)"]);
}

#[test]
fn best_effort_readers_get_no_gaps() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    script.match_reader(best_effort(2));
    script.write_times(3);
    assert_eq!(script.sent(), ["7002: TS D2(3)"]);
}

#[test]
fn repairs_and_new_changes_alternate() {
    let mut script = with_reader();
    for _ in 0..20 {
        script.write_large(1000);
        script.sent();
    }
    let missing: Vec<i64> = (1..=10).collect();
    script.acknack(2, 1, &missing);
    script.write_large_times(10, 1000);
    let lines = script.sent();
    let is_new: Vec<bool> = lines.iter().map(|line| !line.contains("DST2")).collect();
    assert_eq!(is_new.len(), 20);
    assert!(is_new.windows(2).all(|pair| pair[0] != pair[1]), "{is_new:?}");
}

#[test]
fn many_requests_are_served_in_turns() {
    let mut script = Script::new(false, &keep_all());
    for number in 2..=4 {
        script.match_reader(reliable(number));
    }
    script.sent();
    script.write_large_times(3, 1300);
    script.sent();
    for number in 2..=4 {
        script.acknack(number, 1, &[1, 2, 3]);
    }
    let order: Vec<String> = script.sent().iter().map(|line| line[..4].to_owned()).collect();
    assert_eq!(order, ["7002", "7003", "7004", "7002", "7003", "7004", "7002", "7003", "7004"]);
}

#[test]
fn acknowledged_changes_leave_a_volatile_history() {
    let mut script = with_reader();
    for _ in 0..10 {
        script.write();
    }
    script.sent();
    assert_eq!(script.writer.history_len(), 10);
    script.acknack(2, 8, &[]);
    assert_eq!(script.writer.history_len(), 3);
    assert!(script.writer.is_acknowledged(SequenceNumber(7)));
    assert!(!script.writer.is_acknowledged(SequenceNumber(8)));
    script.acknack(2, 11, &[]);
    script.write();
    assert_eq!(script.writer.history_len(), 1);
}

#[test]
fn slowest_reader_holds_history_until_it_leaves() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.match_reader(reliable(3));
    script.write_times(10);
    script.sent();
    script.acknack(2, 11, &[]);
    assert_eq!(script.writer.acknowledged(), SequenceNumber::ZERO);
    while script.writer.poll_event().is_some() {}
    script.writer.unmatch_reader(script.now(), reader_guid(3));
    assert_eq!(script.writer.poll_event(), Some(StatefulWriterEvent::Acknowledged(SequenceNumber(10))));
    assert_eq!(script.writer.poll_event(), None);
}

#[test]
fn acknowledgments_are_coalesced_and_reported() {
    let mut script = with_reader();
    while script.writer.poll_event().is_some() {}
    script.write_times(10);
    script.sent();
    script.acknack(2, 4, &[]);
    script.acknack(2, 9, &[]);
    script.acknack(2, 9, &[]);
    assert_eq!(script.writer.poll_event(), Some(StatefulWriterEvent::Acknowledged(SequenceNumber(8))));
    assert_eq!(script.writer.poll_event(), None);
}

#[test]
fn wait_for_acknowledgments_needs_no_timer() {
    let mut script = with_reader();
    write_first(&mut script);
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(2)"]);
    script.writer.request_acknowledgments(script.now());
    assert_eq!(script.sent(), ["7002: DST2 HB2(1..2)"]);
    script.wait(13);
    assert_eq!(script.sent(), ["7002: DST2 HB2(1..2)"]);
    script.acknack(2, 3, &[]);
    script.writer.request_acknowledgments(script.now());
    assert!(script.sent().is_empty());
    assert_eq!(script.writer.deadline(), None);
}

#[test]
fn stale_counts_are_ignored_and_counts_wrap() {
    let mut script = with_reader();
    script.write_times(5);
    script.sent();
    let stale = |script: &Script| script.writer.counters().stale;
    script.acknack_with(2, i32::MAX, 3, &[], true);
    script.acknack_with(2, i32::MAX, 4, &[], true);
    script.acknack_with(2, i32::MAX - 1, 4, &[], true);
    assert_eq!((script.writer.acknowledged(), stale(&script)), (SequenceNumber(2), 2));
    script.acknack_with(2, i32::MIN, 4, &[], true);
    assert_eq!((script.writer.acknowledged(), stale(&script)), (SequenceNumber(3), 2));
    script.acknack_with(2, i32::MIN + 1, 2, &[], true);
    assert_eq!(script.writer.acknowledged(), SequenceNumber(3), "acknowledgment goes back");
}

#[test]
fn restarted_reader_is_answered_at_any_count() {
    let mut script = with_reader();
    write_first(&mut script);
    script.acknack_with(2, 500, 2, &[], true);
    script.acknack_with(2, 1, 1, &[], false);
    assert_eq!(script.sent(), ["7002: DST2 HB2(2..1 final)"]);
    script.acknack_with(2, 2, 0, &[], false);
    assert_eq!(script.sent(), ["7002: DST2 HB2(2..1 final)"]);
    script.write();
    script.sent();
    script.acknack_with(2, 3, 2, &[2], true);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(2) HB2(2..2)"]);
}

#[test]
fn unaware_lagging_reader_gets_heartbeat() {
    let mut script = with_reader();
    script.write_times(3);
    script.sent();
    script.acknack_with(2, 10, 2, &[], false);
    assert_eq!(script.sent(), ["7002: DST2 HB2(2..3)"]);
    // A reader that has everything gets no answer. Otherwise two peers that always answer would never stop.
    script.acknack_with(2, 11, 4, &[], false);
    assert!(script.sent().is_empty());
}

#[test]
fn invalid_acknacks_are_counted_and_ignored() {
    let mut script = with_reader();
    script.write_times(3);
    script.sent();
    script.acknack(2, 5, &[]);
    script.acknack(2, i64::MAX, &[]);
    let guid = reader_guid(2);
    let negative = AckNack {
        reader_id: guid.entity_id,
        writer_id: script.writer.guid().entity_id,
        reader_sn_state: SequenceNumberSet::empty(SequenceNumber(-7)),
        count: 99,
        is_final: false,
    };
    script.writer.handle_acknack(script.now(), guid.into(), &negative);
    assert_eq!(script.writer.counters().malformed, 3);
    assert!(script.sent().is_empty());
    // Sequence numbers that were never sent cannot be missing. The others are served.
    script.acknack(2, 3, &[3, 4, 200]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(3) HB2(3..3)"]);
    assert_eq!(script.writer.counters().malformed, 4);
}

#[test]
fn unknown_or_best_effort_readers_get_no_repair() {
    let mut script = with_reader();
    script.match_reader(best_effort(3));
    write_first_to_both(&mut script);
    script.acknack(3, 1, &[1]);
    script.acknack(9, 1, &[1]);
    script.nack_frag(9, 1, &[1]);
    assert!(script.sent().is_empty());
    assert_eq!(script.writer.counters().unknown_reader, 3);
}

fn write_first_to_both(script: &mut Script) {
    script.write();
    assert_eq!(script.sent(), ["7002,7003: TS D*(1) HB*(1..1)"]);
}

#[test]
fn best_effort_writer_sends_no_heartbeats() {
    let mut script = Script::new(false, &keep_all().best_effort());
    script.match_reader(reliable(2));
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(1)"]);
    assert_eq!(script.writer.deadline(), None);
    assert!(script.writer.is_acknowledged(SequenceNumber(1)));
}

#[test]
fn request_for_expired_change_gets_gap() {
    let lifespan = std::time::Duration::from_millis(30);
    let mut script = Script::new(false, &keep_all().lifespan(lifespan));
    script.match_reader(reliable(2));
    script.sent();
    script.write();
    script.sent();
    script.ms += 40;
    script.acknack(2, 1, &[1]);
    assert_eq!(script.sent(), ["7002: DST2 GAP2(1..1) HB2(2..1)"]);
    assert_eq!(script.writer.counters().expired, 1);
}

#[test]
fn dispose_repair_carries_key_hash_and_status() {
    let mut script = Script::new(true, &keep_all());
    script.match_reader(late_joiner(2));
    script.sent();
    script.write_change(ChangeKind::NotAliveDisposed, instance(7), &[0, 1, 0, 0, 7, 0, 0, 0]).unwrap();
    script.sent();
    script.acknack(2, 1, &[1]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1key k7 s1) HB2(1..1)"]);
}

#[test]
fn request_is_served_by_one_window_at_a_time() {
    let mut script = Script::with(false, &keep_all(), |config| config.congestion.network = 64 << 10);
    script.match_reader(reliable(2));
    script.sent();
    for _ in 0..200 {
        script.write_large(1_000);
        script.sent();
        script.wait(1_000);
        script.sent();
    }
    let missing: Vec<i64> = (1..=200).collect();
    script.acknack(2, 1, &missing);
    let sent = script.sent();
    let repaired = sent.iter().filter(|line| line.contains("D2(")).count();
    assert!((64..=80).contains(&repaired), "{repaired}");
    assert!(sent.last().unwrap().ends_with("HB2(1..200)"), "{sent:?}");
    // Sent changes are not retransmitted at once. Unsent ones are sent as soon as they are requested.
    script.acknack(2, 1, &missing);
    let sent = script.sent();
    assert!(sent[0].starts_with(&format!("7002: DST2 TS D2({})", repaired + 1)), "{sent:?}");
    assert!((64..=80).contains(&sent.iter().filter(|line| line.contains("D2(")).count()));
}

/// A reader of another vendor has all first samples but one, and requests that one.
fn with_a_hole() -> Script {
    let mut script = with_reader();
    script.write_times(10);
    script.sent();
    script.acknack(2, 5, &[5]);
    script.sent();
    script
}

fn sent_of(script: &mut Script, samples: usize) -> usize {
    for _ in 0..samples {
        script.write();
        script.sent();
    }
    script.writer.sent_up_to().0 as usize
}

#[test]
fn reader_with_hole_gets_no_more_than_it_keeps() {
    let mut script = with_a_hole();
    let sent = sent_of(&mut script, 300);
    assert!((100..=120).contains(&sent), "{sent}");
    // The reader has just sent a request, so it does not repeat it. Its silence does not mean that it misses nothing.
    script.acknack(2, 5, &[]);
    assert_eq!(sent_of(&mut script, 1), sent);
    script.acknack(2, 7, &[]);
    script.sent();
    assert_eq!(script.writer.sent_up_to().0, 311);
}

#[test]
fn stalled_reader_delays_others_briefly() {
    let mut script = with_a_hole();
    assert!(sent_of(&mut script, 300) < 150);
    script.wait(499);
    script.sent();
    assert!(script.writer.sent_up_to().0 < 150);
    script.wait(1);
    script.sent();
    assert_eq!(script.writer.sent_up_to().0, 310);
}

#[test]
fn hole_of_one_reader_spares_best_effort() {
    let mut script = with_a_hole();
    script.match_reader(best_effort(3));
    // Unanswered samples fill the window.
    assert!(sent_of(&mut script, 300) > 200);
}

/// A forger sends requests in the reader's name, beside those of the reader itself.
#[test]
fn repeated_requests_get_sample_at_intervals() {
    let mut script = Script::new(false, &keep_all().transient_local());
    script.match_reader(late_joiner(2));
    script.write_times(600);
    script.sent();
    script.acknack(2, 601, &[]);
    script.wait(1_000);
    let (first, last): (Vec<i64>, Vec<i64>) = ((1..=200).collect(), (401..=600).collect());
    let before = script.writer.counters().repairs;
    for _ in 0..10 {
        for _ in 0..50 {
            script.acknack(2, 1, &first);
            script.sent();
            script.acknack(2, 401, &last);
            script.sent();
            script.acknack(2, 601, &[]);
            script.sent();
        }
        script.wait(1);
    }
    // 10 ms contain two intervals of 5 ms between answers.
    assert_eq!(script.writer.counters().repairs - before, 2 * 400);
}

/// The reader may not exist, because another participant may have announced it.
#[test]
fn unresponsive_reader_is_asked_less_and_less() {
    let mut script = Script::with(false, &keep_all(), |config| config.unheard_period_max = Duration::from_secs(100));
    script.match_reader(reliable(2));
    script.sent();
    let mut times = Vec::new();
    for _ in 0..6_000 {
        script.wait(10);
        times.extend((!script.sent().is_empty()).then_some(script.ms));
    }
    assert_eq!(times, [100, 200, 300, 400, 600, 1_000, 1_800, 3_400, 6_600, 13_000, 25_800, 51_400]);
    // The reader gives a sign of life.
    script.writer.ask_again(script.now(), reader_guid(2));
    assert_eq!(script.sent(), ["7002: DST2 HB2(1..0)"]);
    // Another reader is asked without that delay, and the first one is not asked more often because of it.
    script.match_reader(reliable(3));
    assert_eq!(script.sent(), ["7003: DST3 HB3(1..0)"]);
    script.wait(100);
    assert_eq!(script.sent(), ["7003: DST3 HB3(1..0)"]);
    script.acknack(3, 1, &[]);
    script.write();
    script.sent();
    script.wait(100);
    assert_eq!(script.sent().len(), 1, "one that has answered once is asked as usual");
}
