//! The network interfaces of this host.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// An IPv4 address of an interface that is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The system's name for it, such as `eth0`.
    pub name: String,
    /// One of its addresses; an interface with several is listed once for each.
    pub address: Ipv4Addr,
    /// The length of the network's prefix in bits.
    pub prefix_len: u8,
}

impl Interface {
    /// The interfaces that are up and have an IPv4 address, in the system's order.
    ///
    /// # Errors
    /// The system does not say.
    pub fn list() -> io::Result<Vec<Self>> {
        let all = if_addrs::get_if_addrs()?.into_iter();
        Ok(all
            .filter(|interface| interface.is_oper_up() || interface.is_loopback())
            .filter_map(|interface| match interface.addr {
                if_addrs::IfAddr::V4(v4) => {
                    Some(Self { name: interface.name, address: v4.ip, prefix_len: v4.prefixlen })
                }
                if_addrs::IfAddr::V6(_) => None,
            })
            .collect())
    }

    /// Whether it leads nowhere but to this host.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.address.is_loopback()
    }

    /// Whether `selection` names it, by name or address. An empty selection names all.
    #[must_use]
    pub fn is_selected(&self, selection: &[String]) -> bool {
        let named = |wanted: &String| *wanted == self.name || wanted.parse() == Ok(IpAddr::V4(self.address));
        selection.is_empty() || selection.iter().any(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_selected_by_name_or_address() {
        let interface = Interface { name: "eth0".into(), address: [192, 0, 2, 7].into(), prefix_len: 24 };
        assert!(interface.is_selected(&[]));
        assert!(interface.is_selected(&["lo".into(), "eth0".into()]));
        assert!(interface.is_selected(&["192.0.2.7".into()]));
        assert!(!interface.is_selected(&["eth1".into(), "192.0.2.8".into()]));
    }
}
