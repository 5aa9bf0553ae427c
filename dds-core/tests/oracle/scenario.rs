//! A random program in a random world.

use crate::diary::{Diary, note};
use crate::dice::Dice;
use crate::oracle::{Got, ReaderLog, WriterLog, Written, complaints};
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::sim::{Burst, Conditions, Simulation};
use dds_core::{
    DataReader, DataWriter, DdsType, DomainParticipant, Duration, EndpointInfo, Entity, Guid, InstanceHandle,
    WriteErrorKind,
};

#[derive(DdsType, Debug, Clone)]
pub(crate) struct Sample {
    #[dds(key)]
    pub(crate) instance: u32,
    pub(crate) writer: u32,
    pub(crate) number: u32,
    pub(crate) padding: Vec<u8>,
}

const HOSTS: [&str; 4] = ["robot", "station", "camera", "laptop"];
const TOPICS: [&str; 2] = ["first", "second"];
const WRITERS_MAX: usize = 8;
const READERS_MAX: usize = 10;
const TICKS: usize = 120;

/// How many instances each writer has; nobody else writes them.
const INSTANCES: u32 = 3;

/// After this, in a world that works again, everything must have come right: longer than a lease and a few announcements.
const RECOVERY: Duration = Duration::from_secs(40);

/// How many rounds of half a second it may take until nothing arrives any more.
const QUIET_AFTER: usize = 1000;

struct Member {
    host: &'static str,
    handle: DomainParticipant,
}

struct Writing {
    member: usize,
    topic: &'static str,
    handle: Option<DataWriter<Sample>>,
    log: WriterLog,
}

struct Reading {
    member: usize,
    topic: &'static str,
    handle: Option<DataReader<Sample>>,
    log: ReaderLog,
}

pub(crate) struct Scenario {
    simulation: Simulation,
    dice: Dice,
    members: Vec<Option<Member>>,
    writers: Vec<Writing>,
    readers: Vec<Reading>,
    crashed: Vec<&'static str>,
    moment: u64,
    /// Samples kept arriving though nobody wrote.
    restless: bool,
}

impl Scenario {
    pub(crate) fn new(seed: u64) -> Self {
        let simulation = Simulation::new(seed);
        let mut dice = Dice(seed ^ 0x5eed);
        simulation.set_network(network(&mut dice));
        let mut scenario = Self {
            simulation,
            dice,
            members: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            crashed: Vec::new(),
            moment: 0,
            restless: false,
        };
        let hosts = 2 + scenario.dice.below(HOSTS.len() - 1);
        for host in &HOSTS[..hosts] {
            scenario.join(host);
            if scenario.dice.falls(20) {
                scenario.join(host);
            }
            if scenario.dice.falls(20) {
                scenario.simulation.host(host).set_receive_buffer(212_992);
            }
        }
        (0..3).for_each(|_| scenario.add_writer());
        (0..4).for_each(|_| scenario.add_reader());
        scenario
    }

    /// The same, with a diary of what happens.
    pub(crate) fn with_diary(seed: u64) -> Self {
        let scenario = Self::new(seed);
        Diary::of(&scenario.simulation);
        for member in scenario.members.iter().flatten() {
            note(format_args!("{} is {}", member.host, member.handle.guid()));
        }
        let writers = scenario.writers.iter().map(|writing| (writing.topic, writing.log.guid));
        let readers = scenario.readers.iter().map(|reading| (reading.topic, reading.log.guid));
        writers.chain(readers).for_each(|(topic, guid)| note(format_args!("{guid} is of {topic}")));
        scenario
    }

    pub(crate) fn trace_hash(&self) -> u64 {
        self.simulation.trace_hash()
    }

    /// Lives through it all; what was not as promised.
    pub(crate) fn run(&mut self) -> Vec<String> {
        for _ in 0..TICKS {
            let pause = self.dice.below(200) as u64;
            self.simulation.run_for(Duration::from_millis(pause));
            self.act();
            self.watch();
        }
        self.heal();
        let writers: Vec<&WriterLog> = self.writers.iter().map(|writer| &writer.log).collect();
        let readers: Vec<&ReaderLog> = self.readers.iter().map(|reader| &reader.log).collect();
        let mut complaints = complaints(&writers, &readers);
        complaints.extend(self.unmatched());
        if self.restless {
            complaints.push("samples keep arriving though nobody writes".to_owned());
        }
        complaints
    }

