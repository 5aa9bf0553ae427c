//! Events of a topic, as a stream.

use crate::actor::Effects;
use crate::infrastructure::{EventSource, Events, InconsistentTopicStatus, mark};
use crate::topic::{Topic, TopicHandle};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// An event of a topic, from [`Topic::events`].
///
/// Several changes of one kind between two polls are one event with their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicEvent {
    /// A peer uses the name of the topic with another type.
    Inconsistent(InconsistentTopicStatus),
}

/// Event source of one stream.
struct TopicFeed {
    topic: Weak<TopicHandle>,
    /// The count that the stream knows already.
    told: Mutex<u32>,
}

impl EventSource<TopicEvent> for TopicFeed {
    fn event(&self, mark: u32, _effects: &mut Effects) -> Option<TopicEvent> {
        let topic = self.topic.upgrade().filter(|_| mark == mark::INCONSISTENT_TOPIC)?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let status = topic.inconsistent().since(&mut told);
        (status.total_count_change > 0).then_some(TopicEvent::Inconsistent(status))
    }
}

impl<T> Topic<T> {
    /// Returns a stream of this topic's events since its creation. See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events<TopicEvent> {
        let topic = self.handle();
        let feed = TopicFeed { topic: Arc::downgrade(topic), told: Mutex::default() };
        let driver = Arc::clone(topic.participant().core().driver());
        Events::new(Box::new(feed), Arc::clone(topic.watched()) as _, driver, Arc::clone(topic.subject()))
    }
}
