//! Which versions of the Internet Protocol a participant speaks.

/// Which versions of IP are spoken. Sockets of both stand side by side; a peer is reached by one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum IpFamilies {
    /// IPv4; and IPv6 too if no interface has an IPv4 address that leads out of this host, but one has an IPv6 address.
    /// The default, for it is IPv4 that other implementations of DDS speak unless they are told otherwise.
    #[default]
    Auto,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
    /// Both, as far as this system has them.
    Both,
}
