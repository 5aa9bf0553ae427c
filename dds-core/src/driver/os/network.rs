//! The UDP sockets of a participant, and the threads and tasks that wait for them.

use super::DriverShared;
use super::addressing::{Addressing, LookSchedule, Receivers};
use super::alarm::Alarm;
use super::attendance::Attendance;
use super::clock::Clock;
use super::intake::{ERROR_PAUSE, ERRORS_IN_A_ROW, Inbound, Inlet, Intake, IntakeStep, berth_of, report};
use super::naming::Naming;
use super::presence::Beacon;
use super::sharing::{SharedIntake, Sharing};
use super::tap::OpenTap;
use crate::actor::{Effects, Poke, Signals};
use crate::driver::{
    Carrier, FaultyTransport, Locators, Network, NetworkConfig, NetworkError, Parker, Presence, Reach, Receive, Role,
    Socket, VERSION_PROPERTY,
};
use crate::sync::{Arc, AtomicBool, Lock, Ordering, Weak};
use dds_rtps::concurrent::{BorrowedMut, SlotMut};
use dds_rtps::transport::Transport;
use dds_rtps::transport::udp::{
    Interface, ReceiveBufferGauge, Received, UdpConfig, UdpError, UdpSockets, UdpTransport, dropped, interrupt,
};
use dds_rtps::types::{GuidPrefix, Locator};
use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::runtime;
use tokio::task::AbortHandle;

/// Number of datagrams that one discovery socket may handle in a row, about 100 us. A flood must not delay timers.
const BURST: usize = 16;

/// Longest value about the process that is announced.
const PROPERTY_LEN_MAX: usize = 255;

/// The open sockets.
pub(super) struct OsNetwork {
    addressing: Arc<Addressing>,
    /// Whether interfaces can come and go. Loopback alone never changes.
    follows: bool,
    /// Peers that are configured by name, until their names are resolved.
    naming: Lock<Option<Naming>>,
    receive_buffer: usize,
    transport: Arc<dyn Transport>,
    tap: Option<OpenTap>,
    /// One for each version of IP.
    user_unicast: Vec<Arc<UdpSocket>>,
    /// Discovery sockets, until `start` takes them.
    metatraffic: Lock<Option<Vec<(UdpSocket, Socket)>>>,
    tasks: Lock<Vec<AbortHandle>>,
    stopped: Arc<AtomicBool>,
    by_caller: bool,
    attendance: Lock<Option<Arc<Attendance>>>,
    beacon: Beacon,
    sharing: Arc<Sharing>,
    /// Receiver of the participant, from the start to the stop.
    receive: Lock<Option<Arc<dyn Receive>>>,
    gauge: ReceiveBufferGauge,
    room: Arc<Room>,
    shared: Arc<DriverShared>,
    runtime: runtime::Handle,
}

impl OsNetwork {
    pub(super) fn open(
        config: &NetworkConfig,
        shared: Arc<DriverShared>,
        runtime: runtime::Handle,
    ) -> Result<Arc<Self>, NetworkError> {
        let udp = udp_config(config);
        let sockets = UdpSockets::open(&udp)?;
        warn_of_unknown_interfaces(&config.interfaces, sockets.links.interfaces());
        let tap = match &config.tap {
            Some(path) => Some(OpenTap::new(path, &sockets)?),
            None => None,
        };
        let (receive_buffer, transport) = (sockets.receive_buffer, Arc::clone(&sockets.transport));
        let (addressing, receivers) = Addressing::new(config, &udp, sockets)
            .map_err(|source| NetworkError::Io { what: "read the bound ports", source })?;
        let Receivers { metatraffic_multicast, metatraffic_unicast, user_unicast } = receivers;
        if addressing.locators().default_unicast.is_empty() {
            tracing::warn!("every network interface is down; the participant waits for one (`ip link set lo up`)");
        }
        let multicast = metatraffic_multicast.into_iter().map(|socket| (socket, Socket::MetatrafficMulticast));
        let unicast = metatraffic_unicast.into_iter().map(|socket| (socket, Socket::MetatrafficUnicast));
        let metatraffic = multicast.chain(unicast).collect();
        let naming = Naming::new(&config.peer_names, config.resolve, Clock::new().now().instant);
        addressing.set_named_peers(&naming);
        // Link-local peers need the interface of their link before the first send.
        for peer in naming.addresses() {
            transport.note_sender(peer);
        }
        let udp = transport;
        let sharing = Sharing::new(config.shared_memory, config.busy_poll);
        // The capture is in front of both, so that it shows the datagrams through shared memory as well.
        let transport = captured(tap.as_ref(), sharing.before(Arc::clone(&udp) as _));
        // Faults are outside of the tap, so that the capture shows only datagrams that are really sent.
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
            metatraffic: Lock::new(Some(metatraffic)),
            tasks: Lock::default(),
            stopped: Arc::new(AtomicBool::new(false)),
            by_caller: config.by_caller && cfg!(target_os = "linux"),
            attendance: Lock::default(),
            beacon: Beacon::new(),
            sharing,
            receive: Lock::default(),
            gauge: ReceiveBufferGauge::new(),
            room: Arc::new(Room { transport: udp, waiting: Lock::default() }),
            shared,
            runtime,
        }))
    }
}

