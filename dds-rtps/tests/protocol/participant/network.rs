//! A network in memory: participants, virtual time, and rules for lost datagrams.

use dds_rtps::concurrent::Payload;
use dds_rtps::discovery::{HostAddress, ParticipantEvent};
use dds_rtps::output::Datagram;
use dds_rtps::participant::{Participant, ParticipantConfig, ParticipantLocators};
use dds_rtps::types::{Duration, EntityId, Guid, GuidPrefix, HashSeed, Instant, Locator, Now, Time, VendorId};
use dds_rtps::wire::{AckNack, Heartbeat, Message, MessageBuilder, Receiver, SequenceNumberSet, Submessage};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Delay of a datagram.
const LATENCY: Duration = Duration::from_millis(1);

/// Decides which datagrams are lost, by their number and their bytes.
pub(crate) type Loss = Box<dyn FnMut(u64, &[u8]) -> bool>;

pub(crate) struct Network {
    pub(crate) now: Now,
    nodes: Vec<Node>,
    in_flight: BTreeMap<(Instant, u64), Flight>,
    sent: u64,
    pub(crate) loses: Loss,
    /// Changes the bytes of a datagram on its way.
    pub(crate) alters: fn(&mut [u8]),
    /// The last HEARTBEAT to each participant, by its writer.
    heartbeats: BTreeMap<(GuidPrefix, EntityId), Heartbeat>,
    /// The last HEARTBEAT to each locator, by its writer.
    heartbeats_at: BTreeMap<(Locator, EntityId), Heartbeat>,
}

struct Node {
    participant: Option<Participant>,
    events: Vec<ParticipantEvent>,
    /// Own writers that a remote reader's participant has shown to know, with that reader.
    known: Vec<(EntityId, Guid)>,
    /// Where answers to each peer may go.
    reply_locators: BTreeMap<GuidPrefix, Vec<Locator>>,
    locators: Vec<Locator>,
    /// The participant has crashed or is disconnected.
    is_silent: bool,
}

struct Flight {
    from: Option<IpAddr>,
    to: Locator,
    bytes: Vec<u8>,
}

/// Returns the prefix of the participant with this number.
pub(crate) fn prefix(number: u8) -> GuidPrefix {
    GuidPrefix::new(VendorId::OURS, [number; 10])
}

/// Lets a datagram come from another vendor, whose reader of assertions may be best effort.
pub(crate) fn change_vendor(datagram: &mut [u8]) {
    const OURS: [u8; 8] = [0x16, 0, 4, 0, VendorId::OURS.0[0], VendorId::OURS.0[1], 0, 0];
    datagram[6..8].copy_from_slice(&VendorId::DUST.0);
    let parameter = datagram.windows(OURS.len()).position(|bytes| bytes == OURS);
    if let Some(at) = parameter {
        datagram[at + 4..at + 6].copy_from_slice(&VendorId::DUST.0);
    }
}

/// Returns the address of the participant with this number.
pub(crate) fn address(number: u8) -> [u8; 4] {
    [10, 0, 0, number]
}

pub(crate) fn config(number: u8) -> ParticipantConfig {
    let mut config = ParticipantConfig::new(prefix(number), 0);
    config.metatraffic_unicast = vec![Locator::udp_v4(address(number).into(), 7410)];
    config.metatraffic_multicast = config.announce_to.clone();
    config.default_unicast = vec![Locator::udp_v4(address(number).into(), 7411)];
    config.host_addresses = vec![HostAddress { address: address(number).into(), prefix_len: 24 }];
    config
}

/// Returns the HEARTBEATs of a datagram, with the participants that they are for.
fn heartbeats_of(bytes: &[u8]) -> Vec<(GuidPrefix, Heartbeat)> {
    // A transform may have changed the bytes.
    let Ok(message) = Message::parse(bytes) else { return Vec::new() };
    let (mut to, mut heartbeats) = (GuidPrefix::UNKNOWN, Vec::new());
    for submessage in message.submessages().flatten() {
        match submessage {
            Submessage::InfoDestination(prefix) => to = prefix,
            Submessage::Heartbeat(heartbeat) => heartbeats.push((to, heartbeat)),
            _ => {}
        }
    }
    heartbeats
}

/// Returns the answer to a HEARTBEAT without changes.
pub(crate) fn answer_to(heartbeat: &Heartbeat, source: GuidPrefix) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageBuilder::new(&mut bytes);
    message.header(source);
    message.ack_nack(&AckNack {
        reader_id: heartbeat.reader_id,
        writer_id: heartbeat.writer_id,
        reader_sn_state: SequenceNumberSet::empty(heartbeat.first_sn),
        count: heartbeat.count,
        is_final: true,
    });
    bytes
}

