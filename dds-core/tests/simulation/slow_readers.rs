//! Remote readers that are too slow or stand still, in virtual time.

use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataWriterQos, Reliability, ResourceLimits};
use dds_core::sim::Simulation;
use dds_core::writer::SlowReader;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};

/// Room in the writer.
const ROOM: u32 = 50;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
}

/// A writer on the robot, readers on two stations.
struct Hall {
    simulation: Simulation,
    writer: DataWriter<Step>,
    readers: [DataReader<Step>; 2],
    received: [Vec<u32>; 2],
    _participants: [DomainParticipant; 3],
}

impl Hall {
    fn new(seed: u64, slow_reader: SlowReader) -> Self {
        let simulation = Simulation::new(seed);
        let participants = ["robot", "left", "right"].map(|host| simulation.participant(host, 0).unwrap());
        let [robot, left, right] = &participants;
        let limits = ResourceLimits::NONE.max_samples(ROOM);
        let mut qos = DataWriterQos::default().keep_all().resource_limits(limits);
        qos.reliability = Reliability::Reliable { max_blocking_time: Duration::from_secs(2) };
        let writer = robot.writer_builder("steps").qos(qos).slow_reader(slow_reader).build().unwrap();
        let readers = [left, right].map(|station| {
            station.reader_builder("steps").qos(DataReaderQos::default().reliable().keep_all()).build().unwrap()
        });
        writer.wait_for_readers(2).block_for(Duration::from_secs(20)).unwrap();
        readers.iter().for_each(|reader| reader.wait_for_writers(1).block_for(Duration::from_secs(20)).unwrap());
        Self { simulation, writer, readers, received: [Vec::new(), Vec::new()], _participants: participants }
    }

    /// Writes these numbers, one each millisecond, and returns the longest duration of a write.
    fn write(&mut self, numbers: impl Iterator<Item = u32>) -> Duration {
        let mut longest = Duration::ZERO;
        for number in numbers {
            let before = self.simulation.now();
            self.writer.write(&Step { number }).unwrap();
            longest = longest.max(self.simulation.now() - before);
            self.simulation.run_for(Duration::from_millis(1));
            self.take();
        }
        longest
    }

    fn take(&mut self) {
        for (reader, received) in self.readers.iter().zip(&mut self.received) {
            received.extend(reader.take().unwrap().into_data().map(|step: Step| step.number));
        }
    }
}

#[test]
fn stalled_reader_blocks_writer_only_once() {
    for seed in 0..5 {
        let mut hall = Hall::new(seed, SlowReader::Demote { after: Duration::from_millis(500) });
        hall.write(0..100);
        hall.simulation.link("robot", "right").cut();
        let longest = hall.write(100..1100);
        assert!(longest >= Duration::from_millis(300) && longest <= Duration::from_millis(600), "{longest}");
        assert_eq!(hall.writer.slow_readers().current_count, 1, "seed {seed}");
        assert!(hall.write(1100..2100) < Duration::from_millis(60), "the other one is at work");
        hall.simulation.run_for(Duration::from_secs(1));
        hall.take();
        assert_eq!(hall.received[0], (0..2100).collect::<Vec<_>>(), "seed {seed}");
        // The reader returns. It gets the kept samples in order, and all later ones.
        hall.simulation.link("robot", "right").mend();
        hall.simulation.run_for(Duration::from_secs(2));
        hall.write(2100..3100);
        assert_eq!(hall.writer.slow_readers().current_count, 0, "seed {seed}");
        hall.writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
        hall.take();
        let expected: Vec<_> = (0..100).chain(2100 - ROOM..3100).collect();
        assert_eq!(hall.received[1], expected, "seed {seed}");
        assert_eq!(hall.readers[1].sample_lost().total_count, u64::from(2000 - ROOM), "seed {seed}");
    }
}

#[test]
fn slow_reader_blocks_writer_by_default() {
    let mut hall = Hall::new(7, SlowReader::Block);
    hall.write(0..100);
    hall.writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
    hall.simulation.link("robot", "right").cut();
    hall.write(100..100 + ROOM);
    let before = hall.simulation.now();
    let error = hall.writer.write(&Step { number: 0 }).unwrap_err();
    let WriteErrorKind::Timeout { waited, slowest, behind } = error.kind() else { panic!("{error}") };
    assert!(hall.simulation.now() - before >= Duration::from_secs(2) && *waited >= Duration::from_secs(2), "{waited}");
    assert_eq!((*slowest, *behind), (Some(hall.readers[1].guid()), u64::from(ROOM)));
    hall.simulation.link("robot", "right").mend();
    hall.write(100 + ROOM..1000);
    hall.writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
    hall.take();
    assert_eq!(hall.received, [(); 2].map(|()| (0..1000).collect::<Vec<_>>()));
}

/// The writer learns from acknowledgments that the reader has caught up, and needs no further write.
#[test]
fn reader_that_has_caught_up_is_not_slow_while_writer_pauses() {
    let mut hall = Hall::new(8, SlowReader::Block);
    hall.write(0..100);
    hall.writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
    hall.simulation.link("robot", "right").cut();
    hall.write(100..100 + ROOM);
    hall.writer.write(&Step { number: 0 }).unwrap_err();
    assert_eq!(hall.writer.slow_readers().current_count, 1);
    hall.simulation.link("robot", "right").mend();
    hall.simulation.run_for(Duration::from_secs(2));
    hall.take();
    assert_eq!(hall.writer.slow_readers().current_count, 0);
}

/// The history has room for small samples, so a reader that hangs is no reason to wait.
#[test]
fn hung_reader_delays_no_small_sample() {
    for seed in 0..5 {
        let simulation = Simulation::new(seed);
        let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
        let writer = robot.writer_builder("steps").qos(DataWriterQos::default().keep_all()).build().unwrap();
        let reader =
            station.reader_builder("steps").qos(DataReaderQos::default().reliable().keep_all()).build().unwrap();
        writer.wait_for_readers(1).block_for(Duration::from_secs(20)).unwrap();
        reader.wait_for_writers(1).block_for(Duration::from_secs(20)).unwrap();
        writer.write(&Step { number: 0 }).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
        simulation.link("robot", "station").cut();
        let begun = simulation.now();
        for number in 1..5_000 {
            writer.write(&Step { number }).unwrap();
            simulation.run_for(Duration::from_micros(200));
        }
        let took = simulation.now() - begun;
        assert!(took < Duration::from_millis(1_200), "seed {seed}: {took} in place of one second");
        simulation.link("robot", "station").mend();
        writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
        let received: Vec<_> = reader.take().unwrap().into_data().map(|step: Step| step.number).collect();
        assert_eq!(received, (0..5_000).collect::<Vec<_>>(), "seed {seed}");
    }
}
