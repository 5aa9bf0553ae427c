//! Why endpoints of ROS 2 are connected or not, in terms of ROS 2.
//!
//! Input: the reports of `dds-core` on pairs of DDS endpoints, and the graph. Output: reports with the names, types and
//! QoS of ROS 2, and the next steps.

use super::faults::PeerFaults;
use super::query::{Graph, NodeName};
use crate::name::{EntityName, demangle, service_type, topic_name};
use crate::service::has_header;
use crate::user_data;
use dds_core::Guid;
use dds_core::builtin::VendorId;
use dds_core::matching::{EndpointInfo, EndpointQos, MatchReport, Obstacle};
use dds_core::qos::{Durability, Liveliness, LivelinessKind, PolicyId, Reliability};
use std::collections::BTreeSet;
use std::fmt;

/// Most names in other namespaces that a hint names.
const NAMED_MAX: usize = 3;

/// Kind of an endpoint of ROS 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndpointRole {
    /// The publisher of a topic.
    Publisher,
    /// The subscription of a topic.
    Subscription,
    /// The client of a service.
    Client,
    /// The server of a service.
    Server,
}

impl fmt::Display for EndpointRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Publisher => "publisher",
            Self::Subscription => "subscription",
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// One side of a [`ConnectionReport`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionEnd {
    /// Its kind.
    pub role: EndpointRole,
    /// Its node. `None` if no node lists it.
    pub node: Option<NodeName>,
    /// Its type: `std_msgs/msg/String`, or `std_srvs/srv/SetBool`.
    pub type_name: String,
    /// The hash of the type of its messages. Humble announces none.
    pub type_hash: Option<String>,
    /// Its GID.
    pub gid: Guid,
    /// The implementation of DDS.
    pub vendor: VendorId,
}

impl fmt::Display for ConnectionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Some(node) => write!(f, "the {} of node {node}", self.role)?,
            None => write!(f, "a {} without a node", self.role)?,
        }
        match self.vendor.name() {
            // Most endpoints of a program are its own.
            _ if self.vendor == VendorId::OURS => Ok(()),
            Some(name) => write!(f, " ({name})"),
            None => write!(f, " (vendor {:?})", self.vendor),
        }
    }
}

/// Why two endpoints are not connected, or do not understand each other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionProblem {
    /// A policy of the QoS. The sender offers less than the receiver requests.
    Qos {
        /// The policy: `reliability`.
        policy: String,
        /// The value of the publisher, in words of ROS 2: `best_effort`.
        offered: String,
        /// The value of the subscription.
        requested: String,
    },
    /// The types have different names.
    Type {
        /// That of the sender.
        sent: String,
        /// That of the receiver.
        received: String,
    },
    /// The types have one name and different definitions. The endpoints connect all the same.
    TypeHash {
        /// That of the sender.
        sent: String,
        /// That of the receiver.
        received: String,
    },
    /// No endpoint has this name, but one has a similar name.
    Name {
        /// The similar name.
        similar: String,
    },
    /// A client and a server of different `rmw` send services in different forms. They connect, and no call works.
    ServiceForm,
    /// A reason of DDS, such as an address that cannot be reached.
    Other {
        /// The reason.
        reason: String,
        /// The next step.
        next_step: String,
    },
}

