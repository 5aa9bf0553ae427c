//! The side of a service that answers.

use super::form::{Form, PeerCache, Peers};
use super::held::{HELD_MAX, Held, HeldRequests, Identity};
use super::introspection::{Introspection, ServiceIntrospection};
use super::message::{Message, RequestHeader, decode};
use super::{topics_of, user_data_of};
use crate::context::{CallbackThread, Context, Task, Turn};
use crate::graph::{Explanation, FaultKind, LocalEndpoint, Registration, prefix_of};
use crate::node::Node;
use crate::qos::QosProfile;
use crate::wait::{Signal, Wait};
use crate::{Error, Result};
use dds_core::listener::Delivery;
use dds_core::writer::{SampleIdentity, SlowReader, WriteOptions};
use dds_core::{DataReader, DataWriter, Duration, Guid};
use dds_ros2_msgs::RosService;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// How long the writer of replies waits for a client that does not acknowledge.
pub(super) const SLOW_PEER: SlowReader = SlowReader::Demote { after: Duration::from_secs(1) };

/// Samples that an endpoint of a service keeps.
pub(super) const SAMPLES_MAX: u32 = 1024;

/// A server of a service.
///
/// A handle: clones are cheap and refer to the same server, and each request goes to one of them. Dropping the last
/// clone and the last [`Request`] removes it from the graph.
///
/// It answers clients of every `rmw` that uses DDS at once, each in its own form. A request is handed out once the
/// client's reader is connected, so that its reply is not lost.
pub struct Service<S: RosService> {
    core: Arc<Core<S>>,
}

struct Core<S: RosService> {
    name: String,
    reader: DataReader<Message<S::Request>>,
    writer: DataWriter<Message<S::Response>>,
    shared: Arc<Shared<S::Request>>,
    introspection: Introspection<S>,
    // Dropped before the node, so that the graph never lists an endpoint without its node.
    _registration: Registration,
    context: Context,
    /// `None` for a server that its node owns.
    _node: Option<Node>,
}

/// Requests that a background server answers before other servers have their turn.
const TURN_MAX: usize = 32;

/// The part that listeners reach.
struct Shared<Q> {
    signal: Arc<Signal>,
    /// Answers the waiting requests of a server in the background.
    task: OnceLock<Arc<Task>>,
    state: Mutex<State<Q>>,
}

struct State<Q> {
    cache: PeerCache,
    held: HeldRequests<Q>,
    /// Requests that do not decode, or whose client left before they were decoded.
    dropped: u64,
}

impl<Q> Shared<Q> {
    fn state(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rematch(&self) {
        self.state().cache.rematch();
        self.wake();
    }

    fn wake(&self) {
        self.signal.notify();
        if let Some(task) = self.task.get() {
            task.wake();
        }
    }
}

impl<S: RosService> Service<S> {
    pub(crate) fn new(node: &Node, name: String, qos: QosProfile) -> Result<Self> {
        Self::with_owner(node, name, qos, Some(node.clone()))
    }

    /// Creates a server that its node owns. The background thread answers requests.
    pub(crate) fn in_background(
        node: &Node,
        name: String,
        qos: QosProfile,
        answer: impl Fn(S::Request) -> S::Response + Send + Sync + 'static,
    ) -> Result<Self> {
        let service = Self::without_owner(node, name, qos)?;
        service.handle_in_background(move |request| request.answer(&answer))?;
        Ok(service)
    }

    /// As `in_background`. `answer` also gets the GUID of the client, and may call the callbacks of `callbacks`.
    pub(crate) fn with_callbacks(
        node: &Node,
        name: String,
        qos: QosProfile,
        callbacks: &Arc<CallbackThread>,
        answer: impl Fn(Guid, S::Request) -> S::Response + Send + Sync + 'static,
    ) -> Result<Self> {
        let service = Self::without_owner(node, name, qos)?;
        let turn = service.turn(move |request| {
            let client = request.client();
            request.answer(|data| answer(client, data));
        });
        service.take_turns(callbacks.task(&node.context().inner.background, turn)?);
        Ok(service)
    }

