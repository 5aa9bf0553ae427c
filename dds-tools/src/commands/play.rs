//! `dds play`: the samples of a recording again.

pub use super::play_clock::PlayKey;
use super::play_clock::{PlayClock, PlayWait};
use super::play_keys::TerminalKeys;
use super::sample_pacer::sleep_exactly;
use super::text::write_json;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::PlayOptions;
use crate::progress::ProgressLine;
use crate::recording::{
    self, INSTANCE_END_KEY, KEYED_KEY, MESSAGE_ENCODING, PUBLISHER_QOS_KEY, RELIABLE_KEY, TOPIC_KEY,
    TRANSIENT_LOCAL_KEY, TYPE_NAME_KEY, WRITER_QOS_KEY, definition_of, instance_of, is_selected, topic_of,
};
use crate::ros::{OFFERED_QOS_KEY, dds_topic, offered_writer_qos};
use crate::ros_schemas::is_ros_encoding;
use crate::stop::Stop;
use crate::topic_access::{publisher_qos, schema_type};
use dds_core::cdr::Raw;
use dds_core::cdr::{Encoded, Encoding};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataRepresentation, DataWriterQos, History, PublisherQos, ResourceLimits, TopicQos};
use dds_core::relay::{self, ChangeKind, NewChange, Payload};
use dds_core::writer::WriteOptions;
use dds_core::{DataWriter, DomainParticipant, InstanceHandle};
use dds_idl::ros::InterfaceName;
use mcap::{Channel, Message};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Least time of a round with `--loop`.
const ROUND_MIN: Duration = Duration::from_millis(10);
/// Least and greatest depth of the history of a writer. A recorded writer may have had any depth.
const DEPTH_MIN: u32 = 1000;
const DEPTH_MAX: u32 = 100_000;
/// Time for the acknowledgments of the last samples.
const ACKNOWLEDGMENT_TIME: Duration = Duration::from_secs(5);

/// Publishes the samples of a recording in their order, with the intervals of their reception.
///
/// The keys of a terminal pause it, and play single samples.
///
/// # Errors
/// As [`steered`].
pub fn run(options: &PlayOptions, output: &mut dyn Write, notes: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let (sender, keys) = channel();
    // The terminal has its old mode again before the caller prints the result.
    let terminal = TerminalKeys::start(sender);
    if terminal.is_some() {
        writeln!(notes, "space pauses and goes on, s or the right arrow plays one sample, q ends")
            .map_err(ToolError::output)?;
    }
    let progress = ProgressLine::bar(&options.report);
    let total = replay(options, &keys, progress, notes, stop)?;
    if options.report.json {
        return write_json(output, &json!({ "published": total.published, "topics": total.topics }));
    }
    Ok(())
}

/// The whole of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayedTotal {
    /// Samples of all rounds.
    pub published: u64,
    /// Topics.
    pub topics: usize,
}

