//! The types of the built-in topics (DDS 1.4, 2.2.5): data of discovery, as samples.
//!
//! Their samples have the encoding of the announcements on the wire, which are parameter lists. So a reader of a
//! built-in topic keeps bytes, as any reader does, and decodes them on demand.

use crate::driver::VERSION_PROPERTY;
use crate::qos::{DataReaderQos, DataWriterQos, Presentation, TopicQos};
use crate::settings::DURABILITY_SERVICE;
use dds_rtps::cdr::{
    Decode, DecodeError, DecodeErrorKind, DecodeOwned, Decoder, Encode, EncodeError, Encoded, Encoder, Encoding,
    Extensibility, Keyed, MemberDescription, TypeDescription, TypeInfo, key_hash_of,
};
use dds_rtps::discovery::data::{EndpointData, ParticipantData, PublicationData, SubscriptionData, guid_of_key};
use dds_rtps::types::{Duration, EntityId, Guid, InstanceHandle, Locator, VendorId};

/// Data of a remote participant: a sample of [`BuiltinTopic::PARTICIPANT`](crate::builtin::BuiltinTopic::PARTICIPANT).
///
/// `key` and `user_data` are of DDS 1.4 (2.2.5), the other fields of RTPS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParticipantBuiltinTopicData {
    /// The participant.
    pub key: Guid,
    /// USER_DATA of its application.
    pub user_data: Vec<u8>,
    /// Name for people, such as that of the program.
    pub name: String,
    /// Vendor of its implementation.
    pub vendor: VendorId,
    /// Version of its implementation, if it announces one. Participants of this crate and of Cyclone DDS do.
    pub product_version: String,
    /// RTPS version of its messages: major and minor.
    pub protocol_version: (u8, u8),
    /// Silence after which peers remove it.
    pub lease: Duration,
    /// Locators of its endpoints that announce none of their own.
    pub locators: Vec<Locator>,
    /// Locators of its discovery.
    pub discovery_locators: Vec<Locator>,
    /// Names and values for information only.
    pub properties: Vec<(String, String)>,
}

impl ParticipantBuiltinTopicData {
    /// Returns whether the participant announces that it is a durability service.
    ///
    /// Its name does not matter. A service of another vendor announces it differently, so the result is `false`.
    #[must_use]
    pub fn is_durability_service(&self) -> bool {
        self.properties.iter().any(|(name, _)| name == DURABILITY_SERVICE)
    }
}

/// A topic of remote endpoints: a sample of [`BuiltinTopic::TOPIC`](crate::builtin::BuiltinTopic::TOPIC).
///
/// RTPS does not announce topics, so these are the data of the first discovered endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicBuiltinTopicData {
    /// Key of the topic. Equal names and types have equal keys in every participant.
    ///
    /// [`ignore_topic`](crate::DomainParticipant::ignore_topic) takes it.
    pub key: InstanceHandle,
    /// The topic's name.
    pub name: String,
    /// Its type, by name.
    pub type_name: String,
    /// The policies of that endpoint that a topic has as well.
    pub qos: TopicQos,
}

macro_rules! endpoint_data {
    ($(#[$doc:meta])* $name:ident { $qos:ident }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            /// The endpoint.
            pub key: Guid,
            /// The participant that it belongs to.
            pub participant_key: Guid,
            /// Its topic.
            pub topic_name: String,
            /// Its type, by name.
            pub type_name: String,
            /// Its policies.
            pub qos: $qos,
            /// The PRESENTATION of its publisher or subscriber.
            pub presentation: Presentation,
            /// The partitions of its publisher or subscriber. Empty: the one partition with the empty name.
            pub partition: Vec<String>,
            /// Octets of its topic.
            pub topic_data: Vec<u8>,
            /// Octets of its publisher or subscriber.
            pub group_data: Vec<u8>,
            /// Its locators. Empty means those of its participant.
            pub locators: Vec<Locator>,
        }

        impl $name {
            pub(crate) fn new(endpoint: EndpointData, qos: $qos) -> Self {
                let mut locators = endpoint.unicast_locators;
                // One list: an application has no use for the difference.
                locators.extend(endpoint.multicast_locators);
                Self {
                    key: endpoint.guid,
                    participant_key: Guid::new(endpoint.guid.prefix, EntityId::PARTICIPANT),
                    topic_name: endpoint.topic_name,
                    type_name: endpoint.type_name,
                    qos,
                    presentation: endpoint.presentation,
                    partition: endpoint.partition,
                    topic_data: endpoint.topic_data,
                    group_data: endpoint.group_data,
                    locators,
                }
            }
        }
    };
}

