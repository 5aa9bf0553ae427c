//! `dds why`: the pairs of endpoints that do not match, with every reason.

use super::elsewhere::Elsewhere;
use super::stalled;
use super::text::write_json;
use crate::domain_view::{DomainView, DomainWatch, TopicView};
use crate::error::ToolError;
use crate::latencies::LatencyWatch;
use crate::multicast;
use crate::network;
use crate::options::{NetworkOptions, ScopeOption, WhyOptions};
use crate::reachability::Probes;
use crate::socket_drops::SocketDrops;
use crate::stop::Stop;
use dds_core::matching::{EndpointInfo, MatchReport};
use dds_core::{DomainParticipant, Guid};
use serde_json::json;
use std::collections::HashSet;
use std::io::Write;
use std::time::Duration;

/// Time for the answers to the requests for types.
const TYPES_WAIT: Duration = Duration::from_millis(500);
/// Next step if multicast does not return to this host.
const MULTICAST_STEP: &str = "let firewalls pass UDP to 239.255.0.1 and give an interface multicast, or name the other \
    hosts with --peer, and with DDS_PEERS for the other programs";
/// Most participants without endpoints that a next step names.
const SILENT_MAX: usize = 5;
/// Most addresses of a participant in a reason.
const ADDRESSES_SHOWN: usize = 4;
/// Similarity of names from which one may be meant for the other: 1 is equality.
const SIMILAR: f64 = 0.85;

