//! Contracts: the topics that a system must have, with their types, writers and readers.
//!
//! A contract is a TOML file:
//!
//! ```
//! # use dds_tools::contract::Contract;
//! # let text = r#"
//! [topics."robot/pose"]
//! type = "Pose"
//! type_hash = "1e1d6b8c5a3f4e2d7c6b5a493827"
//!
//! [[topics."robot/pose".writers]]
//! participant = "robot"
//! reliability = "reliable"
//! durability = "transient_local"
//!
//! [[topics."robot/pose".readers]]
//! participant = "planner"
//! # "#;
//! # assert_eq!(Contract::parse(text).unwrap().topics["robot/pose"].writers.len(), 1);
//! ```
//!
//! Each entry stands for one endpoint. The contract accepts any value where an entry has none.

use crate::domain_view::DomainView;
use crate::error::ToolError;
use dds_core::Duration;
use dds_core::qos::{DestinationOrder, Durability, History, LivelinessKind, Ownership, Presentation, Reliability};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The topics that a system must have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The topics by their names.
    #[serde(default)]
    pub topics: BTreeMap<String, TopicContract>,
}

/// The type and the endpoints of a topic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicContract {
    /// Name of the type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Identifier of the complete TypeObject, with its hash (XTypes 1.3, 7.3.4.9.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_hash: Option<String>,
    /// The writers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writers: Vec<EndpointContract>,
    /// The readers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<EndpointContract>,
}

/// One writer or reader. The contract does not compare absent values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointContract {
    /// Name of its participant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// RELIABILITY.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliability: Option<ReliabilityKind>,
    /// DURABILITY.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// HISTORY: `keep_all` or `keep_last N`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "history_text")]
    pub history: Option<History>,
    /// DEADLINE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
    /// Kind of LIVELINESS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liveliness: Option<LivelinessKind>,
    /// Lease of LIVELINESS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liveliness_lease: Option<Duration>,
    /// LATENCY_BUDGET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_budget: Option<Duration>,
    /// LIFESPAN of a writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifespan: Option<Duration>,
    /// DESTINATION_ORDER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_order: Option<DestinationOrder>,
    /// OWNERSHIP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ownership: Option<Ownership>,
    /// OWNERSHIP_STRENGTH of a writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ownership_strength: Option<i32>,
    /// Partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Vec<String>>,
    /// PRESENTATION: the scope, then `coherent` and `ordered` if they hold.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "presentation_text")]
    pub presentation: Option<Presentation>,
}

/// Kind of RELIABILITY. The blocking time of a writer is its own matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReliabilityKind {
    /// Lost samples are not repaired.
    BestEffort,
    /// Lost samples are sent again.
    Reliable,
}

/// One difference between a contract and a system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The topic.
    pub topic: String,
    /// The difference, with both values.
    pub difference: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "topic {}: {}", self.topic, self.difference)
    }
}

/// Creates the entry of a writer or a reader. Their data have the same fields, but different types of QoS.
///
/// The last two values are policies that readers lack.
macro_rules! endpoint_contract {
    ($data:expr, $view:expr, $lifespan:expr, $strength:expr) => {
        EndpointContract {
            // A GUID is another one after each start.
            participant: $view.participant($data.participant_key).map(|p| p.name.clone()).filter(|n| !n.is_empty()),
            reliability: Some(match $data.qos.reliability {
                Reliability::BestEffort => ReliabilityKind::BestEffort,
                Reliability::Reliable { .. } => ReliabilityKind::Reliable,
            }),
            durability: Some($data.qos.durability),
            history: Some($data.qos.history),
            deadline: Some($data.qos.deadline),
            liveliness: Some($data.qos.liveliness.kind),
            liveliness_lease: Some($data.qos.liveliness.lease_duration),
            latency_budget: Some($data.qos.latency_budget),
            lifespan: $lifespan,
            destination_order: Some($data.qos.destination_order),
            ownership: Some($data.qos.ownership),
            ownership_strength: $strength,
            partition: Some($data.partition.clone()),
            presentation: Some($data.presentation),
        }
    };
}

impl Contract {
    /// Reads a contract.
    ///
    /// # Errors
    /// Fails with the line and column of the error.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns the contract as TOML.
    ///
    /// # Errors
    /// Fails if a name cannot be represented.
    pub fn to_toml(&self) -> Result<String, ToolError> {
        toml::to_string(self)
            .map_err(|error| ToolError::Value { path: "contract".to_owned(), reason: error.to_string() })
    }