impl ConnectionProblem {
    /// Whether the endpoints connect all the same.
    fn is_warning(&self) -> bool {
        matches!(self, Self::TypeHash { .. } | Self::ServiceForm)
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn next_step(&self) -> &str {
        match self {
            Self::Qos { policy, .. } => match policy.as_str() {
                "reliability" => "publish with `reliable`, or subscribe with `best_effort`, such as SENSOR_DATA",
                "durability" => "publish with `transient_local`, or subscribe with `volatile`",
                "deadline" => "let the publisher promise a shorter deadline, or the subscription request a longer one",
                "liveliness" => "let the publisher offer the kind and the lease that the subscription requests",
                _ => "let the publisher offer more, or the subscription request less",
            },
            Self::Type { .. } => "use one type on both sides, or another name for one of them",
            Self::TypeHash { .. } => "build both programs with the same definition of the type",
            Self::Name { .. } => "use one name on both sides, or remap one: `--ros-args -r OLD:=NEW`",
            Self::ServiceForm => "run both with the same `rmw`, or one of them with dds-ros2, which knows both forms",
            Self::Other { next_step, .. } => next_step,
        }
    }

    /// Returns the problems of a pair. A sender publishes, or sends requests or replies.
    fn all_of(report: &MatchReport, sender: &EndpointInfo, receiver: &EndpointInfo) -> Vec<Self> {
        let found = report.obstacles.iter().map(|obstacle| Self::of(obstacle, sender, receiver));
        found.collect()
    }

    fn of(obstacle: &Obstacle, sender: &EndpointInfo, receiver: &EndpointInfo) -> Self {
        match obstacle {
            Obstacle::Qos { policy, offered, requested } => {
                let (policy, values) = policy_of(*policy, &sender.qos, &receiver.qos);
                let (offered, requested) = values.unwrap_or_else(|| (offered.clone(), requested.clone()));
                Self::Qos { policy, offered, requested }
            }
            Obstacle::TypeName { .. } => {
                let ros = |endpoint: &EndpointInfo| demangle(&endpoint.topic_name, &endpoint.type_name).type_name;
                Self::Type { sent: ros(sender), received: ros(receiver) }
            }
            Obstacle::TopicNameOnly { similar } => Self::Name { similar: ros_name(similar) },
            other => Self::Other { reason: other.to_string(), next_step: other.next_step().to_owned() },
        }
    }
}

impl fmt::Display for ConnectionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Qos { policy, offered, requested } => {
                write!(f, "{policy} is {offered} at the publisher, and the subscription requests {requested}")
            }
            Self::Type { sent, received } => write!(f, "one sends {sent}, and the other expects {received}"),
            Self::TypeHash { sent, received } => {
                write!(f, "the definitions of the type differ: {sent} is sent, {received} is expected")
            }
            Self::Name { similar } => write!(f, "its name is {similar}"),
            Self::ServiceForm => {
                f.write_str("rmw_cyclonedds and other implementations send services in different forms")
            }
            Self::Other { reason, .. } => f.write_str(reason),
        }?;
        write!(f, " ({})", self.next_step())
    }
}

/// Whether two endpoints are connected, and if not, why. See [`Graph::explain`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionReport {
    /// The name of the topic or the service.
    pub name: String,
    /// The publisher, the client of requests, or the server of replies.
    pub sender: ConnectionEnd,
    /// The subscription, the server of requests, or the client of replies.
    pub receiver: ConnectionEnd,
    /// Whether messages pass.
    pub is_connected: bool,
    /// All reasons against it. A connected pair may have warnings.
    pub problems: Vec<ConnectionProblem>,
}

impl fmt::Display for ConnectionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, sender, receiver, is_connected, problems } = self;
        match sender.role {
            EndpointRole::Client => write!(f, "requests of {name}: ")?,
            EndpointRole::Server => write!(f, "replies of {name}: ")?,
            _ => write!(f, "{name}: ")?,
        }
        write!(f, "{sender} and {receiver} are {}connected", if *is_connected { "" } else { "not " })?;
        for (at, problem) in problems.iter().enumerate() {
            let start = match (at, is_connected) {
                (0, false) => ": ",
                (0, true) => ", but ",
                _ => "; ",
            };
            write!(f, "{start}{problem}")?;
        }
        Ok(())
    }
}

/// Why the endpoints of a name are connected or not. Returned by [`Graph::explain`].
///
/// Printed, it has a line for each part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The fully qualified name.
    pub name: String,
    /// A report for each sender with each receiver. Those of this context come first.
    pub connections: Vec<ConnectionReport>,
    /// Topics, services and actions with the same last part. The namespace of one may be wrong.
    pub other_names: Vec<String>,
    /// Missing parts of the name, such as a publisher.
    pub hints: Vec<String>,
    /// Malformed input of peers, on any topic.
    pub faults: Vec<PeerFaults>,
}

