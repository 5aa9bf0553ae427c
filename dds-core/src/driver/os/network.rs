//! A participant's UDP sockets, and who waits for them.

use super::Shared;
use super::addressing::{Addressing, Receivers};
use super::clock::Clock;
use super::landings::{Arrival, Landings};
use super::naming::Naming;
use super::presence::Beacon;
use super::tap::{OpenTap, Recorder};
use crate::actor::{Effects, Poke, Signals};
use crate::driver::{
    Expected, FaultyTransport, Locators, Network, NetworkConfig, NetworkError, Packet, Parker, Presence, Reach,
    Receive, Role, Socket,
};
use crate::sync::{Arc, AtomicBool, Lock, Ordering, Weak};
use dds_rtps::history::{SlotMut, SlotPool};
use dds_rtps::transport::Transport;
use dds_rtps::transport::udp::{
    Gauge, Received, UdpConfig, UdpError, UdpReceiver, UdpSockets, UdpTransport, dropped, interrupt, peek_sender,
};
use dds_rtps::types::{GuidPrefix, Locator};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::runtime;
use tokio::task::AbortHandle;

/// Room for any UDP datagram.
const SLOT_LEN: usize = 64 << 10;

/// How many slots a receiver remembers: what readers hold beyond 4 MiB of large samples lives on the heap.
const SLOTS_MAX: usize = 64;

/// How many slots of small packets a receiver remembers: an inbox full.
const SMALL_SLOTS_MAX: usize = 256;

/// How many datagrams one socket of discovery may have handled in a row, about 100 us: a flood there must not keep timers
/// from firing.
const BURST: usize = 16;

/// How often the interfaces are looked at: an address that changes is announced within that time. Mostly the look is one system call,
/// which says that nothing is new.
const LOOK_PERIOD: Duration = Duration::from_secs(2);

/// How many errors in a row a receiver takes for passing ones, before it begins to pause after each.
const ERRORS_IN_A_ROW: u32 = 16;

/// The pause, so that a socket in trouble does not take a core.
const ERROR_PAUSE: Duration = Duration::from_millis(10);

/// The open sockets.
pub(super) struct OsNetwork {
    addressing: Arc<Addressing>,
    /// Whether interfaces can come and go: loopback alone stays.
    follows: bool,
    /// The peers that are given by name, until they are looked after.
    naming: Lock<Option<Naming>>,
    receive_buffer: usize,
    transport: Arc<dyn Transport>,
    tap: Option<OpenTap>,
    /// One for each version of IP.
    user_unicast: Vec<Arc<UdpSocket>>,
    /// Discovery's sockets, until they are received from.
    metatraffic: Lock<Option<Vec<(UdpSocket, Socket)>>>,
    tasks: Lock<Vec<AbortHandle>>,
    stopped: Arc<AtomicBool>,
    beacon: Beacon,
    gauge: Gauge,
    room: Arc<Room>,
    shared: Arc<Shared>,
    runtime: runtime::Handle,
}

