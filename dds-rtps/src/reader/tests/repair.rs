//! ACKNACK and NACK_FRAG of a reliable reader: content and time.

use super::*;

#[test]
fn match_sends_preemptive_acknack() {
    let mut script = Script::new(volatile(config(KeySource::None)));
    script.match_remote(WRITER, true);
    let sent = script.sent();
    let expected = SentDatagram {
        to: vec![locator(WRITER)],
        prefix: WRITER.prefix,
        ack_nack: Some(AckNack {
            reader_id: READER.entity_id,
            writer_id: WRITER.entity_id,
            reader_sn_state: SequenceNumberSet::empty(sn(1)),
            count: 1,
            is_final: false,
        }),
        nack_frags: vec![],
    };
    assert_eq!(sent, [expected]);
}

#[test]
fn preemptive_acknack_to_fast_dds_has_base_zero() {
    let fast_dds = Guid::new(GuidPrefix::new(VendorId::EPROSIMA, [0; 10]), WRITER.entity_id);
    let mut script = Script::new(volatile(config(KeySource::None)));
    script.match_remote(fast_dds, true);
    let set = script.sent()[0].ack_nack.as_ref().map(|ack_nack| ack_nack.reader_sn_state.clone());
    assert_eq!(set, Some(SequenceNumberSet::empty(SequenceNumber::ZERO)));
}

#[test]
fn preemptive_acknacks_slow_down_until_heartbeat() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.match_remote(WRITER, true);
    let mut times = Vec::new();
    for _ in 0..7 {
        let sent = script.sent();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].requested(), (1, vec![]));
        times.push(script.millis);
        let deadline = script.reader.deadline().unwrap();
        script.millis = deadline.as_nanos() / 1_000_000;
    }
    assert_eq!(times, [0, 100, 300, 700, 1500, 3100, 5100]);
    script.final_heartbeat(1, 0);
    assert!(script.sent().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn unheard_writer_is_asked_with_growing_pauses() {
    let period = Duration::from_secs(100);
    let mut script =
        Script::new(ReaderConfig { preemptive_period_max: period, ..transient_local(config(KeySource::None)) });
    script.match_remote(WRITER, true);
    for pause in [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 100_000, 100_000] {
        assert_eq!(script.requested(), (1, vec![]));
        assert_eq!(script.reader.deadline(), Some(at(script.millis + pause).instant));
        script.millis += pause;
    }
    assert_eq!(script.sent().len(), 1);
    // The writer has half of the first pause to answer, however often its participant shows itself.
    script.later(49);
    script.reader.repeat_preemptive(script.now(), WRITER);
    assert!(script.sent().is_empty());
    script.later(1);
    assert!(script.sent().is_empty());
    script.reader.repeat_preemptive(script.now(), WRITER);
    assert_eq!(script.requested(), (1, vec![]));
    script.heartbeat(1, 0);
    script.sent();
    script.reader.repeat_preemptive(script.now(), WRITER);
    assert!(script.sent().is_empty());
}

#[test]
fn unheard_crowd_lengthens_preemptive_pauses() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    let writer = |number| Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, 1, 2]));
    let match_remote = |script: &mut Script, number| {
        script.reader.match_writer(script.now(), WriterProxyConfig::new(writer(number)));
    };
    for number in 1..=16 {
        match_remote(&mut script, number);
    }
    assert_eq!(script.sent().len(), 16);
    match_remote(&mut script, 17);
    assert_eq!(script.sent().len(), 1);
    // Writers that match beside at most seven others are asked again after 100 ms, the next eight after 200, the
    // last ones after 300.
    for (later, requested) in [(100, 8), (100, 8), (100, 9)] {
        script.later(later);
        assert_eq!(script.sent().len(), requested, "at {} ms", script.millis);
    }
}

