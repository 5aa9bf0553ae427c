//! Listeners of readers and subscribers (DDS 1.4, 2.2.2.5.6 and 2.2.2.5.7).

use crate::actor::Effects;
use crate::context::{ListenerPlace, NewListener};
use crate::infrastructure::{
    Audience, Callback, CreateError, DeadlineMissedStatus, IncompatibleQosStatus, ListenedEntity,
    LivelinessChangedStatus, Post, SampleLostStatus, SampleRejectedStatus, StatusMask, SubscriptionMatchedStatus, mark,
};
use crate::subscription::{AnyReader, DataReader, ReaderEvent, ReaderHandle, Subscriber, SubscriberGroup};
use smallvec::SmallVec;
use std::sync::{Arc, Weak};

/// Receives the events of a reader (DDS 1.4, 2.2.2.5.7). The default methods do nothing.
///
/// Calls never overlap. Repeated events between two calls are combined into one call. The listener must be `Send`, but
/// need not be `Sync`.
///
/// Each call passes the reader. A handle inside of the listener would keep the reader alive.
///
/// ```
/// use dds_core::{DataReader, DataReaderListener, DdsType, DomainParticipant, Scope, StatusMask};
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
    fn on_subscription_matched(&mut self, reader: &DataReader<T>, status: SubscriptionMatchedStatus) {
        let _ = (reader, status);
    }

    /// A writer of the topic has an incompatible QoS.
    fn on_requested_incompatible_qos(&mut self, reader: &DataReader<T>, status: IncompatibleQosStatus) {
        let _ = (reader, status);
    }

    /// Samples were lost.
    fn on_sample_lost(&mut self, reader: &DataReader<T>, status: SampleLostStatus) {
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
/// use dds_core::{DataReader, DdsType, DomainParticipant, Scope, States, StatusMask, Subscriber, SubscriberListener};
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
    fn on_data_available(&mut self, reader: &dyn AnyReader) {
        let _ = reader;
    }

    /// As [`DataReaderListener::on_subscription_matched`].
    fn on_subscription_matched(&mut self, reader: &dyn AnyReader, status: SubscriptionMatchedStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_requested_incompatible_qos`].
    fn on_requested_incompatible_qos(&mut self, reader: &dyn AnyReader, status: IncompatibleQosStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_sample_lost`].
    fn on_sample_lost(&mut self, reader: &dyn AnyReader, status: SampleLostStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_sample_rejected`].
    fn on_sample_rejected(&mut self, reader: &dyn AnyReader, status: SampleRejectedStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_liveliness_changed`].
    fn on_liveliness_changed(&mut self, reader: &dyn AnyReader, status: LivelinessChangedStatus) {
        let _ = (reader, status);
    }

    /// As [`DataReaderListener::on_requested_deadline_missed`].
    fn on_requested_deadline_missed(&mut self, reader: &dyn AnyReader, status: DeadlineMissedStatus) {
        let _ = (reader, status);
    }
}

/// Callback with the changed marks of a reader.
pub(super) type ReaderDispatch<T> = Box<dyn FnMut(&DataReader<T>, u32) + Send>;

/// Turns a listener into a callback.
pub(super) fn dispatch_to_listener<T>(mut listener: impl DataReaderListener<T>) -> ReaderDispatch<T> {
    Box::new(move |reader, marks| {
        for event in reader.handle().changes(marks) {
            match event {
                ReaderEvent::Matched(status) => listener.on_subscription_matched(reader, status),
                ReaderEvent::IncompatibleQos(status) => listener.on_requested_incompatible_qos(reader, status),
                ReaderEvent::SampleLost(status) => listener.on_sample_lost(reader, status),
                ReaderEvent::SampleRejected(status) => listener.on_sample_rejected(reader, status),
                ReaderEvent::LivelinessChanged(status) => listener.on_liveliness_changed(reader, status),
                ReaderEvent::DeadlineMissed(status) => listener.on_requested_deadline_missed(reader, status),
                ReaderEvent::ListenerPanicked { .. } => {}
            }
        }
        if marks & mark::DATA != 0 {
            listener.on_data_available(reader);
        }
    })
}

struct ReaderCallback<T> {
    /// Weak, so that a listener does not keep its own reader alive.
    reader: Weak<ReaderHandle>,
    dispatch: ReaderDispatch<T>,
}

