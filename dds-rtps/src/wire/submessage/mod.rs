//! One file per submessage (RTPS 2.5, 8.3.8 and 9.4.5): its layout, its struct, `parse` and `build`.
//!
//! ```text
//!  0   submessageId u8
//!  1   flags        u8       E 01: everything behind is little endian; the others are the submessage's own
//!  2   octetsToNextHeader u16    bytes of the body; 0: see [`Submessages`](super::Submessages)
//!  4   body
//! ```
//!
//! Bodies may be longer than the fields that are known here: the rest is skipped.

mod ack_nack;
mod data;
mod data_frag;
mod gap;
mod heartbeat;
mod heartbeat_frag;
pub mod id;
mod info_source;
mod nack_frag;

pub use ack_nack::AckNack;
pub use data::{Data, DataHeader, PayloadKind, SerializedPayload};
pub use data_frag::{DataFrag, DataFragHeader};
pub use gap::Gap;
pub use heartbeat::Heartbeat;
pub use heartbeat_frag::HeartbeatFrag;
pub use info_source::InfoSource;
pub use nack_frag::NackFrag;

use super::WireError;
use super::cursor::Cursor;
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
    /// The source timestamp of what follows; `None` invalidates it. Never [`Time::INVALID`].
    InfoTimestamp(Option<Time>),
    /// For whom the following is; [`GuidPrefix::UNKNOWN`] for everybody.
    InfoDestination(GuidPrefix),
    /// Who wrote what follows.
    InfoSource(InfoSource),
    /// A submessage that is skipped by its length: unknown, a vendor's, DDS Security's, or of no use here (PAD,
    /// HEADER_EXTENSION, INFO_REPLY and INFO_REPLY_IP4: answers go to the locators that discovery tells).
    Skipped {
        /// Its id.
        id: u8,
    },
}

/// The rest of the submessage is little endian.
pub(super) const FLAG_LITTLE_ENDIAN: u8 = 0x01;
/// ACKNACK, HEARTBEAT: no answer is needed.
const FLAG_FINAL: u8 = 0x02;
/// DATA, DATA_FRAG: there is inline QoS.
const FLAG_INLINE_QOS: u8 = 0x02;
/// INFO_TS: there is no timestamp.
pub(super) const FLAG_INVALIDATE: u8 = 0x02;

impl<'a> Submessage<'a> {
    /// Reads the body of a submessage.
    pub(super) fn parse(id: u8, flags: u8, body: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(match id {
            id::ACKNACK => Self::AckNack(AckNack::parse(body, flags)?),
            id::DATA => Self::Data(Data::parse(body, flags)?),
            id::DATA_FRAG => Self::DataFrag(DataFrag::parse(body, flags)?),
            id::GAP => Self::Gap(Gap::parse(body)?),
            id::HEARTBEAT => Self::Heartbeat(Heartbeat::parse(body, flags)?),
            id::HEARTBEAT_FRAG => Self::HeartbeatFrag(HeartbeatFrag::parse(body)?),
            id::NACK_FRAG => Self::NackFrag(NackFrag::parse(body)?),
            id::INFO_TS if flags & FLAG_INVALIDATE != 0 => Self::InfoTimestamp(None),
            id::INFO_TS => {
                let seconds = body.u32()?;
                Self::InfoTimestamp(Some(Time::from_wire(seconds, body.u32()?)).filter(|time| time.is_valid()))
            }
            id::INFO_DST => Self::InfoDestination(body.guid_prefix()?),
            id::INFO_SRC => Self::InfoSource(InfoSource::parse(body)?),
            id => Self::Skipped { id },
        })
    }
}
