//! TIME_BASED_FILTER (DDS 1.4, 2.2.3.12).

use super::*;

fn request(separation: u64) -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all().time_based_filter(Duration::from_millis(separation))
}

#[test]
fn burst_shows_first_and_last_sample() {
    for qos in [DataWriterQos::default(), DataWriterQos::default().best_effort()] {
        Pair::on_every_way(|pair| {
            let reliable = qos.reliability.is_reliable();
            let request = if reliable { request(1_000) } else { request(1_000).best_effort() };
            let (writer, reader) = (pair.writer(qos.clone()), pair.reader(request));
            pair.settle();
            for x in 0..10 {
                pair.write(&writer, 1, x);
            }
            pair.write(&writer, 2, 100);
            assert_eq!(values(&reader), [0, 100]);
            if reliable {
                writer.acknowledged().block_for(Duration::from_millis(200)).unwrap();
            }
            let arrived = reader.readable().block_for(Duration::from_secs(1));
            assert!(arrived.is_ok(), "the timer tells of it: {arrived:?}");
            assert_eq!(values(&reader), [9]);
            pair.run(10_000);
            assert!(values(&reader).is_empty());
        });
    }
}

#[test]
fn samples_are_separated_by_minimum_separation() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(DataWriterQos::default()), pair.reader(request(1_000)));
        pair.settle();
        let (mut seen, mut x) = (Vec::new(), 0);
        for _ in 0..500 {
            pair.simulation.run_for(Duration::from_millis(10));
            writer.write(&Pose { robot: 1, x }).unwrap();
            x += 1;
            seen.extend(values(&reader).into_iter().map(|_| pair.simulation.now()));
        }
        assert!((5..=6).contains(&seen.len()), "{seen:?}");
        let far_enough = |pair: &[dds_core::Time]| pair[1] - pair[0] >= Duration::from_millis(980);
        assert!(seen.windows(2).all(far_enough), "{seen:?}");
    });
}

#[test]
fn instance_end_passes_time_filter_last() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(DataWriterQos::default()), pair.reader(request(60_000)));
        pair.settle();
        pair.write(&writer, 1, 1);
        pair.write(&writer, 1, 2);
        pair.write(&writer, 1, 3);
        writer.dispose(&1).unwrap();
        pair.run(50);
        assert_eq!(reader.lookup_instance(&1), writer.lookup_instance(&1));
        let samples = reader.take().unwrap();
        let last = samples.iter().last().unwrap().info().instance_state;
        assert_eq!(last, InstanceState::NotAliveDisposed);
        assert_eq!(samples.into_data().map(|pose: Pose| pose.x).collect::<Vec<_>>(), [1, 3]);
    });
}

#[test]
fn changed_minimum_separation_applies() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(DataWriterQos::default()), pair.reader(request(60_000)));
        pair.settle();
        pair.write(&writer, 1, 1);
        pair.write(&writer, 1, 2);
        reader.set_qos(reader.qos().time_based_filter(Duration::ZERO)).unwrap();
        assert_eq!(values(&reader), [1, 2]);
        pair.write(&writer, 1, 3);
        pair.write(&writer, 1, 4);
        assert_eq!(values(&reader), [3, 4]);
        reader.set_qos(reader.qos().time_based_filter(Duration::from_millis(500))).unwrap();
        pair.write(&writer, 1, 5);
        pair.write(&writer, 1, 6);
        assert_eq!(values(&reader), [5]);
        let qos = reader.qos().deadline(Duration::from_millis(499));
        assert!(reader.set_qos(qos).is_err(), "a deadline below the filter would always be missed");
    });
}
