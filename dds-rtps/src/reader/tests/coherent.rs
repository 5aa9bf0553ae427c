//! Coherent sets of one writer (RTPS 2.5, 8.7.5): a set is visible as a whole or not at all.

use super::fragments::{large, piece};
use super::*;
use crate::history::{CacheChange, ChangeKind, PresentationInfo};
use crate::qos::Presentation;
use crate::types::SplitMix64;
use crate::wire::InlineQosWriter;
use std::sync::Arc;

fn coherent(config: ReaderConfig) -> ReaderConfig {
    ReaderConfig { presentation: Presentation { coherent_access: true, ..Presentation::default() }, ..config }
}

fn reliable() -> Script {
    let mut script = Script::new(coherent(transient_local(keep_all(config(KeySource::None)))));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.sent();
    script
}

fn best_effort() -> Script {
    let mut script = Script::new(coherent(keep_all(config(KeySource::None))));
    script.match_remote(WRITER, false);
    script
}

impl Script {
    /// A sample of the set that began with `first`.
    fn part(&mut self, number: i64, first: i64) -> Handled {
        self.part_of(WRITER, number, first)
    }

    fn part_of(&mut self, writer: Guid, number: i64, first: i64) -> Handled {
        let mut qos = Vec::new();
        InlineQosWriter::list(&mut qos, |list| {
            list.coherent_set(sn(first));
        });
        let bytes = body(number as u8);
        let inline_qos = Some(InlineQos { bytes: &qos, little_endian: true });
        let data = Data { inline_qos, ..data(number, SerializedPayload::Data(&bytes)) };
        self.reader.handle_data(self.now(), &source(writer), &data, &())
    }

    /// The change that ends a set.
    fn end_of_set(&mut self, number: i64) -> Handled {
        self.reader.handle_data(self.now(), &source(WRITER), &data(number, SerializedPayload::None), &())
    }

    fn incoherent(&self) -> u64 {
        self.reader.losses().total().undelivered.incoherent
    }

    /// Asserts that the ledger adds up, and returns how many changes were delivered.
    fn check_ledger(&self, delivered: u64) {
        let total = self.reader.losses().total();
        assert_eq!(total.received + total.not_received.total() + total.awaited, total.known, "{total:?}");
        assert_eq!(total.delivered(), delivered, "{total:?}");
    }
}

#[test]
fn set_is_released_when_its_end_is_known() {
    for mut script in [reliable(), best_effort()] {
        script.part(1, 1);
        script.part(2, 1);
        assert_eq!((script.taken(), script.events()), (vec![], vec![]));
        assert_eq!(script.reader.losses().total().waiting, 2);
        script.end_of_set(3);
        assert_eq!(script.events(), [StatefulReaderEvent::DataAvailable]);
        assert_eq!(script.taken(), [1, 2]);
        script.check_ledger(2);
    }
}

#[test]
fn each_standard_end_of_set_is_recognized() {
    let ends: [fn(&mut Script); 4] = [
        |script| _ = script.end_of_set(3),
        |script| _ = script.sample(3),
        |script| _ = script.part(3, 3),
        |script| _ = script.part(3, SequenceNumber::UNKNOWN.0),
    ];
    for end in ends {
        let mut script = reliable();
        script.part(1, 1);
        script.part(2, 1);
        assert!(script.taken().is_empty());
        end(&mut script);
        assert_eq!(script.taken()[..2], [1, 2]);
    }
}

#[test]
fn set_waits_for_repairs() {
    let mut script = reliable();
    script.part(1, 1);
    script.part(3, 1);
    script.end_of_set(4);
    script.heartbeat(1, 4);
    assert_eq!(script.requested(), (2, vec![2]));
    assert!(script.taken().is_empty());
    script.part(2, 1);
    assert_eq!(script.taken(), [1, 2, 3]);
}

