//! What a reliable reader says to a writer, and when.

use super::*;

#[test]
fn at_the_match_a_pre_emptive_ack_nack_asks_for_a_heartbeat() {
    let mut script = Script::new(volatile(config(KeySource::None)));
    script.meet(WRITER, true);
    let said = script.said();
    let expected = Said {
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
    assert_eq!(said, [expected]);
}

#[test]
fn pre_emptive_ack_nacks_go_on_ever_slower_until_the_first_heartbeat() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.meet(WRITER, true);
    let mut times = Vec::new();
    for _ in 0..7 {
        let said = script.said();
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].asked(), (1, vec![]));
        times.push(script.millis);
        let deadline = script.reader.deadline().unwrap();
        script.millis = deadline.as_nanos() / 1_000_000;
    }
    assert_eq!(times, [0, 100, 300, 700, 1500, 3100, 5100]);
    script.hear_final(1, 0);
    assert!(script.said().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn a_writer_that_has_never_said_anything_is_asked_ever_more_slowly_or_when_it_shows_itself() {
    let period = Duration::from_secs(100);
    let mut script =
        Script::new(ReaderConfig { preemptive_period_max: period, ..transient_local(config(KeySource::None)) });
    script.meet(WRITER, true);
    for pause in [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 100_000, 100_000] {
        assert_eq!(script.asked(), (1, vec![]));
        assert_eq!(script.reader.deadline(), Some(at(script.millis + pause).instant));
        script.millis += pause;
    }
    assert_eq!(script.said().len(), 1);
    // It has half of the first pause to answer, however often it shows itself.
    script.later(49);
    script.reader.ask_again(script.now(), WRITER);
    assert!(script.said().is_empty());
    script.later(1);
    assert!(script.said().is_empty());
    script.reader.ask_again(script.now(), WRITER);
    assert_eq!(script.asked(), (1, vec![]));
    script.hear(1, 0);
    script.said();
    script.reader.ask_again(script.now(), WRITER);
    assert!(script.said().is_empty());
}

#[test]
fn the_more_writers_have_never_been_heard_the_more_time_each_has() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    let writer = |number| Guid::new(GuidPrefix([number; 12]), EntityId([0, 0, 1, 2]));
    let meet = |script: &mut Script, number| {
        script.reader.match_writer(script.now(), WriterProxyConfig::new(writer(number)));
    };
    (1..=16).for_each(|number| meet(&mut script, number));
    assert_eq!(script.said().len(), 16);
    meet(&mut script, 17);
    assert_eq!(script.said().len(), 1);
    // Those that came when there were at most seven others are asked after 100 ms, the next eight after 200, the last after 300.
    for (later, asked) in [(100, 8), (100, 8), (100, 9)] {
        script.later(later);
        assert_eq!(script.said().len(), asked, "at {} ms", script.millis);
    }
}

