//! Values of the policies. A value exists only where it has a meaning: a best-effort writer has no blocking time.
//!
//! Policies whose value is a duration, a number or octets are plain fields of the QoS structs and have no type here.
//! These are DEADLINE, LATENCY_BUDGET, LIFESPAN, TIME_BASED_FILTER, OWNERSHIP_STRENGTH, TRANSPORT_PRIORITY,
//! USER_DATA, TOPIC_DATA, GROUP_DATA and PARTITION.

use crate::types::Duration;

/// Whether lost samples are repaired (RELIABILITY; DDS 1.4, 2.2.3.14).
///
/// A reliable offer satisfies a best-effort request, but not the reverse. Reliability costs the writer memory until
/// the slowest reliable reader has acknowledged, and heartbeats and acknowledgments on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", from = "super::short_forms::ReliabilityForm"))]
pub enum Reliability {
    /// Lost samples are not repaired. The default of readers and topics.
    BestEffort,
    /// Lost samples are sent again. The default of writers, with 100 ms.
    Reliable {
        /// How long `write` may block for space in a full KEEP_ALL history. Zero: it never blocks. No effect for a
        /// reader.
        max_blocking_time: Duration,
    },
}

impl Reliability {
    /// Reliable. `write` blocks for at most this time for space in a full KEEP_ALL history.
    #[must_use]
    pub fn reliable(max_blocking_time: impl Into<Duration>) -> Self {
        Self::Reliable { max_blocking_time: max_blocking_time.into() }
    }

    /// Reliable, with a blocking time of 100 ms, the default of DDS 1.4 for a writer.
    pub const RELIABLE: Self = Self::Reliable { max_blocking_time: Duration::from_millis(100) };

    /// Whether lost samples are repaired.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        matches!(self, Self::Reliable { .. })
    }
}

/// Samples kept per instance (HISTORY; DDS 1.4, 2.2.3.18). Default: the last one.
///
/// Each side has its own. Memory grows with depth times instances times sample size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", from = "super::short_forms::HistoryForm"))]
pub enum History {
    /// The newest samples of each instance. Older ones are replaced, read or not.
    KeepLast {
        /// Samples per instance, at least 1.
        depth: u32,
    },
    /// Every sample, up to the [`ResourceLimits`]. Beyond them the writer blocks and the reader rejects.
    KeepAll,
}

impl Default for History {
    fn default() -> Self {
        Self::KeepLast { depth: 1 }
    }
}

/// Limits of an endpoint (RESOURCE_LIMITS; DDS 1.4, 2.2.3.19). Default: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct ResourceLimits {
    /// Samples of all instances together; `None` for no limit.
    pub max_samples: Option<u32>,
    /// Instances; `None` for no limit.
    pub max_instances: Option<u32>,
    /// Samples of one instance; `None` for no limit.
    pub max_samples_per_instance: Option<u32>,
}

impl ResourceLimits {
    /// No limits.
    pub const NONE: Self = Self { max_samples: None, max_instances: None, max_samples_per_instance: None };

    /// Limits the samples of all instances together.
    #[must_use]
    pub const fn max_samples(mut self, max: u32) -> Self {
        self.max_samples = Some(max);
        self
    }

    /// Limits the instances.
    #[must_use]
    pub const fn max_instances(mut self, max: u32) -> Self {
        self.max_instances = Some(max);
        self
    }

    /// Limits the samples of one instance.
    #[must_use]
    pub const fn max_samples_per_instance(mut self, max: u32) -> Self {
        self.max_samples_per_instance = Some(max);
        self
    }
}

/// Samples that a late joiner receives (DURABILITY; DDS 1.4, 2.2.3.4). Default: [`Durability::Volatile`].
///
/// The variants are ordered: a stronger offer satisfies a weaker request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Durability {
    /// Only samples that are written after the match.
    #[default]
    Volatile,
    /// Also the writer's history, as long as the writer lives.
    TransientLocal,
    /// Also samples that a durability service keeps in memory beyond the life of the writer, as DURABILITY_SERVICE
    /// defines.
    ///
    /// The service is an optional program beside the applications (crate `dds-durability`). Without it, late joiners
    /// receive the history of live writers, as with [`Durability::TransientLocal`]. A writer that closes without a
    /// matched service logs a warning.
    Transient,
    /// The same on disk: the samples survive a restart of the service, the writers and the whole system.
    Persistent,
}

