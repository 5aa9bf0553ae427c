//! The numbers and names of the policies, as statuses report them (DDS 1.4, 2.3.3).

use std::fmt;

macro_rules! policy_ids {
    ($($(#[$doc:meta])* $variant:ident = $number:literal $name:literal,)*) => {
        /// Names a policy in a status or an error (DDS 1.4, 2.3.3). `Display` writes the name of the standard: `RELIABILITY`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum PolicyId {
            $($(#[$doc])* $variant = $number,)*
        }

        impl PolicyId {
            /// Every policy, in the order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in the standard's capitals.
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
    /// Octets of the application, announced with the entity.
    UserData = 1 "USER_DATA",
    /// What a reader gets that joins late.
    Durability = 2 "DURABILITY",
    /// How changes of several instances belong together.
    Presentation = 3 "PRESENTATION",
    /// How often an instance is written at least.
    Deadline = 4 "DEADLINE",
    /// How much delay is acceptable.
    LatencyBudget = 5 "LATENCY_BUDGET",
    /// Whether one writer at a time owns an instance.
    Ownership = 6 "OWNERSHIP",
    /// Which writer wins an instance.
    OwnershipStrength = 7 "OWNERSHIP_STRENGTH",
    /// How a writer shows that it is there.
    Liveliness = 8 "LIVELINESS",
    /// How close samples may follow each other at a reader.
    TimeBasedFilter = 9 "TIME_BASED_FILTER",
    /// Named parts of the domain.
    Partition = 10 "PARTITION",
    /// Whether lost samples are repaired.
    Reliability = 11 "RELIABILITY",
    /// Which clock orders the samples of several writers.
    DestinationOrder = 12 "DESTINATION_ORDER",
    /// How many samples are kept per instance.
    History = 13 "HISTORY",
    /// How much memory an endpoint may use.
    ResourceLimits = 14 "RESOURCE_LIMITS",
    /// Whether contained entities are enabled at once.
    EntityFactory = 15 "ENTITY_FACTORY",
    /// Whether unregistering disposes.
    WriterDataLifecycle = 16 "WRITER_DATA_LIFECYCLE",
    /// When a reader forgets instances that are not alive.
    ReaderDataLifecycle = 17 "READER_DATA_LIFECYCLE",
    /// Octets of the application, announced with the topic.
    TopicData = 18 "TOPIC_DATA",
    /// Octets of the application, announced with publisher or subscriber.
    GroupData = 19 "GROUP_DATA",
    /// A hint for the transport.
    TransportPriority = 20 "TRANSPORT_PRIORITY",
    /// When a sample is too old to be delivered.
    Lifespan = 21 "LIFESPAN",
    /// The history that a durability service keeps.
    DurabilityService = 22 "DURABILITY_SERVICE",
    /// Which encodings are spoken.
    DataRepresentation = 23 "DATA_REPRESENTATION",
    /// How far two types may differ.
    TypeConsistency = 24 "TYPE_CONSISTENCY_ENFORCEMENT",
}

impl PolicyId {
    /// The number that the standard gives the policy, from 1; 23 and 24 are those of XTYPES.
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
