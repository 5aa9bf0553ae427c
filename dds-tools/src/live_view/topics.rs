//! The topics that the server offers, with readers for those that a client or the page looks at.

use super::foxglove;
use super::outbox::Outbox;
use crate::domain_view::DomainView;
use crate::error::ToolError;
use crate::latched_samples::{LatchedKey, LatchedSamples};
use crate::recording::MESSAGE_ENCODING;
use crate::topic_reader::{TopicChange, TopicReader, delay_nanos};
use crate::topic_set::ObservedTopic;
use crate::topic_types::{KnownType, TopicTypes};
use dds_core::DomainParticipant;
use dds_core::dynamic::DynamicData;
use dds_core::qos::Durability;
use hdrhistogram::Histogram;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most topics that the server offers.
const TOPICS_MAX: usize = 4096;
/// Most samples of a transient-local topic that the server keeps for later subscriptions.
const LATCHED_MAX: usize = 1000;
/// Most bytes of these samples for one topic.
const LATCHED_BYTES_MAX: usize = 16 << 20;
/// Longest text of a sample on the page.
const SAMPLE_TEXT_LEN_MAX: usize = 100_000;
/// Time for which the page wants the last sample of a topic after it has asked for it.
const INSPECTION_TIME: Duration = Duration::from_secs(5);

/// The figures of a topic in the last period.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct TopicFigures {
    pub(crate) rate_hz: f64,
    pub(crate) bytes_per_second: f64,
    pub(crate) lost: u64,
    pub(crate) lost_total: u64,
    pub(crate) samples_total: u64,
    pub(crate) bytes_total: u64,
    /// From the source timestamp to the reception. `None` without samples.
    pub(crate) delay_p50_ns: Option<u64>,
    pub(crate) delay_p99_ns: Option<u64>,
    #[serde(skip)]
    pub(crate) loss_text: String,
}

/// A topic that the server offers.
pub(crate) struct ServedTopic {
    id: u32,
    ty: KnownType,
    /// `None` if the type is unknown, so that no client can decode the samples.
    advertisement: Option<Value>,
    reader: Option<ObservedTopic>,
    /// Clients with their subscriptions.
    subscribers: Vec<(u64, u32)>,
    /// Whether a writer keeps its samples for late readers.
    latches: bool,
    latched: LatchedSamples<(u64, Arc<[u8]>)>,
    delays: Option<Histogram<u64>>,
    last_sample: Option<(i64, Vec<u8>)>,
    inspected: Option<Instant>,
    pub(crate) figures: TopicFigures,
}

/// All topics that the server offers.
pub(crate) struct ServedTopics {
    participant: DomainParticipant,
    types: TopicTypes,
    topics: BTreeMap<String, ServedTopic>,
    next_id: u32,
    /// Topics that no reader of the program can match, with the reason.
    pub(crate) refused: BTreeMap<String, String>,
}

/// Channels that appeared and disappeared.
#[derive(Debug, Default)]
pub(crate) struct ChannelChanges {
    pub(crate) added: Vec<Value>,
    pub(crate) removed: Vec<u32>,
}

impl ServedTopics {
    pub(crate) fn new(participant: DomainParticipant, types: TopicTypes) -> Self {
        Self { participant, types, topics: BTreeMap::new(), next_id: 1, refused: BTreeMap::new() }
    }

    /// Returns the announcements of all channels.
    pub(crate) fn advertisements(&self) -> Vec<Value> {
        self.topics.values().filter_map(|topic| topic.advertisement.clone()).collect()
    }

