//! What to open, and why it could not be opened.

use super::Interface;
use crate::types::{IpFamilies, PortMapping};
use std::fmt;
use std::io;
use std::net::Ipv4Addr;

/// What to open.
#[derive(Debug, Clone)]
pub struct UdpConfig {
    /// 0 to 232.
    pub domain_id: u32,
    /// The port formulas. Default: those of the standard.
    pub ports: PortMapping,
    /// Which versions of IP to speak. Default: [`IpFamilies::Auto`].
    pub families: IpFamilies,
    /// Bind to loopback, so that nothing leaves or enters the host. Default: no.
    pub host_only: bool,
    /// Send and receive multicast. Default: yes.
    pub multicast: bool,
    /// The group of discovery by IPv4. Default: 239.255.0.1 (RTPS 2.5, 9.6.2.4.1, and every peer). By IPv6 it is
    /// [`PortMapping::DISCOVERY_GROUPS_V6`].
    pub group: Ipv4Addr,
    /// Interfaces by name or address, besides loopback; empty (the default) for all.
    pub interfaces: Vec<String>,
    /// Time to live, or hop limit, of multicast datagrams: 1 (the default) stays in the subnet. At most 255.
    pub multicast_ttl: u32,
    /// Bytes asked of the system for what waits to be received, for each socket; past its limit where the process may (Linux:
    /// `CAP_NET_ADMIN`). `None` (the default): [`RECEIVE_BUFFER`](crate::transport::RECEIVE_BUFFER), and
    /// within the limit.
    pub receive_buffer: Option<usize>,
    /// Bytes asked of the system for what waits to be sent. Default: 1 MiB. More room means fewer sends that find none, and
    /// older data on a slow link.
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
    /// Whether an interface is to be used.
    pub(super) fn uses(&self, interface: &Interface) -> bool {
        interface.is_loopback() || !self.host_only && interface.is_selected(&self.interfaces)
    }
}

/// Why the sockets could not be opened.
#[derive(Debug)]
pub enum UdpError {
    /// The domain has no ports.
    Domain(u32),
    /// No interface fits the configuration.
    NoInterface,
    /// The system has refused.
    Io {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl fmt::Display for UdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(domain) => write!(f, "domain {domain} has no UDP ports"),
            Self::NoInterface => f.write_str("no interface has an address that fits the configuration"),
            Self::Io { what, source } => write!(f, "{what}: {source}"),
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

/// Names what was tried.
pub(super) fn failed(what: &'static str) -> impl FnOnce(io::Error) -> UdpError {
    move |source| UdpError::Io { what, source }
}
