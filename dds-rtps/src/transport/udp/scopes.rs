//! Table of the links of link-local IPv6 addresses.

use super::family::Family;
use super::links::LinkId;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Most addresses that are remembered, which is the number of participants. Others are sent to by every link.
const KNOWN_MAX: usize = 1_024;

/// The IPv6 links, and the link of each known neighbor.
#[derive(Debug, Default)]
pub(super) struct Scopes(RwLock<ScopeTable>);

#[derive(Debug, Default)]
struct ScopeTable {
    links: Vec<u32>,
    /// Link of each address that a datagram came from.
    known: HashMap<Ipv6Addr, u32>,
}

impl Scopes {
    /// Replaces the links, and forgets the neighbors on links that are gone.
    pub(super) fn set_links<'a>(&self, links: impl Iterator<Item = &'a LinkId>) {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let ScopeTable { links: scopes, known } = &mut *table;
        scopes.clear();
        for link in links {
            if link.family == Family::V6 {
                scopes.push(link.index);
            }
        }
        // The system may give the index of a link that is gone to another one.
        known.retain(|_, scope| scopes.contains(scope));
    }

    /// Notes the link on which a datagram arrived.
    pub(super) fn note(&self, sender: SocketAddr) {
        let SocketAddr::V6(sender) = sender else { return };
        let (address, scope) = (*sender.ip(), sender.scope_id());
        if scope == 0 || !address.is_unicast_link_local() {
            return;
        }
        // Most datagrams come from a known neighbor, which needs no write lock.
        if self.read().known.get(&address) == Some(&scope) {
            return;
        }
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if table.known.len() < KNOWN_MAX || table.known.contains_key(&address) {
            table.known.insert(address, scope);
        }
        debug_assert!(table.known.len() <= KNOWN_MAX, "the table is bounded");
    }

    /// Returns the scopes to send with: the known one, or those of all links. Other addresses have the scope 0.
    pub(super) fn of(&self, address: IpAddr) -> SmallVec<[u32; 4]> {
        let address = match address {
            IpAddr::V6(address) if address.is_unicast_link_local() => address,
            _ => return SmallVec::from_slice(&[0]),
        };
        let table = self.read();
        match table.known.get(&address) {
            Some(scope) => SmallVec::from_slice(&[*scope]),
            None => SmallVec::from_slice(&table.links),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, ScopeTable> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(index: u32) -> LinkId {
        LinkId { family: Family::V6, index, address: Family::V6.unspecified(), is_loopback: false }
    }

    #[test]
    fn neighbor_is_reached_by_every_link_until_known() {
        let scopes = Scopes::default();
        scopes.set_links([link(2), link(5)].iter());
        let neighbour: IpAddr = "fe80::7".parse().unwrap();
        assert_eq!(scopes.of(neighbour).to_vec(), [2, 5]);
        scopes.note("[fe80::7%5]:7400".parse().unwrap());
        assert_eq!(scopes.of(neighbour).to_vec(), [5]);
        assert_eq!(scopes.of("fe80::8".parse().unwrap()).to_vec(), [2, 5]);
        scopes.set_links([link(2)].iter());
        assert_eq!(scopes.of(neighbour).to_vec(), [2]);
    }

    #[test]
    fn other_addresses_need_no_scope() {
        let scopes = Scopes::default();
        scopes.note("[fd00::7%5]:7400".parse().unwrap());
        for address in ["192.0.2.1", "::1", "fd00::7"] {
            assert_eq!(scopes.of(address.parse().unwrap()).to_vec(), [0]);
        }
        assert!(scopes.of("fe80::7".parse().unwrap()).is_empty());
    }

    #[test]
    fn known_neighbors_are_bounded() {
        let scopes = Scopes::default();
        scopes.set_links([link(2), link(3)].iter());
        for number in 0..KNOWN_MAX as u128 + 10 {
            let address = Ipv6Addr::from_bits(0xfe80 << 112 | number);
            scopes.note(std::net::SocketAddrV6::new(address, 1, 0, 3).into());
        }
        assert_eq!(scopes.read().known.len(), KNOWN_MAX);
    }
}
