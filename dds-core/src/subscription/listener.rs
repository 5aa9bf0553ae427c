//! Listeners of readers and subscribers (DDS 1.4, 2.2.2.5.6 and 2.2.2.5.7).

use crate::endpoint::{AnyEndpoint, EndpointDispatch};
use crate::infrastructure::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus, PeerStatus,
    SampleRejectedStatus, mark,
};
use crate::subscription::{DataReader, ReaderEvent, ReaderHandle, Subscriber};
use std::sync::Arc;

/// Receives the events of a reader (DDS 1.4, 2.2.2.5.7). The default methods do nothing.
///
/// Calls never overlap. Repeated events between two calls are combined into one call. The listener must be `Send`, but
/// need not be `Sync`.
///
/// Each call passes the reader. A handle inside of the listener would keep the reader alive.
///
/// ```
/// use dds_core::{DataReader, DdsType, DomainParticipant, Scope};
/// use dds_core::listener::DataReaderListener;
/// use dds_core::status::StatusMask;
/// use std::sync::mpsc;
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// struct Sum {
///     sum: f64,
///     sums: mpsc::Sender<f64>,
/// }
///
/// impl DataReaderListener<Pose> for Sum {
///     fn on_data_available(&mut self, reader: &DataReader<Pose>) {
///         for pose in reader.take().into_iter().flat_map(|samples| samples.into_data()) {
///             self.sum += pose.x;
///         }
///         let _ = self.sums.send(self.sum);
///     }
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let (sender, receiver) = mpsc::channel();
/// let reader = participant.reader::<Pose>("sum/pose")?;
/// reader.set_listener(StatusMask::DATA_AVAILABLE, Sum { sum: 0.0, sums: sender })?;
/// let writer = participant.writer::<Pose>("sum/pose")?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { x: 1.5 })?;
/// assert_eq!(receiver.recv().unwrap(), 1.5);
/// reader.remove_listener();
/// # Ok(())
/// # }
/// ```
pub trait DataReaderListener<T>: Send + 'static {
    /// Data arrived, or an instance state changed.
    fn on_data_available(&mut self, reader: &DataReader<T>) {
        let _ = reader;
    }

    /// A writer matched or ceased to match.
    fn on_subscription_matched(&mut self, reader: &DataReader<T>, status: PeerStatus) {
        let _ = (reader, status);
    }

    /// A writer of the topic has an incompatible QoS.
    fn on_requested_incompatible_qos(&mut self, reader: &DataReader<T>, status: IncompatibleQosStatus) {
        let _ = (reader, status);
    }

    /// Samples were lost.
    fn on_sample_lost(&mut self, reader: &DataReader<T>, status: CountStatus) {
        let _ = (reader, status);
    }

    /// Samples were rejected because of resource limits.
    fn on_sample_rejected(&mut self, reader: &DataReader<T>, status: SampleRejectedStatus) {
        let _ = (reader, status);
    }

    /// A writer became alive or ceased to be alive.
    fn on_liveliness_changed(&mut self, reader: &DataReader<T>, status: LivelinessChangedStatus) {
        let _ = (reader, status);
    }

    /// Instances missed their deadline.
    fn on_requested_deadline_missed(&mut self, reader: &DataReader<T>, status: DeadlineMissedStatus) {
        let _ = (reader, status);
    }
}