impl<T> Callback for ReaderCallback<T> {
    fn call(&mut self, marks: u32) {
        if let Some(handle) = self.reader.upgrade() {
            (self.dispatch)(&DataReader::lend(handle), marks);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(handle) = self.reader.upgrade() {
            handle.core.drop_panicked(handle.listener(), || handle.refresh_listeners());
            handle.note_listener_panic(message);
        }
    }
}

/// Creates the listener of a reader.
pub(super) fn new_listener<T: 'static>(
    handle: &Arc<ReaderHandle>,
    mask: StatusMask,
    dispatch: ReaderDispatch<T>,
) -> NewListener {
    NewListener {
        name: "reader listener",
        mask,
        delivery: handle.delivery,
        callback: Box::new(ReaderCallback { reader: Arc::downgrade(handle), dispatch }),
        post: None,
    }
}

impl ReaderHandle {
    /// Returns the events that `marks` announce, and counts them as reported. A reader that was closed has no events.
    pub(super) fn changes(&self, marks: u32) -> SmallVec<[ReaderEvent; 6]> {
        let mut events = SmallVec::new();
        if marks & mark::MATCHED != 0 {
            if let Ok(status) = self.subscription_matched() {
                events.push(ReaderEvent::Matched(status));
            }
        }
        if marks & mark::INCOMPATIBLE_QOS != 0 {
            if let Ok(status) = self.requested_incompatible_qos() {
                events.push(ReaderEvent::IncompatibleQos(status));
            }
        }
        if marks & mark::SAMPLE_LOST != 0 {
            if let Ok(status) = self.sample_lost() {
                events.push(ReaderEvent::SampleLost(status));
            }
        }
        if marks & mark::SAMPLE_REJECTED != 0 {
            if let Ok(status) = self.sample_rejected() {
                events.push(ReaderEvent::SampleRejected(status));
            }
        }
        if marks & mark::LIVELINESS_CHANGED != 0 {
            if let Ok(status) = self.liveliness_changed() {
                events.push(ReaderEvent::LivelinessChanged(status));
            }
        }
        if marks & mark::DEADLINE_MISSED != 0 {
            if let Ok(status) = self.requested_deadline_missed() {
                events.push(ReaderEvent::DeadlineMissed(status));
            }
        }
        events
    }

    /// Notifies the listener of a subscriber or participant of a reader's events.
    pub(crate) fn dispatch_to_group<L: SubscriberListener>(self: &Arc<Self>, listener: &mut L, marks: u32) {
        let any = (self.lend)(Arc::clone(self));
        let reader = &*any;
        for event in self.changes(marks) {
            match event {
                ReaderEvent::Matched(status) => listener.on_subscription_matched(reader, status),
                ReaderEvent::IncompatibleQos(status) => listener.on_requested_incompatible_qos(reader, status),
                ReaderEvent::SampleLost(status) => listener.on_sample_lost(reader, status),
                ReaderEvent::SampleRejected(status) => listener.on_sample_rejected(reader, status),
                ReaderEvent::LivelinessChanged(status) => listener.on_liveliness_changed(reader, status),
                ReaderEvent::DeadlineMissed(status) => listener.on_requested_deadline_missed(reader, status),
                ReaderEvent::ListenerPanicked { .. } => {}
            }
        }
        if marks & mark::DATA_ON_READERS != 0 {
            if let Some(group) = &self.group {
                group.watched().observers().status_read(mark::DATA_ON_READERS);
                listener.on_data_on_readers(&Subscriber::lend(Arc::clone(group)));
            }
        }
        if marks & mark::DATA != 0 {
            listener.on_data_available(reader);
        }
    }

    /// Resolves the listeners that the reader notifies: its own, its subscriber's and its participant's.
    pub(crate) fn refresh_listeners(self: &Arc<Self>) {
        let turn = self.core.listening();
        let entity = || Arc::downgrade(self) as Weak<dyn ListenedEntity>;
        let group = self.group();
        let own = self.listener().level(entity).map(|(mask, ear)| (mask & !StatusMask::DATA_ON_READERS, ear));
        let middle = group.and_then(|group| group.listener().level(entity));
        // DATA_ON_READERS exists only for a subscriber that the application created.
        let top_mask = if group.is_some() { StatusMask::ALL } else { !StatusMask::DATA_ON_READERS };
        let top = self.core.top_listener().level(entity).map(|(mask, ear)| (mask & top_mask, ear));
        let audience = Audience::resolve([own, middle, top].into_iter().flatten());
        // A closed reader notifies no listener. The old set is dropped outside of the cell.
        let old = Effects::scope(|effects| self.cell().with(effects, |actor, _| actor.set_audience(audience)));
        drop(turn);
        drop(old);
    }

