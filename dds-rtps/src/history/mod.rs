//! The history caches of writers and readers (RTPS 2.5, 8.2.2).
//!
//! | part | owns |
//! |---|---|
//! | `change` | [`CacheChange`]: one entry of a cache |
//! | `writer` | [`WriterHistory`]: changes by sequence number and by instance |
//! | `reader` | [`ReaderHistory`]: samples by instance, with their DDS states |
//! | `limits` | HISTORY and RESOURCE_LIMITS as numbers |
//! | `key_store` | payloads to decode the keys of instances from |
//! | `age_list`, `missed_deadlines` | instances by age, for DEADLINE and READER_DATA_LIFECYCLE |
//!
//! A cache belongs to one thread at a time. Payloads are shared; they live in [`concurrent`](crate::concurrent).

mod age_list;
mod change;
mod key_store;
mod limits;
mod missed_deadlines;
mod reader;
mod writer;

pub use change::{CacheChange, ChangeKind, OriginalWriterInfo, PresentationInfo};
pub use key_store::KeyPayload;
pub use limits::HistoryLimits;
pub use missed_deadlines::MissedDeadlines;
pub use reader::{
    Admission, HistorySample, INSTANCES_MAX, InstanceSelection, InstanceState, Operation, ReaderHistory,
    ReaderHistoryConfig, ReaderHistoryCounters, ReaderLatencies, ReaderTiming, ReceivedChange, RejectReason,
    RejectedChange, RemovalCounts, SAMPLES_MAX, SampleInfo, SampleState, Selection, SelectionOrder, States, ViewState,
};
pub(crate) use reader::{Occupancy, SetRejection};
pub use writer::{HistoryFull, StoredChange, WriterHistory};
