//! A world in one thread: participants whose clock, timers, threads and network are all in here.
//!
//! Time stands still unless a test lets it pass, datagrams arrive in the order in which they were sent, and everything that
//! is drawn at random comes from one seed. So the same test does the same each time, and hours take seconds.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use dds_core::actor::{Poke, RunQueue};
use dds_core::driver::{
    Driver, Locators, Network, NetworkConfig, NetworkError, Packet, Parker, Receive, Role, Socket, ThreadHandle, Timers,
};
use dds_core::{DomainParticipant, DomainParticipantBuilder, Duration};
use dds_rtps::discovery::HostAddress;
use dds_rtps::history::{Payload, SlotPool};
use dds_rtps::output::Datagram;
use dds_rtps::transport::{SendOutcome, Transport, TransportCounters};
use dds_rtps::types::{Instant, Locator, Now, Time};
use std::collections::VecDeque;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Participants that see each other, and nobody else.
#[derive(Clone)]
pub(crate) struct World(Arc<Shared>);

struct Shared {
    /// Nanoseconds since the world began, which was long after 1970.
    clock: AtomicU64,
    random: Mutex<Random>,
    hosts: Mutex<Vec<Weak<Host>>>,
    flying: Mutex<VecDeque<Flying>>,
    /// What happens to datagrams on their way.
    damage: Mutex<Option<Damage>>,
    /// Where datagrams went that belongs to nobody. The last ones, for there may be many.
    astray: Mutex<VecDeque<Locator>>,
}

/// Changes a datagram on its way.
pub(crate) type Damage = Box<dyn FnMut(&mut Vec<u8>) + Send>;

/// A datagram on its way to one destination.
struct Flying {
    from: Ipv4Addr,
    to: Locator,
    bytes: Vec<u8>,
}

/// A participant's half of the world: its driver and its network.
#[derive(Clone)]
pub(crate) struct Node {
    host: Arc<Host>,
    world: World,
}

struct Host {
    world: Weak<Shared>,
    address: Ipv4Addr,
    locators: Arc<Locators>,
    timers: Arc<Timers>,
    run_queue: Arc<RunQueue>,
    transport: Arc<dyn Transport>,
    receive: Mutex<Option<Arc<dyn Receive>>>,
    small: Arc<SlotPool>,
    stopped: AtomicBool,
    /// What was sent, while somebody wants to know.
    record: Mutex<Option<Vec<Vec<u8>>>>,
}

