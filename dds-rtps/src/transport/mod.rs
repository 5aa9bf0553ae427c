//! Sends and receives datagrams.
//!
//! In: a [`Datagram`] with its destinations. Out: bytes on the wire, [`SendOutcome`], counters. Owned: sockets. There
//! is no protocol here.
//!
//! | transport | purpose |
//! |---|---|
//! | [`udp`] | sends by UDP, over IPv4 and IPv6 |
//! | [`tap`] | wraps another transport and writes a pcap file |
//! | [`faults`] | adds seeded faults before another transport, or behind its sockets |

#[cfg(test)]
mod contract;
pub mod faults;
#[cfg(test)]
pub(crate) mod skip;
pub mod tap;
#[cfg(feature = "udp")]
pub mod udp;

use crate::output::Datagram;
use std::fmt;
use std::sync::Arc;

/// Default receive buffer of a socket, in bytes: enough for a burst of one large sample.
pub const RECEIVE_BUFFER: usize = 4 << 20;

/// Result of a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum SendOutcome {
    /// Every destination was served, or failed and was counted.
    Done,
    /// The socket, or the shared memory of a peer, has no room now. The destinations that were not served remain in the
    /// datagram.
    ///
    /// Send it again before any later datagram, once there is room.
    Blocked,
}

/// Sends datagrams without blocking. Tests replace the network here.
pub trait Transport: Send + Sync + fmt::Debug {
    /// Sends the datagram to its remaining destinations, in order.
    ///
    /// An unreachable destination is counted and skipped, so that it does not delay the others. The protocol repairs
    /// the loss.
    fn send(&self, datagram: &mut Datagram) -> SendOutcome;

    /// Sends datagrams one after the other until one is blocked; returns how many are done.
    ///
    /// Transports that can send several datagrams at a lower cost override it.
    fn send_all(&self, datagrams: &mut [Datagram]) -> usize {
        for (done, datagram) in datagrams.iter_mut().enumerate() {
            if self.send(datagram) == SendOutcome::Blocked {
                return done;
            }
        }
        datagrams.len()
    }

    /// Returns the counters.
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

/// Counts since the transport was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransportCounters {
    /// Datagrams that the system accepted: one for each destination and, for multicast, each interface.
    pub sent: u64,
    /// Bytes of these datagrams, without UDP and IP headers.
    pub sent_bytes: u64,
    /// Sends for which the socket had no room.
    pub blocked: u64,
    /// Destinations that the system refused. The datagram is lost for this destination only.
    ///
    /// The next three counters give the common reasons.
    pub failed: u64,
    /// Refused because the destination is unreachable.
    ///
    /// There is no route, the interface is down, or a host on the path reports it.
    pub unreachable: u64,
    /// Refused because the datagram is longer than UDP or a link can carry.
    pub too_long: u64,
    /// Refused because a firewall or the system does not permit it.
    pub forbidden: u64,
    /// Destinations of a locator kind that this transport does not support.
    pub unsupported: u64,
    /// Sent datagrams without their [`TrafficClass`](crate::types::TrafficClass), because this system cannot mark
    /// single datagrams.
    pub unmarked: u64,
    /// Datagrams sent through shared memory, once for each destination. `sent` includes them.
    pub shared: u64,
    /// Datagrams dropped because a peer was too slow to read them from shared memory.
    pub shared_full: u64,
    /// Attempts to share memory with a peer that failed.
    pub shared_refused: u64,
}
