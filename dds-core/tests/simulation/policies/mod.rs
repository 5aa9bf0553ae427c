//! Effects of the policies that act on each instance, through the public API, in virtual time.

mod batching;
mod changing;
mod content_filter;
mod deadline;
mod dispose_all;
mod filtering_writer;
mod history;
mod instances;
mod lifecycle;
mod matching;
mod ownership;
mod presentation;
mod presentation_group;
mod representation;
mod time_filter;
mod transport_priority;

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::sim::Simulation;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceState, SampleInfo};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: u32,
}

/// Longer than any step without a delay of its own.
const SOON: Duration = Duration::from_millis(50);

/// A writer and a reader, in one participant or on two hosts.
struct Pair {
    simulation: Simulation,
    from: DomainParticipant,
    to: DomainParticipant,
}

impl Pair {
    /// Runs `body` with both paths from a writer to a reader.
    fn on_every_way(body: impl Fn(&Self)) {
        for way in ["in one participant", "by the network"] {
            eprintln!("{way}");
            let simulation = Simulation::new(7);
            let from = simulation.participant("robot", 0).unwrap();
            let to = match way {
                "by the network" => simulation.participant("station", 0).unwrap(),
                _ => from.clone(),
            };
            body(&Self { simulation, from, to });
        }
    }

    fn run(&self, millis: u64) {
        self.simulation.run_for(Duration::from_millis(millis));
    }

    fn writer(&self, qos: DataWriterQos) -> DataWriter<Pose> {
        self.from.writer_builder("pose").qos(qos).build().unwrap()
    }

    fn reader(&self, qos: DataReaderQos) -> DataReader<Pose> {
        self.to.reader_builder("pose").qos(qos).build().unwrap()
    }

    /// Lets the endpoints match and datagrams in flight arrive.
    fn settle(&self) {
        self.simulation.run_for(Duration::from_secs(2));
    }

    /// Writes a sample and waits until it arrives.
    fn write(&self, writer: &DataWriter<Pose>, robot: u32, x: u32) {
        writer.write(&Pose { robot, x }).unwrap();
        self.simulation.run_for(SOON);
    }
}

/// Takes all samples and returns the values of those with data.
fn values(reader: &DataReader<Pose>) -> Vec<u32> {
    reader.take().unwrap().into_data().map(|pose: Pose| pose.x).collect()
}

/// Takes all samples of robot 1 and returns the instance states of those without data.
fn states(reader: &DataReader<Pose>) -> Vec<InstanceState> {
    let samples = reader.take().unwrap();
    let infos: Vec<SampleInfo> = samples.iter().map(|sample| sample.info().clone()).collect();
    infos.iter().filter(|info| !info.valid_data).map(|info| info.instance_state).collect()
}
