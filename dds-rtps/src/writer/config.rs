//! Configuration, inputs and events of a writer.

use crate::cdr::{AnyType, TypeDescription};
use crate::concurrent::{AssertionClock, Payload, PresentationClock};
use crate::history::{ChangeKind, HistoryLimits, MissedDeadlines, OriginalWriterInfo};
use crate::qos::{DataWriterQos, Durability, Liveliness};
use crate::types::{Duration, Guid, HashSeed, InstanceHandle, Locator, SequenceNumber, Time, VendorId};
use crate::wire::{ContentFilterProperty, Headroom, SampleIdentity};
use std::sync::Arc;

/// Sizes of the fragments of large samples.
///
/// A sample whose payload fits into one fragment goes out as one DATA, others as DATA_FRAG. Small samples of a batch
/// share datagrams of the default size, and so do fragments below the default size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentSize {
    /// Bytes per fragment if all matched remote readers are on this host. Default: 65 000.
    ///
    /// A loopback datagram holds 65 507 bytes, and each datagram costs a system call.
    pub same_host: u16,
    /// Bytes per fragment otherwise. Default: 1344, and 20 less if a reader uses IPv6.
    ///
    /// With all headers a fragment fits into an Ethernet frame. A lost frame then costs one fragment, not a whole
    /// datagram that IP had split.
    pub network: u16,
}

impl FragmentSize {
    /// Lower bound of the fragment size: 64 bytes. Smaller datagrams hold little but headers.
    pub const MIN: u16 = 64;
    /// Upper bound of the fragment size. With headers and a full inline QoS it fits into a UDP datagram.
    pub const MAX: u16 = 65_000;
}

impl Default for FragmentSize {
    fn default() -> Self {
        Self { same_host: Self::MAX, network: 1344 }
    }
}

/// Limits of the bytes in flight: of fragmented samples, and of small samples to reliable readers.
///
/// A system drops data that does not fit into a reader's receive buffer. A reliable reader has a congestion window.
/// Answers to HEARTBEATs open it. It grows while no data is lost, and shrinks after losses. Best-effort readers never
/// answer. They receive a burst of one window, and the rest at a fixed rate. Among several reliable readers, the
/// fastest one sets the rate of new samples. The others receive repairs, each within its own window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CongestionConfig {
    /// Initial window in bytes if all matched remote readers are on this host. Default: 208 KiB.
    ///
    /// That is the receive buffer that Linux grants by default.
    pub same_host: usize,
    /// Initial window in bytes otherwise. Default: 128 KiB.
    ///
    /// In the default receive buffer of Linux, a frame of 1.5 kB takes up to twice its size.
    pub network: usize,
    /// Bytes per second to best-effort readers on this host, beyond the burst. Default: 500 MB.
    ///
    /// It applies if the free receive buffer is unknown
    /// ([`StatefulWriter::note_room`](super::StatefulWriter::note_room)). The default is a sixth of the rate of a
    /// receiver that has a core to itself. With a buffer of 4 MiB, the receiver may be without a core for 8 ms.
    pub same_host_rate: u64,
    /// Bytes per second to other best-effort readers, beyond the burst. Default: 100 MB.
    ///
    /// That is slightly below the capacity of a gigabit network, where a switch drops faster data.
    pub network_rate: u64,
}

impl Default for CongestionConfig {
    fn default() -> Self {
        Self { same_host: 208 << 10, network: 128 << 10, same_host_rate: 500_000_000, network_rate: 100_000_000 }
    }
}

/// How the writer treats a reliable reader that leaves it no room.
///
/// Only a KEEP_ALL writer (HISTORY) with limits (RESOURCE_LIMITS) waits for readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SlowReader {
    /// The writer waits for the reader's acknowledgment, as DDS 1.4 demands (2.2.3.14). This is the default.
    #[default]
    Block,
    /// The writer waits for a limited time, an extension of DDS.
    ///
    /// The first write that finds no room starts the time. By its end the reader must have acknowledged all samples
    /// written before the start. Otherwise it is treated as a best-effort reader: it receives new samples, but the
    /// writer does not wait for it. Unacknowledged samples stay while there is room. Then the oldest go first and are
    /// lost for this reader. When the reader returns, the writer repairs the kept samples. The writer waits for the
    /// reader again once it has kept up without another loss.
    Demote {
        /// How long the writer waits. With zero it does not wait.
        after: Duration,
    },
}

impl SlowReader {
    /// The writer waits for at most `after`. With zero it does not wait.
    #[must_use]
    pub fn demote(after: impl Into<Duration>) -> Self {
        Self::Demote { after: after.into() }
    }
}

