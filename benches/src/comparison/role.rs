//! The roles of a process. The programs in `other` have the same.

use crate::comparison::peers::Library;
use crate::perf::clock;
use crate::perf::{Failure, Result};
use clap::{Args, ValueEnum};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Pause between samples while the sides have not matched.
const BETWEEN_FIRST: Duration = Duration::from_millis(100);
/// Time in which late replies to the first samples arrive.
const SETTLE: Duration = Duration::from_millis(300);
/// Longest wait for a match, and for a reply.
const LIMIT: Duration = Duration::from_secs(15);
/// Nanoseconds of round trips before the measurement.
const WARM_UP: u64 = 200_000_000;

/// Called with the number of an arrived sample. Returns the number of the sample to write next.
pub type Arrived = Box<dyn FnMut(u64) -> Option<u64> + Send + Sync>;
/// Writes a sample with this number.
pub type Write1 = Box<dyn FnMut(u64)>;

/// A writer and a reader of one process.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Topic of the writer.
    pub writes: &'static str,
    /// Topic of the reader.
    pub reads: &'static str,
    /// Size of a sample: its number takes 8 bytes, other bytes fill the rest.
    pub size: usize,
    /// Round trips have KEEP_LAST 1. One-way samples have KEEP_ALL.
    pub keep_all: bool,
    /// Best effort instead of reliable. Only this implementation, Cyclone DDS and Fast DDS support it here.
    pub best_effort: bool,
}

/// The options of a process.
#[derive(Debug, Args)]
pub struct Role {
    /// The role
    #[arg(value_enum)]
    kind: Kind,
    /// Bytes of a sample
    size: usize,
    /// Milliseconds of the measurement
    millis: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Writes each sample back
    Echo,
    /// Makes round trips and prints `COUNT P50 P99` in nanoseconds
    Roundtrip,
    /// Counts samples, and prints `COUNT NUMBER NANOSECONDS` for each line of standard input
    Sink,
    /// Writes as fast as possible after a line of standard input
    Source,
}

impl Role {
    /// Runs the role. All roles except `roundtrip` end with the process.
    ///
    /// # Errors
    ///
    /// Returns an error if a sample does not arrive.
    pub fn run(&self, library: Library) -> Result<()> {
        let keep_all = matches!(self.kind, Kind::Sink | Kind::Source);
        let best_effort = std::env::var_os("BEST_EFFORT").is_some();
        let there = Link { writes: "there", reads: "back", size: self.size, keep_all, best_effort };
        let back = Link { writes: "back", reads: "there", ..there };
        match self.kind {
            Kind::Echo => echo(library, back),
            Kind::Roundtrip => roundtrip(library, there, self.millis),
            Kind::Sink => sink(library, back),
            Kind::Source => source(library, there),
        }
    }
}

fn echo(library: Library, link: Link) -> Result<()> {
    let _write = library.open(link, Box::new(Some))?;
    wait_for_end()
}

fn wait_for_end() -> Result<()> {
    for line in std::io::stdin().lock().lines() {
        line?;
    }
    Ok(())
}

fn roundtrip(library: Library, link: Link, millis: u64) -> Result<()> {
    let (announce, announced) = channel();
    let trips = Arc::new(std::sync::Mutex::new(Trips::new(announce, millis)));
    let shared = trips.clone();
    let arrived = move |number| shared.lock().unwrap_or_else(PoisonError::into_inner).arrived(number);
    let mut write = library.open(link, Box::new(arrived))?;
    wait_for_match(&announced, &mut write)?;
    std::thread::sleep(SETTLE);
    trips.lock().unwrap_or_else(PoisonError::into_inner).start();
    write(1);
    let patience = LIMIT + Duration::from_millis(millis);
    announced.recv_timeout(patience).map_err(|_| Failure::new("a reply has not arrived"))?;
    let mut nanos = std::mem::take(&mut trips.lock().unwrap_or_else(PoisonError::into_inner).nanos);
    nanos.sort_unstable();
    let quantile = |share: usize| nanos.get(nanos.len() * share / 100).copied().unwrap_or_default();
    println!("{} {} {}", nanos.len(), quantile(50), quantile(99));
    Ok(())
}

/// Writes sample 0 until something arrives.
fn wait_for_match(announced: &Receiver<()>, write: &mut Write1) -> Result<()> {
    for _ in 0..LIMIT.as_millis() / BETWEEN_FIRST.as_millis() {
        write(0);
        match announced.recv_timeout(BETWEEN_FIRST) {
            Ok(()) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Err(Failure::new("no match within 15 s; is there multicast?"))
}

/// A chain of round trips. Its sample 0 only waits for the match.
struct Trips {
    announce: Sender<()>,
    expected: u64,
    sent: u64,
    start: u64,
    end: u64,
    millis: u64,
    nanos: Vec<u64>,
}

impl Trips {
    fn new(announce: Sender<()>, millis: u64) -> Self {
        let nanos = Vec::with_capacity(2_000_000);
        Self { announce, expected: 0, sent: 0, start: 0, end: 0, millis, nanos }
    }

    fn start(&mut self) {
        self.expected = 1;
        self.sent = clock::now();
        self.start = self.sent + WARM_UP;
        self.end = self.start + self.millis * 1_000_000;
    }

    fn arrived(&mut self, number: u64) -> Option<u64> {
        if number != self.expected {
            return None;
        }
        if number == 0 {
            // The main thread may be gone after a failure.
            let _ = self.announce.send(());
            return None;
        }
        let now = clock::now();
        if now >= self.start {
            self.nanos.push(now - self.sent);
        }
        if now >= self.end {
            let _ = self.announce.send(());
            return None;
        }
        self.expected += 1;
        self.sent = clock::now();
        Some(self.expected)
    }
}

fn sink(library: Library, link: Link) -> Result<()> {
    let count = Arc::new(AtomicU64::new(0));
    let last = Arc::new(AtomicU64::new(0));
    let matched = Arc::new(AtomicBool::new(false));
    let (counted, newest) = (count.clone(), last.clone());
    let arrived = move |number| {
        if number > 0 {
            counted.fetch_add(1, Ordering::Relaxed);
            newest.store(number, Ordering::Relaxed);
        } else if !matched.swap(true, Ordering::Relaxed) {
            println!("matched");
        }
        None
    };
    let _write = library.open(link, Box::new(arrived))?;
    for line in std::io::stdin().lock().lines() {
        line?;
        println!("{} {} {}", count.load(Ordering::Relaxed), last.load(Ordering::Relaxed), clock::now());
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn source(library: Library, link: Link) -> Result<()> {
    let mut write = library.open(link, Box::new(|_| None))?;
    let (go, started) = channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().lock().read_line(&mut String::new());
        // The main thread may have given up.
        let _ = go.send(());
    });
    wait_for_match(&started, &mut write)?;
    for number in 1.. {
        write(number);
    }
    Ok(())
}
