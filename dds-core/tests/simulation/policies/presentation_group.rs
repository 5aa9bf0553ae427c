//! PRESENTATION with scope GROUP (DDS 1.4, 2.2.3.6): sets of several writers and readers, through the public API.

use super::{Pair, Pose, SOON};
use dds_core::condition::WaitSet;
use dds_core::error::{ReadErrorKind, ReturnCode, WaitErrorKind};
use dds_core::qos::{AccessScope, DataReaderQos, DataWriterQos, Presentation, PublisherQos, SubscriberQos};
use dds_core::reader::States;
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DataReader, DataWriter, Publisher, Subscriber};
use dds_rtps::types::SplitMix64;

const TOPICS: [&str; 3] = ["a", "b", "c"];

fn group(coherent_access: bool, ordered_access: bool) -> Presentation {
    Presentation::new(AccessScope::Group).coherent_access(coherent_access).ordered_access(ordered_access)
}

fn groups(pair: &Pair, presentation: Presentation) -> (Publisher, Subscriber) {
    let publisher = pair.from.publisher(PublisherQos::default().presentation(group(true, true))).unwrap();
    let subscriber = pair.to.subscriber(SubscriberQos::default().presentation(presentation)).unwrap();
    (publisher, subscriber)
}

fn writers(publisher: &Publisher, qos: &DataWriterQos) -> Vec<DataWriter<Pose>> {
    TOPICS.iter().map(|&topic| publisher.writer_builder(topic).qos(qos.clone()).build().unwrap()).collect()
}

fn readers(subscriber: &Subscriber, topics: &[&str], qos: &DataReaderQos) -> Vec<DataReader<Pose>> {
    topics.iter().map(|&topic| subscriber.reader_builder(topic).qos(qos.clone()).build().unwrap()).collect()
}

fn all() -> (DataWriterQos, DataReaderQos) {
    (DataWriterQos::default().keep_all(), DataReaderQos::default().reliable().keep_all())
}

/// Takes the samples of one access in the order of its readers, and returns their values.
fn access(subscriber: &Subscriber) -> Vec<u32> {
    let access = subscriber.access().unwrap();
    let mut values = Vec::new();
    // Every entry of the list stands for one sample, in the order of the group.
    for reader in access.readers(States::ANY) {
        let reader = reader.downcast_ref::<DataReader<Pose>>().unwrap();
        values.extend(reader.take_next().unwrap().and_then(|sample| sample.data).map(|pose| pose.x));
    }
    values
}

fn write(writers: &[DataWriter<Pose>], values: impl IntoIterator<Item = (usize, u32)>) {
    for (topic, x) in values {
        writers[topic].write(&Pose { robot: x % 3, x }).unwrap();
    }
}

#[test]
fn group_set_appears_at_once_in_order() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, group(true, true));
        let writers = writers(&publisher, &all().0);
        let readers = readers(&subscriber, &TOPICS, &all().1);
        pair.settle();
        let set = publisher.coherent_changes().unwrap();
        write(&writers, [(2, 0), (0, 1), (1, 2), (0, 3), (2, 4)]);
        pair.run(500);
        // The set is still open, so no sample of it is visible.
        assert!(access(&subscriber).is_empty());
        set.end().unwrap();
        pair.simulation.run_for(SOON);
        assert!(
            readers.iter().all(|reader| reader.status_changes().contains(dds_core::status::StatusMask::DATA_AVAILABLE))
        );
        assert_eq!(access(&subscriber), [0, 1, 2, 3, 4]);
        // Outside of sets, each change stands for itself, and the order is kept as well.
        write(&writers, [(1, 5), (0, 6), (1, 7)]);
        pair.run(500);
        assert_eq!(access(&subscriber), [5, 6, 7]);
    });
}

#[test]
fn unrelated_endpoints_do_not_delay_sets() {
    for (coherent, ordered) in [(true, true), (true, false), (false, true)] {
        Pair::on_every_way(|pair| {
            let (publisher, subscriber) = groups(pair, group(coherent, ordered));
            let writers = writers(&publisher, &all().0);
            // The subscriber has no reader of topic c, and no writer writes to b.
            let _readers = readers(&subscriber, &TOPICS[..2], &all().1);
            pair.settle();
            {
                let _set = publisher.coherent_changes().unwrap();
                write(&writers, [(2, 0), (0, 1), (2, 2), (0, 3)]);
            }
            write(&writers, [(2, 4), (0, 5)]);
            pair.run(500);
            let mut seen = Vec::new();
            // Without coherent access, samples may spread over several accesses.
            for _ in 0..3 {
                seen.extend(access(&subscriber));
            }
            assert_eq!(seen, [1, 3, 5], "coherent {coherent}, ordered {ordered}");
        });
    }
}

#[test]
fn access_shows_fixed_samples() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, group(true, true));
        let writers = writers(&publisher, &all().0);
        let readers = readers(&subscriber, &TOPICS, &all().1);
        pair.settle();
        let access_one = subscriber.access().unwrap();
        let access_two = subscriber.access().unwrap();
        {
            let _set = publisher.coherent_changes().unwrap();
            write(&writers, [(0, 0), (1, 1)]);
        }
        pair.run(500);
        assert!(access_one.readers(States::ANY).is_empty());
        // The set is complete, but the second access still holds it back.
        drop(access_one);
        assert!(readers.iter().all(|reader| reader.take().unwrap().is_empty()));
        drop(access_two);
        assert_eq!(access(&subscriber), [0, 1]);
    });
}