/// Samples that a durability service keeps of a writer (DURABILITY_SERVICE; DDS 1.4, 2.2.3.5).
///
/// Writers announce it, and the matched service follows it. It applies to [`Durability::Transient`] and
/// [`Durability::Persistent`] only.
///
/// Under KEEP_ALL, the oldest samples are replaced at a limit. Instances beyond `max_instances` are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct DurabilityService {
    /// How long the service remembers a disposed instance without writers. Default: zero.
    pub cleanup_delay: Duration,
    /// Samples kept per instance. Default: the last one.
    pub history: History,
    /// Limits of the service. Default: none.
    pub resource_limits: ResourceLimits,
}

impl DurabilityService {
    /// Sets how long the service remembers a disposed instance without writers.
    #[must_use]
    pub fn cleanup_delay(mut self, delay: impl Into<Duration>) -> Self {
        self.cleanup_delay = delay.into();
        self
    }

    /// Keeps the newest `depth` samples of each instance.
    #[must_use]
    pub const fn keep_last(mut self, depth: u32) -> Self {
        self.history = History::KeepLast { depth };
        self
    }

    /// Keeps every sample, up to the limits.
    #[must_use]
    pub const fn keep_all(mut self) -> Self {
        self.history = History::KeepAll;
        self
    }

    /// Sets the samples that are kept of each instance.
    #[must_use]
    pub const fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Sets the limits of the service.
    #[must_use]
    pub const fn resource_limits(mut self, limits: ResourceLimits) -> Self {
        self.resource_limits = limits;
        self
    }
}

/// Scope of coherence and order (PRESENTATION; DDS 1.4, 2.2.3.6).
///
/// The variants are ordered: a stronger offer satisfies a weaker request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum AccessScope {
    /// Each instance on its own.
    #[default]
    Instance,
    /// All instances of one writer.
    Topic,
    /// All writers of one publisher.
    Group,
}

/// Coherence and order of changes (PRESENTATION; DDS 1.4, 2.2.3.6). Default: each instance on its own.
///
/// A publisher must offer at least the request of the subscriber. Samples of one writer are always delivered in its
/// order. Under further order or coherence, a sample waits at the reader for the others of its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Presentation {
    /// Scope of the two guarantees below.
    pub access_scope: AccessScope,
    /// Readers see a coherent set completely or not at all.
    pub coherent_access: bool,
    /// Readers see changes in the order of their creation.
    pub ordered_access: bool,
}

impl Presentation {
    /// Creates the policy for a scope, without coherence and order.
    #[must_use]
    pub const fn new(access_scope: AccessScope) -> Self {
        Self { access_scope, coherent_access: false, ordered_access: false }
    }

    /// Sets whether readers see a coherent set completely or not at all.
    #[must_use]
    pub const fn coherent_access(mut self, coherent: bool) -> Self {
        self.coherent_access = coherent;
        self
    }

    /// Sets whether readers see changes in the order of their creation.
    #[must_use]
    pub const fn ordered_access(mut self, ordered: bool) -> Self {
        self.ordered_access = ordered;
        self
    }

    /// Whether changes of all writers of a publisher are coherent or ordered.
    #[must_use]
    pub const fn is_of_group(&self) -> bool {
        // The scope alone promises nothing: it says only how far coherence and order go.
        matches!(self.access_scope, AccessScope::Group) && (self.coherent_access || self.ordered_access)
    }
}

/// Whether one writer at a time owns an instance (OWNERSHIP; DDS 1.4, 2.2.3.9). Both sides must have the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Ownership {
    /// Samples of all writers are delivered.
    #[default]
    Shared,
    /// Only samples of the strongest live writer are delivered; of equals, the one with the lowest GUID.
    Exclusive,
}

