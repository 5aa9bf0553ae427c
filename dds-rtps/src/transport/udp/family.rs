//! One version of the Internet Protocol, and what differs between the two.

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

/// The versions that are spoken, IPv4 first.
pub(super) type Families = SmallVec<[Family; 2]>;

impl Family {
    pub(super) const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// The versions to speak on these interfaces. Empty: none of those that are asked for has an address.
    pub(super) fn chosen(config: &UdpConfig, interfaces: &[Interface]) -> Families {
        let used = || interfaces.iter().filter(|interface| config.uses(interface));
        let has = |family| used().any(|interface| Self::of(interface.address) == family);
        let leads_out =
            |family| used().any(|interface| Self::of(interface.address) == family && !interface.is_loopback());
        let is_wanted = |family: &Family| match (config.families, family) {
            (IpFamilies::Both, family) => has(*family),
            (IpFamilies::V6, Self::V4) | (IpFamilies::V4, Self::V6) => false,
            (IpFamilies::Auto, Self::V6) => {
                leads_out(Self::V6) && !leads_out(Self::V4) || !has(Self::V4) && has(Self::V6)
            }
            (_, family) => has(*family),
        };
        [Self::V4, Self::V6].into_iter().filter(is_wanted).collect()
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

    /// The groups of discovery.
    pub(super) fn groups(self, config: &UdpConfig) -> SmallVec<[IpAddr; 2]> {
        match self {
            Self::V4 => [IpAddr::V4(config.group)].into_iter().collect(),
            Self::V6 => PortMapping::DISCOVERY_GROUPS_V6.into_iter().map(IpAddr::V6).collect(),
        }
    }

    /// A UDP socket of this version and no other, not bound yet.
    pub(super) fn socket(self) -> io::Result<Socket> {
        let domain = match self {
            Self::V4 => Domain::IPV4,
            Self::V6 => Domain::IPV6,
        };
        // Closed on exec, so that a child process does not keep our ports.
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        if self == Self::V6 {
            socket.set_only_v6(true)?;
        }
        Ok(socket)
    }

    /// A socket that sends, without waiting, from an ephemeral port.
    pub(super) fn sender(self, config: &UdpConfig) -> io::Result<Socket> {
        let socket = self.socket()?;
        socket.set_nonblocking(true)?;
        let _ = socket.set_send_buffer_size(config.send_buffer);
        socket.bind(&SockAddr::from(SocketAddr::new(self.own_address(config), 0)))?;
        Ok(socket)
    }

    /// What unicast sockets are bound to.
    pub(super) const fn own_address(self, config: &UdpConfig) -> IpAddr {
        if config.host_only { self.localhost() } else { self.unspecified() }
    }
}

/// A socket's address on the link that `scope` numbers, which only a link-local address of IPv6 needs.
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
    fn ipv6_is_spoken_by_itself_only_where_ipv4_leads_nowhere() {
        let lo = [interface("lo", "127.0.0.1"), interface("lo", "::1")];
        let (v4, v6) = (interface("eth0", "192.0.2.7"), interface("eth0", "fe80::7"));
        let with = |more: &[&Interface]| -> Vec<Interface> { lo.iter().chain(more.iter().copied()).cloned().collect() };
        assert_eq!(chosen(IpFamilies::Auto, &lo), [Family::V4]);
        assert_eq!(chosen(IpFamilies::Auto, &with(&[&v4, &v6])), [Family::V4]);
        assert_eq!(chosen(IpFamilies::Auto, &with(&[&v6])), [Family::V4, Family::V6]);
        assert_eq!(chosen(IpFamilies::Auto, &lo[1..]), [Family::V6]);
    }

    #[test]
    fn what_is_asked_for_is_spoken_where_there_are_addresses() {
        let lo = [interface("lo", "127.0.0.1"), interface("lo", "::1")];
        assert_eq!(chosen(IpFamilies::Both, &lo), [Family::V4, Family::V6]);
        assert_eq!(chosen(IpFamilies::Both, &lo[..1]), [Family::V4]);
        assert_eq!(chosen(IpFamilies::V4, &lo), [Family::V4]);
        assert_eq!(chosen(IpFamilies::V6, &lo), [Family::V6]);
        assert_eq!(chosen(IpFamilies::V6, &lo[..1]), []);
    }
}