/// Prints pairs without a match and topics with one side, each with the reasons and the next step.
///
/// # Errors
/// [`ToolError::NoTopic`] if the requested topic has no endpoint. [`ToolError::Problems`] if there is a problem and the
/// options ask for that.
pub fn run(options: &WhyOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join_to_look(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let mut latencies = LatencyWatch::new(&participant)?;
    let view = watch.settle(options.discovery.wait, stop)?;
    if needs_multicast(&options.network) && view.participants().is_empty() && !multicast::returns() {
        write_missing_multicast(options, output)?;
        return end(options, 1, output);
    }
    let mut probes = Probes::send(view);
    let missing = missing_topic(options, &participant, &mut watch, &mut probes, stop)?;
    if !missing.is_empty() {
        missing.iter().try_for_each(|problem| problem.write(options, output))?;
        return end(options, missing.len(), output);
    }
    let topics: Vec<String> = match &options.topic {
        Some(topic) => vec![topic.clone()],
        None => watch.view().topics().into_keys().map(str::to_owned).collect(),
    };
    // Later reports show which times are new.
    latencies.update()?;
    let found = unmatched(&participant, watch.view(), &topics, stop);
    watch.update()?;
    latencies.update()?;
    let lonely = lonely_topics(options, &participant, &mut watch, &latencies, &topics, stop)?;
    for (_, report) in &found {
        if options.output.json {
            write_json(output, &report_json(report))?;
        } else {
            writeln!(output, "{report}\n").map_err(ToolError::output)?;
        }
    }
    let mut problems = unreachable(&mut probes, watch.view(), &topics, stop);
    problems.extend(refused(&participant, &options.network));
    problems.extend(lonely.iter().map(LonelyTopic::problem));
    problems.extend(stalled::silent_writers(&participant, watch.view(), &topics, stop));
    problems.extend(FullSocket::all_of(watch.view(), &topics).iter().map(FullSocket::problem));
    problems.extend(stalled::slow_readers(&mut latencies, watch.view(), &topics, stop)?);
    problems.iter().try_for_each(|problem| problem.write(options, output))?;
    if found.is_empty() && problems.is_empty() && !options.output.json {
        match topics.len() {
            0 => writeln!(output, "no topic was found"),
            count => writeln!(output, "every writer matches every reader (topics: {count})"),
        }
        .map_err(ToolError::output)?;
    }
    end(options, found.len() + problems.len(), output)
}

fn end(options: &WhyOptions, problems: usize, output: &mut dyn Write) -> Result<(), ToolError> {
    output.flush().map_err(ToolError::output)?;
    if options.exit_code && problems > 0 { Err(ToolError::Problems { count: problems }) } else { Ok(()) }
}

/// Explains why a named topic has no endpoint here. Returns nothing if it has one.
///
/// # Errors
/// [`ToolError::NoTopic`] without an explanation.
fn missing_topic(
    options: &WhyOptions,
    participant: &DomainParticipant,
    watch: &mut DomainWatch,
    probes: &mut Probes,
    stop: &Stop,
) -> Result<Vec<TopicProblem>, ToolError> {
    let Some(topic) = &options.topic else { return Ok(Vec::new()) };
    if watch.view().topic(topic).is_ok() {
        return Ok(Vec::new());
    }
    let elsewhere = Elsewhere::look(options, participant.domain_id(), topic, stop)?;
    // The looks took seconds, so more endpoints are known.
    watch.update()?;
    let Err(error) = watch.view().topic(topic) else { return Ok(Vec::new()) };
    let mut problems = Vec::new();
    let missing = |next_step| TopicProblem {
        topic: topic.clone(),
        reason: "no endpoint was found in this domain".to_owned(),
        next_step,
    };
    problems.extend(elsewhere.next_step().map(|step| missing(format!("the topic {step}"))));
    // The endpoints of a participant that is refused or cannot be reached do not arrive.
    problems.extend(unreachable(probes, watch.view(), std::slice::from_ref(topic), stop));
    problems.extend(refused(participant, &options.network));
    // If endpoints of other topics arrive, the name is likely wrong: the error lists the known ones.
    if problems.is_empty() && watch.view().topics().is_empty() {
        let silent = silent_participants(watch.view(), topic);
        problems.extend(firewall_step(&silent, "one of this topic").map(missing));
    }
    if problems.is_empty() { Err(error) } else { Ok(problems) }
}

/// Returns the topics with one side. Looks elsewhere only for a named topic, because that takes seconds.
fn lonely_topics(
    options: &WhyOptions,
    participant: &DomainParticipant,
    watch: &mut DomainWatch,
    latencies: &LatencyWatch,
    topics: &[String],
    stop: &Stop,
) -> Result<Vec<LonelyTopic>, ToolError> {
    let mut lonely = LonelyTopic::all_of(watch.view(), topics);
    for topic in lonely.iter_mut().filter(|topic| topic.writers == 0) {
        topic.received = stalled::received_before(latencies, &topic.topic);
    }
    if options.topic.is_none() {
        return Ok(lonely);
    }
    for topic in &mut lonely {
        topic.is_named = true;
        topic.elsewhere = Elsewhere::look(options, participant.domain_id(), &topic.topic, stop)?;
        // The looks above took seconds, so more participants and endpoints are known.
        watch.update()?;
        topic.silent = silent_participants(watch.view(), &topic.topic);
        topic.lacks_multicast = needs_multicast(&options.network) && !multicast::returns();
    }
    Ok(lonely)
}

/// A problem of a topic that is no mismatch of two endpoints.
pub(super) struct TopicProblem {
    /// Empty if no endpoint of the participant with the problem is known.
    pub(super) topic: String,
    pub(super) reason: String,
    pub(super) next_step: String,
}

impl TopicProblem {
    fn write(&self, options: &WhyOptions, output: &mut dyn Write) -> Result<(), ToolError> {
        let Self { topic, reason, next_step } = self;
        if options.output.json {
            let obstacles = [json!({ "reason": reason, "next_step": next_step })];
            let topic = Some(topic).filter(|topic| !topic.is_empty());
            return write_json(output, &json!({ "topic": topic, "endpoints": [], "obstacles": obstacles }));
        }
        let heading = if topic.is_empty() { String::new() } else { format!("topic \"{topic}\": ") };
        writeln!(output, "{heading}{reason}; {next_step}\n").map_err(ToolError::output)
    }
}

/// Finds participants and endpoints of the topics whose addresses this host cannot reach.
///
/// A participant without known endpoints may have endpoints of every topic.
fn unreachable(probes: &mut Probes, view: &DomainView, topics: &[String], stop: &Stop) -> Vec<TopicProblem> {
    let has_topic = |name: &&String, participant: Guid| {
        let found = view.endpoints_of(name);
        found.writers.iter().any(|writer| writer.participant_key == participant)
            || found.readers.iter().any(|reader| reader.participant_key == participant)
    };
    let mut problems = Vec::new();
    for found in probes.unreachable(view, stop) {
        let key = found.participant;
        let topic = match &found.topic {
            Some(topic) => topics.iter().find(|name| *name == topic),
            None => topics.iter().find(|name| has_topic(name, key)),
        };
        let is_silent = view.endpoint_counts(key) == (0, 0);
        if topic.is_none() && !is_silent {
            continue;
        }
        let topic = topic.or(topics.first()).cloned().unwrap_or_default();
        let addresses: Vec<String> = found.addresses.iter().take(ADDRESSES_SHOWN).map(ToString::to_string).collect();
        let (name, addresses) = (view.participant_name(key), addresses.join(", "));
        let (reason, next_step) = if found.is_closed {
            (
                format!("participant {name}: no program receives at its addresses ({addresses})"),
                "its program has likely crashed: start it again; if it runs, another host has its address, or a firewall rejects \
                 UDP",
            )
        } else {
            (
                format!("participant {name}: this host cannot reach its addresses ({addresses})"),
                "give both hosts addresses of one network, or routes to each other, and let firewalls pass UDP; a program \
                 with several interfaces announces others with DDS_INTERFACES",
            )
        };
        problems.push(TopicProblem { topic, reason, next_step: next_step.to_owned() });
    }
    problems
}

/// Participants that DDS Security refuses, or whose messages need a key. Their endpoints are unknown here.
fn refused(participant: &DomainParticipant, options: &NetworkOptions) -> Option<TopicProblem> {
    let next_step = match &options.enclave {
        Some(folder) => format!("check the files of both sides: `dds security check {}`", folder.display()),
        None => "look with --enclave and the folder of an identity of that fleet".to_owned(),
    };
    participant.explain_protection().map(|reason| TopicProblem { topic: String::new(), reason, next_step })
}

/// Returns whether discovery needs multicast. Named peers, and participants of the own host, are found without it.
fn needs_multicast(options: &NetworkOptions) -> bool {
    options.peer.is_empty() && !matches!(options.scope, Some(ScopeOption::Host | ScopeOption::PeersOnly))
}

fn write_missing_multicast(options: &WhyOptions, output: &mut dyn Write) -> Result<(), ToolError> {
    let reason = "no participant was found, and this host does not receive its own multicast";
    let next_step = MULTICAST_STEP;
    if options.output.json {
        let obstacles = [json!({ "reason": reason, "next_step": next_step })];
        return write_json(output, &json!({ "topic": options.topic, "endpoints": [], "obstacles": obstacles }));
    }
    writeln!(output, "{reason}; {next_step}").map_err(ToolError::output)
}

/// A topic that has only writers or only readers.
#[derive(Default)]
struct LonelyTopic {
    topic: String,
    writers: usize,
    readers: usize,
    /// Samples that a reader has received from writers that have gone.
    received: u64,
    /// A topic with a similar name that has the other side.
    similar: Option<String>,
    /// Whether the user named the topic, so that the values below are known.
    is_named: bool,
    elsewhere: Elsewhere,
    /// Participants that were heard, but whose endpoints did not arrive.
    silent: Vec<String>,
    /// Whether discovery needs multicast, and this host does not receive its own.
    lacks_multicast: bool,
}

impl LonelyTopic {
    fn all_of(view: &DomainView, topics: &[String]) -> Vec<Self> {
        let all = view.topics();
        let mut lonely = Vec::new();
        for name in topics {
            let Some(topic) = all.get(name.as_str()) else { continue };
            let (writers, readers) = (topic.writers.len(), topic.readers.len());
            if writers > 0 && readers > 0 {
                continue;
            }
            let has_other_side = |other: &TopicView<'_>| {
                if writers == 0 { !other.writers.is_empty() } else { !other.readers.is_empty() }
            };
            let others = all.iter().filter(|(other, found)| **other != name && has_other_side(found));
            let similar = others
                .map(|(other, _)| (strsim::jaro(bare(name), bare(other)), *other))
                .filter(|(similarity, _)| *similarity > SIMILAR)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let similar = similar.map(|(_, other)| other.to_owned());
            lonely.push(Self { topic: name.clone(), writers, readers, similar, ..Self::default() });
        }
        lonely
    }

    fn reason(&self) -> String {
        if self.received > 0 {
            let Self { readers, received, .. } = self;
            format!("no writer was found (readers: {readers}), but a reader has received {received} samples")
        } else if self.writers == 0 {
            format!("no writer was found (readers: {})", self.readers)
        } else {
            format!("no reader was found (writers: {})", self.writers)
        }
    }

    fn next_step(&self) -> String {
        let side = if self.writers == 0 { "writer" } else { "reader" };
        if self.received > 0 {
            return "its writer has ended, or its program has crashed: start it again".to_owned();
        }
        if let Some(similar) = &self.similar {
            return format!("topic \"{similar}\" has a {side}: compare the names");
        }
        if let Some(step) = self.elsewhere.next_step() {
            // "also": this domain has the other side.
            return format!("the topic also {step}");
        }
        if let Some(step) = firewall_step(&self.silent, &format!("a {side}")) {
            return step;
        }
        if self.lacks_multicast {
            return format!(
                "start the {side}; if it runs on another host, this host may not find it, because it does not receive \
                 its own multicast: {MULTICAST_STEP}"
            );
        }
        let start =
            format!("start the {side}, or compare its domain, domain tag and network with --domain, --tag and --peer");
        if self.is_named {
            return start;
        }
        format!("{start}; `dds why {}` also looks into other domains and domain tags, and for firewalls", self.topic)
    }

    fn problem(&self) -> TopicProblem {
        TopicProblem { topic: self.topic.clone(), reason: self.reason(), next_step: self.next_step() }
    }
}

