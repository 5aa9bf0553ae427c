//! Addresses of peers, as users write them.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU16;

/// Resolves a peer: a name or an address, with or without a port. Port 0 means the well-known ports.
///
/// A name that cannot be resolved is only logged, because a participant must start although a peer is not there.
pub(crate) fn resolve_peer(peer: &str) -> Vec<SocketAddr> {
    let Some(host_and_port) = split(peer) else { return Vec::new() };
    match host_and_port.to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            tracing::warn!(peer, %error, "the name of a peer cannot be resolved; the participant retries");
            Vec::new()
        }
    }
}

/// Resolves the name of a peer again, without a log line.
pub(crate) fn resolve_again(peer: &str) -> Vec<SocketAddr> {
    let Some(host_and_port) = split(peer) else { return Vec::new() };
    match host_and_port.to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        // The first failure was logged, and this one may be one of thousands.
        Err(_) => Vec::new(),
    }
}

/// Returns whether the peer is a name, whose address may change.
pub(crate) fn is_name(peer: &str) -> bool {
    let Some((host, _)) = split(peer) else { return false };
    // The parser rejects a link-local address with its link, so the colon decides.
    !host.contains(':') && host.parse::<IpAddr>().is_err()
}

/// Returns whether the text has the form of a peer.
pub(crate) fn is_peer(peer: &str) -> bool {
    split(peer).is_some()
}

/// Returns whether the peer looks like an address and is not one, such as `10.300.1.1`.
///
/// A resolver would look for a host of this name, again and again.
pub(crate) fn is_wrong_address(peer: &str) -> bool {
    let Some((host, _)) = split(peer) else { return false };
    let looks_like_one = host.contains('.') && host.chars().all(|digit| digit.is_ascii_digit() || digit == '.');
    looks_like_one && host.parse::<IpAddr>().is_err()
}

/// Splits `host`, `host:port`, `[host]`, `[host]:port` or an IPv6 address. Returns `None` for other texts.
fn split(peer: &str) -> Option<(&str, u16)> {
    // Brackets separate the colons of an IPv6 address from that of the port (RFC 3986, 3.2.2).
    let (host, port) = match peer.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => match peer.split_once(':') {
            // More than one colon: an address of IPv6.
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (peer, None),
        },
    };
    let port = match port {
        None => 0,
        // No participant has port 0, so a written 0 is a mistake.
        Some(port) => port.parse::<NonZeroU16>().ok()?.get(),
    };
    if host.is_empty() { None } else { Some((host, port)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_is_host_with_optional_port() {
        for (text, host, port) in [
            ("robot", "robot", 0),
            ("robot:7412", "robot", 7412),
            ("192.0.2.7", "192.0.2.7", 0),
            ("192.0.2.7:7412", "192.0.2.7", 7412),
            ("fd00::7", "fd00::7", 0),
            ("[fd00::7]", "fd00::7", 0),
            ("[::1]:7410", "::1", 7410),
            ("fe80::7%eth0", "fe80::7%eth0", 0),
        ] {
            assert_eq!(split(text), Some((host, port)), "{text}");
        }
        for text in ["", ":7410", "robot:", "robot:0", "robot:70000", "[::1", "[::1]7410", "[]:1"] {
            assert_eq!(split(text), None, "{text}");
            assert!(!is_peer(text) && resolve_peer(text).is_empty());
        }
    }

    #[test]
    fn names_are_resolved_again_and_addresses_are_not() {
        assert!(is_name("robot") && is_name("robot.local:7412") && is_name("localhost"));
        for address in ["192.0.2.7", "192.0.2.7:7412", "fd00::7", "[fd00::7]:7412", "fe80::7%eth0", ":7410"] {
            assert!(!is_name(address), "{address}");
        }
        assert_eq!(resolve_again("192.0.2.7:7412"), resolve_peer("192.0.2.7:7412"));
    }

    #[test]
    fn text_of_digits_and_dots_is_an_address_or_an_error() {
        for wrong in ["10.300.1.1", "10.300.1.1:7412", "10.1.1", "10.1.1.1.1"] {
            assert!(is_wrong_address(wrong), "{wrong}");
        }
        for peer in ["10.30.1.1", "10.30.1.1:7412", "7", "robot.7", "10.robot", "[fd00::7]:7412", "fe80::7%eth0"] {
            assert!(is_peer(peer) && !is_wrong_address(peer), "{peer}");
        }
    }

    #[test]
    fn address_resolves_to_itself() {
        assert_eq!(resolve_peer("192.0.2.7:7412"), ["192.0.2.7:7412".parse().unwrap()]);
        assert_eq!(resolve_peer("[fd00::7]"), ["[fd00::7]:0".parse().unwrap()]);
    }
}
