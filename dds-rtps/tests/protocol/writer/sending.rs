//! New changes on their way to all matched readers.

use super::script::{Script, best_effort, instance, line_of, reader_guid, reliable};
use dds_rtps::cdr::{self, Encoding, Keyed, TypeInfo};
use dds_rtps::concurrent::Payload;
use dds_rtps::history::ChangeKind;
use dds_rtps::output::Datagram;
use dds_rtps::qos::DataWriterQos;
use dds_rtps::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Locator, SequenceNumber, Time};
use dds_rtps::wire::{Message, Receiver, Submessage};
use dds_rtps::writer::{NewChange, ReaderProxyConfig, StatelessWriter};

fn qos() -> DataWriterQos {
    DataWriterQos::default().best_effort().keep_last(100)
}

#[test]
fn nothing_is_sent_without_readers() {
    let mut script = Script::new(false, &qos());
    script.write();
    assert!(script.sent().is_empty());
    script.match_reader(best_effort(2));
    assert!(script.sent().is_empty());
    assert_eq!(script.write(), 2);
    assert_eq!(script.sent(), ["7002: TS D2(2)"]);
}

#[test]
fn change_goes_once_to_all_locators() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    script.match_reader(best_effort(3));
    let shared = ReaderProxyConfig::new(reader_guid(4), best_effort(3).unicast);
    script.match_reader(shared);
    script.write();
    assert_eq!(script.sent(), ["7002,7003: TS D*(1)"]);
}

#[test]
fn multicast_group_gets_one_datagram() {
    let mut script = Script::new(false, &qos());
    let group = Locator::udp_v4([239, 255, 0, 1].into(), 7401);
    for number in [2, 3] {
        script.match_reader(ReaderProxyConfig { multicast: vec![group], ..best_effort(number) });
    }
    script.match_reader(best_effort(4));
    script.write();
    assert_eq!(script.sent(), ["7401,7004: TS D*(1)"]);
    script.writer.unmatch_reader(script.now(), reader_guid(3));
    script.write();
    assert_eq!(script.sent(), ["7002,7004: TS D*(2)"]);
}

#[test]
fn small_waiting_changes_share_datagram() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    for _ in 0..3 {
        script.write();
    }
    script.ms += 1;
    script.write();
    assert_eq!(script.sent(), ["7002: TS D2(1) D2(2) D2(3) TS D2(4)"]);
}

#[test]
fn shared_datagram_fits_ethernet_frame() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    for _ in 0..10 {
        script.write_large(400);
    }
    let mut lines = 0;
    while script.writer.poll_transmit(script.now(), &mut script.datagram) {
        assert!(script.datagram.len() <= 1472);
        lines += 1;
    }
    assert_eq!(lines, 4);
}

#[test]
fn large_payloads_are_gathered_and_small_copied() {
    let mut script = Script::new(false, &qos());
    script.match_reader(ReaderProxyConfig { same_host: true, ..best_effort(2) });
    let large = Payload::copy_of(&[7; 5001]);
    for payload in [Payload::copy_of(&[1; 100]), large.clone(), Payload::copy_of(&[2; 9])] {
        script.writer.write(script.now(), NewChange::alive(InstanceHandle::NIL, payload)).unwrap();
    }
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    let at = large.bytes().as_ptr();
    assert!(script.datagram.segments().any(|segment| segment.as_ptr() == at && segment.len() == 5001));
    assert_eq!(script.datagram.segments().count(), 3);
    assert_eq!(line_of(&script.datagram), "7002: TS D2(1) D2(2) D2(3)");
}

#[test]
fn source_timestamp_is_of_writer_or_application() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    let stamped = Time::from_unix_nanos(1_234_567_890);
    script.write();
    for source_timestamp in [Some(stamped), Some(Time::INVALID)] {
        let mut change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0]));
        change.source_timestamp = source_timestamp;
        script.writer.write(script.now(), change).unwrap();
    }
    assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
    let mut bytes = Vec::new();
    script.datagram.copy_to(&mut bytes);
    let message = Message::parse(&bytes).unwrap();
    let mut receiver = Receiver::new(&message.header);
    let mut stamps = Vec::new();
    for submessage in message.submessages() {
        let submessage = submessage.unwrap();
        receiver.apply(&submessage);
        if let Submessage::Data(_) = submessage {
            stamps.push(receiver.source_timestamp);
        }
    }
    assert_eq!(stamps, [Some(script.now().time), Some(stamped), None]);
}

#[test]
fn keyed_changes_carry_hash_and_status() {
    let mut script = Script::new(true, &qos());
    script.match_reader(best_effort(2));
    script.write_key(7).unwrap();
    let key = [0, 1, 0, 0, 7, 0, 0, 0];
    script.write_change(ChangeKind::NotAliveDisposed, instance(7), &key).unwrap();
    script.write_change(ChangeKind::NotAliveUnregistered, instance(7), &key).unwrap();
    script.write_change(ChangeKind::NotAliveDisposedUnregistered, instance(7), &key).unwrap();
    assert_eq!(script.sent(), ["7002: TS D2(1 k7) D2(2key k7 s1) D2(3key k7 s2) D2(4key k7 s3)"]);
}

#[derive(dds_macros::DdsType)]
#[dds(crate = "dds_rtps")]
struct Track {
    #[dds(key)]
    kind: u8,
    #[dds(key)]
    number: u64,
}

