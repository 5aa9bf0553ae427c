//! UDP over IPv4 and IPv6.
//!
//! In: a [`UdpConfig`]. Out: [`UdpSockets`]: the sockets to receive from, the [`UdpTransport`] that sends, and the
//! [`Links`] that follow the interfaces. Owned: a participant's sockets. No thread: the caller decides how to wait.
//!
//! | socket | port | shared with other participants |
//! |---|---|---|
//! | metatraffic multicast | of the domain | yes: each gets every datagram |
//! | metatraffic unicast, user unicast | of the first free participant index | never: a datagram would reach one of them only |
//! | senders | ephemeral; one for unicast, one for each multicast interface | no |
//!
//! Each version of IP has its own sockets, with the same unicast ports. Each multicast interface has its own sender,
//! because senders then share a socket without a lock.
//!
//! **Announced addresses.** These are the non-loopback addresses of the used interfaces, or loopback if there are
//! none. Of IPv6, each network of an interface contributes one address, and a link-local address counts only if the
//! interface has no other. Peers on this host reach us by any of them, without a wire. With [`UdpConfig::host_only`],
//! only loopback is announced.
//!
//! **Runs.** On Linux one system call receives ([`UdpReceiver`]) or sends a run of datagrams of equal length, such as
//! the fragments of a large sample.
//!
//! **Urgency.** On Linux and Android a datagram carries its [`TrafficClass`](crate::types::TrafficClass) in the same
//! system call; the default class costs a branch. Elsewhere datagrams go out unmarked, and are counted.
//!
//! **Changing interfaces.** [`Links::follow`] lists the interfaces again when the system reports a change. Then it
//! joins and sends multicast on new ones, and the announced addresses change. The sockets stay.
//!
//! **Link-local peers.** A locator does not name the link of a link-local address. The transport takes it from
//! received datagrams ([`UdpTransport::note_sender`]), and sends by every link until then.
//!
//! **Full buffers.** A datagram beyond the receive buffer is lost silently. Linux reports how full the sockets of
//! this host are ([`ReceiveBufferGauge`]).
//!
//! **Loopback.** Multicast is always sent and joined on `lo` as well, so that host-only participants and others find
//! each other. Where multicast does not return to this host, discovery uses the well-known ports of its loopback
//! address.

mod changes;
mod config;
mod control;
mod family;
mod gauge;
mod interface;
mod links;
mod overflow;
mod receiver;
mod run;
mod scopes;
mod sender;
mod sockets;

pub use crate::types::PortMapping;
pub use config::{UdpConfig, UdpError};
pub use gauge::ReceiveBufferGauge;
pub use interface::Interface;
pub use links::Links;
pub use overflow::dropped;
pub use receiver::{Received, UdpReceiver};
pub use sender::UdpTransport;
pub use sockets::{UdpSockets, interrupt, locators, peek_sender};
