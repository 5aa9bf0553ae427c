//! Receives user data.
//!
//! In: a blocking socket. Out: datagrams in a buffer, and where each lies. Owned: nothing but what is known of the traffic.
//!
//! Fragments of a large sample come as runs of datagrams of equal length. Linux hands over such a run by one call
//! (`UDP_GRO`) if it has come as one from a network interface or from a sender that left the segmentation to the system. A
//! call that can take runs costs a third more than a plain one, which is too much for those who receive small samples only:
//! a receiver begins with plain ones, and goes over when it sees fragments.

use socket2::SockRef;
use std::io::{self, Read};
use std::net::UdpSocket;
use std::ops::Range;
use std::sync::Arc;

/// Datagrams shorter than this come from small samples, to which latency matters more.
const RUN_LEN_MIN: usize = 1024;

/// Of longer ones fewer than four fit into one call, for runs end at 64 KiB: that does not pay for the dearer call.
const RUN_LEN_MAX: usize = 16 << 10;

/// How many datagrams of one length in a row are taken for fragments.
const EQUALS: u32 = 16;

/// Waits for what comes in at one socket.
#[derive(Debug)]
pub struct UdpReceiver {
    socket: Arc<UdpSocket>,
    mode: Mode,
}

#[derive(Debug, Clone, Copy)]
enum Mode {
    /// One datagram a call. The latest ones had this length, and they were so many.
    Single { len: usize, equals: u32 },
    /// Runs. There is no way back: runs might be waiting in the socket.
    #[cfg(target_os = "linux")]
    Runs,
    /// The system knows nothing of runs.
    SingleForever,
}

/// What one call has received: one datagram, or a run of datagrams of equal length, of which the last may be shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    len: usize,
    /// The length of each; `len` if there is but one.
    each: usize,
}

impl Received {
    /// One datagram.
    #[must_use]
    pub const fn one(len: usize) -> Self {
        Self { len, each: len }
    }

    /// Where in the buffer each datagram lies, in the order in which they were sent.
    pub fn datagrams(self) -> impl Iterator<Item = Range<usize>> {
        // An empty datagram is one as well.
        let count = self.len.div_ceil(self.each.max(1)).max(1);
        (0..count).map(move |index| {
            let start = index * self.each;
            start..(start + self.each).min(self.len)
        })
    }
}

impl UdpReceiver {
    /// Of a socket that blocks.
    #[must_use]
    pub const fn new(socket: Arc<UdpSocket>) -> Self {
        Self { socket, mode: Mode::Single { len: 0, equals: 0 } }
    }

    /// The socket that this receives from.
    #[must_use]
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Waits until there is a datagram, and takes it, with those that have come in one run with it. `buffer` should have room
    /// for 64 KiB: what does not fit is lost.
    ///
    /// # Errors
    /// What the system says. It may be over at the next call.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        #[cfg(target_os = "linux")]
        if matches!(self.mode, Mode::Runs) {
            return runs::receive(&self.socket, buffer);
        }
        // Not `recv_from`: std asserts the sender's address, which is missing when the socket has been shut down ("assertion
        // failed: len >= size_of::<c::sockaddr_in>()").
        let len = self.socket.recv(buffer)?;
        self.note(len);
        Ok(Received::one(len))
    }

    /// As [`UdpReceiver::receive`] of one datagram, whose parts go into three buffers one after the other. Not while runs are
    /// received. Returns its length.
    ///
    /// # Errors
    /// As there.
    pub fn receive_parts(&mut self, parts: [&mut [u8]; 3]) -> io::Result<usize> {
        let mut parts = parts.map(io::IoSliceMut::new);
        let socket = SockRef::from(&*self.socket);
        (&*socket).read_vectored(&mut parts)
    }

    /// Whether it has gone over to runs.
    #[must_use]
    pub fn takes_runs(&self) -> bool {
        !matches!(self.mode, Mode::Single { .. } | Mode::SingleForever)
    }

    /// Looks out for fragments.
    fn note(&mut self, received: usize) {
        let Mode::Single { len, equals } = &mut self.mode else { return };
        if *len != received {
            (*len, *equals) = (received, 1);
            return;
        }
        *equals = equals.saturating_add(1);
        if *equals >= EQUALS && (RUN_LEN_MIN..=RUN_LEN_MAX).contains(len) {
            self.mode = self.ask_for_runs();
        }
    }

    #[cold]
    fn ask_for_runs(&self) -> Mode {
        #[cfg(target_os = "linux")]
        if runs::ask_for(&self.socket) {
            return Mode::Runs;
        }
        Mode::SingleForever
    }
}

/// Linux since 5.0.
#[cfg(target_os = "linux")]
mod runs {
    use super::Received;
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
    use std::io::{self, IoSliceMut};
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    /// More room than what says how long the datagrams of a run are needs: a header of at most 16 bytes and an `i32`.
    const CONTROL_LEN: usize = 64;

    pub(super) fn ask_for(socket: &UdpSocket) -> bool {
        setsockopt(socket, sockopt::UdpGroSegment, &true).is_ok()
    }

    pub(super) fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Received> {
        let mut control = [0; CONTROL_LEN];
        let mut buffers = [IoSliceMut::new(buffer)];
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut buffers, Some(&mut control), MsgFlags::empty())?;
        let each = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::UdpGroSegments(each) => usize::try_from(each).ok().filter(|each| *each > 0),
            _ => None,
        });
        let len = message.bytes;
        Ok(Received { len, each: each.map_or(len, |each| each.min(len)) })
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
        fn the_datagrams_of_a_run_lie_behind_each_other(len in 0..70_000_usize, each in 1..70_000_usize) {
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
        matches!(receiver.mode, Mode::Single { .. })
    }

    #[test]
    fn small_samples_and_single_large_ones_are_received_by_plain_calls() {
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

    /// The promise that callers rely on, whatever the mode: datagrams that came alone are themselves, and do not wait.
    #[test]
    fn datagrams_that_come_alone_are_taken_alone_among_runs() {
        for (mut receiver, sender) in receivers() {
            exchange(&mut receiver, &sender, [1400; EQUALS as usize]);
            exchange(&mut receiver, &sender, [1400, 0, 1, 64, 60_000, 1400]);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_run_is_received_by_one_call_each_datagram_as_itself() {
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
    fn a_receiver_that_waits_for_runs_is_interrupted() {
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
