//! `dds echo`: the samples of a topic.

use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::instance_keys::InstanceKeys;
use crate::json_names::{INSTANCE_STATE, KEY, state_name};
use crate::network;
use crate::options::EchoOptions;
use crate::stop::Stop;
use crate::topic_access::{sql_filter, topic_type};
use crate::topic_reader::{TopicChange, TopicReader};
use crate::yaml;
use dds_cdr::filter::Filter;
use dds_core::dynamic::{DynamicData, DynamicRef, DynamicType};
use dds_core::stats::ReaderLosses;
use dds_core::{DomainParticipant, SampleInfo};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt::Display;
use std::io::Write;

/// Prints samples until the count, the time or the request to stop.
///
/// # Errors
/// [`ToolError::NoTopic`] and [`ToolError::NoType`]. A field that the type does not have is an error as well.
pub fn run(options: &EchoOptions, output: &mut dyn Write, notes: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join_to_read(&options.network, std::slice::from_ref(&options.topic))?;
    let mut watch = DomainWatch::new(&participant)?;
    if options.raw {
        return print_encoded(options, &participant, &mut watch, output, notes, stop);
    }
    let ty = topic_type(&participant, &mut watch, &options.topic, &options.ty, stop)?;
    let found = watch.view().endpoints_of(&options.topic);
    if let Some(field) = &options.field {
        // An unknown field fails before the first sample arrives. Values of optional members may be absent.
        let example = DynamicData::new(&ty);
        if let Err(error) = example.at(field.as_str())
            && is_wrong_path(&error)
        {
            return Err(ToolError::Value { path: field.clone(), reason: error.to_string() });
        }
    }
    let filter = options.filter.as_deref().map(|expression| sql_filter(&ty, expression)).transpose()?;
    // Each class of writers has a reader of its own, because no single one matches all of them.
    let mut reader = TopicReader::new(&participant, &options.topic, &found, Some(&ty))?;
    let stop = stop.after(options.end.duration);
    let mut printer = Printer { options, ty, filter, keys: InstanceKeys::default(), printed: 0, undecodable: 0 };
    while !stop.is_due() && !printer.is_complete() {
        reader.wait(stop.step());
        if watch.update()? {
            reader.cover(&watch.view().endpoints_of(&options.topic))?;
        }
        reader.take(|info, change| printer.print(info, change, output, notes))?;
        output.flush().map_err(ToolError::output)?;
    }
    if printer.undecodable > 1 {
        writeln!(notes, "samples that do not fit the type: {}", printer.undecodable).map_err(ToolError::output)?;
    }
    note_losses(&reader.losses(), notes)
}

/// Prints the changes of a topic whose type is known.
struct Printer<'o> {
    options: &'o EchoOptions,
    ty: DynamicType,
    filter: Option<Filter>,
    keys: InstanceKeys,
    printed: u64,
    undecodable: u64,
}

impl Printer<'_> {
    fn is_complete(&self) -> bool {
        self.options.end.count.is_some_and(|count| self.printed >= count)
    }

    fn print(
        &mut self,
        info: &SampleInfo,
        change: TopicChange<'_>,
        output: &mut dyn Write,
        notes: &mut dyn Write,
    ) -> Result<(), ToolError> {
        if self.is_complete() {
            return Ok(());
        }
        let line = match change {
            TopicChange::Sample(sample) => self.line_of_sample(info, sample.bytes, notes)?,
            // The filter and the count are for samples alone.
            TopicChange::End(end) => end_line(self.options, self.keys.or_kept(info.instance_handle, end.key), info)?,
        };
        match line {
            Some(line) => writeln!(output, "{line}").map_err(ToolError::output),
            None => Ok(()),
        }
    }

    /// Returns the line of a sample that passes the filter.
    fn line_of_sample(
        &mut self,
        info: &SampleInfo,
        bytes: &[u8],
        notes: &mut dyn Write,
    ) -> Result<Option<String>, ToolError> {
        let passes = self.filter.as_ref().is_none_or(|filter| filter.passes(bytes));
        match DynamicData::from_payload(&self.ty, bytes) {
            Ok(data) => {
                self.keys.keep(info.instance_handle, &data);
                self.printed += u64::from(passes);
                passes.then(|| data_line(self.options, &data, info)).transpose()
            }
            Err(error) => {
                self.undecodable += u64::from(passes);
                if passes {
                    note_undecodable(&self.ty, info, &error, self.undecodable, notes)?;
                }
                Ok(None)
            }
        }
    }
}

/// Prints samples without their type. So instances have no keys, and their ends have no lines.
fn print_encoded(
    options: &EchoOptions,
    participant: &DomainParticipant,
    watch: &mut DomainWatch,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    watch.await_topic(&options.topic, options.ty.type_wait, stop)?;
    let mut reader = TopicReader::new(participant, &options.topic, &watch.view().topic(&options.topic)?, None)?;
    let stop = stop.after(options.end.duration);
    let mut printed = 0;
    let is_complete = |printed| options.end.count.is_some_and(|count| printed >= count);
    while !stop.is_due() && !is_complete(printed) {
        reader.wait(stop.step());
        if watch.update()? {
            reader.cover(&watch.view().endpoints_of(&options.topic))?;
        }
        reader.take(|info, change| {
            let TopicChange::Sample(sample) = change else { return Ok(()) };
            if is_complete(printed) {
                return Ok(());
            }
            printed += 1;
            writeln!(output, "{}", encoded_line(options, sample.bytes, info)?).map_err(ToolError::output)
        })?;
        output.flush().map_err(ToolError::output)?;
    }
    note_losses(&reader.losses(), notes)
}

