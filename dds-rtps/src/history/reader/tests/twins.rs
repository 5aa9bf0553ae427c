//! Two caches get the same calls, and one of them frees unused instances at once: their results are equal.
//!
//! Instances are freed late to save work. If that were visible, results would depend on other selections.

use super::model::Chance;
use super::*;
use crate::qos::Ownership;
use crate::types::Duration;

const KEYS: u64 = 3;
const WRITERS: u64 = 3;

fn config(chance: &mut Chance) -> ReaderHistoryConfig {
    let mut perhaps = || chance.below(2) == 0;
    let history = if perhaps() { History::KeepAll } else { History::KeepLast { depth: 1 } };
    let limits = ResourceLimits { max_instances: if perhaps() { Some(2) } else { None }, ..ResourceLimits::default() };
    let millis = |on: bool, millis| if on { Duration::from_millis(millis) } else { Duration::INFINITE };
    let timing = ReaderTiming {
        deadline: millis(perhaps(), 9),
        time_based_filter: if perhaps() { Duration::from_millis(4) } else { Duration::ZERO },
        autopurge_nowriter_samples_delay: millis(perhaps(), 7),
        autopurge_disposed_samples_delay: millis(perhaps(), 5),
    };
    let by_source = DestinationOrder::BySourceTimestamp;
    ReaderHistoryConfig {
        timing,
        destination_order: if perhaps() { by_source } else { DestinationOrder::ByReceptionTimestamp },
        ownership: if perhaps() { Ownership::Exclusive } else { Ownership::Shared },
        outlives_writers: perhaps(),
        ..ReaderHistoryConfig::new(HistoryLimits::new(history, limits))
    }
}

/// A change like [`Cache::received`] with an earlier source timestamp, which may have a LIFESPAN.
fn received(cache: &mut Cache, chance: &mut Chance) -> ReceivedChange {
    let kinds = [
        ChangeKind::NotAliveDisposed,
        ChangeKind::NotAliveUnregistered,
        ChangeKind::NotAliveDisposedUnregistered,
        ChangeKind::Alive,
    ];
    let kind = kinds[(chance.below(8) as usize).min(3)];
    let (from, key) = (1 + chance.below(WRITERS) as u8, 1 + chance.below(KEYS) as u8);
    let mut received = cache.received(kind, from, key);
    received.change.source_timestamp = at(cache.now - chance.below(5)).time;
    if chance.below(3) == 0 {
        received.expires = Some(at(cache.now + chance.below(6)).instant);
    }
    received
}

#[test]
fn time_of_freeing_an_instance_is_invisible() {
    for seed in 0..400 {
        let mut chance = Chance(seed);
        let config = config(&mut chance);
        let [mut lazy, mut tidy] = [(); 2].map(|()| Cache::configured(config));
        (lazy.now, tidy.now) = (10, 10);
        for step in 0..300 {
            let now = at(lazy.now);
            let twins = [&mut lazy.history, &mut tidy.history];
            let assert_equal = |outcomes: [String; 2]| {
                assert_eq!(outcomes[0], outcomes[1], "seed {seed}, step {step}, {config:?}");
            };
            match chance.below(12) {
                0..6 => {
                    let received = received(&mut lazy, &mut chance);
                    tidy.number = lazy.number;
                    let twins = [&mut lazy.history, &mut tidy.history];
                    assert_equal(twins.map(|history| match history.add(now, received.clone()) {
                        Ok(admission) => format!("{admission:?}"),
                        Err(refused) => format!("{:?}", refused.reason),
                    }));
                }
                6 => {
                    let from = writer(1 + chance.below(WRITERS) as u8);
                    assert_equal(twins.map(|history| history.writer_lost(now, from).to_string()));
                }
                7 => {
                    let (from, strength) = (writer(1 + chance.below(WRITERS) as u8), chance.below(3) as i32);
                    for history in twins {
                        history.set_ownership_strength(from, strength);
                    }
                }
                8 => assert_equal(twins.map(|history| history.handle_timeout(now).to_string())),
                _ => {
                    lazy.now += chance.below(3);
                    tidy.now = lazy.now;
                    let selection = Selection { samples_max: 1 + chance.below(4) as usize, ..Selection::default() };
                    let operation = if chance.below(3) > 0 { Operation::Take } else { Operation::Read };
                    assert_equal([&mut lazy, &mut tidy].map(|cache| {
                        let samples = cache.select(selection, operation);
                        format!("{:?}", samples.iter().map(|sample| &sample.info).collect::<Vec<_>>())
                    }));
                }
            }
            tidy.history.release_emptied();
        }
    }
}
