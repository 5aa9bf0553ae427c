//! Numbers and names of the policies, as statuses report them (DDS 1.4, 2.3.3).

use std::fmt;

macro_rules! policy_ids {
    ($($(#[$doc:meta])* $variant:ident = $number:literal $name:literal,)*) => {
        /// Id of a policy in a status or an error (DDS 1.4, 2.3.3). `Display` writes the standard name: `RELIABILITY`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum PolicyId {
            $($(#[$doc])* $variant = $number,)*
        }

        impl PolicyId {
            /// All policies, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the standard name, in capitals.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

policy_ids! {
    /// Application data, announced with the entity.
    UserData = 1 "USER_DATA",
    /// Samples that a late joiner receives.
    Durability = 2 "DURABILITY",
    /// Coherence and order of changes of several instances.
    Presentation = 3 "PRESENTATION",
    /// Longest time between two samples of an instance.
    Deadline = 4 "DEADLINE",
    /// Acceptable delay.
    LatencyBudget = 5 "LATENCY_BUDGET",
    /// Whether one writer at a time owns an instance.
    Ownership = 6 "OWNERSHIP",
    /// Strength by which a writer owns an instance.
    OwnershipStrength = 7 "OWNERSHIP_STRENGTH",
    /// How a writer asserts its liveliness.
    Liveliness = 8 "LIVELINESS",
    /// Shortest time between two samples at a reader.
    TimeBasedFilter = 9 "TIME_BASED_FILTER",
    /// Named parts of the domain.
    Partition = 10 "PARTITION",
    /// Whether lost samples are repaired.
    Reliability = 11 "RELIABILITY",
    /// Clock that orders the samples of several writers.
    DestinationOrder = 12 "DESTINATION_ORDER",
    /// Samples kept per instance.
    History = 13 "HISTORY",
    /// Limits of an endpoint.
    ResourceLimits = 14 "RESOURCE_LIMITS",
    /// Whether contained entities are enabled at once.
    EntityFactory = 15 "ENTITY_FACTORY",
    /// Whether unregistering an instance disposes of it.
    WriterDataLifecycle = 16 "WRITER_DATA_LIFECYCLE",
    /// When a reader forgets instances that are not alive.
    ReaderDataLifecycle = 17 "READER_DATA_LIFECYCLE",
    /// Application data, announced with the topic.
    TopicData = 18 "TOPIC_DATA",
    /// Application data, announced with the publisher or subscriber.
    GroupData = 19 "GROUP_DATA",
    /// A hint for the transport.
    TransportPriority = 20 "TRANSPORT_PRIORITY",
    /// Age after which a sample is not delivered.
    Lifespan = 21 "LIFESPAN",
    /// The history that a durability service keeps.
    DurabilityService = 22 "DURABILITY_SERVICE",
    /// Offered and accepted representations.
    DataRepresentation = 23 "DATA_REPRESENTATION",
    /// Permitted differences of two types.
    TypeConsistency = 24 "TYPE_CONSISTENCY_ENFORCEMENT",
}

impl PolicyId {
    /// Returns the standard number, from 1; 23 and 24 are those of XTYPES.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_consecutive_from_one() {
        let numbers: Vec<u32> = PolicyId::ALL.iter().map(|policy| policy.number()).collect();
        assert_eq!(numbers, (1..=24).collect::<Vec<_>>());
        assert_eq!(PolicyId::Reliability.number(), 11);
        assert_eq!(PolicyId::DestinationOrder.to_string(), "DESTINATION_ORDER");
    }
}
