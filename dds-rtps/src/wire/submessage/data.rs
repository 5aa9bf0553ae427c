//! DATA (RTPS 2.5, 8.3.8.2 and 9.4.5.4).
//!
//! ```text
//!  0   15, flags, octetsToNextHeader u16     flags: E 01, Q 02 inline QoS, D 04 data, K 08 key,
//!                                            N 10 non-standard payload
//!  4   extraFlags       u16
//!  6   octetsToInlineQos u16                 bytes from here to the (possibly absent) inline QoS; 16 here
//!  8   readerId
//!  12  writerId
//!  16  writerSN         i32, u32
//!  24  inlineQos                             if Q: parameter list
//!  ..  serializedPayload                     if D or K: to the end
//! ```
use super::{FLAG_INLINE_QOS, id};
use crate::types::{EntityId, SequenceNumber};
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::inline_qos_writer::InlineQosWriter;
use crate::wire::payload_end::PayloadEnd;
use crate::wire::{InlineQos, WireError, WireErrorKind};

/// The payload of a DATA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerializedPayload<'a> {
    /// No payload: the flags D and K are clear.
    None,
    /// A sample (flag D), from its encapsulation header on.
    Data(&'a [u8]),
    /// A key (flag K), from its encapsulation header on.
    Key(&'a [u8]),
}

/// A change (RTPS 2.5, 8.3.8.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data<'a> {
    /// The addressed reader; [`EntityId::UNKNOWN`] for all matched readers.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// Sequence number of the change.
    pub writer_sn: SequenceNumber,
    /// The inline QoS, if present.
    pub inline_qos: Option<InlineQos<'a>>,
    /// The payload.
    pub payload: SerializedPayload<'a>,
    /// Flag N: the payload does not follow the standard (of a vendor, or of a security plug-in).
    pub non_standard_payload: bool,
}

/// Kind of the payload, by the flags of a DATA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// No payload.
    None,
    /// A sample.
    Data,
    /// A key.
    Key,
}

/// The fields of a DATA before its inline QoS and payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataHeader {
    /// The addressed reader; [`EntityId::UNKNOWN`] for all matched readers.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// Sequence number of the change.
    pub writer_sn: SequenceNumber,
    /// Kind of the payload.
    pub payload: PayloadKind,
    /// Flag N.
    pub non_standard_payload: bool,
}

const FLAG_DATA: u8 = 0x04;
const FLAG_KEY: u8 = 0x08;
const FLAG_NON_STANDARD: u8 = 0x10;

/// Bytes between octetsToInlineQos and the inline QoS.
const OCTETS_TO_INLINE_QOS: u16 = 16;

impl<'a> SerializedPayload<'a> {
    /// Returns the bytes, if there is a payload.
    #[must_use]
    pub const fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::None => None,
            Self::Data(bytes) | Self::Key(bytes) => Some(bytes),
        }
    }

    /// Returns its kind.
    #[must_use]
    pub const fn kind(&self) -> PayloadKind {
        match self {
            Self::None => PayloadKind::None,
            Self::Data(_) => PayloadKind::Data,
            Self::Key(_) => PayloadKind::Key,
        }
    }
}

impl<'a> Data<'a> {
    /// Returns the fields before inline QoS and payload.
    #[must_use]
    pub const fn header(&self) -> DataHeader {
        DataHeader {
            reader_id: self.reader_id,
            writer_id: self.writer_id,
            writer_sn: self.writer_sn,
            payload: self.payload.kind(),
            non_standard_payload: self.non_standard_payload,
        }
    }