/// As [`run`], steered by `keys`.
///
/// # Errors
/// Fails if the file cannot be read, or at its first damaged place.
/// [`ToolError::Value`] if the file has no sample for the options.
pub fn steered(
    options: &PlayOptions,
    keys: &Receiver<PlayKey>,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<PlayedTotal, ToolError> {
    replay(options, keys, ProgressLine::hidden(), notes, stop)
}

fn replay(
    options: &PlayOptions,
    keys: &Receiver<PlayKey>,
    progress: ProgressLine,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<PlayedTotal, ToolError> {
    let notes: &mut dyn Write = &mut progress.notes(notes);
    let participant = network::join(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    watch.settle(Duration::from_millis(500), stop)?;
    sleep_exactly();
    let mut player = Player {
        options,
        participant,
        clock: PlayClock::new(options.rate, Instant::now()),
        keys,
        writers: Vec::new(),
        by_channel: HashMap::new(),
        skipped: BTreeMap::new(),
        published: 0,
        length: Duration::ZERO,
        progress,
    };
    player.create_writers(&watch, notes)?;
    player.await_readers(stop);
    let stop = &stop.after(options.end.duration);
    loop {
        let start = Instant::now();
        let found = player.play_once(notes, stop)?;
        if !found.has_message && !player.is_complete() && !stop.is_due() {
            let file = options.file.display();
            let reason =
                format!("{file} has no sample for these options; `dds info {file}` prints its topics and length");
            return Err(ToolError::value(reason));
        }
        if !options.repeat || found.published == 0 || player.is_complete() || stop.is_due() {
            break;
        }
        // A recording of one instant must not become a flood.
        stop.sleep(ROUND_MIN.saturating_sub(start.elapsed()));
    }
    player.finish(notes)
}

/// A writer of a recorded topic, with or without its type.
enum TopicWriter {
    Described { writer: DataWriter<DynamicData>, ty: DynamicType },
    Encoded(DataWriter<Raw>),
}

impl TopicWriter {
    /// Publishes a sample. `instance` has the recorded key hash, if only that tells the instance.
    fn write(
        &self,
        sample: Encoded<'_>,
        instance: Option<InstanceHandle>,
        options: WriteOptions,
    ) -> Result<(), ToolError> {
        match (self, instance) {
            (Self::Described { writer, .. }, _) => writer.write_encoded_with(sample, options)?,
            (Self::Encoded(writer), None) => writer.write_encoded_with(sample, options)?,
            (Self::Encoded(writer), Some(instance)) => {
                let mut change = NewChange::alive(instance, Payload::copy_of(sample.bytes));
                change.source_timestamp = options.source_timestamp;
                relay::publish(writer, change)?;
            }
        }
        Ok(())
    }

    /// Ends an instance: that with the recorded key hash, or else the one whose key is the sample.
    ///
    /// Returns whether the instance is known.
    fn end_instance(
        &self,
        kind: &str,
        key: Encoded<'_>,
        instance: Option<InstanceHandle>,
        options: WriteOptions,
    ) -> Result<bool, ToolError> {
        let (writer, ty) = match (self, instance) {
            (Self::Described { writer, ty }, _) => (writer, ty),
            (Self::Encoded(writer), Some(instance)) => {
                let kind =
                    if kind == "disposed" { ChangeKind::NotAliveDisposed } else { ChangeKind::NotAliveUnregistered };
                let change = NewChange::not_alive(kind, instance, Payload::copy_of(&[]));
                let source_timestamp = options.source_timestamp;
                relay::publish(writer, NewChange { payload: None, source_timestamp, ..change })?;
                return Ok(true);
            }
            (Self::Encoded(_), None) => return Ok(false),
        };
        let Ok(key) = DynamicData::from_payload(ty, key.bytes) else { return Ok(false) };
        let result = match kind {
            "disposed" => writer.dispose_with(&key, options),
            _ => writer.unregister_with(&key, options),
        };
        match result {
            // A part of a recording may lack the samples of the instance.
            Err(error) if matches!(error.kind(), WriteErrorKind::UnknownInstance) => Ok(true),
            result => Ok(result.map(|()| true)?),
        }
    }

    /// Returns whether the writer has a reader within `limit`.
    fn await_reader(&self, limit: Duration) -> bool {
        match self {
            Self::Described { writer, .. } => writer.wait_for_readers(1).block_for(limit).is_ok(),
            Self::Encoded(writer) => writer.wait_for_readers(1).block_for(limit).is_ok(),
        }
    }

    fn await_acknowledgments(&self) -> Result<(), ToolError> {
        match self {
            Self::Described { writer, .. } => writer.acknowledged().block_for(ACKNOWLEDGMENT_TIME)?,
            Self::Encoded(writer) => writer.acknowledged().block_for(ACKNOWLEDGMENT_TIME)?,
        }
        Ok(())
    }
}

/// Topic, type name, encoding, and the recorded QoS of the writer and its publisher.
type WriterKey = (String, String, i16, [Option<String>; 2]);

/// One round of a replay.
#[derive(Default)]
struct PlayedRound {
    /// Samples.
    published: u64,
    /// Whether the options selected a message.
    has_message: bool,
}

struct Player<'o> {
    options: &'o PlayOptions,
    participant: DomainParticipant,
    clock: PlayClock,
    keys: &'o Receiver<PlayKey>,
    /// A writer publishes in one encoding.
    writers: Vec<(WriterKey, TopicWriter)>,
    /// Indexes of the writers, by channel and encoding. Only a channel with ends of instances has several.
    by_channel: HashMap<(u16, i16), Rc<[usize]>>,
    /// Messages that are not samples of DDS, by topic.
    skipped: BTreeMap<String, u64>,
    /// Samples of all rounds.
    published: u64,
    /// Time from the first played message to the last one.
    length: Duration,
    progress: ProgressLine,
}

impl Player<'_> {
    /// Creates the writers of all channels before the first sample, so that readers have time to match them.
    fn create_writers(&mut self, watch: &DomainWatch, notes: &mut dyn Write) -> Result<(), ToolError> {
        let mut unused: Vec<&(String, String)> = self.options.remap.iter().collect();
        let (mut origin, mut first, mut last) = (u64::MAX, u64::MAX, 0);
        for message in recording::messages(&self.options.file)? {
            let message = message?;
            let channel = &message.channel;
            origin = origin.min(message.log_time);
            if is_selected(topic_of(channel), &self.options.topics, &self.options.exclude) {
                (first, last) = (first.min(message.log_time), last.max(message.log_time));
            }
            // Messages that are no samples are counted when they are due. Ends have the writer of the samples.
            let Ok(sample) = Encoded::new(&message.data) else { continue };
            let place = (channel.id, sample.encoding.representation_id());
            let is_wanted = channel.message_encoding == MESSAGE_ENCODING
                && !channel.metadata.contains_key(INSTANCE_END_KEY)
                && is_selected(&channel.topic, &self.options.topics, &self.options.exclude);
            if !is_wanted || self.by_channel.contains_key(&place) {
                continue;
            }
            let (topic, type_name) = names_of(channel)?;
            unused.retain(|(from, _)| !is_remapped(from, channel, &topic));
            let qos = [WRITER_QOS_KEY, PUBLISHER_QOS_KEY].map(|key| channel.metadata.get(key).cloned());
            let key = (topic, type_name, place.1, qos);
            let index = match self.writers.iter().position(|(known, _)| *known == key) {
                Some(index) => index,
                None => {
                    let writer = self.create_writer(channel, sample.encoding, watch, notes)?;
                    self.writers.push((key, writer));
                    self.writers.len() - 1
                }
            };
            self.by_channel.insert(place, [index].into());
        }
        let place = |time: u64| Duration::from_nanos(time.saturating_sub(origin));
        let end = self.options.until.unwrap_or(Duration::MAX).min(place(last));
        self.length = end.saturating_sub(self.options.start.max(place(first)));
        if let Some((from, to)) = unused.first() {
            let file = self.options.file.display();
            let reason = format!(
                "--remap {from}={to}: no played topic of {file} is `{from}`; `dds info {file}` lists the topics"
            );
            return Err(ToolError::value(reason));
        }
        Ok(())
    }

    /// Returns the indexes of the writers for a message: one for a sample, and all of the topic for an end.
    fn writers_of(&mut self, channel: &Channel<'_>, encoding: Encoding) -> Result<Rc<[usize]>, ToolError> {
        let place = (channel.id, encoding.representation_id());
        if let Some(indexes) = self.by_channel.get(&place) {
            return Ok(Rc::clone(indexes));
        }
        if !channel.metadata.contains_key(INSTANCE_END_KEY) {
            return Ok(Rc::new([]));
        }
        // The samples of the instance may have several encodings, each with its writer.
        let (topic, type_name) = names_of(channel)?;
        let same_topic = |index: &usize| (&self.writers[*index].0.0, &self.writers[*index].0.1) == (&topic, &type_name);
        let found: Rc<[usize]> = (0..self.writers.len()).filter(same_topic).collect();
        self.by_channel.insert(place, Rc::clone(&found));
        Ok(found)
    }

    fn create_writer(
        &self,
        channel: &Channel<'_>,
        encoding: Encoding,
        watch: &DomainWatch,
        notes: &mut dyn Write,
    ) -> Result<TopicWriter, ToolError> {
        let (topic, type_name) = names_of(channel)?;
        let remap = self.options.remap.iter().find(|(from, _)| is_remapped(from, channel, &topic));
        let name = remap.map_or(topic, |(_, to)| dds_topic(to));
        let name = name.as_str();
        let mut qos = writer_qos_of(channel);
        if self.options.source_timestamps {
            // The recorded samples are older than most lifespans.
            qos.lifespan = dds_core::Duration::INFINITE;
        }
        qos = self.options.qos.writer(qos);
        // An instance without writers is no disposed one.
        qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
        qos.representation = vec![match encoding {
            Encoding::Xcdr1 => DataRepresentation::Xcdr1,
            Encoding::Xcdr2 => DataRepresentation::Xcdr2,
        }];
        let readers = watch.view().endpoints_of(name);
        let publisher = publisher_qos_of(channel).unwrap_or_else(|| publisher_qos(&readers));
        let publisher = self.participant.publisher(self.options.qos.publisher(publisher))?;
        if let Some(schema) = definition_of(channel) {
            match schema_type(schema, &type_name) {
                Ok(ty) => {
                    let topic = self.participant.dynamic_topic(name, &ty, TopicQos::default())?;
                    let writer = publisher.writer_builder(&topic).qos(qos).build()?;
                    return Ok(TopicWriter::Described { writer, ty });
                }
                Err(reason) => writeln!(notes, "{name}: {reason}").map_err(ToolError::output)?,
            }
        }
        let instances = if instance_of(channel).is_some() { "" } else { ", as one instance" };
        writeln!(notes, "{name}: published without its type{instances}").map_err(ToolError::output)?;
        let topic = self.participant.raw_topic(name, &type_name, TopicQos::default())?;
        // Some peers match no writer without a key if the topic has one.
        let is_keyed = channel.metadata.get(KEYED_KEY).is_some_and(|value| value == "true");
        let builder = relay::keyed(publisher.writer_builder(&topic).qos(qos), is_keyed);
        Ok(TopicWriter::Encoded(builder.build()?))
    }

    /// Waits until each writer has a reader. After the time for it, the samples are published all the same.
    fn await_readers(&self, stop: &Stop) {
        let limit = stop.after(Some(self.options.readers_wait));
        for (_, writer) in &self.writers {
            while !limit.is_due() && !writer.await_reader(limit.step()) {}
        }
    }

    fn play_once(&mut self, notes: &mut dyn Write, stop: &Stop) -> Result<PlayedRound, ToolError> {
        self.clock.restart(Instant::now());
        // Of the recording, and of its played part.
        let (mut origin, mut first) = (None, None);
        let mut round = PlayedRound::default();
        for message in recording::messages_by_time(&self.options.file)? {
            if self.is_complete() {
                break;
            }
            let message = message?;
            let channel = &message.channel;
            let place = Duration::from_nanos(message.log_time.saturating_sub(*origin.get_or_insert(message.log_time)));
            if self.options.until.is_some_and(|until| place > until) {
                break;
            }
            let is_selected = is_selected(topic_of(channel), &self.options.topics, &self.options.exclude);
            if place < self.options.start || !is_selected {
                continue;
            }
            round.has_message = true;
            let Ok(sample) = Encoded::new(&message.data) else {
                *self.skipped.entry(channel.topic.clone()).or_default() += 1;
                continue;
            };
            let writers = self.writers_of(channel, sample.encoding)?;
            if writers.is_empty() {
                *self.skipped.entry(channel.topic.clone()).or_default() += 1;
                continue;
            }
            let due = Duration::from_nanos(message.log_time.saturating_sub(*first.get_or_insert(message.log_time)));
            if !self.await_due(due, notes, stop)? {
                break;
            }
            let (options, instance) = (self.write_options(&message), instance_of(channel));
            let mut is_skipped = false;
            for &index in writers.iter() {
                // One message goes to the writers of each QoS.
                if self.is_complete() {
                    break;
                }
                let writer = &self.writers[index].1;
                match channel.metadata.get(INSTANCE_END_KEY) {
                    None => {
                        writer.write(sample, instance, options)?;
                        round.published += 1;
                        self.published += 1;
                    }
                    Some(kind) => is_skipped |= !writer.end_instance(kind, sample, instance, options)?,
                }
            }
            if is_skipped {
                *self.skipped.entry(channel.topic.clone()).or_default() += 1;
            }
        }
        Ok(round)
    }

    /// Returns whether the replay has published as many samples as the user wants.
    fn is_complete(&self) -> bool {
        self.options.end.count.is_some_and(|count| self.published >= count)
    }

    /// Waits until a sample is due, and obeys the keys. `false`: the replay ends before.
    fn await_due(&mut self, due: Duration, notes: &mut dyn Write, stop: &Stop) -> Result<bool, ToolError> {
        let mut key = self.keys.try_recv().ok();
        loop {
            if let Some(key) = key.take() {
                self.obey(key, notes, stop)?;
            }
            if stop.is_due() {
                return Ok(false);
            }
            self.show_progress();
            let limit = match self.clock.wait_for(due, Instant::now()) {
                PlayWait::Due => return Ok(true),
                PlayWait::In(left) => left.min(stop.step()),
                PlayWait::Paused => stop.step(),
            };
            key = match self.keys.recv_timeout(limit) {
                Ok(key) => Some(key),
                Err(RecvTimeoutError::Timeout) => None,
                // No key can come, and the receiver no longer waits.
                Err(RecvTimeoutError::Disconnected) => {
                    stop.sleep(limit);
                    None
                }
            };
        }
    }

    fn show_progress(&mut self) {
        if !self.progress.is_due() {
            return;
        }
        let place = self.clock.place(Instant::now());
        let (done, whole) = (place.as_secs_f64(), self.length.as_secs_f64());
        let pause = if self.clock.is_paused() { ", paused" } else { "" };
        let text = format!("{done:.1} of {whole:.1} s, {} samples{pause}", self.published);
        self.progress.show_part(place, self.length, text);
    }

    fn obey(&mut self, key: PlayKey, notes: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
        let (now, was_paused) = (Instant::now(), self.clock.is_paused());
        match key {
            PlayKey::Pause => self.clock.toggle(now),
            PlayKey::Step => self.clock.step(now),
            PlayKey::End => stop.request(),
        }
        match (was_paused, self.clock.is_paused()) {
            (false, true) => writeln!(notes, "paused after {:.3} s", self.clock.place(now).as_secs_f64()),
            (true, false) => writeln!(notes, "goes on"),
            _ => Ok(()),
        }
        .map_err(ToolError::output)
    }

    fn write_options(&self, message: &Message<'_>) -> WriteOptions {
        let options = WriteOptions::new();
        if self.options.source_timestamps {
            return options.source_timestamp(recording::time_of(message.publish_time));
        }
        options
    }

    fn finish(self, notes: &mut dyn Write) -> Result<PlayedTotal, ToolError> {
        for (_, writer) in &self.writers {
            writer.await_acknowledgments()?;
        }
        for (topic, count) in &self.skipped {
            writeln!(notes, "{topic}: {count} messages are no samples of its type").map_err(ToolError::output)?;
        }
        let topics: BTreeSet<_> = self.writers.iter().map(|((topic, type_name, ..), _)| (topic, type_name)).collect();
        let total = PlayedTotal { published: self.published, topics: topics.len() };
        writeln!(notes, "published {} samples of {} topics", total.published, total.topics)
            .map_err(ToolError::output)?;
        Ok(total)
    }
}

/// Returns whether `from` names the channel, or its DDS topic.
fn is_remapped(from: &str, channel: &Channel<'_>, topic: &str) -> bool {
    from == topic_of(channel) || from == topic
}

/// Returns the DDS topic and type name of a channel. Channels of `rosbag2` have the names of ROS.
fn names_of(channel: &Channel<'_>) -> Result<(String, String), ToolError> {
    let schema = channel.schema.as_ref();
    let is_ros = schema.is_some_and(|schema| is_ros_encoding(&schema.encoding));
    // `rosbag2` writes a type without its definition with an empty encoding.
    let may_be_ros = schema.filter(|schema| is_ros || schema.encoding.is_empty());
    let ros_name = may_be_ros.and_then(|schema| schema.name.parse::<InterfaceName>().ok());
    let topic = match channel.metadata.get(TOPIC_KEY) {
        Some(topic) => topic.clone(),
        None if is_ros || ros_name.is_some() => dds_topic(&channel.topic),
        None => channel.topic.clone(),
    };
    let type_name = match (channel.metadata.get(TYPE_NAME_KEY), ros_name, schema) {
        (Some(name), ..) => Some(name.clone()),
        (None, Some(name), _) => Some(name.dds_type_name()),
        (None, None, Some(schema)) if !is_ros => Some(schema.name.clone()),
        (None, None, _) => None,
    };
    let Some(type_name) = type_name else {
        let name = topic_of(channel);
        let reason = format!("topic {name} of the recording has no type name; leave it out: --exclude {name}");
        return Err(ToolError::value(reason));
    };
    Ok((topic, type_name))
}

/// Returns the QoS of the recorded writer, or what the recording tells of it.
///
/// The writer keeps at least [`DEPTH_MIN`] samples: a replay must not lose samples of a slow reader.
fn writer_qos_of(channel: &Channel<'_>) -> DataWriterQos {
    let of_ros = || channel.metadata.get(OFFERED_QOS_KEY).and_then(|offered| offered_writer_qos(offered));
    let mut qos = json_of(channel, WRITER_QOS_KEY).or_else(of_ros).unwrap_or_else(|| {
        let is_set = |key| channel.metadata.get(key).map(|value| value == "true");
        let qos = DataWriterQos::default();
        let qos = if is_set(RELIABLE_KEY).unwrap_or(true) { qos.reliable() } else { qos.best_effort() };
        if is_set(TRANSIENT_LOCAL_KEY).unwrap_or(false) { qos.transient_local() } else { qos }
    });
    // HISTORY takes no part in matching. A writer that keeps all would hold the whole recording for a slow reader.
    let depth = match qos.history {
        History::KeepLast { depth } => depth.clamp(DEPTH_MIN, DEPTH_MAX),
        History::KeepAll => DEPTH_MIN,
    };
    qos = qos.keep_last(depth);
    // Peers do not announce these limits.
    qos.resource_limits = ResourceLimits::default();
    qos
}

/// Returns the QoS of the recorded publisher. `None` if the recording does not have it.
fn publisher_qos_of(channel: &Channel<'_>) -> Option<PublisherQos> {
    json_of(channel, PUBLISHER_QOS_KEY)
}

/// Reads a value of the metadata. A later version may write what this one cannot read.
fn json_of<T: serde::de::DeserializeOwned>(channel: &Channel<'_>, key: &str) -> Option<T> {
    serde_json::from_str(channel.metadata.get(key)?).ok()
}
