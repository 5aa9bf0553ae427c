//! Hosts, their ports, and what is under way between them.

use super::path::{Arrivals, Leaving, Path};
use super::{Conditions, Dice};
use crate::types::{Duration, Instant, Locator, LocatorKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// The first two bytes of every host's address: 10.77.x.y with 16 bits of network.
const NETWORK: [u8; 2] = [10, 77];

/// Where the system begins to give out ports that nobody asked for.
const FIRST_EPHEMERAL: u16 = 49152;

/// What a receiver needs for a datagram, unless a host says otherwise: 10 us.
const HANDLING: Duration = Duration::from_micros(10);

/// A host of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct HostId(u16);

/// An open port of a host. Never used again after it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SocketId(u64);

/// Somebody has that port already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortInUse(pub u16);

impl fmt::Display for PortInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} is in use", self.0)
    }
}

impl std::error::Error for PortInUse {}

/// A datagram that somebody receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// By which port.
    pub socket: SocketId,
    /// What.
    pub bytes: Arc<[u8]>,
}

/// What has happened so far, counted for each receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkCounters {
    /// Were received.
    pub delivered: u64,
    /// Were lost on the way.
    pub lost: u64,
    /// Found the queue of a narrow link full.
    pub queue_full: u64,
    /// Found the receiver's buffer full.
    pub buffer_full: u64,
    /// Met a link that is cut, or a host that is down.
    pub cut: u64,
    /// Arrived twice.
    pub duplicated: u64,
    /// Arrived with a bit turned over.
    pub damaged: u64,
    /// Were sent to where nobody is.
    pub nowhere: u64,
}

/// Hosts, their ports, and what is under way between them.
#[derive(Debug)]
pub struct Network {
    hosts: Vec<Host>,
    sockets: BTreeMap<SocketId, Socket>,
    paths: BTreeMap<(HostId, HostId), Path>,
    usual: Conditions,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    /// How many datagrams were sent to a receiver, and sockets opened: a name for each.
    names: u64,
    dice: Dice,
    counters: NetworkCounters,
}

#[derive(Debug)]
struct Host {
    is_up: bool,
    /// Its programs are stopped until then.
    frozen_until: Instant,
    handling: Duration,
    receive_buffer: Option<usize>,
}

#[derive(Debug)]
struct Socket {
    host: HostId,
    port: u16,
    loopback_only: bool,
    group: Option<Ipv4Addr>,
    buffer: usize,
    queue: VecDeque<Arc<[u8]>>,
    queued: usize,
    /// Datagrams that its buffer had no room for.
    dropped: u64,
    /// When the receiver has done with what it has.
    busy_until: Instant,
}

/// Something that happens later. Ordered by time, then by the order of the sends.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    at: Instant,
    name: u64,
    socket: SocketId,
    what: Step,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The datagram comes to the host.
    Comes(Arc<[u8]>),
    /// The receiver takes the oldest one out of its buffer.
    IsTaken,
}

impl Network {
    /// A network without hosts, whose links are `usual` unless told otherwise.
    #[must_use]
    pub fn new(seed: u64, usual: Conditions) -> Self {
        Self {
            hosts: Vec::new(),
            sockets: BTreeMap::new(),
            paths: BTreeMap::new(),
            usual,
            under_way: BinaryHeap::new(),
            names: 0,
            dice: Dice::new(seed),
            counters: NetworkCounters::default(),
        }
    }

    /// One more host; `None` after the 65 000th.
    pub fn add_host(&mut self) -> Option<HostId> {
        let id = u16::try_from(self.hosts.len()).ok().filter(|&id| id < 65_000)?;
        self.hosts.push(Host { is_up: true, frozen_until: Instant::ZERO, handling: HANDLING, receive_buffer: None });
        Some(HostId(id))
    }

    /// The address of a host: 10.77.0.1 for the first.
    #[must_use]
    pub fn address(host: HostId) -> Ipv4Addr {
        let [high, low] = (host.0 + 1).to_be_bytes();
        Ipv4Addr::new(NETWORK[0], NETWORK[1], high, low)
    }

    /// Whether an address is one of this network, whether or not a host has it.
    #[must_use]
    pub fn contains(address: Ipv4Addr) -> bool {
        address.octets().starts_with(&NETWORK)
    }

    /// How many bits of an address name the network.
    pub const PREFIX_LEN: u8 = 16;