impl OsNetwork {
    pub(super) fn open(
        config: &NetworkConfig,
        shared: Arc<Shared>,
        runtime: runtime::Handle,
    ) -> Result<Arc<Self>, NetworkError> {
        let udp = UdpConfig {
            domain_id: config.domain_id,
            host_only: config.reach == Reach::Host,
            multicast: config.multicast,
            interfaces: config.interfaces.clone(),
            families: config.families,
            multicast_ttl: config.multicast_ttl,
            receive_buffer: config.receive_buffer,
            send_buffer: config.send_buffer,
            ..UdpConfig::default()
        };
        let sockets = UdpSockets::open(&udp)?;
        let tap = config.tap.as_deref().map(|path| OpenTap::new(path, &sockets)).transpose()?;
        let (receive_buffer, transport) = (sockets.receive_buffer, Arc::clone(&sockets.transport));
        let (addressing, receivers) = Addressing::new(config, &udp, sockets)
            .map_err(|source| NetworkError::Io { what: "read the bound ports", source })?;
        let Receivers { metatraffic_multicast, metatraffic_unicast, user_unicast } = receivers;
        let multicast = metatraffic_multicast.into_iter().map(|socket| (socket, Socket::MetatrafficMulticast));
        let unicast = metatraffic_unicast.into_iter().map(|socket| (socket, Socket::MetatrafficUnicast));
        let naming = Naming::new(&config.peer_names, config.resolve, Clock::new().now().instant);
        addressing.set_named_peers(naming.addresses());
        naming.addresses().iter().for_each(|peer| transport.note_sender(*peer));
        let udp = transport;
        let transport: Arc<dyn Transport> = match &tap {
            Some(tap) => Arc::new(tap.around(Arc::clone(&udp))),
            None => Arc::clone(&udp) as _,
        };
        // Outside of the tap, which so shows what is left.
        let transport = match config.faults {
            Some(faults) => {
                let clock = Clock::new();
                FaultyTransport::new(transport, faults, &shared.timers, move || clock.now().instant)
            }
            None => transport,
        };
        Ok(Arc::new(Self {
            addressing: Arc::new(addressing),
            follows: config.reach != Reach::Host,
            naming: Lock::new(Some(naming)),
            receive_buffer,
            transport,
            tap,
            user_unicast: user_unicast.into_iter().map(Arc::new).collect(),
            metatraffic: Lock::new(Some(multicast.chain(unicast).collect())),
            tasks: Lock::default(),
            stopped: Arc::new(AtomicBool::new(false)),
            beacon: Beacon::new(),
            gauge: Gauge::new(),
            room: Arc::new(Room { transport: udp, waiting: Lock::default() }),
            shared,
            runtime,
        }))
    }
}

impl OsNetwork {
    fn inbound(&self, socket: &UdpSocket, kind: Socket, receive: &Arc<dyn Receive>) -> Inbound {
        Inbound {
            pool: SlotPool::new(SLOTS_MAX),
            small: Arc::new(SlotPool::new(SMALL_SLOTS_MAX)),
            socket: kind,
            receive: Arc::clone(receive),
            recorder: self.tap.as_ref().map(|tap| tap.recorder(socket, kind)),
        }
    }
}

impl Network for OsNetwork {
    fn locators(&self) -> Arc<Locators> {
        self.addressing.locators()
    }

    fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    fn receive_buffer_granted(&self) -> usize {
        self.receive_buffer
    }

    fn dropped(&self) -> Option<u64> {
        self.user_unicast.iter().map(|socket| dropped(socket)).sum()
    }

    fn room_at(&self, locator: &Locator) -> Option<usize> {
        self.gauge.room_at(locator.to_socket_addr()?)
    }

    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()> {
        let metatraffic = self.metatraffic.lock().take();
        let (Some(metatraffic), false) = (metatraffic, self.stopped.load(Ordering::Acquire)) else {
            return Err(io::Error::other("the network was started or stopped before"));
        };
        for socket in &self.user_unicast {
            let user = ReceiveThread {
                receiver: UdpReceiver::new(Arc::clone(socket)),
                stopped: Arc::clone(&self.stopped),
                inbound: self.inbound(socket, Socket::UserUnicast, &receive),
            };
            self.shared.spawn("dds-receive", Role::Receive, Box::new(move || user.run()))?;
        }
        let mut tasks = self.tasks.lock();
        for (socket, kind) in metatraffic {
            let inbound = self.inbound(&socket, kind, &receive);
            let transport = Arc::clone(&self.room.transport);
            tasks.push(self.runtime.spawn(receive_task(socket, inbound, transport)).abort_handle());
        }
        let naming = self.naming.lock().take().filter(|naming| !naming.is_empty());
        if self.follows || naming.is_some() {
            let transport = Arc::clone(&self.room.transport);
            let following = follow(Arc::clone(&self.addressing), receive, self.follows, naming, transport);
            tasks.push(self.runtime.spawn(following).abort_handle());
        }
        // A stop that came in between has found no task.
        if self.stopped.load(Ordering::Acquire) {
            tasks.drain(..).for_each(|task| task.abort());
        }
        Ok(())
    }

