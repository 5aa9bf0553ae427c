//! A participant's tap: it records sent and received datagrams in a pcap file.

use crate::driver::{NetworkError, Socket};
use crate::sync::Arc;
use dds_rtps::transport::Transport;
use dds_rtps::transport::tap::{Capture, Tap, as_seen_by};
use dds_rtps::transport::udp::{PortMapping, UdpSockets};
use dds_rtps::types::Time;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

/// The open file, and the addresses that it shows for this participant.
pub(super) struct OpenTap {
    capture: Arc<Capture>,
    /// Sockets are bound to all addresses of the host. These represent them, one for each version of IP.
    addresses: Vec<IpAddr>,
    /// Source addresses of unicast datagrams.
    senders: Vec<SocketAddr>,
}

impl OpenTap {
    pub(super) fn new(path: &Path, sockets: &UdpSockets) -> Result<Self, NetworkError> {
        let capture = match Capture::open(path, Time::now) {
            Ok(capture) => capture,
            Err(source) => return Err(NetworkError::Tap { path: path.to_owned(), source }),
        };
        let mut tap = Self { capture: Arc::new(capture), addresses: sockets.links.addresses(), senders: Vec::new() };
        tap.senders = sockets.transport.local_addrs().map(|bound| tap.shown(bound)).collect();
        Ok(tap)
    }

    /// Returns the address that peers see for a socket.
    fn shown(&self, bound: SocketAddr) -> SocketAddr {
        let loopback = if bound.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V6(Ipv6Addr::LOCALHOST) };
        let address = match bound.ip() {
            ip if !ip.is_unspecified() => ip,
            ip => self.addresses.iter().copied().find(|own| own.is_ipv4() == ip.is_ipv4()).unwrap_or(loopback),
        };
        SocketAddr::new(address, bound.port())
    }

    /// Records sent datagrams.
    pub(super) fn around(&self, transport: Arc<dyn Transport>) -> Tap<Arc<dyn Transport>> {
        Tap::new(transport, Arc::clone(&self.capture), self.senders.iter().copied())
    }

    /// Records datagrams that `socket` receives.
    pub(super) fn recorder(&self, socket: &UdpSocket, kind: Socket) -> Recorder {
        let bound = socket.local_addr().unwrap_or(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
        let destination = match bound.ip() {
            // Several groups of IPv6 share a socket. The first one represents them.
            ip if kind == Socket::MetatrafficMulticast && ip.is_ipv6() && !ip.is_multicast() => {
                let [group, _] = PortMapping::DISCOVERY_GROUPS_V6;
                SocketAddr::new(group.into(), bound.port())
            }
            _ => self.shown(bound),
        };
        Recorder { capture: Arc::clone(&self.capture), destination }
    }
}

/// Writes the datagrams that one socket receives.
pub(super) struct Recorder {
    capture: Arc<Capture>,
    destination: SocketAddr,
}

impl Recorder {
    pub(super) fn record(&self, sender: Option<SocketAddr>, bytes: &[u8]) {
        // Shared memory has no sender. The file shows the unspecified address of the same version of IP.
        let unspecified =
            if self.destination.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        let sender = sender.unwrap_or(SocketAddr::new(unspecified, 0));
        // Sockets are bound to all addresses. Show the one that the sender uses.
        let destination =
            if self.destination.ip().is_multicast() { self.destination } else { as_seen_by(sender, self.destination) };
        self.capture.record(sender, destination, std::iter::once(bytes));
    }
}
