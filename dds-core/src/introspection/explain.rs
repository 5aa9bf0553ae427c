//! Creates reports on why endpoints match or do not match.

use crate::introspection::{EndpointInfo, MatchReport, Obstacle};
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::discovery::{DiscoveredReader, DiscoveredWriter};
use dds_rtps::participant::Participant;
use dds_rtps::types::similar::are_similar;
use dds_rtps::types::{Guid, Locator};
use dds_rtps::xtypes::TypeDifference;
use std::sync::Arc;

/// Most topics with a similar name that are reported for an endpoint.
const NAMED_MAX: usize = 3;

/// Most pairs of endpoints of other participants that are reported for a topic.
const REMOTE_PAIRS_MAX: usize = 1024;

/// Creates match reports from the state of discovery.
pub(crate) struct Explainer<'a> {
    pub(crate) rtps: &'a Participant,
}

impl Explainer<'_> {
    pub(crate) fn all(&self, is_meant: impl Fn(&EndpointData) -> bool) -> Vec<MatchReport> {
        let matching = self.rtps.matching();
        let mut reports = Vec::new();
        for writer in matching.writers().filter(|writer| writer.is_local && is_meant(&writer.data.endpoint)) {
            self.explain_writer(writer, &mut reports);
        }
        for reader in matching.readers().filter(|reader| reader.is_local && is_meant(&reader.data.endpoint)) {
            self.explain_reader(reader, &mut reports);
        }
        reports
    }

    /// Returns a report for each pair of a writer and a reader of `topic`. Pairs with a local endpoint come first.
    pub(crate) fn topic(&self, topic: &str) -> Vec<MatchReport> {
        let mut reports = self.all(|endpoint| endpoint.topic_name == topic);
        let (mut left, matching) = (REMOTE_PAIRS_MAX, self.rtps.matching());
        for writer in matching.writers_of(topic).filter(|writer| !writer.is_local) {
            for reader in matching.readers_of(topic).filter(|reader| !reader.is_local).take(left) {
                let obstacles = self.obstacles_between_others(writer, reader);
                reports.push(MatchReport::new(self.writer_info(writer), self.reader_info(reader), obstacles));
                left -= 1;
            }
        }
        reports
    }

    /// Returns the obstacles between endpoints of other participants.
    fn obstacles_between_others(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader) -> Vec<Obstacle> {
        let mut obstacles = self.obstacles(writer, reader, false);
        // Their ways to each other, and types that have not arrived yet, are unknown here.
        obstacles.retain(|obstacle| !matches!(obstacle, Obstacle::Unreachable { .. } | Obstacle::TypePending));
        obstacles
    }

    /// Returns a report on a local endpoint and another one. `None` if one of them is not known.
    pub(crate) fn pair(&self, local: Guid, other: Guid) -> Option<MatchReport> {
        let matching = self.rtps.matching();
        if let Some(writer) = matching.writer(local) {
            let reader = matching.reader(other)?;
            let obstacles = self.obstacles(writer, reader, false);
            return Some(MatchReport::new(self.writer_info(writer), self.reader_info(reader), obstacles));
        }
        let (reader, writer) = (matching.reader(local)?, matching.writer(other)?);
        let obstacles = self.obstacles(writer, reader, true);
        Some(MatchReport::new(self.reader_info(reader), self.writer_info(writer), obstacles))
    }

    fn explain_writer(&self, writer: &DiscoveredWriter, reports: &mut Vec<MatchReport>) {
        let topic = &writer.data.endpoint.topic_name;
        let local = || self.writer_info(writer);
        let of_topic = |reader: &&Arc<DiscoveredReader>| reader.data.endpoint.topic_name == *topic;
        // Endpoints with a similar topic name are only of interest if no endpoint has the same name.
        let before = reports.len();
        for reader in self.rtps.matching().readers_of(topic) {
            reports.push(MatchReport::new(local(), self.reader_info(reader), self.obstacles(writer, reader, false)));
        }
        for reader in self.rtps.ignored_readers().filter(of_topic) {
            reports.push(MatchReport::new(local(), self.reader_info(reader), vec![Obstacle::Ignored]));
        }
        if reports.len() == before {
            let similar = self.rtps.matching().readers();
            let similar = similar.filter(|reader| are_similar(&reader.data.endpoint.topic_name, topic)).take(NAMED_MAX);
            reports.extend(similar.map(|reader| name_only(local(), self.reader_info(reader))));
        }
    }

    fn explain_reader(&self, reader: &DiscoveredReader, reports: &mut Vec<MatchReport>) {
        let topic = &reader.data.endpoint.topic_name;
        let local = || self.reader_info(reader);
        let of_topic = |writer: &&Arc<DiscoveredWriter>| writer.data.endpoint.topic_name == *topic;
        let before = reports.len();
        for writer in self.rtps.matching().writers_of(topic) {
            reports.push(MatchReport::new(local(), self.writer_info(writer), self.obstacles(writer, reader, true)));
        }
        for writer in self.rtps.ignored_writers().filter(of_topic) {
            reports.push(MatchReport::new(local(), self.writer_info(writer), vec![Obstacle::Ignored]));
        }
        // As for a writer: similar names are only of interest if there is no exact one.
        if reports.len() == before {
            let similar = self.rtps.matching().writers();
            let similar = similar.filter(|writer| are_similar(&writer.data.endpoint.topic_name, topic)).take(NAMED_MAX);
            reports.extend(similar.map(|writer| name_only(local(), self.writer_info(writer))));
        }
    }

    /// Returns all obstacles between a writer and a reader, in the order to solve them.
    fn obstacles(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader, reader_is_ours: bool) -> Vec<Obstacle> {
        let differences = self.rtps.matching().differences(writer, reader);
        let (w, r) = (&writer.data.endpoint, &reader.data.endpoint);
        let (ours, theirs) = if reader_is_ours { (r, w) } else { (w, r) };
        let mut obstacles = Vec::new();
        if differences.type_name {
            obstacles.push(Obstacle::TypeName { ours: ours.type_name.clone(), theirs: theirs.type_name.clone() });
        }
        if let Some(difference) = &differences.type_difference {
            obstacles.push(Obstacle::Type { difference: TypeDifference::clone(difference) });
        }
        if differences.type_pending {
            obstacles.push(Obstacle::TypePending);
        }
        if differences.partition {
            obstacles.push(Obstacle::Partition { ours: ours.partition.clone(), theirs: theirs.partition.clone() });
        }
        if !differences.policies.is_empty() {
            let (writer, reader) = (self.writer_info(writer), self.reader_info(reader));
            let of_policy = |&policy| Obstacle::of_policy(policy, &writer, &reader);
            obstacles.extend(differences.policies.iter().map(of_policy));
        }
        if differences.unreachable {
            obstacles.push(Obstacle::Unreachable { locators: self.announced_locators(theirs) });
        }
        obstacles
    }

    /// Returns the locators that an endpoint announces, or else the default locators of its participant.
    fn announced_locators(&self, endpoint: &EndpointData) -> Vec<Locator> {
        let own = endpoint.unicast_locators.iter().chain(&endpoint.multicast_locators);
        let mut locators: Vec<_> = own.copied().collect();
        // An endpoint without locators of its own uses those of its participant.
        if let Some(participant) = self.rtps.participant(endpoint.guid.prefix).filter(|_| locators.is_empty()) {
            locators.extend(participant.default_unicast.iter().chain(&participant.default_multicast));
        }
        locators
    }

    fn writer_info(&self, writer: &DiscoveredWriter) -> EndpointInfo {
        EndpointInfo::of_writer(writer, self.rtps)
    }

    fn reader_info(&self, reader: &DiscoveredReader) -> EndpointInfo {
        EndpointInfo::of_reader(reader, self.rtps)
    }
}

/// Reports an endpoint whose topic name is only similar to the local one.
fn name_only(local: EndpointInfo, remote: EndpointInfo) -> MatchReport {
    let similar = remote.topic_name.clone();
    MatchReport::new(local, remote, vec![Obstacle::TopicNameOnly { similar }])
}
