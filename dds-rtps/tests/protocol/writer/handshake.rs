//! The start of a reader's stream: the GAP before every HEARTBEAT until the reader has answered one.

use super::script::{Script, best_effort, late_joiner, reader_guid, reliable};
use dds_rtps::qos::{DataWriterQos, Durability};
use dds_rtps::types::{EntityId, Guid};
use dds_rtps::writer::ReaderProxyConfig;

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().keep_all()
}

/// A second reader of participant `number`, with the same locator.
fn sibling(number: u8, wants_history: bool) -> ReaderProxyConfig {
    let guid = Guid::new(reader_guid(number).prefix, EntityId([0, 1, number, 4]));
    ReaderProxyConfig { guid, wants_history, ..reliable(number) }
}

#[test]
fn every_first_datagram_names_start_of_stream() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(best_effort(3));
    script.write_times(4);
    script.sent();
    script.match_reader(reliable(2));
    assert_eq!(script.sent(), ["7002: DST2 HB2(5..4)"]);
    for number in 5..=6 {
        script.write();
        let heartbeats = format!("DST2 HB2(5..4 final) DST0 HB*(5..{number})");
        assert_eq!(script.sent(), [format!("7003,7002: TS D*({number}) {heartbeats}")]);
    }
    script.wait(100);
    assert_eq!(script.sent(), ["7002: DST2 HB2(5..4 final) HB2(5..6)"]);
    // A pre-emptive ACKNACK is no answer, because its sender does not know the writer yet.
    script.acknack_with(2, 0, 1, &[], false);
    assert_eq!(script.sent(), ["7002: DST2 HB2(5..4 final) HB2(5..6)"]);
    script.acknack(2, 5, &[5]);
    assert_eq!(script.sent(), ["7002: DST2 TS D2(5) HB2(5..6)"]);
    script.wait(100);
    script.write();
    assert_eq!(script.sent(), ["7003,7002: TS D*(7) HB*(5..7)"]);
}

#[test]
fn repair_for_new_reader_names_start_of_stream() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.write_large(5000);
    script.sent();
    script.nack_frag(2, 1, &[2]);
    assert_eq!(script.sent(), ["7002: DST2 TS F2(1 2-2/4) HB2(1..0 final) HB2(1..1)"]);
}

#[test]
fn restarted_reader_is_told_its_old_position() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.write_times(3);
    script.sent();
    script.acknack(2, 3, &[3]);
    script.sent();
    script.acknack_with(2, 0, 1, &[], false);
    assert_eq!(script.sent(), ["7002: DST2 HB2(3..2 final) HB2(3..3)"]);
}

#[test]
fn history_reader_gets_no_gap_for_history() {
    let mut script = Script::new(false, &keep_all().durability(Durability::TransientLocal));
    script.write_times(2);
    script.match_reader(late_joiner(2));
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) D2(2) HB2(1..2)"]);
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(3) HB2(1..3)"]);
}

#[test]
fn readers_of_one_participant_share_start() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.write_times(2);
    script.match_reader(sibling(2, false));
    // To Cyclone DDS, a HEARTBEAT from 3 on would mean that the first reader has missed nothing.
    let lines = script.sent();
    assert_eq!(
        lines,
        [
            "7002: TS D*(1) DST2 HB2(1..0 final) DST2 HB2(1..0 final) DST0 HB*(1..1)",
            "7002: DST2 HB2(1..0 final) HB2(1..1)",
            "7002: TS D*(2) DST2 HB2(1..0 final) DST2 HB2(1..0 final) DST0 HB*(1..2)",
            "7002: DST2 HB2(1..0 final) HB2(1..2)"
        ]
    );
}

#[test]
fn volatile_reader_keeps_history_of_sibling() {
    let mut script = Script::new(false, &keep_all().durability(Durability::TransientLocal));
    script.write_times(3);
    script.match_reader(sibling(2, true));
    script.match_reader(reliable(2));
    let lines = script.sent();
    assert_eq!(lines, ["7002: DST2 TS D2(1) D2(2) D2(3) HB2(1..3)", "7002: DST2 HB2(1..3)"]);
    script.write();
    assert_eq!(script.sent(), ["7002: TS D*(4) DST2 HB2(1..3 final) DST0 HB*(1..4)"]);
}

