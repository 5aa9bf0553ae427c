//! DATA_FRAG (RTPS 2.5, 8.3.8.3 and 9.4.5.5).
//!
//! ```text
//!  0   16, flags, octetsToNextHeader u16     flags: E 01, Q 02 inline QoS, K 04 key, N 08 non-standard payload
//!  4   extraFlags       u16
//!  6   octetsToInlineQos u16                 bytes from here to the (possibly absent) inline QoS; 28 here
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

/// Consecutive fragments of a change (RTPS 2.5, 8.3.8.3).
///
/// `parse` has checked that the first number is at least 1, that there is a fragment, and that the fragment size is
/// not zero. It has also checked that the fragments lie within the sample, and that the payload contains them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFrag<'a> {
    /// The addressed reader; [`EntityId::UNKNOWN`] for all matched readers.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// Sequence number of the change.
    pub writer_sn: SequenceNumber,
    /// Number of the first fragment, from 1.
    pub fragment_starting_num: u32,
    /// Number of fragments.
    pub fragments_in_submessage: u16,
    /// Bytes of each fragment, except the sample's last.
    pub fragment_size: u16,
    /// Bytes of the whole serialized payload, its encapsulation header included.
    pub sample_size: u32,
    /// The inline QoS, if present. Some writers send it with the first fragment only.
    pub inline_qos: Option<InlineQos<'a>>,
    /// Bytes of the fragments.
    pub payload: &'a [u8],
    /// Flag K: the sample is a serialized key.
    pub is_key: bool,
    /// Flag N.
    pub non_standard_payload: bool,
}

/// The fields of a DATA_FRAG before its inline QoS and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataFragHeader {
    /// The addressed reader; [`EntityId::UNKNOWN`] for all matched readers.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// Sequence number of the change.
    pub writer_sn: SequenceNumber,
    /// Number of the first fragment, from 1.
    pub fragment_starting_num: u32,
    /// Number of fragments, at least 1.
    pub fragments_in_submessage: u16,
    /// Bytes of each fragment, except the sample's last, at least 1.
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

/// Bytes between octetsToInlineQos and the inline QoS.
const OCTETS_TO_INLINE_QOS: u16 = 28;

impl<'a> DataFrag<'a> {
    /// Returns the fields before inline QoS and payload.
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
        // Errors of the range name the first field of the fragments.
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
        // Once for both uses: the fragments lie within the sample, and the payload has their length.
        let range = header.checked_range().map_err(|kind| fragments.error(kind))?;
        let inline_qos = parse_inline_qos(cursor, flags)?;
        // Bytes behind the fragments are padding: DATA_FRAG knows its length, unlike DATA.
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

    /// Returns the range of the fragments in the sample, which is the payload. Empty if the fields contradict each
    /// other.
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

#[cfg(test)]
mod tests {
    use super::super::{Submessage, parse_one};
    use super::*;

    /// Fragments 3 and 4 of 10 bytes each of a sample of 35.
    const HEADER: DataFragHeader = DataFragHeader {
        reader_id: EntityId([0, 0, 1, 7]),
        writer_id: EntityId([0, 0, 2, 2]),
        writer_sn: SequenceNumber(3),
        fragment_starting_num: 3,
        fragments_in_submessage: 2,
        fragment_size: 10,
        sample_size: 35,
        is_key: false,
        non_standard_payload: false,
    };
    const HEAD: [u8; 36] = *b"\x16\x01\x30\0\0\0\x1c\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\x03\0\0\0\
        \x03\0\0\0\x02\0\x0a\0\x23\0\0\0";
    const PAYLOAD: [u8; 15] = *b"twenty to 34...";

    fn parse(bytes: &[u8]) -> Result<DataFrag<'_>, WireErrorKind> {
        match parse_one(bytes)? {
            Submessage::DataFrag(data_frag) => Ok(data_frag),
            other => panic!("{other:?}"),
        }
    }

