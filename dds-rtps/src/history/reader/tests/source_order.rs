//! Order by source timestamp: sorted and superseded changes, and agreement of all readers.

use super::model::Chance;
use super::*;

/// The key of all changes.
const KEY: u8 = 1;

fn by_source(history: History) -> Cache {
    Cache::ordered(history, ResourceLimits::default(), DestinationOrder::BySourceTimestamp)
}

/// A change of a writer with these source and reception timestamps in milliseconds.
fn stamped(cache: &mut Cache, kind: ChangeKind, from: u8, written: i64, received: u64) -> Admission {
    let mut change = cache.received(kind, from, KEY);
    change.change.source_timestamp = Time::from_unix_nanos(written * 1_000_000);
    change.reception_timestamp = at(received).time;
    cache.history.add(at(received), change).unwrap()
}

fn write(cache: &mut Cache, from: u8, written: i64) -> Admission {
    stamped(cache, ChangeKind::Alive, from, written, 2_000_000)
}

/// The source timestamps of all samples in the order of a read.
fn written(samples: &[HistorySample]) -> Vec<i64> {
    samples.iter().map(|sample| sample.info.source_timestamp.as_unix_nanos() / 1_000_000).collect()
}

#[test]
fn late_samples_are_sorted_in() {
    let mut cache = by_source(History::KeepAll);
    for time in [10, 40, 20, 30, 5] {
        assert_eq!(write(&mut cache, 1, time), Admission::Visible);
    }
    assert_eq!(written(&cache.select(Selection::default(), Operation::Take)), [5, 10, 20, 30, 40]);
    for time in [60, 50] {
        assert_eq!(write(&mut cache, 1, time), Admission::Visible);
    }
    let arrivals = Selection { order: SelectionOrder::ByArrival, ..Selection::default() };
    assert_eq!(written(&cache.select(arrivals, Operation::Take)), [50, 60]);
    assert_eq!(cache.history.counters().superseded, 0);
}

#[test]
fn sample_older_than_a_seen_one_is_superseded() {
    for operation in [Operation::Take, Operation::Read] {
        let mut cache = by_source(History::KeepAll);
        write(&mut cache, 1, 20);
        write(&mut cache, 1, 30);
        let first = Selection { samples_max: 1, ..Selection::default() };
        assert_eq!(written(&cache.select(first, operation)), [20]);
        assert_eq!(write(&mut cache, 2, 19), Admission::Superseded);
        assert_eq!(write(&mut cache, 2, 25), Admission::Visible);
        let unread = Selection { states: States::NOT_READ, ..Selection::default() };
        assert_eq!(written(&cache.select(unread, operation)), [25, 30]);
        assert_eq!(cache.history.counters().superseded, 1);
    }
}

#[test]
fn keep_last_keeps_newest_by_source() {
    let mut cache = by_source(History::KeepLast { depth: 2 });
    for (time, admission) in [
        (20, Admission::Visible),
        (40, Admission::Visible),
        (10, Admission::Superseded),
        (30, Admission::Visible),
        (25, Admission::Superseded),
    ] {
        assert_eq!(write(&mut cache, 1, time), admission, "{time}");
    }
    assert_eq!(written(&cache.take()), [30, 40]);
    assert_eq!((cache.history.counters().superseded, cache.history.counters().overwritten), (2, 1));
}

#[test]
fn lower_guid_is_newer_at_equal_time() {
    for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [2, 1, 3]] {
        let mut cache = by_source(History::KeepLast { depth: 1 });
        for from in order {
            write(&mut cache, from, 7);
        }
        let samples = cache.take();
        assert_eq!(samples[0].info.publication_handle, InstanceHandle::from(writer(1)));
    }
}

