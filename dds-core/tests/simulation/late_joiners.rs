//! Samples of readers that join late, leave and return, and of writers that end: in virtual time.

use dds_core::audience::{self, WriterPeers};
use dds_core::qos::{DataReaderQos, DataWriterQos, PublisherQos};
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceState};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Place {
    #[dds(key)]
    key: u32,
    count: u32,
}

/// A writer's QoS with this depth per instance. `None`: KEEP_ALL.
fn offer(depth: Option<u32>) -> DataWriterQos {
    let qos = DataWriterQos::default().reliable().transient_local();
    depth.map_or(qos.clone().keep_all(), |depth| qos.keep_last(depth))
}

fn writer(participant: &DomainParticipant, depth: Option<u32>) -> DataWriter<Place> {
    participant.writer_builder("places").qos(offer(depth)).build().unwrap()
}

fn reader(participant: &DomainParticipant) -> DataReader<Place> {
    let qos = DataReaderQos::default().reliable().keep_all().transient_local();
    participant.reader_builder("places").qos(qos).build().unwrap()
}

/// A reader that joins late, once it has the history of this many writers.
fn late(participant: &DomainParticipant, writers: usize) -> DataReader<Place> {
    let reader = reader(participant);
    reader.wait_for_writers(writers).block_for(PATIENCE).unwrap();
    reader.historical_data().block_for(PATIENCE).unwrap();
    reader
}

fn counts(reader: &DataReader<Place>) -> Vec<u32> {
    reader.take().unwrap().into_data().map(|place: Place| place.count).collect()
}

/// Runs `test` with both participants on one host, and on two hosts with a bad network.
fn everywhere(test: impl Fn(&Simulation, &DomainParticipant, &DomainParticipant)) {
    for seed in 0..3 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::hall_wifi());
        let robot = simulation.participant("robot", 0).unwrap();
        test(&simulation, &robot, &robot);
        let station = simulation.participant("station", 0).unwrap();
        test(&simulation, &robot, &station);
    }
}

#[test]
fn best_effort_reader_that_is_admitted_later_counts_as_reached() {
    let simulation = Simulation::new(1);
    let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
    let writer = robot.writer_builder::<Place>("places").qos(DataWriterQos::default().best_effort()).build().unwrap();
    let qos = DataReaderQos::default().best_effort().keep_all();
    let reader = station.reader_builder::<Place>("places").qos(qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    audience::set(&robot, &writer, WriterPeers::Only([].into()));
    assert!(writer.matched_subscriptions().is_empty());
    audience::set(&robot, &writer, WriterPeers::default());
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer.write(&Place { key: 1, count: 7 }).unwrap();
    assert!(simulation.run_until(PATIENCE, || counts(&reader) == [7]));
}

#[test]
fn late_joiner_gets_last_samples_per_instance() {
    everywhere(|simulation, robot, station| {
        let writer = writer(robot, Some(2));
        (0..30).for_each(|count| writer.write(&Place { key: count % 3, count }).unwrap());
        // The last samples of instance 0 replace its older ones.
        (30..35).for_each(|count| writer.write(&Place { key: 0, count }).unwrap());
        let reader = late(station, 1);
        // Samples of one instance stand together, the oldest instance first.
        assert_eq!(counts(&reader), [25, 28, 26, 29, 33, 34]);
        writer.write(&Place { key: 1, count: 35 }).unwrap();
        simulation.run_for(Duration::from_secs(5));
        assert_eq!(counts(&reader), [35]);
    });
}

/// A writer meets local and remote readers at once, and has much to send to the latter.
#[test]
fn local_late_joiner_gets_history_amid_traffic() {
    let simulation = Simulation::new(3);
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let publisher = robot.publisher(PublisherQos::default().partition(["left"])).unwrap();
    let writer = publisher.writer_builder::<Place>("places").qos(offer(None)).build().unwrap();
    let readers = [reader(&station), reader(&robot)];
    (0..2000).for_each(|x: u32| writer.write(&Place { key: x % 7, count: x }).unwrap());
    simulation.run_for(Duration::from_secs(2));
    // The new partition matches both readers at the same moment.
    publisher.set_qos(PublisherQos::default()).unwrap();
    simulation.run_for(Duration::from_secs(5));
    for reader in readers {
        let mut values: Vec<u32> = reader.take().unwrap().into_data().map(|place| place.count).collect();
        // They arrive by instance.
        values.sort_unstable();
        assert_eq!(values, (0..2000).collect::<Vec<_>>());
    }
}

#[test]
fn keep_all_history_arrives_in_order() {
    everywhere(|_, robot, station| {
        let writer = writer(robot, None);
        (0..300).for_each(|count| writer.write(&Place { key: 7, count }).unwrap());
        assert_eq!(counts(&late(station, 1)), (0..300).collect::<Vec<_>>());
        // The next late joiner gets the same samples.
        assert_eq!(counts(&late(station, 1)), (0..300).collect::<Vec<_>>());
    });
}

/// A disposed instance is part of the history, so a late joiner learns of its disposal.
///
/// An unregistered instance is over for its writer. Once all matched readers know that, the writer announces nothing
/// about it.
#[test]
fn late_joiner_learns_disposed_not_unregistered() {
    everywhere(|_, robot, station| {
        let writer = writer(robot, Some(1));
        (0..4).for_each(|key| writer.write(&Place { key, count: key }).unwrap());
        writer.dispose(&1).unwrap();
        writer.unregister_instance(&2).unwrap();
        let reader = late(station, 1);
        let samples = reader.take().unwrap();
        let told: Vec<_> = samples
            .iter()
            .map(|sample| (sample.decode().map(|place| place.unwrap().count), sample.info().instance_state))
            .collect();
        let alive = |count| (Some(count), InstanceState::Alive);
        assert_eq!(told, [alive(0), alive(3), (None, InstanceState::NotAliveDisposed)]);
        let key = reader.key_value(samples.iter().nth(2).unwrap().info().instance_handle).unwrap();
        assert_eq!(key, 1, "with the instance that it is about");
    });
}

#[test]
fn recreated_writer_has_only_its_own_history() {
    everywhere(|simulation, robot, station| {
        let first = writer(robot, None);
        (0..10).for_each(|count| first.write(&Place { key: 0, count }).unwrap());
        let there = late(station, 1);
        assert_eq!(counts(&there), (0..10).collect::<Vec<_>>());
        drop(first);
        let second = writer(robot, None);
        (10..20).for_each(|count| second.write(&Place { key: 0, count }).unwrap());
        // The reader must know both writers before the comparison.
        simulation.run_until(PATIENCE, || there.subscription_matched().total_count == 2);
        second.wait_for_readers(1).block_for(PATIENCE).unwrap();
        second.acknowledged().block_for(PATIENCE).unwrap();
        assert_eq!(counts(&there), (10..20).collect::<Vec<_>>());
        assert_eq!(counts(&late(station, 1)), (10..20).collect::<Vec<_>>());
    });
}

#[test]
fn restarted_reader_gets_history() {
    let simulation = Simulation::new(4);
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, None);
    (0..20).for_each(|count| writer.write(&Place { key: 0, count }).unwrap());
    let mut guids = Vec::new();
    for _ in 0..3 {
        let station = simulation.participant("station", 0).unwrap();
        let reader = late(&station, 1);
        assert_eq!(counts(&reader), (0..20).collect::<Vec<_>>());
        guids.push(reader.guid());
        simulation.host("station").crash();
        simulation.host("station").restart();
    }
    guids.dedup();
    assert_eq!(guids.len(), 3);
    // Once their leases have ended, the writer does not wait for the former readers.
    simulation.run_until(PATIENCE, || writer.publication_matched().current_count == 0);
    // No matched reader is left, so nothing waits for an acknowledgment.
    writer.acknowledged().block_for(Duration::ZERO).unwrap();
}

