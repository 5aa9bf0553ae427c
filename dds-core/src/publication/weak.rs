//! Handles that keep no writer and no publisher alive.

use crate::publication::{DataWriter, Publisher, PublisherGroup, WriterHandle};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

/// A [`DataWriter`] that does not keep it alive; from [`DataWriter::downgrade`].
///
/// For a listener's closure, which would keep its own writer alive for ever with a strong handle of it.
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
/// let writer = participant.writer::<Pose>("weak/pose")?;
/// let weak = writer.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(writer);
/// assert!(weak.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
pub struct WeakDataWriter<T> {
    handle: Weak<WriterHandle>,
    marker: PhantomData<fn() -> T>,
}

impl<T> WeakDataWriter<T> {
    pub(crate) fn new(handle: &Arc<WriterHandle>) -> Self {
        Self { handle: Arc::downgrade(handle), marker: PhantomData }
    }

    /// The writer, unless its last handle is gone. It may have been closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<DataWriter<T>> {
        let writer = DataWriter::from_handle(self.handle.upgrade()?);
        // Else a listener is being told of it, and the application has let go of all there was.
        writer.user.is_some().then_some(writer)
    }
}

impl<T> Clone for WeakDataWriter<T> {
    fn clone(&self) -> Self {
        Self { handle: Weak::clone(&self.handle), marker: PhantomData }
    }
}

impl<T> fmt::Debug for WeakDataWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakDataWriter").finish_non_exhaustive()
    }
}

/// A [`Publisher`] that does not keep it alive; from [`Publisher::downgrade`].
#[derive(Clone)]
pub struct WeakPublisher {
    group: Weak<PublisherGroup>,
}

impl WeakPublisher {
    pub(crate) fn new(group: &Arc<PublisherGroup>) -> Self {
        Self { group: Arc::downgrade(group) }
    }

    /// The publisher, unless its last handle and its last endpoint are gone. It may have been closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Publisher> {
        let publisher = Publisher::from_group(self.group.upgrade()?);
        // Else a listener is being told of it, and the application has let go of all there was.
        publisher.user.is_some().then_some(publisher)
    }
}

impl fmt::Debug for WeakPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPublisher").finish_non_exhaustive()
    }
}