#[test]
fn take_outside_access_fails_with_reason() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, group(false, true));
        let writers = writers(&publisher, &all().0);
        let readers = readers(&subscriber, &TOPICS, &all().1);
        pair.settle();
        write(&writers, [(0, 0)]);
        pair.run(500);
        for error in [readers[0].take().unwrap_err(), readers[0].select().read().unwrap_err()] {
            assert_eq!(error.kind(), &ReadErrorKind::OutsideAccess);
            assert_eq!(error.return_code(), ReturnCode::PreconditionNotMet);
        }
        let error = readers[0].next_sample().block_for(SOON).unwrap_err();
        assert_eq!(error.kind(), &WaitErrorKind::OutsideAccess);
        // A wait needs no access.
        readers[0].readable().block_for(SOON).unwrap();
        let condition = readers[0].read_condition(States::NOT_READ);
        let wait_set = WaitSet::new(&pair.to);
        wait_set.attach(&condition);
        assert!(wait_set.wait().block_for(SOON).unwrap().contains(&condition));
        assert_eq!(access(&subscriber), [0]);
    });
}

#[test]
fn writer_closed_within_set_drops_set_for_group() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, group(true, true));
        let mut writers = writers(&publisher, &all().0);
        let readers = readers(&subscriber, &TOPICS, &all().1);
        pair.settle();
        let set = publisher.coherent_changes().unwrap();
        write(&writers, [(0, 0), (1, 1), (2, 2)]);
        pair.run(500);
        writers.remove(1).close();
        pair.settle();
        set.end().unwrap();
        pair.run(500);
        assert!(access(&subscriber).is_empty());
        // The three samples of the set count as dropped in the ledgers.
        let incoherent = readers.iter().map(|reader| reader.losses().total().undelivered.incoherent);
        assert_eq!(incoherent.sum::<u64>(), 3);
        // The other writers go on.
        let set = publisher.coherent_changes().unwrap();
        write(&writers, [(0, 3), (1, 4)]);
        set.end().unwrap();
        pair.run(500);
        assert_eq!(access(&subscriber), [3, 4]);
    });
}

#[test]
fn closed_reader_does_not_delay_group() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, group(true, true));
        let writers = writers(&publisher, &all().0);
        let readers = readers(&subscriber, &TOPICS, &all().1);
        pair.settle();
        let set = publisher.coherent_changes().unwrap();
        write(&writers, [(0, 0), (1, 1), (2, 2)]);
        pair.run(500);
        readers[1].close();
        set.end().unwrap();
        pair.run(500);
        assert_eq!(access(&subscriber), [0, 2]);
    });
}

#[test]
fn late_group_readers_get_whole_sets_or_none() {
    Pair::on_every_way(|pair| {
        let (publisher, subscriber) = groups(pair, group(true, true));
        let writers = writers(&publisher, &DataWriterQos::default().transient_local().keep_last(1));
        for set in [[(0, 0), (1, 1), (2, 2)], [(0, 3), (1, 4), (0, 6)], [(2, 8), (1, 10), (0, 12)]] {
            let _set = publisher.coherent_changes().unwrap();
            write(&writers, set);
        }
        let _readers = readers(&subscriber, &TOPICS, &DataReaderQos::default().reliable().transient_local().keep_all());
        pair.settle();
        pair.settle();
        // Each topic has kept its last sample, so both of the first sets are incomplete in every reader. A reader
        // orders the history by the matches with the writers.
        let mut seen = access(&subscriber);
        seen.sort_unstable();
        assert_eq!(seen, [8, 10, 12]);
    });
}

/// Random writes and sets of three topics over a lossy network.
///
/// Each access shows whole sets, in order. In the end no set is missing.
#[test]
fn groups_see_whole_sets_in_order_despite_loss() {
    for seed in 0..40 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::office_wifi().lossy(0.2));
        let (from, to) = (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
        let pair = Pair { simulation, from, to };
        let mut dice = SplitMix64::new(seed);
        let (coherent, ordered) = [(true, true), (false, true), (true, false)][seed as usize % 3];
        let (publisher, subscriber) = groups(&pair, group(coherent, ordered));
        let writers = writers(&publisher, &all().0);
        let topics = &TOPICS[..2 + (dice.draw() % 2) as usize];
        let _readers = readers(&subscriber, topics, &all().1);
        // Initial discovery over the lossy network takes long.
        pair.run(20_000);
        // The values of each set, limited to topics that the subscriber reads.
        let (mut x, mut sets, mut seen) = (0, Vec::new(), Vec::new());
        let mut look = |sets: &Vec<Vec<u32>>| {
            let mut values: Vec<u32> = Vec::new();
            loop {
                let more = access(&subscriber);
                if more.is_empty() {
                    break;
                }
                values.extend(more);
            }
            let is_whole = |set: &Vec<u32>| {
                let here = set.iter().filter(|x| values.contains(x)).count();
                here == 0 || here == set.len()
            };
            assert!(!coherent || sets.iter().all(is_whole), "seed {seed}: {values:?} of {sets:?}");
            seen.extend(values);
        };
        for _ in 0..40 {
            let set = (dice.draw() % 3 > 0).then(|| publisher.coherent_changes().unwrap());
            let mut values = Vec::new();
            for _ in 0..=dice.draw() % 6 {
                // One sample without a coherent set counts as a set of one.
                let topic = (dice.draw() % 3) as usize;
                write(&writers, [(topic, x)]);
                // The subscriber may have no reader of the third topic.
                if topic < topics.len() {
                    values.push(x);
                }
                x += 1;
                pair.run(dice.draw() % 4);
            }
            match &set {
                Some(_) => sets.push(values),
                None => sets.extend(values.into_iter().map(|x| vec![x])),
            }
            drop(set);
            look(&sets);
        }
        // Let all repairs arrive before the final comparison.
        pair.run(20_000);
        look(&sets);
        let mut expected: Vec<u32> = sets.concat();
        if !ordered {
            seen.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(seen, expected, "seed {seed}: {sets:?}");
    }
}
