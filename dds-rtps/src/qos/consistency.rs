//! Checks that the policies of one entity do not contradict each other (DDS 1.4, 2.2.3, the rules on
//! INCONSISTENT_POLICY).

use super::{
    DataReaderQos, DataRepresentation, DataWriterQos, DomainParticipantQos, DurabilityService, History, PolicyId,
    PublisherQos, ResourceLimits, SubscriberQos, TopicQos,
};
use crate::types::Duration;
use std::fmt;

/// Most bytes of USER_DATA, TOPIC_DATA or GROUP_DATA: all three of an endpoint and its partitions must fit into one
/// announcement of less than 64 KiB.
pub const USER_DATA_MAX: usize = 16_384;

/// Most bytes of all names of PARTITION together. This also bounds the time to compare two lists.
pub const PARTITION_BYTES_MAX: usize = 8_192;

/// Most bytes of one name of PARTITION.
pub const PARTITION_NAME_MAX: usize = 255;

/// Error of a QoS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QosErrorKind {
    /// HISTORY keeps the last 0 samples, so no sample could ever be read.
    ZeroDepth,
    /// A limit of RESOURCE_LIMITS is 0, so no sample could ever be stored.
    ZeroLimit {
        /// The field.
        limit: &'static str,
    },
    /// HISTORY keeps more samples of an instance than RESOURCE_LIMITS allows.
    DepthAboveLimit {
        /// The depth.
        depth: u32,
        /// `max_samples_per_instance`.
        max_samples_per_instance: u32,
    },
    /// RESOURCE_LIMITS allows more samples of one instance than of all instances.
    InstanceLimitAboveTotal {
        /// `max_samples_per_instance`.
        max_samples_per_instance: u32,
        /// `max_samples`.
        max_samples: u32,
    },
    /// DEADLINE is shorter than TIME_BASED_FILTER, so the filter would cause every miss.
    DeadlineBelowFilter {
        /// The deadline.
        deadline: Duration,
        /// The filter's minimum separation.
        minimum_separation: Duration,
    },
    /// DATA_REPRESENTATION has an unsupported representation.
    UnknownRepresentation {
        /// The encoding.
        representation: DataRepresentation,
    },
    /// A policy's value is too long to be announced.
    TooLong {
        /// The policy.
        policy: PolicyId,
        /// Its length in bytes.
        len: usize,
        /// The maximum.
        max: usize,
    },
    /// A policy cannot be changed once the entity is enabled.
    Immutable {
        /// The policy.
        policy: PolicyId,
    },
}

impl fmt::Display for QosErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroDepth => f.write_str("HISTORY keeps the last 0 samples; use a depth of at least 1"),
            Self::ZeroLimit { limit } => write!(f, "RESOURCE_LIMITS {limit} is 0; use at least 1, or no limit"),
            Self::DepthAboveLimit { depth, max_samples_per_instance } => write!(
                f,
                "HISTORY depth {depth} is above RESOURCE_LIMITS max_samples_per_instance {max_samples_per_instance}; \
                 raise the limit or lower the depth"
            ),
            Self::InstanceLimitAboveTotal { max_samples_per_instance, max_samples } => write!(
                f,
                "RESOURCE_LIMITS max_samples_per_instance {max_samples_per_instance} is above max_samples \
                 {max_samples}; raise max_samples"
            ),
            Self::DeadlineBelowFilter { deadline, minimum_separation } => write!(
                f,
                "DEADLINE {deadline} is shorter than TIME_BASED_FILTER {minimum_separation}; every deadline would be \
                 missed"
            ),
            Self::UnknownRepresentation { representation } => write!(
                f,
                "DATA_REPRESENTATION {representation:?} is not supported; use Xcdr1 or Xcdr2, or leave the list empty"
            ),
            Self::TooLong { policy, len, max } => {
                write!(f, "{policy} has {len} bytes; at most {max} can be announced")
            }
            Self::Immutable { policy } => {
                write!(f, "{policy} cannot change after the entity is enabled")
            }
        }
    }
}

