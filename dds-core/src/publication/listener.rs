//! Listeners of writers and publishers (DDS 1.4, 2.2.2.4.3 and 2.2.2.4.4).

use crate::actor::Effects;
use crate::context::NewListener;
use crate::infrastructure::{
    Audience, Callback, CreateError, DeadlineMissedStatus, IncompatibleQosStatus, ListenedEntity, LivelinessLostStatus,
    Post, PublicationMatchedStatus, SlowReaderStatus, StatusMask, mark,
};
use crate::publication::{AnyWriter, DataWriter, Publisher, PublisherGroup, WriterEvent, WriterHandle};
use smallvec::SmallVec;
use std::sync::{Arc, Weak};

/// Receives the events of a writer (DDS 1.4, 2.2.2.4.4). The default methods do nothing.
///
/// Calls never overlap. Repeated events between two calls are combined into one call. The listener must be `Send`, but
/// need not be `Sync`.
///
/// ```
/// use dds_core::{
///     DataWriter, DataWriterListener, DdsType, DomainParticipant, PublicationMatchedStatus, Scope, StatusMask,
/// };
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
///     fn on_publication_matched(&mut self, _: &DataWriter<Pose>, status: PublicationMatchedStatus) {
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
    fn on_publication_matched(&mut self, writer: &DataWriter<T>, status: PublicationMatchedStatus) {
        let _ = (writer, status);
    }

    /// A reader of the topic has an incompatible QoS.
    fn on_offered_incompatible_qos(&mut self, writer: &DataWriter<T>, status: IncompatibleQosStatus) {
        let _ = (writer, status);
    }

    /// A slow reader was demoted, or counts as responsive again ([`SlowReader`](crate::SlowReader)).
    fn on_slow_reader(&mut self, writer: &DataWriter<T>, status: SlowReaderStatus) {
        let _ = (writer, status);
    }

    /// The writer failed to assert its liveliness within its lease.
    fn on_liveliness_lost(&mut self, writer: &DataWriter<T>, status: LivelinessLostStatus) {
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
/// use dds_core::{
///     AnyWriter, DdsType, DomainParticipant, PublicationMatchedStatus, PublisherListener, Scope, StatusMask,
/// };
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
///     fn on_publication_matched(&mut self, writer: &dyn AnyWriter, _: PublicationMatchedStatus) {
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
    fn on_publication_matched(&mut self, writer: &dyn AnyWriter, status: PublicationMatchedStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_offered_incompatible_qos`].
    fn on_offered_incompatible_qos(&mut self, writer: &dyn AnyWriter, status: IncompatibleQosStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_slow_reader`].
    fn on_slow_reader(&mut self, writer: &dyn AnyWriter, status: SlowReaderStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_liveliness_lost`].
    fn on_liveliness_lost(&mut self, writer: &dyn AnyWriter, status: LivelinessLostStatus) {
        let _ = (writer, status);
    }

    /// As [`DataWriterListener::on_offered_deadline_missed`].
    fn on_offered_deadline_missed(&mut self, writer: &dyn AnyWriter, status: DeadlineMissedStatus) {
        let _ = (writer, status);
    }
}

/// Callback with the changed marks of a writer.
pub(super) type WriterDispatch<T> = Box<dyn FnMut(&DataWriter<T>, u32) + Send>;

/// Turns a listener into a callback.
pub(super) fn dispatch_to_listener<T>(mut listener: impl DataWriterListener<T>) -> WriterDispatch<T> {
    Box::new(move |writer, marks| {
        for event in writer.handle.changes(marks) {
            match event {
                WriterEvent::Matched(status) => listener.on_publication_matched(writer, status),
                WriterEvent::IncompatibleQos(status) => listener.on_offered_incompatible_qos(writer, status),
                WriterEvent::SlowReader(status) => listener.on_slow_reader(writer, status),
                WriterEvent::LivelinessLost(status) => listener.on_liveliness_lost(writer, status),
                WriterEvent::DeadlineMissed(status) => listener.on_offered_deadline_missed(writer, status),
                WriterEvent::ListenerPanicked { .. } => {}
            }
        }
    })
}

struct WriterCallback<T> {
    /// Weak, so that a listener does not keep its own writer alive.
    writer: Weak<WriterHandle>,
    dispatch: WriterDispatch<T>,
}

impl<T> Callback for WriterCallback<T> {
    fn call(&mut self, marks: u32) {
        if let Some(handle) = self.writer.upgrade() {
            (self.dispatch)(&DataWriter::lend(handle), marks);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(handle) = self.writer.upgrade() {
            handle.core.drop_panicked(handle.listener(), || handle.refresh_listeners());
            handle.note_listener_panic(message);
        }
    }
}

/// Creates the listener of a writer.
pub(super) fn new_listener<T: 'static>(
    handle: &Arc<WriterHandle>,
    mask: StatusMask,
    dispatch: WriterDispatch<T>,
) -> NewListener {
    NewListener {
        name: "writer listener",
        mask,
        delivery: handle.delivery,
        callback: Box::new(WriterCallback { writer: Arc::downgrade(handle), dispatch }),
        post: None,
    }
}

impl WriterHandle {
    /// Returns the events that `marks` announce, and counts them as reported. A writer that was closed has no events.
    pub(super) fn changes(&self, marks: u32) -> SmallVec<[WriterEvent; 5]> {
        let mut events = SmallVec::new();
        if marks & mark::MATCHED != 0 {
            if let Ok(status) = self.publication_matched() {
                events.push(WriterEvent::Matched(status));
            }
        }
        if marks & mark::INCOMPATIBLE_QOS != 0 {
            if let Ok(status) = self.offered_incompatible_qos() {
                events.push(WriterEvent::IncompatibleQos(status));
            }
        }
        if marks & mark::SLOW_READER != 0 {
            if let Ok(status) = self.slow_readers() {
                events.push(WriterEvent::SlowReader(status));
            }
        }
        if marks & mark::LIVELINESS_LOST != 0 {
            if let Ok(status) = self.liveliness_lost() {
                events.push(WriterEvent::LivelinessLost(status));
            }
        }
        if marks & mark::DEADLINE_MISSED != 0 {
            if let Ok(status) = self.offered_deadline_missed() {
                events.push(WriterEvent::DeadlineMissed(status));
            }
        }
        events
    }

    /// Notifies the listener of a publisher or participant of a writer's events.
    pub(crate) fn dispatch_to_group<L: PublisherListener>(self: &Arc<Self>, listener: &mut L, marks: u32) {
        let writer = (self.lend)(Arc::clone(self));
        for event in self.changes(marks) {
            match event {
                WriterEvent::Matched(status) => listener.on_publication_matched(&*writer, status),
                WriterEvent::IncompatibleQos(status) => listener.on_offered_incompatible_qos(&*writer, status),
                WriterEvent::SlowReader(status) => listener.on_slow_reader(&*writer, status),
                WriterEvent::LivelinessLost(status) => listener.on_liveliness_lost(&*writer, status),
                WriterEvent::DeadlineMissed(status) => listener.on_offered_deadline_missed(&*writer, status),
                WriterEvent::ListenerPanicked { .. } => {}
            }
        }
    }

    /// Resolves the listeners that the writer notifies: its own, its publisher's and its participant's.
    pub(crate) fn refresh_listeners(self: &Arc<Self>) {
        let turn = self.core.listening();
        let entity = || Arc::downgrade(self) as Weak<dyn ListenedEntity>;
        let levels = [
            self.listener().level(entity),
            self.group().and_then(|group| group.listener().level(entity)),
            self.core.top_listener().level(entity),
        ];
        let audience = Audience::resolve(levels.into_iter().flatten());
        // A closed writer notifies no listener. The old set is dropped outside of the cell.
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

impl<T: 'static> DataWriter<T> {
    /// Calls `listener` with the statuses in `mask`.
    ///
    /// Replaces an earlier listener and the closure of the builder. Calls of these do not begin after this method
    /// returns.
    ///
    /// If the listener panics, the panic is caught and the listener is removed. The writer lives on and reports
    /// [`WriterEvent::ListenerPanicked`](crate::WriterEvent::ListenerPanicked).
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl DataWriterListener<T>) -> Result<(), CreateError> {
        self.handle.change_listener(Some(new_listener(&self.handle, mask, dispatch_to_listener(listener))))
    }

    /// Removes the listener. No call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // Ignore the error, because a closed writer has no listener.
        let _ = self.handle.change_listener(None);
    }
}

struct PublisherCallback<L> {
    publisher: Weak<PublisherGroup>,
    listener: L,
    post: Arc<Post>,
    last: Option<Weak<dyn ListenedEntity>>,
}

impl<L: PublisherListener> Callback for PublisherCallback<L> {
    fn call(&mut self, _marks: u32) {
        let Some((entity, marks)) = self.post.take() else { return };
        self.last = Some(Weak::clone(&entity));
        let Some(entity) = entity.upgrade() else { return };
        let writer = entity.as_any().downcast::<WriterHandle>();
        debug_assert!(writer.is_ok(), "the members of a publisher are writers");
        if let Ok(writer) = writer {
            writer.dispatch_to_group(&mut self.listener, marks);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(group) = self.publisher.upgrade() {
            group.participant().core().drop_panicked(group.listener(), || refresh_members(&group));
        }
        if let Some(writer) = self.last.take().and_then(|writer| writer.upgrade()) {
            writer.note_listener_panic(message);
        }
    }
}

fn refresh_members(group: &PublisherGroup) {
    for writer in group.members() {
        writer.refresh_listeners();
    }
}

impl Publisher {
    /// Calls `listener` with the statuses in `mask` of the publisher's writers.
    ///
    /// A status goes to the writer's own listener instead if its mask contains it. Replaces an earlier listener, whose
    /// calls do not begin any more.
    ///
    /// The participant's [`delivery`](crate::DomainParticipantBuilder::delivery) selects the thread. If the listener
    /// panics, the panic is caught and the listener is removed. The writer whose event it handled reports the panic as
    /// an event.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl PublisherListener) -> Result<(), CreateError> {
        let group = self.group();
        let post = Arc::<Post>::default();
        let callback =
            PublisherCallback { publisher: Arc::downgrade(group), listener, post: Arc::clone(&post), last: None };
        self.change_listener(Some(NewListener {
            name: "publisher listener",
            mask,
            delivery: group.participant().core().config().delivery,
            callback: Box::new(callback),
            post: Some(post),
        }))
    }

    /// Removes the listener. No call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // Ignore the error, because a closed publisher has no listener.
        let _ = self.change_listener(None);
    }

    fn change_listener(&self, new: Option<NewListener>) -> Result<(), CreateError> {
        let group = self.group();
        let core = group.participant().core();
        let closed = || group.is_closed();
        let refresh = || refresh_members(group);
        let set = core.set_listener(group.listener(), new, group.ending(), closed, refresh);
        set.map_err(|kind| CreateError::new(group.subject(), kind))
    }
}
