//! Questions to the graph.

use super::faults::{FaultKind, PeerFaults};
use super::state::{EndpointRecord, Prefix};
use super::{GraphCore, NodeRecord, prefix_of};
use crate::context::Distro;
use crate::name::{EntityName, demangle, service_type};
use crate::wait::Wait;
use dds_core::builtin::VendorId;
use dds_core::matching::EndpointQos;
use dds_core::{DomainParticipant, Guid};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The name of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct NodeName {
    /// The namespace: `/` or `/lab`.
    pub namespace: String,
    /// The name in the namespace.
    pub name: String,
}

impl NodeName {
    fn of(record: &NodeRecord) -> Self {
        Self { namespace: record.namespace.clone(), name: record.name.clone() }
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = if self.namespace == "/" { "" } else { &self.namespace };
        write!(f, "{namespace}/{}", self.name)
    }
}

/// A publisher or a subscription of a topic, or a client or a server of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointDetails {
    /// Its node. `None` if no node lists it, such as an endpoint of a DDS program outside of ROS 2.
    pub node: Option<NodeName>,
    /// The type of its messages: `std_msgs/msg/String`.
    pub type_name: String,
    /// The hash of this type: `RIHS01_…`. Humble announces none.
    pub type_hash: Option<String>,
    /// Its GID, which is the GUID of DDS.
    pub gid: Guid,
    /// Its QoS.
    pub qos: EndpointQos,
}

/// The topics and services of a node, each with its types.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NodeEntities {
    /// Topics that it publishes.
    pub publishers: BTreeMap<String, BTreeSet<String>>,
    /// Topics that it subscribes to.
    pub subscriptions: BTreeMap<String, BTreeSet<String>>,
    /// Services that it serves.
    pub services: BTreeMap<String, BTreeSet<String>>,
    /// Services that it calls.
    pub clients: BTreeMap<String, BTreeSet<String>>,
}

/// The graph of ROS 2 as a context knows it: nodes, topics, services, of this program and of others.
///
/// Discovery fills it, so a new context knows little. [`changed`](Self::changed) waits for the next change.
///
/// A handle: clones are cheap and refer to the same graph.
#[derive(Debug, Clone)]
pub struct Graph {
    core: Arc<GraphCore>,
}

impl Graph {
    pub(crate) fn new(core: Arc<GraphCore>) -> Self {
        Self { core }
    }

