//! Millions of faulty datagrams, fed to a running participant. It must not panic, not grow, and not disturb honest
//! traffic.
//!
//! The datagrams begin as captures of other implementations and of this one. The test takes them apart and changes
//! sensitive fields (`mutator`). Half of them carry the name of a known and matched participant. Everything happens in
//! one thread of a simulated world and follows from a printed seed. `DDS_MUTATIONS_SEED=<seed>` repeats a run.
//!
//! `cargo test` runs a short version, `.ci/run mutations` runs ten million.

#[path = "../../../../dds-rtps/tests/support/mod.rs"]
mod captures;
mod mutator;
mod party;
mod rare;

use crate::ALLOCATOR;
use crate::simulated::World;
use crate::support::alone;
use dds_core::Duration;
use dds_core::driver::Socket;
use mutator::{Cast, Mutator, Original};
use party::{Party, image, pose, settings};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Mutations between two samples of honest traffic.
const BATCH: u64 = 1_000;
/// Most mutations in the name of one participant.
///
/// Then another participant takes its place, because much of the state about the first one is nonsense by then.
const LIFE: u64 = 1_000;
/// Mutations between two checks that the impersonated participant is still matched.
///
/// A disposal of that participant is soon among the mutations.
const LOOK: u64 = 50;
/// Virtual time between two datagrams, so that leases, repairs and delays all occur.
const PAUSE: Duration = Duration::from_micros(20);
/// Longer than any wait for data that will never arrive.
const REST: Duration = Duration::from_secs(120);
/// Longer than any repair takes.
const PATIENCE: Duration = Duration::from_secs(20);
const MILLION: u64 = 1_000_000;
/// Most growth of memory after the first million.
const GROWTH_MAX: usize = 2 << 20;

#[test]
fn participant_survives_50_thousand_mutations() {
    if !alone("mutations::participant_survives_50_thousand_mutations") {
        return;
    }
    run(50_000);
}

#[test]
#[ignore = "takes minutes: .ci/run mutations"]
fn participant_survives_10_million_mutations() {
    if !alone("mutations::participant_survives_10_million_mutations") {
        return;
    }
    run(10 * MILLION);
}

/// The participant that is fed, and its peers.
struct Stage {
    world: World,
    victim: Party,
    honest: Party,
    impersonated: Party,
    said: u64,
    /// Number of honest samples that have been checked.
    checked: u64,
    depth: Depth,
}

/// How deep the faulty datagrams have come.
///
/// A counter that stays zero shows that the mutations miss their target.
#[derive(Debug, Default)]
struct Depth {
    /// Samples that readers have accepted.
    samples: usize,
    not_decodable: u64,
    lost: u64,
    rejected: u64,
    /// Writers and readers that were matched, one after the other.
    matched: u32,
    incompatible: u32,
    participants_max: usize,
}

fn run(mutations: u64) {
    let seed = std::env::var("DDS_MUTATIONS_SEED").map_or(20_251_120, |seed| seed.parse().unwrap());
    println!("DDS_MUTATIONS_SEED={seed}, {mutations} mutations");
    watch_for_panics();
    let mut stage = Stage::new(seed);
    let mut mutator = Mutator::new(seed, stage.rehearse(), stage.victim.ids());
    let mut datagram = Vec::new();
    let mut memory_after_first = None;
    let mut age = 0;
    for number in 1..=mutations {
        mutator.next(&stage.cast(), &mut datagram);
        // Both sockets have parsers of their own.
        let socket = if mutator.random.once_in(2) { Socket::UserUnicast } else { Socket::MetatrafficUnicast };
        let fed = catch_unwind(AssertUnwindSafe(|| stage.feed(&datagram, socket)));
        // A handler's panic stays inside of its cell, so check the hook as well.
        if fed.is_err() || PANICKED.load(Ordering::Relaxed) {
            println!("seed {seed}, mutation {number}, by {socket:?}: {}", hex(&datagram));
            println!("{}", PANIC.lock().unwrap());
            resume_unwind(fed.err().unwrap_or_else(|| Box::new("a cell was closed by a panic")));
        }
        if number % BATCH == 0 {
            let spoken = catch_unwind(AssertUnwindSafe(|| stage.speak_honestly()));
            if let Err(panic) = spoken {
                println!("seed {seed}, after mutation {number}: honest traffic suffers");
                resume_unwind(panic);
            }
        }
        age += 1;
        // Mutations in the name of an unmatched participant would not reach the endpoints.
        if age == LIFE || (number % LOOK == 0 && !stage.impersonated_is_matched()) {
            stage.replace_impersonated(number % 2 == 0);
            mutator.begin_anew();
            age = 0;
        }
        if number % MILLION == 0 {
            stage.rest();
            mutator.begin_anew();
            age = 0;
            let (memory, allocated) = (resident(), ALLOCATOR.allocated());
            println!(
                "{number} mutations, {} KiB resident, {} KiB allocated, {:?}",
                memory >> 10,
                allocated >> 10,
                stage.victim.participant.traffic()
            );
            // The first million fills caches and tables.
            let (first, first_allocated) = *memory_after_first.get_or_insert((memory, allocated));
            assert!(memory <= first + GROWTH_MAX, "grown from {first} to {memory} bytes");
            assert!(allocated <= first_allocated + GROWTH_MAX, "{allocated} bytes in use, {first_allocated} before");
        }
    }
    stage.finish(mutations);
}

