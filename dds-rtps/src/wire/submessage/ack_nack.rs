//! ACKNACK (RTPS 2.5, 8.3.8.1 and 9.4.5.3).
//!
//! ```text
//!  0   06, flags, octetsToNextHeader u16     flags: E 01, F 02 final
//!  4   readerId
//!  8   writerId
//!  12  readerSNState                         SequenceNumberSet, 12 + 4 per word of the bitmap
//!  ..  count            i32
//! ```
use super::{FLAG_FINAL, id};
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{SequenceNumberSet, WireError};

/// Received and missing changes of a reader (RTPS 2.5, 8.3.8.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckNack {
    /// The sending reader.
    pub reader_id: EntityId,
    /// The addressed writer.
    pub writer_id: EntityId,
    /// All changes below the base are received; the members are missing.
    pub reader_sn_state: SequenceNumberSet,
    /// Grows with every new ACKNACK.
    pub count: i32,
    /// No answer is required.
    pub is_final: bool,
}

impl AckNack {
    /// Bytes on the wire.
    #[must_use]
    pub const fn wire_len(&self) -> usize {
        16 + self.reader_sn_state.wire_len()
    }

    /// Base 0 is accepted, although the standard requires base 1: Fast DDS begins with `00000000 00000000 00000000`.
    pub(super) fn parse(cursor: &mut Cursor<'_>, flags: u8) -> Result<Self, WireError> {
        // The literal is evaluated in this order, which is that of the wire.
        Ok(Self {
            reader_id: cursor.entity_id()?,
            writer_id: cursor.entity_id()?,
            reader_sn_state: SequenceNumberSet::parse(cursor, SequenceNumber::ZERO)?,
            count: cursor.i32()?,
            is_final: flags & FLAG_FINAL != 0,
        })
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        let flags = if self.is_final { FLAG_FINAL } else { 0 };
        // 60 bytes are the longest form, with 256 bits.
        let mut fields = Fields::<60>::submessage(id::ACKNACK, flags, (self.wire_len() - 4) as u16);
        fields.bytes(self.reader_id.0).bytes(self.writer_id.0);
        self.reader_sn_state.put(&mut fields);
        fields.i32(self.count).append_to(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Submessage, assert_layout, parse_one};
    use super::*;
    use crate::wire::WireErrorKind;

    fn example() -> AckNack {
        let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(5));
        reader_sn_state.insert(SequenceNumber(5));
        reader_sn_state.insert(SequenceNumber(37));
        let (reader_id, writer_id) = (EntityId([0, 0, 1, 7]), EntityId([0, 0, 2, 2]));
        AckNack { reader_id, writer_id, reader_sn_state, count: 0x0102, is_final: true }
    }

    #[test]
    fn layout() {
        assert_layout(
            &Submessage::AckNack(example()),
            b"\x06\x03\x20\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\x05\0\0\0\x21\0\0\0\0\0\0\x80\0\0\0\x80\x02\x01\0\0",
            b"\x06\x02\0\x20\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\x05\0\0\0\x21\x80\0\0\0\x80\0\0\0\0\0\x01\x02",
            |message| message.ack_nack(&example()),
        );
        assert_eq!(example().wire_len(), 36);
    }

    #[test]
    fn base_0_without_bits_is_accepted_from_fast_dds() {
        let mut bytes = b"\x06\x01\x18\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0".to_vec();
        let Ok(Submessage::AckNack(parsed)) = parse_one(&bytes) else { panic!() };
        assert_eq!((parsed.reader_sn_state.base(), parsed.is_final), (SequenceNumber::ZERO, false));
        bytes[12..16].fill(0xff);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SetRange));
    }

    #[test]
    fn the_longest_set_fits() {
        let mut ack_nack = example();
        ack_nack.reader_sn_state.insert(SequenceNumber(260));
        let mut bytes = Vec::new();
        ack_nack.build(&mut bytes);
        assert_eq!(bytes.len(), ack_nack.wire_len());
        assert_eq!(parse_one(&bytes), Ok(Submessage::AckNack(ack_nack)));
    }
}
