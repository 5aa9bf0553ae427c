//! Receives datagrams, alone or in runs.
//!
//! In: a blocking socket. Out: datagrams in the caller's buffer, and the range of each. Owned: statistics of recent
//! lengths.
//!
//! Fragments of a large sample arrive as runs of datagrams of equal length. Linux can deliver a run by one call
//! (`UDP_GRO`). It does so for runs from a network interface, or from a sender that left the segmentation to the
//! system. Such a call costs a third more than a plain one, which is too much for small samples. So a receiver begins
//! with plain calls and switches when it sees fragments.

use socket2::SockRef;
use std::io::{self, Read};
use std::net::UdpSocket;
use std::ops::Range;
use std::sync::Arc;

/// Shorter datagrams belong to small samples, for which latency matters more.
const RUN_LEN_MIN: usize = 1024;

/// Fewer than four longer datagrams fit into a call of 64 KiB, which does not pay.
const RUN_LEN_MAX: usize = 16 << 10;

/// Datagrams of one length in a row that count as fragments.
const EQUALS: u32 = 16;

/// Receives from one socket.
#[derive(Debug)]
pub struct UdpReceiver {
    socket: Arc<UdpSocket>,
    mode: ReceiveMode,
}

#[derive(Debug, Clone, Copy)]
enum ReceiveMode {
    /// One datagram per call. The last `equals` datagrams had the length `len`.
    Single { len: usize, equals: u32 },
    /// Runs. The receiver cannot switch back, because runs might wait in the socket.
    #[cfg(target_os = "linux")]
    Runs,
    /// The system does not support runs.
    SingleForever,
}

/// Result of one call: one datagram, or a run of datagrams of equal length. The last datagram of a run may be
/// shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    len: usize,
    /// Length of each; `len` for a single datagram.
    each: usize,
}

impl Received {
    /// Returns the result for a single datagram.
    #[must_use]
    pub const fn one(len: usize) -> Self {
        Self { len, each: len }
    }

    /// Returns the range of each datagram in the buffer, in the order in which they were sent.
    pub fn datagrams(self) -> impl Iterator<Item = Range<usize>> {
        // An empty run is one empty datagram.
        let count = self.len.div_ceil(self.each.max(1)).max(1);
        (0..count).map(move |index| {
            let start = index * self.each;
            start..(start + self.each).min(self.len)
        })
    }
}

impl UdpReceiver {
    /// Creates a receiver for a blocking socket.
    #[must_use]
    pub const fn new(socket: Arc<UdpSocket>) -> Self {
        Self { socket, mode: ReceiveMode::Single { len: 0, equals: 0 } }
    }

    /// Returns the socket.
    #[must_use]
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Waits for a datagram and receives it, with the run that it belongs to. `buffer` should have 64 KiB; a longer
    /// datagram is truncated.
    ///
    /// # Errors
    /// Fails with the error of the system; the next call may succeed.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        #[cfg(target_os = "linux")]
        if matches!(self.mode, ReceiveMode::Runs) {
            return runs::receive(&self.socket, buffer);
        }
        // Do not use `recv_from`: std asserts the sender's address, which is missing after a shutdown ("assertion
        // failed: len >= size_of::<c::sockaddr_in>()").
        //
        // One datagram per call: `recvmmsg` receives 16 small datagrams no faster than 16 `recv` calls, and a single
        // one at 1.7 times the cost (`cargo bench -p benches --bench udp_calls`).
        let len = self.socket.recv(buffer)?;
        self.note(len);
        Ok(Received::one(len))
    }

    /// Receives one datagram into three buffers, one after the other; returns its length. Not usable while runs are
    /// received.
    ///
    /// # Errors
    /// As [`UdpReceiver::receive`].
    pub fn receive_parts(&mut self, parts: [&mut [u8]; 3]) -> io::Result<usize> {
        debug_assert!(!self.takes_runs(), "a run does not fit into the parts of one datagram");
        let mut parts = parts.map(io::IoSliceMut::new);
        let socket = SockRef::from(&*self.socket);
        (&*socket).read_vectored(&mut parts)
    }

    /// Whether it receives runs.
    #[must_use]
    pub fn takes_runs(&self) -> bool {
        !matches!(self.mode, ReceiveMode::Single { .. } | ReceiveMode::SingleForever)
    }

    /// Updates the statistics, and switches to runs after enough fragments.
    fn note(&mut self, received: usize) {
        let ReceiveMode::Single { len, equals } = &mut self.mode else { return };
        if *len != received {
            (*len, *equals) = (received, 1);
            return;
        }
        // Runs pay only for fragments. A datagram of a run costs a tenth of a single one. But a call that can receive
        // runs costs 1.4 times as much for a single one.
        *equals = equals.saturating_add(1);
        if *equals >= EQUALS && (RUN_LEN_MIN..=RUN_LEN_MAX).contains(len) {
            self.mode = self.enable_runs();
        }
    }

    #[cold]
    fn enable_runs(&self) -> ReceiveMode {
        #[cfg(target_os = "linux")]
        if runs::enable(&self.socket) {
            return ReceiveMode::Runs;
        }
        ReceiveMode::SingleForever
    }
}

/// Receives runs, on Linux since 5.0.
#[cfg(target_os = "linux")]
mod runs {
    use super::Received;
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
    use std::io::{self, IoSliceMut};
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    /// Longer than the control message with the length of a run's datagrams: a header of at most 16 bytes and an
    /// `i32`.
    const CONTROL_LEN: usize = 64;

