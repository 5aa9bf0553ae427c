//! One file per submessage (RTPS 2.5, 8.3.8 and 9.4.5): its layout, its struct, `parse` and `build`.
//!
//! ```text
//!  0   submessageId u8
//!  1   flags        u8       E 01: the rest is little endian; other flags depend on the submessage
//!  2   octetsToNextHeader u16    bytes of the body; 0: see [`Submessages`](super::Submessages)
//!  4   body
//! ```
//!
//! Bodies may be longer than the known fields; the rest is skipped.

mod ack_nack;
mod data;
mod data_frag;
mod gap;
mod header_extension;
mod heartbeat;
mod heartbeat_frag;
pub mod id;
mod info_reply;
mod info_source;
mod nack_frag;

pub use ack_nack::AckNack;
pub use data::{Data, DataHeader, PayloadKind, SerializedPayload};
pub use data_frag::{DataFrag, DataFragHeader};
pub use gap::{Gap, GapGroupInfo};
pub(super) use header_extension::FLAGS_CHECKSUM;
pub use header_extension::HeaderExtension;
pub use heartbeat::{Heartbeat, HeartbeatGroupInfo};
pub use heartbeat_frag::HeartbeatFrag;
pub use info_reply::{InfoReply, LocatorList};
pub use info_source::InfoSource;
pub use nack_frag::NackFrag;

use super::cursor::Cursor;
use super::{Header, WireError};
use crate::types::{EntityId, GuidPrefix, Time};

/// A submessage that borrows from the datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Submessage<'a> {
    /// Received and missing changes of a reader.
    AckNack(AckNack),
    /// A change.
    Data(Data<'a>),
    /// A part of a large change.
    DataFrag(DataFrag<'a>),
    /// Irrelevant sequence numbers.
    Gap(Gap),
    /// Sequence numbers of a writer's history.
    Heartbeat(Heartbeat),
    /// Fragments that a writer has sent.
    HeartbeatFrag(HeartbeatFrag),
    /// Fragments that a reader misses.
    NackFrag(NackFrag),
    /// Extension of the message header; valid as the first submessage only.
    HeaderExtension(HeaderExtension<'a>),
    /// Source timestamp of the following submessages; `None` invalidates it. Never [`Time::INVALID`].
    InfoTimestamp(Option<Time>),
    /// Destination of the following submessages; [`GuidPrefix::UNKNOWN`] for all.
    InfoDestination(GuidPrefix),
    /// Source of the following submessages.
    InfoSource(InfoSource),
    /// Destination of answers: INFO_REPLY or INFO_REPLY_IP4.
    InfoReply(InfoReply<'a>),
    /// A skipped submessage: unknown, of a vendor, of DDS Security, a PAD, or a HEADER_EXTENSION that is not the
    /// first.
    Skipped {
        /// Its id.
        id: u8,
    },
}

/// The rest of the submessage is little endian.
pub(super) const FLAG_LITTLE_ENDIAN: u8 = 0x01;
/// ACKNACK, HEARTBEAT: no answer is required.
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
            id::GAP => Self::Gap(Gap::parse(body, flags)?),
            id::HEARTBEAT => Self::Heartbeat(Heartbeat::parse(body, flags)?),
            id::HEARTBEAT_FRAG => Self::HeartbeatFrag(HeartbeatFrag::parse(body)?),
            id::NACK_FRAG => Self::NackFrag(NackFrag::parse(body)?),
            id::INFO_TS if flags & FLAG_INVALIDATE != 0 => Self::InfoTimestamp(None),
            id::INFO_TS => {
                let seconds = body.u32()?;
                let time = Time::from_wire(seconds, body.u32()?);
                Self::InfoTimestamp(if time.is_valid() { Some(time) } else { None })
            }
            id::INFO_DST => Self::InfoDestination(body.guid_prefix()?),
            id::INFO_SRC => Self::InfoSource(InfoSource::parse(body)?),
            id::INFO_REPLY => Self::InfoReply(InfoReply::parse(body, flags)?),
            id::INFO_REPLY_IP4 => Self::InfoReply(InfoReply::parse_ip4(body, flags)?),
            // Elsewhere it has no meaning, so it is skipped like an unknown submessage.
            id::HEADER_EXTENSION if body.offset() <= Header::WIRE_LEN + 4 => {
                Self::HeaderExtension(HeaderExtension::parse(body, flags)?)
            }
            // Later minor versions and vendors add submessages (RTPS 2.5, 8.3.4.1).
            id => Self::Skipped { id },
        })
    }
}

