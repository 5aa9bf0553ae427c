//! Payload slots, changes, and the caches of writers and readers.

mod age_list;
mod change;
mod departure;
mod instance;
mod key_store;
mod limits;
mod missed_deadlines;
mod occupancy;
mod origins;
mod ownership;
mod reader;
mod reader_counters;
mod removals;
mod sample_info;
mod sample_list;
mod select;
mod selection;
mod sequence_index;
mod set_ends;
mod source_order;
mod time_filter;
mod timing;
mod unseen;
mod writer;

pub use change::{CacheChange, ChangeKind, OriginalWriterInfo, PresentationInfo};
pub use key_store::KeyPayload;
pub use limits::HistoryLimits;
pub use missed_deadlines::MissedDeadlines;
pub(crate) use occupancy::Occupancy;
pub use reader::{
    Admission, HistorySample, INSTANCES_MAX, ReaderHistory, ReaderHistoryConfig, ReceivedChange, RejectReason,
    RejectedChange, SAMPLES_MAX,
};
pub use reader_counters::ReaderHistoryCounters;
pub use removals::RemovalCounts;
pub use sample_info::{InstanceState, SampleInfo, SampleState, ViewState};
pub use selection::{InstanceSelection, Operation, Selection, SelectionOrder, States};
pub use timing::ReaderTiming;
pub(crate) use unseen::SetRejection;
pub use writer::{HistoryFull, StoredChange, WriterHistory};

#[cfg(test)]
mod tests;