/// Receives the events of all readers of a subscriber or participant (DDS 1.4, 2.2.2.5.6).
///
/// It receives only events that the listener of the reader does not handle. The default methods do nothing, except for
/// `on_data_on_readers`.
///
/// ```
/// use dds_core::qos::SubscriberQos;
/// use dds_core::reader::States;
/// use dds_core::{DataReader, DdsType, DomainParticipant, Scope, Subscriber};
/// use dds_core::listener::SubscriberListener;
/// use dds_core::status::StatusMask;
/// use std::sync::mpsc;
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Pose {
///     #[dds(key)]
///     robot: u32,
///     x: f64,
/// }
///
/// struct Router(mpsc::Sender<usize>);
///
/// impl SubscriberListener for Router {
///     fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
///         for reader in subscriber.readers(States::NOT_READ) {
///             let poses = reader.downcast_ref::<DataReader<Pose>>();
///             let _ = self.0.send(poses.and_then(|poses| poses.take().ok()).map_or(0, |samples| samples.len()));
///         }
///     }
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let subscriber = participant.subscriber(SubscriberQos::default())?;
/// let (sender, receiver) = mpsc::channel();
/// subscriber.set_listener(StatusMask::DATA_ON_READERS, Router(sender))?;
/// let reader = subscriber.reader::<Pose>("robot/pose")?;
/// let writer = participant.writer::<Pose>("robot/pose")?;
/// writer.wait_for_readers(1).block()?;
/// writer.write(&Pose { robot: 7, x: 1.0 })?;
/// assert_eq!(receiver.recv().unwrap(), 1);
/// # Ok(())
/// # }
/// ```
pub trait SubscriberListener: Send + 'static {
    /// A reader of the subscriber has data.
    ///
    /// It replaces `on_data_available` of all listeners of its readers. It should take the data or call
    /// [`notify_datareaders`](Subscriber::notify_datareaders), which is the default.
    fn on_data_on_readers(&mut self, subscriber: &Subscriber) {
        subscriber.notify_datareaders();
    }

    /// As [`DataReaderListener::on_data_available`].
    fn on_data_available(&mut self, reader: &dyn AnyEndpoint) {
        let _ = reader;
    }

    /// As [`DataReaderListener::on_subscription_matched`].
    fn on_subscription_matched(&mut self, reader: &dyn AnyEndpoint, status: PeerStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_requested_incompatible_qos`].
    fn on_requested_incompatible_qos(&mut self, reader: &dyn AnyEndpoint, status: IncompatibleQosStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_sample_lost`].
    fn on_sample_lost(&mut self, reader: &dyn AnyEndpoint, status: CountStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_sample_rejected`].
    fn on_sample_rejected(&mut self, reader: &dyn AnyEndpoint, status: SampleRejectedStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_liveliness_changed`].
    fn on_liveliness_changed(&mut self, reader: &dyn AnyEndpoint, status: LivelinessChangedStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_requested_deadline_missed`].
    fn on_requested_deadline_missed(&mut self, reader: &dyn AnyEndpoint, status: DeadlineMissedStatus) {
        let _ = (reader, status);
    }
}

/// Calls a listener about one event of a reader. The reader is typed or not, as the listener is.
macro_rules! call_reader_listener {
    ($listener:expr, $reader:expr, $event:expr) => {
        match $event {
            ReaderEvent::Matched(status) => $listener.on_subscription_matched($reader, status),
            ReaderEvent::IncompatibleQos(status) => $listener.on_requested_incompatible_qos($reader, status),
            ReaderEvent::SampleLost(status) => $listener.on_sample_lost($reader, status),
            ReaderEvent::SampleRejected(status) => $listener.on_sample_rejected($reader, status),
            ReaderEvent::LivelinessChanged(status) => $listener.on_liveliness_changed($reader, status),
            ReaderEvent::DeadlineMissed(status) => $listener.on_requested_deadline_missed($reader, status),
            // Only streams receive this event.
            ReaderEvent::ListenerPanicked { .. } => {}
        }
    };
}

/// Turns a listener of a reader into a callback.
pub(super) fn dispatch_to_listener<T: 'static>(
    mut listener: impl DataReaderListener<T>,
) -> EndpointDispatch<ReaderHandle> {
    Box::new(move |handle, marks| {
        let reader = DataReader::lend(handle);
        for event in reader.handle().changes(marks) {
            call_reader_listener!(listener, &reader, event);
        }
        // After the statuses, so that the listener knows the writers of the data.
        if marks & mark::DATA != 0 {
            listener.on_data_available(&reader);
        }
    })
}

/// Calls the listener of a subscriber or participant about the events of a reader.
pub(crate) fn dispatch_reader_to_group<L: SubscriberListener>(
    handle: &Arc<ReaderHandle>,
    listener: &mut L,
    marks: u32,
) {
    let any = handle.lend_typed();
    let reader = &*any;
    for event in handle.changes(marks) {
        call_reader_listener!(listener, reader, event);
    }
    if marks & mark::DATA_ON_READERS != 0 {
        if let Some(group) = handle.group() {
            // A listener call counts as reading the status (DDS 1.4, 2.2.4.2.2).
            group.watched().observers().status_read(mark::DATA_ON_READERS);
            listener.on_data_on_readers(&Subscriber::lend(Arc::clone(group)));
        }
    }
    if marks & mark::DATA != 0 {
        listener.on_data_available(reader);
    }
}
