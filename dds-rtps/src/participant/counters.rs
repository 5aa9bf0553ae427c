//! What a participant has counted since it was made.

/// Plain numbers that only grow; each is something that was not taken in, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ParticipantCounters {
    /// Submessages of this participant itself: multicast loops back.
    pub own: u64,
    /// Submessages for another participant.
    pub not_for_us: u64,
    /// Announcements of participants that could not be read.
    pub malformed_participants: u64,
    /// Announcements of endpoints, and participant messages, that could not be read.
    pub malformed_endpoints: u64,
    /// Parameters that only inform, and were malformed or beyond a bound.
    pub skipped_parameters: u64,
    /// Announcements of participants of another domain or with another tag.
    pub other_domain: u64,
    /// Participants that were not taken in because there are too many.
    pub participants_refused: u64,
    /// Announcements that came after the farewell of their participant, though they were made before.
    pub late_announcements: u64,
    /// Farewells that were forgotten before their time, because too many came: an announcement that was made before one of them
    /// and comes after it brings back a participant that has gone, until its lease ends.
    pub farewells_forgotten: u64,
    /// Participants that were silent for long and made room for others.
    pub participants_displaced: u64,
    /// INFO_REPLYs that named no host of their sender: it was answered where it has announced.
    pub replies_refused: u64,
    /// Endpoints that were not taken in because their participant has too many.
    pub endpoints_refused: u64,
    /// Endpoints that were not taken in because all participants together have too many
    /// ([`DiscoveryLimits::endpoints_max`](super::DiscoveryLimits::endpoints_max)), counted with each announcement. They are
    /// seen when they are announced anew and there is room.
    pub endpoints_rejected: u64,
    /// Things that somebody said in another's name.
    pub foreign: u64,
    /// Questions for types, and answers, that could not be read.
    pub malformed_type_messages: u64,
    /// Descriptions of types that were not what their names say, or for which there was no room.
    pub types_refused: u64,
    /// Types that others were asked for, and did not describe. Names decide instead.
    pub types_unavailable: u64,
    /// Types that were asked for and not described, because a participant is known that a description of them would crash
    /// ([`ParticipantData::reads_every_type`](crate::discovery::data::ParticipantData::reads_every_type)).
    pub types_withheld: u64,
    /// Questions for types that were answered.
    pub type_requests_answered: u64,
    /// Announcements of our own that could not be written.
    pub unpublished: u64,
}