/// A participant of this host whose sockets dropped datagrams since they exist, because it receives too slowly.
struct FullSocket<'t> {
    /// The first of the topics that it reads.
    topic: &'t str,
    /// Several participants may have one name.
    key: Guid,
    participant: String,
    dropped: u64,
}

impl<'t> FullSocket<'t> {
    const NEXT_STEP: &'static str = "`dds loss` shows whether samples get lost; raise net.core.rmem_max and \
        `receive_buffer` (DDS_RECEIVE_BUFFER) of the participant, or let its readers take more often";

    /// Returns the participants that read one of the topics.
    fn all_of(view: &DomainView, topics: &'t [String]) -> Vec<Self> {
        let (drops, all) = (SocketDrops::read(), view.topics());
        let mut full = Vec::<Self>::new();
        for topic in topics {
            let Some(found) = all.get(topic.as_str()) else { continue };
            for reader in &found.readers {
                let key = reader.participant_key;
                if full.iter().any(|known| known.key == key) {
                    continue;
                }
                let dropped = drops.of_participant(view, key).unwrap_or(0);
                if dropped > 0 {
                    full.push(Self { topic, key, participant: view.participant_name(key), dropped });
                }
            }
        }
        full
    }

    fn problem(&self) -> TopicProblem {
        let Self { topic, participant, dropped, .. } = self;
        let reason = format!("participant {participant}: its full receive buffers dropped {dropped} datagrams");
        TopicProblem { topic: (*topic).to_owned(), reason, next_step: Self::NEXT_STEP.to_owned() }
    }
}

