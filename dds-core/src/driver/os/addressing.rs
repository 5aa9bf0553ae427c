//! Addresses of a participant, and the addresses where it looks for peers, while interfaces come and go.

use super::naming::Naming;
use crate::driver::{Locators, NetworkConfig};
use crate::sync::{Arc, Lock, LockGuard};
use dds_rtps::discovery::HostAddress;
use dds_rtps::transport::udp::{Links, PortMapping, UdpConfig, UdpSockets, locators};
use dds_rtps::types::{Duration, Locator};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Number of participant indexes that are tried on a host without multicast. Each costs one datagram per announcement.
pub(super) const PEER_INDEXES: u32 = 32;

/// Longest pause between two interface checks. Usually a check is one system call that reports no change.
const LOOK_PERIOD: Duration = Duration::from_secs(2);

/// Pause between two checks after the start and after a change, and the number of these checks.
const SOON_PERIOD: Duration = Duration::from_millis(100);
const SOON_CHECKS: u32 = 20;

/// When the participant checks the interfaces.
///
/// An interface that comes up gets its carrier, its IPv4 address and its IPv6 addresses one after the other. Linux
/// reports a carrier up to a second late. So checks follow each other for two seconds after the start and after each
/// change.
pub(super) struct LookSchedule {
    soon_checks: u32,
}

impl LookSchedule {
    pub(super) fn new() -> Self {
        Self { soon_checks: SOON_CHECKS }
    }

    /// Returns the pause before the next check.
    pub(super) fn next_pause(&mut self) -> Duration {
        let Some(left) = self.soon_checks.checked_sub(1) else { return LOOK_PERIOD };
        self.soon_checks = left;
        SOON_PERIOD
    }

    /// The addresses have changed.
    pub(super) fn note_change(&mut self) {
        self.soon_checks = SOON_CHECKS;
    }
}

/// Current addresses of a participant.
pub(super) struct Addressing {
    domain_id: u32,
    ports: PortMapping,
    /// The configuration requests multicast.
    wants_multicast: bool,
    peers: Vec<SocketAddr>,
    /// Current addresses of the peers' names.
    named_peers: Lock<Vec<SocketAddr>>,
    /// Names of peers that have no address at present.
    unresolved: Lock<Vec<String>>,
    metatraffic: Vec<SocketAddr>,
    user: Vec<SocketAddr>,
    participant_index: Option<u32>,
    links: Lock<Links>,
    locators: Lock<Arc<Locators>>,
}

impl Addressing {
    /// Uses new sockets, and returns all of them except for their `links`.
    pub(super) fn new(config: &NetworkConfig, udp: &UdpConfig, sockets: UdpSockets) -> io::Result<(Self, Receivers)> {
        let metatraffic = bound_addresses(&sockets.metatraffic_unicast)?;
        let user = bound_addresses(&sockets.user_unicast)?;
        let mut peers = Vec::new();
        for &peer in &config.peers {
            if !speaks(&user, &peer) {
                tracing::debug!(%peer, "ignores the address of a peer: no socket has its version of IP");
                continue;
            }
            // A link-local address was configured with its link.
            sockets.transport.note_sender(peer);
            peers.push(peer);
        }
        let addressing = Self {
            domain_id: udp.domain_id,
            ports: udp.ports,
            wants_multicast: config.multicast,
            peers,
            named_peers: Lock::default(),
            unresolved: Lock::default(),
            metatraffic,
            user,
            participant_index: sockets.participant_index,
            links: Lock::new(sockets.links),
            locators: Lock::default(),
        };
        *addressing.locators.lock() = Arc::new(addressing.at_present(&addressing.links.lock()));
        let receivers = Receivers {
            metatraffic_multicast: sockets.metatraffic_multicast,
            metatraffic_unicast: sockets.metatraffic_unicast,
            user_unicast: sockets.user_unicast,
        };
        Ok((addressing, receivers))
    }

    pub(super) fn locators(&self) -> Arc<Locators> {
        Arc::clone(&self.locators.lock())
    }

    /// Checks the interfaces again. Returns true if the locators have changed.
    pub(super) fn look(&self) -> bool {
        let mut links = self.links.lock();
        match links.follow() {
            Ok(false) => return false,
            Ok(true) => {}
            Err(error) => {
                tracing::debug!(%error, "the network interfaces could not be looked at; next time they may");
                return false;
            }
        }
        self.renew(links)
    }

