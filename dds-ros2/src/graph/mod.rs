//! The graph of ROS 2: nodes, topics and services of all participants.
//!
//! Input: the built-in topics of discovery, and the topic `ros_discovery_info`. Output: queries, announcements of own
//! nodes. Owns the lists of the own nodes and the data about remote ones.

mod discovery_info;
mod query;
mod state;

pub use query::{EndpointDetails, Graph, NodeEntities, NodeName};

use crate::context::Distro;
use crate::user_data;
use crate::wait::{Signal, Waits};
use crate::{Error, Result};
use dds_cdr::cdr::Encoded;
use dds_core::builtin::{
    BuiltinTopic, ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData,
};
use dds_core::cdr::{DecodeOwned, Keyed};
use dds_core::matching::EndpointQos;
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos};
use dds_core::{DataReader, DataWriter, DomainParticipant, Guid, InstanceState};
use dds_ros2_msgs::RosMessage;
use dds_ros2_msgs::rmw_dds_common::msg::ParticipantEntitiesInfo;
use discovery_info::NodeRecord;
use state::{EndpointRecord, Remote, RemoteParticipant};
pub(crate) use state::{Prefix, prefix_of};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    writer: DataWriter<ParticipantEntitiesInfo>,
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
    remote: Mutex<Remote>,
    changed: Arc<Signal>,
}

impl GraphCore {
    /// Creates the endpoints of `ros_discovery_info`, and starts to listen.
    pub(crate) fn new(waits: &Waits, enclave: &str, distro: Distro) -> Result<Arc<Self>> {
        let hash = user_data::entry("typehash", ParticipantEntitiesInfo::TYPE_HASH).into_bytes();
        let xcdr1 = vec![DataRepresentation::Xcdr1];
        let offered = DataWriterQos::default().reliable().transient_local().keep_last(1);
        let writer = waits
            .participant
            .writer_builder::<ParticipantEntitiesInfo>(discovery_info::TOPIC)
            .qos(offered.representation(xcdr1.clone()).user_data(hash.clone()))
            .build()?;
        let own = prefix_of(waits.participant.guid());
        let found = Arc::new(Found { own, remote: Mutex::default(), changed: Arc::default() });
        let requested = DataReaderQos::default().reliable().transient_local().keep_all();
        let readers = found.listen(&waits.participant, requested.representation(xcdr1).user_data(hash))?;
        Ok(Arc::new(Self {
            waits: waits.clone(),
            enclave: enclave.to_owned(),
            distro,
            writer,
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
            let payload = discovery_info::encode(self.waits.participant.guid(), &nodes, self.distro == Distro::Humble)?;
            let encoded = Encoded::new(&payload)
                .map_err(|error| Error::Setting { setting: "ros_discovery_info", reason: error.to_string() })?;
            // KEEP_LAST: the call does not block.
            self.writer.write_encoded(encoded)
        };
        self.changed().notify();
        Ok(written?)
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
    fn listen(
        self: &Arc<Self>,
        participant: &DomainParticipant,
        requested: DataReaderQos,
    ) -> Result<Vec<Box<dyn Any + Send + Sync>>> {
        let found = Arc::clone(self);
        let participants = participant
            .reader_builder(&BuiltinTopic::PARTICIPANT)
            .on_data(move |reader| found.take_participants(reader))
            .build()?;
        let found = Arc::clone(self);
        let writers = participant
            .reader_builder(&BuiltinTopic::PUBLICATION)
            .on_data(move |reader| {
                found.take_endpoints(reader, |data: PublicationBuiltinTopicData| {
                    (data.key, EndpointRecord::new(data.topic_name, data.type_name, EndpointQos::Writer(data.qos)))
                });
            })
            .build()?;
        let found = Arc::clone(self);
        let readers = participant
            .reader_builder(&BuiltinTopic::SUBSCRIPTION)
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
                    self.remote().remove_participant(prefix_of(key));
                }
            } else if let Some(Ok(data)) = sample.decode() {
                let enclave = user_data::value_of(&data.user_data, "enclave");
                let participant = RemoteParticipant { enclave, vendor: data.vendor };
                self.remote().participants.insert(prefix_of(data.key), participant);
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
                self.remote().endpoints.insert(guid, data);
            }
        }
        self.changed.notify();
    }

    fn take_nodes(&self, reader: &DataReader<ParticipantEntitiesInfo>) {
        let Ok(samples) = reader.take() else { return };
        for sample in &samples {
            let Some(encoded) = sample.encoded() else { continue };
            let sender = prefix_of(sample.info().sample_identity().writer);
            if sender == self.own {
                continue;
            }
            match discovery_info::decode(encoded.bytes) {
                Ok((participant, nodes)) if prefix_of(participant) == sender => self.remote().set_nodes(sender, nodes),
                Ok(_) => self.remote().malformed += 1,
                Err(error) => {
                    tracing::debug!(%error, "a message of ros_discovery_info does not decode");
                    self.remote().malformed += 1;
                }
            }
        }
        self.changed.notify();
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