impl Stage {
    fn new(seed: u64) -> Self {
        let world = World::new(seed);
        let [victim, honest, impersonated] = [(); 3].map(|()| Party::new(&world));
        let stage = Self { world, victim, honest, impersonated, said: 0, checked: 0, depth: Depth::default() };
        stage.wait_for_matches();
        stage
    }

    /// Waits until every party has found the endpoints of all three.
    fn wait_for_matches(&self) {
        let matched = |party: &Party| {
            let ends = [
                party.poses.writer.matched_subscriptions().len(),
                party.squares.reader.matched_publications().len(),
                party.images.reader.matched_publications().len(),
            ];
            ends.iter().all(|matches| *matches >= 3)
        };
        let parties = [&self.victim, &self.honest, &self.impersonated];
        assert!(self.world.pass_until(PATIENCE, || parties.into_iter().all(matched)), "an endpoint has not matched");
    }

    /// Lets all parties send, and returns the captures and the datagrams of the impersonated participant.
    fn rehearse(&mut self) -> Vec<Original> {
        for count in 0..4 {
            [&self.victim, &self.honest, &self.impersonated].into_iter().for_each(|party| party.speak(count));
            self.world.pass(Duration::from_millis(300));
        }
        self.impersonated.end_instances();
        self.world.pass(Duration::from_millis(500));
        self.drain();
        self.said = 4;
        // Only datagrams of the impersonated participant serve as originals.
        let mut ours = self.impersonated.node.recorded();
        for party in [&self.victim, &self.honest] {
            drop(party.node.recorded());
        }
        assert!(ours.len() > 50, "only {} datagrams were recorded", ours.len());
        ours.extend(rare::datagrams(self.impersonated.prefix(), self.victim.prefix(), &self.victim.ids()));
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dds-rtps/tests/vectors");
        let captured =
            captures::CAPTURES.iter().flat_map(|name| captures::read_pcap(&vectors.join(format!("{name}.pcap"))));
        let mut originals: Vec<_> = captured.filter_map(|packet| Original::new(&packet.payload, false)).collect();
        originals.extend(ours.iter().filter_map(|bytes| Original::new(bytes, true)));
        originals
    }

    fn cast(&self) -> Cast {
        let [victim, impersonated, honest] = [&self.victim, &self.impersonated, &self.honest].map(Party::prefix);
        Cast { victim, impersonated, honest }
    }

    fn feed(&self, datagram: &[u8], socket: Socket) {
        self.victim.node.send(datagram, socket);
        self.world.pass(PAUSE);
    }

    /// Records how deep the last batch has come.
    fn sound(&mut self) {
        let Party { participant, poses, fast, settings, images, squares, .. } = &self.victim;
        let depth = &mut self.depth;
        let mut decode = |samples: &mut dyn Iterator<Item = bool>| {
            samples.for_each(|is_decodable| {
                depth.samples += 1;
                depth.not_decodable += u64::from(!is_decodable);
            });
        };
        decode(&mut poses.reader.take().unwrap().iter().filter_map(|sample| Some(sample.decode()?.is_ok())));
        decode(&mut fast.reader.take().unwrap().iter().filter_map(|sample| Some(sample.decode()?.is_ok())));
        decode(&mut settings.reader.take().unwrap().iter().filter_map(|sample| Some(sample.decode()?.is_ok())));
        decode(&mut images.reader.take().unwrap().iter().filter_map(|sample| Some(sample.decode()?.is_ok())));
        decode(&mut squares.reader.take().unwrap().iter().filter_map(|sample| Some(sample.decode()?.is_ok())));
        depth.lost = depth.lost.saturating_add(fast.reader.sample_lost().total_count_change);
        depth.rejected += poses.reader.sample_rejected().total_count_change;
        depth.matched += squares.reader.subscription_matched().total_count_change;
        depth.matched += squares.writer.publication_matched().total_count_change;
        depth.incompatible += poses.writer.offered_incompatible_qos().total_count_change;
        depth.incompatible += images.writer.offered_incompatible_qos().total_count_change;
        depth.incompatible += poses.reader.requested_incompatible_qos().total_count_change;
        depth.incompatible += settings.reader.requested_incompatible_qos().total_count_change;
        depth.participants_max = depth.participants_max.max(participant.discovered_participants().len());
    }