    fn when_writable(&self, cell: Weak<dyn Poke>) {
        if self.room.enlist(cell) {
            self.runtime.spawn(Arc::clone(&self.room).announce());
        }
    }

    fn show_presence(&self, prefix: GuidPrefix) {
        self.beacon.show(prefix);
    }

    fn presence(&self, prefix: GuidPrefix) -> Presence {
        self.beacon.look_for(prefix)
    }

    fn stop(&self) {
        if self.stopped.swap(true, Ordering::AcqRel) {
            return;
        }
        self.user_unicast.iter().for_each(|socket| interrupt(socket));
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }
}

impl Drop for OsNetwork {
    fn drop(&mut self) {
        // `interrupt` would reach through to the parent's sockets.
        if !self.shared.is_forked() {
            self.stop();
        }
    }
}

impl From<UdpError> for NetworkError {
    fn from(error: UdpError) -> Self {
        match error {
            UdpError::Domain(domain) => Self::Domain(domain),
            UdpError::NoInterface => Self::NoInterface,
            UdpError::Io { what, source } => Self::Io { what, source },
        }
    }
}

/// Looks at the interfaces now and then, and tells who receives when they have changed what is to be announced.
async fn follow(
    addressing: Arc<Addressing>,
    receive: Arc<dyn Receive>,
    follows: bool,
    mut naming: Option<Naming>,
    transport: Arc<UdpTransport>,
) {
    let clock = Clock::new();
    loop {
        tokio::time::sleep(LOOK_PERIOD).await;
        let renamed = naming.as_mut().is_some_and(|naming| {
            let found = naming.look(clock.now().instant, look_up);
            found && {
                // A link-local address was found with its link.
                naming.addresses().iter().for_each(|peer| transport.note_sender(*peer));
                addressing.set_named_peers(naming.addresses())
            }
        });
        let moved = follows && addressing.look();
        if (renamed || moved) && catch_unwind(AssertUnwindSafe(|| receive.locators_changed())).is_err() {
            tracing::error!("panic while new addresses were taken over; please report this bug");
        }
    }
}

/// Runs a look-up of names on a thread of its own, which nobody waits for: it may take as long as the system's resolver likes.
#[allow(clippy::disallowed_methods, reason = "this is the driver; and a thread of the participant would be waited for")]
fn look_up(search: Box<dyn FnOnce() + Send>) {
    if let Err(error) = std::thread::Builder::new().name("dds-resolve".to_owned()).spawn(search) {
        tracing::warn!(%error, "the peers' names are not looked up any more: no thread could be started");
    }
}

/// From a socket to the participant, by slots that may be kept.
struct Inbound {
    pool: SlotPool,
    /// For small packets that have to wait in a queue.
    small: Arc<SlotPool>,
    socket: Socket,
    receive: Arc<dyn Receive>,
    recorder: Option<Recorder>,
}

impl Inbound {
    /// A slot whose buffer has room for any datagram. Its memory is made, and zeroed by the system, once.
    fn slot(&self) -> SlotMut {
        let mut slot = self.pool.acquire();
        if slot.buffer().len() < SLOT_LEN {
            *slot.buffer() = vec![0; SLOT_LEN];
        }
        slot
    }

    /// Takes what one call has received; at most 64 KiB, however many datagrams they are. `expected` becomes what is expected
    /// next, if the next one can land: in its place, for it is large, and there mostly is none.
    fn take(
        &self,
        slot: SlotMut,
        received: Received,
        sender: Option<SocketAddr>,
        expected: Option<&mut Option<Expected>>,
    ) {
        let whole = self.pool.freeze(slot);
        let lands = expected.is_some();
        let mut none = None;
        let expected = expected.unwrap_or(&mut none);
        for datagram in received.datagrams() {
            let payload = whole.slice(datagram);
            if let Some(recorder) = &self.recorder {
                recorder.record(sender, payload.bytes());
            }
            let mut packet = Packet::new(payload, self.socket, Arc::clone(&self.small));
            packet.lands = lands;
            self.contained(|| *expected = self.receive.receive(&packet));
        }
    }

