//! A writer that relays samples of other writers: their origin on the wire, and their receivers.

use super::script::{Script, best_effort, late_joiner, reader_guid, reliable};
use dds_rtps::concurrent::Payload;
use dds_rtps::history::OriginalWriterInfo;
use dds_rtps::qos::{DataWriterQos, Durability};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, SequenceNumber};
use dds_rtps::wire::{Message, SampleIdentity, Submessage};
use dds_rtps::writer::{NewChange, ReaderProxyConfig};

fn transient() -> DataWriterQos {
    DataWriterQos::default().keep_all().durability(Durability::Transient)
}

/// Describes a reader that gets the kept samples when it matches, and no later ones.
fn late_only(number: u8) -> ReaderProxyConfig {
    ReaderProxyConfig { live: false, asks_for_history: false, ..late_joiner(number) }
}

/// Describes a reader that gets nothing.
fn left_out(number: u8) -> ReaderProxyConfig {
    ReaderProxyConfig { live: false, ..reliable(number) }
}

#[test]
fn relayed_sample_carries_writer_and_lifespan() {
    let mut script = Script::new(false, &transient());
    script.match_reader(best_effort(2));
    let writer = Guid::new(GuidPrefix([9; 12]), EntityId([0, 0, 9, 2]));
    let identity = SampleIdentity { writer, sequence_number: SequenceNumber(77) };
    for lifespan in [Duration::from_secs(3), Duration::INFINITE] {
        let mut change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0]));
        change.origin = Some(Box::new(OriginalWriterInfo { identity, lifespan }));
        script.writer.write(script.now(), change).unwrap();
        let now = script.now();
        assert!(script.writer.poll_transmit(now, &mut script.datagram));
        let mut bytes = Vec::new();
        script.datagram.copy_to(&mut bytes);
        let message = Message::parse(&bytes).unwrap();
        let mut submessages = message.submessages().map(Result::unwrap);
        let data = submessages.find_map(|submessage| match submessage {
            Submessage::Data(data) => Some(data),
            _ => None,
        });
        let inline_qos = data.unwrap().inline_qos.unwrap();
        assert_eq!(inline_qos.original_writer(), Some(identity));
        assert_eq!(inline_qos.lifespan(), Some(lifespan).filter(|lifespan| !lifespan.is_infinite()));
    }
    // The sample's own lifespan applies, although the writer has none.
    script.wait(3000);
    assert_eq!(script.writer.history_len(), 1);
}

#[test]
fn passive_history_reader_is_told_its_start() {
    let mut script = Script::new(false, &transient());
    script.write_times(3);
    script.match_reader(ReaderProxyConfig { asks_for_history: false, ..late_joiner(2) });
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) D2(2) D2(3) HB2(1..0 final) HB2(1..3)"]);
    script.acknack(2, 4, &[]);
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(4) HB2(1..4)"]);
}

#[test]
fn readers_get_kept_or_also_new_samples() {
    let mut script = Script::new(false, &transient());
    script.write_times(2);
    script.match_reader(late_only(2));
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) D2(2) HB2(1..0 final) HB2(1..2)"]);
    script.acknack(2, 3, &[]);
    script.match_reader(late_joiner(3));
    script.sent();
    script.acknack(3, 3, &[]);
    script.match_reader(left_out(4));
    assert_eq!(script.sent(), ["7004: DST4 HB4(3..2)"]);
    script.acknack(4, 3, &[]);
    script.write();
    assert_eq!(script.sent(), ["7003: DST3 TS D3(3) HB3(1..3)"]);
    script.acknack(3, 3, &[3]);
    assert_eq!(script.sent(), ["7003: DST3 TS D3(3) HB3(1..3)"]);
    script.acknack(3, 4, &[]);
    // Any reader that requests the change gets a GAP for it.
    for reader in [2, 4] {
        script.acknack(reader, 3, &[3]);
        let line = script.sent().concat();
        assert!(line.contains(&format!("GAP{reader}(3..3)")) && !line.contains("D("), "{line}");
        script.acknack(reader, 4, &[]);
    }
    assert!(script.writer.is_acknowledged(SequenceNumber(3)));
}

#[test]
fn large_samples_go_only_to_entitled_readers() {
    let mut script = Script::new(false, &transient());
    script.match_reader(late_joiner(3));
    script.match_reader(left_out(4));
    script.sent();
    script.acknack(3, 1, &[]);
    script.acknack(4, 1, &[]);
    script.write_large(3000);
    let lines = script.sent();
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("7003: DST3") && line.contains("F3(1 ")).count(),
        3,
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| !line.starts_with("7004")), "{lines:?}");
}

#[test]
fn withdrawn_sample_no_longer_exists() {
    let mut script = Script::new(false, &transient());
    script.write_times(3);
    let now = script.now();
    assert!(script.writer.withdraw(now, SequenceNumber(2)));
    assert!(!script.writer.withdraw(now, SequenceNumber(2)));
    script.match_reader(late_joiner(2));
    assert_eq!(script.sent(), ["7002: DST2 TS D2(1) D2(3) GAP2(2..2) HB2(1..3)"]);
    assert!(script.writer.unmatch_reader(script.now(), reader_guid(2)));
}
