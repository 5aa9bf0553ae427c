//! Whether the interfaces of this host, or their addresses, may have changed.
//!
//! To list them takes 0.2 ms: done every two seconds, that is ten times what a participant at rest takes for everything else. Linux
//! says when there is something new (rtnetlink(7)); elsewhere there may be at any time.

/// Hears of changes from when it was made.
#[derive(Debug)]
pub(super) struct Changes {
    #[cfg(target_os = "linux")]
    news: Option<linux::News>,
}

impl Changes {
    /// Listens. Where the system does not let us, there may be changes at any time.
    pub(super) fn listen() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            news: linux::News::listen().ok(),
        }
    }

    /// Whether there may have been some since this was asked last.
    pub(super) fn may_have_come(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.news.as_ref().is_none_or(linux::News::take);
        #[cfg(not(target_os = "linux"))]
        true
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::errno::Errno;
    use nix::libc::{RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR, RTMGRP_LINK};
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
    };
    use std::os::fd::{AsRawFd, OwnedFd};

    /// So many messages are taken in one look; what follows is news the next time.
    const MESSAGES_MAX: usize = 256;
    /// What a message says is not read, so that it may be cut off.
    const MESSAGE_LEN: usize = 64;

    /// The socket on which the system says what is new.
    #[derive(Debug)]
    pub(super) struct News(OwnedFd);

    impl News {
        pub(super) fn listen() -> Result<Self, Errno> {
            let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
            let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
            let groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
            bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups as u32))?;
            Ok(Self(socket))
        }

        /// Whether something has been said since the last time.
        pub(super) fn take(&self) -> bool {
            let mut message = [0; MESSAGE_LEN];
            for taken in 0..MESSAGES_MAX {
                match recv(self.0.as_raw_fd(), &mut message, MsgFlags::empty()) {
                    Ok(_) | Err(Errno::EINTR) => {}
                    Err(Errno::EAGAIN) => return taken > 0,
                    // Such as that there was no room for all of it.
                    Err(_) => return true,
                }
            }
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_says_when_there_is_something_new() {
        let changes = Changes::listen();
        assert!(changes.news.is_some());
        // Somebody else may change something; not a hundred times in a row.
        assert!((0..100).any(|_| !changes.may_have_come()));
    }
}
