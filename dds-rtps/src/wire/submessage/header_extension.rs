//! HEADER_EXTENSION (RTPS 2.5, 8.3.7 and 9.4.5.2): follows the message header directly, or has no meaning.
//!
//! ```text
//! 0   00, flags, octetsToNextHeader u16
//!         flags: E 01, L 02 length, W 04 timestamp, U 08, V 10, C 60 checksum (20 CRC-32C, 40 CRC-64, 60 MD5), P 80
//! 4   messageLength    u32                  if L
//! ..  timestamp        u32, u32             if W
//! ..  uExtension4      4 octets             if U
//! ..  wExtension8      8 octets             if V
//! ..  checksum         4, 8 or 16 octets    by C
//! ..  parameter list                        if P
//! ```

use super::id;
use crate::types::Time;
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use crate::wire::{
    Checksum, ChecksumKind, Header, InlineQos, InlineQosWriter, Message, PayloadEnd, Submessage, WireError,
    WireErrorKind,
};

/// Extension of a message header. All fields are optional.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeaderExtension<'a> {
    /// Bytes of the whole message. `Message::parse` has checked that they are present.
    pub message_length: Option<u32>,
    /// Time at which the message was sent, by the source's clock. It acts like an INFO_TS, and [`Time::INVALID`]
    /// takes it back.
    pub timestamp: Option<Time>,
    /// Reserved.
    pub u_extension: Option<[u8; 4]>,
    /// Reserved.
    pub w_extension: Option<[u8; 8]>,
    /// Checksum of the message. `Message::parse` has verified it.
    pub checksum: Option<Checksum>,
    /// Parameters; none is known. The builder gets them separately.
    pub parameters: Option<InlineQos<'a>>,
}

const FLAG_LENGTH: u8 = 0x02;
const FLAG_TIMESTAMP: u8 = 0x04;
const FLAG_U_EXTENSION: u8 = 0x08;
const FLAG_W_EXTENSION: u8 = 0x10;
/// HEADER_EXTENSION: kind of the checksum.
pub(in crate::wire) const FLAGS_CHECKSUM: u8 = 0x60;
const FLAG_PARAMETERS: u8 = 0x80;

/// Bytes from the start of the message to the first field.
const FIELDS_OFFSET: usize = Header::WIRE_LEN + 4;

impl<'a> HeaderExtension<'a> {
    /// Bytes on the wire with every field, without parameters.
    pub const WIRE_LEN_MAX: usize = 4 + 4 + 8 + 4 + 8 + 16;

    pub(super) fn parse(cursor: &mut Cursor<'a>, flags: u8) -> Result<Self, WireError> {
        let mut extension = Self::default();
        if flags & FLAG_LENGTH != 0 {
            extension.message_length = Some(cursor.u32()?);
        }
        if flags & FLAG_TIMESTAMP != 0 {
            extension.timestamp = Some(parse_time(cursor)?);
        }
        if flags & FLAG_U_EXTENSION != 0 {
            extension.u_extension = Some(cursor.bytes()?);
        }
        if flags & FLAG_W_EXTENSION != 0 {
            extension.w_extension = Some(cursor.bytes()?);
        }
        if let Some(kind) = ChecksumKind::from_flags(flags) {
            extension.checksum = Some(kind.parse(cursor)?);
        }
        if flags & FLAG_PARAMETERS != 0 {
            extension.parameters = Some(InlineQos::parse(cursor)?);
        }
        Ok(extension)
    }

    /// Verifies the extension against the whole message.
    pub(in crate::wire) fn check(&self, message: &[u8]) -> Result<(), WireError> {
        // A datagram is one message. A shorter length means nothing; a longer one means that the end is missing.
        if let Some(len) = self.message_length {
            if len as usize > message.len() {
                return Err(WireError { kind: WireErrorKind::Truncated, offset: FIELDS_OFFSET });
            }
        }
        // The checksum covers its own field as zeros.
        if let Some(found) = self.checksum {
            let offset = self.checksum_offset();
            if !found.matches_computed(found.kind().of(message, offset)) {
                return Err(WireError { kind: WireErrorKind::Checksum, offset });
            }
        }
        // No parameter is defined yet, so any that must be understood is unknown.
        if let Some(list) = self.parameters {
            if list.parameters().any(|parameter| parameter.must_understand()) {
                return Err(WireError { kind: WireErrorKind::MustUnderstand, offset: FIELDS_OFFSET });
            }
        }
        Ok(())
    }

