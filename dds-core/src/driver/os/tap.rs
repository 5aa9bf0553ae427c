//! A participant's tap: what its sockets send and receive, in a pcap file.

use crate::driver::NetworkError;
use crate::sync::Arc;
use dds_rtps::transport::tap::{Capture, Tap, as_seen_by};
use dds_rtps::transport::udp::{UdpSockets, UdpTransport};
use dds_rtps::types::Time;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;

/// The open file, and what stands in it for this participant.
pub(super) struct OpenTap {
    capture: Arc<Capture>,
    /// Sockets are bound to all addresses of the host; this one stands for them.
    address: IpAddr,
    /// Where unicast is sent from.
    sender: SocketAddr,
}

impl OpenTap {
    pub(super) fn new(path: &Path, sockets: &UdpSockets) -> Result<Self, NetworkError> {
        let capture =
            Capture::open(path, Time::now).map_err(|source| NetworkError::Tap { path: path.to_owned(), source })?;
        let address = IpAddr::V4(sockets.addresses.first().copied().unwrap_or(Ipv4Addr::LOCALHOST));
        let port = sockets.transport.local_addr().map_or(0, |sender| sender.port());
        Ok(Self { capture: Arc::new(capture), address, sender: SocketAddr::new(address, port) })
    }

    /// Records what is sent.
    pub(super) fn around(&self, transport: Arc<UdpTransport>) -> Tap<Arc<UdpTransport>> {
        Tap::new(transport, Arc::clone(&self.capture), self.sender)
    }

    /// Records what `socket` receives.
    pub(super) fn recorder(&self, socket: &UdpSocket) -> Recorder {
        let bound = socket.local_addr().unwrap_or(SocketAddr::new(self.address, 0));
        let address = if bound.ip().is_unspecified() { self.address } else { bound.ip() };
        Recorder { capture: Arc::clone(&self.capture), destination: SocketAddr::new(address, bound.port()) }
    }
}

/// Writes what one socket receives.
pub(super) struct Recorder {
    capture: Arc<Capture>,
    destination: SocketAddr,
}

impl Recorder {
    pub(super) fn record(&self, sender: Option<SocketAddr>, bytes: &[u8]) {
        let sender = sender.unwrap_or(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
        let destination =
            if self.destination.ip().is_multicast() { self.destination } else { as_seen_by(sender, self.destination) };
        self.capture.record(sender, destination, std::iter::once(bytes));
    }
}