#[test]
fn set_with_a_hole_is_dropped() {
    // The first number, one within, the last one, and the end itself.
    for hole in 1..=4 {
        let mut script = reliable();
        for number in (1..=3).filter(|&number| number != hole) {
            script.part(number, 1);
        }
        if hole != 4 {
            script.end_of_set(4);
        }
        script.gap(hole, hole + 1, &[]);
        script.part(5, 5);
        script.end_of_set(6);
        let came = if hole == 4 { 3 } else { 2 };
        assert_eq!((script.taken(), script.incoherent(), script.lost()), (vec![5], came, came), "hole {hole}");
        script.check_ledger(1);
    }
}

/// A reader of a writer of Zenzen DDS, which repairs the ends of sets by GAP.
fn reliable_of_zenzen() -> Script {
    let mut script = Script::new(coherent(transient_local(keep_all(config(KeySource::None)))));
    script.match_remote(ZENZEN, true);
    let now = script.now();
    script.reader.handle_heartbeat(now, &source(ZENZEN), &heartbeat(1, 9, 1));
    script
}

const ZENZEN: Guid = Guid::new(GuidPrefix([1, 0x23, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]), WRITER.entity_id);

#[test]
fn end_repaired_by_gap_ends_the_set() {
    for gaps_come_first in [true, false] {
        let mut script = reliable_of_zenzen();
        let now = script.now();
        if gaps_come_first {
            script.reader.handle_gap(now, &source(ZENZEN), &gap(4, 5, &[8]));
        }
        for number in 1..=3 {
            script.part_of(ZENZEN, number, 1);
        }
        script.reader.handle_gap(now, &source(ZENZEN), &gap(4, 5, &[]));
        for number in 5..=7 {
            script.part_of(ZENZEN, number, 5);
        }
        script.reader.handle_gap(now, &source(ZENZEN), &gap(8, 9, &[]));
        script.part_of(ZENZEN, 9, 9);
        assert_eq!((script.taken(), script.incoherent()), (vec![1, 2, 3, 5, 6, 7], 0));
    }
}

#[test]
fn longer_gap_before_the_next_set_is_a_hole() {
    // The last change of the set, and its end: in one GAP, and in two.
    let gaps: [&[Gap]; 3] = [&[gap(3, 5, &[])], &[gap(3, 4, &[4])], &[gap(3, 4, &[]), gap(4, 5, &[])]];
    for gaps in gaps {
        let mut script = reliable_of_zenzen();
        script.part_of(ZENZEN, 1, 1);
        script.part_of(ZENZEN, 2, 1);
        for gap in gaps {
            script.reader.handle_gap(script.now(), &source(ZENZEN), gap);
        }
        script.part_of(ZENZEN, 5, 5);
        script.part_of(ZENZEN, 6, 6);
        assert_eq!((script.taken(), script.incoherent()), (vec![5], 2));
    }
    // A GAP before a change that is in no set.
    let mut script = reliable_of_zenzen();
    script.part_of(ZENZEN, 1, 1);
    script.reader.handle_gap(script.now(), &source(ZENZEN), &gap(2, 3, &[]));
    script.part_of(ZENZEN, 3, 0);
    assert_eq!((script.taken(), script.incoherent()), (vec![3], 1));
}

#[test]
fn best_effort_loss_breaks_the_set() {
    let mut script = best_effort();
    script.part(1, 1);
    script.part(3, 1);
    script.part(4, 1);
    script.end_of_set(5);
    script.part(6, 6);
    script.end_of_set(7);
    assert_eq!((script.taken(), script.incoherent(), script.lost()), (vec![6], 3, 4));
    script.check_ledger(1);
}

#[test]
fn reader_joining_within_a_set_sees_nothing_of_it() {
    let mut script = best_effort();
    script.part(7, 5);
    script.part(8, 5);
    script.end_of_set(9);
    script.sample(10);
    assert_eq!((script.taken(), script.incoherent()), (vec![10], 2));
}

#[test]
fn filtered_number_is_no_hole() {
    for hole in 1..=3 {
        let mut script = reliable();
        let filtered = Gap { filtered_count: Some(1), ..gap(hole, hole + 1, &[]) };
        for number in 1..=3 {
            if number == hole {
                script.reader.handle_gap(script.now(), &source(WRITER), &filtered);
            } else {
                script.part(number, 1);
            }
        }
        script.end_of_set(4);
        assert_eq!((script.taken().len(), script.incoherent()), (2, 0), "hole {hole}");
    }
}

