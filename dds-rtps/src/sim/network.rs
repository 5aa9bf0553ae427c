//! Hosts, their sockets, and the datagrams in flight between them.

use crate::link::{Arrivals, Conditions, Damage, NetworkCounters, NetworkPath, Random, SentDatagram};
use crate::types::{Duration, Instant, Locator, LocatorKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// First two bytes of every host's address: 10.77.x.y with a prefix of 16 bits.
const NETWORK: [u8; 2] = [10, 77];

/// First port that is given to a socket without a requested port.
const FIRST_EPHEMERAL: u16 = 49152;

/// Most hosts of a network.
const HOSTS_MAX: u16 = 65_000;

/// Default time that a receiver needs for a datagram: 10 us.
const HANDLING: Duration = Duration::from_micros(10);

/// A host of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct HostId(u16);

/// An open socket of a host. Never used again after it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SocketId(u64);

/// Another socket of the host has this port already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortInUse(pub u16);

impl fmt::Display for PortInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} is in use", self.0)
    }
}

impl std::error::Error for PortInUse {}

/// A datagram that a socket receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimDatagram {
    /// The receiving socket.
    pub socket: SocketId,
    /// The address of the host that sent it.
    pub sender: IpAddr,
    /// The bytes, as they arrive.
    pub bytes: Arc<[u8]>,
}

/// A network in memory.
#[derive(Debug)]
pub struct VirtualNetwork {
    hosts: Vec<HostState>,
    sockets: BTreeMap<SocketId, SocketState>,
    links: BTreeMap<(HostId, HostId), LinkState>,
    default_conditions: Conditions,
    events: BinaryHeap<Reverse<NetworkEvent>>,
    /// Last id that an event or a socket got.
    last_id: u64,
    random: Random,
    counters: NetworkCounters,
}

#[derive(Debug)]
struct HostState {
    is_up: bool,
    /// Its programs are stopped until then.
    frozen_until: Instant,
    handling: Duration,
    receive_buffer: Option<usize>,
}

#[derive(Debug)]
struct SocketState {
    host: HostId,
    port: u16,
    loopback_only: bool,
    group: Option<Ipv4Addr>,
    buffer: usize,
    queue: VecDeque<(IpAddr, Arc<[u8]>)>,
    /// Bytes in `queue`.
    queued: usize,
    /// Datagrams that did not fit into its buffer.
    dropped: u64,
    /// When the receiver has handled its present datagrams.
    busy_until: Instant,
}

/// One direction of the link between two hosts.
#[derive(Debug, Default)]
struct LinkState {
    path: NetworkPath,
    /// Its own conditions; `None` means the default of the network.
    conditions: Option<Conditions>,
    is_cut: bool,
}

/// An event in the future. Ordered by time, then by the order of the sends.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NetworkEvent {
    at: Instant,
    id: u64,
    socket: SocketId,
    kind: NetworkEventKind,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NetworkEventKind {
    /// The datagram reaches the host.
    Arrives(IpAddr, Arc<[u8]>),
    /// The receiver takes the oldest datagram out of its buffer.
    IsTaken,
}

impl VirtualNetwork {
    /// Number of bits of an address that name the network.
    pub const PREFIX_LEN: u8 = 16;

    /// Creates a network without hosts. Links have `default_conditions` until they get their own.
    #[must_use]
    pub fn new(seed: u64, default_conditions: Conditions) -> Self {
        Self {
            hosts: Vec::new(),
            sockets: BTreeMap::new(),
            links: BTreeMap::new(),
            default_conditions,
            events: BinaryHeap::new(),
            last_id: 0,
            random: Random::new(seed),
            counters: NetworkCounters::default(),
        }
    }

    /// Adds a host; `None` after the 65 000th.
    pub fn add_host(&mut self) -> Option<HostId> {
        let id = u16::try_from(self.hosts.len()).ok()?;
        if id >= HOSTS_MAX {
            return None;
        }
        self.hosts.push(HostState {
            is_up: true,
            frozen_until: Instant::ZERO,
            handling: HANDLING,
            receive_buffer: None,
        });
        Some(HostId(id))
    }