impl OsNetwork {
    fn inbound(&self, socket: &UdpSocket, kind: Socket, receive: &Arc<dyn Receive>) -> Inbound {
        let recorder = self.tap.as_ref().map(|tap| tap.recorder(socket, kind));
        Inbound::new(kind, receive, recorder, &self.sharing)
    }

    /// Starts reception of user data: a thread for each version of IP, or the threads that wait.
    fn receive_user_data(&self, receive: &Arc<dyn Receive>) -> io::Result<()> {
        let intakes = self.user_unicast.iter().map(|socket| {
            let inbound = self.inbound(socket, Socket::UserUnicast, receive);
            Intake::new(Arc::clone(socket), inbound)
        });
        if self.by_caller {
            let shared = self.open_shared(receive).map(Inlet::Shared);
            self.keep_trying(shared.is_some());
            let inlets = intakes.map(Inlet::Socket).chain(shared).collect();
            let attendance = Attendance::new(inlets, &self.stopped, self.shared.leading())?;
            if !self.shared.attend_by_callers(&attendance) {
                return Err(io::Error::other("this driver has the sockets of another participant already"));
            }
            *self.attendance.lock() = Some(Arc::clone(&attendance));
            // The driver's thread receives until the first caller waits.
            attendance.begin();
            let tasks = [
                self.runtime.spawn(Arc::clone(&attendance).receive()).abort_handle(),
                self.runtime.spawn(attendance.look_after()).abort_handle(),
            ];
            self.tasks.lock().extend(tasks);
            return Ok(());
        }
        for intake in intakes {
            let thread = ReceiveThread { intake, stopped: Arc::clone(&self.stopped) };
            self.shared.spawn("dds-receive", Role::Receive, Box::new(move || thread.run()))?;
        }
        Ok(())
    }

    /// Opens shared memory, once. Returns its receiving part.
    fn open_shared(&self, receive: &Arc<dyn Receive>) -> Option<SharedIntake> {
        // A capture shows shared memory as traffic of this socket.
        let socket = self.user_unicast.first()?;
        let inbound = self.inbound(socket, Socket::UserUnicast, receive);
        Sharing::open_intake(&self.sharing, inbound, &self.user_unicast, self.by_caller)
    }

    /// Starts to receive from shared memory, when the first participant of this host is known.
    fn receive_shared(&self) {
        let receive = self.receive.lock().clone();
        // Before the start there is no receiver, and after the stop no memory.
        let Some(receive) = receive else { return };
        let Some(intake) = self.open_shared(&receive) else { return };
        let stopped = Arc::clone(&self.stopped);
        if let Err(error) = self.shared.spawn("dds-shared", Role::Receive, Box::new(move || intake.run(&stopped))) {
            tracing::debug!(%error, "no thread receives from shared memory; this participant uses UDP");
            self.sharing.give_up(error.to_string());
            return;
        }
        self.keep_trying(true);
    }

    /// Tries to share memory again with peers that refuse.
    fn keep_trying(&self, is_open: bool) {
        if is_open && !self.stopped.load(Ordering::Acquire) {
            let trying = self.runtime.spawn(Arc::clone(&self.sharing).keep_trying());
            self.tasks.lock().push(trying.abort_handle());
        }
    }
}

