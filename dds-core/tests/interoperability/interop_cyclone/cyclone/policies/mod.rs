//! Policies that involve two endpoints, with Cyclone DDS as the peer.
//!
//! Each test runs with Cyclone reading and with Cyclone writing, and compares the statuses of both sides.
//!
//! The only waits without an event are the periods of the policies. No test asserts a time.

mod content_filter;
mod deadline;
mod durability;
mod incompatible;
mod instances;
mod lifespan;
mod ownership;
mod partition;
mod time_based_filter;

use super::agreement::IsWithin;
use super::peer::{LIMIT, Peer};
use super::types::{ShapeType, Subject};
use dds_core::qos::{
    AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, DestinationOrder, Durability, Liveliness,
    LivelinessKind, Ownership, PolicyId, Presentation, PublisherQos, SubscriberQos,
};
use dds_core::status::{ReaderEvent, WriterEvent};
use dds_core::{DataReader, DataWriter, DomainParticipant, Duration, InstanceState, Sample};
use serde_json::{Value, json};

/// Samples of one instance.
const BLUE: [u32; 3] = [0, 3, 6];
const RED: u32 = 1;
const GREEN: u32 = 2;

/// A Cyclone DDS participant with named endpoints (see `party.py`).
struct Party {
    peer: Peer,
    /// Received events that no test has requested yet.
    said: Vec<Value>,
}

impl Party {
    fn start() -> Self {
        let mut party = Self { peer: Peer::start("party.py", &[]), said: Vec::new() };
        party.wait(|event| event["event"] == "ready");
        party
    }

    /// Returns the first event for which `is_it` holds. The others stay.
    fn wait(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.said.iter().position(&is_it) {
                return self.said.remove(at);
            }
            match self.peer.events.recv_timeout(LIMIT) {
                Ok(event) => self.said.push(event),
                Err(error) => panic!("{error}; Cyclone has said {}", self.words()),
            }
        }
    }

    /// Formats the unread events for the message of a failing test.
    fn words(&self) -> String {
        self.said.iter().map(|event| format!("\n{event}")).collect()
    }

    /// Gives a command and waits until it is done.
    fn tell(&mut self, command: &str) {
        self.peer.tell(command);
        let answer = self.wait(|event| event["event"] == "done" || event["event"] == "refused");
        assert_eq!(answer["event"], "done", "{command}: {answer}");
    }

    /// Returns the first event of this name from an endpoint.
    fn event(&mut self, endpoint: &str, name: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        self.wait(|event| event["of"] == endpoint && event["event"] == name && is_it(event))
    }

    fn matched(&mut self, endpoint: &str, count: u32) {
        self.event(endpoint, "matched", |event| event["count"] == count);
    }

    /// Returns the next sample, or instance without one, that a reader received.
    fn data(&mut self, reader: &str) -> Value {
        self.wait(|event| event["of"] == reader && (event["event"] == "sample" || event["event"] == "instance"))
    }

    /// Checks that the next event of a reader is this sample.
    fn expect_sample(&mut self, reader: &str, index: u32) {
        let event = self.data(reader);
        assert_eq!(event["event"], "sample", "{event}");
        assert!(ShapeType::sample(index).fields().is_within(&event), "{event} instead of sample {index}");
    }

    /// Checks that the next event of a reader is this state of an instance.
    fn expect_state(&mut self, reader: &str, index: u32, state: &str) {
        let event = self.data(reader);
        let expected = json!({ "event": "instance", "state": state, "color": ShapeType::sample(index).color });
        assert!(expected.is_within(&event), "{event} instead of {expected}");
    }
}

/// Kills the process without a disposal of the participant. The binding's clean shutdown waits for listeners, which
/// wait for the interpreter, sometimes forever.
impl Drop for Party {
    fn drop(&mut self) {
        self.peer.kill();
    }
}

fn participant() -> DomainParticipant {
    DomainParticipant::new(0).unwrap()
}

/// Reliable, keep-all and XCDR2, like `party.py`.
fn writer_qos() -> DataWriterQos {
    DataWriterQos::default().keep_all().representation([DataRepresentation::Xcdr2])
}

fn reader_qos() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all().representation([DataRepresentation::Xcdr2])
}

fn writer(participant: &DomainParticipant, topic: &str, qos: DataWriterQos) -> DataWriter<ShapeType> {
    participant.writer_builder(topic).qos(qos).build().unwrap()
}

fn reader(participant: &DomainParticipant, topic: &str, qos: DataReaderQos) -> DataReader<ShapeType> {
    participant.reader_builder(topic).qos(qos).build().unwrap()
}

fn write(writer: &DataWriter<ShapeType>, indices: impl IntoIterator<Item = u32>) {
    indices.into_iter().for_each(|index| writer.write(&ShapeType::sample(index)).unwrap());
}

fn next(reader: &DataReader<ShapeType>) -> Sample<ShapeType> {
    reader.next_sample().block_for(LIMIT).unwrap()
}

fn expect_sample(reader: &DataReader<ShapeType>, index: u32) {
    let sample = next(reader);
    assert_eq!(sample.data, Some(ShapeType::sample(index)), "{:?}", sample.info);
}

fn expect_state(reader: &DataReader<ShapeType>, index: u32, state: InstanceState) {
    let sample = next(reader);
    assert_eq!((sample.data, sample.info.instance_state), (None, state));
    let color = reader.key_value(sample.info.instance_handle).unwrap();
    assert_eq!(color, ShapeType::sample(index).color);
}

fn sleep(milliseconds: u64) {
    std::thread::sleep(std::time::Duration::from_millis(milliseconds));
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