impl Explanation {
    /// Returns the end of a text about a wait: the pairs that do not work, or else names that may be meant.
    pub(crate) fn reason(&self) -> String {
        let broken = self.connections.iter().filter(|report| !report.problems.is_empty());
        let mut text = String::new();
        for report in broken.take(NAMED_MAX) {
            text.push_str("; ");
            text.push_str(&report.to_string());
        }
        if text.is_empty() {
            text.extend(self.other_names.iter().map(|other| format!("; {}", other_name(other))));
        }
        text
    }
}

fn other_name(name: &str) -> String {
    format!("{name} has the same last part; remap one name if a namespace is wrong: `--ros-args -r OLD:=NEW`")
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.connections.iter().map(ToString::to_string).collect();
        lines.extend(self.hints.iter().cloned());
        lines.extend(self.other_names.iter().map(|other| other_name(other)));
        lines.extend(self.faults.iter().map(ToString::to_string));
        f.write_str(&lines.join("\n"))
    }
}

impl Graph {
    /// Explains why the endpoints of a topic, a service or an action are connected or not.
    ///
    /// `name` is fully qualified. [`Publisher::explain`](crate::Publisher::explain) and the same method of
    /// subscriptions, clients and servers explain one endpoint. The text has names and QoS of ROS 2, and the next step
    /// of each problem.
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// use dds_ros2::QosProfile;
    /// use dds_ros2::msgs::std_msgs::msg::String as Text;
    ///
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("lidar")?;
    /// let _scans = node.publisher_with::<Text>("scan", QosProfile::SENSOR_DATA)?;
    /// let _viewer = node.subscription::<Text>("scan")?;
    /// let explanation = context.graph().explain("/scan");
    /// assert_eq!(
    ///     explanation.to_string(),
    ///     "/scan: the publisher of node /lidar and the subscription of node /lidar are not connected: \
    ///      reliability is best_effort at the publisher, and the subscription requests reliable \
    ///      (publish with `reliable`, or subscribe with `best_effort`, such as SENSOR_DATA)"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn explain(&self, name: &str) -> Explanation {
        self.explain_those(name, |_| true)
    }

    /// As `explain`, for the pairs of own endpoints.
    pub(crate) fn explain_own(&self, name: &str, own: &[Guid]) -> Explanation {
        self.explain_those(name, |report| own.contains(&report.sender.gid) || own.contains(&report.receiver.gid))
    }

    fn explain_those(&self, name: &str, is_meant: impl Fn(&ConnectionReport) -> bool) -> Explanation {
        let mut connections = Vec::new();
        for topic in dds_topics(name) {
            let mut seen = BTreeSet::new();
            for report in self.participant().explain(&topic) {
                let report = self.connection(&report);
                // A pair of two own endpoints appears twice, once from each side.
                if is_meant(&report) && seen.insert((report.sender.gid, report.receiver.gid)) {
                    connections.push(report);
                }
            }
        }
        let hints = self.hints(name);
        // Of interest only if a side is missing.
        let other_names = if hints.is_empty() { Vec::new() } else { self.other_names(name) };
        Explanation { name: name.to_owned(), connections, other_names, hints, faults: self.faults() }
    }

    /// Whether a client and a server of other programs send services in different forms.
    fn are_of_different_forms(&self, sender: &EndpointInfo, receiver: &EndpointInfo) -> bool {
        let (client, server) = match demangle(&sender.topic_name, "").name {
            EntityName::Request(_) => (sender, receiver),
            EntityName::Reply(_) => (receiver, sender),
            _ => return false,
        };
        let side = |endpoint: &EndpointInfo, key| (endpoint.vendor, has_header(endpoint, key));
        are_forms_different(side(client, "clientid"), side(server, "serviceid"), self.header_vendors())
    }

    fn connection(&self, report: &MatchReport) -> ConnectionReport {
        let (sender, receiver) =
            if report.local.is_writer() { (&report.local, &report.remote) } else { (&report.remote, &report.local) };
        let mut problems = ConnectionProblem::all_of(report, sender, receiver);
        let ends = [self.end(sender), self.end(receiver)];
        let hashes = ends.each_ref().map(|end| end.type_hash.clone());
        if let ([Some(sent), Some(received)], true) = (hashes, ends[0].type_name == ends[1].type_name) {
            if sent != received {
                problems.push(ConnectionProblem::TypeHash { sent, received });
            }
        }
        if self.are_of_different_forms(sender, receiver) {
            problems.push(ConnectionProblem::ServiceForm);
        }
        let [sender, receiver] = ends;
        let is_connected = problems.iter().all(ConnectionProblem::is_warning);
        ConnectionReport { name: ros_name(&report.local.topic_name), sender, receiver, is_connected, problems }
    }

    fn end(&self, endpoint: &EndpointInfo) -> ConnectionEnd {
        let demangled = demangle(&endpoint.topic_name, &endpoint.type_name);
        let role = role_of(&demangled.name, endpoint.is_writer());
        let is_of_service = matches!(role, EndpointRole::Client | EndpointRole::Server);
        let type_name = if is_of_service { service_type(&demangled.type_name) } else { demangled.type_name };
        ConnectionEnd {
            role,
            node: self.node_of(endpoint.guid),
            type_name,
            type_hash: user_data::hash(endpoint.qos.user_data(), user_data::TYPE_HASH).unwrap_or_default(),
            gid: endpoint.guid,
            vendor: endpoint.vendor,
        }
    }

    /// Returns hints about endpoints that a name lacks.
    fn hints(&self, name: &str) -> Vec<String> {
        let requests = topic_name("rq", name, "Request");
        let topic = topic_name("rt", name, "");
        let status = topic_name("rt", name, "/_action/status");
        let sides = [
            (&topic, "publisher", "subscription"),
            (&requests, "client", "server"),
            // An action.
            (&status, "server", "client"),
        ];
        let mut hints = Vec::new();
        let mut is_known = false;
        for (topic, sender, receiver) in sides {
            let (senders, receivers) = (self.endpoint_count(topic, true), self.endpoint_count(topic, false));
            is_known |= senders + receivers > 0;
            match (senders, receivers) {
                (0, 1..) => hints.push(format!("{name} has a {receiver} and no {sender}")),
                (1.., 0) => hints.push(format!("{name} has a {sender} and no {receiver}")),
                _ => {}
            }
        }
        if !is_known {
            hints.push(format!("no node has a topic, a service or an action {name}"));
        }
        let plain = name.trim_start_matches('/');
        let foreign = [plain, name].into_iter().find(|topic| self.has_dds_topic(topic));
        if let (false, Some(topic)) = (hints.is_empty(), foreign) {
            hints.push(format!("a program outside of ROS 2 uses the DDS topic {topic:?}; ROS 2 calls it \"rt{name}\""));
        }
        hints
    }

    /// Returns topics, services and actions whose last part is that of `name`.
    fn other_names(&self, name: &str) -> Vec<String> {
        let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let names = self.topics().into_keys().chain(self.services().into_keys()).chain(self.actions().into_keys());
        let found: BTreeSet<String> = names.filter(|other| other != name && last(other) == last(name)).collect();
        found.into_iter().take(NAMED_MAX).collect()
    }
}

