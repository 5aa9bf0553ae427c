//! Time-based policies: DEADLINE, TIME_BASED_FILTER, READER_DATA_LIFECYCLE, LIFESPAN.

use super::*;
use crate::qos::Ownership;
use crate::types::Duration;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn cache(timing: ReaderTiming) -> Cache {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    Cache::configured(ReaderHistoryConfig { timing, ..ReaderHistoryConfig::new(limits) })
}

fn deadline(deadline: Duration) -> ReaderTiming {
    ReaderTiming { deadline, ..ReaderTiming::NONE }
}

fn filter(separation: u64) -> ReaderTiming {
    ReaderTiming { time_based_filter: millis(separation), ..ReaderTiming::NONE }
}

impl Cache {
    /// Advances the time with a punctual timer. Returns how many deadlines were missed.
    fn pass(&mut self, until: u64) -> u64 {
        let mut missed = 0;
        while let Some(due) = self.history.deadline().filter(|due| *due <= at(until).instant) {
            self.now = self.now.max(due.as_nanos().div_ceil(1_000_000));
            self.history.handle_timeout(at(self.now));
            missed += self.history.take_missed().map_or(0, |missed| missed.count);
        }
        self.now = until;
        missed
    }

    fn write_at(&mut self, now: u64, from: u8, key: u8) -> Admission {
        self.now = now;
        self.write(from, key).unwrap()
    }

    fn set(&mut self, timing: ReaderTiming) {
        self.history.set_timing(at(self.now), timing);
    }
}

#[test]
fn each_missed_period_counts_once() {
    let mut cache = cache(deadline(millis(100)));
    assert_eq!(cache.pass(1_000), 0, "there is no instance yet");
    cache.write_at(1_000, 1, 1);
    cache.write_at(1_050, 1, 2);
    assert_eq!(cache.pass(1_099), 0);
    assert_eq!(cache.pass(1_100), 1);
    cache.write_at(1_149, 1, 2);
    assert_eq!(cache.pass(1_199), 0);
    assert_eq!((cache.pass(1_200), cache.pass(1_249)), (1, 1));
    assert_eq!(cache.pass(1_450), 4, "both instances, each twice");
}

#[test]
fn late_timer_counts_every_period() {
    let mut cache = cache(deadline(millis(100)));
    cache.write_at(0, 1, 1);
    cache.write_at(10, 1, 2);
    cache.now = 1_005;
    cache.history.handle_timeout(at(1_005));
    let missed = cache.history.take_missed().unwrap();
    assert_eq!((missed.count, cache.history.take_missed()), (10 + 9, None));
    assert_eq!((cache.pass(1_009), cache.pass(1_010)), (0, 1));
    assert_eq!((cache.pass(1_100), cache.pass(1_109), cache.pass(1_110)), (1, 0, 1));
}

#[test]
fn ended_instance_has_no_deadline() {
    let mut cache = cache(deadline(millis(100)));
    cache.write_at(0, 1, 1);
    cache.write_at(0, 1, 2);
    cache.write_at(0, 2, 3);
    cache.dispose(1, 1).unwrap();
    cache.unregister(1, 2).unwrap();
    cache.history.writer_lost(at(0), writer(2));
    assert_eq!(cache.pass(1_000), 0);
    cache.write_at(1_000, 1, 1);
    assert_eq!(cache.pass(1_100), 1);
}

#[test]
fn deadline_may_change_while_it_runs() {
    let mut cache = cache(ReaderTiming::NONE);
    cache.write_at(0, 1, 1);
    cache.now = 500;
    cache.set(deadline(millis(100)));
    assert_eq!((cache.pass(599), cache.pass(600)), (0, 1), "it counts from when it is there");
    cache.now = 650;
    cache.set(deadline(millis(200)));
    assert_eq!((cache.pass(799), cache.pass(800)), (0, 1));
    cache.set(ReaderTiming::NONE);
    assert_eq!((cache.pass(5_000), cache.history.deadline()), (0, None));
}