    /// Sets length and checksum of a complete, little-endian message, if its extension has fields for them.
    ///
    /// A message without an extension is unchanged.
    pub fn complete(message: &mut [u8]) {
        let len = u32::try_from(message.len()).unwrap_or(u32::MAX);
        let Some(extension) = Self::of(message) else { return };
        let (has_length, checksum, offset) =
            (extension.message_length.is_some(), extension.checksum, extension.checksum_offset());
        // First, because the checksum covers the length.
        if has_length {
            if let Some(field) = message.get_mut(FIELDS_OFFSET..).and_then(<[u8]>::first_chunk_mut) {
                *field = len.to_le_bytes();
            }
        }
        if let Some(kind) = checksum.map(Checksum::kind) {
            let octets = kind.of(message, offset).to_octets();
            let field = message.get_mut(offset..offset + kind.wire_len());
            debug_assert!(field.is_some(), "the parser has read a checksum at this offset");
            if let Some((field, octets)) = field.zip(octets.get(..kind.wire_len())) {
                field.copy_from_slice(octets);
            }
        }
    }

    /// Returns the extension of a message that may be incomplete.
    fn of(message: &[u8]) -> Option<HeaderExtension<'_>> {
        match Message::unchecked(message).ok()?.submessages().next() {
            Some(Ok(Submessage::HeaderExtension(extension))) => Some(extension),
            _ => None,
        }
    }

    /// Returns the bytes from the start of the message to the checksum.
    fn checksum_offset(&self) -> usize {
        FIELDS_OFFSET
            + if self.message_length.is_some() { 4 } else { 0 }
            + if self.timestamp.is_some() { 8 } else { 0 }
            + if self.u_extension.is_some() { 4 } else { 0 }
            + if self.w_extension.is_some() { 8 } else { 0 }
    }

    pub(in crate::wire) fn build(&self, buffer: &mut Vec<u8>, parameters: impl FnOnce(&mut InlineQosWriter<'_>)) {
        let start = buffer.len();
        let mut flags = match self.checksum {
            Some(checksum) => checksum.kind().flags(),
            None => 0,
        };
        for (flag, is_there) in [
            (FLAG_LENGTH, self.message_length.is_some()),
            (FLAG_TIMESTAMP, self.timestamp.is_some()),
            (FLAG_U_EXTENSION, self.u_extension.is_some()),
            (FLAG_W_EXTENSION, self.w_extension.is_some()),
        ] {
            flags |= if is_there { flag } else { 0 };
        }
        let mut fields = Fields::<{ HeaderExtension::WIRE_LEN_MAX }>::submessage(id::HEADER_EXTENSION, flags, 0);
        if let Some(len) = self.message_length {
            fields.u32(len);
        }
        if let Some(timestamp) = self.timestamp {
            let (seconds, fraction) = timestamp.to_wire();
            fields.u32(seconds).u32(fraction);
        }
        if let Some(extension) = self.u_extension {
            fields.bytes(extension);
        }
        if let Some(extension) = self.w_extension {
            fields.bytes(extension);
        }
        fields.append_to(buffer);
        if let Some(checksum) = self.checksum {
            let octets = checksum.to_octets();
            buffer.extend_from_slice(octets.get(..checksum.kind().wire_len()).unwrap_or_default());
        }
        let flags = if InlineQosWriter::write(buffer, parameters) { FLAG_PARAMETERS } else { 0 };
        // All fields are multiples of 4 bytes, so there is no padding.
        let _ = PayloadEnd::close(buffer, start, flags, 0);
    }
}
fn parse_time(cursor: &mut Cursor<'_>) -> Result<Time, WireError> {
    let seconds = cursor.u32()?;
    Ok(Time::from_wire(seconds, cursor.u32()?))
}

