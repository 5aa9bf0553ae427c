//! The context: a participant of DDS for all nodes of a program, and its settings.

mod arguments;
mod background;
mod builder;
mod environment;
mod security;

pub(crate) use background::{Background, CallbackThread, Task, Turn};
pub use builder::{ContextBuilder, Distro};
pub use environment::DiscoveryRange;

use crate::graph::{Graph, GraphCore};
use crate::name::{RemapRule, Remapping};
use crate::node::{Node, NodeBuilder};
use crate::parameter::Override;
use crate::rosout::SharedLevels;
use crate::time::{Clock, ClockKind};
use crate::wait::{Signal, Wait, Waits};
use crate::{Error, Result};
use dds_core::{DomainParticipant, Time};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// State that the nodes of a program share: a participant of DDS, the graph, and the settings.
///
/// One context for each program is the rule. A handle: clones are cheap and refer to the same context. Nodes keep their
/// context alive.
///
/// ```
/// use dds_ros2::Context;
/// # use dds_ros2::DiscoveryRange;
///
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// # if false {
/// let context = Context::from_env()?;
/// # }
/// let node = context.node("talker")?;
/// assert_eq!(node.full_name(), "/talker");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<ContextInner>,
}

pub(crate) struct ContextInner {
    pub(crate) waits: Waits,
    pub(crate) graph: Arc<GraphCore>,
    rules: Vec<RemapRule>,
    arguments: Vec<String>,
    enclave: String,
    /// Values for parameters of nodes. Later ones count.
    pub(crate) parameters: Vec<Override>,
    pub(crate) is_without_rosout: bool,
    pub(crate) log_levels: SharedLevels,
    pub(crate) background: Background,
    /// Numbers of clients and servers.
    services: AtomicU32,
}

impl Context {
    /// Creates a context from the environment and the arguments of this program.
    ///
    /// Variables: `ROS_DOMAIN_ID`, `ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_STATIC_PEERS` and `ROS_LOCALHOST_ONLY`, and
    /// those of SROS 2, see [`ContextBuilder::build`].
    /// Arguments: those after `--ros-args`, see [`ContextBuilder::arguments`]. They must be Unicode. Other arguments
    /// need not be, and [`arguments`](Self::arguments) then has replacement characters.
    ///
    /// # Errors
    /// [`Error::Argument`], [`Error::Environment`], or [`Error::Create`].
    pub fn from_env() -> Result<Self> {
        Self::builder().arguments_of_system(std::env::args_os().skip(1)).build()
    }

    /// Returns a builder, for settings in code. It reads the environment unless
    /// [`ignore_environment`](ContextBuilder::ignore_environment) is called.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::new()
    }

    /// Creates a node in the root namespace, unless a remapping rule moves it.
    ///
    /// # Errors
    /// [`Error::Name`], or [`Error::Write`] if the node is not announced.
    pub fn node(&self, name: &str) -> Result<Node> {
        self.node_builder(name).build()
    }

    /// Returns a builder of a node, for its namespace and its remapping rules.
    pub fn node_builder(&self, name: &str) -> NodeBuilder {
        NodeBuilder::new(self, name)
    }

    /// Returns the graph: nodes, topics and services of all programs.
    #[must_use]
    pub fn graph(&self) -> Graph {
        Graph::new(Arc::clone(&self.inner.graph))
    }

    /// Returns the arguments of the program outside of `--ros-args`.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.inner.arguments
    }

    /// Returns the enclave. Default: `/`.
    #[must_use]
    pub fn enclave(&self) -> &str {
        &self.inner.enclave
    }

    /// Returns the participant of DDS.
    #[must_use]
    pub fn participant(&self) -> &DomainParticipant {
        &self.inner.waits.participant
    }

    /// Returns the time of the system.
    #[must_use]
    pub fn now(&self) -> Time {
        self.inner.waits.participant.now()
    }

    /// Returns a clock that never jumps, for timers and time limits.
    #[must_use]
    pub fn steady_clock(&self) -> Clock {
        Clock::new(&self.inner.waits, ClockKind::Steady)
    }

    /// Returns the clock of the system.
    #[must_use]
    pub fn system_clock(&self) -> Clock {
        Clock::new(&self.inner.waits, ClockKind::System)
    }

    /// Closes all nodes and leaves the domain. Every wait ends with [`Error::Closed`].
    ///
    /// Blocks until reliable messages are acknowledged, at most the linger time.
    ///
    /// # Errors
    /// [`Error::Wait`] if the participant does not end.
    pub fn shutdown(&self) -> Result<()> {
        let ended = self.inner.waits.participant.shutdown().block();
        self.inner.waits.closing.notify();
        Ok(ended?)
    }

    /// Returns the identity of the next client or server: the participant's GUID prefix and a number.
    pub(crate) fn service_identity(&self) -> [u8; 16] {
        let number = self.inner.services.fetch_add(1, Ordering::Relaxed) + 1;
        let mut identity = self.inner.waits.participant.guid().to_bytes();
        identity[12..].copy_from_slice(&number.to_be_bytes());
        identity
    }

    pub(crate) fn waits(&self) -> &Waits {
        &self.inner.waits
    }

    pub(crate) fn remapping(&self, first: impl IntoIterator<Item = RemapRule>) -> Remapping {
        Remapping::new(first.into_iter().chain(self.inner.rules.iter().cloned()))
    }

    /// Waits for a duration. Ends early only if the context closes.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub async fn sleep(&self, duration: impl Into<dds_core::Duration>) -> Result<()> {
        let signal = Arc::new(Signal::default());
        let wait: Wait<'_, ()> = Wait::new(&self.inner.waits, &signal, || Ok(None), String::new);
        match wait.within(duration).await {
            Err(Error::Timeout { .. }) => Ok(()),
            other => other,
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("enclave", &self.inner.enclave).finish_non_exhaustive()
    }
}
