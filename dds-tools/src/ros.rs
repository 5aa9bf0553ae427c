//! Types, names and QoS of ROS 2, from its interface files.
//!
//! The files come from the ament environment (`AMENT_PREFIX_PATH`), or else from the set that `dds-idl` ships. So the
//! program knows the types of most ROS topics, although ROS nodes do not describe them by XTypes.

use crate::ros_schemas::{RosSchema, SchemaTexts};
use crate::yaml::from_yaml;
use dds_core::Duration;
use dds_core::builtin::PublicationBuiltinTopicData;
use dds_core::dynamic::DynamicType;
use dds_core::qos::{DataWriterQos, Durability, History, LivelinessKind};
use dds_idl::description::dynamic_type;
use dds_idl::packages::RosPackages;
use dds_idl::ros::{InterfaceKind, InterfaceName, RosNaming};
use serde_json::Value;
use std::fmt::Write;

/// Profile of a recording with topics of ROS.
pub const ROS_PROFILE: &str = "ros2";
/// Key of the metadata of a channel: QoS of its publishers as YAML.
pub const OFFERED_QOS_KEY: &str = "offered_qos_profiles";
/// Key of the metadata of a channel: hash of its type.
pub const TYPE_HASH_KEY: &str = "topic_type_hash";
/// Prefix of the DDS topics that are topics of ROS.
const TOPIC_PREFIX: &str = "rt";
/// Most publishers whose QoS a channel has.
const OFFERED_QOS_MAX: usize = 16;

/// A type of ROS.
#[derive(Debug, Clone)]
pub struct RosTopicType {
    /// The type.
    pub ty: DynamicType,
    /// The message as a schema. A part of a service or an action has none.
    pub schema: Option<RosSchema>,
    /// Its hash, such as `RIHS01_…`.
    pub hash: Option<String>,
}

/// Returns the type with a DDS type name such as `std_msgs::msg::dds_::String_`.
///
/// `None` for a type that is not of ROS, or whose interface file is not found.
#[must_use]
pub fn ros_type(type_name: &str) -> Option<RosTopicType> {
    type_in(&RosPackages::default().ament_environment(), type_name)
}

pub(crate) fn type_in(packages: &RosPackages, type_name: &str) -> Option<RosTopicType> {
    let name = InterfaceName::from_dds_type_name(type_name)?;
    let loaded = packages.load(std::slice::from_ref(&name));
    let texts = (name.kind() == InterfaceKind::Message).then(|| SchemaTexts::new(&loaded, &name));
    let hash = loaded.types.type_hash(&name).map(|hash| hash.to_string());
    let specification = loaded.into_specification(RosNaming::Dds).ok()?;
    let ty = dynamic_type(&specification, specification.find(type_name)?).ok()?;
    let schema = texts.map(|texts| texts.into_schema(&name, &ty));
    Some(RosTopicType { ty, schema, hash })
}

/// Returns the ROS name of a DDS type, such as `std_msgs/msg/String`. Other names stay as they are.
#[must_use]
pub fn ros_type_name(type_name: &str) -> String {
    InterfaceName::from_dds_type_name(type_name).map_or_else(|| type_name.to_owned(), |name| name.to_string())
}

/// Returns the ROS name of a DDS topic: `/chatter` for `rt/chatter`.
#[must_use]
pub fn ros_topic(topic: &str) -> Option<&str> {
    topic.strip_prefix(TOPIC_PREFIX).filter(|name| name.starts_with('/'))
}

/// Returns the DDS topic of a name. A leading slash marks a name of ROS: `/chatter` is the topic `rt/chatter`.
#[must_use]
pub fn dds_topic(name: &str) -> String {
    if name.starts_with('/') { format!("{TOPIC_PREFIX}{name}") } else { name.to_owned() }
}

/// Returns the QoS of publishers as YAML, in the words of `rosbag2` from version 9 on.
#[must_use]
pub fn offered_qos(writers: &[&PublicationBuiltinTopicData]) -> String {
    offered_qos_of(writers.iter().map(|writer| &writer.qos))
}

fn offered_qos_of<'q>(writers: impl Iterator<Item = &'q DataWriterQos>) -> String {
    let mut text = String::new();
    for qos in writers.take(OFFERED_QOS_MAX) {
        let (history, depth) = match qos.history {
            History::KeepLast { depth } => ("keep_last", depth),
            History::KeepAll => ("keep_all", 0),
        };
        let reliability = if qos.reliability.is_reliable() { "reliable" } else { "best_effort" };
        let durability = if qos.durability >= Durability::TransientLocal { "transient_local" } else { "volatile" };
        let liveliness = match qos.liveliness.kind {
            LivelinessKind::Automatic => "automatic",
            LivelinessKind::ManualByParticipant | LivelinessKind::ManualByTopic => "manual_by_topic",
        };
        let _ = write!(
            text,
            "- history: {history}\n  depth: {depth}\n  reliability: {reliability}\n  durability: {durability}\n  \
             deadline:\n{}  lifespan:\n{}  liveliness: {liveliness}\n  liveliness_lease_duration:\n{}  \
             avoid_ros_namespace_conventions: false\n",
            yaml_time(qos.deadline),
            yaml_time(qos.lifespan),
            yaml_time(qos.liveliness.lease_duration),
        );
    }
    text
}

