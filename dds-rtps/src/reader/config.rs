//! Configuration of a reader, and of the writers that it matches.

use super::assembly::AssemblyLimits;
use super::change_builder::SPARE_BYTES;
use super::proxy::window::WindowLimits;
use crate::cdr::AnyType;
use crate::concurrent::AssertionClock;
use crate::filter::Filter;
use crate::history::{HistoryLimits, ReaderHistoryConfig, ReaderTiming};
use crate::qos::{AccessScope, DataReaderQos, DestinationOrder, Durability, Liveliness, Ownership, Presentation};
use crate::types::{Duration, EntityId, Guid, HashSeed, Locator, Time, VendorId};
use std::sync::Arc;

/// How a reader finds the instance of a change.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// The topic has no key. All changes belong to one instance, whose handle is nil.
    None,
    /// From the payload, by the type's key.
    ///
    /// A key hash counts only where there is no payload, and only to look up a known instance: some peers compute it in
    /// ways of their own.
    Type(AnyType),
    /// From discovery data in a parameter list: ENDPOINT_GUID, else PARTICIPANT_GUID, else the key hash.
    KeyHashOrGuidParameter,
    /// From the key hash beside the payload, for any type. Without a key hash the instance handle is nil.
    KeyHash,
    /// From the first sixteen bytes after the encapsulation header, which are the same in either byte order.
    ///
    /// For participant messages, whose key is a GUID prefix and four octets.
    LeadingBytes,
}

/// Configuration of a [`StatefulReader`](super::StatefulReader). Times are by the monotonic clock.
#[derive(Debug, Clone)]
pub struct ReaderConfig {
    /// GUID of the reader.
    pub guid: Guid,
    /// RELIABILITY: whether the reader requests lost samples.
    pub reliable: bool,
    /// DURABILITY other than VOLATILE: whether the reader requests samples that were written before the match.
    pub wants_history: bool,
    /// DURABILITY transient or persistent. Samples may also come from a service; each is delivered once.
    pub outlives_writers: bool,
    /// Whether the history keeps and returns changes unchanged, for a service that passes them on. Default: no.
    ///
    /// See [`ReaderHistoryConfig::as_log`].
    pub as_log: bool,
    /// Whether a change may be delivered twice, as in discovery. Default: no.
    ///
    /// Then the reader asks for a HEARTBEAT that confirms received changes, and expects denied ones again.
    pub is_idempotent: bool,
    /// Whether the owner awaits that the writers know this reader. Default: no.
    ///
    /// Then [`StatefulReader::is_known_to`](super::StatefulReader::is_known_to) becomes true for each of them, and
    /// [`StatefulReaderEvent::KnownToWriter`](super::StatefulReaderEvent::KnownToWriter) says when.
    pub awaits_writers: bool,
    /// HISTORY and RESOURCE_LIMITS.
    pub limits: HistoryLimits,
    /// DESTINATION_ORDER.
    pub destination_order: DestinationOrder,
    /// OWNERSHIP.
    pub ownership: Ownership,
    /// DEADLINE, TIME_BASED_FILTER and READER_DATA_LIFECYCLE.
    pub timing: ReaderTiming,
    /// PRESENTATION of the reader's subscriber. Default: each change stands alone.
    ///
    /// Under coherent access the application sees a set of a writer as a whole or not at all. Under ordered access with
    /// a scope wider than INSTANCE all selected samples come in the order of arrival.
    pub presentation: Presentation,
    /// How the reader finds the instance of a change.
    pub key: KeySource,
    /// Content filter. Rejected samples are never kept. Default: none.
    pub filter: Option<Arc<Filter>>,
    /// How long the answer to a HEARTBEAT waits for further HEARTBEATs. Default: zero.
    ///
    /// With zero the answer leaves with the next transmission, and answers all HEARTBEATs handled before it. Each
    /// millisecond delays repairs, and writers that wait for acknowledgments, by a millisecond.
    pub heartbeat_response_delay: Duration,
    /// How long the reader does not request the same number or fragment again. Default: 5 ms.
    ///
    /// That is longer than the round-trip time on a LAN. Without it each HEARTBEAT within that time would cause all
    /// missing samples to be sent again. If repairs arrive sooner, the pause is three times their delay, at least 1 ms.
    pub nack_suppression: Duration,
    /// First pause before the reader requests missing samples again without a HEARTBEAT. Default: 100 ms.
    ///
    /// While nothing arrives the pauses double, up to `nack_period_max`.
    pub nack_period: Duration,
    /// Longest pause between two requests. Default: 2 s.
    pub nack_period_max: Duration,
    /// Pause between the first and the second pre-emptive ACKNACK, if no HEARTBEAT arrives. Default: 100 ms.
    ///
    /// Later pauses double, up to `preemptive_period_max`.
    pub preemptive_period: Duration,
    /// Longest pause between two pre-emptive ACKNACKs. Default: 2 s.
    pub preemptive_period_max: Duration,
    /// How far ahead of the first missing number the reader keeps changes. Default and maximum: 65 536.
    ///
    /// Changes further ahead are dropped and requested again. A datagram with small samples has 600 of them, so the
    /// bytes are the usual limit.
    pub reorder_max: usize,
    /// Most payload bytes kept ahead of the first missing number, per writer. Default: 16 MiB.
    ///
    /// One change is always kept.
    pub reorder_bytes_max: usize,
    /// Bytes of slots that are kept for later samples, for small and for medium-sized ones each. Default: 16 MiB.
    pub spare_bytes: usize,
    /// Largest accepted sample, in bytes of its serialized payload. Default: 64 MiB and 64 KiB.
    ///
    /// Only fragmented samples can exceed a datagram. The reader checks the size before it reserves memory.
    pub sample_size_max: usize,
    /// Most fragmented samples of one writer that are assembled at the same time. Default: 64.
    ///
    /// On a long path with losses that many have begun before the first is complete.
    pub assemblies_max: usize,
    /// Most bytes of fragmented samples of one writer that are being assembled. Default: 128 MiB.
    ///
    /// One sample is always accepted.
    pub assembly_bytes_max: usize,
    /// Time without a new fragment after which a best-effort sample is given up. Default: 1 s.
    pub assembly_timeout: Duration,
    /// Samples that were written since this time have their latencies measured. Default: none.
    ///
    /// Samples of the time before the reader would only show how late the reader came.
    pub latencies_since: Option<Time>,
    /// Seed of this reader's hash tables. Default: a fixed one.
    pub hash_seed: HashSeed,
}