#[test]
fn non_final_heartbeat_is_answered() {
    let mut script = Script::reliable();
    script.samples([1, 2]);
    script.heartbeat(1, 2);
    let sent = script.sent();
    assert_eq!(sent[0].requested(), (3, vec![]));
    assert!(sent[0].ack_nack.as_ref().unwrap().is_final);
    assert!(script.sent().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn final_heartbeat_is_answered_if_numbers_are_missing() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.final_heartbeat(1, 1);
    assert!(script.sent().is_empty());
    script.final_heartbeat(1, 3);
    assert_eq!(script.requested(), (2, vec![2, 3]));
}

#[test]
fn one_acknack_answers_several_heartbeats() {
    let mut script = Script::reliable();
    script.heartbeat(1, 1);
    script.heartbeat(1, 2);
    script.samples([1]);
    script.heartbeat(1, 3);
    assert_eq!(script.requested(), (2, vec![2, 3]));
    assert!(script.sent().is_empty());
}

#[test]
fn answer_waits_for_response_delay() {
    let delay = Duration::from_millis(10);
    let mut script =
        Script::new(ReaderConfig { heartbeat_response_delay: delay, ..transient_local(config(KeySource::None)) });
    script.match_remote(WRITER, true);
    script.sent();
    script.heartbeat(1, 1);
    assert!(script.sent().is_empty());
    script.later(5).heartbeat(1, 2);
    assert_eq!(script.reader.deadline(), Some(at(10).instant));
    assert!(script.sent().is_empty());
    script.later(5);
    assert_eq!(script.requested(), (1, vec![1, 2]));
}

#[test]
fn repeated_heartbeat_is_answered_once() {
    let mut script = Script::reliable();
    let now = script.now();
    let heartbeat = heartbeat(1, 0, 77);
    assert_eq!(script.reader.handle_heartbeat(now, &source(WRITER), &heartbeat), Handled::Accepted);
    assert_eq!(script.sent().len(), 1);
    assert_eq!(script.reader.handle_heartbeat(now, &source(WRITER), &heartbeat), Handled::Duplicate);
    assert!(script.sent().is_empty());
    assert_eq!(script.reader.counters().duplicate_heartbeats, 1);
}

#[test]
fn acknack_counts_grow() {
    let mut script = Script::reliable();
    let mut counts = Vec::new();
    for last in 1..4 {
        script.heartbeat(1, last);
        counts.extend(script.sent().iter().map(|sent| sent.ack_nack.as_ref().unwrap().count));
    }
    assert_eq!(counts, [2, 3, 4]);
}

#[test]
fn recently_requested_number_is_not_requested_again() {
    let mut script = Script::reliable();
    script.heartbeat(1, 2);
    assert_eq!(script.requested(), (1, vec![1, 2]));
    script.later(1).heartbeat(1, 3);
    assert_eq!(script.requested(), (1, vec![3]));
    script.later(6).heartbeat(1, 3);
    assert_eq!(script.requested(), (1, vec![1, 2, 3]));
}

/// A lost repair is requested again even while new samples keep getting lost.
#[test]
fn each_number_is_requested_again_in_its_own_time() {
    let mut script = Script::reliable();
    let mut requested = Vec::new();
    for last in 1..=20 {
        script.heartbeat(1, last);
        requested.extend(script.requested().1.contains(&1).then_some(script.millis));
        script.later(1);
    }
    // The suppression is measured to a quarter of 5 ms.
    assert_eq!(requested, [0, 6, 12, 18]);
}

#[test]
fn fast_repairs_shorten_the_suppression() {
    let mut script = Script::reliable();
    script.heartbeat(1, 2);
    assert_eq!(script.requested(), (1, vec![1, 2]));
    script.later(1).samples([1]);
    script.sent();
    script.later(2).heartbeat(1, 3);
    assert_eq!(script.requested(), (2, vec![2, 3]));
}

#[test]
fn acknack_requests_at_most_256_numbers_at_a_time() {
    let mut script = Script::reliable();
    script.heartbeat(1, 600);
    assert_eq!(script.requested(), (1, (1..=256).collect()));
    script.samples(1..=255);
    assert!(script.sent().is_empty());
    script.samples([256]);
    assert_eq!(script.requested(), (257, (257..=512).collect()));
    script.samples(257..=512);
    assert_eq!(script.requested(), (513, (513..=600).collect()));
    script.samples(513..=600);
    assert_eq!(script.taken(), (1..=600).collect::<Vec<_>>());
    assert!(script.sent().is_empty());
}

#[test]
fn missing_numbers_are_requested_with_growing_pauses() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.final_heartbeat(1, 3);
    let mut times = Vec::new();
    for _ in 0..6 {
        assert_eq!(script.requested(), (2, vec![2, 3]));
        times.push(script.millis);
        script.millis = script.reader.deadline().unwrap().as_nanos() / 1_000_000;
    }
    assert_eq!(times, [0, 100, 300, 700, 1500, 3100]);
    script.samples([2]);
    assert_eq!(script.requested(), (3, vec![3]));
    assert_eq!(script.reader.deadline(), Some(at(script.millis + 100).instant));
    script.samples([3]);
    script.later(100);
    assert!(script.sent().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn hole_is_requested_without_heartbeat() {
    let mut script = Script::reliable();
    script.samples([1, 3]);
    assert!(script.sent().is_empty());
    assert_eq!(script.reader.deadline(), Some(at(100).instant));
    script.later(100);
    assert_eq!(script.requested(), (2, vec![2]));
}

#[test]
fn volatile_reader_requests_nothing_before_its_start() {
    let mut script = Script::new(volatile(config(KeySource::None)));
    script.match_remote(WRITER, true);
    script.sent();
    script.heartbeat(1, 100);
    assert_eq!(script.requested(), (101, vec![]));
}

#[test]
fn transient_local_reader_requests_whole_history() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.match_remote(WRITER, true);
    script.sent();
    script.heartbeat(3, 5);
    assert_eq!(script.requested(), (3, vec![3, 4, 5]));
}

#[test]
fn two_writers_get_two_datagrams() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.match_remote(WRITER, true);
    script.match_remote(OTHER, true);
    let sent = script.sent();
    assert_eq!(sent.iter().map(|sent| sent.prefix).collect::<Vec<_>>(), [WRITER.prefix, OTHER.prefix]);
    assert_eq!(sent[1].to, [locator(OTHER)]);
}