/// Returns version, host, program and number of this process.
///
/// The last three names are those of RTI Connext, whose tools show them.
fn process_properties() -> Vec<(String, String)> {
    let program = std::env::current_exe().ok();
    let program =
        program.as_deref().and_then(std::path::Path::file_name).map(|name| name.to_string_lossy().into_owned());
    #[cfg(unix)]
    let host = nix::unistd::gethostname().ok().map(|name| name.to_string_lossy().into_owned());
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").ok();
    let known = [
        (VERSION_PROPERTY, Some(env!("CARGO_PKG_VERSION").to_owned())),
        ("dds.sys_info.hostname", host),
        ("dds.sys_info.process_id", Some(std::process::id().to_string())),
        ("dds.sys_info.executable_filepath", program),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.filter(|(_, value)| value.len() <= PROPERTY_LEN_MAX).collect()
}

impl Network for OsNetwork {
    fn locators(&self) -> Arc<Locators> {
        self.addressing.locators()
    }

    fn unresolved_peers(&self) -> Vec<String> {
        self.addressing.unresolved_peers()
    }

    fn process_properties(&self) -> Vec<(String, String)> {
        process_properties()
    }

    fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    fn receive_buffer_granted(&self) -> usize {
        self.receive_buffer
    }

    fn dropped(&self) -> Option<u64> {
        let mut sum = 0;
        for socket in &self.user_unicast {
            // One socket without a counter makes the sum unknown.
            sum += dropped(socket)?;
        }
        Some(sum)
    }

    fn room_at(&self, locator: &Locator) -> Option<usize> {
        // Shared memory first: a peer that uses it does not read its socket for user data.
        if let Some(room) = self.sharing.room_at(locator) {
            return Some(room);
        }
        self.gauge.room_at(locator.to_socket_addr()?)
    }

    fn long_message_max(&self, locators: &[Locator]) -> usize {
        // A capture shows datagrams, and a datagram of UDP has no room for a long message.
        if self.tap.is_some() { 0 } else { self.sharing.long_message_max(locators) }
    }

    fn lend(&self, locators: &[Locator], len: usize) -> Option<BorrowedMut> {
        if self.tap.is_some() { None } else { self.sharing.lend(locators, len) }
    }

    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()> {
        let metatraffic = self.metatraffic.lock().take();
        let (Some(metatraffic), false) = (metatraffic, self.stopped.load(Ordering::Acquire)) else {
            return Err(io::Error::other("the network was started or stopped before"));
        };
        *self.receive.lock() = Some(Arc::clone(&receive));
        self.receive_user_data(&receive)?;
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
        // A stop that ran in between found no task to abort.
        if self.stopped.load(Ordering::Acquire) {
            abort_all(&mut tasks);
            drop(tasks);
            *self.receive.lock() = None;
        }
        Ok(())
    }

    fn when_writable(&self, cell: Weak<dyn Poke>) {
        if !self.sharing.wake_with_room(&cell, &self.runtime) && self.room.enlist(cell) {
            self.runtime.spawn(Arc::clone(&self.room).announce());
        }
    }

    fn show_presence(&self, prefix: GuidPrefix) {
        self.sharing.set_prefix(prefix);
        self.beacon.show(prefix);
    }

    fn share_memory(&self, peer: GuidPrefix, locators: &[Locator]) {
        self.receive_shared();
        self.sharing.found(peer, locators);
    }

    fn end_sharing(&self, peer: GuidPrefix) {
        self.sharing.lost(peer);
    }

    fn carrier(&self, peer: GuidPrefix) -> Option<Carrier> {
        self.sharing.carrier(peer)
    }

    fn presence(&self, prefix: GuidPrefix) -> Presence {
        self.beacon.look_for(prefix)
    }

    fn stop(&self) {
        if self.stopped.swap(true, Ordering::AcqRel) {
            return;
        }
        // Wake the receive threads, which block in the kernel.
        for socket in &self.user_unicast {
            interrupt(socket);
        }
        self.sharing.stop();
        drop(self.receive.lock().take());
        if let Some(attendance) = self.attendance.lock().take() {
            attendance.stop();
        }
        abort_all(&mut self.tasks.lock());
    }
}

fn abort_all(tasks: &mut Vec<AbortHandle>) {
    for task in tasks.drain(..) {
        task.abort();
    }
}

impl Drop for OsNetwork {
    fn drop(&mut self) {
        // In a forked child `interrupt` would act on the parent's sockets.
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
            UdpError::Io { operation, source } => Self::Io { what: operation, source },
        }
    }
}

