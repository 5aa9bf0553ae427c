//! The same round trip by raw UDP sockets: what the operating system takes at the least.
//!
//! Blocking `send` and `recv` of connected sockets, the payload in as few datagrams as carry it, received in place; a thread on each side.
//! What is larger than a datagram goes in parts of one length, as the fragments of a sample do.

use crate::perf::clock::now;
use crate::perf::meter::Meter;
use crate::perf::{Failure, Result};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

/// The payload of a datagram at most, as the library has it for fragments on one host.
const PART_MAX: usize = 65_000;
/// Asked of the system, as the library does: a burst of the parts of one payload.
const RECEIVE_BUFFER: usize = 4 << 20;
/// In front of every part: the number of the round trip. Parts of one that was given up are passed over by it.
const ROUND: usize = 8;

/// A payload in its parts.
#[derive(Debug)]
struct Payload {
    bytes: Vec<u8>,
    part: usize,
}

impl Payload {
    fn new(size: usize) -> Self {
        let parts = size.div_ceil(PART_MAX).max(1);
        Self { bytes: vec![0x5a; size.max(ROUND)], part: size.div_ceil(parts).max(ROUND) }
    }

    fn send(&mut self, socket: &UdpSocket, round: u64) -> io::Result<()> {
        for part in self.bytes.chunks_mut(self.part) {
            if let Some((head, _)) = part.split_first_chunk_mut::<ROUND>() {
                *head = round.to_ne_bytes();
            }
            socket.send(part)?;
        }
        Ok(())
    }

    /// Receives all parts of a round: of that one, or of the newest that comes. An empty datagram ends it: none.
    fn receive(&mut self, socket: &UdpSocket, wanted: Option<u64>) -> io::Result<Option<u64>> {
        let (mut round, mut at) = (wanted, 0);
        while at < self.bytes.len() {
            let place = self.bytes.get_mut(at..).unwrap_or_default();
            let len = socket.recv(place)?;
            let Some(head) = place.first_chunk::<ROUND>() else { return Ok(None) };
            let head = u64::from_ne_bytes(*head);
            match round {
                _ if len == 0 => return Ok(None),
                Some(round) if round == head => at += len,
                // Left over from a round that was given up.
                Some(_) if wanted.is_some() => {}
                // Another one begins, whether or not the last one was whole.
                _ => (round, at) = (Some(head), len),
            }
        }
        Ok(round)
    }
}

fn open(address: impl ToSocketAddrs) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER)?;
    Ok(socket)
}

/// Sends back what comes, from a thread of its own.
#[derive(Debug)]
pub struct FloorPong {
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl FloorPong {
    /// For payloads of `size` bytes.
    ///
    /// # Errors
    ///
    /// If the socket or the thread cannot be made.
    pub fn open(size: usize) -> Result<Self> {
        let socket = open((Ipv4Addr::UNSPECIFIED, 0))?;
        let address = socket.local_addr()?;
        let thread = std::thread::Builder::new().name("perf-floor".into()).spawn(move || {
            // It ends with its socket; whoever asks sees that nothing comes back.
            let _ = answer(&socket, Payload::new(size));
        })?;
        Ok(Self { address, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

fn answer(socket: &UdpSocket, mut payload: Payload) -> io::Result<()> {
    // The first datagram tells who asks; from then on it is nobody else.
    let mut first = [0; ROUND];
    let (len, peer) = socket.peek_from(&mut first)?;
    if len == 0 {
        return Ok(());
    }
    socket.connect(peer)?;
    while let Some(round) = payload.receive(socket, None)? {
        payload.send(socket, round)?;
    }
    Ok(())
}

impl Drop for FloorPong {
    fn drop(&mut self) {
        // A connected socket hears nobody but its peer, which may be gone: then the thread is left to the end of the process.
        let ended = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|socket| socket.send_to(&[], (Ipv4Addr::LOCALHOST, self.port())));
        if let Some(thread) = self.thread.take().filter(|thread| ended.is_ok() && thread.is_finished()) {
            let _ = thread.join();
        }
    }
}

/// The side that measures.
#[derive(Debug)]
pub struct FloorPing {
    socket: UdpSocket,
    payload: Payload,
    round: u64,
    lost: u64,
}

impl FloorPing {
    /// To a [`FloorPong`] with the same size.
    ///
    /// # Errors
    ///
    /// If the socket cannot be made.
    pub fn connect(host: &str, port: u16, size: usize, timeout: Duration) -> Result<Self> {
        let socket = open((Ipv4Addr::UNSPECIFIED, 0))?;
        let connected = socket.connect((host, port));
        connected.map_err(|error| Failure::new(format!("--floor-host {host}: {error}")))?;
        socket.set_read_timeout(Some(timeout))?;
        Ok(Self { socket, payload: Payload::new(size), round: 0, lost: 0 })
    }

    /// Round trips until `end`, in nanoseconds of the monotonic clock.
    ///
    /// # Errors
    ///
    /// If the socket fails for another reason than that nothing comes.
    pub fn measure(&mut self, end: u64, meter: &Meter) -> Result<()> {
        loop {
            let begun = now();
            if begun >= end {
                return Ok(());
            }
            self.round += 1;
            self.payload.send(&self.socket, self.round)?;
            match self.payload.receive(&self.socket, Some(self.round)) {
                Ok(_) => {
                    let now = now();
                    meter.record(now, (now - begun) as i64, self.payload.bytes.len());
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    self.lost += 1;
                }
                Err(error) => return Err(Failure::new(format!("the floor's socket: {error}"))),
            }
        }
    }

    /// Tells the other side that this was all, so that its thread ends.
    pub fn end(self) -> u64 {
        // Without it the thread ends with its process.
        let _ = self.socket.send(&[]);
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::meter::Snapshot;

    #[test]
    fn payloads_of_any_size_come_back() {
        for size in [24, 1000, PART_MAX, PART_MAX + 1, 300_000] {
            let pong = FloorPong::open(size).unwrap();
            let mut ping = FloorPing::connect("127.0.0.1", pong.port(), size, Duration::from_secs(5)).unwrap();
            let meter = Meter::default();
            while meter.samples() < 3 {
                ping.measure(now() + 1_000_000, &meter).unwrap();
            }
            assert_eq!(ping.end(), 0, "{size}");
            assert!(Snapshot::of([&meter]).bytes >= 3 * size as u64);
        }
    }

    #[test]
    fn parts_have_one_length_and_fit_a_datagram() {
        for size in [24, PART_MAX, PART_MAX + 1, 1 << 20] {
            let payload = Payload::new(size);
            let parts: Vec<usize> = payload.bytes.chunks(payload.part).map(<[u8]>::len).collect();
            assert_eq!(parts.iter().sum::<usize>(), size);
            assert!(parts.iter().all(|part| (ROUND..=PART_MAX).contains(part)), "{size}: {parts:?}");
        }
    }
}
