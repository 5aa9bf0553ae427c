//! Builders of publishers and subscriptions.

use super::qos_overrides::{EndpointKind, overridden};
use super::{Publisher, Subscription};
use crate::Result;
use crate::node::Node;
use crate::qos::QosProfile;
use dds_core::filter::FilterExpression;
use std::fmt;

/// Creates a publisher of the builder's type.
pub(crate) type OpenPublisher<T> = Box<dyn FnOnce(&Node, String, QosProfile) -> Result<Publisher<T>> + Send + Sync>;

/// Creates a subscription of the builder's type.
pub(crate) type OpenSubscription<T> =
    Box<dyn FnOnce(&Node, String, QosProfile, Receiving<T>) -> Result<Subscription<T>> + Send + Sync>;

/// Which messages a subscription receives, and how.
pub(crate) struct Receiving<T> {
    pub(super) filter: Option<FilterExpression>,
    /// Without it, the program takes the messages.
    pub(super) on_message: Option<Box<dyn FnMut(T) + Send>>,
}

/// The settings that publishers and subscriptions have in common.
struct TopicSettings {
    node: Node,
    topic: String,
    qos: QosProfile,
    has_overrides: bool,
}

impl TopicSettings {
    fn new(node: &Node, topic: &str) -> Self {
        Self { node: node.clone(), topic: topic.to_owned(), qos: QosProfile::DEFAULT, has_overrides: false }
    }

    /// Returns the name of the topic after remapping, and the QoS after overrides.
    fn resolve(&self, kind: EndpointKind) -> Result<(String, QosProfile)> {
        let name = self.node.resolve_topic(&self.topic)?;
        let qos = if self.qos.is_best_available { self.best_available(&name, kind) } else { self.qos };
        let qos = if self.has_overrides { overridden(&self.node, &name, kind, qos)? } else { qos };
        Ok((name, qos))
    }

    fn best_available(&self, name: &str, kind: EndpointKind) -> QosProfile {
        let graph = self.node.context().graph();
        match kind {
            EndpointKind::Publisher => {
                let found = graph.subscriptions(name);
                self.qos.for_subscriptions(&found.iter().filter_map(|found| found.qos.reader()).collect::<Vec<_>>())
            }
            EndpointKind::Subscription => {
                let found = graph.publishers(name);
                self.qos.for_publishers(&found.iter().filter_map(|found| found.qos.writer()).collect::<Vec<_>>())
            }
        }
    }
}

/// Creates a publisher with further settings. See [`Node::publisher_builder`].
#[must_use = "a builder creates nothing until `build` is called"]
pub struct PublisherBuilder<T> {
    settings: TopicSettings,
    open: OpenPublisher<T>,
}

impl<T> PublisherBuilder<T> {
    pub(crate) fn new(node: &Node, topic: &str, open: OpenPublisher<T>) -> Self {
        Self { settings: TopicSettings::new(node, topic), open }
    }

    /// Sets the QoS. Default: [`QosProfile::DEFAULT`].
    pub fn qos(mut self, qos: QosProfile) -> Self {
        self.settings.qos = qos;
        self
    }

    /// Lets parameters override the QoS, with the names of `rclcpp`: `qos_overrides./chatter.publisher.depth`.
    ///
    /// Declares a read-only parameter for each policy: `deadline`, `depth`, `durability`, `history`, `lifespan`,
    /// `liveliness`, `liveliness_lease_duration` and `reliability`. Durations are in nanoseconds, and 0 is infinite.
    /// Arguments and parameter files set them before the publisher exists. Default: no parameters.
    pub fn qos_overrides(mut self) -> Self {
        self.settings.has_overrides = true;
        self
    }

    /// Creates the publisher.
    ///
    /// # Errors
    /// As [`Node::publisher`], and [`Error::Parameter`](crate::Error::Parameter) for an override that is not valid.
    pub fn build(self) -> Result<Publisher<T>> {
        let (name, qos) = self.settings.resolve(EndpointKind::Publisher)?;
        (self.open)(&self.settings.node, name, qos)
    }
}

impl<T> fmt::Debug for PublisherBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublisherBuilder({:?})", self.settings.topic)
    }
}

/// Creates a subscription with further settings. See [`Node::subscription_builder`].
#[must_use = "a builder creates nothing until `build` is called"]
pub struct SubscriptionBuilder<T> {
    settings: TopicSettings,
    receiving: Receiving<T>,
    open: OpenSubscription<T>,
}

impl<T> SubscriptionBuilder<T> {
    pub(crate) fn new(node: &Node, topic: &str, open: OpenSubscription<T>) -> Self {
        let receiving = Receiving { filter: None, on_message: None };
        Self { settings: TopicSettings::new(node, topic), receiving, open }
    }

    /// Sets the QoS. Default: [`QosProfile::DEFAULT`].
    pub fn qos(mut self, qos: QosProfile) -> Self {
        self.settings.qos = qos;
        self
    }

    /// Lets parameters override the QoS, with the names of `rclcpp`: `qos_overrides./chatter.subscription.depth`.
    ///
    /// As [`PublisherBuilder::qos_overrides`], without `lifespan`.
    pub fn qos_overrides(mut self) -> Self {
        self.settings.has_overrides = true;
        self
    }

    /// Receives only messages that pass a filter: `data LIKE 'warn%'`, or `x > %0` with parameters.
    ///
    /// Publishers apply it before they send, if they can. Default: all messages.
    pub fn content_filter(mut self, expression: impl Into<FilterExpression>) -> Self {
        self.receiving.filter = Some(expression.into());
        self
    }

    /// Calls `callback` with each message, on the event thread of the context.
    ///
    /// It may block, such as for the answer of a service, a change of the graph, or another callback. Callbacks of
    /// other subscriptions then run on another thread after 100 ms, at most 8 at once. Otherwise they have their turn
    /// after at most 32 messages in a row. With `keep_last`, new messages replace old ones while the callback blocks.
    ///
    /// A wait or an iterator beside it takes messages away from it. A callback that owns its node keeps the node alive
    /// until the subscription is dropped. After a panic, it is not called again.
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// use dds_ros2::msgs::std_msgs::msg::String as Text;
    ///
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("listener")?;
    /// let print = |text: Text| println!("I heard: [{}]", text.data);
    /// let subscription = node.subscription_builder("chatter").on_message(print).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_message(mut self, callback: impl FnMut(T) + Send + 'static) -> Self {
        self.receiving.on_message = Some(Box::new(callback));
        self
    }

    /// Creates the subscription.
    ///
    /// # Errors
    /// As [`Node::publisher`], and [`Error::Parameter`](crate::Error::Parameter) for an override that is not valid.
    /// [`Error::Create`](crate::Error::Create) for a filter that is not valid, with the position.
    pub fn build(self) -> Result<Subscription<T>> {
        let (name, qos) = self.settings.resolve(EndpointKind::Subscription)?;
        (self.open)(&self.settings.node, name, qos, self.receiving)
    }
}

impl<T> fmt::Debug for SubscriptionBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubscriptionBuilder({:?})", self.settings.topic)
    }
}
