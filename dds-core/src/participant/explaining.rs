//! Reports on the matches of local endpoints, and texts about them for the log.

use crate::actor::Effects;
use crate::driver::Carrier;
use crate::infrastructure::Missing;
use crate::introspection::{EndpointQos, Explainer, MatchReport};
use crate::participant::ParticipantHandle;
use crate::qos::Durability;
use dds_rtps::discovery::data::{EndpointData, ParticipantData};
use dds_rtps::participant::Participant;
use dds_rtps::types::{Guid, GuidPrefix};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The most counterparts that one line of the log names.
const NAMED_MAX: usize = 3;

/// The most endpoints whose types a report requests.
const TYPES_REQUESTED_MAX: usize = 64;

impl ParticipantHandle {
    /// Returns a report for each pair of known endpoints of `topic`.
    ///
    /// It asks the peers for unknown types, so that a later report compares them.
    pub(crate) fn explain(&self, topic: &str) -> Vec<MatchReport> {
        // Before the reports: a description that is here already shows a wrong member.
        self.request_types(topic);
        self.completed(self.discovery().know(|rtps| Explainer { rtps }.topic(topic)))
    }

    /// Returns a report for each selected local endpoint and each of its possible counterparts.
    pub(super) fn reports(&self, is_meant: impl Fn(&EndpointData) -> bool) -> Vec<MatchReport> {
        self.completed(self.discovery().know(|rtps| Explainer { rtps }.all(is_meant)))
    }

    /// Requests the types of the remote endpoints of a topic.
    fn request_types(&self, topic: &str) {
        Effects::scope(|effects| {
            // A closed participant has nothing to explain.
            let _ = self.discovery().cell().with(effects, |actor, _| {
                let matching = actor.rtps().matching();
                let mut endpoints = Vec::new();
                for writer in matching.writers_of(topic) {
                    if !writer.is_local {
                        endpoints.push(writer.data.endpoint.guid);
                    }
                }
                for reader in matching.readers_of(topic) {
                    if !reader.is_local {
                        endpoints.push(reader.data.endpoint.guid);
                    }
                }
                // Each request is a datagram at once.
                endpoints.truncate(TYPES_REQUESTED_MAX);
                for endpoint in endpoints {
                    actor.change(|participant, now| participant.request_type(now, endpoint));
                }
            });
            // The request may reveal a participant that does not describe its types. Its endpoints then match by name.
            self.carry_out_matches(effects);
        });
    }

    /// Adds to reports what discovery does not know.
    fn completed(&self, mut reports: Vec<MatchReport>) -> Vec<MatchReport> {
        note_carriers(self, &mut reports);
        note_slow_readers(self, &mut reports);
        note_missing_service(self, &mut reports);
        reports
    }

    /// Returns a text on participants and datagrams that protection kept apart. Empty if there are none.
    pub(super) fn refused_report(&self) -> String {
        let report = self.core.config().transform().explain();
        if !report.is_empty() {
            return report;
        }
        let without_key = self.reception().without_key();
        if without_key > 0 {
            return format!(
                "{without_key} protected submessages of other participants were skipped, because this participant has \
                 no key: set DDS_PRE_SHARED_KEY (feature `security`) or credentials (feature `security-pki`)"
            );
        }
        let has_identity = self.core.config().peer_security().is_some();
        match self.discovery().know(silent_with_identity) {
            count @ 1.. if !has_identity => format!(
                "{count} of the participants here have an identity and hide their endpoints from this one, which has \
                 none: set credentials (feature `security-pki`)"
            ),
            _ => String::new(),
        }
    }

    /// Returns why a local endpoint has no match.
    pub(super) fn explain_unmatched(&self, guid: Guid) -> Missing {
        let reports = self.reports(|endpoint| endpoint.guid == guid);
        if let Some(report) = reports.iter().find(|report| !report.is_match()) {
            return Missing::Match { report: report.to_string().into() };
        }
        match (reports.len(), self.discovery().discovered_participants().len()) {
            (endpoints @ 1.., _) => Missing::Completion { endpoints },
            // No participant at all: refused datagrams are then the likely cause.
            (0, 0) => match self.refused_report() {
                report if report.is_empty() => self.core.missing_participants(),
                report => Missing::Protection { report: report.into() },
            },
            (0, participants) => Missing::Endpoint { participants },
        }
    }

