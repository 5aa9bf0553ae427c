//! Topics: how they are named and what they remember (DDS 1.4, 2.2.2.3).

#[expect(clippy::module_inception, reason = "a file has one noun, and this one's is the room's")]
mod topic;
mod topic_ref;
mod topic_spec;

pub use topic::Topic;
pub use topic_ref::TopicRef;
pub(crate) use topic_ref::TopicTable;
pub use topic_spec::TopicSpec;
