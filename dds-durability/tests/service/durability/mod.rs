//! Samples that outlive their writers: the durability service on the simulated network, in virtual time.

mod limits;

use dds_core::qos::{
    DataReaderQos, DataWriterQos, Durability, DurabilityService as ServiceQos, Ownership, PublisherQos, Reliability,
    ResourceLimits, SubscriberQos,
};
use dds_core::sim::{Conditions, Simulation};
use dds_core::writer::WriteOptions;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceState};
use dds_durability::{DurabilityError, DurabilityService};
use std::path::PathBuf;

const PATIENCE: Duration = Duration::from_secs(60);
const MOMENT: Duration = Duration::from_secs(5);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Place {
    #[dds(key)]
    key: u32,
    count: u32,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Map {
    cells: Vec<u8>,
}

/// A file that is deleted at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let scratch = Self(std::env::temp_dir().join(format!("dds-service-{}-{name}.redb", std::process::id())));
        let _ = std::fs::remove_file(&scratch.0);
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn service(simulation: &Simulation, host: &str) -> DurabilityService {
    let participant = simulation.build(host, DurabilityService::participant(0)).unwrap();
    DurabilityService::builder().start(participant).unwrap()
}

fn persistent_service(simulation: &Simulation, host: &str, scratch: &Scratch) -> DurabilityService {
    let participant = simulation.build(host, DurabilityService::participant(0)).unwrap();
    DurabilityService::builder().database(&scratch.0).start(participant).unwrap()
}

/// QoS of a writer that keeps the last sample itself, and lets the service keep the last `depth`.
fn offer(durability: Durability, depth: u32) -> DataWriterQos {
    let service = ServiceQos::default().keep_last(depth);
    DataWriterQos::default().reliable().durability(durability).durability_service(service)
}

fn request(durability: Durability) -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all().durability(durability)
}

/// A writer that the service represents.
fn writer(participant: &DomainParticipant, qos: DataWriterQos) -> DataWriter<Place> {
    let writer = participant.writer_builder("places").qos(qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    writer
}

fn reader(participant: &DomainParticipant, durability: Durability) -> DataReader<Place> {
    participant.reader_builder("places").qos(request(durability)).build().unwrap()
}

fn counts(reader: &DataReader<Place>) -> Vec<u32> {
    let mut counts: Vec<u32> = reader.take().unwrap().into_data().map(|place| place.count).collect();
    // They arrive by instance, and from the faster of the two sources first.
    counts.sort_unstable();
    counts
}

fn settled(simulation: &Simulation, service: &DurabilityService, changes: usize) {
    let there = simulation.run_until(PATIENCE, || service.status().changes == changes);
    assert!(there, "{:?}", service.status());
}

#[test]
fn samples_outlive_writer_and_arrive_once() {
    for seed in 0..6 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::hall_wifi());
        let service = service(&simulation, "keeper");
        let robot = simulation.participant("robot", 0).unwrap();
        let station = simulation.participant("station", 0).unwrap();
        let writer = writer(&robot, offer(Durability::Transient, 3));
        let early = reader(&station, Durability::Transient);
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        for count in 0..8 {
            writer.write(&Place { key: count % 2, count }).unwrap();
            simulation.run_for(Duration::from_millis(200));
        }
        // Two instances with three stored samples each.
        settled(&simulation, &service, 6);
        // The writer is alive, and has kept the last sample of each instance.
        let late = reader(&station, Durability::Transient);
        let last_one = request(Durability::Transient).keep_last(1);
        let last_one = station.reader_builder::<Place>("places").qos(last_one).build().unwrap();
        simulation.run_for(MOMENT);
        assert_eq!(counts(&late), [2, 3, 4, 5, 6, 7], "seed {seed}");
        assert_eq!(counts(&last_one), [6, 7], "the last one, seed {seed}");
        drop(last_one);
        writer.write(&Place { key: 1, count: 9 }).unwrap();
        simulation.run_for(MOMENT);
        assert_eq!(counts(&late), [9], "seed {seed}");
        assert_eq!(counts(&early), [0, 1, 2, 3, 4, 5, 6, 7, 9], "seed {seed}");
        // The writer is closed.
        drop((writer, robot));
        simulation.run_for(MOMENT);
        let later = reader(&station, Durability::Transient);
        simulation.run_for(MOMENT);
        let samples = later.take().unwrap();
        assert!(samples.iter().all(|sample| sample.info().instance_state == InstanceState::Alive));
        let mut last: Vec<u32> = samples.into_data().map(|place| place.count).collect();
        last.sort_unstable();
        // Sample 9 has replaced the oldest stored sample of its instance.
        assert_eq!(last, [2, 4, 5, 6, 7, 9], "seed {seed}");
        assert_eq!((counts(&early), counts(&late)), (vec![], vec![]));
    }
}

