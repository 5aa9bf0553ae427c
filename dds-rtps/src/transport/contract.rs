//! What every transport promises, run against each of them.

#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use crate::history::Payload;
use crate::output::Datagram;
use crate::transport::arrivals::FaultyArrivals;
use crate::transport::fault::{Fault, Faults};
use crate::transport::tap::{Capture, Tap};
use crate::transport::udp::{UdpConfig, UdpError, UdpSockets, UdpTransport};
use crate::transport::{SendOutcome, Transport};
use crate::types::{Instant, IpFamilies, Locator, LocatorKind, Time};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{Ipv6Addr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;

type Udp = Arc<UdpTransport>;

/// A transport, two sockets that it can reach, and what stands behind these.
struct Setting<T> {
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
        match Setting::new(families, &mut wrap) {
            Some(setting) => Setting { behind: behind(), ..setting }.all_promises(),
            None => println!("{families:?} skipped: this host has no such address"),
        }
    }
}

impl<T: Transport> Setting<T> {
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

    fn receive(&self, receiver: usize) -> Option<Vec<u8>> {
        let receiver = &self.receivers[receiver];
        receiver.set_nonblocking(true).unwrap();
        let mut buffer = vec![0; 65_536];
        let len = receiver.recv(&mut buffer).ok()?;
        buffer.truncate(len);
        Some(buffer)
    }

    fn all_promises(&self) {
        self.gathers_segments_in_order();
        self.keeps_the_order_of_sends();
        self.sends_several_as_one_after_the_other();
        self.serves_others_when_several_cannot_reach_one();
        self.serves_every_destination();
        self.passes_over_destinations_out_of_reach();
        self.counts_what_is_too_large();
        self.goes_on_at_the_destination_that_was_refused();
        self.sends_nothing_without_a_destination();
    }

    fn gathers_segments_in_order(&self) {
        for payload_len in [1, 1_000, 2_000, 60_000] {
            let mut datagram = datagram(b"head", [self.locator(0)]);
            datagram.gather(Payload::copy_of(&vec![b'x'; payload_len]), 0..payload_len);
            datagram.buffer().extend_from_slice(b"middle");
            datagram.gather(Payload::copy_of(b"?end?"), 1..4);
            let before = self.transport.counters();
            assert_eq!(self.transport.send(&mut datagram), SendOutcome::Done);
            let expected = [&b"head"[..], &vec![b'x'; payload_len], b"middle", b"end"].concat();
            assert!(self.next(0) == Some(expected), "{payload_len} bytes of payload");
            let after = self.transport.counters();
            assert_eq!(after.sent_bytes - before.sent_bytes, datagram.len() as u64);
        }
    }

    fn keeps_the_order_of_sends(&self) {
        for count in 0..50_u8 {
            assert_eq!(self.transport.send(&mut datagram(&[count], [self.locator(0)])), SendOutcome::Done);
        }
        let arrived: Vec<u8> = std::iter::from_fn(|| self.next(0)).flatten().collect();
        assert_eq!(arrived, (0..50).collect::<Vec<_>>());
    }

    /// Whatever a transport makes of those that are alike.
    fn sends_several_as_one_after_the_other(&self) {
        let lens = [1400, 1400, 1400, 700, 700, 0, 0, 1400, 60_000, 60_000, 1400, 1400, 1401, 3, 1400, 1400];
        let bytes = |index: usize| vec![index as u8; lens[index]];
        let of = |index: usize| match index {
            10.. => datagram(&bytes(index), [self.locator(1), self.locator(0)]),
            _ => datagram(&bytes(index), [self.locator(0)]),
        };
        let mut datagrams: Vec<Datagram> = (0..lens.len()).map(of).collect();
        // One that had been blocked at its second destination.
        datagrams[14].destination_done();
        let before = self.transport.counters();
        assert_eq!(self.transport.send_all(&mut datagrams), lens.len());
        assert!(datagrams.iter().all(|datagram| datagram.remaining_destinations().is_empty()));
        let after = self.transport.counters();
        assert_eq!((after.sent - before.sent, after.failed - before.failed), (16 + 5, 0));
        let to_both: usize = lens[10..].iter().sum::<usize>() - lens[14];
        assert_eq!(after.sent_bytes - before.sent_bytes, (lens.iter().sum::<usize>() + to_both) as u64);
        let arrived = |receiver: usize| std::iter::from_fn(move || self.next(receiver)).collect::<Vec<_>>();
        assert!(arrived(0) == (0..16).map(bytes).collect::<Vec<_>>());
        assert!(arrived(1) == [10, 11, 12, 13, 15].map(bytes));
        assert_eq!(self.transport.send_all(&mut []), 0);
    }

