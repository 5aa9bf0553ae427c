//! The environment variables of ROS 2 (`rcl/src/rcl/discovery_options.c`, `rcl/src/rcl/domain_id.c`).

use crate::{Error, Result};

const DOMAIN_MAX: u32 = 232;

/// How far a context discovers other participants by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DiscoveryRange {
    /// Every participant that multicast reaches, and the static peers. The default.
    #[default]
    Subnet,
    /// Participants of this host, and the static peers.
    Localhost,
    /// No other participant.
    Off,
    /// The settings of `dds-core`, such as `DDS_SCOPE` and `DDS_PEERS`.
    SystemDefault,
}

/// The settings that the environment makes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Environment {
    pub(crate) domain_id: Option<u32>,
    pub(crate) range: Option<DiscoveryRange>,
    pub(crate) static_peers: Vec<String>,
    pub(crate) security: SecurityEnvironment,
}

/// The variables of SROS 2.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SecurityEnvironment {
    pub(crate) is_enabled: bool,
    /// Whether a context without an identity is an error.
    pub(crate) is_enforced: bool,
    pub(crate) keystore: Option<String>,
    pub(crate) enclave_override: Option<String>,
}

impl Environment {
    /// Reads the variables of this process.
    pub(crate) fn read() -> Result<Self> {
        Self::read_from(|variable| std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned()))
    }

    fn read_from(variable: impl Fn(&'static str) -> Option<String>) -> Result<Self> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let domain_id = set("ROS_DOMAIN_ID").map(domain).transpose()?;
        let range = set("ROS_AUTOMATIC_DISCOVERY_RANGE").map(|value| range_of(&value));
        let static_peers = set("ROS_STATIC_PEERS").map(peers).unwrap_or_default();
        let security = SecurityEnvironment {
            is_enabled: set("ROS_SECURITY_ENABLE").is_some_and(|value| is_security_on(&value)),
            is_enforced: set("ROS_SECURITY_STRATEGY").is_some_and(|value| is_enforced(&value)),
            keystore: set("ROS_SECURITY_KEYSTORE"),
            enclave_override: set("ROS_SECURITY_ENCLAVE_OVERRIDE"),
        };
        let found = Self { domain_id, range, static_peers, security };
        match set("ROS_LOCALHOST_ONLY").as_deref() {
            Some("1") => {
                tracing::warn!("ROS_LOCALHOST_ONLY is deprecated; set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST");
                // It overrides the range and the peers, as in `rcl`.
                Ok(Self { range: Some(DiscoveryRange::Localhost), static_peers: Vec::new(), ..found })
            }
            Some(value) => {
                if value != "0" {
                    tracing::warn!("ROS_LOCALHOST_ONLY={value:?} has no effect; expected 0 or 1");
                }
                Ok(found)
            }
            None => Ok(found),
        }
    }
}

fn domain(value: String) -> Result<u32> {
    match value.trim().parse() {
        Ok(id) if id <= DOMAIN_MAX => Ok(id),
        _ => Err(Error::Environment {
            variable: "ROS_DOMAIN_ID",
            value,
            reason: format!("expected a number from 0 to {DOMAIN_MAX}"),
        }),
    }
}

/// Whether the value of `ROS_SECURITY_ENABLE` turns security on. `rcl` knows `true` alone.
fn is_security_on(value: &str) -> bool {
    if !["true", "false"].contains(&value) {
        tracing::warn!("ROS_SECURITY_ENABLE={value:?} leaves security off; expected true or false");
    }
    value == "true"
}

/// Whether the value of `ROS_SECURITY_STRATEGY` refuses a context without an identity. `rcl` knows `Enforce` alone.
fn is_enforced(value: &str) -> bool {
    if !["Enforce", "Permissive"].contains(&value) {
        tracing::warn!("ROS_SECURITY_STRATEGY={value:?} counts as Permissive; expected Enforce or Permissive");
    }
    value == "Enforce"
}

fn range_of(value: &str) -> DiscoveryRange {
    match value {
        "SUBNET" => DiscoveryRange::Subnet,
        "LOCALHOST" => DiscoveryRange::Localhost,
        "OFF" => DiscoveryRange::Off,
        "SYSTEM_DEFAULT" => DiscoveryRange::SystemDefault,
        // The safe choice, as in `rcl`.
        _ => {
            tracing::warn!(
                "ROS_AUTOMATIC_DISCOVERY_RANGE={value:?} counts as LOCALHOST; expected SUBNET, LOCALHOST, OFF or \
                 SYSTEM_DEFAULT"
            );
            DiscoveryRange::Localhost
        }
    }
}

fn peers(value: String) -> Vec<String> {
    value.split(';').map(str::trim).filter(|peer| !peer.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment> {
        Environment::read_from(|name| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_set_domain_range_and_peers() {
        let found = read(&[
            ("ROS_DOMAIN_ID", "42"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"),
            ("ROS_STATIC_PEERS", "10.0.0.2; robot;"),
        ]);
        let static_peers = vec!["10.0.0.2".to_owned(), "robot".to_owned()];
        let range = Some(DiscoveryRange::Off);
        let expected = Environment { domain_id: Some(42), range, static_peers, ..Environment::default() };
        assert_eq!(found.unwrap(), expected);
        assert_eq!(read(&[("ROS_DOMAIN_ID", "")]).unwrap(), Environment::default());
    }

    #[test]
    fn localhost_only_overrides_range_and_peers() {
        let others = [("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"), ("ROS_STATIC_PEERS", "robot")];
        let one = read(&[&[("ROS_LOCALHOST_ONLY", "1")], &others[..]].concat()).unwrap();
        assert_eq!((one.range, one.static_peers.len()), (Some(DiscoveryRange::Localhost), 0));
        let zero = read(&[&[("ROS_LOCALHOST_ONLY", "0")], &others[..]].concat()).unwrap();
        assert_eq!((zero.range, zero.static_peers.len()), (Some(DiscoveryRange::Subnet), 1));
    }

    #[test]
    fn security_is_on_with_true_and_enforced_with_enforce_alone() {
        let of = |on, strategy| {
            let security = read(&[("ROS_SECURITY_ENABLE", on), ("ROS_SECURITY_STRATEGY", strategy)]).unwrap().security;
            (security.is_enabled, security.is_enforced)
        };
        assert_eq!(of("true", "Enforce"), (true, true));
        assert_eq!(of("1", "enforce"), (false, false));
        assert_eq!(of("false", "Permissive"), (false, false));
    }

    #[test]
    fn unknown_range_counts_as_localhost() {
        let found = read(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "WORLD")]).unwrap();
        assert_eq!(found.range, Some(DiscoveryRange::Localhost));
    }

    #[test]
    fn invalid_domain_names_variable_and_value() {
        let error = read(&[("ROS_DOMAIN_ID", "233")]).unwrap_err().to_string();
        assert_eq!(error, "invalid ROS_DOMAIN_ID=\"233\": expected a number from 0 to 232");
    }
}