    /// Opens a port of a host: the one asked for, or a free one. With `group` it hears what is sent to that group, and
    /// shares its port with others. `buffer` is how many bytes may wait to be received.
    ///
    /// # Errors
    /// The port is taken.
    pub fn open(
        &mut self,
        host: HostId,
        port: Option<u16>,
        group: Option<Ipv4Addr>,
        loopback_only: bool,
        buffer: usize,
    ) -> Result<SocketId, PortInUse> {
        let is_free = |network: &Self, port: u16| {
            !network.sockets.values().any(|socket| socket.host == host && socket.port == port && socket.group.is_none())
        };
        let port = match port {
            Some(port) if group.is_some() || is_free(self, port) => port,
            Some(port) => return Err(PortInUse(port)),
            None => (FIRST_EPHEMERAL..=u16::MAX).find(|&port| is_free(self, port)).ok_or(PortInUse(u16::MAX))?,
        };
        let id = SocketId(self.name());
        let buffer = self.hosts.get(usize::from(host.0)).and_then(|host| host.receive_buffer).unwrap_or(buffer);
        let (queue, queued, busy_until) = (VecDeque::new(), 0, Instant::ZERO);
        self.sockets
            .insert(id, Socket { host, port, loopback_only, group, buffer, queue, queued, dropped: 0, busy_until });
        Ok(id)
    }

    /// The port of a socket, if it is open.
    #[must_use]
    pub fn port(&self, socket: SocketId) -> Option<u16> {
        self.sockets.get(&socket).map(|socket| socket.port)
    }

    /// Closes a port; what is under way to it comes to nobody.
    pub fn close(&mut self, socket: SocketId) {
        self.sockets.remove(&socket);
    }

    /// Sends from a host. `loopback_only`: from a socket that is bound to the host's loopback, which does not reach others.
    pub fn send(&mut self, now: Instant, from: HostId, loopback_only: bool, to: Locator, bytes: &Arc<[u8]>) {
        let receivers = self.receivers(from, loopback_only, to);
        if receivers.is_empty() {
            self.counters.nowhere += 1;
        }
        for (socket, host) in receivers {
            let leaving = Leaving { at: now, len: bytes.len(), multicast: to.is_multicast() };
            let arrivals = self.pass(from, host, &leaving);
            for at in arrivals {
                let what = Step::Comes(self.perhaps_damaged(from, host, bytes));
                let name = self.name();
                self.under_way.push(Reverse(UnderWay { at, name, socket, what }));
            }
        }
    }

