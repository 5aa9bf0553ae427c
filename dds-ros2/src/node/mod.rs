//! Nodes: the owners of publishers, subscriptions, clients and servers.

use crate::Result;
use crate::action::{ActionClient, ActionServer, ActionServerBuilder};
use crate::context::Context;
use crate::graph::{LocalEndpoint, NodeId, Registration};
use crate::name::{NameKind, RemapRule, Remapping, Target, check_namespace, check_node, expand};
use crate::parameter::{ParameterBuilder, ParameterServer, ParameterStore, ParameterType, RemoteParameters};
use crate::qos::QosProfile;
use crate::service::{Client, Service};
use crate::topic::{Publisher, Subscription};
use dds_core::Time;
use dds_ros2_msgs::{RosAction, RosMessage, RosService};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Created with the first parameter.
    parameters: Mutex<Option<ParameterServer>>,
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
        Publisher::new(self, self.resolve_topic(topic)?, qos)
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
        Subscription::new(self, self.resolve_topic(topic)?, qos)
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
        let server = ParameterServer::new(self)?;
        let shared = Arc::clone(&server.shared);
        *parameters = Some(server);
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

    /// Returns the time of the node.
    #[must_use]
    pub fn now(&self) -> Time {
        self.inner.context.now()
    }

    fn resolve(&self, name: &str, kind: NameKind) -> Result<String> {
        let NodeInner { namespace, name: node, remapping, .. } = &*self.inner;
        let full = expand(name, kind, namespace, node)?;
        Ok(remapping.resolve(full, kind, namespace, node)?)
    }

    /// Adds endpoints of this node to the graph.
    pub(crate) fn register(&self, endpoints: Vec<LocalEndpoint>) -> Result<Registration> {
        self.inner.context.inner.graph.register(self.inner.id, endpoints)
    }
}

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
}

impl NodeBuilder {
    pub(crate) fn new(context: &Context, name: &str) -> Self {
        Self { context: context.clone(), name: name.to_owned(), namespace: "/".to_owned(), rules: Vec::new() }
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

    /// Creates the node and announces it.
    ///
    /// # Errors
    /// As [`Context::node`].
    pub fn build(self) -> Result<Node> {
        let Self { context, name, namespace, rules } = self;
        check_node(&name)?;
        check_namespace(&namespace, NameKind::Namespace)?;
        let remapping = context.remapping(rules);
        // The name first, and the namespace by rules for the new name, as in `rcl`.
        let name = remapping.of_node(&Target::Node, &name).map_or(name.clone(), str::to_owned);
        let namespace = remapping.of_node(&Target::Namespace, &name).map_or(namespace.clone(), str::to_owned);
        let id = context.inner.graph.add_node(&namespace, &name)?;
        Ok(Node {
            inner: Arc::new(NodeInner { context, id, namespace, name, remapping, parameters: Mutex::default() }),
        })
    }
}
