//! Methods that lead from entities to their participant.

use crate::context::{ParticipantContext, ParticipantRef, WaitSet};
use crate::participant::{DomainParticipant, ParticipantHandle};
use crate::publication::{PublicationContext, Publisher};
use crate::subscription::{Subscriber, SubscriptionContext};
use crate::topic::{Topic, TopicContext};
use std::any::Any;
use std::sync::Arc;

impl ParticipantHandle {
    pub(super) fn as_topic_context(self: &Arc<Self>) -> Arc<dyn TopicContext> {
        Arc::clone(self) as _
    }

    pub(super) fn as_subscription_context(self: &Arc<Self>) -> Arc<dyn SubscriptionContext> {
        Arc::clone(self) as _
    }

    pub(super) fn as_publication_context(self: &Arc<Self>) -> Arc<dyn PublicationContext> {
        Arc::clone(self) as _
    }
}

impl DomainParticipant {
    /// Returns the participant behind the context of an entity.
    fn of_context(context: Arc<dyn Any + Send + Sync>) -> Self {
        let handle = context.downcast::<ParticipantHandle>();
        Self::from_handle(&handle.expect("no other type implements the context of an entity"))
    }
}

impl<T> Topic<T> {
    /// Returns the participant of the topic.
    #[must_use]
    #[doc(alias = "get_participant")]
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant::of_context(Arc::clone(self.handle().participant()).as_any())
    }
}

impl Publisher {
    /// Returns the participant of the publisher.
    #[must_use]
    #[doc(alias = "get_participant")]
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant::of_context(Arc::clone(self.group().participant()).as_any())
    }
}

impl Subscriber {
    /// Returns the participant of the subscriber.
    #[must_use]
    #[doc(alias = "get_participant")]
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant::of_context(Arc::clone(self.group().participant()).as_any())
    }
}

impl WaitSet {
    /// Creates a set without conditions. Its time limits use the participant's clock.
    #[must_use]
    pub fn new(participant: &DomainParticipant) -> Self {
        let context = Arc::clone(participant.handle()) as Arc<dyn ParticipantContext>;
        Self::of(ParticipantRef::new(&context))
    }
}