    /// When something happens next.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.under_way.peek().map(|Reverse(next)| next.at)
    }

    /// The next datagram that was received up to now.
    pub fn poll(&mut self, now: Instant) -> Option<Arrival> {
        while self.next().is_some_and(|next| next <= now) {
            let Reverse(UnderWay { at, name, socket: id, what }) = self.under_way.pop()?;
            let Some(socket) = self.sockets.get_mut(&id) else { continue };
            let Some(host) = self.hosts.get(usize::from(socket.host.0)) else { continue };
            if !host.is_up {
                self.counters.cut += 1;
                continue;
            }
            match what {
                // What finds the buffer empty gets in whatever its length, as on Linux: of a fragment of 65 000 bytes a smaller
                // buffer has room for one.
                Step::Comes(bytes) if socket.queued > 0 && socket.queued + bytes.len() > socket.buffer => {
                    socket.dropped += 1;
                    self.counters.buffer_full += 1;
                }
                Step::Comes(bytes) => {
                    socket.queued += bytes.len();
                    socket.queue.push_back(bytes);
                    let at = socket.takes_next_at(at, host);
                    let name = self.name();
                    self.under_way.push(Reverse(UnderWay { at, name, socket: id, what: Step::IsTaken }));
                }
                // It has come before its host was frozen, and stays where it is.
                Step::IsTaken if at < host.frozen_until => {
                    let at = socket.takes_next_at(at, host);
                    self.under_way.push(Reverse(UnderWay { at, name, socket: id, what: Step::IsTaken }));
                }
                Step::IsTaken => {
                    let Some(bytes) = socket.queue.pop_front() else { continue };
                    socket.queued -= bytes.len();
                    self.counters.delivered += 1;
                    return Some(Arrival { socket: id, bytes });
                }
            }
        }
        None
    }

    /// What links do that nothing else was said of.
    pub fn set_usual(&mut self, conditions: Conditions) {
        self.usual = conditions;
    }

    /// What one direction of a link does from now on.
    pub fn set_conditions(&mut self, from: HostId, to: HostId, conditions: Conditions) {
        self.path(from, to).own = Some(conditions);
    }

    /// What one direction of a link does.
    #[must_use]
    pub fn conditions(&self, from: HostId, to: HostId) -> Conditions {
        // Within a host nothing gets lost, unless told so.
        let unless_told = if from == to { Conditions { mtu: 65_507, ..Conditions::perfect() } } else { self.usual };
        self.paths.get(&(from, to)).and_then(|path| path.own).unwrap_or(unless_told)
    }

    /// Cuts one direction of a link, or mends it. What is under way still arrives.
    pub fn set_cut(&mut self, from: HostId, to: HostId, is_cut: bool) {
        self.path(from, to).is_cut = is_cut;
    }

    /// Switches a host off, or on again. What waits in its buffers is gone.
    pub fn set_up(&mut self, host: HostId, is_up: bool) {
        if let Some(host) = self.hosts.get_mut(usize::from(host.0)) {
            host.is_up = is_up;
        }
        if !is_up {
            for socket in self.sockets.values_mut().filter(|socket| socket.host == host) {
                socket.queue.clear();
                socket.queued = 0;
            }
        }
    }

    /// Stops the programs of a host until then: what comes meanwhile fills its buffers. An earlier time than before lets them
    /// go on earlier with what comes from now on.
    pub fn set_frozen(&mut self, host: HostId, until: Instant) {
        if let Some(host) = self.hosts.get_mut(usize::from(host.0)) {
            host.frozen_until = until;
        }
    }

    /// What a host needs to receive a datagram. Default: 10 us.
    pub fn set_handling(&mut self, host: HostId, handling: Duration) {
        if let Some(host) = self.hosts.get_mut(usize::from(host.0)) {
            host.handling = handling;
        }
    }

    /// How many bytes may wait in each of a host's sockets, whatever they asked for: the `rmem_max` of a system.
    pub fn set_receive_buffer(&mut self, host: HostId, bytes: usize) {
        if let Some(host) = self.hosts.get_mut(usize::from(host.0)) {
            host.receive_buffer = Some(bytes);
        }
        self.sockets.values_mut().filter(|socket| socket.host == host).for_each(|socket| socket.buffer = bytes);
    }

    /// How many bytes may wait in a socket, if it is open.
    #[must_use]
    pub fn receive_buffer(&self, socket: SocketId) -> Option<usize> {
        self.sockets.get(&socket).map(|socket| socket.buffer)
    }

    /// How many datagrams a socket had no room for.
    #[must_use]
    pub fn dropped(&self, socket: SocketId) -> u64 {
        self.sockets.get(&socket).map_or(0, |socket| socket.dropped)
    }

    /// What has happened so far.
    #[must_use]
    pub fn counters(&self) -> NetworkCounters {
        self.counters
    }

    fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    fn receivers(&self, from: HostId, loopback_only: bool, to: Locator) -> Vec<(SocketId, HostId)> {
        let Some(IpAddr::V4(address)) = to.to_socket_addr().map(|to| to.ip()) else { return Vec::new() };
        if to.kind != LocatorKind::UdpV4 {
            return Vec::new();
        }
        let hears = |socket: &Socket| {
            let in_reach = match (loopback_only, socket.loopback_only) {
                (false, false) => true,
                // Loopback meets loopback, of one host.
                (true, true) => socket.host == from,
                // A socket of all interfaces hears its own host's loopback, too.
                (true, false) => socket.host == from && address.is_loopback(),
                (false, true) => socket.host == from && address.is_loopback(),
            };
            let is_meant = if address.is_multicast() {
                socket.group == Some(address)
            } else if address.is_loopback() {
                socket.group.is_none() && socket.host == from
            } else {
                socket.group.is_none() && address == Self::address(socket.host)
            };
            in_reach && is_meant && u32::from(socket.port) == to.port
        };
        let receivers = self.sockets.iter().filter(|(_, socket)| hears(socket));
        receivers.map(|(id, socket)| (*id, socket.host)).collect()
    }

    fn pass(&mut self, from: HostId, to: HostId, leaving: &Leaving) -> Arrivals {
        if !self.hosts.get(usize::from(from.0)).is_some_and(|host| host.is_up) {
            self.counters.cut += 1;
            return Arrivals::new();
        }
        let conditions = self.conditions(from, to);
        let path = self.paths.entry((from, to)).or_default();
        path.pass(leaving, &conditions, &mut self.dice, &mut self.counters)
    }

    fn perhaps_damaged(&mut self, from: HostId, to: HostId, bytes: &Arc<[u8]>) -> Arc<[u8]> {
        let share = self.conditions(from, to).damaged;
        if bytes.is_empty() || !self.dice.falls(share) {
            return Arc::clone(bytes);
        }
        self.counters.damaged += 1;
        let mut damaged = bytes.to_vec();
        let bit = self.dice.below(damaged.len() as u64 * 8);
        if let Some(byte) = damaged.get_mut((bit / 8) as usize) {
            *byte ^= 1 << (bit % 8);
        }
        damaged.into()
    }

    fn path(&mut self, from: HostId, to: HostId) -> &mut Path {
        self.paths.entry((from, to)).or_default()
    }
}