/// How the liveliness of a writer is asserted (LIVELINESS; DDS 1.4, 2.2.3.11).
///
/// The variants are ordered: a stronger offer satisfies a weaker request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum LivelinessKind {
    /// By the middleware, as long as the process runs.
    #[default]
    Automatic,
    /// By the application, once for all writers of its participant.
    ManualByParticipant,
    /// By the application, for each writer.
    ManualByTopic,
}

/// Kind and lease of a writer's liveliness (LIVELINESS; DDS 1.4, 2.2.3.11). Default: automatic, with an infinite
/// lease.
///
/// An offer satisfies a request of the same or a weaker kind and the same or a longer lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Liveliness {
    /// How it is asserted.
    pub kind: LivelinessKind,
    /// Time without an assertion after which the writer counts as not alive. Default: infinite.
    pub lease_duration: Duration,
}

impl Liveliness {
    /// Creates the policy from its kind and lease.
    #[must_use]
    pub fn new(kind: LivelinessKind, lease_duration: impl Into<Duration>) -> Self {
        Self { kind, lease_duration: lease_duration.into() }
    }

    /// The middleware asserts it, as long as the process runs.
    #[must_use]
    pub fn automatic(lease_duration: impl Into<Duration>) -> Self {
        Self::new(LivelinessKind::Automatic, lease_duration)
    }

    /// The application asserts it once for all writers of its participant.
    #[must_use]
    pub fn manual_by_participant(lease_duration: impl Into<Duration>) -> Self {
        Self::new(LivelinessKind::ManualByParticipant, lease_duration)
    }

    /// The application asserts it for each writer.
    #[must_use]
    pub fn manual_by_topic(lease_duration: impl Into<Duration>) -> Self {
        Self::new(LivelinessKind::ManualByTopic, lease_duration)
    }
}

impl Default for Liveliness {
    fn default() -> Self {
        Self { kind: LivelinessKind::Automatic, lease_duration: Duration::INFINITE }
    }
}

/// Clock that orders the samples of several writers (DESTINATION_ORDER; DDS 1.4, 2.2.3.17).
///
/// The variants are ordered: a stronger offer satisfies a weaker request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum DestinationOrder {
    /// The reader's clock: samples are in the order of their arrival.
    #[default]
    ByReceptionTimestamp,
    /// The writers' clocks: samples of an instance are ordered by source timestamp, and all readers end with the same
    /// last value.
    ///
    /// A sample older than one that was read or taken is dropped and counted. The clocks of the writers must agree as
    /// far as the order matters. A source timestamp more than 30 s ahead of the reader's clock counts as the time of
    /// reception. The cost is a comparison per sample in order, and a short search for others.
    BySourceTimestamp,
}

/// Whether contained entities are enabled when they are created (ENTITY_FACTORY; DDS 1.4, 2.2.3.20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct EntityFactory {
    /// Enables them at once. Default: true.
    pub autoenable_created_entities: bool,
}

impl EntityFactory {
    /// Contained entities are enabled when they are created. The default.
    pub const AUTOMATIC: Self = Self { autoenable_created_entities: true };
    /// Contained entities are enabled by the application.
    pub const MANUAL: Self = Self { autoenable_created_entities: false };
}

impl Default for EntityFactory {
    fn default() -> Self {
        Self { autoenable_created_entities: true }
    }
}

/// Effect of unregistering an instance (WRITER_DATA_LIFECYCLE; DDS 1.4, 2.2.3.21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct WriterDataLifecycle {
    /// Disposes of an instance when it is unregistered explicitly. Default: true.
    ///
    /// Deleting the writer never disposes, although DDS 1.4, 2.2.3.21, suggests it. Otherwise a reader could not
    /// distinguish a program that ends from one that removes its instances; peers behave alike. Use `dispose_all` of
    /// the writer to dispose explicitly.
    pub autodispose_unregistered_instances: bool,
}

