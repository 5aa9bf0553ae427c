//! Addresses of endpoints (RTPS 2.5, 8.3.5.11 and 9.3.2.6).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The transport of a [`Locator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LocatorKind {
    /// Not a valid locator (-1).
    Invalid,
    /// Reserved (0).
    Reserved,
    /// UDP over IPv4 (1).
    UdpV4,
    /// UDP over IPv6 (2).
    UdpV6,
    /// An unsupported kind. It is kept unchanged and is never an error.
    Other(i32),
}

/// An address of an endpoint: kind, port and sixteen bytes (RTPS 2.5, 9.3.2.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Locator {
    /// The transport.
    pub kind: LocatorKind,
    /// The port, if the transport has ports.
    pub port: u32,
    /// The address; IPv4 in the last four bytes.
    pub address: [u8; 16],
}

impl LocatorKind {
    /// The value on the wire.
    #[must_use]
    pub const fn to_wire(self) -> i32 {
        match self {
            Self::Invalid => -1,
            Self::Reserved => 0,
            Self::UdpV4 => 1,
            Self::UdpV6 => 2,
            Self::Other(kind) => kind,
        }
    }

    /// The inverse of [`LocatorKind::to_wire`].
    #[must_use]
    pub const fn from_wire(kind: i32) -> Self {
        match kind {
            -1 => Self::Invalid,
            0 => Self::Reserved,
            1 => Self::UdpV4,
            2 => Self::UdpV6,
            kind => Self::Other(kind),
        }
    }
}

impl Locator {
    /// No address.
    pub const INVALID: Self = Self { kind: LocatorKind::Invalid, port: 0, address: [0; 16] };

    /// UDP over IPv4.
    #[must_use]
    pub fn udp_v4(address: Ipv4Addr, port: u16) -> Self {
        let mut bytes = [0; 16];
        // RTPS puts an IPv4 address into the last four octets, and zeros before it.
        bytes[12..].copy_from_slice(&address.octets());
        Self { kind: LocatorKind::UdpV4, port: port.into(), address: bytes }
    }

    /// UDP over the IP version of `address`.
    #[must_use]
    pub fn udp(address: IpAddr, port: u16) -> Self {
        match address {
            IpAddr::V4(address) => Self::udp_v4(address, port),
            IpAddr::V6(address) => Self::udp_v6(address, port),
        }
    }

    /// UDP over IPv6. The address has no scope, so the sender must find the link of a link-local one.
    #[must_use]
    pub fn udp_v6(address: Ipv6Addr, port: u16) -> Self {
        Self { kind: LocatorKind::UdpV6, port: port.into(), address: address.octets() }
    }

    /// The socket address, if this is a UDP locator with a usable port.
    #[must_use]
    pub fn to_socket_addr(&self) -> Option<SocketAddr> {
        let port = u16::try_from(self.port).ok()?;
        // Port 0 is valid in a message, but no datagram can be sent to it.
        if port == 0 {
            return None;
        }
        match self.kind {
            LocatorKind::UdpV4 => {
                let [.., a, b, c, d] = self.address;
                Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), port))
            }
            LocatorKind::UdpV6 => Some(SocketAddr::new(IpAddr::V6(Ipv6Addr::from(self.address)), port)),
            _ => None,
        }
    }

    /// Whether the address is a multicast group.
    #[must_use]
    pub fn is_multicast(&self) -> bool {
        // A locator of another transport has no address that could be compared with a range of IP.
        match self.to_socket_addr() {
            Some(address) => address.ip().is_multicast(),
            None => false,
        }
    }

    /// Whether the address is on the loopback interface.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.to_socket_addr() {
            Some(address) => address.ip().is_loopback(),
            None => false,
        }
    }
}

impl From<SocketAddr> for Locator {
    fn from(address: SocketAddr) -> Self {
        Self::udp(address.ip(), address.port())
    }
}

impl fmt::Debug for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_socket_addr() {
            Some(address) => write!(f, "udp/{address}"),
            None => write!(f, "kind {}/port {}", self.kind.to_wire(), self.port),
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_lies_in_the_last_four_bytes() {
        let locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7400);
        assert_eq!(locator.address[12..], [239, 255, 0, 1]);
        assert!(locator.is_multicast());
        assert_eq!(Locator::from(locator.to_socket_addr().unwrap()), locator);
    }

    #[test]
    fn ipv6_takes_all_sixteen_bytes() {
        let locator = Locator::udp(Ipv6Addr::LOCALHOST.into(), 7411);
        assert_eq!((locator.kind, locator.address[15]), (LocatorKind::UdpV6, 1));
        assert!(locator.is_loopback());
        assert_eq!(locator.to_socket_addr(), Some("[::1]:7411".parse().unwrap()));
    }

    #[test]
    fn unknown_kinds_and_impossible_ports_have_no_socket_address() {
        let mut locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 1);
        locator.port = 70_000;
        assert_eq!(locator.to_socket_addr(), None);
        locator.port = 1;
        locator.kind = LocatorKind::from_wire(19);
        assert_eq!(locator.to_socket_addr(), None);
        assert_eq!(locator.kind.to_wire(), 19);
    }
}
