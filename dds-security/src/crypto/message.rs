//! Protection of whole messages (DDS Security 1.1, 7.3.6 and 9.5.3.3.4.6; 1.2 for the authenticated header).
//!
//! ```text
//! message header   20 bytes, in clear
//! SRTPS_PREFIX     0x33, flags, u16 length, CryptoHeader
//! SEC_BODY         0x30, flags, u16 length, u32 length, ciphertext    encrypted
//!   or the plain submessages                                          authenticated
//! SRTPS_POSTFIX    0x34, flags, u16 length, CryptoFooter
//! ```
//!
//! The message header is bound to the content in one of two ways. With [`HeaderBinding::InfoSource`], the protected
//! content begins with an INFO_SRC that repeats it. With [`HeaderBinding::Authenticated`], the MAC covers it, and the
//! prefix has the flag A.

use super::footer::Footer;
use super::submessage::{
    BODY_HEADER_LEN, LITTLE_ENDIAN, POSTFIX_LEN, PREFIX_LEN, SUBMESSAGE_HEADER_LEN, body_len, fill_length, parse_body,
    parse_postfix, parse_prefix, push_postfix, put_body_header, put_prefix,
};
use super::{Audience, CryptoHeader, OpenError, ReceiveKey, SendKey, TooLong, TransformationKind, insert_front};

/// Id of SRTPS_PREFIX.
pub const SRTPS_PREFIX: u8 = 0x33;
/// Id of SRTPS_POSTFIX.
pub const SRTPS_POSTFIX: u8 = 0x34;

/// Id of the submessage with which Fast DDS numbers its datagrams.
const FAST_DDS_STATISTICS: u8 = 0x80;

/// Flag A of SRTPS_PREFIX: the MAC covers the message header (DDS Security 1.2).
const FLAG_AUTHENTICATED: u8 = 0x02;
/// Flag P of SRTPS_PREFIX: the key comes from a pre-shared key (DDS Security 1.2).
const FLAG_PRE_SHARED: u8 = 0x04;

/// Bytes of the header of a message.
pub(crate) const MESSAGE_HEADER_LEN: usize = 20;
/// Bytes of an INFO_SRC.
const INFO_SOURCE_LEN: usize = 24;
/// Id of INFO_SRC.
const INFO_SOURCE: u8 = 0x0c;

/// Most bytes by which protection with an authenticated header makes a message longer, with padding.
pub const OVERHEAD: usize = PREFIX_LEN + BODY_HEADER_LEN + POSTFIX_LEN + 3;

/// How the header of a message is bound to its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderBinding {
    /// The content begins with an INFO_SRC that repeats the header (DDS Security 1.1).
    InfoSource,
    /// The MAC covers the header (DDS Security 1.2).
    Authenticated {
        /// The key comes from a pre-shared key.
        pre_shared: bool,
    },
}

/// The readable part of a protected message.
#[derive(Debug, Clone, Copy)]
pub struct ProtectedMessage<'a> {
    /// Protocol version, vendor and GUID prefix of the sender, as its header claims them.
    pub sender: [u8; 16],
    /// The header of the protection, which names the key.
    pub crypto: CryptoHeader,
    /// How the message binds its header.
    pub binding: HeaderBinding,
    message_header: &'a [u8],
    /// Behind the prefix.
    rest: &'a [u8],
}

/// Bytes that protection puts between the header of a message and its content.
#[must_use]
pub fn front_len(kind: TransformationKind, binding: HeaderBinding) -> usize {
    PREFIX_LEN + if kind.encrypts() { BODY_HEADER_LEN } else { 0 } + source_len(binding)
}

/// Protects a message in place. The footer has a MAC for each receiver of the audience, if the key has receivers.
///
/// # Errors
/// [`TooLong`] if the message has no header, or its content has more than 65 504 bytes. The message must not be sent
/// then.
pub fn seal(key: &SendKey, binding: HeaderBinding, message: &mut Vec<u8>, audience: Audience) -> Result<(), TooLong> {
    insert_front(message, 0, front_len(key.kind(), binding));
    seal_behind(key, binding, message, audience)
}

