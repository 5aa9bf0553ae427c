//! Announced data that readers and writers share.

use super::decode::{
    DiscoveryDataError, ParameterOutcome, add_locator, informative_name, informative_octets, name, store_informative,
    write_locators, write_octets,
};
use super::policies::{PolicyParameter, write_policy};
use super::security::{DataTags, SecurityInfo, read_data_tags, write_data_tags};
use crate::discovery::parameter_id;
use crate::qos::Presentation;
use crate::types::{EntityId, Guid, GuidPrefix, Locator, ProtocolVersion, VendorId};
use crate::wire::{Parameter, ParameterListWriter};
use crate::xtypes::TypeInformation;
use std::sync::Arc;

/// Most bytes of type information: a type that consists of 400 others. Beyond it, type names decide.
const TYPE_INFORMATION_MAX: usize = 32 << 10;

/// SEDP data that is common to readers and writers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointData {
    /// GUID of the endpoint.
    pub guid: Guid,
    /// Name of its topic.
    pub topic_name: String,
    /// Name of its type.
    pub type_name: String,
    /// Unicast locators; empty for those of its participant.
    pub unicast_locators: Vec<Locator>,
    /// Multicast locators; empty for those of its participant.
    pub multicast_locators: Vec<Locator>,
    /// PRESENTATION of its publisher or subscriber.
    pub presentation: Presentation,
    /// Its publisher or subscriber, for scope GROUP; [`EntityId::UNKNOWN`] if not announced.
    pub group: EntityId,
    /// Partitions of its publisher or subscriber.
    pub partition: Vec<String>,
    /// TOPIC_DATA of its topic.
    pub topic_data: Vec<u8>,
    /// GROUP_DATA of its publisher or subscriber.
    pub group_data: Vec<u8>,
    /// Name for diagnosis.
    pub entity_name: String,
    /// Type identifiers. `None` if only `type_name` is known.
    pub type_information: Option<Arc<TypeInformation>>,
    /// How it is protected by DDS Security. `None` if not announced.
    pub security_info: Option<SecurityInfo>,
    /// Ciphers that its matches must have, as bits of `SecurityAlgorithms`. `None` for the default of its participant.
    pub required_ciphers: Option<u32>,
    /// Names and values of its data tags, on which permissions decide.
    pub data_tags: DataTags,
    /// Whether a writer's announcement has no valid HISTORY. The policy then has its default.
    pub omits_history: bool,
}

impl EndpointData {
    /// Most data tags of an endpoint.
    pub const DATA_TAGS_MAX: usize = 32;
    /// Most bytes of the name or the value of a data tag.
    pub const DATA_TAG_LEN_MAX: usize = 256;

    /// Creates an endpoint without partitions and data, at its participant's default locators.
    #[must_use]
    pub fn new(guid: Guid, topic_name: impl Into<String>, type_name: impl Into<String>) -> Self {
        Self {
            guid,
            topic_name: topic_name.into(),
            type_name: type_name.into(),
            unicast_locators: Vec::new(),
            multicast_locators: Vec::new(),
            presentation: Presentation::default(),
            group: EntityId::UNKNOWN,
            partition: Vec::new(),
            topic_data: Vec::new(),
            group_data: Vec::new(),
            entity_name: String::new(),
            type_information: None,
            security_info: None,
            required_ciphers: None,
            data_tags: DataTags::default(),
            omits_history: false,
        }
    }

    pub(super) fn write(&self, list: &mut ParameterListWriter<'_>) {
        list.guid(parameter_id::ENDPOINT_GUID, self.guid);
        list.guid(parameter_id::PARTICIPANT_GUID, Guid::new(self.guid.prefix, EntityId::PARTICIPANT));
        list.bytes(parameter_id::PROTOCOL_VERSION, &[ProtocolVersion::OURS.major, ProtocolVersion::OURS.minor]);
        list.bytes(parameter_id::VENDOR_ID, &VendorId::OURS.0);
        list.string(parameter_id::TOPIC_NAME, &self.topic_name);
        list.string(parameter_id::TYPE_NAME, &self.type_name);
        write_locators(list, parameter_id::UNICAST_LOCATOR, &self.unicast_locators);
        write_locators(list, parameter_id::MULTICAST_LOCATOR, &self.multicast_locators);
        write_policy(list, parameter_id::PRESENTATION, &self.presentation);
        if self.group != EntityId::UNKNOWN {
            list.bytes(parameter_id::GROUP_ENTITYID, &self.group.0);
        }
        if !self.partition.is_empty() {
            write_policy(list, parameter_id::PARTITION, &self.partition);
        }
        write_octets(list, parameter_id::TOPIC_DATA, &self.topic_data);
        write_octets(list, parameter_id::GROUP_DATA, &self.group_data);
        if !self.entity_name.is_empty() {
            list.string(parameter_id::ENTITY_NAME, &self.entity_name);
        }
        let information = match &self.type_information {
            // Information that has no encoding is left out. The names of the types decide then.
            Some(information) => information.to_bytes().ok(),
            None => None,
        };
        if let Some(information) = information {
            list.bytes(parameter_id::TYPE_INFORMATION, &information);
        }
        if let Some(info) = self.security_info {
            info.write(list, parameter_id::ENDPOINT_SECURITY_INFO);
        }
        if let Some(ciphers) = self.required_ciphers {
            list.u32(parameter_id::ENDPOINT_CIPHER_ALGORITHMS, ciphers);
        }
        if !self.data_tags.is_empty() {
            write_data_tags(list, &self.data_tags);
        }
    }
}

