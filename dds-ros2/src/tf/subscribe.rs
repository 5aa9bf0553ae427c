//! The subscriptions of `/tf` and `/tf_static`.

use super::buffer::{FoundTransform, TransformBuffer};
use super::error::TransformError;
use crate::Result;
use crate::graph::{LocalEndpoint, Registration};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::time::{JumpHandle, JumpThreshold};
use crate::topic::user_data_of;
use crate::wait::Wait;
use dds_core::listener::Delivery;
use dds_core::{DataReader, Duration, Time};
use dds_ros2_msgs::tf2_msgs::msg::TFMessage;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fills a [`TransformBuffer`] from `/tf` and `/tf_static`, until it is dropped.
///
/// If the clock of the node jumps back or changes its source, it clears the buffer. Transforms of a new run of a
/// simulation are older than those of the last run, and the buffer would refuse them.
pub struct TransformListener {
    buffer: TransformBuffer,
    refused: Arc<AtomicU64>,
    _readers: [DataReader<TFMessage>; 2],
    _registration: Registration,
    _jumps: JumpHandle,
    node: Node,
}

impl TransformListener {
    /// Creates a listener with a buffer of its own.
    ///
    /// # Errors
    /// As [`Node::subscription`].
    pub fn new(node: &Node) -> Result<Self> {
        Self::with_buffer(node, TransformBuffer::new())
    }

    /// Creates a listener that fills this buffer.
    ///
    /// # Errors
    /// As [`Node::subscription`].
    pub fn with_buffer(node: &Node, buffer: TransformBuffer) -> Result<Self> {
        let refused = Arc::new(AtomicU64::new(0));
        // The profiles of `tf2_ros`.
        let moving = QosProfile::DEFAULT.keep_last(100);
        let fixed = moving.transient_local();
        let readers = [
            Self::listen(node, "/tf", moving, false, (&buffer, &refused))?,
            Self::listen(node, "/tf_static", fixed, true, (&buffer, &refused))?,
        ];
        node.types().add_message::<TFMessage>();
        let registration = node.register(readers.iter().map(LocalEndpoint::of_reader).collect())?;
        let threshold = JumpThreshold::new().backward(Duration::from_nanos(1)).on_clock_change();
        let cleared = buffer.clone();
        let jumps = node.clock().on_jump(threshold, move |_| cleared.clear());
        let node = node.clone();
        Ok(Self { buffer, refused, _readers: readers, _registration: registration, _jumps: jumps, node })
    }

    fn listen(
        node: &Node,
        topic: &str,
        qos: QosProfile,
        is_static: bool,
        (buffer, refused): (&TransformBuffer, &Arc<AtomicU64>),
    ) -> Result<DataReader<TFMessage>> {
        let (buffer, refused) = (buffer.clone(), Arc::clone(refused));
        let reader = node
            .context()
            .participant()
            .reader_builder::<TFMessage>(&topic_name("rt", &node.resolve_topic(topic)?, ""))
            .qos(qos.reader(user_data_of::<TFMessage>()))
            // Callbacks of the program may block the event thread while they wait for a transform.
            .delivery(Delivery::Inline)
            .on_data(move |reader| {
                // The only error means that the reader is closed.
                let Ok(samples) = reader.take() else { return };
                for message in samples.iter().filter_map(|sample| sample.decode()?.ok()) {
                    for error in buffer.add_all(&message.transforms, is_static) {
                        refused.fetch_add(1, Ordering::Relaxed);
                        tracing::debug!(%error, "a transform was ignored");
                    }
                }
            })
            .build()?;
        Ok(reader)
    }

    /// Returns the buffer.
    #[must_use]
    pub fn buffer(&self) -> &TransformBuffer {
        &self.buffer
    }

    /// Waits for the transform that maps points of `source` to `target` at a time, which may be
    /// [`LATEST`](super::LATEST).
    ///
    /// A time before the oldest transform never becomes known, so the wait then ends with the error. So does a wait for
    /// a name that starts with `/`.
    ///
    /// Errors of the wait: [`Error::Transform`](crate::Error::Transform), [`Error::Timeout`](crate::Error::Timeout)
    /// with the reason, [`Error::Closed`](crate::Error::Closed).
    pub fn wait_for_transform(&self, target: &str, source: &str, time: Time) -> Wait<'_, FoundTransform> {
        let (target, source) = (target.to_owned(), source.to_owned());
        let names = (target.clone(), source.clone());
        let poll = move || match self.buffer.lookup(&target, &source, time) {
            Ok(found) => Ok(Some(found)),
            Err(error @ TransformError::Extrapolation { requested, known: [oldest, _], .. }) if requested < oldest => {
                Err(crate::Error::Transform(error))
            }
            Err(error @ TransformError::InvalidArgument { .. }) => Err(crate::Error::Transform(error)),
            Err(_) => Ok(None),
        };
        let missing = move || match self.buffer.lookup(&names.0, &names.1, time) {
            Ok(_) => "the transform has just become known".to_owned(),
            Err(error) => error.to_string(),
        };
        Wait::new(self.node.context().waits(), self.buffer.changed(), poll, missing)
    }

    /// Returns how many received transforms were invalid, were too old, or exceeded the limit of frames.
    #[must_use]
    pub fn refused_transforms(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for TransformListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransformListener").field("buffer", &self.buffer).finish_non_exhaustive()
    }
}
