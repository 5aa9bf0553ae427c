//! `dds record`: topics into an MCAP file.

use crate::domain_view::{DomainWatch, TopicView};
use crate::error::ToolError;
use crate::network;
use crate::options::RecordOptions;
use crate::recording::{
    ChannelId, RELIABLE_KEY, RecordedSchema, RecordingWriter, SCHEMA_ENCODING, TOPIC_KEY, TRANSIENT_LOCAL_KEY,
    TYPE_NAME_KEY, is_selected,
};
use crate::ros::{
    OFFERED_QOS_KEY, ROS_PROFILE, ROS_SCHEMA_ENCODING, RosTopicType, TYPE_HASH_KEY, is_ros_type, offered_qos,
    ros_topic, ros_type,
};
use crate::stop::Stop;
use crate::topic_access::{TopicReader, reader_qos};
use dds_core::DomainParticipant;
use dds_core::dynamic::DynamicType;
use dds_core::error::WaitErrorKind;
use dds_core::qos::Durability;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::time::{Duration, Instant};

/// Most topics that are recorded or refused. A peer that announces new names without end must not fill the memory.
const TOPICS_MAX: usize = 4096;
/// Time to discover the topics that exist at the start.
const FIRST_LOOK: Duration = Duration::from_millis(300);
/// Time between two looks at the readers, if no sample arrives.
const STEP: Duration = Duration::from_millis(2);

/// A topic that is recorded.
struct RecordedTopic {
    name: String,
    reader: TopicReader,
    channel: ChannelId,
    samples: u64,
    ended_instances: u64,
}

/// Records until the count, the time or the request to stop. Topics may appear at any time.
///
/// A topic whose type no endpoint describes is recorded without a schema. The readers of the program hold back no
/// writer, so a sample can get lost when the disk is too slow. The command prints the losses of each topic at the end.
///
/// # Errors
/// Fails if the file exists or cannot be written.
pub fn run(options: &RecordOptions, notes: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    // The header of the file has the profile, so the first look decides it.
    watch.settle(FIRST_LOOK, stop)?;
    let is_ros = watch.view().topics().values().any(|topic| topic.type_names().iter().any(|name| is_ros_type(name)));
    let profile = if is_ros { ROS_PROFILE } else { "" };
    let mut file = RecordingWriter::create(&options.output, options.compression, profile)?;
    let mut recorder = TopicRecorder {
        options,
        participant,
        recorded: Vec::new(),
        awaited_types: HashMap::new(),
        refused: HashSet::new(),
    };
    let stop = stop.after(options.end.duration);
    let mut total = 0;
    let mut last_look = None::<Instant>;
    while !stop.is_due() && options.end.count.is_none_or(|count| total < count) {
        if last_look.is_none_or(|last| last.elapsed() >= Duration::from_millis(100)) {
            last_look = Some(Instant::now());
            watch.update()?;
            recorder.open_topics(&watch, &mut file, notes)?;
        }
        let before = total;
        for topic in &mut recorder.recorded {
            topic.take(&mut file, &mut total, options.end.count)?;
        }
        file.complete_chunk_in_time()?;
        if total == before {
            stop.sleep(STEP);
        }
    }
    file.finish()?;
    recorder.report(total, notes)
}

/// The type of a topic.
enum KnownType {
    /// An interface file of ROS defines it.
    Ros(RosTopicType),
    /// An endpoint describes it.
    Described(DynamicType),
    /// No endpoint describes it.
    Unknown,
}

impl KnownType {
    const fn dynamic(&self) -> Option<&DynamicType> {
        match self {
            Self::Ros(found) => Some(&found.ty),
            Self::Described(ty) => Some(ty),
            Self::Unknown => None,
        }
    }
}

impl RecordedTopic {
    /// Adds the topic to the file.
    fn new(
        name: &str,
        topic: &TopicView<'_>,
        ty: &KnownType,
        reader: TopicReader,
        file: &mut RecordingWriter,
        notes: &mut dyn Write,
    ) -> Result<Self, ToolError> {
        // Endpoints may use several names. The schema defines the one of the described type.
        let type_name = match ty.dynamic() {
            Some(ty) => ty.name().to_owned(),
            None => topic.type_names().into_iter().next().unwrap_or_default(),
        };
        let qos = reader_qos(topic);
        let is_transient_local = qos.durability >= Durability::TransientLocal;
        let mut metadata = BTreeMap::from([
            (TYPE_NAME_KEY.to_owned(), type_name.clone()),
            (RELIABLE_KEY.to_owned(), qos.reliability.is_reliable().to_string()),
            (TRANSIENT_LOCAL_KEY.to_owned(), is_transient_local.to_string()),
        ]);
        let channel = match (ty, ros_topic(name)) {
            (KnownType::Ros(RosTopicType { schema: Some(schema), hash, .. }), Some(ros_name)) => {
                metadata.insert(TOPIC_KEY.to_owned(), name.to_owned());
                metadata.insert(OFFERED_QOS_KEY.to_owned(), offered_qos(&topic.writers));
                metadata.extend(hash.clone().map(|hash| (TYPE_HASH_KEY.to_owned(), hash)));
                let schema = RecordedSchema { name: &schema.name, encoding: ROS_SCHEMA_ENCODING, text: &schema.text };
                file.add_topic(ros_name, Some(schema), &metadata)?
            }
            _ => {
                let text = ty.dynamic().map(ToString::to_string);
                let schema =
                    text.as_ref().map(|text| RecordedSchema { name: &type_name, encoding: SCHEMA_ENCODING, text });
                file.add_topic(name, schema, &metadata)?
            }
        };
        let note = if ty.dynamic().is_some() { "" } else { " without a schema: no endpoint describes its type" };
        writeln!(notes, "records {name} ({type_name}){note}").map_err(ToolError::output)?;
        Ok(Self { name: name.to_owned(), reader, channel, samples: 0, ended_instances: 0 })
    }

