//! The graph of ROS 2: nodes, topics and services of all participants.
//!
//! Input: the built-in topics of discovery, and the topic `ros_discovery_info`. Output: queries, announcements of own
//! nodes. Owns the lists of the own nodes and the data about remote ones.

mod discovery_info;
mod explain;
mod faults;
mod forms;
mod query;
mod state;

pub use explain::{ConnectionEnd, ConnectionProblem, ConnectionReport, EndpointRole, Explanation};
pub(crate) use faults::Faults;
pub use faults::{FaultKind, PeerFaults};
pub use query::{EndpointDetails, Graph, NodeEntities, NodeName};

use crate::context::{Distro, Task};
use crate::name::{NameKind, check_namespace, check_node, is_malformed_topic};
use crate::user_data;
use crate::wait::{Signal, Waits};
use crate::{Error, Result};
use dds_cdr::cdr::Encoded;
use dds_core::builtin::{
    BuiltinTopic, ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, VendorId,
};
use dds_core::cdr::{DecodeOwned, Keyed};
use dds_core::listener::Delivery;
use dds_core::matching::EndpointQos;
use dds_core::qos::{DataReaderQos, DataRepresentation};
use dds_core::{DataReader, DataWriter, DomainParticipant, Guid, InstanceState};
use dds_ros2_msgs::rmw_dds_common::msg::ParticipantEntitiesInfo;
use discovery_info::NodeRecord;
use state::{EndpointRecord, Remote, RemoteParticipant};
pub(crate) use state::{Prefix, prefix_of};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of a node of this context.
pub(crate) type NodeId = u64;

/// The own nodes and endpoints.
#[derive(Debug, Default)]
struct Local {
    next: NodeId,
    /// In the order of creation.
    nodes: BTreeMap<NodeId, NodeRecord>,
    endpoints: BTreeMap<Guid, EndpointRecord>,
}

/// The graph of a context. Entities share it.
pub(crate) struct GraphCore {
    waits: Waits,
    enclave: String,
    distro: Distro,
    /// Vendors whose servers have a header, besides `rmw_cyclonedds`.
    pub(crate) header_vendors: Vec<VendorId>,
    /// For peers whose form is that of `distro`, or is not known.
    writer: DataWriter<ParticipantEntitiesInfo>,
    /// For peers of the other form. Empty until the first of them.
    other: OnceLock<DataWriter<ParticipantEntitiesInfo>>,
    /// Locked while the message is written, so that messages leave in order.
    local: Mutex<Local>,
    found: Arc<Found>,
    /// Keeps the readers alive, whose listeners fill `found`.
    _readers: Vec<Box<dyn Any + Send + Sync>>,
}

/// The part that listeners reach. It holds no entity, so that no listener ends a participant.
struct Found {
    /// The own participant.
    own: Prefix,
    /// The form of the own announcements for peers whose form is not known.
    distro: Distro,
    remote: Mutex<Remote>,
    faults: Arc<Faults>,
    changed: Arc<Signal>,
    /// Serves peers of the other form.
    forms: OnceLock<Arc<Task>>,
}

impl GraphCore {
    /// Creates the endpoints of `ros_discovery_info`, and starts to listen.
    pub(crate) fn new(
        waits: &Waits,
        enclave: &str,
        distro: Distro,
        header_vendors: Vec<VendorId>,
    ) -> Result<Arc<Self>> {
        let writer = discovery_info::writer(&waits.participant)?;
        let own = prefix_of(waits.participant.guid());
        let (faults, changed) = (Arc::default(), Arc::default());
        let found = Found { own, distro, remote: Mutex::default(), faults, changed, forms: OnceLock::new() };
        let found = Arc::new(found);
        let requested = DataReaderQos::default().reliable().transient_local().keep_all();
        let requested = requested.representation(vec![DataRepresentation::Xcdr1]);
        let readers = found.listen(&waits.participant, requested.user_data(discovery_info::user_data()))?;
        Ok(Arc::new(Self {
            waits: waits.clone(),
            enclave: enclave.to_owned(),
            distro,
            header_vendors,
            writer,
            other: OnceLock::new(),
            local: Mutex::new(Local::default()),
            found,
            _readers: readers,
        }))
    }