#[test]
fn a_heartbeat_that_wants_an_answer_gets_one() {
    let mut script = Script::reliable();
    script.samples([1, 2]);
    script.hear(1, 2);
    let said = script.said();
    assert_eq!(said[0].asked(), (3, vec![]));
    assert!(said[0].ack_nack.as_ref().unwrap().is_final);
    assert!(script.said().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn a_final_heartbeat_is_answered_only_if_something_is_missing() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.hear_final(1, 1);
    assert!(script.said().is_empty());
    script.hear_final(1, 3);
    assert_eq!(script.asked(), (2, vec![2, 3]));
}

#[test]
fn one_ack_nack_answers_several_heartbeats() {
    let mut script = Script::reliable();
    script.hear(1, 1);
    script.hear(1, 2);
    script.samples([1]);
    script.hear(1, 3);
    assert_eq!(script.asked(), (2, vec![2, 3]));
    assert!(script.said().is_empty());
}

#[test]
fn the_answer_waits_for_the_response_delay() {
    let delay = Duration::from_millis(10);
    let mut script =
        Script::new(ReaderConfig { heartbeat_response_delay: delay, ..transient_local(config(KeySource::None)) });
    script.meet(WRITER, true);
    script.said();
    script.hear(1, 1);
    assert!(script.said().is_empty());
    script.later(5).hear(1, 2);
    assert_eq!(script.reader.deadline(), Some(at(10).instant));
    assert!(script.said().is_empty());
    script.later(5);
    assert_eq!(script.asked(), (1, vec![1, 2]));
}

#[test]
fn the_same_heartbeat_twice_is_answered_once() {
    let mut script = Script::reliable();
    let now = script.now();
    let heartbeat = heartbeat(1, 0, 77);
    assert_eq!(script.reader.handle_heartbeat(now, &source(WRITER), &heartbeat), Handled::Accepted);
    assert_eq!(script.said().len(), 1);
    assert_eq!(script.reader.handle_heartbeat(now, &source(WRITER), &heartbeat), Handled::Duplicate);
    assert!(script.said().is_empty());
    assert_eq!(script.reader.counters().duplicate_heartbeats, 1);
}

#[test]
fn counts_grow_with_each_ack_nack() {
    let mut script = Script::reliable();
    let mut counts = Vec::new();
    for last in 1..4 {
        script.hear(1, last);
        counts.extend(script.said().iter().map(|said| said.ack_nack.as_ref().unwrap().count));
    }
    assert_eq!(counts, [2, 3, 4]);
}

#[test]
fn what_was_asked_for_just_now_is_not_asked_for_again() {
    let mut script = Script::reliable();
    script.hear(1, 2);
    assert_eq!(script.asked(), (1, vec![1, 2]));
    script.later(1).hear(1, 3);
    assert_eq!(script.asked(), (1, vec![3]));
    script.later(6).hear(1, 3);
    assert_eq!(script.asked(), (1, vec![1, 2, 3]));
}

/// A repair may be lost as well. While new samples keep being lost, that must not wait for a moment without any.
#[test]
fn a_number_is_asked_for_again_in_its_time_however_many_come_to_be_missing_behind_it() {
    let mut script = Script::reliable();
    let mut asked = Vec::new();
    for last in 1..=20 {
        script.hear(1, last);
        asked.extend(script.asked().1.contains(&1).then_some(script.millis));
        script.later(1);
    }
    // To a quarter of those 5 ms.
    assert_eq!(asked, [0, 6, 12, 18]);
}

#[test]
fn what_comes_soon_when_it_is_asked_for_is_asked_for_again_soon() {
    let mut script = Script::reliable();
    script.hear(1, 2);
    assert_eq!(script.asked(), (1, vec![1, 2]));
    script.later(1).samples([1]);
    script.said();
    script.later(2).hear(1, 3);
    assert_eq!(script.asked(), (2, vec![2, 3]));
}

#[test]
fn at_most_256_numbers_are_asked_for_and_the_next_ones_when_these_have_come() {
    let mut script = Script::reliable();
    script.hear(1, 600);
    assert_eq!(script.asked(), (1, (1..=256).collect()));
    script.samples(1..=255);
    assert!(script.said().is_empty());
    script.samples([256]);
    assert_eq!(script.asked(), (257, (257..=512).collect()));
    script.samples(257..=512);
    assert_eq!(script.asked(), (513, (513..=600).collect()));
    script.samples(513..=600);
    assert_eq!(script.taken(), (1..=600).collect::<Vec<_>>());
    assert!(script.said().is_empty());
}

#[test]
fn what_stays_missing_is_asked_for_ever_slower() {
    let mut script = Script::reliable();
    script.samples([1]);
    script.hear_final(1, 3);
    let mut times = Vec::new();
    for _ in 0..6 {
        assert_eq!(script.asked(), (2, vec![2, 3]));
        times.push(script.millis);
        script.millis = script.reader.deadline().unwrap().as_nanos() / 1_000_000;
    }
    assert_eq!(times, [0, 100, 300, 700, 1500, 3100]);
    script.samples([2]);
    assert_eq!(script.asked(), (3, vec![3]));
    assert_eq!(script.reader.deadline(), Some(at(script.millis + 100).instant));
    script.samples([3]);
    script.later(100);
    assert!(script.said().is_empty());
    assert_eq!(script.reader.deadline(), None);
}

#[test]
fn a_hole_is_asked_for_even_if_no_heartbeat_comes() {
    let mut script = Script::reliable();
    script.samples([1, 3]);
    assert!(script.said().is_empty());
    assert_eq!(script.reader.deadline(), Some(at(100).instant));
    script.later(100);
    assert_eq!(script.asked(), (2, vec![2]));
}

#[test]
fn a_volatile_reader_asks_for_nothing_before_it_knows_where_it_begins() {
    let mut script = Script::new(volatile(config(KeySource::None)));
    script.meet(WRITER, true);
    script.said();
    script.hear(1, 100);
    assert_eq!(script.asked(), (101, vec![]));
}

#[test]
fn a_transient_local_reader_asks_for_the_whole_history() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.meet(WRITER, true);
    script.said();
    script.hear(3, 5);
    assert_eq!(script.asked(), (3, vec![3, 4, 5]));
}

#[test]
fn two_writers_are_spoken_to_in_two_datagrams() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.meet(WRITER, true);
    script.meet(OTHER, true);
    let said = script.said();
    assert_eq!(said.iter().map(|said| said.prefix).collect::<Vec<_>>(), [WRITER.prefix, OTHER.prefix]);
    assert_eq!(said[1].to, [locator(OTHER)]);
}

#[test]
fn a_writer_that_has_moved_is_spoken_to_where_it_is() {
    let mut script = Script::new(transient_local(config(KeySource::None)));
    script.meet(WRITER, true);
    let multicast = Locator::udp_v4([239, 255, 0, 1].into(), 7401);
    let moved = WriterProxyConfig { multicast: vec![multicast], ..WriterProxyConfig::new(WRITER) };
    assert!(script.reader.match_writer(script.now(), moved));
    assert_eq!(script.reader.matched_writers().len(), 1);
    assert_eq!(script.said()[0].to, [multicast]);
}

