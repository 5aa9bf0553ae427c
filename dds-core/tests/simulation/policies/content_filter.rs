//! Content filters (DDS 1.4, 2.2.2.3.3), queries (2.2.2.5.9), and the samples that they do not affect.

use super::*;
use dds_core::condition::Condition;
use dds_core::filter::FilterExpression;
use dds_core::qos::{Preset, TopicQos};
use dds_core::reader::States;
use dds_core::status::StatusMask;

fn filtered(pair: &Pair, qos: impl Into<DataReaderQos>, expression: &str) -> DataReader<Pose> {
    pair.to.reader_builder::<Pose>("pose").qos(qos).filter(expression).build().unwrap()
}

fn count(reader: &DataReader<Pose>) -> u64 {
    let total = reader.losses().total();
    total.undelivered.filtered + total.not_received.filtered
}

#[test]
fn filtered_samples_never_appear() {
    for (writer, reader) in [
        (DataWriterQos::default().keep_all(), DataReaderQos::default().reliable().keep_last(1)),
        (DataWriterQos::default().best_effort(), DataReaderQos::default().keep_last(1)),
    ] {
        Pair::on_every_way(|pair| {
            let (reader, writer) = (filtered(pair, reader.clone(), "x < 10"), pair.writer(writer.clone()));
            pair.settle();
            pair.write(&writer, 1, 5);
            // Read first, so that a new DATA_AVAILABLE can only come from a filtered sample.
            let _ = reader.read().unwrap();
            assert!(!reader.status_changes().contains(StatusMask::DATA_AVAILABLE));
            for x in 10..20 {
                // The sample would replace the first one, because the history holds one sample.
                pair.write(&writer, 1, x);
            }
            assert!(!reader.status_changes().contains(StatusMask::DATA_AVAILABLE), "no listener is notified");
            assert!(reader.readable().block_for(SOON).is_err());
            assert_eq!(values(&reader), [5]);
            // A writer that filters announces the skipped samples before its next sample.
            pair.write(&writer, 1, 6);
            assert_eq!(values(&reader), [6]);
            assert_eq!(count(&reader), 10);
            assert_eq!(reader.sample_lost().total_count, 0);
            let total = reader.losses().total();
            assert_eq!(total.known, total.received + total.not_received.total());
            assert_eq!((total.lost(), total.delivered()), (0, 2));
        });
    }
}

#[test]
fn filtered_samples_take_no_room() {
    Pair::on_every_way(|pair| {
        let mut qos = DataReaderQos::default().reliable().keep_all();
        (qos.resource_limits.max_samples, qos.resource_limits.max_instances) = (Some(1), Some(1));
        let (reader, writer) = (filtered(pair, qos, "robot = 3"), pair.writer(Preset::Event.into()));
        pair.settle();
        // Only one of 50 robots passes, and the reader has room for one sample.
        (0..50).for_each(|robot| pair.write(&writer, robot, robot));
        writer.acknowledged().block_for(Duration::from_secs(1)).unwrap();
        assert_eq!(values(&reader), [3]);
        assert_eq!(reader.sample_rejected().total_count, 0);
    });
}

#[test]
fn instance_end_passes_unless_its_key_fails() {
    Pair::on_every_way(|pair| {
        let event = || DataReaderQos::from(Preset::Event);
        let (by_value, by_key) = (filtered(pair, event(), "x < 10"), filtered(pair, event(), "robot <> 2"));
        let writer = pair.writer(Preset::Event.into());
        pair.settle();
        for robot in [1, 2] {
            pair.write(&writer, robot, 1);
            pair.write(&writer, robot, 11);
            writer.dispose(&robot).unwrap();
        }
        pair.settle();
        // Unread samples of an instance report its end themselves.
        let ended = |reader: &DataReader<Pose>| {
            let samples = reader.select().states(States::NOT_ALIVE_DISPOSED).take().unwrap();
            samples.into_data().map(|pose: Pose| (pose.robot, pose.x)).collect::<Vec<_>>()
        };
        assert_eq!(ended(&by_value), [(1, 1), (2, 1)]);
        assert_eq!(ended(&by_key), [(1, 1), (1, 11)]);
        // Both readers share an address with a reader that accepts these samples. Only samples that no reader accepts
        // stay away.
        assert_eq!((count(&by_value), count(&by_key)), (2, 3));
    });
}

#[test]
fn changed_parameters_apply_to_later_samples() {
    Pair::on_every_way(|pair| {
        let topic = pair.to.topic::<Pose>("pose", TopicQos::default()).unwrap();
        let part = pair.to.filtered_topic(&topic, FilterExpression::new("x = %0").parameter(1)).unwrap();
        let reader = pair.to.reader_builder(&part).qos(Preset::Event).build().unwrap();
        let writer = pair.writer(Preset::Event.into());
        pair.settle();
        [1, 2].iter().for_each(|x| pair.write(&writer, 1, *x));
        part.set_parameters([2]).unwrap();
        // A filtering writer needs the new parameters of the remote reader.
        pair.settle();
        [1, 2].iter().for_each(|x| pair.write(&writer, 1, *x));
        assert_eq!(values(&reader), [1, 2]);
        // Readers that are created later use the parameters of that time.
        let other = pair.to.reader_builder(&part).qos(Preset::Event).build().unwrap();
        pair.settle();
        [1, 2].iter().for_each(|x| pair.write(&writer, 1, *x));
        assert_eq!((values(&reader), values(&other)), (vec![2], vec![2]));
        // The readers do not need the object any more.
        drop((part, topic));
        [1, 2].iter().for_each(|x| pair.write(&writer, 1, *x));
        assert_eq!((values(&reader), values(&other)), (vec![2], vec![2]));
    });
}

