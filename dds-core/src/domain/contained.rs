//! The entities that a participant contains, without keeping them alive.
//!
//! Bound: the application's own entities; each takes itself out when it is closed. In the order of their ids, so that what is done
//! to all of them does not depend on chance.

use crate::publication::{PublisherGroup, WriterHandle};
use crate::subscription::{ReaderHandle, SubscriberGroup};
use crate::topic::TopicHandle;
use dds_rtps::types::EntityId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The table.
#[derive(Default)]
pub(crate) struct Contained {
    tables: Mutex<Tables>,
}

#[derive(Default)]
struct Tables {
    readers: BTreeMap<EntityId, Weak<ReaderHandle>>,
    writers: BTreeMap<EntityId, Weak<WriterHandle>>,
    publishers: BTreeMap<EntityId, Weak<PublisherGroup>>,
    subscribers: BTreeMap<EntityId, Weak<SubscriberGroup>>,
    topics: BTreeMap<EntityId, Weak<TopicHandle>>,
}

impl Contained {
    /// Held for some lines without a call of anybody else.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_reader(&self, reader: &Arc<ReaderHandle>) {
        self.tables().readers.insert(reader.guid().entity_id, Arc::downgrade(reader));
    }

    pub(crate) fn add_writer(&self, writer: &Arc<WriterHandle>) {
        self.tables().writers.insert(writer.guid().entity_id, Arc::downgrade(writer));
    }

    pub(crate) fn add_publisher(&self, publisher: &Arc<PublisherGroup>) {
        self.tables().publishers.insert(publisher.guid().entity_id, Arc::downgrade(publisher));
    }

    pub(crate) fn add_subscriber(&self, subscriber: &Arc<SubscriberGroup>) {
        self.tables().subscribers.insert(subscriber.guid().entity_id, Arc::downgrade(subscriber));
    }

    pub(crate) fn add_topic(&self, topic: &Arc<TopicHandle>) {
        self.tables().topics.insert(topic.guid().entity_id, Arc::downgrade(topic));
    }

    /// The topic objects with this name.
    pub(crate) fn topics_named(&self, name: &str) -> Vec<Arc<TopicHandle>> {
        let topics = self.tables().topics.values().filter_map(Weak::upgrade).collect::<Vec<_>>();
        topics.into_iter().filter(|topic| topic.name() == name).collect()
    }

    /// The topics of the same name as that of the endpoint `id`.
    pub(crate) fn topics_of(&self, id: EntityId) -> Vec<Arc<TopicHandle>> {
        let tables = self.tables();
        let reader = tables.readers.get(&id).and_then(Weak::upgrade);
        let writer = tables.writers.get(&id).and_then(Weak::upgrade);
        let topics = tables.topics.values().filter_map(Weak::upgrade).collect::<Vec<_>>();
        // A handle that is the last one must not be dropped under the lock.
        drop(tables);
        let name =
            reader.as_ref().map(|reader| reader.topic_name()).or(writer.as_ref().map(|writer| writer.topic_name()));
        topics.into_iter().filter(|topic| Some(topic.name()) == name).collect()
    }

    /// Takes out an entity, of whichever kind it is.
    pub(crate) fn remove(&self, id: EntityId) {
        let mut tables = self.tables();
        tables.readers.remove(&id);
        tables.writers.remove(&id);
        tables.publishers.remove(&id);
        tables.subscribers.remove(&id);
        tables.topics.remove(&id);
    }

    pub(crate) fn has(&self, id: EntityId) -> bool {
        let tables = self.tables();
        tables.readers.contains_key(&id)
            || tables.writers.contains_key(&id)
            || tables.publishers.contains_key(&id)
            || tables.subscribers.contains_key(&id)
            || tables.topics.contains_key(&id)
    }

    pub(crate) fn readers(&self) -> Vec<Arc<ReaderHandle>> {
        self.tables().readers.values().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn writers(&self) -> Vec<Arc<WriterHandle>> {
        self.tables().writers.values().filter_map(Weak::upgrade).collect()
    }

    #[expect(clippy::type_complexity, reason = "three lists, told apart by what is in them")]
    fn groups_and_topics(&self) -> (Vec<Arc<TopicHandle>>, Vec<Arc<PublisherGroup>>, Vec<Arc<SubscriberGroup>>) {
        let tables = self.tables();
        (
            tables.topics.values().filter_map(Weak::upgrade).collect(),
            tables.publishers.values().filter_map(Weak::upgrade).collect(),
            tables.subscribers.values().filter_map(Weak::upgrade).collect(),
        )
    }

    /// Enables everything that is in it now: what has been closed meanwhile is left alone.
    pub(crate) fn enable(&self) {
        let (topics, publishers, subscribers) = self.groups_and_topics();
        topics.iter().for_each(|topic| drop(topic.enable()));
        subscribers.iter().for_each(|subscriber| drop(subscriber.enable()));
        publishers.iter().for_each(|publisher| drop(publisher.enable()));
        let (readers, writers) = (self.readers(), self.writers());
        readers.iter().filter(|reader| reader.group().is_none()).for_each(|reader| drop(reader.enable()));
        writers.iter().filter(|writer| writer.group().is_none()).for_each(|writer| drop(writer.enable()));
    }

    /// Closes everything that is in it now: endpoints first, so that each is withdrawn by itself.
    pub(crate) fn close(&self) {
        self.writers().iter().for_each(|writer| writer.close());
        self.readers().iter().for_each(|reader| reader.close());
        let (topics, publishers, subscribers) = self.groups_and_topics();
        publishers.iter().for_each(|publisher| publisher.close());
        subscribers.iter().for_each(|subscriber| subscriber.close());
        topics.iter().for_each(|topic| topic.close());
    }
}