#[test]
fn impossible_deadline_does_not_spin() {
    let mut cache = cache(deadline(Duration::ZERO));
    for key in 0..200 {
        cache.write_at(0, 1, key);
    }
    for look in 1..100 {
        assert!(cache.history.deadline().unwrap() <= at(look).instant);
        cache.history.handle_timeout(at(look));
        assert!(cache.history.deadline().unwrap() > at(look).instant);
    }
    assert_eq!(cache.history.take_missed().unwrap().count, 200 * 99 * 1_000, "no period is shorter than a microsecond");
}

#[test]
fn many_late_instances_are_handled_in_runs() {
    let mut cache = cache(deadline(millis(10)));
    for key in 0..1_000_u32 {
        let mut received = cache.received(ChangeKind::Alive, 1, 0);
        let mut hash = [0; 16];
        hash[..4].copy_from_slice(&key.to_be_bytes());
        received.change.instance = InstanceHandle::from_key_hash(hash);
        cache.history.add(at(0), received).unwrap();
    }
    let mut looks = 0;
    while cache.history.deadline().unwrap() <= at(10).instant {
        cache.history.handle_timeout(at(10));
        looks += 1;
    }
    assert_eq!((looks, cache.history.take_missed().unwrap().count), (4, 1_000));
}

#[test]
fn owner_loses_instance_with_its_deadline() {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let mut cache = Cache::configured(ReaderHistoryConfig {
        ownership: Ownership::Exclusive,
        timing: deadline(millis(100)),
        ..ReaderHistoryConfig::new(limits)
    });
    for number in 1..=3 {
        cache.history.set_ownership_strength(writer(number), number.into());
    }
    assert_eq!(cache.write_at(0, 3, 1), Admission::Visible);
    assert_eq!(cache.write_at(1, 2, 1), Admission::NotOwner);
    assert_eq!(cache.write_at(90, 1, 1), Admission::NotOwner, "a refused sample meets no deadline");
    assert_eq!(cache.pass(100), 1);
    assert_eq!(cache.write_at(101, 1, 1), Admission::Visible, "the others have not shown themselves since");
    assert_eq!(cache.write_at(102, 3, 1), Admission::Visible, "nor is one that was late shut out");
    assert_eq!(cache.write_at(103, 1, 1), Admission::NotOwner);
    cache.unregister(3, 1).unwrap();
    assert_eq!(cache.write_at(104, 2, 1), Admission::Visible);
}

#[test]
fn first_and_last_of_a_burst_are_delivered() {
    let mut cache = cache(filter(100));
    let outcomes = [0, 1, 2, 99].map(|now| cache.write_at(now, 1, 1));
    assert_eq!(outcomes, [Admission::Visible, Admission::Held, Admission::Held, Admission::Held]);
    assert_eq!(cache.write_at(99, 1, 2), Admission::Visible, "each instance for itself");
    assert_eq!(numbers(&cache.take()), [1, 5]);
    assert!(!cache.history.handle_timeout(at(99)));
    assert_eq!(cache.history.deadline(), Some(at(100).instant));
    assert!(cache.history.handle_timeout(at(100)));
    cache.now = 100;
    assert_eq!(numbers(&cache.take()), [4]);
    assert_eq!(cache.history.counters().time_filtered, 2);
    assert_eq!(cache.write_at(199, 1, 1), Admission::Held, "the separation starts with the last delivery");
    assert!(cache.take().is_empty());
    cache.now = 200;
    assert_eq!(numbers(&cache.take()), [6], "a take does not wait for the timer");
    assert_eq!(cache.history.deadline(), None);
}

