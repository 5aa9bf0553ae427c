//! Any sequence of received datagrams and API calls of a participant. Datagrams may have forged senders.
//!
//! The participant does not panic or close. Its ledgers of losses add up, and its state stays bounded. It still
//! receives a sample of an honest participant.

#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::writer::SlowReader;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Guid};
use libfuzzer_sys::fuzz_target;

#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Line {
    #[dds(key)]
    instance: u8,
    number: u32,
    padding: Vec<u8>,
}

/// An integer in a datagram: small, near a power of two, or any.
#[derive(Arbitrary, Debug, Clone, Copy)]
enum Number {
    Small(u8),
    Near(u8, i8),
    Any(i64),
}

impl Number {
    fn value(self) -> i64 {
        match self {
            Self::Small(number) => i64::from(number),
            Self::Near(bits, off) => (1_i64 << (bits % 63)).saturating_add(off.into()),
            Self::Any(number) => number,
        }
    }

    fn low(self) -> u32 {
        self.value() as u32
    }
}

#[derive(Arbitrary, Debug)]
struct Set {
    base: Number,
    bits: u16,
    words: Vec<u32>,
}

#[derive(Arbitrary, Debug)]
enum ForgedSubmessage {
    Data { number: Number, flags: u8, payload: Payload },
    Fragment { number: Number, first: Number, count: u16, size: u16, whole: Number, payload: Payload },
    Heartbeat { first: Number, last: Number, count: u8, flags: u8 },
    HeartbeatFrag { number: Number, last: Number, count: u8 },
    Gap { start: Number, list: Set },
    AckNack { list: Set, count: u8, flags: u8 },
    NackFrag { number: Number, list: Set, count: u8 },
    Timestamp { seconds: Number },
    Destination { victim: bool },
    Source { peer: bool },
    Reply { port: u16 },
    Other { id: u8, flags: u8, len: Option<u16>, body: Vec<u8> },
}

#[derive(Arbitrary, Debug)]
enum Payload {
    Sample { instance: u8, padding: u16 },
    Bytes(Vec<u8>),
}

