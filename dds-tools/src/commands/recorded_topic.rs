//! A topic that is recorded: its channels, and its figures.
//!
//! Each writer has a channel, so the QoS and the GUID of a writer belong to each of its samples. If the samples do not
//! tell their keys, each instance of a writer has one.

use super::record::Sink;
use crate::domain_view::{DomainView, DomainWatch, TopicView};
use crate::error::ToolError;
use crate::latched_samples::LatchedKey;
use crate::recording::{
    INSTANCE_END_KEY, KEY_HASH_KEY, KEYED_KEY, PARTICIPANT_KEY, PUBLISHER_QOS_KEY, RELIABLE_KEY, RecordedChannel,
    TOPIC_KEY, TRANSIENT_LOCAL_KEY, TYPE_NAME_KEY, WRITER_KEY, WRITER_QOS_KEY, key_hash_text,
};
use crate::recording_ring::MessageRole;
use crate::ros::{OFFERED_QOS_KEY, RosTopicType, TYPE_HASH_KEY, offered_qos};
use crate::ros_schemas::is_ros_encoding;
use crate::topic_reader::{EndedInstance, TopicChange};
use crate::topic_types::KnownType;
use dds_cdr::filter::Filter;
use dds_core::builtin::PublicationBuiltinTopicData;
use dds_core::cdr::Encoding;
use dds_core::qos::{Durability, PublisherQos};
use dds_core::{Guid, InstanceHandle, InstanceState, SampleInfo};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most channels of single writers and instances in all topics. The format has 65 535 channels.
pub(super) const WRITER_CHANNELS_MAX: usize = 32_768;

/// Content of a message for the end of an instance with a known hash and an unknown key: CDR_LE without a value.
const END_WITHOUT_KEY: [u8; 4] = [0, 1, 0, 0];

/// Where a message goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessagePlace {
    pub(super) channel: usize,
    pub(super) role: MessageRole,
}

/// The end of an instance as a message.
pub(super) struct EndMessage {
    pub(super) place: MessagePlace,
    /// A sample that has only the key, or [`END_WITHOUT_KEY`].
    pub(super) payload: Vec<u8>,
}

/// Samples that share a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RecordedSource {
    writer: InstanceHandle,
    /// Nil if the samples tell their keys.
    instance: InstanceHandle,
}

/// A topic that is recorded.
pub(super) struct RecordedTopic {
    pub(super) name: String,
    /// Number of the topic in its set.
    number: usize,
    definition: RecordedChannel,
    is_transient_local: bool,
    /// Whether only the key hash of a sample tells its instance.
    records_key_hashes: bool,
    /// The channels of single sources. All topics together have at most [`WRITER_CHANNELS_MAX`].
    by_source: HashMap<RecordedSource, usize>,
    /// The source of the last sample. Most samples have the same one as the sample before.
    last: Option<(RecordedSource, usize)>,
    /// The channel of all other sources. It exists after the first sample of one.
    shared: Option<usize>,
    /// Channels for disposed instances, and for instances without writers. They exist after the first such end.
    ///
    /// A known key is in the message, and its channel is that of the nil instance.
    end_channels: HashMap<(&'static str, InstanceHandle), usize>,
    filter: Option<Filter>,
    pub(super) samples: u64,
    pub(super) ends: u64,
    pub(super) ends_without_key: u64,
}

impl RecordedTopic {
    pub(super) fn new(
        number: usize,
        name: &str,
        topic: &TopicView<'_>,
        ty: &KnownType,
        filter: Option<Filter>,
    ) -> Self {
        let definition = definition(name, topic, ty);
        Self {
            name: name.to_owned(),
            number,
            is_transient_local: topic.writers.iter().any(|writer| is_transient_local(writer)),
            definition,
            records_key_hashes: ty.dynamic().is_none() && topic.has_key(),
            by_source: HashMap::new(),
            last: None,
            shared: None,
            end_channels: HashMap::new(),
            filter,
            samples: 0,
            ends: 0,
            ends_without_key: 0,
        }
    }

    /// Returns whether a writer kept samples for late readers when the topic appeared.
    pub(super) const fn is_transient_local(&self) -> bool {
        self.is_transient_local
    }

    /// Returns whether the topic has the names and the message definition of ROS.
    pub(super) fn is_ros(&self) -> bool {
        self.definition.metadata.contains_key(OFFERED_QOS_KEY)
    }

    pub(super) fn passes(&self, change: &TopicChange<'_>) -> bool {
        match (change, &self.filter) {
            (TopicChange::Sample(sample), Some(filter)) => filter.passes(sample.bytes),
            _ => true,
        }
    }

    /// Counts a sample, and returns its place.
    pub(super) fn place_of(
        &mut self,
        info: &SampleInfo,
        watch: &mut DomainWatch,
        sink: &mut Sink,
    ) -> Result<MessagePlace, ToolError> {
        self.samples += 1;
        let channel = self.channel_of(info, watch, sink)?;
        let role = match self.is_transient_local {
            true => MessageRole::Latched(LatchedKey::new(self.number, info)),
            false => MessageRole::Volatile,
        };
        Ok(MessagePlace { channel, role })
    }

