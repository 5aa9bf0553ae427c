//! The settings of a participant, and the order in which their sources apply.

use crate::context::ParticipantRef;
use crate::driver::{Driver, OsDriver, Role, ThreadSettings};
use crate::infrastructure::{About, CreateError, CreateErrorKind, Delivery, Subject};
use crate::participant::{DomainParticipant, ParticipantHandle};
#[cfg(feature = "security-pki")]
use crate::protection::Credentials;
use crate::qos::DomainParticipantQos;
#[cfg(feature = "serde")]
use crate::settings::Profiles;
#[cfg(not(feature = "serde"))]
use crate::settings::unreadable;
use crate::settings::{Config, Origin, Receiving, Scope, domain_of_environment, misspelled_variables, variable};
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::{Duration, Guid, IpFamilies};
use dds_rtps::wire::{ChecksumKind, MessageTransform};
#[cfg(feature = "security")]
use dds_security::psk::PreSharedKey;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of a [`DomainParticipant`].
///
/// A call of this builder overrides the environment, which overrides the profile file, which overrides the default.
/// When the participant starts, it logs the settings that differ from the default at `info`, and all at `debug`.
///
/// | setting | default | environment |
/// |---|---|---|
/// | domain, only of [`from_env`](DomainParticipant::from_env) and [`Default`] | 0 | `DDS_DOMAIN`: a number from 0 to 232 |
/// | `profiles` (feature `serde`) | none | `DDS_PROFILES`: the path of a file |
/// | [`scope`](Self::scope) | `Subnet` | `DDS_SCOPE`: `host`, `subnet`, `peers-only` |
/// | [`peers`](Self::peers) | none | `DDS_PEERS`: names or addresses, with or without a port, separated by commas |
/// | [`interfaces`](Self::interfaces) | all | `DDS_INTERFACES`: names or addresses, separated by commas |
/// | [`ip_families`](Self::ip_families) | `Auto` | `DDS_IP`: `auto`, `v4`, `v6`, `both` |
/// | [`multicast_ttl`](Self::multicast_ttl) | 1 | `DDS_MULTICAST_TTL`: a number from 0 to 255 |
/// | [`receive_buffer`](Self::receive_buffer) | 4 MiB | `DDS_RECEIVE_BUFFER`: bytes |
/// | [`send_buffer`](Self::send_buffer) | 1 MiB | `DDS_SEND_BUFFER`: bytes |
/// | [`announcement_period`](Self::announcement_period) | 3 s | |
/// | [`fragment_size`](Self::fragment_size) | 65 000 on one host, else 1344 | |
/// | [`domain_tag`](Self::domain_tag) | none | `DDS_DOMAIN_TAG` |
/// | [`message_checksums`](Self::message_checksums) | none | |
/// | [`udp_only`](Self::udp_only) | no | `DDS_TRANSPORTS`: `all`, `udp` |
/// | [`shared_memory`](Self::shared_memory) | 64 MiB | `DDS_SHARED_MEMORY`: bytes, 0 for none |
/// | [`busy_poll`](Self::busy_poll) | 0 | `DDS_BUSY_POLL`: microseconds |
/// | [`type_information`](Self::type_information) | yes | `DDS_TYPE_INFORMATION`: `on`, `off` |
/// | [`publish_latencies`](Self::publish_latencies) | no | `DDS_LATENCIES`: `on`, `off` |
/// | [`receive`](Self::receive) | `Thread` | `DDS_RECEIVE`: `thread`, `caller` |
/// | `pre_shared_key` (feature `security`) | none | `DDS_PRE_SHARED_KEY`: `file:PATH` or `data:,ID:PASSPHRASE` |
/// | [`tap`](Self::tap) | none | `DDS_TAP`: the path of a file |
///
/// ```
/// use dds_core::listener::Delivery;
/// use dds_core::{DomainParticipant, Duration, Scope};
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .name("planner") // peers see this name
///     .scope(Scope::Host) // no datagram leaves this machine
///     .lease(Duration::from_secs(5)) // peers remove it after this silence
///     .linger(Duration::ZERO) // the last drop waits for no reader
///     .delivery(Delivery::Inline) // the receive thread calls listeners
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// assert_eq!(participant.domain_id(), 0);
/// # Ok(())
/// # }
/// ```
///
/// A variable with an invalid value is an error. The log warns of a misspelled variable.
///
/// Clones of one builder create participants with the same settings. Its [`qos`](Self::qos) is their default, because
/// there is no factory object (DDS 1.4, 2.2.2.2.2.5).
///
/// # Profile files
///
/// With the feature `profiles`, QoS comes from files in the OMG's XML format: see `docs/profiles.md`.
///
/// With the feature `serde`, settings and QoS also come from a TOML or JSON file. Each has the same name as in the
/// code. `[participant]` has the settings above. Each `[writer.NAME]` and `[reader.NAME]` has a QoS, for `profile` on
/// the builder of a writer or reader. A QoS starts with its `preset` or with the defaults, and lists only the
/// differences. Times have a unit (`ns`, `us`, `ms` or `s`) or are `infinite`.
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

