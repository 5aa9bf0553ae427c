//! Topics that a participant itself publishes: its latencies and its security events.
//!
//! The writer is an ordinary one, and its handle does not count as one of the application.

use crate::context::{GroupedEndpoint, ParticipantContext};
use crate::infrastructure::CreateErrorKind;
use crate::participant::ParticipantHandle;
use crate::publication::{DataWriterBuilder, WriterHandle};
use crate::qos::DataWriterQos;
use dds_rtps::cdr::DdsType;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The publisher of one such topic. Empty before the participant is enabled, after it is closed, and without the
/// setting.
pub(crate) struct OwnTopic<P> {
    publisher: Mutex<Option<Arc<P>>>,
}

impl<P> Default for OwnTopic<P> {
    fn default() -> Self {
        Self { publisher: Mutex::default() }
    }
}

impl<P> OwnTopic<P> {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<P>>> {
        self.publisher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(feature = "security-pki")]
    pub(super) fn publisher(&self) -> Option<Arc<P>> {
        self.lock().clone()
    }

    /// Keeps the publisher of a participant until the participant is closed.
    pub(super) fn open(&self, publisher: Arc<P>, participant: &ParticipantHandle) {
        *self.lock() = Some(publisher);
        if participant.core().is_closed() {
            // The thread that closed it may have looked before.
            self.close();
        }
    }

    /// Closes the writer. It refers to the participant, so both would otherwise exist forever.
    pub(super) fn close(&self) {
        let publisher = self.lock().take();
        // Outside of the lock: the writer's end takes other locks.
        drop(publisher);
    }
}

/// Creates the writer of a topic that the participant itself publishes.
pub(super) fn create_writer<T: DdsType + 'static>(
    participant: &Arc<ParticipantHandle>,
    topic: &str,
    qos: DataWriterQos,
) -> Result<Arc<WriterHandle>, CreateErrorKind> {
    let context = participant.as_publication_context();
    let built = DataWriterBuilder::<T>::new(&context, topic.into(), qos).build();
    let handle = Arc::clone(built.map_err(|error| error.kind().clone())?.handle());
    // The factory's QoS decides only about entities of the application.
    handle.enable()?;
    Ok(handle)
}
