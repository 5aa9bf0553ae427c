//! What readers and writers have in common.

use super::decode::{
    DataError, Outcome, add_locator, inform, informative_name, informative_octets, name, write_locators, write_octets,
};
use super::policies::PolicyParameter;
use crate::discovery::parameter_id;
use crate::qos::Presentation;
use crate::types::{EntityId, Guid, GuidPrefix, Locator, ProtocolVersion, VendorId};
use crate::wire::{Parameter, ParameterListWriter};
use crate::xtypes::TypeInformation;
use std::sync::Arc;

/// Bytes of type information that are taken in: a type that is made of 400 others. Beyond it, names decide.
const TYPE_INFORMATION_MAX: usize = 32 << 10;

/// The part of SEDP data that does not depend on whether a reader or a writer is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointData {
    /// The endpoint.
    pub guid: Guid,
    /// Its topic.
    pub topic_name: String,
    /// The name of its type.
    pub type_name: String,
    /// Where it listens; empty: at its participant's default locators.
    pub unicast_locators: Vec<Locator>,
    /// Which groups it has joined; empty: its participant's default ones.
    pub multicast_locators: Vec<Locator>,
    /// Its publisher's or subscriber's PRESENTATION.
    pub presentation: Presentation,
    /// Its publisher or subscriber, of one with scope GROUP; [`EntityId::UNKNOWN`]: not said.
    pub group: EntityId,
    /// Its publisher's or subscriber's partitions.
    pub partition: Vec<String>,
    /// Octets of its topic.
    pub topic_data: Vec<u8>,
    /// Octets of its publisher or subscriber.
    pub group_data: Vec<u8>,
    /// A name for people.
    pub entity_name: String,
    /// The names of its type by what it is made of. `None`: only the name in `type_name` is known.
    pub type_information: Option<Arc<TypeInformation>>,
}

impl EndpointData {
    /// An endpoint in no partition, with no data of its own, at its participant's default locators.
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
        }
    }

    pub(super) fn write(&self, list: &mut ParameterListWriter<'_>) {
        list.parameter(parameter_id::ENDPOINT_GUID, |value| {
            value.guid(self.guid);
        });
        list.parameter(parameter_id::PARTICIPANT_GUID, |value| {
            value.guid(Guid::new(self.guid.prefix, EntityId::PARTICIPANT));
        });
        list.parameter(parameter_id::PROTOCOL_VERSION, |value| {
            value.bytes(&[ProtocolVersion::OURS.major, ProtocolVersion::OURS.minor]);
        });
        list.parameter(parameter_id::VENDOR_ID, |value| {
            value.bytes(&VendorId::OURS.0);
        });
        list.parameter(parameter_id::TOPIC_NAME, |value| {
            value.string(&self.topic_name);
        });
        list.parameter(parameter_id::TYPE_NAME, |value| {
            value.string(&self.type_name);
        });
        write_locators(list, parameter_id::UNICAST_LOCATOR, &self.unicast_locators);
        write_locators(list, parameter_id::MULTICAST_LOCATOR, &self.multicast_locators);
        list.parameter(parameter_id::PRESENTATION, |value| self.presentation.write(value));
        if self.group != EntityId::UNKNOWN {
            list.parameter(parameter_id::GROUP_ENTITYID, |value| {
                value.bytes(&self.group.0);
            });
        }
        if !self.partition.is_empty() {
            list.parameter(parameter_id::PARTITION, |value| self.partition.write(value));
        }
        write_octets(list, parameter_id::TOPIC_DATA, &self.topic_data);
        write_octets(list, parameter_id::GROUP_DATA, &self.group_data);
        if !self.entity_name.is_empty() {
            list.parameter(parameter_id::ENTITY_NAME, |value| {
                value.string(&self.entity_name);
            });
        }
        if let Some(information) = self.type_information.as_ref().and_then(|information| information.to_bytes().ok()) {
            list.parameter(parameter_id::TYPE_INFORMATION, |value| {
                value.bytes(&information);
            });
        }
    }
}

/// Endpoint data while it is being read.
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
}

impl EndpointDraft {
    /// Takes a parameter over, if it is one of those that readers and writers share.
    pub(super) fn take(&mut self, parameter: &Parameter<'_>) -> Result<Outcome, DataError> {
        let mut fields = parameter.fields();
        match parameter.id {
            parameter_id::ENDPOINT_GUID => self.guid = Some(fields.guid()?),
            parameter_id::TOPIC_NAME => self.topic_name = Some(name(parameter.id, fields)?),
            parameter_id::TYPE_NAME => self.type_name = Some(name(parameter.id, fields)?),
            parameter_id::PRESENTATION => self.presentation = Presentation::read(&mut fields)?,
            // Others name it in one way or the other.
            parameter_id::GROUP_ENTITYID => self.group = Some(EntityId(fields.array()?)),
            parameter_id::GROUP_GUID => self.group = Some(fields.guid()?.entity_id),
            parameter_id::PARTITION => self.partition = PolicyParameter::read(&mut fields)?,
            parameter_id::UNICAST_LOCATOR => return Ok(add_locator(&mut self.unicast_locators, fields)),
            parameter_id::MULTICAST_LOCATOR => return Ok(add_locator(&mut self.multicast_locators, fields)),
            parameter_id::TOPIC_DATA => return Ok(inform(&mut self.topic_data, informative_octets(fields))),
            parameter_id::GROUP_DATA => return Ok(inform(&mut self.group_data, informative_octets(fields))),
            parameter_id::ENTITY_NAME => return Ok(inform(&mut self.entity_name, informative_name(fields))),
            parameter_id::TYPE_INFORMATION => {
                let value = Some(parameter.value).filter(|value| value.len() <= TYPE_INFORMATION_MAX);
                let information = value.and_then(|value| TypeInformation::from_bytes(value).ok());
                return Ok(inform(
                    &mut self.type_information,
                    information.map(|information| Some(Arc::new(information))),
                ));
            }
            // Known, and of no use here: the endpoint's GUID has the participant's prefix in it, and the message's header
            // says version and vendor.
            parameter_id::PARTICIPANT_GUID | parameter_id::PROTOCOL_VERSION | parameter_id::VENDOR_ID => {}
            _ => return Ok(Outcome::Unknown),
        }
        Ok(Outcome::Taken)
    }

    /// The whole, if it describes an endpoint of participant `sender` for which `is_kind` holds.
    ///
    /// A participant may speak for itself alone: otherwise one peer could withdraw or replace another's endpoints.
    pub(super) fn finish(
        self,
        sender: GuidPrefix,
        is_kind: impl FnOnce(EntityId) -> bool,
    ) -> Result<EndpointData, DataError> {
        let guid = self.guid.ok_or(DataError::Missing { id: parameter_id::ENDPOINT_GUID })?;
        if guid.prefix != sender || !is_kind(guid.entity_id) {
            return Err(DataError::Guid);
        }
        Ok(EndpointData {
            guid,
            topic_name: self.topic_name.ok_or(DataError::Missing { id: parameter_id::TOPIC_NAME })?,
            type_name: self.type_name.ok_or(DataError::Missing { id: parameter_id::TYPE_NAME })?,
            unicast_locators: self.unicast_locators,
            multicast_locators: self.multicast_locators,
            presentation: self.presentation,
            group: self.group.unwrap_or(EntityId::UNKNOWN),
            partition: self.partition,
            topic_data: self.topic_data,
            group_data: self.group_data,
            entity_name: self.entity_name,
            type_information: self.type_information,
        })
    }
}
