//! Finds the type of a topic in the graph.

use super::MessageType;
use super::objects::SHAPE_SIZE;
use super::variants;
use crate::graph::{EndpointDetails, Graph, NodeName};
use crate::name::topic_name;
use crate::node::Node;
use crate::service::Client;
use crate::wait::Wait;
use crate::{Error, Result};
use dds_core::{Duration, Guid};
use dds_ros2_msgs::RosTypeEntry;
use dds_ros2_msgs::type_description_interfaces::msg::TypeDescription;
use dds_ros2_msgs::type_description_interfaces::srv::{GetTypeDescription, GetTypeDescriptionRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a node may take for the description of a type. Discovery of a slow server takes a second of it.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// How long an endpoint may take for its announced description.
const LOOKUP_LIMIT: Duration = Duration::from_millis(500);
/// The longest time until the next look, if the graph does not change.
const PAUSE: Duration = Duration::from_secs(1);
/// Most questions of one look. A peer may announce any number of endpoints.
const ASKED_MAX: usize = 16;
/// The type id of `uint8` (`type_description_interfaces/msg/FieldType`), the same in each shape modulo 48.
const UINT8: u8 = 3;

/// A question to a node about a type. Endpoints that agree need one question.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    node: NodeName,
    type_name: String,
    type_hash: Option<String>,
}

/// A part of a look that gives no type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Question(Question),
    /// An endpoint without a node.
    Endpoint(Guid),
    /// The description that an endpoint announces.
    Announced,
}

/// Why the endpoints of a topic gave no type, for the error of a wait.
type Reasons = Arc<Mutex<BTreeMap<Subject, String>>>;

pub(super) fn message_type(node: &Node, topic: &str) -> Wait<'static, MessageType> {
    let (topic, reasons) = (topic.to_owned(), Reasons::default());
    let (clients, silent) = (BTreeMap::new(), BTreeSet::new());
    let search = Search { node: node.clone(), clients, silent, start: 0, reasons: Arc::clone(&reasons) };
    let name = topic.clone();
    let missing = move || {
        let reasons = reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let distinct: BTreeSet<&str> = reasons.values().map(String::as_str).collect();
        match distinct.is_empty() {
            true => format!("topic {name:?} has no endpoint"),
            false => {
                let reasons = distinct.into_iter().collect::<Vec<_>>().join("; ");
                format!("no endpoint of {name:?} described its type: {reasons}")
            }
        }
    };
    Wait::of_future(node.context().waits(), search.run(topic), missing)
}

struct Search {
    node: Node,
    /// Clients of the services that describe types, so that each look asks by the same ones.
    clients: BTreeMap<String, Client<GetTypeDescription>>,
    /// Nodes that did not answer in this look.
    silent: BTreeSet<NodeName>,
    /// The place of the next look's first question, so that a crowd of endpoints hides no other one.
    start: usize,
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
        let endpoints = endpoints_of(graph, topic);
        if let Some(own) = endpoints.iter().find_map(own_type) {
            return Some(own);
        }
        let questions = self.questions(&endpoints);
        self.prepare(&endpoints, &questions);
        // A node may take long, so the second source comes before further nodes.
        let (first, others) = questions.split_at(questions.len().min(1));
        if let Some(found) = self.ask_each(graph, first).await {
            return Some(found);
        }
        if !endpoints.is_empty() {
            match self.look_up(graph, topic).await {
                Ok(found) => return Some(found),
                Err(reason) => self.note(Subject::Announced, reason),
            }
        }
        self.ask_each(graph, others).await
    }

    /// Returns the questions of this look.
    fn questions(&mut self, endpoints: &[EndpointDetails]) -> Vec<Question> {
        let distinct: BTreeSet<Question> = endpoints.iter().filter_map(Question::of).collect();
        let start = self.start % distinct.len().max(1);
        self.start = start + ASKED_MAX;
        let count = distinct.len().min(ASKED_MAX);
        distinct.iter().cycle().skip(start).take(count).cloned().collect()
    }

    /// Forgets the earlier look, and gives each part of this one a reason until it has its own.
    fn prepare(&mut self, endpoints: &[EndpointDetails], questions: &[Question]) {
        self.silent.clear();
        self.clients.retain(|service, _| questions.iter().any(|question| question.service() == *service));
        let mut initial = BTreeMap::new();
        for question in questions {
            initial.insert(Subject::Question(question.clone()), format!("node {} has not answered", question.node));
        }
        for EndpointDetails { gid, .. } in endpoints.iter().filter(|found| found.node.is_none()).take(ASKED_MAX) {
            initial.insert(Subject::Endpoint(*gid), format!("endpoint {gid} belongs to no node"));
        }
        if !endpoints.is_empty() {
            initial.insert(Subject::Announced, "no endpoint announces a description".to_owned());
        }
        let mut reasons = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        for (subject, reason) in &mut initial {
            if let Some(earlier) = reasons.remove(subject) {
                *reason = earlier;
            }
        }
        *reasons = initial;
    }

    fn note(&self, subject: Subject, reason: String) {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner).insert(subject, reason);
    }

    async fn ask_each(&mut self, graph: &Graph, questions: &[Question]) -> Option<MessageType> {
        for question in questions {
            match self.ask(graph, question).await {
                Ok(found) => return Some(found),
                Err(reason) => self.note(Subject::Question(question.clone()), reason),
            }
        }
        None
    }

    /// Asks a node for a type. The error is the reason.
    async fn ask(&mut self, graph: &Graph, question: &Question) -> Result<MessageType, String> {
        let Question { node, type_name, type_hash } = question;
        let found = self.ask_node(graph, question).await?;
        if found.name() != type_name || type_hash.as_deref().is_some_and(|hash| hash != found.type_hash()) {
            let announced = type_hash.as_deref().unwrap_or("no hash");
            return Err(format!("node {node} announces {type_name} with {announced}, and described {found:?}"));
        }
        Ok(found)
    }

    async fn ask_node(&mut self, graph: &Graph, question: &Question) -> Result<MessageType, String> {
        let Question { node, type_name, type_hash } = question;
        let service = question.service();
        if !graph.services().contains_key(&service) {
            return Err(format!("node {node} has no service get_type_description"));
        }
        let refused = |error: Error| format!("node {node}: {error}");
        if self.silent.contains(node) {
            return Err(format!("node {node} has not answered"));
        }
        let client = match self.clients.get(&service) {
            Some(client) => client.clone(),
            None => {
                let client = self.node.client(&service).map_err(refused)?;
                self.clients.insert(service, client.clone());
                client
            }
        };
        let request = GetTypeDescriptionRequest {
            type_name: type_name.clone(),
            type_hash: type_hash.clone().unwrap_or_default(),
            include_type_sources: false,
        };
        let answer = client.call(request).within(ANSWER_LIMIT).await;
        if let Err(Error::Timeout { .. }) = answer {
            self.silent.insert(node.clone());
        }
        let response = answer.map_err(refused)?;
        if !response.successful {
            return Err(format!("node {node}: {}", response.failure_reason));
        }
        MessageType::from_description(&response.type_description).map_err(refused)
    }

    /// Returns the type that an endpoint announces (XTYPES 1.3, 7.6.3.3). The error is the reason.
    async fn look_up(&self, graph: &Graph, topic: &str) -> Result<MessageType, String> {
        let participant = self.node.context().participant();
        let name = topic_name("rt", topic, "");
        let Ok(ty) = participant.discover_type(&name).within(LOOKUP_LIMIT).await else {
            return Err("no endpoint announces a description".to_owned());
        };
        let found = MessageType::from_dynamic(&ty).map_err(|error| error.to_string())?;
        // After the wait, so that the endpoint with the description is among them.
        with_announced_hash(found, &endpoints_of(graph, topic))
    }
}

