//! The six services of a node, and its messages on `/parameter_events`.

use super::callbacks::Callbacks;
use super::store::{Declared, NAMES_MAX, Store};
use super::value::ParameterValue;
use crate::context::Context;
use crate::graph::{FaultKind, LocalEndpoint, Registration, prefix_of};
use crate::message_time::stamp;
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::service::Service;
use crate::topic::user_data_of;
use crate::wait::Signal;
use crate::{Error, Result};
use dds_core::{DataWriter, Guid};
use dds_ros2_msgs::rcl_interfaces::msg::{ListParametersResult, Parameter, ParameterEvent, SetParametersResult};
use dds_ros2_msgs::rcl_interfaces::srv::{
    DescribeParameters, DescribeParametersResponse, GetParameterTypes, GetParameterTypesResponse, GetParameters,
    GetParametersResponse, ListParameters, ListParametersResponse, SetParameters, SetParametersAtomically,
    SetParametersAtomicallyResponse, SetParametersResponse,
};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The parameters of a node with their services.
pub(crate) struct ParameterServer {
    pub(crate) shared: Arc<Shared>,
    /// The services, which answer on threads of the context and of the node while they exist.
    _services: Vec<Box<dyn Any + Send + Sync>>,
    _registration: Registration,
}

/// The part that the services share.
pub(crate) struct Shared {
    node: String,
    pub(crate) context: Context,
    /// First values from arguments, files and code.
    overrides: BTreeMap<String, ParameterValue>,
    store: Mutex<Store>,
    /// Called after each change, without a lock.
    observer: OnceLock<Observer>,
    pub(crate) callbacks: Callbacks,
    pub(crate) changed: Arc<Signal>,
    events: DataWriter<ParameterEvent>,
    /// Locked after `store`, for a few lines.
    outgoing: Mutex<Outgoing>,
}

/// Events that are not written yet, in the order of the changes.
///
/// Without it, an older event could be written after a newer one. A lock during the write would block a listener that
/// changes a parameter. Bounded by the changes during one write, which does not block.
#[derive(Default)]
struct Outgoing {
    events: VecDeque<ParameterEvent>,
    /// A thread writes an event, and then the next ones.
    is_writing: bool,
}

/// Learns the name of each changed parameter. Calls of two threads may be in any order, so it reads the value itself.
type Observer = Box<dyn Fn(&str) + Send + Sync>;

/// A change of a parameter, for `/parameter_events`.
enum Kind {
    New,
    Changed,
}

impl ParameterServer {
    pub(crate) fn new(node: &Node, overrides: BTreeMap<String, ParameterValue>) -> Result<Self> {
        let context = node.context().clone();
        let topic = node.resolve_topic("/parameter_events")?;
        let events = context
            .participant()
            .writer_builder::<ParameterEvent>(&topic_name("rt", &topic, ""))
            .qos(QosProfile::PARAMETER_EVENTS.writer(user_data_of::<ParameterEvent>()))
            .build()?;
        node.types().add_message::<ParameterEvent>();
        let registration = node.register(vec![LocalEndpoint::of_writer(&events)])?;
        let shared = Arc::new(Shared {
            node: node.full_name(),
            context,
            overrides,
            store: Mutex::new(Store::default()),
            observer: OnceLock::new(),
            callbacks: Callbacks::default(),
            changed: Arc::default(),
            events,
            outgoing: Mutex::default(),
        });
        let qos = QosProfile::PARAMETERS;
        let name = |service: &str| node.resolve_service(&format!("~/{service}"));
        let own = || Arc::clone(&shared);
        let thread = shared.callbacks.thread();
        let parameters = own();
        let get = Service::<GetParameters>::in_background(node, name("get_parameters")?, qos, move |request| {
            GetParametersResponse { values: parameters.store().values(&request.names) }
        })?;
        let parameters = own();
        let types =
            Service::<GetParameterTypes>::in_background(node, name("get_parameter_types")?, qos, move |request| {
                GetParameterTypesResponse { types: parameters.store().kinds(&request.names) }
            })?;
        let parameters = own();
        let each = name("set_parameters")?;
        let set = Service::<SetParameters>::with_callbacks(node, each, qos, thread, move |client, request| {
            parameters.note_malformed(client, &request.parameters);
            let count = request.parameters.len();
            if let Err(refused) = check_count(count) {
                return SetParametersResponse { results: vec![result_of(Err(refused)); count] };
            }
            let each = request.parameters.into_iter().map(|parameter| result_of(parameters.set(vec![parameter])));
            SetParametersResponse { results: each.collect() }
        })?;
        let parameters = own();
        let all = name("set_parameters_atomically")?;
        let atomically =
            Service::<SetParametersAtomically>::with_callbacks(node, all, qos, thread, move |client, request| {
                parameters.note_malformed(client, &request.parameters);
                let checked = check_count(request.parameters.len());
                let result = checked.and_then(|()| parameters.set(request.parameters));
                SetParametersAtomicallyResponse { result: result_of(result) }
            })?;
        let parameters = own();
        let list = Service::<ListParameters>::in_background(node, name("list_parameters")?, qos, move |request| {
            let (names, prefixes) = parameters.store().list(&request.prefixes, request.depth);
            ListParametersResponse { result: ListParametersResult { names, prefixes } }
        })?;
        let parameters = own();
        let texts = name("describe_parameters")?;
        let describe = Service::<DescribeParameters>::in_background(node, texts, qos, move |request| {
            DescribeParametersResponse { descriptors: parameters.store().descriptions(&request.names) }
        })?;
        let services: Vec<Box<dyn Any + Send + Sync>> = vec![
            Box::new(get),
            Box::new(types),
            Box::new(set),
            Box::new(atomically),
            Box::new(list),
            Box::new(describe),
        ];
        Ok(Self { shared, _services: services, _registration: registration })
    }
}