#[test]
fn open_set_is_dropped_at_unmatch() {
    let mut script = reliable();
    script.part(1, 1);
    script.part(2, 1);
    script.reader.unmatch_writer(script.now(), WRITER);
    assert_eq!((script.taken(), script.lost()), (vec![], 2));
    assert_eq!(script.incoherent(), 2);
    script.check_ledger(0);
}

#[test]
fn invalid_numbers_are_in_no_set() {
    for first in [i64::MAX, 99, 0, -1, i64::MIN] {
        let mut script = reliable();
        script.part(1, first);
        assert_eq!(script.taken(), [1], "{first}");
    }
}

#[test]
fn set_waits_for_space_as_a_whole() {
    let limits = ResourceLimits { max_samples: Some(3), ..ResourceLimits::default() };
    let mut script = Script::new(coherent(limited(transient_local(config(KeySource::None)), limits)));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    script.sent();
    script.sample(1);
    script.sample(2);
    script.part(3, 3);
    script.part(4, 3);
    script.end_of_set(5);
    let rejected = |events: &[StatefulReaderEvent]| {
        events.iter().filter(|event| matches!(event, StatefulReaderEvent::SampleRejected { .. })).count()
    };
    assert_eq!(rejected(&script.events()), 1);
    script.heartbeat(1, 5);
    assert_eq!(script.requested(), (5, vec![]), "the end is not acknowledged");
    assert_eq!(script.taken(), [1, 2]);
    assert_eq!(script.taken(), [3, 4]);
    // A set that never fits is dropped.
    for number in 6..=9 {
        _ = script.part(number, 6);
    }
    script.end_of_set(10);
    script.sample(11);
    assert_eq!((script.taken(), script.incoherent()), (vec![11], 4));
    script.check_ledger(5);
}

#[test]
fn open_sets_are_bounded() {
    let limits = ResourceLimits { max_samples: Some(8), ..ResourceLimits::default() };
    let mut script = Script::new(coherent(limited(transient_local(config(KeySource::None)), limits)));
    script.match_remote(WRITER, true);
    script.heartbeat(1, 0);
    for number in 1..=1000 {
        _ = script.part(number, 1);
    }
    assert_eq!(script.reader.losses().total().waiting, 0);
    assert_eq!(script.incoherent(), 1000);
    // Later complete sets are visible again.
    script.part(1001, 1001);
    script.end_of_set(1002);
    assert_eq!(script.taken(), [1001]);
}

#[test]
fn expired_change_breaks_its_set() {
    let mut script = reliable();
    let writer = WriterProxyConfig { lifespan: Duration::from_millis(10), ..WriterProxyConfig::new(WRITER) };
    script.reader.match_writer(script.now(), writer);
    script.part(1, 1);
    script.later(20).part(2, 1);
    script.end_of_set(3);
    assert_eq!((script.taken(), script.incoherent()), (vec![], 2));
}

#[test]
fn without_coherent_access_each_change_is_visible() {
    let mut script = Script::reliable();
    script.part(1, 1);
    assert_eq!(script.taken(), [1]);
    script.part(2, 1);
    script.end_of_set(3);
    assert_eq!(script.taken(), [2]);
}

#[test]
fn coherent_sets_of_local_writers_wait_for_their_end() {
    let change = |number: i64, presented: Option<PresentationInfo>| CacheChange {
        kind: ChangeKind::Alive,
        writer: WRITER,
        sequence_number: sn(number),
        instance: InstanceHandle::NIL,
        source_timestamp: Time::INVALID,
        related_sample: None,
        origin: None,
        payload: presented.is_none_or(|presented| !presented.is_end).then(|| Payload::copy_of(&body(1))),
        presented: presented.map(Box::new),
    };
    let part = |first| Some(PresentationInfo { set: Some(sn(first)), ..PresentationInfo::default() });
    let end = Some(PresentationInfo { is_end: true, ..PresentationInfo::default() });
    for (is_coherent, before, after) in [(true, vec![], vec![1, 2, 4]), (false, vec![1, 2], vec![4])] {
        let config = volatile(keep_all(config(KeySource::None)));
        let mut script = Script::new(if is_coherent { coherent(config) } else { config });
        let link = Arc::new(LocalLink::new());
        script.reader.match_local_writer(at(0), WriterProxyConfig::new(WRITER), sn(1), Some(link));
        let changes = [(1, part(1)), (2, part(1)), (3, end), (4, None)];
        for (number, presented) in changes {
            script.reader.handle_local(at(0), &mut change(number, presented), sn(number - 1));
            if number == 2 {
                assert_eq!(script.taken(), before);
            }
        }
        assert_eq!(script.taken(), after);
        script.check_ledger(3);
    }
}

