//! Handles that keep no reader and no subscriber alive.

use crate::subscription::{DataReader, ReaderHandle, Subscriber, SubscriberGroup};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

/// A [`DataReader`] that does not keep it alive; from [`DataReader::downgrade`].
///
/// For a listener's closure, which would keep its own reader alive for ever with a strong handle of it.
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

    /// The reader, unless its last handle is gone. It may have been closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<DataReader<T>> {
        let reader = DataReader::from_handle(self.handle.upgrade()?);
        // Else a listener is being told of it, and the application has let go of all there was.
        reader.user.is_some().then_some(reader)
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

/// A [`Subscriber`] that does not keep it alive; from [`Subscriber::downgrade`].
#[derive(Clone)]
pub struct WeakSubscriber {
    group: Weak<SubscriberGroup>,
}

impl WeakSubscriber {
    pub(crate) fn new(group: &Arc<SubscriberGroup>) -> Self {
        Self { group: Arc::downgrade(group) }
    }

    /// The subscriber, unless its last handle and its last endpoint are gone. It may have been closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Subscriber> {
        let subscriber = Subscriber::from_group(self.group.upgrade()?);
        // Else a listener is being told of it, and the application has let go of all there was.
        subscriber.user.is_some().then_some(subscriber)
    }
}

impl fmt::Debug for WeakSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSubscriber").finish_non_exhaustive()
    }
}