#[test]
fn late_dispose_only_registers_its_writer() {
    let mut cache = by_source(History::KeepAll);
    write(&mut cache, 1, 20);
    assert_eq!(stamped(&mut cache, ChangeKind::NotAliveDisposed, 2, 10, 0), Admission::Superseded);
    assert_eq!(cache.history.lookup_instance(handle(KEY)), Some(InstanceState::Alive));
    cache.unregister(1, KEY).unwrap();
    assert_eq!(cache.history.lookup_instance(handle(KEY)), Some(InstanceState::Alive));
    // An unregistration does not concern the value and always counts.
    let end = ChangeKind::NotAliveDisposedUnregistered;
    assert_eq!(stamped(&mut cache, end, 2, 11, 0), Admission::Visible);
    assert_eq!(cache.history.lookup_instance(handle(KEY)), Some(InstanceState::NotAliveNoWriters));
}

#[test]
fn sample_older_than_dispose_does_not_revive() {
    let mut cache = by_source(History::KeepAll);
    write(&mut cache, 1, 10);
    cache.read();
    assert_eq!(stamped(&mut cache, ChangeKind::NotAliveDisposed, 1, 30, 0), Admission::Visible);
    assert_eq!(write(&mut cache, 2, 20), Admission::Visible);
    let samples = cache.take();
    assert_eq!(written(&samples), [10, 20, 30]);
    assert!(samples.iter().all(|sample| sample.info.instance_state == InstanceState::NotAliveDisposed));
    assert_eq!(samples.last().map(|sample| sample.info.valid_data), Some(false));
    // The application has seen the dispose.
    assert_eq!(write(&mut cache, 2, 25), Admission::Superseded);
    assert_eq!(write(&mut cache, 2, 31), Admission::Visible);
    assert_eq!(cache.history.lookup_instance(handle(KEY)), Some(InstanceState::Alive));
}

#[test]
fn notice_of_lost_writers_is_not_ordered() {
    let mut cache = by_source(History::KeepAll);
    // The first writer's clock is ahead of the reader's.
    stamped(&mut cache, ChangeKind::Alive, 1, 6000, 1000);
    cache.history.writer_lost(at(1000), writer(1));
    stamped(&mut cache, ChangeKind::Alive, 2, 2000, 1000);
    stamped(&mut cache, ChangeKind::Alive, 2, 1000, 1000);
    assert_eq!(written(&cache.take()), [1000, 2000, 6000]);
    cache.history.writer_lost(at(1000), writer(2));
    stamped(&mut cache, ChangeKind::Alive, 3, 7000, 1000);
    assert_eq!(written(&cache.take()), [7000]);
}

#[test]
fn clock_far_ahead_does_not_supersede_others() {
    let mut cache = by_source(History::KeepLast { depth: 1 });
    let year = 365 * 24 * 3_600_000;
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 10 * year, 1000), Admission::Visible);
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 2, 1001, 1001), Admission::Visible);
    assert_eq!(written(&cache.take()), [1001]);
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 10 * year + 1, 1002), Admission::Visible);
    assert_eq!(cache.history.counters().from_future, 2);
    // Within the tolerance the writer's clock counts.
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 30_000, 1003), Admission::Visible);
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 2, 1004, 1004), Admission::Superseded);
    assert_eq!(cache.history.counters().from_future, 2);
}

#[test]
fn reader_survives_clock_set_back() {
    let mut cache = by_source(History::KeepLast { depth: 1 });
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 900_000, 900_000), Admission::Visible);
    cache.take();
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 1000, 1000), Admission::Visible);
    assert_eq!(stamped(&mut cache, ChangeKind::NotAliveDisposed, 1, 1001, 1001), Admission::Visible);
    assert_eq!(cache.history.lookup_instance(handle(KEY)), Some(InstanceState::NotAliveDisposed));
}

#[test]
fn slow_clock_costs_constant_time() {
    let mut cache = by_source(History::KeepAll);
    for time in 0..5_000 {
        assert_eq!(write(&mut cache, 1, 100_000 + time), Admission::Visible);
        assert_eq!(write(&mut cache, 2, time), Admission::Visible);
    }
    let samples = written(&cache.take());
    assert_eq!(samples.len(), 10_000);
    assert!(samples.is_sorted());
    assert_eq!(cache.history.counters().superseded, 0);
}

