//! The one place where bytes may change between lay-out and socket, and between socket and parse: DDS Security will stand
//! here, and nowhere else.
//!
//! Whoever sends asks [`Transform::seal`] with what has been laid out, and whoever receives asks [`Transform::open`]
//! before it parses. [`Transform::Identity`] changes nothing, touches no byte, and costs nothing.

use super::{ChecksumKind, Header, HeaderExtension, MessageBuilder, message::MAGIC};
use std::convert::Infallible;

/// What a transform is asked to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A whole message, from `RTPS` to its end.
    Message,
    /// One submessage, from its header to the next one.
    Submessage,
    /// A serialized payload, from its encapsulation header to its end.
    Payload,
}

/// What [`Transform::seal`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Sealed {
    /// The bytes go out as they have been laid out.
    Unchanged,
    /// What has been appended to the scratch buffer goes out in their place.
    Replaced,
}

/// Why bytes may not go out or come in. No transform of today has a reason to refuse any.
pub type TransformError = Infallible;

/// Changes bytes on their way out and in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Transform {
    /// Leaves everything as it is.
    #[default]
    Identity,
    /// Gives every message a HEADER_EXTENSION with its length and its checksum. It costs a copy of the message, and 12, 16
    /// or 24 bytes in it. On the way in `parse` checks whatever checksum there is.
    Checksum(ChecksumKind),
}

impl Transform {
    /// Asks whether `segments`, which follow each other on the wire, may go out as they are. They are not looked at
    /// unless something has to be changed. `scratch` is empty, and is used again and again.
    ///
    /// # Errors
    ///
    /// Never today; later, if the bytes must not leave.
    #[inline]
    pub fn seal<'a>(
        &self,
        scope: Scope,
        segments: impl Iterator<Item = &'a [u8]>,
        scratch: &mut Vec<u8>,
    ) -> Result<Sealed, TransformError> {
        match self {
            Self::Checksum(kind) if scope == Scope::Message => Ok(put_checksum(*kind, segments, scratch)),
            Self::Identity | Self::Checksum(_) => Ok(Sealed::Unchanged),
        }
    }

    /// The bytes to parse in place of those that came: the same ones, or ones in `scratch`.
    ///
    /// # Errors
    ///
    /// Never today; later, if the bytes must not be believed.
    #[inline]
    pub fn open<'a>(
        &self,
        _scope: Scope,
        bytes: &'a [u8],
        _scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], TransformError> {
        match self {
            Self::Identity | Self::Checksum(_) => Ok(bytes),
        }
    }
}

/// Copies a message with an extension between its header and the rest.
fn put_checksum<'a>(kind: ChecksumKind, segments: impl Iterator<Item = &'a [u8]>, scratch: &mut Vec<u8>) -> Sealed {
    let mut header_left = Header::WIRE_LEN;
    for segment in segments {
        let (header, rest) = segment.split_at_checked(header_left).unwrap_or((segment, &[]));
        scratch.extend_from_slice(header);
        if header_left > 0 && header.len() == header_left {
            let extension =
                HeaderExtension { message_length: Some(0), checksum: Some(kind.zero()), ..HeaderExtension::default() };
            MessageBuilder::new(scratch).header_extension(&extension, |_| {});
        }
        header_left -= header.len();
        scratch.extend_from_slice(rest);
    }
    debug_assert!(scratch.starts_with(MAGIC), "what is sealed as a message is one");
    HeaderExtension::complete(scratch);
    Sealed::Replaced
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
                let outcome = Transform::Checksum(kind).seal(Scope::Message, [head, tail].into_iter(), &mut sealed);
                assert_eq!(outcome, Ok(Sealed::Replaced));
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
        assert_eq!(transform.seal(Scope::Payload, untouched, &mut Vec::new()), Ok(Sealed::Unchanged));
    }

    #[test]
    fn identity_returns_the_same_bytes() {
        let bytes = *b"RTPS";
        let mut scratch = Vec::new();
        let untouched = std::iter::from_fn(|| -> Option<&[u8]> { panic!("looked at") });
        assert_eq!(Transform::Identity.seal(Scope::Message, untouched, &mut scratch), Ok(Sealed::Unchanged));
        let Ok(opened) = Transform::Identity.open(Scope::Message, &bytes, &mut scratch);
        assert!(std::ptr::eq(opened, &bytes[..]));
    }
}