    /// Cells stop their own panics; this is for what lies before them. One packet is lost, not the thread.
    fn contained(&self, handle: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(handle)).is_err() {
            tracing::error!(socket = ?self.socket, "panic while a packet was handled; please report this bug");
        }
    }
}

/// Blocks on the user-data socket.
struct ReceiveThread {
    receiver: UdpReceiver,
    stopped: Arc<AtomicBool>,
    inbound: Inbound,
}

impl ReceiveThread {
    fn run(mut self) {
        let mut errors = 0;
        let mut slot = self.inbound.slot();
        let mut landings = Landings::default();
        while !self.stopped.load(Ordering::Acquire) {
            // Only a tap wants to know the sender, who is the same of a whole run. This waits as the receive does.
            let sender = self.inbound.recorder.as_ref().and_then(|_| peek_sender(self.receiver.socket()));
            match landings.receive(&mut self.receiver, slot.buffer()) {
                Ok(_) if self.stopped.load(Ordering::Acquire) => return,
                Ok(Arrival::Landed(landed)) => {
                    errors = 0;
                    self.inbound.contained(|| landings.expected = self.inbound.receive.land(landed));
                }
                Ok(Arrival::Datagrams(received)) => {
                    errors = 0;
                    let lands = self.inbound.recorder.is_none() && landings.are_worth_it();
                    self.inbound.take(slot, received, sender, lands.then_some(&mut landings.expected));
                    slot = self.inbound.slot();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    errors += 1;
                    report(errors, &error);
                    if errors > ERRORS_IN_A_ROW {
                        Parker::new().park(Some(ERROR_PAUSE));
                    }
                }
            }
        }
    }
}

fn report(errors: u32, error: &io::Error) {
    if errors == ERRORS_IN_A_ROW {
        tracing::warn!(%error, "a socket keeps failing to receive");
    }
}

