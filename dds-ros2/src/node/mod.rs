//! Nodes: the owners of publishers, subscriptions, clients and servers.

use crate::Result;
use crate::action::{ActionClient, ActionServer, ActionServerBuilder};
use crate::context::Context;
use crate::description::KnownTypes;
use crate::graph::{LocalEndpoint, NodeId, Registration};
use crate::message_time::stamp;
use crate::name::{NameKind, RemapRule, Remapping, Target, check_namespace, check_node, expand};
use crate::parameter::{
    Declared, Override, ParameterBuilder, ParameterCallback, ParameterServer, ParameterStore, ParameterType,
    ParameterValue, RemoteParameters,
};
use crate::qos::QosProfile;
use crate::rosout::{Logger, LoggerServices, Rosout};
use crate::service::{Client, Service};
use crate::time::{Clock, ClockKind, SimTime, Timer};
use crate::topic::{Publisher, PublisherBuilder, Subscription, SubscriptionBuilder};
use dds_core::{Duration, Time};
use dds_ros2_msgs::builtin_interfaces::msg::Time as Stamp;
use dds_ros2_msgs::type_description_interfaces::srv::GetTypeDescription;
use dds_ros2_msgs::{RosAction, RosMessage, RosService};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// A node of ROS 2.
///
/// A handle: clones are cheap and refer to the same node. Its publishers, subscriptions, clients and servers keep it
/// alive. Dropping the last of them removes the node from the graph.
#[derive(Clone)]
pub struct Node {
    inner: Arc<NodeInner>,
}

struct NodeInner {
    context: Context,
    id: NodeId,
    namespace: String,
    name: String,
    remapping: Remapping,
    clock: Clock,
    /// Created with the node, unless it has no services for parameters. Then with the first parameter.
    parameters: Mutex<Option<ParameterServer>>,
    /// While `use_sim_time` is true.
    sim_time: Mutex<Option<SimTime>>,
    rosout: OnceLock<Arc<Rosout>>,
    types: Arc<KnownTypes>,
    description_service: OnceLock<Service<GetTypeDescription>>,
    logger_services: OnceLock<LoggerServices>,
}

/// A handle that does not keep the node alive.
#[derive(Clone)]
pub(crate) struct WeakNode {
    inner: Weak<NodeInner>,
}

impl WeakNode {
    pub(crate) fn upgrade(&self) -> Option<Node> {
        self.inner.upgrade().map(|inner| Node { inner })
    }
}

impl Drop for NodeInner {
    fn drop(&mut self) {
        self.context.inner.graph.remove_node(self.id);
    }
}

