//! A random program in a random world.

use super::diary::{self, Diary, note};
use super::dice::Dice;
use super::endpoints::{Reading, Writing, guids};
use super::logs::{ReaderLog, WriterLog};
use super::networks::{Weakness, interference, network};
use super::verdict::{Facts, complaints};
use super::ways::Ways;
use crate::transform::Xor;
use dds_core::qos::Ownership;
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DomainParticipant, Duration, Guid};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) const HOSTS: [&str; 4] = ["robot", "station", "camera", "laptop"];
pub(crate) const TOPICS: [&str; 2] = ["first", "second"];
const TICKS: usize = 120;

/// Time in a working world after which all promises must hold.
///
/// It is longer than a lease and a few announcements.
const RECOVERY: Duration = Duration::from_secs(40);

/// Most rounds of half a second until no more samples arrive.
const QUIET_AFTER: usize = 1000;

/// Most rounds of half a second that a writer may wait for room, while all readers are emptied.
const ROOM_AFTER: usize = 200;

pub(crate) struct Member {
    pub(crate) host: &'static str,
    pub(crate) handle: DomainParticipant,
}

/// Additional features of a world.
///
/// Each was added later than the one before. Seeds that failed once must keep their worlds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extras {
    None,
    /// Content filters and coherent sets.
    Sets,
    /// Hosts with very little room.
    WeakHosts,
    /// All hosts have very little room.
    OnlyWeakHosts,
}

pub(crate) struct Scenario {
    pub(crate) simulation: Simulation,
    pub(crate) dice: Dice,
    /// Source of the choices that were added later, so that worlds without them stay the same.
    pub(crate) extras: Dice,
    pub(crate) has_filters: bool,
    pub(crate) has_sets: bool,
    pub(crate) members: Vec<Option<Member>>,
    pub(crate) writers: Vec<Writing>,
    pub(crate) readers: Vec<Reading>,
    crashed: Vec<&'static str>,
    pub(crate) moment: u64,
    clocks_agree: bool,
    /// All participants transform their messages.
    transforms: bool,
    /// OWNERSHIP of the second topic.
    second_is_exclusive: bool,
    /// Paths of the datagrams of closed participants.
    ways: Ways,
    /// Errors that were detected at once.
    pub(crate) complaints: Vec<String>,
}

impl Scenario {
    pub(crate) fn new(seed: u64) -> Self {
        Self::begin(seed, false, Extras::WeakHosts)
    }

    pub(crate) fn with(seed: u64, with: Extras) -> Self {
        Self::begin(seed, false, with)
    }

    /// A world where all participants transform their messages.
    pub(crate) fn with_transform(seed: u64) -> Self {
        Self::begin_with(seed, false, Extras::WeakHosts, true)
    }

    fn begin(seed: u64, has_diary: bool, with: Extras) -> Self {
        Self::begin_with(seed, has_diary, with, false)
    }

    fn begin_with(seed: u64, has_diary: bool, with: Extras, transforms: bool) -> Self {
        let simulation = Simulation::new(seed);
        if has_diary {
            Diary::of(&simulation);
            if std::env::var_os("DDS_SIM_PACKETS").is_some() {
                simulation.intercept(diary::packet);
            }
        }
        // Every purpose has a random sequence of its own, so that a new one changes no older seed.
        let mut dice = Dice(seed ^ 0x5eed);
        simulation.set_network(network(&mut dice));
        simulation.set_interference(interference(&mut dice));
        let second_is_exclusive = dice.falls(30);
        let mut extras = Dice(seed ^ 0xf117_e25e_7500);
        let has_extras = with >= Extras::Sets;
        let (has_filters, has_sets) = (has_extras && extras.falls(40), has_extras && extras.falls(40));
        let mut weak = Dice(seed ^ 0x3ea6_4057);
        let mut scenario = Self {
            simulation,
            dice,
            extras,
            has_filters,
            has_sets,
            members: Vec::new(),
            writers: Vec::new(),
            readers: Vec::new(),
            crashed: Vec::new(),
            moment: 0,
            clocks_agree: true,
            transforms,
            second_is_exclusive,
            ways: Ways::default(),
            complaints: Vec::new(),
        };
        // At least two hosts, so that some traffic crosses the network.
        let hosts = 2 + scenario.dice.below(HOSTS.len() - 1);
        for host in &HOSTS[..hosts] {
            scenario.join(host);
            if scenario.dice.falls(20) {
                scenario.join(host);
            }
            // The default receive buffer of Linux, which large samples may overrun.
            if scenario.dice.falls(20) {
                scenario.simulation.host(host).set_receive_buffer(212_992);
            }
            let weakness = (with >= Extras::WeakHosts).then(|| match with {
                Extras::OnlyWeakHosts => Weakness::MOST,
                _ => Weakness::draw(&mut weak),
            });
            weakness.into_iter().for_each(|weakness| weakness.afflict(&scenario.simulation.host(host)));
        }
        (0..3).for_each(|_| scenario.add_writer());
        (0..4).for_each(|_| scenario.add_reader());
        scenario
    }

