//! Whether two endpoints match, and all obstacles between them if they do not.

use crate::introspection::EndpointInfo;
use crate::qos::{DataReaderQos, DataRepresentation, DataWriterQos, PolicyId, Reliability};
use dds_rtps::types::Locator;
use dds_rtps::xtypes::TypeDifference;
use std::fmt;

/// Whether two endpoints match, and if not, why.
///
/// Returned by [`explain`](crate::DomainParticipant::explain), and by `explain_matches` of readers and writers.
/// `Display` writes a paragraph that includes the next steps. A blocked wait logs the same text once, after two
/// seconds.
///
/// ```
/// use dds_core::qos::PolicyId;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::matching::Obstacle;
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// use dds_core::qos::{DataReaderQos, DataWriterQos};
/// # let tag = format!("match-report-{}", std::process::id());
/// let builder = DomainParticipant::builder(0).scope(Scope::Host);
/// # let builder = builder.domain_tag(tag);
/// let participant = builder.build()?;
/// let writer = participant.writer_builder::<Pose>("pose").qos(DataWriterQos::default().best_effort()).build()?;
/// let reader = participant.reader_builder::<Pose>("pose").qos(DataReaderQos::default().reliable()).build()?;
/// let [report] = &reader.explain_matches()[..] else { panic!("there is one writer") };
/// assert!(matches!(report.obstacles[..], [Obstacle::Qos { policy: PolicyId::Reliability, .. }]));
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchReport {
    /// The endpoint of this participant. If both belong to other participants, the writer.
    pub local: EndpointInfo,
    /// The other endpoint, of another participant or of this one.
    pub remote: EndpointInfo,
    /// All reasons why they do not match. Empty if they match.
    pub obstacles: Vec<Obstacle>,
    /// How many samples a demoted reader is behind.
    ///
    /// The endpoints match, but the reader is slow and the local writer does not wait for it
    /// ([`SlowReader::Demote`](crate::writer::SlowReader::Demote)). `None` if the reader is not demoted.
    pub too_slow: Option<u64>,
    /// Whether they match, but no durability service is known.
    ///
    /// The local endpoint offers or requests DURABILITY transient or persistent. Without a service, samples live only
    /// as long as their writer. The crate `dds-durability` has one.
    pub without_service: bool,
    /// Whether samples between them go through shared memory.
    pub shared_memory: bool,
    /// Why samples between participants of one host go by UDP, although this one would share memory.
    ///
    /// `None` on different hosts, and for endpoints that do not match.
    pub not_shared: Option<String>,
}

impl MatchReport {
    pub(crate) fn new(local: EndpointInfo, remote: EndpointInfo, obstacles: Vec<Obstacle>) -> Self {
        Self {
            local,
            remote,
            obstacles,
            too_slow: None,
            without_service: false,
            shared_memory: false,
            not_shared: None,
        }
    }

    /// Returns whether the endpoints match.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.obstacles.is_empty()
    }
}

/// Why a writer and a reader do not match. `ours` belongs to [`MatchReport::local`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The writer offers less than the reader requests.
    Qos {
        /// The incompatible policy.
        policy: PolicyId,
        /// The value that the writer offers.
        offered: String,
        /// The value that the reader requests.
        requested: String,
    },
    /// The writer's type is not assignable to the reader's (XTYPES 1.3, 7.2.4).
    Type {
        /// The name of the writer's type.
        writer: String,
        /// The name of the reader's type.
        reader: String,
        /// The first difference that was found.
        difference: TypeDifference,
    },
    /// The type of the other endpoint is not known yet. Its participant was asked to describe it.
    TypePending,
    /// The types have different names, and one of them is not described.
    TypeName {
        /// The local type name.
        ours: String,
        /// The type name of the other endpoint.
        theirs: String,
    },
    /// The endpoints have no partition in common.
    Partition {
        /// The local partitions. Empty means the partition with the empty name.
        ours: Vec<String>,
        /// The partitions of the other endpoint.
        theirs: Vec<String>,
    },
    /// The reader does not accept the representation that the writer uses.
    Representation {
        /// The representation that the writer uses.
        offered: DataRepresentation,
        /// The representations that the reader accepts.
        accepted: Vec<DataRepresentation>,
    },
    /// The other endpoint announces no locator that this participant can reach.
    Unreachable {
        /// The announced locators.
        locators: Vec<Locator>,
    },
    /// The participant of the other endpoint has not answered at its announced addresses, so they may be forged.
    NoAnswer {
        /// The addresses of its discovery.
        locators: Vec<Locator>,
    },
    /// The keys of the other endpoint have not arrived (DDS Security).
    KeysPending,
    /// DDS Security refuses the match.
    Security {
        /// The rule of governance or permissions that refuses it.
        reason: Box<str>,
    },
    /// The application ignores the other endpoint, its participant or its topic.
    Ignored,
    /// The topic names are similar but different. No endpoint with the local topic name was found.
    TopicNameOnly {
        /// The topic name of the other endpoint.
        similar: String,
    },
}

