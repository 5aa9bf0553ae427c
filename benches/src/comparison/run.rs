//! `run`: all libraries in turns.

use super::process::Process;
use super::record::{Comparison, Contender, Outcome, Pattern, WORK, Work};
use crate::perf::machine::{Environment, date_text};
use crate::perf::{Failure, Result};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Time of full load before a throughput is measured.
const WARM_UP: Duration = Duration::from_millis(300);
/// Allowed difference of the two counters of a sink, which are not read at the same moment.
const COUNTERS_APART: u64 = 100;
/// The versions of the libraries in Rust.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The options of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Number of turns
    #[arg(long, default_value_t = 5)]
    turns: u32,
    /// Milliseconds of one measurement
    #[arg(long, default_value_t = 1000)]
    millis: u64,
    /// Only libraries whose names contain this text
    #[arg(long, default_value = "")]
    only: String,
    /// The program of Cyclone DDS. Without it, the results say that it was not built
    #[arg(long, value_name = "PROGRAM")]
    cyclone: Option<PathBuf>,
    /// The program of Fast DDS
    #[arg(long, value_name = "PROGRAM")]
    fast_dds: Option<PathBuf>,
    /// Receives the results
    #[arg(long)]
    output: PathBuf,
}

/// A library and its command, or the reason why it cannot run.
struct Entrant {
    contender: Contender,
    command: std::result::Result<Vec<String>, String>,
}

/// Measures all libraries and writes the results.
///
/// # Errors
///
/// Returns an error if the file cannot be written. A library that fails is a result.
pub fn run(options: &Run) -> Result<()> {
    let environment = Environment::here();
    let mut entrants = entrants(options)?;
    for turn in 1..=options.turns {
        for (index, work) in WORK.into_iter().enumerate() {
            for entrant in &mut entrants {
                let measured = match &entrant.command {
                    Ok(command) => measure(command, work, options.millis),
                    Err(reason) => Err(Failure::new(reason.clone())),
                };
                let Contender { name, transport, .. } = &entrant.contender;
                let (pattern, size) = (work.pattern, work.size);
                eprintln!("turn {turn}, {pattern:?} of {size} B, {name} by {transport}: {measured:?}");
                let outcome = &mut entrant.contender.results[index];
                match measured {
                    Ok((value, p99)) => {
                        outcome.turns.push(value);
                        outcome.p99.extend(p99);
                    }
                    Err(error) => outcome.failures.push(error.to_string()),
                }
            }
        }
    }
    let mut libraries: Vec<Contender> = entrants.into_iter().map(|entrant| entrant.contender).collect();
    for library in &mut libraries {
        library.results.iter_mut().for_each(Outcome::conclude);
    }
    let comparison = Comparison {
        command: "benches/comparison".to_owned(),
        date: date_text(environment.started),
        commit: environment.commit,
        processor: environment.processor,
        cores: environment.cores,
        kernel: environment.kernel,
        turns: options.turns,
        millis: options.millis,
        libraries,
    };
    std::fs::write(&options.output, serde_json::to_string_pretty(&comparison)? + "\n")
        .map_err(|error| Failure::new(format!("--output {}: {error}", options.output.display())))
}

/// The libraries in the order of the picture.
fn entrants(options: &Run) -> Result<Vec<Entrant>> {
    let own = std::env::current_exe()?.display().to_string();
    let rust = |library: &str| Ok(vec![own.clone(), "peer".to_owned(), library.to_owned()]);
    let ours = env!("CARGO_PKG_VERSION").to_owned();
    let (cyclone, cyclone_version) = other(options.cyclone.as_ref());
    let (fast, fast_version) = other(options.fast_dds.as_ref());
    let fast_udp = fast.clone().map(|command| [vec!["FAST_DDS_UDP=1".to_owned()], command].concat());
    let entrants = [
        ("dds-core", "shared memory", ours.clone(), rust("ours-shm")),
        ("dds-core", "UDP", ours, rust("ours")),
        ("Cyclone DDS", "UDP", cyclone_version, cyclone),
        ("Fast DDS", "shared memory", fast_version.clone(), fast),
        ("Fast DDS", "UDP", fast_version, fast_udp),
        ("zenoh", "TCP", locked("zenoh"), rust("zenoh")),
        ("Dust DDS", "UDP", locked("dust_dds"), rust("dust")),
        ("RustDDS", "UDP", locked("rustdds"), rust("rustdds")),
    ];
    let results: Vec<Outcome> = WORK.into_iter().map(Outcome::new).collect();
    let entrant = |(name, transport, version, command): (&str, &str, String, _)| {
        let (name, transport, results) = (name.to_owned(), transport.to_owned(), results.clone());
        Entrant { contender: Contender { name, transport, version, results }, command }
    };
    Ok(entrants.into_iter().filter(|(name, ..)| name.contains(&options.only)).map(entrant).collect())
}

/// The command and the version of a program in another language, which prints its version without arguments. Without a
/// program, the result is the reason.
pub fn other(program: Option<&PathBuf>) -> (std::result::Result<Vec<String>, String>, String) {
    let Some(program) = program.map(|program| program.display().to_string()) else {
        return (Err("not built: its packages are missing".to_owned()), "unknown".to_owned());
    };
    match std::process::Command::new(&program).output() {
        Ok(output) => (Ok(vec![program]), String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        Err(error) => (Err(format!("{program}: {error}")), "unknown".to_owned()),
    }
}

/// The version of a package in the lock file.
fn locked(package: &str) -> String {
    let name = format!("name = \"{package}\"\nversion = \"");
    let version = LOCK.split_once(&name).and_then(|(_, rest)| rest.split('"').next());
    version.unwrap_or("unknown").to_owned()
}

/// The median of round trips and the 99th percentile in nanoseconds, or the samples per second.
///
/// # Errors
///
/// Returns an error if the command cannot do the work.
pub fn measure(command: &[String], work: Work, millis: u64) -> Result<(f64, Option<f64>)> {
    let start = |role: &str| {
        let arguments = [role.to_owned(), work.size.to_string(), millis.to_string()];
        Process::start(command, &arguments)
    };
    match work.pattern {
        Pattern::Roundtrip => {
            let mut trips = start("roundtrip")?;
            let _echo = start("echo")?;
            let [count, p50, p99] = trips.numbers()?;
            if count == 0 {
                return Err(Failure::new(format!("no round trip within {millis} ms")));
            }
            Ok((p50 as f64, Some(p99 as f64)))
        }
        Pattern::Throughput => {
            let mut source = start("source")?;
            let mut sink = start("sink")?;
            let matched = sink.line()?;
            if matched != "matched" {
                return Err(Failure::new(format!("expected a match, not `{matched}`")));
            }
            source.nudge()?;
            std::thread::sleep(WARM_UP);
            let mut mark = || {
                sink.nudge()?;
                sink.numbers()
            };
            let [before, _, start] = mark()?;
            std::thread::sleep(Duration::from_millis(millis));
            let [after, newest, end] = mark()?;
            if newest.abs_diff(after) > COUNTERS_APART {
                return Err(Failure::new(format!("{after} of {newest} reliable samples arrived")));
            }
            if after == before {
                return Err(Failure::new(format!("no sample arrived within {millis} ms")));
            }
            Ok(((after - before) as f64 * 1e9 / (end - start) as f64, None))
        }
    }
}
