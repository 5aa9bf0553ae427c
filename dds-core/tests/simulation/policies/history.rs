//! HISTORY and RESOURCE_LIMITS of a reader (DDS 1.4, 2.2.3.18 and 2.2.3.19).

use super::*;
use dds_core::qos::ResourceLimits;
use dds_core::status::RejectReason;

#[test]
fn keep_last_keeps_depth_samples_per_instance() {
    Pair::on_every_way(|pair| {
        for (depth, kept) in [(1, &[3, 5][..]), (2, &[2, 3, 4, 5])] {
            let reader = pair.reader(DataReaderQos::default().reliable().keep_last(depth));
            let writer = pair.writer(DataWriterQos::default().keep_all());
            pair.settle();
            for (robot, x) in [(1, 1), (1, 2), (2, 4), (1, 3), (2, 5)] {
                pair.write(&writer, robot, x);
            }
            let mut left = values(&reader);
            left.sort_unstable();
            assert_eq!(left, kept);
            assert_eq!(reader.sample_lost().total_count, 0, "a replaced sample is not lost");
        }
    });
}

/// A reliable writer loses nothing by a rejection. The samples arrive when the reader has room.
#[test]
fn keep_all_rejects_overflow_and_gets_it_later() {
    Pair::on_every_way(|pair| {
        let limits = ResourceLimits::NONE.max_samples_per_instance(2);
        let reader = pair.reader(DataReaderQos::default().reliable().keep_all().resource_limits(limits));
        let writer = pair.writer(DataWriterQos::default().keep_all());
        pair.settle();
        for x in 1..=3 {
            pair.write(&writer, 1, x);
        }
        let rejected = reader.sample_rejected();
        assert!(rejected.total_count > 0);
        assert_eq!(rejected.last_reason, Some(RejectReason::SamplesPerInstance));
        assert_eq!(values(&reader), [1, 2]);
        pair.settle();
        assert_eq!(values(&reader), [3]);
    });
}