/// Configuration of a [`StatefulWriter`](super::StatefulWriter).
#[derive(Debug, Clone)]
pub struct WriterConfig {
    /// GUID of the writer.
    pub guid: Guid,
    /// Whether the writer repairs lost samples for reliable readers (RELIABILITY). Default: yes.
    pub reliable: bool,
    /// Which samples late joiners receive (DURABILITY). Every kind above volatile lasts as long as the writer.
    pub durability: Durability,
    /// Bounds of the history (HISTORY and RESOURCE_LIMITS).
    pub limits: HistoryLimits,
    /// Treatment of a reliable reader that leaves the writer no room. Default: the writer waits for it.
    pub slow_reader: SlowReader,
    /// How long a sample may be sent after its source timestamp (LIFESPAN). Default: infinite.
    pub lifespan: Duration,
    /// Liveliness that the writer offers (LIVELINESS). Default: automatic, with an infinite lease.
    pub liveliness: Liveliness,
    /// Shared clock of the liveliness assertions of all manual-by-participant writers of the participant.
    ///
    /// Default: none, each writer counts only its own.
    pub assertion_clock: Option<Arc<AssertionClock>>,
    /// Longest time without a new sample of an instance (DEADLINE). Default: infinite.
    pub deadline: Duration,
    /// Whether the topic has a key. Its changes then carry a key hash.
    pub keyed: bool,
    /// The type, if the key hash on the wire differs from the local instance handle. Default: none.
    ///
    /// That is the case for XCDR1 writers whose type has another key hash in XCDR2. The writer then computes the key
    /// hash from each payload.
    pub hashed_type: Option<AnyType>,
    /// Whether the key hash of `hashed_type` shows no key (DDS Security 1.1, is_key_protected). Default: no.
    pub hides_keys: bool,
    /// Whether new changes name the participant of the only reader (INFO_DST). Default: no.
    ///
    /// Set for keys: their protection depends on the participant.
    pub names_participant: bool,
    /// Type of the samples, to evaluate content filters of readers.
    ///
    /// Default: none, all samples go to all readers, which filter them.
    pub filtered_type: Option<&'static TypeDescription>,
    /// Sizes of the fragments of large samples.
    pub fragment_size: FragmentSize,
    /// Space in each datagram that a transform of messages needs. Default: none.
    pub headroom: Headroom,
    /// Limits of the bytes in flight.
    pub congestion: CongestionConfig,
    /// Time from an unacknowledged sample to the next HEARTBEAT, if no sample carried one. Default: 100 ms.
    ///
    /// Without answers it doubles from the fourth time on, up to eightfold. While a write waits for room, the period is
    /// an eighth.
    pub heartbeat_period: Duration,
    /// Longest pause between two HEARTBEATs to readers that have never answered, if it exceeds eight periods.
    ///
    /// Such a reader may not exist. A forged announcement must not direct HEARTBEATs to a foreign address forever.
    /// Default: zero, these readers are treated like others.
    pub unheard_period_max: Duration,
    /// How long the writer collects requests before it answers. Default: zero, at once.
    pub nack_response_delay: Duration,
    /// How long the writer does not retransmit a change to the same reader. Default: 5 ms.
    ///
    /// Requests within that time wait and are not lost. The default exceeds the RTT of a local network and the delay of
    /// its reader. With an RTT estimate, whole changes wait for three RTTs, at least 1 ms and at most 500 ms.
    pub nack_suppression: Duration,
    /// Bytes of payload that a new transient-local reader receives without a request. Default: 128 KiB.
    ///
    /// That surely fits into a receive buffer. The reader requests the rest window by window. A best-effort reader
    /// cannot request, so it receives the whole history.
    pub unasked_max: usize,
    /// How long a small change may wait for others, to share a datagram with them (LATENCY_BUDGET).
    ///
    /// Default: zero, at once. If infinite, changes wait for a full datagram or for
    /// [`StatefulWriter::flush`](super::StatefulWriter::flush).
    pub batch_window: Duration,
    /// Parameters that each sample carries if a matched reader expects inline QoS. Default: none.
    ///
    /// Little endian, without the sentinel.
    pub inline_qos: Vec<u8>,
    /// PRESENTATION of the publisher, shared by its writers.
    ///
    /// Default: none, changes belong to no coherent set and have no order beyond their writer's.
    pub presentation: Option<Arc<PresentationClock>>,
    /// Whether the writer measures how long acknowledgments take. Default: no.
    pub measures_latency: bool,
    /// Seed of the writer's hash tables. Default: a fixed one.
    pub hash_seed: HashSeed,
}

