//! Fragmented samples.

use super::*;
use crate::wire::HeartbeatFrag;
use proptest::collection::vec;
use proptest::prelude::*;

/// A sample of `len` bytes that differ from fragment to fragment.
pub(super) fn large(len: usize) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend((0..len - 4).map(|index| (index / 7) as u8));
    bytes
}

/// `count` fragments of `sample`, from number `first` on.
pub(super) fn piece(sample: &[u8], number: i64, size: u16, first: u32, count: u16) -> DataFrag<'_> {
    let start = (first as usize - 1) * usize::from(size);
    let end = (start + usize::from(size) * usize::from(count)).min(sample.len());
    DataFrag {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        writer_sn: sn(number),
        fragment_starting_num: first,
        fragments_in_submessage: count,
        fragment_size: size,
        sample_size: sample.len() as u32,
        inline_qos: None,
        payload: &sample[start..end],
        is_key: false,
        non_standard_payload: false,
    }
}

pub(super) fn bytes_of(samples: &[HistorySample]) -> Vec<&[u8]> {
    samples.iter().map(|sample| sample.payload.as_ref().unwrap().bytes()).collect()
}

/// The fragments that one NACK_FRAG requests.
fn numbers(nack_frag: &NackFrag) -> Vec<u32> {
    nack_frag.fragment_number_state.iter().collect()
}

#[test]
fn fragments_in_any_order_and_size_make_the_sample() {
    for (size, together) in [(256, 5), (1344, 10), (16_384, 1), (65_360, 1)] {
        let sample = large(100_036);
        let count = sample.len().div_ceil(size as usize) as u32;
        let mut firsts: Vec<u32> = (1..=count).step_by(together).collect();
        for backwards in [false, true] {
            let mut script = Script::best_effort();
            for &first in &firsts {
                let pieces = (together as u32).min(count + 1 - first) as u16;
                assert_eq!(script.fragment(&piece(&sample, 1, size, first, pieces)), Handled::Accepted, "{backwards}");
            }
            assert_eq!(bytes_of(&script.take()), [&sample[..]]);
            firsts.reverse();
        }
    }
}

proptest! {
    /// Runs of fragments anywhere, which overlap and repeat, then all missing fragments.
    /// These come in order, or the last one first.
    #[test]
    fn sample_is_the_same_for_any_way_of_its_fragments(
        len in 5_usize..40_000,
        size in 1_u16..3_000,
        runs in vec((any::<u32>(), 1_u16..20), 0..60),
        backwards in any::<bool>(),
        reliable in any::<bool>(),
    ) {
        let size = size.max((len / 2_000) as u16 + 1);
        let sample = large(len);
        let count = len.div_ceil(usize::from(size)) as u32;
        let mut script = if reliable { Script::reliable() } else { Script::best_effort() };
        let mut come = vec![false; count as usize];
        let rest = (1..=count).map(|first| (first, 1));
        let rest: Vec<(u32, u16)> = if backwards { rest.rev().collect() } else { rest.collect() };
        let runs = runs.into_iter().map(|(first, pieces)| (first % count + 1, pieces));
        for (first, pieces) in runs.chain(rest) {
            let pieces = u32::from(pieces).min(count + 1 - first);
            let places = first as usize - 1..(first + pieces) as usize - 1;
            let is_new = come[places.clone()].iter().any(|has_come| !has_come);
            come[places].fill(true);
            let handled = script.fragment(&piece(&sample, 1, size, first, pieces as u16));
            prop_assert_eq!(handled, if is_new { Handled::Accepted } else { Handled::Duplicate });
        }
        let taken = script.take();
        prop_assert_eq!(bytes_of(&taken), [&sample[..]]);
        let counters = script.reader.counters();
        prop_assert_eq!((counters.malformed, counters.assemblies_dropped, counters.lost), (0, 0, 0));
    }
}

#[test]
fn reused_slot_shows_nothing_of_last_sample() {
    let mut script = Script::best_effort();
    for (number, len) in [(1, 9000), (2, 5000), (3, 7000)] {
        let sample = large(len);
        let count = len.div_ceil(1000) as u32;
        for first in (1..=count).rev() {
            script.fragment(&piece(&sample, number, 1000, first, 1));
        }
        assert_eq!(bytes_of(&script.take()), [&sample[..]]);
    }
}