/// As [`seal`], for a message that begins at byte [`front_len`]. The bytes in front have no meaning. Only the header
/// moves, to the begin of `message`.
///
/// # Errors
/// As [`seal`].
pub fn seal_behind(
    key: &SendKey,
    binding: HeaderBinding,
    message: &mut Vec<u8>,
    audience: Audience,
) -> Result<(), TooLong> {
    let encrypts = key.kind().encrypts();
    let front = front_len(key.kind(), binding);
    let header: [u8; MESSAGE_HEADER_LEN] = *message.get(front..).and_then(|rest| rest.first_chunk()).ok_or(TooLong)?;
    let source = source_len(binding);
    if !encrypts {
        pad_last(message, front + MESSAGE_HEADER_LEN)?;
    }
    let content = MESSAGE_HEADER_LEN + front - source;
    body_len(message.len() - content)?;
    let (crypto, session) = key.next();
    let covers_header = matches!(binding, HeaderBinding::Authenticated { .. });
    // Header and content lie side by side only before the prefix is between them.
    let mac_of_plain = (!encrypts && covers_header).then(|| session.seal(&crypto, &[], &mut message[front..]));
    message[..MESSAGE_HEADER_LEN].copy_from_slice(&header);
    put_prefix(&mut message[MESSAGE_HEADER_LEN..], SRTPS_PREFIX, flags_of(binding), &crypto);
    if encrypts {
        let len = message.len() - content;
        put_body_header(&mut message[MESSAGE_HEADER_LEN + PREFIX_LEN..], len);
    }
    if source > 0 {
        message[content..content + source].copy_from_slice(&info_source(&header));
    }
    let mac = match mac_of_plain {
        Some(mac) => mac,
        None => session.seal(&crypto, if covers_header { &header } else { &[] }, &mut message[content..]),
    };
    push_postfix(message, SRTPS_POSTFIX, key, &crypto, &mac, audience);
    Ok(())
}

/// Pads the last submessage of those from `start` on. Writes its length if it is 0.
///
/// The postfix of plain submessages is found by their lengths.
fn pad_last(message: &mut Vec<u8>, mut start: usize) -> Result<(), TooLong> {
    while let Some([id, flags, l0, l1]) = message.get(start..).and_then(|rest| rest.first_chunk::<4>().copied()) {
        let little = flags & LITTLE_ENDIAN != 0;
        let octets = usize::from(if little { u16::from_le_bytes([l0, l1]) } else { u16::from_be_bytes([l0, l1]) });
        let next = start + SUBMESSAGE_HEADER_LEN + octets;
        // PAD and INFO_TS may be empty. Zero in others means the rest of the message.
        let is_empty = octets == 0 && matches!(id, 0x01 | 0x09);
        if next >= message.len() || (octets == 0 && !is_empty) {
            return if is_empty { Ok(()) } else { fill_length(message, start) };
        }
        start = next;
    }
    Ok(())
}

/// Reads the parts of a protected message that are in clear.
///
/// # Errors
/// [`OpenError::NotProtected`] if the first submessage is no SRTPS_PREFIX. [`OpenError::Malformed`] if there is no
/// message header or no header of the protection.
pub fn parse(datagram: &[u8]) -> Result<ProtectedMessage<'_>, OpenError> {
    let (message_header, rest) = datagram.split_at_checked(MESSAGE_HEADER_LEN).ok_or(OpenError::Malformed)?;
    let sender = *message_header.last_chunk().ok_or(OpenError::Malformed)?;
    if !message_header.starts_with(b"RTPS") {
        return Err(OpenError::Malformed);
    }
    let (flags, crypto, rest) = parse_prefix(rest, SRTPS_PREFIX)?;
    let pre_shared = flags & FLAG_PRE_SHARED != 0;
    let binding = if flags & FLAG_AUTHENTICATED != 0 {
        HeaderBinding::Authenticated { pre_shared }
    } else {
        HeaderBinding::InfoSource
    };
    Ok(ProtectedMessage { sender, crypto, binding, message_header, rest })
}

