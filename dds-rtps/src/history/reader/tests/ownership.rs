//! EXCLUSIVE ownership: the owner of an instance, and its changes.

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

/// Writes a sample. Returns whether it counted.
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
fn strongest_writer_owns_each_instance() {
    let mut cache = cache([10, 20, 20]);
    let outcomes = [(1, 1), (2, 1), (1, 1), (3, 1), (2, 1), (1, 2)].map(|(from, key)| counts(&mut cache, from, key));
    assert_eq!(outcomes, [true, true, false, false, true, true]);
    assert_eq!(numbers(&cache.take()), [1, 2, 5, 6]);
    assert_eq!(cache.history.counters().ownership, 2);
}

#[test]
fn lowest_guid_owns_among_equals() {
    let mut cache = cache([5, 5, 5]);
    assert!(counts(&mut cache, 3, 1) && counts(&mut cache, 2, 1) && counts(&mut cache, 1, 1));
    assert!(!counts(&mut cache, 3, 1) && !counts(&mut cache, 2, 1));
}

#[test]
fn shared_ownership_ignores_strength() {
    let mut cache = Cache::keep_all();
    cache.history.set_ownership_strength(writer(1), 10);
    assert!(counts(&mut cache, 1, 1) && counts(&mut cache, 2, 1));
    assert_eq!(cache.history.counters().ownership, 0);
}

#[test]
fn next_strongest_follows_when_owner_leaves() {
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
        assert!(!counts(&mut cache, 1, 1), "the second strongest owns it without another write");
        assert!(counts(&mut cache, 2, 1));
    }
}

#[test]
fn only_owner_disposes_and_stays_owner() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1));
    assert_eq!(cache.dispose(1, 1), Ok(Admission::NotOwner));
    assert_eq!(state(&cache, 1), Some(InstanceState::Alive));
    assert_eq!(cache.dispose(2, 1), Ok(Admission::Visible));
    assert!(!counts(&mut cache, 1, 1), "the owner keeps a disposed instance");
    assert_eq!(state(&cache, 1), Some(InstanceState::NotAliveDisposed));
    assert!(counts(&mut cache, 2, 1));
}

#[test]
fn stronger_writer_takes_over_by_dispose() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 1, 1));
    assert_eq!(cache.dispose(2, 1), Ok(Admission::Visible));
    assert!(!counts(&mut cache, 1, 1));
}

#[test]
fn last_writer_counts_without_ownership() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
    assert_eq!(cache.unregister(2, 1), Ok(Admission::Unchanged));
    assert_eq!(state(&cache, 1), Some(InstanceState::Alive));
    assert_eq!(cache.unregister(1, 1), Ok(Admission::Visible));
    assert_eq!(state(&cache, 1), Some(InstanceState::NotAliveNoWriters));
}

#[test]
fn other_writer_may_unregister_but_not_dispose() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
    assert_eq!(cache.add(ChangeKind::NotAliveDisposedUnregistered, 1, 1), Ok(Admission::NotOwner));
    assert_eq!(state(&cache, 1), Some(InstanceState::Alive));
    assert_eq!(cache.unregister(2, 1), Ok(Admission::Visible), "no other writer is left");
}

#[test]
fn changed_strength_changes_the_owner() {
    let mut cache = cache([10, 20, 5]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1) && !counts(&mut cache, 3, 1));
    cache.history.set_ownership_strength(writer(1), 30);
    assert!(!counts(&mut cache, 2, 1), "the stronger writer owns it now");
    assert!(counts(&mut cache, 1, 1));
    cache.history.set_ownership_strength(writer(1), 1);
    assert!(!counts(&mut cache, 1, 1) && !counts(&mut cache, 3, 1));
    assert!(counts(&mut cache, 2, 1));
}

#[test]
fn revived_owner_owns_again_when_it_writes() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1));
    assert!(cache.history.writer_not_alive(at(0), writer(2)));
    assert!(counts(&mut cache, 1, 1) && counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
}

#[test]
fn freed_instance_has_no_owner() {
    let mut cache = cache([10, 20, 0]);
    assert!(counts(&mut cache, 2, 1));
    cache.add(ChangeKind::NotAliveDisposedUnregistered, 2, 1).unwrap();
    cache.take();
    cache.take();
    assert_eq!(state(&cache, 1), None);
    assert!(counts(&mut cache, 1, 2) && counts(&mut cache, 1, 1), "the reused entry has no owner");
}

#[test]
fn refused_sample_still_unregisters_its_writer() {
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

/// A cache with an instance of writers 1 to 3 that missed its deadline.
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
fn lapsed_writer_does_not_follow_the_owner() {
    let mut cache = lapsed([10, 20, 30]);
    assert!(counts(&mut cache, 1, 1));
    cache.unregister(1, 1).unwrap();
    assert!(counts(&mut cache, 1, 1), "it had no owner");
}

#[test]
fn refused_write_after_lapse_allows_following() {
    let mut cache = lapsed([20, 30, 10]);
    assert!(counts(&mut cache, 2, 1) && !counts(&mut cache, 1, 1));
    cache.unregister(2, 1).unwrap();
    assert!(!counts(&mut cache, 3, 1) && counts(&mut cache, 1, 1));
}

#[test]
fn unregister_does_not_clear_other_lapses() {
    let mut cache = lapsed([10, 20, 30]);
    cache.unregister(3, 1).unwrap();
    assert!(counts(&mut cache, 1, 1));
    cache.unregister(1, 1).unwrap();
    assert!(counts(&mut cache, 1, 1), "it had no owner");
}
