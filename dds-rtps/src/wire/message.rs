//! A message: its header and the iteration over its submessages (RTPS 2.5, 8.3.3 and 9.4.4).
//!
//! ```text
//! 0   "RTPS"
//! 4   version          u8 major, u8 minor
//! 6   vendorId
//! 8   guidPrefix       12 bytes
//! 20  submessages
//! ```

use super::cursor::Cursor;
use super::submessage::FLAG_LITTLE_ENDIAN;
use super::{Submessage, WireError, WireErrorKind, id};
use crate::types::{GuidPrefix, ProtocolVersion, Time, VendorId};

/// Header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Protocol version; `parse` has checked the major version 2.
    pub version: ProtocolVersion,
    /// Vendor.
    pub vendor: VendorId,
    /// The sending participant.
    pub prefix: GuidPrefix,
}

impl Header {
    /// Bytes on the wire.
    pub const WIRE_LEN: usize = 20;
}

/// A datagram with a valid header.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// Its header.
    pub header: Header,
    bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// Reads the header of a message. All minor versions of major version 2 are accepted.
    ///
    /// A HEADER_EXTENSION directly behind the header is verified; a message without one costs nothing more.
    ///
    /// # Errors
    ///
    /// Fails if `bytes` is shorter than the header, does not begin with `RTPS`, or has another major version. Fails
    /// if a header extension is malformed, announces more bytes than there are, or has a wrong checksum. Fails if it
    /// has an unknown parameter that must be understood.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        let message = Self::unchecked(bytes)?;
        // One comparison for the messages of most peers, which have no extension.
        if message.bytes.first() == Some(&id::HEADER_EXTENSION) {
            if let Some(Submessage::HeaderExtension(extension)) = message.submessages().next().transpose()? {
                extension.check(bytes)?;
            }
        }
        Ok(message)
    }

    /// Whether the message has a checksum, which `parse` has verified.
    #[must_use]
    pub fn has_checksum(&self) -> bool {
        self.bytes.first() == Some(&id::HEADER_EXTENSION)
            && matches!(
                self.submessages().next(),
                Some(Ok(Submessage::HeaderExtension(extension))) if extension.checksum.is_some()
            )
    }

    /// Reads the header without verifying an extension.
    pub(super) fn unchecked(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(bytes, 0, true);
        let not_rtps = cursor.error(WireErrorKind::NotRtps);
        if &cursor.bytes::<4>()? != MAGIC {
            return Err(not_rtps);
        }
        // Minor versions only add fields, which are skipped. A new major version may change everything.
        let at_version = cursor.clone();
        let [major, minor] = cursor.bytes()?;
        let version = ProtocolVersion { major, minor };
        if major != ProtocolVersion::OURS.major {
            return Err(at_version.error(WireErrorKind::UnsupportedVersion(version)));
        }
        let header = Header { version, vendor: VendorId(cursor.bytes()?), prefix: cursor.guid_prefix()? };
        Ok(Self { header, bytes: cursor.rest() })
    }

    /// Returns the submessages in their order.
    #[must_use]
    pub fn submessages(&self) -> Submessages<'a> {
        Submessages { rest: self.bytes, offset: Header::WIRE_LEN }
    }

    /// Returns the submessages from the one that begins at `offset`, as [`Submessages::offset`] has returned it.
    ///
    /// It is empty past the end. An offset within a submessage gives wrong submessages or an error, nothing worse.
    #[must_use]
    pub fn submessages_from(&self, offset: usize) -> Submessages<'a> {
        let rest = match offset.checked_sub(Header::WIRE_LEN) {
            Some(behind_header) => self.bytes.get(behind_header..).unwrap_or_default(),
            // No submessage begins within the header.
            None => &[],
        };
        Submessages { rest, offset }
    }
}

