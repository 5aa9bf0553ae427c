//! The writer's cache, seen from outside.

use super::*;
use crate::types::Duration;

const NOTHING: SequenceNumber = SequenceNumber::ZERO;

/// A writer's history and what one does with it, each change with a number of its own.
struct Written {
    history: WriterHistory,
    number: i64,
    /// Up to where all readers have acknowledged.
    acknowledged: i64,
}

impl Written {
    /// `keeps`: what has been acknowledged stays for readers that join late.
    fn new(limits: HistoryLimits, keeps: bool) -> Self {
        Self { history: WriterHistory::new(limits, keeps, 1), number: 0, acknowledged: 0 }
    }

    fn keep_last(depth: u32) -> Self {
        Self::new(HistoryLimits::new(History::KeepLast { depth }, ResourceLimits::default()), false)
    }

    fn change(&mut self, kind: ChangeKind, key: u8) -> CacheChange {
        self.number += 1;
        CacheChange {
            kind,
            writer: writer(1),
            sequence_number: SequenceNumber(self.number),
            instance: handle(key),
            source_timestamp: Time::INVALID,
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(Payload::copy_of(&[key])),
        }
    }

    fn add(&mut self, kind: ChangeKind, key: u8) -> Result<Option<i64>, HistoryFull> {
        let change = self.change(kind, key);
        let replaced = self.history.insert(change, None, SequenceNumber(self.acknowledged))?;
        Ok(replaced.map(|number| number.0))
    }

    fn write(&mut self, key: u8) -> Result<Option<i64>, HistoryFull> {
        self.add(ChangeKind::Alive, key)
    }

    /// Ends the coherent set that began with `first`.
    fn end_set(&mut self, first: i64) {
        let mut change = self.change(ChangeKind::Alive, 0);
        change.presented = Some(Box::new(PresentationInfo { set: None, group: None, is_end: true }));
        self.history.insert_end_of_set(change, SequenceNumber(first), SequenceNumber(self.acknowledged));
    }

    fn hold(&mut self, number: i64) -> Option<i64> {
        self.history.pin(SequenceNumber(number)).map(|number| number.0)
    }

    fn release_up_to(&mut self, number: i64) -> Option<i64> {
        self.history.unpin_up_to(SequenceNumber(number)).map(|number| number.0)
    }

    fn numbers(&self) -> Vec<i64> {
        self.history.iter_from(NOTHING).map(|stored| stored.change.sequence_number.0).collect()
    }
}

fn keep_all(max_samples: Option<u32>, max_samples_per_instance: Option<u32>) -> HistoryLimits {
    let limits = ResourceLimits { max_samples, max_samples_per_instance, ..ResourceLimits::default() };
    HistoryLimits::new(History::KeepAll, limits)
}

#[test]
fn what_is_stored_has_a_first_and_a_last() {
    let mut written = Written::keep_last(1);
    assert!(written.history.is_empty());
    assert_eq!((written.history.first(), written.history.last()), (None, None));
    for key in 1..=3 {
        written.write(key).unwrap();
    }
    assert!(!written.history.is_empty());
    assert_eq!(written.history.len(), 3);
    assert_eq!(written.history.first(), Some(SequenceNumber(1)));
    assert_eq!(written.history.last(), Some(SequenceNumber(3)));
}

#[test]
fn what_would_be_replaced_can_be_asked_for() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    assert_eq!(written.history.next_replaced(handle(1), NOTHING), Some(SequenceNumber(1)));
    assert_eq!(written.history.next_replaced(handle(2), NOTHING), None);
    assert_eq!(written.write(1), Ok(Some(1)));
}

#[test]
fn a_change_that_is_held_goes_when_it_is_released() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    assert_eq!(written.hold(1), None);
    assert_eq!(written.write(1), Ok(None), "it stays beyond the depth");
    assert_eq!(written.release_up_to(0), None);
    assert_eq!(written.numbers(), [1, 2]);
    assert_eq!(written.release_up_to(1), Some(1));
    assert_eq!(written.numbers(), [2]);
    written.hold(2);
    assert_eq!(written.write(1), Ok(None));
    assert_eq!(written.hold(3), Some(2), "one change is held at a time");
    assert_eq!(written.release_up_to(3), None, "it was not replaced");
    assert_eq!(written.numbers(), [3]);
}

