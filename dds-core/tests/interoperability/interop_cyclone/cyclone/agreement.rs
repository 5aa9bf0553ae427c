//! Settings that both sides share, and the samples that they exchange.

use super::peer::Peer;
use super::types::Subject;
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos, Durability};
use dds_core::{DataReader, DataWriter, DomainParticipant};
use serde_json::Value;

/// Number of samples that each test sends.
pub(crate) const SAMPLES: u32 = 6;

/// Settings that both sides share, beside the type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreement {
    pub(crate) topic: &'static str,
    pub(crate) reliable: bool,
    pub(crate) representation: DataRepresentation,
    pub(crate) durability: Durability,
}

impl Agreement {
    pub(crate) fn arguments(self, type_name: &str) -> Vec<String> {
        let reliability = if self.reliable { "reliable" } else { "best-effort" };
        let representation = if self.representation == DataRepresentation::Xcdr1 { "xcdr1" } else { "xcdr2" };
        let durability = match self.durability {
            Durability::Volatile => "volatile",
            Durability::TransientLocal => "transient-local",
            Durability::Transient => "transient",
            Durability::Persistent => "persistent",
        };
        let options = [
            ("--topic", self.topic),
            ("--type", type_name),
            ("--reliability", reliability),
            ("--representation", representation),
            ("--durability", durability),
        ];
        options.iter().flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()]).collect()
    }

    pub(crate) fn writer_qos(self) -> DataWriterQos {
        let qos = DataWriterQos::default().keep_all().durability(self.durability).representation([self.representation]);
        let mut qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
        qos
    }

    pub(crate) fn writer<T: Subject>(self, participant: &DomainParticipant) -> DataWriter<T> {
        participant.writer_builder::<T>(self.topic).qos(self.writer_qos()).build().unwrap()
    }

    pub(crate) fn reader<T: Subject>(self, participant: &DomainParticipant) -> DataReader<T> {
        let qos = DataReaderQos::default().keep_all().durability(self.durability).representation([self.representation]);
        let qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        participant.reader_builder::<T>(self.topic).qos(qos).build().unwrap()
    }
}

/// Cyclone returns samples by instance, so any order is accepted.
pub(crate) fn expect_samples<T: Subject>(subscriber: &mut Peer) {
    let mut missing: Vec<Value> = (0..SAMPLES).map(|index| T::sample(index).fields()).collect();
    while !missing.is_empty() {
        let event = subscriber.wait_for("sample", |_| true);
        let at = missing.iter().position(|fields| fields.is_within(&event));
        let at = at.unwrap_or_else(|| panic!("{event} is not one of {missing:?}"));
        assert_eq!(event["state"], "alive");
        missing.remove(at);
    }
}

/// Tests whether an event contains all of these fields, among others.
pub(crate) trait IsWithin {
    fn is_within(&self, event: &Value) -> bool;
}

impl IsWithin for Value {
    fn is_within(&self, event: &Value) -> bool {
        self.as_object().unwrap().iter().all(|(name, value)| event[name] == *value)
    }
}
