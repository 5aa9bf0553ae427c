//! The same round trip by raw UDP sockets: the lowest cost that the operating system allows.
//!
//! Each side has one thread with blocking `send` and `recv` on connected sockets. A payload takes as few datagrams as
//! possible and is received in place. A payload larger than a datagram has parts of one length, like fragments.

use crate::perf::clock::now;
use crate::perf::meter::Meter;
use crate::perf::{Failure, Result};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

/// Largest part of a payload: the fragment size of the library on one host.
const PART_MAX: usize = 65_000;
/// Requested receive buffer, as in the library: it holds all parts of one payload.
const RECEIVE_BUFFER: usize = 4 << 20;
/// Length of the number of the round trip before each part. It identifies parts of abandoned round trips.
const ROUND: usize = 8;

/// A payload and its parts.
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

    /// Receives all parts of the `wanted` round, or of the newest one. Returns `None` after an empty datagram.
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
                // A part of an abandoned round.
                Some(_) if wanted.is_some() => {}
                // A new round starts, even if the last one is incomplete.
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

/// A thread that sends each payload back.
#[derive(Debug)]
pub struct FloorPong {
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl FloorPong {
    /// Starts the thread for payloads of `size` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket or the thread cannot be created.
    pub fn open(size: usize) -> Result<Self> {
        let socket = open((Ipv4Addr::UNSPECIFIED, 0))?;
        let address = socket.local_addr()?;
        let thread = std::thread::Builder::new().name("perf-floor".into()).spawn(move || {
            // It ends if its socket fails. The other side then receives no answers.
            let _ = answer(&socket, Payload::new(size));
        })?;
        Ok(Self { address, thread: Some(thread) })
    }

    /// Port of the socket.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

fn answer(socket: &UdpSocket, mut payload: Payload) -> io::Result<()> {
    // The sender of the first datagram becomes the only peer.
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
        // A connected socket only receives from its peer. If the peer is gone, the thread ends with the process.
        let ended = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|socket| socket.send_to(&[], (Ipv4Addr::LOCALHOST, self.port())));
        if let Some(thread) = self.thread.take().filter(|thread| ended.is_ok() && thread.is_finished()) {
            let _ = thread.join();
        }
    }
}

/// The side that measures round trips.
#[derive(Debug)]
pub struct FloorPing {
    socket: UdpSocket,
    payload: Payload,
    round: u64,
    lost: u64,
}

impl FloorPing {
    /// Connects to a [`FloorPong`] with the same size.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket cannot be created.
    pub fn connect(host: &str, port: u16, size: usize, timeout: Duration) -> Result<Self> {
        let socket = open((Ipv4Addr::UNSPECIFIED, 0))?;
        let connected = socket.connect((host, port));
        connected.map_err(|error| Failure::new(format!("--floor-host {host}: {error}")))?;
        socket.set_read_timeout(Some(timeout))?;
        Ok(Self { socket, payload: Payload::new(size), round: 0, lost: 0 })
    }

    /// Measures round trips until `end`, in nanoseconds of the monotonic clock.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket fails. A timeout counts as a lost round trip.
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

    /// Ends the thread of the other side. Returns the number of lost round trips.
    pub fn end(self) -> u64 {
        // Without this datagram the thread ends with its process.
        let _ = self.socket.send(&[]);
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::meter::Snapshot;

    #[test]
    fn payload_of_any_size_returns() {
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
    fn parts_have_one_length_that_fits_a_datagram() {
        for size in [24, PART_MAX, PART_MAX + 1, 1 << 20] {
            let payload = Payload::new(size);
            let parts: Vec<usize> = payload.bytes.chunks(payload.part).map(<[u8]>::len).collect();
            assert_eq!(parts.iter().sum::<usize>(), size);
            assert!(parts.iter().all(|part| (ROUND..=PART_MAX).contains(part)), "{size}: {parts:?}");
        }
    }
}
