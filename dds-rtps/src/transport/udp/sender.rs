//! Sends by UDP without ever waiting.

use crate::output::Datagram;
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::Locator;
use smallvec::SmallVec;
use socket2::{SockAddr, Socket};
use std::io::{self, ErrorKind, IoSlice};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};

/// Up to how many bytes a datagram of several segments is put together before it is sent: that costs about 20 ns, having
/// the system gather them 150.
const COPIED_MAX: usize = 1024;

/// The sending side of a participant's sockets.
///
/// They are sockets of their own, non-blocking, so that the receive thread can block in its one.
#[derive(Debug)]
pub struct UdpTransport {
    unicast: Socket,
    multicast: Vec<MulticastSender>,
    counters: Counters,
}

/// Sends multicast by one interface.
#[derive(Debug)]
pub(super) struct MulticastSender {
    pub(super) socket: Socket,
    pub(super) interface: Ipv4Addr,
}

#[derive(Debug, Default)]
struct Counters {
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    blocked: AtomicU64,
    failed: AtomicU64,
    unsupported: AtomicU64,
}

impl UdpTransport {
    /// Of sockets that have been made non-blocking.
    pub(super) fn new(unicast: Socket, multicast: Vec<MulticastSender>) -> Self {
        Self { unicast, multicast, counters: Counters::default() }
    }

    /// The addresses of the interfaces that multicast goes out by; empty if it cannot be sent at all.
    pub fn multicast_interfaces(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.multicast.iter().map(|sender| sender.interface)
    }

    /// Second handles of the sockets, for waiting until there is room in them.
    ///
    /// # Errors
    /// The process has no more file descriptors.
    pub fn handles(&self) -> io::Result<Vec<UdpSocket>> {
        let sockets = std::iter::once(&self.unicast).chain(self.multicast.iter().map(|sender| &sender.socket));
        sockets.map(|socket| socket.try_clone().map(UdpSocket::from)).collect()
    }

    /// The address that unicast datagrams come from; its IP address is unspecified unless the traffic stays on the host.
    ///
    /// # Errors
    /// The system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.unicast.local_addr()?.as_socket().ok_or_else(|| io::Error::from(ErrorKind::AddrNotAvailable))
    }

    /// Sends to one destination after the other; how many were served.
    fn serve(&self, segments: &[IoSlice<'_>], destinations: &[Locator]) -> (usize, SendOutcome) {
        for (served, locator) in destinations.iter().enumerate() {
            match locator.to_socket_addr() {
                Some(address @ SocketAddr::V4(_)) => {
                    if self.send_to(segments, address).is_err() {
                        return (served, SendOutcome::Blocked);
                    }
                }
                _ => {
                    self.counters.unsupported.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        (destinations.len(), SendOutcome::Done)
    }

    /// Sends to one destination; only a lack of room is an error, anything else is counted.
    fn send_to(&self, segments: &[IoSlice<'_>], destination: SocketAddr) -> Result<(), Blocked> {
        let address = SockAddr::from(destination);
        if !destination.ip().is_multicast() {
            return self.send_by(&self.unicast, segments, &address);
        }
        if self.multicast.is_empty() {
            self.counters.failed.fetch_add(1, Ordering::Relaxed);
        }
        // If one interface has no room, the datagram goes out by all of them once more later: a duplicate is harmless,
        // and rarer than the book-keeping would be worth.
        let mut outcome = Ok(());
        for sender in &self.multicast {
            outcome = outcome.and(self.send_by(&sender.socket, segments, &address));
        }
        outcome
    }

    fn send_by(&self, socket: &Socket, segments: &[IoSlice<'_>], address: &SockAddr) -> Result<(), Blocked> {
        loop {
            let sent = match segments {
                // A little cheaper for the system than a gathering call.
                [only] => socket.send_to(only, address),
                several => socket.send_to_vectored(several, address),
            };
            let counter = match sent {
                Ok(bytes) => {
                    self.counters.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                    &self.counters.sent
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.counters.blocked.fetch_add(1, Ordering::Relaxed);
                    return Err(Blocked);
                }
                // No route, a firewall, an interface that has gone: lost for this destination, as it might be lost later
                // on its way. Reliable writers repair it.
                Err(_) => &self.counters.failed,
            };
            counter.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
    }
}

#[derive(Clone, Copy)]
struct Blocked;

impl Transport for UdpTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut copy: SmallVec<[u8; COPIED_MAX]> = SmallVec::new();
        let mut segments: SmallVec<[IoSlice<'_>; 8]> = datagram.segments().map(IoSlice::new).collect();
        if segments.len() > 1 && datagram.len() <= COPIED_MAX {
            segments.drain(..).for_each(|segment| copy.extend_from_slice(&segment));
            segments.push(IoSlice::new(&copy));
        }
        let (served, outcome) = self.serve(&segments, datagram.remaining_destinations());
        drop(segments);
        (0..served).for_each(|_| datagram.destination_done());
        outcome
    }

    fn counters(&self) -> TransportCounters {
        let Counters { sent, sent_bytes, blocked, failed, unsupported } = &self.counters;
        TransportCounters {
            sent: sent.load(Ordering::Relaxed),
            sent_bytes: sent_bytes.load(Ordering::Relaxed),
            blocked: blocked.load(Ordering::Relaxed),
            failed: failed.load(Ordering::Relaxed),
            unsupported: unsupported.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{UdpConfig, UdpSockets};
    use super::*;
    use crate::history::Payload;

    fn sockets() -> UdpSockets {
        UdpSockets::open(&UdpConfig { domain_id: 231, host_only: true, multicast: false, ..UdpConfig::default() })
            .unwrap()
    }

    #[test]
    fn a_datagram_arrives_in_one_piece_copied_or_gathered() {
        let sockets = sockets();
        let mut total = 0;
        for payload_len in [1, COPIED_MAX - 7, COPIED_MAX - 6, 60_000] {
            let mut datagram = Datagram::new();
            datagram.buffer().extend_from_slice(b"header ");
            datagram.gather(Payload::copy_of(&vec![b'x'; payload_len]), 0..payload_len);
            datagram.add_destination(Locator::from(sockets.user_unicast.local_addr().unwrap()));
            assert_eq!(sockets.transport.send(&mut datagram), SendOutcome::Done);
            assert!(datagram.remaining_destinations().is_empty());
            let mut buffer = vec![0; 65_536];
            let (len, _) = sockets.user_unicast.recv_from(&mut buffer).unwrap();
            let mut expected = Vec::new();
            datagram.copy_to(&mut expected);
            assert!(buffer[..len] == expected);
            total += len as u64;
        }
        let counters = sockets.transport.counters();
        assert_eq!((counters.sent, counters.sent_bytes), (4, total));
    }
}