impl Submessage<'_> {
    /// Returns the sending writer and the addressed reader, [`EntityId::UNKNOWN`] for all; `None` if no writer sent
    /// it.
    #[inline]
    #[must_use]
    pub fn writer_and_reader(&self) -> Option<(EntityId, EntityId)> {
        match self {
            Self::Data(data) => Some((data.writer_id, data.reader_id)),
            Self::DataFrag(data) => Some((data.writer_id, data.reader_id)),
            Self::Heartbeat(heartbeat) => Some((heartbeat.writer_id, heartbeat.reader_id)),
            Self::HeartbeatFrag(heartbeat) => Some((heartbeat.writer_id, heartbeat.reader_id)),
            Self::Gap(gap) => Some((gap.writer_id, gap.reader_id)),
            _ => None,
        }
    }
}

/// Parses a submessage from its header on.
#[cfg(test)]
fn parse_one(bytes: &[u8]) -> Result<Submessage<'_>, super::WireErrorKind> {
    let (header, body) = bytes.split_at(4);
    let little_endian = header[1] & FLAG_LITTLE_ENDIAN != 0;
    Submessage::parse(header[0], header[1], &mut Cursor::new(body, 24, little_endian)).map_err(|error| error.kind)
}

/// Checks a submessage whose fields have no freedom: it is parsed in either byte order, built in little endian, and
/// each of its bytes is needed.
#[cfg(test)]
fn assert_layout(
    value: &Submessage<'_>,
    little: &[u8],
    big: &[u8],
    build: impl FnOnce(&mut super::MessageBuilder<'_>),
) {
    assert_eq!(parse_one(little).as_ref(), Ok(value));
    assert_eq!(parse_one(big).as_ref(), Ok(value));
    let mut built = Vec::new();
    build(&mut super::MessageBuilder::new(&mut built));
    assert_eq!(built, little);
    for bytes in [little, big] {
        for len in 4..bytes.len() {
            assert_eq!(parse_one(&bytes[..len]), Err(super::WireErrorKind::Truncated), "{len} bytes");
        }
        let longer = [bytes, &[0xee; 7]].concat();
        assert_eq!(parse_one(&longer).as_ref(), Ok(value), "a newer minor version may have more fields");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ProtocolVersion, VendorId};
    use crate::wire::WireErrorKind;

    #[test]
    fn info_ts_layout() {
        let time = Time::from_unix_nanos(0x0102_0304 * 1_000_000_000 + 500_000_000);
        assert_layout(
            &Submessage::InfoTimestamp(Some(time)),
            &[9, 1, 8, 0, 4, 3, 2, 1, 0, 0, 0, 0x80],
            &[9, 0, 0, 8, 1, 2, 3, 4, 0x80, 0, 0, 0],
            |message| message.info_ts(Some(time)),
        );
        assert_layout(&Submessage::InfoTimestamp(None), &[9, 3, 0, 0], &[9, 2, 0, 0], |message| message.info_ts(None));
    }

    #[test]
    fn invalid_timestamp_parses_as_absent() {
        assert_eq!(
            parse_one(&[9, 1, 8, 0, 255, 255, 255, 255, 255, 255, 255, 255]),
            Ok(Submessage::InfoTimestamp(None))
        );
    }

    #[test]
    fn info_dst_layout() {
        let prefix = GuidPrefix(*b"abcdefghijkl");
        assert_layout(
            &Submessage::InfoDestination(prefix),
            b"\x0e\x01\x0c\0abcdefghijkl",
            b"\x0e\0\0\x0cabcdefghijkl",
            |message| message.info_dst(prefix),
        );
    }

    #[test]
    fn info_src_layout() {
        let version = ProtocolVersion { major: 2, minor: 3 };
        let source = InfoSource { version, vendor: VendorId::RTI, prefix: GuidPrefix(*b"abcdefghijkl") };
        assert_layout(
            &Submessage::InfoSource(source),
            b"\x0c\x01\x14\0\0\0\0\0\x02\x03\x01\x01abcdefghijkl",
            b"\x0c\0\0\x14\0\0\0\0\x02\x03\x01\x01abcdefghijkl",
            |message| message.info_src(&source),
        );
        assert_eq!(
            parse_one(b"\x0c\x01\x14\0\0\0\0\0\x03\x00\x01\x01abcdefghijkl"),
            Err(WireErrorKind::UnsupportedVersion(ProtocolVersion { major: 3, minor: 0 }))
        );
    }
}