#[test]
fn end_of_instance_delivers_pending_sample() {
    let mut cache = cache(filter(100));
    cache.write_at(0, 1, 1);
    cache.write_at(1, 1, 1);
    assert_eq!(cache.dispose(1, 1), Ok(Admission::Visible));
    assert_eq!(numbers(&cache.take()), [1, 2]);
    assert_eq!(cache.history.lookup_instance(handle(1)), Some(InstanceState::NotAliveDisposed));
    cache.write_at(150, 2, 2);
    cache.write_at(151, 2, 2);
    assert!(cache.history.writer_lost(at(151), writer(2)));
    assert_eq!(numbers(&cache.take()), [4, 5]);
    assert_eq!(cache.history.counters().time_filtered, 0);
}

#[test]
fn repeated_ends_do_not_grow_the_filter() {
    let mut cache = cache(filter(1_000_000));
    for now in 0..10_000 {
        cache.write_at(now, 1, 1);
        cache.dispose(1, 1).unwrap();
        cache.take();
    }
    assert!(format!("{:?}", cache.history).len() < 20_000);
}

#[test]
fn full_history_keeps_sample_pending_in_order() {
    let limits = ResourceLimits { max_samples_per_instance: Some(1), ..ResourceLimits::default() };
    let limits = HistoryLimits::new(History::KeepAll, limits);
    let mut cache = Cache::configured(ReaderHistoryConfig { timing: filter(100), ..ReaderHistoryConfig::new(limits) });
    cache.write_at(0, 1, 1);
    cache.write_at(1, 1, 1);
    assert!(!cache.history.handle_timeout(at(100)));
    assert_eq!(cache.dispose(1, 1), Err(RejectReason::SamplesPerInstance));
    assert_eq!(numbers(&cache.take()), [1]);
    assert!(cache.history.handle_timeout(at(110)));
    cache.dispose(1, 1).unwrap();
    assert_eq!(numbers(&cache.take()), [2]);
}

#[test]
fn expired_pending_sample_delays_nothing() {
    let mut cache = cache(filter(100));
    cache.write_at(0, 1, 1);
    let mut short_lived = cache.received(ChangeKind::Alive, 1, 1);
    short_lived.expires = Some(at(50).instant);
    assert_eq!(cache.history.add(at(1), short_lived).unwrap(), Admission::Held);
    assert!(!cache.history.handle_timeout(at(100)));
    assert_eq!(cache.write_at(101, 1, 1), Admission::Visible);
    assert_eq!(cache.write_at(102, 1, 1), Admission::Held);
    assert_eq!(numbers(&cache.take()), [1, 3]);
    assert_eq!((cache.history.counters().expired, cache.history.counters().time_filtered), (1, 0));
}

#[test]
fn refused_pending_sample_delays_nothing() {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let mut cache = Cache::configured(ReaderHistoryConfig {
        ownership: Ownership::Exclusive,
        timing: filter(100),
        ..ReaderHistoryConfig::new(limits)
    });
    for number in 1..=2 {
        cache.history.set_ownership_strength(writer(number), number.into());
    }
    let outcomes = [(0, 2), (1, 2), (2, 1)].map(|(now, from)| cache.write_at(now, from, 1));
    assert_eq!(outcomes, [Admission::Visible, Admission::Held, Admission::NotOwner]);
    cache.history.set_ownership_strength(writer(2), 0);
    assert!(!cache.history.handle_timeout(at(100)), "by now the other one owns it");
    assert_eq!(cache.write_at(101, 1, 1), Admission::Visible);
    assert_eq!(cache.write_at(102, 1, 1), Admission::Held);
}

/// A failed delivery does not allow an earlier one.
#[test]
fn failed_delivery_does_not_shorten_separation() {
    let limits = ResourceLimits { max_samples_per_instance: Some(1), ..ResourceLimits::default() };
    let limits = HistoryLimits::new(History::KeepAll, limits);
    let mut cache = Cache::configured(ReaderHistoryConfig { timing: filter(100), ..ReaderHistoryConfig::new(limits) });
    cache.write_at(0, 1, 1);
    cache.write_at(1, 1, 1);
    assert_eq!(cache.dispose(1, 1), Err(RejectReason::SamplesPerInstance));
    cache.take();
    assert!(!cache.history.handle_timeout(at(50)));
    assert!(cache.history.handle_timeout(at(100)));
}

