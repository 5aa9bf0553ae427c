//! Builds messages in a reusable buffer.

use super::fields::Fields;
use super::inline_qos_writer::InlineQosWriter;
use super::message::MAGIC;
use super::payload_end::PayloadEnd;
use super::submessage::{FLAG_INVALIDATE, FLAG_LITTLE_ENDIAN};
use super::{
    AckNack, DataFragHeader, DataHeader, Gap, Header, HeaderExtension, Heartbeat, HeartbeatFrag, InfoReply, InfoSource,
    NackFrag, id,
};
use crate::cdr::append;
use crate::types::{GuidPrefix, Locator, ProtocolVersion, Time, VendorId};
use std::net::SocketAddrV4;

/// Appends the parts of a message to a buffer, little endian. It has no state of its own.
///
/// It does not write the payload of a DATA or DATA_FRAG: it builds the submessage as if the payload followed. The
/// caller then copies or gathers the payload, and ends it.
///
/// ```
/// use dds_rtps::types::{EntityId, GuidPrefix, SequenceNumber};
/// use dds_rtps::wire::{DataHeader, MessageBuilder, PayloadKind};
///
/// let mut buffer = Vec::new();
/// let mut message = MessageBuilder::new(&mut buffer);
/// message.header(GuidPrefix::UNKNOWN);
/// let data = DataHeader {
///     reader_id: EntityId::UNKNOWN,
///     writer_id: EntityId([0, 0, 1, 2]),
///     writer_sn: SequenceNumber(1),
///     payload: PayloadKind::Data,
///     non_standard_payload: false,
/// };
/// let payload = [0, 1, 0, 0, 42];
/// let end = message.data(&data, payload.len(), |inline_qos| {
///     inline_qos.key_hash(&[7; 16]);
/// });
/// message.payload(&payload, end);
/// assert_eq!(buffer.len(), 20 + 24 + 24 + 8);
/// ```
#[derive(Debug)]
pub struct MessageBuilder<'b> {
    buffer: &'b mut Vec<u8>,
}

impl<'b> MessageBuilder<'b> {
    /// Bytes of an INFO_TS with a timestamp.
    pub const INFO_TS_LEN: usize = 12;
    /// Bytes of an INFO_DST.
    pub const INFO_DST_LEN: usize = 16;

    /// Copies the start of a message into `into`, with a PAD behind its header that fills the rest.
    ///
    /// So the content that follows lies at a fixed place. Returns false if the start does not fit, or if its length is
    /// no multiple of 4. `into` is unspecified then. A HEADER_EXTENSION is refused too, because its fields would
    /// change.
    #[must_use]
    pub fn put_padded(start: &[u8], into: &mut [u8]) -> bool {
        let Some((header, submessages)) = start.split_at_checked(Header::WIRE_LEN) else { return false };
        let Some(gap) = into.len().checked_sub(start.len()) else { return false };
        if gap % 4 != 0 || submessages.first() == Some(&id::HEADER_EXTENSION) {
            return false;
        }
        let (before, rest) = into.split_at_mut(Header::WIRE_LEN);
        let (pad, after) = rest.split_at_mut(gap);
        before.copy_from_slice(header);
        after.copy_from_slice(submessages);
        if let Some((pad_header, body)) = pad.split_first_chunk_mut() {
            let Ok(len) = u16::try_from(body.len()) else { return false };
            let [low, high] = len.to_le_bytes();
            // A length of zero is that of an empty PAD (RTPS 2.5, 9.4.5.1.3).
            *pad_header = [id::PAD, FLAG_LITTLE_ENDIAN, low, high];
            body.fill(0);
        }
        true
    }

    /// Appends to the content of `buffer`.
    #[must_use]
    pub fn new(buffer: &'b mut Vec<u8>) -> Self {
        Self { buffer }
    }

