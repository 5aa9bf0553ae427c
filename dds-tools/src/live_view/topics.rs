//! The topics that the server offers, with readers for those that a client or the page looks at.

use super::foxglove;
use super::outbox::Outbox;
use crate::domain_view::{DomainView, TopicView};
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
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
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
/// How often, and in which period, new endpoints of a topic are asked for their type.
const TYPE_CHECKS: u32 = 10;
const TYPE_CHECK_PERIOD: Duration = Duration::from_millis(500);

/// The figures of a topic in the last period. Totals also have the samples of earlier readers.
#[derive(Debug, Clone, Default, Serialize)]
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
    type_checks: TypeChecks,
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
    /// Lost samples of closed readers.
    lost_before: u64,
    pub(crate) figures: TopicFigures,
}

/// The totals of a topic. A collector of metrics relies on totals that never decrease.
#[derive(Debug, Clone, Copy, Default)]
struct TopicTotals {
    samples: u64,
    bytes: u64,
    lost: u64,
}

/// When to ask the endpoints of a topic for their type again.
#[derive(Debug, Default)]
struct TypeChecks {
    /// Identifies the endpoints.
    endpoints: u64,
    left: u32,
    last: Option<Instant>,
}

impl TypeChecks {
    /// Returns whether to ask now. Remote descriptions arrive later than the own one, so the topic is asked ten times.
    fn is_due(&mut self, endpoints: u64, now: Instant) -> bool {
        if self.endpoints != endpoints {
            *self = Self { endpoints, left: TYPE_CHECKS, last: None };
        }
        let is_due = self.left > 0 && self.last.is_none_or(|last| now - last >= TYPE_CHECK_PERIOD);
        if is_due {
            self.left -= 1;
            self.last = Some(now);
        }
        is_due
    }
}

/// All topics that the server offers.
pub(crate) struct ServedTopics {
    participant: DomainParticipant,
    types: TopicTypes,
    topics: BTreeMap<String, ServedTopic>,
    channels: ChannelIndex,
    next_id: u32,
    /// Totals of topics that have left and may come back. Bounded by [`TOPICS_MAX`].
    departed: HashMap<String, TopicTotals>,
    /// Topics that no reader of the program can match.
    refused: BTreeMap<String, TopicRefusal>,
    /// Topics whose type in the file has a mistake, with the diagnostics.
    faulty_types: BTreeMap<String, String>,
}

/// Why a topic has no reader.
struct TopicRefusal {
    reason: String,
    /// Identifies the endpoints. Others may make a reader possible.
    endpoints: u64,
}

/// The topics by channel, and the channels by client and subscription.
#[derive(Default)]
struct ChannelIndex {
    topics: HashMap<u32, String>,
    subscriptions: HashMap<u64, HashMap<u32, u32>>,
}

impl ChannelIndex {
    /// Forgets the channel of a topic.
    fn remove(&mut self, topic: &ServedTopic) {
        self.topics.remove(&topic.id);
        for (client, subscription) in &topic.subscribers {
            if let Some(subscriptions) = self.subscriptions.get_mut(client) {
                subscriptions.remove(subscription);
            }
        }
    }
}

/// Channels that appeared and disappeared.
#[derive(Debug, Default)]
pub(crate) struct ChannelChanges {
    pub(crate) added: Vec<Value>,
    pub(crate) removed: Vec<u32>,
    /// Topics with a new type. They have no reader before the next update.
    pub(crate) typed: Vec<String>,
}

impl ServedTopics {
    pub(crate) fn new(participant: DomainParticipant, types: TopicTypes) -> Self {
        Self {
            participant,
            types,
            topics: BTreeMap::new(),
            channels: ChannelIndex::default(),
            next_id: 1,
            departed: HashMap::new(),
            refused: BTreeMap::new(),
            faulty_types: BTreeMap::new(),
        }
    }