#[test]
fn random_timestamps_cost_bounded_search() {
    let mut cache = by_source(History::KeepAll);
    let mut chance = Chance(3);
    for _ in 0..20_000 {
        write(&mut cache, 1, chance.below(1 << 20) as i64);
    }
    assert!(cache.history.counters().superseded > 0);
    assert_eq!(cache.history.counters().superseded + cache.history.len() as u64, 20_000);
    assert!(written(&cache.take()).is_sorted());
}

/// A change of a writer: kind and source timestamp in milliseconds.
type Script = Vec<(ChangeKind, u8, i64)>;

/// The last value that a reader has seen, and the instance state.
fn play(script: &Script, depth: Option<u32>, chance: &mut Chance) -> (Vec<i64>, Option<InstanceState>) {
    let mut cache = by_source(depth.map_or(History::KeepAll, |depth| History::KeepLast { depth }));
    let mut seen: Vec<i64> = Vec::new();
    for &(kind, from, time) in script {
        stamped(&mut cache, kind, from, time, 2_000_000);
        if chance.below(4) == 0 {
            let operation = if chance.below(2) == 0 { Operation::Read } else { Operation::Take };
            let unread = Selection {
                states: States::NOT_READ,
                samples_max: 1 + chance.below(3) as usize,
                ..Selection::default()
            };
            let samples = cache.select(unread, operation);
            seen.extend(written(&samples.into_iter().filter(|sample| sample.info.valid_data).collect::<Vec<_>>()));
        }
    }
    let state = cache.history.lookup_instance(handle(KEY));
    let unread = Selection { states: States::NOT_READ, ..Selection::default() };
    let samples = cache.select(unread, Operation::Take);
    seen.extend(written(&samples.into_iter().filter(|sample| sample.info.valid_data).collect::<Vec<_>>()));
    (seen, state)
}

#[test]
fn all_readers_agree_on_value_and_state() {
    let mut chance = Chance(11);
    for round in 0..2_000 {
        let count = 2 + chance.below(12) as i64;
        // Every order starts with the first sample of each writer, because an end by an unknown writer is ignored.
        let mut script: Script = (0..count)
            .map(|time| {
                let kind = match chance.below(4) {
                    0 => ChangeKind::NotAliveDisposed,
                    _ => ChangeKind::Alive,
                };
                (kind, 1 + chance.below(3) as u8, 10 + time)
            })
            .collect();
        let newest = *script.last().unwrap();
        let last_value = script.iter().rev().find(|change| change.0 == ChangeKind::Alive).map(|change| change.2);
        for depth in [Some(1), Some(2), None] {
            for _ in 0..3 {
                let len = script.len();
                for at in 0..len {
                    script.swap(at, chance.below(len as u64) as usize);
                }
                let (seen, state) = play(&script, depth, &mut chance);
                let expected = match newest.0 {
                    ChangeKind::Alive => InstanceState::Alive,
                    _ => InstanceState::NotAliveDisposed,
                };
                assert_eq!(state, Some(expected), "round {round}: {script:?}");
                assert!(seen.is_sorted(), "round {round}: {script:?} seen as {seen:?}");
                if newest.0 == ChangeKind::Alive {
                    assert_eq!(seen.last().copied(), last_value, "round {round}: {script:?}");
                }
            }
        }
    }
}

/// Of a late dispose and unregistration in one, only the unregistration counts and is reported.
#[test]
fn late_dispose_unregister_reports_only_loss() {
    let mut cache = by_source(History::KeepAll);
    write(&mut cache, 1, 10);
    cache.read();
    let admission = stamped(&mut cache, ChangeKind::NotAliveDisposedUnregistered, 1, 5, 2_000_000);
    assert_eq!(admission, Admission::Visible);
    let samples = cache.take();
    let news = samples.last().unwrap();
    assert_eq!((news.info.instance_state, news.info.valid_data), (InstanceState::NotAliveNoWriters, false));
    assert_eq!(news.kind, ChangeKind::NotAliveUnregistered);
}

