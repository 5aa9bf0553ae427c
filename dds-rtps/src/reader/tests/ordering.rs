//! Order, duplicates and losses, without requests.

use super::*;
use crate::concurrent::SlotMut;

#[test]
fn best_effort_counts_missing_numbers_as_lost() {
    let mut script = Script::best_effort();
    script.samples([5, 6, 9]);
    assert_eq!(script.taken(), [5, 6, 9]);
    assert_eq!(script.lost(), 2);
    assert_eq!(script.sample(7), Handled::Duplicate);
    assert_eq!(script.sample(9), Handled::Duplicate);
    assert!(script.take().is_empty());
    assert_eq!(script.reader.counters().duplicate, 2);
}

#[test]
fn best_effort_reader_sends_nothing() {
    let mut script = Script::best_effort();
    script.samples([1, 5]);
    assert_eq!(script.heartbeat(1, 5), Handled::NotForUs);
    assert!(script.sent().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn best_effort_reader_treats_reliable_writer_as_best_effort() {
    let mut script = Script::new(keep_all(config(KeySource::None)));
    assert!(script.match_remote(WRITER, true));
    script.samples([3, 5]);
    assert_eq!(script.taken(), [3, 5]);
    assert!(script.sent().is_empty());
}

#[test]
fn best_effort_gap_counts_no_loss() {
    let mut script = Script::best_effort();
    script.samples([1]);
    assert_eq!(script.gap(2, 5, &[]), Handled::Accepted);
    script.samples([5]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn reliable_reader_refuses_best_effort_writer() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    assert!(!script.match_remote(WRITER, false));
    assert_eq!(script.sample(1), Handled::Unmatched);
    assert_eq!(script.reader.counters().unmatched, 1);
}

#[test]
fn changes_ahead_of_a_hole_wait_for_it() {
    let mut script = Script::reliable();
    script.samples([1, 4, 3]);
    assert_eq!(script.taken(), [1]);
    script.samples([2]);
    assert_eq!(script.taken(), [2, 3, 4]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn each_number_is_delivered_once() {
    let mut script = Script::reliable();
    script.samples([2, 2, 1, 1, 2, 3, 3]);
    assert_eq!(script.taken(), [1, 2, 3]);
    assert_eq!(script.reader.counters().duplicate, 4);
}

#[test]
fn gap_fills_a_hole_without_loss() {
    let mut script = Script::reliable();
    script.samples([1, 5, 7]);
    script.gap(2, 4, &[4, 6]);
    assert_eq!(script.taken(), [1, 5, 7]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn gap_ahead_of_a_hole_is_remembered() {
    let mut script = Script::reliable();
    script.gap(2, 2000, &[]);
    script.gap(3000, 3001, &[]);
    script.samples([1, 2000]);
    assert_eq!(script.taken(), [1, 2000]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn change_received_before_its_gap_is_delivered() {
    let mut script = Script::reliable();
    script.samples([3]);
    script.gap(1, 6, &[]);
    script.samples([6]);
    assert_eq!(script.taken(), [3, 6]);
}

#[test]
fn numbers_below_writer_history_are_lost() {
    let mut script = Script::reliable();
    script.samples([1, 4]);
    script.heartbeat(6, 6);
    assert_eq!(script.taken(), [1, 4]);
    assert_eq!(script.lost(), 3);
    script.samples([6]);
    assert_eq!(script.taken(), [6]);
}

#[test]
fn empty_heartbeat_declares_earlier_numbers_lost() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.heartbeat(4, 3);
    assert_eq!(script.lost(), 2);
    assert_eq!(script.requested(), (4, vec![]));
}

#[test]
fn changes_too_far_ahead_are_repaired_later() {
    let mut script = Script::new(ReaderConfig { reorder_max: 4, ..transient_local(keep_all(config(KeySource::None))) });
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    assert_eq!(script.sample(5), Handled::Postponed);
    assert_eq!(script.sample(4), Handled::Accepted);
    assert_eq!(script.reader.counters().out_of_window, 1);
    script.samples(1..=3);
    assert_eq!(script.taken(), [1, 2, 3, 4]);
    script.heartbeat(1, 5);
    assert_eq!(script.requested(), (5, vec![5]));
}

#[test]
fn bytes_ahead_of_a_hole_are_bounded() {
    let mut script =
        Script::new(ReaderConfig { reorder_bytes_max: 20, ..transient_local(keep_all(config(KeySource::None))) });
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.samples([3, 4]);
    assert_eq!(script.sample(5), Handled::Postponed);
    script.samples([2, 1]);
    assert_eq!(script.taken(), [1]);
    script.samples([2]);
    assert_eq!(script.taken(), [2, 3, 4]);
}

#[test]
fn transient_local_reader_waits_for_first_heartbeat() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.samples([7]);
    assert!(script.take().is_empty());
    script.heartbeat(5, 7);
    script.samples([5, 6]);
    assert_eq!(script.taken(), [5, 6, 7]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn history_is_complete_after_first_heartbeat_range() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    assert!(script.reader.has_history());
    script.match_remote(WRITER, true);
    assert!(!script.reader.has_history());
    script.heartbeat(2, 4);
    script.samples([2, 3]);
    script.heartbeat(2, 9);
    assert!(!script.reader.has_history());
    script.samples([4]);
    assert!(script.reader.has_history());
}

#[test]
fn volatile_reader_begins_after_first_heartbeat() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 10);
    assert_eq!(script.sample(10), Handled::Duplicate);
    script.samples([12, 11]);
    assert_eq!(script.taken(), [11, 12]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn volatile_reader_begins_with_earlier_first_sample() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.samples([10]);
    assert_eq!(script.taken(), [10]);
    script.heartbeat(1, 12);
    script.sent();
    script.samples([9, 12, 11]);
    assert_eq!(script.taken(), [11, 12]);
}

#[test]
fn volatile_reader_begins_at_gap_of_separating_writer() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    let writer = WriterProxyConfig { separates_history: true, ..WriterProxyConfig::new(WRITER) };
    script.reader.match_writer(script.now(), writer);
    script.sent();
    script.heartbeat(8, 10);
    assert_eq!(script.requested(), (8, vec![8, 9, 10]));
    script.gap(8, 9, &[]);
    script.samples([9, 10]);
    assert_eq!(script.taken(), [9, 10]);
    assert_eq!(script.lost(), 0);
}

/// A volatile reader, and a writer that names its first relevant number.
fn to_be_named() -> Script {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    let writer =
        WriterProxyConfig { separates_history: true, names_first_relevant: true, ..WriterProxyConfig::new(WRITER) };
    script.reader.match_writer(script.now(), writer);
    script.sent();
    script
}

#[test]
fn volatile_reader_waits_for_named_first_number() {
    let mut script = to_be_named();
    script.samples([1005, 1006, 1008]);
    assert_eq!(script.heartbeat(1004, 1008), Handled::Accepted);
    script.gap(1, 1005, &[]);
    assert!(script.take().is_empty());
    // An answer shows that the reader waits for its first relevant number.
    assert_eq!(script.requested(), (1, vec![]));
    script.heartbeat_by_name(1006, 1008);
    assert_eq!(script.taken(), [1006]);
    assert_eq!(script.requested(), (1007, vec![1007]));
    script.samples([1005, 1007]);
    assert_eq!(script.taken(), [1007, 1008]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn named_start_may_lie_before_or_after_waiting_changes() {
    let mut script = to_be_named();
    script.samples([5, 7]);
    script.heartbeat_by_name(3, 7);
    assert_eq!(script.requested(), (3, vec![3, 4, 6]));
    script.samples([3, 4, 6]);
    assert_eq!(script.taken(), [3, 4, 5, 6, 7]);
    let mut script = to_be_named();
    script.samples([5, 7]);
    script.heartbeat_by_name(9, 8);
    script.samples([8, 9]);
    assert_eq!(script.taken(), [9]);
    let mut script = to_be_named();
    script.samples([1 << 40, (1 << 40) + 2]);
    script.heartbeat_by_name(3, 3);
    script.samples([3]);
    assert_eq!((script.taken(), script.lost()), (vec![3], 0));
}

/// A forged HEARTBEAT can name a wrong first number.
#[test]
fn denied_start_is_retracted() {
    for forged in [1 << 10, 1 << 60] {
        let mut script = to_be_named();
        script.heartbeat_by_name(forged, forged - 1);
        assert_eq!(script.sample(1), Handled::Duplicate);
        script.heartbeat(1, 3);
        script.later(1000);
        script.heartbeat(1, 3);
        script.samples([1, 2, 3]);
        assert_eq!((script.taken(), script.lost()), (vec![1, 2, 3], 0));
        assert_eq!(script.reader.counters().retracted, 1);
    }
}

#[test]
fn writers_of_three_vendors_separate_history() {
    let rust_dds = Guid::new(GuidPrefix::new(VendorId::RUSTDDS, [7; 10]), WRITER.entity_id);
    assert!(WriterProxyConfig::new(rust_dds).separates_history);
    let ours = Guid::new(GuidPrefix::new(VendorId::OURS, [7; 10]), WRITER.entity_id);
    let fast_dds = Guid::new(GuidPrefix::new(VendorId::EPROSIMA, [7; 10]), WRITER.entity_id);
    assert!(WriterProxyConfig::new(ours).separates_history && WriterProxyConfig::new(fast_dds).separates_history);
    assert!(
        WriterProxyConfig::new(ours).names_first_relevant && !WriterProxyConfig::new(fast_dds).names_first_relevant
    );
    assert!(!WriterProxyConfig::new(WRITER).separates_history);
}

#[test]
fn gap_from_one_sets_start_of_volatile_reader() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.gap(1, 8, &[]);
    script.samples([9]);
    assert!(script.take().is_empty());
    script.samples([8]);
    assert_eq!(script.taken(), [8, 9]);
}

#[test]
fn data_without_payload_uses_up_its_number() {
    let mut script = Script::reliable();
    script.samples([1]);
    let now = script.now();
    assert_eq!(
        script.reader.handle_data(now, &source(WRITER), &data(2, SerializedPayload::None), &()),
        Handled::Accepted
    );
    script.samples([3]);
    assert_eq!(script.taken(), [1, 3]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn undecodable_payload_is_lost_and_stream_continues() {
    let mut script = Script::reliable();
    let now = script.now();
    let handled = script.reader.handle_data(now, &source(WRITER), &data(1, SerializedPayload::Data(&[0, 1])), &());
    assert_eq!(handled, Handled::NotDecodable);
    script.samples([2]);
    assert_eq!(script.taken(), [2]);
    let lost = StatefulReaderEvent::SampleLost { writer: WRITER, count: 1, cause: LossCause::NotDecodable };
    assert_eq!(script.events(), [lost, StatefulReaderEvent::DataAvailable]);
}

#[test]
fn submessage_for_another_reader_is_ignored() {
    let mut script = Script::reliable();
    let bytes = body(1);
    let elsewhere = Data { reader_id: EntityId([9, 9, 9, 7]), ..data(1, SerializedPayload::Data(&bytes)) };
    let now = script.now();
    assert_eq!(script.reader.handle_data(now, &source(WRITER), &elsewhere, &()), Handled::NotForUs);
    let ours = Data { reader_id: READER.entity_id, ..elsewhere };
    assert_eq!(script.reader.handle_data(now, &source(WRITER), &ours, &()), Handled::Accepted);
}

#[test]
fn sample_directed_to_others_uses_up_its_number() {
    let mut script = Script::reliable();
    let bytes = body(1);
    let mut qos = vec![0x57, 0, 16, 0];
    qos.extend(OTHER.to_bytes());
    qos.extend([1, 0, 0, 0]);
    let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
    let directed = Data { inline_qos, ..data(1, SerializedPayload::Data(&bytes)) };
    let now = script.now();
    assert_eq!(script.reader.handle_data(now, &source(WRITER), &directed, &()), Handled::Accepted);
    script.samples([2]);
    assert_eq!(script.taken(), [2]);
}

#[test]
fn directed_sample_reaches_each_named_reader() {
    let mut script = Script::reliable();
    let bytes = body(1);
    let mut qos = Vec::new();
    for reader in [OTHER, READER] {
        qos.extend([0x57, 0, 16, 0]);
        qos.extend(reader.to_bytes());
    }
    qos.extend([1, 0, 0, 0]);
    let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
    let directed = Data { inline_qos, ..data(1, SerializedPayload::Data(&bytes)) };
    let now = script.now();
    assert_eq!(script.reader.handle_data(now, &source(WRITER), &directed, &()), Handled::Accepted);
    assert_eq!(script.taken(), [1]);
}

#[test]
fn unknown_must_understand_parameter_drops_sample() {
    for (id, is_dropped) in [(0x7234_u16, true), (0xc123, true), (0x4070, false), (0x3234, false), (0x8123, false)] {
        let mut script = Script::reliable();
        let bytes = body(1);
        let mut qos = id.to_le_bytes().to_vec();
        qos.extend([16, 0]);
        qos.extend([0; 16]);
        qos.extend([1, 0, 0, 0]);
        let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
        let sample = Data { inline_qos, ..data(1, SerializedPayload::Data(&bytes)) };
        let now = script.now();
        let handled = script.reader.handle_data(now, &source(WRITER), &sample, &());
        script.samples([2]);
        let taken = if is_dropped { vec![2] } else { vec![1, 2] };
        assert_eq!(script.taken(), taken, "{id:04x}");
        assert_eq!(handled == Handled::NotDecodable, is_dropped, "{id:04x}");
        assert_eq!(script.reader.counters().not_decodable, u64::from(is_dropped), "{id:04x}");
    }
}

#[test]
fn large_payloads_share_packet_small_ones_are_copied() {
    let mut script = Script::reliable();
    let mut bytes = vec![0, 1, 0, 0];
    bytes.resize(5000, 7);
    let packet = Payload::copy_of(&bytes);
    let now = script.now();
    for (number, len) in [(1, 5000), (2, 100)] {
        let part = packet.bytes().get(..len).unwrap();
        script.reader.handle_data(now, &source(WRITER), &data(number, SerializedPayload::Data(part)), &packet);
    }
    let samples = script.take();
    let same = |at: usize| samples[at].payload.as_ref().unwrap().bytes().as_ptr() == packet.bytes().as_ptr();
    assert!(same(0));
    assert!(!same(1));
    assert_eq!(samples[1].payload.as_ref().unwrap().bytes(), &bytes[..100]);
}

/// A receive buffer of 64 KiB, as receive threads have it, for a payload of any size.
fn receive_buffer(bytes: &[u8]) -> Payload {
    receive_buffer_of(64 << 10, bytes)
}

fn receive_buffer_of(len: usize, bytes: &[u8]) -> Payload {
    let mut slot = SlotMut::copy_of(&vec![0; len]);
    slot.buffer().clear();
    slot.buffer().extend_from_slice(bytes);
    slot.freeze()
}

#[test]
fn piled_up_samples_keep_no_half_empty_buffers() {
    let mut script = Script::reliable();
    let mut bytes = vec![0, 1, 0, 0];
    bytes.resize(5000, 7);
    let now = script.now();
    // The last sample arrives before the missing one.
    for number in (1..=100).chain([102]) {
        let packet = receive_buffer(&bytes);
        script.reader.handle_data(
            now,
            &source(WRITER),
            &data(number, SerializedPayload::Data(packet.bytes())),
            &packet,
        );
    }
    let samples = script.take();
    let memory =
        |sample: &HistorySample| if sample.payload.as_ref().unwrap().is_small_part() { 64 << 10 } else { 5000 };
    assert_eq!(samples.len(), 100);
    assert_eq!(samples.iter().map(memory).sum::<usize>(), 16 * (64 << 10) + 84 * 5000);
    script.samples([101]);
    assert!(!script.take().last().unwrap().payload.as_ref().unwrap().is_small_part());
    // A payload that fills its buffer stays in it.
    bytes.resize(40_000, 7);
    for number in 103..=200 {
        let packet = receive_buffer(&bytes);
        script.reader.handle_data(
            now,
            &source(WRITER),
            &data(number, SerializedPayload::Data(packet.bytes())),
            &packet,
        );
        let last = packet.bytes().as_ptr();
        assert!(number < 200 || script.take().last().unwrap().payload.as_ref().unwrap().bytes().as_ptr() == last);
    }
    // The buffer of a long message is too large to be kept for any smaller sample, also for the first one.
    for (number, len, is_shared) in [(201, 5000, false), (202, 500_000, false), (203, 1_100_000, true)] {
        bytes.resize(len, 7);
        let packet = receive_buffer_of(2 << 20, &bytes);
        let data = data(number, SerializedPayload::Data(packet.bytes()));
        script.reader.handle_data(now, &source(WRITER), &data, &packet);
        let samples = script.take();
        let payload = samples.last().unwrap().payload.as_ref().unwrap();
        assert_eq!(payload.bytes(), bytes);
        assert_eq!(payload.bytes().as_ptr() == packet.bytes().as_ptr(), is_shared, "{len} bytes");
        assert!(!payload.is_small_part(), "{len} bytes");
    }
}

#[test]
fn expired_samples_are_not_delivered() {
    let mut script = Script::new(keep_all(config(KeySource::None)));
    let lifespan = Duration::from_millis(50);
    let writer = WriterProxyConfig { lifespan, reliable: false, ..WriterProxyConfig::new(WRITER) };
    script.reader.match_writer(script.now(), writer);
    script.samples([1]);
    script.later(30).samples([2]);
    // The writer's clock says that it was written 60 ms ago.
    let old =
        Source { timestamp: Some(Time::from_unix_nanos(at(0).time.as_unix_nanos() - 30_000_000)), ..source(WRITER) };
    let bytes = body(3);
    script.reader.handle_data(script.now(), &old, &data(3, SerializedPayload::Data(&bytes)), &());
    assert_eq!(script.reader.history().len(), 2);
    assert_eq!(script.reader.deadline(), Some(at(50).instant));
    script.millis += 20;
    assert_eq!(script.taken(), [2]);
    script.samples([4]);
    script.later(60);
    assert!(script.reader.history().is_empty());
    assert_eq!(script.reader.history().counters().expired, 3);
}

#[test]
fn missing_and_waiting_changes_are_lost_at_unmatch() {
    let mut script = Script::reliable();
    script.samples([1, 4, 5]);
    script.gap(7, 8, &[]);
    script.heartbeat(1, 8);
    script.gap(8, 9, &[]);
    script.reader.unmatch_writer(script.now(), WRITER);
    // 2, 3 and 6 are missing, 4 and 5 waited for them, 7 and 8 were never written.
    assert_eq!(script.lost(), 5);
    assert_eq!(script.reader.counters().lost, 5);
    assert_eq!(script.taken(), [1]);
}

#[test]
fn unmatch_after_full_delivery_loses_nothing() {
    let mut script = Script::reliable();
    script.samples([1, 2]);
    script.heartbeat(1, 2);
    script.gap(3, 1 << 60, &[]);
    script.heartbeat(1, (1 << 60) - 1);
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!(script.lost(), 0);
}

#[test]
fn history_before_volatile_start_is_not_lost() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    let writer = WriterProxyConfig { separates_history: true, ..WriterProxyConfig::new(WRITER) };
    script.reader.match_writer(script.now(), writer);
    script.heartbeat(1, 10);
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!(script.lost(), 0);
}

/// A forged disposal of the participant ends the match, and its next announcement matches the writer again.
#[test]
fn volatile_reader_gets_nothing_twice_after_rematch() {
    let ours = Guid::new(GuidPrefix::new(VendorId::OURS, [7; 10]), WRITER.entity_id);
    let fast = Guid::new(GuidPrefix::new(VendorId::EPROSIMA, [7; 10]), WRITER.entity_id);
    for writer in [WRITER, ours, fast] {
        let mut script = Script::new(volatile(keep_all(config(KeySource::LeadingBytes))));
        let announce = |script: &mut Script, last: i64| {
            script.heartbeats += 1;
            let heartbeat = Heartbeat { reader_id: READER.entity_id, ..heartbeat(1, last, script.heartbeats) };
            script.reader.handle_heartbeat(script.now(), &source(writer), &heartbeat);
        };
        script.match_remote(writer, true);
        announce(&mut script, 0);
        for number in 1..=17 {
            script.write(writer, number, 1, 0);
        }
        announce(&mut script, 17);
        assert_eq!(script.taken().len(), 17);
        script.reader.unmatch_writer(script.now(), writer);
        script.match_remote(writer, true);
        script.write(writer, 18, 1, 0);
        announce(&mut script, 18);
        // The writer answers requests that were on their way.
        for number in 1..=19 {
            script.write(writer, number, 1, 0);
        }
        assert_eq!(script.taken(), [18, 19], "{writer:?}");
    }
}

/// A writer that restarts with the same GUID numbers its samples from 1 again.
#[test]
fn restarted_writer_of_volatile_reader_is_heard_after_denial() {
    let mut script = Script::new(volatile(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.samples(1..=17);
    assert_eq!(script.taken().len(), 17);
    script.reader.unmatch_writer(script.now(), WRITER);
    script.match_remote(WRITER, true);
    // Its HEARTBEATs deny for half a second that it ever wrote 17 samples.
    script.heartbeat(1, 1);
    script.later(500);
    script.heartbeat(1, 2);
    script.samples([2, 3]);
    script.heartbeat(1, 3);
    script.sample(1);
    assert_eq!(script.taken(), [1, 2, 3]);
}
