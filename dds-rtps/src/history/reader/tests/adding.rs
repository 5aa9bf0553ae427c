//! Adding changes: limits, states, writers.

use super::*;
use crate::types::Duration;

const VISIBLE: Result<Admission, RejectReason> = Ok(Admission::Visible);
const UNCHANGED: Result<Admission, RejectReason> = Ok(Admission::Unchanged);

#[test]
fn keep_last_replaces_oldest_of_same_instance() {
    let mut cache = Cache::keep_last(2);
    for key in [1, 2, 1, 1, 1] {
        assert_eq!(cache.write(1, key), VISIBLE);
    }
    assert_eq!(numbers(&cache.take()), [2, 4, 5]);
    assert_eq!(cache.history.counters().overwritten_unread, 2);
}

#[test]
fn keep_last_at_limit_replaces_below_its_depth() {
    let limits = ResourceLimits { max_samples: Some(3), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepLast { depth: 5 }, limits);
    for key in [1, 1, 2] {
        assert_eq!(cache.write(1, key), VISIBLE);
    }
    assert_eq!(cache.write(1, 3), Err(RejectReason::Samples));
    assert_eq!(cache.write(1, 2), VISIBLE);
    assert_eq!(numbers(&cache.take()), [1, 2, 5]);
}

#[test]
fn keep_all_rejects_at_each_limit() {
    let limits = ResourceLimits { max_samples: Some(4), max_instances: Some(2), max_samples_per_instance: Some(3) };
    let mut cache = Cache::new(History::KeepAll, limits);
    for key in [1, 1, 1] {
        assert_eq!(cache.write(1, key), VISIBLE);
    }
    assert_eq!(cache.write(1, 1), Err(RejectReason::SamplesPerInstance));
    assert_eq!(cache.write(1, 2), VISIBLE);
    assert_eq!(cache.write(1, 2), Err(RejectReason::Samples));
    assert_eq!(cache.write(1, 3), Err(RejectReason::Instances));
    assert_eq!(cache.dispose(1, 3), Err(RejectReason::Instances));
    assert_eq!(cache.history.counters().rejected, 4);
    assert_eq!(cache.take().len(), 4);
    assert_eq!(cache.write(1, 2), VISIBLE);
}

#[test]
fn samples_without_data_take_no_space() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepAll, limits);
    cache.write(1, 1).unwrap();
    cache.read();
    assert_eq!(cache.dispose(1, 1), VISIBLE);
    assert_eq!(cache.dispose(1, 2), VISIBLE);
    assert_eq!(cache.history.len(), 3);
}

#[test]
fn rejected_change_is_returned_complete() {
    let limits = ResourceLimits { max_samples: Some(1), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepAll, limits);
    cache.write(1, 1).unwrap();
    let received = cache.received(ChangeKind::Alive, 1, 1);
    let refused = cache.history.add(at(0), received).unwrap_err();
    assert_eq!(refused.received.change.payload.as_ref().unwrap().bytes(), [0, 1, 0, 0, 1, 2]);
    cache.take();
    assert_eq!(cache.history.add(at(0), refused.received).unwrap(), Admission::Visible);
}

#[test]
fn dispose_is_reported_by_unread_sample_or_notice() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    assert_eq!(cache.dispose(1, 1), VISIBLE);
    assert_eq!(cache.dispose(1, 1), UNCHANGED);
    let samples = cache.read();
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].info.instance_state, InstanceState::NotAliveDisposed);
    assert!(samples[0].info.valid_data);
    cache.write(1, 1).unwrap();
    cache.read();
    assert_eq!(cache.dispose(1, 1), VISIBLE);
    let unread = Selection { states: States::NOT_READ, ..Selection::default() };
    let samples = cache.select(unread, Operation::Take);
    assert_eq!(samples.len(), 1);
    assert!(!samples[0].info.valid_data);
    assert_eq!(samples[0].kind, ChangeKind::NotAliveDisposed);
}

#[test]
fn notices_do_not_pile_up() {
    let mut cache = Cache::keep_last(1);
    for _ in 0..100 {
        cache.write(1, 1).unwrap();
        cache.read();
        cache.dispose(1, 1).unwrap();
        cache.read();
    }
    assert_eq!(cache.history.len(), 2);
    cache.write(1, 1).unwrap();
    let samples = cache.take();
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].info.disposed_generation_count, 100);
}

#[test]
fn dispose_without_writers_starts_a_generation() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    cache.unregister(1, 1).unwrap();
    assert_eq!(cache.history.lookup_instance(handle(1)), Some(InstanceState::NotAliveNoWriters));
    cache.dispose(2, 1).unwrap();
    assert_eq!(cache.history.lookup_instance(handle(1)), Some(InstanceState::NotAliveDisposed));
    let samples = cache.take();
    assert_eq!(samples[0].info.absolute_generation_rank, 1);
}