impl Network {
    pub(crate) fn new() -> Self {
        let now = Now { instant: Instant::from_nanos(1_000_000_000), time: Time::from_unix_nanos(1_800_000_000 << 30) };
        let loses = Box::new(|_, _: &[u8]| false);
        Self {
            now,
            nodes: Vec::new(),
            in_flight: BTreeMap::new(),
            sent: 0,
            loses,
            alters: |_| (),
            heartbeats: BTreeMap::new(),
            heartbeats_at: BTreeMap::new(),
        }
    }

    /// Loses the liveliness assertions, whose HEARTBEATs challenge addresses first.
    pub(crate) fn lose_assertions(&mut self) {
        self.loses = Box::new(|_, bytes| bytes.windows(4).any(|id| id == EntityId::PARTICIPANT_MESSAGE_WRITER.0));
    }

    /// Starts a participant and returns its index.
    pub(crate) fn start(&mut self, config: ParticipantConfig) -> usize {
        let mut locators = config.metatraffic_unicast.clone();
        locators.extend(&config.metatraffic_multicast);
        let seed = u64::from(config.prefix.0[2]);
        let mut participant = Participant::new(config, seed, HashSeed::fixed(seed));
        participant.start(self.now);
        self.nodes.push(Node {
            participant: Some(participant),
            events: Vec::new(),
            known: Vec::new(),
            reply_locators: BTreeMap::new(),
            locators,
            is_silent: false,
        });
        let index = self.nodes.len() - 1;
        self.collect(index);
        index
    }

    /// Runs `change` on a participant, and sends the resulting datagrams.
    pub(crate) fn with<R>(&mut self, index: usize, change: impl FnOnce(&mut Participant, Now) -> R) -> R {
        let now = self.now;
        let result = change(self.nodes[index].participant.as_mut().unwrap(), now);
        self.collect(index);
        result
    }

    pub(crate) fn participant(&self, index: usize) -> &Participant {
        self.nodes[index].participant.as_ref().unwrap()
    }

    /// Moves a participant to other locators, which it announces.
    pub(crate) fn move_to(&mut self, index: usize, locators: ParticipantLocators) {
        let listens = locators.metatraffic_unicast.iter().chain(&locators.metatraffic_multicast);
        self.nodes[index].locators = listens.copied().collect();
        self.with(index, |participant, now| participant.set_locators(now, locators));
    }

    /// Nothing reaches a participant at this locator any more.
    pub(crate) fn cut(&mut self, index: usize, locator: Locator) {
        self.nodes[index].locators.retain(|known| *known != locator);
    }

    /// The participant receives at this locator again, and sends from there.
    pub(crate) fn mend(&mut self, index: usize, locator: Locator) {
        self.nodes[index].locators.insert(0, locator);
    }

    /// The participant sends and receives nothing from now on.
    pub(crate) fn crash(&mut self, index: usize) {
        self.nodes[index].is_silent = true;
    }

    /// Returns the events of a participant since the last call.
    pub(crate) fn events(&mut self, index: usize) -> Vec<ParticipantEvent> {
        std::mem::take(&mut self.nodes[index].events)
    }

    /// Returns the writers of a participant that peers have shown to know, each with its reader.
    ///
    /// Covers the time since the last call.
    pub(crate) fn known(&mut self, index: usize) -> Vec<(EntityId, Guid)> {
        std::mem::take(&mut self.nodes[index].known)
    }

    /// Returns where the answers of a participant to a peer may go.
    pub(crate) fn reply_locators(&self, index: usize, prefix: GuidPrefix) -> Vec<Locator> {
        self.nodes[index].reply_locators.get(&prefix).cloned().unwrap_or_default()
    }

    /// Delivers bytes to a participant as if they had just arrived from the network, from an unknown address.
    pub(crate) fn deliver(&mut self, index: usize, bytes: &[u8]) {
        self.deliver_from(None, index, bytes);
    }

    /// As [`Self::deliver`], from this address.
    pub(crate) fn deliver_from(&mut self, sender: Option<IpAddr>, index: usize, bytes: &[u8]) {
        let now = self.now;
        let packet = Payload::copy_of(bytes);
        if let Ok(message) = Message::parse(packet.bytes()) {
            let mut receiver = Receiver::new(&message.header);
            receiver.sender = sender;
            for submessage in message.submessages().flatten() {
                receiver.apply(&submessage);
                if Participant::is_addressed_by(&submessage) {
                    let participant = self.nodes[index].participant.as_mut().unwrap();
                    participant.handle_submessage(now, &receiver, &submessage, &packet);
                }
            }
        }
        self.collect(index);
    }

    /// Answers the challenge to the address of a participant that does not exist.
    pub(crate) fn answer_challenge(&mut self, index: usize, prefix: GuidPrefix) {
        self.answer_challenge_of(index, prefix, EntityId::PARTICIPANT_MESSAGE_WRITER);
    }

    /// Returns the last challenge to this locator.
    pub(crate) fn heartbeat_at(&self, locator: Locator) -> Option<Heartbeat> {
        self.heartbeats_at.get(&(locator, EntityId::PARTICIPANT_MESSAGE_WRITER)).cloned()
    }