/// Most numbers kept ahead of the first missing one.
///
/// Each takes 8 bytes per writer, and about 130 bytes if its change has arrived.
pub const REORDER_MAX: usize = 1 << 16;

impl ReaderConfig {
    /// A reader with this QoS, and defaults for all other fields.
    #[must_use]
    pub fn new(guid: Guid, key: KeySource, qos: &DataReaderQos) -> Self {
        Self {
            guid,
            reliable: qos.reliability.is_reliable(),
            wants_history: qos.durability > Durability::Volatile,
            outlives_writers: qos.durability > Durability::TransientLocal,
            as_log: false,
            is_idempotent: false,
            awaits_writers: false,
            limits: HistoryLimits::new(qos.history, qos.resource_limits),
            destination_order: qos.destination_order,
            ownership: qos.ownership,
            timing: qos.into(),
            presentation: Presentation::default(),
            key,
            filter: None,
            heartbeat_response_delay: Duration::ZERO,
            nack_suppression: Duration::from_millis(5),
            nack_period: Duration::from_millis(100),
            nack_period_max: Duration::from_secs(2),
            preemptive_period: Duration::from_millis(100),
            preemptive_period_max: Duration::from_secs(2),
            reorder_max: REORDER_MAX,
            reorder_bytes_max: 16 << 20,
            spare_bytes: SPARE_BYTES,
            sample_size_max: (64 << 20) + (64 << 10),
            assemblies_max: 64,
            assembly_bytes_max: 128 << 20,
            assembly_timeout: Duration::from_secs(1),
            latencies_since: None,
            hash_seed: HashSeed::fixed(0),
        }
    }

    /// Whether changes are presented together: in coherent sets, or in the order of a group.
    pub(crate) fn has_presentation(&self) -> bool {
        self.presentation.coherent_access || self.is_group()
    }

    /// Whether access is ordered across instances.
    pub(crate) fn is_ordered(&self) -> bool {
        self.presentation.ordered_access && self.presentation.access_scope > AccessScope::Instance
    }

    /// Whether the changes of several readers are presented together (scope GROUP).
    pub(crate) fn is_group(&self) -> bool {
        self.presentation.is_of_group()
    }

    pub(crate) fn history(&self) -> ReaderHistoryConfig {
        let &Self { limits, destination_order, ownership, timing, outlives_writers, as_log, .. } = self;
        let &Self { latencies_since, hash_seed, .. } = self;
        ReaderHistoryConfig {
            limits,
            destination_order,
            ownership,
            timing,
            outlives_writers,
            as_log,
            latencies_since,
            hash_seed,
        }
    }

    pub(crate) fn assembly_limits(&self) -> AssemblyLimits {
        AssemblyLimits {
            sample_size_max: self.sample_size_max,
            assemblies_max: self.assemblies_max,
            bytes_max: self.assembly_bytes_max,
        }
    }

    pub(crate) fn window_limits(&self) -> WindowLimits {
        WindowLimits { numbers_max: self.reorder_max, bytes_max: self.reorder_bytes_max }
    }

    /// Whether the reader does not acknowledge a change that does not fit into its history.
    pub(crate) fn withholds_acknowledgment(&self) -> bool {
        self.reliable && self.keeps_all()
    }

