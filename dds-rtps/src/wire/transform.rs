//! Transforms messages between building and sending, and between reception and parsing.
//!
//! The sender calls [`Transform::seal`] with a built message, the receiver [`Transform::open`] before it parses.
//! [`Transform::Identity`] changes nothing and costs nothing. DDS Security would be another transform.

use super::{ChecksumKind, Header, HeaderExtension, MessageBuilder, message::MAGIC};
use std::convert::Infallible;

/// The part of a message that a transform changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransformScope {
    /// A whole message, from `RTPS` to its end.
    Message,
    /// One submessage, from its header to the next one.
    Submessage,
    /// A serialized payload, from its encapsulation header to its end.
    Payload,
}

/// Result of [`Transform::seal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum SealOutcome {
    /// The bytes are sent as they were built.
    Unchanged,
    /// The content of the scratch buffer is sent instead.
    Replaced,
}

/// Reason to reject bytes. No present transform has one.
pub type TransformError = Infallible;

/// Transforms bytes before they are sent and after they are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Transform {
    /// Changes nothing.
    #[default]
    Identity,
    /// Adds a HEADER_EXTENSION with length and checksum to each message.
    ///
    /// It costs a copy of the message, and 12, 16 or 24 bytes. The receiver's `parse` verifies any checksum.
    Checksum(ChecksumKind),
}

impl Transform {
    /// Transforms `segments`, which follow each other on the wire, into `scratch`, which is empty.
    ///
    /// The segments are read only if a change is needed.
    ///
    /// # Errors
    ///
    /// Never at present; a future transform may reject the bytes.
    #[inline]
    pub fn seal<'a>(
        &self,
        scope: TransformScope,
        segments: impl Iterator<Item = &'a [u8]>,
        scratch: &mut Vec<u8>,
    ) -> Result<SealOutcome, TransformError> {
        match self {
            Self::Checksum(kind) if scope == TransformScope::Message => Ok(put_checksum(*kind, segments, scratch)),
            Self::Identity | Self::Checksum(_) => Ok(SealOutcome::Unchanged),
        }
    }

    /// Returns the bytes to parse: the received ones, or others in `scratch`.
    ///
    /// # Errors
    ///
    /// Never at present; a future transform may reject the bytes.
    #[inline]
    pub fn open<'a>(
        &self,
        _scope: TransformScope,
        bytes: &'a [u8],
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], TransformError> {
        match self {
            Self::Identity | Self::Checksum(_) => Ok(bytes),
        }
    }
}

/// Copies a message, and inserts an extension behind its header.
fn put_checksum<'a>(
    kind: ChecksumKind,
    segments: impl Iterator<Item = &'a [u8]>,
    scratch: &mut Vec<u8>,
) -> SealOutcome {
    let mut header_left = Header::WIRE_LEN;
    for segment in segments {
        let (header, rest) = segment.split_at_checked(header_left).unwrap_or((segment, &[]));
        scratch.extend_from_slice(header);
        if header_left > 0 && header.len() == header_left {
            let extension =
                HeaderExtension { message_length: Some(0), checksum: Some(kind.zero()), ..HeaderExtension::default() };
            MessageBuilder::new(scratch).header_extension(&extension, |_| {});
        }
        // The header may be spread over several segments.
        header_left -= header.len();
        scratch.extend_from_slice(rest);
    }
    debug_assert!(scratch.starts_with(MAGIC), "a sealed message begins with the magic bytes");
    // Length and checksum cover the complete message, so they are set last.
    HeaderExtension::complete(scratch);
    SealOutcome::Replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::GuidPrefix;
    use crate::wire::{Checksum, Message, Submessage};

    #[test]
    fn checksum_is_independent_of_the_segments() {
        let mut message = Vec::new();
        let mut builder = MessageBuilder::new(&mut message);
        builder.header(GuidPrefix(*b"abcdefghijkl"));
        builder.info_dst(GuidPrefix::UNKNOWN);
        for kind in [ChecksumKind::Crc32c, ChecksumKind::Crc64, ChecksumKind::Md5] {
            for cut in [1, 19, 20, 21, 36] {
                let (head, tail) = message.split_at(cut);
                let mut sealed = Vec::new();
                let outcome =
                    Transform::Checksum(kind).seal(TransformScope::Message, [head, tail].into_iter(), &mut sealed);
                assert_eq!(outcome, Ok(SealOutcome::Replaced));
                assert_eq!(sealed.len(), message.len() + 8 + kind.wire_len());
                let parsed: Vec<_> = Message::parse(&sealed).unwrap().submessages().map(Result::unwrap).collect();
                let [Submessage::HeaderExtension(extension), Submessage::InfoDestination(_)] = &parsed[..] else {
                    panic!("{parsed:?}")
                };
                assert_eq!(extension.message_length, Some(sealed.len() as u32));
                assert_eq!(extension.checksum.map(Checksum::kind), Some(kind));
            }
        }
    }

    #[test]
    fn only_whole_messages_get_a_checksum() {
        let untouched = std::iter::from_fn(|| -> Option<&[u8]> { panic!("looked at") });
        let transform = Transform::Checksum(ChecksumKind::Crc64);
        assert_eq!(transform.seal(TransformScope::Payload, untouched, &mut Vec::new()), Ok(SealOutcome::Unchanged));
    }

    #[test]
    fn identity_returns_the_same_bytes() {
        let bytes = *b"RTPS";
        let mut scratch = Vec::new();
        let untouched = std::iter::from_fn(|| -> Option<&[u8]> { panic!("looked at") });
        assert_eq!(
            Transform::Identity.seal(TransformScope::Message, untouched, &mut scratch),
            Ok(SealOutcome::Unchanged)
        );
        let Ok(opened) = Transform::Identity.open(TransformScope::Message, &bytes, &mut scratch);
        assert!(std::ptr::eq(opened, &bytes[..]));
    }
}