    /// Returns the contract that the running system meets. `type_hash` returns the hash of a topic's type, if known.
    pub fn of_system(view: &DomainView, mut type_hash: impl FnMut(&str) -> Option<String>) -> Self {
        let mut contract = Self::default();
        for (name, topic) in view.topics() {
            let writers = topic.writers.iter().map(|writer| {
                let qos = &writer.qos;
                endpoint_contract!(writer, view, Some(qos.lifespan), Some(qos.ownership_strength))
            });
            let readers = topic.readers.iter().map(|reader| endpoint_contract!(reader, view, None, None));
            let mut found = TopicContract {
                type_name: Some(topic.type_names().join(" ")),
                type_hash: type_hash(name),
                writers: writers.collect(),
                readers: readers.collect(),
            };
            // GUIDs decide the order in the view, and they change with each start of the system.
            found.writers.sort_by_cached_key(|writer| format!("{writer:?}"));
            found.readers.sort_by_cached_key(|reader| format!("{reader:?}"));
            contract.topics.insert(name.to_owned(), found);
        }
        contract
    }

    /// Compares a system with this contract. `allows_more` accepts topics and endpoints that the contract lacks.
    #[must_use]
    pub fn compare(&self, system: &Self, allows_more: bool) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (name, expected) in &self.topics {
            let mut report = |difference: String| differences.push(Difference { topic: name.clone(), difference });
            match system.topics.get(name) {
                Some(found) => expected.compare(found, allows_more, &mut report),
                None => report("the system does not have it".to_owned()),
            }
        }
        if !allows_more {
            for name in system.topics.keys().filter(|name| !self.topics.contains_key(*name)) {
                let difference = "the contract does not have it".to_owned();
                differences.push(Difference { topic: name.clone(), difference });
            }
        }
        differences
    }
}

impl TopicContract {
    fn compare(&self, found: &Self, allows_more: bool, report: &mut dyn FnMut(String)) {
        compare_value("the type", self.type_name.as_ref(), found.type_name.as_ref(), report);
        compare_value("the hash of the type", self.type_hash.as_ref(), found.type_hash.as_ref(), report);
        compare_endpoints("writer", &self.writers, &found.writers, allows_more, report);
        compare_endpoints("reader", &self.readers, &found.readers, allows_more, report);
    }
}

impl EndpointContract {
    /// Returns the differences of an endpoint: the name of the value, the expected value, the found value.
    fn differences(&self, found: &Self) -> Vec<(&'static str, String, String)> {
        let mut differences = Vec::new();
        compare_option("participant", &self.participant, &found.participant, &mut differences);
        compare_option("RELIABILITY", &self.reliability, &found.reliability, &mut differences);
        compare_option("DURABILITY", &self.durability, &found.durability, &mut differences);
        compare_option("HISTORY", &self.history, &found.history, &mut differences);
        compare_option("DEADLINE", &self.deadline, &found.deadline, &mut differences);
        compare_option("LIVELINESS", &self.liveliness, &found.liveliness, &mut differences);
        let lease = "the lease of LIVELINESS";
        compare_option(lease, &self.liveliness_lease, &found.liveliness_lease, &mut differences);
        compare_option("LATENCY_BUDGET", &self.latency_budget, &found.latency_budget, &mut differences);
        compare_option("LIFESPAN", &self.lifespan, &found.lifespan, &mut differences);
        compare_option("DESTINATION_ORDER", &self.destination_order, &found.destination_order, &mut differences);
        compare_option("OWNERSHIP", &self.ownership, &found.ownership, &mut differences);
        let strength = "OWNERSHIP_STRENGTH";
        compare_option(strength, &self.ownership_strength, &found.ownership_strength, &mut differences);
        compare_option("PARTITION", &self.partition, &found.partition, &mut differences);
        compare_option("PRESENTATION", &self.presentation, &found.presentation, &mut differences);
        differences
    }

    fn place(&self) -> String {
        self.participant.as_ref().map_or_else(|| "any participant".to_owned(), |name| format!("participant \"{name}\""))
    }
}

