//! The settings with which a participant is made, and where they come from.

use crate::context::ParticipantRef;
use crate::driver::{Driver, OsDriver, ThreadOptions};
use crate::infrastructure::{CreateError, CreateErrorKind, Delivery, Subject};
use crate::participant::{DomainParticipant, ParticipantHandle};
use crate::qos::DomainParticipantQos;
#[cfg(feature = "serde")]
use crate::settings::Profiles;
#[cfg(not(feature = "serde"))]
use crate::settings::unreadable;
use crate::settings::{Config, Origin, Receiving, Scope, domain_of_environment, variable};
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::{Duration, Guid, IpFamilies};
use dds_rtps::wire::{ChecksumKind, MessageTransform};
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a [`DomainParticipant`]. What is set here beats the environment, which beats the
/// profile file, which beats the defaults. The log says once, at `info`, what holds and where it comes from.
///
/// | setting | default | environment |
/// |---|---|---|
/// | domain, of [`from_env`](DomainParticipant::from_env) and [`Default`] alone | 0 | `DDS_DOMAIN`: a number from 0 to 232 |
/// | `profiles` (feature `serde`) | none | `DDS_PROFILES`: the path of a file |
/// | [`scope`](Self::scope) | `Subnet` | `DDS_SCOPE`: `host`, `subnet`, `peers-only` |
/// | [`peers`](Self::peers) | none | `DDS_PEERS`: names or addresses, with or without a port, by comma |
/// | [`interfaces`](Self::interfaces) | all | `DDS_INTERFACES`: names or addresses, by comma |
/// | [`ip_families`](Self::ip_families) | `Auto` | `DDS_IP`: `auto`, `v4`, `v6`, `both` |
/// | [`multicast_ttl`](Self::multicast_ttl) | 1 | `DDS_MULTICAST_TTL`: a number from 0 to 255 |
/// | [`receive_buffer`](Self::receive_buffer) | 4 MiB | `DDS_RECEIVE_BUFFER`: bytes |
/// | [`send_buffer`](Self::send_buffer) | 1 MiB | `DDS_SEND_BUFFER`: bytes |
/// | [`announcement_period`](Self::announcement_period) | 3 s | |
/// | [`fragment_size`](Self::fragment_size) | 65 000 on one host, else 1344 | |
/// | [`domain_tag`](Self::domain_tag) | none | `DDS_DOMAIN_TAG` |
/// | [`message_checksums`](Self::message_checksums) | none | |
/// | [`udp_only`](Self::udp_only) | no | `DDS_TRANSPORTS`: `all`, `udp` |
/// | [`type_information`](Self::type_information) | yes | `DDS_TYPE_INFORMATION`: `on`, `off` |
/// | [`receive`](Self::receive) | `Thread` | `DDS_RECEIVE`: `thread`, `caller` |
/// | [`tap`](Self::tap) | none | `DDS_TAP`: the path of a file |
///
/// ```
/// use dds_core::{Delivery, DomainParticipant, Duration, Scope};
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .name("planner") // as others see it
///     .scope(Scope::Host) // nothing leaves this machine
///     .lease(Duration::from_secs(5)) // others forget it after so long a silence
///     .linger(Duration::ZERO) // the last drop waits for nobody
///     .delivery(Delivery::Inline) // listeners on the thread that receives
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// assert_eq!(participant.domain_id(), 0);
/// # Ok(())
/// # }
/// ```
///
/// A variable that cannot be understood is an error, never ignored.
///
/// Participants that have much in common are made of clones of one builder, whose [`qos`](Self::qos) is their default: there is
/// no factory that would hold one (DDS 1.4, 2.2.2.2.2.5).
///
/// # Profile files
///
/// With the feature `profiles`, QoS comes from files in the OMG's XML form: see `docs/profiles.md`.
/// With the feature `serde`, settings and QoS come from a TOML or JSON file as well, each under the name that it has in the
/// code. `[participant]` holds the settings above; each `[writer.NAME]` and `[reader.NAME]` a QoS, for
/// `profile` on a writer's or reader's builder. A QoS begins with its `preset`, or else with
/// the defaults, and names only what differs. Times have a unit: `ns`, `us`, `ms` or `s`; or are `infinite`.
///
/// ```toml
#[doc = include_str!("../../tests/profiles/robot.toml")]
/// ```
#[must_use = "a builder makes nothing until `build` is called"]
#[doc(alias = "set_default_participant_qos")]
#[doc(alias = "get_default_participant_qos")]
#[derive(Debug, Clone)]
pub struct DomainParticipantBuilder {
    domain_id: Option<u32>,
    settings: Vec<Setting>,
    read_environment: bool,
    #[cfg(feature = "serde")]
    profiles: Option<PathBuf>,
    #[cfg(feature = "serde")]
    profile: Option<String>,
}

