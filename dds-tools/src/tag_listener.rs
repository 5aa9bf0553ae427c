//! The domain tags of other participants. A participant ignores announcements with another tag (RTPS 2.5, 8.5.3.2).
//!
//! An announcement (SPDP) is an RTPS message with these parts:
//!
//! ```text
//! header: "RTPS", version (2), vendor (2), GUID prefix (12)
//! submessage: id (1), flags (1), length (2), body
//! body of DATA: extra flags (2), octets to inline QoS (2), reader (4), writer (4), sequence number (8), …, payload
//! payload: encapsulation header (4), parameters: id (2), length (2), value
//! ```

use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

/// Most tags that are kept. Any host can send announcements.
const TAGS_MAX: usize = 16;
/// Multicast group and first port of announcements (RTPS 2.5, 9.6.1.1).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
const FIRST_PORT: u32 = 7400;
const PORTS_OF_DOMAIN: u32 = 250;
/// Length of the header of a message.
const HEADER_LEN: usize = 20;
const PAD: u8 = 0x01;
const INFO_TS: u8 = 0x09;
const DATA: u8 = 0x15;
/// The writer of announcements.
const SPDP_WRITER: [u8; 4] = [0x00, 0x01, 0x00, 0xc2];
const PARTICIPANT_TAG: u16 = 0x4014;
const PARAMETERS_END: u16 = 0x0001;
/// Flags of a submessage.
const LITTLE_ENDIAN: u8 = 0x01;
const INLINE_QOS: u8 = 0x02;

/// Listens to announcements of a domain for `wait`, and returns their tags. The empty tag is the default one.
///
/// Without multicast, the result is empty. `keep_on` returns false to end early.
#[must_use]
pub fn listen(domain: u32, wait: Duration, keep_on: impl Fn() -> bool) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    let Ok(socket) = open(domain) else { return tags };
    let end = Instant::now() + wait;
    let mut buffer = [0; 4096];
    while keep_on() && Instant::now() < end && tags.len() < TAGS_MAX {
        let Ok(len) = socket.recv(&mut buffer) else { continue };
        tags.extend(tag_of(&buffer[..len]));
    }
    tags
}

fn open(domain: u32) -> std::io::Result<UdpSocket> {
    let port = u16::try_from(FIRST_PORT + PORTS_OF_DOMAIN * domain).map_err(|_| std::io::ErrorKind::InvalidInput)?;
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    #[cfg(all(unix, not(target_os = "solaris")))]
    socket.set_reuse_port(true)?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
    socket.set_read_timeout(Some(Duration::from_millis(50)))?;
    for interface in if_addrs::get_if_addrs()? {
        if let IpAddr::V4(address) = interface.ip() {
            // An interface without multicast has no announcements.
            let _ = socket.join_multicast_v4(&GROUP, &address);
        }
    }
    Ok(socket.into())
}

/// Returns the tag of an announcement. `None` for other and for damaged messages.
fn tag_of(message: &[u8]) -> Option<String> {
    let mut rest = message.strip_prefix(b"RTPS").and(message.get(HEADER_LEN..))?;
    while let Some(([id, flags, length @ ..], body)) = rest.split_first_chunk::<4>() {
        let length = usize::from(read_u16(*length, flags & LITTLE_ENDIAN != 0));
        // The length 0 means the rest of the message, except for submessages that may be empty (RTPS 2.5, 9.4.5.1.3).
        let length = if length == 0 && !matches!(*id, PAD | INFO_TS) { body.len() } else { length };
        let (content, next) = body.split_at_checked(length)?;
        if *id == DATA && content.get(8..12) == Some(&SPDP_WRITER) {
            return tag_of_data(*flags, content);
        }
        rest = next;
    }
    None
}

