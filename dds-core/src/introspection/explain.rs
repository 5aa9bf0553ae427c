//! Why endpoints match or do not: reports on every pair that could.

use crate::actor::Effects;
use crate::introspection::{EndpointInfo, MatchReport, Obstacle, Verdict};
use crate::participant::ParticipantHandle;
use crate::qos::Durability;
use crate::settings::DURABILITY_SERVICE;
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::discovery::{DiscoveredReader, DiscoveredWriter};
use dds_rtps::participant::Participant;
use dds_rtps::types::similar::are_similar;
use dds_rtps::types::{Guid, Locator};
use dds_rtps::xtypes::TypeDifference;
use std::fmt::Write;
use std::sync::Arc;

/// The most counterparts that one line of the log names, and the most similar topics that are reported of an endpoint.
const NAMED_MAX: usize = 3;

impl ParticipantHandle {
    /// A report for each endpoint here that is of `topic`, and each that could be its counterpart.
    pub(crate) fn explain(&self, topic: &str) -> Vec<MatchReport> {
        self.reports(|endpoint| endpoint.topic_name == topic)
    }

    /// A report for each that could be the counterpart of the endpoint `guid`.
    pub(crate) fn explain_endpoint(&self, guid: Guid) -> Vec<MatchReport> {
        self.reports(|endpoint| endpoint.guid == guid)
    }

    fn reports(&self, is_meant: impl Fn(&EndpointData) -> bool) -> Vec<MatchReport> {
        let reports = Effects::scope(|effects| {
            self.cell().with(effects, |actor, _| Explainer { rtps: actor.rtps() }.all(is_meant))
        });
        // A closed participant knows nobody.
        let mut reports = reports.unwrap_or_default();
        self.note_slow_readers(&mut reports);
        self.note_missing_service(&mut reports);
        reports
    }

    /// Says of the readers that our writers do not wait for how far they are behind. Only the writers know.
    fn note_slow_readers(&self, reports: &mut [MatchReport]) {
        for report in reports.iter_mut().filter(|report| report.verdict == Verdict::Matched) {
            let Some(cell) = self.routes().writer(report.local.guid.entity_id) else { continue };
            let reader = report.remote.guid;
            let lag = Effects::scope(|effects| {
                cell.with(effects, |actor, _| actor.rtps().demoted_readers().find(|lag| lag.reader == reader))
            });
            // A closed writer has no readers.
            report.too_slow = lag.ok().flatten().map(|lag| lag.samples);
        }
    }

    /// Says so where more durability is asked for than writers have themselves, and nobody is there who keeps it.
    fn note_missing_service(&self, reports: &mut [MatchReport]) {
        let asks_for_one = |report: &&mut MatchReport| {
            let qos = &report.local.qos;
            let asked = qos.writer().map(|qos| qos.durability).or_else(|| qos.reader().map(|qos| qos.durability));
            report.verdict == Verdict::Matched && asked.is_some_and(|asked| asked > Durability::TransientLocal)
        };
        let mut asking = reports.iter_mut().filter(asks_for_one).peekable();
        if asking.peek().is_none() || self.config().is_durability_service() || self.knows_durability_service() {
            return;
        }
        asking.for_each(|report| report.without_service = true);
    }

    /// Whether a participant is known that is a durability service.
    fn knows_durability_service(&self) -> bool {
        let is_one = |(name, _): &(String, String)| name == DURABILITY_SERVICE;
        self.discovered_participants().iter().any(|known| known.properties.iter().any(is_one))
    }

    /// What is known of the counterparts of the endpoint `guid`, and what to do about it, for a line of the log.
    pub(crate) fn why_waiting(&self, guid: Guid) -> String {
        if self.is_closed() {
            return "the participant has been closed".to_owned();
        }
        let reports = self.explain_endpoint(guid);
        let apart: Vec<_> = reports.iter().filter(|report| report.verdict != Verdict::Matched).collect();
        if reports.is_empty() {
            let known = self.discovered_participants().len();
            return format!(
                "no counterpart with this topic has been found; {known} other participants are known. Check that the \
                 other side runs, with the same topic name and domain, and can be reached"
            );
        }
        let mut text = format!("{} of {} found counterparts match", reports.len() - apart.len(), reports.len());
        for report in apart.into_iter().take(NAMED_MAX) {
            // Writing to a string does not fail.
            let _ = write!(text, "; {report}");
        }
        text
    }
}

/// Makes reports of what discovery knows.
struct Explainer<'a> {
    rtps: &'a Participant,
}

impl Explainer<'_> {
    fn all(&self, is_meant: impl Fn(&EndpointData) -> bool) -> Vec<MatchReport> {
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

    fn explain_writer(&self, writer: &DiscoveredWriter, reports: &mut Vec<MatchReport>) {
        let topic = &writer.data.endpoint.topic_name;
        let local = || self.writer_info(writer);
        let of_topic = |reader: &&Arc<DiscoveredReader>| reader.data.endpoint.topic_name == *topic;
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
        if reports.len() == before {
            let similar = self.rtps.matching().writers();
            let similar = similar.filter(|writer| are_similar(&writer.data.endpoint.topic_name, topic)).take(NAMED_MAX);
            reports.extend(similar.map(|writer| name_only(local(), self.writer_info(writer))));
        }
    }

    /// Everything between a writer and a reader, in the order in which it is best repaired.
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

    /// The addresses that an endpoint announces, or its participant for it.
    fn announced_locators(&self, endpoint: &EndpointData) -> Vec<Locator> {
        let own = endpoint.unicast_locators.iter().chain(&endpoint.multicast_locators);
        let mut locators: Vec<_> = own.copied().collect();
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

/// A counterpart whose topic only looks like ours.
fn name_only(local: EndpointInfo, remote: EndpointInfo) -> MatchReport {
    let similar = remote.topic_name.clone();
    MatchReport::new(local, remote, vec![Obstacle::TopicNameOnly { similar }])
}
