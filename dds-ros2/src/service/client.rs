//! The side of a service that asks.

use super::calls::{CallNumber, Calls};
use super::form::{Form, Mixed, PeerCache, Peers};
use super::introspection::{CallIdentity, Introspection, ServiceIntrospection};
use super::message::{Message, RequestHeader, decode, header_of};
use super::server::{SAMPLES_MAX, SLOW_PEER};
use super::{client_number, topics_of, user_data_of};
use crate::graph::{Explanation, FaultKind, Faults, LocalEndpoint, Prefix, Registration, prefix_of};
use crate::node::Node;
use crate::qos::QosProfile;
use crate::wait::{Signal, Wait};
use crate::{Error, Result};
use dds_core::cdr::DecodeOwned;
use dds_core::listener::Delivery;
use dds_core::writer::{SampleIdentity, SequenceNumber, WriteOptions};
use dds_core::{DataReader, DataWriter, Guid};
use dds_ros2_msgs::RosService;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A client of a service.
///
/// A handle: clones are cheap and refer to the same client. Several calls may be in flight, from several threads.
/// Dropping the last clone removes it from the graph.
pub struct Client<S: RosService> {
    core: Arc<Core<S>>,
}

struct Core<S: RosService> {
    name: String,
    writer: DataWriter<Message<S::Request>>,
    reader: DataReader<Message<S::Response>>,
    shared: Arc<Shared<S::Response>>,
    introspection: Introspection<S>,
    // Dropped before the node, so that the graph never lists an endpoint without its node.
    _registration: Registration,
    node: Node,
}

/// The part that listeners reach.
struct Shared<R> {
    signal: Arc<Signal>,
    /// The number of this client in headers.
    number: u64,
    faults: Arc<Faults>,
    state: Mutex<State<R>>,
}

struct State<R> {
    calls: Calls<R>,
    cache: PeerCache,
}

impl<R> Shared<R> {
    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rematch(&self) {
        self.state().cache.rematch();
        self.signal.notify();
    }
}

impl<R: DecodeOwned> Shared<R> {
    /// Takes the replies that have arrived, and hands the own ones to their calls.
    fn receive(&self, reader: &DataReader<Message<R>>, writer: Guid) {
        let own = [writer, reader.guid()];
        // The only error means that the reader is closed.
        let Ok(samples) = reader.take() else { return };
        for sample in &samples {
            let Some(encoded) = sample.encoded() else { continue };
            let server = prefix_of(sample.info().sample_identity().writer);
            let related = sample.info().related_sample;
            match related {
                Some(related) if own.contains(&related.writer) => {
                    let reply = self.decoded(server, encoded.bytes, false);
                    self.state().calls.receive(related.sequence_number, reply);
                }
                // A reply to another client, or one of `ros2-client` with a header. It names the client differently.
                _ => match header_of(encoded.bytes) {
                    // The header alone tells whether the reply is for this client. Another reply need not decode.
                    Some(header) if header.client == self.number => {
                        let reply = self.decoded(server, encoded.bytes, true);
                        self.state().calls.receive_headed(header, reply);
                    }
                    None if related.is_none() => {
                        self.faults.note(server, FaultKind::Reply, "a reply names no request and has no header");
                    }
                    _ => {}
                },
            }
        }
        self.signal.notify();
    }

    fn decoded(&self, server: Prefix, payload: &[u8], has_header: bool) -> Result<R, String> {
        let reply = decode::<R>(payload, has_header).map(|message| message.value).map_err(|error| error.to_string());
        if let Err(reason) = &reply {
            self.faults.note(server, FaultKind::Reply, reason);
        }
        reply
    }
}

impl<S: RosService> Client<S> {
    pub(crate) fn new(node: &Node, name: String, qos: QosProfile) -> Result<Self> {
        Self::with_signal(node, name, qos, Arc::default())
    }

