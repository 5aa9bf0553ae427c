//! A topic that is recorded: its channels, and its figures.
//!
//! Each writer has a channel, so the QoS and the GUID of a writer belong to each of its samples.

use super::record::Sink;
use crate::domain_view::{DomainView, DomainWatch, TopicView};
use crate::error::ToolError;
use crate::latched_samples::LatchedKey;
use crate::recording::{
    INSTANCE_END_KEY, KEYED_KEY, PARTICIPANT_KEY, PUBLISHER_QOS_KEY, RELIABLE_KEY, RecordedChannel, TOPIC_KEY,
    TRANSIENT_LOCAL_KEY, TYPE_NAME_KEY, WRITER_KEY, WRITER_QOS_KEY,
};
use crate::recording_ring::MessageRole;
use crate::ros::{OFFERED_QOS_KEY, ROS_SCHEMA_ENCODING, RosTopicType, TYPE_HASH_KEY, offered_qos};
use crate::topic_reader::{EndedInstance, TopicChange};
use crate::topic_types::KnownType;
use dds_cdr::filter::Filter;
use dds_core::builtin::PublicationBuiltinTopicData;
use dds_core::cdr::Encoding;
use dds_core::qos::{Durability, PublisherQos};
use dds_core::{Guid, InstanceHandle, InstanceState, SampleInfo};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most writers of all topics with a channel of their own. The format has 65 535 channels.
pub(super) const WRITER_CHANNELS_MAX: usize = 32_768;

/// Where a message goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessagePlace {
    pub(super) channel: usize,
    pub(super) role: MessageRole,
}

/// The end of an instance as a message.
pub(super) struct EndMessage {
    pub(super) place: MessagePlace,
    /// A sample that has only the key.
    pub(super) payload: Vec<u8>,
}

/// A topic that is recorded.
pub(super) struct RecordedTopic {
    pub(super) name: String,
    /// Number of the topic in its set.
    number: usize,
    definition: RecordedChannel,
    is_transient_local: bool,
    /// The channels of the writers. All topics together have at most [`WRITER_CHANNELS_MAX`].
    by_writer: HashMap<InstanceHandle, usize>,
    /// The writer of the last sample. Most samples have the same one as the sample before.
    last: Option<(InstanceHandle, usize)>,
    /// The channel of all other writers. It exists after the first sample of one.
    shared: Option<usize>,
    /// Channels for disposed instances, and for instances without writers. They exist after the first such end.
    end_channels: [Option<usize>; 2],
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
            by_writer: HashMap::new(),
            last: None,
            shared: None,
            end_channels: [None; 2],
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
        let channel = self.channel_of(info.publication_handle, watch, sink)?;
        let role = match self.is_transient_local {
            true => MessageRole::Latched(LatchedKey::new(self.number, info)),
            false => MessageRole::Volatile,
        };
        Ok(MessagePlace { channel, role })
    }

    fn channel_of(
        &mut self,
        writer: InstanceHandle,
        watch: &mut DomainWatch,
        sink: &mut Sink,
    ) -> Result<usize, ToolError> {
        match self.last {
            Some((last, channel)) if last == writer => return Ok(channel),
            _ => {}
        }
        let channel = match self.by_writer.get(&writer) {
            Some(channel) => *channel,
            None if !writer.is_nil() && sink.writer_channels < WRITER_CHANNELS_MAX => {
                // The announcement of a writer arrives before its first sample.
                watch.update()?;
                let channel = sink.add_channel(writer_channel(&self.definition, writer, watch.view()));
                sink.writer_channels += 1;
                self.by_writer.insert(writer, channel);
                channel
            }
            None => *self.shared.get_or_insert_with(|| sink.add_channel(self.definition.clone())),
        };
        self.last = Some((writer, channel));
        Ok(channel)
    }

    /// Counts the end of an instance, and returns its message. `None` if the key is unknown.
    pub(super) fn end_of(&mut self, info: &SampleInfo, end: &EndedInstance, sink: &mut Sink) -> Option<EndMessage> {
        // Message definitions of ROS have no other encoding than XCDR1.
        let payload = end.key.as_ref().and_then(|key| key.to_payload(Encoding::Xcdr1).ok());
        let Some(payload) = payload else {
            self.ends_without_key += 1;
            return None;
        };
        self.ends += 1;
        let is_disposed = end.state == InstanceState::NotAliveDisposed;
        let kind = if is_disposed { "disposed" } else { "no_writers" };
        let definition = &self.definition;
        let channel = *self.end_channels[usize::from(is_disposed)].get_or_insert_with(|| {
            let mut channel = definition.clone();
            channel.metadata.insert(INSTANCE_END_KEY.to_owned(), kind.to_owned());
            channel.name += &format!("#{kind}");
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
    let is_ros = schema.as_ref().is_some_and(|schema| schema.encoding == ROS_SCHEMA_ENCODING);
    if let (KnownType::Ros(RosTopicType { hash, .. }), true) = (ty, is_ros) {
        metadata.insert(OFFERED_QOS_KEY.to_owned(), offered_qos(&topic.writers));
        metadata.extend(hash.clone().map(|hash| (TYPE_HASH_KEY.to_owned(), hash)));
    }
    RecordedChannel { name: name.to_owned(), schema: schema.map(Arc::new), metadata }
}

/// Returns the channel of a writer. A writer that has left has its GUID alone.
fn writer_channel(definition: &RecordedChannel, writer: InstanceHandle, view: &DomainView) -> RecordedChannel {
    let mut channel = definition.clone();
    let mut add = |key: &str, value: String| drop(channel.metadata.insert(key.to_owned(), value));
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
