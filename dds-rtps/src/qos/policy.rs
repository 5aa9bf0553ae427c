//! The policies' values. A number is only there where it means something: a best-effort writer has no blocking time.
//!
//! Policies whose whole value is a span of time, a number or octets (DEADLINE, LATENCY_BUDGET, LIFESPAN,
//! TIME_BASED_FILTER, OWNERSHIP_STRENGTH, TRANSPORT_PRIORITY, USER_DATA, TOPIC_DATA, GROUP_DATA, PARTITION) are plain
//! fields of the QoS structs and have no type here.

use crate::types::Duration;

/// Whether lost samples are repaired (RELIABILITY; DDS 1.4, 2.2.3.14).
///
/// A reliable offer satisfies a best-effort request, not the other way round. Reliable costs the writer memory until the
/// slowest reliable reader has acknowledged, and heartbeats and acknowledgements on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Reliability {
    /// A lost sample is lost. The default of readers and topics.
    BestEffort,
    /// A lost sample is sent again. The default of writers, with 100 ms.
    Reliable {
        /// How long a write may wait for room in a full history of [`History::KeepAll`]. Zero: it never waits. Means
        /// nothing for a reader.
        max_blocking_time: Duration,
    },
}

impl Reliability {
    /// Reliable, with the 100 ms of blocking time that DDS 1.4 gives a writer.
    pub const RELIABLE: Self = Self::Reliable { max_blocking_time: Duration::from_millis(100) };

    /// Whether lost samples are repaired.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        matches!(self, Self::Reliable { .. })
    }
}

/// How many samples of an instance are kept (HISTORY; DDS 1.4, 2.2.3.18). Default: the last one.
///
/// It is a matter of each side alone. Memory grows with depth times instances times sample size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum History {
    /// The newest samples of each instance; older ones make room, whether or not anybody has seen them.
    KeepLast {
        /// Samples per instance, at least 1.
        depth: u32,
    },
    /// Every sample, up to the [`ResourceLimits`]; what does not fit waits at the writer, or is rejected at the reader.
    KeepAll,
}

impl Default for History {
    fn default() -> Self {
        Self::KeepLast { depth: 1 }
    }
}

/// How much an endpoint may keep (RESOURCE_LIMITS; DDS 1.4, 2.2.3.19). Default: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ResourceLimits {
    /// Samples of all instances together; `None`: no limit.
    pub max_samples: Option<u32>,
    /// Instances; `None`: no limit.
    pub max_instances: Option<u32>,
    /// Samples of one instance; `None`: no limit.
    pub max_samples_per_instance: Option<u32>,
}

/// What a reader gets that joins late (DURABILITY; DDS 1.4, 2.2.3.4). Default: [`Durability::Volatile`].
///
/// The order of the variants is the order of the offers: a stronger one satisfies a weaker request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Durability {
    /// Only what is written from now on.
    #[default]
    Volatile,
    /// What the writer's history holds, as long as the writer lives.
    TransientLocal,
    /// What a durability service keeps beyond the life of the writer, as DURABILITY_SERVICE says, in memory. Such a service is
    /// a program beside the applications (feature `durability`), and optional: without one, late joiners get what writers keep
    /// that are still alive, as by [`Durability::TransientLocal`]; a writer that goes when no service has matched it says so in
    /// the log.
    Transient,
    /// The same on disk: what the service keeps is there again after it, the writers and the whole system have been restarted.
    Persistent,
}

/// What a durability service keeps of a writer's samples (DURABILITY_SERVICE; DDS 1.4, 2.2.3.5).
///
/// Announced by writers, and followed by the service that matches them. Only for [`Durability::Transient`] and
/// [`Durability::Persistent`].
///
/// By KEEP_ALL within limits, the oldest samples make room for new ones; instances beyond `max_instances` are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct DurabilityService {
    /// How long the service remembers an instance that was disposed of and that nobody writes any more. Default: zero.
    pub cleanup_delay: Duration,
    /// Samples per instance. Default: the last one.
    pub history: History,
    /// Limits of the service. Default: none.
    pub resource_limits: ResourceLimits,
}

/// Over which instances coherence and order extend (PRESENTATION; DDS 1.4, 2.2.3.6).
///
/// The order of the variants is the order of the offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum AccessScope {
    /// Each instance for itself.
    #[default]
    Instance,
    /// All instances of one writer.
    Topic,
    /// All writers of one publisher.
    Group,
}

/// How changes belong together (PRESENTATION; DDS 1.4, 2.2.3.6). Default: each instance for itself.
///
/// What a publisher offers must be as much as a subscriber asks for. The samples of one writer come in its order in any case;
/// what is ordered beyond that, or seen only as a whole, waits at the reader for what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Presentation {
    /// Over which instances the two promises below extend.
    pub access_scope: AccessScope,
    /// A set of changes is seen as a whole or not at all.
    pub coherent_access: bool,
    /// Changes are seen in the order in which they were made.
    pub ordered_access: bool,
}