    fn local(&self) -> MutexGuard<'_, Local> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remote(&self) -> MutexGuard<'_, Remote> {
        self.found.remote()
    }

    /// What peers sent that is malformed.
    pub(crate) fn faults(&self) -> &Arc<Faults> {
        &self.found.faults
    }

    /// Notified after each change of the graph.
    pub(crate) fn changed(&self) -> &Arc<Signal> {
        &self.found.changed
    }

    /// Changes the own nodes and endpoints, and announces the nodes.
    fn change_local(&self, change: impl FnOnce(&mut Local)) -> Result<()> {
        let written = {
            let mut local = self.local();
            change(&mut local);
            let nodes: Vec<NodeRecord> = local.nodes.values().cloned().collect();
            let written = self.write_nodes(&self.writer, &nodes, self.distro);
            match self.other.get() {
                Some(writer) => written.and(self.write_nodes(writer, &nodes, self.distro.other())),
                None => written,
            }
        };
        self.changed().notify();
        written
    }

    fn write_nodes(
        &self,
        writer: &DataWriter<ParticipantEntitiesInfo>,
        nodes: &[NodeRecord],
        distro: Distro,
    ) -> Result<()> {
        let payload = discovery_info::encode(self.waits.participant.guid(), nodes, distro == Distro::Humble)?;
        let encoded = Encoded::new(&payload)
            .map_err(|error| Error::Setting { setting: "ros_discovery_info", reason: error.to_string() })?;
        // KEEP_LAST: the call does not block.
        Ok(writer.write_encoded(encoded)?)
    }

    /// Adds a node with its first endpoints.
    pub(crate) fn add_node(&self, namespace: &str, name: &str) -> Result<NodeId> {
        let mut id = 0;
        self.change_local(|local| {
            local.next += 1;
            id = local.next;
            let record = NodeRecord { namespace: namespace.to_owned(), name: name.to_owned(), ..NodeRecord::default() };
            local.nodes.insert(id, record);
        })?;
        Ok(id)
    }

    pub(crate) fn remove_node(&self, id: NodeId) {
        self.log_failure(self.change_local(|local| {
            local.nodes.remove(&id);
        }));
    }

    /// Adds endpoints to a node. They leave when the registration is dropped.
    pub(crate) fn register(self: &Arc<Self>, node: NodeId, endpoints: Vec<LocalEndpoint>) -> Result<Registration> {
        let guids = endpoints.iter().map(|endpoint| endpoint.guid).collect();
        let registration = Registration { graph: Arc::clone(self), node, guids };
        self.change_local(|local| {
            for endpoint in endpoints {
                let is_writer = matches!(endpoint.record.qos, EndpointQos::Writer(_));
                if let Some(record) = local.nodes.get_mut(&node) {
                    let list = if is_writer { &mut record.writers } else { &mut record.readers };
                    list.push(endpoint.guid);
                }
                local.endpoints.insert(endpoint.guid, endpoint.record);
            }
        })?;
        Ok(registration)
    }

    /// Logs an announcement that failed. The next one has all nodes again.
    fn log_failure(&self, result: Result<()>) {
        if let Err(error) = result {
            if !self.writer.is_closed() {
                tracing::warn!("the nodes were not announced: {error}");
            }
        }
    }
}

