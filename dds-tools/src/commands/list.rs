//! `dds ls` and `dds ps`: the topics and the participants of a domain.

use super::endpoint_row::EndpointRow;
use super::text::{table, write_json, write_table};
use crate::domain_view::{DomainView, DomainWatch};
use crate::error::ToolError;
use crate::network;
use crate::options::ListOptions;
use crate::process_facts::ProcessFacts;
use crate::stop::Stop;
use comfy_table::Table;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Prints the topics with their types and numbers of endpoints.
///
/// # Errors
/// As the participant of the command.
pub fn topics(
    options: &ListOptions,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    list(options, "topic", output, notes, stop, print_topics)
}

/// Prints the participants with their hosts, processes, vendors, addresses and numbers of endpoints.
///
/// # Errors
/// As the participant of the command.
pub fn participants(
    options: &ListOptions,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    list(options, "participant", output, notes, stop, print_participants)
}

/// Prints a list and returns the number of its rows.
type PrintList = fn(&ListOptions, &DomainView, &mut dyn Write) -> Result<usize, ToolError>;

fn list(
    options: &ListOptions,
    kind: &str,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
    print: PrintList,
) -> Result<(), ToolError> {
    let participant = network::join_to_look(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let view = watch.settle(options.discovery.wait, stop)?;
    if print(options, view, output)? == 0 {
        writeln!(notes, "{}", nothing_found(options, kind, view)).map_err(ToolError::output)?;
    }
    let stop = stop.after(options.duration);
    let mut printed = 1;
    while options.watch && !stop.is_due() && options.count.is_none_or(|count| printed < count) {
        stop.sleep(Duration::from_millis(200));
        if watch.update()? {
            if !options.output.json {
                writeln!(output).map_err(ToolError::output)?;
            }
            print(options, watch.view(), output)?;
            printed += 1;
        }
    }
    Ok(())
}

/// Says why a list is empty.
fn nothing_found(options: &ListOptions, kind: &str, view: &DomainView) -> String {
    match (view.participants().len(), &options.pattern) {
        (0, _) => "no participant was found; compare --domain, --tag and --scope with the others, name hosts with \
                   --peer, and let `dds why` test multicast"
            .to_owned(),
        (_, Some(pattern)) => format!("no name of a {kind} contains \"{pattern}\""),
        (participants, None) => format!("no {kind} was found (participants: {participants})"),
    }
}

/// Returns a text, or `None` for an empty one.
fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn is_wanted(options: &ListOptions, name: &str) -> bool {
    options.pattern.as_ref().is_none_or(|pattern| name.contains(pattern.as_str()))
}

fn print_topics(options: &ListOptions, view: &DomainView, output: &mut dyn Write) -> Result<usize, ToolError> {
    let mut count = 0;
    let mut rows = table(&["TOPIC", "TYPE", "WRITERS", "READERS"]);
    let mut details = Vec::new();
    for (name, topic) in view.topics() {
        if !is_wanted(options, name) {
            continue;
        }
        count += 1;
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
    write_rows(options, &rows, &details, output)?;
    Ok(count)
}

/// Prints a table and the lines below it, unless the command has printed JSON.
fn write_rows(
    options: &ListOptions,
    rows: &Table,
    details: &[String],
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    if options.output.json {
        return Ok(());
    }
    write_table(output, rows)?;
    for line in details {
        writeln!(output, "{line}").map_err(ToolError::output)?;
    }
    output.flush().map_err(ToolError::output)
}

fn print_participants(options: &ListOptions, view: &DomainView, output: &mut dyn Write) -> Result<usize, ToolError> {
    let mut count = 0;
    let mut rows = table(&["PARTICIPANT", "NAME", "HOST", "PROCESS", "VENDOR", "WRITERS", "READERS", "ADDRESSES"]);
    let mut details = Vec::new();
    for participant in view.participants() {
        if !is_wanted(options, &participant.name) {
            continue;
        }
        count += 1;
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
    write_rows(options, &rows, &details, output)?;
    Ok(count)
}
