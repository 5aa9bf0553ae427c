//! Participants on hosts of a simulated network, one each. A test can observe, change and forge every datagram.
//!
//! The network adds no interference and no losses, so a test observes only the effects of its own steps.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use dds_core::driver::Socket;
use dds_core::sim::{Conditions, Host, Interference, Passing, Simulation};
use dds_core::{DomainParticipant, DomainParticipantBuilder, Duration};
use dds_rtps::types::{EntityId, GuidPrefix, Locator, SequenceNumber};
use dds_rtps::wire::{AckNack, Heartbeat, Message, MessageBuilder, SequenceNumberSet, Submessage};
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Participants that see only each other.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) simulation: Simulation,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// Change of the datagrams on their way to one participant.
    damage: Option<Damage>,
    /// Destinations of datagrams that belong to no participant. Only the last ones are kept.
    astray: VecDeque<Locator>,
    /// Number of bytes of these datagrams.
    astray_bytes: usize,
    /// The last challenge to the address of each participant that does not exist.
    challenges: BTreeMap<GuidPrefix, Heartbeat>,
    /// Datagrams that recorded hosts have sent.
    records: BTreeMap<Ipv4Addr, Vec<Vec<u8>>>,
    hosts: u8,
    /// Hosts whose participants are closed.
    free: Vec<String>,
}

/// Changes a datagram on its way.
pub(crate) type Damage = Box<dyn FnMut(&mut Vec<u8>) + Send>;

/// A host with one participant.
pub(crate) struct Node {
    name: String,
    host: Host,
    world: World,
}

const DISCOVERY_PORT: u16 = 7410;
const USER_PORT: u16 = 7411;
const ASTRAY_MAX: usize = 1_000;
/// Host that sends forged datagrams.
const STRANGER: &str = "stranger";
/// Longer than a datagram takes from one host to another.
const MOMENT: Duration = Duration::from_micros(50);

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let simulation = Simulation::with_interference(seed, Interference::NONE);
        simulation.set_network(Conditions::perfect());
        // The first host gets the first address, which no participant must have.
        let _ = simulation.host(STRANGER);
        let shared = Arc::new(Mutex::new(Shared::default()));
        let watched = Arc::clone(&shared);
        simulation.intercept(move |passing| {
            lock(&watched).see(passing);
            true
        });
        Self { simulation, shared }
    }

    /// Returns a host without a participant.
    pub(crate) fn node(&self) -> Node {
        // A host is reused after its participant, because the network has few addresses.
        let free = lock(&self.shared).free.pop();
        let name = free.unwrap_or_else(|| {
            let mut shared = lock(&self.shared);
            shared.hosts += 1;
            format!("host {}", shared.hosts)
        });
        let host = self.simulation.host(&name);
        Node { name, host, world: self.clone() }
    }

    /// Creates a participant on a host of its own.
    pub(crate) fn participant(&self) -> (DomainParticipant, Node) {
        let node = self.node();
        (node.build(self.builder()), node)
    }

    pub(crate) fn builder(&self) -> DomainParticipantBuilder {
        DomainParticipant::builder(0).linger(Duration::ZERO)
    }

    /// Lets virtual time pass, with all events in it.
    pub(crate) fn pass(&self, duration: Duration) {
        self.simulation.run_for(duration);
    }

    /// Lets time pass in small steps until `is_done`, at most `patience`.
    ///
    /// Returns `false` if `is_done` never held.
    pub(crate) fn pass_until(&self, patience: Duration, mut is_done: impl FnMut() -> bool) -> bool {
        let until = self.simulation.now() + patience;
        // Let discovery and earlier sends arrive before the first check.
        self.settle();
        while !is_done() {
            if self.simulation.now() >= until {
                return false;
            }
            self.pass(Duration::from_millis(10));
        }
        true
    }

    /// Lets datagrams in flight arrive.
    pub(crate) fn settle(&self) {
        self.pass(Duration::from_millis(1));
    }

    /// Applies `damage` to every datagram to one participant from now on.
    pub(crate) fn damage(&self, damage: impl FnMut(&mut Vec<u8>) + Send + 'static) {
        lock(&self.shared).damage = Some(Box::new(damage));
    }

    /// Takes the destinations of datagrams that belong to no participant.
    pub(crate) fn take_astray(&self) -> Vec<Locator> {
        lock(&self.shared).astray.drain(..).collect()
    }

    /// Bytes of datagrams to unknown destinations since the last call.
    pub(crate) fn take_astray_bytes(&self) -> usize {
        std::mem::take(&mut lock(&self.shared).astray_bytes)
    }
}

