//! Endpoints that match and still do not work: writers without a sign of life, and readers that take late.

use super::why::TopicProblem;
use crate::domain_view::DomainView;
use crate::error::ToolError;
use crate::latencies::{LatencyWatch, RecentTimes};
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
/// Time for a second report: participants publish one each second that has new times.
const REPORT_WAIT: Duration = Duration::from_millis(1200);

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
    let wait = watched.iter().map(|(_, longest, _)| *longest + LEASE_SLACK).max().unwrap_or_default();
    stop.sleep(wait);
    let mut problems = Vec::new();
    for (topic, _, reader) in &watched {
        for writer in view.endpoints_of(topic).writers {
            let is_automatic = writer.qos.liveliness.kind == LivelinessKind::Automatic;
            if !is_automatic && reader.is_silent(InstanceHandle::from(writer.key)) {
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

/// Returns how many samples a reader of the topic has received. 0 if no participant publishes its latencies.
pub(super) fn received_before(latencies: &LatencyWatch, topic: &str) -> u64 {
    let reports = latencies.reports().into_iter();
    let of_topic = reports.filter(|it| it.kind == LatencyKind::WriteToReception && it.topic_name == topic);
    of_topic.map(|report| report.count).max().unwrap_or(0)
}

/// Returns whether a reader of the topics takes late.
fn is_slow(times: &RecentTimes<'_>, topics: &[String]) -> bool {
    let is_take = times.report.kind == LatencyKind::ReceptionToTake;
    is_take && Duration::from_nanos(times.figures.p50_ns) > SLOW_TAKE && topics.contains(&times.report.topic_name)
}

/// Finds readers that take their samples late, of participants that publish their latencies.
///
/// The times between the last two reports decide. A reader without new times has all of its times.
pub(super) fn slow_readers(
    latencies: &mut LatencyWatch,
    view: &DomainView,
    topics: &[String],
    stop: &Stop,
) -> Result<Vec<TopicProblem>, ToolError> {
    latencies.update()?;
    if latencies.recent().iter().any(|times| times.is_first && is_slow(times, topics)) {
        stop.sleep(REPORT_WAIT);
        latencies.update()?;
    }
    let mut problems = Vec::new();
    for times in latencies.recent() {
        if !is_slow(&times, topics) {
            continue;
        }
        let (report, median) = (times.report, Duration::from_nanos(times.figures.p50_ns));
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
    Ok(problems)
}
