//! Publishers that delay samples to send them together (DDS 1.4, 2.2.2.4.1.8 and 2.2.2.4.1.9).

use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataWriterQos, Preset, PublisherQos};
use dds_core::sim::Simulation;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Publisher};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
}

struct Pair {
    simulation: Simulation,
    robot: DomainParticipant,
    publisher: Publisher,
    writer: DataWriter<Step>,
    reader: DataReader<Step>,
}

impl Pair {
    fn new(qos: impl Into<DataWriterQos>) -> Self {
        let simulation = Simulation::new(1);
        let robot = simulation.participant("robot", 0).unwrap();
        let station = simulation.participant("station", 0).unwrap();
        let publisher = robot.publisher(PublisherQos::default()).unwrap();
        let qos = qos.into();
        let reader = Preset::Event.reader().reliability(qos.reliability);
        let writer = publisher.writer_builder("steps").qos(qos).build().unwrap();
        let reader = station.reader_builder("steps").qos(reader).build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        reader.wait_for_writers(1).block().unwrap();
        simulation.run_for(Duration::from_secs(1));
        Self { simulation, robot, publisher, writer, reader }
    }

    fn write(&self, numbers: std::ops::Range<u32>) {
        numbers.for_each(|number| self.writer.write(&Step { number }).unwrap());
    }

    /// Samples that have arrived a tenth of a second later.
    fn arrived(&self) -> Vec<u32> {
        self.simulation.run_for(Duration::from_millis(100));
        self.reader.take().unwrap().into_data().map(|step| step.number).collect()
    }
}

#[test]
fn suspended_samples_leave_together() {
    let pair = Pair::new(Preset::Event);
    let here = pair.robot.reader_builder::<Step>("steps").qos(Preset::Event).build().unwrap();
    let suspended = pair.publisher.suspend_publications().unwrap();
    let inner = pair.publisher.suspend_publications().unwrap();
    pair.write(0..100);
    assert_eq!(here.take().unwrap().len(), 100, "there is nothing to gain for readers of this process");
    assert_eq!(pair.arrived(), [0; 0]);
    drop(inner);
    assert_eq!(pair.arrived(), [0; 0], "suspended twice, resumed once");
    let before = pair.robot.traffic().sent;
    drop(suspended);
    let datagrams = pair.robot.traffic().sent - before;
    assert_eq!(pair.arrived(), (0..100).collect::<Vec<_>>());
    assert!(datagrams <= 4, "{datagrams} datagrams for 100 samples");
    pair.write(100..101);
    assert_eq!(pair.arrived(), [100]);
}

#[test]
fn suspension_loses_no_sample() {
    // A history of three samples delays three. A history of one delays only the last.
    for depth in [1, 3] {
        let pair = Pair::new(DataWriterQos::default().best_effort().keep_last(depth));
        let suspended = pair.publisher.suspend_publications().unwrap();
        pair.write(0..100);
        drop(suspended);
        assert_eq!(pair.arrived(), (0..100).collect::<Vec<_>>(), "depth {depth}");
    }
}

#[test]
fn suspended_samples_are_bounded() {
    let pair = Pair::new(Preset::Event);
    let suspended = pair.publisher.suspend_publications().unwrap();
    pair.write(0..5000);
    let arrived = pair.arrived().len();
    assert!(arrived > 3500, "{arrived} of 5000 have arrived");
    drop(suspended);
    assert_eq!(arrived + pair.arrived().len(), 5000);
}

#[test]
fn acknowledgment_wait_and_close_end_suspension() {
    let pair = Pair::new(Preset::Event);
    let suspended = pair.publisher.suspend_publications().unwrap();
    pair.write(0..3);
    pair.writer.acknowledged().block_for(Duration::from_secs(1)).unwrap();
    assert_eq!(pair.arrived(), [0, 1, 2]);
    pair.write(3..5);
    pair.writer.close();
    assert_eq!(pair.arrived(), [3, 4]);
    drop(suspended);
}

#[test]
fn writer_created_while_suspended_is_suspended() {
    let pair = Pair::new(Preset::Event);
    let suspended = pair.publisher.suspend_publications().unwrap();
    let other = pair.publisher.writer_builder::<Step>("steps").qos(Preset::Event).build().unwrap();
    pair.reader.wait_for_writers(2).block().unwrap();
    other.wait_for_readers(1).block().unwrap();
    pair.simulation.run_for(Duration::from_secs(1));
    other.write(&Step { number: 7 }).unwrap();
    assert_eq!(pair.arrived(), [0; 0]);
    drop(suspended);
    assert_eq!(pair.arrived(), [7]);
    pair.publisher.close();
    assert_eq!(pair.publisher.suspend_publications().unwrap_err().kind(), &WriteErrorKind::Closed);
}