    pub(super) fn parse(cursor: &mut Cursor<'a>, flags: u8) -> Result<Self, WireError> {
        let both_kinds = cursor.error(WireErrorKind::PayloadFlags);
        let mut head = split_head(cursor, OCTETS_TO_INLINE_QOS)?;
        let reader_id = head.entity_id()?;
        let writer_id = head.entity_id()?;
        let writer_sn = head.valid_sequence_number()?;
        let inline_qos = parse_inline_qos(cursor, flags)?;
        let non_standard_payload = flags & FLAG_NON_STANDARD != 0;
        let payload = match (flags & FLAG_DATA != 0, flags & FLAG_KEY != 0) {
            (false, false) => SerializedPayload::None,
            // A payload is a sample or a key. With both flags its meaning is undefined.
            (true, true) => return Err(both_kinds),
            // Only a standard payload is known to begin with an encapsulation header.
            _ if !non_standard_payload && cursor.rest().len() < ENCAPSULATION_HEADER_LEN => {
                return Err(cursor.error(WireErrorKind::PayloadTooShort));
            }
            (true, false) => SerializedPayload::Data(cursor.rest()),
            (false, true) => SerializedPayload::Key(cursor.rest()),
        };
        Ok(Self { reader_id, writer_id, writer_sn, inline_qos, payload, non_standard_payload })
    }
}

impl DataHeader {
    /// Bytes on the wire without inline QoS and payload.
    pub const WIRE_LEN: usize = 24;

    pub(in crate::wire) fn build(
        &self,
        buffer: &mut Vec<u8>,
        payload_len: usize,
        inline_qos: impl FnOnce(&mut InlineQosWriter<'_>),
    ) -> PayloadEnd {
        let start = buffer.len();
        let kind = match self.payload {
            PayloadKind::None => 0,
            PayloadKind::Data => FLAG_DATA,
            PayloadKind::Key => FLAG_KEY,
        };
        let non_standard = if self.non_standard_payload { FLAG_NON_STANDARD } else { 0 };
        Fields::<{ Self::WIRE_LEN }>::submessage(id::DATA, kind | non_standard, 0)
            .u16(0)
            .u16(OCTETS_TO_INLINE_QOS)
            .bytes(self.reader_id.0)
            .bytes(self.writer_id.0)
            .sequence_number(self.writer_sn)
            .append_to(buffer);
        let has_inline_qos = InlineQosWriter::write(buffer, inline_qos);
        // The flag is set last, because only the writer of the list knows whether there is one.
        PayloadEnd::close(buffer, start, if has_inline_qos { FLAG_INLINE_QOS } else { 0 }, payload_len)
    }
}

/// Returns the fields of a DATA or DATA_FRAG between octetsToInlineQos and the inline QoS, at least `least_len`
/// bytes. A newer minor version may have more fields there. Afterward `cursor` stands at the inline QoS.
pub(super) fn split_head<'a>(cursor: &mut Cursor<'a>, least_len: u16) -> Result<Cursor<'a>, WireError> {
    // No bit of them is defined yet.
    let _extra_flags = cursor.u16()?;
    let too_small = cursor.error(WireErrorKind::OctetsToInlineQos);
    let len = cursor.u16()?;
    // A smaller value would place the inline QoS into the known fields.
    if len < least_len {
        return Err(too_small);
    }
    // A later minor version may add fields to the head. They are skipped.
    cursor.split(usize::from(len))
}

pub(super) fn parse_inline_qos<'a>(cursor: &mut Cursor<'a>, flags: u8) -> Result<Option<InlineQos<'a>>, WireError> {
    if flags & FLAG_INLINE_QOS == 0 {
        return Ok(None);
    }
    InlineQos::parse(cursor).map(Some)
}