    /// The same, with a log of all events.
    pub(crate) fn with_diary(seed: u64) -> Self {
        let with = if std::env::var_os("DDS_SIM_PLAIN").is_some() { Extras::None } else { Extras::WeakHosts };
        Self::begin(seed, true, with)
    }

    /// The paths that datagrams have taken so far.
    pub(crate) fn ways(&self) -> Ways {
        let alive = self.members.iter().flatten().map(|member| Ways::of(&member.handle.traffic()));
        alive.fold(self.ways + Ways::of_network(&self.simulation.network_counters()), |sum, ways| sum + ways)
    }

    pub(crate) fn trace_hash(&self) -> u64 {
        self.simulation.trace_hash()
    }

    /// Runs the scenario and returns the broken promises.
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
        let mut found = complaints(&writers, &readers, Facts { clocks_agree: self.clocks_agree });
        found.append(&mut self.complaints);
        found.extend(self.unmatched());
        found.extend(self.strangers());
        found.extend(self.misaccounts());
        found
    }

    fn act(&mut self) {
        // The weights keep most time for writes and takes, and make crashes rare.
        match self.dice.below(100) {
            0..=50 => self.write(),
            51..=67 => self.take_somewhere(),
            68..=73 => self.end_instance(),
            74..=76 => self.add_writer(),
            77..=80 => self.add_reader(),
            81..=82 => self.close_writer(),
            83..=84 => self.close_reader(),
            85..=86 => self.change_partition(),
            87..=88 => self.change_qos(),
            89..=91 => self.cut(),
            92..=94 => self.mend(),
            95 => self.crash(),
            96 => self.restart(),
            97 => self.leave(),
            98 => {
                let conditions = network(&mut self.dice);
                self.simulation.set_network(conditions);
            }
            _ => self.disturb_clock(),
        }
    }

    fn join(&mut self, host: &'static str) {
        // Short leases end within a scenario. A short linger keeps a clean shutdown from blocking it.
        let lease = Duration::from_secs(*self.dice.pick(&[3, 10, 20]));
        let mut builder = DomainParticipant::builder(0).lease(lease).linger(Duration::from_millis(100));
        if self.transforms {
            builder = builder.message_transform(Arc::new(Xor(0x5a)));
        }
        let handle = self.simulation.build(host, builder).unwrap();
        note(format_args!("{host} is {}", handle.guid()));
        self.members.push(Some(Member { host, handle }));
    }

    pub(crate) fn alive_member(&mut self) -> Option<usize> {
        let alive: Vec<usize> = (0..self.members.len()).filter(|&member| self.members[member].is_some()).collect();
        if alive.is_empty() { None } else { Some(*self.dice.pick(&alive)) }
    }

    pub(crate) fn ownership_of(&self, topic: &str) -> Ownership {
        if topic == TOPICS[1] && self.second_is_exclusive { Ownership::Exclusive } else { Ownership::Shared }
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
        // All participants of the host crash at once.
        for member in 0..self.members.len() {
            if self.members[member].as_ref().is_some_and(|member| member.host == host) {
                self.bury(member);
            }
        }
    }

    /// Closes a participant in order, and replaces it.
    fn leave(&mut self) {
        let Some(member) = self.alive_member() else { return };
        let Some(host) = self.members[member].as_ref().map(|member| member.host) else { return };
        note(format_args!("one of {host} leaves"));
        self.bury(member);
        self.join(host);
    }

    /// Drops a participant. Its host may have crashed.
    fn bury(&mut self, member: usize) {
        for reader in 0..self.readers.len() {
            if self.readers[reader].member == member && self.readers[reader].handle.is_some() {
                // Take before the end, so that the log contains all samples that were delivered.
                self.take(reader);
                self.readers[reader].end();
            }
        }
        self.writers.iter_mut().filter(|writing| writing.member == member).for_each(Writing::end);
        if let Some(member) = self.members[member].take() {
            self.ways = self.ways + Ways::of(&member.handle.traffic());
            member.handle.close();
        }
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
        if self.dice.falls(25) {
            // SIGSTOP: its clocks go on.
            note(format_args!("{name} stands still"));
            return host.freeze_for(Duration::from_millis(50 + self.dice.below(6000) as u64));
        }
        note(format_args!("the clock of {name} is disturbed"));
        // From now on timestamps of different hosts prove nothing about age.
        self.clocks_agree = false;
        match self.dice.below(3) {
            0 => host.step_clock(self.dice.below(4_000_000_000) as i64 - 2_000_000_000),
            1 => host.set_clock_drift(self.dice.below(1000) as i32 - 500),
            _ => host.sleep_for(Duration::from_millis(100 + self.dice.below(5000) as u64)),
        }
    }

    /// Repairs the world, and lets all owed samples arrive.
    fn heal(&mut self) {
        note(format_args!("everything is made whole"));
        self.mend();
        // Some loss remains, so that repairs still run.
        self.simulation.set_network(Conditions::ethernet().lossy(0.01));
        self.simulation.set_interference(Interference::default());
        // Every host has to be back before the promises are checked.
        while !self.crashed.is_empty() {
            self.restart();
        }
        self.watch();
        let end = self.simulation.now() + RECOVERY;
        while self.simulation.now() < end {
            self.simulation.run_for(Duration::from_millis(500));
            self.take_all();
        }
        self.say_last_words();
        // Readers with little room get the rest piece by piece.
        let mut quiet = 0;
        for _ in 0..QUIET_AFTER {
            if quiet == 6 {
                return self.check_acknowledged();
            }
            self.simulation.run_for(Duration::from_millis(500));
            let taken: usize = (0..self.readers.len()).map(|reader| self.take_when_told(reader)).sum();
            quiet = if taken == 0 { quiet + 1 } else { 0 };
        }
        // The loop ran out of rounds, so the same samples arrive repeatedly.
        self.complaints.push("samples keep arriving although no writer writes".to_owned());
    }

    fn take_all(&mut self) {
        (0..self.readers.len()).for_each(|reader| _ = self.take(reader));
    }

    /// Every writer writes once more.
    ///
    /// It gets room for that, and all matched readers are entitled to its samples.
    fn say_last_words(&mut self) {
        for writer in 0..self.writers.len() {
            if self.writers[writer].handle.is_none() {
                continue;
            }
            let instance = self.writers[writer].log.id * 3;
            let gets_room = (0..ROOM_AFTER).any(|_| {
                // Readers that are full block a KEEP_ALL writer until they are emptied.
                self.write_one(writer, instance, 10) || {
                    self.simulation.run_for(Duration::from_millis(500));
                    self.take_all();
                    false
                }
            });
            if let Some(handle) = &self.writers[writer].handle {
                // A batch may wait forever.
                handle.flush().unwrap();
            }
            if !gets_room {
                self.complaints.push(format!("writer {writer} never gets room for another sample"));
            }
        }
    }

    /// Asserts that all samples are acknowledged, because all readers have been emptied.
    fn check_acknowledged(&mut self) {
        for (writer, writing) in self.writers.iter().enumerate() {
            let Some(handle) = &writing.handle else { continue };
            // Acknowledgments may still be in flight, so allow some time.
            if let Err(error) = handle.acknowledged().block_for(Duration::from_secs(10)) {
                self.complaints.push(format!("writer {writer} waits for acknowledgments of what all have: {error}"));
            }
        }
    }

    /// Pairs that should match and do not, or the reverse.
    fn unmatched(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let set = |guids: Vec<Guid>| guids.into_iter().collect::<BTreeSet<Guid>>();
        for writing in &self.writers {
            let Some(handle) = &writing.handle else { continue };
            let has = set(guids(handle.matched_subscriptions()));
            let fitting = self.readers.iter().filter(|reading| writing.fits(reading));
            let wants = set(fitting.map(|reading| reading.log.guid).collect());
            if has != wants {
                complaints.push(format!("writer {} matches {has:?} instead of {wants:?}", writing.log.id));
            }
        }
        for reading in &self.readers {
            let Some(handle) = &reading.handle else { continue };
            let has = set(guids(handle.matched_publications()));
            let fitting = self.writers.iter().filter(|writing| writing.fits(reading));
            let wants = set(fitting.map(|writing| writing.log.guid).collect());
            if has != wants {
                complaints.push(format!("reader {} matches {has:?} instead of {wants:?}", reading.log.id));
            }
        }
        complaints
    }

    /// Participants that know a dead peer, or do not know a living one.
    fn strangers(&self) -> Vec<String> {
        let alive: BTreeSet<Guid> = self.members.iter().flatten().map(|member| member.handle.guid()).collect();
        let mut complaints = Vec::new();
        for member in self.members.iter().flatten() {
            let known = member.handle.discovered_participants();
            let mut known: BTreeSet<Guid> = known.into_iter().map(|data| data.key).collect();
            // A participant does not discover itself.
            known.insert(member.handle.guid());
            if known != alive {
                complaints.push(format!("{} knows {known:?} instead of {alive:?}", member.handle.guid()));
            }
        }
        complaints
    }
}