    fn serves_others_when_several_cannot_reach_one(&self) {
        // The sockets are bound to loopback.
        let elsewhere = match self.locator(0).kind {
            LocatorKind::UdpV4 => Locator::udp_v4([192, 0, 2, 1].into(), 7411),
            _ => Locator::udp_v6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 7411),
        };
        let several = || [1, 2, 3].map(|index| datagram(&[index; 1400], [self.locator(0), elsewhere, self.locator(1)]));
        let before = self.transport.counters();
        assert_eq!(self.transport.send_all(&mut several()), 3);
        let after = self.transport.counters();
        assert_eq!((after.sent - before.sent, after.failed - before.failed), (6, 3));
        for receiver in [0, 1] {
            let arrived: Vec<_> = std::iter::from_fn(|| self.next(receiver)).collect();
            assert!(arrived == [1, 2, 3].map(|index| vec![index; 1400]), "at {receiver}");
        }
    }

    fn serves_every_destination(&self) {
        let mut datagram = datagram(b"both", [self.locator(0), self.locator(1)]);
        let before = self.transport.counters();
        assert_eq!(self.transport.send(&mut datagram), SendOutcome::Done);
        assert!(datagram.remaining_destinations().is_empty());
        assert_eq!((self.next(0), self.next(1)), (Some(b"both".to_vec()), Some(b"both".to_vec())));
        assert_eq!(self.transport.counters().sent - before.sent, 2);
    }

    fn passes_over_destinations_out_of_reach(&self) {
        // Refused by the system (the sockets are bound to loopback), multicast without multicast, the other version of IP,
        // unknown kind.
        let elsewhere_v4 = Locator::udp_v4([192, 0, 2, 1].into(), 7411);
        let elsewhere_v6 = Locator::udp_v6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 7411);
        let unknown = Locator { kind: LocatorKind::Other(16), port: 1, address: [0; 16] };
        let out_of_reach = match self.locator(0).kind {
            LocatorKind::UdpV4 => [elsewhere_v4, Locator::udp_v4([239, 255, 0, 1].into(), 7400), elsewhere_v6, unknown],
            _ => {
                let group = Locator::udp_v6(crate::types::PortMapping::DISCOVERY_GROUPS_V6[0], 7400);
                [elsewhere_v6, group, elsewhere_v4, unknown]
            }
        };
        let mut datagram = datagram(b"one", out_of_reach);
        datagram.add_destination(self.locator(1));
        let before = self.transport.counters();
        assert_eq!(self.transport.send(&mut datagram), SendOutcome::Done);
        assert!(datagram.remaining_destinations().is_empty());
        assert_eq!(self.next(1), Some(b"one".to_vec()));
        let after = self.transport.counters();
        assert_eq!((after.failed - before.failed, after.unsupported - before.unsupported), (2, 2));
    }

    fn counts_what_is_too_large(&self) {
        let mut datagram = datagram(&[0; 70_000], [self.locator(0)]);
        let before = self.transport.counters();
        assert_eq!(self.transport.send(&mut datagram), SendOutcome::Done);
        assert!(datagram.remaining_destinations().is_empty());
        let after = self.transport.counters();
        assert_eq!((after.failed - before.failed, after.too_long - before.too_long), (1, 1));
        assert_eq!(self.next(0), None);
    }

    /// A datagram of which a part has been served already, as after [`SendOutcome::Blocked`].
    fn goes_on_at_the_destination_that_was_refused(&self) {
        let mut datagram = datagram(b"rest", [self.locator(0), self.locator(1)]);
        datagram.destination_done();
        assert_eq!(self.transport.send(&mut datagram), SendOutcome::Done);
        assert_eq!((self.next(0), self.next(1)), (None, Some(b"rest".to_vec())));
    }

    fn sends_nothing_without_a_destination(&self) {
        let before = self.transport.counters();
        assert_eq!(self.transport.send(&mut datagram(b"nowhere", [])), SendOutcome::Done);
        assert_eq!(self.transport.counters(), before);
    }
}

fn datagram<const N: usize>(bytes: &[u8], destinations: [Locator; N]) -> Datagram {
    let mut datagram = Datagram::new();
    datagram.buffer().extend_from_slice(bytes);
    destinations.into_iter().for_each(|destination| datagram.add_destination(destination));
    datagram
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

/// Refuses half of all tries; the sender tries again as the contract asks.
#[derive(Debug)]
struct Insistent<T>(Fault<T>);

impl<T: Transport> Transport for Insistent<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        while self.0.send(datagram) == SendOutcome::Blocked {
            assert!(!datagram.remaining_destinations().is_empty());
        }
        SendOutcome::Done
    }

    fn counters(&self) -> crate::transport::TransportCounters {
        crate::transport::TransportCounters { blocked: 0, ..self.0.counters() }
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
        let Some(setting) = Setting::new(families, |udp| file.tap(Fault::new(udp, faults, || Instant::ZERO))) else {
            continue;
        };
        let mut both = datagram(b"twelve bytes", [setting.locator(0), setting.locator(1)]);
        while setting.transport.send(&mut both) == SendOutcome::Blocked {}
        let recorded = std::fs::metadata(&file.0).unwrap().len();
        assert_eq!(recorded, 24 + 2 * (16 + ip_header + 8 + 12));
        assert_eq!((setting.next(0).is_some(), setting.next(1).is_some()), (true, true));
    }
}
