//! Names of DDS topics and types for names of ROS 2, and back.
//!
//! ```text
//! topic /a/chatter          rt/a/chatter        std_msgs::msg::dds_::String_
//! service /flip, request    rq/flipRequest      std_srvs::srv::dds_::SetBool_Request_
//! service /flip, reply      rr/flipReply        std_srvs::srv::dds_::SetBool_Response_
//! ```

use super::{NameKind, check_full};

/// Returns the name of a DDS topic for a fully qualified name.
pub(crate) fn topic_name(prefix: &str, full: &str, suffix: &str) -> String {
    format!("{prefix}{full}{suffix}")
}

/// An entity of ROS 2 that a DDS topic stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EntityName {
    /// A topic.
    Topic(String),
    /// The requests of a service.
    Request(String),
    /// The replies of a service.
    Reply(String),
    /// A DDS topic outside of ROS 2.
    Foreign(String),
}

/// A DDS topic in terms of ROS 2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demangled {
    /// The topic or the service.
    pub name: EntityName,
    /// The type of the message, `std_msgs/msg/String`. Foreign types keep their DDS name.
    pub type_name: String,
}

/// Returns the names of ROS 2 for a DDS topic and its type.
///
/// ```
/// use dds_ros2::name::{EntityName, demangle};
///
/// let chatter = demangle("rt/lab/chatter", "std_msgs::msg::dds_::String_");
/// assert_eq!(chatter.name, EntityName::Topic("/lab/chatter".into()));
/// assert_eq!(chatter.type_name, "std_msgs/msg/String");
/// ```
#[must_use]
pub fn demangle(topic: &str, type_name: &str) -> Demangled {
    let inner = |prefix: &str, suffix: &str| {
        let rest = topic.strip_prefix(prefix)?.strip_suffix(suffix)?;
        check_full(rest, NameKind::Topic).is_ok().then(|| rest.to_owned())
    };
    let name = if let Some(name) = inner("rt", "") {
        EntityName::Topic(name)
    } else if let Some(name) = inner("rq", "Request") {
        EntityName::Request(name)
    } else if let Some(name) = inner("rr", "Reply") {
        EntityName::Reply(name)
    } else {
        EntityName::Foreign(topic.to_owned())
    };
    Demangled { name, type_name: message_type(type_name) }
}

/// Whether a DDS topic has a prefix of ROS 2 and no name of ROS 2.
pub(crate) fn is_malformed_topic(topic: &str) -> bool {
    let has_prefix = ["rt/", "rq/", "rr/"].iter().any(|prefix| topic.starts_with(prefix));
    has_prefix && matches!(demangle(topic, "").name, EntityName::Foreign(_))
}

/// Returns the ROS 2 name of a DDS type: `std_msgs/msg/String`. A foreign type keeps its name.
#[must_use]
pub fn message_type(dds: &str) -> String {
    let parts = dds.strip_suffix('_').and_then(|name| name.split_once("dds_::"));
    match parts {
        Some((package, name)) if !name.is_empty() => format!("{}{name}", package.replace("::", "/")),
        _ => dds.to_owned(),
    }
}

/// Returns the type of the service that a request or a response belongs to: `std_srvs/srv/SetBool`.
pub(crate) fn service_type(message: &str) -> String {
    let service = message.strip_suffix("_Request").or_else(|| message.strip_suffix("_Response"));
    service.unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_topics_lose_their_suffix() {
        let request = demangle("rq/a/flipRequest", "std_srvs::srv::dds_::SetBool_Request_");
        assert_eq!(request.name, EntityName::Request("/a/flip".into()));
        assert_eq!(service_type(&request.type_name), "std_srvs/srv/SetBool");
        let reply = demangle("rr/a/flipReply", "std_srvs::srv::dds_::SetBool_Response_");
        assert_eq!(reply.name, EntityName::Reply("/a/flip".into()));
        assert_eq!(service_type(&reply.type_name), "std_srvs/srv/SetBool");
    }

    #[test]
    fn foreign_topics_keep_their_names() {
        for topic in ["chatter", "rt", "rt/", "rq/x", "rtx", "ros_discovery_info"] {
            let demangled = demangle(topic, "lab::Reading");
            assert_eq!(demangled.name, EntityName::Foreign(topic.into()));
            assert_eq!(demangled.type_name, "lab::Reading");
        }
        assert_eq!(message_type("dds_::_"), "dds_::_");
        let malformed = ["rt/a b", "rt/a//b", "rt/1a", "rq/flip", "rt/"];
        assert!(malformed.iter().all(|topic| is_malformed_topic(topic)));
        let valid = ["chatter", "rt/_hidden/x", "rq/flipRequest", "rtx", "rt/fib/_action/feedback"];
        assert!(valid.iter().all(|topic| !is_malformed_topic(topic)));
    }
}
