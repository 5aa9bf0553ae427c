//! Readers of the built-in topics, which receive the data of discovery as samples (DDS 1.4, 2.2.5).
//!
//! In: the events of discovery, one at a time. Out: changes in the caches of the built-in readers, delivered as those
//! of a local writer. Owned: the list of readers, and the number of endpoints of each remote topic.
//!
//! Life cycle: nothing is recorded or encoded before the first built-in reader. It receives the data that discovery has
//! at that moment. The list has weak references, and the next event removes those of dropped readers. Bound: the data
//! of discovery.

use crate::actor::{Actor, Effects};
use crate::context::ParticipantCore;
use crate::delivery::{LocalBegin, LocalPath, LocalTerms};
use crate::publication::WriterCell;
use crate::qos::Durability;
use crate::subscription::{ReaderCell, ReaderHandle, ReaderMail, SubscriberGroup};
use crate::topic::{BuiltinKind, topic_key, topic_qos_of_reader};
use dds_rtps::concurrent::Payload;
use dds_rtps::discovery::data::{EndpointData, PublicationData, SubscriptionData, endpoint_key, participant_key};
use dds_rtps::discovery::{DiscoveredReader, DiscoveredWriter, ParticipantEvent, ParticipantLoss};
use dds_rtps::history::{CacheChange, ChangeKind};
use dds_rtps::types::{EntityId, Guid, InstanceHandle, SequenceNumber};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The built-in readers of a participant.
pub(crate) struct BuiltinReaders {
    core: Arc<ParticipantCore>,
    state: Mutex<BuiltinState>,
    /// The subscriber of the standard readers, while a handle of it or of such a reader exists.
    subscriber: Mutex<Weak<SubscriberGroup>>,
}

#[derive(Default)]
struct BuiltinState {
    feeds: Vec<BuiltinFeed>,
    topics: TopicCounts,
}

/// A reader, and the sequence number of its last change.
struct BuiltinFeed {
    kind: BuiltinKind,
    reader: Weak<ReaderCell>,
    last: SequenceNumber,
}

/// The topics of remote endpoints.
#[derive(Default)]
struct TopicCounts {
    /// The topic of each endpoint.
    of_endpoint: BTreeMap<Guid, Guid>,
    /// How many endpoints have it.
    users: BTreeMap<Guid, usize>,
}

impl TopicCounts {
    /// Records a new or changed endpoint. Returns the topic that appears and the one that disappears.
    fn announced(&mut self, endpoint: &EndpointData) -> (Option<Guid>, Option<Guid>) {
        let topic = topic_key(&endpoint.topic_name, &endpoint.type_name);
        let before = self.of_endpoint.insert(endpoint.guid, topic);
        if before == Some(topic) {
            return (None, None);
        }
        let users = self.users.entry(topic).or_insert(0);
        *users += 1;
        let new = if *users == 1 { Some(topic) } else { None };
        // After the new topic was counted: an endpoint may change its topic, and the old one may lose its last user.
        let old = match before {
            Some(before) => self.release(before),
            None => None,
        };
        (new, old)
    }

    /// Records the end of an endpoint. Returns the topic that disappears.
    fn withdrawn(&mut self, endpoint: Guid) -> Option<Guid> {
        // Discovery may withdraw an endpoint that it announced before the first reader.
        let topic = self.of_endpoint.remove(&endpoint)?;
        self.release(topic)
    }

    fn release(&mut self, topic: Guid) -> Option<Guid> {
        let users = self.users.get_mut(&topic)?;
        *users -= 1;
        if *users > 0 {
            return None;
        }
        self.users.remove(&topic);
        Some(topic)
    }
}

/// A change for all readers of one kind.
struct News {
    about: BuiltinKind,
    key: Guid,
    kind: ChangeKind,
    payload: Vec<u8>,
}

impl BuiltinReaders {
    pub(crate) fn new(core: &Arc<ParticipantCore>) -> Self {
        Self { core: Arc::clone(core), state: Mutex::default(), subscriber: Mutex::default() }
    }

    /// Locks the state. The caller must not call foreign code while it holds the lock.
    fn state(&self) -> MutexGuard<'_, BuiltinState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the built-in subscriber, or creates it.
    pub(crate) fn subscriber(&self, make: impl FnOnce() -> Arc<SubscriberGroup>) -> Arc<SubscriberGroup> {
        let mut subscriber = self.subscriber.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(subscriber) = subscriber.upgrade() {
            return subscriber;
        }
        // Under the lock, so that two callers get the same one.
        let made = make();
        *subscriber = Arc::downgrade(&made);
        made
    }