    /// Asserts that honest samples arrive complete and unchanged in both directions.
    fn speak_honestly(&mut self) {
        // Empty the readers first, because faulty samples may fill their limits.
        self.sound();
        self.drain();
        let count = self.said;
        self.said += 1;
        self.honest.speak(count);
        self.victim.speak(count);
        let (victim, honest) = (&self.victim, &self.honest);
        for (to, from, way) in [(victim, honest, "to"), (honest, victim, "from")] {
            let (mut poses, mut images, mut all_settings) = Default::default();
            // The impersonated participant may write here as well, so only samples of `from` count.
            let arrived = self.world.pass_until(PATIENCE, || {
                to.poses.take_from(&from.poses, &mut poses);
                to.images.take_from(&from.images, &mut images);
                to.settings.take_from(&from.settings, &mut all_settings);
                !poses.is_empty() && !images.is_empty() && !all_settings.is_empty()
            });
            let counts = (poses.len(), images.len(), all_settings.len());
            assert!(arrived, "sample {count} {way} the victim does not arrive: {counts:?} of each topic do");
            assert_eq!((poses, images, all_settings), (vec![pose(count)], vec![image(count)], vec![settings(count)]));
        }
        self.checked += 1;
    }

    /// Empties the readers. Those of the impersonated participant send nothing because of it.
    fn drain(&self) {
        for party in [&self.victim, &self.honest, &self.impersonated] {
            party.poses.reader.take().unwrap();
            party.fast.reader.take().unwrap();
            party.settings.reader.take().unwrap();
            party.images.reader.take().unwrap();
            party.squares.reader.take().unwrap();
        }
    }

    /// Returns whether datagrams of the impersonated participant reach most readers and writers.
    fn impersonated_is_matched(&self) -> bool {
        let Party { poses, fast, settings, images, squares, .. } = &self.victim;
        let writers = [
            poses.reader.matched_publications(),
            fast.reader.matched_publications(),
            settings.reader.matched_publications(),
            images.reader.matched_publications(),
            squares.reader.matched_publications(),
        ];
        let prefix = self.impersonated.participant.guid().prefix;
        writers.iter().filter(|writers| writers.iter().any(|writer| writer.guid.prefix == prefix)).count() > 2
    }

    /// Replaces the impersonated participant, which leaves in order or falls silent.
    fn replace_impersonated(&mut self, says_farewell: bool) {
        // Without the network its disposal does not arrive, so its lease has to end.
        if !says_farewell {
            self.impersonated.node.unplug();
        }
        self.impersonated.participant.close();
        self.world.settle();
        self.impersonated = Party::new(&self.world);
        self.wait_for_matches();
        drop(self.impersonated.node.recorded());
        self.impersonated.speak(self.said);
        self.world.pass(Duration::from_millis(100));
    }

    /// Pauses the faulty traffic until incomplete assemblies are dropped.
    ///
    /// The memory in use is then that of live state, and not of large samples that happen to be incomplete.
    fn rest(&mut self) {
        self.replace_impersonated(false);
        self.world.pass(REST);
        self.drain();
    }

    fn finish(self, mutations: u64) {
        let traffic = self.victim.participant.traffic();
        println!("{traffic:?}\n{:?}", self.depth);
        let Depth { samples, not_decodable, lost, rejected, matched, incompatible, participants_max } = self.depth;
        assert!(
            samples as u64 > mutations / 1_000 && not_decodable > 0 && lost > 0 && rejected > 0,
            "{:?}",
            self.depth
        );
        // A forged sequence number must not count as that number of losses.
        assert!(lost < mutations << 20, "{lost} lost");
        // The mutations must reach discovery too.
        assert!(matched > 10 && participants_max > 4, "{:?}", self.depth);
        assert!(mutations < MILLION || incompatible > 0, "{:?}", self.depth);
        assert_eq!(self.checked, mutations / BATCH);
        assert!(traffic.received >= mutations);
        // Every kind of error must have occurred.
        for (counter, number) in [
            ("not_rtps", traffic.not_rtps),
            ("damaged", traffic.damaged),
            ("malformed", traffic.malformed),
            ("skipped", traffic.skipped),
            ("secure", traffic.secure),
            ("reflected", traffic.reflected),
            ("no_such_endpoint", traffic.no_such_endpoint),
        ] {
            assert!(number > 0, "{counter}");
        }
        assert!(!self.victim.participant.is_closed());
        self.victim.participant.close();
    }
}

static PANICKED: AtomicBool = AtomicBool::new(false);
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Records panics where they begin, because cells survive panics of their handlers.
fn watch_for_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let trace = std::backtrace::Backtrace::force_capture();
        let _ = writeln!(PANIC.lock().unwrap(), "{panic}\n{trace}");
        eprintln!("{panic}");
        PANICKED.store(true, Ordering::Relaxed);
    }));
}

/// The process's resident memory in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
