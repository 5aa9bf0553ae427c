//! The table of a participant's entities. It does not keep them alive.
//!
//! Bound: the entities of the application, because each closed entity removes itself. The table is sorted by entity id,
//! so operations on all entities have a fixed order.

use crate::context::GroupedEndpoint;
use crate::infrastructure::Subject;
use crate::publication::{PublisherGroup, WriterHandle};
use crate::subscription::{ReaderHandle, SubscriberGroup};
use crate::topic::TopicHandle;
use dds_rtps::types::EntityId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Table of a participant's entities.
#[derive(Default)]
pub(crate) struct Contained {
    tables: Mutex<EntityTables>,
}

#[derive(Default)]
struct EntityTables {
    readers: BTreeMap<EntityId, Named<ReaderHandle>>,
    writers: BTreeMap<EntityId, Named<WriterHandle>>,
    publishers: BTreeMap<EntityId, Weak<PublisherGroup>>,
    subscribers: BTreeMap<EntityId, Weak<SubscriberGroup>>,
    topics: BTreeMap<EntityId, Named<TopicHandle>>,
}

/// An endpoint or a topic, with its description.
///
/// The description is readable without a handle. Dropping the last handle deletes the entity, and some threads must not
/// do that.
struct Named<H> {
    handle: Weak<H>,
    subject: Arc<Subject>,
}

impl<H> Named<H> {
    fn new(handle: &Arc<H>, subject: &Arc<Subject>) -> Self {
        Self { handle: Arc::downgrade(handle), subject: Arc::clone(subject) }
    }

    fn upgrade(&self) -> Option<Arc<H>> {
        self.handle.upgrade()
    }
}

impl Contained {
    /// Locks the tables. The caller must not call foreign code while it holds the lock.
    fn tables(&self) -> MutexGuard<'_, EntityTables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_reader(&self, reader: &Arc<ReaderHandle>) {
        self.tables().readers.insert(reader.guid().entity_id, Named::new(reader, reader.subject()));
    }

    pub(crate) fn add_writer(&self, writer: &Arc<WriterHandle>) {
        self.tables().writers.insert(writer.guid().entity_id, Named::new(writer, writer.subject()));
    }

    pub(crate) fn add_publisher(&self, publisher: &Arc<PublisherGroup>) {
        self.tables().publishers.insert(publisher.guid().entity_id, Arc::downgrade(publisher));
    }

    pub(crate) fn add_subscriber(&self, subscriber: &Arc<SubscriberGroup>) {
        self.tables().subscribers.insert(subscriber.guid().entity_id, Arc::downgrade(subscriber));
    }

    pub(crate) fn add_topic(&self, topic: &Arc<TopicHandle>) {
        self.tables().topics.insert(topic.guid().entity_id, Named::new(topic, topic.subject()));
    }

    /// Returns the topic objects with this name.
    pub(crate) fn topics_named(&self, name: &str) -> Vec<Arc<TopicHandle>> {
        let tables = self.tables();
        // A scan: an application has few topics, and no sample takes this path.
        tables.topics.values().filter(|topic| topic.subject.topic == name).filter_map(Named::upgrade).collect()
    }

    /// Returns the topics with the topic name of the endpoint `id`.
    ///
    /// A caller that carries out matches keeps them until it has finished. Dropping the last handle of a topic may end
    /// the participant, which needs the same lock.
    pub(crate) fn topics_of(&self, id: EntityId) -> Vec<Arc<TopicHandle>> {
        let tables = self.tables();
        let subject = if let Some(reader) = tables.readers.get(&id) {
            Arc::clone(&reader.subject)
        } else if let Some(writer) = tables.writers.get(&id) {
            Arc::clone(&writer.subject)
        } else {
            return Vec::new();
        };
        // `topics_named` takes the lock again.
        drop(tables);
        self.topics_named(&subject.topic)
    }

    /// Removes an entity of any kind.
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

    /// Returns the descriptions of all readers and writers, without their handles.
    #[cfg(feature = "derive")]
    pub(crate) fn endpoints(&self) -> Vec<Arc<Subject>> {
        let tables = self.tables();
        let readers = tables.readers.values().map(|reader| &reader.subject);
        readers.chain(tables.writers.values().map(|writer| &writer.subject)).cloned().collect()
    }

    pub(crate) fn readers(&self) -> Vec<Arc<ReaderHandle>> {
        self.tables().readers.values().filter_map(Named::upgrade).collect()
    }

    pub(crate) fn writers(&self) -> Vec<Arc<WriterHandle>> {
        self.tables().writers.values().filter_map(Named::upgrade).collect()
    }

    #[expect(clippy::type_complexity, reason = "three lists with different elements")]
    fn groups_and_topics(&self) -> (Vec<Arc<TopicHandle>>, Vec<Arc<PublisherGroup>>, Vec<Arc<SubscriberGroup>>) {
        let tables = self.tables();
        (
            tables.topics.values().filter_map(Named::upgrade).collect(),
            tables.publishers.values().filter_map(Weak::upgrade).collect(),
            tables.subscribers.values().filter_map(Weak::upgrade).collect(),
        )
    }

    /// Enables all current entities. Ignores errors of entities that were closed since.
    pub(crate) fn enable(&self) {
        let (topics, publishers, subscribers) = self.groups_and_topics();
        // Only a closed entity fails, and it stays closed.
        for topic in topics {
            let _ = topic.enable();
        }
        for subscriber in subscribers {
            let _ = subscriber.enable();
        }
        for publisher in publishers {
            let _ = publisher.enable();
        }
        let (readers, writers) = (self.readers(), self.writers());
        for reader in readers {
            // The others were enabled by their group, or its ENTITY_FACTORY leaves that to the application.
            if reader.group().is_none() {
                let _ = reader.enable();
            }
        }
        for writer in writers {
            if writer.group().is_none() {
                let _ = writer.enable();
            }
        }
    }

    /// Closes all current entities. Endpoints come first, so that each is withdrawn on its own.
    pub(crate) fn close(&self) {
        // Writers first, so that a local reader still receives their last samples.
        for writer in self.writers() {
            writer.close();
        }
        for reader in self.readers() {
            reader.close();
        }
        let (topics, publishers, subscribers) = self.groups_and_topics();
        for publisher in publishers {
            publisher.close();
        }
        for subscriber in subscribers {
            subscriber.close();
        }
        // Topics last, because endpoints refer to them (DDS 1.4, 2.2.2.2.1.18).
        for topic in topics {
            topic.close();
        }
    }
}

#[cfg(all(feature = "derive", feature = "udp", not(dds_loom)))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::participant::lonely::{Count, lonely};

    /// Another thread drops it at that moment: if it were held here, it would be deleted here.
    #[test]
    fn topics_of_endpoint_need_no_handle_of_it() {
        let participant = lonely("contained");
        let topic = participant.topic::<Count>("t", None).unwrap();
        // A separate table, from which deleted endpoints do not remove themselves.
        let contained = Contained::default();
        contained.add_topic(topic.handle());
        let reader = participant.reader::<Count>("t").unwrap();
        let writer = participant.writer::<Count>("t").unwrap();
        contained.add_reader(reader.handle());
        contained.add_writer(writer.handle());
        let ids = [reader.guid().entity_id, writer.guid().entity_id];
        drop((reader, writer));
        for id in ids {
            assert_eq!(contained.topics_of(id).len(), 1);
        }
    }
}
