//! The missing part of a wait that timed out.

use std::fmt;

/// The missing part of a wait that timed out, as far as the participant knows.
///
/// Part of [`WaitErrorKind::Timeout`](crate::error::WaitErrorKind::Timeout).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The awaited event. The participant knows nothing more.
    Event,
    /// Other participants. None was discovered on the network.
    Participants {
        /// The domain of this participant, and its tag.
        report: Box<str>,
    },
    /// The named peers. None of them has answered.
    Peers {
        /// The domain of this participant, and the peers.
        report: Box<str>,
    },
    /// Other participants. A setting of this one may stand in the way.
    Setting {
        /// The domain of this participant, and the setting.
        report: Box<str>,
    },
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
    /// The end of a match. Compatible counterparts were discovered, and one of both sides does not know the other yet.
    Completion {
        /// The compatible endpoints.
        endpoints: usize,
    },
    /// More matches than there are. A limit below 100 ms leaves no time to find out why.
    Matches {
        /// The endpoints that match.
        matched: usize,
        /// The endpoints that the caller waits for.
        wanted: usize,
    },
    /// A sample. None of the matched writers wrote an unread one.
    Sample {
        /// The matched writers. 0 only with a limit below 100 ms, which leaves no time to find out why.
        writers: usize,
        /// The samples that the reader has received since its creation.
        received: u64,
    },
    /// The acknowledgment of a matched reader.
    Acknowledgment {
        /// The matched readers.
        readers: usize,
    },
    /// The rest of the samples that writers had written before.
    History {
        /// The writers whose samples are incomplete.
        writers: usize,
    },
    /// A triggered condition.
    Trigger {
        /// The conditions of the wait set.
        conditions: usize,
    },
    /// A topic. None of the discovered participants uses it.
    Topic {
        /// The discovered participants.
        participants: usize,
    },
    /// A topic of the wanted type. Participants use it with other types.
    TopicOfType {
        /// The names of these types.
        types: Vec<String>,
    },
    /// The description of a topic's type.
    Description {
        /// The endpoints of the topic, which describe no type.
        endpoints: usize,
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
    /// Returns the next step of the user, in one sentence.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Event => "wait longer",
            Self::Participants { .. } => {
                "check that the peer runs in the same domain, and set DDS_PEERS to its host if the network drops multicast"
            }
            Self::Peers { .. } => {
                "check that a participant of this domain runs there, and that firewalls let UDP pass in both directions"
            }
            Self::Setting { .. } => {
                "correct this setting, or check that the peer runs where the participant looks for it"
            }
            Self::Protection { .. } => "give all participants the same pre-shared key, or identities of one fleet",
            Self::Endpoint { .. } => "check that the peer has created its endpoint, with the same topic name",
            Self::Completion { .. } => "check that both hosts can send to each other, or wait longer",
            Self::Match { .. } => "change one of the two endpoints as the report says",
            Self::Matches { matched: 0, .. } | Self::Sample { writers: 0, .. } => {
                "wait longer; from a limit of 100 ms on, the error says why no peer matches"
            }
            Self::Matches { .. } => "start the other peers, or wait for fewer",
            Self::Sample { .. } => "check that the writer writes, or wait longer",
            Self::Acknowledgment { .. } => "check that the readers run and take their samples, or wait longer",
            Self::History { .. } => "check the resource limits of the reader, or wait longer",
            Self::Trigger { conditions: 0 } => "attach a condition",
            Self::Trigger { .. } => "check that the conditions name the awaited event, or wait longer",
            Self::Topic { .. } => "check the name of the topic, and that the peer has created its endpoint",
            Self::TopicOfType { .. } => "search for the topic with one of these types",
            Self::Description { .. } => "make one endpoint with a type that describes itself, such as a derived one",
            Self::Replier { .. } => "check that one participant has both endpoints of the replier",
            Self::OneWay { requests: 0, .. } => "compare the request topic, its type and QoS on both sides",
            Self::OneWay { .. } => "wait longer, or compare the reply topic, its type and QoS on both sides",
            Self::Reply { .. } => "check that the replier answers, or wait longer",
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event => f.write_str("it did not occur"),
            Self::Participants { report } | Self::Peers { report } | Self::Setting { report } => {
                write!(f, "no other participant was discovered {report}")
            }
            Self::Protection { report } => write!(f, "no other participant was discovered: {report}"),
            Self::Endpoint { participants } => {
                write!(f, "no counterpart of this topic was found in {}", counted(*participants, "participant"))
            }
            Self::Match { report } => f.write_str(report),
            Self::Completion { endpoints } => {
                write!(f, "{} found, and the match is not complete yet", counted(*endpoints, "compatible endpoint"))
            }
            Self::Matches { matched, wanted } => write!(f, "{matched} of {} matched", counted(*wanted, "endpoint")),
            Self::Sample { writers, received } => {
                let writers = counted(*writers, "writer");
                let samples = counted(usize::try_from(*received).unwrap_or(usize::MAX), "sample");
                write!(f, "{writers} matched, and the reader has received {samples} since its creation")
            }
            Self::Acknowledgment { readers } => {
                write!(f, "{} matched, and samples are unacknowledged", counted(*readers, "reader"))
            }
            Self::History { writers } => {
                write!(f, "earlier samples of {} are incomplete", counted(*writers, "writer"))
            }
            Self::Trigger { conditions } => write!(f, "{} attached", counted(*conditions, "condition")),
            Self::Topic { participants } => {
                write!(f, "the topic was not found in {}", counted(*participants, "participant"))
            }
            Self::TopicOfType { types } => write!(f, "the topic has other types there: {}", types.join(", ")),
            Self::Description { endpoints } => {
                write!(f, "{} of the topic, without descriptions", counted(*endpoints, "endpoint"))
            }
            Self::Replier { .. } => f.write_str("no replier matches both ways"),
            Self::OneWay { requests: 0, .. } => {
                f.write_str("a replier matches one way only: its reader of the requests is missing or incompatible")
            }
            Self::OneWay { .. } => f.write_str(
                "a replier matches one way only: its writer of the replies is missing, incompatible or slow",
            ),
            Self::Reply { repliers } => {
                write!(f, "the request was sent to {}", counted(*repliers, "replier"))
            }
        }
    }
}

/// Returns a number with its noun.
fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