/// Sends into the world.
struct Sender {
    world: Weak<Shared>,
    address: Ipv4Addr,
    sent: AtomicU64,
}

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
const DISCOVERY_PORT: u32 = 7410;
const USER_PORT: u32 = 7411;
const GROUP_PORT: u32 = 7400;
/// Rounds without an end would be a bug; no honest conversation is as long without time passing.
const ROUNDS_MAX: usize = 1_000_000;
const ASTRAY_MAX: usize = 1_000;
/// When the world began: late in 2023.
const EPOCH: i64 = 1_700_000_000_000_000_000;

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Shared {
            clock: AtomicU64::new(1_000_000_000),
            random: Mutex::new(Random(seed)),
            hosts: Mutex::default(),
            flying: Mutex::default(),
            damage: Mutex::default(),
            astray: Mutex::default(),
        }))
    }

    /// The settings of a participant on a host of its own, and that host.
    pub(crate) fn node(&self) -> Node {
        let mut hosts = lock(&self.0.hosts);
        hosts.retain(|host| host.strong_count() > 0);
        let taken = |last| hosts.iter().filter_map(Weak::upgrade).any(|host| host.address.octets()[3] == last);
        let last = (1..=254).find(|last| !taken(*last)).unwrap();
        let address = Ipv4Addr::new(10, 0, 0, last);
        let group = Locator::udp_v4(GROUP, GROUP_PORT as u16);
        let world = Arc::downgrade(&self.0);
        let host = Arc::new(Host {
            address,
            locators: Arc::new(Locators {
                metatraffic_unicast: vec![Locator::udp_v4(address, DISCOVERY_PORT as u16)],
                metatraffic_multicast: vec![group],
                default_unicast: vec![Locator::udp_v4(address, USER_PORT as u16)],
                initial_peers: vec![group],
                host_addresses: vec![HostAddress { address: address.into(), prefix_len: 24 }],
                participant_index: Some(0),
            }),
            timers: Timers::new(|| {}),
            run_queue: Arc::new(RunQueue::new(|| {})),
            transport: Arc::new(Sender { world: Weak::clone(&world), address, sent: AtomicU64::new(0) }),
            world,
            receive: Mutex::default(),
            small: Arc::new(SlotPool::new(64)),
            stopped: AtomicBool::new(false),
            record: Mutex::default(),
        });
        hosts.push(Arc::downgrade(&host));
        Node { host, world: self.clone() }
    }

    /// A participant on a host of its own.
    pub(crate) fn participant(&self) -> (DomainParticipant, Node) {
        let node = self.node();
        (node.build(self.builder()), node)
    }

    pub(crate) fn builder(&self) -> DomainParticipantBuilder {
        DomainParticipant::builder(0).ignore_environment().linger(Duration::ZERO)
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(self.0.clock.load(Ordering::Relaxed))
    }

    /// Lets time pass, with all that happens in it.
    pub(crate) fn pass(&self, duration: Duration) {
        let until = self.now().after(duration).unwrap();
        for _ in 0..ROUNDS_MAX {
            self.settle();
            match self.next_timer() {
                Some(next) if next <= until => self.set_clock(next),
                _ => return self.set_clock(until),
            }
        }
        panic!("a timer that fires without end");
    }

    /// Lets time pass in small steps until `is_done`, at most `patience`. False: it is not.
    pub(crate) fn pass_until(&self, patience: Duration, mut is_done: impl FnMut() -> bool) -> bool {
        let until = self.now().after(patience).unwrap();
        self.settle();
        while !is_done() {
            if self.now() >= until {
                return false;
            }
            self.pass(Duration::from_millis(10));
        }
        true
    }

    /// Lets everything happen that happens now.
    pub(crate) fn settle(&self) {
        for _ in 0..ROUNDS_MAX {
            if !(self.deliver_one() | self.serve()) {
                return;
            }
        }
        panic!("a conversation without end");
    }

    /// Moves the clock without letting anything happen.
    pub(crate) fn tick(&self, nanos: u64) {
        self.0.clock.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Lets something happen to every datagram from now on.
    pub(crate) fn damage(&self, damage: impl FnMut(&mut Vec<u8>) + Send + 'static) {
        *lock(&self.0.damage) = Some(Box::new(damage));
    }

    /// Where datagrams went that belongs to nobody.
    pub(crate) fn take_astray(&self) -> Vec<Locator> {
        lock(&self.0.astray).drain(..).collect()
    }

    fn set_clock(&self, instant: Instant) {
        self.0.clock.fetch_max(instant.as_nanos(), Ordering::Relaxed);
    }

    fn hosts(&self) -> Vec<Arc<Host>> {
        lock(&self.0.hosts).iter().filter_map(Weak::upgrade).collect()
    }

    fn next_timer(&self) -> Option<Instant> {
        self.hosts().iter().filter_map(|host| host.timers.next()).min()
    }

    fn serve(&self) -> bool {
        let now = self.now();
        let mut served = false;
        for host in self.hosts() {
            while host.run_queue.run_one() {
                served = true;
            }
            if host.timers.next().is_some_and(|next| next <= now) {
                host.timers.fire(now);
                served = true;
            }
        }
        served
    }

    fn deliver_one(&self) -> bool {
        let Some(Flying { from, to, mut bytes }) = lock(&self.0.flying).pop_front() else { return false };
        if let Some(damage) = &mut *lock(&self.0.damage) {
            damage(&mut bytes);
        }
        let address = Ipv4Addr::from_bits(u32::from_be_bytes([12, 13, 14, 15].map(|at: usize| to.address[at])));
        let hosts = self.hosts();
        if address == GROUP && to.port == GROUP_PORT {
            for host in hosts.iter().filter(|host| host.address != from) {
                host.take(&bytes, Socket::MetatrafficMulticast);
            }
            return true;
        }
        match (hosts.iter().find(|host| host.address == address), to.port) {
            (Some(host), DISCOVERY_PORT) => host.take(&bytes, Socket::MetatrafficUnicast),
            (Some(host), USER_PORT) => host.take(&bytes, Socket::UserUnicast),
            _ => {
                let mut astray = lock(&self.0.astray);
                if astray.len() == ASTRAY_MAX {
                    astray.pop_front();
                }
                astray.push_back(to);
            }
        }
        true
    }
}

