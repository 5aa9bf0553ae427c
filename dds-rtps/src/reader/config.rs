//! What a reader is made of, and what it is told about the writers it matches.

use crate::cdr::AnyType;
use crate::concurrent::AssertionClock;
use crate::filter::Filter;
use crate::history::{HistoryLimits, ReaderHistoryConfig, ReaderTiming};
use crate::qos::{AccessScope, DataReaderQos, DestinationOrder, Durability, Liveliness, Ownership, Presentation};
use crate::reader::payload::SPARE_BYTES;
use crate::types::{Duration, EntityId, Guid, Locator, Time, VendorId};
use std::sync::Arc;

/// How the instance of a change is found.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// The topic has no key: everything belongs to one instance, whose handle is nil.
    None,
    /// The payload decides, by the type's key. A key hash counts only where there is no payload, and is only looked up
    /// among known instances: some peers compute it in ways of their own.
    Type(AnyType),
    /// Discovery data in a parameter list: ENDPOINT_GUID, else PARTICIPANT_GUID, else the key hash.
    KeyHashOrGuidParameter,
    /// The key hash that comes with the change, of whatever type; without one, the instance whose handle is nil.
    KeyHash,
    /// The first sixteen bytes after the encapsulation header, which are the same in either byte order: participant
    /// messages, whose key is a GUID prefix and four octets.
    LeadingBytes,
}

/// How a [`StatefulReader`](crate::reader::StatefulReader) works. Times are by the monotonic clock.
#[derive(Debug, Clone)]
pub struct ReaderConfig {
    /// The reader.
    pub guid: Guid,
    /// RELIABILITY: whether lost samples are asked for.
    pub reliable: bool,
    /// DURABILITY other than VOLATILE: whether samples are wanted that were written before the match.
    pub wants_history: bool,
    /// DURABILITY transient or persistent: what outlives its writer may come from a service as well, and is delivered once.
    pub outlives_writers: bool,
    /// Whether changes are kept and handed out as they are, for a service that passes them on; see
    /// [`ReaderHistoryConfig::as_log`]. Default: no.
    pub as_log: bool,
    /// HISTORY and RESOURCE_LIMITS.
    pub limits: HistoryLimits,
    /// DESTINATION_ORDER.
    pub destination_order: DestinationOrder,
    /// OWNERSHIP.
    pub ownership: Ownership,
    /// DEADLINE, TIME_BASED_FILTER and READER_DATA_LIFECYCLE.
    pub timing: ReaderTiming,
    /// PRESENTATION of the reader's subscriber: under coherent access the sets of a writer are seen as a whole or not at all, under
    /// ordered access beyond instances all that is selected comes in the order of arrival.
    /// Default: each change for itself.
    pub presentation: Presentation,
    /// How the instance of a change is found.
    pub key: KeySource,
    /// Which samples are wanted, by their contents; the others are never kept. Default: all.
    pub filter: Option<Arc<Filter>>,
    /// How long an answer to a HEARTBEAT waits for more to answer with it. Default: zero, it goes out with the next
    /// transmission, which answers all HEARTBEATs of the datagrams handled before it. Each millisecond delays repairs, and
    /// writers that wait for acknowledgement, by a millisecond.
    pub heartbeat_response_delay: Duration,
    /// How long a number or fragment that has been asked for is not asked for again. Default: 5 ms, which is longer than
    /// the way to a peer and back on a LAN: each HEARTBEAT within that time would else have everything sent again. Numbers
    /// that come sooner when they are asked for wait for three times that only, at least 1 ms.
    pub nack_suppression: Duration,
    /// After how long what is missing is asked for again when no HEARTBEAT comes; the pauses double up to
    /// `nack_period_max` while nothing arrives. Default: 100 ms.
    pub nack_period: Duration,
    /// The longest pause between two requests. Default: 2 s.
    pub nack_period_max: Duration,
    /// How long after the match the second pre-emptive ACKNACK follows the first one, if no HEARTBEAT came; the pauses
    /// after it double up to `preemptive_period_max`. Default: 100 ms.
    pub preemptive_period: Duration,
    /// The longest pause between two of them. Default: 2 s.
    pub preemptive_period_max: Duration,
    /// How far ahead of the first missing number changes are kept. Default and maximum: 1024. What lies further ahead is
    /// dropped and asked for again.
    pub reorder_max: usize,
    /// How many bytes of payload are kept ahead of the first missing number, per writer; one change is always kept.
    /// Default: 16 MiB.
    pub reorder_bytes_max: usize,
    /// Memory of slots that is kept for samples to come, in bytes, of small ones and of medium-sized ones each. Default: 16 MiB.
    pub spare_bytes: usize,
    /// The largest sample accepted, in bytes of its serialized payload. Default: 64 MiB and 64 KiB. Only fragmented samples
    /// can be larger than a datagram; the size is checked before there is any memory for them.
    pub sample_size_max: usize,
    /// How many fragmented samples of one writer are put together at a time. Default: 64: on a long way that loses, so many are begun before the first is whole.
    pub assemblies_max: usize,
    /// How many bytes the fragmented samples of one writer that are being put together may have, in all; one is always
    /// accepted. Default: 128 MiB.
    pub assembly_bytes_max: usize,
    /// After how long without a new fragment a best-effort sample is given up. Default: 1 s.
    pub assembly_timeout: Duration,
    /// Makes the order of the maps this reader's own, so that no peer can choose keys that collide. Default: 0.
    pub seed: u64,
}