    /// Returns the datagrams on their way to this locator.
    pub(crate) fn in_flight_to(&self, locator: Locator) -> Vec<Vec<u8>> {
        self.in_flight.values().filter(|flight| flight.to == locator).map(|flight| flight.bytes.clone()).collect()
    }

    /// Answers the last challenge to this locator, in the name of a participant that does not exist.
    pub(crate) fn answer_challenge_at(&mut self, index: usize, prefix: GuidPrefix, locator: Locator) {
        let writer_id = EntityId::PARTICIPANT_MESSAGE_WRITER;
        if let Some(heartbeat) = self.heartbeats_at.remove(&(locator, writer_id)) {
            let sender = locator.to_socket_addr().map(|address| address.ip());
            self.deliver_from(sender, index, &answer_to(&heartbeat, prefix));
        }
    }

    /// As [`Self::answer_challenge`], for a challenge in the name of this writer.
    pub(crate) fn answer_challenge_of(&mut self, index: usize, prefix: GuidPrefix, writer_id: EntityId) {
        if let Some(heartbeat) = self.heartbeats.remove(&(prefix, writer_id)) {
            self.deliver(index, &answer_to(&heartbeat, prefix));
        }
    }

    /// Advances the time.
    pub(crate) fn run_for(&mut self, duration: Duration) {
        let end = self.now.instant.after(duration).unwrap();
        loop {
            let timers = self.nodes.iter().filter(|node| !node.is_silent);
            let timer = timers.filter_map(|node| node.participant.as_ref()?.deadline()).min();
            let arrival = self.in_flight.keys().next().map(|(at, _)| *at);
            // Among equal times the arrival goes first.
            let Some(next) = [timer, arrival].into_iter().flatten().min().filter(|&next| next <= end) else { break };
            self.go_to(next);
            if arrival == Some(next) {
                let (_, flight) = self.in_flight.pop_first().unwrap();
                self.arrive(&flight);
            } else {
                self.run_timers();
            }
        }
        self.go_to(end);
    }

    fn run_timers(&mut self) {
        let now = self.now;
        for index in 0..self.nodes.len() {
            let node = &mut self.nodes[index];
            let participant = node.participant.as_mut().unwrap();
            if !node.is_silent && participant.deadline().is_some_and(|deadline| deadline <= now.instant) {
                participant.handle_timeout(now);
                self.collect(index);
                // An unhandled deadline would repeat at the same instant forever.
                let after = self.participant(index).deadline();
                assert!(after.is_none_or(|after| after > now.instant), "a deadline that has passed is not handled");
            }
        }
    }

    fn arrive(&mut self, flight: &Flight) {
        for index in 0..self.nodes.len() {
            if self.nodes[index].locators.contains(&flight.to) && !self.nodes[index].is_silent {
                self.deliver_from(flight.from, index, &flight.bytes);
            }
        }
    }

    fn go_to(&mut self, instant: Instant) {
        let passed = instant.since(self.now.instant);
        self.now = Now { instant, time: self.now.time + passed };
    }

    /// Collects the events and sends the pending datagrams of a participant.
    fn collect(&mut self, index: usize) {
        let arrival = self.now.instant.after(LATENCY).unwrap();
        let node = &mut self.nodes[index];
        let participant = node.participant.as_mut().unwrap();
        let from = node.locators.iter().find_map(|locator| Some(locator.to_socket_addr()?.ip()));
        for event in std::iter::from_fn(|| participant.poll_event()) {
            match event {
                ParticipantEvent::WriterKnown { writer, reader } => node.known.push((writer, reader)),
                ParticipantEvent::ReplyLocatorsChanged { prefix, locators } => {
                    node.reply_locators.insert(prefix, locators);
                }
                event => node.events.push(event),
            }
        }
        let mut datagram = Datagram::new();
        while participant.poll_transmit(self.now, &mut datagram) {
            let mut bytes = Vec::new();
            datagram.copy_to(&mut bytes);
            (self.alters)(&mut bytes);
            for (to, heartbeat) in heartbeats_of(&bytes) {
                for locator in datagram.destinations() {
                    self.heartbeats_at.insert((*locator, heartbeat.writer_id), heartbeat.clone());
                }
                self.heartbeats.insert((to, heartbeat.writer_id), heartbeat);
            }
            assert!(!datagram.destinations().is_empty(), "a datagram that goes nowhere");
            for &to in datagram.destinations() {
                // Counts lost datagrams too, because the number identifies a datagram for `loses`.
                self.sent += 1;
                if !node.is_silent && !(self.loses)(self.sent, &bytes) {
                    self.in_flight.insert((arrival, self.sent), Flight { from, to, bytes: bytes.clone() });
                }
            }
        }
    }

    /// Counts the sent datagrams, once for each destination.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}
