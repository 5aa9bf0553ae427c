//! Datagrams for which a socket had no room.
//!
//! Linux counts them per socket. `SO_RXQ_OVFL` would hand over that count beside every datagram, which needs `recvmsg` with
//! control messages where a plain `recv` serves otherwise; `SO_MEMINFO` (Linux 4.12) tells the same number when it is asked
//! for. So it costs one system call for whoever looks at losses, and nothing for anybody else.

use std::net::UdpSocket;

/// How many datagrams a socket has dropped since it was opened; `None`: the system does not tell.
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

    /// The kernel's `SK_MEMINFO_VARS` at the time when drops came in; later ones are cut off.
    type Meminfo = [u32; DROPS + 1];

    /// What the kernel says of a socket's memory.
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
        memory.get(DROPS).map(|drops| u64::from(*drops))
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
    fn what_a_full_socket_drops_is_known() {
        let (receiver, sender) = (socket().unwrap(), socket().unwrap());
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        assert_eq!(dropped(&receiver), Some(0));
        socket2::SockRef::from(&receiver).set_recv_buffer_size(4096).unwrap();
        let sent = 200;
        (0..sent).for_each(|_| {
            sender.send(&[7; 1000]).unwrap();
        });
        receiver.set_nonblocking(true).unwrap();
        let received = std::iter::from_fn(|| receiver.recv(&mut [0; 2000]).ok()).count() as u64;
        assert!(received < sent);
        assert_eq!(dropped(&receiver), Some(sent - received));
    }
}
