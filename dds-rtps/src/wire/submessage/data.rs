//! DATA (RTPS 2.5, 8.3.8.2 and 9.4.5.4).
//!
//! ```text
//!  0   15, flags, octetsToNextHeader u16     flags: E 01, Q 02 inline QoS, D 04 data, K 08 key, N 10 non-standard payload
//!  4   extraFlags       u16
//!  6   octetsToInlineQos u16                 bytes from here to the inline QoS, or to where it would stand; 16 today
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

/// What a DATA carries behind its inline QoS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerializedPayload<'a> {
    /// Nothing: flags D and K are both clear.
    None,
    /// A sample (flag D), from its encapsulation header on.
    Data(&'a [u8]),
    /// A key (flag K), from its encapsulation header on.
    Key(&'a [u8]),
}

/// A change (RTPS 2.5, 8.3.8.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data<'a> {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change's number.
    pub writer_sn: SequenceNumber,
    /// The inline QoS, if there is one.
    pub inline_qos: Option<InlineQos<'a>>,
    /// The payload.
    pub payload: SerializedPayload<'a>,
    /// Flag N: the payload is not formed by the standard's rules (a vendor's or a security plug-in's).
    pub non_standard_payload: bool,
}

/// What the flags of a DATA say about its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// There is none.
    None,
    /// A sample.
    Data,
    /// A key.
    Key,
}

/// A DATA but for its inline QoS and its payload: what is written before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataHeader {
    /// The reader it is for; [`EntityId::UNKNOWN`] for every matched one.
    pub reader_id: EntityId,
    /// The writer.
    pub writer_id: EntityId,
    /// The change's number.
    pub writer_sn: SequenceNumber,
    /// What the payload is.
    pub payload: PayloadKind,
    /// Flag N.
    pub non_standard_payload: bool,
}

const FLAG_DATA: u8 = 0x04;
const FLAG_KEY: u8 = 0x08;
const FLAG_NON_STANDARD: u8 = 0x10;

/// Bytes from behind octetsToInlineQos to the inline QoS.
const OCTETS_TO_INLINE_QOS: u16 = 16;

impl<'a> SerializedPayload<'a> {
    /// The bytes, if there is a payload.
    #[must_use]
    pub const fn bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::None => None,
            Self::Data(bytes) | Self::Key(bytes) => Some(bytes),
        }
    }

    /// What it is.
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
    /// The part in front of inline QoS and payload.
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
            (true, true) => return Err(both_kinds),
            // Only a payload by the standard's rules is known to begin with an encapsulation header.
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
        PayloadEnd::close(buffer, start, if has_inline_qos { FLAG_INLINE_QOS } else { 0 }, payload_len)
    }
}

/// The fields of a DATA or DATA_FRAG between octetsToInlineQos and the inline QoS, which must be at least `least_len`
/// bytes: a newer minor version may have put more of them there. `cursor` then stands at the inline QoS.
pub(super) fn split_head<'a>(cursor: &mut Cursor<'a>, least_len: u16) -> Result<Cursor<'a>, WireError> {
    let _extra_flags = cursor.u16()?;
    let too_small = cursor.error(WireErrorKind::OctetsToInlineQos);
    let len = cursor.u16()?;
    if len < least_len {
        return Err(too_small);
    }
    cursor.split(usize::from(len))
}

pub(super) fn parse_inline_qos<'a>(cursor: &mut Cursor<'a>, flags: u8) -> Result<Option<InlineQos<'a>>, WireError> {
    if flags & FLAG_INLINE_QOS == 0 {
        return Ok(None);
    }
    InlineQos::parse(cursor).map(Some)
}

/// Bytes of the header with which every payload by the standard's rules begins.
const ENCAPSULATION_HEADER_LEN: usize = 4;