    fn act(&mut self) {
        match self.dice.below(100) {
            0..=54 => self.write(),
            55..=72 => self.take_somewhere(),
            73..=77 => self.dispose(),
            78..=80 => self.add_writer(),
            81..=84 => self.add_reader(),
            85..=86 => self.close_writer(),
            87..=88 => self.close_reader(),
            89..=92 => self.cut(),
            93..=95 => self.mend(),
            96 => self.crash(),
            97 => self.restart(),
            98 => {
                let conditions = network(&mut self.dice);
                self.simulation.set_network(conditions);
            }
            _ => self.disturb_clock(),
        }
    }

    fn join(&mut self, host: &'static str) {
        let lease = Duration::from_secs(*self.dice.pick(&[3, 10, 20]));
        let builder = DomainParticipant::builder(0).lease(lease).linger(Duration::from_millis(100));
        let handle = self.simulation.build(host, builder).unwrap();
        note(format_args!("{host} is {}", handle.guid()));
        self.members.push(Some(Member { host, handle }));
    }

    fn alive_member(&mut self) -> Option<usize> {
        let alive: Vec<usize> = (0..self.members.len()).filter(|&member| self.members[member].is_some()).collect();
        if alive.is_empty() { None } else { Some(*self.dice.pick(&alive)) }
    }

    fn add_writer(&mut self) {
        let Some(member) = self.alive_member().filter(|_| self.writers.len() < WRITERS_MAX) else { return };
        let topic = *self.dice.pick(&TOPICS);
        let mut qos = DataWriterQos::default();
        qos = if self.dice.falls(80) { qos.reliable() } else { qos.best_effort() };
        qos = match self.dice.below(3) {
            0 => qos.keep_last(*self.dice.pick(&[1, 3, 20])),
            1 => qos.keep_all(),
            _ => qos.keep_all().resource_limits(ResourceLimits { max_samples: Some(30), ..ResourceLimits::default() }),
        };
        if self.dice.falls(40) {
            qos = qos.transient_local();
        }
        let Some(owner) = &self.members[member] else { return };
        let handle = owner.handle.writer_builder(topic).qos(qos.clone()).build().unwrap();
        note(format_args!("writer {} of {topic} is {}", self.writers.len(), handle.guid()));
        let log = WriterLog::new(self.writers.len() as u32, handle.guid(), topic, qos);
        self.writers.push(Writing { member, topic, handle: Some(handle), log });
    }

    fn add_reader(&mut self) {
        let Some(member) = self.alive_member().filter(|_| self.readers.len() < READERS_MAX) else { return };
        let topic = *self.dice.pick(&TOPICS);
        let mut qos = DataReaderQos::default();
        qos = if self.dice.falls(75) { qos.reliable() } else { qos.best_effort() };
        qos = match self.dice.below(4) {
            0 => qos.keep_last(*self.dice.pick(&[1, 3, 20])),
            1 => qos.keep_all().resource_limits(ResourceLimits { max_samples: Some(10), ..ResourceLimits::default() }),
            _ => qos.keep_all(),
        };
        if self.dice.falls(40) {
            qos = qos.transient_local();
        }
        let Some(owner) = &self.members[member] else { return };
        let handle = owner.handle.reader_builder(topic).qos(qos.clone()).build().unwrap();
        note(format_args!("reader {} of {topic} is {}", self.readers.len(), handle.guid()));
        let log = ReaderLog::new(self.readers.len() as u32, handle.guid(), topic, qos);
        self.readers.push(Reading { member, topic, handle: Some(handle), log });
    }

