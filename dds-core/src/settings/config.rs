//! Settings of a participant: defaults, profile, environment and code. Later ones override earlier ones.

use crate::driver::{SHARED_MEMORY, ThreadOptions};
use crate::infrastructure::{CreateErrorKind, Delivery};
use crate::qos::DomainParticipantQos;
#[cfg(feature = "serde")]
use crate::settings::Profiles;
use crate::settings::peer_address::{is_peer, is_wrong_address};
use dds_rtps::transport::RECEIVE_BUFFER;
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::{Duration, IpFamilies};
use dds_rtps::wire::{ChecksumKind, MessageTransform, Transform};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// The highest domain id whose ports fit below 65536 (RTPS 2.5, 9.6.2 with the default port numbers).
pub(crate) const DOMAIN_ID_MAX: u32 = 232;

/// Property that marks the participant of a durability service (RTPS 2.5, 9.6.3, PID_PROPERTY_LIST).
pub const DURABILITY_SERVICE: &str = "dds.durability_service";

/// Variable with the pre-shared key.
pub(super) const PRE_SHARED_KEY_VARIABLE: &str = "DDS_PRE_SHARED_KEY";

/// Returns the value of an environment variable.
type LookUp<'a> = &'a dyn Fn(&'static str) -> Result<Option<String>, CreateErrorKind>;

/// How far discovery of a participant reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Scope {
    /// Only this host: no datagram leaves it.
    Host,
    /// All participants that multicast reaches, and the given peers. The default.
    #[default]
    Subnet,
    /// Only the given peers: the participant neither sends nor joins multicast.
    PeersOnly,
}

/// The thread that receives user data of a participant.
///
/// | | `Thread` | `Caller` |
/// |---|---|---|
/// | a thread that blocks in a wait of this participant | the receive thread wakes it | reads the socket itself |
/// | no thread blocks | the receive thread | the participant's thread for timers and discovery (`dds-io`) |
/// | futures, streams, event threads | the receive thread wakes them | the receiving thread wakes them |
/// | [`Inline`](Delivery::Inline) listeners | on the receive thread | on the receiving thread, also on a waiting one |
/// | threads of a participant | 2 and more | 1 and more |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Receiving {
    /// A separate thread, `dds-receive`, for each IP version. The default.
    #[default]
    Thread,
    /// The waiting thread. Only on Linux; elsewhere as `Thread`.
    Caller,
}

/// All settings of a participant.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) domain_id: u32,
    pub(crate) name: String,
    pub(crate) qos: DomainParticipantQos,
    pub(crate) scope: Scope,
    pub(crate) peers: Vec<String>,
    pub(crate) interfaces: Vec<String>,
    pub(crate) ip_families: IpFamilies,
    pub(crate) multicast_ttl: u8,
    /// `None` means the default of the network.
    pub(crate) receive_buffer: Option<usize>,
    pub(crate) send_buffer: usize,
    pub(crate) domain_tag: String,
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) lease: Duration,
    pub(crate) announcement_period: Duration,
    /// `None` adapts it to the locations of the readers.
    pub(crate) fragment_size: Option<u16>,
    pub(crate) linger: Duration,
    pub(crate) udp_only: bool,
    /// Bound of the memory that is shared with participants of this host, in bytes.
    pub(crate) shared_memory: usize,
    /// How long a thread that receives polls shared memory before it sleeps.
    pub(crate) busy_poll: Duration,
    /// Publish the latencies of all endpoints.
    pub(crate) publish_latencies: bool,
    /// Endpoints announce descriptions of their types.
    pub(crate) type_information: bool,
    pub(crate) message_checksums: Option<ChecksumKind>,
    /// Transform of all messages, in place of checksums.
    pub(crate) message_transform: Option<Arc<dyn MessageTransform>>,
    #[cfg(feature = "security")]
    pub(crate) pre_shared_key: Option<dds_security::psk::PreSharedKey>,
    /// The key of the environment, until `protect`. A property in code overrides it.
    #[cfg(feature = "security")]
    pub(super) environment_key: Option<dds_security::psk::PreSharedKey>,
    /// The identity, until `begin_security` makes the plugins of it.
    #[cfg(feature = "security-pki")]
    pub(crate) credentials: Option<crate::protection::Credentials>,
    #[cfg(feature = "security-pki")]
    pub(super) plugins: Option<Arc<crate::protection::SecurityPlugins>>,
    pub(crate) delivery: Delivery,
    pub(crate) receive: Receiving,
    pub(crate) threads: ThreadOptions,
    pub(crate) tap: Option<PathBuf>,
    pub(crate) faults: Option<Faults>,
    pub(crate) receive_faults: Option<Faults>,
    /// It is enabled when it is created.
    pub(crate) enabled: bool,
    /// The profile file that was read.
    pub(crate) profile_file: Option<PathBuf>,
    /// Profiles for `profile` of the endpoints' builders.
    #[cfg(feature = "serde")]
    pub(crate) profiles: Arc<Profiles>,
    /// Variables of the environment without an effect, with those that are probably meant.
    pub(crate) misspelled: Vec<(String, &'static str)>,
    pub(super) origins: Vec<Origin>,
}

