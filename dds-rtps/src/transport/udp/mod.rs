//! UDP over IPv4.
//!
//! In: a [`UdpConfig`]. Out: [`UdpSockets`]: the sockets to receive from, and the [`UdpTransport`] that sends. Owned: a
//! participant's sockets. No thread: whoever opens them decides how to wait.
//!
//! | socket | port | shared with other participants |
//! |---|---|---|
//! | metatraffic multicast | of the domain | yes: each gets every datagram |
//! | metatraffic unicast, user unicast | of the first free participant index | never: a datagram would reach one of them only |
//! | senders | ephemeral; one for unicast, one for each multicast interface | no |
//!
//! **Announced addresses.** All non-loopback IPv4 addresses of the interfaces in use if there are any, otherwise 127.0.0.1.
//! Peers on this host reach us by any of them, without a wire. With [`UdpConfig::host_only`] it is 127.0.0.1 alone.
//!
//! **Loopback.** Multicast is always sent and joined on `lo` as well, so that participants which stay on the host and those
//! which do not find each other. Where multicast cannot be sent on any interface, participants are looked for on the
//! well-known ports of 127.0.0.1.

mod interface;
mod sender;
mod sockets;

pub use crate::types::PortMapping;
pub use interface::Interface;
pub use sender::UdpTransport;
pub use sockets::{UdpConfig, UdpError, UdpSockets, interrupt, peek_sender};
