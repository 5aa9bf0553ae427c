//! A datagram on its way.

use dds_rtps::types::Time;
use std::net::{Ipv4Addr, SocketAddr};

/// A datagram on its way to one destination, as [`Simulation::intercept`](super::Simulation::intercept) shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passing {
    /// When it was sent, by a clock that is right.
    pub sent_at: Time,
    /// The host that has sent it.
    pub from: Ipv4Addr,
    /// Where it goes: a port of a host, or of a group.
    pub to: SocketAddr,
    /// How urgent its sender says that it is: the DSCP that TRANSPORT_PRIORITY makes. Nothing on the way heeds it.
    pub dscp: u8,
    /// What is in it. May be changed.
    pub bytes: Vec<u8>,
}

/// What looks at datagrams: whether they may go on.
pub(super) type Intercept = Box<dyn FnMut(&mut Passing) -> bool + Send>;
