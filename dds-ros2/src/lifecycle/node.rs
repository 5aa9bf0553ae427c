//! Lifecycle nodes.

use super::machine::{
    LifecycleState, LifecycleTransition, ROWS, Row, STATES, SharedState, TransitionResult, row_of, row_of_result,
};
use super::publisher::LifecyclePublisher;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::service::{Request, Service};
use crate::topic::Publisher;
use crate::wait::{Signal, Wait};
use crate::{Error, Result};
use dds_ros2_msgs::RosMessage;
use dds_ros2_msgs::lifecycle_msgs::msg::TransitionEvent;
use dds_ros2_msgs::lifecycle_msgs::srv::{
    ChangeState, ChangeStateResponse, GetAvailableStates, GetAvailableStatesResponse, GetAvailableTransitions,
    GetAvailableTransitionsResponse, GetState, GetStateResponse,
};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The work of a lifecycle node in its transitions. Each default does nothing, with success.
///
/// A callback may block, and may create publishers and parameters. It must not change the state itself. A panic counts
/// as [`TransitionResult::Error`].
///
/// Callbacks that own a [`LifecycleNode`] keep it alive forever. Each call gets it as a parameter.
pub trait LifecycleCallbacks: Send + 'static {
    /// From unconfigured to inactive.
    fn on_configure(&mut self, _node: &LifecycleNode) -> TransitionResult {
        TransitionResult::Success
    }

    /// From inactive to unconfigured.
    fn on_cleanup(&mut self, _node: &LifecycleNode) -> TransitionResult {
        TransitionResult::Success
    }

    /// From inactive to active. Managed publishers publish from the end of this call on.
    fn on_activate(&mut self, _node: &LifecycleNode) -> TransitionResult {
        TransitionResult::Success
    }

    /// From active to inactive. Managed publishers stop before this call.
    fn on_deactivate(&mut self, _node: &LifecycleNode) -> TransitionResult {
        TransitionResult::Success
    }

    /// From any of the three to finalized.
    fn on_shutdown(&mut self, _node: &LifecycleNode) -> TransitionResult {
        TransitionResult::Success
    }

    /// After a callback that returned [`TransitionResult::Error`]. With success, which is the default as in `rclcpp`,
    /// the node is unconfigured, and otherwise finalized.
    fn on_error(&mut self, _node: &LifecycleNode) -> TransitionResult {
        TransitionResult::Success
    }
}

/// A node whose state other nodes change, for example by `ros2 lifecycle set`.
///
/// A handle: clones are cheap and refer to the same node.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange};
/// use dds_ros2::msgs::std_msgs::msg::String as Text;
/// use dds_ros2::{LifecycleCallbacks, LifecycleNode, LifecycleState, LifecycleTransition};
///
/// struct Talker;
///
/// impl LifecycleCallbacks for Talker {}
///
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = LifecycleNode::new(&context.node("lc_talker")?, Talker)?;
/// let publisher = node.publisher::<Text>("lifecycle_chatter")?;
/// assert!(!publisher.publish(&Text { data: "unheard".into() })?);
/// node.change_state(LifecycleTransition::Configure)?;
/// assert_eq!(node.change_state(LifecycleTransition::Activate)?, LifecycleState::Active);
/// assert!(publisher.publish(&Text { data: "heard".into() })?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LifecycleNode {
    core: Arc<Core>,
}

struct Core {
    state: SharedState,
    /// A transition runs, or its thread starts.
    is_changing: AtomicBool,
    /// Locked during a transition.
    callbacks: Mutex<Box<dyn LifecycleCallbacks>>,
    changed: Arc<Signal>,
    events: Publisher<TransitionEvent>,
    services: OnceLock<Vec<Box<dyn Any + Send + Sync>>>,
    // Last: the services and the publisher belong to it.
    node: Node,
}

