//! Tokens and attributes of DDS Security in announcements (DDS Security 1.1, 7.4.1).

use super::EndpointData;
use super::decode::{DiscoveryDataError, NAME_MAX, ParameterOutcome};
use super::security_algorithms::SecurityAlgorithms;
use crate::discovery::parameter_id as id;
use crate::wire::{Parameter, ParameterError, ParameterFields, ParameterListWriter};
use std::ops::Deref;
use std::sync::Arc;

/// Most properties of a token. The standard defines four.
const PROPERTIES_MAX: usize = 16;

/// What SPDP says about the security of a participant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecurityAnnouncement {
    /// Names its identity. Only a handshake proves it.
    pub identity: Option<SecurityToken>,
    /// Names its permissions.
    pub permissions: Option<SecurityToken>,
    /// How it protects messages, discovery and liveliness.
    pub info: Option<SecurityInfo>,
    /// Algorithms that it supports and requires. `None`: it announces none, so it has those of DDS Security 1.1.
    pub algorithms: Option<SecurityAlgorithms>,
}

/// A token with its text properties (DDS Security 1.1, 7.2.3). Binary properties are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecurityToken {
    /// Class, for example `DDS:Auth:PKI-DH:1.0`.
    pub class_id: String,
    /// Names and values.
    pub properties: Vec<(String, String)>,
}

/// Protection of a participant or an endpoint, as bits (DDS Security 1.1, 7.4.1.6 and 7.4.1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SecurityInfo {
    /// Attributes of the standard.
    pub attributes: u32,
    /// Attributes of the plugins.
    pub plugin_attributes: u32,
}

impl SecurityAnnouncement {
    /// Reads a parameter of this data.
    pub(super) fn read(&mut self, parameter: &Parameter<'_>) -> Result<ParameterOutcome, DiscoveryDataError> {
        let mut fields = parameter.fields();
        let token = match parameter.id {
            id::IDENTITY_TOKEN => &mut self.identity,
            id::PERMISSIONS_TOKEN => &mut self.permissions,
            id::SIGNATURE_ALGORITHMS | id::AGREEMENT_ALGORITHMS | id::CIPHER_ALGORITHMS => {
                self.algorithms.get_or_insert(SecurityAlgorithms::V1_1).read(parameter)?;
                return Ok(ParameterOutcome::Read);
            }
            _ => {
                self.info = Some(SecurityInfo::read(&mut fields)?);
                return Ok(ParameterOutcome::Read);
            }
        };
        // A participant without a legible token counts as one without an identity.
        *token = SecurityToken::read(&mut fields).ok();
        Ok(if token.is_some() { ParameterOutcome::Read } else { ParameterOutcome::Skipped })
    }

    pub(super) fn write(&self, list: &mut ParameterListWriter<'_>) {
        for (id, token) in [(id::IDENTITY_TOKEN, &self.identity), (id::PERMISSIONS_TOKEN, &self.permissions)] {
            if let Some(token) = token {
                token.write(list, id);
            }
        }
        if let Some(info) = self.info {
            info.write(list, id::PARTICIPANT_SECURITY_INFO);
        }
        if let Some(algorithms) = &self.algorithms {
            algorithms.write(list);
        }
    }
}

impl SecurityToken {
    /// Creates a token.
    #[must_use]
    pub fn new(class_id: impl Into<String>, properties: Vec<(String, String)>) -> Self {
        Self { class_id: class_id.into(), properties }
    }

    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        let class_id = bounded_text(fields)?;
        let count = fields.sequence_len(8)?;
        if count > PROPERTIES_MAX {
            return Err(fields.illegal());
        }
        let mut properties = Vec::with_capacity(count);
        for _ in 0..count {
            properties.push((bounded_text(fields)?, bounded_text(fields)?));
        }
        // Binary properties follow. No token that is read here defines one.
        Ok(Self { class_id, properties })
    }

    fn write(&self, list: &mut ParameterListWriter<'_>, id: u16) {
        list.parameter(id, |value| {
            value.string(&self.class_id).sequence_len(self.properties.len());
            for (name, property) in &self.properties {
                value.string(name).string(property);
            }
            // No binary properties.
            value.sequence_len(0);
        });
    }
}

/// Names and values of an endpoint's data tags (DDS Security 1.1, 7.4.1). One word, because most endpoints have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataTags(Option<Arc<Vec<(String, String)>>>);

impl From<Vec<(String, String)>> for DataTags {
    fn from(tags: Vec<(String, String)>) -> Self {
        Self(if tags.is_empty() { None } else { Some(Arc::new(tags)) })
    }
}

impl Deref for DataTags {
    type Target = [(String, String)];
    fn deref(&self) -> &Self::Target {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// Reads the data tags of an endpoint.
pub(super) fn read_data_tags(fields: &mut ParameterFields<'_>) -> Result<DataTags, ParameterError> {
    let count = fields.sequence_len(8)?;
    if count > EndpointData::DATA_TAGS_MAX {
        return Err(fields.illegal());
    }
    let mut tags = Vec::with_capacity(count);
    for _ in 0..count {
        let tag = (bounded_text(fields)?, bounded_text(fields)?);
        if tag.0.len().max(tag.1.len()) > EndpointData::DATA_TAG_LEN_MAX {
            return Err(fields.illegal());
        }
        tags.push(tag);
    }
    Ok(tags.into())
}

pub(super) fn write_data_tags(list: &mut ParameterListWriter<'_>, tags: &[(String, String)]) {
    list.parameter(id::DATA_TAGS, |value| {
        value.sequence_len(tags.len());
        for (name, tag) in tags {
            value.string(name).string(tag);
        }
    });
}

fn bounded_text(fields: &mut ParameterFields<'_>) -> Result<String, ParameterError> {
    let text = fields.string()?;
    if text.len() > NAME_MAX {
        return Err(fields.illegal());
    }
    Ok(text.to_owned())
}

impl SecurityInfo {
    /// The bit without which the other ones mean nothing.
    pub const VALID: u32 = 1 << 31;

    /// Whether two sides are protected in the same way. Attributes that are not valid fit to any others.
    #[must_use]
    pub const fn is_compatible(self, other: Self) -> bool {
        const fn fits(a: u32, b: u32) -> bool {
            a == b || a & SecurityInfo::VALID == 0 || b & SecurityInfo::VALID == 0
        }
        fits(self.attributes, other.attributes) && fits(self.plugin_attributes, other.plugin_attributes)
    }

    pub(super) fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        Ok(Self { attributes: fields.u32()?, plugin_attributes: fields.u32()? })
    }

    pub(super) fn write(self, list: &mut ParameterListWriter<'_>, id: u16) {
        list.parameter(id, |value| {
            value.u32(self.attributes).u32(self.plugin_attributes);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_are_not_valid_fit_to_all() {
        let info = |attributes, plugin_attributes| SecurityInfo { attributes, plugin_attributes };
        let signed = info(SecurityInfo::VALID | 8, SecurityInfo::VALID);
        assert!(signed.is_compatible(signed) && signed.is_compatible(info(0, 0)));
        assert!(info(16, 0).is_compatible(signed));
        assert!(!signed.is_compatible(info(SecurityInfo::VALID, SecurityInfo::VALID)));
        assert!(!signed.is_compatible(info(SecurityInfo::VALID | 8, SecurityInfo::VALID | 1)));
    }
}