impl WriterDataLifecycle {
    /// Unregistering an instance disposes of it. The default.
    pub const DISPOSE: Self = Self { autodispose_unregistered_instances: true };
    /// Unregistering an instance does not dispose of it.
    pub const KEEP: Self = Self { autodispose_unregistered_instances: false };
}

impl Default for WriterDataLifecycle {
    fn default() -> Self {
        Self { autodispose_unregistered_instances: true }
    }
}

/// Delays until a reader forgets instances that are not alive (READER_DATA_LIFECYCLE; DDS 1.4, 2.2.3.22). Default:
/// infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct ReaderDataLifecycle {
    /// How long the samples of an instance without writers are kept.
    pub autopurge_nowriter_samples_delay: Duration,
    /// How long the samples of a disposed instance are kept.
    pub autopurge_disposed_samples_delay: Duration,
}

impl ReaderDataLifecycle {
    /// Sets how long the samples of an instance without writers are kept.
    #[must_use]
    pub fn autopurge_nowriter_samples_delay(mut self, delay: impl Into<Duration>) -> Self {
        self.autopurge_nowriter_samples_delay = delay.into();
        self
    }

    /// Sets how long the samples of a disposed instance are kept.
    #[must_use]
    pub fn autopurge_disposed_samples_delay(mut self, delay: impl Into<Duration>) -> Self {
        self.autopurge_disposed_samples_delay = delay.into();
        self
    }
}

impl Default for ReaderDataLifecycle {
    fn default() -> Self {
        Self {
            autopurge_nowriter_samples_delay: Duration::INFINITE,
            autopurge_disposed_samples_delay: Duration::INFINITE,
        }
    }
}

/// Representation of samples (DATA_REPRESENTATION; XTYPES 1.3, 7.6.3.1).
///
/// A writer offers the **first** entry of its list, a reader accepts every entry. An empty list in a QoS struct is
/// the automatic choice: a writer offers [`DataRepresentation::Xcdr1`] for final types and
/// [`DataRepresentation::Xcdr2`] for others, and a reader accepts both. A peer that announces no list uses XCDR1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum DataRepresentation {
    /// XCDR1: the encoding of RTPS 2.1 and later, with 8-byte alignment; id 0. Every peer supports it.
    Xcdr1,
    /// XML; id 1. No implementation sends it, and a QoS that requests it is rejected.
    Xml,
    /// XCDR2: the encoding of XTypes, with 4-byte alignment and delimited appendable types; id 2.
    Xcdr2,
    /// An unknown id in a peer's announcement. It never matches, and a QoS that requests it is rejected.
    Other(i16),
}

impl DataRepresentation {
    /// Representations that a reader with an empty list accepts.
    pub const READABLE: &[Self] = &[Self::Xcdr1, Self::Xcdr2];

    /// Returns the representation that a writer with an empty list offers.
    #[must_use]
    pub const fn automatic(type_is_final: bool) -> Self {
        if type_is_final { Self::Xcdr1 } else { Self::Xcdr2 }
    }

    /// Returns the id on the wire.
    #[must_use]
    pub const fn to_wire(self) -> i16 {
        match self {
            Self::Xcdr1 => 0,
            Self::Xml => 1,
            Self::Xcdr2 => 2,
            Self::Other(id) => id,
        }
    }

    /// The inverse of [`DataRepresentation::to_wire`].
    #[must_use]
    pub const fn from_wire(id: i16) -> Self {
        match id {
            0 => Self::Xcdr1,
            1 => Self::Xml,
            2 => Self::Xcdr2,
            id => Self::Other(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stronger_offers_are_greater() {
        assert!(Durability::TransientLocal > Durability::Volatile);
        assert!(LivelinessKind::ManualByTopic > LivelinessKind::Automatic);
        assert!(AccessScope::Group > AccessScope::Topic);
        assert!(DestinationOrder::BySourceTimestamp > DestinationOrder::ByReceptionTimestamp);
    }

    #[test]
    fn representation_ids_survive_the_wire() {
        for id in [0, 1, 2, 3, -1, 0x7fff] {
            assert_eq!(DataRepresentation::from_wire(id).to_wire(), id);
        }
    }
}
