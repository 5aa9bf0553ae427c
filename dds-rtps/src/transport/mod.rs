//! Moves datagrams.
//!
//! In: a [`Datagram`] with its destinations. Out: bytes on the wire, [`SendOutcome`], counters. Owned: sockets. No protocol:
//! this room uses only [`types`](crate::types) and the datagram itself.
//!
//! | transport | does |
//! |---|---|
//! | [`udp`] | sends by UDP, over IPv4 and IPv6 |
//! | [`tap`] | passes on to another transport, and writes a pcap file |
//! | [`fault`] | passes on to another transport what seeded faults leave of it |
//! | [`arrivals`] | the same for what any of them receives |

pub mod arrivals;
#[cfg(test)]
mod contract;
pub mod fault;
#[cfg(test)]
pub(crate) mod skip;
pub mod tap;
#[cfg(feature = "udp")]
pub mod udp;

use crate::output::Datagram;
use std::fmt;
use std::sync::Arc;

/// What is asked of the system for what waits to be received, in bytes, if nobody says how much: enough for a burst of one large
/// sample.
pub const RECEIVE_BUFFER: usize = 4 << 20;

/// What has become of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum SendOutcome {
    /// Every destination was served, or has failed and was counted.
    Done,
    /// The sender has no room now. The destinations from the first one that was refused on remain in the datagram: send it
    /// again, before any later one, when there is room.
    Blocked,
}

/// Sends datagrams without ever waiting. The one seam to fake the network at.
pub trait Transport: Send + Sync + fmt::Debug {
    /// Serves the datagram's remaining destinations in order.
    ///
    /// A destination that cannot be reached is counted and passed over: it must not keep others from their data, and the
    /// protocol repairs what it can.
    fn send(&self, datagram: &mut Datagram) -> SendOutcome;

    /// Sends datagrams as by [`Transport::send`], one after the other, until one is blocked; how many are done.
    ///
    /// For transports that can serve several at a lower price.
    fn send_all(&self, datagrams: &mut [Datagram]) -> usize {
        datagrams.iter_mut().map(|datagram| self.send(datagram)).take_while(|sent| *sent == SendOutcome::Done).count()
    }

    /// What has happened so far.
    fn counters(&self) -> TransportCounters;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        (**self).send(datagram)
    }

    fn send_all(&self, datagrams: &mut [Datagram]) -> usize {
        (**self).send_all(datagrams)
    }

    fn counters(&self) -> TransportCounters {
        (**self).counters()
    }
}

/// Counts since the transport was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransportCounters {
    /// Datagrams that the system has taken, one for each destination and, for multicast, each interface.
    pub sent: u64,
    /// Their bytes, without UDP and IP headers.
    pub sent_bytes: u64,
    /// How often there was no room.
    pub blocked: u64,
    /// Destinations that the system refused, for one of the reasons below or another one: the datagram was lost for them,
    /// and for nobody else.
    pub failed: u64,
    /// … because no route leads there, the interface is down, or somebody on the way says that nobody is there.
    pub unreachable: u64,
    /// … because UDP, or a link, cannot carry so many bytes.
    pub too_long: u64,
    /// … because a firewall, or the system, does not allow it.
    pub forbidden: u64,
    /// Destinations of a kind that this transport does not speak.
    pub unsupported: u64,
    /// Of those sent, how many went without the class that they should have had
    /// ([`TrafficClass`](crate::types::TrafficClass)): this system has no way to say it with each datagram.
    pub unmarked: u64,
}