    /// Returns a text for the log that explains why an endpoint still waits, and the next step.
    pub(super) fn explain_wait(&self, guid: Guid) -> String {
        if self.core.is_closed() {
            return "the participant is closed".to_owned();
        }
        let reports = self.reports(|endpoint| endpoint.guid == guid);
        let mut apart = Vec::new();
        for report in &reports {
            if !report.is_match() {
                apart.push(report);
            }
        }
        if reports.is_empty() {
            let known = self.discovery().discovered_participants().len();
            let report = self.refused_report();
            let separator = if report.is_empty() { "" } else { "; " };
            if known == 0 {
                let missing = self.core.missing_participants();
                return format!("{missing}; {}{separator}{report}", missing.next_step());
            }
            return format!(
                "no endpoint with this topic was found among {known} known participants; check that the peer runs, \
                 uses the same topic name and domain, and is reachable{separator}{report}"
            );
        }
        let mut text = format!("{} of {} found endpoints match", reports.len() - apart.len(), reports.len());
        // A log line with hundreds of endpoints helps no user.
        for report in apart.into_iter().take(NAMED_MAX) {
            // Writing to a string does not fail.
            let _ = write!(text, "; {report}");
        }
        text
    }
}

/// Adds how samples of local endpoints are carried, which only the network knows.
fn note_carriers(participant: &ParticipantHandle, reports: &mut [MatchReport]) {
    for report in own_matches(reports) {
        match participant.core.network().carrier(report.remote.guid.prefix) {
            Some(Carrier::SharedMemory) => report.shared_memory = true,
            Some(Carrier::Udp { reason }) => report.not_shared = Some(reason),
            None => {}
        }
    }
}

/// Adds the lag of demoted readers, which only the writers know.
fn note_slow_readers(participant: &ParticipantHandle, reports: &mut [MatchReport]) {
    for report in own_matches(reports) {
        // The local endpoint may be a reader.
        let Some(cell) = participant.reception().routes().writer(report.local.guid.entity_id) else { continue };
        let reader = report.remote.guid;
        let lag = cell.visit(|actor, _| actor.rtps().demoted_readers().find(|lag| lag.reader == reader));
        // A closed writer has no readers.
        if let Ok(Some(lag)) = lag {
            report.too_slow = Some(lag.samples);
        }
    }
}

/// Marks matches that need a durability service if none is known.
fn note_missing_service(participant: &ParticipantHandle, reports: &mut [MatchReport]) {
    if participant.core.config().is_durability_service() {
        return;
    }
    // Discovery is visited once, and only if a report asks for a service.
    let mut is_missing = None;
    for report in own_matches(reports) {
        let asked = match &report.local.qos {
            EndpointQos::Writer(qos) => qos.durability,
            EndpointQos::Reader(qos) => qos.durability,
        };
        if asked > Durability::TransientLocal {
            let look = || participant.discovery().durability_services().is_empty();
            report.without_service = *is_missing.get_or_insert_with(look);
        }
    }
}

/// Counts participants with an identity whose endpoints are unknown. Those with identities keep them from others.
fn silent_with_identity(rtps: &Participant) -> usize {
    let matching = rtps.matching();
    let speaking: BTreeSet<GuidPrefix> = matching
        .writers()
        .map(|writer| writer.data.endpoint.guid.prefix)
        .chain(matching.readers().map(|reader| reader.data.endpoint.guid.prefix))
        .collect();
    let has_identity = |data: &ParticipantData| data.security.as_ref().is_some_and(|known| known.identity.is_some());
    rtps.participants().filter(|data| has_identity(data) && !speaking.contains(&data.prefix)).count()
}

/// The reports of matches of endpoints of this participant.
fn own_matches(reports: &mut [MatchReport]) -> impl Iterator<Item = &mut MatchReport> {
    reports.iter_mut().filter(|report| report.local.is_own && report.is_match())
}
