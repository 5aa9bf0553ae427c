//! INFO_REPLY and INFO_REPLY_IP4 (RTPS 2.5, 8.3.8.9.3, 9.4.5.10 and 9.4.5.14).
//!
//! ```text
//! INFO_REPLY                                INFO_REPLY_IP4
//! 0   0f, flags, octetsToNextHeader u16     0   0d, flags, octetsToNextHeader u16    flags: E 01, M 02 multicast
//! 4   unicast: count u32                    4   unicast: address u32, port u32
//! 8   kind i32, port u32, address 16        12  multicast, alike, if M
//! ..  multicast, alike, if M
//! ```

use super::id;
use crate::types::{Locator, LocatorKind};
use crate::wire::WireError;
use crate::wire::cursor::Cursor;
use crate::wire::fields::Fields;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Destination of the answers to the following submessages, in place of the discovered one.
///
/// Do not use it unchecked: a forged datagram could direct our answers at a third party. `discovery` compares it with
/// the sender's announcement (`ReplyTo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfoReply<'a> {
    /// Unicast destinations.
    pub unicast: LocatorList<'a>,
    /// Multicast destinations; empty if there are none.
    pub multicast: LocatorList<'a>,
}

/// Locators in a message. It owns nothing, so its length is bounded by the message.
#[derive(Clone, Copy)]
pub struct LocatorList<'a> {
    bytes: &'a [u8],
    little_endian: bool,
    layout: LocatorLayout,
}

/// Layout of a locator.
#[derive(Clone, Copy)]
enum LocatorLayout {
    /// Kind, port, sixteen bytes of address.
    Full,
    /// An IPv4 address as a number, and the port.
    Ip4,
}

const FLAG_MULTICAST: u8 = 0x02;

impl<'a> InfoReply<'a> {
    pub(super) fn parse(cursor: &mut Cursor<'a>, flags: u8) -> Result<Self, WireError> {
        let unicast = LocatorList::parse_counted(cursor)?;
        let multicast = match flags & FLAG_MULTICAST {
            0 => LocatorList::EMPTY,
            _ => LocatorList::parse_counted(cursor)?,
        };
        Ok(Self { unicast, multicast })
    }

    pub(super) fn parse_ip4(cursor: &mut Cursor<'a>, flags: u8) -> Result<Self, WireError> {
        let unicast = LocatorList::parse(cursor, 1, LocatorLayout::Ip4)?;
        let multicast = match flags & FLAG_MULTICAST {
            0 => LocatorList::EMPTY,
            _ => LocatorList::parse(cursor, 1, LocatorLayout::Ip4)?,
        };
        Ok(Self { unicast, multicast })
    }

    /// Appends an INFO_REPLY; an empty multicast list is left out.
    pub(in crate::wire) fn build(buffer: &mut Vec<u8>, unicast: &[Locator], multicast: &[Locator]) {
        let lists = if multicast.is_empty() { &[unicast][..] } else { &[unicast, multicast] };
        let flags = if multicast.is_empty() { 0 } else { FLAG_MULTICAST };
        let len: usize = lists.iter().map(|list| 4 + LocatorLayout::Full.len() * list.len()).sum();
        // More locators than a submessage holds: send none rather than a part.
        let Ok(len) = u16::try_from(len) else { return };
        Fields::<4>::submessage(id::INFO_REPLY, flags, len).append_to(buffer);
        for list in lists {
            Fields::<4>::new().u32(list.len() as u32).append_to(buffer);
            for locator in *list {
                let mut fields = Fields::<24>::new();
                fields.i32(locator.kind.to_wire()).u32(locator.port).bytes(locator.address).append_to(buffer);
            }
        }
    }

    /// Appends an INFO_REPLY_IP4.
    pub(in crate::wire) fn build_ip4(buffer: &mut Vec<u8>, unicast: SocketAddrV4, multicast: Option<SocketAddrV4>) {
        let (flags, len) = if multicast.is_some() { (FLAG_MULTICAST, 16) } else { (0, 8) };
        let mut fields = Fields::<20>::submessage(id::INFO_REPLY_IP4, flags, len);
        for address in [Some(unicast), multicast].into_iter().flatten() {
            fields.u32(address.ip().to_bits()).u32(address.port().into());
        }
        fields.append_to(buffer);
    }
}

impl<'a> LocatorList<'a> {
    /// No locators.
    pub const EMPTY: Self = Self { bytes: &[], little_endian: true, layout: LocatorLayout::Full };

    /// Returns the locators in their order.
    pub fn iter(&self) -> impl Iterator<Item = Locator> + use<'a> {
        let Self { bytes, little_endian, layout } = *self;
        let mut cursor = Cursor::new(bytes, 0, little_endian);
        std::iter::from_fn(move || layout.read(&mut cursor).ok())
    }

    /// Whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn parse_counted(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let count = cursor.u32()?;
        Self::parse(cursor, count as usize, LocatorLayout::Full)
    }

    fn parse(cursor: &mut Cursor<'a>, count: usize, layout: LocatorLayout) -> Result<Self, WireError> {
        // A forged count fails here, before any locator is read.
        let bytes = cursor.slice(count.saturating_mul(layout.len()))?;
        Ok(Self { bytes, little_endian: cursor.little_endian(), layout })
    }
}