/// Bytes of the encapsulation header of a standard payload.
const ENCAPSULATION_HEADER_LEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::super::{Submessage, parse_one};
    use super::*;

    /// Flags, extraFlags, octetsToInlineQos, reader, writer, number 3, little endian.
    const HEAD: [u8; 24] = *b"\x15\x05\0\0\0\0\x10\0\0\0\x01\x07\0\0\x02\x02\0\0\0\0\x03\0\0\0";
    const KEY_HASH: &[u8] = b"\x70\0\x10\x000123456789abcdef\x01\0\0\0";
    const PAYLOAD: &[u8] = b"\0\x01\0\0\x2a";

    fn with_flags(flags: u8, rest: &[&[u8]]) -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        bytes[1] = flags;
        bytes.extend(rest.concat());
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<Data<'_>, WireErrorKind> {
        match parse_one(bytes)? {
            Submessage::Data(data) => Ok(data),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn data_flags_select_the_parts() {
        let bytes = with_flags(0x05, &[PAYLOAD]);
        let data = parse(&bytes).unwrap();
        assert_eq!((data.reader_id, data.writer_id), (EntityId([0, 0, 1, 7]), EntityId([0, 0, 2, 2])));
        assert_eq!((data.writer_sn, data.inline_qos), (SequenceNumber(3), None));
        assert_eq!((data.payload, data.non_standard_payload), (SerializedPayload::Data(PAYLOAD), false));
        let bytes = with_flags(0x0b, &[KEY_HASH, PAYLOAD]);
        let data = parse(&bytes).unwrap();
        assert_eq!(data.inline_qos.unwrap().key_hash(), Some(*b"0123456789abcdef"));
        assert_eq!(data.payload, SerializedPayload::Key(PAYLOAD));
        assert_eq!(parse(&with_flags(0x01, &[])).unwrap().payload, SerializedPayload::None);
        assert_eq!(parse(&with_flags(0x0d, &[PAYLOAD])), Err(WireErrorKind::PayloadFlags));
    }

    #[test]
    fn big_endian_is_read_too() {
        let bytes = b"\x15\x06\0\0\0\0\0\x10\0\0\x01\x07\0\0\x02\x02\0\0\0\x01\0\0\0\x02\
            \0\x56\0\x08\0\0\0\x01\0\0\0\x01\0\x71\0\x04\0\0\0\x01\0\x01\0\0\0\0\0\0payload";
        let data = parse(bytes).unwrap();
        assert_eq!(data.writer_sn, SequenceNumber(0x1_0000_0002));
        let inline_qos = data.inline_qos.unwrap();
        assert_eq!(inline_qos.coherent_set(), Some(SequenceNumber(0x1_0000_0001)));
        assert_eq!(inline_qos.status_info(), 1);
        assert_eq!(data.payload, SerializedPayload::Data(b"\0\0\0\0payload"));
    }

    #[test]
    fn octets_to_inline_qos_is_followed() {
        let mut bytes = with_flags(0x07, &[b"new!", KEY_HASH, PAYLOAD]);
        bytes[6] = 20;
        let data = parse(&bytes).unwrap();
        assert!(data.inline_qos.unwrap().key_hash().is_some());
        assert_eq!(data.payload, SerializedPayload::Data(PAYLOAD));
        bytes[6] = 15;
        assert_eq!(parse(&bytes), Err(WireErrorKind::OctetsToInlineQos));
        bytes[6..8].fill(0xff);
        assert_eq!(parse(&bytes), Err(WireErrorKind::Truncated));
    }

    #[test]
    fn standard_payload_needs_its_encapsulation_header() {
        assert_eq!(parse(&with_flags(0x05, &[&PAYLOAD[..3]])), Err(WireErrorKind::PayloadTooShort));
        assert!(parse(&with_flags(0x05, &[&PAYLOAD[..4]])).is_ok());
        let bytes = with_flags(0x15, &[&PAYLOAD[..3]]);
        let data = parse(&bytes).unwrap();
        assert_eq!((data.payload, data.non_standard_payload), (SerializedPayload::Data(&PAYLOAD[..3]), true));
    }

    #[test]
    fn data_rejects_sequence_number_0() {
        let mut bytes = with_flags(0x05, &[PAYLOAD]);
        bytes[16..24].fill(0);
        assert_eq!(parse(&bytes), Err(WireErrorKind::SequenceNumber));
    }

    #[test]
    fn inline_qos_without_sentinel_is_rejected() {
        for len in 0..KEY_HASH.len() {
            assert_eq!(parse(&with_flags(0x03, &[&KEY_HASH[..len]])), Err(WireErrorKind::Truncated), "{len}");
        }
        assert_eq!(parse(&with_flags(0x03, &[b"\x70\0\x05\x000123456789abcdef"])), Err(WireErrorKind::ParameterLength));
    }
}