    /// Creates a client that notifies `signal` of matches and replies.
    pub(crate) fn with_signal(node: &Node, name: String, qos: QosProfile, signal: Arc<Signal>) -> Result<Self> {
        let context = node.context();
        let participant = context.participant();
        let identity = context.service_identity();
        let (requests, replies) = topics_of(&name);
        let state = State { calls: Calls::new(), cache: PeerCache::new() };
        let (number, faults) = (client_number(context, identity), Arc::clone(context.inner.graph.faults()));
        let shared = Arc::new(Shared { signal, number, faults, state: Mutex::new(state) });
        let limits = dds_core::qos::ResourceLimits::NONE.max_samples(SAMPLES_MAX);
        let matched = Arc::clone(&shared);
        let writer = participant
            .writer_builder::<Message<S::Request>>(&requests)
            .qos(qos.service_writer(user_data_of::<S, S::Request>("clientid", identity)).resource_limits(limits))
            .slow_reader(SLOW_PEER)
            .delivery(Delivery::Inline)
            .on_event(move |_, _| matched.rematch())
            .build()?;
        let (received, matched, own) = (Arc::clone(&shared), Arc::clone(&shared), writer.guid());
        let reader = participant
            .reader_builder::<Message<S::Response>>(&replies)
            .qos(qos.reader(user_data_of::<S, S::Response>("clientid", identity)).keep_all().resource_limits(limits))
            // Not every server waits for the reader of its reply.
            .match_both_ways()
            .delivery(Delivery::Inline)
            .on_data(move |reader| received.receive(reader, own))
            .on_event(move |_, _| matched.rematch())
            .build()?;
        node.types().add_service::<S>();
        let registration = node.register(vec![LocalEndpoint::of_writer(&writer), LocalEndpoint::of_reader(&reader)])?;
        let introspection = Introspection::new(&name, node.downgrade());
        let core =
            Core { name, writer, reader, shared, introspection, _registration: registration, node: node.clone() };
        Ok(Self { core: Arc::new(core) })
    }

    /// Waits for a server, sends the request, and waits for the reply.
    ///
    /// It sends the request once a server is connected both ways, so no reply is lost. With several servers, the first
    /// reply counts. Dropping the wait cancels the call.
    ///
    /// The first poll after a server is connected writes the request. It blocks for up to 3 s while another server does
    /// not acknowledge earlier requests and the writer is full.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::ServersGone`], [`Error::MixedServers`], [`Error::Reply`],
    /// [`Error::Write`], [`Error::TooManyCalls`], [`Error::Closed`].
    pub fn call(&self, request: S::Request) -> Wait<'static, S::Response> {
        self.call_then(request, Ok)
    }

    /// As [`call`](Self::call). The wait ends with the result of `then` for the response.
    pub(crate) fn call_then<T: Send + 'static>(
        &self,
        request: S::Request,
        mut then: impl FnMut(S::Response) -> Result<T> + Send + 'static,
    ) -> Wait<'static, T> {
        let mut call = self.prepare(request);
        let core = Arc::clone(&self.core);
        Wait::new(
            self.core.node.context().waits(),
            &self.core.shared.signal,
            move || call.poll()?.map(&mut then).transpose(),
            move || core.missing(),
        )
    }

    /// Returns a call for the poll of a wait on the signal of this client.
    pub(crate) fn prepare(&self, request: S::Request) -> Call<S> {
        Call { core: Arc::clone(&self.core), request: Some(request), number: None }
    }

    /// Sets the events that the client publishes about its calls. Default: none. The topic has [`QosProfile::DEFAULT`].
    ///
    /// ```
    /// # use dds_ros2::{Context, DiscoveryRange};
    /// use dds_ros2::ServiceIntrospection;
    /// use dds_ros2::msgs::std_srvs::srv::SetBool;
    ///
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
    /// let node = context.node("operator")?;
    /// let client = node.client::<SetBool>("light")?;
    /// client.configure_introspection(ServiceIntrospection::Contents)?; // the topic `/light/_service_event`
    /// # assert!(context.graph().topics().contains_key("/light/_service_event"));
    /// # Ok(())
    /// # }
    /// ```
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

    /// Waits until a server is connected both ways.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn wait_for_service(&self) -> Wait<'_, ()> {
        Wait::new(
            self.core.node.context().waits(),
            &self.core.shared.signal,
            || Ok(self.is_ready().then_some(())),
            || self.core.missing(),
        )
    }

    /// Returns whether a server is connected both ways.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.core.ready().is_empty()
    }

    /// Explains why servers are connected or not, with names of ROS 2 and the next steps.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.core.explain()
    }

    /// Returns the fully qualified name of the service.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns the node of the client.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.core.node
    }

    /// Returns how many calls wait for a reply.
    #[must_use]
    pub fn calls_in_flight(&self) -> usize {
        self.core.shared.state().calls.len()
    }
}

impl<S: RosService> Core<S> {
    /// Looks at the matched endpoints again after a match.
    fn refresh(&self) {
        // Collected without the lock.
        let outdated = self.shared.state().cache.outdated();
        if let Some(version) = outdated {
            let there = self.writer.matched_subscriptions();
            let back = self.reader.matched_publications();
            let headed = &self.node.context().inner.graph.header_vendors;
            self.shared.state().cache.store(version, Peers::new(&there, &back, "serviceid", headed));
        }
    }

