//! Topics: their names, types and QoS (DDS 1.4, 2.2.2.3).
//!
//! In: names, types, filters. Out: topics, and data of the built-in topics. Owned: the type of each topic name.

mod builtin_data;
mod builtin_topic;
mod events;
mod filter_expression;
mod filtered;
#[cfg(feature = "derive")]
mod latency_report;
#[expect(clippy::module_inception, reason = "a file has one noun, and this one's is the room's")]
mod topic;
mod topic_ref;
mod topic_spec;
mod type_graphs;

pub use builtin_data::{
    ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, TopicBuiltinTopicData,
};
pub(crate) use builtin_data::{topic_key, topic_qos_of_reader, topic_qos_of_writer};
pub(crate) use builtin_topic::BuiltinKind;
pub use builtin_topic::BuiltinTopic;
pub use filter_expression::FilterExpression;
pub use filtered::ContentFilteredTopic;
pub(crate) use filtered::{FilteredReader, FilteredTopic, compile, described, texts};
#[cfg(feature = "derive")]
pub use latency_report::{LatencyBucket, LatencyKind, LatencyReport};
pub use topic::{Topic, TopicListener};
pub(crate) use topic::{TopicContext, TopicHandle};
pub use topic_ref::TopicRef;
pub(crate) use topic_ref::TopicTable;
pub(crate) use topic_spec::SpecPolicies;
pub use topic_spec::TopicSpec;