#[test]
fn an_unmatched_writer_is_no_longer_spoken_to() {
    let mut script = Script::reliable();
    script.meet(OTHER, true);
    script.said();
    script.hear(1, 3);
    let now = script.now();
    assert!(script.reader.unmatch_writer(now, WRITER));
    assert!(!script.reader.unmatch_writer(now, WRITER));
    assert!(script.said().is_empty());
    assert_eq!(script.hear(1, 3), Handled::Unmatched);
    assert_eq!(script.reader.matched_writers().collect::<Vec<_>>(), [OTHER]);
    script.later(200);
    assert_eq!(script.said()[0].prefix, OTHER.prefix);
}

fn two_samples() -> Script {
    let limits = ResourceLimits { max_samples: Some(2), ..ResourceLimits::default() };
    let mut script = Script::new(transient_local(limited(config(KeySource::None), limits)));
    script.meet(WRITER, true);
    script.hear(1, 0);
    script.said();
    script
}

#[test]
fn what_a_full_history_refuses_is_not_acknowledged() {
    let mut script = two_samples();
    script.samples([1, 2, 3]);
    script.hear(1, 3);
    assert_eq!(script.asked(), (3, vec![]));
    let rejected = ReaderEvent::SampleRejected {
        writer: WRITER,
        instance: InstanceHandle::NIL,
        reason: RejectReason::Samples,
        count: 1,
    };
    assert_eq!(script.events(), [rejected, ReaderEvent::DataAvailable]);
    assert_eq!(script.sample(3), Handled::Duplicate);
    assert_eq!(script.sample(4), Handled::Postponed);
    assert!(script.events().is_empty());
}

#[test]
fn a_take_lets_the_refused_change_in_and_says_so_to_the_writer() {
    let mut script = two_samples();
    script.samples([1, 2, 3, 4]);
    script.hear(1, 4);
    script.said();
    assert_eq!(script.taken(), [1, 2]);
    assert_eq!(script.events().last(), Some(&ReaderEvent::DataAvailable));
    assert_eq!(script.asked(), (4, vec![4]));
    script.samples([4]);
    assert_eq!(script.taken(), [3, 4]);
    assert_eq!(script.lost(), 0);
}

#[test]
fn a_full_history_does_not_lose_what_the_writer_no_longer_has() {
    let mut script = two_samples();
    script.samples([1, 2, 3]);
    script.hear(9, 9);
    assert_eq!(script.asked(), (3, vec![]));
    assert_eq!(script.taken(), [1, 2]);
    assert_eq!(script.asked(), (9, vec![9]));
    assert_eq!(script.taken(), [3]);
    assert_eq!(script.lost(), 5);
}

#[test]
fn keep_last_rejects_for_good() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    let config = ReaderConfig {
        key: KeySource::LeadingBytes,
        limits: HistoryLimits::new(History::KeepLast { depth: 1 }, limits),
        ..transient_local(config(KeySource::None))
    };
    let mut script = Script::new(config);
    script.meet(WRITER, true);
    script.hear(1, 0);
    script.said();
    script.write(WRITER, 1, 1, 0);
    script.write(WRITER, 2, 2, 0);
    script.write(WRITER, 3, 1, 0);
    script.hear(1, 3);
    assert_eq!(script.asked(), (4, vec![]));
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
        assert_eq!(script.said().len(), 1);
    }
}

#[test]
fn numbers_beyond_32_bits_are_asked_for_and_delivered() {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    script.meet(WRITER, true);
    script.said();
    let first = (1 << 32) - 1;
    script.hear(first, first + 3);
    assert_eq!(script.asked(), (first, (first..=first + 3).collect()));
    script.samples([first, first + 1, first + 3]);
    script.later(10).hear(first, first + 3);
    assert_eq!(script.asked(), (first + 2, vec![first + 2]));
    script.samples([first + 2]);
    script.later(10).hear(first, first + 3);
    assert_eq!(script.asked(), (first + 4, vec![]));
    assert_eq!(script.taken(), (first..=first + 3).collect::<Vec<_>>());
}

#[test]
fn a_writer_that_is_met_again_gets_answers_with_higher_counts() {
    // It may not have noticed that it was lost, and the first ACKNACK may not arrive (a seed of the oracle: the writer took
    // what it was asked for to be old for 50 seconds).
    let mut script = Script::reliable();
    for last in [3, 5, 9] {
        script.hear(1, last);
        script.said();
        script.later(1000);
    }
    let count = |said: &[Said]| said[0].ack_nack.as_ref().unwrap().count;
    script.hear(1, 10);
    let before = count(&script.said());
    script.reader.unmatch_writer(script.now(), WRITER);
    script.meet(WRITER, true);
    assert!(count(&script.said()) > before);
}
