//! Exclusive ownership: whose changes count, and when that changes.

use super::*;
use crate::qos::Ownership;
use crate::types::Duration;

/// A cache with writers 1 to 3 of these strengths.
fn cache(strengths: [i32; 3]) -> Cache {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let mut cache =
        Cache::configured(ReaderHistoryConfig { ownership: Ownership::Exclusive, ..ReaderHistoryConfig::new(limits) });
    for (number, strength) in (1..).zip(strengths) {
        cache.history.set_ownership_strength(writer(number), strength);
    }
    cache
}

/// Writes, and says whether it counted.
fn counts(cache: &mut Cache, from: u8, key: u8) -> bool {
    match cache.write(from, key) {
        Ok(Admission::Visible) => true,
        Ok(Admission::NotOwner) => false,
        other => panic!("{other:?}"),
    }
}

fn state(cache: &Cache, key: u8) -> Option<InstanceState> {
    cache.history.lookup_instance(handle(key))
}

#[test]
fn the_strongest_writer_owns_each_instance_by_itself() {
    let mut cache = cache([10, 20, 20]);
    let outcomes = [(1, 1), (2, 1), (1, 1), (3, 1), (2, 1), (1, 2)].map(|(from, key)| counts(&mut cache, from, key));
    assert_eq!(outcomes, [true, true, false, false, true, true]);
    assert_eq!(numbers(&cache.take()), [1, 2, 5, 6]);
    assert_eq!(cache.history.counters().ownership, 2);
}

#[test]
fn among_equals_the_lowest_guid_owns_whoever_came_first() {
    let mut cache = cache([5, 5, 5]);
    assert!(counts(&mut cache, 3, 1) && counts(&mut cache, 2, 1) && counts(&mut cache, 1, 1));
    assert!(!counts(&mut cache, 3, 1) && !counts(&mut cache, 2, 1));
}

#[test]
fn shared_ownership_knows_no_strength() {
    let mut cache = Cache::keep_all();
    cache.history.set_ownership_strength(writer(1), 10);
    assert!(counts(&mut cache, 1, 1) && counts(&mut cache, 2, 1));
    assert_eq!(cache.history.counters().ownership, 0);
}

#[test]
fn ownership_passes_to_the_next_strongest_when_the_owner_leaves() {
    type Leave = fn(&mut Cache);
    let ways: [Leave; 4] = [
        |cache| assert_eq!(cache.unregister(3, 1), Ok(Admission::Unchanged)),
        |cache| assert_eq!(cache.add(ChangeKind::NotAliveDisposedUnregistered, 3, 1), Ok(Admission::Visible)),
        |cache| assert!(!cache.history.writer_lost(at(0), writer(3))),
        |cache| assert!(!cache.history.writer_not_alive(at(0), writer(3))),
    ];
    for leave in ways {
        let mut cache = cache([10, 20, 30]);
        assert!(counts(&mut cache, 3, 1) && !counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
        leave(&mut cache);
        assert!(!counts(&mut cache, 1, 1), "the second strongest owns it, without having written since");
        assert!(counts(&mut cache, 2, 1));
    }
}

#[test]
fn a_dispose_moves_nothing_and_only_the_owner_can() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1));
    assert_eq!(cache.dispose(1, 1), Ok(Admission::NotOwner));
    assert_eq!(state(&cache, 1), Some(InstanceState::Alive));
    assert_eq!(cache.dispose(2, 1), Ok(Admission::Visible));
    assert!(!counts(&mut cache, 1, 1), "what is disposed of is still the owner's");
    assert_eq!(state(&cache, 1), Some(InstanceState::NotAliveDisposed));
    assert!(counts(&mut cache, 2, 1));
}

#[test]
fn a_stronger_writer_takes_over_by_a_dispose_as_well() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 1, 1));
    assert_eq!(cache.dispose(2, 1), Ok(Admission::Visible));
    assert!(!counts(&mut cache, 1, 1));
}

#[test]
fn the_last_writer_counts_though_it_never_owned() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
    assert_eq!(cache.unregister(2, 1), Ok(Admission::Unchanged));
    assert_eq!(state(&cache, 1), Some(InstanceState::Alive));
    assert_eq!(cache.unregister(1, 1), Ok(Admission::Visible));
    assert_eq!(state(&cache, 1), Some(InstanceState::NotAliveNoWriters));
}

