//! NACK_FRAG (RTPS 2.5, 8.3.8.10 and 9.4.5.15).
//!
//! ```text
//!  0   12, flags, octetsToNextHeader u16     flags: E 01
//!  4   readerId
//!  8   writerId
//!  12  writerSN         i32, u32
//!  20  fragmentNumberState                   FragmentNumberSet, 8 + 4 per word of the bitmap
//!  ..  count            i32
//! ```
use super::id;
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{FragmentNumberSet, WireError};

/// Fragments of a change that a reader misses (RTPS 2.5, 8.3.8.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NackFrag {
    /// The sending reader.
    pub reader_id: EntityId,
    /// The addressed writer.
    pub writer_id: EntityId,
    /// The change.
    pub writer_sn: SequenceNumber,
    /// The missing fragments, from 1.
    pub fragment_number_state: FragmentNumberSet,
    /// Grows with every new NACK_FRAG.
    pub count: i32,
}

impl NackFrag {
    /// Bytes on the wire.
    #[must_use]
    pub const fn wire_len(&self) -> usize {
        24 + self.fragment_number_state.wire_len()
    }

    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            reader_id: cursor.entity_id()?,
            writer_id: cursor.entity_id()?,
            writer_sn: cursor.valid_sequence_number()?,
            fragment_number_state: FragmentNumberSet::parse(cursor)?,
            count: cursor.i32()?,
        })
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        // 64 bytes are the longest form, with 256 bits.
        let mut fields = Fields::<64>::submessage(id::NACK_FRAG, 0, (self.wire_len() - 4) as u16);
        fields.bytes(self.reader_id.0).bytes(self.writer_id.0).sequence_number(self.writer_sn);
        self.fragment_number_state.put(&mut fields);
        fields.i32(self.count).append_to(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Submessage, assert_layout, parse_one};
    use super::*;
    use crate::wire::WireErrorKind;

    fn example() -> NackFrag {
        let mut fragment_number_state = FragmentNumberSet::empty(4);
        fragment_number_state.insert(4);
        fragment_number_state.insert(6);
        let (reader_id, writer_id) = (EntityId([0, 0, 1, 7]), EntityId([0, 0, 2, 2]));
        NackFrag { reader_id, writer_id, writer_sn: SequenceNumber(3), fragment_number_state, count: 6 }
    }

    const LITTLE: [u8; 36] = *b"\x12\x01\x20\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\x03\0\0\0\
        \x04\0\0\0\x03\0\0\0\0\0\0\xa0\x06\0\0\0";

    #[test]
    fn layout() {
        assert_layout(
            &Submessage::NackFrag(example()),
            &LITTLE,
            b"\x12\0\0\x20\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\x03\xa0\0\0\0\0\0\0\x06",
            |message| message.nack_frag(&example()),
        );
        assert_eq!(example().wire_len(), 36);
    }

    #[test]
    fn nack_frag_rejects_fragment_0() {
        let mut bytes = LITTLE;
        bytes[20..24].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SetRange));
    }

    #[test]
    fn the_longest_set_fits() {
        let mut nack_frag = example();
        nack_frag.fragment_number_state.insert(259);
        let mut bytes = Vec::new();
        nack_frag.build(&mut bytes);
        assert_eq!(bytes.len(), nack_frag.wire_len());
        assert_eq!(parse_one(&bytes), Ok(Submessage::NackFrag(nack_frag)));
    }
}
