//! Reports on the matches of local endpoints, and texts about them for the log.

use crate::actor::Effects;
use crate::introspection::{Explainer, MatchReport, Verdict};
use crate::participant::ParticipantHandle;
use crate::qos::Durability;
use dds_rtps::discovery::data::EndpointData;
use dds_rtps::types::Guid;
use std::fmt::Write;

/// The most counterparts that one line of the log names.
const NAMED_MAX: usize = 3;

impl ParticipantHandle {
    /// A report for each endpoint here that is of `topic`, and each that could be its counterpart.
    pub(crate) fn explain(&self, topic: &str) -> Vec<MatchReport> {
        self.reports(|endpoint| endpoint.topic_name == topic)
    }

    /// A report for each endpoint here that is meant, and each that could be its counterpart.
    pub(super) fn reports(&self, is_meant: impl Fn(&EndpointData) -> bool) -> Vec<MatchReport> {
        let mut reports = self.discovery().know(|rtps| Explainer { rtps }.all(is_meant));
        self.note_slow_readers(&mut reports);
        self.note_missing_service(&mut reports);
        reports
    }

    /// Says of the readers that our writers do not wait for how far they are behind. Only the writers know.
    fn note_slow_readers(&self, reports: &mut [MatchReport]) {
        for report in reports.iter_mut().filter(|report| report.verdict == Verdict::Matched) {
            let Some(cell) = self.reception().routes().writer(report.local.guid.entity_id) else { continue };
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
        if asking.peek().is_none()
            || self.core.config().is_durability_service()
            || !self.discovery().durability_services().is_empty()
        {
            return;
        }
        asking.for_each(|report| report.without_service = true);
    }

    /// What is known of the counterparts of the endpoint `guid`, and what to do about it, for a line of the log.
    pub(super) fn explain_wait(&self, guid: Guid) -> String {
        if self.core.is_closed() {
            return "the participant has been closed".to_owned();
        }
        let reports = self.reports(|endpoint| endpoint.guid == guid);
        let apart: Vec<_> = reports.iter().filter(|report| report.verdict != Verdict::Matched).collect();
        if reports.is_empty() {
            let known = self.discovery().discovered_participants().len();
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
