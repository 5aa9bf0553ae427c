//! Opens the sockets of a participant.

use super::sender::MulticastSender;
use super::{Interface, PortMapping, UdpTransport};
use crate::types::Locator;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, UdpSocket};

/// On how many interfaces one participant uses multicast. Linux lets a socket join 20 groups; a host with more interfaces
/// has containers on it, which are better named in the configuration.
const MULTICAST_INTERFACES_MAX: usize = 20;

/// What to open.
#[derive(Debug, Clone)]
pub struct UdpConfig {
    /// 0 to 232.
    pub domain_id: u32,
    /// The port formulas. Default: those of the standard.
    pub ports: PortMapping,
    /// Bind to loopback, so that nothing leaves or enters the host. Default: no.
    pub host_only: bool,
    /// Send and receive multicast. Default: yes.
    pub multicast: bool,
    /// The group of discovery. Default: 239.255.0.1 (RTPS 2.5, 9.6.2.4.1, and every peer).
    pub group: Ipv4Addr,
    /// Interfaces by name or address, besides loopback; empty (the default) for all.
    pub interfaces: Vec<String>,
    /// Time to live of multicast datagrams: 1 (the default) stays in the subnet.
    pub multicast_ttl: u32,
    /// Bytes asked of the system for what waits to be received, for each socket. Default: 4 MiB.
    pub receive_buffer: usize,
    /// Bytes asked of the system for what waits to be sent. Default: 1 MiB. More room means fewer sends that find none, and
    /// older data on a slow link.
    pub send_buffer: usize,
}

impl Default for UdpConfig {
    fn default() -> Self {
        Self {
            domain_id: 0,
            ports: PortMapping::default(),
            host_only: false,
            multicast: true,
            group: PortMapping::DISCOVERY_GROUP,
            interfaces: Vec::new(),
            multicast_ttl: 1,
            receive_buffer: 4 << 20,
            send_buffer: 1 << 20,
        }
    }
}

/// The open sockets of a participant. Those to receive from are blocking.
#[derive(Debug)]
pub struct UdpSockets {
    /// Discovery traffic to everybody; `None` without multicast.
    pub metatraffic_multicast: Option<UdpSocket>,
    /// Discovery traffic to this participant.
    pub metatraffic_unicast: UdpSocket,
    /// User data.
    pub user_unicast: UdpSocket,
    /// The sending side.
    pub transport: UdpTransport,
    /// The index that the unicast ports belong to; `None` if they are ephemeral.
    pub participant_index: Option<u32>,
    /// The addresses to be announced.
    pub addresses: Vec<Ipv4Addr>,
    /// The receive buffer of [`UdpSockets::user_unicast`] as the system has granted it, in the unit in which it was asked.
    pub receive_buffer: usize,
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
            Self::NoInterface => f.write_str("no interface with an IPv4 address fits the configuration"),
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

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> UdpError {
    move |source| UdpError::Io { what, source }
}

impl UdpSockets {
    /// Opens the sockets. The unicast ones get the ports of the first participant index whose two ports are free, and
    /// ephemeral ports if there is none.
    ///
    /// # Errors
    /// The domain has no ports, no interface fits, or the system refuses a socket. That multicast does not work is no
    /// error: see [`UdpTransport::multicast_interfaces`].
    pub fn open(config: &UdpConfig) -> Result<Self, UdpError> {
        let multicast_port =
            config.ports.metatraffic_multicast(config.domain_id).ok_or(UdpError::Domain(config.domain_id))?;
        let interfaces = Interface::list().map_err(failed("list the network interfaces"))?;
        let in_use = |interface: &&Interface| {
            interface.is_loopback() || !config.host_only && interface.is_selected(&config.interfaces)
        };
        let interfaces: Vec<&Interface> = interfaces.iter().filter(in_use).collect();
        let addresses = announced(&interfaces).ok_or(UdpError::NoInterface)?;
        let (metatraffic_unicast, user_unicast, participant_index) =
            open_unicast(config).map_err(failed("bind the unicast ports"))?;
        let senders = open_senders(config, &interfaces).map_err(failed("open the multicast senders"))?;
        let metatraffic_multicast = if senders.is_empty() {
            None
        } else {
            let socket = open_multicast(config, multicast_port, &senders);
            socket.map_err(failed("bind the multicast port"))?.map(UdpSocket::from)
        };
        let unicast_sender = open_sender(config).map_err(failed("open the unicast sender"))?;
        let receive_buffer = granted_receive_buffer(&user_unicast).map_err(failed("read the buffer size"))?;
        Ok(Self {
            metatraffic_multicast,
            metatraffic_unicast: metatraffic_unicast.into(),
            user_unicast: user_unicast.into(),
            transport: UdpTransport::new(unicast_sender, senders),
            participant_index,
            addresses,
            receive_buffer,
        })
    }