fn compare_value(name: &str, expected: Option<&String>, found: Option<&String>, report: &mut dyn FnMut(String)) {
    match (expected, found) {
        (Some(expected), Some(found)) if expected != found => {
            report(format!("{name} is {found}, the contract has {expected}"));
        }
        (Some(expected), None) => report(format!("{name} is unknown, the contract has {expected}")),
        _ => {}
    }
}

/// Pairs the endpoints: at first equal ones, then those with the fewest differences.
fn compare_endpoints(
    kind: &str,
    expected: &[EndpointContract],
    found: &[EndpointContract],
    allows_more: bool,
    report: &mut dyn FnMut(String),
) {
    let mut unpaired: Vec<&EndpointContract> = found.iter().collect();
    let mut unequal = Vec::new();
    // An entry with more values fits fewer endpoints, so it takes its endpoint first.
    let mut entries: Vec<&EndpointContract> = expected.iter().collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.differences(&EndpointContract::default()).len()));
    for entry in entries {
        match unpaired.iter().position(|endpoint| entry.differences(endpoint).is_empty()) {
            Some(index) => {
                unpaired.swap_remove(index);
            }
            None => unequal.push(entry),
        }
    }
    for entry in unequal {
        let same_place = unpaired
            .iter()
            .enumerate()
            .filter(|(_, endpoint)| entry.participant.is_none() || entry.participant == endpoint.participant);
        let Some((index, _)) = same_place.min_by_key(|(_, endpoint)| entry.differences(endpoint).len()) else {
            report(format!("a {kind} of {} is missing", entry.place()));
            continue;
        };
        let endpoint = unpaired.swap_remove(index);
        for (name, expected, found) in entry.differences(endpoint) {
            report(format!("{name} of the {kind} of {} is {found}, the contract has {expected}", endpoint.place()));
        }
    }
    if !allows_more {
        for endpoint in unpaired {
            report(format!("the contract does not have a {kind} of {}", endpoint.place()));
        }
    }
}

fn compare_option<T: PartialEq + Debug>(
    name: &'static str,
    expected: &Option<T>,
    found: &Option<T>,
    differences: &mut Vec<(&'static str, String, String)>,
) {
    let Some(value) = expected else { return };
    if found != expected {
        let found = found.as_ref().map_or_else(|| "unknown".to_owned(), |found| format!("{found:?}"));
        differences.push((name, format!("{value:?}"), found));
    }
}

/// HISTORY as one word or two, which reads better than a table in a table.
mod history_text {
    use dds_core::qos::History;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(history: &Option<History>, serializer: S) -> Result<S::Ok, S::Error> {
        match history {
            Some(History::KeepLast { depth }) => serializer.collect_str(&format_args!("keep_last {depth}")),
            Some(History::KeepAll) => serializer.serialize_str("keep_all"),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<History>, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "keep_all" {
            return Ok(Some(History::KeepAll));
        }
        match text.strip_prefix("keep_last ").and_then(|depth| depth.parse().ok()) {
            Some(depth) => Ok(Some(History::KeepLast { depth })),
            None => Err(D::Error::custom(format!("invalid HISTORY `{text}`: expected `keep_all` or `keep_last N`"))),
        }
    }
}

/// PRESENTATION as words, such as `topic coherent ordered`.
mod presentation_text {
    use dds_core::qos::{AccessScope, Presentation};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Option<Presentation>, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(value) = value else { return serializer.serialize_none() };
        let scope = match value.access_scope {
            AccessScope::Instance => "instance",
            AccessScope::Topic => "topic",
            AccessScope::Group => "group",
        };
        let coherent = if value.coherent_access { " coherent" } else { "" };
        let ordered = if value.ordered_access { " ordered" } else { "" };
        serializer.collect_str(&format_args!("{scope}{coherent}{ordered}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Presentation>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let invalid = || {
            let expected = "expected `instance`, `topic` or `group`, then `coherent` and `ordered` if they hold";
            D::Error::custom(format!("invalid PRESENTATION `{text}`: {expected}"))
        };
        let mut words = text.split(' ');
        let scope = match words.next() {
            Some("instance") => AccessScope::Instance,
            Some("topic") => AccessScope::Topic,
            Some("group") => AccessScope::Group,
            _ => return Err(invalid()),
        };
        let mut presentation = Presentation::new(scope);
        for word in words {
            match word {
                "coherent" => presentation.coherent_access = true,
                "ordered" => presentation.ordered_access = true,
                _ => return Err(invalid()),
            }
        }
        Ok(Some(presentation))
    }
}
