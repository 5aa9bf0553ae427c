//! Counts of removed samples by writer.

use super::*;
use crate::types::Duration;

#[test]
fn samples_of_a_former_match_are_not_counted() {
    let mut cache = Cache::keep_last(1);
    cache.history.follow_writer(writer(1));
    for (from, key) in [(1, 1), (1, 2), (2, 3)] {
        cache.write(from, key).unwrap();
    }
    assert_eq!(cache.history.unfollow_writer(writer(1)), RemovalCounts::default());
    cache.history.follow_writer(writer(1));
    let mut removed = Vec::new();
    for key in [1, 2, 1, 2] {
        cache.write(1, key).unwrap();
        let of_others = cache.history.removed_of_others().overwritten_unread;
        removed.push((of_others, cache.history.removed_of(writer(1)).overwritten_unread));
    }
    assert_eq!(removed, [(1, 0), (2, 0), (2, 1), (2, 2)]);
}

#[test]
fn pending_samples_of_a_former_match_are_not_counted() {
    let timing = ReaderTiming { time_based_filter: Duration::from_millis(10), ..ReaderTiming::NONE };
    let limits = HistoryLimits::new(History::KeepAll, ResourceLimits::default());
    let mut cache = Cache::configured(ReaderHistoryConfig { timing, ..ReaderHistoryConfig::new(limits) });
    cache.history.follow_writer(writer(1));
    for key in [1, 2, 1, 2] {
        cache.write(1, key).unwrap();
    }
    assert_eq!(cache.take().len(), 2);
    assert_eq!(cache.history.unfollow_writer(writer(1)), RemovalCounts::default());
    cache.history.follow_writer(writer(1));
    for key in [1, 2] {
        assert_eq!(cache.write(1, key), Ok(Admission::Held));
    }
    assert_eq!((cache.history.removed_of_others().too_soon, cache.history.removed_of(writer(1)).too_soon), (2, 0));
    assert_eq!(cache.write(1, 1), Ok(Admission::Held));
    assert_eq!((cache.history.removed_of_others().too_soon, cache.history.removed_of(writer(1)).too_soon), (2, 1));
}
