//! Chooses the locators of a peer to send to, and detects peers on this host.

use crate::types::Locator;
use smallvec::SmallVec;
use std::net::IpAddr;

/// Most locators of one peer: the first usable ones.
const DESTINATIONS_MAX: usize = 8;

/// Address of this host, with the prefix length of its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address.
    pub address: IpAddr,
    /// Bits of the address that name the network, at most 32 (IPv4) or 128 (IPv6).
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

/// Route to an endpoint or a participant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// Unicast locators; a datagram goes to all of them.
    pub unicast: SmallVec<[Locator; 2]>,
    /// Multicast locators that may replace unicast.
    pub multicast: SmallVec<[Locator; 2]>,
    /// Whether the peer runs on this host; then datagrams may be longer than a network frame.
    pub same_host: bool,
    /// Whether the address may be forged. Nothing may be sent there yet.
    pub is_unverified: bool,
}

impl Route {
    /// Chooses a route among the announced locators. Without usable locators it is empty.
    ///
    /// Only UDP over a version of IP of `host` counts, or over IPv4 if `host` is empty. Loopback serves only peers on
    /// this host, and is preferred for them. For a peer on another host, the first address in one of our networks is
    /// enough, of either version of IP. Without such an address all are used, because the reachable one is unknown. A
    /// link-local address belongs to no network: every link has the same one.
    #[must_use]
    pub fn choose(host: &[HostAddress], unicast: &[Locator], multicast: &[Locator], same_host: bool) -> Self {
        let usable = usable_unicast(host, unicast);
        let unicast = if same_host { on_same_host(&usable) } else { nearest(host, &usable) };
        let mut groups = SmallVec::new();
        for locator in multicast {
            match usable_address(host, locator) {
                Some(address) if address.is_multicast() && groups.len() < DESTINATIONS_MAX => groups.push(*locator),
                _ => {}
            }
        }
        debug_assert!(unicast.len() <= DESTINATIONS_MAX, "a route is bounded");
        Self { unicast, multicast: groups, same_host, is_unverified: false }
    }

    /// As [`Route::choose`], with all usable locators of a peer on another host. Some may be in our networks.
    #[must_use]
    pub fn choose_all(host: &[HostAddress], unicast: &[Locator], multicast: &[Locator], same_host: bool) -> Self {
        let chosen = Self::choose(host, unicast, multicast, same_host);
        if same_host {
            return chosen;
        }
        Self { unicast: on_other_host(host, &usable_unicast(host, unicast)), ..chosen }
    }

    /// Whether it has any locator.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        !self.unicast.is_empty() || !self.multicast.is_empty()
    }
}

/// Locators of a peer that we can send to, with their addresses.
type UsableLocators = SmallVec<[(Locator, IpAddr); 8]>;

/// Returns the unicast locators that we can send to.
///
/// Ports are those of the announcement, never computed: several participants per host, containers and address
/// translation change them.
fn usable_unicast(host: &[HostAddress], unicast: &[Locator]) -> UsableLocators {
    let mut usable = SmallVec::new();
    for locator in unicast {
        match usable_address(host, locator) {
            Some(address) if !address.is_multicast() => usable.push((*locator, address)),
            _ => {}
        }
    }
    usable
}

/// Chooses one locator of a peer on this host: loopback, or an address that is not link-local, or any.
fn on_same_host(usable: &UsableLocators) -> SmallVec<[Locator; 2]> {
    let mut chosen = SmallVec::new();
    // One is enough: all of them lead to the same host. Of equals the first one wins.
    if let Some((locator, _)) = usable.iter().min_by_key(|(_, address)| distance_on_host(*address)) {
        chosen.push(*locator);
    }
    chosen
}

/// Orders the addresses of this host; the lowest is the best.
fn distance_on_host(address: IpAddr) -> u8 {
    match address {
        _ if address.is_loopback() => 0,
        // A link-local address does not work without the number of its interface.
        _ if is_link_local(address) => 2,
        _ => 1,
    }
}

/// Chooses one locator of a peer on another host in one of our networks, or all of them.
fn nearest(host: &[HostAddress], usable: &UsableLocators) -> SmallVec<[Locator; 2]> {
    let is_near = |(_, address): &&(Locator, IpAddr)| {
        leads_to_other_host(host, *address) && !is_link_local(*address) && host.iter().any(|own| own.reaches(*address))
    };
    match usable.iter().find(is_near) {
        Some((locator, _)) => SmallVec::from_slice(&[*locator]),
        None => on_other_host(host, usable),
    }
}

