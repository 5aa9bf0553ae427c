//! The QoS that a user gives to a writer.
//!
//! In: options of the command line, and the QoS that the command chose. Out: the QoS with the given policies.

use crate::options::period;
use crate::yaml::from_yaml;
use clap::{Args, ValueEnum};
use dds_core::qos::{DataWriterQos, Durability, Ownership, PublisherQos};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::Duration;

/// Policies that belong to the publisher of a writer.
const PUBLISHER_POLICIES: [&str; 3] = ["presentation", "partition", "group_data"];

/// Options for the QoS of a writer. Each replaces a policy that the command chose.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "QoS (without an option: of `pub` as the readers request it, of `play` as recorded)")]
pub struct WriterQosOptions {
    /// Repair lost samples.
    #[arg(long)]
    pub reliable: bool,
    /// Do not repair lost samples.
    #[arg(long, conflicts_with = "reliable")]
    pub best_effort: bool,
    /// Samples that a late reader receives.
    #[arg(long, value_enum, value_name = "KIND")]
    pub durability: Option<DurabilityOption>,
    /// Keep the newest samples of each instance.
    #[arg(long, value_name = "SAMPLES", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_last: Option<u32>,
    /// Keep every sample, up to the limits of the writer.
    #[arg(long, conflicts_with = "keep_last")]
    pub keep_all: bool,
    /// Longest time between two samples of an instance.
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    pub deadline: Option<Duration>,
    /// Time after which readers drop a sample.
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    pub lifespan: Option<Duration>,
    /// Partition. Repeat it for several partitions. The empty name is the default partition.
    #[arg(long, value_name = "NAME")]
    pub partition: Vec<String>,
    /// Own instances exclusively, with this strength.
    #[arg(long, value_name = "STRENGTH", allow_negative_numbers = true)]
    pub ownership_strength: Option<i32>,
    /// Any policies as JSON or YAML, as `show --json` prints them, such as `{transport_priority: 46}`.
    #[arg(long = "qos", value_name = "POLICIES", value_parser = GivenPolicies::parse)]
    pub policies: Option<GivenPolicies>,
}

/// Policies by their names in profile files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GivenPolicies {
    of_writer: Map<String, Value>,
    of_publisher: Map<String, Value>,
}

impl GivenPolicies {
    /// Reads an object of policies.
    ///
    /// # Errors
    /// The text is no object, or a policy has an unknown name or an invalid value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Value::Object(policies) = from_yaml(text)? else {
            return Err("expected an object, such as {transport_priority: 46}".to_owned());
        };
        let mut given = Self::default();
        for (name, value) in policies {
            let is_of_publisher = PUBLISHER_POLICIES.contains(&name.as_str());
            if is_of_publisher { &mut given.of_publisher } else { &mut given.of_writer }.insert(name, value);
        }
        replaced(&DataWriterQos::default(), &given.of_writer)?;
        replaced(&PublisherQos::default(), &given.of_publisher)?;
        Ok(given)
    }
}

/// Returns the QoS with the given policies, each as a whole.
fn replaced<Q: Serialize + DeserializeOwned>(qos: &Q, policies: &Map<String, Value>) -> Result<Q, String> {
    let mut all = serde_json::to_value(qos).map_err(|error| error.to_string())?;
    if let Value::Object(all) = &mut all {
        all.extend(policies.clone());
    }
    serde_json::from_value(all).map_err(|error| error.to_string())
}

/// Samples that a late reader receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DurabilityOption {
    /// None.
    Volatile,
    /// Those that the writer keeps, while it lives.
    TransientLocal,
    /// Also those that a durability service keeps in memory.
    Transient,
    /// Also those that a durability service keeps on disk.
    Persistent,
}

impl From<DurabilityOption> for Durability {
    fn from(option: DurabilityOption) -> Self {
        match option {
            DurabilityOption::Volatile => Self::Volatile,
            DurabilityOption::TransientLocal => Self::TransientLocal,
            DurabilityOption::Transient => Self::Transient,
            DurabilityOption::Persistent => Self::Persistent,
        }
    }
}

