//! What discovery has to tell.

use super::data::{ParticipantData, PublicationData, SubscriptionData};
use super::reach::Reach;
use crate::qos::{LivelinessKind, PolicyId};
use crate::types::{EntityId, Guid, GuidPrefix, VendorId};
use smallvec::SmallVec;
use std::sync::Arc;

/// An endpoint with how to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered<T> {
    /// What it announces.
    pub data: T,
    /// How to reach it; nothing for one of this participant's own.
    pub reach: Reach,
    /// Who built its participant.
    pub vendor: VendorId,
    /// Whether it is one of this participant's own.
    pub is_local: bool,
}

/// A writer of this or another participant.
pub type DiscoveredWriter = Discovered<PublicationData>;
/// A reader of this or another participant.
pub type DiscoveredReader = Discovered<SubscriptionData>;

/// Why a participant, or an endpoint, is no longer known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParticipantLoss {
    /// It said farewell, or was withdrawn.
    Left,
    /// It said nothing for as long as its lease.
    LeaseExpired,
    /// Its process has ended without a farewell, as this host's system knows.
    Crashed,
    /// This participant was told to ignore it.
    Ignored,
    /// It was silent for long, and another one needed its place: there are as many as this participant remembers.
    Displaced,
}

impl ParticipantLoss {
    /// Whether it may come back and not know that it was gone: nobody has said that it has left for good.
    #[must_use]
    pub const fn comes_back(self) -> bool {
        matches!(self, Self::LeaseExpired | Self::Displaced)
    }
}

/// Something that a participant's owner should know or do.
///
/// Events of a match name the local endpoint that they are for. For two endpoints of this participant there are two
/// events, one for each. A match that is told of again replaces what was told before: locators or QoS have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParticipantEvent {
    /// A participant was found, or has announced other data than before.
    ParticipantDiscovered {
        /// What it announces.
        participant: Arc<ParticipantData>,
    },
    /// A participant is gone. Its endpoints have been unmatched by earlier events.
    ParticipantLost {
        /// Which.
        prefix: GuidPrefix,
        /// Why.
        cause: ParticipantLoss,
    },
    /// A writer of another participant was found, or has changed. Only told if [`observe`](super::Matching::observe)d.
    WriterAnnounced {
        /// The writer.
        writer: Arc<DiscoveredWriter>,
    },
    /// A writer of another participant is gone. Only told if observed.
    WriterWithdrawn {
        /// Which.
        writer: Guid,
        /// Why.
        cause: ParticipantLoss,
    },
    /// A reader of another participant was found, or has changed. Only told if observed.
    ReaderAnnounced {
        /// The reader.
        reader: Arc<DiscoveredReader>,
    },
    /// A reader of another participant is gone. Only told if observed.
    ReaderWithdrawn {
        /// Which.
        reader: Guid,
        /// Why.
        cause: ParticipantLoss,
    },
    /// A reader fits a local writer.
    ReaderMatched {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Arc<DiscoveredReader>,
    },
    /// The participant of a best-effort reader that matches a local writer has acknowledged that it has heard of that writer: what is
    /// sent from now on finds the reader. After each [`ReaderMatched`](Self::ReaderMatched) of such a reader of another participant.
    WriterKnown {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
    },
    /// A reader no longer fits, or is gone.
    ReaderUnmatched {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
        /// Its participant has fallen silent, perhaps for us alone: it may come back, and not know that it was gone.
        comes_back: bool,
    },
    /// A writer fits a local reader.
    WriterMatched {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Arc<DiscoveredWriter>,
    },
    /// A writer no longer fits, or is gone.
    WriterUnmatched {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Guid,
    },
    /// A reader requests more than a local writer offers.
    OfferedIncompatibleQos {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
        /// In what, by growing number.
        policies: SmallVec<[PolicyId; 4]>,
    },
    /// A writer offers less than a local reader requests.
    RequestedIncompatibleQos {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Guid,
        /// In what, by growing number.
        policies: SmallVec<[PolicyId; 4]>,
    },
    /// An endpoint has the same topic as a local one, with a type of another name.
    InconsistentTopic {
        /// The local endpoint.
        local: EntityId,
        /// The other one.
        remote: Guid,
    },
    /// Somebody who was asked for the description of a type has answered, or will not. Only told where it was
    /// [asked for by an application](crate::participant::Participant::resolve_type).
    TypesDescribed {
        /// Who.
        prefix: GuidPrefix,
    },
    /// A participant has shown that its writers of this kind are alive.
    LivelinessAsserted {
        /// Which participant.
        prefix: GuidPrefix,
        /// Automatic, or manual by participant.
        kind: LivelinessKind,
    },
    /// A local automatic writer has not been shown to be alive within its lease, because this process did not run.
    LivelinessLost {
        /// The local writer.
        writer: EntityId,
    },
}