#[test]
fn separation_may_change_while_it_runs() {
    let mut cache = cache(filter(1_000));
    cache.write_at(0, 1, 1);
    cache.write_at(1, 1, 1);
    assert!(cache.history.set_timing(at(1), ReaderTiming::NONE));
    assert_eq!(numbers(&cache.take()), [1, 2]);
    cache.write_at(2, 1, 1);
    cache.set(filter(10));
    assert_eq!([cache.write_at(3, 1, 1), cache.write_at(4, 1, 1)], [Admission::Visible, Admission::Held]);
}

#[test]
fn only_samples_of_the_owner_become_pending() {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let mut cache = Cache::configured(ReaderHistoryConfig {
        ownership: Ownership::Exclusive,
        timing: filter(100),
        ..ReaderHistoryConfig::new(limits)
    });
    for number in 1..=2 {
        cache.history.set_ownership_strength(writer(number), number.into());
    }
    let outcomes = [(0, 2), (1, 2), (2, 1)].map(|(now, from)| cache.write_at(now, from, 1));
    assert_eq!(outcomes, [Admission::Visible, Admission::Held, Admission::NotOwner]);
    cache.now = 100;
    assert_eq!(numbers(&cache.take()), [1, 2]);
}

#[test]
fn samples_are_purged_after_the_end() {
    let purges = ReaderTiming {
        autopurge_disposed_samples_delay: millis(100),
        autopurge_nowriter_samples_delay: millis(300),
        ..ReaderTiming::NONE
    };
    let mut cache = cache(purges);
    for key in [1, 2, 3] {
        cache.write_at(0, key, key);
    }
    cache.write_at(0, 1, 2);
    cache.dispose(1, 1).unwrap();
    cache.dispose(1, 2).unwrap();
    cache.history.writer_lost(at(0), writer(3));
    cache.pass(99);
    assert_eq!(cache.history.len(), 4);
    cache.write_at(99, 1, 2);
    cache.pass(100);
    assert_eq!(numbers(&cache.read()), [2, 4, 7, 3], "the instance written again stays");
    assert_eq!(
        cache.history.lookup_instance(handle(1)),
        Some(InstanceState::NotAliveDisposed),
        "the instance has a writer"
    );
    cache.pass(299);
    assert_eq!(cache.history.lookup_instance(handle(3)), Some(InstanceState::NotAliveNoWriters));
    cache.pass(300);
    assert_eq!(cache.history.lookup_instance(handle(3)), None);
    assert_eq!((cache.history.counters().purged, cache.history.not_read_len()), (2, 0));
    assert_eq!(cache.history.deadline(), None);
}

/// The pending sample of a lost writer is delivered, also if the instance has another writer.
#[test]
fn delivery_at_writer_loss_is_visible() {
    let mut cache = cache(filter(100));
    cache.write_at(1_000, 1, 1);
    assert_eq!(cache.write_at(1_010, 2, 1), Admission::Held);
    cache.take();
    assert!(cache.history.writer_lost(at(1_020), writer(2)));
    assert_eq!(numbers(&cache.take()), [2]);
}

fn write_until(cache: &mut Cache, key: u8, expires: u64) {
    let mut received = cache.received(ChangeKind::Alive, 1, key);
    received.expires = Some(at(expires).instant);
    cache.history.add(at(cache.now), received).unwrap();
}

