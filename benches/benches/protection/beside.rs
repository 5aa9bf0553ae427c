//! The cost of each protection beside Cyclone DDS and Fast DDS, between two processes by UDP.
//!
//! All libraries have the same roles, which are those of the program `comparison`: the callback of each process writes
//! the next sample. Both processes have the same identity. Round trips run on one core, because the time of a wake on
//! another core varies by more than a protection takes. For the throughput, one process writes reliable samples of
//! 1 MiB as fast as the other one takes them.

use super::keystore::{Keystore, Kinds};
use super::{ROWS, added};
use benches::comparison::peers::{DOMAIN_ID, Library};
use benches::comparison::record::{Pattern, Work};
use benches::comparison::role::Role;
use benches::comparison::run::{measure, other};
use benches::perf::Result;
use clap::{Args, Parser};
use std::path::PathBuf;

const SMALL: Work = Work { pattern: Pattern::Roundtrip, size: 64 };
const LARGE: Work = Work { pattern: Pattern::Throughput, size: 1 << 20 };
const IDENTITY: &str = "robot";
/// The first argument of a process of this implementation. A role follows.
pub(crate) const PEER: &str = "peer";

/// The other libraries, and the length of the comparison.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program of Cyclone DDS; `benches/protection` builds it
    #[arg(long, value_name = "PROGRAM")]
    cyclone: Option<PathBuf>,
    /// The program of Fast DDS; `benches/protection` builds it
    #[arg(long, value_name = "PROGRAM")]
    fast_dds: Option<PathBuf>,
    /// Number of turns beside them
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Milliseconds of one measurement beside them
    #[arg(long, default_value_t = 500)]
    millis: u64,
}

#[derive(Debug, Parser)]
struct Peer {
    #[command(flatten)]
    role: Role,
}

/// Runs the role of a process of this implementation.
pub(crate) fn take_role() -> Result<()> {
    Peer::parse_from(std::env::args().skip(1)).role.run(Library::Ours)
}

/// A library, and its results for each of [`ROWS`].
struct Contender {
    name: String,
    command: Vec<String>,
    costs: [Cost; ROWS.len()],
}

/// The best results of all turns, and why a turn failed.
#[derive(Debug)]
struct Cost {
    /// Microseconds of a round trip of 64 bytes.
    trip: f64,
    /// MiB a second, in samples of 1 MiB.
    rate: f64,
    failure: Option<String>,
}

impl Contender {
    fn new(name: String, command: Vec<String>) -> Self {
        Self { name, command, costs: [const { Cost { trip: f64::MAX, rate: 0.0, failure: None } }; ROWS.len()] }
    }

    /// Measures a row. A failure is a result.
    fn take_turn(&mut self, row: usize, keystore: &Keystore, millis: u64) {
        let enclave = format!("ENCLAVE={}", keystore.enclave(IDENTITY).display());
        let run = |work: Work, front: &[&str]| {
            let front = front.iter().map(|part| (*part).to_owned());
            let command: Vec<String> = front.chain(self.command.iter().cloned()).collect();
            measure(&command, work, millis).map(|(value, _)| value)
        };
        let cost = &mut self.costs[row];
        match run(SMALL, &[&enclave, "FAST_DDS_UDP=1", "BEST_EFFORT=1", "taskset", "-c", "0"]) {
            Ok(nanoseconds) => cost.trip = cost.trip.min(nanoseconds / 1e3),
            Err(error) => cost.failure = Some(error.to_string()),
        }
        match run(LARGE, &[&enclave, "FAST_DDS_UDP=1"]) {
            Ok(samples) => cost.rate = cost.rate.max(samples),
            Err(error) => cost.failure = Some(error.to_string()),
        }
    }

    fn print(&self, row: usize) {
        let (name, _, levels) = ROWS[row];
        let (plain, cost) = (&self.costs[0], &self.costs[row]);
        print!("{name:<17} {:<20}", self.name);
        if cost.trip < f64::MAX && cost.rate > 0.0 {
            let added = added(cost.trip, plain.trip, levels);
            let (trip, rate, share) = (cost.trip, cost.rate, cost.rate / plain.rate);
            println!(" {trip:>12.1} µs   {added:>14.2} µs   {rate:>6.0} MiB/s   {share:>8.2}");
        } else {
            println!("   failed: {}", cost.failure.as_deref().unwrap_or_default());
        }
    }
}

/// Measures all libraries in turns. A test fails if a library does.
pub(crate) fn compare(options: &Options, is_test: bool) {
    let mut contenders = contenders(options);
    if contenders.len() == 1 {
        println!(
            "Only this implementation: `benches/protection` builds Cyclone DDS and Fast DDS, and measures them, too."
        );
    }
    let keystores = ROWS.map(|(_, kinds, _)| keystore(kinds));
    let (turns, millis) = if is_test { (1, 50) } else { (options.turns, options.millis) };
    for _ in 0..turns {
        for (row, keystore) in keystores.iter().enumerate() {
            for contender in &mut contenders {
                contender.take_turn(row, keystore, millis);
            }
        }
    }
    if is_test {
        for Contender { name, costs, .. } in &contenders {
            assert!(costs.iter().all(|cost| cost.failure.is_none()), "{name}: {costs:?}");
        }
        return;
    }
    println!("protection        library              64 B round trip   added, each level   1 MiB          of plain");
    (0..ROWS.len()).for_each(|row| contenders.iter().for_each(|contender| contender.print(row)));
}

/// This implementation, and the other libraries of the options.
fn contenders(options: &Options) -> Vec<Contender> {
    let own = std::env::current_exe().unwrap().display().to_string();
    let ours = Contender::new("dds-core".to_owned(), vec![own, PEER.to_owned()]);
    let mut contenders = vec![ours];
    for (name, program) in [("Cyclone DDS", &options.cyclone), ("Fast DDS", &options.fast_dds)] {
        if program.is_some() {
            let (command, version) = other(program.as_ref());
            contenders.push(Contender::new(format!("{name} {version}"), command.unwrap()));
        }
    }
    contenders
}

/// An identity for the domain of the comparison.
fn keystore(kinds: Kinds) -> Keystore {
    let in_domain = |text: String| text.replace("<id>0</id>", &format!("<id>{DOMAIN_ID}</id>"));
    let keystore = Keystore::new(&[IDENTITY], kinds, in_domain);
    keystore.edit_permissions(IDENTITY, in_domain);
    keystore
}