fn note_losses(losses: &ReaderLosses, notes: &mut dyn Write) -> Result<(), ToolError> {
    if losses.total().lost() > 0 {
        writeln!(notes, "{losses}").map_err(ToolError::output)?;
    }
    Ok(())
}

/// Returns whether no sample can have the part, unlike an element or an absent member.
fn is_wrong_path(error: &dds_core::dynamic::DataError) -> bool {
    use dds_core::dynamic::DataError;
    matches!(error, DataError::Path { .. } | DataError::NoMember { .. } | DataError::WrongType { .. })
}

/// Tells the user of the first sample that does not decode. Its writer may have another type.
fn note_undecodable(
    ty: &DynamicType,
    info: &SampleInfo,
    error: &dyn Display,
    count: u64,
    notes: &mut dyn Write,
) -> Result<(), ToolError> {
    if count > 1 {
        return Ok(());
    }
    let (number, writer) = (info.sequence_number, info.sample_identity().writer);
    writeln!(notes, "sample {number} of {writer} does not fit the type {}: {error}", ty.name())
        .and_then(|()| notes.flush())
        .map_err(ToolError::output)
}

/// Returns the line of a sample with data.
fn data_line(options: &EchoOptions, data: &DynamicData, info: &SampleInfo) -> Result<String, ToolError> {
    let part = match &options.field {
        Some(field) => data.at(field.as_str()),
        None => Ok(data.as_ref()),
    };
    if options.yaml {
        return yaml_document(&part.ok());
    }
    if !options.output.json {
        let value = match part {
            Ok(part) => part.to_string(),
            Err(error) => format!("({error})"),
        };
        return Ok(with_info(options, info, value));
    }
    // A part that this sample does not have is null.
    let part = part.ok();
    if options.info { to_json(&Line { data: Some(&part), ..Line::new(info) }) } else { to_json(&part) }
}

/// Returns the line of an encoded sample.
fn encoded_line(options: &EchoOptions, bytes: &[u8], info: &SampleInfo) -> Result<String, ToolError> {
    let encoded = hexadecimal(bytes);
    match (options.output.json, options.info) {
        (false, _) => Ok(with_info(options, info, encoded)),
        (true, true) => to_json(&Line { encoded: Some(&encoded), ..Line::new(info) }),
        (true, false) => to_json(&serde_json::json!({ "encoded": encoded })),
    }
}

/// Returns two digits for each byte.
fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Returns the line of an instance that has ended, or `None` if its key is unknown: `dds pub` could not end it.
fn end_line(options: &EchoOptions, key: Option<DynamicData>, info: &SampleInfo) -> Result<Option<String>, ToolError> {
    let (state, Some(key)) = (state_name(info.instance_state), key) else { return Ok(None) };
    if !options.yaml && !options.output.json {
        return Ok(Some(with_info(options, info, format!("{state}: {key}"))));
    }
    let end = InstanceEnd { state, key };
    let line = match (options.yaml, options.info) {
        (true, _) => yaml_document(&end),
        (false, true) => to_json(&Line { end: Some(&end), ..Line::new(info) }),
        (false, false) => to_json(&end),
    };
    line.map(Some)
}

/// Returns a YAML document, with the line that ends it.
fn yaml_document(value: &impl Serialize) -> Result<String, ToolError> {
    let value = serde_json::to_value(value).map_err(|error| ToolError::output(error.into()))?;
    Ok(format!("{}---", yaml::to_yaml(&value)))
}

fn with_info(options: &EchoOptions, info: &SampleInfo, value: String) -> String {
    if !options.info {
        return value;
    }
    format!("{} {} from {}: {value}", info.source_timestamp, info.sequence_number, info.sample_identity().writer)
}

fn to_json(value: &impl Serialize) -> Result<String, ToolError> {
    serde_json::to_string(value).map_err(|error| ToolError::output(error.into()))
}

/// A line of JSON with the metadata of the sample.
#[derive(Serialize)]
struct Line<'l> {
    source_timestamp_ns: i64,
    reception_timestamp_ns: i64,
    sequence_number: i64,
    writer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'l Option<DynamicRef<'l>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoded: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'l InstanceEnd>,
}

impl Line<'_> {
    fn new(info: &SampleInfo) -> Self {
        Self {
            source_timestamp_ns: info.source_timestamp.as_unix_nanos(),
            reception_timestamp_ns: info.reception_timestamp.as_unix_nanos(),
            sequence_number: info.sequence_number.0,
            writer: info.sample_identity().writer.to_string(),
            data: None,
            encoded: None,
            end: None,
        }
    }
}

/// The end of an instance.
struct InstanceEnd {
    state: &'static str,
    key: DynamicData,
}

impl Serialize for InstanceEnd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(INSTANCE_STATE, self.state)?;
        map.serialize_entry(KEY, &self.key)?;
        map.end()
    }
}
