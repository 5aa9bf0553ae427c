//! A handle that does not keep its topic alive.

use crate::topic::{Topic, TopicHandle};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

/// Handle of a [`Topic`] that does not keep it alive, from [`Topic::downgrade`].
pub struct WeakTopic<T> {
    handle: Weak<TopicHandle>,
    marker: PhantomData<fn() -> T>,
}

impl<T> WeakTopic<T> {
    pub(crate) fn new(handle: &Arc<TopicHandle>) -> Self {
        Self { handle: Arc::downgrade(handle), marker: PhantomData }
    }

    /// Returns the topic, unless its last handle and its last endpoint were dropped. It may be closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Topic<T>> {
        let topic = Topic::from_handle(self.handle.upgrade()?);
        // Otherwise a listener is being called, and the application has dropped all handles.
        topic.user.is_some().then_some(topic)
    }
}

impl<T> Clone for WeakTopic<T> {
    fn clone(&self) -> Self {
        Self { handle: Weak::clone(&self.handle), marker: PhantomData }
    }
}

impl<T> fmt::Debug for WeakTopic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakTopic").finish_non_exhaustive()
    }
}