#[test]
fn disposed_instance_stays_disposed_without_writers() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    cache.dispose(1, 1).unwrap();
    assert_eq!(cache.unregister(1, 1), UNCHANGED);
    assert_eq!(cache.take()[0].info.instance_state, InstanceState::NotAliveDisposed);
    assert!(cache.take().is_empty());
    assert_eq!(cache.history.instance_count(), 0);
}

#[test]
fn unregister_by_unknown_writer_changes_nothing() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    assert_eq!(cache.unregister(2, 1), UNCHANGED);
    assert!(!cache.history.writer_lost(at(0), writer(2)));
    assert_eq!(cache.history.lookup_instance(handle(1)), Some(InstanceState::Alive));
}

#[test]
fn unused_instances_are_freed_and_reused() {
    let mut cache = Cache::keep_all();
    for round in 0..10 {
        for key in 0..50 {
            cache.write(1, key).unwrap();
        }
        assert_eq!(cache.history.instance_count(), 50, "round {round}");
        cache.take();
        assert_eq!(cache.history.instance_count(), 50);
        assert!(cache.history.writer_lost(at(0), writer(1)));
        assert_eq!(cache.history.len(), 50);
        assert!(cache.take().iter().all(|sample| !sample.info.valid_data && sample.payload.is_some()));
        assert!(cache.take().is_empty());
        assert_eq!(cache.history.instance_count(), 0);
    }
}

#[test]
fn instance_written_after_empty_take_stays() {
    let mut cache = Cache::keep_all();
    for round in 0..3 {
        for key in [1, 2, 3] {
            cache.write(1, key).unwrap();
            cache.unregister(1, key).unwrap();
        }
        cache.take();
        // Write them again, take the samples, and unregister in another order.
        for key in [3, 1, 2] {
            cache.write(1, key).unwrap();
        }
        cache.take();
        for key in [2, 3, 1] {
            cache.unregister(1, key).unwrap();
        }
        assert_eq!(cache.history.instance_count(), 3, "round {round}");
        cache.take();
        for key in [1, 2, 3] {
            cache.write(1, key).unwrap();
        }
        assert_eq!(cache.take().len(), 3);
        assert_eq!(cache.history.instance_count(), 3);
        cache.history.writer_lost(at(0), writer(1));
        cache.take();
    }
}

#[test]
fn emptied_instance_does_not_count_against_limit() {
    let limits = ResourceLimits { max_instances: Some(1), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepAll, limits);
    cache.write(1, 1).unwrap();
    cache.unregister(1, 1).unwrap();
    cache.take();
    assert!(cache.history.instance_key_payload(handle(1)).is_some());
    assert_eq!(cache.write(1, 2), VISIBLE);
    cache.add(ChangeKind::NotAliveDisposedUnregistered, 1, 2).unwrap();
    cache.take();
    assert_eq!(cache.dispose(1, 3), VISIBLE);
    assert_eq!(cache.history.instance_count(), 1);
}

#[test]
fn known_instance_has_a_key() {
    let mut cache = Cache::keep_last(1);
    cache.write(1, 7).unwrap();
    cache.write(1, 7).unwrap();
    cache.take();
    let key = cache.history.instance_key_payload(handle(7)).unwrap();
    assert_eq!((key.payload.bytes(), key.is_key), (&[0, 1, 0, 0, 7, 1][..], false));
    cache.dispose(1, 7).unwrap();
    let key = cache.history.instance_key_payload(handle(7)).unwrap();
    assert_eq!((key.payload.bytes(), key.is_key), (&[0, 1, 0, 0, 7, 3][..], true));
    assert!(cache.history.instance_key_payload(handle(8)).is_none());
}

#[test]
fn keys_of_all_instances_have_a_budget() {
    let mut cache = Cache::keep_all();
    let image = Payload::copy_of(&vec![0; 20 << 20]);
    for key in 0..4 {
        let mut received = cache.received(ChangeKind::Alive, 1, key);
        received.change.payload = Some(image.clone());
        cache.history.add(at(0), received).unwrap();
    }
    assert!(cache.history.instance_key_payload(handle(2)).is_some());
    assert!(cache.history.instance_key_payload(handle(3)).is_none());
    assert_eq!(cache.history.counters().keys_dropped, 1);
    // A serialized key is small.
    cache.dispose(1, 3).unwrap();
    assert!(cache.history.instance_key_payload(handle(3)).is_some());
}

