//! Transforms whole messages between encoding and sending, and between reception and parsing.
//!
//! The sender calls [`Transform::seal`] with an encoded message. The receiver calls [`Transform::open`] once for each
//! datagram, before any parser sees it; everything behind it, queues included, holds opened messages.

use super::{ChecksumKind, Header, HeaderExtension, MessageBuilder, message::MAGIC};
use std::fmt;
use std::sync::Arc;

/// A transform that another crate implements, such as DDS Security.
pub trait MessageTransform: fmt::Debug + Send + Sync {
    /// Changes an encoded message before it is sent. An empty message is not sent.
    ///
    /// It begins at byte [`front_len`](Self::front_len), and the bytes in front have no meaning. The sender sends all
    /// bytes that `message` has when this method returns.
    fn seal(&self, message: &mut Vec<u8>);

    /// Bytes that [`seal`](Self::seal) needs in front of a message, so that it need not move the message. Default: 0.
    fn front_len(&self) -> usize {
        0
    }

    /// Returns where the original message of a received datagram is. It may be in `scratch`, which is empty.
    ///
    /// # Errors
    /// [`RejectedMessage`] if no peer with this transform sealed the datagram. The receiver drops and counts it.
    fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, RejectedMessage>;

    /// Most bytes by which a message grows. Default: 0. Writers leave as much space in each datagram.
    fn overhead(&self) -> u16 {
        0
    }

    /// The largest factor by which a submessage grows, if each is protected by itself. Default: 1.
    fn submessage_growth(&self) -> u8 {
        1
    }

    /// Returns a text on refused datagrams, for a user whose peers are not found. Default: empty.
    fn explain(&self) -> String {
        String::new()
    }
}

/// Space that a transform needs in each datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headroom {
    /// Bytes by which a message grows. Fragments and batches are smaller by it.
    pub bytes: u16,
    /// The largest factor by which a submessage grows: fewer of them share a message. 0 is like 1.
    pub submessage_growth: u8,
}

impl Headroom {
    /// The part of it that datagrams of one Ethernet frame keep. A longer one would leave little room for samples, so
    /// they exceed the frame then.
    #[must_use]
    pub(crate) fn in_frame(self) -> Self {
        /// Bytes for a protected message with three protected submessages.
        const BYTES_MAX: u16 = 256;
        /// Each submessage is protected, and the payload inside of it too.
        const GROWTH_MAX: u8 = 5;
        Self { bytes: self.bytes.min(BYTES_MAX), submessage_growth: self.submessage_growth.min(GROWTH_MAX) }
    }
}

/// A transform refuses a datagram.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RejectedMessage {
    /// A text for the log. `None` if the log has it already, because a peer may cause many.
    pub news: Option<Box<str>>,
    /// The receiver has opened the same message before. It does not count as refused.
    pub is_copy: bool,
}

impl fmt::Display for RejectedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the transform of messages rejected the datagram")
    }
}

impl std::error::Error for RejectedMessage {}

/// Where the original message of a received datagram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum OpenedMessage {
    /// The datagram is the message.
    Datagram,
    /// The scratch buffer holds the message.
    Scratch {
        /// Bytes in front of the message.
        start: usize,
    },
}

/// Result of [`Transform::seal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Transformed {
    /// The given bytes are the result.
    Unchanged,
    /// The scratch buffer holds the result.
    Replaced,
}

/// Transforms messages before they are sent and after they are received.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Transform {
    /// Changes nothing and reads no byte.
    #[default]
    Identity,
    /// Adds a HEADER_EXTENSION with length and checksum to each message.
    ///
    /// It costs a copy of the message, and 12, 16 or 24 bytes. The receiver's parser verifies any checksum.
    Checksum(ChecksumKind),
    /// The transform of another crate. It costs a copy of each sent message, and of most received ones.
    Custom(Arc<dyn MessageTransform>),
}

