//! The side of an action that works on goals.

use super::Names;
use super::goals::{Asked, Cancellation, Goals};
use super::state::{GoalEvent, GoalId, GoalState};
use crate::context::{Task, Turn};
use crate::graph::{Explanation, FaultKind, LocalEndpoint, Prefix, Registration, prefix_of};
use crate::message_time::{stamp, time_of};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::service::{Request, Service, ServiceIntrospection};
use crate::topic::user_data_of;
use crate::wait::{Signal, Wait};
use crate::{Error, Result};
use dds_cdr::cdr::{Encoding, encode_payload};
use dds_core::listener::Delivery;
use dds_core::{DataWriter, Duration};
use dds_ros2_msgs::RosAction;
use dds_ros2_msgs::action_msgs::msg::{GoalInfo, GoalStatus, GoalStatusArray};
use dds_ros2_msgs::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use dds_ros2_msgs::unique_identifier_msgs::msg::UUID;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

/// How long the first feedback of a goal waits for its client. `rmw_fastrtps` delays replies as long.
const CLIENT_WAIT: Duration = Duration::from_millis(100);

/// A server of an action.
///
/// A handle: clones are cheap and refer to the same server, and each goal goes to one of them. Requests for results and
/// to cancel are answered in the background.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange, GoalState};
/// use dds_ros2::msgs::example_interfaces::action::{Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult};
///
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = context.node("fibonacci")?;
/// let server = node.action_server::<Fibonacci>("fibonacci")?;
/// let goals = server.clone(); // The server must live until its clients have their results.
/// std::thread::spawn(move || -> dds_ros2::Result<()> {
///     let goal = goals.next_goal().block()?.accept()?;
///     goal.publish_feedback(FibonacciFeedback { sequence: vec![0] })?;
///     goal.succeed(FibonacciResult { sequence: vec![0, 1] })
/// });
/// let client = node.action_client::<Fibonacci>("fibonacci")?;
/// let goal = client.send_goal(FibonacciGoal { order: 2 }).block()?;
/// let outcome = goal.result().block()?;
/// assert_eq!((outcome.state, outcome.result.sequence), (GoalState::Succeeded, vec![0, 1]));
/// # Ok(())
/// # }
/// ```
pub struct ActionServer<A: RosAction> {
    core: Arc<Core<A>>,
}

struct Core<A: RosAction> {
    name: String,
    send_goal: Service<A::SendGoal>,
    cancel_goal: Service<CancelGoal>,
    get_result: Service<A::GetResult>,
    feedback: DataWriter<A::FeedbackMessage>,
    status: DataWriter<GoalStatusArray>,
    /// Notified after a change of a goal, and of matches of the feedback.
    changed: Arc<Signal>,
    state: Mutex<State<A>>,
    /// Removes expired goals.
    expiry: OnceLock<Arc<Task>>,
    // Dropped before the node, so that the graph never lists an endpoint without its node.
    _registration: Registration,
    node: Node,
}

struct State<A: RosAction> {
    goals: Goals<A::Result, Request<A::GetResult>>,
    /// The goals differ from the last published status.
    is_changed: bool,
    /// A thread publishes the status, and then the next one.
    is_publishing: bool,
}

/// Builds an [`ActionServer`]. See [`Node::action_server_builder`].
#[must_use = "a builder creates nothing until `build` is called"]
#[derive(Debug)]
pub struct ActionServerBuilder<A> {
    node: Node,
    action: String,
    result_timeout: Duration,
    marker: std::marker::PhantomData<fn() -> A>,
}

impl<A: RosAction> ActionServerBuilder<A> {
    pub(crate) fn new(node: &Node, action: &str) -> Self {
        let result_timeout = Duration::from_secs(10);
        Self { node: node.clone(), action: action.to_owned(), result_timeout, marker: std::marker::PhantomData }
    }

    /// Sets how long the result of an ended goal is kept. Default: 10 s, as in `rcl_action` of Jazzy.
    ///
    /// An infinite duration keeps the results of the last 1024 ended goals, which is the limit of any duration.
    pub fn result_timeout(mut self, timeout: impl Into<Duration>) -> Self {
        self.result_timeout = timeout.into();
        self
    }

