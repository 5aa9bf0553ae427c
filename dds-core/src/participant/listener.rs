//! The listener of a participant (DDS 1.4, 2.2.2.2.3).

use crate::context::NewListener;
use crate::infrastructure::{About, Callback, CreateError, ListenedEntity, MemberQueue, StatusMask};
use crate::participant::{DomainParticipant, ParticipantHandle};
use crate::publication::{PublisherListener, WriterHandle, dispatch_writer_to_group};
use crate::subscription::{ReaderHandle, SubscriberListener, dispatch_reader_to_group};
use crate::topic::{TopicHandle, TopicListener};
use std::sync::{Arc, Weak};

struct ParticipantCallback<L> {
    participant: Weak<ParticipantHandle>,
    listener: L,
    members: Arc<MemberQueue>,
    last: Option<Weak<dyn ListenedEntity>>,
}

impl<L: PublisherListener + SubscriberListener + TopicListener> Callback for ParticipantCallback<L> {
    fn call(&mut self, _marks: u32) {
        let Some((entity, marks)) = self.members.take() else { return };
        self.last = Some(Weak::clone(&entity));
        let Some(entity) = entity.upgrade() else { return };
        // Readers first, because they have most events.
        let entity = match entity.as_any().downcast::<ReaderHandle>() {
            Ok(reader) => return dispatch_reader_to_group(&reader, &mut self.listener, marks),
            Err(other) => other,
        };
        let entity = match entity.downcast::<WriterHandle>() {
            Ok(writer) => return dispatch_writer_to_group(&writer, &mut self.listener, marks),
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
        // Only the entity whose call panicked reports the event.
        let Some(last) = self.last.take() else { return };
        if let Some(entity) = last.upgrade() {
            entity.note_listener_panic(message);
        }
    }
}

impl DomainParticipant {
    /// Sets the listener for statuses in `mask` that no listener below it handles (DDS 1.4, 2.2.2.2.3).
    ///
    /// It implements the listener traits of publishers, subscribers and topics. Their methods do nothing by default.
    ///
    /// It replaces an earlier listener, which is not called again. The thread is that of
    /// [`delivery`](crate::DomainParticipantBuilder::delivery). A panic in the listener is caught and removes it. The
    /// endpoint of that call reports it as an event.
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Entity, Scope};
    /// use dds_core::listener::{AnyEndpoint, PublisherListener, SubscriberListener, TopicListener};
    /// use dds_core::status::{PeerStatus, StatusMask};
    /// use std::sync::mpsc;
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     x: f64,
    /// }
    ///
    /// struct Monitor(mpsc::Sender<String>);
    /// impl PublisherListener for Monitor {
    ///     fn on_publication_matched(&mut self, writer: &dyn AnyEndpoint, status: PeerStatus) {
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
    ///
    /// # Errors
    /// [`CreateErrorKind::Thread`](crate::error::CreateErrorKind::Thread) or
    /// [`CreateErrorKind::Closed`](crate::error::CreateErrorKind::Closed).
    #[doc(alias = "DomainParticipantListener")]
    pub fn set_listener(
        &self,
        mask: StatusMask,
        listener: impl PublisherListener + SubscriberListener + TopicListener,
    ) -> Result<(), CreateError> {
        let handle = self.handle();
        let members = Arc::<MemberQueue>::default();
        // Weak, because the participant holds the listener.
        let callback = ParticipantCallback {
            participant: Arc::downgrade(handle),
            listener,
            members: Arc::clone(&members),
            last: None,
        };
        self.change_listener(Some(NewListener {
            name: "participant listener",
            mask,
            delivery: handle.core.config().delivery,
            callback: Box::new(callback),
            members: Some(members),
        }))
    }

    /// Removes the listener. No call of it begins after this function returns.
    #[doc(alias = "get_listener")]
    pub fn remove_listener(&self) {
        // A closed participant has none.
        let _ = self.change_listener(None);
    }

    fn change_listener(&self, new: Option<NewListener>) -> Result<(), CreateError> {
        let handle = self.handle();
        let core = &handle.core;
        let (closed, refresh) = (|| core.is_closed(), || handle.refresh_listeners());
        core.set_listener(core.top_listener(), new, handle.ending(), closed, refresh).about(core.subject())
    }
}