/// The domain that the environment names, or else the profile file; domain 0 if neither does.
impl Default for DomainParticipantBuilder {
    fn default() -> Self {
        Self {
            domain_id: None,
            settings: Vec::new(),
            read_environment: true,
            #[cfg(feature = "serde")]
            profiles: None,
            #[cfg(feature = "serde")]
            profile: None,
        }
    }
}

/// One call of a setter, to be applied after the environment.
#[derive(Debug, Clone)]
enum Setting {
    Name(String),
    Qos(DomainParticipantQos),
    Scope(Scope),
    Peers(Vec<String>),
    Interfaces(Vec<String>),
    IpFamilies(IpFamilies),
    MulticastTtl(u8),
    ReceiveBuffer(usize),
    SendBuffer(usize),
    DomainTag(String),
    Property(String, String),
    Lease(Duration),
    AnnouncementPeriod(Duration),
    FragmentSize(u16),
    Linger(Duration),
    UdpOnly(bool),
    TypeInformation(bool),
    MessageChecksums(ChecksumKind),
    MessageTransform(Arc<dyn MessageTransform>),
    Delivery(Delivery),
    Receive(Receiving),
    Threads(ThreadOptions),
    Tap(PathBuf),
    Faults(Faults),
    ReceiveFaults(Faults),
    Enabled(bool),
}

impl Setting {
    fn apply(self, config: &mut Config) {
        match self {
            Self::Name(name) => config.name = name,
            Self::Qos(qos) => config.qos = qos,
            Self::Scope(scope) => config.scope = scope,
            Self::Peers(peers) => config.peers = peers,
            Self::Interfaces(interfaces) => config.interfaces = interfaces,
            Self::IpFamilies(families) => config.ip_families = families,
            Self::MulticastTtl(ttl) => config.multicast_ttl = ttl,
            Self::ReceiveBuffer(bytes) => config.receive_buffer = Some(bytes),
            Self::SendBuffer(bytes) => config.send_buffer = bytes,
            Self::DomainTag(tag) => config.domain_tag = tag,
            Self::Property(name, value) => config.set_property(name, value),
            Self::Lease(lease) => config.lease = lease,
            Self::AnnouncementPeriod(period) => config.announcement_period = period,
            Self::FragmentSize(bytes) => config.fragment_size = Some(bytes),
            Self::Linger(linger) => config.linger = linger,
            Self::UdpOnly(udp_only) => config.udp_only = udp_only,
            Self::TypeInformation(is_announced) => config.type_information = is_announced,
            Self::MessageChecksums(kind) => config.message_checksums = Some(kind),
            Self::MessageTransform(transform) => config.message_transform = Some(transform),
            Self::Delivery(delivery) => config.delivery = delivery,
            Self::Receive(receive) => config.receive = receive,
            Self::Threads(threads) => config.threads = threads,
            Self::Tap(path) => config.tap = Some(path),
            Self::Faults(faults) => config.faults = Some(faults),
            Self::ReceiveFaults(faults) => config.receive_faults = Some(faults),
            Self::Enabled(enabled) => config.enabled = enabled,
        }
    }
}

impl DomainParticipantBuilder {
    pub(super) fn new(domain_id: u32) -> Self {
        Self { domain_id: Some(domain_id), ..Self::default() }
    }

    fn set(mut self, setting: Setting) -> Self {
        self.settings.push(setting);
        self
    }