/// Source of a setting. Later ones override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    #[cfg(feature = "serde")]
    Profile,
    Environment,
    Code,
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
            ip_families: IpFamilies::default(),
            multicast_ttl: 1,
            receive_buffer: None,
            send_buffer: 1 << 20,
            domain_tag: String::new(),
            properties: Vec::new(),
            lease: Duration::from_secs(20),
            announcement_period: Duration::from_secs(3),
            fragment_size: None,
            linger: Duration::from_secs(1),
            udp_only: false,
            shared_memory: SHARED_MEMORY,
            busy_poll: Duration::ZERO,
            publish_latencies: false,
            type_information: true,
            message_checksums: None,
            message_transform: None,
            #[cfg(feature = "security")]
            pre_shared_key: None,
            #[cfg(feature = "security")]
            environment_key: None,
            #[cfg(feature = "security-pki")]
            credentials: None,
            #[cfg(feature = "security-pki")]
            plugins: None,
            delivery: Delivery::default(),
            receive: Receiving::default(),
            threads: ThreadOptions::default(),
            tap: None,
            faults: None,
            receive_faults: None,
            enabled: true,
            profile_file: None,
            #[cfg(feature = "serde")]
            profiles: Arc::default(),
            misspelled: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Returns each setting with its name.
    pub(super) fn settings(&self) -> [(&'static str, String); 29] {
        [
            ("domain", text(&self.domain_id)),
            ("name", text(&self.name)),
            ("user_data", format!("{} octets", self.qos.user_data.len())),
            ("scope", text(&self.scope)),
            ("peers", text(&self.peers)),
            ("interfaces", text(&self.interfaces)),
            ("ip_families", text(&self.ip_families)),
            ("multicast_ttl", self.multicast_ttl.to_string()),
            ("receive_buffer", self.receive_buffer.unwrap_or(RECEIVE_BUFFER).to_string()),
            ("send_buffer", self.send_buffer.to_string()),
            ("domain_tag", text(&self.domain_tag)),
            ("properties", text(&self.properties)),
            ("lease", self.lease.to_string()),
            ("announcement_period", self.announcement_period.to_string()),
            ("fragment_size", text(&self.fragment_size)),
            ("linger", self.linger.to_string()),
            ("udp_only", text(&self.udp_only)),
            ("shared_memory", self.shared_memory.to_string()),
            ("busy_poll", self.busy_poll.to_string()),
            ("publish_latencies", text(&self.publish_latencies)),
            ("type_information", text(&self.type_information)),
            ("message_checksums", text(&self.message_checksums)),
            ("pre_shared_key", self.key_text()),
            ("credentials", self.credentials_text()),
            ("delivery", text(&self.delivery)),
            ("receive", text(&self.receive)),
            ("enabled", text(&self.enabled)),
            ("tap", text(&self.tap)),
            ("profiles", text(&self.profile_file)),
        ]
    }

    /// Applies changes, and records `origin` as the source of all settings that they changed.
    pub(crate) fn change<E>(
        &mut self,
        origin: Origin,
        change: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        // Compared as text: a setting that is set to its present value keeps its origin.
        let before = self.settings();
        // An error leaves the configuration half changed. The caller drops it.
        change(self)?;
        self.origins.resize(before.len(), Origin::Default);
        for (at, (_, value)) in self.settings().into_iter().enumerate() {
            if value != before[at].1 {
                self.origins[at] = origin;
            }
        }
        Ok(())
    }

    /// Returns the settings with their sources, for the log: all, or those that were changed.
    pub(crate) fn describe(&self, with_defaults: bool) -> String {
        let mut texts = Vec::new();
        for (at, (name, value)) in self.settings().into_iter().enumerate() {
            // Before the first change there are no origins.
            let origin = self.origins.get(at).copied().unwrap_or(Origin::Default);
            if with_defaults || origin != Origin::Default {
                texts.push(format!("{name} = {value} ({origin})"));
            }
        }
        texts.join(", ")
    }

    /// Sets a property. Replaces one with the same name.
    pub(crate) fn set_property(&mut self, name: String, value: String) {
        self.properties.retain(|(known, _)| *known != name);
        // At the end: peers see the properties in the order in which they were set.
        self.properties.push((name, value));
    }

    /// Returns whether the participant is that of a durability service.
    ///
    /// Its endpoints stand in for those of other participants and do not match each other.
    pub(crate) fn is_durability_service(&self) -> bool {
        self.properties.iter().any(|(name, _)| name == DURABILITY_SERVICE)
    }

    /// Transform of all messages between encoding and socket, and between socket and parser.
    pub(crate) fn transform(&self) -> Transform {
        match (&self.message_transform, self.message_checksums) {
            // A protection includes a check of its own, so it comes before checksums.
            (Some(transform), _) => Transform::Custom(Arc::clone(transform)),
            (None, Some(kind)) => Transform::Checksum(kind),
            (None, None) => Transform::Identity,
        }
    }

    /// Applies the environment. `look_up` returns the value of a variable.
    ///
    /// Each variable overrides its setting of the profile. An unset one leaves it.
    pub(crate) fn apply_environment(
        &mut self,
        look_up: impl Fn(&'static str) -> Result<Option<String>, CreateErrorKind>,
    ) -> Result<(), CreateErrorKind> {
        self.apply_variables_of_discovery(&look_up)?;
        self.apply_variables_of_transports(&look_up)?;
        self.apply_variables_of_samples(&look_up)?;
        self.apply_key_variable(look_up(PRE_SHARED_KEY_VARIABLE)?)
    }

    /// Applies the variables that decide which participants this one finds.
    fn apply_variables_of_discovery(&mut self, look_up: LookUp<'_>) -> Result<(), CreateErrorKind> {
        if let Some(value) = look_up("DDS_SCOPE")? {
            let scopes = [("host", Scope::Host), ("subnet", Scope::Subnet), ("peers-only", Scope::PeersOnly)];
            self.scope = choice("DDS_SCOPE", value, &scopes, "one of host, subnet, peers-only")?;
        }
        if let Some(value) = look_up("DDS_PEERS")? {
            self.peers = list(&value);
        }
        if let Some(value) = look_up("DDS_DOMAIN_TAG")? {
            self.domain_tag = value;
        }
        if let Some(value) = look_up("DDS_INTERFACES")? {
            self.interfaces = list(&value);
        }
        if let Some(value) = look_up("DDS_IP")? {
            let families = [
                ("auto", IpFamilies::Auto),
                ("v4", IpFamilies::V4),
                ("v6", IpFamilies::V6),
                ("both", IpFamilies::Both),
            ];
            self.ip_families = choice("DDS_IP", value, &families, "one of auto, v4, v6, both")?;
        }
        if let Some(value) = look_up("DDS_MULTICAST_TTL")? {
            self.multicast_ttl = number("DDS_MULTICAST_TTL", value, "a number from 0 to 255")?;
        }
        Ok(())
    }

    /// Applies the variables of sockets, shared memory and the capture.
    fn apply_variables_of_transports(&mut self, look_up: LookUp<'_>) -> Result<(), CreateErrorKind> {
        if let Some(value) = look_up("DDS_TRANSPORTS")? {
            self.udp_only = choice("DDS_TRANSPORTS", value, &[("all", false), ("udp", true)], "one of all, udp")?;
        }
        if let Some(value) = look_up("DDS_RECEIVE_BUFFER")? {
            self.receive_buffer = Some(number("DDS_RECEIVE_BUFFER", value, "a number of bytes")?);
        }
        if let Some(value) = look_up("DDS_SEND_BUFFER")? {
            self.send_buffer = number("DDS_SEND_BUFFER", value, "a number of bytes")?;
        }
        if let Some(value) = look_up("DDS_SHARED_MEMORY")? {
            self.shared_memory = number("DDS_SHARED_MEMORY", value, "a number of bytes")?;
        }
        if let Some(value) = look_up("DDS_BUSY_POLL")? {
            let micros: u32 = number("DDS_BUSY_POLL", value, "a number of microseconds")?;
            self.busy_poll = Duration::from_micros(micros.into());
        }
        if let Some(value) = look_up("DDS_TAP")? {
            // The tap would otherwise create a file without a name, and fail much later.
            if value.is_empty() {
                return Err(unreadable("DDS_TAP", value, "the path of a file"));
            }
            self.tap = Some(value.into());
        }
        Ok(())
    }

    /// Applies the variables that concern samples and their types.
    fn apply_variables_of_samples(&mut self, look_up: LookUp<'_>) -> Result<(), CreateErrorKind> {
        let switch = [("on", true), ("off", false)];
        if let Some(value) = look_up("DDS_TYPE_INFORMATION")? {
            self.type_information = choice("DDS_TYPE_INFORMATION", value, &switch, "one of on, off")?;
        }
        if let Some(value) = look_up("DDS_LATENCIES")? {
            // The report of latencies is a derived type.
            let (choices, expected): (&[_], _) = if cfg!(feature = "derive") {
                (&switch, "one of on, off")
            } else {
                (&[("off", false)], "off, for this build lacks the feature `derive`")
            };
            self.publish_latencies = choice("DDS_LATENCIES", value, choices, expected)?;
        }
        if let Some(value) = look_up("DDS_RECEIVE")? {
            let threads = [("thread", Receiving::Thread), ("caller", Receiving::Caller)];
            self.receive = choice("DDS_RECEIVE", value, &threads, "one of thread, caller")?;
        }
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<(), CreateErrorKind> {
        // First, because its message is the clearest: all ports depend on the domain.
        if self.domain_id > DOMAIN_ID_MAX {
            return Err(CreateErrorKind::InvalidDomain { domain_id: self.domain_id });
        }
        for peer in &self.peers {
            if !is_peer(peer) {
                return Err(CreateErrorKind::InvalidPeer { peer: peer.clone() });
            }
            if is_wrong_address(peer) {
                return Err(CreateErrorKind::NotAnAddress { peer: peer.clone() });
            }
        }
        self.threads.check().map_err(CreateErrorKind::from)?;
        self.qos.check().map_err(CreateErrorKind::InconsistentQos)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            #[cfg(feature = "serde")]
            Self::Profile => "profile",
            Self::Environment => "environment",
            Self::Code => "code",
        })
    }
}

