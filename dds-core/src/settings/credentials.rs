//! The identity of a participant: from properties and code to the plugins of DDS Security.

use super::config::Config;
use crate::infrastructure::CreateErrorKind;
#[cfg(feature = "security-pki")]
use crate::protection::{CredentialProperties, CredentialsError, SecurityPlugins, SecuritySeverity};
use dds_rtps::discovery::PeerSecurity;
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::types::{GuidPrefix, Now};
use std::sync::Arc;

impl Config {
    /// Reads the identity that the properties name. Credentials in code override it, and no file is read then.
    #[cfg(feature = "security-pki")]
    pub(super) fn take_credentials(&mut self, found: CredentialProperties) -> Result<(), CreateErrorKind> {
        if self.credentials.is_some() {
            return Ok(());
        }
        self.credentials = found.read().map_err(CreateErrorKind::security)?;
        if self.credentials.is_some() {
            self.take_origin_of_properties("credentials");
        }
        Ok(())
    }

    /// Begins the plugins of DDS Security, if there is an identity. Returns the GUID prefix of the participant, which
    /// follows from the identity.
    pub(crate) fn begin_security(&mut self, candidate: GuidPrefix, now: Now) -> Result<GuidPrefix, CreateErrorKind> {
        #[cfg(feature = "security-pki")]
        if let Some(credentials) = self.credentials.take() {
            if self.udp_only {
                // Messages to the own endpoints would need keys of the own participant.
                let message =
                    "a participant with credentials cannot reach its own endpoints by UDP: set DDS_TRANSPORTS=all";
                return Err(CreateErrorKind::security(message));
            }
            let plugins = SecurityPlugins::new(&credentials, self.domain_id, candidate, now)
                .map_err(CreateErrorKind::security)?;
            let prefix = plugins.prefix();
            self.message_transform = Some(Arc::<SecurityPlugins>::clone(&plugins));
            self.plugins = Some(plugins);
            return Ok(prefix);
        }
        let _ = now;
        Ok(candidate)
    }

    /// Reads the files of revoked certificates again.
    #[cfg(feature = "security-pki")]
    pub(crate) fn reload_revocations(&self, now: Now) -> Result<(), CredentialsError> {
        match &self.plugins {
            Some(plugins) => plugins.reload_revocations(now),
            None => Err(CredentialsError {
                path: "crl.pem".into(),
                cause: std::io::Error::new(std::io::ErrorKind::Unsupported, "the participant has no credentials"),
            }),
        }
    }

    /// The security events that the participant publishes.
    #[cfg(feature = "security-pki")]
    pub(crate) fn security_log(&self) -> Option<SecuritySeverity> {
        self.plugins.as_ref()?.log()
    }

    /// Returns the plugins for discovery.
    pub(crate) fn peer_security(&self) -> Option<Arc<dyn PeerSecurity>> {
        #[cfg(feature = "security-pki")]
        if let Some(plugins) = &self.plugins {
            return Some(Arc::<SecurityPlugins>::clone(plugins));
        }
        None
    }

    /// Checks whether the permissions allow a local endpoint.
    pub(crate) fn check_endpoint(&self, endpoint: &EndpointData, now: Now) -> Result<(), CreateErrorKind> {
        // Peers would refuse the announcement.
        let (tags, len_max) = (&endpoint.data_tags, EndpointData::DATA_TAG_LEN_MAX);
        if tags.len() > EndpointData::DATA_TAGS_MAX
            || tags.iter().any(|(name, tag)| name.len().max(tag.len()) > len_max)
        {
            let count_max = EndpointData::DATA_TAGS_MAX;
            let message = format!(
                "an endpoint has at most {count_max} data tags, whose names and values have at most {len_max} bytes"
            );
            return Err(CreateErrorKind::security(message));
        }
        #[cfg(feature = "security-pki")]
        if let Some(plugins) = &self.plugins {
            return plugins.check_endpoint(endpoint, now).map_err(CreateErrorKind::security);
        }
        let _ = now;
        Ok(())
    }

    /// Whether the key hashes of a topic must not show its keys.
    pub(crate) fn hides_keys_of(&self, topic_name: &str) -> bool {
        #[cfg(feature = "security-pki")]
        if let Some(plugins) = &self.plugins {
            return plugins.hides_keys_of(topic_name);
        }
        let _ = topic_name;
        false
    }

    /// Names the identity.
    pub(super) fn credentials_text(&self) -> String {
        #[cfg(feature = "security-pki")]
        match (&self.credentials, &self.plugins) {
            (Some(credentials), _) => return credentials.name().to_owned(),
            // `begin_security` has taken them.
            (None, Some(plugins)) => return plugins.certificate_name().to_owned(),
            (None, None) => {}
        }
        "None".to_owned()
    }
}