/// Returns the tag in the body of a DATA submessage. Without the parameter, it is empty.
fn tag_of_data(flags: u8, body: &[u8]) -> Option<String> {
    let is_little = flags & LITTLE_ENDIAN != 0;
    let (_, after_flags) = body.split_first_chunk::<2>()?;
    let (octets, after_octets) = after_flags.split_first_chunk::<2>()?;
    let mut payload = after_octets.get(usize::from(read_u16(*octets, is_little))..)?;
    if flags & INLINE_QOS != 0 {
        while parameter(&mut payload, is_little)?.1 {}
    }
    let (header, mut parameters) = payload.split_first_chunk::<4>()?;
    // The lowest bit of the representation identifier is the byte order.
    let is_little = header[1] & 1 != 0;
    while let Some(((id, value), is_more)) = parameter(&mut parameters, is_little) {
        if id == PARTICIPANT_TAG {
            let (length, text) = value.split_first_chunk::<4>()?;
            let length = if is_little { u32::from_le_bytes(*length) } else { u32::from_be_bytes(*length) };
            let text = text.get(..usize::try_from(length).ok()?.checked_sub(1)?)?;
            return String::from_utf8(text.to_vec()).ok();
        }
        if !is_more {
            return Some(String::new());
        }
    }
    None
}

/// Takes a parameter from the input. Returns its id and value, and whether others may follow.
fn parameter<'m>(input: &mut &'m [u8], is_little: bool) -> Option<((u16, &'m [u8]), bool)> {
    let ([id @ .., _, _], _) = input.split_first_chunk::<4>()?;
    let (length, rest) = input.get(2..)?.split_first_chunk::<2>()?;
    let id = read_u16(*id, is_little);
    if id == PARAMETERS_END {
        *input = rest;
        return Some(((id, &[]), false));
    }
    let (value, next) = rest.split_at_checked(usize::from(read_u16(*length, is_little)))?;
    *input = next;
    Some(((id, value), true))
}

const fn read_u16(bytes: [u8; 2], is_little: bool) -> u16 {
    if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
}

#[cfg(test)]
mod tests {
    use super::tag_of;

    /// An announcement with a tag, little endian.
    fn announcement(tag: Option<&str>) -> Vec<u8> {
        // A timestamp comes first.
        announcement_behind(&[0x09, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0], tag)
    }

    /// An announcement behind other submessages.
    fn announcement_behind(first: &[u8], tag: Option<&str>) -> Vec<u8> {
        let mut body = vec![0, 0, 16, 0];
        body.extend([0, 1, 0, 0xc7, 0, 1, 0, 0xc2, 0, 0, 0, 0, 1, 0, 0, 0]);
        body.extend([0, 3, 0, 0]);
        body.extend([0x15, 0, 4, 0, 2, 5, 0, 0]);
        if let Some(tag) = tag {
            let mut text = (tag.len() as u32 + 1).to_le_bytes().to_vec();
            text.extend(tag.bytes().chain([0]));
            text.resize(text.len().next_multiple_of(4), 0);
            body.extend([0x14, 0x40]);
            body.extend((text.len() as u16).to_le_bytes());
            body.extend(text);
        }
        body.extend([1, 0, 0, 0]);
        let mut message = b"RTPS\x02\x05\x01\xdd".to_vec();
        message.extend([7; 12]);
        message.extend(first);
        message.extend([0x15, 5]);
        message.extend((body.len() as u16).to_le_bytes());
        message.extend(body);
        message
    }

    #[test]
    fn announcements_have_tags() {
        assert_eq!(tag_of(&announcement(Some("left"))), Some("left".to_owned()));
        assert_eq!(tag_of(&announcement(None)), Some(String::new()));
        assert_eq!(tag_of(b"RTPS"), None);
    }

    #[test]
    fn length_zero_is_the_rest_or_nothing() {
        // INFO_TS without a timestamp (flag I), and PAD: both are empty.
        for empty in [[0x09, 3, 0, 0], [0x01, 1, 0, 0]] {
            assert_eq!(tag_of(&announcement_behind(&empty, Some("left"))), Some("left".to_owned()));
        }
        // A HEARTBEAT with the length 0 has the rest of the message.
        assert_eq!(tag_of(&announcement_behind(&[0x07, 1, 0, 0], Some("left"))), None);
        // So has the announcement, if it is the last submessage.
        let mut last = announcement_behind(&[], Some("left"));
        last[22..24].fill(0);
        assert_eq!(tag_of(&last), Some("left".to_owned()));
    }

    #[test]
    fn damaged_announcements_have_no_tag() {
        let whole = announcement(Some("left"));
        for len in 0..whole.len() - 4 {
            assert_eq!(tag_of(&whole[..len]), None, "{len}");
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = tag_of(&damaged);
            }
        }
    }
}