impl Found {
    /// Creates the readers. Their listeners are inline, because callbacks of the program may block the event thread.
    /// These may wait for the graph.
    fn listen(
        self: &Arc<Self>,
        participant: &DomainParticipant,
        requested: DataReaderQos,
    ) -> Result<Vec<Box<dyn Any + Send + Sync>>> {
        let found = Arc::clone(self);
        let participants = participant
            .reader_builder(&BuiltinTopic::PARTICIPANT)
            .delivery(Delivery::Inline)
            .on_data(move |reader| found.take_participants(reader))
            .build()?;
        let found = Arc::clone(self);
        let writers = participant
            .reader_builder(&BuiltinTopic::PUBLICATION)
            .delivery(Delivery::Inline)
            .on_data(move |reader| {
                found.take_endpoints(reader, |data: PublicationBuiltinTopicData| {
                    (data.key, EndpointRecord::new(data.topic_name, data.type_name, EndpointQos::Writer(data.qos)))
                });
            })
            .build()?;
        let found = Arc::clone(self);
        let readers = participant
            .reader_builder(&BuiltinTopic::SUBSCRIPTION)
            .delivery(Delivery::Inline)
            .on_data(move |reader| {
                found.take_endpoints(reader, |data: SubscriptionBuiltinTopicData| {
                    (data.key, EndpointRecord::new(data.topic_name, data.type_name, EndpointQos::Reader(data.qos)))
                });
            })
            .build()?;
        let found = Arc::clone(self);
        let nodes = participant
            .reader_builder::<ParticipantEntitiesInfo>(discovery_info::TOPIC)
            .qos(requested)
            .delivery(Delivery::Inline)
            .on_data(move |reader| found.take_nodes(reader))
            .build()?;
        Ok(vec![Box::new(participants), Box::new(writers), Box::new(readers), Box::new(nodes)])
    }

    fn remote(&self) -> MutexGuard<'_, Remote> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_participants(&self, reader: &DataReader<ParticipantBuiltinTopicData>) {
        // The only error means that the reader is closed.
        let Ok(samples) = reader.take() else { return };
        for sample in &samples {
            if sample.info().instance_state != InstanceState::Alive {
                if let Some(key) = sample.key() {
                    let distro = self.remote().remove_participant(prefix_of(key));
                    self.wake_for_form(distro);
                    self.faults.forget(prefix_of(key));
                }
            } else if let Some(Ok(data)) = sample.decode() {
                let enclave = user_data::value_of(&data.user_data, "enclave");
                let participant = RemoteParticipant::new(enclave, data.vendor, &data.product_version);
                self.remote().participants.insert(prefix_of(data.key), participant);
                let distro = self.remote().form(prefix_of(data.key));
                self.wake_for_form(distro);
            }
        }
        self.changed.notify();
    }

    /// Takes announced and withdrawn endpoints. `record` returns the GUID and the data of an endpoint.
    fn take_endpoints<T>(&self, reader: &DataReader<T>, record: impl Fn(T) -> (Guid, EndpointRecord))
    where
        T: DecodeOwned + Keyed<Key = Guid>,
    {
        let Ok(samples) = reader.take() else { return };
        for sample in &samples {
            if sample.info().instance_state != InstanceState::Alive {
                if let Some(key) = sample.key() {
                    self.remote().endpoints.remove(&key);
                }
            } else if let Some(Ok(data)) = sample.decode() {
                let (guid, data) = record(data);
                for key in [user_data::TYPE_HASH, user_data::SERVICE_HASH] {
                    if let Err(hash) = user_data::hash(data.qos.user_data(), key) {
                        self.faults.note(prefix_of(guid), FaultKind::TypeHash, format_args!("{hash:?}"));
                    }
                }
                if is_malformed_topic(&data.topic_name) {
                    self.faults.note(prefix_of(guid), FaultKind::Name, format_args!("topic {:?}", data.topic_name));
                }
                self.remote().endpoints.insert(guid, data);
            }
        }
        self.changed.notify();
    }

    fn take_nodes(&self, reader: &DataReader<ParticipantEntitiesInfo>) {
        let Ok(samples) = reader.take() else { return };
        let mut is_changed = false;
        for sample in &samples {
            let Some(encoded) = sample.encoded() else { continue };
            let sender = prefix_of(sample.info().sample_identity().writer);
            // The own nodes are locked while their message is written.
            if sender == self.own {
                continue;
            }
            is_changed = true;
            if let Err(reason) = self.take_announcement(sender, encoded.bytes) {
                self.faults.note(sender, FaultKind::Announcement, reason);
            }
        }
        if is_changed {
            self.changed.notify();
        }
    }

    /// Takes the nodes of a participant. The error is why the message does not count.
    fn take_announcement(&self, sender: Prefix, payload: &[u8]) -> Result<(), String> {
        if payload.len() > discovery_info::LEN_MAX {
            return Err(format!("the message has {} bytes, more than {}", payload.len(), discovery_info::LEN_MAX));
        }
        let found = discovery_info::decode(payload).map_err(|error| error.to_string())?;
        if prefix_of(found.participant) != sender {
            return Err(format!("it speaks of participant {}", found.participant));
        }
        let distro = if found.is_humble { Distro::Humble } else { Distro::Jazzy };
        let nodes = found.nodes.into_iter().filter_map(|node| self.checked(sender, node)).collect();
        let former = self.remote().set_nodes(sender, nodes, distro);
        if former != Some(distro) {
            self.wake_for_form(former);
            self.wake_for_form(Some(distro));
        }
        Ok(())
    }

    /// Wakes the task for peers of the other form, if a peer of it came or left.
    fn wake_for_form(&self, distro: Option<Distro>) {
        if let (Some(task), true) = (self.forms.get(), distro == Some(self.distro.other())) {
            task.wake();
        }
    }

    /// Returns a node with its own endpoints, or `None` if its name is malformed.
    fn checked(&self, sender: Prefix, mut node: NodeRecord) -> Option<NodeRecord> {
        // An empty namespace is that of the root.
        let is_root = node.namespace.is_empty();
        let namespace = if is_root { Ok(()) } else { check_namespace(&node.namespace, NameKind::Namespace) };
        if let Err(error) = check_node(&node.name).and(namespace) {
            self.faults.note(sender, FaultKind::Name, error);
            return None;
        }
        let before = node.readers.len() + node.writers.len();
        node.readers.retain(|guid| prefix_of(*guid) == sender);
        node.writers.retain(|guid| prefix_of(*guid) == sender);
        if node.readers.len() + node.writers.len() < before {
            self.faults.note(sender, FaultKind::Announcement, "a node lists endpoints of another participant");
        }
        Some(node)
    }
}