impl std::error::Error for QosErrorKind {}

/// Compares the fields that must not change, each with its policy.
macro_rules! unchanged {
    ($old:expr, $new:expr, $($field:ident: $policy:ident),*) => {{
        $(
            if $old.$field != $new.$field {
                return Err(QosErrorKind::Immutable { policy: PolicyId::$policy });
            }
        )*
        Ok(())
    }};
}

impl DataWriterQos {
    /// Checks that the policies do not contradict each other.
    ///
    /// # Errors
    /// Fails with the first contradiction.
    pub fn check(&self) -> Result<(), QosErrorKind> {
        check_keeping(self.history, self.resource_limits)?;
        check_service(&self.durability_service)?;
        check_representations(&self.representation)?;
        check_len(PolicyId::UserData, self.user_data.len(), USER_DATA_MAX)
    }

    /// Checks that an enabled writer may change to `new` (DDS 1.4, 2.2.3, column "changeable").
    ///
    /// # Errors
    /// `new` contradicts itself, or changes an immutable policy.
    pub fn check_change(&self, new: &Self) -> Result<(), QosErrorKind> {
        new.check()?;
        unchanged!(
            self,
            new,
            durability: Durability,
            durability_service: DurabilityService,
            liveliness: Liveliness,
            reliability: Reliability,
            destination_order: DestinationOrder,
            history: History,
            resource_limits: ResourceLimits,
            ownership: Ownership,
            representation: DataRepresentation
        )
    }
}

impl DataReaderQos {
    /// Checks that the policies do not contradict each other.
    ///
    /// # Errors
    /// Fails with the first contradiction.
    pub fn check(&self) -> Result<(), QosErrorKind> {
        check_keeping(self.history, self.resource_limits)?;
        // The filter would delay samples beyond the deadline, so every period would be missed (DDS 1.4, 2.2.3.12).
        if self.deadline < self.time_based_filter {
            return Err(QosErrorKind::DeadlineBelowFilter {
                deadline: self.deadline,
                minimum_separation: self.time_based_filter,
            });
        }
        check_representations(&self.representation)?;
        check_len(PolicyId::UserData, self.user_data.len(), USER_DATA_MAX)
    }

    /// Checks that an enabled reader may change to `new` (DDS 1.4, 2.2.3, column "changeable").
    ///
    /// # Errors
    /// `new` contradicts itself, or changes an immutable policy.
    pub fn check_change(&self, new: &Self) -> Result<(), QosErrorKind> {
        new.check()?;
        unchanged!(
            self,
            new,
            durability: Durability,
            liveliness: Liveliness,
            reliability: Reliability,
            destination_order: DestinationOrder,
            history: History,
            resource_limits: ResourceLimits,
            ownership: Ownership,
            representation: DataRepresentation,
            type_consistency: TypeConsistency
        )
    }
}

impl TopicQos {
    /// Checks that the policies do not contradict each other.
    ///
    /// # Errors
    /// Fails with the first contradiction.
    pub fn check(&self) -> Result<(), QosErrorKind> {
        check_keeping(self.history, self.resource_limits)?;
        check_service(&self.durability_service)?;
        check_representations(&self.representation)?;
        check_len(PolicyId::TopicData, self.topic_data.len(), USER_DATA_MAX)
    }

    /// Checks that an enabled topic may change to `new` (DDS 1.4, 2.2.3, column "changeable").
    ///
    /// # Errors
    /// `new` contradicts itself, or changes an immutable policy.
    pub fn check_change(&self, new: &Self) -> Result<(), QosErrorKind> {
        new.check()?;
        unchanged!(
            self,
            new,
            durability: Durability,
            durability_service: DurabilityService,
            liveliness: Liveliness,
            reliability: Reliability,
            destination_order: DestinationOrder,
            history: History,
            resource_limits: ResourceLimits,
            ownership: Ownership,
            representation: DataRepresentation
        )
    }
}