impl Shared {
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares a parameter without limits, unless the program has.
    pub(crate) fn declare_default(&self, name: &str, value: impl Into<ParameterValue>) -> Result<()> {
        self.declare(name, Declared { value: value.into(), ..Declared::default() })
    }

    /// Calls `observer` after each later change. The only call for these parameters.
    pub(crate) fn observe(&self, observer: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.observer.set(Box::new(observer));
    }

    pub(crate) fn declare(&self, name: &str, declared: Declared) -> Result<()> {
        if !self.insert(name, declared)? {
            return Err(Error::Parameter { reason: format!("parameter {name:?} is already declared") });
        }
        self.publish()
    }

    /// Declares a parameter unless the node has it, and returns its value.
    pub(crate) fn declare_or_get(&self, name: &str, declared: Declared) -> Result<ParameterValue> {
        if self.insert(name, declared)? {
            self.publish()?;
        }
        Ok(self.store().get(name))
    }

    /// Adds a parameter with its first value. Returns false if the node has it already.
    fn insert(&self, name: &str, mut declared: Declared) -> Result<bool> {
        if let Some(value) = self.overrides.get(name) {
            let value = value.for_declaration(&declared.value);
            declared.check(name, &value).map_err(|reason| Error::Parameter { reason })?;
            declared.value = value;
        }
        let value = declared.value.clone();
        let mut store = self.store();
        if store.declared.contains_key(name) {
            return Ok(false);
        }
        declared.check(name, &value).map_err(|reason| Error::Parameter { reason })?;
        store.declared.insert(name.to_owned(), declared);
        self.add_event(Kind::New, vec![Parameter { name: name.to_owned(), value: value.to_message() }]);
        Ok(true)
    }

    /// Counts a request of a client with a malformed parameter. The node then refuses the value.
    fn note_malformed(&self, client: Guid, parameters: &[Parameter]) {
        let problem = |parameter: &Parameter| match parameter.value.r#type {
            _ if parameter.name.is_empty() => Some("a parameter has no name".to_owned()),
            ParameterValue::KINDS.. => {
                Some(format!("parameter {:?} has the unknown type {}", parameter.name, parameter.value.r#type))
            }
            _ => None,
        };
        // One for each request, so that a request of many counts as one.
        if let Some(reason) = parameters.iter().find_map(problem) {
            self.context.inner.graph.faults().note(
                prefix_of(client),
                FaultKind::Parameter,
                format_args!("node {}: {reason}", self.node),
            );
        }
    }

    /// Sets all values, or none of them.
    pub(crate) fn set(&self, parameters: Vec<Parameter>) -> Result<()> {
        let values: Vec<(String, ParameterValue)> = parameters
            .into_iter()
            .map(|parameter| (parameter.name, ParameterValue::of_message(parameter.value)))
            .collect();
        let refused = |reason| Error::Parameter { reason };
        // First without the callbacks, which see only values that the declarations allow.
        self.store().check_all(&values).map_err(refused)?;
        self.callbacks.check(&values).map_err(refused)?;
        let changed = {
            let mut store = self.store();
            store.check_all(&values).map_err(refused)?;
            let mut changed = values;
            changed.retain(|(name, value)| store.set(name, value.clone()));
            if changed.is_empty() {
                return Ok(());
            }
            let message =
                |(name, value): &(String, ParameterValue)| Parameter { name: name.clone(), value: value.to_message() };
            self.add_event(Kind::Changed, changed.iter().map(message).collect());
            changed
        };
        let published = self.publish();
        if let Some(observer) = self.observer.get() {
            for (name, _) in &changed {
                observer(name);
            }
        }
        self.callbacks.tell(&changed);
        published
    }

    fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the event of a change, while the store is locked.
    fn add_event(&self, kind: Kind, parameters: Vec<Parameter>) {
        let mut event =
            ParameterEvent { stamp: stamp(self.context.now()), node: self.node.clone(), ..ParameterEvent::default() };
        match kind {
            Kind::New => event.new_parameters = parameters,
            Kind::Changed => event.changed_parameters = parameters,
        }
        self.outgoing().events.push_back(event);
    }

    /// Writes the events, unless another thread does.
    fn publish(&self) -> Result<()> {
        self.changed.notify();
        let mut written = Ok(());
        loop {
            // The lock ends with this line: a listener of the event may change a parameter.
            let next = self.outgoing().begin();
            let Some(event) = next else { return Ok(written?) };
            written = written.and(self.events.write(&event));
            self.outgoing().is_writing = false;
        }
    }
}

impl Outgoing {
    /// Takes the next event to write, unless another thread writes one.
    fn begin(&mut self) -> Option<ParameterEvent> {
        if self.is_writing {
            return None;
        }
        let event = self.events.pop_front()?;
        self.is_writing = true;
        Some(event)
    }
}

/// Refuses a request of a peer that changes too many parameters.
fn check_count(count: usize) -> Result<()> {
    if count <= NAMES_MAX {
        return Ok(());
    }
    Err(Error::Parameter { reason: format!("a request may change at most {NAMES_MAX} parameters") })
}

fn result_of(result: Result<()>) -> SetParametersResult {
    match result {
        Ok(()) => SetParametersResult { successful: true, reason: String::new() },
        Err(error) => SetParametersResult { successful: false, reason: error.to_string() },
    }
}

impl fmt::Debug for ParameterServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParameterServer").field("node", &self.shared.node).finish_non_exhaustive()
    }
}