/// The delivered sample names its original writer and its source timestamp.
#[test]
fn stored_sample_keeps_writer_guid_and_timestamp() {
    let simulation = Simulation::new(1);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, offer(Durability::Transient, 1));
    let stamp = simulation.now();
    let written =
        writer.write_identified(&Place { key: 1, count: 1 }, WriteOptions::new().source_timestamp(stamp)).unwrap();
    settled(&simulation, &service, 1);
    drop((writer, robot));
    simulation.run_for(MOMENT);
    let station = simulation.participant("station", 0).unwrap();
    let reader = reader(&station, Durability::Transient);
    let sample = reader.next_sample().block_for(PATIENCE).unwrap();
    assert_eq!((sample.info.sample_identity(), sample.info.source_timestamp), (written, stamp));
}

#[test]
fn lower_durability_gets_nothing_from_service() {
    let simulation = Simulation::new(2);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let writer = writer(&robot, offer(Durability::Transient, 5));
    let volatile = reader(&station, Durability::Volatile);
    // Both readers are present, so the writer itself delivers to them.
    let transient = reader(&station, Durability::Transient);
    simulation.run_for(MOMENT);
    (0..5).for_each(|count| {
        writer.write(&Place { key: 0, count }).unwrap();
        simulation.run_for(Duration::from_millis(100));
    });
    settled(&simulation, &service, 5);
    let late = [reader(&station, Durability::Volatile), reader(&station, Durability::TransientLocal)];
    for reader in &late {
        reader.historical_data().block_for(PATIENCE).unwrap();
    }
    simulation.run_for(MOMENT);
    assert_eq!((counts(&volatile), counts(&transient)), (vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3, 4]));
    // The writer keeps one sample itself, which a TRANSIENT_LOCAL reader gets.
    assert_eq!(late.each_ref().map(counts), [vec![], vec![4]]);
    drop((writer, robot));
    simulation.run_for(MOMENT);
    let latest = reader(&station, Durability::TransientLocal);
    simulation.run_for(MOMENT);
    assert!(counts(&latest).is_empty());
}

#[test]
fn without_service_writers_serve_late_joiners() {
    let simulation = Simulation::new(3);
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    for durability in [Durability::Transient, Durability::Persistent] {
        let qos = offer(durability, 9).keep_last(2);
        let writer = robot.writer_builder::<Place>("places").qos(qos).build().unwrap();
        (0..4).for_each(|count| writer.write(&Place { key: 0, count }).unwrap());
        let reader = reader(&station, durability);
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        reader.historical_data().block_for(PATIENCE).unwrap();
        assert_eq!(counts(&reader), [2, 3]);
        drop(writer);
        simulation.run_for(MOMENT);
    }
}

#[test]
fn samples_survive_crash_of_writer() {
    let simulation = Simulation::new(4);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, offer(Durability::Transient, 1));
    (0..50).for_each(|count| writer.write(&Place { key: count, count }).unwrap());
    settled(&simulation, &service, 50);
    simulation.host("robot").crash();
    // The lease of the crashed participant ends, and only the service remains.
    simulation.run_for(PATIENCE);
    let station = simulation.participant("station", 0).unwrap();
    let reader = reader(&station, Durability::Transient);
    simulation.run_for(MOMENT);
    assert_eq!(counts(&reader), (0..50).collect::<Vec<_>>());
}