/// The DDS topics of a topic, a service or an action.
fn dds_topics(name: &str) -> Vec<String> {
    let mut topics = vec![topic_name("rt", name, "")];
    let service = |name: &str| [topic_name("rq", name, "Request"), topic_name("rr", name, "Reply")];
    topics.extend(service(name));
    for part in ["send_goal", "cancel_goal", "get_result"] {
        topics.extend(service(&format!("{name}/_action/{part}")));
    }
    topics.extend(["feedback", "status"].map(|part| topic_name("rt", &format!("{name}/_action/{part}"), "")));
    topics
}

fn role_of(name: &EntityName, is_writer: bool) -> EndpointRole {
    match (name, is_writer) {
        (EntityName::Request(_), true) | (EntityName::Reply(_), false) => EndpointRole::Client,
        (EntityName::Request(_), false) | (EntityName::Reply(_), true) => EndpointRole::Server,
        (_, true) => EndpointRole::Publisher,
        (_, false) => EndpointRole::Subscription,
    }
}

/// The name in ROS 2 of a DDS topic.
fn ros_name(topic: &str) -> String {
    match demangle(topic, "").name {
        EntityName::Topic(name) | EntityName::Request(name) | EntityName::Reply(name) => name,
        EntityName::Foreign(name) => format!("the DDS topic {name}"),
    }
}

