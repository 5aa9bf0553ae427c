//! HEARTBEAT (RTPS 2.5, 8.3.8.6 and 9.4.5.7).
//!
//! ```text
//!  0   07, flags, octetsToNextHeader u16     flags: E 01, F 02 final, L 04 liveliness, G 08 group info
//!  4   readerId
//!  8   writerId
//!  12  firstSN          i32, u32
//!  20  lastSN           i32, u32
//!  28  count            i32
//!  32  currentGSN       i32, u32             if G, and so the rest
//!  40  firstGSN         i32, u32
//!  48  lastGSN          i32, u32
//!  56  writerSet        4 octets
//!  60  secureWriterSet  4 octets
//! ```
use super::{FLAG_FINAL, id};
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{WireError, WireErrorKind};

/// Sequence numbers of a writer's history (RTPS 2.5, 8.3.8.6). `parse` has checked that first is at least 1 and last
/// at least first - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The addressed reader; [`EntityId::UNKNOWN`] for all matched readers.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// First sequence number that the writer still has.
    pub first_sn: SequenceNumber,
    /// Last sequence number of the writer; first - 1 if its history is empty.
    pub last_sn: SequenceNumber,
    /// Grows with every new HEARTBEAT.
    pub count: i32,
    /// No answer is required.
    pub is_final: bool,
    /// The HEARTBEAT asserts the writer's liveliness.
    pub liveliness: bool,
    /// Group sequence numbers; sent by writers of a Publisher with GROUP presentation.
    pub group_info: Option<HeartbeatGroupInfo>,
}

/// Group sequence numbers of the writers of one Publisher. They are not verified, because no change is removed or
/// requested by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeartbeatGroupInfo {
    /// Last group sequence number of the group.
    pub current_gsn: SequenceNumber,
    /// Group sequence number of the first sample that this writer still has.
    pub first_gsn: SequenceNumber,
    /// Group sequence number of the last sample of this writer.
    pub last_gsn: SequenceNumber,
    /// Digest of the writers of the group.
    pub writer_set: [u8; 4],
    /// Digest of the writers of the group that DDS Security protects.
    pub secure_writer_set: [u8; 4],
}

const FLAG_LIVELINESS: u8 = 0x04;
const FLAG_GROUP_INFO: u8 = 0x08;

impl Heartbeat {
    /// Bytes on the wire, without group info.
    pub const WIRE_LEN: usize = 32;
    /// Bytes on the wire with group info.
    pub const WIRE_LEN_WITH_GROUP_INFO: usize = Self::WIRE_LEN + 32;

    pub(super) fn parse(cursor: &mut Cursor<'_>, flags: u8) -> Result<Self, WireError> {
        let reader_id = cursor.entity_id()?;
        let writer_id = cursor.entity_id()?;
        let first_sn = cursor.valid_sequence_number()?;
        let out_of_range = cursor.error(WireErrorKind::SequenceRange);
        let last_sn = cursor.sequence_number()?;
        // `last = first - 1` announces an empty history.
        if last_sn < first_sn.previous() {
            return Err(out_of_range);
        }
        let mut heartbeat = Self {
            reader_id,
            writer_id,
            first_sn,
            last_sn,
            count: cursor.i32()?,
            is_final: flags & FLAG_FINAL != 0,
            liveliness: flags & FLAG_LIVELINESS != 0,
            group_info: None,
        };
        if flags & FLAG_GROUP_INFO != 0 {
            heartbeat.group_info = Some(HeartbeatGroupInfo::parse(cursor)?);
        }
        Ok(heartbeat)
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>) {
        let is_final = if self.is_final { FLAG_FINAL } else { 0 };
        let liveliness = if self.liveliness { FLAG_LIVELINESS } else { 0 };
        let (group_info, len) = match self.group_info {
            Some(_) => (FLAG_GROUP_INFO, Self::WIRE_LEN_WITH_GROUP_INFO),
            None => (0, Self::WIRE_LEN),
        };
        let flags = is_final | liveliness | group_info;
        let mut fields =
            Fields::<{ Self::WIRE_LEN_WITH_GROUP_INFO }>::submessage(id::HEARTBEAT, flags, (len - 4) as u16);
        fields
            .bytes(self.reader_id.0)
            .bytes(self.writer_id.0)
            .sequence_number(self.first_sn)
            .sequence_number(self.last_sn)
            .i32(self.count);
        if let Some(group_info) = &self.group_info {
            group_info.put(&mut fields);
        }
        fields.append_to(buffer);
    }
}

impl HeartbeatGroupInfo {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            current_gsn: cursor.sequence_number()?,
            first_gsn: cursor.sequence_number()?,
            last_gsn: cursor.sequence_number()?,
            writer_set: cursor.bytes()?,
            secure_writer_set: cursor.bytes()?,
        })
    }

    fn put<const N: usize>(&self, fields: &mut Fields<N>) {
        fields
            .sequence_number(self.current_gsn)
            .sequence_number(self.first_gsn)
            .sequence_number(self.last_gsn)
            .bytes(self.writer_set)
            .bytes(self.secure_writer_set);
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
        group_info: None,
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
    fn heartbeat_last_is_at_least_first_minus_one() {
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
    fn layout_with_group_info() {
        let group_info = HeartbeatGroupInfo {
            current_gsn: SequenceNumber(0x2_0000_0009),
            first_gsn: SequenceNumber(6),
            last_gsn: SequenceNumber(8),
            writer_set: *b"abcd",
            secure_writer_set: *b"efgh",
        };
        let heartbeat = Heartbeat { group_info: Some(group_info), ..EXAMPLE };
        let mut little = LITTLE.to_vec();
        little[1..3].copy_from_slice(&[0x0d, 60]);
        little.extend(b"\x02\0\0\0\x09\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x08\0\0\0abcdefgh");
        let big = b"\x07\x0c\0\x3c\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\x03\0\0\0\x01\0\0\0\x04\xff\xff\xff\xfe\
            \0\0\0\x02\0\0\0\x09\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0\x08abcdefgh";
        assert_layout(&Submessage::Heartbeat(heartbeat.clone()), &little, big, |message| message.heartbeat(&heartbeat));
        assert_eq!(little.len(), Heartbeat::WIRE_LEN_WITH_GROUP_INFO);
    }
}
