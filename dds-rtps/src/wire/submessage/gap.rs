//! GAP (RTPS 2.5, 8.3.8.4 and 9.4.5.6).
//!
//! ```text
//!  0   08, flags, octetsToNextHeader u16     flags: E 01, G 02 group info, F 04 filtered count
//!  4   readerId
//!  8   writerId
//!  12  gapStart         i32, u32
//!  20  gapList                               SequenceNumberSet, 12 + 4 per word of the bitmap
//!  ..  gapStartGSN, gapEndGSN                if G; not read, not written
//!  ..  filteredCount                         if F; not read, not written
//! ```
use super::id;
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{SequenceNumberSet, WireError};

/// Numbers that are no longer relevant for the reader (RTPS 2.5, 8.3.8.4): those from `gap_start` to just below the base
/// of `gap_list`, and the members of `gap_list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The reader it is for.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The first number of the run.
    pub gap_start: SequenceNumber,
    /// Where the run ends, and single numbers after it.
    pub gap_list: SequenceNumberSet,
}

impl Gap {
    /// Bytes on the wire.
    #[must_use]
    pub const fn wire_len(&self) -> usize {
        20 + self.gap_list.wire_len()
    }

    /// A base below `gap_start` is legal: the run is empty then.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            reader_id: cursor.entity_id()?,
            writer_id: cursor.entity_id()?,
            gap_start: cursor.valid_sequence_number()?,
            gap_list: SequenceNumberSet::parse(cursor, SequenceNumber::FIRST)?,
        })
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        let mut fields = Fields::<64>::submessage(id::GAP, 0, (self.wire_len() - 4) as u16);
        fields.bytes(self.reader_id.0).bytes(self.writer_id.0).sequence_number(self.gap_start);
        self.gap_list.put(&mut fields);
        fields.append_to(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Submessage, assert_layout, parse_one};
    use super::*;
    use crate::wire::WireErrorKind;

    fn example() -> Gap {
        let mut gap_list = SequenceNumberSet::empty(SequenceNumber(9));
        gap_list.insert(SequenceNumber(11));
        let (reader_id, writer_id) = (EntityId([0, 0, 1, 7]), EntityId([0, 0, 2, 2]));
        Gap { reader_id, writer_id, gap_start: SequenceNumber(0x1_0000_0002), gap_list }
    }

    const LITTLE: &[u8] =
        b"\x08\x01\x20\0\0\0\x01\x07\0\0\x02\x02\x01\0\0\0\x02\0\0\0\0\0\0\0\x09\0\0\0\x03\0\0\0\0\0\0\x20";

    #[test]
    fn layout() {
        assert_layout(
            &Submessage::Gap(example()),
            LITTLE,
            b"\x08\0\0\x20\0\0\x01\x07\0\0\x02\x02\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x09\0\0\0\x03\x20\0\0\0",
            |message| message.gap(&example()),
        );
        assert_eq!(example().wire_len(), 36);
    }

    #[test]
    fn a_gap_before_the_first_number_is_refused() {
        let mut bytes = LITTLE.to_vec();
        bytes[12..20].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SequenceNumber));
        let mut bytes = LITTLE.to_vec();
        bytes[20..28].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SetRange));
    }
}
