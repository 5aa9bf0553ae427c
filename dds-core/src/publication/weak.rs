//! Weak handles of writers and publishers.

use crate::publication::{DataWriter, Publisher, PublisherGroup, WriterHandle};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

/// Weak handle of a [`DataWriter`], which does not keep the writer alive. See [`DataWriter::downgrade`].
///
/// Use it in the closure of a listener. A strong handle there would keep its own writer alive forever.
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

    /// Returns the writer, or `None` if its last handle was dropped. The writer may be closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<DataWriter<T>> {
        let writer = DataWriter::from_handle(self.handle.upgrade()?);
        // `user` is `None` if only a running listener still holds the writer. The application has dropped its handles.
        if writer.user.is_some() { Some(writer) } else { None }
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

/// Weak handle of a [`Publisher`], which does not keep it alive. See [`Publisher::downgrade`].
#[derive(Clone)]
pub struct WeakPublisher {
    group: Weak<PublisherGroup>,
}

impl WeakPublisher {
    pub(crate) fn new(group: &Arc<PublisherGroup>) -> Self {
        Self { group: Arc::downgrade(group) }
    }

    /// Returns the publisher, or `None` if its last handle and its last writer were dropped. It may be closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Publisher> {
        let publisher = Publisher::from_group(self.group.upgrade()?);
        // `user` is `None` if only a running listener still holds the publisher. The application has dropped its
        // handles.
        if publisher.user.is_some() { Some(publisher) } else { None }
    }
}

impl fmt::Debug for WeakPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPublisher").finish_non_exhaustive()
    }
}
