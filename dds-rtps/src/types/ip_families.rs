//! The IP versions that a participant uses.

/// The IP versions that a participant uses. It may have sockets of both, and reaches each peer by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum IpFamilies {
    /// IPv4. Also IPv6 if no interface has an IPv4 address beyond this host, but one has an IPv6 address.
    ///
    /// The default, because other implementations use IPv4 by default.
    #[default]
    Auto,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
    /// Both, as far as the system supports them.
    Both,
}