fn udp_config(config: &NetworkConfig) -> UdpConfig {
    UdpConfig {
        domain_id: config.domain_id,
        host_only: config.reach == Reach::Host,
        multicast: config.multicast,
        interfaces: config.interfaces.clone(),
        families: config.families,
        multicast_ttl: config.multicast_ttl,
        receive_buffer: config.receive_buffer,
        send_buffer: config.send_buffer,
        ..UdpConfig::default()
    }
}

/// Returns a transport whose datagrams the capture contains, if there is one.
fn captured(tap: Option<&OpenTap>, transport: Arc<dyn Transport>) -> Arc<dyn Transport> {
    match tap {
        Some(tap) => Arc::new(tap.around(transport)),
        None => transport,
    }
}

/// Warns of misspelled interfaces. Without it, the participant would wait for them and give no reason.
fn warn_of_unknown_interfaces(wanted: &[String], present: &[Interface]) {
    for name in wanted {
        if present.iter().any(|interface| interface.is_selected(std::slice::from_ref(name))) {
            continue;
        }
        let mut names: Vec<&str> = present.iter().map(|interface| interface.name.as_str()).collect();
        names.dedup();
        let names = names.join(", ");
        tracing::warn!("no active interface has the name or address {name}; active interfaces: {names}");
    }
}

/// Checks interfaces and names periodically, and notifies the receiver when the announced locators change.
async fn follow(
    addressing: Arc<Addressing>,
    receive: Arc<dyn Receive>,
    follows: bool,
    mut naming: Option<Naming>,
    transport: Arc<UdpTransport>,
) {
    let (clock, mut alarm, mut schedule) = (Clock::new(), Alarm::new(), LookSchedule::new());
    loop {
        // Sleep first: `open` has just read the interfaces.
        alarm.sleep(&clock, schedule.next_pause()).await;
        let mut renamed = false;
        if let Some(naming) = &mut naming {
            if naming.look(clock.now().instant, look_up) {
                for peer in naming.addresses() {
                    // A link-local address was found together with its link.
                    transport.note_sender(peer);
                }
                renamed = addressing.set_named_peers(naming);
            }
        }
        let moved = follows && addressing.look();
        if moved {
            schedule.note_change();
        }
        if (renamed || moved) && catch_unwind(AssertUnwindSafe(|| receive.locators_changed())).is_err() {
            tracing::error!("panic while new addresses were taken over; please report this bug");
        }
    }
}

/// Resolves names on a separate thread that no other thread waits for. The system's resolver may take any time.
#[allow(clippy::disallowed_methods, reason = "this is the driver; and a thread of the participant would be waited for")]
fn look_up(search: Box<dyn FnOnce() + Send>) {
    if let Err(error) = std::thread::Builder::new().name("dds-resolve".to_owned()).spawn(search) {
        tracing::warn!(%error, "the names of peers are no longer resolved: no thread could be started");
    }
}

/// Blocks on the user-data socket.
struct ReceiveThread {
    intake: Intake,
    stopped: Arc<AtomicBool>,
}

impl ReceiveThread {
    fn run(mut self) {
        while !self.stopped.load(Ordering::Acquire) {
            if self.intake.step(&self.stopped) == IntakeStep::Failing {
                Parker::new().park(Some(ERROR_PAUSE));
            }
        }
    }
}

/// Receives discovery traffic on the driver's thread, in bursts.
async fn receive_task(socket: UdpSocket, inbound: Inbound, transport: Arc<UdpTransport>) {
    // Discovery shares the driver's thread, so its sockets must never block.
    let registered = socket.set_nonblocking(true).and_then(|()| tokio::net::UdpSocket::from_std(socket));
    let socket = match registered {
        Ok(socket) => socket,
        Err(error) => {
            tracing::error!(%error, "discovery cannot receive");
            return;
        }
    };
    let mut intake = DiscoveryIntake { socket, inbound, transport, slot: None, errors: 0 };
    // An error means that the runtime is ending.
    while intake.socket.readable().await.is_ok() {
        match intake.burst() {
            // `readable` waits and yields anyway.
            IntakeStep::Nothing => {}
            IntakeStep::Taken => tokio::task::yield_now().await,
            IntakeStep::Failing => tokio::time::sleep(ERROR_PAUSE).await,
        }
    }
}

