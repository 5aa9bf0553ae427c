//! Standing costs of an idle application: memory, threads, processor time, and the time from start to match.
//!
//! `cargo bench -p benches --bench standing` prints one line for each. It reads `/proc` and therefore needs Linux. It
//! starts this program as separate processes and measures them. Each contains a participant with default settings on
//! the loopback, a writer and a reader.
//!
//! `-- --test` starts each process once and prints no times.

use benches::pair::Small;
use dds_core::{DomainParticipant, Scope};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 61;

/// Time until all work of the start is complete.
const SETTLE: Duration = Duration::from_secs(3);

/// Time over which processor time at rest is counted.
const REST: Duration = Duration::from_secs(20);

/// Number of starts of the second process.
const STARTS: usize = 21;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--rest") => rest(),
        Some("--meet") => meet(arguments.get(1).ok_or("when was it started?")?.parse()?),
        _ => measure(arguments.iter().any(|argument| argument == "--test")),
    }
}

/// The idle process. It ends with its standard input.
fn rest() -> Outcome<()> {
    let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).build()?;
    let writer = participant.writer::<Small>("standing")?;
    let reader = participant.reader::<Small>("standing")?;
    writer.wait_for_readers(1).block()?;
    reader.wait_for_writers(1).block()?;
    println!("here");
    std::io::stdin().lines().next();
    Ok(())
}

/// The second process. It prints the time from its start until it matches the idle process.
fn meet(started: u128) -> Outcome<()> {
    let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).build()?;
    let writer = participant.writer::<Small>("standing")?;
    writer.wait_for_readers(1).block_for(Duration::from_secs(10))?;
    println!("{}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() - started);
    Ok(())
}

/// A running process of this program.
struct Process {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Process {
    fn start(arguments: &[&str]) -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, output })
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    fn end(mut self) -> Outcome<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("a process ended with {status}").into()) }
    }

    /// A number in `/proc/PID/status`.
    fn status(&self, name: &str) -> Outcome<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or_else(|| format!("no {name}"))?;
        let number = line.trim_start_matches(':').split_whitespace().next().ok_or("no number")?;
        Ok(number.parse()?)
    }

    /// Processor time of all its threads.
    fn cpu(&self) -> Outcome<Duration> {
        let mut total = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            total += text.split_whitespace().next().ok_or("no number")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(total))
    }
}

fn measure(test: bool) -> Outcome<()> {
    let mut resident = Process::start(&["--rest"])?;
    if resident.line()? != "here" {
        return Err("the first process did not start".into());
    }
    let mut met = Vec::new();
    for _ in 0..if test { 1 } else { STARTS } {
        let started = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos().to_string();
        let mut other = Process::start(&["--meet", &started])?;
        met.push(other.line()?.parse::<u64>()?);
        other.end()?;
    }
    if !test {
        report(&resident, &mut met)?;
    }
    resident.end()
}

fn report(resident: &Process, met: &mut [u64]) -> Outcome<()> {
    met.sort_unstable();
    let millis = |at: usize| met.get(at).map_or(f64::NAN, |nanos| *nanos as f64 / 1e6);
    std::thread::sleep(SETTLE);
    let (before, began) = (resident.cpu()?, Instant::now());
    std::thread::sleep(REST);
    let idle = (resident.cpu()? - before).as_secs_f64() * 1e6 / began.elapsed().as_secs_f64();
    let mut out = std::io::stdout().lock();
    writeln!(out, "resident memory        {:>8.2} MB", resident.status("VmRSS")? as f64 * 1.024e-3)?;
    writeln!(out, "  of it not files      {:>8.2} MB", resident.status("RssAnon")? as f64 * 1.024e-3)?;
    writeln!(out, "threads                {:>8}", resident.status("Threads")?)?;
    writeln!(out, "processor at rest      {idle:>8.1} us a second")?;
    writeln!(
        out,
        "start to matched       {:>8.2} ms (fastest {:.2}, slowest {:.2})",
        millis(met.len() / 2),
        millis(0),
        millis(met.len() - 1)
    )?;
    Ok(())
}
