//! LIFESPAN, WRITER_DATA_LIFECYCLE and READER_DATA_LIFECYCLE (DDS 1.4, 2.2.3.16, 2.2.3.21 and 2.2.3.22).

use super::*;
use dds_core::qos::{ReaderDataLifecycle, WriterDataLifecycle};

fn request() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

#[test]
fn expired_samples_leave_writer_history() {
    Pair::on_every_way(|pair| {
        let offer = DataWriterQos::default().transient_local().keep_all().lifespan(Duration::from_secs(5));
        let writer = pair.writer(offer);
        let early = pair.reader(request().transient_local());
        pair.settle();
        pair.write(&writer, 1, 1);
        pair.write(&writer, 2, 2);
        assert_eq!(values(&early), [1, 2]);
        pair.run(4_000);
        pair.write(&writer, 1, 3);
        pair.run(2_000);
        let late = pair.reader(request().transient_local());
        pair.settle();
        assert_eq!(values(&late), [3]);
        pair.write(&writer, 1, 4);
        assert_eq!(values(&late), [4], "nothing before it is missing");
        writer.acknowledged().block_for(Duration::from_secs(1)).unwrap();
        assert_eq!(late.sample_lost().total_count, 0);
    });
}

#[test]
fn expired_samples_are_not_returned() {
    Pair::on_every_way(|pair| {
        let writer = pair.writer(DataWriterQos::default().lifespan(Duration::from_secs(1)));
        let reader = pair.reader(request());
        pair.settle();
        pair.write(&writer, 1, 1);
        pair.run(800);
        pair.write(&writer, 1, 2);
        pair.run(200);
        // The first sample is exactly as old as its lifespan.
        assert_eq!(values(&reader), [2]);
    });
}

#[test]
fn autodispose_applies_to_unregister_only() {
    for (autodispose, expected) in [(true, InstanceState::NotAliveDisposed), (false, InstanceState::NotAliveNoWriters)]
    {
        Pair::on_every_way(|pair| {
            let lifecycle = if autodispose { WriterDataLifecycle::DISPOSE } else { WriterDataLifecycle::KEEP };
            let writer = pair.writer(DataWriterQos::default().writer_data_lifecycle(lifecycle));
            let reader = pair.reader(request());
            pair.settle();
            pair.write(&writer, 1, 1);
            assert_eq!(values(&reader), [1]);
            writer.unregister_instance(&1).unwrap();
            pair.run(50);
            assert_eq!(states(&reader), [expected]);
            pair.write(&writer, 2, 2);
            assert_eq!(values(&reader), [2]);
            drop(writer);
            pair.settle();
            assert_eq!(states(&reader), [InstanceState::NotAliveNoWriters]);
        });
    }
}

#[test]
fn samples_of_ended_instances_are_purged() {
    Pair::on_every_way(|pair| {
        let offer = DataWriterQos::default().writer_data_lifecycle(WriterDataLifecycle::KEEP);
        let purges = ReaderDataLifecycle::default()
            .autopurge_nowriter_samples_delay(Duration::from_secs(3))
            .autopurge_disposed_samples_delay(Duration::from_secs(1));
        let (writer, reader) = (pair.writer(offer), pair.reader(request().reader_data_lifecycle(purges)));
        pair.settle();
        for robot in 1..=3 {
            pair.write(&writer, robot, robot);
        }
        writer.dispose(&1).unwrap();
        writer.unregister_instance(&2).unwrap();
        // Just before the shorter delay ends.
        pair.run(900);
        assert_eq!(reader.read().unwrap().into_data().map(|pose: Pose| pose.x).collect::<Vec<_>>(), [1, 2, 3]);
        pair.run(200);
        assert_eq!(reader.read().unwrap().into_data().map(|pose: Pose| pose.x).collect::<Vec<_>>(), [2, 3]);
        assert!(reader.lookup_instance(&2).is_some());
        pair.run(2_000);
        assert_eq!(reader.read().unwrap().into_data().map(|pose: Pose| pose.x).collect::<Vec<_>>(), [3]);
        assert_eq!(reader.lookup_instance(&2), None);
        reader.set_qos(reader.qos().reader_data_lifecycle(ReaderDataLifecycle::default())).unwrap();
        writer.dispose(&3).unwrap();
        // Without a delay, ended samples stay.
        pair.run(60_000);
        assert_eq!(values(&reader), [3]);
    });
}

/// The lifespan counts from the source timestamp (2.2.3.16).
///
/// An old sample has expired when it arrives. A sample with a timestamp in the future lives no longer than a present
/// one.
#[test]
fn lifespan_starts_at_bounded_source_timestamp() {
    Pair::on_every_way(|pair| {
        let lifespan = Duration::from_secs(2);
        let writer = pair.writer(DataWriterQos::default().keep_all().lifespan(lifespan));
        let reader = pair.reader(request());
        pair.settle();
        let now = pair.from.now();
        let at = |robot, millis: i64| {
            let time = dds_core::Time::from_unix_nanos(now.as_unix_nanos() + millis * 1_000_000);
            let options = dds_core::writer::WriteOptions::new().source_timestamp(time);
            writer.write_with(&Pose { robot, x: robot }, options).unwrap();
        };
        at(1, -3_000);
        at(2, -1_500);
        at(3, 0);
        at(4, 20_000);
        at(5, 3_600_000);
        let present = || reader.read().unwrap().into_data().map(|pose: Pose| pose.x).collect::<Vec<_>>();
        pair.run(100);
        assert_eq!(present(), [2, 3, 4, 5]);
        // 20 s ahead may be a wrong clock. An hour ahead is implausible.
        assert_eq!(reader.losses().from_future, 1);
        pair.run(900);
        assert_eq!(present(), [3, 4, 5]);
        pair.run(1_500);
        assert_eq!(present(), Vec::<u32>::new());
    });
}
