//! `dds ls` and `dds ps`: the topics and the participants of a domain.

use super::endpoint_row::EndpointRow;
use super::text::{table, write_json, write_table};
use crate::domain_view::{DomainView, DomainWatch};
use crate::error::ToolError;
use crate::network;
use crate::options::ListOptions;
use crate::process_facts::ProcessFacts;
use crate::stop::Stop;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Prints the topics with their types and numbers of endpoints.
///
/// # Errors
/// As the participant of the command.
pub fn topics(options: &ListOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    list(options, output, stop, print_topics)
}

/// Prints the participants with their hosts, processes, vendors, addresses and numbers of endpoints.
///
/// # Errors
/// As the participant of the command.
pub fn participants(options: &ListOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    list(options, output, stop, print_participants)
}

fn list(
    options: &ListOptions,
    output: &mut dyn Write,
    stop: &Stop,
    print: fn(&ListOptions, &DomainView, &mut dyn Write) -> Result<(), ToolError>,
) -> Result<(), ToolError> {
    let participant = network::join_to_look(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    print(options, watch.settle(options.discovery.wait, stop)?, output)?;
    let stop = stop.after(options.duration);
    while options.watch && !stop.is_due() {
        stop.sleep(Duration::from_millis(200));
        if watch.update()? {
            writeln!(output).map_err(ToolError::output)?;
            print(options, watch.view(), output)?;
        }
    }
    Ok(())
}

/// Returns a text, or `None` for an empty one.
fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn is_wanted(options: &ListOptions, name: &str) -> bool {
    options.pattern.as_ref().is_none_or(|pattern| name.contains(pattern.as_str()))
}

fn print_topics(options: &ListOptions, view: &DomainView, output: &mut dyn Write) -> Result<(), ToolError> {
    let mut rows = table(&["TOPIC", "TYPE", "WRITERS", "READERS"]);
    let mut details = Vec::new();
    for (name, topic) in view.topics() {
        if !is_wanted(options, name) {
            continue;
        }
        if options.output.json {
            write_json(
                output,
                &json!({
                    "topic": name,
                    "types": topic.type_names(),
                    "endpoints": EndpointRow::all_of(&topic, view),
                }),
            )?;
            continue;
        }
        let types = topic.type_names().join(" ");
        rows.add_row([name, &types, &topic.writers.len().to_string(), &topic.readers.len().to_string()]);
        if options.long {
            details.push(format!("\n{name}"));
            details.extend(EndpointRow::all_of(&topic, view).iter().map(|row| format!("  {row}")));
        }
    }
    if options.output.json {
        return Ok(());
    }
    write_table(output, &rows)?;
    for line in details {
        writeln!(output, "{line}").map_err(ToolError::output)?;
    }
    output.flush().map_err(ToolError::output)
}

fn print_participants(options: &ListOptions, view: &DomainView, output: &mut dyn Write) -> Result<(), ToolError> {
    let mut rows = table(&["PARTICIPANT", "NAME", "HOST", "PROCESS", "VENDOR", "WRITERS", "READERS", "ADDRESSES"]);
    let mut details = Vec::new();
    for participant in view.participants() {
        if !is_wanted(options, &participant.name) {
            continue;
        }
        let (writers, readers) = view.endpoint_counts(participant.key);
        let facts = ProcessFacts::of(participant);
        let mut addresses: Vec<String> = participant.locators.iter().map(ToString::to_string).collect();
        addresses.dedup();
        if options.output.json {
            write_json(
                output,
                &json!({
                    "guid": participant.key.to_string(),
                    "name": participant.name,
                    "host": known(&facts.host),
                    "process": known(&facts.program),
                    "process_id": facts.id.parse::<u64>().ok(),
                    "vendor": view.vendor(participant.key),
                    "version": known(&participant.product_version),
                    "protocol": format!("{}.{}", participant.protocol_version.0, participant.protocol_version.1),
                    "lease": participant.lease.to_string(),
                    "writers": writers,
                    "readers": readers,
                    "locators": addresses,
                    "properties": participant.properties.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                }),
            )?;
            continue;
        }
        rows.add_row([
            participant.key.to_string(),
            participant.name.clone(),
            facts.host.clone(),
            facts.process(),
            format!("{} {}", view.vendor(participant.key), participant.product_version).trim_end().to_owned(),
            writers.to_string(),
            readers.to_string(),
            addresses.join(" "),
        ]);
        if options.long {
            details.push(format!("\n{} {}", participant.key, participant.name));
            details.push(format!("  lease: {}", participant.lease));
            details.extend(participant.properties.iter().map(|(name, value)| format!("  {name}: {value}")));
        }
    }
    if options.output.json {
        return Ok(());
    }
    write_table(output, &rows)?;
    for line in details {
        writeln!(output, "{line}").map_err(ToolError::output)?;
    }
    output.flush().map_err(ToolError::output)
}
