//! The listener of a participant (DDS 1.4, 2.2.2.2.3).

use crate::context::NewListener;
use crate::infrastructure::{Callback, CreateError, ListenedEntity, Post, StatusMask};
use crate::participant::{DomainParticipant, ParticipantHandle};
use crate::publication::{PublisherListener, WriterHandle};
use crate::subscription::{ReaderHandle, SubscriberListener};
use crate::topic::{TopicHandle, TopicListener};
use std::sync::{Arc, Weak};

/// Is told of everything in a participant that no listener below handles (DDS 1.4, 2.2.2.2.3).
///
/// Whatever is a listener of publishers, of subscribers and of topics is one of participants as well; methods that are not
/// written do nothing.
///
/// ```
/// use dds_core::{
///     AnyReader, AnyWriter, DdsType, DomainParticipant, Entity, PublicationMatchedStatus, PublisherListener, Scope, StatusMask,
///     SubscriberListener, TopicListener,
/// };
/// use std::sync::mpsc;
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// struct Monitor(mpsc::Sender<String>);
/// impl PublisherListener for Monitor {
///     fn on_publication_matched(&mut self, writer: &dyn AnyWriter, status: PublicationMatchedStatus) {
///         let _ = self.0.send(format!("{}: {}", writer.topic_name(), status.current_count));
///     }
/// }
/// impl SubscriberListener for Monitor {}
/// impl TopicListener for Monitor {}
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let (sender, receiver) = mpsc::channel();
/// participant.set_listener(StatusMask::MATCHED, Monitor(sender))?;
/// let writer = participant.writer::<Pose>("arm/pose")?;
/// let reader = participant.reader::<Pose>("arm/pose")?;
/// assert_eq!(receiver.recv().unwrap(), "arm/pose: 1");
/// # Ok(())
/// # }
/// ```
pub trait DomainParticipantListener: PublisherListener + SubscriberListener + TopicListener {}

impl<L: PublisherListener + SubscriberListener + TopicListener> DomainParticipantListener for L {}

struct ParticipantCallback<L> {
    participant: Weak<ParticipantHandle>,
    listener: L,
    post: Arc<Post>,
    last: Option<Weak<dyn ListenedEntity>>,
}

impl<L: DomainParticipantListener> Callback for ParticipantCallback<L> {
    fn call(&mut self, _marks: u32) {
        let Some((entity, marks)) = self.post.take() else { return };
        self.last = Some(Weak::clone(&entity));
        let Some(entity) = entity.upgrade() else { return };
        let entity = match entity.as_any().downcast::<ReaderHandle>() {
            Ok(reader) => return reader.dispatch_to_group(&mut self.listener, marks),
            Err(other) => other,
        };
        let entity = match entity.downcast::<WriterHandle>() {
            Ok(writer) => return writer.dispatch_to_group(&mut self.listener, marks),
            Err(other) => other,
        };
        let topic = entity.downcast::<TopicHandle>();
        debug_assert!(topic.is_ok(), "a participant consists of readers, writers and topics");
        if let Ok(topic) = topic {
            topic.tell(&mut self.listener);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(participant) = self.participant.upgrade() {
            let core = &participant.core;
            core.drop_panicked(core.top_listener(), || participant.refresh_listeners());
        }
        if let Some(entity) = self.last.take().and_then(|entity| entity.upgrade()) {
            entity.note_listener_panic(message);
        }
    }
}

impl DomainParticipant {
    /// Calls `listener` with the statuses in `mask` of everything in this participant, as far as no listener below asks for
    /// them. Replaces an earlier one, of which no call begins any more.
    ///
    /// Called on the thread that [`delivery`](crate::DomainParticipantBuilder::delivery) says. A panic in it is caught and
    /// removes it; it is an event of the endpoint that it was told of.
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::CreateErrorKind::Thread) or [`CreateErrorKind::Closed`](crate::CreateErrorKind::Closed).
    pub fn set_listener(&self, mask: StatusMask, listener: impl DomainParticipantListener) -> Result<(), CreateError> {
        let handle = self.handle();
        let post = Arc::<Post>::default();
        let callback =
            ParticipantCallback { participant: Arc::downgrade(handle), listener, post: Arc::clone(&post), last: None };
        self.change_listener(Some(NewListener {
            name: "participant listener",
            mask,
            delivery: handle.core.config().delivery,
            callback: Box::new(callback),
            post: Some(post),
        }))
    }

    /// Removes the listener: no call of it begins after this returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // A closed participant has none.
        let _ = self.change_listener(None);
    }

    fn change_listener(&self, new: Option<NewListener>) -> Result<(), CreateError> {
        let handle = self.handle();
        let core = &handle.core;
        let (closed, refresh) = (|| core.is_closed(), || handle.refresh_listeners());
        let set = core.set_listener(core.top_listener(), new, handle.ending(), closed, refresh);
        set.map_err(|kind| CreateError::new(core.subject(), kind))
    }
}
