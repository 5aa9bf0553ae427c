//! Counters of the resources and the work of a process.

use dds_core::stats::TrafficCounters;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the numbers are printed and recorded.
const PERIOD: Duration = Duration::from_secs(10);
/// Most growth between the memory minimum after the warm-up and that of the last quarter.
///
/// It allows for memory that the allocator has not returned. After twenty minutes, one leaked reader in a hundred
/// exceeds it.
const GROWTH_MAX: u64 = 12 << 20;
/// A shorter run asserts nothing about memory.
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

    /// Waits until no more than these are left.
    pub(crate) fn wait_for(&self, patience: Duration) {
        let started = Instant::now();
        loop {
            // Fewer is fine: only leftovers count.
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
    /// Entities that were created.
    pub(crate) made: AtomicU64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The memory minimum since the last line, and the number of samples up to then.
    least: Option<u64>,
    last: Duration,
    last_received: u64,
    /// Times, and the memory minimum of each period.
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

    /// Records the numbers. The caller calls it periodically.
    pub(crate) fn look(&self, elapsed: Duration) {
        let mut kept = self.kept.lock().unwrap();
        let resident = resident();
        // The minimum ignores short peaks of large samples.
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
        // Both processes are honest, so any of these is a bug.
        assert_eq!((traffic.malformed, traffic.not_rtps, traffic.damaged), (0, 0, 0));
    }

    /// Compares the memory at the end with that after the warm-up, a fifth of the run.
    ///
    /// All entities are closed by then.
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
