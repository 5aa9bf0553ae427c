//! DATA_FRAG (RTPS 2.5, 8.3.8.3 and 9.4.5.5).
//!
//! ```text
//!  0   16, flags, octetsToNextHeader u16     flags: E 01, Q 02 inline QoS, K 04 key, N 08 non-standard payload
//!  4   extraFlags       u16
//!  6   octetsToInlineQos u16                 bytes from here to the inline QoS, or to where it would stand; 28 today
//!  8   readerId
//!  12  writerId
//!  16  writerSN         i32, u32
//!  24  fragmentStartingNum u32               from 1
//!  28  fragmentsInSubmessage u16
//!  30  fragmentSize     u16
//!  32  sampleSize       u32
//!  36  inlineQos                             if Q: parameter list
//!  ..  serializedPayload                     fragmentsInSubmessage fragments; the sample's last one may be shorter
//! ```
use super::data::{parse_inline_qos, split_head};
use super::{FLAG_INLINE_QOS, id};
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::inline_qos_writer::InlineQosWriter;
use crate::wire::payload_end::PayloadEnd;
use crate::wire::{InlineQos, WireError, WireErrorKind};
use std::ops::Range;

/// Some consecutive fragments of a change (RTPS 2.5, 8.3.8.3).
///
/// `parse` has checked: the first number is at least 1, there is at least one fragment, the fragment size is not zero, the
/// fragments lie within the sample's size, and the payload holds what they promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFrag<'a> {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change's number.
    pub writer_sn: SequenceNumber,
    /// The number of the first fragment, from 1.
    pub fragment_starting_num: u32,
    /// How many fragments follow each other here.
    pub fragments_in_submessage: u16,
    /// Bytes of each fragment but the sample's last.
    pub fragment_size: u16,
    /// Bytes of the whole serialized payload, its encapsulation header included.
    pub sample_size: u32,
    /// The inline QoS, if there is one. It may stand on the first fragment only.
    pub inline_qos: Option<InlineQos<'a>>,
    /// The fragments' bytes.
    pub payload: &'a [u8],
    /// Flag K: the sample is a serialized key.
    pub is_key: bool,
    /// Flag N.
    pub non_standard_payload: bool,
}

/// A DATA_FRAG but for its inline QoS and its payload: what is written before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataFragHeader {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change's number.
    pub writer_sn: SequenceNumber,
    /// The number of the first fragment, from 1.
    pub fragment_starting_num: u32,
    /// How many fragments follow each other here, at least 1.
    pub fragments_in_submessage: u16,
    /// Bytes of each fragment but the sample's last, at least 1.
    pub fragment_size: u16,
    /// Bytes of the whole serialized payload, its encapsulation header included.
    pub sample_size: u32,
    /// Flag K: the sample is a serialized key.
    pub is_key: bool,
    /// Flag N.
    pub non_standard_payload: bool,
}

const FLAG_KEY: u8 = 0x04;
const FLAG_NON_STANDARD: u8 = 0x08;

/// Bytes from behind octetsToInlineQos to the inline QoS.
const OCTETS_TO_INLINE_QOS: u16 = 28;

impl<'a> DataFrag<'a> {
    /// The part in front of inline QoS and payload.
    #[must_use]
    pub const fn header(&self) -> DataFragHeader {
        DataFragHeader {
            reader_id: self.reader_id,
            writer_id: self.writer_id,
            writer_sn: self.writer_sn,
            fragment_starting_num: self.fragment_starting_num,
            fragments_in_submessage: self.fragments_in_submessage,
            fragment_size: self.fragment_size,
            sample_size: self.sample_size,
            is_key: self.is_key,
            non_standard_payload: self.non_standard_payload,
        }
    }

    pub(super) fn parse(cursor: &mut Cursor<'a>, flags: u8) -> Result<Self, WireError> {
        let mut head = split_head(cursor, OCTETS_TO_INLINE_QOS)?;
        let reader_id = head.entity_id()?;
        let writer_id = head.entity_id()?;
        let writer_sn = head.valid_sequence_number()?;
        let fragments = head.clone();
        let header = DataFragHeader {
            reader_id,
            writer_id,
            writer_sn,
            fragment_starting_num: head.fragment_number()?,
            fragments_in_submessage: head.u16()?,
            fragment_size: head.u16()?,
            sample_size: head.u32()?,
            is_key: flags & FLAG_KEY != 0,
            non_standard_payload: flags & FLAG_NON_STANDARD != 0,
        };
        let range = header.checked_range().map_err(|kind| fragments.error(kind))?;
        let inline_qos = parse_inline_qos(cursor, flags)?;
        // What lies behind the fragments is padding: DATA_FRAG knows its length, unlike DATA.
        let Some(payload) = cursor.rest().get(..range.len()) else {
            return Err(cursor.error(WireErrorKind::PayloadTooShort));
        };
        Ok(Self {
            reader_id,
            writer_id,
            writer_sn,
            fragment_starting_num: header.fragment_starting_num,
            fragments_in_submessage: header.fragments_in_submessage,
            fragment_size: header.fragment_size,
            sample_size: header.sample_size,
            inline_qos,
            payload,
            is_key: header.is_key,
            non_standard_payload: header.non_standard_payload,
        })
    }
}

impl DataFragHeader {
    /// Bytes on the wire without inline QoS and payload.
    pub const WIRE_LEN: usize = 36;

    /// Where in the sample the fragments lie: these bytes are the payload. Empty if the fields contradict each other.
    #[must_use]
    pub fn payload_range(&self) -> Range<usize> {
        self.checked_range().unwrap_or_default()
    }

    fn checked_range(&self) -> Result<Range<usize>, WireErrorKind> {
        let count = u64::from(self.fragments_in_submessage);
        let size = u64::from(self.fragment_size);
        let end = u64::from(self.sample_size);
        let before = u64::from(self.fragment_starting_num).checked_sub(1).ok_or(WireErrorKind::FragmentNumber)?;
        if count == 0 {
            return Err(WireErrorKind::FragmentCount);
        }
        if size == 0 {
            return Err(WireErrorKind::FragmentSize);
        }
        // Neither product overflows: 32 or 33 bits times 16 bits.
        if (before + count - 1) * size >= end {
            return Err(WireErrorKind::FragmentRange);
        }
        Ok((before * size) as usize..((before + count) * size).min(end) as usize)
    }

    pub(in crate::wire) fn build(
        &self,
        buffer: &mut Vec<u8>,
        inline_qos: impl FnOnce(&mut InlineQosWriter<'_>),
    ) -> PayloadEnd {
        let start = buffer.len();
        let key = if self.is_key { FLAG_KEY } else { 0 };
        let non_standard = if self.non_standard_payload { FLAG_NON_STANDARD } else { 0 };
        Fields::<{ Self::WIRE_LEN }>::submessage(id::DATA_FRAG, key | non_standard, 0)
            .u16(0)
            .u16(OCTETS_TO_INLINE_QOS)
            .bytes(self.reader_id.0)
            .bytes(self.writer_id.0)
            .sequence_number(self.writer_sn)
            .u32(self.fragment_starting_num)
            .u16(self.fragments_in_submessage)
            .u16(self.fragment_size)
            .u32(self.sample_size)
            .append_to(buffer);
        let has_inline_qos = InlineQosWriter::write(buffer, inline_qos);
        let flags = if has_inline_qos { FLAG_INLINE_QOS } else { 0 };
        PayloadEnd::close(buffer, start, flags, self.payload_range().len())
    }
}
