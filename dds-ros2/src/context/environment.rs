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
        match set("ROS_LOCALHOST_ONLY").as_deref() {
            Some("1") => {
                tracing::warn!("ROS_LOCALHOST_ONLY is deprecated; set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST");
                // It overrides the range and the peers, as in `rcl`.
                Ok(Self { domain_id, range: Some(DiscoveryRange::Localhost), static_peers: Vec::new() })
            }
            Some(value) => {
                if value != "0" {
                    tracing::warn!("ROS_LOCALHOST_ONLY={value:?} has no effect; expected 0 or 1");
                }
                Ok(Self { domain_id, range, static_peers })
            }
            None => Ok(Self { domain_id, range, static_peers }),
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
        let expected = Environment { domain_id: Some(42), range: Some(DiscoveryRange::Off), static_peers };
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
