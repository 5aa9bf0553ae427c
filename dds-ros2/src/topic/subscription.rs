//! Subscriptions.

use super::{Receiving, user_data_with};
use crate::Result;
use crate::graph::{Explanation, LocalEndpoint, Registration};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::wait::{MessageSource, Wait, of_dds};
use dds_core::cdr::{DecodeOwned, Raw};
use dds_core::qos::DataReaderQos;
use dds_core::reader::SampleStream;
use dds_core::{DataReader, Sample, SampleInfo, TopicRef, Waiting};
use dds_ros2_msgs::RosMessage;
use dds_ros2_msgs::type_description_interfaces::msg::TypeDescription;
use std::fmt;
use std::sync::Arc;

/// Receives the messages of a topic.
///
/// A handle: clones are cheap and refer to the same subscription, and each message goes to one of them. Dropping the
/// last clone removes it from the graph.
pub struct Subscription<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    name: String,
    reader: DataReader<T>,
    /// Keeps a type that the program learned among those that the node describes.
    _learned: Option<Arc<TypeDescription>>,
    // Dropped before the node, so that the graph never lists an endpoint without its node.
    _registration: Registration,
    node: Node,
}

impl<T: DecodeOwned> MessageSource<T> for Inner<T> {
    fn next(&self) -> Waiting<'_, Sample<T>> {
        self.reader.next_sample()
    }

    fn missing(&self) -> String {
        let publishers = self.reader.matched_publications().len();
        let reason = if publishers == 0 { self.explain().reason() } else { String::new() };
        format!("no message on {:?}; {publishers} publishers are connected{reason}", self.name)
    }
}

impl<T> Inner<T> {
    fn explain(&self) -> Explanation {
        self.node.context().graph().explain_own(&self.name, &[self.reader.guid()])
    }
}

impl<T: RosMessage + 'static> Subscription<T> {
    pub(crate) fn typed(node: &Node, name: String, qos: QosProfile, receiving: Receiving<T>) -> Result<Self> {
        let qos = qos.reader(user_data_with(T::TYPE_HASH));
        let subscription = Self::new(node, &topic_name("rt", &name, ""), name, qos, receiving, None)?;
        node.types().add_message::<T>();
        Ok(subscription)
    }
}

impl<T: DecodeOwned + 'static> Subscription<T> {
    /// Creates the subscription of `topic`, whose name in ROS is `name`.
    pub(crate) fn new<'t>(
        node: &Node,
        topic: impl Into<TopicRef<'t, T>>,
        name: String,
        qos: DataReaderQos,
        receiving: Receiving<T>,
        learned: Option<Arc<TypeDescription>>,
    ) -> Result<Self> {
        let mut builder = node.context().participant().reader_builder(topic).qos(qos);
        if let Some(filter) = receiving.filter {
            builder = builder.filter(filter);
        }
        if let Some(mut callback) = receiving.on_message {
            builder = builder.on_sample(move |sample| {
                // A sample without data tells that a publisher left.
                if let Some(message) = sample.data {
                    callback(message);
                }
            });
        }
        let reader = builder.build()?;
        let registration = node.register(vec![LocalEndpoint::of_reader(&reader)])?;
        let (_registration, node) = (registration, node.clone());
        Ok(Self { inner: Arc::new(Inner { name, reader, _learned: learned, _registration, node }) })
    }
}

impl<T: DecodeOwned> Subscription<T> {
    /// Waits for the next message.
    ///
    /// Errors of the wait: [`Error::Timeout`](crate::Error::Timeout), [`Error::Closed`](crate::Error::Closed).
    pub fn next_message(&self) -> Wait<'_, T>
    where
        T: Send,
    {
        Wait::for_message(&*self.inner)
    }

    /// Waits for the next message with its time and its publisher.
    pub fn next_sample(&self) -> Waiting<'_, Sample<T>> {
        self.inner.reader.next_sample()
    }

    /// Takes the next message if one is there.
    ///
    /// # Errors
    /// [`Error::Closed`](crate::Error::Closed).
    pub fn take(&self) -> Result<Option<(T, SampleInfo)>> {
        while let Some(Sample { data, info }) = self.inner.reader.take_next().map_err(|_| crate::Error::Closed)? {
            // A sample without data tells that a publisher left.
            if let Some(data) = data {
                return Ok(Some((data, info)));
            }
        }
        Ok(None)
    }

    /// Returns an iterator over the messages, which blocks until the next one and ends when the context closes.
    pub fn iter(&self) -> impl Iterator<Item = T> + fmt::Debug + use<'_, T> {
        self.inner.reader.iter()
    }

    /// Returns a stream of the messages.
    #[must_use]
    pub fn stream(&self) -> SampleStream<T, T> {
        self.inner.reader.stream()
    }

    /// Returns a stream of the messages with their times and publishers.
    #[must_use]
    pub fn sample_stream(&self) -> SampleStream<T> {
        self.inner.reader.sample_stream()
    }
}

impl<T> Subscription<T> {
    /// Takes all messages that are there, encoded: four bytes of CDR header, and the message.
    ///
    /// # Errors
    /// [`Error::Closed`](crate::Error::Closed).
    pub fn take_serialized(&self) -> Result<Vec<Raw>> {
        let samples = self.inner.reader.take().map_err(|_| crate::Error::Closed)?;
        Ok(samples.iter().filter_map(|sample| Some(sample.encoded()?.to_raw())).collect())
    }

    /// Waits until this number of publishers is connected.
    ///
    /// Errors of the wait: [`Error::Timeout`](crate::Error::Timeout), which says why publishers are not connected, and
    /// [`Error::Closed`](crate::Error::Closed).
    pub fn wait_for_publishers(&self, count: usize) -> Wait<'_, ()> {
        let missing = move || {
            let (found, name) = (self.publisher_count(), self.topic_name());
            format!("{found} of {count} publishers of {name:?} are connected{}", self.explain().reason())
        };
        let context = self.inner.node.context();
        Wait::of_future(context.waits(), of_dds(self.inner.reader.wait_for_writers(count)), missing)
    }

    /// Explains why publishers are connected or not, with names of ROS 2 and the next steps.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.inner.explain()
    }

    /// Returns the number of connected publishers.
    #[must_use]
    pub fn publisher_count(&self) -> usize {
        self.inner.reader.matched_publications().len()
    }

    /// Returns the fully qualified name of the topic.
    #[must_use]
    pub fn topic_name(&self) -> &str {
        &self.inner.name
    }

    /// Returns the node of the subscription.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.inner.node
    }

    /// Returns the reader of DDS, for views, conditions, events, losses and `explain_matches`.
    #[must_use]
    pub fn reader(&self) -> &DataReader<T> {
        &self.inner.reader
    }
}

impl<T> Clone for Subscription<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({:?})", self.inner.name)
    }
}
