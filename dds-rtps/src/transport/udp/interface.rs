//! The network interfaces of this host.

use std::io;
use std::net::IpAddr;

/// An address of an interface that is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Name in the system, such as `eth0`.
    pub name: String,
    /// Index in the system, which is also the scope of its link-local addresses; 0 if unknown.
    pub index: u32,
    /// One of its addresses. An interface with several is listed once for each.
    pub address: IpAddr,
    /// Length of the network's prefix in bits.
    pub prefix_len: u8,
}

impl Interface {
    /// Lists the addresses of the interfaces that are up, in the system's order.
    ///
    /// # Errors
    /// The system cannot list its interfaces.
    pub fn list() -> io::Result<Vec<Self>> {
        let mut listed = Vec::new();
        for interface in if_addrs::get_if_addrs()? {
            // Some systems do not report loopback as up.
            if !interface.is_oper_up() && !interface.is_loopback() {
                continue;
            }
            let (address, prefix_len) = match interface.addr {
                if_addrs::IfAddr::V4(v4) => (IpAddr::V4(v4.ip), v4.prefixlen),
                if_addrs::IfAddr::V6(v6) => (IpAddr::V6(v6.ip), v6.prefixlen),
            };
            listed.push(Self { name: interface.name, index: interface.index.unwrap_or(0), address, prefix_len });
        }
        Ok(listed)
    }

    /// Whether it reaches this host only.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.address.is_loopback()
    }

    /// Whether the address is valid on this interface's link only (fe80::/10).
    #[must_use]
    pub fn is_link_local(&self) -> bool {
        matches!(self.address, IpAddr::V6(address) if address.is_unicast_link_local())
    }

    /// Whether `selection` names it, by name or address. An empty selection names all.
    #[must_use]
    pub fn is_selected(&self, selection: &[String]) -> bool {
        if selection.is_empty() {
            return true;
        }
        selection.iter().any(|wanted| *wanted == self.name || wanted.parse() == Ok(self.address))
    }

    /// Whether both addresses belong to one network of one interface. A host changes some of them from time to time
    /// for privacy (RFC 8981).
    pub(super) fn is_same_network(&self, other: &Self) -> bool {
        let (IpAddr::V6(own), IpAddr::V6(others)) = (self.address, other.address) else { return false };
        // A prefix of 0 bits shifts by 128, which `checked_shr` maps to `None` for both addresses.
        let shift = 128 - u32::from(self.prefix_len.min(128));
        let network = |address: std::net::Ipv6Addr| address.to_bits().checked_shr(shift);
        self.index == other.index && self.prefix_len == other.prefix_len && network(own) == network(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(address: &str, prefix_len: u8) -> Interface {
        Interface { name: "eth0".into(), index: 2, address: address.parse().unwrap(), prefix_len }
    }

    #[test]
    fn interface_is_selected_by_name_or_address() {
        for address in ["192.0.2.7", "fd00:1::7"] {
            let interface = interface(address, 24);
            assert!(interface.is_selected(&[]));
            assert!(interface.is_selected(&["lo".into(), "eth0".into()]));
            assert!(interface.is_selected(&[address.into()]));
            assert!(!interface.is_selected(&["eth1".into(), "192.0.2.8".into(), "fd00:1::8".into()]));
        }
        assert!(interface("fd00:1::7", 64).is_selected(&["fd00:1:0::0007".into()]));
    }

    #[test]
    fn addresses_of_one_network_are_recognized() {
        let stable = interface("fd00:1::7", 64);
        assert!(stable.is_same_network(&interface("fd00:1::1234", 64)));
        assert!(!stable.is_same_network(&interface("fd00:2::7", 64)));
        assert!(!stable.is_same_network(&Interface { index: 3, ..stable.clone() }));
        assert!(interface("fe80::1", 64).is_link_local() && !stable.is_link_local());
    }
}
