//! Types and QoS for readers and writers that match the endpoints of a topic.

use crate::domain_view::{DomainWatch, TopicView};
use crate::error::ToolError;
use crate::options::{TypeOptions, WriterQosOptions};
use crate::recording::SCHEMA_ENCODING;
use crate::ros::ros_type;
use crate::ros_schemas::{self, ROS_IDL_ENCODING, ROS_MSG_ENCODING};
use crate::stop::Stop;
use dds_cdr::filter::Filter;
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::error::WaitErrorKind;
use dds_core::qos::{
    DataReaderQos, DataRepresentation, DataWriterQos, Durability, History, PublisherQos, SubscriberQos, TopicQos,
};
use dds_core::{DataWriter, DomainParticipant};
use dds_idl::description::dynamic_type;
use dds_idl::idl::{Options, parse_file, parse_text};
use dds_idl::model::Specification;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Samples that a reader of the program keeps for each instance.
///
/// The program must not hold back the writers, so its readers never use KEEP_ALL.
const DEPTH: u32 = 1000;

/// Time to discover the endpoints of a topic that may be new.
const NEW_TOPIC_WAIT: Duration = Duration::from_millis(1000);

/// Returns the QoS of a reader that matches all `writers` if one QoS can.
///
/// It is reliable if all writers are, and requests earlier samples if all writers keep them.
#[must_use]
pub fn reader_qos(topic: &TopicView<'_>) -> DataReaderQos {
    let writers = &topic.writers;
    let mut qos = DataReaderQos::default().keep_last(DEPTH).best_effort();
    // Writers that offer a longer delay than the requested one do not match.
    qos.latency_budget = dds_core::Duration::INFINITE;
    if !writers.is_empty() && writers.iter().all(|writer| writer.qos.reliability.is_reliable()) {
        qos = qos.reliable();
    }
    if !writers.is_empty() && writers.iter().all(|writer| writer.qos.durability >= Durability::TransientLocal) {
        qos = qos.transient_local();
    }
    if let Some(writer) = writers.first() {
        qos.ownership = writer.qos.ownership;
    }
    qos
}

/// Returns the QoS of a writer that matches all `readers` if one QoS can: the strongest of their requests.
#[must_use]
pub fn writer_qos(topic: &TopicView<'_>) -> DataWriterQos {
    let readers = &topic.readers;
    let mut qos = DataWriterQos::default().reliable();
    qos.history = History::KeepLast { depth: DEPTH };
    for reader in readers {
        qos.durability = qos.durability.max(reader.qos.durability);
        qos.deadline = qos.deadline.min(reader.qos.deadline);
        qos.destination_order = qos.destination_order.max(reader.qos.destination_order);
        qos.liveliness.kind = qos.liveliness.kind.max(reader.qos.liveliness.kind);
        qos.liveliness.lease_duration = qos.liveliness.lease_duration.min(reader.qos.liveliness.lease_duration);
    }
    if let Some(reader) = readers.first() {
        qos.ownership = reader.qos.ownership;
    }
    // A reader whose list is empty accepts XCDR1 only (XTypes 1.3, 7.6.3.1.1).
    let accepts = |representation| {
        readers.iter().all(|reader| match reader.qos.representation.as_slice() {
            [] => representation == DataRepresentation::Xcdr1,
            list => list.contains(&representation),
        })
    };
    if !readers.is_empty() {
        let both = [DataRepresentation::Xcdr1, DataRepresentation::Xcdr2];
        qos.representation = both.into_iter().filter(|representation| accepts(*representation)).collect();
    }
    qos
}

/// Returns the QoS of a subscriber that reaches writers in every partition, also later ones.
#[must_use]
pub fn subscriber_qos() -> SubscriberQos {
    // The pattern covers all names. The empty name is the default partition, and not every vendor matches it with `*`.
    SubscriberQos::default().partition(["", "*"])
}

/// Returns the partitions and the presentation of a publisher that reaches all readers of the topic.
#[must_use]
pub fn publisher_qos(topic: &TopicView<'_>) -> PublisherQos {
    let mut names = BTreeSet::new();
    for reader in &topic.readers {
        // An empty list means the partition with the empty name.
        if reader.partition.is_empty() {
            names.insert("");
        }
        // A publisher joins partitions by name. Only a reader may also use patterns.
        names.extend(reader.partition.iter().map(String::as_str).filter(|name| !name.contains(['*', '?', '['])));
    }
    let mut qos = PublisherQos::default().partition(names);
    for reader in &topic.readers {
        qos.presentation.access_scope = qos.presentation.access_scope.max(reader.presentation.access_scope);
        qos.presentation.coherent_access |= reader.presentation.coherent_access;
        qos.presentation.ordered_access |= reader.presentation.ordered_access;
    }
    qos
}

/// Returns the type of a topic: from the file of the options, or else from an endpoint that describes it.
///
/// # Errors
/// As [`file_type`] and [`discover_type`].
pub fn topic_type(
    participant: &DomainParticipant,
    watch: &mut DomainWatch,
    topic: &str,
    options: &TypeOptions,
    stop: &Stop,
) -> Result<DynamicType, ToolError> {
    if let (Some(path), Some(name)) = (&options.type_file, &options.type_name) {
        // The QoS still depends on the endpoints that exist.
        watch.settle(NEW_TOPIC_WAIT, stop)?;
        return named_file_type(path, name);
    }
    if let Some(path) = &options.type_file {
        watch.await_topic(topic, options.type_wait, stop)?;
        return file_type(path, &watch.view().topic(topic)?);
    }
    discover_type(participant, watch, topic, options.type_wait, stop)
}