impl Node {
    /// Makes the participant of this host.
    pub(crate) fn build(&self, builder: DomainParticipantBuilder) -> DomainParticipant {
        builder.build_on(Arc::new(self.clone())).unwrap()
    }

    /// Hands the participant a datagram, as if it came from the network.
    pub(crate) fn feed(&self, bytes: &[u8], socket: Socket) {
        self.host.take(bytes, socket);
    }

    /// Begins to keep what this host sends.
    pub(crate) fn record(&self) {
        *lock(&self.host.record) = Some(Vec::new());
    }

    /// What this host has sent since then.
    pub(crate) fn recorded(&self) -> Vec<Vec<u8>> {
        lock(&self.host.record).take().unwrap_or_default()
    }

    pub(crate) fn address(&self) -> Ipv4Addr {
        self.host.address
    }

    /// Takes the host off the network; the participant does not notice.
    pub(crate) fn unplug(&self) {
        *lock(&self.host.receive) = None;
        self.host.stopped.store(true, Ordering::Relaxed);
    }
}

impl Host {
    fn take(&self, bytes: &[u8], socket: Socket) {
        let receive = lock(&self.receive).clone();
        if let Some(receive) = receive {
            receive.receive(&Packet::new(Payload::copy_of(bytes), socket, Arc::clone(&self.small)));
        }
    }
}

impl Driver for Node {
    fn now(&self) -> Now {
        let instant = self.world.now();
        Now { instant, time: Time::from_unix_nanos(EPOCH + instant.as_nanos() as i64) }
    }

    fn random(&self) -> u64 {
        lock(&self.world.0.random).next()
    }

    fn timers(&self) -> &Arc<Timers> {
        &self.host.timers
    }

    fn run_queue(&self) -> &Arc<RunQueue> {
        &self.host.run_queue
    }

    /// Whoever waits lets the world go on.
    fn park(&self, parker: &Parker, until: Option<Instant>) {
        self.world.settle();
        if parker.take_wake() {
            return;
        }
        let next = [self.world.next_timer(), until].into_iter().flatten().min();
        self.world.set_clock(next.expect("a wait that nothing will ever end"));
    }

    fn spawn(&self, name: &str, _: Role, _: Box<dyn FnOnce() + Send>) -> io::Result<ThreadHandle> {
        panic!("{name}: there are no threads here");
    }

    fn open_network(&self, _: &NetworkConfig) -> Result<Arc<dyn Network>, NetworkError> {
        Ok(Arc::clone(&self.host) as Arc<dyn Network>)
    }

    fn shutdown(&self) {}
}

impl Network for Host {
    fn locators(&self) -> Arc<Locators> {
        Arc::clone(&self.locators)
    }

    fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    fn receive_buffer_granted(&self) -> usize {
        1 << 20
    }

    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()> {
        *lock(&self.receive) = Some(receive);
        Ok(())
    }

    fn when_writable(&self, _: Weak<dyn Poke>) {}

    fn stop(&self) {
        *lock(&self.receive) = None;
    }
}

impl Transport for Sender {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut bytes = Vec::with_capacity(datagram.len());
        datagram.copy_to(&mut bytes);
        let Some(world) = self.world.upgrade() else { return SendOutcome::Done };
        let host = World(Arc::clone(&world)).hosts().into_iter().find(|host| host.address == self.address);
        let Some(host) = host.filter(|host| !host.stopped.load(Ordering::Relaxed)) else { return SendOutcome::Done };
        if let Some(record) = &mut *lock(&host.record) {
            record.push(bytes.clone());
        }
        while let Some(&to) = datagram.remaining_destinations().first() {
            lock(&world.flying).push_back(Flying { from: self.address, to, bytes: bytes.clone() });
            self.sent.fetch_add(1, Ordering::Relaxed);
            datagram.destination_done();
        }
        SendOutcome::Done
    }

    fn counters(&self) -> TransportCounters {
        TransportCounters { sent: self.sent.load(Ordering::Relaxed), ..TransportCounters::default() }
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sender({})", self.address)
    }
}

/// Numbers that look random, and are the same for the same seed (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// From 0 on, below `bound`; 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() >> 11) as usize % bound }
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