/// Returns the value of an environment variable.
pub(crate) fn variable(name: &'static str) -> Result<Option<String>, CreateErrorKind> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    match value.into_string() {
        Ok(value) => Ok(Some(value)),
        Err(value) => Err(not_utf8(name, value)),
    }
}

/// Reads a list with commas between its parts.
fn list(value: &str) -> Vec<String> {
    // An empty variable means an empty list, which overrides that of the profile.
    value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the setting that a variable names.
fn choice<T: Copy>(
    variable: &'static str,
    value: String,
    choices: &[(&str, T)],
    expected: &'static str,
) -> Result<T, CreateErrorKind> {
    match choices.iter().find(|(name, _)| *name == value) {
        Some((_, setting)) => Ok(*setting),
        None => Err(unreadable(variable, value, expected)),
    }
}

fn number<N: FromStr>(variable: &'static str, value: String, expected: &'static str) -> Result<N, CreateErrorKind> {
    match value.parse() {
        Ok(number) => Ok(number),
        Err(_) => Err(unreadable(variable, value, expected)),
    }
}

fn text(value: &dyn fmt::Debug) -> String {
    format!("{value:?}")
}

/// Returns the error for a variable that is not UTF-8. The error does not show a secret.
pub(super) fn not_utf8(variable: &'static str, value: OsString) -> CreateErrorKind {
    // The text of the error goes to logs.
    if variable != PRE_SHARED_KEY_VARIABLE {
        return unreadable(variable, value.to_string_lossy().into_owned(), "UTF-8");
    }
    // Its memory is freed now, and must not keep the secret.
    #[cfg(feature = "security")]
    drop(dds_security::psk::Zeroizing::new(value.into_encoded_bytes()));
    CreateErrorKind::security(format!("{PRE_SHARED_KEY_VARIABLE} is not UTF-8"))
}

/// Returns the domain of the environment.
pub(crate) fn domain_of_environment(
    look_up: impl Fn(&'static str) -> Result<Option<String>, CreateErrorKind>,
) -> Result<Option<u32>, CreateErrorKind> {
    let Some(value) = look_up("DDS_DOMAIN")? else { return Ok(None) };
    match value.parse() {
        Ok(domain) if domain <= DOMAIN_ID_MAX => Ok(Some(domain)),
        _ => Err(unreadable("DDS_DOMAIN", value, "a number from 0 to 232")),
    }
}

pub(crate) fn unreadable(variable: &'static str, value: String, expected: &'static str) -> CreateErrorKind {
    CreateErrorKind::Environment { variable, value: value.into(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Config, CreateErrorKind> {
        let mut config = Config::new(0);
        config.apply_environment(|name| {
            Ok(variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
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
        let config = with(&[
            ("DDS_IP", "both"),
            ("DDS_MULTICAST_TTL", "7"),
            ("DDS_RECEIVE_BUFFER", "65536"),
            ("DDS_SEND_BUFFER", "32768"),
            ("DDS_SHARED_MEMORY", "0"),
            ("DDS_BUSY_POLL", "50"),
            ("DDS_TYPE_INFORMATION", "off"),
            ("DDS_RECEIVE", "caller"),
            ("DDS_LATENCIES", "on"),
        ]);
        let config = config.unwrap();
        assert!(!config.type_information);
        assert!(config.publish_latencies && !Config::new(0).publish_latencies);
        assert_eq!(config.receive, Receiving::Caller);
        assert_eq!(with(&[("DDS_RECEIVE", "thread")]).unwrap().receive, Receiving::Thread);
        assert_eq!((config.ip_families, config.multicast_ttl), (IpFamilies::Both, 7));
        assert_eq!((config.receive_buffer, config.send_buffer), (Some(65_536), 32_768));
        assert_eq!((config.shared_memory, Config::new(0).shared_memory), (0, 64 << 20));
        assert_eq!((config.busy_poll, Config::new(0).busy_poll), (Duration::from_micros(50), Duration::ZERO));
    }

    #[test]
    fn an_unreadable_variable_is_an_error_that_names_it() {
        for name in [
            "DDS_SCOPE",
            "DDS_TYPE_INFORMATION",
            "DDS_LATENCIES",
            "DDS_RECEIVE",
            "DDS_IP",
            "DDS_MULTICAST_TTL",
            "DDS_RECEIVE_BUFFER",
            "DDS_SEND_BUFFER",
            "DDS_SHARED_MEMORY",
            "DDS_BUSY_POLL",
        ] {
            let error = with(&[(name, "galaxy")]).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            assert!(error.to_string().contains("galaxy"), "{error}");
        }
    }

    #[test]
    fn invalid_peer_is_named_in_error() {
        let mut config = Config::new(0);
        config.peers = vec!["robot".into(), "robot:many".into()];
        assert_eq!(config.check(), Err(CreateErrorKind::InvalidPeer { peer: "robot:many".into() }));
    }

    #[test]
    fn a_domain_beyond_the_ports_is_refused() {
        assert_eq!(Config::new(233).check(), Err(CreateErrorKind::InvalidDomain { domain_id: 233 }));
    }

    #[test]
    fn the_log_says_where_each_setting_comes_from() {
        let mut config = Config::new(0);
        let set = |config: &mut Config, origin, change: fn(&mut Config)| {
            config
                .change(origin, |config| {
                    change(config);
                    Ok::<(), CreateErrorKind>(())
                })
                .unwrap();
        };
        set(&mut config, Origin::Environment, |config| {
            config.scope = Scope::Host;
            config.domain_tag = "lab".to_owned();
        });
        set(&mut config, Origin::Code, |config| config.scope = Scope::PeersOnly);
        let text = config.describe(true);
        assert!(text.contains("scope = PeersOnly (code)"), "{text}");
        assert!(text.contains("domain_tag = \"lab\" (environment)"), "{text}");
        assert!(text.contains("lease = 20s (default)"), "{text}");
        assert_eq!(config.describe(false), "scope = PeersOnly (code), domain_tag = \"lab\" (environment)");
    }

    #[test]
    fn the_environments_domain_is_a_number_with_ports() {
        let domain = |value: Option<&str>| domain_of_environment(|_| Ok(value.map(str::to_owned)));
        assert_eq!(domain(None), Ok(None));
        assert_eq!(domain(Some("7")), Ok(Some(7)));
        for value in ["", "-1", "233", "seven"] {
            assert!(matches!(domain(Some(value)), Err(CreateErrorKind::Environment { .. })), "{value}");
        }
    }
}