    /// Returns the address of a host: 10.77.0.1 for the first.
    #[must_use]
    pub fn address(host: HostId) -> Ipv4Addr {
        // Address 0 names the network itself, so the first host has 1.
        let [high, low] = (host.0 + 1).to_be_bytes();
        Ipv4Addr::new(NETWORK[0], NETWORK[1], high, low)
    }

    /// Whether an address is one of this network, used or not.
    #[must_use]
    pub fn contains(address: Ipv4Addr) -> bool {
        address.octets().starts_with(&NETWORK)
    }

    /// Opens a socket of a host, at the requested port or at a free one.
    ///
    /// With `group` it receives datagrams to that group, and shares its port with other sockets. `buffer` is the
    /// number of bytes that may wait to be received.
    ///
    /// # Errors
    /// Another socket has the port.
    pub fn open(
        &mut self,
        host: HostId,
        port: Option<u16>,
        group: Option<Ipv4Addr>,
        loopback_only: bool,
        buffer: usize,
    ) -> Result<SocketId, PortInUse> {
        let port = match port {
            // Sockets of a group share its port, as with SO_REUSEADDR.
            Some(port) if group.is_some() || self.is_free(host, port) => port,
            Some(port) => return Err(PortInUse(port)),
            None => {
                let free = (FIRST_EPHEMERAL..=u16::MAX).find(|&port| self.is_free(host, port));
                free.ok_or(PortInUse(u16::MAX))?
            }
        };
        let id = SocketId(self.next_id());
        // A limit of the host holds for sockets that are opened after it was set, too.
        let receive_buffer = self.host(host).and_then(|host| host.receive_buffer);
        let socket = SocketState {
            host,
            port,
            loopback_only,
            group,
            buffer: receive_buffer.unwrap_or(buffer),
            queue: VecDeque::new(),
            queued: 0,
            dropped: 0,
            busy_until: Instant::ZERO,
        };
        self.sockets.insert(id, socket);
        Ok(id)
    }

    fn is_free(&self, host: HostId, port: u16) -> bool {
        !self.sockets.values().any(|socket| socket.host == host && socket.port == port && socket.group.is_none())
    }

    /// Returns the port of a socket; `None` if it is closed.
    #[must_use]
    pub fn port(&self, socket: SocketId) -> Option<u16> {
        self.sockets.get(&socket).map(|socket| socket.port)
    }

    /// Closes a socket. Datagrams in flight to it are dropped.
    pub fn close(&mut self, socket: SocketId) {
        self.sockets.remove(&socket);
    }

    /// Sends from a host. With `loopback_only` the sending socket is bound to loopback and reaches only its own host.
    pub fn send(&mut self, now: Instant, from: HostId, loopback_only: bool, to: Locator, bytes: &Arc<[u8]>) {
        let receivers = self.receivers(from, loopback_only, to);
        let is_loopback = to.to_socket_addr().is_some_and(|to| to.ip().is_loopback());
        let sender = if is_loopback { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V4(Self::address(from)) };
        if receivers.is_empty() {
            self.counters.nowhere += 1;
        }
        // In the order of the socket ids, so that the random numbers do not depend on a hash.
        for (socket, host) in receivers {
            let datagram = SentDatagram { at: now, len: bytes.len(), multicast: to.is_multicast() };
            for at in self.pass(from, host, &datagram) {
                let copy = self.copy(from, host, bytes);
                self.schedule(at, socket, NetworkEventKind::Arrives(sender, copy));
            }
        }
    }

    fn schedule(&mut self, at: Instant, socket: SocketId, kind: NetworkEventKind) {
        let id = self.next_id();
        self.events.push(Reverse(NetworkEvent { at, id, socket, kind }));
    }

