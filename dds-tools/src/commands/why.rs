//! `dds why`: the pairs of endpoints that do not match, with every reason.

use super::text::write_json;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::WhyOptions;
use crate::stop::Stop;
use dds_core::DomainParticipant;
use dds_core::matching::MatchReport;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Prints each pair that does not match, with the reasons and the next step.
///
/// # Errors
/// [`ToolError::NoTopic`] if the requested topic has no endpoint.
pub fn run(options: &WhyOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let view = watch.settle(options.discovery.wait, stop)?;
    let topics: Vec<String> = match &options.topic {
        Some(topic) => {
            view.topic(topic)?;
            vec![topic.clone()]
        }
        None => view.topics().into_keys().map(str::to_owned).collect(),
    };
    let found = unmatched(&participant, &topics, stop);
    for (topic, report) in &found {
        if options.output.json {
            write_json(output, &report_json(report))?;
        } else {
            writeln!(output, "topic {topic}\n{report}\n").map_err(ToolError::output)?;
        }
    }
    if topics.is_empty() && !options.output.json {
        writeln!(output, "no topic was found").map_err(ToolError::output)?;
    } else if found.is_empty() && !options.output.json {
        writeln!(output, "every writer matches every reader (topics: {})", topics.len()).map_err(ToolError::output)?;
    }
    output.flush().map_err(ToolError::output)
}

/// Returns the reports of all pairs that do not match, each with its topic.
pub(super) fn unmatched<'t>(
    participant: &DomainParticipant,
    topics: &'t [String],
    stop: &Stop,
) -> Vec<(&'t str, MatchReport)> {
    // The types of remote endpoints arrive on demand. The first explanation asks for them.
    for topic in topics {
        let _ = participant.explain(topic);
    }
    if !topics.is_empty() {
        stop.sleep(Duration::from_millis(300));
    }
    let mut found = Vec::new();
    for topic in topics {
        let reports = participant.explain(topic).into_iter().filter(is_unmatched);
        found.extend(reports.map(|report| (topic.as_str(), report)));
    }
    found
}

/// Returns whether the pair of a report does not match.
pub(super) fn is_unmatched(report: &MatchReport) -> bool {
    !report.is_match()
}

/// Returns a report as JSON.
pub(super) fn report_json(report: &MatchReport) -> serde_json::Value {
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