/// A timer run costs as much as there are expired samples.
#[test]
fn timer_visits_only_expired_samples() {
    let mut cache = Cache::keep_all();
    // Two writers: the samples of one expire, those of the other do not.
    for number in 0..20_000 {
        write_until(&mut cache, 1, 1_000_000 + number);
        if number % 100 == 0 {
            write_until(&mut cache, 2, 1 + number / 100);
        }
    }
    let noted = cache.history.cache.samples.lifespans.steps;
    assert!(noted < 20_000 + 200 * 16, "those that come last and end last cost a step each: {noted}");
    let nothing = Selection { samples_max: 0, ..Selection::default() };
    for now in 1..=200 {
        cache.now = now;
        cache.select(nothing, Operation::Read);
        assert_eq!(cache.history.counters().expired, now);
    }
    let looked = cache.history.cache.samples.lifespans.steps - noted;
    assert!(looked <= 200 * 2 * 16, "200 have ended, each costs twice the depth of the heap: {looked}");
    cache.now = 1_000;
    for _ in 0..1_000 {
        drop(cache.select(nothing, Operation::Read));
    }
    assert_eq!(cache.history.cache.samples.lifespans.steps - noted, looked, "nothing has ended");
    assert_eq!((cache.history.len(), cache.take().len()), (20_000, 20_000));
    assert_eq!(cache.history.deadline(), None, "a removed sample sets no timer");
}

#[test]
fn timer_removes_expired_samples_in_runs() {
    let mut cache = Cache::keep_all();
    for _ in 0..1_000 {
        write_until(&mut cache, 1, 10);
    }
    let mut looks = 0;
    while cache.history.deadline().is_some_and(|due| due <= at(10).instant) {
        cache.history.handle_timeout(at(10));
        looks += 1;
    }
    assert_eq!((looks, cache.history.len()), (4, 0));
    write_until(&mut cache, 1, 20);
    assert_eq!(cache.history.deadline(), Some(at(60).instant), "not so soon again");
}

#[test]
fn history_without_policies_has_no_timing() {
    assert!(!cache(ReaderTiming::NONE).history.has_timing());
    assert!(!cache(ReaderTiming::NONE).history.has_deadline());
    let delay = millis(10);
    let mut cache = cache(ReaderTiming {
        autopurge_nowriter_samples_delay: delay,
        autopurge_disposed_samples_delay: delay,
        ..deadline(delay)
    });
    assert!(cache.history.has_timing() && !cache.history.has_deadline());
    cache.write_at(0, 1, 1);
    assert!(cache.history.has_deadline());
    assert_eq!(cache.pass(10), 1);
}

#[test]
fn lifespan_sets_the_deadline() {
    let mut cache = Cache::keep_all();
    let received = cache.received(ChangeKind::Alive, 1, 1);
    cache.history.add(at(0), ReceivedChange { expires: Some(at(5).instant), ..received }).unwrap();
    assert!(cache.history.has_deadline());
    assert_eq!(cache.history.deadline(), Some(at(5).instant));
    cache.history.handle_timeout(at(5));
    assert!(!cache.history.has_deadline());
}

#[test]
fn separation_ends_at_its_last_instant() {
    let mut cache = cache(filter(10));
    assert_eq!(cache.write_at(0, 1, 1), Admission::Visible);
    assert_eq!(cache.write_at(9, 1, 2), Admission::Visible);
    assert_eq!(cache.write_at(10, 1, 1), Admission::Visible);
    assert_eq!(cache.write_at(18, 1, 2), Admission::Held);
}

/// A cache under order by source timestamp with a filter of 10 ms.
fn sorted() -> Cache {
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    Cache::configured(ReaderHistoryConfig {
        destination_order: DestinationOrder::BySourceTimestamp,
        timing: filter(10),
        ..ReaderHistoryConfig::new(limits)
    })
}

/// Writes a sample with a source timestamp.
fn write_stamped(cache: &mut Cache, now: u64, source_nanos: i64) -> Admission {
    cache.now = now;
    let mut received = cache.received(ChangeKind::Alive, 1, 1);
    received.change.source_timestamp = Time::from_unix_nanos(source_nanos);
    cache.history.add(at(now), received).unwrap()
}

#[test]
fn newer_pending_sample_stays_by_source() {
    let mut cache = sorted();
    cache.history.follow_writer(writer(1));
    assert_eq!(write_stamped(&mut cache, 0, 10), Admission::Visible);
    assert_eq!(write_stamped(&mut cache, 1, 30), Admission::Held);
    assert_eq!(write_stamped(&mut cache, 2, 20), Admission::Held);
    cache.pass(10);
    assert_eq!(numbers(&cache.take()), [1, 2]);
    assert_eq!(cache.history.removed_of(writer(1)), RemovalCounts { too_soon: 1, ..RemovalCounts::default() });
}

