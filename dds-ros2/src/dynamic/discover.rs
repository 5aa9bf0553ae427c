//! Finds the type of a topic in the graph.

use super::MessageType;
use crate::graph::{EndpointDetails, Graph, NodeName};
use crate::name::topic_name;
use crate::node::Node;
use crate::service::Client;
use crate::wait::Wait;
use crate::{Error, Result};
use dds_core::Duration;
use dds_ros2_msgs::RosTypeEntry;
use dds_ros2_msgs::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a node may take for the description of a type.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// How long an endpoint may take for its announced description.
const LOOKUP_LIMIT: Duration = Duration::from_millis(500);
/// The longest time until the next look, if the graph does not change.
const PAUSE: Duration = Duration::from_secs(1);
/// Most endpoints that one look asks. A peer may announce any number.
const ASKED_MAX: usize = 16;

/// Why the endpoints of a topic gave no type, for the error of a wait.
type Reasons = Arc<Mutex<Vec<String>>>;

pub(super) fn message_type(node: &Node, topic: &str) -> Wait<'static, MessageType> {
    let (topic, reasons) = (topic.to_owned(), Reasons::default());
    let search = Search { node: node.clone(), clients: BTreeMap::new(), reasons: Arc::clone(&reasons) };
    let name = topic.clone();
    let missing = move || {
        let reasons = reasons.lock().unwrap_or_else(PoisonError::into_inner);
        match reasons.is_empty() {
            true => format!("topic {name:?} has no endpoint"),
            false => format!("no endpoint of {name:?} described its type: {}", reasons.join("; ")),
        }
    };
    Wait::of_future(node.context().waits(), search.run(topic), missing)
}

struct Search {
    node: Node,
    /// Clients of the services that describe types, so that each look asks by the same ones.
    clients: BTreeMap<String, Client<GetTypeDescription>>,
    reasons: Reasons,
}

impl Search {
    async fn run(mut self, topic: String) -> Result<MessageType> {
        let topic = self.node.resolve_topic(&topic)?;
        let graph = self.node.context().graph();
        loop {
            // Before the look, so that a change during the look counts.
            let changed = graph.changed().within(PAUSE);
            if let Some(found) = self.look(&graph, &topic).await {
                return Ok(found);
            }
            if let Err(Error::Closed) = changed.await {
                return Err(Error::Closed);
            }
        }
    }

    async fn look(&mut self, graph: &Graph, topic: &str) -> Option<MessageType> {
        let mut endpoints = graph.publishers(topic);
        endpoints.extend(graph.subscriptions(topic));
        let mut reasons = BTreeSet::new();
        for endpoint in endpoints.iter().take(ASKED_MAX) {
            match self.ask(graph, endpoint).await {
                Ok(found) => return Some(found),
                Err(reason) => reasons.insert(reason),
            };
        }
        if !endpoints.is_empty() {
            match self.look_up(topic, &endpoints).await {
                Ok(found) => return Some(found),
                Err(reason) => reasons.insert(reason),
            };
        }
        *self.reasons.lock().unwrap_or_else(PoisonError::into_inner) = reasons.into_iter().collect();
        None
    }

    /// Asks the node of an endpoint for its type, unless this build has it. The error is the reason.
    async fn ask(&mut self, graph: &Graph, endpoint: &EndpointDetails) -> Result<MessageType, String> {
        let EndpointDetails { type_name, type_hash, .. } = endpoint;
        let own = RosTypeEntry::find(type_name);
        // Humble announces no hash.
        if let Some(own) = own.filter(|own| type_hash.as_deref().is_none_or(|hash| hash == own.type_hash)) {
            return MessageType::of_entry(own).map_err(|error| error.to_string());
        }
        let Some(node) = &endpoint.node else {
            return Err(format!("endpoint {} belongs to no node", endpoint.gid));
        };
        let found = self.ask_node(graph, node, endpoint).await?;
        if found.name() != type_name || type_hash.as_deref().is_some_and(|hash| hash != found.type_hash()) {
            let announced = type_hash.as_deref().unwrap_or("no hash");
            return Err(format!("node {node} announces {type_name} with {announced}, and described {found:?}"));
        }
        Ok(found)
    }

    async fn ask_node(
        &mut self,
        graph: &Graph,
        node: &NodeName,
        endpoint: &EndpointDetails,
    ) -> Result<MessageType, String> {
        let service = format!("{node}/get_type_description");
        if !graph.services().contains_key(&service) {
            return Err(format!("node {node} has no service get_type_description"));
        }
        let refused = |error: Error| format!("node {node}: {error}");
        let client = match self.clients.get(&service) {
            Some(client) => client.clone(),
            None => {
                let client = self.node.client(&service).map_err(refused)?;
                self.clients.insert(service, client.clone());
                client
            }
        };
        let request = GetTypeDescriptionRequest {
            type_name: endpoint.type_name.clone(),
            type_hash: endpoint.type_hash.clone().unwrap_or_default(),
            include_type_sources: false,
        };
        let response = client.call(request).within(ANSWER_LIMIT).await.map_err(refused)?;
        if !response.successful {
            return Err(format!("node {node}: {}", response.failure_reason));
        }
        MessageType::from_description(&response.type_description).map_err(refused)
    }

    /// Returns the type that an endpoint announces (XTYPES 1.3, 7.6.3.3). The error is the reason.
    async fn look_up(&self, topic: &str, endpoints: &[EndpointDetails]) -> Result<MessageType, String> {
        let participant = self.node.context().participant();
        let name = topic_name("rt", topic, "");
        let Ok(ty) = participant.discover_type(&name).within(LOOKUP_LIMIT).await else {
            return Err("no endpoint announces a description".to_owned());
        };
        let found = MessageType::from_dynamic(&ty).map_err(|error| error.to_string())?;
        let announced = endpoints.iter().find(|endpoint| endpoint.type_name == found.name());
        Ok(found.with_hash(announced.and_then(|endpoint| endpoint.type_hash.as_deref())))
    }
}
