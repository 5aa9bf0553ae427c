//! What a process uses, and what it has done, counted.

use dds_core::TrafficCounters;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the numbers are printed and kept.
const PERIOD: Duration = Duration::from_secs(10);
/// How much more memory the leanest moment of the last quarter may have than that of the first one after the warm-up: what
/// the allocator has not given back. One leaked reader in a hundred would be more after twenty minutes.
const GROWTH_MAX: u64 = 12 << 20;
/// A run that is shorter says nothing about memory.
const SHORTEST: Duration = Duration::from_secs(120);

/// Threads and descriptors of this process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resources {
    threads: usize,
    descriptors: usize,
}

impl Resources {
    pub(crate) fn now() -> Self {
        let entries = |directory: &str| std::fs::read_dir(directory).unwrap().count();
        Self { threads: entries("/proc/self/task"), descriptors: entries("/proc/self/fd") }
    }

    /// Waits until no more are left than these.
    pub(crate) fn wait_for(&self, patience: Duration) {
        let started = Instant::now();
        loop {
            let now = Self::now();
            if now.threads <= self.threads && now.descriptors <= self.descriptors {
                return;
            }
            assert!(started.elapsed() < patience, "{now:?} are left of {self:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Resident memory in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// The numbers of one process.
pub(crate) struct Meter {
    process: u64,
    length: Duration,
    pub(crate) written: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    /// Writes that found no room in time.
    pub(crate) timeouts: AtomicU64,
    pub(crate) received: AtomicU64,
    /// Entities that were made.
    pub(crate) made: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The least memory since the last line, and up to then how many samples there were.
    least: Option<u64>,
    last: Duration,
    last_received: u64,
    /// When, and the least memory of that time.
    memory: Vec<(Duration, u64)>,
}

impl Meter {
    pub(crate) fn new(process: u64, length: Duration) -> Self {
        Self {
            process,
            length,
            written: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            received: AtomicU64::new(0),
            made: AtomicU64::new(0),
            kept: Mutex::default(),
        }
    }

    /// To be called again and again.
    pub(crate) fn look(&self, elapsed: Duration) {
        let mut kept = self.kept.lock().unwrap();
        let resident = resident();
        let least = kept.least.map_or(resident, |least| least.min(resident));
        kept.least = Some(least);
        if elapsed < kept.last + PERIOD {
            return;
        }
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (received, seconds) = (get(&self.received), (elapsed - kept.last).as_secs_f64());
        let Resources { threads, descriptors } = Resources::now();
        println!(
            "soak {}: {:4} s, {:9} written ({:6} MB, {} timeouts), {:9} received ({:6.0}/s), {:6} entities made, \
             {:3} threads, {:3} descriptors, {:4} MiB resident (least {} KiB)",
            self.process,
            elapsed.as_secs(),
            get(&self.written),
            get(&self.written_bytes) / 1_000_000,
            get(&self.timeouts),
            received,
            (received - kept.last_received) as f64 / seconds,
            get(&self.made),
            threads,
            descriptors,
            resident >> 20,
            least >> 10,
        );
        kept.memory.push((elapsed, least));
        (kept.last, kept.last_received, kept.least) = (elapsed, received, None);
    }

    pub(crate) fn report_traffic(&self, traffic: &TrafficCounters) {
        println!("soak {}: {traffic:?}", self.process);
        assert_eq!((traffic.malformed, traffic.not_rtps, traffic.damaged), (0, 0, 0));
    }

    /// Everything is closed: compares the memory at the end with that after the warm-up, a fifth of the time.
    pub(crate) fn finish(self) {
        let kept = self.kept.into_inner().unwrap();
        let least = |from: Duration, to: Duration| {
            let within = kept.memory.iter().filter(|(at, _)| (from..=to).contains(at));
            within.map(|&(_, memory)| memory).min().unwrap_or(0)
        };
        let warm = least(self.length / 5, self.length * 2 / 5);
        let end = least(self.length * 4 / 5, self.length * 2);
        let process = self.process;
        println!("soak {process}: {} KiB after the warm-up, {} KiB in the end", warm >> 10, end >> 10);
        if self.length >= SHORTEST {
            assert!(end < warm + GROWTH_MAX, "process {process} grows: from {warm} to {end} bytes");
        }
        assert!(self.received.into_inner() > 0, "nothing was received");
    }
}