    /// Adds the header of a message from this implementation.
    pub fn header(&mut self, prefix: GuidPrefix) {
        self.header_of(&Header { version: ProtocolVersion::OURS, vendor: VendorId::OURS, prefix });
    }

    /// Adds the header of a message.
    pub fn header_of(&mut self, header: &Header) {
        Fields::<{ Header::WIRE_LEN }>::new()
            .bytes(*MAGIC)
            .bytes([header.version.major, header.version.minor])
            .bytes(header.vendor.0)
            .bytes(header.prefix.0)
            .append_to(self.buffer);
    }

    /// Adds a HEADER_EXTENSION, which must follow the header directly.
    ///
    /// Length and checksum may have any value; [`HeaderExtension::complete`] replaces them once the message is
    /// complete. `parameters` appends its parameters; `|_| {}` for none.
    pub fn header_extension(
        &mut self,
        extension: &HeaderExtension<'_>,
        parameters: impl FnOnce(&mut InlineQosWriter<'_>),
    ) {
        extension.build(self.buffer, parameters);
    }

    /// Adds an INFO_TS with the timestamp of the following submessages; `None` or [`Time::INVALID`] takes an earlier
    /// one back.
    pub fn info_ts(&mut self, timestamp: Option<Time>) {
        let timestamp = match timestamp {
            Some(timestamp) if timestamp.is_valid() => timestamp,
            _ => return Fields::<4>::submessage(id::INFO_TS, FLAG_INVALIDATE, 0).append_to(self.buffer),
        };
        let (seconds, fraction) = timestamp.to_wire();
        let mut fields = Fields::<{ MessageBuilder::INFO_TS_LEN }>::submessage(id::INFO_TS, 0, 8);
        fields.u32(seconds).u32(fraction).append_to(self.buffer);
    }

    /// Adds an INFO_DST with the destination of the following submessages; [`GuidPrefix::UNKNOWN`] for all.
    pub fn info_dst(&mut self, prefix: GuidPrefix) {
        let mut fields = Fields::<{ MessageBuilder::INFO_DST_LEN }>::submessage(id::INFO_DST, 0, 12);
        fields.bytes(prefix.0).append_to(self.buffer);
    }

    /// Adds an INFO_SRC with the source of the following submessages.
    pub fn info_src(&mut self, source: &InfoSource) {
        source.build(self.buffer);
    }

    /// Adds an INFO_REPLY with the destination of answers. An empty `multicast` is left out.
    ///
    /// More than 2000 locators do not fit into a submessage; then nothing is added.
    pub fn info_reply(&mut self, unicast: &[Locator], multicast: &[Locator]) {
        InfoReply::build(self.buffer, unicast, multicast);
    }

    /// Adds an INFO_REPLY_IP4, which has fewer bytes.
    pub fn info_reply_ip4(&mut self, unicast: SocketAddrV4, multicast: Option<SocketAddrV4>) {
        InfoReply::build_ip4(self.buffer, unicast, multicast);
    }

    /// Adds a DATA up to its payload of `payload_len` bytes. The payload must follow, and then [`Self::end_payload`].
    ///
    /// `inline_qos` appends the parameters; `|_| {}` for none.
    pub fn data(
        &mut self,
        data: &DataHeader,
        payload_len: usize,
        inline_qos: impl FnOnce(&mut InlineQosWriter<'_>),
    ) -> PayloadEnd {
        data.build(self.buffer, payload_len, inline_qos)
    }

    /// Adds a DATA_FRAG up to its payload, which is [`DataFragHeader::payload_range`] of the sample. The payload must
    /// follow, and then [`Self::end_payload`].
    pub fn data_frag(
        &mut self,
        data_frag: &DataFragHeader,
        inline_qos: impl FnOnce(&mut InlineQosWriter<'_>),
    ) -> PayloadEnd {
        data_frag.build(self.buffer, inline_qos)
    }

    /// Copies a payload into the buffer, and ends it.
    pub fn payload(&mut self, payload: &[u8], end: PayloadEnd) {
        append(self.buffer, payload);
        self.end_payload(end);
    }

    /// Adds the padding behind a payload.
    pub fn end_payload(&mut self, end: PayloadEnd) {
        self.buffer.extend(std::iter::repeat_n(0, end.padding_len()));
    }

    /// Adds a HEARTBEAT.
    pub fn heartbeat(&mut self, heartbeat: &Heartbeat) {
        heartbeat.build(self.buffer);
    }

    /// Adds a HEARTBEAT_FRAG.
    pub fn heartbeat_frag(&mut self, heartbeat_frag: &HeartbeatFrag) {
        heartbeat_frag.build(self.buffer);
    }

    /// Adds an ACKNACK.
    pub fn ack_nack(&mut self, ack_nack: &AckNack) {
        ack_nack.build(self.buffer);
    }

    /// Adds a NACK_FRAG.
    pub fn nack_frag(&mut self, nack_frag: &NackFrag) {
        nack_frag.build(self.buffer);
    }

    /// Adds a GAP.
    pub fn gap(&mut self, gap: &Gap) {
        gap.build(self.buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, SequenceNumber};
    use crate::wire::{Message, PayloadKind, SerializedPayload, Submessage};

    const DATA: DataHeader = DataHeader {
        reader_id: EntityId::UNKNOWN,
        writer_id: EntityId([0, 0, 1, 2]),
        writer_sn: SequenceNumber(0x1_0000_0002),
        payload: PayloadKind::Data,
        non_standard_payload: false,
    };

    fn submessages(bytes: &[u8]) -> Vec<Submessage<'_>> {
        Message::parse(bytes).unwrap().submessages().map(Result::unwrap).collect()
    }

    #[test]
    fn header_has_our_version_and_vendor() {
        let mut bytes = Vec::new();
        MessageBuilder::new(&mut bytes).header(GuidPrefix(*b"abcdefghijkl"));
        assert_eq!(bytes, b"RTPS\x02\x05\x01\xddabcdefghijkl");
    }

    #[test]
    fn padded_start_has_its_length_and_the_same_submessages() {
        let mut start = Vec::new();
        let mut message = MessageBuilder::new(&mut start);
        message.header(GuidPrefix([7; 12]));
        message.info_ts(Some(Time::from_unix_nanos(5)));
        let end = message.data(&DATA, 8, |_| {});
        for gap in [0, 4, 8, 100] {
            let mut padded = vec![0xee; start.len() + gap];
            assert!(MessageBuilder::put_padded(&start, &mut padded));
            MessageBuilder::new(&mut padded).payload(&[1; 8], end);
            let mut plain = start.clone();
            MessageBuilder::new(&mut plain).payload(&[1; 8], end);
            let mut read = submessages(&padded);
            assert_eq!(read.len(), if gap == 0 { 2 } else { 3 });
            if gap > 0 {
                assert_eq!(read.remove(0), Submessage::Skipped { id: id::PAD });
            }
            assert_eq!(read, submessages(&plain));
        }
        assert!(!MessageBuilder::put_padded(&start, &mut vec![0; start.len() - 4]));
        assert!(!MessageBuilder::put_padded(&start, &mut vec![0; start.len() + 2]));
        assert!(!MessageBuilder::put_padded(b"RTPS", &mut [0; 24]));
        start[Header::WIRE_LEN] = id::HEADER_EXTENSION;
        assert!(!MessageBuilder::put_padded(&start, &mut vec![0; start.len() + 4]));
    }

    #[test]
    fn data_without_inline_qos_has_the_standard_layout() {
        let mut bytes = Vec::new();
        let end = MessageBuilder::new(&mut bytes).data(&DATA, 8, |_| {});
        assert_eq!((end.padding_len(), end.must_be_last()), (0, false));
        assert_eq!(bytes, [0x15, 0x05, 28, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn data_with_inline_qos_has_the_standard_layout() {
        let mut bytes = Vec::new();
        let header = DataHeader { payload: PayloadKind::None, ..DATA };
        let mut builder = MessageBuilder::new(&mut bytes);
        let end = builder.data(&header, 0, |inline_qos| {
            inline_qos.key_hash(b"0123456789abcdef").status_info(3);
        });
        builder.end_payload(end);
        assert_eq!(bytes[..4], [0x15, 0x03, 52, 0]);
        assert_eq!(bytes[24..], *b"\x70\0\x10\x000123456789abcdef\x71\0\x04\0\0\0\0\x03\x01\0\0\0");
    }

    #[test]
    fn payload_is_padded_up_to_the_next_submessage() {
        for len in 4..9 {
            let payload = vec![0xee; len];
            let mut bytes = Vec::new();
            let mut message = MessageBuilder::new(&mut bytes);
            message.header(GuidPrefix::UNKNOWN);
            let end = message.data(&DATA, len, |_| {});
            assert_eq!((len + end.padding_len()) % 4, 0);
            message.payload(&payload, end);
            message.info_dst(GuidPrefix::UNKNOWN);
            let parsed = submessages(&bytes);
            let [Submessage::Data(data), Submessage::InfoDestination(_)] = &parsed[..] else { panic!("{parsed:?}") };
            assert!(data.payload.bytes().unwrap().starts_with(&payload));
        }
    }

    #[test]
    fn payload_too_long_for_its_length_ends_the_message() {
        for (len, must_be_last) in [(65_512, false), (65_513, true), (200_001, true)] {
            let payload = vec![0xee; len];
            let mut bytes = Vec::new();
            let mut message = MessageBuilder::new(&mut bytes);
            message.header(GuidPrefix::UNKNOWN);
            let end = message.data(&DATA, len, |_| {});
            message.payload(&payload, end);
            assert_eq!(end.must_be_last(), must_be_last, "{len}");
            let parsed = submessages(&bytes);
            let [Submessage::Data(data)] = &parsed[..] else { panic!("{len}") };
            assert_eq!(data.payload, SerializedPayload::Data(&payload));
        }
    }

    #[test]
    fn fragments_have_their_range_of_the_sample() {
        let header = DataFragHeader {
            reader_id: EntityId::UNKNOWN,
            writer_id: EntityId([0, 0, 1, 2]),
            writer_sn: SequenceNumber(1),
            fragment_starting_num: 3,
            fragments_in_submessage: 2,
            fragment_size: 10,
            sample_size: 35,
            is_key: false,
            non_standard_payload: false,
        };
        assert_eq!(header.payload_range(), 20..35);
        assert_eq!(DataFragHeader { fragments_in_submessage: 1, ..header }.payload_range(), 20..30);
        for contradiction in [
            DataFragHeader { fragments_in_submessage: 3, ..header },
            DataFragHeader { fragments_in_submessage: 0, ..header },
            DataFragHeader { fragment_starting_num: 0, ..header },
            DataFragHeader { fragment_size: 0, ..header },
            DataFragHeader { fragment_starting_num: u32::MAX, fragments_in_submessage: u16::MAX, ..header },
        ] {
            assert!(contradiction.payload_range().is_empty());
        }
        let payload: Vec<u8> = (20..35).collect();
        let mut bytes = Vec::new();
        let mut message = MessageBuilder::new(&mut bytes);
        message.header(GuidPrefix::UNKNOWN);
        let end = message.data_frag(&header, |_| {});
        assert_eq!(end.padding_len(), 1);
        message.payload(&payload, end);
        message.info_ts(None);
        let parsed = submessages(&bytes);
        let [Submessage::DataFrag(frag), Submessage::InfoTimestamp(None)] = &parsed[..] else { panic!("{parsed:?}") };
        assert_eq!((frag.header(), frag.payload), (header, &payload[..]));
    }
}
