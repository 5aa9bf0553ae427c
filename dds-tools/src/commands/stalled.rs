//! Endpoints that match and still do not work: writers without a sign of life, and readers that take late.

use super::why::TopicProblem;
use crate::domain_view::DomainView;
use crate::latencies::LatencyWatch;
use crate::stop::Stop;
use crate::topic_reader::TopicReader;
use dds_core::qos::LivelinessKind;
use dds_core::stats::LatencyKind;
use dds_core::{DomainParticipant, Guid, InstanceHandle};
use std::time::Duration;

/// Longest lease that the program waits for.
const LEASE_MAX: Duration = Duration::from_secs(3);
/// Time beyond the lease for the match, and for an assertion on its way.
const LEASE_SLACK: Duration = Duration::from_millis(500);
/// A reader is slow if half of its samples wait longer than this.
const SLOW_TAKE: Duration = Duration::from_secs(1);

/// Finds writers with a lease that do not assert their liveliness. Waits for the longest lease, if there is one.
pub(super) fn silent_writers(
    participant: &DomainParticipant,
    view: &DomainView,
    topics: &[String],
    stop: &Stop,
) -> Vec<TopicProblem> {
    let mut watched = Vec::new();
    for topic in topics {
        let found = view.endpoints_of(topic);
        // The participants of automatic writers assert for them, and leave the domain without that.
        let leases = found.writers.iter().filter(|writer| writer.qos.liveliness.kind != LivelinessKind::Automatic);
        let leases = leases.filter_map(|writer| writer.qos.liveliness.lease_duration.to_std());
        let longest = leases.filter(|lease| *lease <= LEASE_MAX).max();
        let Some(longest) = longest else { continue };
        // Writers that no reader of the program matches have a report of their own.
        if let Ok(reader) = TopicReader::new(participant, topic, &found, None) {
            watched.push((topic, longest, reader));
        }
    }
    stop.sleep(watched.iter().map(|(_, longest, _)| *longest + LEASE_SLACK).max().unwrap_or_default());
    let mut problems = Vec::new();
    for (topic, _, reader) in &watched {
        let silent = reader.silent_writers();
        for writer in view.endpoints_of(topic).writers {
            if silent.contains(&InstanceHandle::from(writer.key)) {
                let (kind, lease) = (writer.qos.liveliness.kind, writer.qos.liveliness.lease_duration);
                problems.push(TopicProblem {
                    topic: (*topic).clone(),
                    reason: format!(
                        "writer of {}: no sign of life within its lease (LIVELINESS {kind:?} {lease})",
                        view.participant_name(writer.participant_key)
                    ),
                    next_step: "let its program write or call `assert_liveliness` more often than the lease; look \
                                whether it hangs"
                        .to_owned(),
                });
            }
        }
    }
    problems
}

/// Finds readers that take their samples late, of participants that publish their latencies.
pub(super) fn slow_readers(latencies: &LatencyWatch, view: &DomainView, topics: &[String]) -> Vec<TopicProblem> {
    let mut problems = Vec::new();
    for report in latencies.reports() {
        let median = Duration::from_nanos(report.p50_ns);
        let is_slow = report.kind == LatencyKind::ReceptionToTake && median > SLOW_TAKE;
        if !is_slow || !topics.contains(&report.topic_name) {
            continue;
        }
        problems.push(TopicProblem {
            topic: report.topic_name.clone(),
            reason: format!(
                "reader of {}: takes its samples late (half of them after {:.1} s or more)",
                view.reader_participant(Guid::from_bytes(report.endpoint)),
                median.as_secs_f64()
            ),
            next_step: "let its program take more often, or do its work on another thread; `dds top` shows the times"
                .to_owned(),
        });
    }
    problems
}