#[test]
fn many_new_readers_are_told_one_by_one() {
    let mut script = Script::new(false, &keep_all());
    for number in 2..=7 {
        script.match_reader(reliable(number));
    }
    script.sent();
    script.wait(60);
    script.write();
    let lines = script.sent();
    assert_eq!(lines.len(), 7);
    assert!(!lines[0].contains("HB"), "{lines:?}");
    for (line, number) in lines[1..].iter().zip(2..) {
        assert_eq!(*line, format!("700{number}: DST{number} HB{number}(1..0 final) HB{number}(1..1)"));
    }
    // The timer asks all readers at once, and tells each its first relevant sequence number.
    script.wait(100);
    let lines = script.sent();
    let told: String = (2..=7).map(|number| format!(" DST{number} HB{number}(1..0 final)")).collect();
    assert_eq!(lines, [format!("7002,7003,7004,7005,7006,7007:{told} DST0 HB*(1..1)")]);
}

#[test]
fn large_sample_to_silent_readers_asks_first() {
    let mut script = Script::new(false, &keep_all());
    for number in 2..=7 {
        script.match_reader(reliable(number));
    }
    script.sent();
    for number in 2..=7 {
        script.acknack_with(number, 0, 1, &[], false);
    }
    script.sent();
    script.write_large(400_000);
    let lines = script.sent();
    let asked = |number| lines.iter().any(|line| line.contains(&format!("DST{number} HB{number}(1..0)")));
    assert!((2..=7).all(asked), "{lines:?}");
}

/// Changes for another reader at the same locator are irrelevant to this one.
///
/// It would accept them as soon as it knew the writer.
#[test]
fn own_vendor_reader_starts_after_irrelevant() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(100));
    script.sent();
    script.acknack(100, 1, &[]);
    script.write_large_times(2, 50_000);
    let late = Guid::new(reader_guid(100).prefix, EntityId([0, 0, 101, 4]));
    script.match_reader(ReaderProxyConfig { guid: late, ..reliable(100) });
    let lines = script.sent();
    let behind = lines.iter().position(|line| line.contains("F*(2 38-38/38)")).unwrap();
    let named: Vec<_> = lines.iter().enumerate().filter(|(_, line)| line.contains("HB101(")).collect();
    assert!(!named.is_empty(), "{lines:?}");
    assert!(named.iter().all(|(at, line)| *at >= behind && line.contains("HB101(3..2")), "{named:?}");
}

#[test]
fn restarted_volatile_reader_gets_no_repeats() {
    let mut script = Script::new(false, &keep_all().durability(Durability::TransientLocal));
    script.match_reader(reliable(100));
    script.write_times(3);
    script.sent();
    script.acknack(100, 3, &[3]);
    script.sent();
    script.acknack_with(100, 0, 1, &[], false);
    assert_eq!(script.sent(), ["7100: DST1 HB100(3..3)"]);
    // A reader that requests the full history gets it.
    script.match_reader(late_joiner(101));
    script.sent();
    script.acknack(101, 4, &[]);
    script.acknack_with(101, 0, 1, &[], false);
    assert!(script.sent().concat().contains("HB101(1..3"));
}

/// The other readers are asked as well.
#[test]
fn unresponsive_reader_is_asked_for_a_while_only() {
    let mut script = Script::new(false, &keep_all());
    script.match_reader(reliable(2));
    script.match_reader(reliable(3));
    script.sent();
    let mut asking = Vec::new();
    for number in 1..=1000 {
        script.write();
        asking.push(script.sent().concat().contains("HB"));
        script.acknack(3, number + 1, &[]);
        script.wait(1);
    }
    let asking = |range: std::ops::Range<usize>| asking[range].iter().filter(|asks| **asks).count();
    assert_eq!(asking(0..150), 150);
    assert!((1..100).contains(&asking(500..1000)), "{} of 500", asking(500..1000));
    // A new reader may not even know the writer.
    script.match_reader(reliable(4));
    script.sent();
    script.write();
    assert!(script.sent().concat().contains("HB"));
}
