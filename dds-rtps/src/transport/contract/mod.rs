//! Runs the contract of transports against each transport of this crate. `dds-core` does the same for its own
//! transports.

#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

mod promises;

use self::promises::{Insistent, TransportUnderTest, datagram};
use crate::transport::faults::{Faults, ReceiveFaults, SendFaults};
use crate::transport::skip::skip;
use crate::transport::tap::{Capture, Tap};
use crate::transport::udp::{UdpConfig, UdpError, UdpSockets, UdpTransport};
use crate::transport::{SendOutcome, Transport};
use crate::types::{Instant, IpFamilies, Locator, Time};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::Arc;

type Udp = Arc<UdpTransport>;

/// A transport over loopback, two sockets that it can reach, and optional faults behind these sockets.
struct Loopback<T> {
    transport: T,
    receivers: [UdpSocket; 2],
    reception: Option<FaultyReception>,
}

/// Faults of reception, and the datagrams that they have let through, by socket.
struct FaultyReception {
    faults: RefCell<ReceiveFaults<usize>>,
    through: RefCell<[VecDeque<Vec<u8>>; 2]>,
}

/// Checks all promises over each version of IP that this host has.
fn all_promises<T: Transport>(wrap: impl FnMut(Udp) -> T) {
    all_promises_with_reception(wrap, || None);
}

/// Checks the same with faults of reception.
fn all_promises_with_reception<T: Transport>(
    mut wrap: impl FnMut(Udp) -> T,
    reception: impl Fn() -> Option<FaultyReception>,
) {
    for families in [IpFamilies::V4, IpFamilies::V6] {
        match Loopback::new(families, &mut wrap) {
            Some(setting) => promises::all_promises(&Loopback { reception: reception(), ..setting }),
            None => skip(ip(families)),
        }
    }
}

/// Name of the version of IP that a machine lacks.
fn ip(families: IpFamilies) -> &'static str {
    if families == IpFamilies::V4 { "IPv4" } else { "IPv6" }
}

impl<T> Loopback<T> {
    /// Returns `None` if this host has no address of that version of IP.
    fn new(families: IpFamilies, wrap: impl FnOnce(Udp) -> T) -> Option<Self> {
        let config = UdpConfig { domain_id: 219, host_only: true, multicast: false, families, ..UdpConfig::default() };
        let mut sockets = match UdpSockets::open(&config) {
            Err(UdpError::NoInterface) => return None,
            opened => opened.unwrap(),
        };
        assert_eq!((sockets.user_unicast.len(), sockets.metatraffic_unicast.len()), (1, 1));
        let receivers = [sockets.user_unicast.remove(0), sockets.metatraffic_unicast.remove(0)];
        Some(Self { transport: wrap(sockets.transport), receivers, reception: None })
    }

    fn receive(&self, receiver: usize) -> Option<Vec<u8>> {
        let receiver = &self.receivers[receiver];
        receiver.set_nonblocking(true).unwrap();
        let mut buffer = vec![0; 65_536];
        let len = receiver.recv(&mut buffer).ok()?;
        buffer.truncate(len);
        Some(buffer)
    }
}

impl<T: Transport> TransportUnderTest for Loopback<T> {
    type Transport = T;

    fn transport(&self) -> &T {
        &self.transport
    }

    fn locator(&self, receiver: usize) -> Locator {
        Locator::from(self.receivers[receiver].local_addr().unwrap())
    }

    /// Returns the next datagram that has arrived. Loopback delivers during the send, so it never waits.
    fn next(&self, receiver: usize) -> Option<Vec<u8>> {
        let Some(FaultyReception { faults, through }) = &self.reception else { return self.receive(receiver) };
        let (mut faults, mut through) = (faults.borrow_mut(), through.borrow_mut());
        while through[receiver].is_empty() {
            let bytes = self.receive(receiver)?;
            faults.receive(Instant::ZERO, receiver, &bytes);
            while let Some(arrival) = faults.next_arrival(Instant::ZERO) {
                through[arrival.socket].push_back(arrival.bytes);
            }
        }
        through[receiver].pop_front()
    }
}

/// A file that is removed after the test.
struct File(PathBuf);

impl File {
    fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("dds-contract-{}-{test}.pcap", std::process::id())))
    }

    fn tap<T>(&self, transport: T) -> Tap<T> {
        let capture = Capture::open(&self.0, Time::now).unwrap();
        Tap::new(transport, Arc::new(capture), ["127.0.0.1:7411", "[::1]:7411"].map(|source| source.parse().unwrap()))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn udp_keeps_the_contract() {
    all_promises(|udp| udp);
}

#[test]
fn tap_keeps_the_contract() {
    let file = File::new("tap");
    all_promises(|udp| file.tap(udp));
}

#[test]
fn absent_faults_keep_the_contract() {
    all_promises(|udp| SendFaults::new(udp, Faults::default(), || Instant::ZERO));
}

/// Also with a transport that has faults of its own.
#[test]
fn absent_receive_faults_keep_the_contract() {
    let reception = || {
        // A receiving socket cannot refuse its sender.
        let faults = Faults { blocked: 1.0, ..Faults::default() };
        Some(FaultyReception { faults: RefCell::new(ReceiveFaults::new(&faults)), through: RefCell::default() })
    };
    all_promises_with_reception(|udp| udp, reception);
    let file = File::new("received");
    let faults = Faults { seed: 8, blocked: 0.5, ..Faults::default() };
    all_promises_with_reception(|udp| Insistent(SendFaults::new(file.tap(udp), faults, || Instant::ZERO)), reception);
}

#[test]
fn repeated_blocked_send_keeps_the_contract() {
    let faults = Faults { seed: 5, blocked: 0.5, ..Faults::default() };
    all_promises(|udp| Insistent(SendFaults::new(udp, faults, || Instant::ZERO)));
}

#[test]
fn faults_around_a_tap_keep_the_contract() {
    let file = File::new("both");
    all_promises(|udp| SendFaults::new(file.tap(udp), Faults::default(), || Instant::ZERO));
}

#[test]
fn tap_records_served_destination_once() {
    for (families, ip_header) in [(IpFamilies::V4, 20), (IpFamilies::V6, 40)] {
        let file = File::new(&format!("once-{families:?}"));
        let faults = Faults { seed: 6, blocked: 0.6, ..Faults::default() };
        let Some(setting) = Loopback::new(families, |udp| file.tap(SendFaults::new(udp, faults, || Instant::ZERO)))
        else {
            skip(ip(families));
            continue;
        };
        let mut both = datagram(b"twelve bytes", [setting.locator(0), setting.locator(1)]);
        while setting.transport.send(&mut both) == SendOutcome::Blocked {}
        let recorded = std::fs::metadata(&file.0).unwrap().len();
        assert_eq!(recorded, 24 + 2 * (16 + ip_header + 8 + 12));
        assert_eq!((setting.next(0).is_some(), setting.next(1).is_some()), (true, true));
    }
}
