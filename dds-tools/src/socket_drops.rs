//! Datagrams that full receive buffers of this host dropped, for the sockets of any process.

use crate::domain_view::DomainView;
use dds_core::Guid;
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};

/// Tables of the system with one socket on each line.
const TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];

/// The dropped datagrams of the UDP sockets of this host, by their ports. Only Linux reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketDrops {
    by_port: HashMap<u16, u64>,
}

impl SocketDrops {
    /// Reads the present counts. On other systems than Linux, the result is empty.
    #[must_use]
    pub fn read() -> Self {
        let mut drops = Self::default();
        for table in TABLES {
            if let Ok(text) = std::fs::read_to_string(table) {
                drops.add_table(&text);
            }
        }
        drops
    }

    fn add_table(&mut self, text: &str) {
        // The first line has the names of the columns.
        for line in text.lines().skip(1) {
            let mut columns = line.split_whitespace();
            let port = columns.nth(1).and_then(|address| address.rsplit(':').next());
            let port = port.and_then(|port| u16::from_str_radix(port, 16).ok());
            let dropped = columns.last().and_then(|dropped| dropped.parse::<u64>().ok());
            if let (Some(port), Some(dropped)) = (port, dropped) {
                *self.by_port.entry(port).or_default() += dropped;
            }
        }
    }

    /// Returns the drops of a participant's sockets for user data, if it lives on this host.
    #[must_use]
    pub fn of_participant(&self, view: &DomainView, participant: Guid) -> Option<u64> {
        let locators = &view.participant(participant)?.locators;
        let addresses = locators.iter().filter_map(dds_core::builtin::Locator::to_socket_addr);
        let mut ports: Vec<u16> =
            addresses.filter(|address| is_local(*address)).map(|address| address.port()).collect();
        ports.sort_unstable();
        ports.dedup();
        let counts: Vec<u64> = ports.iter().filter_map(|port| self.by_port.get(port).copied()).collect();
        if counts.is_empty() { None } else { Some(counts.iter().sum()) }
    }
}

/// The dropped datagrams of participants on this host, since the first look at each of them.
#[derive(Debug, Default)]
pub struct DropsSinceStart {
    at_start: HashMap<Guid, u64>,
}

impl DropsSinceStart {
    /// Reads the drops of each participant that lives on this host.
    #[must_use]
    pub fn read(&mut self, view: &DomainView) -> HashMap<Guid, u64> {
        let drops = SocketDrops::read();
        let mut since_start = HashMap::new();
        for participant in view.participants() {
            let Some(now) = drops.of_participant(view, participant.key) else { continue };
            let start = *self.at_start.entry(participant.key).or_insert(now);
            since_start.insert(participant.key, now.saturating_sub(start));
        }
        // Participants come and go for as long as the program runs.
        self.at_start.retain(|participant, _| view.participant(*participant).is_some());
        since_start
    }
}

/// Returns whether a participant runs on this host: each of its addresses is one of this host.
///
/// A peer with only some of these addresses may be another host with an equal bridge address.
pub(crate) fn is_on_this_host(view: &DomainView, participant: Guid) -> bool {
    let Some(found) = view.participant(participant) else { return true };
    let addresses = found.locators.iter().filter_map(dds_core::builtin::Locator::to_socket_addr);
    all_are_local(addresses)
}

/// Returns whether all unicast addresses are of this host. Without one, nothing shows that.
fn all_are_local(addresses: impl Iterator<Item = SocketAddr>) -> bool {
    let mut addresses = addresses.filter(|address| !address.ip().is_multicast()).peekable();
    addresses.peek().is_some() && addresses.all(is_local)
}

/// Returns whether the address belongs to this host. The system binds a socket to no other address.
fn is_local(mut address: SocketAddr) -> bool {
    // Every host accepts a multicast address.
    if address.ip().is_multicast() {
        return false;
    }
    address.set_port(0);
    UdpSocket::bind(address).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{SocketDrops, all_are_local, is_local};
    use std::net::SocketAddr;

    #[test]
    fn table_of_system_has_drops_by_port() {
        let mut drops = SocketDrops::default();
        drops.add_table(
            "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
             100: 0100007F:1CF3 00000000:0000 07 00000000:00000000 00:00000000 00000000  0  0 33 2 0000000000000000 17\n\
             101: 00000000:1CF3 00000000:0000 07 00000000:00000000 00:00000000 00000000  0  0 34 2 0000000000000000 5\n\
             102: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000  0  0 35 2 0000000000000000 0\n\
             damaged\n",
        );
        assert_eq!(drops.by_port.get(&7411), Some(&22));
        assert_eq!(drops.by_port.get(&53), Some(&0));
        assert_eq!(drops.by_port.len(), 2);
    }

    #[test]
    fn only_own_addresses_are_local() {
        assert!(is_local(([127, 0, 0, 1], 7411).into()));
        assert!(!is_local(([192, 0, 2, 1], 7411).into()));
        assert!(!is_local(([239, 255, 0, 1], 7400).into()));
    }

    #[test]
    fn participant_without_addresses_is_on_an_unknown_host() {
        let (own, other): (SocketAddr, SocketAddr) = (([127, 0, 0, 1], 7411).into(), ([192, 0, 2, 1], 7411).into());
        let group: SocketAddr = ([239, 255, 0, 1], 7400).into();
        assert!(all_are_local([own, group].into_iter()));
        assert!(!all_are_local([own, other].into_iter()));
        assert!(!all_are_local([group].into_iter()) && !all_are_local(std::iter::empty()));
    }
}
