//! `dds info`: the content of a recording.

use super::text::{nanos_text, table, write_json, write_table};
use crate::error::ToolError;
use crate::options::InfoOptions;
use crate::recording::{self, definition_of};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

/// The samples of a topic in a recording.
struct TopicContent {
    schema: Option<String>,
    samples: u64,
    bytes: u64,
    first: u64,
    last: u64,
}

/// Prints the topics of a recording with their types, samples, bytes and rates.
///
/// # Errors
/// Fails if the file cannot be read. After a damaged place, it prints everything before that place and then fails.
pub fn run(options: &InfoOptions, output: &mut dyn Write) -> Result<(), ToolError> {
    let mut topics = BTreeMap::<(String, String), TopicContent>::new();
    let mut failure = None;
    for message in recording::messages(&options.file)? {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        let channel = &message.channel;
        let type_name = match (&channel.schema, channel.metadata.get(recording::TYPE_NAME_KEY)) {
            (_, Some(name)) => name.clone(),
            (Some(schema), None) => schema.name.clone(),
            (None, None) => String::new(),
        };
        // Each writer of a topic has a channel.
        let content = topics.entry((channel.topic.clone(), type_name)).or_insert_with(|| TopicContent {
            schema: definition_of(channel).map(|schema| schema.encoding.clone()),
            samples: 0,
            bytes: 0,
            first: u64::MAX,
            last: 0,
        });
        content.samples += 1;
        content.bytes += message.data.len() as u64;
        content.first = content.first.min(message.log_time);
        content.last = content.last.max(message.log_time);
    }
    print(options, &topics, output)?;
    failure.map_or(Ok(()), Err)
}

fn print(
    options: &InfoOptions,
    topics: &BTreeMap<(String, String), TopicContent>,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    let mut rows = table(&["TOPIC", "TYPE", "SCHEMA", "SAMPLES", "BYTES", "RATE"]);
    let (mut samples, mut first, mut last) = (0, u64::MAX, 0);
    for ((name, type_name), content) in topics {
        samples += content.samples;
        first = first.min(content.first);
        last = last.max(content.last);
        let seconds = content.last.saturating_sub(content.first) as f64 / 1e9;
        // The rate counts the intervals between samples.
        let rate = if seconds > 0.0 { (content.samples - 1) as f64 / seconds } else { 0.0 };
        if options.output.json {
            write_json(
                output,
                &json!({
                    "topic": name,
                    "type": type_name,
                    "schema": content.schema,
                    "samples": content.samples,
                    "bytes": content.bytes,
                    "first_ns": content.first,
                    "last_ns": content.last,
                    "rate_hz": rate,
                }),
            )?;
            continue;
        }
        rows.add_row([
            name.as_str(),
            type_name,
            content.schema.as_deref().unwrap_or("none"),
            &content.samples.to_string(),
            &content.bytes.to_string(),
            &format!("{rate:.1} Hz"),
        ]);
    }
    if options.output.json {
        return Ok(());
    }
    let duration = nanos_text(last.saturating_sub(first) as f64);
    writeln!(output, "{}: {samples} samples in {duration}", options.file.display()).map_err(ToolError::output)?;
    write_table(output, &rows)
}
