//! Weak handles of readers and subscribers.

use crate::subscription::{DataReader, ReaderHandle, Subscriber, SubscriberGroup};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

/// Weak handle of a [`DataReader`], which does not keep the reader alive. See [`DataReader::downgrade`].
///
/// Use it in the closure of a listener. A strong handle there would keep its own reader alive forever.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Scope};
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let reader = participant.reader::<Pose>("weak/pose")?;
/// let weak = reader.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(reader);
/// assert!(weak.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
pub struct WeakDataReader<T> {
    handle: Weak<ReaderHandle>,
    marker: PhantomData<fn() -> T>,
}

impl<T> WeakDataReader<T> {
    pub(crate) fn new(handle: &Arc<ReaderHandle>) -> Self {
        Self { handle: Arc::downgrade(handle), marker: PhantomData }
    }

    /// Returns the reader, or `None` if its last handle was dropped. The reader may be closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<DataReader<T>> {
        let reader = DataReader::from_handle(self.handle.upgrade()?);
        // `user` is `None` if only a running listener still holds the reader. The application has dropped its handles.
        if reader.user.is_some() { Some(reader) } else { None }
    }
}

impl<T> Clone for WeakDataReader<T> {
    fn clone(&self) -> Self {
        Self { handle: Weak::clone(&self.handle), marker: PhantomData }
    }
}

impl<T> fmt::Debug for WeakDataReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakDataReader").finish_non_exhaustive()
    }
}

/// Weak handle of a [`Subscriber`], which does not keep it alive. See [`Subscriber::downgrade`].
#[derive(Clone)]
pub struct WeakSubscriber {
    group: Weak<SubscriberGroup>,
}

impl WeakSubscriber {
    pub(crate) fn new(group: &Arc<SubscriberGroup>) -> Self {
        Self { group: Arc::downgrade(group) }
    }

    /// Returns the subscriber, or `None` if its last handle and its last reader were dropped. It may be closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Subscriber> {
        let subscriber = Subscriber::from_group(self.group.upgrade()?);
        // `user` is `None` if only a running listener still holds the subscriber. The application has dropped its
        // handles.
        if subscriber.user.is_some() { Some(subscriber) } else { None }
    }
}

impl fmt::Debug for WeakSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSubscriber").finish_non_exhaustive()
    }
}
