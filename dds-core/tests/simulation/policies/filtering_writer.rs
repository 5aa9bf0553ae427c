//! Content filters that the writer evaluates. It does not send samples that no reader accepts, even over a lossy
//! network.

use super::*;
use dds_core::sim::Conditions;
use dds_rtps::types::SplitMix64;

const PATIENCE: Duration = Duration::from_secs(60);

fn filtered(participant: &DomainParticipant, qos: DataReaderQos, expression: &str) -> DataReader<Pose> {
    participant.reader_builder::<Pose>("pose").qos(qos).filter(expression).build().unwrap()
}

fn keep_all() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all()
}

/// Asserts that the ledger explains every sequence number.
fn adds_up(reader: &DataReader<Pose>) -> dds_core::stats::WriterLosses {
    let total = reader.losses().total();
    assert_eq!(total.known, total.received + total.not_received.total() + total.awaited, "{total:?}");
    assert_eq!(total.received, total.delivered() + total.waiting + total.undelivered.total(), "{total:?}");
    total
}

#[test]
fn unwanted_samples_are_not_sent() {
    let simulation = Simulation::new(1);
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    for qos in [keep_all(), keep_all().best_effort()] {
        let reader = filtered(&station, qos, "x < 10");
        let writer = robot.writer_builder::<Pose>("pose").qos(DataWriterQos::default().keep_all()).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        simulation.run_for(SOON);
        // The last sample passes, so the reader learns of all filtered ones before it.
        for x in (0..100).chain([1]) {
            writer.write(&Pose { robot: 1, x }).unwrap();
        }
        writer.acknowledged().block_for(PATIENCE).unwrap();
        simulation.run_for(Duration::from_secs(1));
        assert_eq!(values(&reader), (0..10).chain([1]).collect::<Vec<_>>());
        let total = adds_up(&reader);
        assert_eq!((total.received, total.not_received.filtered, total.undelivered.filtered), (11, 90, 0));
        assert_eq!((total.lost(), reader.sample_lost().total_count), (0, 0));
    }
}

/// Readers have different filters, are reliable or not, early or late. The network loses and reorders datagrams.
#[test]
fn filtered_readers_get_matches_despite_loss() {
    for seed in 0..12 {
        let simulation = Simulation::new(seed);
        let robot = simulation.participant("robot", 0).unwrap();
        let stations = ["a", "b", "c", "d"].map(|host| simulation.participant(host, 0).unwrap());
        let qos = DataWriterQos::default().reliable().keep_all().transient_local();
        let writer = robot.writer_builder::<Pose>("pose").qos(qos).build().unwrap();
        let volatile = filtered(&stations[0], keep_all(), "x < 30");
        let by_key = filtered(&stations[1], keep_all().transient_local(), "robot = 1");
        let unreliable = filtered(&stations[2], keep_all().best_effort(), "x >= 50");
        let all = stations[3].reader_builder::<Pose>("pose").qos(keep_all()).build().unwrap();
        writer.wait_for_readers(4).block_for(PATIENCE).unwrap();
        // Match over a good network, because this test is about samples.
        simulation.run_for(Duration::from_secs(2));
        simulation.set_network(Conditions::hall_wifi());
        let mut dice = SplitMix64::new(seed);
        let mut written = Vec::new();
        let mut write = |count: usize| {
            for _ in 0..count {
                let (robot, x) = ((dice.draw() % 3) as u32, (dice.draw() % 100) as u32);
                writer.write(&Pose { robot, x }).unwrap();
                written.push((robot, x));
                if dice.draw() % 4 == 0 {
                    simulation.run_for(Duration::from_millis(dice.draw() % 50));
                }
            }
            written.clone()
        };
        write(200);
        // This reader joins in the middle and gets the matching history.
        let late = filtered(&stations[3], keep_all().transient_local(), "x BETWEEN 10 AND 20");
        let written = write(200);
        writer.acknowledged().block_for(PATIENCE).unwrap();
        simulation.run_for(Duration::from_secs(5));
        // In the order of writing, which differs from a take over several instances.
        let expect = |reader: &DataReader<Pose>, wants: &dyn Fn(u32, u32) -> bool| {
            let mut got: Vec<(u32, u32)> =
                reader.take().unwrap().into_data().map(|pose: Pose| (pose.robot, pose.x)).collect();
            let mut wanted: Vec<(u32, u32)> = written.iter().copied().filter(|(r, x)| wants(*r, *x)).collect();
            // Sort by robot only: the order within one instance must be kept.
            got.sort_by_key(|(robot, _)| *robot);
            wanted.sort_by_key(|(robot, _)| *robot);
            let total = adds_up(reader);
            assert_eq!(got, wanted, "seed {seed}, {total:?}");
            assert_eq!((total.awaited, total.lost()), (0, 0), "seed {seed}");
            total
        };
        let total = expect(&volatile, &|_, x| x < 30);
        assert_eq!(total.received, total.delivered(), "nothing else has traveled, seed {seed}");
        expect(&by_key, &|robot, _| robot == 1);
        expect(&all, &|_, _| true);
        expect(&late, &|_, x| (10..=20).contains(&x));
        // The ledger counts samples of the network's losses as lost, and filtered samples separately.
        let got = values(&unreliable).len();
        let total = adds_up(&unreliable);
        let wanted = written.iter().filter(|(_, x)| *x >= 50).count();
        assert!(got <= wanted && total.not_received.filtered > 0, "seed {seed}, {total:?}");
        assert_eq!(total.received, got as u64, "seed {seed}");
    }
}

/// A filtering reader sees the begin and end of its instances like any other reader.
#[test]
fn readers_with_shared_address_filter_locally() {
    let simulation = Simulation::new(3);
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let low = filtered(&station, keep_all(), "x < 10");
    let high = filtered(&station, keep_all(), "x >= 10");
    let writer = robot.writer_builder::<Pose>("pose").qos(DataWriterQos::default().keep_all()).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    // A reader that does not know the writer yet misses its first samples.
    [&low, &high].into_iter().for_each(|reader| reader.wait_for_writers(1).block_for(PATIENCE).unwrap());
    for x in 0..20 {
        writer.write(&Pose { robot: 1, x }).unwrap();
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    simulation.run_for(SOON);
    for (reader, first) in [(&low, 0), (&high, 10)] {
        assert_eq!(values(reader), (first..first + 10).collect::<Vec<_>>());
        let total = adds_up(reader);
        assert_eq!((total.received, total.undelivered.filtered), (20, 10));
    }
}
