//! Compares the offer of a writer with the request of a reader (DDS 1.4, 2.2.3; XTYPES 1.3, 7.6.3.1).

use super::{DataReaderQos, DataRepresentation, DataWriterQos, PolicyId, Presentation};
use smallvec::SmallVec;

/// A writer's side of the comparison.
#[derive(Debug, Clone, Copy)]
pub struct OfferedQos<'a> {
    /// The writer's policies.
    pub qos: &'a DataWriterQos,
    /// PRESENTATION of its publisher.
    pub presentation: &'a Presentation,
    /// Representation that the writer uses: the first of its list.
    pub representation: DataRepresentation,
    /// Whether the types were compared, and not only their names.
    pub type_is_known: bool,
}

/// A reader's side of the comparison.
#[derive(Debug, Clone, Copy)]
pub struct RequestedQos<'a> {
    /// The reader's policies.
    pub qos: &'a DataReaderQos,
    /// PRESENTATION of its subscriber.
    pub presentation: &'a Presentation,
    /// Representations that the reader accepts.
    pub representations: &'a [DataRepresentation],
}

/// Returns the policies in which `offered` does not satisfy `requested`, in the order of their numbers.
///
/// Partitions are compared separately by [`partitions_match`](super::partitions_match), because a mismatch of
/// partitions is no incompatibility.
#[must_use]
pub fn incompatible_policies(offered: &OfferedQos<'_>, requested: &RequestedQos<'_>) -> SmallVec<[PolicyId; 4]> {
    let (o, r) = (offered.qos, requested.qos);
    let (op, rp) = (offered.presentation, requested.presentation);
    // In the order of the policies' numbers.
    let conflicts = [
        // The variants of a kind are ordered, and a stronger offer satisfies a weaker request.
        (PolicyId::Durability, o.durability < r.durability),
        (
            PolicyId::Presentation,
            op.access_scope < rp.access_scope
                || rp.coherent_access && !op.coherent_access
                || rp.ordered_access && !op.ordered_access,
        ),
        // A writer may be faster than the request.
        (PolicyId::Deadline, o.deadline > r.deadline),
        (PolicyId::LatencyBudget, o.latency_budget > r.latency_budget),
        // No kind contains the other, so both sides must agree (DDS 1.4, 2.2.3.9).
        (PolicyId::Ownership, o.ownership != r.ownership),
        (
            PolicyId::Liveliness,
            o.liveliness.kind < r.liveliness.kind || o.liveliness.lease_duration > r.liveliness.lease_duration,
        ),
        // The blocking time concerns the writer alone.
        (PolicyId::Reliability, r.reliability.is_reliable() && !o.reliability.is_reliable()),
        (PolicyId::DestinationOrder, o.destination_order < r.destination_order),
        (PolicyId::DataRepresentation, !requested.representations.contains(&offered.representation)),
        (PolicyId::TypeConsistency, r.type_consistency.force_type_validation && !offered.type_is_known),
    ];
    debug_assert!(conflicts.is_sorted_by_key(|(policy, _)| *policy), "conflicts are in the order of their numbers");
    let mut incompatible = SmallVec::new();
    for (policy, is_incompatible) in conflicts {
        if is_incompatible {
            incompatible.push(policy);
        }
    }
    incompatible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{
        AccessScope, DestinationOrder, Durability, Liveliness, LivelinessKind, Ownership, TypeConsistency,
    };
    use crate::types::Duration;

    fn conflicts(writer: &DataWriterQos, reader: &DataReaderQos) -> Vec<PolicyId> {
        conflicts_of(writer, Presentation::default(), reader, Presentation::default())
    }

    fn conflicts_of(
        writer: &DataWriterQos,
        offered: Presentation,
        reader: &DataReaderQos,
        requested: Presentation,
    ) -> Vec<PolicyId> {
        let offered = OfferedQos {
            qos: writer,
            presentation: &offered,
            representation: writer.offered_representation(true),
            type_is_known: false,
        };
        let requested =
            RequestedQos { qos: reader, presentation: &requested, representations: reader.accepted_representations() };
        incompatible_policies(&offered, &requested).to_vec()
    }

    fn writer() -> DataWriterQos {
        DataWriterQos::default()
    }

    fn reader() -> DataReaderQos {
        DataReaderQos::default()
    }

    #[test]
    fn defaults_are_compatible() {
        assert_eq!(conflicts(&writer(), &reader()), []);
    }

    #[test]
    fn best_effort_does_not_satisfy_reliable() {
        assert_eq!(conflicts(&writer().best_effort(), &reader().reliable()), [PolicyId::Reliability]);
        assert_eq!(conflicts(&writer().best_effort(), &reader()), []);
    }

    #[test]
    fn weaker_offer_conflicts_stronger_does_not() {
        assert_eq!(conflicts(&writer(), &reader().transient_local()), [PolicyId::Durability]);
        assert_eq!(conflicts(&writer().durability(Durability::Persistent), &reader().transient_local()), []);
        let by_source = DestinationOrder::BySourceTimestamp;
        assert_eq!(conflicts(&writer(), &reader().destination_order(by_source)), [PolicyId::DestinationOrder]);
        assert_eq!(conflicts(&writer().destination_order(by_source), &reader()), []);
    }

    #[test]
    fn longer_offered_period_conflicts() {
        let second = Duration::from_secs(1);
        assert_eq!(conflicts(&writer(), &reader().deadline(second)), [PolicyId::Deadline]);
        assert_eq!(conflicts(&writer().deadline(second), &reader().deadline(second)), []);
        assert_eq!(conflicts(&writer().latency_budget(second), &reader()), [PolicyId::LatencyBudget]);
    }

    #[test]
    fn liveliness_compares_kind_and_lease() {
        let lease = |kind, seconds| Liveliness { kind, lease_duration: Duration::from_secs(seconds) };
        let offer = writer().liveliness(lease(LivelinessKind::ManualByParticipant, 5));
        let check = |kind, seconds| conflicts(&offer, &reader().liveliness(lease(kind, seconds)));
        assert_eq!(check(LivelinessKind::Automatic, 5), []);
        assert_eq!(check(LivelinessKind::ManualByTopic, 5), [PolicyId::Liveliness]);
        assert_eq!(check(LivelinessKind::Automatic, 4), [PolicyId::Liveliness]);
    }

    #[test]
    fn ownership_must_be_equal() {
        assert_eq!(conflicts(&writer().ownership(Ownership::Exclusive), &reader()), [PolicyId::Ownership]);
        assert_eq!(conflicts(&writer(), &reader().ownership(Ownership::Exclusive)), [PolicyId::Ownership]);
    }

    #[test]
    fn coherence_is_an_implication_not_an_equality() {
        let offer = Presentation { access_scope: AccessScope::Topic, coherent_access: true, ordered_access: false };
        assert_eq!(conflicts_of(&writer(), offer, &reader(), Presentation::default()), []);
        let ordered = Presentation { ordered_access: true, ..offer };
        assert_eq!(conflicts_of(&writer(), offer, &reader(), ordered), [PolicyId::Presentation]);
        let group = Presentation { access_scope: AccessScope::Group, ..offer };
        assert_eq!(conflicts_of(&writer(), offer, &reader(), group), [PolicyId::Presentation]);
    }

    #[test]
    fn only_the_first_representation_of_a_writer_counts() {
        use DataRepresentation::{Xcdr1, Xcdr2};
        let offer = writer().representation([Xcdr1, Xcdr2]);
        assert_eq!(conflicts(&offer, &reader().representation([Xcdr2])), [PolicyId::DataRepresentation]);
        assert_eq!(conflicts(&offer, &reader().representation([Xcdr2, Xcdr1])), []);
    }

    #[test]
    fn forced_validation_rejects_types_known_by_name() {
        let forced = TypeConsistency::default().force_type_validation(true);
        assert_eq!(conflicts(&writer(), &reader().type_consistency(forced)), [PolicyId::TypeConsistency]);
    }

    #[test]
    fn all_conflicts_are_reported_in_order() {
        let reader = reader().reliable().transient_local().ownership(Ownership::Exclusive);
        assert_eq!(
            conflicts(&writer().best_effort(), &reader),
            [PolicyId::Durability, PolicyId::Ownership, PolicyId::Reliability]
        );
    }
}
