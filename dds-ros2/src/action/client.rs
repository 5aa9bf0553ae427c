//! The side of an action that sends goals.

use super::goals::{CANCEL_NONE, CANCEL_REJECTED, CANCEL_TERMINATED, CANCEL_UNKNOWN};
use super::state::{GoalId, GoalState};
use super::{GoalOutcome, Names};
use crate::graph::{Explanation, LocalEndpoint, Registration};
use crate::message_time::{stamp, time_of};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::service::{Client, ServiceIntrospection};
use crate::topic::user_data_of;
use crate::wait::{Signal, Wait};
use crate::{Error, Result};
use dds_cdr::cdr::decode_payload;
use dds_core::listener::Delivery;
use dds_core::{DataReader, Guid, Time};
use dds_ros2_msgs::RosAction;
use dds_ros2_msgs::action_msgs::msg::{GoalInfo, GoalStatusArray};
use dds_ros2_msgs::action_msgs::srv::{CancelGoal, CancelGoalRequest, CancelGoalResponse};
use dds_ros2_msgs::unique_identifier_msgs::msg::UUID;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Feedback that a goal keeps. The oldest is dropped if the program takes none.
const FEEDBACK_MAX: usize = 1000;

/// A client of an action.
///
/// A handle: clones are cheap and refer to the same client. Several goals may be open, from several threads.
pub struct ActionClient<A: RosAction> {
    core: Arc<Core<A>>,
}

struct Core<A: RosAction> {
    name: String,
    send_goal: Client<A::SendGoal>,
    cancel_goal: Client<CancelGoal>,
    get_result: Client<A::GetResult>,
    feedback: DataReader<A::FeedbackMessage>,
    status: DataReader<GoalStatusArray>,
    shared: Arc<Shared<A::Feedback>>,
    // Dropped before the node, so that the graph never lists an endpoint without its node.
    _registration: Registration,
    node: Node,
}

/// The part that listeners reach.
struct Shared<F> {
    /// Notified of matches, replies, feedback and states.
    signal: Arc<Signal>,
    /// The goals whose handles exist, or that wait for an answer.
    goals: Mutex<BTreeMap<GoalId, Tracked<F>>>,
}

struct Tracked<F> {
    feedback: VecDeque<F>,
    state: GoalState,
    /// Feedback that was dropped because the program took none.
    lost: u64,
    /// The writer whose array of states listed the goal.
    server: Option<Guid>,
    /// A later array of this writer lacks the goal: the server has forgotten it.
    is_forgotten: bool,
}

impl<F> Tracked<F> {
    fn new() -> Self {
        let (feedback, state) = (VecDeque::new(), GoalState::Unknown);
        Self { feedback, state, lost: 0, server: None, is_forgotten: false }
    }
}

impl<F> Shared<F> {
    fn goals(&self) -> MutexGuard<'_, BTreeMap<GoalId, Tracked<F>>> {
        self.goals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_feedback<A: RosAction<Feedback = F>>(&self, reader: &DataReader<A::FeedbackMessage>) {
        // The only error means that the reader is closed.
        let Ok(samples) = reader.take() else { return };
        for sample in &samples {
            let Some(encoded) = sample.encoded() else { continue };
            // The message starts with the id. Feedback of other clients' goals is not decoded.
            let Some(id) = encoded.bytes.get(4..20).and_then(|bytes| bytes.try_into().ok()) else { continue };
            if !self.goals().contains_key(&GoalId::from_bytes(id)) {
                continue;
            }
            match decode_payload::<A::FeedbackMessage>(encoded.bytes) {
                Ok(message) => {
                    let (id, feedback) = A::open_feedback_message(message);
                    self.add_feedback(GoalId::from_bytes(id), feedback);
                }
                Err(error) => tracing::debug!(%error, "feedback does not decode"),
            }
        }
        self.signal.notify();
    }

    fn add_feedback(&self, id: GoalId, feedback: F) {
        if let Some(goal) = self.goals().get_mut(&id) {
            if goal.feedback.len() >= FEEDBACK_MAX {
                goal.feedback.pop_front();
                goal.lost += 1;
            }
            goal.feedback.push_back(feedback);
        }
    }

    fn take_status(&self, reader: &DataReader<GoalStatusArray>) {
        // The only error means that the reader is closed.
        let Ok(samples) = reader.take() else { return };
        for sample in &samples {
            let Some(Ok(array)) = sample.decode() else { continue };
            self.apply(&array, sample.info().sample_identity().writer);
        }
        self.signal.notify();
    }
}

