//! Whether another process of this host still runs: how a crash is noticed long before a lease ends.
//!
//! Each participant holds a datagram socket whose name, in the abstract namespace of Linux, is made of its GUID prefix. The
//! kernel takes the name away when the last process that holds the socket has ended, however it did; to look is one `connect`,
//! which waits for nobody and sends nothing. Who was seen there once, and is not any more, is gone.
//!
//! What cannot mislead it: a prefix is random and never used again, so no other process has its name; a firewall does not see
//! it; a process that is stopped still holds it, and so does a forked child of one that has ended, which then is lost with its
//! lease as before. Abstract names belong to the network namespace, which is what containers share that reach each other by
//! loopback; others see nobody there, and so trust nothing but leases. The namespace of a socket is that in which it was
//! made: a thread that moves to another one later changes nothing.
//!
//! Rejected: ICMP, which comes only to who sends, is filtered, and is silent where the port has been taken by another process;
//! lock files, which need a file system that both see, and are left behind; process ids, which are used again and differ
//! between containers.

use crate::driver::Presence;
use crate::sync::Lock;
use dds_rtps::types::GuidPrefix;

#[cfg(target_os = "linux")]
mod system {
    use dds_rtps::types::GuidPrefix;
    use std::io;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    fn name_of(prefix: GuidPrefix) -> io::Result<SocketAddr> {
        SocketAddr::from_abstract_name([b"dds-participant-", &prefix.0[..]].concat())
    }

    /// Takes the name.
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    pub(super) fn bind(prefix: GuidPrefix) -> io::Result<UnixDatagram> {
        UnixDatagram::bind_addr(&name_of(prefix)?)
    }

    /// A socket to look with.
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    pub(super) fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::unbound()
    }

    /// Whether somebody has the name.
    pub(super) fn look(with: &UnixDatagram, prefix: GuidPrefix) -> io::Result<()> {
        with.connect_addr(&name_of(prefix)?)
    }

    pub(super) type Handle = UnixDatagram;
}

#[cfg(not(target_os = "linux"))]
mod system {
    use dds_rtps::types::GuidPrefix;
    use std::io;

    pub(super) enum Handle {}

    fn unsupported<T>() -> io::Result<T> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn bind(_: GuidPrefix) -> io::Result<Handle> {
        unsupported()
    }

    pub(super) fn unbound() -> io::Result<Handle> {
        unsupported()
    }

    pub(super) fn look(with: &Handle, _: GuidPrefix) -> io::Result<()> {
        match *with {}
    }
}

/// The names that this participant holds, and the socket with which it looks for others.
pub(super) struct Beacon {
    /// Bound: the participant has one prefix.
    shown: Lock<Option<system::Handle>>,
    /// `None`: this system has no such names, or no descriptor was left.
    probe: Option<system::Handle>,
}

impl Beacon {
    pub(super) fn new() -> Self {
        Self { shown: Lock::default(), probe: system::unbound().ok() }
    }

    /// Where that is not possible, others notice the end of this process with its lease.
    pub(super) fn show(&self, prefix: GuidPrefix) {
        let beacon = system::bind(prefix);
        if let Err(error) = &beacon {
            tracing::debug!(%error, "others on this host cannot see whether this process runs");
        }
        *self.shown.lock() = beacon.ok();
    }

    pub(super) fn look_for(&self, prefix: GuidPrefix) -> Presence {
        let Some(probe) = &self.probe else { return Presence::Unknown };
        match system::look(probe, prefix) {
            Ok(()) => Presence::Here,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Presence::Gone,
            Err(_) => Presence::Unknown,
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;

    #[test]
    fn who_shows_itself_is_seen_until_it_goes() {
        let mut bytes = [7; 12];
        bytes[..4].copy_from_slice(&std::process::id().to_le_bytes());
        let (one, other, prefix) = (Beacon::new(), Beacon::new(), GuidPrefix(bytes));
        assert_eq!(other.look_for(prefix), Presence::Gone);
        one.show(prefix);
        assert_eq!(other.look_for(prefix), Presence::Here);
        assert_eq!(other.look_for(prefix), Presence::Here);
        drop(one);
        assert_eq!(other.look_for(prefix), Presence::Gone);
    }
}