    /// Returns the names of all nodes, sorted. Names need not be unique.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeName> {
        self.nodes_and_enclaves().into_iter().map(|(node, _)| node).collect()
    }

    /// Returns the names of all nodes with the enclaves of their participants, sorted.
    #[must_use]
    pub fn nodes_and_enclaves(&self) -> Vec<(NodeName, String)> {
        let own = &self.core.enclave;
        let mut found: Vec<_> =
            self.core.local().nodes.values().map(|node| (NodeName::of(node), own.clone())).collect();
        let remote = self.core.remote();
        found.extend(remote.nodes().map(|(node, enclave)| (NodeName::of(node), enclave.to_owned())));
        found.sort();
        found
    }

    /// Returns all topics with their types.
    #[must_use]
    pub fn topics(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.collect(|name, type_name, _| match name {
            EntityName::Topic(name) => Some((name, type_name)),
            _ => None,
        })
    }

    /// Returns all services with their types. Clients alone also make a service known.
    #[must_use]
    pub fn services(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.collect(|name, type_name, _| match name {
            EntityName::Request(name) | EntityName::Reply(name) => Some((name, service_type(&type_name))),
            _ => None,
        })
    }

    /// Returns all actions with their types.
    #[must_use]
    pub fn actions(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.collect(|name, type_name, _| match name {
            EntityName::Topic(name) => {
                let action = name.strip_suffix("/_action/feedback")?;
                let type_name = type_name.strip_suffix("_FeedbackMessage").unwrap_or(&type_name);
                Some((action.to_owned(), type_name.to_owned()))
            }
            _ => None,
        })
    }

    /// Returns the publishers of a fully qualified topic.
    #[must_use]
    pub fn publishers(&self, topic: &str) -> Vec<EndpointDetails> {
        self.endpoints(topic, true)
    }

    /// Returns the subscriptions of a fully qualified topic.
    #[must_use]
    pub fn subscriptions(&self, topic: &str) -> Vec<EndpointDetails> {
        self.endpoints(topic, false)
    }

    /// Returns the servers of a fully qualified service, each by its endpoint for requests.
    ///
    /// The type is that of the service. Only Lyrical and programs of this crate announce its hash.
    #[must_use]
    pub fn servers(&self, service: &str) -> Vec<EndpointDetails> {
        self.service_endpoints(service, false)
    }

    /// Returns the clients of a fully qualified service. As [`servers`](Self::servers).
    #[must_use]
    pub fn clients(&self, service: &str) -> Vec<EndpointDetails> {
        self.service_endpoints(service, true)
    }

    /// Returns the topics and services of a node, or `None` if there is no such node.
    ///
    /// With several nodes of this name, the result has those of all.
    #[must_use]
    pub fn node_entities(&self, namespace: &str, name: &str) -> Option<NodeEntities> {
        let mut listed = BTreeSet::new();
        let mut is_found = false;
        let mut list = |node: &NodeRecord| {
            if node.namespace == namespace && node.name == name {
                is_found = true;
                listed.extend(node.readers.iter().chain(&node.writers).copied());
            }
        };
        self.core.local().nodes.values().for_each(&mut list);
        self.core.remote().nodes().for_each(|(node, _)| list(node));
        if !is_found {
            return None;
        }
        let mut entities = NodeEntities::default();
        self.each_endpoint(|guid, endpoint| {
            if !listed.contains(&guid) {
                return;
            }
            let is_writer = endpoint.qos.writer().is_some();
            let demangled = demangle(&endpoint.topic_name, &endpoint.type_name);
            let (map, name, type_name) = match (demangled.name, is_writer) {
                (EntityName::Topic(name), true) => (&mut entities.publishers, name, demangled.type_name),
                (EntityName::Topic(name), false) => (&mut entities.subscriptions, name, demangled.type_name),
                // A server has the reader of the requests, and a client the writer.
                (EntityName::Request(name), false) => {
                    (&mut entities.services, name, service_type(&demangled.type_name))
                }
                (EntityName::Request(name), true) => (&mut entities.clients, name, service_type(&demangled.type_name)),
                _ => return,
            };
            map.entry(name).or_default().insert(type_name);
        });
        Some(entities)
    }

    /// Returns the vendor of the DDS implementation of an endpoint or a participant.
    #[must_use]
    pub fn vendor(&self, gid: Guid) -> Option<VendorId> {
        let prefix = prefix_of(gid);
        if prefix == prefix_of(self.core.waits.participant.guid()) {
            return Some(VendorId::OURS);
        }
        self.core.remote().participants.get(&prefix).map(|participant| participant.vendor)
    }

    /// Returns the release of the nodes of an endpoint or a participant. `None` before they are announced.
    ///
    /// Humble shows in the announcement, and later releases in the version of DDS and in the services. So discovery may
    /// first tell an older release. The own participant has the release of its settings. A peer of this crate has
    /// [`Distro::Humble`] or [`Distro::Jazzy`], by its form.
    #[must_use]
    pub fn distro(&self, gid: Guid) -> Option<Distro> {
        let prefix = prefix_of(gid);
        if prefix == prefix_of(self.core.waits.participant.guid()) {
            return Some(self.core.distro);
        }
        self.core.remote().release(prefix)
    }

    /// Returns what each peer sent that is malformed, for the last 64 peers with faults.
    ///
    /// A malformed part costs itself: it is passed over, and the rest of the peer stays.
    #[must_use]
    pub fn faults(&self) -> Vec<PeerFaults> {
        let remote = self.core.remote();
        let found = self.core.faults().peers().into_iter().map(|(prefix, counts, last)| PeerFaults {
            participant: participant_of(prefix),
            nodes: remote.nodes_of(prefix).iter().map(NodeName::of).collect(),
            counts,
            last,
        });
        found.collect()
    }

    /// Returns how many malformed parts all peers have sent, also those that have left.
    #[must_use]
    pub fn fault_counts(&self) -> BTreeMap<FaultKind, u64> {
        self.core.faults().totals()
    }

    /// Vendors whose servers have a header, besides `rmw_cyclonedds`.
    pub(super) fn header_vendors(&self) -> &[VendorId] {
        &self.core.header_vendors
    }

    pub(super) fn participant(&self) -> &DomainParticipant {
        &self.core.waits.participant
    }

    /// Returns the number of writers or readers of a DDS topic.
    pub(super) fn endpoint_count(&self, topic: &str, is_writer: bool) -> usize {
        let mut count = 0;
        self.each_endpoint(|_, endpoint| {
            count += usize::from(endpoint.topic_name == topic && endpoint.qos.writer().is_some() == is_writer);
        });
        count
    }

    /// Returns whether a DDS topic has an endpoint.
    pub(super) fn has_dds_topic(&self, topic: &str) -> bool {
        self.endpoint_count(topic, true) + self.endpoint_count(topic, false) > 0
    }

    /// Waits for the next change of the graph after this call.
    pub fn changed(&self) -> Wait<'_, ()> {
        let before = self.core.changed().count();
        self.wait(
            move || (self.core.changed().count() != before).then_some(()),
            || "the graph did not change".to_owned(),
        )
    }

    /// Waits until a node of this full name exists: `/lab/camera`.
    pub fn wait_for_node<'a>(&'a self, name: &'a str) -> Wait<'a, ()> {
        self.wait(
            move || self.nodes().iter().any(|node| node.to_string() == name).then_some(()),
            move || format!("no node {name:?}; known nodes: {}", self.list_of_nodes()),
        )
    }

    /// Waits until `is_so` holds for the graph. It is called again after each change.
    pub fn wait_until<'a>(&'a self, mut is_so: impl FnMut(&Self) -> bool + Send + 'a) -> Wait<'a, ()> {
        self.wait(
            move || is_so(self).then_some(()),
            move || format!("the graph is different; known nodes: {}", self.list_of_nodes()),
        )
    }

    fn wait<'a>(
        &'a self,
        mut poll: impl FnMut() -> Option<()> + Send + 'a,
        missing: impl Fn() -> String + Send + 'a,
    ) -> Wait<'a, ()> {
        Wait::new(&self.core.waits, self.core.changed(), move || Ok(poll()), missing)
    }

    fn list_of_nodes(&self) -> String {
        let names: Vec<String> = self.nodes().iter().map(ToString::to_string).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    fn each_endpoint(&self, mut visit: impl FnMut(Guid, &EndpointRecord)) {
        self.core.local().endpoints.iter().for_each(|(guid, endpoint)| visit(*guid, endpoint));
        self.core.remote().endpoints.iter().for_each(|(guid, endpoint)| visit(*guid, endpoint));
    }

    fn collect(
        &self,
        select: impl Fn(EntityName, String, &EndpointRecord) -> Option<(String, String)>,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let mut found = BTreeMap::<String, BTreeSet<String>>::new();
        self.each_endpoint(|_, endpoint| {
            let demangled = demangle(&endpoint.topic_name, &endpoint.type_name);
            if let Some((name, type_name)) = select(demangled.name, demangled.type_name, endpoint) {
                found.entry(name).or_default().insert(type_name);
            }
        });
        found
    }

    fn endpoints(&self, topic: &str, is_writer: bool) -> Vec<EndpointDetails> {
        self.details(is_writer, |name, type_name, endpoint| match name {
            EntityName::Topic(name) if name == topic => Some((type_name, endpoint.type_hash.clone())),
            _ => None,
        })
    }

    fn service_endpoints(&self, service: &str, is_writer: bool) -> Vec<EndpointDetails> {
        self.details(is_writer, |name, type_name, endpoint| match name {
            EntityName::Request(name) if name == service => {
                Some((service_type(&type_name), endpoint.service_hash.clone()))
            }
            _ => None,
        })
    }

    /// Returns the writers or readers for which `select` returns the type and its hash.
    fn details(
        &self,
        is_writer: bool,
        select: impl Fn(EntityName, String, &EndpointRecord) -> Option<(String, Option<String>)>,
    ) -> Vec<EndpointDetails> {
        let mut found = Vec::new();
        self.each_endpoint(|gid, endpoint| {
            if endpoint.qos.writer().is_some() != is_writer {
                return;
            }
            let demangled = demangle(&endpoint.topic_name, &endpoint.type_name);
            let selected = select(demangled.name, demangled.type_name, endpoint);
            found.extend(selected.map(|(type_name, type_hash)| EndpointDetails {
                node: None,
                type_name,
                type_hash,
                gid,
                qos: endpoint.qos.clone(),
            }));
        });
        for endpoint in &mut found {
            endpoint.node = self.node_of(endpoint.gid);
        }
        found
    }

    /// Returns the node of an endpoint, such as of [`SampleInfo`](dds_core::SampleInfo)'s writer.
    #[must_use]
    pub fn node_of(&self, endpoint: Guid) -> Option<NodeName> {
        let is_listed = |node: &&NodeRecord| node.readers.contains(&endpoint) || node.writers.contains(&endpoint);
        let own = self.core.local().nodes.values().find(is_listed).map(NodeName::of);
        own.or_else(|| self.core.remote().node_of(endpoint).map(NodeName::of))
    }
}

fn participant_of(prefix: Prefix) -> Guid {
    let mut bytes = [0; 16];
    bytes[..12].copy_from_slice(&prefix);
    // ENTITYID_PARTICIPANT (RTPS 2.5, 9.3.1.3).
    bytes[12..].copy_from_slice(&[0, 0, 1, 0xc1]);
    Guid::from_bytes(bytes)
}
