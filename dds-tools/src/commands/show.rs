//! `dds show`: the type of a topic and its endpoints.

use super::endpoint_row::EndpointRow;
use super::qos_table::QosTable;
use super::text::write_json;
use super::why;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::ShowOptions;
use crate::stop::Stop;
use crate::topic_access::discover_type;
use dds_core::matching::MatchReport;
use serde_json::{Value, json};
use std::io::Write;

/// Prints the type of a topic as IDL, its endpoints side by side, and each match.
///
/// # Errors
/// [`ToolError::NoTopic`] if the topic has no endpoint.
pub fn run(options: &ShowOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join_to_look(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let wait = options.discovery.wait;
    let ty = match discover_type(&participant, &mut watch, &options.topic, wait, stop) {
        Ok(ty) => Some(ty.to_string()),
        // The endpoints are worth a look without the type.
        Err(ToolError::NoType { .. }) => None,
        Err(error) => return Err(error),
    };
    watch.settle(wait, stop)?;
    let topic = watch.view().topic(&options.topic)?;
    let topics = std::slice::from_ref(&options.topic);
    let obstacles = why::unmatched(&participant, watch.view(), topics, stop);
    let matches: Vec<MatchReport> =
        participant.explain(&options.topic).into_iter().filter(MatchReport::is_match).collect();
    if options.output.json {
        return write_json(
            output,
            &json!({
                "topic": options.topic,
                "types": topic.type_names(),
                "idl": ty,
                "endpoints": EndpointRow::all_with_qos(&topic, watch.view()),
                "matches": matches.iter().map(match_json).collect::<Vec<_>>(),
                "unmatched": obstacles.iter().map(|(_, report)| why::report_json(report)).collect::<Vec<_>>(),
            }),
        );
    }
    let mut text = format!("topic {}\ntype {}\n", options.topic, topic.type_names().join(" "));
    match ty {
        Some(idl) => text += &format!("\n{}\n\n", idl.trim_end()),
        None => text += "no endpoint describes this type\n\n",
    }
    let table = QosTable::new(&topic);
    for (label, endpoint) in table.labels().zip(EndpointRow::all_of(&topic, watch.view())) {
        text += &format!("  {label} {endpoint}\n");
    }
    text += &format!("\n{table}\n");
    for line in table.matches(&matches) {
        text += &format!("  {line}\n");
    }
    for (_, report) in &obstacles {
        text += &format!("\n{report}\n");
    }
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(ToolError::output)
}

fn match_json(report: &MatchReport) -> Value {
    let (writer, reader) = why::pair_of(report);
    json!({ "writer": writer.guid.to_string(), "reader": reader.guid.to_string() })
}
