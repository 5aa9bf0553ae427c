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
        let fields = Fields::<64>::submessage(id::GAP, 0, (self.wire_len() - 4) as u16);
        let fields = fields.bytes(self.reader_id.0).bytes(self.writer_id.0).sequence_number(self.gap_start);
        self.gap_list.put(fields).append_to(buffer);
    }
}