impl Socket {
    /// When the receiver will have taken the next datagram out of the buffer, if it can begin with that at `at`.
    fn takes_next_at(&mut self, at: Instant, host: &Host) -> Instant {
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
    fn pair() -> (Network, [HostId; 2], [SocketId; 2]) {
        let mut network = Network::new(1, Conditions::perfect());
        let hosts = [0, 1].map(|_| network.add_host().unwrap());
        let sockets = hosts.map(|host| network.open(host, Some(7410), None, false, ROOM).unwrap());
        (network, hosts, sockets)
    }

    fn unicast(host: HostId) -> Locator {
        Locator::udp_v4(Network::address(host), 7410)
    }

    fn received(network: &mut Network) -> Vec<SocketId> {
        std::iter::from_fn(|| network.poll(at(1_000_000))).map(|arrival| arrival.socket).collect()
    }

    #[test]
    fn a_datagram_arrives_after_its_delay_and_is_taken_after_its_handling() {
        let (mut network, hosts, sockets) = pair();
        network.send(at(0), hosts[0], false, unicast(hosts[1]), &[1, 2, 3].into());
        assert_eq!(network.next(), Some(at(10)));
        assert_eq!(network.poll(at(10)), None);
        assert_eq!(network.next(), Some(at(20)));
        assert_eq!(network.poll(at(20)), Some(Arrival { socket: sockets[1], bytes: [1, 2, 3].into() }));
        assert_eq!(network.next(), None);
    }

    #[test]
    fn a_group_is_heard_by_all_its_members_and_nobody_else() {
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
        network.send(at(0), hosts[1], false, Locator::udp_v4(Network::address(hosts[0]), 7412), &[1].into());
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
    fn a_port_has_one_owner_until_it_is_closed() {
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
    fn what_does_not_fit_the_buffer_is_lost() {
        let (mut network, hosts, _) = pair();
        network.set_receive_buffer(hosts[1], 2500);
        (0..5).for_each(|_| network.send(at(0), hosts[0], false, unicast(hosts[1]), &vec![0; 1000].into()));
        assert_eq!(received(&mut network).len(), 2);
        assert_eq!(network.counters().buffer_full, 3);
    }

    #[test]
    fn an_empty_buffer_takes_one_datagram_whatever_its_length() {
        let (mut network, hosts, sockets) = pair();
        network.set_receive_buffer(hosts[1], 2500);
        assert_eq!(network.receive_buffer(sockets[1]), Some(2500));
        (0..2).for_each(|_| network.send(at(0), hosts[0], false, unicast(hosts[1]), &vec![0; 9000].into()));
        assert_eq!((received(&mut network).len(), network.counters().buffer_full), (1, 1));
    }

    #[test]
    fn a_host_that_is_down_neither_sends_nor_receives() {
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
    fn a_frozen_host_takes_what_has_come_when_it_goes_on() {
        let (mut network, hosts, _) = pair();
        // Two are in its buffer already, the others come later.
        (0..2).for_each(|number| network.send(at(0), hosts[0], false, unicast(hosts[1]), &[number].into()));
        assert_eq!(network.poll(at(15)), None);
        network.set_frozen(hosts[1], at(1000));
        (2..5).for_each(|number| network.send(at(500), hosts[0], false, unicast(hosts[1]), &[number].into()));
        assert_eq!(network.poll(at(999)), None);
        let taken = |network: &mut Network, now| -> Vec<u8> {
            std::iter::from_fn(|| network.poll(now)).map(|arrival| arrival.bytes[0]).collect()
        };
        assert_eq!(taken(&mut network, at(1010)), [0]);
        assert_eq!(taken(&mut network, at(1050)), [1, 2, 3, 4]);
        assert_eq!((network.next(), network.counters().delivered), (None, 5));
    }

    #[test]
    fn what_does_not_fit_the_buffer_of_a_frozen_host_is_lost() {
        let (mut network, hosts, sockets) = pair();
        network.set_receive_buffer(hosts[1], 2500);
        network.set_frozen(hosts[1], at(1000));
        let one_by_one = (0..5).map(|number| number * 100);
        one_by_one.for_each(|sent| network.send(at(sent), hosts[0], false, unicast(hosts[1]), &vec![0; 1000].into()));
        assert_eq!(received(&mut network).len(), 2);
        assert_eq!((network.counters().buffer_full, network.dropped(sockets[1])), (3, 3));
    }

    #[test]
    fn damage_turns_one_bit() {
        let (mut network, hosts, _) = pair();
        network.set_conditions(hosts[0], hosts[1], Conditions::perfect().damaging(1.0));
        network.send(at(0), hosts[0], false, unicast(hosts[1]), &[0; 100].into());
        let arrival = network.poll(at(1000)).unwrap();
        assert_eq!(arrival.bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
}
