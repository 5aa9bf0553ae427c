//! Reads how full the receive buffers of other sockets of this host are.
//!
//! A sender that is faster than its receiver loses datagrams silently: on loopback a datagram is the receiver's as
//! soon as it is sent. Linux reports the used and granted buffer of any of its sockets (`sock_diag`, Linux since 4.10
//! for UDP; shown by `ss -uam`). An answer costs a few microseconds, and a sender needs one for megabytes.
//!
//! ```text
//! request   nlmsghdr 16 | family 1 | protocol 1 | extensions 1 | 0 | states 4 | source port 2 | destination port 2
//!           | source 16 | destination 16 | interface 4 | cookie 8
//! answer    nlmsghdr 16 | inet_diag_msg 72 | attributes: length 2, type 2, value, each padded to 4
//! ```
//! Ports and addresses are in network order, all other fields in host order.

use std::net::SocketAddr;

/// Reads the buffers of this host's sockets. Its own socket is opened by the first request.
#[derive(Debug, Default)]
pub struct ReceiveBufferGauge {
    #[cfg(target_os = "linux")]
    socket: std::sync::Mutex<linux::DiagnosisSocket>,
}

impl ReceiveBufferGauge {
    /// Creates a gauge without opening a socket.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the free bytes in the receive buffer of this host's socket at `address`.
    ///
    /// Returns `None` if there is no such socket, or the system does not report it. A datagram occupies a little more
    /// than its length.
    pub fn room_at(&self, address: SocketAddr) -> Option<usize> {
        #[cfg(target_os = "linux")]
        return self.socket.lock().unwrap_or_else(std::sync::PoisonError::into_inner).room_at(address);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = address;
            None
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::errno::Errno;
    use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
    use std::net::{IpAddr, SocketAddr};
    use std::os::fd::{AsRawFd, OwnedFd};

    const HEADER_LEN: usize = 16;
    const REQUEST_LEN: usize = HEADER_LEN + 56;
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const INET_DIAG_SKMEMINFO: u8 = 7;
    /// Fixed part of an answer, in bytes.
    const ANSWER_LEN: usize = 72;
    /// Longer than any answer: 72 bytes and some attributes of at most 40.
    const ANSWER_MAX: usize = 1024;
    /// Answers to earlier requests that one request skips; their callers gave up.
    const STALE_MAX: usize = 4;

    /// The socket for requests.
    #[derive(Debug, Default)]
    pub(super) enum DiagnosisSocket {
        #[default]
        NotOpen,
        Open {
            socket: OwnedFd,
            sequence: u32,
        },
        /// The system does not permit or does not support the request.
        Refused,
    }

    impl DiagnosisSocket {
        pub(super) fn room_at(&mut self, address: SocketAddr) -> Option<usize> {
            if let Self::NotOpen = self {
                let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
                *self = match socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkSockDiag) {
                    Ok(socket) => Self::Open { socket, sequence: 0 },
                    Err(_) => Self::Refused,
                };
            }
            let Self::Open { socket, sequence } = self else { return None };
            *sequence = sequence.wrapping_add(1);
            let answer = query(socket, &request(address, *sequence), *sequence);
            // Each large sample needs an answer, so a request that the system denies must not be repeated.
            if let Err(Errno::EPERM | Errno::EACCES | Errno::EOPNOTSUPP | Errno::EPROTONOSUPPORT) = answer {
                *self = Self::Refused;
            }
            answer.ok().flatten()
        }
    }

    fn query(socket: &OwnedFd, request: &[u8], sequence: u32) -> Result<Option<usize>, Errno> {
        let fd = socket.as_raw_fd();
        send(fd, request, MsgFlags::empty())?;
        let mut answer = [0; ANSWER_MAX];
        for _ in 0..STALE_MAX {
            // The kernel answers during the request, so this never waits.
            let len = recv(fd, &mut answer, MsgFlags::empty())?;
            let answer = answer.get(..len).unwrap_or_default();
            if u32_at(answer, 8) == Some(sequence) {
                return Ok(free_bytes(answer));
            }
        }
        Ok(None)
    }

