//! HEARTBEAT_FRAG (RTPS 2.5, 8.3.8.7 and 9.4.5.8).
//!
//! ```text
//!  0   13, flags, octetsToNextHeader u16     flags: E 01
//!  4   readerId
//!  8   writerId
//!  12  writerSN         i32, u32
//!  20  lastFragmentNum  u32, from 1
//!  24  count            i32
//! ```
use super::id;
use crate::types::{EntityId, SequenceNumber};
use crate::wire::WireError;
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;

/// Fragments of a change that the writer has sent so far (RTPS 2.5, 8.3.8.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatFrag {
    /// The addressed reader; [`EntityId::UNKNOWN`] for all matched readers.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change.
    pub writer_sn: SequenceNumber,
    /// The last available fragment, from 1.
    pub last_fragment_num: u32,
    /// Grows with every new HEARTBEAT_FRAG.
    pub count: i32,
}

impl HeartbeatFrag {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 28;

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        // The literal is evaluated in this order, which is that of the wire.
        Ok(Self {
            reader_id: cursor.entity_id()?,
            writer_id: cursor.entity_id()?,
            writer_sn: cursor.valid_sequence_number()?,
            last_fragment_num: cursor.fragment_number()?,
            count: cursor.i32()?,
        })
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        Fields::<{ Self::WIRE_LEN }>::submessage(id::HEARTBEAT_FRAG, 0, 24)
            .bytes(self.reader_id.0)
            .bytes(self.writer_id.0)
            .sequence_number(self.writer_sn)
            .u32(self.last_fragment_num)
            .i32(self.count)
            .append_to(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Submessage, assert_layout, parse_one};
    use super::*;
    use crate::wire::WireErrorKind;

    const EXAMPLE: HeartbeatFrag = HeartbeatFrag {
        reader_id: EntityId([0, 0, 1, 7]),
        writer_id: EntityId([0, 0, 2, 2]),
        writer_sn: SequenceNumber(3),
        last_fragment_num: 0x0102,
        count: 6,
    };

    const LITTLE: [u8; 28] = *b"\x13\x01\x18\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\x03\0\0\0\x02\x01\0\0\x06\0\0\0";

    #[test]
    fn layout() {
        assert_layout(
            &Submessage::HeartbeatFrag(EXAMPLE),
            &LITTLE,
            b"\x13\0\0\x18\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\x03\0\0\x01\x02\0\0\0\x06",
            |message| message.heartbeat_frag(&EXAMPLE),
        );
    }

    #[test]
    fn heartbeat_frag_rejects_number_0() {
        let mut bytes = LITTLE;
        bytes[20..24].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::FragmentNumber));
        bytes[12..20].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SequenceNumber));
    }
}