impl<F> Shared<F> {
    /// Takes the states of an array, and notices goals that it lacks.
    fn apply(&self, array: &GoalStatusArray, server: Guid) {
        let mut goals = self.goals();
        let mut listed = BTreeSet::new();
        for status in &array.status_list {
            let id = GoalId::from_bytes(status.goal_info.goal_id.uuid);
            let Some(goal) = goals.get_mut(&id) else { continue };
            listed.insert(id);
            goal.server = Some(server);
            // The state of an ended goal does not change.
            if !goal.state.is_terminal() {
                goal.state = GoalState::from_number(status.status);
            }
        }
        for (id, goal) in goals.iter_mut() {
            if goal.server == Some(server) && !listed.contains(id) {
                goal.is_forgotten = true;
            }
        }
    }
}

impl<A: RosAction> ActionClient<A> {
    pub(crate) fn new(node: &Node, name: String) -> Result<Self> {
        let names = Names::of(&name);
        let signal = Arc::new(Signal::default());
        let shared = Arc::new(Shared { signal: Arc::clone(&signal), goals: Mutex::default() });
        let participant = node.context().participant();
        let (received, matched) = (Arc::clone(&shared), Arc::clone(&signal));
        let feedback = participant
            .reader_builder::<A::FeedbackMessage>(&topic_name("rt", &names.feedback, ""))
            .qos(QosProfile::DEFAULT.reader(user_data_of::<A::FeedbackMessage>()))
            .delivery(Delivery::Inline)
            .on_data(move |reader| received.take_feedback::<A>(reader))
            .on_event(move |_, _| matched.notify())
            .build()?;
        let (received, matched) = (Arc::clone(&shared), Arc::clone(&signal));
        let status = participant
            .reader_builder::<GoalStatusArray>(&topic_name("rt", &names.status, ""))
            .qos(QosProfile::ACTION_STATUS.reader(user_data_of::<GoalStatusArray>()))
            .delivery(Delivery::Inline)
            .on_data(move |reader| received.take_status(reader))
            .on_event(move |_, _| matched.notify())
            .build()?;
        node.types().add_action::<A>();
        node.types().add_message::<A::FeedbackMessage>();
        node.types().add_message::<GoalStatusArray>();
        let registration =
            node.register(vec![LocalEndpoint::of_reader(&feedback), LocalEndpoint::of_reader(&status)])?;
        let qos = QosProfile::SERVICES_DEFAULT;
        let core = Core {
            send_goal: Client::with_signal(node, names.send_goal, qos, Arc::clone(&signal))?,
            cancel_goal: Client::with_signal(node, names.cancel_goal, qos, Arc::clone(&signal))?,
            get_result: Client::with_signal(node, names.get_result, qos, signal)?,
            name,
            feedback,
            status,
            shared,
            _registration: registration,
            node: node.clone(),
        };
        Ok(Self { core: Arc::new(core) })
    }

    /// Sets the events that the client publishes about its calls. Default: none.
    ///
    /// Each of the three services has a topic, such as `NAME/_action/send_goal/_service_event`.
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn configure_introspection(&self, level: ServiceIntrospection) -> Result<()> {
        self.core.send_goal.configure_introspection(level)?;
        self.core.cancel_goal.configure_introspection(level)?;
        self.core.get_result.configure_introspection(level)
    }