impl Payload {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Sample { instance, padding } => {
                let mut bytes = vec![0, 1, 0, 0, *instance, 0, 0, 0, 1, 0, 0, 0];
                let padding = usize::from(*padding % 3000);
                bytes.extend((padding as u32).to_le_bytes());
                bytes.resize(bytes.len() + padding, 7);
                bytes
            }
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

/// The pair of endpoints that a datagram is for.
#[derive(Arbitrary, Debug, Clone, Copy)]
enum TargetPair {
    Reliable,
    BestEffort,
    Kept,
    /// SPDP and SEDP.
    Discovery(u8),
}

#[derive(Arbitrary, Debug)]
enum LifeStep {
    /// A datagram in the name of the peer or of an unknown participant.
    Datagram {
        unknown_sender: Option<u8>,
        discovery: bool,
        about: TargetPair,
        submessages: Vec<ForgedSubmessage>,
    },
    Raw(Vec<u8>),
    Pass {
        millis: u8,
    },
    PassLong {
        seconds: u8,
    },
    Write {
        line: u8,
        instance: u8,
        padding: u16,
    },
    PeerWrites {
        line: u8,
        instance: u8,
        padding: u16,
    },
    End {
        line: u8,
        instance: u8,
        unregisters: bool,
    },
    Take {
        line: u8,
    },
    Read {
        line: u8,
    },
    Remake {
        line: u8,
    },
    Lossy {
        percent: u8,
    },
    PeerCrashes,
}

struct Pair {
    writer: DataWriter<Line>,
    reader: DataReader<Line>,
}

struct Party {
    participant: DomainParticipant,
    pairs: Vec<Pair>,
}

const NAMES: [&str; 3] = ["reliable", "best effort", "kept"];

impl Party {
    fn new(world: &Simulation, host: &str) -> Self {
        let participant = world.participant(host, 0).expect("there is room");
        let pairs = (0..NAMES.len()).map(|line| pair(&participant, line)).collect();
        Self { participant, pairs }
    }
}

fn pair(participant: &DomainParticipant, line: usize) -> Pair {
    let few = ResourceLimits::NONE.max_samples(8).max_instances(6);
    let (writer, reader) = (DataWriterQos::default(), DataReaderQos::default());
    let (writer, reader) = match line {
        0 => (writer.reliable().keep_all().resource_limits(few), reader.reliable().keep_all().resource_limits(few)),
        1 => (writer.best_effort(), reader.best_effort().keep_last(4)),
        _ => (
            writer.reliable().transient_local().keep_last(3).lifespan(Duration::from_secs(20)),
            reader.reliable().transient_local().keep_last(2).time_based_filter(Duration::from_millis(5)),
        ),
    };
    let slow = SlowReader::Demote { after: Duration::from_secs(1) };
    Pair {
        writer: participant.writer_builder(NAMES[line]).qos(writer).slow_reader(slow).build().expect("legal"),
        reader: participant.reader_builder(NAMES[line]).qos(reader).build().expect("legal"),
    }
}

struct Life {
    world: Simulation,
    victim: Party,
    peer: Option<Party>,
    number: u32,
    peer_prefix: [u8; 12],
    peer_ids: Vec<[[u8; 4]; 2]>,
}

fuzz_target!(|bytes: &[u8]| {
    let mut rest = Unstructured::new(bytes);
    let Ok(seed) = rest.arbitrary::<u8>() else { return };
    let mut life = Life::new(seed);
    for _ in 0..60 {
        if rest.is_empty() {
            break;
        }
        let Ok(step) = rest.arbitrary::<LifeStep>() else { break };
        life.step(&step);
        life.check();
    }
    life.end();
});

impl Life {
    fn new(seed: u8) -> Self {
        let world = Simulation::with_interference(
            seed.into(),
            if seed % 2 == 0 { Interference::NONE } else { Interference::default() },
        );
        world.set_network(Conditions::perfect());
        let victim = Party::new(&world, "victim");
        let peer = Party::new(&world, "peer");
        let found = || victim.pairs.iter().all(|pair| pair.reader.matched_publications().len() == 2);
        assert!(world.run_until(Duration::from_secs(20), found), "the participants do not discover each other");
        let ids = |pair: &Pair| [pair.writer.guid().entity_id.0, pair.reader.guid().entity_id.0];
        let peer_ids = peer.pairs.iter().map(ids).collect();
        let peer_prefix = peer.participant.guid().prefix.0;
        Self { world, victim, peer: Some(peer), number: 0, peer_prefix, peer_ids }
    }

    fn step(&mut self, step: &LifeStep) {
        let line = |line: u8| usize::from(line) % NAMES.len();
        match step {
            LifeStep::Datagram { unknown_sender, discovery, about, submessages } => {
                let bytes = self.datagram(*unknown_sender, *about, submessages);
                self.send(*discovery, &bytes);
            }
            LifeStep::Raw(bytes) => self.send(bytes.len() % 2 == 0, bytes),
            LifeStep::Pass { millis } => self.world.run_for(Duration::from_millis(u64::from(*millis))),
            LifeStep::PassLong { seconds } => self.world.run_for(Duration::from_secs(u64::from(*seconds % 40))),
            LifeStep::Write { line: at, instance, padding } => {
                self.number += 1;
                let sample = sample(*instance, self.number, *padding);
                // The write fails if the history is full.
                let _ = self.victim.pairs[line(*at)].writer.try_write(&sample);
            }
            LifeStep::PeerWrites { line: at, instance, padding } => {
                self.number += 1;
                let sample = sample(*instance, self.number, *padding);
                if let Some(peer) = &self.peer {
                    let _ = peer.pairs[line(*at)].writer.try_write(&sample);
                }
            }
            LifeStep::End { line: at, instance, unregisters } => {
                let writer = &self.victim.pairs[line(*at)].writer;
                let _ = if *unregisters { writer.unregister_instance(instance) } else { writer.dispose(instance) };
            }
            LifeStep::Take { line: at } => drop(self.victim.pairs[line(*at)].reader.take().expect("it is open")),
            LifeStep::Read { line: at } => drop(self.victim.pairs[line(*at)].reader.read().expect("it is open")),
            LifeStep::Remake { line: at } => self.victim.pairs[line(*at)] = pair(&self.victim.participant, line(*at)),
            LifeStep::Lossy { percent } => {
                self.world.set_network(Conditions::perfect().lossy(f64::from(percent % 60) / 100.0));
            }
            LifeStep::PeerCrashes => {
                self.world.host("peer").crash();
                self.peer = None;
            }
        }
    }