    fn write(&mut self) {
        let open: Vec<usize> = (0..self.writers.len()).filter(|&w| self.writers[w].handle.is_some()).collect();
        if open.is_empty() {
            return;
        }
        let writer = *self.dice.pick(&open);
        let burst = 1 + self.dice.below(12);
        let padding = match self.dice.below(20) {
            0 => 150_000,
            1..=3 => 5_000,
            _ => self.dice.below(200),
        };
        for _ in 0..burst {
            let instance = self.dice.below(INSTANCES as usize) as u32;
            self.watch();
            let Writing { handle: Some(handle), log, .. } = &mut self.writers[writer] else { return };
            let instance = log.id * INSTANCES + instance;
            let sample = Sample { instance, writer: log.id, number: log.next_number(), padding: vec![7; padding] };
            match handle.write(&sample) {
                Ok(()) => {
                    note(format_args!("writer {writer} has written {}", log.next_number()));
                    log.note(instance, Written::Data);
                }
                Err(error) => match error.kind() {
                    WriteErrorKind::Timeout { .. } => return,
                    kind => panic!("{kind:?}"),
                },
            }
        }
    }

    fn dispose(&mut self) {
        let open: Vec<usize> = (0..self.writers.len()).filter(|&w| self.writers[w].handle.is_some()).collect();
        if open.is_empty() {
            return;
        }
        let writer = *self.dice.pick(&open);
        let instance = self.dice.below(INSTANCES as usize) as u32;
        self.watch();
        let Writing { handle: Some(handle), log, .. } = &mut self.writers[writer] else { return };
        let instance = log.id * INSTANCES + instance;
        match handle.dispose(&instance) {
            Ok(()) => log.note(instance, Written::Dispose),
            Err(error) => match error.kind() {
                WriteErrorKind::Timeout { .. } | WriteErrorKind::UnknownInstance => {}
                kind => panic!("{kind:?}"),
            },
        }
    }

    fn take_somewhere(&mut self) {
        if !self.readers.is_empty() {
            let reader = self.dice.below(self.readers.len());
            self.take(reader);
        }
    }

    fn take(&mut self, reader: usize) -> usize {
        self.watch();
        let Reading { handle: Some(handle), log, .. } = &mut self.readers[reader] else { return 0 };
        let batch = handle.take().unwrap();
        let count = batch.len();
        for sample in batch {
            log.note(Got {
                writer: sample.info.publication_handle,
                sequence: sample.info.sequence_number.0,
                state: sample.info.instance_state,
                instance: sample.info.instance_handle,
                data: sample.data.map(|data: Sample| (data.writer, data.number, data.instance, data.padding)),
            });
        }
        count
    }

    fn close_writer(&mut self) {
        let writer = self.dice.below(self.writers.len());
        let writing = &mut self.writers[writer];
        writing.log.end();
        note(format_args!("writer {writer} is closed"));
        drop(writing.handle.take());
    }

    fn close_reader(&mut self) {
        let reader = self.dice.below(self.readers.len());
        self.take(reader);
        let reading = &mut self.readers[reader];
        reading.log.end();
        note(format_args!("reader {reader} is closed"));
        drop(reading.handle.take());
    }

    fn cut(&mut self) {
        let (one, other) = (*self.dice.pick(&HOSTS), *self.dice.pick(&HOSTS));
        if one != other {
            let link = self.simulation.link(one, other);
            note(format_args!("{one} and {other} are cut"));
            if self.dice.falls(30) { link.one_way().cut() } else { link.cut() }
        }
    }

    fn mend(&mut self) {
        note(format_args!("links are mended"));
        for (at, one) in HOSTS.iter().enumerate() {
            HOSTS[at + 1..].iter().for_each(|other| self.simulation.link(one, other).mend());
        }
    }

    fn crash(&mut self) {
        let Some(host) = self.alive_member().and_then(|member| Some(self.members[member].as_ref()?.host)) else {
            return;
        };
        note(format_args!("{host} crashes"));
        self.simulation.host(host).crash();
        self.crashed.push(host);
        for member in 0..self.members.len() {
            if self.members[member].as_ref().is_some_and(|member| member.host == host) {
                self.bury(member);
            }
        }
    }

    /// Lets go of what was on a crashed host.
    fn bury(&mut self, member: usize) {
        for reader in 0..self.readers.len() {
            if self.readers[reader].member == member && self.readers[reader].handle.is_some() {
                self.take(reader);
                self.readers[reader].log.end();
                self.readers[reader].handle = None;
            }
        }
        for writing in self.writers.iter_mut().filter(|writing| writing.member == member) {
            if writing.handle.take().is_some() {
                writing.log.end();
            }
        }
        self.members[member] = None;
    }

    fn restart(&mut self) {
        if let Some(host) = self.crashed.pop() {
            self.simulation.host(host).restart();
            self.join(host);
        }
    }