    /// The servers that are connected both ways.
    fn ready(&self) -> Vec<Prefix> {
        self.refresh();
        self.shared.state().cache.peers().ready()
    }

    /// The identity of a call in events. `sequence` is that of a request without a header.
    fn identity(&self, number: CallNumber, sequence: Option<SequenceNumber>) -> CallIdentity {
        match sequence {
            Some(sequence) => CallIdentity::new(self.reader.guid(), sequence),
            None => CallIdentity::of_header(RequestHeader { client: self.shared.number, number }),
        }
    }

    fn explain(&self) -> Explanation {
        self.node.context().graph().explain_own(&self.name, &[self.writer.guid(), self.reader.guid()])
    }

    fn missing(&self) -> String {
        let name = &self.name;
        let (ready, counts) = {
            let state = self.shared.state();
            (state.cache.peers().ready().len(), state.cache.peers().counts())
        };
        match (ready, counts) {
            (0, (0, 0)) => format!("no server of {name:?} is connected{}", self.explain().reason()),
            (0, (there, back)) => format!(
                "no server of {name:?} is connected both ways: {there} readers of requests, {back} writers of \
                 replies{}",
                self.explain().reason()
            ),
            (servers, _) => format!("no reply of {name:?}; {servers} servers are connected"),
        }
    }
}

/// A call, from the wait for a server to the reply.
pub(crate) struct Call<S: RosService> {
    core: Arc<Core<S>>,
    /// `None` once it is sent.
    request: Option<S::Request>,
    number: Option<CallNumber>,
}

impl<S: RosService> Call<S> {
    /// Sends the request once a server is connected, and returns the reply once it is there.
    pub(crate) fn poll(&mut self) -> Result<Option<S::Response>> {
        let core = Arc::clone(&self.core);
        let ready = core.ready();
        if self.number.is_none() {
            if ready.is_empty() {
                // A closed writer never matches again.
                return if core.writer.is_closed() { Err(Error::Closed) } else { Ok(None) };
            }
            self.send(ready)?;
        }
        let Some(number) = self.number else { return Ok(None) };
        let (reply, sequence) = {
            let State { calls, cache } = &mut *core.shared.state();
            match calls.take_reply(number) {
                Some(reply) => (reply, calls.sequence(number)),
                // A server that takes no more requests may have a reply on its way.
                None if calls.has_server(number, |asked| cache.peers().has_back_to(*asked)) => return Ok(None),
                None => return Err(Error::ServersGone { service: core.name.clone() }),
            }
        };
        let reply = reply.map_err(|reason| Error::Reply { service: core.name.clone(), reason })?;
        core.introspection.response_received(core.identity(number, sequence), &reply);
        Ok(Some(reply))
    }

    fn send(&mut self, ready: Vec<Prefix>) -> Result<()> {
        let core = &self.core;
        let form = core.shared.state().cache.peers().common_form();
        let form = form.map_err(|Mixed| Error::MixedServers { service: core.name.clone() })?;
        // `None` if the servers left just now. The call then ends with `ServersGone`.
        let form = form.unwrap_or(Form::InlineQos);
        let Some(value) = self.request.take() else { return Ok(()) };
        let number = core.shared.state().calls.begin(form, ready)?;
        self.number = Some(number);
        let header = match form {
            Form::InlineQos => None,
            Form::Header => Some(RequestHeader { client: core.shared.number, number }),
        };
        // A server then knows the reader of the reply, and waits until it is connected.
        let reader = SampleIdentity { writer: core.reader.guid(), sequence_number: SequenceNumber::UNKNOWN };
        let options = match form {
            Form::InlineQos => WriteOptions::new().related_sample(reader),
            Form::Header => WriteOptions::new(),
        };
        // Without the lock, because the reply may arrive on another thread.
        let message = Message { header, value };
        let written = core.writer.write_identified(&message, options);
        let sequence = written.as_ref().ok().map(|identity| identity.sequence_number);
        core.shared.state().calls.sent(number, sequence);
        written?;
        let sequence = if header.is_none() { sequence } else { None };
        core.introspection.request_sent(core.identity(number, sequence), &message.value);
        Ok(())
    }
}

impl<S: RosService> Drop for Call<S> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.core.shared.state().calls.end(number);
        }
    }
}

impl<S: RosService> Clone for Client<S> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core) }
    }
}

impl<S: RosService> fmt::Debug for Client<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({:?})", self.core.name)
    }
}