/// The notice that replaces an expired sample carries no source timestamp. A sample newer than the dispose replaces it.
#[test]
fn sample_after_dispose_replaces_its_notice() {
    let mut cache = by_source(History::KeepAll);
    cache.now = 20;
    stamped(&mut cache, ChangeKind::Alive, 1, 1, 10);
    cache.take();
    let mut mortal = cache.received(ChangeKind::Alive, 1, KEY);
    mortal.change.source_timestamp = at(2).time;
    mortal.expires = Some(at(30).instant);
    mortal.reception_timestamp = at(20).time;
    cache.history.add(at(20), mortal).unwrap();
    stamped(&mut cache, ChangeKind::NotAliveDisposed, 1, 3, 20);
    cache.now = 30;
    assert_eq!(cache.history.count_matching(at(30), &Selection::default()), 1, "the news of the end is left");
    assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 4, 30), Admission::Visible);
    assert_eq!(written(&cache.take()), [4]);
    assert!(cache.history.is_empty());
}

#[test]
fn future_timestamps_are_counted_where_used() {
    let mut cache = Cache::keep_all();
    for kind in [ChangeKind::Alive, ChangeKind::NotAliveDisposed] {
        stamped(&mut cache, kind, 1, 31_000, 0);
    }
    assert_eq!(cache.history.counters().from_future, 0);
    let mut cache = by_source(History::KeepAll);
    for (written, count) in [(30_000, 0), (30_001, 1)] {
        stamped(&mut cache, ChangeKind::Alive, 1, written, 0);
        assert_eq!(cache.history.counters().from_future, count);
    }
}

#[test]
fn seen_order_counts_within_future_tolerance() {
    for (received, admission) in [(1_000, Admission::Superseded), (999, Admission::Visible)] {
        let mut cache = by_source(History::KeepAll);
        stamped(&mut cache, ChangeKind::Alive, 1, 31_000, 2_000);
        assert_eq!(cache.take().len(), 1);
        assert_eq!(stamped(&mut cache, ChangeKind::Alive, 1, 5_000, received), admission);
    }
}

#[test]
fn sample_with_dispose_does_not_supersede_itself() {
    let mut cache = by_source(History::KeepAll);
    let received = ReceivedChange { has_data: true, ..cache.received(ChangeKind::NotAliveDisposed, 1, KEY) };
    assert_eq!(cache.history.add(at(0), received).unwrap(), Admission::Visible);
    assert_eq!(cache.history.lookup_instance(handle(KEY)), Some(InstanceState::NotAliveDisposed));
}

#[test]
fn own_writer_is_newest_unless_all_are_ordered() {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let config = ReaderHistoryConfig { outlives_writers: true, ..ReaderHistoryConfig::new(limits) };
    let mut cache = Cache::configured(config);
    for time in [20, 10] {
        assert_eq!(write(&mut cache, 1, time), Admission::Visible);
    }
    assert_eq!(written(&cache.take()), [20, 10]);
}

#[test]
fn search_does_not_start_at_expired_late_sample() {
    for (expires, admission) in [(None, Admission::Visible), (Some(at(1).instant), Admission::Superseded)] {
        let mut cache = by_source(History::KeepAll);
        assert_eq!(write(&mut cache, 1, 100), Admission::Visible);
        let mut late = cache.received(ChangeKind::Alive, 1, KEY);
        late.change.source_timestamp = at(50).time;
        late.reception_timestamp = at(0).time;
        cache.history.add(at(0), ReceivedChange { expires, ..late }).unwrap();
        for time in 101..1_200 {
            assert_eq!(write(&mut cache, 1, time), Admission::Visible);
        }
        cache.history.handle_timeout(at(1));
        // A sample of another instance occupies its slot.
        let mut other = cache.received(ChangeKind::Alive, 1, KEY + 1);
        other.change.source_timestamp = at(55).time;
        cache.history.add(at(2), other).unwrap();
        assert_eq!(write(&mut cache, 1, 60), admission, "too far from the newest");
    }
}