#[test]
fn large_samples_are_filtered_when_complete() {
    #[derive(DdsType, Debug, Clone, PartialEq)]
    struct Image {
        pixels: Vec<u8>,
        number: u32,
    }
    Pair::on_every_way(|pair| {
        let builder = pair.to.reader_builder::<Image>("image").qos(Preset::Event);
        let reader = builder.filter("number = 2 AND pixels[300000] = 7").build().unwrap();
        let writer = pair.from.writer_builder::<Image>("image").qos(Preset::Event).build().unwrap();
        pair.settle();
        for number in 0..4 {
            writer.write(&Image { pixels: vec![7; 400_000], number }).unwrap();
        }
        writer.acknowledged().block_for(Duration::from_secs(20)).unwrap();
        let numbers: Vec<u32> = reader.take().unwrap().into_data().map(|image| image.number).collect();
        assert_eq!(numbers, [2]);
    });
}

#[test]
fn query_selects_by_content_and_keeps_others() {
    Pair::on_every_way(|pair| {
        let (reader, writer) = (pair.reader(Preset::Event.into()), pair.writer(Preset::Event.into()));
        pair.settle();
        let query = reader
            .query_condition(States::ANY, FilterExpression::new("x BETWEEN %0 AND %1").parameters([10, 20]))
            .unwrap();
        assert!(!query.is_triggered());
        for (robot, x) in [(1, 5), (2, 15), (1, 16), (3, 25)] {
            pair.write(&writer, robot, x);
        }
        assert!(query.is_triggered());
        let of = |samples: dds_core::Samples<Pose>| samples.into_data().map(|pose| pose.x).collect::<Vec<_>>();
        // `max_samples` counts only matching samples.
        assert_eq!(of(reader.select().condition(&query).max_samples(1).read().unwrap()).len(), 1);
        // `next_instance` skips instances without a matching sample.
        let walk = |from| reader.select().condition(&query).next_instance(from).read().unwrap();
        let mut found = Vec::new();
        let mut at = dds_core::InstanceHandle::NIL;
        loop {
            let samples = walk(at);
            let Some(first) = samples.iter().next() else { break };
            at = first.info().instance_handle;
            found.extend(of(samples));
        }
        found.sort_unstable();
        assert_eq!(found, [15, 16]);
        let mut taken = of(reader.select().condition(&query).take().unwrap());
        taken.sort_unstable();
        assert_eq!(taken, [15, 16]);
        assert!(!query.is_triggered());
        // The remaining samples match the new parameters.
        query.set_parameters([0, 100]).unwrap();
        assert!(query.is_triggered());
        // A selection accepts one query only.
        let two = reader.select().condition(&query).condition(&query).take();
        assert_eq!(*two.unwrap_err().kind(), dds_core::error::ReadErrorKind::TwoQueries);
        assert_eq!(values(&reader).len(), 2);
    });
}

/// ORDER BY belongs to Annex B. The error says so, and names an alternative.
#[test]
fn query_with_order_by_fails_with_advice() {
    Pair::on_every_way(|pair| {
        let reader = pair.reader(Preset::Event.into());
        let error = reader.query_condition(States::ANY, "x > 3 ORDER BY x").unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("ORDER BY is not supported") && said.contains("sort the samples in your program"),
            "{said}"
        );
        assert!(said.contains("at byte 6"), "{said}");
    });
}

#[test]
fn coherent_set_is_whole_despite_content_filter() {
    use dds_core::qos::{AccessScope, Presentation, PublisherQos, SubscriberQos};
    let mut presentation = Presentation::default();
    (presentation.access_scope, presentation.coherent_access) = (AccessScope::Topic, true);
    presentation.ordered_access = true;
    Pair::on_every_way(|pair| {
        let publisher = pair.from.publisher(PublisherQos::default().presentation(presentation)).unwrap();
        let subscriber = pair.to.subscriber(SubscriberQos::default().presentation(presentation)).unwrap();
        let reader = subscriber.reader_builder::<Pose>("pose").qos(DataReaderQos::default().reliable().keep_all());
        let reader = reader.filter("x <> 0 AND x <> 3 AND x <> 5").build().unwrap();
        let writer = publisher.writer_builder("pose").qos(Preset::Event).build().unwrap();
        pair.settle();
        // The filter drops the first sample of a set, one in its middle, and the last one.
        let set = publisher.coherent_changes().unwrap();
        (0..6).for_each(|x| pair.write(&writer, 1, x));
        assert!(values(&reader).is_empty());
        set.end().unwrap();
        pair.run(500);
        assert_eq!(values(&reader), [1, 2, 4]);
        assert_eq!(reader.losses().total().lost(), 0);
    });
}