impl Node {
    /// Returns the context of the node.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.inner.context
    }

    /// Returns the name without the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Returns the namespace: `/` or `/lab`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.inner.namespace
    }

    /// Returns the namespace and the name: `/lab/camera`.
    #[must_use]
    pub fn full_name(&self) -> String {
        let namespace = if self.inner.namespace == "/" { "" } else { &self.inner.namespace };
        format!("{namespace}/{}", self.inner.name)
    }

    /// Creates a publisher with [`QosProfile::DEFAULT`].
    ///
    /// # Errors
    /// [`Error::Name`](crate::Error::Name), [`Error::Create`](crate::Error::Create), or
    /// [`Error::Write`](crate::Error::Write) if it is not announced.
    pub fn publisher<T: RosMessage + 'static>(&self, topic: &str) -> Result<Publisher<T>> {
        self.publisher_with(topic, QosProfile::DEFAULT)
    }

    /// Creates a publisher with this QoS.
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn publisher_with<T: RosMessage + 'static>(&self, topic: &str, qos: QosProfile) -> Result<Publisher<T>> {
        self.publisher_builder(topic).qos(qos).build()
    }

    /// Creates a subscription with [`QosProfile::DEFAULT`].
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn subscription<T: RosMessage + 'static>(&self, topic: &str) -> Result<Subscription<T>> {
        self.subscription_with(topic, QosProfile::DEFAULT)
    }

    /// Creates a subscription with this QoS.
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn subscription_with<T: RosMessage + 'static>(&self, topic: &str, qos: QosProfile) -> Result<Subscription<T>> {
        self.subscription_builder(topic).qos(qos).build()
    }

    /// Returns a builder of a publisher, which lets parameters override its QoS.
    pub fn publisher_builder<T: RosMessage + 'static>(&self, topic: &str) -> PublisherBuilder<T> {
        PublisherBuilder::new(self, topic, Box::new(Publisher::typed))
    }

    /// Returns a builder of a subscription, with a callback, a content filter or overrides of its QoS.
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// use dds_ros2::QosProfile;
    /// use dds_ros2::msgs::std_msgs::msg::Int32;
    ///
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("guard")?;
    /// let hot = node
    ///     .subscription_builder::<Int32>("temperature")
    ///     .qos(QosProfile::SENSOR_DATA)
    ///     .qos_overrides() // `-p qos_overrides./temperature.subscription.depth:=20`
    ///     .content_filter("data > 80")
    ///     .build()?;
    /// let publisher = node.publisher::<Int32>("temperature")?;
    /// publisher.wait_for_subscribers(1).block()?;
    /// for data in [20, 95] {
    ///     publisher.publish(&Int32 { data })?;
    /// }
    /// assert_eq!(hot.next_message().block()?.data, 95);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subscription_builder<T: RosMessage + 'static>(&self, topic: &str) -> SubscriptionBuilder<T> {
        SubscriptionBuilder::new(self, topic, Box::new(Subscription::typed))
    }

    /// Creates a server of a service. [`Service::serve`] answers its requests, or [`Service::next_request`].
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn service<S: RosService>(&self, name: &str) -> Result<Service<S>> {
        Service::new(self, self.resolve_service(name)?, QosProfile::SERVICES_DEFAULT)
    }

    /// Creates a client of a service.
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn client<S: RosService>(&self, name: &str) -> Result<Client<S>> {
        Client::new(self, self.resolve_service(name)?, QosProfile::SERVICES_DEFAULT)
    }

    /// Creates a server of an action. [`ActionServer::next_goal`] takes its goals, or [`ActionServer::serve`].
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn action_server<A: RosAction>(&self, action: &str) -> Result<ActionServer<A>> {
        self.action_server_builder(action).build()
    }

    /// Returns a builder of a server of an action, for the time that results are kept.
    pub fn action_server_builder<A: RosAction>(&self, action: &str) -> ActionServerBuilder<A> {
        ActionServerBuilder::new(self, action)
    }

    /// Creates a client of an action.
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn action_client<A: RosAction>(&self, action: &str) -> Result<ActionClient<A>> {
        ActionClient::new(self, self.resolve_action(action)?)
    }

    /// Returns a builder of a parameter, for its range and its description. `default` is its first value.
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("drive")?;
    /// let speed = node.parameter("speed", 1.0).range(0.0..=3.0).description("meters per second").declare()?;
    /// assert_eq!(speed.get(), 1.0);
    /// assert!(speed.set(4.0).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn parameter<T: ParameterType>(&self, name: &str, default: T) -> ParameterBuilder<T> {
        ParameterBuilder::new(self, name, default)
    }

    /// Calls `callback` before each change of parameters, by the program or by another node.
    ///
    /// An error refuses the change.
    /// It gets the names and the new values of one request, which the declarations allow. As
    /// `add_on_set_parameters_callback` of `rclcpp`, but without a lock: it may read and change parameters. Another
    /// thread may change one between the call and the change. Declarations do not call it. A callback that owns a
    /// [`Parameter`](crate::Parameter) keeps the node alive until its handle is dropped.
    ///
    /// A request calls it on a thread of this node. So it may wait for other nodes, also of this program. Until it
    /// returns, other requests to change parameters of this node wait, but not
    /// [`Parameter::set`](crate::Parameter::set).
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange, ParameterValue};
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("camera")?;
    /// let width = node.parameter("width", 640_i64).declare()?;
    /// let _even = node.before_parameters_change(|changes| match &changes[0] {
    ///     (name, ParameterValue::Integer(value)) if value % 2 != 0 => Err(format!("{name} must be even")),
    ///     _ => Ok(()),
    /// })?;
    /// assert_eq!(width.set(641).unwrap_err().to_string(), "width must be even");
    /// width.set(800)
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`service`](Self::service), if the node has no services for parameters yet.
    pub fn before_parameters_change(
        &self,
        callback: impl Fn(&[(String, ParameterValue)]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Result<ParameterCallback> {
        Ok(self.parameters()?.callbacks.add_before(Arc::new(callback)))
    }

    /// Calls `callback` after each change of parameters, with the names and values that differ.
    ///
    /// As `add_post_set_parameters_callback` of `rclcpp`. Calls of two threads may be in any order.
    ///
    /// # Errors
    /// As [`before_parameters_change`](Self::before_parameters_change).
    pub fn after_parameters_change(
        &self,
        callback: impl Fn(&[(String, ParameterValue)]) + Send + Sync + 'static,
    ) -> Result<ParameterCallback> {
        Ok(self.parameters()?.callbacks.add_after(Arc::new(callback)))
    }

    /// Returns the parameters of another node, by its name: `/lab/camera`.
    ///
    /// # Errors
    /// As [`client`](Self::client).
    pub fn parameters_of(&self, node: &str) -> Result<RemoteParameters> {
        RemoteParameters::new(self, node)
    }

    /// Returns the own parameters. The first call creates their services.
    pub(crate) fn parameters(&self) -> Result<Arc<ParameterStore>> {
        let mut parameters = self.inner.parameters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = &*parameters {
            return Ok(Arc::clone(&server.shared));
        }
        let mut overrides: BTreeMap<String, ParameterValue> = BTreeMap::new();
        let full_name = self.full_name();
        for Override { name, value, .. } in
            self.inner.context.inner.parameters.iter().filter(|value| value.applies_to(&full_name))
        {
            overrides.insert(name.clone(), value.clone());
        }
        let server = ParameterServer::new(self, overrides)?;
        let shared = Arc::clone(&server.shared);
        *parameters = Some(server);
        drop(parameters);
        self.follow_use_sim_time(&shared)?;
        Ok(shared)
    }

    /// Returns the fully qualified name of a topic after remapping.
    ///
    /// # Errors
    /// [`Error::Name`](crate::Error::Name).
    pub fn resolve_topic(&self, name: &str) -> Result<String> {
        self.resolve(name, NameKind::Topic)
    }

    /// Returns the fully qualified name of a service after remapping.
    ///
    /// # Errors
    /// [`Error::Name`](crate::Error::Name).
    pub fn resolve_service(&self, name: &str) -> Result<String> {
        self.resolve(name, NameKind::Service)
    }

    /// Returns the fully qualified name of an action. Remapping rules for services apply.
    ///
    /// # Errors
    /// [`Error::Name`](crate::Error::Name).
    pub fn resolve_action(&self, name: &str) -> Result<String> {
        self.resolve(name, NameKind::Service)
    }

    /// Declares the parameter that decides whether the node describes its types, and returns its value.
    fn starts_description_service(&self, default: bool) -> Result<bool> {
        let declared = Declared {
            value: default.into(),
            description: "Start the ~/get_type_description service for this node.".to_owned(),
            is_read_only: true,
            ..Declared::default()
        };
        let value = self.parameters()?.declare_or_get("start_type_description_service", declared)?;
        Ok(value == ParameterValue::Bool(true))
    }

    /// Declares `use_sim_time`, and follows its changes.
    fn follow_use_sim_time(&self, parameters: &Arc<ParameterStore>) -> Result<()> {
        let node = self.downgrade();
        let own = Arc::downgrade(parameters);
        parameters.observe(move |name| {
            let (USE_SIM_TIME, Some(parameters), Some(node)) = (name, own.upgrade(), node.upgrade()) else { return };
            if let Err(error) = node.use_sim_time(&parameters) {
                tracing::warn!("the source of the time did not change: {error}");
            }
        });
        parameters.declare_default(USE_SIM_TIME, false)?;
        self.use_sim_time(parameters)
    }

    /// Applies the value of `use_sim_time`.
    fn use_sim_time(&self, parameters: &ParameterStore) -> Result<()> {
        let mut sim_time = self.inner.sim_time.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock: the last of several threads applies the last value.
        let ParameterValue::Bool(is_used) = parameters.store().get(USE_SIM_TIME) else { return Ok(()) };
        let (mut old, mut started) = (None, None);
        if !is_used {
            old = sim_time.take();
        } else if sim_time.is_none() {
            let new = SimTime::new(self)?;
            started = new.start();
            *sim_time = Some(new);
        }
        // Callbacks about the jump run without the lock.
        drop(sim_time);
        drop(old);
        if let Some(announcement) = started {
            announcement.announce();
        }
        Ok(())
    }

    /// Returns the clock of the node: simulated time if the parameter `use_sim_time` is true.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.inner.clock.clone()
    }

    /// Returns the time of the node's clock.
    #[must_use]
    pub fn now(&self) -> Time {
        self.inner.clock.now()
    }

    /// Returns the time of the node's clock as a message, such as for the header of another message.
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// use dds_ros2::msgs::std_msgs::msg::Header;
    ///
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("camera")?;
    /// let header = Header { stamp: node.stamp(), frame_id: "lens".into() };
    /// assert!(header.stamp.sec > 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        stamp(self.now())
    }

    /// Returns a timer that follows the node's clock.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) if the period is not positive.
    pub fn timer(&self, period: impl Into<Duration>) -> Result<Timer> {
        self.inner.clock.timer(period)
    }

    /// Returns a timer with this number of ticks in a second of the node's clock.
    ///
    /// # Errors
    /// As [`timer`](Self::timer).
    pub fn rate(&self, hertz: f64) -> Result<Timer> {
        // The cast keeps the bounds of `i64`, and NaN becomes 0, which is an error.
        #[allow(clippy::cast_possible_truncation, reason = "nanoseconds need no fraction")]
        self.timer(Duration::from_nanos((1e9 / hertz) as i64))
    }

    /// The types that the node describes.
    pub(crate) fn types(&self) -> &KnownTypes {
        &self.inner.types
    }

    /// Returns the logger of the node, for `/rosout`.
    #[must_use]
    pub fn logger(&self) -> Logger {
        Logger::new(self, self.inner.rosout.get().cloned())
    }

    /// Returns a layer of `tracing` that publishes events on `/rosout` (feature `rosout-layer`).
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// use tracing_subscriber::layer::SubscriberExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("camera")?;
    /// let subscriber = tracing_subscriber::registry().with(node.rosout_layer()?);
    /// tracing::subscriber::set_global_default(subscriber)?;
    /// tracing::info!(exposure = 5, "started"); // `started exposure=5` on `/rosout`
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) if the node has no `/rosout`.
    #[cfg(feature = "rosout-layer")]
    pub fn rosout_layer(&self) -> Result<crate::RosoutLayer> {
        crate::RosoutLayer::new(self, self.inner.rosout.get().cloned())
    }

    fn resolve(&self, name: &str, kind: NameKind) -> Result<String> {
        let NodeInner { namespace, name: node, remapping, .. } = &*self.inner;
        let full = expand(name, kind, namespace, node)?;
        Ok(remapping.resolve(full, kind, namespace, node)?)
    }

    pub(crate) fn downgrade(&self) -> WeakNode {
        WeakNode { inner: Arc::downgrade(&self.inner) }
    }

    /// Adds endpoints of this node to the graph.
    pub(crate) fn register(&self, endpoints: Vec<LocalEndpoint>) -> Result<Registration> {
        self.inner.context.inner.graph.register(self.inner.id, endpoints)
    }
}