impl ProtectedMessage<'_> {
    /// Appends the plain message, with its header, to `out`, which is empty. An error leaves it empty.
    ///
    /// The plain message of [`HeaderBinding::InfoSource`] has no INFO_SRC in front.
    ///
    /// # Errors
    /// [`OpenError`] if the message is not authentic.
    pub fn open(&self, key: &mut ReceiveKey, out: &mut Vec<u8>) -> Result<(), OpenError> {
        let start = self.open_behind(key, out)?;
        out.drain(..start);
        Ok(())
    }

    /// As [`open`](Self::open). Returns where the plain message begins in `out`: the bytes in front have no meaning.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_behind(&self, key: &mut ReceiveKey, out: &mut Vec<u8>) -> Result<usize, OpenError> {
        let opened = self.open_into(key, out);
        if opened.is_err() {
            // Bytes that did not verify must not reach the caller.
            out.clear();
        }
        opened
    }

    fn open_into(&self, key: &mut ReceiveKey, out: &mut Vec<u8>) -> Result<usize, OpenError> {
        let (content, footer) = self.content()?;
        out.clear();
        out.reserve(MESSAGE_HEADER_LEN + content.len());
        out.extend_from_slice(self.message_header);
        out.extend_from_slice(content);
        let authenticated = self.binding != HeaderBinding::InfoSource;
        if authenticated && !self.crypto.kind.encrypts() {
            // GMAC covers one piece of bytes: header and content.
            return key.open(&self.crypto, &[], out, &footer).map(|()| 0);
        }
        let covered = if authenticated { self.message_header } else { &[] };
        let plain = out.get_mut(MESSAGE_HEADER_LEN..).ok_or(OpenError::Malformed)?;
        key.open(&self.crypto, covered, plain, &footer)?;
        if authenticated {
            return Ok(0);
        }
        // A relay that repeats the content behind its own header is found here.
        if plain.first_chunk::<INFO_SOURCE_LEN>().is_none_or(|source| !repeats(source, &self.sender)) {
            return Err(OpenError::Forged);
        }
        // The header moves behind the INFO_SRC, and not the content in front of it.
        out.copy_within(..MESSAGE_HEADER_LEN, INFO_SOURCE_LEN);
        Ok(INFO_SOURCE_LEN)
    }

    /// Returns the protected content, and the footer.
    fn content(&self) -> Result<(&[u8], Footer<'_>), OpenError> {
        let (content, rest) = if self.crypto.kind.encrypts() { parse_body(self.rest)? } else { self.split_plain()? };
        let (footer, behind) = parse_postfix(rest, SRTPS_POSTFIX)?;
        // The postfix is the last submessage. Bytes behind it would not be authentic. Fast DDS adds its statistics
        // there, and they are left out.
        let is_statistics = self.binding == HeaderBinding::InfoSource && behind.first() == Some(&FAST_DDS_STATISTICS);
        if behind.is_empty() || is_statistics { Ok((content, footer)) } else { Err(OpenError::Malformed) }
    }

    /// Finds the postfix behind plain submessages. Their lengths lead to it, or its place before the end does.
    fn split_plain(&self) -> Result<(&[u8], &[u8]), OpenError> {
        let at_end = self.rest.len().checked_sub(POSTFIX_LEN).ok_or(OpenError::Malformed)?;
        let mut at = 0;
        while at < at_end {
            let [id, flags, l0, l1] =
                *self.rest.get(at..).and_then(|rest| rest.first_chunk::<4>()).ok_or(OpenError::Malformed)?;
            // Content cannot hide a postfix here, because each submessage is skipped as a whole.
            if id == SRTPS_POSTFIX {
                break;
            }
            let little = flags & LITTLE_ENDIAN != 0;
            let octets = if little { u16::from_le_bytes([l0, l1]) } else { u16::from_be_bytes([l0, l1]) };
            at += SUBMESSAGE_HEADER_LEN + usize::from(octets);
        }
        self.rest.split_at_checked(at).ok_or(OpenError::Malformed)
    }
}

/// Bytes of the INFO_SRC in front of the content.
fn source_len(binding: HeaderBinding) -> usize {
    if binding == HeaderBinding::InfoSource { INFO_SOURCE_LEN } else { 0 }
}

fn flags_of(binding: HeaderBinding) -> u8 {
    match binding {
        HeaderBinding::InfoSource => 0,
        HeaderBinding::Authenticated { pre_shared: false } => FLAG_AUTHENTICATED,
        HeaderBinding::Authenticated { pre_shared: true } => FLAG_AUTHENTICATED | FLAG_PRE_SHARED,
    }
}

/// Returns the INFO_SRC that repeats a message header: 4 unused bytes, version, vendor, GUID prefix.
fn info_source(header: &[u8; MESSAGE_HEADER_LEN]) -> [u8; INFO_SOURCE_LEN] {
    let mut bytes = [0; INFO_SOURCE_LEN];
    bytes[0] = INFO_SOURCE;
    bytes[1] = LITTLE_ENDIAN;
    bytes[2] = (INFO_SOURCE_LEN - SUBMESSAGE_HEADER_LEN) as u8;
    bytes[8..].copy_from_slice(&header[4..]);
    bytes
}

/// Whether an INFO_SRC repeats version, vendor and GUID prefix of a sender.
fn repeats(source: &[u8; INFO_SOURCE_LEN], sender: &[u8; 16]) -> bool {
    source[0] == INFO_SOURCE && source[8..] == sender[..]
}