    /// HISTORY KEEP_ALL.
    pub(crate) fn keeps_all(&self) -> bool {
        self.limits.depth.is_none()
    }
}

/// Discovery data of a matched writer.
#[derive(Debug, Clone)]
pub struct WriterProxyConfig {
    /// GUID of the writer.
    pub guid: Guid,
    /// Vendor of the writer. Default: that of its GUID.
    ///
    /// With DDS Security, GUIDs follow from certificates, and do not show the vendor.
    pub vendor: VendorId,
    /// Whether the writer repairs losses. A best-effort reader treats every writer as best effort.
    pub reliable: bool,
    /// Whether the writer separates its history from the samples that a volatile reader is entitled to.
    ///
    /// Such a writer answers requests of a volatile reader for earlier samples with GAP, or keeps only samples that
    /// other readers still miss. Then a volatile reader may begin with the first announced number. It misses no sample
    /// written between the writer's match and the first HEARTBEAT. With any other writer the reader
    /// begins after the last number of the first HEARTBEAT, or with the first sample, whichever comes first.
    pub separates_history: bool,
    /// Whether the writer names the first relevant sequence number in a HEARTBEAT addressed to each volatile reader.
    ///
    /// Then the reader delivers nothing earlier: the traffic before may be for other readers of its participant, and
    /// the writer does not repair its losses. Default: writers of our own vendor id.
    pub names_first_relevant: bool,
    /// Whether the writer answers pre-emptive ACKNACKs of readers that it knows, by a HEARTBEAT that names the reader.
    ///
    /// Default: writers of our own vendor id, and of Cyclone DDS (`force_heartbeat_to_peer`). Other writers may name no
    /// reader, or may not answer while they have no sample.
    pub answers_by_name: bool,
    /// Whether the writer replaces samples that the reader has not received (HISTORY KEEP_LAST). Default: no.
    ///
    /// Then the samples that a reliable writer no longer has count as replaced, and not as lost.
    pub keeps_last: bool,
    /// LIFESPAN, which counts from the source timestamp. Default: infinite.
    pub lifespan: Duration,
    /// OWNERSHIP_STRENGTH. Default: 0.
    pub ownership_strength: i32,
    /// LIVELINESS that the writer offers; the lease starts with the match. Default: automatic, infinite.
    pub liveliness: Liveliness,
    /// Records liveliness assertions of the writer's participant. Default: none.
    ///
    /// For an automatic writer it records all messages, for one that is manual by participant the assertion messages.
    pub assertion_clock: Option<Arc<AssertionClock>>,
    /// Publisher of the writer, whose group sequence numbers the writer shares under scope GROUP.
    ///
    /// [`EntityId::UNKNOWN`]: the participant has one publisher.
    pub publisher: EntityId,
    /// Whether the writer reports the progress of its group by HEARTBEAT, and ends each set of its publisher.
    pub reports_group_progress: bool,
    /// Destinations of ACKNACKs.
    pub unicast: Vec<Locator>,
    /// Destinations of ACKNACKs if there is no unicast locator.
    pub multicast: Vec<Locator>,
}

impl WriterProxyConfig {
    /// A reliable writer of the vendor that its GUID shows, whose samples never expire, without locators.
    #[must_use]
    pub fn new(guid: Guid) -> Self {
        Self::of_vendor(guid, guid.prefix.vendor())
    }

    /// As [`new`](Self::new), with a known vendor.
    ///
    /// Writers of our own vendor id, of Fast DDS and of RustDDS separate their history
    /// ([`WriterProxyConfig::separates_history`]): `StatefulWriter::matched_reader_add` of Fast DDS makes all earlier
    /// changes irrelevant to a volatile reader, and `Writer::matched_reader_update` of RustDDS 0.15 sends a GAP.
    #[must_use]
    pub fn of_vendor(guid: Guid, vendor: VendorId) -> Self {
        Self {
            guid,
            vendor,
            reliable: true,
            separates_history: [VendorId::OURS, VendorId::EPROSIMA, VendorId::RUSTDDS].contains(&vendor),
            names_first_relevant: vendor == VendorId::OURS,
            answers_by_name: [VendorId::OURS, VendorId::CYCLONE].contains(&vendor),
            keeps_last: false,
            lifespan: Duration::INFINITE,
            ownership_strength: 0,
            liveliness: Liveliness::default(),
            assertion_clock: None,
            publisher: EntityId::UNKNOWN,
            reports_group_progress: false,
            unicast: Vec::new(),
            multicast: Vec::new(),
        }
    }
}

/// Origin of a submessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The writer: GUID prefix of the source and writer id of the submessage.
    pub writer: Guid,
    /// Source timestamp of the message (INFO_TS).
    pub timestamp: Option<Time>,
    /// Vendor of the source.
    pub vendor: VendorId,
    /// Address for answers, if it differs from the announced locators (INFO_REPLY).
    pub reply: Option<Locator>,
}