    pub(super) fn enable(socket: &UdpSocket) -> bool {
        setsockopt(socket, sockopt::UdpGroSegment, &true).is_ok()
    }

    pub(super) fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Received> {
        let mut control = [0; CONTROL_LEN];
        let mut buffers = [IoSliceMut::new(buffer)];
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut buffers, Some(&mut control), MsgFlags::empty())?;
        let len = message.bytes;
        for control in message.cmsgs()? {
            let ControlMessageOwned::UdpGroSegments(each) = control else { continue };
            match usize::try_from(each) {
                Ok(each) if each > 0 => return Ok(Received { len, each: each.min(len) }),
                _ => {}
            }
        }
        // Without this control message it is a single datagram.
        Ok(Received::one(len))
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::Family;
    use super::*;
    use proptest::prelude::*;
    use socket2::SockAddr;
    use std::net::SocketAddr;

    proptest! {
        #[test]
        fn datagrams_of_a_run_are_adjacent(len in 0..70_000_usize, each in 1..70_000_usize) {
            let received = Received { len, each: each.min(len) };
            let mut end = 0;
            let mut lens = Vec::new();
            for datagram in received.datagrams() {
                prop_assert_eq!(datagram.start, end);
                end = datagram.end;
                lens.push(datagram.len());
            }
            prop_assert_eq!(end, len);
            let last = lens.pop().unwrap();
            prop_assert!(last <= each && lens.iter().all(|len| *len == each));
            prop_assert!(last > 0 || len == 0);
        }
    }

    fn receivers() -> impl Iterator<Item = (UdpReceiver, UdpSocket)> {
        [Family::V4, Family::V6].into_iter().filter_map(|family| {
            let open = || -> io::Result<UdpSocket> {
                let socket = family.socket()?;
                socket.bind(&SockAddr::from(SocketAddr::new(family.localhost(), 0)))?;
                Ok(socket.into())
            };
            let receiver = UdpReceiver::new(Arc::new(open().ok()?));
            let sender = open().unwrap();
            sender.connect(receiver.socket().local_addr().unwrap()).unwrap();
            Some((receiver, sender))
        })
    }

    fn exchange(receiver: &mut UdpReceiver, sender: &UdpSocket, lens: impl IntoIterator<Item = usize>) {
        let mut buffer = vec![0; 64 << 10];
        for (count, len) in lens.into_iter().enumerate() {
            let sent = vec![count as u8; len];
            sender.send(&sent).unwrap();
            let received = receiver.receive(&mut buffer).unwrap();
            assert_eq!(received, Received::one(len));
            assert!(buffer[..len] == sent);
        }
    }

    fn is_single(receiver: &UdpReceiver) -> bool {
        matches!(receiver.mode, ReceiveMode::Single { .. })
    }

    #[test]
    fn small_and_single_large_samples_use_plain_calls() {
        for (mut receiver, sender) in receivers() {
            exchange(&mut receiver, &sender, [64; 40]);
            exchange(&mut receiver, &sender, [60_000; 40]);
            exchange(&mut receiver, &sender, [1400, 1400, 1400, 700].repeat(10));
            exchange(&mut receiver, &sender, [1400; EQUALS as usize - 1]);
            assert!(is_single(&receiver));
            exchange(&mut receiver, &sender, [1400]);
            assert!(!is_single(&receiver));
        }
    }

    /// In any mode, datagrams that arrive alone are received alone and do not wait.
    #[test]
    fn single_datagrams_stay_single_among_runs() {
        for (mut receiver, sender) in receivers() {
            exchange(&mut receiver, &sender, [1400; EQUALS as usize]);
            exchange(&mut receiver, &sender, [1400, 0, 1, 64, 60_000, 1400]);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn run_is_received_by_one_call() {
        use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
        use std::io::IoSlice;
        use std::os::fd::AsRawFd;
        for (mut receiver, sender) in receivers() {
            exchange(&mut receiver, &sender, [1400; EQUALS as usize]);
            let numbers: Vec<u8> =
                (0..45_u8).flat_map(|count| vec![count; if count < 44 { 1400 } else { 99 }]).collect();
            let run = [ControlMessage::UdpGsoSegments(&1400)];
            sendmsg::<()>(sender.as_raw_fd(), &[IoSlice::new(&numbers)], &run, MsgFlags::empty(), None).unwrap();
            sender.send(b"next").unwrap();
            let mut buffer = vec![0; 64 << 10];
            let mut taken = Vec::new();
            let mut calls = 0;
            while taken.len() < 46 {
                let received = receiver.receive(&mut buffer).unwrap();
                taken.extend(received.datagrams().map(|datagram| buffer[datagram].to_vec()));
                calls += 1;
            }
            let next = taken.pop().unwrap();
            assert_eq!(next, b"next");
            assert!(taken.iter().zip(0..45).all(|(datagram, count)| datagram.iter().all(|byte| *byte == count)));
            assert!(taken.concat() == numbers);
            assert_eq!(calls, if receiver.takes_runs() { 2 } else { 46 });
        }
    }

    #[test]
    fn receiver_of_runs_is_interrupted() {
        for (mut receiver, sender) in receivers() {
            exchange(&mut receiver, &sender, [1400; EQUALS as usize]);
            let socket = Arc::clone(&receiver.socket);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(move || receiver.receive(&mut [0; 16]));
                super::super::interrupt(&socket);
                assert!(matches!(waiting.join().unwrap(), Ok(Received { len: 0, .. }) | Err(_)));
            });
        }
    }
}