    /// The locators of a socket that is bound to a port of all [`UdpSockets::addresses`].
    ///
    /// # Errors
    /// The system does not say which port that is.
    pub fn locators(&self, socket: &UdpSocket) -> io::Result<Vec<Locator>> {
        let port = socket.local_addr()?.port();
        Ok(self.addresses.iter().map(|&address| Locator::udp_v4(address, port)).collect())
    }
}

/// Lets a receive that blocks on `socket`, and every later one, return at once. Have a flag that tells the receiver to end.
pub fn interrupt(socket: &UdpSocket) {
    // Linux says "not connected", and wakes the receiver nevertheless: it gets an empty datagram from nowhere.
    let _ = SockRef::from(socket).shutdown(Shutdown::Both);
    if cfg!(target_os = "linux") {
        return;
    }
    // Elsewhere the receiver is woken by a datagram. If the buffer has no room for it, the receiver is not asleep.
    let Ok(address) = socket.local_addr() else { return };
    if let Ok(sender) = new_socket() {
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, address.port()));
        let _ = sender.send_to(&[], &SockAddr::from(target));
    }
}

/// Waits for a datagram, and says who has sent it without taking it. `None`: nobody knows, for instance because of
/// [`interrupt`].
pub fn peek_sender(socket: &UdpSocket) -> Option<SocketAddr> {
    SockRef::from(socket).peek_sender().ok()?.as_socket()
}

/// What to announce of the interfaces in use; see the module's documentation. `None` if there are none.
fn announced(interfaces: &[&Interface]) -> Option<Vec<Ipv4Addr>> {
    let outward: Vec<Ipv4Addr> =
        interfaces.iter().filter(|interface| !interface.is_loopback()).map(|interface| interface.address).collect();
    if !outward.is_empty() {
        return Some(outward);
    }
    interfaces.first().map(|_| vec![Ipv4Addr::LOCALHOST])
}

fn new_socket() -> io::Result<Socket> {
    // Closed on exec, so that a child process does not keep our ports.
    Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
}

fn unicast_address(config: &UdpConfig) -> Ipv4Addr {
    if config.host_only { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED }
}

fn receiver(config: &UdpConfig, address: Ipv4Addr, port: u16) -> io::Result<Socket> {
    let socket = new_socket()?;
    // The system grants what its limit allows and says nothing; see `granted_receive_buffer`.
    let _ = socket.set_recv_buffer_size(config.receive_buffer);
    socket.bind(&SockAddr::from(SocketAddrV4::new(address, port)))?;
    Ok(socket)
}