/// Iterates over the submessages of a message.
///
/// octetsToNextHeader 0 means "to the end of the message", except for PAD and INFO_TS, which are then empty.
///
/// A malformed submessage yields its error, and the iteration continues behind it. It ends after a submessage that is
/// longer than the message. It also ends after a malformed INFO_TS, INFO_SRC or INFO_DST, because source and
/// destination of the rest are then unknown.
#[derive(Debug, Clone)]
pub struct Submessages<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Submessages<'a> {
    /// Returns the bytes from the start of the message to the next submessage.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Reads an INFO_TS with a valid time, which precedes each sample of a batch. `None` if another submessage comes
    /// next, to be parsed.
    #[inline]
    pub fn next_timestamp(&mut self) -> Option<Time> {
        let (header, behind) = self.rest.split_first_chunk::<4>()?;
        // Another byte order or length is left to the general parser.
        if *header != LITTLE_ENDIAN_INFO_TS {
            return None;
        }
        let (seconds, behind) = behind.split_first_chunk::<4>()?;
        let (fraction, behind) = behind.split_first_chunk::<4>()?;
        let time = Time::from_wire(u32::from_le_bytes(*seconds), u32::from_le_bytes(*fraction));
        if !time.is_valid() {
            return None;
        }
        self.offset += 12;
        self.rest = behind;
        Some(time)
    }

    fn parse_next(&mut self) -> Result<Submessage<'a>, WireError> {
        // If the length cannot be read, the iteration ends here.
        let mut cursor = Cursor::new(std::mem::take(&mut self.rest), self.offset, true);
        let [id, flags] = cursor.bytes()?;
        let little_endian = flags & FLAG_LITTLE_ENDIAN != 0;
        let mut cursor = Cursor::new(cursor.rest(), cursor.offset(), little_endian);
        let len = match cursor.u16()? {
            // The last submessage of a message may be longer than 65535 bytes.
            0 if !matches!(id, id::PAD | id::INFO_TS) => cursor.rest().len(),
            len => usize::from(len),
        };
        let mut body = cursor.split(len)?;
        let parsed = Submessage::parse(id, flags, &mut body);
        self.offset = cursor.offset();
        // Without a valid INFO submessage, the source of the rest is unknown.
        if parsed.is_ok() || !matches!(id, id::INFO_TS | id::INFO_SRC | id::INFO_DST) {
            self.rest = cursor.rest();
        }
        parsed
    }
}

impl<'a> Iterator for Submessages<'a> {
    type Item = Result<Submessage<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        Some(self.parse_next())
    }
}

impl std::iter::FusedIterator for Submessages<'_> {}

/// Header of an INFO_TS with a time.
const LITTLE_ENDIAN_INFO_TS: [u8; 4] = [id::INFO_TS, FLAG_LITTLE_ENDIAN, 8, 0];