    /// Creates the server.
    ///
    /// # Errors
    /// As [`Node::action_server`].
    pub fn build(self) -> Result<ActionServer<A>> {
        let Self { node, action, result_timeout, .. } = self;
        let name = node.resolve_action(&action)?;
        let names = Names::of(&name);
        let participant = node.context().participant();
        let changed = Arc::new(Signal::default());
        let matched = Arc::clone(&changed);
        let feedback = participant
            .writer_builder::<A::FeedbackMessage>(&topic_name("rt", &names.feedback, ""))
            .qos(QosProfile::DEFAULT.writer(user_data_of::<A::FeedbackMessage>()))
            .delivery(Delivery::Inline)
            .on_event(move |_, _| matched.notify())
            .build()?;
        let status = participant
            .writer_builder::<GoalStatusArray>(&topic_name("rt", &names.status, ""))
            .qos(QosProfile::ACTION_STATUS.writer(user_data_of::<GoalStatusArray>()))
            .build()?;
        node.types().add_action::<A>();
        node.types().add_message::<A::FeedbackMessage>();
        node.types().add_message::<GoalStatusArray>();
        let registration =
            node.register(vec![LocalEndpoint::of_writer(&feedback), LocalEndpoint::of_writer(&status)])?;
        let goals = Goals::new(result_timeout.to_std());
        let qos = QosProfile::SERVICES_DEFAULT;
        let core = Arc::new(Core {
            send_goal: Service::without_owner(&node, names.send_goal, qos)?,
            cancel_goal: Service::without_owner(&node, names.cancel_goal, qos)?,
            get_result: Service::without_owner(&node, names.get_result, qos)?,
            name,
            feedback,
            status,
            changed,
            state: Mutex::new(State { goals, is_changed: true, is_publishing: false }),
            expiry: OnceLock::new(),
            _registration: registration,
            node,
        });
        Core::start(&core)?;
        Ok(ActionServer { core })
    }
}

impl<A: RosAction> ActionServer<A> {
    /// Waits for the next goal.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn next_goal(&self) -> Wait<'_, GoalRequest<A>> {
        let core = &self.core;
        Wait::new(
            core.node.context().waits(),
            core.send_goal.signal(),
            || self.take_goal(),
            || format!("no goal of {:?}; {} clients are connected", core.name, core.send_goal.client_count()),
        )
    }

    /// Takes the next goal if one is there. A goal with the id of another one is rejected.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn take_goal(&self) -> Result<Option<GoalRequest<A>>> {
        while let Some(mut request) = self.core.send_goal.take_request()? {
            let (id, goal) = A::open_send_goal_request(std::mem::take(&mut request.data));
            let id = GoalId::from_bytes(id);
            let taken = GoalRequest { goal, id, request: Some(request), core: Arc::clone(&self.core) };
            if !self.core.state().goals.contains(id) {
                return Ok(Some(taken));
            }
            // Dropping the request rejects it.
            if let Some(request) = &taken.request {
                let faults = self.core.node.context().inner.graph.faults();
                faults.note(
                    prefix_of(request.client()),
                    FaultKind::Goal,
                    format_args!("{}: a goal has the id {id} of another one", self.core.name),
                );
            }
        }
        Ok(None)
    }

    /// Accepts goals and calls `work` with each one on this thread, until the context closes.
    ///
    /// For goals at the same time, call [`next_goal`](Self::next_goal) and start a thread or a task for each. A goal is
    /// aborted if `work` drops it, or returns an error before its end. The error is logged.
    ///
    /// # Errors
    /// As the wait of [`next_goal`](Self::next_goal), except for [`Error::Closed`].
    pub fn serve(&self, mut work: impl FnMut(ServerGoal<A>) -> Result<()>) -> Result<()> {
        loop {
            let request = match self.next_goal().block() {
                Ok(request) => request,
                Err(Error::Closed) => return Ok(()),
                Err(error) => return Err(error),
            };
            if let Err(error) = request.accept().and_then(&mut work) {
                tracing::warn!(action = self.core.name, "a goal failed: {error}");
            }
        }
    }

    /// Explains why clients are connected or not, with names of ROS 2 and the next steps.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.core.node.context().graph().explain(&self.core.name)
    }

    /// Returns the fully qualified name of the action.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns the node of the server.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core.node
    }

    /// Sets the events that the server publishes about calls. Default: none.
    ///
    /// Each of its three services has a topic, such as `NAME/_action/send_goal/_service_event`.
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn configure_introspection(&self, level: ServiceIntrospection) -> Result<()> {
        self.core.send_goal.configure_introspection(level)?;
        self.core.cancel_goal.configure_introspection(level)?;
        self.core.get_result.configure_introspection(level)
    }

    /// Returns the known goals with their states, in the order of acceptance.
    #[must_use]
    pub fn goals(&self) -> Vec<(GoalId, GoalState)> {
        self.core.state().goals.statuses().map(|(id, _, state)| (id, state)).collect()
    }
}

