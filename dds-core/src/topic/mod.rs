//! Topics: how they are named and what they remember (DDS 1.4, 2.2.2.3).

mod topic_ref;

pub use topic_ref::TopicRef;
pub(crate) use topic_ref::TopicTable;