#[cfg(test)]
mod tests {
    use super::super::{assert_layout, parse_one};
    use super::*;
    use crate::types::GuidPrefix;
    use crate::wire::{MessageBuilder, Receiver};

    const KINDS: [ChecksumKind; 3] = [ChecksumKind::Crc32c, ChecksumKind::Crc64, ChecksumKind::Md5];

    fn everything() -> HeaderExtension<'static> {
        HeaderExtension {
            message_length: Some(0x0102_0304),
            timestamp: Some(Time::from_unix_nanos(5_500_000_000)),
            u_extension: Some(*b"uuuu"),
            w_extension: Some(*b"wwwwwwww"),
            checksum: Some(Checksum::Crc64(0x1112_1314_1516_1718)),
            parameters: None,
        }
    }

    /// A message with this extension, and an INFO_DST.
    fn message(extension: &HeaderExtension<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(GuidPrefix(*b"abcdefghijkl"));
        builder.header_extension(extension, |_| {});
        builder.info_dst(GuidPrefix::UNKNOWN);
        HeaderExtension::complete(&mut bytes);
        bytes
    }

    fn refused(bytes: &[u8]) -> Option<WireError> {
        Message::parse(bytes).err()
    }

    #[test]
    fn layout() {
        assert_layout(
            &Submessage::HeaderExtension(everything()),
            b"\0\x5f\x20\0\x04\x03\x02\x01\x05\0\0\0\0\0\0\x80uuuuwwwwwwww\x11\x12\x13\x14\x15\x16\x17\x18",
            b"\0\x5e\0\x20\x01\x02\x03\x04\0\0\0\x05\x80\0\0\0uuuuwwwwwwww\x11\x12\x13\x14\x15\x16\x17\x18",
            |message| message.header_extension(&everything(), |_| {}),
        );
        let md5 = Some(Checksum::Md5(*b"0123456789abcdef"));
        let extension = HeaderExtension { checksum: md5, ..HeaderExtension::default() };
        assert_layout(
            &Submessage::HeaderExtension(extension),
            b"\0\x61\x10\x000123456789abcdef",
            b"\0\x60\0\x100123456789abcdef",
            |message| message.header_extension(&extension, |_| {}),
        );
        let crc = Some(Checksum::Crc32c(0x0102_0304));
        let extension = HeaderExtension { checksum: crc, ..HeaderExtension::default() };
        assert_layout(
            &Submessage::HeaderExtension(extension),
            b"\0\x21\x04\0\x01\x02\x03\x04",
            b"\0\x20\0\x04\x01\x02\x03\x04",
            |message| message.header_extension(&extension, |_| {}),
        );
    }

    #[test]
    fn parameters_come_last() {
        let mut bytes = Vec::new();
        MessageBuilder::new(&mut bytes).header_extension(&everything(), |parameters| {
            parameters.status_info(1);
        });
        assert_eq!(bytes[..4], [0, 0xdf, 44, 0]);
        let Ok(Submessage::HeaderExtension(parsed)) = parse_one(&bytes) else { panic!("refused") };
        assert_eq!(parsed.parameters.unwrap().status_info(), 1);
        assert_eq!(HeaderExtension { parameters: None, ..parsed }, everything());
        assert_eq!(parse_one(&bytes[..bytes.len() - 4]), Err(WireErrorKind::Truncated));
    }

    #[test]
    fn changed_bit_fails_the_checksum() {
        for kind in KINDS {
            let checksum = Some(kind.zero());
            let bytes = message(&HeaderExtension { checksum, ..everything() });
            assert_eq!(refused(&bytes), None);
            let offset = 24 + 4 + 8 + 4 + 8;
            for at in (20..bytes.len()).filter(|at| !(20..24).contains(at)) {
                let mut changed = bytes.clone();
                changed[at] ^= 0x10;
                let error = refused(&changed).unwrap();
                let length_changed = (24..28).contains(&at) && error.kind == WireErrorKind::Truncated;
                assert!(
                    length_changed || error == WireError { kind: WireErrorKind::Checksum, offset },
                    "{at}: {error}"
                );
            }
        }
    }

    #[test]
    fn checksum_lowest_octet_first_is_accepted() {
        for kind in [ChecksumKind::Crc32c, ChecksumKind::Crc64] {
            let checksum = Some(kind.zero());
            let mut bytes = message(&HeaderExtension { checksum, ..HeaderExtension::default() });
            bytes[24..24 + kind.wire_len()].reverse();
            assert_eq!(refused(&bytes), None);
        }
    }

    #[test]
    fn checksum_of_big_endian_message_is_verified() {
        let mut bytes = b"RTPS\x02\x05\x01\x01abcdefghijkl\0\x22\0\x08\0\0\0\x20\0\0\0\0".to_vec();
        let Checksum::Crc32c(checksum) = ChecksumKind::Crc32c.of(&bytes, 28) else { panic!("another kind") };
        assert_eq!(refused(&bytes).map(|error| error.kind), Some(WireErrorKind::Checksum));
        bytes[28..].copy_from_slice(&checksum.to_be_bytes());
        assert_eq!(refused(&bytes), None);
    }

    #[test]
    fn message_shorter_than_its_length_is_rejected() {
        let extension = HeaderExtension { message_length: Some(0), ..HeaderExtension::default() };
        let mut bytes = message(&extension);
        assert_eq!(bytes[24..28], (bytes.len() as u32).to_le_bytes());
        assert_eq!(refused(&bytes), None);
        bytes.pop();
        assert_eq!(refused(&bytes), Some(WireError { kind: WireErrorKind::Truncated, offset: 24 }));
    }

    #[test]
    fn unknown_mandatory_parameter_rejects_the_message() {
        for (id, is_refused) in [(0x4071, true), (0xc071, true), (0x0071, false), (0x8071, false)] {
            let mut bytes = Vec::new();
            let mut builder = MessageBuilder::new(&mut bytes);
            builder.header(GuidPrefix::UNKNOWN);
            builder.header_extension(&HeaderExtension::default(), |parameters| {
                parameters.sequence_number(id, crate::types::SequenceNumber(1));
            });
            let expected = is_refused.then_some(WireErrorKind::MustUnderstand);
            assert_eq!(refused(&bytes).map(|error| error.kind), expected, "{id:04x}");
        }
    }

    #[test]
    fn extension_timestamp_acts_like_info_ts() {
        for (timestamp, expected) in [(Time::from_unix_nanos(7), Some(Time::from_unix_nanos(7))), (Time::INVALID, None)]
        {
            let bytes = message(&HeaderExtension { timestamp: Some(timestamp), ..HeaderExtension::default() });
            let message = Message::parse(&bytes).unwrap();
            let mut receiver = Receiver::new(&message.header);
            for submessage in message.submessages() {
                receiver.apply(&submessage.unwrap());
            }
            let nanos = |time: Option<Time>| time.map(|time| time.to_wire());
            assert_eq!(nanos(receiver.source_timestamp), nanos(expected));
        }
    }

    #[test]
    fn extension_elsewhere_is_ignored() {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(GuidPrefix::UNKNOWN);
        builder.info_ts(None);
        builder.header_extension(&everything(), |_| {});
        let parsed: Vec<_> = Message::parse(&bytes).unwrap().submessages().map(Result::unwrap).collect();
        assert_eq!(parsed, [Submessage::InfoTimestamp(None), Submessage::Skipped { id: id::HEADER_EXTENSION }]);
    }

    #[test]
    fn complete_without_extension_changes_nothing() {
        let mut bytes = Vec::new();
        MessageBuilder::new(&mut bytes).header(GuidPrefix::UNKNOWN);
        let before = bytes.clone();
        HeaderExtension::complete(&mut bytes);
        assert_eq!(bytes, before);
        HeaderExtension::complete(&mut []);
    }
}