/// How many numbers ahead of the first missing one can be kept at most: 1024 times about 130 bytes per writer.
pub const REORDER_MAX: usize = 1024;

impl ReaderConfig {
    /// A reader with this QoS, and defaults for all that QoS does not say.
    #[must_use]
    pub fn new(guid: Guid, key: KeySource, qos: &DataReaderQos) -> Self {
        Self {
            guid,
            reliable: qos.reliability.is_reliable(),
            wants_history: qos.durability > Durability::Volatile,
            outlives_writers: qos.durability > Durability::TransientLocal,
            as_log: false,
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
            seed: 0,
        }
    }

    /// Whether it matters what changes are presented together.
    pub(crate) fn presents(&self) -> bool {
        self.presentation.coherent_access || self.is_group()
    }

    /// Whether changes are seen in order beyond their instances.
    pub(crate) fn is_ordered(&self) -> bool {
        self.presentation.ordered_access && self.presentation.access_scope > AccessScope::Instance
    }

    /// Whether the changes of several readers are presented together.
    pub(crate) fn is_group(&self) -> bool {
        self.presentation.is_of_group()
    }

    pub(crate) fn history(&self) -> ReaderHistoryConfig {
        let &Self { limits, destination_order, ownership, timing, outlives_writers, as_log, seed, .. } = self;
        ReaderHistoryConfig { limits, destination_order, ownership, timing, outlives_writers, as_log, seed }
    }

    /// Whether a change that does not fit into the history is kept from being acknowledged.
    pub(crate) fn holds_back(&self) -> bool {
        self.reliable && self.limits.depth.is_none()
    }
}

/// What discovery says about a matched writer of another participant.
#[derive(Debug, Clone)]
pub struct WriterProxyConfig {
    /// The writer.
    pub guid: Guid,
    /// Whether it repairs losses. A best-effort reader treats every writer as best effort.
    pub reliable: bool,
    /// Whether it answers requests of a volatile reader for what was written before the match with a GAP, or has kept none
    /// of it but what other readers still miss. Then a volatile reader may begin with the first number that a HEARTBEAT announces, and misses nothing that was written
    /// between the writer's match and the first HEARTBEAT. Where that is not known, it begins after the last number that
    /// the first HEARTBEAT announces, or with the first sample, whichever comes first.
    pub gaps_history: bool,
    /// Whether it tells each volatile reader, in a HEARTBEAT that is addressed to that reader, where what it is to get begins. Then such a
    /// reader delivers nothing before: what it hears may be for others of its participant, and what of that is lost nobody repairs for it. Default: of
    /// writers whose GUID begins with our own vendor id.
    pub names_beginning: bool,
    /// LIFESPAN: how long after its source timestamp a sample is handed out. Default: infinite.
    pub lifespan: Duration,
    /// OWNERSHIP_STRENGTH. Default: 0.
    pub ownership_strength: i32,
    /// LIVELINESS: what it has promised, and who has to keep it. Counts from the match on. Default: automatic, for ever.
    pub liveliness: Liveliness,
    /// Where signs of life of its participant are noted that do not come from the writer itself: for an automatic one
    /// all of them, for one that is manual by participant those that say so. Default: nowhere.
    pub assertion_clock: Option<Arc<AssertionClock>>,
    /// Its publisher, whose group sequence numbers it shares under scope GROUP; [`EntityId::UNKNOWN`]: its participant has one.
    pub publisher: EntityId,
    /// Whether it is known to say by HEARTBEAT how far its group is, and to end each set of its publisher.
    pub tells_group: bool,
    /// Where ACKNACKs go.
    pub unicast: Vec<Locator>,
    /// Where they go if there is no unicast locator.
    pub multicast: Vec<Locator>,
}

impl WriterProxyConfig {
    /// A reliable writer with samples that never expire, and no locators yet. That it answers for its history is known of
    /// writers whose GUID begins with our own vendor id or that of Fast DDS (`StatefulWriter::matched_reader_add` makes all
    /// earlier changes irrelevant to a volatile reader).
    #[must_use]
    pub fn new(guid: Guid) -> Self {
        Self {
            guid,
            reliable: true,
            gaps_history: guid.prefix.is_of(VendorId::OURS) || guid.prefix.is_of(VendorId::EPROSIMA),
            names_beginning: guid.prefix.is_of(VendorId::OURS),
            lifespan: Duration::INFINITE,
            ownership_strength: 0,
            liveliness: Liveliness::default(),
            assertion_clock: None,
            publisher: EntityId::UNKNOWN,
            tells_group: false,
            unicast: Vec::new(),
            multicast: Vec::new(),
        }
    }
}

/// Where a submessage comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The writer: the source's prefix and the submessage's writer id.
    pub writer: Guid,
    /// The source timestamp in force.
    pub timestamp: Option<Time>,
    /// Who built the source.
    pub vendor: VendorId,
    /// Where the source is to be answered, if not where discovery says (INFO_REPLY).
    pub reply: Option<Locator>,
}
