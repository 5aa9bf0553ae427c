//! Tests of the writer history.

use super::*;
use crate::history::PresentationInfo;
use crate::qos::{History, ResourceLimits};
use crate::types::{Guid, HashSeed, Time};

const NOTHING: SequenceNumber = SequenceNumber::ZERO;

const UNLIMITED: HistoryLimits = HistoryLimits {
    depth: None,
    samples_max: usize::MAX,
    instances_max: usize::MAX,
    samples_per_instance_max: usize::MAX,
};

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn handle(key: u8) -> InstanceHandle {
    InstanceHandle::from_key_hash([key; 16])
}

fn change(number: i64, instance: InstanceHandle, kind: ChangeKind) -> CacheChange {
    CacheChange {
        kind,
        writer: Guid::UNKNOWN,
        sequence_number: SequenceNumber(number),
        instance,
        source_timestamp: Time::INVALID,
        related_sample: None,
        origin: None,
        presented: None,
        payload: Some(Payload::copy_of(&[number as u8])),
    }
}

fn insert(
    history: &mut WriterHistory,
    number: i64,
    instance: InstanceHandle,
    acknowledged: i64,
) -> Result<Option<i64>, HistoryFull> {
    let change = change(number, instance, ChangeKind::Alive);
    history.insert(change, None, SequenceNumber(acknowledged)).map(|replaced| replaced.map(|number| number.0))
}

fn numbers(history: &WriterHistory) -> Vec<i64> {
    history.iter_from(SequenceNumber::ZERO).map(|stored| stored.change.sequence_number.0).collect()
}

#[test]
fn keep_last_replaces_unacknowledged_oldest() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(2), ..UNLIMITED }, false, HashSeed::fixed(1));
    assert_eq!(insert(&mut history, 1, handle(1), 0), Ok(None));
    assert_eq!(insert(&mut history, 2, handle(2), 0), Ok(None));
    assert_eq!(insert(&mut history, 3, handle(1), 0), Ok(None));
    assert_eq!(insert(&mut history, 4, handle(1), 0), Ok(Some(1)));
    assert_eq!(insert(&mut history, 5, handle(1), 0), Ok(Some(3)));
    assert_eq!(numbers(&history), [2, 4, 5]);
    assert_eq!(history.next_from(SequenceNumber(3)), Some(SequenceNumber(4)));
}

#[test]
fn keep_all_is_full_until_oldest_is_acknowledged() {
    let mut history = WriterHistory::new(HistoryLimits { samples_max: 2, ..UNLIMITED }, true, HashSeed::fixed(1));
    insert(&mut history, 1, handle(1), 0).unwrap();
    insert(&mut history, 2, handle(2), 0).unwrap();
    assert_eq!(insert(&mut history, 3, handle(3), 0), Err(HistoryFull::Unacknowledged));
    assert_eq!(history.check_room(handle(3), NOTHING), Err(HistoryFull::Unacknowledged));
    assert_eq!(numbers(&history), [1, 2]);
    assert_eq!(history.check_room(handle(3), SequenceNumber(1)), Ok(()));
    assert_eq!(insert(&mut history, 3, handle(3), 1), Ok(Some(1)));
    assert_eq!(numbers(&history), [2, 3]);
}

#[test]
fn keep_all_limits_samples_per_instance() {
    let mut history =
        WriterHistory::new(HistoryLimits { samples_per_instance_max: 1, ..UNLIMITED }, false, HashSeed::fixed(1));
    insert(&mut history, 1, handle(1), 0).unwrap();
    assert_eq!(insert(&mut history, 2, handle(1), 0), Err(HistoryFull::Unacknowledged));
    assert_eq!(insert(&mut history, 2, handle(2), 0), Ok(None));
    assert_eq!(insert(&mut history, 3, handle(1), 1), Ok(Some(1)));
}