endpoint_data! {
    /// A writer of another participant: a sample of
    /// [`BuiltinTopic::PUBLICATION`](crate::builtin::BuiltinTopic::PUBLICATION).
    PublicationBuiltinTopicData { DataWriterQos }
}
endpoint_data! {
    /// A reader of another participant: a sample of
    /// [`BuiltinTopic::SUBSCRIPTION`](crate::builtin::BuiltinTopic::SUBSCRIPTION).
    SubscriptionBuiltinTopicData { DataReaderQos }
}

impl From<&ParticipantData> for ParticipantBuiltinTopicData {
    fn from(data: &ParticipantData) -> Self {
        Self {
            key: Guid::new(data.prefix, EntityId::PARTICIPANT),
            user_data: data.user_data.clone(),
            name: data.entity_name.clone(),
            vendor: data.vendor,
            product_version: product_version(data),
            protocol_version: (data.protocol_version.major, data.protocol_version.minor),
            lease: data.lease_duration,
            locators: [&data.default_unicast[..], &data.default_multicast[..]].concat(),
            discovery_locators: [&data.metatraffic_unicast[..], &data.metatraffic_multicast[..]].concat(),
            properties: data.properties.clone(),
        }
    }
}

/// Cyclone DDS announces its version in a parameter, and this crate in a property.
fn product_version(data: &ParticipantData) -> String {
    let property = data.properties.iter().find(|(name, _)| name == VERSION_PROPERTY);
    match property {
        // Other vendors may give the property another meaning.
        Some((_, version)) if data.vendor == VendorId::OURS => version.clone(),
        _ => data.product_version.clone(),
    }
}

impl From<ParticipantData> for ParticipantBuiltinTopicData {
    fn from(data: ParticipantData) -> Self {
        Self::from(&data)
    }
}

impl From<PublicationData> for TopicBuiltinTopicData {
    fn from(data: PublicationData) -> Self {
        Self::new(&data.endpoint, topic_qos_of_writer(&data.qos))
    }
}

impl From<PublicationData> for PublicationBuiltinTopicData {
    fn from(data: PublicationData) -> Self {
        Self::new(data.endpoint, data.qos)
    }
}

impl From<SubscriptionData> for SubscriptionBuiltinTopicData {
    fn from(data: SubscriptionData) -> Self {
        Self::new(data.endpoint, data.qos)
    }
}

impl TopicBuiltinTopicData {
    /// Creates the data of a topic from one of its endpoints.
    pub(crate) fn new(endpoint: &EndpointData, qos: TopicQos) -> Self {
        let EndpointData { topic_name: name, type_name, topic_data, .. } = endpoint.clone();
        let key = InstanceHandle::from(topic_key(&name, &type_name));
        Self { key, name, type_name, qos: qos.topic_data(topic_data) }
    }
}

/// The policies that a topic and a writer have in common.
pub(crate) fn topic_qos_of_writer(qos: &DataWriterQos) -> TopicQos {
    TopicQos::default()
        .durability(qos.durability)
        .durability_service(qos.durability_service)
        .deadline(qos.deadline)
        .latency_budget(qos.latency_budget)
        .liveliness(qos.liveliness)
        .reliability(qos.reliability)
        .destination_order(qos.destination_order)
        .history(qos.history)
        .resource_limits(qos.resource_limits)
        .transport_priority(qos.transport_priority)
        .lifespan(qos.lifespan)
        .ownership(qos.ownership)
        .representation(qos.representation.clone())
}

/// The policies that a topic and a reader have in common.
pub(crate) fn topic_qos_of_reader(qos: &DataReaderQos) -> TopicQos {
    // Readers have no durability service, lifespan or transport priority: these keep their defaults.
    TopicQos::default()
        .durability(qos.durability)
        .deadline(qos.deadline)
        .latency_budget(qos.latency_budget)
        .liveliness(qos.liveliness)
        .reliability(qos.reliability)
        .destination_order(qos.destination_order)
        .history(qos.history)
        .resource_limits(qos.resource_limits)
        .ownership(qos.ownership)
        .representation(qos.representation.clone())
}