    /// Returns the topics by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &ServedTopic)> {
        self.topics.iter().map(|(name, topic)| (name.as_str(), topic))
    }

    /// Returns the type of a topic, if it is known.
    pub(crate) fn type_of(&self, topic: &str) -> Option<&KnownType> {
        self.topics.get(topic).map(|topic| &topic.ty)
    }

    /// Follows the domain. Topics get readers if a client subscribes to them, or if the page looks at all topics.
    pub(crate) fn update(&mut self, view: &DomainView, page_looks: bool) -> Result<ChannelChanges, ToolError> {
        let found = view.topics();
        let mut changes = ChannelChanges::default();
        self.topics.retain(|name, topic| {
            let remains = found.contains_key(name.as_str());
            if !remains && topic.advertisement.is_some() {
                changes.removed.push(topic.id);
            }
            remains
        });
        self.refused.retain(|name, _| found.contains_key(name.as_str()));
        self.types.keep_waits(|name| found.contains_key(name));
        for (name, endpoints) in &found {
            if !self.topics.contains_key(*name) {
                if self.topics.len() >= TOPICS_MAX {
                    continue;
                }
                let Some(ty) = self.types.of_topic(name, endpoints)? else { continue };
                let topic = ServedTopic::new(self.next_id, name, ty);
                self.next_id += 1;
                changes.added.extend(topic.advertisement.clone());
                self.topics.insert((*name).to_owned(), topic);
            }
            let Some(topic) = self.topics.get_mut(*name) else { continue };
            let is_wanted = !topic.subscribers.is_empty() || page_looks || topic.is_inspected();
            if !is_wanted || endpoints.writers.is_empty() {
                topic.close_reader();
                continue;
            }
            let result = match &mut topic.reader {
                Some(reader) => reader.cover(endpoints),
                None if self.refused.contains_key(*name) => continue,
                None => TopicReader::new(&self.participant, name, endpoints, topic.ty.dynamic())
                    .map(|reader| topic.reader = Some(ObservedTopic::new(reader))),
            };
            topic.latches = endpoints.writers.iter().any(|writer| writer.qos.durability >= Durability::TransientLocal);
            if let Err(error) = result {
                self.refused.insert((*name).to_owned(), error.to_string());
            }
        }
        Ok(changes)
    }

    /// Takes the samples of all readers, and passes them to the subscribers.
    pub(crate) fn take(&mut self, clients: &HashMap<u64, (SocketAddr, Arc<Outbox>)>) -> Result<u64, ToolError> {
        let mut taken = 0;
        for topic in self.topics.values_mut() {
            taken += topic.take(clients)?;
        }
        Ok(taken)
    }

    /// Subscribes a client. Returns the reason if there is no such channel.
    pub(crate) fn subscribe(
        &mut self,
        client: u64,
        outbox: &Outbox,
        subscription: u32,
        channel: u32,
    ) -> Option<String> {
        let Some(topic) = self.topics.values_mut().find(|topic| topic.id == channel) else {
            return Some(format!("there is no channel {channel}"));
        };
        if topic.subscribers.contains(&(client, subscription)) {
            return Some(format!("the subscription {subscription} exists already"));
        }
        topic.subscribers.push((client, subscription));
        let mut latched: Vec<&(u64, Arc<[u8]>)> = topic.latched.iter().collect();
        // The samples of one look at several readers may differ from the order of their reception.
        latched.sort_by_key(|(time, _)| *time);
        for (time, payload) in latched {
            outbox.push_sample(foxglove::sample(subscription, *time, payload));
        }
        None
    }

    /// Ends subscriptions of a client; all of them without a list.
    pub(crate) fn unsubscribe(&mut self, client: u64, subscriptions: Option<&[u32]>) {
        let ended: Option<HashSet<u32>> = subscriptions.map(|list| list.iter().copied().collect());
        for topic in self.topics.values_mut() {
            topic.subscribers.retain(|(owner, subscription)| {
                *owner != client || ended.as_ref().is_some_and(|ended| !ended.contains(subscription))
            });
        }
    }

    /// Ends the period of the figures.
    pub(crate) fn end_period(&mut self) {
        for topic in self.topics.values_mut() {
            topic.end_period();
        }
    }

    /// Returns the last sample of a topic as JSON, and keeps further samples of it for a while.
    pub(crate) fn sample_json(&mut self, name: &str) -> String {
        let Some(topic) = self.topics.get_mut(name) else { return Value::Null.to_string() };
        topic.inspected = Some(Instant::now());
        let Some((time, bytes)) = &topic.last_sample else { return json!({ "topic": name }).to_string() };
        let mut text = match topic.ty.dynamic().map(|ty| DynamicData::from_payload(ty, bytes)) {
            Some(Ok(data)) => serde_json::to_string_pretty(&data).unwrap_or_else(|error| error.to_string()),
            Some(Err(error)) => format!("the sample does not decode: {error}"),
            None => "no endpoint describes the type".to_owned(),
        };
        if text.len() > SAMPLE_TEXT_LEN_MAX {
            text = text.chars().take(SAMPLE_TEXT_LEN_MAX).chain([' ', '…']).collect();
        }
        json!({ "topic": name, "reception_ns": time, "bytes": bytes.len(), "text": text }).to_string()
    }
}