impl LifecycleNode {
    /// Makes a node a lifecycle node: unconfigured, with the services `~/change_state`, `~/get_state`,
    /// `~/get_available_states`, `~/get_available_transitions` and `~/get_transition_graph`.
    ///
    /// # Errors
    /// As [`Node::service`].
    pub fn new(node: &Node, callbacks: impl LifecycleCallbacks) -> Result<Self> {
        let core = Arc::new(Core {
            state: SharedState::new(),
            is_changing: AtomicBool::new(false),
            callbacks: Mutex::new(Box::new(callbacks)),
            changed: Arc::default(),
            events: node.publisher_with("~/transition_event", QosProfile::DEFAULT)?,
            services: OnceLock::new(),
            node: node.clone(),
        });
        // The only call: the node is new.
        let _ = core.services.set(Core::serve(&core)?);
        Ok(Self { core })
    }

    /// Returns the node.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core.node
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> LifecycleState {
        self.core.state.get()
    }

    /// Changes the state on this thread, and returns the new one. After a failure, it is the old one.
    ///
    /// # Errors
    /// [`Error::LifecycleTransition`] if the state does not allow it, or another transition runs.
    pub fn change_state(&self, transition: LifecycleTransition) -> Result<LifecycleState> {
        let _changing = self.begin().ok_or_else(|| self.refused(transition))?;
        self.transition(transition).map(|(state, _)| state)
    }

    /// Waits for a state.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn wait_for_state(&self, state: LifecycleState) -> Wait<'_, ()> {
        Wait::new(
            self.core.node.context().waits(),
            &self.core.changed,
            move || Ok((self.state() == state).then_some(())),
            move || format!("the state is {}, not {state}", self.state()),
        )
    }

    /// Creates a publisher that publishes only while the node is active, with [`QosProfile::DEFAULT`].
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn publisher<T: RosMessage + 'static>(&self, topic: &str) -> Result<LifecyclePublisher<T>> {
        self.publisher_with(topic, QosProfile::DEFAULT)
    }

    /// As [`publisher`](Self::publisher), with this QoS.
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn publisher_with<T: RosMessage + 'static>(
        &self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<LifecyclePublisher<T>> {
        Ok(LifecyclePublisher::new(self.core.node.publisher_with(topic, qos)?, self.core.state.clone()))
    }

    /// Begins a transition, unless another one runs.
    fn begin(&self) -> Option<Changing> {
        let begun = self.core.is_changing.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire);
        begun.is_ok().then(|| Changing(Arc::clone(&self.core)))
    }

    fn refused(&self, transition: LifecycleTransition) -> Error {
        Error::LifecycleTransition { state: self.state(), transition }
    }

    /// Changes the state after [`begin`](Self::begin). Returns the new one, and the result of the callback.
    fn transition(&self, transition: LifecycleTransition) -> Result<(LifecycleState, TransitionResult)> {
        let core = &self.core;
        let start = row_of(self.state(), transition.label()).ok_or_else(|| self.refused(transition))?;
        let mut callbacks = core.callbacks.lock().unwrap_or_else(PoisonError::into_inner);
        core.pass(start);
        let result = self.guarded(|| match transition {
            LifecycleTransition::Configure => callbacks.on_configure(self),
            LifecycleTransition::Cleanup => callbacks.on_cleanup(self),
            LifecycleTransition::Activate => callbacks.on_activate(self),
            LifecycleTransition::Deactivate => callbacks.on_deactivate(self),
            LifecycleTransition::Shutdown => callbacks.on_shutdown(self),
        });
        core.finish(result);
        if self.state() == LifecycleState::ErrorProcessing {
            let recovered = self.guarded(|| callbacks.on_error(self));
            core.finish(recovered);
        }
        Ok((self.state(), result))
    }

    /// Calls a callback. Without an end of the transition after a panic, no other one could begin.
    fn guarded(&self, call: impl FnOnce() -> TransitionResult) -> TransitionResult {
        catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
            tracing::error!(node = self.core.node.full_name(), state = %self.state(), "a lifecycle callback panicked");
            TransitionResult::Error
        })
    }
}

/// The right to run a transition, until it is dropped.
struct Changing(Arc<Core>);

impl Drop for Changing {
    fn drop(&mut self) {
        self.0.is_changing.store(false, Ordering::Release);
    }
}

impl Core {
    fn finish(&self, result: TransitionResult) {
        let state = self.state.get();
        if let Some(row) = row_of_result(state, result) {
            self.pass(row);
        }
    }