/// First bytes of each message.
pub(super) const MAGIC: &[u8; 4] = b"RTPS";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::WireErrorKind::{SequenceNumber, Truncated};

    const HEADER: &[u8] = b"RTPS\x02\x05\x01\x10abcdefghijkl";

    fn walk(submessages: &[u8]) -> Vec<Result<Submessage<'static>, WireError>> {
        let bytes = Box::leak([HEADER, submessages].concat().into_boxed_slice());
        Message::parse(bytes).unwrap().submessages().collect()
    }

    fn error(kind: WireErrorKind, offset: usize) -> Result<Submessage<'static>, WireError> {
        Err(WireError { kind, offset })
    }

    fn skipped(id: u8) -> Result<Submessage<'static>, WireError> {
        Ok(Submessage::Skipped { id })
    }

    #[test]
    fn header_has_version_vendor_and_prefix() {
        let message = Message::parse(HEADER).unwrap();
        assert_eq!(message.header.version, ProtocolVersion { major: 2, minor: 5 });
        assert_eq!(message.header.vendor, VendorId::CYCLONE);
        assert_eq!(message.header.prefix, GuidPrefix(*b"abcdefghijkl"));
        assert!(message.submessages().next().is_none());
    }

    #[test]
    fn only_major_version_2_is_accepted() {
        for (version, accepted) in [([2, 0], true), ([2, 1], true), ([2, 255], true), ([1, 5], false), ([3, 0], false)]
        {
            let bytes = [&b"RTPS"[..], &version, &HEADER[6..]].concat();
            assert_eq!(Message::parse(&bytes).is_ok(), accepted, "{version:?}");
        }
        let bytes = [b"RTPX", &HEADER[4..]].concat();
        assert_eq!(Message::parse(&bytes).unwrap_err(), WireError { kind: WireErrorKind::NotRtps, offset: 0 });
        assert!((0..HEADER.len()).all(|len| Message::parse(&HEADER[..len]).is_err()));
    }

    #[test]
    fn length_0_is_to_the_end_but_for_pad_and_info_ts() {
        let unknown_to_the_end = [0x80, 1, 0, 0, 0x09, 1, 0, 0];
        assert_eq!(walk(&unknown_to_the_end), [skipped(0x80)]);
        let heartbeat =
            [7, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
        assert!(matches!(walk(&heartbeat)[..], [Ok(Submessage::Heartbeat(_))]));
        let pad_then_invalid_timestamp = [1, 1, 0, 0, 9, 3, 0, 0, 1, 1, 0, 0];
        assert_eq!(walk(&pad_then_invalid_timestamp), [skipped(1), Ok(Submessage::InfoTimestamp(None)), skipped(1)]);
    }

    #[test]
    fn last_submessage_may_have_any_length() {
        assert_eq!(walk(&[1, 1, 0, 0, 0x81, 0, 0, 3, 9, 9, 9]), [skipped(1), skipped(0x81)]);
    }

    #[test]
    fn unknown_submessage_is_skipped_by_its_length() {
        let secure_and_extension =
            [0x31, 1, 4, 0, 9, 9, 9, 9, 0x30, 1, 0, 4, 0, 0, 0, 0, 0x00, 1, 4, 0, 1, 2, 3, 4, 0xff, 0, 0, 0];
        let seen = walk(&secure_and_extension);
        assert_eq!(seen[..2], [skipped(0x31), error(Truncated, 32)]);
        assert_eq!(walk(&secure_and_extension[8..16]), [error(Truncated, 24)]);
        assert_eq!(
            walk(&[&[1, 1, 0, 0], &secure_and_extension[16..]].concat()),
            [skipped(1), skipped(0x00), skipped(0xff)]
        );
        assert!(id::is_secure(0x31) && id::is_secure(0x34) && !id::is_secure(0x35) && !id::is_secure(0x2f));
    }

    #[test]
    fn malformed_submessage_is_skipped() {
        let mut bytes = vec![0x13, 1, 24, 0];
        bytes.extend([0; 24]);
        bytes.extend([0x07, 1, 4, 0, 0, 0, 0, 0]);
        bytes.extend([0x09, 0, 0, 8, 0, 0, 0, 2, 0x80, 0, 0, 0]);
        let timestamp = Time::from_unix_nanos(2_500_000_000);
        assert_eq!(
            walk(&bytes),
            [error(SequenceNumber, 32), error(Truncated, 56), Ok(Submessage::InfoTimestamp(Some(timestamp)))]
        );
    }

    #[test]
    fn malformed_info_submessage_ends_the_message() {
        for (id, fault) in [(id::INFO_DST, 24), (id::INFO_SRC, 28), (id::INFO_TS, 28)] {
            let bytes = [id, 1, 4, 0, 0, 0, 0, 0, 1, 1, 0, 0];
            assert_eq!(walk(&bytes), [error(Truncated, fault)], "{id:02x}");
        }
    }

    #[test]
    fn submessage_longer_than_the_message_ends_it() {
        assert_eq!(walk(&[1, 1, 0, 0, 0x80, 1, 5, 0, 1, 1, 0, 0]), [skipped(1), error(Truncated, 28)]);
        assert_eq!(walk(&[1, 1, 0, 0, 0x80, 1]), [skipped(1), error(Truncated, 26)]);
        assert_eq!(walk(&[1]), [error(Truncated, 20)]);
    }

    #[test]
    fn next_timestamp_equals_the_parsed_one() {
        let valid = [9, 1, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0x80, 1, 1, 0, 0];
        let cases: [(&[u8], bool); 6] = [
            (&valid, true),
            // The other byte order, no time, an invalid one, another length, too short: all of these are parsed.
            (&[9, 0, 0, 8, 0, 0, 0, 5, 0x80, 0, 0, 0], false),
            (&[9, 3, 0, 0], false),
            (&[9, 1, 8, 0, 255, 255, 255, 255, 255, 255, 255, 255], false),
            (&[9, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0x80], false),
            (&valid[..11], false),
        ];
        for (bytes, is_passed_over) in cases {
            let bytes = [HEADER, bytes].concat();
            let message = Message::parse(&bytes).unwrap();
            let (mut passing, mut parsing) = (message.submessages(), message.submessages());
            let before = (passing.offset(), passing.rest);
            let time = passing.next_timestamp();
            assert_eq!(time.is_some(), is_passed_over, "{bytes:?}");
            if let Some(time) = time {
                assert_eq!(parsing.next(), Some(Ok(Submessage::InfoTimestamp(Some(time)))));
                assert_eq!((passing.offset(), passing.rest), (parsing.offset(), parsing.rest));
            } else {
                assert_eq!((passing.offset(), passing.rest), before);
            }
        }
    }

    #[test]
    fn offset_is_that_of_the_next_submessage() {
        let bytes = [HEADER, &[1, 1, 0, 0, 0x80, 1, 4, 0, 0, 0, 0, 0]].concat();
        let mut submessages = Message::parse(&bytes).unwrap().submessages();
        let mut offsets = vec![submessages.offset()];
        while submessages.next().is_some() {
            offsets.push(submessages.offset());
        }
        assert_eq!(offsets, [20, 24, 32]);
        let message = Message::parse(&bytes).unwrap();
        assert_eq!(message.submessages_from(24).next(), Some(skipped(0x80)));
        assert_eq!(message.submessages_from(30).next(), Some(error(Truncated, 32)));
        assert!([0, 19, 32, 33, usize::MAX].iter().all(|&offset| message.submessages_from(offset).next().is_none()));
    }
}