#[test]
fn pending_sample_older_than_seen_is_superseded() {
    let mut cache = sorted();
    cache.history.follow_writer(writer(1));
    assert_eq!(write_stamped(&mut cache, 0, 10), Admission::Visible);
    assert_eq!(write_stamped(&mut cache, 1, 5), Admission::Held);
    assert_eq!(numbers(&cache.take()), [1]);
    assert!(!cache.history.handle_timeout(at(10)));
    assert!(cache.take().is_empty());
    assert_eq!(cache.history.removed_of(writer(1)), RemovalCounts { superseded: 1, ..RemovalCounts::default() });
}

#[test]
fn sample_expired_when_due_is_invisible() {
    let mut cache = cache(filter(10));
    cache.write_at(0, 1, 1);
    let received = cache.received(ChangeKind::Alive, 1, 1);
    cache.history.add(at(1), ReceivedChange { expires: Some(at(10).instant), ..received }).unwrap();
    assert!(!cache.history.handle_timeout(at(10)));
    assert_eq!(cache.history.counters().expired, 1);
}

#[test]
fn loss_of_unregistered_writer_keeps_pending_sample() {
    let mut cache = cache(filter(10));
    cache.write_at(0, 1, 1);
    cache.unregister(1, 1).unwrap();
    cache.write_at(1, 2, 1);
    assert_eq!(cache.write_at(20, 2, 1), Admission::Visible);
    assert_eq!(cache.write_at(21, 2, 1), Admission::Held);
    cache.take();
    assert!(!cache.history.writer_lost(at(22), writer(1)));
    assert!(cache.take().is_empty());
    cache.pass(30);
    assert_eq!(cache.take().len(), 1);
}

#[test]
fn stale_schedule_entries_are_dropped() {
    let mut cache = cache(filter(10));
    cache.write_at(0, 1, 1);
    cache.write_at(0, 1, 2);
    cache.write_at(1, 1, 1);
    cache.write_at(1, 1, 2);
    for round in 1..500 {
        let key = 1 + u8::from(round == 1);
        cache.dispose(1, key).unwrap();
        cache.write_at(20 * round, 1, 1);
        assert_eq!(cache.write_at(20 * round + 1, 1, 1), Admission::Held);
        let scheduled = cache.history.timing.as_ref().map(|timing| timing.filter.scheduled());
        // Twice the entries that one pending sample needs, plus the tolerated ones.
        assert!(scheduled.unwrap() <= 2 + 64 + 1);
    }
}

/// A disposed instance without samples makes space, also if no take removed its samples.
#[test]
fn purged_and_expired_instances_make_space() {
    let limits = ResourceLimits { max_instances: Some(2), ..ResourceLimits::default() };
    let purges = ReaderTiming { autopurge_disposed_samples_delay: millis(10), ..ReaderTiming::NONE };
    let config = ReaderHistoryConfig::new(HistoryLimits::new(History::KeepAll, limits));
    let mut cache = Cache::configured(ReaderHistoryConfig { timing: purges, ..config });
    for key in [1, 2] {
        cache.write(1, key).unwrap();
        cache.dispose(1, key).unwrap();
    }
    cache.pass(10);
    for key in [3, 4] {
        assert!(cache.write(1, key).is_ok(), "{key}");
    }
    // Once the application has read the notice of the end, an expired sample leaves the instance empty.
    let mut cache = Cache::configured(config);
    for key in [1, 2] {
        write_until(&mut cache, key, 10);
        cache.dispose(1, key).unwrap();
        cache.read();
    }
    cache.pass(10);
    cache.take();
    for key in [3, 4] {
        assert!(cache.write(1, key).is_ok(), "{key}");
    }
}
