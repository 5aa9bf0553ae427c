//! What every transport promises, run against each of them that is here. Those of `dds-core` keep the same promises there.

#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

mod promises;

use self::promises::{Insistent, Setting, datagram};
use crate::transport::arrivals::FaultyArrivals;
use crate::transport::fault::{Fault, Faults};
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

/// A transport by loopback, two sockets that it can reach, and what stands behind these.
struct Loopback<T> {
    transport: T,
    receivers: [UdpSocket; 2],
    behind: Option<Behind>,
}

/// Faults of what is received, and what they have let through by each socket.
struct Behind {
    arrivals: FaultyArrivals,
    through: RefCell<[VecDeque<Vec<u8>>; 2]>,
}

/// The promises over each version of IP that this host has.
fn all_promises<T: Transport>(wrap: impl FnMut(Udp) -> T) {
    all_promises_behind(wrap, || None);
}

/// The same, with faults of what is received.
fn all_promises_behind<T: Transport>(mut wrap: impl FnMut(Udp) -> T, behind: impl Fn() -> Option<Behind>) {
    for families in [IpFamilies::V4, IpFamilies::V6] {
        match Loopback::new(families, &mut wrap) {
            Some(setting) => promises::all_promises(&Loopback { behind: behind(), ..setting }),
            None => skip(ip(families)),
        }
    }
}

/// What a machine lacks that has no address of them.
fn ip(families: IpFamilies) -> &'static str {
    if families == IpFamilies::V4 { "IPv4" } else { "IPv6" }
}

impl<T> Loopback<T> {
    /// `None` if this host has no address of that version of IP.
    fn new(families: IpFamilies, wrap: impl FnOnce(Udp) -> T) -> Option<Self> {
        let config = UdpConfig { domain_id: 219, host_only: true, multicast: false, families, ..UdpConfig::default() };
        let mut sockets = match UdpSockets::open(&config) {
            Err(UdpError::NoInterface) => return None,
            opened => opened.unwrap(),
        };
        assert_eq!((sockets.user_unicast.len(), sockets.metatraffic_unicast.len()), (1, 1));
        let receivers = [sockets.user_unicast.remove(0), sockets.metatraffic_unicast.remove(0)];
        Some(Self { transport: wrap(sockets.transport), receivers, behind: None })
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

impl<T: Transport> Setting for Loopback<T> {
    type Transport = T;

    fn transport(&self) -> &T {
        &self.transport
    }

    fn locator(&self, receiver: usize) -> Locator {
        Locator::from(self.receivers[receiver].local_addr().unwrap())
    }

    /// What has arrived next; it is there already, for loopback delivers during the send.
    fn next(&self, receiver: usize) -> Option<Vec<u8>> {
        let Some(Behind { arrivals, through }) = &self.behind else { return self.receive(receiver) };
        let mut through = through.borrow_mut();
        while through[receiver].is_empty() {
            let bytes = self.receive(receiver)?;
            for arrival in arrivals.receive(receiver as u16, &bytes) {
                through[usize::from(arrival.socket)].push_back(arrival.bytes);
            }
        }
        through[receiver].pop_front()
    }
}

/// A file that is gone after the test.
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
fn a_tap_keeps_the_contract() {
    let file = File::new("tap");
    all_promises(|udp| file.tap(udp));
}

#[test]
fn faults_that_are_none_keep_the_contract() {
    all_promises(|udp| Fault::new(udp, Faults::default(), || Instant::ZERO));
}

/// Also around a transport that has faults of its own.
#[test]
fn faults_of_what_is_received_that_are_none_keep_the_contract() {
    let behind = || {
        // Nobody can be refused by a socket that receives.
        let faults = Faults { blocked: 100, ..Faults::default() };
        let arrivals = FaultyArrivals::new(faults, || Instant::ZERO);
        Some(Behind { arrivals, through: RefCell::default() })
    };
    all_promises_behind(|udp| udp, behind);
    let file = File::new("received");
    let faults = Faults { seed: 8, blocked: 50, ..Faults::default() };
    all_promises_behind(|udp| Insistent(Fault::new(file.tap(udp), faults, || Instant::ZERO)), behind);
}

#[test]
fn a_blocked_send_that_is_repeated_keeps_the_contract() {
    let faults = Faults { seed: 5, blocked: 50, ..Faults::default() };
    all_promises(|udp| Insistent(Fault::new(udp, faults, || Instant::ZERO)));
}

#[test]
fn faults_around_a_tap_keep_the_contract() {
    let file = File::new("both");
    all_promises(|udp| Fault::new(file.tap(udp), Faults::default(), || Instant::ZERO));
}

#[test]
fn a_tap_records_what_was_served_once() {
    for (families, ip_header) in [(IpFamilies::V4, 20), (IpFamilies::V6, 40)] {
        let file = File::new(&format!("once-{families:?}"));
        let faults = Faults { seed: 6, blocked: 60, ..Faults::default() };
        let Some(setting) = Loopback::new(families, |udp| file.tap(Fault::new(udp, faults, || Instant::ZERO))) else {
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
