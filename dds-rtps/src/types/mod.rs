//! Identifiers, times and locators that all other modules use. No behavior beyond conversion and arithmetic.

#[cfg(feature = "serde")]
mod duration_text;
mod entity_id;
mod guid;
mod hash_seed;
mod ip_families;
mod latency_histogram;
mod locator;
mod port_mapping;
mod ranking;
mod sequence_number;
mod split_mix;
mod time;
mod traffic_class;
mod vendor_id;
mod windowed_min;

pub use entity_id::{EntityId, EntityKind};
pub use guid::{Guid, GuidPrefix};
pub use hash_seed::{HashSeed, KeyedState};
pub use ip_families::IpFamilies;
pub use latency_histogram::LatencyHistogram;
pub use locator::{Locator, LocatorKind};
pub use port_mapping::{ParticipantPorts, PortMapping};
pub(crate) use ranking::{DueHeap, Ranking};
pub use sequence_number::SequenceNumber;
pub use split_mix::SplitMix64;
pub(crate) use time::earliest;
pub use time::{Duration, Instant, Now, Time};
pub use traffic_class::TrafficClass;
pub use vendor_id::{ProtocolVersion, VendorId};
pub(crate) use windowed_min::WindowedMin;

pub use dds_cdr::InstanceHandle;
#[doc(hidden)]
pub use dds_cdr::similar;