impl WriterQosOptions {
    /// Returns the QoS of the writer with the given policies.
    #[must_use]
    pub fn writer(&self, mut qos: DataWriterQos) -> DataWriterQos {
        if let Some(policies) = &self.policies {
            // The option was valid with the default QoS, and policies do not depend on each other here.
            qos = replaced(&qos, &policies.of_writer).unwrap_or(qos);
        }
        if self.reliable {
            qos = qos.reliable();
        }
        if self.best_effort {
            qos = qos.best_effort();
        }
        if let Some(durability) = self.durability {
            qos.durability = durability.into();
        }
        if let Some(depth) = self.keep_last {
            qos = qos.keep_last(depth);
        }
        if self.keep_all {
            qos = qos.keep_all();
        }
        if let Some(deadline) = self.deadline {
            qos.deadline = deadline.into();
        }
        if let Some(lifespan) = self.lifespan {
            qos.lifespan = lifespan.into();
        }
        if let Some(strength) = self.ownership_strength {
            // Only exclusive owners have a strength (DDS 1.4, 2.2.3.10).
            qos.ownership = Ownership::Exclusive;
            qos.ownership_strength = strength;
        }
        qos
    }

    /// Returns the QoS of the publisher with the given policies and partitions.
    #[must_use]
    pub fn publisher(&self, mut qos: PublisherQos) -> PublisherQos {
        if let Some(policies) = &self.policies {
            qos = replaced(&qos, &policies.of_publisher).unwrap_or(qos);
        }
        if self.partition.is_empty() {
            return qos;
        }
        qos.partition(&self.partition)
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Command, CommandLine};
    use clap::Parser;
    use dds_core::qos::{AccessScope, DataWriterQos, History, LivelinessKind, PublisherQos};

    fn parsed(options: &[&str]) -> super::WriterQosOptions {
        let line = [&["dds", "pub", "topic", "{}"], options].concat();
        match CommandLine::try_parse_from(line).unwrap().command {
            Command::Pub(options) => options.qos,
            command => panic!("{command:?}"),
        }
    }

    fn given(options: &[&str], qos: DataWriterQos) -> DataWriterQos {
        parsed(options).writer(qos)
    }

    #[test]
    fn policies_without_an_option_of_their_own_are_given_as_values() {
        let base = DataWriterQos::default().best_effort().keep_last(7);
        let text = "{liveliness: {kind: manual_by_topic, lease_duration: 2s}, transport_priority: 46, \
                    presentation: {access_scope: topic}}";
        let options = parsed(&["--qos", text, "--keep-last", "3"]);
        let mut expected = base.clone().keep_last(3);
        expected.liveliness.kind = LivelinessKind::ManualByTopic;
        expected.liveliness.lease_duration = std::time::Duration::from_secs(2).into();
        expected.transport_priority = 46;
        assert_eq!(options.writer(base), expected);
        let publisher = options.publisher(PublisherQos::default().partition(["left"]));
        assert_eq!((publisher.presentation.access_scope, &publisher.partition[0][..]), (AccessScope::Topic, "left"));
        // The form of `show --json`.
        let whole = serde_json::to_string(&expected).unwrap();
        assert_eq!(given(&["--qos", &whole], DataWriterQos::default()), expected);
        for (text, reason) in [("{histori: keep_all}", "unknown field `histori`"), ("7", "expected an object")] {
            let error = CommandLine::try_parse_from(["dds", "pub", "topic", "{}", "--qos", text]).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn given_policies_win() {
        let base = DataWriterQos::default().best_effort().keep_last(1000);
        assert_eq!(given(&[], base.clone()), base);
        assert!(given(&["--reliable"], base.clone()).reliability.is_reliable());
        assert_eq!(given(&["--keep-last", "3"], base.clone()).history, History::KeepLast { depth: 3 });
        assert_eq!(given(&["--keep-all"], base).history, History::KeepAll);
    }

    #[test]
    fn contradictions_are_wrong_options() {
        for options in
            [&["--reliable", "--best-effort"][..], &["--keep-all", "--keep-last", "3"], &["--keep-last", "0"]]
        {
            let line = [&["dds", "pub", "topic", "{}"], options].concat();
            assert!(CommandLine::try_parse_from(line).is_err(), "{options:?}");
        }
    }
}