impl LocatorLayout {
    /// Bytes of one locator.
    const fn len(self) -> usize {
        match self {
            Self::Full => 24,
            Self::Ip4 => 8,
        }
    }

    fn read(self, cursor: &mut Cursor<'_>) -> Result<Locator, WireError> {
        match self {
            Self::Full => {
                let kind = LocatorKind::from_wire(cursor.i32()?);
                Ok(Locator { kind, port: cursor.u32()?, address: cursor.bytes()? })
            }
            Self::Ip4 => {
                let address = Ipv4Addr::from_bits(cursor.u32()?);
                Ok(Locator { port: cursor.u32()?, ..Locator::udp_v4(address, 0) })
            }
        }
    }
}

impl PartialEq for LocatorList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for LocatorList<'_> {}

impl fmt::Debug for LocatorList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Submessage, assert_layout, parse_one};
    use super::*;
    use crate::wire::WireErrorKind;

    #[test]
    fn layout() {
        let bytes = b"\x01\0\0\0\xe8\x1c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x7f\0\0\x01";
        let unicast = LocatorList { bytes, little_endian: true, layout: LocatorLayout::Full };
        let address = Locator::udp_v4(Ipv4Addr::LOCALHOST, 7400);
        assert_eq!(unicast.iter().collect::<Vec<_>>(), [address]);
        let little = [b"\x0f\x01\x1c\0\x01\0\0\0", &bytes[..]].concat();
        let big = b"\x0f\0\0\x1c\0\0\0\x01\0\0\0\x01\0\0\x1c\xe8\0\0\0\0\0\0\0\0\0\0\0\0\x7f\0\0\x01";
        let value = Submessage::InfoReply(InfoReply { unicast, multicast: LocatorList::EMPTY });
        assert_layout(&value, &little, big, |message| message.info_reply(&[address], &[]));

        let little = [b"\x0f\x03\x38\0\x01\0\0\0", &bytes[..], b"\x01\0\0\0", bytes].concat();
        let big = [&b"\x0f\x02\0\x38"[..], &big[4..], &big[4..]].concat();
        let value = Submessage::InfoReply(InfoReply { unicast, multicast: unicast });
        assert_layout(&value, &little, &big, |message| message.info_reply(&[address], &[address]));
    }

    #[test]
    fn ip4_layout() {
        let list = |bytes| LocatorList { bytes, little_endian: true, layout: LocatorLayout::Ip4 };
        let unicast = list(b"\x04\x03\x02\x01\xe8\x1c\0\0");
        assert_eq!(unicast.iter().collect::<Vec<_>>(), [Locator::udp_v4([1, 2, 3, 4].into(), 7400)]);
        let multicast = list(b"\x01\0\xff\xef\xe9\x1c\0\0");
        let address = SocketAddrV4::new([1, 2, 3, 4].into(), 7400);
        let group = SocketAddrV4::new([239, 255, 0, 1].into(), 7401);
        assert_layout(
            &Submessage::InfoReply(InfoReply { unicast, multicast: LocatorList::EMPTY }),
            b"\x0d\x01\x08\0\x04\x03\x02\x01\xe8\x1c\0\0",
            b"\x0d\0\0\x08\x01\x02\x03\x04\0\0\x1c\xe8",
            |message| message.info_reply_ip4(address, None),
        );
        assert_layout(
            &Submessage::InfoReply(InfoReply { unicast, multicast }),
            b"\x0d\x03\x10\0\x04\x03\x02\x01\xe8\x1c\0\0\x01\0\xff\xef\xe9\x1c\0\0",
            b"\x0d\x02\0\x10\x01\x02\x03\x04\0\0\x1c\xe8\xef\xff\0\x01\0\0\x1c\xe9",
            |message| message.info_reply_ip4(address, Some(group)),
        );
    }

    #[test]
    fn more_locators_than_bytes_are_rejected() {
        for count in [2, u32::MAX, u32::MAX / 24 + 1] {
            let bytes = [&b"\x0f\x01\x1c\0"[..], &count.to_le_bytes(), &[0; 24]].concat();
            assert_eq!(parse_one(&bytes), Err(WireErrorKind::Truncated), "{count}");
        }
        let none = InfoReply { unicast: LocatorList::EMPTY, multicast: LocatorList::EMPTY };
        assert_eq!(parse_one(b"\x0f\x01\x04\0\0\0\0\0"), Ok(Submessage::InfoReply(none)));
    }

    #[test]
    fn unknown_locator_kinds_are_kept() {
        let bytes = [&b"\x0f\x00\0\x1c\0\0\0\x01\0\0\0\x13"[..], &[0xff; 20]].concat();
        let Ok(Submessage::InfoReply(reply)) = parse_one(&bytes) else { panic!("refused") };
        let locator = reply.unicast.iter().next().unwrap();
        assert_eq!((locator.kind, locator.to_socket_addr()), (LocatorKind::Other(0x13), None));
    }
}