    fn request(address: SocketAddr, sequence: u32) -> [u8; REQUEST_LEN] {
        let mut octets = [0; 16];
        let family = match address.ip() {
            IpAddr::V4(v4) => {
                octets[..4].copy_from_slice(&v4.octets());
                AddressFamily::Inet
            }
            IpAddr::V6(v6) => {
                octets = v6.octets();
                AddressFamily::Inet6
            }
        };
        let mut request = [0; REQUEST_LEN];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = request.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(0, &(REQUEST_LEN as u32).to_ne_bytes());
        put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        put(6, &NLM_F_REQUEST.to_ne_bytes());
        put(8, &sequence.to_ne_bytes());
        put(16, &[family as u8, SockProtocol::Udp as u8, 1 << (INET_DIAG_SKMEMINFO - 1), 0]);
        put(20, &u32::MAX.to_ne_bytes());
        // The kernel looks the socket up as for an incoming datagram from this address; any source address works.
        put(26, &address.port().to_be_bytes());
        put(28, &octets);
        put(44, &octets);
        // No cookie: any socket with this address.
        put(64, &[0xff; 8]);
        request
    }

    /// Returns the free bytes that an answer reports; `None` for an error, such as no such socket.
    fn free_bytes(answer: &[u8]) -> Option<usize> {
        if answer.get(4..6)? != SOCK_DIAG_BY_FAMILY.to_ne_bytes() {
            return None;
        }
        let mut attributes = answer.get(HEADER_LEN + ANSWER_LEN..)?;
        while let (Some(len), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
            let len = usize::from(len);
            if kind == u16::from(INET_DIAG_SKMEMINFO) {
                let memory = attributes.get(4..len)?;
                let (used, granted) = (u32_at(memory, 0)?, u32_at(memory, 4)?);
                return usize::try_from(granted.saturating_sub(used)).ok();
            }
            // An attribute is never shorter than its header, so the loop ends.
            attributes = attributes.get(len.max(4).next_multiple_of(4)..)?;
        }
        None
    }

    fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
        bytes.get(at..)?.first_chunk().copied().map(u16::from_ne_bytes)
    }

    fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
        bytes.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            /// The answer comes from the system, but need not have the expected form.
            #[test]
            fn any_answer_is_parsed_without_panic(answer in prop::collection::vec(any::<u8>(), 0..200)) {
                let _ = free_bytes(&answer);
                let typed = [&answer[..4.min(answer.len())], &SOCK_DIAG_BY_FAMILY.to_ne_bytes(), &answer[..]].concat();
                let _ = free_bytes(&typed);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::family::Family;
    use super::*;
    use crate::transport::skip::skip;
    use socket2::SockAddr;

    #[test]
    fn free_bytes_shrink_by_each_waiting_datagram() {
        let gauge = ReceiveBufferGauge::new();
        for family in [Family::V4, Family::V6] {
            let open = |at: std::net::IpAddr| {
                let socket = family.socket()?;
                socket.bind(&SockAddr::from(SocketAddr::new(at, 0)))?;
                std::io::Result::Ok(std::net::UdpSocket::from(socket))
            };
            let Ok(sender) = open(family.localhost()) else {
                skip(if family == Family::V4 { "IPv4" } else { "IPv6" });
                continue;
            };
            // Bound to all addresses and reached by one, as a participant's socket.
            let receiver = open(family.unspecified()).unwrap();
            let address = SocketAddr::new(family.localhost(), receiver.local_addr().unwrap().port());
            let Some(empty) = gauge.room_at(address) else {
                skip("sock_diag");
                return;
            };
            for sent in 1..=3 {
                sender.send_to(&[7; 30_000], address).unwrap();
                let room = gauge.room_at(address).unwrap();
                let used = empty - room;
                assert!((sent * 30_000..sent * 60_000).contains(&used), "{used} bytes for {sent} datagrams");
            }
            for _ in 0..3 {
                receiver.recv(&mut [0; 65_536]).unwrap();
            }
            assert_eq!(gauge.room_at(address), Some(empty));
            drop(receiver);
            assert_eq!(gauge.room_at(address), None);
        }
    }
}