    /// Returns the topics that the server cannot show in full, each with the reason.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&str, &str)> {
        let refused = self.refused.iter().map(|(topic, refusal)| (topic.as_str(), refusal.reason.as_str()));
        refused.chain(self.faulty_types.iter().map(|(topic, reason)| (topic.as_str(), reason.as_str())))
    }

    /// Lets the next update create the reader of a refused topic again. An own writer of the topic has left.
    pub(crate) fn retry(&mut self, topic: &str) {
        self.refused.remove(topic);
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
        self.remove_departed(&found, &mut changes);
        for (name, endpoints) in &found {
            let fingerprint = fingerprint(endpoints);
            if self.refused.get(*name).is_some_and(|refusal| refusal.endpoints != fingerprint) {
                self.refused.remove(*name);
            }
            if self.update_type(name, endpoints, fingerprint, &mut changes)? {
                // A writer of a client may have the old type. It leaves first.
                changes.typed.push((*name).to_owned());
                continue;
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
                self.refused
                    .insert((*name).to_owned(), TopicRefusal { reason: error.to_string(), endpoints: fingerprint });
            }
        }
        Ok(changes)
    }

    /// Removes the topics without endpoints, and keeps their totals.
    fn remove_departed(&mut self, found: &BTreeMap<&str, TopicView<'_>>, changes: &mut ChannelChanges) {
        let Self { topics, channels, departed, .. } = self;
        topics.retain(|name, topic| {
            if found.contains_key(name.as_str()) {
                return true;
            }
            changes.removed.extend(topic.advertisement.as_ref().map(|_| topic.id));
            channels.remove(topic);
            topic.close_reader();
            if departed.len() >= TOPICS_MAX {
                departed.clear();
            }
            departed.insert(name.clone(), topic.totals());
            false
        });
        self.refused.retain(|name, _| found.contains_key(name.as_str()));
        self.faulty_types.retain(|name, _| found.contains_key(name.as_str()));
        self.types.keep_waits(|name| found.contains_key(name));
    }

    /// Creates the channel of a new topic. A topic with another type gets a new channel. Returns whether it has one.
    fn update_type(
        &mut self,
        name: &str,
        endpoints: &TopicView<'_>,
        fingerprint: u64,
        changes: &mut ChannelChanges,
    ) -> Result<bool, ToolError> {
        let is_due = match self.topics.get_mut(name) {
            Some(topic) => topic.type_checks.is_due(fingerprint, Instant::now()),
            None => self.topics.len() < TOPICS_MAX,
        };
        if !is_due {
            return Ok(false);
        }
        let found = self.types.of_topic(name, endpoints);
        self.faulty_types.remove(name);
        let ty = match found {
            Ok(Some(ty)) => ty,
            Ok(None) => return Ok(false),
            Err(ToolError::TypeFile { text }) => {
                // A known topic keeps its type.
                self.faulty_types.insert(name.to_owned(), text);
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let old = self.topics.get_mut(name);
        // Endpoints without a description do not contradict the type.
        if old.as_ref().is_some_and(|old| ty.dynamic().is_none() || ty.dynamic() == old.ty.dynamic()) {
            return Ok(false);
        }
        let mut topic = ServedTopic::new(self.next_id, name, ty);
        topic.type_checks.endpoints = fingerprint;
        if let Some(old) = old {
            // A participant has one type for each topic name, so the old reader must leave first.
            old.close_reader();
            topic.restore(old.totals());
            changes.removed.extend(old.advertisement.as_ref().map(|_| old.id));
            self.channels.remove(old);
            self.refused.remove(name);
        } else if let Some(totals) = self.departed.remove(name) {
            topic.restore(totals);
        }
        self.next_id += 1;
        changes.added.extend(topic.advertisement.clone());
        self.channels.topics.insert(topic.id, name.to_owned());
        self.topics.insert(name.to_owned(), topic);
        Ok(true)
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
        let ChannelIndex { topics: names, subscriptions } = &mut self.channels;
        let subscriptions = subscriptions.entry(client).or_default();
        if subscriptions.contains_key(&subscription) {
            return Some(format!("the subscription {subscription} exists already"));
        }
        let Some(topic) = names.get(&channel).and_then(|name| self.topics.get_mut(name)) else {
            return Some(format!("there is no channel {channel}"));
        };
        // The protocol allows one subscription of a channel for each client.
        if let Some((_, other)) = topic.subscribers.iter().find(|(owner, _)| *owner == client) {
            return Some(format!("the channel {channel} has the subscription {other} of this client already"));
        }
        topic.subscribers.push((client, subscription));
        subscriptions.insert(subscription, channel);
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
        let ended: Vec<u32> = match (subscriptions, self.channels.subscriptions.get_mut(&client)) {
            (_, None) => return,
            (Some(list), Some(own)) => list.iter().filter_map(|subscription| own.remove(subscription)).collect(),
            (None, Some(own)) => own.drain().map(|(_, channel)| channel).collect(),
        };
        for channel in ended {
            if let Some(topic) = self.channels.topics.get(&channel).and_then(|name| self.topics.get_mut(name)) {
                // A client has one subscription of a channel.
                topic.subscribers.retain(|(owner, _)| *owner != client);
            }
        }
        if subscriptions.is_none() {
            self.channels.subscriptions.remove(&client);
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
            type_checks: TypeChecks::default(),
            advertisement,
            reader: None,
            subscribers: Vec::new(),
            latches: false,
            latched: LatchedSamples::new(LATCHED_MAX, LATCHED_BYTES_MAX),
            // Two digits make an error of at most 1 %, in some kilobytes.
            delays: Histogram::new(2).ok(),
            last_sample: None,
            inspected: None,
            lost_before: 0,
            figures: TopicFigures::default(),
        }
    }

    fn is_inspected(&self) -> bool {
        self.inspected.is_some_and(|asked| asked.elapsed() < INSPECTION_TIME)
    }

    fn close_reader(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        self.latched = LatchedSamples::new(LATCHED_MAX, LATCHED_BYTES_MAX);
        self.count_lost(reader.losses().total().lost());
        self.restore(self.totals());
    }

    /// Counts the lost samples of the present reader. The reader may take back a loss, but the total must not decrease.
    fn count_lost(&mut self, lost: u64) {
        self.figures.lost_total = self.figures.lost_total.max(self.lost_before + lost);
    }

    const fn totals(&self) -> TopicTotals {
        let TopicFigures { samples_total, bytes_total, lost_total, .. } = self.figures;
        TopicTotals { samples: samples_total, bytes: bytes_total, lost: lost_total }
    }

    /// Begins with the totals of earlier readers.
    fn restore(&mut self, TopicTotals { samples, bytes, lost }: TopicTotals) {
        self.lost_before = lost;
        self.figures =
            TopicFigures { samples_total: samples, bytes_total: bytes, lost_total: lost, ..TopicFigures::default() };
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
        let Some(reader) = &mut self.reader else { return };
        let period = reader.end_period();
        let lost = reader.losses().total().lost();
        self.count_lost(lost);
        let Self { delays, figures, .. } = self;
        figures.rate_hz = period.rate;
        figures.bytes_per_second = period.bytes_per_second;
        figures.lost = period.losses.total().lost();
        figures.loss_text = period.losses.to_string().lines().next().unwrap_or_default().to_owned();
        let Some(delays) = delays else { return };
        let at = |quantile| if delays.is_empty() { None } else { Some(delays.value_at_quantile(quantile)) };
        (figures.delay_p50_ns, figures.delay_p99_ns) = (at(0.5), at(0.99));
        delays.reset();
    }
}

/// Returns a number that changes with the endpoints of a topic.
fn fingerprint(endpoints: &TopicView<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for writer in &endpoints.writers {
        (writer.key, &writer.type_name).hash(&mut hasher);
    }
    for reader in &endpoints.readers {
        (reader.key, &reader.type_name).hash(&mut hasher);
    }
    hasher.finish()
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

#[cfg(test)]
mod tests {
    use super::{Outbox, ServedTopic, ServedTopics};
    use crate::domain_view::DomainWatch;
    use crate::topic_types::{KnownType, TopicTypes};
    use dds_core::qos::Preset;
    use dds_core::{DataWriter, DdsType, DomainParticipant, Scope};
    use serde_json::Value;
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    mod old {
        #[derive(dds_core::DdsType, Debug, Clone, PartialEq)]
        pub(super) struct Pose {
            pub(super) x: f64,
        }
    }

    #[derive(DdsType, Debug, Clone, PartialEq)]
    struct Pose {
        x: f64,
        y: f64,
    }

    struct Watched {
        watch: DomainWatch,
        topics: ServedTopics,
        robot: DomainParticipant,
    }

    impl Watched {
        fn new(test: &str) -> Self {
            Self::with_types(test, None)
        }

        fn with_types(test: &str, file: Option<PathBuf>) -> Self {
            let tag = format!("dds-tools-topics-{test}-{}", std::process::id());
            let join = || DomainParticipant::builder(0).scope(Scope::Host).domain_tag(&tag).build().unwrap();
            let participant = join();
            let watch = DomainWatch::new(&participant).unwrap();
            let types = TopicTypes::new(participant.clone(), Duration::from_secs(30), file).unwrap();
            Self { watch, topics: ServedTopics::new(participant, types), robot: join() }
        }

        /// Updates the topics until `look` returns a value.
        fn until<T>(
            &mut self,
            page_looks: bool,
            mut look: impl FnMut(&ServedTopics, &[Value], &[u32]) -> Option<T>,
        ) -> T {
            let start = Instant::now();
            loop {
                self.watch.update().unwrap();
                let changes = self.topics.update(self.watch.view(), page_looks).unwrap();
                self.topics.take(&HashMap::new()).unwrap();
                if let Some(found) = look(&self.topics, &changes.added, &changes.removed) {
                    return found;
                }
                assert!(start.elapsed() < Duration::from_secs(30), "nothing came in 30 s: {}", self.text());
                std::thread::sleep(Duration::from_millis(10));
            }
        }

        /// Waits until the reader of the topic and the writer know each other.
        ///
        /// A writer may match first. A reader that does not know the writer yet does not get its samples.
        fn match_both_ways(&mut self, writer: &DataWriter<Pose>) {
            self.until(true, |topics, _, _| {
                let reader = topics.topics.get("pose")?.reader.as_ref()?;
                reader.losses().writers.first().map(|_| ())
            });
            writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        }

        /// The state of each topic, for the message of a failure.
        fn text(&self) -> String {
            let topics = self.topics.topics.iter().map(|(name, topic)| {
                let losses = topic.reader.as_ref().map(|reader| reader.losses());
                let is_typed = topic.ty.dynamic().is_some();
                format!("{name}: {} samples, typed: {is_typed}, {losses:?}; ", topic.figures.samples_total)
            });
            topics.collect()
        }

        fn channel_id(&mut self) -> u32 {
            self.until(false, |_, added, _| Some(added.first()?["id"].as_u64()? as u32))
        }
    }

    fn total(topics: &ServedTopics) -> u64 {
        topics.topics.get("pose").map_or(0, |topic| topic.figures.samples_total)
    }

    #[test]
    fn totals_survive_a_closed_reader() {
        let mut watched = Watched::new("totals");
        let writer: DataWriter<Pose> = watched.robot.writer_builder("pose").qos(Preset::Event).build().unwrap();
        for expected in [3, 6] {
            watched.match_both_ways(&writer);
            for _ in 0..3 {
                writer.write(&Pose { x: 0.0, y: 0.0 }).unwrap();
            }
            watched.until(true, |topics, _, _| (total(topics) == expected).then_some(()));
            watched.until(false, |topics, _, _| topics.topics.get("pose")?.reader.is_none().then_some(()));
            assert_eq!(total(&watched.topics), expected);
            // The next round must not take the match of the closed reader for its own.
            watched.until(false, |_, _, _| writer.matched_subscriptions().is_empty().then_some(()));
        }
    }

    #[test]
    fn totals_survive_a_departed_topic() {
        let mut watched = Watched::new("departed");
        for expected in [3, 6] {
            let writer: DataWriter<Pose> = watched.robot.writer_builder("pose").qos(Preset::Event).build().unwrap();
            watched.match_both_ways(&writer);
            for _ in 0..3 {
                writer.write(&Pose { x: 0.0, y: 0.0 }).unwrap();
            }
            watched.until(true, |topics, _, _| (total(topics) == expected).then_some(()));
            drop(writer);
            watched.until(true, |topics, _, _| topics.topics.is_empty().then_some(()));
        }
    }

    #[test]
    fn lost_total_never_decreases() {
        let mut topic = ServedTopic::new(1, "pose", KnownType::Unknown);
        for (lost, expected) in [(3, 3), (2, 3), (5, 5)] {
            topic.count_lost(lost);
            assert_eq!(topic.figures.lost_total, expected);
        }
        topic.restore(topic.totals());
        topic.count_lost(1);
        assert_eq!(topic.figures.lost_total, 6);
    }

    #[test]
    fn type_file_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pose.idl");
        std::fs::write(&file, "@final struct Pose { double x; double y; double z; };").unwrap();
        let mut watched = Watched::with_types("file", Some(file.clone()));
        // A program writes the file again.
        std::fs::write(&file, "@final struct Po").unwrap();
        let _writer: DataWriter<Pose> = watched.robot.writer_builder("pose").build().unwrap();
        let schema = watched.until(false, |_, added, _| Some(added.first()?["schema"].as_str()?.to_owned()));
        assert!(schema.contains("double z"), "{schema}");
        let _reader = watched.robot.reader_builder::<Pose>("pose").build().unwrap();
        watched.until(true, |topics, _, _| topics.topics.get("pose")?.reader.as_ref().map(|_| ()));
        assert!(TopicTypes::new(watched.robot.clone(), Duration::ZERO, Some(file)).is_err());
    }

    #[test]
    fn other_type_is_another_channel() {
        let mut watched = Watched::new("type");
        // The topic remains, because a reader without a description stays.
        let topic = watched.robot.raw_topic("pose", "Pose", Default::default()).unwrap();
        let _reader = watched.robot.reader_builder(&topic).build().unwrap();
        let old: DataWriter<old::Pose> = watched.robot.writer_builder("pose").qos(Preset::Event).build().unwrap();
        let first = watched.channel_id();
        watched.until(true, |topics, _, _| topics.topics.get("pose")?.reader.as_ref().map(|_| ()));
        old.close();
        drop((old, topic));
        let writer: DataWriter<Pose> = watched.robot.writer_builder("pose").qos(Preset::Event).build().unwrap();
        let schema = watched.until(true, |_, added, removed| {
            let schema = added.first()?["schema"].as_str()?.to_owned();
            assert_eq!(removed, [first]);
            Some(schema)
        });
        assert!(schema.contains("double y"), "{schema}");
        watched.until(true, |topics, _, _| {
            writer.write(&Pose { x: 1.0, y: 2.0 }).unwrap();
            (total(topics) > 0).then_some(())
        });
    }

    #[test]
    fn client_has_one_subscription_for_each_channel() {
        let mut watched = Watched::new("subscription");
        let _writer: DataWriter<Pose> = watched.robot.writer_builder("pose").build().unwrap();
        let channel = watched.channel_id();
        let _other: DataWriter<Pose> = watched.robot.writer_builder("other").build().unwrap();
        let other = watched.channel_id();
        let (topics, outbox) = (&mut watched.topics, Outbox::default());
        assert_eq!(topics.subscribe(1, &outbox, 5, channel), None);
        assert_eq!(topics.subscribe(2, &outbox, 5, channel), None);
        let refused = topics.subscribe(1, &outbox, 6, channel);
        assert_eq!(refused, Some(format!("the channel {channel} has the subscription 5 of this client already")));
        assert_eq!(topics.subscribe(1, &outbox, 5, other), Some("the subscription 5 exists already".to_owned()));
        topics.unsubscribe(1, Some(&[5]));
        assert_eq!(topics.subscribe(1, &outbox, 6, channel), None);
    }
}