#[test]
fn writers_beyond_the_limit_are_not_remembered() {
    let mut cache = Cache::keep_last(1);
    let guid = |number: u32| {
        let mut prefix = [0; 12];
        prefix[..4].copy_from_slice(&number.to_be_bytes());
        Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 2]))
    };
    let count = instances::INSTANCE_WRITERS_MAX as u32 + 10;
    for number in 0..count {
        let mut received = cache.received(ChangeKind::Alive, 0, 1);
        received.change.writer = guid(number);
        assert_eq!(cache.history.add(at(0), received).unwrap(), Admission::Visible);
    }
    assert_eq!(cache.history.counters().writers_forgotten, 10);
    for number in 0..count {
        cache.history.writer_lost(at(0), guid(number));
    }
    assert_eq!(cache.take()[0].info.instance_state, InstanceState::NotAliveNoWriters);
}

#[test]
fn sample_expired_on_arrival_is_dropped() {
    let mut cache = Cache::keep_all();
    let mut received = cache.received(ChangeKind::Alive, 1, 1);
    received.expires = Some(at(5).instant);
    assert_eq!(cache.history.add(at(5), received).unwrap(), Admission::Expired);
    assert_eq!(cache.history.instance_count(), 0);
}

#[test]
fn unregistered_instances_leave_the_writer_list() {
    let mut cache = Cache::keep_all();
    for round in 0..200 {
        for key in 0..20 {
            cache.write(1, key).unwrap();
            cache.write(2, key).unwrap();
        }
        for key in 0..20 {
            cache.unregister(1, key).unwrap();
        }
        cache.take();
        assert!(
            cache.history.cache.instances.listed() <= 300,
            "round {round}: {}",
            cache.history.cache.instances.listed()
        );
    }
    assert!(!cache.history.writer_lost(at(0), writer(1)));
    assert!(cache.history.writer_lost(at(0), writer(2)));
    assert_eq!(cache.history.cache.instances.listed(), 0);
    assert_eq!(cache.take().len(), 20);
    assert!(cache.take().is_empty());
    assert_eq!(cache.history.instance_count(), 0);
}

#[test]
fn end_is_reported_although_samples_expire() {
    for ends in [ChangeKind::NotAliveDisposed, ChangeKind::NotAliveUnregistered] {
        let mut cache = Cache::keep_all();
        cache.write(1, 1).unwrap();
        assert_eq!(cache.take().len(), 1);
        for _ in 0..2 {
            let mut received = cache.received(ChangeKind::Alive, 1, 1);
            received.expires = Some(at(5).instant);
            cache.history.add(at(0), received).unwrap();
        }
        cache.add(ends, 1, 1).unwrap();
        cache.history.handle_timeout(at(5));
        let notices = cache.take();
        assert_eq!(notices.len(), 1, "{ends:?}");
        assert!(!notices[0].info.valid_data && notices[0].info.instance_state != InstanceState::Alive);
        cache.take();
        assert_eq!(cache.history.instance_count(), usize::from(ends == ChangeKind::NotAliveDisposed));
    }
    // An application that never saw the instance alive does not learn of its end.
    let mut cache = Cache::keep_all();
    let mut received = cache.received(ChangeKind::Alive, 1, 1);
    received.expires = Some(at(5).instant);
    cache.history.add(at(0), received).unwrap();
    cache.unregister(1, 1).unwrap();
    cache.history.handle_timeout(at(5));
    assert!(cache.history.is_empty());
}

/// An instance with this number.
fn many(number: u32) -> InstanceHandle {
    let mut hash = [0; 16];
    hash[..4].copy_from_slice(&number.to_be_bytes());
    InstanceHandle::from_key_hash(hash)
}

#[test]
fn configured_instance_limit_may_exceed_default() {
    let more = u32::try_from(INSTANCES_MAX).unwrap() + 1_000;
    let limits = ResourceLimits { max_instances: Some(more), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepLast { depth: 1 }, limits);
    let payload = Some(Payload::copy_of(&[0, 1, 0, 0]));
    for number in 0..=more {
        let mut received = cache.received(ChangeKind::Alive, 1, 0);
        received.change.payload.clone_from(&payload);
        received.change.instance = many(number);
        let outcome = cache.history.add(at(0), received).map_err(|refused| refused.reason);
        let expected = if number < more { Ok(Admission::Visible) } else { Err(RejectReason::Instances) };
        assert_eq!(outcome, expected, "{number}");
    }
    assert_eq!(cache.history.instance_count(), more as usize);
}

