//! The network interfaces of this host.

use std::io;
use std::net::IpAddr;

/// An address of an interface that is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The system's name for it, such as `eth0`.
    pub name: String,
    /// The system's number for it, which is also the scope of its link-local addresses; 0 if the system gives none.
    pub index: u32,
    /// One of its addresses; an interface with several is listed once for each.
    pub address: IpAddr,
    /// The length of the network's prefix in bits.
    pub prefix_len: u8,
}

impl Interface {
    /// The addresses of the interfaces that are up, in the system's order.
    ///
    /// # Errors
    /// The system does not say.
    pub fn list() -> io::Result<Vec<Self>> {
        let all = if_addrs::get_if_addrs()?.into_iter();
        let up = all.filter(|interface| interface.is_oper_up() || interface.is_loopback());
        Ok(up
            .map(|interface| {
                let (address, prefix_len) = match interface.addr {
                    if_addrs::IfAddr::V4(v4) => (IpAddr::V4(v4.ip), v4.prefixlen),
                    if_addrs::IfAddr::V6(v6) => (IpAddr::V6(v6.ip), v6.prefixlen),
                };
                Self { name: interface.name, index: interface.index.unwrap_or(0), address, prefix_len }
            })
            .collect())
    }

    /// Whether it leads nowhere but to this host.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.address.is_loopback()
    }

    /// Whether the address means something on this interface's link only (fe80::/10).
    #[must_use]
    pub fn is_link_local(&self) -> bool {
        matches!(self.address, IpAddr::V6(address) if address.is_unicast_link_local())
    }

    /// Whether `selection` names it, by name or address. An empty selection names all.
    #[must_use]
    pub fn is_selected(&self, selection: &[String]) -> bool {
        let named = |wanted: &String| *wanted == self.name || wanted.parse() == Ok(self.address);
        selection.is_empty() || selection.iter().any(named)
    }

    /// Whether both addresses are of one network of one interface, as those are that a host changes from time to time for
    /// privacy (RFC 8981).
    pub(super) fn is_same_network(&self, other: &Self) -> bool {
        let (IpAddr::V6(own), IpAddr::V6(others)) = (self.address, other.address) else { return false };
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
    fn an_interface_is_selected_by_name_or_address() {
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
    fn addresses_of_one_network_are_told_from_others() {
        let stable = interface("fd00:1::7", 64);
        assert!(stable.is_same_network(&interface("fd00:1::1234", 64)));
        assert!(!stable.is_same_network(&interface("fd00:2::7", 64)));
        assert!(!stable.is_same_network(&Interface { index: 3, ..stable.clone() }));
        assert!(interface("fe80::1", 64).is_link_local() && !stable.is_link_local());
    }
}
