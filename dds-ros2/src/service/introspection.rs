//! Service introspection: the events of a service on the topic `NAME/_service_event`.
//!
//! As `rcl` publishes them (`rcl/src/rcl/service_event_publisher.c`). A client reports each request that it sends and
//! each response that it takes. A server reports each request that it takes and each response that it sends. The events
//! of a call have the same client and number on both sides.

use super::message::RequestHeader;
use crate::graph::{LocalEndpoint, Registration};
use crate::message_time::stamp;
use crate::name::topic_name;
use crate::node::WeakNode;
use crate::qos::QosProfile;
use crate::time::Clock;
use crate::topic::user_data_of;
use crate::{Error, Result};
use dds_core::writer::SequenceNumber;
use dds_core::{DataWriter, Guid};
use dds_ros2_msgs::RosService;
use dds_ros2_msgs::service_msgs::msg::ServiceEventInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Content of the events that a client or a server publishes about its calls, on the topic `NAME/_service_event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ServiceIntrospection {
    /// Nothing, and the topic has no publisher. The default.
    #[default]
    Off,
    /// The kind of each event, its time, the client and the number of the call.
    Metadata,
    /// Also the request or the response.
    Contents,
}

/// The client and the number of a call, as `rmw_fastrtps` and `rmw_cyclonedds` report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallIdentity {
    client: [u8; 16],
    number: i64,
}

impl CallIdentity {
    /// `reply_reader` is the reader of the client, because a server of `rmw_fastrtps` knows the client by it.
    pub(super) fn new(reply_reader: Guid, number: SequenceNumber) -> Self {
        Self { client: reply_reader.to_bytes(), number: number.0 }
    }

    /// The number of the client fills the first half, as `rmw_cyclonedds` copies it.
    pub(super) fn of_header(header: RequestHeader) -> Self {
        let mut client = [0; 16];
        client[..8].copy_from_slice(&header.client.to_le_bytes());
        Self { client, number: header.number }
    }
}

/// The events of one client or server.
pub(super) struct Introspection<S: RosService> {
    /// The fully qualified name of the service.
    service: String,
    /// Weak, because a node owns some of its servers.
    node: WeakNode,
    /// Whether `active` has a value. While events are off, a call costs one load for each of them.
    is_on: AtomicBool,
    active: Mutex<Option<Active<S>>>,
}

struct Active<S: RosService> {
    has_contents: bool,
    topic: Arc<EventTopic<S>>,
}

struct EventTopic<S: RosService> {
    writer: DataWriter<S::Event>,
    clock: Clock,
    _registration: Registration,
}

impl<S: RosService> Introspection<S> {
    pub(super) fn new(service: &str, node: WeakNode) -> Self {
        Self { service: service.to_owned(), node, is_on: AtomicBool::new(false), active: Mutex::new(None) }
    }

    fn active(&self) -> MutexGuard<'_, Option<Active<S>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the events. `qos` counts if the topic has no publisher yet.
    pub(super) fn configure(&self, level: ServiceIntrospection, qos: QosProfile) -> Result<()> {
        // A publisher comes and leaves without the lock, because its announcement may reach listeners of this program.
        let before = self.active().as_ref().map(|active| Arc::clone(&active.topic));
        let after = match (level, before) {
            (ServiceIntrospection::Off, _) => None,
            (_, Some(topic)) => Some(topic),
            (_, None) => Some(Arc::new(EventTopic::new(&self.service, &self.node, qos)?)),
        };
        let has_contents = level == ServiceIntrospection::Contents;
        let mut active = self.active();
        self.is_on.store(after.is_some(), Ordering::Relaxed);
        let replaced = std::mem::replace(&mut *active, after.map(|topic| Active { has_contents, topic }));
        drop(active);
        drop(replaced);
        Ok(())
    }

    pub(super) fn request_sent(&self, call: CallIdentity, request: &S::Request) {
        self.publish(ServiceEventInfo::REQUEST_SENT, call, Some(request), None);
    }

    pub(super) fn request_received(&self, call: CallIdentity, request: &S::Request) {
        self.publish(ServiceEventInfo::REQUEST_RECEIVED, call, Some(request), None);
    }

    pub(super) fn response_sent(&self, call: CallIdentity, response: &S::Response) {
        self.publish(ServiceEventInfo::RESPONSE_SENT, call, None, Some(response));
    }

    pub(super) fn response_received(&self, call: CallIdentity, response: &S::Response) {
        self.publish(ServiceEventInfo::RESPONSE_RECEIVED, call, None, Some(response));
    }

    fn publish(&self, kind: u8, call: CallIdentity, request: Option<&S::Request>, response: Option<&S::Response>) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        // Written without the lock, because a subscription of this program may receive the event on this thread.
        let Some((topic, has_contents)) =
            self.active().as_ref().map(|active| (Arc::clone(&active.topic), active.has_contents))
        else {
            return;
        };
        let info = ServiceEventInfo {
            event_type: kind,
            stamp: stamp(topic.clock.now()),
            client_gid: call.client,
            sequence_number: call.number,
        };
        let (request, response) = if has_contents { (request, response) } else { (None, None) };
        let event = S::event(info, request.cloned(), response.cloned());
        if let Err(error) = topic.writer.write(&event) {
            tracing::debug!(service = self.service, "an event was not published: {error}");
        }
    }
}

impl<S: RosService> EventTopic<S> {
    fn new(service: &str, node: &WeakNode, qos: QosProfile) -> Result<Self> {
        let node = node.upgrade().ok_or(Error::Closed)?;
        // Rules for topics apply, as in `rcl`.
        let name = node.resolve_topic(&format!("{service}/_service_event"))?;
        let writer = node
            .context()
            .participant()
            .writer_builder::<S::Event>(&topic_name("rt", &name, ""))
            .qos(qos.writer(user_data_of::<S::Event>()))
            .build()?;
        node.types().add_message::<S::Event>();
        let registration = node.register(vec![LocalEndpoint::of_writer(&writer)])?;
        Ok(Self { writer, clock: node.clock(), _registration: registration })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_the_client_in_the_first_half() {
        let identity = CallIdentity::of_header(RequestHeader { client: 0x0807_0605_0403_0201, number: 9 });
        assert_eq!(identity.client, [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(identity.number, 9);
    }
}