/// A writer of XCDR1 sends the key hash of XCDR1 (RTPS 2.5, 9.6.4.8).
///
/// Within this crate the key hash of XCDR2 identifies the instance.
#[test]
fn key_hash_on_wire_follows_encoding() {
    let mut script = Script::with(true, &qos(), |config| config.hashed_type = Some(Track::DESCRIPTION.into()));
    script.match_reader(best_effort(2));
    let (mut payload, mut scratch) = (Vec::new(), Vec::new());
    let track = Track { kind: 1, number: 2 };
    cdr::encode_payload(&track, Encoding::Xcdr1, &mut payload).unwrap();
    let instance = cdr::key_hash_of(&track, Encoding::Xcdr2, &mut scratch).unwrap();
    for kind in [ChangeKind::Alive, ChangeKind::NotAliveDisposed] {
        if kind != ChangeKind::Alive {
            cdr::encode_key_payload::<Track>(&track.key(), Encoding::Xcdr1, &mut payload).unwrap();
        }
        script.write_change(kind, instance, &payload).unwrap();
        assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
        let mut bytes = Vec::new();
        script.datagram.copy_to(&mut bytes);
        let hash = [0x70, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
        assert!(bytes.windows(hash.len()).any(|window| window == hash), "{bytes:02x?}");
    }
}

#[test]
fn change_without_payload_is_sent_empty() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    let change = NewChange { payload: None, ..NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[])) };
    script.writer.write(script.now(), change).unwrap();
    assert_eq!(script.sent(), ["7002: TS D2(1none)"]);
}

#[test]
fn inline_qos_is_sent_if_reader_expects_it() {
    const LIFESPAN: [u8; 12] = [0x2b, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0];
    let mut script = Script::with(false, &qos(), |config| config.inline_qos = LIFESPAN.to_vec());
    let carried = |script: &mut Script| {
        script.write();
        assert!(script.writer.poll_transmit(script.now(), &mut script.datagram));
        let mut bytes = Vec::new();
        script.datagram.copy_to(&mut bytes);
        bytes.windows(LIFESPAN.len()).any(|window| window == LIFESPAN)
    };
    script.match_reader(best_effort(2));
    assert!(!carried(&mut script));
    script.match_reader(ReaderProxyConfig { expects_inline_qos: true, ..best_effort(3) });
    assert!(carried(&mut script));
    script.writer.set_inline_qos(&[]);
    assert!(!carried(&mut script));
}

#[test]
fn repeated_match_adopts_new_locators() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    let moved = ReaderProxyConfig { unicast: best_effort(9).unicast, ..best_effort(2) };
    script.match_reader(moved);
    script.write();
    assert_eq!(script.sent(), ["7009: TS D2(1)"]);
    assert_eq!(script.writer.remote_readers(), 1);
    assert!(script.writer.unmatch_reader(script.now(), reader_guid(2)));
    assert!(!script.writer.unmatch_reader(script.now(), reader_guid(2)));
}

#[test]
fn unmatched_reader_leaves_other_requests() {
    let mut script = Script::new(false, &DataWriterQos::default().keep_all());
    for number in 2..=5 {
        script.match_reader(reliable(number));
    }
    script.sent();
    script.write();
    script.sent();
    for number in 2..=5 {
        script.acknack(number, 1, &[1]);
    }
    script.writer.unmatch_reader(script.now(), reader_guid(3));
    let mut lines = script.sent();
    lines.sort();
    assert_eq!(lines, [2, 4, 5].map(|n| format!("700{n}: DST{n} TS D{n}(1) HB{n}(1..1)")));
}

#[test]
fn samples_before_match_do_not_reach_reader() {
    let mut script = Script::new(false, &qos());
    script.match_reader(best_effort(2));
    script.write();
    script.match_reader(best_effort(3));
    script.write();
    assert_eq!(script.sent(), ["7002: TS D*(1)", "7002,7003: TS D*(2)"]);
}

#[test]
fn expired_change_is_not_sent() {
    let lifespan = std::time::Duration::from_millis(50);
    let mut script = Script::new(false, &qos().lifespan(lifespan));
    script.match_reader(best_effort(2));
    script.write();
    script.ms += 30;
    script.write();
    script.ms += 30;
    assert_eq!(script.sent(), ["7002: TS D2(2)"]);
    script.wait(100);
    assert_eq!(script.writer.history_len(), 0);
    assert_eq!(script.writer.deadline(), None);
}

#[test]
fn stateless_writer_sends_change_on_demand() {
    let guid = Guid::new(GuidPrefix([1; 12]), EntityId::SPDP_WRITER);
    let everybody = Locator::udp_v4([239, 255, 0, 1].into(), 7400);
    let mut writer = StatelessWriter::new(guid, EntityId::SPDP_READER, false, vec![everybody]);
    let mut datagram = Datagram::new();
    writer.resend();
    assert!(!writer.poll_transmit(&mut datagram));
    let script = Script::new(false, &qos());
    let change = NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 3, 0, 0]));
    assert_eq!(writer.write(script.now(), change), SequenceNumber(1));
    let mut sent = || {
        let sent = writer.poll_transmit(&mut datagram).then(|| line_of(&datagram));
        assert!(!writer.poll_transmit(&mut datagram));
        let newcomer = Locator::udp_v4([10, 0, 0, 1].into(), 7410);
        writer.resend_to(&[newcomer]);
        sent
    };
    assert_eq!(sent().unwrap(), "7400: TS D0(1)");
    assert_eq!(sent().unwrap(), "7410: TS D0(1)");
    for port in 1..100 {
        writer.resend_to(&[Locator::udp_v4([10, 0, 0, 2].into(), port)]);
    }
    writer.add_locator(Locator::udp_v4([127, 0, 0, 1].into(), 7412));
    assert!(writer.poll_transmit(&mut datagram));
    assert_eq!(datagram.destinations()[..2], [everybody, Locator::udp_v4([127, 0, 0, 1].into(), 7412)]);
}