#[test]
fn overlapping_and_repeated_fragments_are_harmless() {
    let mut script = Script::best_effort();
    let sample = large(5000);
    script.fragment(&piece(&sample, 1, 1000, 1, 2));
    assert_eq!(script.fragment(&piece(&sample, 1, 1000, 2, 1)), Handled::Duplicate);
    script.fragment(&piece(&sample, 1, 1000, 2, 3));
    script.fragment(&piece(&sample, 1, 1000, 4, 2));
    assert_eq!(bytes_of(&script.take()), [&sample[..]]);
    assert_eq!(script.fragment(&piece(&sample, 1, 1000, 1, 1)), Handled::Duplicate);
}

#[test]
fn contradicting_fragments_are_dropped() {
    let mut script = Script::best_effort();
    let sample = large(5000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    assert_eq!(script.fragment(&piece(&sample, 1, 500, 3, 1)), Handled::Malformed);
    assert_eq!(script.fragment(&piece(&large(6000), 1, 1000, 2, 1)), Handled::Malformed);
    let key = DataFrag { is_key: true, ..piece(&sample, 1, 1000, 2, 1) };
    assert_eq!(script.fragment(&key), Handled::Malformed);
    script.fragment(&piece(&sample, 1, 1000, 2, 4));
    assert_eq!(bytes_of(&script.take()), [&sample[..]]);
    assert_eq!(script.reader.counters().malformed, 3);
}

#[test]
fn inline_qos_of_first_fragment_applies_to_sample() {
    let mut script = Script::new(keep_all(config(KeySource::LeadingBytes)));
    script.match_remote(WRITER, false);
    script.write(WRITER, 1, 7, 0);
    script.take();
    let mut sample = keyed(7, 0);
    sample.resize(600, 0);
    let qos = status_qos(1, None);
    let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
    let first = DataFrag { inline_qos, is_key: true, ..piece(&sample, 2, 256, 1, 1) };
    script.fragment(&first);
    script.fragment(&DataFrag { is_key: true, ..piece(&sample, 2, 256, 2, 2) });
    let samples = script.take();
    assert_eq!(samples[0].info.instance_state, InstanceState::NotAliveDisposed);
    assert!(!samples[0].info.valid_data);
}

#[test]
fn newer_best_effort_sample_drops_incomplete_one() {
    let mut script = Script::best_effort();
    let sample = large(3000);
    script.samples([1]);
    script.fragment(&piece(&sample, 2, 1000, 1, 1));
    script.fragment(&piece(&sample, 3, 1000, 1, 3));
    let lost = StatefulReaderEvent::SampleLost { writer: WRITER, count: 1, cause: LossCause::Fragments };
    assert_eq!(script.events(), [lost, StatefulReaderEvent::DataAvailable]);
    assert_eq!(script.taken(), [1, 3]);
    assert_eq!(script.fragment(&piece(&sample, 2, 1000, 2, 2)), Handled::Duplicate);
}

#[test]
fn stale_best_effort_assembly_is_dropped() {
    let mut script = Script::best_effort();
    let sample = large(3000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    assert_eq!(script.reader.deadline(), Some(at(1000).instant));
    script.later(999);
    assert_eq!(script.reader.counters().assemblies_dropped, 0);
    script.later(1);
    assert_eq!(script.reader.counters().assemblies_dropped, 1);
    assert_eq!(script.reader.deadline(), None);
    let lost = StatefulReaderEvent::SampleLost { writer: WRITER, count: 1, cause: LossCause::Fragments };
    assert_eq!(script.events(), [lost]);
    // A fragment that arrives now is too late. It is not lost again.
    assert_eq!(script.fragment(&piece(&sample, 1, 1000, 2, 2)), Handled::Duplicate);
    script.samples([2]);
    assert_eq!(script.reader.counters().lost, 1);
}

#[test]
fn given_up_sample_keeps_earlier_assembly() {
    let mut script = Script::best_effort();
    let sample = large(3000);
    script.samples([1]);
    script.fragment(&piece(&sample, 4, 1000, 1, 1));
    script.later(500);
    script.fragment(&piece(&sample, 3, 1000, 1, 1));
    script.later(500);
    assert_eq!(script.reader.counters().assemblies_dropped, 1);
    script.fragment(&piece(&sample, 3, 1000, 2, 2));
    assert_eq!(script.taken(), [1, 3]);
    script.samples([5]);
    assert_eq!(script.lost(), 2);
}

#[test]
fn incomplete_sample_is_lost_at_unmatch() {
    let mut script = Script::best_effort();
    let sample = large(3000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    script.fragment(&piece(&sample, 2, 1000, 1, 1));
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!(script.lost(), 2);
}

#[test]
fn best_effort_evicts_oldest_reliable_newest_assembly() {
    let sample = large(3000);
    let few = |config: ReaderConfig| ReaderConfig { assemblies_max: 2, ..keep_all(config) };
    let mut script = Script::new(few(config(KeySource::None)));
    script.match_remote(WRITER, false);
    for number in [1, 2, 3] {
        assert_eq!(script.fragment(&piece(&sample, number, 1000, 1, 1)), Handled::Accepted);
    }
    script.fragment(&piece(&sample, 2, 1000, 2, 2));
    script.fragment(&piece(&sample, 3, 1000, 2, 2));
    assert_eq!(script.taken(), [2, 3]);

    let mut script = Script::new(few(transient_local(config(KeySource::None))));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    for number in [2, 3] {
        script.fragment(&piece(&sample, number, 1000, 1, 1));
    }
    assert_eq!(script.fragment(&piece(&sample, 4, 1000, 1, 1)), Handled::Postponed);
    assert_eq!(script.fragment(&piece(&sample, 1, 1000, 1, 3)), Handled::Accepted);
    script.fragment(&piece(&sample, 2, 1000, 2, 2));
    assert_eq!(script.taken(), [1, 2]);
    assert_eq!(script.reader.counters().assemblies_dropped, 1);
}

#[test]
fn nack_frag_requests_fragments_acknack_samples() {
    let mut script = Script::reliable();
    let sample = large(10_000);
    script.fragment(&piece(&sample, 1, 1000, 1, 3));
    script.fragment(&piece(&sample, 1, 1000, 5, 2));
    script.later(10).heartbeat(1, 2);
    let sent = script.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].requested(), (1, vec![2]));
    let nack_frag = &sent[0].nack_frags[0];
    assert_eq!((nack_frag.writer_sn, nack_frag.count, numbers(nack_frag)), (sn(1), 1, vec![4, 7, 8, 9, 10]));
    script.samples([2]);
    for first in [4, 7, 8, 9, 10] {
        script.fragment(&piece(&sample, 1, 1000, first, 1));
    }
    assert_eq!(script.taken(), [1, 2]);
}

#[test]
fn only_holes_are_requested_while_fragments_arrive() {
    let mut script = Script::reliable();
    let sample = large(10_000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    script.fragment(&piece(&sample, 1, 1000, 3, 1));
    script.heartbeat(1, 1);
    let sent = script.sent();
    assert_eq!(numbers(&sent[0].nack_frags[0]), [2]);
    // The rest did not arrive.
    assert_eq!(script.reader.deadline(), Some(at(5).instant));
    script.later(5);
    let sent = script.sent();
    assert_eq!(numbers(&sent[0].nack_frags[0]), [2, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn heartbeat_frag_leads_to_fragment_requests() {
    let mut script = Script::reliable();
    let sample = large(10_000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    let heartbeat = HeartbeatFrag {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        writer_sn: sn(1),
        last_fragment_num: 4,
        count: 1,
    };
    let now = script.now();
    script.reader.handle_heartbeat_frag(now, &source(WRITER), &heartbeat);
    let sent = script.sent();
    assert_eq!(numbers(&sent[0].nack_frags[0]), [2, 3, 4]);
    script.fragment(&piece(&sample, 1, 1000, 2, 9));
    assert_eq!(script.take().len(), 1);
}

#[test]
fn repeated_heartbeat_frag_is_a_duplicate() {
    let mut script = Script::reliable();
    let sample = large(10_000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    let heartbeat = |count| HeartbeatFrag {
        reader_id: EntityId::UNKNOWN,
        writer_id: WRITER.entity_id,
        writer_sn: sn(1),
        last_fragment_num: 4,
        count,
    };
    for (count, expected) in [(1, Handled::Accepted), (1, Handled::Duplicate), (2, Handled::Accepted)] {
        let now = script.now();
        assert_eq!(script.reader.handle_heartbeat_frag(now, &source(WRITER), &heartbeat(count)), expected, "{count}");
    }
    assert_eq!((script.reader.counters().duplicate_heartbeats, script.sent().len()), (1, 1));
}

#[test]
fn more_than_256_fragments_take_several_nack_frags() {
    let mut script = Script::reliable();
    let sample = large(256 * 1000);
    script.fragment(&piece(&sample, 1, 256, 1, 1));
    script.later(10).heartbeat(1, 1);
    let sent = script.sent();
    assert_eq!(sent.len(), 1);
    let requested: Vec<u32> = sent[0].nack_frags.iter().flat_map(numbers).collect();
    assert_eq!(requested, (2..=1000).collect::<Vec<_>>());
    assert_eq!(sent[0].nack_frags.len(), 4);
    let counts: Vec<i32> = sent[0].nack_frags.iter().map(|nack_frag| nack_frag.count).collect();
    assert_eq!(counts, [1, 2, 3, 4]);
}

#[test]
fn answered_fragment_request_leads_to_the_next() {
    let mut script = Script::reliable();
    let sample = large(256 * 4000);
    script.fragment(&piece(&sample, 1, 256, 1, 1));
    script.later(10).heartbeat(1, 1);
    let sent = script.sent();
    let requested: Vec<u32> = sent[0].nack_frags.iter().flat_map(numbers).collect();
    assert_eq!(requested, (2..=2049).collect::<Vec<_>>());
    for first in 2..=2049 {
        assert!(script.sent().is_empty());
        script.fragment(&piece(&sample, 1, 256, first, 1));
    }
    script.later(5);
    let sent = script.sent();
    let requested: Vec<u32> = sent[0].nack_frags.iter().flat_map(numbers).collect();
    assert_eq!(requested, (2050..=4000).collect::<Vec<_>>());
}

#[test]
fn missing_fragments_are_requested_by_timer() {
    let mut script = Script::reliable();
    let sample = large(3000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    script.fragment(&piece(&sample, 1, 1000, 3, 1));
    assert!(script.sent().is_empty());
    script.later(100);
    let sent = script.sent();
    assert_eq!(numbers(&sent[0].nack_frags[0]), [2]);
}

#[test]
fn assembly_ends_when_writer_drops_the_sample() {
    let mut script = Script::reliable();
    let sample = large(3000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    script.heartbeat(2, 2);
    assert_eq!(script.reader.counters().assemblies_dropped, 1);
    assert_eq!(script.requested(), (2, vec![2]));
    assert_eq!(script.lost(), 1);
}

#[test]
fn complete_sample_ends_assembly_of_the_same() {
    let mut script = Script::reliable();
    let sample = large(3000);
    script.fragment(&piece(&sample, 1, 1000, 1, 1));
    script.samples([1]);
    assert_eq!(script.taken(), [1]);
    assert_eq!(script.reader.counters().assemblies_dropped, 1);
}

#[test]
fn refragmented_sample_restarts_its_assembly() {
    let mut script = Script::reliable();
    let sample = large(30_000);
    for first in [1, 2, 4, 5] {
        script.fragment(&piece(&sample, 1, 1000, first, 1));
    }
    let mut first = 1;
    for _ in 0..3 {
        for _ in 0..60 {
            script.fragment(&piece(&sample, 1, 500, first, 1));
            first = first % 60 + 1;
        }
    }
    assert_eq!(bytes_of(&script.take()), [&sample[..]]);
    assert_eq!(script.reader.counters().malformed, 16);
}

#[test]
fn fragments_of_samples_and_writers_may_mix() {
    let mut script = Script::new(keep_all(config(KeySource::None)));
    let writers = [WRITER, OTHER];
    for &writer in &writers {
        assert!(script.match_remote(writer, false));
    }
    let samples: Vec<Vec<u8>> = (0..4).map(|index| large(5000 + 300 * index)).collect();
    for first in 1..=6 {
        for (index, sample) in samples.iter().enumerate() {
            let number = index as i64 + 1;
            if (first as usize - 1) * 1000 < sample.len() {
                for writer in writers {
                    let fragment = DataFrag { writer_id: writer.entity_id, ..piece(sample, number, 1000, first, 1) };
                    script.reader.handle_data_frag(script.now(), &source(writer), &fragment);
                }
            }
        }
    }
    // Best effort: a complete sample ends earlier incomplete ones. These complete in order.
    let taken = script.take();
    let expected: Vec<&[u8]> = samples.iter().flat_map(|sample| [&sample[..]; 2]).collect();
    assert_eq!(bytes_of(&taken), expected);
    assert_eq!(script.lost(), 0);
}

#[test]
fn assemblies_stay_within_memory_limits() {
    let limits = |config: ReaderConfig| ReaderConfig { assembly_bytes_max: 1 << 20, ..keep_all(config) };
    let mut script = Script::new(limits(config(KeySource::None)));
    script.match_remote(WRITER, false);
    let sample = large(400_000);
    script.samples([1]);
    for number in 2..=101 {
        script.fragment(&piece(&sample, number, 1000, 1, 1));
    }
    // Two of them fit. The others were evicted for later ones.
    assert_eq!(script.reader.counters().assemblies_dropped, 98);
    script.later(1000);
    assert_eq!(script.reader.counters().assemblies_dropped, 100);
    assert_eq!(script.lost(), 100);
}