/// A discovery socket with everything that reception needs.
struct DiscoveryIntake {
    socket: tokio::net::UdpSocket,
    inbound: Inbound,
    transport: Arc<UdpTransport>,
    /// Memory for the next datagram. `None` after a datagram, because its receiver keeps the slot.
    slot: Option<SlotMut>,
    errors: u32,
}

impl DiscoveryIntake {
    /// Receives until the socket is empty or fails, at most [`BURST`] datagrams.
    fn burst(&mut self) -> IntakeStep {
        self.inbound.begin_burst();
        let mut step = IntakeStep::Taken;
        for _ in 0..BURST {
            step = self.step();
            if step != IntakeStep::Taken {
                break;
            }
        }
        self.inbound.end_burst();
        step
    }

    fn step(&mut self) -> IntakeStep {
        let mut slot = self.slot.take().unwrap_or_else(|| self.inbound.slot());
        match self.socket.try_recv_from(berth_of(slot.buffer()).1) {
            Ok((len, sender)) => {
                self.errors = 0;
                self.transport.note_sender(sender);
                self.inbound.take(slot, Received::one(len), Some(sender), None);
                IntakeStep::Taken
            }
            Err(error) => {
                self.slot = Some(slot);
                if error.kind() == ErrorKind::WouldBlock {
                    return IntakeStep::Nothing;
                }
                self.errors += 1;
                report(self.errors, &error);
                if self.errors > ERRORS_IN_A_ROW { IntakeStep::Failing } else { IntakeStep::Taken }
            }
        }
    }
}

/// Cells that wait for space in the send buffers.
struct Room {
    transport: Arc<UdpTransport>,
    /// `Some` while a task waits for them. Bound: each cell once.
    waiting: Lock<Option<Vec<Weak<dyn Poke>>>>,
}

