//! Everything that the page shows, as JSON.

use super::outbox::Outbox;
use super::topics::{ServedTopics, TopicFigures};
use crate::commands::endpoint_row::EndpointRow;
use crate::commands::why;
use crate::domain_view::DomainView;
use crate::socket_drops::DropsSinceStart;
use dds_core::DomainParticipant;
use serde::Serialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most pairs and problems of a snapshot. The page says how many it leaves out.
const ITEMS_MAX: usize = 500;
/// Time between two explanations of all pairs.
const EXPLANATION_TIME: Duration = Duration::from_secs(2);

/// Everything that the page shows.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Snapshot {
    /// What needs a look, worst first.
    problems: Vec<String>,
    /// Number of all problems.
    problem_count: usize,
    topics: Vec<TopicRow>,
    participants: Vec<ParticipantRow>,
    /// Pairs that do not match.
    pairs: Vec<PairRow>,
    clients: Vec<ClientRow>,
}

#[derive(Debug, Serialize)]
struct TopicRow {
    topic: String,
    types: Vec<String>,
    endpoints: Vec<EndpointRow>,
    #[serde(flatten)]
    figures: TopicFigures,
}

#[derive(Debug, Serialize)]
struct ParticipantRow {
    guid: String,
    participant: String,
    vendor: String,
    writers: usize,
    readers: usize,
    /// Datagrams that its sockets dropped since the start of the program, if it lives on this host.
    socket_dropped: Option<u64>,
}

#[derive(Debug, Clone, Serialize)]
struct PairRow {
    topic: String,
    /// GUIDs of both endpoints.
    endpoints: [String; 2],
    /// The report as JSON.
    report: Value,
    #[serde(skip)]
    text: String,
}

#[derive(Debug, Serialize)]
struct ClientRow {
    address: String,
    sent: u64,
    dropped: u64,
}

/// Makes snapshots, and remembers what lasts from one to the next.
#[derive(Debug)]
pub(crate) struct SystemObserver {
    participant: DomainParticipant,
    /// Topics whose types the participant has asked for. The first explanation asks, and a later one has the answer.
    asked_topics: HashSet<String>,
    socket_drops: DropsSinceStart,
    pairs: Vec<PairRow>,
    explained: Option<Instant>,
}

impl SystemObserver {
    pub(crate) fn new(participant: DomainParticipant) -> Self {
        Self {
            participant,
            asked_topics: HashSet::new(),
            socket_drops: DropsSinceStart::default(),
            pairs: Vec::new(),
            explained: None,
        }
    }

    /// Returns the present state.
    pub(crate) fn snapshot(
        &mut self,
        view: &DomainView,
        served: &ServedTopics,
        clients: &HashMap<u64, (SocketAddr, Arc<Outbox>)>,
        collector_problem: Option<String>,
    ) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.problems.extend(collector_problem);
        let figures: HashMap<&str, &TopicFigures> = served.iter().map(|(name, topic)| (name, &topic.figures)).collect();
        let topics = view.topics();
        for (name, topic) in &topics {
            let figures = figures.get(name).copied().cloned().unwrap_or_default();
            if figures.lost > 0 {
                snapshot.problems.push(format!("topic {name}: {}", figures.loss_text));
            }
            let endpoints = EndpointRow::all_of(topic, view);
            snapshot.topics.push(TopicRow { topic: (*name).to_owned(), types: topic.type_names(), endpoints, figures });
        }
        self.add_participants(view, &mut snapshot);
        if self.explained.is_none_or(|last| last.elapsed() >= EXPLANATION_TIME) {
            self.explained = Some(Instant::now());
            self.explain(topics.keys().copied(), view);
        }
        snapshot.problems.extend(self.pairs.iter().map(|pair| pair.text.clone()));
        snapshot.problems.extend(served.problems().map(|(topic, reason)| format!("topic {topic}: {reason}")));
        snapshot.pairs = self.pairs.iter().take(ITEMS_MAX).cloned().collect();
        for (address, outbox) in clients.values() {
            let (sent, dropped) = outbox.counts();
            snapshot.clients.push(ClientRow { address: address.to_string(), sent, dropped });
        }
        snapshot.problem_count = snapshot.problems.len();
        snapshot.problems.truncate(ITEMS_MAX);
        snapshot
    }

    fn explain<'t>(&mut self, topics: impl Iterator<Item = &'t str>, view: &DomainView) {
        self.pairs.clear();
        let mut asked = HashSet::new();
        for topic in topics {
            asked.insert(topic.to_owned());
            let reports = self.participant.explain(topic);
            if !self.asked_topics.contains(topic) {
                continue;
            }
            for report in why::problem_pairs(reports, view) {
                self.pairs.push(PairRow {
                    topic: topic.to_owned(),
                    endpoints: [report.local.guid.to_string(), report.remote.guid.to_string()],
                    text: report.to_string(),
                    report: why::report_json(&report),
                });
            }
        }
        self.asked_topics = asked;
    }

    fn add_participants(&mut self, view: &DomainView, snapshot: &mut Snapshot) {
        let drops = self.socket_drops.read(view);
        for found in view.participants() {
            let socket_dropped = drops.get(&found.key).copied();
            let participant = view.participant_name(found.key);
            if let Some(dropped) = socket_dropped
                && dropped > 0
            {
                let problem = format!("participant {participant}: its sockets dropped {dropped} datagrams");
                snapshot.problems.push(problem);
            }
            let (writers, readers) = view.endpoint_counts(found.key);
            let (guid, vendor) = (found.key.to_string(), view.vendor(found.key));
            snapshot.participants.push(ParticipantRow { guid, participant, vendor, writers, readers, socket_dropped });
        }
    }
}

impl Snapshot {
    /// Returns the figures of each topic.
    pub(super) fn topic_figures(&self) -> impl Iterator<Item = (&str, &TopicFigures)> {
        self.topics.iter().map(|row| (row.topic.as_str(), &row.figures))
    }

    /// Returns GUID, name and dropped datagrams of each participant whose sockets belong to this host.
    pub(super) fn socket_drops(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let rows = self.participants.iter();
        rows.filter_map(|row| Some((row.guid.as_str(), row.participant.as_str(), row.socket_dropped?)))
    }

    pub(super) const fn problem_count(&self) -> usize {
        self.problem_count
    }
}