impl Transform {
    /// Transforms the message in `segments`, which follow each other on the wire.
    ///
    /// `scratch` is empty, and receives the result if the message changes. The segments are read only in that case.
    #[inline]
    pub fn seal<'a>(&self, segments: impl Iterator<Item = &'a [u8]>, scratch: &mut Vec<u8>) -> Transformed {
        match self {
            Self::Identity => return Transformed::Unchanged,
            Self::Checksum(kind) => put_checksum(*kind, segments, scratch),
            Self::Custom(transform) => {
                scratch.resize(transform.front_len(), 0);
                for segment in segments {
                    scratch.extend_from_slice(segment);
                }
                transform.seal(scratch);
            }
        }
        Transformed::Replaced
    }

    /// Whether [`open`](Self::open) may replace the bytes of a datagram.
    #[must_use]
    #[inline]
    pub fn replaces_received(&self) -> bool {
        matches!(self, Self::Custom(_))
    }

    /// Space that [`seal`](Self::seal) takes from samples. The headers that writers expect have space for a checksum.
    #[must_use]
    pub fn headroom(&self) -> Headroom {
        match self {
            Self::Identity | Self::Checksum(_) => Headroom::default(),
            Self::Custom(transform) => {
                Headroom { bytes: transform.overhead(), submessage_growth: transform.submessage_growth() }
            }
        }
    }

    /// Returns a text on refused datagrams. Empty if there are none.
    #[must_use]
    pub fn explain(&self) -> String {
        if let Self::Custom(transform) = self { transform.explain() } else { String::new() }
    }

    /// Returns where the original message of a received datagram is. `scratch` is empty.
    ///
    /// # Errors
    /// [`RejectedMessage`] if the transform refuses the datagram.
    #[inline]
    pub fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, RejectedMessage> {
        match self {
            // The parser verifies and skips the extension. The option of this participant concerns sending only.
            Self::Identity | Self::Checksum(_) => Ok(OpenedMessage::Datagram),
            Self::Custom(transform) => transform.open(datagram, scratch),
        }
    }
}

/// Copies a message, and inserts an extension behind its header.
fn put_checksum<'a>(kind: ChecksumKind, segments: impl Iterator<Item = &'a [u8]>, scratch: &mut Vec<u8>) {
    let mut header_left = Header::WIRE_LEN;
    for segment in segments {
        let (header, rest) = segment.split_at_checked(header_left).unwrap_or((segment, &[]));
        scratch.extend_from_slice(header);
        if header_left > 0 && header.len() == header_left {
            // Zeros stand for both values. `complete` replaces them once the message is whole.
            let extension =
                HeaderExtension { message_length: Some(0), checksum: Some(kind.zero()), ..HeaderExtension::default() };
            MessageBuilder::new(scratch).header_extension(&extension, |_| {});
        }
        // The header may be spread over several segments.
        header_left -= header.len();
        scratch.extend_from_slice(rest);
    }
    debug_assert!(scratch.starts_with(MAGIC), "a sealed message begins with the magic bytes");
    HeaderExtension::complete(scratch);
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
                let outcome = Transform::Checksum(kind).seal([head, tail].into_iter(), &mut sealed);
                assert_eq!(outcome, Transformed::Replaced);
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

    #[derive(Debug)]
    struct Inverted;

    impl MessageTransform for Inverted {
        fn seal(&self, message: &mut Vec<u8>) {
            message.drain(..self.front_len());
            for byte in message {
                *byte = !*byte;
            }
        }

        fn front_len(&self) -> usize {
            3
        }

        fn open(&self, datagram: &[u8], scratch: &mut Vec<u8>) -> Result<OpenedMessage, RejectedMessage> {
            scratch.push(7);
            scratch.extend(datagram.iter().map(|byte| !byte));
            let start = 1;
            if scratch[start..].starts_with(MAGIC) {
                Ok(OpenedMessage::Scratch { start })
            } else {
                Err(RejectedMessage::default())
            }
        }
    }

    #[test]
    fn custom_transform_opens_its_own_messages_only() {
        let transform = Transform::Custom(Arc::new(Inverted));
        let (mut sealed, mut opened) = (Vec::new(), Vec::new());
        assert_eq!(transform.seal([&b"RTPS"[..], b"123"].into_iter(), &mut sealed), Transformed::Replaced);
        assert_eq!(transform.open(&sealed, &mut opened), Ok(OpenedMessage::Scratch { start: 1 }));
        assert_eq!(opened[1..], *b"RTPS123");
        assert_eq!(transform.open(b"RTPS123", &mut Vec::new()), Err(RejectedMessage::default()));
    }

    #[test]
    fn identity_reads_no_byte() {
        let mut scratch = Vec::new();
        let untouched = std::iter::from_fn(|| -> Option<&[u8]> { panic!("read") });
        assert_eq!(Transform::Identity.seal(untouched, &mut scratch), Transformed::Unchanged);
        assert_eq!(Transform::Identity.open(b"RTPS", &mut scratch), Ok(OpenedMessage::Datagram));
        assert!(scratch.is_empty());
    }
}
