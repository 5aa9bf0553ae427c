//! Sends by UDP without blocking.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::control::Control;
use super::family::{Family, on_link};
use super::links::LinkId;
use super::run;
use super::scopes::Scopes;
use crate::output::Datagram;
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::{Locator, TrafficClass};
use smallvec::SmallVec;
#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::MsgHdr;
use socket2::{SockAddr, Socket};
use std::io::{self, ErrorKind, IoSlice};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Most bytes of a datagram whose segments are copied together before the send. The copy costs about 20 ns; gathering
/// by the system costs 150 ns.
const COPIED_MAX: usize = 1024;

/// System error for a datagram that is longer than UDP or a link can carry (EMSGSIZE).
const MESSAGE_TOO_LONG: i32 = match () {
    () if cfg!(any(target_os = "linux", target_os = "android")) => 90,
    () if cfg!(windows) => 10_040,
    () => 40,
};

/// Sends the datagrams of a participant.
///
/// It has its own non-blocking sockets, so that the receive thread can block on the others.
#[derive(Debug)]
pub struct UdpTransport {
    unicast: UnicastSenders,
    /// Locked by discovery only: samples are sent by unicast.
    multicast: RwLock<Vec<MulticastSender>>,
    scopes: Scopes,
    /// The only allowed IPv6 destinations of host-only traffic. A socket bound to loopback does not enforce this over
    /// IPv6, as it does over IPv4.
    confined_to: Option<RwLock<Vec<Ipv6Addr>>>,
    /// Whether the system accepts runs.
    takes_runs: bool,
    counters: AtomicCounters,
}

/// One unicast sender for each used version of IP.
#[derive(Debug, Default)]
pub(super) struct UnicastSenders {
    pub(super) v4: Option<Socket>,
    pub(super) v6: Option<Socket>,
}

/// Sends multicast by one interface.
#[derive(Debug)]
pub(super) struct MulticastSender {
    pub(super) socket: Socket,
    pub(super) id: LinkId,
}

/// The content that each destination gets.
#[derive(Clone, Copy)]
struct DatagramContent<'a> {
    segments: &'a [IoSlice<'a>],
    class: TrafficClass,
}

#[derive(Debug, Default)]
struct AtomicCounters {
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    blocked: AtomicU64,
    failed: AtomicU64,
    unreachable: AtomicU64,
    too_long: AtomicU64,
    forbidden: AtomicU64,
    unsupported: AtomicU64,
    unmarked: AtomicU64,
}

impl UdpTransport {
    /// Creates a transport of non-blocking sockets.
    pub(super) fn new(unicast: UnicastSenders, is_confined: bool) -> Self {
        let takes_runs = unicast.sockets().all(run::is_supported);
        Self {
            takes_runs,
            unicast,
            multicast: RwLock::default(),
            scopes: Scopes::default(),
            confined_to: is_confined.then(RwLock::default),
            counters: AtomicCounters::default(),
        }
    }

    /// Replaces the known addresses of this host.
    pub(super) fn set_host_addresses(&self, addresses: impl Iterator<Item = IpAddr>) {
        let Some(confined_to) = &self.confined_to else { return };
        let mut v6 = Vec::new();
        for address in addresses {
            if let IpAddr::V6(address) = address {
                v6.push(address);
            }
        }
        *confined_to.write().unwrap_or_else(PoisonError::into_inner) = v6;
    }

    fn may_go_to(&self, destination: &Ipv6Addr) -> bool {
        let Some(confined_to) = &self.confined_to else { return true };
        destination.is_loopback() || confined_to.read().unwrap_or_else(PoisonError::into_inner).contains(destination)
    }

    pub(super) fn add_sender(&self, sender: MulticastSender) {
        self.multicast.write().unwrap_or_else(PoisonError::into_inner).push(sender);
    }

    pub(super) fn remove_senders(&self, is_gone: impl Fn(LinkId) -> bool) {
        self.multicast.write().unwrap_or_else(PoisonError::into_inner).retain(|sender| !is_gone(sender.id));
    }

    pub(super) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Notes the link of a link-local sender. Only received datagrams name it.
    pub fn note_sender(&self, sender: SocketAddr) {
        self.scopes.note(sender);
    }

    /// Returns second handles of the sockets, to wait until they have room.
    ///
    /// # Errors
    /// The process has no more file descriptors.
    pub fn handles(&self) -> io::Result<Vec<UdpSocket>> {
        let multicast = self.multicast.read().unwrap_or_else(PoisonError::into_inner);
        let sockets = self.unicast.sockets().chain(multicast.iter().map(|sender| &sender.socket));
        sockets.map(|socket| socket.try_clone().map(UdpSocket::from)).collect()
    }