/// The domain of the environment or of the profile file. Domain 0 if neither sets it.
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

/// A call of a setter. It applies after the environment.
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
    SharedMemory(usize),
    BusyPoll(Duration),
    #[cfg(feature = "derive")]
    PublishLatencies(bool),
    TypeInformation(bool),
    MessageChecksums(ChecksumKind),
    MessageTransform(Arc<dyn MessageTransform>),
    #[cfg(feature = "security")]
    PreSharedKey(PreSharedKey),
    #[cfg(feature = "security-pki")]
    Credentials(Box<Credentials>),
    Delivery(Delivery),
    Receive(Receiving),
    Thread(Role, ThreadSettings),
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
            Self::SharedMemory(bytes) => config.shared_memory = bytes,
            Self::BusyPoll(duration) => config.busy_poll = duration,
            #[cfg(feature = "derive")]
            Self::PublishLatencies(is_published) => config.publish_latencies = is_published,
            Self::TypeInformation(is_announced) => config.type_information = is_announced,
            Self::MessageChecksums(kind) => config.message_checksums = Some(kind),
            Self::MessageTransform(transform) => config.message_transform = Some(transform),
            #[cfg(feature = "security")]
            Self::PreSharedKey(key) => config.pre_shared_key = Some(key),
            #[cfg(feature = "security-pki")]
            Self::Credentials(credentials) => config.credentials = Some(*credentials),
            Self::Delivery(delivery) => config.delivery = delivery,
            Self::Receive(receive) => config.receive = receive,
            Self::Thread(role, settings) => config.threads.set(role, settings),
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
        // Applied by `build`, because code overrides the sources that are read there.
        self.settings.push(setting);
        self
    }

    /// Sets a name that peers see, such as that of the program. Default: none.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.set(Setting::Name(name.into()))
    }

    /// Sets the QoS. Default: that of DDS 1.4.
    pub fn qos(self, qos: DomainParticipantQos) -> Self {
        self.set(Setting::Qos(qos))
    }

    /// Sets how far discovery reaches. Default: [`Scope::Subnet`]. Environment: `DDS_SCOPE`.
    pub fn scope(self, scope: Scope) -> Self {
        self.set(Setting::Scope(scope))
    }

    /// Sets hosts to which discovery sends unicast. Default: none. Environment: `DDS_PEERS`.
    ///
    /// A peer is a host by name or address: `robot`, `192.0.2.7`, `fd00::7`, `fe80::7%eth0`. Discovery then uses the
    /// well-known ports of that host. With a port, a peer is the metatraffic port of one participant: `robot:7412`,
    /// `192.0.2.7:7412`, `[fd00::7]:7412`.
    ///
    /// The participant resolves names again every minute, because a peer may get its address later or change it. It
    /// retries unresolved names sooner and logs them.
    pub fn peers<P: Into<String>>(self, peers: impl IntoIterator<Item = P>) -> Self {
        self.set(Setting::Peers(peers.into_iter().map(Into::into).collect()))
    }

    /// Sets the network interfaces by name or address. Default: all. Environment: `DDS_INTERFACES`.
    ///
    /// The participant listens and sends multicast on each of them, and announces their addresses. With
    /// [`Scope::Subnet`] and [`Scope::PeersOnly`], it follows new interfaces and changed addresses within 2 s.
    pub fn interfaces<I: Into<String>>(self, interfaces: impl IntoIterator<Item = I>) -> Self {
        self.set(Setting::Interfaces(interfaces.into_iter().map(Into::into).collect()))
    }

    /// Sets the IP versions. Default: [`IpFamilies::Auto`]. Environment: `DDS_IP`.
    ///
    /// `Auto` uses IPv4. It also uses IPv6 if no interface except loopback has an IPv4 address, or if a peer has only
    /// an IPv6 address.
    ///
    /// The participant sends to a peer with both versions by one of them. It prefers the peer's first address in a
    /// network of this host. A second version costs sockets, a thread, and announcements to its own multicast groups
    /// (those of Cyclone DDS and of Fast DDS for IPv6).
    pub fn ip_families(self, families: IpFamilies) -> Self {
        self.set(Setting::IpFamilies(families))
    }

    /// Sets the time to live of multicast datagrams. Default: 1. Environment: `DDS_MULTICAST_TTL`.
    ///
    /// 0 stays on this host, and 1 stays in the subnet. Each router on the path takes one more.
    pub fn multicast_ttl(self, ttl: u8) -> Self {
        self.set(Setting::MulticastTtl(ttl))
    }

    /// Sets the receive buffer of each socket, in bytes. Default: 4 MiB. Environment: `DDS_RECEIVE_BUFFER`.
    ///
    /// The default holds a burst of one large sample. A best-effort sample needs space for all of it if its writer does
    /// not pace itself.
    ///
    /// The system silently grants less if its limit is lower (Linux: `net.core.rmem_max`). A set value exceeds this
    /// limit if the process may do that (`CAP_NET_ADMIN`). A `debug` line of the log has the granted size.
    pub fn receive_buffer(self, bytes: usize) -> Self {
        self.set(Setting::ReceiveBuffer(bytes))
    }

    /// Sets the send buffer of each socket, in bytes. Default: 1 MiB. Environment: `DDS_SEND_BUFFER`.
    ///
    /// With a larger buffer, fewer sends are delayed for lack of space, but data on a slow link is older.
    pub fn send_buffer(self, bytes: usize) -> Self {
        self.set(Setting::SendBuffer(bytes))
    }

    /// Sets a tag. The participant sees only peers with the same tag (RTPS 2.5, 8.5.3.2).
    ///
    /// Default: no tag. Environment: `DDS_DOMAIN_TAG`.
    pub fn domain_tag(self, tag: impl Into<String>) -> Self {
        self.set(Setting::DomainTag(tag.into()))
    }

    /// Adds a name and a value that peers see, such as a version.
    ///
    /// Default: `dds.sys_info.hostname`, `.process_id` and `.executable_filepath`, in clear text. A property of the
    /// same name replaces each of them.
    ///
    /// Except for that of a durability service, a property has no effect on this participant. A repeated name replaces
    /// the value.
    pub fn property(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(Setting::Property(name.into(), value.into()))
    }

    /// Sets the silence after which peers remove this participant. Default: 20 s.
    pub fn lease(self, lease: impl Into<Duration>) -> Self {
        self.set(Setting::Lease(lease.into()))
    }

    /// Sets the period of announcements. Default: 3 s, varied by 10 %.
    ///
    /// The participant announces itself at least six times in a [`lease`](Self::lease), and at most every 10 ms. It
    /// answers a new peer at once.
    pub fn announcement_period(self, period: impl Into<Duration>) -> Self {
        self.set(Setting::AnnouncementPeriod(period.into()))
    }

    /// Sets the most bytes of a sample in one datagram. Larger samples are sent in fragments.
    ///
    /// Default: 65 000 while all readers of a writer are on this host, otherwise 1344, which fits into an Ethernet
    /// frame. Values outside of 64 to 65 000 are set to the nearest of these.
    pub fn fragment_size(self, bytes: u16) -> Self {
        self.set(Setting::FragmentSize(bytes))
    }

    /// Sets how long dropping the last handle waits for acknowledgments. Default: 1 s.
    ///
    /// It waits for samples of reliable writers that were dropped. Zero does not wait.
    pub fn linger(self, linger: impl Into<Duration>) -> Self {
        self.set(Setting::Linger(linger.into()))
    }

    /// Sets whether the participant takes part in discovery from the start. Default: yes.
    ///
    /// Otherwise it neither sends nor receives until [`Entity::enable`](crate::Entity::enable). Entities that are
    /// created before that are not enabled either.
    #[doc(alias = "autoenable_created_entities")]
    pub fn enabled(self, enabled: bool) -> Self {
        self.set(Setting::Enabled(enabled))
    }

    /// Sends all samples by UDP, even to readers of this participant. Default: no.
    ///
    /// Environment: `DDS_TRANSPORTS` (`udp`).
    pub fn udp_only(self, udp_only: bool) -> Self {
        self.set(Setting::UdpOnly(udp_only))
    }

    /// Sets the bound of the memory that the participant shares with others on this host, in bytes.
    ///
    /// Default: 64 MiB. 0 shares none. At most 1 GiB. Environment: `DDS_SHARED_MEMORY`.
    ///
    /// Samples for participants of this host go through shared memory if they can share it, and by UDP otherwise.
    /// [`explain`](DomainParticipant::explain) says which and why. Discovery uses UDP.
    ///
    /// - The memory holds datagrams of more than 2 KiB until their receivers have read them. It grows as needed, and
    ///   lasts as long as the participant. Each path takes up to 256 KiB more for short datagrams.
    /// - A receiver occupies three eighths of the memory at most, but 512 KiB at least and never more than 32 MiB.
    /// - Two participants share memory if both run on Linux, have this setting, belong to one user, and are in one
    ///   network namespace. So containers share it if they share the network of the host.
    /// - If a process ends or breaks a rule, its path ends and its memory is free. A participant that reads too slowly
    ///   loses datagrams, as with a full receive buffer; the protocol repairs reliable samples.
    /// - Nothing is left behind in a file system.
    /// - It has no effect outside Linux, without the feature `shm` (on by default), with
    ///   [`udp_only`](Self::udp_only), and in a simulation.
    pub fn shared_memory(self, bytes: usize) -> Self {
        self.set(Setting::SharedMemory(bytes))
    }

    /// Sets how long a thread polls shared memory before it sleeps.
    ///
    /// Default: 0. At most 100 ms. Environment: `DDS_BUSY_POLL`, in microseconds.
    ///
    /// A sample that arrives in this time wakes no thread, which saves the time of a wake on both sides. While the
    /// thread polls, it occupies its core, also for samples that do not come. So use it only on a core of its own. The
    /// time should be longer than the usual pause between samples.
    ///
    /// The receive thread polls. With [`Receiving::Caller`], a thread that blocks in a wait does. It looks at the
    /// sockets after each poll, and after 16 messages. The setting has no effect where
    /// [`shared_memory`](Self::shared_memory) has none.
    #[doc(alias = "spin")]
    pub fn busy_poll(self, duration: impl Into<Duration>) -> Self {
        self.set(Setting::BusyPoll(duration.into()))
    }

    /// Sets whether endpoints announce descriptions of their types. Default: yes. Environment: `DDS_TYPE_INFORMATION`.
    ///
    /// With descriptions (TypeInformation, XTYPES 1.3, 7.6.3.2.2), types match if the reader's type is assignable from
    /// the writer's, under any names. The participant answers requests for its types, so peers can use types that they
    /// lack.
    ///
    /// Without descriptions, types match by **name** in this participant and in its peers (7.6.3.4.2), even if they
    /// differ. This helps with peers that describe the same IDL differently and so refuse to match:
    ///
    /// - Fast DDS from 3.0 on requires equal descriptions, with all flags. It has the same switch (the property
    ///   `fastdds.type_propagation`, `disabled`).
    /// - Cyclone DDS up to 11.0 counts the members of unions from 0, unlike the standard. `#[dds(id = 0)]` at the first
    ///   case does the same. A `typedef` inside a final struct is a different type there; an alias in Rust is not.
    #[doc(alias = "type_propagation")]
    pub fn type_information(self, is_announced: bool) -> Self {
        self.set(Setting::TypeInformation(is_announced))
    }

    /// Publishes the latencies of all endpoints on the topic `dds/latencies`. Default: no. Environment:
    /// `DDS_LATENCIES`.
    ///
    /// Readers and writers always measure. With this setting, the participant writes the histograms once a second, as
    /// [`LatencyReport`](crate::stats::LatencyReport) for readers of any vendor. `dds top` and `dds serve` show them.
    /// It costs one visit of each endpoint a second, and no time on the path of a sample. In a protected domain, the
    /// permissions must allow the topic.
    ///
    /// ```
    /// use dds_core::stats::LatencyReport;
    /// use dds_core::{DataReader, DomainParticipant, Scope};
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    ///     .publish_latencies(true)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let reports: DataReader<LatencyReport> = participant.reader(LatencyReport::TOPIC)?;
    /// reports.wait_for_writers(1).block()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "derive")]
    pub fn publish_latencies(self, is_published: bool) -> Self {
        self.set(Setting::PublishLatencies(is_published))
    }

    /// Adds a checksum to every message, for networks with weak checksums. Default: none.
    ///
    /// It is in a HEADER_EXTENSION (RTPS 2.5, 8.3.7). A receiver that supports it drops a damaged message, and reliable
    /// samples are repaired. Other receivers skip it.
    ///
    /// It costs a copy and a pass over each message, and 12 (CRC-32C), 16 (CRC-64) or 24 (MD5) bytes. The participant
    /// always checks the checksums of peers; see [`TrafficCounters::damaged`](crate::stats::TrafficCounters::damaged).
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

    /// Protects every message with a passphrase that all participants of the domain share. Default: none.
    ///
    /// Environment: `DDS_PRE_SHARED_KEY`. The value is `file:` and the path of a key file, or `data:,` and a passphrase
    /// with its id in front. Other users of a host may see the environment of a process, so prefer a file.
    ///
    /// The participant encrypts all that it sends, with its announcements, and refuses everything else. Participants
    /// without the passphrase neither see it nor can send to it. Replays of messages of this implementation are refused
    /// while the participant remembers their sender. The header of a message, with the GUID prefix, stays readable.
    ///
    /// Each message becomes up to 59 bytes longer. Message checksums and in-place reception have no effect then. The
    /// property `dds.sec.crypto.rtps_psk_secret_passphrase` (DDS Security 1.2) is another way to set the key.
    /// This method overrides the property, and the property overrides the variable `DDS_PRE_SHARED_KEY`.
    ///
    /// ```
    /// use dds_core::security::{Passphrase, PreSharedKey};
    /// use dds_core::{DomainParticipant, Scope};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let passphrase: Passphrase = "1:3f0c8a52d1e94b7796ab".parse()?;
    /// let participant = DomainParticipant::builder(0)
    ///     .pre_shared_key(PreSharedKey::new(passphrase))
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// # drop(participant);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "security")]
    #[doc(alias = "rtps_psk_secret_passphrase")]
    pub fn pre_shared_key(self, key: PreSharedKey) -> Self {
        self.set(Setting::PreSharedKey(key))
    }

    /// Gives the participant an identity, and protects the domain as its governance says. Default: none.
    ///
    /// The participant verifies all files when it is created (DDS Security 1.1). It fails if one is faulty, or requires
    /// a protection that is not supported. The properties `dds.sec.auth.*` and `dds.sec.access.*` are another way to
    /// set the files, and this method overrides them.
    ///
    /// The GUID of the participant follows from its certificate. Other participants appear once both sides have proved
    /// their identities. Endpoints match once their keys have arrived, if both permissions allow it.
    /// [`explain`](crate::DomainParticipant::explain) and the log name the rule that refuses one.
    ///
    /// Types are compared by their names, because DDS Security 1.1 does not protect their descriptions.
    #[cfg(feature = "security-pki")]
    #[doc(alias = "dds.sec.auth.identity_ca")]
    #[doc(alias = "governance")]
    pub fn credentials(self, credentials: Credentials) -> Self {
        self.set(Setting::Credentials(Box::new(credentials)))
    }

    /// Sets the thread that calls listeners. Default: [`Delivery::EventThread`].
    ///
    /// The builder of an endpoint overrides it.
    pub fn delivery(self, delivery: Delivery) -> Self {
        self.set(Setting::Delivery(delivery))
    }

    /// Sets the thread that receives. Default: [`Receiving::Thread`]. Environment: `DDS_RECEIVE`.
    ///
    /// [`Receiving::Caller`] is for programs whose threads block for their data, in a wait of a reader or of a
    /// [`WaitSet`](crate::condition::WaitSet). These threads read the socket themselves, so a sample needs no thread
    /// switch, and the participant has one thread less.
    ///
    /// - One thread at a time receives. It wakes the other waiting threads, as a receive thread does. A thread that
    ///   receives nothing for itself makes way for a thread that waits repeatedly.
    /// - A waiting thread does the participant's work for all received data. It answers for every endpoint and calls
    ///   [`Inline`](Delivery::Inline) listeners, while its caller may hold locks. The event thread still calls the
    ///   other listeners.
    /// - After it returns, no thread receives until another wait begins, for at most 10 ms. Then the thread `dds-io`
    ///   takes over. If a future, a stream or a listener was ever in use, it does so at once. Acknowledgments also
    ///   wait during these 10 ms, so repairs of reliable samples are delayed by that.
    /// - A [`WaitSet`](crate::condition::WaitSet) receives for the participant that created it, for conditions of any
    ///   participant.
    /// - Only Linux supports it. Other systems use `Thread`. It has no effect in a simulation, which has no sockets.
    pub fn receive(self, receive: Receiving) -> Self {
        self.set(Setting::Receive(receive))
    }

    /// Sets the settings of the thread that receives user data and runs the readers' work on it.
    ///
    /// Default: see [`ThreadSettings`]. If the system refuses an option, creating the participant fails with
    /// [`CreateErrorKind::ThreadOption`].
    pub fn receive_thread(self, settings: ThreadSettings) -> Self {
        self.set(Setting::Thread(Role::Receive, settings))
    }

    /// Sets the settings of the thread that calls listeners.
    ///
    /// Default: see [`ThreadSettings`]. If the system refuses an option, creating the first listener fails with
    /// [`CreateErrorKind::ThreadOption`].
    pub fn event_thread(self, settings: ThreadSettings) -> Self {
        self.set(Setting::Thread(Role::Event, settings))
    }

    /// Sets the settings of the thread for timers and discovery.
    ///
    /// Default: see [`ThreadSettings`]. If the system refuses an option, creating the participant fails with
    /// [`CreateErrorKind::ThreadOption`].
    pub fn io_thread(self, settings: ThreadSettings) -> Self {
        self.set(Setting::Thread(Role::Driver, settings))
    }

    /// Writes all sent and received datagrams to a pcap file for Wireshark. Default: none. Environment: `DDS_TAP`.
    ///
    /// An existing capture is continued, so participants and processes may share a file. A named pipe shows the traffic
    /// live: `mkfifo p; wireshark -k -i p`, and the pipe as `path`.
    ///
    /// A datagram between participants with the same file appears twice, once as sent and once as received. Samples
    /// that are delivered within the process are never datagrams and do not appear, unless [`udp_only`](Self::udp_only)
    /// is set. It costs a few microseconds per datagram and no memory. If the file cannot grow, the capture ends and
    /// the participant continues.
    pub fn tap(self, path: impl Into<PathBuf>) -> Self {
        self.set(Setting::Tap(path.into()))
    }

    /// Applies faults to sent datagrams, with those of discovery. For tests.
    ///
    /// Together with [`udp_only`](Self::udp_only), the faults also apply to local readers.
    #[doc(hidden)]
    pub fn faults(self, faults: Faults) -> Self {
        self.set(Setting::Faults(faults))
    }

    /// Applies faults to received datagrams, for tests against programs without faults of their own.
    #[doc(hidden)]
    pub fn receive_faults(self, faults: Faults) -> Self {
        self.set(Setting::ReceiveFaults(faults))
    }

    /// Reads settings and QoS from a TOML or JSON file; see [above](Self#profile-files). Default: none.
    ///
    /// The extension selects the format. The file replaces that of the environment variable `DDS_PROFILES`.
    #[cfg(feature = "serde")]
    pub fn profiles(mut self, path: impl Into<PathBuf>) -> Self {
        self.profiles = Some(path.into());
        self
    }

    /// Takes the QoS from the `domain_participant_qos` of an XML profile (feature `profiles`). Default: none.
    ///
    /// [`qos`](Self::qos) overrides it. [`build`](Self::build) fails if there is no such profile. TOML and JSON files
    /// have one `[participant]`, which always applies.
    #[cfg(feature = "serde")]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Ignores all environment variables.
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
        let driver = match OsDriver::with_threads(config.threads.clone()) {
            Ok(driver) => driver,
            // No participant exists yet, so the error has no GUID.
            Err(error) => return Err(CreateError::new(&not_created(), CreateErrorKind::of_thread(&error))),
        };
        Ok(DomainParticipant::from_ref(ParticipantRef::first(ParticipantHandle::start(config, driver)?)))
    }

    /// Joins the domain on another driver than the operating system's, such as a simulated one.
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
        self.into_config().about(&not_created())
    }

    // Profile, environment, code: each overrides the one before it (`Origin`).
    fn into_config(self) -> Result<Config, CreateErrorKind> {
        let look_up = |name| if self.read_environment { variable(name) } else { Ok(None) };
        // The domain comes from the same sources as the other settings.
        let mut config = Config::new(0);
        if self.read_environment {
            config.misspelled = misspelled_variables();
        }
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
            // In the order of the calls, so that the last one of a setting counts.
            for setting in self.settings {
                setting.apply(config);
            }
            // After all sources, because only the final values must be consistent.
            config.check()
        })?;
        // Last, because keys depend on the domain and its tag.
        config.protect()?;
        Ok(config)
    }
}

