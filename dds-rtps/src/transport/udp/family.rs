//! The two versions of IP and their differences.

use super::{Interface, UdpConfig};
use crate::types::{IpFamilies, PortMapping};
use smallvec::SmallVec;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// A version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

/// The used versions, IPv4 first.
pub(super) type Families = SmallVec<[Family; 2]>;

impl Family {
    pub(super) const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// Returns the versions to use on these interfaces; none if no interface has a requested one.
    pub(super) fn chosen(config: &UdpConfig, interfaces: &[Interface]) -> Families {
        let (mut has_v4, mut has_v6, mut outward_v4, mut outward_v6) = (false, false, false, false);
        for interface in interfaces {
            if !config.uses(interface) {
                continue;
            }
            let is_outward = !interface.is_loopback();
            match Self::of(interface.address) {
                Self::V4 => (has_v4, outward_v4) = (true, outward_v4 || is_outward),
                Self::V6 => (has_v6, outward_v6) = (true, outward_v6 || is_outward),
            }
        }
        let (wants_v4, wants_v6) = match config.families {
            IpFamilies::Both => (true, true),
            IpFamilies::V4 => (true, false),
            IpFamilies::V6 => (false, true),
            // IPv6 only where IPv4 does not lead out of the host.
            IpFamilies::Auto => (true, outward_v6 && !outward_v4 || !has_v4),
        };
        let mut families = Families::new();
        if wants_v4 && has_v4 {
            families.push(Self::V4);
        }
        if wants_v6 && has_v6 {
            families.push(Self::V6);
        }
        families
    }

    /// Returns the requested versions that the system has, even if no interface has an address of them.
    pub(super) fn requested(families: IpFamilies) -> Families {
        let mut requested = Families::new();
        if families != IpFamilies::V6 {
            requested.push(Self::V4);
        }
        // Only a socket shows whether this system supports IPv6.
        if families == IpFamilies::V6 || families != IpFamilies::V4 && Self::V6.socket().is_ok() {
            requested.push(Self::V6);
        }
        requested
    }

    pub(super) const fn localhost(self) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
        }
    }

    pub(super) const fn unspecified(self) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Self::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        }
    }

    /// Returns the multicast groups of discovery.
    pub(super) fn groups(self, config: &UdpConfig) -> SmallVec<[IpAddr; 2]> {
        match self {
            Self::V4 => [IpAddr::V4(config.group)].into_iter().collect(),
            Self::V6 => PortMapping::DISCOVERY_GROUPS_V6.into_iter().map(IpAddr::V6).collect(),
        }
    }

    /// Opens an unbound UDP socket of this version only.
    pub(super) fn socket(self) -> io::Result<Socket> {
        let domain = match self {
            Self::V4 => Domain::IPV4,
            Self::V6 => Domain::IPV6,
        };
        // The socket is closed on exec, so that a child process does not keep our ports.
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        if self == Self::V6 {
            // IPv4 has its own socket on the same port.
            socket.set_only_v6(true)?;
        }
        Ok(socket)
    }

    /// Opens a non-blocking socket that sends from an ephemeral port.
    pub(super) fn sender(self, config: &UdpConfig) -> io::Result<Socket> {
        let socket = self.socket()?;
        socket.set_nonblocking(true)?;
        // A smaller buffer than requested works as well.
        let _ = socket.set_send_buffer_size(config.send_buffer);
        socket.bind(&SockAddr::from(SocketAddr::new(self.own_address(config), 0)))?;
        Ok(socket)
    }

    /// Returns the address that unicast sockets are bound to.
    pub(super) const fn own_address(self, config: &UdpConfig) -> IpAddr {
        if config.host_only { self.localhost() } else { self.unspecified() }
    }
}

/// Returns a socket address on the link `scope`, which only a link-local IPv6 address needs.
pub(super) fn on_link(address: IpAddr, port: u16, scope: u32) -> SocketAddr {
    match address {
        IpAddr::V4(_) => SocketAddr::new(address, port),
        IpAddr::V6(address) => SocketAddrV6::new(address, port, 0, scope).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, address: &str) -> Interface {
        Interface { name: name.into(), index: 1, address: address.parse().unwrap(), prefix_len: 64 }
    }

    fn chosen(families: IpFamilies, interfaces: &[Interface]) -> Vec<Family> {
        let config = UdpConfig { families, ..UdpConfig::default() };
        Family::chosen(&config, interfaces).to_vec()
    }

    #[test]
    fn auto_uses_ipv6_only_where_ipv4_is_confined() {
        let lo = [interface("lo", "127.0.0.1"), interface("lo", "::1")];
        let (v4, v6) = (interface("eth0", "192.0.2.7"), interface("eth0", "fe80::7"));
        let with = |more: &[&Interface]| -> Vec<Interface> { lo.iter().chain(more.iter().copied()).cloned().collect() };
        assert_eq!(chosen(IpFamilies::Auto, &lo), [Family::V4]);
        assert_eq!(chosen(IpFamilies::Auto, &with(&[&v4, &v6])), [Family::V4]);
        assert_eq!(chosen(IpFamilies::Auto, &with(&[&v6])), [Family::V4, Family::V6]);
        assert_eq!(chosen(IpFamilies::Auto, &lo[1..]), [Family::V6]);
    }

    #[test]
    fn requested_families_need_no_interface() {
        assert_eq!(Family::requested(IpFamilies::V4).to_vec(), [Family::V4]);
        assert_eq!(Family::requested(IpFamilies::V6).to_vec(), [Family::V6]);
        assert_eq!(Family::requested(IpFamilies::Auto).first(), Some(&Family::V4));
    }

    #[test]
    fn requested_families_need_an_address() {
        let lo = [interface("lo", "127.0.0.1"), interface("lo", "::1")];
        assert_eq!(chosen(IpFamilies::Both, &lo), [Family::V4, Family::V6]);
        assert_eq!(chosen(IpFamilies::Both, &lo[..1]), [Family::V4]);
        assert_eq!(chosen(IpFamilies::V4, &lo), [Family::V4]);
        assert_eq!(chosen(IpFamilies::V6, &lo), [Family::V6]);
        assert_eq!(chosen(IpFamilies::V6, &lo[..1]), []);
    }
}
