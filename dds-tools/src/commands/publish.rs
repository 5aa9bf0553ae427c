//! `dds pub`: samples and ends of instances from JSON or YAML.

use super::sample_pacer::SamplePacer;
use super::text::write_json;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::json_input::{PublishedChange, change_from_text};
use crate::network;
use crate::options::PublishOptions;
use crate::stop::Stop;
use crate::topic_access::{dynamic_writer, topic_type};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::{DataWriter, InstanceState};
use serde_json::json;
use std::io::{BufRead, Write};
use std::time::Duration;

/// Time for the acknowledgments of the last samples.
const ACKNOWLEDGMENT_TIME: Duration = Duration::from_secs(5);

/// Publishes one change, or the changes of the input, and waits until reliable readers have acknowledged them.
///
/// # Errors
/// [`ToolError::Value`] for a value that does not fit the type, [`ToolError::NoReaders`] without readers.
pub fn run(
    options: &PublishOptions,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    let ty = topic_type(&participant, &mut watch, &options.topic, &options.ty, stop)?;
    // A wrong value fails before a reader sees the writer.
    let single = match options.value.as_str() {
        "-" => None,
        text => Some(change_from_text(&ty, text)?),
    };
    let found = watch.view().endpoints_of(&options.topic);
    let writer = dynamic_writer(&participant, &options.topic, &found, &ty, &options.qos)?;
    // An instance without writers is no disposed one.
    let mut qos = writer.qos();
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    writer.set_qos(qos)?;
    await_readers(options, &writer, stop)?;
    let stop = stop.after(options.end.duration);
    let written = match single {
        Some(change) => publish_repeatedly(options, &writer, &change, &stop)?,
        None => publish_lines(options, &writer, &ty, input, &stop)?,
    };
    writer.acknowledged().block_for(ACKNOWLEDGMENT_TIME)?;
    if options.output.json {
        return write_json(output, &json!({ "topic": options.topic, "published": written }));
    }
    writeln!(notes, "samples published: {written}").map_err(ToolError::output)
}

fn await_readers(options: &PublishOptions, writer: &DataWriter<DynamicData>, stop: &Stop) -> Result<(), ToolError> {
    let limit = stop.after(Some(options.readers_wait));
    loop {
        if writer.wait_for_readers(options.readers).block_for(limit.step()).is_ok() {
            return Ok(());
        }
        if limit.is_due() {
            let reports = writer.explain_matches().iter().map(ToString::to_string).collect();
            return Err(ToolError::NoReaders { readers: options.readers, reports });
        }
    }
}

fn publish_one(
    options: &PublishOptions,
    writer: &DataWriter<DynamicData>,
    change: &PublishedChange,
) -> Result<(), ToolError> {
    let (state, data) = match change {
        PublishedChange::Sample(sample) if options.dispose => (InstanceState::NotAliveDisposed, sample),
        PublishedChange::Sample(sample) if options.unregister => (InstanceState::NotAliveNoWriters, sample),
        PublishedChange::Sample(sample) => (InstanceState::Alive, sample),
        PublishedChange::End(state, key) => (*state, key),
    };
    match state {
        InstanceState::Alive => writer.write(data)?,
        InstanceState::NotAliveDisposed => writer.dispose(data)?,
        InstanceState::NotAliveNoWriters => {
            // A writer can leave only an instance that it has registered (DDS 1.4, 2.2.2.4.2.7).
            writer.register_instance(data)?;
            writer.unregister_instance(data)?;
        }
    }
    Ok(())
}

fn publish_repeatedly(
    options: &PublishOptions,
    writer: &DataWriter<DynamicData>,
    change: &PublishedChange,
    stop: &Stop,
) -> Result<u64, ToolError> {
    // With a rate or a duration, the program publishes until it is stopped.
    let count = match (options.end.count, options.rate, options.end.duration) {
        (Some(count), _, _) => count,
        (None, None, None) => 1,
        (None, _, _) => u64::MAX,
    };
    let mut pacer = SamplePacer::new(options.rate);
    let mut written = 0;
    while written < count && !stop.is_due() {
        pacer.wait(stop);
        publish_one(options, writer, change)?;
        written += 1;
    }
    Ok(written)
}

fn publish_lines(
    options: &PublishOptions,
    writer: &DataWriter<DynamicData>,
    ty: &DynamicType,
    input: &mut dyn BufRead,
    stop: &Stop,
) -> Result<u64, ToolError> {
    let input_error = |source| ToolError::Io { name: "input".to_owned(), source };
    let mut pacer = SamplePacer::new(options.rate);
    let mut written = 0;
    let mut line = String::new();
    let mut document = String::new();
    while options.end.count.is_none_or(|count| written < count) && !stop.is_due() {
        line.clear();
        let is_end = input.read_line(&mut line).map_err(input_error)? == 0;
        if options.yaml && !is_end && line.trim_end() != "---" {
            document.push_str(&line);
            continue;
        }
        // A line with JSON is a document by itself.
        let text = if options.yaml { std::mem::take(&mut document) } else { line.clone() };
        if text.trim().is_empty() {
            if is_end {
                break;
            }
            continue;
        }
        let change = change_from_text(ty, &text)?;
        pacer.wait(stop);
        publish_one(options, writer, &change)?;
        written += 1;
    }
    Ok(written)
}