    /// Lets the background thread handle the requests. The only call for this server.
    pub(crate) fn handle_in_background(&self, handle: impl Fn(Request<S>) + Send + Sync + 'static) -> Result<()> {
        self.take_turns(self.core.context.inner.background.task(self.turn(handle))?);
        Ok(())
    }

    /// Returns a turn of a task that handles the requests.
    fn turn(&self, handle: impl Fn(Request<S>) + Send + Sync + 'static) -> impl Fn() -> Turn + Send + Sync + 'static {
        let core = Arc::downgrade(&self.core);
        move || {
            let Some(core) = core.upgrade() else { return Turn::Done };
            let service = Self { core };
            for _ in 0..TURN_MAX {
                match service.take_request() {
                    Ok(Some(request)) => handle(request),
                    // The only error means that the context is closed.
                    Ok(None) | Err(_) => return Turn::Done,
                }
            }
            Turn::More
        }
    }

    fn take_turns(&self, task: Arc<Task>) {
        // The only call: the server is new.
        let _ = self.core.shared.task.set(task);
        // Requests may have arrived before.
        self.core.shared.wake();
    }

    /// Creates a server that does not keep the node alive.
    pub(crate) fn without_owner(node: &Node, name: String, qos: QosProfile) -> Result<Self> {
        Self::with_owner(node, name, qos, None)
    }

    /// Creates a server. With `owner`, it keeps the node alive.
    fn with_owner(node: &Node, name: String, qos: QosProfile, owner: Option<Node>) -> Result<Self> {
        let participant = node.context().participant();
        let identity = node.context().service_identity();
        let (requests, replies) = topics_of(&name);
        let state = State { cache: PeerCache::new(), held: HeldRequests::new(), dropped: 0 };
        let shared = Arc::new(Shared { signal: Arc::default(), task: OnceLock::new(), state: Mutex::new(state) });
        let limits = dds_core::qos::ResourceLimits::NONE.max_samples(SAMPLES_MAX);
        let matched = Arc::clone(&shared);
        let writer = participant
            .writer_builder::<Message<S::Response>>(&replies)
            .qos(qos.service_writer(user_data_of::<S, S::Response>("serviceid", identity)).resource_limits(limits))
            .slow_reader(SLOW_PEER)
            .delivery(Delivery::Inline)
            .on_event(move |_, _| matched.rematch())
            .build()?;
        let (received, matched) = (Arc::clone(&shared), Arc::clone(&shared));
        let reader = participant
            .reader_builder::<Message<S::Request>>(&requests)
            .qos(qos.reader(user_data_of::<S, S::Request>("serviceid", identity)).keep_all().resource_limits(limits))
            .delivery(Delivery::Inline)
            .on_data(move |_| received.wake())
            .on_event(move |_, _| matched.rematch())
            .build()?;
        node.types().add_service::<S>();
        let registration = node.register(vec![LocalEndpoint::of_reader(&reader), LocalEndpoint::of_writer(&writer)])?;
        let core = Core {
            introspection: Introspection::new(&name, node.downgrade()),
            name,
            reader,
            writer,
            shared,
            _registration: registration,
            context: node.context().clone(),
            _node: owner,
        };
        Ok(Self { core: Arc::new(core) })
    }

    /// Waits for the next request.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn next_request(&self) -> Wait<'_, Request<S>> {
        Wait::new(
            self.core.context.waits(),
            &self.core.shared.signal,
            || self.take_request(),
            || format!("no request of {:?}; {} clients are connected", self.core.name, self.client_count()),
        )
    }

    /// Notified of requests and of matches.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.core.shared.signal
    }

