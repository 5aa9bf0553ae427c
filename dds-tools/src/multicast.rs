//! Whether multicast of this host arrives on this host. Discovery of other hosts needs that.

use socket2::{Domain, Protocol, Socket, Type};
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::Duration;

/// Multicast group of announcements (RTPS 2.5, 9.6.1.1).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
/// Time for a multicast datagram of this host.
const WAIT: Duration = Duration::from_millis(500);
/// Most interfaces that are tested if the system selects none.
const INTERFACES_MAX: usize = 8;

/// Returns whether a multicast datagram of this host arrives on this host.
pub(crate) fn returns() -> bool {
    // Without a route to the group, the system selects no interface.
    if let Ok(socket) = join(Ipv4Addr::UNSPECIFIED) {
        return is_received(&socket);
    }
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let addresses = interfaces.iter().filter_map(|interface| match interface.ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    });
    addresses.take(INTERFACES_MAX).any(|address| join(address).is_ok_and(|socket| is_received(&socket)))
}

/// Joins the group on the interface with this address. The system selects one for the unspecified address.
fn join(interface: Ipv4Addr) -> std::io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0).into())?;
    socket.set_multicast_if_v4(&interface)?;
    socket.join_multicast_v4(&GROUP, &interface)?;
    socket.set_read_timeout(Some(WAIT))?;
    Ok(socket.into())
}

fn is_received(socket: &UdpSocket) -> bool {
    let probe = || {
        socket.send_to(b"dds why", (GROUP, socket.local_addr()?.port()))?;
        socket.recv(&mut [0; 16])
    };
    probe().is_ok()
}