    pub(super) fn unresolved_peers(&self) -> Vec<String> {
        self.unresolved.lock().clone()
    }

    /// Takes over the current addresses of the peers' names. Returns true if the locators have changed by that.
    pub(super) fn set_named_peers(&self, naming: &Naming) -> bool {
        *self.named_peers.lock() = naming.addresses();
        *self.unresolved.lock() = naming.unresolved();
        self.renew(self.links.lock())
    }

    fn renew(&self, links: LockGuard<'_, Links>) -> bool {
        let present = self.at_present(&links);
        // The links are no longer needed, so release them before the other lock.
        drop(links);
        let mut locators = self.locators.lock();
        if **locators == present {
            return false;
        }
        *locators = Arc::new(present);
        true
    }

    fn at_present(&self, links: &Links) -> Locators {
        let addresses = links.addresses();
        let mut host_addresses = Vec::new();
        for own in links.interfaces() {
            host_addresses.push(HostAddress { address: own.address, prefix_len: own.prefix_len });
        }
        Locators {
            metatraffic_unicast: locators(&self.metatraffic, &addresses),
            metatraffic_multicast: links.groups_joined(),
            default_unicast: locators(&self.user, &addresses),
            initial_peers: links.groups_sent_to().into_iter().chain(self.well_known(links)).collect(),
            host_addresses,
            participant_index: self.participant_index,
        }
    }

    /// Returns locators of possible participants that multicast does not reach.
    ///
    /// These are the peers. They include this host if multicast is requested and does not reach it, or if there are no
    /// peers.
    fn well_known(&self, links: &Links) -> Vec<Locator> {
        let mut found: Vec<Locator> = Vec::new();
        let named = self.named_peers.lock().clone();
        for peer in self.peers.iter().chain(&named) {
            // No socket of this participant can reach an address of the other version of IP.
            if !speaks(&self.user, peer) {
                continue;
            }
            match peer.port() {
                0 => found.extend(self.ports.participants_on(peer.ip(), self.domain_id, self.indexes_on(peer))),
                _ => found.push(Locator::from(*peer)),
            }
        }
        if self.wants_multicast || self.peers.is_empty() {
            for address in links.unreached_by_multicast() {
                let host = SocketAddr::new(address, 0);
                found.extend(self.ports.participants_on(address, self.domain_id, self.indexes_on(&host)));
            }
        }
        // Two names may have the same address.
        let mut seen = std::collections::HashSet::new();
        found.retain(|locator| seen.insert(*locator));
        found
    }

    /// Number of participant indexes to try on `host`.
    ///
    /// On this host, at least all indexes below the own one are tried. So of any two participants, the one with the
    /// higher index tries the other's index. A participant without an index, after 479, tries them all.
    fn indexes_on(&self, host: &SocketAddr) -> u32 {
        if host.ip().is_loopback() {
            self.participant_index.unwrap_or(u32::MAX).max(PEER_INDEXES)
        } else {
            PEER_INDEXES
        }
    }
}

fn bound_addresses(sockets: &[UdpSocket]) -> io::Result<Vec<SocketAddr>> {
    sockets.iter().map(UdpSocket::local_addr).collect()
}

/// Whether one of the sockets has the version of IP of `peer`.
fn speaks(sockets: &[SocketAddr], peer: &SocketAddr) -> bool {
    sockets.iter().any(|own| own.is_ipv4() == peer.is_ipv4())
}

/// Sockets to receive from.
pub(super) struct Receivers {
    pub(super) metatraffic_multicast: Vec<UdpSocket>,
    pub(super) metatraffic_unicast: Vec<UdpSocket>,
    pub(super) user_unicast: Vec<UdpSocket>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_checked_soon_after_start_and_change() {
        let mut schedule = LookSchedule::new();
        let mut soon = vec![SOON_PERIOD; 20];
        soon.extend([LOOK_PERIOD; 2]);
        for _ in 0..2 {
            let pauses: Vec<Duration> = (0..22).map(|_| schedule.next_pause()).collect();
            assert_eq!(pauses, soon);
            schedule.note_change();
        }
    }
}