    fn channel_of(&mut self, info: &SampleInfo, watch: &mut DomainWatch, sink: &mut Sink) -> Result<usize, ToolError> {
        let instance = if self.records_key_hashes { info.instance_handle } else { InstanceHandle::NIL };
        let source = RecordedSource { writer: info.publication_handle, instance };
        match self.last {
            Some((last, channel)) if last == source => return Ok(channel),
            _ => {}
        }
        let channel = match self.by_source.get(&source) {
            Some(channel) => *channel,
            None if !source.writer.is_nil() && sink.writer_channels < WRITER_CHANNELS_MAX => {
                // The announcement of a writer arrives before its first sample.
                watch.update()?;
                let channel = sink.add_channel(source_channel(&self.definition, source, watch.view()));
                sink.writer_channels += 1;
                self.by_source.insert(source, channel);
                channel
            }
            None => *self.shared.get_or_insert_with(|| sink.add_channel(self.definition.clone())),
        };
        self.last = Some((source, channel));
        Ok(channel)
    }

    /// Counts the end of an instance, and returns its message. `None` if neither the key nor its hash is known.
    pub(super) fn end_of(&mut self, info: &SampleInfo, end: &EndedInstance, sink: &mut Sink) -> Option<EndMessage> {
        // Message definitions of ROS have no other encoding than XCDR1.
        let payload = end.key.as_ref().and_then(|key| key.to_payload(Encoding::Xcdr1).ok());
        let hash = if self.records_key_hashes { key_hash_text(info.instance_handle) } else { None };
        let kind = if end.state == InstanceState::NotAliveDisposed { "disposed" } else { "no_writers" };
        let instance = if payload.is_some() { InstanceHandle::NIL } else { info.instance_handle };
        let has_room = sink.writer_channels < WRITER_CHANNELS_MAX || self.end_channels.contains_key(&(kind, instance));
        let payload = payload.or_else(|| (hash.is_some() && has_room).then(|| END_WITHOUT_KEY.to_vec()));
        let Some(payload) = payload else {
            self.ends_without_key += 1;
            return None;
        };
        self.ends += 1;
        let definition = &self.definition;
        let channel = *self.end_channels.entry((kind, instance)).or_insert_with(|| {
            let mut channel = definition.clone();
            channel.metadata.insert(INSTANCE_END_KEY.to_owned(), kind.to_owned());
            channel.metadata.extend(hash.map(|hash| (KEY_HASH_KEY.to_owned(), hash)));
            channel.name += &format!("#{kind}");
            sink.writer_channels += 1;
            sink.add_channel(channel)
        });
        let role = MessageRole::EndsInstance(self.number, info.instance_handle);
        Some(EndMessage { place: MessagePlace { channel, role }, payload })
    }
}

fn is_transient_local(writer: &PublicationBuiltinTopicData) -> bool {
    writer.qos.durability >= Durability::TransientLocal
}

/// Returns the channel of a topic, without the facts of a single writer.
fn definition(name: &str, topic: &TopicView<'_>, ty: &KnownType) -> RecordedChannel {
    let is_reliable = topic.writers.iter().all(|writer| writer.qos.reliability.is_reliable());
    let is_transient_local = topic.writers.iter().any(|writer| is_transient_local(writer));
    let mut metadata = BTreeMap::from([
        (TYPE_NAME_KEY.to_owned(), ty.name(topic)),
        (TOPIC_KEY.to_owned(), name.to_owned()),
        (RELIABLE_KEY.to_owned(), is_reliable.to_string()),
        (TRANSIENT_LOCAL_KEY.to_owned(), is_transient_local.to_string()),
        (KEYED_KEY.to_owned(), topic.has_key().to_string()),
    ]);
    let (name, schema) = ty.channel(name);
    let is_ros = schema.as_ref().is_some_and(|schema| is_ros_encoding(schema.encoding));
    if let (KnownType::Ros(RosTopicType { hash, .. }), true) = (ty, is_ros) {
        metadata.insert(OFFERED_QOS_KEY.to_owned(), offered_qos(&topic.writers));
        metadata.extend(hash.clone().map(|hash| (TYPE_HASH_KEY.to_owned(), hash)));
    }
    RecordedChannel { name: name.to_owned(), schema: schema.map(Arc::new), metadata }
}

/// Returns the channel of a writer, or of one of its instances. A writer that has left has its GUID alone.
fn source_channel(definition: &RecordedChannel, source: RecordedSource, view: &DomainView) -> RecordedChannel {
    let RecordedSource { writer, instance } = source;
    let mut channel = definition.clone();
    let mut add = |key: &str, value: String| drop(channel.metadata.insert(key.to_owned(), value));
    if let Some(hash) = key_hash_text(instance) {
        add(KEY_HASH_KEY, hash);
    }
    if let Some(bytes) = writer.as_bytes() {
        add(WRITER_KEY, Guid::from_bytes(*bytes).to_string());
    }
    let Some(found) = view.writer(writer) else { return channel };
    add(PARTICIPANT_KEY, view.participant_name(found.participant_key));
    if definition.metadata.contains_key(OFFERED_QOS_KEY) {
        // `rosbag2` reads the profiles of a topic from any of its channels. The writer may be newer than the topic.
        add(OFFERED_QOS_KEY, offered_qos(&view.endpoints_of(&found.topic_name).writers));
    }
    add(RELIABLE_KEY, found.qos.reliability.is_reliable().to_string());
    add(TRANSIENT_LOCAL_KEY, is_transient_local(found).to_string());
    let mut publisher = PublisherQos::default().partition(found.partition.iter().cloned());
    publisher.presentation = found.presentation;
    publisher.group_data.clone_from(&found.group_data);
    // Both consist of numbers and names, which JSON has.
    if let (Ok(writer), Ok(publisher)) = (serde_json::to_string(&found.qos), serde_json::to_string(&publisher)) {
        add(WRITER_QOS_KEY, writer);
        add(PUBLISHER_QOS_KEY, publisher);
    }
    channel
}
