//! Detects whether another process of this host still runs. A crash is noticed long before a lease expires.
//!
//! Each participant holds a datagram socket with a name in Linux's abstract namespace. The name contains its GUID
//! prefix. The kernel removes the name when the last process that holds the socket ends, in whichever way. A check is
//! one `connect`, which never blocks and sends nothing. If a participant was seen once and is absent now, it is gone.
//!
//! The check is safe:
//!
//! - A prefix is random and never used again, so no other process has its name.
//! - A firewall does not affect it.
//! - A stopped process still holds its name.
//! - A forked child of an ended process still holds the name, too. Its participant is then lost when the lease expires,
//!   as without this check.
//! - Abstract names belong to the network namespace. Containers that reach each other by loopback share it. Other
//!   containers see no name, so they rely on leases only.
//! - The namespace of a socket is the one in which it was created. A thread that moves to another namespace later
//!   changes nothing.
//!
//! Rejected alternatives:
//!
//! - ICMP reaches only senders, is filtered, and is silent if another process has taken the port.
//! - Lock files need a shared file system, and a crash leaves them behind.
//! - Process IDs are reused and differ between containers.

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

    /// Binds the name.
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    pub(super) fn bind(prefix: GuidPrefix) -> io::Result<UnixDatagram> {
        UnixDatagram::bind_addr(&name_of(prefix)?)
    }

    /// Creates the socket for checks.
    #[allow(clippy::disallowed_methods, reason = "this is the driver")]
    pub(super) fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::unbound()
    }

    /// Fails if no process holds the name.
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

/// The name that this participant holds, and the socket with which it checks peers.
pub(super) struct Beacon {
    /// Bound: one, because the participant has one prefix.
    shown: Lock<Option<system::Handle>>,
    /// `None` if the system has no such names, or no descriptor was left.
    probe: Option<system::Handle>,
}

impl Beacon {
    pub(super) fn new() -> Self {
        Self { shown: Lock::default(), probe: system::unbound().ok() }
    }

    /// Takes the name of `prefix`. If that fails, peers notice the end of this process by its lease.
    pub(super) fn show(&self, prefix: GuidPrefix) {
        // The kernel releases the name when the descriptor closes, in whichever way the process ends.
        let beacon = system::bind(prefix);
        if let Err(error) = &beacon {
            tracing::debug!(%error, "others on this host cannot see whether this process runs");
        }
        *self.shown.lock() = beacon.ok();
    }

    pub(super) fn look_for(&self, prefix: GuidPrefix) -> Presence {
        // Only a refused connection proves that the name does not exist.
        let Some(probe) = &self.probe else { return Presence::Unknown };
        match system::look(probe, prefix) {
            Ok(()) => Presence::Here,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Presence::Gone,
            Err(_) => Presence::Unknown,
        }
    }
}

#[cfg(target_os = "linux")]
#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_is_visible_until_dropped() {
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