/// ROS writes the largest time for an infinite one.
fn yaml_time(duration: Duration) -> String {
    let nanos = if duration.is_infinite() { i64::MAX } else { duration.as_nanos() };
    format!("    sec: {}\n    nsec: {}\n", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// Returns the QoS of a writer for publishers in the form of [`offered_qos`]. `None` if the text is no such list.
///
/// Several publishers share a writer. It is reliable if all are, it keeps samples if one does, and it has the other
/// policies of the first one. Versions before 9 of `rosbag2` have numbers for names.
#[must_use]
pub fn offered_writer_qos(offered_qos: &str) -> Option<DataWriterQos> {
    let profiles = from_yaml(offered_qos).ok()?;
    let profiles = profiles.as_array()?;
    let has_value = |key: &str, name: &str, number: u64| {
        let is_value = |profile: &Value| profile[key] == *name || profile[key] == number;
        profiles.iter().any(is_value)
    };
    let first = profiles.first()?;
    let mut qos = DataWriterQos::default();
    if has_value("reliability", "best_effort", 2) {
        qos = qos.best_effort();
    }
    if has_value("durability", "transient_local", 1) {
        qos = qos.transient_local();
    }
    if has_value("history", "keep_all", 2) {
        qos = qos.keep_all();
    } else if let Some(depth) = first["depth"].as_u64().and_then(|depth| u32::try_from(depth).ok()) {
        qos = qos.keep_last(depth.max(1));
    }
    if first["liveliness"] == "manual_by_topic" || first["liveliness"] == 3 {
        qos.liveliness.kind = LivelinessKind::ManualByTopic;
    }
    qos.liveliness.lease_duration = offered_time(&first["liveliness_lease_duration"]);
    qos.deadline = offered_time(&first["deadline"]);
    qos.lifespan = offered_time(&first["lifespan"]);
    Some(qos)
}

/// Returns a time of a profile. ROS writes 0 for a time without a value, and its largest time for an infinite one.
fn offered_time(time: &Value) -> Duration {
    let nanos = time["sec"].as_i64().zip(time["nsec"].as_i64());
    let nanos = nanos.and_then(|(sec, nsec)| sec.checked_mul(1_000_000_000)?.checked_add(nsec));
    match nanos {
        Some(nanos) if nanos > 0 && nanos < i64::MAX => Duration::from_nanos(nanos),
        _ => Duration::INFINITE,
    }
}

#[cfg(test)]
mod tests {
    use super::{dds_topic, offered_qos_of, offered_writer_qos, ros_topic, ros_type};
    use dds_core::Duration;
    use dds_core::qos::{DataWriterQos, LivelinessKind};

    #[test]
    fn parts_of_services_have_no_schema() {
        let found = ros_type("std_srvs::srv::dds_::SetBool_Request_").expect("the crate ships it");
        assert_eq!((found.schema, found.ty.name()), (None, "std_srvs::srv::dds_::SetBool_Request_"));
        assert!(ros_type("no_package::msg::dds_::Nothing_").is_none());
        assert!(ros_type("Pose").is_none());
    }

    #[test]
    fn topics_of_ros_have_a_leading_slash() {
        assert_eq!(ros_topic("rt/chatter"), Some("/chatter"));
        assert_eq!(ros_topic("rtchatter"), None);
        assert_eq!((dds_topic("/chatter"), dds_topic("robot/pose")), ("rt/chatter".into(), "robot/pose".into()));
    }

    #[test]
    fn qos_of_each_version_is_understood() {
        let numbers =
            offered_writer_qos("- history: 1\n  depth: 7\n  reliability: 2\n  durability: 1\n").expect("a list");
        assert_eq!(numbers, DataWriterQos::default().best_effort().transient_local().keep_last(7));
        let two =
            "- reliability: reliable\n  durability: volatile\n- reliability: best_effort\n  durability: volatile\n";
        assert_eq!(offered_writer_qos(two), Some(DataWriterQos::default().best_effort()));
        assert_eq!(offered_writer_qos("history: 1"), None);
    }

    #[test]
    fn every_policy_of_ros_survives_its_text() {
        let mut qos = DataWriterQos::default().best_effort().transient_local().keep_last(5);
        qos.deadline = Duration::from_nanos(1_500_000_000);
        qos.lifespan = Duration::from_nanos(2_000_000_001);
        qos.liveliness.kind = LivelinessKind::ManualByTopic;
        qos.liveliness.lease_duration = Duration::from_nanos(700);
        for qos in [qos, DataWriterQos::default().keep_all()] {
            assert_eq!(offered_writer_qos(&offered_qos_of(std::iter::once(&qos))), Some(qos));
        }
    }
}
