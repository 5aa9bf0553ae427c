//! Compares a writer with a reader of the same topic.

use super::event::{DiscoveredReader, DiscoveredWriter};
use crate::qos::{DataRepresentation, OfferedQos, PolicyId, RequestedQos, incompatible_policies, partitions_match};
use crate::xtypes::TypeDifference;
use smallvec::SmallVec;

/// Result of comparing a writer with a reader of the same topic: a match, or the first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchResult {
    /// They match.
    Matched,
    /// Their types have different names, and at least one of them is not described.
    TypeName,
    /// The writer's type is not assignable to the reader's.
    Type(Box<TypeDifference>),
    /// The remote endpoint's type is not known yet: its description is requested.
    TypePending,
    /// They have no partition in common.
    Partition,
    /// The writer offers less than the reader requests, in these policies.
    Incompatible(SmallVec<[PolicyId; 4]>),
    /// The remote endpoint has no locator that we can send to, or has not answered there.
    Unreachable,
    /// They match, and the keys of the remote endpoint are missing (DDS Security 1.1, 8.5.1.8).
    KeysPending,
    /// They would match, but DDS Security refuses it for this reason.
    Refused(Box<str>),
}

/// Result of comparing the types of a writer and a reader (XTYPES 1.3, 7.6.3.4.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypeMatch {
    /// The descriptions are compatible.
    Fits,
    /// The descriptions are incompatible.
    Differs(Box<TypeDifference>),
    /// A description is missing and is requested.
    Pending,
    /// One of them has no description, so their names decide.
    ByName,
}

/// All differences of a writer and a reader of the same topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// Their types have different names, and at least one of them is not described.
    pub type_name: bool,
    /// The writer's type is not assignable to the reader's.
    pub type_difference: Option<Box<TypeDifference>>,
    /// The remote endpoint's type is not known yet: its description is requested.
    pub type_pending: bool,
    /// They have no partition in common.
    pub partition: bool,
    /// The writer offers less than the reader requests, in these policies.
    pub policies: SmallVec<[PolicyId; 4]>,
    /// The remote endpoint announces no locator that we can send to.
    pub unreachable: bool,
    /// Its participant has not answered at its announced address.
    pub unverified: bool,
}

impl Differences {
    /// Compares a writer with a reader; `types` is the comparison of their types.
    #[must_use]
    pub(super) fn between(writer: &DiscoveredWriter, reader: &DiscoveredReader, types: TypeMatch) -> Self {
        let (w, r) = (&writer.data, &reader.data);
        let offered = OfferedQos {
            qos: &w.qos,
            presentation: &w.endpoint.presentation,
            // A writer sends its first representation only (XTYPES 1.3, 7.6.3.1.1).
            representation: w.qos.representation.first().copied().unwrap_or(DataRepresentation::Xcdr1),
            // Within a participant a topic has one type. A type that is not known yet is not a mismatch yet.
            type_is_known: writer.is_local && reader.is_local || types != TypeMatch::ByName,
        };
        let requested = RequestedQos {
            qos: &r.qos,
            presentation: &r.endpoint.presentation,
            representations: &r.qos.representation,
        };
        // A forged reader would draw samples to a victim, and a forged writer requests. Best effort makes no requests.
        let makes_requests = w.qos.reliability.is_reliable() && r.qos.reliability.is_reliable();
        let is_writer_reachable = writer.is_local || writer.route.is_usable();
        let is_reader_reachable = reader.is_local || reader.route.is_usable();
        Self {
            type_name: types == TypeMatch::ByName && w.endpoint.type_name != r.endpoint.type_name,
            type_pending: types == TypeMatch::Pending,
            type_difference: match types {
                TypeMatch::Differs(difference) => Some(difference),
                _ => None,
            },
            partition: !partitions_match(&w.endpoint.partition, &r.endpoint.partition),
            policies: incompatible_policies(&offered, &requested),
            unreachable: !is_writer_reachable || !is_reader_reachable,
            unverified: reader.route.is_unverified || makes_requests && writer.route.is_unverified,
        }
    }

    /// Returns the first difference, or a match.
    #[must_use]
    pub fn result(self) -> MatchResult {
        match self {
            Self { type_name: true, .. } => MatchResult::TypeName,
            Self { type_difference: Some(difference), .. } => MatchResult::Type(difference),
            Self { partition: true, .. } => MatchResult::Partition,
            Self { policies, .. } if !policies.is_empty() => MatchResult::Incompatible(policies),
            Self { unreachable: true, .. } | Self { unverified: true, .. } => MatchResult::Unreachable,
            // Last, because a description cannot remove another difference.
            Self { type_pending: true, .. } => MatchResult::TypePending,
            _ => MatchResult::Matched,
        }
    }
}
