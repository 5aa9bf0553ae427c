//! Opens the sockets of a participant.

use super::config::failed;
use super::family::{Families, Family, on_link};
use super::links::{GroupSocket, announced};
use super::sender::UnicastSenders;
use super::{Interface, Links, UdpConfig, UdpError, UdpTransport};
use crate::transport::RECEIVE_BUFFER;
use crate::types::Locator;
use socket2::{SockAddr, SockRef, Socket};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Shutdown, SocketAddr, UdpSocket};
use std::sync::Arc;

/// The open sockets of a participant. Receiving sockets are blocking, one for each used version of IP, IPv4 first.
#[derive(Debug)]
pub struct UdpSockets {
    /// Receive multicast discovery traffic; empty without multicast.
    pub metatraffic_multicast: Vec<UdpSocket>,
    /// Receive unicast discovery traffic.
    pub metatraffic_unicast: Vec<UdpSocket>,
    /// Receive user data.
    pub user_unicast: Vec<UdpSocket>,
    /// Sends datagrams.
    pub transport: Arc<UdpTransport>,
    /// Follows the interfaces, and multicast on them.
    pub links: Links,
    /// Participant index of the unicast ports; `None` if the ports are ephemeral.
    pub participant_index: Option<u32>,
    /// Smallest granted receive buffer of [`UdpSockets::user_unicast`], in the unit of the request.
    pub receive_buffer: usize,
}

impl UdpSockets {
    /// Opens the sockets. Unicast ports are those of the first free participant index, or else ephemeral.
    ///
    /// # Errors
    /// The domain has no ports, no interface matches, or the system refuses a socket. Missing multicast is no error:
    /// see [`Links`]. While all interfaces are down, only `host_only` is an error.
    pub fn open(config: &UdpConfig) -> Result<Self, UdpError> {
        let multicast_port =
            config.ports.metatraffic_multicast(config.domain_id).ok_or(UdpError::Domain(config.domain_id))?;
        // Check the interfaces first, so that a misconfiguration opens no socket.
        let interfaces = Interface::list().map_err(failed("list the network interfaces"))?;
        let mut families = Family::chosen(config, &interfaces);
        if interfaces.is_empty() && !config.host_only {
            // Every interface is down, also loopback. `Links` follows the first one that comes up.
            families = Family::requested(config.families);
        } else if announced(config, &families, &interfaces).is_empty() {
            return Err(UdpError::NoInterface);
        }
        let unicast = open_unicast(config, &families).map_err(failed("bind the unicast ports"))?;
        let transport = Arc::new(open_senders(config, &families).map_err(failed("open the unicast senders"))?);
        let mut groups = Vec::new();
        if config.multicast {
            groups = open_groups(config, &families, multicast_port, &interfaces)
                .map_err(failed("bind the multicast port"))?;
        }
        let mut metatraffic_multicast = Vec::new();
        for group in &groups {
            // `Links` joins groups on its own handle of the socket.
            metatraffic_multicast.push(group.socket.try_clone().map_err(failed("share the multicast sockets"))?);
        }
        let mut links = Links::new(config, families, multicast_port, groups, Arc::clone(&transport));
        links.update(interfaces).map_err(failed("open the multicast senders"))?;
        let mut granted = Vec::new();
        for socket in &unicast.user {
            granted.push(granted_receive_buffer(socket).map_err(failed("read the buffer size"))?);
        }
        debug_assert!(!granted.is_empty(), "there is a user-data socket for each used version of IP");
        Ok(Self {
            metatraffic_multicast,
            metatraffic_unicast: unicast.metatraffic,
            user_unicast: unicast.user,
            transport,
            links,
            participant_index: unicast.index,
            receive_buffer: granted.into_iter().min().unwrap_or_default(),
        })
    }
}

/// Returns the locators of sockets bound to `bound`, one for each matching address.
#[must_use]
pub fn locators(bound: &[SocketAddr], addresses: &[IpAddr]) -> Vec<Locator> {
    let mut locators = Vec::new();
    for address in addresses {
        // Each version of IP has its own socket.
        if let Some(bound) = bound.iter().find(|bound| bound.is_ipv4() == address.is_ipv4()) {
            locators.push(Locator::udp(*address, bound.port()));
        }
    }
    locators
}

