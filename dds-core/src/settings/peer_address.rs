//! Where a peer is looked for, as a person writes it.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The addresses of a peer given as a name or an address, with or without a port; port 0 stands for the well-known ones. One
/// that cannot be resolved is said in the log: a robot must start although another one is not there.
pub(crate) fn resolve_peer(peer: &str) -> Vec<SocketAddr> {
    let Some(host_and_port) = split(peer) else { return Vec::new() };
    match host_and_port.to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            tracing::warn!(peer, %error, "a peer's name cannot be resolved yet; that is tried again");
            Vec::new()
        }
    }
}

/// As [`resolve_peer`], of a name that has been looked up before.
pub(crate) fn resolve_again(peer: &str) -> Vec<SocketAddr> {
    let resolved = split(peer).and_then(|host_and_port| host_and_port.to_socket_addrs().ok());
    resolved.into_iter().flatten().collect()
}

/// Whether it is a peer by name, whose address may change.
pub(crate) fn is_name(peer: &str) -> bool {
    // With its link, a link-local address is none to the parser; nor does it change.
    let is_address = |host: &str| host.contains(':') || host.parse::<IpAddr>().is_ok();
    split(peer).is_some_and(|(host, _)| !is_address(host))
}

/// Whether it is written as a peer, whatever its name stands for.
pub(crate) fn is_peer(peer: &str) -> bool {
    split(peer).is_some()
}

/// Host and port: `host`, `host:port`, `[host]`, `[host]:port`, or a bare address of IPv6. `None` for what is neither.
fn split(peer: &str) -> Option<(&str, u16)> {
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
    let port = port.map_or(Some(0), |port| port.parse().ok().filter(|port| *port != 0))?;
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_a_host_with_or_without_a_port() {
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
    fn only_names_may_stand_for_something_else_later() {
        assert!(is_name("robot") && is_name("robot.local:7412") && is_name("localhost"));
        for address in ["192.0.2.7", "192.0.2.7:7412", "fd00::7", "[fd00::7]:7412", "fe80::7%eth0", ":7410"] {
            assert!(!is_name(address), "{address}");
        }
        assert_eq!(resolve_again("192.0.2.7:7412"), resolve_peer("192.0.2.7:7412"));
    }

    #[test]
    fn addresses_are_taken_as_they_stand() {
        assert_eq!(resolve_peer("192.0.2.7:7412"), ["192.0.2.7:7412".parse().unwrap()]);
        assert_eq!(resolve_peer("[fd00::7]"), ["[fd00::7]:0".parse().unwrap()]);
    }
}