    fn kind_of(header: DataFragHeader) -> Result<(), WireErrorKind> {
        let mut bytes = Vec::new();
        let _not_last = header.build(&mut bytes, |_| {});
        bytes.extend([0; 40]);
        parse(&bytes).map(|_| ())
    }

    #[test]
    fn layout() {
        let mut built = Vec::new();
        let end = HEADER.build(&mut built, |_| {});
        assert_eq!((&built[..], end.padding_len()), (&HEAD[..], 1));
        let bytes = [&HEAD[..], &PAYLOAD, &[0]].concat();
        let data_frag = parse(&bytes).unwrap();
        assert_eq!((data_frag.header(), data_frag.payload, data_frag.inline_qos), (HEADER, &PAYLOAD[..], None));
        assert_eq!(parse(&bytes[..51]).unwrap(), data_frag);
        assert!((4..51).all(|len| parse(&bytes[..len]).is_err()));
        assert_eq!(parse(&bytes[..50]), Err(WireErrorKind::PayloadTooShort));
    }

    #[test]
    fn big_endian_is_read_too() {
        let bytes = b"\x16\0\0\0\0\0\0\x1c\0\0\x01\x07\0\0\x02\x02\0\0\0\0\0\0\0\x03\
            \0\0\0\x03\0\x02\0\x0a\0\0\0\x23twenty to 34...";
        let data_frag = parse(bytes).unwrap();
        assert_eq!((data_frag.header(), data_frag.payload), (HEADER, &PAYLOAD[..]));
    }

    #[test]
    fn data_frag_flags_differ_from_those_of_data() {
        let flags = |flags: u8| {
            let mut bytes = [&HEAD[..], b"\x71\0\x04\0\0\0\0\x01\x01\0\0\0", &PAYLOAD].concat();
            bytes[1] = flags;
            let data_frag = parse(&bytes).unwrap();
            (data_frag.inline_qos.map(|list| list.status_info()), data_frag.is_key, data_frag.non_standard_payload)
        };
        assert_eq!(flags(0x01), (None, false, false));
        assert_eq!(flags(0x03), (Some(1), false, false));
        assert_eq!(flags(0x05), (None, true, false));
        assert_eq!(flags(0x09), (None, false, true));
    }

    #[test]
    fn octets_to_inline_qos_is_followed() {
        let mut bytes = [&HEAD[..], b"new!", &PAYLOAD].concat();
        bytes[6] = 32;
        assert_eq!(parse(&bytes).unwrap().payload, PAYLOAD);
        bytes[6] = 27;
        assert_eq!(parse(&bytes), Err(WireErrorKind::OctetsToInlineQos));
    }

    #[test]
    fn fragments_outside_of_the_sample_are_rejected() {
        assert_eq!(kind_of(DataFragHeader { fragment_starting_num: 0, ..HEADER }), Err(WireErrorKind::FragmentNumber));
        assert_eq!(kind_of(DataFragHeader { fragments_in_submessage: 0, ..HEADER }), Err(WireErrorKind::FragmentCount));
        assert_eq!(kind_of(DataFragHeader { fragment_size: 0, ..HEADER }), Err(WireErrorKind::FragmentSize));
        assert_eq!(kind_of(DataFragHeader { sample_size: 31, ..HEADER }), Ok(()));
        assert_eq!(kind_of(DataFragHeader { sample_size: 30, ..HEADER }), Err(WireErrorKind::FragmentRange));
        assert_eq!(kind_of(DataFragHeader { sample_size: 0, ..HEADER }), Err(WireErrorKind::FragmentRange));
        let huge = DataFragHeader {
            fragment_starting_num: u32::MAX,
            fragments_in_submessage: u16::MAX,
            fragment_size: u16::MAX,
            sample_size: u32::MAX,
            ..HEADER
        };
        assert_eq!(kind_of(huge), Err(WireErrorKind::FragmentRange));
        assert_eq!(
            kind_of(DataFragHeader { writer_sn: SequenceNumber(0), ..HEADER }),
            Err(WireErrorKind::SequenceNumber)
        );
    }
}
