//! Configuration of the sockets, and the errors of opening them.

use super::Interface;
use crate::types::{IpFamilies, PortMapping};
use std::fmt;
use std::io;
use std::net::Ipv4Addr;

/// Configuration of a participant's sockets.
#[derive(Debug, Clone)]
pub struct UdpConfig {
    /// Domain id, 0 to 232. Default: 0.
    pub domain_id: u32,
    /// Port formulas. Default: those of the standard.
    pub ports: PortMapping,
    /// Versions of IP to use. Default: [`IpFamilies::Auto`].
    pub families: IpFamilies,
    /// Binds to loopback, so that no traffic leaves or enters the host. Default: false.
    pub host_only: bool,
    /// Sends and receives multicast. Default: true.
    pub multicast: bool,
    /// Multicast group of discovery over IPv4. Default: 239.255.0.1 (RTPS 2.5, 9.6.2.4.1, and every peer).
    ///
    /// Over IPv6 the groups are [`PortMapping::DISCOVERY_GROUPS_V6`].
    pub group: Ipv4Addr,
    /// Used interfaces beside loopback, by name or address. Default: empty, for all.
    pub interfaces: Vec<String>,
    /// Time to live, or hop limit, of multicast datagrams, 1 to 255. Default: 1, the subnet.
    pub multicast_ttl: u32,
    /// Requested receive buffer of each socket, in bytes. Default: `None`, for
    /// [`RECEIVE_BUFFER`](crate::transport::RECEIVE_BUFFER).
    ///
    /// A request may exceed the system's limit if the process is privileged (Linux: `CAP_NET_ADMIN`); the default
    /// stays within the limit.
    pub receive_buffer: Option<usize>,
    /// Requested send buffer of each socket, in bytes. Default: 1 MiB.
    ///
    /// A larger buffer blocks fewer sends, and queues older data on a slow link.
    pub send_buffer: usize,
}

impl Default for UdpConfig {
    fn default() -> Self {
        Self {
            domain_id: 0,
            ports: PortMapping::default(),
            families: IpFamilies::default(),
            host_only: false,
            multicast: true,
            group: PortMapping::DISCOVERY_GROUP,
            interfaces: Vec::new(),
            multicast_ttl: 1,
            receive_buffer: None,
            send_buffer: 1 << 20,
        }
    }
}

impl UdpConfig {
    /// Whether the configuration selects an interface.
    pub(super) fn uses(&self, interface: &Interface) -> bool {
        if interface.is_loopback() {
            return true;
        }
        !self.host_only && interface.is_selected(&self.interfaces)
    }
}

/// Error of opening the sockets.
#[derive(Debug)]
pub enum UdpError {
    /// The domain has no ports.
    Domain(u32),
    /// No interface matches the configuration.
    NoInterface,
    /// A system call failed.
    Io {
        /// The operation that failed.
        operation: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Display for UdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(domain) => write!(f, "domain {domain} has no UDP ports"),
            Self::NoInterface => f.write_str("no interface has an address that matches the configuration"),
            Self::Io { operation, source } => write!(f, "{operation}: {source}"),
        }
    }
}

impl std::error::Error for UdpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Returns a function that adds the name of the failed operation to an error.
pub(super) fn failed(operation: &'static str) -> impl FnOnce(io::Error) -> UdpError {
    move |source| UdpError::Io { operation, source }
}