/// Whether a client and a server send services in different forms. Each side is its vendor, and whether it announces
/// the header of `rmw_cyclonedds`. `headed` are further vendors whose servers have this header, and whose clients may.
fn are_forms_different(client: (VendorId, bool), server: (VendorId, bool), headed: &[VendorId]) -> bool {
    let is_ours = [client.0, server.0].contains(&VendorId::OURS);
    // This crate knows both forms.
    !is_ours && !headed.contains(&client.0) && client.1 != (server.1 || headed.contains(&server.0))
}

/// Returns the name of a policy in ROS 2, and the values of both sides there.
fn policy_of(policy: PolicyId, sender: &EndpointQos, receiver: &EndpointQos) -> (String, Option<(String, String)>) {
    let both = sender.writer().zip(receiver.reader());
    match policy {
        PolicyId::Reliability => {
            let values =
                both.map(|(offer, request)| (reliability(offer.reliability), reliability(request.reliability)));
            ("reliability".to_owned(), values)
        }
        PolicyId::Durability => {
            let values = both.map(|(offer, request)| (durability(offer.durability), durability(request.durability)));
            ("durability".to_owned(), values)
        }
        PolicyId::Liveliness => {
            let values = both.map(|(offer, request)| (liveliness(offer.liveliness), liveliness(request.liveliness)));
            ("liveliness".to_owned(), values)
        }
        PolicyId::Deadline => {
            let values = both.map(|(offer, request)| (offer.deadline.to_string(), request.deadline.to_string()));
            ("deadline".to_owned(), values)
        }
        other => (other.to_string(), None),
    }
}

fn reliability(value: Reliability) -> String {
    if value.is_reliable() { "reliable".to_owned() } else { "best_effort".to_owned() }
}

fn durability(value: Durability) -> String {
    match value {
        Durability::Volatile => "volatile".to_owned(),
        Durability::TransientLocal => "transient_local".to_owned(),
        // Beyond ROS 2, from a program of DDS.
        other => format!("{other:?}"),
    }
}

fn liveliness(value: Liveliness) -> String {
    let kind = match value.kind {
        LivelinessKind::Automatic => "automatic".to_owned(),
        LivelinessKind::ManualByTopic => "manual_by_topic".to_owned(),
        other => format!("{other:?}"),
    };
    if value.lease_duration.is_infinite() { kind } else { format!("{kind} with a lease of {}", value.lease_duration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_services_differ_by_vendor_entry_and_setting() {
        let [fast, rust] = [(VendorId::EPROSIMA, false), (VendorId::RUSTDDS, false)];
        let [cyclone, tool] = [(VendorId::CYCLONE, true), (VendorId::CYCLONE, false)];
        assert!(are_forms_different(fast, cyclone, &[]) && are_forms_different(cyclone, fast, &[]));
        assert!(!are_forms_different(cyclone, cyclone, &[]) && !are_forms_different(fast, tool, &[]));
        assert!(are_forms_different(cyclone, rust, &[]) && !are_forms_different(fast, rust, &[]));
        let headed = [VendorId::RUSTDDS];
        assert!(!are_forms_different(cyclone, rust, &headed) && are_forms_different(fast, rust, &headed));
        // A client of this vendor may have either form.
        assert!(!are_forms_different(rust, fast, &headed) && !are_forms_different(rust, cyclone, &headed));
        let ours = (VendorId::OURS, true);
        assert!(!are_forms_different(ours, fast, &[]) && !are_forms_different(fast, ours, &[]));
    }
}