impl WriterConfig {
    /// Creates a configuration from this QoS, with defaults for all other fields.
    #[must_use]
    pub fn new(guid: Guid, keyed: bool, qos: &DataWriterQos) -> Self {
        Self {
            guid,
            reliable: qos.reliability.is_reliable(),
            durability: qos.durability,
            limits: HistoryLimits::new(qos.history, qos.resource_limits),
            slow_reader: SlowReader::Block,
            lifespan: qos.lifespan,
            liveliness: qos.liveliness,
            assertion_clock: None,
            deadline: qos.deadline,
            keyed,
            hashed_type: None,
            hides_keys: false,
            names_participant: false,
            filtered_type: None,
            fragment_size: FragmentSize::default(),
            headroom: Headroom::default(),
            congestion: CongestionConfig::default(),
            heartbeat_period: Duration::from_millis(100),
            unheard_period_max: Duration::ZERO,
            nack_response_delay: Duration::ZERO,
            nack_suppression: Duration::from_millis(5),
            unasked_max: 128 << 10,
            batch_window: qos.latency_budget,
            inline_qos: Vec::new(),
            presentation: None,
            measures_latency: false,
            hash_seed: HashSeed::fixed(0),
        }
    }
}

/// Configuration of the proxy of a remote reader.
#[derive(Debug, Clone)]
pub struct ReaderProxyConfig {
    /// GUID of the reader.
    pub guid: Guid,
    /// Whether the reader requests repairs. Effective only if the writer is reliable.
    pub reliable: bool,
    /// Whether the reader wants earlier samples (durability above volatile). Effective only if the writer keeps them.
    pub wants_history: bool,
    /// Whether a reader that wants history requests it by itself. Default: yes.
    ///
    /// A transient-local reader does. A reader of a higher durability expects the history from a service. It may skip
    /// samples that were announced before the first one it receives, as Cyclone DDS does. The initial handshake tells
    /// such a reader that its first relevant change is the start of the history.
    pub asks_for_history: bool,
    /// Whether the reader receives new samples. Default: yes.
    ///
    /// If `false`, it receives only the kept samples, provided that it wants history.
    pub live: bool,
    /// Unicast locators. Every datagram goes to all of them. May be empty if there is multicast.
    pub unicast: Vec<Locator>,
    /// Multicast locators. Used instead of unicast if that saves datagrams.
    pub multicast: Vec<Locator>,
    /// Content filter of the reader. The writer evaluates it if it can ([`WriterConfig::filtered_type`]). Default:
    /// none.
    pub content_filter: Option<Box<ContentFilterProperty>>,
    /// Whether each sample must carry the inline QoS.
    pub expects_inline_qos: bool,
    /// Whether the reader is on this host.
    pub same_host: bool,
    /// Vendor of the reader. Default: that of its GUID.
    ///
    /// With DDS Security, GUIDs follow from certificates, and do not show the vendor.
    pub vendor: VendorId,
}

impl ReaderProxyConfig {
    /// Creates the configuration of a best-effort reader with unicast locators, on another host.
    #[must_use]
    pub fn new(guid: Guid, unicast: Vec<Locator>) -> Self {
        Self {
            guid,
            reliable: false,
            wants_history: false,
            asks_for_history: true,
            live: true,
            unicast,
            multicast: Vec::new(),
            content_filter: None,
            expects_inline_qos: false,
            same_host: false,
            vendor: guid.prefix.vendor(),
        }
    }
}

impl ReaderProxyConfig {
    /// Returns the locators for a datagram that is for this reader alone.
    pub(crate) fn reachable_by(&self) -> &[Locator] {
        if self.unicast.is_empty() { &self.multicast } else { &self.unicast }
    }

    /// Returns whether the reader wants the history and requests it by itself.
    pub(crate) fn requests_history(&self) -> bool {
        self.wants_history && self.asks_for_history
    }
}

/// Sender of a request, and the locator for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// GUID of the reader.
    pub reader: Guid,
    /// Locator for the answer (INFO_REPLY); `None` for the locators of discovery.
    pub reply: Option<Locator>,
}

impl From<Guid> for Asker {
    /// Uses the locators of discovery for the answer.
    fn from(reader: Guid) -> Self {
        Self { reader, reply: None }
    }
}

/// A change to write.
#[derive(Debug, Clone)]
pub struct NewChange {
    /// Effect of the change on the instance.
    pub kind: ChangeKind,
    /// Instance of the change; nil for a topic without key.
    pub instance: InstanceHandle,
    /// Encoded sample, or the encoded key of a change that is not alive, with its encapsulation header.
    ///
    /// No peer accepts a payload shorter than that header. DATA cannot express a length that is no multiple of 4.
    pub payload: Option<Payload>,
    /// Source timestamp; `None` for now.
    pub source_timestamp: Option<Time>,
    /// Sample that this one replies to.
    pub related_sample: Option<SampleIdentity>,
    /// Original writer, if this writer forwards the change. The change carries it, and its LIFESPAN replaces the
    /// writer's.
    pub origin: Option<Box<OriginalWriterInfo>>,
    /// Whether the instance must be registered already. Otherwise the change registers it.
    pub must_be_registered: bool,
}

