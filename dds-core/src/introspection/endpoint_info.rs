//! Information about a local or remote writer or reader.

use crate::qos::{DataReaderQos, DataWriterQos, Presentation};
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::discovery::{Discovered, DiscoveredReader, DiscoveredWriter};
use dds_rtps::participant::Participant;
use dds_rtps::types::{EntityId, Guid, InstanceHandle, Locator, VendorId};
use std::fmt;

/// A local or remote writer or reader: its announced properties and its locators.
///
/// It is a copy of the present state. Later changes of the endpoint do not appear in it.
///
/// ```
/// # use dds_core::{DdsType, DomainParticipant, Entity, Scope};
/// # #[derive(DdsType)]
/// # struct Pose { x: f64 }
/// # fn main() -> dds_core::Result<()> {
/// # let tag = format!("endpoint-info-{}", std::process::id());
/// let builder = DomainParticipant::builder(0).scope(Scope::Host).name("planner");
/// # let builder = builder.domain_tag(tag);
/// let participant = builder.build()?;
/// let reader = participant.reader::<Pose>("pose")?;
/// let writer = participant.writer::<Pose>("pose")?;
/// let [found] = &reader.matched_publications()[..] else { panic!("no other writer is here") };
/// assert_eq!((found.guid, found.topic_name.as_str()), (writer.guid(), "pose"));
/// assert_eq!(found.qos.writer().map(|qos| qos.reliability), Some(writer.qos().reliability));
/// assert_eq!(found.participant_name, "planner");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointInfo {
    /// The GUID of the endpoint.
    pub guid: Guid,
    /// The name of its topic.
    pub topic_name: String,
    /// The name of its type.
    pub type_name: String,
    /// Its QoS, which also distinguishes writers from readers.
    pub qos: EndpointQos,
    /// The PRESENTATION of its publisher or subscriber.
    pub presentation: Presentation,
    /// The partitions of its publisher or subscriber. Empty means the partition with the empty name.
    pub partition: Vec<String>,
    /// TOPIC_DATA of its topic.
    pub topic_data: Vec<u8>,
    /// GROUP_DATA of its publisher or subscriber.
    pub group_data: Vec<u8>,
    /// The name of its participant. Empty if the participant has no name or is no longer known.
    pub participant_name: String,
    /// The vendor of its participant.
    pub vendor: VendorId,
    /// The locators that this participant sends to.
    ///
    /// Empty for an endpoint of this participant, and for an endpoint that cannot be reached.
    pub locators: Vec<Locator>,
    /// Whether the endpoint belongs to this participant.
    pub is_own: bool,
}

/// The QoS of an [`EndpointInfo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointQos {
    /// The QoS that a writer offers.
    Writer(DataWriterQos),
    /// The QoS that a reader requests.
    Reader(DataReaderQos),
}

impl EndpointQos {
    /// Returns the QoS of a writer, or `None` for a reader.
    #[must_use]
    pub fn writer(&self) -> Option<&DataWriterQos> {
        match self {
            Self::Writer(qos) => Some(qos),
            Self::Reader(_) => None,
        }
    }

    /// Returns the QoS of a reader, or `None` for a writer.
    #[must_use]
    pub fn reader(&self) -> Option<&DataReaderQos> {
        match self {
            Self::Reader(qos) => Some(qos),
            Self::Writer(_) => None,
        }
    }

    /// Returns USER_DATA of the endpoint.
    #[must_use]
    pub fn user_data(&self) -> &[u8] {
        match self {
            Self::Writer(qos) => &qos.user_data,
            Self::Reader(qos) => &qos.user_data,
        }
    }
}

impl EndpointInfo {
    /// Returns the GUID of its participant.
    #[must_use]
    pub fn participant(&self) -> Guid {
        Guid::new(self.guid.prefix, EntityId::PARTICIPANT)
    }

    /// Returns the handle of the endpoint, as in statuses and for `ignore_publication`.
    #[must_use]
    pub fn instance_handle(&self) -> InstanceHandle {
        InstanceHandle::from(self.guid)
    }

    /// Returns whether the endpoint is a writer, not a reader.
    #[must_use]
    pub fn is_writer(&self) -> bool {
        matches!(self.qos, EndpointQos::Writer(_))
    }

    /// Describes a discovered writer.
    pub(crate) fn of_writer(writer: &DiscoveredWriter, rtps: &Participant) -> Self {
        Self::new(writer, &writer.data.endpoint, rtps, EndpointQos::Writer(writer.data.qos.clone()))
    }

    /// Describes a discovered reader.
    pub(crate) fn of_reader(reader: &DiscoveredReader, rtps: &Participant) -> Self {
        Self::new(reader, &reader.data.endpoint, rtps, EndpointQos::Reader(reader.data.qos.clone()))
    }

    fn new<T>(found: &Discovered<T>, endpoint: &EndpointData, rtps: &Participant, qos: EndpointQos) -> Self {
        // A copy, because the caller keeps it outside of the cell.
        let endpoint = endpoint.clone();
        // Discovery does not list the local participant, so its name comes from the configuration.
        let participant_name = match rtps.participant(endpoint.guid.prefix) {
            Some(participant) => participant.entity_name.clone(),
            None if found.is_local => rtps.config().entity_name.clone(),
            None => String::new(),
        };
        Self {
            guid: endpoint.guid,
            topic_name: endpoint.topic_name,
            type_name: endpoint.type_name,
            qos,
            presentation: endpoint.presentation,
            partition: endpoint.partition,
            topic_data: endpoint.topic_data,
            group_data: endpoint.group_data,
            participant_name,
            vendor: found.vendor,
            locators: found.route.unicast.iter().chain(&found.route.multicast).copied().collect(),
            is_own: found.is_local,
        }
    }
}

/// Kind, GUID and participant: `writer 01dd….00000102 of "planner" (dds-core)`.
impl fmt::Display for EndpointInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_writer() { "writer" } else { "reader" };
        write!(f, "{kind} {}", self.guid)?;
        if !self.participant_name.is_empty() {
            write!(f, " of \"{}\"", self.participant_name)?;
        }
        match self.vendor.name() {
            Some(name) => write!(f, " ({name})"),
            None => write!(f, " (vendor {:?})", self.vendor),
        }
    }
}
