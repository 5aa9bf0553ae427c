//! The contract of transports, for any kind of transport.
//!
//! Tests of each crate with a transport include this file, so it names everything by `dds_rtps`.

use dds_rtps::concurrent::Payload;
use dds_rtps::output::Datagram;
use dds_rtps::transport::{SendOutcome, Transport, TransportCounters};
use dds_rtps::types::{Locator, LocatorKind, PortMapping};
use std::net::Ipv6Addr;

/// A transport under test and two receivers that it can reach.
///
/// The transport sends over loopback only, has no multicast, and uses one version of IP.
pub(super) trait TransportUnderTest {
    type Transport: Transport;

    fn transport(&self) -> &Self::Transport;

    /// Returns the address of receiver 0 or 1.
    fn locator(&self, receiver: usize) -> Locator;

    /// Returns the next datagram of a receiver, if any is left.
    fn next(&self, receiver: usize) -> Option<Vec<u8>>;
}

/// Checks all promises.
pub(super) fn all_promises(setting: &impl TransportUnderTest) {
    Promises(setting).are_kept();
}

struct Promises<'a, S>(&'a S);

impl<S: TransportUnderTest> Promises<'_, S> {
    fn are_kept(&self) {
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
            let mut datagram = datagram(b"head", [self.0.locator(0)]);
            datagram.gather(Payload::copy_of(&vec![b'x'; payload_len]), 0..payload_len);
            datagram.buffer().extend_from_slice(b"middle");
            datagram.gather(Payload::copy_of(b"?end?"), 1..4);
            let before = self.0.transport().counters();
            assert_eq!(self.0.transport().send(&mut datagram), SendOutcome::Done);
            let expected = [&b"head"[..], &vec![b'x'; payload_len], b"middle", b"end"].concat();
            assert!(self.0.next(0) == Some(expected), "{payload_len} bytes of payload");
            let after = self.0.transport().counters();
            assert_eq!(after.sent_bytes - before.sent_bytes, datagram.len() as u64);
        }
    }

    fn keeps_the_order_of_sends(&self) {
        for count in 0..50_u8 {
            assert_eq!(self.0.transport().send(&mut datagram(&[count], [self.0.locator(0)])), SendOutcome::Done);
        }
        let arrived: Vec<u8> = std::iter::from_fn(|| self.0.next(0)).flatten().collect();
        assert_eq!(arrived, (0..50).collect::<Vec<_>>());
    }

    /// Also if the transport sends equal datagrams as one run.
    fn sends_several_as_one_after_the_other(&self) {
        let lens = [1400, 1400, 1400, 700, 700, 0, 0, 1400, 60_000, 60_000, 1400, 1400, 1401, 3, 1400, 1400];
        let bytes = |index: usize| vec![index as u8; lens[index]];
        let of = |index: usize| match index {
            10.. => datagram(&bytes(index), [self.0.locator(1), self.0.locator(0)]),
            _ => datagram(&bytes(index), [self.0.locator(0)]),
        };
        let mut datagrams: Vec<Datagram> = (0..lens.len()).map(of).collect();
        // This one was blocked at its second destination.
        datagrams[14].destination_done();
        let before = self.0.transport().counters();
        assert_eq!(self.0.transport().send_all(&mut datagrams), lens.len());
        assert!(datagrams.iter().all(|datagram| datagram.remaining_destinations().is_empty()));
        let after = self.0.transport().counters();
        assert_eq!((after.sent - before.sent, after.failed - before.failed), (16 + 5, 0));
        let to_both: usize = lens[10..].iter().sum::<usize>() - lens[14];
        assert_eq!(after.sent_bytes - before.sent_bytes, (lens.iter().sum::<usize>() + to_both) as u64);
        let arrived = |receiver: usize| std::iter::from_fn(move || self.0.next(receiver)).collect::<Vec<_>>();
        assert!(arrived(0) == (0..16).map(bytes).collect::<Vec<_>>());
        assert!(arrived(1) == [10, 11, 12, 13, 15].map(bytes));
        assert_eq!(self.0.transport().send_all(&mut []), 0);
    }

    fn serves_others_when_several_cannot_reach_one(&self) {
        // The sockets are bound to loopback.
        let elsewhere = match self.0.locator(0).kind {
            LocatorKind::UdpV4 => Locator::udp_v4([192, 0, 2, 1].into(), 7411),
            _ => Locator::udp_v6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 7411),
        };
        let several =
            || [1, 2, 3].map(|index| datagram(&[index; 1400], [self.0.locator(0), elsewhere, self.0.locator(1)]));
        let before = self.0.transport().counters();
        assert_eq!(self.0.transport().send_all(&mut several()), 3);
        let after = self.0.transport().counters();
        assert_eq!((after.sent - before.sent, after.failed - before.failed), (6, 3));
        for receiver in [0, 1] {
            let arrived: Vec<_> = std::iter::from_fn(|| self.0.next(receiver)).collect();
            assert!(arrived == [1, 2, 3].map(|index| vec![index; 1400]), "at {receiver}");
        }
    }

    fn serves_every_destination(&self) {
        let mut datagram = datagram(b"both", [self.0.locator(0), self.0.locator(1)]);
        let before = self.0.transport().counters();
        assert_eq!(self.0.transport().send(&mut datagram), SendOutcome::Done);
        assert!(datagram.remaining_destinations().is_empty());
        assert_eq!((self.0.next(0), self.0.next(1)), (Some(b"both".to_vec()), Some(b"both".to_vec())));
        assert_eq!(self.0.transport().counters().sent - before.sent, 2);
    }

    fn passes_over_destinations_out_of_reach(&self) {
        // Refused by the system (the sockets are bound to loopback), multicast without multicast, the other version
        // of IP, unknown kind.
        let elsewhere_v4 = Locator::udp_v4([192, 0, 2, 1].into(), 7411);
        let elsewhere_v6 = Locator::udp_v6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 7411);
        let unknown = Locator { kind: LocatorKind::Other(16), port: 1, address: [0; 16] };
        let out_of_reach = match self.0.locator(0).kind {
            LocatorKind::UdpV4 => [elsewhere_v4, Locator::udp_v4([239, 255, 0, 1].into(), 7400), elsewhere_v6, unknown],
            _ => {
                let group = Locator::udp_v6(PortMapping::DISCOVERY_GROUPS_V6[0], 7400);
                [elsewhere_v6, group, elsewhere_v4, unknown]
            }
        };
        let mut datagram = datagram(b"one", out_of_reach);
        datagram.add_destination(self.0.locator(1));
        let before = self.0.transport().counters();
        assert_eq!(self.0.transport().send(&mut datagram), SendOutcome::Done);
        assert!(datagram.remaining_destinations().is_empty());
        assert_eq!(self.0.next(1), Some(b"one".to_vec()));
        let after = self.0.transport().counters();
        assert_eq!((after.failed - before.failed, after.unsupported - before.unsupported), (2, 2));
    }

    fn counts_what_is_too_large(&self) {
        // Shared memory carries more than UDP, but not this.
        let mut datagram = datagram(&vec![0; 2 << 20], [self.0.locator(0)]);
        let before = self.0.transport().counters();
        assert_eq!(self.0.transport().send(&mut datagram), SendOutcome::Done);
        assert!(datagram.remaining_destinations().is_empty());
        let after = self.0.transport().counters();
        assert_eq!((after.failed - before.failed, after.too_long - before.too_long), (1, 1));
        assert_eq!(self.0.next(0), None);
    }

    /// The datagram has been served in part, as after [`SendOutcome::Blocked`].
    fn goes_on_at_the_destination_that_was_refused(&self) {
        let mut datagram = datagram(b"rest", [self.0.locator(0), self.0.locator(1)]);
        datagram.destination_done();
        assert_eq!(self.0.transport().send(&mut datagram), SendOutcome::Done);
        assert_eq!((self.0.next(0), self.0.next(1)), (None, Some(b"rest".to_vec())));
    }

    fn sends_nothing_without_a_destination(&self) {
        let before = self.0.transport().counters();
        assert_eq!(self.0.transport().send(&mut datagram(b"nowhere", [])), SendOutcome::Done);
        assert_eq!(self.0.transport().counters(), before);
    }
}

pub(super) fn datagram<const N: usize>(bytes: &[u8], destinations: [Locator; N]) -> Datagram {
    let mut datagram = Datagram::new();
    datagram.buffer().extend_from_slice(bytes);
    for destination in destinations {
        datagram.add_destination(destination);
    }
    datagram
}

/// Wraps a transport that blocks some sends, and sends again as the contract requires.
#[derive(Debug)]
pub(super) struct Insistent<T>(pub T);

impl<T: Transport> Transport for Insistent<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        while self.0.send(datagram) == SendOutcome::Blocked {
            assert!(!datagram.remaining_destinations().is_empty());
        }
        SendOutcome::Done
    }

    fn counters(&self) -> TransportCounters {
        TransportCounters { blocked: 0, ..self.0.counters() }
    }
}
