//! Whether a writer and a reader of one topic fit, and everything that stands between them if they do not.

use super::event::{DiscoveredReader, DiscoveredWriter};
use crate::qos::{DataRepresentation, OfferedQos, PolicyId, RequestedQos, incompatible_policies, partitions_match};
use smallvec::SmallVec;

/// What stands between a writer and a reader of the same topic, if anything does. Of several things, the first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// They fit.
    Matched,
    /// Their types have different names.
    TypeName,
    /// They have no partition in common.
    Partition,
    /// The writer offers less than the reader requests, in these policies.
    Incompatible(SmallVec<[PolicyId; 4]>),
    /// They would fit, but the one in the other participant announces no locator that we can send to.
    Unreachable,
}

/// Everything that stands between a writer and a reader of the same topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// Their types have different names.
    pub type_name: bool,
    /// They have no partition in common.
    pub partition: bool,
    /// The writer offers less than the reader requests, in these policies.
    pub policies: SmallVec<[PolicyId; 4]>,
    /// The one in the other participant announces no locator that we can send to.
    pub unreachable: bool,
}

impl Differences {
    /// Compares a writer with a reader.
    #[must_use]
    pub fn between(writer: &DiscoveredWriter, reader: &DiscoveredReader) -> Self {
        let (w, r) = (&writer.data, &reader.data);
        let offered = OfferedQos {
            qos: &w.qos,
            presentation: &w.endpoint.presentation,
            representation: w.qos.representation.first().copied().unwrap_or(DataRepresentation::Xcdr1),
            // Within one participant a topic has one type.
            type_is_known: writer.is_local && reader.is_local,
        };
        let requested = RequestedQos {
            qos: &r.qos,
            presentation: &r.endpoint.presentation,
            representations: &r.qos.representation,
        };
        let is_reached = |is_local: bool, is_usable: bool| is_local || is_usable;
        Self {
            type_name: w.endpoint.type_name != r.endpoint.type_name,
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
            Self { partition: true, .. } => Verdict::Partition,
            Self { policies, .. } if !policies.is_empty() => Verdict::Incompatible(policies),
            Self { unreachable: true, .. } => Verdict::Unreachable,
            _ => Verdict::Matched,
        }
    }
}