#[test]
fn rematched_writer_is_answered_at_new_locators() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.match_remote(WRITER, true);
    let multicast = Locator::udp_v4([239, 255, 0, 1].into(), 7401);
    let moved = WriterProxyConfig { multicast: vec![multicast], ..WriterProxyConfig::new(WRITER) };
    assert!(script.reader.match_writer(script.now(), moved));
    assert_eq!(script.reader.matched_writers().len(), 1);
    assert_eq!(script.sent()[0].to, [multicast]);
}

#[test]
fn unmatched_writer_gets_no_answers() {
    let mut script = Script::reliable();
    script.match_remote(OTHER, true);
    script.sent();
    script.heartbeat(1, 3);
    let now = script.now();
    assert!(script.reader.unmatch_writer(now, WRITER));
    assert!(!script.reader.unmatch_writer(now, WRITER));
    assert!(script.sent().is_empty());
    assert_eq!(script.heartbeat(1, 3), Handled::Unmatched);
    assert_eq!(script.reader.matched_writers().collect::<Vec<_>>(), [OTHER]);
    script.later(200);
    assert_eq!(script.sent()[0].prefix, OTHER.prefix);
}

fn two_samples() -> Script {
    let limits = ResourceLimits { max_samples: Some(2), ..ResourceLimits::default() };
    let mut script = Script::new(transient_local(limited(config(KeySource::None), limits)));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.sent();
    script
}

