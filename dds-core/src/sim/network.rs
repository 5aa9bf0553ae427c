//! The sockets of one participant in the world.

use super::world::{SimInbox, World};
use crate::actor::Poke;
use crate::driver::{FaultyTransport, Locators, Network, NetworkConfig, NetworkError, Reach, Receive, Socket, Timers};
use dds_rtps::concurrent::SlotPool;
use dds_rtps::discovery::HostAddress;
use dds_rtps::output::Datagram;
use dds_rtps::sim::{self, HostId, PortInUse, SocketId};
use dds_rtps::transport::{RECEIVE_BUFFER, SendOutcome, Transport, TransportCounters};
use dds_rtps::types::{Locator, LocatorKind, PortMapping};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Number of participants of a host that have well-known ports.
const INDEXES: u32 = 120;

/// Number of participant indexes that discovery tries on a peer.
const PEER_INDEXES: u32 = 32;

/// Largest UDP payload over IPv4: 65 535 bytes less 20 bytes of IP header and 8 bytes of UDP header.
const DATAGRAM_MAX: usize = 65_507;

/// Number of unused receive buffer slots that the sockets of a participant keep.
const SLOTS_MAX: usize = 64;

/// The open sockets of a participant.
#[derive(Debug)]
pub(super) struct SimNetwork {
    world: Arc<World>,
    host: HostId,
    locators: Arc<Locators>,
    transport: Arc<dyn Transport>,
    sockets: Vec<(SocketId, Socket)>,
    started: AtomicBool,
    stopped: AtomicBool,
}

impl SimNetwork {
    pub(super) fn open(
        config: &NetworkConfig,
        world: Arc<World>,
        host: HostId,
        timers: &Arc<Timers>,
    ) -> Result<Arc<Self>, NetworkError> {
        // A tap writes a capture file in real time, which a simulation does not have.
        if config.tap.is_some() {
            return Err(NetworkError::NotSimulated { setting: "tap" });
        }
        let ports = PortMapping::default();
        let group_port = ports.metatraffic_multicast(config.domain_id).ok_or(NetworkError::Domain(config.domain_id))?;
        let opened = match open_sockets(config, &world, host, ports, group_port) {
            Ok(opened) => opened,
            Err(error) => {
                return Err(NetworkError::Io { what: "open a port", source: io::Error::other(error) });
            }
        };
        // A participant with host scope must not reach other hosts, even if a peer is configured.
        let loopback_only = config.reach == Reach::Host;
        let sent = SimTransport {
            world: Arc::clone(&world),
            host,
            loopback_only,
            multicast: config.multicast,
            counters: Mutex::default(),
        };
        let transport: Arc<dyn Transport> = match config.faults {
            Some(faults) => {
                let clock = Arc::clone(&world);
                FaultyTransport::new(Arc::new(sent), faults, timers, move || clock.look(host).instant)
            }
            None => Arc::new(sent),
        };
        Ok(Arc::new(Self {
            host,
            locators: Arc::new(locators(config, host, ports, group_port, &opened)),
            transport,
            sockets: opened.sockets,
            started: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            world,
        }))
    }
}

/// The sockets and ports that a participant opened.
struct Opened {
    sockets: Vec<(SocketId, Socket)>,
    metatraffic: u16,
    user: u16,
    index: Option<u32>,
}

fn open_sockets(
    config: &NetworkConfig,
    world: &World,
    host: HostId,
    ports: PortMapping,
    group_port: u16,
) -> Result<Opened, PortInUse> {
    let network = &mut world.state().network;
    let loopback_only = config.reach == Reach::Host;
    let receive_buffer = config.receive_buffer.unwrap_or(RECEIVE_BUFFER);
    let mut open = |port, group| network.open(host, port, group, loopback_only, receive_buffer);
    // A participant takes the first index whose metatraffic port is free.
    let mut found = None;
    for index in 0..INDEXES {
        let Some(port) = ports.metatraffic_unicast(config.domain_id, index) else { continue };
        if let Ok(socket) = open(Some(port), None) {
            found = Some((index, socket));
            break;
        }
    }
    let (metatraffic, user_port, index) = match found {
        Some((index, socket)) => (socket, ports.user_unicast(config.domain_id, index), Some(index)),
        // All well-known ports are taken. Any free port does, because discovery announces it.
        None => (open(None, None)?, None, None),
    };
    let user = match open(user_port, None) {
        Ok(socket) => socket,
        Err(_) => open(None, None)?,
    };
    let mut sockets = vec![(metatraffic, Socket::MetatrafficUnicast), (user, Socket::UserUnicast)];
    if config.multicast {
        let group = Some(PortMapping::DISCOVERY_GROUP);
        // All participants of a host share the port of the group (RTPS 2.5, 9.6.2.3).
        sockets.push((open(Some(group_port), group)?, Socket::MetatrafficMulticast));
    }
    let port = |socket| network.port(socket).unwrap_or(0);
    Ok(Opened { metatraffic: port(metatraffic), user: port(user), sockets, index })
}

