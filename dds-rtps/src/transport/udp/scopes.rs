//! On which link a link-local address of IPv6 is.

use super::family::Family;
use super::links::LinkId;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{PoisonError, RwLock};

/// How many addresses are remembered: as many as participants are. What is beyond it is sent to on every link.
const KNOWN_MAX: usize = 1_024;

/// The links, and which neighbour was heard on which.
#[derive(Debug, Default)]
pub(super) struct Scopes(RwLock<State>);

#[derive(Debug, Default)]
struct State {
    links: Vec<u32>,
    known: HashMap<Ipv6Addr, u32>,
}

impl Scopes {
    /// Takes over which links there are, and forgets the neighbours on those that have gone.
    pub(super) fn set_links<'a>(&self, links: impl Iterator<Item = &'a LinkId>) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        state.links = links.filter(|link| link.family == Family::V6).map(|link| link.index).collect();
        let State { links, known } = &mut *state;
        known.retain(|_, scope| links.contains(scope));
    }

    /// Something came from there.
    pub(super) fn learn(&self, sender: SocketAddr) {
        let SocketAddr::V6(sender) = sender else { return };
        let (address, scope) = (*sender.ip(), sender.scope_id());
        if scope == 0
            || !address.is_unicast_link_local()
            || self.read(|state| state.known.get(&address) == Some(&scope))
        {
            return;
        }
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if state.known.len() < KNOWN_MAX || state.known.contains_key(&address) {
            state.known.insert(address, scope);
        }
    }

    /// The scopes to send with: the one that is known, or every link's. 0 for an address that needs none.
    pub(super) fn of(&self, address: IpAddr) -> SmallVec<[u32; 4]> {
        match address {
            IpAddr::V6(address) if address.is_unicast_link_local() => {
                self.read(|state| match state.known.get(&address) {
                    Some(scope) => [*scope].into_iter().collect(),
                    None => state.links.iter().copied().collect(),
                })
            }
            _ => [0].into_iter().collect(),
        }
    }

    fn read<R>(&self, look: impl FnOnce(&State) -> R) -> R {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32) -> LinkId {
        LinkId { family: Family::V6, index, address: Family::V6.unspecified(), is_loopback: false }
    }

    #[test]
    fn a_neighbour_is_spoken_to_on_every_link_until_it_is_heard_on_one() {
        let scopes = Scopes::default();
        scopes.set_links([link(2), link(5)].iter());
        let neighbour: IpAddr = "fe80::7".parse().unwrap();
        assert_eq!(scopes.of(neighbour).to_vec(), [2, 5]);
        scopes.learn("[fe80::7%5]:7400".parse().unwrap());
        assert_eq!(scopes.of(neighbour).to_vec(), [5]);
        assert_eq!(scopes.of("fe80::8".parse().unwrap()).to_vec(), [2, 5]);
        scopes.set_links([link(2)].iter());
        assert_eq!(scopes.of(neighbour).to_vec(), [2]);
    }

    #[test]
    fn other_addresses_need_no_scope() {
        let scopes = Scopes::default();
        scopes.learn("[fd00::7%5]:7400".parse().unwrap());
        for address in ["192.0.2.1", "::1", "fd00::7"] {
            assert_eq!(scopes.of(address.parse().unwrap()).to_vec(), [0]);
        }
        assert!(scopes.of("fe80::7".parse().unwrap()).is_empty());
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let scopes = Scopes::default();
        scopes.set_links([link(2), link(3)].iter());
        for number in 0..KNOWN_MAX as u128 + 10 {
            let address = Ipv6Addr::from_bits(0xfe80 << 112 | number);
            scopes.learn(std::net::SocketAddrV6::new(address, 1, 0, 3).into());
        }
        assert_eq!(scopes.read(|state| state.known.len()), KNOWN_MAX);
    }
}
