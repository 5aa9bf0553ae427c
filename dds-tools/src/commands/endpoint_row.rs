//! One endpoint of a topic, as a line or as JSON.

use crate::domain_view::{DomainView, TopicView};
use dds_core::qos::{Durability, History, Ownership};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// A writer or a reader, with the policies that decide most often whether samples arrive.
#[derive(Debug, Serialize)]
pub(crate) struct EndpointRow {
    kind: &'static str,
    guid: String,
    participant: String,
    participant_guid: String,
    vendor: String,
    #[serde(rename = "type")]
    type_name: String,
    partition: Vec<String>,
    reliable: bool,
    durability: String,
    history: String,
    exclusive: bool,
    /// All policies, as in a profile file. Only where a user asks for one topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    qos: Option<Value>,
}

/// Creates the row of a writer or a reader. Their data have the same fields, but different types of QoS.
macro_rules! endpoint_row {
    ($kind:literal, $data:expr, $view:expr) => {
        EndpointRow {
            kind: $kind,
            guid: $data.key.to_string(),
            participant: $view.participant_name($data.participant_key),
            participant_guid: $data.participant_key.to_string(),
            vendor: $view.vendor($data.participant_key),
            type_name: $data.type_name.clone(),
            partition: $data.partition.clone(),
            reliable: $data.qos.reliability.is_reliable(),
            durability: durability_text($data.qos.durability).to_owned(),
            history: history_text($data.qos.history),
            exclusive: $data.qos.ownership == Ownership::Exclusive,
            qos: None,
        }
    };
}

impl EndpointRow {
    /// Returns the rows of all writers, then of all readers.
    pub(crate) fn all_of(topic: &TopicView<'_>, view: &DomainView) -> Vec<Self> {
        let writers = topic.writers.iter().map(|writer| endpoint_row!("writer", writer, view));
        let readers = topic.readers.iter().map(|reader| endpoint_row!("reader", reader, view));
        writers.chain(readers).collect()
    }

    /// As [`all_of`](Self::all_of), with all policies.
    pub(crate) fn all_with_qos(topic: &TopicView<'_>, view: &DomainView) -> Vec<Self> {
        let mut rows = Self::all_of(topic, view);
        let of_writers = topic.writers.iter().map(|writer| serde_json::to_value(&writer.qos));
        let of_readers = topic.readers.iter().map(|reader| serde_json::to_value(&reader.qos));
        for (row, qos) in rows.iter_mut().zip(of_writers.chain(of_readers)) {
            row.qos = qos.ok();
        }
        rows
    }
}

/// `writer 01dd….00000102 of robot (dds-core): reliable, volatile, keep last 1`.
impl fmt::Display for EndpointRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, guid, participant, vendor, durability, history, .. } = self;
        let reliability = if self.reliable { "reliable" } else { "best effort" };
        write!(f, "{kind} {guid} of {participant} ({vendor}): {reliability}, {durability}, {history}")?;
        if self.exclusive {
            f.write_str(", exclusive")?;
        }
        if !self.partition.is_empty() {
            write!(f, ", partition {}", self.partition.join(" "))?;
        }
        Ok(())
    }
}

const fn durability_text(durability: Durability) -> &'static str {
    match durability {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient local",
        Durability::Transient => "transient",
        Durability::Persistent => "persistent",
    }
}

fn history_text(history: History) -> String {
    match history {
        History::KeepLast { depth } => format!("keep last {depth}"),
        History::KeepAll => "keep all".to_owned(),
    }
}