#[test]
fn keep_last_at_limit_fails() {
    let limits = HistoryLimits { depth: Some(1), samples_max: 2, instances_max: 3, ..UNLIMITED };
    let mut history = WriterHistory::new(limits, false, HashSeed::fixed(1));
    insert(&mut history, 1, handle(1), 0).unwrap();
    insert(&mut history, 2, handle(2), 0).unwrap();
    assert_eq!(insert(&mut history, 3, handle(3), 2), Err(HistoryFull::SamplesMax));
    assert_eq!(insert(&mut history, 3, handle(1), 0), Ok(Some(1)));
    let mut history = WriterHistory::new(HistoryLimits { instances_max: 1, ..limits }, false, HashSeed::fixed(1));
    insert(&mut history, 1, handle(1), 0).unwrap();
    assert_eq!(insert(&mut history, 2, handle(2), 1), Err(HistoryFull::InstancesMax));
}

#[test]
fn registered_instance_counts_against_limit() {
    let limits = HistoryLimits { depth: Some(1), instances_max: 1, ..UNLIMITED };
    let mut history = WriterHistory::new(limits, false, HashSeed::fixed(1));
    insert(&mut history, 1, handle(1), 0).unwrap();
    assert!(history.retire(SequenceNumber(1)));
    assert!(history.is_empty());
    assert_eq!(insert(&mut history, 2, handle(2), 1), Err(HistoryFull::InstancesMax));
    history.insert(change(2, handle(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
    history.retire(SequenceNumber(2));
    assert_eq!(insert(&mut history, 3, handle(2), 2), Ok(None));
}

#[test]
fn instance_is_known_until_last_change_leaves() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, false, HashSeed::fixed(1));
    assert!(!history.is_registered(handle(1)));
    insert(&mut history, 1, handle(1), 0).unwrap();
    history.retire(SequenceNumber(1));
    assert!(history.is_empty() && history.is_registered(handle(1)));
    assert_eq!(history.instance_key_payload(handle(1)).unwrap().payload.bytes(), [1]);
    history.insert(change(2, handle(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
    assert!(!history.is_registered(handle(1)) && history.instance_key_payload(handle(1)).is_none());
    assert_eq!(history.instances.len(), 1, "its last change waits to be acknowledged");
    history.retire(SequenceNumber(2));
    assert_eq!(history.instances.len(), 0);
    insert(&mut history, 3, handle(1), 2).unwrap();
    assert!(history.is_registered(handle(1)), "its former entry is not found any more");
}

#[test]
fn memory_of_former_instances_is_reused() {
    for is_unstored in [false, true] {
        let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, false, HashSeed::fixed(1));
        for number in 1..200 {
            let [alive, end] = [ChangeKind::Alive, ChangeKind::NotAliveDisposedUnregistered]
                .map(|kind| change(number, handle(number as u8), kind));
            for (change, number) in [(alive, 2 * number - 1), (end, 2 * number)] {
                let sequence_number = SequenceNumber(number);
                if is_unstored {
                    history.note_unstored(change.instance, change.kind, change.payload.as_ref());
                } else {
                    history.insert(CacheChange { sequence_number, ..change }, None, NOTHING).unwrap();
                    history.retire(sequence_number);
                }
            }
        }
        assert_eq!((history.instances.len(), usize::from(history.changes.has_slots())), (0, usize::from(!is_unstored)));
        assert!(history.instances.table_len() <= 2);
    }
}

#[test]
fn register_respects_limit_and_keeps_key() {
    let mut history = WriterHistory::new(HistoryLimits { instances_max: 1, ..UNLIMITED }, false, HashSeed::fixed(1));
    let serialized = Payload::copy_of(b"key");
    assert_eq!(history.register(handle(1), &serialized), Ok(()));
    assert_eq!(history.register(handle(1), &serialized), Ok(()), "it is known already");
    assert_eq!(history.register(handle(2), &serialized), Err(HistoryFull::InstancesMax));
    assert_eq!(insert(&mut history, 1, handle(2), 0), Err(HistoryFull::InstancesMax));
    insert(&mut history, 1, handle(1), 0).unwrap();
    let known = history.instance_key_payload(handle(1)).unwrap();
    assert_eq!((known.payload.bytes(), known.is_key), (&b"key"[..], true));
}

#[test]
fn unregistered_instance_leaves_when_acknowledged() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(4), ..UNLIMITED }, true, HashSeed::fixed(1));
    insert(&mut history, 1, handle(1), 0).unwrap();
    insert(&mut history, 2, handle(2), 0).unwrap();
    insert(&mut history, 3, handle(1), 0).unwrap();
    history.insert(change(4, handle(1), ChangeKind::NotAliveDisposedUnregistered), None, NOTHING).unwrap();
    assert!(!history.retire(SequenceNumber(3)));
    assert_eq!(numbers(&history), [1, 2, 3, 4]);
    assert!(history.retire(SequenceNumber(4)));
    assert_eq!(numbers(&history), [2]);
    assert_eq!(history.instances.len(), 1);
}

