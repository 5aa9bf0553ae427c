//! QoS by its name in the profile file, for what is not made by a builder.

use crate::infrastructure::{CreateError, CreateErrorKind, Subject};
use crate::participant::DomainParticipant;
use crate::qos::{PublisherQos, SubscriberQos, TopicQos};
use dds_rtps::types::Guid;

impl DomainParticipant {
    /// The QoS of publishers under this name in the profile file (feature `serde`): `[publisher.NAME]`, or a profile's
    /// `publisher_qos`.
    ///
    /// # Errors
    /// [`CreateErrorKind::UnknownProfile`], with the nearest name that there is.
    pub fn publisher_profile(&self, name: &str) -> Result<PublisherQos, CreateError> {
        self.handle().core.config().profiles.publisher(name).map_err(|kind| unknown("publisher", "", kind))
    }

    /// The QoS of subscribers under this name in the profile file (feature `serde`): `[subscriber.NAME]`, or a profile's
    /// `subscriber_qos`.
    ///
    /// # Errors
    /// [`CreateErrorKind::UnknownProfile`], with the nearest name that there is.
    pub fn subscriber_profile(&self, name: &str) -> Result<SubscriberQos, CreateError> {
        self.handle().core.config().profiles.subscriber(name).map_err(|kind| unknown("subscriber", "", kind))
    }

    /// The QoS for `topic` under this name in the profile file (feature `serde`): `[topic.NAME]`, or a profile's `topic_qos`, by its
    /// `topic_filter`.
    ///
    /// # Errors
    /// [`CreateErrorKind::UnknownProfile`], with the nearest name that there is.
    pub fn topic_profile(&self, name: &str, topic: &str) -> Result<TopicQos, CreateError> {
        self.handle().core.config().profiles.topic(name, topic).map_err(|kind| unknown("topic", topic, kind))
    }
}

fn unknown(entity: &'static str, topic: &str, kind: CreateErrorKind) -> CreateError {
    CreateError::new(&Subject::new(entity, topic, Guid::UNKNOWN), kind)
}