impl Obstacle {
    /// Creates the obstacle of an incompatible policy, with the values of both sides.
    pub(crate) fn of_policy(policy: PolicyId, writer: &EndpointInfo, reader: &EndpointInfo) -> Self {
        // The caller passes the writer first. An exchange costs the values, not a panic.
        let (Some(offer), Some(request)) = (writer.qos.writer(), reader.qos.reader()) else {
            return Self::Qos { policy, offered: String::new(), requested: String::new() };
        };
        // A writer offers only the first representation of its list.
        if policy == PolicyId::DataRepresentation {
            let offered = offer.representation.first().copied().unwrap_or(DataRepresentation::Xcdr1);
            // A list has no order of strength, so its text differs from that of other policies.
            return Self::Representation { offered, accepted: request.representation.clone() };
        }
        let (offered, requested) = match policy {
            PolicyId::Presentation => (text(writer.presentation), text(reader.presentation)),
            _ => values(policy, offer, request),
        };
        Self::Qos { policy, offered, requested }
    }

    /// Returns the next step for the user, in one sentence.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Qos { policy: PolicyId::TypeConsistency, .. } => "do not force type validation in the reader's QoS",
            Self::Qos { policy: PolicyId::Ownership, .. } => "give both sides the same OWNERSHIP",
            Self::Qos { .. } => "let the writer offer more, or the reader request less",
            Self::Type { .. } => {
                "make the types agree, or let the reader's TYPE_CONSISTENCY ignore the difference; `type_information(false)` on \
                 the participant's builder, or DDS_TYPE_INFORMATION=off, lets names of types decide"
            }
            Self::TypePending => "wait a second or two: if it is not described, names of types decide",
            Self::TypeName { .. } => "use the same type name on both sides (`#[dds(name = \"…\")]`)",
            Self::Partition { .. } => "give publisher and subscriber a partition in common",
            Self::Representation { .. } => "add the writer's encoding to the reader's list, or change the writer's",
            Self::Unreachable { .. } => "check scope and interfaces on both sides, and that both hosts share a network",
            Self::NoAnswer { .. } => {
                "wait a second; if it stays, let the firewalls of both hosts pass UDP to these addresses"
            }
            Self::KeysPending => "wait a second; if it stays, compare the governance of both sides",
            Self::Security { .. } => "correct governance or permissions, sign them, and restart the participant",
            Self::Ignored => "create a new participant that does not ignore it",
            Self::TopicNameOnly { .. } => "use the same topic name on both sides",
        }
    }
}

/// Returns the value of a policy on both sides.
fn values(policy: PolicyId, offer: &DataWriterQos, request: &DataReaderQos) -> (String, String) {
    match policy {
        PolicyId::Durability => (text(offer.durability), text(request.durability)),
        PolicyId::Deadline => (offer.deadline.to_string(), request.deadline.to_string()),
        PolicyId::LatencyBudget => (offer.latency_budget.to_string(), request.latency_budget.to_string()),
        PolicyId::Ownership => (text(offer.ownership), text(request.ownership)),
        PolicyId::Liveliness => {
            let (o, r) = (offer.liveliness, request.liveliness);
            (format!("{:?} {}", o.kind, o.lease_duration), format!("{:?} {}", r.kind, r.lease_duration))
        }
        PolicyId::Reliability => {
            // Without max_blocking_time, which does not decide a match.
            (reliability_name(offer.reliability), reliability_name(request.reliability))
        }
        PolicyId::DestinationOrder => (text(offer.destination_order), text(request.destination_order)),
        PolicyId::TypeConsistency => ("a type known by name only".to_owned(), "force_type_validation".to_owned()),
        // All policies that can conflict are above, except for the two that the caller handles.
        _ => (String::new(), String::new()),
    }
}