/// Makes a blocked receive on `socket`, and every later one, return at once. A flag of the caller shows the receiver
/// to end.
pub fn interrupt(socket: &UdpSocket) {
    // Linux returns "not connected", but wakes the receiver with an empty datagram without a sender.
    let _ = SockRef::from(socket).shutdown(Shutdown::Both);
    if cfg!(target_os = "linux") {
        return;
    }
    // On other systems a datagram wakes the receiver. If the buffer has no room for it, the receiver is awake
    // already.
    let Ok(address) = socket.local_addr() else { return };
    let family = Family::of(address.ip());
    if let Ok(sender) = family.socket() {
        let target = SocketAddr::new(family.localhost(), address.port());
        let _ = sender.send_to(&[], &SockAddr::from(target));
    }
}

/// Waits for a datagram and returns its sender without receiving it. `None` if the sender is unknown, for example
/// after [`interrupt`].
pub fn peek_sender(socket: &UdpSocket) -> Option<SocketAddr> {
    SockRef::from(socket).peek_sender().ok()?.as_socket()
}

/// The sockets that receive unicast.
struct UnicastReceivers {
    metatraffic: Vec<UdpSocket>,
    user: Vec<UdpSocket>,
    index: Option<u32>,
}

fn open_unicast(config: &UdpConfig, families: &Families) -> io::Result<UnicastReceivers> {
    for ports in config.ports.participants(config.domain_id) {
        match bind_unicast(config, families, ports.metatraffic, ports.user) {
            Ok(receivers) => return Ok(UnicastReceivers { index: Some(ports.index), ..receivers }),
            // Another process has the port, or the system denies it.
            Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied) => {}
            // Other errors would be the same for every index.
            Err(error) => return Err(error),
        }
    }
    // No index is free: use ephemeral ports, which the announcement names to the peers.
    bind_unicast(config, families, 0, 0)
}

fn bind_unicast(config: &UdpConfig, families: &Families, metatraffic: u16, user: u16) -> io::Result<UnicastReceivers> {
    let mut receivers = UnicastReceivers { metatraffic: Vec::new(), user: Vec::new(), index: None };
    for &family in families {
        receivers.metatraffic.push(receiver(config, family, metatraffic)?);
    }
    for &family in families {
        receivers.user.push(receiver(config, family, user)?);
    }
    Ok(receivers)
}

fn receiver(config: &UdpConfig, family: Family, port: u16) -> io::Result<UdpSocket> {
    let socket = family.socket()?;
    request_receive_buffer(config, &socket);
    socket.bind(&SockAddr::from(SocketAddr::new(family.own_address(config), port)))?;
    Ok(socket.into())
}

fn open_senders(config: &UdpConfig, families: &Families) -> io::Result<UdpTransport> {
    let mut unicast = UnicastSenders::default();
    for &family in families {
        let sender = Some(family.sender(config)?);
        match family {
            Family::V4 => unicast.v4 = sender,
            Family::V6 => unicast.v6 = sender,
        }
    }
    Ok(UdpTransport::new(unicast, config.host_only))
}

/// Opens the sockets that receive multicast; [`Links`] joins the groups on the interfaces.
fn open_groups(
    config: &UdpConfig,
    families: &Families,
    port: u16,
    interfaces: &[Interface],
) -> io::Result<Vec<GroupSocket>> {
    let mut opened = Vec::new();
    for &family in families {
        let groups = family.groups(config);
        // Bind to the group, so that unicast datagrams to this port and other groups of the host stay out. A group of
        // IPv6 belongs to one link and cannot be bound for several; then a socket option keeps other groups out.
        let of_one_link = family == Family::V4 || config.host_only;
        if cfg!(unix) && of_one_link {
            let is_loopback = |interface: &&Interface| interface.is_loopback() && interface.address.is_ipv6();
            let scope = interfaces.iter().find(is_loopback).map_or(0, |interface| interface.index);
            for group in groups {
                let socket = group_socket(config, family, on_link(group, port, scope))?;
                opened.push(GroupSocket { family, socket: socket.into(), groups: vec![group] });
            }
        } else {
            let socket = group_socket(config, family, SocketAddr::new(family.unspecified(), port))?;
            #[cfg(any(target_os = "linux", target_os = "android"))]
            if family == Family::V6 {
                // Since Linux 4.20. Before, messages of other groups arrive and are ignored as foreign.
                let _ = socket.set_multicast_all_v6(false);
            }
            opened.push(GroupSocket { family, socket: socket.into(), groups: groups.to_vec() });
        }
    }
    Ok(opened)
}

fn group_socket(config: &UdpConfig, family: Family, address: SocketAddr) -> io::Result<Socket> {
    let socket = family.socket()?;
    // Set both, because peers set one or the other, and only sockets with equal options share a port.
    socket.set_reuse_address(true)?;
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
    socket.set_reuse_port(true)?;
    request_receive_buffer(config, &socket);
    socket.bind(&SockAddr::from(address))?;
    Ok(socket)
}