/// A participant that was not created has no GUID.
fn not_created() -> Arc<Subject> {
    Subject::new("participant", "", Guid::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::VARIABLES;

    #[test]
    fn code_overrides_environment_and_last_call_wins() {
        let builder = DomainParticipant::builder(3).scope(Scope::Host).scope(Scope::PeersOnly).ignore_environment();
        let config = builder.into_config().unwrap();
        assert_eq!((config.domain_id, config.scope), (3, Scope::PeersOnly));
    }

    /// The table and the setters name exactly the variables that the environment supports.
    #[test]
    fn every_variable_is_documented_with_setter() {
        let (builder, config) = (include_str!("participant_builder.rs"), include_str!("../settings/config.rs"));
        let code = builder.split("#[cfg(test)]").next().unwrap();
        let variables = |text: &str| -> std::collections::BTreeSet<String> {
            let starts = text.match_indices("DDS_").map(|(at, _)| &text[at..]);
            starts.map(|rest| rest.chars().take_while(|c| *c == '_' || c.is_ascii_uppercase()).collect()).collect()
        };
        let rows: Vec<&str> = code.lines().filter(|line| line.starts_with("/// | ") && line.contains("DDS_")).collect();
        assert_eq!(variables(&rows.concat()), variables(&[code, config].concat()));
        assert_eq!(variables(&rows.concat()), VARIABLES.map(str::to_owned).into());
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
    fn invalid_domain_is_refused_before_opening_sockets() {
        let error = DomainParticipant::builder(233).ignore_environment().build().unwrap_err();
        assert_eq!(error.kind(), &CreateErrorKind::InvalidDomain { domain_id: 233 });
    }
}
