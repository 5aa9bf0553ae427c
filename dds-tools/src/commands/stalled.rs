//! Endpoints that match and still do not work: writers without a sign of life, and readers that take late.

use super::why::TopicProblem;
use crate::domain_view::DomainView;
use crate::error::ToolError;
use crate::latencies::{LatencyWatch, RecentTimes};
use crate::stop::Stop;
use crate::topic_reader::TopicReader;
use dds_core::qos::LivelinessKind;
use dds_core::stats::LatencyKind;
use dds_core::status::LivelinessChangedStatus;
use dds_core::{DomainParticipant, Guid, InstanceHandle};
use std::collections::HashSet;
use std::time::Duration;

/// Longest lease that the program waits for.
const LEASE_MAX: Duration = Duration::from_secs(3);
/// Time beyond the lease for the match, and for an assertion on its way.
const LEASE_SLACK: Duration = Duration::from_millis(500);
/// Time between two looks at the liveliness of the writers.
const LIVELINESS_LOOK: Duration = Duration::from_millis(20);
/// A reader is slow if half of its samples wait longer than this.
const SLOW_TAKE: Duration = Duration::from_secs(1);
/// Time for a second report: participants publish one each second that has new times.
const REPORT_WAIT: Duration = Duration::from_millis(1200);

/// Writers that are silent, by the changes of their liveliness.
///
/// A status names only the writer of its last change. So each look finds one writer, and none if other changes of the
/// same interval hide it.
#[derive(Debug, Default)]
struct SilentWriters(HashSet<InstanceHandle>);

impl SilentWriters {
    fn note(&mut self, status: LivelinessChangedStatus) {
        let writer = status.last_publication_handle;
        // A match or an end in the same interval makes the counts differ, and the last change may be that one.
        if status.not_alive_count_change > 0 && status.alive_count_change == -status.not_alive_count_change {
            self.0.insert(writer);
        } else if status.alive_count_change > 0 || status.not_alive_count_change < 0 {
            self.0.remove(&writer);
        }
    }
}

/// Finds writers with a lease that do not assert their liveliness. Waits for the longest lease, if there is one.
///
/// Each named writer is silent. Of writers that become silent within 20 ms, the result may lack some.
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
    let end = stop.after(Some(wait));
    let mut silent = SilentWriters::default();
    while !watched.is_empty() && !end.is_due() {
        end.sleep(LIVELINESS_LOOK);
        watched.iter().flat_map(|(_, _, reader)| reader.liveliness_changes()).for_each(|status| silent.note(status));
    }
    let mut problems = Vec::new();
    for (topic, ..) in &watched {
        for writer in view.endpoints_of(topic).writers {
            let is_automatic = writer.qos.liveliness.kind == LivelinessKind::Automatic;
            if !is_automatic && silent.0.contains(&InstanceHandle::from(writer.key)) {
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

#[cfg(test)]
mod tests {
    use super::SilentWriters;
    use dds_core::status::LivelinessChangedStatus;
    use dds_core::{Guid, InstanceHandle};

    /// A status with the changes of both counts, and the writer of the last change.
    fn status(alive: i32, not_alive: i32, writer: InstanceHandle) -> LivelinessChangedStatus {
        let mut status = LivelinessChangedStatus::default();
        status.alive_count_change = alive;
        status.not_alive_count_change = not_alive;
        status.last_publication_handle = writer;
        status
    }

    #[test]
    fn change_of_another_writer_leaves_the_silent_one() {
        let [hung, other] = [[1; 16], [2; 16]].map(|bytes| InstanceHandle::from(Guid::from_bytes(bytes)));
        let mut silent = SilentWriters::default();
        silent.note(status(2, 0, other));
        silent.note(status(-1, 1, hung));
        // The other writer becomes silent, and returns.
        silent.note(status(-1, 1, other));
        assert!(silent.0.contains(&other));
        silent.note(status(1, -1, other));
        silent.note(status(0, 0, other));
        assert_eq!(silent.0.iter().collect::<Vec<_>>(), [&hung]);
        // The silent writer leaves.
        silent.note(status(0, -1, hung));
        assert!(silent.0.is_empty());
        // A writer becomes silent, and the other one matches within one look.
        silent.note(status(0, 1, other));
        assert!(silent.0.is_empty());
    }
}
