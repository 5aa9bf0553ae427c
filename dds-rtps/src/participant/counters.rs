//! Counters of a participant.

/// Counters that only grow; each counts ignored input and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ParticipantCounters {
    /// Own submessages that multicast looped back.
    pub own: u64,
    /// Submessages for another participant.
    pub not_for_us: u64,
    /// Announcements of participants that could not be decoded.
    pub malformed_participants: u64,
    /// Announcements of endpoints, and participant messages, that could not be decoded.
    pub malformed_endpoints: u64,
    /// Informative parameters that were malformed or beyond a bound.
    pub skipped_parameters: u64,
    /// Announcements of participants of another domain or with another tag.
    pub other_domain: u64,
    /// Participants that were ignored because there are too many.
    pub participants_refused: u64,
    /// Announcements that arrived after the disposal of their participant, though they were sent before.
    pub late_announcements: u64,
    /// Disposals of participants that were forgotten early, because there were too many.
    ///
    /// A late announcement then brings back a participant that has left, until its lease ends.
    pub disposals_evicted: u64,
    /// Disposals and changed announcements from foreign addresses, whose participants have refuted them by an answer.
    ///
    /// Another host has sent them, or a relay or an address of the participant that it does not announce.
    pub claims_refuted: u64,
    /// Further ones of these, while one of them waits for an answer or after it was refuted.
    pub claims_ignored: u64,
    /// Participants that made room for others: silent ones, and those whose address was not valid.
    pub participants_displaced: u64,
    /// INFO_REPLYs without a host of their sender; the answers went to the announced locators.
    pub replies_refused: u64,
    /// Endpoints that were ignored because their participant has too many.
    pub endpoints_refused: u64,
    /// Announcements of endpoints that were ignored because all participants together have too many
    /// ([`DiscoveryLimits::endpoints_max`](super::DiscoveryLimits::endpoints_max)).
    ///
    /// Such an endpoint is discovered when it is announced again and there is room.
    pub endpoints_rejected: u64,
    /// Announcements in the name of another participant.
    pub foreign: u64,
    /// Type requests and replies that could not be decoded.
    pub malformed_type_messages: u64,
    /// Type descriptions that did not match their hash, or exceeded the store.
    pub types_refused: u64,
    /// Requested types that no peer described; type names decide instead.
    pub types_unavailable: u64,
    /// Requested types that were not described, because a known participant would crash
    /// ([`ParticipantData::reads_every_type`](crate::discovery::data::ParticipantData::reads_every_type)).
    pub types_withheld: u64,
    /// Type requests that were answered.
    pub type_requests_answered: u64,
    /// Announcements and assertions in the clear that DDS Security requires to be protected.
    pub unprotected: u64,
    /// Own announcements that could not be written.
    pub unpublished: u64,
}
