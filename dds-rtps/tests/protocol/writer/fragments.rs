//! Samples that do not fit into one datagram.

use super::script::{Script, best_effort, instance, reliable};
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::DataWriterQos;
use dds_rtps::writer::{FragmentSize, ReaderProxyConfig};

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().keep_all()
}

fn small_fragments(fragments_per_frame: u16) -> Script {
    Script::with(false, &keep_all(), |config| {
        config.fragment_size = FragmentSize { same_host: 65_000, network: 1000 / fragments_per_frame };
    })
}

/// Creates a script whose reliable reader has answered.
///
/// It has sent a sample of five fragments of 1000 bytes.
fn with_sample() -> Script {
    let mut script = small_fragments(1);
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    assert_eq!(script.write_large(4100), 1);
    let lines = script.sent();
    assert_eq!(
        lines,
        [
            "7002: TS F2(1 1-1/5)",
            "7002: TS F2(1 2-2/5)",
            "7002: TS F2(1 3-3/5)",
            "7002: TS F2(1 4-4/5)",
            "7002: TS F2(1 5-5/5) HB2(1..1)",
        ]
    );
    script
}

#[test]
fn last_fragment_carries_heartbeat() {
    with_sample();
}

#[test]
fn same_host_fragments_fill_datagram() {
    let mut script = Script::new(false, &keep_all().best_effort());
    script.match_reader(ReaderProxyConfig { same_host: true, ..best_effort(2) });
    script.write_large(64_000);
    script.write_large(130_001);
    assert_eq!(
        script.sent(),
        ["7002: TS D2(1)", "7002: TS F2(2 1-1/3)", "7002: TS F2(2 2-2/3)", "7002: TS F2(2 3-3/3)"]
    );
}

#[test]
fn fragment_datagram_fits_ethernet_frame() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.write_large(10_000);
    while script.writer.poll_transmit(script.now(), &mut script.datagram) {
        assert!(script.datagram.len() <= 1472);
    }
}

#[test]
fn tiny_fragments_share_one_data_frag() {
    let mut script = small_fragments(4);
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    script.write_large(2200);
    assert_eq!(script.sent(), ["7002: TS F2(1 1-5/9)", "7002: TS F2(1 6-9/9) HB2(1..1)"]);
    script.nack_frag(2, 1, &[1, 2, 3, 4, 5, 6, 9]);
    assert_eq!(
        script.sent(),
        ["7002: DST2 TS F2(1 1-5/9)", "7002: DST2 TS F2(1 6-6/9)", "7002: DST2 TS F2(1 9-9/9) HB2(1..1)"]
    );
}

#[test]
fn only_missing_fragments_are_sent() {
    let mut script = with_sample();
    script.nack_frag(2, 1, &[2, 4, 5]);
    assert_eq!(
        script.sent(),
        ["7002: DST2 TS F2(1 2-2/5)", "7002: DST2 TS F2(1 4-4/5)", "7002: DST2 TS F2(1 5-5/5) HB2(1..1)"]
    );
}

#[test]
fn repeated_fragment_request_is_deferred() {
    let mut script = with_sample();
    script.nack_frag(2, 1, &[2]);
    assert_eq!(script.sent().len(), 1);
    script.nack_frag(2, 1, &[2]);
    assert!(script.sent().is_empty());
    script.wait(5);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 2-2/5) HB2(1..1)"]);
}

#[test]
fn newly_requested_fragments_are_sent_at_once() {
    let mut script = with_sample();
    script.nack_frag(2, 1, &[2]);
    assert_eq!(script.sent().len(), 1);
    script.nack_frag(2, 1, &[3, 4]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 3-3/5)", "7002: DST2 TS F2(1 4-4/5) HB2(1..1)"]);
}

#[test]
fn fragments_requested_twice_go_out_once() {
    let mut script = with_sample();
    script.nack_frag(2, 1, &[1, 2, 3]);
    script.nack_frag(2, 1, &[2, 3, 4]);
    assert_eq!(script.sent().len(), 4);
    assert_eq!(script.writer.counters().repairs, 4);
}

#[test]
fn missing_sample_is_sent_with_all_fragments() {
    let mut script = with_sample();
    script.acknack(2, 1, &[1]);
    let lines = script.sent();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0], "7002: DST2 TS F2(1 1-1/5)");
    assert_eq!(lines[4], "7002: DST2 TS F2(1 5-5/5) HB2(1..1)");
}

#[test]
fn acknowledged_sample_stops_retransmission() {
    let mut script = with_sample();
    script.acknack(2, 1, &[1]);
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    script.acknack(2, 2, &[]);
    assert!(script.sent().iter().all(|line| !line.contains('F')));
}

#[test]
fn changes_and_fragments_repair_separately() {
    let mut script = with_sample();
    script.write();
    script.write_large(1500);
    script.sent();
    script.acknack(2, 1, &[1, 2, 3]);
    let lines = script.sent();
    assert_eq!(lines[5..], ["7002: DST2 TS D2(2)", "7002: DST2 TS F2(3 1-1/2)", "7002: DST2 TS F2(3 2-2/2) HB2(1..3)"]);
}

#[test]
fn request_for_removed_fragments_gets_gap() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    script.match_reader(reliable(2));
    script.write_large(5000);
    script.sent();
    script.acknack(2, 1, &[]);
    script.write_large(5000);
    script.sent();
    script.nack_frag(2, 1, &[2]);
    assert_eq!(script.sent(), ["7002: DST2 GAP2(1..1)"]);
}