    fn send(&self, discovery: bool, bytes: &[u8]) {
        let victim = self.world.host("victim").address();
        self.world.host("attacker").send((victim, if discovery { 7410 } else { 7411 }), bytes);
        self.world.run_for(Duration::from_micros(50));
    }

    fn datagram(&self, unknown_sender: Option<u8>, about: TargetPair, submessages: &[ForgedSubmessage]) -> Vec<u8> {
        let prefix = unknown_sender.map_or(self.peer_prefix, |number| [number; 12]);
        let mut bytes = b"RTPS\x02\x05\x01\xdd".to_vec();
        bytes.extend(prefix);
        let victim = self.victim.participant.guid().prefix.0;
        let ids = |line: usize| {
            let pair = &self.victim.pairs[line];
            let [writer, reader] = self.peer_ids[line];
            ([pair.reader.guid(), pair.writer.guid()].map(|guid: Guid| guid.entity_id.0), [writer, reader])
        };
        let ([our_reader, our_writer], [their_writer, their_reader]) = match about {
            TargetPair::Reliable => ids(0),
            TargetPair::BestEffort => ids(1),
            TargetPair::Kept => ids(2),
            TargetPair::Discovery(which) => {
                let id = [0, [1, 0, 0, 2][usize::from(which % 4)], [0, 3, 4, 0][usize::from(which % 4)], 0xc2];
                let [mut writer, mut reader] = [id; 2];
                (writer[3], reader[3]) = (0xc2, 0xc7);
                ([reader, writer], [writer, reader])
            }
        };
        for submessage in submessages.iter().take(8) {
            let (id, flags, len, body) =
                submessage.body([our_reader, our_writer], [their_writer, their_reader], victim, self.peer_prefix);
            bytes.extend([id, flags]);
            bytes.extend(len.unwrap_or(body.len() as u16).to_le_bytes());
            bytes.extend(body);
        }
        bytes
    }

    /// Checks the invariants that hold after each step.
    fn check(&self) {
        assert!(!self.victim.participant.is_closed());
        for pair in &self.victim.pairs {
            let losses = pair.reader.losses();
            for row in losses.writers.iter().chain(&losses.departed).chain([&losses.total()]) {
                assert_eq!(row.known, row.received + row.not_received.total() + row.awaited, "{row:?}");
                assert_eq!(row.received, row.delivered() + row.waiting + row.undelivered.total(), "{row:?}");
            }
            assert!(losses.total().known < 1 << 40, "{losses}");
        }
    }