impl ServedTopic {
    fn new(id: u32, name: &str, ty: KnownType) -> Self {
        let advertisement = advertisement(id, name, &ty);
        Self {
            id,
            ty,
            advertisement,
            reader: None,
            subscribers: Vec::new(),
            latches: false,
            latched: LatchedSamples::new(LATCHED_MAX, LATCHED_BYTES_MAX),
            // Two digits make an error of at most 1 %, in some kilobytes.
            delays: Histogram::new(2).ok(),
            last_sample: None,
            inspected: None,
            figures: TopicFigures::default(),
        }
    }

    fn is_inspected(&self) -> bool {
        self.inspected.is_some_and(|asked| asked.elapsed() < INSPECTION_TIME)
    }

    fn close_reader(&mut self) {
        if self.reader.take().is_some() {
            self.latched = LatchedSamples::new(LATCHED_MAX, LATCHED_BYTES_MAX);
            self.figures = TopicFigures::default();
        }
    }

    /// Takes the samples, and passes them to the subscribers. Returns their number.
    fn take(&mut self, clients: &HashMap<u64, (SocketAddr, Arc<Outbox>)>) -> Result<u64, ToolError> {
        let is_inspected = self.is_inspected() || self.last_sample.is_none();
        let Self { reader, subscribers, latches, latched, delays, last_sample, figures, .. } = self;
        let Some(reader) = reader else { return Ok(0) };
        let mut taken = 0;
        reader.take(|info, change| {
            let sample = match change {
                TopicChange::Sample(sample) => sample,
                TopicChange::End(_) => {
                    latched.end_instance(0, info.instance_handle);
                    return Ok(());
                }
            };
            taken += 1;
            figures.samples_total += 1;
            figures.bytes_total += sample.bytes.len() as u64;
            let delay = delay_nanos(info).and_then(|delay| u64::try_from(delay).ok());
            if let (Some(delays), Some(delay)) = (delays.as_mut(), delay) {
                // The histogram grows to any value. `saturating_record` would not let it grow.
                let _ = delays.record(delay);
            }
            let time = info.reception_timestamp.as_unix_nanos();
            if is_inspected {
                *last_sample = Some((time, sample.bytes.to_vec()));
            }
            let time = u64::try_from(time).unwrap_or(0);
            if *latches {
                latched.keep(LatchedKey::new(0, info), sample.bytes.len(), (time, sample.bytes.into()));
            }
            for (client, subscription) in subscribers.iter() {
                if let Some((_, outbox)) = clients.get(client) {
                    outbox.push_sample(foxglove::sample(*subscription, time, sample.bytes));
                }
            }
            Ok(())
        })?;
        Ok(taken)
    }

    fn end_period(&mut self) {
        let Self { reader, delays, figures, .. } = self;
        let Some(reader) = reader else { return };
        let period = reader.end_period();
        figures.rate_hz = period.rate;
        figures.bytes_per_second = period.bytes_per_second;
        figures.lost = period.losses.total().lost();
        figures.lost_total = reader.losses().total().lost();
        figures.loss_text = period.losses.to_string().lines().next().unwrap_or_default().to_owned();
        let Some(delays) = delays else { return };
        let at = |quantile| if delays.is_empty() { None } else { Some(delays.value_at_quantile(quantile)) };
        (figures.delay_p50_ns, figures.delay_p99_ns) = (at(0.5), at(0.99));
        delays.reset();
    }
}

/// Returns the announcement of a channel, or `None` without a type.
fn advertisement(id: u32, name: &str, ty: &KnownType) -> Option<Value> {
    let (topic, schema) = ty.channel(name);
    let schema = schema?;
    Some(json!({
        "id": id,
        "topic": topic,
        "encoding": MESSAGE_ENCODING,
        "schemaName": schema.name,
        "schemaEncoding": schema.encoding,
        "schema": schema.text,
    }))
}
