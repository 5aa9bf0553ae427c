//! Which of a peer's announced locators to send to, and whether it runs on this host.

use crate::types::{Locator, LocatorKind};
use smallvec::SmallVec;
use std::net::{IpAddr, Ipv4Addr};

/// Locators used of one peer at most: the first ones of those that can be used.
const DESTINATIONS_MAX: usize = 8;

/// One of this host's own addresses, with the length of its network's prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// How many bits of the address name the network, at most 32.
    pub prefix_len: u8,
}

impl HostAddress {
    /// Whether `address` is in the same network.
    #[must_use]
    pub fn reaches(&self, address: Ipv4Addr) -> bool {
        let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix_len.min(32))).unwrap_or(0);
        u32::from(self.address) & mask == u32::from(address) & mask
    }
}

/// How to reach an endpoint or a participant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    /// Unicast locators; a datagram goes to all of them.
    pub unicast: SmallVec<[Locator; 2]>,
    /// Multicast locators that may take the place of unicast.
    pub multicast: SmallVec<[Locator; 2]>,
    /// Whether the peer runs on this host: then its datagrams do not have to fit into a network's frames.
    pub same_host: bool,
}

impl Reach {
    /// Chooses among what was announced. Empty lists: there is no way to send there.
    ///
    /// Only kinds that we can send to count (UDP over IPv4). Loopback serves peers on this host alone, and those are
    /// reached by it rather than by a network's address. Of a peer elsewhere with several addresses, one in a network of
    /// ours is enough; if there is none, all are used, for nobody can tell which of them leads there.
    #[must_use]
    pub fn choose(host: &[HostAddress], unicast: &[Locator], multicast: &[Locator], same_host: bool) -> Self {
        let usable: SmallVec<[(Locator, Ipv4Addr); 8]> = unicast
            .iter()
            .filter_map(|locator| Some((*locator, usable_address(locator)?)))
            .filter(|(_, address)| !address.is_multicast())
            .collect();
        let loopback = usable.iter().find(|(_, address)| address.is_loopback());
        let elsewhere = || usable.iter().filter(|(_, address)| !address.is_loopback());
        let unicast = match (same_host, loopback) {
            (true, Some((locator, _))) => [*locator].into_iter().collect(),
            (true, None) => elsewhere().map(|(locator, _)| *locator).take(1).collect(),
            (false, _) => {
                // An address that is ours too is that of a network inside each host (a container bridge).
                let foreign = || elsewhere().filter(|(_, address)| !is_own(host, *address));
                let near = foreign().find(|(_, address)| host.iter().any(|own| own.reaches(*address)));
                match near {
                    Some((locator, _)) => [*locator].into_iter().collect(),
                    None => foreign().map(|(locator, _)| *locator).take(DESTINATIONS_MAX).collect(),
                }
            }
        };
        let groups = multicast.iter().filter(|locator| usable_address(locator).is_some_and(|a| a.is_multicast()));
        Self { unicast, multicast: groups.take(DESTINATIONS_MAX).copied().collect(), same_host }
    }

    /// Whether there is any way to send there.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        !self.unicast.is_empty() || !self.multicast.is_empty()
    }
}

/// Whether a peer that listens at these locators runs on this host: every address is ours, or loopback. One that is
/// only partly ours may be another host's with an equal bridge address.
#[must_use]
pub fn is_same_host<'a>(host: &[HostAddress], unicast: impl IntoIterator<Item = &'a Locator>) -> bool {
    let mut addresses = unicast.into_iter().filter_map(usable_address).peekable();
    addresses.peek().is_some() && addresses.all(|address| address.is_loopback() || is_own(host, address))
}

fn is_own(host: &[HostAddress], address: Ipv4Addr) -> bool {
    host.iter().any(|own| own.address == address)
}

/// The address of a locator that we can send to.
fn usable_address(locator: &Locator) -> Option<Ipv4Addr> {
    match locator.to_socket_addr()?.ip() {
        IpAddr::V4(address) if locator.kind == LocatorKind::UdpV4 && !address.is_unspecified() => Some(address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: [u8; 4]) -> Locator {
        Locator::udp_v4(address.into(), 7411)
    }

    fn ours() -> [HostAddress; 2] {
        [
            HostAddress { address: [192, 168, 1, 5].into(), prefix_len: 24 },
            HostAddress { address: [172, 17, 0, 1].into(), prefix_len: 16 },
        ]
    }

    fn chosen(unicast: &[Locator]) -> (Vec<Locator>, bool) {
        let same_host = is_same_host(&ours(), unicast);
        (Reach::choose(&ours(), unicast, &[], same_host).unicast.to_vec(), same_host)
    }

    #[test]
    fn loopback_is_preferred_on_this_host() {
        let (ours, loopback) = (at([192, 168, 1, 5]), at([127, 0, 0, 1]));
        assert_eq!(chosen(&[ours, loopback]), (vec![loopback], true));
        assert_eq!(chosen(&[ours]), (vec![ours], true));
        assert_eq!(chosen(&[loopback]), (vec![loopback], true));
    }

    #[test]
    fn loopback_of_another_host_is_of_no_use() {
        let theirs = at([192, 168, 1, 6]);
        assert_eq!(chosen(&[at([127, 0, 0, 1]), theirs]), (vec![theirs], false));
    }

    #[test]
    fn an_equal_bridge_address_does_not_make_it_this_host() {
        let theirs = at([192, 168, 1, 6]);
        assert_eq!(chosen(&[at([172, 17, 0, 1]), theirs]), (vec![theirs], false));
        let far = at([10, 9, 9, 9]);
        assert_eq!(chosen(&[at([172, 17, 0, 1]), far]), (vec![far], false));
    }

    #[test]
    fn without_a_network_in_common_all_addresses_are_used() {
        let far = [at([10, 0, 0, 1]), at([10, 1, 0, 1])];
        assert_eq!(chosen(&far), (far.to_vec(), false));
    }

    #[test]
    fn what_we_cannot_send_to_does_not_count() {
        let mut shared_memory = at([127, 0, 0, 1]);
        shared_memory.kind = LocatorKind::from_wire(19);
        let six = Locator::udp_v6(std::net::Ipv6Addr::LOCALHOST, 7411);
        assert_eq!(chosen(&[shared_memory, six, at([0, 0, 0, 0])]), (vec![], false));
        let reach = Reach::choose(&ours(), &[], &[at([239, 255, 0, 1]), at([10, 0, 0, 1])], false);
        assert_eq!(reach.multicast.to_vec(), [at([239, 255, 0, 1])]);
        assert!(reach.is_usable());
    }

    #[test]
    fn networks_of_any_length_are_compared() {
        let all = HostAddress { address: [10, 0, 0, 1].into(), prefix_len: 0 };
        let one = HostAddress { address: [10, 0, 0, 1].into(), prefix_len: 32 };
        assert!(all.reaches([99, 1, 1, 1].into()));
        assert!(one.reaches([10, 0, 0, 1].into()) && !one.reaches([10, 0, 0, 2].into()));
    }
}