/// Receives discovery traffic on the driver's thread, in bursts.
async fn receive_task(socket: UdpSocket, inbound: Inbound, transport: Arc<UdpTransport>) {
    let registered = socket.set_nonblocking(true).and_then(|()| tokio::net::UdpSocket::from_std(socket));
    let socket = match registered {
        Ok(socket) => socket,
        Err(error) => {
            tracing::error!(%error, "discovery cannot receive");
            return;
        }
    };
    let mut errors = 0;
    let mut slot = inbound.slot();
    loop {
        // An error here says that the runtime is ending.
        if socket.readable().await.is_err() {
            return;
        }
        for _ in 0..BURST {
            match socket.try_recv_from(slot.buffer()) {
                Ok((len, sender)) => {
                    errors = 0;
                    transport.note_sender(sender);
                    inbound.take(slot, Received::one(len), Some(sender), None);
                    slot = inbound.slot();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    errors += 1;
                    report(errors, &error);
                    if errors > ERRORS_IN_A_ROW {
                        tokio::time::sleep(ERROR_PAUSE).await;
                    }
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Who waits for room in the sending sockets.
struct Room {
    transport: Arc<UdpTransport>,
    /// Bound: each cell once. `Some` while a task is waiting on their behalf.
    waiting: Lock<Option<Vec<Weak<dyn Poke>>>>,
}

impl Room {
    /// True if a task has to be started.
    fn enlist(&self, cell: Weak<dyn Poke>) -> bool {
        let mut waiting = self.waiting.lock();
        match &mut *waiting {
            Some(cells) => {
                if !cells.iter().any(|known| Weak::ptr_eq(known, &cell)) {
                    cells.push(cell);
                }
                false
            }
            None => {
                *waiting = Some(vec![cell]);
                true
            }
        }
    }

    async fn announce(self: Arc<Self>) {
        if self.wait().await.is_err() {
            // No descriptor to wait with: look again soon.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let cells = self.waiting.lock().take().unwrap_or_default();
        for cell in cells.iter().filter_map(Weak::upgrade) {
            cell.signal(Signals::WRITABLE);
            Effects::scope(|effects| cell.poke(effects));
        }
    }

    /// Waits until every sending socket has room: mostly one was full, and the others answer at once.
    async fn wait(&self) -> io::Result<()> {
        // Fresh handles, because the runtime remembers that a socket was writable until it sees itself refused, and it is
        // not the runtime that sends.
        for socket in self.transport.handles()? {
            tokio::net::UdpSocket::from_std(socket)?.writable().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::super::addressing::PEER_INDEXES;
    use super::*;
    use crate::driver::{Driver, OsDriver, Timer};
    use crate::sync::AtomicUsize;
    use dds_rtps::output::Datagram;
    use dds_rtps::transport::SendOutcome;
    use dds_rtps::transport::udp::PortMapping;
    use std::net::Ipv4Addr;
    use std::sync::mpsc::{self, Receiver, Sender};

    type Taken = (Socket, Vec<u8>);

    struct Forward(Sender<Taken>);
    impl Receive for Forward {
        fn receive(&self, packet: &Packet) -> Option<Expected> {
            let bytes = packet.payload.bytes().to_vec();
            assert_ne!(bytes, b"panic");
            let _ = self.0.send((packet.socket, bytes));
            None
        }
    }

    fn network(driver: &OsDriver, domain_id: u32) -> (Arc<dyn Network>, Receiver<Taken>) {
        let config = NetworkConfig { domain_id, reach: Reach::Host, ..NetworkConfig::default() };
        let network = driver.open_network(&config).unwrap();
        let (sender, receiver) = mpsc::channel();
        network.start(Arc::new(Forward(sender))).unwrap();
        (network, receiver)
    }

    fn send(network: &dyn Network, bytes: &[u8], destinations: &[Locator]) {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(bytes);
        destinations.iter().for_each(|&destination| datagram.add_destination(destination));
        assert_eq!(network.transport().send(&mut datagram), SendOutcome::Done);
    }

    #[test]
    fn every_socket_hands_on_what_it_receives() {
        let driver = OsDriver::new().unwrap();
        let (sender, _) = network(&driver, 225);
        let (receiver, packets) = network(&driver, 225);
        // Others on this host may test the same thing on the same group at the same time.
        let expect = |socket: Socket, text: &str, destinations: &[Locator]| {
            let bytes = format!("{text} of {}", std::process::id()).into_bytes();
            send(&*sender, &bytes, destinations);
            assert!(packets.iter().any(|packet| packet == (socket, bytes.clone())));
        };
        expect(Socket::UserUnicast, "data", &receiver.locators().default_unicast);
        expect(Socket::MetatrafficUnicast, "discovery", &receiver.locators().metatraffic_unicast);
        if receiver.locators().metatraffic_multicast.is_empty() {
            super::super::skip::skip("multicast by loopback");
            return;
        }
        expect(Socket::MetatrafficMulticast, "announcement", &receiver.locators().metatraffic_multicast);
    }

    #[test]
    fn a_panic_over_one_packet_costs_one_packet() {
        let driver = OsDriver::new().unwrap();
        let (network, packets) = network(&driver, 224);
        for destination in [&network.locators().default_unicast, &network.locators().metatraffic_unicast] {
            send(&*network, b"panic", destination);
            send(&*network, b"next", destination);
            assert_eq!(packets.recv().unwrap().1, b"next");
        }
    }

    /// Sends itself a packet for each that comes, so that its socket is never empty, and sets a timer on the way.
    struct Flood {
        network: Weak<dyn Network>,
        taken: Arc<AtomicUsize>,
        timer: Timer,
        ended: Sender<()>,
    }

    /// How many packets there are, and at which one the timer is set to a moment that has passed.
    const FLOOD: usize = 200 * BURST;
    const SET_AT: usize = 10 * BURST;

    impl Receive for Flood {
        fn receive(&self, packet: &Packet) -> Option<Expected> {
            let taken = self.taken.fetch_add(1, Ordering::SeqCst) + 1;
            if taken == SET_AT {
                self.timer.set(Some(dds_rtps::types::Instant::from_nanos(1)));
            }
            match self.network.upgrade() {
                Some(network) if taken < FLOOD => {
                    send(&*network, packet.payload.bytes(), &network.locators().metatraffic_unicast);
                }
                _ => _ = self.ended.send(()),
            }
            None
        }
    }

    /// Notes how many packets had been taken when its timer fired first.
    struct Late(Arc<AtomicUsize>, Sender<usize>);
    impl Poke for Late {
        fn poke(self: Arc<Self>, _: &mut Effects) {
            let _ = self.1.send(self.0.load(Ordering::SeqCst));
        }
        fn resume(self: Arc<Self>, _: &mut Effects) {}
        fn signal(&self, _: Signals) {}
    }

    #[test]
    fn a_flood_of_discovery_keeps_no_timer_from_firing() {
        let driver = OsDriver::new().unwrap();
        let config = NetworkConfig { domain_id: 219, reach: Reach::Host, ..NetworkConfig::default() };
        let network = driver.open_network(&config).unwrap();
        let taken = Arc::<AtomicUsize>::default();
        let ((fired, times), (ended, end)) = (mpsc::channel(), mpsc::channel());
        let late = Arc::new(Late(Arc::clone(&taken), fired));
        let weak: Weak<Late> = Arc::downgrade(&late);
        let timer = Timer::new(driver.timers(), weak);
        let flood = Flood { network: Arc::downgrade(&network), taken, timer, ended };
        network.start(Arc::new(flood)).unwrap();
        let destination = network.locators();
        (0..4).for_each(|_| send(&*network, b"flood", &destination.metatraffic_unicast));
        end.recv().unwrap();
        network.stop();
        // The burst in which it was set, and one for what else the thread has to do.
        let fired_at = times.try_recv().expect("it fires only when the flood is over");
        assert!((SET_AT..=SET_AT + 2 * BURST).contains(&fired_at), "set at {SET_AT}, fired at {fired_at}");
    }

    /// Is told that the locators have changed.
    struct Moved(Sender<()>);
    impl Receive for Moved {
        fn receive(&self, _packet: &Packet) -> Option<Expected> {
            None
        }

        fn locators_changed(&self) {
            let _ = self.0.send(());
        }
    }

    #[test]
    fn a_peer_whose_name_gets_an_address_later_is_looked_for_from_then_on() {
        let driver = OsDriver::new().unwrap();
        let config = NetworkConfig {
            domain_id: 221,
            multicast: false,
            reach: Reach::Host,
            peer_names: vec![("robot".to_owned(), Vec::new())],
            resolve: |name| if name == "robot" { vec!["127.0.0.7:7477".parse().unwrap()] } else { Vec::new() },
            ..NetworkConfig::default()
        };
        let network = driver.open_network(&config).unwrap();
        let robot = Locator::udp_v4([127, 0, 0, 7].into(), 7477);
        assert!(!network.locators().initial_peers.contains(&robot));
        let (sender, moved) = mpsc::channel();
        network.start(Arc::new(Moved(sender))).unwrap();
        moved.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(network.locators().initial_peers.contains(&robot));
    }

    #[test]
    fn a_stopped_network_lets_go_of_its_receiver_and_cannot_start_again() {
        let driver = OsDriver::new().unwrap();
        let (network, packets) = network(&driver, 223);
        network.stop();
        // Every thread and task that held the sending half has ended.
        assert!(packets.recv().is_err());
        let (sender, _packets) = mpsc::channel();
        assert!(network.start(Arc::new(Forward(sender))).is_err());
    }

    #[test]
    fn without_multicast_this_host_is_searched_by_unicast() {
        let driver = OsDriver::new().unwrap();
        let mut config = NetworkConfig { domain_id: 222, multicast: false, ..NetworkConfig::default() };
        let locators = driver.open_network(&config).unwrap().locators();
        assert!(locators.metatraffic_multicast.is_empty());
        assert_eq!(locators.initial_peers.len(), PEER_INDEXES as usize);
        assert_eq!(locators.initial_peers[0], Locator::udp_v4(Ipv4Addr::LOCALHOST, 7410 + 222 * 250));
        let named = SocketAddr::from(([192, 0, 2, 2], 9999));
        config.peers = vec![SocketAddr::from(([192, 0, 2, 1], 0)), named];
        let locators = driver.open_network(&config).unwrap().locators();
        assert!(locators.initial_peers.iter().all(|peer| !peer.is_loopback()));
        assert_eq!(locators.initial_peers.len(), PEER_INDEXES as usize + 1);
        assert!(locators.initial_peers.contains(&Locator::from(named)));
    }

    /// So that any two participants of a host find each other without multicast, as far as one has a well-known port.
    #[test]
    fn who_comes_later_looks_at_all_ports_of_those_before() {
        let driver = OsDriver::new().unwrap();
        // The last domain that has ports: only its first 63 indexes have two.
        let config = NetworkConfig { domain_id: 232, multicast: false, reach: Reach::Host, ..NetworkConfig::default() };
        let networks: Vec<_> = (0..66).map(|_| driver.open_network(&config).unwrap()).collect();
        let of_index = |index: u32| PortMapping::default().participants(232).find(|ports| ports.index == index);
        let mut highest = 0;
        for network in &networks {
            let locators = network.locators();
            let ports: Vec<u32> = locators.initial_peers.iter().map(|peer| peer.port).collect();
            let index = locators.participant_index.unwrap();
            let below = (0..index).filter_map(of_index).all(|below| ports.contains(&below.metatraffic.into()));
            assert!(below, "{index}: {ports:?}");
            highest = highest.max(index);
        }
        assert!(highest >= 120, "{highest}");
    }

    #[test]
    fn a_cell_is_told_that_there_is_room() {
        struct Told(Sender<Signals>);
        impl Poke for Told {
            fn poke(self: Arc<Self>, _: &mut Effects) {}
            fn resume(self: Arc<Self>, _: &mut Effects) {}
            fn signal(&self, signals: Signals) {
                self.0.send(signals).unwrap();
            }
        }
        let driver = OsDriver::new().unwrap();
        let (network, _packets) = network(&driver, 221);
        let (sender, told) = mpsc::channel();
        let cell = Arc::new(Told(sender));
        for _ in 0..2 {
            let weak: Weak<Told> = Arc::downgrade(&cell);
            network.when_writable(weak);
            assert_eq!(told.recv(), Ok(Signals::WRITABLE));
        }
    }

    #[test]
    fn a_cell_waits_for_room_once() {
        struct Deaf;
        impl Poke for Deaf {
            fn poke(self: Arc<Self>, _: &mut Effects) {}
            fn resume(self: Arc<Self>, _: &mut Effects) {}
            fn signal(&self, _: Signals) {}
        }
        let sockets = UdpSockets::open(&UdpConfig { domain_id: 220, host_only: true, ..UdpConfig::default() }).unwrap();
        let room = Room { transport: sockets.transport, waiting: Lock::default() };
        let cell: Arc<dyn Poke> = Arc::new(Deaf);
        assert!(room.enlist(Arc::downgrade(&cell)));
        assert!(!room.enlist(Arc::downgrade(&cell)));
        assert_eq!(room.waiting.lock().as_ref().map(Vec::len), Some(1));
    }
}
