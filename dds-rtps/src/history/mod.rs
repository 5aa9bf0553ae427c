//! Payload slots, changes, and the caches of writers and readers.

mod change;
mod limits;
mod local_link;
mod payload;
mod sample_info;
mod sequence_index;
mod writer;

pub use change::{CacheChange, ChangeKind};
pub use limits::HistoryLimits;
pub use local_link::LocalLink;
pub use payload::{Payload, PayloadSource, SlotMut, SlotPool};
pub use sample_info::{InstanceState, SampleInfo, SampleState, ViewState};
pub use writer::{NoRoom, StoredChange, WriterHistory};
