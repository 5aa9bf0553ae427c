//! Creates reports on why endpoints match or do not match.

use crate::introspection::{EndpointInfo, MatchReport, Obstacle};
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::discovery::{DiscoveredReader, DiscoveredWriter, MatchResult};
use dds_rtps::participant::Participant;
use dds_rtps::types::similar::are_similar;
use dds_rtps::types::{Guid, Locator};
use dds_rtps::xtypes::TypeDifference;

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
        for writer in matching.writers() {
            if writer.is_local && is_meant(&writer.data.endpoint) {
                self.explain_writer(writer, &mut reports);
            }
        }
        // A pair of two local endpoints appears twice, once from each side.
        for reader in matching.readers() {
            if reader.is_local && is_meant(&reader.data.endpoint) {
                self.explain_reader(reader, &mut reports);
            }
        }
        reports
    }

    /// Returns a report for each pair of a writer and a reader of `topic`. Pairs with a local endpoint come first.
    pub(crate) fn topic(&self, topic: &str) -> Vec<MatchReport> {
        let mut reports = self.all(|endpoint| endpoint.topic_name == topic);
        let (mut left, matching) = (REMOTE_PAIRS_MAX, self.rtps.matching());
        // Only the topic of this call asks for them: a domain has thousands of such pairs.
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
        obstacles.retain(|obstacle| {
            !matches!(obstacle, Obstacle::Unreachable { .. } | Obstacle::NoAnswer { .. } | Obstacle::TypePending)
        });
        let refusal = self.rtps.matching().refusal_of_others(writer, reader);
        obstacles.extend(refusal.map(|reason| Obstacle::Security { reason }));
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
        // Not a local writer, so a local reader.
        let (reader, writer) = (matching.reader(local)?, matching.writer(other)?);
        let obstacles = self.obstacles(writer, reader, true);
        Some(MatchReport::new(self.reader_info(reader), self.writer_info(writer), obstacles))
    }

    fn explain_writer(&self, writer: &DiscoveredWriter, reports: &mut Vec<MatchReport>) {
        let topic = &writer.data.endpoint.topic_name;
        let local = self.writer_info(writer);
        let before = reports.len();
        for reader in self.rtps.matching().readers_of(topic) {
            let obstacles = self.obstacles(writer, reader, false);
            reports.push(MatchReport::new(local.clone(), self.reader_info(reader), obstacles));
        }
        for reader in self.rtps.ignored_readers() {
            if reader.data.endpoint.topic_name == *topic {
                reports.push(MatchReport::new(local.clone(), self.reader_info(reader), vec![Obstacle::Ignored]));
            }
        }
        // Endpoints with a similar topic name are only of interest if no endpoint has the same name.
        if reports.len() > before {
            return;
        }
        for reader in self.rtps.matching().readers() {
            if are_similar(&reader.data.endpoint.topic_name, topic) {
                reports.push(name_only(local.clone(), self.reader_info(reader)));
            }
            if reports.len() == before + NAMED_MAX {
                return;
            }
        }
    }

    fn explain_reader(&self, reader: &DiscoveredReader, reports: &mut Vec<MatchReport>) {
        let topic = &reader.data.endpoint.topic_name;
        let local = self.reader_info(reader);
        let before = reports.len();
        for writer in self.rtps.matching().writers_of(topic) {
            let obstacles = self.obstacles(writer, reader, true);
            reports.push(MatchReport::new(local.clone(), self.writer_info(writer), obstacles));
        }
        for writer in self.rtps.ignored_writers() {
            if writer.data.endpoint.topic_name == *topic {
                reports.push(MatchReport::new(local.clone(), self.writer_info(writer), vec![Obstacle::Ignored]));
            }
        }
        // As for a writer: similar names are only of interest if there is no exact one.
        if reports.len() > before {
            return;
        }
        for writer in self.rtps.matching().writers() {
            if are_similar(&writer.data.endpoint.topic_name, topic) {
                reports.push(name_only(local.clone(), self.writer_info(writer)));
            }
            if reports.len() == before + NAMED_MAX {
                return;
            }
        }
    }

    /// Returns all obstacles between a writer and a reader, in the order to solve them.
    fn obstacles(&self, writer: &DiscoveredWriter, reader: &DiscoveredReader, reader_is_ours: bool) -> Vec<Obstacle> {
        let differences = self.rtps.matching().differences(writer, reader);
        let (w, r) = (&writer.data.endpoint, &reader.data.endpoint);
        // The text of a report speaks of "here" and "there".
        let (ours, theirs) = if reader_is_ours { (r, w) } else { (w, r) };
        let mut obstacles = Vec::new();
        // A wrong type makes the policies pointless, and a wrong policy the addresses.
        if differences.type_name {
            obstacles.push(Obstacle::TypeName { ours: ours.type_name.clone(), theirs: theirs.type_name.clone() });
        }
        if let Some(difference) = &differences.type_difference {
            obstacles.push(Obstacle::Type {
                writer: w.type_name.clone(),
                reader: r.type_name.clone(),
                difference: TypeDifference::clone(difference),
            });
        }
        if differences.type_pending {
            obstacles.push(Obstacle::TypePending);
        }
        if differences.partition {
            obstacles.push(Obstacle::Partition { ours: ours.partition.clone(), theirs: theirs.partition.clone() });
        }
        if !differences.policies.is_empty() {
            let (writer, reader) = (self.writer_info(writer), self.reader_info(reader));
            for &policy in &differences.policies {
                obstacles.push(Obstacle::of_policy(policy, &writer, &reader));
            }
        }
        if differences.unreachable {
            obstacles.push(Obstacle::Unreachable { locators: self.announced_locators(theirs) });
        } else if differences.unverified && obstacles.is_empty() {
            // Each peer is unverified at first, so this is news only if nothing else hinders the match.
            let route = self.rtps.route(theirs.guid.prefix);
            obstacles
                .push(Obstacle::NoAnswer { locators: route.map(|route| route.unicast.to_vec()).unwrap_or_default() });
        }
        match self.rtps.matching().result(w.guid, r.guid) {
            Some(MatchResult::KeysPending) => obstacles.push(Obstacle::KeysPending),
            Some(MatchResult::Refused(reason)) => obstacles.push(Obstacle::Security { reason: reason.clone() }),
            _ => {}
        }
        obstacles
    }

    /// Returns the locators that an endpoint announces, or else the default locators of its participant.
    fn announced_locators(&self, endpoint: &EndpointData) -> Vec<Locator> {
        let own = [&endpoint.unicast_locators[..], &endpoint.multicast_locators[..]].concat();
        match self.rtps.participant(endpoint.guid.prefix) {
            // An endpoint without locators of its own uses those of its participant (RTPS 2.5, 8.5.5).
            Some(participant) if own.is_empty() => {
                [&participant.default_unicast[..], &participant.default_multicast[..]].concat()
            }
            _ => own,
        }
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
    // The report holds the name twice, because it may outlive its endpoint.
    let similar = remote.topic_name.clone();
    MatchReport::new(local, remote, vec![Obstacle::TopicNameOnly { similar }])
}
