//! Samples that are older than a reader, and the wait for them: in virtual time, over lossy networks.

use dds_core::error::WaitErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
    filling: Vec<u8>,
}

fn step(number: u32, len: usize) -> Step {
    Step { number, filling: vec![7; len] }
}

fn keeps_all() -> (DataWriterQos, DataReaderQos) {
    let writer = DataWriterQos::default().reliable().keep_all().transient_local();
    (writer, DataReaderQos::default().reliable().keep_all().transient_local())
}

fn writer(participant: &DomainParticipant) -> DataWriter<Step> {
    participant.writer_builder("steps").qos(keeps_all().0).build().unwrap()
}

fn reader(participant: &DomainParticipant) -> DataReader<Step> {
    participant.reader_builder("steps").qos(keeps_all().1).build().unwrap()
}

fn numbers(reader: &DataReader<Step>) -> Vec<u32> {
    reader.take().unwrap().into_data().map(|step| step.number).collect()
}

#[test]
fn historical_data_arrives_despite_loss() {
    for seed in 0..10 {
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions::hall_wifi());
        let robot = simulation.participant("robot", 0).unwrap();
        let writer = writer(&robot);
        // More than a writer sends a late joiner without a request. Some samples need fragments.
        let len = |number: u32| if number % 10 == 0 { 20_000 } else { 1000 };
        (0..200).for_each(|number| writer.write(&step(number, len(number))).unwrap());
        let station = simulation.participant("station", 0).unwrap();
        let reader = reader(&station);
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        reader.historical_data().block_for(PATIENCE).unwrap();
        assert_eq!(numbers(&reader), (0..200).collect::<Vec<_>>(), "seed {seed}");
        // None of them arrives again.
        writer.write(&step(200, 0)).unwrap();
        writer.acknowledged().block_for(PATIENCE).unwrap();
        simulation.run_for(Duration::from_secs(5));
        assert_eq!(numbers(&reader), [200], "seed {seed}");
        // Once complete, the history stays complete.
        reader.historical_data().block_for(Duration::ZERO).unwrap();
    }
}

#[test]
fn historical_data_of_local_writers_arrives() {
    let simulation = Simulation::new(1);
    let robot = simulation.participant("robot", 0).unwrap();
    let writers = [writer(&robot), writer(&robot)];
    // More than fits into an inbox.
    (0..1000).for_each(|number| writers.iter().for_each(|writer| writer.write(&step(number, 0)).unwrap()));
    let reader = reader(&robot);
    reader.wait_for_writers(2).block_for(PATIENCE).unwrap();
    reader.historical_data().block_for(PATIENCE).unwrap();
    let mut received = numbers(&reader);
    assert_eq!(received.len(), 2000);
    received.sort_unstable();
    assert_eq!(received, (0..1000).flat_map(|number| [number; 2]).collect::<Vec<_>>());
}

#[test]
fn full_reader_gets_rest_of_history_as_it_takes() {
    let limits = ResourceLimits::NONE.max_samples(10);
    for elsewhere in [false, true] {
        let simulation = Simulation::new(2);
        let robot = simulation.participant("robot", 0).unwrap();
        let station = if elsewhere { simulation.participant("station", 0).unwrap() } else { robot.clone() };
        let writer = writer(&robot);
        (0..25).for_each(|number| writer.write(&step(number, 0)).unwrap());
        let qos = keeps_all().1.resource_limits(limits);
        let reader = station.reader_builder::<Step>("steps").qos(qos).build().unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        // The reader is full, so the wait cannot end.
        let error = reader.historical_data().block_for(Duration::from_secs(5)).unwrap_err();
        assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
        let mut received = numbers(&reader);
        // The first take makes room for ten more samples.
        simulation.run_for(Duration::from_secs(1));
        received.extend(numbers(&reader));
        assert_eq!(received, (0..20).collect::<Vec<_>>(), "elsewhere: {elsewhere}");
        reader.historical_data().block_for(Duration::from_secs(5)).unwrap();
        assert_eq!(numbers(&reader), (20..25).collect::<Vec<_>>());
    }
}

