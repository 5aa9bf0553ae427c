//! GAP (RTPS 2.5, 8.3.8.4 and 9.4.5.6).
//!
//! ```text
//!  0   08, flags, octetsToNextHeader u16     flags: E 01, G 02 group info, F 04 filtered count
//!  4   readerId
//!  8   writerId
//!  12  gapStart         i32, u32
//!  20  gapList                               SequenceNumberSet, 12 + 4 per word of the bitmap
//!  ..  gapStartGSN      i32, u32             if G
//!  ..  gapEndGSN        i32, u32             if G
//!  ..  filteredCount    i32, u32             if F
//! ```
use super::id;
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{SequenceNumberSet, WireError};

/// Irrelevant sequence numbers (RTPS 2.5, 8.3.8.4): those from `gap_start` to just below the base of `gap_list`, and
/// the members of `gap_list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The addressed reader.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// First sequence number of the run.
    pub gap_start: SequenceNumber,
    /// End of the run, and single sequence numbers behind it.
    pub gap_list: SequenceNumberSet,
    /// The same run in group sequence numbers; sent by writers of a Publisher with GROUP presentation.
    pub group_info: Option<GapGroupInfo>,
    /// Number of changes that the reader's content filter rejects. It is not verified.
    pub filtered_count: Option<i64>,
}

/// Irrelevant group sequence numbers. They are not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GapGroupInfo {
    /// First group sequence number of the run.
    pub start_gsn: SequenceNumber,
    /// Last group sequence number of the run.
    pub end_gsn: SequenceNumber,
}

const FLAG_GROUP_INFO: u8 = 0x02;
const FLAG_FILTERED_COUNT: u8 = 0x04;

impl Gap {
    /// Bytes on the wire.
    #[must_use]
    pub const fn wire_len(&self) -> usize {
        let group_info_len = if self.group_info.is_some() { 16 } else { 0 };
        let filtered_count_len = if self.filtered_count.is_some() { 8 } else { 0 };
        20 + self.gap_list.wire_len() + group_info_len + filtered_count_len
    }

    /// A base below `gap_start` is valid: then the run is empty.
    pub(super) fn parse(cursor: &mut Cursor<'_>, flags: u8) -> Result<Self, WireError> {
        let mut gap = Self {
            reader_id: cursor.entity_id()?,
            writer_id: cursor.entity_id()?,
            gap_start: cursor.valid_sequence_number()?,
            gap_list: SequenceNumberSet::parse(cursor, SequenceNumber::FIRST)?,
            group_info: None,
            filtered_count: None,
        };
        if flags & FLAG_GROUP_INFO != 0 {
            gap.group_info = Some(GapGroupInfo::parse(cursor)?);
        }
        if flags & FLAG_FILTERED_COUNT != 0 {
            // A high and a low word, as in a sequence number.
            gap.filtered_count = Some(cursor.sequence_number()?.0);
        }
        Ok(gap)
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        let group_info = if self.group_info.is_some() { FLAG_GROUP_INFO } else { 0 };
        let filtered_count = if self.filtered_count.is_some() { FLAG_FILTERED_COUNT } else { 0 };
        // 88 bytes are the longest form, with 256 bits and both optional parts.
        let mut fields = Fields::<88>::submessage(id::GAP, group_info | filtered_count, (self.wire_len() - 4) as u16);
        fields.bytes(self.reader_id.0).bytes(self.writer_id.0).sequence_number(self.gap_start);
        self.gap_list.put(&mut fields);
        if let Some(GapGroupInfo { start_gsn, end_gsn }) = self.group_info {
            fields.sequence_number(start_gsn).sequence_number(end_gsn);
        }
        if let Some(count) = self.filtered_count {
            fields.sequence_number(SequenceNumber(count));
        }
        fields.append_to(buffer);
    }
}

impl GapGroupInfo {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self { start_gsn: cursor.sequence_number()?, end_gsn: cursor.sequence_number()? })
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
        let gap_start = SequenceNumber(0x1_0000_0002);
        Gap { reader_id, writer_id, gap_start, gap_list, group_info: None, filtered_count: None }
    }

    const LITTLE: &[u8] =
        b"\x08\x01\x20\0\0\0\x01\x07\0\0\x02\x02\x01\0\0\0\x02\0\0\0\0\0\0\0\x09\0\0\0\x03\0\0\0\0\0\0\x20";

    #[test]
    fn layout() {
        assert_layout(&Submessage::Gap(example()), LITTLE, BIG, |message| message.gap(&example()));
        assert_eq!(example().wire_len(), 36);
    }

    const BIG: &[u8] =
        b"\x08\0\0\x20\0\0\x01\x07\0\0\x02\x02\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x09\0\0\0\x03\x20\0\0\0";

    #[test]
    fn layout_with_group_info_and_filtered_count() {
        let group_info = Some(GapGroupInfo { start_gsn: SequenceNumber(0x3_0000_0004), end_gsn: SequenceNumber(5) });
        let numbers = b"\x03\0\0\0\x04\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x06\0\0\0";
        for (group_info, filtered_count, flags, numbers) in [
            (group_info, None, 0x02, &numbers[..16]),
            (None, Some(6), 0x04, &numbers[16..]),
            (group_info, Some(6), 0x06, &numbers[..]),
        ] {
            let gap = Gap { group_info, filtered_count, ..example() };
            let (mut little, mut big) = (LITTLE.to_vec(), BIG.to_vec());
            let body_len = 32 + numbers.len() as u8;
            little[1..3].copy_from_slice(&[flags | 1, body_len]);
            little.extend(numbers);
            big[1..4].copy_from_slice(&[flags, 0, body_len]);
            big.extend(numbers.chunks_exact(4).flat_map(|word| word.iter().rev()));
            assert_layout(&Submessage::Gap(gap.clone()), &little, &big, |message| message.gap(&gap));
            assert_eq!(little.len(), gap.wire_len());
        }
    }

    #[test]
    fn gap_before_the_first_number_is_rejected() {
        let mut bytes = LITTLE.to_vec();
        bytes[12..20].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SequenceNumber));
        let mut bytes = LITTLE.to_vec();
        bytes[20..28].fill(0);
        assert_eq!(parse_one(&bytes), Err(WireErrorKind::SetRange));
    }
}