impl fmt::Debug for GraphCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphCore").field("enclave", &self.enclave).finish_non_exhaustive()
    }
}

/// An endpoint of a node of this context.
#[derive(Debug)]
pub(crate) struct LocalEndpoint {
    guid: Guid,
    record: EndpointRecord,
}

impl LocalEndpoint {
    pub(crate) fn of_writer<T>(writer: &DataWriter<T>) -> Self {
        let (topic, ty) = (writer.topic_name().to_owned(), writer.type_name().to_owned());
        Self { guid: writer.guid(), record: EndpointRecord::new(topic, ty, EndpointQos::Writer(writer.qos())) }
    }

    pub(crate) fn of_reader<T>(reader: &DataReader<T>) -> Self {
        let (topic, ty) = (reader.topic_name().to_owned(), reader.type_name().to_owned());
        Self { guid: reader.guid(), record: EndpointRecord::new(topic, ty, EndpointQos::Reader(reader.qos())) }
    }
}

/// Endpoints in the graph, until this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    graph: Arc<GraphCore>,
    node: NodeId,
    guids: Vec<Guid>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let result = self.graph.change_local(|local| {
            if let Some(record) = local.nodes.get_mut(&self.node) {
                record.readers.retain(|guid| !self.guids.contains(guid));
                record.writers.retain(|guid| !self.guids.contains(guid));
            }
            for guid in &self.guids {
                local.endpoints.remove(guid);
            }
        });
        self.graph.log_failure(result);
    }
}
