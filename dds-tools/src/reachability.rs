//! Whether the addresses of participants can be reached, tested by sending.
//!
//! A probe is the header of a message without a submessage (RTPS 2.5, 8.3.3), which has no effect at its receiver. The
//! system reports a missing route at once, and a closed port when the other host answers. A host without an answer to
//! ARP takes about three seconds. No report means nothing: a firewall may drop the probe.

use crate::domain_view::{DomainView, TopicView};
use crate::network::looks;
use crate::stop::Stop;
use dds_core::Guid;
use dds_core::builtin::Locator;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Least time between the probes and their result.
const ANSWER_TIME: Duration = Duration::from_millis(600);
/// Time between two looks at the sockets.
const LOOK: Duration = Duration::from_millis(50);
/// Most addresses that are tested. A peer can announce any number.
const ADDRESSES_MAX: usize = 512;
/// "RTPS", version 2.5, no vendor, no GUID prefix.
const HEADER: &[u8; 20] = b"RTPS\x02\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// A participant, or one of its endpoints, whose addresses all failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreachable {
    pub(crate) participant: Guid,
    /// The topic of the endpoint. `None` for the addresses of the participant.
    pub(crate) topic: Option<String>,
    pub(crate) addresses: Vec<SocketAddr>,
    /// Whether a host answered that no program has the port. Otherwise there is no way to the host.
    pub(crate) is_closed: bool,
}

/// Probes on their way to the addresses of a domain.
#[derive(Debug)]
pub(crate) struct Probes {
    start: Instant,
    /// Bounded by [`ADDRESSES_MAX`].
    sockets: BTreeMap<SocketAddr, UdpSocket>,
    failed: BTreeMap<SocketAddr, ErrorKind>,
}

impl Probes {
    /// Sends a probe to each address of the participants, and of the endpoints with addresses of their own.
    pub(crate) fn send(view: &DomainView) -> Self {
        let mut probes = Self { start: Instant::now(), sockets: BTreeMap::new(), failed: BTreeMap::new() };
        let of_participants = view.participants().into_iter().filter(|participant| !looks(participant));
        for participant in of_participants {
            probes.add(&participant.discovery_locators);
            probes.add(&participant.locators);
        }
        for topic in view.topics().values() {
            endpoint_locators(topic).for_each(|(_, locators)| probes.add(locators));
        }
        probes
    }

    fn add(&mut self, locators: &[Locator]) {
        for address in addresses(locators) {
            let is_known = self.sockets.contains_key(&address) || self.failed.contains_key(&address);
            if is_known || self.sockets.len() + self.failed.len() >= ADDRESSES_MAX {
                continue;
            }
            match probe(address) {
                Ok(socket) => drop(self.sockets.insert(address, socket)),
                Err(error) => drop(self.failed.insert(address, error.kind())),
            }
        }
    }

    /// Returns the participants and endpoints without a way to them. Waits for answers to young probes.
    pub(crate) fn unreachable(&mut self, view: &DomainView, stop: &Stop) -> Vec<Unreachable> {
        loop {
            self.collect();
            let left = ANSWER_TIME.saturating_sub(self.start.elapsed());
            if self.sockets.is_empty() || left.is_zero() || stop.is_due() {
                break;
            }
            stop.sleep(left.min(LOOK));
        }
        let mut found = Vec::new();
        for participant in view.participants() {
            let key = participant.key;
            let lists = [&participant.discovery_locators, &participant.locators];
            found.extend(lists.into_iter().filter_map(|locators| self.judge(key, None, locators)).next());
        }
        for (name, topic) in view.topics() {
            for (participant, locators) in endpoint_locators(&topic) {
                found.extend(self.judge(participant, Some(name), locators));
            }
        }
        // Endpoints of a topic often have the same addresses.
        found.dedup();
        found
    }

    fn collect(&mut self) {
        let failed = &mut self.failed;
        self.sockets.retain(|address, socket| match socket.take_error() {
            Ok(Some(error)) => {
                failed.insert(*address, error.kind());
                false
            }
            _ => true,
        });
    }

    fn judge(&self, participant: Guid, topic: Option<&str>, locators: &[Locator]) -> Option<Unreachable> {
        let addresses: Vec<SocketAddr> = addresses(locators).into_iter().collect();
        let reasons: Option<Vec<ErrorKind>> = addresses.iter().map(|it| self.failed.get(it).copied()).collect();
        let reasons = reasons.filter(|reasons| !reasons.is_empty() && reasons.iter().all(is_certain))?;
        // One refused address may be that of this host, such as a bridge that both hosts have.
        let is_closed = reasons.iter().all(|kind| *kind == ErrorKind::ConnectionRefused);
        Some(Unreachable { participant, topic: topic.map(str::to_owned), addresses, is_closed })
    }
}

/// Returns whether a failure shows that the address cannot be reached. Others concern this host.
fn is_certain(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable)
}

/// Returns the addresses for one receiver.
fn addresses(locators: &[Locator]) -> BTreeSet<SocketAddr> {
    let addresses = locators.iter().filter_map(Locator::to_socket_addr);
    addresses.filter(|address| !address.ip().is_multicast() && !address.ip().is_unspecified()).collect()
}

fn endpoint_locators<'v>(topic: &TopicView<'v>) -> impl Iterator<Item = (Guid, &'v [Locator])> {
    let writers = topic.writers.iter().map(|writer| (writer.participant_key, &writer.locators[..]));
    let readers = topic.readers.iter().map(|reader| (reader.participant_key, &reader.locators[..]));
    writers.chain(readers).collect::<Vec<_>>().into_iter()
}

fn probe(address: SocketAddr) -> std::io::Result<UdpSocket> {
    let any = match address {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(any)?;
    // Without the option, Linux reports only closed ports.
    #[cfg(target_os = "linux")]
    match address {
        SocketAddr::V4(_) => nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::Ipv4RecvErr, &true)?,
        SocketAddr::V6(_) => nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::Ipv6RecvErr, &true)?,
    }
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    socket.send(HEADER)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::Probes;
    use dds_core::Guid;
    use dds_core::builtin::Locator;
    use std::collections::BTreeMap;
    use std::net::{SocketAddr, UdpSocket};
    use std::time::{Duration, Instant};

    #[test]
    fn closed_port_fails_and_open_port_does_not() {
        let open = UdpSocket::bind("127.0.0.1:0").unwrap();
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap();
        let [open_at, closed_at] = [&open, &closed].map(|socket| socket.local_addr().unwrap());
        drop(closed);
        let mut probes = Probes { start: Instant::now(), sockets: BTreeMap::new(), failed: BTreeMap::new() };
        probes.add(&[open_at.into(), closed_at.into()]);
        while probes.failed.is_empty() {
            assert!(probes.start.elapsed() < Duration::from_secs(30), "no answer from {closed_at}");
            probes.collect();
            std::thread::sleep(Duration::from_millis(5));
        }
        let judge = |addresses: &[SocketAddr]| {
            let locators: Vec<Locator> = addresses.iter().copied().map(Locator::from).collect();
            probes.judge(Guid::from_bytes([1; 16]), Some("scan"), &locators)
        };
        assert!(judge(&[closed_at]).is_some_and(|found| found.is_closed && found.addresses == [closed_at]));
        // One address that may work is enough.
        assert_eq!((judge(&[open_at, closed_at]), judge(&[])), (None, None));
        // The open socket received the header alone.
        let mut bytes = [0; 64];
        assert_eq!(open.recv(&mut bytes).unwrap(), 20);
        assert!(bytes.starts_with(b"RTPS"));
    }
}
