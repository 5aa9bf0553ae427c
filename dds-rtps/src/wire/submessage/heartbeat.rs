//! HEARTBEAT (RTPS 2.5, 8.3.8.6 and 9.4.5.7).
//!
//! ```text
//!  0   07, flags, octetsToNextHeader u16     flags: E 01, F 02 final, L 04 liveliness, G 08 group info
//!  4   readerId
//!  8   writerId
//!  12  firstSN          i32, u32
//!  20  lastSN           i32, u32
//!  28  count            i32
//!  32  currentGSN, firstGSN, lastGSN, writerSet, secureWriterSet     if G; not read, not written
//! ```
use super::{FLAG_FINAL, id};
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{WireError, WireErrorKind};

/// What a writer has (RTPS 2.5, 8.3.8.6). `parse` has checked: first is at least 1, last at least first - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The first number that the writer still has.
    pub first_sn: SequenceNumber,
    /// The last number that it has given out; first - 1: it has nothing.
    pub last_sn: SequenceNumber,
    /// Grows with every new HEARTBEAT.
    pub count: i32,
    /// No answer is needed.
    pub is_final: bool,
    /// The writer asserts its liveliness by this.
    pub liveliness: bool,
}

const FLAG_LIVELINESS: u8 = 0x04;

impl Heartbeat {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 32;

    pub(super) fn parse(cursor: &mut Cursor<'_>, flags: u8) -> Result<Self, WireError> {
        let reader_id = cursor.entity_id()?;
        let writer_id = cursor.entity_id()?;
        let first_sn = cursor.valid_sequence_number()?;
        let out_of_range = cursor.error(WireErrorKind::SequenceRange);
        let last_sn = cursor.sequence_number()?;
        if last_sn < first_sn.previous() {
            return Err(out_of_range);
        }
        Ok(Self {
            reader_id,
            writer_id,
            first_sn,
            last_sn,
            count: cursor.i32()?,
            is_final: flags & FLAG_FINAL != 0,
            liveliness: flags & FLAG_LIVELINESS != 0,
        })
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        let is_final = if self.is_final { FLAG_FINAL } else { 0 };
        let liveliness = if self.liveliness { FLAG_LIVELINESS } else { 0 };
        Fields::<{ Self::WIRE_LEN }>::submessage(id::HEARTBEAT, is_final | liveliness, 28)
            .bytes(self.reader_id.0)
            .bytes(self.writer_id.0)
            .sequence_number(self.first_sn)
            .sequence_number(self.last_sn)
            .i32(self.count)
            .append_to(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Submessage, assert_layout, parse_one};
    use super::*;

    const EXAMPLE: Heartbeat = Heartbeat {
        reader_id: EntityId([0, 0, 1, 7]),
        writer_id: EntityId([0, 0, 2, 2]),
        first_sn: SequenceNumber(3),
        last_sn: SequenceNumber(0x1_0000_0004),
        count: -2,
        is_final: false,
        liveliness: true,
    };

    const LITTLE: [u8; 32] =
        *b"\x07\x05\x1c\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\x03\0\0\0\x01\0\0\0\x04\0\0\0\xfe\xff\xff\xff";

    #[test]
    fn layout() {
        assert_layout(
            &Submessage::Heartbeat(EXAMPLE),
            &LITTLE,
            b"\x07\x04\0\x1c\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\x03\0\0\0\x01\0\0\0\x04\xff\xff\xff\xfe",
            |message| message.heartbeat(&EXAMPLE),
        );
    }

    #[test]
    fn last_may_be_one_below_first_and_no_less() {
        let parse = |first: i64, last: i64| {
            let mut bytes = Vec::new();
            Heartbeat { first_sn: SequenceNumber(first), last_sn: SequenceNumber(last), ..EXAMPLE }.build(&mut bytes);
            parse_one(&bytes).map(|_| ())
        };
        assert_eq!(parse(1, 0), Ok(()));
        assert_eq!(parse(5, 4), Ok(()));
        assert_eq!(parse(i64::MAX, i64::MAX), Ok(()));
        assert_eq!(parse(5, 3), Err(WireErrorKind::SequenceRange));
        assert_eq!(parse(1, -1), Err(WireErrorKind::SequenceRange));
        assert_eq!(parse(1, i64::MIN), Err(WireErrorKind::SequenceRange));
        assert_eq!(parse(0, 0), Err(WireErrorKind::SequenceNumber));
        assert_eq!(parse(-1 << 32, 0), Err(WireErrorKind::SequenceNumber));
    }

    #[test]
    fn group_info_is_skipped() {
        let mut bytes = LITTLE.to_vec();
        bytes[1] |= 0x08;
        bytes.extend([7; 32]);
        assert_eq!(parse_one(&bytes), Ok(Submessage::Heartbeat(EXAMPLE)));
    }
}