    /// Waits for a server, sends the goal, and waits until the server accepts it.
    ///
    /// No feedback is lost: the goal is sent once the services and the topics of the server are connected. Dropping the
    /// wait does not cancel the goal.
    ///
    /// Errors of the wait: [`Error::GoalRejected`], and as of [`Client::call`].
    pub fn send_goal(&self, goal: A::Goal) -> Wait<'static, ClientGoal<A>> {
        let id = GoalId::random();
        let mut call = self.core.send_goal.prepare(A::send_goal_request(id.to_bytes(), goal));
        let core = Arc::clone(&self.core);
        let mut handle = None;
        let poll = move || {
            if handle.is_none() {
                if !core.is_ready() {
                    return Ok(None);
                }
                handle = Some(ClientGoal::track(&core, id));
            }
            let Some(reply) = call.poll()? else { return Ok(None) };
            let (is_accepted, stamp) = A::open_send_goal_response(reply);
            if !is_accepted {
                return Err(Error::GoalRejected { action: core.name.clone() });
            }
            Ok(handle.take().map(|handle| ClientGoal { stamp: time_of(&stamp), ..handle }))
        };
        let missing = Arc::clone(&self.core);
        self.wait(poll, move || missing.missing())
    }

    /// Waits until a server is connected, with all services and topics.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn wait_for_server(&self) -> Wait<'static, ()> {
        let (core, missing) = (Arc::clone(&self.core), Arc::clone(&self.core));
        self.wait(move || Ok(core.is_ready().then_some(())), move || missing.missing())
    }

    /// Returns whether a server is connected, with all services and topics.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.core.is_ready()
    }

    /// Cancels all goals of the server, also those of other clients. Returns the goals that are canceling.
    ///
    /// Errors of the wait: [`Error::CancelRefused`], and as of [`Client::call`].
    pub fn cancel_all(&self) -> Wait<'static, Vec<GoalId>> {
        self.core.cancel(GoalId::NONE, Time::from_unix_nanos(0))
    }

    /// Cancels all goals that the server accepted at this time or before. Returns the goals that are canceling.
    ///
    /// Errors of the wait: as of [`cancel_all`](Self::cancel_all).
    pub fn cancel_until(&self, time: Time) -> Wait<'static, Vec<GoalId>> {
        self.core.cancel(GoalId::NONE, time)
    }

    /// Explains why servers are connected or not, with names of ROS 2 and the next steps.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.node().context().graph().explain(self.name())
    }

    /// Returns the fully qualified name of the action.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns the node of the client.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core.node
    }

    fn wait<T: Send + 'static>(
        &self,
        poll: impl FnMut() -> Result<Option<T>> + Send + 'static,
        missing: impl Fn() -> String + Send + 'static,
    ) -> Wait<'static, T> {
        Wait::new(self.core.node.context().waits(), &self.core.shared.signal, poll, missing)
    }
}

impl<A: RosAction> Core<A> {
    fn is_ready(&self) -> bool {
        self.parts().iter().all(|(_, is_there)| *is_there)
    }

    /// Returns whether each part of a server is connected.
    fn parts(&self) -> [(&'static str, bool); 5] {
        [
            ("send_goal", self.send_goal.is_ready()),
            ("cancel_goal", self.cancel_goal.is_ready()),
            ("get_result", self.get_result.is_ready()),
            ("feedback", !self.feedback.matched_publications().is_empty()),
            ("status", !self.status.matched_publications().is_empty()),
        ]
    }

    fn missing(&self) -> String {
        let name = &self.name;
        if self.is_ready() {
            return format!("no answer of the server of action {name:?}");
        }
        let parts = self.parts();
        let absent: Vec<&str> = parts.iter().filter(|(_, is_there)| !is_there).map(|(part, _)| *part).collect();
        format!("no server of action {name:?} is connected; not connected: {}", absent.join(", "))
    }

    fn cancel(&self, id: GoalId, time: Time) -> Wait<'static, Vec<GoalId>> {
        let goal_info = GoalInfo { goal_id: UUID { uuid: id.to_bytes() }, stamp: stamp(time) };
        let action = self.name.clone();
        let check = move |response: CancelGoalResponse| {
            let reason = match response.return_code {
                CANCEL_NONE => {
                    let ids = response.goals_canceling.iter().map(|info| GoalId::from_bytes(info.goal_id.uuid));
                    return Ok(ids.collect());
                }
                CANCEL_REJECTED => "the server refuses",
                CANCEL_UNKNOWN => "the server does not know the goal",
                CANCEL_TERMINATED => "the goal has ended, or is canceling already",
                _ => "the server gave an unknown reason",
            };
            Err(Error::CancelRefused { action: action.clone(), reason })
        };
        self.cancel_goal.call_then(CancelGoalRequest { goal_info }, check)
    }
}

impl<A: RosAction> Clone for ActionClient<A> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<A: RosAction> fmt::Debug for ActionClient<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActionClient({:?})", self.core.name)
    }
}

/// An accepted goal. Dropping it neither cancels the goal nor ends it.
pub struct ClientGoal<A: RosAction> {
    id: GoalId,
    stamp: Time,
    // Last: it forgets the goal.
    tracking: Tracking<A>,
}

/// Forgets the goal when it is dropped.
struct Tracking<A: RosAction> {
    id: GoalId,
    core: Arc<Core<A>>,
}

impl<A: RosAction> Drop for Tracking<A> {
    fn drop(&mut self) {
        self.core.shared.goals().remove(&self.id);
    }
}

impl<A: RosAction> ClientGoal<A> {
    /// Keeps feedback and states of the goal from now on.
    fn track(core: &Arc<Core<A>>, id: GoalId) -> Self {
        core.shared.goals().insert(id, Tracked::new());
        Self { id, stamp: Time::from_unix_nanos(0), tracking: Tracking { id, core: Arc::clone(core) } }
    }