impl<A: RosAction> Core<A> {
    fn state(&self) -> MutexGuard<'_, State<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(core: &Arc<Self>) -> Result<()> {
        let own: Weak<Self> = Arc::downgrade(core);
        let expire = own.clone();
        let task = core.node.context().inner.background.task(move || {
            if let Some(core) = expire.upgrade() {
                core.expire();
            }
            Turn::Done
        })?;
        // The only call: the server is new.
        let _ = core.expiry.set(task);
        let cancel = own.clone();
        core.cancel_goal.handle_in_background(move |request| {
            if let Some(core) = cancel.upgrade() {
                request.answer(|request| core.cancel(&request));
                core.announce();
            }
        })?;
        core.get_result.handle_in_background(move |request| {
            let Some(core) = own.upgrade() else { return };
            let id = GoalId::from_bytes(A::open_get_result_request(request.data.clone()));
            let asked = core.state().goals.ask(id, request.client(), request);
            core.evict();
            if let Asked::Answer(request, state, result) = asked {
                core.answer(request, state, result);
            }
        })?;
        core.publish_status();
        Ok(())
    }

    fn cancel(&self, request: &CancelGoalRequest) -> CancelGoalResponse {
        let info = &request.goal_info;
        let Cancellation { code, goals } = {
            let mut state = self.state();
            let canceled = state.goals.cancel(GoalId::from_bytes(info.goal_id.uuid), time_of(&info.stamp));
            // A refused request must not make the server publish.
            state.is_changed |= !canceled.goals.is_empty();
            canceled
        };
        let goals_canceling = goals
            .into_iter()
            .map(|(id, time)| GoalInfo { goal_id: UUID { uuid: id.to_bytes() }, stamp: stamp(time) })
            .collect();
        CancelGoalResponse { return_code: code, goals_canceling }
    }

    /// Drops requests for results if too many wait.
    fn evict(&self) {
        if self.state().goals.is_crowded() {
            let clients = self.get_result.clients();
            self.state().goals.evict(|client| clients.contains(&client));
        }
    }

    fn answer(&self, request: Request<A::GetResult>, state: GoalState, result: A::Result) {
        if let Err(error) = request.reply(A::get_result_response(state.number(), result)) {
            tracing::warn!(action = self.name, "a result was not sent: {error}");
        }
    }

    /// Lets the waits look again, and publishes the states of the goals.
    fn announce(&self) {
        self.changed.notify();
        self.publish_status();
    }

    /// Publishes the states of the goals if they changed, unless another thread does.
    ///
    /// The lock is not held during the write, because a listener of this program may receive the message.
    fn publish_status(&self) {
        loop {
            let status_list = {
                let mut state = self.state();
                if state.is_publishing || !state.is_changed {
                    return;
                }
                state.is_changed = false;
                state.is_publishing = true;
                let status = |(id, time, state): (GoalId, _, GoalState)| GoalStatus {
                    goal_info: GoalInfo { goal_id: UUID { uuid: id.to_bytes() }, stamp: stamp(time) },
                    status: state.number(),
                };
                state.goals.statuses().map(status).collect()
            };
            // KEEP_LAST: the call does not block.
            if let Err(error) = self.status.write(&GoalStatusArray { status_list }) {
                tracing::debug!(action = self.name, "the states of the goals were not published: {error}");
            }
            self.state().is_publishing = false;
        }
    }

    /// Removes expired goals, and plans the next removal.
    fn expire(&self) {
        let next = {
            let mut state = self.state();
            let is_changed = state.goals.expire(Instant::now());
            state.is_changed |= is_changed;
            state.goals.next_expiry()
        };
        if let Some(task) = self.expiry.get() {
            task.wake_at(next);
        }
        self.publish_status();
    }

    fn change(&self, id: GoalId, event: GoalEvent) -> Result<()> {
        {
            let mut state = self.state();
            state.goals.change(id, event)?;
            state.is_changed = true;
        }
        self.announce();
        Ok(())
    }

    fn end(&self, id: GoalId, event: GoalEvent, result: A::Result) -> Result<()> {
        // Before the goal ends: a client waits forever for a result that no message holds.
        let response = A::get_result_response(GoalState::Succeeded.number(), result.clone());
        encode_payload(&response, Encoding::default(), &mut Vec::new())?;
        let (end, requests) = {
            let mut state = self.state();
            let ended = state.goals.end(id, event, result.clone(), Instant::now())?;
            state.is_changed = true;
            ended
        };
        // The status first: a client that has the result finds the goal ended.
        self.announce();
        for request in requests {
            self.answer(request, end, result.clone());
        }
        self.expire();
        Ok(())
    }
}