/// The services update each other. No service stores a sample twice, and no reader gets one twice.
#[test]
fn several_services_deliver_each_sample_once() {
    for seed in 0..4 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::hall_wifi());
        let first = service(&simulation, "keeper");
        let robot = simulation.participant("robot", 0).unwrap();
        let station = simulation.participant("station", 0).unwrap();
        let writer = writer(&robot, offer(Durability::Transient, 4));
        let early = reader(&station, Durability::Transient);
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        (0..4).for_each(|count| {
            writer.write(&Place { key: 0, count }).unwrap();
            simulation.run_for(Duration::from_millis(200));
        });
        settled(&simulation, &first, 4);
        let second = service(&simulation, "second keeper");
        // The second service gets its samples from the first one.
        settled(&simulation, &second, 4);
        writer.write(&Place { key: 1, count: 10 }).unwrap();
        for service in [&first, &second] {
            settled(&simulation, service, 5);
        }
        drop((writer, robot));
        simulation.run_for(PATIENCE);
        let late = reader(&station, Durability::Transient);
        simulation.run_for(MOMENT);
        assert_eq!((counts(&early), counts(&late)), (vec![0, 1, 2, 3, 10], vec![0, 1, 2, 3, 10]), "seed {seed}");
        assert_eq!((first.status().taken_in, second.status().taken_in), (5, 5), "nothing went round, seed {seed}");
        // One of them is enough.
        drop(first);
        simulation.run_for(MOMENT);
        let last = reader(&station, Durability::Transient);
        simulation.run_for(MOMENT);
        assert_eq!(counts(&last), [0, 1, 2, 3, 10], "seed {seed}");
    }
}

#[test]
fn persistent_samples_survive_full_restart() {
    let scratch = Scratch::new("restart");
    for round in 0..3_u32 {
        let simulation = Simulation::new(u64::from(round));
        let service = persistent_service(&simulation, "keeper", &scratch);
        let station = simulation.participant("station", 0).unwrap();
        let before = reader(&station, Durability::Persistent);
        simulation.run_for(MOMENT);
        // Each round is a new world: only the file connects it with the rounds before.
        assert_eq!(counts(&before), (0..round * 3).collect::<Vec<_>>(), "round {round}");
        let robot = simulation.participant("robot", 0).unwrap();
        let writer = writer(&robot, offer(Durability::Persistent, 1));
        (0..3).for_each(|number| {
            let count = round * 3 + number;
            writer.write(&Place { key: count, count }).unwrap();
        });
        settled(&simulation, &service, (round as usize + 1) * 3);
        let status = service.status();
        assert!(status.commits > 0 && status.database_problem.is_none(), "{status:?}");
    }
}

#[test]
fn transient_samples_are_not_written_to_disk() {
    let scratch = Scratch::new("transient");
    for round in 0..2 {
        let simulation = Simulation::new(round);
        let service = persistent_service(&simulation, "keeper", &scratch);
        // The file contains nothing from the round before.
        assert_eq!(service.status().changes, 0);
        let robot = simulation.participant("robot", 0).unwrap();
        let writer = writer(&robot, offer(Durability::Transient, 1));
        writer.write(&Place { key: 1, count: 1 }).unwrap();
        settled(&simulation, &service, 1);
        assert_eq!(service.status().commits, 0);
    }
}