/// The parameter that selects the source of the time.
const USE_SIM_TIME: &str = "use_sim_time";

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({:?})", self.full_name())
    }
}

/// Builds a [`Node`]. See [`Context::node_builder`].
#[must_use = "a builder creates nothing until `build` is called"]
#[derive(Debug)]
pub struct NodeBuilder {
    context: Context,
    name: String,
    namespace: String,
    rules: Vec<RemapRule>,
    has_parameter_services: bool,
    has_description_service: bool,
    has_logger_services: bool,
    has_rosout: bool,
}

impl NodeBuilder {
    pub(crate) fn new(context: &Context, name: &str) -> Self {
        Self {
            context: context.clone(),
            name: name.to_owned(),
            namespace: "/".to_owned(),
            rules: Vec::new(),
            has_parameter_services: true,
            has_description_service: true,
            has_logger_services: false,
            has_rosout: !context.inner.is_without_rosout,
        }
    }

    /// Sets the namespace. A missing `/` at the start is added. Default: `/`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = if namespace.starts_with('/') { namespace.to_owned() } else { format!("/{namespace}") };
        self
    }

    /// Adds a remapping rule for this node. It comes before those of the context.
    pub fn remap(mut self, rule: RemapRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets whether the node has services for parameters from the start. Default: `true`, as in `rclcpp`.
    ///
    /// Otherwise the first parameter creates them, and `use_sim_time`.
    pub fn parameter_services(mut self, has_services: bool) -> Self {
        self.has_parameter_services = has_services;
        self
    }

    /// Sets whether the node has the service `~/get_type_description`. Default: `true`, as in `rclcpp` of Jazzy.
    ///
    /// It describes the types of the node's topics, services and actions. The read-only parameter
    /// `start_type_description_service` overrides it, if the node has services for parameters.
    pub fn type_description_service(mut self, has_service: bool) -> Self {
        self.has_description_service = has_service;
        self
    }

    /// Sets whether the node has the services `~/get_logger_levels` and `~/set_logger_levels`. Default: `false`, as in
    /// `rclcpp`.
    ///
    /// They read and change the levels of the loggers of the context, after those of `--log-level`.
    pub fn logger_services(mut self, has_services: bool) -> Self {
        self.has_logger_services = has_services;
        self
    }

    /// Leaves out the standard services and `/rosout`, for a node with few endpoints.
    pub fn bare(self) -> Self {
        self.parameter_services(false).type_description_service(false).logger_services(false).rosout(false)
    }

    /// Sets whether the node publishes on `/rosout`. Default: `true`, unless an argument is `--disable-rosout-logs`.
    pub fn rosout(mut self, has_rosout: bool) -> Self {
        self.has_rosout = has_rosout;
        self
    }

    /// Creates the node and announces it.
    ///
    /// # Errors
    /// As [`Context::node`].
    pub fn build(self) -> Result<Node> {
        let Self { context, name, namespace, rules, .. } = self;
        check_node(&name)?;
        check_namespace(&namespace, NameKind::Namespace)?;
        let remapping = context.remapping(rules);
        // The name first, and the namespace by rules for the new name, as in `rcl`.
        let name = remapping.of_node(&Target::Node, &name).map_or(name.clone(), str::to_owned);
        let namespace = remapping.of_node(&Target::Namespace, &name).map_or(namespace.clone(), str::to_owned);
        let id = context.inner.graph.add_node(&namespace, &name)?;
        let clock = Clock::new(context.waits(), ClockKind::Ros);
        let inner = NodeInner {
            context,
            id,
            namespace,
            name,
            remapping,
            clock,
            parameters: Mutex::default(),
            sim_time: Mutex::default(),
            rosout: OnceLock::new(),
            types: Arc::default(),
            description_service: OnceLock::new(),
            logger_services: OnceLock::new(),
        };
        let node = Node { inner: Arc::new(inner) };
        // Each cell is set once: the node is new.
        if self.has_rosout {
            let _ = node.inner.rosout.set(Arc::new(Rosout::new(&node)?));
        }
        let mut has_description_service = self.has_description_service;
        if self.has_parameter_services {
            has_description_service = node.starts_description_service(has_description_service)?;
        }
        if has_description_service {
            let _ = node.inner.description_service.set(node.inner.types.serve(&node)?);
        }
        if self.has_logger_services {
            let _ = node.inner.logger_services.set(LoggerServices::new(&node)?);
        }
        Ok(node)
    }
}