/// Returns the name without the prefix of ROS and without leading slashes: these are the usual differences.
fn bare(name: &str) -> &str {
    name.strip_prefix("rt/").unwrap_or(name).trim_start_matches('/')
}

/// Returns the participants without any endpoint, unless they have none of the topic.
///
/// Their announcements come by multicast, and endpoints by unicast.
fn silent_participants(view: &DomainView, topic: &str) -> Vec<String> {
    let mut silent = Vec::new();
    for participant in view.participants() {
        // A durability service has no endpoints while no topic is durable.
        if network::looks_elsewhere(participant, topic) || participant.is_durability_service() {
            continue;
        }
        if view.endpoint_counts(participant.key) == (0, 0) && silent.len() < SILENT_MAX {
            silent.push(view.participant_name(participant.key));
        }
    }
    silent
}

/// Returns the next step if participants announce themselves, and no endpoints of them arrive.
fn firewall_step(silent: &[String], endpoint: &str) -> Option<String> {
    let names = silent.join(", ");
    (!silent.is_empty()).then(|| {
        format!(
            "announcements of {names} arrive, but no endpoints: if it has {endpoint}, a firewall may block UDP \
             between the hosts in one direction; open the ports of the domain for unicast on both hosts"
        )
    })
}

/// Returns the reports of all pairs that do not match, each with its topic.
pub(super) fn unmatched<'t>(
    participant: &DomainParticipant,
    view: &DomainView,
    topics: &'t [String],
    stop: &Stop,
) -> Vec<(&'t str, MatchReport)> {
    // The types of remote endpoints arrive on demand. The first explanation asks for them.
    for topic in topics {
        let _ = participant.explain(topic);
    }
    if !topics.is_empty() {
        stop.sleep(TYPES_WAIT);
    }
    let mut found = Vec::new();
    for topic in topics {
        let reports = problem_pairs(participant.explain(topic), view);
        found.extend(reports.into_iter().map(|report| (topic.as_str(), report)));
    }
    found
}