#[test]
fn historical_wait_skips_vanished_writer() {
    for crashes in [false, true] {
        let simulation = Simulation::new(3);
        let [robot, arm, station] = ["robot", "arm", "station"].map(|host| simulation.participant(host, 0).unwrap());
        let (of_robot, of_arm) = (writer(&robot), writer(&arm));
        (0..10).for_each(|number| of_arm.write(&step(number, 0)).unwrap());
        (0..100).for_each(|number| of_robot.write(&step(number, 10_000)).unwrap());
        let reader = reader(&station);
        // The reader discovers the writer, but none of its history arrives.
        simulation.link("robot", "station").set(Conditions::ethernet());
        simulation.run_until(PATIENCE, || reader.subscription_matched().current_count == 2);
        simulation.link("robot", "station").one_way().cut();
        simulation.link("station", "robot").cut();
        // The test is meaningless if the history has arrived completely.
        if numbers(&reader).iter().filter(|&&number| number >= 10).count() == 90 {
            panic!("the whole history came before the link was cut");
        }
        let begun = simulation.now();
        let error = reader.historical_data().block_for(Duration::from_secs(2)).unwrap_err();
        assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
        if crashes {
            simulation.host("robot").crash();
        } else {
            simulation.link("station", "robot").mend();
            of_robot.close();
            robot.close();
        }
        reader.historical_data().block_for(PATIENCE).unwrap();
        // After a crash the wait lasts for the lease, and after a clean shutdown it ends earlier.
        let waited = simulation.now() - begun;
        assert!(waited < Duration::from_secs(if crashes { 40 } else { 20 }), "{waited}");
    }
}

/// The reader has no room for the rest, and the test takes no samples.
///
/// Samples that expire in the writer during this time never arrive.
#[test]
fn historical_wait_skips_expired_samples() {
    let limits = ResourceLimits::NONE.max_samples(3);
    for elsewhere in [false, true] {
        let simulation = Simulation::new(6);
        let robot = simulation.participant("robot", 0).unwrap();
        let station = if elsewhere { simulation.participant("station", 0).unwrap() } else { robot.clone() };
        let qos = keeps_all().0.lifespan(std::time::Duration::from_secs(20));
        let writer = robot.writer_builder::<Step>("steps").qos(qos).build().unwrap();
        (0..5).for_each(|number| writer.write(&step(number, 0)).unwrap());
        let begun = simulation.now();
        let qos = keeps_all().1.resource_limits(limits);
        let reader = station.reader_builder::<Step>("steps").qos(qos).build().unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        let error = reader.historical_data().block_for(Duration::from_secs(5)).unwrap_err();
        assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
        reader.historical_data().block_for(PATIENCE).unwrap();
        let waited = simulation.now() - begun;
        // The wait ends when the samples without room expire.
        assert!(
            waited >= Duration::from_secs(19) && waited < Duration::from_secs(25),
            "elsewhere: {elsewhere}: {waited}"
        );
    }
}

#[test]
fn reader_without_history_does_not_wait() {
    let simulation = Simulation::new(4);
    let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
    let writer = writer(&robot);
    (0..10).for_each(|number| writer.write(&step(number, 0)).unwrap());
    for participant in [&robot, &station] {
        let volatile = DataReaderQos::default().reliable().keep_all();
        let reader = participant.reader_builder::<Step>("steps").qos(volatile).build().unwrap();
        reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
        reader.historical_data().block_for(Duration::ZERO).unwrap();
        simulation.run_for(Duration::from_secs(5));
        assert_eq!(numbers(&reader).len(), 0);
    }
    // No writer matches, so the wait has no target.
    let reader = station.reader_builder::<Step>("elsewhere").qos(keeps_all().1).build().unwrap();
    reader.historical_data().block_for(Duration::ZERO).unwrap();
    reader.close();
    assert_eq!(reader.historical_data().block_for(Duration::ZERO).unwrap_err().kind(), &WaitErrorKind::Closed);
}

#[test]
fn historical_wait_is_a_future() {
    let simulation = Simulation::new(5);
    let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
    let writer = writer(&robot);
    (0..50).for_each(|number| writer.write(&step(number, 5000)).unwrap());
    let reader = reader(&station);
    let waited = simulation.block_on(PATIENCE, async {
        reader.wait_for_writers(1).await.unwrap();
        reader.historical_data().within(Duration::from_secs(30)).await
    });
    waited.unwrap().unwrap();
    assert_eq!(numbers(&reader).len(), 50);
    // A wait that is never polled has no effect.
    drop(reader.historical_data());
}