    /// Sets the state, and announces it.
    fn pass(&self, row: Row) {
        self.state.set(row.goal);
        self.changed.notify();
        let event = TransitionEvent {
            timestamp: u64::try_from(self.node.now().as_unix_nanos()).unwrap_or(0),
            transition: row.transition(),
            start_state: row.start.to_message(),
            goal_state: row.goal.to_message(),
        };
        if let Err(error) = self.events.publish(&event) {
            tracing::debug!("a transition was not announced: {error}");
        }
    }

    fn serve(core: &Arc<Self>) -> Result<Vec<Box<dyn Any + Send + Sync>>> {
        let node = &core.node;
        let name = |service: &str| node.resolve_service(&format!("~/{service}"));
        let qos = QosProfile::SERVICES_DEFAULT;
        let change = Service::<ChangeState>::without_owner(node, name("change_state")?, qos)?;
        let own = Arc::downgrade(core);
        change.handle_in_background(move |request| {
            if let Some(core) = own.upgrade() {
                change_in_thread(LifecycleNode { core }, request);
            }
        })?;
        let own = Arc::downgrade(core);
        let state = Service::<GetState>::in_background(node, name("get_state")?, qos, move |_| {
            let state = own.upgrade().map_or(LifecycleState::Unknown, |core| core.state.get());
            GetStateResponse { current_state: state.to_message() }
        })?;
        let states =
            Service::<GetAvailableStates>::in_background(node, name("get_available_states")?, qos, move |_| {
                let available_states = STATES.into_iter().map(LifecycleState::to_message).collect();
                GetAvailableStatesResponse { available_states }
            })?;
        let own = Arc::downgrade(core);
        let available = name("get_available_transitions")?;
        let transitions = Service::<GetAvailableTransitions>::in_background(node, available, qos, move |_| {
            let state = own.upgrade().map_or(LifecycleState::Unknown, |core| core.state.get());
            let rows = ROWS.into_iter().filter(|row| row.start == state);
            GetAvailableTransitionsResponse { available_transitions: rows.map(Row::to_message).collect() }
        })?;
        let graph =
            Service::<GetAvailableTransitions>::in_background(node, name("get_transition_graph")?, qos, move |_| {
                let available_transitions = ROWS.into_iter().map(Row::to_message).collect();
                GetAvailableTransitionsResponse { available_transitions }
            })?;
        Ok(vec![Box::new(change), Box::new(state), Box::new(states), Box::new(transitions), Box::new(graph)])
    }
}

/// Changes the state on a thread of its own, because a callback may block. At most one such thread exists.
fn change_in_thread(node: LifecycleNode, request: Request<ChangeState>) {
    let refuse = |request: Request<ChangeState>| request.answer(|_| ChangeStateResponse { success: false });
    // No thread starts without the right to a transition, so requests without end start none.
    let Some(changing) = node.begin() else { return refuse(request) };
    let transition = LifecycleTransition::of_request(&request.data.transition, node.state());
    let Some(transition) = transition else { return refuse(request) };
    // The thread gets the request once it runs, so that the request is still here if the thread does not start.
    let (to_thread, from_here) = channel::<(Changing, Request<ChangeState>)>();
    let change = move || {
        let Ok((changing, request)) = from_here.recv() else { return };
        let changed = node.transition(transition);
        // Before the answer: the client may ask for the next transition at once.
        drop(changing);
        if let Err(error) = &changed {
            tracing::warn!(node = node.core.node.full_name(), "the state did not change: {error}");
        }
        let success = matches!(changed, Ok((_, TransitionResult::Success)));
        request.answer(|_| ChangeStateResponse { success });
    };
    if let Err(error) = std::thread::Builder::new().name("ros2-lifecycle".into()).spawn(change) {
        tracing::warn!("the thread of a transition did not start: {error}");
        refuse(request);
    } else if to_thread.send((changing, request)).is_err() {
        tracing::warn!("the thread of a transition has ended");
    }
}

impl fmt::Debug for LifecycleNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LifecycleNode({:?}, {})", self.core.node.full_name(), self.state())
    }
}