/// Returns the reports of pairs that do not match, without those that are no problem.
///
/// A program that looks has a reader for each class of writers, and each matches only its class. So only a writer that
/// none of them matches is a problem. The readers of this program are no part of the system.
pub(crate) fn problem_pairs(mut reports: Vec<MatchReport>, view: &DomainView) -> Vec<MatchReport> {
    let matches = reports.iter().filter(|report| report.is_match());
    let covered: HashSet<(Guid, Guid)> =
        matches.map(pair_of).map(|(writer, reader)| (writer.guid, reader.participant())).collect();
    reports.retain(|report| {
        let (writer, reader) = pair_of(report);
        let looks = view.participant(reader.participant()).is_some_and(network::looks);
        let is_covered = looks && covered.contains(&(writer.guid, reader.participant()));
        !(report.is_match() || is_covered || writer.is_own || reader.is_own)
    });
    reports
}

/// Returns the writer and the reader of a report.
pub(super) fn pair_of(report: &MatchReport) -> (&EndpointInfo, &EndpointInfo) {
    if report.local.is_writer() { (&report.local, &report.remote) } else { (&report.remote, &report.local) }
}

/// Returns a report as JSON.
pub(crate) fn report_json(report: &MatchReport) -> serde_json::Value {
    let mut obstacles = Vec::new();
    for obstacle in &report.obstacles {
        obstacles.push(json!({ "reason": obstacle.to_string(), "next_step": obstacle.next_step() }));
    }
    json!({
        "topic": report.local.topic_name,
        "endpoints": [report.local.to_string(), report.remote.to_string()],
        "obstacles": obstacles,
    })
}
