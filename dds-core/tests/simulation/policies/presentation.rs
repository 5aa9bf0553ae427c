//! PRESENTATION (DDS 1.4, 2.2.3.6): coherent sets of one writer, through the public API.

use super::{Pair, Pose, SOON, values};
use dds_core::qos::{AccessScope, DataReaderQos, DataWriterQos, Presentation, PublisherQos, SubscriberQos};
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DataReader, DataWriter, Publisher, Subscriber};
use dds_rtps::types::SplitMix64;

/// Coherent and ordered access with this scope.
fn coherent(access_scope: AccessScope) -> Presentation {
    let mut presentation = Presentation::default();
    (presentation.access_scope, presentation.coherent_access) = (access_scope, true);
    presentation.ordered_access = access_scope > AccessScope::Instance;
    presentation
}

/// A publisher and a subscriber that share coherent sets.
fn groups(pair: &Pair, access_scope: AccessScope) -> (Publisher, Subscriber) {
    let presentation = coherent(access_scope);
    let publisher = pair.from.publisher(PublisherQos::default().presentation(presentation)).unwrap();
    let subscriber = pair.to.subscriber(SubscriberQos::default().presentation(presentation)).unwrap();
    (publisher, subscriber)
}

fn writer(publisher: &Publisher, topic: &str, qos: DataWriterQos) -> DataWriter<Pose> {
    publisher.writer_builder(topic).qos(qos).build().unwrap()
}

fn reader(subscriber: &Subscriber, topic: &str, qos: DataReaderQos) -> DataReader<Pose> {
    subscriber.reader_builder(topic).qos(qos).build().unwrap()
}

fn all() -> (DataWriterQos, DataReaderQos) {
    (DataWriterQos::default().keep_all(), DataReaderQos::default().reliable().keep_all())
}

fn pose(x: u32) -> Pose {
    Pose { robot: x % 3, x }
}

#[test]
fn coherent_set_appears_whole_at_its_end() {
    for scope in [AccessScope::Instance, AccessScope::Topic] {
        Pair::on_every_way(|pair| {
            let (publisher, subscriber) = groups(pair, scope);
            let (writer, reader) = (writer(&publisher, "pose", all().0), reader(&subscriber, "pose", all().1));
            pair.settle();
            let set = publisher.coherent_changes().unwrap();
            (0..5).for_each(|x| writer.write(&pose(x)).unwrap());
            pair.run(500);
            assert!(
                values(&reader).is_empty()
                    && !reader.status_changes().contains(dds_core::status::StatusMask::DATA_AVAILABLE)
            );
            set.end().unwrap();
            pair.simulation.run_for(SOON);
            let expected = if scope == AccessScope::Instance { [0, 3, 1, 4, 2] } else { [0, 1, 2, 3, 4] };
            assert_eq!(values(&reader), expected, "each instance for itself, or all in the order of the writer");
            // Outside of sets, each change is a set by itself.
            writer.write(&pose(5)).unwrap();
            pair.simulation.run_for(SOON);
            assert_eq!(values(&reader), [5]);
        });
    }
}

#[test]
fn nested_sets_join_and_writers_have_own_sets() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, AccessScope::Topic);
        let writers = ["a", "b"].map(|topic| writer(&publisher, topic, all().0));
        let readers = ["a", "b"].map(|topic| reader(&subscriber, topic, all().1));
        pair.settle();
        let outer = publisher.coherent_changes().unwrap();
        writers[0].write(&pose(1)).unwrap();
        {
            let _inner = publisher.coherent_changes().unwrap();
            writers[0].write(&pose(2)).unwrap();
        }
        writers[1].write(&pose(3)).unwrap();
        pair.run(500);
        assert!(readers.iter().all(|reader| values(reader).is_empty()));
        drop(outer);
        pair.simulation.run_for(SOON);
        assert_eq!(readers.each_ref().map(values), [vec![1, 2], vec![3]]);
    });
}

#[test]
fn suspended_publisher_sends_end_with_set() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, AccessScope::Topic);
        let (writer, reader) = (writer(&publisher, "pose", all().0), reader(&subscriber, "pose", all().1));
        pair.settle();
        let suspended = publisher.suspend_publications().unwrap();
        let set = publisher.coherent_changes().unwrap();
        (0..5).for_each(|x| writer.write(&pose(x)).unwrap());
        set.end().unwrap();
        // Suspension has kept all samples back, so the counter is current.
        let before = pair.from.traffic().sent;
        drop(suspended);
        let is_remote = pair.from.guid() != pair.to.guid();
        assert_eq!(pair.from.traffic().sent - before, u64::from(is_remote), "samples and end in one datagram");
        pair.simulation.run_for(SOON);
        assert_eq!(values(&reader), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn sets_have_no_effect_without_coherent_access() {
    Pair::on_every_way(|pair| {
        let publisher = pair.from.publisher(PublisherQos::default()).unwrap();
        let plain = writer(&publisher, "pose", all().0);
        let (coherently, _) = groups(pair, AccessScope::Topic);
        let coherent = writer(&coherently, "pose", all().0);
        let reader = pair.reader(all().1);
        pair.settle();
        for (publisher, writer) in [(&publisher, &plain), (&coherently, &coherent)] {
            let _set = publisher.coherent_changes().unwrap();
            writer.write(&pose(1)).unwrap();
            pair.simulation.run_for(SOON);
            assert_eq!(values(&reader), [1]);
        }
        pair.simulation.run_for(SOON);
        assert_eq!(reader.losses().total().lost(), 0);
    });
}

#[test]
fn late_joiner_gets_whole_sets_or_none() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, AccessScope::Topic);
        let keeps = |depth| DataWriterQos::default().transient_local().keep_last(depth);
        let history = DataReaderQos::default().reliable().transient_local().keep_all();
        let (shallow, deep) = (writer(&publisher, "shallow", keeps(1)), writer(&publisher, "deep", keeps(9)));
        for values in [[0, 1, 2], [3, 4, 5], [6, 7, 10]] {
            let _set = publisher.coherent_changes().unwrap();
            for writer in [&shallow, &deep] {
                values.iter().for_each(|&x| writer.write(&pose(x)).unwrap());
            }
        }
        // The readers come after all sets, so they get only the history.
        let readers = ["shallow", "deep"].map(|topic| reader(&subscriber, topic, history.clone()));
        pair.settle();
        // The last value of robot 2 is 5. The other samples of its set are lost.
        assert_eq!(readers.each_ref().map(values), [vec![], vec![0, 1, 2, 3, 4, 5, 6, 7, 10]]);
        drop(shallow);
        drop(deep);
    });
}

