//! Payload slots, changes, and the caches of writers and readers.

mod age_list;
mod change;
mod departure;
mod instance;
mod key_store;
mod limits;
mod local_link;
mod missed_deadlines;
mod occupancy;
mod origins;
mod ownership;
mod payload;
mod presentation_clock;
mod pulse;
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
mod sync;
mod time_filter;
mod timing;
mod unseen;
mod writer;

pub use change::{CacheChange, ChangeKind, GroupPosition, Origin, Presented};
pub use key_store::KeyPayload;
pub use limits::HistoryLimits;
pub use local_link::LocalLink;
pub use missed_deadlines::MissedDeadlines;
pub(crate) use occupancy::Occupancy;
pub use payload::{Payload, PayloadSource, SlotMut, SlotPool, SlotRing};
pub(crate) use presentation_clock::Stamp;
pub use presentation_clock::{EndedSet, PresentationClock};
pub use pulse::Pulse;
pub use reader::{
    Admission, HistorySample, INSTANCES_MAX, ReaderHistory, ReaderHistoryConfig, ReceivedChange, Refused, RejectReason,
    SAMPLES_MAX,
};
pub use reader_counters::ReaderHistoryCounters;
pub use removals::Removed;
pub use sample_info::{InstanceState, SampleInfo, SampleState, ViewState};
pub use selection::{InstanceSelection, Operation, Selection, SelectionOrder, States};
pub use timing::ReaderTiming;
pub(crate) use unseen::Misfit;
pub use writer::{NoRoom, StoredChange, WriterHistory};

#[cfg(test)]
mod tests;