#[test]
fn refused_change_is_not_acknowledged() {
    let mut script = two_samples();
    script.samples([1, 2, 3]);
    script.heartbeat(1, 3);
    assert_eq!(script.requested(), (3, vec![]));
    let rejected = StatefulReaderEvent::SampleRejected {
        writer: WRITER,
        instance: InstanceHandle::NIL,
        reason: RejectReason::Samples,
        count: 1,
    };
    assert_eq!(script.events(), [rejected, StatefulReaderEvent::DataAvailable]);
    assert_eq!(script.sample(3), Handled::Duplicate);
    assert_eq!(script.sample(4), Handled::Postponed);
    assert!(script.events().is_empty());
}

#[test]
fn take_admits_refused_change_and_acknowledges_it() {
    let mut script = two_samples();
    script.samples([1, 2, 3, 4]);
    script.heartbeat(1, 4);
    script.sent();
    assert_eq!(script.taken(), [1, 2]);
    assert_eq!(script.events().last(), Some(&StatefulReaderEvent::DataAvailable));
    assert_eq!(script.requested(), (4, vec![4]));
    script.samples([4]);
    assert_eq!(script.taken(), [3, 4]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn full_history_keeps_changes_the_writer_dropped() {
    let mut script = two_samples();
    script.samples([1, 2, 3]);
    script.heartbeat(9, 9);
    assert_eq!(script.requested(), (3, vec![]));
    assert_eq!(script.taken(), [1, 2]);
    assert_eq!(script.requested(), (9, vec![9]));
    assert_eq!(script.taken(), [3]);
    assert_eq!(script.lost(), 5);
}

#[test]
fn keep_last_reader_rejects_for_good() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    let config = ReaderConfig {
        key: KeySource::LeadingBytes,
        limits: HistoryLimits::new(History::KeepLast { depth: 1 }, limits),
        ..transient_local(config(KeySource::None))
    };
    let mut script = Script::new(config);
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.sent();
    script.write(WRITER, 1, 1, 0);
    script.write(WRITER, 2, 2, 0);
    script.write(WRITER, 3, 1, 0);
    script.heartbeat(1, 3);
    assert_eq!(script.requested(), (4, vec![]));
    assert_eq!(script.taken(), [3]);
    assert_eq!(script.reader.counters().rejected, 1);
}

#[test]
fn counts_of_heartbeats_wrap() {
    let mut script = Script::reliable();
    for count in [i32::MAX, i32::MIN, i32::MIN + 1] {
        let now = script.now();
        let handled = script.reader.handle_heartbeat(now, &source(WRITER), &heartbeat(1, 0, count));
        assert_eq!(handled, Handled::Accepted, "{count}");
        assert_eq!(script.sent().len(), 1);
    }
}

#[test]
fn numbers_beyond_32_bits_are_delivered() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.sent();
    let first = (1 << 32) - 1;
    script.heartbeat(first, first + 3);
    assert_eq!(script.requested(), (first, (first..=first + 3).collect()));
    script.samples([first, first + 1, first + 3]);
    script.later(10).heartbeat(first, first + 3);
    assert_eq!(script.requested(), (first + 2, vec![first + 2]));
    script.samples([first + 2]);
    script.later(10).heartbeat(first, first + 3);
    assert_eq!(script.requested(), (first + 4, vec![]));
    assert_eq!(script.taken(), (first..=first + 3).collect::<Vec<_>>());
}

#[test]
fn rematched_writer_gets_higher_acknack_counts() {
    // The writer may not have noticed the unmatch, and the first ACKNACK may get lost. In a seed of the oracle the
    // writer then took requests for old ones for 50 seconds.
    let mut script = Script::reliable();
    for last in [3, 5, 9] {
        script.heartbeat(1, last);
        script.sent();
        script.later(1000);
    }
    let count = |sent: &[SentDatagram]| sent[0].ack_nack.as_ref().unwrap().count;
    script.heartbeat(1, 10);
    let before = count(&script.sent());
    script.reader.unmatch_writer(script.now(), WRITER);
    script.match_remote(WRITER, true);
    assert!(count(&script.sent()) > before);
}
