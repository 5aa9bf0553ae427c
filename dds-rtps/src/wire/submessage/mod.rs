//! One file per submessage (RTPS 2.5, 8.3.8 and 9.4.5).

mod ack_nack;
mod data;
mod data_frag;
mod gap;
mod heartbeat;
mod heartbeat_frag;
mod nack_frag;

pub use ack_nack::AckNack;
pub use data::{Data, SerializedPayload};
pub use data_frag::DataFrag;
pub use gap::Gap;
pub use heartbeat::Heartbeat;
pub use heartbeat_frag::HeartbeatFrag;
pub use nack_frag::NackFrag;

use crate::types::{GuidPrefix, Time};

/// One submessage, borrowing from the datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Submessage<'a> {
    /// A reader says what it has and what it misses.
    AckNack(AckNack),
    /// A change.
    Data(Data<'a>),
    /// A part of a large change.
    DataFrag(DataFrag<'a>),
    /// Numbers that will never come.
    Gap(Gap),
    /// What a writer has.
    Heartbeat(Heartbeat),
    /// Which fragments a writer has.
    HeartbeatFrag(HeartbeatFrag),
    /// Which fragments a reader misses.
    NackFrag(NackFrag),
    /// The source timestamp of what follows; `None` invalidates it.
    InfoTimestamp(Option<Time>),
    /// For whom the following is; [`GuidPrefix::UNKNOWN`] for everybody.
    InfoDestination(GuidPrefix),
    /// A submessage that is skipped by its length.
    Skipped {
        /// Its id.
        id: u8,
    },
}