    /// Returns the time of the next event.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.events.peek().map(|Reverse(next)| next.at)
    }

    /// Returns the next datagram that a socket has received until `now`.
    pub fn poll(&mut self, now: Instant) -> Option<SimDatagram> {
        while self.next().is_some_and(|next| next <= now) {
            let Reverse(NetworkEvent { at, id: event, socket: id, kind }) = self.events.pop()?;
            // The socket may have been closed while the datagram was in flight.
            let Some(socket) = self.sockets.get_mut(&id) else { continue };
            let Some(host) = self.hosts.get(usize::from(socket.host.0)) else {
                debug_assert!(false, "every socket belongs to a host");
                continue;
            };
            if !host.is_up {
                self.counters.cut += 1;
                continue;
            }
            match kind {
                // An empty buffer accepts a datagram of any length, as on Linux. So a buffer that is smaller than a
                // fragment of 65 000 bytes holds one of them.
                NetworkEventKind::Arrives(_, bytes)
                    if socket.queued > 0 && socket.queued + bytes.len() > socket.buffer =>
                {
                    socket.dropped += 1;
                    self.counters.buffer_full += 1;
                }
                NetworkEventKind::Arrives(sender, bytes) => {
                    socket.queued += bytes.len();
                    socket.queue.push_back((sender, bytes));
                    let at = socket.next_taken_at(at, host);
                    self.schedule(at, id, NetworkEventKind::IsTaken);
                }
                // It arrived before its host was frozen, and stays in the buffer. It keeps its id, and so its order.
                NetworkEventKind::IsTaken if at < host.frozen_until => {
                    let at = socket.next_taken_at(at, host);
                    self.events.push(Reverse(NetworkEvent { at, id: event, socket: id, kind }));
                }
                NetworkEventKind::IsTaken => {
                    // A host that was switched off has lost its buffers.
                    let Some((sender, bytes)) = socket.queue.pop_front() else { continue };
                    debug_assert!(socket.queued >= bytes.len(), "`queued` is the sum of the queue");
                    socket.queued -= bytes.len();
                    self.counters.delivered += 1;
                    return Some(SimDatagram { socket: id, sender, bytes });
                }
            }
        }
        None
    }

    /// Sets the conditions of all links that have none of their own.
    pub fn set_default_conditions(&mut self, conditions: Conditions) {
        self.default_conditions = conditions;
    }

    /// Sets the conditions of one direction of a link.
    pub fn set_conditions(&mut self, from: HostId, to: HostId, conditions: Conditions) {
        self.link(from, to).conditions = Some(conditions);
    }

    /// Returns the conditions of one direction of a link.
    #[must_use]
    pub fn conditions(&self, from: HostId, to: HostId) -> Conditions {
        if let Some(conditions) = self.links.get(&(from, to)).and_then(|link| link.conditions) {
            return conditions;
        }
        if from == to {
            // Loopback loses nothing by default, and divides nothing.
            return Conditions { mtu: 65_507, ..Conditions::perfect() };
        }
        self.default_conditions
    }

    /// Cuts one direction of a link, or restores it. Datagrams in flight still arrive.
    pub fn set_cut(&mut self, from: HostId, to: HostId, is_cut: bool) {
        self.link(from, to).is_cut = is_cut;
    }

    /// Switches a host on or off. A host that is switched off loses its receive buffers.
    pub fn set_up(&mut self, host: HostId, is_up: bool) {
        if let Some(host) = self.host_mut(host) {
            host.is_up = is_up;
        }
        if is_up {
            return;
        }
        for socket in self.sockets.values_mut() {
            if socket.host == host {
                socket.queue.clear();
                socket.queued = 0;
            }
        }
    }

    /// Stops the programs of a host until `until`; arriving datagrams fill its buffers.
    ///
    /// A time earlier than the one before lets the programs continue earlier with datagrams that arrive from now on.
    pub fn set_frozen(&mut self, host: HostId, until: Instant) {
        if let Some(host) = self.host_mut(host) {
            host.frozen_until = until;
        }
    }

    /// Sets the time that a host needs to receive a datagram. Default: 10 us.
    pub fn set_handling(&mut self, host: HostId, handling: Duration) {
        if let Some(host) = self.host_mut(host) {
            host.handling = handling;
        }
    }

    /// Sets the receive buffer of all sockets of a host, as `rmem_max` of a system does.
    pub fn set_receive_buffer(&mut self, host: HostId, bytes: usize) {
        if let Some(host) = self.host_mut(host) {
            host.receive_buffer = Some(bytes);
        }
        for socket in self.sockets.values_mut() {
            if socket.host == host {
                socket.buffer = bytes;
            }
        }
    }

    /// Returns the size of a socket's receive buffer in bytes; `None` if the socket is closed.
    #[must_use]
    pub fn receive_buffer(&self, socket: SocketId) -> Option<usize> {
        self.sockets.get(&socket).map(|socket| socket.buffer)
    }

    /// Returns how many datagrams did not fit into a socket's buffer.
    #[must_use]
    pub fn dropped(&self, socket: SocketId) -> u64 {
        self.sockets.get(&socket).map_or(0, |socket| socket.dropped)
    }

    /// Returns the counters of the whole network.
    #[must_use]
    pub fn counters(&self) -> NetworkCounters {
        self.counters
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Returns the sockets that a datagram to `to` is addressed to, in the order of their ids.
    fn receivers(&self, from: HostId, loopback_only: bool, to: Locator) -> Vec<(SocketId, HostId)> {
        if to.kind != LocatorKind::UdpV4 {
            return Vec::new();
        }
        let Some(IpAddr::V4(address)) = to.to_socket_addr().map(|to| to.ip()) else { return Vec::new() };
        let mut receivers = Vec::new();
        for (id, socket) in &self.sockets {
            if socket.is_reachable(from, loopback_only, address) && u32::from(socket.port) == to.port {
                receivers.push((*id, socket.host));
            }
        }
        receivers
    }

    fn pass(&mut self, from: HostId, to: HostId, datagram: &SentDatagram) -> Arrivals {
        let is_sender_up = self.host(from).is_some_and(|host| host.is_up);
        let conditions = self.conditions(from, to);
        let link = self.links.entry((from, to)).or_default();
        if !is_sender_up || link.is_cut {
            self.counters.cut += 1;
            return Arrivals::new();
        }
        link.path.pass(datagram, &conditions, &mut self.random, &mut self.counters)
    }

    /// Returns the bytes of one copy, damaged as the link's conditions demand.
    fn copy(&mut self, from: HostId, to: HostId, bytes: &Arc<[u8]>) -> Arc<[u8]> {
        let conditions = self.conditions(from, to);
        let damage = Damage::draw(bytes.len(), &conditions, &mut self.random, &mut self.counters);
        // Whole copies share their bytes.
        let Some(damage) = damage else { return Arc::clone(bytes) };
        let mut damaged = bytes.to_vec();
        damage.apply(&mut damaged);
        damaged.into()
    }

    fn link(&mut self, from: HostId, to: HostId) -> &mut LinkState {
        self.links.entry((from, to)).or_default()
    }

    fn host(&self, host: HostId) -> Option<&HostState> {
        self.hosts.get(usize::from(host.0))
    }

    fn host_mut(&mut self, host: HostId) -> Option<&mut HostState> {
        self.hosts.get_mut(usize::from(host.0))
    }
}