    /// Waits for the next feedback, or returns `None` after the end of the goal.
    ///
    /// A goal that its server has forgotten counts as ended.
    ///
    /// Feedback and states are different topics. The last feedback may arrive after the end, and is then lost.
    ///
    /// Errors of the wait: [`Error::ServersGone`], [`Error::Timeout`], [`Error::Closed`].
    pub fn next_feedback(&self) -> Wait<'_, Option<A::Feedback>> {
        let core = &self.tracking.core;
        let poll = || {
            let mut server = None;
            if let Some(goal) = core.shared.goals().get_mut(&self.id) {
                if let Some(feedback) = goal.feedback.pop_front() {
                    return Ok(Some(Some(feedback)));
                }
                if goal.state.is_terminal() || goal.is_forgotten {
                    return Ok(Some(None));
                }
                server = goal.server;
            }
            let has_left = |server| core.status.matched_publications().iter().all(|writer| writer.guid != server);
            if core.feedback.matched_publications().is_empty() || server.is_some_and(has_left) {
                return Err(Error::ServersGone { service: core.name.clone() });
            }
            Ok(None)
        };
        let missing = || format!("no feedback of goal {}", self.id);
        Wait::new(core.node.context().waits(), &core.shared.signal, poll, missing)
    }

    /// Waits for the end of the goal and its result.
    ///
    /// Errors of the wait: [`Error::ServersGone`] at once if the server has left, and as of [`Client::call`].
    pub fn result(&self) -> Wait<'static, GoalOutcome<A>> {
        let core = Arc::clone(&self.tracking.core);
        let mut call = core.get_result.prepare(A::get_result_request(self.id.to_bytes()));
        let mut is_sent = false;
        let poll = move || {
            // The server was connected when it accepted the goal, and another one does not know the goal.
            if !is_sent && !core.get_result.is_ready() {
                return Err(Error::ServersGone { service: core.name.clone() });
            }
            is_sent = true;
            let Some(response) = call.poll()? else { return Ok(None) };
            let (state, result) = A::open_get_result_response(response);
            Ok(Some(GoalOutcome { state: GoalState::from_number(state), result }))
        };
        let (core, id) = (Arc::clone(&self.tracking.core), self.id);
        let signal = Arc::clone(&core.shared.signal);
        let waits = core.node.context().waits().clone();
        Wait::new(&waits, &signal, poll, move || format!("goal {id} of action {:?} has not ended", core.name))
    }

    /// Asks the server to cancel the goal, and waits until it agrees. The goal ends later.
    ///
    /// Errors of the wait: [`Error::CancelRefused`], and as of [`Client::call`].
    pub fn cancel(&self) -> Wait<'static, Vec<GoalId>> {
        self.tracking.core.cancel(self.id, Time::from_unix_nanos(0))
    }

    /// Returns the last announced state.
    #[must_use]
    pub fn state(&self) -> GoalState {
        self.tracking.core.shared.goals().get(&self.id).map_or(GoalState::Unknown, |goal| goal.state)
    }

    /// Returns how much feedback was dropped because the program took none. The last 1000 are kept.
    #[must_use]
    pub fn lost_feedback(&self) -> u64 {
        self.tracking.core.shared.goals().get(&self.id).map_or(0, |goal| goal.lost)
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> GoalId {
        self.id
    }

    /// Returns the time at which the server accepted the goal.
    #[must_use]
    pub fn stamp(&self) -> Time {
        self.stamp
    }
}

impl<A: RosAction> fmt::Debug for ClientGoal<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientGoal").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_ros2_msgs::action_msgs::msg::GoalStatus;

    fn array(ids: &[u8]) -> GoalStatusArray {
        let status = |id: &u8| GoalStatus {
            goal_info: GoalInfo { goal_id: UUID { uuid: [*id; 16] }, ..GoalInfo::default() },
            status: GoalState::Executing.number(),
        };
        GoalStatusArray { status_list: ids.iter().map(status).collect() }
    }

    #[test]
    fn goal_is_forgotten_once_its_own_server_lists_it_no_more() {
        let shared = Shared::<u8> { signal: Arc::default(), goals: Mutex::default() };
        let [own, other] = [1, 2].map(|number| Guid::from_bytes([number; 16]));
        let id = GoalId::from_bytes([7; 16]);
        shared.goals().insert(id, Tracked::new());
        let is_forgotten = |ids: &[u8], server| {
            shared.apply(&array(ids), server);
            shared.goals()[&id].is_forgotten
        };
        // Not listed yet, listed, and an array of another server.
        assert!(!is_forgotten(&[], own) && !is_forgotten(&[6, 7], own) && !is_forgotten(&[6], other));
        assert!(is_forgotten(&[6], own));
        assert_eq!(shared.goals()[&id].state, GoalState::Executing);
    }
}