impl Question {
    fn of(endpoint: &EndpointDetails) -> Option<Self> {
        let EndpointDetails { node, type_name, type_hash, .. } = endpoint;
        Some(Self { node: node.clone()?, type_name: type_name.clone(), type_hash: type_hash.clone() })
    }

    fn service(&self) -> String {
        format!("{}/get_type_description", self.node)
    }
}

fn endpoints_of(graph: &Graph, topic: &str) -> Vec<EndpointDetails> {
    let mut endpoints = graph.publishers(topic);
    endpoints.extend(graph.subscriptions(topic));
    endpoints
}

/// Returns the type of an endpoint if this build has it. Humble announces no hash.
fn own_type(endpoint: &EndpointDetails) -> Option<MessageType> {
    let EndpointDetails { type_name, type_hash, .. } = endpoint;
    let own = RosTypeEntry::find(type_name)?;
    let is_same = type_hash.as_deref().is_none_or(|hash| hash == own.type_hash);
    // A type that is too large for dynamic data is so in every source, which then gives the reason.
    if is_same { MessageType::of_entry(own).ok() } else { None }
}

/// Returns the type that an endpoint announces with a hash that fits the endpoints. The error is the reason.
///
/// Fast DDS 3 describes `byte` as `uint8` and `wstring` as `string` (`TypeSupport_impl.cpp` of `rmw_fastrtps`). The
/// announced hash tells them apart. In a type with many such members, `uint8` may stay: both have the same bytes. The
/// announced hash then counts if all endpoints of the type agree, hence the one with the description.
fn with_announced_hash(found: MessageType, endpoints: &[EndpointDetails]) -> Result<MessageType, String> {
    let same = || endpoints.iter().filter(|endpoint| endpoint.type_name == found.name());
    let announced: BTreeSet<Option<&str>> = same().map(|endpoint| endpoint.type_hash.as_deref()).collect();
    if announced.contains(&Some(found.type_hash())) || announced.iter().all(Option::is_none) {
        return Ok(found);
    }
    let hashes = announced.iter().copied().flatten();
    if let Some(described) = variants::with_hash(found.description(), hashes) {
        return MessageType::from_description(&described).map_err(|error| error.to_string());
    }
    match announced.iter().next() {
        Some(Some(hash)) if announced.len() == 1 && has_uint8(found.description()) => {
            let hash = (*hash).to_owned();
            Ok(found.with_hash(hash))
        }
        _ => Err(format!("an endpoint describes {found:?}, whose hash no endpoint announces")),
    }
}

fn has_uint8(description: &TypeDescription) -> bool {
    let all = std::iter::once(&description.type_description).chain(&description.referenced_type_descriptions);
    all.flat_map(|ty| &ty.fields).any(|field| field.r#type.type_id % SHAPE_SIZE == UINT8)
}
