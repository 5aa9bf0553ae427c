//! UDP over IPv4 and IPv6.
//!
//! In: a [`UdpConfig`]. Out: [`UdpSockets`]: the sockets to receive from, the [`UdpTransport`] that sends, and the [`Links`]
//! that follow the interfaces. Owned: a participant's sockets. No thread: whoever opens them decides how to wait.
//!
//! | socket | port | shared with other participants |
//! |---|---|---|
//! | metatraffic multicast | of the domain | yes: each gets every datagram |
//! | metatraffic unicast, user unicast | of the first free participant index | never: a datagram would reach one of them only |
//! | senders | ephemeral; one for unicast, one for each multicast interface | no |
//!
//! Each version of IP that is spoken has its own of each; unicast ports are the same in both. A socket per interface,
//! rather than one whose interface is switched before each send, because senders share them without a lock.
//!
//! **Announced addresses.** All non-loopback addresses of the interfaces in use if there are any, otherwise loopback. Of IPv6
//! one for each network of an interface, and a link-local one only if the interface has no other. Peers on this host reach
//! us by any of them, without a wire. With [`UdpConfig::host_only`] it is loopback alone.
//!
//! **Runs.** Where the system can (Linux), equal datagrams that arrive one after the other, which is what fragments of a large
//! sample are, are received by one call ([`UdpReceiver`]) and sent by one.
//!
//! **Urgency.** On Linux and Android a datagram of another [`TrafficClass`](crate::types::TrafficClass) than the default says so
//! by the same system call; one of the default class costs a branch. Elsewhere datagrams go out unmarked, and are counted.
//!
//! **Interfaces that come and go.** [`Links::follow`] looks at them again, if the system has said that there is something new: multicast is joined and sent on new ones, and the
//! addresses to be announced change. The sockets stay.
//!
//! **Link-local peers.** A locator does not say on which link a link-local address is. It is learned from what comes from
//! there ([`UdpTransport::note_sender`]); before that, a datagram goes out by every link.
//!
//! **Full buffers.** What a receive buffer has no room for is lost without a word. Of the sockets of its own host Linux tells
//! how full they are ([`Gauge`]).
//!
//! **Loopback.** Multicast is always sent and joined on `lo` as well, so that participants which stay on the host and those
//! which do not find each other. Where multicast does not come back to this host, participants are looked for on the
//! well-known ports of its loopback address.

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
pub use gauge::Gauge;
pub use interface::Interface;
pub use links::Links;
pub use overflow::dropped;
pub use receiver::{Received, UdpReceiver};
pub use sender::UdpTransport;
pub use sockets::{UdpSockets, interrupt, locators, peek_sender};
