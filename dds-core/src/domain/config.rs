//! A participant's settings: defaults, then the environment, then code; what comes later wins.

use crate::infrastructure::{CreateErrorKind, Delivery};
use crate::qos::DomainParticipantQos;
use dds_rtps::transport::fault::Faults;
use dds_rtps::types::Duration;
use dds_rtps::wire::{ChecksumKind, Transform};
use std::path::PathBuf;

/// The highest domain id whose ports fit below 65536 (RTPS 2.5, 9.6.2 with the default port numbers).
pub(crate) const DOMAIN_ID_MAX: u32 = 232;

/// How far a participant looks for others, and lets itself be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Scope {
    /// This host only: nothing leaves by a network interface but loopback.
    Host,
    /// What multicast reaches, and the given peers. The default.
    #[default]
    Subnet,
    /// The given peers only: no multicast is sent or joined.
    PeersOnly,
}

/// Everything that is decided before a participant starts.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) domain_id: u32,
    pub(crate) name: String,
    pub(crate) qos: DomainParticipantQos,
    pub(crate) scope: Scope,
    pub(crate) peers: Vec<String>,
    pub(crate) interfaces: Vec<String>,
    pub(crate) domain_tag: String,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) lease: Duration,
    pub(crate) linger: Duration,
    pub(crate) udp_only: bool,
    pub(crate) message_checksums: Option<ChecksumKind>,
    pub(crate) delivery: Delivery,
    pub(crate) tap: Option<PathBuf>,
    pub(crate) faults: Option<Faults>,
}

impl Config {
    pub(crate) fn new(domain_id: u32) -> Self {
        Self {
            domain_id,
            name: String::new(),
            qos: DomainParticipantQos::default(),
            scope: Scope::default(),
            peers: Vec::new(),
            interfaces: Vec::new(),
            domain_tag: String::new(),
            properties: Vec::new(),
            lease: Duration::from_secs(20),
            linger: Duration::from_secs(1),
            udp_only: false,
            message_checksums: None,
            delivery: Delivery::default(),
            tap: None,
            faults: None,
        }
    }

    /// Sets a property, in place of one with the same name.
    pub(crate) fn set_property(&mut self, name: String, value: String) {
        self.properties.retain(|(known, _)| *known != name);
        self.properties.push((name, value));
    }

    /// What happens to a message between its lay-out and the socket.
    pub(crate) fn transform(&self) -> Transform {
        self.message_checksums.map_or(Transform::Identity, Transform::Checksum)
    }

    /// Takes over what the environment says; `look_up` gives the value of a variable.
    pub(crate) fn apply_environment(
        &mut self,
        look_up: impl Fn(&str) -> Option<String>,
    ) -> Result<(), CreateErrorKind> {
        let list = |value: String| -> Vec<String> {
            value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        if let Some(value) = look_up("DDS_SCOPE") {
            self.scope = match value.as_str() {
                "host" => Scope::Host,
                "subnet" => Scope::Subnet,
                "peers-only" => Scope::PeersOnly,
                _ => return Err(unreadable("DDS_SCOPE", value, "one of host, subnet, peers-only")),
            };
        }
        if let Some(value) = look_up("DDS_TRANSPORTS") {
            self.udp_only = match value.as_str() {
                "all" => false,
                "udp" => true,
                _ => return Err(unreadable("DDS_TRANSPORTS", value, "one of all, udp")),
            };
        }
        if let Some(value) = look_up("DDS_PEERS") {
            self.peers = list(value);
        }
        if let Some(value) = look_up("DDS_INTERFACES") {
            self.interfaces = list(value);
        }
        if let Some(value) = look_up("DDS_DOMAIN_TAG") {
            self.domain_tag = value;
        }
        if let Some(value) = look_up("DDS_TAP") {
            if value.is_empty() {
                return Err(unreadable("DDS_TAP", value, "the path of a file"));
            }
            self.tap = Some(value.into());
        }
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<(), CreateErrorKind> {
        if self.domain_id > DOMAIN_ID_MAX {
            return Err(CreateErrorKind::InvalidDomain { domain_id: self.domain_id });
        }
        self.qos.check().map_err(CreateErrorKind::InconsistentQos)
    }
}

fn unreadable(variable: &'static str, value: String, expected: &'static str) -> CreateErrorKind {
    CreateErrorKind::Environment { variable, value, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Config, CreateErrorKind> {
        let mut config = Config::new(0);
        config.apply_environment(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })?;
        Ok(config)
    }

    #[test]
    fn the_environment_is_taken_over() {
        let config =
            with(&[("DDS_SCOPE", "host"), ("DDS_PEERS", "a, b:2,"), ("DDS_TRANSPORTS", "udp"), ("DDS_TAP", "t.pcap")])
                .unwrap();
        assert_eq!(config.scope, Scope::Host);
        assert_eq!(config.peers, ["a", "b:2"]);
        assert!(config.udp_only);
        assert_eq!(config.tap, Some("t.pcap".into()));
    }

    #[test]
    fn an_unreadable_variable_is_an_error_that_names_it() {
        let error = with(&[("DDS_SCOPE", "galaxy")]).unwrap_err();
        assert!(error.to_string().contains("DDS_SCOPE"), "{error}");
        assert!(error.to_string().contains("galaxy"), "{error}");
    }

    #[test]
    fn a_domain_beyond_the_ports_is_refused() {
        assert_eq!(Config::new(233).check(), Err(CreateErrorKind::InvalidDomain { domain_id: 233 }));
    }
}