#[test]
fn lost_writer_leaves_all_of_its_instances() {
    let mut cache = Cache::keep_last(1);
    for number in 0..400 {
        let mut received = cache.received(ChangeKind::Alive, 1, 0);
        received.change.instance = many(number);
        cache.history.add(at(0), received).unwrap();
        if number % 4 > 0 {
            let mut end = cache.received(ChangeKind::NotAliveUnregistered, 1, 0);
            end.change.instance = many(number);
            cache.history.add(at(0), end).unwrap();
        }
        assert!(cache.history.cache.instances.listed() <= 64 + 2 * (number as usize / 4 + 1), "{number}");
    }
    let state = |cache: &Cache, number| cache.history.lookup_instance(many(number)).unwrap();
    assert_eq!((state(&cache, 0), state(&cache, 396)), (InstanceState::Alive, InstanceState::Alive));
    assert!(cache.history.writer_lost(at(0), writer(1)));
    assert!((0..400).all(|number| state(&cache, number) == InstanceState::NotAliveNoWriters));
}

#[test]
fn known_end_and_log_register_no_writer() {
    for (as_log, kind, kept) in [
        (false, ChangeKind::Alive, 1),
        (false, ChangeKind::NotAliveUnregistered, 0),
        (true, ChangeKind::Alive, 0),
        (true, ChangeKind::NotAliveUnregistered, 0),
    ] {
        let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
        let config = ReaderHistoryConfig { outlives_writers: true, as_log, ..ReaderHistoryConfig::new(limits) };
        let mut cache = Cache::configured(config);
        cache.write(1, 1).unwrap();
        let mut known = cache.received(kind, 1, 1);
        cache.history.add(at(0), known.clone()).unwrap();
        cache.unregister(1, 1).unwrap();
        let origin = OriginalWriterInfo { identity: known.change.identity(), lifespan: Duration::INFINITE };
        known.change.writer = writer(2);
        known.change.origin = Some(Box::new(origin));
        assert_eq!(cache.history.add(at(0), known).unwrap(), Admission::Known);
        cache.take();
        cache.take();
        assert_eq!(cache.history.instance_count(), kept, "{as_log} {kind:?}");
    }
}

#[test]
fn instances_of_a_log_have_no_writers() {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let mut cache = Cache::configured(ReaderHistoryConfig { as_log: true, ..ReaderHistoryConfig::new(limits) });
    cache.write(1, 1).unwrap();
    assert_eq!(cache.take().len(), 1);
    cache.take();
    assert_eq!(cache.history.instance_count(), 0);
}

#[test]
fn reader_without_limits_has_a_default_limit() {
    let mut cache = Cache::keep_all();
    let payload = Some(Payload::copy_of(&[0, 1, 0, 0]));
    for number in 0..=SAMPLES_MAX {
        let mut received = cache.received(ChangeKind::Alive, 1, 1);
        received.change.payload.clone_from(&payload);
        let outcome = cache.history.add(at(0), received).map_err(|refused| refused.reason);
        let expected = if number < SAMPLES_MAX { VISIBLE } else { Err(RejectReason::Samples) };
        assert_eq!(outcome, expected, "{number}");
    }
    assert_eq!(cache.history.len(), SAMPLES_MAX);
}

#[test]
fn oldest_disposed_instances_make_space() {
    let limits = ResourceLimits { max_instances: Some(3), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepLast { depth: 1 }, limits);
    for key in 1..=200 {
        assert!(cache.write(1, key).is_ok(), "{key}");
        assert!(cache.dispose(1, key).is_ok(), "{key}");
        cache.take();
    }
    assert_eq!(cache.history.instance_count(), 3);
    // The newest of them are still known.
    for (key, is_known) in [(197, false), (198, true), (200, true)] {
        assert_eq!(cache.history.cache.instances.find(handle(key)).is_some(), is_known, "{key}");
    }
    // Instances that are alive, or have samples, stay.
    for key in [1, 2, 3] {
        assert!(cache.write(1, key).is_ok(), "{key}");
    }
    assert!(cache.dispose(1, 1).is_ok());
    assert_eq!(cache.write(1, 4), Err(RejectReason::Instances));
    cache.take();
    assert!(cache.write(1, 4).is_ok());
    assert_eq!(cache.write(1, 5), Err(RejectReason::Instances));
}

#[test]
fn list_of_disposed_instances_is_bounded() {
    let limits = ResourceLimits { max_instances: Some(200), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepLast { depth: 1 }, limits);
    for round in 0..5_000_u32 {
        let key = (round % 100) as u8;
        cache.write(1, key).unwrap();
        cache.dispose(1, key).unwrap();
        cache.take();
        cache.unregister(1, key).unwrap();
        cache.take();
    }
    assert!(cache.history.cache.instances.listed_disposed() <= 2 * 100 + 64 + 1);
}
