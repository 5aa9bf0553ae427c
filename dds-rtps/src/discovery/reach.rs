//! Which of a peer's announced locators to send to, and whether it runs on this host.

use crate::types::Locator;
use smallvec::SmallVec;
use std::net::IpAddr;

/// Locators used of one peer at most: the first ones of those that can be used.
const DESTINATIONS_MAX: usize = 8;

/// One of this host's own addresses, with the length of its network's prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address.
    pub address: IpAddr,
    /// How many bits of the address name the network, at most 32 (IPv4) or 128 (IPv6).
    pub prefix_len: u8,
}

impl HostAddress {
    /// Whether `address` is in the same network.
    #[must_use]
    pub fn reaches(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix_len.min(32))).unwrap_or(0);
                own.to_bits() & mask == other.to_bits() & mask
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix_len.min(128))).unwrap_or(0);
                own.to_bits() & mask == other.to_bits() & mask
            }
            _ => false,
        }
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
    /// Only kinds that we can send to count: UDP over the versions of IP that `host` has addresses of, and over IPv4 if it
    /// has none at all. Loopback serves peers on this host alone, and those are reached by it rather than by a network's
    /// address. Of a peer elsewhere with several addresses, the first one in a network of ours is enough, whichever version
    /// of IP that is; if there is none, all are used, for nobody can tell which of them leads there. A link-local address
    /// is in nobody's network: every link has the same one.
    #[must_use]
    pub fn choose(host: &[HostAddress], unicast: &[Locator], multicast: &[Locator], same_host: bool) -> Self {
        let usable: SmallVec<[(Locator, IpAddr); 8]> = unicast
            .iter()
            .filter_map(|locator| Some((*locator, usable_address(host, locator)?)))
            .filter(|(_, address)| !address.is_multicast())
            .collect();
        let loopback = usable.iter().find(|(_, address)| address.is_loopback());
        let elsewhere = || usable.iter().filter(|(_, address)| !address.is_loopback());
        let unicast = match (same_host, loopback) {
            (true, Some((locator, _))) => [*locator].into_iter().collect(),
            (true, None) => {
                let first = elsewhere().find(|(_, address)| !is_link_local(*address)).or_else(|| elsewhere().next());
                first.map(|(locator, _)| *locator).into_iter().collect()
            }
            (false, _) => {
                // An address that is ours too is that of a network inside each host (a container bridge).
                let foreign = || elsewhere().filter(|(_, address)| !is_own(host, *address));
                let is_near = |address| !is_link_local(address) && host.iter().any(|own| own.reaches(address));
                match foreign().find(|(_, address)| is_near(*address)) {
                    Some((locator, _)) => [*locator].into_iter().collect(),
                    None => foreign().map(|(locator, _)| *locator).take(DESTINATIONS_MAX).collect(),
                }
            }
        };
        let groups = multicast.iter().filter(|locator| usable_address(host, locator).is_some_and(|a| a.is_multicast()));
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
    let mut addresses = unicast.into_iter().filter_map(|locator| usable_address(host, locator)).peekable();
    addresses.peek().is_some() && addresses.all(|address| address.is_loopback() || is_own(host, address))
}

fn is_own(host: &[HostAddress], address: IpAddr) -> bool {
    host.iter().any(|own| own.address == address)
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// The address of a locator that we can send to.
fn usable_address(host: &[HostAddress], locator: &Locator) -> Option<IpAddr> {
    let address = locator.to_socket_addr()?.ip();
    let is_spoken = match host {
        [] => address.is_ipv4(),
        _ => host.iter().any(|own| own.address.is_ipv4() == address.is_ipv4()),
    };
    (is_spoken && !address.is_unspecified()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::LocatorKind;

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

    fn at_v6(address: &str) -> Locator {
        Locator::udp_v6(address.parse().unwrap(), 7411)
    }

    fn chosen_by(host: &[HostAddress], unicast: &[Locator]) -> Vec<Locator> {
        Reach::choose(host, unicast, &[], is_same_host(host, unicast)).unicast.to_vec()
    }

    fn v6(address: &str, prefix_len: u8) -> HostAddress {
        HostAddress { address: address.parse().unwrap(), prefix_len }
    }

    #[test]
    fn a_peer_with_both_versions_of_ip_is_reached_by_one_of_them() {
        let both = [ours()[0], v6("fd00:1::5", 64)];
        let theirs = [at([192, 168, 1, 6]), at_v6("fd00:1::6")];
        assert_eq!(chosen_by(&both, &theirs), theirs[..1]);
        assert_eq!(chosen_by(&[v6("fd00:1::5", 64)], &theirs), theirs[1..]);
        // What is near is preferred, whichever version it is.
        assert_eq!(chosen_by(&both, &[at([10, 0, 0, 6]), theirs[1]]), theirs[1..]);
        assert_eq!(chosen_by(&both, &[at_v6("::1"), at([127, 0, 0, 1])]), [at_v6("::1")]);
    }

    #[test]
    fn a_link_local_address_is_used_where_there_is_no_other_in_reach() {
        let host = [v6("fe80::1", 64), v6("fd00:1::5", 64)];
        let (link_local, near, far) = (at_v6("fe80::2"), at_v6("fd00:1::6"), at_v6("fd00:2::6"));
        assert_eq!(chosen_by(&host, &[link_local, near]), [near]);
        assert_eq!(chosen_by(&host, &[link_local, far]), [link_local, far]);
        assert_eq!(chosen_by(&host, &[at_v6("fe80::1"), at_v6("fd00:1::5")]), [at_v6("fd00:1::5")]);
    }

    #[test]
    fn networks_of_any_length_are_compared() {
        let all = HostAddress { address: [10, 0, 0, 1].into(), prefix_len: 0 };
        let one = HostAddress { address: [10, 0, 0, 1].into(), prefix_len: 32 };
        assert!(all.reaches([99, 1, 1, 1].into()));
        assert!(one.reaches([10, 0, 0, 1].into()) && !one.reaches([10, 0, 0, 2].into()));
        assert!(v6("fd00::1", 0).reaches("2001:db8::1".parse().unwrap()));
        assert!(!v6("fd00::1", 128).reaches("fd00::2".parse().unwrap()));
        assert!(!v6("::", 0).reaches([10, 0, 0, 1].into()));
    }
}