#[test]
fn others_are_replaced_and_removed_as_ever_while_one_is_held() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    written.hold(1);
    written.write(2).unwrap();
    assert_eq!(written.write(2), Ok(Some(2)));
    assert!(written.history.remove(SequenceNumber(3)).is_some());
    assert_eq!(written.write(1), Ok(None), "it is still held");
    assert_eq!(written.numbers(), [1, 4]);
    assert_eq!(written.release_up_to(9), Some(1));
}

#[test]
fn a_change_that_was_removed_is_not_held_any_more() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    written.hold(1);
    written.write(1).unwrap();
    assert!(written.history.remove(SequenceNumber(1)).is_some());
    assert_eq!(written.release_up_to(9), None);
    assert_eq!(written.numbers(), [2]);
}

#[test]
fn neither_what_is_held_after_its_replacement_nor_the_end_of_a_set_takes_room() {
    let limits = ResourceLimits { max_samples: Some(2), ..ResourceLimits::default() };
    let mut written = Written::new(HistoryLimits::new(History::KeepLast { depth: 1 }, limits), false);
    written.write(1).unwrap();
    written.end_set(1);
    written.hold(1);
    assert_eq!(written.write(1), Ok(None));
    assert_eq!(written.write(2), Ok(None));
    assert_eq!(written.write(3), Err(HistoryFull::SamplesMax));
    assert_eq!(written.numbers(), [1, 2, 3, 4]);
    assert!(written.history.remove(SequenceNumber(2)).is_some());
    assert_eq!(written.write(3), Err(HistoryFull::SamplesMax));
    assert!(written.history.remove(SequenceNumber(4)).is_some());
    assert_eq!(written.write(3), Ok(None));
}

#[test]
fn keep_all_passes_over_what_takes_no_room() {
    let mut written = Written::new(keep_all(Some(2), None), true);
    written.end_set(1);
    written.write(1).unwrap();
    written.write(2).unwrap();
    written.hold(2);
    assert_eq!(written.history.first_blocking(handle(3)), Some(SequenceNumber(2)));
    written.acknowledged = 3;
    assert_eq!(written.write(3), Ok(None), "the second is held");
    assert_eq!(written.history.first_blocking(handle(3)), Some(SequenceNumber(3)));
    assert_eq!(written.write(3), Ok(Some(3)));
    assert_eq!(written.numbers(), [1, 2, 4, 5]);
}

#[test]
fn a_full_instance_waits_for_its_own_oldest_change() {
    let mut written = Written::new(keep_all(Some(3), Some(2)), false);
    for key in [1, 2, 2] {
        written.write(key).unwrap();
    }
    assert_eq!(written.history.first_blocking(handle(2)), Some(SequenceNumber(2)));
    assert_eq!(written.history.first_blocking(handle(1)), Some(SequenceNumber(1)));
    assert_eq!(written.history.first_blocking(handle(3)), Some(SequenceNumber(1)));
}

#[test]
fn the_latest_unregistered_instances_are_remembered_if_that_was_asked_for() {
    let mut written = Written::new(HistoryLimits::new(History::KeepAll, ResourceLimits::default()), true);
    written.history.keep_departures(1);
    for key in [1, 2] {
        written.write(key).unwrap();
        written.add(ChangeKind::NotAliveUnregistered, key).unwrap();
    }
    assert!(!written.history.has_forgotten());
    assert!(written.history.retire(SequenceNumber(4)));
    assert_eq!(written.numbers(), [3, 4]);
    assert!(!written.history.retire(SequenceNumber(4)));
    assert!(written.history.has_forgotten());
}