impl<A: RosAction> Clone for ActionServer<A> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<A: RosAction> fmt::Debug for ActionServer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActionServer({:?})", self.core.name)
    }
}

/// A received goal that is neither accepted nor rejected. Dropping it rejects it.
pub struct GoalRequest<A: RosAction> {
    /// The goal.
    pub goal: A::Goal,
    id: GoalId,
    /// `None` once it is answered.
    request: Option<Request<A::SendGoal>>,
    core: Arc<Core<A>>,
}

impl<A: RosAction> GoalRequest<A> {
    /// Accepts the goal and starts it.
    ///
    /// # Errors
    /// [`Error::GoalExists`], or [`Error::Write`] if the answer is not sent.
    pub fn accept(self) -> Result<ServerGoal<A>> {
        self.accept_in(GoalState::Executing)
    }

    /// Accepts the goal, and starts it later with [`ServerGoal::execute`].
    ///
    /// # Errors
    /// As [`accept`](Self::accept).
    pub fn accept_deferred(self) -> Result<ServerGoal<A>> {
        self.accept_in(GoalState::Accepted)
    }

    /// Accepts the goal. Its first state is set before the answer, because a client may cancel at once.
    fn accept_in(mut self, state: GoalState) -> Result<ServerGoal<A>> {
        let core = Arc::clone(&self.core);
        let accepted = core.node.now();
        if !core.state().goals.accept(self.id, accepted, state) {
            return Err(Error::GoalExists { action: core.name.clone(), id: self.id });
        }
        let client = self.request.as_ref().map(|request| prefix_of(request.client()));
        // The goal is known before its client learns it, so that no early request fails.
        let answered = self.request.take().map(|request| request.reply(A::send_goal_response(true, stamp(accepted))));
        if let Some(Err(error)) = answered {
            core.state().goals.retract(self.id);
            return Err(error);
        }
        core.state().is_changed = true;
        core.announce();
        let goal = std::mem::take(&mut self.goal);
        Ok(ServerGoal { goal, id: self.id, client: Mutex::new(client), core })
    }

    /// Rejects the goal. Dropping it does the same.
    pub fn reject(self) {}

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> GoalId {
        self.id
    }
}

impl<A: RosAction> Drop for GoalRequest<A> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let rejected = A::send_goal_response(false, stamp(self.core.node.now()));
            if let Err(error) = request.reply(rejected) {
                tracing::debug!(action = self.core.name, "a rejection was not sent: {error}");
            }
        }
    }
}

impl<A: RosAction> fmt::Debug for GoalRequest<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalRequest").field("id", &self.id).field("goal", &self.goal).finish_non_exhaustive()
    }
}

