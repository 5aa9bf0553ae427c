//! The control loop: one thread writes each millisecond, another thread waits for the sample.
//!
//! Both are SCHED_FIFO. Threads without priority keep the cores busy. `cyclone.c` is the same loop with Cyclone DDS.

use crate::priority::{Fifo, set_fifo};
use crate::{floor, ours};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::error::Error;
use std::hint::spin_loop;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

/// The sample, without 48 bytes that only the busy thread reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    /// Counts from 0.
    pub(crate) number: u64,
    /// Start of the write, in nanoseconds of [`now`].
    pub(crate) sent: u64,
}

/// Settings of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// Only sockets and channels, without DDS.
    pub(crate) floor: bool,
    /// Whether samples go through a socket.
    pub(crate) udp: bool,
    /// Measured samples.
    pub(crate) samples: usize,
    /// Threads without priority that only keep a core busy.
    pub(crate) hogs: usize,
}

/// The two ends of a connection, and the work of the busy thread.
pub(crate) struct Ends {
    /// Writes one sample.
    pub(crate) write: Box<dyn FnMut(Stamp) -> Result<(), String> + Send>,
    /// Waits for a sample and takes it. Returns `None` after [`PATIENCE`].
    pub(crate) next: Box<dyn FnMut() -> Option<Stamp> + Send>,
    /// The busy thread calls this repeatedly.
    pub(crate) observe: Box<dyn FnMut() + Send>,
}

/// Time without a sample after which the run ends, in case the last sample is lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// History depth of the waiting reader: a thread that is some periods late still gets each sample.
pub(crate) const DEPTH: u32 = 16;

/// Samples that are not measured: they touch memory for the first time, and discovery is not complete.
const WARM_UP: usize = 1000;

const PERIOD: Duration = Duration::from_millis(1);

/// The threads of the library inherit it from the thread that creates the participant.
const THREADS: Fifo = Fifo(60);
const READER: Fifo = Fifo(70);
const WRITER: Fifo = Fifo(80);

/// Runs the loop, then prints one line for each sample.
///
/// A line has two times in ns: the duration of the write, and the time from its start until the waiting thread has
/// taken the sample. The second is `-` for a sample that did not arrive.
///
/// # Errors
///
/// Returns an error if SCHED_FIFO or locked memory is not permitted, or if an entity cannot be created.
pub(crate) fn run(work: Work) -> Result<(), Box<dyn Error>> {
    lock_memory()?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop = Stop(&over);
        // Threads inherit the priority, so these start before this thread has one.
        for _ in 0..work.hogs {
            scope.spawn(|| until(&over, spin_loop));
        }
        let (give, given) = sync_channel::<Box<dyn FnMut() + Send>>(1);
        scope.spawn(|| given.into_iter().for_each(|observe| until(&over, observe)));
        set_fifo(THREADS)?;
        let ends = if work.floor { floor::ends(work.udp)? } else { ours::ends(work.udp)? };
        give.send(ends.observe).map_err(|_| "the busy thread is gone")?;
        drop(give);
        let total = work.samples + WARM_UP;
        let receiving = scope.spawn(move || receive(ends.next, total));
        let writing = scope.spawn(move || write_all(ends.write, total));
        let took = writing.join().map_err(|_| "the writing thread has panicked")??;
        let after = receiving.join().map_err(|_| "the waiting thread has panicked")??;
        drop(stop);
        print(&took, &after)
    })
}

/// Locks all pages of the process into memory, so that no access waits for a page.
///
/// # Errors
///
/// Returns an error with the required permission if the system rejects it.
pub(crate) fn lock_memory() -> Result<(), String> {
    mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE)
        .map_err(|error| format!("cannot lock memory ({error}): expected root, CAP_IPC_LOCK, or a higher `ulimit -l`"))
}

/// Time since the start of the system.
pub(crate) fn now() -> Duration {
    // This clock exists on each system.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// Stops the busy threads when the run ends, also after an error.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn until(over: &AtomicBool, mut act: impl FnMut()) {
    while !over.load(Ordering::Relaxed) {
        act();
    }
}

fn write_all(mut write: impl FnMut(Stamp) -> Result<(), String>, total: usize) -> Result<Vec<u64>, String> {
    set_fifo(WRITER)?;
    let mut took = Vec::with_capacity(total);
    let mut next = now();
    for number in 0..total as u64 {
        next += PERIOD;
        let due = next.into();
        // A signal may end the sleep early.
        while clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &due).is_err() {}
        let started = now();
        write(Stamp { number, sent: started.as_nanos() as u64 })?;
        took.push((now() - started).as_nanos() as u64);
    }
    Ok(took)
}

/// The times of arrival by sample number.
fn receive(mut next: impl FnMut() -> Option<Stamp>, total: usize) -> Result<Vec<Option<u64>>, String> {
    set_fifo(READER)?;
    let mut after = vec![None; total];
    while let Some(stamp) = next() {
        let arrived = now().as_nanos() as u64;
        let number = stamp.number as usize;
        if let Some(after) = after.get_mut(number) {
            *after = Some(arrived - stamp.sent);
        }
        if number + 1 == total {
            break;
        }
    }
    Ok(after)
}

fn print(took: &[u64], after: &[Option<u64>]) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for (took, after) in took.iter().zip(after).skip(WARM_UP) {
        match after {
            Some(after) => writeln!(out, "{took} {after}")?,
            None => writeln!(out, "{took} -")?,
        }
    }
    Ok(())
}