impl SocketState {
    /// Whether a datagram from a host to `address` reaches this socket, if the port is right.
    fn is_reachable(&self, from: HostId, from_loopback_only: bool, address: Ipv4Addr) -> bool {
        let is_in_scope = match (from_loopback_only, self.loopback_only) {
            (false, false) => true,
            // Two sockets that are bound to the loopback of one host.
            (true, true) => self.host == from,
            // A socket of all interfaces receives from its own host's loopback as well.
            (true, false) | (false, true) => self.host == from && address.is_loopback(),
        };
        let is_addressed = if address.is_multicast() {
            self.group == Some(address)
        } else if address.is_loopback() {
            self.group.is_none() && self.host == from
        } else {
            self.group.is_none() && address == VirtualNetwork::address(self.host)
        };
        is_in_scope && is_addressed
    }

    /// Reserves the receiver for one more datagram that is available at `at`; returns when it has taken it.
    fn next_taken_at(&mut self, at: Instant, host: &HostState) -> Instant {
        // One program reads the socket, so datagrams are taken one after the other.
        let begins = self.busy_until.max(at).max(host.frozen_until);
        self.busy_until = begins.after(host.handling).unwrap_or(begins);
        self.busy_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 10_000;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// Two hosts with one port each.
    fn pair() -> (VirtualNetwork, [HostId; 2], [SocketId; 2]) {
        let mut network = VirtualNetwork::new(1, Conditions::perfect());
        let hosts = [0, 1].map(|_| network.add_host().unwrap());
        let sockets = hosts.map(|host| network.open(host, Some(7410), None, false, ROOM).unwrap());
        (network, hosts, sockets)
    }

    fn unicast(host: HostId) -> Locator {
        Locator::udp_v4(VirtualNetwork::address(host), 7410)
    }

    fn received(network: &mut VirtualNetwork) -> Vec<SocketId> {
        std::iter::from_fn(|| network.poll(at(1_000_000))).map(|arrival| arrival.socket).collect()
    }

    #[test]
    fn datagram_arrives_after_delay_and_handling() {
        let (mut network, hosts, sockets) = pair();
        network.send(at(0), hosts[0], false, unicast(hosts[1]), &[1, 2, 3].into());
        assert_eq!(network.next(), Some(at(10)));
        assert_eq!(network.poll(at(10)), None);
        assert_eq!(network.next(), Some(at(20)));
        let sender = VirtualNetwork::address(hosts[0]).into();
        assert_eq!(network.poll(at(20)), Some(SimDatagram { socket: sockets[1], sender, bytes: [1, 2, 3].into() }));
        assert_eq!(network.next(), None);
    }

    #[test]
    fn multicast_reaches_all_members_of_the_group() {
        let (mut network, hosts, _) = pair();
        let group = Ipv4Addr::new(239, 255, 0, 1);
        let members: Vec<SocketId> = [hosts[0], hosts[1], hosts[1]]
            .map(|host| network.open(host, Some(7400), Some(group), false, ROOM).unwrap())
            .into();
        network.send(at(0), hosts[0], false, Locator::udp_v4(group, 7400), &[1].into());
        let mut heard = received(&mut network);
        heard.sort();
        assert_eq!(heard, members);
    }

    #[test]
    fn loopback_stays_on_its_host() {
        let (mut network, hosts, sockets) = pair();
        let inner = network.open(hosts[0], Some(7412), None, true, ROOM).unwrap();
        network.send(at(0), hosts[1], false, Locator::udp_v4(VirtualNetwork::address(hosts[0]), 7412), &[1].into());
        network.send(at(0), hosts[1], false, Locator::udp_v4(Ipv4Addr::LOCALHOST, 7412), &[1].into());
        assert_eq!(received(&mut network), []);
        assert_eq!(network.counters().nowhere, 2);
        network.send(at(0), hosts[0], true, Locator::udp_v4(Ipv4Addr::LOCALHOST, 7412), &[1].into());
        assert_eq!(received(&mut network), [inner]);
        network.send(at(0), hosts[0], true, unicast(hosts[1]), &[1].into());
        network.send(at(0), hosts[0], true, Locator::udp_v4(Ipv4Addr::LOCALHOST, 7410), &[1].into());
        assert_eq!(received(&mut network), [sockets[0]]);
    }

    #[test]
    fn port_has_one_owner_until_it_is_closed() {
        let (mut network, hosts, sockets) = pair();
        assert_eq!(network.open(hosts[0], Some(7410), None, false, ROOM), Err(PortInUse(7410)));
        network.send(at(0), hosts[1], false, unicast(hosts[0]), &[1].into());
        network.close(sockets[0]);
        let next = network.open(hosts[0], Some(7410), None, false, ROOM).unwrap();
        assert_eq!(received(&mut network), []);
        network.send(at(0), hosts[1], false, unicast(hosts[0]), &[1].into());
        assert_eq!(received(&mut network), [next]);
    }

    #[test]
    fn datagram_beyond_the_buffer_is_lost() {
        let (mut network, hosts, _) = pair();
        network.set_receive_buffer(hosts[1], 2500);
        for _ in 0..5 {
            network.send(at(0), hosts[0], false, unicast(hosts[1]), &vec![0; 1000].into());
        }
        assert_eq!(received(&mut network).len(), 2);
        assert_eq!(network.counters().buffer_full, 3);
    }

    #[test]
    fn empty_buffer_accepts_one_datagram_of_any_length() {
        let (mut network, hosts, sockets) = pair();
        network.set_receive_buffer(hosts[1], 2500);
        assert_eq!(network.receive_buffer(sockets[1]), Some(2500));
        for _ in 0..2 {
            network.send(at(0), hosts[0], false, unicast(hosts[1]), &vec![0; 9000].into());
        }
        assert_eq!((received(&mut network).len(), network.counters().buffer_full), (1, 1));
    }

    #[test]
    fn host_that_is_down_neither_sends_nor_receives() {
        let (mut network, hosts, _) = pair();
        network.send(at(0), hosts[0], false, unicast(hosts[1]), &[1].into());
        network.set_up(hosts[1], false);
        network.send(at(1), hosts[1], false, unicast(hosts[0]), &[1].into());
        assert_eq!(received(&mut network), []);
        network.set_up(hosts[1], true);
        network.send(at(2), hosts[0], false, unicast(hosts[1]), &[1].into());
        assert_eq!(received(&mut network).len(), 1);
    }

    #[test]
    fn frozen_host_receives_its_buffer_later() {
        let (mut network, hosts, _) = pair();
        // Two are in its buffer already, the others arrive later.
        for number in 0..2 {
            network.send(at(0), hosts[0], false, unicast(hosts[1]), &[number].into());
        }
        assert_eq!(network.poll(at(15)), None);
        network.set_frozen(hosts[1], at(1000));
        for number in 2..5 {
            network.send(at(500), hosts[0], false, unicast(hosts[1]), &[number].into());
        }
        assert_eq!(network.poll(at(999)), None);
        let taken = |network: &mut VirtualNetwork, now| -> Vec<u8> {
            std::iter::from_fn(|| network.poll(now)).map(|arrival| arrival.bytes[0]).collect()
        };
        assert_eq!(taken(&mut network, at(1010)), [0]);
        assert_eq!(taken(&mut network, at(1050)), [1, 2, 3, 4]);
        assert_eq!((network.next(), network.counters().delivered), (None, 5));
    }

    #[test]
    fn datagram_beyond_a_frozen_buffer_is_lost() {
        let (mut network, hosts, sockets) = pair();
        network.set_receive_buffer(hosts[1], 2500);
        network.set_frozen(hosts[1], at(1000));
        let one_by_one = (0..5).map(|number| number * 100);
        for sent in one_by_one {
            network.send(at(sent), hosts[0], false, unicast(hosts[1]), &vec![0; 1000].into());
        }
        assert_eq!(received(&mut network).len(), 2);
        assert_eq!((network.counters().buffer_full, network.dropped(sockets[1])), (3, 3));
    }

    #[test]
    fn damage_flips_one_bit() {
        let (mut network, hosts, _) = pair();
        network.set_conditions(hosts[0], hosts[1], Conditions::perfect().damaging(1.0));
        network.send(at(0), hosts[0], false, unicast(hosts[1]), &[0; 100].into());
        let arrival = network.poll(at(1000)).unwrap();
        assert_eq!(arrival.bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
}