/// Endpoint data that is being decoded.
#[derive(Default)]
pub(super) struct EndpointDraft {
    guid: Option<Guid>,
    topic_name: Option<String>,
    type_name: Option<String>,
    unicast_locators: Vec<Locator>,
    multicast_locators: Vec<Locator>,
    presentation: Presentation,
    group: Option<EntityId>,
    partition: Vec<String>,
    topic_data: Vec<u8>,
    group_data: Vec<u8>,
    entity_name: String,
    type_information: Option<Arc<TypeInformation>>,
    security_info: Option<SecurityInfo>,
    required_ciphers: Option<u32>,
    data_tags: DataTags,
}

impl EndpointDraft {
    /// Reads a parameter, if readers and writers share it.
    pub(super) fn read(&mut self, parameter: &Parameter<'_>) -> Result<ParameterOutcome, DiscoveryDataError> {
        let mut fields = parameter.fields();
        match parameter.id {
            parameter_id::ENDPOINT_GUID => self.guid = Some(fields.guid()?),
            parameter_id::TOPIC_NAME => self.topic_name = Some(name(parameter.id, fields)?),
            parameter_id::TYPE_NAME => self.type_name = Some(name(parameter.id, fields)?),
            parameter_id::PRESENTATION => self.presentation = Presentation::read(&mut fields)?,
            // Vendors use one or the other.
            parameter_id::GROUP_ENTITYID => self.group = Some(EntityId(fields.array()?)),
            parameter_id::GROUP_GUID => self.group = Some(fields.guid()?.entity_id),
            parameter_id::PARTITION => self.partition = PolicyParameter::read(&mut fields)?,
            parameter_id::UNICAST_LOCATOR => return Ok(add_locator(&mut self.unicast_locators, fields)),
            parameter_id::MULTICAST_LOCATOR => return Ok(add_locator(&mut self.multicast_locators, fields)),
            parameter_id::TOPIC_DATA => return Ok(store_informative(&mut self.topic_data, informative_octets(fields))),
            parameter_id::GROUP_DATA => return Ok(store_informative(&mut self.group_data, informative_octets(fields))),
            parameter_id::ENTITY_NAME => return Ok(store_informative(&mut self.entity_name, informative_name(fields))),
            parameter_id::TYPE_INFORMATION => {
                // Without this parameter, the names of the types decide. So it is no reason to reject the endpoint.
                if parameter.value.len() > TYPE_INFORMATION_MAX {
                    return Ok(ParameterOutcome::Skipped);
                }
                let Ok(information) = TypeInformation::from_bytes(parameter.value) else {
                    return Ok(ParameterOutcome::Skipped);
                };
                self.type_information = Some(Arc::new(information));
            }
            parameter_id::ENDPOINT_SECURITY_INFO => self.security_info = Some(SecurityInfo::read(&mut fields)?),
            parameter_id::ENDPOINT_CIPHER_ALGORITHMS => self.required_ciphers = Some(fields.u32()?),
            // An endpoint with tags that are left out would have more rights.
            parameter_id::DATA_TAGS => self.data_tags = read_data_tags(&mut fields)?,
            // Known but redundant: the endpoint's GUID contains the participant's prefix, and the message header has
            // version and vendor.
            parameter_id::PARTICIPANT_GUID | parameter_id::PROTOCOL_VERSION | parameter_id::VENDOR_ID => {}
            _ => return Ok(ParameterOutcome::Unknown),
        }
        Ok(ParameterOutcome::Read)
    }

    /// Returns the data if it describes an endpoint of participant `sender` whose id satisfies `is_kind`.
    ///
    /// A participant may announce its own endpoints only. Otherwise a peer could withdraw or replace those of
    /// another.
    pub(super) fn finish(
        self,
        sender: GuidPrefix,
        is_kind: impl FnOnce(EntityId) -> bool,
    ) -> Result<EndpointData, DiscoveryDataError> {
        let guid = self.guid.ok_or(DiscoveryDataError::Missing { id: parameter_id::ENDPOINT_GUID })?;
        if guid.prefix != sender || !is_kind(guid.entity_id) {
            return Err(DiscoveryDataError::Guid);
        }
        Ok(EndpointData {
            guid,
            topic_name: self.topic_name.ok_or(DiscoveryDataError::Missing { id: parameter_id::TOPIC_NAME })?,
            type_name: self.type_name.ok_or(DiscoveryDataError::Missing { id: parameter_id::TYPE_NAME })?,
            unicast_locators: self.unicast_locators,
            multicast_locators: self.multicast_locators,
            presentation: self.presentation,
            group: self.group.unwrap_or(EntityId::UNKNOWN),
            partition: self.partition,
            topic_data: self.topic_data,
            group_data: self.group_data,
            entity_name: self.entity_name,
            type_information: self.type_information,
            security_info: self.security_info,
            required_ciphers: self.required_ciphers,
            data_tags: self.data_tags,
            // Only a writer announces HISTORY, so `PublicationData` sets this.
            omits_history: false,
        })
    }
}
