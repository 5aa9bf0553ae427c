//! Counts datagrams that a socket dropped because its buffer was full.
//!
//! Linux counts them per socket. `SO_RXQ_OVFL` would deliver the count beside every datagram, but needs the dearer
//! `recvmsg` instead of `recv`. `SO_MEMINFO` (Linux 4.12) returns the same number on demand. So it costs one system
//! call for a caller that reads it, and nothing otherwise.

use std::net::UdpSocket;

/// Returns how many datagrams a socket has dropped since it was opened; `None` if the system does not report it.
#[must_use]
pub fn dropped(socket: &UdpSocket) -> Option<u64> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    return meminfo::dropped(socket);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = socket;
        None
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod meminfo {
    use nix::libc;
    use nix::sys::socket::getsockopt;
    use std::net::UdpSocket;

    /// The kernel's `SK_MEMINFO_DROPS`.
    const DROPS: usize = 8;

    /// The kernel's `SK_MEMINFO_VARS` at the time when drops were added; later fields are cut off.
    type Meminfo = [u32; DROPS + 1];

    /// Socket option that reports the memory of a socket.
    #[derive(Debug, Clone, Copy)]
    struct SocketMemory;

    nix::getsockopt_impl!(
        SocketMemory,
        libc::SOL_SOCKET,
        libc::SO_MEMINFO,
        Meminfo,
        nix::sys::socket::sockopt::GetStruct<Meminfo>
    );

    pub(super) fn dropped(socket: &UdpSocket) -> Option<u64> {
        let memory = getsockopt(socket, SocketMemory).ok()?;
        Some(u64::from(*memory.get(DROPS)?))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::family::Family;
    use super::*;
    use socket2::SockAddr;
    use std::net::SocketAddr;

    fn socket() -> std::io::Result<UdpSocket> {
        let socket = Family::V4.socket()?;
        socket.bind(&SockAddr::from(SocketAddr::new(Family::V4.localhost(), 0)))?;
        Ok(socket.into())
    }

    #[test]
    fn drops_of_a_full_socket_are_counted() {
        let (receiver, sender) = (socket().unwrap(), socket().unwrap());
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        assert_eq!(dropped(&receiver), Some(0));
        socket2::SockRef::from(&receiver).set_recv_buffer_size(4096).unwrap();
        let sent = 200;
        for _ in 0..sent {
            sender.send(&[7; 1000]).unwrap();
        }
        receiver.set_nonblocking(true).unwrap();
        let received = std::iter::from_fn(|| receiver.recv(&mut [0; 2000]).ok()).count() as u64;
        assert!(received < sent);
        assert_eq!(dropped(&receiver), Some(sent - received));
    }
}
