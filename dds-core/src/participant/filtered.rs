//! Content-filtered topics, and the reason why multi-topics do not exist (DDS 1.4, 2.2.2.3.3 and 2.2.2.3.4).

use super::DomainParticipant;
use crate::infrastructure::{CreateError, CreateErrorKind, Subject};
use crate::topic::{ContentFilteredTopic, FilterExpression, FilteredTopic, Topic};
use dds_rtps::types::Guid;

impl DomainParticipant {
    /// Creates a content-filtered topic: the samples of `topic` that satisfy `expression`.
    ///
    /// The expression is text, or a [`FilterExpression`] with parameters; see [`ContentFilteredTopic`]. The name is
    /// that of the topic with `_filtered` appended.
    ///
    /// # Errors
    /// Fails if the expression is invalid or does not fit the type of the topic: an unknown field, kinds that cannot be
    /// compared, or missing parameters. The error has the position and the next step. It also fails for topics without
    /// a Rust type ([`raw_topic`](Self::raw_topic)).
    #[doc(alias = "create_contentfilteredtopic")]
    pub fn filtered_topic<T>(
        &self,
        topic: &Topic<T>,
        expression: impl Into<FilterExpression>,
    ) -> Result<ContentFilteredTopic<T>, CreateError> {
        let name = FilteredTopic::derived_name(topic.name());
        ContentFilteredTopic::new(topic, name, &expression.into())
    }

    /// As [`filtered_topic`](Self::filtered_topic), with a chosen name.
    ///
    /// # Errors
    /// As there, and [`CreateErrorKind::InvalidTopicName`](crate::error::CreateErrorKind::InvalidTopicName).
    pub fn filtered_topic_named<T>(
        &self,
        name: &str,
        topic: &Topic<T>,
        expression: impl Into<FilterExpression>,
    ) -> Result<ContentFilteredTopic<T>, CreateError> {
        ContentFilteredTopic::new(topic, name.to_owned(), &expression.into())
    }

    /// Always fails, because there is no MultiTopic (DDS 1.4, 2.2.2.3.4).
    ///
    /// The type of its samples would result at run time from an SQL expression over several topics, and no Rust type
    /// represents it. It is an optional part of the standard that never appears on the wire. Use a reader for each
    /// topic with a [filter](Self::filtered_topic), and join their samples by key.
    ///
    /// # Errors
    /// [`CreateErrorKind::MultiTopic`](crate::error::CreateErrorKind::MultiTopic).
    #[doc(alias = "create_multitopic")]
    #[doc(alias = "delete_multitopic")]
    #[doc(alias = "get_subscription_expression")]
    pub fn multi_topic(
        &self,
        name: &str,
        type_name: &str,
        expression: impl Into<FilterExpression>,
    ) -> Result<std::convert::Infallible, CreateError> {
        let _ = (type_name, expression.into());
        let subject = Subject::new("multi-topic", name, Guid::UNKNOWN);
        Err(CreateError::new(&subject, CreateErrorKind::MultiTopic))
    }
}