    fn take(&mut self, file: &mut RecordingWriter, total: &mut u64, limit: Option<u64>) -> Result<(), ToolError> {
        let Self { reader, channel, samples, ended_instances, .. } = self;
        reader.take(|info, sample| {
            let Some(sample) = sample else {
                *ended_instances += 1;
                return Ok(());
            };
            if limit.is_some_and(|limit| *total >= limit) {
                return Ok(());
            }
            *samples += 1;
            *total += 1;
            file.write(*channel, info, sample.bytes)
        })
    }
}

struct TopicRecorder<'o> {
    options: &'o RecordOptions,
    participant: DomainParticipant,
    recorded: Vec<RecordedTopic>,
    /// When the wait for the type of a topic began.
    awaited_types: HashMap<String, Instant>,
    /// Topics that no reader of the program can match.
    refused: HashSet<String>,
}

impl TopicRecorder<'_> {
    /// Opens each new topic that has a writer and a known type. After a while, the type may stay unknown.
    fn open_topics(
        &mut self,
        watch: &DomainWatch,
        file: &mut RecordingWriter,
        notes: &mut dyn Write,
    ) -> Result<(), ToolError> {
        for (name, topic) in watch.view().topics() {
            let is_known = self.refused.contains(name) || self.recorded.iter().any(|recorded| recorded.name == name);
            let is_full = self.recorded.len() + self.refused.len() >= TOPICS_MAX;
            if is_known
                || is_full
                || topic.writers.is_empty()
                || !is_selected(name, &self.options.topics, &self.options.exclude)
            {
                continue;
            }
            let Some(ty) = self.known_type(name, &topic)? else { continue };
            self.awaited_types.remove(name);
            match TopicReader::new(&self.participant, name, &topic, ty.dynamic()) {
                Ok(reader) => {
                    let recorded = RecordedTopic::new(name, &topic, &ty, reader, file, notes)?;
                    self.recorded.push(recorded);
                }
                // The announcement of a peer must not end the recording of the other topics.
                Err(error) => {
                    writeln!(notes, "does not record {name}: {error}").map_err(ToolError::output)?;
                    self.refused.insert(name.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Returns the type of a topic, or `None` while an endpoint may still describe it.
    fn known_type(&mut self, name: &str, topic: &TopicView<'_>) -> Result<Option<KnownType>, ToolError> {
        if let Some(found) = topic.type_names().iter().find_map(|name| ros_type(name)) {
            return Ok(Some(KnownType::Ros(found)));
        }
        match self.participant.discover_type(name).block_for(Duration::ZERO) {
            Ok(ty) => Ok(Some(KnownType::Described(ty))),
            Err(error) if matches!(error.kind(), WaitErrorKind::Timeout { .. }) => {
                let start = self.awaited_types.entry(name.to_owned()).or_insert_with(Instant::now);
                Ok(if start.elapsed() < self.options.type_wait { None } else { Some(KnownType::Unknown) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Prints the number of samples and the losses of each topic.
    fn report(&self, total: u64, notes: &mut dyn Write) -> Result<(), ToolError> {
        if self.recorded.len() + self.refused.len() >= TOPICS_MAX {
            writeln!(notes, "the limit of {TOPICS_MAX} topics was reached").map_err(ToolError::output)?;
        }
        for topic in &self.recorded {
            let losses = topic.reader.losses();
            let lost = losses.total().lost();
            let mut line = format!("{}: {} samples, {lost} lost", topic.name, topic.samples);
            if topic.ended_instances > 0 {
                line += &format!(", {} ends of instances not recorded", topic.ended_instances);
            }
            writeln!(notes, "{line}").map_err(ToolError::output)?;
            if lost > 0 {
                writeln!(notes, "{losses}").map_err(ToolError::output)?;
            }
        }
        writeln!(notes, "recorded {total} samples of {} topics", self.recorded.len()).map_err(ToolError::output)?;
        if self.recorded.is_empty() {
            return Err(ToolError::NothingArrived {
                awaited: "topic with a writer".to_owned(),
                next_step: "`dds ls` lists the topics of the domain",
            });
        }
        Ok(())
    }
}