    fn change_listener(self: &Arc<Self>, new: Option<NewListener>) -> Result<(), CreateError> {
        let closed = || self.is_closed();
        let refresh = || self.refresh_listeners();
        let set = self.core.set_listener(self.listener(), new, &self.ending, closed, refresh);
        set.map_err(|kind| CreateError::new(&self.subject, kind))
    }
}

impl<T: 'static> DataReader<T> {
    /// Calls `listener` with the statuses in `mask`.
    ///
    /// Replaces an earlier listener and the closures of the builder. Calls of these do not begin after this method
    /// returns.
    ///
    /// If the listener panics, the panic is caught and the listener is removed. The reader lives on and reports
    /// [`ReaderEvent::ListenerPanicked`](crate::ReaderEvent::ListenerPanicked).
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl DataReaderListener<T>) -> Result<(), CreateError> {
        let handle = self.handle();
        handle.change_listener(Some(new_listener(handle, mask, dispatch_to_listener(listener))))
    }

    /// Removes the listener. No call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // Ignore the error, because a closed reader has no listener.
        let _ = self.handle().change_listener(None);
    }
}

struct SubscriberCallback<L> {
    subscriber: Weak<SubscriberGroup>,
    listener: L,
    post: Arc<Post>,
    last: Option<Weak<dyn ListenedEntity>>,
}

impl<L: SubscriberListener> Callback for SubscriberCallback<L> {
    fn call(&mut self, _marks: u32) {
        let Some((entity, marks)) = self.post.take() else { return };
        self.last = Some(Weak::clone(&entity));
        let Some(entity) = entity.upgrade() else { return };
        let reader = entity.as_any().downcast::<ReaderHandle>();
        debug_assert!(reader.is_ok(), "the members of a subscriber are readers");
        if let Ok(reader) = reader {
            reader.dispatch_to_group(&mut self.listener, marks);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(group) = self.subscriber.upgrade() {
            group.participant().core().drop_panicked(group.listener(), || refresh_members(&group));
        }
        if let Some(reader) = self.last.take().and_then(|reader| reader.upgrade()) {
            reader.note_listener_panic(message);
        }
    }
}

fn refresh_members(group: &SubscriberGroup) {
    for reader in group.members() {
        reader.refresh_listeners();
    }
}

impl Subscriber {
    /// Calls `listener` with the statuses in `mask` of the subscriber's readers.
    ///
    /// A status goes to the reader's own listener instead if its mask contains it. Replaces an earlier listener, whose
    /// calls do not begin any more.
    ///
    /// The participant's [`delivery`](crate::DomainParticipantBuilder::delivery) selects the thread. If the listener
    /// panics, the panic is caught and the listener is removed. The reader whose event it handled reports the panic as
    /// an event.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl SubscriberListener) -> Result<(), CreateError> {
        let group = self.group();
        let post = Arc::<Post>::default();
        let callback =
            SubscriberCallback { subscriber: Arc::downgrade(group), listener, post: Arc::clone(&post), last: None };
        self.change_listener(Some(NewListener {
            name: "subscriber listener",
            mask,
            delivery: group.participant().core().config().delivery,
            callback: Box::new(callback),
            post: Some(post),
        }))
    }

    /// Removes the listener. No call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // Ignore the error, because a closed subscriber has no listener.
        let _ = self.change_listener(None);
    }

    fn change_listener(&self, new: Option<NewListener>) -> Result<(), CreateError> {
        let group = self.group();
        let core = group.participant().core();
        let (place, closed): (&ListenerPlace, _) = (group.listener(), || group.is_closed());
        let refresh = || refresh_members(group);
        let set = core.set_listener(place, new, group.ending(), closed, refresh);
        set.map_err(|kind| CreateError::new(group.subject(), kind))
    }

    /// Calls `on_data_available` for every reader with new data.
    ///
    /// New data has arrived since the last read or call. The call goes to the reader's own listener, or to the next
    /// level whose mask contains the status.
    pub fn notify_datareaders(&self) {
        for reader in self.group().members() {
            reader.notify_of_data();
        }
    }
}