/// Both sides have forgotten each other when the link returns.
///
/// The writer sends its history as to any late joiner, including the samples of the interruption.
#[test]
fn expired_reader_gets_history_on_return() {
    let simulation = Simulation::new(5);
    let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
    let writer = writer(&robot, Some(1));
    (0..3).for_each(|key| writer.write(&Place { key, count: key }).unwrap());
    let reader = late(&station, 1);
    assert_eq!(counts(&reader), [0, 1, 2]);
    simulation.link("robot", "station").cut();
    // Both sides must have dropped each other.
    let gone = || reader.subscription_matched().current_count + writer.publication_matched().current_count == 0;
    assert!(simulation.run_until(PATIENCE, gone));
    let samples = reader.take().unwrap();
    assert!(samples.iter().all(|sample| sample.info().instance_state == InstanceState::NotAliveNoWriters));
    writer.write(&Place { key: 1, count: 11 }).unwrap();
    simulation.link("robot", "station").mend();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    reader.historical_data().block_for(PATIENCE).unwrap();
    // Every instance has a writer again, and its sample shows it.
    let samples = reader.take().unwrap();
    assert!(samples.iter().all(|sample| sample.info().instance_state == InstanceState::Alive));
    assert_eq!(samples.into_data().map(|place: Place| place.count).collect::<Vec<_>>(), [0, 2, 11]);
}

/// A volatile reader receives older samples if other readers of its participant get them.
///
/// It receives them long before its writer knows of it, and the writer repairs losses for it. Wherever its stream
/// begins, it has no hole.
#[test]
fn volatile_reader_beside_others_has_no_hole() {
    let mut holes = Vec::new();
    let mut taken = 0;
    for seed in 0..20 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions { loss: 0.2, ..Conditions::hall_wifi() });
        let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
        let writer = robot.writer_builder("places").qos(DataWriterQos::default().reliable().keep_all());
        let writer = writer.build().unwrap();
        let qos = || DataReaderQos::default().reliable().keep_all();
        let reader = || station.reader_builder::<Place>("places").qos(qos()).build().unwrap();
        // This reader matches first, so its stream is active when the others join.
        let elder = reader();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let mut count = 0;
        for _ in 0..30 {
            let late = reader();
            let mut got = Vec::new();
            for _ in 0..100 {
                count += 1;
                let _ = writer.write(&Place { key: 0, count });
                simulation.run_for(Duration::from_millis(2));
                got.extend(counts(&late));
                drop(elder.take().unwrap());
            }
            taken += got.len();
            holes.extend(got.windows(2).filter(|pair| pair[1] != pair[0] + 1).map(|pair| (seed, pair[0], pair[1])));
        }
    }
    // Without a minimum, an empty result would pass as well.
    assert!(taken > 1_000, "{taken}");
    assert!(holes.is_empty(), "{} holes, such as {:?}", holes.len(), &holes[..holes.len().min(10)]);
}