/// Returns the locators of a peer on another host.
fn on_other_host(host: &[HostAddress], usable: &UsableLocators) -> SmallVec<[Locator; 2]> {
    let leads_there = |(_, address): &&(Locator, IpAddr)| leads_to_other_host(host, *address);
    usable.iter().filter(leads_there).take(DESTINATIONS_MAX).map(|(locator, _)| *locator).collect()
}

/// Whether an address may be that of another host.
fn leads_to_other_host(host: &[HostAddress], address: IpAddr) -> bool {
    // An address that is ours as well belongs to a network inside each host, such as a container bridge.
    !address.is_loopback() && !is_own(host, address)
}

/// Whether a peer with these locators runs on this host: each address is ours, or loopback.
///
/// A peer with only some of our addresses may be another host with an equal bridge address.
#[must_use]
pub fn is_same_host<'a>(host: &[HostAddress], unicast: impl IntoIterator<Item = &'a Locator>) -> bool {
    // Without any usable address a peer could be anywhere.
    let mut has_address = false;
    for locator in unicast {
        let Some(address) = usable_address(host, locator) else { continue };
        if !address.is_loopback() && !is_own(host, address) {
            return false;
        }
        has_address = true;
    }
    has_address
}

/// Whether datagrams to these locators stay on this host. They may be longer than an Ethernet frame.
pub(crate) fn stays_on_host(host: &[HostAddress], destinations: &[Locator]) -> bool {
    destinations.iter().all(|locator| {
        let address = locator.to_socket_addr().map(|address| address.ip());
        // The system delivers to each address of its own by loopback.
        address.is_some_and(|address| address.is_loopback() || is_own(host, address))
    })
}