    /// Checks that a sample of an honest participant still arrives.
    fn end(mut self) {
        self.world.set_network(Conditions::perfect());
        self.peer = None;
        let honest = self.world.participant("honest", 0).expect("there is room");
        let reader = DataReaderQos::default().reliable().transient_local().keep_all();
        let reader = self.victim.participant.reader_builder::<Line>("honest").qos(reader).build().expect("legal");
        let writer = DataWriterQos::default().reliable().transient_local();
        let writer = honest.writer_builder("honest").qos(writer).build().expect("legal");
        let line = sample(1, 1, 5000);
        writer.write(&line).expect("there is room");
        let arrives = || reader.take().expect("it is open").into_data().any(|got: Line| got == line);
        assert!(self.world.run_until(Duration::from_secs(200), arrives), "an honest sample does not arrive");
        self.check();
        self.victim.participant.close();
    }
}

fn sample(instance: u8, number: u32, padding: u16) -> Line {
    Line { instance, number, padding: vec![7; usize::from(padding)] }
}

impl Set {
    fn write(&self, body: &mut Vec<u8>, wide: bool) {
        let base = self.base.value();
        if wide {
            body.extend(((base >> 32) as i32).to_le_bytes());
        }
        body.extend((base as u32).to_le_bytes());
        body.extend(u32::from(self.bits).to_le_bytes());
        let words = usize::from(self.bits).div_ceil(32).min(10);
        for at in 0..words {
            body.extend(self.words.get(at).copied().unwrap_or(u32::MAX).to_le_bytes());
        }
    }
}

fn number(body: &mut Vec<u8>, number: Number) {
    let value = number.value();
    body.extend(((value >> 32) as i32).to_le_bytes());
    body.extend((value as u32).to_le_bytes());
}

impl ForgedSubmessage {
    /// The ID, the flags, an optional false length, and the body.
    fn body(
        &self,
        [our_reader, our_writer]: [[u8; 4]; 2],
        [their_writer, their_reader]: [[u8; 4]; 2],
        victim: [u8; 12],
        peer: [u8; 12],
    ) -> (u8, u8, Option<u16>, Vec<u8>) {
        let mut body = Vec::new();
        let to_reader = |body: &mut Vec<u8>| body.extend([our_reader, their_writer].concat());
        let to_writer = |body: &mut Vec<u8>| body.extend([their_reader, our_writer].concat());
        match self {
            Self::Data { number: writer_sn, flags, payload } => {
                body.extend([0, 0, 16, 0]);
                to_reader(&mut body);
                number(&mut body, *writer_sn);
                let flags = 1 | (flags & 0x0e);
                if flags & 2 != 0 {
                    body.extend([0x71, 0, 4, 0, 0, 0, 0, 1 + (flags >> 3), 1, 0, 0, 0]);
                }
                body.extend(payload.bytes());
                (0x15, flags, None, body)
            }
            Self::Fragment { number: writer_sn, first, count, size, whole, payload } => {
                body.extend([0, 0, 28, 0]);
                to_reader(&mut body);
                number(&mut body, *writer_sn);
                body.extend(first.low().to_le_bytes());
                body.extend(count.to_le_bytes());
                body.extend(size.to_le_bytes());
                body.extend(whole.low().to_le_bytes());
                body.extend(payload.bytes());
                (0x16, 1, None, body)
            }
            Self::Heartbeat { first, last, count, flags } => {
                to_reader(&mut body);
                number(&mut body, *first);
                number(&mut body, *last);
                body.extend([*count, 0, 0, 0]);
                (0x07, 1 | (flags & 6), None, body)
            }
            Self::HeartbeatFrag { number: writer_sn, last, count } => {
                to_reader(&mut body);
                number(&mut body, *writer_sn);
                body.extend(last.low().to_le_bytes());
                body.extend([*count, 0, 0, 0]);
                (0x13, 1, None, body)
            }
            Self::Gap { start, list } => {
                to_reader(&mut body);
                number(&mut body, *start);
                list.write(&mut body, true);
                (0x08, 1, None, body)
            }
            Self::AckNack { list, count, flags } => {
                to_writer(&mut body);
                list.write(&mut body, true);
                body.extend([*count, 0, 0, 0]);
                (0x06, 1 | (flags & 2), None, body)
            }
            Self::NackFrag { number: writer_sn, list, count } => {
                to_writer(&mut body);
                number(&mut body, *writer_sn);
                list.write(&mut body, false);
                body.extend([*count, 0, 0, 0]);
                (0x12, 1, None, body)
            }
            Self::Timestamp { seconds } => {
                body.extend(seconds.low().to_le_bytes());
                body.extend([0; 4]);
                (0x09, 1, None, body)
            }
            Self::Destination { victim: to_victim } => {
                body.extend(if *to_victim { victim } else { [9; 12] });
                (0x0e, 1, None, body)
            }
            Self::Source { peer: is_peer } => {
                body.extend([0, 0, 0, 0, 2, 5, 1, 0xdd]);
                body.extend(if *is_peer { peer } else { [8; 12] });
                (0x0c, 1, None, body)
            }
            Self::Reply { port } => {
                body.extend([10, 77, 0, 2].iter().rev());
                body.extend(u32::from(*port).to_le_bytes());
                (0x0d, 1, None, body)
            }
            Self::Other { id, flags, len, body } => (*id, *flags, *len, body.clone()),
        }
    }
}
