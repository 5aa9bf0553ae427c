//! Events of a topic, as a stream.

use crate::actor::Effects;
use crate::infrastructure::{CountStatus, EventSource, Events, mark};
use crate::topic::{Topic, TopicHandle};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Event source of one stream.
struct TopicFeed {
    topic: Weak<TopicHandle>,
    /// The count that the stream knows already.
    told: Mutex<u64>,
}

impl EventSource<CountStatus> for TopicFeed {
    fn event(&self, mark: u32, _effects: &mut Effects) -> Option<CountStatus> {
        // A topic has one status, and a new stream asks for all.
        if mark != mark::INCONSISTENT_TOPIC {
            return None;
        }
        let topic = self.topic.upgrade()?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let status = topic.inconsistent().since(&mut told);
        if status.total_count_change > 0 { Some(status) } else { None }
    }
}

impl<T> Topic<T> {
    /// Returns a stream of the only event of a topic: a peer uses its name with another type.
    ///
    /// Several changes between two polls are one event with their sum. See [`Events`]. A stream starts with the events
    /// since the creation of the topic.
    #[must_use]
    pub fn events(&self) -> Events<CountStatus> {
        let topic = self.handle();
        let feed = TopicFeed { topic: Arc::downgrade(topic), told: Mutex::default() };
        let driver = Arc::clone(topic.participant().core().driver());
        Events::new(Box::new(feed), Arc::clone(topic.watched()) as _, driver, Arc::clone(topic.subject()))
    }
}
