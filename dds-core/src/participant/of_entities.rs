//! Where entities lead back to their participant.

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
    /// The participant behind the context of an entity.
    fn of_context(context: Arc<dyn Any + Send + Sync>) -> Self {
        let handle = context.downcast::<ParticipantHandle>();
        Self::from_handle(&handle.expect("no other type implements the context of an entity"))
    }
}

impl<T> Topic<T> {
    /// The participant that it belongs to.
    #[must_use]
    #[doc(alias = "get_participant")]
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant::of_context(Arc::clone(self.handle().participant()).as_any())
    }
}

impl Publisher {
    /// The participant that it belongs to.
    #[must_use]
    #[doc(alias = "get_participant")]
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant::of_context(Arc::clone(self.group().participant()).as_any())
    }
}

impl Subscriber {
    /// The participant that it belongs to.
    #[must_use]
    #[doc(alias = "get_participant")]
    pub fn participant(&self) -> DomainParticipant {
        DomainParticipant::of_context(Arc::clone(self.group().participant()).as_any())
    }
}

impl WaitSet {
    /// A set without conditions, whose time limits run by the participant's clock.
    #[must_use]
    pub fn new(participant: &DomainParticipant) -> Self {
        let context = Arc::clone(participant.handle()) as Arc<dyn ParticipantContext>;
        Self::of(ParticipantRef::new(&context))
    }
}