#[test]
fn instance_written_again_stays() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(4), ..UNLIMITED }, true, HashSeed::fixed(1));
    history.insert(change(1, handle(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
    insert(&mut history, 2, handle(1), 0).unwrap();
    history.retire(SequenceNumber(2));
    assert_eq!(numbers(&history), [1, 2]);
}

#[test]
fn unregistering_repeatedly_does_not_grow() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, true, HashSeed::fixed(1));
    for number in 1..1000 {
        history.insert(change(number, handle(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
    }
    assert!(history.departures.len() < 100);
    assert_eq!(history.len(), 1);
}

#[test]
fn departures_of_removed_changes_are_dropped() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, true, HashSeed::fixed(1));
    for number in 1..=200 {
        let end = change(number, handle(number as u8), ChangeKind::NotAliveUnregistered);
        history.insert(end, None, NOTHING).unwrap();
    }
    for number in 1..=200 {
        history.remove(SequenceNumber(number));
    }
    for number in 201..1000 {
        history.insert(change(number, handle(1), ChangeKind::NotAliveUnregistered), None, NOTHING).unwrap();
    }
    assert!(history.departures.len() < 100);
}

/// A writer history and the state of its readers. Each change gets the next sequence number.
struct Written {
    history: WriterHistory,
    number: i64,
    /// All readers have acknowledged the changes up to this.
    acknowledged: i64,
}

impl Written {
    /// `keeps`: acknowledged changes stay for readers that join late.
    fn new(limits: HistoryLimits, keeps: bool) -> Self {
        Self { history: WriterHistory::new(limits, keeps, HashSeed::fixed(1)), number: 0, acknowledged: 0 }
    }

    fn keep_last(depth: u32) -> Self {
        Self::new(HistoryLimits::new(History::KeepLast { depth }, ResourceLimits::default()), false)
    }

    fn change(&mut self, kind: ChangeKind, key: u8) -> CacheChange {
        self.number += 1;
        CacheChange {
            kind,
            writer: Guid::UNKNOWN,
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

    fn pin(&mut self, number: i64) -> Option<i64> {
        self.history.pin(SequenceNumber(number)).map(|number| number.0)
    }

    fn unpin_up_to(&mut self, number: i64) -> Option<i64> {
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
fn stored_changes_have_first_and_last() {
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
fn next_replaced_predicts_insert() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    assert_eq!(written.history.next_replaced(handle(1), NOTHING), Some(SequenceNumber(1)));
    assert_eq!(written.history.next_replaced(handle(2), NOTHING), None);
    assert_eq!(written.write(1), Ok(Some(1)));
}

#[test]
fn pinned_change_leaves_when_unpinned() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    assert_eq!(written.pin(1), None);
    assert_eq!(written.write(1), Ok(None), "the pinned change exceeds the depth");
    assert_eq!(written.unpin_up_to(0), None);
    assert_eq!(written.numbers(), [1, 2]);
    assert_eq!(written.unpin_up_to(1), Some(1));
    assert_eq!(written.numbers(), [2]);
    written.pin(2);
    assert_eq!(written.write(1), Ok(None));
    assert_eq!(written.pin(3), Some(2), "one change is pinned at a time");
    assert_eq!(written.unpin_up_to(3), None, "it was not replaced");
    assert_eq!(written.numbers(), [3]);
}

#[test]
fn pin_does_not_affect_other_changes() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    written.pin(1);
    written.write(2).unwrap();
    assert_eq!(written.write(2), Ok(Some(2)));
    assert!(written.history.remove(SequenceNumber(3)));
    assert_eq!(written.write(1), Ok(None), "it is still pinned");
    assert_eq!(written.numbers(), [1, 4]);
    assert_eq!(written.unpin_up_to(9), Some(1));
}

#[test]
fn removed_change_is_not_pinned() {
    let mut written = Written::keep_last(1);
    written.write(1).unwrap();
    written.pin(1);
    written.write(1).unwrap();
    assert!(written.history.remove(SequenceNumber(1)));
    assert_eq!(written.unpin_up_to(9), None);
    assert_eq!(written.numbers(), [2]);
}

#[test]
fn pinned_change_and_set_end_take_no_space() {
    let limits = ResourceLimits { max_samples: Some(2), ..ResourceLimits::default() };
    let mut written = Written::new(HistoryLimits::new(History::KeepLast { depth: 1 }, limits), false);
    written.write(1).unwrap();
    written.end_set(1);
    written.pin(1);
    assert_eq!(written.write(1), Ok(None));
    assert_eq!(written.write(2), Ok(None));
    assert_eq!(written.write(3), Err(HistoryFull::SamplesMax));
    assert_eq!(written.numbers(), [1, 2, 3, 4]);
    assert!(written.history.remove(SequenceNumber(2)));
    assert_eq!(written.write(3), Err(HistoryFull::SamplesMax));
    assert!(written.history.remove(SequenceNumber(4)));
    assert_eq!(written.write(3), Ok(None));
}

#[test]
fn keep_all_skips_changes_without_space() {
    let mut written = Written::new(keep_all(Some(2), None), true);
    written.end_set(1);
    written.write(1).unwrap();
    written.write(2).unwrap();
    written.pin(2);
    assert_eq!(written.history.first_blocking(handle(3)), Some(SequenceNumber(2)));
    written.acknowledged = 3;
    assert_eq!(written.write(3), Ok(None), "the second is pinned");
    assert_eq!(written.history.first_blocking(handle(3)), Some(SequenceNumber(3)));
    assert_eq!(written.write(3), Ok(Some(3)));
    assert_eq!(written.numbers(), [1, 2, 4, 5]);
}

#[test]
fn full_instance_blocks_on_its_oldest_change() {
    let mut written = Written::new(keep_all(Some(3), Some(2)), false);
    for key in [1, 2, 2] {
        written.write(key).unwrap();
    }
    assert_eq!(written.history.first_blocking(handle(2)), Some(SequenceNumber(2)));
    assert_eq!(written.history.first_blocking(handle(1)), Some(SequenceNumber(1)));
    assert_eq!(written.history.first_blocking(handle(3)), Some(SequenceNumber(1)));
}

#[test]
fn latest_departures_are_kept_on_request() {
    let mut written = Written::new(HistoryLimits::new(History::KeepAll, ResourceLimits::default()), true);
    written.history.keep_departures(1);
    for key in [1, 2] {
        written.write(key).unwrap();
        written.add(ChangeKind::NotAliveUnregistered, key).unwrap();
    }
    assert!(!written.history.has_removed_instances());
    assert!(written.history.retire(SequenceNumber(4)));
    assert_eq!(written.numbers(), [3, 4]);
    assert!(!written.history.retire(SequenceNumber(4)));
    assert!(written.history.has_removed_instances());
}

#[test]
fn unstored_changes_update_their_instance() {
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
fn deadline_watches_alive_instances() {
    let mut written = Written::keep_last(1);
    assert_eq!(written.history.next_deadline(), None);
    written.write(1).unwrap();
    written.write(2).unwrap();
    written.add(ChangeKind::NotAliveDisposed, 2).unwrap();
    written.history.set_deadline(at(5), Duration::from_millis(10));
    assert_eq!(written.history.next_deadline(), Some(at(15)));
    written.history.set_deadline(at(8), Duration::from_millis(20));
    assert_eq!(written.history.next_deadline(), Some(at(25)), "it counts from the first call");
    written.history.miss_deadlines(at(24));
    assert_eq!(written.history.take_missed(), None);
    written.history.miss_deadlines(at(45));
    assert_eq!(written.history.take_missed(), Some(MissedDeadlines { count: 2, last: handle(1) }));
    assert_eq!(written.history.take_missed(), None);
    written.write(1).unwrap();
    written.history.meet_deadline(handle(1), at(50));
    assert_eq!(written.history.next_deadline(), Some(at(70)));
    written.history.register(handle(3), &Payload::copy_of(&[3])).unwrap();
    written.history.meet_deadline(handle(3), at(51));
    written.add(ChangeKind::NotAliveDisposed, 1).unwrap();
    written.history.meet_deadline(handle(1), at(52));
    assert_eq!(written.history.next_deadline(), None);
}

/// A set of one sample, and its end.
fn write_set(written: &mut Written) {
    written.write(1).unwrap();
    written.end_set(written.number);
}

#[test]
fn ends_of_sets_without_samples_leave() {
    let mut written = Written::keep_last(1);
    for _ in 0..1_000 {
        written.acknowledged = written.number + 2;
        write_set(&mut written);
        assert!(written.history.len() <= 1 + 64 + 2 + 1);
    }
}

#[test]
fn latest_ends_stay_until_acknowledged() {
    let mut written = Written::keep_last(1);
    for _ in 0..1_000 {
        write_set(&mut written);
        assert!(written.history.len() <= 1 + 64 + 2 * (32 + 1) + 1);
        let latest = (0..32).map(|back| written.number - 2 * back).filter(|&number| number > 0);
        assert!(latest.into_iter().all(|number| written.history.get(SequenceNumber(number)).is_some()));
    }
}

#[test]
fn ends_of_sets_with_samples_stay() {
    let mut written = Written::new(keep_all(None, None), true);
    for sets in 1..=300 {
        written.acknowledged = written.number + 2;
        write_set(&mut written);
        assert_eq!(written.history.len(), 2 * sets);
    }
}

#[test]
fn check_room_respects_instance_limit() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    let mut written = Written::new(HistoryLimits::new(History::KeepAll, limits), false);
    assert_eq!(written.history.check_room(handle(1), NOTHING), Ok(()));
    written.write(1).unwrap();
    assert_eq!(written.history.check_room(handle(1), NOTHING), Ok(()));
    assert_eq!(written.history.check_room(handle(2), NOTHING), Err(HistoryFull::InstancesMax));
}

/// The application may write a disposed instance again, until another one needs its place.
#[test]
fn oldest_disposed_instances_make_space() {
    let limits = HistoryLimits { depth: Some(1), instances_max: 3, ..UNLIMITED };
    let mut history = WriterHistory::new(limits, false, HashSeed::fixed(1));
    let mut number = 0;
    for key in 1..=200 {
        for kind in [ChangeKind::Alive, ChangeKind::NotAliveDisposed] {
            number += 1;
            assert_eq!(history.check_room(handle(key), SequenceNumber(number - 1)), Ok(()), "{key}");
            history.insert(change(number, handle(key), kind), None, SequenceNumber(number - 1)).unwrap();
            history.retire(SequenceNumber(number));
        }
    }
    let known = [197, 198, 199, 200].map(|key| history.is_registered(handle(key)));
    assert_eq!(known, [false, true, true, true]);
    assert!(history.instances.table_len() <= 4);
    // Registered and alive instances stay, and those with changes too.
    let serialized = Payload::copy_of(&[1]);
    assert_eq!(history.register(handle(198), &serialized), Ok(()));
    for key in [1, 2] {
        number += 1;
        history.insert(change(number, handle(key), ChangeKind::Alive), None, NOTHING).unwrap();
    }
    assert_eq!(history.register(handle(3), &serialized), Err(HistoryFull::InstancesMax));
    number += 1;
    history.insert(change(number, handle(1), ChangeKind::NotAliveDisposed), None, NOTHING).unwrap();
    assert_eq!(history.check_room(handle(3), NOTHING), Err(HistoryFull::InstancesMax));
    history.retire(SequenceNumber(number));
    assert_eq!(history.check_room(handle(3), NOTHING), Ok(()));
    assert!(!history.is_registered(handle(1)) && history.is_registered(handle(2)));
}

#[test]
fn disposed_instances_of_unlimited_writer_are_bounded() {
    let mut history = WriterHistory::new(HistoryLimits { depth: Some(1), ..UNLIMITED }, false, HashSeed::fixed(1));
    for number in 0..DISPOSED_MAX as u64 + 1000 {
        let instance = InstanceHandle::from_key_hash([number.to_be_bytes(); 2].concat().try_into().unwrap());
        history.note_unstored(instance, ChangeKind::Alive, None);
        history.note_unstored(instance, ChangeKind::NotAliveDisposed, None);
    }
    assert_eq!(history.instances.len(), DISPOSED_MAX);
}