impl Room {
    /// Adds `cell`. Returns true if a task must be started.
    fn enlist(&self, cell: Weak<dyn Poke>) -> bool {
        let mut waiting = self.waiting.lock();
        match &mut *waiting {
            Some(cells) => {
                // A cell may ask for space several times before the task wakes it.
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
            // There is no descriptor to wait with, so try again soon.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let cells = self.waiting.lock().take().unwrap_or_default();
        // Outside of the lock, because a poked cell may ask for space again.
        for cell in cells.iter().filter_map(Weak::upgrade) {
            cell.signal(Signals::WRITABLE);
            Effects::scope(|effects| cell.poke(effects));
        }
    }

    /// Waits until every send socket is writable.
    ///
    /// Usually only one was full, and the others return at once.
    async fn wait(&self) -> io::Result<()> {
        // New handles are needed. The runtime remembers that a socket was writable until its own send fails, and the
        // runtime does not send on these sockets.
        for socket in self.transport.handles()? {
            tokio::net::UdpSocket::from_std(socket)?.writable().await?;
        }
        Ok(())
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::super::addressing::PEER_INDEXES;
    use super::*;
    use crate::driver::{Driver, ExpectedPlace, OsDriver, Packet, Timer};
    use crate::sync::AtomicUsize;
    use dds_rtps::output::Datagram;
    use dds_rtps::transport::SendOutcome;
    use dds_rtps::transport::udp::PortMapping;
    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::mpsc::{self, Receiver, Sender};

    type Taken = (Socket, Vec<u8>);

    struct Forward(Sender<Taken>);
    impl Receive for Forward {
        fn receive(&self, packet: &Packet, _: Option<&ExpectedPlace>) {
            let bytes = packet.payload.bytes().to_vec();
            assert_ne!(bytes, b"panic");
            let _ = self.0.send((packet.socket, bytes));
        }
    }

    fn network(driver: &OsDriver, domain_id: u32) -> (Arc<dyn Network>, Receiver<Taken>) {
        network_by(driver, domain_id, false)
    }

    fn network_by(driver: &OsDriver, domain_id: u32, by_caller: bool) -> (Arc<dyn Network>, Receiver<Taken>) {
        let config = NetworkConfig { domain_id, reach: Reach::Host, by_caller, ..NetworkConfig::default() };
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
    fn each_socket_delivers_its_datagrams() {
        let driver = OsDriver::new().unwrap();
        let (sender, _) = network(&driver, 225);
        let (receiver, packets) = network(&driver, 225);
        // Other processes on this host may run the same test on the same group at the same time.
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
        for by_caller in [false, true] {
            let driver = OsDriver::new().unwrap();
            let (network, packets) = network_by(&driver, 224, by_caller);
            for destination in [&network.locators().default_unicast, &network.locators().metatraffic_unicast] {
                send(&*network, b"panic", destination);
                send(&*network, b"next", destination);
                assert_eq!(packets.recv().unwrap().1, b"next");
            }
        }
    }

    /// Sends itself a packet for each received one, so that its socket is never empty. Also sets a timer.
    struct Flood {
        network: Weak<dyn Network>,
        taken: Arc<AtomicUsize>,
        timer: Timer,
        ended: Sender<()>,
    }

    /// Number of packets, and the packet at which the timer is set to a past instant.
    const FLOOD: usize = 200 * BURST;
    const SET_AT: usize = 10 * BURST;

    impl Receive for Flood {
        fn receive(&self, packet: &Packet, _: Option<&ExpectedPlace>) {
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
        }
    }

    /// Records how many packets had arrived when its timer fired first.
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
        // The burst in which it was set, and one burst for the other work of the thread.
        let fired_at = times.try_recv().expect("it fires only when the flood is over");
        assert!((SET_AT..=SET_AT + 2 * BURST).contains(&fired_at), "set at {SET_AT}, fired at {fired_at}");
    }

    /// A panic loses one packet, and the next waiting thread reads the sockets again.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_waits_receives_and_survives_a_panic() {
        let driver = OsDriver::new().unwrap();
        let (network, packets) = network_by(&driver, 223, true);
        let destination = network.locators().default_unicast.clone();
        for bytes in [b"panic", b"first", b"panic", b"other"] {
            send(&*network, bytes, &destination);
        }
        let mut taken = Vec::new();
        while taken.len() < 2 {
            // No waker is called: `park` returns when its time is over or its budget is used.
            let until = driver.now().instant.after(dds_rtps::types::Duration::from_millis(5));
            Parker::with_current(|parker| driver.park(parker, until));
            taken.extend(packets.try_iter().map(|(_, bytes)| bytes));
        }
        assert_eq!(taken, [b"first", b"other"]);
    }

    /// No datagram arrives that would also end the sleep.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_wake_reaches_the_thread_that_receives() {
        let driver = OsDriver::new().unwrap();
        let (_network, _packets) = network_by(&driver, 220, true);
        let (sleep, sleeps) = mpsc::channel::<std::task::Waker>();
        let waking = driver.spawn("waker", Role::Event, Box::new(move || sleeps.iter().for_each(|waker| waker.wake())));
        let patience = driver.now().instant.after(dds_rtps::types::Duration::from_secs(30));
        for _ in 0..100 {
            Parker::with_current(|parker| {
                sleep.send(parker.waker().clone()).unwrap();
                driver.park(parker, patience);
            });
        }
        assert!(Some(driver.now().instant) < patience);
        drop(sleep);
        assert!(waking.unwrap().wait(&*driver, None));
    }

    /// Forwards the notification that the locators changed.
    struct Moved(Sender<()>);
    impl Receive for Moved {
        fn receive(&self, _: &Packet, _: Option<&ExpectedPlace>) {}

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
        assert_eq!(network.unresolved_peers(), ["robot"]);
        let (sender, moved) = mpsc::channel();
        network.start(Arc::new(Moved(sender))).unwrap();
        moved.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(network.locators().initial_peers.contains(&robot));
        assert!(network.unresolved_peers().is_empty());
    }

    #[test]
    fn a_stopped_network_lets_go_of_its_receiver_and_cannot_start_again() {
        for by_caller in [false, true] {
            let driver = OsDriver::new().unwrap();
            let (network, packets) = network_by(&driver, 223, by_caller);
            network.stop();
            // Every thread and task that held the sender has ended.
            assert!(packets.recv().is_err());
            let (sender, _packets) = mpsc::channel();
            assert!(network.start(Arc::new(Forward(sender))).is_err());
        }
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

    /// Any two participants of a host must find each other without multicast if one has a well-known port.
    #[test]
    fn late_participant_searches_all_used_ports() {
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
