//! What a wait still missed when its time was over.

use std::fmt;

/// What a wait still missed when its time was over, as far as the participant knows.
///
/// Part of [`WaitErrorKind::Timeout`](crate::error::WaitErrorKind::Timeout).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The awaited event. The participant knows nothing more, or the wait was too short to find out.
    Event,
    /// Other participants. None was discovered.
    Participants,
    /// Other participants. Datagrams of some arrived, and protection kept them apart.
    Protection {
        /// The refused datagrams, and the next step.
        report: Box<str>,
    },
    /// An endpoint of the topic. None of the discovered participants has a counterpart.
    Endpoint {
        /// The discovered participants.
        participants: usize,
    },
    /// A match. Counterparts were discovered, but none is compatible.
    Match {
        /// Why the first one does not match, as [`explain_matches`](crate::DataReader::explain_matches) says it.
        report: Box<str>,
    },
    /// More matches than there are.
    Matches {
        /// The endpoints that match.
        matched: usize,
    },
    /// A sample. Writers match, but none of them wrote an unread one.
    Sample {
        /// The matched writers.
        writers: usize,
        /// The samples that the reader has received since its creation.
        received: u64,
    },
    /// The acknowledgment of a matched reader.
    Acknowledgment {
        /// The matched readers.
        readers: usize,
    },
    /// A replier that matches both ways. The matching endpoints belong to different participants.
    Replier {
        /// Readers of the request topic that match.
        requests: usize,
        /// Writers of the reply topic that match.
        replies: usize,
    },
    /// One of the ways between the requester and a replier. The other one matches.
    OneWay {
        /// Readers of the request topic that match.
        requests: usize,
        /// Writers of the reply topic that match.
        replies: usize,
    },
    /// The reply to a request that was sent.
    Reply {
        /// Participants with a replier that received the request.
        repliers: usize,
    },
}

impl Missing {
    /// Returns what to do about it, in one sentence.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Event => "check that the peer runs, or wait longer",
            Self::Participants => {
                "check that the peer runs in the same domain, and set DDS_PEERS to its host if the network drops multicast"
            }
            Self::Protection { .. } => "give all participants the same pre-shared key, or identities of one fleet",
            Self::Endpoint { .. } => "check that the peer has created its endpoint, with the same topic name",
            Self::Match { .. } => "change one of the two endpoints as the report says",
            Self::Matches { .. } => "start the other peers, or wait for fewer",
            Self::Sample { .. } => "check that the writer writes, or wait longer",
            Self::Acknowledgment { .. } => "check that the readers run and take their samples, or wait longer",
            Self::Replier { .. } => "check that one participant has both endpoints of the replier",
            Self::OneWay { requests: 0, .. } => "compare the request topic, its type and QoS on both sides",
            Self::OneWay { .. } => "compare the reply topic, its type and QoS on both sides",
            Self::Reply { .. } => "check that the replier answers, or wait longer",
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event => f.write_str("the event did not occur"),
            Self::Participants => f.write_str("no other participant was discovered"),
            Self::Protection { report } => write!(f, "no other participant was discovered: {report}"),
            Self::Endpoint { participants } => {
                write!(f, "no counterpart of this topic was found in {}", counted(*participants, "participant"))
            }
            Self::Match { report } => f.write_str(report),
            Self::Matches { matched } => write!(f, "only {} matched", counted(*matched, "endpoint")),
            Self::Sample { writers, received } => {
                let writers = counted(*writers, "writer");
                write!(
                    f,
                    "no unread sample; {writers} matched, and {received} samples were received since the creation"
                )
            }
            Self::Acknowledgment { readers } => {
                write!(f, "acknowledgments are missing; {} matched", counted(*readers, "reader"))
            }
            Self::Replier { .. } => f.write_str("no replier matches both ways"),
            Self::OneWay { requests: 0, .. } => {
                f.write_str("a replier matches one way only: its reader of the requests is missing or incompatible")
            }
            Self::OneWay { .. } => {
                f.write_str("a replier matches one way only: its writer of the replies is missing or incompatible")
            }
            Self::Reply { repliers } => {
                write!(f, "no reply; the request was sent to {}", counted(*repliers, "replier"))
            }
        }
    }
}

/// Returns a number with its noun.
fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
