//! The floors: the lowest cost of a sample without DDS.

use crate::slot::{Announce, Arrival, slot};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// One datagram through the loopback to a thread that blocks in `recv` and notifies the main thread.
#[derive(Debug)]
pub struct UdpFloor {
    socket: UdpSocket,
    datagram: Vec<u8>,
    arrival: Arrival,
    receiver: Option<JoinHandle<()>>,
}

impl UdpFloor {
    /// Opens two sockets on the loopback; each [`pass`](Self::pass) sends `datagram_len` bytes (at least 1).
    ///
    /// # Errors
    ///
    /// Returns an error if a socket cannot be opened or the thread cannot be started.
    pub fn open(datagram_len: usize) -> io::Result<Self> {
        let receiving = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(receiving.local_addr()?)?;
        let (announce, arrival) = slot();
        let receiver =
            std::thread::Builder::new().name("floor-receive".into()).spawn(move || receive(&receiving, &announce))?;
        Ok(Self { socket, datagram: vec![7; datagram_len.max(1)], arrival, receiver: Some(receiver) })
    }

    /// Sends one datagram and waits until the receiving thread announces it.
    ///
    /// # Panics
    ///
    /// Panics if the datagram cannot be sent or does not arrive.
    pub fn pass(&self) {
        self.socket.send(&self.datagram).expect("the loopback takes one datagram");
        self.arrival.wait();
    }
}

impl Drop for UdpFloor {
    fn drop(&mut self) {
        // An empty datagram ends the receiving thread. Without it the thread ends with the process.
        if self.socket.send(&[]).is_ok() {
            if let Some(receiver) = self.receiver.take() {
                let _ = receiver.join();
            }
        }
    }
}

fn receive(socket: &UdpSocket, announce: &Announce) {
    let mut buffer = vec![0; 65_536];
    while socket.recv(&mut buffer).is_ok_and(|len| len > 0) {
        announce.announce();
    }
}

/// Two switches of threads: the main thread wakes another thread and waits for its answer.
#[derive(Debug)]
pub struct WakeFloor {
    request: Option<SyncSender<()>>,
    arrival: Arrival,
    thread: Option<JoinHandle<()>>,
}

impl WakeFloor {
    /// Starts the other thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread cannot be started.
    pub fn start() -> io::Result<Self> {
        let (request, requests) = sync_channel::<()>(1);
        let (announce, arrival) = slot();
        let thread = std::thread::Builder::new().name("floor-wake".into()).spawn(move || {
            while requests.recv().is_ok() {
                announce.announce();
            }
        })?;
        Ok(Self { request: Some(request), arrival, thread: Some(thread) })
    }

    /// One round trip between the threads: two switches.
    ///
    /// # Panics
    ///
    /// Panics if the other thread has ended.
    pub fn pass(&self) {
        let request = self.request.as_ref().expect("only `drop` takes the sender");
        request.send(()).expect("the other thread lives as long as self");
        self.arrival.wait();
    }
}

impl Drop for WakeFloor {
    fn drop(&mut self) {
        self.request = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
