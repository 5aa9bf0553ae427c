//! Publishers.

use super::user_data_with;
use crate::Result;
use crate::graph::{Explanation, LocalEndpoint, Registration};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::wait::{Wait, of_dds};
use dds_core::cdr::{Encode, Encoded, TypeInfo};
use dds_core::qos::DataWriterQos;
use dds_core::{DataWriter, TopicRef};
use dds_ros2_msgs::RosMessage;
use dds_ros2_msgs::type_description_interfaces::msg::TypeDescription;
use std::fmt;
use std::sync::Arc;

/// Publishes messages on a topic.
///
/// A handle: clones are cheap and refer to the same publisher. Dropping the last clone removes it from the graph.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange};
/// use dds_ros2::msgs::std_msgs::msg::String as Text;
///
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = context.node("talker")?;
/// let subscription = node.subscription::<Text>("chatter")?;
/// let publisher = node.publisher::<Text>("chatter")?;
/// publisher.wait_for_subscribers(1).block()?;
/// publisher.publish(&Text { data: "hello".into() })?;
/// assert_eq!(subscription.next_message().block()?.data, "hello");
/// # Ok(())
/// # }
/// ```
pub struct Publisher<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    name: String,
    writer: DataWriter<T>,
    /// Keeps a type that the program learned among those that the node describes.
    _learned: Option<Arc<TypeDescription>>,
    // Dropped before the node, so that the graph never lists an endpoint without its node.
    _registration: Registration,
    node: Node,
}

impl<T: RosMessage + 'static> Publisher<T> {
    pub(crate) fn typed(node: &Node, name: String, qos: QosProfile) -> Result<Self> {
        let qos = qos.writer(user_data_with(T::TYPE_HASH));
        let publisher = Self::new(node, &topic_name("rt", &name, ""), name, qos, None)?;
        node.types().add_message::<T>();
        Ok(publisher)
    }
}

impl<T: 'static> Publisher<T> {
    /// Creates the publisher of `topic`, whose name in ROS is `name`.
    pub(crate) fn new<'t>(
        node: &Node,
        topic: impl Into<TopicRef<'t, T>>,
        name: String,
        qos: DataWriterQos,
        learned: Option<Arc<TypeDescription>>,
    ) -> Result<Self> {
        let writer = node.context().participant().writer_builder(topic).qos(qos).build()?;
        let registration = node.register(vec![LocalEndpoint::of_writer(&writer)])?;
        let (_registration, node) = (registration, node.clone());
        Ok(Self { inner: Arc::new(Inner { name, writer, _learned: learned, _registration, node }) })
    }
}

impl<T: Encode + TypeInfo> Publisher<T> {
    /// Publishes a message.
    ///
    /// Blocks only with [`QosProfile::keep_all`], if its history is full.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write): a member exceeds its bound, or the context is closed.
    pub fn publish(&self, message: &T) -> Result<()> {
        Ok(self.inner.writer.write(message)?)
    }
}

impl<T> Publisher<T> {
    /// Publishes an encoded message: four bytes of CDR header, and the message in XCDR1.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write): the bytes are no such message, or the context is closed.
    pub fn publish_serialized(&self, message: Encoded<'_>) -> Result<()> {
        Ok(self.inner.writer.write_encoded(message)?)
    }

    /// Waits until this number of subscriptions is connected, and knows the publisher.
    ///
    /// Errors of the wait: [`Error::Timeout`](crate::Error::Timeout), which says why subscriptions are not connected,
    /// and [`Error::Closed`](crate::Error::Closed).
    pub fn wait_for_subscribers(&self, count: usize) -> Wait<'_, ()> {
        let missing = move || {
            let (found, name) = (self.subscriber_count(), self.topic_name());
            format!("{found} of {count} subscriptions of {name:?} are connected{}", self.explain().reason())
        };
        let context = self.inner.node.context();
        Wait::of_future(context.waits(), of_dds(self.inner.writer.wait_for_readers(count)), missing)
    }

    /// Explains why subscriptions are connected or not, with names of ROS 2 and the next steps.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.inner.node.context().graph().explain_own(&self.inner.name, &[self.inner.writer.guid()])
    }

    /// Returns the number of connected subscriptions.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.inner.writer.matched_subscriptions().len()
    }

    /// Returns the fully qualified name of the topic.
    #[must_use]
    pub fn topic_name(&self) -> &str {
        &self.inner.name
    }

    /// Returns the node of the publisher.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.inner.node
    }

    /// Returns the writer of DDS, for loans, events, statuses and `explain_matches`.
    #[must_use]
    pub fn writer(&self) -> &DataWriter<T> {
        &self.inner.writer
    }
}

impl<T> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> fmt::Debug for Publisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Publisher({:?})", self.inner.name)
    }
}
