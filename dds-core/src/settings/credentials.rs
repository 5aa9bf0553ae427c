//! The identity of a participant: from properties and code to the plugins of DDS Security.

use super::config::Config;
use crate::infrastructure::CreateErrorKind;
#[cfg(feature = "security-pki")]
use crate::protection::{CredentialProperties, SecurityPlugins};
use dds_rtps::discovery::PeerSecurity;
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::types::{GuidPrefix, Now};
use std::sync::Arc;

impl Config {
    /// Takes the identity out of the properties, which peers must not see. Code overrides them.
    #[cfg(feature = "security-pki")]
    pub(super) fn take_credentials(&mut self) -> Result<(), CreateErrorKind> {
        let refused = |message: String| CreateErrorKind::Security { message: message.into() };
        let mut found = CredentialProperties::default();
        let mut kept = Vec::new();
        for (name, value) in std::mem::take(&mut self.properties) {
            if found.take(&name, &value).map_err(refused)? {
                // A private key does not stay in freed memory.
                drop(dds_security::psk::Zeroizing::new(value));
            } else {
                kept.push((name, value));
            }
        }
        self.properties = kept;
        let credentials = found.finish().map_err(refused)?;
        if self.credentials.is_none() {
            self.credentials = credentials;
        }
        Ok(())
    }

    /// Begins the plugins of DDS Security, if there is an identity. Returns the GUID prefix of the participant, which
    /// follows from the identity.
    pub(crate) fn begin_security(
        &mut self,
        candidate: GuidPrefix,
        now: impl FnOnce() -> Now,
    ) -> Result<GuidPrefix, CreateErrorKind> {
        #[cfg(feature = "security-pki")]
        if let Some(credentials) = self.credentials.take() {
            if self.udp_only {
                // Messages to the own endpoints would need keys of the own participant.
                let message =
                    "a participant with credentials cannot reach its own endpoints by UDP: set DDS_TRANSPORTS=all";
                return Err(CreateErrorKind::Security { message: message.into() });
            }
            let plugins = SecurityPlugins::new(&credentials, self.domain_id, candidate, now())
                .map_err(|message| CreateErrorKind::Security { message: message.into() })?;
            let prefix = plugins.prefix();
            self.message_transform = Some(Arc::<SecurityPlugins>::clone(&plugins));
            self.plugins = Some(plugins);
            return Ok(prefix);
        }
        #[cfg(not(feature = "security-pki"))]
        drop(now);
        Ok(candidate)
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
    pub(crate) fn check_endpoint(
        &self,
        endpoint: &EndpointData,
        now: impl FnOnce() -> Now,
    ) -> Result<(), CreateErrorKind> {
        #[cfg(feature = "security-pki")]
        if let Some(plugins) = &self.plugins {
            let checked = plugins.check_endpoint(endpoint, now());
            return checked.map_err(|message| CreateErrorKind::Security { message: message.into() });
        }
        let _ = (endpoint, now);
        Ok(())
    }

    /// Names the identity.
    pub(super) fn credentials_text(&self) -> String {
        #[cfg(feature = "security-pki")]
        if let Some(credentials) = &self.credentials {
            return credentials.name().to_owned();
        }
        "None".to_owned()
    }
}