fn is_own(host: &[HostAddress], address: IpAddr) -> bool {
    host.iter().any(|own| own.address == address)
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// Returns the address of a locator that we can send to.
fn usable_address(host: &[HostAddress], locator: &Locator) -> Option<IpAddr> {
    let address = locator.to_socket_addr()?.ip();
    let is_spoken = match host {
        // Without a list of addresses, the versions of IP are unknown, and IPv4 is the usual one.
        [] => address.is_ipv4(),
        _ => host.iter().any(|own| own.address.is_ipv4() == address.is_ipv4()),
    };
    // Nothing can be sent to an unspecified address, although a peer may announce one.
    if !is_spoken || address.is_unspecified() {
        return None;
    }
    Some(address)
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
        (Route::choose(&ours(), unicast, &[], same_host).unicast.to_vec(), same_host)
    }

    #[test]
    fn loopback_is_preferred_on_this_host() {
        let (ours, loopback) = (at([192, 168, 1, 5]), at([127, 0, 0, 1]));
        assert_eq!(chosen(&[ours, loopback]), (vec![loopback], true));
        assert_eq!(chosen(&[ours]), (vec![ours], true));
        assert_eq!(chosen(&[loopback]), (vec![loopback], true));
    }

    #[test]
    fn loopback_of_another_host_is_not_used() {
        let theirs = at([192, 168, 1, 6]);
        assert_eq!(chosen(&[at([127, 0, 0, 1]), theirs]), (vec![theirs], false));
    }

    #[test]
    fn datagrams_stay_on_host_with_own_addresses_alone() {
        let stays = |addresses: &[[u8; 4]]| {
            let locators: Vec<_> = addresses.iter().map(|address| Locator::udp_v4((*address).into(), 1)).collect();
            stays_on_host(&[HostAddress { address: [192, 168, 1, 2].into(), prefix_len: 24 }], &locators)
        };
        assert!(stays(&[[127, 0, 0, 1]]) && stays(&[[127, 0, 0, 1], [192, 168, 1, 2]]));
        assert!(!stays(&[[192, 168, 1, 3]]) && !stays(&[[127, 0, 0, 1], [192, 168, 1, 3]]));
        assert!(!stays(&[[239, 255, 0, 1]]), "a multicast group has members on other hosts");
    }

    #[test]
    fn equal_bridge_address_is_not_the_same_host() {
        let theirs = at([192, 168, 1, 6]);
        assert_eq!(chosen(&[at([172, 17, 0, 1]), theirs]), (vec![theirs], false));
        let far = at([10, 9, 9, 9]);
        assert_eq!(chosen(&[at([172, 17, 0, 1]), far]), (vec![far], false));
    }

    #[test]
    fn peer_without_common_network_gets_all_addresses() {
        let far = [at([10, 0, 0, 1]), at([10, 1, 0, 1])];
        assert_eq!(chosen(&far), (far.to_vec(), false));
    }

    #[test]
    fn all_locators_of_another_host_may_be_chosen() {
        let theirs = [at([10, 0, 0, 1]), at([192, 168, 1, 6]), at([192, 168, 1, 7])];
        let with_others = [&theirs[..], &[at([127, 0, 0, 1]), at([172, 17, 0, 1])]].concat();
        assert_eq!(chosen(&with_others).0, theirs[1..2]);
        assert_eq!(Route::choose_all(&ours(), &with_others, &[], false).unicast.to_vec(), theirs);
        let ours_alone = [at([192, 168, 1, 5]), at([127, 0, 0, 1])];
        assert_eq!(Route::choose_all(&ours(), &ours_alone, &[], true).unicast.to_vec(), ours_alone[1..]);
    }

    #[test]
    fn unsupported_locators_are_ignored() {
        let mut shared_memory = at([127, 0, 0, 1]);
        shared_memory.kind = LocatorKind::from_wire(19);
        let six = Locator::udp_v6(std::net::Ipv6Addr::LOCALHOST, 7411);
        assert_eq!(chosen(&[shared_memory, six, at([0, 0, 0, 0])]), (vec![], false));
        let route = Route::choose(&ours(), &[], &[at([239, 255, 0, 1]), at([10, 0, 0, 1])], false);
        assert_eq!(route.multicast.to_vec(), [at([239, 255, 0, 1])]);
        assert!(route.is_usable());
    }

    fn at_v6(address: &str) -> Locator {
        Locator::udp_v6(address.parse().unwrap(), 7411)
    }

    fn chosen_by(host: &[HostAddress], unicast: &[Locator]) -> Vec<Locator> {
        Route::choose(host, unicast, &[], is_same_host(host, unicast)).unicast.to_vec()
    }

    fn v6(address: &str, prefix_len: u8) -> HostAddress {
        HostAddress { address: address.parse().unwrap(), prefix_len }
    }

    #[test]
    fn peer_with_both_versions_of_ip_gets_one_address() {
        let both = [ours()[0], v6("fd00:1::5", 64)];
        let theirs = [at([192, 168, 1, 6]), at_v6("fd00:1::6")];
        assert_eq!(chosen_by(&both, &theirs), theirs[..1]);
        assert_eq!(chosen_by(&[v6("fd00:1::5", 64)], &theirs), theirs[1..]);
        // An address in a common network is preferred, whichever version it is.
        assert_eq!(chosen_by(&both, &[at([10, 0, 0, 6]), theirs[1]]), theirs[1..]);
        assert_eq!(chosen_by(&both, &[at_v6("::1"), at([127, 0, 0, 1])]), [at_v6("::1")]);
    }

    #[test]
    fn link_local_address_is_the_last_choice() {
        let host = [v6("fe80::1", 64), v6("fd00:1::5", 64)];
        let (link_local, near, far) = (at_v6("fe80::2"), at_v6("fd00:1::6"), at_v6("fd00:2::6"));
        assert_eq!(chosen_by(&host, &[link_local, near]), [near]);
        assert_eq!(chosen_by(&host, &[link_local, far]), [link_local, far]);
        assert_eq!(chosen_by(&host, &[at_v6("fe80::1"), at_v6("fd00:1::5")]), [at_v6("fd00:1::5")]);
    }

    #[test]
    fn networks_of_any_prefix_length_are_compared() {
        let all = HostAddress { address: [10, 0, 0, 1].into(), prefix_len: 0 };
        let one = HostAddress { address: [10, 0, 0, 1].into(), prefix_len: 32 };
        assert!(all.reaches([99, 1, 1, 1].into()));
        assert!(one.reaches([10, 0, 0, 1].into()) && !one.reaches([10, 0, 0, 2].into()));
        assert!(v6("fd00::1", 0).reaches("2001:db8::1".parse().unwrap()));
        assert!(!v6("fd00::1", 128).reaches("fd00::2".parse().unwrap()));
        assert!(!v6("::", 0).reaches([10, 0, 0, 1].into()));
    }
}
