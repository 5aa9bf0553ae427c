//! What discovery asks the plugins of DDS Security, which another crate implements.

use super::data::{EndpointData, ParticipantData};
use super::event::{DiscoveredReader, DiscoveredWriter, ParticipantLoss};
use crate::types::{Guid, GuidPrefix, Instant, Now};
use std::fmt;

/// Decides which participants and endpoints may communicate, and exchanges their keys.
///
/// All methods return at once. Their results are in [`poll_action`](Self::poll_action), which the caller polls
/// after each call until it returns `None`.
pub trait PeerSecurity: fmt::Debug + Send + Sync {
    /// Adds tokens and attributes to the announcement of this participant.
    fn announce(&self, data: &mut ParticipantData);

    /// Whether the plain announcement omits all but the data that a handshake needs.
    fn hides_details(&self) -> bool;

    /// A participant has announced itself, for the first time or again.
    fn peer_announced(&self, now: Now, data: &ParticipantData) -> PeerAdmission;

    /// A participant is gone. One that is expelled must not read or forge what follows.
    fn peer_lost(&self, now: Now, prefix: GuidPrefix, cause: ParticipantLoss);

    /// Whether participants without an identity take part.
    fn allows_unauthenticated(&self) -> bool;

    /// Handles a message of another participant.
    fn handle_message(&self, now: Now, sender: GuidPrefix, channel: SecurityChannel, payload: &[u8]);

    /// Returns the payload of a handshake message with another number. The answer to the message names the number.
    fn with_number(&self, payload: &[u8], number: i64) -> Option<Vec<u8>>;

    /// A local endpoint appears or changes: sets its attributes.
    fn local_endpoint(&self, endpoint: &mut EndpointData);

    /// Whether what a participant says by the protected builtin topic of participants cannot be forged.
    fn protects_announcements(&self) -> bool;

    /// Whether whole messages are protected, so that a plain message of a proved participant is refused.
    fn protects_messages(&self) -> bool;

    /// Whether endpoints of a topic are announced by the protected builtin endpoints.
    fn protects_discovery_of(&self, topic_name: &str) -> bool;

    /// Whether liveliness assertions use the protected builtin endpoints.
    fn protects_liveliness(&self) -> bool;

    /// Decides about two endpoints that match otherwise, one of which is remote. The first question begins the exchange
    /// of their keys.
    fn check_match(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> MatchPermission;

    /// Decides about two endpoints of other participants, for an explanation. What those participants know may differ.
    ///
    /// # Errors
    /// The reason that keeps them apart.
    fn check_others(&self, writer: &EndpointData, reader: &EndpointData) -> Result<(), Box<str>>;

    /// An endpoint of this or another participant is gone.
    fn endpoint_removed(&self, guid: Guid);

    /// Returns when [`handle_timeout`](Self::handle_timeout) must be called.
    fn deadline(&self) -> Option<Instant>;

    /// Handles the passing of time.
    fn handle_timeout(&self, now: Now);

    /// Returns the next thing to do.
    fn poll_action(&self) -> Option<SecurityAction>;
}

/// A topic of security messages between two participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecurityChannel {
    /// ParticipantStatelessMessage: handshakes, best effort and without protection.
    Stateless,
    /// ParticipantVolatileMessageSecure: keys, reliable and protected by the secret of the handshake.
    Volatile,
}

/// What admits a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerAdmission {
    /// It has no identity and needs none: its announcement admits it.
    Unproved,
    /// Only a proof admits it, and no announcement does. [`SecurityAction::BeginKeyExchange`] follows the proof.
    ByProof,
}

/// Whether two endpoints may communicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchPermission {
    /// They may.
    Granted,
    /// The keys of the remote endpoint are missing. [`SecurityAction::CompareAgain`] follows.
    KeysPending,
    /// They may not, for this reason.
    Refused(Box<str>),
}

/// What a participant does for its plugins. Its `Debug` text has no payload, which may be a key.
#[derive(Clone, PartialEq, Eq)]
pub enum SecurityAction {
    /// Sends a message to another participant.
    Send {
        /// Its destination.
        to: GuidPrefix,
        /// Its topic.
        channel: SecurityChannel,
        /// Its serialized payload, with the encapsulation header.
        payload: Vec<u8>,
    },
    /// A participant has proved its identity, for the first time or again: its earlier keys no longer count. Its first
    /// message with keys admits it.
    BeginKeyExchange {
        /// The participant.
        prefix: GuidPrefix,
        /// The number of the handshake message that it has answered.
        answers: i64,
    },
    /// A participant may no longer take part.
    Expel(GuidPrefix),
    /// The keys of a remote endpoint have arrived, or a local endpoint has a place for another receiver.
    CompareAgain(Guid),
    /// A text for the log.
    Report {
        /// Its kind.
        kind: SecurityReportKind,
        /// The participants, the reason, and the next step.
        text: Box<str>,
    },
}

/// The kind of a report of the plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecurityReportKind {
    /// A participant has proved its identity, and has the permissions to take part.
    Admitted,
    /// A participant, its keys or one of its endpoints are refused.
    Refused,
    /// A participant that took part is cut off.
    Expelled,
    /// This participant has changed its keys.
    KeysChanged,
    /// This participant cannot do what its security requires.
    Failed,
    /// A file of this participant is old, and a newer one exists.
    Outdated,
    /// Too many reports came at once, and some were left out.
    LeftOut,
}

impl fmt::Debug for SecurityAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send { to, channel, payload } => {
                let mut text = f.debug_struct("Send");
                text.field("to", to).field("channel", channel).field("len", &payload.len()).finish_non_exhaustive()
            }
            Self::BeginKeyExchange { prefix, answers } => {
                f.debug_struct("BeginKeyExchange").field("prefix", prefix).field("answers", answers).finish()
            }
            Self::Expel(prefix) => f.debug_tuple("Expel").field(prefix).finish(),
            Self::CompareAgain(guid) => f.debug_tuple("CompareAgain").field(guid).finish(),
            Self::Report { kind, text } => f.debug_tuple("Report").field(kind).field(text).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_text_of_an_action_shows_no_key() {
        let payload = b"secret".to_vec();
        let action = SecurityAction::Send { to: GuidPrefix::UNKNOWN, channel: SecurityChannel::Volatile, payload };
        let text = format!("{action:?}");
        assert!(text.contains("len: 6") && !text.contains("115, 101") && !text.contains("secret"), "{text}");
    }
}