#[test]
fn what_passes_by_says_as_much_of_its_instance_as_what_is_stored() {
    let mut history = Written::keep_last(1).history;
    let payload = Payload::copy_of(&[7]);
    history.note_unstored(handle(1), ChangeKind::Alive, Some(&payload));
    history.register(handle(2), &payload).unwrap();
    history.note_unstored(handle(3), ChangeKind::NotAliveDisposed, Some(&payload));
    history.note_unstored(handle(4), ChangeKind::Alive, Some(&payload));
    let is_key = |key| history.instance_key_payload(handle(key)).unwrap().is_key;
    assert_eq!([1, 2, 3, 4].map(is_key), [false, true, true, false]);
    let alive = |from| history.next_alive_instance(from).map(|(next, instance, _)| (next, instance));
    assert_eq!((alive(0), alive(1), alive(4)), (Some((1, handle(1))), Some((4, handle(4))), None));
    assert!(history.is_registered(handle(3)));
    history.note_unstored(handle(3), ChangeKind::NotAliveUnregistered, None);
    assert!(!history.is_registered(handle(3)));
}

#[test]
fn a_deadline_watches_what_is_alive() {
    let now = |millis| at(millis).instant;
    let mut written = Written::keep_last(1);
    assert_eq!(written.history.next_deadline(), None);
    written.write(1).unwrap();
    written.write(2).unwrap();
    written.add(ChangeKind::NotAliveDisposed, 2).unwrap();
    written.history.set_deadline(now(5), Duration::from_millis(10));
    assert_eq!(written.history.next_deadline(), Some(now(15)));
    written.history.set_deadline(now(8), Duration::from_millis(20));
    assert_eq!(written.history.next_deadline(), Some(now(25)), "it counts from the first time");
    written.history.miss_deadlines(now(24));
    assert_eq!(written.history.take_missed(), None);
    written.history.miss_deadlines(now(45));
    assert_eq!(written.history.take_missed(), Some(MissedDeadlines { count: 2, last: handle(1) }));
    assert_eq!(written.history.take_missed(), None);
    written.write(1).unwrap();
    written.history.meet_deadline(handle(1), now(50));
    assert_eq!(written.history.next_deadline(), Some(now(70)));
    written.history.register(handle(3), &Payload::copy_of(&[3])).unwrap();
    written.history.meet_deadline(handle(3), now(51));
    written.add(ChangeKind::NotAliveDisposed, 1).unwrap();
    written.history.meet_deadline(handle(1), now(52));
    assert_eq!(written.history.next_deadline(), None);
}

/// A set of one sample, and its end.
fn write_set(written: &mut Written) {
    written.write(1).unwrap();
    written.end_set(written.number);
}

#[test]
fn the_ends_of_sets_without_samples_leave() {
    let mut written = Written::keep_last(1);
    for _ in 0..1_000 {
        written.acknowledged = written.number + 2;
        write_set(&mut written);
        assert!(written.history.len() <= 1 + 64 + 2 + 1);
    }
}

#[test]
fn the_latest_ends_stay_until_they_are_acknowledged() {
    let mut written = Written::keep_last(1);
    for _ in 0..1_000 {
        write_set(&mut written);
        assert!(written.history.len() <= 1 + 64 + 2 * (32 + 1) + 1);
        let latest = (0..32).map(|back| written.number - 2 * back).filter(|&number| number > 0);
        assert!(latest.into_iter().all(|number| written.history.get(SequenceNumber(number)).is_some()));
    }
}

#[test]
fn the_ends_of_sets_with_samples_stay() {
    let mut written = Written::new(keep_all(None, None), true);
    for sets in 1..=300 {
        written.acknowledged = written.number + 2;
        write_set(&mut written);
        assert_eq!(written.history.len(), 2 * sets);
    }
}

#[test]
fn a_limit_of_instances_is_seen_before_a_change_is_there() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    let mut written = Written::new(HistoryLimits::new(History::KeepAll, limits), false);
    assert_eq!(written.history.check_room(handle(1), NOTHING), Ok(()));
    written.write(1).unwrap();
    assert_eq!(written.history.check_room(handle(1), NOTHING), Ok(()));
    assert_eq!(written.history.check_room(handle(2), NOTHING), Err(HistoryFull::InstancesMax));
}
