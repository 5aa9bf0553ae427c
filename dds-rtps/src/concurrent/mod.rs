//! Objects that several threads use at once.
//!
//! These are the only objects of this crate with atomics, and with locks beside [`transport`](crate::transport) and the
//! in-place reception of fragments in [`reader`](crate::reader). The rest are state machines that one thread at a time
//! owns. Under `--cfg dds_loom` the atomics are those of loom, which checks every interleaving; the models are in
//! `dds-core`.
//!
//! | object | shared between |
//! |---|---|
//! | [`Payload`], [`SlotPool`], [`BorrowedPool`] | the owners of a sample, and the pool that reuses its memory |
//! | [`AssertionClock`] | the writers of a participant that assert liveliness, and the leases that this renews |
//! | [`LocalLink`] | a writer and a reader of the same participant |
//! | [`PresentationClock`] | the writers of a publisher |

mod assertion_clock;
mod borrowed;
mod local_link;
mod payload;
mod presentation_clock;
mod slot_pool;
mod sync;

pub use assertion_clock::AssertionClock;
pub use borrowed::{BorrowedBytes, BorrowedMut, BorrowedPool};
pub use local_link::LocalLink;
pub use payload::{Payload, PayloadSource, SlotMut};
pub(crate) use presentation_clock::PresentationStamp;
pub use presentation_clock::{EndedSet, GroupPosition, PresentationClock};
pub use slot_pool::{SlotPool, SlotRing};