fn open_unicast(config: &UdpConfig) -> io::Result<(Socket, Socket, Option<u32>)> {
    let address = unicast_address(config);
    for index in 0.. {
        let metatraffic = config.ports.metatraffic_unicast(config.domain_id, index);
        let user = config.ports.user_unicast(config.domain_id, index);
        let (Some(metatraffic), Some(user)) = (metatraffic, user) else { break };
        let pair =
            receiver(config, address, metatraffic).and_then(|first| Ok((first, receiver(config, address, user)?)));
        match pair {
            Ok((metatraffic, user)) => return Ok((metatraffic, user, Some(index))),
            // Somebody else has the port, or the system keeps it from us.
            Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((receiver(config, address, 0)?, receiver(config, address, 0)?, None))
}

fn open_multicast(config: &UdpConfig, port: u16, senders: &[MulticastSender]) -> io::Result<Option<Socket>> {
    let socket = new_socket()?;
    // Both, because peers set one or the other, and a port is shared only among those who agree.
    socket.set_reuse_address(true)?;
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
    socket.set_reuse_port(true)?;
    let _ = socket.set_recv_buffer_size(config.receive_buffer);
    // Bound to the group, so that unicast datagrams to this port and other groups of the host stay out.
    let address = if cfg!(unix) { config.group } else { Ipv4Addr::UNSPECIFIED };
    socket.bind(&SockAddr::from(SocketAddrV4::new(address, port)))?;
    let joined = senders.iter().filter(|sender| socket.join_multicast_v4(&config.group, &sender.interface).is_ok());
    Ok(if joined.count() > 0 { Some(socket) } else { None })
}

fn open_sender(config: &UdpConfig) -> io::Result<Socket> {
    let socket = new_socket()?;
    socket.set_nonblocking(true)?;
    let _ = socket.set_send_buffer_size(config.send_buffer);
    socket.bind(&SockAddr::from(SocketAddrV4::new(unicast_address(config), 0)))?;
    Ok(socket)
}

/// A sender for each interface that multicast can be sent by.
fn open_senders(config: &UdpConfig, interfaces: &[&Interface]) -> io::Result<Vec<MulticastSender>> {
    if !config.multicast {
        return Ok(Vec::new());
    }
    let mut senders: Vec<MulticastSender> = Vec::new();
    let mut last_name = "";
    for interface in interfaces {
        // The system lists the addresses of an interface together; one of them is enough.
        let is_new = std::mem::replace(&mut last_name, &interface.name) != interface.name;
        if is_new && senders.len() < MULTICAST_INTERFACES_MAX && can_multicast(config, interface.address) {
            let socket = open_sender(config)?;
            socket.set_multicast_if_v4(&interface.address)?;
            socket.set_multicast_ttl_v4(config.multicast_ttl)?;
            socket.set_multicast_loop_v4(true)?;
            senders.push(MulticastSender { socket, interface: interface.address });
        }
    }
    Ok(senders)
}

/// Whether the system has a route to the group by this interface. Asks by connecting, which sends nothing.
fn can_multicast(config: &UdpConfig, interface: Ipv4Addr) -> bool {
    let probe = || -> io::Result<()> {
        let socket = new_socket()?;
        socket.set_multicast_if_v4(&interface)?;
        socket.connect(&SockAddr::from(SocketAddr::from((config.group, 7400))))
    };
    probe().is_ok()
}

/// In the unit of [`Socket::set_recv_buffer_size`]: Linux doubles what it is asked for and answers with the double.
fn granted_receive_buffer(socket: &Socket) -> io::Result<usize> {
    let size = socket.recv_buffer_size()?;
    Ok(if cfg!(target_os = "linux") { size / 2 } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Datagram;
    use crate::transport::{SendOutcome, Transport};
    use std::time::Duration;

    fn config(domain_id: u32) -> UdpConfig {
        UdpConfig { domain_id, host_only: true, ..UdpConfig::default() }
    }

    #[test]
    fn each_participant_gets_an_index_of_its_own() {
        let config = config(230);
        let all: Vec<UdpSockets> = (0..3).map(|_| UdpSockets::open(&config).unwrap()).collect();
        let indexes: Vec<u32> = all.iter().map(|sockets| sockets.participant_index.unwrap()).collect();
        assert!(indexes[0] != indexes[1] && indexes[1] != indexes[2] && indexes[0] != indexes[2], "{indexes:?}");
        for (sockets, &index) in all.iter().zip(&indexes) {
            let ports = config.ports;
            assert_eq!(
                sockets.metatraffic_unicast.local_addr().unwrap().port(),
                ports.metatraffic_unicast(230, index).unwrap()
            );
            assert_eq!(sockets.user_unicast.local_addr().unwrap().port(), ports.user_unicast(230, index).unwrap());
        }
    }

    #[test]
    fn beyond_the_last_index_ports_are_ephemeral() {
        let mut config = config(229);
        // One index only.
        config.ports.domain_gain = 12;
        // Has the one index, unless somebody else on this host has it.
        let _first = UdpSockets::open(&config).unwrap();
        let second = UdpSockets::open(&config).unwrap();
        assert_eq!(second.participant_index, None);
        assert_ne!(second.user_unicast.local_addr().unwrap().port(), 0);
    }

    #[test]
    fn domains_without_ports_are_refused() {
        assert!(matches!(UdpSockets::open(&config(233)), Err(UdpError::Domain(233))));
    }

    #[test]
    fn what_stays_on_the_host_is_announced_as_loopback() {
        let sockets = UdpSockets::open(&config(228)).unwrap();
        assert_eq!(sockets.addresses, [Ipv4Addr::LOCALHOST]);
        let locators = sockets.locators(&sockets.user_unicast).unwrap();
        assert!(locators.iter().all(Locator::is_loopback));
        assert!(sockets.receive_buffer > 0);
    }

    #[test]
    fn outward_addresses_are_announced_before_loopback() {
        let lo = Interface { name: "lo".into(), address: Ipv4Addr::LOCALHOST, prefix_len: 8 };
        let eth = Interface { name: "eth0".into(), address: [192, 0, 2, 7].into(), prefix_len: 24 };
        assert_eq!(announced(&[&lo, &eth]), Some(vec![eth.address]));
        assert_eq!(announced(&[&lo]), Some(vec![Ipv4Addr::LOCALHOST]));
        assert_eq!(announced(&[]), None);
    }

    #[test]
    fn a_blocked_receive_is_interrupted() {
        let sockets = UdpSockets::open(&config(226)).unwrap();
        let socket = &sockets.user_unicast;
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| socket.recv(&mut [0; 16]));
            interrupt(socket);
            assert!(matches!(receiver.join().unwrap(), Ok(0) | Err(_)));
        });
    }

    #[test]
    fn a_multicast_datagram_reaches_every_participant_of_the_host() {
        let config = config(227);
        let [sender, other] = [(); 2].map(|()| UdpSockets::open(&config).unwrap());
        let (Some(own), Some(others)) = (&sender.metatraffic_multicast, &other.metatraffic_multicast) else {
            println!("skipped: this system does not route multicast by any interface, not even loopback");
            return;
        };
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(b"hello");
        datagram.add_destination(Locator::udp_v4(config.group, config.ports.metatraffic_multicast(227).unwrap()));
        assert_eq!(sender.transport.send(&mut datagram), SendOutcome::Done);
        assert_eq!(sender.transport.counters().failed, 0);
        for socket in [own, others] {
            // Only in the test: production never sets a timeout on a socket.
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let mut buffer = [0; 16];
            assert_eq!(socket.recv_from(&mut buffer).unwrap().0, 5);
        }
    }
}