/// Random sets in random order, with some numbers missing.
#[test]
fn set_is_visible_as_a_whole() {
    for seed in 0..300 {
        let mut dice = SplitMix64::new(seed);
        let mut roll = |sides: u64| dice.draw() % sides;
        let mut script = if roll(2) == 0 { reliable() } else { best_effort() };
        let is_reliable = script.reader.config.reliable;
        // Each number with its set.
        let mut numbers: Vec<(i64, Option<i64>)> = Vec::new();
        let mut ends = Vec::new();
        while numbers.len() < 60 {
            let next = numbers.len() as i64 + 1;
            let len = 1 + roll(5) as i64;
            if roll(4) == 0 {
                numbers.push((next, None));
                continue;
            }
            numbers.extend((next..next + len).map(|number| (number, Some(next))));
            if roll(3) > 0 {
                ends.push(next + len);
                numbers.push((next + len, None));
            }
        }
        let end = numbers.len() as i64;
        let missing: Vec<i64> = (1..end).filter(|_| roll(12) == 0).collect();
        let mut arriving: Vec<_> = numbers.iter().filter(|(number, _)| !missing.contains(number)).copied().collect();
        if is_reliable {
            for at in 1..arriving.len() {
                arriving.swap(at, at - (roll(3) as usize).min(at));
            }
        }
        let mut seen = Vec::new();
        for (number, set) in arriving {
            match set {
                Some(first) => _ = script.part(number, first),
                None if ends.contains(&number) => _ = script.end_of_set(number),
                None => _ = script.sample(number),
            }
            if roll(3) == 0 {
                seen.extend(script.taken());
            }
        }
        for &number in &missing {
            _ = script.gap(number, number + 1, &[]);
        }
        // A change after all others ends the last set.
        script.sample(end + 1);
        seen.extend(script.taken());
        let is_whole = |first: i64| {
            let last = numbers.iter().filter(|(_, set)| *set == Some(first)).map(|(number, _)| *number).max();
            // Numbers between the set and the next change may have been a part of it.
            let next = (last.unwrap() + 1..).find(|number| !missing.contains(number)).unwrap();
            (first..next).all(|number| !missing.contains(&number))
        };
        let expected: Vec<i64> = numbers
            .iter()
            .filter(|(number, set)| !missing.contains(number) && !ends.contains(number) && set.is_none_or(is_whole))
            .map(|(number, _)| *number)
            .chain([end + 1])
            .collect();
        assert_eq!(seen, expected, "seed {seed}: missing {missing:?} of {numbers:?}");
        script.check_ledger(expected.len() as u64);
    }
}

/// The end of a set is lost, and no later change shows that.
#[test]
fn best_effort_set_is_dropped_when_successor_is_stale() {
    let sample = large(3000);
    let mut script = best_effort();
    script.part(1, 1);
    script.part(2, 1);
    script.fragment(&piece(&sample, 3, 1000, 1, 1));
    assert_eq!((script.reader.losses().total().waiting, script.incoherent()), (2, 0));
    script.later(60_000);
    let total = script.reader.losses().total();
    assert_eq!((total.waiting, script.incoherent(), total.not_received.fragments), (0, 2, 1));
    script.check_ledger(0);
    // The rest of the set is dropped as well. The next set is complete.
    script.part(4, 1);
    script.part(5, 5);
    script.end_of_set(6);
    assert_eq!((script.taken(), script.incoherent()), (vec![5], 3));
    script.check_ledger(1);
}