#[test]
fn one_that_does_not_own_can_still_unregister_but_not_dispose() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
    assert_eq!(cache.add(ChangeKind::NotAliveDisposedUnregistered, 1, 1), Ok(Admission::NotOwner));
    assert_eq!(state(&cache, 1), Some(InstanceState::Alive));
    assert_eq!(cache.unregister(2, 1), Ok(Admission::Visible), "nobody else writes it any more");
}

#[test]
fn a_strength_changes_while_they_write() {
    let mut cache = cache([10, 20, 5]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1) && !counts(&mut cache, 3, 1));
    cache.history.set_ownership_strength(writer(1), 30);
    assert!(!counts(&mut cache, 2, 1), "the other one has got stronger, and writes it");
    assert!(counts(&mut cache, 1, 1));
    cache.history.set_ownership_strength(writer(1), 1);
    assert!(!counts(&mut cache, 1, 1) && !counts(&mut cache, 3, 1));
    assert!(counts(&mut cache, 2, 1));
}

#[test]
fn one_whose_liveliness_comes_back_owns_again_when_it_writes() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1));
    assert!(cache.history.writer_not_alive(at(0), writer(2)));
    assert!(counts(&mut cache, 1, 1) && counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
}

#[test]
fn an_instance_that_was_forgotten_has_no_owner() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1));
    cache.add(ChangeKind::NotAliveDisposedUnregistered, 2, 1).unwrap();
    cache.take();
    cache.take();
    assert_eq!(state(&cache, 1), None);
    assert!(counts(&mut cache, 1, 2) && counts(&mut cache, 1, 1), "the place is used again, its owner is not");
}

#[test]
fn a_writer_leaves_with_a_sample_that_does_not_count() {
    let kinds = [
        (ChangeKind::NotAliveDisposed, InstanceState::Alive),
        (ChangeKind::NotAliveUnregistered, InstanceState::NotAliveNoWriters),
        (ChangeKind::NotAliveDisposedUnregistered, InstanceState::NotAliveNoWriters),
    ];
    for (kind, expected) in kinds {
        let mut cache = cache([10, 20, 30]);
        assert!(counts(&mut cache, 2, 1));
        let received = ReceivedChange { has_data: true, ..cache.received(kind, 1, 1) };
        assert_eq!(cache.history.add(at(0), received).unwrap(), Admission::NotOwner);
        cache.unregister(2, 1).unwrap();
        assert_eq!(state(&cache, 1), Some(expected), "{kind:?}");
    }
}

/// Writers 1 to 3, of these strengths, have written an instance, and its deadline has been missed since.
fn lapsed(strengths: [i32; 3]) -> Cache {
    let timing = ReaderTiming { deadline: Duration::from_millis(100), ..ReaderTiming::NONE };
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let config = ReaderHistoryConfig { ownership: Ownership::Exclusive, timing, ..ReaderHistoryConfig::new(limits) };
    let mut cache = Cache::configured(config);
    for (number, strength) in (1..).zip(strengths) {
        cache.history.set_ownership_strength(writer(number), strength);
        counts(&mut cache, number, 1);
    }
    cache.now = 100;
    cache.history.handle_timeout(at(100));
    assert_eq!(cache.history.take_missed().map(|missed| missed.count), Some(1));
    cache
}

#[test]
fn who_has_not_written_since_a_deadline_was_missed_does_not_follow_the_owner() {
    let mut cache = lapsed([10, 20, 30]);
    assert!(counts(&mut cache, 1, 1));
    cache.unregister(1, 1).unwrap();
    assert!(counts(&mut cache, 1, 1), "nobody owned it");
}

#[test]
fn who_has_written_since_follows_the_owner_though_it_did_not_count() {
    let mut cache = lapsed([20, 30, 10]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
    cache.unregister(2, 1).unwrap();
    assert!(!counts(&mut cache, 3, 1) && counts(&mut cache, 1, 1));
}

#[test]
fn that_one_leaves_says_nothing_of_the_others_that_have_not_written_since() {
    let mut cache = lapsed([10, 20, 30]);
    cache.unregister(3, 1).unwrap();
    assert!(counts(&mut cache, 1, 1));
    cache.unregister(1, 1).unwrap();
    assert!(counts(&mut cache, 1, 1), "nobody owned it");
}
