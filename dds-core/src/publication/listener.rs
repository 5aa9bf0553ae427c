//! Listeners of writers and publishers (DDS 1.4, 2.2.2.4.3 and 2.2.2.4.4).

use crate::endpoint::{AnyEndpoint, EndpointDispatch};
use crate::infrastructure::{CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, PeerStatus};
use crate::publication::{DataWriter, WriterEvent, WriterHandle};
use std::sync::Arc;

/// Receives the events of a writer (DDS 1.4, 2.2.2.4.4). The default methods do nothing.
///
/// Calls never overlap. Repeated events between two calls are combined into one call. The listener must be `Send`, but
/// need not be `Sync`.
///
/// ```
/// use dds_core::{DataWriter, DdsType, DomainParticipant, Scope};
/// use dds_core::listener::DataWriterListener;
/// use dds_core::status::{PeerStatus, StatusMask};
/// use std::sync::mpsc;
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// struct Matches(mpsc::Sender<u32>);
///
/// impl DataWriterListener<Pose> for Matches {
///     fn on_publication_matched(&mut self, _: &DataWriter<Pose>, status: PeerStatus) {
///         let _ = self.0.send(status.current_count);
///     }
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let (sender, receiver) = mpsc::channel();
/// let writer = participant.writer::<Pose>("robot/pose")?;
/// writer.set_listener(StatusMask::MATCHED, Matches(sender))?;
/// let reader = participant.reader::<Pose>("robot/pose")?;
/// assert_eq!(receiver.recv().unwrap(), 1);
/// # Ok(())
/// # }
/// ```
pub trait DataWriterListener<T>: Send + 'static {
    /// A reader matched or ceased to match.
    fn on_publication_matched(&mut self, writer: &DataWriter<T>, status: PeerStatus) {
        let _ = (writer, status);
    }

    /// A reader of the topic has an incompatible QoS.
    fn on_offered_incompatible_qos(&mut self, writer: &DataWriter<T>, status: IncompatibleQosStatus) {
        let _ = (writer, status);
    }

    /// A slow reader held up a write for 50 ms, was demoted, or counts as responsive again.
    ///
    /// See [`SlowReader`](crate::writer::SlowReader).
    fn on_slow_reader(&mut self, writer: &DataWriter<T>, status: PeerStatus) {
        let _ = (writer, status);
    }

    /// The writer failed to assert its liveliness within its lease.
    fn on_liveliness_lost(&mut self, writer: &DataWriter<T>, status: CountStatus) {
        let _ = (writer, status);
    }

    /// Instances missed their deadline.
    fn on_offered_deadline_missed(&mut self, writer: &DataWriter<T>, status: DeadlineMissedStatus) {
        let _ = (writer, status);
    }
}

/// Receives the events of all writers of a publisher or participant (DDS 1.4, 2.2.2.4.3).
///
/// It receives only events that the listener of the writer does not handle. The default methods do nothing.
///
/// ```
/// use dds_core::qos::PublisherQos;
/// use dds_core::{DdsType, DomainParticipant, Scope};
/// use dds_core::listener::{AnyEndpoint, PublisherListener};
/// use dds_core::status::{PeerStatus, StatusMask};
/// use std::sync::mpsc;
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// struct Matches(mpsc::Sender<String>);
///
/// impl PublisherListener for Matches {
///     fn on_publication_matched(&mut self, writer: &dyn AnyEndpoint, _: PeerStatus) {
///         let _ = self.0.send(writer.topic_name().to_owned());
///     }
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let publisher = participant.publisher(PublisherQos::default())?;
/// let (sender, receiver) = mpsc::channel();
/// publisher.set_listener(StatusMask::MATCHED, Matches(sender))?;
/// let writer = publisher.writer::<Pose>("robot/pose")?; // has no listener of its own
/// let reader = participant.reader::<Pose>("robot/pose")?;
/// assert_eq!(receiver.recv().unwrap(), "robot/pose");
/// # Ok(())
/// # }
/// ```
pub trait PublisherListener: Send + 'static {
    /// As [`DataWriterListener::on_publication_matched`].
    fn on_publication_matched(&mut self, writer: &dyn AnyEndpoint, status: PeerStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_offered_incompatible_qos`].
    fn on_offered_incompatible_qos(&mut self, writer: &dyn AnyEndpoint, status: IncompatibleQosStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_slow_reader`].
    fn on_slow_reader(&mut self, writer: &dyn AnyEndpoint, status: PeerStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_liveliness_lost`].
    fn on_liveliness_lost(&mut self, writer: &dyn AnyEndpoint, status: CountStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_offered_deadline_missed`].
    fn on_offered_deadline_missed(&mut self, writer: &dyn AnyEndpoint, status: DeadlineMissedStatus) {
        let _ = (writer, status);
    }
}

/// Calls a listener about one event of a writer. The writer is typed or not, as the listener is.
macro_rules! call_writer_listener {
    ($listener:expr, $writer:expr, $event:expr) => {
        match $event {
            WriterEvent::Matched(status) => $listener.on_publication_matched($writer, status),
            WriterEvent::IncompatibleQos(status) => $listener.on_offered_incompatible_qos($writer, status),
            WriterEvent::SlowReader(status) => $listener.on_slow_reader($writer, status),
            WriterEvent::LivelinessLost(status) => $listener.on_liveliness_lost($writer, status),
            WriterEvent::DeadlineMissed(status) => $listener.on_offered_deadline_missed($writer, status),
            // Only streams receive this event.
            WriterEvent::ListenerPanicked { .. } => {}
        }
    };
}

/// Turns a listener of a writer into a callback.
pub(super) fn dispatch_to_listener<T: 'static>(
    mut listener: impl DataWriterListener<T>,
) -> EndpointDispatch<WriterHandle> {
    dispatch_events(move |writer, event| call_writer_listener!(listener, writer, event))
}

/// Turns a closure for the events of a writer into a callback.
pub(super) fn dispatch_events<T: 'static>(
    mut on_event: impl FnMut(&DataWriter<T>, WriterEvent) + Send + 'static,
) -> EndpointDispatch<WriterHandle> {
    Box::new(move |handle, marks| {
        let writer = DataWriter::lend(handle);
        for event in writer.handle().changes(marks) {
            on_event(&writer, event);
        }
    })
}

/// Calls the listener of a publisher or participant about the events of a writer.
pub(crate) fn dispatch_writer_to_group<L: PublisherListener>(writer: &Arc<WriterHandle>, listener: &mut L, marks: u32) {
    // Lent, because a counted handle here could become the application's last one.
    let any = writer.lend_typed();
    for event in writer.changes(marks) {
        call_writer_listener!(listener, &*any, event);
    }
}
