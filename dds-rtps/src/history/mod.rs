//! Payload slots, changes, and the caches of writers and readers.

mod change;
mod payload;
mod sample_info;

pub use change::{CacheChange, ChangeKind};
pub use payload::{Payload, PayloadSource, SlotMut, SlotPool};
pub use sample_info::{InstanceState, SampleInfo, SampleState, ViewState};