    /// Enables the built-in subscriber with the participant, regardless of ENTITY_FACTORY.
    pub(crate) fn enable(&self) {
        let subscriber = self.subscriber.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        if let Some(subscriber) = subscriber {
            // Ignore the error, because a closed subscriber stays closed.
            let _ = subscriber.enable();
        }
    }

    pub(crate) fn is_subscriber(&self, group: &Arc<SubscriberGroup>) -> bool {
        let subscriber = self.subscriber.lock().unwrap_or_else(PoisonError::into_inner);
        std::ptr::eq(subscriber.as_ptr(), Arc::as_ptr(group))
    }
}

impl BuiltinReaders {
    /// Adds a reader of a built-in topic. `known` has the data of discovery.
    pub(crate) fn add(
        &self,
        reader: &ReaderHandle,
        kind: BuiltinKind,
        known: &[ParticipantEvent],
        effects: &mut Effects,
    ) {
        let is_late_joiner = reader.qos().fixed().durability > Durability::Volatile;
        let mut feed = BuiltinFeed { kind, reader: Arc::downgrade(reader.cell()), last: SequenceNumber(0) };
        self.begin_feed(reader.cell(), kind, effects);
        // The first reader starts the count of topics. Each reader receives the known data.
        let is_first = self.state().feeds.is_empty();
        let mut counts = TopicCounts::default();
        for event in known {
            // A volatile reader gets no history, but its topics count as well.
            for news in news(event, &mut counts) {
                if is_late_joiner && news.about == kind {
                    self.tell(&mut feed, reader.cell(), &news, effects);
                }
            }
        }
        let mut state = self.state();
        if is_first {
            state.topics = counts;
        }
        state.feeds.push(feed);
    }

    /// Matches the reader with the writer of its changes.
    fn begin_feed(&self, cell: &Arc<ReaderCell>, kind: BuiltinKind, effects: &mut Effects) {
        let begin = LocalBegin {
            first: SequenceNumber(1),
            history_end: SequenceNumber::ZERO,
            history_expires: None,
            reliable: false,
            terms: LocalTerms::default(),
            presented: None,
        };
        // No writer waits for the reader, so the reader accepts a change or rejects it.
        let path = LocalPath::new(Weak::<WriterCell>::new());
        let writer = Guid::new(self.core.prefix(), writer_id(kind));
        // A closed reader receives nothing.
        let _ = cell.with(effects, |actor, effects| actor.match_local(writer, begin, path, effects));
    }

    /// Delivers an event of discovery to the built-in readers.
    pub(crate) fn notify(&self, event: &ParticipantEvent, effects: &mut Effects) {
        let mut state = self.state();
        state.feeds.retain(|feed| feed.reader.strong_count() > 0);
        if state.feeds.is_empty() {
            return;
        }
        let news = news(event, &mut state.topics);
        // Outside of the lock, because delivery enters the reader's cell. The turn of matching excludes other threads.
        let mut feeds = std::mem::take(&mut state.feeds);
        drop(state);
        for news in news {
            for feed in &mut feeds {
                if feed.kind != news.about {
                    continue;
                }
                if let Some(cell) = feed.reader.upgrade() {
                    self.tell(feed, &cell, &news, effects);
                }
            }
        }
        self.state().feeds = feeds;
    }

    fn tell(&self, feed: &mut BuiltinFeed, cell: &Arc<ReaderCell>, news: &News, effects: &mut Effects) {
        // Numbers without gaps: the reader would count a gap as a lost sample.
        let previous = feed.last;
        feed.last = previous.next();
        let change = CacheChange {
            kind: news.kind,
            writer: Guid::new(self.core.prefix(), writer_id(feed.kind)),
            sequence_number: feed.last,
            instance: InstanceHandle::from(news.key),
            source_timestamp: self.core.driver().now().time,
            related_sample: None,
            origin: None,
            presented: None,
            payload: Some(Payload::copy_of(&news.payload)),
        };
        let mail = ReaderMail::Local { change, previous, path: None };
        // A closed reader receives nothing.
        let _ = cell.with(effects, |actor, effects| actor.handle(mail, effects));
    }
}