/// Memory and disk hold no more than DURABILITY_SERVICE allows, however many samples are written.
#[test]
fn service_limits_bound_stored_samples() {
    let scratch = Scratch::new("limits");
    let limits = ResourceLimits::NONE.max_samples(20).max_instances(4);
    let kept = ServiceQos::default().keep_all().resource_limits(limits);
    let qos = DataWriterQos::default().reliable().durability(Durability::Persistent).durability_service(kept);
    let simulation = Simulation::new(5);
    let service = persistent_service(&simulation, "keeper", &scratch);
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, qos.keep_all());
    (0..500).for_each(|count| writer.write(&Place { key: count % 5, count }).unwrap());
    writer.acknowledged().block_for(PATIENCE).unwrap();
    simulation.run_for(MOMENT);
    let status = service.status();
    // 100 samples belong to the fifth instance, which exceeds `max_instances`.
    assert_eq!((status.changes, status.instances, status.refused), (20, 4, 100), "{status:?}");
    drop((service, writer, robot));
    let again = persistent_service(&simulation, "keeper", &scratch);
    assert_eq!((again.status().changes, again.status().instances), (20, 4));
    let station = simulation.participant("station", 0).unwrap();
    let reader = reader(&station, Durability::Persistent);
    simulation.run_for(MOMENT);
    let last: Vec<u32> = (0..500).filter(|count| count % 5 != 4).rev().take(20).collect();
    assert_eq!(counts(&reader), last.into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn disposed_instance_lasts_until_cleanup_delay() {
    let scratch = Scratch::new("cleanup");
    let simulation = Simulation::new(6);
    let service = persistent_service(&simulation, "keeper", &scratch);
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let kept = ServiceQos::default().cleanup_delay(Duration::from_secs(30));
    let writer = writer(&robot, offer(Durability::Persistent, 1).durability_service(kept));
    (0..3).for_each(|key| writer.write(&Place { key, count: key }).unwrap());
    writer.dispose(&1).unwrap();
    settled(&simulation, &service, 3);
    simulation.run_for(MOMENT);
    drop((writer, robot));
    simulation.run_for(MOMENT);
    let states = |station: &DomainParticipant| {
        let reader = reader(station, Durability::Persistent);
        simulation.run_for(MOMENT);
        let samples = reader.take().unwrap();
        let mut states: Vec<_> = samples
            .iter()
            .map(|sample| {
                let key = reader.key_value(sample.info().instance_handle).unwrap();
                (key, sample.info().instance_state, sample.has_data())
            })
            .collect();
        states.sort_unstable_by_key(|(key, ..)| *key);
        states
    };
    let alive = |key| (key, InstanceState::Alive, true);
    assert_eq!(states(&station), [alive(0), (1, InstanceState::NotAliveDisposed, false), alive(2)]);
    simulation.run_for(Duration::from_secs(40));
    assert_eq!(states(&station), [alive(0), alive(2)]);
    assert_eq!((service.status().changes, service.status().instances), (2, 2));
    drop(service);
    // The cleanup has reached the database as well.
    assert_eq!(persistent_service(&simulation, "keeper", &scratch).status().changes, 2);
}

#[test]
fn unregistered_instance_keeps_its_state() {
    let simulation = Simulation::new(7);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let mut qos = offer(Durability::Transient, 1);
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    let writer = writer(&robot, qos);
    writer.write(&Place { key: 1, count: 1 }).unwrap();
    writer.unregister_instance(&1).unwrap();
    writer.write(&Place { key: 2, count: 2 }).unwrap();
    settled(&simulation, &service, 2);
    let station = simulation.participant("station", 0).unwrap();
    let reader = reader(&station, Durability::Transient);
    simulation.run_for(MOMENT);
    assert_eq!(counts(&reader), [1, 2]);
}

#[test]
fn lifespan_continues_in_service() {
    let simulation = Simulation::new(8);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let writer = writer(&robot, offer(Durability::Transient, 9).lifespan(Duration::from_secs(20)));
    writer.write(&Place { key: 1, count: 1 }).unwrap();
    simulation.run_for(Duration::from_secs(10));
    writer.write(&Place { key: 1, count: 2 }).unwrap();
    settled(&simulation, &service, 2);
    drop((writer, robot));
    simulation.run_for(Duration::from_secs(11));
    // The first sample has expired after 20 s. The second one is 11 s old.
    assert_eq!(service.status().changes, 1);
    let late = reader(&station, Durability::Transient);
    simulation.run_for(MOMENT);
    let samples = late.read().unwrap();
    assert_eq!(samples.into_data().map(|place: Place| place.count).collect::<Vec<_>>(), [2]);
    // It expires in the reader as well, counted from its source timestamp.
    simulation.run_for(MOMENT);
    assert!(counts(&late).is_empty());
    assert_eq!((service.status().changes, service.status().instances), (0, 0));
}

/// For an instance with several writers, the service stores the samples of its owner.
///
/// A living writer takes precedence over stored samples.
#[test]
fn exclusive_ownership_holds_for_stored_samples() {
    let simulation = Simulation::new(9);
    let service = service(&simulation, "keeper");
    let robots = ["weak", "strong"].map(|host| simulation.participant(host, 0).unwrap());
    let qos = |strength| {
        offer(Durability::Transient, 9).ownership(Ownership::Exclusive).ownership_strength(strength).keep_all()
    };
    let [weak, strong] = [(0, 1), (1, 5)].map(|(robot, strength)| writer(&robots[robot], qos(strength)));
    strong.write(&Place { key: 1, count: 50 }).unwrap();
    simulation.run_for(MOMENT);
    weak.write(&Place { key: 1, count: 10 }).unwrap();
    weak.write(&Place { key: 2, count: 20 }).unwrap();
    settled(&simulation, &service, 2);
    drop(strong);
    let station = simulation.participant("station", 0).unwrap();
    let wanted = request(Durability::Transient).ownership(Ownership::Exclusive);
    let late = station.reader_builder::<Place>("places").qos(wanted).build().unwrap();
    simulation.run_for(MOMENT);
    weak.write(&Place { key: 1, count: 11 }).unwrap();
    simulation.run_for(MOMENT);
    let counts = counts(&late);
    assert!(counts.contains(&11) && counts.contains(&20), "{counts:?}");
}

#[test]
fn service_separates_partitions() {
    let simulation = Simulation::new(10);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let writers = [vec!["left"], vec!["right"], vec!["left", "right"]].map(|names| {
        let publisher = robot.publisher(PublisherQos::default().partition(names)).unwrap();
        let qos = offer(Durability::Transient, 9);
        let writer = publisher.writer_builder::<Place>("places").qos(qos).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer
    });
    for (count, writer) in writers.iter().enumerate() {
        writer.write(&Place { key: count as u32, count: count as u32 }).unwrap();
    }
    settled(&simulation, &service, 3);
    // Every distinct set of partitions has a group of its own.
    assert_eq!(service.status().groups, 3);
    drop((writers, robot));
    simulation.run_for(MOMENT);
    let station = simulation.participant("station", 0).unwrap();
    let seen = ["left", "right", "*", "middle"].map(|name| {
        let subscriber = station.subscriber(SubscriberQos::default().partition([name])).unwrap();
        let qos = request(Durability::Transient);
        let reader = subscriber.reader_builder::<Place>("places").qos(qos).build().unwrap();
        simulation.run_for(MOMENT);
        counts(&reader)
    });
    assert_eq!(seen, [vec![0, 2], vec![1, 2], vec![0, 1, 2], vec![]]);
}

#[test]
fn service_separates_types_of_one_topic() {
    let simulation = Simulation::new(11);
    let service = service(&simulation, "keeper");
    let robot = simulation.participant("robot", 0).unwrap();
    let other = simulation.participant("other", 0).unwrap();
    let places = writer(&robot, offer(Durability::Transient, 1));
    let maps = other.writer_builder::<Map>("places").qos(offer(Durability::Transient, 1)).build().unwrap();
    maps.wait_for_readers(1).block_for(PATIENCE).unwrap();
    places.write(&Place { key: 1, count: 1 }).unwrap();
    // Large samples travel in fragments and arrive unchanged.
    let cells: Vec<u8> = (0..300_000).map(|cell| (cell % 251) as u8).collect();
    maps.write(&Map { cells: cells.clone() }).unwrap();
    settled(&simulation, &service, 2);
    assert!(service.status().bytes > 300_000);
    drop((places, maps, robot, other));
    simulation.run_for(MOMENT);
    let [station, third] = ["station", "third"].map(|host| simulation.participant(host, 0).unwrap());
    let late = reader(&station, Durability::Transient);
    let qos = request(Durability::Transient);
    let map = third.reader_builder::<Map>("places").qos(qos).build().unwrap();
    simulation.run_for(MOMENT);
    assert_eq!(counts(&late), [1]);
    assert_eq!(map.take().unwrap().into_data().collect::<Vec<_>>(), [Map { cells }]);
}

/// A writer in a pattern of partitions matches readers of many partitions.
///
/// That includes late readers with any partition name.
#[test]
fn service_stores_writer_in_partition_pattern() {
    let simulation = Simulation::new(17);
    let keepers = ["keeper", "second"].map(|host| service(&simulation, host));
    let robot = simulation.participant("robot", 0).unwrap();
    let publisher = robot.publisher(PublisherQos::default().partition(["robot[0-9]*"])).unwrap();
    let qos = offer(Durability::Transient, 9);
    let writer = publisher.writer_builder::<Place>("places").qos(qos.clone()).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    (0..3).for_each(|count| writer.write(&Place { key: 1, count }).unwrap());
    keepers.iter().for_each(|keeper| settled(&simulation, keeper, 3));
    // This pattern matches no name without a wildcard.
    let nobody = robot.publisher(PublisherQos::default().partition(["[a*"])).unwrap();
    let _left_out = nobody.writer_builder::<Place>("places").qos(qos).build().unwrap();
    simulation.run_for(MOMENT);
    let status = keepers[0].status();
    assert_eq!((status.groups, status.writers_left_out), (1, 1), "{status:?}");
    drop((writer, publisher, robot));
    simulation.run_for(MOMENT);
    let station = simulation.participant("station", 0).unwrap();
    let seen = ["robot7", "robot42", "station"].map(|name| {
        let subscriber = station.subscriber(SubscriberQos::default().partition([name])).unwrap();
        let qos = request(Durability::Transient);
        let reader = subscriber.reader_builder::<Place>("places").qos(qos).build().unwrap();
        simulation.run_for(MOMENT);
        counts(&reader)
    });
    assert_eq!(seen, [vec![0, 1, 2], vec![0, 1, 2], vec![]]);
}

#[test]
fn report_names_writers_without_service() {
    let simulation = Simulation::new(18);
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let writer = robot.writer_builder::<Place>("places").qos(offer(Durability::Transient, 1)).build().unwrap();
    let [late, present] = [Durability::Transient, Durability::Volatile].map(|kind| reader(&station, kind));
    late.wait_for_writers(1).block_for(PATIENCE).unwrap();
    simulation.run_for(MOMENT);
    let warned = |reports: Vec<dds_core::matching::MatchReport>| {
        let told = reports.iter().map(|report| {
            assert_eq!(report.to_string().contains("no durability service"), report.without_service, "{report}");
            report.without_service
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(warned(late.explain_matches()), [true]);
    assert_eq!(warned(present.explain_matches()), [false], "a volatile reader misses nothing");
    // The writer warns for every reader, because its own samples are at risk.
    assert_eq!(warned(writer.explain_matches()), [true, true]);
    let _service = service(&simulation, "keeper");
    simulation.run_for(MOMENT);
    assert!(!warned(late.explain_matches()).contains(&true));
    assert!(!warned(writer.explain_matches()).contains(&true));
}

#[test]
fn service_requires_own_participant() {
    let simulation = Simulation::new(14);
    let participant = simulation.participant("keeper", 0).unwrap();
    let refused = DurabilityService::builder().start(participant).unwrap_err();
    assert!(matches!(refused, DurabilityError::NotForService), "{refused}");
    let participant = simulation.build("keeper", DurabilityService::participant(0)).unwrap();
    let refused = DurabilityService::builder().database("/nowhere/at/all").start(participant).unwrap_err();
    assert!(matches!(refused, DurabilityError::Database { .. }), "{refused}");
}