    /// Returns the source addresses of unicast datagrams, one for each version of IP.
    ///
    /// The IP addresses are unspecified unless the traffic stays on the host.
    pub fn local_addrs(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.unicast.sockets().filter_map(|socket| socket.local_addr().ok()?.as_socket())
    }

    /// Sends to one destination after the other; returns how many were served.
    fn serve(&self, content: DatagramContent<'_>, destinations: &[Locator]) -> (usize, SendOutcome) {
        for (served, locator) in destinations.iter().enumerate() {
            let target = locator.to_socket_addr().and_then(|address| Some((self.unicast.of(address)?, address)));
            let Some((socket, address)) = target else {
                self.counters.unsupported.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            if self.send_to(socket, content, address).is_err() {
                return (served, SendOutcome::Blocked);
            }
        }
        (destinations.len(), SendOutcome::Done)
    }

    /// Sends a run to one destination after the other; returns how many were served.
    ///
    /// It stops without an error at a destination that needs single datagrams, and with an error if a socket has no
    /// room.
    fn serve_run(&self, run: &[Datagram], destinations: &[Locator]) -> (usize, Result<(), SocketFull>) {
        let (Some(first), true) = (run.first(), self.takes_runs && run.len() > 1) else { return (0, Ok(())) };
        let Ok(each) = u16::try_from(first.len()) else { return (0, Ok(())) };
        let pieces = run::pieces(run);
        let class = first.traffic_class();
        for (served, locator) in destinations.iter().enumerate() {
            let Some((socket, address)) = self.plain_unicast(locator) else { return (served, Ok(())) };
            match retried(|| run::send(socket, &pieces, each, class, &address)) {
                Ok(bytes) => self.count_sent(run.len(), bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.counters.blocked.fetch_add(1, Ordering::Relaxed);
                    return (served, Err(SocketFull));
                }
                // The path cannot carry such datagrams in a run, or a device on it must see each one. Single sends
                // report any error of the destination itself.
                Err(_) => return (served, Ok(())),
            }
        }
        (destinations.len(), Ok(()))
    }

    /// Returns the socket and the address of a destination that one call by one socket serves.
    fn plain_unicast(&self, locator: &Locator) -> Option<(&Socket, SockAddr)> {
        let address = locator.to_socket_addr()?;
        let is_plain = match address {
            SocketAddr::V4(v4) => !v4.ip().is_multicast(),
            SocketAddr::V6(v6) => {
                !v6.ip().is_multicast() && !v6.ip().is_unicast_link_local() && self.may_go_to(v6.ip())
            }
        };
        if !is_plain {
            return None;
        }
        Some((self.unicast.of(address)?, SockAddr::from(address)))
    }

    /// Sends to one destination. Only a full socket is an error; other failures are counted.
    fn send_to(
        &self,
        socket: &Socket,
        content: DatagramContent<'_>,
        destination: SocketAddr,
    ) -> Result<(), SocketFull> {
        match destination {
            _ if destination.ip().is_multicast() => self.send_to_group(content, destination),
            SocketAddr::V6(v6) if !self.may_go_to(v6.ip()) => {
                self.count_failure(&self.counters.unreachable);
                Ok(())
            }
            SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() => self.send_to_link(socket, content, destination),
            _ => self.send_by(socket, content, &SockAddr::from(destination)),
        }
    }

    fn send_to_group(&self, content: DatagramContent<'_>, group: SocketAddr) -> Result<(), SocketFull> {
        let senders = self.multicast.read().unwrap_or_else(PoisonError::into_inner);
        let family = Family::of(group.ip());
        let mut outcome = None;
        // If one interface has no room, the datagram is sent again by all of them later. A duplicate is harmless and
        // rare, so it is not worth any state.
        for sender in senders.iter().filter(|sender| sender.id.family == family) {
            let address = SockAddr::from(on_link(group.ip(), group.port(), sender.id.index));
            let sent = self.send_by(&sender.socket, content, &address);
            outcome = Some(outcome.unwrap_or(Ok(())).and(sent));
        }
        if outcome.is_none() {
            self.count_failure(&self.counters.unreachable);
        }
        outcome.unwrap_or(Ok(()))
    }

    /// Sends to a link-local address by its link, or by each link if that is unknown. A failure on the other links
    /// means nothing.
    fn send_to_link(
        &self,
        socket: &Socket,
        content: DatagramContent<'_>,
        destination: SocketAddr,
    ) -> Result<(), SocketFull> {
        let scopes = self.scopes.of(destination.ip());
        if scopes.is_empty() {
            self.count_failure(&self.counters.unreachable);
        }
        for scope in scopes {
            let address = on_link(destination.ip(), destination.port(), scope);
            self.send_by(socket, content, &SockAddr::from(address))?;
        }
        Ok(())
    }

    fn send_by(&self, socket: &Socket, content: DatagramContent<'_>, address: &SockAddr) -> Result<(), SocketFull> {
        let sent = retried(|| match content.segments {
            _ if !content.class.is_default() => self.send_marked(socket, content, address),
            // This is a little cheaper than a gathering call. `sendmmsg` is not used: it sends 16 datagrams no faster
            // than 16 calls, because the path through the system costs most and not the call.
            [only] => socket.send_to(only, address),
            // An emulator of a processor may lose a gathering call without buffers (`qemu-user` 7.2).
            [] => socket.send_to(&[], address),
            several => socket.send_to_vectored(several, address),
        });
        match sent {
            Ok(bytes) => self.count_sent(1, bytes),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.counters.blocked.fetch_add(1, Ordering::Relaxed);
                return Err(SocketFull);
            }
            // Lost for this destination, as on the network. Reliable writers repair it.
            Err(error) => self.note_error(&error),
        }
        Ok(())
    }

