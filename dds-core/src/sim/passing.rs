//! A datagram in flight.

use dds_rtps::types::Time;
use std::net::{Ipv4Addr, SocketAddr};

/// A datagram in flight to one destination, as [`Simulation::intercept`](super::Simulation::intercept) shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passing {
    /// When it was sent, by a correct clock.
    pub sent_at: Time,
    /// Address of the sending host.
    pub from: Ipv4Addr,
    /// Its destination: a port of a host or of a multicast group.
    pub to: SocketAddr,
    /// The DSCP that the sender derives from TRANSPORT_PRIORITY. The simulated network ignores it.
    pub dscp: u8,
    /// The payload. The interceptor may change it.
    pub bytes: Vec<u8>,
}

/// Inspects a datagram and returns whether it may continue.
pub(super) type Intercept = Box<dyn FnMut(&mut Passing) -> bool + Send>;