/// An accepted goal. Dropping it before its end aborts it, or ends it as canceled if a client has asked to cancel.
pub struct ServerGoal<A: RosAction> {
    /// The goal.
    pub goal: A::Goal,
    id: GoalId,
    /// The participant of the client until the first feedback.
    client: Mutex<Option<Prefix>>,
    core: Arc<Core<A>>,
}

impl<A: RosAction> ServerGoal<A> {
    /// Starts a goal of [`accept_deferred`](GoalRequest::accept_deferred).
    ///
    /// # Errors
    /// [`Error::GoalTransition`] if it runs already, or a client cancels it.
    pub fn execute(&self) -> Result<()> {
        self.core.change(self.id, GoalEvent::Execute)
    }

    /// Sends feedback to the clients.
    ///
    /// The first call, and calls during it, block for up to 100 ms until the client of the goal gets feedback.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn publish_feedback(&self, feedback: A::Feedback) -> Result<()> {
        self.wait_for_client();
        Ok(self.core.feedback.write(&A::feedback_message(self.id.to_bytes(), feedback))?)
    }

    /// Waits until the client of the goal gets feedback. Its goal may overtake the announcement of its reader.
    fn wait_for_client(&self) {
        // Locked during the wait, so that feedback of another thread waits too.
        let mut first = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(client) = *first else { return };
        let core = &self.core;
        let is_there = || core.feedback.matched_subscriptions().iter().any(|reader| prefix_of(reader.guid) == client);
        let wait = Wait::new(core.node.context().waits(), &core.changed, || Ok(is_there().then_some(())), String::new);
        // A client without feedback, such as a tool, reaches the limit once for each goal.
        let _ = wait.block_for(CLIENT_WAIT);
        *first = None;
    }

    /// Returns whether a client has asked to cancel.
    #[must_use]
    pub fn is_canceling(&self) -> bool {
        self.state() == GoalState::Canceling
    }

    /// Waits until a client asks to cancel.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn cancel_requested(&self) -> Wait<'_, ()> {
        Wait::new(
            self.core.node.context().waits(),
            &self.core.changed,
            || Ok(self.is_canceling().then_some(())),
            || format!("no client cancels goal {}", self.id),
        )
    }

    /// Allows or forbids clients to cancel the goal. Default: allowed.
    pub fn set_cancelable(&self, is_cancelable: bool) {
        self.core.state().goals.set_cancelable(self.id, is_cancelable);
    }

    /// Ends the goal with success.
    ///
    /// # Errors
    /// [`Error::GoalTransition`] if the goal was not started, or [`Error::Encode`] if a message cannot hold the result.
    /// The goal is then aborted, or canceled if a client has asked, with the default result.
    pub fn succeed(self, result: A::Result) -> Result<()> {
        self.core.end(self.id, GoalEvent::Succeed, result)
    }

    /// Ends the goal without success.
    ///
    /// # Errors
    /// As [`succeed`](Self::succeed).
    pub fn abort(self, result: A::Result) -> Result<()> {
        self.core.end(self.id, GoalEvent::Abort, result)
    }

    /// Ends the goal because a client canceled it.
    ///
    /// # Errors
    /// As [`succeed`](Self::succeed), and [`Error::GoalTransition`] if no client has asked.
    pub fn canceled(self, result: A::Result) -> Result<()> {
        self.core.end(self.id, GoalEvent::Canceled, result)
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> GoalId {
        self.id
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> GoalState {
        self.core.state().goals.state(self.id)
    }
}

impl<A: RosAction> Drop for ServerGoal<A> {
    fn drop(&mut self) {
        let state = self.state();
        if state.is_terminal() || state == GoalState::Unknown {
            return;
        }
        if state == GoalState::Accepted {
            // Only a started goal can be aborted.
            let _ = self.execute();
        }
        let event = if self.is_canceling() { GoalEvent::Canceled } else { GoalEvent::Abort };
        if let Err(error) = self.core.end(self.id, event, A::Result::default()) {
            tracing::debug!(action = self.core.name, "a dropped goal did not end: {error}");
        }
    }
}

impl<A: RosAction> fmt::Debug for ServerGoal<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerGoal").field("id", &self.id).field("goal", &self.goal).finish_non_exhaustive()
    }
}