impl Shared {
    fn see(&mut self, passing: &mut Passing) {
        if let Some(record) = self.records.get_mut(&passing.from) {
            record.push(passing.bytes.clone());
        }
        let SocketAddr::V4(to) = passing.to else { return };
        // Multicast reaches every host, so it never goes astray.
        if to.ip().is_multicast() {
            return;
        }
        let [_, _, _, last] = to.ip().octets();
        // The forging host is the first one, and listens to nothing.
        let is_host = to.ip().octets()[..3] == [10, 77, 0] && (2..=self.hosts + 1).contains(&last);
        if !is_host || ![DISCOVERY_PORT, USER_PORT].contains(&to.port()) {
            // A bound, because a test may cause any number of them.
            if self.astray.len() == ASTRAY_MAX {
                self.astray.pop_front();
            }
            self.astray.push_back(Locator::from(passing.to));
            self.astray_bytes += passing.bytes.len();
            self.note_challenge(&passing.bytes);
        }
        if let Some(damage) = &mut self.damage {
            damage(&mut passing.bytes);
        }
    }
}

impl Shared {
    fn note_challenge(&mut self, bytes: &[u8]) {
        let Ok(message) = Message::parse(bytes) else { return };
        let mut to = GuidPrefix::UNKNOWN;
        for submessage in message.submessages().flatten() {
            match submessage {
                Submessage::InfoDestination(prefix) => to = prefix,
                // Real changes have higher numbers. Without an answer, another topic has its turn.
                Submessage::Heartbeat(heartbeat) => {
                    let last = match heartbeat.writer_id {
                        EntityId::PARTICIPANT_MESSAGE_WRITER => 1 << 16,
                        EntityId::SEDP_PUBLICATIONS_WRITER | EntityId::SEDP_SUBSCRIPTIONS_WRITER => 3 << 10,
                        _ => continue,
                    };
                    if heartbeat.first_sn <= SequenceNumber(last) {
                        self.challenges.insert(to, heartbeat);
                    }
                }
                _ => {}
            }
        }
    }
}

impl Node {
    /// Answers the last challenge to the address of a participant that does not exist, and those that follow.
    pub(crate) fn answer_challenge(&self, to: GuidPrefix) {
        let mut next = Some(lock(&self.world.shared).challenges.remove(&to).unwrap());
        while let Some(challenge) = next {
            self.feed(&answer(to, &challenge, challenge.first_sn), Socket::MetatrafficUnicast);
            next = lock(&self.world.shared).challenges.remove(&to);
        }
    }

    /// Answers the last challenge to an address by a guess of its number.
    pub(crate) fn guess_challenge(&self, to: GuidPrefix, guess: i64) {
        let challenge = lock(&self.world.shared).challenges.get(&to).unwrap().clone();
        self.feed(&answer(to, &challenge, SequenceNumber(guess)), Socket::MetatrafficUnicast);
    }

    /// Creates the participant of this host.
    pub(crate) fn build(&self, builder: DomainParticipantBuilder) -> DomainParticipant {
        self.world.simulation.build(&self.name, builder).unwrap()
    }

    /// Sends the participant a forged datagram, and waits until it arrives.
    pub(crate) fn feed(&self, bytes: &[u8], socket: Socket) {
        self.send(bytes, socket);
        self.world.pass(MOMENT);
    }

    /// Sends the participant a forged datagram.
    pub(crate) fn send(&self, bytes: &[u8], socket: Socket) {
        let port = if socket == Socket::UserUnicast { USER_PORT } else { DISCOVERY_PORT };
        self.world.simulation.host(STRANGER).send((self.address(), port), bytes);
    }

    /// Starts to record the datagrams that this host sends.
    pub(crate) fn record(&self) {
        lock(&self.world.shared).records.insert(self.address(), Vec::new());
    }

    /// The datagrams that this host has sent since recording began.
    pub(crate) fn recorded(&self) -> Vec<Vec<u8>> {
        lock(&self.world.shared).records.remove(&self.address()).unwrap_or_default()
    }

    pub(crate) fn address(&self) -> Ipv4Addr {
        self.host.address()
    }

    /// Stops the participant. The clocks go on.
    pub(crate) fn freeze_for(&self, duration: Duration) {
        self.host.freeze_for(duration);
    }

    /// Disconnects the host from the network. The participant does not notice.
    pub(crate) fn unplug(&self) {
        self.host.crash();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // A crash and a restart remove all state of the host.
        self.host.crash();
        self.host.restart();
        lock(&self.world.shared).free.push(std::mem::take(&mut self.name));
    }
}

/// Pseudo-random numbers, the same for the same seed (SplitMix64).
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

    /// Returns a number from 0 to below `bound`, or 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() >> 11) as usize % bound }
    }

    /// Returns `true` once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

fn answer(source: GuidPrefix, challenge: &Heartbeat, base: SequenceNumber) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header(source);
    message.ack_nack(&AckNack {
        reader_id: challenge.reader_id,
        writer_id: challenge.writer_id,
        reader_sn_state: SequenceNumberSet::empty(base),
        count: challenge.count,
        is_final: true,
    });
    bytes
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
