//! How much of a large sample is in flight at once.

use super::script::{Script, best_effort, reliable};
use dds_rtps::qos::DataWriterQos;
use dds_rtps::types::SequenceNumber;
use dds_rtps::writer::{CongestionConfig, FragmentSize, WriterConfig};

/// Fragments of 1000 bytes, and windows of a hundred fragments.
fn config(config: &mut WriterConfig) {
    config.fragment_size = FragmentSize { same_host: 65_000, network: 1000 };
    config.congestion = CongestionConfig { network: 100_000, network_rate: 10_000_000, ..CongestionConfig::default() };
}

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().keep_all()
}

/// Counts the datagrams that carry fragments.
fn fragments(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains(" F")).count()
}

/// Creates a script whose reliable readers have answered.
fn script(readers: &[u8]) -> Script {
    let mut script = Script::with(false, &keep_all(), config);
    for &reader in readers {
        script.match_reader(reliable(reader));
        script.sent();
        script.acknack(reader, 1, &[]);
    }
    script
}

#[test]
fn window_goes_out_and_rest_follows_answers() {
    let mut script = script(&[2]);
    script.write_large(400_000);
    let first = script.sent();
    assert_eq!(fragments(&first), 100);
    assert_eq!(first.last().unwrap(), "7002: TS F2(1 100-100/400)");
    assert!(first.iter().any(|line| line == "7002: TS F2(1 25-25/400) HB2(1..0)"));
    assert_eq!(script.writer.sent_up_to(), SequenceNumber::ZERO);
    let (mut sent, mut rounds) = (100, 0);
    while sent < 400 {
        script.acknack(2, 1, &[]);
        let more = fragments(&script.sent());
        assert!(more > 0, "an answer lets more out");
        sent += more;
        rounds += 1;
    }
    assert!(rounds <= 10, "{rounds} answers");
    assert_eq!(sent, 400);
    assert_eq!(script.writer.sent_up_to(), SequenceNumber::FIRST);
    script.acknack(2, 2, &[]);
    assert!(script.sent().is_empty());
    assert_eq!(script.writer.counters().fragment_bytes_repaired, 0);
}

#[test]
fn changes_behind_large_change_wait() {
    let mut script = script(&[2]);
    script.write_large(120_000);
    script.write();
    let lines = script.sent();
    assert!(lines.iter().all(|line| !line.contains(" D")));
    script.acknack(2, 1, &[]);
    let lines = script.sent();
    assert!(lines.last().unwrap().contains("D2(2)"), "{:?}", lines.last());
}

#[test]
fn silent_reader_gets_heartbeats_then_slow_data() {
    let mut script = script(&[2]);
    script.write_large(300_000);
    assert_eq!(fragments(&script.sent()), 100);
    let mut asked = 0;
    let (mut sent, mut ms) = (100, 0);
    while sent < 300 {
        script.wait(5);
        ms += 5;
        let lines = script.sent();
        asked += lines.iter().filter(|line| line.contains("HB2(1..0)") && !line.contains(" F")).count();
        sent += fragments(&lines);
        assert!(ms < 1000, "it gets nothing any more");
    }
    assert!(ms >= 200, "{ms} ms");
    assert!(asked >= 4, "{asked}");
}

#[test]
fn slow_reader_does_not_delay_fast_reader() {
    let mut script = script(&[2, 3]);
    script.write_large(400_000);
    let mut sent = fragments(&script.sent());
    while sent < 400 {
        script.acknack(2, 1, &[]);
        let more = fragments(&script.sent());
        assert!(more > 0, "the silent reader 3 is waited for");
        sent += more;
    }
    assert_eq!(script.ms, 0);
}

#[test]
fn repairs_stay_within_window() {
    let mut script = script(&[2]);
    script.write_large(99_000);
    script.sent();
    // Everything was lost. The window is now halved.
    script.acknack(2, 1, &[1]);
    let lines = script.sent();
    assert!(fragments(&lines) < 70, "{}", fragments(&lines));
    assert!(lines.last().unwrap().contains("HB2(1..1)"));
    let mut sent = fragments(&lines);
    while sent < 99 {
        script.acknack(2, 1, &[]);
        let more = fragments(&script.sent());
        assert!(more > 0);
        sent += more;
    }
    assert_eq!(sent, 99);
    assert_eq!(script.writer.counters().fragment_bytes_repaired, 99_000);
}

#[test]
fn departed_reader_does_not_block_others() {
    let mut script = script(&[2]);
    script.match_reader(best_effort(3));
    script.write_large(200_000);
    let sent = fragments(&script.sent());
    assert_eq!(sent, 100);
    let now = script.now();
    script.writer.unmatch_reader(now, super::script::reader_guid(2));
    assert_eq!(fragments(&script.sent()), 100);
}

#[test]
fn best_effort_sends_burst_then_paced_rest() {
    let mut script = Script::with(false, &keep_all().best_effort(), config);
    script.match_reader(best_effort(2));
    script.write_large(300_000);
    let mut sent = fragments(&script.sent());
    assert_eq!(sent, 100);
    // 10 kB are ten fragments per millisecond. The timer fires for a quarter of a burst.
    assert!(script.writer.deadline().is_some());
    while sent < 300 {
        assert!(script.ms < 100, "after {} ms {sent} fragments are out", script.ms);
        script.wait(1);
        sent += fragments(&script.sent());
        assert!(sent <= 101 + 10 * script.ms as usize, "after {} ms {sent} fragments are out", script.ms);
    }
    assert_eq!(script.ms, 20);
    script.wait(100);
    assert_eq!(script.writer.deadline(), None);
    // The budget for the next burst is available again.
    script.write_large(100_000);
    assert_eq!(fragments(&script.sent()), 100);
}

#[test]
fn overloaded_writer_finishes_started_sample() {
    let mut script = Script::with(false, &DataWriterQos::default().keep_last(1), config);
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    let mut whole = Vec::new();
    for _ in 0..40 {
        script.write_large(400_000);
        let next = whole.last().map_or(1, |last| last + 1);
        for line in script.sent() {
            if let Some(number) = line.split("F2(").nth(1).filter(|rest| rest.contains(" 400-400/400")) {
                whole.push(number.split(' ').next().unwrap().parse::<i64>().unwrap());
            }
        }
        script.acknack(2, next, &[]);
    }
    assert!(whole.len() >= 8, "{whole:?} went out to their ends");
    assert!(whole.windows(2).all(|pair| pair[0] < pair[1]));
}
