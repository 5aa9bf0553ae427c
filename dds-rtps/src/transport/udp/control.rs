//! Control messages of a send: how to segment a run, and the class of a datagram.

use crate::types::TrafficClass;
use socket2::SockAddr;

const WORD: usize = size_of::<usize>();

/// Length (`size_t`), level and type (`int`) of a control message.
const HEADER_LEN: usize = WORD + 8;

/// Bytes of a control message: a header and one word.
const ENTRY_LEN: usize = HEADER_LEN + WORD;

/// Up to two control messages (`struct cmsghdr`) as Linux reads them.
#[derive(Debug)]
pub(super) struct Control {
    bytes: [u8; 2 * ENTRY_LEN],
    len: usize,
}

impl Control {
    pub(super) fn new() -> Self {
        Self { bytes: [0; 2 * ENTRY_LEN], len: 0 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds the length of the datagrams of a run.
    pub(super) fn segment(&mut self, each: u16) {
        const SOL_UDP: i32 = 17;
        const UDP_SEGMENT: i32 = 103;
        self.push(SOL_UDP, UDP_SEGMENT, each.to_ne_bytes());
    }

    /// Adds the class of the datagram, unless it is the default.
    ///
    /// Each datagram carries it, because all writers share a socket. Switching the socket would take a lock and
    /// another system call.
    pub(super) fn class(&mut self, class: TrafficClass, destination: &SockAddr) {
        const IPPROTO_IP: i32 = 0;
        const IP_TOS: i32 = 1;
        const IPPROTO_IPV6: i32 = 41;
        const IPV6_TCLASS: i32 = 67;
        if !class.is_default() {
            let (level, kind) = if destination.is_ipv6() { (IPPROTO_IPV6, IPV6_TCLASS) } else { (IPPROTO_IP, IP_TOS) };
            self.push(level, kind, i32::from(class.octet()).to_ne_bytes());
        }
    }

    fn push<const LEN: usize>(&mut self, level: i32, kind: i32, value: [u8; LEN]) {
        debug_assert!(self.len + ENTRY_LEN <= self.bytes.len(), "each kind of message is added once");
        let Some(entry) = self.bytes.get_mut(self.len..self.len + ENTRY_LEN) else { return };
        // The layout of `cmsghdr`: length, level, kind and value, in the byte order of this host.
        entry[..WORD].copy_from_slice(&(HEADER_LEN + LEN).to_ne_bytes());
        entry[WORD..WORD + 4].copy_from_slice(&level.to_ne_bytes());
        entry[WORD + 4..HEADER_LEN].copy_from_slice(&kind.to_ne_bytes());
        entry[HEADER_LEN..HEADER_LEN + LEN].copy_from_slice(&value);
        self.len += ENTRY_LEN;
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::concurrent::Payload;
    use crate::output::Datagram;
    use crate::transport::skip::skip;
    use crate::transport::udp::{UdpConfig, UdpSockets};
    use crate::transport::{SendOutcome, Transport};
    use crate::types::{IpFamilies, Locator};
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    use socket2::SockRef;
    use std::io::IoSliceMut;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    /// Receives one datagram and returns its class octet as the system reports it.
    fn received_octet(socket: &UdpSocket) -> i32 {
        let mut space = nix::cmsg_space!([i32; 8]);
        let mut bytes = [0; 2048];
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut buffers, Some(&mut space), MsgFlags::empty()).unwrap();
        let octets = message.cmsgs().unwrap().filter_map(|told| match told {
            ControlMessageOwned::Ipv4Tos(octet) => Some(i32::from(octet)),
            ControlMessageOwned::Ipv6TClass(octet) => Some(octet),
            _ => None,
        });
        octets.last().unwrap()
    }

    fn datagram(class: TrafficClass, payload_len: usize, to: &UdpSocket) -> Datagram {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(b"header");
        datagram.gather(Payload::copy_of(&vec![1; payload_len]), 0..payload_len);
        datagram.add_destination(Locator::from(to.local_addr().unwrap()));
        datagram.set_traffic_class(class);
        datagram
    }

    /// Over either version of IP, alone or in a run, copied or gathered: each datagram has its own class.
    #[test]
    fn each_datagram_is_sent_in_its_class() {
        for families in [IpFamilies::V4, IpFamilies::V6] {
            let config = UdpConfig { domain_id: 217, families, host_only: true, ..UdpConfig::default() };
            let Ok(sockets) = UdpSockets::open(&config) else {
                skip(if families == IpFamilies::V6 { "IPv6" } else { "IPv4" });
                continue;
            };
            let receiver = &sockets.user_unicast[0];
            match families {
                IpFamilies::V6 => SockRef::from(receiver).set_recv_tclass_v6(true).unwrap(),
                _ => SockRef::from(receiver).set_recv_tos_v4(true).unwrap(),
            }
            for (priority, octet) in [(46, 0xb8), (0, 0), (1, 4), (1_000, 0xfc), (-1, 0), (10, 40)] {
                let class = TrafficClass::of_priority(priority);
                for payload_len in [1, 1_400] {
                    assert_eq!(sockets.transport.send(&mut datagram(class, payload_len, receiver)), SendOutcome::Done);
                    assert_eq!(received_octet(receiver), octet, "{families:?} {priority} {payload_len}");
                }
                let mut run = [(); 4].map(|()| datagram(class, 1_344, receiver));
                run[3].set_traffic_class(TrafficClass::default());
                assert_eq!(sockets.transport.send_all(&mut run), 4);
                assert_eq!([(); 4].map(|()| received_octet(receiver)), [octet, octet, octet, 0]);
            }
            let counters = sockets.transport.counters();
            assert_eq!((counters.failed, counters.unmarked), (0, 0));
        }
    }

    #[test]
    fn multicast_is_sent_in_its_class() {
        let config = UdpConfig { domain_id: 216, families: IpFamilies::V4, host_only: true, ..UdpConfig::default() };
        let sockets = UdpSockets::open(&config).unwrap();
        let (Some(&group), Some(receiver)) =
            (sockets.links.groups_sent_to().first(), sockets.metatraffic_multicast.first())
        else {
            skip("multicast by loopback");
            return;
        };
        if sockets.links.unreached_by_multicast().count() > 0 {
            skip("multicast by loopback");
            return;
        }
        SockRef::from(receiver).set_recv_tos_v4(true).unwrap();
        let mut marked = Datagram::new();
        marked.buffer().extend_from_slice(b"marked");
        marked.set_traffic_class(TrafficClass::of_priority(34));
        marked.add_destination(group);
        assert_eq!(sockets.transport.send(&mut marked), SendOutcome::Done);
        assert_eq!(received_octet(receiver), 34 << 2);
    }
}