#[test]
fn set_with_replaced_sample_is_detected() {
    let simulation = Simulation::new(7);
    let (from, to) = (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
    let pair = Pair { simulation, from, to };
    let (publisher, subscriber) = groups(&pair, AccessScope::Topic);
    let writer = writer(&publisher, "pose", DataWriterQos::default().keep_last(1));
    let reader = reader(&subscriber, "pose", all().1);
    pair.settle();
    let link = pair.simulation.link("robot", "station");
    // The set is written without a network, so KEEP_LAST replaces samples before they are sent.
    link.cut();
    let set = publisher.coherent_changes().unwrap();
    for x in [0, 1, 2, 3] {
        writer.write(&pose(x)).unwrap();
    }
    set.end().unwrap();
    link.mend();
    pair.settle();
    assert!(values(&reader).is_empty());
    let lost = reader.sample_lost().total_count;
    assert_eq!((reader.losses().total().undelivered.incoherent, lost >= 3), (3, true));
    // A sample after the broken set arrives as usual.
    writer.write(&pose(4)).unwrap();
    pair.simulation.run_for(SOON);
    assert_eq!(values(&reader), [4]);
}

#[test]
fn writer_closed_within_set_drops_set() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, AccessScope::Topic);
        let (one, other) = (writer(&publisher, "pose", all().0), writer(&publisher, "pose", all().0));
        let reader = reader(&subscriber, "pose", all().1);
        pair.settle();
        let set = publisher.coherent_changes().unwrap();
        one.write(&pose(1)).unwrap();
        other.write(&pose(2)).unwrap();
        pair.simulation.run_for(SOON);
        one.close();
        pair.settle();
        set.end().unwrap();
        pair.simulation.run_for(SOON);
        assert_eq!(values(&reader), [2]);
        assert_eq!(reader.losses().total().undelivered.incoherent, 1);
    });
}

/// Random writes and sets over a lossy network.
///
/// A reliable reader sees all sets, in order, and only whole sets at every moment. A best-effort reader sees only whole
/// sets as well.
#[test]
fn readers_see_whole_sets_despite_loss() {
    for seed in 0..40 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::office_wifi().lossy(0.2));
        let (from, to) = (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
        let pair = Pair { simulation, from, to };
        let (publisher, subscriber) = groups(&pair, AccessScope::Topic);
        let (writer_qos, reader_qos) = all();
        let writer = writer(&publisher, "pose", writer_qos);
        let reliable = reader(&subscriber, "pose", reader_qos.clone());
        let best_effort = reader(&subscriber, "pose", reader_qos.best_effort());
        pair.run(20_000);
        let mut dice = SplitMix64::new(seed);
        // The last value of each set.
        let (mut x, mut sets, mut seen) = (0, Vec::new(), [Vec::new(), Vec::new()]);
        for _ in 0..40 {
            let set = (dice.draw() % 3 > 0).then(|| publisher.coherent_changes().unwrap());
            let first = x;
            for _ in 0..=dice.draw() % 5 {
                writer.write(&pose(x)).unwrap();
                x += 1;
                pair.run(dice.draw() % 4);
                if set.is_none() {
                    sets.push(x - 1..x);
                }
            }
            if set.is_some() {
                sets.push(first..x);
            }
            drop(set);
            // Both readers must see each set as a whole, or not at all.
            for (reader, seen) in [&reliable, &best_effort].into_iter().zip(&mut seen) {
                let values = values(reader);
                let starts_and_ends = sets.iter().all(|set| {
                    let here = values.iter().filter(|x| set.contains(x)).count();
                    here == 0 || here == set.len()
                });
                assert!(starts_and_ends, "seed {seed}: {values:?} of {sets:?}");
                seen.extend(values);
            }
        }
        pair.run(20_000);
        seen[0].extend(values(&reliable));
        assert_eq!(seen[0], (0..x).collect::<Vec<_>>(), "seed {seed}");
        // A best-effort reader keeps the order, but the network loses some of its sets.
        assert!(seen[1].is_sorted() && seen[1].len() < seen[0].len(), "seed {seed}: {:?}", seen[1]);
        let total = best_effort.losses().total();
        assert_eq!(total.received + total.not_received.total() + total.awaited, total.known, "seed {seed}");
    }
}