/// Requests a receive buffer. The system silently grants at most its limit; see [`granted_receive_buffer`]. An
/// explicit request may exceed the limit if the process is privileged.
fn request_receive_buffer(config: &UdpConfig, socket: &Socket) {
    let _ = socket.set_recv_buffer_size(config.receive_buffer.unwrap_or(RECEIVE_BUFFER));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(requested) = config.receive_buffer {
        let _ = nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::RcvBufForce, &requested);
    }
}

/// Returns the granted buffer in the unit of [`Socket::set_recv_buffer_size`]. Linux doubles the request, and returns
/// the double.
fn granted_receive_buffer(socket: &UdpSocket) -> io::Result<usize> {
    let size = SockRef::from(socket).recv_buffer_size()?;
    Ok(if cfg!(target_os = "linux") { size / 2 } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Datagram;
    use crate::transport::{SendOutcome, Transport};
    use crate::types::IpFamilies;
    use std::net::Ipv4Addr;

    fn config(domain_id: u32) -> UdpConfig {
        UdpConfig { domain_id, host_only: true, ..UdpConfig::default() }
    }

    fn ports(sockets: &[UdpSocket]) -> Vec<u16> {
        sockets.iter().map(|socket| socket.local_addr().unwrap().port()).collect()
    }

    /// The versions of IP that this host has, each alone and both together.
    fn each_family(domain_id: u32) -> Vec<UdpConfig> {
        let with = |families| UdpConfig { families, ..config(domain_id) };
        let all = [IpFamilies::V4, IpFamilies::V6, IpFamilies::Both].map(with).into_iter();
        all.filter(|config| !matches!(UdpSockets::open(config), Err(UdpError::NoInterface))).collect()
    }

    #[test]
    fn each_participant_gets_its_own_index() {
        for config in each_family(230) {
            let all: Vec<UdpSockets> = (0..3).map(|_| UdpSockets::open(&config).unwrap()).collect();
            let indexes: Vec<u32> = all.iter().map(|sockets| sockets.participant_index.unwrap()).collect();
            assert!(indexes[0] != indexes[1] && indexes[1] != indexes[2] && indexes[0] != indexes[2], "{indexes:?}");
            for (sockets, &index) in all.iter().zip(&indexes) {
                let of_index = config.ports.metatraffic_unicast(230, index).unwrap();
                assert!(ports(&sockets.metatraffic_unicast).iter().all(|port| *port == of_index));
                let of_index = config.ports.user_unicast(230, index).unwrap();
                assert!(ports(&sockets.user_unicast).iter().all(|port| *port == of_index));
            }
        }
    }

    #[test]
    fn ports_beyond_the_last_index_are_ephemeral() {
        for mut config in each_family(229) {
            // One index of this domain, and those of three other domains.
            config.ports.domain_gain = 12;
            // These take the indexes, unless another process on this host has them.
            let _first: Vec<UdpSockets> = (0..4).map(|_| UdpSockets::open(&config).unwrap()).collect();
            let last = UdpSockets::open(&config).unwrap();
            assert_eq!(last.participant_index, None);
            assert!(ports(&last.user_unicast).iter().all(|port| *port != 0));
        }
    }

    #[test]
    fn domain_without_ports_is_refused() {
        assert!(matches!(UdpSockets::open(&config(233)), Err(UdpError::Domain(233))));
    }

    #[test]
    fn host_only_participant_announces_loopback() {
        for config in each_family(228) {
            let sockets = UdpSockets::open(&config).unwrap();
            let bound: Vec<SocketAddr> =
                sockets.user_unicast.iter().map(|socket| socket.local_addr().unwrap()).collect();
            let locators = locators(&bound, &sockets.links.addresses());
            assert_eq!(locators.len(), sockets.user_unicast.len());
            assert!(locators.iter().all(Locator::is_loopback));
            assert!(sockets.receive_buffer > 0);
        }
    }

    /// Twice the limit is granted where the process may force it.
    #[cfg(target_os = "linux")]
    #[test]
    fn receive_buffer_beyond_the_limit_needs_privilege() {
        use nix::sys::socket::{setsockopt, sockopt};
        let limit: usize = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap().trim().parse().unwrap();
        let requested = limit.min(64 << 20) * 2;
        let may = setsockopt(&Family::V4.socket().unwrap(), sockopt::RcvBufForce, &requested).is_ok();
        let granted = |receive_buffer| {
            let config = UdpConfig { receive_buffer, ..config(227) };
            UdpSockets::open(&config).unwrap().receive_buffer
        };
        assert_eq!(granted(Some(requested)), if may { requested } else { requested.min(limit) });
        assert_eq!(granted(Some(limit / 2)), limit / 2);
        assert_eq!(granted(None), RECEIVE_BUFFER.min(limit), "the default stays within the limit");
    }

    fn interface(index: u32, address: &str) -> Interface {
        Interface { name: format!("eth{index}"), index, address: address.parse().unwrap(), prefix_len: 64 }
    }

    #[test]
    fn outward_addresses_replace_loopback() {
        let (lo, eth) = (interface(1, "127.0.0.1"), interface(2, "192.0.2.7"));
        let of = |interfaces: &[Interface]| announced(&UdpConfig::default(), &[Family::V4], interfaces);
        assert_eq!(of(&[lo.clone(), eth.clone()]), [eth.address]);
        assert_eq!(of(&[lo]), [Ipv4Addr::LOCALHOST]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn one_ipv6_address_per_network_is_announced() {
        let all = [
            interface(1, "::1"),
            interface(2, "fe80::7"),
            interface(2, "fd00:1::7"),
            interface(2, "fd00:1::1234"),
            interface(2, "fd00:2::7"),
            interface(3, "fe80::8"),
            interface(3, "192.0.2.7"),
        ];
        let of = |families: &[Family]| -> Vec<String> {
            announced(&UdpConfig::default(), families, &all).iter().map(ToString::to_string).collect()
        };
        assert_eq!(of(&[Family::V4, Family::V6]), ["192.0.2.7", "fd00:1::7", "fd00:2::7", "fe80::8"]);
        assert_eq!(of(&[Family::V4]), ["192.0.2.7"]);
    }

    #[test]
    fn blocked_receive_is_interrupted() {
        for config in each_family(226) {
            let sockets = UdpSockets::open(&config).unwrap();
            for socket in &sockets.user_unicast {
                std::thread::scope(|scope| {
                    let receiver = scope.spawn(|| socket.recv(&mut [0; 16]));
                    interrupt(socket);
                    assert!(matches!(receiver.join().unwrap(), Ok(0) | Err(_)));
                });
            }
        }
    }

    #[test]
    fn multicast_reaches_each_participant_of_the_host() {
        for config in each_family(227) {
            let [sender, other] = [(); 2].map(|()| UdpSockets::open(&config).unwrap());
            if sender.links.unreached_by_multicast().count() > 0 {
                println!("skipped: multicast by {:?} does not work on this system's loopback", config.families);
                continue;
            }
            for group in sender.links.groups_sent_to() {
                let mut datagram = Datagram::new();
                datagram.buffer().extend_from_slice(b"hello");
                datagram.add_destination(group);
                assert_eq!(sender.transport.send(&mut datagram), SendOutcome::Done);
                assert_eq!(sender.transport.counters().failed, 0);
                for sockets in [&sender, &other] {
                    wait_for_datagram(&sockets.metatraffic_multicast);
                }
            }
        }
    }

    /// Waits until one of the sockets has received the datagram; a test that hangs has failed.
    fn wait_for_datagram(sockets: &[UdpSocket]) {
        let heard = |socket: &UdpSocket| {
            socket.set_nonblocking(true).unwrap();
            socket.recv(&mut [0; 16]).is_ok_and(|len| len == 5)
        };
        while !sockets.iter().any(heard) {
            std::thread::yield_now();
        }
    }

    /// Interfaces may vanish, return and change their addresses; the sockets stay.
    #[test]
    fn links_follow_the_interfaces() {
        let config = UdpConfig { domain_id: 218, families: IpFamilies::V4, ..UdpConfig::default() };
        let mut sockets = UdpSockets::open(&config).unwrap();
        let links = &mut sockets.links;
        let lo = Interface { name: "lo".into(), index: 1, address: Ipv4Addr::LOCALHOST.into(), prefix_len: 8 };
        // This host does not have it: it is announced, but no group can be joined there.
        let with_eth = vec![lo.clone(), interface(900, "192.0.2.7")];
        assert!(links.update(with_eth.clone()).unwrap());
        assert_eq!(links.addresses(), [Ipv4Addr::new(192, 0, 2, 7)]);
        assert!(!links.update(with_eth).unwrap(), "nothing has changed");
        assert!(links.update(vec![lo.clone()]).unwrap());
        assert_eq!(links.addresses(), [Ipv4Addr::LOCALHOST]);
        assert!(links.update(Vec::new()).unwrap());
        assert!(links.addresses().is_empty() && links.groups_sent_to().is_empty());
        assert_eq!(sockets.transport.handles().unwrap().len(), 1);
        assert!(links.update(vec![lo]).unwrap());
        assert_eq!(links.groups_joined(), links.groups_sent_to());
    }
}