macro_rules! group_checks {
    ($($qos:ident)*) => {$(
        impl $qos {
            /// Checks that the policies can be announced.
            ///
            /// # Errors
            /// [`QosErrorKind::TooLong`].
            pub fn check(&self) -> Result<(), QosErrorKind> {
                check_partition(&self.partition)?;
                check_len(PolicyId::GroupData, self.group_data.len(), USER_DATA_MAX)
            }

            /// Checks that an enabled entity may change to `new`: everything may, except PRESENTATION.
            ///
            /// # Errors
            /// `new` is too long, or changes an immutable policy.
            pub fn check_change(&self, new: &Self) -> Result<(), QosErrorKind> {
                new.check()?;
                unchanged!(self, new, presentation: Presentation)
            }
        }
    )*};
}

group_checks!(PublisherQos SubscriberQos);

impl DomainParticipantQos {
    /// Checks that the policies can be announced. All of them may change at any time.
    ///
    /// # Errors
    /// [`QosErrorKind::TooLong`].
    pub fn check(&self) -> Result<(), QosErrorKind> {
        check_len(PolicyId::UserData, self.user_data.len(), USER_DATA_MAX)
    }
}

fn check_keeping(history: History, limits: ResourceLimits) -> Result<(), QosErrorKind> {
    let fields = [
        ("max_samples", limits.max_samples),
        ("max_instances", limits.max_instances),
        ("max_samples_per_instance", limits.max_samples_per_instance),
    ];
    // A limit of 0 would admit no sample at all. Unlimited is `None`.
    for (limit, value) in fields {
        if value == Some(0) {
            return Err(QosErrorKind::ZeroLimit { limit });
        }
    }
    if let (Some(max_samples_per_instance), Some(max_samples)) = (limits.max_samples_per_instance, limits.max_samples) {
        if max_samples_per_instance > max_samples {
            return Err(QosErrorKind::InstanceLimitAboveTotal { max_samples_per_instance, max_samples });
        }
    }
    // `max_samples` below the depth is consistent: the depth is no promise of space.
    match (history, limits.max_samples_per_instance) {
        (History::KeepLast { depth: 0 }, _) => Err(QosErrorKind::ZeroDepth),
        (History::KeepLast { depth }, Some(max_samples_per_instance)) if depth > max_samples_per_instance => {
            Err(QosErrorKind::DepthAboveLimit { depth, max_samples_per_instance })
        }
        _ => Ok(()),
    }
}

fn check_service(service: &DurabilityService) -> Result<(), QosErrorKind> {
    check_keeping(service.history, service.resource_limits)
}

fn check_representations(representations: &[DataRepresentation]) -> Result<(), QosErrorKind> {
    for &representation in representations {
        if !DataRepresentation::READABLE.contains(&representation) {
            return Err(QosErrorKind::UnknownRepresentation { representation });
        }
    }
    Ok(())
}

fn check_partition(names: &[String]) -> Result<(), QosErrorKind> {
    let mut len = 0;
    for name in names {
        check_len(PolicyId::Partition, name.len(), PARTITION_NAME_MAX)?;
        // Beside its bytes, a name has a length field, a terminator and up to three octets of alignment.
        len += name.len() + 8;
    }
    check_len(PolicyId::Partition, len, PARTITION_BYTES_MAX)
}

