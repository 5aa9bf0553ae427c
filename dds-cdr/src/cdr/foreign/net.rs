//! Network addresses.

use super::encoded_as;
use super::structs::{SocketV4, SocketV6};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Returns the 16 octets of an address. An IPv4 address is mapped.
fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        // One array for both families (RFC 4291, 2.5.5.2), so that the type needs no union.
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

encoded_as! {
    Ipv4Addr => [u8; 4], |value| Ok(value.octets()), |wire| Some(Self::from(wire));
    Ipv6Addr => [u8; 16], |value| Ok(value.octets()), |wire| Some(Self::from(wire));
    IpAddr => [u8; 16], |value| Ok(octets(*value)), |wire| Some(Ipv6Addr::from(wire).to_canonical());
    SocketAddrV4 => SocketV4,
        |value| Ok(SocketV4 { address: value.ip().octets(), port: value.port() }),
        |wire| Some(Self::new(wire.address.into(), wire.port));
    SocketAddrV6 => SocketV6,
        |value| Ok(SocketV6 { address: value.ip().octets(), port: value.port() }),
        |wire| Some(Self::new(wire.address.into(), wire.port, 0, 0));
    SocketAddr => SocketV6,
        |value| Ok(SocketV6 { address: octets(value.ip()), port: value.port() }),
        |wire| Some(Self::new(Ipv6Addr::from(wire.address).to_canonical(), wire.port));
}