/// Returns the changes that an event causes in the built-in topics.
fn news(event: &ParticipantEvent, topics: &mut TopicCounts) -> Vec<News> {
    match event {
        ParticipantEvent::ParticipantDiscovered { participant } => {
            let key = Guid::new(participant.prefix, EntityId::PARTICIPANT);
            vec![News::alive(BuiltinKind::Participant, key, |payload| participant.encode(payload))]
        }
        ParticipantEvent::ParticipantLost { prefix, cause } => {
            let key = Guid::new(*prefix, EntityId::PARTICIPANT);
            let mut payload = Vec::new();
            participant_key(*prefix, &mut payload);
            vec![News { about: BuiltinKind::Participant, key, kind: end(*cause), payload }]
        }
        ParticipantEvent::WriterAnnounced { writer } => news_of_writer(writer, topics),
        ParticipantEvent::ReaderAnnounced { reader } => news_of_reader(reader, topics),
        ParticipantEvent::WriterWithdrawn { writer, cause } => {
            gone(BuiltinKind::Publication, *writer, *cause, topics.withdrawn(*writer))
        }
        ParticipantEvent::ReaderWithdrawn { reader, cause } => {
            gone(BuiltinKind::Subscription, *reader, *cause, topics.withdrawn(*reader))
        }
        _ => Vec::new(),
    }
}

fn news_of_writer(writer: &DiscoveredWriter, topics: &mut TopicCounts) -> Vec<News> {
    let endpoint = &writer.data.endpoint;
    let mut news = vec![News::alive(BuiltinKind::Publication, endpoint.guid, |payload| writer.data.encode(payload))];
    let (new, old) = topics.announced(endpoint);
    if let Some(topic) = new {
        news.push(News::topic(topic, &writer.data));
    }
    if let Some(topic) = old {
        news.push(News::gone(BuiltinKind::Topic, topic, ParticipantLoss::Left));
    }
    news
}

fn news_of_reader(reader: &DiscoveredReader, topics: &mut TopicCounts) -> Vec<News> {
    let SubscriptionData { endpoint, qos, .. } = &reader.data;
    let mut news = vec![News::alive(BuiltinKind::Subscription, endpoint.guid, |payload| reader.data.encode(payload))];
    let (new, old) = topics.announced(endpoint);
    if let Some(topic) = new {
        // The data of a topic have the form of a writer's announcement.
        let qos = crate::qos::DataWriterQos::default().copy_from_topic(&topic_qos_of_reader(qos));
        news.push(News::topic(topic, &PublicationData { endpoint: endpoint.clone(), qos }));
    }
    if let Some(topic) = old {
        news.push(News::gone(BuiltinKind::Topic, topic, ParticipantLoss::Left));
    }
    news
}

fn gone(about: BuiltinKind, key: Guid, cause: ParticipantLoss, topic: Option<Guid>) -> Vec<News> {
    let mut news = vec![News::gone(about, key, cause)];
    if let Some(topic) = topic {
        news.push(News::gone(BuiltinKind::Topic, topic, cause));
    }
    news
}

impl News {
    fn alive(about: BuiltinKind, key: Guid, encode: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut payload = Vec::new();
        encode(&mut payload);
        Self { about, key, kind: ChangeKind::Alive, payload }
    }

    /// Returns the data of a topic, from one of its endpoints.
    fn topic(key: Guid, endpoint: &PublicationData) -> Self {
        // The key of a topic replaces the GUID of the endpoint that describes it.
        let mut data = endpoint.clone();
        data.endpoint.guid = key;
        Self::alive(BuiltinKind::Topic, key, |payload| data.encode(payload))
    }

    fn gone(about: BuiltinKind, key: Guid, cause: ParticipantLoss) -> Self {
        let mut payload = Vec::new();
        endpoint_key(key, &mut payload);
        Self { about, key, kind: end(cause), payload }
    }
}

/// Returns how an instance ends.
fn end(cause: ParticipantLoss) -> ChangeKind {
    match cause {
        // The participant may only be unreachable. Nothing was deleted, so the instance has no writers.
        ParticipantLoss::LeaseExpired => ChangeKind::NotAliveUnregistered,
        _ => ChangeKind::NotAliveDisposedUnregistered,
    }
}

/// Returns the writer of a built-in topic's samples.
fn writer_id(kind: BuiltinKind) -> EntityId {
    match kind {
        BuiltinKind::Participant => EntityId::SPDP_WRITER,
        // ENTITYID_SEDP_BUILTIN_TOPICS_WRITER of RTPS. No announcement uses it here.
        BuiltinKind::Topic => EntityId([0, 0, 2, 0xc2]),
        BuiltinKind::Publication => EntityId::SEDP_PUBLICATIONS_WRITER,
        BuiltinKind::Subscription => EntityId::SEDP_SUBSCRIPTIONS_WRITER,
    }
}
