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
    #![allow(unsafe_code, reason = "a trait of nix has an unsafe method; the method here does nothing unsafe")]

    use nix::libc::{self, c_void, socklen_t};
    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::Get;
    use std::net::UdpSocket;

    /// The kernel's `SK_MEMINFO_DROPS`.
    const DROPS: usize = 8;

    /// The kernel's `SK_MEMINFO_VARS` at the time when drops were added; later fields are cut off.
    type Meminfo = [u32; DROPS + 1];

    /// Socket option that reports the memory of a socket.
    #[derive(Debug, Clone, Copy)]
    struct SocketMemory;

    /// Receives the answer of the system.
    ///
    /// The getter of `nix` panics if the length is another one. An emulator of a processor (`qemu-user`) takes each
    /// option that it does not know for an integer.
    struct Answer {
        memory: Meminfo,
        len: socklen_t,
    }

    impl Get<Option<Meminfo>> for Answer {
        fn uninit() -> Self {
            Self { memory: [0; DROPS + 1], len: size_of::<Meminfo>() as socklen_t }
        }

        fn ffi_ptr(&mut self) -> *mut c_void {
            self.memory.as_mut_ptr().cast()
        }

        fn ffi_len(&mut self) -> *mut socklen_t {
            &raw mut self.len
        }

        unsafe fn assume_init(self) -> Option<Meminfo> {
            if self.len as usize == size_of::<Meminfo>() { Some(self.memory) } else { None }
        }
    }

    nix::getsockopt_impl!(SocketMemory, libc::SOL_SOCKET, libc::SO_MEMINFO, Option<Meminfo>, Answer);

    pub(super) fn dropped(socket: &UdpSocket) -> Option<u64> {
        let memory = getsockopt(socket, SocketMemory).ok()??;
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
        if dropped(&receiver).is_none() {
            crate::transport::skip::skip("SO_MEMINFO");
            return;
        }
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