    fn disturb_clock(&mut self) {
        let name = *self.dice.pick(&HOSTS);
        let host = self.simulation.host(name);
        match self.dice.below(3) {
            0 => host.step_clock(self.dice.below(4_000_000_000) as i64 - 2_000_000_000),
            1 => host.set_clock_drift(self.dice.below(1000) as i32 - 500),
            _ => host.sleep_for(Duration::from_millis(100 + self.dice.below(5000) as u64)),
        }
    }

    /// Notes who is matched with whom now, and since which sample.
    fn watch(&mut self) {
        self.moment += 1;
        for writing in &mut self.writers {
            let Some(handle) = &writing.handle else { continue };
            let matched: Vec<Guid> = guids(handle.matched_subscriptions());
            let total = handle.publication_matched().unwrap().total_count;
            writing.log.watch(self.moment, &matched, total);
        }
        for reading in &mut self.readers {
            let Some(handle) = &reading.handle else { continue };
            let matched: Vec<Guid> = guids(handle.matched_publications());
            let total = handle.subscription_matched().unwrap().total_count;
            reading.log.watch(self.moment, &matched, total);
        }
    }

    /// Lets the world work again, and everything that is owed arrive.
    fn heal(&mut self) {
        self.mend();
        self.simulation.set_network(Conditions::ethernet().lossy(0.01));
        while !self.crashed.is_empty() {
            self.restart();
        }
        self.watch();
        let end = self.simulation.now() + RECOVERY;
        while self.simulation.now() < end {
            self.simulation.run_for(Duration::from_millis(200));
            (0..self.readers.len()).for_each(|reader| _ = self.take(reader));
            self.watch();
        }
        // Readers with little room get the rest piece by piece.
        let mut quiet = 0;
        for _ in 0..QUIET_AFTER {
            if quiet == 10 {
                return;
            }
            self.simulation.run_for(Duration::from_millis(500));
            let taken: usize = (0..self.readers.len()).map(|reader| self.take(reader)).sum();
            quiet = if taken == 0 { quiet + 1 } else { 0 };
        }
        self.restless = true;
    }

    /// Pairs that should have found each other and have not.
    fn unmatched(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for writing in &self.writers {
            let Some(handle) = &writing.handle else { continue };
            let mut matched: Vec<InstanceHandle> =
                guids(handle.matched_subscriptions()).into_iter().map(InstanceHandle::from_guid).collect();
            let fits = |reading: &&Reading| {
                reading.handle.is_some()
                    && reading.topic == writing.topic
                    && (writing.log.qos.reliability.is_reliable() || !reading.log.qos.reliability.is_reliable())
                    && writing.log.qos.durability >= reading.log.qos.durability
            };
            let mut expected: Vec<InstanceHandle> =
                self.readers.iter().filter(fits).map(|reading| InstanceHandle::from_guid(reading.log.guid)).collect();
            matched.sort();
            expected.sort();
            if matched != expected {
                let (has, wants) = (matched.len(), expected.len());
                complaints.push(format!("writer {} matches {has} readers instead of {wants}", writing.log.id));
            }
        }
        complaints
    }
}

/// A network that somebody may have.
fn network(dice: &mut Dice) -> Conditions {
    let mut conditions = match dice.below(5) {
        0 => Conditions::perfect(),
        1 => Conditions::ethernet(),
        2 => Conditions::office_wifi(),
        3 => Conditions::hall_wifi(),
        // Like LTE, but with multicast: nobody here has peers.
        _ => Conditions { multicast_loss: 0.3, ..Conditions::lte() },
    };
    if dice.falls(30) {
        conditions = conditions.lossy(*dice.pick(&[0.01, 0.1, 0.3]));
    }
    if dice.falls(30) {
        conditions = conditions.duplicating(0.1).reordering(0.2);
    }
    if dice.falls(15) {
        let (every, lasting) = (Duration::from_secs(2), Duration::from_secs(1));
        conditions.burst = Some(Burst { every, lasting, loss: 1.0 });
    }
    conditions
}

fn guids(endpoints: Vec<EndpointInfo>) -> Vec<Guid> {
    endpoints.into_iter().map(|endpoint| endpoint.guid).collect()
}
