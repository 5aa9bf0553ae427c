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