    /// Sends with a class other than the default.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn send_marked(&self, socket: &Socket, content: DatagramContent<'_>, address: &SockAddr) -> io::Result<usize> {
        let mut control = Control::new();
        control.class(content.class, address);
        let message = MsgHdr::new().with_addr(address).with_buffers(content.segments).with_control(control.bytes());
        socket.sendmsg(&message, 0)
    }

    /// Sends with the default class, and counts that.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn send_marked(&self, socket: &Socket, content: DatagramContent<'_>, address: &SockAddr) -> io::Result<usize> {
        let sent = socket.send_to_vectored(content.segments, address)?;
        self.counters.unmarked.fetch_add(1, Ordering::Relaxed);
        Ok(sent)
    }

    fn count_sent(&self, datagrams: usize, bytes: usize) {
        self.counters.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.counters.sent.fetch_add(datagrams as u64, Ordering::Relaxed);
    }

    #[cold]
    fn note_error(&self, error: &io::Error) {
        match error.kind() {
            // The standard library has no kind for this error.
            _ if error.raw_os_error() == Some(MESSAGE_TOO_LONG) => self.count_failure(&self.counters.too_long),
            ErrorKind::PermissionDenied => self.count_failure(&self.counters.forbidden),
            ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset => self.count_failure(&self.counters.unreachable),
            _ => {
                self.counters.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn count_failure(&self, of_kind: &AtomicU64) {
        of_kind.fetch_add(1, Ordering::Relaxed);
        self.counters.failed.fetch_add(1, Ordering::Relaxed);
    }
}

impl UnicastSenders {
    fn sockets(&self) -> impl Iterator<Item = &Socket> {
        self.v4.iter().chain(&self.v6)
    }

    #[inline]
    fn of(&self, destination: SocketAddr) -> Option<&Socket> {
        // A host without this version of IP has no socket for it.
        if destination.is_ipv4() { self.v4.as_ref() } else { self.v6.as_ref() }
    }
}

#[derive(Clone, Copy)]
struct SocketFull;

/// Repeats a call that a signal has interrupted.
#[inline]
fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl Transport for UdpTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut copy: SmallVec<[u8; COPIED_MAX]> = SmallVec::new();
        let mut segments: SmallVec<[IoSlice<'_>; 8]> = SmallVec::new();
        // Not `collect`, whose result is moved here: that costs as much as the copy of a small sample.
        segments.extend(datagram.segments().map(IoSlice::new));
        // A copy of few bytes costs less than a call that gathers.
        if segments.len() > 1 && datagram.len() <= COPIED_MAX {
            for segment in segments.drain(..) {
                copy.extend_from_slice(&segment);
            }
            segments.push(IoSlice::new(&copy));
        }
        let content = DatagramContent { segments: &segments, class: datagram.traffic_class() };
        let (served, outcome) = self.serve(content, datagram.remaining_destinations());
        drop(segments);
        for _ in 0..served {
            datagram.destination_done();
        }
        outcome
    }

    fn send_all(&self, datagrams: &mut [Datagram]) -> usize {
        let mut done = 0;
        while done < datagrams.len() {
            let rest = &datagrams[done..];
            // A datagram in a run of 46 costs its sender 1/25 of a single one.
            let run = run::run_of(rest);
            let (served, outcome) = self.serve_run(run, run[0].remaining_destinations());
            let count = run.len();
            let run = &mut datagrams[done..done + count];
            for datagram in run.iter_mut() {
                for _ in 0..served {
                    datagram.destination_done();
                }
            }
            if outcome.is_err() {
                return done;
            }
            // The remaining destinations get the datagrams one by one.
            for datagram in run {
                if !datagram.remaining_destinations().is_empty() && self.send(datagram) == SendOutcome::Blocked {
                    return done;
                }
                done += 1;
            }
        }
        debug_assert_eq!(done, datagrams.len(), "every datagram is sent when none is blocked");
        done
    }

    fn counters(&self) -> TransportCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TransportCounters {
            sent: read(&self.counters.sent),
            sent_bytes: read(&self.counters.sent_bytes),
            blocked: read(&self.counters.blocked),
            failed: read(&self.counters.failed),
            unreachable: read(&self.counters.unreachable),
            too_long: read(&self.counters.too_long),
            forbidden: read(&self.counters.forbidden),
            unsupported: read(&self.counters.unsupported),
            unmarked: read(&self.counters.unmarked),
            shared: 0,
            shared_full: 0,
            shared_refused: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Received, UdpConfig, UdpReceiver, UdpSockets};
    use super::*;
    use crate::concurrent::Payload;

    /// Sending and receiving together: one call per run, for any number of fragments.
    #[test]
    fn run_is_sent_and_received_by_one_call() {
        let sockets = sockets();
        let mut receiver = UdpReceiver::new(sockets.user_unicast[0].try_clone().unwrap().into());
        let to = Locator::from(sockets.user_unicast[0].local_addr().unwrap());
        let payload = Payload::copy_of(&(0..20_000_u32).map(|index| (index / 1344) as u8).collect::<Vec<_>>());
        let fragment = |index: usize| {
            let mut datagram = Datagram::new();
            datagram.buffer().extend_from_slice(b"header");
            datagram.gather(payload.clone(), index * 1344..((index + 1) * 1344).min(payload.len()));
            datagram.add_destination(to);
            datagram
        };
        let mut buffer = vec![0; 65_536];
        // Enough equal datagrams that the receiver expects runs.
        for _ in 0..20 {
            assert_eq!(sockets.transport.send(&mut fragment(0)), SendOutcome::Done);
            assert_eq!(receiver.receive(&mut buffer).unwrap(), Received::one(1350));
        }
        let mut fragments: Vec<Datagram> = (0..15).map(fragment).collect();
        assert_eq!(sockets.transport.send_all(&mut fragments), 15);
        let mut calls = 0;
        let mut arrived = Vec::new();
        while arrived.len() < 15 {
            calls += 1;
            let received = receiver.receive(&mut buffer).unwrap();
            arrived.extend(received.datagrams().map(|datagram| buffer[datagram].to_vec()));
        }
        let mut expected = Vec::new();
        for fragment in &fragments {
            fragment.copy_to(&mut expected);
        }
        assert!(arrived.concat() == expected);
        assert!(arrived.iter().zip(&fragments).all(|(arrived, sent)| arrived.len() == sent.len()));
        let has_runs = sockets.transport.takes_runs && receiver.takes_runs();
        assert_eq!(calls, if has_runs { 1 } else { 15 });
    }

    fn sockets() -> UdpSockets {
        UdpSockets::open(&UdpConfig { domain_id: 231, host_only: true, multicast: false, ..UdpConfig::default() })
            .unwrap()
    }

    #[test]
    fn datagram_arrives_whole_copied_or_gathered() {
        let sockets = sockets();
        let mut total = 0;
        for payload_len in [1, COPIED_MAX - 7, COPIED_MAX - 6, 60_000] {
            let mut datagram = Datagram::new();
            datagram.buffer().extend_from_slice(b"header ");
            datagram.gather(Payload::copy_of(&vec![b'x'; payload_len]), 0..payload_len);
            datagram.add_destination(Locator::from(sockets.user_unicast[0].local_addr().unwrap()));
            assert_eq!(sockets.transport.send(&mut datagram), SendOutcome::Done);
            assert!(datagram.remaining_destinations().is_empty());
            let mut buffer = vec![0; 65_536];
            let (len, _) = sockets.user_unicast[0].recv_from(&mut buffer).unwrap();
            let mut expected = Vec::new();
            datagram.copy_to(&mut expected);
            assert!(buffer[..len] == expected);
            total += len as u64;
        }
        let counters = sockets.transport.counters();
        assert_eq!((counters.sent, counters.sent_bytes), (4, total));
    }
}
