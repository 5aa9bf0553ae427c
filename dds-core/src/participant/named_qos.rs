//! QoS from profile files, for entities without a builder.

use crate::infrastructure::{About, CreateError, Subject};
use crate::participant::DomainParticipant;
use crate::qos::{PublisherQos, SubscriberQos, TopicQos};
use dds_rtps::types::Guid;
use std::sync::Arc;

impl DomainParticipant {
    /// Returns the publisher QoS with this name in the profile file (feature `serde`).
    ///
    /// It is `[publisher.NAME]`, or the `publisher_qos` of an XML profile.
    ///
    /// # Errors
    /// [`CreateErrorKind::UnknownProfile`](crate::error::CreateErrorKind::UnknownProfile) with the most similar name.
    pub fn publisher_profile(&self, name: &str) -> Result<PublisherQos, CreateError> {
        self.handle().core.config().profiles.publisher(name).about(&unknown("publisher", ""))
    }

    /// Returns the subscriber QoS with this name in the profile file (feature `serde`).
    ///
    /// It is `[subscriber.NAME]`, or the `subscriber_qos` of an XML profile.
    ///
    /// # Errors
    /// [`CreateErrorKind::UnknownProfile`](crate::error::CreateErrorKind::UnknownProfile) with the most similar name.
    pub fn subscriber_profile(&self, name: &str) -> Result<SubscriberQos, CreateError> {
        self.handle().core.config().profiles.subscriber(name).about(&unknown("subscriber", ""))
    }

    /// Returns the QoS for `topic` with this name in the profile file (feature `serde`).
    ///
    /// It is `[topic.NAME]`, or the `topic_qos` of an XML profile with a matching `topic_filter`.
    ///
    /// # Errors
    /// [`CreateErrorKind::UnknownProfile`](crate::error::CreateErrorKind::UnknownProfile) with the most similar name.
    pub fn topic_profile(&self, name: &str, topic: &str) -> Result<TopicQos, CreateError> {
        self.handle().core.config().profiles.topic(name, topic).about(&unknown("topic", topic))
    }
}

fn unknown(entity: &'static str, topic: &str) -> Arc<Subject> {
    Subject::new(entity, topic, Guid::UNKNOWN)
}