    /// A name that others see, such as the program's. Default: none.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.set(Setting::Name(name.into()))
    }

    /// The QoS. Default: that of DDS 1.4.
    pub fn qos(self, qos: DomainParticipantQos) -> Self {
        self.set(Setting::Qos(qos))
    }

    /// How far the participant looks for others, and lets itself be seen. Default: [`Scope::Subnet`].
    /// Environment: `DDS_SCOPE`.
    pub fn scope(self, scope: Scope) -> Self {
        self.set(Setting::Scope(scope))
    }

    /// Where others are looked for by unicast. Default: nowhere. Environment: `DDS_PEERS`.
    ///
    /// A host, by name or address, is searched at its well-known ports: `robot`, `192.0.2.7`, `fd00::7`, `fe80::7%eth0`. With a port
    /// it is that one alone, a participant's metatraffic port: `robot:7412`, `192.0.2.7:7412`, `[fd00::7]:7412`. A name is
    /// looked up again every minute, and sooner while it stands for nothing, which the log says: a peer may get its address
    /// later, or another one.
    pub fn peers<P: Into<String>>(self, peers: impl IntoIterator<Item = P>) -> Self {
        self.set(Setting::Peers(peers.into_iter().map(Into::into).collect()))
    }

    /// The network interfaces to be used, by name or address. Default: all. Environment: `DDS_INTERFACES`.
    ///
    /// The participant listens and sends multicast on each of them, and announces their addresses. Interfaces that come and
    /// go, and addresses that change, are followed within 2 s, with [`Scope::Subnet`] and [`Scope::PeersOnly`].
    pub fn interfaces<I: Into<String>>(self, interfaces: impl IntoIterator<Item = I>) -> Self {
        self.set(Setting::Interfaces(interfaces.into_iter().map(Into::into).collect()))
    }

    /// Which versions of IP are spoken. Default: [`IpFamilies::Auto`], which is IPv4; and IPv6 too if no interface has an
    /// IPv4 address but loopback, or a peer has only an IPv6 one. Environment: `DDS_IP`.
    ///
    /// A peer that speaks both is sent to by one of them: at the first of its addresses that is in a network of this host.
    /// A second version costs sockets, a thread, and announcements by its own multicast groups (those of Cyclone DDS and
    /// of Fast DDS for IPv6).
    pub fn ip_families(self, families: IpFamilies) -> Self {
        self.set(Setting::IpFamilies(families))
    }

    /// How many routers a multicast datagram may pass, plus one. Default: 1, which stays in the subnet; 0 stays on this
    /// host. Environment: `DDS_MULTICAST_TTL`.
    pub fn multicast_ttl(self, ttl: u8) -> Self {
        self.set(Setting::MulticastTtl(ttl))
    }

    /// Bytes asked of the system for what waits to be received, for each socket. Default: 4 MiB, enough for a burst of one
    /// large sample. The system grants less without a word if its limit (Linux: `net.core.rmem_max`) is lower, unless the
    /// number was given and the process may exceed the limit (`CAP_NET_ADMIN`); the log line of the start says how much it is.
    /// A best-effort sample from a writer that does not pace itself needs room for all of it. Environment: `DDS_RECEIVE_BUFFER`.
    pub fn receive_buffer(self, bytes: usize) -> Self {
        self.set(Setting::ReceiveBuffer(bytes))
    }

    /// Bytes asked of the system for what waits to be sent, for each socket. Default: 1 MiB. More room means fewer sends
    /// that find none and go out later, and older data on a slow link. Environment: `DDS_SEND_BUFFER`.
    pub fn send_buffer(self, bytes: usize) -> Self {
        self.set(Setting::SendBuffer(bytes))
    }

    /// Only participants with the same tag are seen (RTPS 2.5, 8.5.3.2). Default: no tag. Environment: `DDS_DOMAIN_TAG`.
    pub fn domain_tag(self, tag: impl Into<String>) -> Self {
        self.set(Setting::DomainTag(tag.into()))
    }

    /// A name and a value that others see with the participant, and that only inform, such as a version or a host. May be
    /// called several times; a name that was given before gets the new value. Default: none.
    pub fn property(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(Setting::Property(name.into(), value.into()))
    }

    /// After how long without a sign of life others forget this participant. Default: 20 s.
    pub fn lease(self, lease: impl Into<Duration>) -> Self {
        self.set(Setting::Lease(lease.into()))
    }

    /// How often the participant is announced to others, give or take a tenth; at least six times in a [`lease`](Self::lease)
    /// whatever is asked for, and no more often than every 10 ms. Default: 3 s. Who comes in between is answered at once.
    pub fn announcement_period(self, period: impl Into<Duration>) -> Self {
        self.set(Setting::AnnouncementPeriod(period.into()))
    }

    /// The most bytes of a sample that travel in one piece, from 64 to 65 000; what is out of that range is the nearest end of it.
    /// Larger samples leave in fragments of this size. Default: 65 000 while all readers of a writer are on this host, else 1344, which
    /// fits into an Ethernet frame.
    pub fn fragment_size(self, bytes: u16) -> Self {
        self.set(Setting::FragmentSize(bytes))
    }

    /// For how long dropping the last handle waits for acknowledgements of what dropped reliable writers have sent.
    /// Default: 1 s; zero: not at all.
    pub fn linger(self, linger: impl Into<Duration>) -> Self {
        self.set(Setting::Linger(linger.into()))
    }

    /// Whether the participant takes part as soon as it is made. Default: yes. If not, nobody hears of it, and it hears of nobody,
    /// until [`Entity::enable`](crate::Entity::enable) is called. What is made with it meanwhile is not enabled either.
    #[doc(alias = "autoenable_created_entities")]
    pub fn enabled(self, enabled: bool) -> Self {
        self.set(Setting::Enabled(enabled))
    }

    /// Sends by UDP even to readers of this participant, instead of handing them the sample. Default: no. Environment:
    /// `DDS_TRANSPORTS` (`udp`).
    ///
    /// (Other participants, of this process too, are always reached by UDP.)
    pub fn udp_only(self, udp_only: bool) -> Self {
        self.set(Setting::UdpOnly(udp_only))
    }

    /// Whether readers and writers announce what their types are made of (TypeInformation, XTYPES 1.3, 7.6.3.2.2), and describe
    /// it to whoever asks. Default: yes. Then types match if what the writer sends can be what the reader has, whatever their
    /// names; and others see a type that they do not have themselves. Environment: `DDS_TYPE_INFORMATION`.
    ///
    /// If not, the **names** of types decide, here and at others (7.6.3.4.2), and nobody looks whether they fit. That is for
    /// others who describe the same IDL in other words than we do, and so refuse what they could read:
    ///
    /// - Fast DDS from 3.0 on wants equal descriptions, down to the last flag. It has the same switch (the property
    ///   `fastdds.type_propagation`, `disabled`).
    /// - Cyclone DDS up to 11.0 counts the members of unions from 0, unlike the standard (`#[dds(id = 0)]` at the first case says
    ///   the same); and a `typedef` within a final struct makes it another type, which Rust's aliases are not.
    #[doc(alias = "type_propagation")]
    pub fn type_information(self, is_announced: bool) -> Self {
        self.set(Setting::TypeInformation(is_announced))
    }

    /// Gives every message a checksum of its own, in a HEADER_EXTENSION (RTPS 2.5, 8.3.7): for networks whose own checksums
    /// are too weak, or are switched off. A receiver that knows it drops a damaged message, and what is reliable is
    /// repaired; one that does not skips it. Default: none.
    ///
    /// It costs a copy and a pass over each message sent and received, and 12 (CRC-32C), 16 (CRC-64) or 24 (MD5) bytes in
    /// it. Checksums of others are checked in any case; see [`TrafficCounters::damaged`](crate::TrafficCounters::damaged).
    pub fn message_checksums(self, kind: ChecksumKind) -> Self {
        self.set(Setting::MessageChecksums(kind))
    }

    /// Transforms every message, in place of checksums. All participants of the domain need the same transform.
    ///
    /// For DDS Security and tests. Fragments are then not received in place.
    #[doc(hidden)]
    pub fn message_transform(self, transform: Arc<dyn MessageTransform>) -> Self {
        self.set(Setting::MessageTransform(transform))
    }

    /// On which thread listeners are called, unless an endpoint's builder says otherwise. Default:
    /// [`Delivery::EventThread`].
    pub fn delivery(self, delivery: Delivery) -> Self {
        self.set(Setting::Delivery(delivery))
    }

    /// Which thread receives what others send: one of the participant's own, or whichever waits. Default:
    /// [`Receiving::Thread`]. Environment: `DDS_RECEIVE`.
    ///
    /// [`Receiving::Caller`] is for programs whose threads block for their data, in a wait of a reader or of a
    /// [`WaitSet`](crate::WaitSet): they read the socket themselves, and a sample costs no hop from one thread to another. A
    /// participant has one thread less then.
    ///
    /// - One thread at a time receives; others that wait are woken by it, as by a receive thread. It should be the one that needs
    ///   it: who receives nothing for itself makes way for who waits again and again.
    /// - A thread that waits runs what its participant has to do for all that comes: it answers for every endpoint, and calls
    ///   [`Inline`](Delivery::Inline) listeners, while its caller may hold locks. Listeners that are not inline are called on the
    ///   event thread, as ever.
    /// - When it returns, nobody receives until a thread begins to wait, but for 10 ms at most: `dds-io` takes over then. It does
    ///   at once if there has ever been anybody to be told without blocking: a future, a stream, a listener. Within these 10 ms
    ///   acknowledgements of readers wait as well, so what is lost of a reliable writer's samples is repaired that much later.
    /// - A [`WaitSet`](crate::WaitSet) receives for the participant that it was made with, whose ever its conditions are.
    /// - Linux alone; elsewhere it means `Thread`, and nothing in a simulation, which has no sockets.
    pub fn receive(self, receive: Receiving) -> Self {
        self.set(Setting::Receive(receive))
    }

    /// Names, and with the feature `rt` priorities and cores, of the participant's threads. Default: see [`ThreadOptions`].
    ///
    /// What the system refuses is a [`CreateErrorKind::ThreadOption`], when the participant is made, or its first listener.
    pub fn threads(self, threads: ThreadOptions) -> Self {
        self.set(Setting::Threads(threads))
    }

    /// Writes every datagram that is sent or received into a pcap file, which Wireshark and tshark open. Default: no file.
    /// Environment: `DDS_TAP`.
    ///
    /// A capture that is there already is continued, so that participants and processes may share one; a named pipe shows
    /// the traffic live (`mkfifo p; wireshark -k -i p`, then tap into `p`). What a participant sends to itself or to another one
    /// with the same file is there twice, once as sent and once as received. What readers of this process get is not, unless
    /// [`udp_only`](Self::udp_only) is set: it never becomes a datagram. Costs a few microseconds for each datagram, and no
    /// memory. If the file cannot grow any more, it ends there; the participant goes on.
    pub fn tap(self, path: impl Into<PathBuf>) -> Self {
        self.set(Setting::Tap(path.into()))
    }

    /// Lets so much go wrong with what is sent, discovery included. For tests of programs and of this library; with
    /// [`udp_only`](Self::udp_only), for what is not sent cannot be lost.
    #[doc(hidden)]
    pub fn faults(self, faults: Faults) -> Self {
        self.set(Setting::Faults(faults))
    }

    /// As [`faults`](Self::faults), with what is received: for tests against programs that have no faults of their own.
    #[doc(hidden)]
    pub fn receive_faults(self, faults: Faults) -> Self {
        self.set(Setting::ReceiveFaults(faults))
    }

    /// Reads settings and QoS from a TOML or JSON file, by its ending; see [above](Self#profile-files). Replaces the file that
    /// the environment names, by `DDS_PROFILES`. Default: none.
    #[cfg(feature = "serde")]
    pub fn profiles(mut self, path: impl Into<PathBuf>) -> Self {
        self.profiles = Some(path.into());
        self
    }

    /// Takes the QoS from the `domain_participant_qos` of a profile in an XML file (feature `profiles`). [`qos`](Self::qos) replaces it. A
    /// name that is not there is an error of [`build`](Self::build). Default: none; TOML and JSON have one `[participant]`, which always holds.
    #[cfg(feature = "serde")]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Leaves the environment variables alone.
    pub fn ignore_environment(mut self) -> Self {
        self.read_environment = false;
        self
    }

    /// Joins the domain.
    ///
    /// # Errors
    /// As [`DomainParticipant::new`].
    pub fn build(self) -> Result<DomainParticipant, CreateError> {
        let config = self.checked_config()?;
        let driver = OsDriver::with_threads(config.threads.clone()).map_err(|error| {
            let kind = CreateErrorKind::of_thread(&error);
            CreateError::new(&Subject::new("participant", "", Guid::UNKNOWN), kind)
        })?;
        Ok(DomainParticipant::from_ref(ParticipantRef::first(ParticipantHandle::start(config, driver)?)))
    }

    /// Joins the domain in another world than the operating system's, such as one whose network loses datagrams.
    ///
    /// # Errors
    /// As [`DomainParticipant::new`].
    #[doc(hidden)]
    pub fn build_on(self, driver: Arc<dyn Driver>) -> Result<DomainParticipant, CreateError> {
        Ok(DomainParticipant::from_ref(ParticipantRef::first(ParticipantHandle::start(
            self.checked_config()?,
            driver,
        )?)))
    }

    fn checked_config(self) -> Result<Config, CreateError> {
        self.into_config().map_err(|kind| CreateError::new(&Subject::new("participant", "", Guid::UNKNOWN), kind))
    }

    fn into_config(self) -> Result<Config, CreateErrorKind> {
        let look_up = |name| if self.read_environment { variable(name) } else { Ok(None) };
        let mut config = Config::new(0);
        #[cfg(feature = "serde")]
        if let Some(path) = self.profiles.or(look_up("DDS_PROFILES")?.map(PathBuf::from)) {
            config.change(Origin::Profile, |config| {
                Profiles::read(&path)?.apply(config)?;
                config.profile_file = Some(path.clone());
                if let Some(name) = &self.profile {
                    config.qos = config.profiles.participant(name)?;
                }
                Ok::<(), CreateErrorKind>(())
            })?;
        }
        #[cfg(not(feature = "serde"))]
        if let Some(path) = look_up("DDS_PROFILES")? {
            return Err(unreadable("DDS_PROFILES", path, "unset, for this build lacks the feature `serde`"));
        }
        config.change(Origin::Environment, |config| {
            config.domain_id = domain_of_environment(look_up)?.unwrap_or(config.domain_id);
            config.apply_environment(look_up)
        })?;
        config.change(Origin::Code, |config| {
            config.domain_id = self.domain_id.unwrap_or(config.domain_id);
            self.settings.into_iter().for_each(|setting| setting.apply(config));
            config.check()
        })?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_beats_the_environment_and_the_last_call_wins() {
        let builder = DomainParticipant::builder(3).scope(Scope::Host).scope(Scope::PeersOnly).ignore_environment();
        let config = builder.into_config().unwrap();
        assert_eq!((config.domain_id, config.scope), (3, Scope::PeersOnly));
    }

    /// What the environment can say stands in the table and with the setter, by name; and nothing else does.
    #[test]
    fn every_variable_stands_with_its_setter() {
        let (builder, config) = (include_str!("participant_builder.rs"), include_str!("../settings/config.rs"));
        let code = builder.split("#[cfg(test)]").next().unwrap();
        let variables = |text: &str| -> std::collections::BTreeSet<String> {
            let starts = text.match_indices("DDS_").map(|(at, _)| &text[at..]);
            starts.map(|rest| rest.chars().take_while(|c| *c == '_' || c.is_ascii_uppercase()).collect()).collect()
        };
        let rows: Vec<&str> = code.lines().filter(|line| line.starts_with("/// | ") && line.contains("DDS_")).collect();
        assert_eq!(variables(&rows.concat()), variables(&[code, config].concat()));
        for row in rows {
            let variable = variables(row).pop_first().unwrap();
            // Made by a constructor, and not set.
            if variable == "DDS_DOMAIN" {
                continue;
            }
            let setter = row.split('`').nth(1).unwrap();
            let at = ["(", "<"].iter().find_map(|next| code.find(&format!("pub fn {setter}{next}")));
            let above = &code[..at.unwrap()];
            let above = above.split("pub fn ").last().unwrap();
            assert!(above.contains(&format!("`{variable}`")), "{setter} does not name {variable}");
        }
    }

    #[test]
    fn a_domain_without_ports_is_refused_before_anything_is_opened() {
        let error = DomainParticipant::builder(233).ignore_environment().build().unwrap_err();
        assert_eq!(error.kind(), &CreateErrorKind::InvalidDomain { domain_id: 233 });
    }
}