    /// Takes the next request if one is there.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn take_request(&self) -> Result<Option<Request<S>>> {
        let core = &self.core;
        core.refresh();
        // First the requests that the server has: new ones must not push them out.
        let mut ready = core.take_ready();
        if ready.is_none() {
            core.receive()?;
            ready = core.take_ready();
        }
        let Some(Held { value, identity, .. }) = ready else { return Ok(None) };
        core.introspection.request_received(identity.of_call(), &value);
        Ok(Some(Request { data: value, identity, core: Arc::clone(core) }))
    }

    /// Sets the events that the server publishes about calls, as [`Client`](crate::Client::configure_introspection).
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn configure_introspection(&self, level: ServiceIntrospection) -> Result<()> {
        self.configure_introspection_with(level, QosProfile::DEFAULT)
    }

    /// As [`configure_introspection`](Self::configure_introspection). A publisher that exists keeps its QoS.
    ///
    /// # Errors
    /// As [`Node::publisher`].
    pub fn configure_introspection_with(&self, level: ServiceIntrospection, qos: QosProfile) -> Result<()> {
        self.core.introspection.configure(level, qos)
    }

    /// Answers every request with `answer` on this thread, until the context closes.
    ///
    /// # Errors
    /// As the wait of [`next_request`](Self::next_request), except for [`Error::Closed`].
    pub fn serve(&self, mut answer: impl FnMut(S::Request) -> S::Response) -> Result<()> {
        loop {
            match self.next_request().block() {
                Ok(request) => request.answer(&mut answer),
                Err(Error::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the fully qualified name of the service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns the number of connected clients.
    #[must_use]
    pub fn client_count(&self) -> usize {
        self.core.reader.matched_publications().len()
    }

    /// Returns the writers of the connected clients.
    pub(crate) fn clients(&self) -> Vec<Guid> {
        self.core.reader.matched_publications().iter().map(|client| client.guid).collect()
    }

    /// Explains why clients are connected or not, with names of ROS 2 and the next steps.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        let core = &self.core;
        core.context.graph().explain_own(&core.name, &[core.reader.guid(), core.writer.guid()])
    }

    /// Returns how many requests did not decode, or lost their client before they were decoded.
    ///
    /// [`Graph::faults`](crate::Graph::faults) has the peers that sent them.
    #[must_use]
    pub fn malformed_requests(&self) -> u64 {
        self.core.shared.state().dropped
    }
}

impl<S: RosService> Core<S> {
    /// Looks at the matched endpoints again after a match.
    fn refresh(&self) {
        let outdated = self.shared.state().cache.outdated();
        if let Some(version) = outdated {
            self.collect(version);
        }
    }

    /// Collects the peers without the lock. `version` is that before the call.
    fn collect(&self, version: u64) {
        let there = self.reader.matched_publications();
        let back = self.writer.matched_subscriptions();
        // No vendors of `service_header_of`: it is about servers. A request of their clients tells its form.
        self.shared.state().cache.store(version, Peers::new(&there, &back, "clientid", &[]));
    }

    fn take_ready(&self) -> Option<Held<S::Request>> {
        let State { cache, held, .. } = &mut *self.shared.state();
        held.take_ready(cache.peers())
    }

    /// Moves received requests into the list of held ones.
    fn receive(&self) -> Result<()> {
        let samples = self.reader.take().map_err(|_| Error::Closed)?;
        // A request may overtake the event of its match. Without its form, a request must not be decoded.
        let version = {
            let state = self.shared.state();
            let is_known = |writer| state.cache.peers().form(writer).is_some();
            let are_known = samples.iter().all(|sample| is_known(sample.info().sample_identity().writer));
            (!are_known).then(|| state.cache.version())
        };
        if let Some(version) = version {
            self.collect(version);
        }
        let now = Instant::now();
        let mut state = self.shared.state();
        for sample in &samples {
            let Some(encoded) = sample.encoded() else { continue };
            let request = sample.info().sample_identity();
            let named = sample.info().related_sample.map(|related| related.writer);
            let reply_reader = named.filter(|guid| guid.entity_id.is_reader());
            let form = if reply_reader.is_some() {
                // A request that names its reader is of this form, from any vendor.
                Some(Form::InlineQos)
            } else if named == Some(request.writer) {
                Some(Form::of_own_name(request.writer, encoded.bytes))
            } else {
                state.cache.peers().form(request.writer)
            };
            let Some(form) = form else {
                state.dropped += 1;
                tracing::debug!(service = self.name, client = %request.writer, "the client of a request has left");
                continue;
            };
            match decode::<S::Request>(encoded.bytes, form == Form::Header) {
                Ok(Message { header, value }) => {
                    let identity = Identity { sender: request.writer, reply_reader, request, header };
                    state.held.add(Held { since: now, value, identity });
                }
                Err(error) => {
                    state.dropped += 1;
                    self.context.inner.graph.faults().note(
                        prefix_of(request.writer),
                        kind_of(&self.name),
                        format_args!("{}: {error}", self.name),
                    );
                }
            }
        }
        let State { cache, held, .. } = &mut *state;
        let expired = held.expire(cache.peers(), now);
        drop(state);
        for client in expired {
            tracing::warn!(
                service = self.name,
                %client,
                "a request was dropped: no reader of its reply is connected; {HELD_MAX} requests wait for at most 10 s"
            );
        }
        Ok(())
    }
}

/// The services of each node for its parameters.
const PARAMETER_SERVICES: [&str; 6] = [
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
];

/// The kind of a request that does not decode.
fn kind_of(service: &str) -> FaultKind {
    let last = service.rsplit('/').next().unwrap_or_default();
    if service.contains("/_action/") {
        FaultKind::Goal
    } else if PARAMETER_SERVICES.contains(&last) {
        FaultKind::Parameter
    } else {
        FaultKind::Request
    }
}

impl<S: RosService> Clone for Service<S> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<S: RosService> fmt::Debug for Service<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Service({:?})", self.core.name)
    }
}