fn check_len(policy: PolicyId, len: usize, max: usize) -> Result<(), QosErrorKind> {
    if len > max {
        return Err(QosErrorKind::TooLong { policy, len, max });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{Durability, Reliability};

    fn limits(per_instance: u32, samples: u32) -> ResourceLimits {
        ResourceLimits { max_samples: Some(samples), max_instances: None, max_samples_per_instance: Some(per_instance) }
    }

    #[test]
    fn defaults_are_consistent() {
        assert_eq!(DataWriterQos::default().check(), Ok(()));
        assert_eq!(DataReaderQos::default().check(), Ok(()));
        assert_eq!(TopicQos::default().check(), Ok(()));
        assert_eq!(PublisherQos::default().check(), Ok(()));
    }

    #[test]
    fn durability_service_must_fit_into_its_limits() {
        let service = |per_instance| DurabilityService {
            history: History::KeepLast { depth: 5 },
            resource_limits: limits(per_instance, 10),
            ..DurabilityService::default()
        };
        let qos = DataWriterQos::default().durability(Durability::Persistent);
        let refused = QosErrorKind::DepthAboveLimit { depth: 5, max_samples_per_instance: 4 };
        assert_eq!(qos.clone().durability_service(service(4)).check(), Err(refused));
        assert_eq!(qos.durability_service(service(5)).check(), Ok(()));
    }

    #[test]
    fn history_must_fit_into_the_limits() {
        let qos = DataWriterQos::default().keep_last(5).resource_limits(limits(4, 10));
        assert_eq!(qos.check(), Err(QosErrorKind::DepthAboveLimit { depth: 5, max_samples_per_instance: 4 }));
        assert_eq!(qos.clone().keep_last(4).check(), Ok(()));
        assert_eq!(qos.keep_all().check(), Ok(()));
        assert_eq!(DataReaderQos::default().keep_last(0).check(), Err(QosErrorKind::ZeroDepth));
    }

    #[test]
    fn limits_must_fit_together() {
        let qos = DataReaderQos::default().resource_limits(limits(5, 4));
        let refused = QosErrorKind::InstanceLimitAboveTotal { max_samples_per_instance: 5, max_samples: 4 };
        assert_eq!(qos.check(), Err(refused));
        let qos = DataReaderQos::default().resource_limits(limits(0, 4));
        assert_eq!(qos.check(), Err(QosErrorKind::ZeroLimit { limit: "max_samples_per_instance" }));
    }

    #[test]
    fn deadline_shorter_than_the_filter_is_rejected() {
        let (short, long) = (Duration::from_millis(1), Duration::from_millis(2));
        let qos = DataReaderQos::default().deadline(short).time_based_filter(long);
        assert_eq!(qos.check(), Err(QosErrorKind::DeadlineBelowFilter { deadline: short, minimum_separation: long }));
        assert_eq!(qos.deadline(long).check(), Ok(()));
    }

    #[test]
    fn unknown_representations_are_rejected() {
        let qos = DataWriterQos::default().representation([DataRepresentation::Xml]);
        let representation = DataRepresentation::Xml;
        assert_eq!(qos.check(), Err(QosErrorKind::UnknownRepresentation { representation }));
    }

    #[test]
    fn qos_too_long_to_announce_is_rejected() {
        let qos = DataWriterQos::default().user_data(vec![0; USER_DATA_MAX + 1]);
        let (policy, len, max) = (PolicyId::UserData, USER_DATA_MAX + 1, USER_DATA_MAX);
        assert_eq!(qos.check(), Err(QosErrorKind::TooLong { policy, len, max }));
        let qos = PublisherQos::default().partition(["x".repeat(256)]);
        let (policy, len, max) = (PolicyId::Partition, 256, PARTITION_NAME_MAX);
        assert_eq!(qos.check(), Err(QosErrorKind::TooLong { policy, len, max }));
    }

    #[test]
    fn an_enabled_endpoint_changes_only_what_may_change() {
        let qos = DataWriterQos::default();
        assert_eq!(qos.check_change(&qos.clone().ownership_strength(5).lifespan(Duration::ZERO)), Ok(()));
        let changed = qos.clone().reliability(Reliability::BestEffort);
        assert_eq!(qos.check_change(&changed), Err(QosErrorKind::Immutable { policy: PolicyId::Reliability }));
    }

    #[test]
    fn errors_name_the_policies_and_a_way_out() {
        let text = QosErrorKind::DepthAboveLimit { depth: 5, max_samples_per_instance: 4 }.to_string();
        assert!(text.contains("HISTORY depth 5") && text.contains("raise the limit"), "{text}");
    }
}
