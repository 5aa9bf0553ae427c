//! Events of discovery.

use super::data::{ParticipantData, PublicationData, SubscriptionData};
use super::peer_security::SecurityReportKind;
use super::route::Route;
use crate::qos::{LivelinessKind, PolicyId};
use crate::types::{EntityId, Guid, GuidPrefix, Locator, VendorId};
use smallvec::SmallVec;
use std::sync::Arc;

/// An endpoint and its route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered<T> {
    /// Its announcement.
    pub data: T,
    /// Route to it; empty for a local endpoint.
    pub route: Route,
    /// Vendor of its participant.
    pub vendor: VendorId,
    /// Whether it belongs to this participant.
    pub is_local: bool,
}

/// A writer of this or another participant.
pub type DiscoveredWriter = Discovered<PublicationData>;
/// A reader of this or another participant.
pub type DiscoveredReader = Discovered<SubscriptionData>;

/// Cause of the loss of a participant or an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParticipantLoss {
    /// It disposed of itself.
    Left,
    /// It was silent for the duration of its lease.
    LeaseExpired,
    /// Its process ended without a disposal, as the system of this host reports.
    Crashed,
    /// The application ignores it.
    Ignored,
    /// It was silent for long, and made room for another one at the limit of participants.
    Displaced,
    /// DDS Security refuses it from now on, for example because its certificate or its permissions have ended.
    Refused,
    /// It has proved its identity again, as after a restart: its earlier keys no longer count. It returns at once.
    Renewed,
}

impl ParticipantLoss {
    /// Whether the participant may still match our endpoints when it returns.
    #[must_use]
    pub const fn may_return(self) -> bool {
        // Silence is no proof: the participant may still run, and announce itself again.
        matches!(self, Self::LeaseExpired | Self::Displaced)
    }
}

/// An event that the owner of a participant handles.
///
/// Events of a match name the local endpoint that they concern. For two endpoints of this participant there are two
/// events, one for each. A repeated match replaces the one before: locators or QoS have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParticipantEvent {
    /// A participant was discovered, or its announcement has changed.
    ParticipantDiscovered {
        /// Its announcement.
        participant: Arc<ParticipantData>,
    },
    /// Answers to a participant may go to other locators than before. Before the first event, they may go to none.
    ///
    /// Follows [`ParticipantDiscovered`](Self::ParticipantDiscovered) once an address of the participant is valid.
    ReplyLocatorsChanged {
        /// Its identity.
        prefix: GuidPrefix,
        /// Its unicast locators on hosts that are valid.
        locators: Vec<Locator>,
    },
    /// A participant is lost. Its endpoints were unmatched by earlier events.
    ParticipantLost {
        /// Its identity.
        prefix: GuidPrefix,
        /// The cause.
        cause: ParticipantLoss,
    },
    /// A remote writer was discovered or has changed. Requires [`observe`](super::Matching::observe).
    WriterAnnounced {
        /// The writer.
        writer: Arc<DiscoveredWriter>,
    },
    /// A remote writer is gone. Requires [`observe`](super::Matching::observe).
    WriterWithdrawn {
        /// Its identity.
        writer: Guid,
        /// The cause.
        cause: ParticipantLoss,
    },
    /// A remote reader was discovered or has changed. Requires [`observe`](super::Matching::observe).
    ReaderAnnounced {
        /// The reader.
        reader: Arc<DiscoveredReader>,
    },
    /// A remote reader is gone. Requires [`observe`](super::Matching::observe).
    ReaderWithdrawn {
        /// Its identity.
        reader: Guid,
        /// The cause.
        cause: ParticipantLoss,
    },
    /// A reader matches a local writer.
    ReaderMatched {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Arc<DiscoveredReader>,
    },
    /// The participant of a best-effort reader has acknowledged the announcement of a local writer: samples reach the
    /// reader from now on.
    ///
    /// Follows each [`ReaderMatched`](Self::ReaderMatched) of a remote best-effort reader.
    WriterKnown {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
    },
    /// A reader no longer matches, or is gone.
    ReaderUnmatched {
        /// The local writer.
        writer: EntityId,
        /// The reader.
        reader: Guid,
        /// The lease of its participant ended, perhaps for us only. It may return and still match our endpoints.
        may_return: bool,
    },
    /// A writer matches a local reader.
    WriterMatched {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Arc<DiscoveredWriter>,
    },
    /// A writer no longer matches, or is gone.
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
        /// The incompatible policies, in the order of their ids.
        policies: SmallVec<[PolicyId; 4]>,
    },
    /// A writer offers less than a local reader requests.
    RequestedIncompatibleQos {
        /// The local reader.
        reader: EntityId,
        /// The writer.
        writer: Guid,
        /// The incompatible policies, in the order of their ids.
        policies: SmallVec<[PolicyId; 4]>,
    },
    /// An endpoint has the topic of a local one, with a type of another name.
    InconsistentTopic {
        /// The local endpoint.
        local: EntityId,
        /// The other one.
        remote: Guid,
    },
    /// DDS Security refuses the match of two endpoints that fit otherwise.
    MatchRefused {
        /// The local endpoint.
        local: EntityId,
        /// The other one.
        remote: Guid,
    },
    /// DDS Security refuses, admits or expels a participant, or has changed its keys.
    SecurityReport {
        /// Its kind.
        kind: SecurityReportKind,
        /// A text for the log: the participant, the reason, and the next step.
        text: Box<str>,
    },
    /// A participant has described a requested type, or will not.
    ///
    /// Follows a [request of the application](crate::participant::Participant::resolve_type) only.
    TypesDescribed {
        /// The participant.
        prefix: GuidPrefix,
    },
    /// A participant has asserted that its writers of this kind are alive.
    LivelinessAsserted {
        /// The participant.
        prefix: GuidPrefix,
        /// Automatic, or manual by participant.
        kind: LivelinessKind,
    },
    /// A local automatic writer was not asserted within its lease, because this process did not run.
    LivelinessLost {
        /// The local writer.
        writer: EntityId,
    },
}
