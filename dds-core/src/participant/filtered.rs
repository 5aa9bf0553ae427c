//! Parts of topics, and why there are no sums of topics (DDS 1.4, 2.2.2.3.3 and 2.2.2.3.4).

use super::DomainParticipant;
use crate::infrastructure::{CreateError, CreateErrorKind, FilterError, Subject};
use crate::topic::{ContentFilteredTopic, FilteredTopic, Topic, texts};
use dds_rtps::types::Guid;

impl DomainParticipant {
    /// A part of a topic: the samples whose contents meet `expression`, with `parameters` for `%0`, `%1`, …; see
    /// [`ContentFilteredTopic`]. It is called like the topic, with `_filtered` behind it.
    ///
    /// # Errors
    /// The expression is none, or does not fit the topic's type: a field that it does not have, kinds that cannot be compared,
    /// parameters that are missing; with the place, and what to do. Topics without a Rust type
    /// ([`raw_topic`](Self::raw_topic), `serde_topic`) have none that an expression could fit.
    #[doc(alias = "create_contentfilteredtopic")]
    pub fn filtered_topic<T>(
        &self,
        topic: &Topic<T>,
        expression: &str,
        parameters: impl IntoIterator<Item: ToString>,
    ) -> Result<ContentFilteredTopic<T>, FilterError> {
        let name = FilteredTopic::derived_name(topic.name());
        ContentFilteredTopic::new(topic, name, expression, &texts(parameters))
    }

    /// As [`filtered_topic`](Self::filtered_topic), under a name of its own.
    ///
    /// # Errors
    /// As there, and [`FilterErrorKind::InvalidTopicName`](crate::FilterErrorKind::InvalidTopicName).
    pub fn filtered_topic_named<T>(
        &self,
        name: &str,
        topic: &Topic<T>,
        expression: &str,
        parameters: impl IntoIterator<Item: ToString>,
    ) -> Result<ContentFilteredTopic<T>, FilterError> {
        ContentFilteredTopic::new(topic, name.to_owned(), expression, &texts(parameters))
    }

    /// There is no MultiTopic (DDS 1.4, 2.2.2.3.4), and this says why: its samples would be of a type that
    /// an SQL expression makes at run time of those of several topics, which no Rust type stands for. It is an optional part of the
    /// standard, which of the products that we know OpenDDS alone has, and is never seen on the wire. Readers of each topic with a
    /// [filter](Self::filtered_topic), joined by key in the application, do the same.
    ///
    /// # Errors
    /// Always: [`CreateErrorKind::MultiTopic`](crate::CreateErrorKind::MultiTopic).
    #[doc(alias = "create_multitopic")]
    #[doc(alias = "delete_multitopic")]
    #[doc(alias = "get_subscription_expression")]
    pub fn multi_topic(
        &self,
        name: &str,
        type_name: &str,
        expression: &str,
        parameters: impl IntoIterator<Item: ToString>,
    ) -> Result<std::convert::Infallible, CreateError> {
        let _ = (type_name, expression, parameters);
        let subject = Subject::new("multi-topic", name, Guid::UNKNOWN);
        Err(CreateError::new(&subject, CreateErrorKind::MultiTopic))
    }
}
