//! Whether a writer and a reader of one topic fit, and everything that stands between them if they do not.

use super::event::{DiscoveredReader, DiscoveredWriter};
use crate::qos::{DataRepresentation, OfferedQos, PolicyId, RequestedQos, incompatible_policies, partitions_match};
use crate::xtypes::TypeDifference;
use smallvec::SmallVec;

/// What stands between a writer and a reader of the same topic, if anything does. Of several things, the first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// They fit.
    Matched,
    /// Their types have different names, and at least one of them is not described.
    TypeName,
    /// The writer's type cannot be assigned to the reader's.
    Type(Box<TypeDifference>),
    /// The type of the one in the other participant is not known yet: its description has been asked for.
    TypePending,
    /// They have no partition in common.
    Partition,
    /// The writer offers less than the reader requests, in these policies.
    Incompatible(SmallVec<[PolicyId; 4]>),
    /// They would fit, but the one in the other participant announces no locator that we can send to.
    Unreachable,
}

/// What is known of the types of a writer and a reader (XTYPES 1.3, 7.6.3.4.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypeMatch {
    /// By their descriptions, they fit.
    Fits,
    /// By their descriptions, they do not.
    Differs(Box<TypeDifference>),
    /// One of the descriptions has been asked for.
    Pending,
    /// One of them is not described, so their names decide.
    ByName,
}

/// Everything that stands between a writer and a reader of the same topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// Their types have different names, and at least one of them is not described.
    pub type_name: bool,
    /// The writer's type cannot be assigned to the reader's.
    pub type_difference: Option<Box<TypeDifference>>,
    /// The type of the one in the other participant is not known yet: its description has been asked for.
    pub type_pending: bool,
    /// They have no partition in common.
    pub partition: bool,
    /// The writer offers less than the reader requests, in these policies.
    pub policies: SmallVec<[PolicyId; 4]>,
    /// The one in the other participant announces no locator that we can send to.
    pub unreachable: bool,
}

impl Differences {
    /// Compares a writer with a reader, of whose types `types` is known.
    #[must_use]
    pub(super) fn between(writer: &DiscoveredWriter, reader: &DiscoveredReader, types: TypeMatch) -> Self {
        let (w, r) = (&writer.data, &reader.data);
        let offered = OfferedQos {
            qos: &w.qos,
            presentation: &w.endpoint.presentation,
            representation: w.qos.representation.first().copied().unwrap_or(DataRepresentation::Xcdr1),
            // Within one participant a topic has one type. What is not known yet is not refused yet.
            type_is_known: writer.is_local && reader.is_local || types != TypeMatch::ByName,
        };
        let requested = RequestedQos {
            qos: &r.qos,
            presentation: &r.endpoint.presentation,
            representations: &r.qos.representation,
        };
        let is_reached = |is_local: bool, is_usable: bool| is_local || is_usable;
        Self {
            type_name: types == TypeMatch::ByName && w.endpoint.type_name != r.endpoint.type_name,
            type_pending: types == TypeMatch::Pending,
            type_difference: match types {
                TypeMatch::Differs(difference) => Some(difference),
                _ => None,
            },
            partition: !partitions_match(&w.endpoint.partition, &r.endpoint.partition),
            policies: incompatible_policies(&offered, &requested),
            unreachable: !is_reached(writer.is_local, writer.reach.is_usable())
                || !is_reached(reader.is_local, reader.reach.is_usable()),
        }
    }

    /// The first of them.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        match self {
            Self { type_name: true, .. } => Verdict::TypeName,
            Self { type_difference: Some(difference), .. } => Verdict::Type(difference),
            Self { partition: true, .. } => Verdict::Partition,
            Self { policies, .. } if !policies.is_empty() => Verdict::Incompatible(policies),
            Self { unreachable: true, .. } => Verdict::Unreachable,
            Self { type_pending: true, .. } => Verdict::TypePending,
            _ => Verdict::Matched,
        }
    }
}