#[test]
fn replaced_sample_is_sent_until_acknowledged() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    script.write_large(5000);
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    script.write();
    script.write();
    let rest = ["7002: TS F2(1 2-2/4)", "7002: TS F2(1 3-3/4)", "7002: TS F2(1 4-4/4) HB2(1..1)"];
    assert_eq!(script.sent(), [&rest[..], &["7002: TS D2(3) GAP2(2..2)"]].concat());
    script.nack_frag(2, 1, &[3]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 3-3/4) HB2(1..3)"]);
    assert_eq!(script.writer.history_len(), 2);
    script.acknack(2, 2, &[]);
    assert_eq!(script.writer.history_len(), 1);
    assert_eq!(script.writer.counters().overwritten_unacknowledged, 1);
}

#[test]
fn only_one_replaced_sample_is_kept() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_last(1));
    script.match_reader(reliable(2));
    script.write_large(5000);
    script.sent();
    for number in 2..=9 {
        script.write_large(5000);
        assert!(script.writer.history_len() <= 2);
        assert!(script.sent().iter().any(|line| line.contains(&format!("F2({number} 1-1/4)"))));
    }
    assert_eq!(script.writer.counters().overwritten_unacknowledged, 8);
}

#[test]
fn invalid_fragment_requests_are_counted() {
    let mut script = with_sample();
    script.write();
    script.sent();
    script.nack_frag(2, 1, &[5, 6, 7]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 5-5/5) HB2(1..2)"]);
    script.nack_frag(2, 2, &[1]);
    script.nack_frag(2, 7, &[1]);
    assert!(script.sent().is_empty());
    assert_eq!(script.writer.counters().malformed, 3);
}

#[test]
fn pending_fragment_requests_are_bounded() {
    let mut script = small_fragments(1);
    script.match_reader(reliable(2));
    for _ in 0..20 {
        script.write_large(1500);
    }
    script.sent();
    for number in 1..=20 {
        script.nack_frag(2, number, &[1]);
    }
    assert_eq!(script.writer.counters().fragment_requests_dropped, 12);
    assert_eq!(script.sent().len(), 8);
}

#[test]
fn unsent_fragments_are_not_missing() {
    let mut script = small_fragments(1);
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    script.write_large(3000);
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    script.nack_frag(2, 1, &[1, 2, 3]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 1-1/3)", "7002: TS F2(1 2-2/3)", "7002: TS F2(1 3-3/3) HB2(1..1)"]);
}

#[test]
fn very_long_sample_sends_heartbeat_frags() {
    let mut script = small_fragments(1);
    script.match_reader(reliable(2));
    script.sent();
    script.write_large(100_000);
    let lines = script.sent();
    assert_eq!(lines.len(), 100);
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("HB")).collect();
    assert_eq!(told, ["7002: TS F2(1 33-33/100) HB2(1..0)", "7002: TS F2(1 100-100/100) HB2(1..0 final) HB2(1..1)"]);
}

#[test]
fn fragment_size_is_fixed_per_sample() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(ReaderProxyConfig { same_host: true, ..reliable(2) });
    script.write_large(130_000);
    script.sent();
    script.match_reader(reliable(3));
    script.acknack(2, 1, &[1]);
    assert!(script.sent().iter().any(|line| line.starts_with("7002: DST2 TS F2(1 1-1/2)")));
    script.write_large(2000);
    assert!(script.sent().contains(&"7002,7003: TS F*(2 1-1/2)".to_owned()));
}

#[test]
fn large_key_fragments_carry_key_flag() {
    let mut script = Script::with(true, &keep_all(), |config| {
        config.fragment_size = FragmentSize { same_host: 65_000, network: 1000 };
    });
    script.match_reader(reliable(2));
    script.sent();
    script.acknack(2, 1, &[]);
    let key: Vec<u8> = (0..2500).map(|index| (index % 251) as u8).collect();
    script.write_change(ChangeKind::NotAliveDisposed, instance(7), &key).unwrap();
    let first = "7002: TS F2(1 1-1/3 key kSome(7) s1)";
    assert_eq!(script.sent(), [first, "7002: TS F2(1 2-2/3 key)", "7002: TS F2(1 3-3/3 key) HB2(1..1)"]);
    // Repairs repeat this: the first fragment carries the status.
    script.nack_frag(2, 1, &[1, 3]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 1-1/3 key kSome(7) s1)", "7002: DST2 TS F2(1 3-3/3 key) HB2(1..1)"]);
}

#[test]
fn nack_frag_counts_wrap() {
    let mut script = with_sample();
    let stale = |script: &Script| script.writer.counters().stale;
    for (count, is_new) in
        [(i32::MAX - 1, true), (i32::MAX, true), (i32::MAX, false), (i32::MIN, true), (i32::MAX, false)]
    {
        let before = stale(&script);
        script.nack_frag_with(2, count, 1, &[1]);
        assert_eq!(stale(&script) == before, is_new, "{count}");
    }
}

/// A restarted reader counts its NACK_FRAGs and its ACKNACKs from the beginning.
#[test]
fn restarted_reader_may_request_fragments_again() {
    let mut script = with_sample();
    script.nack_frag_with(2, 50, 1, &[2]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 2-2/5) HB2(1..1)"]);
    script.wait(1000);
    script.sent();
    script.nack_frag_with(2, 2, 1, &[3]);
    assert!(!script.sent().concat().contains("F2("));
    script.acknack_with(2, 0, 1, &[], false);
    script.sent();
    script.nack_frag_with(2, 2, 1, &[3]);
    assert!(script.sent().concat().contains("F2(1 3-3/5)"));
}