fn reliability_name(reliability: Reliability) -> String {
    if reliability.is_reliable() { "Reliable".to_owned() } else { "BestEffort".to_owned() }
}

/// Returns the partitions of one side.
fn list(partitions: &[String]) -> String {
    if partitions.is_empty() { "none".to_owned() } else { partitions.join(", ") }
}

fn text(value: impl fmt::Debug) -> String {
    format!("{value:?}")
}

fn write_locators(f: &mut fmt::Formatter<'_>, locators: &[Locator]) -> fmt::Result {
    for locator in locators {
        write!(f, " {locator}")?;
    }
    Ok(())
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Qos { policy, offered, requested } => {
                write!(f, "{policy}: the writer offers {offered}, the reader requests {requested}")
            }
            Self::Type { writer, reader, difference } => {
                f.write_str("the types do not fit: ")?;
                // Other names often mean a topic that both sides use for different things.
                if writer != reader {
                    write!(f, "the writer has the type `{writer}`, the reader `{reader}`: ")?;
                }
                difference.fmt(f)
            }
            Self::TypePending => f.write_str("the other type is not known yet; its participant was asked to describe it"),
            Self::TypeName { ours, theirs } => write!(f, "the type is called `{ours}` here and `{theirs}` there"),
            Self::Partition { ours, theirs } => {
                write!(f, "no partition in common: here {}, there {}", list(ours), list(theirs))
            }
            Self::Representation { offered, accepted } => {
                write!(f, "DATA_REPRESENTATION: the writer uses {offered:?}, the reader reads {accepted:?}")
            }
            Self::Unreachable { locators } if locators.is_empty() => f.write_str("it announces no address"),
            Self::Unreachable { locators } if locators.iter().all(Locator::is_loopback) => f.write_str(
                "its participant announces only loopback addresses: it had no network when it started, or has scope host",
            ),
            Self::Unreachable { locators } => {
                f.write_str("none of its addresses can be reached from here:")?;
                write_locators(f, locators)
            }
            Self::NoAnswer { locators } => {
                f.write_str("its participant is heard, but has not answered at its addresses:")?;
                write_locators(f, locators)
            }
            Self::KeysPending => f.write_str("the keys of the other endpoint have not arrived yet"),
            Self::Security { reason } => f.write_str(reason),
            Self::Ignored => f.write_str("this participant was told to ignore it"),
            Self::TopicNameOnly { similar } => write!(f, "its topic is called \"{similar}\""),
        }
    }
}

impl fmt::Display for MatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { local, remote, obstacles, too_slow, without_service, shared_memory, not_shared } = self;
        write!(f, "topic \"{}\": {local} and {remote} ", local.topic_name)?;
        if !obstacles.is_empty() {
            f.write_str("do not match")?;
            for (at, obstacle) in obstacles.iter().enumerate() {
                write!(f, "{}{obstacle} ({})", if at == 0 { ": " } else { "; " }, obstacle.next_step())?;
            }
            return Ok(());
        }
        f.write_str("match")?;
        // On one host, users want to know whether memory is shared.
        if *shared_memory {
            f.write_str(" through shared memory")?;
        } else if let Some(reason) = not_shared {
            write!(f, " by UDP and not through shared memory: {reason}")?;
        }
        if let Some(samples) = too_slow {
            write!(f, "; the reader is {samples} samples behind and not waited for")?;
        }
        if *without_service {
            f.write_str(
                "; no durability service is known, so samples end with their writers (start one, or request less than \
                 Transient)",
            )?;
        }
        Ok(())
    }
}