/// Waits for an endpoint of `topic`, and returns its type: that of a ROS interface, or the one that it describes.
///
/// # Errors
/// [`ToolError::NoTopic`] without an endpoint, [`ToolError::NoType`] if none describes its type within `wait`.
pub fn discover_type(
    participant: &DomainParticipant,
    watch: &mut DomainWatch,
    topic: &str,
    wait: Duration,
    stop: &Stop,
) -> Result<DynamicType, ToolError> {
    watch.await_topic(topic, wait, stop)?;
    let found = watch.view().topic(topic)?;
    // Most nodes of ROS do not describe their types.
    if let Some(found) = found.type_names().iter().find_map(|name| ros_type(name)) {
        return Ok(found.ty);
    }
    let discovery = stop.after(Some(wait));
    loop {
        match participant.discover_type(topic).block_for(discovery.step()) {
            Ok(ty) => return Ok(ty),
            Err(error) if !matches!(error.kind(), WaitErrorKind::Timeout { .. }) => return Err(error.into()),
            Err(_) if discovery.is_due() => {
                return Err(ToolError::NoType { topic: topic.to_owned(), type_names: found.type_names() });
            }
            Err(_) => {}
        }
    }
}

/// Creates a writer that matches the readers in `found`, unless an option prevents it.
///
/// # Errors
/// As the builder of the writer.
pub fn dynamic_writer(
    participant: &DomainParticipant,
    name: &str,
    found: &TopicView<'_>,
    ty: &DynamicType,
    options: &WriterQosOptions,
) -> Result<DataWriter<DynamicData>, ToolError> {
    let publisher = participant.publisher(options.publisher(publisher_qos(found)))?;
    let topic = participant.dynamic_topic(name, ty, TopicQos::default())?;
    Ok(publisher.writer_builder(&topic).qos(options.writer(writer_qos(found))).build()?)
}

/// Returns the type of a schema in a recording.
///
/// # Errors
/// The reason as text, if the program cannot read the schema.
pub fn schema_type(schema: &mcap::Schema<'_>, type_name: &str) -> Result<DynamicType, String> {
    let Ok(text) = std::str::from_utf8(&schema.data) else { return Err("the schema is not UTF-8".to_owned()) };
    match schema.encoding.as_str() {
        SCHEMA_ENCODING => {}
        ROS_MSG_ENCODING => return ros_schemas::schema_type(&schema.name, text),
        ROS_IDL_ENCODING => return ros_schemas::idl_schema_type(&schema.name, text),
        other => return Err(format!("the schema has the unknown encoding \"{other}\"")),
    }
    // `record` writes the extensibility of every type. Other programs may rely on a default, and names differ in case.
    let options = Options { case_sensitive: true, ..Options::default() };
    let specification = parse_text(type_name, text, &options).map_err(|error| error.to_string())?;
    type_of_specification(&specification, type_name)
}

/// Compiles a filter in the SQL of DDS 1.4, Annex B.
///
/// # Errors
/// [`ToolError::Value`] with the place of the mistake, or for a field that the type does not have.
pub fn sql_filter(ty: &DynamicType, expression: &str) -> Result<Filter, ToolError> {
    Filter::of_dynamic(ty, expression, &[]).map_err(ToolError::value)
}

/// Returns the type of a topic from an IDL file.
///
/// # Errors
/// [`ToolError::TypeFile`] with the diagnostics of the file, or if it defines none of the types.
pub fn file_type(path: &Path, topic: &TopicView<'_>) -> Result<DynamicType, ToolError> {
    match TypeFile::read(path)?.type_of(topic)? {
        Some(ty) => Ok(ty),
        None => {
            let names = topic.type_names().join(", ");
            let text = format!("{} does not define the type of the topic: {names}", path.display());
            Err(ToolError::TypeFile { text })
        }
    }
}

/// The content of an IDL file with types.
#[derive(Debug)]
pub(crate) struct TypeFile(Specification);

impl TypeFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ToolError::TypeFile`] with the diagnostics of the file.
    pub(crate) fn read(path: &Path) -> Result<Self, ToolError> {
        parse_type_file(path).map(Self)
    }

    /// Returns the type of a topic if the file defines it.
    ///
    /// # Errors
    /// [`ToolError::TypeFile`] with the diagnostics of the type.
    pub(crate) fn type_of(&self, topic: &TopicView<'_>) -> Result<Option<DynamicType>, ToolError> {
        let Self(specification) = self;
        let names = topic.type_names();
        let Some(name) = names.iter().find(|name| specification.find(name).is_some()) else { return Ok(None) };
        type_of_specification(specification, name).map(Some).map_err(|text| ToolError::TypeFile { text })
    }
}

fn named_file_type(path: &Path, name: &str) -> Result<DynamicType, ToolError> {
    let specification = parse_type_file(path)?;
    type_of_specification(&specification, name).map_err(|text| ToolError::TypeFile { text })
}

fn parse_type_file(path: &Path) -> Result<Specification, ToolError> {
    let options = Options { case_sensitive: true, ..Options::default() };
    parse_file(path, &options).map_err(|error| ToolError::TypeFile { text: error.to_string() })
}

fn type_of_specification(specification: &Specification, type_name: &str) -> Result<DynamicType, String> {
    let Some(id) = specification.find(type_name) else {
        return Err(format!("there is no definition of the type {type_name}"));
    };
    dynamic_type(specification, id).map_err(|diagnostics| diagnostics.render(&specification.sources, false))
}