/// A received request. Answer it with [`reply`](Self::reply), from any thread, at any time.
///
/// Dropping it sends no reply.
pub struct Request<S: RosService> {
    /// The request.
    pub data: S::Request,
    identity: Identity,
    core: Arc<Core<S>>,
}

impl<S: RosService> Request<S> {
    /// Sends the reply. Blocks for up to 3 s while a client does not acknowledge and the writer is full.
    ///
    /// # Errors
    /// [`Error::Write`]: a member exceeds its bound, or the context is closed.
    pub fn reply(self, response: S::Response) -> Result<()> {
        self.core.send(self.identity, response)
    }

    /// Sends the result of `answer` as the reply. A reply that is not sent is logged.
    pub fn answer(self, answer: impl FnOnce(S::Request) -> S::Response) {
        let Self { data, identity, core } = self;
        if let Err(error) = core.send(identity, answer(data)) {
            tracing::warn!(service = core.name, "a reply was not sent: {error}");
        }
    }

    /// Returns the GUID of the client's writer.
    #[must_use]
    pub fn client(&self) -> Guid {
        self.identity.sender
    }

    /// Returns the header of a client of `rmw_cyclonedds`.
    #[must_use]
    pub fn header(&self) -> Option<RequestHeader> {
        self.identity.header
    }
}

impl<S: RosService> Core<S> {
    fn send(&self, identity: Identity, value: S::Response) -> Result<()> {
        let Identity { reply_reader, request, header, .. } = identity;
        let call = identity.of_call();
        // Fast DDS names a request by the reader of its reply.
        let related = SampleIdentity { writer: reply_reader.unwrap_or(request.writer), ..request };
        let message = Message { header, value };
        self.writer.write_with(&message, WriteOptions::new().related_sample(related))?;
        self.introspection.response_sent(call, &message.value);
        Ok(())
    }
}

impl<S: RosService> fmt::Debug for Request<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("data", &self.data).finish_non_exhaustive()
    }
}