fn locators(config: &NetworkConfig, host: HostId, ports: PortMapping, group_port: u16, opened: &Opened) -> Locators {
    let own = if config.reach == Reach::Host { Ipv4Addr::LOCALHOST } else { sim::VirtualNetwork::address(host) };
    let mut group = Vec::new();
    if config.multicast {
        group.push(Locator::udp_v4(PortMapping::DISCOVERY_GROUP, group_port));
    }
    let mut peers = config.peers.clone();
    // Without multicast and peers, only participants of the same host can be found.
    if !config.multicast && peers.is_empty() {
        peers.push((Ipv4Addr::LOCALHOST, 0).into());
    }
    let mut initial_peers = group.clone();
    for peer in peers {
        match peer.port() {
            // The well-known ports of the host.
            0 => initial_peers.extend(ports.participants_on(peer.ip(), config.domain_id, PEER_INDEXES)),
            _ => initial_peers.push(Locator::from(peer)),
        }
    }
    Locators {
        metatraffic_unicast: vec![Locator::udp_v4(own, opened.metatraffic)],
        metatraffic_multicast: group,
        default_unicast: vec![Locator::udp_v4(own, opened.user)],
        initial_peers,
        host_addresses: vec![HostAddress {
            address: sim::VirtualNetwork::address(host).into(),
            prefix_len: sim::VirtualNetwork::PREFIX_LEN,
        }],
        participant_index: opened.index,
    }
}

impl Network for SimNetwork {
    fn locators(&self) -> Arc<Locators> {
        Arc::clone(&self.locators)
    }

    fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    fn receive_buffer_granted(&self) -> usize {
        let state = self.world.state();
        for &(id, socket) in &self.sockets {
            if socket == Socket::UserUnicast {
                return state.network.receive_buffer(id).unwrap_or(0);
            }
        }
        0
    }

    fn dropped(&self) -> Option<u64> {
        let state = self.world.state();
        let mut dropped = 0;
        for &(id, socket) in &self.sockets {
            if socket == Socket::UserUnicast {
                dropped += state.network.dropped(id);
            }
        }
        Some(dropped)
    }

    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()> {
        // A socket has one receiver, so a network starts once.
        if self.stopped.load(Ordering::Acquire) || self.started.swap(true, Ordering::AcqRel) {
            return Err(io::Error::other("the network was started or stopped before"));
        }
        let pool = Arc::new(SlotPool::new(SLOTS_MAX));
        let mut state = self.world.state();
        for &(id, socket) in &self.sockets {
            let (receive, pool) = (Arc::clone(&receive), Arc::clone(&pool));
            state.add_inbox(id, SimInbox { host: self.host, socket, receive, pool });
        }
        Ok(())
    }

    fn when_writable(&self, cell: Weak<dyn Poke>) {
        self.world.state().tell_of_room(self.host, cell);
    }

    fn stop(&self) {
        // An inbox may own the last reference to a participant, whose end locks the world. Drop it after the lock is
        // released.
        if self.stopped.swap(true, Ordering::AcqRel) {
            return;
        }
        let closed: Vec<Option<SimInbox>> = {
            let mut state = self.world.state();
            self.sockets.iter().map(|(socket, _)| state.close_socket(*socket)).collect()
        };
        drop(closed);
    }
}

impl Drop for SimNetwork {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sends into the world, whose hosts have one IPv4 interface each.
#[derive(Debug)]
struct SimTransport {
    world: Arc<World>,
    host: HostId,
    loopback_only: bool,
    multicast: bool,
    counters: Mutex<TransportCounters>,
}

/// Why the operating system of a host refuses to send a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendRefusal {
    Unsupported,
    TooLong,
    Unreachable,
}

impl SimTransport {
    /// Returns the error that an operating system reports at once. It does not know whether a socket receives there.
    fn refuses(&self, destination: Locator, len: usize) -> Option<SendRefusal> {
        let address = match destination.to_socket_addr() {
            Some(SocketAddr::V4(address)) if destination.kind == LocatorKind::UdpV4 => *address.ip(),
            // A simulated network has IPv4 only.
            _ => return Some(SendRefusal::Unsupported),
        };
        let has_route = match address {
            _ if address.is_multicast() => self.multicast,
            _ if address.is_loopback() || address == sim::VirtualNetwork::address(self.host) => true,
            _ => !self.loopback_only && sim::VirtualNetwork::contains(address),
        };
        if !has_route {
            return Some(SendRefusal::Unreachable);
        }
        if len > DATAGRAM_MAX { Some(SendRefusal::TooLong) } else { None }
    }
}

impl Transport for SimTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::with_capacity(datagram.len());
        datagram.copy_to(&mut bytes);
        let bytes: Arc<[u8]> = bytes.into();
        let mut state = self.world.state();
        while let Some(&destination) = datagram.remaining_destinations().first() {
            // The share is drawn for each destination, so a datagram may block halfway, as it does on a real socket.
            let share = state.interference.blocked;
            if state.random.happens(share) {
                counters.blocked += 1;
                state.interfered.blocked += 1;
                return SendOutcome::Blocked;
            }
            match self.refuses(destination, bytes.len()) {
                None => {
                    state.send(self.host, self.loopback_only, destination, datagram.traffic_class(), &bytes);
                    counters.sent += 1;
                    counters.sent_bytes += bytes.len() as u64;
                }
                Some(SendRefusal::Unsupported) => counters.unsupported += 1,
                Some(SendRefusal::TooLong) => {
                    counters.failed += 1;
                    counters.too_long += 1;
                }
                Some(SendRefusal::Unreachable) => {
                    counters.failed += 1;
                    counters.unreachable += 1;
                }
            }
            datagram.destination_done();
        }
        SendOutcome::Done
    }

    fn counters(&self) -> TransportCounters {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