/// Returns the key of a topic, which is the same in every process.
///
/// It has the form of a GUID that no endpoint has. Twelve of its bytes are from the key hash of a type whose keys are
/// the name and the type name.
pub(crate) fn topic_key(name: &str, type_name: &str) -> Guid {
    let bytes = match key_hash_of(&TopicName { name, type_name }, Encoding::Xcdr1, &mut Vec::new()) {
        Ok(handle) => handle.as_bytes().copied().unwrap_or_default(),
        Err(_) => {
            debug_assert!(false, "names of peers and of this process have a limit, so they can be hashed");
            Default::default()
        }
    };
    Guid { entity_id: TOPIC_ID, ..Guid::from_bytes(bytes) }
}

/// The key of a topic.
struct TopicName<'a> {
    name: &'a str,
    type_name: &'a str,
}

impl Encode for TopicName<'_> {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.name.encode(e)?;
        self.type_name.encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl TypeInfo for TopicName<'_> {
    const TYPE_NAME: &'static str = "TopicName";
    const HAS_KEY: bool = true;
    const DESCRIPTION: &'static TypeDescription = &TypeDescription::of_struct(
        Self::TYPE_NAME,
        Extensibility::Final,
        &[
            MemberDescription::new("name", 0, || String::DESCRIPTION).key(),
            MemberDescription::new("type_name", 1, || String::DESCRIPTION).key(),
        ],
    );
}

/// Kind of a writer, because the announcement of the first writer also decodes as that of the topic.
const TOPIC_ID: EntityId = EntityId([0xff, 0xff, 0xff, 0x02]);

/// The member ID of the key in each of them. The samples carry the key hash, which is the key itself.
const KEY_ID: u32 = 0x5a;

/// The common part of the four types: a payload that is a parameter list, with a GUID as key.
///
/// `$data` is the announcement on the wire, and `$from` converts its data.
macro_rules! decode_announcement {
    ($name:ident, key $key:ty, $data:ident, $from:expr) => {
        impl<'de> Decode<'de> for $name {
            fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
                let payload = Encoded::decode(d)?.bytes;
                let Some(guid) = guid_of_key(payload) else { return Err(d.error(DecodeErrorKind::MissingMember)) };
                // The key names the sender, also where another participant relays the announcement.
                match $data::decode(payload, guid.prefix) {
                    Ok(decoded) => Ok($from(decoded.data)),
                    Err(_) => Err(d.error(DecodeErrorKind::MissingMember)),
                }
            }
        }

        impl DecodeOwned for $name {}

        impl TypeInfo for $name {
            const TYPE_NAME: &'static str = concat!("DDS::", stringify!($name));
            const HAS_KEY: bool = true;
            const DESCRIPTION: &'static TypeDescription = &TypeDescription::of_struct(
                Self::TYPE_NAME,
                Extensibility::Mutable,
                &[MemberDescription::new("key", KEY_ID, || <[u8; 16]>::DESCRIPTION).key()],
            );
        }

        impl Keyed for $name {
            type Key = $key;

            fn key(&self) -> $key {
                self.key
            }

            fn encode_key_value(key: &$key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                InstanceHandle::from(*key).as_bytes().unwrap_or(&[0; 16]).encode(e)
            }

            fn decode_key_value(d: &mut Decoder<'_>) -> Result<$key, DecodeError> {
                let payload = Encoded::decode(d)?.bytes;
                match guid_of_key(payload) {
                    Some(guid) => Ok(<$key>::from(guid)),
                    None => Err(d.error(DecodeErrorKind::MissingMember)),
                }
            }
        }
    };
}

decode_announcement!(ParticipantBuiltinTopicData, key Guid, ParticipantData, Self::from);
decode_announcement!(PublicationBuiltinTopicData, key Guid, PublicationData, Self::from);
decode_announcement!(SubscriptionBuiltinTopicData, key Guid, SubscriptionData, Self::from);
decode_announcement!(TopicBuiltinTopicData, key InstanceHandle, PublicationData, Self::from);