impl NewChange {
    /// Creates a change with a sample, stamped with the time of writing.
    #[must_use]
    pub fn alive(instance: InstanceHandle, payload: Payload) -> Self {
        Self::new(ChangeKind::Alive, instance, payload)
    }

    /// Creates a dispose or an unregister of the instance with the serialized `key`.
    ///
    /// It is stamped with the time of writing.
    #[must_use]
    pub fn not_alive(kind: ChangeKind, instance: InstanceHandle, key: Payload) -> Self {
        Self::new(kind, instance, key)
    }

    fn new(kind: ChangeKind, instance: InstanceHandle, payload: Payload) -> Self {
        Self {
            kind,
            instance,
            payload: Some(payload),
            source_timestamp: None,
            related_sample: None,
            origin: None,
            must_be_registered: false,
        }
    }
}

/// Error of a write. The writer is unchanged, and no sequence number was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRefused {
    /// The history is full of changes that reliable readers have not acknowledged.
    ///
    /// [`StatefulWriterEvent::SpaceFreed`] reports when to try again.
    Full,
    /// KEEP_LAST, and other instances use up `max_samples`. Waiting does not help.
    SamplesMax,
    /// `max_instances` is used up. Waiting does not help, but unregistering an instance does.
    InstancesMax,
    /// The change requires a registered instance, and its instance is not registered.
    UnknownInstance,
    /// The payload exceeds the 2^32 - 1 bytes that a sample may have.
    TooLarge,
}

/// Event of a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatefulWriterEvent {
    /// All matched reliable readers have acknowledged all changes up to this one. It has grown since the last event.
    Acknowledged(SequenceNumber),
    /// There is room again after [`WriteRefused::Full`].
    SpaceFreed,
    /// Instances had no new sample for longer than DEADLINE.
    DeadlineMissed(MissedDeadlines),
    /// A slow reader was demoted: the writer does not wait for it any more ([`SlowReader::Demote`]).
    ReaderDemoted {
        /// The reader.
        reader: Guid,
        /// Samples that it had not acknowledged.
        behind: u64,
    },
    /// A slow reader has caught up, and the writer waits for it again.
    ReaderRestored {
        /// The reader.
        reader: Guid,
    },
    /// The writer has not asserted its liveliness within its lease (LIVELINESS_LOST; DDS 1.4, 2.2.4.1).
    ///
    /// Its readers take it for not alive until it does.
    LivelinessLost,
}

/// Lag of a reliable reader behind its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderLag {
    /// The reader.
    pub reader: Guid,
    /// Written samples that it has not acknowledged.
    pub samples: u64,
}

impl ReaderLag {
    /// Creates the value.
    #[must_use]
    pub const fn new(reader: Guid, samples: u64) -> Self {
        Self { reader, samples }
    }
}

/// Counters of a writer since its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriterCounters {
    /// Written changes.
    pub written: u64,
    /// Refused writes.
    pub refused: u64,
    /// Datagrams laid out.
    pub datagrams: u64,
    /// Requested changes, or requested runs of fragments, that were sent to a reader.
    pub repairs: u64,
    /// Requests that were not answered, because their reader had requested the same bytes too often.
    pub repairs_refused: u64,
    /// Changes that were not sent to a reader because of its content filter, summed over the readers.
    ///
    /// Changes from before the match do not count.
    pub filtered: u64,
    /// Sent GAPs.
    pub gaps: u64,
    /// Sent HEARTBEATs.
    pub heartbeats: u64,
    /// Changes that KEEP_LAST replaced before all reliable readers had acknowledged them.
    pub overwritten_unacknowledged: u64,
    /// Demotions of slow readers ([`SlowReader::Demote`]).
    pub readers_demoted: u64,
    /// Remote readers that did not match because [`READERS_MAX`](super::READERS_MAX) readers already matched.
    pub readers_refused: u64,
    /// Changes that were dropped although a demoted reader had not acknowledged them.
    pub given_up: u64,
    /// Changes whose lifespan ended before they left the history.
    pub expired: u64,
    /// Requests of readers that do not match or are not reliable.
    pub unknown_reader: u64,
    /// Requests older than a request that was handled already.
    pub stale: u64,
    /// Malformed requests: they acknowledge or request changes that were never sent.
    pub malformed: u64,
    /// Dropped requests for fragments, because one reader had too many open ones. The reader repeats them.
    pub fragment_requests_dropped: u64,
    /// Bytes of sent fragments, counted once for all readers.
    pub fragment_bytes: u64,
    /// Bytes of fragments that were retransmitted, or sent to one reader alone.
    pub fragment_bytes_repaired: u64,
    /// How often a large sample waited for answers of the readers, or for the pacer.
    pub paced: u64,
}