impl Presentation {
    /// Whether the changes of all writers of a publisher are coherent or ordered among each other.
    #[must_use]
    pub const fn is_of_group(&self) -> bool {
        matches!(self.access_scope, AccessScope::Group) && (self.coherent_access || self.ordered_access)
    }
}

/// Whether one writer at a time owns an instance (OWNERSHIP; DDS 1.4, 2.2.3.9). Both sides must say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Ownership {
    /// Every writer's samples are delivered.
    #[default]
    Shared,
    /// Only the samples of the strongest writer that is alive; among equals that of the lowest GUID.
    Exclusive,
}

/// Who has to show that a writer is alive (LIVELINESS; DDS 1.4, 2.2.3.11).
///
/// The order of the variants is the order of the offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum LivelinessKind {
    /// The middleware, as long as the process runs.
    #[default]
    Automatic,
    /// The application, once for all writers of its participant.
    ManualByParticipant,
    /// The application, for each writer.
    ManualByTopic,
}

/// How a writer shows that it is alive (LIVELINESS; DDS 1.4, 2.2.3.11). Default: automatic, for ever.
///
/// An offer satisfies a request of the same or a weaker kind and the same or a longer lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Liveliness {
    /// Who shows it.
    pub kind: LivelinessKind,
    /// After how much silence the writer counts as not alive. Default: never.
    pub lease_duration: Duration,
}

impl Default for Liveliness {
    fn default() -> Self {
        Self { kind: LivelinessKind::Automatic, lease_duration: Duration::INFINITE }
    }
}

/// Which clock orders the samples of several writers (DESTINATION_ORDER; DDS 1.4, 2.2.3.17).
///
/// The order of the variants is the order of the offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum DestinationOrder {
    /// The reader's: samples lie in the order of their arrival.
    #[default]
    ByReceptionTimestamp,
    /// The writers': samples of an instance are sorted by their source timestamps, and all readers end with the same last
    /// value. A sample that comes when something newer of its instance was read or taken already is dropped and counted.
    /// Clocks of writers have to agree as far as that order matters; a source timestamp more than 30 s ahead of the
    /// reader's clock counts as the moment of reception. Costs a comparison per sample in order, a short search for others.
    BySourceTimestamp,
}

/// Whether contained entities are enabled when they are made (ENTITY_FACTORY; DDS 1.4, 2.2.3.20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct EntityFactory {
    /// Enable them at once. Default: yes.
    pub autoenable_created_entities: bool,
}

impl Default for EntityFactory {
    fn default() -> Self {
        Self { autoenable_created_entities: true }
    }
}

/// What unregistering an instance means (WRITER_DATA_LIFECYCLE; DDS 1.4, 2.2.3.21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct WriterDataLifecycle {
    /// An explicit unregister disposes of the instance as well. Default: yes.
    ///
    /// Deleting the writer never disposes, although DDS 1.4, 2.2.3.21, reads as if it did: a reader could not tell a program that
    /// ends from one that takes its objects along, and peers do not do it either. `dispose_all` of the writer says it on
    /// purpose.
    pub autodispose_unregistered_instances: bool,
}

impl Default for WriterDataLifecycle {
    fn default() -> Self {
        Self { autodispose_unregistered_instances: true }
    }
}

/// When a reader forgets instances that are not alive (READER_DATA_LIFECYCLE; DDS 1.4, 2.2.3.22). Default: never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ReaderDataLifecycle {
    /// How long samples stay of an instance that has lost all its writers.
    pub autopurge_nowriter_samples_delay: Duration,
    /// How long samples stay of an instance that was disposed of.
    pub autopurge_disposed_samples_delay: Duration,
}

impl Default for ReaderDataLifecycle {
    fn default() -> Self {
        Self {
            autopurge_nowriter_samples_delay: Duration::INFINITE,
            autopurge_disposed_samples_delay: Duration::INFINITE,
        }
    }
}

/// An encoding of samples (DATA_REPRESENTATION; XTYPES 1.3, 7.6.3.1).
///
/// A writer's list offers its **first** entry, a reader's list accepts every entry. An empty list in a QoS struct is the
/// automatic choice: a writer offers [`DataRepresentation::Xcdr1`] for types that are final and
/// [`DataRepresentation::Xcdr2`] for all others, a reader accepts both. A peer that announces no list means XCDR1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum DataRepresentation {
    /// The encoding of RTPS 2.1 and later, with 8-byte alignment: id 0. Every peer reads it.
    Xcdr1,
    /// XML: id 1. Nobody sends it; a QoS that asks for it is refused.
    Xml,
    /// The encoding of XTypes, with 4-byte alignment and delimited appendable types: id 2.
    Xcdr2,
    /// An id that we do not know, in a peer's announcement. It never matches; a QoS that asks for it is refused.
    Other(i16),
}

impl DataRepresentation {
    /// What a reader with an empty list accepts.
    pub const READABLE: &[Self] = &[Self::Xcdr1, Self::Xcdr2];

    /// What a writer with an empty list offers for a type that is final, or is not.
    #[must_use]
    pub const fn automatic(type_is_final: bool) -> Self {
        if type_is_final { Self::Xcdr1 } else { Self::Xcdr2 }
    }

    /// The id on the wire.
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
